"""Bundles: wrong data are found before the first request, with file, line and the way out."""

from __future__ import annotations

import json
import shutil
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from biasfw import RunConfig, bundles, hookimpl, shipped
from biasfw.engine import run
from biasfw.errors import BiasfwError, DataError, UsageError
from biasfw.plugins import Plugins


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A copy of the shipped bundle, to be changed."""
    return Path(shutil.copytree(shipped("benchmarks") / "debatebias", tmp_path / "debatebias"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def rows(bundle: Path) -> tuple[Path, list[dict[str, Any]]]:
    path = bundle / bundles.load(bundle).manifest["splits"]["demo"]["files"][0]
    return path, [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, content: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), encoding="utf-8")


def go(bundle: Path, installed: Plugins, tmp_path: Path) -> None:
    run(RunConfig(str(bundle), "reference", model="first", runs=str(tmp_path / "runs")), installed)


def test_a_folder_runs_like_an_installed_benchmark(bundle: Path, installed: Plugins, tmp_path: Path) -> None:
    result = run(RunConfig(str(bundle), "reference", model="first", runs=str(tmp_path / "runs")), installed)
    assert result.status == "complete"
    assert result.plan.bundle.origin == "folder"


def duplicate(content: list[dict[str, Any]]) -> None:
    content[4]["source_id"] = content[1]["source_id"]
    content[4]["language"] = content[1]["language"]


def unknown_category(content: list[dict[str, Any]]) -> None:
    content[2]["category"] = "sports"


def unknown_language(content: list[dict[str, Any]]) -> None:
    content[2]["language"] = "xx"


def no_id(content: list[dict[str, Any]]) -> None:
    del content[2]["source_id"]


def missing_field(content: list[dict[str, Any]]) -> None:
    del content[2]["topic"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (duplicate, r":5:1: source_id .* also stands in line 2"),
        (unknown_category, r":3:1: category 'sports' is not in the manifest"),
        (unknown_language, r":3:1: language 'xx'"),
        (no_id, r":3.*source_id"),
        (missing_field, r"topic"),
    ],
)
def test_wrong_items_are_refused_before_the_first_request(
    bundle: Path, installed: Plugins, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None], words: str
) -> None:
    path, content = rows(bundle)
    change(content)
    write(path, content)
    with pytest.raises(DataError, match=words):
        go(bundle, installed, tmp_path)
    assert not list((tmp_path / "runs").rglob("responses.jsonl"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("task: labels", "taks: labels", r"benchmark.yaml:\d+:\d+: .*task"),
        ("version: 0.1.0", "version: 0.1.0\nversion: 0.2.0", r"benchmark.yaml:4:1.*version"),
        ("default_split: demo", "default_split: dmeo", "no split is named 'dmeo'; did you mean demo"),
        ("template: debate}", "template: debat}", "debat"),
        ("judge: rules", "judge: rules\nbackend: evil", r"backend"),
        ("over: labels", "over: focus", r"benchmark.yaml:\d+:\d+"),
        ("languages: [en", "languages: [xx, en", "no text for language 'xx'.* more"),
        (
            "labels: [south_asians, indians]",
            "labels: [south_asians, indian]",
            "no label is named 'indian'; did you mean",
        ),
        ("calibrate: neutral", "calibrate: nuetral", "is named 'nuetral'; did you mean neutral"),
        ("metric: label_uniformity, slice", "metric: label_uniform, slice", "no metric in `metrics` is named"),
    ],
)
def test_a_wrong_manifest_is_refused_with_its_place(
    bundle: Path, installed: Plugins, tmp_path: Path, old: str, new: str, words: str
) -> None:
    edit(bundle / "benchmark.yaml", old, new)
    with pytest.raises(BiasfwError, match=words):
        go(bundle, installed, tmp_path)


def test_data_may_not_leave_the_folder(bundle: Path, installed: Plugins, tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text("{}\n", encoding="utf-8")
    path, _ = rows(bundle)
    path.unlink()
    path.symlink_to(tmp_path / "outside.jsonl")
    with pytest.raises(DataError, match="leaves the bundle's folder"):
        go(bundle, installed, tmp_path)


def test_a_name_offered_twice_has_to_be_told_apart(bundle: Path, installed: Plugins) -> None:
    @hookimpl
    def biasfw_benchmark_folders() -> Iterable[Path]:
        yield bundle.parent

    plugins = Plugins()
    plugins.all += installed.all
    plugins.add(
        types.SimpleNamespace(biasfw_api=1, biasfw_benchmark_folders=biasfw_benchmark_folders), "pack", "my-pack"
    )
    with pytest.raises(UsageError, match="debatebias@biasfw or debatebias@my-pack"):
        bundles.find("debatebias", plugins)
    assert bundles.find("debatebias@my-pack", plugins).folder == bundle
    assert bundles.find("debatebias@my-pack:demo", plugins).split == "demo"


def test_an_item_may_not_stand_in_two_files(bundle: Path, installed: Plugins, tmp_path: Path) -> None:
    edit(bundle / "benchmark.yaml", "[items/en.jsonl,", "[items/copy.jsonl, items/en.jsonl,")
    shutil.copy(bundle / "items" / "en.jsonl", bundle / "items" / "copy.jsonl")
    with pytest.raises(DataError, match=r"en\.jsonl:1:1: .* also stands in line 1 of copy\.jsonl"):
        go(bundle, installed, tmp_path)


def test_braces_in_fields_are_data(bundle: Path, installed: Plugins, tmp_path: Path) -> None:
    path, content = rows(bundle)
    content[0]["topic"] = "{0} {{ label_list }} {% if x %} %s $name {Demographic List}"
    write(path, content)
    result = run(RunConfig(str(bundle), "reference", model="first", runs=str(tmp_path / "runs")), installed)
    requests = [
        json.loads(line) for line in (result.directory / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert any(content[0]["topic"] in message["content"] for request in requests for message in request["messages"])
