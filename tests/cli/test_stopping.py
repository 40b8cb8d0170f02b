"""What is said when a command is stopped, and what happens where nobody reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from biasfw.cli import app, main

STORED = "; what was answered is stored, and the same command goes on from there"


@pytest.mark.parametrize(
    ("command", "more"), [("run", STORED), ("judge", STORED), ("validate", ""), ("check", ""), ("submit", "")]
)
def test_only_what_stores_answers_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, more: str
) -> None:
    def stop(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "invoke", stop)
    monkeypatch.setattr(sys, "argv", ["biasfw", "--debug", command, "x"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == f"stopped{more}\n"


def test_a_closed_output_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
    call = f"{sys.executable} -m biasfw validate x.jsonl >&-"
    done = subprocess.run(["bash", "-c", call], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
