r"""Ratio notions and maximal leakage over the whole channel under restrictions: what is kept, what stays as it is, zeros.

A channel is *restricted* if ``Q_ii >= f_i`` for every letter, ``Q_ij = 0`` for some pairs, and ``P_k Q = P_k`` for some priors.
Its leakage is at most eps where, with ``t = exp(eps)``, in every column j

    Q_ij <= v_j,  v_j <= t (p Q)_j          for every letter i and some mixtures p of rows               (lift),
    Q_ij <= v_j,  sum_j v_j <= t                                                                          (mass), or
    Q_gj <= t^w Q_kj + delta                for some pairs of rows g, k, or delta for all columns         (pairs).

Differential privacy between all letters is a lift whose mixtures are the rows themselves, maximal information one whose mixtures
are the vertices of the source set; maximal leakage is mass.

**Lower bound.** For multipliers >= 0 of these inequalities, add them up: channels that leak at most eps have ``N(Q) <= D_t(Q)``,
two linear forms with entries >= 0. With y >= 0 for the distortions of the vertices and any n for what stays as it is, let

    L_ij = N_ij - D_t,ij + sum_v y_v P_v(i) d_ij + sum_k n_kj P_k(i).

The rows of Q are distributions with a floor, so that ``sum L_ij Q_ij`` is at least

    S = sum_i [f_i L_ii + (1 - f_i) min_j L_ij]

over the pairs that are not forbidden. So if

    S  >  D sum y + sum_kj n_kj P_k(j)                                                                    (1)

no restricted channel of at most this leakage has a distortion of at most D. It is evaluated in exact arithmetic, from the
multipliers alone. (What a form has beside Q, delta or a multiple of t, joins the right side.)

**Which eps.** At a leakage the program minimizes by how much the inequalities are missed, or at a leakage budget the distortion.
The best channel that it finds leaks so much, and so much is tried next (Dinkelbach 1967).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.channel_ratio import Comparisons
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.refinement import Refined, exponential, power_above, to_channel
from paper_repro.solvers.restrictions import MOST_NATS, SPENT, ULPS, Restrictions
from paper_repro.types import FloatArray

__all__ = ["ChannelConstrainedProgram"]

# A gap, relative to the distortion, with which a program counts as solved, and one in what is missed, far from the end.
_CLOSED, _FAR, _NOISE = 1e-13, Fraction(1, 1000), 1e-12
# Nats between the best channel and the best bound that no further step is made for.
_DONE = 1e-11
_STEPS = 60


@dataclass
class _Solved:
    matrix: FloatArray
    certificate: tuple[Any, ...]
    missed: float = 0.0
    slope: float = 0.0
    fits: bool = False


class ChannelConstrainedProgram:
    """The programs of this module for one source set.

    What it proposes is certified by ``(y, n, f, g)``: multipliers of the vertices' distortions, shape (V,), of what stays as it
    is, shape (K, M), and of the inequalities: of ``Q_ij <= v_j``, shape (M, M), and ``v_j <= t (p Q)_j``, shape (mixtures, M);
    or of the pairs, shape (C, M), and none. All of them are Fractions.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
    restrictions : Restrictions
    leakage : Comparisons of pairs, ndarray of the mixtures of a lift, shape (mixtures, M), or None for mass
    evaluate : callable
        The leakage of a channel in nats, from its definition.

    >>> prior, costs = np.array([[0.75, 0.25]]), 1 - np.eye(2)
    >>> kept = Restrictions(np.zeros(2), np.ones((2, 2), dtype=bool), prior)
    >>> ratio = lambda channel: float(np.log(channel.max(axis=0) / channel.min(axis=0)).max())
    >>> program = ChannelConstrainedProgram(prior, costs, kept, np.eye(2), ratio)
    >>> program.at_distortion(0.1875).mechanism.round(9).tolist()
    [[0.875, 0.125], [0.375, 0.625]]
    """

    def __init__(
        self,
        vertices: FloatArray,
        costs: FloatArray,
        restrictions: Restrictions,
        leakage: Comparisons | FloatArray | None,
        evaluate: Callable[[FloatArray], float],
    ) -> None:
        self._vertices, self._costs, self._restricted = vertices, costs, restrictions
        self._size, self._leakage, self._evaluate = len(costs), leakage, evaluate
        self._cells: list[tuple[int, int]] = [(i, j) for i, j in np.argwhere(restrictions.allowed).tolist()]
        self._floors = [Fraction(f) for f in restrictions.floors.tolist()]
        self._kept = [[Fraction(p) for p in prior] for prior in restrictions.kept.tolist()]
        self._charges = [
            [[Fraction(p) * Fraction(d) for d in row] for p, row in zip(vertex, costs.tolist(), strict=True)]
            for vertex in vertices.tolist()
        ]
        self._mixtures: list[list[Fraction]] = []
        if isinstance(leakage, np.ndarray):
            self._mixtures = [[Fraction(p) for p in mixture] for mixture in leakage.tolist()]
        self._start: Any = None
        self._finely = False

    def with_vertices(self, vertices: FloatArray) -> ChannelConstrainedProgram:
        """The same program for other vertices, shape (V, M)."""
        return ChannelConstrainedProgram(vertices, self._costs, self._restricted, self._leakage, self._evaluate)

    @property
    def may_differ(self) -> bool:
        """Whether rows may differ without any leakage: where pairs do not compare all of them, or leave delta."""
        return isinstance(self._leakage, Comparisons)

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion. Raises SolverError if no solver finds it."""
        allowed = Fraction(distortion * (1 + SPENT))
        if self._leakage is None:
            return self._proposal(self._solve(0.0, allowed))
        low, high, leakage, self._finely = 0.0, math.inf, 0.0, False
        best, bound, tried = None, None, set()
        for _ in range(_STEPS):
            tried.add(leakage)
            found = self._solve(leakage, allowed)
            reached = self.least_leakage(found.certificate, distortion, low)
            leaked = self._evaluate(found.matrix) if found.fits else math.inf
            if leaked < high or best is None or not best.fits:
                high, best = leaked, found
            if reached > low or bound is None:
                low, bound = reached, found
            if (math.isfinite(high) and high - low <= _DONE) or math.isinf(low) or leakage >= MOST_NATS:
                break
            step = leakage + found.missed / found.slope if found.slope > 0 else math.inf
            if math.isinf(high):
                step = max(low, 2 * leakage + 0.5)
            elif not low <= step <= high or step in tried:
                step = high if found.slope > 0 and high not in tried else (low + high) / 2
            if step in tried and self._finely:
                break
            if step in tried:  # all that floats tell apart, but not fractions
                self._finely = True
                tried.clear()
            leakage = min(step, MOST_NATS)
        if best is not None and bound is not None:
            return self._proposal(best, bound)
        raise SolverError(
            f"No mechanism of least leakage was certified at distortion {distortion!r}. Try a nearby distortion, or relax a "
            "constraint."
        )

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage in nats. Raises SolverError if no solver finds it, or there is no such channel."""
        found = self._solve(min(leakage, MOST_NATS), None)
        if not found.fits:  # the least that the restrictions allow, but for rounding
            found = self._solve(min(leakage + _close(leakage), MOST_NATS), None)
        return self._proposal(found)

    def least_leakage(self, certificate: tuple[Any, ...], distortion: float, least: float = 0.0) -> float:
        """The largest leakage in nats known to be excluded at a distortion by (1); 0 if none is, infinity if all are.

        Looked for from ``least`` on.
        """
        excess = self._excess(certificate, Fraction(distortion * (1 + SPENT)))
        low, high, place = least, math.inf, least
        for _ in range(200):
            over, slope = excess(place)
            if over > 0:
                low = place
                if place >= MOST_NATS:
                    return math.inf
            elif place == least:
                return least
            else:
                high = place
            if high - low <= 1e-15 * max(low, 1e-3):
                break
            step = place + float(over / slope) if slope else math.inf
            if over < -1:  # where the exponential rules, Newton's method goes down by one nat at a time
                step = (low + high) / 2
            if step >= high and over > 0:
                step = (low + high) / 2 if math.isfinite(high) else 2 * low + 1
            if abs(step - place) <= 1e-15 * max(place, 1e-3):
                step = place * (1 - 2e-15) - 2e-18 if over <= 0 else place * (1 + 1e-15) + 1e-18
            if not low < step < high:
                step = (low + high) / 2 if math.isfinite(high) else 2 * low + 1
            place = min(step, MOST_NATS)
        return low

    def least_distortion(self, certificate: tuple[Any, ...], leakage: float) -> float:
        """Bound (1) on the distortion of restricted channels that leak at most so many nats; never below 0."""
        weight = sum(map(Fraction, certificate[0]), Fraction(0))
        if weight == 0:
            return 0.0
        return max(0.0, float(self._excess(certificate, Fraction(0))(min(leakage, MOST_NATS))[0] / weight))

    def _excess(self, certificate: tuple[Any, ...], distortion: Fraction) -> Callable[..., tuple[Fraction, Fraction]]:
        """What (1) has on the left and not on the right, as a function of the leakage, and how fast it falls; or a channel's."""
        penalties, stays, first, second = certificate
        size, letters = self._size, range(self._size)
        fixed = [[Fraction(0)] * size for _ in letters]
        for y, charges in zip(penalties.tolist(), self._charges, strict=True):
            if y:
                for row, charge in zip(fixed, charges, strict=True):
                    for j in letters:
                        row[j] += y * charge[j]
        beside = -distortion * sum(penalties.tolist(), Fraction(0))
        for numbers, prior in zip(stays.tolist(), self._kept, strict=True):
            for j, n in enumerate(numbers):
                if n:
                    beside -= n * prior[j]
                    for i in letters:
                        fixed[i][j] += n * prior[i]
        falling: dict[float, list[list[Fraction]]] = {}  # by the power of t
        mass = Fraction(0)
        if isinstance(self._leakage, Comparisons):
            compared = self._leakage
            weights = np.ones(compared.givers.size) if compared.weights is None else compared.weights
            for giver, taker, weight, row in zip(
                compared.givers.tolist(), compared.takers.tolist(), weights.tolist(), first.tolist(), strict=True
            ):
                if not any(row):
                    continue
                form = falling.setdefault(weight, [[Fraction(0)] * size for _ in letters])
                for j, f in enumerate(row):
                    if f:
                        fixed[giver][j] += f
                        form[taker][j] += f
                beside -= Fraction(compared.delta) * (max(row) if compared.standard else sum(row))
        else:
            for i in letters:
                for j in letters:
                    fixed[i][j] += first[i, j]
            sums = [sum(first[:, j].tolist(), Fraction(0)) for j in letters]
            if self._leakage is None:
                mass = max(sums)
            else:
                form = falling.setdefault(1.0, [[Fraction(0)] * size for _ in letters])
                for j in letters:
                    column = second[:, j].tolist()
                    whole = sum(column, Fraction(0))
                    shares = [g / whole for g in column] if whole else [Fraction(1), *[Fraction(0)] * (len(column) - 1)]
                    for share, mixture in zip(shares, self._mixtures, strict=True):
                        if share and sums[j]:
                            for i in letters:
                                form[i][j] += sums[j] * share * mixture[i]
        allowed = [np.flatnonzero(row).tolist() for row in self._restricted.allowed]

        def excess(leakage: float, channel: FloatArray | None = None) -> tuple[Fraction, Fraction]:
            factors = {weight: exponential(leakage * weight, 1) if leakage else Fraction(1) for weight in falling}
            ratio = exponential(leakage, 1) if leakage else Fraction(1)
            total, slope = beside - ratio * mass, ratio * mass
            for i in letters:
                row = list(fixed[i])
                for weight, form in falling.items():
                    for j in letters:
                        if form[i][j]:
                            row[j] -= factors[weight] * form[i][j]
                best, floor = min(allowed[i], key=row.__getitem__), self._floors[i]
                total += (1 - floor) * row[best] + (floor * row[i] if floor else 0)
                for weight, form in falling.items() if channel is None else ():
                    part = (1 - floor) * form[i][best] + floor * form[i][i]
                    if part:
                        slope += Fraction(weight) * factors[weight] * part
            if channel is not None:
                for weight, form in falling.items():
                    part = Fraction(float((np.array(form, dtype=float) * channel).sum()))
                    slope += Fraction(weight) * factors[weight] * part
            return total, slope

        return excess

    def _solve(self, leakage: float, distortion: Fraction | None) -> _Solved:
        """By how much the inequalities have to be missed at a leakage and a distortion, or without one the least distortion."""
        size, cells, letters = self._size, self._cells, range(self._size)
        place = {cell: number for number, cell in enumerate(cells)}
        floors = [min(Fraction(1), f * (1 + ULPS)) if f < 1 else f for f in self._floors]
        units = {cell: self._unit(cell, distortion) for cell in cells}
        width = len(cells)
        rows: list[dict[int, Fraction]] = []
        right: list[Fraction] = []
        scales: list[Fraction] = []

        def add(entries: dict[tuple[int, int], Fraction], others: dict[int, Fraction], limit: Fraction) -> None:
            """``entries . Q + others . x <= limit``; Q is what is kept for certain, and the unknowns in their units."""
            row, rest = dict(others), limit
            for (i, j), entry in entries.items():
                if (i, j) in place and entry:
                    row[place[i, j]] = entry * units[i, j]
                if i == j and floors[i]:
                    rest -= entry * floors[i]
            scale = power_above(max((abs(x) for x in row.values()), default=Fraction(1)))
            rows.append({column: x / scale for column, x in row.items()})
            right.append(rest / scale)
            scales.append(scale)

        compared = self._leakage
        extra = 0 if isinstance(compared, Comparisons) and not compared.standard else size
        if isinstance(compared, Comparisons) and compared.standard:
            extra = compared.givers.size * size
        worst = width + extra
        missed = {worst: Fraction(-1)} if distortion is not None and compared is not None else {}
        least = Fraction(1) if missed else Fraction(0)  # the unknown is 1 more than what is missed
        ratio = max(Fraction(1), exponential(leakage, -1) * (1 - ULPS)) if leakage else Fraction(1)
        if isinstance(compared, Comparisons):
            delta = Fraction(compared.delta) * (1 - ULPS)
            factors = [max(Fraction(1), f * (1 - ULPS)) for f in compared.factors(leakage, -1)]
            for c, (giver, taker) in enumerate(zip(compared.givers.tolist(), compared.takers.tolist(), strict=True)):
                own = [width + c * size + j for j in letters]
                for j in letters:
                    both = {(giver, j): Fraction(1), (taker, j): -factors[c]}
                    if compared.standard:
                        add(both, {own[j]: Fraction(-1)}, Fraction(0))
                    else:
                        add(both, missed, delta - least)
                if compared.standard:
                    add({}, {**dict.fromkeys(own, Fraction(1)), **missed}, delta - least)
        else:
            for i in letters:
                for j in letters:
                    if (i, j) in place:
                        add({(i, j): Fraction(1)}, {width + j: Fraction(-1), **missed}, -least)
            for mixture in self._mixtures:
                for j in letters:
                    add({(i, j): -ratio * p for i, p in enumerate(mixture) if p}, {width + j: Fraction(1)}, Fraction(0))
            if compared is None and distortion is None:
                add({}, {width + j: Fraction(1) for j in letters}, ratio)
        charged = len(rows)
        for charges in self._charges:
            spent = {(i, j): charges[i][j] for i in letters for j in letters if charges[i][j]}
            add(spent, {worst: Fraction(-1)} if distortion is None else {}, distortion or Fraction(0))
        slack = len(rows)
        for prior in self._kept:  # the last column follows from the others
            for j in range(size - 1):
                add({(i, j): p for i, p in enumerate(prior) if p}, {}, prior[j])
        for i in letters:
            add({(i, j): Fraction(1) for j in letters if (i, j) in place}, {}, Fraction(1))
        for number in range(slack):
            rows[number][worst + 1 + number] = Fraction(1)
        objective = [Fraction(0)] * (worst + 1 + slack)
        if compared is None and distortion is not None:
            objective[width : width + size] = [Fraction(1)] * size
            objective[worst] = Fraction(1)  # not there
        else:
            objective[worst] = Fraction(1)
        program = Refined(objective, rows, right, self._start)
        found = _Solved(np.eye(size), ())

        def enough() -> bool:
            entries = [[Fraction(0)] * size for _ in letters]
            for cell, number in place.items():
                entries[cell[0]][cell[1]] = max(Fraction(0), program.values[number] * units[cell])
            for i in letters:
                if floors[i]:
                    entries[i][i] += floors[i]
            found.matrix = to_channel(entries)
            duals = [max(Fraction(0), -y / scale) for y, scale in zip(program.duals[:slack], scales, strict=False)]
            stays = np.full((len(self._kept), size), Fraction(0), dtype=object)
            for number in range(len(self._kept) * (size - 1)):
                k, j = divmod(number, size - 1)
                stays[k, j] = -program.duals[slack + number] / scales[slack + number]
            penalties = np.array(duals[charged:slack], dtype=object)
            found.certificate = penalties, stays, *self._multipliers(duals[:charged], place)
            if distortion is None:
                spent = self.distortion(found.matrix)
                bound = self.least_distortion(found.certificate, leakage)
                leaked, found.fits = self._evaluate(found.matrix), self._restricted.are_kept(found.matrix)
                return found.fits and spent - bound <= _CLOSED * spent and leaked <= leakage + _close(leakage)
            leaked, kept = self._evaluate(found.matrix), self._restricted.are_kept(found.matrix)
            kept &= Fraction(self.distortion(found.matrix)) <= distortion * (1 + ULPS)
            found.fits = kept
            if compared is None:
                bound = self.least_leakage(found.certificate, float(distortion))
                return kept and leaked - bound <= _close(leaked)
            missing = program.values[worst] - 1
            over = self._excess(found.certificate, distortion)(leakage, found.matrix)
            found.missed, found.slope = float(missing), float(over[1])
            kept &= missing > 0 or leaked <= leakage + _close(leakage)
            noise = 0.0 if self._finely else _NOISE
            if kept and (missing == -1 or abs(missing - over[0]) <= abs(over[0]) * _FAR + noise):
                return True
            return kept and leaked - self.least_leakage(found.certificate, float(distortion), 0.0) <= _DONE

        program.refine(enough)
        enough()
        self._start = program.basis
        return found

    def _multipliers(self, duals: list[Fraction], place: dict[tuple[int, int], int]) -> tuple[Any, Any]:
        size, compared = self._size, self._leakage
        if isinstance(compared, Comparisons):
            step = size + 1 if compared.standard else size
            table = [duals[c * step : c * step + size] for c in range(compared.givers.size)]
            return np.array(table, dtype=object).reshape(-1, size), np.empty((0, size), dtype=object)
        first = np.full((size, size), Fraction(0), dtype=object)
        for (i, j), number in place.items():
            first[i, j] = duals[number]
        mixed = duals[len(place) : len(place) + len(self._mixtures) * size]
        return first, np.array(mixed, dtype=object).reshape(-1, size)

    def _unit(self, cell: tuple[int, int], distortion: Fraction | None) -> Fraction:
        peak = max(charges[cell[0]][cell[1]] for charges in self._charges)
        return Fraction(1) if not (peak and distortion) else min(Fraction(1), power_above(distortion / peak))

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    @staticmethod
    def _proposal(found: _Solved, bound: _Solved | None = None) -> Proposal:
        certificate = (bound or found).certificate
        return Proposal(found.matrix, np.array([float(y) for y in certificate[0]]), certificate)


def _close(leakage: float) -> float:
    """What rounding may add to a leakage in nats."""
    return 3e-13 * leakage + 1e-15
