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
    table = Figure("Models and benchmarks", columns=["model", *columns], layout="table")
    for model in dict.fromkeys(part["model"] for part in parts):
        row: list[Any] = [model]
        for found in columns.values():
            cells = [
                put(
                    '<a href="#run-{}">{}</a> <span class="small">{}</span>{}',
                    part["number"],
                    headline.ref.number(unit=True) if headline.ref.score.value is not None else "undefined",
                    headline.ref.span() if headline.ref.low is not None else "",
                    Markup(' <span class="tag">demo</span>') if part["demo"] else "",
                )
                for part, headline in found if part["model"] == model
            ]  # fmt: skip
            row.append(Markup("<br>").join(cells) if cells else DASH)
        table.rows.append(row)
    table.note = (
        "Intervals of single runs do not tell whether two runs differ: they share items, which a comparison takes into "
        "account (biasfw compare)."
    )
    charts = []
    for name, found in columns.items():
        rows = [(part["model"], headline.ref) for part, headline in found]
        charts.append(interval_figure(name, rows, found[0][0]["view"], metric=found[0][1].ref.score.metric, few=False))
    return {"table": table, "charts": charts}


def _tell_apart(columns: dict[str, list[tuple[dict[str, Any], Headline]]]) -> None:
    """Runs of one model in one column differ in prompt style, sampling or the like: the hash of the run tells them."""
    for found in columns.values():
        names = [part["model"] for part, _ in found]
        for (part, _), name in zip(found, names, strict=True):
            if names.count(name) > 1:
                part["model"] = f"{name} ({part['run'].path.name.rpartition('-')[2]})"


def _column(part: dict[str, Any], headline: Headline) -> str:
    mode = part["run"].info.get("protocol", {}).get("mode", "")
    bits = [part["run"].bundle.full_name, mode, headline.name, headline.where]
    return " · ".join(bit for bit in bits if bit)
