r"""Maximal leakage: as little probability as possible is kept, all letters together.

The leakage is ``log sum_j max_i Q_ij``. The columns' largest entries are at least the diagonal ``a_i = 1 - D_i``, and with the
off-diagonal entries of :meth:`paper_repro.mechanisms.Mechanism.from_distortions` they are equal to it when ``S = sum_i a_i``
is at least 1. So the optimum, as ``exp(leakage) = S``, is

    minimize  M - sum_i D_i   subject to   P_v . D <= D for every vertex v,    0 <= D_i <= 1,                       (1)

a fractional knapsack for one prior (Theorem 14, Zhong and Bu 2022): the least likely letters are given up first. S >= 1 holds by
itself below the distortion from which nothing needs to leak.

**Lower bound.** For any dual variables ``y_v >= 0`` of the vertices' distortions, with ``kappa = sum_v y_v P_v``,

    S >= M - D sum_v y_v - sum_i max(0, 1 - kappa_i),                                                              (2)

since ``sum_i D_i <= sum_i max(0, 1 - kappa_i) + kappa . D``. Multiplying y by a factor leaves a bound, so (2) also bounds the
distortion of every mechanism that leaks at most log S.
"""

from __future__ import annotations

import math

import numpy as np

from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["DiagonalMassProgram", "least_kept_mass"]

# The solver's tolerances are absolute: what it sees is scaled up.
_SCALE = 1e4


def least_kept_mass(vertices: FloatArray, duals: FloatArray, distortion: float) -> float:
    """Bound (2) on ``exp(leakage)`` of every mechanism whose worst-case distortion is at most D; never below 1.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    duals : ndarray, shape (V,), >= 0
        y, of the vertices' distortions.
    distortion : float

    >>> dual = np.array([1 / 0.3])  # of one prior, where its second letter is given up in part
    >>> round(least_kept_mass(np.array([[0.5, 0.3, 0.2]]), dual, 0.4), 12)
    1.333333333333
    """
    spared = np.clip(1 - duals @ vertices, 0, None).sum()
    return max(1.0, float(vertices.shape[1] - distortion * duals.sum() - spared))


class DiagonalMassProgram:
    """Program (1) of this module for one source set.

    What it proposes is certified by ``(y,)``, the dual variables of the vertices' distortions, shape (V,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).

    >>> DiagonalMassProgram(np.array([[0.5, 0.3, 0.2]])).at_distortion(0.2).mechanism.matrix.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    """

    def __init__(self, vertices: FloatArray) -> None:
        self._vertices, self._known = vertices, vertices.any(axis=0)
        self._start: Basis | None = None

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage below the distortion without leakage."""
        count, size = self._vertices.shape
        if count == 1:
            return self._of_prior(distortion)
        upper = np.append(np.full(count, distortion * _SCALE), np.full(size, _SCALE))
        found = optimal_basis(np.full(size, -1.0), np.vstack([self._vertices, np.eye(size)]), upper, start=self._start)
        self._start = found
        distortions = np.clip(found.values / _SCALE, 0, 1)
        worst = float((self._vertices @ distortions).max())
        if worst > distortion:
            distortions = np.where(self._known, distortions * (distortion / worst), distortions)
        return _proposal(distortions, -found.duals[:count])

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage, ``sum_i D_i = M - exp(leakage)``."""
        count, size = self._vertices.shape
        changed = size - math.exp(min(leakage, 700.0))
        if changed <= (~self._known).sum():
            return self.at_distortion(0.0)
        if count == 1:
            # The least likely letters first, one of them in part.
            order = np.argsort(self._vertices[0], kind="stable")
            given = np.empty(size)
            given[order] = np.clip(changed - np.arange(size), 0, 1)
            last = self._vertices[0][order[min(size - 1, math.ceil(changed) - 1)]]
            return _proposal(given, np.array([1 / max(last, 1e-300)]))
        # Columns: D_i and the worst distortion; rows: the vertices, D_i <= 1, and the sum.
        matrix = np.zeros((count + size + 1, size + 1))
        matrix[:count, :size], matrix[:count, size] = self._vertices, -1.0
        matrix[count:-1, :size], matrix[-1, :size] = np.eye(size), 1.0
        upper = np.concatenate([np.zeros(count), np.full(size, _SCALE), [changed * _SCALE]])
        found = optimal_basis(np.append(np.zeros(size), _SCALE), matrix, upper, equal=slice(count + size, None))
        distortions = np.clip(found.values[:size] / _SCALE, 0, 1)
        slope = max(found.duals[-1], 1e-300)
        return _proposal(distortions, -found.duals[:count] / slope)

    def _of_prior(self, distortion: float) -> Proposal:
        """For one prior: the least likely letters first, until the distortion is used up."""
        prior = self._vertices[0]
        order = np.argsort(prior, kind="stable")
        before = np.cumsum(prior[order]) - prior[order]
        left = np.clip(distortion - before, 0, None)
        distortions = np.empty_like(prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            distortions[order] = np.where(prior[order] > left, left / prior[order], 1.0)
        partly = int(np.searchsorted(before, distortion, side="right")) - 1
        return _proposal(distortions, np.array([1 / max(prior[order][partly], 1e-300)]))


def _proposal(distortions: FloatArray, duals: FloatArray) -> Proposal:
    duals = np.clip(duals, 0, None)
    return Proposal(Mechanism.from_distortions(distortions), duals, (duals,))
