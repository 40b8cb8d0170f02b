"""What a schema cannot say about an item: that it fits the manifest of its benchmark."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from biasfw.phrases import listed
from biasfw.records import Seed


class Flaw(NamedTuple):
    """What is wrong with an item, where in it (a JSON pointer), and the way out."""

    pointer: str
    message: str


def wrong(seed: Seed, manifest: Mapping[str, Any], categories: Collection[str]) -> str:
    """What is wrong with a seed, with the way out; "" if it fits."""
    found = flaw(seed, manifest, categories)
    return found.message if found else ""


def flaw(seed: Seed, manifest: Mapping[str, Any], categories: Collection[str]) -> Flaw | None:
    """The first thing that is wrong with a seed; None if it fits."""
    return next(flaws(seed, manifest, categories), None)


def flaws(seed: Seed, manifest: Mapping[str, Any], categories: Collection[str]) -> Iterator[Flaw]:
    """Everything that is wrong with a seed."""
    if seed.category not in categories:
        what = f"category {seed.category!r} is not in the manifest; it has: {', '.join(sorted(categories))}"
        yield Flaw("/category", what)
    variants = [each["key"] for each in manifest.get("instructions", ())]
    if seed.variant and variants and seed.variant not in variants and not _whole(manifest):
        yield Flaw(
            "/variant", f"variant {seed.variant!r} is no instruction of the manifest; it has: {listed(variants)}"
        )
    if manifest["task"] == "labels":
        return
    yield from _wrong_options(seed, manifest)
    if manifest["task"] == "sentence_pair":
        yield from _wrong_pair(seed)


def _whole(manifest: Mapping[str, Any]) -> bool:
    """Whether the items bring whole prompts, so that instructions are their own affair."""
    return all("user" in condition for condition in manifest["conditions"].values())


def _wrong_options(seed: Seed, manifest: Mapping[str, Any]) -> Iterator[Flaw]:
    keys = [choice.key for choice in seed.choices]
    texts = [choice.text.strip() for choice in seed.choices]
    letters = manifest.get("letters", {}).get(seed.language, ())
    if len(keys) < 2 and manifest["task"] == "choice":
        yield Flaw("/choices", f"a choice item has two or more options (choices), this one has {len(keys)}; add them")
    if letters and len(keys) > len(letters):  # a language without letters is none of the benchmark's: told elsewhere
        yield Flaw("/choices", f"it has {len(keys)} options, the manifest letters for {len(letters)}; add letters")
    if not all(texts):
        yield Flaw("/choices", "one of its options has no text but white space; write it")
    if len(set(keys)) < len(keys):
        yield Flaw("/choices", "two of its options have the same key; give each its own")
    if len(set(texts)) < len(texts):
        yield Flaw("/choices", "two of its options have the same text; nothing could be told from a pick")
    if seed.gold is not None and seed.gold not in keys:
        yield Flaw("/gold", f"gold {seed.gold!r} is none of its options; it has: {listed(keys)}")
    if seed.order and sorted(seed.order) != sorted(keys):
        what = f"order names {listed(seed.order)}, its options are {listed(keys)}; name each once"
        yield Flaw("/order", what)


def _wrong_pair(seed: Seed) -> Iterator[Flaw]:
    if len(seed.choices) != 2:
        yield Flaw("/choices", f"a sentence pair has two sentences (choices), this one has {len(seed.choices)}")
    elif {choice.role for choice in seed.choices} != {"stereotyped", "anti-stereotyped"}:
        what = "one sentence has the role stereotyped, the other anti-stereotyped; say which (role)"
        yield Flaw("/choices", what)
