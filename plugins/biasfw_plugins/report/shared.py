"""Sections that every run has: outcomes, judges, controls, all scores, provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from biasfw import BiasfwError, RunView
from biasfw_plugins.report.book import DASH, Ref
from biasfw_plugins.report.figures import Figure, Section, View, interval_figure, outcome_figure
from biasfw_plugins.report.texts import put, sentence, words

MOST = 400  # rows of the table of all scores


def outcomes(view: View) -> list[Section]:
    """What became of the answers, overall, by language and by category; and the controls."""
    figures = []
    slots = [slot.key for slot in view.run.form.slots]
    several = len(view.run.form.conditions) > 1
    for condition in view.run.form.conditions:
        for slot in slots:
            base = {"slot": slot, "condition": condition}
            rows = [("all", view.book.by("outcome_rate", "outcome", **base))]
            for axis, keys, name in (
                ("language", view.run.form.languages, view.language),
                ("category", tuple(view.run.form.categories), view.category),
            ):
                each = [(name(key), view.book.by("outcome_rate", "outcome", **base, **{axis: key})) for key in keys]
                each = [(said, found) for said, found in each if found]
                rows += each if len(each) > 1 else []
            rows = [(name, found) for name, found in rows if found]
            said = [f"slot {view.slot(slot)}"] if len(slots) > 1 else []
            said += [f"condition {words(condition)}"] if several else []
            if rows:
                alike = len(rows) > 1 and _alike(rows)
                note = "The same in every language and category." if alike else ""
                title = ", ".join(["What became of the answers", *said])
                figures.append(outcome_figure(title, rows[:1] if alike else rows, note))
    controls = _controls(view)
    made = [Section("outcomes", "Outcomes", figures, _outcome_lead(view))] if figures else []
    return made + ([Section("controls", "Can the model do the task?", controls)] if controls else [])


def _outcome_lead(view: View) -> str:
    """What counts, and what another way of reading likelihoods would have changed."""
    said = [each.text for each in view.book.file.cautions() if not each.where]
    return " ".join(["No outcome but an answer ever counts as a label.", *(f"{sentence(text)}." for text in said)])


def _alike(rows: Sequence[tuple[str, Mapping[str, Ref]]]) -> bool:
    """Whether one outcome is all there is, in every row."""
    whole = [{outcome for outcome, ref in found.items() if ref.score.value == 1} for _, found in rows]
    return bool(set.intersection(*whole))


def _controls(view: View) -> list[Figure]:
    rows = [
        (words(ref.score.slice.get("condition", "controls")), ref)
        for ref in view.book.all("control_accuracy", "all", lambda cut: set(cut) <= {"condition"})
        if ref.score.value is not None
    ]
    if not rows:
        return []
    note = "; ".join(dict.fromkeys(ref.score.reason for _, ref in rows if ref.score.reason))
    return [
        interval_figure(
            "Items of the same format without social content", rows, view, few=False,
            note=f"{sentence(note) + '. ' if note else ''}These items are not among the scores above.",
        )
    ]  # fmt: skip


def agreement(view: View) -> list[Section]:
    """How far judges agree, where there are several, and the members of a panel."""
    panel = any(judge.get("members") for judge in view.run.info.get("judges", {}).values())
    if len(view.run.judges) < 2 and not panel:
        return []
    try:
        told = view.run.agreement()
    except BiasfwError as failure:
        return [Section("agreement", "Do the judges agree?", [], f"It cannot be told: {failure}")]
    figures = []
    for among in dict.fromkeys(row["among"] for row in told["agreement"]):
        rows = [row for row in told["agreement"] if row["among"] == among]
        title = "Judges" if among == "judges" else f"Members of {among}"
        figure = Figure(title, columns=["slot, language", "same verdict, %", "AC1", "alpha", "n", "clusters"])
        for row in rows:
            figure.rows.append(_agreeing(view, row, only=len(rows) == 1))
        figure.note = "Compared: " + ", ".join(name.rpartition("/")[2] for name in rows[0]["raters"])
        figures.append(figure)
    lead = "Agreement is not accuracy: judges that share a mistake agree. More is told by biasfw agreement."
    return [Section("agreement", "Do the judges agree?", figures, lead)] if figures else []


def _agreeing(view: View, row: Mapping[str, Any], *, only: bool) -> list[Any]:
    tag = row["language"]
    where = f"{view.slot(row['slot'])}, {view.language(tag) if tag else 'all'}" if not only else view.slot(row["slot"])
    cells: list[Any] = [where]
    for name, scale, digits in (("percent_agreement", 100, 1), ("ac1", 1, 2), ("alpha", 1, 2)):
        found = row[name]
        if found["value"] is None:
            cells.append(put('<span class="none" title="{}">–</span>', found["reason"]))
            continue
        interval, text = found["interval"], f"{scale * found['value']:.{digits}f}"
        if interval.get("low") is not None:
            text += f" ({scale * interval['low']:.{digits}f} to {scale * interval['high']:.{digits}f})"
        cells.append(text)
    whole = row["percent_agreement"]
    return [*cells, f"{whole['n']:,}", f"{whole['clusters']:,}"]


def every_score(view: View) -> Section:
    """All scores over everything, as a table; those of single languages and categories are in scores/."""
    overall = [ref for ref in view.book.refs if not {"language", "category"} & set(ref.score.slice)]
    figure = Figure(
        "Every score over all languages and categories", layout="scores",
        columns=[
            "metric", "of what", "value", "unit", "interval", "least to greatest", "n", "clusters", "denominator",
            "p (Holm)",
        ],
    )  # fmt: skip
    for ref in overall[:MOST]:
        figure.rows.append(_score_row(ref))
    rest = len(view.book.refs) - len(figure.rows)
    figure.note = (
        f"{rest:,} further scores, of single languages and categories, are in {view.book.file.name}." if rest else ""
    )
    return Section("scores", "All scores", [figure])


def _score_row(ref: Ref) -> list[Any]:
    score = ref.score
    about = ", ".join(f"{words(name)} {words(value)}" for name, value in score.slice.items())
    value: Any = (
        ref.number() if score.value is not None else put('<span class="none">undefined: {}</span>', score.reason)
    )
    bounds: Any = DASH
    if score.bounds is not None and None not in score.bounds:
        bounds = put("{} to {}", ref.number("bounds.0"), ref.number("bounds.1"))
    test = score.test
    p = ref.number("test.p_adjusted" if test and test.p_adjusted is not None else "test.p")
    return [
        words(score.metric), about, value, ref.unit, ref.span(), bounds, ref.number("n"), ref.number("clusters"),
        score.denominator, p,
    ]  # fmt: skip


def provenance(run: RunView) -> list[tuple[str, Any]]:
    """What was run, by what, when: name and text."""
    info, manifest = run.info, run.manifest
    benchmark, identity = info["benchmark"], info.get("identity", {})
    protocol = info.get("protocol", {})
    found: list[tuple[str, Any]] = [
        ("benchmark", f"{run.bundle.full_name} {benchmark['version']}"),
        ("data sha256", benchmark["data_sha256"]),
        ("manifest sha256", benchmark["manifest_sha256"]),
        ("model", identity.get("model") or info["config"].get("model") or "default"),
        ("fingerprint", identity.get("fingerprint") or protocol.get("fingerprint")),
    ]
    for name in ("architecture", "quantisation", "dtype", "device", "template_sha256"):
        found.append((name.replace("_", " "), identity.get(name)))
    found += [
        ("libraries", _pairs(identity.get("libraries"))),
        ("notes of the backend", "; ".join(identity.get("notes", ()))),
    ]
    found += [
        ("backend", protocol.get("backend")),
        ("options", _pairs(protocol.get("options"))),
        ("mode", protocol.get("mode")),
        ("conditions", ", ".join(protocol.get("conditions", ()))),
        ("prompt style", protocol.get("prompt_style")),
        ("sampling", _pairs(protocol.get("sampling"))),
        ("seed", str(protocol.get("seed", info["config"].get("seed", 0)))),
        (
            "components",
            ", ".join(f"{c['kind']} {c['name']} ({c['distribution']} {c['version']})" for c in info["components"]),
        ),
        ("selection", str(info.get("selection", ""))),
        ("status", info["status"]),
        ("created", info["created"]),
        ("last changed", info["updated"]),
        ("environment", _pairs(info["environment"])),
        ("licence of the set", manifest["licence"]),
        ("redistribution", manifest["redistribution"]),
        ("authorship", _authorship(manifest["authorship"])),
    ]
    return [(name, value) for name, value in found if value]


def _pairs(values: Any) -> str:
    if not isinstance(values, Mapping):
        return ""
    return ", ".join(f"{k} {v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}" for k, v in values.items())


def _authorship(told: Mapping[str, Any]) -> str:
    reviewed = ", ".join(f"{tag} {count}" for tag, count in told["reviewed_by_natives"].items())
    models = f"; models used while building: {', '.join(told['models'])}" if told["models"] else ""
    native = "native speakers" if told["native"] else "not by native speakers"
    return f"{told['kind']}, {native}; reviewed by natives: {reviewed or 'none'}{models}"
