"""The tasks of an annotation as a page on the loopback interface: every answer is on the disk when it is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasfw.annotating.drawing import load_key
from biasfw.annotating.importing import LONGEST, is_answer
from biasfw.annotating.pages import DATA, read_page, words_in
from biasfw.annotating.stored import add_answers, add_consent, agreed, load_answers, locked
from biasfw.authoring.web.serving import Address, serve_site
from biasfw.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from biasfw.authoring.web.http import Site

_SAID = ("suitable", "unbiased", "harmful", "comment")


class Answering:
    """What the page asks of an annotation. ``by`` is a pseudonym; nobody gets anything of somebody else's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = load_key(folder)

    def opening(self) -> dict[str, Any]:
        """The strings, in the language of the tasks."""
        return {"words": dict(words_in(next((task["language"] for task in self.key["tasks"]), "en"))[1])}

    def tasks(self, by: str) -> dict[str, Any]:
        """What an annotator sees: before a yes only the consent text."""
        data = read_page(self._page(by))
        yes = agreed(self.folder, by, self.key)
        own = {task["task"] for task in data["tasks"]}
        said = {name: row for name, row in load_answers(self.folder).items() if name in own} if yes else {}
        answers = {name: {k: row[k] for k in _SAID if k in row} for name, row in said.items()}
        return {**data, "tasks": data["tasks"] if yes else [], "agreed": yes, "answers": answers}

    def agree(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Record a yes or a no to the text that was shown."""
        self._page(by)
        if given["sha256"] not in self.key.get("consent_sha256", ()):
            raise UsageError("that is not the consent text of this annotation")
        with locked(self.folder):
            add_consent(self.folder, by, yes=given["yes"] is True, sha256=given["sha256"])
        return {}

    def answer(self, by: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Store what somebody says about one of their tasks; it replaces what they said before."""
        task = next((t for t in self.key["tasks"] if t["task"] == given["task"] and t["annotator"] == by), None)
        if task is None or not agreed(self.folder, by, self.key):
            raise UsageError("that is no task of yours")
        row = {"task": task["task"], **{name: given[name] for name in _SAID if name in given}}
        if len(str(row.get("comment", ""))) > LONGEST:
            raise UsageError(f"a comment has at most {LONGEST} characters")
        with locked(self.folder):
            if is_answer(row) or task["task"] in load_answers(self.folder):
                add_answers(self.folder, [row])
        return {}

    def _page(self, by: str) -> Path:
        page = self.folder / f"{by}.html"
        if by not in self.key["annotators"] or not page.is_file():  # erased since the server started
            raise UsageError("nobody of this pseudonym has tasks here; check it")
        return page


def site_of(answering: Answering) -> Site:
    """The page and what it asks."""
    from biasfw.authoring.web.http import Site  # noqa: PLC0415 - an extra

    return Site(
        DATA / "served.html",
        {name: DATA / name for name in ("page.js", "page.css")},
        gets={"opening": lambda _, __: answering.opening(), "tasks": lambda by, _: answering.tasks(by)},
        posts={"agree": answering.agree, "answer": answering.answer},
    )


def serve(folder: Path, port: int | None = None, ready: Callable[[Address], None] | None = None) -> None:
    """Serve the page until it is stopped (Ctrl-C).

    Raises:
        ComponentError: Starlette and uvicorn are not installed.
    """
    answering = Answering(folder)

    def make(address: Address) -> ASGIApp:
        from biasfw.authoring.web.http import make_app  # noqa: PLC0415 - an extra

        return make_app(site_of(answering), address.token, address.port)

    serve_site(folder, make, port, ready)
