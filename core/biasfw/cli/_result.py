"""What ``run``, ``judge`` and ``score`` share: the progress bar and the result, as a table or as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
from tqdm import tqdm

from biasfw.cli._common import print_json, say
from biasfw.cli._summary import print_summary
from biasfw.codec import encode
from biasfw.engine import RunResult
from biasfw.papers import MEMBER_FAILED
from biasfw.records import Outcome


class Bar:
    """Progress on standard error: rate, time left, outcome counts."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Any = None
        self._counts: Counter[str] = Counter()

    def start(self, stage: str, total: int, done: int) -> None:
        """Begin a bar; a stage with nothing left to do draws none."""
        self.finish()
        self._counts.clear()
        if not self._quiet and total > done:
            keep = stage == "asking"
            self._bar = tqdm(total=total, initial=done, desc=stage, unit="", leave=keep, mininterval=0.5, delay=0.5)

    def step(self, outcome: str) -> None:
        """Count one outcome."""
        self._counts[outcome] += 1
        if self._bar is not None:
            self._bar.set_postfix(self._counts, refresh=False)
            self._bar.update()

    def finish(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def note(self, text: str) -> None:
        """A line on standard error that does not disturb the bar."""
        with tqdm.external_write_mode():
            say(" ".join(text.split()), err=True)


def result_document(result: RunResult) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "run": str(result.directory),
        "status": result.status,
        "benchmark": result.plan.bundle.full_name,
        "demo": result.plan.bundle.demo,
        "backend": result.plan.backend.spec.name,
        "model": result.identity.get("model") or result.plan.config.model,
        "identity": dict(result.identity),
        "mode": result.plan.protocol.mode,
        "prompt_style": result.plan.protocol.prompt_style,
        "seed": result.plan.config.seed,
        "judge": result.plan.jury.name,
        "scores_file": result.scores_file,
        "interpretation": dict(result.plan.bundle.manifest["interpretation"]),
        "selection": str(result.plan.selected),
        "responses": result.total,
        "failed": result.failed,
        "asked": result.asked,
        "outcomes": result.outcomes,
        "flags": result.flags,
        "notes": list(result.notes),
        "scores": [encode(score) for score in result.scores],
    }


def finish(result: RunResult, *, as_json: bool) -> None:
    """Print a result and leave with 0, or 3 if responses or verdicts are missing because a model failed."""
    if as_json:
        print_json(result_document(result))
    else:
        print_summary(result)
    unjudged = any(counts.get(Outcome.JUDGE_ERROR) for counts in result.outcomes.values())
    if result.status != "complete" or unjudged or result.flags.get(MEMBER_FAILED):
        raise click.exceptions.Exit(3)
