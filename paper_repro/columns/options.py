"""Parts that the commands share: options of a notion, errors of one line, tables for a terminal, a bar of progress."""

from __future__ import annotations

import difflib
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
from dataclasses import replace
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
    "Commands",
    "Once",
    "OneOf",
    "Whole",
    "address_option",
    "budget_options",
    "check_budget",
    "check_effects",
    "checked",
    "chosen_notion",
    "floors_of",
    "in_flags",
    "in_words",
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
"""Errors that are shown in one line, as a ValueError about an argument is; all others are faults of the program, shown whole."""


class _Number(click.types.FloatParamType):
    """A number such as 0.25, or 1/3, which stays rational."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return as_number(value)
        except (TypeError, ValueError):
            pass
        try:
            return float(value)  # infinity
        except ValueError:
            way = "Write it with digits, such as 0.25 or 1/4."
            if re.fullmatch(r"\s*[+-]?[\d.,]+\s*%\s*", value):
                way = "Divide a percentage by 100, and leave out the sign %."
            elif re.fullmatch(r"\s*[+-]?\d*,\d+\s*", value):
                way = "Write a decimal point in place of the comma."
            raise click.BadParameter(
                f"must be a number, such as 0.25 or 1/4; got {value!r}. {way}", ctx, param
            ) from None


class OneOf(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """One of some words, with the nearest one for a misspelt one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise click.BadParameter(
                f"must be one of {', '.join(self.choices)}; got {value!r}. {_nearest(value, self.choices)}", ctx, param
            ) from None


class Whole(click.IntRange):
    """A whole number from a least one on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a whole number, dimensionless. Raises click.BadParameter if the text is no such number, or it is too small."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            allowed = f"must be a whole number, at least {self.min}"
            raise click.BadParameter(f"{allowed}; got {value!r}. Write it with digits alone.", ctx, param) from None


def _nearest(value: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(value.lower(), [name.lower() for name in known], n=1)
    same = [name for name in known if near and name.lower() == near[0]]
    return f"Did you mean {same[0]!r}?" if same else "Choose one of these."


NUMBER = _Number()


def floors_of(given: Sequence[str]) -> float | dict[str, float] | None:
    """Value of ``--keep-at-least``: a probability for all categories, or one for each named category; None if not given.

    Raises BadParameter.

    >>> floors_of(["0.5"]), floors_of(["yes=3/4", "no=0.5"])
    (0.5, {'yes': 0.75, 'no': 0.5})
    """
    named = [text.rpartition("=") for text in given]
    floors = {name: NUMBER.convert(number, None, None) for name, _, number in named}
    if len(floors) < len(named) or (len(named) > 1 and not all(sign for _, sign, _ in named)):
        raise click.BadParameter(
            f"must be one number for all categories, or one for each CATEGORY; got {' '.join(given)!r}. Give one "
            "NUMBER, or one [CATEGORY=]NUMBER for each category."
        )
    return floors if any(sign for _, sign, _ in named) else next(iter(floors.values()), None)


class Once(click.Command):
    """A command that refuses an option given twice, where click would silently take the last one, and words errors alike."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does. Raises UsageError, also for an option, or another name of it, that is given more than once."""
        try:
            given = Counter(self.make_parser(ctx).parse_args(list(args))[2])
            for parameter, times in given.items():
                if times > 1 and isinstance(parameter, click.Option) and not parameter.multiple:
                    raise click.UsageError(
                        f"{_flags(parameter)} must be given once; got it {times} times. Leave out all but one."
                    )
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            told = _worded(error, ctx)
            raise told from None


class Commands(click.Group):
    """The group of commands, which words errors as they do."""

    command_class = Once

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does. Raises UsageError."""
        is_bare = not args  # then it is the help that is raised
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if is_bare:
                raise
            told = _worded(error, ctx)
            raise told from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does. Raises UsageError for an unknown command."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            names = self.list_commands(ctx)
            text = f"command must be one of {', '.join(names)}; got {args[0]!r}. {_nearest(args[0], names)}"
            raise click.UsageError(text, ctx)
        return super().resolve_command(ctx, args)


def _flags(option: click.Option) -> str:
    return " or ".join([*option.opts, *option.secondary_opts])


def _called(parameter: click.Parameter) -> str:
    """What an error calls a parameter: an option by its long name, an argument as the help does."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.human_readable_name.removesuffix("...")


