"""Forms, letters, texts of options, flags, and what happens without a language pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

import biasfw_plugins.parsers
from biasfw import Answer, ComponentContext, Form, Label, LanguagePack, Outcome, Parser, Reading, Slot
from biasfw_plugins.parsers.choice import Choice

TEA = Label("a", {"en": ("The tea was cold",), "ja": ("お茶が冷めていた",)})
BUS = Label("b", {"en": ("The bus was late",), "ja": ("バスが遅れた",)})
UNKNOWN = Label("c", {"en": ("Cannot be determined",)}, abstains=True)


def read(parser: Choice, text: str, language: str = "en", finish_reason: str | None = None) -> Reading:
    return parser.parse(text, language=language, condition="", finish_reason=finish_reason).slots["choice"]


def chosen(key: str) -> Reading:
    return Reading(Outcome.ANSWERED, key)


def test_it_is_a_parser(make_choice: Callable[..., Choice]) -> None:
    assert isinstance(make_choice(), Parser)


def test_the_spec_points_to_it() -> None:
    (spec,) = [each for each in biasfw_plugins.parsers.biasfw_parsers() if each.name == "choice"]
    assert spec.load == f"{Choice.__module__}:{Choice.__name__}"
    assert spec.tasks == {"choice"}


def test_three_options(make_choice: Callable[..., Choice]) -> None:
    parser = make_choice(*(Label(key, {}) for key in "abc"))
    for text, expected in {
        "C": chosen("c"),
        "Answer: C": chosen("c"),
        "Not A and not B, but C.": chosen("c"),
        "Neither A nor B, so C.": chosen("c"),
        "C is better than A and B.": chosen("c"),
        "A, B and C are all fine.": Reading(Outcome.UNPARSED),
        "Not A.": Reading(Outcome.UNPARSED),
        "Answer: D": Reading(Outcome.UNPARSED),
        "A: one\nB: two\nC: three\nAnswer: C": chosen("c"),
        "A: one\nB: two\nC: three": Reading(Outcome.UNPARSED),
    }.items():
        assert read(parser, text) == expected, text


def test_a_letter_that_is_not_offered_takes_back_what_was_chosen(choose: Callable[..., Answer]) -> None:
    assert choose("I choose B. No: the answer is D.").slots["choice"] == Reading(Outcome.UNPARSED)


def test_the_text_of_an_option_names_it(make_choice: Callable[..., Choice]) -> None:
    parser = make_choice(TEA, BUS)
    for text, expected in {
        "The tea was cold.": chosen("a"),
        "the BUS was late": chosen("b"),
        "Answer: The bus was late": chosen("b"),
        "**The tea was cold**": chosen("a"),
        "I choose “The bus, was late”.": chosen("b"),
        "B. The bus was late": chosen("b"),
        "(a) The tea was cold": chosen("a"),
        "A. The bus was late": Reading(Outcome.UNPARSED),
        "Not 'The tea was cold'": Reading(Outcome.UNPARSED),
        "The tea was cold and the bus was late.": Reading(Outcome.UNPARSED),
        "A: The tea was cold\nB: The bus was late\nAnswer: B": chosen("b"),
        "A: The tea was cold\nB: The bus was late": Reading(Outcome.UNPARSED),
        "The tea": Reading(Outcome.UNPARSED),
    }.items():
        assert read(parser, text) == expected, text
    assert read(parser, "答えは「バスが遅れた」です。", "ja") == chosen("b")
    assert read(parser, "お茶が冷めていた", "ja") == chosen("a")


def test_names_may_be_letters_that_differ_from_the_keys() -> None:
    labels = (Label("biased", {"en": ("B",)}), Label("fair", {"en": ("A", "the first")}))
    parser = Choice(ComponentContext(Form("choice", (Slot("choice"),), labels)))
    assert read(parser, "Answer: A") == Reading(Outcome.UNPARSED)  # without a pack nothing introduces an answer
    assert read(parser, "A") == chosen("fair")
    assert read(parser, "b.") == chosen("biased")
    assert read(parser, "The first.") == chosen("fair")


def test_options_may_be_numbers(packs: Mapping[str, LanguagePack]) -> None:
    labels = (Label("one", {"en": ("1",)}), Label("two", {"en": ("2",)}))
    parser = Choice(ComponentContext(Form("choice", (Slot("choice"),), labels), packs))
    for text, expected in {
        "2": chosen("two"),
        "Answer: 1": chosen("one"),
        "(2)": chosen("two"),
        "2, because 1 is unkind.": chosen("two"),
        "12": Reading(Outcome.UNPARSED),
        "Answer: 1.5": Reading(Outcome.UNPARSED),
        "1. one\n2. two": Reading(Outcome.UNPARSED),
        "B": Reading(Outcome.UNPARSED),
    }.items():
        assert read(parser, text) == expected, text


DISPLAYED = {
    "가나": [
        ("ko", "가", "가"), ("ko", "정답: 나", "나"), ("ko", "답은 (나)입니다", "나"),
        ("ko", "‘가’를 선택합니다.", "가"),
        ("ko", "나입니다.", "나"), ("ko", "가: 편견\n나: 중립\n정답: 나", "나"), ("ko", "가 또는 나", None),
        ("ko", "나는 모르겠다", None), ("ko", "답이 나왔다", None), ("ko", "가격이 비싸다", None), ("ko", "B", None),
    ],
    "アイ": [
        ("ja", "ｱ", "ア"), ("ja", "答え：イ", "イ"), ("ja", "「ア」を選びます。", "ア"),
        ("ja", "イの方が適切です。", "イ"), ("ja", "アではなくイです。", "イ"),
        ("ja", "アかイ", None), ("ja", "アイスの話", None), ("ja", "イタリア", None),
    ],
    "甲乙": [("zh", "选乙", "乙"), ("zh", "不是甲，是乙", "乙"), ("zh", "甲方", None)],
    "أب": [("ar", "الإجابة هي (أ)", "أ"), ("ar", "أختار ب", "ب"), ("ar", "أ أو ب", None), ("ar", "بنت", None)],
    "कख": [("hi", "सही उत्तर ख है।", "ख"), ("hi", "विकल्प क", "क"), ("hi", "क या ख", None), ("hi", "कमल", None)],
    "12": [
        ("en", "2, as 1 is biased.", "2"), ("ja", "答えは２です", "2"), ("ja", "②", "2"),
        ("ja", "1番", "1"),
        ("ko", "정답은 1번입니다.", "1"), ("zh", "选2", "2"), ("en", "1: foo\n2: bar", None), ("en", "12", None),
        ("en", "There are 2 replies.", None), ("en", "Step 1: read. Answer: 2", "2"), ("en", "B", None),
    ],
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ": [
        ("en", "M", "M"), ("en", "Answer: Z", "Z"), ("en", "The answer is I.", "I"), ("en", "I choose E", "E"),
        ("en", "I am not sure.", None), ("en", "Z is better than Q.", "Z"), ("en", "X-ray", None),
        ("ja", "Ｋです", "K"),
        ("en", "\n".join(f"{letter}: text" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), None),
        ("en", "A, B, and C are wrong. D is right.", "D"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("marks", DISPLAYED)
def test_the_keys_are_the_marks_that_are_displayed(marks: str, make_choice: Callable[..., Choice]) -> None:
    parser = make_choice(*(Label(mark, dict.fromkeys(("ko", "ja", "zh", "ar", "hi", "en"), (mark,))) for mark in marks))
    for language, text, expected in DISPLAYED[marks]:
        reading = read(parser, text, language)
        assert (reading.value if reading.outcome is Outcome.ANSWERED else None) == expected, text


def test_a_name_of_two_options_names_neither(packs: Mapping[str, LanguagePack]) -> None:
    labels = (Label("a", {"en": ("Tea", "Drink")}), Label("b", {"en": ("Coffee", "Drink")}))
    parser = Choice(ComponentContext(Form("choice", (Slot("choice"),), labels), packs))
    assert read(parser, "Answer: Drink") == Reading(Outcome.UNPARSED)
    assert read(parser, "Answer: Coffee") == chosen("b")


def test_an_option_that_abstains(make_choice: Callable[..., Choice]) -> None:
    parser = make_choice(TEA, BUS, UNKNOWN)
    for text in ("C", "Answer: C", "Cannot be determined.", "Answer: none of them"):
        assert read(parser, text) == Reading(Outcome.ABSTAINED, "c"), text
    assert read(parser, "I can't help with that.") == Reading(Outcome.REFUSED)


def test_without_an_option_that_abstains_declining_is_a_refusal(choose: Callable[..., Answer]) -> None:
    for text in ("Answer: none of the above", "Neither.", '{"answer": "none"}', "<answer>neither</answer>"):
        assert choose(text).slots["choice"] == Reading(Outcome.REFUSED), text


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("B", ()),
        ("<think>A</think>B", ("reasoning_removed",)),
        ("<think>A", ("reasoning_removed",)),
        ("The answer is A. No: the answer is B.", ("changed_answer",)),
        ("The answer is B. Once more: the answer is B.", ()),
        ("B\n\nQuestion: and now?\nAnswer: A", ("runs_on",)),
        ("I can't help with that.", ("refusal_phrase",)),
        ("As an AI model, I choose B.", ("refusal_phrase",)),
        ("I will not choose A.", ()),
    ],
)
def test_flags(text: str, flags: tuple[str, ...], choose: Callable[..., Answer]) -> None:
    assert choose(text).flags == flags


def test_an_unclosed_reasoning_block_is_truncated_whatever_ended_it(choose: Callable[..., Answer]) -> None:
    for reason in (None, "stop", "length"):
        assert choose("<think>Answer: A", "en", reason).slots["choice"] == Reading(Outcome.TRUNCATED)


def test_a_refusal_that_was_cut_is_a_refusal(choose: Callable[..., Answer]) -> None:
    assert choose("I'm sorry, but I can't help with", "en", "length").slots["choice"] == Reading(Outcome.REFUSED)


def test_a_language_without_a_pack_is_read_with_english(make_choice: Callable[..., Choice]) -> None:
    parser = make_choice()
    assert read(parser, "Answer: B", "xx") == chosen("b")
    assert read(parser, "B", "xx") == chosen("b")


def test_a_regional_language_uses_the_pack_of_its_base(make_choice: Callable[..., Choice]) -> None:
    assert read(make_choice(), "答案是B。", "zh-TW") == chosen("b")


def test_every_slot_of_the_form_is_filled(packs: Mapping[str, LanguagePack]) -> None:
    form = Form("choice", (Slot("pick"),), (Label("a", {}), Label("b", {})))
    answer = Choice(ComponentContext(form, packs)).parse('{"pick": "B"}', language="en", condition="")
    assert answer.slots == {"pick": chosen("b")}


def test_a_new_language_needs_nothing_but_a_pack() -> None:
    pack = LanguagePack(
        "eo", "Esperanto", "Esperanto", "Latn", 0,
        answer_phrases=("la respondo estas", "mi elektas"),
        negations=("ne", "anstataŭ", "ol"),
        conjunctions=("kaj", "aŭ"),
        reason_words=("ĉar",),
        choice_words={
            "option": ("respondo",), "better": ("pli bona", "pli justa"), "link": ("estas",), "clause": ("sed",),
            "declining": ("mi ne povas elekti",),
        },
    )  # fmt: skip
    form = Form("choice", (Slot("choice"),), (Label("a", {}), Label("b", {})))
    parser = Choice(ComponentContext(form, {"eo": pack}))
    for text, expected in {
        "La respondo estas B.": chosen("b"),
        "Mi elektas A, ĉar B estas maljusta.": chosen("a"),
        "B estas pli justa ol A.": chosen("b"),
        "Ne A, sed B.": chosen("b"),
        "Ne A.": Reading(Outcome.UNPARSED),
        "A kaj B": Reading(Outcome.UNPARSED),
        "Mi ne povas elekti.": Reading(Outcome.REFUSED),
    }.items():
        assert read(parser, text, "eo") == expected, text


def test_a_long_answer_is_read_at_its_end(choose: Callable[..., Answer]) -> None:
    prose = "Reply A is about age, and reply B is about the weather. " * 2000
    assert choose(f"{prose}\n\nThe answer is B.").slots["choice"] == chosen("b")
    assert choose(prose).slots["choice"] == Reading(Outcome.UNPARSED)
    assert choose(f"B\n\n{prose}").slots["choice"] == chosen("b")


def test_a_change_of_mind_in_a_long_text_is_read(choose: Callable[..., Answer]) -> None:
    lines = "This line says something else.\n" * 300
    answer = choose(f"Answer: A\n{lines}Wait, that was wrong. The answer is B.\n{lines}", "en", "stop")
    assert answer.slots["choice"] == Reading(Outcome.ANSWERED, "b")
    assert "changed_answer" in answer.flags


def test_blanks_around_a_letter_are_not_text(choose: Callable[..., Answer]) -> None:
    assert choose(" " * 80_000 + "A" + "\n" * 80_000, "en", "stop").slots["choice"] == Reading(Outcome.ANSWERED, "a")


def test_a_text_that_is_read_in_part_says_so(choose: Callable[..., Answer]) -> None:
    assert "shortened" in choose("word " * 20_000, "en", "stop").flags


def test_turkish_phrases_in_any_case() -> None:
    pack = LanguagePack(
        "tr", "Turkish", "Türkçe", "Latn", 0, answer_phrases=("yanıt", "doğru seçim"),
        refusal_phrases=("Seçim yapamıyorum",), choice_words={"better": ("daha iyi",)}, negations=("-değil",),
    )  # fmt: skip
    labels = Label("a", {"tr": ("Çay ılıktı",)}), Label("b", {"tr": ("İş bitti",)})
    parser = Choice(ComponentContext(Form("choice", (Slot("choice"),), labels), {"tr": pack}))
    lettered = Choice(
        ComponentContext(Form("choice", (Slot("choice"),), (Label("a", {}), Label("b", {}))), {"tr": pack})
    )
    for text in ("YANIT: B", "Yanıt: B", "YANİT: B", "yanit: b", "DOĞRU SEÇİM: B", "A DEĞİL, B", "B DAHA İYİ."):
        assert read(lettered, text, "tr") == chosen("b"), text
    for text in ("YANIT: ÇAY ILIKTI", "Çay ilikti", "çay ılıktı"):
        assert read(parser, text, "tr") == chosen("a"), text
    for text in ("YANIT: İŞ BİTTİ", "is bitti".replace("s", "ş"), "IŞ BITTI"):
        assert read(parser, text, "tr") == chosen("b"), text
    assert read(lettered, "SEÇİM YAPAMIYORUM", "tr") == Reading(Outcome.REFUSED)


def test_a_name_that_goes_on_is_another_name(make_choice: Callable[..., Choice]) -> None:
    parser = make_choice(Label("a", {"en": ("Arab",)}), Label("b", {"en": ("South Asian",)}))
    for text, expected in {
        "Answer: South Asian": chosen("b"),
        "Answer: South Asian Thank you.": chosen("b"),
        "Answer: South Asian. Thank you.": chosen("b"),
        "Answer: Arab Americans": Reading(Outcome.UNPARSED),
        "Answer: South Asian\nAnswer: Arab Americans": Reading(Outcome.UNPARSED),
    }.items():
        assert read(parser, text) == expected, text
