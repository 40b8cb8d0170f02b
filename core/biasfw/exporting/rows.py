"""The rows of an export: a request, its response and its judgements, flat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from biasfw.codec import dumps
from biasfw.comparing.columns import slots_of
from biasfw.keys import sha256_json
from biasfw.storedrun import Asked, Record, StoredRun

Kind = Literal["text", "integer", "number", "truth"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column and what its cells hold; any cell may be empty."""

    name: str
    kind: Kind = "text"


_OF_RUN = (
    Column("run"), Column("benchmark"), Column("version"), Column("demo", "truth"), Column("canary"),
    Column("backend"), Column("model"), Column("mode"), Column("prompt_style"),
)  # fmt: skip
_OF_ITEM = (
    Column("item"), Column("item_sha256"), Column("source_id"), Column("cluster"), Column("pair"),
    Column("condition"), Column("language"), Column("category"), Column("variant"), Column("order"),
    Column("shot", "integer"), Column("repeat", "integer"), Column("gold"), Column("target"),
)  # fmt: skip
# Texts of the benchmark: not where passing them on is forbidden.
_TEXTS = (Column("prompt"), Column("choices"), Column("fields"), Column("stereotype"), Column("harm"))
_OF_RESPONSE = (
    Column("key"), Column("prompt_sha256"), Column("text"), Column("reasoning"), Column("finish_reason"),
    Column("prompt_tokens", "integer"), Column("completion_tokens", "integer"), Column("seconds", "number"),
    Column("flags"), Column("logprobs"), Column("error"), Column("error_message"),
)  # fmt: skip


class Flat:
    """A stored run as rows; what is nested stands in a cell as JSON. Ids and hashes are always there."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._judges = {name: run.judgements(name) for name in sorted(run.judges())}
        self.withheld = run.bundle.manifest["redistribution"] == "forbidden"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in their order."""
        judged = [
            Column(f"{judge}.{what}")
            for judge in self._judges
            for what in (
                *(f"{slot}.{part}" for slot in slots_of(self._run) for part in ("outcome", "value")),
                "flags",
                "rationale",
                "votes",
            )
        ]
        return (*_OF_RUN, *_OF_ITEM, *(() if self.withheld else _TEXTS), *_OF_RESPONSE, *judged)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per request, in their order; a request without a response has the outcomes of none."""
        run, info = self._run, self._run.info
        common = {
            "run": run.path.resolve().name,
            "benchmark": run.name,
            "version": info["benchmark"]["version"],
            "demo": run.demo,
            "canary": run.bundle.manifest["canary"],
            "backend": info["config"]["backend"],
            "model": run.model,
            "mode": run.mode,
            "prompt_style": run.protocol.get("prompt_style"),
        }
        files = run.files
        for asked in run.asked:
            source = files.responses if asked.key in files.responses.index else files.failures
            response = source.read(asked.key) if asked.key in source.index else {}
            item = run.items[asked.item]
            texts = {} if self.withheld else _texts(item, files.requests.read(asked.key))
            judged = self._judged(asked.key)
            yield {**common, **_item(item, asked), **texts, **_response(response, asked), **judged}

    def _judged(self, key: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for judge, judgements in self._judges.items():
            judgement = judgements.get(key)
            if judgement is None or self._run.files.outdated(judgement):
                continue
            for slot, reading in judgement["slots"].items():
                found[f"{judge}.{slot}.outcome"] = reading["outcome"]
                found[f"{judge}.{slot}.value"] = reading.get("value")
            found[f"{judge}.flags"] = _joined(judgement.get("flags"))
            found[f"{judge}.rationale"] = judgement.get("rationale")
            found[f"{judge}.votes"] = _json(judgement.get("votes"))
        return found


def _item(item: Record, asked: Asked) -> dict[str, Any]:
    named = ("source_id", "cluster", "pair", "condition", "language", "category", "variant", "gold", "target")
    return {
        "item": asked.item,
        "item_sha256": sha256_json(item),
        **{name: item.get(name) for name in named},
        "order": _joined(item.get("order")),
        "shot": item.get("shot", 0),
        "repeat": asked.repeat,
    }


def _texts(item: Record, request: Record) -> dict[str, Any]:
    turns = [f"[{message['role']}]\n{message['content']}" for message in request.get("messages", ())]
    return {
        "prompt": request.get("prompt") or "\n\n".join(turns),
        "choices": _json(item.get("choices")),
        "fields": _json(item.get("fields")),
        "stereotype": item.get("stereotype"),
        "harm": item.get("harm"),
    }


def _response(response: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    named = ("text", "reasoning", "finish_reason", "prompt_tokens", "completion_tokens", "seconds")
    error = response.get("error") or {}
    scores = {score["key"]: score.get("sum") for score in response.get("choice_logprobs", ())}
    return {
        "key": asked.key,
        "prompt_sha256": asked.prompt,
        **{name: response.get(name) for name in named},
        "flags": _joined(response.get("flags")),
        "logprobs": _json(scores),
        "error": error.get("kind"),
        "error_message": error.get("message"),
    }


def _joined(values: Any) -> str | None:
    return "|".join(values) if values else None


def _json(value: Any) -> str | None:
    return dumps(value) if value else None