def _worded(error: click.UsageError, context: click.Context) -> click.UsageError:
    """An error of click in the form of all others: what must be, what was given, and what to do."""
    text, command = error.message, context.command
    if isinstance(error, click.NoSuchOption):
        flags = [
            flag for one in command.get_params(context) for flag in (*one.opts, *one.secondary_opts) if flag[0] == "-"
        ]
        near = difflib.get_close_matches(error.option_name, flags, n=1)
        way = f"Did you mean {near[0]!r}?" if near else "Leave it out."
        text = f"option must be one that `{context.command_path} --help` lists; got {error.option_name!r}. {way}"
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        way = "Write it after the name of the command."
        if isinstance(error.param, click.Option):
            way = f"Add {_called(error.param)} {error.param.make_metavar(*_takes_context(error.param, context))}."
        text = f"{_called(error.param)} must be given; got nothing. {way}"
    elif isinstance(error, click.BadOptionUsage):
        option = next((one for one in command.params if error.option_name in (*one.opts, *one.secondary_opts)), None)
        values = option.nargs if option else 1
        if isinstance(option, click.Option) and option.is_flag:
            text = f"{error.option_name} must be given without a value; got one. Leave out the sign = and what follows."
        else:
            needed = "a value" if values == 1 else f"{values} values"
            text = f"{error.option_name} must be followed by {needed}; got fewer. Add what is missing."
    elif isinstance(error, click.BadParameter):
        if text.startswith("must ") and error.param is not None:
            text = f"{_called(error.param)} {text}"
        text = in_flags(" ".join(text.split()), [command])
    elif extra := re.search(r"unexpected extra arguments? \((.*)\)$", text, re.DOTALL):
        wanted = " ".join(_called(one) for one in command.params if isinstance(one, click.Argument)) or "options alone"
        text = f"arguments must be {wanted}; got also {extra[1]!r}. Leave it out, or put a text with spaces in quotation marks."
    return click.UsageError(text, context)


def _takes_context(parameter: click.Parameter, context: click.Context) -> tuple[Any, ...]:
    """The argument of ``make_metavar``, which it has from click 8.2 on."""
    return (context,) if inspect.signature(parameter.make_metavar).parameters else ()


