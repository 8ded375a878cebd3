r"""Maximal leakage over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_mass` for where it
does). The optimum, as ``exp(leakage)``, is a linear program,

    minimize  sum_j max_i Q_ij   subject to   sum_ij P_v(i) Q_ij d_ij <= D for every vertex v,   rows of Q sum to 1,  Q >= 0.

**Lower bound.** For dual variables y of the distortions, in the Lagrangian as penalties ``C_ij = sum_v y_v P_v(i) d_ij``, and any
u, one number a row, the duality of norms gives

    exp(leakage)  >=  ( sum u - D sum y ) / max_j sum_i max(0, u_i - C_ij).                                     (1)
"""

from __future__ import annotations

import math

import numpy as np

from paper_repro.solvers.linear import optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["ChannelMassProgram", "least_mass", "without_rounding"]

_SCALE = 1e4


def least_mass(penalties: FloatArray, rows: FloatArray, allowance: float) -> float:
    """Lower bound (1) on ``exp(leakage)``, never below 1; dimensionless.

    Parameters
    ----------
    penalties : ndarray, shape (M, M)
        C.
    rows : ndarray, shape (M,)
        u, dual variables of the rows' sums.
    allowance : float
        ``D sum y``.

    >>> least_mass(2 * (1 - np.eye(2)), np.ones(2), 2 * 0.25)  # two even letters, changed with probability 1/4
    1.5
    """
    load = float(np.clip(rows[:, np.newaxis] - penalties, 0, None).sum(axis=0).max())
    return max(1.0, (float(rows.sum()) - allowance) / load) if load > 0 else 1.0


class ChannelMassProgram:
    """The program of this module in Q, the columns' largest entries and the distortion.

    What it proposes is certified by ``(y, u)``: dual variables of the distortions, shape (V,), and of the rows' sums, shape (M,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        Distances d.

    >>> program = ChannelMassProgram(np.array([[0.6, 0.4]]), 1 - np.eye(2))
    >>> program.at_distortion(0.2).mechanism.round(6).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray) -> None:
        from scipy.sparse import block_array, csr_array, eye_array, kron

        self._vertices, self._costs, size = vertices, costs, len(costs)
        each = eye_array(size)
        below = block_array([[eye_array(size * size), -kron(np.ones((size, 1)), each)]])
        distances = csr_array(np.einsum("vi,ij->vij", vertices, costs).reshape(len(vertices), -1))
        distances = block_array([[distances, csr_array((len(vertices), size))]])
        sums = block_array([[kron(each, np.ones((1, size))), csr_array((size, size))]])
        self._blocks = below, distances, sums

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion below the one without leakage."""
        from scipy.sparse import vstack

        below, distances, sums = self._blocks
        size, count = len(self._costs), len(self._vertices)
        found = optimal_basis(
            np.append(np.zeros(size * size), np.ones(size)),
            vstack([below, distances, sums]),
            np.concatenate([np.zeros(size * size), np.full(count, distortion * _SCALE), np.full(size, _SCALE)]),
            equal=slice(size * size + count, None),
            large=size > 20,
        )
        duals = np.clip(-found.duals[size * size : -size], 0, None)
        return Proposal(self._channel(found.values), duals, (duals, found.duals[-size:]))

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage in nats."""
        from scipy.sparse import block_array, csr_array, vstack

        below, distances, sums = self._blocks
        size, count = len(self._costs), len(self._vertices)
        mass = csr_array(np.append(np.zeros(size * size), np.ones(size))[np.newaxis])
        worst = csr_array(-np.ones((count, 1)))
        matrix = block_array([[below, None], [distances, worst], [mass, None], [sums, None]])
        found = optimal_basis(
            np.append(np.zeros(size * size + size), _SCALE),
            vstack([matrix]),
            np.concatenate(
                [np.zeros(size * size + count), [math.exp(min(leakage, 700.0)) * _SCALE], np.full(size, _SCALE)]
            ),
            equal=slice(size * size + count + 1, None),
            large=size > 20,
        )
        weights = np.clip(-found.duals[size * size : size * size + count], 0, None)
        slope = max(-found.duals[-size - 1], 1e-300)  # of the distortion against exp(leakage)
        return Proposal(self._channel(found.values), weights, (weights / slope, found.duals[-size:] / slope))

    def _channel(self, values: FloatArray) -> FloatArray:
        size = len(self._costs)
        return without_rounding(values[: size * size].reshape(size, size) / _SCALE)


def without_rounding(matrix: FloatArray) -> FloatArray:
    """Rows of probabilities, shape (rows, columns) as given, without the solver's rounding.

    >>> without_rounding(np.array([[0.5, 0.25, 1e-15]])).round(6)
    array([[0.666667, 0.333333, 0.      ]])
    """
    matrix = np.where(matrix < 1e-13, 0.0, matrix)
    return matrix / matrix.sum(axis=1, keepdims=True)
