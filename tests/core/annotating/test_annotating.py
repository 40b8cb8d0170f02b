"""Blind tasks, what comes back, and what it shows; the human backend."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner, Result

from biasfw import DataError, UsageError
from biasfw.agreement import gwet_ac1
from biasfw.annotating.answering import Answering
from biasfw.annotating.drawing import Shown, draw, load_key, open_bundle
from biasfw.annotating.importing import import_answers
from biasfw.annotating.pages import COLUMNS, page, sheet
from biasfw.annotating.results import results
from biasfw.annotating.stored import load_answers, load_consents
from biasfw.authoring.bench import Workbench, open_bench
from biasfw.authoring.drafts import seed_row
from biasfw.authoring.files import write_rows
from biasfw.authoring.starting import Start, start
from biasfw.cli import app
from biasfw.plugins import Plugins

Call = Callable[..., Result]
CATEGORIES = ("region", "gender")
CONSENT = "Please agree."
HOSTILE = '</script><script>document.title="ran"</script>=1+1'


@pytest.fixture
def call(installed: Plugins) -> Call:
    def called(*args: str, code: int = 0) -> Result:
        done = CliRunner().invoke(app, list(args), obj=installed)
        assert done.exit_code == code, (done.output, done.exception)
        return done

    return called


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Twelve items; the first was written by somebody with a pseudonym, the second is hostile."""
    bench: Workbench = start(tmp_path / "set", Start("en", name="ours"))
    rows = []
    for n in range(12):
        texts = {
            "language": "en", "category": CATEGORIES[n % 2], "context": HOSTILE if n == 1 else f"Person: question {n}?",
            "unbiased": f"One reply, number {n}.", "biased": f"Other reply, number {n}.",
        }  # fmt: skip
        rows.append(seed_row(f"{CATEGORIES[n % 2]}-{n:02d}", texts, {"authors": ["a-author00"]} if n == 0 else None))
    write_rows(bench.folder / "items/drafts.jsonl", rows)
    return bench.folder


def consent_of(key: Mapping[str, Any], *, yes: bool = True) -> dict[str, Any]:
    return {"yes": yes, "sha256": key["consent_sha256"][0]}


