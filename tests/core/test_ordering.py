"""Requests that begin alike stand together, the rest in order."""

from __future__ import annotations

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from biasfw import RequestSequence, by_beginning


class Known:
    """A request sequence of which only the beginnings are known."""

    def __init__(self, prefixes: list[int]) -> None:
        self.prefixes = prefixes


@given(st.lists(st.integers(0, 4)))
def test_equal_prefixes_stand_together(prefixes: list[int]) -> None:
    order = by_beginning(cast("RequestSequence", Known(prefixes)))
    assert sorted(order) == [*range(len(prefixes))]
    runs = [prefixes[place] for place in order]
    starts = [value for at, value in enumerate(runs) if at == 0 or runs[at - 1] != value]
    assert starts == list(dict.fromkeys(prefixes))


@given(st.lists(st.integers(), unique=True))
def test_others_stay_in_order(prefixes: list[int]) -> None:
    assert by_beginning(cast("RequestSequence", Known(prefixes))) == [*range(len(prefixes))]
