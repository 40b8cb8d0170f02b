"""The conformance kit: a sound bundle passes, and each thing that would spoil a number is named."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from biasfw.cli import app
from biasfw.conformance import check
from biasfw.conforming.duplicates import NEAR, _candidates, _jaccard, _shingles, _without_frame
from biasfw.findings import Report
from biasfw.plugins import Plugins

Write = Callable[..., Path]
Rows = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def kit(installed: Plugins) -> Callable[[Path], Report]:
    """The report on a bundle, without the reference models."""

    def run(folder: Path) -> Report:
        return check(str(folder), installed, without=["references"])[0]

    return run


def told(report: Report, level: str) -> list[str]:
    return [f"{f.problem.pointer}: {f.problem.message}" for f in report.findings if f.level == level]


def test_a_sound_bundle(write: Write, kit: Callable[[Path], Report]) -> None:
    report = kit(write())
    assert report.findings == []
    values = {measure.name: measure.value for measure in report.measures}
    assert values["position of the right option"] == {"1": 0.5, "2": 0.5}
    assert values["coverage"] == [["noise", 4, 4], ["help", 4, 4]]
    assert values["pick the shorter option"] == values["pick the longer option"] == 0.5
    assert values["exact duplicates"] == values["near duplicates"] == 0
    for fact in ("no prompt gives the right option away", "no two clusters have the same", "in the script of its"):
        assert any(fact in each for each in report.facts)


def test_order_leak_and_length_are_the_three_that_are_named(
    write: Write, rows: Rows, kit: Callable[[Path], Report]
) -> None:
    spoilt = []
    for row in rows("en"):
        fair, unfair = row["choices"]
        row["hint"] = fair["text"]
        unfair["text"] += ", and everybody around here has always known it, ask whom you like"
        spoilt.append(row)
    edits = (
        ("design: rotations", "design: as_given"),
        ("        {{ context }}\n", "        {{ context }} {{ hint }}\n"),
    )
    other = [{**row, "language": "sw"} for row in spoilt]
    folder = write(*edits, en=spoilt, sw=other)
    report = kit(folder)
    found = told(report, "error")
    assert len(found) == 3
    found = [next(each for each in found if word in each) for word in ("leak: ", "length confound", "order-locked")]
    assert found[0].startswith(
        "/hint: leak: in 16 of 16 items the field 'hint', which the prompt shows, gives the right"
    )
    assert found[1].startswith(
        "/choices: length confound in split own: always picking the shorter option is right in 100%"
    )
    assert "Look first at n-" in found[1]
    assert "do not pad them" in found[1]
    assert found[2].startswith("/gold: order-locked gold: the right option stands at position 1 in 16 of 16 prompts")
    places = [finding.problem for finding in report.findings if finding.level == "error"]
    assert all(place.file.endswith("items/en.jsonl") and place.line and place.column > 1 for place in places)
    done = CliRunner().invoke(app, ["check", str(folder), "--quick"])
    assert done.exit_code == 1
    assert done.output.splitlines()[-1].startswith("3 errors, ")


def test_rotated_orders_cannot_be_locked(write: Write, kit: Callable[[Path], Report]) -> None:
    """In the file gold always stands first; what is asked is balanced."""
    assert not [each for each in told(kit(write()), "error") if "order-locked" in each]


def test_hedging_is_a_confound(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    def hedged(language: str) -> list[dict[str, Any]]:
        found = rows(language)
        for row in found:
            row["choices"][0]["text"] = "It depends on whom you ask. " + row["choices"][0]["text"][28:]
        return found

    report = kit(write(en=hedged("en"), sw=[]))
    (line,) = [each for each in told(report, "error") if "confound" in each and "hedged" in each]
    assert line.startswith("/choices: hedged confound in split own: always picking the hedged option is right in 100%")


def test_duplicates_in_other_clusters(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    en = rows("en")
    same = {**en[0], "source_id": "n-copy"}
    near = json.loads(json.dumps({**en[1], "source_id": "n-near"}))
    near["context"] += "!"
    report = kit(write(en=[*en, same, near]))
    (error,) = told(report, "error")
    assert error.startswith("/source_id: 1 item has the text of another cluster's item (n-0 (line 1) for this one)")
    (warning,) = [each for each in told(report, "warning") if "nearly the same" in each]
    assert "n-1 (line 2) and n-near, " in warning or "n-1 (line 2) and n-near (line 10), " in warning


def test_variants_of_a_cluster_are_no_duplicates(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    en = [{**row, "variant": variant} for row in rows("en") for variant in ("one", "two")]
    assert not [each for each in told(kit(write(en=en)), "error") if "cluster" in each]


def test_what_items_do_not_say(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    en = rows("en")
    for row in en[:3]:
        del row["harm"]
    en[4]["gold"] = "unfair"
    report = kit(write(en=en))
    assert any(each.startswith("/harm: harm is not said in 3 of 15 items") for each in told(report, "warning"))
    (error,) = told(report, "error")
    assert error.startswith("/gold: the stereotyped option is the right one (gold) in 1 of 16 items; mend gold")


def test_holes_and_sizes(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    report = kit(write(sw=[{**row, "language": "sw"} for row in rows("sw")[:4]]))
    assert any("split own has no items for help in sw" in each for each in told(report, "warning"))
    report = kit(write(sw=rows("en")[:1], en=rows("en")[1:]))
    assert any("split own has no items in sw" in each for each in told(report, "warning"))
    edits = ("  - {key: help,", "  - {key: empty, names: {en: [E], sw: [E]}}\n  - {key: help,")
    text = (write() / "benchmark.yaml").read_text(encoding="utf-8")
    official = text[text.index("  official:") : text.index("default_split")]  # what is not here may fill it
    report = kit(write(edits, (official, "")))
    assert "/categories/1/key: no item is about the category 'empty'; write some, or remove it" in told(
        report, "warning"
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("reviewed_by_natives: {en: 2, sw: 2}", "reviewed_by_natives: {en: 2, sw: 1}", "reviewed the items (sw 1)"),
        ("native: true", "native: false", "no native speaker wrote the items"),
        ("licence: CC0-1.0", "licence: unknown", "this is no licence"),
        ("licence: CC0-1.0", "licence: Creative Commons", '"Creative Commons" is no SPDX identifier'),
        ("licence: CC0-1.0", "licence: CC BY 4.0", "write for example CC-BY-4.0"),
        ("licence: CC0-1.0", "licence: CC-BY-SA", '"CC-BY-SA" is no SPDX identifier'),
        ("licence: CC0-1.0", "licence: CC-BY-NC-SA-3.0-DE", ""),
        ("licence: CC0-1.0", "licence: Apache-2.0 OR (MIT AND LicenseRef-ours)", ""),
        ("licence: CC0-1.0", "licence: GPL-3.0-or-later", ""),
        ("licence: CC0-1.0", "licence: BSD-3-Clause", ""),
        ("content_warning: invented prejudices about neighbours", "content_warning: none", "nothing is warned of"),
        ("{text: Written as an example of a test.,", "{text: Me.,", "nobody could cite this"),
        ("redistribution: allowed", "redistribution: forbidden", "ships items that may not be passed on"),
        ("7d0c6a52-31f8-4e0b-9a64-c5d2e81b9f03", "00000000-0000-4000-8000-000000000000", "not a random one"),
        ("expected:\n", "reference_results: []\nexpected:\n", ""),
    ],
)  # fmt: skip
def test_paperwork(write: Write, kit: Callable[[Path], Report], old: str, new: str, words: str) -> None:
    found = told(kit(write((old, new))), "warning")
    assert any(words in each for each in found) if words else found == []


def test_a_random_canary_passes(write: Write, kit: Callable[[Path], Report]) -> None:
    for _ in range(2):
        assert told(kit(write(("7d0c6a52-31f8-4e0b-9a64-c5d2e81b9f03", str(uuid.uuid4())))), "warning") == []


def test_the_datasheet(write: Write, kit: Callable[[Path], Report]) -> None:
    folder = write()
    path = folder / "DATASHEET.md"
    path.write_text(path.read_text(encoding="utf-8").replace("## Maintenance", "## Weather"), encoding="utf-8")
    (finding,) = kit(folder).findings
    assert (finding.level, finding.problem.file) == ("warning", str(path))
    assert "no heading is about maintenance" in finding.problem.message
    path.unlink()
    (error,) = told(kit(folder), "error")
    assert "there is no DATASHEET.md beside it" in error


def test_scripts(write: Write, rows: Rows, kit: Callable[[Path], Report]) -> None:
    en = rows("en")
    en[3]["context"] = "За стеной стучат барабаны каждый вечер, и никто не знает, когда это кончится" * 4
    en[5]["target"] = "people"
    en[5]["context"] += " in N\u0430kuru"  # a Cyrillic letter
    found = told(kit(write(en=en)), "warning")
    assert any(
        each.startswith("/language: 1 item is not written in the script of their language (en)") for each in found
    )
    assert any('a word of two scripts, such as "N\u0430kuru"' in each for each in found)


def test_reference_models_score_what_is_declared(write: Write, installed: Plugins) -> None:
    (report, *_) = check(str(write()), installed)
    assert report.findings == []
    (report, *_) = check(
        str(
            write(
                ("value: 0.5}", "value: 0.75}"),
                ("slice: {condition: reply}, value: 1}", "slice: {condition: no}, value: 1}"),
            )
        ),
        installed,
    )
    wrong, absent = told(report, "error")
    assert wrong.startswith("/expected/0/value: first in mode generate scores 0.5 (all) here, expected 0.75 within")
    assert absent.startswith(
        "/expected/1/value: anti-stereotyped in mode generate has no score of accuracy with the slice"
    )


def test_a_bundle_that_declares_nothing(write: Write, installed: Plugins) -> None:
    folder = write()
    path = folder / "benchmark.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition("expected:\n")[0], encoding="utf-8")
    (line,) = told(check(str(folder), installed)[0], "warning")
    assert line.startswith("/splits/own: nothing is declared of what the reference models score on split own")


def test_ten_thousand_items_take_linear_time(installed: Plugins) -> None:
    """Ten times the items, about ten times the time: with all pairs compared it would be a hundred."""
    rng = np.random.default_rng(1)
    words = ["".join(chr(97 + c) for c in rng.integers(0, 26, 6)) for _ in range(3000)]

    def texts(count: int) -> list[str]:
        found = ["a frame that all have: " + " ".join(rng.choice(words, 25)) for _ in range(count - 20)]
        return found + [text + "." for text in found[:20]]

    def seconds(count: int) -> float:
        some = texts(count)
        before = time.process_time()
        sets = _without_frame([_shingles(text) for text in some])
        pairs = [pair for pair in _candidates(sets) if _jaccard(sets[pair[0]], sets[pair[1]]) >= NEAR]
        assert sorted(pairs) == [(at, count - 20 + at) for at in range(20)]
        return time.process_time() - before

    small = seconds(1000)
    large = seconds(10_000)
    assert large < 40 * max(small, 0.05), (small, large)
