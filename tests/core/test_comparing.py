"""Comparing stored runs of models whose answers are known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from biasfw.cli._comparison import lines
from biasfw.codec import encode
from biasfw.comparing import Asking, Comparison, MeasureError, compare, words
from biasfw.comparing.claims import settled
from biasfw.comparing.means import Scores, margin_of, mean_difference, table_difference
from biasfw.comparing.page import page
from biasfw.comparing.planning import plan
from biasfw.comparing.results import BOTH_LOCKED, Difference
from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import UsageError
from biasfw.plugins import Plugins
from biasfw.rescoring import judge

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Make:
    """A run of a reference model; the same arguments give the same run."""
    folder = tmp_path_factory.mktemp("runs")

    def made(model: str, benchmark: str = "jubaku:demo", mode: str = "choices", **options: Any) -> Path:
        config = RunConfig(benchmark, "reference", model=model, mode=mode, runs=str(folder), **options)
        return run(config, installed).directory

    return made


def compared(*paths: Path, asking: Asking | None = None, **options: Any) -> Comparison:
    return compare(paths, Plugins.installed(), asking, allow_demo=True, **options)


def overall(found: Comparison) -> Difference:
    return found.pairs[0].questions[0].overall


def accuracy(path: Path) -> float:
    info = json.loads((path / "run.json").read_text())
    scores = json.loads((path / list(info["scored"])[-1]).read_text())["scores"]
    return next(
        float(s["value"])
        for s in scores
        if s["metric"] == "accuracy" and s["denominator"] == "all" and s["slice"] == {"condition": "reply"}
    )


def test_the_difference_is_that_of_the_scores(make: Make) -> None:
    a, b = make("random"), make("anti-stereotyped")
    found = overall(compared(a, b))
    assert found.a == pytest.approx(accuracy(a))
    assert found.b == pytest.approx(accuracy(b)) == 1.0
    assert found.value == pytest.approx(accuracy(a) - accuracy(b))
    assert found.interval is not None
    assert found.interval.low is not None
    assert found.interval.high is not None
    assert found.value is not None
    assert found.interval.low < found.value < found.interval.high < 0
    assert found.shown == "lower"
    assert found.clusters == 42, "controls are not compared"
    assert found.detectable is not None


def test_what_is_compared_is_the_model(make: Make) -> None:
    pair = compared(make("random"), make("first")).pairs[0]
    assert [each.what for each in pair.treatment] == ["model", "fingerprint"]
    assert pair.left_out == ()


def test_the_prompt_style_is_a_treatment(make: Make) -> None:
    pair = compared(make("first"), make("first", prompt_style="raw")).pairs[0]
    assert [(each.what, each.a, each.b) for each in pair.treatment] == [("prompt style", "chat", "raw")]
    assert pair.questions[0].overall.value == 0
    assert pair.questions[0].overall.reason == BOTH_LOCKED
    assert pair.questions[0].flips == ()


def test_flips_by_hand(make: Make) -> None:
    question = compared(make("stereotyped"), make("anti-stereotyped")).pairs[0].questions[0]
    assert question.counts == {
        "both right": 0,
        "only the first right": 0,
        "only the second right": 336,
        "both wrong": 0,
        "not answered in at least one": 0,
    }
    assert len(question.flips) == 336
    assert {flip.b == flip.gold for flip in question.flips} == {True}


def test_another_mode_is_another_measure(make: Make) -> None:
    with pytest.raises(MeasureError, match="cannot be compared") as refused:
        compared(make("random"), make("random", mode="generate"), force_common=True)
    assert "mode" in [each.what for each in refused.value.unlike]


def test_another_benchmark_is_another_measure(make: Make) -> None:
    with pytest.raises(MeasureError, match="cannot be compared") as refused:
        compared(make("random"), make("random", "debatebias"))
    assert str(refused.value.unlike[0]) == "benchmark: jubaku:demo / debatebias:demo"


def test_other_items_are_refused_with_the_list_and_compared_by_force(make: Make) -> None:
    a, b = make("random"), make("anti-stereotyped", limit=80, seed=1)
    with pytest.raises(MeasureError, match=r"--force-common compares what they have in common \(8\d responses\)") as no:
        compared(a, b)
    (unlike,) = (each for each in no.value.unlike if each.what.startswith("items"))
    assert unlike.b == "none"
    assert "in all)" in unlike.a
    found = compared(a, b, force_common=True)
    assert found.forced
    assert overall(found).n < 336
    assert "not measured alike" in page(found)


def changed(path: Path, folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a run in which ``change`` was done to every record of a file."""
    copy = folder / f"changed-{name}"
    shutil.copytree(path, copy)
    file = copy / name
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        change(row)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return copy


