from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from biasfw_plugins.hf import fingerprints
from biasfw_plugins.hf.fingerprints import cache_file, file_digest


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights 1")
    return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_hashes_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []

    def hash_and_note(path: Path) -> str:
        hashed.append(path)
        return _sha256(path.read_bytes())

    monkeypatch.setattr(fingerprints, "sha256_file", hash_and_note)
    assert [file_digest(model), file_digest(model)] == [_sha256(b"weights 1")] * 2
    assert hashed == [model]


def test_a_file_of_equal_size_and_modification_time_is_hashed_again(model: Path) -> None:
    file_digest(model)
    status = model.stat()
    other = model.with_name("other")
    other.write_bytes(b"weights 2")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(model)
    assert file_digest(model) == _sha256(b"weights 2")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"/x": 3}', b"[" * 100_000])
def test_a_damaged_cache_is_skipped_and_mended(model: Path, content: bytes) -> None:
    cache_file().parent.mkdir(parents=True)
    cache_file().write_bytes(content)
    assert file_digest(model) == _sha256(b"weights 1")
    assert json.loads(cache_file().read_text())[str(model.resolve())]["sha256"] == _sha256(b"weights 1")


def test_an_entry_that_is_no_digest_is_not_believed(model: Path) -> None:
    file_digest(model)
    known = json.loads(cache_file().read_text())
    known[str(model.resolve())]["sha256"] = "0"
    cache_file().write_text(json.dumps(known))
    assert file_digest(model) == _sha256(b"weights 1")


def test_a_cache_that_cannot_be_written_is_skipped(model: Path, own_cache: Path) -> None:
    own_cache.write_text("a file where the folder should be")
    assert file_digest(model) == _sha256(b"weights 1")


def test_files_that_are_gone_are_forgotten(model: Path) -> None:
    gone = model.with_name("gone.safetensors")
    gone.write_bytes(b"weights 3")
    file_digest(gone)
    gone.unlink()
    file_digest(model)
    assert list(json.loads(cache_file().read_text())) == [str(model.resolve())]


def test_concurrent_writers_leave_a_whole_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.safetensors" for number in range(40)]
    for number, path in enumerate(paths):
        path.write_bytes(b"weights" + bytes([number]))
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(file_digest, paths))
    assert digests == [_sha256(path.read_bytes()) for path in paths]
    known = json.loads(cache_file().read_text())
    assert known
    assert all(entry["sha256"] == _sha256(Path(name).read_bytes()) for name, entry in known.items())
    assert [file.name for file in cache_file().parent.iterdir()] == [cache_file().name]
