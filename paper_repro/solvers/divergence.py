r"""Mutual information, worst case over a source set: a conic program with one pair of cones per letter.

**Off-diagonals.** ``I(P; Q) = min_r sum_i P_i KL(Q_i || r)``, where r is any distribution of the output. The right
side is linear in P, and convex and lower semicontinuous in r, which ranges over a compact set; so the minimum over r
and the maximum over a hull of P may change places (Fan's minimax theorem), and for a given r the worst P is a vertex.
The largest information over the hull is the least over r of the worst ``sum_i P_v(i) KL(Q_i || r)``, jointly convex
in (Q, r). Given r and the diagonal a, splitting row i's divergence by "kept or not" (chain rule) leaves ``KL`` of the
changed part against r restricted to the other letters, which is 0 for

    Q_ij = (1 - a_i) r_j / (1 - r_i)    (j != i);   row i is the unit vector if r_i = 1.

What remains is binary, with d the binary relative entropy:

    minimize over a, r   max_v  sum_i P_v(i) d(a_i || r_i)
    subject to           P_v . (1 - a) <= D for every v,    r >= 0,  sum r = 1.                          (1)

**Lower bound.** With multipliers w of the maximum (a prior ``P = w . P_v``) and y >= 0 of the distortions (prices
``kappa = sum_v y_v P_v``), minimizing over Q in closed form leaves

    min over r  -sum_i P_i log( r_i + (1 - r_i) exp(-kappa_i / P_i) )  -  D sum_i kappa_i,               (2)

where a letter with P_i = 0 contributes nothing: a bound for any P in the set and any such kappa. Its minimum over r
is found by filling: ``r_i = max(0, u P_i - 1 / (exp(kappa_i / P_i) - 1))`` with the level u at which r sums to 1.
Note that P and the normalized kappa may be different priors: one is worst for the leakage, the other for the
distortion.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.types import FloatArray

__all__ = ["DivergenceOptimum", "DivergenceProgram", "least_mutual_information"]

# Tighter than Clarabel can always reach: it then returns its best, and the certificate decides.
_TOLERANCES = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
# Letters less likely than this, whatever the member of the set, are never published.
_NEGLIGIBLE = 1e-11


def least_mutual_information(prior: FloatArray, prices: FloatArray, distortion: float) -> float:
    """Lower bound (2) in nats on the mutual information of every mechanism whose distortions cost at most D.

    Parameters
    ----------
    prior : ndarray, shape (M,)
    prices : ndarray, shape (M,), >= 0
        What a change of letter i costs, ``sum_v y_v P_v(i)``; infinity is allowed where D = 0.
    distortion : float

    Returns
    -------
    float
        Nats; a bound for every source set that holds ``prior`` and all ``P_v``; never below 0.

    >>> uniform = np.full(10, 0.1)
    >>> tight = least_mutual_information(uniform, uniform * np.log(9 * 0.7 / 0.3), 0.3)  # slope of Lemma 5's curve
    >>> round(tight, 5)
    1.03255
    """
    cost = 0.0 if distortion == 0 else distortion * float(prices.sum())
    likely = prior > 0
    mass, exponent = prior[likely], prices[likely] / prior[likely]
    with np.errstate(divide="ignore", over="ignore"):
        offset = 1 / np.expm1(exponent)
    order = np.argsort(offset / mass)
    active = order[np.isfinite(offset[order])]
    if not len(active):
        return 0.0
    levels = (1 + np.cumsum(offset[active])) / np.cumsum(mass[active])
    level = levels[np.flatnonzero(levels * mass[active] >= offset[active])[-1]]
    fill = np.zeros_like(mass)
    fill[active] = np.maximum(0, level * mass[active] - offset[active])
    fill /= fill.sum()
    survive = np.exp(-exponent)
    return max(0.0, float(-(mass * np.log(survive + fill * -np.expm1(-exponent))).sum()) - cost)


@dataclass(frozen=True)
class DivergenceOptimum:
    """What the program proposes: a matrix, shape (M, M), and multipliers of the vertices, each shape (V,).

    ``weights`` are those of the leakages, scaled to sum to 1, ``multipliers`` those of the distortions, scaled alike.
    """

    matrix: FloatArray
    weights: FloatArray
    multipliers: FloatArray


class DivergenceProgram:
    """Program (1) of this module for one source set, compiled once and solved by Clarabel for each budget.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).
    """

    def __init__(self, vertices: FloatArray) -> None:
        self._known = vertices.max(axis=0) > _NEGLIGIBLE
        self._vertices = vertices[:, self._known]
        self.unknown_mass = float(vertices[:, ~self._known].sum(axis=1).max())

    def at_distortion(self, distortion: float) -> DivergenceOptimum:
        """Least leakage at a distortion above 0 and below the one without leakage."""
        budget = max(distortion - self.unknown_mass, 0.0)
        model = self._least_leakage
        kept, output = model.solve(budget)
        changed = 1 - kept
        changed *= min(1.0, budget / max(float((self._vertices @ changed).max()), 1e-300))
        return self._optimum(changed, output, model)

    def at_leakage(self, leakage: float) -> DivergenceOptimum:
        """Least distortion at a positive leakage; the solver's tolerance may overstep the leakage a little."""
        model = self._least_distortion
        kept, output = model.solve(leakage)
        return self._optimum(1 - kept, output, model)

    @cached_property
    def _least_leakage(self) -> _Model:
        return _Model(self._vertices, minimize_leakage=True)

    @cached_property
    def _least_distortion(self) -> _Model:
        return _Model(self._vertices, minimize_leakage=False)

    def _optimum(self, changed: FloatArray, output: FloatArray, model: _Model) -> DivergenceOptimum:
        size = len(self._known)
        row_output, row_changed = np.zeros(size), np.ones(size)
        row_output[self._known], row_changed[self._known] = output, changed
        others = row_output.sum() - row_output
        share = np.divide(row_changed, others, out=np.zeros(size), where=others > 0)
        matrix = share[:, np.newaxis] * row_output
        np.fill_diagonal(matrix, 1 - row_changed)
        return DivergenceOptimum(matrix, *model.multipliers())


