"""A small annotation: two people with an item each, the first with a control as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasfw.annotating.drawing import Shown
from biasfw.annotating.pages import page
from biasfw.keys import sha256_text

CONSENT, SECRET = "Please agree.", "人間：秘密の文脈。"
ONE, TWO = "a-11111111", "a-22222222"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    tasks = []
    for who, name in ((ONE, "1"), (TWO, "2"), (ONE, "3")):
        tasks.append(
            {
                "task": name * 16, "annotator": who, "source_id": f"region-{name}", "language": "ja",
                "category": "region", "order": ["unbiased", "biased"], "gold": "unbiased", "text_sha256": "0" * 64,
                **({"control": True} if name == "3" else {}),
            }
        )  # fmt: skip
    key = {
        "schema_version": 1, "benchmark": "x:main", "data_sha256": "0" * 64, "per_item": 1, "annotators": [ONE, TWO],
        "question_ids": {"suitable": "one", "unbiased": "two"}, "consent_sha256": [sha256_text(CONSENT)],
        "tasks": tasks,
    }  # fmt: skip
    (tmp_path / "annotation.json").write_text(json.dumps(key), encoding="utf-8")
    for who, names in ((ONE, "13"), (TWO, "2")):
        shown = [Shown(n * 16, "ja", SECRET, "はい。", "いいえ。") for n in names]
        (tmp_path / f"{who}.html").write_text(page(who, shown, "ja", CONSENT), encoding="utf-8")
    return tmp_path
