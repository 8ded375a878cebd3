"""What Zhong and Bu print in *Privacy-Utility Trade-Off*, 2022.

Everything here is **as printed, mistakes included**, unless a reading is named ``corrected``; what is true is in
:mod:`paper_repro.tradeoff`. Databases have n records (``records``) of m values each (``values``); distortion is the expected
number of changed records, in [0, n]. Letters are counted from 0, priors may come in any order, and leakages are in nats. A
bound that is the logarithm of a number not above 0 says nothing and counts as 0, as do all bounds for one value, m = 1. At
distortion 0, which the paper leaves out, formulas have their limit, infinity included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import (
    check_alpha,
    check_between,
    check_changes,
    check_count,
    check_delta,
    check_distortion,
    check_leakage,
    check_probability_rows,
)
from paper_repro.errors import Clause, wrong
from paper_repro.graphs import MOST_DISTANCES, check_database_space, hamming
from paper_repro.papers.readings import Bounds, Reading, check_reading, tails
from paper_repro.solvers.games import highest_floor
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet
from paper_repro.types import NOTION_NAMES, FloatArray, IntArray

__all__ = [
    "Floor",
    "corollary_15",
    "floor_of",
    "lemma_5",
    "lemma_5_leakage",
    "lemma_5_mechanism",
    "lemma_5_profile",
    "lemma_10",
    "lemma_10_mechanism",
    "proposition_8",
    "proposition_12",
    "theorem_6",
    "theorem_7",
    "theorem_9",
    "theorem_13",
    "theorem_14",
    "theorem_17",
    "theorem_18",
]

# A distortion this close to a jump, relative to it, is taken to be at the jump: sums of decimals carry rounding.
_SLACK = 1e-12


@dataclass(frozen=True)
class Floor:
    """What the lower bounds of Theorem 6 take from a source set; :func:`floor_of` finds it.

    Attributes
    ----------
    theta : float in [0, 1]
        ``theta* = m^n max_P min_x P(x)``.
    peak : float, at least 1
        ``m^n eta``, where eta is the largest probability of the member P' that attains the maximum. Only part (7) uses it.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    theta: float
    peak: float = 1.0

    def __post_init__(self) -> None:
        check_between(self.theta, "between 0 and 1", 0, 1, "theta", "It is m^n max_P min_x P(x).")
        check_between(self.peak, "at least 1", 1, math.inf, "peak", "It is m^n max_x P'(x).")


def floor_of(source: SourceSet) -> Floor:
    """The numbers theta* and ``m^n eta`` of Theorem 6, over the hull of the vertices.

    Several members may attain the maximum in theta*, with different eta; of these the least is taken, which makes the best bound.
    Linear programs, solved to about 1e-9.

    >>> found = floor_of(SourceSet([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]]))
    >>> round(found.theta, 6), round(found.peak, 6)
    (0.6, 1.2)
    """
    vertices = source.vertices
    count, size = vertices.shape
    if source.source_class == "I":
        return Floor(1.0, 1.0)
    weights = highest_floor(vertices)
    least = float((weights @ vertices).min())
    if count > 1:
        # Columns: weights and the peak z. Rows: w . P <= z, w . P >= least but for the solver's tolerance, sum w = 1.
        ones = np.ones((size, 1))
        matrix = np.block([[vertices.T, -ones], [-vertices.T, 0 * ones], [np.ones((1, count)), np.zeros((1, 1))]])
        upper = np.concatenate([np.zeros(size), np.full(size, 1e-9 - least), [1.0]])
        costs = np.append(np.zeros(count), 1.0)
        lowest = np.clip(optimal_basis(costs, matrix, upper, equal=slice(2 * size, None)).values[:count], 0, None)
        weights = lowest / lowest.sum()
    return Floor(min(1.0, size * least), max(1.0, size * float((weights @ vertices).max())))


def lemma_5(values: int, records: int) -> float:
    """Lemma 5(2): the distortion ``n (m - 1) / m`` from which nothing needs to leak, by any notion and whatever the source set.

    Printed with ``D <= 1`` as the other end, where ``D <= n`` is meant: for m > 2, n > 1 nothing would be left between them.

    >>> lemma_5(3, 2)
    1.3333333333333333
    """
    m, n, _ = _space(values, records, 0.0)
    return n * (m - 1) / m


def lemma_5_profile(values: int, records: int, distortion: float) -> FloatArray:
    """Lemma 5(3): logarithms of the entries of Q_D at distance l = 0 .. n, ``n log(1 - D/n) - l log((m-1)(n-D)/D)``.

    Shape (n + 1,), for any n; minus infinity where an entry is 0.

    >>> np.exp(lemma_5_profile(3, 2, 0.5)).round(6).tolist()
    [0.5625, 0.09375, 0.015625]
    """
    m, n, budget = _space(values, records, distortion)
    kept, other = _response(m, n, budget)
    places = np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(places < n, (n - places) * np.log(kept), 0.0) + np.where(places, places * np.log(other), 0.0)


