"""Pages over HTTP: everything lies under a random token, only for this machine, and nothing is read from a form."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biasfw.authoring.bench import NewerVersionError
from biasfw.authoring.web.jobs import told_failure
from biasfw.authoring.web.working import ChangedError
from biasfw.errors import BiasfwError

LARGEST = 2**20  # bytes of a body
TOKEN_HEADER = "x-biasfw-token"  # noqa: S105 - a name
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
Work = Callable[[], dict[str, Any]]
Get = Callable[[str, Mapping[str, str]], dict[str, Any]]  # by, parts of the path
Post = Callable[[str, Mapping[str, Any]], dict[str, Any]]  # by, the JSON that was sent


class Guard:
    """Lets in only requests of this machine's browser to this page; the token stands in the address."""

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        refused = self._refused(Request(scope))
        if refused:
            await Response(refused, 403, media_type="text/plain")(scope, receive, sending)
        else:
            await self.app(scope, receive, sending)

    def _refused(self, request: Request) -> str:
        """Why a request is not answered; "" if it is."""
        headers = request.headers
        if headers.get("host", "") not in self.hosts:  # another name for this machine: DNS rebinding
            return "this page answers under its own address only"
        first = request.url.path.strip("/").partition("/")[0]
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return "the address is not complete; take the one that biasfw author serve prints"
        if request.method != "GET":
            origin = headers.get("origin")
            same = origin is None or origin.removeprefix("http://") in self.hosts
            known = secrets.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self.token.encode())
            is_json = headers.get("content-type", "").partition(";")[0].strip() == "application/json"
            if not (same and known and is_json and headers.get("sec-fetch-site") in (None, "same-origin", "none")):
                return "this did not come from the page"
        return ""


@dataclass(frozen=True, slots=True)
class Site:
    """A page: ``opens`` is shown at the address, ``files`` lie beside it, ``gets`` and ``posts`` are what it asks."""

    opens: Path
    files: Mapping[str, Path]
    gets: Mapping[str, Get]
    posts: Mapping[str, Post]


def make_app(site: Site, token: str, port: int) -> ASGIApp:
    """The application, to be served on ``127.0.0.1:port``."""

    async def file(request: Request) -> Response:
        name = request.path_params.get("name")
        path = site.opens if name is None else site.files.get(name)
        if path is None:
            return Response("there is no such file", 404, media_type="text/plain")
        return Response(path.read_bytes(), media_type=KINDS[path.suffix])

    def getting(work: Get) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            return await _answer(lambda: work(_by(request), request.path_params))

        return get

    async def post(request: Request) -> Response:
        work = site.posts.get(request.path_params["action"])
        if work is None:
            return JSONResponse({"error": "there is no such action"}, 404)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                return JSONResponse({"error": "that is too much text"}, 413)
        try:
            given = json.loads(body)
            if not isinstance(given, dict):
                raise TypeError
        except (ValueError, TypeError, RecursionError):
            return JSONResponse({"error": "that is no JSON object"}, 400)
        return await _answer(lambda: work(_by(request), given))

    routes = [Route(f"/{token}/", file), Route(f"/{token}/file/{{name}}", file)]
    routes += [Route(f"/{token}/api/{path}", getting(work)) for path, work in site.gets.items()]
    routes.append(Route(f"/{token}/api/{{action}}", post, methods=["POST"]))
    hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
    return Guard(Starlette(routes=routes), token, hosts)


def _by(request: Request) -> str:
    return request.headers.get("x-biasfw-by", "")


async def _answer(work: Work) -> Response:
    """What ``work`` gives, or in one line why not; 409 with what is there if somebody else was faster."""
    try:
        return JSONResponse(await run_in_threadpool(work))
    except NewerVersionError as failure:
        newest = {"number": failure.newest.number, "by": failure.newest.by, "texts": dict(failure.newest.texts or {})}
        return JSONResponse({"error": str(failure), "newest": newest}, 409)
    except ChangedError as failure:
        return JSONResponse({"error": str(failure), "kept": failure.kept}, 409)
    except BiasfwError as failure:
        consent = "has not agreed" in str(failure)
        return JSONResponse(told_failure(failure), 403 if consent else 400)
    except (KeyError, TypeError, AttributeError) as failure:  # a body that is not what the page sends
        return JSONResponse({"error": f"that is not what the page sends ({type(failure).__name__})"}, 400)
