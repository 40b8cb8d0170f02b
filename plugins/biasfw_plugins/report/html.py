"""The reporter `html`: one file with everything in it."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import jinja2

from biasfw import RunView, StoreError, UsageError, view_run
from biasfw_plugins.report import choice, groups, shared
from biasfw_plugins.report.blocks import Blocks, Source, fitting
from biasfw_plugins.report.book import Book
from biasfw_plugins.report.figures import View
from biasfw_plugins.report.headline import alarms, headlines
from biasfw_plugins.report.overview import overview
from biasfw_plugins.report.texts import clean, finalize, sentence, words

_PAGE = 3_000_000  # bytes left for everything but the responses
_TRIES = 3


class Html:
    """Writes runs into one HTML file that loads nothing from anywhere."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._limit = int(options.get("text_limit", 1000))
        self._size = int(options.get("size_limit", 60_000_000))

    def write(self, runs: Sequence[Path], output: Path) -> Sequence[str]:
        """Write the report on ``runs`` to ``output``, whole or not at all; what could not be read of them.

        Raises:
            UsageError: a run is given twice.
            StoreError: a run cannot be read, or the file cannot be written.
        """
        if len({path.resolve() for path in runs}) < len(runs):
            raise UsageError("a run is given twice; give different run directories")
        opened = [view_run(path) for path in runs]
        temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
        try:
            with ExitStack() as stack:
                sources = [stack.enter_context(Source(run)) for run in opened]
                limit = fitting(sources, self._limit, self._size - _PAGE)
                for _ in range(_TRIES):
                    with temporary.open("wb") as out:
                        self._write(sources, limit, out)
                    if temporary.stat().st_size <= self._size:
                        break
                    limit = limit * 9 // 10  # the sample was luckier than the whole
            temporary.replace(output)
            flaws = [flaw for source in sources for flaw in source.flaws]
            return [*flaws, *self._shortened(limit)]
        except OSError as failure:
            raise StoreError(
                f"cannot write {output}: {failure.strerror or failure}; give another file with -o"
            ) from failure
        finally:
            temporary.unlink(missing_ok=True)

    def _shortened(self, limit: int) -> list[str]:
        if limit >= self._limit:
            return []
        return [
            f"texts are cut at {limit:,} characters, not at {self._limit:,}, so that the file is at most "
            f"{self._size // 1_000_000} MB; -R size_limit=BYTES allows more"
        ]

    def _write(self, sources: Sequence[Source], limit: int, out: IO[bytes]) -> None:
        """The page around the blocks: these are made first, since what they hold is counted on the way."""
        runs = [source.run for source in sources]
        with tempfile.TemporaryFile() as stored:
            blocks = Blocks(stored, limit, max(len(run.form.slots) for run in runs))
            for source in sources:
                blocks.add(source, run_name(source.run))
            page = _page(sources, blocks, self._limit, self._size)
            before, _, after = page.rpartition(_BLOCKS)
            out.write(before.encode("utf-8"))
            stored.seek(0)
            shutil.copyfileobj(stored, out)
            out.write(after.encode("utf-8"))


_BLOCKS = "<!-- blocks -->"


def run_name(run: RunView) -> str:
    """Model and benchmark."""
    return clean(f"{model_name(run)} · {run.bundle.full_name}")


def model_name(run: RunView) -> str:
    """The model as a reader knows it: the name that was given, without folders."""
    named = (
        run.info["config"].get("model") or run.info.get("identity", {}).get("model") or run.info["config"]["backend"]
    )
    last = str(named).replace("\\", "/").rstrip("/").rpartition("/")[2] or str(named)
    return last.removesuffix(".gguf")


def _page(sources: Sequence[Source], blocks: Blocks, asked: int, size: int) -> str:
    runs = [source.run for source in sources]
    views = [View(run, Book(run.scores[0], f"{number}.0"), number) for number, run in enumerate(runs)]
    parts = [_part(view, source.flaws) for view, source in zip(views, sources, strict=True)]
    style, script = _asset("style.css"), _asset("script.js")
    title = run_name(runs[0]) if len(runs) == 1 else f"{len(runs)} runs"
    names = blocks.catalogue.packed(
        tags={tag: view.language(tag) for view in views for tag in view.run.form.languages},
        titles={key: view.category(key) for view in views for key in view.run.form.categories},
        labels={label.key: label.name("en") for view in views for label in view.run.form.labels},
        closed=[view.run.manifest["redistribution"] == "forbidden" for view in views],
    )
    return _environment().get_template("page.html.j2").render(
        title=title, parts=parts, style=style, script=script, style_hash=_hash(style), script_hash=_hash(script),
        demo=max((part["demo"] for part in parts), key=len), demos=[part for part in parts if part["demo"]],
        demo_sets=dict.fromkeys(run.bundle.full_name for run in runs if run.bundle.demo),
        warnings=list(dict.fromkeys(clean(run.manifest["content_warning"]) for run in runs)),
        canaries=list(dict.fromkeys(clean(run.manifest["canary"]) for run in runs)),
        overview=overview(parts) if len(parts) > 1 else None, catalogue=names,
        rows=len(blocks.catalogue.rows.get("run", ())), limit=blocks.limit, asked=asked, size=size // 1_000_000,
        closed=[part for part in parts if part["closed"]],
    )  # fmt: skip


def _part(view: View, flaws: Sequence[str]) -> dict[str, Any]:
    """Everything the page says about one run; ``flaws`` are what could not be read of it."""
    run, manifest = view.run, view.run.manifest
    ways: list[dict[str, Any]] = []
    if run.form.task == "choice":
        for condition in run.form.conditions:
            ways.append({"name": words(condition), "sections": choice.sections(view, condition)})
    else:
        for way in groups.ways(view.book, run.form.conditions):
            ways.append({"name": ", ".join(map(words, way.values())), "sections": groups.sections(view, way)})
    sections = [
        *shared.outcomes(view),
        *shared.agreement(view),
        shared.every_score(view),
    ]
    return {
        "view": view, "number": view.number, "run": run, "name": run_name(run), "model": model_name(run),
        "manifest": manifest,
        "demo": f"demo: {run.bundle.demo_words}" if run.bundle.demo else "",
        "closed": manifest["redistribution"] == "forbidden", "headlines": headlines(view),
        "alarms": alarms(view), "ways": [way for way in ways if way["sections"]], "sections": sections,
        "provenance": shared.provenance(run), "notes": list(dict.fromkeys((*run.notes, *map(clean, flaws)))),
        "books": _others(view),
    }  # fmt: skip


def _others(view: View) -> list[dict[str, Any]]:
    """Every scores file of the run with its primary numbers: other judges, selections and metrics."""
    found = []
    for place, file in enumerate(view.run.scores):
        other = View(view.run, Book(file, f"{view.number}.{place}"), view.number)
        found.append(
            {
                "name": file.name,
                "mark": f"{view.number}.{place}",
                "judge": file.judge,
                "said": file.said,
                "headlines": headlines(other),
            }
        )
    return found


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, undefined=jinja2.StrictUndefined, finalize=finalize,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(words=words, sentence=sentence)
    return environment
