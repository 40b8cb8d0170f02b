"""`biasfw submit`: what belongs to a benchmark is packed and nothing else; nobody is named against their will."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner

from biasfw import BiasfwError, UsageError
from biasfw.citing import Contributor
from biasfw.cli import app
from biasfw.newbenchmark import NewBenchmark, write_benchmark
from biasfw.plugins import Plugins
from biasfw.submitting import Submission, submit
from biasfw.yamlfile import load_yaml

PSEUDONYM = Contributor("pseudonym", "Haeundae")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(NewBenchmark("busan", languages=("eu",), sheet=True), tmp_path, ("en",))
    return tmp_path / "busan"


def packed(folder: Path, installed: Plugins, contributor: Contributor | None = PSEUDONYM) -> Submission:
    return submit(folder, [contributor] if contributor else [], folder.parent / "busan.zip", installed)


def test_what_belongs_to_a_benchmark_is_packed_and_nothing_else(folder: Path, installed: Plugins) -> None:
    (folder / ".env").write_text("KEY=1")
    (folder / "runs").mkdir()
    (folder / "runs" / "run.json").write_text("{}")
    done = packed(folder, installed)
    with zipfile.ZipFile(done.archive) as archive:
        names = {name.removeprefix("busan/") for name in archive.namelist()}
        assert archive.read("busan/items.xlsx") == (folder / "items.xlsx").read_bytes()
        told = json.loads(archive.read("busan/check.json"))
        checklist = archive.read("busan/CHECKLIST.md").decode("utf-8")
    assert names == set(done.packed) == {
        "benchmark.yaml", "items.xlsx", "DATASHEET.md", "CITATION.cff", "languages/eu.yaml", "check.json",
        "CHECKLIST.md",
    }  # fmt: skip
    assert set(done.left_out) == {".env", str(Path("runs/run.json"))}
    assert [each["name"] for each in told["checked"]] == ["busan", "eu"]
    assert str(folder.parent) not in json.dumps(told), "no place of this computer goes along"
    assert told["checked"][0]["file"] == "benchmark.yaml"
    assert f"{done.warnings} warnings" in checklist
    assert "Contributed by: Haeundae (a pseudonym)" in checklist
    for topic in ("Native authorship", "Harm", "Consent", "Licence"):
        assert f"## {topic}\n\n- [ ] " in checklist


def test_the_archive_opens_as_a_benchmark_and_is_always_the_same(folder: Path, installed: Plugins) -> None:
    done = packed(folder, installed)
    first = done.archive.read_bytes()
    with zipfile.ZipFile(done.archive) as archive:
        archive.extractall(folder.parent / "elsewhere")
    done.archive.unlink()
    assert packed(folder, installed).archive.read_bytes() == first
    again = submit(folder.parent / "elsewhere" / "busan", [], folder.parent / "again.zip", installed)
    assert set(again.packed) == set(done.packed)
    assert again.left_out == ()


def test_ticks_of_the_author_are_kept(folder: Path, installed: Plugins) -> None:
    (folder / "CHECKLIST.md").write_text("- [x] Everything\n")
    with zipfile.ZipFile(packed(folder, installed).archive) as archive:
        assert archive.read("busan/CHECKLIST.md") == b"- [x] Everything\n"


@pytest.mark.parametrize(
    ("contributor", "author", "said"),
    [
        (Contributor("name", "Kim Ha-eun"), {"name": "Kim Ha-eun"}, "Kim Ha-eun"),
        (PSEUDONYM, {"alias": "Haeundae"}, "Haeundae (a pseudonym)"),
        (Contributor("none"), {"name": "anonymous"}, "somebody without a name"),
    ],
)
def test_contributors_choose_how_they_are_named(
    folder: Path, installed: Plugins, contributor: Contributor, author: dict[str, str], said: str
) -> None:
    done = packed(folder, installed, contributor)
    cited = load_yaml(folder / "CITATION.cff").value
    assert cited["authors"] == [author]
    assert (cited["cff-version"], cited["type"], cited["license"]) == ("1.2.0", "dataset", "CC-BY-4.0")
    assert done.cited_as == next(iter(author.values()))
    with zipfile.ZipFile(done.archive) as archive:
        assert f"Contributed by: {said}\n" in archive.read("busan/CHECKLIST.md").decode("utf-8")


def test_a_citation_that_is_there_stays(folder: Path, installed: Plugins) -> None:
    text = "cff-version: 1.2.0\nauthors:\n  - {given-names: Ha-eun, family-names: Kim}\n"
    (folder / "CITATION.cff").write_text(text)
    assert packed(folder, installed, None).cited_as == "Ha-eun Kim"
    assert (folder / "CITATION.cff").read_text() == text


def test_a_name_from_before_does_not_go_with_a_submission_without_names(folder: Path, installed: Plugins) -> None:
    packed(folder, installed, Contributor("name", "Some One")).archive.unlink()
    with pytest.raises(BiasfwError, match="names Some One, and you asked for anonymous"):
        packed(folder, installed, Contributor("none"))


def test_nobody_is_named_without_being_asked(folder: Path, installed: Plugins) -> None:
    with pytest.raises(UsageError, match="--name NAME, --pseudonym NAME or --anonymous"):
        packed(folder, installed, None)
    with pytest.raises(UsageError, match="the name is empty"):
        packed(folder, installed, Contributor("name", " "))
    assert not (folder / "CITATION.cff").exists()


def test_a_workbook_that_names_its_author_is_held_back(folder: Path, installed: Plugins) -> None:
    book = openpyxl.load_workbook(folder / "items.xlsx")
    book.properties.lastModifiedBy = "Kim Ha-eun"
    book.save(folder / "items.xlsx")
    with pytest.raises(BiasfwError, match=r'items\.xlsx says who worked on it \("Kim Ha-eun"\)'):
        packed(folder, installed)
    assert packed(folder, installed, Contributor("name", "Kim Ha-eun")).archive.is_file()


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "benchmark.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def refused(folder: Path, installed: Plugins, words: str) -> None:
    with pytest.raises(BiasfwError, match=words):
        packed(folder, installed)
    assert not (folder.parent / "busan.zip").exists()
    assert not (folder / "CITATION.cff").exists()


def test_errors_are_mended_first(folder: Path, installed: Plugins) -> None:
    edit(folder, "value: 1}", "value: 0.75}")
    refused(folder, installed, "1 error to mend first: .*benchmark.yaml:.*see all: biasfw check")


def test_items_that_may_not_be_passed_on_are_not_packed(folder: Path, installed: Plugins) -> None:
    edit(folder, "redistribution: attribution", "redistribution: forbidden")
    refused(folder, installed, "may not be passed on")


def test_files_from_outside_are_not_packed(folder: Path, installed: Plugins) -> None:
    (folder.parent / "secret.txt").write_text("x")
    (folder / "README.md").symlink_to(folder.parent / "secret.txt")
    refused(folder, installed, "leaves the bundle.s folder")


def test_an_archive_is_not_written_over(folder: Path, installed: Plugins) -> None:
    packed(folder, installed)
    with pytest.raises(BiasfwError, match="exists already"):
        packed(folder, installed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--name", "A", "--anonymous"], "exclude one another"), ([], "say how you want to be named")],
)
def test_usage(folder: Path, arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["submit", str(folder), *arguments])
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)


def test_the_command_says_what_it_did(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    result: Any = CliRunner().invoke(app, ["submit", "busan", "--anonymous"])
    assert result.exit_code == 0, result.output
    assert "wrote busan-0.1.0.zip, with CHECKLIST.md, CITATION.cff" in result.output
    assert "to be cited as by: anonymous" in result.output


def test_several_authors_keep_their_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    arguments = ["submit", "busan", "--name", "Kim Ha-eun", "--name", "Ayşe Öz", "--name", "An Ba"]
    result: Any = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    cited = load_yaml(folder / "CITATION.cff").value
    assert cited["authors"] == [{"name": "Kim Ha-eun"}, {"name": "Ayşe Öz"}, {"name": "An Ba"}]
    assert "to be cited as by: Kim Ha-eun, Ayşe Öz, An Ba" in result.output
    with zipfile.ZipFile(folder.parent / "busan-0.1.0.zip") as archive:
        checklist = archive.read("busan/CHECKLIST.md").decode("utf-8")
    assert "Contributed by: Kim Ha-eun, Ayşe Öz, An Ba\n" in checklist
    twice: Any = CliRunner().invoke(app, [*arguments, "--name", "An Ba", "-o", "again.zip"])
    assert "somebody is named twice" in str(twice.exception)


def test_the_citation_is_written_anew_from_the_manifest(folder: Path, installed: Plugins) -> None:
    first = packed(folder, installed)
    assert any("the title is still" in note and "TODO" in note for note in first.notes)
    edit(folder, "version: 0.1.0", "version: 0.2.0")
    edit(folder, "licence: CC-BY-4.0", "licence: CC0-1.0")
    edit(folder, '"TODO: the full title of busan"', "Work in Busan")
    done = submit(folder, [], folder.parent / "next.zip", installed)
    with zipfile.ZipFile(done.archive) as archive:
        text = archive.read("busan/CITATION.cff").decode("utf-8")
    (folder / "read.yaml").write_text(text, encoding="utf-8")
    cited = load_yaml(folder / "read.yaml").value
    assert (cited["version"], cited["license"], cited["title"]) == ("0.2.0", "CC0-1.0", "Work in Busan")
    assert cited["authors"] == [{"alias": "Haeundae"}]
    [note] = [note for note in done.notes if "written anew" in note]
    assert 'version "0.1.0" became "0.2.0"' in note
    assert 'license "CC-BY-4.0" became "CC0-1.0"' in note
    assert not any("the title is still" in note for note in done.notes)


def test_a_citation_that_was_edited_must_agree_with_the_manifest(folder: Path, installed: Plugins) -> None:
    text = "cff-version: 1.2.0\nversion: 0.0.9\nlicense: MIT\nauthors:\n  - {given-names: Ha-eun, family-names: Kim}\n"
    (folder / "CITATION.cff").write_text(text)
    with pytest.raises(
        BiasfwError, match=r'version "0.0.9", the manifest has "0.1.0"; license "MIT", the manifest has'
    ):
        packed(folder, installed, None)
    assert (folder / "CITATION.cff").read_text() == text
    (folder / "CITATION.cff").write_text(text.replace("0.0.9", "0.1.0").replace("MIT", "CC-BY-4.0"))
    assert packed(folder, installed, None).cited_as == "Ha-eun Kim"
