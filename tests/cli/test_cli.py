"""The command line as a user meets it: whole processes where start-up, pipes and exit codes matter."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import biasfw as biasfw_package
from biasfw import Request, Response
from biasfw.cli import app, builtin, main
from biasfw.cli._usage import refuse_empty
from biasfw.cli.show_ import MODELS
from biasfw.config import RunConfig
from biasfw.errors import UsageError
from biasfw.tasks import REFERENCE_MODELS
from biasfw_plugins.reference.backend import Reference

RUN = ["run", "--benchmark", "debatebias", "--backend", "reference", "--model", "random", "--language", "en"]
RUN += ["--limit", "8"]


def biasfw(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run biasfw as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "biasfw", *arguments],
        cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, env={**os.environ, **environment},
        timeout=120,
    )  # fmt: skip


def inside(*arguments: str, folder: Path) -> Result:
    """Run a command in this process, in ``folder``."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(app, list(arguments), standalone_mode=False)


def test_the_whole_line_and_its_json(tmp_path: Path) -> None:
    first = biasfw(*RUN, "--json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    document = json.loads(first.stdout)
    assert document["status"] == "complete"
    assert document["demo"] is True
    assert document["outcomes"] == {"modern": {"answered": 8}, "stereotyped": {"answered": 8}}
    assert (tmp_path / document["run"] / "responses.jsonl").is_file()
    assert document["scores"]
    table = biasfw(*RUN, cwd=tmp_path)
    assert table.returncode == 0
    for words in (
        "debatebias:demo", "machine-written, not reviewed by native speakers", "label_uniformity", "8 of 280 items",
        "What this is", "What it does not show", "outcomes per slot", "Two responses", document["run"],
    ):  # fmt: skip
        assert words in table.stdout
    assert "\x1b[" not in table.stdout, "plain text when piped"


def test_scores_and_judgements_of_a_stored_run(tmp_path: Path) -> None:
    directory = json.loads(biasfw(*RUN, "--json", cwd=tmp_path).stdout)["run"]
    scored = json.loads(biasfw("score", directory, "--metric", "decline_rate", "--json", cwd=tmp_path).stdout)
    assert {score["metric"] for score in scored["scores"]} == {"decline_rate"}
    judged = biasfw("judge", directory, "--json", cwd=tmp_path)
    assert judged.returncode == 0
    assert json.loads(judged.stdout)["outcomes"]["modern"] == {"answered": 8}
    assert "no run" in biasfw("score", "nowhere", cwd=tmp_path).stderr


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_help_and_list_are_fast_and_load_no_model_library(arguments: list[str]) -> None:
    code = (
        f"import sys, runpy; sys.argv = ['biasfw', *{arguments}]\n"
        "try: runpy.run_module('biasfw', run_name='__main__')\n"
        "except SystemExit as ended: assert not ended.code, ended.code\n"
        "heavy = set('torch transformers llama_cpp openai scipy numpy rich jsonschema'.split()) & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    tries = [_beside_click(arguments)]
    while tries[-1] >= 0.3 and len(tries) < 20:  # a busy neighbour makes some of them longer, never shorter
        tries.append(_beside_click(arguments))
    assert min(tries) < 0.3, tries


def _beside_click(arguments: list[str]) -> float:
    """Processor seconds of biasfw as on the machine of bench/RESULTS.md, where importing click takes 0.041 s."""
    click = _seconds([sys.executable, "-c", "import click"])
    return _seconds([sys.executable, "-m", "biasfw", *arguments]) / max(1.0, click / 0.045)


def _seconds(command: list[str]) -> float:
    """Processor seconds of a whole process: what it takes on a quiet machine, whatever else this one is doing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    "command", ["run", "judge", "score", "parse", "check", "new", "list", "show", "plugins", "doctor"]
)
def test_every_command_has_help_with_an_example(command: str, tmp_path: Path) -> None:
    shown = inside(command, "--help", folder=tmp_path)
    assert "Example:" in shown.output
    assert f"  {command} " in inside("--help", folder=tmp_path).output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "--backend", "reference"], 2, "no benchmark is named"),
        (["run", "--benchmark", "debatebias"], 2, "no backend is named"),
        (["run", "--benchmark", "debatebais", "--backend", "reference"], 2, "did you mean debatebias"),
        (["run", "--benchmark", "./nowhere", "--backend", "reference"], 1, "holds no benchmark.yaml"),
        ([*RUN, "-B", "threads"], 2, "is not KEY=VALUE"),
        ([*RUN, "-B", "threads=2"], 2, "threads"),
        ([*RUN, "--limt", "3"], 2, "no such option"),
        (
            [*RUN, "--mode", "choices", "--max-tokens", "9"],
            2,
            "--max-tokens has no effect under --mode choices, where no text is drawn; leave it out",
        ),
        (["rnu"], 2, "did you mean run"),
        (["show", "debatebais"], 2, "did you mean debatebias"),
        (["list", "benchmark"], 2, "benchmarks"),
        (
            ["run", "--jugde", "rules"],
            2,
            "no such option '--jugde'; did you mean '--judge', '--mode'? (see: biasfw run --help)",
        ),
        (["run", "--mode"], 2, "option '--mode' requires an argument (see: biasfw --help)"),
        (["run", "--limit", "few"], 2, "'few' is not a valid integer (see: biasfw run --help)"),
        (["export", "runs/x"], 2, "missing option '--to'"),
        (["report"], 2, "missing argument 'RUN...' (see: biasfw report --help)"),
        (["labels", "nosuch"], 2, "no such command 'nosuch' (see: biasfw labels --help)"),
        (["--nosuch"], 2, "(see: biasfw --help)"),
        (["run", "--benchmark", ""], 2, "--benchmark is empty; give a value, or leave the option out"),
        (["run", "--benchmark", "debatebias", "--judge", "", "--json"], 2, "--judge is empty"),
        (["run", "--data="], 2, "--data is empty"),
        (["run", "-B", ""], 2, "-B is empty"),
        (["fetch", "jubaku", "--from", ""], 2, "--from is empty"),
        (["score", ""], 2, 'an argument is empty (""); give a name or a path'),
        (["export", "runs/x", "--to", "csv", "-o", ""], 2, "-o is empty"),
        (["labels", "report", "runs/x", "--draw", ""], 2, "--draw is empty"),
        (["author", "write", "--by", "", "--context", ""], 2, "--by is empty"),
    ],
)
def test_mistakes_get_one_line_and_the_right_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["biasfw", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == code
    assert words in said
    assert "Traceback" not in said
    assert [line.startswith("error: ") for line in said.splitlines()] == [True]


def test_a_dry_run_asks_and_writes_nothing(tmp_path: Path) -> None:
    shown = inside(*RUN, "--mode", "choices", "--dry-run", folder=tmp_path)
    assert "8 of 280 items" in shown.output
    assert "requests: 16" in shown.output
    assert shown.output.count("--- ") == 3
    assert not list(tmp_path.rglob("run.json"))
    document = json.loads(inside(*RUN, "--dry-run", "--json", folder=tmp_path).stdout)
    assert document["requests"] == 8
    assert len(document["samples"]) == 3


def test_a_temperature_of_zero_is_not_the_default(tmp_path: Path) -> None:
    assert inside(*RUN, "--temperature", "0", "--json", "--quiet", folder=tmp_path).exit_code == 0
    info = json.loads(next(tmp_path.glob("runs/*/run.json")).read_text(encoding="utf-8"))
    assert info["config"]["temperature"] == 0
    assert info["protocol"]["sampling"]["temperature"] == 0


def test_show_tells_about_benchmarks_and_components(tmp_path: Path) -> None:
    bundle = inside("show", "debatebias", folder=tmp_path).output
    assert "not comparable with the paper" in bundle
    assert "content warning:" in bundle
    assert "published figures:" in bundle
    assert "arXiv 2511.01187" in bundle
    backend = inside("show", "llamacpp", folder=tmp_path).output
    assert "-B n_ctx=" in backend
    assert json.loads(inside("show", "debatebias", "--json", folder=tmp_path).stdout)["name"] == "debatebias"


def test_list_and_plugins_as_json(tmp_path: Path) -> None:
    rows = json.loads(inside("list", "--json", folder=tmp_path).stdout)
    assert {"debatebias:demo", "llamacpp", "reference", "labelled_lines", "rules", "label_share", "en"} <= {
        r["name"] for r in rows
    }
    rows = json.loads(inside("plugins", "--json", folder=tmp_path).stdout)
    assert all(row["error"] is None for row in rows if row["distribution"] == "biasfw")


def test_a_config_file_is_the_same_as_options(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        "benchmark: debatebias\nbackend: reference\nmodel: random\nlimit: 8\nlanguages: [en]\nruns: out\n",
        encoding="utf-8",
    )
    done = biasfw("run", "--config", "run.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"].startswith("out")
    assert (
        json.loads(biasfw("run", "--config", "run.yaml", "--limit", "4", "--json", cwd=tmp_path).stdout)["responses"]
        == 4
    )
    (tmp_path / "run.yaml").write_text("benchmark: debatebias\nbackend: reference\nmodell: random\n", encoding="utf-8")
    wrong = biasfw("run", "--config", "run.yaml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "run.yaml:3:1" in wrong.stderr
    assert "model" in wrong.stderr


def test_nothing_of_a_bundle_acts_on_the_terminal(tmp_path: Path) -> None:
    bundle = tmp_path / "debatebias"
    shutil.copytree(biasfw_package.shipped("benchmarks") / "debatebias", bundle)
    manifest = bundle / "benchmark.yaml"
    text = manifest.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^title: .*$", r'title: "evil \\x1b]0;owned\\x07 \\u202e title"', text)
    manifest.write_text(text, encoding="utf-8")
    here = [*RUN, "--benchmark", str(bundle)]
    for arguments in (["show", str(bundle)], here, [*here, "--dry-run"]):
        done = biasfw(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)
    assert "\\x1b" in biasfw("show", str(bundle), cwd=tmp_path).stdout


def test_a_closed_pipe_is_no_error() -> None:
    command = f"PYTHONUNBUFFERED=1 {sys.executable} -m biasfw list | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines()[-1] in ("0", "141")
    assert done.stderr == ""


def test_works_in_the_c_locale_and_reads_no_file_in_the_locale_encoding(tmp_path: Path) -> None:
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    assert biasfw("list", cwd=tmp_path, **plain).returncode == 0
    done = biasfw(*RUN, cwd=tmp_path, **plain)
    assert done.returncode == 0, done.stderr
    flags = ["-X", "warn_default_encoding", "-W", "default::EncodingWarning"]
    command = [sys.executable, *flags, "-m", "biasfw", *RUN, "--fresh"]
    strict = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert strict.returncode == 0, strict.stderr
    ours = str(Path(biasfw_package.__file__).parent)
    assert not [line for line in strict.stderr.splitlines() if "EncodingWarning" in line and line.startswith(ours)]


@pytest.mark.parametrize("name", ["broken_import", "unknown_hook_argument"])
def test_the_handed_broken_plugins_stop_nothing(cases: Path, name: str) -> None:
    done = biasfw("--help", PYTHONPATH=str(cases / "plugins" / name))
    assert done.returncode == 0
    assert "Measure social bias" in done.stdout
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
    assert len(warnings) == 1
    entry, distribution = {
        "broken_import": ("broken", "biasfw-broken 0.1"),
        "unknown_hook_argument": ("future", "biasfw-future 0.1"),
    }[name]
    assert entry in warnings[0]
    assert distribution in warnings[0]


def test_the_handed_twins_are_both_named(cases: Path) -> None:
    one, two = (str(cases / "plugins" / f"collision_{name}") for name in ("one", "two"))
    for path in (f"{one}:{two}", f"{two}:{one}"):
        done = biasfw("list", PYTHONPATH=path)
        assert "biasfw-coll-one" in done.stderr
        assert "biasfw-coll-two" in done.stderr
        assert "Traceback" not in done.stderr
        assert "debatebias" in done.stdout


def test_show_knows_languages_and_reference_models(tmp_path: Path) -> None:
    shown = inside("show", "ko", folder=tmp_path).output
    assert "language: ko" in shown
    assert "name: Korean" in shown
    for model in REFERENCE_MODELS:
        known = json.loads(inside("show", model, "--json", folder=tmp_path).stdout)
        assert known["backend"] == "reference"
        assert known["answers"]
    assert set(MODELS) == set(REFERENCE_MODELS)


def test_a_kind_of_which_there_is_none_is_told(tmp_path: Path) -> None:
    assert inside("list", "commands", folder=tmp_path).output == "no commands are installed\n"


def test_a_dry_run_names_languages_and_the_time_of_a_stored_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = [*RUN, "--dry-run", "--json"]
    before = json.loads(inside(*dry, folder=tmp_path).stdout)
    assert before["languages"] == ["en"]
    assert "seconds_about" not in before

    def answer(_: Reference, request: Request) -> Response:
        return Response(request.key, text="MODERN GROUP: Arabs\nSTEREOTYPED GROUP: Western", seconds=2.5)

    monkeypatch.setattr(Reference, "_answer", answer)
    assert inside(*RUN, "--limit", "4", "--quiet", folder=tmp_path).exit_code == 0
    after = json.loads(inside(*dry, folder=tmp_path).stdout)
    assert after["seconds_about"] == 20, "eight requests at 2.5 s"
    assert after["measured_in"].startswith("runs")
    for other in (["--mode", "choices"], ["--model", "first"]):
        assert "seconds_about" not in json.loads(inside(*dry, *other, folder=tmp_path).stdout)


def test_a_text_may_be_emptied(tmp_path: Path) -> None:
    command = builtin()["author"]
    refuse_empty(command, ["write", "--by", "mika", "--context", "", "--unbiased="])
    with pytest.raises(UsageError, match="--group is empty"):
        refuse_empty(command, ["join", "--group="])


def test_no_option_takes_an_empty_name(tmp_path: Path) -> None:
    """Every option of every command that is no free text."""

    def options(command: click.Command) -> list[click.Option]:
        below = command.commands.values() if isinstance(command, click.Group) else ()
        own = [each for each in command.params if isinstance(each, click.Option)]
        return [*own, *(each for one in below for each in options(one))]

    found = 0
    for command in builtin().values():
        for option in options(command):
            if not option.is_flag and option.metavar != "TEXT":
                found += 1
                with pytest.raises(UsageError, match="is empty"):
                    refuse_empty(command, [option.opts[0], ""])
    assert found > 50


def test_a_configuration_file_takes_no_empty_name_either(tmp_path: Path) -> None:
    for name in ("judge", "data", "model", "preset", "parser", "encoding"):
        with pytest.raises(UsageError, match=name):
            RunConfig.from_mapping({"benchmark": "debatebias", "backend": "reference", name: ""})


def test_a_plugin_that_is_pinned_but_not_installed_is_warned_of() -> None:
    said = biasfw("list", "metrics", BIASFW_PLUGINS="nosuch,reference")
    assert said.returncode == 0
    assert said.stderr.count("\n") == 1
    assert "warning: BIASFW_PLUGINS names 'nosuch', which is not installed; besides biasfw's own there are:" in (
        said.stderr
    )
    unknown = biasfw("show", "my-metric", BIASFW_PLUGINS="nosuch")
    assert unknown.returncode == 2
    assert biasfw("list", "metrics", BIASFW_PLUGINS="").stderr == ""


def test_show_of_a_backend_with_models_names_all_of_them(tmp_path: Path) -> None:
    text = inside("show", "reference", folder=tmp_path).output
    for name in REFERENCE_MODELS:
        assert f"--model {name}" in text
    assert "..." not in text
    assert json.loads(inside("show", "reference", "--json", folder=tmp_path).output)[0]["models"] == [*REFERENCE_MODELS]
