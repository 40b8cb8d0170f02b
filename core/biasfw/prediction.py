"""The share of a label by a judge that errs, corrected by what people said about a random part.

Prediction-powered inference: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023 (Science 382:669, arXiv
2301.09633), stratified as in Fisch et al. 2024 (arXiv 2406.04291); as an estimator the difference estimator of survey
sampling (Saerndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, section 6.3). Strata are those in which
people's part was drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from biasfw.stats import Estimate, stratified_proportion, wilson_form

MIN_PROMPTS = 10  # fewer labelled prompts say nothing
MIN_DISAGREEMENTS = 10  # prompts; a correction made of fewer has no variance to speak of
CORRECTED = "prediction-powered, stratified and clustered: Wilson form of all prompts and t(C - K) of the correction"

_Floats = NDArray[np.float64]
_Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A share by judge and people.

    ``estimate`` is what may be quoted: the corrected share, or the share among the labelled rows alone where
    ``note`` says that the correction cannot be estimated; null with a reason below 10 labelled prompts.
    """

    estimate: Estimate
    judge: float | None  # the judge's share of all rows, uncorrected
    labels_only: Estimate  # the share among the labelled rows, strata weighted by their size
    correction: float | None  # sum_s W_s mean_{s,labelled}(Y - F)
    rows: int  # all rows
    labelled: int  # rows
    prompts: int  # labelled
    disagreements: int  # labelled prompts in which judge and people differ somewhere
    note: str | None = None


def corrected_share(judge: ArrayLike, people: ArrayLike, prompts: ArrayLike, strata: ArrayLike) -> Corrected:
    """``sum_s W_s [mean_s F + mean_{s,labelled}(Y - F)]`` and its interval.

    ``W_s`` is the part of the rows that lies in stratum s. The labelled prompts are some of all prompts, so the two
    means hang together; ``_interval`` says how their variance is taken. If everything is labelled, the interval is
    that of the labels. A stratum with one labelled prompt is centred on the whole, as in ``stratified_proportion``.

    Args:
        judge: (n,) F, 0 or 1 for every row: whether the judge says the label. Unread counts 0, as any error of his.
        people: (n,) Y, 0 or 1 where people labelled the row, else NaN.
        prompts: (n,) the source prompt of each row: the unit that was drawn.
        strata: (n,) the stratum of each row.
    """
    said, truth = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    _, stratum = np.unique(np.asarray(strata), return_inverse=True)
    # A prompt that lies in two strata was drawn in each of them on its own, so it counts as two.
    pairs = np.stack([np.unique(np.asarray(prompts), return_inverse=True)[1], stratum])
    unit = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    known = ~np.isnan(truth)
    rows, labelled = len(said), int(known.sum())
    sizes = np.bincount(stratum, minlength=1).astype(np.float64)
    only = _labels_only(truth, unit, stratum, sizes)
    differ = np.unique(unit[known & (said != truth)]).size
    share = float(said.mean()) if rows else None
    count = only.clusters
    silent = int((np.bincount(stratum[known], minlength=len(sizes)) == 0).sum())
    reason = None
    if count < MIN_PROMPTS:
        reason = f"{count} of at least {MIN_PROMPTS} labelled prompts"
    elif silent:
        reason = f"no labels in {silent} of {len(sizes)} strata"
    if reason is not None:
        nothing = Estimate(None, None, None, None, labelled, count, None, CORRECTED, reason)
        return Corrected(nothing, share, nothing, None, rows, labelled, count, differ)
    mean, correction, gap = _corrected(said, truth, unit, stratum)
    note = None
    if differ < MIN_DISAGREEMENTS:
        note = f"{differ} of at least {MIN_DISAGREEMENTS} labelled prompts in disagreement"
    elif only.n_eff is None or only.se is None:
        note = only.reason
    elif not -2 * gap <= mean <= 1 + 2 * gap:
        note = f"it leads to {mean:.2f}"
    if note is not None or only.n_eff is None or only.se is None:
        note = f"correction not estimable: {note}"
        return Corrected(only, share, only, correction, rows, labelled, count, differ, note)
    estimate = _interval(mean, gap, only, np.unique(unit).size, len(sizes))
    return Corrected(estimate, share, only, correction, rows, labelled, count, differ)


def _interval(mean: float, gap: float, only: Estimate, prompts: int, strata: int) -> Estimate:
    """Two errors that are independent, put together as Zou and Donner 2008 do (Statistics in Medicine 27:1693).

    ``Var = Var(Y) / N + (1/n - 1/N) Var(Y - F)``: the share among all N prompts is itself a sample's, with Wilson's
    form (``n_eff`` of the labels, N/n times), and n of the N prompts tell how far the judge is from it, with t. The
    plain t interval of the sum falls below 92.5 % near 1 where most prompts are labelled, Wilson's form of the sum to
    87 %.
    """
    assert only.n_eff is not None  # noqa: S101 - asked by the caller
    assert only.se is not None  # noqa: S101
    mean = min(max(mean, 0.0), 1.0)
    quantile = float(stdtrit(only.clusters - strata, 0.975))
    low, high = wilson_form(mean, only.n_eff * prompts / only.clusters, quantile)
    low, high = mean - math.hypot(mean - low, quantile * gap), mean + math.hypot(high - mean, quantile * gap)
    se = math.hypot(only.se * math.sqrt(only.clusters / prompts), gap)
    return Estimate(mean, se, max(low, 0.0), min(high, 1.0), only.n, only.clusters, None, CORRECTED)


def _labels_only(truth: _Floats, unit: _Ints, stratum: _Ints, sizes: _Floats) -> Estimate:
    known = ~np.isnan(truth)
    shape = (int(unit.max(initial=-1)) + 1, len(sizes))
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (unit[known], stratum[known]), truth[known])
    np.add.at(counts, (unit[known], stratum[known]), 1.0)
    return stratified_proportion(sums, counts, weights=sizes)


def _corrected(said: _Floats, truth: _Floats, unit: _Ints, stratum: _Ints) -> tuple[float, float, float]:
    """The share, the correction in it, and the standard error of the correction about that of all prompts."""
    known = ~np.isnan(truth)
    gaps, unit_of, place = truth[known] - said[known], unit[known], stratum[known]
    weights, rows = np.bincount(stratum) / len(said), np.bincount(place).astype(np.float64)
    means = np.bincount(place, gaps) / rows
    correction = float(weights @ means)
    drawn, there = _units(unit_of, place, len(weights)), _units(unit, stratum, len(weights))
    alone = drawn == 1
    factors = np.where(alone, 1.0, np.sqrt(drawn / np.maximum(drawn - 1, 1))) * np.sqrt(1 - drawn / there)
    residuals = (weights * factors / rows)[place] * (gaps - np.where(alone, correction, means)[place])
    return float(said.mean()) + correction, correction, float(np.linalg.norm(np.bincount(unit_of, residuals)))


def _units(unit: _Ints, stratum: _Ints, strata: int) -> _Floats:
    """(K,) how many units lie in each stratum; every unit lies in one."""
    places = stratum[np.unique(unit, return_index=True)[1]]
    return np.bincount(places, minlength=strata).astype(np.float64)
