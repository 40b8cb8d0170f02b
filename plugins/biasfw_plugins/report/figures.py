"""What a section of the page is made of: figures, each a chart with its numbers as a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from biasfw import RunView
from biasfw_plugins.report.book import DASH, Book, Ref
from biasfw_plugins.report.charts import CHANCE, HUMAN, Dot, Part, bars, dots
from biasfw_plugins.report.texts import put, sentence

Cells = list[Any]
OUTCOMES = (
    "answered", "abstained", "refused", "unparsed", "truncated", "tied", "no_majority", "judge_unparsed", "judge_error",
    "error",
)  # fmt: skip


@dataclass(slots=True)
class Figure:
    """``charts`` are drawings with a caption each; ``rows`` are the cells under ``columns``; ``keys`` a legend.

    ``layout``: ``beside`` (the table beside the chart), ``grid`` (many small charts, the table folded under them), or,
    for tables alone, ``wide`` (few broad columns) or ``scores`` (what each is about in its second column).
    """

    title: str
    charts: list[tuple[str, Markup]] = field(default_factory=list)
    columns: Cells = field(default_factory=list)
    rows: list[Cells] = field(default_factory=list)
    note: Any = ""
    keys: list[tuple[str, str]] = field(default_factory=list)  # class of the colour, name
    layout: str = "beside"


@dataclass(slots=True)
class Section:
    """A part of a run's report."""

    ident: str
    title: str
    figures: list[Figure]
    lead: Any = ""


@dataclass(frozen=True, slots=True)
class View:
    """One run with the scores that its figures are taken from."""

    run: RunView
    book: Book
    number: int  # of the run on the page

    @property
    def tongue(self) -> str:
        """The language in which names are shown."""
        return "en"

    def category(self, key: str) -> str:
        """The name of a category."""
        names = self.run.form.categories.get(key, {})
        for tag in (self.tongue, *names):
            if names.get(tag):
                return names[tag][0]
        return key

    def label(self, key: str) -> str:
        """The name of a label or of labels that are taken together."""
        names = {label.key: label.name(self.tongue) for label in self.run.form.labels}
        names.update((merge.key, merge.name(self.tongue)) for merge in self.run.form.merges)
        return names.get(key, key)

    def spelt(self, text: str) -> str:
        """``text`` with the names of categories in the place of their keys, such as ``food_and_drink``."""
        keys = [re.escape(key) for key in self.run.form.categories]
        return re.sub(rf"(?<![\w-])({'|'.join(keys)})(?![\w-])", lambda m: self.category(m[1]), text) if keys else text

    def language(self, tag: str) -> str:
        """The English name of a language."""
        pack = self.run.packs.get(tag) or self.run.packs.get(tag.partition("-")[0])
        return pack.name if pack else tag

    def slot(self, key: str) -> str:
        """A slot in words."""
        return key.replace("_", " ").replace("|", " / ")

    def human(self, metric: str) -> list[tuple[float, str]]:
        """Published human results for the same question, in percent, with their source; of another question: none.

        An entry of the manifest's ``reference_results`` is human if its slice has ``over: human ...``, and is drawn
        only if the slice names the same ``question_id`` as the split.
        """
        manifest = self.run.manifest
        found = []
        for entry in manifest.get("reference_results", ()):
            told = entry.get("slice", {})
            same = told.get("question_id") == manifest["question_id"]
            rest = set(told) - {"over", "question_id"}
            if entry["metric"] == metric and str(told.get("over", "")).startswith("human") and same and not rest:
                value = entry["value"] if entry["unit"] == "percent" else 100 * entry["value"]
                found.append((float(value), str(entry["source"])))
        return found