def lemma_5_mechanism(values: int, records: int, distortion: float) -> FloatArray:
    """Lemma 5(3): the matrix of Q_D, ``(1 - D/n)^n ((m-1)(n-D)/D)^(-d(x,y))``: randomized response on each record.

    Returns
    -------
    ndarray, shape (m^n, m^n)
        Databases count as :func:`paper_repro.graphs.databases` does. A channel whose distortion is D for every prior.

    Raises
    ------
    ValueError
        If m^n exceeds 5,000; :func:`lemma_5_profile` needs no matrix.

    >>> lemma_5_mechanism(2, 2, 0.5)[0]
    array([0.5625, 0.1875, 0.1875, 0.0625])
    """
    m, n, budget = _space(values, records, distortion)
    if m == 1:
        return np.ones((1, 1))
    return np.exp(lemma_5_profile(m, n, budget))[_distances(m, n)]


def lemma_5_leakage(
    notion: str,
    values: int,
    records: int,
    distortion: float,
    source: SourceSet | None = None,
    *,
    alpha: float | None = None,
    delta: float | None = None,
    reading: Reading = "printed",
) -> float:
    """What Q_D leaks: items 1.1 to 1.7 in the proof of Theorem 6, in nats.

    With ``A = (m-1)(n-D)/D`` and ``B = (1 - D/n)^n``: ``log A``; ``log A (1 - delta/B)``; ``-log min_P min_y sum_l A^-l
    P(N_l(y))``; ``n log m(1 - D/n)``; ``1/(alpha-1) log D/(n(m-1)) (m - 2 + A^alpha + A^(1-alpha))``; ``n log m ((1-D/n)^alpha +
    (D/n)^alpha (m-1)^(1-alpha))^(1/(alpha-1))``; ``n log m(1 - D/n) - D log A``.

    Parameters
    ----------
    notion : str, one of ``paper_repro.notions.NOTION_NAMES``
    values, records : int, m and n, at least 1
    distortion : float in [0, n]
    source : SourceSet over the m^n databases
        For maximal information only. Databases count as :func:`paper_repro.graphs.databases` does.
    alpha : float above 1
        For Renyi differential privacy and Sibson information only.
    delta : float in [0, 1)
        For approximate differential privacy only, in its pointwise definition.
    reading : {"printed", "corrected"}
        ``printed``: the sum over l runs to m; and the first four formulas are negative where ``D > n(m-1)/m``. ``corrected``: it
        runs to n, which makes a difference for m < n; and the value is what Q_D leaks up to D = n. The last two are the largest
        over all priors either way.

    Raises
    ------
    ValueError
        If a number is out of its range, or one that the notion needs is missing.

    Examples
    --------
    >>> uniform = SourceSet(np.full(8, 1 / 8))
    >>> found = [lemma_5_leakage("maximal information", 2, 3, 1, uniform, reading=r) for r in ("printed", "corrected")]
    >>> [round(math.exp(-leakage), 6) for leakage in found]  # 13/32 and 27/64
    [0.40625, 0.421875]
    """
    return _leakage_of_response(_Case(values, records, distortion, notion, alpha, delta, reading), source)


def theorem_6(
    notion: str,
    values: int,
    records: int,
    distortion: float,
    source: SourceSet | Floor,
    *,
    alpha: float | None = None,
    delta: float | None = None,
    reading: Reading = "printed",
) -> Bounds:
    r"""Theorem 6: bounds on the least leakage over a source set of databases, one part a notion.

    Upper bounds are what Q_D leaks (:func:`lemma_5_leakage`). With ``theta* = m^n max_P min_x P(x)``, lower bounds are the
    logarithms of: (1) ``(m-1)(theta* n - D)/D``; (2) ``(m-1)(theta* n (1 - delta m^(n-1)) - D)/D``; (3), (4)
    ``m(1 - D/(theta* n))``; (5) ``(m-1)(n - D')^(alpha/(alpha-1)) / D' / (n m^(n-1))^(1/(alpha-1))`` with ``D' = D/theta*``; (6)
    ``m^((alpha-n)/(alpha-1)) ((1 - D/n) / ((1-theta*)(n+1)m/2 + theta*))^(alpha/(alpha-1))``; and (7)
    ``theta* n log eta^(-1/n) (1 - D/(n theta*)) + theta* D log(D / ((m-1)(n theta* - D)))``, eta being the largest probability of
    the P that attains theta*.

    Parameters
    ----------
    notion, values, records, distortion, alpha, delta
        As in :func:`lemma_5_leakage`.
    source : SourceSet over the m^n databases, or Floor
        A Floor will do but for maximal information, whose upper bound looks at the whole set. Of the hull, part (7) takes the
        smallest eta where several P attain theta*; the paper leaves that open.
    reading : {"printed", "corrected"}
        ``printed``: nothing leaks for ``n(m-1)/m <= D <= 1``, and the formulas are used elsewhere. ``corrected``: the same up to
        D = n, which matters to (3), (5), (6) and (7), whose formulas rise again; the sum in (3) runs to n, not to m; and in (7)
        the second factor ``theta* D`` is ``D``, as the proof's last step gives, and the bound ends at ``theta* n(m-1)/m``, from
        where its formula rises. For theta* < 1 the printed factor claims more than the proof shows; for 1 they are the same.

    Returns
    -------
    Bounds
        Nats.

    Raises
    ------
    ValueError
        If a number is out of its range, one that the notion needs is missing, or the set is not over m^n letters.

    Examples
    --------
    >>> source = SourceSet([0.3, 0.3, 0.2, 0.2])
    >>> found = theorem_6("differential privacy", 2, 2, 0.2, source)
    >>> round(math.exp(found.lower), 6), round(math.exp(found.upper), 6)
    (7.0, 9.0)
    >>> found = theorem_6("maximal leakage", 50, 1000, 10, Floor(0.5))
    >>> round(found.lower, 4), round(found.upper, 4)
    (3.8918, 3901.9727)
    """
    case = _Case(values, records, distortion, notion, alpha, delta, reading)
    floor, whole = (source, None) if isinstance(source, Floor) else (floor_of(_over_databases(source, case)), source)
    if case.is_silent:
        return Bounds(0.0, 0.0)
    return Bounds(_positive(_lower_of_theorem_6(case, floor)), _positive(_leakage_of_response(case, whole)))


