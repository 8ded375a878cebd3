"""Mechanisms and priors in fractions, and what a matrix leaks, by definition.

Examples in fractions can be checked with pencil and paper. A mechanism is *certified* optimal if it has the ratio t, is valid,
and no mechanism of ratio t does better against some prior of the set, by the closed form for a prior.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "KNOWN",
    "SHORT",
    "Channel",
    "Prior",
    "apart",
    "as_floats",
    "certified_ratio",
    "changed",
    "channel",
    "distances",
    "divergence",
    "dot",
    "exp_information",
    "exp_mass",
    "exp_ratio",
    "exp_sibson_2",
    "information",
    "least_distortion",
    "prior",
    "product",
    "ratio",
    "response",
    "worst_distortion",
]

Prior = Sequence[Fraction]
Channel = Sequence[Prior]
"""A mechanism in exact rational arithmetic, one row per input."""


def prior(text: str) -> Prior:
    """Fractions from a text: ``prior("1/2 3/10 1/5")``."""
    return tuple(Fraction(word) for word in text.split())


def channel(text: str) -> Channel:
    """Rows of fractions, separated by semicolons; each must sum to 1.

    >>> channel("3/4 1/4; 1/4 3/4")[0]
    (Fraction(3, 4), Fraction(1, 4))
    """
    rows = tuple(prior(row) for row in text.split(";"))
    if any(sum(row) != 1 or min(row) < 0 for row in rows):
        raise ValueError(f"not a channel: {text!r}")
    return rows


KNOWN = prior("1/2 3/10 1/5")
"""A prior that many claims are tried on."""
SHORT = channel("11/16 5/16 0; 5/16 11/16 0; 5/16 11/16 0")
"""Optimal for it at D = 9/20, with ratio 11/5: equation (52) for distortions (5/16, 5/16) and k = 1."""


def response(size: int, distortion: str | Fraction) -> Channel:
    """Randomized response: ``1 - D`` on the diagonal, ``D / (M - 1)`` elsewhere."""
    changed = Fraction(distortion)
    return tuple(tuple(1 - changed if i == j else changed / (size - 1) for j in range(size)) for i in range(size))


def dot(one: Prior, two: Prior) -> Fraction:
    """``sum_i one_i two_i``, exact."""
    return sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0))


def ratio(matrix: Channel) -> Fraction | float:
    """Largest ratio of two elements of a column, exact; infinite if a column has a zero and something else.

    >>> ratio(channel("3/4 1/4; 1/4 3/4"))
    Fraction(3, 1)
    """
    largest = Fraction(1)
    for column in zip(*matrix, strict=True):
        if max(column) > 0:
            if min(column) == 0:
                return math.inf
            largest = max(largest, max(column) / min(column))
    return largest


def worst_distortion(priors: Sequence[Prior], matrix: Channel) -> Fraction:
    """Largest probability of change over the priors, exact."""
    return max(sum((p * (1 - matrix[i][i]) for i, p in enumerate(one)), Fraction(0)) for one in priors)


def least_distortion(one: Prior, odds: Fraction) -> Fraction:
    """Least distortion of any mechanism of ratio t for a known prior: ``1 - max_n t / (t + n - 1) top_n(P)``, exact."""
    falling = sorted(one, reverse=True)
    return 1 - max(odds / (odds + n - 1) * sum(falling[:n]) for n in range(1, len(falling) + 1))


def certified_ratio(
    priors: Sequence[Prior], distortion: str | Fraction, matrix: Channel, weights: Sequence[Fraction] | None = None
) -> float:
    """The matrix's ratio if it is optimal for the priors at the distortion, and NaN if that is not shown.

    ``weights`` mix the least favorable prior; the first one is it if they are not given.

    >>> certified_ratio([prior("7/10 3/10")], "1/5", response(2, "1/5"))
    4.0
    """
    allowed, odds = Fraction(distortion), ratio(matrix)
    mixed = (
        tuple(sum((w * p[i] for w, p in zip(weights, priors, strict=True)), Fraction(0)) for i in range(len(priors[0])))
        if weights
        else priors[0]
    )
    if isinstance(odds, float) or worst_distortion(priors, matrix) > allowed:
        return math.nan
    return float(odds) if least_distortion(mixed, odds) == allowed else math.nan


def as_floats(*priors: Prior) -> SourceSet:
    """The hull of exact priors as a source set."""
    return SourceSet([[float(p) for p in one] for one in priors])


def distances(values: int, records: int) -> list[list[int]]:
    """In how many records two databases differ, the last record changing fastest."""
    databases = list(itertools.product(range(values), repeat=records))
    return [[sum(a != b for a, b in zip(x, y, strict=True)) for y in databases] for x in databases]


def product(*factors: Sequence[Sequence[Fraction]]) -> Channel:
    """Independent records, each through its own mechanism."""
    whole = [[Fraction(1)]]
    for factor in factors:
        whole = [[a * b for a in row for b in other] for row in whole for other in factor]
    return whole


def changed(matrix: Channel, prior: Sequence[Fraction], values: int = 0, records: int = 1) -> Fraction:
    """Expected number of records changed."""
    apart = distances(values or len(matrix), records)
    return sum(
        (
            p * q * d
            for p, row, steps in zip(prior, matrix, apart, strict=True)
            for q, d in zip(row, steps, strict=True)
        ),
        Fraction(0),
    )


def exp_ratio(matrix: Channel, values: int = 0, records: int = 1, delta: Fraction | int = 0) -> Fraction:
    """Least t >= 1 with ``Q(y|x) <= t Q(y|x') + delta`` for neighbors; entries next to a 0 must be at most delta."""
    apart = distances(values or len(matrix), records)
    ratios = [Fraction(1)]
    for x, z in itertools.permutations(range(len(matrix)), 2):
        if apart[x][z] == 1:
            ratios += [(a - delta) / b for a, b in zip(matrix[x], matrix[z], strict=True) if a > delta]
    return max(ratios)


def exp_mass(matrix: Channel) -> Fraction:
    """Exponential of the maximal leakage, ``sum_y max_x Q(y|x)``."""
    return sum((max(column) for column in zip(*matrix, strict=True)), Fraction(0))


def exp_information(matrix: Channel, prior: Sequence[Fraction]) -> Fraction:
    """Exponential of the maximal information, ``max Q(y|x) / sum_z P(z) Q(y|z)``."""
    shown = [(column, sum(p * q for p, q in zip(prior, column, strict=True))) for column in zip(*matrix, strict=True)]
    return max(max(column) / mean for column, mean in shown if mean > 0)


def exp_sibson_2(matrix: Channel, prior: Sequence[Fraction]) -> float:
    """Exponential of the Sibson information of order 2, ``(sum_y (sum_x P(x) Q(y|x)^2)^(1/2))^2``."""
    moments = [sum(p * q * q for p, q in zip(prior, column, strict=True)) for column in zip(*matrix, strict=True)]
    return math.fsum(math.sqrt(moment) for moment in moments) ** 2


def information(prior: FloatArray, matrix: FloatArray) -> float:
    """Mutual information of a prior and a channel in nats."""
    joint = prior[:, np.newaxis] * matrix
    product = prior[:, np.newaxis] * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


def divergence(row: FloatArray, other: FloatArray, order: float) -> float:
    """Renyi divergence of two distributions in nats."""
    if (other[row > 0] == 0).any():
        return math.inf
    row, other = row[row > 0], other[row > 0]
    return max(0.0, math.log((row**order * other ** (1 - order)).sum()) / (order - 1))


def apart(first: float, second: float) -> float:
    """Difference of two numbers; equal infinities are not apart."""
    return 0.0 if first == second else abs(first - second)
