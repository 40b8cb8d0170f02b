"""Which prompts people label: at random, in proportion to language x category, whole, and the same on any machine."""

from __future__ import annotations

from collections import Counter

import pytest

from biasfw import UsageError
from biasfw.labelling.drawing import Draw, DrawnRow, Stratum, draw_units
from biasfw.verdicts import Row


def rows(sizes: dict[tuple[str, str], int], repeats: int = 2) -> list[Row]:
    return [
        Row(f"{language}-{category}-{prompt}-{repeat}", language, category, f"{category}-{prompt}", "forced")
        for (language, category), size in sizes.items()
        for prompt in range(size)
        for repeat in range(repeats)
    ]


SIZES = {("en", "a"): 60, ("en", "b"): 30, ("ar", "a"): 60, ("ar", "b"): 3}


def test_strata_are_drawn_in_proportion_and_each_at_least_once() -> None:
    strata, units = draw_units(rows(SIZES), 20, seed=0)
    drawn = {(s.language, s.category): s.drawn for s in strata}
    assert drawn == {("en", "a"): 8, ("en", "b"): 4, ("ar", "a"): 7, ("ar", "b"): 1} or sum(drawn.values()) == 20
    assert drawn["ar", "b"] == 1, "its share of 20 would be 0.4"
    for stratum in strata:
        size = SIZES[stratum.language, stratum.category]
        assert (stratum.prompts, stratum.responses) == (size, 2 * size)
        assert stratum.inclusion == stratum.drawn / size
        assert abs(stratum.drawn - 20 * size / 153) <= 1
    assert Counter(unit[:2] for unit in units) == drawn


def test_all_responses_to_a_prompt_are_drawn_with_it() -> None:
    _, units = draw_units(rows(SIZES, repeats=5), 20, seed=3)
    assert {len(members) for members in units.values()} == {5}
    for (language, _, prompt), members in units.items():
        assert {(row.language, row.cluster) for row in members} == {(language, prompt)}


def test_failed_responses_are_not_there_to_be_labelled() -> None:
    found = rows({("en", "a"): 20})
    found[0] = Row(found[0].key, "en", "a", "a-0", "forced", answered=False)
    strata, units = draw_units(found, 20, seed=0)
    assert strata[0].responses == 39
    assert sorted(len(members) for members in units.values())[0] == 1


def test_a_draw_is_repeated_by_its_seed_whatever_the_order_of_the_rows() -> None:
    found = rows(SIZES)
    first, again, other = draw_units(found, 20, 5), draw_units(found[::-1], 20, 5), draw_units(found, 20, 6)
    assert list(first[1]) == list(again[1])
    assert first[0] == again[0]
    assert set(first[1]) != set(other[1])
    assert set(first[1]) <= set(draw_units(found, 60, 5)[1]), "a larger draw contains it"


def test_every_prompt_is_drawn_as_often_as_its_probability_says() -> None:
    found = rows({("en", "a"): 12, ("en", "b"): 6}, repeats=1)
    counts = Counter(unit for seed in range(600) for unit in draw_units(found, 6, seed)[1])
    assert set(counts) == {(row.language, row.category, row.cluster) for row in found}
    assert min(counts.values()) > 200 - 4 * (600 / 9 * 2) ** 0.5
    assert max(counts.values()) < 200 + 4 * (600 / 9 * 2) ** 0.5


def test_too_many_and_too_few_prompts_are_refused() -> None:
    with pytest.raises(UsageError, match="153 source prompts; draw at most"):
        draw_units(rows(SIZES), 154, 0)
    with pytest.raises(UsageError, match="at least 4 with -n"):
        draw_units(rows(SIZES), 3, 0)
    with pytest.raises(UsageError, match="no responses yet"):
        draw_units([], 3, 0)


def test_all_prompts_can_be_drawn() -> None:
    strata, units = draw_units(rows(SIZES), 153, 0)
    assert {stratum.inclusion for stratum in strata} == {1.0}
    assert len(units) == 153


def test_the_name_of_a_draw_is_its_content() -> None:
    row = DrawnRow("r1", "k", "en", "a", "p", 0.5, "0" * 64)
    draw = Draw("", 0, 1, ("choice",), {"a": ("A",)}, (Stratum("en", "a", 2, 1, 0.5, 2),), (row,)).sealed()
    assert draw.sealed() == draw
    changed = Draw("", 1, 1, ("choice",), {"a": ("A",)}, draw.strata, (row,)).sealed()
    assert changed.name != draw.name