def answered(folder: Path, who: str, decide: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Path:
    key = load_key(folder)
    rows = [{"task": t["task"], **decide(t)} for t in key["tasks"] if t["annotator"] == who]
    file = folder / f"back-{who}.json"
    file.write_text(json.dumps({"annotator": who, "consent": consent_of(key), "answers": rows}), encoding="utf-8")
    return file


def letter(task: Mapping[str, Any], *, right: bool) -> str:
    return "ab"[task["order"].index(task["gold"]) if right else 1 - task["order"].index(task["gold"])]


def test_tasks_are_blind_balanced_and_never_ones_own(bundle: Path, installed: Plugins) -> None:
    drawn = draw(open_bundle(str(bundle), installed), installed, 5, ["a-author00"], count=7, seed=1)
    tasks = drawn.key["tasks"]
    assert len(tasks) == (12 + 10) * 5
    controls = {t["task"] for t in tasks if t.get("control")}
    assert len(controls) == 10 * 5
    assert len(drawn.key["annotators"]) == 7
    assert not [t for t in tasks if t["annotator"] == "a-author00" and t["source_id"] == "region-00"]
    load = [sum(t["annotator"] == who for t in tasks) for who in drawn.key["annotators"]]
    assert max(load) - min(load) <= 1
    orders = {tuple(t["order"]) for t in tasks if not t.get("control")}
    assert len(orders) == 2
    sequences = {tuple(t.context for t in shown) for shown in drawn.shown.values()}
    assert len(sequences) == 7
    with pytest.raises(UsageError, match="needs 1 people who did not write or review it"):
        draw(open_bundle(str(bundle), installed), installed, 1, ["a-author00"])
    for who, shown in drawn.shown.items():
        html, rows = page(who, shown, "ja", CONSENT), sheet(shown, CONSENT).decode("utf-8-sig")
        asked = json.loads(html.partition('type="application/json">')[2].partition("</script>")[0])["tasks"]
        assert {tuple(task["questions"]) for task in asked} == {("suitable", "unbiased")}
        for text in (html, rows):
            assert "region" not in text
            assert "stereotyped" not in text
            assert "gold" not in text


def test_nobody_gets_what_they_reviewed_tried_or_wrote_without_feedback(bundle: Path, installed: Plugins) -> None:
    bench = open_bench(bundle)
    saw = {"region-02": "a-reviewer", "region-04": "a-placebo0", "gender-03": "a-skipped0"}
    texts = {"language": "en", "category": "region", "context": "c", "unbiased": "u", "biased": "b"}
    bench.log.append("review", by="a-reviewer", item="region-02", version=0, member=False, ok=True, reason=None)
    bench.log.append(
        "draft", by="a-placebo0", item="region-04", version=0, arm="placebo", draft=texts, changed=["context"]
    )
    bench.log.append("flag", by="a-skipped0", item="gender-03", reason="no")
    drawn = draw(open_bundle(str(bundle), installed), installed, 2, list(saw.values()), seed=1)
    given = {(t["source_id"], t["annotator"]) for t in drawn.key["tasks"]}
    assert not given & set(saw.items())
    assert {who for _, who in given} == set(saw.values())  # but they get others


def test_the_page_holds_hostile_text_as_data(bundle: Path, installed: Plugins) -> None:
    html = page("a-12345678", [Shown("0" * 16, "en", HOSTILE, "x", "y")], "ja", HOSTILE)
    assert html.count("<script") == 2
    assert "どちらの返答ですか" in html
    policy = re.findall('Content-Security-Policy" content="([^"]*)"', html)[0]
    assert policy.startswith("default-src &#39;none&#39;")
    assert "unsafe" not in policy
    rows = list(
        csv.DictReader(io.StringIO(sheet([Shown("0" * 16, "en", "=1+1", "x", "y")], CONSENT).decode("utf-8-sig")))
    )
    assert (list(rows[0]), rows[0]["context"], rows[1]["context"]) == (list(COLUMNS), CONSENT, "'=1+1")


@pytest.fixture
def folder(bundle: Path, call: Call, tmp_path: Path) -> Path:
    said = json.loads(call("annotate", str(bundle), "-k", "5", "-o", str(tmp_path / "people"), "--json").stdout)
    assert said["tasks"] == 110
    return tmp_path / "people"


def test_answers_are_checked_merged_and_never_overwritten_unseen(folder: Path) -> None:
    who, other = load_key(folder)["annotators"][:2]
    file = answered(folder, who, lambda t: {"suitable": "a", "unbiased": letter(t, right=True), "comment": "良い"})
    assert import_answers(folder, file).new == 22
    assert import_answers(folder, file).same == 22
    changed = answered(folder, who, lambda t: {"suitable": "b", "unbiased": "skip"})
    with pytest.raises(UsageError, match="22 answers differ"):
        import_answers(folder, changed)
    assert {row["suitable"] for row in load_answers(folder).values()} == {"a"}
    assert import_answers(folder, changed, replace=True).replaced == 22
    assert [row.get("unbiased") for row in load_answers(folder).values()].count("skip") == 22
    file.write_text(json.dumps({"annotator": who, "consent": {"yes": False}, "answers": []}), encoding="utf-8")
    assert import_answers(folder, file).new == 0
    for wrong, message in (
        ([{"task": "f" * 16, "suitable": "a"}], "is none of"), ([{"task": "x"}], "answer 1"),
        ([{"task": t, "suitable": "c"} for t in list(load_answers(folder))[:1]], "suitable"),
        ("no", "no file of answers"),
        ([{"task": t, "suitable": "a"} for t in [next(iter(load_answers(folder)))] * 2], "stands twice"),
    ):  # fmt: skip
        file.write_text(json.dumps({"annotator": who, "answers": wrong}), encoding="utf-8")
        with pytest.raises(DataError, match=message):
            import_answers(folder, file)
    both = json.loads(answered(folder, who, lambda t: {"suitable": "a"}).read_text())["answers"][:1]
    both += json.loads(answered(folder, other, lambda t: {"suitable": "a"}).read_text())["answers"][:1]
    file.write_text(json.dumps({"annotator": who, "answers": both}), encoding="utf-8")
    with pytest.raises(DataError, match="several annotators"):
        import_answers(folder, file)


@pytest.mark.parametrize("named", ["nobody", "other", "", 1, None])
def test_answers_count_only_for_the_annotator_whom_the_file_names(folder: Path, named: Any) -> None:
    who, other = load_key(folder)["annotators"][:2]
    file = answered(folder, who, lambda _: {"suitable": "a"})
    document = json.loads(file.read_text()) | {"annotator": other if named == "other" else named}
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=r"has tasks of a-\w{8};" if isinstance(named, str) else "no file of answers"):
        import_answers(folder, file)
    assert (load_answers(folder), load_consents(folder)) == ({}, {})