def theorem_7(
    notion: str,
    values: int,
    records: int,
    distortion: float,
    source: SourceSet | None = None,
    *,
    alpha: float | None = None,
    delta: float | None = None,
    reading: Reading = "printed",
) -> Bounds:
    """Theorem 7: Theorem 6 for sets whose hull contains the uniform distribution, where theta* = 1 and ``eta = m^-n``.

    Parts (1) and (7) are equations; the lower bound of (6) is the larger one of Theorem 6 and part (7).

    Parameters
    ----------
    notion, values, records, distortion, alpha, delta
        As in :func:`lemma_5_leakage`.
    source : SourceSet over the m^n databases
        For maximal information only.
    reading : {"printed", "corrected"}
        As in :func:`theorem_6`. For n > 1 the equation (7), as printed, is above 0 where ``D > max(1, n(m-1)/m)``, where nothing
        needs to leak.

    Returns
    -------
    Bounds
        Nats.

    Raises
    ------
    ValueError
        If a number is out of its range, one that the notion needs is missing, or the set is not over m^n letters, of Class I.

    Examples
    --------
    >>> theorem_7("differential privacy", 50, 1000, 10)
    Bounds(lower=8.486940, upper=8.486940)
    >>> [round(theorem_7("mutual information", 2, 2, 1.5, reading=r).lower, 6) for r in ("printed", "corrected")]
    [0.261624, 0.0]
    """
    case = _Case(values, records, distortion, notion, alpha, delta, reading)
    if source is not None:
        _check_class_1(_over_databases(source, case), "Theorem 7")
    if case.is_silent:
        return Bounds(0.0, 0.0)
    upper = _positive(_leakage_of_response(case, source))
    if notion in ("differential privacy", "mutual information"):
        return Bounds(upper, upper)
    return Bounds(_positive(_lower_of_theorem_7(case)), upper)


def proposition_8(
    notion: str,
    values: int,
    distortion: float,
    source: SourceSet | None = None,
    *,
    alpha: float | None = None,
    delta: float | None = None,
) -> Bounds:
    """Proposition 8: Theorem 7 for one record, n = 1; parts (1), (2), (4) and (7) are equations.

    Leakages are 0 from ``D = (m-1)/m`` on, in part (2) from ``(1-delta)(m-1)/m``. Parts (5) and (6) do not say so; from there
    their upper ends, what Q_D leaks, rise again. Before, these upper ends are the least leakage: they could be equations.

    Parameters
    ----------
    notion, values, alpha, delta
        As in :func:`lemma_5_leakage`.
    distortion : float in [0, 1]
    source : SourceSet over the m letters, of Class I
        For maximal information only, whose upper bound is ``log((1-D) / (P* (1 - D - D/(m-1)) + D/(m-1)))``, P* being the
        smallest probability in the set.

    Returns
    -------
    Bounds
        Nats.

    Raises
    ------
    ValueError
        If a number is out of its range, one that the notion needs is missing, or the set is not over m letters, of Class I.

    Examples
    --------
    >>> found = proposition_8("maximal information", 2, 0.1, SourceSet([[0.5, 0.5], [0.75, 0.25]]))
    >>> round(math.exp(found.lower), 6), round(math.exp(found.upper), 6)
    (1.8, 3.0)
    """
    case = _Case(values, 1, distortion, notion, alpha, delta, "printed")
    found = _by_record(case, source)
    if case.distortion < (case.values - 1) / case.values:
        return found
    return Bounds(0.0, found.upper if notion in ("Renyi differential privacy", "Sibson information") else 0.0)


