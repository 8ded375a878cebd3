r"""Renyi differential privacy over the whole channel, by Newton's method: any order, neighbors, distances and source set.

For neighbors i, k and an order alpha the Renyi divergence ``D_ik`` is at most a level L if and only if

    F_ik(Q) = sum_j Q_ij E(log Q_ij - log Q_kj - L)  <=  0,        E(x) = (exp((alpha - 1) x) - 1) / (alpha - 1),

and ``E(x) = x`` at alpha = 1. F is jointly convex in the two rows, homogeneous, and ``F_ik(Q) = E(D_ik - L)``: numbers of order
1, with no cancellation for orders near 1 and no overflow for large ones, whatever the leakage. Nothing smaller than a program
in the M x M entries is known for a general prior:

    minimize L  subject to  D_ik <= L,  sum_ij P_v(i) Q_ij d_ij <= D for every vertex v,  rows of Q sum to 1,  Q >= 0,        (1)

or D at a given L. An interior point follows the solutions of the conditions of optimality in which every product of a
constraint's slack and its multiplier is a common number that goes to 0. All steps are in relative changes of the entries, so
that entries of 1e-300 and of 1 are alike; constraints that bind keep their own rows in Newton's equations. Large orders are
reached through smaller ones. Where one way stalls another is tried; none is trusted.

**Lower bounds.** For weights lambda of the pairs (summing to 1) and dual variables y of the distortions, ``sum lambda_ik F_ik``
is convex and homogeneous, so that a tangent plane at any positive X lies below it, and every channel that keeps the distortions
has

    max F_ik  >=  B = sum_i min_j [ G_ij + sum_v y_v P_v(i) d_ij ]  -  D sum_v y_v,                                           (2)

with G the gradient of ``sum lambda_ik F_ik`` at X; so its leakage is at least ``L + log(1 + (alpha - 1) B) / (alpha - 1)``, for
any L. A channel that leaks at most L has F <= 0, so that, whatever the weights sum to, its worst distortion is at least

    sum_i min_j [ G_ij + sum_v y_v P_v(i) d_ij ]  /  sum_v y_v.                                                               (3)

Both hold whatever lambda, y and X are. The interior point ends at multipliers and an X for which they are the optimum, up to
rounding: X is the channel itself, but for letters that are never published. Their columns vanish in directions that may be lost
on the way, and are found again from the others' prices (:mod:`paper_repro.solvers.column_moment`). Only the mixture of the
vertices by y enters: it forces the result by itself.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import wrong
from paper_repro.solvers.column_moment import moment_gradient, moment_terms, priced_columns
from paper_repro.solvers.games import PerfectPrivacy, perfect_privacy
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = ["ChannelMomentProgram", "least_renyi_distortion", "least_renyi_divergence", "renyi_divergences"]

# Unknowns: Newton's equations are dense, and take 4 GB.
_MOST_LETTERS = 64
_STEPS, _HALVINGS, _FAILURES = 350, 20, 12
# Certified gaps, in nats or relative to the distortion, that are aimed at, and those beyond which another way is tried.
_AIM, _ENOUGH, _ACCEPTED = 1e-11, 2e-10, 1e-7
# What is aimed at where a curve may be steep, relative to the distortion, and points of it that are tried.
_STEEP, _TRIALS = 1e-14, 30
# Constraints with a larger ratio of multiplier and slack have a row of their own.
_STIFF = 1e3
# Exponents beyond are as good as infinite; the largest whose exponential is a number, and some to spare.
_MOST, _LARGEST = 300.0, 700.0
# What sums of M numbers may be off, for each of them.
_ROUNDING = 4e-16
# Columns with an entry above are published; the others are given the tangents that prove most, with so much to spare.
_PUBLISHED, _SPARE = 1e-5, 1e-11
# Weights of pairs are raised to such parts of their sum: those that bind nothing may be lost, but serve columns not published.
_LEAST_WEIGHTS = (0.0, 1e-12, 1e-9)
# The share of what a channel that is changed evenly spends, below which another start is taken.
_FAR_LESS = 0.1


def renyi_divergences(order: float, logs: FloatArray, pairs: IntArray) -> FloatArray:
    """Renyi divergence in nats of each pair of rows, shape (pairs,), from the logarithms of positive entries, shape (M, outputs).

    Accurate relative to the divergence, also where rows are all but equal: their sums to 1 are used.

    >>> keep = np.log([[0.75, 0.25], [0.25, 0.75]])
    >>> renyi_divergences(2.0, keep, np.array([[0, 1]])), np.log(7 / 3)
    (array([0.8473]), np.float64(0.8473))
    """
    upper, lower = logs[pairs[:, 0]], logs[pairs[:, 1]]
    given, ratios = np.exp(upper), upper - lower
    near = np.abs(ratios) < 1
    change = np.where(near, np.exp(lower) * np.expm1(np.where(near, ratios, 0.0)), given - np.exp(lower))
    if order == 1:
        return np.maximum((given * ratios - change).sum(axis=1), 0.0)
    tilts = (order - 1) * ratios
    close = np.abs(tilts).max(axis=1, initial=0.0) < 0.5
    gains = given * np.expm1(np.where(close[:, np.newaxis], tilts, 0.0))
    small = np.log1p(np.maximum((gains - (order - 1) * change).sum(axis=1), 0.0))
    exponents = upper + tilts
    top = exponents.max(axis=1, initial=-np.inf)
    large = np.maximum(top + np.log(np.exp(exponents - top[:, np.newaxis]).sum(axis=1)), 0.0)
    return np.where(close, small, large) / (order - 1)


def least_renyi_divergence(
    order: float,
    pairs: IntArray,
    weights: FloatArray,
    logs: FloatArray,
    penalties: FloatArray,
    allowance: float,
    level: float,
) -> float:
    """Lower bound (2) in nats on the Renyi leakage of every mechanism whose distortions are penalized with at most an allowance.

    Parameters
    ----------
    order : float >= 1
    pairs : ndarray, shape (pairs, 2)
        Neighbors i, k, in both orders.
    weights : ndarray, shape (pairs,), >= 0
        lambda; they are made to sum to 1.
    logs : ndarray, shape (M, M)
        Logarithms of X, the point of the tangent plane; each column up to a factor.
    penalties : ndarray, shape (M, M)
        Of publishing j in place of i, ``sum_v y_v P_v(i) d_ij``.
    allowance : float
        ``D sum_v y_v``.
    level : float
        L, in nats.

    >>> both, keep = np.array([[0, 1], [1, 0]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> level = math.log(0.7**2 / 0.3 + 0.3**2 / 0.7)
    >>> slope = 2 * (0.7 / 0.3 - 0.3 / 0.7) + (0.7 / 0.3) ** 2 - (0.3 / 0.7) ** 2  # of the moment, along the diagonal
    >>> penalties = slope / math.exp(level) / 2 * (1 - np.eye(2))
    >>> least_renyi_divergence(2, both, np.ones(2), np.log(keep), penalties, 0.6 * penalties[0, 1], level), level
    (0.566395, 0.566395)
    """
    gradient = moment_gradient(order, pairs, weights / weights.sum(), logs, level) * np.exp(-logs)
    bound = max(
        _least(gradient, penalties, by) - by * allowance
        for by in _multiples(lambda chosen: bool(penalties[chosen].sum() > allowance), gradient, penalties)
    )
    if (order - 1) * bound <= -1:
        return 0.0
    return max(0.0, level + _lowered(order, bound))


def least_renyi_distortion(
    order: float,
    pairs: IntArray,
    weights: FloatArray,
    logs: FloatArray,
    penalties: FloatArray,
    total: float,
    level: float,
) -> float:
    """Lower bound (3) on the worst distortion of every mechanism that leaks at most ``level`` nats; ``total`` is ``sum_v y_v``.

    Parameters
    ----------
    order, logs, level
        Those of :func:`least_renyi_divergence`; logs have shape (M, M).
    pairs, weights : ndarrays, shape (pairs, 2) and (pairs,)
        Here weights count as they are.
    penalties : ndarray, shape (M, M)
    total : float

    >>> both, keep = np.array([[0, 1], [1, 0]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> level = math.log(0.7**2 / 0.3 + 0.3**2 / 0.7)
    >>> slope = 2 * (0.7 / 0.3 - 0.3 / 0.7) + (0.7 / 0.3) ** 2 - (0.3 / 0.7) ** 2
    >>> penalties = slope / math.exp(level) / 2 * (1 - np.eye(2))
    >>> least_renyi_distortion(2, both, np.ones(2) / 2, np.log(keep), penalties, 2 * penalties[0, 1], level)
    0.3
    """
    gradient = moment_gradient(order, pairs, weights, logs, level) * np.exp(-logs)
    bound = max(
        _least(gradient, penalties, by) / by
        for by in _multiples(lambda chosen: bool(gradient[chosen].sum() < 0), gradient, penalties)
    )
    return max(0.0, float(bound / total)) if total > 0 else 0.0


def _least(gradient: FloatArray, penalties: FloatArray, by: float) -> float:
    """``sum_i min_j`` of the bounds, less what rounding may have added."""
    sums, rows = gradient + by * penalties, np.arange(len(gradient))
    chosen = rows, sums.argmin(axis=1)
    return float(sums[chosen].sum() - _ROUNDING * np.abs(gradient[chosen]).sum())


def _multiples(
    more: Callable[[tuple[IntArray, IntArray]], bool], gradient: FloatArray, penalties: FloatArray
) -> tuple[float, ...]:
    """By how much to multiply the penalties: bounds are concave in it, or rise and fall; ``more`` has the sign of their slopes.

    Another level is another multiple, of ``exp((alpha - 1) x)`` at x nats more; so is what rounding takes from large numbers.
    """

    def rises(log: float) -> bool:
        return more((rows, (gradient + math.exp(log) * penalties).argmin(axis=1)))

    rows, low, high = np.arange(len(gradient)), -1.0, 1.0
    most = min(_MOST, _LARGEST - math.log(max(1.0, float(penalties.max()))))
    while 2 * high < most and rises(high):
        low, high = high, 2 * high
    while low > -_MOST and not rises(low):
        low, high = 2 * low, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    return 1.0, math.exp(low), math.exp(high)


@dataclass(frozen=True)
class _Found:
    """The best channel so far and the best multipliers so far, and what they are worth."""

    logs: FloatArray
    weights: FloatArray
    duals: FloatArray
    tangent: FloatArray
    figure: float = math.inf
    bound: float = 0.0
    gap: float = math.inf


class ChannelMomentProgram:
    """Program (1) of this module.

    What it proposes is certified by ``(lambda, y, log X)``: weights of the pairs, shape (pairs,), dual variables of the vertices'
    distortions, shape (V,), and the point of the tangent plane, shape (M, M).

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
        If there are more than 64 letters.

    >>> program = ChannelMomentProgram(np.full((1, 2), 0.5), 1 - np.eye(2), np.array([[0, 1], [1, 0]]), 2.0)
    >>> program.at_leakage(math.log(7 / 3)).mechanism.round(9).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, pairs: IntArray, alpha: float) -> None:
        if len(costs) > _MOST_LETTERS:
            raise ValueError(
                wrong(
                    "the number of categories",
                    f"be at most {_MOST_LETTERS} for Rényi divergences, whose equations are dense",
                    len(costs),
                    "Merge rare categories, or take a source set that contains the uniform distribution, where randomized "
                    "response is optimal for any number.",
                )
            )
        self._vertices, self._costs, self._pairs, self._alpha = vertices, costs, pairs, alpha
        self._changes = (vertices[:, :, np.newaxis] * costs).reshape(len(vertices), -1)

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion above 0 and below the one without leakage."""
        return self._proposal(self._least_leakage(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive, finite leakage."""
        found = self._least_distortion(leakage)
        if found.gap > _ACCEPTED:
            found = min(found, self._by_distortions(leakage, found), key=lambda which: which.gap)
        return self._proposal(found)

    def _least_distortion(self, leakage: float, aim: float = _AIM) -> _Found:
        found = _Search(self, leakage, by_distortion=False, patience=0.0, careful=False, aim=aim).run()
        if found.gap <= _ENOUGH:
            return found
        other = _Search(self, leakage, by_distortion=False, patience=0.0, aim=aim).run()
        return min(found, other, key=lambda which: which.gap)

    def _least_leakage(self, distortion: float) -> _Found:
        found = _Search(self, distortion, by_distortion=True, patience=10.0).run()
        if found.gap <= _ENOUGH:
            return found
        if found.gap > _ACCEPTED:
            found = min(found, self._by_leakages(distortion, found), key=lambda which: which.gap)
            if found.gap <= _ENOUGH:
                return found
        for patience, careful in ((40.0, True), (3.0, True), (0.0, False)):
            other = _Search(self, distortion, by_distortion=True, patience=patience, careful=careful).run()
            found = min(found, other, key=lambda which: which.gap)
            if found.gap <= _ACCEPTED:
                break
        return found

    def _by_leakages(self, distortion: float, best: _Found) -> _Found:
        """The leakage whose least distortion is this one: Newton's method between two that enclose it."""
        low, high = best.bound, min(best.figure, 600.0)
        place, aim = best.figure if best.figure <= high else 1.0, distortion * (1 - _STEEP)
        width = math.inf
        for _ in range(_TRIALS):
            tried = self._least_distortion(place, _STEEP)
            weight, price = float(tried.weights.sum()), float(tried.duals.sum())
            if not (weight > 0 and price > 0 and tried.gap <= _ACCEPTED):
                break
            if tried.figure <= distortion and place < best.figure:
                best = replace(best, logs=tried.logs, figure=place)
            # All multipliers prove most at their own level.
            duals, tangent = tried.duals / weight, tried.tangent
            bound = self._proved(tried.weights / weight, duals, tangent, distortion, place)
            if bound > best.bound:
                best = replace(best, weights=tried.weights / weight, duals=duals, tangent=tangent, bound=bound)
            best = replace(best, gap=best.figure - best.bound)
            if best.gap <= _ENOUGH:
                break
            low, high = (place, high) if tried.figure > aim else (low, place)
            change = (tried.figure - aim) * price / weight
            following = place + _lowered(self._alpha, change) if (self._alpha - 1) * change > -1 else -math.inf
            creeps, width = high - low > 0.5 * width, high - low
            place = following if low < following < high and not creeps else (low + high) / 2
        return best

    def _proved(
        self, weights: FloatArray, duals: FloatArray, tangent: FloatArray, distortion: float, level: float
    ) -> float:
        penalties, allowance = self._penalties(duals), distortion * float(duals.sum())
        return least_renyi_divergence(self._alpha, self._pairs, weights, tangent, penalties, allowance, level)

    def _by_distortions(self, leakage: float, best: _Found) -> _Found:
        """The distortion whose least leakage is this one: Newton's method in its logarithm, between two that enclose it."""
        high = math.log(self._perfect.distortion)
        low = high - leakage - 10.0 - math.log(len(self._costs))
        place = math.log(best.figure) if best.figure < self._perfect.distortion else (low + high) / 2
        aim, width = leakage * (1 - 1e-11), math.inf
        for _ in range(_TRIALS):
            tried = _Search(self, math.exp(place), by_distortion=True, patience=10.0).run()
            bound = self._bounded(tried.tangent, tried.weights, tried.duals, leakage)
            if bound > best.bound:
                best = replace(best, weights=tried.weights, duals=tried.duals, tangent=tried.tangent, bound=bound)
            spent = float((self._changes @ np.exp(tried.logs).ravel()).max())
            if tried.figure <= leakage and spent < best.figure:
                best = replace(best, logs=tried.logs, figure=spent)
            best = replace(best, gap=1 - best.bound / best.figure)
            if best.gap <= _ACCEPTED / 100:
                break
            low, high = (place, high) if tried.figure > aim else (low, place)
            slope = float(tried.duals.sum()) * math.exp(place)
            following = place + (tried.figure - aim) / slope if slope > 0 else math.inf
            creeps, width = high - low > 0.5 * width, high - low
            place = following if low < following < high and not creeps else (low + high) / 2
        return best

    @cached_property
    def _perfect(self) -> PerfectPrivacy:
        return perfect_privacy(self._vertices, self._costs)

    def _bounded(self, tangent: FloatArray, weights: FloatArray, duals: FloatArray, leakage: float) -> float:
        return least_renyi_distortion(
            self._alpha, self._pairs, weights, tangent, self._penalties(duals), float(duals.sum()), leakage
        )

    def _penalties(self, duals: FloatArray) -> FloatArray:
        return (duals @ self._vertices)[:, np.newaxis] * self._costs

    def _proposal(self, found: _Found) -> Proposal:
        return Proposal(np.exp(found.logs), found.duals, (found.weights, found.duals, found.tangent))


class _Search:
    """An interior point of program (1): one budget, and what it minimizes, the level L or the unit of distortion.

    Duals and slacks are those of the pairs and then of the vertices; ``held`` are the multipliers of ``Q >= 0`` times the
    entries. Constraints on what is minimized have multipliers that sum to 1. Distortions are in a unit, F at a level; after
    each step what was minimized becomes the new unit or level, so that all numbers stay of order 1.
    """

    def __init__(
        self,
        program: ChannelMomentProgram,
        budget: float,
        *,
        by_distortion: bool,
        patience: float,
        careful: bool = True,
        aim: float = _AIM,
    ) -> None:
        self._careful, self._aim = careful, aim
        self._program, self._budget, self._by, self._patience = program, budget, by_distortion, patience
        self._alpha, self._pairs, self._changes = program._alpha, program._pairs, program._changes
        self._size, self._count, vertices = len(program._costs), len(self._pairs), len(program._vertices)
        letters = np.arange(self._size)
        self._cells = np.arange(self._size**2)
        self._first = (self._pairs[:, :1] * self._size + letters).ravel()
        self._second = (self._pairs[:, 1:] * self._size + letters).ravel()
        self._goal: BoolArray = (np.arange(self._count + vertices) < self._count) == by_distortion
        # What rounding may overspend is left.
        kept = budget * (1 - 2e-13 if by_distortion else 1 - 2e-15 * self._size)
        # Large orders are reached through smaller ones: 1 / (order - 1) is larger by so much.
        self._blunt = max(0.0, 0.5 - 1 / (self._alpha - 1)) if self._alpha > 1 else 0.0
        self._order = self._sharpened()
        self._logs = self._spread(kept) if by_distortion else self._within(kept)
        leakage, spent = float(self._leakages().max()), self._spent()
        self._level, self._unit = (1.2 * leakage + 0.1, kept) if by_distortion else (kept, 1.5 * float(spent.max()))
        if by_distortion and self._order > 1:
            self._level = min(self._level, leakage + 0.5 / (self._order - 1))
        self._slack = np.concatenate([-_lifted(self._order, self._leakages(), self._level), 1 - spent / self._unit])
        self._mu = 1 / float((1 / self._slack)[self._goal].sum())
        self._dual = self._mu / self._slack
        self._held = np.full(self._size**2, self._mu)
        self._rates = np.zeros(self._size)
        self._found = _Found(self._logs, self._dual[: self._count], self._dual[self._count :], self._logs)

    def run(self) -> _Found:
        """Steps until the certificate closes, or none helps any more."""
        from scipy.linalg import LinAlgWarning

        _, excess, stationary = self._residuals(self._logs, self._dual, self._slack, self._held, self._rates, 0.0)
        failures, priced = 0, 1e-8
        with np.errstate(all="ignore"), warnings.catch_warnings():  # a step that fails is not taken
            warnings.simplefilter("ignore", LinAlgWarning)
            for _ in range(_STEPS):
                length, near, move = self._step(excess, stationary)
                failures = 0 if length > 0 else failures + 1
                sharper = False
                if not self._careful:
                    self._mu = self._center(length)
                    sharper = self._blunt > 0
                elif near or not length:
                    self._mu *= 0.12 if length > 0.9 and not self._blunt else 0.3
                    sharper = self._blunt > 0
                self._rescale(move)
                if sharper:
                    self._sharpen()
                values, excess, stationary = self._residuals(
                    self._logs, self._dual, self._slack, self._held, self._rates, 0.0
                )
                self._slack = np.maximum(0.5 * self._slack, -values)
                excess = values + self._slack
                if not self._blunt and self._mu < 1e-5:
                    self._judge()
                if _ENOUGH < self._found.gap < math.inf and self._mu < priced and not self._blunt:
                    self._price()
                    priced = 1e-3 * self._mu
                if self._found.gap <= self._aim or self._mu < 1e-18 or failures > _FAILURES:
                    break
            if _ENOUGH < self._found.gap < math.inf and not self._blunt:
                self._price()
        return self._found

    def _center(self, length: float) -> float:
        """The next barrier after a step of some length: the mean of all products, less where they are balanced."""
        products = np.concatenate([self._dual * self._slack, self._held])
        mean = float(products.mean())
        balance = float(products.min()) / mean
        share = 0.12 if length > 0.9 else 0.4 if length > 0.5 else 0.8
        return mean * (1.0 if balance < 0.005 else max(0.5, share) if balance < 0.05 else share)

    def _spread(self, spent: float) -> FloatArray:
        """Logarithms of a channel that spends a distortion evenly on the rows: rare letters may be changed often."""
        size, peaks = self._size, self._program._vertices.max(axis=0) * self._program._costs.mean(axis=1)
        changed = np.minimum(
            0.999 * (size - 1) / size, 0.9 * spent / size / np.maximum(peaks, 1e-300) * (size - 1) / size
        )
        logs = np.repeat(np.log(changed / (size - 1))[:, np.newaxis], size, axis=1)
        np.fill_diagonal(logs, np.log1p(-changed))
        return logs

    def _within(self, leakage: float) -> FloatArray:
        """Logarithms of a channel that leaks less: changed evenly, or the constant answer with a part of the truth."""
        enough, even = max(0.8 * leakage, leakage - 0.5), np.eye(self._size, dtype=bool)
        odds = max(enough, math.sqrt(leakage / self._alpha))
        kept = -math.log1p((self._size - 1) * math.exp(-odds))
        tried = [np.where(even, kept, kept - odds)]
        without = self._program._perfect
        constant = np.maximum(without.letters, 0.1 * min(1.0, without.distortion) / self._size)
        constant = np.log(constant / constant.sum())

        def mixed(log: float) -> FloatArray:
            """The constant answer, and a part of the truth."""
            return np.logaddexp(constant + math.log1p(-math.exp(log)), np.where(even, log, -np.inf))

        for family, falls, low, high in (
            (lambda log: self._spread(math.exp(log)), True, -leakage - 3 * math.log(self._size) - 40, 5.0),
            (mixed, False, -745.0, -1e-3),
        ):
            for _ in range(40):
                middle = (low + high) / 2
                leaks = renyi_divergences(self._alpha, family(middle), self._pairs).max() > enough
                low, high = (middle, high) if leaks == falls else (low, middle)
            tried.append(family(high if falls else low))
        inside = [renyi_divergences(self._alpha, logs, self._pairs).max() <= enough * (1 + 1e-12) for logs in tried]
        spread = tried[1] if leakage > 0.05 and inside[1] and enough < 0.95 * leakage else tried[0]
        if not inside[2] or self._spent_by(tried[2]) > _FAR_LESS * self._spent_by(spread):
            return spread
        return tried[2]

    def _spent_by(self, logs: FloatArray) -> float:
        return float((self._changes @ np.exp(logs).ravel()).max())

    def _leakages(self) -> FloatArray:
        return renyi_divergences(self._order, self._logs, self._pairs)

    def _spent(self) -> FloatArray:
        return self._changes @ np.exp(self._logs).ravel()

    def _sharpened(self) -> float:
        return 1 + 1 / (1 / (self._alpha - 1) + self._blunt) if self._blunt else self._alpha

    def _sharpen(self) -> None:
        """A larger order, but none for which the pairs' slacks, at this distance from the optimum, are beyond all moments."""
        weight = float(self._dual[: self._count].sum())
        least = self._patience * (len(self._dual) + len(self._held)) * self._mu / weight
        self._blunt = max(0.3 * self._blunt, min(self._blunt, least))
        if self._blunt < 0.05 / (self._alpha - 1):
            self._blunt = 0.0
        self._order = self._sharpened()

    def _residuals(
        self, logs: FloatArray, dual: FloatArray, slack: FloatArray, held: FloatArray, rates: FloatArray, goal: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The constraints' values; by how much they and their slacks miss what they may be; the Lagrangian's gradient."""
        entries = np.exp(logs)
        leakages = renyi_divergences(self._order, logs, self._pairs)
        values = np.concatenate(
            [_lifted(self._order, leakages, self._level), self._changes @ entries.ravel() / self._unit - 1]
        )
        slope = (
            moment_gradient(self._order, self._pairs, dual[: self._count], logs, self._level)
            - entries * rates[:, np.newaxis]
        )
        spent = (dual[self._count :] / self._unit) @ self._changes * entries.ravel()
        return values, values + slack - self._goal * goal, slope.ravel() + spent - held

    def _direction(self, excess: FloatArray, stationary: FloatArray) -> tuple[FloatArray, ...]:
        """Newton's step: relative changes of the entries; of rows' multipliers, the goal, duals, slacks and what is held."""
        from scipy.linalg import lu_factor, lu_solve

        size, count, cells = self._size, self._count, self._cells
        entries, dual, slack, goal = np.exp(self._logs), self._dual, self._slack, self._goal.astype(float)
        moments, gains = moment_terms(self._order, self._logs, self._pairs, self._level)
        slopes = np.zeros((len(dual), len(cells)))
        rows = np.repeat(np.arange(count), size)
        slopes[rows, self._first], slopes[rows, self._second] = (moments + gains).ravel(), -moments.ravel()
        slopes[count:] = self._changes * (entries.ravel() / self._unit)
        stiffness = dual / slack
        tight = stiffness > _STIFF
        bound, free, soft, off = slopes[tight], slopes[~tight], stiffness[~tight], goal[~tight]
        last = len(cells) + size
        system = np.zeros((last + 1 + len(bound),) * 2)
        curvature = (self._order * dual[:count, np.newaxis] * moments).ravel()
        system[self._first, self._second] -= curvature
        system[self._second, self._first] -= curvature
        diagonal = np.bincount(self._first, curvature, len(cells)) + np.bincount(self._second, curvature, len(cells))
        system[cells, cells] = diagonal + self._held
        system[: len(cells), : len(cells)] += (free.T * soft) @ free
        owners = len(cells) + np.repeat(np.arange(size), size)
        system[cells, owners] = system[owners, cells] = -entries.ravel()
        system[: len(cells), last] = system[last, : len(cells)] = -(free.T @ (soft * off))
        system[last, last] = soft @ off
        system[: len(cells), last + 1 :], system[last + 1 :, : len(cells)] = bound.T, bound
        system[last, last + 1 :] = system[last + 1 :, last] = -goal[tight]
        corner = np.arange(last + 1, len(system))
        system[corner, corner] = -1 / stiffness[tight]
        wanted = slack - excess - self._mu / dual
        target = np.concatenate(
            [
                self._mu - self._held - stationary + free.T @ (soft * wanted[~tight]),
                entries.sum(axis=1) - 1,
                [dual[self._goal].sum() - 1 - (soft * off) @ wanted[~tight]],
                wanted[tight],
            ]
        )
        scale = np.ones(len(system))
        scale[: len(cells)] = (system[cells, cells] + (bound**2).sum(axis=0)) ** -0.5
        factors = lu_factor(system * scale[:, np.newaxis] * scale, check_finite=False)
        found = scale * lu_solve(factors, scale * target, check_finite=False)
        found += scale * lu_solve(factors, scale * (target - system @ found), check_finite=False)
        change = found[: len(cells)]
        duals = stiffness * (slopes @ change - goal * found[last] - wanted)
        duals[tight] = found[last + 1 :]
        slacks = (self._mu - dual * slack - slack * duals) / dual
        return (
            change,
            found[len(cells) : last],
            found[last : last + 1],
            duals,
            slacks,
            self._mu - self._held * (1 + change),
        )

    def _step(self, excess: FloatArray, stationary: FloatArray) -> tuple[float, bool, float]:
        """A step toward the conditions at this barrier: its length, whether they are nearly met, and the change of the goal.

        Entries change by a factor ``1 + change``, or by one for each column and more gently by what differs from it, whichever
        leaves less of the residuals: columns that vanish together keep their directions.
        """
        exact = 1e-14 * np.append(np.full(self._count, min(1.0, self._level)), np.ones(len(self._dual) - self._count))
        excess = np.where(np.abs(excess) < exact, 0.0, excess)
        change, rates, goal, duals, slacks, held = self._direction(excess, stationary)
        if not np.isfinite(change).all():
            return 0.0, False, 0.0
        weight = np.maximum(self._dual, self._mu / self._slack)
        table = change.reshape(self._size, -1)
        columns = table.mean(axis=0)
        steep = (self._order - 1 if self._by else 1.0) * -float(goal[0])
        top = min(
            1.0,
            0.9 / max(steep, 1e-9),
            0.98 * min(_room(self._slack, slacks), _room(self._dual, duals), _room(self._held, held)),
        )

        def left(parts: tuple[FloatArray, ...], dual: FloatArray, slack: FloatArray, kept: FloatArray) -> FloatArray:
            return np.concatenate([parts[2], dual * slack - self._mu, kept - self._mu, parts[1] * weight])

        before = float(np.linalg.norm(left((excess, excess, stationary), self._dual, self._slack, self._held)))
        for halving in range(_HALVINGS):
            length = top * 0.6**halving
            tried = []
            for together in (False, True):
                share = min(
                    length,
                    0.98 * _room(np.ones(self._size), columns)
                    if together
                    else 0.98 * _room(np.ones(len(change)), change),
                )
                move = np.log1p(share * table)
                if together:
                    apart = share * (table - columns)
                    bent = np.log1p(share * columns) + np.sign(apart) * np.log1p(np.abs(apart))
                    move = np.where(np.abs(share * table).max(axis=0) < 0.5, move, bent)
                logs = self._logs + move
                logs = logs - np.log(np.exp(logs).sum(axis=1))[:, np.newaxis]
                state = (
                    logs,
                    self._dual + share * duals,
                    self._slack + share * slacks,
                    (self._held + share * held) * np.exp(move.ravel()),
                    self._rates + share * rates,
                    share * float(goal[0]),
                )
                parts = self._residuals(*state)
                flat = (parts[0], parts[1], parts[2] * np.exp(-move.ravel()))
                size = float(np.linalg.norm(left(flat, *state[1:4])))
                tried.append((size if size == size else math.inf, share, state, parts))
            size, share, state, parts = min(tried, key=lambda one: one[0])
            if self._careful:
                good = size < before * (1 - 0.05 * share) or size < 1e-3 * self._mu
            else:
                good = self._is_inside(state, parts[1])
            if good:
                self._logs, self._dual, self._slack, self._held, self._rates, moved = state
                near = float(np.abs(left(parts, *state[1:4])).max()) <= 5 * self._mu
                return share, near, moved
        return 0.0, False, 0.0

    def _is_inside(self, state: tuple[Any, ...], excess: FloatArray) -> bool:
        products = np.concatenate([state[1] * state[2], state[3]])
        return bool((excess <= 0.5 * state[2]).all() and products.min() >= 0.005 * products.mean())

    def _rescale(self, moved: float) -> None:
        """What is minimized becomes the level, or the unit."""
        factor = 1 + moved * (self._order - 1 if self._by else 1.0)
        if self._by:
            self._level += _lowered(self._order, moved)
        else:
            self._unit *= factor
        self._slack = np.where(self._goal, self._slack / factor, self._slack)
        self._dual = np.where(self._goal, self._dual, self._dual / factor)
        self._held, self._rates = self._held / factor, self._rates / factor

    def _judge(self) -> None:
        """Keep the channel, if it keeps the budget and is the best so far; and the multipliers, if they prove more."""
        best = self._found
        leakage, spent = float(self._leakages().max()), float(self._spent().max())
        figure, used = (leakage, spent) if self._by else (spent, leakage)
        if used <= self._budget and figure < best.figure:
            self._found = replace(best, logs=self._logs, figure=figure)
        self._prove(self._dual[: self._count], self._logs)

    def _price(self) -> None:
        """Prove it by the columns that are published alone, and those tangents for the others that prove most."""
        program, duals = self._program, self._dual[self._count :] / self._unit
        level = float(self._leakages().max()) if self._by else self._budget
        penalties, weights = program._penalties(duals), self._dual[: self._count]
        published = np.exp(self._logs).max(axis=0) > _PUBLISHED
        for least in _LEAST_WEIGHTS:
            raised = weights + least * weights.sum()
            logs = self._logs[:, published]
            sums = penalties[:, published] + moment_gradient(self._alpha, self._pairs, raised, logs, level) * np.exp(
                -logs
            )
            rows = sums.min(axis=1)
            spare = _SPARE * (float(raised.sum()) if self._by else max(float(rows.sum()), 0.0)) / self._size
            costs = penalties - rows[:, np.newaxis] + spare
            columns = priced_columns(self._alpha, self._pairs, raised, costs[:, ~published], level)
            if columns is not None:
                tangent = self._logs.copy()
                tangent[:, ~published] = columns
                self._prove(raised, tangent)
            if self._found.gap <= _ENOUGH:
                break

    def _prove(self, weights: FloatArray, tangent: FloatArray) -> None:
        program, best, duals = self._program, self._found, self._dual[self._count :] / self._unit
        if self._by:
            penalties, allowance = program._penalties(duals), self._budget * float(duals.sum())
            level = float(self._leakages().max())
            bound = least_renyi_divergence(self._alpha, self._pairs, weights, tangent, penalties, allowance, level)
        else:
            bound = program._bounded(tangent, weights, duals, self._budget)
        if bound > best.bound:
            best = replace(best, weights=weights, duals=duals, tangent=tangent, bound=bound)
        gap = best.figure - best.bound
        self._found = replace(best, gap=gap if self._by or math.isinf(gap) else gap / best.figure)


def _lifted(order: float, leakages: FloatArray, level: float) -> FloatArray:
    """``E(D - L)``."""
    if order == 1:
        return leakages - level
    return np.expm1(np.minimum((order - 1) * (leakages - level), _MOST)) / (order - 1)


def _lowered(order: float, lifted: float) -> float:
    """The inverse of E."""
    return math.log1p((order - 1) * lifted) / (order - 1) if order > 1 else lifted


def _room(numbers: FloatArray, changes: FloatArray) -> float:
    """How many times positive numbers can be changed so before one is 0."""
    return 1 / max(float((-changes / numbers).max()), 1e-9)
