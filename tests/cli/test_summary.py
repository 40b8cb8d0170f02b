"""What a person reads at the end of a run: nothing that misleads, hints that fit, 80 columns."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from biasfw import Form, Label, Request, Response, ResponseError, RunConfig, Slot
from biasfw.cli import _labels, _summary, app
from biasfw.engine import RunResult, run
from biasfw_plugins.reference.backend import Reference

RUN = ["run", "--benchmark", "debatebias", "--backend", "reference", "--language", "en", "--quiet", "--runs"]


def out(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.stdout


def ran(tmp_path: Path, **given: Any) -> RunResult:
    values = {"benchmark": "debatebias", "backend": "reference", "model": "random", "languages": ("en",)}
    return run(RunConfig(**{**values, "runs": str(tmp_path), **given}))


def at_80(result: RunResult, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The summary as an 80-column terminal without colours shows it."""
    file = io.StringIO()
    screen = Console(file=file, width=80, highlight=False, color_system=None, force_terminal=True)
    monkeypatch.setattr(_summary, "Console", lambda **_: screen)
    _summary.print_summary(result)
    return [line.rstrip() for line in file.getvalue().split("\n")]


def says(monkeypatch: pytest.MonkeyPatch, **response: Any) -> None:
    """The reference model answers this, whatever it is asked."""
    monkeypatch.setattr(Reference, "_answer", lambda _, request: Response(request.key, **response))


@pytest.mark.parametrize("given", [{"preset": "contrast"}, {"preset": "quick"}, {"mode": "choices", "languages": None}])
def test_nothing_is_wider_than_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    lines = at_80(ran(tmp_path, **given), monkeypatch)
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines), "no name is cut"


def test_the_heading_names_what_was_loaded_and_how_much_was_asked(tmp_path: Path) -> None:
    result = ran(tmp_path, preset="quick")
    loaded = {"model": "/models/Real-1B.Q8_0.gguf", "quantisation": "Q8_0", "dtype": "bfloat16"}
    file = io.StringIO()
    _summary._heading(Console(file=file, width=300), dataclasses.replace(result, identity=loaded))
    shown = file.getvalue()
    assert "model: Real-1B.Q8_0.gguf (Q8_0, bfloat16)   backend: reference   mode: choices" in shown
    assert "asked: 8 of 40 topics, 2 conditions (forced, neutral), 1 language (en), 8 of 280 items, 16 resp" in shown


def test_the_headline_is_for_both_slots_and_the_most_uneven_category(tmp_path: Path) -> None:
    text = out(*RUN, str(tmp_path), "--model", "stereotyped")
    head = text[text.index("label_uniformity") : text.index("forced: share")]
    assert re.findall(r"^  (\S.*?): \d", head, re.MULTILINE) == [
        "STEREOTYPED GROUP, forced", "MODERN GROUP, forced", "most uneven: backwardness, STEREOTYPED GROUP, forced",
    ]  # fmt: skip
    assert "in 95 of 100 cases at most 20.0 %" in head
    assert text.count("95 % intervals of shares: clustered proportion") == 1
    assert text.count("95 % intervals of label_uniformity: ") == 1


def test_few_clusters_are_not_compared(tmp_path: Path) -> None:
    text = out(*RUN, str(tmp_path), "--model", "random", "--limit", "1")
    assert "1 cluster, too few to compare with chance" in text
    assert "asked: 1 of 40 topics, 1 condition (forced), 1 language (en), 1 of 280 items, 1 response" in text
    for words in ("chance alone", "p = ", "most uneven", "stands out", "1 clusters", "1 responses"):
        assert words not in text


def test_contrasts_of_conditions_and_declines_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(self: Reference, request: Request) -> Response:
        said = dict(request.references or {})
        condition = request.item_id.split("/")[2]
        optional = "MODERN GROUP: none of them\nSTEREOTYPED GROUP: none of them"
        text = {"forced": said["stereotyped"], "optional": optional, "neutral": said["first"]}[condition]
        return Response(request.key, text=text, finish_reason="stop")

    monkeypatch.setattr(Reference, "_answer", answer)
    text = out(*RUN, str(tmp_path), "--model", "first", "--preset", "contrast")
    assert "\nforced minus neutral: differences of shares of all responses, in points, paired by source" in text
    assert re.search(
        r"^  MODERN GROUP minus EXPERT 1 GROUP:\n(    .*\n)*    Western \+80\.0 \(95 % interval", text, re.M
    )
    declined = re.findall(r"^  (.*): declined (\S+) % \[\S+, \S+\] of 40 responses$", text, re.MULTILINE)
    assert declined == [("MODERN GROUP", "100.0"), ("STEREOTYPED GROUP", "100.0")], "only where it was offered"
    neutral = text[text.index("neutral: share") : text.index("forced minus neutral")]
    assert not re.search("modern|stereotyped", neutral, re.IGNORECASE), "the values were not told there"


