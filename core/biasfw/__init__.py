"""biasfw: measures social bias in large language models, in any language and culture.

This module is the public API that plugins may use; everything else is private. Names are imported on first use,
so that ``import biasfw`` is fast and loads no model library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from biasfw.cautions import Caution, ranking
    from biasfw.config import RunConfig
    from biasfw.contracts import (
        Backend,
        BackendSettings,
        Case,
        ComponentContext,
        Judge,
        Metric,
        Panel,
        Parser,
        Reader,
        Reporter,
        RequestSequence,
    )
    from biasfw.engine import RunResult, run
    from biasfw.errors import BiasfwError, ComponentError, DataError, IncompleteError, StoreError, UsageError
    from biasfw.filedigests import file_digest
    from biasfw.form import Form, Label, Merge, Slot
    from biasfw.hedging import folded
    from biasfw.hookspecs import API_VERSION, hookimpl
    from biasfw.keys import request_seed, sha256_file, sha256_text
    from biasfw.languages import LanguagePack
    from biasfw.ordering import by_beginning
    from biasfw.records import (
        Answer,
        Choice,
        ChoiceScore,
        ChoiceText,
        Identity,
        Interval,
        Item,
        Judgement,
        Message,
        Outcome,
        Reading,
        Request,
        Response,
        ResponseError,
        Sampling,
        Score,
        Seed,
        Test,
    )
    from biasfw.rescoring import judge, score
    from biasfw.resources import shipped
    from biasfw.runview import RunRow, RunRows, RunScores, RunView, view_run
    from biasfw.specs import (
        BackendSpec,
        CommandSpec,
        ComponentSpec,
        JudgeSpec,
        MetricSpec,
        ParserSpec,
        ReaderSpec,
        ReporterSpec,
    )
    from biasfw.stats import (
        Estimate,
        MultinomialNull,
        NullStatistic,
        Standing,
        clustered_mean,
        clustered_proportion,
        holm,
        largest_share_limits,
        miller_madow,
        multinomial_null,
        plugin_entropy,
        point_test,
        proportion_from_cluster_sums,
        sign_flip,
        sign_flips,
        simultaneous_level,
        standing,
        stratified_proportion,
        total_variation,
        total_variation_test,
        variation_limits,
        wilson,
    )
    from biasfw.table import Table
    from biasfw.templates import compile_template
    from biasfw.textfile import read_csv, read_jsonl

# Where each public name lives; a test holds this, __all__ and the imports above equal.
_NAMES = {
    "biasfw.cautions": "Caution ranking",
    "biasfw.config": "RunConfig",
    "biasfw.contracts": (
        "Backend BackendSettings Case ComponentContext Judge Metric Panel Parser Reader Reporter RequestSequence"
    ),
    "biasfw.engine": "RunResult run",
    "biasfw.errors": "BiasfwError ComponentError DataError IncompleteError StoreError UsageError",
    "biasfw.filedigests": "file_digest",
    "biasfw.form": "Form Label Merge Slot",
    "biasfw.hedging": "folded",
    "biasfw.hookspecs": "API_VERSION hookimpl",
    "biasfw.keys": "request_seed sha256_file sha256_text",
    "biasfw.languages": "LanguagePack",
    "biasfw.records": (
        "Answer Choice ChoiceScore ChoiceText Identity Interval Item Judgement Message Outcome Reading "
        "Request Response ResponseError Sampling Score Seed Test"
    ),
    "biasfw.ordering": "by_beginning",
    "biasfw.resources": "shipped",
    "biasfw.rescoring": "judge score",
    "biasfw.runview": "RunRow RunRows RunScores RunView view_run",
    "biasfw.specs": ("BackendSpec CommandSpec ComponentSpec JudgeSpec MetricSpec ParserSpec ReaderSpec ReporterSpec"),
    "biasfw.stats": (
        "Estimate MultinomialNull NullStatistic Standing clustered_mean clustered_proportion holm "
        "largest_share_limits miller_madow multinomial_null plugin_entropy point_test proportion_from_cluster_sums "
        "sign_flip sign_flips simultaneous_level standing stratified_proportion total_variation total_variation_test "
        "variation_limits wilson"
    ),
    "biasfw.table": "Table",
    "biasfw.templates": "compile_template",
    "biasfw.textfile": "read_csv read_jsonl",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # noqa: RUF022 - sorted as a reader sorts
    "Answer", "API_VERSION", "Backend", "BackendSettings", "BackendSpec", "BiasfwError", "by_beginning", "Case",
    "Caution",
    "Choice",
    "ChoiceScore", "ChoiceText", "clustered_mean", "clustered_proportion", "CommandSpec", "compile_template",
    "ComponentContext", "ComponentError", "ComponentSpec", "DataError", "Estimate", "file_digest", "folded", "Form",
    "holm",
    "hookimpl", "Identity", "IncompleteError", "Interval", "Item", "Judge", "judge", "Judgement", "JudgeSpec", "Label",
    "LanguagePack", "largest_share_limits", "Merge", "Message", "Metric", "MetricSpec", "miller_madow",
    "MultinomialNull", "multinomial_null",
    "NullStatistic", "Outcome", "Panel", "Parser", "ParserSpec", "plugin_entropy", "point_test",
    "proportion_from_cluster_sums", "ranking", "read_csv", "Reader", "ReaderSpec", "Reading", "read_jsonl", "Reporter",
    "ReporterSpec", "Request", "request_seed", "RequestSequence", "Response", "ResponseError", "run", "RunConfig",
    "RunResult", "RunRow", "RunRows", "RunScores", "RunView", "Sampling", "Score", "score", "Seed", "sha256_file",
    "sha256_text", "shipped", "sign_flip", "sign_flips", "simultaneous_level", "Slot", "Standing", "standing",
    "StoreError", "stratified_proportion", "Table", "Test", "total_variation", "total_variation_test", "UsageError",
    "variation_limits", "view_run", "wilson",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
