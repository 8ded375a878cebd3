r"""The coloring argument: critical pairs of a channel, the five claims of Lemma 8, and optima with k suppressed outputs.

Definitions 7 and 8, Lemma 8 and Figure 8 of the 2017 preprint of Kalantari et al.; Definitions 9 and 10, Lemma 6 and Figure 2 of
their ISIT paper of 2016.

**What the claims say of the explicit mechanism.** The mechanism with diagonal ``a_i = 1 - D_i`` and off-diagonal ``a_j D_i /
(S - a_i)`` (see :mod:`paper_repro.solvers.diagonal_ratio`) satisfies all five, whatever its diagonal, if ``S > 1``: in column
j every entry but the diagonal is ``a_j`` times the same factor of its row, which is least in the row of the largest ``a_i``.
So that row is red, the diagonals of the others are black, and what is left is white; the diagonal of that row is black only
if another row equals it. Summing the red row gives equation (32).

**Exactly k suppressed outputs.** A column of a mechanism of finite leakage is positive or all 0, and it is all 0 iff the
letter is never kept. So the least leakage with suppressed letters Z is that of the program of
:mod:`paper_repro.solvers.diagonal_ratio` with ``a_i = 0`` on Z and ``a_i > 0`` elsewhere. The second condition is open: the
program without it has the same infimum, since a mixture with any mechanism that meets both is as good in the limit, but the
infimum need not be attained.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper_repro.checks import check_distortion, check_index
from paper_repro.errors import Clause, InfeasibleError, wrong
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet
from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = [
    "SuppressedOptimum",
    "claim_1",
    "claim_2",
    "claim_3",
    "claim_4",
    "claim_5",
    "coloring",
    "critical_pairs",
    "largest_ratio",
    "optimal_with_suppressed",
    "pairs_of_ratio",
]

# Ratios that differ by less, relatively, count as equal.
_TOLERANCE = 1e-9
_MOST_SUBSETS = 5_000
# A letter that no optimum keeps with more than this share of what the best kept loses counts as suppressed in all.
_INTERIOR = 1e-6
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SuppressedOptimum:
    """The least leakage of mechanisms with exactly k all-zero columns.

    Attributes
    ----------
    leakage : float
        The infimum, in nats; infinite if every such mechanism leaks without bound, or there is none.
    attained : bool
        Whether some mechanism with exactly k all-zero columns has that leakage.
    suppressed : tuple of int
        Which letters are never published.
    mechanism : Mechanism or None
        One that attains the infimum, or, if none does, the limit of mechanisms that come close to it: it has more than k all-zero
        columns. None if there is no mechanism with k all-zero columns at all.
    """

    leakage: float
    attained: bool
    suppressed: tuple[int, ...]
    mechanism: Mechanism | None


def critical_pairs(matrix: Mechanism | ArrayLike) -> tuple[tuple[int, int, int], ...]:
    """Critical pairs (Definition 7): ``(column, i, j)`` with ``Q(column|i) = exp(leakage of Q) Q(column|j)``.

    The ISIT paper's Definition 9 prints the leakage in place of its exponential; see ``kalantari2016.definition_9``.

    Parameters
    ----------
    matrix : Mechanism or array_like, shape (M, M)

    Raises
    ------
    ValueError
        If the leakage is 0, where Definition 7 makes every entry both black and red, or infinite, where no ratio equals it.

    >>> critical_pairs([[0.75, 0.25], [0.5, 0.5]])
    ((1, 1, 0),)
    """
    channel = _channel(matrix)
    ratio = largest_ratio(channel)
    if not 1 + _ROUNDING < ratio < math.inf:
        raise ValueError(
            wrong(
                "matrix",
                "have a finite leakage above 0 for critical pairs",
                Clause(f"{math.log(ratio)!r} nats"),
                "Color a mechanism whose columns are all 0 or positive throughout, and not all constant.",
            )
        )
    return pairs_of_ratio(channel, ratio)


def largest_ratio(matrix: Mechanism | FloatArray) -> float:
    """Largest ratio of two entries of a column, dimensionless; infinite if a column has a zero and something else.

    Of a matrix of shape (n, m).

    >>> largest_ratio(np.array([[0.75, 0.25], [0.5, 0.5]]))
    2.0
    """
    channel = matrix.matrix if isinstance(matrix, Mechanism) else matrix
    published = channel[:, channel.max(axis=0) > 0]
    return float((published.max(axis=0) / published.min(axis=0)).max()) if published.min() > 0 else math.inf


def pairs_of_ratio(channel: FloatArray, ratio: float) -> tuple[tuple[int, int, int], ...]:
    """The ``(column, i, j)``, i other than j, with ``Q(column|i) = ratio Q(column|j) > 0`` but for a relative 1e-9, in order.

    Of a channel of shape (M, M).

    >>> pairs_of_ratio(np.array([[0.75, 0.25], [0.5, 0.5]]), 1.5)
    ((0, 0, 1),)
    """
    larger, smaller = channel[:, np.newaxis, :], channel[np.newaxis, :, :]
    found = (np.abs(larger - ratio * smaller) <= _TOLERANCE * larger) & (smaller > 0)
    found[np.arange(len(channel)), np.arange(len(channel))] = False
    return tuple(sorted((int(column), int(one), int(two)) for one, two, column in np.argwhere(found)))


def coloring(matrix: Mechanism | ArrayLike) -> NDArray[np.str_]:
    """Colors of a channel's entries: "black" and "red" are the larger and smaller of a critical pair, "white" all others.

    Those of a column of zeros have none and are "zero". Argument and errors as in :func:`critical_pairs`.

    Returns
    -------
    ndarray of str, shape (M, M)

    Examples
    --------
    >>> coloring([[0.75, 0.25, 0.0], [0.5, 0.5, 0.0], [0.6, 0.4, 0.0]])
    array([['white', 'red', 'zero'],
           ['white', 'black', 'zero'],
           ['white', 'white', 'zero']], dtype='<U5')
    """
    channel = _channel(matrix)
    colors = np.where(channel.max(axis=0) > 0, np.full(channel.shape, "white"), "zero")
    for column, one, two in critical_pairs(channel):
        colors[one, column], colors[two, column] = "black", "red"
    return colors


def claim_1(matrix: Mechanism | ArrayLike) -> bool:
    """Claim 1 of Lemma 8: no row is all black, or all red, in the columns that are not all zero.

    Of a mechanism of shape (M, M).

    >>> claim_1([[0.75, 0.25], [0.25, 0.75]])
    True
    """
    colors, _, _ = _colored(matrix)
    return not any((colors == color).all(axis=1).any() for color in ("black", "red"))


def claim_2(matrix: Mechanism | ArrayLike) -> bool:
    """Claim 2 of Lemma 8: in each row, suppressed letters' included, all off-diagonal elements have the same color.

    Equation (48) as printed, which copies a published letter's row for the suppressed ones, does not satisfy it:

    Of a mechanism of shape (M, M).

    >>> claim_2([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.25, 0.75, 0.0]])
    False
    >>> claim_2([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.5, 0.5, 0.0]])
    True
    """
    colors, diagonal, _ = _colored(matrix)
    return all(len(set(row[~own])) <= 1 for row, own in zip(colors, diagonal, strict=True))


def claim_3(matrix: Mechanism | ArrayLike) -> bool:
    """Claim 3 of Lemma 8: where a published letter's diagonal element is not black, the rest of its row is red.

    Of a mechanism of shape (M, M).

    >>> claim_3([[0.7, 0.15, 0.15], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])
    False
    """
    colors, diagonal, _ = _colored(matrix)
    published = diagonal.any(axis=1)
    return all(
        row[own][0] == "black" or (row[~own] == "red").all()
        for row, own in zip(colors[published], diagonal[published], strict=True)
    )


def claim_4(matrix: Mechanism | ArrayLike) -> bool:
    """Claim 4 of Lemma 8: at most one published letter's diagonal element is not black.

    Of a mechanism of shape (M, M).

    >>> claim_4([[0.7, 0.15, 0.15], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])
    False
    """
    colors, diagonal, _ = _colored(matrix)
    return bool((colors[diagonal] != "black").sum() <= 1)


def claim_5(matrix: Mechanism | ArrayLike) -> bool:
    """Claim 5 of Lemma 8: a diagonal element that is not black belongs to a letter of the smallest distortion.

    Of a mechanism of shape (M, M).

    >>> claim_5([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    False
    """
    colors, diagonal, channel = _colored(matrix)
    kept = channel[diagonal]
    return bool((kept[colors[diagonal] != "black"] >= kept.max() * (1 - _TOLERANCE)).all())


def optimal_with_suppressed(source: SourceSet, distortion: float, count: int) -> SuppressedOptimum:
    """Least leakage over a source set with exactly k all-zero columns (Definition 8, Kalantari et al. 2017).

    For each set Z of k letters one linear program over the diagonal, with ``a_i = 0`` on Z; the best Z is kept. If one ordering
    sorts the whole set, the k least likely letters are the best choice (Lemma 7) and no other is tried. A second program finds
    whether the infimum is attained: it looks for an optimum that keeps every letter outside Z.

    Parameters
    ----------
    source : SourceSet
        Of any class.
    distortion : float in [0, 1]
    count : int in 0 .. M - 1
        k, the number of all-zero columns.

    Returns
    -------
    SuppressedOptimum
        Solved to about 1e-8; not certified.

    Raises
    ------
    ValueError
        If ``count`` is out of range, or there are more than 5,000 sets Z to try.

    Examples
    --------
    The infimum without suppressed letters is that of all mechanisms, but the best one suppresses the third letter (Lemma 8 says
    it is attained):

    >>> source = SourceSet([0.5, 0.3, 0.2])
    >>> for count in (0, 1):
    ...     best = optimal_with_suppressed(source, 0.45, count)
    ...     print(round(math.exp(best.leakage), 6), best.attained, best.mechanism)
    2.2 False Mechanism(M=3, diagonal=[0.6875, 0.6875, 0])
    2.2 True Mechanism(M=3, diagonal=[0.6875, 0.6875, 0])
    """
    check_distortion(distortion)
    size = source.alphabet_size
    check_index(count, "count", 0, size - 1, f"between 0 and M - 1 = {size - 1} all-zero columns")
    best: SuppressedOptimum | None = None
    for suppressed in _choices(source, count):
        found = _suppressing(source, distortion, suppressed)
        # Programs are solved to about 1e-9: among equals, one that is attained.
        if best is None or found.leakage < best.leakage - (0 if found.attained <= best.attained else -1e-9):
            best = found
    assert best is not None  # there is always a choice
    return best


def _choices(source: SourceSet, count: int) -> Iterator[tuple[int, ...]]:
    order = np.argsort(-source.vertices.mean(axis=0), kind="stable")
    if (np.diff(source.vertices[:, order], axis=1) <= _ROUNDING).all():
        return iter([tuple(sorted(int(letter) for letter in order[source.alphabet_size - count :]))])
    choices = math.comb(source.alphabet_size, count)
    if choices > _MOST_SUBSETS:
        raise ValueError(
            wrong(
                "count",
                f"leave at most {_MOST_SUBSETS} choices of suppressed categories, where no ordering sorts the source set",
                Clause(f"{count} of {source.alphabet_size}, for which there are {choices}"),
                "Merge rare categories.",
            )
        )
    return itertools.combinations(range(source.alphabet_size), count)


def _suppressing(source: SourceSet, distortion: float, suppressed: tuple[int, ...]) -> SuppressedOptimum:
    size = source.alphabet_size
    kept: IntArray = np.setdiff1d(np.arange(size), suppressed)
    priors, lost = source.vertices[:, kept], source.vertices[:, list(suppressed)].sum(axis=1)
    budget = distortion - lost.max(initial=0.0)
    if budget < -_ROUNDING:
        return SuppressedOptimum(math.inf, False, suppressed, None)
    constant = _constant(priors, distortion)
    if constant is not None:
        diagonal = np.zeros(size)
        diagonal[kept] = constant
        return SuppressedOptimum(0.0, True, suppressed, Mechanism.constant(diagonal, source.labels))
    changed = np.ones(size)
    if distortion == 0 or budget <= _ROUNDING:
        # Any distortion of a letter that may occur is too much where the budget is spent on the suppressed ones.
        changed[kept] = 0.0
        return SuppressedOptimum(math.inf, True, suppressed, Mechanism.from_distortions(changed, source.labels))
    letters, ratio, attained = _program(priors, lost, distortion)
    changed[kept] = letters
    return SuppressedOptimum(
        math.log(max(1.0, ratio)), attained, suppressed, Mechanism.from_distortions(changed, source.labels)
    )


def _constant(priors: FloatArray, distortion: float) -> FloatArray | None:
    """A constant answer that publishes every letter with some probability, as even as can be; None if there is none."""
    count, size = priors.shape
    # Columns: what is published above the least probability, and the least probability.
    matrix = np.vstack([np.column_stack([-priors, -priors.sum(axis=1)]), np.append(np.ones(size), size)])
    upper = np.append(np.full(count, distortion + _ROUNDING - 1), 1.0)
    try:
        solved = optimal_basis(np.append(np.zeros(size), -1.0), matrix, upper, equal=slice(count, None))
    except InfeasibleError:
        return None
    least = float(solved.values[-1])
    if least <= _TOLERANCE:
        return None
    letters = solved.values[:-1] + least
    return letters / letters.sum()


def _program(priors: FloatArray, lost: FloatArray, distortion: float) -> tuple[FloatArray, float, bool]:
    """Distortions of the published letters, the ratio, and whether an optimum publishes them all.

    Program (2) of :mod:`paper_repro.solvers.diagonal_ratio` with ``e_i = sigma`` for the suppressed letters, in ``y_i = b
    (e_i - 1)`` and ``s = b sigma`` where b is the budget left for the published ones: all numbers stay of order 1.
    """
    count, size = priors.shape
    budgets = distortion - lost
    budget = float(budgets.min())
    rows = np.vstack(
        [np.column_stack([priors / budget, -budgets / budget]), np.column_stack([np.eye(size), -np.ones(size)])]
    )
    upper = np.append(-priors.sum(axis=1), np.full(size, -budget))
    costs = np.append(-np.ones(size), size - 1.0)
    solved = optimal_basis(costs, rows, upper)
    # Among optima, one that keeps every letter as much as it can: z <= s - b - y_i.
    margins = np.vstack([np.zeros((count, 1)), np.ones((size, 1))])
    rows = np.vstack([np.hstack([rows, margins]), np.append(costs, 0.0), np.append(np.zeros(size + 1), 1.0)])
    upper = np.concatenate([upper, [solved.objective + _TOLERANCE * max(1.0, abs(solved.objective))], [1.0]])
    interior = optimal_basis(np.append(np.zeros(size + 1), -1.0), rows, upper)
    attained = bool(interior.values[-1] > _INTERIOR * interior.values[size])
    found = (interior if attained else solved).values
    letters = np.clip((found[:size] + budget) / found[size], 0.0, 1.0)
    letters /= max(1.0, float((priors @ letters / budgets).max()))
    if not attained:
        letters[letters > 1 - _TOLERANCE] = 1.0  # never published but for rounding
    return letters, 1 + (size - 1 - float(letters.sum())) / float(letters.min()), attained


def _channel(matrix: Mechanism | ArrayLike) -> FloatArray:
    return (matrix if isinstance(matrix, Mechanism) else Mechanism(matrix)).matrix


def _colored(matrix: Mechanism | ArrayLike) -> tuple[NDArray[np.str_], BoolArray, FloatArray]:
    """Colors, places on the diagonal, and entries, of the columns that are not all zero."""
    channel = _channel(matrix)
    published = channel.max(axis=0) > 0
    colors = coloring(channel)
    return colors[:, published], np.eye(len(channel), dtype=bool)[:, published], channel[:, published]
