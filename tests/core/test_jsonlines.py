"""The append-only files: whatever happens to them, whole lines are kept and the rest is asked again."""

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasfw.codec import decode, encode
from biasfw.errors import StoreError
from biasfw.jsonlines import JsonLines
from biasfw.keys import sha256_text
from biasfw.records import Response

K = [sha256_text(str(number)) for number in range(9)]


def filled(path: Path, count: int = 4, text: str = "B") -> Path:
    with JsonLines(path, "response").open(write=True) as file:
        for number in range(count):
            file.append(K[number], encode(Response(K[number], text=text)))
    return path


def keys(path: Path) -> list[str]:
    return [json.loads(line)["key"] for line in path.read_bytes().split(b"\n") if line]


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = filled(tmp_path / "r.jsonl", text="line\nend\u2028\u0085\x00 \ud835 \U0001f600")
    file = JsonLines(path, "response").open(write=False)
    assert list(file.index) == K[:4]
    assert decode(Response, file.read(K[2])).text == "line\nend\u2028\u0085\x00 \ud835 \U0001f600"
    assert len(list(file.rows())) == 4


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_torn_last_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = filled(tmp_path / "r.jsonl")
    path.write_bytes(path.read_bytes()[:-cut])
    with JsonLines(path, "response").open(write=True) as file:
        expected = 4 if cut == 1 else 3  # a whole last line that only lacks its newline is kept
        assert len(file.index) == expected
        assert len(file.repairs) == (0 if cut == 1 else 1)
        file.append(K[8], encode(Response(K[8], text="A")))
    assert keys(path) == [*K[:expected], K[8]]


def test_a_damaged_line_in_the_middle_is_kept_aside_and_named(tmp_path: Path) -> None:
    path = filled(tmp_path / "r.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"key": "\x00\xff\n' + lines[2] + b'{"key": "no-such-field", "x": 1}\n' + lines[3])
    with JsonLines(path, "response").open(write=True) as file:
        assert list(file.index) == [K[0], K[2], K[3]]
        assert [repair.split(":")[1].split(" is")[0] for repair in file.repairs] == [" line 2", " line 4"]
        assert decode(Response, file.read(K[3])) == Response(K[3], text="B")
        file.append(K[1], encode(Response(K[1], text="A")))
    assert keys(path) == [K[0], K[2], K[3], K[1]]
    assert (tmp_path / "r.jsonl.damaged").read_bytes().count(b"\n") == 2
    assert JsonLines(path, "response").open(write=False).repairs == []


def test_reading_repairs_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path / "r.jsonl")
    damaged = path.read_bytes()[:-5]
    path.write_bytes(damaged)
    assert len(JsonLines(path, "response").open(write=False).index) == 3
    assert path.read_bytes() == damaged


def test_an_empty_or_absent_file_is_no_error(tmp_path: Path) -> None:
    assert not JsonLines(tmp_path / "absent.jsonl", "response").open(write=False).index
    (tmp_path / "empty.jsonl").touch()
    with JsonLines(tmp_path / "empty.jsonl", "response").open(write=True) as file:
        assert not file.index
        assert not file.repairs


def test_a_full_disk_leaves_whole_lines_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.jsonl"
    write = os.write

    def nearly_full(descriptor: int, data: bytes) -> int:
        if K[1].encode() in data:
            write(descriptor, data[:7])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    with JsonLines(path, "response").open(write=True) as file:
        file.append(K[0], encode(Response(K[0], text="B")))
        monkeypatch.setattr(os, "write", nearly_full)
        with pytest.raises(StoreError, match=r"No space left.*kept.*same command"):
            file.append(K[1], encode(Response(K[1], text="B")))
    assert keys(path) == [K[0]]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_cut_and_any_overwritten_byte_keep_every_other_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = filled(tmp_path_factory.mktemp("store") / "r.jsonl", count=5, text="text")
    content = bytearray(path.read_bytes())
    length = len(content) // 5
    where = data.draw(st.integers(0, len(content) - 2))
    content[where] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    path.write_bytes(bytes(content[:end]))
    with JsonLines(path, "response").open(write=True) as file:
        # A line end that is overwritten glues the line after it to its own.
        untouched = {
            K[n] for n in range(5) if (n + 1) * length <= end and not n * length - 1 <= where < (n + 1) * length
        }
        assert untouched <= set(file.index)
        for key in untouched:
            assert decode(Response, file.read(key)).text == "text"
    assert path.read_bytes() == b"" or path.read_bytes().endswith(b"\n")
