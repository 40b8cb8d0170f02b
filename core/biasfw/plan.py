"""From a configuration to a plan: components resolved, data read, items expanded. Nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from biasfw import bundles, juries, languages, splits
from biasfw.bundles import Bundle
from biasfw.codec import encode
from biasfw.config import RunConfig
from biasfw.contracts import Backend, BackendSettings, ComponentContext, Metric, Parser
from biasfw.errors import DataError, UsageError
from biasfw.expansion import NO_VARIANT, Design, Selected, Selection, Trial, examples, expand, select
from biasfw.form import Form
from biasfw.juries import Seat
from biasfw.keys import sha256_json
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, Plugins, load_class
from biasfw.protocol import Protocol, apply_preset, resolve
from biasfw.records import Item, Request, Seed
from biasfw.rendering import Renderer
from biasfw.schemas import check_options
from biasfw.specs import BackendSpec, MetricSpec
from biasfw.store import slug


@dataclass(frozen=True)
class Plan:
    """Everything a run needs, resolved."""

    config: RunConfig
    plugins: Plugins
    bundle: Bundle
    protocol: Protocol
    form: Form
    packs: Mapping[str, LanguagePack]
    backend: Component
    backend_options: Mapping[str, Any]
    parser: Component
    jury: Seat
    metrics: tuple[tuple[Component, Mapping[str, Any]], ...]
    selected: Selected
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what everybody must know who reads a number of the run: stored with it
    shots: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)  # solved examples by language

    @cached_property
    def renderer(self) -> Renderer:
        """What turns trials into requests."""
        protocol = self.protocol
        return Renderer(
            self.bundle, self.form, protocol.mode, protocol.prompt_style, protocol.sampling, self.packs,
            protocol.names_in, self.shots,
        )  # fmt: skip

    @cached_property
    def items(self) -> dict[str, Item]:
        """The selected items by id."""
        return {trial.item.id: trial.item for trial in self.selected.trials}

    def requests(self) -> Iterator[Request]:
        """The selected requests, rendered one by one in the order of the data."""
        return (self.renderer.request(trial) for trial in self.selected.trials)

    def make_backend(self) -> Backend:
        """The backend, built but not loaded."""
        settings = BackendSettings(self.config.model, self.protocol.mode, self.config.seed, self.backend_options)
        return cast("Backend", load_class(self.backend)(settings))

    def identity_inputs(self, fingerprint: str) -> dict[str, Any]:
        """What the run directory's hash covers: a change in any of it starts another run."""
        spec = cast("BackendSpec", self.backend.spec)
        properties = spec.options.get("properties", {})
        protocol, manifest = self.protocol, self.bundle.manifest
        sampling = protocol.sampling if protocol.mode == "generate" else None
        reader = splits.reader_of(self.bundle, self.plugins)
        read_by = {"reader": [reader.spec.name, splits.reader_options(self.bundle, reader)]} if reader else {}
        return {
            "benchmark": self.bundle.full_name,
            "version": manifest["version"],
            "data_sha256": self.bundle.digests(self.plugins)["data_sha256"],
            **read_by,
            **({"names_in": protocol.names_in} if protocol.names_in else {}),
            **(
                {
                    "shots": [
                        protocol.shots,
                        sha256_json({tag: [encode(each) for each in items] for tag, items in self.shots.items()}),
                    ]
                }
                if protocol.shots
                else {}
            ),
            "mode": protocol.mode,
            "conditions": list(protocol.conditions),
            "without": list(protocol.without),
            "frames": sha256_json(_frames(manifest, protocol)),
            "backend": spec.name,
            "fingerprint": fingerprint,
            "options": {
                name: value
                for name, value in sorted(self.backend_options.items())
                if properties.get(name, {}).get("affects_answers", True)
            },
            "prompt_style": protocol.prompt_style,
            "sampling": sampling and {k: v for k, v in asdict(sampling).items() if k != "seed"},
            "seed": self.config.seed,
        }

    def directory_name(self, inputs: Mapping[str, Any]) -> str:
        """``<benchmark>-<model>-<hash8>``."""
        model = Path(self.config.model.replace("\\", "/")).name if self.config.model else self.backend.spec.name
        return f"{slug(self.bundle.name)}-{slug(Path(model).stem or model)}-{sha256_json(inputs)[:8]}"

    def context(self, options: Mapping[str, Any]) -> ComponentContext:
        """What parsers, judges and metrics are built from."""
        return ComponentContext(self.form, self.packs, options)

    def make_parser(self, name: str | None = None) -> Parser:
        """The parser of the protocol, or another one."""
        component = self.plugins.find("parser", name) if name else self.parser
        options = check_options(f"parser {component.spec.name}", component.spec.options, {})
        return cast("Parser", load_class(component)(self.context(options)))

    def make_metrics(self) -> list[tuple[str, Metric, str]]:
        """Name, metric and the rows that it is about (items, controls, all), in the manifest's order."""
        return [
            (c.spec.name, load_class(c)(self.context(options)), cast("MetricSpec", c.spec).rows)
            for c, options in self.metrics
        ]

    def components(self) -> list[dict[str, str]]:
        """Name, distribution and version of every component, for run.json."""
        used = [("backend", self.backend), ("parser", self.parser)]
        used += [("judge", seat.component) for seat in self.jury.everybody]
        used += [("backend", seat.binding.backend) for seat in self.jury.leaves if seat.binding]
        used += [("metric", component) for component, _ in self.metrics]
        reader = splits.reader_of(self.bundle, self.plugins)
        used += [("reader", reader)] if reader else []
        rows = [
            {"kind": kind, "name": c.spec.name, "distribution": c.plugin.distribution, "version": c.plugin.version}
            for kind, c in used
        ]
        return [row for place, row in enumerate(rows) if row not in rows[:place]]


