"""Before and after over all drafts; placebo; what is reported, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from biasfw.authoring.analysis import Ends, before_after, placebo_effect, report
from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import Workbench
from biasfw.authoring.work import ends_of, try_all
from biasfw.plugins import Plugins

from .conftest import DRAFTS, texts_of

DRAFTED, QUESTIONS = 80, 8


def simulated(rng: np.random.Generator, placebo: bool = False) -> list[Ends]:
    """Each draft has its own effect on a target and on two held-out models, which go together; the target decides.

    The held-out effect has a known mean, as ``truth`` says; kept are drafts whose effect on the target is large.
    """
    shared = rng.normal(0, 1, DRAFTED)
    kept = shared + rng.normal(0, 0.5, DRAFTED) > 0
    found = []
    for model in ("one", "two"):
        start = rng.normal(0.5, 1, DRAFTED)
        first = rng.binomial(QUESTIONS, expit(start)) / QUESTIONS
        last = rng.binomial(QUESTIONS, expit(start - 0.6 - 0.8 * shared)) / QUESTIONS
        other = rng.binomial(QUESTIONS, expit(start - 0.2)) / QUESTIONS
        found += [
            Ends(str(n), model, bool(kept[n]), first[n], last[n], other[n] if placebo else None)
            for n in range(DRAFTED)
        ]  # fmt: skip
    return found


def mean_expit(mean: float, sd: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float((weights * expit(mean + sd * nodes)).sum() / weights.sum())


TRUTH = mean_expit(-0.1, float(np.hypot(1, 0.8))) - mean_expit(0.5, 1)
PLACEBO_TRUTH = mean_expit(-0.1, float(np.hypot(1, 0.8))) - mean_expit(0.3, 1)


def test_before_and_after_covers_the_known_effect_and_the_kept_ones_alone_do_not() -> None:
    rng, draws = np.random.default_rng(8), 1000
    covered = {"all": 0, "kept": 0}
    for _ in range(draws):
        document = before_after(simulated(rng))
        for name in covered:
            covered[name] += document[name]["low"] <= TRUTH <= document[name]["high"]
    assert covered["all"] / draws >= 0.925
    assert covered["kept"] / draws < 0.5


def test_adversarial_minus_placebo_covers_the_known_effect() -> None:
    rng, draws, covered = np.random.default_rng(9), 300, 0
    for _ in range(draws):
        found = placebo_effect(simulated(rng, placebo=True))["effect"]
        covered += found["low"] <= PLACEBO_TRUTH <= found["high"]
    assert covered / draws >= 0.925


def test_a_draft_is_one_observation_however_many_models_answer() -> None:
    one = [Ends(str(n), "m", True, 1.0, float(n % 3 == 0)) for n in range(30)]
    twice = [Ends(e.draft, model, e.kept, e.first, e.last) for e in one for model in ("m", "n")]
    single, double = before_after(one)["all"], before_after(twice)["all"]
    assert (single["drafts"], double["drafts"]) == (30, 30)
    assert double["high"] - double["low"] == pytest.approx(single["high"] - single["low"])


def test_a_workbench_is_reported(bench: Workbench, author: str, plugins: Plugins) -> None:
    names = []
    for row in DRAFTS[:6]:
        name, _ = bench.write(author, texts_of(row))
        names.append(name)
        bench.write(author, texts_of(row, edited=True), name)
        bench.write(author, {"context": row[1] + "どう思いますか。"}, name, arm="placebo")
    with Asker(bench, Target("scripted", "overlap"), plugins) as asker:
        list(try_all(asker, ends_of(bench)))
    for n, name in enumerate(names):
        bench.decide(author, name, accept=n != 0, reason="not attested" if n == 0 else "good")
    held = Target("scripted", "another", role="held-out")
    with Asker(bench, held, plugins) as asker:
        list(try_all(asker, ends_of(bench, every_end=True)))
    with Asker(bench, Target("scripted", "overlap", role="held-out"), plugins) as asker:
        list(try_all(asker, ends_of(bench, every_end=True)))  # it was a target: never held out again
    for _ in range(4):
        bench.join(yes=True, groups=("rare", "common"))
    bench.join(yes=True, groups=("common",))
    document = report(bench)
    assert document["drafts"] == {"all": 6, "accepted": 5, "rejected": 1, "open": 0, "withdrawn": 0}
    assert document["rejected"]["reasons"] == [{"item": names[0], "reason": "not attested"}]
    assert document["edits"]["value"] == 1
    change = document["before_after"]
    assert (change["all"]["value"], change["all"]["drafts"], change["kept"]["drafts"]) == (-1, 6, 5)
    assert list(change["models"]) == ["another"]
    assert document["placebo"]["effect"]["value"] == -1
    assert [(m["model"], m["role"], m["accuracy"]["value"]) for m in document["models"]] == [
        ("another", "held-out", 0), ("overlap", "target", 0),
    ]  # fmt: skip
    assert document["groups"] == {"common": 5}  # four people are too few to name
    assert sum(document["days"].values()) == 18
