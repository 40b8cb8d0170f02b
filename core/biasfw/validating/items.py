"""The items of a bundle, row by row: every mistake at its place, and the seeds that hold none."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from biasfw import schemas, seedcheck
from biasfw.document import child
from biasfw.errors import BiasfwError
from biasfw.oddtext import IN_KEY, ODD, odd
from biasfw.phrases import many, shorten
from biasfw.records import Seed
from biasfw.rows import Row
from biasfw.schemas import Problem
from biasfw.seedrows import make_seed
from biasfw.sheets import SUFFIXES, read_sheet
from biasfw.validating.lines import Line, read_lines

Place = Callable[[str, str], Problem]  # pointer, message -> the problem with its place


@dataclass(frozen=True)
class Told:
    """The place of a seed, for what is found out about it later."""

    seed: Seed
    place: Place


class _Row(NamedTuple):
    path: Path
    name: str
    flawed: bool  # whether some of its cells are wrong
    clean: bool  # whether no text in it needs a look
    unsure: frozenset[str] = frozenset()  # what the header leaves open


@dataclass
class Items:
    """Reads files of items. ``errors`` and ``warnings`` are what was found so far, ``good`` the seeds without errors.

    ``flawed`` are those whose form is right and that have errors: what else they lack is told as well.

    ``languages``, ``categories``: what a row may name. ``manifest``: None where nothing is known of the benchmark.
    """

    manifest: Mapping[str, Any] | None
    languages: Collection[str] = ()
    categories: Collection[str] = ()
    files: int = 1
    there: bool = True  # whether the files are here
    rows: int = 0
    good: list[Told] = field(default_factory=list)
    flawed: list[Told] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    unsure: frozenset[str] = frozenset()  # what the header of a sheet leaves open
    _uncomposed: list[tuple[Place, str, str]] = field(default_factory=list)  # texts of the file that is read
    _seen: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Check every row of ``path``.

        Raises:
            BiasfwError: the file cannot be read at all, or not beyond some place.
        """
        fits = schemas.valid("item")
        header: list[str] = []
        try:
            for read, flaws, place, row in _rows(path, header):
                self.rows += 1
                self.errors += flaws
                self.unsure |= row.unsure
                if flaws and read is None:
                    continue
                value = read
                if row.flawed:  # what is missing is told; the rest of the row is looked at
                    tag, category = next(iter(self.languages), "und"), next(iter(self.categories), "-")
                    value = {"source_id": row.name, "language": tag, "category": category, **read}
                if not row.clean and (broken := [each for each in odd(value) if each.grade == "broken"]):
                    self.errors += [place(each.pointer, each.message) for each in broken]
                elif fits(value):
                    self._take(make_seed(value), value, place, row)
                else:
                    self.errors += [place(each.pointer, each.message) for each in schemas.problems("item", value)]
        finally:
            self._tell_form()
            self.errors += [problem_of(each) for each in header]

    def _take(self, seed: Seed, value: Mapping[str, Any], place: Place, row: _Row) -> None:
        flaws = self._flaws(seed)
        if "choices" in row.unsure:  # a column of an option that cannot be read is told at the header
            flaws = ((pointer, message) for pointer, message in flaws if pointer not in ("/choices", "/gold"))
        found = [place(pointer, message) for pointer, message in flaws]
        here = row.name + (f" of {row.path.name}" if self.files > 1 else "")
        # Ids that differ only in their form of Unicode are one id to everybody who reads them.
        identity = (unicodedata.normalize("NFC", seed.source_id), seed.language, seed.variant or "", *seed.order)
        if (first := self._seen.get(identity)) is not None:
            form = "" if first[1] == seed.source_id else ", in another form of Unicode"
            what = f"source_id {seed.source_id!r} ({seed.language}) also stands in {first[0]}{form}"
            found.append(place("/source_id", f"{what}; give every item its own"))
        else:
            self._seen[identity] = here, seed.source_id
        if not row.clean:
            self._texts(value, place, found)
        self.errors += found
        (self.flawed if found or row.flawed else self.good).append(Told(seed, place))

    def compare(self, manifest: Mapping[str, Any], there: Mapping[str, Collection[str]] | None = None) -> None:
        """Compare the fields with what the templates of a manifest use; what lacks one is good no more.

        ``there``: language -> fields of the items of all splits, where these are only some.
        """
        from biasfw.validating.fields import Lacking, offered  # noqa: PLC0415 - loads the engine of templates

        before = list(self.flawed)
        lacking = Lacking(manifest, there or offered([*self.good, *before]))
        whole: list[Told] = []
        for told in self.good:
            found = lacking.problems(told)
            self.errors += found
            (self.flawed if found else whole).append(told)
        for told in before:
            self.errors += lacking.problems(told)
        self.warnings += lacking.doubts([*whole, *self.flawed])
        self.good = whole

    def _texts(self, value: Mapping[str, Any], place: Place, found: list[Problem]) -> None:
        for each in odd(value):
            (self.warnings if each.grade == "doubtful" else found).append(place(each.pointer, each.message))
        for pointer, text in texts(value):
            if not text.isascii() and not ODD.search(text) and not unicodedata.is_normalized("NFC", text):
                self._uncomposed.append((place, pointer, text))

    def _tell_form(self) -> None:
        """Warn once of the texts of a file that are not in the composed form."""
        if not self._uncomposed:
            return
        place, pointer, text = self._uncomposed[0]
        count, rows = len(self._uncomposed), len({id(each[0]) for each in self._uncomposed})
        more = f" (one of {many(count, 'text')} in {many(rows, 'row')} of the file)" if count > 1 else ""
        what = f"{shorten(text)} is not in the composed form of Unicode (NFC){more}"
        self.warnings.append(place(pointer, f"{what}; type it again, or convert the file"))
        self._uncomposed.clear()

    def _flaws(self, seed: Seed) -> Iterator[tuple[str, str]]:
        if self.manifest is None:
            return
        if seed.language not in self.languages:
            there = ", ".join(self.languages)
            yield "/language", f"language {seed.language!r} is not among the manifest's languages; it has: {there}"
        yield from seedcheck.flaws(seed, self.manifest, self.categories)


