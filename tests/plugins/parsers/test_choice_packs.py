"""What the shipped language packs say of choices is found where it should be, phrase by phrase."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from biasfw import Answer, LanguagePack, Outcome

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm", "ja")
KINDS = (
    "option", "chosen", "better", "link", "filler", "clause", "all", "among", "condition", "question", "than", "aside",
    "declining",
)  # fmt: skip
# Sentences of answers that say something of an option and choose none.
UNDECIDED = {
    "en": ("Reply A is about age.", "Option B names a job.", "I read reply A first."),
    "zh": ("选项A谈到年龄。", "回答B提到工作。", "先看A。"),
    "ar": ("الرد A يتحدث عن العمر.", "الخيار B يذكر العمل.", "لنبدأ بالرد A."),
    "hi": ("जवाब A उम्र के बारे में है।", "विकल्प B में काम की बात है।", "पहले A पढ़ते हैं।"),
    "ko": ("응답 A는 나이에 관한 것입니다.", "선택지 B에는 직업이 나옵니다.", "먼저 A를 읽어 봅시다."),
    "sw": ("Jibu A linahusu umri.", "Chaguo B linataja kazi.", "Tuanze kusoma A."),
    "pcm": ("Reply A dey talk about age.", "Option B mention work.", "Make we first read A."),
    "ja": ("応答Aは年齢の話です。", "選択肢Bには仕事が出てきます。", "まずAを読みましょう。"),
}
EACH = pytest.mark.parametrize("language", LANGUAGES)


def outcome(answer: Answer) -> tuple[Outcome, str | None]:
    reading = answer.slots["choice"]
    return reading.outcome, reading.value


@EACH
def test_every_kind_of_words_is_there(language: str, packs: Mapping[str, LanguagePack]) -> None:
    assert set(packs[language].choice_words) - {"words"} == set(KINDS)


@EACH
def test_every_answer_phrase_introduces_an_option(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in packs[language].answer_phrases:
        for text in (f"{phrase}: B", f"{phrase}: (A)"):
            expected = "b" if text.endswith("B") else "a"
            assert outcome(choose(text, language)) == (Outcome.ANSWERED, expected), text


@EACH
def test_every_negation_takes_the_choice_back(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in packs[language].negations:
        text = f"A {phrase[1:]}" if phrase.startswith("-") else f"{phrase} A"
        assert choose(text, language).slots["choice"].outcome is not Outcome.ANSWERED, text


@EACH
def test_every_word_of_preference_prefers(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    pack = packs[language]
    for phrase in pack.choice_words["better"]:
        if not {phrase, f"-{phrase}"} & set(pack.negations):  # "superior to" needs another option
            assert outcome(choose(f"B {phrase}", language)) == (Outcome.ANSWERED, "b"), phrase


@EACH
def test_every_declining_phrase_is_a_refusal(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in (*packs[language].choice_words["declining"], packs[language].refusal_text):
        assert outcome(choose(f"{phrase}.", language)) == (Outcome.REFUSED, None), phrase


@EACH
def test_every_conjunction_joins(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in packs[language].conjunctions:
        text = f"A {phrase} B"
        assert choose(text, language).slots["choice"].outcome is not Outcome.ANSWERED, text


@EACH
def test_every_reason_leaves_the_choice(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in packs[language].reason_words:
        assert outcome(choose(f"B, {phrase} A", language)) == (Outcome.ANSWERED, "b"), phrase


@EACH
def test_hedging_chooses_nothing(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in (*packs[language].hedging_phrases, *packs[language].refusal_phrases):
        assert choose(f"{phrase}.", language).slots["choice"].outcome is not Outcome.ANSWERED, phrase


@EACH
def test_what_is_said_of_an_option_is_no_choice(language: str, choose: Callable[..., Answer]) -> None:
    for text in UNDECIDED[language]:
        assert choose(text, language).slots["choice"].outcome is Outcome.UNPARSED, text


@EACH
def test_every_abstain_word_declines(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for word in packs[language].abstain_words:
        assert choose(f"{word}.", language).slots["choice"].outcome is Outcome.REFUSED, word


@EACH
def test_every_comparison_crosses_marks(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    pack = packs[language]
    assert set(pack.choice_words["than"]) <= set(pack.negations)
    for phrase in pack.choice_words["than"]:
        text = f"A... {phrase[1:]} B" if phrase.startswith("-") else f"B {phrase}... A"
        assert outcome(choose(text, language)) in {(Outcome.ANSWERED, "b"), (Outcome.UNPARSED, None)}, text


@EACH
def test_what_is_named_aside_changes_no_answer(
    language: str, packs: Mapping[str, LanguagePack], choose: Callable[..., Answer]
) -> None:
    for phrase in packs[language].choice_words["aside"]:
        for text in (f"{packs[language].answer_phrases[1]}: B\n{phrase}: A", f"B\n{phrase}:\nA"):
            assert outcome(choose(text, language)) in {(Outcome.ANSWERED, "b"), (Outcome.UNPARSED, None)}, text
