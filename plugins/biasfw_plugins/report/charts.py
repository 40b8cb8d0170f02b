"""Charts, drawn to SVG when the report is written. Colours are CSS variables, so that one drawing fits both themes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from markupsafe import Markup

from biasfw_plugins.report.svg import tidy
from biasfw_plugins.report.texts import clean

INK, SOFT, LINE, PAPER = "var(--ink)", "var(--soft)", "var(--line)", "var(--paper)"
POINT, FEW, CHANCE, HUMAN = "var(--accent)", "var(--few)", "var(--chance)", "var(--human)"
_DATA: Any = alt.Data
_LINE = 18  # characters of a name beside a chart
_NAMES = alt.Axis(title=None, labelLimit=190, labelPadding=8, labelLineHeight=13, labelExpr="split(datum.label, '\\n')")
STEPS = 4  # of the diverging scale, on each side of the middle


@dataclass(frozen=True, slots=True)
class Dot:
    """One row of a plot of dots: numbers in the unit of the axis; ``few``: too few clusters to be read closely."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    few: bool = False
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a heat map: its text, and how far it is from the middle, from -1 to 1 (None: no value)."""

    row: str
    column: str
    text: str
    level: float | None


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: from 0 to 100."""

    row: str
    start: float
    end: float
    colour: str


def dots(
    rows: Sequence[Dot], label: str, *, domain: tuple[float, float], marks: Sequence[tuple[float, str, str]] = (),
    width: int = 310,
) -> Markup:  # fmt: skip
    """Dots with intervals, one row each; ``marks`` are lines across: position, colour, name."""
    names = _unique([_broken(row.label) for row in rows])
    data = [
        {
            "row": name, "value": row.value, "low": row.low, "high": row.high,
            "colour": row.colour or (FEW if row.few else POINT),
        }
        for name, row in zip(names, rows, strict=True)
    ]  # fmt: skip
    y = alt.Y("row:N", sort=names, axis=_NAMES)
    scale = alt.Scale(domain=list(domain), nice=False)
    axis = alt.Axis(title=None, grid=True, tickCount=5, format="~f")
    colour = alt.Color("colour:N", scale=None)
    base = alt.Chart(_DATA(values=data))
    layers: list[Any] = [
        alt.Chart(_DATA(values=[{"at": at}]))
        .mark_rule(color=colour_, strokeWidth=1.5, strokeDash=[5, 3] if colour_ == CHANCE else [1, 0])
        .encode(x=alt.X("at:Q", scale=scale, axis=axis))
        for at, colour_, _ in marks
    ]
    spans = base.transform_filter("isValid(datum.low)")
    layers += [
        spans.mark_rule(strokeWidth=3, opacity=0.45, strokeCap="round").encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", y=y, color=colour
        ),
        base.mark_circle(size=95, opacity=1, stroke=PAPER, strokeWidth=1.5).encode(
            x=alt.X("value:Q", scale=scale, axis=axis), y=y, color=colour
        ),
    ]
    return _draw(alt.layer(*layers).properties(width=width, height=alt.Step(_step(names, 27))), label)


def heat(cells: Sequence[Cell], label: str, *, size: tuple[int, int] = (44, 26), corner: str = "") -> Markup:
    """Fields in rows and columns, coloured by how far they are from the middle; the text stands in each."""
    rows, columns = _seen(cell.row for cell in cells), _seen(cell.column for cell in cells)
    data = [
        {"row": clean(c.row), "column": clean(c.column), "text": c.text, "fill": step_colour(c.level)} for c in cells
    ]
    x = alt.X(
        "column:N", sort=columns,
        axis=alt.Axis(
            orient="top", title=corner or None, labelAngle=-38, labelAlign="left", labelLimit=110, labelPadding=4,
        ),
    )  # fmt: skip
    y = alt.Y("row:N", sort=rows, axis=alt.Axis(title=None, labelLimit=130, labelPadding=6))
    base = alt.Chart(_DATA(values=data)).encode(x=x, y=y)
    chart = alt.layer(
        base.mark_rect(stroke=PAPER, strokeWidth=2).encode(color=alt.Color("fill:N", scale=None)),
        base.mark_text(color=INK, fontSize=12).encode(text="text:N"),
    ).properties(width=alt.Step(size[0]), height=alt.Step(size[1]))
    return _draw(chart, label)


def bars(parts: Sequence[Part], label: str, *, width: int = 310) -> Markup:
    """Bars of parts of a whole, in percent."""
    rows = _seen(_broken(part.row) for part in parts)
    data = [{"row": _broken(p.row), "start": p.start, "end": p.end, "fill": p.colour} for p in parts]
    axis = alt.Axis(title=None, grid=False, tickCount=5, format="~f")
    chart = (
        alt.Chart(_DATA(values=data))
        .mark_bar(height=17, stroke=PAPER, strokeWidth=1)
        .encode(
            x=alt.X("start:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=axis),
            x2="end:Q",
            y=alt.Y("row:N", sort=rows, axis=_NAMES),
            color=alt.Color("fill:N", scale=None),
        )
        .properties(width=width, height=alt.Step(_step(rows, 26)))
    )
    return _draw(chart, label)


def _broken(name: str) -> str:
    """A long name in lines, so that it leaves room for the chart on a phone."""
    return "\n".join(textwrap.wrap(clean(name), _LINE, break_long_words=False)) or " "


def _step(names: Sequence[str], step: int) -> int:
    """The height of a row, with room between names of two lines."""
    return step + 5 if any("\n" in name for name in names) else step


def step_colour(level: float | None) -> str:
    """The step of the diverging scale for ``level`` (-1 to 1)."""
    if level is None:
        return "var(--none)"
    step = round(max(-1.0, min(1.0, level)) * STEPS)
    return f"var(--{'more' if step > 0 else 'less'}{abs(step)})" if step else "var(--even)"


def _unique(names: Sequence[str]) -> list[str]:
    """Names as they are drawn, none twice: a chart would put equal ones into one row."""
    seen: dict[str, int] = {}
    found = []
    for name in map(clean, names):
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _seen(names: Any) -> list[str]:
    return list(dict.fromkeys(map(clean, names)))


def _draw(chart: Any, label: str) -> Markup:
    quiet = {"domain": False, "ticks": False, "labelColor": INK, "titleColor": SOFT, "gridColor": LINE}
    drawn = (
        chart.configure(
            background="transparent",
            font="sans-serif",
            aria=False,
            padding={"left": 14, "right": 12, "top": 4, "bottom": 4},
        )
        .configure_view(stroke=None)
        .configure_axis(labelFlush=False, labelFontSize=12.5, titleFontSize=12, titleFontWeight="normal", **quiet)
    )
    out = io.StringIO()
    drawn.save(out, format="svg")
    return tidy(out.getvalue(), label)
