r"""What Kalantari, Sankar and Sarwate print for the IEEE International Symposium on Information Theory, 2016.

*The Optimal Differential Privacy Mechanism under Hamming Distortion for Universal Memoryless Source Classes*. Everything here is
**as printed, mistakes included**, unless a reading is named ``corrected``; what is true is in :mod:`paper_repro.tradeoff`.
Letters are counted from 0, and ``n = M - k`` is how many columns a mechanism with k all-zero columns publishes. Leakages are in
nats; at distortion 0, which the paper leaves out, formulas have their limit. A source class is the convex hull of the vertices of
a :class:`~paper_repro.sources.SourceSet`, which changes no worst-case distortion.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_count, check_distortion, check_probability_rows
from paper_repro.errors import Clause, wrong
from paper_repro.papers import kalantari2018
from paper_repro.papers.coloring import largest_ratio, pairs_of_ratio
from paper_repro.papers.readings import Bounds, Reading, check_reading, check_zero_columns, in_order, tails
from paper_repro.sources import SourceSet, distance_to_hull
from paper_repro.types import FloatArray

__all__ = [
    "definition_9",
    "equation_5",
    "equation_7",
    "equation_8",
    "equation_9",
    "equation_11",
    "equation_12",
    "equation_14",
    "equation_15",
    "equation_16",
    "equation_25",
    "equation_26",
    "is_permutation_invariant",
    "lemma_3",
    "lemma_5",
    "permutation_invariant_hull",
    "theorem_1",
    "theorem_2",
    "theorem_3",
    "theorem_4",
]

# A budget this close to a threshold is at it: sums of decimals.
_TIE = 1e-12
# How far, in any letter, a distribution may lie outside a hull, and what an LP optimum of 0 may come out as.
_OUTSIDE = 1e-9
_SOLVED = 1e-9
# A hull with more vertices than this is refused.
_MOST_VERTICES = 10_000


def equation_5(alphabet_size: int, distortion: float) -> FloatArray:
    """Equation (5): randomized response Q_D, ``1 - D`` on the diagonal and ``D / (M - 1)`` elsewhere, shape (M, M).

    Entries are probabilities.

    >>> equation_5(3, 0.2)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    """
    return equation_25(alphabet_size, distortion, 0)


def theorem_1(alphabet_size: int, distortion: float) -> float:
    """Theorem 1, eq. (6): ``log (M - 1)(1 - D) / D`` below ``(M - 1) / M`` and 0 from there, for permutation-invariant classes.

    True, whether the class is convex or not: the average of a distribution's permutations is uniform.

    In nats.

    >>> round(theorem_1(6, 0.1), 6)
    3.806662
    """
    return kalantari2018.theorem_1(alphabet_size, distortion)


def is_permutation_invariant(source: SourceSet) -> bool:
    """Definition 6: whether ``P in the set`` implies that every permutation of P is in it.

    Judged of the hull, so that vertices which are not extreme do not matter; exchanging two neighboring letters is enough, since
    such exchanges generate all permutations. (The paper adds "in other words, symmetric around the uniform point", which is
    neither necessary nor enough: see the examples.) A distribution within 1e-9 of the hull, in any letter, counts as inside.

    Examples
    --------
    The first is permutation invariant without being its own mirror image at the uniform point; the second is the opposite.

    >>> is_permutation_invariant(SourceSet([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    True
    >>> is_permutation_invariant(SourceSet([[1 / 2, 1 / 4, 1 / 4], [1 / 6, 5 / 12, 5 / 12]]))
    False
    """
    vertices = source.vertices
    extent = np.ptp([vertices.max(axis=0), vertices.min(axis=0)], axis=1)
    if (extent > 2 * _OUTSIDE).any():
        return False
    for letter in range(source.alphabet_size - 1):
        exchanged = vertices.copy()
        exchanged[:, [letter, letter + 1]] = vertices[:, [letter + 1, letter]]
        if any(distance_to_hull(prior, vertices) > _OUTSIDE for prior in exchanged):
            return False
    return True


def permutation_invariant_hull(source: SourceSet) -> SourceSet:
    """Smallest permutation-invariant set that contains a set: the hull of all arrangements of its vertices.

    Raises
    ------
    ValueError
        If there are more than 10,000 of them.

    >>> permutation_invariant_hull(SourceSet([0.6, 0.2, 0.2])).vertices
    array([[0.2, 0.2, 0.6],
           [0.2, 0.6, 0.2],
           [0.6, 0.2, 0.2]])
    """
    distinct = np.unique(np.sort(source.vertices, axis=1), axis=0).tolist()
    count = sum(
        math.factorial(len(row)) // math.prod(math.factorial(times) for times in Counter(row).values())
        for row in distinct
    )
    if count > _MOST_VERTICES:
        raise ValueError(
            wrong(
                "source",
                f"have at most {_MOST_VERTICES} arrangements of its vertices",
                Clause(f"{count} for {source!r}"),
                "For Theorem 1 the alphabet size is enough.",
            )
        )
    return SourceSet([arrangement for row in distinct for arrangement in _arrangements(row)], labels=source.labels)


def equation_7(source: SourceSet) -> FloatArray:
    """Equation (7): the thresholds ``D^(k) = max_P`` of the mass of the k least likely letters, for k = 0 .. M - 1, shape (M,).

    Raises
    ------
    ValueError
        If the set has no ordered statistics.

    >>> equation_7(SourceSet([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]])).round(12)
    array([0. , 0.2, 0.5])
    """
    return kalantari2018.distortion_thresholds(source)[:-1]


def lemma_3(source: SourceSet, distortion: float) -> int:
    """Lemma 3: the most all-zero columns that a valid mechanism can have, the largest k with ``D >= D^(k)``.

    The distortion is a probability. Raises ValueError if it is none, or the set has no ordered statistics.

    >>> lemma_3(SourceSet([0.5, 0.3, 0.2]), 0.25)
    1
    """
    budget = check_distortion(distortion)
    return int(np.searchsorted(equation_7(source), budget + _TIE, side="right")) - 1


def lemma_5(source: SourceSet) -> float:
    """Lemma 5: the distortion ``D^(M-1)`` from which, and only from which, an ordered class needs no leakage.

    >>> round(lemma_5(SourceSet([0.5, 0.3, 0.2])), 12)
    0.5
    """
    return float(equation_7(source)[-1])


def equation_8(source: SourceSet, distortion: float, zero_columns: int, reading: Reading = "printed") -> float:
    """Equation (8): the upper bound ``log (n - 1)(1 - (D - D^(k))) / (D - D^(k))`` for k all-zero columns, ``n = M - k``.

    It is what :func:`equation_25` leaks with ``D - D^(k)`` on n letters, which leaves a part of the budget unused. With all of
    it, ``(D - D^(k)) / (1 - D^(k))``, the bound is ``log (n - 1)(1 - D) / (D - D^(k))``, and 0 where that is negative: reading
    ``corrected``. The least of those over k is then the exact optimum of a known distribution.

    Parameters
    ----------
    source : SourceSet
        With ordered statistics.
    distortion : float in [0, 1]
    zero_columns : int, k in 0 .. M - 2
    reading : {"printed", "corrected"}

    Returns
    -------
    float
        Nats; infinite for ``D <= D^(k)``; minus infinity or negative where the printed formula is.

    Raises
    ------
    ValueError
        If the set has no ordered statistics, or an argument is out of its range.

    Examples
    --------
    Exact is 11/5, for the known distribution:

    >>> known = SourceSet([0.5, 0.3, 0.2])
    >>> [round(math.exp(equation_8(known, 0.45, 1, reading)), 6) for reading in ("printed", "corrected")]
    [3.0, 2.2]
    """
    check_reading(reading)
    budget, count = _check(distortion, source.alphabet_size, zero_columns)
    threshold = float(equation_7(source)[zero_columns])
    left = budget - threshold
    if left <= _TIE:
        return math.inf
    if reading == "corrected":
        return max(0.0, _log((count - 1) * (1 - budget)) - math.log(left))
    return _log((count - 1) * (1 - left)) - math.log(left)


def equation_9(source: SourceSet, distortion: float, zero_columns: int, reading: Reading = "printed") -> float:
    """Equation (9): the lower bound for k all-zero columns, over the distortions ``D_i`` of the ``n = M - k`` likeliest letters,

        minimize log( ((n - 1) - sum_{i=2}^n D_i) / D_1 )   subject to   sum_{i<=n} P_i D_i <= D - D^(k) for every P in the set.

    A linear program after division by ``D_1``.

    Parameters
    ----------
    source : SourceSet
        With ordered statistics.
    distortion : float in [0, 1]
    zero_columns : int, k in 0 .. M - 2
    reading : {"literal", "printed", "corrected"}
        ``literal``: no constraint but ``D_i >= 0``. ``printed``: ``D_i <= 1`` as well, since a distortion is a probability.
        ``corrected``: also ``D_1 <= D_2 <= ...``, which Lemma 6 has and the program lacks; a leakage of at least 0; and each P's
        own tail, ``sum_{i<=n} P_i D_i + sum_{i>n} P_i <= D``, in place of the largest. It is then what Lemma 6 says it is: the
        least leakage (an infimum) of the mechanisms with these k columns all-zero.

    Returns
    -------
    float
        Nats; infinite if no mechanism qualifies, minus infinity if the argument of the logarithm can be brought to 0. Solved to
        about 1e-9.

    Raises
    ------
    ValueError
        If the set has no ordered statistics, or an argument is out of its range.

    Examples
    --------
    Two letters are enough to see that the printed bound is loose; exact is 4:

    >>> known = SourceSet([0.7, 0.3])
    >>> [round(math.exp(equation_9(known, 0.2, 0, reading)), 6) for reading in ("printed", "corrected")]
    [3.5, 4.0]
    """
    check_reading(reading, *kalantari2018.READINGS)
    budget, count = _check(distortion, source.alphabet_size, zero_columns)
    falling, _ = in_order(source)
    removed = tails(source)[:, zero_columns]
    left = budget - (removed if reading == "corrected" else np.full_like(removed, removed.max()))
    left[np.abs(left) <= _TIE] = 0.0
    ratio = kalantari2018.ordered_program(falling[:, :count], left, reading)
    # A ratio that can be brought to 0, but for the solver's tolerance.
    leakage = _log(ratio) if ratio > _SOLVED else -math.inf
    return max(0.0, leakage) if reading == "corrected" else leakage


def equation_11(source: SourceSet, distortion: float, reading: Reading = "printed") -> float:
    """Equation (11), the upper bound of Theorem 2: the least of eq. (8) over 0 .. k all-zero columns, and 0 from ``D^(M-1)``.

    ``k`` is the largest with ``D^(k) <= D``. Valid in every reading; ``corrected`` it is exact for one distribution.

    In nats. Raises ValueError as :func:`equation_8` does.

    >>> known = SourceSet([0.5, 0.3, 0.2])
    >>> [round(math.exp(equation_11(known, 0.45, reading)), 6) for reading in ("printed", "corrected")]
    [2.444444, 2.2]
    """
    check_reading(reading)
    most = lemma_3(source, distortion)
    if most == source.alphabet_size - 1:
        return 0.0
    return min(equation_8(source, distortion, columns, reading) for columns in range(most + 1))


def equation_12(source: SourceSet, distortion: float, reading: Reading = "printed") -> float:
    """Equation (12), the lower bound of Theorem 2: the least of eq. (9) over 0 .. k all-zero columns, and 0 from ``D^(M-1)``.

    ``k`` is the largest with ``D^(k) <= D``. Valid in every reading, and exact when ``corrected``.

    In nats. Raises ValueError as :func:`equation_9` does.

    >>> known = SourceSet([0.7, 0.2, 0.1])
    >>> [round(math.exp(equation_12(known, 0.15, reading)), 6) for reading in ("printed", "corrected")]
    [9.333333, 11.333333]
    """
    check_reading(reading, *kalantari2018.READINGS)
    most = lemma_3(source, distortion)
    if most == source.alphabet_size - 1:
        return 0.0
    return min(equation_9(source, distortion, columns, reading) for columns in range(most + 1))


def theorem_2(source: SourceSet, distortion: float, reading: Reading = "printed") -> Bounds:
    """Theorem 2, eq. (10): :func:`equation_12` and :func:`equation_11`, bounds on the least leakage of an ordered class.

    In nats. Raises ValueError as :func:`equation_9` does.

    >>> found = theorem_2(SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02]), 0.01)
    >>> round(found.lower, 4), round(found.upper, 4)
    (5.8579, 6.2046)
    """
    check_reading(reading, *kalantari2018.READINGS)
    upper = equation_11(source, distortion, "corrected" if reading == "corrected" else "printed")
    return Bounds(equation_12(source, distortion, reading), upper)


def theorem_3(source: SourceSet, distortion: float, reading: Reading = "printed") -> float:
    """Theorem 3: where the two bounds of an ordered class are said to meet, the optimum, ``log (M - 1)(1 - D) / D`` or 0.

    The optimum is as said. That the lower bound of Theorem 2 meets it below ``D^(1)`` is true in its reading ``corrected`` alone.

    Parameters
    ----------
    source : SourceSet
        With ordered statistics.
    distortion : float in [0, 1]
    reading : {"printed", "corrected"}
        ``corrected``: the first range ends not at ``D^(1) = max_P P_M`` but at (M - 1) times as much, where it does end.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If the distortion is in neither range, where the theorem says nothing; or as in :func:`theorem_2`.

    Examples
    --------
    >>> round(theorem_3(SourceSet([0.5, 0.3, 0.2]), 0.3, "corrected"), 6)
    1.540445
    """
    check_reading(reading)
    budget = check_distortion(distortion)
    thresholds = equation_7(source)
    if budget >= thresholds[-1] - _TIE:
        return 0.0
    end = float(thresholds[1]) * (source.alphabet_size - 1 if reading == "corrected" else 1)
    if budget >= end:
        raise ValueError(
            wrong(
                "distortion",
                f"be below {end:.6g} or at least {thresholds[-1]:.6g} for Theorem 3",
                budget,
                "Between them use theorem_2.",
            )
        )
    return theorem_1(source.alphabet_size, budget)


def theorem_4(alphabet_size: int, distortion: float) -> float:
    """Theorem 4, eq. (13): for an ordered class that includes the uniform distribution, the same as eq. (6).

    In nats.

    >>> theorem_4(3, 0.5) == theorem_1(3, 0.5)
    True
    """
    return theorem_1(alphabet_size, distortion)


def equation_14(matrix: ArrayLike) -> FloatArray:
    """Equation (14): the average of a mechanism over all permutations of the alphabet, shape (M, M).

    Every diagonal entry is the mean of the diagonal, and every other entry the mean of the others: two permutations of letters
    are as many as it takes to send any pair to any other. So it is already what Lemma 2 looks for.

    >>> equation_14([[1.0, 0.0], [0.5, 0.5]])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    square = _square(matrix)
    return equation_5(len(square), float(np.clip(1 - np.diagonal(square).mean(), 0.0, 1.0)))


