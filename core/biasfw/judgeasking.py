"""Asking the models of judges: each model is loaded once, after the subject, and only what is new is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from biasfw.asking import Handle, Pending, Progress, ask, handle
from biasfw.codec import encode
from biasfw.contracts import Backend, Case
from biasfw.errors import UsageError
from biasfw.juries import Binding
from biasfw.keys import canonical
from biasfw.plan import Plan
from biasfw.records import Identity, Response
from biasfw.sitting import ModelLeaf, Sitting, questions
from biasfw.store import RunDirectory


@dataclass
class _Group:
    """The judges that ask one model, and what each has to ask."""

    binding: Binding
    pending: dict[str, tuple[ModelLeaf, list[Handle]]] = field(default_factory=dict)

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
        UsageError: there is something to ask, and ``may_ask`` is not set.
    """
    groups = _groups(cases)
    waiting = sum(group.size for group in groups)
    if waiting and not may_ask:
        raise UsageError(
            f"{sitting.name} has not judged everything yet ({waiting} questions are open); "
            f"run: biasfw judge {directory.path} --judge {sitting.name}"
        )
    for group in groups:
        if group.size:
            _ask_group(plan, directory, group, progress)


def _groups(cases: Iterable[tuple[ModelLeaf, Case]]) -> list[_Group]:
    """What is to be asked, by model; every request is on disk before anything is asked."""
    groups: dict[str, _Group] = {}
    for leaf, case in cases:
        binding = leaf.binding
        model = canonical([binding.identity, leaf.fingerprint])  # the fingerprint tells one server from another
        group = groups.setdefault(model, _Group(binding))
        _, handles = group.pending.setdefault(leaf.name, (leaf, []))
        for request in questions(leaf, case):
            if request.key in leaf.answers.responses.index or _is_permanent(leaf, request.key):
                continue
            leaf.answers.add(request)
            handles.append(handle(request))
            if binding.spec.references and request.references is not None:
                leaf.answers.references[request.key] = request.references
    for group in groups.values():
        for name, (leaf, handles) in group.pending.items():
            group.pending[name] = leaf, list({h.key: h for h in handles}.values())
    return list(groups.values())


def _is_permanent(leaf: ModelLeaf, key: str) -> bool:
    failures = leaf.answers.failures
    return key in failures.index and bool(failures.read(key)["error"].get("permanent", False))


def _ask_group(plan: Plan, directory: RunDirectory, group: _Group, progress: Progress) -> None:
    names = ", ".join(leaf.seat.name for leaf, _ in group.pending.values())
    progress.note(f"asking the model of {names}: {group.size} questions")
    progress.start("asking judges", group.size, 0)

    def stored(response: Response, row: dict[str, Any]) -> None:
        del row
        progress.step("error" if response.error else "answered")

    try:
        with _loaded(plan, group.binding) as backend:
            identity = encode(backend.prepare())
            _remember(directory, group, identity)
            for leaf, handles in group.pending.values():
                answers = leaf.answers
                attached = answers.references
                references = (lambda request, known=attached: known.get(request.key, {})) if attached else None
                ask(backend, Pending(answers, handles, references), answers, stored)
            learned: Callable[[], Identity] | None = getattr(backend, "learned", None)
            if learned is not None:
                _remember(directory, group, encode(learned()))
    finally:
        progress.finish()


@contextmanager
def _loaded(plan: Plan, binding: Binding) -> Iterator[Backend]:
    backend = binding.make(plan.config.seed)
    try:
        yield backend
    finally:
        backend.close()


def _remember(directory: RunDirectory, group: _Group, identity: dict[str, Any]) -> None:
    judges = dict(directory.info.get("judges", {}))
    for leaf, _ in group.pending.values():
        judges[leaf.name] = {**judges.get(leaf.name, {}), "identity": identity}
    directory.save(judges=judges)
