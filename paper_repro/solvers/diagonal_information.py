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
:mod:`paper_repro.solvers.information_cells`: kept, with output r_i, and changed, with output ``R - r_i``.

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
for the k letters with ``P_i > c``, all others censored, and ``D = (k - 1) c + tail_k``. Else an interior-point method: Newton's
on the perturbed optimality conditions, where all that belongs to a letter is eliminated in closed form; what remains are 2 V + 3
unknowns, and a step takes O(M V^2) operations. Cells take their steps in (a, r, S), so that moments stay above their powers, and
what curvature adds to a moment is left to the next step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
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

__all__ = ["DiagonalInformationProgram", "binary_information", "least_distortion", "least_information"]

# Attempts at a program: what the first weights of the outputs are (by probability, or even), and the first moments.
_ATTEMPTS = ((True, 1.0), (False, 1.0), (False, 10.0), (True, 10.0))
# A gap that no further step is needed for, in nats or relative to the distortion; and one that no further attempt is.
_GOAL, _ENOUGH = 1e-11, 1e-9
# From this order on, the solution at a third of the order is a start, where the gap is worth it.
_ORDER_OF_STEPS, _WORTH_STEPS = 4.0, 1e-7
# Steps of an attempt, and how many without progress end it.
_STEPS, _PATIENCE = 150, 10
# What curvature may add to the moments in a step, relative to all of them.
_OVERSHOOT = 0.1
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


