"""Several runs side by side: a table of models and benchmarks, and one small chart for each benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from biasfw_plugins.report.book import DASH
from biasfw_plugins.report.figures import Figure, interval_figure
from biasfw_plugins.report.headline import Headline
from biasfw_plugins.report.texts import put


def overview(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The table and the charts; benchmarks are told apart by name, split, mode and way of taking the score."""
    columns: dict[str, list[tuple[dict[str, Any], Headline]]] = {}
    for part in parts:
        for headline in part["headlines"]:
            columns.setdefault(_column(part, headline), []).append((part, headline))
    _tell_apart(columns)
    mixed = len({bool(part["demo"]) for part in parts}) > 1
    table = Figure("Models and benchmarks", columns=["model"], layout="wide")
    for name, found in columns.items():
        table.columns += [
            name,
            "95 % interval",
            *(["remarks"] if any(_tags(p, marked=mixed) for p, _ in found) else []),
        ]
    for model in dict.fromkeys(part["model"] for part in parts):
        row: list[Any] = [model]
        for found in columns.values():
            row += _cells([pair for pair in found if pair[0]["model"] == model], marked=mixed)
            if not any(_tags(part, marked=mixed) for part, _ in found):
                row.pop()
        table.rows.append(row)
    table.note = (
        "Intervals of single runs do not tell whether two runs differ: they share items, which a comparison takes into "
        "account (biasfw compare)."
    )
    charts = []
    for name, found in columns.items():
        rows = [(part["model"], headline.ref) for part, headline in found]
        doubted = {headline.ref.mark for part, headline in found if part["alarms"]}
        metric = found[0][1].ref.score.metric
        charts.append(interval_figure(name, rows, found[0][0]["view"], metric=metric, few=False, doubted=doubted))
    return {"table": table, "charts": charts}


def _cells(found: Sequence[tuple[dict[str, Any], Headline]], *, marked: bool) -> list[Any]:
    """Value, interval and remarks of a model: a line for each of its runs, so that numbers stand under numbers."""
    if not found:
        return [DASH, DASH, ""]
    values, spans = [], []
    for part, headline in found:
        known = headline.ref.score.value is not None
        shown = headline.ref.number(unit=True) if known else "undefined"
        values.append(put('<a href="#run-{}">{}</a>', part["number"], shown))
        spans.append(put('<span class="small">{}</span>', headline.ref.span()))
    tags = [_tags(part, marked=marked) for part, _ in found]
    lines = Markup("<br>")
    return [lines.join(values), lines.join(spans), put('<span class="remarks">{}</span>', lines.join(tags))]


def _tags(part: dict[str, Any], *, marked: bool) -> Markup:
    """What stands against a number of the run; demo sets are ``marked`` where others stand beside them."""
    names = [*(["demo"] if marked and part["demo"] else []), *dict.fromkeys(alarm.short for alarm in part["alarms"])]
    return Markup("").join(
        put(' <span class="tag{}">{}</span>', "" if name == "demo" else " against", name) for name in names
    )


def _tell_apart(columns: dict[str, list[tuple[dict[str, Any], Headline]]]) -> None:
    """Runs of one model in one column are told apart by what differs, such as the prompt style; else by their hash."""
    for found in columns.values():
        same: dict[str, list[dict[str, Any]]] = {}
        for part, _ in found:
            same.setdefault(part["model"], []).append(part)
        for name, parts in same.items():
            alike = list({part["number"]: part for part in parts}.values())
            if len(alike) < 2:
                continue
            about = [_about(part) for part in alike]
            differing = [key for key in about[0] if len({each[key] for each in about}) > 1]
            told = [", ".join(each[key] for key in differing if each[key]) for each in about]
            for part, text in zip(alike, told, strict=True):
                mark = part["run"].path.name.rpartition("-")[2]
                part["model"] = f"{name} ({text if text and told.count(text) == 1 else mark})"


def _about(part: dict[str, Any]) -> dict[str, str]:
    """What may differ between two runs of one model, in words."""
    protocol, identity = part["run"].info.get("protocol", {}), part["run"].info.get("identity", {})
    sampling = protocol.get("sampling") or {}
    return {
        "prompt": f"{protocol.get('prompt_style')} prompt",
        "quantisation": str(identity.get("quantisation") or ""),
        "dtype": str(identity.get("dtype") or ""),
        "sampling": ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sampling.items()),
        "shots": f"{protocol.get('shots', ['no'])[0]} examples",
        "seed": f"seed {protocol.get('seed', 0)}",
    }


def _column(part: dict[str, Any], headline: Headline) -> str:
    mode = part["run"].info.get("protocol", {}).get("mode", "")
    bits = [part["run"].bundle.full_name, mode, headline.name, headline.where]
    return " · ".join(bit for bit in bits if bit)
