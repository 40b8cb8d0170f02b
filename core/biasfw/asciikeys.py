"""Names in small letters a to z: what is proposed to whoever writes a key with other letters."""

from __future__ import annotations

import re
import unicodedata

# Letters that are no plain letter with a mark, and so have no form without it.
_PLAIN = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ħ": "h", "ŋ": "n"}
)


def ascii_key(text: str) -> str:
    """``komsuluk`` for ``Komşuluk``; "" where that leaves out more than marks, spaces and hyphens."""
    folded = unicodedata.normalize("NFKD", text.strip().lower()).translate(_PLAIN)
    bare = "".join(sign for sign in folded if not unicodedata.combining(sign))
    key = re.sub(r"[\s'’-]+", "_", bare)
    return key if re.fullmatch("[a-z][a-z0-9_]*", key) else ""