def _frames(manifest: Mapping[str, Any], protocol: Protocol) -> Any:
    """Everything in the manifest that shapes a prompt or a choice under this protocol."""
    used = {name: manifest["conditions"][name] for name in protocol.conditions}
    templates = {c["template"]: manifest["templates"][c["template"]] for c in used.values()}
    names = ["labels", "abstention", "slots", "list_style", "answer_template", "orders"]
    names += [name for name in ("letters", "instructions", "raw_separator") if name in manifest]
    scored = manifest["protocols"]["choices"] if protocol.mode == "choices" else None
    return [used, templates, {name: manifest.get(name) for name in names}, scored]


def make_design(
    manifest: Mapping[str, Any], conditions: Sequence[str], form: Form, protocol: Protocol | None = None
) -> Design:
    """How items are made of the seeds of a benchmark; without ``protocol``: as in generate mode, without examples."""
    instructions = tuple(each["key"] for each in manifest.get("instructions", ()))
    return Design(
        conditions=tuple(conditions),
        labels=() if form.task != "labels" else tuple(label.key for label in form.groups),
        cluster=manifest["cluster"],
        abstaining=_abstaining(manifest, conditions),
        reuse_orders=protocol is None or protocol.mode == "generate",
        orders=manifest["orders"]["design"],
        variants=instructions or (NO_VARIANT,),
        shots=protocol.shots if protocol else 0,
    )


def make_plan(config: RunConfig, plugins: Plugins, jury: Mapping[str, Any] | None = None) -> Plan:
    """Resolve everything a configuration names. ``jury``: the definition of a judge, instead of the one it names.

    Raises:
        UsageError: a name, option, language, category or mode does not exist; the message names what does.
        DataError: manifest or data are wrong, with file and line.
    """
    bundle = bundles.find(config.benchmark, plugins, Path(config.data) if config.data else None, config.encoding)
    config = apply_preset(config, bundle)
    backend = plugins.find("backend", config.backend)
    spec = cast("BackendSpec", backend.spec)
    options = check_options(f"backend {spec.name}", spec.options, config.backend_options)
    protocol = resolve(config, bundle)
    _check_backend(config, spec, protocol, bundle)
    form = bundles.make_form(bundle.manifest, protocol.conditions, protocol.without)
    seeds, notes = bundle.read(plugins)
    trials = list(expand(seeds, make_design(bundle.manifest, protocol.conditions, form, protocol), protocol.repeats))
    selected = _select(config, trials, bundle)
    packs, warnings = _packs(plugins, bundle, trials)
    metrics = _metrics(config, bundle, plugins)
    seat = (
        juries.seat(jury, bundle.manifest, plugins) if jury else juries.find(protocol.judge, bundle.manifest, plugins)
    )
    _check_jury(seat, protocol)
    parser = plugins.find("parser", protocol.parser)
    notes = (*splits.remarks(bundle, protocol.mode, config.conditions), *notes)
    plan = Plan(
        config, plugins, bundle, protocol, form, packs, backend, options, parser, seat, metrics, selected, warnings,
        notes, _examples(bundle, protocol, seeds),
    )  # fmt: skip
    plan.renderer.check_fields(trials)
    return plan


def _check_jury(seat: Seat, protocol: Protocol) -> None:
    for leaf in seat.leaves:
        if leaf.binding is not None and protocol.mode == "choices":
            raise UsageError(
                f"judge {leaf.name!r} reads text, and --mode choices writes none; use --mode generate, or --judge rules"
            )


