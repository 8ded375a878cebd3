r"""What Kalantari, Sankar and Sarwate print in IEEE Trans. Information Forensics and Security 13(11), 2018.

*Robust Privacy-Utility Tradeoffs under Differential Privacy and Hamming Distortion*. Formulas, and the numbers of equations and
lemmas, are those of the preprint of July 2017; the published version moves the lemmas of Section III-A from 3 and 4 to 5 and 6,
Remarks 5 and 7 to 4 and 6, and Lemma 8 to 9. Everything here is **as printed, mistakes included**, but for what ``reading`` and
the folding's ``direction`` correct; what is true is in :mod:`paper_repro.tradeoff`. Letters are counted from 0, and the paper's
``T(i)`` and ``M`` are written out. Leakages are in nats. Of Class III sets, with proofs at the head of
:mod:`paper_repro.papers.folding`, it is true that

* the upper bound of Theorem 3 holds with ``reading="largest"`` and with ``"corrected"``, which forces the order of Lemma 7 on the
  distortions; not with the others;
* the lower bound holds, with ``"largest"``, where ``Folding.averages_inside`` says so, such as when the folding permutations form
  a group, and fails in general. The example in :func:`theorem_3` claims log 4/3 where nothing needs to leak;
* Corollary 1 and Remark 7 hold for convex sets, which the paper takes all sets to be, with ``"largest"`` and ``"corrected"``; for
  others both fail, and they are not about a set's hull: a hull folds otherwise than the points it is spanned by;
* Remark 5 holds, whether or not ``P^cap`` is empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_count, check_distortion, check_grid
from paper_repro.errors import Clause, InfeasibleError, shown, wrong
from paper_repro.papers.folding import Folding, Source, alike, as_source_set
from paper_repro.papers.readings import Bounds, Reading, check_reading, check_zero_columns, in_order, tails
from paper_repro.solvers.diagonal_ratio import DiagonalRatioProgram
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "CONSTRUCTIONS",
    "READINGS",
    "corollary_1",
    "distortion_thresholds",
    "equation_10",
    "equation_17",
    "equation_32",
    "equation_48",
    "lemma_3",
    "lemma_4",
    "ordered_program",
    "remark_5",
    "remark_7",
    "suppressing",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]

READINGS: tuple[Reading, ...] = ("literal", "printed", "corrected")
"""Which constraints on the letters' distortions to add to those of equations (10) and (17).

