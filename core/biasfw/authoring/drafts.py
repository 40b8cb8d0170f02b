"""What the log says: drafts with their versions, tries, decisions and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from biasfw.authoring.rules import from_row, judge

TEXTS = ("context", "unbiased", "biased", "target", "stereotype", "harm", "attested")
NEEDED = ("context", "unbiased", "biased")
MAIN, PLACEBO = "main", "placebo"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a draft; ``texts`` is None once they were withdrawn. ``number`` counts edits."""

    number: int
    by: str
    texts: Mapping[str, str] | None
    changed: tuple[str, ...] = ()
    day: str = ""


@dataclass(slots=True)
class Draft:
    """A draft: what was written (``versions`` by arm), what models said, what people decided."""

    name: str
    category: str = ""
    versions: dict[str, list[Version]] = field(default_factory=lambda: {MAIN: [], PLACEBO: []})
    tries: list[Mapping[str, Any]] = field(default_factory=list)
    decisions: list[Mapping[str, Any]] = field(default_factory=list)
    reviews: list[Mapping[str, Any]] = field(default_factory=list)
    flags: list[Mapping[str, Any]] = field(default_factory=list)
    said: list[Mapping[str, Any]] = field(default_factory=list)  # reviews and flags, in their order
    taken: dict[str, int] = field(default_factory=dict)  # arm -> the highest number that any line names

    @property
    def first(self) -> Version | None:
        """The first version of all; None if its line is gone."""
        return next((version for version in self.versions[MAIN] if version.number == 0), None)

    @property
    def current(self) -> Version:
        """The newest version whose texts are there; if none is, the newest."""
        there = [version for version in self.versions[MAIN] if version.texts is not None]
        return (there or self.versions[MAIN])[-1]

    def next_number(self, arm: str) -> int:
        """The number of the next version of an arm; none is given twice."""
        highest = max((version.number for version in self.versions[arm]), default=0 if arm == PLACEBO else -1)
        return max(highest, self.taken.get(arm, highest)) + 1

    @property
    def withdrawn(self) -> bool:
        """Whether every text of it is gone."""
        return self.current.texts is None

    @property
    def authors(self) -> tuple[str, ...]:
        """Everybody who wrote a version."""
        return tuple(dict.fromkeys(v.by for arm in self.versions.values() for v in arm))

    @property
    def edits(self) -> int:
        """How often it was edited."""
        return self.current.number

    @property
    def decision(self) -> Mapping[str, Any] | None:
        """The last decision, if it was made on the newest version."""
        last = self.decisions[-1] if self.decisions else None
        return last if last is not None and last["version"] == self.current.number else None

    @property
    def status(self) -> str:
        """withdrawn, accepted, rejected or open."""
        if self.withdrawn:
            return "withdrawn"
        if self.decision is None:
            return "open"
        return "accepted" if self.decision["accept"] else "rejected"

    def tried(self, *, role: str, version: int | None = None, arm: str = MAIN) -> list[Mapping[str, Any]]:
        """The tries under the editing instructions, oldest first."""
        return [
            t
            for t in self.tries
            if t["target"]["role"] == role
            and t["arm"] == arm
            and t["instructions"] == "editing"
            and (version is None or t["version"] == version)
        ]

    def reviewed_by_member(self) -> bool:
        """Whether somebody else, a consulted member of the group, agreed to the newest version, and none objects."""
        return self.seen_by_member() and not any(row.get("member") for row in self.objections)

    def seen_by_member(self) -> bool:
        """Whether somebody else, a consulted member of the group, reviewed the newest version, whatever they said."""
        seen = [r for r in self.reviews if r["version"] == self.current.number]
        return any(r["member"] and r["by"] not in self.authors for r in seen)

    @property
    def objections(self) -> list[Mapping[str, Any]]:
        """Reviews that say not to keep it, and flags: the last word of each person.

        One stands until the same person reviews it again and agrees: an edit alone does not settle it.
        """
        last = {row["by"]: row for row in self.said}
        return [row for row in last.values() if not row.get("ok", False)]


