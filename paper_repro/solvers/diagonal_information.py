r"""Mutual and Sibson information, worst case over a source set: two unknowns a letter, for any number of letters.

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

**Sibson information** of an order alpha > 1 is ``min_r log(T) / (alpha - 1)`` with ``T = sum_ij P_i Q_ij^alpha r_j^(1 - alpha)``,
again linear in P and jointly convex in (Q, r). The same off-diagonal entries are best (Hoelder's inequality), and in (1) the
binary moment ``a^alpha r^(1-alpha) + (1-a)^alpha (1-r)^(1-alpha)`` takes the place of d. So each letter has two cells of
:mod:`paper_repro.solvers.information_dual`: kept, with output r_i, and changed, with output ``R - r_i``.

**Lower bound.** Let w be weights of the vertices, a prior ``P = w . P_v``, and y >= 0 prices of the distortions, in the
Lagrangian penalties ``kappa = sum_v y_v P_v`` of the letters. By duality of norms, a sum over the columns, for any numbers
``x_i > 0`` and with ``z_i^(alpha - 1) = max(0, x_i^(alpha - 1) - (1 - 1/alpha) kappa_i / P_i)``,

    F  >=  ( sum_i P_i x_i^(alpha - 1) - (1 - 1/alpha) D sum y ) / ( max_j g_j )^(1 - 1/alpha),
                                                        g_j = sum_i P_i z_i^alpha + P_j (x_j^alpha - z_j^alpha);     (2)

at order 1, where ``z_i = x_i exp(-kappa_i / P_i)``, that is Jensen's inequality: information is at least
``sum_i P_i log x_i - D sum y - log max_j g_j``. It holds whatever w, y and x are, is linear in D, and so bounds distortions at
a leakage as well. The best x is the likelihood ratio ``a / r`` of letters that are published, and for the others z is that of a
change, 1 / F.

**Solution.** One vertex at order 1: with letters in order of their probabilities, Erokhin's formula, ``D_i = c (1 - r_i) / P_i``
for the k letters with ``P_i > c``, all others censored, and ``D = (k - 1) c + tail_k``. Else the interior-point method of
:mod:`paper_repro.solvers.information_dual`, where all that belongs to a letter is eliminated: what remains are 2 V + 3
unknowns, and a step takes O(M V^2) operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.mechanisms import Mechanism
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

__all__ = ["DiagonalInformationProgram", "binary_information", "least_distortion", "least_information"]

# What is kept less often than this is not published.
_CENSORED = 1e-11


def binary_information(
    alpha: float, vertices: FloatArray, kept: FloatArray, changed: FloatArray, outputs: FloatArray
) -> float:
    """Worst information in nats over the vertices against an output, as in (1): an upper bound on what the channel leaks.

    Parameters
    ----------
    alpha : float >= 1
    vertices : ndarray, shape (V, M)
    kept, changed : ndarrays, shape (M,)
        a and ``1 - a``, each with its own precision.
    outputs : ndarray, shape (M,)
        r, which sums to 1.

    >>> even = np.full(2, 0.5)
    >>> round(binary_information(2.0, even[np.newaxis], np.full(2, 0.75), np.full(2, 0.25), even), 9), round(math.log(1.25), 9)
    (0.223143551, 0.223143551)
    """
    rest = np.maximum(outputs.sum() - outputs, 0.0)
    pairs = [(kept, outputs), (changed, rest)]
    if any(((share > 0) & (base == 0)).any() for share, base in pairs):
        return math.inf
    rate = alpha - 1
    logs = [np.log(np.where(share > 0, share, 1.0) / np.where(share > 0, base, 1.0)) for share, base in pairs]
    top = max(0.0, *(float((rate * log).max()) for log in logs))
    if top > 1:
        letters = sum(share * np.exp(rate * log - top) for (share, _), log in zip(pairs, logs, strict=True))
        return (top + math.log(float((vertices @ letters).max()))) / rate
    letters = sum(base * _excess(alpha, share, base) for share, base in pairs)
    worst = float((vertices @ letters).max())
    return math.log1p(rate * worst) / rate if rate > 0 else worst


def _excess(alpha: float, share: FloatArray, base: FloatArray) -> FloatArray:
    """``(x^alpha - 1 - alpha (x - 1)) / (alpha - 1)`` of ``x = share / base``, at order 1 ``x log x - x + 1``; never negative."""
    ratio = np.divide(share, base, out=np.ones_like(share), where=base > 0)
    apart, rate = np.divide(share - base, base, out=np.zeros_like(share), where=base > 0), alpha - 1
    with np.errstate(divide="ignore"):
        log = np.log(ratio)
    powers = np.where(
        ratio > 0, ratio * (np.expm1(rate * log) / rate if rate > 0 else np.where(ratio > 0, log, 0.0)), 0.0
    )
    small = alpha * apart**2 * (0.5 + (alpha - 2) * apart / 6 * (1 + (alpha - 3) * apart / 4))
    return np.where(np.abs(apart) * alpha < 1e-4, small, powers - apart)


def _supports(alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray) -> tuple[float, float]:
    """``(sum_i P_i x_i^(alpha - 1) - 1) / (alpha - 1)`` and ``log max_j g_j`` of bound (2)."""
    known, rate = prior > 0, alpha - 1
    mass, logs, fines = prior[known], ratios[known], penalties[known] / prior[known]
    if rate > 0:
        powers = np.expm1(rate * logs)
        with np.errstate(divide="ignore"):
            changed = np.log1p(np.maximum(-1.0, powers - rate / alpha * fines)) / rate
        worth = float(mass @ powers) / rate
    else:
        changed, worth = logs - fines, float(mass @ logs)
    peak = float(logs.max())
    spread = mass * np.exp(alpha * (changed - peak))
    return worth, math.log(float(spread.sum() + (mass * np.exp(alpha * (logs - peak)) - spread).max())) + alpha * peak


def least_information(
    alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray, allowance: float
) -> float:
    """Lower bound (2) in nats on the information of every mechanism that keeps the budget; never below 0.

    Parameters
    ----------
    alpha : float >= 1
        1 is mutual information, more is Sibson information of this order.
    prior : ndarray, shape (M,)
    penalties : ndarray, shape (M,), >= 0
        kappa, of a change of letter i: ``sum_v y_v P_v(i)``.
    ratios : ndarray, shape (M,)
        ``log x``; any numbers will do.
    allowance : float
        ``D sum y``.

    >>> uniform, slope = np.full(10, 0.1), math.log(9 * 0.7 / 0.3)  # of Lemma 5's curve at D = 0.3
    >>> round(least_information(1.0, uniform, uniform * slope, np.full(10, math.log(7)), 0.3 * slope), 5)
    1.03255
    """
    return bound_on_information(alpha, *_supports(alpha, prior, penalties, ratios), allowance)


def least_distortion(
    alpha: float, prior: FloatArray, penalties: FloatArray, ratios: FloatArray, price: float, leakage: float
) -> float:
    """Lower bound (2), solved for the distortion at a leakage in nats; never below 0.

    Parameters as of :func:`least_information`; ``price`` is ``sum y``.

    >>> uniform, slope = np.full(10, 0.1), math.log(9 * 0.7 / 0.3)
    >>> round(least_distortion(1.0, uniform, uniform * slope, np.full(10, math.log(7)), slope, 1.03255), 5)
    0.3
    """
    return bound_on_distortion(alpha, *_supports(alpha, prior, penalties, ratios), price, leakage)


@dataclass(frozen=True)
class _Found:
    """A diagonal, its output, and dual variables: weights of the vertices, prices of their distortions, and log x."""

    kept: FloatArray
    changed: FloatArray
    outputs: FloatArray
    weights: FloatArray
    prices: FloatArray
    ratios: FloatArray


class DiagonalInformationProgram(InformationDual[_Found]):
    """Program (1) of this module for one source set.

    What it proposes is certified by ``(y, log x)``: prices of the vertices' distortions, shape (V,), and ratios, shape (M,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).
    alpha : float >= 1
        1 is mutual information, more is Sibson information of this order.

    >>> DiagonalInformationProgram(np.full((1, 2), 0.5), 1.0).at_distortion(0.25).mechanism.matrix.round(4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, alpha: float = 1.0) -> None:
        self._known: NDArray[np.bool_] = np.asarray(vertices.any(axis=0))
        known = vertices[:, self._known]
        super().__init__(alpha, known, np.tile([0.0, 1.0], (known.shape[1], 1)), known.shape[1])

    def at_distortion(self, distortion: float, resolved: float = 0.0) -> Proposal:
        """Least leakage at a distortion above 0 and below the one without leakage; as at ``resolved``, if that is more."""
        if self._is_closed:
            return self._proposal(self._by_level(self._level_of(distortion)), distortion)
        return self._proposal(self._best(max(distortion, resolved), math.inf), distortion)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage above 0 and below that of publishing every letter as it is."""
        if self._is_closed:
            return self._proposal(self._by_level(self._level_of_leakage(leakage)), math.inf)
        return self._proposal(self._best(math.inf, leakage), math.inf)

    def _sums(self, cells: FloatArray) -> FloatArray:
        return cells[:, 1].sum() - cells[:, 1] + cells[:, 0]

    def _given(self, outputs: FloatArray) -> FloatArray:
        return np.column_stack([outputs, outputs.sum() - outputs])

    def _step(self, forms: Forms, diagonal: FloatArray, normal: slice, right: FloatArray) -> FloatArray:
        """The letters' m and r are eliminated; changed letters are given dR, the sum of dr, which has a multiplier."""
        vertices, (count, size) = self._vertices, self._vertices.shape
        (kept_uu, uu), (kept_ur, ur), (kept_up, up), (kept_rr, rr), (kept_rp, rp), (kept_pp, pp) = (
            form.T for form in (forms.uu, forms.ur, forms.up, forms.rr, forms.rp, forms.pp)
        )
        y, w, (optimum, total, balance) = slice(0, count), slice(count, 2 * count), range(2 * count, 2 * count + 3)
        in_m, in_r = np.zeros((2, size, 2 * count + 3))
        in_m[:, y], in_m[:, w], in_m[:, total] = -(vertices * uu).T, -(vertices * (kept_up + up)).T, ur
        in_r[:, y], in_r[:, w], in_r[:, total] = (vertices * ur).T, (vertices * (kept_rp - rp)).T, rr
        in_r[:, balance] = 1.0
        system = np.diag(np.append(diagonal[size:], np.zeros(3)))
        system[y, y] += (vertices * uu) @ vertices.T
        system[y, w], system[y, total] = (vertices * up) @ vertices.T, -(vertices @ ur)
        system[w, w] -= (vertices * (kept_pp + pp)) @ vertices.T
        system[w, total], system[total, total], system[total, balance] = vertices @ rp, -rr.sum(), -1.0
        system[slice(normal.start - 2 * size, normal.stop - 2 * size), optimum] = 1.0
        own, mixed, other = kept_uu + uu, kept_ur - ur, diagonal[:size] - kept_rr - rr
        det = own * other - mixed**2

        def solved(by_m: FloatArray, by_r: FloatArray) -> tuple[FloatArray, FloatArray]:
            return (other * by_m - mixed * by_r) / det, (own * by_r - mixed * by_m) / det

        by_m, by_r = solved(in_m.T, in_r.T)
        lower = np.tril_indices(len(system), -1)
        system[lower] = system.T[lower]
        right_m, right_r, rest = right[:size], right[size : 2 * size], np.append(right[2 * size :], [0.0, 0.0])
        first_m, first_r = solved(right_m, right_r)
        found = scaled_solution(system - by_m @ in_m - by_r @ in_r, rest - in_m.T @ first_m - in_r.T @ first_r)
        return np.concatenate([first_m - found @ by_m, first_r - found @ by_r, found[:total]])

    def _judged(self, found: Multipliers, distortion: float, leakage: float) -> tuple[_Found, float]:
        kept, changed = (found.cells / found.cells.sum(axis=1, keepdims=True)).T
        return self._mended(
            _Found(kept, changed, found.outputs, found.weights, found.prices, found.ratios), distortion, leakage
        )

    def _mended(self, found: _Found, distortion: float, leakage: float) -> tuple[_Found, float]:
        """Within its budget, and its gap: in nats at a distortion, relative to the distortion at a leakage."""
        kept, changed, outputs = found.kept, found.changed, found.outputs / found.outputs.sum()
        censored = kept < _CENSORED
        if censored.any() and not censored.all():
            outputs = np.where(censored, 0.0, outputs)
            kept, changed, outputs = (
                np.where(censored, 0.0, kept),
                np.where(censored, 1.0, changed),
                outputs / outputs.sum(),
            )
        reached = float((self._vertices @ changed).max())
        if reached > distortion:
            share = distortion / reached
            kept, changed = kept + (1 - share) * changed, share * changed
        leaked = binary_information(self._alpha, self._vertices, kept, changed, outputs)
        if reached < distortion < math.inf and float(changed.max()) * distortion <= reached:
            more = changed * (distortion / reached)
            if (less := binary_information(self._alpha, self._vertices, 1 - more, more, outputs)) < leaked:
                kept, changed, leaked = 1 - more, more, less
        if leaked > leakage:
            share = share_within(self._alpha, leaked, leakage)
            kept, changed = share * kept + (1 - share) * outputs, share * changed + (1 - share) * (1 - outputs)
        found = replace(found, kept=kept, changed=changed, outputs=outputs)
        prior, penalties = found.weights @ self._vertices, found.prices @ self._vertices
        price = float(found.prices.sum())
        if math.isfinite(distortion):
            return found, leaked - least_information(self._alpha, prior, penalties, found.ratios, distortion * price)
        reached = float((self._vertices @ changed).max())
        return found, 1 - least_distortion(self._alpha, prior, penalties, found.ratios, price, leakage) / reached

    @property
    def _is_closed(self) -> bool:
        return self._alpha == 1 and len(self._vertices) == 1

    @cached_property
    def _sorted(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probabilities of the one vertex, descending; what the letters after the first k hold; entropy terms of those k."""
        likely = -np.sort(-self._vertices[0])
        tails = np.append(np.cumsum(likely[::-1])[::-1], 0.0)
        return likely, tails, np.append(0.0, np.cumsum(-likely * np.log(likely)))

    def _level_of(self, distortion: float) -> float:
        """C at a distortion: ``(k - 1) c + tail_k`` grows with c, in pieces that end at the probabilities."""
        likely, tails, _ = self._sorted
        number = np.arange(1, len(likely) + 1)
        ends = tails[1:] + (number - 1) * likely  # at c = P_k, the k-th largest, descending
        published = max(2, int(np.count_nonzero(ends > distortion)))
        return max(0.0, distortion - float(tails[published])) / (published - 1)

    def _level_of_leakage(self, leakage: float) -> float:
        """C at a leakage: by its closed form, and then by what is evaluated letter by letter, which keeps more digits."""
        likely, tails, entropies = self._sorted
        number = np.arange(1, len(likely) + 1)

        def closed(level: Any, published: Any) -> Any:
            changed = (published - 1) * level
            distortion = changed + tails[published]
            held = 1 - tails[published]
            return held * np.log1p(-distortion) + entropies[published] - changed * np.log((1 - distortion) / level)

        published = max(2, int(np.count_nonzero(closed(likely, number)[1:] < leakage)) + 1)
        low, high = 0.0 if published == len(likely) else float(likely[published]), float(likely[published - 1])
        for _ in range(200):
            middle = (low + high) / 2 if low > 0 or high < 1e-300 else high * 2.0**-16
            if low == 0 and closed(middle, published) < leakage:
                high = middle
                continue
            if not low < middle < high:
                break
            low, high = (middle, high) if closed(middle, published) > leakage else (low, middle)
        level = high
        for _ in range(3):
            found = self._by_level(level)
            missed = binary_information(1.0, self._vertices, found.kept, found.changed, found.outputs) - leakage
            distortion = float(self._vertices[0] @ found.changed)
            slope = math.log((1 - distortion) / level)
            level += max(-0.5 * level, missed / slope / (published - 1)) if slope > 0 else 0.0
        return level

    def _by_level(self, level: float) -> _Found:
        """Erokhin's formula at a level c, with its certificate."""
        prior = self._vertices[0]
        active = prior > level
        distortion = (np.count_nonzero(active) - 1) * level + float(prior[~active].sum())
        slope = math.log((1 - distortion) / level) if level > 0 else 800.0
        outputs = np.where(active, prior - level, 0.0)
        outputs = outputs / outputs.sum()
        changed = np.where(active, level * (1 - outputs) / np.where(active, prior, 1.0), 1.0)
        ratios = np.where(active, math.log1p(-distortion) - np.log(prior), slope)
        return _Found(1 - changed, changed, outputs, np.ones(1), np.array([slope]), ratios)

    def _proposal(self, found: _Found, distortion: float) -> Proposal:
        if math.isfinite(distortion):
            found, _ = self._mended(found, distortion, math.inf)
        size = len(self._known)
        outputs, changed, ratios = np.zeros(size), np.ones(size), np.zeros(size)
        outputs[self._known], changed[self._known], ratios[self._known] = found.outputs, found.changed, found.ratios
        if np.count_nonzero(outputs) == 1:
            changed[outputs > 0] = 0.0  # nothing else is ever published
        return Proposal(
            Mechanism.from_distortions(np.clip(changed, 0.0, 1.0), answers=outputs),
            found.weights,
            (found.prices, ratios),
        )