def lemma_10(prior: ArrayLike, delta: float) -> float:
    """Lemma 10: the distortion ``(1 - delta) D^(m-1) = (1 - delta)(1 - max_j P_j)`` from which no leakage is needed.

    The prior has shape (m,). For approximate differential privacy and one known prior; holds for ``delta = 0`` too. Raises
    ValueError if the prior is no distribution, or delta is not in [0, 1).

    >>> round(lemma_10([0.4, 0.3, 0.2, 0.1], 0.1), 12)
    0.54
    """
    return (1 - check_delta(delta)) * float(_prior_tails(prior)[-2])


def lemma_10_mechanism(values: int, delta: float) -> FloatArray:
    """Lemma 10: the matrix Q_delta, which keeps the first letter, the likeliest, and any other with probability delta.

    Returns
    -------
    ndarray, shape (m, m)
        Entries of a column differ by at most delta.

    Raises
    ------
    ValueError
        If there are no values, or ``delta`` is not in [0, 1).

    >>> lemma_10_mechanism(3, 0.25)
    array([[1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ],
           [0.75, 0.  , 0.25]])
    """
    matrix = check_delta(delta) * np.eye(check_count(values, "values"))
    matrix[:, 0] += 1 - delta
    return matrix


def theorem_9(prior: ArrayLike, distortion: float, delta: float, reading: Reading = "printed") -> float:
    """Theorem 9: least leakage by approximate differential privacy for one known prior, in nats.

    ``max{0, min_k log( (m-k)(1-D-delta) / (D - (1-delta) D^(k-1)) )}`` over the k = 1 .. m with ``D > (1-delta) D^(k-1)``, where
    ``D^(k)`` is the mass of the k least likely letters. Infinite if there is no such k. Exact but for one point.

    Parameters
    ----------
    prior : array_like, shape (m,)
        In any order; zeros are allowed.
    distortion : float in [0, 1]
    delta : float in [0, 1)
        Of the pointwise definition; 0 gives Theorem 13.
    reading : {"printed", "corrected"}
        At exactly ``D = (1-delta) D^(m-1)``, where the curve jumps to 0, ``printed`` gives the value before the jump and
        ``corrected`` the one after it, as Lemma 10 has it. A distortion within a relative 1e-12 of the jump is at it.

    Raises
    ------
    ValueError
        If the prior is no distribution, or a number is out of its range.

    Examples
    --------
    >>> [round(math.exp(theorem_9([0.4, 0.3, 0.2, 0.1], 0.6, 0.0, r)), 6) for r in ("printed", "corrected")]
    [1.333333, 1.0]
    """
    check_reading(reading)
    share, budget = 1 - check_delta(delta), check_distortion(distortion)
    masses = _prior_tails(prior)[:-1]  # D^(0) .. D^(m-1)
    m = len(masses)
    jump = share * float(masses[-1])
    if m == 1:
        return 0.0
    if budget >= jump * (1 - _SLACK) and (reading == "corrected" or budget > jump * (1 + _SLACK)):
        return 0.0
    left = budget - share * masses[:-1]
    usable = left > 0
    if not usable.any():
        return math.inf
    terms = np.log(np.arange(m - 1, 0, -1)[usable]) - np.log(left[usable])
    return _positive(_log(share - budget) + float(terms.min()))


def proposition_12(source: SourceSet, distortion: float, delta: float, reading: Reading = "printed") -> float:
    r"""Proposition 12: least leakage by approximate differential privacy over a Class II set, in nats.

    ``min over 1-D <= a <= 1 of log( ((m-1)(a - delta) - min_g d(a, g)) / (1 - a) )``, where ``g >= 0`` and d is the least
    ``(a-1+D) sum_P y_P + (a - delta) z`` subject to ``sum_P D_P^(j) y_P + z >= j (1 - g)`` for j = 1 .. m-1 and ``y, z >= 0``.

    Parameters
    ----------
    source : SourceSet
        With one ordering that sorts all of its members.
    distortion : float in [0, 1]
    delta : float in [0, 1)
    reading : {"printed", "corrected"}
        What is minimized over g. ``printed``: d alone, which is 0 at ``g = 1``: the outcome is ``log((m-1)(1-D-delta)/D)``
        whatever the set is, negative at large D (at ``D > 1 - delta``, minus infinity). ``corrected``: ``d(a, g) +
        (m(a - delta) - 1 + delta) g``, as in the dual program of Theorem 9's proof, and 0 from ``D = (1-delta) max_P D_P^(m-1)``
        on. Then it is exact. Solved as one linear program, to about 1e-9.

    Raises
    ------
    ValueError
        If no one ordering sorts every member, or a number is out of its range.

    Examples
    --------
    >>> source = SourceSet([0.7, 0.2, 0.1])
    >>> [round(math.exp(proposition_12(source, 0.225, 0.1, r)), 6) for r in ("printed", "corrected")]
    [6.0, 5.0]
    """
    check_reading(reading)
    share, budget = 1 - check_delta(delta), check_distortion(distortion)
    masses = tails(source)  # a row for each vertex: D^(0) .. D^(m)
    m = masses.shape[1] - 1
    if m == 1:
        return 0.0
    if reading == "printed":
        return _log((m - 1) * (share - budget)) - _log(budget)
    if budget >= share * masses[:, -2].max() * (1 - _SLACK):
        return 0.0
    if budget == 0:
        return math.inf
    # Letters that never occur stay at delta, whatever the rest.
    masses = masses[:, (masses.max(axis=0) > 0).argmax() - 1 :]
    m = masses.shape[1] - 1
    if budget <= share * masses[:, 1].max():  # too little to tell letters apart: all b_j = 0 below
        return math.log(m - 1) + math.log(share - budget) - math.log(budget)
    # The primal in a's successive differences b_j >= 0, all multiplied by tau = 1 / (1 - a); columns: b_1 .. b_{m-1}, D tau.
    # Maximizing sum_j (m-j) b_j within its bound (m-1) share tau - m is what the missing term is the dual of.
    falls = np.arange(m - 1, 0, -1.0)
    rows = [np.append(tail[m - 1 : 0 : -1], -1.0) for tail in masses]
    rows += [np.append(falls, -(m - 1) * share / budget), np.append(np.ones(m - 1), -share / budget)]
    upper = np.concatenate([np.full(len(masses), -1.0), [-float(m), -1.0]])
    solved = optimal_basis(np.append(-falls, (m - 1) * share / budget), np.array(rows), upper)
    return _positive(_log(solved.objective - (m - 1)))


