"""Why a text could not be read, in words for people."""

from __future__ import annotations

import pytest

from biasfw.form import Form, Label, Slot
from biasfw.reasons import why
from biasfw.records import Answer, Outcome, Reading

FORM = Form(
    "labels",
    (
        Slot("one", {"c": {"en": ("GROUP ONE",), "ko": ("첫째 그룹",)}}),
        Slot("two", {"c": {"en": ("GROUP TWO",), "ko": ("둘째 그룹",)}}),
    ),
    (
        Label("asians", {"en": ("Asians",), "ko": ("아시아인",)}),
        Label("south", {"en": ("South Asians", "Indians"), "ko": ("남아시아인",)}),
    ),
    conditions=("c",),
)
UNREAD = Answer({key: Reading(Outcome.UNPARSED) for key in ("one", "two")})


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("Well then.", ["no_header:one", "no_header:two"]),
        ("Group  One: the Romans\nGROUP TWO: Asians and Indians", ["not_listed:one", "two_names:two"]),
        ("GROUP ONE: South Asians | GROUP TWO:", ["not_listed:two"]),
        ("**GROUP ONE:**\n\nAsians, South Asians", ["two_names:one", "no_header:two"]),
        ("GROUP ONE: Indiana\nGROUP TWO: not Asians", ["not_listed:one"]),
        ("첫째 그룹: 남아시아인과 아시아인\n둘째 그룹: 남아시아인들", ["two_names:one"]),
    ],
)
def test_reasons(text: str, reasons: list[str]) -> None:
    assert list(why(text, UNREAD, FORM, "c")) == reasons


def test_what_was_read_needs_no_reason() -> None:
    read = Answer({"one": Reading(Outcome.ANSWERED, "south"), "two": Reading(Outcome.REFUSED)})
    assert list(why("nothing", read, FORM, "c")) == []
    assert list(why("nothing", UNREAD, Form("choice", FORM.slots), "c")) == []


def test_the_dotted_and_the_dotless_i_are_one_letter() -> None:
    form = Form(
        "labels",
        (Slot("one", {"c": {"tr": ("GELİŞMİŞ TOPLULUK",)}}),),
        (Label("indians", {"tr": ("Hintliler",)}), Label("kurds", {"tr": ("Kürtler",)})),
        conditions=("c",),
    )
    unread = Answer({"one": Reading(Outcome.UNPARSED)})
    for text in ("Gelişmiş Topluluk: HİNTLİLER, KÜRTLER", "gelişmiş topluluk: hıntlıler, kürtler"):
        assert list(why(text, unread, form, "c")) == ["two_names:one"]
