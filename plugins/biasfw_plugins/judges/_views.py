"""What a judge's model sees of a response."""

from __future__ import annotations

from biasfw import ComponentContext, Item, folded


def body(text: str, context: ComponentContext, item: Item) -> str:
    """``text`` without the lines that hold a header of the form, so that a judge has to read what was written."""
    marks = {mark for pack in (context.pack(item.language), context.pack("en")) if pack for mark in pack.colon_marks}
    headers = {
        folded(header)
        for slot in context.form.slots
        for names in (slot.headers.get(item.condition, {}),)
        for tag in (item.language, item.language.partition("-")[0], "en")
        for header in names.get(tag, ())
    }
    return "\n".join(line for line in text.split("\n") if not _is_header(folded(line), headers, marks))


def _is_header(line: str, headers: set[str], marks: set[str]) -> bool:
    found = [line.find(header) + len(header) for header in headers if header in line]
    return any(mark in line[end:] for end in found for mark in marks)
