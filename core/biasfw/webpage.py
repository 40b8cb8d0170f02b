"""Self-contained HTML pages: everything escaped, no script, no network, light and dark."""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_STYLE = "style.css"


def render(template: str, **values: Any) -> str:
    """The page ``pages/<template>`` with ``values``, all of which are taken for hostile text."""
    style = _environment().get_template(_STYLE).render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return _environment().get_template(template).render(style=Markup(style), policy=policy, **values)  # noqa: S704 - ours


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("biasfw", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters.update(percent=percent, points=points, capitalised=capitalised)
    return made


def _shown(value: Any) -> Any:
    """Text without characters that act: controls, lone surrogates, and what turns the direction of what follows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "".join(c if _is_harmless(c) else f"\\u{ord(c):04x}" for c in value)
    return value


def _is_harmless(c: str) -> bool:
    if c.isascii():
        return c.isprintable() or c in "\n\t"
    if "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069":  # overrides, embeddings, isolates
        return False
    return unicodedata.category(c) not in ("Cc", "Cs", "Cn", "Zl", "Zp")


def percent(value: float | None) -> str:
    """A share in percent, or a dash."""
    return "–" if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference of shares in points with its sign, or a dash."""
    if value is None:
        return "–"
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "\N{MINUS SIGN}")


def capitalised(text: str) -> str:
    """A sentence with its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]
