"""Exports are read back with pandas, and hold no formula and no text that may not be passed on."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

from biasfw.config import RunConfig
from biasfw.engine import run
from biasfw.errors import ComponentError, UsageError
from biasfw.exporting import FORMATS, export
from biasfw.exporting.everyevalever import SCHEMA_VERSION
from biasfw.plugins import Plugins

TABLES = ("csv", "jsonl", "parquet", "xlsx")
HOSTILE = [
    '=HYPERLINK("http://example.org","click")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "  =1+1",
    "\t=1+1",
    "\n\n=1+1",
    "\uff1d1+1",
    "'quoted'",
    "\x00null\x1b[31mred\x07",
    "lone \ud800 surrogate",
    'comma, "quote" and\nnewline',
    "Übergrößen 日本語 العربية हिन्दी 👩‍👩‍👧",
    "NA",
    "x" * 40_000,
]


@pytest.fixture(scope="module")
def debates(tmp_path_factory: pytest.TempPathFactory, installed: Plugins) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    limit = len(HOSTILE) * 7
    config = RunConfig("debatebias", "reference", model="random", mode="generate", limit=limit, runs=str(folder))
    return run(config, installed).directory


@pytest.fixture(scope="module")
def hostile(debates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run, as if the model had said hostile things first."""
    copy = tmp_path_factory.mktemp("hostile") / "run"
    shutil.copytree(debates, copy)
    file = copy / "responses.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row, text in zip(rows, HOSTILE, strict=False):
        row["text"] = text
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return copy


def frame(path: Path) -> pd.DataFrame:
    kind = path.suffix[1:]
    if kind == "csv":
        return pd.read_csv(path, keep_default_na=False, na_values=[""], lineterminator=None)
    if kind == "jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text("utf-8").splitlines()])
    if kind == "xlsx":
        return pd.read_excel(path, keep_default_na=False, na_values=[""])
    return pd.read_parquet(path)


@pytest.mark.parametrize("to", TABLES)
def test_one_row_per_response_with_its_judgements(to: str, debates: Path, tmp_path: Path, installed: Plugins) -> None:
    done = export(debates, to, tmp_path / f"x.{to}", installed)
    found = frame(done.path)
    asked = [json.loads(line) for line in (debates / "requests.jsonl").read_text("utf-8").splitlines()]
    answers = [json.loads(line) for line in (debates / "responses.jsonl").read_text("utf-8").splitlines()]
    said = {row["key"]: row["text"] for row in answers}
    assert done.rows == len(found) == len(asked)
    assert found["key"].tolist() == [row["key"] for row in asked]
    assert found["text"].tolist() == [said[row["key"]] for row in asked]
    assert set(found["canary"]) == {json.loads((debates / last_scores(debates)).read_text())["canary"]}
    assert found["demo"].astype(str).str.lower().eq("true").all()
    (judge,) = {name.partition(".")[0] for name in found.columns if name.endswith(".stereotyped.value")}
    judged = (debates / "judgements" / f"{judge}.jsonl").read_text("utf-8").splitlines()
    verdicts = {row["response_key"]: row["slots"]["stereotyped"]["value"] for row in map(json.loads, judged)}
    assert found[f"{judge}.stereotyped.value"].tolist() == [verdicts[row["key"]] for row in asked]
    assert found["prompt"].str.contains(asked[0]["messages"][-1]["content"][:40], regex=False).any()


def last_scores(path: Path) -> str:
    return str(list(json.loads((path / "run.json").read_text())["scored"])[-1])


@pytest.mark.parametrize("to", ["csv", "xlsx"])
def test_no_sheet_runs_what_a_model_said(to: str, hostile: Path, tmp_path: Path, installed: Plugins) -> None:
    done = export(hostile, to, tmp_path / f"x.{to}", installed)
    assert any("apostrophe" in note for note in done.notes)
    texts = frame(done.path)["text"].tolist()[: len(HOSTILE)]
    for said, written in zip(HOSTILE, texts, strict=True):
        assert not written.lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\t")), said
        if said.isascii() and said.isprintable() and len(said) < 30_000:
            assert written.removeprefix("'") == said, "one apostrophe is taken away, and it is as it was"
    assert "\x1b" not in "".join(texts)
    assert texts[12] == HOSTILE[12]
    assert texts[13] == "NA"


