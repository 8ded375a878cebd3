"""Types used in signatures, and how results are shown in a notebook."""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LATEX_SIGNS",
    "NOTION_NAMES",
    "BoolArray",
    "FloatArray",
    "HasMatrix",
    "IntArray",
    "ShownAsTable",
    "notion_title",
]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.intp]

NOTION_NAMES = (
    "differential privacy",
    "approximate differential privacy",
    "maximal information",
    "maximal leakage",
    "Renyi differential privacy",
    "Sibson information",
    "mutual information",
)
"""The seven notions of Definition 3, Zhong and Bu 2022: parts (1) to (7) of its theorems are in this order."""


def notion_title(name: str, *, standard: bool = False) -> str:
    """The name of a notion for people; ``standard`` says which definition of approximate differential privacy is meant.

    >>> notion_title("approximate differential privacy"), notion_title("Renyi differential privacy")
    ('pointwise (ε, δ)-differential privacy', 'Rényi differential privacy')
    """
    if name == "approximate differential privacy":
        return f"{'standard' if standard else 'pointwise'} (ε, δ)-differential privacy"
    return name.replace("Renyi", "Rényi")


class HasMatrix(Protocol):
    """A mechanism, as far as its channel matrix goes."""

    @property
    def matrix(self) -> FloatArray:
        """Channel, shape (M, M): row = input, column = output."""


# Rows and columns of a table that are shown.
_MOST_SHOWN = 20
LATEX_SIGNS = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


class ShownAsTable(ABC):
    """What prints as one line in a terminal (``repr``) and as a table in a notebook.

    >>> class Coin(ShownAsTable):
    ...     def _table(self):
    ...         return "a <fair> coin", ["probability"], ["heads", "tails"], np.array([[0.5, 0.5]])
    >>> print(Coin()._repr_html_())
    <table><caption>a &lt;fair&gt; coin</caption>
    <tr><th></th><th>heads</th><th>tails</th></tr>
    <tr><th>probability</th><td>0.5</td><td>0.5</td></tr>
    </table>
    """

    @abstractmethod
    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        """Caption, names of the rows and of the columns, and the numbers, shape (rows, columns), or the first 20 x 20 of them."""

    def _shown(self) -> tuple[str, list[list[str]]]:
        """Caption and cells, the names among them; the beginning of a large table."""
        caption, rows, columns, numbers = self._table()
        if max(len(rows), len(columns)) > _MOST_SHOWN:
            caption += f" (the beginning of {len(rows)} x {len(columns)})"
        head = ["", *map(str, columns[:_MOST_SHOWN])]
        body = [
            [str(name), *(f"{value:.6g}" for value in row[:_MOST_SHOWN])]
            for name, row in zip(rows[:_MOST_SHOWN], numbers, strict=False)
        ]
        return caption, [head, *body]

    def _repr_html_(self) -> str:
        caption, (head, *body) = self._shown()
        lines = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
        lines += [
            f"<th>{html.escape(name)}</th>" + "".join(f"<td>{number}</td>" for number in numbers)
            for name, *numbers in body
        ]
        table = "".join(f"<tr>{line}</tr>\n" for line in lines)
        return f"<table><caption>{html.escape(caption)}</caption>\n{table}</table>"

    def _repr_latex_(self) -> str:
        caption, (head, *body) = self._shown()
        lines = [" & ".join(f"\\text{{{_latex(cell)}}}" for cell in head)]
        lines += [" & ".join([f"\\text{{{_latex(name)}}}", *numbers]) for name, *numbers in body]
        table = lines[0] + " \\\\ \\hline\n" + " \\\\\n".join(lines[1:])
        return f"{_latex(caption)}\n$$\\begin{{array}}{{r|{'r' * (len(head) - 1)}}}\n{table}\n\\end{{array}}$$"


def _latex(text: str) -> str:
    return re.sub(r"[&%$#_{}\\^~]", lambda found: LATEX_SIGNS[found[0]], text)
