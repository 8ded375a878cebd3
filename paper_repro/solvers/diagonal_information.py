r"""Mutual and Sibson information, worst case over a source set: a conic program with one pair of cones per letter.

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

**Lower bound.** With dual variables w of the maximum (a prior ``P = w . P_v``) and y >= 0 of the distortions, in the
Lagrangian as penalties ``kappa = sum_v y_v P_v`` of the letters, minimizing over Q in closed form leaves

    min over r  -sum_i P_i log( r_i + (1 - r_i) exp(-kappa_i / P_i) )  -  D sum_i kappa_i,               (2)

where a letter with P_i = 0 contributes nothing: a bound for any P in the set and any such kappa. Its minimum over r
is found by water-filling: ``r_i = max(0, u P_i - 1 / (exp(kappa_i / P_i) - 1))`` with the level u at which r sums to 1.
Note that P and the normalized kappa may be different priors: one is worst for the leakage, the other for the
distortion.

**Sibson information** of an order alpha > 1 is ``min_r log(T) / (alpha - 1)`` with ``T = sum_ij P_i Q_ij^alpha r_j^(1 - alpha)``,
again linear in P and jointly convex in (Q, r). The same off-diagonal entries are best (Hoelder's inequality), and in (1) the
binary moment ``m(a, r) = a^alpha r^(1-alpha) + (1-a)^alpha (1-r)^(1-alpha)`` takes the place of d, with a power cone for each
term. T grows like a power of alpha; its root F does not, and is had by leaving the sum R of r free (the minimum over R is
``T^(1/alpha)``):

    F = min over a, r  max_v (1/alpha) sum_i P_v(i) [a_i^alpha r_i^(1-alpha) + (1-a_i)^alpha (R-r_i)^(1-alpha)] + (1 - 1/alpha) R.

For its lower bound, ``T^(1/alpha) = F(Q) = sum_j (sum_i P_i Q_ij^alpha)^(1/alpha)`` at the best r is a sum of norms, one a
column. By duality of norms (beta = alpha / (alpha - 1)), for any u and any penalties ``C_ij >= 0``,

    F + sum_ij C_ij Q_ij  >=  sum_i u_i  /  max(1, max_j g_j^(1/beta)),    g_j = sum_i P_i (max(0, u_i - C_ij) / P_i)^beta;   (3)

both sides can be scaled with u and C, so a bound that fails ``g_j <= 1`` by rounding is mended by division. With ``C_ij =
kappa_i`` off the diagonal and 0 on it, ``g_j = B + h_j(u_j)`` where B is common to all columns: ``B = sum_i P_i z_i^beta`` with
``z_i = max(0, u_i / P_i - kappa_i / P_i)``, and ``h_j = P_j ((u_j / P_j)^beta - z_j^beta)``. The best u makes ``h_j`` equal to
one number theta for every letter that is published, and has ``z_i = F^(1 - alpha)`` for the others; theta follows from ``B +
theta = 1``.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import optional
from paper_repro.solvers.cones import TwoWayProgram
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["DiagonalInformationProgram", "least_mutual_information", "least_sibson_information"]

# How finely bound (3) is looked for: so many times so many points, and halvings of each letter's interval.
_ROUNDS, _POINTS, _HALVINGS = 4, 33, 45
# Letters less likely than this, whatever the member of the set, are never published.
_NEGLIGIBLE = 1e-11


def least_mutual_information(prior: FloatArray, penalties: FloatArray, distortion: float) -> float:
    """Lower bound (2) in nats on the mutual information of every mechanism of at most distortion D.

    Parameters
    ----------
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M,), >= 0
        kappa, of a change of letter i: ``sum_v y_v P_v(i)``; infinity is allowed where D = 0.
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
    allowance = 0.0 if distortion == 0 else distortion * float(penalties.sum())
    likely = prior > 0
    mass, exponent = prior[likely], penalties[likely] / prior[likely]
    with np.errstate(divide="ignore", over="ignore"):
        offset = 1 / np.expm1(exponent)
    by_level = np.argsort(offset / mass)
    active = by_level[np.isfinite(offset[by_level])]
    if not len(active):
        return 0.0
    levels = (1 + np.cumsum(offset[active])) / np.cumsum(mass[active])
    level = levels[np.flatnonzero(levels * mass[active] >= offset[active])[-1]]
    fill = np.zeros_like(mass)
    fill[active] = np.maximum(0, level * mass[active] - offset[active])
    fill /= fill.sum()
    survive = np.exp(-exponent)
    return max(0.0, float(-(mass * np.log(survive + fill * -np.expm1(-exponent))).sum()) - allowance)


