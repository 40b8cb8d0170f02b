"""One model that drafts are put to: under all instructions and in all orders, by the engine's own rendering."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, cast

from biasfw.asking import Progress, Quiet, handle
from biasfw.authoring.bench import Workbench
from biasfw.authoring.files import workplace
from biasfw.authoring.hosts import host_of
from biasfw.authoring.rules import AVERAGED, Asked
from biasfw.authoring.starting import json_manifest
from biasfw.config import RunConfig
from biasfw.contracts import Backend
from biasfw.errors import BiasfwError, UsageError
from biasfw.plan import Plan, make_plan
from biasfw.plugins import Plugins
from biasfw.reading import read
from biasfw.records import Request, Response
from biasfw.specs import BackendSpec

_SLOT = 0


@dataclass(frozen=True, slots=True)
class Target:
    """A model to ask. ``role``: target (drafts are edited against it) or held-out."""

    backend: str
    model: str | None = None
    mode: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    role: str = "target"


class HostError(UsageError):
    """Drafts would be sent to a host that nobody agreed to."""


class _Requests:
    """Requests in memory, as backends want them (``biasfw.RequestSequence``)."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._handles = [handle(request) for request in requests]

    @property
    def lengths(self) -> list[int]:
        return [h.length for h in self._handles]

    @property
    def prefixes(self) -> list[int]:
        return [h.prefix for h in self._handles]

    def __len__(self) -> int:
        return len(self._requests)

    def __getitem__(self, index: int) -> Request:
        return self._requests[index]

    def __iter__(self) -> Iterator[Request]:
        return iter(self._requests)


class Asker:
    """One model, loaded once, that any drafts can be put to. A context manager."""

    def __init__(self, bench: Workbench, target: Target, plugins: Plugins, progress: Progress | None = None) -> None:
        self.bench, self.target, self.plugins = bench, target, plugins
        self.progress: Progress = progress or Quiet()
        self._backend: Backend | None = None
        self._prepared = False
        self.fingerprint = ""
        component = plugins.find("backend", target.backend)
        self.spec = cast("BackendSpec", component.spec)
        averaged = bench.settings["rule"]["use"] == AVERAGED  # it goes by log-probabilities: of letters, if no others
        able = {"choices", "first_token"} if averaged else {"choices"}
        self.mode = target.mode or ("choices" if able & self.spec.capabilities else "generate")

    def __enter__(self) -> Asker:
        host = host_of(self.plugins, self.target.backend, self.target.options)
        if host is not None and host not in self.bench.state().hosts:
            raise HostError(f"drafts would be sent to {host}, which was not agreed to yet; agree with --send-to {host}")
        need_logprobs(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._backend is not None:
            self._backend.close()
            self._backend, self._prepared = None, False

    def identify(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Find out which model it is, without loading it."""
        if self._backend is None:
            with _plan(self, rows, self.bench.manifest["instructions"]) as plan:
                self._backend = plan.make_backend()
                self.fingerprint = self._backend.fingerprint()

    def record(self) -> dict[str, Any]:
        """The model as the log names it: no option that may hold a secret."""
        properties = self.spec.options.get("properties", {})
        options = {k: v for k, v in self.target.options.items() if not properties.get(k, {}).get("writeOnly")}
        found = {"backend": self.spec.name, "model": self.target.model, "mode": self.mode, "role": self.target.role}
        return {**found, "fingerprint": self.fingerprint, **({"options": options} if options else {})}

    def ask(self, rows: Sequence[Mapping[str, Any]], instructions: Sequence[Mapping[str, Any]]) -> list[Asked]:
        """Ask about items (rows of an items file) under ``instructions`` and all orders."""
        backend = self._loaded(rows)
        with _plan(self, rows, instructions) as plan:
            items = {trial.item.id: trial.item for trial in plan.selected.trials}
            requests = []
            for request in plan.requests():
                known = plan.renderer.references(items[request.item_id], request) if self.spec.references else None
                requests.append(replace(request, references=known) if known is not None else request)
            parser = plan.make_parser() if self.mode == "generate" else None
            by_key = {request.key: items[request.item_id] for request in requests}
            found: dict[str, Asked] = {}
            self.progress.start("asking", len(requests), 0)
            try:
                for response in backend.run(_Requests(requests)):
                    item = by_key[response.key]
                    reading = read(response, item, plan.form, parser).slots[plan.form.slots[_SLOT].key]
                    outcome = str(reading.outcome)
                    found[response.key] = Asked(
                        item.variant, item.order, outcome, reading.value, _logprobs(response), item.source_id
                    )
                    self.progress.step(outcome)
            finally:
                self.progress.finish()
        if len(found) < len(requests):
            raise BiasfwError(f"the backend left {len(requests) - len(found)} questions unanswered; try again")
        return [found[request.key] for request in requests]

    def _loaded(self, rows: Sequence[Mapping[str, Any]]) -> Backend:
        self.identify(rows)
        backend = cast("Backend", self._backend)
        if not self._prepared:
            for note in backend.prepare().notes:
                self.progress.note(note)
            self._prepared = True
        return backend


def need_logprobs(asker: Asker) -> None:
    """A target must be able to give what the rule of the workbench goes by.

    Raises:
        UsageError: the rule needs log-probabilities, and this mode has none.
    """
    if asker.bench.settings["rule"]["use"] != AVERAGED or asker.mode == "choices" or asker.target.role != "target":
        return
    able = {"choices", "first_token"} & asker.spec.capabilities
    way = "give --mode choices" if able else f"backend {asker.spec.name} has none: take another, or the rule majority"
    raise UsageError(f"the rule {AVERAGED} needs log-probabilities, which mode {asker.mode} does not give; {way}")


def _logprobs(response: Response) -> dict[str, float | None] | None:
    return {score.key: score.sum for score in response.choice_logprobs} or None


@contextmanager
def _plan(asker: Asker, rows: Sequence[Mapping[str, Any]], instructions: Sequence[Mapping[str, Any]]) -> Iterator[Plan]:
    """The plan of a small bundle with ``rows`` and ``instructions``, otherwise as the workbench."""
    manifest = {
        **asker.bench.manifest,
        "instructions": list(instructions),
        "splits": {"try": {"files": ["items.jsonl"], "summary": "a try"}},
        "default_split": "try",
    }
    # In the workbench, so that a withdrawal finds what a killed process left.
    with workplace(asker.bench.folder, "try") as folder:
        (folder / "benchmark.yaml").write_text(json_manifest(manifest), encoding="utf-8")
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "items.jsonl").write_text(lines, encoding="utf-8")
        target = asker.target
        yield make_plan(
            RunConfig(str(folder), target.backend, model=target.model, backend_options=target.options, mode=asker.mode),
            asker.plugins,
        )
