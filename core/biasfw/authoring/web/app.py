"""The page of a workbench: which request goes where."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp

from biasfw.authoring.web import http
from biasfw.authoring.web.session import Session

HERE = Path(__file__).parent


def make_app(session: Session, token: str, port: int) -> ASGIApp:
    """The application, to be served on ``127.0.0.1:port``."""
    site = http.Site(
        HERE / "page.html",
        {name: HERE / name for name in ("page.js", "editor.js", "page.css")},
        gets={
            "opening": lambda _, __: session.opening(),
            "drafts": lambda by, _: session.drafts(by),
            "draft/{item}": lambda by, path: session.draft(by, path["item"]),
            "job/{name}": lambda by, path: session.job(by, path["name"]),
        },
        posts={
            "keep": session.keep, "save": session.save, "decide": session.decide, "review": session.review,
            "mark": session.mark, "agree": session.agree, "withdraw": session.withdraw, "try": session.begin_try,
            "finalize": session.begin_finalize, "join": lambda _, given: session.join(given),
        },
    )  # fmt: skip
    return http.make_app(site, token, port)
