"""Expansion is a pure function of the data; selection changes no prompt and splits no cluster."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw.expansion import Design, Selection, expand, select, williams
from biasfw.records import Seed

LABELS = ("p", "q", "r", "s", "t")


def seeds(languages: tuple[str, ...] = ("en", "ar"), per_category: int = 10) -> list[Seed]:
    return [
        Seed(f"{category}-{number:02d}", language, category, {"topic": "x"})
        for language in languages
        for category in ("north", "south")
        for number in range(per_category)
    ]


DESIGN = Design(conditions=("forced", "neutral"), labels=LABELS)


@pytest.mark.parametrize("n", range(2, 9))
def test_williams_is_balanced_for_position_and_carry_over(n: int) -> None:
    rows = williams(n)
    assert len(rows) == (n if n % 2 == 0 else 2 * n)
    per_cell = len(rows) // n
    for position in range(n):
        assert Counter(row[position] for row in rows) == dict.fromkeys(range(n), per_cell)
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert set(followers.values()) == {per_cell}
    assert len(followers) == n * (n - 1)


def test_every_label_stands_equally_often_in_every_position_of_a_cell() -> None:
    trials = list(expand(seeds(), DESIGN, 1))
    for language in ("en", "ar"):
        for category in ("north", "south"):
            orders = [
                t.item.order
                for t in trials
                if (t.item.language, t.item.category, t.item.condition) == (language, category, "forced")
            ]
            for position in range(5):
                assert Counter(order[position] for order in orders) == dict.fromkeys(LABELS, 2)


def test_orders_are_equal_across_languages_and_conditions() -> None:
    orders: dict[str, set[tuple[str, ...]]] = {}
    for trial in expand(seeds(), DESIGN, 1):
        orders.setdefault(trial.item.source_id, set()).add(trial.item.order)
    assert all(len(found) == 1 for found in orders.values())


def test_half_of_the_repeats_use_an_order_again() -> None:
    trials = [t for t in expand(seeds(("en",)), DESIGN, 4) if t.item.source_id == "north-00"]
    forced = [t for t in trials if t.item.condition == "forced"]
    assert [t.repeat for t in forced] == [0, 1, 2, 3]
    assert forced[0].item == forced[1].item
    assert forced[2].item == forced[3].item
    assert forced[0].item.order != forced[2].item.order


def test_likelihoods_get_a_new_order_for_every_repeat() -> None:
    design = Design(conditions=("forced",), labels=LABELS, reuse_orders=False)
    trials = [t for t in expand(seeds(("en",)), design, 10) if t.item.source_id == "south-03"]
    assert len({t.item.order for t in trials}) == 10


def test_an_abstention_comes_last_and_only_where_it_is_offered() -> None:
    design = Design(conditions=("forced", "optional"), labels=LABELS, abstaining=(("optional", "none"),))
    for trial in expand(seeds(("en",)), design, 1):
        assert ("none" in trial.item.order) == (trial.item.condition == "optional")
        assert trial.item.condition == "forced" or trial.item.order[-1] == "none"


def test_item_ids_are_unique_and_selecting_changes_nothing() -> None:
    trials = list(expand(seeds(), DESIGN, 1))
    assert len({t.item.id for t in trials}) == len(trials)
    arabic = select(trials, Selection(languages=("ar",)))
    assert all(trial in trials for trial in arabic.trials)
    assert len(arabic.trials) == len(trials) // 2


def test_a_limit_keeps_clusters_whole_and_spreads_over_categories() -> None:
    trials = list(expand(seeds(), DESIGN, 1))
    chosen = select(trials, Selection(limit=5))
    assert chosen.items == 6  # two languages a cluster: rounded up
    assert str(chosen) == "6 of 40 items"
    assert Counter(t.item.category for t in chosen.trials) == {"north": 8, "south": 4}
    assert {t.item.condition for t in chosen.trials} == {"forced", "neutral"}


@given(st.integers(1, 50), st.integers(1, 12))
def test_the_sample_for_n_is_part_of_the_sample_for_a_larger_one(limit: int, per_category: int) -> None:
    trials = list(expand(seeds(per_category=per_category), DESIGN, 1))
    smaller = {t.item.id for t in select(trials, Selection(limit=limit)).trials}
    larger = {t.item.id for t in select(trials, Selection(limit=limit + 1)).trials}
    assert smaller <= larger


def test_repeats_do_not_count_against_the_limit() -> None:
    one = select(list(expand(seeds(), DESIGN, 1)), Selection(limit=8))
    three = select(list(expand(seeds(), DESIGN, 3)), Selection(limit=8))
    assert one.items == three.items == 8
    assert {t.item.cluster for t in one.trials} == {t.item.cluster for t in three.trials}
