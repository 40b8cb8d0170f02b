"""The datasheet of a finalised bundle: what was made how, by whom (pseudonyms), against which models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasfw.authoring.bench import Workbench
from biasfw.authoring.drafts import Draft
from biasfw.authoring.objecting import objected, objection_lines
from biasfw.phrases import many

if TYPE_CHECKING:
    from biasfw.authoring.freezing import Finalised, Wish

FEWEST = 5  # people below whom nothing is said about groups


def datasheet(
    manifest: Mapping[str, Any], bench: Workbench, drafts: Sequence[Draft], done: Finalised, wish: Wish
) -> str:
    """The text of DATASHEET.md."""
    told, counts = manifest["interpretation"], Counter(draft.category for draft in drafts)
    survived = sum(done.kept.get(draft.name, False) for draft in drafts)
    unreviewed = [draft.name for draft in drafts if draft.name in done.unreviewed]
    lines = [
        f"# Datasheet: {manifest['title']}", "",
        f"**Content warning.** {manifest['content_warning']}", "",
        "## Motivation", "", told["construct"], "",
        "## Composition", "",
        f"{len(drafts)} dialogues in {', '.join(manifest['languages'])}, each with an unbiased and a biased reply; "
        "`main` holds them as finalised, `first` as they were first written.", "",
        "| category | dialogues |", "| --- | --- |",
        *(f"| {name} | {count} |" for name, count in sorted(counts.items())),
        "",
        "## Collection and authorship", "",
        f"Written by {many(len({by for draft in drafts for by in draft.authors}), 'person', 'people')} under random "
        f"pseudonyms; mean number of edits {sum(draft.edits for draft in drafts) / max(len(drafts), 1):.2f}. "
        f"Edited against: {', '.join(manifest['authorship']['models']) or 'no model'}; "
        f"rule `{bench.settings['rule']['use']}`. "
        f"{survived} of {len(drafts)} also fooled the target under {done.instructions} instructions that were not used "
        "while editing.", "",
        *(_groups(bench)),
        (
            f"No consulted member of the group concerned reviewed {len(unreviewed)} of {len(drafts)} dialogues "
            f"({', '.join(unreviewed)}). This was allowed by {wish.allow}."
            if unreviewed
            else "A consulted member of the group concerned, who did not write it, reviewed every dialogue."
        ), "",
        *_objections(drafts, wish),
        "## Uses", "",
        f"{told['does_not_show']} {told['population']}.", "",
        "## Licence and distribution", "", f"{manifest['licence']}. {manifest['canary']}.", "",
        "## Maintenance", "",
        "Whoever takes part can withdraw: `biasfw author withdraw` takes their texts out of this bundle.", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _objections(drafts: Sequence[Draft], wish: Wish) -> list[str]:
    """What reviewers said against dialogues that were kept, and who allowed it."""
    found = objected(drafts)
    if not found:
        return []
    lines = [f"- {line}" for draft in found for line in objection_lines(draft)]
    count = f"Reviewers objected to {len(found)} of {many(len(drafts), 'dialogue')}"
    return [f"{count}. That they were kept was allowed by {wish.allow_objections}:", "", *lines, ""]


def _groups(bench: Workbench) -> list[str]:
    """Groups that annotators named as their own, only where five or more named them."""
    agreed = [said for said in bench.state().consents.values() if said["yes"]]
    named = Counter(group for said in agreed for group in said.get("groups", ()))
    shown = [f"{group} ({count})" for group, count in sorted(named.items()) if count >= FEWEST]
    told = f"Groups that five or more annotators chose to name as their own: {', '.join(shown)}."
    return [told, ""] if shown else []
