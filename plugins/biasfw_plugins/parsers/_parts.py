"""The parts that the words of an answer play in a statement about its options."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple


class Part:
    """Bits of a token. A phrase may play several parts: "answer" introduces an option and is a word for one."""

    LETTER = 1 << 0  # an option: its letter, or another name of it
    ANSWER = 1 << 1  # introduces an option: "the answer is"
    OPTION = 1 << 2  # a word for an option: "reply"
    CHOSEN = 1 << 3  # stands after an option and says that it is chosen: "is the answer"
    BETTER = 1 << 4  # says that an option is preferred: "more suitable"
    NOT = 1 << 5  # negates or sets aside what follows: "not", "rather than"
    NOT_AFTER = 1 << 6  # negates or sets aside what stands before
    CLAUSE = 1 << 7  # begins a new statement within a sentence: "but", "so"
    REASON = 1 << 8  # begins a reason: "because"
    AND = 1 << 9  # joins options
    ALL = 1 << 10  # says the same of several options: "both"
    AMONG = 1 << 11  # before options that are merely offered: "between"
    AMONG_AFTER = 1 << 12  # the same, after them
    IF = 1 << 13  # makes a condition: "if", "otherwise"
    NONE = 1 << 14  # declines all options: "neither"
    QUESTION = 1 << 15  # begins a new question: "Question:"
    FILLER = 1 << 16  # changes nothing before an option: "it is"
    FILLER_AFTER = 1 << 17  # the same, after one
    LINK = 1 << 18  # stands between an option and what is said of it: "is"
    WORD = 1 << 19  # any other word
    NUMBER = 1 << 20
    COLON = 1 << 21
    COMMA = 1 << 22
    STOP = 1 << 23
    ASK = 1 << 24
    OPEN = 1 << 25
    CLOSE = 1 << 26
    QUOTE = 1 << 27
    DASH = 1 << 28
    JOIN = 1 << 29  # "/", "|", "&"
    MARKED = 1 << 30  # the text after it was set apart as the answer by a wrapper such as <answer>
    BESIDE = 1 << 31  # follows the token before without a space
    EAST = 1 << 32  # written in an East Asian script, without spaces
    WEST = 1 << 33  # written in a script with upper and lower case
    LOWER = 1 << 34  # a letter in lower case
    WORDLIKE = 1 << 35  # a letter that is also a word, such as the English article
    NATIVE = 1 << 36  # an option letter of the language's own script
    LABEL = 1 << 37  # a letter with a closing bracket: "A)"
    CAPITALS = 1 << 38  # a word in capitals
    NOUN = 1 << 39  # a word that makes a name of itself and a letter after it: "Team A"
    TAKEN = 1 << 40  # an option's letter that was taken for an article
    THAN = 1 << 42  # sets aside the option beside it, whatever marks stand between: "rather than"
    ASIDE = 1 << 43  # introduces an option as another one than the answer: "second choice"
    NAME = 1 << 41  # the text of an option, which a word after it may make another name of: "Arab Americans"


class Token(NamedTuple):
    """``parts``: what it can be in a statement. ``key``: the option it names, None for a letter that names none."""

    parts: int
    key: str | None = None


def all_parts(parts: Sequence[int]) -> int:
    """The parts that any of several tokens can play."""
    return reduce(or_, parts, 0)
