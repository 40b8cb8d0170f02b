"""From a configuration to a plan: components resolved, data read, items expanded. Nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from biasfw import bundles, juries, splits
from biasfw.answerform import make_form
from biasfw.bundles import Bundle
from biasfw.codec import encode
from biasfw.config import RunConfig
from biasfw.contracts import Backend, BackendSettings, ComponentContext, Metric, Parser
from biasfw.expansion import NO_VARIANT, Design, Selected, expand
from biasfw.form import Form
from biasfw.guarded import make_backend
from biasfw.juries import Seat
from biasfw.keys import sha256_json
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, Plugins, load_class
from biasfw.protocol import Protocol, apply_preset, resolve
from biasfw.records import Item, Request
from biasfw.rendering import Renderer
from biasfw.resolving import check_backend, check_jury, find_metrics, load_packs, select_trials, solved_examples
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
        return make_backend(self.backend, settings)

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


def _abstaining(manifest: Mapping[str, Any], conditions: Sequence[str]) -> tuple[tuple[str, str], ...]:
    offering = [name for name in conditions if manifest["conditions"][name].get("abstention")]
    return tuple((name, manifest["abstention"]["key"]) for name in offering)


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
    check_backend(config, spec, protocol, bundle)
    form = make_form(bundle.manifest, protocol.conditions, protocol.without)
    seeds, notes = bundle.read(plugins)
    trials = list(expand(seeds, make_design(bundle.manifest, protocol.conditions, form, protocol), protocol.repeats))
    selected = select_trials(config, trials, bundle)
    packs, warnings = load_packs(plugins, bundle, trials)
    metrics = find_metrics(config, bundle, plugins)
    seat = (
        juries.seat(jury, bundle.manifest, plugins) if jury else juries.find(protocol.judge, bundle.manifest, plugins)
    )
    check_jury(seat, protocol)
    parser = plugins.find("parser", protocol.parser)
    notes = (*splits.remarks(bundle, protocol.mode, config.conditions), *notes)
    plan = Plan(
        config, plugins, bundle, protocol, form, packs, backend, options, parser, seat, metrics, selected, warnings,
        notes, solved_examples(bundle, protocol, seeds),
    )  # fmt: skip
    plan.renderer.check_fields(trials)
    return plan