def test_a_changed_item_or_prompt_is_found_and_left_out(make: Make, tmp_path: Path) -> None:
    def other_gold(row: dict[str, Any]) -> None:
        if row["source_id"].endswith("01"):
            row["gold"] = "biased"

    def other_prompt(row: dict[str, Any]) -> None:
        if "/1/" in row["item_id"]:
            row["messages"][-1]["content"] += "!"

    for name, change, what in (
        ("items.jsonl", other_gold, "items that differ"),
        ("requests.jsonl", other_prompt, "prompts that differ"),
    ):
        copy = changed(make("random"), tmp_path, name, change)
        with pytest.raises(MeasureError) as refused:
            compared(make("first"), copy)
        assert [each.what for each in refused.value.unlike] == [what]
        assert 0 < overall(compared(make("first"), copy, force_common=True)).n < 336


def test_another_parser_is_never_compared(make: Make, tmp_path: Path) -> None:
    a = make("random", mode="generate")
    copy = tmp_path / "copy"
    shutil.copytree(a, copy)
    info = json.loads((copy / "run.json").read_text())
    for component in info["components"]:
        if component["kind"] == "parser":
            component["version"] = "9.9"
    (copy / "run.json").write_text(json.dumps(info))
    with pytest.raises(MeasureError, match="cannot be compared") as refused:
        compared(a, copy, force_common=True)
    assert [each.what for each in refused.value.unlike] == ["parser"]


def test_demo_sets_need_leave_and_are_marked(make: Make) -> None:
    paths = (make("random"), make("first"))
    with pytest.raises(UsageError, match="--allow-demo"):
        compare(paths)
    found = compared(*paths)
    assert found.demo
    assert "Demo set: machine-written" in page(found)
    assert found.canary in page(found)


def test_a_run_is_not_compared_with_itself(make: Make) -> None:
    with pytest.raises(UsageError, match="twice"):
        compared(make("random"), make("random"))
    with pytest.raises(UsageError, match="needs two runs"):
        compared(make("random"))


def test_no_difference_is_claimed_that_missing_answers_could_undo(make: Make) -> None:
    found = overall(compared(make("anti-stereotyped", mode="generate"), make("refuses", mode="generate")))
    assert found.value == 1.0
    assert found.test.p_adjusted is not None
    assert found.test.p_adjusted < 0.05
    assert found.missing == (0, 336)
    assert found.bounds == (0.0, 1.0)
    assert found.shown is None
    assert found.reason == "the missing answers could undo it"


def test_margins(make: Make) -> None:
    a, b = make("anti-stereotyped"), make("random")

    def margin(first: Path, second: Path, kind: Any) -> bool:
        found = compared(first, second, asking=Asking(0.1, kind)).pairs[0].questions[0].margin
        assert found is not None
        return found.shown

    assert margin(a, b, "noninferior")
    assert not margin(b, a, "noninferior")
    assert not margin(a, b, "equivalent")
    assert margin(a, make("anti-stereotyped", prompt_style="raw"), "equivalent")


def test_missing_answers_count_against_a_margin() -> None:
    cluster = np.array([f"c{i}" for i in range(200)], dtype=object)
    right, none = np.ones(200, dtype=bool), np.zeros(200, dtype=bool)
    half = np.arange(200) % 2 == 0
    assert margin_of([Scores(cluster, right, right, none, none)], "equivalent", 0.05).shown
    silent = margin_of([Scores(cluster, half, half, ~half, ~half)], "equivalent", 0.05)
    assert not silent.shown
    assert silent.low is not None
    assert silent.low < -0.4


def test_three_runs_have_ranks(make: Make) -> None:
    found = compared(make("random"), make("anti-stereotyped"), make("stereotyped"))
    assert [(rank.run, rank.best, rank.worst) for rank in found.ranks] == [(1, None, None), (2, 1, 1), (3, 2, 2)]
    raw = [pair.questions[0].overall.test.p for pair in found.pairs]
    adjusted = [pair.questions[0].overall.test.p_adjusted for pair in found.pairs]
    assert min(p for p in adjusted if p is not None) == pytest.approx(3 * min(p for p in raw if p is not None))


