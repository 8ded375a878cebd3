"""The commands for a column of one's own: what it would cost, its release, estimates from it, and its mechanism verified."""

from __future__ import annotations

import functools
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from paper_repro.checks import as_number, check_distortion, check_grid
from paper_repro.columns.documents import MechanismDocument
from paper_repro.columns.estimating import estimate as estimated
from paper_repro.columns.knowing import WORDS, known_labels, known_source, read_column
from paper_repro.columns.options import (
    NUMBER,
    Once,
    address_option,
    budget_options,
    check_effects,
    checked,
    chosen_notion,
    floors_of,
    json_option,
    notion_options,
    one_line_errors,
    printed_json,
    printed_table,
    progress_bar,
    said,
)
from paper_repro.columns.releasing import release as released
from paper_repro.columns.tables import open_table
from paper_repro.columns.tradeoffs import DISTORTIONS, matrix_of, tradeoffs_of_rows
from paper_repro.columns.tradeoffs import tradeoff as costs_of
from paper_repro.columns.writing import check_output, whole_or_nothing, write_table
from paper_repro.errors import optional
from paper_repro.sources import SourceSet

__all__ = ["estimate", "inspect", "release", "tradeoff"]

_NO_KEY = (
    "The key was made for this release and is thrown away: rows of it agree, those of a later release will not; --key FILE "
    "keeps one."
)
_EACH_ROW = {True: "with --each-row, which takes TABLE as it is", False: "without --each-row"}
_OUTSIDE = (
    "Unbiased estimates may be below 0 or above 1, and intervals are not: such a frequency is close to the end of its "
    "interval; --method likelihood gives none of them."
)
_SAME_DATA = (
    "What is known was taken from these very rows; publish the choice of a mechanism and you tell something of their "
    "frequencies."
)


