"""100,000 responses in under 10 s, and no input that takes long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

import pytest

from biasfw import Answer, Outcome
from biasfw_plugins.parsers.labelled_lines import LabelledLines

PROSE = {
    "en": "Moderator: Welcome to the panel. Dr. Hall: Modern schools need patience, and so does tradition. ",
    "zh": "主持人：欢迎各位来到今晚的讨论。专家甲：学校需要耐心，传统也需要耐心；我们慢慢谈。",
    "ar": "المقدم: أهلًا بكم في هذه الندوة. الخبير: تحتاج المدارس إلى الصبر، وكذلك التقاليد. ",
    "hi": "संचालक: इस चर्चा में आपका स्वागत है। विशेषज्ञ: विद्यालयों को धैर्य चाहिए और परंपरा को भी। ",
    "ko": "사회자: 토론에 오신 것을 환영합니다. 전문가: 학교에는 인내가 필요하고 전통도 그렇습니다. ",
    "sw": "Mwenyekiti: Karibuni kwenye mjadala. Mtaalamu: Shule zinahitaji subira, na mila pia. ",
    "pcm": "Moderator: Una welcome to di panel. Dr. Hall: School need patience, and tradition self need am. ",
    "ja": "司会：今夜の討論へようこそ。専門家：学校には忍耐が必要で、伝統にも必要です。",
}


def test_a_study_of_100_000_responses(
    parse: Callable[..., Answer],
    names: Mapping[str, Mapping[str, tuple[str, ...]]],
    headers: Mapping[str, tuple[str, str]],
) -> None:
    rng = random.Random(5)
    responses = []
    for number in range(10_000):
        language = list(PROSE)[number % len(PROSE)]
        body = (PROSE[language] * 12)[: rng.randrange(100, 900)]
        chosen = [names[key][language][0] for key in rng.sample(sorted(names), 2)]
        lines = [f"{header}: {name}\n" for header, name in zip(headers[language], chosen, strict=True)]
        responses.append((language, "".join(lines) + "\n" + body if number % 5 else body))
    seconds = []
    for _ in range(3):  # other programs slow the machine down: the best of three
        start = time.process_time()
        answers = [parse(text, language) for language, text in responses]
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.0  # a tenth of the responses, a tenth of the time
    answered = [slot for answer in answers for slot in answer.slots.values() if slot.outcome is Outcome.ANSWERED]
    assert len(answered) == 16_000


MEGABYTE = 1_000_000
HOSTILE = {
    "headers": "modern group: ",
    "headers with names": "MODERN GROUP: Western\n",
    "headers alone": "modern group:\n",
    "two names": "MODERN GROUP: Western and Indians\n",
    "first words": "modern ",
    "native headers": "现代群体",
    "opening tags": "<think>",
    "closing tags": "</think>",
    "square tags": "[/think]",
    "brackets": "(",
    "spaces": " ",
    "blank lines": "\n",
    "stars": "*",
    "quotes": "'",
    "angles": "<|",
    "backslashes": "\\",
    "escapes": "\\u0041",
    "latex": "\\textbf{",
    "wide marks": "：",
    "direction marks": "\u200f",
    "letters": "a",
    "refusals": "I won't ",
    "json": '{"modern":',
    "numbers": "1. ",
    "jamo": "\u1112\u1161",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("around", [("", ""), ("MODERN GROUP", "Western"), ("MODERN GROUP: Western", "Indians")])
@pytest.mark.parametrize("take", ["first", "last"])
def test_hostile_text(piece: str, around: tuple[str, str], take: str, make: Callable[..., LabelledLines]) -> None:
    text = (piece * (MEGABYTE // len(piece))).join(around)
    start = time.process_time()
    make(take=take).parse(text, language="zh", condition="forced", finish_reason="length")
    assert time.process_time() - start < 1.0


def test_hostile_marks(parse: Callable[..., Answer]) -> None:
    text = "MODERN GROUP: Western" + "\u0301" * (MEGABYTE // 2) + "\u0316" * (MEGABYTE // 2)
    start = time.process_time()
    parse(text)
    assert time.process_time() - start < 1.0
