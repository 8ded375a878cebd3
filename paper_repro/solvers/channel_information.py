r"""Mutual and Sibson information over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_information` for
where it does). With distortions ``sum_ij P_v(i) Q_ij d_ij <= D`` for every vertex v,

    mutual information   minimize over Q and r   max_v sum_i P_v(i) KL(Q_i || r)                               (exponential cones)
    Sibson information   minimize over Q and r >= 0   max_v (1/alpha) sum_ij P_v(i) Q_ij^alpha r_j^(1-alpha) + (1 - 1/alpha) sum r

**Lower bounds** for dual variables y of the distortions, in the Lagrangian as penalties ``C_ij = sum_v y_v P_v(i) d_ij``, a prior
P and any u, one number a row:

    mutual information   sum u - log max_j sum_i P_i exp((u_i - C_ij) / P_i) - D sum y                                        (1)
    Sibson information   ( sum u - D sum y ) / max_j ( sum_i P_i (max(0, u_i - C_ij) / P_i)^beta )^(1/beta)  on F           (2)

with ``beta = alpha / (alpha - 1)`` and ``F = exp(leakage / beta)``. (1) is Jensen's inequality, (2) the duality of norms; each
holds whatever u and y are.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import optional
from paper_repro.solvers.channel_mass import without_rounding
from paper_repro.solvers.cones import TwoWayProgram
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["ChannelInformationProgram", "least_information"]

_MOST_CONES = 2000


def least_information(
    alpha: float, prior: FloatArray, penalties: FloatArray, rows: FloatArray, allowance: float
) -> float:
    """Lower bound (1) or (2) in nats on mutual information (alpha = 1) or Sibson information; never below 0.

    Letters without probability under the prior leak nothing and are left out.

    Parameters
    ----------
    alpha : float >= 1
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M, M)
        C.
    rows : ndarray, shape (M,)
        u, dual variables of the rows' sums.
    allowance : float
        ``D sum y``.

    >>> fair, dual = np.full(2, 0.5), math.log(3) / 2
    >>> rows = np.full(2, 0.5 * math.log(3 / 2))  # P_i log of what is kept, 3/4, over what is published, 1/2
    >>> bound = least_information(1, fair, dual * (1 - np.eye(2)), rows, 2 * dual * 0.25)
    >>> round(bound, 9), round(math.log(2) - 0.25 * math.log(4) - 0.75 * math.log(4 / 3), 9)
    (0.130812036, 0.130812036)
    """
    known = prior > 0
    mass, rows = prior[known], rows[known]
    exponents = (rows[:, np.newaxis] - penalties[known]) / mass[:, np.newaxis]
    if alpha == 1:
        peak = exponents.max()
        loads = (mass[:, np.newaxis] * np.exp(exponents - peak)).sum(axis=0)
        return max(0.0, float(rows.sum() - peak) - math.log(float(loads.max())) - allowance)
    beta = alpha / (alpha - 1)
    load = float((mass[:, np.newaxis] * np.clip(exponents, 0, None) ** beta).sum(axis=0).max()) ** (1 / beta)
    worth = float(rows.sum()) - allowance
    return max(0.0, beta * math.log(worth / load)) if worth > 0 and load > 0 else 0.0


class ChannelInformationProgram:
    """The programs of this module in Q and r, solved by Clarabel for each budget.

    What they propose is certified by ``(y, u)``: dual variables of the distortions, shape (V,), and of the rows' sums,
    shape (M,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        Distances d.
    alpha : float >= 1
        1 is mutual information, more is Sibson information of this order.

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.

    >>> program = ChannelInformationProgram(np.full((1, 2), 0.5), 1 - np.eye(2), 1.0)
    >>> program.at_distortion(0.25).mechanism.round(4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, alpha: float) -> None:
        if costs.size > _MOST_CONES:
            raise ValueError(
                f"a channel over {len(costs)} letters makes {costs.size} cones, at most {_MOST_CONES} are solved; take fewer "
                "letters, or a prior with a closed form"
            )
        self._vertices, self._costs, self._alpha = vertices, costs, alpha

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion, which the solver's tolerance may overstep a little."""
        return self._solve(distortion, minimize_leakage=True)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage, which the solver's tolerance may overstep a little."""
        budget = leakage if self._alpha == 1 else math.exp((1 - 1 / self._alpha) * leakage)
        return self._solve(budget, minimize_leakage=False)

    @cached_property
    def _cones(self) -> tuple[TwoWayProgram, Any, Any]:
        """The program, the channel and the constraint that its rows sum to 1; above order 1 the leakage is F."""
        cvxpy = optional("cvxpy", "cones")

        size, alpha = len(self._costs), self._alpha
        matrix, output = cvxpy.Variable((size, size), nonneg=True), cvxpy.Variable((1, size), nonneg=True)
        flat, outputs = cvxpy.vec(matrix, order="C"), cvxpy.vec(np.ones((size, 1)) @ output, order="C")
        each = np.repeat(self._vertices, size, axis=1)
        if alpha == 1:
            leakages, others = each @ cvxpy.rel_entr(flat, outputs), [cvxpy.sum(output) == 1]
        else:
            moments = cvxpy.Variable(size * size)
            leakages = each @ moments / alpha + (1 - 1 / alpha) * cvxpy.sum(output)
            others = [cvxpy.PowCone3D(moments, outputs, flat, 1 / alpha)]
        rows = cvxpy.sum(matrix, axis=1) == 1
        return TwoWayProgram(leakages, (each * self._costs.ravel()) @ flat, [rows, *others]), matrix, rows

    def _solve(self, budget: float, *, minimize_leakage: bool) -> Proposal:
        program, matrix, rows = self._cones
        weights, duals, scale = program.solve(budget, minimize_leakage=minimize_leakage)
        return Proposal(without_rounding(matrix.value), weights, (duals, -rows.dual_value / scale))
