"""``biasfw check`` looks at a benchmark's own judges and at the prompts it words for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from biasfw import languages
from biasfw.findings import Report
from biasfw.judgecheck import check_judges
from biasfw.packcheck import Kit
from biasfw.plugins import Plugins
from biasfw.resources import shipped
from biasfw.validating.judges import check_named
from biasfw.yamlfile import load_yaml

JUDGE = {"judge": "llm", "role": "reader"}


def rules(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "judge": "rules", **more}


def asking(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "judge": "llm", "role": name, **more}


def found(plugins: Plugins, benchmark: str = "debatebias", **changes: Any) -> list[tuple[str, str]]:
    """Pointer and message of everything that is wrong with a shipped manifest after ``changes``."""
    document = load_yaml(shipped("benchmarks") / benchmark / "benchmark.yaml")
    document = replace(document, value={**document.value, **changes})
    report = Report("benchmark", benchmark, document.name)
    kit = Kit(plugins)
    for pointer, message in check_named(document, kit):
        report.add("error", document, pointer, message)
    check_judges(report, document, languages.load_packs(kit.folders, document.value["languages"]), kit)
    return [(finding.problem.pointer, finding.problem.message) for finding in report.findings]


@pytest.mark.parametrize("benchmark", ["debatebias", "jubaku"])
def test_what_is_shipped_is_sound(installed: Plugins, benchmark: str) -> None:
    assert found(installed, benchmark) == []


@pytest.mark.parametrize(
    ("judge", "pointer", "message"),
    [
        ({"judge": "lmm", "role": "reader"}, "/judges/own/judge", "did you mean llm"),
        ({"judge": "llm"}, "/judges/own", "asks a model, and nobody could say which; give it a `role`"),
        ({**JUDGE, "parser": "labeled_lines"}, "/judges/own/parser", "labelled_lines"),
        ({**JUDGE, "options": {"view": "half"}}, "/judges/own/options", "view"),
        ({"judge": "rules", "role": "reader"}, "/judges/own/role", "asks no model"),
        ({"judge": "panel"}, "/judges/own", "panel needs members"),
        ({**JUDGE, "members": [rules("a"), rules("b")]}, "/judges/own", "llm has no members"),
        ({"judge": "panel", "members": [rules("a"), rules("a")]}, "/judges/own/members/1/name", "'a' stands twice"),
        (
            {"judge": "panel", "members": [asking("a"), asking("b", role="a")]},
            "/judges/own/members/1/role",
            "the role 'a' stands twice",
        ),
    ],
)
def test_what_a_judge_names_is_there(installed: Plugins, judge: dict[str, Any], pointer: str, message: str) -> None:
    ((where, what),) = found(installed, judges={"own": judge})
    assert where == pointer
    assert message in what


def test_a_judge_has_a_name_of_its_own(installed: Plugins) -> None:
    ((where, what),) = found(installed, judges={"rules": JUDGE})
    assert where == "/judges/rules"
    assert "a plugin offers a judge 'rules', too" in what


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ begin }}{{ txt }}{{ end }}", "txt"),
        ("{{ text.__class__ }}", "__class__"),
        ("{% for each in labels %}", "line 1"),
        ("{{ 'a' * 1000 }}", "arithmetic"),
    ],
)
@pytest.mark.parametrize("part", ["system", "user"])
def test_prompts_render(installed: Plugins, text: str, part: str, message: str) -> None:
    texts = {"user": "{{ text }}", part: text}
    ((where, what),) = found(installed, judge_templates={"ko": texts})
    assert where == f"/judge_templates/ko/{part}"
    assert message in what


def test_prompts_are_for_languages_of_the_benchmark(installed: Plugins) -> None:
    ((where, _),) = found(installed, judge_templates={"en": {"user": "{{ text }}"}, "fr": {"user": "{{ text }}"}})
    assert where == "/judge_templates/fr"
    assert found(installed, "jubaku", judge_templates={"en": {"user": "{{ text }}"}}) == []
