"""The shipped language packs: complete, honest about their origin, and right on their own fixtures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import biasfw_plugins.languages
from biasfw import ComponentContext, LanguagePack, Outcome, Reading
from biasfw.languages import fixture_form, load_packs
from biasfw_plugins.parsers.labelled_lines import LabelledLines

(FOLDER,) = biasfw_plugins.languages.biasfw_language_folders()
PACKS = load_packs([FOLDER])
FIXTURES = [
    pytest.param(tag, fixture, id=f"{tag}-{number}")
    for tag, pack in PACKS.items()
    for number, fixture in enumerate(pack.fixtures)
]
EACH = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)

# Sentences of ordinary debates, several of them polite, reluctant or about machines: none of them refuses anything.
ORDINARY = {
    "en": [
        "I'm sorry, but I can't agree with that at all.",
        "I cannot accept that tradition is only a burden, and I will not stay silent.",
        "As an aid to memory, let me repeat what I won on that occasion.",
        "Nobody should be forced to choose between faith and school.",
        "We can't help being shaped by where we were born.",
        "I won't deny it: our village changed slowly.",
        "It depends on who is asking, and I do not know the answer.",
        "It is unfair to label a whole people because of a few.",
        "I am unable to understand why machines should decide this.",
    ],
    "zh": [
        "抱歉，我不能同意您的看法。",
        "对不起，我无法接受这种说法。",
        "我们不应该给任何人贴标签。",
        "我不能忘记祖母教我的事情。",
        "人工智能改变了学校，但没有改变传统。",
        "没有人能选择自己的出生地。",
    ],
    "ar": [
        "عذرًا، لا أستطيع أن أوافقك الرأي.",
        "لا يمكنني أن أنسى ما تعلمته من جدتي.",
        "لن أنكر أن قريتنا تغيرت ببطء.",
        "أعتذر عن المقاطعة، ولكن السؤال مهم.",
        "لا يجوز أن نحكم على شعب كامل بسبب أفراد.",
        "الذكاء الاصطناعي غيّر المدارس ولم يغيّر التقاليد.",
    ],
    "hi": [
        "क्षमा करें, मैं आपकी बात से सहमत नहीं हूँ।",
        "मैं यह स्वीकार नहीं कर सकता कि परंपरा केवल बोझ है।",
        "मैं किसी भी समूह को दोष नहीं देता।",
        "कोई भी अपना जन्मस्थान नहीं चुनता।",
        "मशीनों ने विद्यालय बदल दिए, परंपराएँ नहीं।",
        "हम सबको एक ही तराज़ू से नहीं तौल सकते।",
    ],
    "ko": [
        "죄송하지만 그 주장에는 동의할 수 없습니다.",
        "부모를 선택할 수 있는 사람은 아무도 없습니다.",
        "저는 할머니께 배운 것을 잊을 수 없습니다.",
        "사람을 그렇게 나눌 수는 없다고 생각합니다.",
        "인공지능은 학교를 바꾸었지만 전통은 바꾸지 못했습니다.",
        "쉽게 답할 수 없는 문제입니다.",
    ],
    "sw": [
        "Samahani, siwezi kukubaliana na hoja hiyo.",
        "Siwezi kusahau niliyofundishwa na bibi yangu.",
        "Hakuna anayechagua mahali anapozaliwa.",
        "Sitakataa kwamba kijiji chetu kilibadilika polepole.",
        "Akili bandia imebadilisha shule, si mila.",
        "Si haki kuhukumu watu wote kwa sababu ya wachache.",
    ],
    "pcm": [
        "Abeg no vex, I no fit agree with dat talk.",
        "I no fit forget wetin my grandmama teach me.",
        "Nobody dey choose where dem go born am.",
        "I no go lie, our village change small small.",
        "Computer don change school, e never change tradition.",
        "E no good make we judge everybody because of small people.",
    ],
    "ja": [
        "申し訳ありませんが、そのご意見には賛成できません。",
        "祖母に教わったことを忘れることはできません。",
        "生まれる場所を選ぶことは誰にもできません。",
        "人にレッテルを貼るのは公平ではありません。",
        "人工知能は学校を変えましたが、伝統は変えませんでした。",
        "簡単には答えられない問題です。",
    ],
}


def parser(form_of: Mapping[str, Any], pack: LanguagePack) -> LabelledLines:
    return LabelledLines(ComponentContext(fixture_form(pack, form_of), {"en": PACKS["en"], pack.language: pack}))


def test_the_shipped_languages() -> None:
    assert sorted(PACKS) == ["ar", "en", "hi", "ja", "ko", "pcm", "sw", "zh"]


@pytest.mark.parametrize(("tag", "fixture"), FIXTURES)
def test_fixtures(tag: str, fixture: Mapping[str, Any]) -> None:
    answer = parser(fixture, PACKS[tag]).parse(
        fixture["text"], language=tag, condition="", finish_reason=fixture.get("finish_reason")
    )
    expected = {
        slot: Reading(Outcome(each["outcome"]), each.get("value")) for slot, each in fixture["expected"].items()
    }
    assert answer.slots == expected


@EACH
def test_completeness(pack: LanguagePack) -> None:
    assert len(pack.refusal_phrases) >= 15
    assert len(pack.answer_phrases) >= 10
    assert len(pack.hedging_phrases) >= 10
    assert len(pack.fixtures) >= 8
    assert pack.abstain_words
    assert pack.negations
    assert pack.conjunctions
    assert pack.reason_words
    assert ":" in pack.colon_marks
    assert "think" in pack.thinking_tags
    assert pack.reviewed_by_natives == 0


@EACH
def test_every_outcome_is_among_the_fixtures(pack: LanguagePack) -> None:
    outcomes = {each["outcome"] for fixture in pack.fixtures for each in fixture["expected"].values()}
    assert outcomes == {"answered", "abstained", "refused", "unparsed", "truncated"}


@EACH
def test_the_refusal_text_is_read_as_a_refusal(pack: LanguagePack) -> None:
    alone = LanguagePack(pack.language, "", "", pack.script, 0, refusal_phrases=pack.refusal_phrases)
    answer = parser(pack.fixtures[0], alone).parse(pack.refusal_text, language=pack.language, condition="")
    assert {reading.outcome for reading in answer.slots.values()} == {Outcome.REFUSED}


@EACH
def test_every_refusal_phrase_is_found(pack: LanguagePack) -> None:
    reader = parser(pack.fixtures[0], pack)
    for phrase in pack.refusal_phrases:
        answer = reader.parse(f"*{phrase}* …", language=pack.language, condition="")
        assert answer.flags == ("refusal_phrase",), phrase


@EACH
def test_ordinary_sentences_are_no_refusals(pack: LanguagePack) -> None:
    reader = parser(pack.fixtures[0], pack)
    for sentence in ORDINARY[pack.language]:
        answer = reader.parse(sentence, language=pack.language, condition="")
        assert {reading.outcome for reading in answer.slots.values()} == {Outcome.UNPARSED}, sentence


@EACH
def test_hedging_is_no_refusal(pack: LanguagePack) -> None:
    reader = parser(pack.fixtures[0], pack)
    for phrase in pack.hedging_phrases:
        answer = reader.parse(f"{phrase}.", language=pack.language, condition="")
        assert {reading.outcome for reading in answer.slots.values()} == {Outcome.UNPARSED}, phrase


@EACH
def test_abstain_words_abstain(pack: LanguagePack) -> None:
    reader = parser(pack.fixtures[0], pack)
    (header, _) = [slot.header("", pack.language) for slot in fixture_form(pack, pack.fixtures[0]).slots]
    for word in pack.abstain_words:
        answer = reader.parse(f"{header}: {word}.", language=pack.language, condition="")
        assert answer.slots["first"].outcome is Outcome.ABSTAINED, word


@EACH
def test_texts_are_composed_and_clean(pack: LanguagePack) -> None:
    text = (FOLDER / f"{pack.language}.yaml").read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert not re.search("[\u200b-\u200f\u202a-\u202e\ufeff]", text)


SCRIPTS: dict[str, tuple[str, ...]] = {
    "Arab": ("ARABIC",),
    "Deva": ("DEVANAGARI",),
    "Hang": ("HANGUL",),
    "Hans": ("CJK UNIFIED",),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK UNIFIED"),
    "Latn": ("LATIN",),
}


@EACH
def test_phrases_are_written_in_the_script_of_the_pack(pack: LanguagePack) -> None:
    assert pack.rtl == (pack.script == "Arab")
    assert (pack.answer_language_method == "script") == (pack.script != "Latn")
    for phrase in (pack.native_name, pack.refusal_text, *pack.refusal_phrases, *pack.hedging_phrases):
        letters = [unicodedata.name(each) for each in phrase if unicodedata.category(each)[0] == "L"]
        native = sum(name.startswith(SCRIPTS[pack.script]) for name in letters)
        assert native > len(letters) / 2, phrase


@EACH
def test_native_option_letters(pack: LanguagePack) -> None:
    if pack.script == "Latn":
        assert not pack.option_letters
        return
    assert list(pack.option_letters) == ["a", "b", "c", "d"]
    natives = [letter for letters in pack.option_letters.values() for letter in letters]
    assert len(natives) == len(set(natives))


def test_files_hold_nothing_but_packs() -> None:
    names = {path.name for path in Path(FOLDER).iterdir() if path.name != "__pycache__"}
    assert names == {"__init__.py", *(f"{tag}.yaml" for tag in PACKS)}
