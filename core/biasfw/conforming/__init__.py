"""The conformance kit: what has to hold of a benchmark before a number of it can be defended.

Each check gets what was seen of a bundle and adds to its report. An error says that a number would be wrong; a warning
says what a reader of the number must know. Files of somebody else, which a reader reads and nobody here can edit, never
give an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasfw.validating.inspection import Inspected

Check = Callable[["Inspected"], None]


def checks() -> Mapping[str, Check]:
    """Every check by name, in the order in which they are made."""
    # numpy and the engine are loaded here: `biasfw --help` needs neither.
    from biasfw import todocheck  # noqa: PLC0415
    from biasfw.conforming import (  # noqa: PLC0415
        balance,
        confounds,
        coverage,
        duplicates,
        leaks,
        paperwork,
        references,
        roles,
        writing,
    )

    return {
        "marks": todocheck.check,
        "paperwork": paperwork.check,
        "coverage": coverage.check,
        "roles": roles.check,
        "balance": balance.check,
        "leaks": leaks.check,
        "confounds": confounds.check,
        "duplicates": duplicates.check,
        "writing": writing.check,
        "references": references.check,
    }


def conform(seen: Inspected, *, without: Collection[str] = ()) -> None:
    """Run every check but those named."""
    for name, check in checks().items():
        if name not in without:
            check(seen)
