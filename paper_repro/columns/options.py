"""What commands share: options of a notion, errors of one line, tables for a terminal, a bar of progress."""

from __future__ import annotations

import functools
import inspect
import json
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from paper_repro.checks import check_distortion, check_leakage
from paper_repro.errors import CertificateError, MissingPackageError, SolverError, optional
from paper_repro.notions import NOTION_NAMES, Notion, notion_by_name
from paper_repro.reproduce.cluster import check_address

__all__ = [
    "EXPECTED",
    "address_option",
    "budget_options",
    "checked",
    "chosen_notion",
    "interrupted_by_sigterm",
    "json_option",
    "notion_options",
    "one_line_errors",
    "printed_json",
    "printed_table",
    "progress_bar",
]

# An exception raised while Python imports or collects garbage is lost: it is raised again at the next step.
_told_to_stop = threading.Event()

Command = TypeVar("Command", bound=Callable[..., Any])

EXPECTED = (OSError, MissingPackageError, CertificateError, SolverError)
"""What is said in one line, with a ValueError about what the user gave; all else is a fault of the program, shown whole."""


def one_line_errors(command: Command) -> Command:
    """A decorator: what is expected to go wrong is one line on stderr with exit code 1, and SIGTERM is taken for Ctrl-C.

    Raises ClickException, which click makes that line of.
    """

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            with interrupted_by_sigterm():
                return command(*arguments, **options)
        except OSError as error:
            said = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
            raise click.ClickException(" ".join(said.split())) from None
        except (ValueError, *EXPECTED) as error:
            raise click.ClickException(" ".join(str(error).split())) from None

    return wrapped  # type: ignore[return-value]


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C: else worker processes, or a file not yet whole, would stay behind."""

    def interrupt(*_: object) -> None:
        _told_to_stop.set()
        raise KeyboardInterrupt

    _told_to_stop.clear()
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def checked(check: Callable[[float], float]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """What an option's value, or each of them, has to pass, dimensionless or in nats.

    Raises BadParameter, which names the option.
    """

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return tuple(map(check, value)) if isinstance(value, tuple) else None if value is None else check(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


def budget_options(command: Command, *, losses: bool = False) -> Command:
    """The options ``--distortion`` and ``--leakage``."""
    for option in (
        click.option("--leakage", type=float, callback=checked(check_leakage), help="Largest leakage, in nats."),
        click.option(
            "--distortion",
            type=float,
            callback=None if losses else checked(check_distortion),
            help="Largest probability of change, in [0, 1]" + "; with --losses, the largest expected one." * losses,
        ),
    ):
        command = option(command)
    return command


def notion_options(command: Command) -> Command:
    """The options ``--notion``, ``--alpha`` and ``--delta``, for :func:`chosen_notion`."""
    for option in (
        click.option("--delta", type=float, help="Of approximate differential privacy; default: 0.1."),
        click.option("--alpha", type=float, help="Order of the Renyi and Sibson notions; default: 2."),
        click.option(
            "--notion",
            type=click.Choice(NOTION_NAMES),
            default=NOTION_NAMES[0],
            show_default=True,
            metavar="NOTION",
            help=f"What counts as leakage: {', '.join(NOTION_NAMES)}.",
        ),
    ):
        command = option(command)
    return command


def chosen_notion(name: str, **parameters: float | None) -> Notion:
    """The notion of these options; its parameters are dimensionless.

    Raises UsageError for a parameter that it does not have, BadParameter for a value that it refuses.
    """
    given: dict[str, Any] = {option: value for option, value in parameters.items() if value is not None}
    known = inspect.signature(type(notion_by_name(name))).parameters
    for option in given.keys() - known.keys():
        raise click.UsageError(f"--{option} has no effect on {name}; leave it out")
    try:
        return notion_by_name(name, **given)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=[f"--{option}" for option in given]) from None


def _address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        return check_address(value) if value else value
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


address_option: Callable[[Any], Any] = click.option(
    "--scheduler", default="", callback=_address, help="Address of a Dask scheduler to spread the work over."
)
json_option: Callable[[Any], Any] = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def printed_json(content: Any) -> None:
    """Print JSON; what is infinite or unknown becomes null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(name): plain(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [plain(part) for part in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    click.echo(json.dumps(plain(content), ensure_ascii=False, indent=2))


def printed_table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> None:
    """Print a table: numbers with six significant digits, to the right."""
    tables, consoles = optional("rich.table", "data"), optional("rich.console", "data")
    table = tables.Table(title=title, caption=caption or None, title_justify="left", caption_justify="left")
    for place, name in enumerate(head):
        numbers = all(isinstance(row[place], int | float | None) for row in rows)
        table.add_column(name, justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console = consoles.Console(width=None if sys.stdout.isatty() else 130, highlight=False, markup=False)
    console.print(table)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1e4 and math.isfinite(value) else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, if that is a terminal; what it gives is called with what was done since the last call, and the total."""
    bars, consoles = optional("rich.progress", "data"), optional("rich.console", "data")
    console = consoles.Console(stderr=True)
    with bars.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            if _told_to_stop.is_set():
                raise KeyboardInterrupt
            bar.update(task, advance=done, total=total)

        yield advance
