"""Names of the figures that a notebook writes, before it runs."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["published_names"]


def published_names(notebook: Path, parameters: Mapping[str, object]) -> set[str]:
    """Names in the calls of ``publish`` that the parameters alone determine; others are known after the run."""
    names = set()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.suppress(SyntaxError):  # a cell with IPython magic
                for node in ast.walk(ast.parse("".join(cell["source"]))):
                    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("publish"):
                        with contextlib.suppress(LookupError):
                            names.add(_text(node.args[2], parameters))
    return names


def _text(node: ast.expr, values: Mapping[str, object]) -> str:
    """A constant, a parameter, or an f-string of both. Raises KeyError for all else.

    >>> _text(ast.parse("f'{name}_{2}'", mode="eval").body, {"name": "figure"})
    'figure_2'
    """
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, values) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, values)
    if isinstance(node, ast.Constant):
        return str(node.value)
    return str(values[ast.unparse(node)])