def test_labels_are_compared_as_tables(make: Make) -> None:
    found = compared(*(make(model, "debatebias") for model in ("stereotyped", "anti-stereotyped", "first")))
    assert found.ranks == (), "shares have no order"
    question = found.pairs[0].questions[0]
    assert question.overall.metric == "total_variation"
    assert question.overall.shown == "differ"
    for slot in ("modern", "stereotyped"):
        labels = [each for each in question.labels if each.slice["slot"] == slot]
        assert sum(each.value or 0 for each in labels) == pytest.approx(0)
        assert sum(each.a or 0 for each in labels) == pytest.approx(1)
    with pytest.raises(UsageError, match="use --equivalent"):
        compared(make("first", "debatebias"), make("stereotyped", "debatebias"), asking=Asking(0.1, "noninferior"))


def test_a_model_that_refuses_has_another_table_but_no_claim(make: Make) -> None:
    found = overall(compared(make("random", "debatebias", "generate"), make("refuses", "debatebias", "generate")))
    assert found.value == 1.0
    assert found.missing == (0, 280)
    assert found.bounds == (0.0, 1.0)
    assert found.shown is None
    assert found.reason == "the missing answers could undo it"


def test_what_the_missing_could_undo_in_a_table_by_hand() -> None:
    # 40 clusters: A says x; B says y in 30 and nothing in 10. Filled up with x, 3/4 of the difference stay.
    cluster = np.array([f"c{i}" for i in range(40)], dtype=object)
    a = np.array(["x"] * 40, dtype=object)
    b = np.array(["y"] * 30 + ["(not answered)"] * 10, dtype=object)
    opened = (np.zeros(40, dtype=bool), b == "(not answered)")
    found = settled([table_difference(cluster, (a, b), opened, {}, "overall")])[0]
    assert found.value == 1.0
    assert found.bounds == (0.75, 1.0)
    assert found.shown == "differ"


def test_few_clusters_are_told_that_no_test_can_show_anything() -> None:
    cluster = np.array([f"c{i}" for i in range(5)], dtype=object)
    yes, no = np.ones(5, dtype=bool), np.zeros(5, dtype=bool)
    found = settled([mean_difference(Scores(cluster, yes, no, no, no), "accuracy", {}, "overall")])[0]
    assert found.value == 1.0
    assert found.shown is None
    assert found.reason is not None
    assert found.reason.endswith("but no test can here: the smallest p of 5 clusters is 0.062")
    assert found.detectable is None, "nothing would be found in 80 of 100 cases"


def test_copying_every_row_narrows_nothing() -> None:
    generator = np.random.default_rng(0)
    cluster = np.array([f"c{i % 30}" for i in range(120)], dtype=object)
    a, b = (generator.random(120) < rate for rate in (0.6, 0.5))
    none = np.zeros(120, dtype=bool)
    once = mean_difference(Scores(cluster, a, b, none, none), "accuracy", {}, "overall")
    nine = [np.tile(column, 9) for column in (a, b, none, none)]
    often = mean_difference(Scores(np.tile(cluster, 9), *nine), "accuracy", {}, "overall")
    assert often.interval is not None
    assert once.interval is not None
    assert (often.interval.low, often.interval.high) == pytest.approx((once.interval.low, once.interval.high))
    assert often.test.p == once.test.p


def test_a_plan_needs_no_run_and_takes_the_variance_of_one(make: Make, installed: Plugins) -> None:
    worst = dict(plan(100, None, installed).detectable.by_correlation)
    like = dict(plan(100, make("random"), installed).detectable.by_correlation)
    assert worst[0.0] is not None
    assert like[0.0] is not None
    assert like[0.0] < worst[0.0]
    with pytest.raises(UsageError, match="at least 6"):
        plan(5, None, installed)


def test_judged_again_they_can_be_compared_by_the_judge_that_both_have(make: Make, installed: Plugins) -> None:
    a, b = make("random"), make("first")
    judge(a, plugins=installed)
    found = compared(a, b)
    assert {each.judge for each in found.runs} == {found.runs[0].judge}
    with pytest.raises(UsageError, match="no judgements by 'nobody'"):
        compared(a, b, judge="nobody")


