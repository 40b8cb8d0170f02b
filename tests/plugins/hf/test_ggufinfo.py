from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from biasfw import ComponentError

pytest.importorskip("gguf", reason="needs the extra hf")

import gguf

from biasfw_plugins.hf.ggufinfo import GgufInfo, read_gguf

pytestmark = pytest.mark.model


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file without tensors, with a value of every kind before those that count."""
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("a.uint8", 1)
    writer.add_int8("a.int8", -1)
    writer.add_uint16("a.uint16", 2)
    writer.add_int16("a.int16", -2)
    writer.add_uint64("a.uint64", 4)
    writer.add_int64("a.int64", -4)
    writer.add_float32("a.float32", 0.5)
    writer.add_float64("a.float64", 0.25)
    writer.add_bool("a.bool", True)
    writer.add_array("a.texts", ["한", "", "x"])
    writer.add_array("a.numbers", [1.5, 2.5])
    writer.add_array("a.flags", [True, False, True])
    writer.add_file_type(int(gguf.LlamaFileType.MOSTLY_Q5_K_M))
    writer.add_tokenizer_pre("llama-bpe")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_reads_what_counts(path: Path) -> None:
    assert read_gguf(path) == GgufInfo("Q5_K_M", "llama-bpe")


def test_what_is_not_said_is_none(tmp_path: Path) -> None:
    path = tmp_path / "bare.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    assert read_gguf(path) == GgufInfo(None, None)


def test_a_damaged_file_is_one_line(path: Path) -> None:
    data = path.read_bytes()
    for end in range(0, len(data) - 1, 7):
        path.write_bytes(data[:end])
        with pytest.raises(ComponentError, match="is damaged") as caught:
            read_gguf(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "made", "warned"),
    [
        ("smollm", "ByteLevel(add_prefix_space=False)", False),
        ("gpt-2", "ByteLevel(add_prefix_space=False)", False),
        ("new-rule", "ByteLevel(add_prefix_space=False)", True),
        ("new-rule", "Sequence(pretokenizers=[Split(...), ByteLevel(...)])", False),
        (None, "ByteLevel(add_prefix_space=False)", False),
    ],
)
def test_a_rule_that_was_not_followed_is_noted(rule: str | None, made: str, warned: bool) -> None:
    class Made:
        def __repr__(self) -> str:
            return made

    tokenizer = SimpleNamespace(backend_tokenizer=SimpleNamespace(pre_tokenizer=Made()))
    first, *others = GgufInfo("Q8_0", rule).notes("float32", tokenizer)
    assert "Q8_0 weights were dequantised to float32" in first
    assert [f"asks for {rule!r}" in note for note in others] == ([True] if warned else [])
