"""Across languages: what asking in another language does to the shares of labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from biasfw import ComponentContext, ComponentError, Score, Table
from biasfw_plugins.metrics._cells import Cell, factorised
from biasfw_plugins.metrics._paired import Differences, Pairs, by_family, filled, flipped, joint_codes
from biasfw_plugins.metrics._view import DENOMINATORS, Denominator
from biasfw_plugins.metrics._views import Views, chosen_slots
from biasfw_plugins.metrics._weights import Ints, Scoring

_NULL = "no difference between the languages"
_UNPAIRED = "no source was answered in both languages"
_SILENT = "one of the two languages names no label"
_UNCALIBRATED = "what was answered cannot be calibrated: it has no partner under the calibrating condition"
_RAW = "likelihood shares are compared between languages only when calibrated, and no condition calibrates them here"


class LanguageContrast:
    """The share of each label in one language minus that in a reference language, under the same condition.

    Rows are paired by source, variant and repeat; for these the label list has the same order in every language.
    Clustered t interval, sign-flip test over clusters, Holm over all languages, slots and labels of a condition
    (overall; the cells by category are a family of their own). Denominators ``all`` and ``answered``, both with bounds
    (``_paired`` says how): languages differ in how often they are answered, and bounds say what that may hide. In
    choices mode calibrated shares only: how likely a text is depends on its language, whatever it says. Default
    reference: the first language of the benchmark that was asked. With one language there is no score.
    """

    def __init__(self, context: ComponentContext) -> None:
        self._form = context.form
        self._slots = chosen_slots(context, "language_contrast")
        self._against = _known(context)

    def compute(self, table: Table) -> Iterable[Score]:
        present = factorised(table.language, self._form.languages).names
        if len(present) < 2:
            return
        views = Views(table, self._form)
        scoring = views.scorings[-1]
        against = self._against or present[0]
        if scoring.name == "raw":
            yield from self._undefined(views, _RAW)
        elif against not in present:
            yield from self._undefined(views, f"nothing was asked in {against!r}, the language to compare with")
        else:
            yield from by_family(self._scores(table, views, scoring, present.index(against)))

    def _scores(self, table: Table, views: Views, scoring: Scoring, reference: int) -> Iterator[Score]:
        keys = joint_codes(factorised(table.source).codes, factorised(table.variant).codes, table.repeat)
        for cell in views.scored_cells(scoring):
            if "language" in cell.keys:
                continue
            asked = list(product(_comparisons(views, cell, keys, reference), DENOMINATORS, self._slots))
            found = [
                Differences.of(scoring.slots[slot], views.declined[slot], one.pairs, over) for one, over, slot in asked
            ]
            for (one, over, slot), differences, tests in zip(asked, found, flipped(found, _NULL), strict=True):
                base = _base(views, one, slot, over, differences)
                lost = bool(scoring.partnerless[one.cell.rows].any())
                silent = _UNCALIBRATED if lost else _SILENT
                yield from filled(base, differences, tests, unpaired=_UNPAIRED, silent=silent)

    def _undefined(self, views: Views, reason: str) -> Iterator[Score]:
        for condition, slot in product(views.cells.conditions.names, self._slots):
            yield Score(
                metric="language_contrast",
                value=None,
                unit="share",
                n=0,
                clusters=0,
                denominator="all",
                slice={"slot": slot, "condition": condition},
                reason=reason,
                ideal=0.0,
                direction="toward-ideal",
            )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One language against another: the rows of both in one cell, in pairs."""

    language: str
    against: str
    scoring: str | None
    cell: Cell
    pairs: Pairs


def _comparisons(views: Views, cell: Cell, keys: Ints, reference: int) -> list[_Comparison]:
    """Every language of ``views`` against the ``reference``, over the rows of ``cell``."""
    names, codes = views.cells.languages.names, views.cells.languages.codes[cell.rows]
    scoring = views.scorings[-1].name
    rows = [cell.rows[codes == code] for code in range(len(names))]
    found = []
    for code, language in enumerate(names):
        if code != reference:
            both = Cell(cell.by, cell.keys, np.concatenate([rows[code], rows[reference]]))
            pairs = Pairs.of(rows[code], rows[reference], keys, views.cells.clusters.codes)
            found.append(_Comparison(language, names[reference], scoring, both, pairs))
    return found


def _base(views: Views, one: _Comparison, slot: str, over: Denominator, found: Differences) -> Score:
    """The score without label and value."""
    kind = one.cell.by if one.cell.by == "overall" else f"by {one.cell.by}"
    scoring = [one.scoring] if one.scoring else []
    family = ["language_contrast", f"against {one.against}", one.cell.keys["condition"], kind, over, *scoring]
    return Score(
        metric="language_contrast",
        value=None,
        unit="share",
        n=found.pairs,
        clusters=len(found.clusters),
        denominator=over,
        slice={
            "slot": slot,
            **one.cell.keys,
            "language": one.language,
            "against": one.against,
            **({"scoring": one.scoring} if one.scoring else {}),
        },
        outcomes=views.outcomes(one.cell.rows, slot),
        ideal=0.0,
        direction="toward-ideal",
        family=", ".join(family),
    )


def _known(context: ComponentContext) -> str | None:
    """The language that the option ``against`` names.

    Raises:
        ComponentError: the benchmark has no such language.
    """
    asked = context.options.get("against")
    languages = context.form.languages
    if asked is not None and asked not in languages:
        raise ComponentError(
            f"metric language_contrast: there is no language {asked!r}; choose one of {', '.join(languages)}"
        )
    return None if asked is None else str(asked)
