"""Members of a source set that stand out: the one with the smallest peak, and the one with the highest floor.

Both are the values of matrix games between a prior in the hull of the vertices and a letter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.linear import optimal_basis
from paper_repro.types import FloatArray

__all__ = ["PERFECT_SLACK", "PerfectPrivacy", "highest_floor", "perfect_privacy"]

# Curves jump to 0 leakage: a distortion that misses the jump by rounding alone has to land on its far side.
PERFECT_SLACK = 1e-12
# How far the two players' values may be apart.
_GAP = 1e-9


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


def perfect_privacy(vertices: FloatArray, costs: FloatArray | None = None) -> PerfectPrivacy:
    """Least distortion without leakage: ``1 - min_P max_i P_i`` over the hull of the vertices.

    A channel leaks nothing when all its rows are one distribution a, and then errs with probability ``1 - P . a``.
    The value of the game ``max_a min_P P . a`` equals ``min_P max_i P_i``. With distances ``costs``, shape (M, M), in place of
    Hamming distortion, publishing j costs ``sum_i P_i d_ij``, which takes the place of ``1 - P_j``.

    Raises
    ------
    SolverError
        If the prior and the letters do not prove each other best within 1e-9.

    >>> found = perfect_privacy(np.array([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3]]))
    >>> round(found.distortion, 6), found.letters.round(6), found.weights.round(6)
    (0.566667, array([0.333333, 0.666667, 0.      ]), array([0.555556, 0.444444]))
    """
    if costs is None:
        weights, letters = _game(vertices, sign=1.0)
        distortion, least = float((vertices @ (1 - letters)).max()), 1 - float((weights @ vertices).max())
    else:
        spent = vertices @ costs
        weights, letters = _game(spent.max() - spent, sign=1.0)
        distortion, least = float((spent @ letters).max()), float((weights @ spent).min())
    if distortion - least > _GAP:
        raise SolverError(
            f"the least distortion without leakage is between {least!r} and {distortion!r}; no better was found"
        )
    return PerfectPrivacy(distortion, letters, weights)


def highest_floor(vertices: FloatArray) -> FloatArray:
    """Weights, shape (V,), of the member whose smallest probability is largest: ``max_P min_i P_i`` over the hull.

    >>> highest_floor(np.array([[0.7, 0.2, 0.1], [0.1, 0.4, 0.5]])).round(12)
    array([0.375, 0.625])
    """
    return _game(vertices, sign=-1.0)[0]


def _game(vertices: FloatArray, sign: float) -> tuple[FloatArray, FloatArray]:
    """Weights of the rows that minimize ``max_i sign * P_i``, P >= 0, and the letters' weights that prove them best."""
    count, size = vertices.shape
    letters, weights = np.zeros(size), np.zeros(count)
    if count == 1:
        letters[np.argmax(sign * vertices[0])] = 1.0
        return np.ones(1), letters
    # Columns: the weights and the value z >= 0; rows: sign * (w . P)_i <= sign * z for every letter, and sum w = 1.
    matrix = np.zeros((size + 1, count + 1))
    matrix[:size, :count], matrix[:size, count], matrix[size, :count] = sign * vertices.T, -sign, 1.0
    costs, upper = np.zeros(count + 1), np.zeros(size + 1)
    costs[count], upper[size] = sign, 1.0
    basis = optimal_basis(costs, matrix, upper, equal=slice(size, None))
    if not basis.columns[count]:  # the value is 0 to the solver's tolerance: nothing to choose between
        return np.full(count, 1 / count), np.full(size, 1 / size)
    playing, tight = basis.columns[:count], ~basis.rows[:size]
    # Both players make the other's live choices equal: as many letters as vertices, whatever the solver's rounding.
    payoff = vertices[playing][:, tight]
    border = np.ones((len(payoff), 1))
    system = np.block([[payoff.T, -border], [border.T, np.zeros((1, 1))]])
    target = np.append(np.zeros(len(payoff)), 1.0)
    weights[playing] = np.clip(np.linalg.solve(system, target)[:-1], 0, None)
    system[:-1, :-1] = payoff
    letters[tight] = np.clip(np.linalg.solve(system, target)[:-1], 0, None)
    return weights / weights.sum(), letters / letters.sum()
