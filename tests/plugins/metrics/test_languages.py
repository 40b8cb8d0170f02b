"""One language against another, paired by source; and the rate of answers in the language asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from biasfw import (
    ComponentContext,
    ComponentError,
    LanguagePack,
    Table,
    clustered_mean,
    clustered_proportion,
    sign_flip,
)
from biasfw_plugins.metrics.answer_language import AnswerLanguage

ENGLISH = ["ants"] * 9 + ["bees"] * 5
JAPANESE = ["ants"] * 3 + ["bees"] * 3 + ["cats"] * 8
KEYS = tuple(f"{one}|{other}" for one in ("ants", "bees") for other in ("cats", "dogs"))


def asked(row: Any, answers: dict[str, list[str]], **fields: Any) -> list[Any]:
    """Per language the label of the first slot, source by source."""
    return [
        row((label, "elks"), source=f"s{place:02}", language=language, **fields)
        for language, labels in answers.items()
        for place, label in enumerate(labels)
    ]


def contrast(compute: Any, table: Table, form: Any, **options: Any) -> Any:
    return compute("language_contrast", table, form, slot="praised", **options)


def test_difference_with_interval_sign_flip_and_holm_over_the_family(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    table = table_of(asked(row, {"en": ENGLISH, "ja": JAPANESE}), form)
    scores = compute("language_contrast", table, form)
    differences = np.array([(j == "ants") - (e == "ants") for e, j in zip(ENGLISH, JAPANESE, strict=True)], dtype=float)
    score = one(scores, "all", slot="praised", label="ants", language="ja")
    assert (score.value, score.n, score.clusters) == (pytest.approx(-6 / 14), 14, 14)
    assert score.slice["against"] == "en"
    assert score.bounds == (score.value, score.value)
    assert score.interval == clustered_mean(differences, range(14)).interval()
    assert score.test.p == pytest.approx(sign_flip(differences).p, abs=1e-9), "clusters stand in the order of names"
    family = [s for s in scores if s.family == score.family]
    assert {tuple(s.slice[k] for k in ("slot", "label")) for s in family} == {
        (slot, label) for slot in ("praised", "blamed") for label in ("ants", "bees", "cats", "dogs", "elks")
    }
    expected = multipletests([s.test.p for s in family], method="holm")[1]
    assert [s.test.p_adjusted for s in family] == pytest.approx(list(expected))


def test_every_other_language_against_the_first_that_is_there_or_the_one_that_is_named(
    compute: Any, one: Any, table_of: Any, row: Any, form_with: Any
) -> None:
    form = form_with(languages=("sw", "en", "ja", "hi"))
    table = table_of(asked(row, {"ja": JAPANESE, "en": ENGLISH, "hi": ENGLISH}), form)
    scores = contrast(compute, table, form)
    assert {(s.slice["language"], s.slice["against"]) for s in scores} == {("ja", "en"), ("hi", "en")}
    turned = contrast(compute, table, form, against="ja")
    assert {(s.slice["language"], s.slice["against"]) for s in turned} == {("en", "ja"), ("hi", "ja")}
    assert one(turned, "all", language="en", label="ants").value == pytest.approx(6 / 14)
    with pytest.raises(ComponentError, match="no language 'jp'; choose one of sw, en, ja, hi"):
        contrast(compute, table, form, against="jp")
    absent = contrast(compute, table, form, against="sw")
    assert {s.value for s in absent} == {None}
    assert {s.reason for s in absent} == {"nothing was asked in 'sw', the language to compare with"}


def test_one_language_gives_nothing(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    assert contrast(compute, table_of(asked(row, {"ja": JAPANESE}), form), form) == []


def test_conditions_and_categories_are_kept_apart(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = [
        *asked(row, {"en": ["ants"] * 6, "ja": ["bees"] * 6}),
        *asked(row, {"en": ["ants"] * 6, "ja": ["ants"] * 6}, condition="plain"),
        *asked(row, {"en": ["bees"] * 6, "ja": ["ants"] * 6}, condition="optional", category="food", cluster="k"),
        *asked(row, {"en": ["bees"] * 6, "ja": ["bees"] * 6}, condition="optional", category="work", cluster="k"),
    ]
    scores = contrast(compute, table_of(rows, form), form)
    by_condition = {c: one(scores, "all", condition=c, label="ants", language="ja") for c in ("forced", "plain")}
    assert [score.value for score in by_condition.values()] == [-1, 0]
    cell = one(scores, "all", condition="optional", category="food", label="ants", language="ja")
    assert (cell.value, cell.n, cell.clusters) == (1, 6, 1)
    assert "by category" in cell.family
    assert cell.family != one(scores, "all", condition="optional", label="ants", language="ja").family


def test_repeats_are_paired_with_each_other_and_averaged_within_clusters(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    rows = [
        *asked(row, {"en": ["ants"] * 8, "ja": ["ants"] * 8}),
        *asked(row, {"en": ["bees"] * 8, "ja": ["ants"] * 7 + ["<refused>"]}, repeat=1),
    ]
    scores = contrast(compute, table_of(rows, form), form)
    whole = one(scores, "all", label="ants", language="ja")
    assert (whole.value, whole.n, whole.clusters) == (pytest.approx(7 / 16), 16, 8)
    assert whole.bounds == (pytest.approx(7 / 16), pytest.approx(8 / 16))
    answered = one(scores, "answered", label="ants", language="ja")
    assert (answered.value, answered.n) == (pytest.approx(3.5 / 8), 15)


def test_missing_answers_widen_the_bounds_of_both_denominators(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    english = ["ants"] * 8 + ["<refused>"] * 2
    japanese = ["ants"] * 4 + ["bees"] * 5 + ["<error>"]
    scores = contrast(compute, table_of(asked(row, {"en": english, "ja": japanese}), form), form)
    everyone = one(scores, "all", label="ants", language="ja")
    assert everyone.value == pytest.approx(-0.4)
    assert everyone.bounds == (pytest.approx(-0.6), pytest.approx(-0.3))
    answered = one(scores, "answered", label="ants", language="ja")
    assert (answered.value, answered.n) == (-0.5, 8)
    # The last pairs: (missing, bees) gives -1 to 0, (missing, missing) -1 to 1.
    assert answered.bounds == (pytest.approx(-0.6), pytest.approx(-0.3))
    assert all(s.bounds is not None for s in scores if s.value is not None), "never an answered share without bounds"


def test_whoever_declines_is_not_missing(compute: Any, one: Any, table_of: Any, row: Any, form: Any) -> None:
    table = table_of(asked(row, {"en": ["ants"] * 6, "ja": ["ants"] * 3 + ["nobody"] * 3}), form)
    scores = contrast(compute, table, form)
    score = one(scores, "all", label="ants", language="ja")
    assert (score.value, score.bounds) == (-0.5, (-0.5, -0.5))
    assert one(scores, "answered", label="ants", language="ja").bounds == (0, 0)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"en": ["ants"] * 6, "ja": ["<refused>"] * 6}, "one of the two languages names no label"),
        ({"en": ["ants", "<error>"], "ja": ["<error>", "ants"]}, "no source was answered in both languages"),
    ],
)
def test_what_cannot_be_compared_has_a_reason(
    compute: Any, table_of: Any, row: Any, form: Any, answers: dict[str, list[str]], reason: str
) -> None:
    scores = contrast(compute, table_of(asked(row, answers), form), form)
    undefined = [s for s in scores if s.denominator == "answered"]
    assert {(s.value, s.reason) for s in undefined} == {(None, reason)}


def scored(row: Any, language: str, source: str, condition: str, ants: float) -> Any:
    """A scored row: log-odds ``ants`` of ants against bees in the first slot."""
    logprobs = {key: (ants if key.startswith("ants") else 0.0) - 10 for key in KEYS}
    return row(("ants", "cats"), source=source, language=language, condition=condition, logprobs=logprobs)


def test_likelihood_shares_are_compared_only_calibrated(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any, form_with: Any
) -> None:
    # Japanese texts about ants are likelier under every prompt: calibrated, the languages do not differ.
    rows = [
        scored(row, language, f"s{place}", condition, 2.0 * (language == "ja") + (condition == "forced"))
        for language in ("en", "ja")
        for place in range(6)
        for condition in ("forced", "plain")
    ]
    scores = contrast(compute, table_of(rows, form, KEYS), form)
    score = one(scores, "all", label="ants", language="ja", condition="forced")
    assert score.slice["scoring"] == "calibrated"
    assert score.value == pytest.approx(0)
    assert {s.slice["condition"] for s in scores} == {"forced"}
    raw = contrast(compute, table_of(rows, form, KEYS), form_with(calibrate=None))
    assert {s.value for s in raw} == {None}
    assert all("only when calibrated" in s.reason for s in raw)
    alone = [r for r in rows if r.condition == "forced"]
    reasons = {s.reason for s in contrast(compute, table_of(alone, form, KEYS), form)}
    assert reasons == {"what was answered cannot be calibrated: it has no partner under the calibrating condition"}


def test_no_difference_is_rejected_as_often_as_it_says(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    generator = np.random.default_rng(3)
    rejected = 0
    for _ in range(200):
        # The taste of a source is shared by both languages: clusters, and pairs that are alike.
        tastes = generator.random(10)
        draw = {
            language: [("ants", "bees")[int(generator.random() < taste)] for taste in tastes]
            for language in ("en", "ja")
        }
        scores = contrast(compute, table_of(asked(row, draw), form), form)
        family = [s for s in scores if s.denominator == "all" and "overall" in s.family]
        rejected += any(s.test.p_adjusted < 0.05 for s in family)
    assert rejected / 200 <= 0.08


def rate(compute: Any, table: Table, form: Any) -> Any:
    return compute("answer_language", table, form)


def test_answer_language_is_a_rate_with_bounds_that_no_other_score_uses(
    compute: Any, one: Any, table_of: Any, row: Any, form: Any
) -> None:
    written = ["asked"] * 6 + ["other:Latn"] * 3 + ["other:Hani", "", ""]
    rows = [
        row(("ants", "elks"), source=f"s{place}", language="ja", written=text) for place, text in enumerate(written)
    ]
    rows.append(row(("<error>", "<error>"), source="s12", language="ja"))
    scores = rate(compute, table_of(rows, form), form)
    everyone, returned = (one(scores, over, language="ja", condition="forced") for over in ("all", "returned"))
    assert (everyone.value, everyone.n) == (pytest.approx(6 / 13), 13)
    assert everyone.bounds == (pytest.approx(6 / 13), pytest.approx(9 / 13))
    assert (returned.value, returned.n) == (0.5, 12)
    assert returned.bounds == (0.5, pytest.approx(8 / 12))
    assert returned.interval == clustered_proportion([1] * 6 + [0] * 6, range(12)).interval()
    assert returned.reason == "other scripts: 3 in Latn, 1 in Hani; 2 without enough letters to go by"
    shares = compute("label_share", table_of(rows, form), form, slot="praised")
    assert one(shares, "answered", label="ants").n == 12, "an answer in another language is an answer"


def test_a_language_that_cannot_be_assessed_says_so_once(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    rows = asked(row, {"en": ENGLISH, "ja": JAPANESE, "xx": ENGLISH}, written="asked")
    scores = rate(compute, table_of(rows, form), form)
    found = {s.slice["language"]: (s.value, s.reason, s.denominator) for s in scores if s.value is None}
    assert found == {
        "en": (None, "not assessed: no method with a known error rate for en", "returned"),
        "xx": (None, "not assessed: there is no language pack for xx", "returned"),
    }
    assert sum(s.slice["language"] == "en" for s in scores) == 1


def test_answers_without_letters_and_failed_requests_have_no_rate(
    compute: Any, table_of: Any, row: Any, form: Any
) -> None:
    silent = rate(compute, table_of(asked(row, {"ja": ENGLISH}), form), form)
    assert {(s.value, s.reason) for s in silent} == {(None, "no response has enough letters to go by")}
    rows = [row(("<error>", "<error>"), language="ja")]
    failed = {s.denominator: s.reason for s in rate(compute, table_of(rows, form), form)}
    assert failed["returned"] == "every request failed"


def test_scored_choices_are_written_in_no_language(compute: Any, table_of: Any, row: Any, form: Any) -> None:
    assert rate(compute, table_of([scored(row, "ja", "s0", "forced", 1.0)], form, KEYS), form) == []


def test_the_pack_of_a_base_language_counts(table_of: Any, row: Any, form_with: Any) -> None:
    form = form_with(languages=("zh-TW",))
    packs = {"zh": LanguagePack("zh", "Chinese", "\u4e2d\u6587", "Hans", 0, answer_language_method="script")}
    table = table_of(asked(row, {"zh-TW": ENGLISH}, written="asked"), form)
    assert {s.value for s in AnswerLanguage(ComponentContext(form, packs)).compute(table)} == {1.0}
