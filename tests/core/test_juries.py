"""Who judges: names, files and judges of a benchmark become components and models, or one line that says why not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from biasfw import DataError, RunConfig, UsageError
from biasfw.bundles import load
from biasfw.juries import find, seat
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.resources import shipped

PLAIN = {"name": "drinks", "task": "labels"}
REFERENCE = {"backend": "reference", "model": "first"}
OWN = {
    **PLAIN,
    "judges": {
        "three": {
            "judge": "panel",
            "options": {"rule": "unanimous"},
            "members": [
                {"name": "rules", "judge": "rules"},
                {"name": "x", "judge": "llm", "role": "reader", "options": {"view": "body"}},
                {"name": "y", "judge": "llm", "role": "second"},
            ],
        },
        "alone": {"judge": "llm", "role": "reader", "mode": "choices"},
    },
}


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_name_is_a_component(installed: Plugins) -> None:
    found = find("rules", PLAIN, installed)
    assert (found.name, found.binding, found.members) == ("rules", None, ())
    assert list(found.everybody) == list(found.leaves) == [found]


def test_a_file_names_a_model(installed: Plugins, tmp_path: Path) -> None:
    file = write(tmp_path / "Strict.yaml", "judge: llm\nbackend: reference\nmodel: first\noptions: {view: body}\n")
    found = find(file, PLAIN, installed)
    assert found.name == "strict", "the name of the file"
    assert found.options["view"] == "body"
    assert found.options["max_tokens"] == 128, "defaults are filled in"
    assert found.binding is not None
    assert (found.binding.spec.name, found.binding.model, found.binding.mode) == ("reference", "first", "generate")
    named = write(tmp_path / "any.yml", "name: own-name\njudge: rules\n")
    assert find(named, PLAIN, installed).name == "own-name"


def test_a_panel_has_members(installed: Plugins) -> None:
    members = [{"name": "rules", "judge": "rules"}, {"name": "m", "judge": "llm", **REFERENCE}]
    found = seat({"name": "p", "judge": "panel", "members": members}, PLAIN, installed)
    assert [each.name for each in found.everybody] == ["p", "rules", "m"]
    assert [each.name for each in found.leaves] == ["rules", "m"]


def test_roles_of_the_benchmark_are_bound_to_models_of_the_user(installed: Plugins) -> None:
    roles = {"reader": REFERENCE, "second": {"backend": "reference", "model": "random"}}
    found = seat({"name": "mine", "judge": "three", "roles": roles}, OWN, installed)
    assert (found.name, found.options["rule"]) == ("mine", "unanimous")
    assert [each.name for each in found.members] == ["rules", "x", "y"]
    assert [each.binding and each.binding.model for each in found.members] == [None, "first", "random"]
    assert found.members[1].options["view"] == "body"
    alone = seat({"name": "alone", "judge": "alone", "roles": {"reader": REFERENCE}}, OWN, installed)
    assert alone.binding is not None
    assert alone.binding.mode == "choices"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"judge": "llm"}, r"judge llm asks a model: write a file with judge: llm, backend: NAME"),
        ({"judge": "llm", "backend": "nothing"}, r"nothing"),
        ({"judge": "llm", "backend": "reference", "model": "best"}, r"no model 'best'; write model: first\|"),
        ({"judge": "llm", **REFERENCE, "backend_options": {"x": 1}}, r"reference has no option .*x"),
        ({"judge": "llm", **REFERENCE, "options": {"views": "body"}}, r'did you mean "view"'),
        ({"judge": "llm", **REFERENCE, "parser": "nothing"}, r"nothing"),
        ({"judge": "llm", **REFERENCE, "members": [{"name": "a", "judge": "rules"}]}, r"judge llm has no members"),
        ({"judge": "rules", "backend": "reference"}, r"judge rules asks no model; leave out backend"),
        ({"judge": "rules", "roles": {"a": REFERENCE}}, r"roles belong to a judge of the benchmark; drinks: it has"),
        ({"judge": "panel"}, r"judge panel combines the verdicts of members; list them in a file"),
        (
            {"judge": "panel", "members": [{"name": "a", "judge": "rules"}] * 2},
            r"two members of 'mine' are called 'a'",
        ),
        ({"judge": "three"}, r"bind reader, second in a file \(judge: three, roles: \{reader: \{backend: NAME"),
        ({"judge": "three", "roles": {"reader": REFERENCE}}, r"bind second in a file"),
        ({"judge": "three", "roles": {"readers": REFERENCE}}, r"has no role 'readers'; it has reader, second"),
        ({"judge": "three", "options": {"rule": "majority"}}, r"you only bind its roles; leave out options"),
        ({"judge": "thre"}, r"thre.*did you mean.*three"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(installed: Plugins, definition: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as failure:
        seat({"name": "mine", **definition}, OWN, installed)
    assert len(str(failure.value).splitlines()) == 1


def test_a_benchmark_cannot_take_the_place_of_a_judge_of_a_plugin(installed: Plugins) -> None:
    disguised = {**PLAIN, "judges": {"rules": {"judge": "llm", "role": "reader"}}}
    with pytest.raises(UsageError, match=r"offered by a plugin and by drinks; write rules@DISTRIBUTION"):
        seat({"name": "rules", "judge": "rules"}, disguised, installed)


def test_a_judge_that_cannot_judge_the_task_is_refused(installed: Plugins) -> None:
    with pytest.raises(UsageError, match=r"judge llm cannot judge task 'sentence_pair'"):
        seat({"name": "m", "judge": "llm", **REFERENCE}, {**PLAIN, "task": "sentence_pair"}, installed)


def test_mistakes_in_a_file_are_told_with_their_line(installed: Plugins, tmp_path: Path) -> None:
    unknown = write(tmp_path / "judge.yaml", "judge: llm\nbackend: reference\nmodle: first\n")
    with pytest.raises(DataError, match=r"judge\.yaml:3:1: /modle"):
        find(unknown, PLAIN, installed)
    twice = write(
        tmp_path / "twice.yaml",
        "judge: three\nroles:\n  reader: {backend: reference}\n  reader: {backend: reference}\n",
    )
    with pytest.raises(DataError, match=r"twice\.yaml:4:3.*reader"):
        find(twice, OWN, installed)
    with pytest.raises(DataError, match=r"gone\.yaml"):
        find(str(tmp_path / "gone.yaml"), PLAIN, installed)


@pytest.mark.parametrize("key", ["backend: openai", "model: some/model", "api_key_env: HOME", "base_url: http://a"])
def test_a_bundle_cannot_name_a_model_or_key(tmp_path: Path, key: str) -> None:
    folder = tmp_path / "debatebias"
    shutil.copytree(shipped("benchmarks") / "debatebias", folder)
    manifest = folder / "benchmark.yaml"
    lines = manifest.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if "{name: judge_2, judge: llm, role: judge_2}" in line)
    lines[at] = lines[at].replace("role: judge_2", f"role: judge_2, {key}")
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
    name = key.partition(":")[0]
    with pytest.raises(DataError, match=rf"benchmark\.yaml:{at + 1}:\d+: /judges/published/members/1/{name}: "):
        load(folder)


def test_options_that_may_hold_a_secret_are_withheld(installed: Plugins) -> None:
    options = {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "MY_KEY", "concurrency": 3}
    asks = {"judge": "llm", "backend": "openai", "model": "m", "backend_options": options}
    members = [{"name": "a", **asks}, {"name": "b", "judge": "rules"}]
    found = seat({"name": "p", "judge": "panel", "members": members}, PLAIN, installed)
    assert found.members[0].withheld == {"base_url", "api_key_env"}
    kept = json.dumps(found.kept)
    assert "127.0.0.1" not in kept
    assert "MY_KEY" not in kept
    assert found.kept["members"][0]["backend_options"] == {"concurrency": 3}
    assert found.members[0].definition["backend_options"] == options, "what is asked has all of them"


def test_a_plan_knows_the_components_of_its_judges(installed: Plugins, tmp_path: Path) -> None:
    roles = {f"judge_{number}": REFERENCE for number in (1, 2, 3)}
    file = write(tmp_path / "mine.yaml", json.dumps({"judge": "published", "roles": roles}))
    plan: Plan = make_plan(RunConfig("debatebias", "reference", model="first", judge=file), installed)
    used = [(row["kind"], row["name"]) for row in plan.components()]
    assert used.count(("judge", "llm")) == 1
    assert {("judge", "panel"), ("judge", "llm"), ("backend", "reference")} <= set(used)