def interval_figure(  # noqa: PLR0913 - what is drawn, and what stands beside it
    title: str, rows: Sequence[tuple[str, Ref]], view: View, *, note: Any = "", metric: str | None = None,
    few: bool = True, more: Sequence[tuple[str, Ref]] = (), doubted: Collection[str] = (),
) -> Figure:  # fmt: skip
    """Dots with intervals, one row for each score, with lines for chance and for people; numbers in a table.

    ``more`` stands in the table alone. Where no score has an interval there is no column of them, but a reason. Scores
    whose mark is in ``doubted`` are grey: something stands against them.
    """
    shown = [(name, ref) for name, ref in rows if ref.score.value is not None]
    everything = [*rows, *more]
    spans = any(not ref.no_interval for _, ref in everything)
    figure = Figure(title, columns=["", "value", *(["95 % interval"] if spans else []), "n", "clusters"])
    for name, ref in everything:
        span = [ref.span()] if spans else []
        figure.rows.append([name, ref.number(), *span, ref.number("n"), ref.number("clusters")])
    figure.note = _with_reasons(note, [ref for _, ref in everything if ref.score.value is not None], some=spans)
    if not shown:
        return figure
    marks = lines([ref for _, ref in shown])
    marks += [(value, HUMAN, f"people: {value:g}") for value, _ in (view.human(metric) if metric else [])]
    grey = few and any(ref.few for _, ref in shown)
    points = [
        Dot(name, ref.shown(ref.score.value), ref.low, ref.high, (few and ref.few) or ref.mark in doubted)
        for name, ref in shown
    ]
    figure.charts = [("", dots(points, f"{title}: dots with intervals", domain=domain(points, marks), marks=marks))]
    point = "value and 95 % interval" if spans else "value"
    if few and all(ref.few for _, ref in shown):
        figure.keys = [("k-few", f"{point}, from fewer than 10 clusters")]
    else:
        figure.keys = [("k-accent", point), *([("k-few", "fewer than 10 clusters")] if grey else [])]
        if doubted:
            figure.keys = [("k-accent", point), ("k-few", "something stands against it")]
    figure.keys += [("k-chance", name) for name in dict.fromkeys(name for _, colour, name in marks if colour == CHANCE)]
    figure.keys += [("k-human", "people, asked the same")] if any(colour == HUMAN for _, colour, _ in marks) else []
    return figure


def _with_reasons(note: Any, refs: Sequence[Ref], *, some: bool) -> Any:
    """``note``, and why there are no intervals; ``some`` scores may have one."""
    reasons = dict.fromkeys(ref.no_interval for ref in refs if ref.no_interval)
    if not reasons:
        return note
    said = [f"{f'A dash is {reason}' if some else sentence(reason)}." for reason in list(reasons)[:3]]
    return put("{} {}", note, " ".join(said)) if note else " ".join(said)


def lines(refs: Sequence[Ref]) -> list[tuple[float, str, str]]:
    """The line of chance, if all scores have the same; of a distance that chance makes, its mean and its upper end."""
    found = {round(ref.score.reference * ref.scale, 6) for ref in refs if ref.score.reference is not None}
    if len(found) == 1:
        return [(found.pop(), CHANCE, "chance")]
    alone = {_alone(ref) for ref in refs}
    ends = alone.pop() if len(alone) == 1 else ()
    return [(at, CHANCE, "chance alone: its mean, and the end of 95 of 100 cases") for at in ends]


def _alone(ref: Ref) -> tuple[float, ...]:
    """What chance alone gives of a distance: mean, and the end of 95 of 100 cases; nothing where it was not tested."""
    test = ref.score.test
    if ref.bare or test is None or test.null_mean is None or by_likelihood(ref):
        return ()
    return tuple(round(at * ref.scale, 1) for at in (test.null_mean, test.null_q95) if at is not None)


def by_likelihood(ref: Ref) -> bool:
    """Whether the value comes from likelihoods and the test from what would have been picked: two numbers."""
    test = ref.score.test
    return test is not None and test.statistic is not None and "scoring" in ref.score.slice


def domain(points: Sequence[Dot], marks: Sequence[tuple[float, str, str]]) -> tuple[float, float]:
    """0 to 100, or to the next ten above what is shown where that is less than half; wider only for other units."""
    values = [v for p in points for v in (p.value, p.low, p.high) if v is not None] + [at for at, _, _ in marks]
    low, high = min(values), max(values)
    if low < 0 or high > 100:
        margin = max((high - low) * 0.08, 0.5)
        return (min(0.0, low - margin), high + margin)
    return (0.0, 100.0 if high >= 50 else float(-(-high // 10) * 10 or 10))


def outcome_figure(title: str, rows: Sequence[tuple[str, Mapping[str, Ref]]], note: str = "") -> Figure:
    """Bars of what became of the answers: one row each, from ``outcome_rate`` by outcome."""
    present = [o for o in OUTCOMES if any(o in found for _, found in rows)]
    present += sorted({o for _, found in rows for o in found if o not in present})
    figure = Figure(title, note=note, columns=["%", *(o.replace("_", " ") for o in present), "n"])
    parts = []
    for name, found in rows:
        at = 0.0
        for outcome in present:
            value = found[outcome].score.value if outcome in found else None
            if value:
                known = outcome if outcome in OUTCOMES else "error"
                parts.append(Part(name, at, at + 100 * value, f"var(--o-{known})"))
                at += 100 * value
        anything = next(iter(found.values()), None)
        figure.rows.append(
            [
                name,
                *(found[o].number() if o in found else DASH for o in present),
                anything.number("n") if anything else DASH,
            ]
        )
    if parts:
        figure.charts = [("", bars(parts, f"{title}: bars"))]
    figure.keys = [(f"k-{o if o in OUTCOMES else 'error'}", o.replace("_", " ")) for o in present]
    return figure