def test_every_text_of_a_sheet_is_a_text_cell(hostile: Path, tmp_path: Path, installed: Plugins) -> None:
    from openpyxl import load_workbook  # noqa: PLC0415 - only here

    done = export(hostile, "xlsx", tmp_path / "x.xlsx", installed)
    book = load_workbook(done.path)
    kinds = {cell.data_type for row in book.active.iter_rows() for cell in row}
    assert kinds <= {"s", "n", "b"}
    assert "canary" in book.properties.description
    assert any("cut at 32,767" in note for note in done.notes)


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_what_is_no_sheet_holds_texts_as_they_are(to: str, hostile: Path, tmp_path: Path, installed: Plugins) -> None:
    texts = frame(export(hostile, to, tmp_path / f"x.{to}", installed).path)["text"].tolist()
    expected = [text for text in HOSTILE if "\ud800" not in text]
    assert [text for text in texts[: len(HOSTILE)] if "surrogate" not in text] == expected


def test_parquet_has_types_and_the_canary_in_the_file(debates: Path, tmp_path: Path, installed: Plugins) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only here

    schema = pq.read_schema(export(debates, "parquet", tmp_path / "x.parquet", installed).path)
    assert str(schema.field("repeat").type) == "int64"
    assert str(schema.field("seconds").type) == "double"
    assert schema.metadata[b"canary"].startswith(b"biasfw canary")


@pytest.fixture
def forbidden(debates: Path, tmp_path: Path, installed: Plugins) -> Path:
    """The run, as if its benchmark may not be passed on."""
    bundle = tmp_path / "bundle"
    (folder,) = (root / "debatebias" for root, _ in installed.folders("benchmark") if (root / "debatebias").is_dir())
    shutil.copytree(folder, bundle)
    manifest = (bundle / "benchmark.yaml").read_text("utf-8")
    manifest = manifest.replace("redistribution: allowed", "redistribution: forbidden")
    (bundle / "benchmark.yaml").write_text(manifest, "utf-8")
    copy = tmp_path / "run"
    shutil.copytree(debates, copy)
    info = json.loads((copy / "run.json").read_text())
    info["config"]["benchmark"] = str(bundle)
    (copy / "run.json").write_text(json.dumps(info))
    return copy


@pytest.mark.parametrize("to", FORMATS)
def test_texts_that_may_not_be_passed_on_stay_here(
    to: str, forbidden: Path, tmp_path: Path, installed: Plugins
) -> None:
    done = export(forbidden, to, tmp_path / "out", installed)
    items = [json.loads(line) for line in (forbidden / "items.jsonl").read_text("utf-8").splitlines()]
    assert items[0]["fields"]["topic"]
    if to in ("csv", "jsonl", "every-eval-ever"):
        written = done.path.read_text("utf-8")
        assert not [item["fields"]["topic"] for item in items if item["fields"]["topic"] in written]
    if to == "every-eval-ever":
        return
    assert any("left out" in note for note in done.notes)
    found = frame(done.path.rename(tmp_path / f"x.{to}"))
    assert not {"prompt", "choices", "fields", "stereotype", "harm"} & set(found.columns)
    assert found["item"].tolist() == [item["id"] for item in items]
    assert found["prompt_sha256"].str.len().eq(64).all()
    assert found["text"].str.contains("GROUP").any(), "what the model said stays"


