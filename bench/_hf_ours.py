"""One side of hf_choices.py, a process of its own: the backend hf on the rows in a folder."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from _common import Requests
from floor import distinct

from biasfw import BackendSettings, Request
from biasfw.codec import decode
from biasfw_plugins.hf.backend import HuggingFace
from biasfw_plugins.hf.jobs import Scoring, make_job
from biasfw_plugins.hf.scoring import Plan


def plans(backend: HuggingFace, asked: Requests) -> list[Plan]:
    """Token ids of every request."""
    prompter = backend._load()[0]._subject.prompter
    jobs = [make_job(prompter, request, None) for request in asked]
    return [job.plan for job in jobs if isinstance(job, Scoring)]


def main(folder: Path, dtype: str, rows: int) -> None:
    """Answer, and print what came out as JSON."""
    lines = (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()[:rows]
    asked = Requests(decode(Request, json.loads(line)) for line in lines)
    options = {"dtype": dtype, "device": "cpu"}
    backend = HuggingFace(BackendSettings(str(folder / "model"), "choices", options=options))
    identity = backend.prepare()
    begun = time.perf_counter()
    made = {answer.key: answer for answer in backend.run(asked)}
    seconds = time.perf_counter() - begun
    answers = [made[request.key] for request in asked]
    made_of = plans(backend, asked)
    print(json.dumps({
        "seconds": seconds,
        "sums": [[score.sum for score in answer.choice_logprobs] for answer in answers],
        "ids": [[list(sequence) for sequence in plan.sequences] for plan in made_of],
        "distinct": distinct(plan.sequences[0][: plan.start] for plan in made_of),
        "versions": dict(identity.libraries),
    }))  # fmt: skip
    backend.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
