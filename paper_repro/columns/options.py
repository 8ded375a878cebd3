"""What commands share: options of a notion, errors of one line, tables for a terminal, a bar of progress."""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
import shlex
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from paper_repro.checks import as_number, check_distortion, check_leakage
from paper_repro.errors import MissingPackageError, optional
from paper_repro.notions import NOTION_NAMES, Notion, notion_by_name
from paper_repro.reproduce.cluster import check_address

__all__ = [
    "EXPECTED",
    "NUMBER",
    "Once",
    "address_option",
    "budget_options",
    "check_effects",
    "checked",
    "chosen_notion",
    "floors_of",
    "in_flags",
    "interrupted_by_sigterm",
    "json_option",
    "notion_options",
    "one_line_errors",
    "printed_json",
    "printed_table",
    "progress_bar",
    "said",
]

# An exception raised while Python imports or collects garbage is lost: it is raised again at the next step.
_told_to_stop = threading.Event()

# Rows that are put into a frame: rich takes a minute for 20,000.
_MOST_FRAMED = 500

Command = TypeVar("Command", bound=Callable[..., Any])

EXPECTED = (OSError, MissingPackageError)
"""What is said in one line, with a ValueError about what the user gave; all else is a fault of the program, shown whole."""


class _Number(click.types.FloatParamType):
    """A number such as 0.25, or 1/3, which stays rational."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return as_number(value)
        except TypeError:  # infinity, or what click has a sentence for
            return float(super().convert(value, param, ctx))


NUMBER = _Number()


def floors_of(given: Sequence[str]) -> float | dict[str, float] | None:
    """What ``--keep-at-least`` says: a probability for all categories, or one for each named; None if nothing.

    Raises BadParameter.

    >>> floors_of(["0.5"]), floors_of(["yes=3/4", "no=0.5"])
    (0.5, {'yes': 0.75, 'no': 0.5})
    """
    named = [text.rpartition("=") for text in given]
    floors = {name: NUMBER.convert(number, None, None) for name, _, number in named}
    if len(floors) < len(named) or (len(named) > 1 and not all(sign for _, sign, _ in named)):
        raise click.BadParameter(f"give one number for all categories, or one for each CATEGORY, got {' '.join(given)}")
    return floors if any(sign for _, sign, _ in named) else next(iter(floors.values()), None)


class Once(click.Command):
    """A command that refuses an option given twice, where click would take the last one without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does. Raises UsageError for an option, or another name of it, that is there more than once."""
        try:
            given = Counter(self.make_parser(ctx).parse_args(list(args))[2])
        except click.UsageError:
            given = Counter()  # said below, in click's words
        for parameter, times in given.items():
            if times > 1 and isinstance(parameter, click.Option) and not parameter.multiple:
                raise click.UsageError(f"{_flags(parameter)} is given {times} times; give it once", ctx)
        return super().parse_args(ctx, args)


def _flags(option: click.Option) -> str:
    return " or ".join([*option.opts, *option.secondary_opts])


def check_effects(idle: Mapping[str, str | bool]) -> None:
    """Refuse each option that was given and would change nothing; why, if it would, by the names of the options.

    Raises UsageError.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if idle.get(name) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} has no effect {idle[name]}; leave it out")


def in_flags(text: str, commands: Sequence[click.Command]) -> str:
    """A sentence of the library, which names arguments of Python, for whoever has the options of these commands.

    >>> release = click.Command("release", params=[click.Option(["--keep-at-least"]), click.Option(["--estimable/--bare"])])
    >>> in_flags("keep_at_least is too much. Take keep_at_least=0.5, or estimable=False.", [release])
    '--keep-at-least is too much. Take --keep-at-least 0.5, or --bare.'
    """
    options: dict[str, click.Option] = {}
    for option in (one for command in commands for one in command.params if isinstance(one, click.Option)):
        options.setdefault(option.name or "", option)

    def flag(found: re.Match[str]) -> str:
        option, value = options[found[1]], found[2].strip("[]").strip("'\"")
        if option.is_flag:
            return (option.secondary_opts or option.opts)[0] if value == "False" else option.opts[0]
        return option.opts[0] if value == "..." else f"{option.opts[0]} {shlex.quote(value)}"

    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    text = re.sub(rf"(?<![\w'\"-])({names})=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|\.\.\.|[^\s,;:)]*[^\s,;:).])", flag, text)
    long = "|".join(name for name in options if "_" in name) or "(?!)"
    return re.sub(rf"(?<![\w'\"-])({long})(?![\w'\"=])", lambda found: options[found[1]].opts[0], text)


def _all_commands() -> list[click.Command]:
    """The one that runs, and then the others of its group."""
    context = click.get_current_context()
    group = context.find_root().command
    return [context.command, *(group.commands.values() if isinstance(group, click.Group) else ())]


def said(text: str) -> str:
    """A sentence of the library, in one line and in the options of the commands: see :func:`in_flags`."""
    return in_flags(" ".join(text.split()), _all_commands())


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
            what = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
            raise click.ClickException(said(what)) from None
        except (ValueError, *EXPECTED) as error:
            raise click.ClickException(said(str(error))) from None

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
        click.option("--leakage", type=NUMBER, callback=checked(check_leakage), help="Largest leakage, in nats."),
        click.option(
            "--distortion",
            type=NUMBER,
            callback=None if losses else checked(check_distortion),
            help="Largest probability of change, in [0, 1]" + "; with --losses, the largest expected one." * losses,
        ),
    ):
        command = option(command)
    return command


def notion_options(command: Command) -> Command:
    """The options ``--notion``, ``--alpha`` and ``--delta``, for :func:`chosen_notion`."""
    for option in (
        click.option("--delta", type=NUMBER, help="Of approximate differential privacy; default: 0.1."),
        click.option("--alpha", type=NUMBER, help="Order of the Renyi and Sibson notions; default: 2."),
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
    """Print a table: numbers with six significant digits, to the right; a long one as lines with tabs, without a frame."""
    if len(rows) > _MOST_FRAMED:
        click.echo("\n".join([title, "\t".join(head), *("\t".join(map(_cell, row)) for row in rows)]))
        return
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
