"""What the README shows: the sample of a configuration file, and its list of keys."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from biasfw.config import RunConfig
from biasfw.juries import find
from biasfw.parsing import Texts, usual_bundle
from biasfw.plugins import Plugins

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.fixture(scope="module")
def text() -> str:
    if not README.is_file():
        pytest.skip("the README is not here (an installed copy)")
    return README.read_text(encoding="utf-8")


def test_the_sample_of_a_configuration_is_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    config = RunConfig.from_file(path, {})
    assert (config.benchmark, config.preset, config.languages) == ("debatebias", "contrast", ("en", "ko"))


def test_the_sample_of_a_panel_is_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "my-panel.yaml"
    path.write_text(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[1], encoding="utf-8")
    panel = find(str(path), {"name": "debatebias", "task": "labels"}, Plugins.installed())
    assert [member.name for member in panel.members] == ["rules", "small", "large"]


def test_every_key_of_a_configuration_is_named(text: str) -> None:
    listed = text[text.index("The keys are those of") :].partition(". A mistake")[0].partition("json`: ")[2]
    assert re.findall(r"\w+", listed) == [field.name for field in fields(RunConfig)]


def test_what_parse_is_shown_to_say_is_said(text: str) -> None:
    row = json.loads(re.findall(r"echo '(\{.*?\})' \| biasfw parse", text)[0])
    plugins = Plugins.installed()
    parser = plugins.find("parser", "labelled_lines")
    found = Texts(parser, plugins, usual_bundle(parser, plugins)).read(row)
    assert found["outcome"] == "unparsed"
    assert found["value"] == {"modern": "Arabs", "stereotyped": None}
    assert "two_names:stereotyped" in found["flags"]
