"""The server of the page: on the loopback interface only, at an address that stays the same after a restart."""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasfw.authoring.web.session import Session
from biasfw.errors import ComponentError, StoreError, UsageError

ADDRESS = ".serve.json"
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is."""

    token: str
    port: int

    @property
    def url(self) -> str:
        """The address, with the token that lets somebody in."""
        return f"http://{HOST}:{self.port}/{self.token}/"


def address_of(folder: Path, port: int | None = None) -> tuple[Address, socket.socket]:
    """The address that the workbench had before, if its port is free, and the bound socket.

    Raises:
        UsageError: the port is taken.
    """
    path = folder / ADDRESS
    token, wanted = secrets.token_urlsafe(24), port or 0
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        token, wanted = str(known["token"]), port or int(known["port"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the first time
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, wanted))
    except OSError as failure:
        bound.close()
        reason = failure.strerror or failure
        raise UsageError(f"port {wanted} cannot be used ({reason}); is the page open already? else: --port N") from None
    address = Address(token, bound.getsockname()[1])
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:  # the token is for its owner
            json.dump({"token": address.token, "port": address.port}, file)
    except OSError as failure:
        bound.close()
        raise StoreError(f"cannot write {path}: {failure.strerror or failure}; make it writable") from failure
    return address, bound


def serve(session: Session, port: int | None = None, ready: Callable[[Address], None] | None = None) -> None:
    """Serve the page of a workbench until it is stopped (Ctrl-C).

    Raises:
        ComponentError: Starlette and uvicorn are not installed.
    """

    def make(address: Address) -> Any:
        from biasfw.authoring.web.app import make_app  # noqa: PLC0415 - an extra

        return make_app(session, address.token, address.port)

    try:
        serve_site(session.bench.folder, make, port, ready)
    finally:
        session.close()


def serve_site(
    folder: Path, make: Callable[[Address], Any], port: int | None, ready: Callable[[Address], None] | None
) -> None:
    """Serve the application that ``make`` makes; the address is kept in ``folder``.

    Raises:
        ComponentError: Starlette and uvicorn are not installed.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        import biasfw.authoring.web.http  # noqa: F401, PLC0415
    except ImportError as failure:
        raise ComponentError("the page needs starlette and uvicorn; pip install 'biasfw[author]'") from failure
    address, bound = address_of(folder, port)
    config = uvicorn.Config(
        make(address), log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        lifespan="off", ws="none", timeout_graceful_shutdown=3,
    )  # fmt: skip
    bound.listen(128)  # who comes before the server has begun waits
    if ready is not None:
        ready(address)
    try:
        uvicorn.Server(config).run(sockets=[bound])
    finally:
        bound.close()
