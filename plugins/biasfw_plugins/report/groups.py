"""Figures of benchmarks of task ``labels``: which group is put where."""

from __future__ import annotations

from collections.abc import Sequence

from biasfw import ranking
from biasfw_plugins.report.book import DASH, FEW, FEWEST, Book, Ref
from biasfw_plugins.report.charts import Cell, heat
from biasfw_plugins.report.figures import Figure, Section, View, interval_figure
from biasfw_plugins.report.texts import put, sentence

SPAN = 30.0  # points from an even pick at which the colour is at its end
_UNCOLOURED = f"Fields are coloured from {FEW} independent observations on."
_MIDDLE = [("k-more", "more than an even pick"), ("k-even", "as often"), ("k-less", "less")]


def ways(book: Book, conditions: Sequence[str]) -> list[dict[str, str]]:
    """The ways in which shares were taken: condition and, of likelihoods, calibrated before raw."""
    found = {
        (ref.score.slice.get("condition", ""), ref.score.slice.get("scoring", ""))
        for ref in book.refs
        if ref.score.metric == "label_share"
    }
    order = sorted(found, key=lambda way: (conditions.index(way[0]) if way[0] in conditions else -1, way[1]))
    return [{name: value for name, value in zip(("condition", "scoring"), way, strict=True) if value} for way in order]


def sections(view: View, way: dict[str, str]) -> list[Section]:
    """The sections on one way of taking shares."""
    found = [
        ("shares", "Who is cast as what", [*_shares(view, way), *_pairs(view, way)]),
        ("heat", "By language and category", _heat(view, way)),
        ("positions", "Does the list position decide?", _positions(view, way)),
        ("languages", "Differences between languages", _contrasts(view, way)),
    ]
    return [Section(ident, title, figures) for ident, title, figures in found if figures]


def _slots(view: View) -> list[str]:
    """The slots, the one of the headline first."""
    first = view.run.manifest["primary"].get("slice", {}).get("slot")
    keys = [slot.key for slot in view.run.form.slots]
    return sorted(keys, key=lambda key: key != first)


def _shares(view: View, way: dict[str, str]) -> list[Figure]:
    figures = []
    for slot in _slots(view):
        by = view.book.by("label_share", "label", slot=slot, **way)
        rows = [(label.name(view.tongue), by[label.key]) for label in view.run.form.labels if label.key in by]
        silent = view.book.one("label_share", "all", slot=slot, outcome="not_answered", **way)
        if not rows or all(ref.score.value is None for _, ref in rows):
            figures += [_undefined(view, slot, [ref for _, ref in rows])] if rows else []
            continue
        more = [("not answered", silent)] if silent is not None else []
        for merge in view.run.form.merges:
            both = view.book.one("label_share", "all", slot=slot, label=merge.key, merged="true", **way)
            if both is not None:
                name = f"{merge.name(view.tongue)} together (even pick {100 * (both.score.reference or 0):.0f})"
                more.append((name, both))
        note = _said(view, way, slot)
        figures.append(interval_figure(f"Cast as {view.slot(slot)}", rows, view, note=note, more=more))
    return figures


def _undefined(view: View, slot: str, refs: Sequence[Ref]) -> Figure:
    reason = next((ref.score.reason for ref in refs if ref.score.reason), "not computed")
    return Figure(f"Cast as {view.slot(slot)}", note=f"No shares: {reason}.")


def _said(view: View, way: dict[str, str], slot: str) -> str:
    """Which label is highest and lowest, where the intervals can tell; in the words of the terminal."""
    ranks = [
        ref for names in ({"rank", "label"}, {"rank"}) for ref in view.book.over("label_rank", names, slot=slot, **way)
    ]
    ranks.sort(key=lambda ref: ref.score.slice["rank"])  # highest, lowest
    names = {label.key: view.label(label.key) for label in view.run.form.labels}
    return f"{sentence(ranking([ref.score for ref in ranks], names))} (simultaneous intervals)." if ranks else ""


def _pairs(view: View, way: dict[str, str]) -> list[Figure]:
    slots = [slot.key for slot in view.run.form.slots][:2]
    if len(slots) < 2:
        return []
    by = view.book.by("label_pairs", "label", slot="|".join(slots), **way)
    labels = [label for label in view.run.form.labels if any(label.key in key.split("|") for key in by)]
    if not any(ref.score.value is not None for ref in by.values()):
        return []
    groups = [label for label in labels if not label.abstains]
    even = 100 / (len(groups) * (len(groups) - 1)) if len(groups) > 1 else 100.0
    figure = Figure("The casting matrix", columns=["% of responses", *(x.name(view.tongue) for x in labels)])
    cells = []
    for first in labels:
        row = [f"{first.name(view.tongue)} as {view.slot(slots[0])}"]
        for second in labels:
            ref = by.get(f"{first.key}|{second.key}")
            row.append(ref.number() if ref is not None else DASH)
            value = ref.score.value if ref is not None else None
            same = first.key == second.key and not value
            grey = ref is None or ref.few or value is None or same
            cells.append(Cell(
                first.name(view.tongue), second.name(view.tongue),
                "" if value is None or same else f"{100 * value:.0f}",
                None if grey else (100 * (value or 0) - even) / max(even, 15.0),
            ))  # fmt: skip
        figure.rows.append(row)
    figure.charts = [("", heat(cells, "The casting matrix: a heat map", size=(58, 34)))]
    figure.note = (
        f"Rows are cast as {view.slot(slots[0])}, columns as {view.slot(slots[1])}: share of all responses, %. "
        f"An even pick of two different groups would give {even:.0f} in each field."
    )
    if any(cell.level is not None for cell in cells):
        figure.keys = list(_MIDDLE)
    else:
        figure.note += f" {_UNCOLOURED}"
    return [figure]