def _known(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value not in WORDS and not value.lower().endswith(".csv"):
        raise click.BadParameter(f"{value!r} is none of {', '.join(WORDS)}, and no CSV of distributions")
    return value


def _column_options(command: Callable[..., Any]) -> Any:
    for option in (
        click.option(
            "--missing-value",
            "missing_values",
            multiple=True,
            metavar="TEXT",
            help="What stands for a missing value in a CSV, beside an empty cell; may be repeated.",
        ),
        click.option("--encoding", default="", help="Of a CSV; default: UTF-8."),
        click.option(
            "--missing",
            type=click.Choice(["refuse", "keep", "category"]),
            default="refuse",
            show_default=True,
            help="What to do with missing values: publish them as missing, or make them a category.",
        ),
        click.option(
            "--confidence",
            type=float,
            default=0.95,
            show_default=True,
            help="Of the intervals around counts, all at once.",
        ),
        click.option(
            "--source",
            default="counts",
            show_default=True,
            metavar="KNOWN",
            callback=_known,
            help=f"What is known: {', '.join(WORDS)}, or a CSV of distributions.",
        ),
    ):
        command = option(command)
    return command


def _epilog(*examples: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)


@click.command(
    cls=Once,
    epilog=_epilog(
        "paper-repro tradeoff survey.csv --column eye_color",
        "paper-repro tradeoff survey.csv --column eye_color --source unknown --at 0.1 --at 0.2 --json",
        "paper-repro tradeoff survey.csv --column eye_color --missing keep --picture eyes.png",
        "paper-repro tradeoff years.parquet --each-row --at 0.3",
    ),
)
@click.argument("table")
@click.option("--column", help="The column of categories.")
@_column_options
@click.option(
    "--at",
    "distortions",
    type=NUMBER,
    multiple=True,
    callback=checked(check_distortion),
    help="A distortion, in [0, 1]; may be repeated. Default: 0.05 to 0.5.",
)
@notion_options
@click.option(
    "--pram",
    metavar="MATRIX.csv",
    help="Compare with a matrix of one's own: a header of categories, and a row for each.",
)
@click.option("--picture", metavar="FILE.png", help="Draw the curves into this file.")
@click.option(
    "--each-row", is_flag=True, help="TABLE has a source set in each row: probabilities or counts by category."
)
@click.option("--output", metavar="FILE", help="With --each-row: write the answers into this CSV or Parquet file.")
@address_option
@json_option
@click.pass_obj
@one_line_errors
def tradeoff(
    draw: Callable[..., None] | None,
    table: str,
    column: str | None,
    source: str,
    confidence: float,
    missing: Any,
    encoding: str,
    missing_values: tuple[str, ...],
    distortions: tuple[float, ...],
    notion: str,
    alpha: float | None,
    delta: float | None,
    pram: str | None,
    picture: str | None,
    each_row: bool,
    output: str | None,
    scheduler: str,
    as_json: bool,
) -> None:
    """Print the least leakage at each distortion for a column of TABLE, a CSV or Parquet file, beside what is usual."""
    chosen, asked = chosen_notion(notion, alpha=alpha, delta=delta), distortions or DISTORTIONS
    whole = ("column", "pram", "picture", "source", "missing", "missing_values", "encoding")
    check_effects(dict.fromkeys(whole if each_row else ("output", "scheduler"), _EACH_ROW[each_row]))
    check_effects({"as_json": "with --output" if output else "", **_idle_confidence(source)})
    if each_row:
        _each_row(table, asked, chosen, confidence, output, scheduler, as_json)
        return
    if not column:
        raise click.UsageError("name the column of categories: --column")
    drawn = check_output(picture, kinds=(".png", ".svg", ".pdf"), what="picture") if picture else None
    given = SourceSet.from_csv(source) if source.lower().endswith(".csv") else source
    found = read_column(
        open_table(table, encoding=encoding, missing=missing_values),
        column,
        missing=missing,
        labels=known_labels(given),
    )
    known = known_source(given, found.counts[0], found.categories.labels, confidence=confidence)
    rows = costs_of(known, asked, notion=chosen)
    own = None
    if pram:
        matrix = matrix_of(pram, known.labels)
        distortion = known.worst_case_distortion(matrix)
        own = {"distortion": distortion, "leakage": chosen.leakage(matrix, known)}
        own["least"] = costs_of(known, [distortion], notion=chosen)[0]["least"]
    notes = list(map(said, found.notes))
    if source in WORDS[:3]:
        notes.append(_SAME_DATA)
    if drawn:
        assert draw is not None, "the group of commands says what draws"
        draw(rows, own, f"{column}: {known.alphabet_size} categories, {chosen.name}", drawn)
    if as_json:
        about = {"table": table, "column": column, "rows": int(found.counts.sum()), "source_set": repr(known)}
        about |= {"class": known.source_class, "notion": chosen.name, "notes": notes}
        printed_json(about | {"points": rows, "pram": own})
        return
    head = ["distortion", "least", "estimable", "nothing known", "randomized response", "saved"]
    saved = [row["nothing_known"] - row["least"] if math.isfinite(row["least"]) else 0.0 for row in rows]
    printed_table(
        f"{column} in {table}: leakage in nats, {chosen.name}",
        head,
        [[*row.values(), gain] for row, gain in zip(rows, saved, strict=True)],
    )
    bounds = (
        "" if known.bounds is None else f", each known within {(known.bounds[1] - known.bounds[0]).max():.2g} or less"
    )
    click.echo(
        f"{int(found.counts.sum()):,} rows, {known.alphabet_size} categories{bounds}: Class {known.source_class}. "
        + (
            "Knowing this buys nothing: the uniform distribution is possible."
            if known.source_class == "I"
            else f"Knowing this buys up to {max(saved):.3g} nats."
        )
    )
    if own:
        click.echo(
            f"{pram}: {own['leakage']:.6g} nats at distortion {own['distortion']:.6g}, where {own['least']:.6g} nats "
            "are enough."
        )
    for note in notes:
        click.echo(note)


def _each_row(
    table: str, asked: Any, notion: Any, confidence: float, output: str | None, scheduler: str, as_json: bool
) -> None:
    path = check_output(output) if output else None
    with progress_bar("source sets") as progress:
        found = tradeoffs_of_rows(
            table, asked, notion=notion, confidence=confidence, scheduler=scheduler, progress=progress
        )
    if path:
        answers = open_table(found)
        with whole_or_nothing(path) as file:
            write_table(file, path, answers.schema, answers.batches(), answers)
        click.echo(f"{len(found)} rows in {path}")
    elif as_json:
        printed_json(found.to_pylist())
    else:
        rows = [list(row.values()) for row in found.to_pylist()]
        printed_table(f"Least leakage in nats at each distortion, {notion.name}", found.schema.names, rows)


@click.command(
    cls=Once,
    epilog=_epilog(
        "paper-repro release survey.csv --column eye_color --distortion 0.3 --output private.parquet",
        "paper-repro release survey.csv --column eye_color --leakage 1.5 --missing keep",
        "paper-repro release survey.csv --column eye_color --distortion 0.3 --by region --output regions.csv",
        "paper-repro release survey.csv --column eye_color --distortion 0.3 --consistent-by id --key key.bin --output "
        "again.csv",
    ),
)
@click.argument("table")
@click.option("--column", required=True, help="The column of categories.")
@functools.partial(budget_options, losses=True)
@click.option(
    "--output",
    metavar="FILE",
    help="The CSV or Parquet file to write; without it, what would be released is only reported on.",
)
@_column_options
@notion_options
@click.option(
    "--estimable/--bare",
    default=True,
    show_default=True,
    help=(
        "Publish every category at a stated price, so that all frequencies can be estimated; or take the "
        "optimum as it is."
    ),
)
@click.option(
    "--keep-at-least",
    multiple=True,
    metavar="[CATEGORY=]NUMBER",
    callback=lambda context, option, given: floors_of(given),
    help="Probability with which each category is kept at least, or the one that is named; that may be repeated.",
)
@click.option("--invariant", is_flag=True, help="Keep the expected frequencies as they are.")
@click.option(
    "--forbidden",
    nargs=2,
    multiple=True,
    metavar="TRUE PUBLISHED",
    help="Never publish the one for the other; may be repeated.",
)
@click.option(
    "--losses", metavar="MATRIX.csv", help="Costs of each change: a header of categories, and a row for each."
)
@click.option("--by", default="", metavar="COLUMN", help="A source set and a mechanism for each value of this column.")
@click.option(
    "--consistent-by", default="", metavar="ID", help="A column of IDs: the same ID and answer are published alike."
)
@click.option("--key", metavar="FILE", help="With --consistent-by: the secret key; made if there is no such file.")
@click.option("--seed", type=int, help="UNSAFE, for tests: draw the same each time.")
@address_option
@json_option
@one_line_errors
def release(table: str, alpha: float | None, delta: float | None, as_json: bool, **options: Any) -> None:
    """Publish a column of TABLE, a CSV or Parquet file, through the best mechanism; other columns keep their values.

    A CSV is written with its separator and encoding, and with quotation marks and line ends anew.
    """
    if (options["distortion"] is None) == (options["leakage"] is None):
        raise click.UsageError("give exactly one budget: --distortion or --leakage")
    check_effects({"key": "" if options["consistent_by"] else "without --consistent-by"})
    check_effects(_idle_confidence(options["source"]))
    options["notion"] = chosen_notion(options["notion"], alpha=alpha, delta=delta)
    has_key = bool(options["key"])
    options["key"] = _key(Path(options["key"]), options["output"]) if options["key"] else None
    options["forbidden"] = options["forbidden"] or None
    if options["losses"]:
        options["losses"] = _numbers(options["losses"])
    with progress_bar("rows") as progress:
        made = released(table, options.pop("column"), progress=progress, **options)
    report = made.report()
    report["notes"] = list(map(said, made.notes))
    if options["consistent_by"] and not has_key:
        report["notes"].append(_NO_KEY)
    if as_json:
        printed_json(report)
        return
    for told in report["strata"]:
        name = f" where {options['by']} is {told['stratum']}" if options["by"] else ""
        unit = told["unit"]
        rows = [
            ("rows", told["rows"]),
            ("missing", told["missing"]),
            ("known", f"{told['source_set']}"),
            ("leakage, nats", told["leakage"]),
            ("distortion, expected in the worst case", told["distortion"]),
            (f"least possible, {unit}", told["least_possible"]),
            (
                f"price of estimability, {unit}",
                told["price_of_estimability"],
            ),
            *(
                [(f"least if nothing were known, {unit}", told["least_without_knowledge"])]
                if told["least_without_knowledge"] is not None
                else []
            ),
            *((f"leakage by {notion}, nats", nats) for notion, nats in told["leakages"].items()),
        ]
        printed_table(f"{made.column}{name}", ["", ""], [[label, _text(value)] for label, value in rows])
        worth = sorted(told["effective_rows"].items(), key=lambda item: item[1])
        shown = [[label, value] for label, value in worth[:20]]
        printed_table("Unchanged rows that would tell as much (the least)", ["category", "effective rows"], shown)
    for note in report["notes"]:
        click.echo(note)
    if made.output:
        click.echo(f"{made.output} is written, and its mechanism: {', '.join(map(str, made.documents))}")
    else:
        click.echo("Nothing was written; add --output FILE to release it.")


def _idle_confidence(source: str) -> dict[str, str]:
    return {"confidence": "" if source == "counts" else f"with --source {source}: intervals are made around counts"}


def _text(value: Any) -> str:
    if value is None:
        return "not evaluated for so many categories or vertices"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


def _key(path: Path, output: str | None) -> bytes | None:
    """The key in a file, which is made if there is none and something is released."""
    if output and Path(output).resolve() == path.resolve():
        raise ValueError(f"{path} is named as the key and as the output; name two files")
    if not path.exists():
        if not output:
            return None
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(os.urandom(32))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file for the key")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise PermissionError(
            f"others may read the key {path}, and undo the release; make it yours alone: chmod 600 {path}"
        )
    key = path.read_bytes()
    if not 16 <= len(key) <= 64:
        raise ValueError(
            f"{path} has {len(key)} bytes, and a key 16 to 64; name a file that is not there, to have one made"
        )
    return key