def test_without_anything_answered_the_share_of_what_is_not_is_100(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(self: Reference, request: Request) -> Response:
        text = dict(request.references or {})["refuses" if "religion" in request.item_id else "first"]
        return Response(request.key, text=text, finish_reason="stop")

    monkeypatch.setattr(Reference, "_answer", answer)
    text = out(*RUN, str(tmp_path), "--model", "first")
    rows = [line.split() for line in text.split("\n") if line.startswith("   religion (")]
    assert [row[2:] for row in rows] == [["-"] * 5 + ["100.0"]] * 2


@pytest.mark.parametrize(
    ("response", "there", "not_there"),
    [
        (
            {"text": "I'm sorry, but I can't help with that.", "finish_reason": "stop"},
            ["16 refused", "not a matter of the answer format", "--mode choices"], ["max-tokens", "biasfw parse"],
        ),
        (
            {"text": "Well then", "finish_reason": "length"},
            ["16 truncated", "256 new tokens, as many as the benchmark asks for", "--max-tokens"], ["biasfw parse"],
        ),
        (
            {"text": "Let us begin.", "finish_reason": "stop"},
            ["16 unparsed", "biasfw parse", "--mode choices", "format was kept in 0 of 8"], ["max-tokens", "refuse."],
        ),
    ],
)  # fmt: skip
def test_hints_fit_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, response: dict[str, Any], there: list[str], not_there: list[str]
) -> None:
    says(monkeypatch, **response)
    text = out(*RUN, str(tmp_path), "--model", "first", "--limit", "8")
    text = text[: text.index("Two responses")]
    assert "Most slots are not answered: 16 of 16" in text
    for words in there:
        assert words in text
    for words in not_there:
        assert words not in text


@pytest.mark.parametrize(
    ("given", "words", "not_there"),
    [
        ((), " 10 new tokens, as many as the benchmark asks for.\n  --max-tokens gives more; say so", "give more with"),
        (("--max-tokens", "40"), " 40 new tokens; give more with --max-tokens.\n", "the benchmark asks for"),
    ],
)  # fmt: skip
def test_more_tokens_than_the_benchmark_asks_for_are_another_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], words: str, not_there: str
) -> None:
    says(monkeypatch, text="...", finish_reason="length")
    run = ("run", "--benchmark", "jubaku:demo", "--backend", "reference", "--model", "first", "--mode", "generate")
    text = out(*run, "--limit", "8", "--runs", str(tmp_path), *given)
    assert words in text
    assert not_there not in text


@pytest.mark.parametrize(
    ("permanent", "words"),
    [(True, "asking again cannot help"), (False, "the same command asks them again")],
)
def test_failures_say_why_and_promise_nothing_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, permanent: bool, words: str
) -> None:
    says(monkeypatch, error=ResponseError("context_too_small", "needs 900 tokens", permanent=permanent))
    result = ran(tmp_path, mode="choices", limit=8)
    file = io.StringIO()
    monkeypatch.setattr(_summary, "Console", lambda **_: Console(file=file, width=200))
    _summary.print_summary(result)
    text = file.getvalue()
    assert f"incomplete: 16 of 16 responses failed; {words}\n  16 times: needs 900 tokens\n" in text
    assert "mean per token" not in text, "nothing was scored"


def test_positions_that_are_not_balanced_or_decide_are_told(tmp_path: Path) -> None:
    text = out(*RUN, str(tmp_path), "--model", "first", "--limit", "8")
    assert "positions are not balanced in this selection" in text
    assert "position 1 takes 100.0 % of the picks" in text
    whole = out(*RUN, str(tmp_path), "--model", "stereotyped")
    assert "positions are not balanced" not in whole
    assert "of the picks" not in whole


def test_scores_that_are_kept_are_named(tmp_path: Path) -> None:
    out(*RUN, str(tmp_path), "--model", "random")
    text = out(*RUN, str(tmp_path), "--model", "random", "--limit", "8", "--metric", "decline_rate")
    (file,) = re.findall(r"^scores: (\S+)$", text, re.MULTILINE)
    kept = re.findall(r"^  kept beside it: (\S+) \((.*)\)$", text, re.MULTILINE)
    assert [about for _, about in kept] == ["40 of 280 items; en"]
    directory = next(tmp_path.iterdir())
    for name in (file, kept[0][0]):
        assert json.loads((directory / name).read_text(encoding="utf-8"))["selection"]
    assert file != kept[0][0]


def test_names_are_shown_in_the_first_language_where_there_is_no_english() -> None:
    slot = Slot("modern", {"forced": {"sw": ("KIKUNDI CHA KISASA",), "tr": ("MODERN GRUP",)}})
    label = Label("arabs", {"sw": ("Waarabu",), "tr": ("Araplar",)})
    form = Form("labels", (slot,), (label,), languages=("tr", "sw"), conditions=("forced",))
    assert (form.shown_in, label.name(form.shown_in), slot.header("forced", form.shown_in)) == (
        "tr", "Araplar", "MODERN GRUP",
    )  # fmt: skip
    assert dataclasses.replace(form, languages=("sw", "en")).shown_in == "en"
    assert (label.name("en"), Label("x", {}).name("en")) == ("Waarabu", "x")


def test_every_task_that_the_schema_knows_is_printed_by_somebody() -> None:
    assert set(_summary.BODIES) >= {"labels"}
    assert _summary.BODIES["labels"] is _labels.print_labels


def test_chance_and_p_stand_beside_the_picks_that_they_are_about(tmp_path: Path) -> None:
    """By likelihood there are two numbers: the value, and that of the most likely answers, which alone was tested."""
    text = out(*RUN, str(tmp_path), "--model", "first", "--mode", "choices")
    picks = [line for line in text.splitlines() if "the most likely answers alone: " in line]
    assert picks
    for line in text.splitlines():
        if "by likelihood" in line:
            assert line.strip() == "by likelihood; it is not compared with chance"
        if "chance alone gives" in line:
            assert line in picks, line
    assert any(re.search(r"alone: [\d.]+ %, where chance alone gives [\d.]+ %.*; p = ", line) for line in picks)