def theorem_13(prior: ArrayLike, distortion: float, reading: Reading = "printed") -> float:
    """Theorem 13: least leakage by differential privacy for one known prior: Theorem 9 at ``delta = 0``, jump included.

    The prior has shape (m,); in nats.

    >>> round(math.exp(theorem_13([0.7, 0.2, 0.1], 0.25)), 6)
    5.0
    """
    return theorem_9(prior, distortion, 0.0, reading)


def theorem_14(prior: ArrayLike, distortion: float) -> float:
    """Theorem 14: least maximal leakage for one known prior, in nats.

    ``max{0, log( m - k - (D - D^(k)) / (D^(k) - D^(k-1)) )}`` where ``D^(k-1) < D <= D^(k)``, which are the masses of the least
    likely letters; at D = 0 the logarithm of how many letters occur. Exact.

    Parameters
    ----------
    prior : array_like, shape (m,)
        In any order; zeros are allowed.
    distortion : float in [0, 1]

    Raises
    ------
    ValueError
        If the prior is no distribution, or the distortion is not in [0, 1].

    >>> round(math.exp(theorem_14([0.4, 0.3, 0.2, 0.1], 0.54)), 6)
    1.2
    """
    masses, budget = _prior_tails(prior), check_distortion(distortion)
    m = len(masses) - 1
    # Zeros are no steps of the curve, and at D = 0 the first step is the one that begins there.
    k = int(np.searchsorted(masses, budget, side="left")) if budget > 0 else int(np.searchsorted(masses, 0.0, "right"))
    if k >= m:
        return 0.0
    return _positive(_log(m - k - (budget - masses[k]) / (masses[k] - masses[k - 1])))


def corollary_15(source: SourceSet, leakage: float) -> float:
    """Corollary 15: least distortion at a maximal leakage over a Class II set, the largest of its members' own.

    One prior, most likely first, has ``D^(m-k) + P_k (k - e^eps)`` where ``log k <= eps < log(k+1)``, ``P_k`` being its letter k
    counted from 0, and 0 from ``log m`` on, where the paper's formula names a letter that is not there. Exact.

    Raises
    ------
    ValueError
        If no one ordering sorts every member of the set, or the leakage is negative.

    >>> round(corollary_15(SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]]), math.log(1.5)), 12)
    0.35
    """
    masses = tails(source)
    m = masses.shape[1] - 1
    if check_leakage(leakage) >= math.log(m):
        return 0.0
    ratio = math.exp(leakage)
    k = min(int(ratio), m - 1)
    return float((masses[:, m - k] + (masses[:, m - k] - masses[:, m - k - 1]) * (k - ratio)).max())


