"""The command ``privacy-distortion``: optimal mechanisms, columns of one's own, figures, notebooks, and the ledger's checks."""

from __future__ import annotations

import difflib
import re
import sys
from collections import Counter
from typing import Any

import click

import paper_repro as pr
from paper_repro.certificates.checker import report
from paper_repro.claims import VERDICTS, all_claims, compare, faults, judge, read_ledger, write_ledger
from paper_repro.claims.base import PAPERS
from paper_repro.claims.verify import INSTANCES, LEDGER, QUICK, Journal, Row
from paper_repro.columns import commands
from paper_repro.columns.options import (
    EXPECTED,
    Commands,
    Whole,
    address_option,
    budget_options,
    check_budget,
    check_effects,
    chosen_notion,
    in_words,
    interrupted_by_sigterm,
    notion_options,
)
from paper_repro.paths import FIGURES, ROOT, check_checkout, in_checkout
from paper_repro.reproduce.runs import NotebookRunError, refresh_notebooks, run_figures

__all__ = ["main"]


def _draw(*told: Any) -> None:
    from paper_repro.figures.own_tradeoffs import save_own_tradeoff  # imports matplotlib

    save_own_tradeoff(*told)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=commands.examples("privacy-distortion best P_II_6 --distortion 0.2", "privacy-distortion release --help"),
)
@click.version_option(pr.__version__)
@click.pass_context
def main(context: click.Context) -> None:
    """Mechanisms of least leakage for a column of which at most a share D of the entries is changed on average.

    The commands compute optimal mechanisms, release a column of a table and estimate from it, and reproduce the figures and the
    ledger of five papers.
    """
    context.obj = _draw  # the module that draws is on a higher floor than the commands for columns


for _command in (commands.tradeoff, commands.release, commands.estimate, commands.inspect):
    main.add_command(_command)


_JOBS = click.option(
    "--jobs",
    type=Whole(min=1),
    default=2,
    show_default=True,
    metavar="NUMBER",
    help="Number of notebooks that run at once.",
)


@main.command(
    epilog=commands.examples(
        "privacy-distortion figures",
        "privacy-distortion figures --only figure_4 --output build/mine",
        "privacy-distortion figures --all --jobs 4",
    )
)
@click.option("--output", default=str(FIGURES), metavar="FOLDER", help="Folder for the files; default: figures/.")
@click.option(
    "--only",
    multiple=True,
    metavar="RUN",
    help="Run to draw, by its name in notebooks/runs.toml; may be repeated. Default: all.",
)
@_JOBS
@click.option("--all", "again", is_flag=True, help="Runs of which nothing has changed are repeated too.")
def figures(output: str, only: tuple[str, ...], jobs: int, again: bool) -> None:
    """Run the notebooks that changed, and collect the figures and tables that they draw, with a manifest.

    It needs a clone of the repository.
    """
    try:
        with interrupted_by_sigterm():
            written = run_figures(output, only, jobs, again=again)
    except NotebookRunError as error:
        raise click.ClickException(
            re.sub(r"^run must", "--only must", re.sub(r"^(the )?output", "--output", str(error)))
        ) from None
    click.echo(f"{len(written)} files in {output}")


