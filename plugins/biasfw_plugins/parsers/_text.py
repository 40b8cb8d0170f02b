"""Folding: spellings that differ only in form become equal, and markup that says nothing disappears."""

from __future__ import annotations

import html
import re
import unicodedata

import regex

# Format and other default-ignorable characters, and what is optional in writing with Arabic letters: vowel marks and
# the stroke that stretches a word.
_INVISIBLE = regex.compile(r"[\p{Cf}\p{DI}\u0640\u064b-\u0652\u0670]+")
# Sorting marks takes quadratic time in NFKC: as in Unicode's stream-safe format (UAX 15), 30 in a row are enough.
_TOO_MANY_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")
_LINE_ENDS = ("\r", "\v", "\f", "\x85", "\u2028", "\u2029")
# Replaced before NFKC, which gives the same but is fifty times slower on a text that holds one of them.
_COMMON = tuple((wide, unicodedata.normalize("NFKC", wide)) for wide in "，：；！？（）～％…")
_APOSTROPHES = "’‘ʼ"
_ALEFS = "أإآٱ"  # often written without the sign on them
# Turkish and Azerbaijani tell I from İ, English and case folding do not. All are one letter here: whoever writes a
# header in capitals, or a name in another language, may follow either rule.
_DOTTED, _DOTLESS, _DOT = "İ", "ı", "\u0307"

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")  # JSON
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")  # HTML
_ESCAPED_LINE_END = re.compile(r"\\n(?![a-z])")
_LATEX = re.compile(r"\\[A-Za-z]{1,20}\s?\{")
_BLOCKS = re.compile(r"</?(?:br|p|div|li)\s?/?>")
# The special tokens of chat templates.
TOKENS = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:bos|eos|pad|(?:start|end)_of_turn)>|\[/?INST\]", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:b|i|u|em|strong|span|code|pre|ul|ol|h[1-6])>")

_GREEK_ACCENT = regex.compile(r"(?<=\p{Greek}\p{M}?)\u0301")
_NO_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


def fold(text: str) -> str:
    """Return ``text`` after NFKC and case folding, without invisible characters, lines ending at newlines only."""
    return normalise(text).casefold()


def normalise(text: str) -> str:
    """Return what ``fold`` returns, but in the letter case it was written in."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "\\" in text:
        text = _ESCAPED.sub(_unescaped, text)
        text = _LATEX.sub("{", _ESCAPED_LINE_END.sub("\n", text))
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        for wide, narrow in _COMMON:
            text = text.replace(wide, narrow)
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", _TOO_MANY_MARKS.sub(r"\1", text))
        for mark in _APOSTROPHES:
            text = text.replace(mark, "'")
        for letter in _ALEFS:
            text = text.replace(letter, "ا")
        text = text.replace(_DOTTED, "I").replace(_DOTLESS, "i")
        if _DOT in text:
            text = text.replace(f"i{_DOT}", "i")
    text = text.replace("\r\n", "\n")
    for mark in _LINE_ENDS:
        text = text.replace(mark, "\n")
    return text


def _unescaped(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character >= " " or character in "\n\t" else " "


def without_markup(folded: str) -> str:
    """Return folded text without HTML tags and without the special tokens of chat templates."""
    if "<" not in folded:
        return folded
    return _INLINE.sub("", _BLOCKS.sub("\n", TOKENS.sub("\n", folded)))


def words(folded: str) -> str:
    """Return the words of folded text, joined by single spaces: what names and phrases are compared by."""
    return str(_NO_WORD.sub(" ", folded.replace("'", ""))).strip()


def spellings(name: str) -> tuple[str, ...]:
    """The words of a name or a header as folded text may hold them: Greek in capitals is written without accents."""
    usual = words(fold(name))
    capitals = unicodedata.normalize("NFC", _GREEK_ACCENT.sub("", unicodedata.normalize("NFD", usual)))
    return (usual,) if capitals == usual else (usual, capitals)


def is_letter(character: str) -> bool:
    """Whether ``character`` is part of a word: a letter, digit, or a mark on one."""
    category = unicodedata.category(character)
    return category[0] in "LMN" and category != "Me"


def joins(character: str) -> bool:
    """Whether words that begin with ``character`` are written without a space before them (East Asian scripts)."""
    return character >= "\u2e80"
