"""The frozen records that travel between stages: plain data, JSON in and out.

Data flows one way: seed -> item -> request -> response -> answer -> judgement -> score. Each record has a JSON
Schema of the same name under ``schemas/``; a test holds field names and required fields equal. In JSON, fields
that hold their default are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Mode = Literal["generate", "choices"]
PromptStyle = Literal["chat", "raw"]
Role = Literal["stereotyped", "anti-stereotyped", "unknown"]


class Outcome(StrEnum):
    """What became of one slot of one response. No outcome but ``answered`` ever counts as a label."""

    ANSWERED = "answered"
    REFUSED = "refused"
    UNPARSED = "unparsed"
    TRUNCATED = "truncated"  # cut before an answer, or inside an unclosed reasoning block
    TIED = "tied"  # equal scores
    ERROR = "error"
    # Only in judgements:
    ABSTAINED = "abstained"  # "unclear", "none of them"
    NO_MAJORITY = "no_majority"
    JUDGE_UNPARSED = "judge_unparsed"
    JUDGE_ERROR = "judge_error"


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a choice item: ``role`` says what choosing it would mean."""

    key: str
    text: str
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Seed:
    """One row of a bundle's items file, or what a reader yields. ``fields`` are what templates may use.

    ``cluster``, ``pair``, ``variant`` and ``order`` are set only by files that are already expanded.
    """

    source_id: str
    language: str  # BCP 47
    category: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    choices: tuple[Choice, ...] = ()
    gold: str | None = None
    target: str | None = None
    stereotype: str | None = None
    harm: str | None = None
    attested: str | None = None
    contested: bool = False
    cluster: str | None = None
    pair: str | None = None
    variant: str | None = None
    order: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """An expanded seed: one prompt to be, with its place in the design of the experiment.

    ``id`` is ``source/language/condition/variant/order/shot``. ``cluster`` names one independent observation,
    ``pair`` the items that differ only in order. ``order`` lists label or choice keys as they are presented.
    """

    id: str
    source_id: str
    language: str
    category: str
    cluster: str
    condition: str
    variant: str = ""
    order: tuple[str, ...] = ()
    pair: str | None = None
    shot: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)
    choices: tuple[Choice, ...] = ()
    gold: str | None = None
    target: str | None = None
    stereotype: str | None = None
    harm: str | None = None
    attested: str | None = None
    contested: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat turn."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How text is drawn. ``seed`` is the run's; a backend draws with ``biasfw.request_seed(request)``."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ChoiceText:
    """A continuation to score; ``text`` includes its terminator and may span lines."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a backend: ``messages`` (chat) or ``prompt`` (raw), and ``choices`` to score or none.

    ``key`` is the sha256 of the canonical (item id, messages or prompt, choices, sampling, repeat).
    ``references`` (what each reference model says) is attached in memory for the reference backend only: it is
    neither in the key nor stored.
    """

    key: str
    item_id: str
    sampling: Sampling
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    choices: tuple[ChoiceText, ...] = ()
    repeat: int = 0
    references: Mapping[str, str] | None = field(default=None, compare=False, metadata={"stored": False})


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """Log-probability of one choice: ``sum`` in nats over its tokens, null if it could not be scored.

    All choices of a request have one, each once. A null fails the response, unless a flag of it gives a bound below the
    likeliest choice: ``unlisted_KEY_at_most_VALUE`` (what lists of the likeliest tokens leave out).

    ``tokens`` and ``bytes`` count the scored continuation, ``token_ids`` are the tokens that were scored.
    """

    key: str
    sum: float | None
    tokens: int
    bytes: int
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseError:
    """Why a request got no answer. ``permanent``: asking again cannot help (context too small, content filter)."""

    kind: str
    message: str
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """What a backend returned for one request. ``seconds`` is wall time."""

    key: str
    text: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None  # stop, length, content_filter
    choice_logprobs: tuple[ChoiceScore, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    flags: tuple[str, ...] = ()
    error: ResponseError | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read for one slot: ``value`` is set only when ``outcome`` is ``answered`` or ``abstained``."""

    outcome: Outcome
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A parser's reading of a response, per slot (``choice``; ``modern``, ``stereotyped``; ...)."""

    slots: Mapping[str, Reading]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one response. ``key`` is the hash of judge, response key and response text."""

    key: str
    response_key: str
    slots: Mapping[str, Reading]
    response_outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)  # member -> slot -> reading
    rationale: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval and how it was made; ``low`` and ``high`` are null (with a reason) if it cannot be."""

    low: float | None
    high: float | None
    method: str
    level: float = 0.95
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """A test against a point or a null: ``p`` raw, ``p_adjusted`` over the score's ``family`` (Holm)."""

    __test__ = False  # not a pytest class

    null: str
    method: str
    p: float | None
    p_adjusted: float | None = None
    statistic: float | None = None
    null_mean: float | None = None
    null_q95: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """One number with everything needed to defend it. ``value`` null always has a ``reason``.

    ``slice`` says what it is about: ``{"category": "religion", "slot": "stereotyped", "label": "arabs"}``.
    ``bounds`` are the least and the greatest value that the missing answers could have given.
    """

    metric: str
    value: float | None
    unit: str
    n: int
    clusters: int
    denominator: str  # all, returned, answered
    slice: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    interval: Interval | None = None
    reference: float | None = None  # the value under uniform choice, where there is one
    test: Test | None = None
    ideal: float | None = None
    direction: Literal["higher", "lower", "toward-ideal", "none"] = "none"
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What a backend really loaded. On resume the first block must be equal; the rest is recorded and warned of."""

    model: str
    fingerprint: str
    architecture: str | None = None
    quantisation: str | None = None
    dtype: str | None = None
    template_sha256: str | None = None
    # May change between sittings:
    device: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what had to be changed: system text folded into the user turn, ...
