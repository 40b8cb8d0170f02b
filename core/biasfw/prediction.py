"""The share of a label by a judge that errs, corrected by what people said about a random part.

Prediction-powered inference: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023 (Science 382:669, arXiv
2301.09633), stratified as in Fisch et al. 2024 (arXiv 2406.04291); as an estimator the difference estimator of survey
sampling (Saerndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, section 6.3). Strata are those in which
people's part was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from biasfw.stats import MIN_CLUSTERS, Estimate, stratified_proportion

MIN_PROMPTS = 10  # fewer labelled prompts say nothing
MIN_DISAGREEMENTS = 10  # prompts; a correction made of fewer has no variance to speak of
CORRECTED = "prediction-powered, stratified and clustered: t(C - K), cut at 0 and 1"

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

    ``W_s`` is the part of the rows that lies in stratum s. The residuals of both means are added up per prompt before
    they are squared: that is the variance of both with their covariance, since the labelled prompts are some of all
    prompts (and if everything is labelled, it is that of the mean of Y). A stratum with one labelled prompt is centred
    on the whole, as in ``stratified_proportion``.

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
    mean, correction, se = _corrected(said, truth, unit, stratum)
    if differ < MIN_DISAGREEMENTS:
        note = (
            f"correction not estimable: {differ} of at least {MIN_DISAGREEMENTS} labelled prompts with a disagreement"
        )
        return Corrected(only, share, only, correction, rows, labelled, count, differ, note)
    # In simulation (tests) t covers at shares of 0.5, 0.9 and 0.97; Wilson's form with an effective n, here, does not
    # near 1 (0.87): the variance comes from the judge's errors more than from the share.
    half = float(stdtrit(max(count - len(sizes), 1), 0.975)) * se
    if count - len(sizes) < MIN_CLUSTERS - 1 or not (mean - half <= 1 and mean + half >= 0):
        note = "correction not estimable: " + (
            f"it leads to {mean:.2f}" if count - len(sizes) >= MIN_CLUSTERS - 1 else f"too few for {len(sizes)} strata"
        )
        return Corrected(only, share, only, correction, rows, labelled, count, differ, note)
    low, high, mean = (min(max(value, 0.0), 1.0) for value in (mean - half, mean + half, mean))
    estimate = Estimate(mean, se, low, high, labelled, count, None, CORRECTED)
    return Corrected(estimate, share, only, correction, rows, labelled, count, differ)


def _labels_only(truth: _Floats, unit: _Ints, stratum: _Ints, sizes: _Floats) -> Estimate:
    known = ~np.isnan(truth)
    shape = (int(unit.max(initial=-1)) + 1, len(sizes))
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (unit[known], stratum[known]), truth[known])
    np.add.at(counts, (unit[known], stratum[known]), 1.0)
    return stratified_proportion(sums, counts, weights=sizes)


def _corrected(said: _Floats, truth: _Floats, unit: _Ints, stratum: _Ints) -> tuple[float, float, float]:
    """The share, the correction in it, and the standard error."""
    known = ~np.isnan(truth)
    weights = np.bincount(stratum) / len(said)
    _, first = _residuals(said, unit, stratum, weights)
    gaps, second = _residuals(truth[known] - said[known], unit[known], stratum[known], weights, int(unit.max()) + 1)
    return float(said.mean()) + gaps, gaps, float(np.linalg.norm(first + second))


def _residuals(
    values: _Floats, unit: _Ints, stratum: _Ints, weights: _Floats, units: int | None = None
) -> tuple[float, _Floats]:
    """The weighted mean over strata, and the linearised residual of every unit (each lies in one stratum)."""
    rows = np.bincount(stratum, minlength=len(weights)).astype(np.float64)
    means = np.bincount(stratum, values, minlength=len(weights)) / rows
    mean = float(weights @ means)
    members = np.zeros(len(weights))
    np.add.at(members, stratum[np.unique(unit, return_index=True)[1]], 1.0)
    alone = members == 1
    factors = np.where(alone, 1.0, np.sqrt(members / np.maximum(members - 1, 1)))
    centred = (weights * factors / rows)[stratum] * (values - np.where(alone, mean, means)[stratum])
    return mean, np.bincount(unit, centred, minlength=units or 0).astype(np.float64)
