"""What a run in several languages prints and tells scripts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from biasfw import Form, Label, Request, Response, Score, Slot, Test
from biasfw.cli import app
from biasfw.cli._across import _contrasts
from biasfw_plugins.reference.backend import Reference

RUN = ["run", "--benchmark", "debatebias", "--backend", "reference", "--runs"]
LANGUAGES = {"en", "zh", "ar", "hi", "ko", "sw", "pcm"}
CATEGORIES = {"backwardness", "religion", "terrorism", "women_rights"}


def out(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.stdout


def block(text: str) -> list[str]:
    """The lines from "across languages" to the next blank line."""
    lines = text.split("\n")
    begin = next(place for place, line in enumerate(lines) if line.startswith("across languages"))
    return lines[begin : lines.index("", begin)]


def test_choices_of_28_items_cover_seven_languages_and_four_categories(tmp_path: Path) -> None:
    document = json.loads(out(*RUN, str(tmp_path), "--model", "random", "--mode", "choices", "--limit", "28", "--json"))
    assert document["status"] == "complete"
    assert document["selection"] == "28 of 280 items"
    assert document["responses"] == 56, "two conditions"
    shares = [s for s in document["scores"] if s["metric"] == "label_share"]
    both = {
        (s["slice"]["language"], s["slice"]["category"])
        for s in shares
        if {"language", "category"} <= s["slice"].keys()
    }
    assert both == {(language, category) for language in LANGUAGES for category in CATEGORIES}
    assert {
        s["slice"]["language"] for s in shares if "category" not in s["slice"] and "language" in s["slice"]
    } == LANGUAGES
    contrasts = [s for s in document["scores"] if s["metric"] == "language_contrast"]
    assert {s["slice"]["scoring"] for s in contrasts} == {"calibrated"}
    assert {s["slice"]["language"] for s in contrasts} == LANGUAGES - {"en"}
    assert {s["slice"]["category"] for s in contrasts if "category" in s["slice"]} == CATEGORIES
    assert not [s for s in document["scores"] if s["metric"] == "answer_language"], "nothing is written"


def test_rows_by_language_and_by_category_but_not_by_both(tmp_path: Path) -> None:
    text = out(*RUN, str(tmp_path), "--model", "first", "--limit", "28")
    table = text[text.index("forced: share of all responses") : text.index("across languages")]
    rows = ["en English", "zh Chinese", "ar Arabic", "hi Hindi", "ko Korean", "sw Swahili", "pcm Nigerian Pidgin"]
    shown = [line.strip().split(" (")[0] for line in table.split("\n")]
    for name in (*rows, *CATEGORIES):
        assert shown.count(name) == 2, name
    assert not [name for name in shown if any(c in name for c in CATEGORIES) and name not in CATEGORIES]


def test_no_difference_between_languages(tmp_path: Path) -> None:
    lines = block(out(*RUN, str(tmp_path), "--model", "first"))
    assert lines == [
        "across languages, forced: differences of shares of all responses from en English, in points, "
        "paired by source; Holm over 60 tests",
        "  MODERN GROUP: no difference can be shown (40 clusters)",
        "  STEREOTYPED GROUP: no difference can be shown (40 clusters)",
        "  answers, forced, in the script of the language asked for, %: zh 100.0  ar 100.0  hi 100.0  ko 100.0; "
        "not assessed: en, sw, pcm",
    ]


@pytest.fixture
def partial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arabic and Swahili turn the reference pairs round, Swahili refuses some, half of the Hindi is English."""

    def answer(self: Reference, request: Request) -> Response:
        source, language = request.item_id.split("/")[:2]
        said = dict(request.references or {})
        text = said["first"]
        if language == "ar":
            text = said["anti-stereotyped"]
        elif language == "sw":
            text = said["refuses"] if source.endswith("1") else said["anti-stereotyped"]
        elif language == "hi" and int(source[-1]) % 2:
            text = "MODERN GROUP: Arabs\nSTEREOTYPED GROUP: Western\n\nModerator: welcome to our debate."
        return Response(request.key, text=text, finish_reason="stop")

    monkeypatch.setattr(Reference, "_answer", answer)


@pytest.mark.usefixtures("partial")
def test_differences_that_can_be_shown_come_with_interval_p_and_bounds(tmp_path: Path) -> None:
    lines = block(out(*RUN, str(tmp_path), "--model", "first"))
    modern, stereotyped = lines.index("  MODERN GROUP:"), lines.index("  STEREOTYPED GROUP:")
    arabic = [line for line in lines[stereotyped:] if line.startswith("    ar Arabic: Western")]
    assert len(arabic) == 1
    assert arabic[0].startswith("    ar Arabic: Western +80.0 (95 % interval +67.0 to +93.0; Holm p = 0.00")
    assert "missing" not in arabic[0]
    swahili = next(line for line in lines[stereotyped:] if line.startswith("    sw Swahili: Western"))
    assert "with the missing answers +70.0 to +80.0" in swahili
    assert not [line for line in lines[modern:stereotyped] if "Western +" in line]
    assert not [line for line in lines if line.startswith("    ko Korean")]
    assert "hi 50.0" in lines[-1]


def test_differences_within_categories_are_counted() -> None:
    def contrast(p: float, **cell: str) -> Score:
        cut = {"slot": "modern", "condition": "forced", "language": "ar", "against": "en", "label": "arabs", **cell}
        test = Test("no difference", "sign-flip", p, p_adjusted=p)
        return Score("language_contrast", 0.5, "share", 60, 60, "all", slice=cut, test=test, bounds=(0.5, 0.5))

    scores = [contrast(0.2), contrast(0.01, category="religion"), contrast(0.3, category="terrorism")]
    form = Form("labels", (Slot("modern"),), (Label("arabs", {}),))
    result: Any = SimpleNamespace(plan=SimpleNamespace(form=form, packs={}))
    screen = Console(file=io.StringIO(), width=200)
    _contrasts(screen, result, scores)
    assert isinstance(screen.file, io.StringIO)
    said = screen.file.getvalue()
    assert "modern: no difference can be shown (60 clusters)" in said
    assert "within single categories 1 of 2 differ (Holm); they are in scores/" in said


def test_raw_likelihood_shares_are_not_compared(tmp_path: Path) -> None:
    arguments = ["--model", "first", "--mode", "choices", "--condition", "forced", "--limit", "28"]
    (line,) = block(out(*RUN, str(tmp_path), *arguments))
    assert line.startswith(
        "across languages, forced: not compared (likelihood shares are compared between languages only"
    )


def test_a_run_in_one_language_says_nothing_about_others(tmp_path: Path) -> None:
    text = out(*RUN, str(tmp_path), "--model", "random", "--language", "ar", "--limit", "8")
    assert "across languages" not in text
    assert "answer_language" not in text
    assert "ar Arabic" not in text
    assert "المجموعة" in text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp932"])
def test_a_terminal_without_the_characters_gets_escapes_and_valid_json(tmp_path: Path, encoding: str) -> None:
    command = [
        sys.executable,
        "-m",
        "biasfw",
        *RUN,
        str(tmp_path),
        "--model",
        "random",
        "--language",
        "ar",
        "--limit",
        "4",
    ]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    shown = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=120)
    assert shown.returncode == 0, shown.stderr
    assert rb"\u0627\u0644\u0645" in shown.stdout
    dry = subprocess.run(
        [*command, "--dry-run", "--json"], capture_output=True, check=False, env=environment, timeout=120
    )
    document = json.loads(dry.stdout.decode(encoding))
    assert "المجموعة" in document["samples"][0]["messages"][0]["content"]
