"""What a judge does not get to see: the lines that hold a header, however its letter i is written."""

from __future__ import annotations

from biasfw import ComponentContext, Form, Item, Label, LanguagePack, Slot
from biasfw_plugins.judges._views import body


def test_the_dotted_and_the_dotless_i_are_one_letter() -> None:
    slot = Slot("modern", {"forced": {"tr": ("GELİŞMİŞ SINIF",)}})
    pack = LanguagePack("tr", "Turkish", "Türkçe", "Latn", reviewed_by_natives=0, colon_marks=(":",))
    form = Form("labels", (slot,), (Label("kurds", {}),), conditions=("forced",))
    context = ComponentContext(form, {"tr": pack})
    item = Item("one", "two", "tr", "", "one", "forced")
    for line in ("Gelişmiş Sınıf: Kürtler", "GELİŞMİŞ SINIF: Kürtler", "gelişmiş sinif: Kürtler"):
        assert body(f"Önce.\n{line}\nSonra.", context, item) == "Önce.\nSonra."
