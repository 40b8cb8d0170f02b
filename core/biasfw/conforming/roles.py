"""What must be claimed of an item in which the right answer means unbiased: about whom, what, and who says so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from biasfw.conforming.shared import here, measure, official, one_each, scored, tell, warn_or_err
from biasfw.phrases import many

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected, Split
    from biasfw.validating.items import Told

CLAIMS = {
    "target": "the group that the item is about",
    "stereotype": "the stereotype in question",
    "harm": "the kind of harm",
    "attested": "where the stereotype is attested; say so if it is nowhere",
}


def check(seen: Inspected) -> None:
    """Add what items do not say of themselves."""
    if seen.document.value["task"] == "labels":
        return
    for split in here(seen):
        items = one_each(split, scored(split))
        means = [told for told in items if _gold_role(told) == "anti-stereotyped" or _is_pair(told)]
        for name, what in CLAIMS.items():
            missing = [told for told in means if not getattr(told.seed, name)]
            if missing and not official(split):
                share = f"{name} is not said in {len(missing)} of {many(len(means), 'item')}: {what}; add it"
                tell(seen, "warning", missing, f"/{name}", share)
            elif missing:
                seen.report.facts.append(
                    f"split {split.name}: {len(missing)} of {many(len(means), 'item')} without {name}"
                )
        _against(seen, split, items)
        if contested := sum(told.seed.contested for told in items):
            seen.report.facts.append(
                f"split {split.name}: reviewers disagree about {contested} of {many(len(items), 'item')}"
            )
        found = Counter(choice.role or "none" for told in items for choice in told.seed.choices)
        measure(seen, split, "roles", dict(found))


def _against(seen: Inspected, split: Split, items: list[Told]) -> None:
    """Gold that is called stereotyped, and options that nobody says anything about."""
    wrong = [told for told in items if _gold_role(told) == "stereotyped"]
    if wrong:
        what = f"the stereotyped option is the right one (gold) in {len(wrong)} of {many(len(items), 'item')}"
        tell(seen, warn_or_err(split), wrong, "/gold", f"{what}; mend gold, or the role")
    half = [told for told in items if len(_meant(told)) == 1]
    if half:
        what = f"only one of a stereotyped and an anti-stereotyped option in {len(half)} of {many(len(items), 'item')}"
        tell(seen, "warning", half, "/choices", f"{what}; the reference models have nothing to say there; add roles")
    none = [told for told in items if told.seed.gold is None and not _meant(told)]
    if none:
        what = f"neither gold nor roles in {len(none)} of {many(len(items), 'item')}: nothing could be measured"
        tell(seen, warn_or_err(split), none, "/choices", f"{what}; add them")


def _gold_role(told: Told) -> str | None:
    return next((choice.role for choice in told.seed.choices if choice.key == told.seed.gold), None)


def _meant(told: Told) -> set[str]:
    return {choice.role for choice in told.seed.choices if choice.role in ("stereotyped", "anti-stereotyped")}


def _is_pair(told: Told) -> bool:
    return told.seed.gold is None and len(_meant(told)) == 2
