"""What must be equal for two runs to be comparable (the measure), and what is compared (the treatment)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biasfw.keys import canonical
from biasfw.storedrun import Asked, StoredRun

# Of the protocol: what shapes the question. Items and prompts are compared one by one where they are in both.
_QUESTION = ("version", "data_sha256", "reader", "names_in", "shots", "conditions", "without", "frames")
_TREATMENT = ("backend", "fingerprint", "options", "prompt_style", "sampling", "seed")
_IDENTITY = ("model", "architecture", "quantisation", "dtype", "template_sha256", "device", "libraries")
_LISTED = 3  # items that are named


@dataclass(frozen=True, slots=True)
class Unlike:
    """Something that differs: its value in the first and in the other run.

    ``common``: the rest can still be compared with ``--force-common``.
    """

    what: str
    a: str
    b: str
    common: bool = True

    def __str__(self) -> str:
        return f"{self.what}: {self.a} / {self.b}"


@dataclass(frozen=True, slots=True)
class Shared:
    """The requests that two runs have in common, in the order of the first: those of A and of B, place by place."""

    a: tuple[Asked, ...]
    b: tuple[Asked, ...]


def measure(a: StoredRun, b: StoredRun, judges: tuple[str, str]) -> tuple[list[Unlike], Shared]:
    """Where the measure of two runs differs, and what they have in common nonetheless.

    Args:
        a: the first run.
        b: the other run.
        judges: whose verdicts count in each; "" where a run was not judged.
    """
    found = [Unlike(what, here, there, common=False) for what, here, there in _hard(a, b)]
    if a.name != b.name:
        return found, Shared((), ())
    same_style = a.protocol.get("prompt_style") == b.protocol.get("prompt_style")
    for what in _QUESTION:
        if a.protocol.get(what) != b.protocol.get(what):
            values = (_said(a.protocol.get(what)), _said(b.protocol.get(what)))
            # Prompts in another style cannot be held beside each other: what shaped them must then be equal.
            found.append(Unlike(_NAMES.get(what, what), *values, common=same_style or what in ("version", "reader")))
    if judges[0] != judges[1] or not judges[0]:
        found.append(Unlike("judge", judges[0] or "none", judges[1] or "none", common=all(judges)))
    found += [Unlike(f"{kind} {name}", here, there) for kind, name, here, there in _versions(a, b)]
    unlike, shared = _items(a, b, same_style=same_style)
    return [*found, *unlike], shared


_NAMES = {"data_sha256": "data", "frames": "templates", "shots": "solved examples", "names_in": "names in"}


def _hard(a: StoredRun, b: StoredRun) -> Iterator[tuple[str, str, str]]:
    if a.name != b.name:
        yield "benchmark", a.name, b.name
    if a.mode != b.mode:
        yield "mode", a.mode, b.mode
    if a.mode == b.mode == "generate":
        parsers = [_component(run, "parser") for run in (a, b)]
        if parsers[0] != parsers[1]:
            yield "parser", parsers[0], parsers[1]


def _component(run: StoredRun, kind: str) -> str:
    return " ".join(f"{c['name']} {c['version']}" for c in run.info["components"] if c["kind"] == kind)


def _versions(a: StoredRun, b: StoredRun) -> Iterator[tuple[str, str, str, str]]:
    """Metrics and readers that both used, in different versions."""
    used = [
        {(c["kind"], c["name"]): f"{c['distribution']} {c['version']}" for c in run.info["components"]}
        for run in (a, b)
    ]
    for kind, name in used[0]:
        other = used[1].get((kind, name))
        if kind in ("metric", "reader") and other is not None and other != used[0][kind, name]:
            yield kind, name, used[0][kind, name], other


def _items(a: StoredRun, b: StoredRun, *, same_style: bool) -> tuple[list[Unlike], Shared]:
    """Items that only one run asked, that differ or whose prompts differ; and the requests that agree."""
    asked = [{(x.item, x.repeat): x for x in run.asked} for run in (a, b)]
    names = [list(dict.fromkeys(x.item for x in run.asked)) for run in (a, b)]
    known = [set(each) for each in names]
    alone = [[name for name in names[here] if name not in known[1 - here]] for here in (0, 1)]
    hashes = [run.item_hashes for run in (a, b)]
    differing = [x for x in names[0] if x in known[1] and hashes[0].get(x) != hashes[1].get(x)]
    dropped = set(differing)
    both = [place for place in asked[0] if place in asked[1] and place[0] not in dropped]
    reworded = [p for p in both if same_style and asked[0][p].prompt != asked[1][p].prompt]
    unlike = []
    if any(alone):
        unlike.append(Unlike("items that only one run asked", _listed(alone[0]), _listed(alone[1])))
    if differing:
        unlike.append(Unlike("items that differ", _listed(differing), "other texts, order or gold"))
    if reworded:
        unlike.append(Unlike("prompts that differ", _listed([item for item, _ in reworded]), "another text"))
    other = set(reworded)
    kept = [p for p in both if p not in other]
    return unlike, Shared(tuple(asked[0][p] for p in kept), tuple(asked[1][p] for p in kept))


def _listed(names: list[str]) -> str:
    if not names:
        return "none"
    more = f", ... ({len(names)} in all)" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def treatment(a: StoredRun, b: StoredRun) -> list[Unlike]:
    """What differs between the subjects: this is what is compared."""
    found = []
    for what, values in _subject(a).items():
        other = _subject(b).get(what)
        if values != other:
            found.append(Unlike(what.replace("_", " "), _said(values), _said(other)))
    return found


def _subject(run: StoredRun) -> dict[str, Any]:
    identity: Mapping[str, Any] = run.info.get("identity", {})
    repeats = max((x.repeat for x in run.asked), default=0) + 1
    return {
        "model": run.model,
        **{name: run.protocol.get(name) for name in _TREATMENT},
        **{name: identity.get(name) for name in _IDENTITY if name != "model"},
        "repeats": repeats,
    }


def _said(value: Any) -> str:
    """A value in a few characters."""
    if value is None or (not value and isinstance(value, dict | list)):
        return "-"
    text = value if isinstance(value, str) else canonical(value)
    looks_hashed = len(text) == 64 and all(c in "0123456789abcdef" for c in text)
    return text[:12] if looks_hashed else text if len(text) <= 100 else f"{text[:97]}..."
