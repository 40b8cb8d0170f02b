"""RunConfig: everything a run was asked to be; one frozen value, validated once and passed whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from biasfw import schemas
from biasfw.errors import DataError, UsageError
from biasfw.yamlfile import load_yaml


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What ``biasfw run`` was told. None means: as the preset says, else as the benchmark's protocol says.

    Attributes:
        benchmark: ``NAME[:SPLIT]`` or the path of a bundle's folder.
        backend: name of the backend; ``model`` and ``backend_options`` are its own affair.
        without: labels left out (``indians``).
        names_in: the language in which labels are named in every prompt; None: the prompt's own.
        limit: about how many items; whole clusters, rounded up.
        shots: how many solved examples stand before each question.
        data: the folder of official files; ``encoding`` is theirs, where it is not UTF-8.
        runs: the folder in which run directories are made.
    """

    benchmark: str
    backend: str
    model: str | None = None
    backend_options: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    mode: str | None = None
    prompt_style: str | None = None
    conditions: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    names_in: str | None = None
    parser: str | None = None
    judge: str | None = None
    metrics: tuple[str, ...] | None = None
    data: str | None = None
    encoding: str | None = None
    languages: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    limit: int | None = None
    repeats: int | None = None
    shots: int | None = None
    seed: int = 0
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    fresh: bool = False
    runs: str = "runs"

    @classmethod
    def from_file(cls, path: Path, overrides: Mapping[str, Any]) -> RunConfig:
        """A configuration from a YAML file; ``overrides`` (what the command line says) win.

        Raises:
            UsageError: the file does not fit the schema (the message has line and column), or benchmark or backend is
                named in neither.
        """
        try:
            document = load_yaml(path)
            schemas.check("config", document)
        except DataError as failure:
            raise UsageError(str(failure)) from failure
        return cls.from_mapping({**document.value, **overrides})

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> RunConfig:
        """A configuration from plain data.

        Raises:
            UsageError: benchmark or backend are not named, or a name is empty.
        """
        for needed in ("benchmark", "backend"):
            if not values.get(needed):
                raise UsageError(f"no {needed} is named; give --{needed} NAME (biasfw list shows what there is)")
        for name, value in values.items():
            if value == "":  # it would count as not given here and there
                raise UsageError(f"{name.replace('_', '-')} is empty; give a value, or leave it out")
        names = {f.name for f in fields(cls)}
        plain: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in values.items() if key in names
        }
        return cls(**plain)

    def with_preset(self, preset: Mapping[str, Any]) -> RunConfig:
        """This configuration with the gaps filled by a preset of the benchmark; what was said stays."""
        sampling = preset.get("sampling", {})
        flat = {**{k: v for k, v in preset.items() if k not in ("summary", "sampling")}, **sampling}
        renamed = {"language": "languages", "category": "categories"}
        values = {renamed.get(key, key): value for key, value in flat.items()}
        gaps = {key: value for key, value in values.items() if getattr(self, key) is None}
        plain: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in gaps.items()}
        return replace(self, **plain)