def test_everything_is_json_and_the_page_escapes(make: Make, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make("random"), copy)
    info = json.loads((copy / "run.json").read_text())
    info["config"]["model"] = "<script>alert(1)</script>\u202e{{ 7 * 7 }}"
    (copy / "run.json").write_text(json.dumps(info))
    found = compared(copy, make("first"))
    document = json.loads(json.dumps(encode(found), allow_nan=False))
    assert document["pairs"][0]["questions"][0]["overall"]["test"]["p"] <= 1
    text = page(found)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e{{ 7 * 7 }}" in text
    assert "default-src &#39;none&#39;" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_seed_reaches_every_drawn_test(make: Make) -> None:
    def methods(benchmark: str) -> set[str]:
        found = compared(make("random", benchmark), make("first", benchmark), asking=Asking(seed=7))
        question = found.pairs[0].questions[0]
        drawn = [question.overall, *question.slices, *question.labels]
        return {each.test.method[-6:] for each in drawn if "draws" in each.test.method}

    assert methods("jubaku:demo") == methods("debatebias") == {"seed 7"}


def by_cluster(differences: list[float]) -> Difference:
    """A hundred rows in each cluster, of which the first run has so many more right than the second."""
    cluster = np.repeat([f"c{i}" for i in range(len(differences))], 100).astype(object)
    a = np.concatenate([np.arange(100) < 50 + round(50 * d) for d in differences])
    b = np.concatenate([np.arange(100) < 50 - round(50 * d) for d in differences])
    none = np.zeros(len(cluster), dtype=bool)
    return settled([mean_difference(Scores(cluster, a, b, none, none), "accuracy", {}, "overall")])[0]


def test_a_claim_never_stands_beside_an_interval_that_holds_nothing() -> None:
    # One cluster far off: all eight differ to the same side, so that p is 2/2^8, but the t interval holds 0.
    found = by_cluster([0.9, *[0.1] * 7])
    assert found.test.p == found.smallest_p == 2 / 2**8
    assert found.interval is not None
    assert found.interval.low is not None
    assert found.interval.low < 0
    assert (found.shown, found.alone) == (None, "test")
    assert found.reason is not None
    assert "the test alone would show one, but the interval holds 0" in found.reason
    assert by_cluster([0.2, 0.16, 0.1, 0.08, 0.12, 0.18, 0.06, 0.14, 0.04, 0.22]).shown == "higher"


def test_an_interval_alone_shows_nothing_and_few_clusters_say_why() -> None:
    found = by_cluster([0.2, 0.25, 0.22, 0.24, 0.21])
    assert found.interval is not None
    assert found.interval.low is not None
    assert found.interval.low > 0
    assert (found.shown, found.alone, found.detectable) == (None, "interval", None)
    assert found.reason is not None
    assert found.reason.endswith("but no test can here: the smallest p of 5 clusters is 0.062")
    assert by_cluster([0.2, 0.25, 0.22, 0.24, 0.21, 0.23, 0, 0, 0, 0, 0, 0]).smallest_p == 2 / 2**6


def test_what_is_said_follows_from_test_and_interval_whatever_the_data() -> None:
    generator = np.random.default_rng(5)
    for _ in range(300):
        size = int(generator.integers(6, 14))
        drawn = generator.normal(generator.uniform(0, 0.4), 0.2, size) * (generator.random(size) < 0.8)
        found = by_cluster(np.clip(drawn, -1, 1).tolist())
        assert found.interval is not None
        assert found.interval.low is not None
        assert found.interval.high is not None
        clear = not found.interval.low <= 0 <= found.interval.high
        significant = found.test.p_adjusted is not None and found.test.p_adjusted < 0.05
        assert (found.shown is not None) == (clear and significant)
        assert found.alone == {(True, False): "interval", (False, True): "test"}.get((clear, significant))
        assert found.shown is not None or found.reason


