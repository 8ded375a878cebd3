"""Members of a source set that stand out: the one that needs most without leakage, and the one with the highest floor.

Both are the values of matrix games between a prior in the hull of the vertices and a letter: the largest, over mixtures w of the
rows of a table A >= 0, of the least entry of ``w . A``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.exact import exact_optimum
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.types import FloatArray

__all__ = ["PERFECT_SLACK", "RELATIVE_SLACK", "PerfectPrivacy", "highest_floor", "perfect_privacy", "reaches"]

# Curves jump to 0 leakage: a distortion that misses the jump by rounding alone has to land on its far side.
PERFECT_SLACK = 1e-12
# The same relative to a jump at a small distortion.
RELATIVE_SLACK = 1e-11
# How far the two players' values may be apart, relative to them, before fractions decide.
_GAP = 1e-14


@dataclass(frozen=True)
class PerfectPrivacy:
    """The least distortion at which nothing needs to leak, by any notion.

    Attributes
    ----------
    distortion : float
    letters : ndarray, shape (M,)
        The letter to publish, whatever the data, is drawn from this distribution.
    weights : ndarray, shape (V,)
        Of the vertices. Their mixture P proves it: no constant answer errs less than ``1 - max_i P_i`` under it.
    """

    distortion: float
    letters: FloatArray
    weights: FloatArray

    @property
    def channel(self) -> Mechanism:
        """That constant answer as a channel."""
        return Mechanism.constant(self.letters)

    def is_enough(self, distortion: float) -> bool:
        """Whether nothing needs to leak at a distortion; what misses it by rounding, by up to 1e-12, counts as enough.

        No slack at 0: there, not even what rounds to nothing may be changed.

        >>> perfect_privacy(np.array([[0.7, 0.3]])).is_enough(0.3 - 1e-13)
        True
        """
        return reaches(distortion, self.distortion)


def reaches(distortion: float, jump: float) -> bool:
    """Whether a distortion is at the jump, or misses it by rounding alone.

    >>> reaches(0.3 - 1e-13, 0.3), reaches(0.0, 1e-13)
    (True, False)
    """
    slack = min(PERFECT_SLACK, RELATIVE_SLACK * jump) if distortion > 0 else 0.0
    return distortion >= jump - slack


def perfect_privacy(vertices: FloatArray, costs: FloatArray | None = None) -> PerfectPrivacy:
    """Least distortion without leakage: ``1 - min_P max_i P_i`` over the hull of the vertices.

    A channel leaks nothing when all its rows are one distribution a. Publishing j costs ``sum_{i != j} P_i``, or with distances
    ``costs``, shape (M, M), in place of Hamming distortion, ``sum_i P_i d_ij``; the letters' player chooses a, the other P. Exact
    up to rounding, relative to the value.

    >>> found = perfect_privacy(np.array([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3]]))
    >>> round(found.distortion, 6), found.letters.round(6), found.weights.round(6)
    (0.566667, array([0.333333, 0.666667, 0.      ]), array([0.555556, 0.444444]))
    """
    if costs is None:
        # Sums of the others, from both sides: 1 - P_j would cancel where one letter holds nearly all.
        spent = np.zeros_like(vertices)
        spent[:, 1:] += np.cumsum(vertices[:, :-1], axis=1)
        spent[:, :-1] += np.cumsum(vertices[:, :0:-1], axis=1)[:, ::-1]
    else:
        spent = vertices @ costs
    weights, letters = _game(spent)
    return PerfectPrivacy(float((spent @ letters).max()), letters, weights)


def highest_floor(vertices: FloatArray) -> FloatArray:
    """Weights, shape (V,), of the member whose smallest probability is largest: ``max_P min_i P_i`` over the hull.

    >>> highest_floor(np.array([[0.7, 0.2, 0.1], [0.1, 0.4, 0.5]])).round(12)
    array([0.375, 0.625])
    """
    return _game(vertices)[0]


def _game(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of the rows that maximize the least entry of their mixture, and those of the columns that prove them best."""
    count, size = table.shape
    nothing = ~table.any(axis=0)
    if count == 1 or nothing.any():  # one row to take, or a column that gives 0 whatever is done
        letters: FloatArray = np.zeros(size)
        letters[np.argmin(table.sum(axis=0))] = 1.0
        return np.full(count, 1 / count), letters
    # Columns: the weights and the value z >= 0; rows: z <= (w . A)_j for every column, and sum w = 1.
    scaled = table / table.sum(axis=0).min()
    matrix = np.ones((size + 1, count + 1))
    matrix[:size, :count], matrix[size, count] = -scaled.T, 0.0
    costs, upper = np.append(np.zeros(count), -1.0), np.append(np.zeros(size), 1.0)
    basis: Basis | None = None
    try:
        basis = optimal_basis(costs, matrix, upper, equal=slice(size, None))
        weights, letters = _of_basis(scaled, basis)
        lower, higher = float((weights @ scaled).min()), float((scaled @ letters).max())
        if higher - lower <= _GAP * size * higher:
            return weights, letters
    except (SolverError, np.linalg.LinAlgError):
        pass
    rows = [{**{v: -Fraction(entry) for v, entry in enumerate(column)}, count: Fraction(1)} for column in table.T]
    found = exact_optimum(
        [0] * count + [-1],
        [*rows, dict.fromkeys(range(count), Fraction(1))],
        [0] * size + [1],
        equal=slice(size, None),
        start=basis,
    )
    return np.array(found.values[:count], dtype=float), -np.array(found.duals[:size], dtype=float)


def _of_basis(table: FloatArray, basis: Basis) -> tuple[FloatArray, FloatArray]:
    """Both players make the other's live choices equal: as many columns as rows, whatever the solver's rounding."""
    count, size = table.shape
    playing, tight = basis.columns[:count], ~basis.rows[:size]
    payoff = table[playing][:, tight]
    border = np.ones((len(payoff), 1))
    system = np.block([[payoff.T, -border], [border.T, np.zeros((1, 1))]])
    target = np.append(np.zeros(len(payoff)), 1.0)
    weights, letters = np.zeros(count), np.zeros(size)
    weights[playing] = np.clip(np.linalg.solve(system, target)[:-1], 0, None)
    system[:-1, :-1] = payoff
    letters[tight] = np.clip(np.linalg.solve(system, target)[:-1], 0, None)
    return weights / weights.sum(), letters / letters.sum()