def _examples(bundle: Bundle, protocol: Protocol, seeds: Sequence[Seed]) -> dict[str, tuple[Item, ...]]:
    """As many solved examples as are asked for, in every language of the items.

    Raises:
        DataError: an example is also a scored item, or there are too few of them.
    """
    if not protocol.shots:
        return {}
    found = bundle.shots()
    scored = {seed.source_id for seed in seeds}
    texts = {_content(seed) for seed in seeds}
    for seed in found:
        if seed.source_id in scored or _content(seed) in texts:
            raise DataError(f"{bundle.folder}: example {seed.source_id!r} is also an item; examples are never scored")
    solved = examples(found, protocol.shots)
    for language in dict.fromkeys(seed.language for seed in seeds):
        if len(solved.get(language, ())) < protocol.shots:
            there = len(solved.get(language, ()))
            raise UsageError(f"{bundle.full_name} has {there} examples in {language!r}; --shots is at most that")
    return solved


def _content(seed: Seed) -> str:
    """What an item says, whatever it is called."""
    return sha256_json([seed.language, dict(seed.fields), sorted(choice.text for choice in seed.choices)])


def _metrics(config: RunConfig, bundle: Bundle, plugins: Plugins) -> tuple[tuple[Component, Mapping[str, Any]], ...]:
    """The manifest's metrics with its options, or those that were asked for (by its options where it has any)."""
    declared = bundle.manifest["metrics"]
    wanted = list(declared)
    if config.metrics is not None:
        known = {entry["use"] for entry in declared}
        wanted = [entry for entry in declared if entry["use"] in config.metrics]
        wanted += [{"use": name} for name in dict.fromkeys(config.metrics) if name not in known]
    found = []
    for entry in wanted:
        component = plugins.find("metric", entry["use"])
        options = check_options(f"metric {entry['use']}", component.spec.options, entry.get("options", {}))
        found.append((component, options))
    return tuple(found)


def _check_backend(config: RunConfig, spec: BackendSpec, protocol: Protocol, bundle: Bundle) -> None:
    if protocol.mode not in spec.capabilities and not _by_first_token(spec, protocol, bundle):
        able = sorted(spec.capabilities & set(bundle.manifest["protocols"]))
        way = f"use --mode {able[0]}" if able else "choose another backend (biasfw list backends)"
        letters = protocol.mode == "choices" and "first_token" in spec.capabilities
        what = "scores single letters only" if letters else f"cannot do --mode {protocol.mode}"
        raise UsageError(f"backend {spec.name} {what}; {way}")
    if spec.models and config.model not in spec.models:
        raise UsageError(f"backend {spec.name} has no model {config.model!r}; give --model {'|'.join(spec.models)}")


def _by_first_token(spec: BackendSpec, protocol: Protocol, bundle: Bundle) -> bool:
    """Whether the choices are letters, which a backend scores by the first token of an answer."""
    scored = bundle.manifest["protocols"].get("choices", {})
    letters = scored.get("choices") == "letters" and not scored.get("terminator")
    return protocol.mode == "choices" and letters and "first_token" in spec.capabilities


def _abstaining(manifest: Mapping[str, Any], conditions: Sequence[str]) -> tuple[tuple[str, str], ...]:
    offering = [name for name in conditions if manifest["conditions"][name].get("abstention")]
    return tuple((name, manifest["abstention"]["key"]) for name in offering)


def _select(config: RunConfig, trials: Sequence[Trial], bundle: Bundle) -> Selected:
    for option, wanted, there in (
        ("language", config.languages, {t.item.language for t in trials}),
        ("category", config.categories, {t.item.category for t in trials}),
    ):
        for name in wanted or ():
            if name not in there:
                raise UsageError(f"{bundle.full_name} has no {option} {name!r}; it has: {', '.join(sorted(there))}")
    return select(trials, Selection(config.languages or (), config.categories or (), config.limit))


def _packs(
    plugins: Plugins, bundle: Bundle, trials: Sequence[Trial]
) -> tuple[dict[str, LanguagePack], tuple[str, ...]]:
    own = bundle.folder / "languages"
    folders = [folder for folder, _ in plugins.folders("language")]
    wanted = sorted({trial.item.language for trial in trials} | {"en"})
    packs = languages.load_packs(folders, wanted, overrides=own if own.is_dir() else None)
    missing = [tag for tag in wanted if tag not in packs and tag.partition("-")[0] not in packs]
    return packs, tuple(
        f"no language pack for {tag!r}: refusals and native spellings are not recognised; write {tag}.yaml "
        "(a folder languages/ in the bundle will do)"
        for tag in missing
    )
