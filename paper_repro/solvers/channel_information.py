r"""Mutual and Sibson information over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_information` for
where it does, and for why ``max_v`` may be taken after the output). With distortions ``sum_ij P_v(i) Q_ij d_ij <= D`` for
every vertex v and weights r of the outputs, every entry is a cell of :mod:`paper_repro.solvers.information_cells` with share
``Q_ij`` and output ``r_j``; the interior-point method of the diagonal solves for all of them, with ``2 M + 2 V + 1``
unknowns a step.

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

from paper_repro.errors import SolverError
from paper_repro.solvers.information_cells import (
    Cells,
    bound_on_distortion,
    bound_on_information,
    in_excess,
    leakage_level,
    longest_step,
    solved,
)
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray

__all__ = ["ChannelInformationProgram", "least_channel_distortion", "least_channel_information"]

_MOST_CELLS = 40_000
# As in the diagonal's program.
_MOMENTS, _GOAL, _ENOUGH = (1.0, 10.0, 0.1), 1e-11, 1e-9
_STEPS, _PATIENCE, _OVERSHOOT = 150, 10, 0.1
# A gap from which on, at large orders at once, other ways are tried, and how many distortions are for a leakage.
_WORTH_SEARCH, _LARGE_ORDER, _SEARCHED = 1e-7, 4.0, 12


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


class ChannelInformationProgram:
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
                f"a channel over {len(costs)} letters has {costs.size} entries, at most {_MOST_CELLS} are solved for; take fewer "
                "letters, or leave the costs out where every change costs the same"
            )
        self._known: NDArray[np.bool_] = np.asarray(vertices.any(axis=0))
        self._vertices, self._costs, self._alpha = vertices[:, self._known], costs[self._known], alpha
        self._whole, self._costs_of_all = vertices, costs

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

    def _best(self, distortion: float, leakage: float) -> Proposal:
        found, least = self._attempts(distortion, leakage)
        if least > _WORTH_SEARCH and math.isfinite(leakage):
            again, gap = self._at_leakage_by_distortions(leakage)
            if gap < least:
                found = again
        if found is None:
            raise SolverError(f"no step was possible at distortion {distortion!r} or leakage {leakage!r}")
        return found

    def _attempts(self, distortion: float, leakage: float) -> tuple[Proposal | None, float]:
        best, least = None, math.inf
        for moment in _MOMENTS:
            found, gap = self._attempt(distortion, leakage, moment, None)
            if found is not None and (best is None or gap < least):
                best, least = found, gap
            if least <= (_ENOUGH if self._alpha < _LARGE_ORDER else _WORTH_SEARCH):
                return best, least
        order, start = _LARGE_ORDER, None
        while order < self._alpha:  # the optimum moves little from one order to the next
            program = ChannelInformationProgram(self._whole, self._costs_of_all, order)
            start = program._attempt(distortion, leakage, _MOMENTS[0], start)[0] or start
            order *= 3
        if start is not None:
            found, gap = self._attempt(distortion, leakage, _MOMENTS[0], start)
            if found is not None and gap < least:
                best, least = found, gap
        return best, least

    def _outputs(self, proposal: Proposal) -> tuple[FloatArray, FloatArray]:
        """A proposal's rows, and the output that is best against its prior."""
        matrix, prior = proposal.mechanism[self._known], proposal.weights @ self._vertices
        peaks = matrix.max(axis=0)
        relative = matrix / np.where(peaks > 0, peaks, 1.0)
        outputs = peaks * (prior @ relative**self._alpha) ** (1 / self._alpha)
        return matrix, outputs / outputs.sum()

    @np.errstate(all="ignore")
    def _at_leakage_by_distortions(self, leakage: float) -> tuple[Proposal | None, float]:
        """Newton's method for the distortion at which so much leaks: the curve is convex but for its logarithm."""
        low, high = 0.0, float((self._vertices @ self._costs).max(axis=0).min())
        distortion, best, least = high / 2, None, math.inf
        share = (self._alpha - 1) / self._alpha
        for _ in range(_SEARCHED):
            found, _ = self._attempts(distortion, math.inf)
            if found is None:
                break
            (matrix, outputs), prices = self._outputs(found), found.certificate[0]
            leaked = self._leaked(matrix, outputs)
            again, gap = self._mended(
                matrix, outputs, (found.weights, prices, found.certificate[1][self._known]), math.inf, leakage
            )
            if gap < least:
                best, least = again, gap
            if least <= _ENOUGH:
                break
            low, high = (distortion, high) if leaked > leakage else (low, distortion)
            slope = float(prices.sum()) / math.exp(share * leaked)
            distortion = distortion + (leaked - leakage) / slope if slope > 0 else high
            if not low < distortion < high:
                distortion = (low + high) / 2
        return best, least

    def _mended(
        self,
        matrix: FloatArray,
        outputs: FloatArray,
        certificate: tuple[FloatArray, ...],
        distortion: float,
        leakage: float,
    ) -> tuple[Proposal, float]:
        """Within its budget, and its gap: in nats at a distortion, relative to the distortion at a leakage."""
        alpha, (weights, prices, ratios) = self._alpha, certificate
        outputs, matrix = outputs / outputs.sum(), matrix / matrix.sum(axis=1, keepdims=True)
        reached = self._spent(matrix)
        if reached > distortion:
            matrix = distortion / reached * matrix
            matrix[:, self._known] += (1 - distortion / reached) * np.eye(len(matrix))
        leaked = self._leaked(matrix, outputs)
        if leaked > leakage:
            rate = (alpha - 1) / alpha
            share = math.expm1(rate * leakage) / math.expm1(rate * leaked) if rate > 0 else leakage / leaked
            share *= 1 - 1e-13
            matrix = share * matrix + (1 - share) * outputs
        prior, penalties = weights @ self._vertices, (prices @ self._vertices)[:, np.newaxis] * self._costs
        price = float(prices.sum())
        if math.isfinite(distortion):
            gap = leaked - least_channel_information(alpha, prior, penalties, ratios, distortion * price)
        else:
            gap = 1 - least_channel_distortion(alpha, prior, penalties, ratios, price, leakage) / self._spent(matrix)
        whole, every = np.tile(outputs, (len(self._known), 1)), np.zeros(len(self._known))
        whole[self._known], every[self._known] = matrix, ratios
        return Proposal(whole, weights, (prices, every)), gap

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

    @np.errstate(all="ignore")  # what is not finite is not taken
    def _attempt(
        self, distortion: float, leakage: float, moment: float, start: Proposal | None
    ) -> tuple[Proposal | None, float]:
        """The best of the points on the way of one interior-point method, and its gap."""
        vertices, alpha, costs = self._vertices, self._alpha, self._costs
        (count, size), letters = vertices.shape, costs.shape[1]
        rate, by_distortion = alpha - 1, math.isfinite(distortion)
        share = rate / alpha
        masses = vertices.max(axis=0)[:, np.newaxis]
        likely = np.full(letters, 1.0 / letters)
        likely[self._known] += vertices.max(axis=0) / vertices.max(axis=0).sum()
        first = likely / likely.sum()
        constant = np.tile(first, (size, 1))
        exact = np.eye(letters)[self._known]
        part = min(0.9, 0.9 * distortion / self._spent(constant)) if by_distortion else 0.5
        matrix = part * constant + (1 - part) * exact
        if start is not None:
            rows_of_start, outputs_of_start = self._outputs(start)
            matrix, first = 0.9 * rows_of_start + 0.1 * matrix, 0.9 * outputs_of_start + 0.1 * first
        total = math.exp(share * (self._leaked(matrix, first) if by_distortion else leakage))
        outputs = first * total
        cells = Cells.with_moments(alpha, matrix, np.broadcast_to(outputs, matrix.shape), moment)
        by_total, less = (1.0, 1.0) if in_excess(alpha) else (rate, 0.0)
        cap = math.inf if by_distortion else leakage_level(alpha, leakage)
        leaked = vertices @ cells.unknowns.sum(axis=1) + by_total * total - less
        spent = vertices @ (matrix * costs).sum(axis=1)
        if by_distortion:
            worst = 1.1 * float(leaked.max()) + 0.1
            slack = np.concatenate([worst - leaked, np.maximum(distortion - spent, 0.1 * distortion)])
        else:
            worst = 1.1 * float(spent.max()) + 0.01
            slack = np.concatenate([np.maximum(cap - leaked, 0.1 * max(1.0, float(leaked.max()))), worst - spent])
        barrier = float((slack[:count] if by_distortion else slack[count:]).mean()) / count
        prices, dual, bound = barrier / slack, barrier * masses / cells.heights, barrier * masses / cells.amounts
        multipliers = np.zeros(size)
        number = 2 * letters * float(masses.sum()) + 2 * count
        progress = missed = strain = 0.0
        best, least, last = None, math.inf, 0
        rows, vs, us = slice(0, count), slice(count, 2 * count), slice(2 * count, 2 * count + size)
        rs, figure = slice(us.stop, us.stop + letters), us.stop + letters
        for step in range(_STEPS):
            level = (float((dual * cells.heights + bound * cells.amounts).sum()) + float(prices @ slack)) / number
            unit = 1.0 if by_distortion else worst
            centered = missed <= 10 * level / unit and strain <= level * number
            barrier = level * ((0.1 if progress > 0.9 else 0.3 if progress > 0.5 else 0.8) if centered else 1.0)
            cells.linearize(barrier * masses, dual, bound)
            fall, pull = cells.by_unknowns / cells.stiffness, cells.moments / cells.stiffness
            slope_q = (cells.by_amounts - cells.amount_pull * fall) / cells.amounts
            slope_r = (cells.by_outputs - cells.output_pull * fall) / outputs
            couple_q, couple_r = cells.amount_pull * pull / cells.amounts, cells.output_pull * pull / outputs
            high, box = cells.peaks / outputs, cells.bound / cells.amounts**2
            give = 1 / (cells.curvature + box)
            lift = give * cells.curvature * high
            system, right = np.zeros((figure + 1, figure + 1)), np.zeros(figure + 1)

            for left, other, per_row in (
                (rows, rows, -(cells.moments * pull + give * couple_q**2)),
                (rows, vs, give * couple_q * costs),
                (vs, vs, -(give * costs**2)),
            ):
                system[left, other] = (vertices * per_row.sum(axis=1)) @ vertices.T
            system[rows, us] = vertices * (give * couple_q).sum(axis=1)
            system[rows, rs] = by_total - vertices @ (couple_r + lift * couple_q)
            system[vs, us], system[vs, rs] = -vertices * (give * costs).sum(axis=1), vertices @ (lift * costs)
            system[us, us], system[us, rs] = -np.diag(give.sum(axis=1)), lift
            system[rs, rs] = np.diag((lift * box * high).sum(axis=0))
            system[range(2 * count), range(2 * count)] -= slack / prices
            right[rows] = -vertices @ (-cells.moments * fall + give * couple_q * slope_q).sum(axis=1) - leaked
            right[vs] = vertices @ (give * slope_q * costs).sum(axis=1) - spent
            right[us] = 1 - (cells.amounts - give * slope_q).sum(axis=1)
            right[rs] = -(slope_r + lift * slope_q).sum(axis=0)
            right[: 2 * count] -= barrier / prices + slack
            capped, freed = (vs, rows) if by_distortion else (rows, vs)
            right[capped] += distortion if by_distortion else cap
            right[freed] += worst
            system[freed, figure] = right[figure] = -1.0
            system = np.triu(system) + np.triu(system, 1).T
            scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(system)), 1e-300))
            scale[figure] = 1 / np.abs(system[: 2 * count, figure] * scale[: 2 * count]).max()
            solution = solved(system * scale[:, np.newaxis] * scale, right * scale) * scale
            if not np.isfinite(solution).all():
                break
            new_prices, new_multipliers, d_outputs = solution[: 2 * count], solution[us], solution[rs]
            priced, fined = (new_prices[part_] @ vertices for part_ in (rows, vs))
            priced, fined = priced[:, np.newaxis], fined[:, np.newaxis]
            d_matrix = (
                -give * (slope_q - couple_q * priced + fined * costs + new_multipliers[:, np.newaxis])
                + lift * d_outputs
            )
            relative = d_matrix / cells.amounts, np.broadcast_to(d_outputs / outputs, matrix.shape)
            move, gain = cells.step(*relative, priced)
            d_slack = barrier / prices - slack / prices * new_prices
            length = longest_step(
                (slack, d_slack), (cells.amounts, d_matrix), (outputs, d_outputs), (cells.slacks, move)
            )
            allowed = _OVERSHOOT * (worst if by_distortion else max(cap, 0.1))
            for _ in range(80):
                moved = outputs + length * d_outputs
                tried = Cells(
                    alpha,
                    cells.amounts + length * d_matrix,
                    np.broadcast_to(moved, matrix.shape),
                    cells.slacks + length * move,
                )
                planned = cells.unknowns + length * cells.moments * gain
                if float((vertices @ (tried.unknowns - planned).sum(axis=1)).max()) <= allowed:
                    break
                length *= 0.7
            else:
                break
            d_dual, d_bound = cells.dual_step(barrier * masses, dual, bound, relative[0], move)
            dual_length = longest_step((prices, new_prices - prices), (dual, d_dual), (bound, d_bound))
            cells, outputs, slack = tried, moved, slack + length * d_slack
            worst += length * float(solution[figure])
            prices = prices + dual_length * (new_prices - prices)
            multipliers = multipliers + dual_length * (new_multipliers - multipliers)
            dual, bound = dual + dual_length * d_dual, bound + dual_length * d_bound
            leaked = vertices @ cells.unknowns.sum(axis=1) + by_total * float(outputs.sum()) - less
            spent = vertices @ (cells.amounts * costs).sum(axis=1)
            progress = min(length, dual_length)
            missed = float(np.abs(leaked - (worst if by_distortion else cap) + slack[rows]).max())
            active = dual * cells.heights * cells.steepness
            priced, fined = (prices[part_] @ vertices for part_ in (rows, vs))
            off = (fined + 0.0)[:, np.newaxis] * costs + multipliers[:, np.newaxis]
            off = off * cells.amounts - (dual * cells.heights + active * cells.by_amount + bound * cells.amounts)
            strain = max(
                float(np.abs(priced[:, np.newaxis] * cells.moments - active * cells.by_unknown).sum()),
                float(np.abs(off).sum()),
                float(np.abs(by_total * prices[rows].sum() * outputs - active.sum(axis=0)).sum()),
            )
            if level < 1e-5:
                weight = float(prices[rows].sum())
                values = -multipliers / priced
                if in_excess(alpha):
                    ratios = (np.log1p(rate * values) - math.log(alpha)) / rate if rate > 0 else values - 1
                    charged = prices[vs] / weight
                else:
                    ratios, charged = np.log(values / alpha) / rate, prices[vs] / weight / rate
                if np.isfinite(ratios).all():
                    found, gap = self._mended(
                        cells.amounts, outputs, (prices[rows] / weight, charged, ratios), distortion, leakage
                    )
                    if gap < least:
                        best, least, last = found, gap, step
                if least <= _GOAL or (least < 0.1 and step > last + _PATIENCE):
                    break
        return best, least
