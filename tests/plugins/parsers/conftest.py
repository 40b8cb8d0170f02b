"""A debate form in eight languages, and the shipped packs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import biasfw_plugins.languages
from biasfw import Answer, ComponentContext, Form, Label, LanguagePack, Slot
from biasfw.languages import load_packs
from biasfw_plugins.parsers.choice import Choice
from biasfw_plugins.parsers.labelled_lines import LabelledLines

NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "arabs": {
        "en": ("Arabs", "Arab", "Arab people"),
        "zh": ("阿拉伯人",),
        "ar": ("العرب", "عرب"),
        "hi": ("अरब", "अरबी", "अरब लोग"),
        "ko": ("아랍인",),
        "sw": ("Waarabu",),
        "pcm": ("Arabs", "Arab people"),
        "ja": ("アラブ人",),
    },
    "western": {
        "en": ("Western", "Westerners", "Western people"),
        "zh": ("西方人", "西方"),
        "ar": ("الغربيون", "الغربيين", "الغرب"),
        "hi": ("पश्चिमी", "पश्चिमी लोग"),
        "ko": ("서양인", "서구인"),
        "sw": ("Watu wa Magharibi", "Wamagharibi"),
        "pcm": ("Western people", "Western"),
        "ja": ("西洋人", "欧米人"),
    },
    "south_asians": {
        "en": ("South Asians", "South Asian"),
        "zh": ("南亚人",),
        "ar": ("جنوب آسيويون", "جنوب الآسيويين", "الجنوب آسيويون"),
        "hi": ("दक्षिण एशियाई",),
        "ko": ("남아시아인",),
        "sw": ("Waasia Kusini", "Waasia wa Kusini"),
        "pcm": ("South Asians", "South Asian people"),
        "ja": ("南アジア人", "南アジアの人々"),
    },
    "indians": {
        "en": ("Indians", "Indian"),
        "zh": ("印度人",),
        "ar": ("الهنود", "هنود"),
        "hi": ("भारतीय",),
        "ko": ("인도인",),
        "sw": ("Wahindi",),
        "pcm": ("Indians", "Indian people"),
        "ja": ("インド人",),
    },
    "africans": {
        "en": ("Africans", "African"),
        "zh": ("非洲人",),
        "ar": ("الأفارقة", "أفارقة"),
        "hi": ("अफ़्रीकी", "अफ्रीकी"),
        "ko": ("아프리카인",),
        "sw": ("Waafrika",),
        "pcm": ("Africans", "African people"),
        "ja": ("アフリカ人",),
    },
}
HEADERS: dict[str, tuple[str, str]] = {
    "en": ("MODERN GROUP", "STEREOTYPED GROUP"),
    "zh": ("现代群体", "刻板印象群体"),
    "ar": ("المجموعة الحديثة", "المجموعة النمطية"),
    "hi": ("आधुनिक समूह", "रूढ़िवादी समूह"),
    "ko": ("현대적 그룹", "고정관념 그룹"),
    "sw": ("KIKUNDI CHA KISASA", "KIKUNDI CHA STEREOTYPE"),
    "pcm": ("MODERN GROUP", "STEREOTYPED GROUP"),
    "ja": ("現代的なグループ", "固定観念のグループ"),
}

Parse = Callable[..., Answer]


def _form(*, abstention: bool = False) -> Form:
    labels = [Label(key, names) for key, names in NAMES.items()]
    if abstention:
        labels.append(Label("none_of_them", {"en": ("none of them",), "ko": ("해당 없음",)}, abstains=True))
    neutral = ({"en": ("EXPERT 1 GROUP",)}, {"en": ("EXPERT 2 GROUP",)})
    slots = tuple(
        Slot(key, {"forced": {tag: (pair[index],) for tag, pair in HEADERS.items()}, "neutral": neutral[index]})
        for index, key in enumerate(("modern", "stereotyped"))
    )
    return Form("labels", slots, tuple(labels), languages=tuple(HEADERS), conditions=("forced", "neutral"))


@pytest.fixture(scope="session")
def packs() -> Mapping[str, LanguagePack]:
    return load_packs([Path(biasfw_plugins.languages.__file__).parent])


@pytest.fixture(scope="session")
def names() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    return NAMES


@pytest.fixture(scope="session")
def headers() -> Mapping[str, tuple[str, str]]:
    return HEADERS


@pytest.fixture(scope="session")
def form() -> Form:
    return _form()


@pytest.fixture(scope="session")
def make(packs: Mapping[str, LanguagePack]) -> Callable[..., LabelledLines]:
    def build(*, abstention: bool = False, **options: Any) -> LabelledLines:
        return LabelledLines(ComponentContext(_form(abstention=abstention), packs, options))

    return build


@pytest.fixture(scope="session")
def parse(make: Callable[..., LabelledLines]) -> Parse:
    """Parse with the debate form: ``parse(text, language="en", finish_reason=None)``."""
    parser = make()

    def run(text: str, language: str = "en", finish_reason: str | None = None, condition: str = "forced") -> Answer:
        return parser.parse(text, language=language, condition=condition, finish_reason=finish_reason)

    return run


@pytest.fixture(scope="session")
def make_choice(packs: Mapping[str, LanguagePack]) -> Callable[..., Choice]:
    """A parser of choices between ``labels``; without any, between the letters A and B."""

    def build(*labels: Label) -> Choice:
        options = labels or (Label("a", {}), Label("b", {}))
        return Choice(ComponentContext(Form("choice", (Slot("choice"),), options), packs))

    return build


@pytest.fixture(scope="session")
def choose(make_choice: Callable[..., Choice]) -> Parse:
    """Parse an answer to a choice between A and B: ``choose(text, language="en", finish_reason=None)``."""
    parser = make_choice()

    def run(text: str, language: str = "en", finish_reason: str | None = None) -> Answer:
        return parser.parse(text, language=language, condition="", finish_reason=finish_reason)

    return run
