r"""Maximal leakage, mutual and Sibson information over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_mass` and
:mod:`paper_repro.solvers.diagonal_information` for where it does). With spending ``sum_ij P_v(i) Q_ij d_ij <= D`` for every
vertex,

    maximal leakage      minimize  sum_j max_i Q_ij                                                            (linear)
    mutual information   minimize over Q and r   max_v sum_i P_v(i) KL(Q_i || r)                               (exponential cones)
    Sibson information   minimize over Q and r >= 0   max_v (1/alpha) sum_ij P_v(i) Q_ij^alpha r_j^(1-alpha) + (1 - 1/alpha) sum r

**Lower bounds** for prices y of the spending, ``C_ij = sum_v y_v P_v(i) d_ij``, a prior P and any u, one number a row:

    maximal leakage      ( sum u - D sum y ) / max_j sum_i max(0, u_i - C_ij)                                on exp(leakage)  (1)
    mutual information   sum u - log max_j sum_i P_i exp((u_i - C_ij) / P_i) - D sum y                                        (2)
    Sibson information   ( sum u - D sum y ) / max_j ( sum_i P_i (max(0, u_i - C_ij) / P_i)^beta )^(1/beta)  on F           (3)

with ``beta = alpha / (alpha - 1)`` and ``F = exp(leakage / beta)``. (1) and (3) are the duality of norms, (2) is Jensen's
inequality; each holds whatever u and y are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.errors import optional
from paper_repro.solvers.cones import solve_cones
from paper_repro.solvers.linear import optimal_basis
from paper_repro.types import FloatArray

__all__ = ["ChannelOptimum", "InformationProgram", "MassProgram", "least_information", "least_mass"]

_SCALE = 1e4
_MOST_CONES = 2000


@dataclass(frozen=True)
class ChannelOptimum:
    """What a program proposes.

    Attributes
    ----------
    matrix : ndarray, shape (M, M)
    weights : ndarray, shape (V,)
        Of the vertices' leakages, or of their distortions where the leakage does not look at the prior.
    prices : ndarray, shape (V,)
        y of the bounds.
    rows : ndarray, shape (M,)
        u of the bounds.
    """

    matrix: FloatArray
    weights: FloatArray
    prices: FloatArray
    rows: FloatArray


def least_mass(costs: FloatArray, rows: FloatArray, allowance: float) -> float:
    """Bound (1) on ``exp(leakage)``, never below 1; ``costs`` are C, ``allowance`` is ``D sum y``.

    >>> least_mass(2 * (1 - np.eye(2)), np.ones(2), 2 * 0.25)  # two even letters, changed with probability 1/4
    1.5
    """
    load = float(np.clip(rows[:, np.newaxis] - costs, 0, None).sum(axis=0).max())
    return max(1.0, (float(rows.sum()) - allowance) / load) if load > 0 else 1.0


def least_information(order: float, prior: FloatArray, costs: FloatArray, rows: FloatArray, allowance: float) -> float:
    """Bound (2) or (3) in nats on mutual information (order 1) or Sibson information; never below 0.

    Letters without probability under the prior leak nothing and are left out.

    >>> fair, price = np.full(2, 0.5), math.log(3) / 2
    >>> rows = np.full(2, 0.5 * math.log(3 / 2))  # P_i log of what is kept, 3/4, over what is published, 1/2
    >>> bound = least_information(1, fair, price * (1 - np.eye(2)), rows, 2 * price * 0.25)
    >>> round(bound, 9), round(math.log(2) - 0.25 * math.log(4) - 0.75 * math.log(4 / 3), 9)
    (0.130812036, 0.130812036)
    """
    known = prior > 0
    mass, rows = prior[known], rows[known]
    exponents = (rows[:, np.newaxis] - costs[known]) / mass[:, np.newaxis]
    if order == 1:
        peak = exponents.max()
        loads = (mass[:, np.newaxis] * np.exp(exponents - peak)).sum(axis=0)
        return max(0.0, float(rows.sum() - peak) - math.log(float(loads.max())) - allowance)
    dual = order / (order - 1)
    load = float((mass[:, np.newaxis] * np.clip(exponents, 0, None) ** dual).sum(axis=0).max()) ** (1 / dual)
    worth = float(rows.sum()) - allowance
    return max(0.0, dual * math.log(worth / load)) if worth > 0 and load > 0 else 0.0


class MassProgram:
    """Maximal leakage: a linear program in Q, the columns' largest entries and the distortion.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        Distances d.
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray) -> None:
        from scipy.sparse import block_array, csr_array, eye_array, kron

        self._vertices, self._costs, size = vertices, costs, len(costs)
        each = eye_array(size)
        below = block_array([[eye_array(size * size), -kron(np.ones((size, 1)), each)]])
        spent = csr_array(np.einsum("vi,ij->vij", vertices, costs).reshape(len(vertices), -1))
        spent = block_array([[spent, csr_array((len(vertices), size))]])
        sums = block_array([[kron(each, np.ones((1, size))), csr_array((size, size))]])
        self._blocks = below, spent, sums

    def at_distortion(self, distortion: float) -> ChannelOptimum:
        from scipy.sparse import vstack

        below, spent, sums = self._blocks
        size, count = len(self._costs), len(self._vertices)
        found = optimal_basis(
            np.append(np.zeros(size * size), np.ones(size)),
            vstack([below, spent, sums]),
            np.concatenate([np.zeros(size * size), np.full(count, distortion * _SCALE), np.full(size, _SCALE)]),
            equal=slice(size * size + count, None),
            large=size > 20,
        )
        prices = np.clip(-found.prices[size * size : -size], 0, None)
        return self._optimum(found.values, prices, prices, found.prices[-size:])

    def at_leakage(self, leakage: float) -> ChannelOptimum:
        from scipy.sparse import block_array, csr_array, vstack

        below, spent, sums = self._blocks
        size, count = len(self._costs), len(self._vertices)
        mass = csr_array(np.append(np.zeros(size * size), np.ones(size))[np.newaxis])
        worst = csr_array(-np.ones((count, 1)))
        matrix = block_array([[below, None], [spent, worst], [mass, None], [sums, None]])
        found = optimal_basis(
            np.append(np.zeros(size * size + size), _SCALE),
            vstack([matrix]),
            np.concatenate(
                [np.zeros(size * size + count), [math.exp(min(leakage, 700.0)) * _SCALE], np.full(size, _SCALE)]
            ),
            equal=slice(size * size + count + 1, None),
            large=size > 20,
        )
        weights = np.clip(-found.prices[size * size : size * size + count], 0, None)
        slope = max(-found.prices[-size - 1], 1e-300)  # of the distortion against exp(leakage)
        return self._optimum(found.values, weights, weights / slope, found.prices[-size:] / slope)

    def _optimum(self, values: FloatArray, weights: FloatArray, prices: FloatArray, rows: FloatArray) -> ChannelOptimum:
        size = len(self._costs)
        return ChannelOptimum(_repaired(values[: size * size].reshape(size, size) / _SCALE), weights, prices, rows)


