"""The command ``paper-repro``: draw the figures, refresh the notebooks, or ask for one best mechanism."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

import paper_repro as pr
from paper_repro.claims import VERDICTS, compare, judge, read_ledger, write_ledger
from paper_repro.claims.verify import INSTANCES, LEDGER, QUICK
from paper_repro.notions import NOTION_NAMES
from paper_repro.paths import FIGURES
from paper_repro.reproduce.runs import NotebookRunError, refresh_notebooks, run_figures

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pr.__version__)
def main() -> None:
    """How little need a published category reveal, if it may be changed with probability at most D?"""


@main.command()
@click.option(
    "--output", type=click.Path(path_type=Path), default=FIGURES, help="Folder for the files; default: figures/."
)
@click.option("--only", multiple=True, metavar="RUN", help="Only this run of notebooks/runs.toml; may be repeated.")
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
def figures(output: Path, only: tuple[str, ...], jobs: int) -> None:
    """Run the notebooks and collect the figures and tables that they draw, with a manifest."""
    try:
        written = run_figures(output, only, jobs)
    except NotebookRunError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(written)} files in {output}")


@main.command()
@click.option("--check", is_flag=True, help="Compare with the stored outputs and change nothing.")
@click.option("--jobs", default=2, show_default=True, help="Notebooks that run at the same time.")
def notebooks(check: bool, jobs: int) -> None:
    """Run the notebooks again and store their outputs."""
    try:
        changed = refresh_notebooks(check=check, jobs=jobs)
    except NotebookRunError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(changed)} notebooks changed")


@main.command()
@click.option("--instances", type=click.IntRange(min=1), help=f"Random instances a claim; default: {INSTANCES}.")
@click.option("--quick", is_flag=True, help=f"Only {QUICK} random instances a claim.")
@click.option("--scheduler", default="", help="Address of a Dask scheduler to spread the work over.")
@click.option("--record", is_flag=True, help="Put the result on record instead of comparing it.")
def verify(instances: int | None, quick: bool, scheduler: str, record: bool) -> None:
    """Judge every claim of the five papers again and compare with the ledger on record."""
    count = instances or (QUICK if quick else INSTANCES)
    with click.progressbar(length=1, label=f"{count} random instances a claim", file=sys.stderr) as bar:

        def progress(done: int, tasks: int) -> None:
            bar.length = tasks
            bar.update(done - bar.pos)

        try:
            rows = judge(count, scheduler=scheduler, progress=progress)
        except (OSError, pr.SolverError) as error:
            raise click.ClickException(str(error)) from None
    verdicts = Counter(row.verdict for row in rows)
    click.echo(f"{len(rows)} claims: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS))
    if record:
        write_ledger(rows)
        click.echo(f"on record in {LEDGER}")
        return
    differences = compare(rows, read_ledger(), same_instances=count == INSTANCES)
    for line in differences:
        click.echo(line, err=True)
    if differences:
        raise click.ClickException(f"{len(differences)} differences from the ledger on record")
    click.echo("as on record")


@main.command()
@click.argument("source_set")
@click.option("--distortion", type=float, help="Largest probability of change, in [0, 1].")
@click.option("--leakage", type=float, help="Largest leakage, in nats.")
@click.option("--notion", default=NOTION_NAMES[0], show_default=True, help=f"One of: {', '.join(NOTION_NAMES)}.")
@click.option("--alpha", type=float, default=2.0, show_default=True, help="Order of the Renyi and Sibson notions.")
@click.option("--delta", type=float, default=0.1, show_default=True, help="Of approximate differential privacy.")
def best(
    source_set: str, distortion: float | None, leakage: float | None, notion: str, alpha: float, delta: float
) -> None:
    """Print the best mechanism for SOURCE_SET, a known name or a CSV file, at a distortion or a leakage."""
    try:
        source = pr.load_source_set(source_set)
        chosen = pr.notion_by_name(notion, alpha=alpha, delta=delta)
        found = pr.optimal_mechanism(source, distortion=distortion, leakage=leakage, notion=chosen)
    except (ValueError, OSError, pr.CertificateError, pr.SolverError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(found)
    labels = [str(label) for label in source.labels]
    width = max(8, *map(len, labels))
    click.echo(" ".join(cell.rjust(width) for cell in ["", *labels]))
    for label, row in zip(labels, found.mechanism.matrix, strict=True):
        click.echo(" ".join(cell.rjust(width) for cell in [label, *(f"{value:.6f}" for value in row)]))