# What eval.schema.json 0.3.0 asks of a record, as far as it is written here (the schema itself is not copied).
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
RESULT = {
    "type": "object",
    "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
    "properties": {
        "source_data": {
            "required": ["dataset_name", "source_type"],
            "properties": {"source_type": {"enum": ["url", "other"]}, "additional_details": TEXTS},
        },
        "metric_config": {
            "required": ["lower_is_better", "score_type", "min_score", "max_score"],
            "properties": {
                "lower_is_better": {"type": "boolean"},
                "score_type": {"const": "continuous"},
                "min_score": {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]},
                "max_score": {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]},
                "metric_parameters": {"additionalProperties": {"type": ["string", "number", "boolean", "null"]}},
                "additional_details": TEXTS,
            },
        },
        "score_details": {
            "required": ["score"],
            "properties": {
                "score": {"type": "number"},
                "details": TEXTS,
                "uncertainty": {
                    "properties": {
                        "num_samples": {"type": "integer"},
                        "confidence_interval": {"required": ["lower", "upper"]},
                    }
                },
            },
        },
        "generation_config": {
            "properties": {
                "generation_args": {
                    "properties": {"temperature": {}, "top_p": {}, "max_tokens": {"type": "integer", "minimum": 1}},
                    "additionalProperties": False,
                },
                "additional_details": TEXTS,
            }
        },
    },
}
RECORD = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info",
                 "eval_library", "evaluation_results"],
    "properties": {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": {"type": "string"},
        "evaluation_timestamp": {"type": "string"},
        "retrieved_timestamp": {"type": "string", "pattern": "^[0-9]+$"},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {"source_type": {"const": "evaluation_run"}, "additional_details": TEXTS},
        },
        "eval_library": {"required": ["name", "version"]},
        "model_info": {
            "required": ["name", "id", "additional_details"],
            "properties": {
                "additional_details": {**TEXTS, "required": ["deployment_type", "model_availability"]},
            },
        },
        "evaluation_results": {"type": "array", "minItems": 1, "items": RESULT},
    },
}  # fmt: skip


@pytest.mark.parametrize(("benchmark", "mode"), [("debatebias", "generate"), ("jubaku:demo", "choices")])
def test_every_eval_ever(benchmark: str, mode: str, tmp_path: Path, installed: Plugins) -> None:
    config = RunConfig(benchmark, "reference", model="random", mode=mode, limit=56, runs=str(tmp_path))
    made = run(config, installed).directory
    done = export(made, "every-eval-ever", tmp_path / "x.json", installed)
    record = json.loads(done.path.read_text("utf-8"))
    jsonschema.validate(record, RECORD)
    assert record["schema_version"] == SCHEMA_VERSION
    assert record["source_metadata"]["additional_details"]["canary"].startswith("biasfw canary")
    assert record["source_metadata"]["additional_details"]["demo"] == "true"
    scores = json.loads((made / last_scores(made)).read_text())["scores"]
    known = {
        (each["metric"], each["denominator"], json.dumps(each.get("slice", {}), sort_keys=True)): each["value"]
        for each in scores
    }
    for result in record["evaluation_results"]:
        config_, score = result["metric_config"], result["score_details"]["score"]
        where: dict[str, Any] = dict(config_["metric_parameters"])
        over = where.pop("denominator")
        assert known[config_["metric_name"], over, json.dumps(where, sort_keys=True)] == score
        low, high = float(config_["min_score"]), float(config_["max_score"])
        assert low <= score <= high


def test_a_missing_library_is_named(debates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for to, library in (("parquet", "pyarrow"), ("xlsx", "openpyxl")):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ComponentError, match=rf"{library}; install it with: pip install 'biasfw\[export\]'"):
            export(debates, to, tmp_path / "x")
        assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_a_folder_that_is_not_there(debates: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give another file with -o"):
        export(debates, "csv", tmp_path / "no" / "x.csv")


def test_the_file_is_named_as_the_run(
    debates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: Plugins
) -> None:
    name: Callable[[str], str] = lambda to: export(debates, to, None, installed).path.name  # noqa: E731
    monkeypatch.chdir(tmp_path)
    assert name("csv") == f"{debates.name}.csv"
    assert name("every-eval-ever") == f"{debates.name}.eee.json"


@pytest.mark.parametrize("name", ["responses.jsonl", "requests.jsonl", "judgements"])
def test_whole_files_that_are_missing_are_told(name: str, debates: Path, tmp_path: Path, installed: Plugins) -> None:
    copy = tmp_path / "run"
    shutil.copytree(debates, copy)
    shutil.rmtree(copy / name) if name == "judgements" else (copy / name).unlink()
    found = export(copy, "csv", tmp_path / "x.csv", installed)
    assert any(name in note and "missing" in note for note in found.notes), found.notes