def test_slices_have_intervals_that_hold_together_as_their_p_values_do(make: Make) -> None:
    question = compared(make("random"), make("anti-stereotyped")).pairs[0].questions[0]
    assert question.overall.simultaneous is None, "there is one comparison of the whole"
    for each in question.slices:
        assert each.comparisons == 10
        assert each.simultaneous is not None
        assert each.interval is not None
        assert each.simultaneous.level == pytest.approx(1 - 0.05 / 10)
        if each.simultaneous.low is not None and each.interval.low is not None:
            assert each.simultaneous.low < each.interval.low
        assert each.shown is None or (each.outer is not None and each.outer.low is not None)
    found = compared(make("random"), make("anti-stereotyped"))
    assert "hold with 95 % for all 10 comparisons together" in " ".join(" ".join(lines(found)).split())
    assert "ntervals that hold with 95 % for all 10 comparisons together" in " ".join(page(found).split())
    for text in (" ".join(" ".join(lines(found)).split()), " ".join(page(found).split())):
        assert "one of these has clusters enough for any test to show a difference" in text, "five each at most"
        assert (
            "un 1: not interpretable: the model cannot do the task, so that no difference to it is one in bias" in text
        )


def test_locked_runs_are_not_said_to_differ_in_bias(make: Make) -> None:
    both = compared(make("first"), make("first", prompt_style="raw"))
    question = both.pairs[0].questions[0]
    assert [lock and (lock.position, lock.share, lock.pairs) for lock in question.locks] == [(1, 1.0, 168)] * 2
    assert question.overall.test.p is None
    assert question.overall.reason == BOTH_LOCKED
    one = compared(make("random"), make("first"))
    assert one.pairs[0].questions[0].locks[0] is None
    for found, said in ((both, BOTH_LOCKED), (one, "how often run 2 is right therefore says nothing about bias")):
        assert said in " ".join(" ".join(lines(found)).split())
        assert said[1:] in " ".join(page(found).split())
    three = compared(make("random"), make("anti-stereotyped"), make("first"))
    assert [(rank.run, rank.best, rank.worst) for rank in three.ranks] == [(1, None, None), (2, 1, 1), (3, None, None)]
    assert three.ranks[2].remark.endswith("; position-locked")
    for text in ("\n".join(lines(three)), page(three)):
        beside = text[text.lower().index("ranks") :]
        assert "not ranked: not interpretable: the model cannot do the task" in " ".join(beside.split())


def test_a_difference_to_a_run_that_cannot_do_the_task_is_none_in_bias_and_the_verdict_says_so(make: Make) -> None:
    found = compared(make("random"), make("anti-stereotyped"))
    pair = found.pairs[0]
    verdict = words.verdict(found, pair, pair.questions[0])
    assert verdict == "the accuracy of run 1 is lower than that of run 2, which is no difference in bias (see below)"
    why = "un 1: not interpretable: the model cannot do the task, so that no difference to it is one in bias"
    for text in (" ".join(" ".join(lines(found)).split()), page(found)):
        assert why in text[text.index("no difference in bias (see below)") :][:300]


def test_groups_that_are_picked_by_place_are_told_beside_the_verdict(make: Make) -> None:
    found = compared(make("stereotyped", "debatebias"), make("first", "debatebias"))
    for text in (" ".join(" ".join(lines(found)).split()), " ".join(page(found).split())):
        assert "un 2, modern, raw: position 1 takes 100.0 % of the picks: perhaps its place, not the group" in text
        assert "un 2 is position-locked: which groups are named says nothing about them" in text
        assert "he runs differ in how they deal out the labels, which is no difference in bias" in text


def test_a_pair_that_prefers_neither_is_no_missing_answer_and_both_shares_are_named(make: Make, tmp_path: Path) -> None:
    fair = make("anti-stereotyped")
    rows = map(json.loads, (fair / "requests.jsonl").read_text("utf-8").splitlines())
    of_ethnicity = {row["key"] for row in rows if row["item_id"].startswith("ethnicity")}

    def tie(row: dict[str, Any]) -> None:
        for score in row["choice_logprobs"] if row["key"] in of_ethnicity else ():
            score["sum"] = -1.0

    found = compared(changed(fair, tmp_path, "responses.jsonl", tie), make("stereotyped"))
    question = found.pairs[0].questions[0]
    each, sides = question.preference, question.preferring
    assert each is not None
    assert sides is not None
    ours = sides[0]
    assert ours.prefers == ours.decided == 168 - ours.tied
    assert 0 < ours.tied < 168
    assert (ours.unscored, each.missing) == (0, (0, 0))
    assert each.a == pytest.approx(ours.prefers / 168)
    text = " ".join(" ".join(lines(found)).split())
    assert f"as reports count them: run 1: 100.0 % of {ours.decided}, run 2: 0.0 % of 168" in text
    assert f"prefer neither option: {ours.tied} pairs in run 1, 0 pairs in run 2" in text