class _Model:
    """The conic program with its budget as a parameter: the other of leakage and distortion is minimized."""

    def __init__(self, vertices: FloatArray, minimize_leakage: bool) -> None:
        import cvxpy

        size = vertices.shape[1]
        self._kept, self._output = cvxpy.Variable(size), cvxpy.Variable(size, nonneg=True)
        self._budget, worst = cvxpy.Parameter(nonneg=True), cvxpy.Variable()
        divergences = cvxpy.rel_entr(self._kept, self._output) + cvxpy.rel_entr(1 - self._kept, 1 - self._output)
        leakage_bound, distortion_bound = (worst, self._budget) if minimize_leakage else (self._budget, worst)
        self._leak = vertices @ divergences <= leakage_bound
        self._change = vertices @ (1 - self._kept) <= distortion_bound
        self._problem = cvxpy.Problem(cvxpy.Minimize(worst), [self._leak, self._change, cvxpy.sum(self._output) == 1])

    def solve(self, budget: float) -> tuple[FloatArray, FloatArray]:
        """The diagonal and the output distribution, on the letters' ranges whatever the solver's tolerance."""
        import cvxpy

        self._budget.value = budget
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the certificate decides
                self._problem.solve(solver="CLARABEL", **_TOLERANCES)
        except cvxpy.SolverError as error:
            raise SolverError(f"Clarabel stopped at budget {budget!r}: {error}") from error
        if self._kept.value is None:
            raise SolverError(f"Clarabel stopped with {self._problem.status} at budget {budget!r}")
        output = np.clip(self._output.value, 0.0, None)
        return np.clip(self._kept.value, 0.0, 1.0), output / output.sum()

    def multipliers(self) -> tuple[FloatArray, FloatArray]:
        """Of the vertices' leakages, scaled to sum to 1, and of their distortions, scaled alike."""
        weights = np.clip(self._leak.dual_value, 0.0, None)
        return weights / weights.sum(), np.clip(self._change.dual_value, 0.0, None) / weights.sum()
