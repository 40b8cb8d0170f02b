"""Texts of models and bundles as they can be shown: what could act on the text around it is spelt out."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

# Control characters but tab and line feed; line separators, overrides, embeddings and isolates of the direction (what
# joins letters or marks the direction of a neighbour stays: it is spelling); the byte-order mark; noncharacters; halves
# of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


def clean(text: str) -> str:
    """``text`` with what cannot be seen, or would reorder what can, spelt out as ``⟨U+202E⟩``."""
    if not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def finalize(value: Any) -> Any:
    """What jinja does with every value before it is escaped; markup was made here and is clean."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def put(template: str, *values: Any) -> Markup:
    """``template``, written here, with values put in: cleaned and escaped, unless they are markup."""
    return Markup(template).format(*map(finalize, values))  # noqa: S704 - the template is a literal


def cut(text: str, limit: int) -> tuple[str, int]:
    """The first ``limit`` characters, cleaned, and how many characters were left out."""
    return clean(text[:limit]), max(0, len(text) - limit)


_WORDS = {
    "accuracy": "Accuracy",
    "pair_accuracy": "Right in every order",
    "label_uniformity": "Distance from an even pick",
    "label_share": "Share of each group",
    "control_accuracy": "Right on the controls",
    "position_preference": "Picks the first position",
    "order_averaged_preference": "Preference averaged over orders",
    "variant_spread": "Spread over instructions",
}


def words(name: str) -> str:
    """A metric, slice or key in words."""
    return _WORDS.get(name) or name.replace("_", " ").replace("|", " / ")


def sentence(text: str) -> str:
    """``text`` with its first letter as a capital."""
    return text[:1].upper() + text[1:]
