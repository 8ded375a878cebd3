"""Errors that are the package's own, and what to say where an optional package is missing."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["CertificateError", "InfeasibleError", "MissingPackageError", "SolverError", "optional", "retold"]


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


class MissingPackageError(ImportError):
    """A package is not installed that only a part of the library needs."""


def optional(module: str, extra: str) -> Any:
    """Import a module that comes with one of the extras in ``pyproject.toml``.

    Raises
    ------
    MissingPackageError
        If it is not installed; the message says how to install the extra.

    >>> optional("a_package_that_nobody_has", "proofs")
    Traceback (most recent call last):
    paper_repro.errors.MissingPackageError: a_package_that_nobody_has is not installed; it comes with the extra 'proofs': run
    pip install -e '.[proofs]' in a checkout of this project
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingPackageError(
            f"{module} is not installed; it comes with the extra {extra!r}: run pip install -e '.[{extra}]' "
            "in a checkout of this project"
        ) from None
