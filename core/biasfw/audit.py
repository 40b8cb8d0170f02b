"""What the judges of a run are worth to each other: parse rates, agreement, flips of panels, effect of label order.

Works on stored judgements alone. Nothing here says who is right: agreement is not accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasfw.agreement import (
    MISSING,
    Codes,
    Coefficient,
    changes,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairs_of,
    percent_agreement,
    rule_of,
)
from biasfw.codec import encode
from biasfw.judges_used import contains, models, of_one_family, same_judges, stated_rules, swapped_pairs
from biasfw.verdicts import JudgedRun, Verdicts

NOTE = "agreement is not accuracy: judges that share a mistake agree"


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of one slot and language; ``language`` is None over all of them."""

    slot: str
    language: str | None
    rows: np.ndarray[Any, np.dtype[np.intp]]


def audit(run: JudgedRun, swapped: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Everything that the stored judgements say about the judges, as plain data.

    Args:
        run: with the verdicts that are to be compared.
        swapped: pairs of judgements (name and hash) by one judge, with its labels in two orders; such pairs are also
            found where run.json tells.

    Raises:
        UsageError: a pair names judgements that are not there.
    """
    raters = _Raters(run)
    slices = list(_slices(run))
    panels = [verdicts for verdicts in run.verdicts if verdicts.votes]
    sets: list[tuple[str, list[str]]] = [("judges", [v.name for v in run.verdicts if not v.votes])]
    sets += [(panel.name, [f"{panel.name}/{member}" for member in panel.members]) for panel in panels]
    pairs = swapped_pairs(run, swapped)
    return {
        "run": str(run.path),
        "benchmark": f"{run.info['benchmark']['name']}:{run.info['benchmark']['split']}",
        "demo": run.info["benchmark"]["demo"],
        "rows": len(run.rows),
        "judges": [_judge(run, verdicts) for verdicts in run.verdicts],
        "agreement": [row for name, names in sets if len(names) > 1 for row in _agreement(raters, slices, name, names)],
        "pairs": list(_pairs(raters, slices, sets, run)),
        "left_out": [row for panel in panels for row in _left_out(raters, slices, panel, run)],
        "label_order": [row for pair in pairs for row in _label_order(raters, slices, *pair)],
        "warnings": [*run.warnings, *same_judges(run, pairs), *of_one_family(run)],
        "note": NOTE,
    }


class _Raters:
    """The labels of every judge and every member of a panel as codes: (n,) over the rows of the run."""

    def __init__(self, run: JudgedRun) -> None:
        self.run = run
        self.labels: list[str] = []
        self._code: dict[str, int] = {}
        names = {cluster: code for code, cluster in enumerate(dict.fromkeys(row.cluster for row in run.rows))}
        self.clusters = np.array([names[row.cluster] for row in run.rows], dtype=np.int64)
        self._sources = {verdicts.name: verdicts.labels for verdicts in run.verdicts}
        for verdicts in run.verdicts:
            self._sources.update({f"{verdicts.name}/{member}": votes for member, votes in verdicts.votes.items()})
        self._made: dict[tuple[str, str], Codes] = {}

    def codes(self, name: str, slot: str) -> Codes:
        """The labels of one rater in one slot, ``MISSING`` where it gave none."""
        if (name, slot) not in self._made:
            source, nothing = self._sources[name], dict[str, str | None]()
            found = (source.get(row.key, nothing).get(slot) for row in self.run.rows)
            self._made[name, slot] = np.array([self._of(label) for label in found], dtype=np.int64)
        return self._made[name, slot]

    def _of(self, label: str | None) -> int:
        if label is None:
            return MISSING
        if label not in self._code:
            self._code[label] = len(self.labels)
            self.labels.append(label)
        return self._code[label]

    def counted(self, codes: Codes) -> dict[str, int]:
        """Label -> how often; what has no label is left out."""
        counts = Counter(codes[codes != MISSING].tolist())
        return {self.labels[code]: count for code, count in sorted(counts.items(), key=lambda pair: -pair[1])}


def _slices(run: JudgedRun) -> Iterator[Slice]:
    languages = list(dict.fromkeys(row.language for row in run.rows))
    column = np.array([row.language for row in run.rows], dtype=np.str_)
    for slot in run.slots:
        if len(languages) > 1:
            yield Slice(slot, None, np.arange(len(column)))
        for language in languages:
            yield Slice(slot, language, np.flatnonzero(column == language))


def _judge(run: JudgedRun, verdicts: Verdicts) -> dict[str, Any]:
    """What a judge is, and what became of the responses it had before it."""
    slots = {
        slot: {"parse_rate": verdicts.parse_rate(slot), "outcomes": dict(sorted(counts.items()))}
        for slot, counts in verdicts.outcomes.items()
    }
    return {
        "name": verdicts.name,
        "members": list(verdicts.members),
        "models": sorted(models(run, verdicts.name)),
        "judged": len(verdicts.labels),
        "slots": slots,
    }


def _agreement(raters: _Raters, slices: Sequence[Slice], among: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for part in slices:
        codes = np.stack([raters.codes(name, part.slot)[part.rows] for name in names])
        clusters = raters.clusters[part.rows]
        yield {
            "among": among,
            "raters": list(names),
            "slot": part.slot,
            "language": part.language,
            "rows": len(part.rows),
            "percent_agreement": _plain(percent_agreement(codes, clusters)),
            "ac1": _plain(gwet_ac1(codes, clusters)),
            "alpha": _plain(krippendorff_alpha(codes, clusters)),
            "labels": {name: raters.counted(row) for name, row in zip(names, codes, strict=True)},
        }


def _pairs(
    raters: _Raters, slices: Sequence[Slice], sets: Sequence[tuple[str, list[str]]], run: JudgedRun
) -> Iterator[dict[str, Any]]:
    """Every two judges, panels among them, and every two members of a panel."""
    files = [verdicts.name for verdicts in run.verdicts]
    for names in [files, *(members for name, members in sets if name != "judges")]:
        for first, second in pairs_of(names):
            for part in slices:
                a, b = (raters.codes(names[at], part.slot)[part.rows] for at in (first, second))
                clusters = raters.clusters[part.rows]
                yield {
                    "raters": [names[first], names[second]],
                    "one_is_member_of_the_other": contains(run, names[first], names[second]),
                    "slot": part.slot,
                    "language": part.language,
                    "percent_agreement": _plain(percent_agreement(np.stack([a, b]), clusters)),
                    "kappa": _plain(cohen_kappa(a, b, clusters)),
                }


def _left_out(raters: _Raters, slices: Sequence[Slice], panel: Verdicts, run: JudgedRun) -> Iterator[dict[str, Any]]:
    """What the panel would have decided without one of its members."""
    stated = stated_rules(run, panel.name)
    for part in slices:
        votes = np.stack([raters.codes(f"{panel.name}/{member}", part.slot)[part.rows] for member in panel.members])
        verdict, clusters = raters.codes(panel.name, part.slot)[part.rows], raters.clusters[part.rows]
        rule = rule_of(votes, verdict, stated)
        for place, member in enumerate(panel.members):
            about = {"panel": panel.name, "without": member, "slot": part.slot, "language": part.language}
            if rule is None or len(panel.members) < 3:
                reason = "its verdicts follow no known rule of votes" if rule is None else "two members are no panel"
                yield {**about, "rule": rule and rule.name, "flips": None, "reason": reason}
                continue
            found = changes(verdict, rule.without_one().verdict(np.delete(votes, place, axis=0)), clusters)
            yield {
                **about,
                "rule": rule.name,
                "n": found.n,
                "flips": found.changed,
                "share": _plain(found.share),
                "to_another_label": found.to_another,
                "to_no_majority": found.lost,
                "from_no_majority": found.gained,
            }


def _label_order(raters: _Raters, slices: Sequence[Slice], first: str, second: str) -> Iterator[dict[str, Any]]:
    """How many verdicts change when a judge sees its labels in another order."""
    for part in slices:
        a, b = (raters.codes(name, part.slot)[part.rows] for name in (first, second))
        found = changes(a, b, raters.clusters[part.rows])
        yield {
            "judges": [first, second],
            "slot": part.slot,
            "language": part.language,
            "n": found.n,
            "changed": found.changed,
            "share": _plain(found.share),
            "labels": [raters.counted(a), raters.counted(b)],
        }


def _plain(found: Coefficient) -> dict[str, Any]:
    document: dict[str, Any] = {"value": found.value, "n": found.n, "clusters": found.clusters}
    if found.value is None:
        return {**document, "reason": found.reason}
    return {**document, "interval": encode(found.interval)}
