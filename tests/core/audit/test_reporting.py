"""Judges against people: confusion, corrected shares, and what is said when there are too few labels."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from biasfw import RunConfig, UsageError
from biasfw.cli import app
from biasfw.engine import run
from biasfw.labelling.reporting import NOTE, label_report
from biasfw.labelling.work import draw_labels, import_labels
from biasfw.plugins import Plugins
from biasfw.prediction import corrected_share
from biasfw.verdicts import open_run

from .conftest import Stored

GROUPS = ["arabs", "western", "south_asians", "indians", "africans"]
JUDGE = "noisy-44444444"


def out(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments), standalone_mode=False, catch_exceptions=False).stdout


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 English topics, three answers each; people say what the rules say, and another judge errs in every third."""
    config = RunConfig(
        benchmark="debatebias", backend="reference", model="random", mode="generate", languages=("en",), repeats=3,
        runs=str(tmp_path_factory.mktemp("wide")),
    )  # fmt: skip
    stored = Stored(run(config).directory)
    draws = random.Random(1)

    def decide(at: int, slots: dict[str, Any]) -> dict[str, Any]:
        wrong = {"outcome": "answered", "value": draws.choice(GROUPS)}
        unread = {"outcome": "judge_unparsed"}
        return {slot: wrong if at % 3 == 0 else unread if at % 20 == 1 else reading for slot, reading in slots.items()}

    stored.judge(JUDGE, decide)
    return stored.path


@pytest.fixture
def labelled(wide: Path, tmp_path: Path, installed: Plugins) -> Stored:
    """24 of 40 prompts labelled by people."""
    stored = Stored(Path(shutil.copytree(wide, tmp_path / wide.name)))
    label(stored, 24, installed)
    return stored


def label(stored: Stored, n: int, installed: Plugins, seed: int = 0, rows: int | None = None) -> str:
    """Draw, write down what the rules read (the first letter for options), import."""
    sheet = stored.path.parent / f"people-{n}-{seed}.jsonl"
    draw = draw_labels(stored.path, n, seed, sheet, installed).draw
    truth = {row["response_key"]: row["slots"] for row in stored.read(stored.rules)}
    keys = {row.id: row.key for row in draw.rows}
    lines = [json.loads(line) for line in sheet.read_text(encoding="utf-8").splitlines()]
    for line in lines[:rows]:
        read = truth[keys[line["row"]]]
        line["labels"] = {slot: "A" if draw.letters else reading["value"] for slot, reading in read.items()}
    sheet.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    import_labels(stored.path, sheet)
    return draw.name


def part(document: dict[str, Any], judge: str, slot: str = "modern") -> dict[str, Any]:
    judged = next(each for each in document["judges"] if each["name"] == judge)
    return next(each for each in judged["slices"] if each["slot"] == slot)


def test_confusion_counts_the_labelled_rows(labelled: Stored) -> None:
    found = part(label_report(labelled.path), JUDGE)
    assert (found["language"], found["condition"], found["rows"], found["labelled"]) == ("en", "forced", 120, 72)
    assert sum(sum(counts.values()) for counts in found["confusion"].values()) == 72
    assert sum(counts.get("(not read)", 0) for counts in found["confusion"].values()) > 0
    right = sum(counts.get(person, 0) for person, counts in found["confusion"].items())
    assert found["judge_agrees"]["value"] == pytest.approx(right / 72)
    assert found["judge_agrees"]["clusters"] == 24


def test_shares_are_corrected(labelled: Stored) -> None:
    document = label_report(labelled.path)
    found, stored = part(document, JUDGE), open_run(labelled.path)
    people = {row["response_key"]: row["slots"]["modern"]["value"] for row in labelled.read(labelled.rules)}
    said = {row["response_key"]: row["slots"]["modern"].get("value") for row in labelled.read(JUDGE)}
    draw = json.loads(next((labelled.path / "labels").glob("draw-????????.json")).read_text(encoding="utf-8"))
    drawn = {row["key"] for row in draw["rows"]}
    for share in found["shares"]:
        expected = corrected_share(
            [float(said[row.key] == share["label"]) for row in stored.rows],
            [float(people[row.key] == share["label"]) if row.key in drawn else np.nan for row in stored.rows],
            [row.cluster for row in stored.rows],
            [row.category for row in stored.rows],
        )
        assert share["share"]["value"] == expected.estimate.mean
        assert share["share"]["interval"]["low"] == expected.estimate.low
        assert share["judge"] == pytest.approx(np.mean([value == share["label"] for value in said.values()]))
        assert share["labelled_prompts"] == 24
        rows = [key for key in said if key in drawn]
        assert share["confusion"]["both"] == sum(said[key] == people[key] == share["label"] for key in rows)
        assert share["confusion"]["judge_only"] == sum(said[key] == share["label"] != people[key] for key in rows)
        assert sum(share["confusion"].values()) == 72
    assert [share["label"] for share in found["shares"]][:5] == GROUPS
    corrected = [share for share in found["shares"] if "note" not in share]
    assert corrected, "ten prompts in disagreement are there"