def _rows(path: Path, header: list[str]) -> Iterator[tuple[Any, list[Problem], Place, _Row]]:
    """The value of a row, if it has one; what is wrong with its cells; how to tell a place; more about it.

    What is wrong with the header of a sheet goes to ``header``.
    """
    if path.suffix in SUFFIXES:
        for row in read_sheet(path, header):
            about = _Row(path, row.name, bool(row.flaws or row.unsure), clean=False, unsure=row.unsure)
            yield row.value, [problem_of(flaw) for flaw in row.flaws], _in_sheet(row), about
    else:
        for line in read_lines(path):
            flaws = [] if line.flaw is None else [line.flaw]
            about = _Row(path, f"line {line.number}", bool(flaws), _is_clean(line.raw))
            yield None if flaws else line.value, flaws, in_line(line), about


def _is_clean(raw: bytes) -> bool:
    """Whether a line as a whole has nothing for which its texts are looked at one by one, which takes longer."""
    if b"\\u" in raw:
        return False
    text = raw.rstrip(b"\r\n").decode("utf-8", "replace")
    return unicodedata.is_normalized("NFC", text) and not ODD.search(text)


def in_line(line: Line) -> Place:
    """How to tell a place in a line of JSON; the line is parsed again only when there is something to tell."""
    known = line.raw

    def place(pointer: str, message: str) -> Problem:
        key = message.startswith(("unknown property", IN_KEY)) or " is not a name for this; " in message
        return Line(line.path, line.number, known, line.value).problem(pointer, message, key=key)

    return place


def _in_sheet(row: Row) -> Place:
    def place(pointer: str, message: str) -> Problem:
        found = problem_of(f"{row.where(pointer)}: {message}")
        return Problem(found.file, found.line, found.column, pointer, found.message, found.cell)

    return place


def problem_of(text: str | BiasfwError, file: str = "") -> Problem:
    """An error that was raised, as a problem with its place."""
    from biasfw.findings import Report  # noqa: PLC0415 - findings reads YAML, which items need not

    report = Report("data", "", file)
    report.take(text if isinstance(text, BiasfwError) else BiasfwError(text))
    return report.findings[0].problem


def texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with its JSON pointer."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts(each, child(pointer, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from texts(each, child(pointer, index))
