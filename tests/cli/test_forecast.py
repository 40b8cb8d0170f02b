"""What `biasfw run --dry-run` says of tokens and cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from biasfw import Request, Response
from biasfw.cli import app
from biasfw.cli._forecast import Tokens, cost, tokens_about
from biasfw.records import ChoiceText, Sampling
from biasfw_plugins.reference.backend import Reference

JUBAKU = ("run", "--benchmark", "jubaku:demo", "--limit", "8", "--dry-run")
API = (*JUBAKU, "--backend", "openai", "--model", "some-model")
PRICES = ("-B", "price_in=0.5", "-B", "price_out=2")


def told(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*arguments, "--json"], standalone_mode=False, catch_exceptions=False)
    return dict(json.loads(done.stdout))


def shown(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments], standalone_mode=False, catch_exceptions=False)


def test_tokens_are_counted_by_script() -> None:
    assert tokens_about("four" * 10) == 10
    assert tokens_about("返答") == 2
    assert tokens_about("ابجد") == 2
    assert tokens_about("A返ب") == 0.25 + 1 + 0.5


def test_a_request_has_at_most_a_token_a_byte() -> None:
    tokens = Tokens()
    tokens.add(Request("k", "i", Sampling(), prompt="返答"), ["返答"])
    assert tokens.at_most >= 6, "the bytes of the text"
    assert tokens.new_at_most == Sampling().max_tokens
    tokens.add(Request("k", "i", Sampling(), prompt="A", choices=(ChoiceText("a", "A"),)), ["A", "\ud800"])
    assert tokens.new_at_most == Sampling().max_tokens + 1, "a letter is one token"


def test_the_cost_is_that_of_the_prices_given() -> None:
    tokens = {"prompt_tokens_about": 1_000_000, "prompt_tokens_at_most": 4_000_000, "new_tokens_at_most": 500_000}
    prices = {"price_in": 0.5, "price_out": 2}
    assert cost(tokens, prices) == {"cost_at_most": 3.0}, "how much is written is not known before"
    assert cost({**tokens, "new_tokens_about": 100_000}, prices) == {"cost_about": 0.7, "cost_at_most": 3.0}
    assert cost(tokens, {"price_in": 0.5}) == {}
    assert cost(tokens, {"price_in": 0, "price_out": 0}) == {"cost_at_most": 0.0}


def test_a_dry_run_tells_bounds_and_no_price_of_its_own() -> None:
    document = told(*API, "--mode", "generate")
    assert document["requests"] == 8
    assert document["new_tokens_at_most"] == 80
    assert 1_500 < document["prompt_tokens_about"] < document["prompt_tokens_at_most"]
    assert not [name for name in document if "cost" in name]
    assert told(*API, "--mode", "choices")["new_tokens_at_most"] == 8


def test_with_prices_a_dry_run_tells_the_cost() -> None:
    document = told(*API, "--mode", "generate", *PRICES)
    most = (document["prompt_tokens_at_most"] * 0.5 + document["new_tokens_at_most"] * 2) / 1_000_000
    assert document["cost_at_most"] == pytest.approx(most, rel=1e-3)
    done = shown(*API, "--mode", "generate", *PRICES)
    assert f"\ncost at most: {document['cost_at_most']}\n" in done.stdout
    assert "cost is that of the prices given" in done.stderr


def test_with_one_price_the_other_is_asked_for() -> None:
    done = shown(*API, "-B", "price_in=0.5")
    assert "price_out is missing" in done.stderr
    assert "cost at most" not in done.stdout


def test_a_stored_run_of_the_same_model_says_how_many_tokens_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_: Reference, request: Request) -> Response:
        return Response(request.key, text="A", prompt_tokens=500, completion_tokens=3, seconds=0.5)

    monkeypatch.setattr(Reference, "_answer", answer)
    run = ("--backend", "reference", "--model", "first", "--mode", "generate", "--runs", str(tmp_path))
    assert shown("run", *JUBAKU[1:-1], *run, "--quiet").exit_code == 0
    document = told(*JUBAKU, *run)
    assert document["prompt_tokens_about"] == 4000
    assert document["new_tokens_about"] == 24
    assert document["seconds_about"] == 4