def equation_15(matrix: ArrayLike, reading: Reading = "printed") -> FloatArray:
    """Equation (15): the diagonal of :func:`equation_14`, and ``sum_{k != j} Q'(k|i) / (M - 1)`` elsewhere.

    That sum is over a row without the wrong entry: it holds the diagonal one, so that rows do not sum to 1 and the second
    equation, ``= a / (M - 1)``, is false unless ``a = (M - 1) / M``. Without ``k = i`` instead of ``k = j`` (``corrected``) it is
    true, and the result is equation (14) again.

    Both matrices have shape (M, M). Raises ValueError if it is no mechanism, or the reading is neither of the two.

    >>> equation_15([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    array([[0.8 , 0.45, 0.45],
           [0.45, 0.8 , 0.45],
           [0.45, 0.45, 0.8 ]])
    """
    check_reading(reading)
    average = equation_14(matrix)
    others = len(average) - 1
    if reading == "corrected" or not others:
        return average
    found = (average.sum(axis=1, keepdims=True) - average) / others
    np.fill_diagonal(found, np.diagonal(average))
    return found


def equation_16(distortions: ArrayLike, reading: Reading = "printed") -> float:
    """Equation (16), Lemma 6: ``log ((n - 1) - sum_{i>=2} D_i) / D_1``, said to be the leakage of a best mechanism, in nats.

    Equation (32) of 2017 for the n letters that are published: see ``kalantari2018.equation_32`` for the readings,
    limits and errors. The distortions have shape (n,).

    >>> [round(math.exp(equation_16([0.3, 0.1, 0.2], reading)), 6) for reading in ("printed", "corrected")]
    [5.666667, 15.0]
    """
    return kalantari2018.equation_32(distortions, reading=reading)


