"""Asking the models of judges: each model is loaded once, after the subject, and only what is new is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from biasfw.asking import Handle, Pending, Progress, ask, handle
from biasfw.codec import encode
from biasfw.contracts import Case
from biasfw.errors import StoreError, UsageError
from biasfw.juries import Binding
from biasfw.keys import canonical
from biasfw.plan import Plan
from biasfw.records import Identity, Response
from biasfw.sitting import ModelLeaf, Sitting, questions
from biasfw.store import FIXED_IDENTITY, RunDirectory


@dataclass
class _Group:
    """The judges that ask one model, and what each has to ask."""

    binding: Binding
    pending: dict[str, tuple[ModelLeaf, dict[str, Handle]]] = field(default_factory=dict)  # handles by request key

    @property
    def size(self) -> int:
        """How many requests are pending."""
        return sum(len(handles) for _, handles in self.pending.values())


def ask_models(
    plan: Plan,
    directory: RunDirectory,
    sitting: Sitting,
    cases: Iterable[tuple[ModelLeaf, Case]],
    progress: Progress,
    *,
    may_ask: bool,
) -> None:
    """Ask what the judges in ``cases`` want to know and was not answered yet.

    Raises:
        UsageError: something was never asked, and ``may_ask`` is not set.
    """
    groups = _groups(cases, write=may_ask)
    if not may_ask:
        _check_all_were_asked(plan, directory, sitting, groups)
        return
    for group in groups:
        _ask_group(plan, directory, group, progress)


def _check_all_were_asked(plan: Plan, directory: RunDirectory, sitting: Sitting, groups: Iterable[_Group]) -> None:
    """What was asked and failed is judged as a failure; what was never asked cannot be judged."""
    missing = sum(
        key not in leaf.answers.failures.index
        for group in groups
        for leaf, handles in group.pending.values()
        for key in handles
    )
    if missing:
        raise UsageError(
            f"{sitting.name} has not judged everything yet ({missing} questions were never asked); "
            f"run: biasfw judge {directory.path} --judge {plan.config.judge or sitting.name}"
        )


def _groups(cases: Iterable[tuple[ModelLeaf, Case]], *, write: bool) -> list[_Group]:
    """What is to be asked, by model; with ``write`` every request is on disk before anything is asked."""
    groups: dict[str, _Group] = {}
    for leaf, case in cases:
        binding = leaf.binding
        model = canonical([binding.identity, leaf.fingerprint])  # the fingerprint tells one server from another
        for request in questions(leaf, case):
            if request.key in leaf.answers.responses.index or _is_permanent(leaf, request.key):
                continue
            if write:
                leaf.answers.add(request)
            group = groups.setdefault(model, _Group(binding))
            group.pending.setdefault(leaf.name, (leaf, {}))[1][request.key] = handle(request)
            if binding.spec.references and request.references is not None:
                leaf.answers.references[request.key] = request.references
    return list(groups.values())


def _is_permanent(leaf: ModelLeaf, key: str) -> bool:
    failures = leaf.answers.failures
    return key in failures.index and bool(failures.read(key)["error"].get("permanent", False))


def _ask_group(plan: Plan, directory: RunDirectory, group: _Group, progress: Progress) -> None:
    names = ", ".join(leaf.seat.name for leaf, _ in group.pending.values())
    progress.note(f"asking the model of {names}: {group.size} questions")
    progress.start("asking judges", group.size, 0)
    failures: Counter[str] = Counter()

    def stored(response: Response, row: dict[str, Any]) -> None:
        del row
        progress.step("error" if response.error else "answered")
        if response.error:
            failures[response.error.message] += 1

    try:
        with closing(group.binding.make(plan.config.seed)) as backend:
            identity = encode(backend.prepare())
            _remember(directory, group, identity)
            for leaf, handles in group.pending.values():
                answers = leaf.answers
                attached = answers.references
                references = (lambda request, known=attached: known.get(request.key, {})) if attached else None
                ask(backend, Pending(answers, list(handles.values()), references), answers, stored)
            learned: Callable[[], Identity] | None = getattr(backend, "learned", None)
            if learned is not None:
                _remember(directory, group, encode(learned()))
    finally:
        progress.finish()
    if failures:
        message = failures.most_common(1)[0][0]
        progress.note(
            f"{failures.total()} of {group.size} questions to the model of {names} failed, most often: {message}; "
            "the same command asks them again, unless asking again cannot help"
        )


def _remember(directory: RunDirectory, group: _Group, identity: dict[str, Any]) -> None:
    """Note what was loaded for the judges of a group.

    Raises:
        StoreError: another dtype, template, architecture or quantisation answered before.
    """
    judges = dict(directory.info.get("judges", {}))
    for leaf, _ in group.pending.values():
        entry = judges.get(leaf.name, {})
        before = entry.get("identity", identity)
        for name in FIXED_IDENTITY:
            if before.get(name) != identity.get(name):
                raise StoreError(
                    f"judge {leaf.name} was asked with {name} {before.get(name)}, now it is {identity.get(name)}; "
                    "verdicts of both are never mixed: give the judge another name in its file"
                )
        judges[leaf.name] = {**entry, "identity": identity}
    directory.save(judges=judges)