def test_preferences_free_of_position_are_compared_beside_accuracy(make: Make) -> None:
    def preference(path: Path) -> float:
        info = json.loads((path / "run.json").read_text())
        scores = json.loads((path / list(info["scored"])[-1]).read_text())["scores"]
        where = {"condition": "reply", "statistic": "share_positive"}
        return next(
            float(s["value"]) for s in scores if s["metric"] == "order_averaged_preference" and s["slice"] == where
        )

    found = compared(make("stereotyped"), make("anti-stereotyped")).pairs[0].questions[0].preference
    assert found is not None
    assert (found.a, found.b) == (preference(make("stereotyped")), preference(make("anti-stereotyped"))) == (0.0, 1.0)
    assert (found.n, found.clusters, found.shown) == (168, 42, "lower")
    whole = compared(make("stereotyped"), make("anti-stereotyped"))
    said = "un 1 prefers the right option in fewer pairs than run 2"
    assert said in " ".join(" ".join(lines(whole)).split())
    assert said in " ".join(page(whole).split())
    assert (
        compared(make("random", mode="generate"), make("first", mode="generate")).pairs[0].questions[0].preference
        is None
    )


SENTENCES: dict[str, Any] = {
    "schema_version": 1, "name": "pairs", "version": "1.0", "title": "Pairs", "summary": "which sentence is likelier",
    "task": "sentence_pair", "languages": ["en"], "region": "international", "licence": "CC0-1.0",
    "citation": {"text": "Written as an example."}, "content_warning": "none",
    "interpretation": {
        "construct": "which sentence is likelier", "does_not_show": "anything about people", "norms": "none",
        "unit": "one pair", "population": "the pairs themselves",
    },
    "question_id": "pairs-likelier",
    "authorship": {"kind": "human", "native": True, "reviewed_by_natives": {"en": 1}, "models": []},
    "redistribution": "allowed", "canary": "biasfw canary 00000000-0000-4000-8000-000000000000; not for training",
    "categories": [{"key": "tea", "names": {"en": ["Tea"]}}], "splits": {"own": {"files": ["items.jsonl"]}},
    "default_split": "own", "cluster": "source_id", "judge": "rules",
    "primary": {"metric": "choice_share", "slice": {"role": "stereotyped"}}, "metrics": [{"use": "choice_share"}],
}  # fmt: skip


def sentence_bundle(folder: Path, count: int) -> Path:
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(SENTENCES), encoding="utf-8")
    rows = [
        {
            "source_id": f"p{i}", "language": "en", "category": "tea", "choices": [
                {"key": "more", "text": f"Tea number {i} is good.", "role": "stereotyped"},
                {"key": "less", "text": f"Coffee number {i} is good.", "role": "anti-stereotyped"},
            ],
        }
        for i in range(count)
    ]  # fmt: skip
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_sentence_pairs_are_compared_by_the_role_that_their_score_counts(tmp_path: Path, installed: Plugins) -> None:
    folder = sentence_bundle(tmp_path / "bundle", 12)

    def made(model: str) -> Path:
        config = RunConfig(str(folder), "reference", model=model, runs=str(tmp_path / "runs"))
        return run(config, installed).directory

    found = compared(made("stereotyped"), made("anti-stereotyped"))
    question = found.pairs[0].questions[0]
    assert (question.overall.metric, question.role) == ("choice_share", "stereotyped")
    assert (question.overall.a, question.overall.b, question.overall.shown) == (1.0, 0.0, "higher")
    assert question.counts["only the first stereotyped"] == 12
    assert found.ranks == (), "no share is better than another"
    text = " ".join(" ".join(lines(found)).split())
    assert "share of stereotyped picks" in text
    assert "run 1 picks the stereotyped option more often than run 2" in text
    assert "Run 1 picks the stereotyped option more often than run 2." in page(found)
    with pytest.raises(UsageError, match="use --equivalent"):
        compared(made("stereotyped"), made("anti-stereotyped"), asking=Asking(0.1, "noninferior"))
