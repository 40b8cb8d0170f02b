"""How long `biasfw --help` and `biasfw list` take, against a Python that imports click; in alternating rounds."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from _common import Ended, median_and_spread, number, options_of, say_where, told, whole_process

BIASFW = str(Path(sys.executable).with_name("biasfw"))
COMMANDS = {
    "python -c 'import click'": (sys.executable, "-c", "import click"),
    "biasfw --help": (BIASFW, "--help"),
    "biasfw list": (BIASFW, "list"),
}
LIMIT, ABOVE_CLICK = 0.3, 0.15  # seconds


def main() -> None:
    """Read the options, measure, print."""
    parser = options_of(__doc__)
    parser.add_argument("--rounds", type=number, default=15, help="of all commands in turn")
    options = parser.parse_args()
    say_where("click")
    for command in COMMANDS.values():  # so that all begin with warm files
        whole_process(command)
    took: dict[str, list[Ended]] = {name: [] for name in COMMANDS}
    for _ in range(options.rounds):
        for name, command in COMMANDS.items():
            took[name].append(whole_process(command))
    (plain, *_), *_ = took.items()
    for name, rounds in took.items():
        print(f"{name}: {median_and_spread([each.wall for each in rounds], 3)} s, {rounds[0].peak_mb:.0f} MB")
        if name != plain:
            more = statistics.median(mine.wall - bare.wall for mine, bare in zip(rounds, took[plain], strict=True))
            above = f", and at most {ABOVE_CLICK} s more" if name.endswith("--help") else ""
            print(f"  {more:.3f} s more than click; target below {LIMIT} s{above}")


if __name__ == "__main__":
    told(main)
