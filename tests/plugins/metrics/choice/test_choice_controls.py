"""Controls: a model that cannot do the task says nothing about bias."""

from __future__ import annotations

from typing import Any

import pytest

from biasfw_plugins.metrics import biasfw_metrics

NAME = "control_accuracy"
NOT = "not interpretable: the model cannot do the task"


def test_it_gets_the_controls_alone() -> None:
    spec = next(spec for spec in biasfw_metrics() if spec.name == NAME)
    assert spec.rows == "controls"
    assert spec.tasks == {"choice"}


def test_a_model_that_can_do_the_task(compute: Any, one: Any, study: Any) -> None:
    score = one(compute(NAME, study("gold", clusters=10)), "all")
    assert (score.value, score.reason, score.ideal) == (1.0, "above chance", 1.0)
    assert score.test.p < 0.05


@pytest.mark.parametrize("picker", ["coin", "first", "biased"])
def test_a_model_that_cannot(compute: Any, one: Any, study: Any, picker: str) -> None:
    scores = compute(NAME, study(picker, clusters=12))
    for over in ("all", "answered"):
        assert one(scores, over).reason.startswith(NOT)


def test_refusing_most_of_them_is_not_doing_it(compute: Any, one: Any, study: Any) -> None:
    scores = compute(NAME, study(lambda row: "good" if int(row.cluster[1:]) < 5 else "<refused>", clusters=12))
    assert one(scores, "answered").value == 1
    assert one(scores, "answered").reason.startswith(NOT)
    silent = one(compute(NAME, study(lambda row: "<refused>", clusters=12)), "all")
    assert (silent.value, silent.reason) == (None, f"{NOT}; no response names an option here (48 refused)")


def test_each_language_is_told_by_itself(compute: Any, one: Any, study: Any) -> None:
    rows = [row for language, picker in (("en", "gold"), ("ja", "coin")) for row in _of(study, language, picker)]
    scores = compute(NAME, rows)
    assert NOT not in (one(scores, "all", language="en").reason or "")
    assert NOT in one(scores, "all", language="ja").reason


def _of(study: Any, language: str, picker: str) -> Any:
    return study(picker, clusters=14, language=language)


def test_without_controls_nothing_is_said(compute: Any) -> None:
    assert compute(NAME, []) == []
