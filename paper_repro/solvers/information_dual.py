r"""The dual of the programs for information, by an interior-point method that is the same for all orders and all channels.

Mutual information and Sibson information of every order alpha >= 1 are one family. With ``c = 1 - 1/alpha`` and
``F = exp(c I_alpha) = sum_j (sum_i P_i Q_ij^alpha)^(1/alpha)``, a sum of norms of columns, the worst over a hull of priors is a
saddle: F is convex in Q and concave in P, so that the least F is the largest value of a dual over the prior ``P = w . P_v``
too. In numbers that have limits at order 1, ``(F - 1) / (alpha - 1)`` at a distortion D, it is

    maximize    sum_i m_i - D sum_v y_v
    subject to  m_i <= e_ij + sum_v y_v P_v(i) d_ij,    sum_i P_i f(e_ij / P_i) <= sum_v w_v = 1 for every output j,    (1)
                w >= 0,  y >= 0,  P_i + (alpha - 1) e_ij >= 0,      f(t) = (1 + (alpha - 1) t)^(alpha / (alpha - 1)),

with ``f(t) = exp(t)`` at order 1; the sum of ``P f(e / P)`` is convex in P and e. At a leakage budget the same with ``sum y = 1``
instead of ``sum w = 1``, and ``- w . 1 (F - 1) / (alpha - 1)`` in the objective, is the least distortion.

The channel is in the multipliers: ``Q_ij`` is that of the first constraint, and the output's weights, but for a factor, that of
the second. The larger the order, the nearer is f to a straight line: where the moments ``Q^alpha`` of the primal program leave
the range of numbers, the dual is next to the linear program of maximal leakage. No powers are formed but of order
1 / (alpha - 1), of ratios, in logarithms.

Every constraint has a slack and a multiplier, whose product is on the way to 0. All but the sums of f are linear, so that slacks
keep their relative precision; and the products wait for the sums, which no step may bend by more than the products are. Newton's
equations are reduced to those of m, the outputs r, y, w and the optimum; what remains of a cell ij is its quadratic form in
``u = dm_i - dC_ij`` with ``C = sum_v y_v P_v(i) d_ij``, in ``dr_j`` and in ``dP_i``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.types import FloatArray

__all__ = [
    "Forms",
    "InformationDual",
    "Multipliers",
    "bound_on_distortion",
    "bound_on_information",
    "scaled_solution",
    "share_within",
]

# Steps at most; a gap that none is needed for, and one from which on so many without progress are the last.
_STEPS, _GOAL, _ENOUGH, _PATIENCE = 500, 1e-11, 1e-9, 12
# How near to a bound a step may go, and by how much the sums of f may bend on it, to the products of slacks and multipliers.
_INSIDE, _OVERSHOOT = 0.95, 3.0
# Products of slacks and multipliers below, to those of the beginning, are nothing.
_LEVEL = 1e-18

Found = TypeVar("Found")


def bound_on_information(alpha: float, worth: float, peak: float, allowance: float) -> float:
    """Lower bound in nats on information, never below 0, where ``F >= (1 + (alpha - 1) worth - c allowance) / exp(c peak)``.

    >>> bound_on_information(1.0, 0.75, 0.25, 0.25)
    0.25
    """
    share = (alpha - 1) / alpha
    if share == 0:
        return max(0.0, worth - allowance - peak)
    excess = (alpha - 1) * worth - share * allowance
    return max(0.0, math.log1p(excess) / share - peak) if excess > -1 else 0.0


def bound_on_distortion(alpha: float, worth: float, peak: float, price: float, leakage: float) -> float:
    """The same, with the distortion times ``price`` for the allowance, solved for the distortion at a leakage; never below 0.

    >>> bound_on_distortion(1.0, 0.75, 0.25, 2.0, 0.25)
    0.125
    """
    share, level = (alpha - 1) / alpha, leakage + peak
    if price == 0 or share * level > 700:
        return 0.0
    allowed = math.expm1(share * level) / share if share > 0 else level
    return max(0.0, (alpha * worth - allowed) / price)


@dataclass(frozen=True)
class Multipliers:
    """What a step of the method proposes: a channel by its cells, what it publishes, and the numbers of the bounds.

    Attributes
    ----------
    cells : ndarray, shape (M, K)
    outputs : ndarray, shape (letters,)
        With sum 1.
    weights, prices : ndarrays, shape (V,)
        Of the vertices, with sum 1, and of their distortions.
    ratios : ndarray, shape (M,)
        ``log x`` of the bounds.
    """

    cells: FloatArray
    outputs: FloatArray
    weights: FloatArray
    prices: FloatArray
    ratios: FloatArray


@dataclass(frozen=True)
class Forms:
    """What Newton's equations hold of each cell, shape (M, K): a quadratic form in ``u = dm - dC``, ``dr`` and ``dP``.

    The cell's share of the channel changes by ``uu * u + ur * dr - up * dP``, its ``P (f - 1)`` by ``ur * u - rr * dr + rp *
    dP``, and what it adds to the slope in P by ``up * u - rp * dr + pp * dP``, each beside what the right sides have of it.
    """

    uu: FloatArray
    ur: FloatArray
    up: FloatArray
    rr: FloatArray
    rp: FloatArray
    pp: FloatArray


class InformationDual(ABC, Generic[Found]):
    """Program (1) over cells: the ways in which a letter can be published, each with its distortion.

    Parameters
    ----------
    alpha : float >= 1
    vertices : ndarray, shape (V, M)
        No letter without any probability.
    costs : ndarray, shape (M, K)
        Distortions of the cells.
    letters : int
        Outputs.
    """

    def __init__(self, alpha: float, vertices: FloatArray, costs: FloatArray, letters: int) -> None:
        self._alpha, self._vertices, self._costs, self._letters = alpha, vertices, costs, letters

    @abstractmethod
    def _sums(self, cells: FloatArray) -> FloatArray:
        """Of what cells hold, shape (M, K), over those that publish each output, shape (letters,)."""

    @abstractmethod
    def _given(self, outputs: FloatArray) -> FloatArray:
        """The adjoint: what the outputs of a cell hold, shape (M, K) or one that is stretched to it, from shape (letters,)."""

    @abstractmethod
    def _step(self, forms: Forms, diagonal: FloatArray, normal: slice, right: FloatArray) -> FloatArray:
        """Newton's step in (m, r, y, w) and the optimum, shape (M + letters + 2 V + 1,), as ``right``.

        ``diagonal``, of r, y and w, is in the system beside the cells' forms, and so is 1 between the optimum and what is
        ``normal``, the place of y or w.
        """

    @abstractmethod
    def _judged(self, found: Multipliers, distortion: float, leakage: float) -> tuple[Found, float]:
        """What multipliers propose within a budget, and its gap: in nats, or at a leakage relative to the distortion."""

    def _ratios(self, places: FloatArray, floors: FloatArray, prior: FloatArray) -> tuple[FloatArray, ...]:
        """Of cells, at ``t = e / P``: ``f' / alpha``; t; ``1 + (alpha - 1) t`` by its slack; and, less 1, f and ``f - t f'``."""
        rate, t = self._alpha - 1, places / prior
        if rate == 0:
            base, logs, lifts = np.ones_like(t), t, np.expm1(t)
        else:
            base = rate * floors / prior
            logs = np.where(t * rate > -0.5, np.log1p(np.maximum(rate * t, -0.5)), np.log(base)) / rate
            lifts = np.expm1(self._alpha * logs)
        above = np.expm1(logs)
        return np.exp(logs), t, base, lifts, above - t - t * above

    @np.errstate(all="ignore")  # what is not finite is not taken
    def _best(self, distortion: float, leakage: float) -> Found:
        """The best of what the steps propose, at a positive distortion or leakage; the other one is infinite."""
        alpha, vertices, costs, letters = self._alpha, self._vertices, self._costs, self._letters
        (count, size), rate, by_distortion = vertices.shape, alpha - 1, math.isfinite(distortion)
        floor = 1 / rate if rate > 0 else 0.0
        allowed = distortion if by_distortion else 0.0
        paid = 0.0 if by_distortion else (math.expm1(rate / alpha * leakage) / rate if rate > 0 else leakage)
        masses = np.repeat(vertices.max(axis=0)[:, np.newaxis], costs.shape[1], axis=1)
        # Products of slacks and multipliers, relative to each other: of cells, their floors, the outputs, w and y.
        shares = [masses, masses * (rate > 0), np.full(letters, 1 / letters), *(np.full(count, 1 / count),) * 2]
        number = sum(float(share.sum()) for share in shares)
        # The beginning keeps all constraints, with numbers of the order of the end: in every output ``P (f - 1)`` adds to -1/4,
        # of which the cells that cost their letters least have P f = 1/2; a distortion's price is what these cells gain by that.
        weights = np.full(count, 1 / count)
        prior, cheapest = (weights @ vertices)[:, np.newaxis], costs == costs.min(axis=1, keepdims=True)
        kept = self._given(self._sums(np.where(cheapest, prior, 0.0)))
        logs = np.log(0.25 + np.where(cheapest, 0.5 / np.maximum(kept, 1e-300), 0.0)) / alpha
        gains = np.expm1(rate * logs) / rate if rate > 0 else logs
        gained = float(prior[:, 0] @ (gains.max(axis=1) - gains.min(axis=1)))
        price = gained / float((vertices @ costs.max(axis=1)).max())
        unit = 1.0 if by_distortion else 1 / price
        weights, prices, prior = unit * weights, unit * price * weights, unit * prior
        places, floors = prior * gains, floor * prior * np.exp(rate * logs) if rate > 0 else np.ones_like(gains)
        reached = places + (prices @ vertices)[:, np.newaxis] * costs
        rows = reached.min(axis=1) - gained * prior[:, 0]
        slacks = [reached - rows[:, np.newaxis], floors, np.full(letters, 0.25 * unit), weights, prices]
        level = size / float((masses / slacks[0]).sum())
        duals = [level * share / slack for share, slack in zip(shares, slacks, strict=True)]
        least_level = _LEVEL * level
        length, best, least, last = 1.0, None, math.inf, 0
        m, r, y = slice(0, size), slice(size, size + letters), slice(size + letters, size + letters + count)
        w = slice(y.stop, y.stop + count)
        for step in range(_STEPS):
            _, floors, _, weights, prices = slacks
            outputs = duals[2]
            level = sum(float((slack * dual).sum()) for slack, dual in zip(slacks, duals, strict=True)) / number
            prior = (weights @ vertices)[:, np.newaxis]
            z, t, base, lifts, by_prior = self._ratios(places, floors, prior)
            first, given = alpha * z, self._given(outputs)
            curved = given * first / base / prior
            missed = self._sums(prior * lifts)
            off = (np.abs(duals[0] + duals[1] - given * first) * (np.abs(places) + slacks[0])).sum()
            off += outputs @ np.abs(missed + slacks[2])
            if off <= number * level:
                level *= 0.1 if length > 0.9 else 0.3 if length > 0.5 else 0.8
            aims = [level * share / slack for share, slack in zip(shares, slacks, strict=True)]
            ties = [dual / slack for slack, dual in zip(slacks, duals, strict=True)]
            # The places' own steps are eliminated: gained + held u - first / whole dr + drawn / whole dP.
            bent = ties[1] + curved
            whole, drawn = ties[0] + bent, curved * t - floor * ties[1]
            gained, held = (aims[0] + aims[1] - given * first) / whole, ties[0] / whole
            forms = Forms(
                held * bent,
                held * first,
                held * drawn,
                first**2 / whole,
                by_prior + first * drawn / whole,
                drawn**2 / whole - curved * t**2 - floor**2 * ties[1],
            )
            fixed = aims[0] - ties[0] * gained
            right = np.concatenate(
                [
                    1 - fixed.sum(axis=1),
                    -missed - level * shares[2] / outputs - self._sums(first * gained),
                    aims[4] - allowed + vertices @ (costs * fixed).sum(axis=1),
                    aims[3] - paid + vertices @ (drawn * gained + floor * aims[1] - given * by_prior).sum(axis=1),
                    [1 - (weights if by_distortion else prices).sum()],
                ]
            )
            diagonal = np.concatenate([-slacks[2] / outputs, ties[4], ties[3]])
            solution = self._step(forms, diagonal, w if by_distortion else y, right)
            if not np.isfinite(solution).all():
                break
            d_prior = (solution[w] @ vertices)[:, np.newaxis]
            u = solution[m, np.newaxis] - (solution[y] @ vertices)[:, np.newaxis] * costs
            d_places = gained + held * u + (drawn * d_prior - first * self._given(solution[r])) / whole
            d_outputs = (level * shares[2] - slacks[2] * (outputs + solution[r])) / outputs
            d_floors = d_places + floor * d_prior if rate > 0 else np.zeros_like(floors)
            d_slacks = [d_places - u, d_floors, d_outputs, solution[w], solution[y]]
            d_duals = [aim - dual - tie * d for aim, dual, tie, d in zip(aims, duals, ties, d_slacks, strict=True)]
            d_duals[2] = solution[r]
            length = _longest_step([*slacks, *duals], [*d_slacks, *d_duals])
            expected = self._sums(first * d_places + by_prior * d_prior)
            for _ in range(60):
                moved = [slack + length * d for slack, d in zip(slacks, d_slacks, strict=True)]
                prior = (moved[3] @ vertices)[:, np.newaxis]
                sums = self._sums(prior * self._ratios(places + length * d_places, moved[1], prior)[3])
                over = sums - missed - length * expected
                if outputs @ over <= _OVERSHOOT * number * level and over.max() <= weights.sum():
                    break
                length *= 0.7
            else:
                break
            places, rows, slacks = places + length * d_places, rows + length * solution[m], moved
            slacks[2] = np.maximum(slacks[2], -sums)
            duals = [dual + length * d for dual, d in zip(duals, d_duals, strict=True)]
            total = slacks[3].sum()
            relative = rows / prior[:, 0]
            found = Multipliers(
                duals[0],
                duals[2] / duals[2].sum(),
                slacks[3] / total,
                alpha * slacks[4] / total,
                np.log1p(rate * relative) / rate if rate > 0 else relative,
            )
            if np.isfinite(found.ratios).all():
                proposed, gap = self._judged(found, distortion, leakage)
                if gap < least:
                    best, least, last = proposed, gap, step
            if least <= _GOAL or level < least_level or (least < _ENOUGH and step > last + _PATIENCE):
                break
        if best is None:
            raise SolverError(
                f"No step was possible at distortion {distortion!r} or leakage {leakage!r} nats. Try a value nearby."
            )
        return best


def _longest_step(places: list[FloatArray], steps: list[FloatArray]) -> float:
    """How much of a step keeps all positive, at most all of it."""
    most = max(float((-step / place).max()) for place, step in zip(places, steps, strict=True))
    return min(1.0, _INSIDE / most) if most > 0 else 1.0


def scaled_solution(system: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a symmetric system, shape (n,), whose rows are of very different sizes, improved once.

    >>> scaled_solution(np.array([[4e-20, 0.0], [0.0, 1.0]]), np.array([8e-20, 1.0]))
    array([2., 1.])
    """
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(system)), 1e-300))
    bare = np.diag(system) == 0
    scale[bare] = 1 / np.abs(system * np.where(bare, 0.0, scale))[bare].max(axis=1)
    system = system * scale[:, np.newaxis] * scale
    try:
        found = np.linalg.solve(system, right * scale)
        return scale * (found + np.linalg.solve(system, right * scale - system @ found))
    except np.linalg.LinAlgError:
        return np.full(len(right), np.nan)


def share_within(alpha: float, leaked: float, leakage: float) -> float:
    """How much of a channel that leaks more is left within a leakage in nats, the rest being its output; rounded down.

    >>> round(share_within(1.0, 0.5, 0.25), 9)
    0.5
    """
    rate = (alpha - 1) / alpha
    share = math.expm1(rate * leakage) / math.expm1(rate * leaked) if rate > 0 else leakage / leaked
    return share * (1 - 1e-13)
