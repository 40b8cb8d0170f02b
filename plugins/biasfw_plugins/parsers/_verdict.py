"""From the lines of an answer to one option: which statement counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from biasfw_plugins.parsers._lines import EMPTY, Line
from biasfw_plugins.parsers._statements import Statement
from biasfw_plugins.parsers._surroundings import Level


class Verdict(NamedTuple):
    """``key``: the option chosen, ``DECLINED``, or None; ``open`` and ``loose`` as in the statement that decided.

    ``changed``: another option had been chosen before. ``runs_on``: a new question followed, and was left out.
    """

    key: str | None = None
    open: bool = False
    loose: bool = False
    changed: bool = False
    runs_on: bool = False


def decide(lines: Sequence[Line], options: Sequence[str], *, cut: bool) -> Verdict:
    """The option that the lines of a text (those that are not blank) choose; ``options`` in their order.

    The last explicit choice decides. Without one, whatever is preferred or named alone, if all of it is one option. An
    answer before a new question stands; what is written after that question answers another one.
    """
    told = False  # what says nothing is not read again for each of many questions
    for index, line in enumerate(lines):
        if told and line.question:
            before = _decide(lines[:index], options, cut=False)
            if before.key is not None:
                return before._replace(runs_on=True)
        told = told or bool(line.stated or line.bare or line.leads or line.label)
    first = lines[0].bare if lines else None
    if first is not None and first.key is not None and (entries := _entries(lines, options)) and 0 not in entries:
        return Verdict(first.key, runs_on=True)
    return _decide(lines, options, cut=cut)


def _decide(lines: Sequence[Line], options: Sequence[str], *, cut: bool) -> Verdict:
    stated = _statements(lines, options, cut=cut)
    places = [place for place, each in enumerate(stated) if each.level is Level.CHOOSES]
    if places:
        chosen, last, later = [stated[place] for place in places], stated[places[-1]], stated[places[-1] + 1 :]
        if last.key is None and later and all(each.level is Level.NAMES and each.key == later[0].key for each in later):
            last = later[0]  # "Answer: not A. B."
        elif last.about is not None and {_option(each) for each in stated} == {last.about}:
            last = next((each for each in reversed(stated) if each.key is not None), last)
        return Verdict(last.key, last.open, last.loose, len({_option(each) for each in chosen}) > 1)
    keys = {each.key for each in stated}
    if len(keys) != 1:
        return Verdict()
    return Verdict(stated[-1].key, stated[-1].open, stated[-1].loose)


def _option(statement: Statement) -> str | None:
    """The option that a statement is about, whether or not it says that it is meant."""
    return statement.about if statement.key is None else statement.key


def _statements(lines: Sequence[Line], options: Sequence[str], *, cut: bool) -> list[Statement]:
    """All that the lines state, in order. What stands in the entries of a list of options is not stated."""
    entries = _entries(lines, options)
    last = len(lines) - 1
    found: list[Statement] = []
    chosen = False
    repeated: set[str | None] = set()  # letters on lines of their own after a choice
    for index, line in enumerate(lines):
        if index in entries:
            found += [each for each in line.stated if each.level is Level.CHOOSES]
        elif line.bare is not None:
            above = lines[index - 1] if index else EMPTY
            if above.sets_aside:
                continue
            alone = index == last and not any(each.bare and each.bare.key != line.bare.key for each in lines)
            if above.joins or (alone and _takes_back(line, above)):
                found.append(Statement(Level.CHOOSES, None))
                continue
            found.append(line.bare._replace(level=Level.CHOOSES) if alone and line.bare.key else line.bare)
            repeated.add(line.bare.key)
            if len(repeated) > 1 and chosen:
                found.append(Statement(Level.CHOOSES, None))  # "Answer: A", "B", "A"
        else:
            answers = line.opens and index > 0 and lines[index - 1].question  # "Q: ..." and "A: ...": no letter
            leads = None if answers or (cut and index == last and line.opens) else line.leads
            if leads is not None and index in (0, last):
                found.append(leads)
            found += line.stated
            if line.stated and any(each.level is Level.CHOOSES for each in line.stated):
                chosen = True
                repeated.clear()
    return found


def _takes_back(line: Line, above: Line) -> bool:
    """Whether a letter alone stands right below the choice of another one: "Answer: A", "B"."""
    chosen = above.stated[-1] if above.stated and above.stated[-1].level is Level.CHOOSES else None
    key = line.bare.key if line.bare is not None and line.lone else None
    return chosen is not None and None not in (chosen.key, key) and chosen.key != key


def _entries(lines: Sequence[Line], options: Sequence[str]) -> frozenset[int]:
    """The lines that begin the entries of a list of options: "A: ...", "B: ..."."""
    entries: set[int] = set()
    run: dict[str, int] = {}
    alone = False
    for index, line in enumerate(lines):
        label = line.label
        if label is None and line.bare is not None and _has_text_below(lines, index):
            label = line.bare.key
        if label is None or label not in options:
            continue
        # Letters on lines of their own have to be in order: an answer may come before a question that ran on.
        goes_on = alone == (line.label is None) and label not in run
        if goes_on and alone:
            goes_on = options.index(label) > options.index(next(reversed(run)))
        alone = line.label is None
        run = {**run, label: index} if goes_on else {label: index}
        if len(run) > 1:
            entries.update(run.values())
    return frozenset(entries)


def _has_text_below(lines: Sequence[Line], index: int) -> bool:
    if index + 1 == len(lines):
        return False
    below = lines[index + 1]
    return below.bare is None and below.label is None