def equation_25(alphabet_size: int, distortion: float, zero_columns: int) -> FloatArray:
    """Equation (25): ``Q_D^(k)``, randomized response on the first ``n = M - k`` letters, shape (M, M).

    The rows of the k suppressed letters copy row n. For k = M - 1 all letters are answered by the first (25b).

    Raises
    ------
    ValueError
        If D is no probability, or k is not in 0 .. M - 1.

    >>> equation_25(3, 0.25, 1)
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.25, 0.75, 0.  ]])
    """
    budget = check_distortion(distortion)
    check_zero_columns(zero_columns, check_count(alphabet_size, "alphabet_size") - 1, 1)
    count = alphabet_size - zero_columns
    matrix = np.full((count, count), budget / max(count - 1, 1))
    np.fill_diagonal(matrix, 1 - budget if count > 1 else 1.0)
    return kalantari2018.suppressing(matrix, zero_columns)


def equation_26(alphabet_size: int, distortion: float, zero_columns: int, reading: Reading = "printed") -> float:
    """Equation (26): ``log (M - 1 - k)(1 - D) / D``, said to be the leakage of :func:`equation_25`.

    Nats. Negative for ``D > (n - 1) / n`` with ``n = M - k``, and minus infinity for k = M - 1. ``corrected`` has the absolute
    value and 0, which is what the mechanism leaks.

    Raises ValueError as :func:`equation_25` does.

    >>> [round(equation_26(3, 0.6, 1, reading), 6) for reading in ("printed", "corrected")]
    [-0.405465, 0.405465]
    """
    check_reading(reading)
    matrix = equation_25(alphabet_size, distortion, zero_columns)
    others = alphabet_size - 1 - zero_columns
    if others == 0:
        return 0.0 if reading == "corrected" else -math.inf
    leakage = _log(float(matrix[0, 0])) - _log(float(matrix[0, 1]))
    return abs(leakage) if reading == "corrected" else leakage


