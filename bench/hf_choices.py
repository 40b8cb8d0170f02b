"""Letters by likelihood with the backend hf against lm-evaluation-harness, on the same rows of jubaku v1.

Both sides are processes of their own that load the same folder and get the same prompts as raw text; token ids,
winners and margins are compared. Counted is the time in which the model is asked, tokenising included; loading, and
lm-evaluation-harness' search for a batch size under "auto", are not. Memory is the greatest of the whole process.
lm-evaluation-harness first tries every batch size on a few rows and is then measured with its fastest one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _common import (
    ChildFailedError,
    Ended,
    Requests,
    existing,
    median_and_spread,
    number,
    options_of,
    requests_of,
    say_where,
    told,
    whole_process,
)
from floor import Floor, Weights

from biasfw.codec import encode

HERE = Path(__file__).parent
TARGETS = {"float32": 2.0, "bfloat16": 1.7}
CLOSE = 1e-3  # nats by which margins may differ in float32
SET_UP = """
lm-evaluation-harness has an environment of its own; its PyTorch and transformers must be those of biasfw:

    python -m venv lm-eval
    lm-eval/bin/pip install -c constraints.txt "lm_eval==0.4.13" torch transformers tokenizers accelerate gguf
    python bench/hf_choices.py --lm-eval lm-eval/bin/python --data FOLDER

It needs no network while it is measured.
"""


@dataclass(slots=True)
class Side:
    """What one side took, round by round."""

    rate: list[float] = field(default_factory=list)  # rows a second
    peak_mb: list[float] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)

    def add(self, ended: Ended, rows: int) -> None:
        """One round."""
        self.told = json.loads(ended.output.strip().splitlines()[-1])
        self.rate.append(rows / self.told["seconds"])
        self.peak_mb.append(ended.peak_mb)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the model and the rows lie, and how to ask."""

    folder: Path
    python: str  # of lm-evaluation-harness
    threads: int

    def ours(self, dtype: str, rows: int) -> Ended:
        """The backend hf."""
        return self._run([sys.executable, str(HERE / "_hf_ours.py"), str(self.folder), dtype, str(rows)])

    def theirs(self, dtype: str, rows: int, batch: str) -> Ended:
        """lm-evaluation-harness with one batch size."""
        return self._run([self.python, str(HERE / "_hf_lm_eval.py"), str(self.folder), dtype, str(rows), batch])

    def _run(self, command: list[str]) -> Ended:
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        # Threads that wait for each other spin for a short time only, on both sides, as biasfw sets it: what else runs
        # on the machine then disturbs neither more than the other.
        own = {"HF_HOME": str(self.folder / "hub"), "OMP_NUM_THREADS": str(self.threads), "GOMP_SPINCOUNT": "1000"}
        return whole_process(command, environment=offline | own)


def prepare(folder: Path, model: str | None, asked: Requests) -> Weights:
    """Write the model in the Hugging Face format, and the rows for both sides."""
    import torch  # noqa: PLC0415 - only here
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    from biasfw_plugins.hf.runtime import quiet  # noqa: PLC0415
    from biasfw_plugins.hf.sources import find_source  # noqa: PLC0415

    files = find_source(model, {}).fetch()
    given: dict[str, Any] = {"gguf_file": files.gguf} if files.gguf else {}
    with quiet():
        loaded = AutoModelForCausalLM.from_pretrained(files.folder, dtype=torch.float32, **given)
        # It was dequantised; what still says that it is not would forbid to save it.
        loaded.hf_quantizer = None
        vars(loaded.config).pop("quantization_config", None)
        loaded.save_pretrained(folder / "model")
        AutoTokenizer.from_pretrained(files.folder, **given).save_pretrained(folder / "model")
    with (
        (folder / "requests.jsonl").open("w", encoding="utf-8") as ours,
        (folder / "rows.jsonl").open("w", encoding="utf-8") as theirs,
    ):
        for request in asked:
            ours.write(json.dumps(encode(request)) + "\n")
            choices = [choice.text for choice in request.choices]
            theirs.write(json.dumps({"prompt": request.prompt, "choices": choices}) + "\n")
    head = int(loaded.get_input_embeddings().weight.numel())
    tables = 1 if loaded.config.tie_word_embeddings else 2
    return Weights(int(loaded.num_parameters()) - tables * head, head)


def best_batch(bench: Bench, dtype: str, sizes: list[str], rows: int) -> str:
    """The batch size with which lm-evaluation-harness is fastest; prints all."""
    rates: dict[str, float] = {}
    for size in sizes:
        tried = Side()
        try:
            tried.add(bench.theirs(dtype, rows, size), rows)
        except ChildFailedError as failure:
            print(f"  lm-eval, batch size {size}: failed: {failure}")
            continue
        rates[size] = tried.rate[0]
        found = f" (found: {tried.told['batch']})" if size == "auto" else ""
        print(f"  lm-eval, batch size {size}{found}: {rates[size]:.2f} rows/s, {tried.peak_mb[0]:.0f} MB")
    if not rates:
        sys.exit("lm-eval failed with every batch size")
    return max(rates, key=rates.__getitem__)


