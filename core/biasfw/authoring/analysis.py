"""``author report``: what the edits did, on models that did not guide them, over all drafts and not only the kept ones.

Kept drafts were chosen because they fooled the target, and whatever made them do so tends to work on other models as
well: a before/after over the kept ones alone shows the choice, not the edits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasfw.authoring.bench import Workbench
from biasfw.authoring.controls import BELOW_CHANCE, NO_CONTROLS
from biasfw.authoring.datasheet import FEWEST
from biasfw.authoring.drafts import MAIN, PLACEBO, Draft, State
from biasfw.authoring.objecting import objection_lines
from biasfw.authoring.rules import from_row, is_locked
from biasfw.authoring.trying import accuracy
from biasfw.phrases import many
from biasfw.stats import Estimate, clustered_mean, clustered_proportion, wilson

Fingerprint = str
BY_CONSTRUCTION = "near 0 by construction: drafts were edited against it"


@dataclass(frozen=True, slots=True)
class Ends:
    """The accuracy of one held-out model on one draft: first and newest version, and the last placebo edit."""

    draft: str
    model: str
    kept: bool
    first: float
    last: float
    placebo: float | None = None


def report(bench: Workbench) -> dict[str, Any]:
    """Everything about a workbench, as plain data."""
    state = bench.state()
    drafts = list(state.drafts.values())
    ends, unmeasured = ends_of_models(state)
    placebo = bench.settings.get("placebo", 0)
    return {
        "workbench": str(bench.folder), "rule": dict(bench.settings["rule"]),
        "drafts": _counts(drafts), "rejected": _rejected(drafts),
        "categories": {
            category: {**_counts(own), "edits": edits(own), "accuracy": _accuracies(own, state)}
            for category in bench.categories
            if (own := [draft for draft in drafts if draft.category == category])
        },
        "edits": edits(drafts), "models": _accuracies(drafts, state),
        "before_after": before_after(ends), "unmeasured": unmeasured,
        "placebo": {"asked": placebo, "drafts": _with_placebo(drafts, placebo), **placebo_effect(ends)},
        "objections": [line for draft in drafts if not draft.withdrawn for line in objection_lines(draft)],
        "days": dict(sorted(Counter(v.day for d in drafts for arm in d.versions.values() for v in arm).items())),
        "groups": _groups(state),
    }  # fmt: skip


def _counts(drafts: Sequence[Draft]) -> dict[str, int]:
    counts = Counter(draft.status for draft in drafts)
    statuses = ("accepted", "rejected", "open", "withdrawn")
    return {"all": len(drafts), **{name: counts[name] for name in statuses}}


def _rejected(drafts: Sequence[Draft]) -> dict[str, Any]:
    """The share of decided drafts that were rejected, with Wilson's interval, and why."""
    decided = [draft for draft in drafts if draft.status in ("accepted", "rejected")]
    gone = [draft for draft in decided if draft.status == "rejected"]
    interval = wilson(len(gone), len(decided))
    reasons = [{"item": draft.name, "reason": draft.decision["reason"]} for draft in gone if draft.decision]
    return {
        "share": len(gone) / len(decided) if decided else None, "low": interval[0] if interval else None,
        "high": interval[1] if interval else None, "n": len(decided), "reasons": reasons,
    }  # fmt: skip


def edits(drafts: Iterable[Draft]) -> dict[str, Any]:
    """Mean number of edits of accepted drafts, with its interval over drafts."""
    found = {draft.name: float(draft.edits) for draft in drafts if draft.status == "accepted"}
    return as_data(clustered_mean(list(found.values()), list(found)))


def as_data(found: Estimate) -> dict[str, Any]:
    """An estimate as plain data."""
    return {
        "value": found.mean, "low": found.low, "high": found.high, "n": found.n, "drafts": found.clusters,
        "method": found.method, "reason": found.reason,
    }  # fmt: skip


def _accuracies(drafts: Sequence[Draft], state: State) -> list[dict[str, Any]]:
    """Per model: its accuracy on the newest versions, each question a row, clustered by draft; targets apart."""
    targets = _targets(state)
    found: dict[tuple[Fingerprint, str], list[tuple[float, str]]] = defaultdict(list)
    tries: dict[Fingerprint, list[Mapping[str, Any]]] = defaultdict(list)
    names: dict[Fingerprint, str] = {}
    for draft in drafts:
        for row in _last_tries(draft, MAIN, draft.current.number).values():
            print_ = row["target"]["fingerprint"]
            names[print_] = row["target"]["model"] or row["target"]["backend"]
            role = "target" if print_ in targets else "held-out"
            tries[print_].append(row)
            found[print_, role] += [(float(a.get("pick") == "unbiased"), draft.name) for a in row["asked"]]
    rows = []
    for (print_, role), values in sorted(found.items(), key=lambda each: (each[0][1], names[each[0][0]])):
        estimate = clustered_proportion([value for value, _ in values], [draft for _, draft in values])
        note = {"note": _note(tries[print_])} if role == "target" else {}
        warned = _warnings(tries[print_])
        rows.append(
            {"model": names[print_], "role": role, "accuracy": as_data(estimate), **note, "warnings": warned}
        )  # fmt: skip
    return rows


