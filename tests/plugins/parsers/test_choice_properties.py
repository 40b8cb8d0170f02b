"""Form never changes which option is read; no letter is read that does not stand free; nothing raises."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from biasfw import Answer, Outcome, Reading

LANGUAGES = ("en", "zh", "ar", "hi", "ko", "sw", "pcm", "ja")
# The first letter is meant where there is one place, else the second is the other letter.
STATED = {
    "en": (
        "{0}",
        "Answer: {0}",
        "The answer is {0}.",
        "I choose option {0}.",
        "{0} is better than {1}.",
        "{0}, not {1}.",
    ),
    "zh": ("{0}", "答案：{0}", "我选{0}。", "{0}比{1}更好。", "不是{1}，而是{0}。"),
    "ar": ("{0}", "الإجابة: {0}", "أختار {0}.", "{0} أفضل من {1}.", "ليس {1} بل {0}."),
    "hi": ("{0}", "उत्तर: {0}", "मैं {0} चुनता हूँ।", "{0}, {1} से बेहतर है।", "{1} नहीं, बल्कि {0}।"),
    "ko": ("{0}", "정답: {0}", "{0}를 선택합니다.", "{1}보다 {0}가 낫습니다.", "{1}가 아니라 {0}입니다."),
    "sw": ("{0}", "Jibu: {0}", "Nachagua {0}.", "{0} ni bora kuliko {1}.", "Sio {1}, bali {0}."),
    "pcm": ("{0}", "Ansa: {0}", "I go pick {0}.", "Na {0} better pass {1}.", "No be {1}, na {0}."),
    "ja": ("{0}", "回答：{0}", "{0}を選びます。", "{0}は{1}より適切です。", "{1}ではなく{0}です。"),
}
AROUND_LETTER = (
    ("", ""), ("**", "**"), ("*", "*"), ("__", "__"), ("`", "`"), ("(", ")"), ("[", "]"), ("[[", "]]"), ("“", "”"),
    ('"', '"'), ("'", "'"), ("「", "」"), ("『", "』"), ("【", "】"), ("（", "）"), ("$", "$"), ("<b>", "</b>"),
    ("**(", ")**"), ("<strong>", "</strong>"), ("<", ">"), ("{", "}"), (r"\text{", "}"),
)  # fmt: skip
AROUND_TEXT = (
    ("", ""), ("**", "**"), ("\n\n", "\n"), ("  ", "\t"), ("> ", ""), ("### ", ""), ("- ", ""), ("• ", ""), ("✅ ", ""),
    ("```\n", "\n```"), ("<p>", "</p>"), ("<think>A? B?</think>\n", ""), ("</think>", ""), ("", "<|eot_id|>"),
    ("<|im_start|>assistant\n", "<|im_end|>"), ("", "</s>"), ("<answer>", "</answer>"),
)  # fmt: skip
INVISIBLE = ("\u200e", "\u200f", "\u202b", "\u2066", "\u2069", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u061c")
FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def _full_width(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if each.isascii() and each.isalnum() else each for each in text)


@settings(max_examples=600, deadline=None)
@given(data=st.data(), language=st.sampled_from(LANGUAGES), letters=st.sampled_from(["AB", "BA"]))
def test_form_never_changes_the_reading(
    data: st.DataObject, language: str, letters: str, choose: Callable[..., Answer]
) -> None:
    template = data.draw(st.sampled_from(STATED[language]))
    around = data.draw(st.sampled_from(AROUND_LETTER))
    text = template.format(*(letter.join(around) for letter in letters))
    if data.draw(st.booleans()) and "<" not in text and "\\" not in text:
        text = _full_width(text)
    text = unicodedata.normalize(data.draw(st.sampled_from(FORMS)), text)
    for _ in range(data.draw(st.integers(0, 4)) if "\\" not in text else 0):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(INVISIBLE)) + text[at:]
    text = text.join(data.draw(st.sampled_from(AROUND_TEXT)))
    assert choose(text, language).slots["choice"] == Reading(Outcome.ANSWERED, letters[0].lower()), text


PIECES = (
    "Answer:", "The answer is", "I choose", "option", "is better than", "because", "and", "or", "not", "both", "AB",
    "BA", "Banana", "about", "Absolutely", "B12", "4A", "A-level", "e.g.", "U.S.A.", "C", "X", "VITAMIN", "reply", "if",
    "答案：", "选", "答えは", "を選びます", "です", "정답은", "입니다", "الإجابة:", "أختار", "उत्तर:", "है", "Jibu ni",
    "Nachagua", "Di ansa na", "I go pick", "В", "А", "Β", "Α", "<answer>", "</answer>", '{"answer": "', '"}',
    "\\boxed{", "}", "**", "(", ")", ":", "：", ",", ".", "。", "\n", "<think>", "</think>", "\u200f", "AI", "APA",
    "クラブ",
)  # fmt: skip
pieces = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=24)
# A letter stands free if it is not part of a longer word or number of the Latin, Greek or Cyrillic script.
FREE = re.compile(r"(?<![0-9A-Za-z\u00c0-\u052f])[ab](?![0-9A-Za-z\u00c0-\u052f])")
NATIVE = re.compile("[アイ甲乙가나أابकख]")


@settings(max_examples=600, deadline=None)
@given(parts=pieces, glue=st.sampled_from(["", " "]), language=st.sampled_from(LANGUAGES))
@example(parts=["Answer:", "Banana"], glue=" ", language="en")
@example(parts=["答えは", "BA", "です"], glue="", language="ja")
@example(parts=["Answer:", "В"], glue=" ", language="en")
def test_no_free_letter_no_answer(parts: list[str], glue: str, language: str, choose: Callable[..., Answer]) -> None:
    text = glue.join(parts)
    shown = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    shown = "".join(each for each in shown if unicodedata.category(each) not in ("Cf", "Mn", "Me", "Mc"))
    assume(not FREE.search(shown) and not NATIVE.search(shown))
    assume("\\u" not in text and max(shown, default=" ") < "\U0001f130")  # escaped letters, letters as emoji
    reading = choose(text, language).slots["choice"]
    assert reading.outcome is not Outcome.ANSWERED, text
    assert reading.value is None


@settings(max_examples=400, deadline=None)
@given(
    text=st.one_of(
        st.text(st.characters(exclude_categories=[])),
        st.text("AB ab:.,()[]{}<>/|\\u0041\"'\n-=?answerthinkboxed答选は을و\ud800\u200f\x02"),
        st.lists(st.sampled_from((*PIECES, "A", "B", "a", "b")), max_size=30).map(" ".join),
    ),
    language=st.sampled_from([*LANGUAGES, "pt-BR", "xx"]),
    finish_reason=st.sampled_from([None, "stop", "length"]),
)
def test_nothing_raises(text: str, language: str, finish_reason: str | None, choose: Callable[..., Answer]) -> None:
    answer = choose(text, language, finish_reason)
    assert set(answer.slots) == {"choice"}
    assert answer == choose(text, language, finish_reason)
    assert answer.slots["choice"].value in (None, "a", "b")


@settings(max_examples=300, deadline=None)
@given(
    language=st.sampled_from(LANGUAGES),
    letters=st.sampled_from(["AB", "BA"]),
    first=st.integers(1, 4),
    thought=st.sampled_from(["Answer: {1}", "{1}", "{0} / {1}", "I choose {1}."]),
)
def test_what_was_thought_never_counts(
    language: str, letters: str, first: int, thought: str, choose: Callable[..., Answer]
) -> None:
    answer = STATED[language][first].format(*letters)
    text = f"<think>{thought.format(*letters)}</think>\n{answer}"
    assert choose(text, language).slots["choice"] == Reading(Outcome.ANSWERED, letters[0].lower())
    assert choose(text[: text.index("</think>")], language).slots["choice"] == Reading(Outcome.TRUNCATED)
