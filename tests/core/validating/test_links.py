"""No file of a bundle is read through a link out of its folder, and none that is no regular file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, bundles
from biasfw.citing import Contributor
from biasfw.cli import app
from biasfw.conformance import check
from biasfw.filling import fill
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.opening import open_file
from biasfw.packcheck import Kit
from biasfw.plugins import Plugins
from biasfw.submitting import submit
from biasfw.validating import validate

SECRET = "password: hunter2\n"
NAMES = ["DATASHEET.md", "CITATION.cff", "notes", "languages/eu.yaml", "languages", "benchmark.yaml", "items.jsonl"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(NewBenchmark("busan", languages=("eu",)), tmp_path, ("en",))
    return tmp_path / "busan"


def linked(folder: Path, name: str) -> Path:
    """The file of the bundle, moved out of it, and a link to it in its place."""
    outside = folder.parent / "secret"
    path = folder / name
    if path.exists():
        path.rename(outside)
    else:
        outside.write_text(SECRET, encoding="utf-8")
    path.symlink_to(outside)
    return outside


@pytest.mark.parametrize("name", NAMES)
def test_a_link_out_of_the_folder_is_refused_by_every_command(folder: Path, installed: Plugins, name: str) -> None:
    linked(folder, name)
    said = f"{folder / name}:1:1: error: this link leaves the bundle's folder, so nothing of the bundle is read; "
    for found in (validate(folder, installed), check(str(folder), installed)):
        (finding,) = (finding for report in found for finding in report.findings)
        assert str(finding) == f"{said}put the file itself there"
    with pytest.raises(BiasfwError, match="leaves the bundle's folder"):
        bundles.load(folder)  # what `run` begins with
    with pytest.raises(BiasfwError, match="leaves the bundle's folder"):
        submit(folder, [Contributor("none")], folder.parent / "out.zip", installed)
    with pytest.raises(BiasfwError, match="has 1 error, so nothing was written"):
        fill(folder, Kit(installed))
    assert (folder / name).is_symlink()
    assert not (folder.parent / "out.zip").exists()
    assert not (folder / "CITATION.cff").is_file() or name == "CITATION.cff"


def test_write_does_not_follow_a_link_inside_either(folder: Path, installed: Plugins) -> None:
    (folder / "DATASHEET.md").rename(folder / "sheet.md")
    (folder / "DATASHEET.md").symlink_to("sheet.md")
    before = (folder / "sheet.md").read_bytes()
    with pytest.raises(BiasfwError, match="this is a link, which is not written through"):
        fill(folder, Kit(installed))
    assert (folder / "DATASHEET.md").is_symlink()
    assert (folder / "sheet.md").read_bytes() == before


@pytest.mark.parametrize("name", ["DATASHEET.md", "languages/eu.yaml", "languages/xx.yaml"])
def test_a_pipe_keeps_nobody_waiting(folder: Path, installed: Plugins, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    for found in (validate(folder, installed), check(str(folder), installed)):
        lines = [str(each) for report in found for each in report.findings if each.level == "error"]
        if name != "DATASHEET.md":
            assert f"{folder / name}: error: this is no regular file but a pipe or a device; put a file there" in lines
    if name == "DATASHEET.md":
        assert "there is no DATASHEET.md beside it" in lines[0]


def test_only_regular_files_of_a_size_are_opened(tmp_path: Path) -> None:
    with pytest.raises(BiasfwError, match="no regular file but a pipe or a device"):
        open_file(Path(os.devnull))
    (tmp_path / "big").write_bytes(b"x" * 2**20 + b"x")
    with pytest.raises(BiasfwError, match="larger than 1 MiB"):
        open_file(tmp_path / "big", 2**20)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BiasfwError, match="leads back to itself"):
        open_file(tmp_path / "loop")
    with pytest.raises(BiasfwError, match="no name of a file"):
        open_file(tmp_path / "a\0b")


def test_items_that_are_a_link_to_itself_are_refused_by_run(folder: Path) -> None:
    (folder / "items.jsonl").unlink()
    (folder / "items.jsonl").symlink_to("items.jsonl")
    done = CliRunner().invoke(app, ["run", "--benchmark", f"{folder}", "--backend", "reference", "--model", "random"])
    assert isinstance(done.exception, BiasfwError), done.exception
    assert "does not exist" in str(done.exception)


def test_a_name_of_300_letters_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BiasfwError, match="has 300 characters; at most 100 can be used"):
        write_benchmark(NewBenchmark("x" * 300), tmp_path, ("en",))


def test_a_full_disk_leaves_nothing_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> Callable[..., object]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("biasfw.newbenchmark.write_new", full)
    with pytest.raises(BiasfwError, match=r"No space left on device.; make room on the disk"):
        write_benchmark(NewBenchmark("x"), tmp_path, ("en",))
    assert list(tmp_path.iterdir()) == []