def check_effects(idle: Mapping[str, str | bool]) -> None:
    """Refuse each option that was given and would change nothing; ``idle`` has the condition under which it would not.

    Raises UsageError.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if idle.get(name) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params.get(name)
            told = "it" if isinstance(value, bool) else repr(list(value) if isinstance(value, tuple) else value)
            raise click.UsageError(
                f"{_called(option)} must be left out {idle[name]}; got {told}. It would change nothing."
            )


def in_flags(text: str, commands: Sequence[click.Command]) -> str:
    """A sentence of the library, which names arguments of Python, in the options of these commands.

    >>> release = click.Command("release", params=[click.Option(["--keep-at-least"]), click.Option(["--estimable/--bare"])])
    >>> in_flags("keep_at_least must be less. Take keep_at_least=0.5, or estimable=False.", [release])
    '--keep-at-least must be less. Take --keep-at-least 0.5, or --bare.'
    """
    options: dict[str, click.Option] = {}
    called: dict[str, str] = {}
    for one in (one for command in commands for one in command.params):
        if isinstance(one, click.Option):
            options.setdefault(one.name or "", one)
            called.setdefault(one.opts[0].strip("-").replace("-", "_"), _called(one))
        called.setdefault(one.name or "", _called(one))
    called |= {"the source set": called["source_set"]} if "source_set" in called else {}

    def flag(found: re.Match[str]) -> str:
        option, value = options[found[1]], found[2].strip("[]").strip("'\"")
        if option.is_flag:
            return (option.secondary_opts or option.opts)[0] if value == "False" else option.opts[0]
        return option.opts[0] if value == "..." else f"{option.opts[0]} {shlex.quote(value)}"

    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    text = re.sub(rf"(?<![\w'\"-])({names})=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|\.\.\.|[^\s,;:)]*[^\s,;:).])", flag, text)
    subjects = "|".join(sorted(map(re.escape, called), key=len, reverse=True)) or "(?!)"
    text = re.sub(rf"(^|: )({subjects})(?= must )", lambda found: found[1] + called[found[2]], text)
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
    """A decorator: an expected error is one line on stderr with exit code 1, and SIGTERM is taken for Ctrl-C.

    Raises ClickException, of which click makes this line.
    """

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            with interrupted_by_sigterm():
                return command(*arguments, **options)
        except (ValueError, *EXPECTED) as error:
            raise click.ClickException(in_words(error)) from None

    return wrapped  # type: ignore[return-value]


def in_words(error: Exception) -> str:
    """An expected error in one line and in the options of the commands."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return (
            f"the file or folder must be one that can be read or written; got {str(error.filename)!r} ({error.strerror}). Check "
            "the path and its permissions."
        )
    return said(str(error))


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Take SIGTERM as Ctrl-C: else worker processes, or a file that is not complete, would stay behind."""

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
    """A callback that checks an option's value, or each of them, dimensionless or in nats.

    Raises BadParameter, which names the option.
    """

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return tuple(map(check, value)) if isinstance(value, tuple) else None if value is None else check(value)
        except ValueError as error:
            raise click.BadParameter(re.sub(r"^\w+(?= must )", _called(parameter), str(error))) from None

    return callback


def budget_options(command: Command, *, costs: bool = False) -> Command:
    """The options ``--distortion`` and ``--leakage``."""
    for option in (
        click.option(
            "--leakage",
            type=NUMBER,
            metavar="NATS",
            callback=checked(check_leakage),
            help="Largest leakage, in nats; in place of --distortion.",
        ),
        click.option(
            "--distortion",
            type=NUMBER,
            metavar="NUMBER",
            callback=None if costs else checked(check_distortion),
            help="Largest expected share of changed entries, over all priors of the source set, from 0 to 1"
            + "; with --costs, the largest expected cost" * costs
            + ".",
        ),
    ):
        command = option(command)
    return command


def check_budget(distortion: float | None, leakage: float | None) -> None:
    """Raises UsageError unless exactly one of a distortion and a leakage in nats is given."""
    if (distortion is None) == (leakage is None):
        told, way = ("neither", "Add one") if distortion is None else ("both", "Leave out one")
        raise click.UsageError(f"--distortion or --leakage must be given, exactly one of the two; got {told}. {way}.")


def notion_options(command: Command) -> Command:
    """The options ``--notion``, ``--alpha``, ``--delta`` and ``--standard``, for :func:`chosen_notion`."""
    for option in (
        click.option(
            "--standard",
            is_flag=True,
            help="Standard (ε, δ)-differential privacy in place of the pointwise one, for 'approximate differential privacy'.",
        ),
        click.option(
            "--delta",
            type=NUMBER,
            metavar="NUMBER",
            help="δ of (ε, δ)-differential privacy; used only with --notion 'approximate differential privacy'; default: 0.1. "
            "The version is pointwise (Zhong and Bu 2022) unless --standard is given.",
        ),
        click.option(
            "--alpha",
            type=NUMBER,
            metavar="NUMBER",
            help="Order of Rényi differential privacy or of Sibson information; default: 2.",
        ),
        click.option(
            "--notion",
            type=OneOf(NOTION_NAMES),
            default=NOTION_NAMES[0],
            show_default=True,
            metavar="NOTION",
            help=f"Privacy notion that measures the leakage: {', '.join(NOTION_NAMES)}.",
        ),
    ):
        command = option(command)
    return command


def chosen_notion(name: str, *, standard: bool = False, **parameters: float | None) -> Notion:
    """The notion of these options; its parameters are dimensionless.

    Raises UsageError for a parameter that it does not have, or a value that it refuses.
    """
    given: dict[str, Any] = {option: value for option, value in parameters.items() if value is not None}
    known = inspect.signature(type(notion_by_name(name))).parameters
    for option, value in {**given, **({"standard": True} if standard else {})}.items():
        if option not in known:
            told = "it" if value is True else repr(value)
            raise click.UsageError(
                f"--{option} must be left out with --notion {shlex.quote(name)}; got {told}. This notion has no such parameter."
            )
    try:
        found = notion_by_name(name, **given)
    except ValueError as error:
        raise click.UsageError(said(str(error))) from None
    return replace(found, standard=True) if standard else found  # type: ignore[type-var]  # a dataclass that has it


def _address(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        return check_address(value) if value else value
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


address_option: Callable[[Any], Any] = click.option(
    "--scheduler",
    default="",
    metavar="ADDRESS",
    callback=_address,
    help="Address of a Dask scheduler whose workers share the work, such as tcp://127.0.0.1:8786.",
)
json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Output as JSON, for programs."
)


def printed_json(content: Any) -> None:
    """Print JSON; infinite and unknown numbers become null."""

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
    """A bar on stderr, if that is a terminal: a function to call with the work done since its last call, and the total."""
    bars, consoles = optional("rich.progress", "data"), optional("rich.console", "data")
    console = consoles.Console(stderr=True)
    with bars.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            if _told_to_stop.is_set():
                raise KeyboardInterrupt
            bar.update(task, advance=done, total=total)

        yield advance
