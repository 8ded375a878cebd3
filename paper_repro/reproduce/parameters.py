"""Parameters of a notebook: told apart from misspelt ones, and checked against their declared types."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from typing import Any

from paper_repro.types import PARAMETER_TYPES

__all__ = ["check_parameters"]


def check_parameters(namespace: Mapping[str, Any]) -> None:
    """Raise if a notebook was given a parameter that it does not declare, or one of another type.

    papermill only warns of an unknown parameter and runs on with the defaults, so a misspelt name would draw the wrong figure.
    Call ``check_parameters(globals())`` in the cell after the parameters: it reads the notebook's own cells.

    Parameters
    ----------
    namespace : mapping
        A notebook's globals, with IPython's ``In``. The first cell that only annotates names with values declares the
        parameters; cells between it and this call that only assign to names set them.

    Raises
    ------
    ValueError
        If a name that was set is not declared, or a value does not have its declared type.

    Examples
    --------
    >>> check_parameters({"In": ["", "points: int = 200  # of the grid", "pionts = 300"], "points": 200})
    Traceback (most recent call last):
        ...
    ValueError: unknown notebook parameter 'pionts', did you mean 'points'? This notebook has points
    """
    declared: dict[str, str] = {}
    for source in namespace["In"]:
        statements = _statements(source)
        if not declared:
            if statements and all(isinstance(statement, ast.AnnAssign) for statement in statements):
                declared = {_name(statement.target): ast.unparse(statement.annotation) for statement in statements}
            continue
        if not (statements and all(isinstance(statement, ast.Assign) for statement in statements)):
            break
        for name in (_name(target) for statement in statements for target in statement.targets):
            if name not in declared:
                close = difflib.get_close_matches(name, declared, n=1)
                hint = f", did you mean {close[0]!r}?" if close else ";"
                raise ValueError(f"unknown notebook parameter {name!r}{hint} This notebook has {', '.join(declared)}")
    for name, kind in declared.items():
        value, types = namespace[name], PARAMETER_TYPES.get(kind, (object,))
        if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
            raise ValueError(f"notebook parameter {name} must be of type {kind}, got {value!r}")


def _statements(source: str) -> list[Any]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a cell with IPython magic declares nothing
        return []


def _name(target: Any) -> str:
    return target.id if isinstance(target, ast.Name) else ast.unparse(target)