class DiagonalInformationProgram:
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
        self._vertices, self._alpha = vertices[:, self._known], alpha

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

    def _best(self, distortion: float, leakage: float) -> _Found:
        found, least = self._attempts(distortion, leakage, None)
        order, start = _ORDER_OF_STEPS, None
        if least > _WORTH_STEPS and self._alpha > order:
            # The optimum moves little from one order to the next.
            while order < self._alpha:
                program = DiagonalInformationProgram(self._vertices, order)
                most = order / (order - 1) * math.log(float((self._vertices ** (1 / order)).sum(axis=1).max()))
                if math.isfinite(distortion) or leakage < 0.99 * most:
                    start = program._attempt(distortion, leakage, *_ATTEMPTS[0], start)[0] or start
                order *= 3
            again, gap = self._attempt(distortion, leakage, *_ATTEMPTS[0], start)
            if gap < least:
                found = again
        if found is None:
            raise SolverError(f"no step was possible at distortion {distortion!r} or leakage {leakage!r}")
        return found

    def _attempts(self, distortion: float, leakage: float, start: _Found | None) -> tuple[_Found | None, float]:
        best, least = None, math.inf
        for by_probability, moment in _ATTEMPTS:
            found, gap = self._attempt(distortion, leakage, by_probability, moment, start)
            if found is not None and (best is None or gap < least):
                best, least = found, gap
            if least <= (_ENOUGH if self._alpha < _ORDER_OF_STEPS else _WORTH_STEPS):
                break
        return best, least

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
            rate = (self._alpha - 1) / self._alpha
            share = math.expm1(rate * leakage) / math.expm1(rate * leaked) if rate > 0 else leakage / leaked
            share *= 1 - 1e-13
            kept, changed = share * kept + (1 - share) * outputs, share * changed + (1 - share) * (1 - outputs)
        found = replace(found, kept=kept, changed=changed, outputs=outputs)
        prior, penalties = found.weights @ self._vertices, found.prices @ self._vertices
        price = float(found.prices.sum())
        if math.isfinite(distortion):
            return found, leaked - least_information(self._alpha, prior, penalties, found.ratios, distortion * price)
        reached = float((self._vertices @ changed).max())
        return found, 1 - least_distortion(self._alpha, prior, penalties, found.ratios, price, leakage) / reached

    @np.errstate(all="ignore")  # what is not finite is not taken
    def _attempt(
        self, distortion: float, leakage: float, by_probability: bool, moment: float, start: _Found | None
    ) -> tuple[_Found | None, float]:
        """The best of the points on the way of one interior-point method, and its gap."""
        vertices, alpha = self._vertices, self._alpha
        (count, size), rate = vertices.shape, alpha - 1
        share, excess, by_distortion = rate / alpha, in_excess(alpha), math.isfinite(distortion)
        masses = vertices.max(axis=0)  # of the letters' barriers
        first = (masses / masses.sum() + 1 / size) / 2 if by_probability else np.full(size, 1 / size)
        if by_distortion:
            changed = np.full(size, min(0.9 * distortion, 1 - 1.001 / size))
        else:
            changed = (
                (1 - first) / 2 if by_probability else np.full(size, max(1 - math.exp(0.9 * leakage) / size, 0.01))
            )
        kept = 1 - changed
        if start is not None:
            kept, changed = (0.9 * own + 0.1 * other for own, other in ((start.kept, kept), (start.changed, changed)))
            first = 0.9 * start.outputs + 0.1 * first
        total = math.exp(
            share * (binary_information(alpha, vertices, kept, changed, first) if by_distortion else leakage)
        )
        outputs = first * total
        keep = Cells.with_moments(alpha, kept, outputs, moment)
        change = Cells.with_moments(alpha, changed, total - outputs, moment)
        # Leakage is t, or alpha F: the unknowns of the cells, and the total weight by this factor, less this.
        by_total, less = (1.0, 1.0) if excess else (rate, 0.0)
        cap = math.inf if by_distortion else leakage_level(alpha, leakage)

        def leaks() -> FloatArray:
            return vertices @ (keep.unknowns + change.unknowns) + by_total * total - less

        leaked, spent = leaks(), vertices @ changed
        if by_distortion:
            worst = 1.1 * float(leaked.max()) + 0.1
            slack = np.append(
                np.maximum(worst - leaked, 0.1 * max(1.0, float(leaked.max()))), np.full(count, distortion)
            )
            slack[count:] = np.maximum(distortion - spent, 0.1 * distortion)
        else:
            worst = 1.1 * float(spent.max()) + 0.01
            slack = np.append(
                np.maximum(cap - leaked, 0.1 * max(1.0, float(leaked.max()))), np.maximum(worst - spent, 0.05)
            )
        barrier = float(slack[:count].mean() if by_distortion else slack[count:].mean()) / count
        prices = barrier / slack
        duals = [barrier * masses / cells.heights for cells in (keep, change)]
        bounds = [barrier * masses / cells.amounts for cells in (keep, change)]
        number = 4 * float(masses.sum()) + 2 * count
        progress = missed = strain = level = 0.0
        best, least, last = None, math.inf, 0
        rows, vs = slice(0, count), slice(count, 2 * count)
        nu, weight, figure = (
            2 * count,
            2 * count + 1,
            2 * count + 2,
        )  # multiplier of the sum of outputs; steps of R and the worst
        for step in range(_STEPS):
            pairs = ((keep, duals[0], bounds[0]), (change, duals[1], bounds[1]))
            level = (sum(float(y @ c.heights + z @ c.amounts) for c, y, z in pairs) + float(prices @ slack)) / number
            unit = 1.0 if by_distortion else worst
            centered = missed <= 10 * level / unit and strain <= level * number
            barrier = level * ((0.1 if progress > 0.9 else 0.3 if progress > 0.5 else 0.8) if centered else 1.0)
            for cells, y, z in pairs:
                cells.linearize(barrier * masses, y, z)
            # With moments eliminated: gradient and Hessian in the letter's distortion, its output and R, and the sum of unknowns.
            rest = total - outputs
            fall = [c.by_unknowns / c.stiffness for c in (keep, change)]
            pull = [c.moments / c.stiffness for c in (keep, change)]
            own = [(c.by_amounts - c.amount_pull * f) / c.amounts for c, f in zip((keep, change), fall, strict=True)]
            out = [
                (c.by_outputs - c.output_pull * f) / w
                for c, f, w in zip((keep, change), fall, (outputs, rest), strict=True)
            ]
            slope_d, slope_r, slope_total = own[1] - own[0], out[0] - out[1], out[1]
            couple_d = change.amount_pull * pull[1] / changed - keep.amount_pull * pull[0] / kept
            couple_total = change.output_pull * pull[1] / rest
            couple_r = keep.output_pull * pull[0] / outputs - couple_total
            high, low = keep.peaks / outputs, change.peaks / rest
            box = keep.bound / kept**2 + change.bound / changed**2
            rr = keep.curvature * high**2 + change.curvature * low**2
            dd, dr = keep.curvature + change.curvature + box, keep.curvature * high + change.curvature * low
            det = keep.curvature * change.curvature * (high - low) ** 2 + box * rr
            inv_d, inv_r, inv_x = rr / det, dd / det, -dr / det
            total_d, total_r = -change.curvature * low, -change.curvature * low**2

            inverse = inv_d, inv_x, inv_r
            (u_d, u_r), (h_d, h_r), (g_d, g_r) = (
                _applied(inverse, couple_d, couple_r),
                _applied(inverse, total_d, total_r),
                _applied(inverse, slope_d, slope_r),
            )
            elastic = keep.moments * pull[0] + change.moments * pull[1]
            gained = keep.moments * fall[0] + change.moments * fall[1]
            system, right = np.zeros((2 * count + 3, 2 * count + 3)), np.zeros(2 * count + 3)
            system[rows, rows] = -(vertices * (elastic + couple_d * u_d + couple_r * u_r)) @ vertices.T
            system[rows, vs] = (vertices * u_d) @ vertices.T
            system[vs, vs] = -(vertices * inv_d) @ vertices.T
            system[rows, nu], system[vs, nu], system[nu, nu] = vertices @ u_r, -(vertices @ inv_x), -inv_r.sum()
            right[rows] = vertices @ (gained - couple_d * g_d - couple_r * g_r) - leaked
            right[vs], right[nu] = vertices @ g_d - spent, total - float((outputs - g_r).sum())
            system[range(nu), range(nu)] -= slack / prices
            right[:nu] -= barrier / prices + slack
            if by_distortion:
                system[rows, figure] = -1.0
                right[rows] += worst
                right[vs] += distortion
            else:
                system[vs, figure] = -1.0
                right[vs] += worst
                right[rows] += cap
            if rate > 0:
                system[rows, weight] = vertices @ (couple_d * h_d + couple_r * h_r - couple_total) + by_total
                system[vs, weight], system[nu, weight] = -(vertices @ h_d), -h_r.sum() - 1
                curved = float((change.curvature * low**2 - total_d * h_d - total_r * h_r).sum())
                system[weight, weight] = curved
                right[weight] = -float((slope_total - total_d * g_d - total_r * g_r).sum())
            else:
                system[weight, weight] = 1.0  # at order 1 the total weight is 1
            right[figure] = -1.0
            system = np.triu(system) + np.triu(system, 1).T
            scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(system)), 1e-300))
            scale[figure] = 1 / np.abs(system[:nu, figure] * scale[:nu]).max()
            solution = solved(system * scale[:, np.newaxis] * scale, right * scale) * scale
            if not np.isfinite(solution).all():
                break
            new_prices, d_total, d_worst = solution[:nu], solution[weight], solution[figure]
            priced, fined = new_prices[rows] @ vertices, new_prices[vs] @ vertices
            s_d, s_r = _applied(
                inverse,
                slope_d - couple_d * priced + fined + total_d * d_total,
                slope_r - couple_r * priced + solution[nu] + total_r * d_total,
            )
            d_changed, d_outputs = -s_d, -s_r
            relative = (
                (-d_changed / kept, d_outputs / outputs),
                (d_changed / changed, (d_total - d_outputs) / rest),
            )
            moves = [c.step(a, o, priced) for c, (a, o) in zip((keep, change), relative, strict=True)]
            d_slack = barrier / prices - slack / prices * new_prices
            length = longest_step(
                (slack, d_slack),
                (changed, d_changed),
                (kept, -d_changed),
                (outputs, d_outputs),
                (rest, d_total - d_outputs),
                (keep.slacks, moves[0][0]),
                (change.slacks, moves[1][0]),
            )
            allowed = _OVERSHOOT * (worst if by_distortion else max(cap, 0.1))
            for _ in range(80):
                tried = (
                    Cells(
                        alpha,
                        kept - length * d_changed,
                        outputs + length * d_outputs,
                        keep.slacks + length * moves[0][0],
                    ),
                    Cells(
                        alpha,
                        changed + length * d_changed,
                        rest + length * (d_total - d_outputs),
                        change.slacks + length * moves[1][0],
                    ),
                )
                planned = sum(
                    c.unknowns + length * c.moments * move for c, (_, move) in zip((keep, change), moves, strict=True)
                )
                if float((vertices @ (tried[0].unknowns + tried[1].unknowns - planned)).max()) <= allowed:
                    break
                length *= 0.7
            else:
                break
            changes = [
                c.dual_step(barrier * masses, y, z, a, move)
                for (c, y, z), (a, _), (move, _) in zip(pairs, relative, moves, strict=True)
            ]
            dual_length = longest_step(
                (prices, new_prices - prices),
                *((y, dy) for y, (dy, _) in zip(duals, changes, strict=True)),
                *((z, dz) for z, (_, dz) in zip(bounds, changes, strict=True)),
            )
            kept, changed, outputs = (
                kept - length * d_changed,
                changed + length * d_changed,
                outputs + length * d_outputs,
            )
            total, worst, slack = total + length * d_total, worst + length * d_worst, slack + length * d_slack
            prices = prices + dual_length * (new_prices - prices)
            duals = [y + dual_length * dy for y, (dy, _) in zip(duals, changes, strict=True)]
            bounds = [z + dual_length * dz for z, (_, dz) in zip(bounds, changes, strict=True)]
            keep, change = tried
            leaked, spent = leaks(), vertices @ changed
            progress = min(length, dual_length)
            missed = float(np.abs(leaked - (worst if by_distortion else cap) + slack[rows]).max())
            strain = self._strain(keep, change, duals, bounds, prices, float(solution[nu]))
            if level < 1e-5:
                for candidate in self._candidates(keep, change, duals, bounds, prices, total):
                    found, gap = self._mended(candidate, distortion, leakage)
                    if gap < least:
                        best, least, last = found, gap, step
                if least <= _GOAL or (least < 0.1 and step > last + _PATIENCE):
                    break
        return best, least

    def _strain(
        self,
        keep: Cells,
        change: Cells,
        duals: list[FloatArray],
        bounds: list[FloatArray],
        prices: FloatArray,
        nu: float,
    ) -> float:
        """How far the dual variables are from balance, in the units of the objective: the barrier is to wait for them."""
        count = len(self._vertices)
        priced, fined = prices[:count] @ self._vertices, prices[count:] @ self._vertices
        own, out, off = [], [], 0.0
        for cells, y, z in zip((keep, change), duals, bounds, strict=True):
            active = y * cells.heights * cells.steepness
            off += float(np.abs(priced * cells.moments - active * cells.by_unknown).sum())
            own.append(-(y * cells.heights + active * cells.by_amount + z * cells.amounts) / cells.amounts)
            out.append(-active / cells.outputs)
        by_changed = (fined + own[1] - own[0]) * keep.amounts * change.amounts
        by_output = (nu + out[0] - out[1]) * keep.outputs * change.outputs / (keep.outputs + change.outputs)
        return max(off, float(np.abs(by_changed).sum()), float(np.abs(by_output).sum()))

    def _candidates(
        self,
        keep: Cells,
        change: Cells,
        duals: list[FloatArray],
        bounds: list[FloatArray],
        prices: FloatArray,
        total: float,
    ) -> tuple[_Found, _Found]:
        """What the iterate proposes: with the ratios x by the likelier cell's duals, and made even over the published letters."""
        alpha, rate, count = self._alpha, self._alpha - 1, len(self._vertices)
        weight = float(prices[:count].sum())
        weights, fines = prices[:count] / weight, prices[count:] / weight
        if not in_excess(alpha):
            fines = fines / rate
        prior, penalties = weights @ self._vertices, fines @ self._vertices
        with np.errstate(all="ignore"):
            fine = penalties / prior * (rate / alpha if rate > 0 else 1.0)

            def of_change(logs: FloatArray) -> FloatArray:
                return np.log1p(np.maximum(-1.0, np.expm1(rate * logs) - fine)) / rate if rate > 0 else logs - fine

            worth = []
            for cells, y, z in zip((keep, change), duals, bounds, strict=True):
                active = y * cells.heights * cells.steepness * cells.by_unknown / cells.moments
                worth.append(
                    -(1 + cells.steepness * cells.by_amount)
                    * cells.moments
                    / (cells.steepness * cells.by_unknown * cells.amounts)
                    - z / active
                )
            scaled = np.where(
                change.amounts < 0.5,
                worth[0],
                worth[1] + fine * (alpha / rate if rate > 0 and in_excess(alpha) else alpha),
            )
            if not in_excess(alpha):
                logs = np.log(scaled / alpha) / rate
            else:
                logs = (np.log1p(rate * scaled) - math.log(alpha)) / rate if rate > 0 else scaled - 1
            plain, outputs = logs, keep.outputs / total
            heights = prior * (np.exp(alpha * logs) - np.exp(alpha * of_change(logs)))
            even = float((outputs * heights).sum() / outputs.sum())
            for _ in range(4):
                less = of_change(logs)
                miss = even / prior - (np.exp(alpha * logs) - np.exp(alpha * less))
                step = miss / (alpha * np.exp(rate * logs) * (np.exp(logs) - np.exp(less)))
                logs = logs + np.clip(step, -1 / alpha, 1 / alpha)
            least = -math.log(total)  # of a change into any published letter: 1 / F
            censored = np.log1p(fine + math.expm1(rate * least)) / rate if rate > 0 else fine + least
            logs = np.minimum(logs, censored)
        found = _Found(keep.amounts, change.amounts, outputs, weights, fines, plain)
        return found, replace(found, ratios=np.where(np.isfinite(logs), logs, plain))

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


def _applied(
    inverse: tuple[FloatArray, FloatArray, FloatArray], x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Symmetric 2 x 2 matrices, by their entries, times vectors."""
    first, mixed, second = inverse
    return first * x + mixed * y, mixed * x + second * y
