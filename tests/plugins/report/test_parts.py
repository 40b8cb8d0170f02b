"""The small parts: texts that are spelt out, charts that are tidied, plots without rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from biasfw_plugins.report.charts import Cell, Dot, dots, heat, step_colour
from biasfw_plugins.report.svg import tidy
from biasfw_plugins.report.texts import clean, cut, put


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\x00", "⟨U+0000⟩"),
        ("\ud835", "⟨U+D835⟩"),
        ("a\u2028b\u2066", "a⟨U+2028⟩b⟨U+2066⟩"),
        ("line\r\nline\ttab", "line\nline\ttab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("👩\u200d🔬 é 한국어", "👩\u200d🔬 é 한국어"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(text: str, seen: str) -> None:
    assert clean(text) == seen


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_can_be_written_as_utf_8_and_counts_what_is_left_out(text: str, limit: int) -> None:
    kept, left = cut(text, limit)
    kept.encode("utf-8")
    assert left == max(0, len(text) - limit)
    assert not set(kept) & set("\x00\x1b\u202e\u2066")


def test_what_is_put_into_markup_is_escaped() -> None:
    assert put("<b>{}</b>", "<i>\u202e") == Markup("<b>&lt;i&gt;⟨U+202E⟩</b>")
    assert put("<b>{}</b>", Markup("<i>x</i>")) == Markup("<b><i>x</i></b>")


def test_only_shapes_stay_in_a_chart() -> None:
    source = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="5" viewBox="0 0 10 5" onload="x()">'
        '<script>alert(1)</script><style>a{}</style><a href="javascript:x()"><text>no</text></a>'
        '<text x="1" style="fill:red" onclick="x()" fill="var(--ink)">a &lt;b&gt;</text><image href="http://x"/></svg>'
    )
    assert tidy(source, 'what "it" shows') == (
        '<svg role="img" aria-label="what &#34;it&#34; shows" width="10" viewBox="0 0 10 5">'
        '<text x="1" fill="var(--ink)">a &lt;b&gt;</text></svg>'
    )


def test_labels_from_a_bundle_stay_text_in_a_chart() -> None:
    name = "</text><script>alert(1)</script>\u202e"
    drawn = dots([Dot(name, 30.0, 20.0, 40.0), Dot(name, 50.0)], "two", domain=(0, 100))
    assert "<script" not in drawn
    assert "\u202e" not in drawn
    assert drawn.count("<path") > 3  # equal names still make two rows
    assert "&lt;script" in heat([Cell(name, name, "1", 0.0)], "one")


def test_steps_of_the_scale() -> None:
    assert [step_colour(level) for level in (None, 0.0, 0.1, 0.5, 9.0, -0.25, -9.0)] == [
        "var(--none)", "var(--even)", "var(--even)", "var(--more2)", "var(--more4)", "var(--less1)", "var(--less4)",
    ]  # fmt: skip
