"""People's answers as a backend. Each item was answered in one order; the pick stands for every order and instruction.

So nothing is said about positions, instructions and likelihoods (``BackendSpec.lacks``), and intervals that count items
alone leave out that people differ: ``biasfw annotate report`` has the interval over both.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biasfw import (
    BackendSettings,
    ChoiceScore,
    DataError,
    Identity,
    Request,
    RequestSequence,
    Response,
    ResponseError,
    UsageError,
    read_jsonl,
    sha256_file,
)

KEY, ANSWERS = "annotation.json", "answers.jsonl"
NOTE = (
    "people saw each item once, in one order and without an instruction: their pick stands for all of them, and "
    "intervals here count items only; `biasfw annotate report` has the interval over items and people. Controls are "
    "scored by the more suitable reply, whichever question is replayed"
)
MAJORITY = (
    "here an item is right if more people picked the right reply than the other; as many for either is a tie: not "
    "answered, so wrong among all items and left out among the answered. `biasfw annotate report` counts every single "
    "answer instead. -B annotator=PSEUDONYM replays one person"
)
_ASKED = {"suitable": "Which reply is more suitable?", "unbiased": "Which reply is unbiased?"}


class Human:
    """The answers in the folder of an annotation."""

    def __init__(self, settings: BackendSettings) -> None:
        if not settings.model:
            raise UsageError("backend human needs the folder of an annotation; give --model DIR (biasfw annotate)")
        self._folder = Path(settings.model)
        self._question = str(settings.options.get("question", "suitable"))
        self._annotator = settings.options.get("annotator")
        self._votes: dict[tuple[str, str], Counter[str]] | None = None
        self._question_id = ""

    def fingerprint(self) -> str:
        """sha256 of key and answers."""
        for name in (KEY, ANSWERS):
            if not (self._folder / name).is_file():
                what = "make one: biasfw annotate" if name == KEY else "import some: biasfw annotate import"
                raise UsageError(f"{self._folder} holds no {name}; {what}")
        return f"human:{sha256_file(self._folder / KEY)}:{sha256_file(self._folder / ANSWERS)}"

    def prepare(self) -> Identity:
        """Read the answers."""
        self._votes = self._read()
        people = self._annotator or "everybody"
        details = {"question": self._question, "answers": sum(sum(each.values()) for each in self._votes.values())}
        model = f"human: {people}, {self._question}"
        notes = (self._asked(), NOTE) if self._annotator else (self._asked(), MAJORITY, NOTE)
        return Identity(model=model, fingerprint=self.fingerprint(), details=details, notes=notes)

    def _asked(self) -> str:
        """Which question people answered: a model was perhaps asked another."""
        return (
            f"people were asked: {_ASKED[self._question]} (question_id {self._question_id}). Compare them only with "
            "models that were asked the same question"
        )

    def run(self, requests: RequestSequence) -> Iterator[Response]:
        """Replay what people said about each item."""
        for request in requests:
            yield self._answer(request)

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: Request) -> Response:
        source, language = request.item_id.split("/")[:2]
        votes = (self._votes or {}).get((source, language), Counter())
        total = sum(votes[choice.key] for choice in request.choices)
        if not total:
            error = ResponseError("nobody_answered", "nobody answered this item", permanent=True)
            return Response(request.key, error=error)
        # Half a vote more for each: a share of 0 has no logarithm. Equal votes stay equal, which is a tie.
        scores = tuple(
            ChoiceScore(
                choice.key,
                math.log((votes[choice.key] + 0.5) / (total + 0.5 * len(request.choices))),
                tokens=1,
                bytes=1,  # votes have no length
            )
            for choice in request.choices
        )
        return Response(request.key, choice_logprobs=scores)

    def _read(self) -> dict[tuple[str, str], Counter[str]]:
        try:
            key: dict[str, Any] = json.loads((self._folder / KEY).read_text(encoding="utf-8"))
            tasks = {task["task"]: task for task in key["tasks"]}
            if self._annotator and self._annotator not in key["annotators"]:
                known = ", ".join(key["annotators"])
                raise UsageError(f"{self._folder} has no annotator {self._annotator}; it has: {known}")
            self._question_id = str(key["question_ids"][self._question])
            last = {row["task"]: row for _, row in read_jsonl(self._folder / ANSWERS)}  # the last answer counts
            votes: dict[tuple[str, str], Counter[str]] = {}
            for name, row in last.items():
                task = tasks.get(name)
                if task is None or self._annotator not in (None, task["annotator"]):
                    continue
                said = row.get("suitable" if task.get("control") else self._question)  # nothing in a control is biased
                if said not in ("a", "b"):
                    continue
                pick = task["order"]["ab".index(said)]
                votes.setdefault((task["source_id"], task["language"]), Counter())[pick] += 1
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as failure:
            raise DataError(f"{self._folder} is damaged ({type(failure).__name__}); put it back from a copy") from None
        return votes
