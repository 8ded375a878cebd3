"""What Kalantari, Sankar and Sarwate print in IEEE Trans. Information Forensics and Security 13(11), 2018.

*Robust Privacy-Utility Tradeoffs under Differential Privacy and Hamming Distortion*. Formulas are those of the preprint of
July 2017, and so are the numbers of equations and lemmas; the published version moves the lemmas of Section III-A from 3 and 4
to 5 and 6. Everything here is **as printed, mistakes included**; what is true is in :mod:`paper_repro.tradeoff`. Letters are
counted from 0, and the paper's ``T(i)`` and ``M`` are written out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_distortion
from paper_repro.errors import InfeasibleError
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = [
    "CONSTRUCTIONS",
    "Reading",
    "distortion_thresholds",
    "equation_10",
    "equation_17",
    "equation_48",
    "lemma_3",
    "lemma_4",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]

Reading = Literal["literal", "printed", "corrected"]
"""Which constraints on the letters' distortions to add to those of equations (10) and (17).

``literal``: none but ``D_i >= 0``. ``printed``: ``D_i <= 1`` as well, since a distortion is a probability. ``corrected``: also
``D_1 <= D_2 <= ...``, which the derivation uses (Lemma 7) and the program lacks.
"""

CONSTRUCTIONS: dict[str, tuple[str, list[tuple[int, int]]]] = {
    f"P_III{group}_{size}": (f"P_II_{size}", [(0, letter) for letter in range(1, last + 1)])
    for size in (6, 10)
    for group, last in (("a", 1), ("b", 2), ("c", 3))
}
"""Section IV: each Class III set is a Class II set with copies that swap the first letter and another; here, which ones."""


def theorem_1(alphabet_size: int, distortion: float) -> float:
    """Theorem 1, eq. (7): ``log((M - 1)(1 - D) / D)`` below ``(M - 1) / M`` and 0 from there, for Class I sets.

    Nats; infinite at D = 0 if M > 1.

    >>> round(theorem_1(6, 0.1), 6)
    3.806662
    """
    _check(distortion, alphabet_size)
    if distortion >= (alphabet_size - 1) / alphabet_size:
        return 0.0
    return _symmetric(alphabet_size, distortion)


def distortion_thresholds(source: SourceSet) -> FloatArray:
    """Thresholds of Theorem 2, eq. (8): ``D^(k) = max_P`` of the mass of the k least likely letters, for k = 0 .. M.

    Raises
    ------
    ValueError
        If no one ordering sorts every distribution of the set.

    >>> distortion_thresholds(SourceSet([0.5, 0.3, 0.2])).round(12)
    array([0. , 0.2, 0.5, 1. ])
    """
    falling = _in_order(source)[0]
    return np.append(0.0, np.cumsum(falling[:, ::-1], axis=1).max(axis=0))


def equation_10(source: SourceSet, distortion: float, zero_columns: int, reading: Reading = "printed") -> float:
    """Equation (10): the least leakage claimed for mechanisms with exactly k all-zero columns, over a Class II set.

    With ``n = M - k`` letters left, most likely first, it solves

        minimize   log( ((n - 1) - sum_{i=2}^n D_i) / D_1 )
        subject to sum_{i<=n} P_i D_i <= D - D^(k) for every P in the set,   sum_{i<=n} D_i <= n - 1,

    and the constraints of ``reading``. A linear program after division by ``D_1``.

    Returns
    -------
    float
        Nats; infinite if no mechanism qualifies. Solved to about 1e-9.

    Raises
    ------
    ValueError
        If the set has no common ordering, or ``zero_columns`` is not in 0 .. M - 2.

    >>> small = SourceSet([0.7, 0.2, 0.1])
    >>> [round(math.exp(equation_10(small, 0.15, 0, reading)), 6) for reading in ("printed", "corrected")]
    [9.333333, 11.333333]
    """
    return equation_17(source, distortion, zero_columns, [], reading)


def theorem_2(source: SourceSet, distortion: float, reading: Reading = "printed") -> float:
    """Theorem 2, eq. (9): the claimed optimum for a Class II set, in nats.

    Symmetric below ``D^(1)``, 0 from ``D^(M-1)``, and between them the least of eq. (10) over 0 .. k zero columns where
    ``D^(k) <= D < D^(k+1)``.

    >>> table_1 = SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])
    >>> [round(theorem_2(table_1, 0.2, reading), 4) for reading in ("literal", "printed", "corrected")]
    [0.0, 2.5437, 2.6773]
    """
    _check(distortion, reading=reading)
    thresholds = distortion_thresholds(source)
    if distortion >= thresholds[-2]:
        return 0.0
    if distortion < thresholds[1]:
        return _symmetric(source.alphabet_size, distortion)
    most = int(np.searchsorted(thresholds[:-2], distortion, side="right")) - 1
    return min(equation_10(source, distortion, columns, reading) for columns in range(most + 1))


def equation_17(
    source: SourceSet,
    distortion: float,
    zero_columns: int,
    permutations: Sequence[Sequence[int]],
    reading: Reading = "printed",
) -> float:
    """Equation (17): equation (10) with ``D_{T(i)} = D_i`` for every folding permutation T.

    Parameters
    ----------
    source : SourceSet
        A Class II set, such as a folded image of a Class III set.
    distortion : float in [0, 1]
    zero_columns : int in 0 .. M - 2
    permutations : sequences of M letters, most likely first
        ``T[i]`` is the letter that letter i is identified with.
    reading : Reading

    Returns
    -------
    float
        Nats; infinite if no mechanism qualifies.
    """
    _check(distortion, source.alphabet_size, permutations, reading)
    falling, order = _in_order(source)
    size = source.alphabet_size
    if not 0 <= zero_columns <= size - 2:
        raise ValueError(
            f"zero_columns must be between 0 and M - 2 = {size - 2}, got {zero_columns}; "
            "with one column left the formula divides 0 by 0"
        )
    rank = np.argsort(order)
    pairs = [(int(rank[i]), int(rank[T[i]])) for T in permutations for i in range(size) if T[i] != i]
    return _program(falling, distortion, size - zero_columns, pairs, reading)


def theorem_3(
    source: SourceSet,
    distortion: float,
    permutations: Sequence[Sequence[int]],
    reading: Reading = "printed",
) -> float:
    """Theorem 3, eq. (16): the bound that a folded set gives for a Class III set, in nats.

    A lower bound is claimed for the intersection of the folded pieces and an upper bound for their union; ``source`` is either.
    Symmetric below ``D^(1)``, 0 from ``(M - 1) / M``, and between them the least of eq. (17) over all numbers of zero columns.

    >>> table_1 = SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])
    >>> round(theorem_3(table_1, 0.25, [[1, 0, 2, 3, 4, 5]], "corrected"), 6)
    2.014903
    """
    _check(distortion, source.alphabet_size, permutations, reading)
    size = source.alphabet_size
    if distortion >= (size - 1) / size:
        return 0.0
    if distortion < distortion_thresholds(source)[1]:
        return _symmetric(size, distortion)
    return min(equation_17(source, distortion, columns, permutations, reading) for columns in range(size - 1))


def equation_48(distortions: ArrayLike, zero_columns: int = 0) -> FloatArray:
    """Equation (48): the matrix proposed for given ``D_1 .. D_{M-k}`` and k all-zero columns, shape (M, M).

    As printed but for one sign: the second case reads ``i, j < M - k`` where ``<=`` is needed to fill the last kept row and
    column. Rows of suppressed letters copy row ``M - k``.

    >>> equation_48([0.25, 0.25], zero_columns=1)
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.25, 0.75, 0.  ]])
    """
    changed = np.asarray(distortions, dtype=float)
    kept = 1 - changed
    count = len(kept)
    if (kept.sum() - kept <= 0).any():
        raise ValueError(
            f"equation (48) divides by what the other letters keep, which is 0 for distortions {distortions!r}"
        )
    matrix = np.zeros((count + zero_columns,) * 2)
    matrix[:count, :count] = (changed / (kept.sum() - kept))[:, np.newaxis] * kept
    matrix[np.arange(count), np.arange(count)] = kept
    matrix[count:] = matrix[count - 1]
    return matrix


def lemma_3(alphabet_size: int, distortion: float) -> float:
    """Lemma 3, eq. (22) (Lemma 5 in 2018): mutual information of a Class I set, ``log M - H(D) - D log(M - 1)``, in nats.

    0 from ``D = (M - 1) / M``.

    >>> round(lemma_3(10, 0.3), 5)
    1.03255
    """
    _check(distortion, alphabet_size)
    if distortion >= (alphabet_size - 1) / alphabet_size:
        return 0.0
    entropy = -sum(p * math.log(p) for p in (distortion, 1 - distortion) if p > 0)
    return math.log(alphabet_size) - entropy - distortion * math.log(alphabet_size - 1)


def lemma_4(source: SourceSet) -> float:
    """Lemma 4 (Lemma 6 in 2018): the distortion ``D^(M-1)`` from which a Class II set needs no mutual information.

    >>> round(lemma_4(SourceSet([0.5, 0.3, 0.2])), 12)
    0.5
    """
    return float(distortion_thresholds(source)[-2])


def _check(
    distortion: float,
    alphabet_size: int = 1,
    permutations: Sequence[Sequence[int]] = (),
    reading: str = "printed",
) -> None:
    check_distortion(distortion)
    if alphabet_size < 1:
        raise ValueError(f"alphabet_size must be at least 1, got {alphabet_size}")
    for permutation in permutations:
        if sorted(permutation) != list(range(alphabet_size)):
            raise ValueError(f"each permutation must hold 0 .. {alphabet_size - 1} once, got {list(permutation)!r}")
    if reading not in ("literal", "printed", "corrected"):
        raise ValueError(f"reading must be 'literal', 'printed' or 'corrected', got {reading!r}")


def _symmetric(alphabet_size: int, distortion: float) -> float:
    if distortion == 0:
        return math.inf
    return math.log(alphabet_size - 1) + math.log1p(-distortion) - math.log(distortion)


def _in_order(source: SourceSet) -> tuple[FloatArray, IntArray]:
    """The vertices with letters sorted from most to least likely, and that order."""
    order = np.argsort(-source.vertices.mean(axis=0), kind="stable")
    falling = source.vertices[:, order]
    if (np.diff(falling, axis=1) > 1e-12).any():
        raise ValueError(f"{source!r} has no common ordering of its letters; the formula is for Class II sets")
    return falling, order


def _program(
    falling: FloatArray, distortion: float, count: int, pairs: list[tuple[int, int]], reading: Reading
) -> float:
    """Equations (10) and (17) in ``y_i = D_i / D_1`` and ``s = 1 / D_1``: minimize ``(n - 1) s - sum_{i>=2} y_i``."""
    suppressed = falling[:, count:].sum(axis=1).max()
    # Columns: y_1 = 1, y_2 .. y_n, s.
    rows = [np.append(prior[:count], -(distortion - suppressed)) for prior in falling]
    rows.append(np.append(np.ones(count), -(count - 1.0)))
    identity = np.eye(count + 1)
    if reading != "literal":
        rows.extend(identity[:count] - identity[count])
    if reading == "corrected":
        rows.extend(identity[: count - 1] - identity[1:count])
    bounds = len(rows)
    # A suppressed letter has distortion 1, that is y = s.
    rows.extend(identity[min(i, count)] - identity[min(j, count)] for i, j in pairs if min(i, count) != min(j, count))
    rows.append(identity[0])
    costs, upper = np.append(-np.ones(count), count - 1.0), np.zeros(len(rows))
    costs[0], upper[-1] = 0.0, 1.0
    try:
        solved = optimal_basis(costs, np.array(rows), upper, equal=slice(bounds, None))
    except InfeasibleError:
        return math.inf
    return max(0.0, math.log(max(solved.objective, 1.0)))
