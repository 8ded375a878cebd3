"""Parameters of a notebook: misspelt ones are refused, and values are checked against their declared types."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from typing import Any

__all__ = ["check_parameters", "check_values", "declared_parameters"]

# Types that parameters may be declared with, and the values that each takes.
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "float": (float, int),
    "int": (int,),
    "list": (list,),
    "str": (str,),
}
_EXAMPLES = {
    "bool": "True or False",
    "float": "a number, such as 0.5",
    "int": "a whole number, such as 3",
    "list": "a list, such as [0.1, 0.2]",
    "str": "a text in quotation marks",
}


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
    ValueError: the notebook's parameter must be one of points; got 'pionts'. Did you mean 'points'?
    """
    declared: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for source in namespace["In"]:
        if not declared:
            declared = declared_parameters(source)
            names = list(declared)
            continue
        statements = _statements(source)
        if not (statements and all(isinstance(statement, ast.Assign) for statement in statements)):
            break
        names += [_name(target) for statement in statements for target in statement.targets]
    check_values({name: namespace.get(name) for name in names}, {name: kind for name, (kind, _) in declared.items()})


def check_values(values: Mapping[str, object], kinds: Mapping[str, str]) -> None:
    """Raises ValueError unless every name is among the declared ones and its value of the declared type.

    A whole number is a float too, but True is no number: ``bool`` is a subclass of ``int``, and a true leakage makes no sense.

    >>> check_values({"budget": True}, {"budget": "float"})
    Traceback (most recent call last):
        ...
    ValueError: the notebook's parameter budget must be of type float; got True. Write a number, such as 0.5.
    """
    for name, value in values.items():
        if name not in kinds:
            close = difflib.get_close_matches(name, kinds, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "Choose one of these."
            raise ValueError(f"the notebook's parameter must be one of {', '.join(kinds)}; got {name!r}. {hint}")
        types = _TYPES.get(kinds[name], (object,))
        if not isinstance(value, types) or (isinstance(value, bool) and kinds[name] != "bool"):
            example = _EXAMPLES.get(kinds[name], "another value")
            raise ValueError(
                f"the notebook's parameter {name} must be of type {kinds[name]}; got {value!r}. Write {example}."
            )


def declared_parameters(source: str) -> dict[str, tuple[str, str]]:
    """Type and default, as text, of each name that a cell declares which only annotates names with values; else none.

    >>> declared_parameters("points: int = 200  # of the grid")
    {'points': ('int', '200')}
    """
    statements = _statements(source)
    if not all(isinstance(statement, ast.AnnAssign) and statement.value for statement in statements):
        return {}
    return {_name(each.target): (ast.unparse(each.annotation), ast.unparse(each.value)) for each in statements}


def _statements(source: str) -> list[Any]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a cell with IPython magic declares nothing
        return []


def _name(target: Any) -> str:
    return target.id if isinstance(target, ast.Name) else ast.unparse(target)
