r"""Renyi differential privacy by a conic program over the whole channel: any neighbors, any distances, any source set.

For neighbors i, k the Renyi divergence of order alpha > 1 is ``log(T_ik) / (alpha - 1)`` with the moment

    T_ik = sum_j Q_ij^alpha Q_kj^(1 - alpha),

jointly convex in the two rows; at order 1 its place is taken by ``KL(Q_i || Q_k)``. Nothing smaller is known for a general prior:

    minimize    max T_ik     subject to   sum_ij P_v(i) Q_ij d_ij <= D for every vertex v,   rows of Q sum to 1,  Q >= 0,     (1)

with one power cone for each pair of neighbors and each output.

**Lower bound.** For weights lambda of the pairs and dual variables y of the distortions, ``sum lambda_ik T_ik`` is homogeneous
and convex in Q, so a tangent plane at any positive X lies below it, and every channel that keeps the distortions has

    max T_ik  >=  sum_i min_j [ G_ij + sum_v y_v P_v(i) d_ij ]  -  D sum_v y_v,                                              (2)
    G_ij = sum_k lambda_ik alpha s_ikj^(alpha - 1) - (alpha - 1) sum_k lambda_ki s_kij^alpha,     s_ikj = X_ij / X_kj.

It depends on X and the dual variables alone. X is the solver's matrix after a few Newton steps toward the minimizer of the
Lagrangian over the channels, at which the plane is exact; where a letter is never published, only the ratios of X matter.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import SolverError, optional
from paper_repro.solvers.cones import TwoWayProgram
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray, IntArray

__all__ = ["ChannelMomentProgram", "least_renyi_divergence"]

# A column of smaller entries is a letter that is never published.
_NOISE = 1e-9
# A letter with larger entries takes part in Newton's steps; the others have columns of their own.
_PUBLISHED = 1e-7
# A share of the budget that is left to rounding.
_MARGIN = 1e-10
_STEPS, _BARRIER_STEPS, _LEAST_BARRIER = 12, 60, 1e-13
_MOST_CONES = 6000
# From this alpha on the scale of the moments is found first, by so many halvings.
_STEEP, _HALVINGS = 3.0, 14


def least_renyi_divergence(
    alpha: float, pairs: IntArray, weights: FloatArray, tangent: FloatArray, penalties: FloatArray, allowance: float
) -> float:
    """Lower bound (2) in nats on the Renyi leakage of every mechanism whose distortions are penalized with at most an allowance.

    Parameters
    ----------
    alpha : float >= 1
    pairs : ndarray, shape (pairs, 2)
        Neighbors i, k, in both orders.
    weights : ndarray, shape (pairs,), >= 0
        lambda, dual variables of the pairs' moments; they are made to sum to 1. At alpha = 1, of the divergences.
    tangent : ndarray, shape (M, M)
        X, the point of the tangent plane; positive, each column up to a factor.
    penalties : ndarray, shape (M, M)
        Of publishing j in place of i, ``sum_v y_v P_v(i) d_ij``.
    allowance : float
        ``D sum_v y_v``.

    >>> both, keep = np.array([[0, 1], [1, 0]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> slope = 2 * (0.7 / 0.3 - 0.3 / 0.7) + (0.7 / 0.3) ** 2 - (0.3 / 0.7) ** 2  # of the moment, along the diagonal
    >>> penalties = slope * (1 - np.eye(2))
    >>> round(least_renyi_divergence(2, both, np.ones(2) / 2, keep, penalties / 2, 0.3 * slope), 6)
    0.566395
    """
    gradient = _gradient(alpha, pairs, weights / weights.sum(), tangent)
    bound = float((gradient + penalties).min(axis=1).sum()) - allowance
    if alpha == 1:
        return max(0.0, bound)
    return max(0.0, math.log(bound) / (alpha - 1)) if bound > 0 else 0.0


class ChannelMomentProgram:
    """Program (1) of this module, solved by Clarabel for each budget.

    What it proposes is certified by ``(lambda, y, X)``: weights of the pairs, shape (pairs,), dual variables of the vertices'
    distortions, shape (V,), against the weighted moments, and the point of the tangent plane, shape (M, M).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.
    pairs : ndarray, shape (pairs, 2)
        Neighbors, in both orders.
    alpha : float >= 1

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.

    >>> program = ChannelMomentProgram(np.full((1, 2), 0.5), 1 - np.eye(2), np.array([[0, 1], [1, 0]]), 2.0)
    >>> program.at_leakage(math.log(7 / 3)).mechanism.round(4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, pairs: IntArray, alpha: float) -> None:
        if len(pairs) * len(costs) > _MOST_CONES:
            raise ValueError(
                f"Renyi divergences between {len(pairs)} pairs of neighbors over {len(costs)} letters make "
                f"{len(pairs) * len(costs)} cones, at most {_MOST_CONES} are solved; take fewer letters, or a source set that "
                "contains the uniform distribution, where randomized response is optimal"
            )
        self._vertices, self._costs, self._pairs, self._alpha = vertices, costs, pairs, alpha

    def at_distortion(self, distortion: float, about: float = 0.0, margin: float = 1e-10) -> Proposal:
        """Least leakage at a distortion above 0 and below the one without leakage; ``about`` so many nats, for scale.

        A share of the budget, ``margin``, is left to rounding.
        """
        if self._alpha > _STEEP:
            about = self._scale_of(distortion, about)
        duals = self._solve(distortion * (1 - margin), about, minimize_leakage=True)
        return self._proposal(*duals, distortion)

    def _scale_of(self, distortion: float, upper: float) -> float:
        """The least leakage at a distortion, roughly: moments of a large order are far from 1 if the scale is not right."""
        lower = 0.0
        for _ in range(_HALVINGS):
            middle = (lower + upper) / 2
            try:
                self._solve(1.0, middle, minimize_leakage=False)
                enough = self._cones[0].worst <= distortion
            except SolverError:  # it stops where the scale is far off, and only the scale is wanted
                enough = False
            lower, upper = (lower, middle) if enough else (middle, upper)
        return upper

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive, finite leakage; the solver's tolerance may overstep the leakage a little."""
        budget = (leakage if self._alpha == 1 else 1.0) * (1 - _MARGIN)
        return self._proposal(*self._solve(budget, leakage, minimize_leakage=False), 1e300)

    @cached_property
    def _cones(self) -> tuple[TwoWayProgram, Any, Any]:
        """The program, the channel and the scale, ``exp(-(alpha - 1) / alpha * about)``.

        Moments are divided by ``exp((alpha - 1) * about)``, so that they are of order 1; at alpha = 1 nothing is.
        """
        cvxpy = optional("cvxpy", "cones")

        size, (first, second) = len(self._costs), self._pairs.T
        matrix, scale = cvxpy.Variable((size, size), nonneg=True), cvxpy.Parameter(nonneg=True, value=1.0)
        given, taken = (cvxpy.vec(matrix[side], order="C") for side in (first, second))
        constraints = [cvxpy.sum(matrix, axis=1) == 1]
        if self._alpha == 1:
            moments = cvxpy.rel_entr(given, taken)
        else:
            moments = cvxpy.Variable(len(first) * size)
            constraints.append(cvxpy.PowCone3D(moments, taken, scale * given, 1 / self._alpha))
        leakages = np.kron(np.eye(len(first)), np.ones((1, size))) @ moments
        weighted = np.einsum("vi,ij->vij", self._vertices, self._costs).reshape(len(self._vertices), -1)
        return TwoWayProgram(leakages, weighted @ cvxpy.vec(matrix, order="C"), constraints), matrix, scale

    def _solve(self, budget: float, about: float, *, minimize_leakage: bool) -> tuple[FloatArray, FloatArray]:
        """Weights of the pairs and dual variables of the distortions."""
        program, _, scale = self._cones
        scale.value = math.exp(-about * (self._alpha - 1) / self._alpha)
        weights, duals, _ = program.solve(budget, minimize_leakage=minimize_leakage)
        # In the program every moment is divided by exp((alpha - 1) about); the weighted moments of the bound are not.
        return weights, duals * math.exp(min(700.0, about * (self._alpha - 1)))

    def _proposal(self, weights: FloatArray, duals: FloatArray, distortion: float) -> Proposal:
        matrix = self._cones[1].value
        penalties = (duals @ self._vertices)[:, np.newaxis] * self._costs
        tangent = self._tangent_point(np.maximum(matrix, 1e-200), weights, penalties)
        return Proposal(self._within(matrix, distortion), duals, (weights, duals, tangent))

    def _within(self, matrix: FloatArray, distortion: float) -> FloatArray:
        """The matrix without columns of noise, its rows summing to 1 and its distortion cut to the budget."""
        published = matrix.max(axis=0) > _NOISE
        matrix = np.where(published, np.maximum(matrix, 0.0), 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        changed = self._vertices * (matrix * self._costs).sum(axis=1)
        fixed, free = changed[:, ~published].sum(axis=1), changed[:, published].sum(axis=1)
        share = min(1.0, float(np.where(free > 0, (distortion - fixed) / np.maximum(free, 1e-300), 1.0).min()))
        if 0 < share < 1:
            rows = np.flatnonzero(published)
            matrix[rows] *= share
            matrix[rows, rows] += 1 - share
        return matrix

    def _tangent_point(self, matrix: FloatArray, weights: FloatArray, penalties: FloatArray) -> FloatArray:
        """X: Newton steps toward the minimizer of the Lagrangian over the published letters; the others by themselves."""
        published = np.flatnonzero(matrix.max(axis=0) > _PUBLISHED)
        # In units of the penalty of a change, so that the equations are of one size.
        unit = max(float(penalties.max()), 1e-300)
        weights, penalties, size = weights / unit, penalties / unit, len(matrix)
        for _ in range(_STEPS):
            found = matrix[:, published]
            count = found.size
            system = np.zeros((count + size,) * 2)
            for number, column in enumerate(found.T):
                place = slice(number * size, (number + 1) * size)
                system[place, place] = self._hessian(weights, column)
                system[place, count:] = system[count:, place] = np.diag(column)
            gradient = (_gradient(self._alpha, self._pairs, weights, matrix) + penalties)[:, published]
            target = np.append(-(gradient * found).T.ravel(), 1 - found.sum(axis=1))
            if not np.isfinite(system).all():
                break
            change = np.linalg.lstsq(system, target, rcond=1e-15)[0][:count].reshape(-1, size).T
            matrix = matrix.copy()
            matrix[:, published], largest = _damped_step(found, change)
            if largest < 1e-12:
                break
        rows = (_gradient(self._alpha, self._pairs, weights, matrix) + penalties)[:, published].min(axis=1)
        for letter in np.setdiff1d(np.arange(size), published):
            matrix[:, letter] = self._unpublished_column(weights, penalties[:, letter] - rows)
        return matrix

    def _unpublished_column(self, weights: FloatArray, reduced: FloatArray) -> FloatArray:
        """The column x, summing to 1, of least weighted moments plus ``reduced . x``, by Newton steps along a falling barrier.

        If that is not negative, publishing the letter does not pay, and the tangent plane at x proves it.
        """
        size, barrier = len(reduced), 1.0
        column = np.full(size, 1 / size)
        for _ in range(_BARRIER_STEPS):
            moments = _gradient(self._alpha, self._pairs, weights, column[:, np.newaxis])[:, 0]
            gradient = reduced - barrier / column + moments
            system = np.zeros((size + 1,) * 2)
            system[:size, :size] = self._hessian(weights, column) + barrier * np.eye(size)
            system[size, :size] = system[:size, size] = column
            if not np.isfinite(system).all():
                break
            change = np.linalg.lstsq(system, np.append(-gradient * column, 1 - column.sum()), rcond=1e-15)[0][:size]
            column, largest = _damped_step(column, change)
            if largest < 0.5:
                barrier = max(barrier / 4, _LEAST_BARRIER)
        return column

    def _hessian(self, weights: FloatArray, column: FloatArray) -> FloatArray:
        """Second derivatives of one column's weighted moments, in relative changes of its entries."""
        first, second = self._pairs.T
        ratios = column[first] / column[second]
        base = weights * (self._alpha * (self._alpha - 1) if self._alpha > 1 else 1.0)
        block = np.zeros((len(column),) * 2)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks whether all are finite
            base = base * ratios ** (self._alpha - 2) / column[second]
            np.add.at(block, (first, first), base)
            np.add.at(block, (second, second), base * ratios**2)
            np.subtract.at(block, (first, second), base * ratios)
            np.subtract.at(block, (second, first), base * ratios)
            return block * column[:, np.newaxis] * column


def _gradient(alpha: float, pairs: IntArray, weights: FloatArray, tangent: FloatArray) -> FloatArray:
    """Of the weighted moments at X: G of (2), of the shape of X."""
    first, second = pairs.T
    ratios = tangent[first] / tangent[second]
    gradient = np.zeros_like(tangent)
    weights = weights[:, np.newaxis]
    with np.errstate(over="ignore"):
        rising = weights * (np.log(ratios) + 1 if alpha == 1 else alpha * ratios ** (alpha - 1))
        falling = weights * (ratios if alpha == 1 else (alpha - 1) * ratios**alpha)
    np.add.at(gradient, first, rising)
    np.subtract.at(gradient, second, falling)
    return gradient


def _damped_step(entries: FloatArray, change: FloatArray) -> tuple[FloatArray, float]:
    """The entries after a relative change, damped so that they stay positive, and the largest change that was wanted."""
    largest = float(np.abs(change).max())
    return entries * (1 + change * min(1.0, 0.9 / max(largest, 1e-300))), largest
