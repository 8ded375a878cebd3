"""Errors that are the package's own, and the one form of the messages that name a bad argument."""

from __future__ import annotations

import importlib
import re
import reprlib
from pathlib import PurePath
from typing import Any

__all__ = [
    "CertificateError",
    "Clause",
    "InfeasibleError",
    "MissingPackageError",
    "SolverError",
    "optional",
    "printable",
    "retold",
    "shown",
    "wrong",
]


class SolverError(ValueError, RuntimeError):
    """A solver stopped without an answer."""


class InfeasibleError(SolverError):
    """A program has no feasible point."""


class CertificateError(ValueError, RuntimeError):
    """An answer was found, but its certificate does not close within the documented tolerance."""


def retold(error: ValueError, text: str) -> ValueError:
    """An error in other words, which still says whether the package failed or what it was given was wrong.

    >>> retold(SolverError("it stopped"), "row 3: it stopped")
    SolverError('row 3: it stopped')
    """
    return type(error)(text) if isinstance(error, SolverError | CertificateError) else ValueError(text)


class Clause(str):
    """Words that say what was given, where the value itself would not.

    >>> wrong("matrix", "be square", Clause("shape (2, 3)"))
    'matrix must be square; got shape (2, 3).'
    """

    __slots__ = ()


class _Short(reprlib.Repr):
    """The first entries of what is long, and numbers of NumPy as those of Python."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxdeque = 8
        self.maxstring = self.maxlong = 100
        self.maxother = 300

    def repr1(self, x: Any, level: int) -> str:
        if type(x).__module__ == "numpy" and hasattr(x, "shape"):
            if x.shape == ():
                x = x.item()
            elif x.size > 64:
                return f"an array of shape {x.shape}"
            else:
                return f"array({super().repr1(x.tolist(), level)})"
        if isinstance(x, PurePath):
            x = str(x)
        return super().repr1(x, level)


_SHORT = _Short()


def printable(text: str) -> str:
    r"""A text in one line, in which control characters and others that cannot be seen are written as escapes.

    >>> printable("a\x1b[2J" + chr(0x202E) + "b")
    'a\\x1b[2J\\u202eb'
    """
    flat = re.sub(r"\s*\n\s*", " ", text)
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in flat
    )


def shown(value: object) -> str:
    """A value as errors show it: in one line, shortened if it is long, and without control characters.

    >>> shown([0.5] * 1000), shown("much"), shown(Clause("shape (2, 3)"))
    ('[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...]', "'much'", 'shape (2, 3)')
    """
    try:
        return printable(value if isinstance(value, Clause) else _SHORT.repr(value))
    except Exception:  # a repr of the user's own can raise anything
        return f"an object of type {type(value).__name__}"


def wrong(argument: str, must: str, got: object, fix: str = "") -> str:
    """The message about a bad argument, in the one form of this package.

    Parameters
    ----------
    argument : str
        Its name in the signature.
    must : str
        What it must be, after the word "must".
    got : object
        The value, or a :class:`Clause` that describes it.
    fix : str
        What to do, a sentence of its own; empty where nothing can be added to what is allowed.

    >>> wrong("distortion", "be between 0 and 1", 1.2, "Give a probability.")
    'distortion must be between 0 and 1; got 1.2. Give a probability.'
    """
    return f"{printable(argument)} must {printable(must)}; got {shown(got)}.{f' {printable(fix)}' if fix else ''}"


class MissingPackageError(ImportError):
    """A package is not installed that only a part of the library needs."""


def optional(module: str, extra: str) -> Any:
    """Import a module that comes with one of the extras in ``pyproject.toml``.

    Raises
    ------
    MissingPackageError
        If its package is not installed; the message says how to install the extra.

    >>> optional("nobodys_package.tables", "proofs")
    Traceback (most recent call last):
    paper_repro.errors.MissingPackageError: nobodys_package is not installed; it comes with the extra 'proofs'. Run
    pip install -e '.[proofs]' in a checkout of this project, or install the wheel again with [proofs] after its file name.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingPackageError(
            f"{error.name} is not installed; it comes with the extra {extra!r}. "
            f"Run pip install -e '.[{extra}]' in a checkout of this project, or install the wheel again with [{extra}] "
            "after its file name."
        ) from None
