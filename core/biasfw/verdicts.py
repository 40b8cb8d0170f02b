"""What a run directory holds of verdicts: its rows, and the stored judgements of every judge. Loads no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from biasfw.codec import decode
from biasfw.errors import StoreError, UsageError
from biasfw.phrases import listed
from biasfw.records import Judgement, Outcome, Reading
from biasfw.runfiles import RunFiles, open_files

REFUSED, ABSTAINED = "refused", "abstained"
_UNREAD = frozenset({Outcome.UNPARSED, Outcome.TRUNCATED, Outcome.JUDGE_UNPARSED, Outcome.JUDGE_ERROR})


@dataclass(frozen=True, slots=True)
class Row:
    """One request of the run, with what its item says about it."""

    key: str
    language: str
    category: str
    cluster: str
    condition: str
    order: tuple[str, ...] = ()
    answered: bool = True  # a response is stored
    roles: Mapping[str, str] = field(default_factory=dict)  # of the item's options, where each of them has one

    def shown(self, label: str | None) -> str | None:
        """What a label is counted as: options differ from item to item, so that their roles are what can be counted."""
        return self.roles.get(label, label) if label is not None else None


@dataclass(slots=True)
class Verdicts:
    """The stored judgements of one judge: request key -> slot -> label, or None where there is none.

    ``name`` is ``<judge>-<hash8>``. ``members`` are those of a panel, in the order of their names.
    """

    name: str
    labels: dict[str, dict[str, str | None]] = field(default_factory=dict)
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)  # slot -> outcome -> count
    votes: dict[str, dict[str, dict[str, str | None]]] = field(default_factory=dict)  # member -> as ``labels``

    @property
    def judge(self) -> str:
        """The name without its hash."""
        return self.name.rpartition("-")[0] or self.name

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(sorted(self.votes))

    def parse_rate(self, slot: str) -> float | None:
        """The share of responses that were there and that the judge could read; a refusal is read."""
        counts = self.outcomes.get(slot, Counter())
        there = sum(counts.values()) - counts[Outcome.ERROR]
        return 1 - sum(counts[name] for name in _UNREAD) / there if there else None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Rows, slots and verdicts of a run, and its run.json."""

    path: Path
    info: Mapping[str, Any]
    rows: tuple[Row, ...]
    verdicts: tuple[Verdicts, ...]
    warnings: tuple[str, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(slot for verdicts in self.verdicts for slot in verdicts.outcomes))


def label_of(reading: Reading) -> str | None:
    """What a rater said: a label's key, what an abstention is called, ``refused``; None where nothing was read."""
    if reading.outcome in (Outcome.ANSWERED, Outcome.ABSTAINED):
        return reading.value or (ABSTAINED if reading.outcome is Outcome.ABSTAINED else None)
    return REFUSED if reading.outcome is Outcome.REFUSED else None


def open_run(path: Path, judges: Sequence[str] | None = ()) -> JudgedRun:
    """Read a run and the judgements of ``judges`` (``rules`` or ``rules-1a2b3c4d``; default: all; None: of nobody).

    Raises:
        StoreError: there is no run in ``path``.
        UsageError: a judge is not there, or stored in several versions.
    """
    files = open_files(path)
    rows = tuple(_rows(files))
    found = []
    if judges is not None:
        keys = {row.key for row in rows}
        found = [_read(files, name, keys) for name in _chosen(judges, files.judges(), path)]
    return JudgedRun(path, dict(files.info), rows, tuple(found), files.flaws)


def _rows(files: RunFiles) -> list[Row]:
    items = {row["id"]: row for row in files.items.rows()}
    rows = []
    for request in files.asked():
        item = items[request["item_id"]]
        key, order = request["key"], tuple(intern(each) for each in item.get("order", ()))
        language, category = intern(item["language"]), intern(item["category"])
        cluster, condition = intern(item["cluster"]), intern(item["condition"])
        answered = key in files.responses.index
        rows.append(Row(key, language, category, cluster, condition, order, answered, _roles(item)))
    return rows


def _roles(item: Mapping[str, Any]) -> dict[str, str]:
    roles = {choice["key"]: intern(choice.get("role") or "") for choice in item.get("choices", ())}
    return roles if all(roles.values()) else {}


def _chosen(judges: Sequence[str], there: Sequence[str], path: Path) -> list[str]:
    if not there:
        raise StoreError(f"{path} holds no judgements; judge it: biasfw judge {path}")
    chosen = []
    for wanted in judges:
        names = [name for name in there if name == wanted or name.rpartition("-")[0] == wanted]
        if not names:
            raise UsageError(f"no judgements by {wanted!r} in {path}; there are: {', '.join(there)}")
        if len(names) > 1:
            raise UsageError(f"{wanted!r} has judged in {len(names)} versions; name one: {listed(names)}")
        chosen += names
    return list(dict.fromkeys(chosen)) or list(there)


def _read(files: RunFiles, name: str, keys: set[str]) -> Verdicts:
    """The verdicts of one judge on the responses in ``keys``."""
    verdicts = Verdicts(name)
    for row in files.judgements(name).rows():
        key = row["response_key"]
        if key not in keys:
            continue
        judgement = decode(Judgement, row)
        verdicts.labels[key] = _labels(judgement.slots)
        for slot, reading in judgement.slots.items():
            verdicts.outcomes.setdefault(slot, Counter())[str(reading.outcome)] += 1
        for member, readings in judgement.votes.items():
            verdicts.votes.setdefault(member, {})[key] = _labels(readings)
    return verdicts


def _labels(readings: Mapping[str, Reading]) -> dict[str, str | None]:
    found = {}
    for slot, reading in readings.items():
        label = label_of(reading)
        found[intern(slot)] = None if label is None else intern(label)
    return found
