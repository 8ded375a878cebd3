"""The command ``privacy-distortion``: one best mechanism, the figures, the notebooks' outputs, and the verdicts on the claims."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click

import paper_repro as pr
from paper_repro.certificates.checker import report
from paper_repro.claims import VERDICTS, all_claims, compare, faults, judge, read_ledger, write_ledger
from paper_repro.claims.verify import INSTANCES, LEDGER, QUICK, Journal, Row
from paper_repro.columns import commands
from paper_repro.columns.options import (
    EXPECTED,
    Once,
    address_option,
    budget_options,
    check_effects,
    chosen_notion,
    interrupted_by_sigterm,
    notion_options,
)
from paper_repro.paths import FIGURES, ROOT, check_checkout, in_checkout
from paper_repro.reproduce.runs import NotebookRunError, refresh_notebooks, run_figures

__all__ = ["main"]


def _draw(*told: Any) -> None:
    from paper_repro.figures.own_tradeoffs import save_own_tradeoff  # imports matplotlib

    save_own_tradeoff(*told)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pr.__version__)
@click.pass_context
def main(context: click.Context) -> None:
    """How little need a published category reveal, if it may be changed with probability at most D?"""
    context.obj = _draw  # what draws is on a higher floor than the commands for columns


main.command_class = Once

for _command in (commands.tradeoff, commands.release, commands.estimate, commands.inspect):
    main.add_command(_command)


@main.command()
@click.option("--output", default=str(FIGURES), metavar="FOLDER", help="Folder for the files; default: figures/.")
@click.option("--only", multiple=True, metavar="RUN", help="Only this run of notebooks/runs.toml; may be repeated.")
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
@click.option("--all", "again", is_flag=True, help="Run those too of which nothing has changed.")
def figures(output: str, only: tuple[str, ...], jobs: int, again: bool) -> None:
    """Run the notebooks that changed and collect the figures and tables that they draw, with a manifest."""
    try:
        with interrupted_by_sigterm():
            written = run_figures(output, only, jobs, again=again)
    except NotebookRunError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(written)} files in {output}")


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Verify certificates of optima in exact arithmetic; nothing is solved, and no other part of the package is used."""
    sys.exit(report(files) > 0)


@main.command()
@click.option("--check", is_flag=True, help="Compare with the stored outputs and change nothing.")
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
def notebooks(check: bool, jobs: int) -> None:
    """Run the notebooks again and store their outputs."""
    try:
        with interrupted_by_sigterm():
            changed = refresh_notebooks(check=check, jobs=jobs)
    except NotebookRunError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(changed)} notebooks changed")


@main.command()
@click.option("--instances", type=click.IntRange(min=1), help=f"Random instances a claim; default: {INSTANCES}.")
@click.option("--quick", is_flag=True, help=f"Only {QUICK} random instances a claim.")
@address_option
@click.option("--record", is_flag=True, help="Put the result on record instead of comparing it.")
@click.option(
    "--only", default="", metavar="NAME", help="Tell of the claims whose names begin so, and compare nothing."
)
def verify(instances: int | None, quick: bool, scheduler: str, record: bool, only: str) -> None:
    """Judge every claim of the five papers again and compare with the ledger on record."""
    if quick and instances is not None:
        raise click.UsageError(f"--quick stands for --instances {QUICK}; give one of the two")
    count = QUICK if quick else instances or INSTANCES
    check_effects(dict.fromkeys(("record", "scheduler"), only and "with --only"))
    if record and count != INSTANCES:
        raise click.UsageError(f"--record puts {INSTANCES} random instances a claim on record, and no other number")
    if only:
        _tell(only, count)
        return
    try:
        if record:
            check_checkout("verify --record")
        recorded = [] if record else _ledger()  # before minutes of work that it would make useless
        rows = _judged(count, scheduler)
    except (pr.CertificateError, pr.SolverError, *EXPECTED) as error:
        raise click.ClickException(str(error)) from None
    verdicts = Counter(row.verdict for row in rows)
    click.echo(f"{len(rows)} claims: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS))
    variants = sum(row.variants for row in rows)
    click.echo(
        f"{sum(row.rejected for row in rows)} of {variants} changed constants change a verdict; "
        f"{sum(row.verdict != 'not checkable' and not row.variants for row in rows)} claims declare none"
    )
    worthless = faults(rows)
    for line in worthless:
        click.echo(line, err=True)
    if record:
        write_ledger(rows)
        click.echo(f"on record in {LEDGER}")
        return
    differences = compare(rows, recorded, same_instances=count == INSTANCES)
    for line in differences:
        click.echo(line, err=True)
    if differences or worthless:
        raise click.ClickException(
            f"{len(differences)} differences from the ledger on record, {len(worthless)} faults of rows"
        )
    click.echo("as on record")


def _tell(beginning: str, count: int) -> None:
    chosen = [claim for claim in all_claims() if claim.name.startswith(beginning)]
    if not chosen:
        raise click.BadParameter(f"no claim begins with {beginning!r}", param_hint=["--only"])
    rows = judge(count, claims=chosen)
    for row in rows:
        counts = (
            f"{row.relevant} of {row.tried} random instances relevant; {row.rejected} of {row.variants} changes noticed"
        )
        click.echo(f"{row.name}: {row.verdict}{f' ({row.weight})' * bool(row.weight)}; {counts}\n    {row.evidence}")
    for line in faults(rows):
        click.echo(line, err=True)


def _ledger() -> list[Row]:
    try:
        if rows := read_ledger(LEDGER):
            return rows
        raise ValueError("it has no rows")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.ClickException(
            f"cannot read the ledger on record, {LEDGER}: {type(error).__name__}: {error}; restore it, or verify --record"
        ) from None


def _judged(count: int, scheduler: str) -> list[Row]:
    with click.progressbar(length=1, label=f"{count} random instances a claim", file=sys.stderr) as bar:

        def progress(done: int, tasks: int) -> None:
            bar.length = tasks
            bar.update(done - bar.pos)

        journal = Journal(ROOT / "build" / "verify") if in_checkout() else None
        with interrupted_by_sigterm():
            rows = judge(count, scheduler=scheduler, progress=progress, journal=journal)
        if journal:
            journal.close()
        return rows


@main.command(epilog=f"Known source sets: {', '.join(pr.source_set_names())}.")
@click.argument("source_set")
@budget_options
@notion_options
def best(
    source_set: str, distortion: float | None, leakage: float | None, notion: str, **parameters: float | None
) -> None:
    """Print the best mechanism for SOURCE_SET, a known name or a CSV file, at a distortion or a leakage."""
    if (distortion is None) == (leakage is None):
        raise click.UsageError("give exactly one budget: --distortion or --leakage")
    try:
        chosen = chosen_notion(notion, **parameters)
        source = pr.load_source_set(source_set)
        found = pr.optimal_mechanism(source, distortion=distortion, leakage=leakage, notion=chosen)
    except (ValueError, *EXPECTED) as error:
        raise click.ClickException(str(error)) from None
    click.echo(found)
    labels = [str(label) for label in source.labels]
    width = max(8, *map(len, labels))
    click.echo(" ".join(cell.rjust(width) for cell in ["", *labels]))
    for label, row in zip(labels, found.mechanism.matrix, strict=True):
        click.echo(" ".join(cell.rjust(width) for cell in [label, *(f"{value:.6f}" for value in row)]))