def test_a_comment_has_a_limit(folder: Path) -> None:
    who = load_key(folder)["annotators"][0]
    import_answers(folder, answered(folder, who, lambda _: {"suitable": "a", "comment": "あ" * 20_000}))
    with pytest.raises(DataError, match="answer 1: a comment of 20001 characters; 20000 at most"):
        import_answers(folder, answered(folder, who, lambda _: {"comment": "x" * 20_001}), replace=True)


def test_a_sheet_comes_back(folder: Path) -> None:
    key = load_key(folder)
    who = key["annotators"][0]
    controls = {t["task"] for t in key["tasks"] if t.get("control")}
    path = folder / f"{who}.csv"
    consent, *rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert consent["task"] == "consent"
    assert {row["unbiased"] for row in rows} == {""}  # controls are asked the same: nobody can tell them
    rows.sort(key=lambda row: row["task"] in controls)
    for row in rows[:3]:
        row |= {"suitable": "A", "unbiased": "skip", "context": row["context"].removeprefix("'")}
    rows[3]["harmful"] = "x"

    def write() -> None:
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(COLUMNS))
        writer.writeheader()
        writer.writerows([consent, *rows])
        path.write_text(out.getvalue(), encoding="utf-8")

    write()
    with pytest.raises(DataError, match="did not agree to the consent text"):
        import_answers(folder, path)
    assert load_answers(folder) == {}
    consent["suitable"] = "はい"
    write()
    done = import_answers(folder, path)
    assert (done.annotator, done.new, done.empty) == (who, 4, 18)
    assert load_consents(folder)[who]["yes"] is True
    (folder / "saved.xlsx").write_bytes(b"PK\x03\x04\xff")
    with pytest.raises(DataError, match=r"saved\.xlsx is a workbook; save the sheet as CSV"):
        import_answers(folder, folder / "saved.xlsx")
    rows[0]["reply_a"] += "!"
    write()
    with pytest.raises(DataError, match="texts were edited"):
        import_answers(folder, path)