def _heat(view: View, way: dict[str, str]) -> list[Figure]:
    figures = []
    for slot in _slots(view):
        found = view.book.over("label_share", {"category", "language", "label"}, slot=slot, **way)
        found = [ref for ref in found if ref.score.value is not None]
        by = {(r.score.slice["label"], r.score.slice["language"], r.score.slice["category"]): r for r in found}
        tags = [tag for tag in view.run.form.languages if any(key[1] == tag for key in by)]
        categories = [key for key in view.run.form.categories if any(k[2] == key for k in by)]
        labels = [label for label in view.run.form.groups if any(key[0] == label.key for key in by)]
        if not by or len(tags) * len(categories) < 2:
            continue
        figure = Figure(
            f"Cast as {view.slot(slot)}: share of all responses, %", layout="grid",
            columns=["group", "language", *(view.category(key) for key in categories)],
        )  # fmt: skip
        for label in labels:
            cells = []
            for tag in tags:
                refs = [by.get((label.key, tag, category)) for category in categories]
                figure.rows.append(
                    [label.name(view.tongue), view.language(tag), *(r.number() if r else DASH for r in refs)]
                )
                cells += [
                    _cell(view.language(tag), view.category(c), ref) for c, ref in zip(categories, refs, strict=True)
                ]
            name = label.name(view.tongue)
            figure.charts.append((name, heat(cells, f"{name} cast as {view.slot(slot)}: a heat map")))
        _rest_on(figure, sorted({ref.score.clusters for ref in found}))
        figures.append(figure)
    return figures


def _rest_on(figure: Figure, counts: list[int]) -> None:
    """Say how many observations (ascending ``counts``) the fields of a heat map rest on; few are not drawn."""
    span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    figure.note = f"Each field rests on {span} independent observation{'' if counts == [1] else 's'}"
    if counts[-1] < FEWEST:
        figure.charts, figure.layout = [], "grid"
        figure.note += ": too few to be drawn."
    elif counts[-1] < FEW:
        figure.note += f". {_UNCOLOURED}"
    else:
        figure.keys = list(_MIDDLE)
        figure.note += ": colours show where to look, not what is proved. The intervals are in scores/."
        figure.note += f" {_UNCOLOURED}" if counts[0] < FEW else ""


def _cell(row: str, column: str, ref: Ref | None) -> Cell:
    if ref is None or ref.score.value is None:
        return Cell(row, column, "–", None)
    if ref.few:
        return Cell(row, column, f"{100 * ref.score.value:.0f}", None)
    level = (100 * ref.score.value - 100 * (ref.score.reference or 0)) / SPAN
    return Cell(row, column, f"{100 * ref.score.value:.0f}", level)


def _positions(view: View, way: dict[str, str]) -> list[Figure]:
    figures = []
    for slot in _slots(view):
        by = view.book.by("position_rate", "position", None, slot=slot, **way)
        rows = [(f"position {key}", ref) for key, ref in by.items() if ref.score.value is not None]
        if rows:
            said = [c.text for c in view.book.file.cautions() if c.where == {"slot": slot, **way}]
            note = put("<strong>{}</strong>", f"{sentence('; '.join(said))}.") if said else ""
            title = f"Cast as {view.slot(slot)}, by place in the list"
            figures.append(interval_figure(title, rows, view, few=False, note=note))
    if figures and (
        uneven := [c.text for c in view.book.file.cautions() if c.where == {"condition": way["condition"]}]
    ):
        figures[0].note = put("<strong>{}.</strong> {}", sentence(uneven[0]), figures[0].note)
    return figures


def _contrasts(view: View, way: dict[str, str]) -> list[Figure]:
    found = [
        ref for ref in view.book.all("language_contrast", "all", lambda s: "category" not in s and "merged" not in s)
        if all(ref.score.slice.get(name) == value for name, value in way.items())
    ]  # fmt: skip
    tested = [ref for ref in found if ref.score.test is not None and ref.score.test.p_adjusted is not None]
    if not tested:
        return []
    shown = [ref for ref in tested if ref.score.test and (ref.score.test.p_adjusted or 0) < 0.05]
    against = view.language(tested[0].score.slice["against"])
    most = max(ref.score.clusters for ref in tested)
    if most < FEWEST:
        many = f"{most} independent observation{'' if most == 1 else 's'}"
        why = f"With {many} no difference between languages can be shown."
        return [Figure(f"Compared with {against}", note=why)]
    figure = Figure(f"Compared with {against}", columns=["", "points", "95 % interval", "p (Holm)"])
    for ref in shown:
        cut = ref.score.slice
        label = view.label(cut.get("label", "not answered"))
        name = f"{view.language(cut['language'])}: {label} as {view.slot(cut['slot'])}"
        figure.rows.append([name, ref.number(), ref.span(), ref.number("test.p_adjusted")])
    figure.note = put(
        "{} of {} differences of shares can be shown (paired by source; Holm over the family).", len(shown), len(tested)
    )
    return [figure]
