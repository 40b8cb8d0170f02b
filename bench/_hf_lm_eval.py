"""The other side of hf_choices.py: lm-evaluation-harness, run by the Python of its own environment.

The task is a file of ours, written beside the rows: the prompt, then the letter, both scored by likelihood.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

TASK = """
task: letters
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
output_type: multiple_choice
test_split: test
doc_to_text: prompt
doc_to_choice: choices
doc_to_target: 0
target_delimiter: ""
metric_list: [{{metric: acc}}]
"""


class Watched:
    """Notes what the model is asked and how long it takes, without the search for a batch size."""

    def __init__(self, model: Any) -> None:
        self.seconds = 0.0
        self.rows: dict[int, dict[int, tuple[float, list[int]]]] = {}
        self.batch: Any = None
        self._model = model
        self._ask, self._detect = model.loglikelihood, model._detect_batch_size
        model.loglikelihood, model._detect_batch_size = self.loglikelihood, self.detect

    def loglikelihood(self, requests: list[Any], **options: Any) -> Any:
        """Answers of the model."""
        begun = time.perf_counter()
        results = self._ask(requests, **options)
        self.seconds += time.perf_counter() - begun
        for request, (value, _) in zip(requests, results, strict=True):
            ids = [token for part in self._model._encode_pair(*request.args) for token in part]
            self.rows.setdefault(request.doc_id, {})[request.idx] = (value, ids)
        return results

    def detect(self, *arguments: Any, **options: Any) -> Any:
        """The batch size that fits; finding it is not counted."""
        begun = time.perf_counter()
        self.batch = self._detect(*arguments, **options)
        self.seconds -= time.perf_counter() - begun
        return self.batch


def main(folder: Path, dtype: str, rows: int, batch: str) -> None:
    """Answer, and print what came out as JSON."""
    logging.disable(logging.WARNING)
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()[:rows]
    some = folder / f"rows-{rows}.jsonl"
    some.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "task").mkdir(exist_ok=True)
    (folder / "task" / "letters.yaml").write_text(TASK.format(rows=json.dumps(str(some))), encoding="utf-8")
    model = HFLM(pretrained=str(folder / "model"), dtype=dtype, device="cpu", batch_size=batch)
    watched = Watched(model)
    manager = TaskManager(include_path=str(folder / "task"), include_defaults=False)
    simple_evaluate(model=model, tasks=["letters"], task_manager=manager, bootstrap_iters=0, log_samples=False)
    found = [watched.rows[number] for number in range(rows)]
    print(json.dumps({
        "seconds": watched.seconds,
        "sums": [[row[choice][0] for choice in sorted(row)] for row in found],
        "ids": [[row[choice][1] for choice in sorted(row)] for row in found],
        "versions": {name: metadata.version(name) for name in ("lm_eval", "torch", "transformers", "tokenizers")},
        "batch": watched.batch or batch,
    }))  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
