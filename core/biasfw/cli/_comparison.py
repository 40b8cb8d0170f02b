"""A comparison on a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from biasfw.cli._summary import DEMO
from biasfw.comparing.measure import Unlike
from biasfw.comparing.results import Comparison, Difference, Margin, Pair, Question

WIDTH = 80
FLIPS = 5
_NO_DIFFERENCE = "no difference can be shown with this data"


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
    for note in found.notes:
        yield from _wrapped(note, "  note: ")
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
            f"(Holm over {len(found.pairs)} pairs)"
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
    choice = overall.metric == "accuracy"
    title = "accuracy" if choice else "how the labels are dealt out (all slots together)"
    size = f"{overall.n} pairs of responses, {overall.clusters} {found.cluster_name}"
    yield from _wrapped(f"{title}, {question.condition}: {size}", "  ")
    yield from _mean(pair, overall) if choice else _table(overall)
    yield from _missing(pair, overall)
    if question.margin is not None:
        yield from _wrapped(_margin(pair, question.margin), "  ")
    if len(found.runs) == 2:
        yield from _labels(found, question)
        yield from _slices(found, question)
    yield from _flips(question)


def _mean(pair: Pair, each: Difference) -> Iterator[str]:
    yield f"    run {pair.a}: {_percent(each.a)} %   run {pair.b}: {_percent(each.b)} %"
    yield f"    difference: {_points(each.value)} points {_span(each)}; {_p(each)}"
    yield from _verdict(each, f"run {pair.a} is {each.shown} than run {pair.b}")


def _table(each: Difference) -> Iterator[str]:
    test = each.test
    yield f"    total variation: {_percent(each.value)} %; {_p(each)}"
    if test.null_mean is not None:
        yield from _wrapped(
            f"runs that do not differ would show {_percent(test.null_mean)} %, in 95 of 100 cases less than "
            f"{_percent(test.null_q95)} %",
            "    ",
        )
    yield from _verdict(each, "the runs differ in how they deal out the labels")


def _verdict(each: Difference, shown: str) -> Iterator[str]:
    said = shown if each.shown else (each.reason or _NO_DIFFERENCE)
    if not each.shown and said != _NO_DIFFERENCE:
        said = f"{_NO_DIFFERENCE}: {said}"
    yield from _wrapped(f"=> {said}", "    ")
    if each.detectable is not None:
        yield from _wrapped(
            f"a difference of {100 * each.detectable:.1f} points would be found in 80 of 100 such comparisons", "    "
        )


def _missing(pair: Pair, each: Difference) -> Iterator[str]:
    if not any(each.missing) or each.bounds is None:
        return
    low, high = each.bounds
    unit = _points if each.metric == "accuracy" else _percent
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
        yield from _wrapped(f"shares of labels, {slot}: first, second, difference in points; p after Holm", "  ")
        yield from _rows(
            [each for each in question.labels if each.slice["slot"] == slot],
            lambda each: found.names["labels"].get(each.slice["label"], each.slice["label"]),
        )


def _slices(found: Comparison, question: Question) -> Iterator[str]:
    for axis, plural in (("category", "categories"), ("language", "languages")):
        members = [each for each in question.slices if axis in each.slice]
        if not members:
            continue
        yield ""
        what = "first, second, difference in points" if members[0].a is not None else "total variation, %"
        yield from _wrapped(f"by {axis}: {what}; p after Holm over {len(members)} {plural}", "  ")

        def named(each: Difference, axis: str = axis) -> str:
            return str(found.names["categories"].get(each.slice[axis], each.slice[axis]))

        yield from _rows(members, named)


def _rows(members: Sequence[Difference], named: Callable[[Difference], str]) -> Iterator[str]:
    for each in members:
        name = f"{named(each)} ({each.clusters})"
        if each.a is None:
            values = f"{_percent(each.value):>6}" + " " * 30
        else:
            values = f"{_percent(each.a):>6}{_percent(each.b):>7}{_points(each.value):>8} {_span(each):<18}"
        p = "-" if each.test.p_adjusted is None else _small(each.test.p_adjusted)
        yield f"    {_cut(name, 26):<26}{values:<40}{p:>6} {'*' if each.shown else ''}".rstrip()
    if any(each.shown for each in members):
        yield "    * a difference is shown"


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
        return f"no test ({each.test.reason})"
    adjusted = each.test.p_adjusted
    after = f", {_small(adjusted)} after Holm" if adjusted is not None and adjusted != each.test.p else ""
    kind = "sign-flip" if each.metric != "total_variation" else "swap test"
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
    if each.interval is None or each.interval.low is None:
        return "[-, -]"
    return f"[{_points(each.interval.low)}, {_points(each.interval.high)}]"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 4]}...)"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent) + "  ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
