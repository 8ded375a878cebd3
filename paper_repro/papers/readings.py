"""What the papers' modules share: how a statement is read, a pair of bounds, and sets that one ordering sorts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from paper_repro.checks import check_index
from paper_repro.errors import wrong
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["Bounds", "Reading", "check_reading", "in_order", "tails"]

Reading = Literal["printed", "corrected", "literal", "largest", "example"]
"""How a statement is read; each function says which of these it knows, and ``printed`` is the default of all.

``printed``: as it stands, with what goes without saying, such as ``D_i <= 1`` for a probability. ``corrected``: with the smallest
change that makes it true, or truer. ``literal``: without what goes without saying. ``largest``: the leakage that a mechanism of
given distortions has is taken from the letter where it is largest, not from the first. ``example``: as in the paper's example.
"""

# Two probabilities that differ by less are taken for a tie: sums of decimals carry rounding.
_TIE = 1e-12


class Bounds(NamedTuple):
    """A lower and an upper bound on a least leakage, in nats; equal where the paper states an equation."""

    lower: float
    upper: float


def check_reading(reading: str, *known: Reading) -> None:
    """Raise a ValueError that names the readings of a statement if this is none of them; printed and corrected if none are given.

    Raises
    ------
    ValueError
        If it is none of them.

    >>> check_reading("printed")
    """
    allowed = known or ("printed", "corrected")
    if reading not in allowed:
        raise ValueError(wrong("reading", f"be one of {', '.join(map(repr, allowed))}", reading))


def check_zero_columns(zero_columns: int, most: int, left: int = 2) -> int:
    """The number of all-zero columns, dimensionless. Raises ValueError unless it leaves 2 of the M columns, or ``left``.

    >>> check_zero_columns(1, 4)
    1
    """
    fix = "With one column left nothing leaks, and the formula is not defined." if left == 2 else ""
    return check_index(zero_columns, "zero_columns", 0, most, f"between 0 and M - {left} = {most}", fix)


def in_order(source: SourceSet) -> tuple[FloatArray, IntArray]:
    """The vertices with their letters from most to least likely, shape (V, M), and that order of the letters, shape (M,).

    Raises
    ------
    ValueError
        If no one ordering, ties included, sorts every distribution of the set.

    >>> falling, order = in_order(SourceSet([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3]]))
    >>> falling.tolist(), order.tolist()
    ([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], [1, 2, 0])
    """
    # If any common ordering exists, sorting by the average of the vertices finds one.
    order = np.argsort(-source.vertices.mean(axis=0), kind="stable")
    falling = source.vertices[:, order]
    if (np.diff(falling, axis=1) > _TIE).any():
        raise ValueError(
            wrong(
                "source",
                "have a common ordering of its categories, as Class II with ordered statistics",
                source,
                "Use leakage_curve, which takes any source set.",
            )
        )
    return falling, order


def tails(source: SourceSet) -> FloatArray:
    """Mass of the k least likely letters under each vertex of a set that one ordering sorts, for k = 0 .. M, shape (V, M + 1).

    Raises ValueError as :func:`in_order` does.

    >>> tails(SourceSet([0.5, 0.3, 0.2])).round(12).tolist()
    [[0.0, 0.2, 0.5, 1.0]]
    """
    falling, _ = in_order(source)
    return np.column_stack([np.zeros(len(falling)), np.cumsum(falling[:, ::-1], axis=1)])