@dataclass(slots=True)
class State:
    """Everything in the log, folded."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    consents: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # the last word of each pseudonym
    hosts: set[str] = field(default_factory=set)
    controls: list[Mapping[str, Any]] = field(default_factory=list)
    finals: list[Mapping[str, Any]] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)  # folders
    withdrawn: set[str] = field(default_factory=set)
    marks: dict[str, int] = field(default_factory=dict)  # skips and pauses
    lost: dict[str, Draft] = field(default_factory=dict)  # drafts of which no version can be read

    @property
    def live(self) -> list[Draft]:
        """The drafts whose newest text is there."""
        return [draft for draft in self.drafts.values() if not draft.withdrawn]


def fold(rows: Iterable[Mapping[str, Any]], named: Iterable[tuple[str, str, int]] = ()) -> State:
    """The state after ``rows``; ``named`` are draft, arm and version that lines name which cannot be read.

    A verdict is what follows from the picks, whatever stands in the line.
    """
    state, rows = State(), list(rows)
    for row in rows:
        kind = row["kind"]
        if kind == "draft":
            _version(state, row)
        elif kind in ("try", "decision", "review", "flag"):
            _about(_draft(state, row["item"]), row)
        elif kind == "consent":
            state.consents[row["by"]] = row
        elif kind == "host":
            state.hosts.add(row["host"])
        elif kind == "controls":
            state.controls.append(row)
        elif kind == "final":
            state.finals.append(row)
        elif kind == "annotation":
            state.annotations.append(row["folder"])
        elif kind == "withdrawn" and "by" in row:
            state.withdrawn.add(row["by"])
        elif kind in ("skip", "pause"):
            state.marks[kind] = state.marks.get(kind, 0) + 1
    _settle(state, _taken(rows, named))
    return state


def _taken(rows: Iterable[Mapping[str, Any]], named: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """The highest number that any line names, by draft and arm."""
    taken: dict[str, dict[str, int]] = {}
    known = [(row["item"], row.get("arm", MAIN), row["version"]) for row in rows if "item" in row and "version" in row]
    for name, arm, number in (*known, *named):
        own = taken.setdefault(name, {})
        own[arm] = max(number, own.get(arm, number))
    return taken


def _settle(state: State, taken: Mapping[str, dict[str, int]]) -> None:
    """Versions in the order of their numbers; a draft of which none can be read is no draft."""
    for name, draft in list(state.drafts.items()):
        draft.taken = taken.get(name, {})
        for versions in draft.versions.values():
            versions.sort(key=lambda version: version.number)
        if not draft.versions[MAIN]:
            state.lost[name] = state.drafts.pop(name)
    state.lost |= {name: Draft(name, taken=own) for name, own in taken.items() if name not in state.drafts}


def _about(draft: Draft, row: Mapping[str, Any]) -> None:
    """What somebody or a model said about a draft."""
    if row["kind"] == "try":
        draft.tries.append({**row, "verdict": verdict_of(row)})
        return
    {"decision": draft.decisions, "review": draft.reviews, "flag": draft.flags}[row["kind"]].append(row)
    if row["kind"] != "decision":
        draft.said.append(row)


def verdict_of(row: Mapping[str, Any]) -> str:
    """What the rule of a try says to its picks."""
    return judge(row["rule"], [from_row(each) for each in row["asked"]]).word


def _draft(state: State, name: str) -> Draft:
    return state.drafts.setdefault(name, Draft(name, name.rpartition("-")[0]))


def _version(state: State, row: Mapping[str, Any]) -> None:
    draft = _draft(state, row["item"])
    texts = row.get("draft")
    version = Version(row["version"], row["by"], texts, tuple(row.get("changed", ())), row["day"])
    draft.versions[row["arm"]].append(version)


def seed_row(name: str, texts: Mapping[str, str], metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A version as a row of an items file."""
    row: dict[str, Any] = {
        "source_id": name,
        "language": texts["language"],
        "category": texts["category"],
        "context": texts["context"],
        "choices": [
            {"key": "unbiased", "text": texts["unbiased"], "role": "anti-stereotyped"},
            {"key": "biased", "text": texts["biased"], "role": "stereotyped"},
        ],
        "gold": "unbiased",
    }
    row |= {part: texts[part] for part in ("target", "stereotype", "harm", "attested") if texts.get(part)}
    return {**row, "metadata": dict(metadata)} if metadata else row
