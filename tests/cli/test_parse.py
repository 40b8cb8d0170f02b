"""`biasfw parse` as a filter: line by line, in constant memory, one answer for each line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

PARSE = [sys.executable, "-m", "biasfw", "parse", "labelled_lines"]


def parse(text: str | bytes, *options: str, **environment: str) -> tuple[list[dict[str, Any]], list[str], int]:
    """What a process prints for a text on its standard input: rows, lines on standard error, exit code."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    env = {**os.environ, **environment}
    done = subprocess.run([*PARSE, *options], input=data, capture_output=True, env=env, check=False, timeout=60)
    rows = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    return rows, done.stderr.decode("utf-8").splitlines(), done.returncode


def lines(*rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def accepted(answer: dict[str, Any], wish: Any) -> bool:
    """Whether an answer is the result that a handed row wishes for."""
    if wish == "refusal":
        return bool(answer["outcome"] == "refused")
    if wish == "invalid":
        return "answered" not in answer["outcomes"].values()
    return bool(answer["value"] == wish)


def test_the_handed_rows_of_groups(cases: Path) -> None:
    text = (cases / "parser_cases.jsonl").read_text(encoding="utf-8")
    wanted = {row["id"]: row for row in map(json.loads, text.splitlines()) if row["task"] == "groups"}
    rows, errors, code = parse(lines(*wanted.values()))
    assert (errors, code) == ([], 0)
    assert [row["id"] for row in rows] == list(wanted)
    wrong = [row for row in rows if not any(accepted(row, wish) for wish in wanted[row["id"]]["accept"])]
    assert wrong == []


def test_what_is_printed_for_a_line() -> None:
    text = "**현대적 그룹:** 서양인\n**고정관념 그룹:**"
    (row,), errors, code = parse(lines({"id": [7], "text": text}), "--language", "ko")
    assert (errors, code) == ([], 0)
    assert row == {
        "id": [7],
        "outcome": "unparsed",
        "value": {"modern": "Western", "stereotyped": None},
        "outcomes": {"modern": "answered", "stereotyped": "unparsed"},
        "flags": row["flags"],
    }
    (row,), _, _ = parse(
        lines({"text": "EXPERT 1 GROUP: Arabs"}), "--condition", "neutral", "--benchmark", "debatebias"
    )
    assert row["value"]["modern"] == "Arabs"
    assert "id" not in row


def test_a_bad_line_is_told_and_the_others_are_answered() -> None:
    good = '{"id": "\\ud800 \\u2028", "text": "MODERN GROUP: Arabs"}'
    text = f'\ufeff{good}\r\n\nxx\n[1]\n{{}}\n{good}\n{{"text": 1}}\n["id"]\n{good}'
    rows, errors, code = parse(text)
    assert code == 1
    assert [row["id"] for row in rows] == ["\ud800 \u2028"] * 3
    assert [error.split()[1].rstrip(":") for error in errors] == [f"stdin:{line}" for line in ("3:1", 4, 5, 7, 8)]
    assert all(error.startswith("error: ") and ";" in error for error in errors)
    rows, errors, code = parse(b'{"text": "\xff"}\n' + good.encode())
    assert (len(rows), code) == (1, 1)
    assert errors[0].startswith("error: stdin:1:11: byte 11 of the line (0xFF) is not UTF-8")


def test_a_line_too_long_to_keep_is_told_too() -> None:
    rows, errors, code = parse(b'{"text": "' + b"x" * (9 * 2**20) + b'"}\n' + b'{"text": "MODERN GROUP: Arabs"}\n')
    assert (len(rows), code) == (1, 1)
    assert errors == ["error: stdin:1: the line is longer than 8 MiB; shorten its text"]


def test_output_is_utf8_in_any_locale() -> None:
    row = {"id": "ключ", "text": "المجموعة الحديثة: العرب", "language": "ar", "groups": ["العرب", "الهنود"]}
    rows, errors, code = parse(lines(row), PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C")
    assert (errors, code) == ([], 0)
    assert (rows[0]["id"], rows[0]["value"]["modern"]) == ("ключ", "العرب")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["labeled_lines"], "unknown parser 'labeled_lines'; did you mean labelled_lines?"),
        (["labelled_lines", "--benchmark", "debatebais"], "did you mean debatebias"),
        (["labelled_lines", "--condition", "forcd"], "there are: forced, optional, neutral"),
    ],
)
def test_mistakes_on_the_command_line(options: list[str], words: str) -> None:
    command = [*PARSE[:-1], *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_each_line_is_answered_before_the_next_comes() -> None:
    with subprocess.Popen(PARSE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        sink, source = _pipes(process)
        for number in range(3):
            sink.write(lines({"id": number, "text": "MODERN GROUP: Arabs"}).encode())
            assert json.loads(source.readline())["id"] == number
        sink.close()
        assert process.wait(timeout=30) == 0


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    many = lines(*[{"text": "MODERN GROUP: Arabs"}] * 5000)
    command = f"{' '.join(PARSE)} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], input=many, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("0", "141")
    assert len(done.stdout.splitlines()) == 2


def test_memory_does_not_grow_with_the_number_of_lines() -> None:
    code = (
        "import resource, sys\nfrom biasfw.cli import main\nsys.argv = ['biasfw', 'parse', 'labelled_lines']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )

    def peak(count: int) -> int:
        rows = (
            {"id": number, "text": f"MODERN GROUP: Arabs {number}\n{'word ' * 400}", "groups": ["Arabs", f"G{number}"]}
            for number in range(count)
        )
        done = subprocess.run(
            [sys.executable, "-c", code], input=lines(*rows), capture_output=True, text=True, check=True, timeout=120
        )
        assert len(done.stdout.splitlines()) == count
        return int(done.stderr)  # KiB

    assert peak(1000) - peak(200) < 24 * 1024  # a form that is kept takes 70 KiB: 56 MiB more


def test_flags_say_why_a_slot_was_not_read() -> None:
    (row,), _, _ = parse(lines({"text": "MODERN GROUP: the Romans\nSTEREOTYPED GROUP: Western and Indians"}))
    assert row["outcome"] == "unparsed"
    assert row["flags"] == ["not_listed:modern", "two_names:stereotyped"]
    (row,), _, _ = parse(lines({"text": "MODERN GROUP: Arabs"}))
    assert (row["outcome"], row["flags"]) == ("unparsed", ["no_header:stereotyped"])
