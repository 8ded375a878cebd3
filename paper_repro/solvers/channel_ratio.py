r"""Ratio notions by a linear program over the whole channel: any neighbors, any distances, any source set.

A *comparison* c of a row g with a row k asks, with ``t = exp(leakage)``,

    Q_gj <= t Q_kj + delta        for every column j                                    (pointwise), or
    sum_j max(0, Q_gj - t Q_kj) <= delta                                                (standard).

At a given t the least worst-case distortion is a linear program,

    minimize    max_v  sum_ij P_v(i) Q_ij d_ij     subject to the comparisons,  rows of Q sum to 1,  Q >= 0.          (1)

**Scales.** The distortion is at most that U of a channel that is known. So ``Q_ij <= U / max_v P_v(i) d_ij``: with such units,
powers of 2, all unknowns and coefficients are of order 1 however small the distortion is. The rest is done by
:mod:`paper_repro.solvers.refinement`.

**Lower bound.** For weights w of the vertices (a prior ``P = w . P_v``) and any ``f_cj >= 0``, every channel that meets the
comparisons has a distortion of at least

    sum_i min_j [ P_i d_ij + sum_{c: g = i} f_cj / t - sum_{c: k = i} f_cj ]  -  (delta / t) F                         (2)

with ``F = sum_cj f_cj`` (pointwise) or ``F = sum_c max_j f_cj`` (standard): add the comparisons, weighted, to the distortion. It
is evaluated from the multipliers alone, in exact arithmetic, since where distortions are small its terms all but cancel.

**Rounding.** Rounding changes each entry by an ulp of its own at most, and so what a comparison sums by few ulps of what both its
sides sum: t and delta that are smaller by a few ulps make up for it.

Where neighbors have weights, a comparison has its own factor ``t^w`` in place of t, in (1) and in (2).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.errors import Clause, SolverError, wrong
from paper_repro.graphs import Adjacency
from paper_repro.solvers.games import PerfectPrivacy
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.refinement import EXCHANGES, Refined, exponential, power_above, to_channel
from paper_repro.types import FloatArray, IntArray

__all__ = ["ChannelRatioProgram", "Comparisons"]

# Rows that are solved.
_MOST_ROWS = 200_000
# Nats beyond which 1 / t is next to no number.
_MOST = 690.0
# Relative gap with which a program counts as solved, that with which it is put up with, and what a budget is overspent by.
_CLOSED, _CLOSE, _SPENT = 1e-13, 1e-10, 3e-13
# Exchanges of an exact basis that are waited for at first, and nats from which on others are reached.
_HURRIED = 20
_RUNGS = (10.0, 15.0, 22.0, 33.0, 50.0, 75.0, 110.0, 170.0, 250.0, 380.0, 570.0)
# How far below a leakage its bound is looked for: there the multipliers change as the optimum does.
_STEP = 2e-10
# What rounding is given of t and of delta; of t below 1 only if delta is more than that.
_ULPS, _ENOUGH = Fraction(8, 2**52), 1e-13


@dataclass(frozen=True)
class Comparisons:
    """Which rows must look alike.

    Attributes
    ----------
    givers, takers : ndarrays of int, shape (C,)
        The rows g and k.
    delta : float in [0, 1)
    standard : bool
        Whether delta is for all columns together.
    weights : ndarray, shape (C,), or None
        Powers of t in the comparisons; 1, if not given.
    lengths : ndarray, shape (M, M), or None
        Where there are weights, what they add up to from row to row: infinite where nothing is asked.
    """

    givers: IntArray
    takers: IntArray
    delta: float = 0.0
    standard: bool = False
    weights: FloatArray | None = None
    lengths: FloatArray | None = None

    @classmethod
    def of_neighbors(cls, adjacency: Adjacency, delta: float = 0.0, standard: bool = False) -> Comparisons:
        """Both orders of every two neighbors; delta is a probability.

        Raises
        ------
        ValueError
            If their program is too large to be solved in reasonable time.
        """
        _check_size(2 * len(adjacency.edges), adjacency.size)
        first, second = adjacency.neighbor_pairs.T
        return cls(first, second, delta, standard and delta > 0)

    @classmethod
    def of_weights(cls, pairs: IntArray, weights: FloatArray, lengths: FloatArray) -> Comparisons:
        """Every first row of the pairs, shape (C, 2), with the second, by weights of shape (C,).

        Parameters
        ----------
        pairs : ndarray of int, shape (C, 2)
        weights : ndarray, shape (C,)
        lengths : ndarray, shape (M, M)

        Raises
        ------
        ValueError
            If their program is too large to be solved in reasonable time.
        """
        _check_size(len(pairs), len(lengths))
        first, second = pairs.T
        return cls(first, second, weights=weights, lengths=lengths)

    def factors(self, leakage: float, rounded: int) -> list[Fraction]:
        """``t^w`` of each comparison at a leakage in nats, rounded up (1) or down (-1)."""
        weights = np.ones(self.givers.size) if self.weights is None else self.weights
        known = {weight: exponential(leakage * weight, rounded) for weight in set(weights.tolist())}
        return [known[weight] for weight in weights.tolist()]


@dataclass
class _Optimum:
    """Program (1) at one leakage, as far as it is solved: what was found, and the bound."""

    leakage: float
    program: Refined
    matrix: FloatArray
    distortion: float
    weights: list[Fraction]
    multipliers: Any
    bound: float
    slope: float
    kept: bool = False


class ChannelRatioProgram:
    """Program (1) of this module for one source set.

    What it proposes is certified by ``(f, w, at)``: multipliers of the comparisons, shape (C, M), and weights of the vertices,
    shape (V,), all of them Fractions, and the leakage at which they are best, shape (1,).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.
    comparisons : Comparisons
    perfect : PerfectPrivacy
        The best constant answer.

    >>> from paper_repro.graphs import clique
    >>> from paper_repro.solvers.games import perfect_privacy
    >>> pair, compared = np.full((1, 2), 0.5), Comparisons.of_neighbors(clique(2))
    >>> program = ChannelRatioProgram(pair, 1 - np.eye(2), compared, perfect_privacy(pair))
    >>> program.at_leakage(math.log(3)).mechanism.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(
        self, vertices: FloatArray, costs: FloatArray, comparisons: Comparisons, perfect: PerfectPrivacy
    ) -> None:
        self._vertices, self._costs, self._comparisons = vertices, costs, comparisons
        self._without, self._delta = perfect.distortion, Fraction(comparisons.delta)
        self._pairs = list(zip(comparisons.givers.tolist(), comparisons.takers.tolist(), strict=True))
        # What a vertex is charged for publishing j in place of i: exactly, and the most of it.
        self._charges = [
            [[Fraction(p) * Fraction(d) for d in row] for p, row in zip(vertex, costs.tolist(), strict=True)]
            for vertex in vertices.tolist()
        ]
        self._peaks = vertices.max(axis=0)[:, np.newaxis] * costs
        self._start: Any = None

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage in nats. Raises SolverError if no solver finds it."""
        leakage = min(leakage, _MOST)
        if leakage == 0:  # a ratio of 1 rounds nothing
            found = self._solve(leakage, Fraction(0), exchanges=_HURRIED)
            if found.kept and not _is_open(found):
                return _proposal(found, found)
        found = self._solve(leakage, exchanges=_HURRIED)
        if _is_open(found) or not found.kept:  # from bases of smaller leakages on: fractions may take long
            for smaller in itertools.takewhile(lambda rung: rung < leakage, _RUNGS):
                self._solve(smaller, exchanges=0)
            found = self._solve(leakage)
        return _proposal(found, found)

    def at_distortion(self, distortion: float, upper: float, without: float) -> Proposal:
        """Least leakage at a distortion, by Newton's method on the least distortion.

        A leakage of ``upper`` is enough; ``without`` any, no distortion below this can be had. Where a letter can just be left
        out, many leakages may have the same least distortion, and the lowest is wanted: the distortion that is searched for is
        larger by a rounding.

        Raises SolverError if no mechanism of at most ``upper`` nats keeps the distortion.
        """
        low, high, best = 0.0, min(upper * (1 + 1e-9) + 1e-9, _MOST), None
        target, leakage, halved = distortion * (1 + _SPENT), min(0.5, high / 2), True
        for _ in range(100):
            found = self._solve(leakage)
            missed = math.log(found.distortion / target) if found.distortion > 0 and target > 0 else -math.inf
            missed = 1.0 if found.distortion > target == 0 else missed
            steepness = -found.slope / found.distortion if found.distortion > 0 else 0.0
            if missed <= 0:
                high, best = leakage, found
                if missed > -_SPENT * 0.6:
                    break
            else:
                low = leakage
            if best is not None and high - low <= 1e-13 * max(high, 1e-2):
                break
            if best is None and low >= high:
                break
            # A little beyond the root, so that the bracket closes from both sides.
            step = missed / steepness if steepness > 0 and math.isfinite(missed) else math.inf
            leakage = leakage + step + math.copysign(1e-13 * max(leakage, 1e-2), step)
            if low < leakage < high:
                continue
            if best is None:
                leakage = high if halved and low > high / 4 else min(high, 2 * low + 0.5)
            else:
                leakage = (low + high) / 2
            halved = True
        if best is None:
            raise SolverError(
                f"No mechanism of at most {upper!r} nats was found at distortion {distortion!r}. Try a nearby distortion."
            )
        return _proposal(best, self._solve(high - min(_STEP, high / 2)))

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def least_distortion(self, certificate: tuple[Any, ...], leakage: float) -> float:
        """Bound (2): no channel of at most this leakage has a smaller distortion, for any certificate ``(f, w, ...)``."""
        if math.isinf(leakage):
            return 0.0
        multipliers, weights, *_ = certificate
        weights = [Fraction(w) for w in weights]
        total, letters = sum(weights), range(len(self._costs))
        reduced = [
            [
                sum((w * charge[i][j] for w, charge in zip(weights, self._charges, strict=True) if w), Fraction(0))
                / total
                for j in letters
            ]
            for i in letters
        ]
        least = Fraction(0)
        for (giver, taker), factor, row in zip(
            self._pairs, self._comparisons.factors(min(leakage, 709.0), 1), multipliers, strict=True
        ):
            for j in np.flatnonzero(row).tolist():
                value = Fraction(row[j])
                reduced[taker][j] -= value
                reduced[giver][j] += value / factor
            if self._delta:
                least -= self._delta * Fraction(max(row) if self._comparisons.standard else sum(row)) / factor
        return max(0.0, float(least + sum(map(min, reduced))))

    def _solve(
        self, leakage: float, ulps: Fraction = _ULPS, wide: bool = False, exchanges: int = EXCHANGES
    ) -> _Optimum:
        """Program (1) with unknowns Q, what comparisons exceed in each column, and the distortion, each in its unit."""
        comparisons, size, cells, standard = (
            self._comparisons,
            len(self._costs),
            self._costs.size,
            self._comparisons.standard,
        )
        factors, delta = comparisons.factors(leakage, -1), self._delta * (1 - ulps)
        if self._delta > _ENOUGH:
            factors = [factor * (1 - ulps) for factor in factors]
        else:
            factors = [max(Fraction(1), factor * (1 - ulps)) for factor in factors]
        most = self._most(float(min(factors, default=Fraction(2))))
        unit = power_above(Fraction(most) * Fraction(1 + 2.0**-20))
        units = [
            [min(Fraction(1), power_above(unit / Fraction(p))) if p else Fraction(1) for p in row]
            for row in self._peaks.tolist()
        ]
        least = [[1 - sum(row) + row[j] for j in range(size)] for row in units]  # of an entry, where others are small
        width = cells + (len(self._pairs) * size if standard else 0)
        rows: list[dict[int, Fraction]] = []
        right: list[Fraction] = []
        scales: dict[int, tuple[int, int, Fraction]] = {}  # of rows that are comparisons: which, in which column
        for number, ((giver, taker), factor) in enumerate(zip(self._pairs, factors, strict=True)):
            sums: dict[int, Fraction] = {}
            for j in range(size):
                own = units[giver][j]
                if own <= max(delta * ulps / (4 * size) if standard else delta, factor * least[taker][j]):
                    continue  # never above it, or nothing beside it
                scale = power_above(max(own, factor * units[taker][j]))
                row = {giver * size + j: own / scale, taker * size + j: -factor * units[taker][j] / scale}
                if standard:
                    place = cells + number * size + j
                    excess = scale if wide else min(own, power_above(self._delta))
                    row[place], sums[place] = -excess / scale, excess
                scales[len(rows)] = (number, j, scale)
                rows.append(row)
                right.append(Fraction(0) if standard else delta / scale)
            if standard:
                scale = max(sums.values())
                rows.append({place: excess / scale for place, excess in sums.items()})
                right.append(delta / scale)
        first = len(rows)
        for charges in self._charges:
            row = {
                i * size + j: charges[i][j] * units[i][j] / unit
                for i in range(size)
                for j in range(size)
                if charges[i][j]
            }
            rows.append({**row, width: Fraction(-1)})
            right.append(Fraction(0))
        for number, row in enumerate(rows):
            row[width + 1 + number] = Fraction(1)
        columns = width + 1 + len(rows)
        rows += [{i * size + j: units[i][j] for j in range(size)} for i in range(size)]
        right += [Fraction(1)] * size
        program = Refined([0] * width + [1] + [0] * (columns - width - 1), rows, right, self._start)
        found = _Optimum(leakage, program, np.eye(size), 0.0, [], None, 0.0, 0.0)

        def enough() -> bool:
            entries = [
                [max(Fraction(0), program.values[i * size + j] * units[i][j]) for j in range(size)] for i in range(size)
            ]
            found.matrix = to_channel(entries)
            if self._comparisons.lengths is not None:  # of rows that have to be equal the first stands for all
                found.matrix = found.matrix[(self._comparisons.lengths == 0).argmax(axis=1)]
            found.distortion = self.distortion(found.matrix)
            weights = [max(Fraction(0), -y) for y in program.duals[first : first + len(self._vertices)]]
            if not any(weights):
                weights = [Fraction(1)] * len(weights)
            total = sum(weights)
            multipliers = np.zeros((len(self._pairs), size), dtype=object)
            slope = 0.0
            for place, (number, j, scale) in scales.items():
                if (y := program.duals[place]) < 0:
                    value = -y * factors[number] * unit / scale / total
                    multipliers[number, j] = value
                    weight = 1.0 if comparisons.weights is None else comparisons.weights[number]
                    slope -= float(value) * weight * found.matrix[self._pairs[number][1], j]
            found.weights, found.multipliers, found.slope = [w / total for w in weights], multipliers, slope
            found.bound = self.least_distortion((multipliers, found.weights), leakage)
            if ulps and found.bound <= 0 < found.distortion <= _CLOSED * unit:  # without distortion, but for rounding
                return True
            found.kept = self._keeps(found.matrix, leakage, _ULPS - ulps)
            return found.kept and found.distortion - found.bound <= _CLOSED * found.distortion

        last = wide or not standard
        if not program.refine(enough, last, exchanges) and not last:  # what is exceeded in units of the rows, then
            self._start = None
            return self._solve(leakage, ulps, True, exchanges)
        self._start = program.basis
        if ulps and (not found.kept or found.distortion > 0 >= found.bound):
            without = self._solve(leakage, Fraction(0), wide, exchanges)
            return without if without.kept or found.distortion > 0 >= found.bound else found
        return found

    def _keeps(self, matrix: FloatArray, leakage: float, ulps: Fraction) -> bool:
        """Whether rows sum to 1, but for rounding, and every comparison is kept, but for so many ulps: in exact arithmetic."""
        factors, (givers, takers) = (
            self._comparisons.factors(leakage, -1),
            (self._comparisons.givers, self._comparisons.takers),
        )
        most = np.array([float(factor) for factor in factors])[:, np.newaxis] * matrix[takers]
        excess, delta = np.clip(matrix[givers] - most * (1 - 1e-14), 0, None), self._delta
        if not self._comparisons.standard:
            close = (excess > float(delta) * (1 - 1e-14)).any(axis=1)
        else:
            close = excess.sum(axis=1) > float(delta) * (1 - 1e-14)
        for number in np.flatnonzero(close).tolist():
            factor = factors[number] * (1 + ulps)
            over = [
                Fraction(own) - factor * Fraction(other)
                for own, other in zip(matrix[givers[number]].tolist(), matrix[takers[number]].tolist(), strict=True)
            ]
            if (sum(x for x in over if x > 0) if self._comparisons.standard else max(over)) > delta:
                return False
        return float(np.abs(matrix.sum(axis=1) - 1).max()) <= 1e-15 * len(matrix)

    def _most(self, ratio: float) -> float:
        """A distortion that can be had at ratios of so much: a constant answer, or mostly the truth and an even choice."""
        size = len(self._costs)
        evenly = float((self._vertices @ self._costs.mean(axis=1)).max())
        return min(self._without, evenly * size / (ratio - 1 + size))


def _proposal(best: _Optimum, below: _Optimum) -> Proposal:
    """The mechanism of one leakage, with the bound of another."""
    if _is_open(best) and _is_open(below):
        raise SolverError(
            f"No certificate within the tolerance of {_CLOSE * best.distortion:.2g} in distortion: the remaining gap is "
            f"{best.distortion - best.bound:.2g} in distortion. Try a nearby distortion or leakage."
        )
    if not best.kept:
        raise SolverError("No mechanism was found that keeps to the leakage. Try a nearby distortion or leakage.")
    weights = np.array([float(weight) for weight in below.weights])
    certificate = below.multipliers, np.array(below.weights, dtype=object), np.array([below.leakage])
    return Proposal(best.matrix, weights, certificate)


def _is_open(found: _Optimum) -> bool:
    return found.distortion - found.bound > _CLOSE * found.distortion


def _check_size(comparisons: int, letters: int) -> None:
    if comparisons * letters > _MOST_ROWS:
        raise ValueError(
            wrong(
                "the linear program",
                f"have at most {_MOST_ROWS} rows",
                Clause(f"{comparisons * letters} for {letters} categories"),
                "Merge rare categories, or use a closed form such as uniform_least_distortion.",
            )
        )
