from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from biasfw import file_digest, filedigests
from biasfw.filedigests import cache_file


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Digests are remembered in a folder of the test's own."""
    monkeypatch.setenv("BIASFW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF one")
    return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _count_hashings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    hashed: list[Path] = []

    def hash_and_note(path: Path) -> str:
        hashed.append(path)
        return _sha256(path.read_bytes())

    monkeypatch.setattr(filedigests, "sha256_file", hash_and_note)
    return hashed


def test_hashes_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = _count_hashings(monkeypatch)
    assert [file_digest(model), file_digest(model)] == [_sha256(b"GGUF one")] * 2
    assert hashed == [model]


def test_a_changed_file_is_hashed_again(model: Path) -> None:
    file_digest(model)
    model.write_bytes(b"GGUF two!")
    assert file_digest(model) == _sha256(b"GGUF two!")


def test_a_file_of_equal_size_and_modification_time_is_hashed_again(model: Path) -> None:
    file_digest(model)
    status = model.stat()
    other = model.with_name("other")
    other.write_bytes(b"GGUF two")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(model)
    assert file_digest(model) == _sha256(b"GGUF two")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"/x": 3}', b"[" * 100_000])
def test_a_damaged_cache_is_skipped_and_mended(model: Path, content: bytes) -> None:
    cache_file().parent.mkdir(parents=True)
    cache_file().write_bytes(content)
    assert file_digest(model) == _sha256(b"GGUF one")
    assert json.loads(cache_file().read_text())[str(model.resolve())]["sha256"] == _sha256(b"GGUF one")


def test_an_entry_that_is_no_digest_is_not_believed(model: Path) -> None:
    file_digest(model)
    known = json.loads(cache_file().read_text())
    known[str(model.resolve())]["sha256"] = "0"
    cache_file().write_text(json.dumps(known))
    assert file_digest(model) == _sha256(b"GGUF one")


def test_a_cache_that_cannot_be_written_is_skipped(model: Path, own_cache: Path) -> None:
    own_cache.write_text("a file where the folder should be")
    assert file_digest(model) == _sha256(b"GGUF one")


def test_files_that_are_gone_are_forgotten(model: Path) -> None:
    gone = model.with_name("gone.gguf")
    gone.write_bytes(b"GGUF")
    file_digest(gone)
    gone.unlink()
    file_digest(model)
    assert list(json.loads(cache_file().read_text())) == [str(model.resolve())]


def test_concurrent_writers_leave_a_whole_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.gguf" for number in range(40)]
    for number, path in enumerate(paths):
        path.write_bytes(b"GGUF" + bytes([number]))
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(file_digest, paths))
    assert digests == [_sha256(path.read_bytes()) for path in paths]
    known = json.loads(cache_file().read_text())
    assert known
    assert all(entry["sha256"] == _sha256(Path(name).read_bytes()) for name, entry in known.items())
    assert [file.name for file in cache_file().parent.iterdir()] == [cache_file().name]


def test_the_cache_moves_with_its_variable(model: Path, own_cache: Path) -> None:
    file_digest(model)
    assert [file.name for file in own_cache.iterdir()] == ["fingerprints.json"]
