"""Every response of the runs in compressed blocks, which the page unpacks when they are opened.

A block is JSON, compressed with gzip, as base64 text. Rows of one language stand together: what they share is stored
once, and compresses well. Texts are cut at a limit, which is made smaller if the blocks would not fit into the file.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from biasfw import Judgement, RunRow, RunView
from biasfw_plugins.report.texts import clean, cut

ROWS = 100  # in a block
SAMPLE = 600  # rows from which the size of all is told
LEAST = 80  # characters below which a text is not cut to make room
_CHOICES = 8  # most likely choices that are shown


class Source:
    """A run whose rows are open: in blocks by language, in the order of the run. Close it when done."""

    def __init__(self, run: RunView) -> None:
        self.run = run
        self.rows = run.rows()
        self.blocks = list(_grouped(self.rows.languages()))

    @property
    def flaws(self) -> tuple[str, ...]:
        """What could not be read of the run."""
        return self.rows.flaws

    def read(self, block: Sequence[int]) -> list[RunRow]:
        """The rows of a block."""
        return [self.rows[place] for place in block]

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.rows.__exit__()


@dataclass(slots=True)
class Catalogue:
    """What the page filters by: lists of names, and for every row the places of its own in them."""

    runs: list[str] = field(default_factory=list)
    judges: list[list[str]] = field(default_factory=list)  # per run
    slots: list[list[str]] = field(default_factory=list)  # per run
    names: dict[str, dict[str, int]] = field(default_factory=dict)  # list -> name -> place
    rows: dict[str, list[int]] = field(default_factory=dict)

    def place(self, table: str, name: str) -> int:
        """The place of ``name`` in the list ``table``, where it is put if it is new."""
        names = self.names.setdefault(table, {})
        return names.setdefault(name, len(names))

    def add(self, **values: int) -> None:
        """Add a row."""
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)

    def packed(self, **more: Any) -> str:
        """The catalogue as a block."""
        tables = {table: list(names) for table, names in self.names.items()}
        return pack(
            {"runs": self.runs, "judges": self.judges, "slots": self.slots, **tables, "rows": self.rows, **more}
        )


@dataclass(slots=True)
class Blocks:
    """Writes the rows of runs into ``out``, one element for each block."""

    out: IO[bytes]
    limit: int
    slots: int  # the most that a run has
    catalogue: Catalogue = field(default_factory=Catalogue)
    count: int = 0

    def add(self, source: Source, name: str) -> None:
        """Write every row of a run."""
        run = source.run
        number, judges = len(self.catalogue.runs), run.judges
        self.catalogue.runs.append(name)
        self.catalogue.judges.append([clean(judge) for judge in judges])
        self.catalogue.slots.append([slot.key for slot in run.form.slots])
        writer = Writer(run, self.limit)
        for places in source.blocks:
            chosen = source.read(places)
            for row in chosen:
                self._note(run, judges, number, row)
            self._write(writer.block(chosen))

    def _write(self, block: Any) -> None:
        self.out.write(f'<script type="text/plain" id="b{self.count}">{pack(block)}</script>\n'.encode())
        self.count += 1

    def _note(self, run: RunView, judges: Sequence[str], number: int, row: RunRow) -> None:
        place = self.catalogue.place
        said = {name: _readings(judgement) for name, judgement in row.judgements.items()}
        first = next((said[name] for name in judges if name in said), {})
        votes = [_votes(judgement) for judgement in row.judgements.values()]
        panels = [list(vote.values()) for vote in votes if vote]
        differ = any(any(x != each[0] for x in each) for each in [list(said.values()), *panels] if each)
        columns = {"block": self.count}
        for index, slot in enumerate(run.form.slots):
            outcome, value = first.get(slot.key, ("not asked" if row.response is None else "not judged", None))
            columns[f"o{index}"] = place("outcomes", outcome)
            columns[f"v{index}"] = place("values", value if value is not None else "")
        for index in range(len(run.form.slots), self.slots):
            columns[f"o{index}"], columns[f"v{index}"] = -1, -1
        self.catalogue.add(
            run=number, language=place("languages", row.item.language), category=place("categories", row.item.category),
            condition=place("conditions", row.item.condition), differ=int(differ), **columns,
        )  # fmt: skip


def _grouped(languages: Sequence[str]) -> Iterator[list[int]]:
    """Rows in blocks: by language, in the order of the run."""
    places: dict[str, list[int]] = {}
    for place, language in enumerate(languages):
        places.setdefault(language, []).append(place)
    for each in places.values():
        for start in range(0, len(each), ROWS):
            yield each[start : start + ROWS]


@dataclass(slots=True)
class Writer:
    """Makes blocks of rows; texts are left out where passing them on is forbidden."""

    run: RunView
    limit: int
    judges: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.judges = self.run.judges

    @property
    def closed(self) -> bool:
        """Whether texts may not be passed on."""
        return bool(self.run.manifest["redistribution"] == "forbidden")

    def block(self, rows: Sequence[RunRow]) -> Any:
        """What a block holds: prompts once each, texts together (alike things compress best side by side), rows."""
        prompts: dict[str, int] = {}
        texts, found = [], []
        for row in rows:
            prompt = json.dumps(self._prompt(row), ensure_ascii=False)
            texts.append(self._text(row))
            found.append(self._row(row, prompts.setdefault(prompt, len(prompts))))
        return {"p": [json.loads(prompt) for prompt in prompts], "t": texts, "r": found}

    def _prompt(self, row: RunRow) -> list[list[Any]]:
        """The turns of the prompt: role, text, characters that were left out."""
        if self.closed:
            return []
        turns: list[tuple[str, str]] = [(message.role, message.content) for message in row.request.messages]
        return [[role, *cut(text, self.limit)] for role, text in turns or [("prompt", row.request.prompt or "")]]

    def _text(self, row: RunRow) -> list[Any]:
        """Text and reasoning of the response, each with the characters that were left out."""
        response = row.response
        if self.closed or response is None:
            return []
        found: list[Any] = [*cut(response.text, self.limit)] if response.text is not None else ["", 0]
        return [*found, *cut(response.reasoning, self.limit)] if response.reasoning else found

    def _row(self, row: RunRow, prompt: int) -> list[Any]:
        response, item = row.response, row.item
        told = [(clean(s.key), s.sum) for s in (response.choice_logprobs if response else ()) if s.sum is not None]
        scores = sorted((pair for pair in told if math.isfinite(pair[1])), key=lambda pair: -pair[1])[:_CHOICES]
        error = [response.error.kind, *cut(response.error.message, self.limit)] if response and response.error else None
        judges = [_verdict(row.judgements.get(name), self.limit) for name in self.judges]
        answered = [response.text is not None, response.finish_reason or ""] if response else None
        return [
            clean(item.id), row.request.key, row.file, row.line, prompt, answered, error, scores, judges,
            [clean(key) for key in item.order], item.gold and clean(item.gold),
        ]  # fmt: skip


def _readings(judgement: Judgement) -> dict[str, tuple[str, str | None]]:
    return {slot: (str(r.outcome), r.value and clean(r.value)) for slot, r in judgement.slots.items()}


def _votes(judgement: Judgement) -> dict[str, dict[str, tuple[str, str | None]]]:
    return {
        member: {slot: (str(r.outcome), r.value and clean(r.value)) for slot, r in readings.items()}
        for member, readings in judgement.votes.items()
    }


def _verdict(judgement: Judgement | None, limit: int) -> Any:
    if judgement is None:
        return None
    rationale, left = cut(judgement.rationale or "", limit)
    rationale += f" [{left:,} more characters]" if left else ""
    votes = {clean(member): readings for member, readings in _votes(judgement).items()}
    return [_readings(judgement), votes, rationale, [clean(flag) for flag in judgement.flags]]


def pack(value: Any) -> str:
    """``value`` as JSON, compressed, in base64; the same value always gives the same text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 6, mtime=0)).decode("ascii")


def fitting(sources: Sequence[Source], limit: int, room: int) -> int:
    """The largest limit of characters, at most ``limit``, at which the blocks of all runs take about ``room`` bytes.

    Told from a sample of whole stretches of rows, packed as all will be.
    """
    samples = []
    for source in sources:
        chosen = source.blocks[:: max(1, len(source.blocks) * ROWS // SAMPLE)]
        if chosen:
            weight = sum(map(len, source.blocks)) / sum(map(len, chosen))
            samples.append((source.run, [source.read(block) for block in chosen], weight))

    def size(at: int) -> float:
        return sum(
            weight * len(pack(Writer(run, at).block(rows))) for run, blocks, weight in samples for rows in blocks
        )  # fmt: skip

    if limit <= LEAST or size(limit) <= room:
        return limit
    low, high = LEAST, limit
    while high - low > max(10, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= room else (low, middle)
    return low