def compare(ours: dict[str, Any], theirs: dict[str, Any], dtype: str) -> None:
    """Print by how much both differ.

    Raises:
        SystemExit: they were not asked the same, or float32 differs by more than rounding.
    """
    if ours["ids"] != theirs["ids"]:
        sys.exit("the two sides were asked other token ids")
    if any(ours["versions"][name] != theirs["versions"][name] for name in ours["versions"]):
        print("  the libraries differ:", ours["versions"], theirs["versions"])
    mine, other = ([sums[0] - sums[1] for sums in side["sums"]] for side in (ours, theirs))
    furthest = max(abs(one - two) for one, two in zip(mine, other, strict=True))
    winners = sum((one > 0) == (two > 0) for one, two in zip(mine, other, strict=True))
    spread = statistics.pstdev(other)
    print(f"  equal winners in {winners} of {len(mine)}; margins (spread {spread:.2g}) differ by up to {furthest:.2g}")
    if dtype == "float32" and (furthest > CLOSE or winners < len(mine)):
        sys.exit(f"margins in float32 differ by more than {CLOSE}")


def measure(bench: Bench, dtype: str, options: argparse.Namespace, weights: Weights) -> None:
    """One number type: the search for the best batch size, alternating rounds, the floor."""
    print(f"{dtype}:")
    batch = options.batch_sizes[0]
    if len(options.batch_sizes) > 1:
        batch = best_batch(bench, dtype, options.batch_sizes, min(options.try_rows, options.rows))
    ours, theirs = Side(), Side()
    for _ in range(options.rounds):
        ours.add(bench.ours(dtype, options.rows), options.rows)
        theirs.add(bench.theirs(dtype, options.rows, batch), options.rows)
    compare(ours.told, theirs.told, dtype)
    faster = [mine / other for mine, other in zip(ours.rate, theirs.rate, strict=True)]
    smaller = [mine / other for mine, other in zip(ours.peak_mb, theirs.peak_mb, strict=True)]
    print(f"  ours: {median_and_spread(ours.rate)} rows/s, at most {max(ours.peak_mb):.0f} MB")
    print(f"  lm-eval, batch size {batch}: {median_and_spread(theirs.rate)} rows/s, {max(theirs.peak_mb):.0f} MB")
    print(f"  rows per second: {median_and_spread(faster)} times lm-eval's; target {TARGETS[dtype]}")
    print(f"  peak memory: {median_and_spread(smaller)} of lm-eval's; target 0.5")
    floor = Floor.measured(dtype, options.threads)
    tokens, apart = sum(len(one) - 1 for one, _ in ours.told["ids"]), ours.told["distinct"]
    print(
        f"  floor: {floor}; on average {tokens / options.rows:.0f} tokens a row, {apart / options.rows:.0f} not shared"
    )
    for name, side, computed, logits in (("ours", ours, apart, options.rows), ("lm-eval", theirs, tokens, tokens)):
        least = floor.arithmetic(weights, computed, logits) / options.rows
        print(f"  {name}: a row takes {1 / statistics.median(side.rate):.2f} s, its arithmetic at least {least:.2f} s")


def main() -> None:
    """Read the options, measure, print."""
    parser = options_of(__doc__, SET_UP)
    parser.add_argument(
        "--lm-eval", type=existing, required=True, metavar="PYTHON", help="the Python of its environment, see below"
    )
    parser.add_argument("--model", help="as the backend hf takes it; default: the embedded SmolLM2-135M-Instruct")
    parser.add_argument(
        "--data", type=existing, help="folder with jubaku_ver1.jsonl; without it the split demo is measured"
    )
    parser.add_argument("--rows", type=number, default=64, help="prompts of jubaku")
    parser.add_argument("--try-rows", type=number, default=16, help="rows on which batch sizes are tried")
    parser.add_argument(
        "--batch-sizes",
        nargs="+",
        default=["1", "4", "8", "16"],
        help="numbers, or auto: tries up to three quarters of the memory",
    )
    parser.add_argument("--dtypes", nargs="+", choices=tuple(TARGETS), default=list(TARGETS), help="number types")
    parser.add_argument("--threads", type=number, default=os.cpu_count() or 1, help="of both sides")
    parser.add_argument("--rounds", type=number, default=3, help="of both sides in turn")
    options = parser.parse_args()
    say_where("torch", "transformers", "tokenizers")
    split = {"benchmark": "jubaku:v1", "data": options.data} if options.data else {"benchmark": "jubaku:demo"}
    asked = requests_of(count=options.rows, mode="choices", prompt_style="raw", **split)
    options.rows = len(asked)
    print(f"{split['benchmark']}: {options.rows} rows, raw prompts, {options.threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        weights = prepare(Path(folder), options.model, asked)
        bench = Bench(Path(folder), options.lm_eval, options.threads)
        for dtype in options.dtypes:
            measure(bench, dtype, options, weights)


if __name__ == "__main__":
    told(main)