def _numbers(path: str) -> Any:
    try:
        table = optional("pandas", "data").read_csv(path, comment="#", dtype=str)
        check_grid(table, as_number)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is no table of costs: {error}") from None
    return table


@click.command(
    cls=Once,
    epilog=_epilog(
        "paper-repro estimate private.parquet --column eye_color --mechanism private.mechanism.json",
        "paper-repro estimate private.parquet --column eye_color --mechanism private.mechanism.json --by region --json",
    ),
)
@click.argument("table")
@click.option("--column", required=True, help="The column that was released.")
@click.option(
    "--mechanism",
    "mechanisms",
    required=True,
    multiple=True,
    metavar="FILE.json",
    help="The mechanism it was released with; of strata, each of them, with --by.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of each interval.")
@click.option(
    "--method",
    type=click.Choice(["unbiased", "likelihood"]),
    default="unbiased",
    show_default=True,
    help="Unbiased estimates, which may be negative, or the likeliest frequencies.",
)
@click.option(
    "--of",
    type=click.Choice(["population", "sample"]),
    default="population",
    show_default=True,
    help="Whose frequencies: of those sampled from, or of the released rows themselves.",
)
@click.option("--by", metavar="COLUMN", help="A column that was not changed: a two-way table, as parts of all rows.")
@click.option(
    "--missing",
    type=click.Choice(["refuse", "leave out"]),
    help="Rows without a value; by default left out if the mechanism says that they were kept so, and else refused.",
)
@click.option("--encoding", default="", help="Of a CSV, such as latin-1; UTF-8 if not given.")
@json_option
@one_line_errors
def estimate(table: str, column: str, mechanisms: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Estimate the true frequencies of a released column of TABLE, with confidence intervals."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = estimated(table, column, mechanisms, **options)
    outside = (found.frequencies < found.lower) | (found.frequencies > found.upper)
    notes = [_OUTSIDE] * bool(outside.any())
    notes += [said(str(warning.message)) for warning in heard if issubclass(warning.category, UserWarning)]
    if as_json:
        about = {"records": found.records, "confidence": found.confidence, "method": found.method, "of": found.of}
        printed_json(about | {"estimates": found.rows, "notes": notes})
        return
    rows = found.rows
    head = {name: name for name in rows[0]}
    if found.groups is not None:
        head |= {"group": options["by"], "frequency": "part of all rows"}
        del head["effective sample size"]
    title = f"{column} in {table}: {found.records:,} rows, {found.confidence:.0%} intervals, {found.method}"
    printed_table(title, list(head.values()), [[row[name] for name in head] for row in rows])
    for note in notes:
        click.echo(note, err=True)


@click.command(cls=Once, epilog=_epilog("paper-repro inspect private.mechanism.json"))
@click.argument("mechanism")
@json_option
@one_line_errors
def inspect(mechanism: str, as_json: bool) -> None:
    """Verify every number that a MECHANISM file states, from its integers alone; exit code 1 if one is wrong.

    What no number can tell, such as how many rows there were, is listed as stated only: nobody can verify it.
    """
    document = MechanismDocument.read(mechanism, verify=False)
    checks = document.inspect()
    agree = all(agrees for *_, agrees in checks)
    if as_json:
        names = ("number", "stated", "found", "agrees")
        about = {"checks": [dict(zip(names, check, strict=True)) for check in checks]}
        printed_json({"agrees": agree} | about | {"stated_only": dict(document.stated_only)})
    else:
        rows = [
            [name, _text(stated), _text(found), "yes" if agrees else "NO"] for name, stated, found, agrees in checks
        ]
        printed_table(mechanism, ["", "stated", "found", "agrees"], rows)
        only = [[name, "not stated" if value is None else str(value)] for name, value in document.stated_only]
        printed_table("Stated only, not verifiable", ["", ""], only)
    if not agree:
        wrong = [name for name, *_, agrees in checks if not agrees]
        raise ValueError(f"{mechanism}: not as stated: {', '.join(wrong)}; it was edited, or is of another version")
