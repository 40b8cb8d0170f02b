"""``biasfw compare A B``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json, say
from biasfw.errors import UsageError
from biasfw.phrases import many

if TYPE_CHECKING:
    from biasfw.comparing.planning import Planned
    from biasfw.comparing.results import Comparison


@click.command(
    "compare",
    help="Compare runs, paired by item: A less B, clustered. The measure (items, templates, parser, judge, metrics) "
    "must be equal; what differs in the subject (model, prompt style, dtype, sampling) is what is compared.",
    epilog="Examples:  biasfw compare runs/a runs/b   |   biasfw compare runs/small runs/big --margin 0.03 "
    "--noninferior   |   biasfw compare --plan 150",
)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path))
@click.option("--judge", metavar="NAME", help="Whose verdicts count. Default: the last judge that all runs had.")
@click.option("--force-common", is_flag=True, help="Compare what the runs have in common where the measure differs.")
@click.option("--allow-demo", is_flag=True, help="Compare machine-written demo sets, too.")
@click.option("--margin", type=float, metavar="M", help="As a share: 0.03 is three points.")
@click.option("--noninferior", is_flag=True, help="Is A not worse than B by the margin? (lower 90 % limit above -M)")
@click.option("--equivalent", is_flag=True, help="Are A and B within the margin? (two one-sided tests)")
@click.option(
    "--plan",
    "planned",
    type=int,
    metavar="N",
    help="What difference N clusters would show; a run tells how much they vary.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the drawn signs.")
@click.option("--flips", type=click.Path(path_type=Path), metavar="FILE", help="Write all changed answers.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write an HTML page.")
@json_option
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 - one parameter per option
    ctx: click.Context,
    runs: tuple[Path, ...],
    judge: str | None,
    force_common: bool,
    allow_demo: bool,
    margin: float | None,
    noninferior: bool,
    equivalent: bool,
    planned: int | None,
    seed: int,
    flips: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare and print."""
    from biasfw.cli._comparison import lines, refused  # noqa: PLC0415 - numpy loads late
    from biasfw.codec import encode  # noqa: PLC0415
    from biasfw.comparing import Asking, MeasureError, compare  # noqa: PLC0415
    from biasfw.comparing.planning import plan  # noqa: PLC0415

    kind = _kind(margin, noninferior=noninferior, equivalent=equivalent)
    if planned is not None:
        if len(runs) > 1:
            raise UsageError("--plan takes no run, or the one whose clusters show how much scores vary")
        found = plan(planned, runs[0] if runs else None, plugins_of(ctx), judge=judge)
        print_json(encode(found)) if as_json else _print_plan(found)
        return
    try:
        comparison = compare(
            runs,
            plugins_of(ctx),
            Asking(margin, kind, seed),
            judge=judge,
            force_common=force_common,
            allow_demo=allow_demo,
        )
    except MeasureError as failure:
        for line in refused(failure.unlike):
            say(line, err=True)
        raise
    if flips is not None:
        _write_flips(flips, comparison)
    if output is not None:
        from biasfw.comparing.page import page  # noqa: PLC0415 - jinja2 loads late

        _write(output, page(comparison))
    if as_json:
        print_json(encode(comparison))
        return
    for line in lines(comparison):
        say(line)
    for path in (flips, output):
        if path is not None:
            say(f"written: {path}")


def _kind(margin: float | None, *, noninferior: bool, equivalent: bool) -> Literal["noninferior", "equivalent"] | None:
    if noninferior and equivalent:
        raise UsageError("--noninferior and --equivalent are two questions; ask one of them")
    if (margin is not None) != (noninferior or equivalent):
        raise UsageError("--margin M goes with --noninferior or --equivalent; give both, or neither")
    if margin is not None and not 0 < margin < 1:
        raise UsageError("--margin is a share between 0 and 1: 0.03 is three points")
    if noninferior:
        return "noninferior"
    return "equivalent" if equivalent else None


def _print_plan(found: Planned) -> None:
    say(f"{many(found.detectable.clusters, 'cluster')}; {found.basis}")
    say("smallest difference that a 5 % test finds in 80 of 100 cases, in points, by how")
    say("alike the two runs are over the clusters (correlation):")
    for correlation, size in found.detectable.by_correlation:
        say(f"  {correlation:.1f}   {'-' if size is None else f'{100 * size:.1f}'}")


def _write_flips(path: Path, comparison: Comparison) -> None:
    from biasfw.codec import dumps, encode  # noqa: PLC0415

    rows = [
        {"first": pair.a, "second": pair.b, **encode(flip)}
        for pair in comparison.pairs
        for question in pair.questions
        for flip in question.flips
    ]
    head = {"canary": comparison.canary, "benchmark": comparison.benchmark, "demo": comparison.demo}
    _write(path, "".join(f"{dumps(row)}\n" for row in ({**head, "changed": len(rows)}, *rows)))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as failure:
        raise UsageError(f"cannot write {path}: {failure.strerror or failure}; give another file") from failure
