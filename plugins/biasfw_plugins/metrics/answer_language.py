"""How often the answers are written in the language that was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from biasfw import ComponentContext, Outcome, Score, Table, proportion_from_cluster_sums
from biasfw_plugins.metrics._cells import Cell, Cells
from biasfw_plugins.metrics._view import FEW_CLUSTERS, too_few

_ASKED = "asked"
_METHOD = "script"
_OTHER = "other:"


class AnswerLanguage:
    """The rate of responses in the script of the asked language, per condition and language.

    The script of the letters is read by the engine, and only for languages whose pack says that it decides
    (``answer_language_method: script``); for the others the value is null, "not assessed". Denominators ``all`` and
    ``returned`` (all but errors); a response without letters to go by is not counted as in the language, and bounds
    say what it could change. It is a flag: no other metric leaves a response out for it. Choices mode: no score.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._context = context

    def compute(self, table: Table) -> Iterable[Score]:
        if table.mode != "generate":
            return
        cells = Cells(table, self._context.form)
        failed = np.ones(len(table), dtype=np.bool_)
        for outcomes in table.outcomes.values():
            failed &= outcomes == Outcome.ERROR.value
        read = np.full(len(table), "") if table.answer_language is None else table.answer_language
        for cell in _of_languages(cells):
            unassessed = self._unassessed(cell.keys["language"])
            returned = cell.rows[~failed[cell.rows]]
            if unassessed is None:
                yield _rate(cells, Cell(cell.by, cell.keys, cell.rows), read, "all")
            yield _rate(cells, Cell(cell.by, cell.keys, returned), read, "returned", unassessed)

    def _unassessed(self, language: str) -> str | None:
        """Why answers in ``language`` are not assessed; None if they are."""
        pack = self._context.pack(language)
        if pack is None:
            return f"not assessed: there is no language pack for {language}"
        if pack.answer_language_method != _METHOD:
            return f"not assessed: no method with a known error rate for {language}"
        return None


def _of_languages(cells: Cells) -> Iterator[Cell]:
    for code, condition in enumerate(cells.conditions.names):
        for place, language in enumerate(cells.languages.names):
            rows = np.flatnonzero((cells.conditions.codes == code) & (cells.languages.codes == place))
            if len(rows):
                yield Cell("language", {"condition": condition, "language": language}, rows)


def _rate(cells: Cells, cell: Cell, read: NDArray[np.str_], denominator: str, unassessed: str | None = None) -> Score:
    """The rate over the rows of ``cell``, or the reason why it is ``unassessed``."""
    asked = cells.counts(cell.rows, read == _ASKED)
    sizes = cells.counts(cell.rows)
    estimate = proportion_from_cluster_sums(asked, sizes)
    found = Counter(read[cell.rows].tolist())
    unread = found.pop("", 0)
    reason = unassessed or _nothing(estimate.n, unread)
    size = max(estimate.n, 1)
    return Score(
        metric="answer_language",
        value=None if reason else estimate.mean,
        unit="share",
        n=estimate.n,
        clusters=estimate.clusters,
        denominator=denominator,
        slice=cell.keys,
        reason=reason or _remark(found, unread, estimate.clusters),
        bounds=None if reason else (found[_ASKED] / size, (found[_ASKED] + unread) / size),
        interval=None if reason else estimate.interval(),
        ideal=1.0,
        direction="higher",
    )


def _nothing(size: int, unread: int) -> str | None:
    if not size:
        return "every request failed"
    return "no response has enough letters to go by" if unread == size else None


def _remark(found: Counter[str], unread: int, clusters: int) -> str | None:
    """What a reader must know although there is a value: the other scripts, by how often they occur."""
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    others = [f"{count} in {name.removeprefix(_OTHER)}" for name, count in ordered if name != _ASKED]
    remarks = [f"other scripts: {', '.join(others)}"] if others else []
    if unread:
        remarks.append(f"{unread} without enough letters to go by")
    if clusters < FEW_CLUSTERS:
        remarks.append(too_few(clusters))
    return "; ".join(remarks) or None
