"""Figures of benchmarks of task ``choice``: categories, orders, instructions, simple rules, controls."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from biasfw_plugins.report.book import DASH, Ref
from biasfw_plugins.report.charts import Part, bars
from biasfw_plugins.report.figures import Figure, Section, View, interval_figure
from biasfw_plugins.report.texts import put, sentence

LEDGER = (
    ("right", "right in every order"),
    ("mixed", "mixed"),
    ("locked_first", "always the first position"),
    ("locked_between", "always one in between"),
    ("locked_last", "always the last position"),
    ("wrong", "wrong in every order"),
    ("not_answered", "not answered"),
)
_RULES = (
    ("first_position", "always the first"),
    ("shorter", "the shorter option"),
    ("longer", "the longer option"),
    ("hedged", "the hedged option"),
)


def sections(view: View, condition: str) -> list[Section]:
    """The sections on one condition; a figure whose metric was not computed is left out."""
    figures = [_categories, _orders, _instructions, _rules]
    found = [(ident, title, make(view, condition)) for make, ident, title in zip(
        figures,
        ("categories", "orders", "instructions", "rules"),
        ("Categories", "Does the order decide?", "Does the wording decide?", "Rules without regard to bias"),
        strict=True,
    )]  # fmt: skip
    return [Section(ident, title, made) for ident, title, made in found if made]


def _categories(view: View, condition: str) -> list[Figure]:
    by = view.book.by("accuracy", "category", condition=condition)
    if not by:
        return []
    rows = [(view.category(key), ref) for key, ref in _ordered(view, by)]
    return [interval_figure("Accuracy by category", rows, view, note=_ranked(view, condition), metric="accuracy")]


def _ranked(view: View, condition: str) -> str:
    """Which category is highest and lowest, or why that cannot be said."""
    ranks = list(view.book.all("accuracy_rank", "all", lambda s: s.get("condition") == condition))
    named = [
        f"{ref.score.slice['rank']}: {view.category(ref.score.slice['category'])}"
        for ref in ranks
        if ref.score.value is not None and "category" in ref.score.slice
    ]
    if named:
        return f"{sentence('; '.join(named))}."
    why = next((ref.score.reason for ref in ranks if ref.score.reason), "") or ""
    return f"The categories {view.spelt(why)}." if why.startswith("cannot be ranked") else ""


def _ordered(view: View, by: dict[str, Ref]) -> list[tuple[str, Ref]]:
    keys = [key for key in view.run.form.categories if key in by]
    return [(key, by[key]) for key in (*keys, *(key for key in by if key not in keys))]


def _orders(view: View, condition: str) -> list[Figure]:
    rows = [("all", view.book.by("order_ledger", "ledger", condition=condition))]
    for key in view.run.form.categories:
        rows.append((view.category(key), view.book.by("order_ledger", "ledger", condition=condition, category=key)))
    rows = [(name, found) for name, found in rows if any(ref.score.value is not None for ref in found.values())]
    if not rows:
        return []
    present = [(key, words) for key, words in LEDGER if any(key in found for _, found in rows)]
    figure = Figure("Order-swap ledger", columns=["% of pairs", *(words for _, words in present), "pairs"])
    parts = []
    for name, found in rows:
        at = 0.0
        for key, _ in present:
            value = found[key].score.value if key in found else None
            if value:
                parts.append(Part(name, at, at + 100 * value, f"var(--l-{key.replace('_', '-')})"))
                at += 100 * value
        count = next(iter(found.values())).number("n")
        figure.rows.append([name, *(found[key].number() if key in found else DASH for key, _ in present), count])
    figure.charts = [("", bars(parts, "Order-swap ledger: bars"))]
    figure.keys = [(f"k-l-{key.replace('_', '-')}", words) for key, words in present]
    figure.note = _order_note(view, condition)
    return [figure, *_ledger(rows[0], present)]


def _ledger(whole: tuple[str, dict[str, Ref]], present: Sequence[tuple[str, str]]) -> list[Figure]:
    """The ledger over everything with intervals, and what answers at random would give."""
    name, found = whole
    if name != "all":
        return []
    figure = Figure("Order-swap ledger over all pairs", columns=["", "% of pairs", "95 % interval", "by chance"])
    for key, words in present:
        if key in found:
            figure.rows.append([words, found[key].number(), found[key].span(), found[key].number("reference")])
    return [figure]


def _order_note(view: View, condition: str) -> Markup:
    """What a pair is, the first position, and the preference averaged over the orders."""
    said = [Markup("A pair is the same options in every order: an answer that follows the position is no preference.")]
    first = view.book.one("position_preference", "answered", condition=condition)
    if first is not None and first.score.value is not None:
        said.append(put("The first position is picked in {}{} of answered rows.",
            first.number(unit=True), first.around()
        ))  # fmt: skip
    liked = view.book.one("order_averaged_preference", "returned", condition=condition, statistic="share_positive")
    if liked is not None and liked.score.value is not None:
        said.append(put("Averaged over the orders, the log-probs prefer the right option in {}{} of pairs.",
            liked.number(unit=True), liked.around()
        ))  # fmt: skip
    return Markup(" ").join(said)


def _instructions(view: View, condition: str) -> list[Figure]:
    by = view.book.by("accuracy", "variant", condition=condition)
    if len(by) < 2 or all(ref.score.value is None for ref in by.values()):
        return []
    rows = [(f"instruction {key}", ref) for key, ref in by.items()]
    figure = interval_figure("Accuracy by instruction", rows, view, few=False)
    said = []
    spread = view.book.one("variant_spread", "all", condition=condition, statistic="range")
    changed = view.book.one("variant_spread", "all", condition=condition, statistic="changed")
    if spread is not None and spread.score.value is not None:
        said.append(put("Largest difference: {} points.", spread.number()))
    if changed is not None and changed.score.value is not None:
        said.append(put("The answer changes with the wording in {}{} of cases.",
            changed.number(unit=True), changed.around()
        ))  # fmt: skip
    figure.note = Markup(" ").join(said)
    return [figure]


def _rules(view: View, condition: str) -> list[Figure]:
    by = view.book.by("confound_baselines", "baseline", condition=condition)
    model = view.book.one("accuracy", "all", condition=condition)
    rows = [(words, by[key]) for key, words in _RULES if key in by and by[key].score.value is not None]
    if not rows:
        return []
    if model is not None:
        rows.insert(0, ("this model", model))
    for key, words in (("gold_shorter", "right option is shortest"), ("gold_hedges", "right option hedges")):
        split = view.book.by("confound_baselines", key, condition=condition)
        for value, said in (("true", "yes"), ("false", "no")):
            if value in split and split[value].score.value is not None:
                rows.append((f"{words}: {said}", split[value]))
    return [
        interval_figure(
            "What simple rules get on these rows", rows, view,
            note="A model that follows such a rule gets that accuracy without any regard to bias. The last rows are "
            "this model, where the right option has the property and where it has not.",
        )
    ]  # fmt: skip
