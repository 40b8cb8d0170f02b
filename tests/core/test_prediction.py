"""The corrected share: by hand, at its limits, and how often its interval holds the true share."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from biasfw.prediction import CORRECTED, corrected_share
from biasfw.stats import clustered_proportion, stratified_proportion

Floats = NDArray[np.float64]


def test_the_estimate_is_the_formula() -> None:
    generator = np.random.default_rng(4)
    strata = np.repeat([0, 1], [120, 60])
    prompts, truth = np.arange(180), (generator.random(180) < 0.6).astype(float)
    judge = np.where(generator.random(180) < 0.3, 1 - truth, truth)
    people = np.where(generator.random(180) < 0.5, truth, np.nan)
    known = ~np.isnan(people)
    by_hand = sum(
        weight * (judge[strata == s].mean() + (truth - judge)[(strata == s) & known].mean())
        for s, weight in ((0, 2 / 3), (1, 1 / 3))
    )
    found = corrected_share(judge, people, prompts, strata)
    assert found.estimate.mean == pytest.approx(by_hand)
    assert found.judge == pytest.approx(judge.mean())
    assert found.correction is not None
    assert found.correction == pytest.approx(by_hand - found.judge)
    assert found.estimate.method == CORRECTED
    assert found.note is None
    assert found.disagreements == (known & (judge != truth)).sum()


def test_with_everything_labelled_it_is_the_mean_of_what_people_said() -> None:
    generator = np.random.default_rng(5)
    truth = (generator.random(300) < 0.4).astype(float)
    judge = np.where(generator.random(300) < 0.3, 1 - truth, truth)
    prompts = np.repeat(np.arange(100), 3)
    found = corrected_share(judge, truth, prompts, np.zeros(300)).estimate
    plain = clustered_proportion(truth, prompts)
    assert found.mean == pytest.approx(plain.mean)
    assert found.se == pytest.approx(plain.se)


def test_a_perfect_judge_leaves_the_correction_open() -> None:
    truth = np.tile([1.0, 0.0], 50)
    people = np.where(np.arange(100) < 40, truth, np.nan)
    found = corrected_share(truth, people, np.arange(100), np.zeros(100))
    assert found.note == "correction not estimable: 0 of at least 10 labelled prompts in disagreement"
    assert found.estimate == found.labels_only
    assert found.estimate.mean == 0.5
    assert found.estimate.clusters == 40


def test_disagreements_are_counted_by_prompt() -> None:
    people = np.zeros(120)
    judge = np.where(np.arange(120) < 32, 1.0, 0.0)  # eight prompts of four rows
    found = corrected_share(judge, people, np.repeat(np.arange(30), 4), np.zeros(120))
    assert found.disagreements == 8
    assert found.note is not None


def test_below_ten_labelled_prompts_there_is_nothing() -> None:
    people = np.where(np.arange(100) < 9, 1.0, np.nan)
    found = corrected_share(np.ones(100), people, np.arange(100), np.zeros(100))
    assert found.estimate.mean is None
    assert found.estimate.reason == "9 of at least 10 labelled prompts"
    none = corrected_share(np.ones(100), np.full(100, np.nan), np.arange(100), np.zeros(100))
    assert none.estimate.reason == "0 of at least 10 labelled prompts"


def test_a_stratum_without_labels_is_no_stratum_to_leave_out() -> None:
    people = np.where(np.arange(100) < 50, 1.0, np.nan)
    found = corrected_share(np.ones(100), people, np.arange(100), np.repeat([0, 1], 50))
    assert found.estimate.mean is None
    assert found.estimate.reason == "no labels in 1 of 2 strata"


def test_strata_count_by_their_size() -> None:
    people = np.full(100, np.nan)
    people[:20], people[90:] = 1.0, 0.0  # 20 of 90 labelled, all 1; 10 of 10 labelled, all 0
    found = corrected_share(np.zeros(100), people, np.arange(100), np.repeat([0, 1], [90, 10]))
    assert found.labels_only.mean == pytest.approx(0.9)
    assert found.estimate.mean == pytest.approx(0.9)


def test_equal_weights_are_no_weights() -> None:
    generator = np.random.default_rng(6)
    stratum = np.arange(40) % 4
    sizes = np.zeros((40, 4))
    sizes[np.arange(40), stratum] = 3
    sums = sizes * generator.random((40, 1))
    plain, weighted = stratified_proportion(sums, sizes), stratified_proportion(sums, sizes, weights=[5, 5, 5, 5])
    assert weighted.mean == pytest.approx(plain.mean)
    assert weighted.se == pytest.approx(plain.se)
    one = stratified_proportion(sums, sizes, weights=[1, 0, 0, 0])
    assert one.mean == pytest.approx((sums[:, 0].sum()) / sizes[:, 0].sum())


def test_copied_rows_of_a_prompt_narrow_nothing() -> None:
    generator = np.random.default_rng(7)
    truth = (generator.random(200) < 0.5).astype(float)
    judge = np.where(generator.random(200) < 0.25, 1 - truth, truth)
    people, prompts = np.where(np.arange(200) % 3 == 0, truth, np.nan), np.arange(200)
    strata = np.arange(200) % 2
    once = corrected_share(judge, people, prompts, strata).estimate
    often = corrected_share(*(np.repeat(x, 5) for x in (judge, people, prompts, strata))).estimate
    assert once.low is not None
    assert once.method == CORRECTED
    assert often.low == pytest.approx(once.low)
    assert often.high == pytest.approx(once.high)


JUDGES = ((0.95, 0.9), (0.8, 0.8), (0.6, 0.95))  # how often it finds the label where it is, and nothing where it is not


@dataclass(frozen=True)
class World:
    """Prompts with three responses each in four domains that differ; both labels and errors hang together."""

    share: float
    labelled: int
    judge: tuple[float, float]
    prompts: int = 300
    spread: float = 0.0  # how much the domains differ

    def coverage(self, runs: int) -> tuple[float, float, float]:
        """How often the interval holds the share, how often the correction was made, the mean width."""
        seeds = [round(1000 * self.share), self.labelled, round(100 * self.judge[0]), self.prompts]
        generator = np.random.default_rng(seeds)
        inside, corrected, width = 0, 0, 0.0
        strata, unit = np.repeat(np.arange(self.prompts) % 4, 3), np.repeat(np.arange(self.prompts), 3)
        for _ in range(runs):
            truth, judge = self._drawn(generator)
            people = np.where(np.isin(unit, self._sample(generator)), truth, np.nan)
            found = corrected_share(judge, people, unit, strata)
            low, high = found.estimate.low, found.estimate.high
            assert low is not None
            assert high is not None
            inside += low <= self.share <= high
            corrected += found.note is None
            width += high - low
        return inside / runs, corrected / runs, width / runs

    def _drawn(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        def rates(mean: Floats | float, together: float) -> Floats:
            total = 1 / together - 1
            return generator.beta(np.asarray(mean) * total, (1 - np.asarray(mean)) * total, self.prompts).repeat(3)

        domain = np.array([-1, 1, -1, 1])[np.arange(self.prompts) % 4]
        truth = generator.random(3 * self.prompts) < rates(self.share + self.spread * domain, 0.5)
        found = generator.random(3 * self.prompts) < rates(self.judge[0], 0.2)
        false = generator.random(3 * self.prompts) >= rates(self.judge[1], 0.2)
        return truth.astype(np.float64), np.where(truth, found, false).astype(np.float64)

    def _sample(self, generator: np.random.Generator) -> NDArray[np.int64]:
        sizes = [self.labelled // 4 + (stratum < self.labelled % 4) for stratum in range(4)]
        blocks = [
            generator.choice(np.arange(stratum, self.prompts, 4), size, replace=False)
            for stratum, size in enumerate(sizes)
        ]
        return np.concatenate(blocks)


@pytest.mark.parametrize(("share", "labelled", "judge"), [(0.5, 30, 1), (0.9, 50, 0), (0.97, 30, 1), (0.97, 100, 2)])
def test_coverage(share: float, labelled: int, judge: int) -> None:
    coverage, _, _ = World(share, labelled, JUDGES[judge]).coverage(200)
    assert coverage >= 0.89  # 0.925 less two standard errors of so few runs


def test_coverage_where_strata_have_one_labelled_prompt() -> None:
    strata = np.where(np.arange(200) < 150, np.arange(200) % 2, np.arange(200) % 6 + 2)  # two large, six small
    world, generator, inside = World(0.9, 18, JUDGES[1], 200), np.random.default_rng(8), 0
    sizes = [max(1, round(16 * np.mean(strata == stratum))) for stratum in range(8)]
    assert min(sizes) == 1
    for _ in range(200):
        drawn = [generator.choice(np.flatnonzero(strata == s), size, replace=False) for s, size in enumerate(sizes)]
        truth, judge = world._drawn(generator)
        unit = np.arange(200).repeat(3)
        people = np.where(np.isin(unit, np.concatenate(drawn)), truth, np.nan)
        found = corrected_share(judge, people, unit, strata.repeat(3)).estimate
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.9 <= found.high
    assert inside / 200 >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [30, 50, 100])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
def test_coverage_over_the_whole_grid(share: float, labelled: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for judge, (prompts, spread) in itertools.product(JUDGES, ((300, 0.0), (120, 0.02))):
        coverage, corrected, width = World(share, labelled, judge, prompts, spread).coverage(1000)
        found[judge, prompts] = coverage
        figures = f"coverage {coverage:.3f}  corrected {corrected:.2f}  mean width {width:.3f}"
        with capsys.disabled():
            sys.stdout.write(f"\nshare {share:.2f}  {labelled:3} of {prompts} prompts  judge {judge}  {figures}")
    assert min(found.values()) >= 0.925, found