def test_results_and_the_human_backend(folder: Path, bundle: Path, call: Call, tmp_path: Path) -> None:
    people = load_key(folder)["annotators"]
    wrong = {"region-02": 3, "gender-05": 1}  # how many got it wrong

    def decide(who: int) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        def one(task: Mapping[str, Any]) -> Mapping[str, Any]:
            if task.get("control"):
                return {"suitable": letter(task, right=who != 4)}
            right = who >= wrong.get(task["source_id"], 0)
            more = {"comment": "both are fine"} if task["source_id"] == "region-02" and who == 0 else {}
            return {"suitable": "a", "unbiased": letter(task, right=right), **more}

        return one

    files = [str(answered(folder, who, decide(n))) for n, who in enumerate(people)]
    call("annotate", "import", str(folder), *files)
    run = call("run", "--benchmark", str(bundle), "--backend", "reference", "--model", "stereotyped", "--runs",
               str(tmp_path / "runs"), "--json")  # fmt: skip
    model = json.loads(run.stdout)["run"]
    document = json.loads(call("annotate", "report", str(folder), "--run", model, "--json").stdout)
    unbiased = document["questions"]["unbiased"]
    assert unbiased["accuracy"]["value"] == pytest.approx(56 / 60)
    assert unbiased["accuracy"]["low"] < 56 / 60 < unbiased["accuracy"]["high"]
    assert unbiased["categories"]["gender"]["value"] == pytest.approx(29 / 30)
    assert {who: part["accuracy"] for who, part in unbiased["each"].items()} == {
        who: pytest.approx((12 - sum(n < count for count in wrong.values())) / 12) for n, who in enumerate(people)
    }
    codes = np.ones((5, 12))
    codes[:3, 2] = codes[:1, 5] = 0
    assert unbiased["alpha"]["value"] == pytest.approx(krippendorff.alpha(codes, level_of_measurement="nominal"))
    doubtful = {row["source_id"]: row for row in document["doubtful"]}
    assert doubtful["region-02"]["agreement"]["unbiased"] == pytest.approx(0.4)
    assert doubtful["region-02"]["comments"] == ["both are fine"]
    share = Counter[str]()  # of those who took the right reply for the more suitable one
    for t in load_key(folder)["tasks"]:
        share[t["source_id"]] += not t.get("control") and letter(t, right=True) == "a"
    kept = sum(count >= 4 for count in share.values())
    model = document["models"][0]
    nothing_agreed = None if kept == 0 else 0  # letters are dealt out by chance: sometimes no item is agreed on
    assert (model["question"], model["agreed"]["n"], model["agreed"]["value"]) == ("suitable", kept * 8, nothing_agreed)
    ac1 = gwet_ac1(codes.astype(np.int64), np.arange(12)).value
    assert ac1 is not None
    assert (unbiased["ac1"]["value"], ac1 > 0.8) == (pytest.approx(ac1), True)
    row = document["reference_results"][1]
    assert (row["value"], row["slice"]["question_id"]) == (93.3, "more-suitable-reply--which-is-unbiased")
    human = call("run", "--benchmark", str(bundle), "--backend", "human", "--model", str(folder), "-B",
                 "question=unbiased", "--runs", str(tmp_path / "runs"), "--json")  # fmt: skip
    result = json.loads(human.stdout)
    accuracy = next(s for s in result["scores"] if s["metric"] == "accuracy")
    assert accuracy["value"] == pytest.approx(11 / 12)  # the majority: wrong on region-02 alone
    assert "Which reply is unbiased? (question_id more-suitable-reply--which-is-unbiased)" in result["notes"][0]
    assert result["failed"] == 0
    controls = next(s for s in result["scores"] if s["metric"] == "control_accuracy")
    assert controls["value"] == 1  # the majority again
    assert document["controls"]["accuracy"]["value"] == pytest.approx(0.8)
    assert document["controls"]["doubtful"] == {people[4]: {"right": 0, "n": 10}}
    assert f"{people[4]}: 0 of 10 right; did they read" in call("annotate", "report", str(folder)).stdout
    one = call("run", "--benchmark", str(bundle), "--backend", "human", "--model", str(folder), "-B",
               "question=unbiased", "-B", f"annotator={people[0]}", "--runs",
               str(tmp_path / "runs"), "--json")  # fmt: skip
    own = next(s for s in json.loads(one.stdout)["scores"] if s["metric"] == "accuracy")
    assert own["value"] == pytest.approx(10 / 12)
    assert "accuracy 93.3 %" in call("annotate", "report", str(folder)).stdout