def least_sibson_information(
    alpha: float, prior: FloatArray, penalties: FloatArray, distortion: float, about: float
) -> float:
    """Lower bound (3) in nats on the Sibson information of every mechanism of at most distortion D.

    Parameters
    ----------
    alpha : float > 1
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M,), >= 0
        kappa, of a change of letter i: ``sum_v y_v P_v(i)``, against F; infinity is allowed where D = 0.
    distortion : float
    about : float
        The information that is expected, in nats; it decides how good the bound is.

    >>> uniform = np.full(2, 0.5)
    >>> round(least_sibson_information(2.0, uniform, np.full(2, np.inf), 0.0, math.log(2)), 9), round(math.log(2), 9)
    (0.693147181, 0.693147181)
    """
    likely = prior > 0
    mass, beta = prior[likely], alpha / (alpha - 1)
    relative = penalties[likely] / mass
    most = relative + math.exp(-about * (alpha - 1) ** 2 / alpha)  # F^(1 - alpha), F = exp(about (alpha - 1) / alpha)
    low, high = 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(_ROUNDS):
            levels = np.linspace(low, high, _POINTS)
            ends = _inverse_of_h(levels, mass, relative, beta, most)
            sums = levels + (mass * np.clip(ends - relative, 0, None) ** beta).sum(axis=1)
            place = int(np.searchsorted(sums, 1.0))
            low, high = levels[max(place - 1, 0)], levels[min(place, _POINTS - 1)]
        best = ends[min(place, _POINTS - 1)]
        spread = np.clip(best - relative, 0, None) ** beta
        norms = (mass * spread).sum() + np.append(mass * (best**beta - spread), 0.0)
    worth = float(mass @ best) - (0.0 if distortion == 0 else distortion * float(penalties.sum()))
    scale = max(1.0, float(norms.max()) ** (1 / beta))
    return max(0.0, beta * math.log(worth / scale)) if worth > 0 else 0.0


def _inverse_of_h(
    levels: FloatArray, mass: FloatArray, relative: FloatArray, beta: float, most: FloatArray
) -> FloatArray:
    """Where ``P (z^beta - max(0, z - k)^beta)`` reaches each level, at most ``most``; by bisection, all at once, from below."""
    first = (levels[:, np.newaxis] / mass) ** (1 / beta)  # the answer, if it is not above k
    low, high = np.zeros_like(first), np.where(first <= relative, np.minimum(first, most), most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = mass * (middle**beta - np.clip(middle - relative, 0, None) ** beta) > levels[:, np.newaxis]
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low


class DiagonalInformationProgram:
    """Program (1) of this module for one source set, solved by Clarabel for each budget.

    What it proposes is certified by ``(y,)``, the dual variables of the vertices' distortions, shape (V,); above order 1 against
    F.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).
    alpha : float >= 1
        1 is mutual information, more is Sibson information of this order.

    >>> DiagonalInformationProgram(np.full((1, 2), 0.5), 1.0).at_distortion(0.25).mechanism.round(4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, alpha: float = 1.0) -> None:
        self._known = vertices.max(axis=0) > _NEGLIGIBLE
        self._vertices, self._alpha = vertices[:, self._known], alpha
        self.unknown_mass = float(vertices[:, ~self._known].sum(axis=1).max())

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion above 0 and below the one without leakage."""
        budget = max(distortion - self.unknown_mass, 0.0)
        weights, duals, _ = self._cones[0].solve(budget, minimize_leakage=True)
        changed, output = self._solution()
        changed *= min(1.0, budget / max(float((self._vertices @ changed).max()), 1e-300))
        return Proposal(self._matrix(changed, output), weights, (duals,))

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage; the solver's tolerance may overstep the leakage a little."""
        budget = leakage if self._alpha == 1 else math.exp((1 - 1 / self._alpha) * leakage)
        weights, duals, _ = self._cones[0].solve(budget, minimize_leakage=False)
        return Proposal(self._matrix(*self._solution()), weights, (duals,))

    @cached_property
    def _cones(self) -> tuple[TwoWayProgram, Any, Any]:
        """The program, the diagonal and the output distribution; above order 1 the leakage is F."""
        cvxpy = optional("cvxpy", "cones")

        size, alpha = self._vertices.shape[1], self._alpha
        kept, output = cvxpy.Variable(size), cvxpy.Variable(size, nonneg=True)
        changed = 1 - kept
        if alpha == 1:
            losses = cvxpy.rel_entr(kept, output) + cvxpy.rel_entr(changed, 1 - output)
            leakages, constraints = self._vertices @ losses, [cvxpy.sum(output) == 1]
        else:
            kept_moments, changed_moments, total = cvxpy.Variable(size), cvxpy.Variable(size), cvxpy.sum(output)
            moments = self._vertices @ (kept_moments + changed_moments)
            leakages = moments / alpha + (1 - 1 / alpha) * total
            constraints = [
                cvxpy.PowCone3D(kept_moments, output, kept, 1 / alpha),
                cvxpy.PowCone3D(changed_moments, total - output, changed, 1 / alpha),
                kept >= 0,  # a cone bounds absolute values
                changed >= 0,
            ]
        return TwoWayProgram(leakages, self._vertices @ changed, constraints), kept, output

    def _solution(self) -> tuple[FloatArray, FloatArray]:
        """Letters' distortions and the output distribution, on their ranges whatever the solver's tolerance."""
        _, kept, output = self._cones
        output = np.clip(output.value, 0.0, None)
        return 1 - np.clip(kept.value, 0.0, 1.0), output / output.sum()

    def _matrix(self, changed: FloatArray, output: FloatArray) -> FloatArray:
        size = len(self._known)
        row_output, row_changed = np.zeros(size), np.ones(size)
        row_output[self._known], row_changed[self._known] = output, changed
        others = row_output.sum() - row_output
        share = np.divide(row_changed, others, out=np.zeros(size), where=others > 0)
        matrix = share[:, np.newaxis] * row_output
        np.fill_diagonal(matrix, 1 - row_changed)
        return matrix