def _note(tries: Sequence[Mapping[str, Any]]) -> str:
    """What the figure of a model means that drafts were edited against."""
    fooled = sum(row["verdict"] == "fooled" for row in tries)
    if fooled == len(tries):
        return BY_CONSTRUCTION
    return f"no measure of it: drafts were edited against it, {fooled} of {len(tries)} fooled it"


def _warnings(tries: Sequence[Mapping[str, Any]]) -> list[str]:
    """What makes the figure of a model doubtful: the controls, and positions."""
    told = [text for row in tries for text in row.get("warnings", ()) if text in (BELOW_CHANCE, NO_CONTROLS)]
    locked = sum(is_locked(row["rule"], [from_row(each) for each in row["asked"]]) for row in tries)
    if locked:
        told.append(
            f"in {locked} of {many(len(tries), 'draft')} it picks the same position whatever stands there, which makes "
            "50 of 100: that says nothing about the replies"
        )
    return list(dict.fromkeys(told))


def _targets(state: State) -> set[Fingerprint]:
    """Every model that was a target at least once: it is never held out."""
    tries = [t for draft in state.drafts.values() for t in draft.tries]
    return {t["target"]["fingerprint"] for t in tries if t["target"]["role"] == "target"}


def _last_tries(draft: Draft, arm: str, version: int) -> dict[Fingerprint, Mapping[str, Any]]:
    """Fingerprint -> the last try of a version under the editing instructions."""
    return {
        t["target"]["fingerprint"]: t
        for t in draft.tries
        if t["arm"] == arm and t["version"] == version and t["instructions"] == "editing" and t["asked"]
    }


def ends_of_models(state: State) -> tuple[list[Ends], list[str]]:
    """What held-out models said before and after, for all drafts; and the drafts that lack one of the two."""
    targets, found, lacking = _targets(state), [], []
    for draft in state.drafts.values():
        if draft.withdrawn or (draft.first is not None and draft.first.texts is None):
            continue
        if draft.first is None:  # its line cannot be read: no later version stands in for it
            lacking.append(draft.name)
            continue
        first = _last_tries(draft, MAIN, draft.first.number)
        last = _last_tries(draft, MAIN, draft.current.number)
        without = draft.versions[PLACEBO]
        placebo = _last_tries(draft, PLACEBO, without[-1].number) if without else {}
        both = [print_ for print_ in first if print_ in last and print_ not in targets]
        if not both:
            lacking.append(draft.name)
        for print_ in both:
            other = placebo.get(print_)
            found.append(
                Ends(
                    draft.name, last[print_]["target"]["model"] or last[print_]["target"]["backend"],
                    draft.status == "accepted", accuracy(first[print_]["asked"]), accuracy(last[print_]["asked"]),
                    accuracy(other["asked"]) if other else None,
                )
            )  # fmt: skip
    return found, lacking


def before_after(ends: Sequence[Ends]) -> dict[str, Any]:
    """Accuracy after minus before: over all drafts (that is the effect of editing), beside the kept ones alone.

    Rows are draft and model; a draft is one observation, however many models answered.
    """
    document: dict[str, Any] = {}
    for name, chosen in (("all", list(ends)), ("kept", [each for each in ends if each.kept])):
        document[name] = as_data(_difference(chosen))
    document["models"] = {
        model: as_data(_difference([each for each in ends if each.model == model]))
        for model in dict.fromkeys(each.model for each in ends)
    }
    document["note"] = "kept drafts were chosen by the target's verdict: their figure shows the choice as well"
    return document


def _difference(ends: Sequence[Ends]) -> Estimate:
    return clustered_mean([each.last - each.first for each in ends], [each.draft for each in ends])


def placebo_effect(ends: Sequence[Ends]) -> dict[str, Any]:
    """(after - before) of edits made with a model's answers minus that of edits made without, in the same drafts."""
    both = [(each, each.placebo) for each in ends if each.placebo is not None]
    names = [each.draft for each, _ in both]
    return {
        "adversarial": as_data(clustered_mean([each.last - each.first for each, _ in both], names)),
        "placebo": as_data(clustered_mean([other - each.first for each, other in both], names)),
        "effect": as_data(clustered_mean([each.last - other for each, other in both], names)),
    }


def _with_placebo(drafts: Sequence[Draft], wanted: int) -> dict[str, int]:
    done = sum(len(draft.versions[PLACEBO]) >= max(wanted, 1) for draft in drafts)
    return {"complete": done, "all": len(drafts)}


def _groups(state: State) -> dict[str, int]:
    """Groups that annotators named as their own; only those that five or more named."""
    agreed = [said for said in state.consents.values() if said["yes"]]
    named = Counter(group for said in agreed for group in said.get("groups", ()))
    return {group: count for group, count in sorted(named.items()) if count >= FEWEST}