def theorem_17(
    notion: str,
    values: int,
    records: int,
    distortion: float,
    source: SourceSet | None = None,
    *,
    alpha: float | None = None,
    delta: float | None = None,
    reading: Reading = "printed",
) -> Bounds:
    """Theorem 17: bounds for n independent records, drawn alike and changed alike, over a set of Class I of distributions of one.

    Proposition 8 at D/n, times n as in Lemma 16; but part (2) is that of Theorem 7. Parts (1), (4) and (7) are equations.

    Parameters
    ----------
    notion, values, records, distortion, alpha, delta
        As in :func:`lemma_5_leakage`.
    source : SourceSet over the m letters, of Class I
        For maximal information only.
    reading : {"printed", "corrected"}
        ``printed``: the lower bound of part (5) lacks its logarithm, and may be above the upper one; parts (5) to (7) do not say
        that nothing leaks from ``D = n(m-1)/m`` on, and the equation (7) is above 0 beyond. ``corrected``: they do.

    Returns
    -------
    Bounds
        Nats.

    Raises
    ------
    ValueError
        If a number is out of its range, one that the notion needs is missing, or the set is not over m letters, of Class I.

    Examples
    --------
    >>> found = theorem_17("Renyi differential privacy", 2, 1, 0.25, alpha=2)
    >>> round(found.lower, 6), round(math.exp(found.upper), 6)  # 9/4, above log 7/3
    (2.25, 2.333333)
    """
    case = _Case(values, records, distortion, notion, alpha, delta, reading)
    m, n, budget = case.values, case.records, case.distortion
    if m > 1 and notion == "approximate differential privacy":
        return theorem_7(notion, m, n, budget, delta=delta, reading=reading)
    found = _by_record(case, source)
    if reading == "printed" and notion == "Renyi differential privacy" and m > 1:
        power = 1 + 1 / (case.alpha - 1)
        lower = math.inf if budget == 0 else n * (m - 1) * (1 - budget / n) ** power / budget
        return Bounds(lower, found.upper)
    return found


def theorem_18(
    notion: str,
    prior: ArrayLike,
    records: int,
    distortion: float,
    *,
    delta: float | None = None,
    reading: Reading = "printed",
) -> float:
    """Theorem 18: least leakage for n independent records of one known prior: Theorem 9 at D/n, and n times Theorem 14, in nats.

    The distortion is the database's, which the paper writes nD. Part (1), approximate differential privacy, is an upper bound
    only if delta is the pointwise definition's: the excess of one record is divided further over what the others publish. It is
    an equation in the standard definition, which adds up the excess over outputs. Part (2) is true of mechanisms that change
    every record alike, as Lemma 16 is: of two fair bits with ``D = 1/2``, showing one and hiding the other leaks log 2, less.

    Parameters
    ----------
    notion : {"approximate differential privacy", "maximal leakage"}
    prior : array_like, shape (m,)
        In any order.
    records : int, n, at least 1
    distortion : float in [0, n]
    delta : float in [0, 1)
        For approximate differential privacy only.
    reading : {"printed", "corrected"}
        Of the jump, as in :func:`theorem_9`.

    Raises
    ------
    ValueError
        If the prior is no distribution, a number is out of its range, or the theorem has no part for the notion.

    >>> round(math.exp(theorem_18("approximate differential privacy", [0.5, 0.5], 2, 0.5, delta=0.1)), 6)
    2.6
    """
    if notion not in ("approximate differential privacy", "maximal leakage"):
        raise ValueError(
            wrong(
                "notion",
                "be 'approximate differential privacy' or 'maximal leakage' for Theorem 18",
                notion,
                "For other notions use composition.parallel_leakage.",
            )
        )
    case = _Case(2, records, distortion, notion, None, delta, reading)
    changed = case.distortion / case.records
    if notion == "maximal leakage":
        return case.records * theorem_14(prior, changed)
    return theorem_9(prior, changed, case.delta, reading)


def _space(values: int, records: int, distortion: float) -> tuple[int, int, float]:
    """m, n and D, or an error if they are out of range."""
    m, n = check_count(values, "values"), check_count(records, "records")
    return m, n, check_changes(distortion, n)


@dataclass(frozen=True)
class _Case:
    """What a bound is asked for; raises for what is out of range, or needed and missing."""

    values: int
    records: int
    distortion: float
    notion: str
    alpha: Any  # a number if the notion has it
    delta: Any
    reading: Reading

    def __post_init__(self) -> None:
        numbers: dict[str, float] = dict(
            zip(("values", "records", "distortion"), _space(self.values, self.records, self.distortion), strict=True)
        )
        if self.notion not in NOTION_NAMES:
            raise ValueError(wrong("notion", f"be one of {', '.join(map(repr, NOTION_NAMES))}", self.notion))
        if self.notion in ("Renyi differential privacy", "Sibson information"):
            check_alpha(self.alpha, self.notion, limits=False)
            numbers["alpha"] = float(self.alpha)
        if self.notion == "approximate differential privacy":
            numbers["delta"] = check_delta(self.delta)
        check_reading(self.reading)
        for name, number in numbers.items():
            object.__setattr__(self, name, number)

    @property
    def is_silent(self) -> bool:
        """Whether the distortion is so large that the paper says, or means, that nothing needs to leak."""
        enough = self.records * (self.values - 1) / self.values
        return self.values == 1 or (self.distortion >= enough and (self.distortion <= 1 or self.reading == "corrected"))


def _over_databases(source: SourceSet, case: _Case) -> SourceSet:
    if source.alphabet_size != case.values**case.records:
        raise ValueError(
            wrong(
                "source",
                f"have {case.values}^{case.records} categories, one for each database of {case.records} records with "
                f"{case.values} values",
                source.alphabet_size,
            )
        )
    return source


