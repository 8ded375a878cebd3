"""Sets of distributions between two bounds, letter by letter: their class, their extreme members, without listing vertices.

``lower`` and ``upper`` have shape (M,), with ``lower <= upper`` and ``sum(lower) <= 1 <= sum(upper)``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import ROW_SUM_TOLERANCE, check_distortion, check_labels
from paper_repro.errors import Clause, wrong
from paper_repro.types import FloatArray

__all__ = [
    "NEARLY_UNIFORM",
    "TIE",
    "SourceClass",
    "box_vertices",
    "checked_bounds",
    "class_of_intervals",
    "exact_box_vertices",
    "largest_mean",
    "least_majorized",
]

SourceClass = Literal["I", "II", "III"]

# Two probabilities that differ by less are taken for a tie: decimals such as 0.1 + 0.2 carry rounding of 1e-16.
TIE = 1e-12
# How far, in any letter, the uniform distribution may lie outside the hull; the LP solver resolves about 1e-9.
NEARLY_UNIFORM = 1e-9
# Vertices of intervals that are listed: programs have a row for each.
_MOST_VERTICES = 10_000
# Letters between two different bounds whose vertices are looked for.
_MOST_FREE = 1_000


def checked_bounds(
    lower: ArrayLike, upper: ArrayLike, labels: Sequence[Hashable] | None
) -> tuple[FloatArray, FloatArray]:
    """The bounds as floats, of shape (M,). Raises ValueError if one is no probability, or no distribution keeps them.

    >>> checked_bounds([0.1, 0.2], [0.8, 0.9], None)
    (array([0.1, 0.2]), array([0.8, 0.9]))
    """
    tables: list[Any] = [np.ma.asarray(bounds, dtype=object).filled(math.nan) for bounds in (lower, upper)]
    if tables[0].shape != tables[1].shape or tables[0].ndim != 1 or not tables[0].size:
        raise ValueError(
            wrong(
                "lower and upper",
                "have one probability per category",
                Clause(f"arrays of shapes {tables[0].shape} and {tables[1].shape}"),
            )
        )
    letters = check_labels(labels, tables[0].size)
    found = []
    for name, table in zip(("lower", "upper"), tables, strict=True):
        if {*map(type, table)} == {float} and all(0 <= bound <= 1 for bound in table):
            found.append(table.astype(float))
            continue
        found.append(np.empty(table.size))
        for place, (letter, bound) in enumerate(zip(letters, table, strict=True)):
            try:
                found[-1][place] = check_distortion(bound)
            except ValueError:
                raise ValueError(
                    wrong(f"{name}: category {letter!r}", "be a probability between 0 and 1", bound)
                ) from None
    least, most = found
    for letter, low, high in zip(letters, least, most, strict=True) if (least > most).any() else ():
        if low > high:
            raise ValueError(
                wrong(
                    f"lower: category {letter!r}",
                    f"be at most its upper bound {float(high)!r}",
                    float(low),
                    "Swap or widen them.",
                )
            )
    if math.fsum(least) > 1 + ROW_SUM_TOLERANCE or math.fsum(most) < 1 - ROW_SUM_TOLERANCE:
        raise ValueError(
            wrong(
                "lower and upper",
                "have sums with 1 between them",
                Clause(f"the sums {math.fsum(least):.12g} and {math.fsum(most):.12g}"),
                "Widen the intervals.",
            )
        )
    return least, most


def least_majorized(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """The member ``clip(mu, lower, upper)``, shape (M,), with the number mu that makes it a distribution.

    >>> least_majorized(np.array([0.5, 0.0, 0.1]), np.array([0.9, 0.1, 0.6]))
    array([0.5, 0.1, 0.4])
    """
    # The sum as a function of mu: its slope is the number of letters whose lower bound is passed and whose upper one is not.
    points = np.concatenate([lower, upper])
    order = np.argsort(points)
    points = points[order]
    slopes = np.cumsum(np.where(order < len(lower), 1, -1))
    sums = math.fsum(lower) + np.append(0.0, np.cumsum(slopes[:-1] * np.diff(points)))
    place = max(int(np.searchsorted(sums, 1.0, side="left")) - 1, 0)
    level = points[place] + max(1 - sums[place], 0.0) / max(slopes[place], 1)
    between = (lower < level) & (level < upper)
    if between.any():  # once more, free of the sums' rounding
        fixed = np.clip(level, lower, upper)
        fixed[between] = 0.0
        level = (1 - math.fsum(fixed)) / between.sum()
    return np.clip(level, lower, upper)


def class_of_intervals(lower: FloatArray, upper: FloatArray) -> SourceClass:
    """Class I, II or III of the set (Definition 1, Kalantari et al. 2018).

    >>> class_of_intervals(np.array([0.5, 0.2, 0.1]), np.array([0.6, 0.3, 0.2]))
    'II'
    """
    size = len(lower)
    if (lower <= 1 / size + NEARLY_UNIFORM).all() and (upper >= 1 / size - NEARLY_UNIFORM).all():
        return "I"
    least, most = math.fsum(lower), math.fsum(upper)
    # What is in reach, given what the other letters can take; in a common order both ends fall.
    reach = np.maximum(lower, 1 - (most - upper)), np.minimum(upper, 1 - (least - lower))
    order = np.argsort(-(reach[0] + reach[1]), kind="stable")
    low, high, next_low, next_high = (bound[order[part]] for part in _NEIGHBORS for bound in (lower, upper))
    # The least difference of neighbors: at one's lower and the other's upper bound, unless the rest cannot make up a sum of 1.
    rest = 1 - low - next_high
    short = np.maximum(0.0, least - low - next_low - rest) + np.maximum(0.0, rest - (most - high - next_high))
    return "II" if (low - next_high + short >= -TIE).all() else "III"


_NEIGHBORS = slice(None, -1), slice(1, None)


def largest_mean(values: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """Largest ``P . values`` over the distributions between the bounds: a fractional knapsack, the largest values first.

    The values have shape (M,), and the mean has their unit, such as that of distortions.

    >>> round(largest_mean(np.array([1.0, 0.0]), np.array([0.1, 0.2]), np.array([0.9, 0.7])), 9)
    0.8
    """
    order = np.argsort(-values)
    widths, rest = (upper - lower)[order], 1 - math.fsum(lower)
    full = int(np.searchsorted(np.cumsum(widths), rest, side="right"))
    taken = np.append(widths[:full], np.zeros(len(widths) - full))
    if full < len(widths):  # once more, free of the sum's rounding
        taken[full] = min(max(rest - math.fsum(widths[:full]), 0.0), widths[full])
    return math.fsum(lower * values) + math.fsum(taken * values[order])


def box_vertices(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Vertices of ``lower <= P <= upper, sum P = 1``, shape (V, M): some letters at their upper bounds, one in between.

    Letters are decided on in the order of their widths, the widest first: then whatever is still to be given away by letters not
    wider than the one in between can be, so that every branch of the search ends in a vertex, but for ties.
    Raises ValueError if there are more than 10,000.

    >>> box_vertices(np.array([0.5, 0.2, 0.1]), np.array([0.6, 0.3, 0.2]))
    array([[0.5, 0.3, 0.2],
           [0.6, 0.2, 0.2],
           [0.6, 0.3, 0.1]])
    """
    widths = upper - lower
    order = [int(letter) for letter in np.argsort(-widths, kind="stable") if widths[letter] > TIE]
    too_many = (
        "Merge rare categories, give some a known probability (lower = upper), or ask for differential privacy or maximal "
        "leakage, which need no vertices."
    )
    if len(order) > _MOST_FREE:
        raise ValueError(
            wrong(
                "the intervals",
                f"leave at most {_MOST_FREE} categories without a known probability",
                len(order),
                too_many,
            )
        )
    reach = np.append(np.cumsum(widths[order][::-1])[::-1], 0.0)  # what the letters from here on can still take
    found: list[FloatArray] = []
    given = min(max(1 - math.fsum(lower), 0.0), reach[0])
    branches: list[tuple[int, float, list[int], int | None]] = [(0, given, [], None)]
    while branches:
        place, rest, full, between = branches.pop()
        width = 0.0 if between is None else widths[between]
        is_vertex = rest <= TIE if between is None else place == len(order) and TIE < rest < width - TIE
        if rest < -TIE or rest > reach[place] + width + TIE or (between is not None and rest <= TIE):
            continue
        if is_vertex:
            point = lower.copy()
            point[full] = upper[full]
            if between is not None:
                point[between] = 1 - math.fsum(np.delete(point, between))
            found.append(point)
        elif place < len(order):
            letter = order[place]
            if between is None:
                branches.append((place + 1, rest, full, letter))
            branches.append((place + 1, rest, full, between))
            branches.append((place + 1, rest - widths[letter], [*full, letter], between))
        if len(found) > _MOST_VERTICES:
            raise ValueError(
                wrong(
                    "the intervals",
                    f"have at most {_MOST_VERTICES} vertices",
                    Clause(f"more, for {len(order)} categories"),
                    too_many,
                )
            )
    return np.array(sorted(found, key=tuple))


def exact_box_vertices(
    vertices: FloatArray, lower: Sequence[Fraction], upper: Sequence[Fraction]
) -> tuple[tuple[Fraction, ...], ...]:
    """Vertices as listed in floats, shape (V, M), without rounding: every letter at the nearer bound, one makes up the sum.

    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> exact_box_vertices(np.array([[0.5, 0.5]]), [third, third], [half, 1])
    ((Fraction(1, 2), Fraction(1, 2)),)
    """
    found: dict[tuple[Fraction, ...], None] = {}
    for row in vertices.tolist():
        ends = list(zip(row, lower, upper, strict=True))
        exact = [low if p - low <= high - p else high for p, low, high in ends]
        between = max(range(len(row)), key=lambda i: min(row[i] - lower[i], upper[i] - row[i]))
        for letter in [between, *range(len(row))]:  # ties by rounding: any that can
            rest = 1 - sum(exact) + exact[letter]
            if lower[letter] <= rest <= upper[letter]:
                exact[letter] = rest
                found[tuple(exact)] = None
                break
    return tuple(found)
