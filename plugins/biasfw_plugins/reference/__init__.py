"""Offers the reference models: what a benchmark scores when the answers are known in advance."""

from collections.abc import Iterable

from biasfw import BackendSpec, hookimpl

biasfw_api = 1


@hookimpl
def biasfw_backends() -> Iterable[BackendSpec]:
    """The backend ``reference``."""
    yield BackendSpec(
        "reference",
        load="biasfw_plugins.reference.backend:Reference",
        summary="models whose answers are known, such as random and stereotyped",
        capabilities=frozenset({"generate", "choices"}),
        references=True,
        models=("first", "stereotyped", "anti-stereotyped", "random", "refuses", "shorter", "longer"),
    )
