"""A workbench: what people do with it. Every change is one line of the log, and the items files follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from biasfw import bundles, schemas
from biasfw.authoring.checking import checked
from biasfw.authoring.damage import problems
from biasfw.authoring.drafts import MAIN, PLACEBO, TEXTS, Draft, State, Version, fold, seed_row
from biasfw.authoring.files import write_rows
from biasfw.authoring.log import LOG, SETTINGS, Log, new_pseudonym
from biasfw.errors import UsageError
from biasfw.keys import sha256_file
from biasfw.yamlfile import load_yaml

CONSENT, CONTROLS = "CONSENT.md", "items/controls.jsonl"
SPLITS = {"drafts": "items/drafts.jsonl", "first": "items/first.jsonl"}


class NewerVersionError(UsageError):
    """Somebody saved a newer version meanwhile; what was to be saved was put aside, so that nothing is lost."""

    def __init__(self, message: str, newest: Version) -> None:
        super().__init__(message)
        self.newest = newest


@dataclass(frozen=True)
class Workbench:
    """The workbench in a folder."""

    folder: Path

    @cached_property
    def log(self) -> Log:
        """The log."""
        return Log(self.folder)

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The checked workbench.yaml."""
        document = load_yaml(self.folder / SETTINGS)
        schemas.check("workbench", document)
        settings: Mapping[str, Any] = document.value
        return settings

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The checked manifest of the draft bundle."""
        return bundles.load(self.folder).written

    @property
    def controls(self) -> tuple[str, ...]:
        """The categories that are controls."""
        return tuple(self.manifest.get("controls", {}).get("categories", ()))

    @property
    def categories(self) -> dict[str, Mapping[str, Any]]:
        """The categories that drafts can have, with their names by language."""
        return {c["key"]: c["names"] for c in self.manifest["categories"] if c["key"] not in self.controls}

    def state(self) -> State:
        """What the log says now."""
        rows, flaws = self.log.read()
        return fold(rows.values(), [flaw.about for flaw in flaws if flaw.about])

    def problems(self) -> list[str]:
        """What is wrong with the log, a line each."""
        return problems(self.log)

    def draft(self, name: str, state: State | None = None) -> Draft:
        """A draft.

        Raises:
            UsageError: there is none of this name.
        """
        state = state or self.state()
        drafts = state.drafts
        if name in state.lost:
            raise UsageError(f"no version of {name} can be read; put its lines back into {LOG} (see {LOG}.damaged)")
        if name not in drafts:
            raise UsageError(f"{self.folder} has no draft {name!r}; it has: {', '.join(drafts) or 'none'}")
        return drafts[name]

    # People

    def join(self, *, yes: bool, groups: tuple[str, ...] = (), by: str | None = None) -> str:
        """Record what somebody said to CONSENT.md; return their pseudonym."""
        by = by or new_pseudonym()
        digest = sha256_file(self.folder / CONSENT)
        self.log.append("consent", by=by, yes=yes, text=digest, groups=sorted(groups) or None)
        return by

    def agreed(self, by: str, state: State | None = None) -> bool:
        """Whether somebody said yes to CONSENT.md as it is now."""
        said = (state or self.state()).consents.get(by)
        return said is not None and said["yes"] and said["text"] == sha256_file(self.folder / CONSENT)

    def need_consent(self, by: str, state: State | None = None) -> None:
        """Nothing is done for somebody who has not said yes.

        Raises:
            UsageError: they have not, or to another text.
        """
        if not self.agreed(by, state):
            raise UsageError(
                f"{by} has not agreed to {self.folder / CONSENT}; read it, then: biasfw author join {self.folder} --yes"
            )

    # Drafts

    def write(
        self, by: str, texts: Mapping[str, str], item: str | None = None, *, base: int | None = None, arm: str = MAIN
    ) -> tuple[str, Version]:
        """Store a new draft, or a new version of one; return its name and the version.

        ``base``: the version that was edited; if there is a newer one by now, the texts are put aside. Texts that are
        left out stay as they were. Texts equal to the newest version make no new one.

        Raises:
            UsageError: no consent, no such category or language, a text missing, or as ``NewerVersionError``.
        """
        self.need_consent(by)
        if item is None:
            with self.log.locked("new"):
                given = self._checked(texts, None)
                name = self._new_name(given["category"])
                return name, self._store(by, name, given, None, MAIN, 0)
        with self.log.locked(item):
            draft = self.draft(item)
            before = newest(draft, arm)
            if draft.withdrawn or before.texts is None:
                raise UsageError(f"{item} was withdrawn; write a new draft")
            given = self._checked({**before.texts, **texts}, draft)
            if given == dict(before.texts) and draft.versions[arm]:
                return item, before
            if base is not None and base != before.number:
                self.log.append("aside", by=by, item=item, draft=given)
                raise NewerVersionError(
                    f"{item} has version {before.number} by now, yours began from {base}; your texts were put aside "
                    f"in {LOG}, look at the newer version and save again",
                    before,
                )
            return item, self._store(by, item, given, before, arm, draft.next_number(arm))

    def _store(
        self, by: str, name: str, texts: Mapping[str, str], before: Version | None, arm: str, number: int
    ) -> Version:
        old = (before.texts or {}) if before else {}
        changed = [part for part in TEXTS if texts.get(part) != old.get(part)] if before else []
        self.log.append(
            "draft", by=by, item=name, version=number, arm=arm, changed=changed or None, draft=dict(texts)
        )  # fmt: skip
        self.rebuild()
        return Version(number, by, texts, tuple(changed))

    def _new_name(self, category: str) -> str:
        state = self.state()
        names = (*state.drafts, *state.lost, *(row["item"] for row in self.log.rows() if "item" in row))
        ends = [name.rpartition("-")[2] for name in names if name.rpartition("-")[0] == category]
        numbers = [int(end) for end in ends if end.isdecimal()]
        return f"{category}-{max(numbers, default=0) + 1:02d}"

    def _checked(self, texts: Mapping[str, str], draft: Draft | None) -> dict[str, str]:
        return checked(texts, draft, self.manifest["languages"], self.categories)

    # What people say about drafts

    def decide(self, by: str, item: str, *, accept: bool, reason: str) -> None:
        """Accept or reject the newest version, with a reason."""
        self.need_consent(by)
        if not reason.strip():
            raise UsageError("a decision needs a reason; say why (--reason)")
        with self.log.locked(item):
            draft = self._live(item)
            self.log.append(
                "decision", by=by, item=item, version=draft.current.number, accept=accept, reason=reason.strip()
            )  # fmt: skip

    def review(self, by: str, item: str, *, member: bool, ok: bool, reason: str | None = None) -> None:
        """A review by somebody who did not write the draft; ``member``: of the group that it is about."""
        self.need_consent(by)
        with self.log.locked(item):
            draft = self._live(item)
            if by in draft.authors:
                raise UsageError(f"{by} wrote {item}; a review is somebody else's")
            version = draft.current.number
            self.log.append("review", by=by, item=item, version=version, member=member, ok=ok, reason=reason or None)

    def mark(self, kind: str, by: str, item: str | None = None, reason: str = "") -> None:
        """``skip``, ``flag`` (as harmful, with a reason) or ``pause``."""
        self.need_consent(by)
        if item is not None:
            self.draft(item)
        self.log.append(kind, by=by, item=item, reason=reason if kind == "flag" else None)

    def _live(self, item: str) -> Draft:
        draft = self.draft(item)
        if draft.withdrawn:
            raise UsageError(f"{item} was withdrawn; there is nothing to decide")
        return draft

    # Files

    def rebuild(self) -> None:
        """Write the items files from the log."""
        with self.log.locked("items"):
            live = self.state().live
            current = [seed_row(d.name, d.current.texts) for d in live if d.current.texts]
            first = [seed_row(d.name, v.texts) for d in live if (v := d.first) and v.texts]
            for name, rows in (("drafts", current), ("first", first)):
                write_rows(self.folder / SPLITS[name], rows)


def newest(draft: Draft, arm: str) -> Version:
    """The newest version of an arm; an arm without one begins at the first version of all."""
    if arm == MAIN:
        return draft.current
    there = [version for version in draft.versions[PLACEBO] if version.texts is not None]
    return (there or draft.versions[MAIN][:1])[-1]


def open_bench(folder: Path) -> Workbench:
    """The workbench in ``folder``, checked.

    Raises:
        UsageError: there is none.
        DataError: a file of it is wrong.
    """
    if not (folder / SETTINGS).is_file():
        raise UsageError(f"{folder} holds no workbench ({SETTINGS}); make one: biasfw author init {folder}")
    bench = Workbench(folder)
    if not (folder / CONSENT).is_file():
        raise UsageError(f"{folder} has no {CONSENT}; put it back: nobody can agree to what is not there")
    _ = bench.settings, bench.manifest
    return bench
