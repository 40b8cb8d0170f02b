"""Letters of options that an answer could not tell apart are found in the manifest."""

from __future__ import annotations

import pytest

from biasfw.crosscheck import _choices


@pytest.mark.parametrize(
    ("letters", "place"),
    [(["I", "ı"], 1), (["A", "İ", "i"], 2), (["A", "Ａ"], 1), (["A", "B"], None), (["I", "J"], None)],
)
def test_letters_that_are_read_alike(letters: list[str], place: int | None) -> None:
    found = [pointer for pointer, _ in _choices({"task": "choice", "letters": {"tr": letters}})]
    assert [each for each in found if each.startswith("/letters")] == ([f"/letters/tr/{place}"] if place else [])
