r"""Renyi differential privacy by a conic program over the whole channel: any neighbors, any distances, any source set.

For neighbors i, k the Renyi divergence of order alpha > 1 is ``log(T_ik) / (alpha - 1)`` with the moment

    T_ik = sum_j Q_ij^alpha Q_kj^(1 - alpha),

jointly convex in the two rows; at order 1 its place is taken by ``KL(Q_i || Q_k)``. Nothing smaller is known for a general prior:

    minimize    max T_ik     subject to   sum_ij P_v(i) Q_ij d_ij <= D for every vertex v,   rows of Q sum to 1,  Q >= 0,     (1)

with one power cone for each pair of neighbors and each output.

**Lower bound.** For weights lambda of the pairs and prices y of the distortions, ``sum lambda_ik T_ik`` is homogeneous and
convex in Q, so a tangent plane at any positive X lies below it, and every channel that keeps the distortions has

    max T_ik  >=  sum_i min_j [ G_ij + sum_v y_v P_v(i) d_ij ]  -  D sum_v y_v,                                              (2)
    G_ij = sum_k lambda_ik alpha s_ikj^(alpha - 1) - (alpha - 1) sum_k lambda_ki s_kij^alpha,     s_ikj = X_ij / X_kj.

It depends on X and the multipliers alone. X is the solver's matrix after a few Newton steps toward the minimizer of the weighted
moments and prices over the channels, at which the plane is exact; where a letter is never published, only the ratios of X matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.errors import SolverError, optional
from paper_repro.solvers.cones import solve_cones
from paper_repro.types import FloatArray, IntArray

__all__ = ["RenyiOptimum", "RenyiProgram", "least_renyi_divergence"]

# A column of smaller entries is a letter that is never published.
_NOISE = 1e-9
# A share of the budget that is left to rounding.
_MARGIN = 1e-10
_STEPS, _BARRIER_STEPS, _LEAST_BARRIER = 12, 60, 1e-13
_MOST_CONES = 6000
# From this order on the scale of the moments is found first, by so many halvings.
_STEEP, _HALVINGS = 3.0, 14


def least_renyi_divergence(
    order: float, pairs: IntArray, weights: FloatArray, touching: FloatArray, prices: FloatArray, allowance: float
) -> float:
    """Lower bound (2) in nats on the Renyi leakage of every mechanism whose priced distortion is at most an allowance.

    Parameters
    ----------
    order : float >= 1
    pairs : ndarray, shape (pairs, 2)
        Neighbors i, k, in both orders.
    weights : ndarray, shape (pairs,), >= 0
        Of the pairs, against ``exp((order - 1) * leakage)``; they are made to sum to 1. At order 1, against the leakage itself.
    touching : ndarray, shape (M, M)
        X, where the tangent plane touches; positive, each column up to a factor.
    prices : ndarray, shape (M, M)
        What publishing j in place of i costs, ``sum_v y_v P_v(i) d_ij``.
    allowance : float
        What a mechanism may spend, ``D sum_v y_v``.

    >>> both, keep = np.array([[0, 1], [1, 0]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> slope = 2 * (0.7 / 0.3 - 0.3 / 0.7) + (0.7 / 0.3) ** 2 - (0.3 / 0.7) ** 2  # of the moment, along the diagonal
    >>> prices = slope * (1 - np.eye(2))
    >>> round(least_renyi_divergence(2, both, np.ones(2) / 2, keep, prices / 2, 0.3 * slope), 6)
    0.566395
    """
    bound = float((_slopes(order, pairs, weights / weights.sum(), touching) + prices).min(axis=1).sum()) - allowance
    if order == 1:
        return max(0.0, bound)
    return max(0.0, math.log(bound) / (order - 1)) if bound > 0 else 0.0


@dataclass(frozen=True)
class RenyiOptimum:
    """What the program proposes.

    Attributes
    ----------
    matrix : ndarray, shape (M, M)
    pair_weights : ndarray, shape (pairs,)
    prices : ndarray, shape (V,)
        Of the vertices' distortions, against the weighted moments.
    touching : ndarray, shape (M, M)
    """

    matrix: FloatArray
    pair_weights: FloatArray
    prices: FloatArray
    touching: FloatArray


class RenyiProgram:
    """Program (1) of this module, compiled once and solved by Clarabel for each budget.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.
    pairs : ndarray, shape (pairs, 2)
        Neighbors, in both orders.
    order : float >= 1

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, pairs: IntArray, order: float) -> None:
        if len(pairs) * len(costs) > _MOST_CONES:
            raise ValueError(
                f"Renyi divergences between {len(pairs)} pairs of neighbors over {len(costs)} letters make "
                f"{len(pairs) * len(costs)} cones, at most {_MOST_CONES} are solved; take fewer letters, or a source set that "
                "contains the uniform distribution, where randomized response is optimal"
            )
        self._vertices, self._costs, self._pairs, self._order = vertices, costs, pairs, order

    def at_distortion(self, distortion: float, about: float, margin: float = 1e-10) -> RenyiOptimum:
        """Least leakage at a distortion above 0 and below the one without leakage; ``about`` so many nats, for scale.

        A share of the budget, ``margin``, is left to rounding.
        """
        if self._order > _STEEP:
            about = self._scale_of(distortion, about)
        return self._optimum(self._least_leakage.solve(distortion * (1 - margin), about), distortion)

    def _scale_of(self, distortion: float, upper: float) -> float:
        """The least leakage at a distortion, roughly: moments of a large order are far from 1 if the scale is not right."""
        lower = 0.0
        for _ in range(_HALVINGS):
            middle = (lower + upper) / 2
            try:
                enough = self._least_distortion.solve(1.0, middle).worst <= distortion
            except SolverError:  # it stops where the scale is far off, and only the scale is wanted
                enough = False
            lower, upper = (lower, middle) if enough else (middle, upper)
        return upper

    def at_leakage(self, leakage: float) -> RenyiOptimum:
        """Least distortion at a positive, finite leakage; the solver's tolerance may overstep the leakage a little."""
        budget = (leakage if self._order == 1 else 1.0) * (1 - _MARGIN)
        return self._optimum(self._least_distortion.solve(budget, leakage), 1e300)

    @cached_property
    def _least_leakage(self) -> _Model:
        return _Model(self._vertices, self._costs, self._pairs, self._order, minimize_leakage=True)

    @cached_property
    def _least_distortion(self) -> _Model:
        return _Model(self._vertices, self._costs, self._pairs, self._order, minimize_leakage=False)

    def _optimum(self, values: _Values, distortion: float) -> RenyiOptimum:
        prices = (values.prices @ self._vertices)[:, np.newaxis] * self._costs
        touching = self._polished(np.maximum(values.matrix, 1e-200), values.pair_weights, prices)
        return RenyiOptimum(self._within(values.matrix, distortion), values.pair_weights, values.prices, touching)

    def _within(self, matrix: FloatArray, distortion: float) -> FloatArray:
        """The matrix without columns of noise, its rows summing to 1 and what they spend cut to the budget."""
        published = matrix.max(axis=0) > _NOISE
        matrix = np.where(published, np.maximum(matrix, 0.0), 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        spent = self._vertices * (matrix * self._costs).sum(axis=1)
        fixed, free = spent[:, ~published].sum(axis=1), spent[:, published].sum(axis=1)
        share = min(1.0, float(np.where(free > 0, (distortion - fixed) / np.maximum(free, 1e-300), 1.0).min()))
        if 0 < share < 1:
            rows = np.flatnonzero(published)
            matrix[rows] *= share
            matrix[rows, rows] += 1 - share
        return matrix

    def _polished(self, matrix: FloatArray, weights: FloatArray, prices: FloatArray) -> FloatArray:
        """X: Newton steps toward the least weighted moments and prices over the published letters; the others by themselves."""
        published = np.flatnonzero(matrix.max(axis=0) > _NOISE * 100)
        # In units of the price of a change, so that the equations are of one size.
        unit = max(float(prices.max()), 1e-300)
        weights, prices, size = weights / unit, prices / unit, len(matrix)
        for _ in range(_STEPS):
            found = matrix[:, published]
            count = found.size
            system = np.zeros((count + size,) * 2)
            for number, column in enumerate(found.T):
                place = slice(number * size, (number + 1) * size)
                system[place, place] = self._bend(weights, column)
                system[place, count:] = system[count:, place] = np.diag(column)
            slopes = (_slopes(self._order, self._pairs, weights, matrix) + prices)[:, published]
            target = np.append(-(slopes * found).T.ravel(), 1 - found.sum(axis=1))
            if not np.isfinite(system).all():
                break
            change = np.linalg.lstsq(system, target, rcond=1e-15)[0][:count].reshape(-1, size).T
            largest = float(np.abs(change).max())
            matrix = matrix.copy()
            matrix[:, published] = found * (1 + change * min(1.0, 0.9 / max(largest, 1e-300)))
            if largest < 1e-12:
                break
        rows = (_slopes(self._order, self._pairs, weights, matrix) + prices)[:, published].min(axis=1)
        for letter in np.setdiff1d(np.arange(size), published):
            matrix[:, letter] = self._shape(weights, prices[:, letter] - rows)
        return matrix

    def _shape(self, weights: FloatArray, costs: FloatArray) -> FloatArray:
        """The column x, summing to 1, of least weighted moments plus ``costs . x``, by Newton steps along a falling barrier.

        If that is not negative, publishing the letter does not pay, and the tangent plane at x proves it.
        """
        first, second = self._pairs.T
        size, barrier = len(costs), 1.0
        column = np.full(size, 1 / size)
        for _ in range(_BARRIER_STEPS):
            with np.errstate(over="ignore"):
                ratios = column[first] / column[second]
                power = ratios ** (self._order - 1)
            slopes = costs - barrier / column
            rising = np.log(ratios) + 1 if self._order == 1 else self._order * power
            np.add.at(slopes, first, weights * rising)
            np.subtract.at(slopes, second, weights * ratios * (1 if self._order == 1 else (self._order - 1) * power))
            system = np.zeros((size + 1,) * 2)
            system[:size, :size] = self._bend(weights, column) + barrier * np.eye(size)
            system[size, :size] = system[:size, size] = column
            if not np.isfinite(system).all():
                break
            change = np.linalg.lstsq(system, np.append(-slopes * column, 1 - column.sum()), rcond=1e-15)[0][:size]
            largest = float(np.abs(change).max())
            column = column * (1 + change * min(1.0, 0.9 / max(largest, 1e-300)))
            if largest < 0.5:
                barrier = max(barrier / 4, _LEAST_BARRIER)
        return column

    def _bend(self, weights: FloatArray, column: FloatArray) -> FloatArray:
        """Second derivatives of one column's weighted moments, in relative changes of its entries."""
        first, second = self._pairs.T
        ratios = column[first] / column[second]
        base = weights * (self._order * (self._order - 1) if self._order > 1 else 1.0)
        block = np.zeros((len(column),) * 2)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks whether all are finite
            base = base * ratios ** (self._order - 2) / column[second]
            np.add.at(block, (first, first), base)
            np.add.at(block, (second, second), base * ratios**2)
            np.subtract.at(block, (first, second), base * ratios)
            np.subtract.at(block, (second, first), base * ratios)
            return block * column[:, np.newaxis] * column


@dataclass(frozen=True)
class _Values:
    """The solver's matrix, its multipliers, and what it minimized: the worst moment, in units of the scale, or distortion."""

    matrix: FloatArray
    pair_weights: FloatArray
    prices: FloatArray
    worst: float


class _Model:
    """The conic program with its budget as a parameter: the other of moment and distortion is minimized.

    Moments are divided by ``exp((order - 1) * about)``, so that they are of order 1; divergences of order 1 are as they are.
    """

    def __init__(
        self, vertices: FloatArray, costs: FloatArray, pairs: IntArray, order: float, minimize_leakage: bool
    ) -> None:
        cvxpy = optional("cvxpy", "cones")
        size, (first, second) = len(costs), pairs.T
        self._order, self._vertices, self._minimize_leakage = order, vertices, minimize_leakage
        self._matrix = cvxpy.Variable((size, size), nonneg=True)
        self._budget, self._worst = cvxpy.Parameter(nonneg=True), cvxpy.Variable()
        self._scale = cvxpy.Parameter(nonneg=True, value=1.0)
        leakage_bound, distortion_bound = (
            (self._worst, self._budget) if minimize_leakage else (self._budget, self._worst)
        )
        given, taken = (cvxpy.vec(self._matrix[side], order="C") for side in (first, second))
        others = [cvxpy.sum(self._matrix, axis=1) == 1]
        if order == 1:
            moments = cvxpy.rel_entr(given, taken)
        else:
            moments = cvxpy.Variable(len(first) * size)
            others.append(cvxpy.PowCone3D(moments, taken, self._scale * given, 1 / order))
        self._leak = np.kron(np.eye(len(first)), np.ones((1, size))) @ moments <= leakage_bound
        spent = np.einsum("vi,ij->vij", vertices, costs).reshape(len(vertices), -1)
        self._change = spent @ cvxpy.vec(self._matrix, order="C") <= distortion_bound
        self._problem = cvxpy.Problem(cvxpy.Minimize(self._worst), [self._leak, self._change, *others])

    def solve(self, budget: float, about: float) -> _Values:

        self._budget.value = budget
        self._scale.value = math.exp(-about * (self._order - 1) / self._order)
        solve_cones(self._problem, budget)
        weights = np.clip(self._leak.dual_value, 0.0, None)
        total = float(weights.sum())
        if total <= 0:  # the leakage does not bind
            even, worst = np.full_like(weights, 1 / len(weights)), float(self._worst.value)
            return _Values(self._matrix.value, even, np.zeros(len(self._vertices)), worst)
        prices = np.clip(self._change.dual_value, 0.0, None) / total
        # In the program every moment is divided by exp((order - 1) about); the weighted moments of the bound are not.
        prices *= math.exp(min(700.0, about * (self._order - 1)))
        return _Values(self._matrix.value, weights / total, prices, float(self._worst.value))


def _slopes(order: float, pairs: IntArray, weights: FloatArray, touching: FloatArray) -> FloatArray:
    """Tangent plane of the weighted moments at X: G of (2), shape (M, M)."""
    first, second = pairs.T
    ratios = touching[first] / touching[second]
    slopes = np.zeros_like(touching)
    weights = weights[:, np.newaxis]
    with np.errstate(over="ignore"):
        rising = weights * (np.log(ratios) + 1 if order == 1 else order * ratios ** (order - 1))
        falling = weights * (ratios if order == 1 else (order - 1) * ratios**order)
    np.add.at(slopes, first, rising)
    np.subtract.at(slopes, second, falling)
    return slopes