def definition_9(matrix: ArrayLike, reading: Reading = "printed") -> list[tuple[int, int, int]]:
    """Definition 9: the critical pairs of a mechanism, as (column, row of the larger entry, row of the smaller one).

    As printed, the larger is ``epsilon_DP(Q)`` times the smaller, and as a rule there is none, though the paper goes on "there
    exists at least one". ``corrected``: ``exp(epsilon_DP(Q))`` times, as printed in 2017; there is one if the leakage is finite.
    Ratios that differ by 1e-9 of their size are the same.

    Of a matrix of shape (M, M). Raises ValueError if it is none, or the reading is neither of the two.

    >>> response = equation_5(2, 0.25)
    >>> definition_9(response), definition_9(response, "corrected")
    ([], [(0, 0, 1), (1, 1, 0)])
    """
    check_reading(reading)
    ratio = largest_ratio(square := _square(matrix))
    if not math.isfinite(ratio):
        return []
    return list(pairs_of_ratio(square, ratio if reading == "corrected" else math.log(ratio)))


def _check(distortion: float, size: int, zero_columns: int) -> tuple[float, int]:
    """The distortion as a float, and how many letters are published."""
    check_zero_columns(zero_columns, size - 2)
    return check_distortion(distortion), size - zero_columns


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _square(matrix: ArrayLike) -> FloatArray:
    rows = check_probability_rows(matrix, "mechanism")
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(
            wrong("matrix", "have shape (M, M), from an alphabet to itself", Clause(f"shape {rows.shape}"))
        )
    return rows


def _arrangements(values: list[float]) -> Iterator[list[float]]:
    """All distinct orders of the values, in lexicographic order."""
    row = sorted(values)
    while True:
        yield list(row)
        falls = len(row) - 1
        while falls > 0 and row[falls - 1] >= row[falls]:
            falls -= 1
        if falls <= 0:
            return
        other = max(place for place in range(falls, len(row)) if row[place] > row[falls - 1])
        row[falls - 1], row[other] = row[other], row[falls - 1]
        row[falls:] = row[falls:][::-1]