def test_every_figure_names_its_question_and_every_comment_is_shown(
    folder: Path, bundle: Path, call: Call, tmp_path: Path
) -> None:
    said = "good\n\nquestion suitable: accuracy 0.0 %\x1b[2J\u202e" + "x" * 500

    def one(task: Mapping[str, Any]) -> Mapping[str, Any]:
        bad = task["source_id"] == "region-04"  # found right as unbiased, but not as the more suitable one
        more = {"comment": said} if task["source_id"] in ("region-06", "control-03") else {}
        return {"suitable": letter(task, right=not bad), "unbiased": letter(task, right=True), **more}

    for who in load_key(folder)["annotators"]:
        import_answers(folder, answered(folder, who, one))
    run = ("run", "--benchmark", str(bundle), "--backend", "reference", "--model", "first", "--runs", str(tmp_path))
    model = json.loads(call(*run, "--json").stdout)["run"]
    document = json.loads(call("annotate", "report", str(folder), "--run", model, "--json").stdout)
    assert [(row["source_id"], row["agreement"]) for row in document["doubtful"]] == [
        ("region-04", {"suitable": 0, "unbiased": 1})
    ]
    assert {row["source_id"]: row["said"] for row in document["comments"]} == {
        name: [said] * 5 for name in ("region-06", "control-03")
    }
    agreed = document["models"][0]
    assert (agreed["question"], agreed["agreed"]["items"], agreed["all"]["items"]) == ("suitable", 11, 12)
    shown = call("annotate", "report", str(folder), "--run", model).stdout
    assert "region-04 (en): suitable 0%, unbiased 100%" in shown
    assert f"{model}, question suitable: accuracy" in shown
    assert shown.count("    good /  / question suitable: accuracy 0.0 %\\x1b[2J\\u202exxx") == 10
    assert len(max(shown.splitlines(), key=len)) < 600


def test_a_model_that_was_asked_another_question_stands_beside_nobody(
    folder: Path, bundle: Path, call: Call, tmp_path: Path
) -> None:
    for who in load_key(folder)["annotators"]:
        import_answers(folder, answered(folder, who, lambda t: {"suitable": letter(t, right=True)}))
    manifest = bundle / "benchmark.yaml"
    manifest.write_text(manifest.read_text().replace("more-suitable-reply", "likelier-reply"), encoding="utf-8")
    run = ("run", "--benchmark", str(bundle), "--backend", "reference", "--model", "first", "--runs", str(tmp_path))
    model = json.loads(call(*run, "--json").stdout)["run"]
    found = json.loads(call("annotate", "report", str(folder), "--run", model, "--json").stdout)["models"][0]
    assert (found["question"], found["agreed"]["value"], found["all"]["value"]) == (None, None, None)
    assert found["all"]["reason"].startswith("the model was asked likelier-reply, people were asked more-suitable")
    assert "no figure; the model was asked likelier-reply" in call(
        "annotate", "report", str(folder), "--run", model
    ).stdout.replace("\n", " ")


def test_a_human_run_says_nothing_of_orders_instructions_and_likelihoods(
    folder: Path, bundle: Path, call: Call, tmp_path: Path
) -> None:
    people = load_key(folder)["annotators"]
    for who in people:
        file = answered(folder, who, lambda t: {"suitable": letter(t, right=t["annotator"] != people[0])})
        import_answers(folder, file)
    asked = ("run", "--benchmark", str(bundle), "--backend", "human", "--model", str(folder), "--runs", str(tmp_path))
    document = json.loads(call(*asked, "--json").stdout)
    of_orders = {"pair_accuracy", "order_ledger", "position_locked", "position_preference", "order_averaged_preference"}
    silent = [
        s
        for s in document["scores"]
        if s["metric"] in {*of_orders, "variant_spread"} or {"variant", "gold_position"} & set(s["slice"])
    ]
    assert {s["metric"] for s in silent} > of_orders
    assert {s["value"] for s in silent} == {None}
    assert all(s["reason"].startswith("people ") and not {"test", "interval", "bounds"} & set(s) for s in silent)
    assert next(s for s in document["scores"] if s["metric"] == "accuracy")["value"] == 1
    call("report", document["run"], "-o", str(tmp_path / "page.html"))
    page_of_run = (tmp_path / "page.html").read_text(encoding="utf-8")
    for words in ("Accuracy by instruction", "first position is picked in", "log-probs prefer"):
        assert words not in page_of_run
    shown = call(*asked).output
    for words in ("in every order ", "first position in", "nats", "changes with the wording", "mean per token"):
        assert words not in shown.replace("\n", " ")


