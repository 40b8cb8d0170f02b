"""``biasfw author``: a workbench in which people write a benchmark and try it against a model."""

from __future__ import annotations

from biasfw.cli import _author_drafts, _author_models, _author_report, _author_serve
from biasfw.cli._author import command

__all__ = [
    "_author_drafts",
    "_author_models",
    "_author_report",
    "_author_serve",
    "command",
]  # each adds its commands to the group
