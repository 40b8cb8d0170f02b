"""Whether items are written in the script of their language, and no word mixes scripts that look alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from biasfw import scripts
from biasfw.conforming.shared import here, one_each, tell
from biasfw.phrases import are, have, many, shorten
from biasfw.validating.items import texts

if TYPE_CHECKING:
    from biasfw.languages import LanguagePack
    from biasfw.records import Seed
    from biasfw.validating.inspection import Inspected
    from biasfw.validating.items import Told

# Latin, Greek and Cyrillic letters that look alike: a word of two of them is a slip, or a trick.
_MIXED = re.compile(
    r"\b(?=\w*[A-Za-z\u00C0-\u024F])(?=\w*[\u0370-\u03FF\u0400-\u04FF])[A-Za-z\u00C0-\u024F\u0370-\u03FF\u0400-\u04FF]{3,}\b"
)


def check(seen: Inspected) -> None:
    """Add items in another script, and words of two scripts."""
    for split in here(seen):
        items = one_each(split, split.told)
        odd = [told for told in items if _other_script(told.seed, seen)]
        if odd:
            tags = ", ".join(sorted({told.seed.language for told in odd}))
            what = f"{many(len(odd), 'item')} {are(len(odd))} not written in the script of their language ({tags})"
            tell(seen, "warning", odd, "/language", f"{what}; mend the language, or the text")
        mixed = [(told, word) for told in items if (word := _mixed(told))]
        if mixed:
            count = f"{many(len(mixed), 'item')} {have(len(mixed))}"
            what = f"{count} a word of two scripts, such as {shorten(mixed[0][1][1])}; type it again"
            tell(seen, "warning", [told for told, _ in mixed], mixed[0][1][0], what)
        if not odd and not mixed:
            seen.report.facts.append(f"split {split.name}: every item is in the script of its language")


def _other_script(seed: Seed, seen: Inspected) -> bool:
    pack: LanguagePack | None = seen.packs.get(seed.language) or seen.packs.get(seed.language.partition("-")[0])
    if pack is None or not scripts.is_told(pack.script):
        return False
    shown = " ".join([text for _, text in texts(dict(seed.fields))] + [choice.text for choice in seed.choices])
    found = scripts.written_in(shown, pack.script)
    return bool(found) and found != scripts.ASKED


def _mixed(told: Told) -> tuple[str, str] | None:
    seed = told.seed
    written = [*texts(dict(seed.fields)), *((f"/choices/{i}/text", c.text) for i, c in enumerate(seed.choices))]
    for pointer, text in written:
        if not text.isascii() and (found := _MIXED.search(text)):
            return pointer, found[0]
    return None
