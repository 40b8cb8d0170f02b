"""Every extension point of biasfw. A hook returns frozen specs, as data, without importing the heavy module.

A plugin is a module named by an entry point of the group ``biasfw``. It sets ``biasfw_api = 1`` and marks its
hooks with ``biasfw.hookimpl``. Each docstring ends in an example that a test executes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pluggy

from biasfw.specs import (
    BackendSpec,
    CommandSpec,
    JudgeSpec,
    MetricSpec,
    ParserSpec,
    ReaderSpec,
    ReporterSpec,
)

API_VERSION = 1
PROJECT = "biasfw"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def biasfw_benchmark_folders() -> Iterable[Path]:
    """Folders that hold benchmark bundles, one folder with a ``benchmark.yaml`` each.

    >>> @hookimpl
    ... def biasfw_benchmark_folders():
    ...     yield Path("bundles")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_language_folders() -> Iterable[Path]:
    """Folders that hold language packs, one ``TAG.yaml`` each.

    >>> @hookimpl
    ... def biasfw_language_folders():
    ...     yield Path("languages")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_backends() -> Iterable[BackendSpec]:
    """Models that can be asked.

    >>> @hookimpl
    ... def biasfw_backends():
    ...     yield BackendSpec("echo", load="my_plugin.backend:Echo", summary="repeats the prompt")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_parsers() -> Iterable[ParserSpec]:
    """Readers of free text.

    >>> @hookimpl
    ... def biasfw_parsers():
    ...     yield ParserSpec("json", load="my_plugin.parser:Json", summary="reads JSON", tasks=frozenset({"labels"}))
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_judges() -> Iterable[JudgeSpec]:
    """Judges of responses.

    >>> @hookimpl
    ... def biasfw_judges():
    ...     yield JudgeSpec("strict", load="my_plugin.judge:Strict", summary="rejects what is not exact")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_metrics() -> Iterable[MetricSpec]:
    """Numbers computed from the judgements of a run.

    >>> @hookimpl
    ... def biasfw_metrics():
    ...     yield MetricSpec("median_length", load="my_plugin.metric:MedianLength", summary="length of answers")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_readers() -> Iterable[ReaderSpec]:
    """Readers of the official files of a benchmark.

    >>> @hookimpl
    ... def biasfw_readers():
    ...     yield ReaderSpec("my_csv", load="my_plugin.reader:MyCsv", summary="the authors' CSV layout")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_reporters() -> Iterable[ReporterSpec]:
    """Writers of reports.

    >>> @hookimpl
    ... def biasfw_reporters():
    ...     yield ReporterSpec("latex", load="my_plugin.report:Latex", summary="tables for a paper", suffix=".tex")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_commands() -> Iterable[CommandSpec]:
    """Further subcommands of ``biasfw``.

    >>> @hookimpl
    ... def biasfw_commands():
    ...     yield CommandSpec("upload", load="my_plugin.cli:upload", summary="send a run to our server")
    """
    raise AssertionError("a specification is never called")


@hookspec
def biasfw_run_started(directory: Path, config: dict[str, Any]) -> None:
    """Called once when the first request of a run is about to be asked.

    >>> @hookimpl
    ... def biasfw_run_started(directory):
    ...     print("started", directory.name)
    """


@hookspec
def biasfw_response_stored(directory: Path, response: dict[str, Any]) -> None:
    """Called for each response once it is safe on disk.

    >>> @hookimpl
    ... def biasfw_response_stored(response):
    ...     print(response["key"])
    """


@hookspec
def biasfw_run_finished(directory: Path, scores: list[dict[str, Any]]) -> None:
    """Called when a run has been scored.

    >>> @hookimpl
    ... def biasfw_run_finished(directory, scores):
    ...     print(len(scores), "scores")
    """
