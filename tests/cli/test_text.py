"""Model output and names of any language on a terminal: nothing acts on it, nothing falls out of line."""

from __future__ import annotations

import io
import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from biasfw import Form, Label, Score, Slot
from biasfw.cli._labels import _share_table
from biasfw.cli._summary import _sample
from biasfw.cli._text import isolated, shortened, visible

SAMPLES = {
    "ar": "المجموعة الحديثة: العرب\nوَقالَ الخَبيرُ: 50 % مِنَ النّاس.",
    "fa": "می\u200cخواهند گفت‌وگو کنند",  # the joiner is part of the spelling
    "hi": "आधुनिक समूह: क्ष\u200dत्रिय, हिन्दी",
    "ja": "現代的な集団：\u3000アラブ人（五十音）",
    "ko": "현대적 그룹: 아랍인\u00a0",
    "zh": "现代群体：阿拉伯人，“你好”——……",
    "vi": unicodedata.normalize("NFD", "Nhóm hiện đại: người Ả Rập"),
    "emoji": "👩\u200d🔬 and 🏳️\u200d🌈",
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_text_of_any_language_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x1b[0m", "a\\x1b[31mred\\x1b[0m"),
        ("\x07\r\x00\x7f\x9b", "\\x07\\x0d\\x00\\x7f\\x9b"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("\u2068\u2069\u2066", "\\u2068\\u2069\\u2066"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
        ("\ufeff\u200b\u00ad", "\\ufeff\\u200b\\xad"),
        ("\ud800", "\\ud800"),
        ("\U000e0041\U0010ffff", "\\U000e0041\\U0010ffff"),
    ],
)
def test_what_could_act_on_the_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(), max_size=200))
def test_no_text_leaves_anything_that_acts(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t"} & {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"}
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert visible(shown) == shown


def test_cutting_takes_no_mark_from_its_letter() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcdef [...]"
    hindi = "क्ष\u200dत्रिय" * 20
    for limit in range(1, 60):
        text = shortened(hindi, limit)
        cut = text.removesuffix(" [...]")
        assert hindi.startswith(cut)
        assert len(cut) <= limit
        following = hindi[len(cut)]
        assert limit < 6 or not (unicodedata.category(following)[0] == "M" or "\u200d" in (following, cut[-1]))
    assert shortened("\u0301" * 50, 10) == "\u0301" * 10 + " [...]", "marks alone are cut where they are"


def test_right_to_left_lines_are_isolated_and_others_are_not() -> None:
    assert isolated("العرب: 50 %") == "\u2068العرب: 50 %\u2069"
    assert isolated("MODERN GROUP: עברית") == "\u2068MODERN GROUP: עברית\u2069"
    for language in ("hi", "ja", "ko", "zh", "vi", "emoji"):
        assert isolated(SAMPLES[language]) == SAMPLES[language]


def console(*, terminal: bool, encoding: str = "utf-8") -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(file=file, force_terminal=terminal, width=120)


def test_samples_keep_their_indentation_on_a_terminal_and_are_plain_in_a_pipe() -> None:
    arabic = "المجموعة الحديثة: العرب\n\nMODERN GROUP: Arabs"
    assert _sample(console(terminal=True), arabic).split("\n") == [
        "  \u2068المجموعة الحديثة: العرب\u2069",
        "  ",
        "  MODERN GROUP: Arabs",
    ]
    for plain in (console(terminal=False), console(terminal=True, encoding="latin-1")):
        assert _sample(plain, arabic) == "  المجموعة الحديثة: العرب\n  \n  MODERN GROUP: Arabs"
    # An isolate of the model's own is shown, so it cannot end ours.
    assert _sample(console(terminal=True), "عرب\u2069\u202e") == "  \u2068عرب\\u2069\\u202e\u2069"
    assert _sample(console(terminal=True), "") == _sample(console(terminal=True), " \n") == "  (empty)"
    assert _sample(console(terminal=True), "one\r\ntwo") == "  one\n  two"


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_a_long_sample_is_cut_and_stays_within_its_lines(text: str) -> None:
    lines = _sample(console(terminal=False), text * 100).split("\n")
    assert lines[-1].endswith("[...]")
    assert all(line.startswith("  ") for line in lines)
    assert sum(map(len, lines)) < 450


def cells(line: str) -> int:
    """Columns that a terminal gives to a line."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in line)


NAMES = ["阿拉伯人", "서양인들", "العرب", unicodedata.normalize("NFD", "Ả Rập"), "Western people"]


def test_tables_line_up_with_wide_and_right_to_left_names() -> None:
    labels = tuple(Label(f"l{place}", {"en": (name,)}) for place, name in enumerate(NAMES))
    form = Form("labels", (Slot("modern", {"forced": {"en": ("现代群体",)}}),), labels, conditions=("forced",))
    result: Any = SimpleNamespace(plan=SimpleNamespace(form=form, packs={}))

    def share(place: int, **cell: str) -> Score:
        cut = {"slot": "modern", "label": f"l{place}", **cell}
        return Score("label_share", place / 10, "share", 40, 40, "all", slice=cut)

    kinds: list[dict[str, str]] = [{}, {"language": "zh"}, {"category": "宗教"}, {"category": "الدين"}]
    shares = [share(place, **cell) for cell in kinds for place in range(len(labels))]
    shares.append(share(0, language="zh", category="宗教"))
    screen = Console(file=io.StringIO(), width=120, highlight=False)
    _share_table(screen, result, shares, "forced")
    file = screen.file
    assert isinstance(file, io.StringIO)
    lines = [line for line in file.getvalue().split("\n") if line.strip()][1:]
    assert len({cells(line) for line in lines}) == 1, "every line is as wide as the others"
    assert [line.split()[0] for line in lines[2:]] == ["现代群体", "zh", "宗教", "الدين"], "no language by category"
    assert {line.split()[2:7][-1] for line in lines[2:]} == {"40.0"}
