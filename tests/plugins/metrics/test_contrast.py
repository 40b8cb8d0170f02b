"""One condition against another, paired by source and language."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from biasfw import ComponentError, clustered_mean, sign_flip


def paired(row: Any, forced: list[str], plain: list[str], **fields: Any) -> list[Any]:
    return [
        row((label, "elks"), source=f"s{place}", condition=condition, **fields)
        for condition, labels in (("forced", forced), ("plain", plain))
        for place, label in enumerate(labels)
    ]


FORCED = ["ants"] * 9 + ["bees"] * 5
PLAIN = ["ants"] * 3 + ["bees"] * 3 + ["cats"] * 8


def test_difference_with_interval_and_sign_flip(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    scores = compute("condition_contrast", table_of(paired(row, FORCED, PLAIN), form), form)
    differences = np.array([(f == "ants") - (p == "ants") for f, p in zip(FORCED, PLAIN, strict=True)], dtype=float)
    score = one(scores, "all", slot="praised", label="ants")
    assert (score.value, score.n, score.clusters) == (pytest.approx(6 / 14), 14, 14)
    assert (score.slice["condition"], score.slice["against"]) == ("forced", "plain")
    assert score.interval == clustered_mean(differences, range(14)).interval()
    assert score.test.p == pytest.approx(sign_flip(differences).p, abs=0.004)  # other draws: clusters are sorted
    family = [s for s in scores if s.family == score.family]
    assert len(family) == 10
    expected = multipletests([s.test.p for s in family], method="holm")[1]
    assert [s.test.p_adjusted for s in family] == pytest.approx(list(expected))


def test_repeats_and_languages_are_averaged_within_a_source(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = paired(row, FORCED, PLAIN) + paired(row, FORCED, PLAIN, repeat=1) + paired(row, PLAIN, FORCED, language="ja")
    scores = compute("condition_contrast", table_of(rows, form), form, slot="praised")
    both, english = one(scores, "all", label="ants"), one(scores, "all", label="ants", language="en")
    assert (both.value, both.n, both.clusters) == (pytest.approx(0), 28, 14)
    assert (english.value, english.n) == (pytest.approx(6 / 14), 14)


def test_sources_without_a_partner_do_not_count(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [*paired(row, FORCED, PLAIN), row(("dogs", "elks"), source="alone")]
    assert (
        one(compute("condition_contrast", table_of(rows, form), form), "all", slot="praised", label="dogs").value == 0
    )
    rows = [row(("ants", "elks"), source="a"), row(("ants", "elks"), source="b", condition="plain")]
    reasons = {(s.value, s.reason) for s in compute("condition_contrast", table_of(rows, form), form)}
    assert reasons == {(None, "no source was answered under both conditions")}


def test_missing_answers_widen_the_bounds_and_leave_the_answered_pairs(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = paired(row, ["ants"] * 8 + ["<refused>"] * 2, ["ants"] * 4 + ["bees"] * 5 + ["<refused>"])
    scores = compute("condition_contrast", table_of(rows, form), form, slot="praised")
    everyone = one(scores, "all", label="ants")
    assert (everyone.value, everyone.bounds) == (pytest.approx(0.4), (pytest.approx(0.3), pytest.approx(0.6)))
    answered = one(scores, "answered", label="ants")
    assert (answered.value, answered.n) == (0.5, 8)


def test_a_condition_that_names_nothing_gives_no_difference(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of(paired(row, ["<refused>"] * 6, ["ants"] * 6), form)
    praised = compute("condition_contrast", table, form, slot="praised")
    assert {(score.value, score.reason) for score in praised} == {(None, "one condition names no label")}


def test_options_choose_the_conditions(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of(paired(row, FORCED, PLAIN), form)
    turned = compute("condition_contrast", table, form, condition="plain", against="forced")
    assert one(turned, "all", slot="praised", label="ants").value == pytest.approx(-6 / 14)
    assert compute("condition_contrast", table, form, condition="optional") == []
    with pytest.raises(ComponentError, match="no condition 'plan'; choose one of forced, optional, plain"):
        compute("condition_contrast", table, form, against="plan")


def test_without_a_calibrating_condition_there_is_no_score(
    compute: Any, table_of: Any, row: Any, form: Any, form_with: Any
) -> None:
    table = table_of(paired(row, FORCED, PLAIN), form)
    assert compute("condition_contrast", table, form_with(calibrate=None)) == []
    only = table_of([r for r in paired(row, FORCED, PLAIN) if r.condition == "forced"], form)
    assert compute("condition_contrast", only, form) == []


def test_with_few_clusters_the_interval_stays_a_difference_of_shares(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    table = table_of(paired(row, ["ants"] * 5, ["bees"] * 4 + ["ants"]), form)
    score = one(compute("condition_contrast", table, form), "all", slot="praised", label="ants")
    assert score.value == pytest.approx(0.8)
    assert score.interval.high == 1, "t alone reaches 1.36"
    assert "cut to the values that are possible" in score.interval.method
