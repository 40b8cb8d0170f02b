"""Many runs on one page: only what was measured alike stands in one table, and ties are shown as ties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from biasfw.errors import BiasfwError, UsageError
from biasfw.keys import sha256_json
from biasfw.leaderboard.boards import Member, boards_of
from biasfw.leaderboard.results import Board, Entry, Leaderboard
from biasfw.phrases import many
from biasfw.plugins import Plugins
from biasfw.scorefiles import in_words
from biasfw.storedrun import StoredRun, open_run

__all__ = ["Board", "Entry", "Leaderboard", "leaderboard"]

_DEPTH = 3  # folders below the given one in which runs are looked for
_MEASURE = ("version", "data_sha256", "reader", "names_in", "shots", "conditions", "without", "mode")

_OPTIONS = {  # of biasfw run, by what scores say of their selection
    "languages": "--language", "categories": "--category", "limit": "--limit", "repeats": "--repeats",
    "metrics": "--metric",
}  # fmt: skip


def leaderboard(folder: Path, plugins: Plugins | None = None) -> Leaderboard:
    """Every run below ``folder`` that has scores of a whole benchmark.

    Raises:
        UsageError: there is no folder, or no run in it.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the one that biasfw run writes to (runs)")
    plugins = plugins or Plugins.installed()
    groups: dict[str, list[Member]] = {}
    left_out: list[tuple[str, str]] = []
    paths = list(_runs(folder))
    for path in paths:
        try:
            run = open_run(path, plugins)
        except BiasfwError as failure:
            left_out.append((str(path), str(failure)))
            continue
        judge = (run.judges() or [""])[0]
        document = run.whole(judge)
        if document is None:
            left_out.append((str(path), _why_left_out(run)))
            continue
        groups.setdefault(_measure(run, judge), []).append((run, judge, document))
    if not paths:
        raise UsageError(f"{folder} holds no run; give the folder that biasfw run writes to (runs)")
    boards = [board for group in groups.values() for board in boards_of(group)]
    boards.sort(key=lambda board: (board.demo, board.benchmark, board.mode, board.condition))
    flaws = (flaw for group in groups.values() for run, _, _ in group for flaw in run.flaws)
    return Leaderboard(tuple(boards), tuple(left_out), tuple(flaws))


def _runs(folder: Path, depth: int = 0) -> Iterator[Path]:
    if (folder / "run.json").is_file():
        yield folder
    elif depth < _DEPTH:
        for each in sorted(folder.iterdir()):
            if each.is_dir() and not each.is_symlink():
                yield from _runs(each, depth + 1)


def _measure(run: StoredRun, judge: str) -> str:
    """Equal where runs were measured alike; templates are compared by their hash."""
    return sha256_json([run.name, run.demo, judge, [run.protocol.get(name) for name in (*_MEASURE, "frames")]])


def _why_left_out(run: StoredRun) -> str:
    """Why a run has no scores of the whole benchmark, and how it comes to have them."""
    known = run.info.get("scored", {})
    parts = [known[document["file"]] for document in run.scores() if document.get("filters")]
    if run.info["status"] == "running":
        there, all_of = len(run.files.responses.index), many(len(run.files.requests.index), "response")
        return f"interrupted: {there:,} of {all_of} are there; the command that made it goes on where it stopped"
    if parts:
        options = [option for name, option in _OPTIONS.items() if name in parts[-1].get("filters", {})]
        return (
            f"only a part of the benchmark was asked or scored ({in_words(parts[-1])}); the same command without "
            f"{' and '.join(options)} does what is missing"
        )
    return f"no scores; run: biasfw score {run.path}"
