"""The page over many runs: who is ranked, who stands apart, and that nothing on it acts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import UsageError
from biasfw.leaderboard import Board, Leaderboard, leaderboard
from biasfw.leaderboard.boards import chance
from biasfw.leaderboard.entries import is_model
from biasfw.leaderboard.order import order
from biasfw.leaderboard.page import page
from biasfw.plugins import Plugins

Put = Callable[..., None]
run_of_nothing: Any = None  # where only scores count


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> dict[str, Path]:
    """Runs of reference models by name."""
    folder = tmp_path_factory.mktemp("known")
    configs = {
        "fair": ("jubaku:demo", "anti-stereotyped", "choices"),
        "random": ("jubaku:demo", "random", "choices"),
        "first": ("jubaku:demo", "first", "choices"),
        "debates": ("debatebias", "random", "choices"),
        "top": ("debatebias", "first", "choices"),
        "spoken": ("debatebias", "random", "generate"),
    }
    return {
        name: run(RunConfig(benchmark, "reference", model=model, mode=mode, runs=str(folder)), installed).directory
        for name, (benchmark, model, mode) in configs.items()
    }


@pytest.fixture
def put(known: dict[str, Path], tmp_path: Path) -> Put:
    """Copy a known run, as if another model had made it; one that can do the task (a random one cannot) unless told."""

    def copied(of: str, model: str, backend: str = "openai", *, unable: bool = False, **changes: Any) -> None:
        target = tmp_path / "runs" / f"{len(list(tmp_path.glob('runs/*')))}-{of}"
        shutil.copytree(known[of], target)
        info = json.loads((target / "run.json").read_text())
        info["config"] |= {"model": model, "backend": backend}
        (target / "run.json").write_text(json.dumps(info | changes))
        for file in () if unable else target.glob("scores/*.json"):
            document = json.loads(file.read_text())
            for score in document["scores"]:
                if str(score.get("reason")).startswith("not interpretable"):
                    score["reason"] = None
            file.write_text(json.dumps(document))

    return copied


@pytest.fixture
def board(tmp_path: Path, installed: Plugins) -> Callable[[], Leaderboard]:
    return lambda: leaderboard(tmp_path / "runs", installed)


def only(found: Leaderboard) -> Board:
    (one,) = found.boards
    return one


def test_ties_are_ties(put: Put, board: Callable[[], Leaderboard]) -> None:
    put("random", "one")
    put("random", "two")
    put("fair", "three")
    found = only(board())
    assert [(each.model, each.best, each.worst) for each in found.ranked] == [
        ("three", 1, 1),
        ("one", 2, 3),
        ("two", 2, 3),
    ]
    assert "2 to 3" in page(board())


def test_the_number_is_that_of_the_scores(put: Put, board: Callable[[], Leaderboard], known: dict[str, Path]) -> None:
    put("random", "one")
    (entry,) = only(board()).ranked
    info = json.loads((known["random"] / "run.json").read_text())
    scores = json.loads((known["random"] / list(info["scored"])[-1]).read_text())["scores"]
    (score,) = [
        each for each in scores
        if each["metric"] == "accuracy" and each["denominator"] == "all" and each["slice"] == {"condition": "reply"}
    ]  # fmt: skip
    assert (entry.value, entry.low, entry.high) == (
        score["value"], score["interval"]["low"], score["interval"]["high"],
    )  # fmt: skip


def test_what_was_measured_otherwise_stands_in_another_table(
    put: Put, board: Callable[[], Leaderboard], known: dict[str, Path]
) -> None:
    protocol = json.loads((known["random"] / "run.json").read_text())["protocol"]
    put("random", "one")
    put("random", "two", protocol={**protocol, "frames": "0" * 64})
    put("debates", "three")
    assert [len(each.ranked) for each in board().boards] == [1, 1, 1]


def test_labels_are_ranked_by_their_distance_from_uniform_where_intervals_tell(
    put: Put, board: Callable[[], Leaderboard], tmp_path: Path
) -> None:
    for model in ("one", "far off", "two", "silent"):
        put("debates", model)
    changed = {"far off": (0.65, 0.6, 0.7), "silent": (None, None, None)}
    for folder in (tmp_path / "runs").iterdir():
        info = json.loads((folder / "run.json").read_text())
        file = folder / list(info["scored"])[-1]
        document = json.loads(file.read_text())
        for score in document["scores"] if info["config"]["model"] in changed else ():
            if score["metric"] == "label_uniformity":
                value, low, high = changed[info["config"]["model"]]
                score |= {"value": value, "interval": {"low": low, "high": high, "method": ""}, "bounds": None}
        file.write_text(json.dumps(document))
    for found in board().boards:
        assert found.order.startswith("Ranks are the places that a run may have; a lower value is better")
        assert {each.model: (each.best, each.worst) for each in found.ranked} == {
            "one": (1, 2), "two": (1, 2), "far off": (3, 3), "silent": (None, None),
        }  # fmt: skip
        assert found.ranked[-1].model == "silent"
    text = page(board())
    assert "a lower value is better" in text
    assert "1 to 2" in text
    assert "no interval" in text


def test_a_measure_without_a_better_side_is_not_ranked() -> None:
    score = {"metric": "choice_share", "value": 0.5, "clusters": 40, "interval": {"low": 0.4, "high": 0.6}}
    found = order([(run_of_nothing, "rules", score)] * 2, "plain")
    assert found.ranks == {}
    assert found.said == "The runs are not ranked: no value of this measure is declared better than another"


def ranked(direction: str, spans: list[tuple[float, float]], **fields: Any) -> list[tuple[int, int]]:
    scores = [
        {"metric": "m", "value": (low + high) / 2, "clusters": 40, "direction": direction,
         "interval": {"low": low, "high": high}, **fields}
        for low, high in spans
    ]  # fmt: skip
    found = order([(run_of_nothing, "rules", score) for score in scores], "plain")
    return [found.ranks[place] for place in range(len(spans))]


def test_ranks_by_intervals_are_ties_until_they_hold_together() -> None:
    apart = [(0.1, 0.2), (0.4, 0.5), (0.7, 0.8)]
    assert ranked("higher", apart) == [(3, 3), (2, 2), (1, 1)]
    assert ranked("lower", apart) == [(1, 1), (2, 2), (3, 3)]
    assert ranked("toward-ideal", apart, ideal=0.45) == [(2, 3), (1, 1), (2, 3)]
    assert ranked("higher", [(0.1, 0.2), (0.201, 0.3)]) == [(1, 2), (1, 2)], "each alone they do not touch"
    assert ranked("higher", [(0.1, 0.2), (0.4, 0.5)], bounds=(0.1, 0.9)) == [(1, 2), (1, 2)], (
        "the missing could undo it"
    )


def test_a_run_that_is_locked_on_a_position_stands_apart(put: Put, board: Callable[[], Leaderboard]) -> None:
    put("random", "one")
    put("first", "two")
    found = only(board())
    assert [each.model for each in found.ranked] == ["one"]
    ((why, (entry,)),) = found.apart
    assert entry.model == "two"
    assert why.startswith("Position-locked")


def test_a_run_that_picks_by_place_in_the_list_is_not_the_fairest(put: Put, board: Callable[[], Leaderboard]) -> None:
    """Every group then gets its even share: the best value there is, of a model that never looks at groups."""
    put("debates", "one")
    put("top", "by place")
    for found in board().boards:
        assert [each.model for each in found.ranked] == ["one"]
        ((why, (entry,)),) = found.apart
        assert entry.model == "by place"
        assert why.startswith("Position-locked: one position of the list is picked whatever group stands there")
        assert any("takes 100.0 % of the picks: perhaps its place, not the group" in each for each in entry.remarks)
        assert found.metric.startswith("distance from an even pick"), "as in reports; 0 % is no uniformity of 0"


def test_most_picks_at_one_place_are_told_beside_the_rank(
    put: Put, board: Callable[[], Leaderboard], tmp_path: Path
) -> None:
    put("top", "by place")
    for_all_scores(tmp_path / "runs", "position_rate", lambda score: score | {"value": 0.7 * score["value"]})
    for found in board().boards:
        (entry,) = found.ranked
        assert len(entry.remarks) == len(set(entry.remarks)) == 2, "one for each slot"
        assert any("takes 70.0 % of the picks: perhaps its place, not the group" in each for each in entry.remarks)


def for_all_scores(folder: Path, metric: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    for file in folder.glob("*/scores/*.json"):
        document = json.loads(file.read_text())
        document["scores"] = [change(each) if each["metric"] == metric else each for each in document["scores"]]
        file.write_text(json.dumps(document))


def test_a_run_that_cannot_do_the_task_stands_apart(put: Put, board: Callable[[], Leaderboard]) -> None:
    put("random", "one", unable=True)
    put("random", "two")
    found = only(board())
    assert [each.model for each in found.ranked] == ["two"]
    ((why, (entry,)),) = found.apart
    assert (entry.model, entry.best) == ("one", None)
    assert why.startswith("Not interpretable")


def test_where_all_stand_apart_nothing_is_said_of_the_measure_and_chance_stays(
    put: Put, board: Callable[[], Leaderboard]
) -> None:
    put("random", "random", backend="reference")
    put("spoken", "random", backend="reference")
    found = board()
    assert {each.order for each in found.boards} == {"No run is ranked: all stand apart"}
    text = page(found)
    assert "is chance, 50.0 %" in text
    assert "Chance alone gives" in text
    assert "No run is ranked: all stand apart." in text


def test_calibrated_likelihoods_stand_in_the_table_as_in_the_headline_of_a_report(
    put: Put, board: Callable[[], Leaderboard], tmp_path: Path
) -> None:
    put("debates", "one")
    for file in (tmp_path / "runs").glob("*/scores/*.json"):
        document = json.loads(file.read_text())
        ways: list[dict[str, Any]] = []
        for score in document["scores"]:
            if score["metric"] == "label_uniformity":
                raw, calibrated = ({**score["slice"], "scoring": way} for way in ("raw", "calibrated"))
                ways += [score | {"slice": raw, "value": 0.3}, score | {"slice": calibrated, "value": 0.1}]
        document["scores"] = ways
        file.write_text(json.dumps(document))
    for found in board().boards:
        assert [(each.model, each.value) for each in found.ranked] == [("one", 0.1)]
        assert "scoring calibrated" in found.metric


def test_rules_incomplete_runs_and_models_of_the_builders_stand_apart(
    put: Put, board: Callable[[], Leaderboard], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("random", "openai/GPT-4o-2024-08-06")
    put("random", "gpt-4o-mini")
    put("random", "random", backend="reference")
    put("random", "cut short", status="incomplete")
    from biasfw import splits  # noqa: PLC0415 - the demo set has no such models: lend it one

    of_split = splits.of_split
    monkeypatch.setattr(
        splits, "of_split",
        lambda manifest, split: {
            **of_split(manifest, split), "authorship": {**manifest["authorship"], "models": ["GPT-4o"]}
        },
    )  # fmt: skip
    found = only(board())
    (ranked,) = found.ranked
    assert ranked.model == "gpt-4o-mini"
    assert any("named like GPT-4o" in remark for remark in ranked.remarks)
    reasons = {rows[0].model: why for why, rows in found.apart}
    assert set(reasons) == {"openai/GPT-4o-2024-08-06", "random", "cut short"}
    assert reasons["openai/GPT-4o-2024-08-06"].startswith("Used while the benchmark was built (GPT-4o)")


@pytest.mark.parametrize(
    ("model", "same"),
    [
        ("gpt-4o", True),
        ("GPT-4o-2024-08-06", True),
        ("org/gpt-4o-latest", True),
        ("gpt-4o-mini", False),
        ("gpt-4", False),
    ],
)
def test_names_of_models(model: str, same: bool) -> None:
    assert is_model(model, "GPT-4o") is same


def test_demo_sets_stand_below_official_ones_and_are_marked(
    put: Put, board: Callable[[], Leaderboard], known: dict[str, Path]
) -> None:
    benchmark = json.loads((known["random"] / "run.json").read_text())["benchmark"]
    put("random", "one")
    put("random", "two", benchmark={**benchmark, "demo": False})
    text = page(board())
    assert text.index("Official sets") < text.index("Demo sets") < text.index("Demo set: machine-written")


def test_nothing_on_the_page_acts(put: Put, board: Callable[[], Leaderboard]) -> None:
    put("random", "<img src=x onerror=alert(1)>\u202e</bdi>")
    text = page(board())
    assert "<img" not in text
    assert "<script" not in text
    assert "\u202e" not in text
    assert "default-src &#39;none&#39;" in text
    assert 'href="' not in text
    assert "biasfw canary" in text


def test_what_has_no_scores_is_left_out_with_a_reason(
    put: Put, board: Callable[[], Leaderboard], tmp_path: Path
) -> None:
    put("random", "one")
    put("random", "two", scored={})
    put("random", "cut short", scored={}, status="running")
    put("random", "a part")
    part = tmp_path / "runs" / "3-random"
    info = json.loads((part / "run.json").read_text())
    (file,) = info["scored"]
    info["scored"][file] |= {"selection": "12 of 336 items", "filters": {"limit": 12}}
    (part / "run.json").write_text(json.dumps(info))
    (part / file).write_text(json.dumps(json.loads((part / file).read_text()) | {"filters": {"limit": 12}}))
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "run.json").write_text("{")
    found = board()
    reasons = {Path(path).name: why for path, why in found.left_out}
    assert reasons["1-random"] == f"no scores; run: biasfw score {tmp_path / 'runs' / '1-random'}"
    assert "responses are there; the command that made it goes on where it stopped" in reasons["2-random"]
    assert reasons["2-random"].startswith("interrupted: ")
    assert "only a part of the benchmark was asked or scored (12 of 336 items)" in reasons["3-random"]
    assert "without --limit does" in reasons["3-random"]
    assert "is damaged" in reasons["damaged"]
    assert len(only(found).ranked) == 1


def test_a_folder_without_runs(tmp_path: Path, installed: Plugins) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        leaderboard(tmp_path, installed)
    with pytest.raises(UsageError, match="is no folder"):
        leaderboard(tmp_path / "no", installed)


def test_what_chance_alone_gives_stands_beside_distances_of_picks_not_of_likelihoods() -> None:
    score = {"slice": {"condition": "forced"}, "test": {"null_mean": 0.124, "null_q95": 0.2}}
    assert chance(score) == "Chance alone gives 12.4 %, in 95 of 100 cases at most 20.0 %"
    assert not chance({**score, "slice": {"scoring": "raw"}})
    assert not chance({"slice": {}})