def test_a_judge_that_people_agree_with_has_no_correction(labelled: Stored) -> None:
    found = part(label_report(labelled.path), labelled.rules)
    assert found["judge_agrees"]["value"] == 1
    for share in found["shares"]:
        assert share["note"].startswith("correction not estimable: 0 of at least 10")
        assert share["share"] == share["labels_only"]


def test_below_ten_labelled_prompts_nothing_is_said(wide: Path, tmp_path: Path, installed: Plugins) -> None:
    stored = Stored(Path(shutil.copytree(wide, tmp_path / wide.name)))
    label(stored, 9, installed)
    for share in part(label_report(stored.path), JUDGE)["shares"]:
        assert share["share"]["value"] is None
        assert share["share"]["reason"] == "9 of at least 10 labelled prompts"
        assert share["judge"] is not None
    assert "9 of at least 10 labelled prompts" in out("labels", "report", str(stored.path))


def test_tables_of_many_labels_fit_into_80_columns(labelled: Stored) -> None:
    text = out("labels", "report", str(labelled.path))
    lines = [line for line in text.splitlines() if line.startswith(" ")]
    assert lines
    assert max(map(len, lines)) <= 80
    assert "south_asians" in text


def test_a_part_of_the_labels_is_counted_and_said(wide: Path, tmp_path: Path, installed: Plugins) -> None:
    stored = Stored(Path(shutil.copytree(wide, tmp_path / wide.name)))
    label(stored, 30, installed, rows=48)
    document = label_report(stored.path)
    assert document["labels"] == {
        "rows": 90, "complete": 48, "by_slot_and_language": {"modern": {"en": 48}, "stereotyped": {"en": 48}},
    }  # fmt: skip
    assert part(document, JUDGE)["labelled"] == 48
    assert part(document, JUDGE)["shares"][0]["labelled_prompts"] == 16, "whole prompts from the top"
    text = out("labels", "report", str(stored.path))
    assert "48 of 90 responses labelled" in text
    assert "missing at random" in text


def test_of_several_draws_one_is_named(labelled: Stored, installed: Plugins) -> None:
    other = label(labelled, 12, installed, seed=9)
    with pytest.raises(UsageError, match="2 draws; name one with --draw"):
        label_report(labelled.path)
    assert label_report(labelled.path, other)["draw"]["prompts"] == 12
    with pytest.raises(UsageError, match="no draw 'draw-0'"):
        label_report(labelled.path, "draw-0")


def test_responses_that_came_later_do_not_count(labelled: Stored, installed: Plugins) -> None:
    before = label_report(labelled.path)
    config = RunConfig(
        benchmark="debatebias", backend="reference", model="random", mode="generate", languages=("en", "sw"), repeats=3,
        runs=str(labelled.path.parent),
    )  # fmt: skip
    assert run(config).directory == labelled.path
    after = label_report(labelled.path)
    assert part(after, JUDGE) == part(before, JUDGE)
    assert after["warnings"] == ["120 responses came after the draw; what stands here is of the 120 before it"]


def test_nothing_drawn_is_told(stored: Stored) -> None:
    with pytest.raises(UsageError, match="begin with: biasfw labels draw"):
        label_report(stored.path)


def test_options_are_counted_by_their_role(tmp_path: Path, installed: Plugins) -> None:
    config = RunConfig(benchmark="jubaku:demo", backend="reference", model="first", mode="generate", runs=str(tmp_path))
    stored = Stored(run(config).directory)
    label(stored, 20, installed)
    found = part(label_report(stored.path), stored.rules, "choice")
    assert set(found["confusion"]) == {"stereotyped", "anti-stereotyped"}
    shares = {share["label"]: share["share"]["value"] for share in found["shares"]}
    assert shares == {"stereotyped": pytest.approx(0.5), "anti-stereotyped": pytest.approx(0.5)}


def test_the_whole_way_on_the_command_line(wide: Path, tmp_path: Path) -> None:
    stored = Stored(Path(shutil.copytree(wide, tmp_path / wide.name)))
    sheet = tmp_path / "sheet.csv"
    text = out("labels", "draw", str(stored.path), "-n", "20", "--seed", "3", "-o", str(sheet))
    assert "20 source prompts, 60 responses" in text
    assert "at least one of each" in text
    again = ("labels", "draw", str(stored.path), "-n", "20", "--seed", "3", "-o", f"{sheet}.jsonl")
    strata = json.loads(out(*again, "--json"))
    assert Counter(stratum["drawn"] for stratum in strata["strata"]) == {5: 4}
    lines = sheet.read_text(encoding="utf-8-sig").replace('"","",""', '"arabs","western",""')
    sheet.write_text(lines, encoding="utf-8-sig", newline="")
    assert "120 of 120 labels are there" in out("labels", "import", str(stored.path), str(sheet))
    assert json.loads(out("labels", "import", str(stored.path), str(sheet), "--json"))["same"] == 120
    document = json.loads(out("labels", "report", str(stored.path), "--judge", "noisy", "--json"))
    assert document["note"] == NOTE
    assert part(document, JUDGE)["confusion"].keys() == {"arabs"}
    text = out("labels", "report", str(stored.path))
    for expected in (
        "with people's",
        "judge and labels",
        "people \\ judge",
        "alone",
        NOTE,
        "demo: machine-written",
    ):
        assert expected in text
