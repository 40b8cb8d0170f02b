"""``biasfw check PATH|NAME``."""

from __future__ import annotations

import click

from biasfw.cli import plugins_of
from biasfw.cli._common import json_option, print_json
from biasfw.conformance import check


@click.command(
    "check",
    help="Check a language pack (a file TAG.yaml, a folder of them, or the tag of an installed one) or a benchmark "
    "(its folder or name): that they hold what they should, every prompt renders, and every answer is read as "
    "it is meant. Exit code 1 if there are errors; warnings do not count.",
    epilog="Example:  biasfw check languages/eu.yaml",
)
@click.argument("target", metavar="PATH|NAME")
@json_option
@click.pass_context
def command(ctx: click.Context, target: str, as_json: bool) -> None:
    """Print what was found, as ``file:line:column: error: ...``."""
    reports = check(target, plugins_of(ctx))
    errors = sum(report.errors for report in reports)
    warnings = sum(report.warnings for report in reports)
    if as_json:
        print_json(
            {"ok": not errors, "errors": errors, "warnings": warnings, "checked": [r.as_json() for r in reports]}
        )
    else:
        for report in reports:
            click.echo(f"{report.kind} {report.name}")
            for fact in report.facts:
                click.echo(f"  {fact}")
            for finding in report.findings:
                click.echo(str(finding))
        click.echo(f"{_many(errors, 'error')}, {_many(warnings, 'warning')}")
    if errors:
        raise click.exceptions.Exit(1)


def _many(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"