@main.command(epilog=commands.examples("privacy-distortion check best.json"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Verify certificates of optima in exact arithmetic, without any solver; exit code 1 if one is refused."""
    sys.exit(report(files) > 0)


@main.command(epilog=commands.examples("privacy-distortion notebooks", "privacy-distortion notebooks --check"))
@click.option("--check", is_flag=True, help="Comparison with the stored outputs, which stay as they are.")
@_JOBS
def notebooks(check: bool, jobs: int) -> None:
    """Run the notebooks again and store their outputs. It needs a clone of the repository."""
    try:
        with interrupted_by_sigterm():
            changed = refresh_notebooks(check=check, jobs=jobs)
    except NotebookRunError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(changed)} notebooks changed")


@main.command(
    epilog=commands.examples(
        "privacy-distortion verify",
        "privacy-distortion verify --quick",
        "privacy-distortion verify --quick --only alvim2011.table_1a",
    )
)
@click.option(
    "--instances",
    type=Whole(min=1),
    metavar="NUMBER",
    help=f"Largest number of random instances of each entry; default: {INSTANCES}. Slow checks take fewer.",
)
@click.option("--quick", is_flag=True, help=f"At most {QUICK} random instances of each entry.")
@address_option
@click.option(
    "--record", is_flag=True, help="Overwrite data/ledger.csv with the new verdicts, in place of the comparison."
)
@click.option(
    "--only",
    default="",
    metavar="NAME",
    help="Check and print only the entries whose names begin with NAME, without the comparison.",
)
def verify(instances: int | None, quick: bool, scheduler: str, record: bool, only: str) -> None:
    """Check every entry of the ledger again and compare with the stored verdicts.

    Entries without a proof are tested with up to 500 random instances. As a control, each check also runs on altered versions of
    its statement, in which one constant, hypothesis or sign is changed; each altered version must get another verdict.
    """
    if quick and instances is not None:
        raise click.UsageError(
            f"--instances must be left out with --quick; got {instances}. --quick means --instances {QUICK}."
        )
    count = QUICK if quick else instances or INSTANCES
    check_effects(dict.fromkeys(("record", "scheduler"), only and "with --only"))
    if record and count != INSTANCES:
        raise click.UsageError(
            f"--instances must be {INSTANCES} with --record; got {count}. Leave it out, and --quick too."
        )
    try:
        if only:
            _print_entries(only, count)
            return
        if record:
            check_checkout("verify --record")
        recorded = [] if record else _ledger()  # before minutes of work that it would make useless
        rows = _judged(count, scheduler)
    except (pr.CertificateError, pr.SolverError, *EXPECTED) as error:
        raise click.ClickException(in_words(error)) from None
    verdicts = Counter(row.verdict for row in rows)
    click.echo(f"{len(rows)} entries: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS))
    variants = sum(row.variants for row in rows)
    click.echo(
        f"{sum(row.rejected for row in rows)} of {variants} changed statements change the verdict; "
        f"{sum(row.verdict != 'not checkable' and not row.variants for row in rows)} entries have no changed statement"
    )
    worthless = faults(rows)
    for line in worthless:
        click.echo(line, err=True)
    if record:
        write_ledger(rows)
        click.echo(f"The ledger is written: {LEDGER}")
        return
    differences = compare(rows, recorded, same_instances=count == INSTANCES)
    for line in differences:
        click.echo(line, err=True)
    if differences or worthless:
        raise click.ClickException(
            f"verdicts must be as in the ledger; got {len(differences)} differences and {len(worthless)} entries whose check is "
            "void. Correct the checks, or store the new verdicts by verify --record."
        )
    click.echo("All verdicts are as in the ledger.")


def _print_entries(beginning: str, count: int) -> None:
    every = all_claims()
    chosen = [claim for claim in every if claim.name.startswith(beginning)]
    if not chosen:
        near = difflib.get_close_matches(beginning, [claim.name for claim in every], n=1)
        way = f"Did you mean {near[0]!r}?" if near else f"Begin with a paper: {', '.join(PAPERS)}."
        raise click.UsageError(f"--only must be the beginning of an entry's name; got {beginning!r}. {way}")
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
        raise ValueError("no entries")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.ClickException(
            f"the ledger must be a file with an entry in each row; got {str(LEDGER)!r} ({type(error).__name__}: "
            f"{' '.join(str(error).split())}). Restore the file, or write it by verify --record."
        ) from None


def _judged(count: int, scheduler: str) -> list[Row]:
    with click.progressbar(length=1, label=f"up to {count} random instances of each entry", file=sys.stderr) as bar:

        def progress(done: int, tasks: int) -> None:
            bar.length = tasks
            bar.update(done - bar.pos)

        journal = Journal(ROOT / "build" / "verify") if in_checkout() else None
        with interrupted_by_sigterm():
            rows = judge(count, scheduler=scheduler, progress=progress, journal=journal)
        if journal:
            journal.close()
        return rows


@main.command(
    epilog=f"Known source sets: {', '.join(pr.source_set_names())}.\n\n"
    + commands.examples(
        "privacy-distortion best P_II_6 --distortion 0.2",
        "privacy-distortion best priors.csv --leakage 1.5 --notion 'mutual information'",
        "privacy-distortion best P_II_4 --distortion 1/5 --notion 'approximate differential privacy' --delta 0.01 --standard",
    )
)
@click.argument("source_set")
@budget_options
@notion_options
def best(
    source_set: str,
    distortion: float | None,
    leakage: float | None,
    notion: str,
    standard: bool,
    **parameters: float | None,
) -> None:
    """Print the optimal mechanism for SOURCE_SET, a known name or a CSV file of priors, at a distortion or a leakage.

    A distortion holds for all priors of the set: it is the largest expected share of changed entries over them.
    """
    check_budget(distortion, leakage)
    try:
        chosen = chosen_notion(notion, standard=standard, **parameters)
        source = pr.load_source_set(source_set)
        found = pr.optimal_mechanism(source, distortion=distortion, leakage=leakage, notion=chosen)
    except (ValueError, *EXPECTED) as error:
        raise click.ClickException(in_words(error)) from None
    click.echo(found)
    labels = [str(label) for label in source.labels]
    width = max(8, *map(len, labels))
    click.echo(" ".join(cell.rjust(width) for cell in ["", *labels]))
    for label, row in zip(labels, found.mechanism.matrix, strict=True):
        click.echo(" ".join(cell.rjust(width) for cell in [label, *(f"{value:.6f}" for value in row)]))
