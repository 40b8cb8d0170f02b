"""Drafts put to models: the engine's own expansion, reference models, the scripted target, hosts, controls."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import UsageError
from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench
from biasfw.authoring.drafts import seed_row
from biasfw.authoring.hosts import host_of
from biasfw.authoring.rules import Asked, judge, random_chance
from biasfw.authoring.starting import Start, start
from biasfw.authoring.trying import Tried, try_version
from biasfw.authoring.work import ends_of, try_all
from biasfw.cli import app
from biasfw.plugins import Plugins
from biasfw.stats import wilson

from .conftest import DRAFTS, row_of, texts_of


def tried(bench: Workbench, plugins: Plugins, name: str, target: Target) -> Tried:
    with Asker(bench, target, plugins) as asker:
        return try_version(asker, bench.draft(name))


@pytest.mark.parametrize("mode", ["choices", "generate"])
@pytest.mark.parametrize(
    ("model", "word", "warned"),
    [("first", "locked", True), ("stereotyped", "fooled", False), ("anti-stereotyped", "not_fooled", False)],
)
def test_reference_models_are_judged_as_they_are_known(
    bench: Workbench, author: str, plugins: Plugins, model: str, word: str, warned: bool, mode: str
) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    found = tried(bench, plugins, name, Target("reference", model, mode))
    assert (found.verdict.word, len(found.asked), found.verdict.answered) == (word, 8, 8)
    assert {each.order for each in found.asked} == {("unbiased", "biased"), ("biased", "unbiased")}
    assert {each.instruction for each in found.asked} == {"0", "1", "2", "3"}
    assert any("not above chance on the controls" in text for text in found.warnings) is warned
    assert (found.verdict.margin is None) is (mode == "generate")


@pytest.mark.parametrize(("model", "locked"), [("random", False), ("first", True)])
def test_reference_models_are_fooled_as_often_as_is_printed(
    bench: Workbench, plugins: Plugins, model: str, locked: bool
) -> None:
    texts = [{**texts_of(DRAFTS[n % 10]), "context": f"人間：{n}。", "language": "ja"} for n in range(200)]
    rows = [seed_row(f"{each['category']}-{n:02d}", each) for n, each in enumerate(texts)]
    rule = bench.settings["rule"]
    with Asker(bench, Target("reference", model, "generate"), plugins) as asker:
        asked = asker.ask(rows, bench.manifest["instructions"])
    by_item: dict[str, list[Asked]] = {}
    for each in asked:
        by_item.setdefault(str(each.source), []).append(each)
    words = [judge(rule, found).word for found in by_item.values()]
    assert len(words) == 200
    if locked:
        assert set(words) == {"locked"}
    else:
        interval = wilson(words.count("fooled"), 200, 0.99)
        assert interval is not None
        assert interval[0] <= random_chance(rule, 4) <= interval[1]


def test_a_model_that_refuses_is_not_answered(bench: Workbench, author: str, plugins: Plugins) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    found = tried(bench, plugins, name, Target("reference", "refuses", "generate"))
    assert found.verdict.word == "not_answered"
    assert "8 of 8 questions got no answer" in found.warnings


def test_an_edit_flips_the_scripted_target_and_the_log_has_it(bench: Workbench, author: str, plugins: Plugins) -> None:
    for mode in ("choices", "generate"):
        name, _ = bench.write(author, texts_of(DRAFTS[5]))
        target = Target("scripted", "overlap", mode)
        words = [tried(bench, plugins, name, target).verdict.word]
        bench.write(author, texts_of(DRAFTS[5], edited=True), name)
        last = tried(bench, plugins, name, target)
        assert [*words, last.verdict.word] == ["not_fooled", "fooled"]
        assert last.tries == 2
        assert last.chance_over_tries == pytest.approx(1 - (1 - 25 / 256) ** 2)
        assert last.warnings == ()
        rows = row_of(bench.log.rows(), "try")[-2:]
        assert [(row["version"], row["verdict"], len(row["asked"])) for row in rows] == [
            (0, "not_fooled", 8), (1, "fooled", 8),
        ]  # fmt: skip
        assert all(("logprobs" in a) is (mode == "choices") for row in rows for a in row["asked"])


def test_controls_are_asked_once_for_a_model(bench: Workbench, author: str, plugins: Plugins) -> None:
    for row in DRAFTS[:2]:
        bench.write(author, texts_of(row))
    with Asker(bench, Target("scripted"), plugins) as asker:
        assert len(list(try_all(asker, ends_of(bench)))) == 2
    tried(bench, plugins, "ethnicity-01", Target("scripted"))
    tried(bench, plugins, "ethnicity-01", Target("scripted", role="held-out"))
    assert len(row_of(bench.log.rows(), "controls")) == 1
    tried(bench, plugins, "ethnicity-01", Target("scripted", "another"))
    assert len(row_of(bench.log.rows(), "controls")) == 2


def test_placebo_edits_are_never_shown_to_a_target(bench: Workbench, author: str, plugins: Plugins) -> None:
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    bench.write(author, texts_of(DRAFTS[0], edited=True), name)
    _, placebo = bench.write(author, {"context": "人間：別の話。"}, name, arm="placebo")
    assert placebo.number == 1
    assert bench.draft(name).current.texts["context"] == texts_of(DRAFTS[0], edited=True)["context"]  # type: ignore[index]
    assert [(v.number, arm) for _, v, arm in ends_of(bench, every_end=True)] == [
        (0, "main"), (1, "main"), (1, "placebo"),
    ]  # fmt: skip
    with Asker(bench, Target("scripted"), plugins) as asker, pytest.raises(UsageError, match="placebo"):
        try_version(asker, bench.draft(name), placebo, arm="placebo")


def test_the_host_is_named_and_asked_for_once(bench: Workbench, author: str, plugins: Plugins) -> None:
    assert host_of(plugins, "llamacpp", {}) is None
    assert host_of(plugins, "openai", {"base_url": "http://127.0.0.1:8000/v1"}) is None
    assert host_of(plugins, "openai", {"base_url": "https://models.example.org/v1"}) == "models.example.org"
    assert host_of(plugins, "openai", {}) == "api.openai.com"
    stranger = next(p for p in plugins.all if p.name == "scripted")
    stranger.distribution = "somebody-else"
    host = host_of(plugins, "scripted", {})
    assert host == "wherever backend scripted of somebody-else sends it"
    name, _ = bench.write(author, texts_of(DRAFTS[0]))
    with pytest.raises(UsageError, match="not agreed"):
        tried(bench, plugins, name, Target("scripted"))
    bench.log.append("host", host=host)
    assert tried(bench, plugins, name, Target("scripted")).verdict.word == "not_fooled"


def test_the_order_averaged_rule_asks_for_log_probabilities(tmp_path: Path, plugins: Plugins) -> None:
    bench = start(tmp_path / "wb", Start("ja", rule="order-averaged"))
    name, _ = bench.write(bench.join(yes=True), texts_of(DRAFTS[0]))
    with pytest.raises(UsageError, match=r"needs log-probabilities, which mode .*--mode choices"):
        tried(bench, plugins, name, Target("scripted", mode="generate"))
    assert tried(bench, plugins, name, Target("scripted")).verdict.margin is not None
    place = ["author", "try", str(bench.folder), "--backend", "scripted", "--mode", "generate"]
    said = CliRunner().invoke(app, [*place, "--held-out"], obj=plugins).stdout  # it is asked, without a verdict
    assert "no verdict" in said
    assert "needs log-probabilities" in said
    assert "not answered" not in said
    assert "not above chance" not in said
    assert Asker(bench, Target("openai"), plugins).mode == "choices"  # by the first token; it does not score texts


def test_the_report_tells_what_makes_a_figure_doubtful(bench: Workbench, author: str, plugins: Plugins) -> None:
    for row in DRAFTS[:2]:
        bench.write(author, texts_of(row))
    for target in (Target("reference", "first"), Target("reference", "random", role="held-out")):
        with Asker(bench, target, plugins) as asker:
            list(try_all(asker, ends_of(bench)))
    said = CliRunner().invoke(app, ["author", "report", str(bench.folder)]).stdout
    assert "near 0" not in said
    assert "no measure of it: drafts were edited against it, 0 of 2 fooled it" in said
    models = said.split("all categories")[1].split("held-out models")[0]
    held, edited_against = models.split("target first")
    assert "not above chance on the controls" in held
    assert "not above chance on the controls" in edited_against
    assert "in 2 of 2 drafts it picks the same position" in edited_against
