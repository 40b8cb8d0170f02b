"""What a run would use: tokens and, where the user says what a million of them cost, money. No price is known here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from biasfw.records import Request

MILLION = 1_000_000
EAST_ASIAN = re.compile("[\u2e80-\U0010ffff]+")  # about one character a token
AROUND = 16  # tokens that a chat template may put around a message, and at the beginning
PRICES = ("price_in", "price_out")  # options of backends that charge: for a million tokens of prompts and of answers
ROUGH = (
    "Tokens are rough: four characters of ASCII, two of another alphabet, one East Asian sign. "
    "At most: a byte a token, and every answer as long as it may be."
)


@dataclass(slots=True)
class Tokens:
    """Tokens of the prompts, about and at most; ``new_at_most`` of the answers."""

    about: float = 0
    at_most: int = 0
    new_at_most: int = 0

    def add(self, request: Request, texts: Iterable[str]) -> None:
        """Count a request: ``texts`` are its messages, or its prompt."""
        for text in texts:
            self.about += tokens_about(text)
            self.at_most += len(text.encode("utf-8", "surrogatepass")) + AROUND
        self.new_at_most += 1 if request.choices else request.sampling.max_tokens


def tokens_about(text: str) -> float:
    """About how many tokens a text has, by its scripts."""
    if text.isascii():
        return len(text) / 4
    plain = len(text.encode("ascii", "ignore"))
    east = len(text) - len(EAST_ASIAN.sub("", text))
    return plain / 4 + east + (len(text) - plain - east) / 2


def forecast(tokens: Tokens, requests: int, seen: Sequence[Mapping[str, Any]], *, scored: bool) -> dict[str, int]:
    """The tokens that so many requests need, by name.

    Where ``seen``, responses of the same model to the same benchmark, tell their tokens, prompts and answers are
    counted by their means. A backend that scores texts itself (``scored``) writes nothing.
    """
    told = {"prompt_tokens_about": round(tokens.about), "prompt_tokens_at_most": tokens.at_most}
    if (mean := _mean(seen, "prompt_tokens")) is not None:
        told["prompt_tokens_about"] = round(mean * requests)
    told["new_tokens_at_most"] = 0 if scored else tokens.new_at_most
    if not scored and (mean := _mean(seen, "completion_tokens")) is not None:
        told["new_tokens_about"] = round(mean * requests)
    return told


def cost(told: Mapping[str, int], options: Mapping[str, Any]) -> dict[str, float]:
    """What the tokens cost at the prices that the backend was given; nothing unless it was given both."""
    price_in, price_out = (options.get(name) for name in PRICES)
    if price_in is None or price_out is None:
        return {}
    costs = {}
    for kind in ("about", "at_most"):
        if f"new_tokens_{kind}" in told:
            money = price_in * told[f"prompt_tokens_{kind}"] + price_out * told[f"new_tokens_{kind}"]
            costs[f"cost_{kind}"] = float(f"{money / MILLION:.4g}")
    return costs


def missing_price(options: Mapping[str, Any]) -> str | None:
    """The price that is not given where the other one is."""
    given = [name for name in PRICES if options.get(name) is not None]
    return next(name for name in PRICES if name not in given) if len(given) == 1 else None


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """The mean of a number that every row has."""
    values = [row.get(name) for row in rows]
    numbers = [value for value in values if isinstance(value, int)]
    return fmean(numbers) if numbers and len(numbers) == len(values) else None
