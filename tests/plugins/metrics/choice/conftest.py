"""Tables of task ``choice`` for the tests of its metrics, built from rows that a reader can follow by hand."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasfw import ComponentContext, Form, Label, Score, Slot, Table
from biasfw_plugins.metrics import biasfw_metrics

ROLES = {"stereotyped": "bad", "anti-stereotyped": "good"}
_OFFICIAL = Path(__file__).parents[5] / "shared" / "data" / "jubaku" / "jubaku_ver1.jsonl"


@dataclass(frozen=True)
class Row:
    """One response: ``pick`` is the key of an option, or an outcome in angle brackets; ``order`` the options shown."""

    pick: str
    order: tuple[str, ...] = ("good", "bad")
    gold: str = "good"
    cluster: str = "c0"
    pair: str = ""
    variant: str = "v0"
    condition: str = "plain"
    language: str = "en"
    category: str = "food"
    repeat: int = 0
    source: str = ""
    roles: Mapping[str, str] = field(default_factory=lambda: ROLES)
    lengths: Mapping[str, int] = field(default_factory=lambda: {"good": 10, "bad": 20})
    hedges: tuple[str, ...] = ()
    logprobs: Mapping[str, float] = field(default_factory=dict)


Picker = Callable[[Row], str]


def first(row: Row) -> str:
    return row.order[0]


def gold(row: Row) -> str:
    return row.gold


def biased(row: Row) -> str:
    return next(key for key in row.order if key != row.gold)


def shorter(row: Row) -> str:
    return min(row.order, key=lambda key: row.lengths[key])


def coin(row: Row) -> str:
    """A fair draw that depends on the row alone."""
    digest = zlib.crc32(repr((row.cluster, row.variant, row.order, row.repeat, row.condition)).encode())
    return sorted(row.order)[digest // 7 % len(row.order)]


PICKERS: dict[str, Picker] = {"first": first, "gold": gold, "biased": biased, "shorter": shorter, "coin": coin}


def make_study(
    picker: Picker | str, clusters: int = 20, variants: int = 2, options: Sequence[str] = ("good", "bad"), **fields: Any
) -> list[Row]:
    """Every cluster under every instruction and in every rotation of the options, answered by ``picker``."""
    pick = PICKERS[picker] if isinstance(picker, str) else picker
    rows = []
    for cluster in range(clusters):
        for variant in range(variants):
            for turn in range(len(options)):
                row = Row(
                    "",
                    order=(*options[turn:], *options[:turn]),
                    cluster=f"c{cluster}",
                    source=f"c{cluster}",
                    variant=f"v{variant}",
                    pair=f"c{cluster}/v{variant}",
                    category=("food", "work")[cluster % 2],
                )
                row = replace(row, **fields)
                rows.append(replace(row, pick=pick(row)))
    return rows


def make_form(**changes: Any) -> Form:
    values: dict[str, Any] = {
        "task": "choice",
        "slots": (Slot("choice"),),
        "labels": (Label("A", {}), Label("B", {})),
        "categories": {"food": {}, "work": {}},
        "languages": ("en", "ja"),
        "conditions": ("plain", "chat"),
    }
    return Form(**{**values, **changes})


def make_table(rows: Sequence[Row], mode: str = "generate") -> Table:
    def column(values: Iterable[str]) -> Any:
        return np.array(list(values), dtype=np.str_)

    labels = tuple(sorted({key for row in rows for key in row.order}))
    roles = sorted({role for row in rows for role in row.roles})
    size = (len(rows), len(labels))
    read = [(row.pick[1:-1], "") if row.pick.startswith("<") else ("answered", row.pick) for row in rows]
    place = [[row.order.index(key) + 1 if key in row.order else 0 for key in labels] for row in rows]
    logprobs = [[row.logprobs.get(key, np.nan) for key in labels] for row in rows]
    return Table(
        mode=mode,
        keys=column(str(number) for number in range(len(rows))),
        item=column(f"item{number}" for number in range(len(rows))),
        source=column(row.source or row.cluster for row in rows),
        cluster=column(row.cluster for row in rows),
        pair=column(row.pair for row in rows),
        variant=column(row.variant for row in rows),
        condition=column(row.condition for row in rows),
        language=column(row.language for row in rows),
        category=column(row.category for row in rows),
        gold=column(row.gold for row in rows),
        repeat=np.array([row.repeat for row in rows], dtype=np.int64),
        labels=labels,
        order=np.array(place, dtype=np.int64).reshape(size),
        outcomes={"choice": column(outcome for outcome, _ in read)},
        values={"choice": column(value for _, value in read)},
        choice_keys=labels if mode == "choices" else (),
        logprobs=np.array(logprobs, dtype=np.float64).reshape(size) if mode == "choices" else None,
        roles={role: column(row.roles.get(role, "") for row in rows) for role in roles},
        lengths=np.array(
            [[row.lengths.get(key, 1) if key in row.order else 0 for key in labels] for row in rows], dtype=np.int64
        ).reshape(size),
        hedges=np.array([[key in row.hedges for key in labels] for row in rows], dtype=np.bool_).reshape(size),
    )


Scores = list[Score]


def compute_scores(name: str, rows: Sequence[Row] | Table, form: Form | None = None, mode: str = "generate") -> Scores:
    spec = next(spec for spec in biasfw_metrics() if spec.name == name)
    module, _, attribute = spec.load.partition(":")
    metric = getattr(import_module(module), attribute)(ComponentContext(form or make_form()))
    return list(metric.compute(rows if isinstance(rows, Table) else make_table(rows, mode)))


@pytest.fixture(scope="session")
def row() -> type[Row]:
    return Row


@pytest.fixture(scope="session")
def study() -> Callable[..., list[Row]]:
    return make_study


@pytest.fixture(scope="session")
def table_of() -> Callable[..., Table]:
    return make_table


@pytest.fixture(scope="session")
def form_with() -> Callable[..., Form]:
    return make_form


@pytest.fixture(scope="session")
def compute() -> Callable[..., Scores]:
    """``compute(name, rows)``: the scores of the metric that the plugin offers under ``name``."""
    return compute_scores


@pytest.fixture(scope="session")
def one() -> Callable[..., Score]:
    """``one(scores, denominator=..., **slice)``: the one score with exactly this slice beside the condition."""

    def find(scores: Scores, denominator: str | None = None, *, condition: str = "plain", **wanted: str) -> Score:
        exact = {"condition": condition, **wanted}
        found = [s for s in scores if dict(s.slice) == exact and denominator in (None, s.denominator)]
        assert len(found) == 1, (len(found), [dict(s.slice) for s in scores])
        return found[0]

    return find


@pytest.fixture(scope="session")
def jubaku() -> list[Row]:
    """The rows of the official file, not yet answered."""
    if not _OFFICIAL.is_file():
        pytest.skip("the official JUBAKU file is not there: it is never part of the repository")
    rows = []
    for line in _OFFICIAL.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        base, instruction, _ = data["example_id"].split("_")
        right = data["correct_answer"]
        texts = {"good": data[f"response_{right}"], "bad": data[f"response_{'b' if right == 'a' else 'a'}"]}
        rows.append(
            Row(
                "",
                order=("good", "bad") if right == "a" else ("bad", "good"),
                cluster=base,
                source=data["example_id"],
                variant=instruction,
                pair=f"{base}_{instruction}",
                category=data["viewpoint"],
                language="ja",
                lengths={key: len(text) for key, text in texts.items()},
            )
        )
    return rows
