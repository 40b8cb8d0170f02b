"""The language of an answer as its script tells it: own sentences in nine languages, each against each script."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw.errors import DataError
from biasfw.form import Form, Slot
from biasfw.languages import LanguagePack, load_pack
from biasfw.scripts import AnswerLanguages, is_told, written_in

TEXTS = {  # one sentence about a well that two villages share
    "ar": "تتقاسم قريتان بئراً واحدة، ولكل منهما رأي في من يسقي أولاً.",
    "en": "Two villages share one well, and each has a view on who may draw water first.",
    "hi": "दो गाँव एक ही कुएँ का पानी लेते हैं और दोनों की राय अलग है कि पहले कौन भरे।",
    "ja": "二つの村が一つの井戸を分け合い、どちらが先に水をくむかで意見が分かれている。",
    "ko": "두 마을이 우물 하나를 함께 쓰는데, 누가 먼저 물을 긷느냐를 두고 생각이 다르다.",
    "ru": "Две деревни пользуются одним колодцем и спорят, кому первым брать воду.",
    "sw": "Vijiji viwili hutumia kisima kimoja, na kila kimoja kina maoni yake kuhusu nani atangulie.",
    "th": "สองหมู่บ้านใช้บ่อน้ำร่วมกัน และเห็นต่างกันว่าใครควรตักน้ำก่อน",
    "zh": "两个村子共用一口井，谁先打水，两村各有各的看法。",
}
SCRIPTS = {
    "ar": "Arab", "en": "Latn", "hi": "Deva", "ja": "Jpan", "ko": "Hang", "ru": "Cyrl", "sw": "Latn", "th": "Thai",
    "zh": "Hans",
}  # fmt: skip
SEEN = {**SCRIPTS, "zh": "Hani"}  # how the script of another language is named


def pack(language: str, method: str | None = "script", **fields: object) -> LanguagePack:
    values: dict[str, object] = {"thinking_tags": ("think",), "answer_language_method": method, **fields}
    return LanguagePack(language, language, language, SCRIPTS[language], 0, **values)  # type: ignore[arg-type]


FORM = Form(
    "labels",
    (Slot("modern", {"forced": {"en": ("MODERN GROUP",), "ar": ("المجموعة الحديثة",), "zh": ("现代群体",)}}),),
    languages=("en", "ar", "zh"),
    conditions=("forced",),
)
ENGLISH_HEADER, ARABIC_HEADER = "**MODERN GROUP:** Farmers", "المجموعة الحديثة: المزارعون"


def told(text: str, language: str = "ar", condition: str = "forced", **fields: object) -> str:
    flags = AnswerLanguages(FORM, {language: pack(language, **fields)}).flags(text, language, condition)  # type: ignore[arg-type]
    assert len(flags) <= 1
    return flags[0] if flags else ""


@pytest.mark.parametrize("asked", SCRIPTS)
@pytest.mark.parametrize("written", TEXTS)
def test_every_language_against_every_script(asked: str, written: str) -> None:
    expected = "asked" if SCRIPTS[asked] == SCRIPTS[written] else f"other:{SEEN[written]}"
    assert written_in(TEXTS[written], SCRIPTS[asked]) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("language", TEXTS)
def test_unicode_forms_make_no_difference(language: str, form: str) -> None:
    assert written_in(unicodedata.normalize(form, TEXTS[language]), SCRIPTS[language]) == "asked"  # type: ignore[arg-type]


def test_traditional_characters_and_mixed_korean() -> None:
    assert written_in("兩個村子共用一口井，誰先打水，兩村各有各的看法。", "Hant") == "asked"
    assert written_in("두 마을(村)이 우물(井) 하나를 함께 쓴다", "Kore") == "asked"


def test_stray_kana_make_no_japanese_and_titles_in_kanji_no_chinese() -> None:
    assert written_in(TEXTS["zh"] + "の", "Hans") == "asked"
    assert written_in("井戸共同利用協定締結交渉の経緯について", "Jpan") == "asked"
    assert written_in(TEXTS["zh"], "Jpan") == "other:Hani"
    assert written_in(TEXTS["ja"], "Hans") == "other:Jpan"


def test_half_of_the_letters_are_enough_and_the_largest_rest_is_named() -> None:
    assert written_in("абвгд abcde", "Cyrl") == "asked"
    assert written_in("абвг abcde", "Cyrl") is None, "nine letters are too few"
    assert written_in("абвг abcdef", "Cyrl") == "other:Latn"
    assert written_in("абвгд abcdef αβγδε", "Cyrl") == "other:Latn"
    assert written_in("ꓐꓑꓒꓓꓔꓕꓖꓗꓘꓙ", "Latn") == "other:Zzzz", "a script that is not told by name"


@pytest.mark.parametrize("text", ["", "  \n", "1 + 1 = 2, 100 %!", "🙂" * 30, "OK"])
def test_texts_without_letters_are_not_told(text: str) -> None:
    assert written_in(text, "Latn") is None
    assert told(text) == ""


def test_the_body_decides_and_not_the_headers() -> None:
    assert told(f"{ENGLISH_HEADER}\n\n{TEXTS['ar']}") == "language:asked"
    assert told(f"{ARABIC_HEADER}\n{TEXTS['en']}") == "language:other:Latn"
    decomposed = unicodedata.normalize("NFD", f"- {ARABIC_HEADER}\n{TEXTS['en']}")
    assert told(decomposed) == "language:other:Latn"


def test_headers_decide_where_they_are_all_there_is() -> None:
    assert told(ARABIC_HEADER) == "language:asked"
    assert told(f"{ENGLISH_HEADER}\n{ENGLISH_HEADER}") == "language:other:Latn"
    assert told(f"{ENGLISH_HEADER}\n{TEXTS['ar']}", condition="unknown") == "language:asked"


@pytest.mark.parametrize(
    "reasoning",
    [
        f"<think>{TEXTS['en'] * 5}</think>",
        f"<THINK>\n{TEXTS['en'] * 5}\n</THINK>",
        f"[think]{TEXTS['en'] * 5}[/think]",
        f"{TEXTS['en'] * 5}</think>",
        f"<think>{TEXTS['en'] * 3}<think>{TEXTS['en']}</think>",
        f"◁think▷{TEXTS['en'] * 5}◁/think▷",
    ],
)
def test_reasoning_is_no_part_of_the_answer(reasoning: str) -> None:
    assert told(f"{reasoning}\n{TEXTS['ar']}") == "language:asked"


def test_an_unclosed_reasoning_block_leaves_nothing_to_tell() -> None:
    assert told(f"<think>{TEXTS['en'] * 5}") == ""
    assert told(f"[think] {TEXTS['en']}") == "language:other:Latn", "a stage direction"


def test_only_languages_whose_pack_says_so_are_told() -> None:
    assert told(TEXTS["sw"], "sw", method=None) == ""
    assert AnswerLanguages(FORM, {}).flags(TEXTS["ar"], "ar", "forced") == ()
    assert AnswerLanguages(FORM, {"ar": pack("ar")}).flags(TEXTS["ar"], "ar-EG", "forced") == ("language:asked",)


def test_long_texts_are_told_by_letters_from_all_over() -> None:
    begins_in_english = TEXTS["en"] * 20 + TEXTS["ar"] * 100
    assert told(begins_in_english) == "language:asked"
    assert told(TEXTS["en"] * 100 + TEXTS["ar"] * 20) == "language:other:Latn"
    assert told("\u0301" * 300_000 + TEXTS["ar"]) == "", "what is left of its letters are too few"


signs = st.tuples(st.integers(0, 60), st.sampled_from("\u200f\u200e\u2068 12.*_،。\u0301"))


@given(st.sampled_from(sorted(TEXTS)), st.lists(signs, max_size=20))
def test_marks_digits_and_signs_change_nothing(language: str, inserted: list[tuple[int, str]]) -> None:
    text = TEXTS[language]
    for place, sign in inserted:
        text = text[:place] + sign + text[place:]
    for script in set(SCRIPTS.values()):
        assert written_in(text, script) == written_in(TEXTS[language], script)


@given(st.text(), st.sampled_from(["Latn", "Hans", "Jpan", "Arab"]))
def test_any_text_is_told_or_not(text: str, script: str) -> None:
    assert re.fullmatch(r"asked|other:[A-Z][a-z]{3}|None", str(written_in(text, script)))
    assert re.fullmatch(r"(language:(asked|other:[A-Z][a-z]{3}))?", told(text))


def test_a_pack_with_a_script_that_letters_do_not_have_is_refused(tmp_path: Path) -> None:
    assert is_told("Jpan")
    assert not is_told("Zmth")
    path = tmp_path / "xx.yaml"
    lines = ["language: xx", "name: X", "native_name: X", "script: Zmth", "reviewed_by_natives: 0"]
    path.write_text("\n".join([*lines, "answer_language_method: script", ""]), encoding="utf-8")
    with pytest.raises(DataError, match=r"xx\.yaml:4:\d+: /script: letters cannot be told by the script 'Zmth'"):
        load_pack(path)
    path.write_text("\n".join([*lines, "answer_language_method: null", ""]), encoding="utf-8")
    assert load_pack(path).script == "Zmth"
