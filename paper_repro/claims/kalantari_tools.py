"""What the claims of Kalantari, Sankar and Sarwate share: optima, budgets, and programs that take no short cut."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, refuted
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import Channel, Prior, ratio, worst_distortion
from paper_repro.claims.prove import always, identical, reals
from paper_repro.curves import distortion_curve, leakage_curve
from paper_repro.errors import InfeasibleError, optional
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import FloatArray

__all__ = [
    "any_odds",
    "any_set",
    "budget",
    "channel_program",
    "confirmed",
    "eps",
    "falling_letters",
    "last_budget",
    "least_information",
    "least_ratio",
    "mended",
    "missed",
    "only_symmetric",
    "ordered_set",
    "output_sizes",
    "same",
    "symmetric",
    "table_1",
    "tail",
]


def mended(sentence: str, false: bool, right: Finding, **numbers: float | Fraction) -> Finding:
    """``corrected`` where the print is refuted, as by :func:`refuted`, and what is right instead was checked too."""
    printed = refuted(sentence, false, **numbers)
    if not false:
        return printed
    found = {**printed.numbers, **{f"corrected: {name}": value for name, value in right.numbers.items()}}
    if right.verdict not in ("proved", "holds"):
        return Finding("refuted", f"The correction fails too. {right.evidence}", found, right.tolerance)
    return Finding("corrected", f"{printed.evidence} After correction: {right.evidence}", found, right.tolerance)


def same(left: Any, right: Any) -> bool:
    """Whether two polynomials of sympy are the same, or two rational functions of one symbol: expanding them decides."""
    sympy = optional("sympy", "proofs")
    return bool(sympy.expand(left - right) == 0 or (len((left - right).free_symbols) == 1 and identical(left, right)))


def table_1() -> SourceSet:
    """The distribution of Table I."""
    return load_source_set("P_II_6")


def eps(source: SourceSet, distortion: float) -> float:
    """The least leakage in nats, certified."""
    return float(leakage_curve(source, distortion))


def symmetric(size: int, distortion: float) -> float:
    """``log (M - 1)(1 - D) / D``."""
    return math.log((size - 1) * (1 - distortion) / distortion)


def last_budget(source: SourceSet) -> float:
    """The distortion from which nothing leaks."""
    return float(distortion_curve(source, 0.0))


def budget(rng: np.random.Generator, source: SourceSet) -> float:
    """A distortion at which something has to leak, or 0 if there is none."""
    return float(rng.uniform(0.02, 0.98)) * last_budget(source)


def least_ratio(
    vertices: FloatArray, distortion: float, extra: Sequence[tuple[Sequence[float], float]] = (), ordered: bool = False
) -> float:
    """Least ratio over mechanisms whose letters' distortions meet further conditions ``sum_i c_i D_i <= b``.

    Program (2) of :mod:`paper_repro.solvers.diagonal_ratio`, here only as a check: ``1 + (M - 1) s - sum e`` with ``e_i = D_i
    s`` and s the inverse of the least ``D_i``. Infinite if no mechanism qualifies. Solved to about 1e-9.
    """
    size = vertices.shape[1]
    rows = [*np.column_stack([vertices, np.full(len(vertices), -distortion)])]
    rows += [np.eye(size + 1)[i] - np.eye(size + 1)[size] for i in range(size)]
    rows += [np.append(factors, -bound) for factors, bound in extra]
    if ordered:
        rows += [np.eye(size + 1)[i] - np.eye(size + 1)[i + 1] for i in range(size - 1)]
    matrix = np.array(rows)
    costs = np.append(-np.ones(size), size - 1.0)
    try:
        # In e - 1 and s - 1, which are not negative.
        solved = optimal_basis(costs, matrix, -matrix.sum(axis=1))
    except InfeasibleError:
        return math.inf
    return max(1.0, 1 + float(costs.sum()) + solved.objective)


def missed(source: SourceSet, distortion: float, *, lower: float = 0.0, upper: float = math.inf) -> float:
    """By how much bounds on the least leakage in nats are missed, in distortion, by linear programs over all channels.

    Not positive if they hold: a mechanism that leaks as much as the upper one can keep the distortion, and none that leaks less
    than the lower one can.

    >>> round(missed(SourceSet([0.5, 0.5]), 0.25, lower=math.log(3), upper=math.log(3)), 7)
    0.0
    """
    found = [distortion - channel_program(source.vertices, math.exp(lower))] if 0 < lower < math.inf else [-distortion]
    found += [channel_program(source.vertices, math.exp(upper)) - distortion] if upper < math.inf else []
    return max(found)


def least_information(prior: FloatArray, vertices: FloatArray, distortion: float) -> float:
    """Least mutual information under a prior, in nats, of channels that are valid for a set: a cone program over all entries.

    >>> round(least_information(np.array([0.5, 0.5]), np.full((1, 2), 0.5), 0.25), 6)
    0.130812
    """
    problem, inputs = _information_program(*vertices.shape)
    inputs[0].value, inputs[1].value, inputs[2].value = prior, vertices, distortion
    problem.solve(solver="CLARABEL")
    return float(problem.value)


@cache
def _information_program(count: int, size: int) -> tuple[Any, tuple[Any, ...]]:
    cp = optional("cvxpy", "proofs")
    matrix, output = cp.Variable((size, size), nonneg=True), cp.Variable((1, size), nonneg=True)
    prior, vertices, distortion = cp.Parameter(size, nonneg=True), cp.Parameter((count, size)), cp.Parameter()
    rows = [cp.sum(cp.rel_entr(prior[i] * matrix[i], prior[i] * output[0])) for i in range(size)]
    limits = [cp.sum(matrix, axis=1) == 1, cp.sum(output) == 1, vertices @ (1 - cp.diag(matrix)) <= distortion]
    return cp.Problem(cp.Minimize(cp.sum(rows)), limits), (prior, vertices, distortion)


def falling_letters(size: int) -> tuple[list[Any], list[Any]]:
    """Symbols of z3 for ``P_1, ..., P_M``, and that they are probabilities in falling order."""
    p = reals(" ".join(f"p{i}" for i in range(size)))
    return p, [p[-1] >= 0, sum(p) == 1, *(p[i] >= p[i + 1] for i in range(size - 1))]


def only_symmetric(spare: int = 0) -> dict[str, bool]:
    """That ``log (M-1)(1-D)/D`` is the least leakage if some P in the set has ``P_i >= m = D / (M - 1 + spare)`` for all i.

    True for ``spare = 0``. A row of a mechanism of ratio t sums to 1 and has elements of at least ``(1 - D_j) / t``, so ``D_i >=
    g = (M - 1 - s) / (t - 1)`` with ``s = sum D``; hence ``sum P_i D_i = sum (P_i - m) D_i + m s >= (1 - M m) g + m s``, and
    that is more than D for a smaller t. Where s is M - 1 or more, ``m s >= D`` says that nothing less will do.
    """
    z3 = optional("z3", "proofs")
    size, share, distortion, total, odds, least = z3.Reals("M m D s t g")
    given = [size >= 2, distortion > 0, distortion * size < size - 1, share * (size - 1 + spare) == distortion]
    smaller = [odds > 1, odds * distortion < (size - 1) * (1 - distortion), least * (odds - 1) == size - 1 - total]
    bound = (1 - size * share) * least + share * total
    return {
        "less leakage takes more distortion": always(bound > distortion, *given, *smaller, total < size - 1),
        "so does nothing at all": always(share * total >= distortion, *given, total >= size - 1),
        "Q_D is valid and has this ratio": always(
            odds * distortion == (size - 1) * (1 - distortion), *given, odds * distortion / (size - 1) == 1 - distortion
        ),
    }


def output_sizes(vertices: FloatArray, distortion: float) -> list[int]:
    """How many letters a valid mechanism can publish: the others have distortion 1, and these as little as one likes.

    >>> output_sizes(np.array([[0.5, 0.3, 0.2]]), 0.25)
    [3, 2]
    """
    size = vertices.shape[1]
    return [
        size - count
        for count in range(size)
        if min(vertices[:, list(gone)].sum(axis=1).max() for gone in itertools.combinations(range(size), count))
        <= distortion + 1e-12
    ]


def channel_program(vertices: ArrayLike, odds: float, kept: Sequence[tuple[Sequence[float], float]] = ()) -> float:
    """Least worst-case distortion of a ratio, by one linear program over all M x M elements (HiGHS); it knows no formula.

    ``kept`` has further conditions ``sum_i c_i Q(i|i) <= b``. Infinite if no mechanism meets them.

    >>> round(channel_program([[0.5, 0.5]], 3.0), 9), round(channel_program([[0.7, 0.3]], 1.0), 9)
    (0.25, 0.3)
    """
    priors = np.atleast_2d(np.asarray(vertices, dtype=float))
    size = priors.shape[1]
    # The elements, row by row, then the least one of each column, and the distortion.
    count = size * size + size + 1
    least = np.tile(np.hstack([-np.eye(size), np.zeros((size, 1))]), (size, 1))
    elements = np.eye(size * size)
    rows = [np.hstack([-elements, -least]), np.hstack([elements, odds * least])]
    diagonal = np.zeros((len(priors) + len(kept), count))
    diagonal[:, : size * size : size + 1] = [*-priors, *(factors for factors, _ in kept)]
    diagonal[: len(priors), -1] = -1.0
    limits = np.concatenate([np.zeros(2 * size * size), np.full(len(priors), -1.0), [bound for _, bound in kept]])
    total = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, size + 1))])
    costs = np.append(np.zeros(count - 1), 1.0)
    found = linprog(costs, np.vstack([*rows, diagonal]), limits, total, np.ones(size), method="highs")
    return float(found.fun) if found.status == 0 else math.inf


def confirmed(priors: Sequence[Prior], distortion: str | Fraction, matrix: Channel) -> float:
    """The matrix's ratio if it is optimal for the hull of the priors at the distortion, else NaN.

    Ratio and distortion are exact; that no mechanism of this ratio has less distortion is by :func:`channel_program`.
    """
    odds = ratio(matrix)
    valid = worst_distortion(priors, matrix) <= Fraction(distortion)
    least = channel_program([[float(p) for p in one] for one in priors], float(odds))
    return float(odds) if valid and abs(least - float(Fraction(distortion))) < 1e-9 else math.nan


def tail(prior: Prior, count: int) -> Fraction:
    """Probability of the last ``count`` letters, exact."""
    return sum(prior[len(prior) - count :], Fraction(0))


def any_set(rng: np.random.Generator) -> SourceSet:
    """A source set of any class."""
    return random_set(rng, str(rng.choice(["I", "II", "III"])))


def ordered_set(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Vertices of a Class II set, most likely letters first, and a ratio."""
    return random_set(rng, "II").vertices, any_odds(rng)


def any_odds(rng: np.random.Generator) -> float:
    """A ratio between 1.05 and 55."""
    return math.exp(float(rng.uniform(0.05, 4.0)))
