"""What a draft must be before the log takes it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence

from biasfw.authoring.drafts import NEEDED, Draft
from biasfw.errors import UsageError

LONGEST = 20_000  # characters of one text


def checked(
    texts: Mapping[str, str], draft: Draft | None, languages: Sequence[str], categories: Collection[str]
) -> dict[str, str]:
    """Texts as the log takes them: in NFC, with the first of ``languages`` if none is given.

    Raises:
        UsageError: an unknown language or category, a text that is missing, too long or holds control characters.
    """
    given = {name: unicodedata.normalize("NFC", str(text)).replace("\r\n", "\n") for name, text in texts.items()}
    given.setdefault("language", languages[0])
    if given["language"] not in languages:
        known = ", ".join(languages)
        raise UsageError(f"language {given['language']!r} is not the workbench's; it has: {known}")
    if not given.get("category"):
        raise UsageError(f"no category is named; name one (--category): {', '.join(categories)}")
    if given["category"] not in categories:
        raise UsageError(f"no category {given['category']!r}; there are: {', '.join(categories)}")
    if draft is not None and given["category"] != draft.category:
        raise UsageError(f"{draft.name} belongs to {draft.category}; write a new draft for another category")
    for name in NEEDED:
        if not given.get(name, "").strip():
            raise UsageError(f"the text {name!r} is empty; write it")
    if given["unbiased"].strip() == given["biased"].strip():
        raise UsageError("both replies are the same; nothing could be told from a pick")
    for name, text in given.items():
        if len(text) > LONGEST:
            raise UsageError(f"the text {name!r} has {len(text)} characters; at most {LONGEST} are taken")
        if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in text):
            raise UsageError(f"the text {name!r} holds control characters; remove them")
    return {name: text for name, text in given.items() if text or name in NEEDED}
