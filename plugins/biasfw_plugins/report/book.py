"""The scores of one file, to be asked for by metric and slice, and their numbers as the page shows them.

Every number on the page is an element that names the score and the field it was taken from, so that a test (or a
reader) can hold the page against scores/*.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from biasfw import RunScores, Score
from biasfw_plugins.report.texts import clean, put

DASH = Markup('<span class="none">–</span>')
FEW = 10  # clusters below which a slice is greyed
FEWEST = 5  # clusters below which there is no interval and nothing is held against chance, as everywhere in biasfw


@dataclass(frozen=True, slots=True)
class Ref:
    """A score and where it stands: ``mark`` is ``RUN.FILE.PLACE``."""

    score: Score
    mark: str

    @property
    def few(self) -> bool:
        """Whether it rests on too few clusters to be read closely."""
        return self.score.clusters < FEW

    @property
    def bare(self) -> bool:
        """Whether it rests on too few clusters to be held against chance."""
        return self.score.clusters < FEWEST

    @property
    def no_interval(self) -> str:
        """Why there is no interval, as a sentence; empty where there is one."""
        interval = self.score.interval
        if self.low is not None and self.high is not None:
            return ""
        if self.bare:
            return f"no interval: it takes {FEWEST} independent observations, and there {_many(self.score.clusters)}"
        return f"no interval: {interval.reason if interval and interval.reason else 'none was computed'}"

    @property
    def scale(self) -> float:
        """What a value is multiplied by to be shown: shares are shown in percent."""
        return 100.0 if self.score.unit == "share" else 1.0

    def shown(self, value: float | None) -> float | None:
        """``value`` in the unit that is shown."""
        return None if value is None else value * self.scale

    @property
    def low(self) -> float | None:
        """The lower limit as shown."""
        return self.shown(self.score.interval.low) if self.score.interval else None

    @property
    def high(self) -> float | None:
        """The upper limit as shown."""
        return self.shown(self.score.interval.high) if self.score.interval else None

    @property
    def unit(self) -> str:
        """The unit that is shown."""
        return "%" if self.score.unit == "share" else clean(self.score.unit)

    def number(self, field: str = "value", *, unit: bool = False) -> Markup:
        """The number in ``field`` (``interval.low``, ``test.p``, ...); a dash where there is none."""
        value = _field(self.score, field)
        if value is None:
            return DASH
        text = _text(field, value, self.score.unit)
        after = f" {self.unit}" if unit and field not in ("n", "clusters") else ""
        return put(
            '<data value="{}" data-s="{}.{}">{}</data>{}',
            repr(value),
            self.mark,
            field,
            text,
            Markup("&nbsp;%") if after == " %" else after,
        )

    def span(self) -> Markup:
        """The interval; a dash with the reason where there is none."""
        interval = self.score.interval
        if interval is None or self.no_interval:
            return put('<span class="none" title="{}">–</span>', clean(self.no_interval))
        return put('<span class="span">{} to {}</span>', self.number("interval.low"), self.number("interval.high"))

    def around(self) -> Markup:
        """The interval in brackets after a number in a sentence; nothing where there is none."""
        return put(" ({})", self.span()) if not self.no_interval else Markup()


def _many(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _field(score: Score, field: str) -> float | int | None:
    value: Any = score
    for part in field.split("."):
        if value is None:
            return None
        value = value[int(part)] if part.isdigit() else value[part] if isinstance(value, Mapping) else _get(value, part)
    return None if value is None else value


def _get(value: Any, part: str) -> Any:
    return getattr(value, part)


def _text(field: str, value: float, unit: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if field in ("test.p", "test.p_adjusted"):
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return f"{100 * value:.1f}" if unit == "share" else f"{value:.3g}"


class Book:
    """The scores of one file of ``scores/``; ``mark`` is ``RUN.FILE``."""

    def __init__(self, file: RunScores, mark: str) -> None:
        self.file = file
        self.refs = [Ref(score, f"{mark}.{place}") for place, score in enumerate(file.scores)]

    def all(self, metric: str, denominator: str | None, fits: Callable[[Mapping[str, str]], bool]) -> Iterator[Ref]:
        """The scores whose slice fits."""
        for ref in self.refs:
            score = ref.score
            if score.metric == metric and denominator in (None, score.denominator) and fits(score.slice):
                yield ref

    def one(self, metric: str, denominator: str | None, **wanted: str) -> Ref | None:
        """The score with exactly this slice."""
        return next(self.all(metric, denominator, lambda found: found == wanted), None)

    def over(self, metric: str, names: set[str], denominator: str | None = "all", **wanted: str) -> list[Ref]:
        """The scores with ``wanted`` and values for ``names``, and nothing else, in their slice."""

        def fits(found: Mapping[str, str]) -> bool:
            return set(found) == names | set(wanted) and all(found[k] == v for k, v in wanted.items())

        return list(self.all(metric, denominator, fits))

    def by(self, metric: str, name: str, denominator: str | None = "all", **wanted: str) -> dict[str, Ref]:
        """The same for one name, by its value."""
        return {ref.score.slice[name]: ref for ref in self.over(metric, {name}, denominator, **wanted)}
