"""Names on the hub, against a hub of our own on the loopback interface."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="needs the extra hf")

pytestmark = pytest.mark.model

COMMIT, OLDER = "c" * 40, "0" * 40
FILES: Mapping[str, bytes] = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "model.safetensors": b"weights",
    "pytorch_model.bin": b"pickle",
    "modeling_own.py": b"code",
    "onnx/model.safetensors": b"other weights",
    "consolidated.safetensors": b"the same weights again",
    "README.md": b"about",
    "m.gguf": b"GGUF\3\0\0\0 weights",
}


class _Hub(BaseHTTPRequestHandler):
    """The part of a model hub that a download needs: owner/repo with FILES, on main and v2."""

    def do_HEAD(self) -> None:
        self._reply(body=False)

    def do_GET(self) -> None:
        self._reply(body=True)

    def _reply(self, *, body: bool) -> None:
        self.server.asked.append(f"{self.command} {self.path}")  # type: ignore[attr-defined]
        status, headers, content = self._answer(self.path.partition("?")[0])
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def _answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if "/owner/repo" not in path:
            return (
                (403, {"X-Error-Code": "GatedRepo"}, b"")
                if "gated" in path
                else (404, {"X-Error-Code": "RepoNotFound"}, b"")
            )
        rest = path.partition("/owner/repo/")[2].split("/")
        if path.startswith("/api/"):
            listed = [{"type": "file", "path": name, "rfilename": name, "size": 1, "oid": "1"} for name in FILES]
            if "tree" in rest:
                return 200, {}, json.dumps(listed).encode()
            return 200, {}, json.dumps({"id": "owner/repo", "sha": COMMIT, "siblings": listed}).encode()
        if len(rest) < 3 or rest[1] not in ("main", "v2", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        content = FILES.get("/".join(rest[2:]))
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b""
        return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}, content

    def log_message(self, *_: object) -> None:
        pass


_FIND = """
import json, os, sys, time
if os.environ.get("BIASFW_TEST_NO_SLEEP"):
    time.sleep = lambda seconds: sys.exit(f"waited {seconds} s")
from biasfw import BiasfwError
from biasfw_plugins.hf.sources import find_source
model, options, fetch = json.loads(sys.argv[1])
try:
    found = find_source(model, options)
    said = [found.name, found.fingerprint()]
    if fetch:
        folder = found.fetch().folder
        said.append(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
    print(json.dumps(said))
except BiasfwError as error:
    print(json.dumps(str(error)))
"""


class Finder:
    """Looks models up in new processes: the hub's client reads its settings when it is imported."""

    def __init__(self, endpoint: str, home: Path, asked: list[str]) -> None:
        self._asked = asked
        self.settings = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }

    def __call__(self, model: str, *, fetch: bool = False, offline: bool = False, **options: Any) -> Any:
        done = subprocess.run(
            [sys.executable, "-c", _FIND, json.dumps([model, options, fetch])],
            env={**self.settings, **({"HF_HUB_OFFLINE": "1"} if offline else {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        said = json.loads(done.stdout)
        assert not isinstance(said, str) or "\n" not in said
        return said

    @property
    def asked(self) -> list[str]:
        """What the hub was asked, and forget it."""
        asked = list(self._asked)
        self._asked.clear()
        return asked


@pytest.fixture
def find(tmp_path: Path) -> Iterator[Finder]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    asked: list[str] = []
    server.asked = asked  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Finder(f"http://127.0.0.1:{server.server_port}", tmp_path, asked)
    server.shutdown()
    thread.join()
    server.server_close()


NEEDED = ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.mark.loopback
class TestOnline:
    def test_the_fingerprint_is_the_commit_and_needs_no_weights(self, find: Finder) -> None:
        assert find("owner/repo") == ["owner/repo", f"commit:{COMMIT}"]
        assert all(request.endswith("/config.json") for request in find.asked)

    def test_what_is_there_is_used_without_asking(self, find: Finder) -> None:
        assert find("owner/repo", fetch=True) == ["owner/repo", f"commit:{COMMIT}", NEEDED]
        assert find.asked
        assert find("owner/repo", fetch=True)[2] == NEEDED
        assert find.asked == []
        assert find("owner/repo", fetch=True, offline=True)[2] == NEEDED

    def test_code_and_pickles_are_downloaded_on_demand(self, find: Finder) -> None:
        got = find("owner/repo", fetch=True, trust_remote_code=True, use_safetensors=False)
        assert got[2] == sorted([*NEEDED, "modeling_own.py", "pytorch_model.bin"])

    def test_a_revision(self, find: Finder) -> None:
        assert find("owner/repo", revision="v2", fetch=True) == ["owner/repo", f"commit:{COMMIT}", NEEDED]
        assert not any("main" in request for request in find.asked)

    def test_a_commit_identifies_itself(self, find: Finder) -> None:
        assert find("owner/repo", revision=OLDER) == ["owner/repo", f"commit:{OLDER}"]
        assert find.asked == []

    def test_a_gguf_file(self, find: Finder) -> None:
        found = find("owner/repo", gguf_file="m.gguf", fetch=True)
        assert found[:2] == ["owner/repo/m.gguf", "sha256:" + hashlib.sha256(FILES["m.gguf"]).hexdigest()]
        assert not any("safetensors" in request for request in find.asked)

    @pytest.mark.parametrize(
        ("model", "options", "message"),
        [
            ("owner/repo", {"revision": "v9"}, "has no revision 'v9'; leave out -B revision"),
            ("owner/repo", {"gguf_file": "none.gguf"}, "cannot be downloaded"),
            ("nobody/nothing", {}, "the hub has no model 'nobody/nothing', and there is no such folder"),
            ("owner/gated", {}, "is gated; accept its terms.*hf auth login"),
        ],
    )
    def test_what_is_not_there(self, find: Finder, model: str, options: dict[str, Any], message: str) -> None:
        assert re.search(message, find(model, **options))


class TestOffline:
    """C86."""

    @pytest.mark.parametrize("options", [{}, {"revision": "v2"}, {"gguf_file": "m.gguf"}])
    def test_says_what_to_fetch_beforehand(self, tmp_path: Path, options: dict[str, Any]) -> None:
        self._check(Finder("http://127.0.0.1:9", tmp_path, [])("owner/repo", offline=True, **options))

    def test_where_the_hub_does_not_answer_it_fails_at_once(self, tmp_path: Path) -> None:
        """The hub's own client would try again, and wait 1, 2, 4, 8 s in between."""
        find = Finder("http://127.0.0.1:9", tmp_path, [])
        find.settings["BIASFW_TEST_NO_SLEEP"] = "1"
        self._check(find("owner/repo"))

    def _check(self, message: str) -> None:
        assert "neither a folder here nor in the local cache, and the hub cannot be reached" in message
        assert "hf download owner/repo" in message