class InformationProgram:
    """Mutual information (order 1) and Sibson information (above): a conic program in Q and r.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        Distances d.
    order : float >= 1

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, order: float) -> None:
        if costs.size > _MOST_CONES:
            raise ValueError(
                f"a channel over {len(costs)} letters makes {costs.size} cones, at most {_MOST_CONES} are solved; take fewer "
                "letters, or a prior with a closed form"
            )
        self._vertices, self._costs, self._order = vertices, costs, order
        self._models: dict[bool, tuple[Any, ...]] = {}

    def at_distortion(self, distortion: float) -> ChannelOptimum:
        return self._solve(True, distortion)

    def at_leakage(self, leakage: float) -> ChannelOptimum:
        return self._solve(False, leakage if self._order == 1 else math.exp((1 - 1 / self._order) * leakage))

    def _model(self, minimize_leakage: bool) -> tuple[Any, ...]:
        cvxpy = optional("cvxpy", "cones")
        if minimize_leakage in self._models:
            return self._models[minimize_leakage]
        size = len(self._costs)
        matrix, output = cvxpy.Variable((size, size), nonneg=True), cvxpy.Variable((1, size), nonneg=True)
        budget, worst = cvxpy.Parameter(nonneg=True), cvxpy.Variable()
        leakage_bound, distortion_bound = (worst, budget) if minimize_leakage else (budget, worst)
        flat, outputs = cvxpy.vec(matrix, order="C"), cvxpy.vec(np.ones((size, 1)) @ output, order="C")
        each = np.repeat(self._vertices, size, axis=1)
        if self._order == 1:
            leak = each @ cvxpy.rel_entr(flat, outputs) <= leakage_bound
            others = [cvxpy.sum(output) == 1]
        else:
            moments = cvxpy.Variable(size * size)
            leak = each @ moments / self._order + (1 - 1 / self._order) * cvxpy.sum(output) <= leakage_bound
            others = [cvxpy.PowCone3D(moments, outputs, flat, 1 / self._order)]
        change = (each * self._costs.ravel()) @ flat <= distortion_bound
        rows = cvxpy.sum(matrix, axis=1) == 1
        problem = cvxpy.Problem(cvxpy.Minimize(worst), [leak, change, rows, *others])
        self._models[minimize_leakage] = found = (problem, budget, matrix, leak, change, rows)
        return found

    def _solve(self, minimize_leakage: bool, value: float) -> ChannelOptimum:
        problem, budget, matrix, leak, change, rows = self._model(minimize_leakage)
        budget.value = value
        solve_cones(problem, value)
        weights = np.clip(leak.dual_value, 0, None)
        total = max(float(weights.sum()), 1e-300)
        prices = np.clip(change.dual_value, 0, None) / total
        return ChannelOptimum(_repaired(matrix.value), weights, prices, -rows.dual_value / total)


def _repaired(matrix: FloatArray) -> FloatArray:
    """Rows of probabilities, without the solver's rounding."""
    matrix = np.where(matrix < 1e-13, 0.0, matrix)
    return matrix / matrix.sum(axis=1, keepdims=True)
