from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from biasfw import ComponentContext, Form, Label, Metric, Outcome, RunConfig, Score, Slot, Table, run

from steady_choice.metric import SteadyChoice

FORM = Form("choice", (Slot("choice"),), (Label("A", {"en": ("A",)}), Label("B", {"en": ("B",)})), languages=("en",))


def score(picks: list[tuple[str, str]]) -> Score:
    """The score of rows (cluster, key of the option chosen); "" was not answered."""
    n = len(picks)
    clusters = np.array([cluster for cluster, _ in picks])
    values = np.array([value for _, value in picks])

    def column(value: str) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return np.array([value] * n)

    table = Table(
        mode="generate", keys=np.array([f"{row:064}" for row in range(n)]), item=clusters, source=clusters,
        cluster=clusters, pair=column(""), variant=column(""), condition=column("plain"), language=column("en"),
        category=column("tea"), gold=column("fair"), repeat=np.zeros(n, dtype=np.int64), labels=("fair", "biased"),
        order=np.tile([1, 2], (n, 1)), values={"choice": values},
        outcomes={"choice": np.where(values == "", Outcome.UNPARSED.value, Outcome.ANSWERED.value)},
    )  # fmt: skip
    [found] = SteadyChoice(ComponentContext(FORM)).compute(table)
    return found


def test_it_is_a_metric() -> None:
    assert isinstance(SteadyChoice(ComponentContext(FORM)), Metric)


def test_the_share_of_observations_that_stay_the_same() -> None:
    steady = [(f"steady-{row}", "fair") for row in range(6) for _ in "ab"]
    changed = [("changed", "fair"), ("changed", "biased"), ("silent", "fair"), ("silent", "")]
    found = score([*steady, *changed])
    assert (found.value, found.n, found.clusters) == (0.75, 8, 8)
    assert found.interval is not None
    assert found.interval.low is not None
    assert found.interval.low < 0.75


def test_what_was_asked_once_says_nothing() -> None:
    found = score([("one", "fair"), ("two", "fair")])
    assert found.value is None
    assert found.reason is not None
    assert "asked once" in found.reason


@pytest.mark.parametrize(("model", "value"), [("first", 0.0), ("stereotyped", 1.0), ("anti-stereotyped", 1.0)])
def test_on_models_whose_answers_are_known(tmp_path: Path, model: str, value: float) -> None:
    config = RunConfig("jubaku:demo", "reference", model, metrics=("steady_choice",), runs=str(tmp_path))
    [found] = run(config).scores
    assert (found.metric, found.value) == ("steady_choice", value)
    assert found.clusters > 8
