r"""What Kalantari, Sankar and Sarwate print on Class III sets, in the preprint of July 2017 of the paper of 2018.

*Robust Privacy-Utility Tradeoffs under Differential Privacy and Hamming Distortion*, Theorem 3 with both of its bounds,
Corollary 1, Remarks 5 and 7, and equation (32), for any source set. The programs they rest on are in
:mod:`paper_repro.papers.kalantari2018`, the folding in :mod:`paper_repro.papers.folding`. Everything here is **as printed,
mistakes included**, but for what ``reading`` and the folding's ``direction`` correct. What is true:

* The upper bound holds with ``reading="largest"``, which takes the ratio at the letter where it is largest, and with
  ``"corrected"``, which forces the order of Lemma 7 on the distortions; not with the others.
* The lower bound holds, with ``"largest"``, where ``Folding.averages_inside`` says so, such as when the folding permutations form
  a group, and fails in general. The example in :func:`theorem_3` claims log 4/3 where nothing needs to leak.
* Corollary 1 and Remark 7 hold for convex sets, which the paper takes all sets to be, with ``"largest"`` and ``"corrected"``; for
  others both fail, and they are not about a set's hull: a hull folds otherwise than the points it is spanned by.
* Remark 5 holds, whether or not ``P^cap`` is empty.

Proofs are at the head of :mod:`paper_repro.papers.folding`.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_distortion, check_grid
from paper_repro.papers import kalantari2018
from paper_repro.papers.folding import Folding, as_source_set
from paper_repro.solvers.diagonal_ratio import CliqueProgram
from paper_repro.solvers.games import PERFECT_SLACK
from paper_repro.sources import SourceSet

__all__ = ["Bounds", "Reading", "corollary_1", "equation_32", "remark_5", "remark_7", "theorem_3"]

Reading = Literal["literal", "printed", "corrected", "largest"]
"""As in 2018, or ``largest``: the ratio is the largest over all letters, ``1 + (M - 1 - sum D) / min D``, with ``D_i <= 1``.

With it the programs are exact for mechanisms that give alike letters equal distortions, at every distortion: the two outer cases
of equation (16), where the leakage is known, are special cases and not assumed.
"""


class Bounds(NamedTuple):
    """What Theorem 3 claims to enclose the optimum, in nats."""

    lower: float
    upper: float


def theorem_3(folding: Folding, distortion: float, reading: Reading = "printed") -> Bounds:
    """Theorem 3, eq. (15): a lower bound from the intersection of the folded images, an upper bound from their union.

    Parameters
    ----------
    folding : Folding
        Of the source set; its ``ties`` and ``direction`` are part of how the theorem is read.
    distortion : float in [0, 1]
    reading : Reading

    Returns
    -------
    Bounds
        The theorem supposes that the intersection is not empty; where it is, the lower bound is that of Remark 5.

    Raises
    ------
    ValueError
        If the reading or the distortion is not one, or if nothing is left of the union (``direction="printed"``).

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

    >>> folding = Folding(SourceSet([[0.7, 0.2, 0.1], [0.7, 0.1, 0.2]]))
    >>> [round(3 * math.exp(theorem_3(folding, 0.15, reading).upper), 6) for reading in ("printed", "largest")]
    [28.0, 34.0]
    """
    _check(distortion, reading)
    union = _equation_16(folding, as_source_set(folding.union), distortion, reading)
    if not folding.intersection:
        return Bounds(remark_5(folding, distortion, reading), union)
    return Bounds(_equation_16(folding, as_source_set(folding.intersection), distortion, reading), union)


def remark_5(folding: Folding, distortion: float, reading: Reading = "printed") -> float:
    """Remark 5 (4 in 2018): the lower bound ``eps*(P cap S_0, D)``, by Theorem 2, in nats.

    ``S_0`` is the first region that the set meets; letters are relabeled, as the paper does, if it is not the ordered one.

    >>> round(math.exp(remark_5(Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2]])), 0.3, "corrected")), 6)
    4.666667
    """
    _check(distortion, reading)
    first = folding.pieces[0]
    ordered = as_source_set(part.permuted(first.permutation) for part in first.parts)
    return (
        _optimum(ordered, distortion) if reading == "largest" else kalantari2018.theorem_2(ordered, distortion, reading)
    )


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
    _check(distortion, reading)
    shared = _shared(folding)
    return (
        _optimum(shared, distortion) if reading == "largest" else kalantari2018.theorem_2(shared, distortion, reading)
    )


def remark_7(folding: Folding, distortion: float, reading: Reading = "printed") -> float:
    """Remark 7 (6 in 2018): where ``P^cap = P^cup``, the optimum is claimed to be eq. (16) on it, in nats.

    Raises
    ------
    ValueError
        If the folded images differ.
    """
    _check(distortion, reading)
    return _equation_16(folding, _shared(folding), distortion, reading)


def equation_32(distortions: ArrayLike, zero_columns: int = 0) -> float:
    """Equation (32), Lemma 8: leakage ``log( ((n - 1) - sum_{i=2}^n D_i) / D_1 )`` of a mechanism with ``n = M - k`` columns.

    Parameters
    ----------
    distortions : array_like, shape (M,), in rising order
        Those of the suppressed letters, the last ``zero_columns``, are not looked at.
    zero_columns : int in 0 .. M - 2

    Returns
    -------
    float
        Nats; infinite if ``D_1 = 0`` unless the numerator is 0 as well, and then 0.

    >>> round(math.exp(equation_32([0.25, 0.25, 1.0], zero_columns=1)), 12)
    3.0
    """
    changed = check_grid(distortions, check_distortion)
    count = len(changed) - zero_columns
    if not 2 <= count <= len(changed):
        raise ValueError(
            f"zero_columns must be between 0 and M - 2 = {len(changed) - 2}, got {zero_columns}; "
            "with one column left the formula divides 0 by 0"
        )
    above = count - 1 - float(changed[1:count].sum())
    if changed[0] == 0:
        return math.inf if above > 0 else 0.0
    return math.log(above / changed[0]) if above > 0 else -math.inf


def _check(distortion: float, reading: str) -> None:
    check_distortion(distortion)
    if reading not in ("literal", "printed", "corrected", "largest"):
        raise ValueError(f"reading must be 'literal', 'printed', 'corrected' or 'largest', got {reading!r}")


def _shared(folding: Folding) -> SourceSet:
    if not folding.folds_alike:
        raise ValueError(
            f"the folded images of {folding.source!r} differ, and the statement is for sets where they do not; use theorem_3"
        )
    return as_source_set(folding.union)


def _equation_16(folding: Folding, ordered: SourceSet, distortion: float, reading: Reading) -> float:
    if reading == "largest":
        averages = np.array(ordered.vertices)
        for ranks in folding.rank_classes:
            averages[:, ranks] = averages[:, ranks].mean(axis=1, keepdims=True)
        return _optimum(SourceSet(averages), distortion)
    return kalantari2018.theorem_3(ordered, distortion, folding.rank_permutations, reading)


def _optimum(source: SourceSet, distortion: float) -> float:
    """Least ``log(1 + (M - 1 - sum D) / min D)`` over the distortions of valid mechanisms."""
    program = CliqueProgram(source.vertices)
    if distortion >= program.perfect.distortion - (PERFECT_SLACK if distortion > 0 else 0.0):
        return 0.0
    if distortion == 0:
        return math.inf
    changed = program.at_distortion(distortion).distortions
    if changed is None:
        return 0.0
    return math.log1p(max(0.0, len(changed) - 1 - float(changed.sum())) / float(changed.min()))
