"""Non-committal phrases are found as whole words, in any case."""

from __future__ import annotations

import pytest

from biasfw.hedging import hedges


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("It depends.", "it depends", True),
        ("IT DEPENDS", "it depends", True),
        ("it dependsX", "it depends", False),
        ("場合によります。", "場合による", False),
        ("それは場合によります。", "場合によ", True),
        ("BELKİ DE", "belki", True),
        ("KISMEN HAKLI", "kısmen", True),
        ("kismen", "kısmen", True),
        ("Belki\u0307", "belki", True),
        ("BÄLKİ", "bälki", True),
    ],
)
def test_hedges(text: str, phrase: str, found: bool) -> None:
    assert hedges(text, [phrase]) is found
