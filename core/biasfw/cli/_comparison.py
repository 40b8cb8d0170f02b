"""A comparison on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from biasfw.cli._comparison_text import cut, percent, points, single, span, wrapped
from biasfw.cli._summary import DEMO
from biasfw.comparing import words
from biasfw.comparing.measure import Unlike
from biasfw.comparing.results import TABLE, Comparison, Difference, Margin, Pair, Question
from biasfw.phrases import many
from biasfw.stats import MIN_CLUSTERS

FLIPS = 5
_NAMED = {"category": "categories", "language": "languages"}


def lines(found: Comparison) -> Iterator[str]:
    """The text, line by line; names in it come from bundles and models and are to be made safe for a terminal."""
    yield f"{found.benchmark} {found.version}: {len(found.runs)} runs"
    if found.demo:
        yield from wrapped(DEMO)
    yield ""
    for run in found.runs:
        status = "" if run.status == "complete" else f"   {run.status}"
        yield f"  {run.number}  {run.backend} / {run.model}{status}"
        yield f"     {run.path}"
    judges = dict.fromkeys(run.judge for run in found.runs)
    yield f"  judge {', '.join(judges)}"
    for warning in found.warnings:
        yield from wrapped(f"!  {warning}", "  ")
    for note in found.notes:
        yield from wrapped(note, "  note: ")
    yield from wrapped(found.rule, "  rule: ")
    if found.ranks and len(found.runs) > 2:
        yield from _ranks(found)
    for pair in found.pairs:
        yield from _pair(found, pair)


def refused(unlike: Sequence[Unlike]) -> Iterator[str]:
    """What differs between runs that are not compared."""
    yield "the measure differs (first run / other run):"
    for each in unlike:
        yield from wrapped(str(each), "  ")
    if any(each.what == "judge" for each in unlike):
        yield from wrapped("biasfw judge RUN reads the stored answers of each run anew, as they are read now", "  ")


def _ranks(found: Comparison) -> Iterator[str]:
    for condition in dict.fromkeys(rank.condition for rank in found.ranks):
        yield ""
        yield from wrapped(
            f"ranks by accuracy, {condition}: a run stands above another only where a difference is shown "
            f"(over {len(found.pairs)} pairs together); what says nothing about bias has no rank"
        )
        here = [rank for rank in found.ranks if rank.condition == condition]
        for rank in sorted(here, key=lambda r: (r.best is None, r.best, r.worst)):
            place = "-" if rank.best is None else words.ranked(rank.best, rank.worst)
            yield f"  {place:>8}   {rank.run}  {found.runs[rank.run - 1].model}"
            if rank.remark:
                yield from wrapped(f"!  not ranked: {rank.remark}", "              ")


def _pair(found: Comparison, pair: Pair) -> Iterator[str]:
    yield ""
    yield f"{pair.a} against {pair.b}"
    if pair.left_out:
        yield "  only what both have in common; the measure differs in"
        for each in pair.left_out:
            yield from wrapped(str(each), "    ")
    same = "the subjects do not differ in anything recorded"
    yield f"  {'what is compared (the treatment)' if pair.treatment else same}"
    for each in pair.treatment:
        yield from wrapped(str(each), "    ")
    for question in pair.questions:
        yield from _question(found, pair, question)


def _question(found: Comparison, pair: Pair, question: Question) -> Iterator[str]:
    overall = question.overall
    yield ""
    size = f"{many(overall.n, 'pair')} of responses, {overall.clusters} {found.cluster_name}"
    yield from wrapped(f"{words.title(question)}, {question.condition}: {size}", "  ")
    yield from _table(overall) if overall.metric == TABLE else _mean(pair, overall)
    yield from wrapped(f"=> {words.verdict(found, pair, question)}", "    ")
    for caution in words.cautions(found, pair, question):
        yield from wrapped(f"!  {caution}", "    ")
    yield from _found(overall)
    yield from _missing(pair, overall)
    if question.margin is not None:
        yield from wrapped(_margin(pair, question, question.margin), "    ")
    if question.preference is not None:
        yield from _preference(found, pair, question, question.preference)
    if len(found.runs) == 2:
        yield from _labels(found, question)
        yield from _slices(found, question)
    yield from _flips(question)


def _preference(found: Comparison, pair: Pair, question: Question, each: Difference) -> Iterator[str]:
    yield ""
    yield from wrapped(
        f"{words.preference_title(question)}: {many(each.n, 'pair')}, {each.clusters} {found.cluster_name}", "  "
    )
    yield from _mean(pair, each)
    yield from wrapped(f"=> {words.preference_verdict(found, pair, question)}", "    ")
    yield from _found(each)
    for said in words.preferring(pair, question):
        yield from wrapped(said, "    ")


def _mean(pair: Pair, each: Difference) -> Iterator[str]:
    yield f"    run {pair.a}: {percent(each.a)} %   run {pair.b}: {percent(each.b)} %"
    together = ""
    if each.simultaneous is not None:
        together = f", for all {each.comparisons} comparisons together {span(each)}"
    size = f"{points(each.value)} points {single(each)}{together}"
    yield from wrapped(f"difference: {size}; {words.tested(each)}", "    ")


def _table(each: Difference) -> Iterator[str]:
    test = each.test
    yield f"    total variation: {percent(each.value)} %; {words.tested(each)}"
    if test.null_mean is not None:
        yield from wrapped(
            f"runs that do not differ would show {percent(test.null_mean)} %, in 95 of 100 cases less than "
            f"{percent(test.null_q95)} %",
            "    ",
        )


def _found(each: Difference) -> Iterator[str]:
    said = words.detectable(each)
    if said is not None:
        yield from wrapped(said, "    ")


def _missing(pair: Pair, each: Difference) -> Iterator[str]:
    if not any(each.missing) or each.bounds is None:
        return
    low, high = each.bounds
    unit = percent if each.metric == TABLE else points
    yield from wrapped(
        f"not answered: {each.missing[0]} in run {pair.a}, {each.missing[1]} in run {pair.b}; whatever they would have "
        f"been, the difference lies between {unit(low)} and {unit(high)}; none is claimed that they could undo",
        "    ",
    )


def _margin(pair: Pair, question: Question, margin: Margin) -> str:
    limits = f"90 % interval {points(margin.low)} to {points(margin.high)}, missing answers at their worst"
    why = f"{margin.reason}; " if margin.reason else ""
    return f"=> {words.margin(pair, question)} ({why}{limits})"


def _labels(found: Comparison, question: Question) -> Iterator[str]:
    if not question.labels:
        return
    for slot in dict.fromkeys(each.slice["slot"] for each in question.labels):
        yield ""
        rows = [each for each in question.labels if each.slice["slot"] == slot]
        said = f"shares of labels, {slot}: first, second, difference in points; {words.intervals(rows[0])}"
        yield from wrapped(said, "  ")
        yield from _rows(
            rows,
            lambda each: found.names["labels"].get(each.slice["label"], each.slice["label"]),
            found.cluster_name,
        )


def _slices(found: Comparison, question: Question) -> Iterator[str]:
    for axis, kind in _NAMED.items():
        members = [each for each in question.slices if axis in each.slice]
        if not members:
            continue
        yield ""
        if members[0].metric == TABLE:
            what = f"total variation, %; p after Holm over {members[0].comparisons} comparisons"
        else:
            what = f"first, second, difference in points; {words.intervals(members[0])}"
        yield from wrapped(f"by {axis} ({found.cluster_name}): {what}", "  ")

        def named(each: Difference, axis: str = axis, kind: str = kind) -> str:
            return str(found.names.get(kind, {}).get(each.slice[axis], each.slice[axis]))

        yield from _rows(members, named, found.cluster_name)


def _rows(members: Sequence[Difference], named: Callable[[Difference], str], unit: str) -> Iterator[str]:
    for each in members:
        name = f"{named(each)} ({each.clusters})"
        if each.metric == TABLE:
            values = f"{percent(each.value):>6}" + " " * 30
        else:
            values = f"{percent(each.a):>6}{percent(each.b):>7}{points(each.value):>8} {span(each):<18}"
        p = "-" if each.test.p_adjusted is None else words.p_value(each.test.p_adjusted)
        yield f"    {cut(name, 26):<26}{values:<40}{p:>6} {'*' if each.shown else ''}".rstrip()
    if any(each.shown for each in members):
        yield "    * a difference is shown"
    if said := words.hopeless(members):
        yield f"    {said}"
    if any(each.clusters < MIN_CLUSTERS for each in members if each.metric != TABLE):
        yield f"    no interval: fewer than {MIN_CLUSTERS} {unit}"


def _flips(question: Question) -> Iterator[str]:
    yield ""
    said = ", ".join(f"{name} {count}" for name, count in question.counts.items() if count)
    yield from wrapped(f"answers: {said}", "  ")
    if question.flips:
        shown = question.flips[:FLIPS]
        more = len(question.flips) - len(shown)
        yield f"  changed: {len(question.flips)}" + (f", the first {FLIPS} (all of them: --flips FILE)" if more else "")
        for flip in shown:
            gold = f" (right: {flip.gold})" if flip.gold else ""
            yield from wrapped(f"{flip.item} {flip.slot}: {flip.a} -> {flip.b}{gold}", "    ")