``literal``: none but ``D_i >= 0``. ``printed``: ``D_i <= 1`` as well, since a distortion is a probability. ``corrected``: also
``D_1 <= D_2 <= ...``, which the derivation uses (Lemma 7) and the program lacks. Theorems 2 and 3, and what follows from them,
also have ``largest``: the ratio is the largest over all letters, ``1 + (M - 1 - sum D) / min D``, with ``D_i <= 1``. With it they
are exact for mechanisms that give alike letters equal distortions, at every distortion: the outer cases of eq. (9) and (16),
where the leakage is known, are then special cases and not assumed.
"""

CONSTRUCTIONS: dict[str, tuple[str, list[tuple[int, int]]]] = {
    f"P_III{group}_{size}": (f"P_II_{size}", [(0, letter) for letter in range(1, last + 1)])
    for size in (6, 10)
    for group, last in (("a", 1), ("b", 2), ("c", 3))
}
"""Section IV: each Class III set is a Class II set with copies that swap the first letter and another; here, which ones."""


def theorem_1(alphabet_size: int, distortion: float) -> float:
    """Theorem 1, eq. (7): ``log((M - 1)(1 - D) / D)`` below ``(M - 1) / M`` and 0 from there, for Class I sets.

    Nats; infinite at D = 0 if M > 1. Raises ValueError if M < 1 or D is no probability.

    >>> round(theorem_1(6, 0.1), 6)
    3.806662
    """
    _check(distortion, alphabet_size)
    if distortion >= (alphabet_size - 1) / alphabet_size:
        return 0.0
    return _symmetric(alphabet_size, distortion)


def distortion_thresholds(source: SourceSet) -> FloatArray:
    """Thresholds of Theorem 2, eq. (8): ``D^(k) = max_P`` of the mass of the k least likely letters, k = 0 .. M.

    Shape (M + 1,).

    Raises
    ------
    ValueError
        If no one ordering sorts every distribution of the set.

    >>> distortion_thresholds(SourceSet([0.5, 0.3, 0.2])).round(12)
    array([0. , 0.2, 0.5, 1. ])
    """
    return tails(source).max(axis=0)


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
    ``D^(k) <= D < D^(k+1)``. Exact with the readings ``corrected`` and ``largest``.

    Raises
    ------
    ValueError
        If the set has no common ordering, or the distortion or the reading is not one.

    >>> table_1 = SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])
    >>> [round(theorem_2(table_1, 0.2, reading), 4) for reading in ("literal", "printed", "corrected")]
    [0.0, 2.5437, 2.6773]
    """
    _check(distortion, reading=reading, largest=True)
    thresholds = distortion_thresholds(source)
    if reading == "largest":
        return _of_largest_ratio(source, distortion)
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

    Raises
    ------
    ValueError
        As in :func:`equation_10`, or if a permutation is none.

    >>> round(math.exp(equation_17(SourceSet([0.6, 0.3, 0.1]), 0.3, 0, [[1, 0, 2]], "corrected")), 6)
    3.5
    """
    _check(distortion, source.alphabet_size, permutations, reading)
    falling, order = in_order(source)
    size = source.alphabet_size
    check_zero_columns(zero_columns, size - 2)
    rank = np.argsort(order)
    pairs = [(int(rank[i]), int(rank[T[i]])) for T in permutations for i in range(size) if T[i] != i]
    kept = size - zero_columns
    left = np.full(len(falling), distortion - falling[:, kept:].sum(axis=1).max())
    return max(0.0, math.log(max(1.0, ordered_program(falling[:, :kept], left, reading, pairs, floor=1.0))))


def theorem_3(
    source: Folding | Source,
    distortion: float,
    reading: Reading = "printed",
    *,
    permutations: Sequence[Sequence[int]] | None = None,
) -> Bounds:
    """Theorem 3, eq. (15): a lower bound from the intersection of the folded images, an upper bound from their union.

    Each is eq. (16): symmetric below ``D^(1)``, 0 from ``(M - 1) / M``, and between them the least of eq. (17) over all numbers
    of zero columns. The preprint and the published version print the same theorem; its number is 3 in both.

    Parameters
    ----------
    source : Folding, SourceSet, or a sequence of them
        The folding of a set; its ``ties`` and ``direction`` are part of how the theorem is read. A set that is not folded yet is
        folded with ties, as Definition 5 has it.
    distortion : float in [0, 1]
    reading : {"printed", "literal", "corrected", "largest"}
        See ``READINGS``.
    permutations : sequences of M letters, optional
        With a SourceSet of Class II, which then is itself what all images share, as the base of a set of Tables III and IV is
        (see ``CONSTRUCTIONS``): both bounds are the same. ``T[i]`` is the letter that letter i is identified with.

    Returns
    -------
    Bounds
        In nats. The theorem supposes that the intersection is not empty; where it is, the lower bound is that of Remark 5.

    Raises
    ------
    ValueError
        If the reading, the distortion or a permutation is not one, or if nothing is left of the union (``direction="printed"``).

    Examples
    --------
    A set for which the lower bound fails: nothing leaks if every letter is published as the first or the second, with
    probabilities .6 and .4, and that changes it with a probability of at most .6.

    >>> source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
    >>> folding = Folding(source)
    >>> round(math.exp(theorem_3(folding, 0.6, "largest").lower), 6), folding.averages_inside
    (1.333333, False)
    >>> round(source.worst_case_distortion([[0.6, 0.4, 0.0]] * 3), 12)
    0.6

    A set for which the upper bound fails, unless the ratio is the largest over the letters; there it is exact:

    >>> source = SourceSet([[0.7, 0.2, 0.1], [0.7, 0.1, 0.2]])
    >>> [round(3 * math.exp(theorem_3(source, 0.15, reading).upper), 6) for reading in ("printed", "largest")]
    [28.0, 34.0]

    The set of Table III that is built from Table I by a swap of the first two letters:

    >>> table_1 = SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])
    >>> round(theorem_3(table_1, 0.25, "corrected", permutations=[[1, 0, 2, 3, 4, 5]]).upper, 6)
    2.014903
    """
    _check(distortion, reading=reading, largest=True)
    if permutations is not None:
        if not isinstance(source, SourceSet):
            raise ValueError(
                wrong(
                    "permutations",
                    "come with the SourceSet that all images share",
                    source,
                    "Leave them out: a Folding has its own.",
                )
            )
        bound = _equation_16(source, distortion, reading, permutations, None)
        return Bounds(bound, bound)
    folding = source if isinstance(source, Folding) else Folding(source)
    upper = _on_image(folding, as_source_set(folding.union), distortion, reading)
    if not folding.intersection:
        return Bounds(remark_5(folding, distortion, reading), upper)
    return Bounds(_on_image(folding, as_source_set(folding.intersection), distortion, reading), upper)


def remark_5(folding: Folding, distortion: float, reading: Reading = "printed") -> float:
    """Remark 5 (4 in 2018): the lower bound ``eps*(P cap S_0, D)``, by Theorem 2, in nats.

    ``S_0`` is the first region that the set meets; letters are relabeled, as the paper does, if it is not the ordered one.

    >>> round(math.exp(remark_5(Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2]])), 0.3, "corrected")), 6)
    4.666667
    """
    first = folding.pieces[0]
    return theorem_2(as_source_set(part.permuted(first.permutation) for part in first.parts), distortion, reading)


def corollary_1(folding: Folding, distortion: float, reading: Reading = "printed") -> float:
    """Corollary 1, eq. (18): where ``P^cap = P^cup``, the optimum is claimed to be ``eps*(P^cap, D)``, in nats.

    That is Theorem 2, which does not know of the other regions. For a convex set it need not: the averages over alike letters,
    which are what is hard about the set, are in ``P^cap`` themselves. For isolated points they are not:

    >>> from paper_repro.papers.folding import isolated
    >>> mirrored = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    >>> [round(math.exp(corollary_1(Folding(set), 0.4, "corrected")), 6) for set in (mirrored, isolated(mirrored))]
    [2.0, 1.0]

    Raises
    ------
    ValueError
        If the folded images differ.
    """
    return theorem_2(_shared_image(folding), distortion, reading)


def remark_7(folding: Folding, distortion: float, reading: Reading = "printed") -> float:
    """Remark 7 (6 in 2018): where ``P^cap = P^cup``, the optimum is claimed to be eq. (16) on it, in nats.

    Raises
    ------
    ValueError
        If the folded images differ.

    >>> round(math.exp(remark_7(Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])), 0.4, "largest")), 6)
    2.0
    """
    return _on_image(folding, _shared_image(folding), distortion, reading)


def equation_32(distortions: ArrayLike, zero_columns: int = 0, reading: Reading = "printed") -> float:
    """Equation (32), Lemma 8: leakage ``log( ((n - 1) - sum_{i=2}^n D_i) / D_1 )`` of a mechanism with ``n = M - k`` columns.

    Parameters
    ----------
    distortions : array_like, shape (M,)
        Those of the suppressed letters, the last ``zero_columns``, are not looked at.
    zero_columns : int in 0 .. M - 2
    reading : {"printed", "corrected"}
        ``corrected``: the largest over all letters in place of the first, which makes no difference if ``D_1`` is the smallest.
        For ``sum_i D_i <= n - 1`` it is the least leakage of a mechanism on n letters with these distortions.

    Returns
    -------
    float
        Nats; infinite if ``D_1 = 0`` unless the numerator is 0 as well, and then 0; negative where the formula is.

    Raises
    ------
    ValueError
        If a number is no probability, ``zero_columns`` is out of its range, or, if ``corrected``, the sum exceeds n - 1.

    >>> round(math.exp(equation_32([0.25, 0.25, 1.0], zero_columns=1)), 12)
    3.0
    >>> [round(math.exp(equation_32([0.3, 0.1, 0.2], reading=reading)), 6) for reading in ("printed", "corrected")]
    [5.666667, 15.0]
    """
    check_reading(reading)
    changed = check_grid(distortions, check_distortion)
    if changed.ndim != 1 or changed.size < 2:
        raise ValueError(wrong("distortions", "be those of two categories or more", distortions))
    count = changed.size - check_zero_columns(zero_columns, changed.size - 2)
    first = float(changed[0])
    above = count - 1 - float(changed[1:count].sum())
    if reading == "corrected":
        total, first = float(changed[:count].sum()), float(changed[:count].min())
        if total > count - 1 + 1e-12:
            raise ValueError(
                wrong(
                    "distortions",
                    f"sum to at most {count - 1}",
                    Clause(f"{shown(distortions)} with the sum {total!r}"),
                    "Lower them: less distortion suffices for no leakage.",
                )
            )
        above = max(0.0, count - 1 - total) + first
    if first == 0:
        return math.inf if above > 0 else 0.0
    return math.log(above / first) if above > 0 else -math.inf


def equation_48(distortions: ArrayLike, zero_columns: int = 0) -> FloatArray:
    """Equation (48): the matrix proposed for given ``D_1 .. D_{M-k}`` and k all-zero columns, shape (M, M).

    As printed but for one sign: the second case reads ``i, j < M - k`` where ``<=`` is needed to fill the last kept row and
    column. Rows of suppressed letters copy row ``M - k``.
    Raises ValueError where the other letters keep nothing, which it divides by.

    >>> equation_48([0.25, 0.25], zero_columns=1)
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.25, 0.75, 0.  ]])
    """
    changed = np.asarray(distortions, dtype=float)
    kept = 1 - changed
    if (kept.sum() - kept <= 0).any():
        raise ValueError(
            wrong(
                "distortions",
                "leave the other categories something to keep, by which equation (48) divides",
                distortions,
            )
        )
    matrix = (changed / (kept.sum() - kept))[:, np.newaxis] * kept
    np.fill_diagonal(matrix, kept)
    return suppressing(matrix, zero_columns)


def suppressing(matrix: FloatArray, zero_columns: int) -> FloatArray:
    """A mechanism on n letters with k more that are never published, whose rows copy row n, shape (n + k, n + k).

    >>> suppressing(np.eye(2), 1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    widened = np.pad(matrix, (0, zero_columns))
    widened[len(matrix) :] = widened[len(matrix) - 1]
    return widened


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


def ordered_program(
    falling: FloatArray, left: FloatArray, reading: Reading, pairs: Sequence[tuple[int, int]] = (), floor: float = 0.0
) -> float:
    """Least ``((n - 1) - sum_{i>=2} D_i) / D_1`` of equations (10) and (17), and of eq. (9) of 2016, by a linear program.

    In ``y_i = D_i / D_1`` and ``s = 1 / D_1``: minimize ``(n - 1) s - sum_{i>=2} y_i``, subject to ``P . y <= left_P s``.

    Parameters
    ----------
    falling : ndarray, shape (V, n)
        Probabilities of the n letters that are published, most likely first.
    left : ndarray, shape (V,)
        The distortion that each P may spend on them.
    reading : {"literal", "printed", "corrected"}
    pairs : of letters with the same distortion, of which those from n on are suppressed and have distortion 1
    floor : float
        The ratio is at least this: 1 says ``sum_{i<=n} D_i <= n - 1``.

    Returns
    -------
    float
        Solved to about 1e-9; infinite if no distortions qualify.

    >>> round(ordered_program(np.array([[0.7, 0.3]]), np.array([0.2]), "corrected"), 6)
    4.0
    """
    count = falling.shape[1]
    # Columns: y_1 .. y_n and s.
    costs = np.append(-np.ones(count), count - 1.0)
    costs[0] = 0.0
    least = -costs
    least[0] = floor
    rows = [*np.column_stack([falling, -left]), least]
    identity = np.eye(count + 1)
    if reading != "literal":
        rows.extend(identity[:count] - identity[count])
    if reading == "corrected":
        rows.extend(identity[: count - 1] - identity[1:count])
    bounds = len(rows)
    # A suppressed letter has distortion 1, that is y = s.
    rows.extend(identity[min(i, count)] - identity[min(j, count)] for i, j in pairs if min(i, count) != min(j, count))
    rows.append(identity[0])
    upper = np.zeros(len(rows))
    upper[-1] = 1.0
    try:
        return optimal_basis(costs, np.array(rows), upper, equal=slice(bounds, None)).objective
    except InfeasibleError:
        return math.inf


def _check(
    distortion: float,
    alphabet_size: int = 1,
    permutations: Sequence[Sequence[int]] = (),
    reading: str = "printed",
    largest: bool = False,
) -> None:
    check_distortion(distortion)
    check_count(alphabet_size, "alphabet_size")
    for permutation in permutations:
        if sorted(permutation) != list(range(alphabet_size)):
            raise ValueError(wrong("permutations", f"each hold 0 .. {alphabet_size - 1} once", list(permutation)))
    check_reading(reading, *READINGS, *(("largest",) if largest else ()))


def _symmetric(alphabet_size: int, distortion: float) -> float:
    if distortion == 0:
        return math.inf
    return math.log(alphabet_size - 1) + math.log1p(-distortion) - math.log(distortion)


def _equation_16(
    ordered: SourceSet,
    distortion: float,
    reading: Reading,
    permutations: Sequence[Sequence[int]],
    classes: Sequence[Sequence[int]] | None,
) -> float:
    """The program of Theorem 3 on one image; ``classes`` are the letters that the permutations make alike, if known."""
    _check(distortion, ordered.alphabet_size, permutations, reading, largest=True)
    size = ordered.alphabet_size
    if reading == "largest":
        averages = np.array(ordered.vertices)
        for letters in map(list, classes or alike(permutations, size)):
            averages[:, letters] = averages[:, letters].mean(axis=1, keepdims=True)
        return _of_largest_ratio(SourceSet(averages), distortion)
    if distortion >= (size - 1) / size:
        return 0.0
    if distortion < distortion_thresholds(ordered)[1]:
        return _symmetric(size, distortion)
    return min(equation_17(ordered, distortion, columns, permutations, reading) for columns in range(size - 1))


def _on_image(folding: Folding, image: SourceSet, distortion: float, reading: Reading) -> float:
    return _equation_16(image, distortion, reading, folding.rank_permutations, folding.rank_classes)


def _shared_image(folding: Folding) -> SourceSet:
    if not folding.folds_alike:
        raise ValueError(wrong("folding", "have equal folded images", folding.source, "For others use theorem_3."))
    return as_source_set(folding.union)


def _of_largest_ratio(source: SourceSet, distortion: float) -> float:
    """Least ``log(1 + (M - 1 - sum D) / min D)`` over the distortions of valid mechanisms."""
    program = DiagonalRatioProgram(source.vertices)
    if program.perfect.is_enough(distortion):
        return 0.0
    if distortion == 0:
        return math.inf
    matrix = program.at_distortion(distortion).mechanism.matrix
    published = matrix[:, matrix.any(axis=0)]
    return float(np.log(published.max(axis=0) / published.min(axis=0)).max())
