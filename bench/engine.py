"""What the engine itself takes: a benchmark of many items, answered by the backend reference, judged and scored.

Each run is a process of its own and makes a run directory: requests rendered and stored, answers stored, parsed,
judged by rules, every metric of the manifest. The benchmark is made in a temporary folder: short questions with two
replies. The smaller run tells whether the time grows in proportion.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

from _common import Ended, median_and_spread, number, options_of, say_where, told, whole_process

SECONDS, MEGABYTES = 60, 500  # for 100,000 requests
MODES = ("choices", "generate")
WORDS = ("the", "a", "tall", "old", "new", "person", "baker", "says", "asks", "thinks", "likes", "sells", "bread")
BIASFW = (sys.executable, "-m", "biasfw")
FEW = 1000


def write_benchmark(folder: Path, requests: int) -> None:
    """A bundle that gives ``requests`` requests: what `biasfw new` makes, with other items, each in both orders."""
    draw = random.Random(5)  # noqa: S311 - no secret

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count)).capitalize() + "."

    whole_process([*BIASFW, "new", "benchmark", folder.name, "--task", "choice", "--output", str(folder.parent)])
    items = folder / "items.jsonl"
    pattern = json.loads(items.read_text(encoding="utf-8").splitlines()[0])
    with items.open("w", encoding="utf-8") as file:
        for number in range(requests // 2):
            choices = [{**choice, "text": words(8)} for choice in pattern["choices"]]
            own = {"source_id": f"q{number}", "situation": f"{number}: {words(20)}", "choices": choices}
            file.write(json.dumps(pattern | own) + "\n")


def measure(folder: Path, requests: int, mode: str) -> Ended:
    """A run from nothing to scores, with its whole process."""
    benchmark = folder / f"questions-{requests}"
    if not benchmark.exists():
        write_benchmark(benchmark, requests)
    with tempfile.TemporaryDirectory(dir=folder) as runs:
        ended = whole_process([
            *BIASFW, "run", "--benchmark", str(benchmark), "--backend", "reference", "--model",
            "random", "--mode", mode, "--runs", runs, "--quiet", "--json",
        ])  # fmt: skip
        result = json.loads(ended.output)
        answered = sum(1 for _ in next(Path(runs).glob("*/responses.jsonl")).open("rb"))
    assert (result["status"], answered) == ("complete", requests), (result["status"], answered)
    return ended


def main() -> None:
    """Read the options, measure, print."""
    parser = options_of(__doc__)
    parser.add_argument("--requests", type=number, default=100_000, help="an even number")
    parser.add_argument(
        "--smaller", type=number, default=10_000, help="the run that it is compared with, an even number"
    )
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES), help="how the model is asked")
    parser.add_argument("--rounds", type=number, default=3, help="of all sizes in turn")
    options = parser.parse_args()
    if options.requests % 2 or options.smaller % 2 or not FEW < options.smaller < options.requests:
        parser.error(f"--requests and --smaller are even, more than {FEW}, and --requests the larger one")
    say_where()
    with tempfile.TemporaryDirectory() as folder:
        for mode in options.modes:
            print(f"{mode}:")
            rounds = []
            for _ in range(options.rounds):
                fewest, small, large = (
                    measure(Path(folder), count, mode) for count in (FEW, options.smaller, options.requests)
                )
                rounds.append((fewest, small, large))
            for place, count in enumerate((options.smaller, options.requests), start=1):
                took = [each[place] for each in rounds]
                print(f"  {count:,} requests: {median_and_spread([each.wall for each in took], 1)} s")
                print(f"    {median_and_spread([each.processor for each in took], 1)} processor seconds")
                print(f"    at most {max(each.peak_mb for each in took):.0f} MB")
            growth = statistics.median(large.processor / small.processor for _, small, large in rounds)
            net = statistics.median(
                (large.processor - start.processor) / (small.processor - start.processor)
                for start, small, large in rounds
            )
            start = FEW / options.smaller
            linear = (options.requests / options.smaller - start) / (1 - start)
            print(
                f"  processor seconds grow {growth:.1f} times for {options.requests / options.smaller:g} times as many"
            )
            print(f"  beyond {FEW:,} requests, which begin a process too: {net:.1f} times; in proportion: {linear:.1f}")
            print(f"  target for 100,000: {SECONDS} s, {MEGABYTES} MB")


if __name__ == "__main__":
    told(main)
