"""The leaderboard as a self-contained HTML page."""

from __future__ import annotations

from biasfw import __version__, webpage
from biasfw.leaderboard import Leaderboard


def page(found: Leaderboard) -> str:
    """The page."""
    canaries = list(dict.fromkeys(board.canary for board in found.boards))
    return webpage.render("leaderboard.html", found=found, canaries=canaries, program=__version__)
