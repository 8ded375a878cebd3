"""What the claims of Kalantari, Sankar and Sarwate share: optima, budgets, and programs that take no short cut."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from paper_repro.curves import distortion_curve, leakage_curve
from paper_repro.errors import InfeasibleError
from paper_repro.solvers.linear import optimal_basis
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import FloatArray

__all__ = [
    "budget",
    "eps",
    "full_matrix_distortion",
    "last_budget",
    "least_ratio",
    "output_sizes",
    "symmetric",
    "table_1",
    "yes",
]


def yes(answers: Mapping[str, tuple[bool, bool]]) -> dict[str, tuple[float, float]]:
    """Statements with the paper's answer and the true one, for ``corrected``; 1 is yes and 0 is no."""
    return {f"{name} (1: yes, 0: no)": (float(said), float(found)) for name, (said, found) in answers.items()}


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
