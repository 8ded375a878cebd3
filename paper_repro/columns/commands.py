"""The commands for a column of one's own: its tradeoff, its release, estimates from it, and its mechanism verified."""

from __future__ import annotations

import functools
import math
import os
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from paper_repro.checks import as_number, check_distortion, check_grid
from paper_repro.columns.documents import MechanismDocument, words_of
from paper_repro.columns.estimating import estimate as estimated
from paper_repro.columns.knowing import WORDS, known_labels, known_source, read_column
from paper_repro.columns.options import (
    NUMBER,
    Once,
    OneOf,
    Whole,
    address_option,
    budget_options,
    check_budget,
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
from paper_repro.columns.tables import one_line, open_table
from paper_repro.columns.tradeoffs import DISTORTIONS, matrix_of, tradeoffs_of_rows
from paper_repro.columns.tradeoffs import tradeoff as points_of
from paper_repro.columns.writing import check_output, whole_or_nothing, write_table
from paper_repro.errors import optional
from paper_repro.knowledge.counts import check_confidence
from paper_repro.notions import Notion, notion_by_name
from paper_repro.sources import SourceSet

__all__ = ["estimate", "examples", "inspect", "release", "tradeoff"]

_NO_KEY = (
    "The key was made for this release and is not kept: rows of this release agree with each other, but not with a later "
    "release. To repeat it, keep a key by --key FILE."
)
_EACH_ROW = {True: "with --each-row", False: "without --each-row"}
_OUTSIDE = (
    "Unbiased estimates may be below 0 or above 1, their intervals may not: such an estimate lies outside its interval. The "
    "estimates of --method likelihood do not."
)
_SAME_DATA = (
    "The source set was made from these very rows: publishing a mechanism that was chosen for it discloses something of their "
    "frequencies."
)


def _known(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value not in WORDS and not value.lower().endswith(".csv"):
        raise click.BadParameter(
            f"must be one of {', '.join(WORDS)}, or a .csv file of priors; got {value!r}. Choose one, or name a file."
        )
    return value


def _column_options(command: Callable[..., Any]) -> Any:
    for option in (
        click.option(
            "--missing-value",
            "missing_values",
            multiple=True,
            metavar="TEXT",
            help="Text that means a missing value in a CSV file, in addition to an empty cell; may be repeated.",
        ),
        click.option("--encoding", default="", help="Encoding of the CSV file; default: UTF-8."),
        click.option(
            "--missing",
            type=OneOf(["refuse", "keep", "category"]),
            default="refuse",
            show_default=True,
            help="Treatment of missing values: refuse the table, keep them missing, or make them a category.",
        ),
        click.option(
            "--confidence",
            type=NUMBER,
            default=0.95,
            show_default=True,
            metavar="NUMBER",
            callback=checked(check_confidence),
            help="Confidence level at which all intervals around the counts hold at once.",
        ),
        click.option(
            "--source",
            default="counts",
            show_default=True,
            metavar="KNOWN",
            callback=_known,
            help="Priors that are considered possible. counts: all within confidence intervals around the counts of this very "
            "column. frequencies: the frequencies of this column alone. order: all that rank the categories as this column does. "
            "The mechanism then discloses something about these counts, frequencies or ranks. unknown: all priors, so that "
            "the mechanism discloses nothing about the column. A .csv file: the priors in it and their mixtures.",
        ),
    ):
        command = option(command)
    return command


def examples(*lines: str) -> str:
    """Command lines for the end of a help text.

    >>> examples("privacy-distortion inspect private.mechanism.json").splitlines()[1:]
    ['Examples:', '  privacy-distortion inspect private.mechanism.json']
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@click.command(
    cls=Once,
    epilog=examples(
        "privacy-distortion tradeoff survey.csv --column eye_color",
        "privacy-distortion tradeoff survey.csv --column eye_color --source unknown --at 0.1 --at 0.2 --json",
        "privacy-distortion tradeoff survey.csv --column eye_color --missing keep --picture eyes.png",
        "privacy-distortion tradeoff years.csv --each-row --at 0.3",
    ),
)
@click.argument("data", metavar="TABLE")
@click.option("--column", metavar="NAME", help="Name of the column of categories.")
@_column_options
@click.option(
    "--at",
    "distortions",
    type=NUMBER,
    multiple=True,
    callback=checked(check_distortion),
    metavar="NUMBER",
    help="Distortion of a point of the curve, from 0 to 1; may be repeated. Default: 0.05 to 0.5.",
)
@notion_options
@click.option(
    "--pram",
    metavar="MATRIX.csv",
    help="Mechanism of post-randomization (PRAM), as in sdcMicro, to compare with: a CSV file with a header of categories, and a "
    "row of probabilities for each true category.",
)
@click.option("--picture", metavar="FILE.png", help="Picture of the curves to write, as .png, .svg or .pdf.")
@click.option(
    "--each-row",
    is_flag=True,
    help="A source set for each row of TABLE, which has a column of probabilities or counts for each category.",
)
@click.option("--output", metavar="FILE", help="With --each-row: CSV or Parquet file to write the results into.")
@address_option
@json_option
@click.pass_obj
@one_line_errors
def tradeoff(
    draw: Callable[..., None] | None,
    data: str,
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
    standard: bool,
    pram: str | None,
    picture: str | None,
    each_row: bool,
    output: str | None,
    scheduler: str,
    as_json: bool,
) -> None:
    """Print the least leakage at each distortion for a column of TABLE, a CSV or Parquet file.

    The distortion is the largest expected share of changed entries, over the source set. The other columns are the leakage of
    the mechanism that `release` takes by default, the least leakage if nothing is known, and the leakage of randomized response.
    """
    chosen = chosen_notion(notion, alpha=alpha, delta=delta, standard=standard)
    asked = distortions or DISTORTIONS
    whole = ("column", "pram", "picture", "source", "missing", "missing_values", "encoding")
    check_effects(dict.fromkeys(whole if each_row else ("output", "scheduler"), _EACH_ROW[each_row]))
    check_effects({"as_json": "with --output" if output else "", **_idle_confidence(source)})
    if each_row:
        _each_row(data, asked, chosen, confidence, output, scheduler, as_json)
        return
    if not column:
        raise click.UsageError("--column must be given without --each-row; got nothing. Add --column NAME.")
    drawn = check_output(picture, kinds=(".png", ".svg", ".pdf"), what="picture") if picture else None
    given = SourceSet.from_csv(source) if source.lower().endswith(".csv") else source
    found = read_column(
        open_table(data, encoding=encoding, missing=missing_values),
        column,
        missing=missing,
        labels=known_labels(given),
    )
    known = known_source(given, found.counts[0], found.categories.labels, confidence=confidence)
    rows = points_of(known, asked, notion=chosen)
    own = None
    if pram:
        matrix = matrix_of(pram, known.labels)
        distortion = known.worst_case_distortion(matrix)
        own = {"distortion": distortion, "leakage": chosen.leakage(matrix, known)}
        own["least"] = points_of(known, [distortion], notion=chosen)[0]["least"]
    notes = list(map(said, found.notes))
    if source in WORDS[:3]:
        notes.append(_SAME_DATA)
    if drawn:
        assert draw is not None, "the group of commands says what draws"
        draw(rows, own, f"{column}: {known.alphabet_size} categories, {words_of(chosen)}", drawn)
    if as_json:
        about = {"table": data, "column": column, "rows": int(found.counts.sum()), "source_set": repr(known)}
        about |= {"class": known.source_class, "notion": chosen.name, "notes": notes}
        printed_json(about | {"points": rows, "pram": own})
        return
    head = ["distortion", "least", "estimable", "nothing known", "randomized response", "saved"]
    saved = [row["nothing_known"] - row["least"] if math.isfinite(row["least"]) else 0.0 for row in rows]
    printed_table(
        f"{column} in {data}: leakage in nats, measured by {words_of(chosen)}",
        head,
        [[*row.values(), gain] for row, gain in zip(rows, saved, strict=True)],
    )
    bounds = (
        "" if known.bounds is None else f", each known within {(known.bounds[1] - known.bounds[0]).max():.2g} or less"
    )
    click.echo(
        f"{int(found.counts.sum()):,} rows, {known.alphabet_size} categories{bounds}: Class {known.source_class}. "
        + (
            "The source set saves no leakage, since it contains the uniform prior."
            if known.source_class == "I"
            else f"The source set saves up to {max(saved):.3g} nats."
        )
    )
    if own:
        click.echo(
            f"{pram}: leakage {own['leakage']:.6g} nats at distortion {own['distortion']:.6g}; the least possible is "
            f"{own['least']:.6g} nats."
        )
    for note in notes:
        click.echo(note)
    if drawn:
        click.echo(f"The picture is written: {drawn}")


def _each_row(
    data: str, asked: Any, notion: Any, confidence: float, output: str | None, scheduler: str, as_json: bool
) -> None:
    path = check_output(output) if output else None
    with progress_bar("source sets") as progress:
        found = tradeoffs_of_rows(
            data, asked, notion=notion, confidence=confidence, scheduler=scheduler, progress=progress
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
        title = f"Least leakage in nats at each distortion, measured by {words_of(notion)}"
        printed_table(title, found.schema.names, rows)


@click.command(
    cls=Once,
    epilog=examples(
        "privacy-distortion release survey.csv --column eye_color --distortion 0.3 --output private.parquet",
        "privacy-distortion release survey.csv --column eye_color --leakage 1.5 --missing keep",
        "privacy-distortion release survey.csv --column eye_color --distortion 0.3 --by region --output regions.csv",
        "privacy-distortion release survey.csv --column eye_color --distortion 0.3 --consistent-by id --key key.bin --output "
        "again.csv",
    ),
)
@click.argument("data", metavar="TABLE")
@click.option("--column", required=True, metavar="NAME", help="Name of the column of categories.")
@functools.partial(budget_options, costs=True)
@click.option(
    "--output",
    metavar="FILE",
    help="CSV or Parquet file to write, which must not exist; without it, the release is only reported on.",
)
@_column_options
@notion_options
@click.option(
    "--estimable/--bare",
    default=True,
    show_default=True,
    help=(
        "Mechanism that publishes every category, so that all frequencies can be estimated, at a leakage above the least, which "
        "the report states (with --leakage: at a distortion above the least); or the optimum itself (--bare)."
    ),
)
@click.option(
    "--keep-at-least",
    multiple=True,
    metavar="[CATEGORY=]NUMBER",
    callback=lambda context, option, given: floors_of(given),
    help="Least probability with which each category is kept, or the named one; may be repeated with names.",
)
@click.option("--invariant", is_flag=True, help="Constraint that the expected published frequencies are the true ones.")
@click.option(
    "--forbidden",
    nargs=2,
    multiple=True,
    metavar="TRUE PUBLISHED",
    help="Two categories, of which the second is never published in place of the first; may be repeated.",
)
@click.option(
    "--costs",
    metavar="MATRIX.csv",
    help="Cost of each change: a CSV file with a header of categories, and a row for each.",
)
@click.option(
    "--by",
    default="",
    metavar="NAME",
    help="Column that divides the rows into strata, such as a region: each of its values has its own source set and mechanism.",
)
@click.option(
    "--consistent-by", default="", metavar="NAME", help="Column of IDs: the same ID and category are published alike."
)
@click.option(
    "--key",
    metavar="FILE",
    help="File of the secret key of --consistent-by, made if it does not exist; with it a later release agrees with this one.",
)
@click.option(
    "--seed", type=Whole(min=0), metavar="NUMBER", help="UNSAFE, for tests only: seed of reproducible random draws."
)
@address_option
@json_option
@one_line_errors
def release(data: str, alpha: float | None, delta: float | None, standard: bool, as_json: bool, **options: Any) -> None:
    """Publish a column of TABLE, a CSV or Parquet file, with little leakage at a distortion, or little distortion at a leakage.

    By default the mechanism is the optimal one, mixed with just enough randomized response that all frequencies can be
    estimated; with --bare it is the optimal one. Optimal means least leakage, or with --leakage least distortion. The distortion
    is an average over all rows, not a bound for each person. Least distortion is not least variance: another mechanism of the
    same leakage can give estimates with smaller standard errors.

    With --output NAME.csv or NAME.parquet, the command also writes the mechanism, as NAME.mechanism.json; with --by, one file for
    each stratum. All other columns are copied unchanged. A CSV file keeps its separator and encoding; quotation marks and line
    ends are written anew.
    """
    check_budget(options["distortion"], options["leakage"])
    check_effects({"key": "" if options["consistent_by"] else "without --consistent-by"})
    check_effects(_idle_confidence(options["source"]))
    options["notion"] = chosen_notion(options["notion"], alpha=alpha, delta=delta, standard=standard)
    has_key = bool(options["key"])
    options["key"] = _key(Path(options["key"]), options["output"]) if options["key"] else None
    options["forbidden"] = options["forbidden"] or None
    if options["costs"]:
        options["costs"] = _numbers(options["costs"])
    with progress_bar("rows") as progress:
        made = released(data, options.pop("column"), progress=progress, **options)
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
            ("source set", f"{told['source_set']}"),
            ("privacy notion", words_of(options["notion"])),
            ("leakage, nats", told["leakage"]),
            ("expected cost, the largest" if options["costs"] is not None else "distortion", told["distortion"]),
            (f"least possible, {unit}", told["least_possible"]),
            (
                f"price of estimability, {unit}",
                told["price_of_estimability"],
            ),
            *(
                [(f"least if every prior is possible, {unit}", told["least_without_knowledge"])]
                if told["least_without_knowledge"] is not None
                else []
            ),
            *((f"{_notion_words(name, options['notion'])}, nats", nats) for name, nats in told["leakages"].items()),
        ]
        printed_table(f"{made.column}{name}", ["", ""], [[label, _text(value)] for label, value in rows])
        worth = sorted(told["effective_rows"].items(), key=lambda item: item[1])
        shown = [[label, value] for label, value in worth[:20]]
        title = "Effective sample size: unchanged rows that would give the same standard error (smallest first)"
        printed_table(title, ["category", "effective rows"], shown)
    for note in report["notes"]:
        click.echo(note)
    if made.output:
        click.echo(
            f"The released table is written: {made.output}; its mechanism: {', '.join(map(str, made.documents))}"
        )
    else:
        click.echo("Nothing was written. Add --output FILE to release the column.")


def _notion_words(name: str, chosen: Notion) -> str:
    return words_of(chosen if name == chosen.name else notion_by_name(name))


def _idle_confidence(source: str) -> dict[str, str]:
    return {"confidence": "" if source == "counts" else f"with --source {source}"}


def _text(value: Any) -> str:
    if value is None:
        return "not evaluated for so many categories or vertices"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


def _key(path: Path, output: str | None) -> bytes | None:
    """The key in a file, which is made if there is none and something is released."""
    if output and Path(output).resolve() == path.resolve():
        raise ValueError(f"key must be another file than the output; got {str(path)!r} for both. Name two files.")
    if not path.exists():
        if not output:
            return None
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(os.urandom(32))
    if path.is_dir():
        raise IsADirectoryError(f"key must be a file; got the folder {str(path)!r}. Name a file in it.")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise PermissionError(
            f"key must be a file that only you may read; got {str(path)!r}, which others may read. Run chmod 600 "
            f"{shlex.quote(str(path))}."
        )
    key = path.read_bytes()
    if not 16 <= len(key) <= 64:
        raise ValueError(
            f"key must be a file of 16 to 64 bytes; got {str(path)!r} of {len(key)} bytes. Name a file that does not exist, "
            "and it is made."
        )
    return key


def _numbers(path: str) -> Any:
    try:
        table = optional("pandas", "data").read_csv(path, comment="#", dtype=str)
        check_grid(table, as_number)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"costs must be a CSV file of numbers with a header of categories; got {path!r} ({one_line(error)}). Write each cost "
            "with digits, such as 0.5 or 1/2."
        ) from None
    except OSError as error:
        raise type(error)(
            f"costs must be a CSV file that can be read; got {path!r} ({error.strerror}). Check the name and the folder."
        ) from None
    return table


@click.command(
    cls=Once,
    epilog=examples(
        "privacy-distortion estimate private.parquet --column eye_color --mechanism private.mechanism.json",
        "privacy-distortion estimate private.parquet --column eye_color --mechanism private.mechanism.json --by region --json",
        "privacy-distortion estimate regions.csv --column eye_color --by region --mechanism regions.north.mechanism.json "
        "--mechanism regions.south.mechanism.json",
    ),
)
@click.argument("data", metavar="TABLE")
@click.option("--column", required=True, metavar="NAME", help="Name of the released column.")
@click.option(
    "--mechanism",
    "mechanisms",
    required=True,
    multiple=True,
    metavar="FILE.json",
    help="File NAME.mechanism.json that `release` wrote with the column; after a release with --by, repeated for each stratum, "
    "and with the same --by.",
)
@click.option(
    "--confidence",
    type=NUMBER,
    default=0.95,
    show_default=True,
    metavar="NUMBER",
    callback=checked(check_confidence),
    help="Confidence level of each interval.",
)
@click.option(
    "--method",
    type=OneOf(["unbiased", "likelihood"]),
    default="unbiased",
    show_default=True,
    help="Unbiased estimates, which may be negative, or the likeliest frequencies.",
)
@click.option(
    "--of",
    type=OneOf(["population", "sample"]),
    default="population",
    show_default=True,
    help="True frequencies to estimate: in the population from which the rows were sampled, or in these rows alone.",
)
@click.option(
    "--by",
    metavar="NAME",
    help="Unchanged column, for a two-way table of it and the released column, as proportions of all rows.",
)
@click.option(
    "--missing",
    type=OneOf(["refuse", "leave out"]),
    help="Treatment of rows without a value; default: leave them out if they were released with --missing keep, else refuse.",
)
@click.option("--encoding", default="", help="Encoding of the CSV file; default: UTF-8.")
@json_option
@one_line_errors
def estimate(data: str, column: str, mechanisms: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Estimate the true frequencies of a released column of TABLE, a CSV or Parquet file, with confidence intervals."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = estimated(data, column, mechanisms, **options)
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
        head |= {"group": options["by"], "frequency": "proportion of all rows"}
        del head["effective sample size"]
    title = f"{column} in {data}: {found.records:,} rows, {found.confidence:.0%} intervals, {found.method}"
    printed_table(title, list(head.values()), [[row[name] for name in head] for row in rows])
    for note in notes:
        click.echo(note, err=True)


@click.command(cls=Once, epilog=examples("privacy-distortion inspect private.mechanism.json"))
@click.argument("mechanism")
@json_option
@one_line_errors
def inspect(mechanism: str, as_json: bool) -> None:
    """Compute each number of MECHANISM, a file that `release` wrote, again from its integers; exit code 1 if one is wrong.

    The integers are the probabilities from which `release` drew. Statements that they cannot confirm, such as the number of rows,
    are listed as stated only.
    """
    document = MechanismDocument.read(mechanism, verify=False)
    checks = document.inspect()
    agree = all(agrees for *_, agrees in checks)
    if as_json:
        names = ("number", "stated", "found", "agrees")
        about = {"checks": [dict(zip(names, check, strict=True)) for check in checks]}
        printed_json({"agrees": agree} | about | {"stated_only": dict(document.stated_only)})
    else:
        words = {f"{name}, nats": f"{_notion_words(name, document.notion)}, nats" for name in document.stated}
        rows = [
            [words.get(name, name), _text(stated), _text(found), "yes" if agrees else "NO"]
            for name, stated, found, agrees in checks
        ]
        printed_table(mechanism, ["", "stated", "found", "agrees"], rows)
        only = [[name, "not stated" if value is None else str(value)] for name, value in document.stated_only]
        printed_table("Stated only, cannot be verified", ["", ""], only)
    if not agree:
        wrong = [name for name, *_, agrees in checks if not agrees]
        raise ValueError(
            f"mechanism must have the numbers that it states; got {mechanism!r} with others for {', '.join(wrong)}. Take the "
            "original file, or the version of the package that wrote it."
        )