def _check_class_1(source: SourceSet, statement: str) -> None:
    if source.source_class != "I":
        raise ValueError(wrong("source", f"have the uniform distribution in its hull for {statement}", source))


def _log(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf


def _xlogy(factor: float, number: float) -> float:
    return factor * _log(number) if factor else 0.0


def _positive(leakage: float) -> float:
    """``max{0, leakage}``, without a minus sign or a NaN's whims."""
    return leakage if leakage > 0 else 0.0


def _response(values: int, records: int, distortion: float) -> tuple[float, float]:
    """With what probabilities Q_D keeps a record, and sends any one of the other values."""
    return (records - distortion) / records, distortion / (records * max(values - 1, 1))


def _distances(values: int, records: int) -> IntArray:
    way_out = "Take fewer records, or a statement that needs no matrix, such as lemma_5_profile."
    check_database_space(values, records, MOST_DISTANCES, "to compare one by one", way_out)
    return hamming(values, records).distances


def _leakage_of_response(case: _Case, source: SourceSet | None = None) -> float:
    """What Q_D leaks; the set matters for maximal information alone."""
    m, n, notion = case.values, case.records, case.notion
    if m == 1:
        return 0.0
    kept, other = _response(m, n, case.distortion)
    ratio = _log(kept) - _log(other)
    if case.reading == "corrected" and ratio < 0 and notion in NOTION_NAMES[:4]:
        return _leakage_beyond(case, source)
    if notion == "differential privacy":
        return ratio
    if notion == "approximate differential privacy":
        # delta / B
        share = math.exp(min(_log(case.delta) - n * _log(kept), 0.0)) if kept > 0 else 1.0
        return -math.inf if share >= 1 else ratio + math.log1p(-share)
    if notion == "maximal information":
        last = n if case.reading == "corrected" else min(m, n)
        return -_log(_smallest_output(case, source, last))
    if notion == "maximal leakage":
        return n * _log(m * kept)
    if notion == "Renyi differential privacy":
        return _renyi(m, kept, other, case.alpha)
    if notion == "Sibson information":
        return n * _sibson(m, kept, other, case.alpha)
    return n * (_xlogy(kept, m * kept) + (m - 1) * _xlogy(other, m * other))


def _leakage_beyond(case: _Case, source: SourceSet | None) -> float:
    """The same where Q_D changes a value more often than it keeps it: every row is largest at distance n."""
    m, n = case.values, case.records
    kept, other = _response(m, n, case.distortion)
    ratio = _log(other) - _log(kept)
    if case.notion == "differential privacy":
        return ratio
    if case.notion == "approximate differential privacy":
        share = math.exp(min(_log(case.delta) - n * _log(other), 0.0))
        return _positive(ratio + math.log1p(-share)) if share < 1 else 0.0
    if case.notion == "maximal leakage":
        return n * _log(m * other)
    return -_log(_smallest_output(case, source, n, scale=n))


def _smallest_output(case: _Case, source: SourceSet | None, last: int, scale: float = 0.0) -> float:
    """``min_P min_y`` of the sum of ``A^-l P(N_l(y))`` over l = 0 .. last, or, of ``A^(scale-l) P(N_l(y))``."""
    if source is None:
        raise ValueError(
            wrong(
                "source",
                "be given for maximal information, which depends on it",
                source,
                "Give the SourceSet over the m^n databases.",
            )
        )
    vertices = _over_databases(source, case).vertices
    kept, other = _response(case.values, case.records, case.distortion)
    log_ratio = _log(other) - _log(kept)
    distances = _distances(case.values, case.records)
    total = np.zeros(vertices.shape)
    for place in range(last + 1):
        mass = vertices @ (distances == place)
        power = (place - scale) * log_ratio if place != scale else 0.0
        weight = math.exp(power) if power < 700 else math.inf
        total += np.multiply(weight, mass, out=np.zeros_like(mass), where=mass > 0)
    return float(total.min())


def _renyi(values: int, kept: float, other: float, alpha: float) -> float:
    """Renyi divergence of two rows of randomized response, ``1/(alpha-1) log b (m - 2 + A^alpha + A^(1-alpha))``."""
    low, high = sorted((kept, other))
    if low == 0:
        return math.inf
    ratio, above = math.log(high) - math.log(low), alpha - 1
    if above * ratio < 1:
        # The sum is 1 + (a-b) sinh u + 2 (a+b) sinh(u/2)^2 with u = (alpha-1) log A; so nothing cancels near 0.
        half = math.sinh(above * ratio / 2)
        return math.log1p((high - low) * math.sinh(above * ratio) + 2 * (high + low) * half**2) / above
    # Divided by the largest of the three terms, which is high (high / low)^(alpha-1).
    power = alpha if kept > other else above
    rest = math.exp(-(alpha + above) * ratio) + (values - 2) * math.exp(-power * ratio)
    return ratio + (math.log(high) + math.log1p(rest)) / above


def _sibson(values: int, kept: float, other: float, alpha: float) -> float:
    """Sibson information of randomized response at the uniform prior, ``log m (a^alpha + (m-1) b^alpha)^(1/(alpha-1))``."""
    above, others = alpha - 1, values - 1
    high, low = values * max(kept, other), values * min(kept, other)
    if above * math.log(high) < 1:
        excess = kept * _power_minus_1(values * kept, above) + others * other * _power_minus_1(values * other, above)
        return max(0.0, math.log1p(excess)) / above
    times, rest = (1, others) if kept >= other else (others, 1)
    shrunk = math.exp(alpha * (math.log(low) - math.log(high))) if low > 0 else 0.0
    return math.log(high) + (math.log(high / values) + math.log(times + rest * shrunk)) / above


def _power_minus_1(base: float, exponent: float) -> float:
    return math.expm1(exponent * math.log(base)) if base > 0 else -1.0


def _lower_of_theorem_6(case: _Case, floor: Floor) -> float:
    """The lower bound before it is cut at 0; minus infinity where it is the logarithm of a negative number."""
    m, n, notion, theta, log_m = case.values, case.records, case.notion, floor.theta, math.log(case.values)
    if theta == 0:
        return -math.inf
    changed = case.distortion / theta  # what the uniform distribution may have to bear
    kept, other = _response(m, n, changed)
    if notion == "differential privacy":
        return _log(kept) - _log(other)
    if notion == "approximate differential privacy":
        # 1 - delta m^(n-1), which for many records is far below 0
        left = -math.expm1(min(_log(case.delta) + (n - 1) * log_m, 0.0))
        return _log(left - changed / n) - _log(other)
    if notion in ("maximal information", "maximal leakage"):
        return log_m + _log(kept)
    if notion == "Renyi differential privacy":
        above = case.alpha - 1
        power = _log(kept) if kept <= 0 else math.log1p(-changed / n)
        return power + (power - (n - 1) * log_m) / above - _log(other)
    if notion == "Sibson information":
        above = case.alpha - 1
        base = _log((n - case.distortion) / n) - math.log((1 - theta) * (n + 1) * m / 2 + theta)
        return log_m + base + (base - (n - 1) * log_m) / above
    if changed > n or (case.reading == "corrected" and changed >= n * (m - 1) / m):
        return -math.inf
    factor = changed if case.reading == "corrected" else case.distortion
    return theta * (n * log_m - math.log(floor.peak) + _xlogy(n - factor, kept) + _xlogy(factor, other))


def _lower_of_theorem_7(case: _Case) -> float:
    """That of Theorem 6 with theta* = 1; of part (6) the larger one of it and part (7)."""
    lower = _lower_of_theorem_6(case, Floor(1.0))
    if case.notion == "Sibson information":
        return max(lower, _leakage_of_response(replace(case, notion="mutual information")))
    return lower


def _by_record(case: _Case, source: SourceSet | None) -> Bounds:
    """Proposition 8 at D/n, times n for the notions of which Lemma 16 says so."""
    m, n, notion, changed = case.values, case.records, case.notion, case.distortion / case.records
    if source is not None:
        if source.alphabet_size != m:
            raise ValueError(wrong("source", f"have m = {m} categories, those of a record", source.alphabet_size))
        _check_class_1(source, "the statement")
    if m == 1 or (case.reading == "corrected" and case.distortion >= n * (m - 1) / m):
        return Bounds(0.0, 0.0)
    if notion == "approximate differential privacy":
        exact = _positive(_log((m - 1) * (1 - changed - case.delta)) - _log(changed))
        return Bounds(exact, exact)
    if notion == "maximal information":
        if source is None:
            raise ValueError(
                wrong(
                    "source",
                    "be given for maximal information, which depends on it",
                    source,
                    "Give the SourceSet over m categories.",
                )
            )
        kept, other = _response(m, 1, changed)
        least = float(source.vertices.min())
        upper = n * (_log(kept) - _log(least * (kept - other) + other))
        return Bounds(_positive(n * _log(m * kept)), _positive(upper))
    times = 1 if notion in ("differential privacy", "Renyi differential privacy") else n
    one = replace(case, records=1, distortion=changed, reading="printed")
    upper = times * _positive(_leakage_of_response(one))
    if notion in ("Renyi differential privacy", "Sibson information"):
        return Bounds(_positive(times * _lower_of_theorem_7(one)), upper)
    return Bounds(upper, upper)


def _prior_tails(prior: ArrayLike) -> FloatArray:
    """``D^(0) .. D^(m)`` of one prior: the masses of its least likely letters."""
    rows = check_probability_rows(prior, "prior")
    if len(rows) != 1:
        raise ValueError(
            wrong("prior", "be one known prior", Clause(f"{len(rows)} rows"), "Use a statement for source sets.")
        )
    return np.append(0.0, np.cumsum(np.sort(rows[0])))
