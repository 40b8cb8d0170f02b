"""Something that takes a while, and how far it is."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from biasfw.authoring.asker import HostError
from biasfw.authoring.finalizing import RefusedError
from biasfw.errors import BiasfwError


def told_failure(failure: BiasfwError) -> dict[str, Any]:
    """What went wrong in one line; ``code``: the page has words of its own for it."""
    code = {"code": "host_first"} if isinstance(failure, HostError) else {}
    return {"error": " ".join(str(failure).split()), **code}


@dataclass(slots=True)
class Job:
    """Something that takes a while. It watches itself: it is the ``Progress`` of the asking."""

    future: Future[dict[str, Any]] | None = None
    total: int = 0
    done: int = 0

    def start(self, stage: str, total: int, done: int) -> None:  # noqa: ARG002 - as Progress has it
        self.total, self.done = total, done

    def step(self, outcome: str) -> None:  # noqa: ARG002
        self.done += 1

    def finish(self) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def told(self) -> dict[str, Any]:
        """How far it is, and what came of it."""
        if self.future is None or not self.future.done():
            return {"running": True, "done": self.done, "total": self.total}
        failure = self.future.exception()
        if isinstance(failure, RefusedError):
            return {"running": False, "refused": failure.reasons}
        if isinstance(failure, BiasfwError):
            return {"running": False, **told_failure(failure)}
        if failure is not None:
            return {"running": False, "error": f"{type(failure).__name__}: {failure}"}
        return {"running": False, **self.future.result()}
