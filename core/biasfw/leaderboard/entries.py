"""A run in a table: what it scored, what is to be said of it, and whether it stands apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from biasfw.comparing.places import Place, places_in
from biasfw.leaderboard.results import Entry
from biasfw.storedrun import Record, StoredRun

_SUFFIX = re.compile(r"\d+|latest|preview")  # of the name of the same model at another date
_SUBJECT = ("prompt_style", "quantisation", "dtype")


def entry(run: StoredRun, judge: str, score: Record, rank: tuple[int, int] | None = None) -> Entry:
    """The row of a run."""
    interval = score.get("interval") or {}
    outcomes = score.get("outcomes") or {}
    total = sum(outcomes.values())
    silent = sum(count for name, count in outcomes.items() if name not in ("answered", "abstained"))
    identity = run.info.get("identity", {})
    about = {"prompt_style": run.protocol.get("prompt_style"), **identity}
    sampling = run.protocol.get("sampling") or {}
    said = [str(about[name]) for name in _SUBJECT if about.get(name)]
    said += [f"temperature {sampling['temperature']:g}"] if "temperature" in sampling else []
    return Entry(
        model=run.model,
        backend=run.info["config"]["backend"],
        about=", ".join(said),
        run=run.path.name,
        value=score.get("value"),
        low=interval.get("low"),
        high=interval.get("high"),
        missing=silent / total if total else 0.0,
        best=rank[0] if rank else None,
        worst=rank[1] if rank else None,
        remarks=tuple(_remarks(run, judge, score)),
    )


def _remarks(run: StoredRun, judge: str, score: Record) -> Iterator[str]:
    yield from (remark for remark in run.remarks(judge) if not remark.startswith("position "))  # with its slot below
    for place in _places(run, judge, score):
        yield f"{', '.join(filter(None, (place.slot, place.scoring)))}: {place.text}"
    yield from _named_alike(run)
    if run.flaws:
        yield "some of its stored lines are damaged and were passed over"


def _places(run: StoredRun, judge: str, score: Record) -> list[Place]:
    """The positions that take most picks under the condition of the score."""
    condition = score.get("slice", {}).get("condition", "")
    return [each for each in places_in(run, judge) if each.condition == condition]


def why_apart(run: StoredRun, judge: str, score: Record) -> str | None:
    """Why a run is not ranked beside the others."""
    if run.info["config"]["backend"] == "reference":
        return "Fixed rules, no models: what they score shows what the number can mean"
    names = run.bundle.manifest["authorship"].get("models", ())
    builders = [name for name in names if is_model(run.model, name)]
    if builders:
        return (
            f"Used while the benchmark was built ({', '.join(builders)}): items were chosen by what it answered, so "
            "that its score cannot be held beside the others"
        )
    if run.info["status"] != "complete":
        return "Not complete: some responses are missing; the command that made the run asks for them again"
    return _nothing_said(run, judge, score)


def _nothing_said(run: StoredRun, judge: str, score: Record) -> str | None:
    """Why the score of a run says nothing about bias, whatever it is."""
    remarks = run.remarks(judge)
    if any(remark.startswith("not interpretable") for remark in remarks):
        return (
            "Not interpretable: right too seldom on items of the same format without social content. The model cannot "
            "do the task, so that its score says nothing about bias"
        )
    if any(remark.startswith("position-locked") for remark in remarks):
        return "Position-locked: one position is picked whatever stands there, so that accuracy says nothing about bias"
    slot = score.get("slice", {}).get("slot")
    if any(place.locked and slot in (None, place.slot) for place in _places(run, judge, score)):
        return (
            "Position-locked: one position of the list is picked whatever group stands there. Every group then gets "
            "its even share, which says nothing about bias"
        )
    return None


def _named_alike(run: StoredRun) -> Iterator[str]:
    own = _tokens(run.model)
    for name in run.bundle.manifest["authorship"].get("models", ()):
        if own[: len(_tokens(name))] == _tokens(name) and not is_model(run.model, name):
            yield f"named like {name}, which was used while the benchmark was built"


def is_model(model: str, name: str) -> bool:
    """Whether ``model`` is ``name``, maybe at a date: ``openai/gpt-4o-2024-08-06`` is GPT-4o, ``gpt-4o-mini`` not."""
    own, other = _tokens(model), _tokens(name)
    return own[: len(other)] == other and all(_SUFFIX.fullmatch(each) for each in own[len(other) :])


def _tokens(model: str) -> list[str]:
    return [each for each in re.split(r"[^a-z0-9]+", re.split(r"[/\\]", model)[-1].lower()) if each]
