"""The parts of a plan: each resolved from a configuration and a benchmark, or refused with the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasfw import languages
from biasfw.bundles import Bundle
from biasfw.config import RunConfig
from biasfw.errors import DataError, UsageError
from biasfw.expansion import Selected, Selection, Trial, examples, select
from biasfw.juries import Seat
from biasfw.keys import sha256_json
from biasfw.languages import LanguagePack
from biasfw.plugins import Component, Plugins
from biasfw.protocol import Protocol
from biasfw.records import Item, Seed
from biasfw.schemas import check_options
from biasfw.specs import BackendSpec


def check_jury(seat: Seat, protocol: Protocol) -> None:
    """Refuse a judge that reads text where none is written."""
    for leaf in seat.leaves:
        if leaf.binding is not None and protocol.mode == "choices":
            raise UsageError(
                f"judge {leaf.name!r} reads text, and --mode choices writes none; use --mode generate, or --judge rules"
            )


def solved_examples(bundle: Bundle, protocol: Protocol, seeds: Sequence[Seed]) -> dict[str, tuple[Item, ...]]:
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


def find_metrics(
    config: RunConfig, bundle: Bundle, plugins: Plugins
) -> tuple[tuple[Component, Mapping[str, Any]], ...]:
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


def check_backend(config: RunConfig, spec: BackendSpec, protocol: Protocol, bundle: Bundle) -> None:
    """Refuse a mode or a model that the backend does not have; names those that it has."""
    if protocol.mode not in spec.capabilities and not _by_first_token(spec, protocol, bundle):
        able = sorted(spec.capabilities & set(bundle.manifest["protocols"]))
        way = f"use --mode {able[0]}" if able else "choose another backend (biasfw list backends)"
        letters = protocol.mode == "choices" and "first_token" in spec.capabilities
        what = "scores single letters only" if letters else f"cannot do --mode {protocol.mode}"
        raise UsageError(f"backend {spec.name} {what}; {way}")
    if spec.models and config.model not in spec.models:
        what = f"has no model {config.model!r}" if config.model else "needs the name of a model"
        raise UsageError(f"backend {spec.name} {what}; give --model {'|'.join(spec.models)}")


def _by_first_token(spec: BackendSpec, protocol: Protocol, bundle: Bundle) -> bool:
    """Whether the choices are letters, which a backend scores by the first token of an answer."""
    scored = bundle.manifest["protocols"].get("choices", {})
    letters = scored.get("choices") == "letters" and not scored.get("terminator")
    return protocol.mode == "choices" and letters and "first_token" in spec.capabilities


def select_trials(config: RunConfig, trials: Sequence[Trial], bundle: Bundle) -> Selected:
    """What the selection leaves of ``trials``; refuses a language or a category that is not there."""
    for option, wanted, there in (
        ("language", config.languages, {t.item.language for t in trials}),
        ("category", config.categories, {t.item.category for t in trials}),
    ):
        for name in wanted or ():
            if name not in there:
                raise UsageError(f"{bundle.full_name} has no {option} {name!r}; it has: {', '.join(sorted(there))}")
    return select(trials, Selection(config.languages or (), config.categories or (), config.limit))


def load_packs(
    plugins: Plugins, bundle: Bundle, trials: Sequence[Trial]
) -> tuple[dict[str, LanguagePack], tuple[str, ...]]:
    """The language packs of all items, and a warning for each language that has none."""
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
