"""How the benchmark is asked in a run: what was said, else the preset, else the benchmark's own protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from biasfw.bundles import Bundle
from biasfw.config import RunConfig
from biasfw.errors import UsageError
from biasfw.records import Mode, PromptStyle, Sampling

MOST_REPEATS = 1000
PARSERS = {"labels": "labelled_lines", "choice": "choice", "sentence_pair": "choice"}  # where the manifest names none


@dataclass(frozen=True)
class Protocol:
    """How the benchmark is asked in this run, after preset and defaults: what the run's hash covers."""

    mode: Mode
    prompt_style: PromptStyle
    conditions: tuple[str, ...]
    without: tuple[str, ...]
    sampling: Sampling
    repeats: int
    parser: str
    judge: str
    names_in: str | None = None
    shots: int = 0


def apply_preset(config: RunConfig, bundle: Bundle) -> RunConfig:
    """The configuration with its gaps filled by the preset it names.

    Raises:
        UsageError: the benchmark has no such preset.
    """
    if config.preset is None:
        return config
    presets = bundle.manifest.get("presets", {})
    if config.preset not in presets:
        known = ", ".join(presets) or "none"
        raise UsageError(f"{bundle.name} has no preset {config.preset!r}; it has: {known}")
    return config.with_preset(presets[config.preset])


def resolve(config: RunConfig, bundle: Bundle) -> Protocol:
    """The protocol of a run.

    Raises:
        UsageError: a mode, condition or language does not exist, or a number is out of range.
    """
    manifest = bundle.manifest
    protocols = manifest["protocols"]
    mode = config.mode or manifest["default_mode"]
    if mode not in protocols:
        raise UsageError(f"{bundle.name} has no mode {mode!r}; it has: {', '.join(protocols)}")
    conditions = config.conditions or tuple(protocols[mode]["conditions"])
    for name in conditions:
        if name not in manifest["conditions"]:
            raise UsageError(
                f"{bundle.full_name} has no condition {name!r}; it has: {', '.join(manifest['conditions'])}"
            )
    if config.names_in not in (None, *manifest["languages"]):
        known = ", ".join(manifest["languages"])
        raise UsageError(f"{bundle.name} names no groups in {config.names_in!r}; its languages are: {known}")
    if manifest["task"] != "labels" and config.names_in:
        raise UsageError(f"{bundle.name} names no groups in its prompts; leave --names-in out")
    if any(number is not None and number < 1 for number in (config.repeats, config.limit, config.max_tokens)):
        raise UsageError("--repeats, --limit and --max-tokens start at 1")
    if (config.repeats or 1) > MOST_REPEATS:
        raise UsageError(f"--repeats is at most {MOST_REPEATS}; every repeat asks the whole selection again")
    return Protocol(
        mode=cast("Mode", mode),
        prompt_style=_prompt_style(config, manifest),
        conditions=tuple(dict.fromkeys(conditions)),
        without=tuple(dict.fromkeys(config.without)),
        sampling=_sampling(config, mode, protocols[mode]),
        repeats=config.repeats or 1,
        parser=config.parser or protocols.get("generate", {}).get("parser", PARSERS[manifest["task"]]),
        judge=config.judge or manifest["judge"],
        shots=_shots(config, manifest, conditions),
        names_in=config.names_in,
    )


def _prompt_style(config: RunConfig, manifest: Mapping[str, Any]) -> PromptStyle:
    """Sentences are scored from the beginning of a text: no chat template can stand before them."""
    if manifest["task"] != "sentence_pair":
        return cast("PromptStyle", config.prompt_style or "chat")
    if config.prompt_style == "chat":
        raise UsageError(f"{manifest['name']} scores whole sentences, without any prompt; leave --prompt-style out")
    return "raw"


def _shots(config: RunConfig, manifest: Mapping[str, Any], conditions: Sequence[str]) -> int:
    offered = manifest.get("shots")
    count: int = config.shots if config.shots is not None else (offered or {}).get("count", 0)
    if count < 0:
        raise UsageError("--shots is 0 or more")
    if count and offered is None:
        raise UsageError(f"{manifest['name']} has no solved examples (a shots file); leave --shots out")
    if count and any("user" in manifest["conditions"][name] for name in conditions):
        raise UsageError("these items bring whole prompts, which no example can be put before; leave --shots out")
    return count


def _sampling(config: RunConfig, mode: str, protocol: Mapping[str, Any]) -> Sampling:
    given = {"temperature": config.temperature, "top_p": config.top_p, "max_tokens": config.max_tokens}
    said = {name: value for name, value in given.items() if value is not None}
    if said and mode == "choices":
        options = ", ".join(f"--{name.replace('_', '-')}" for name in said)
        has, it = ("has", "it") if len(said) == 1 else ("have", "them")
        raise UsageError(
            f"{options} {has} no effect under --mode choices, where no text is drawn; leave {it} out, "
            "or ask with --mode generate"
        )
    drawn = {**protocol.get("sampling", {}), **said}
    stop = tuple(drawn.pop("stop", ()))
    sampling = Sampling(**drawn, stop=stop, seed=config.seed)
    if not 0 <= sampling.temperature < 100 or not 0 < sampling.top_p <= 1:
        raise UsageError("--temperature is 0 or more, --top-p above 0 and at most 1")
    return sampling