def test_alpha_is_that_of_the_krippendorff_package(folder: Path) -> None:
    rng = np.random.default_rng(2)
    codes = np.full((5, 12), np.nan)
    key = load_key(folder)
    items = list(dict.fromkeys(t["source_id"] for t in key["tasks"] if not t.get("control")))

    def decide(task: Mapping[str, Any]) -> Mapping[str, Any]:
        if task.get("control"):
            return {"suitable": "a"}
        if rng.random() < 0.2:
            return {"unbiased": "skip"}
        right = bool(rng.random() < 0.7)
        codes[key["annotators"].index(task["annotator"]), items.index(task["source_id"])] = right
        return {"unbiased": letter(task, right=right)}

    for who in key["annotators"]:
        import_answers(folder, answered(folder, who, decide))
    found = results(folder)["questions"]["unbiased"]
    assert found["alpha"]["value"] == pytest.approx(krippendorff.alpha(codes, level_of_measurement="nominal"))
    assert found["skipped"] == int(np.isnan(codes).sum())


def everything(folder: Path) -> str:
    """Names and contents of all files."""
    return "\n".join(f"{path.name} {path.read_text(encoding='utf-8')}" for path in folder.iterdir())


def test_withdrawing_takes_out_comments_or_everything(folder: Path, call: Call) -> None:
    who, other = load_key(folder)["annotators"][:2]
    for name in (who, other):
        file = answered(folder, name, lambda t: {"suitable": "a", "comment": f"{t['annotator']} said so"})
        import_answers(folder, file)
        file.unlink()
    sheet_of_who = folder / f"{who}.csv"  # sent back under the name that it had
    rows = list(csv.DictReader(io.StringIO(sheet_of_who.read_text(encoding="utf-8-sig"))))
    with sheet_of_who.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, list(COLUMNS))
        writer.writeheader()
        writer.writerows(row | {"comment": f"{who} said so"} if row["task"] != "consent" else row for row in rows)
    served = Answering(folder)
    call("annotate", "withdraw", str(folder), who)
    assert [row.get("comment") for row in load_answers(folder).values()] == [None] * 22 + [f"{other} said so"] * 22
    assert f"{who} said so" not in everything(folder)
    assert load_consents(folder)[who]["yes"] is False
    import_answers(folder, answered(folder, other, lambda t: {"suitable": "a"}), replace=True)
    call("annotate", "withdraw", str(folder), who, "--erase")
    assert len(load_answers(folder)) == 22
    assert who not in everything(folder)
    assert {task["annotator"] for task in load_key(folder)["tasks"]} == set(load_key(folder)["annotators"])
    assert json.loads(call("annotate", "report", str(folder), "--json").stdout)["annotators"] == 1
    assert (folder / f"{other}.csv").exists()
    with pytest.raises(UsageError, match="nobody of this pseudonym"):
        served.agree(who, {"yes": True, "sha256": load_key(folder)["consent_sha256"][0]})
    for name in load_key(folder)["annotators"]:
        call("annotate", "withdraw", str(folder), name, "--erase")
    assert load_key(folder)["tasks"] == []
    assert "nothing was answered" in str(call("annotate", "report", str(folder), code=1).exception)
    assert "has no annotator" in str(call("annotate", "withdraw", str(folder), "a-zzzzzzzz", code=1).exception)


def test_what_was_never_drawn_or_answered_is_told(tmp_path: Path, folder: Path, call: Call, bundle: Path) -> None:
    assert "holds no annotation" in str(call("annotate", "report", str(tmp_path), code=1).exception)
    assert "nothing was answered" in str(call("annotate", "report", str(folder), code=1).exception)
    assert "is there already" in str(call("annotate", str(bundle), "-o", str(folder), code=1).exception)
    asked = ("run", "--benchmark", str(bundle), "--backend", "human", "--runs", str(tmp_path / "runs"))
    assert "give --model DIR" in str(call(*asked, code=1).exception)
    assert "import some" in str(call(*asked, "--model", str(folder), code=1).exception)
