"""A comparison on a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from biasfw.cli._summary import DEMO
from biasfw.comparing import words
from biasfw.comparing.measure import Unlike
from biasfw.comparing.results import BOTH_LOCKED, TABLE, Comparison, Difference, Margin, Pair, Question
from biasfw.records import Interval
from biasfw.stats import MIN_CLUSTERS

WIDTH = 80
FLIPS = 5


def lines(found: Comparison) -> Iterator[str]:
    """The text, line by line; names in it come from bundles and models and are to be made safe for a terminal."""
    yield f"{found.benchmark} {found.version}: {len(found.runs)} runs"
    if found.demo:
        yield from _wrapped(DEMO)
    yield ""
    for run in found.runs:
        status = "" if run.status == "complete" else f"   {run.status}"
        yield f"  {run.number}  {run.backend} / {run.model}{status}"
        yield f"     {run.path}"
    judges = dict.fromkeys(run.judge for run in found.runs)
    yield f"  judge {', '.join(judges)}"
    for warning in found.warnings:
        yield from _wrapped(f"!  {warning}", "  ")
    for note in found.notes:
        yield from _wrapped(note, "  note: ")
    yield from _wrapped(found.rule, "  rule: ")
    if found.ranks and len(found.runs) > 2:
        yield from _ranks(found)
    for pair in found.pairs:
        yield from _pair(found, pair)


def refused(unlike: Sequence[Unlike]) -> Iterator[str]:
    """What differs between runs that are not compared."""
    yield "the measure differs (first run / other run):"
    for each in unlike:
        yield from _wrapped(str(each), "  ")
    if any(each.what == "judge" for each in unlike):
        yield from _wrapped("biasfw judge RUN reads the stored answers of each run anew, as they are read now", "  ")


def _ranks(found: Comparison) -> Iterator[str]:
    for condition in dict.fromkeys(rank.condition for rank in found.ranks):
        yield ""
        yield from _wrapped(
            f"ranks by accuracy, {condition}: a run stands above another only where a difference is shown "
            f"(over {len(found.pairs)} pairs together), and neither is position-locked"
        )
        for rank in sorted((r for r in found.ranks if r.condition == condition), key=lambda r: (r.best, r.worst)):
            place = f"{rank.best}" if rank.best == rank.worst else f"{rank.best} to {rank.worst}"
            yield f"  {place:>8}   {rank.run}  {found.runs[rank.run - 1].model}"


def _pair(found: Comparison, pair: Pair) -> Iterator[str]:
    yield ""
    yield f"{pair.a} against {pair.b}"
    if pair.left_out:
        yield "  only what both have in common; the measure differs in"
        for each in pair.left_out:
            yield from _wrapped(str(each), "    ")
    same = "the subjects do not differ in anything recorded"
    yield f"  {'what is compared (the treatment)' if pair.treatment else same}"
    for each in pair.treatment:
        yield from _wrapped(str(each), "    ")
    for question in pair.questions:
        yield from _question(found, pair, question)


def _question(found: Comparison, pair: Pair, question: Question) -> Iterator[str]:
    overall = question.overall
    yield ""
    size = f"{overall.n} pairs of responses, {overall.clusters} {found.cluster_name}"
    yield from _wrapped(f"{words.title(question)}, {question.condition}: {size}", "  ")
    yield from _table(overall) if overall.metric == TABLE else _mean(pair, overall)
    yield from _wrapped(f"=> {words.verdict(pair, question)}", "    ")
    for caution in words.cautions(pair, question):
        yield from _wrapped(f"!  {caution}", "    ")
    yield from _found(overall)
    yield from _missing(pair, overall)
    if question.preference is not None:
        yield from _preference(found, pair, question, question.preference)
    if question.margin is not None:
        yield from _wrapped(_margin(pair, question.margin), "  ")
    if len(found.runs) == 2:
        yield from _labels(found, question)
        yield from _slices(found, question)
    yield from _flips(question)


def _preference(found: Comparison, pair: Pair, question: Question, each: Difference) -> Iterator[str]:
    yield ""
    yield from _wrapped(
        f"{words.preference_title(question)}: {each.n} pairs, {each.clusters} {found.cluster_name}", "  "
    )
    yield from _mean(pair, each)
    yield from _wrapped(f"=> {words.preference_verdict(pair, question)}", "    ")
    yield from _found(each)
    if any(each.missing):
        yield from _wrapped(words.preferring_none(pair, each), "    ")


def _mean(pair: Pair, each: Difference) -> Iterator[str]:
    yield f"    run {pair.a}: {_percent(each.a)} %   run {pair.b}: {_percent(each.b)} %"
    together = ""
    if each.simultaneous is not None:
        together = f", for all {each.comparisons} comparisons together {_span(each)}"
    yield from _wrapped(f"difference: {_points(each.value)} points {_single(each)}{together}; {_p(each)}", "    ")


def _table(each: Difference) -> Iterator[str]:
    test = each.test
    yield f"    total variation: {_percent(each.value)} %; {_p(each)}"
    if test.null_mean is not None:
        yield from _wrapped(
            f"runs that do not differ would show {_percent(test.null_mean)} %, in 95 of 100 cases less than "
            f"{_percent(test.null_q95)} %",
            "    ",
        )


def _found(each: Difference) -> Iterator[str]:
    said = words.detectable(each)
    if said is not None:
        yield from _wrapped(said, "    ")


def _missing(pair: Pair, each: Difference) -> Iterator[str]:
    if not any(each.missing) or each.bounds is None:
        return
    low, high = each.bounds
    unit = _percent if each.metric == TABLE else _points
    yield from _wrapped(
        f"not answered: {each.missing[0]} in run {pair.a}, {each.missing[1]} in run {pair.b}; whatever they would have "
        f"been, the difference lies between {unit(low)} and {unit(high)}; none is claimed that they could undo",
        "    ",
    )


def _margin(pair: Pair, margin: Margin) -> str:
    size = f"{100 * margin.margin:g} points"
    span = f"90 % interval {_points(margin.low)} to {_points(margin.high)}, missing answers at their worst"
    if margin.kind == "noninferior":
        said = f"run {pair.a} is not worse than run {pair.b} by {size} or more"
    else:
        said = f"the runs are equivalent within {size}"
    if margin.shown:
        return f"=> {said} ({span})"
    return f"=> it is not shown that {said} ({margin.reason}; {span})"


def _labels(found: Comparison, question: Question) -> Iterator[str]:
    if not question.labels:
        return
    for slot in dict.fromkeys(each.slice["slot"] for each in question.labels):
        yield ""
        rows = [each for each in question.labels if each.slice["slot"] == slot]
        said = f"shares of labels, {slot}: first, second, difference in points; {words.intervals(rows[0])}"
        yield from _wrapped(said, "  ")
        yield from _rows(
            rows,
            lambda each: found.names["labels"].get(each.slice["label"], each.slice["label"]),
            found.cluster_name,
        )


def _slices(found: Comparison, question: Question) -> Iterator[str]:
    for axis in ("category", "language"):
        members = [each for each in question.slices if axis in each.slice]
        if not members:
            continue
        yield ""
        if members[0].metric == TABLE:
            what = f"total variation, %; p after Holm over {members[0].comparisons} comparisons"
        else:
            what = f"first, second, difference in points; {words.intervals(members[0])}"
        yield from _wrapped(f"by {axis} ({found.cluster_name}): {what}", "  ")

        def named(each: Difference, axis: str = axis) -> str:
            return str(found.names["categories"].get(each.slice[axis], each.slice[axis]))

        yield from _rows(members, named, found.cluster_name)


def _rows(members: Sequence[Difference], named: Callable[[Difference], str], unit: str) -> Iterator[str]:
    for each in members:
        name = f"{named(each)} ({each.clusters})"
        if each.metric == TABLE:
            values = f"{_percent(each.value):>6}" + " " * 30
        else:
            values = f"{_percent(each.a):>6}{_percent(each.b):>7}{_points(each.value):>8} {_span(each):<18}"
        p = "-" if each.test.p_adjusted is None else _small(each.test.p_adjusted)
        yield f"    {_cut(name, 26):<26}{values:<40}{p:>6} {'*' if each.shown else ''}".rstrip()
    if any(each.shown for each in members):
        yield "    * a difference is shown"
    if said := words.hopeless(members):
        yield f"    {said}"
    if any(each.clusters < MIN_CLUSTERS for each in members if each.metric != TABLE):
        yield f"    no interval: fewer than {MIN_CLUSTERS} {unit}"


def _flips(question: Question) -> Iterator[str]:
    yield ""
    said = ", ".join(f"{name} {count}" for name, count in question.counts.items() if count)
    yield from _wrapped(f"answers: {said}", "  ")
    if question.flips:
        shown = question.flips[:FLIPS]
        more = len(question.flips) - len(shown)
        yield f"  changed: {len(question.flips)}" + (f", the first {FLIPS} (all of them: --flips FILE)" if more else "")
        for flip in shown:
            gold = f" (right: {flip.gold})" if flip.gold else ""
            yield from _wrapped(f"{flip.item} {flip.slot}: {flip.a} -> {flip.b}{gold}", "    ")


def _p(each: Difference) -> str:
    if each.test.p is None:
        return "no test is made" if each.test.reason == BOTH_LOCKED else f"no test ({each.test.reason})"
    adjusted = each.test.p_adjusted
    after = f", {_small(adjusted)} after Holm" if adjusted is not None and adjusted != each.test.p else ""
    kind = "sign-flip" if each.metric != TABLE else "swap test"
    return f"{kind} p {_small(each.test.p, sign=True)}{after}"


def _small(p: float, *, sign: bool = False) -> str:
    if p < 0.001:
        return "< .001"
    return f"{'= ' if sign else ''}{p:.3f}".replace("0.", ".", 1)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value + 0.0:+.1f}".replace("-0.0", "+0.0")


def _span(each: Difference) -> str:
    """The interval that claims are held against."""
    return _limits(each.outer)


def _single(each: Difference) -> str:
    return _limits(each.interval)


def _limits(interval: Interval | None) -> str:
    if interval is None or interval.low is None:
        return "(no interval)"
    return f"[{_points(interval.low)}, {_points(interval.high)}]"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 4]}...)"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent) + "  ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
