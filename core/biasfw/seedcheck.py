"""What a schema cannot say about an item: that it fits the manifest of its benchmark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from biasfw.phrases import listed
from biasfw.records import Seed


def wrong(seed: Seed, manifest: Mapping[str, Any], categories: Collection[str]) -> str:
    """What is wrong with a seed, with the way out; "" if it fits."""
    if seed.category not in categories:
        return f"category {seed.category!r} is not in the manifest; it has: {', '.join(sorted(categories))}"
    variants = [each["key"] for each in manifest.get("instructions", ())]
    if seed.variant and variants and seed.variant not in variants and not _whole(manifest):
        return f"variant {seed.variant!r} is no instruction of the manifest; it has: {listed(variants)}"
    if manifest["task"] == "labels":
        return ""
    return _wrong_options(seed, manifest) or (_wrong_pair(seed) if manifest["task"] == "sentence_pair" else "")


def _whole(manifest: Mapping[str, Any]) -> bool:
    """Whether the items bring whole prompts, so that instructions are their own affair."""
    return all("user" in condition for condition in manifest["conditions"].values())


def _wrong_options(seed: Seed, manifest: Mapping[str, Any]) -> str:
    keys = [choice.key for choice in seed.choices]
    letters = manifest.get("letters", {}).get(seed.language, ())
    flaws = (
        (len(keys) < 2, f"a choice item has two or more options (choices), this one has {len(keys)}; add them"),
        (
            "letters" in manifest and len(keys) > len(letters),
            f"it has {len(keys)} options, the manifest letters for {len(letters)}; add letters",
        ),
        (len(set(keys)) < len(keys), "two of its options have the same key; give each its own"),
        (
            len({choice.text.strip() for choice in seed.choices}) < len(keys),
            "two of its options have the same text; nothing could be told from a pick",
        ),
        (
            seed.gold is not None and seed.gold not in keys,
            f"gold {seed.gold!r} is none of its options; it has: {listed(keys)}",
        ),
        (
            bool(seed.order) and sorted(seed.order) != sorted(keys),
            f"order names {listed(seed.order)}, its options are {listed(keys)}; name each once",
        ),
    )
    return next((message for flawed, message in flaws if flawed), "")


def _wrong_pair(seed: Seed) -> str:
    if len(seed.choices) != 2:
        return f"a sentence pair has two sentences (choices), this one has {len(seed.choices)}"
    if {choice.role for choice in seed.choices} != {"stereotyped", "anti-stereotyped"}:
        return "one sentence has the role stereotyped, the other anti-stereotyped; say which (role)"
    return ""
