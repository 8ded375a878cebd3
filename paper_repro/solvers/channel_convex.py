r"""Information and Renyi divergences over the whole channel under restrictions, by a barrier method.

With ``h(x, y) = x ((x / y)^(alpha - 1) - 1) / (alpha - 1)``, and ``x log(x / y)`` at order 1, which is convex and homogeneous,

    f_v(Q, r) = sum_ij P_v(i) h(Q_ij, r_j)        for every vertex v, and weights r of the outputs that sum to 1, or
    f_ik(Q) = sum_j h(Q_ij, Q_kj)                 for neighbors i, k,

are at most ``(exp((alpha - 1) L) - 1) / (alpha - 1)`` for some r if and only if the Sibson information of order alpha, mutual
information at order 1, or the Renyi divergence is at most L for all priors or pairs. Newton's method minimizes the largest f at a
distortion, or the distortion at a leakage, with logarithms of all slacks, whose weight goes to 0; restrictions are those of
:mod:`paper_repro.solvers.channel_constrained`.

**Lower bound.** A tangent plane of a convex homogeneous function goes through the origin and lies below it. So for weights l >= 0
of the functions, with (G, g) the gradient of ``sum l f`` at any positive (Q, r), multipliers y >= 0 of the distortions and any n,

    sum l f  +  sum_v y_v (distortion_v)  >=  S - sum_kj n_kj P_k(j) + min_j g_j                                (1)

for every restricted channel, with S as there, of ``L_ij = G_ij + sum_v y_v P_v(i) d_ij + sum_k n_kj P_k(i)``. With weights that
sum to 1 it bounds the largest f at a distortion, with prices that sum to 1 the distortion at a leakage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.information_dual import scaled_solution
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.restrictions import Restrictions
from paper_repro.types import FloatArray, IntArray

__all__ = ["ChannelConvexProgram"]

# The weight of what is minimized beside the logarithms: by how much it grows, and to how much; steps of Newton's method.
_FASTER, _LAST, _STEPS = 8.0, 1e11, 200
# Rounds, which come to their end long before, and iterations of HiGHS for each unknown, beyond which it goes round in circles.
_ROUNDS, _ITERATIONS = 400, 100
# A square of a last step, relative to what is left, that no further one is needed after.
_CENTERED = 1e-12
# Least slack of all, relatively, of a channel to begin with.
_ROOM = 1e-9


@dataclass
class _Terms:
    """Functions as sums of ``weights h(x, y)``: the places of x and y among the unknowns, and the function of each term."""

    x: IntArray
    y: IntArray
    weights: FloatArray
    function: IntArray
    count: int


class ChannelConvexProgram:
    """The programs of this module for one source set.

    What it proposes is certified by ``(y, n, l, Q, r)``: prices of the vertices' distortions, shape (V,), multipliers of what
    stays as it is, shape (K, M), weights of the functions, shape (V,) or (pairs,), and the point of the tangent plane, shapes
    (M, M) and (M,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
    restrictions : Restrictions
    alpha : float >= 1
    pairs : ndarray of int, shape (pairs, 2), or None
        Neighbors, in both orders; None for information.

    >>> prior = np.array([[0.75, 0.25]])
    >>> kept = Restrictions(np.zeros(2), np.ones((2, 2), dtype=bool), prior)
    >>> program = ChannelConvexProgram(prior, 1 - np.eye(2), kept, 1.0)
    >>> program.at_distortion(0.1875).mechanism.round(6).tolist()
    [[0.875, 0.125], [0.375, 0.625]]
    """

    def __init__(
        self,
        vertices: FloatArray,
        costs: FloatArray,
        restrictions: Restrictions,
        alpha: float,
        pairs: IntArray | None = None,
    ) -> None:
        self._vertices, self._costs, self._restricted = vertices, costs, restrictions
        self._alpha, self._pairs, self._size = alpha, pairs, len(costs)
        cells = np.argwhere(restrictions.allowed)
        self._cells = cells
        place = np.full(costs.shape, -1)
        place[tuple(cells.T)] = np.arange(len(cells))
        self._width = len(cells) + (len(costs) if pairs is None else 0)
        self._terms = self._listed(place)
        self._charges = (vertices[:, :, np.newaxis] * costs)[:, cells[:, 0], cells[:, 1]]
        rows = [(cells[:, 0] == i).astype(float) for i in range(len(costs))]
        rows += [
            np.where(cells[:, 1] == j, p[cells[:, 0]], 0.0) for p in restrictions.kept for j in range(len(costs) - 1)
        ]
        right = [1.0] * len(costs) + [p[j] for p in restrictions.kept for j in range(len(costs) - 1)]
        equal = np.zeros((len(rows), self._width))
        equal[:, : len(cells)] = rows
        if pairs is None:
            total = np.append(np.zeros(len(cells)), np.ones(len(costs)))
            equal, right = np.vstack([equal, total]), [*right, 1.0]
        self._equal, self._right = equal, np.array(right)
        floors = np.where(cells[:, 0] == cells[:, 1], restrictions.floors[cells[:, 0]], 0.0)
        self._floors = np.append(floors, np.zeros(self._width - len(cells)))

    def _listed(self, place: IntArray) -> _Terms:
        size, cells = self._size, self._cells
        if self._pairs is None:
            parts = [
                (place[i, j], len(cells) + j, p[i], v)
                for v, p in enumerate(self._vertices)
                for i, j in cells.tolist()
                if p[i] > 0
            ]
            count = len(self._vertices)
        else:
            parts = [
                (place[i, j], place[k, j], 1.0, c)
                for c, (i, k) in enumerate(self._pairs.tolist())
                for j in range(size)
                if place[i, j] >= 0
            ]
            count = len(self._pairs)
        x, y, weights, function = (np.array(part) for part in zip(*parts, strict=True))
        return _Terms(x, y, weights, function, count)

    may_differ = False

    def with_vertices(self, vertices: FloatArray) -> ChannelConvexProgram:
        """The same program for other vertices, shape (V, M)."""
        return ChannelConvexProgram(vertices, self._costs, self._restricted, self._alpha, self._pairs)

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion. Raises SolverError if there is no room, or a step fails."""
        return self._best(distortion, math.inf)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage in nats. Raises SolverError if there is no room, or a step fails."""
        start = self.at_distortion(float(self._costs.max()) * 1.01)
        return self._best(math.inf, self._level(leakage), start)

    def _level(self, leakage: float) -> float:
        rate = self._alpha - 1
        return math.expm1(min(rate * leakage, 700.0)) / rate if rate > 0 else leakage

    def least_leakage(self, certificate: tuple[FloatArray, ...], distortion: float) -> float:
        """Bound (1) in nats at a distortion, never below 0; certificates have the shapes that the class lists, (V,) and so on."""
        total = float(certificate[2].sum())
        if not total > 0:
            return 0.0
        found = max(0.0, (self._bound(certificate) - distortion * float(certificate[0].sum())) / total)
        rate = self._alpha - 1
        return math.log1p(rate * found) / rate if rate > 0 else found

    def least_distortion(self, certificate: tuple[FloatArray, ...], leakage: float) -> float:
        """Bound (1) on the distortion at a leakage in nats, never below 0, by a certificate as above: shape (V,) and so on."""
        price = float(certificate[0].sum())
        if not price > 0:
            return 0.0
        return max(0.0, (self._bound(certificate) - self._level(leakage) * float(certificate[2].sum())) / price)

    def _bound(self, certificate: tuple[FloatArray, ...]) -> float:
        prices, stays, weights, channel, outputs = certificate
        point = np.append(channel[tuple(self._cells.T)], outputs if self._pairs is None else [])
        slope = self._gradients(point)[1]
        gradient = np.bincount(
            np.append(self._terms.x, self._terms.y),
            np.tile(weights[self._terms.function] * self._terms.weights, 2) * slope.ravel(),
            self._width,
        )
        forms = np.full(self._costs.shape, np.inf)
        forms[tuple(self._cells.T)] = gradient[: len(self._cells)]
        forms = forms + (prices @ self._vertices)[:, np.newaxis] * self._costs + self._restricted.kept.T @ stays
        floors = self._restricted.floors
        kept = np.where(floors > 0, floors * np.where(floors > 0, forms.diagonal(), 0.0), 0.0)
        least = float((kept + (1 - floors) * forms.min(axis=1)).sum())
        least -= float((stays * self._restricted.kept).sum())
        return least + (float(gradient[len(self._cells) :].min()) if self._pairs is None else 0.0)

    def _gradients(self, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the terms: values, shape (terms,), gradients in x and y, (2, terms), and second derivatives xx, xy and yy."""
        rate, x, y = self._alpha - 1, point[self._terms.x], point[self._terms.y]
        logs = np.log(x / y)
        if rate > 0:
            tilts = np.expm1(rate * logs) / rate
            power = 1 + rate * tilts
            first = np.array([tilts * self._alpha + 1, -power * x / y])
        else:
            tilts, power = logs, np.ones_like(logs)
            first = np.array([logs + 1, -x / y])
        curved = self._alpha * power
        return x * tilts, first, np.array([curved / x, -curved / y, curved * x / y**2])

    def _functions(self, values: FloatArray) -> FloatArray:
        return np.asarray(
            np.bincount(self._terms.function, values * self._terms.weights, self._terms.count), dtype=float
        )

    def _start(self, distortion: float) -> FloatArray:
        """A channel with room on all sides."""
        from scipy.optimize import linprog

        count = len(self._cells)
        room = np.column_stack([-np.eye(count), np.full(count, 1 / self._size)])
        spent = np.column_stack([self._charges, np.full(len(self._charges), min(distortion, 1.0) / 2)])
        rows = len(self._right) - (self._pairs is None)
        found = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.vstack([room, spent / max(distortion, 1e-300)]) if math.isfinite(distortion) else room,
            b_ub=np.concatenate([-self._floors[:count], np.ones(len(spent)) if math.isfinite(distortion) else []]),
            A_eq=np.column_stack([self._equal[:rows, :count], np.zeros(rows)]),
            b_eq=self._right[:rows],
            bounds=[(0, None)] * count + [(None, 1)],
            method="highs",
            options={"maxiter": _ITERATIONS * (10 + 2 * count)},
        )
        if found.status != 0 or -found.fun < _ROOM * min(distortion, 1.0):
            raise SolverError(
                "The constraints leave no room: they fix some probability. State it as forbidden, or relax one of them."
            )
        channel = found.x[:count]
        if self._pairs is not None:
            return channel
        outputs = np.bincount(self._cells[:, 1], self._vertices.mean(axis=0)[self._cells[:, 0]] * channel, self._size)
        return np.append(channel, (outputs + 1e-3 / self._size) / (outputs.sum() + 1e-3))

    def _best(self, distortion: float, level: float, start: Proposal | None = None) -> Proposal:
        """Unknowns: cells, outputs, and what is minimized, with room to all."""
        by_distortion, width = math.isfinite(distortion), self._width
        if start is None:
            point = self._start(distortion)
        else:
            _, _, _, channel, outputs = start.certificate
            point = np.append(channel[tuple(self._cells.T)], outputs if self._pairs is None else [])
        values = self._functions(self._gradients(point)[0])
        if not by_distortion and values.max() >= level:
            raise SolverError("No mechanism with so little leakage was found. Ask for more leakage.")
        highest = float(values.max()) if by_distortion else float((self._charges @ point[: len(self._cells)]).max())
        objective = highest + 1.0
        weight, terms = 1 / max(1.0, highest), self._terms
        equal = np.column_stack([self._equal, np.zeros(len(self._equal))])
        charges = np.zeros((len(self._charges), width + 1))
        charges[:, : len(self._cells)] = self._charges
        if not by_distortion:
            charges[:, width] = -1.0
        duals: FloatArray = np.zeros(len(equal))
        last = point
        best: tuple[FloatArray, ...] | None = None
        most = -math.inf
        for _ in range(_ROUNDS):
            before = math.inf
            for _ in range(_STEPS):
                values, first, second = self._gradients(point)
                top = objective if by_distortion else level
                spare = top - self._functions(values)
                left = (distortion if by_distortion else objective) - self._charges @ point[: len(self._cells)]
                room = point - self._floors
                slopes = np.zeros((terms.count, width + 1))
                np.add.at(slopes, (terms.function, terms.x), terms.weights * first[0])
                np.add.at(slopes, (terms.function, terms.y), terms.weights * first[1])
                if by_distortion:
                    slopes[:, width] = -1.0
                gradient = slopes.T @ (1 / spare) + charges.T @ (1 / left)
                gradient[:width] -= 1 / room
                gradient[width] += weight
                hessian = (slopes / spare[:, np.newaxis]).T @ (slopes / spare[:, np.newaxis])
                hessian += (charges / left[:, np.newaxis]).T @ (charges / left[:, np.newaxis])
                bent = terms.weights / spare[terms.function] * second
                np.add.at(hessian, (terms.x, terms.x), bent[0])
                np.add.at(hessian, (terms.x, terms.y), bent[1])
                np.add.at(hessian, (terms.y, terms.x), bent[1])
                np.add.at(hessian, (terms.y, terms.y), bent[2])
                hessian[np.arange(width), np.arange(width)] += 1 / room**2
                # In relative changes of the room that is left.
                scale = np.append(room, 1 / np.sqrt(hessian[width, width]))
                # All by the weight, so that multipliers are of order 1 however small the logarithms' part is.
                system = np.zeros((len(scale) + len(equal),) * 2)
                system[: len(scale), : len(scale)] = hessian * scale[:, np.newaxis] * scale / weight
                system[len(scale) :, : len(scale)] = equal * scale
                system[: len(scale), len(scale) :] = (equal * scale).T
                target = np.concatenate([-gradient * scale / weight, self._right - self._equal @ point])
                solution = scaled_solution(system, target)
                moved, duals = solution[: width + 1] * scale, solution[width + 1 :]
                decrement = float(-gradient @ moved)
                if not math.isfinite(decrement):  # rounding has the better of it
                    break
                length = min(1.0, 0.9 / max(1e-300, float((-moved[:width] / room).max())))
                for _ in range(60):
                    tried, aim = point + length * moved[:width], objective + length * moved[width]
                    inside = (aim if by_distortion else level) - self._functions(self._gradients(tried)[0])
                    paid = (distortion if by_distortion else aim) - self._charges @ tried[: len(self._cells)]
                    if min(inside.min(), paid.min(), (tried - self._floors).min()) > 0:
                        change = weight * (aim - objective) - np.log(inside / spare).sum() - np.log(paid / left).sum()
                        change -= np.log((tried - self._floors) / room).sum()
                        if change <= 1e-9 or length < 1e-9:
                            break
                    length *= 0.5
                point, objective = tried, aim
                if decrement < _CENTERED or (decrement < 0.05 and decrement > before / 2):
                    break
                before = decrement
            if not math.isfinite(decrement):
                break
            room = point - self._floors
            drawn = self._equal * room**2
            missed = self._right - self._equal @ point
            point = point + drawn.T @ np.linalg.lstsq(drawn @ self._equal.T, missed, rcond=None)[0]
            spare = (objective if by_distortion else level) - self._functions(self._gradients(point)[0])
            left = (distortion if by_distortion else objective) - self._charges @ point[: len(self._cells)]
            if min(spare.min(), left.min(), (point - self._floors).min()) <= 0:
                break
            certificate = self._multipliers(point, duals, 1 / spare / weight, 1 / left / weight, weight)
            price, total = float(certificate[0].sum()), float(certificate[2].sum())
            bound = self._bound(certificate)
            unit = total if by_distortion else price
            if unit > 0:
                worth = (bound - (distortion * price if by_distortion else level * total)) / unit
                if worth > most:
                    best, most = certificate, worth
            last = point
            if weight * min(1.0, abs(objective)) >= _LAST or weight >= _LAST**1.5:
                break
            weight *= _FASTER
        if best is None:
            raise SolverError("No step of Newton's method was certified. Try a nearby distortion or leakage.")
        matrix = np.zeros((self._size, self._size))
        matrix[tuple(self._cells.T)] = last[: len(self._cells)]
        return Proposal(matrix / matrix.sum(axis=1, keepdims=True), best[0], best)

    def _multipliers(
        self, point: FloatArray, duals: FloatArray, weights: FloatArray, prices: FloatArray, weight: float
    ) -> tuple[FloatArray, ...]:
        """Those of the logarithms, corrected relatively until no entry gains: slacks are differences that cancel."""
        first, terms, room = self._gradients(point)[1], self._terms, point - self._floors
        slopes = np.zeros((terms.count, self._width))
        np.add.at(slopes, (terms.function, terms.x), terms.weights * first[0])
        np.add.at(slopes, (terms.function, terms.y), terms.weights * first[1])
        charges = np.zeros((len(prices), self._width))
        charges[:, : len(self._cells)] = self._charges
        parts = np.vstack([slopes * weights[:, np.newaxis], charges * prices[:, np.newaxis], self._equal])
        missed = 1 / room / weight - parts[: len(weights) + len(prices)].sum(axis=0) - duals @ self._equal
        moved = np.linalg.lstsq((parts * room).T, missed * room, rcond=None)[0]
        weights = weights * np.clip(1 + moved[: len(weights)], 0, None)
        prices = prices * np.clip(1 + moved[len(weights) : len(weights) + len(prices)], 0, None)
        duals = duals + moved[len(weights) + len(prices) :]
        size, stays = self._size, np.zeros(self._restricted.kept.shape)
        stays[:, : size - 1] = duals[size : size + len(stays) * (size - 1)].reshape(len(stays), size - 1)
        matrix = np.zeros((size, size))
        matrix[tuple(self._cells.T)] = point[: len(self._cells)]
        return prices, stays, weights, matrix, point[len(self._cells) :] if self._pairs is None else np.ones(size)
