"""The options in one sentence: which are negated or set aside, which are joined, and of which nothing is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasfw_plugins.parsers._parts import Part, all_parts

_BORDERS = Part.COMMA | Part.CLAUSE | Part.REASON | Part.OPEN | Part.CLOSE | Part.DASH
_JOINING = (
    Part.AND | Part.JOIN | Part.COMMA | Part.OPTION | Part.FILLER | Part.FILLER_AFTER | Part.ALL | Part.QUOTE
    | Part.OPEN | Part.CLOSE
)  # fmt: skip
# What may stand between a word and the letter it is about.
_AROUND = Part.OPTION | Part.FILLER | Part.FILLER_AFTER | Part.ALL | Part.QUOTE | Part.OPEN | Part.CLOSE
_INTRODUCED = Part.COLON | Part.COMMA | Part.DASH | Part.LINK | Part.BETTER | Part.NUMBER
_MOST = 24  # letters in one sentence; more state nothing


class Sentence:
    """One sentence without its final mark, and what its words make of its letters (given by position).

    ``parts`` and ``keys``: what each token can be, and the option it names. ``ended``: a mark ends it. ``kinds``: the
    parts of all tokens.

    ``rejected``: letters that are negated or set aside. ``apart``: those of them that the negation stands beside.
    ``bound``: negation -> the letter that it stands before. ``several``: letters that are joined with others, so that
    none of them is meant alone. ``silent``: letters in a reason, in a condition, offered ("between A and B"), or named
    as another answer ("second choice: A").
    """

    def __init__(self, parts: Sequence[int], keys: Sequence[str | None], *, ended: bool = True, kinds: int = 0) -> None:
        self.parts, self.keys, self.ended = parts, keys, ended
        self.kinds = kinds = kinds or all_parts(parts)
        letters = [index for index, part in enumerate(parts) if part & Part.LETTER]
        self.letters = letters if len(letters) <= _MOST else []
        self.rejected: set[int] = set()
        self.apart: set[int] = set()
        self.bound: dict[int, int] = {}
        self.several: set[int] = set()
        self.silent: set[int] = set()
        if not self.letters:
            return
        if kinds & (Part.NOT | Part.NOT_AFTER):
            self._clauses = self._divided()
            self._negate()
        if len(self.letters) > 1:
            self._join()
        if kinds & Part.REASON:
            self._in_reasons()
        if kinds & Part.ASIDE:
            self._set_aside()
        if kinds & Part.IF:
            self._in_conditions()

    def _divided(self) -> list[int]:
        """The number of the clause that each token stands in."""
        clauses, current = [], 0
        for part in self.parts:
            current += bool(part & _BORDERS)
            clauses.append(current)
        return clauses

    def _negate(self) -> None:
        negated_after: set[int] = set()
        for index, part in enumerate(self.parts):
            near = bool(part & (Part.FILLER | Part.FILLER_AFTER))  # "more" and "than" in one word: only beside a letter
            after = self.parts[index + 1] if index + 1 < len(self.parts) else 0
            if part & Part.NOT_AFTER and not (part & Part.NOT and after & Part.LETTER):
                letter = self._letter_before(index, near=near, besides=negated_after)
                if letter is not None and letter in self.bound.values():  # "A is, compared with B, worse"
                    earlier = self._letter_before(letter, near=False)
                    letter = letter if earlier is None else earlier
                if letter is None and not near and self._letter_before(index, near=False) is None:
                    letter = self._letter_after(index, near=False)
                if letter is not None:
                    negated_after.add(letter)
                    self.rejected.add(letter)
                    if index == letter + 1:
                        self.apart.add(letter)
                    continue
            if part & Part.NOT and not after & Part.COLON:  # "No: the answer is B" answers what came before
                letter = self._letter_after(index, near=near)
                if letter is not None:
                    self.bound[index] = letter
                    self.rejected.add(letter)
                    self.apart.add(letter)
                elif not near:
                    self._negate_predicate(index)

    def _negate_predicate(self, index: int) -> None:
        """What is said of a letter is negated, unless it was complete before: "B is not better", "A no good"."""
        letter = self._letter_before(index, near=False)
        if letter is None or any(part & (Part.BETTER | Part.CHOSEN) for part in self.parts[letter + 1 : index]):
            return
        if index == letter + 1 or not (letter and self.parts[letter - 1] & Part.ANSWER):
            self.rejected.add(letter)

    def _letter_before(self, index: int, *, near: bool, besides: set[int] | None = None) -> int | None:
        for place in range(index - 1, -1, -1):
            if self._clauses[place] != self._clauses[index] and not near:
                return None
            if self.parts[place] & Part.LETTER:
                if not besides or place not in besides:
                    return place
            elif near and not self.parts[place] & _AROUND:
                return None
        return None

    def _letter_after(self, index: int, *, near: bool) -> int | None:
        for place in range(index + 1, len(self.parts)):
            if self.parts[place] & Part.LETTER:
                return place
            if near and not self.parts[place] & _AROUND:
                return None
            if self._clauses[place] != self._clauses[index] and not self.parts[place] & (Part.OPEN | Part.QUOTE):
                return None
        return None

    def _join(self) -> None:
        for joined in self._groups():
            if len({self.keys[letter] for letter in joined}) == 1:
                continue
            self.several.update(joined)
            if self._offered(joined[0], joined[-1]):
                self.silent.update(joined)

    def _groups(self) -> Iterator[list[int]]:
        group: list[int] = []
        for letter in self.letters:
            # "of A and B, B": the same letter again is not joined.
            if group and (self.keys[group[-1]] == self.keys[letter] or not self._joined(group[-1], letter)):
                yield group
                group = []
            group.append(letter)
        if group:
            yield group

    def _joined(self, first: int, second: int) -> bool:
        """Whether two letters are named together; then a negation of one is one of both."""
        between = self.parts[first + 1 : second]
        if len(between) == 1 and between[0] & (Part.DASH | Part.COLON):
            return self._joined_by_mark(first, second)
        if not all(part & (_JOINING | Part.NOT) and not part & (Part.AMONG | Part.AMONG_AFTER) for part in between):
            return False
        kinds = all_parts(between)
        if kinds & Part.COMMA and kinds & Part.FILLER:
            return False  # "A and B, it is A"
        after = self.parts[second + 1] if second + 1 < len(self.parts) else 0
        if kinds & Part.OPEN and after and not after & (Part.CLOSE | Part.COMMA | Part.AND | Part.JOIN):
            return False
        if (first in self.rejected) != (second in self.rejected):
            if kinds & Part.NOT or (between and not kinds & (Part.AND | Part.JOIN | Part.ALL)):
                return False
            self.rejected.update((first, second))
        return True

    def _joined_by_mark(self, first: int, second: int) -> bool:
        """Whether a dash or a colon between two letters joins them: "A-B", "A = B", but "not A: B"."""
        mark = self.parts[first + 1]
        if mark & Part.DASH:
            return bool(mark & Part.BESIDE and self.parts[second] & Part.BESIDE)
        return second + 1 == len(self.parts) and first not in self.rejected

    def _offered(self, first: int, last: int) -> bool:
        place = first - 1
        while place >= 0 and self.parts[place] & _AROUND and not self.parts[place] & Part.AMONG:
            place -= 1
        if place >= 0 and self.parts[place] & Part.AMONG:
            return True
        place = last + 1
        while place < len(self.parts) and self.parts[place] & _AROUND and not self.parts[place] & Part.AMONG_AFTER:
            place += 1
        return place < len(self.parts) and bool(self.parts[place] & Part.AMONG_AFTER)

    def stands_beside(self, negation: int) -> bool:
        """Whether nothing stands between a negation and the letter it negates: "than B", not "not better than B"."""
        letter = self.bound.get(negation)
        return letter is not None and all(
            part & _AROUND and not part & Part.NOT for part in self.parts[negation + 1 : letter]
        )

    def _in_reasons(self) -> None:
        """A reason goes on to the next clause word; one that begins the sentence also ends at a comma."""
        inside = first = False
        for place, part in enumerate(self.parts):
            if part & Part.REASON:
                inside, first = True, not any(letter < place for letter in self.letters)
                if place + 1 < len(self.parts) and self.parts[place + 1] & Part.COLON:
                    first = False
            elif part & Part.CLAUSE or (part & Part.COMMA and first):
                inside = False
            elif part & Part.LETTER and inside:
                self.silent.add(place)

    def _set_aside(self) -> None:
        """What is a second choice, an alternative, or the answer of others, is not the answer."""
        for place, part in enumerate(self.parts):
            if not part & Part.ASIDE:
                continue
            named = part & Part.OPTION  # "alternative A" names an option, "the better alternative is A" prefers it
            if named and place and self.parts[place - 1] & Part.BETTER:
                continue
            letter = place + 1
            while letter < len(self.parts) and self._introduces(letter, named=bool(named)):
                letter += 1
            if letter < len(self.parts) and self.parts[letter] & Part.LETTER:
                if not (named and letter == place + 1) and not self._is_answered(place):
                    self.silent.add(letter)
                continue
            before = place - 1
            while before > 0 and self.parts[before] & (_AROUND | Part.LINK) and not self.parts[before] & Part.LETTER:
                before -= 1
            linked = any(each & Part.LINK for each in self.parts[before + 1 : place])
            if before >= 0 and linked and self.parts[before] & Part.LETTER and not self._is_answered(before):
                self.silent.add(before)

    def _introduces(self, place: int, *, named: bool) -> bool:
        """Whether a word may stand between "second choice" and the letter of it."""
        part = self.parts[place]
        if part & Part.LETTER:
            return False
        return bool(part & (_AROUND | _INTRODUCED) or (part & Part.ANSWER and not named))

    def _is_answered(self, place: int) -> bool:
        """Whether an answer phrase introduces what stands at ``place``: "my answer is the alternative: B"."""
        for before in range(place - 1, -1, -1):
            if self.parts[before] & (Part.LETTER | Part.CLAUSE | Part.COMMA):
                return False
            if self.parts[before] & Part.ANSWER:
                return True
        return False

    def _in_conditions(self) -> None:
        conditions = [place for place, part in enumerate(self.parts) if part & Part.IF]
        live = [letter for letter in self.letters if letter not in self.silent]
        if len({self.keys[letter] for letter in live}) > 1:
            self.silent.update(live)
            return
        for letter in live:
            for place in conditions:
                low, high = sorted((letter, place))
                if not any(part & (Part.COMMA | Part.CLAUSE) for part in self.parts[low + 1 : high]):
                    self.silent.add(letter)
