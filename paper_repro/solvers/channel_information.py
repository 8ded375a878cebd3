r"""Mutual and Sibson information over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_information` for
where it does, and for why ``max_v`` may be taken after the output). With distortions ``sum_ij P_v(i) Q_ij d_ij <= D`` for
every vertex v and weights r of the outputs, every entry is a cell of :mod:`paper_repro.solvers.information_dual`, with
``2 M + 2 V + 1`` unknowns a step.

**Lower bound** for dual variables y of the distortions, in the Lagrangian as penalties ``C_ij = sum_v y_v P_v(i) d_ij``, a prior
P and any ``x_i > 0``, one number a row, with ``z_ij^(alpha - 1) = max(0, x_i^(alpha - 1) - (1 - 1/alpha) C_ij / P_i)``:

    F  >=  ( sum_i P_i x_i^(alpha - 1) - (1 - 1/alpha) D sum y ) / ( max_j sum_i P_i z_ij^alpha )^(1 - 1/alpha),

the duality of norms; at order 1, with ``z_ij = x_i exp(-C_ij / P_i)``, Jensen's inequality. It holds whatever x and y are.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from paper_repro.errors import wrong
from paper_repro.solvers.information_dual import (
    Forms,
    InformationDual,
    Multipliers,
    bound_on_distortion,
    bound_on_information,
    scaled_solution,
    share_within,
)
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["ChannelInformationProgram", "least_channel_distortion", "least_channel_information"]

_MOST_CELLS = 40_000


def _supports(alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray) -> tuple[float, float]:
    known, rate = prior > 0, alpha - 1
    mass, logs = prior[known], ratios[known]
    fines = penalties[known] / mass[:, np.newaxis]
    if rate > 0:
        powers = np.expm1(rate * logs)
        with np.errstate(divide="ignore"):
            changed = np.log1p(np.maximum(-1.0, powers[:, np.newaxis] - rate / alpha * fines)) / rate
        worth = float(mass @ powers) / rate
    else:
        changed, worth = logs[:, np.newaxis] - fines, float(mass @ logs)
    peak = float(logs.max())
    return worth, math.log(float((mass @ np.exp(alpha * (changed - peak))).max())) + alpha * peak


def least_channel_information(
    alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray, allowance: float
) -> float:
    """Lower bound in nats on mutual information (alpha = 1) or Sibson information; never below 0.

    Letters without probability under the prior leak nothing and are left out.

    Parameters
    ----------
    alpha : float >= 1
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M, M)
        C; 0 for at least one output of every letter.
    ratios : ndarray, shape (M,)
        ``log x``.
    allowance : float
        ``D sum y``.

    >>> fair, dual = np.full(2, 0.5), math.log(3)
    >>> bound = least_channel_information(1, fair, dual / 2 * (1 - np.eye(2)), np.full(2, math.log(3 / 2)), dual * 0.25)
    >>> round(bound, 9), round(math.log(2) - 0.25 * math.log(4) - 0.75 * math.log(4 / 3), 9)
    (0.130812036, 0.130812036)
    """
    return bound_on_information(alpha, *_supports(alpha, prior, penalties, ratios), allowance)


def least_channel_distortion(
    alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray, price: float, leakage: float
) -> float:
    """The same bound, solved for the distortion at a leakage in nats; never below 0.

    Parameters
    ----------
    alpha : float >= 1
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M, M)
    ratios : ndarray, shape (M,)
    price : float
        ``sum y``.
    leakage : float
        Nats.

    >>> fair, dual = np.full(2, 0.5), math.log(3)
    >>> ratios = np.full(2, math.log(3 / 2))
    >>> round(least_channel_distortion(1, fair, dual / 2 * (1 - np.eye(2)), ratios, dual, 0.130812036), 9)
    0.25
    """
    return bound_on_distortion(alpha, *_supports(alpha, prior, penalties, ratios), price, leakage)


class ChannelInformationProgram(InformationDual[Proposal]):
    """The program of this module in Q and r.

    What it proposes is certified by ``(y, log x)``: prices of the vertices' distortions, shape (V,), and ratios, shape (M,).

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
        if costs.size > _MOST_CELLS:
            raise ValueError(
                wrong(
                    "the number of categories",
                    f"be at most {math.isqrt(_MOST_CELLS)} for a program over all entries of the mechanism",
                    len(costs),
                    "Merge rare categories, or leave costs out where every change costs the same.",
                )
            )
        self._known: NDArray[np.bool_] = np.asarray(vertices.any(axis=0))
        super().__init__(alpha, vertices[:, self._known], costs[self._known], len(costs))

    def at_distortion(self, distortion: float, resolved: float = 0.0) -> Proposal:
        """Least leakage at a distortion above 0 and below the one without leakage; as at ``resolved``, if that is more."""
        if distortion >= resolved:
            return self._best(distortion, math.inf)
        found = self._best(resolved, math.inf)
        free = np.where(self._costs == 0, found.mechanism[self._known], 0.0)
        matrix, share = found.mechanism.copy(), distortion / resolved
        matrix[self._known] *= share
        matrix[self._known] += (1 - share) * free / free.sum(axis=1, keepdims=True)
        return replace(found, mechanism=matrix)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage above 0 and below that of publishing every letter as it is."""
        return self._best(math.inf, leakage)

    def _sums(self, cells: FloatArray) -> FloatArray:
        return np.asarray(cells.sum(axis=0))

    def _given(self, outputs: FloatArray) -> FloatArray:
        return outputs[np.newaxis]

    def _step(self, forms: Forms, diagonal: FloatArray, normal: slice, right: FloatArray) -> FloatArray:
        vertices, costs, (size, letters), count = self._vertices, self._costs, self._costs.shape, len(self._vertices)
        m, r, y = slice(0, size), slice(size, size + letters), slice(size + letters, size + letters + count)
        w, optimum = slice(y.stop, y.stop + count), y.stop + count
        system = np.diag(np.concatenate([forms.uu.sum(axis=1), diagonal, [0.0]]))
        system[r, r] -= np.diag(forms.rr.sum(axis=0))
        system[m, r], system[m, y] = forms.ur, -(vertices * (forms.uu * costs).sum(axis=1)).T
        system[m, w] = -(vertices * forms.up.sum(axis=1)).T
        system[r, y], system[r, w] = -(vertices @ (forms.ur * costs)).T, (vertices @ forms.rp).T
        system[y, y] += (vertices * (forms.uu * costs**2).sum(axis=1)) @ vertices.T
        system[y, w] = (vertices * (forms.up * costs).sum(axis=1)) @ vertices.T
        system[w, w] -= (vertices * forms.pp.sum(axis=1)) @ vertices.T
        system[normal, optimum] = 1.0
        lower = np.tril_indices(len(system), -1)
        system[lower] = system.T[lower]
        return scaled_solution(system, right)

    def _judged(self, found: Multipliers, distortion: float, leakage: float) -> tuple[Proposal, float]:
        alpha, outputs, matrix = self._alpha, found.outputs, found.cells / found.cells.sum(axis=1, keepdims=True)
        if (reached := self._spent(matrix)) > distortion:
            matrix = distortion / reached * matrix
            matrix[:, self._known] += (1 - distortion / reached) * np.eye(len(matrix))
        if (leaked := self._leaked(matrix, outputs)) > leakage:
            share = share_within(alpha, leaked, leakage)
            matrix = share * matrix + (1 - share) * outputs
        prior, penalties = found.weights @ self._vertices, (found.prices @ self._vertices)[:, np.newaxis] * self._costs
        price = float(found.prices.sum())
        if math.isfinite(distortion):
            gap = leaked - least_channel_information(alpha, prior, penalties, found.ratios, distortion * price)
        else:
            least = least_channel_distortion(alpha, prior, penalties, found.ratios, price, leakage)
            gap = 1 - least / self._spent(matrix)
        whole, every = np.tile(outputs, (len(self._known), 1)), np.zeros(len(self._known))
        whole[self._known], every[self._known] = matrix, found.ratios
        return Proposal(whole, found.weights, (found.prices, every)), gap

    def _spent(self, matrix: FloatArray) -> float:
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def _leaked(self, matrix: FloatArray, outputs: FloatArray) -> float:
        """Worst information against the outputs, in nats: an upper bound on what the channel leaks."""
        rate = self._alpha - 1
        logs = np.log(np.where(matrix > 0, matrix, 1.0) / np.where(matrix > 0, outputs, 1.0))
        if rate == 0:
            return float((self._vertices @ (matrix * logs).sum(axis=1)).max())
        if (top := max(0.0, float((rate * logs).max()))) > 1:
            letters = (matrix * np.exp(rate * logs - top)).sum(axis=1)
            return (top + math.log(float((self._vertices @ letters).max()))) / rate
        return math.log1p(float((self._vertices @ (matrix * np.expm1(rate * logs)).sum(axis=1)).max())) / rate
