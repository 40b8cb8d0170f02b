"""A single file of rows (.jsonl, .csv, .xlsx): the items of a bundle, the records of a run, or anybody's table.

Of a table that nobody describes, what is always wrong is told: what cannot be read, an id that stands twice, a field
that single rows lack. ``Wishes`` say more: columns that must be there, values that a column may have, a placeholder.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.document import child
from biasfw.errors import BiasfwError
from biasfw.findings import Finding, Report
from biasfw.packcheck import Kit
from biasfw.phrases import did_you_mean, found_in_words, listed, many, shorten
from biasfw.schemas import Problem
from biasfw.validating.csvfile import read_rows
from biasfw.validating.itemfiles import is_items, validate_items
from biasfw.validating.items import Place, in_line, texts
from biasfw.validating.lines import read_lines
from biasfw.validating.records import kind_of, read_records

IDS = ("source_id", "id", "example_id", "key", "uid")
_MOSTLY = 0.9  # of the rows have a field: the others lack it
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a file must be like, as its owner says.

    ``columns`` every row must have. ``values``: column -> what may stand there, ``@other`` for the text of another
    column; case, width and outer spaces make no difference, and nothing is taken for another value. ``placeholder``: a
    text that will be replaced, literally, and nothing else is.
    """

    columns: Sequence[str] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    placeholder: str = ""
    encoding: str | None = None


