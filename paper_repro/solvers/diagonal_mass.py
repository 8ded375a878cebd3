r"""Maximal leakage: as little probability as possible is kept, all letters together.

The leakage is ``log sum_j max_i Q_ij``. The columns' largest entries are at least the diagonal ``a_i = 1 - D_i``, and with the
off-diagonal entries of :meth:`paper_repro.mechanisms.Mechanism.from_distortions` they are equal to it when ``S = sum_i a_i``
is at least 1. So the optimum, as ``exp(leakage) = S``, is

    minimize  M - sum_i D_i   subject to   P_v . D <= D for every vertex v,    0 <= D_i <= 1,                       (1)

S >= 1 holds by itself below the distortion from which nothing needs to leak.

**One prior** is a fractional knapsack (Theorem 14, Zhong and Bu 2022): see :mod:`paper_repro.solvers.known_prior`.

**Lower bound.** With dual variables ``y_v >= 0`` of the vertices' rows, ``P = sum_v y_v P_v / sum_v y_v`` is in the set,
and program (1) for P alone has the same optimum by strong duality: the rows' sum with the weights y is all that its dual needs.
So the knapsack of P bounds every mechanism, whatever y is, and P is least favorable.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.exact import exact_optimum
from paper_repro.solvers.known_prior import MassOfPrior, given_up
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import BoolArray, FloatArray

__all__ = ["DiagonalMassProgram"]

# A gap, in nats or relative to a distortion, with which floats are left alone.
_CLOSE = 1e-11
_ULP, _TINY = 2.0**-52, 1e-2


class DiagonalMassProgram:
    """Program (1) of this module for one source set.

    What floats leave open by more than 1e-11, in nats or relative to a distortion, is decided in fractions
    (:mod:`paper_repro.solvers.exact`). The weights that are proposed are those of the prior whose knapsack is the certificate.

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
        vertices, (count, size) = self._vertices, self._vertices.shape
        if distortion == 0:
            return _proposal(np.where(self._known, 0.0, 1.0), np.full(count, 1 / count))
        basis: Basis | None = None
        try:
            basis = self._distortion_basis(distortion)
            free, cut, tight = _read(basis, count, size)
            distortions, payoff = cut.astype(float), vertices[tight][:, free]
            distortions[free] = np.linalg.solve(payoff, distortion - vertices[tight][:, cut].sum(axis=1))
            weights = np.zeros(count)
            weights[tight] = np.linalg.solve(payoff.T, np.ones(len(payoff)))
            distortions = np.clip(distortions, 0, 1)
            worst = float((vertices @ distortions).max())
            distortions = np.where(
                self._known, distortions * min(1.0, distortion / worst if worst else 1.0), distortions
            )
            found = _proposal(distortions, weights)
            least = MassOfPrior(found.weights @ vertices).least_leakage(distortion)
            if math.log(max(1.0, float((1 - distortions).sum()))) - least <= _CLOSE:
                return found
        except (SolverError, np.linalg.LinAlgError):
            pass
        exact = exact_optimum(
            [-1] * size,
            [dict(enumerate(row)) for row in self._fractions()] + [{i: 1} for i in range(size)],
            [Fraction(distortion)] * count + [1] * size,
            start=basis,
        )
        return _exact_proposal(exact.values, exact.duals[:count])

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage, ``sum_i D_i = M - exp(leakage)``."""
        vertices, (count, size) = self._vertices, self._vertices.shape
        # What is evaluated from the channel's floats must not exceed a tiny budget; in others rounding is nothing.
        changed = given_up(size, max(0.0, leakage - (count + 4) * _ULP) if leakage < _TINY else leakage)
        if changed <= int((~self._known).sum()):
            return self.at_distortion(0.0)
        basis: Basis | None = None
        try:
            basis = self._leakage_basis(float(changed))
            free, cut, tight = _read(basis, count, size)
            # Unknowns: what is given up of the free letters, and the distortion.
            border = np.ones((int(tight.sum()), 1))
            system = np.block([[vertices[tight][:, free], -border], [np.ones((1, int(free.sum()))), np.zeros((1, 1))]])
            right = np.append(-vertices[tight][:, cut].sum(axis=1), float(changed - int(cut.sum())))
            distortions, weights = cut.astype(float), np.zeros(count)
            distortions[free] = np.linalg.solve(system, right)[:-1]
            weights[tight] = np.linalg.solve(system.T, np.append(np.zeros(free.sum()), -1.0))[:-1]
            found = _proposal(np.clip(distortions, 0, 1), weights)
            least = MassOfPrior(found.weights @ vertices).least_distortion(leakage)
            spent = float((vertices @ found.mechanism.distortions).max())
            enough = abs(float(found.mechanism.distortions.sum() - float(changed))) <= size * _ULP
            if enough and spent - least <= _CLOSE * least:
                return found
        except (SolverError, np.linalg.LinAlgError):
            pass
        # Columns: D_i and the worst distortion; rows: the vertices, D_i <= 1, and the sum.
        rows: list[dict[int, Fraction]] = [{**dict(enumerate(row)), size: Fraction(-1)} for row in self._fractions()]
        rows += [{i: Fraction(1)} for i in range(size)]
        exact = exact_optimum(
            [0] * size + [1],
            [*rows, dict.fromkeys(range(size), Fraction(1))],
            [0] * count + [1] * size + [changed],
            equal=slice(count + size, None),
            start=basis,
        )
        return _exact_proposal(exact.values[:size], exact.duals[:count])

    def _distortion_basis(self, distortion: float) -> Basis:
        """Solve (1) with each row divided by D, and the column of a letter likelier than D scaled by ``D / max_v P_v``."""
        count, size = self._vertices.shape
        peaks = self._vertices.max(axis=0)
        scales = np.where(peaks > distortion, distortion / np.maximum(peaks, distortion), 1.0)
        matrix = np.vstack([self._vertices / np.maximum(peaks, distortion), np.diag(scales)])
        self._start = optimal_basis(-scales, matrix, np.ones(count + size), start=self._start)
        return self._start

    def _leakage_basis(self, changed: float) -> Basis:
        """Solve for the least distortion, its scale being that of the mean of the vertices' knapsacks."""
        count, size = self._vertices.shape
        scale = float(np.sort(self._vertices.mean(axis=0)) @ _first(size, Fraction(changed)))
        matrix = np.zeros((count + size + 1, size + 1))
        matrix[:count, :size], matrix[:count, size] = self._vertices / scale, -1.0
        matrix[count:-1, :size], matrix[-1, :size] = np.eye(size), 1.0
        upper = np.concatenate([np.zeros(count), np.ones(size), [changed]])
        return optimal_basis(np.append(np.zeros(size), 1.0), matrix, upper, equal=slice(count + size, None))

    def _fractions(self) -> list[list[Fraction]]:
        return [list(map(Fraction, row)) for row in self._vertices]


def _first(size: int, changed: Fraction) -> FloatArray:
    """What is given up of each letter in turn if so much is, in all."""
    whole = min(size, math.floor(changed))
    given = np.zeros(size)
    given[:whole] = 1.0
    if whole < size:
        given[whole] = float(changed - whole)
    return given


def _read(basis: Basis, count: int, size: int) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Letters that are given up in part, letters that are given up, and tight vertices."""
    letters, caps = basis.columns[:size], basis.rows[count : count + size]
    return letters & caps, letters & ~caps, ~basis.rows[:count]


def _exact_proposal(values: tuple[Fraction, ...], duals: tuple[Fraction, ...]) -> Proposal:
    total = sum(duals, Fraction(0)) or Fraction(1)
    return _proposal(np.array(values, dtype=float), np.array([dual / total for dual in duals], dtype=float))


def _proposal(distortions: FloatArray, weights: FloatArray) -> Proposal:
    weights = np.clip(weights, 0, None)
    if not weights.any():
        weights = np.ones(len(weights))
    return Proposal(Mechanism.from_distortions(distortions), weights / weights.sum())
