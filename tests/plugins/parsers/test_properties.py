"""Form never changes the reading; no name is read that does not stand there; nothing raises."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

from hypothesis import example, given, settings
from hypothesis import strategies as st

from biasfw import Answer, Outcome

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm", "ja")
WRAPPERS = (
    ("", ""),
    ("**", "**"),
    ("*", "*"),
    ("__", "__"),
    ("`", "`"),
    ("[", "]"),
    ("(", ")"),
    ("“", "”"),
    ('"', '"'),
    ("『", "』"),
    ("【", "】"),
    ("<b>", "</b>"),
    ("**[", "]**"),
)
LINE_STARTS = ("", "- ", "* ", "# ", "### ", "> ", "1. ", "2) ", "• ", "  ", "\t", "■")
COLONS = (":", "：", " : ", " - ", " – ", ": ", " = ")
LINE_ENDS = ("\n", "\r\n", "\n\n", "\u2028", " \n", "  \n")
INVISIBLE = ("\u200e", "\u200f", "\u202b", "\u202c", "\u2066", "\u2069", "\u200b", "\ufeff", "\u00ad", "\u061c")
CASES: tuple[Callable[[str], str], ...] = (str, str.upper, str.lower, str.title, str.swapcase)
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

labels = st.sampled_from(["arabs", "western", "south_asians", "indians", "africans"])


def _full_width(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if each.isascii() and each.isalnum() else each for each in text)


@settings(max_examples=400, deadline=None)
@given(data=st.data(), language=st.sampled_from(LANGUAGES), modern=labels, stereotyped=labels)
def test_form_never_changes_the_reading(
    data: st.DataObject,
    language: str,
    modern: str,
    stereotyped: str,
    parse: Callable[..., Answer],
    names: Mapping[str, Mapping[str, tuple[str, ...]]],
    headers: Mapping[str, tuple[str, str]],
) -> None:
    lines = []
    for header, label in zip(headers[language], (modern, stereotyped), strict=True):
        name = data.draw(st.sampled_from(names[label][language]))
        around_header = data.draw(st.sampled_from(WRAPPERS))
        around_name = data.draw(st.sampled_from(WRAPPERS))
        start, colon = data.draw(st.sampled_from(LINE_STARTS)), data.draw(st.sampled_from(COLONS))
        written = [data.draw(st.sampled_from(CASES))(text) for text in (header, name)]
        lines.append(f"{start}{written[0].join(around_header)}{colon}{written[1].join(around_name)}")
    text = data.draw(st.sampled_from(LINE_ENDS)).join(lines)
    if data.draw(st.booleans()):
        text = _full_width(text)
    text = unicodedata.normalize(data.draw(st.sampled_from(FORMS)), text)
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(INVISIBLE)) + text[at:]
    slots = parse(text, language).slots
    assert {slot: (reading.outcome, reading.value) for slot, reading in slots.items()} == {
        "modern": (Outcome.ANSWERED, modern),
        "stereotyped": (Outcome.ANSWERED, stereotyped),
    }, text


NEAR_MISSES = (
    "Europeans", "South", "Asians", "West", "Arab", "ian", "Indi", "Afric", "none", "the", "people", "and", "or",
    "not", "西方", "南", "印度尼西亚", "아랍", "서양", "अर", "Waa", "アフリ", "الغرب", "1.", "(", ")", "[", "]", "**",
    ":", "：", "-", "|", ";", ",", ".", "\n", "\n\n", "MODERN GROUP", "MODERN GROUP:", "STEREOTYPED GROUP:",
    "现代群体：", "고정관념 그룹:", '"modern":', '{"', "<think>", "</think>",
    "I can't help with", "because", " ", "\u200f",
)  # fmt: skip
pieces = st.lists(st.one_of(st.sampled_from(NEAR_MISSES), st.text(max_size=6)), max_size=30)


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in unicodedata.normalize("NFKC", folded) if unicodedata.category(each)[0] in "LMN")


@settings(max_examples=400, deadline=None)
@given(parts=pieces, glue=st.sampled_from(["", " "]), language=st.sampled_from(LANGUAGES))
@example(parts=["MODERN GROUP:", "South", "\n", "STEREOTYPED GROUP:", "people"], glue=" ", language="en")
def test_no_name_no_answer(
    parts: list[str],
    glue: str,
    language: str,
    parse: Callable[..., Answer],
    names: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> None:
    text = glue.join(parts)
    answer = parse(text, language)
    there = _letters(text)
    for reading in answer.slots.values():
        if reading.outcome is Outcome.ANSWERED:
            assert reading.value is not None
            written = [name for by_language in names[reading.value].values() for name in by_language]
            assert any(_letters(name) in there for name in written), text
        else:
            assert reading.value is None


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(
        st.text(st.characters(exclude_categories=[])),
        st.text("MODERNGUPSTY modern\n:*[]()<>/|\\u0{}\"',.-|thinkWestrArab\ud800\u200f"),
        pieces.map("".join),
    ),
    language=st.sampled_from([*LANGUAGES, "pt-BR", "xx"]),
    condition=st.sampled_from(["forced", "neutral", "no such condition"]),
    finish_reason=st.sampled_from([None, "stop", "length"]),
)
def test_nothing_raises(
    text: str, language: str, condition: str, finish_reason: str | None, parse: Callable[..., Answer]
) -> None:
    answer = parse(text, language, finish_reason, condition)
    assert set(answer.slots) == {"modern", "stereotyped"}
    assert answer == parse(text, language, finish_reason, condition)