def fold(text: str) -> str:
    """A label as people mean it: width and form of Unicode (NFKC), case, outer spaces and a full stop do not count."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.rstrip(".。") or plain


def validate_table(path: Path, wishes: Wishes | None = None, kit: Kit | None = None) -> Report:
    """Check a file of rows as what it is: by the manifest or the run that it belongs to, else as a table."""
    report = Report("data", path.name, str(path))
    try:
        if wishes is None and (kind := kind_of(path)):
            report.kind = "run"
            found = read_records(report, path, kind)
            report.facts.append(f"records of {kind.schema}: {len(found.lines or found.means)}")
        elif wishes is None and is_items(path):
            validate_items(report, path, kit)
        else:
            _Table(report, path, wishes or Wishes()).check()
    except BiasfwError as failure:
        report.take(failure)
    return report


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


@dataclass
class _Table:
    """The rows of a file that no schema describes."""

    report: Report
    path: Path
    wishes: Wishes
    rows: list[tuple[int, Mapping[str, Any], Place]] = field(default_factory=list)
    uncomposed: list[tuple[Place, str, str]] = field(default_factory=list)

    def check(self) -> None:
        """Add everything that is wrong."""
        for _, value, place in self._read():
            self._odd(value, place)
            self._values(value, place)
            if self.wishes.placeholder:
                self._placeholder(value, place)
        self._form()
        self._ids()
        self._missing()
        if not self.rows and not self.report.errors:
            self._error(Problem(str(self.path), 1, 1, "", "the file holds no rows; write one for everything in it"))
        if not self.report.errors:
            names = dict.fromkeys(name for _, value, _ in self.rows for name in value)
            self.report.facts.append(f"{many(len(self.rows), 'row')} with {listed(names) or 'nothing'}")

    def _error(self, problem: Problem) -> None:
        self.report.findings.append(Finding("error", problem))

    def _read(self) -> Iterator[tuple[int, Mapping[str, Any], Place]]:
        for number, value, place in self._csv() if self.path.suffix == ".csv" else self._jsonl():
            if not isinstance(value, dict):
                self._error(place("", f"expected a JSON object in every line, found {found_in_words(value)}"))
                continue
            self.rows.append((number, value, place))
            yield number, value, place

    def _jsonl(self) -> Iterator[tuple[int, Any, Place]]:
        for line in read_lines(self.path):
            if line.flaw is not None:
                self._error(line.flaw)
            else:
                yield line.number, line.value, in_line(line)

    def _csv(self) -> Iterator[tuple[int, Any, Place]]:
        wanted = (*self.wishes.columns, *self.wishes.values)
        for row in read_rows(self.path, wanted, self.wishes.encoding):
            if row.value is None:
                self._error(row.place("", row.flaw))
            else:
                yield row.line, row.value, row.place

    def _odd(self, value: Mapping[str, Any], place: Place) -> None:
        for pointer, text in texts(dict(value)):
            if text.isascii() and "\x00" not in text:
                continue
            if found := _SURROGATE.search(text):
                what = f"half a surrogate pair (U+{ord(found[0]):04X}): kept as it is; write the symbol if it was meant"
                self.report.findings.append(Finding("warning", place(pointer, what)))
            elif "\x00" in text or "\ufffd" in text:
                odd = "U+0000" if "\x00" in text else "U+FFFD, which stands for a character that was lost"
                self._error(place(pointer, f"the text holds {odd}; write it again"))
            elif not unicodedata.is_normalized("NFC", text):
                self.uncomposed.append((place, pointer, text))

    def _form(self) -> None:
        """Warn once of the texts that are not in the composed form."""
        if self.uncomposed:
            place, pointer, text = self.uncomposed[0]
            count = len(self.uncomposed)
            more = f" (one of {many(count, 'text')} of the file)" if count > 1 else ""
            what = f"{shorten(text)} is not in the composed form of Unicode (NFC){more}; convert the file"
            self.report.findings.append(Finding("warning", place(pointer, what)))

    def _ids(self) -> None:
        names = [name for name in IDS if any(name in value for _, value, _ in self.rows)]
        if not names:
            return
        first: dict[str, tuple[int, str]] = {}
        for number, value, place in self.rows:
            if names[0] not in value:
                continue
            shown = str(value[names[0]])
            if _empty(value[names[0]]):
                self._error(place(child("", names[0]), f"{names[0]} is empty; give every row its own"))
                continue
            known = first.setdefault(unicodedata.normalize("NFC", shown), (number, shown))
            if known[0] != number:
                form = "" if known[1] == shown else ", in another form of Unicode"
                what = f"{names[0]} {shown!r} also stands in line {known[0]}{form}; give every row its own"
                self._error(place(child("", names[0]), what))

    def _missing(self) -> None:
        counts = Counter(name for _, value, _ in self.rows for name in value)
        usual = [name for name, count in counts.items() if count >= _MOSTLY * len(self.rows)]
        for _, value, place in self.rows:
            for name in dict.fromkeys((*self.wishes.columns, *self.wishes.values, *usual)):
                if name not in value:
                    hint = did_you_mean(name, set(value) - set(usual))
                    way = hint if hint.startswith("did you") else "add it"
                    self._error(place("", f'the field "{name}" is missing; {way}'))
                elif name in self.wishes.columns and _empty(value[name]):
                    self._error(place(child("", name), f'the field "{name}" is empty; write what belongs there'))

    def _values(self, value: Mapping[str, Any], place: Place) -> None:
        for name, allowed in self.wishes.values.items():
            if name not in value:
                continue
            found = value[name]
            if _empty(found) and name in self.wishes.columns:
                continue  # told as empty
            texts_allowed = [str(value.get(each[1:], "")) if each.startswith("@") else each for each in allowed]
            if not isinstance(found, str) or fold(found) not in {fold(each) for each in texts_allowed if each}:
                said = listed([shorten(each) for each in texts_allowed if each]) or "nothing that is there"
                seen = "an empty cell" if _empty(found) and self.path.suffix == ".csv" else found_in_words(found)
                what = f"expected one of {said}, found {seen}; nothing is taken for another value"
                self._error(place(child("", name), what))

    def _placeholder(self, value: Mapping[str, Any], place: Place) -> None:
        wanted = self.wishes.placeholder
        inner = r"\s*".join(map(re.escape, wanted.strip("{}<>[]$% ").split()))
        near = re.compile(rf"[{{<\[｛]?\s*{inner}\s*[}}>\]｝]?", re.IGNORECASE)
        for pointer, text in texts(dict(value)):
            rest = text.replace(wanted, "")
            for found in near.finditer(rest):
                shown = found[0].strip()
                if shown[0] in "{<[｛" or shown[-1] in "}>]｝":
                    how = "unbalanced" if (shown[0] in "{<[｛") != (shown[-1] in "}>]｝") else "another spelling"
                    what = f"{shorten(shown)} is not the placeholder {wanted} ({how}): it reaches the model as it is"
                    self.report.findings.append(Finding("warning", place(pointer, what)))
            if (count := text.count(wanted)) > 1:
                what = f"the placeholder {wanted} stands there {count} times: each is replaced; keep one"
                self.report.findings.append(Finding("warning", place(pointer, what)))
