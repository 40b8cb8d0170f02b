"""Text, JSONL and CSV files: strict, with exact places, and never a replaced character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasfw import DataError, UsageError
from biasfw.textfile import read_csv, read_jsonl, read_text, row_document


def handed(name: str) -> Path:
    """A file of the handed data cases, in the folder ``shared`` beside the checkout."""
    for folder in Path(__file__).parents:
        path = folder / "shared" / "cases" / "data" / name
        if path.is_file():
            return path
    pytest.skip("the handed cases (../shared/cases/data) are not here")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows"


def rows(path: Path, content: bytes, **limits: int) -> list[tuple[int, Any]]:
    path.write_bytes(content)
    return list(read_jsonl(path, **limits))


def complaint(path: Path, content: bytes, **limits: int) -> str:
    with pytest.raises(DataError) as caught:
        rows(path, content, **limits)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}:")
    return message.removeprefix(f"{path}:")


def test_a_text_loses_its_mark_and_nothing_else(file: Path) -> None:
    file.write_bytes("\ufeffa\r\nb\u2028c\ufeff\n".encode())
    assert read_text(file) == "a\r\nb\u2028c\ufeff\n"


def test_a_wrong_byte_is_named_with_line_column_and_offset(file: Path) -> None:
    file.write_bytes("één\nzwei é\n".encode() + b"x \xffy")
    with pytest.raises(DataError, match=r":3:3: byte 17 of the file \(0xFF\) is not UTF-8; save the file as UTF-8$"):
        read_text(file)


def test_an_encoding_is_used_when_given(file: Path) -> None:
    file.write_bytes("表予約".encode("cp932"))
    assert read_text(file, "cp932") == "表予約"
    with pytest.raises(DataError, match=r":1:1: byte 1 of the file .* is not ascii; give the encoding"):
        read_text(file, "ascii")
    for name in ("klingon", "rot13", "base64"):
        with pytest.raises(UsageError, match=f'no text encoding "{name}"'):
            read_text(file, name)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a\nb\0c", r":2:2: a NUL character"),
        ("héllo".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b"x" * 101, "larger than"),
    ],
)
def test_what_is_no_text_is_refused(file: Path, content: bytes, what: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DataError, match=what):
        read_text(file, limit=100)


def test_a_path_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_text(tmp_path / "nothing")
    with pytest.raises(DataError, match="this is a folder"):
        read_text(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        list(read_jsonl(tmp_path / "nothing.jsonl"))


def test_lines_end_at_line_feeds_only(file: Path) -> None:
    content = '{"a": "x\u2028y\u0085z\u2029\x1c"}\r\n\n \t\r\n[1]'.replace("\x1c", "\\u001c").encode()
    assert rows(file, content) == [(1, {"a": "x\u2028y\u0085z\u2029\x1c"}), (4, [1])]


def test_a_mark_is_taken_off_the_first_line_only(file: Path) -> None:
    assert rows(file, b'\xef\xbb\xbf{"a": 1}\n') == [(1, {"a": 1})]
    assert rows(file, b"\xef\xbb\xbf") == []
    assert complaint(file, b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n').startswith("2:1: not JSON")


@pytest.mark.parametrize(
    ("line", "place", "what"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "1:24", 'the key "c" stands twice'),
        (b'{"\\u0061": 1, "a": 1}', "1:15", 'the key "a" stands twice'),
        (b'[{"a": 1}, {"a": 1, "\xc3\xa9": 2, "\xc3\xa9": 3}]', "1:29", 'the key "\u00e9" stands twice'),
        (b'{"a": NaN}', "1:7", "NaN is not JSON"),
        (b'["NaN", -Infinity]', "1:9", "-Infinity is not JSON"),
        (b'{"a": 1e999}', "1:7", "too large"),
        (b"[" + b"9" * 5000 + b"]", "1:2", "5000 digits"),
        (b"{'a': 1}", "1:2", "double quotes"),
        (b'{"a": 1', "1:8", "not JSON"),
        (b'{"a": 1} {"b": 2}', "1:10", "not JSON"),
        (b'{"a": "x\x01"}', "1:9", "not JSON"),
        (b'{"a": "\\x"}', "1:8", "not JSON"),
        (b'{"a": "\xe9\x80"}', "1:8", "byte 8 of the line (0xE9) is not UTF-8"),
        (b"[" * 51 + b"]" * 51, "1:51", "nesting deeper than 50"),
        (b"[" * 100_000, "1:51", "nesting deeper than 50"),
        (b'{"a":' * 100_000, "1:251", "nesting deeper than 50"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_column(file: Path, line: bytes, place: str, what: str) -> None:
    message = complaint(file, line)
    assert message.startswith(f"{place}: ")
    assert what in message
    assert complaint(file, b"{}\n\n" + line + b"\n{}\n").startswith(place.replace("1:", "3:", 1))


def test_as_deep_as_allowed_is_read(file: Path) -> None:
    assert len(rows(file, b"[" * 50 + b"]" * 50 + b'\n{"text": "' + b"[" * 80 + b'"}')) == 2


def test_a_line_of_50_mb_is_refused_without_reading_it_all(file: Path) -> None:
    with file.open("wb") as out:
        out.write(b'{"a": 1}\n{"a": "')
        for _ in range(50):
            out.write(b"x" * 1_000_000)
        out.write(b'"}\n')
    with pytest.raises(DataError, match=r"rows:2: the line is longer than 8 MiB; write one row a line"):
        list(read_jsonl(file))
    with pytest.raises(DataError, match=r"rows:2: the line is longer than 8 MiB"):
        list(read_csv(file))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_limit_counts_what_stands_on_the_line(file: Path, end: bytes) -> None:
    assert rows(file, b'"12345678"' + end, limit=10) == [(1, "12345678")]
    assert complaint(file, b'"123456789"' + end, limit=10).startswith("1: the line is longer than 10 bytes")


def test_a_row_can_be_found_again_with_its_columns(file: Path) -> None:
    rows(file, '{"a": 1}\n{"é": [true, {"k~/": "x"}]}\n'.encode())
    document = row_document(file, 2)
    assert document.value == {"é": [True, {"k~/": "x"}]}
    assert document.positions == {"": (2, 1), "/é": (2, 7), "/é/0": (2, 8), "/é/1": (2, 14), "/é/1/k~0~1": (2, 22)}
    assert document.keys == {"/é": (2, 2), "/é/1/k~0~1": (2, 15)}
    with pytest.raises(DataError, match="there is no line 3"):
        row_document(file, 3)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=()), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(values=st.lists(JSON_VALUES, max_size=4), end=st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: list[Any], end: str) -> None:
    path = tmp_path_factory.getbasetemp() / "written.jsonl"
    lines = [json.dumps(value) for value in values]
    found = rows(path, end.join(lines).encode())
    assert found == [(number, json.loads(line)) for number, line in enumerate(lines, start=1)]
    for number, value in found:
        assert row_document(path, number).value == value


@given(content=st.binary(max_size=40))
def test_whatever_comes_is_rows_or_one_line(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(content)
    for reader in (read_jsonl, read_csv):
        try:
            list(reader(path))
        except DataError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
            assert len(str(error).splitlines()) == 1  # noqa: PT017


def table(path: Path, text: str, *required: str, encoding: str = "utf-8") -> list[tuple[int, dict[str, str]]]:
    path.write_bytes(text.encode(encoding))
    return list(read_csv(path, required))


def test_quoted_texts_hold_commas_quotes_and_line_ends(file: Path) -> None:
    text = '\ufeffid,text\r\n1,"a, ""b""\r\nc"\r\n\r\n2, d \n'
    assert table(file, text, "id") == [(2, {"id": "1", "text": 'a, "b"\r\nc'}), (5, {"id": "2", "text": " d "})]


def test_columns_without_a_name_are_left_out_and_names_compared_after_nfc(file: Path) -> None:
    assert table(file, ",e\u0301 ,n,\n0,a,b,\n", "\u00e9", "n") == [(2, {"\u00e9": "a", "n": "b"})]


@pytest.mark.parametrize(
    ("text", "required", "what"),
    [
        ("", (), ":1: the file is empty"),
        ("\n\n", (), ":1: the file is empty"),
        ("id,text\n1,a\n", ("id", "label"), ':1: the column "label" is missing; the header has id, text'),
        ("id,txt\n1,a\n", ("text",), 'did you mean "txt"?'),
        ("x\n", ("a", "b"), 'the columns "a", "b" are missing'),
        ("id;text\n1;a\n", ("id",), "separated by semicolons; save with commas"),
        ("id\ttext\n1\ta\n", ("id",), "separated by tabs"),
        ("id,id\n1,2\n", (), ':1: the column "id" stands there twice'),
        ("id,text\n1,a,b\n", (), ":2: 3 fields where the header has 2"),
        ('id,text\n1,"a\nb"\n2\n', (), ":4: 1 field where the header has 2"),
        ('id,text\n1,"a\n', (), ":2: unexpected end of data; check the quotes"),
        ('id,text\n1,"a"b\n', (), ":2: ',' expected after '\"'; check the quotes"),
        ("id,text\n1,a\0\n", (), ":2:4: a NUL character"),
    ],
)
def test_a_table_that_is_wrong_is_named_with_its_line(
    file: Path, text: str, required: tuple[str, ...], what: str
) -> None:
    with pytest.raises(DataError) as caught:
        table(file, text, *required)
    assert what in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


# The handed cases, as far as reading decides them.


def test_c51_mark_and_crlf() -> None:
    with_mark = [row for _, row in read_jsonl(handed("bom.jsonl"))]
    assert [row["example_id"] for row in with_mark] == ["x-0", "x-1"]
    found = list(read_csv(handed("bom_crlf.csv"), ["id"]))
    assert [(line, list(row)) for line, row in found] == [
        (2, ["id", "question", "label"]),
        (3, ["id", "question", "label"]),
    ]
    assert found[0][1]["question"] == "Who, if anyone, is late?"
    assert found[1][1]["question"] == "line one\nline two"


def test_c52_braces_are_data() -> None:
    path = handed("braces.jsonl")
    lines = path.read_bytes().split(b"\n")
    for number, row in read_jsonl(path):
        assert row == json.loads(lines[number - 1])
    assert row["prompt"].startswith("{")


def test_c55_shift_jis() -> None:
    path = handed("sjis.csv")
    with pytest.raises(DataError, match=r"sjis\.csv:1:4: byte 4 of the file \(0x95\) is not UTF-8; .*cp932"):
        list(read_csv(path))
    found = [row for _, row in read_csv(path, ["id", "文脈"], "cp932")]
    assert [row["id"] for row in found] == ["1", "2"]
    assert "表予約" in found[1]["文脈"]  # 表 ends in a byte that is a backslash in ASCII
    assert "\ufffd" not in str(found)


def test_c56_a_lone_surrogate_is_kept() -> None:
    from biasfw.codec import dumps  # noqa: PLC0415

    first, second = (row for _, row in read_jsonl(handed("lone_surrogate.jsonl")))
    assert "\ud835" in first["response_a"]
    assert "\U0001f600" in second["response_b"]
    assert json.loads(dumps(first).encode("utf-8")) == first


def test_c59_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match=r'missing_column\.csv:1: the column "viewpoint" is missing'):
        list(read_csv(handed("missing_column.csv"), ["example_id", "viewpoint"]))
