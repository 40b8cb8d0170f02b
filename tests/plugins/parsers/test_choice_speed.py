"""Short answers to a choice are read fast, and no input takes long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from biasfw import Answer, Outcome

ANSWERS = {
    "en": ("Answer: {}", "{}", "I choose {}. The other is about age.", "**{}**", "{} because the other one is rude."),
    "zh": ("答案：{}", "{}", "我选{}。", "选项{}更公平。", "{}，因为另一个有偏见。"),
    "ar": ("الإجابة: {}", "{}", "أختار {}.", "الخيار {} هو الأنسب.", "{} لأن الآخر متحيز."),
    "hi": ("उत्तर: {}", "{}", "सही उत्तर {} है।", "विकल्प {} बेहतर है।", "{}, क्योंकि दूसरा पक्षपाती है।"),
    "ko": ("정답: {}", "{}", "{}를 선택합니다.", "응답 {}가 적절합니다.", "정답은 {}입니다."),
    "sw": ("Jibu: {}", "{}", "Nachagua {}.", "Jibu {} ni bora.", "{} kwa sababu lingine lina ubaguzi."),
    "pcm": ("Ansa: {}", "{}", "I go pick {}.", "Option {} dey better.", "Na {}, because di other one no fair."),
    "ja": ("回答：{}", "{}", "答えは{}です。", "選択肢{}が適切です。", "{}。もう一方は年齢で判断しているためです。"),
}


def test_100_000_answers(choose: Callable[..., Answer]) -> None:
    rng = random.Random(7)
    seconds = []
    for turn in range(3):  # other programs slow the machine down: the best of three
        answers = []
        for number in range(5_000):
            language = list(ANSWERS)[number % len(ANSWERS)]
            text = rng.choice(ANSWERS[language]).format(rng.choice("AB"))
            answers.append((language, f"{text}\n\n({turn}, {number})"))  # all different: no answer is remembered
        start = time.process_time()
        read = [choose(text, language) for language, text in answers]
        seconds.append(time.process_time() - start)
        assert all(answer.slots["choice"].outcome is Outcome.ANSWERED for answer in read)
    # A twentieth of the answers takes about 0.3 s; the bound leaves room for slow machines.
    assert min(seconds) < 1.5


MEGABYTE = 1_000_000
HOSTILE = {
    "letters": "A",
    "free letters": "A ",
    "both": "A and B ",
    "negations": "not A ",
    "conditions": "if A ",
    "reasons": "because A ",
    "offers": "between A and B ",
    "answers": "Answer: A. ",
    "answer lines": "Answer: A\n",
    "lists": "A: x\nB: y\n",
    "labels": "A) ",
    "open brackets": "(A ",
    "brackets": "(",
    "closers": ")",
    "quotes": '"',
    "apostrophes": "a'",
    "hyphens": "a-",
    "points": "A.B.",
    "sentence ends": ". ",
    "blank lines": "\n",
    "spaces": " ",
    "stars": "*",
    "fences": "```json\n",
    "objects": '{"answer": "A", ',
    "keys": '{"a',
    "boxes": "\\boxed{A}",
    "open boxes": "\\boxed{",
    "tags": "<answer>A</answer>",
    "angles": "<a ",
    "turns": "<|im_start|>assistant",
    "ends": "<|im_end|>",
    "channels": "<|channel|>final<|message|>",
    "thoughts": "<think>",
    "questions": "Question: A\n",
    "backslashes": "\\",
    "escapes": "\\u0041",
    "marks": "\x02",
    "wide letters": "Ｂ",
    "direction marks": "\u200f",
    "accents": "\u0301",
    "jamo": "\u1112\u1161",
    "kana": "の",
    "verbs": "選ぶ",
    "opposites": "AではなくB",
    "hangul": "가",
    "emoji": "🅱",
    "refusals": "I won't ",
    "dangling": "B over... ",
    "second choices": "second choice ",
    "ranks": "1. A 2. B ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("around", [("", ""), ("Answer: ", "\nB"), ('{"answer": "', '"}')])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_hostile_text(piece: str, around: tuple[str, str], language: str, choose: Callable[..., Answer]) -> None:
    text = (piece * (MEGABYTE // len(piece))).join(around)
    start = time.process_time()
    choose(text, language, "length")
    assert time.process_time() - start < 3.0
