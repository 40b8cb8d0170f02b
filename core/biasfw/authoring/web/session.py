"""What the page asks of a workbench, as plain data in and out; nothing here knows of HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasfw.authoring.asker import Asker, Target
from biasfw.authoring.bench import CONSENT, Workbench, newest
from biasfw.authoring.drafts import MAIN, PLACEBO, Draft, State
from biasfw.authoring.exports import runs_with
from biasfw.authoring.finalizing import finalize
from biasfw.authoring.freezing import Wish
from biasfw.authoring.hosts import host_of
from biasfw.authoring.rules import random_chance
from biasfw.authoring.trying import try_version
from biasfw.authoring.web import working
from biasfw.authoring.web.jobs import Job
from biasfw.authoring.web.telling import line, reviews_told, tried_told, version_told
from biasfw.authoring.withdrawing import withdraw
from biasfw.errors import UsageError
from biasfw.plugins import Plugins
from biasfw.yamlfile import load_yaml

STRINGS = Path(__file__).parent / "strings.yaml"
_KEPT_JOBS = 50


@dataclass
class Session:
    """One workbench, one target, any number of people."""

    bench: Workbench
    plugins: Plugins
    target: Target | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    _asker: Asker | None = None
    _hands: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))  # a model is asked by one

    def close(self) -> None:
        """Stop what runs, free the model."""
        self._hands.shutdown(wait=True, cancel_futures=True)
        if self._asker is not None:
            self._asker.__exit__(None, None, None)

    def opening(self) -> dict[str, Any]:
        """What is shown before consent: the strings, the consent, nothing of the drafts."""
        return {
            "strings": load_yaml(STRINGS).value,
            "consent": (self.bench.folder / CONSENT).read_text(encoding="utf-8"),
            "title": self.bench.manifest["title"],
        }

    def join(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Record a yes or a no."""
        by = given.get("by")
        groups = tuple(str(group) for group in given.get("groups", ()))
        return {"by": self.bench.join(yes=given["yes"] is True, groups=groups, by=str(by) if by else None)}

    def drafts(self, by: str) -> dict[str, Any]:
        """The drafts by category with counts."""
        state = self.bench.state()
        self.bench.need_consent(by, state)
        rule, instructions = self.bench.settings["rule"], len(self.bench.manifest["instructions"])
        rows = [line(draft) for draft in state.drafts.values() if not draft.withdrawn]
        texts = [draft.current.texts for draft in state.live if draft.current.texts]
        shorter = sum(len(t["unbiased"]) < len(t["biased"]) for t in texts)
        return {
            "categories": [{"key": key, "names": names} for key, names in self.bench.categories.items()],
            "drafts": rows, "languages": list(self.bench.manifest["languages"]), "shorter": shorter, "live": len(texts),
            "target": self._target(), "chance": random_chance(rule, instructions), "rule": rule["use"],
            "host": self._host_to_ask(state), "working": self._begun(by),
        }  # fmt: skip

    def _begun(self, by: str) -> dict[str, Any]:
        """What somebody was typing that is no draft yet, by category."""
        names = {key: working.place_of(None, {"category": key}) for key in self.bench.categories}
        places = {key: working.kept(self.bench, by, name) for key, name in names.items()}
        return {key: found for key, found in places.items() if found is not None}

    def _target(self) -> str | None:
        return None if self.target is None else f"{self.target.backend} {self.target.model or ''}".strip()

    def _host_to_ask(self, state: State) -> str | None:
        if self.target is None:
            return None
        host = host_of(self.plugins, self.target.backend, self.target.options)
        return host if host is not None and host not in state.hosts else None

    def draft(self, by: str, item: str) -> dict[str, Any]:
        """One draft with its history."""
        self.bench.need_consent(by)
        draft = self.bench.draft(item)
        if draft.withdrawn:
            raise UsageError(f"{item} was withdrawn")
        versions = draft.versions[MAIN]
        return {
            **line(draft), "authors": list(draft.authors), "mine": by in draft.authors,
            "texts": dict(draft.current.texts or {}), "working": working.kept(self.bench, by, item),
            "history": [version_told(draft, v, versions[n - 1] if n else None) for n, v in enumerate(versions)],
            "decision": draft.decision and {k: draft.decision[k] for k in ("accept", "reason", "by")},
            "reviews": reviews_told(draft), "flags_said": [row["reason"] for row in draft.flags],
            "reviewed_by_member": draft.reviewed_by_member(), "objections": len(draft.objections),
            "placebo": self._placebo(by, draft),
        }  # fmt: skip

    def _placebo(self, by: str, draft: Draft) -> dict[str, Any] | None:
        """The arm that is edited without a model's answer, if the workbench asks for it."""
        asked = self.bench.settings.get("placebo", 0)
        begun = newest(draft, PLACEBO)
        if not asked or begun.texts is None:
            return None
        kept = working.kept(self.bench, by, draft.name, PLACEBO)
        done = len(draft.versions[PLACEBO])
        return {"asked": asked, "done": done, "version": begun.number, "texts": dict(begun.texts), "working": kept}

    def keep(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Autosave."""
        self.bench.need_consent(by)
        item = given.get("item")
        if item is not None:
            self.bench.draft(item)
        elif given["texts"]["category"] not in self.bench.categories:
            raise UsageError("a new draft needs a category of the workbench")
        return {"revision": working.keep(self.bench, by, item, given, _arm(given))}

    def save(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make a version of what was typed."""
        item = given.get("item")
        texts = {n: t for n, t in given["texts"].items() if n in working.NAMES and isinstance(t, str)}
        arm = _arm(given)
        if arm == PLACEBO and item is None:
            raise UsageError("a placebo edit is an edit of a draft that is there")
        name, version = self.bench.write(by, texts, item, base=given.get("base"), arm=arm)
        working.drop(self.bench, by, working.place_of(item, texts), arm)
        return {"item": name, "version": version.number}

    def decide(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Accept or reject, with a reason; refused if the version that was looked at is not the newest."""
        draft = self.bench.draft(given["item"])
        if given["version"] != draft.current.number:
            raise UsageError("there is a newer version by now; look at it before you decide")
        self.bench.decide(by, given["item"], accept=given["accept"] is True, reason=str(given["reason"]))
        return {}

    def review(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """A review."""
        reason = str(given.get("reason", ""))
        self.bench.review(by, given["item"], member=given["member"] is True, ok=given["ok"] is True, reason=reason)
        return {}

    def mark(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Skip, flag or pause."""
        if given["kind"] not in ("skip", "flag", "pause"):
            raise UsageError("there are: skip, flag, pause")
        self.bench.mark(given["kind"], by, given.get("item"), str(given.get("reason", "")))
        return {}

    def agree(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Drafts may be sent to the host that was named."""
        state = self.bench.state()
        self.bench.need_consent(by, state)
        if given["host"] != self._host_to_ask(state):
            raise UsageError("that is not the host that was named")
        self.bench.log.append("host", host=given["host"])
        return {}

    def withdraw(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Take one's own texts out of everything."""
        self.bench.need_consent(by)
        counts = withdraw(self.bench, by, erase=given.get("erase") is True)
        return {"counts": counts, "runs": len(runs_with(self.bench))}

    def begin_try(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the target about the newest version."""
        self.bench.need_consent(by)
        draft = self.bench.draft(given["item"])
        return self._begin(lambda job: {"tried": tried_told(try_version(self._asking(job), draft))})

    def begin_finalize(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Freeze what can be frozen."""
        self.bench.need_consent(by)
        allow, despite = (str(given[n]) if given.get(n) else None for n in ("allow", "allow_objections"))
        wish = Wish(allow=allow, allow_objections=despite)

        def work(job: Job) -> dict[str, Any]:
            done = finalize(self._asking(job), wish)
            return {
                "folder": str(done.folder), "kept": done.kept, "left_out": done.left_out, "held_out": done.held_out,
                "objections": done.objections,
            }  # fmt: skip

        return self._begin(work)

    def _begin(self, work: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
        if self.target is None:
            raise UsageError("no model is set; start the page with --backend and --model")
        job, name = Job(), secrets.token_hex(8)
        job.future = self._hands.submit(work, job)
        self.jobs[name] = job
        for old in list(self.jobs)[:-_KEPT_JOBS]:
            del self.jobs[old]
        return {"job": name}

    def _asking(self, job: Job) -> Asker:
        if self._asker is None:
            if self.target is None:
                raise AssertionError("begun without a target")
            self._asker = Asker(self.bench, self.target, self.plugins).__enter__()
        self._asker.progress = job
        return self._asker

    def job(self, by: str, name: str) -> dict[str, Any]:
        """How far a job is."""
        self.bench.need_consent(by)
        if name not in self.jobs:
            raise UsageError("that is not known any more (the page was started anew); try again")
        return self.jobs[name].told()


def _arm(given: Mapping[str, Any]) -> str:
    return PLACEBO if given.get("arm") == PLACEBO else MAIN
