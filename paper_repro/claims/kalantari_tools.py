"""What the claims of Kalantari, Sankar and Sarwate share: exact channels, certificates by hand, and random source sets.

Counterexamples are kept in fractions, so that they can be checked with pencil and paper. A mechanism is *certified* optimal if it
has the ratio t, is valid, and no mechanism of ratio t does better against some prior of the set, by the closed form for a prior.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from paper_repro.errors import InfeasibleError
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import distortion_curve, leakage_curve
from paper_repro.types import FloatArray

__all__ = [
    "KNOWN",
    "SHORT",
    "Channel",
    "Prior",
    "as_floats",
    "budget",
    "certified_ratio",
    "channel",
    "eps",
    "full_matrix_distortion",
    "information",
    "largest_ratio",
    "last_budget",
    "least_distortion",
    "least_ratio",
    "output_sizes",
    "prior",
    "random_channel",
    "random_set",
    "ratio",
    "response",
    "symmetric",
    "worst_distortion",
    "yes",
]

Prior = tuple[Fraction, ...]
Channel = tuple[Prior, ...]


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


def yes(answers: Mapping[str, tuple[bool, bool]]) -> dict[str, tuple[float, float]]:
    """Statements with the paper's answer and the true one, for ``corrected``; 1 is yes and 0 is no."""
    return {f"{name} (1: yes, 0: no)": (float(said), float(found)) for name, (said, found) in answers.items()}


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


def largest_ratio(matrix: Mechanism | FloatArray) -> float:
    """Largest ratio of two elements of a column of a float matrix."""
    entries = matrix.matrix if isinstance(matrix, Mechanism) else matrix
    used = entries[:, entries.max(axis=0) > 0]
    return float((used.max(axis=0) / used.min(axis=0)).max()) if used.min() > 0 else math.inf


def information(one: FloatArray, matrix: FloatArray) -> float:
    """Mutual information of a prior and a channel in nats."""
    joint = one[:, np.newaxis] * matrix
    product = one[:, np.newaxis] * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


def random_channel(rng: np.random.Generator, size: int, outputs: int | None = None) -> FloatArray:
    """A channel without zeros, some flat and some with a heavy diagonal."""
    rows = rng.dirichlet(np.full(outputs or size, float(rng.choice([0.7, 3.0]))), size=size) + 1e-3
    rows[np.arange(size), np.arange(size)] += float(rng.choice([0.0, 1.0]))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def random_set(
    rng: np.random.Generator, kind: str, letters: tuple[int, int] = (2, 5), vertices: tuple[int, int] = (1, 3)
) -> SourceSet:
    """A source set of Class I, II (letters most likely first) or III, some with ties and some with zero probabilities."""
    while True:
        size = int(rng.integers(max(letters[0], 3 if kind == "III" else 2), letters[1] + 1))
        count = int(rng.integers(max(vertices[0], 2 if kind == "III" else 1), vertices[1] + 1))
        style = rng.choice(["smooth", "ties", "zeros"])
        rows = rng.dirichlet(np.full(size, 1.5), size=count)
        if style == "ties":
            rows = rng.multinomial(12, np.full(size, 1 / size), size=count) / 12
        elif style == "zeros":
            rows[rng.random(rows.shape) < 0.3] = 0.0
        rows[np.arange(count), rng.integers(size, size=count)] += 0.05
        if kind == "III":  # one letter is rarer than in the uniform distribution, or more likely, throughout
            letter, rarer = int(rng.integers(size)), bool(rng.integers(2))
            rows[:, letter] = 0.0
            mass = rng.uniform(0.0, 0.9 / size, size=count) if rarer else rng.uniform(1.2 / size, 0.8, size=count)
            if (rows.sum(axis=1) == 0).any():
                continue
            rows *= ((1 - mass) / rows.sum(axis=1))[:, np.newaxis]
            rows[:, letter] = mass
        rows /= rows.sum(axis=1, keepdims=True)
        if kind == "II":
            return SourceSet(-np.sort(-rows, axis=1))
        if kind == "I":
            away = (rows - 1 / size).sum(axis=0)
            balance = 1 / size - away * float(rng.uniform(0.0, 0.9)) / max(size * away.max(), 1e-12)
            return SourceSet(np.vstack([rows, balance / balance.sum()]))
        order = np.argsort(-rows.mean(axis=0))
        if (np.diff(rows[:, order], axis=1) > 1e-6).any():
            return SourceSet(rows)


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


def full_matrix_distortion(source: SourceSet, odds: float) -> float:
    """Least distortion at a ratio, by a linear program over all M times M entries of the mechanism."""
    size, count = source.alphabet_size, source.vertex_count
    place = np.arange(size * size).reshape(size, size)
    rows = []
    for column in place.T:
        for one in column:
            for two in column:
                if one != two:
                    row = np.zeros(size * size + 1)
                    row[[one, two]] = 1.0, -odds
                    rows.append(row)
    private = len(rows)
    for vertex in source.vertices:
        row = np.zeros(size * size + 1)
        row[np.diagonal(place)], row[-1] = -vertex, -1.0
        rows.append(row)
    for entries in place:
        row = np.zeros(size * size + 1)
        row[entries] = 1.0
        rows.append(row)
    upper = np.concatenate([np.zeros(private), np.full(count, -1.0), np.ones(size)])
    costs = np.append(np.zeros(size * size), 1.0)
    return optimal_basis(costs, np.array(rows), upper, equal=slice(private + count, None)).objective


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
