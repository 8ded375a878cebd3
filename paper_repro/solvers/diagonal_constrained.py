r"""Ratio notions and maximal leakage under restrictions, where columns' bounds say all: some numbers a letter, no channel.

Hamming distortion depends on the diagonal ``a_i = 1 - e_i`` alone, and a leakage of at most ``log t`` bounds what else is in a
column j, ``L_j <= Q_ij <= U_j`` for all i, by one number of it at most:

    U_j = t L_j + delta                  differential privacy where all are neighbors; delta pointwise              (ratio),
    U_j = t P_j                          maximal information for one prior P, if P Q = P                            (lift), or
    L_j = 0,  sum_j U_j <= t             maximal leakage                                                            (mass).

So which diagonals are possible is asked of tables between bounds: rows sum to 1, ``Q_ij = 0`` where that is forbidden, and, where
one prior P has to stay as it is, ``sum_i P_i Q_ij = P_j``. There is such a table if and only if for all sets I of true letters
and J of published ones (Hoffman 1960; forbidden pairs have bounds 0, those (i, i) are a_i)

    sum_I P_i  <=  sum_{I x J} P_i U_ij  +  sum_{j not in J} P_j  -  sum_{i not in I, j not in J} P_i L_ij,          (1)

which is linear in e and the columns' numbers. Those for single rows and columns are in the program from the start. Where no prior
has to stay they are all; else others are added where a table cannot be filled (:mod:`paper_repro.solvers.transport`).

**Lower bound.** All inequalities ``A(t) z <= b(t)`` hold for what a restricted channel of leakage at most ``log t`` has, z = e
and the columns' numbers, in a box. So with multipliers y >= 0 of the distortions and n >= 0 of them no such channel has a
distortion of at most D if

    min over the box of  [ sum_v y_v P_v . e  +  n . A(t) z ]  -  n . b(t)  >  D sum y.                             (2)

It is evaluated in exact arithmetic from the multipliers alone. Its left side falls with t, concavely: the t to which it holds is
the next one tried, and is reached from below (Newton's method).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.refinement import Refined, exponential, power_above
from paper_repro.solvers.restrictions import MOST_NATS, SPENT, ULPS, Restrictions
from paper_repro.solvers.transport import filled
from paper_repro.types import BoolArray, FloatArray

__all__ = ["DiagonalConstrainedProgram", "Form"]

# What bounds a column.
Form = Literal["ratio", "lift", "mass"]
# Ratios that are tried, and cuts.
_STEPS, _CUTS = 100, 2_000
# Nats between the best channel and the best bound that no further step is made for.
_DONE = 1e-11
# Nats within which two points tell how fast the distortion falls.
_NEAR = 1e-2
# What floats miss of tables at first.
_ROUGH = 1e-7
# What it costs to miss inequalities that cannot be met, all by the same, and by how much is rounding.
_DEAR, _NOISE = Fraction(2**20), Fraction(1, 10**16)
# A gap, relative to the distortion, with which a program counts as solved.
_CLOSED, _EXACT = Fraction(1, 10**14), Fraction(1, 2**90)
_ZERO, _ONE = Fraction(0), Fraction(1)
# A number and what is added for each unit of t.
_Line = tuple[Fraction, Fraction]


@dataclass
class _Row:
    """``changed . e + columns . c <= right``, where the columns' entries and the right side are lines in t.

    ``every`` is what all columns have in common.
    """

    changed: dict[int, Fraction] = field(default_factory=dict)
    columns: dict[int, _Line] = field(default_factory=dict)
    right: _Line = (_ZERO, _ZERO)
    every: _Line = (_ZERO, _ZERO)

    def add(self, factor: Fraction, bound: _Bound, column: int) -> None:
        """Add a multiple of a column's bound on the left."""
        self.right = _plus(self.right, bound.beside, -factor)
        self.columns[column] = _plus(self.columns.get(column, (_ZERO, _ZERO)), bound.slope, factor)


@dataclass(frozen=True)
class _Bound:
    """A column's bound, ``slope c_j + beside``."""

    slope: _Line = (_ZERO, _ZERO)
    beside: _Line = (_ZERO, _ZERO)


def _plus(line: _Line, other: _Line, factor: Fraction) -> _Line:
    return line[0] + factor * other[0], line[1] + factor * other[1]


@dataclass
class _Solved:
    changed: list[Fraction]
    columns: list[Fraction]
    certificate: tuple[Any, ...]
    distortion: Fraction
    missed: Fraction


class DiagonalConstrainedProgram:
    """The programs of this module for one source set, with Hamming distortion.

    What it proposes is certified by ``(y, n)``: multipliers of the vertices' distortions, shape (V,), and of the inequalities, in
    the order in which they were added. All of them are Fractions.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    restrictions : Restrictions
        With at most one prior that is kept; for a lift with one.
    form : "ratio", "lift" or "mass"
    delta : float in [0, 1)
        For ratios.

    >>> kept = Restrictions(np.zeros(2), np.ones((2, 2), dtype=bool), np.array([[0.75, 0.25]]))
    >>> program = DiagonalConstrainedProgram(kept.kept, kept, "ratio")
    >>> program.at_distortion(0.1875).mechanism.round(9).tolist()
    [[0.875, 0.125], [0.375, 0.625]]
    """

    def __init__(self, vertices: FloatArray, restrictions: Restrictions, form: Form, delta: float = 0.0) -> None:
        self._restricted, self._form, self._delta = restrictions, form, Fraction(delta)
        self._size = len(restrictions.floors)
        self._allowed = restrictions.allowed
        self._mixed: list[Fraction] | None = None  # whose output distribution matters
        if len(restrictions.kept):
            self._mixed = [Fraction(p) for p in restrictions.kept[0].tolist()]
        self._least = [_ZERO if self._allowed[i, i] else _ONE for i in range(self._size)]
        self._floors = [Fraction(f) for f in restrictions.floors.tolist()]
        self._forbidden = [np.flatnonzero(~row).tolist() for row in self._allowed]
        self._uppers, self._lowers = self._bounds()
        self._rows, self._learned = self._base(), set[float]()
        self._set(vertices)

    def _set(self, vertices: FloatArray) -> None:
        self._vertices = vertices
        self._charges = [[Fraction(p) for p in vertex] for vertex in vertices.tolist()]

    def with_vertices(self, vertices: FloatArray) -> DiagonalConstrainedProgram:
        """The same program for other vertices, shape (V, M); what was learned of tables is kept."""
        self._set(vertices)
        return self

    @property
    def may_differ(self) -> bool:
        """Whether rows may differ without any leakage."""
        return self._delta > 0

    @property
    def is_pure(self) -> bool:
        """Whether ratios are bounded, without delta."""
        return self._form == "ratio" and self._delta == 0

    def _bounds(self) -> tuple[list[_Bound], list[_Bound]]:
        everywhere: list[bool] = np.asarray(self._allowed.all(axis=0)).tolist()
        number, one = (_ZERO, _ONE), (_ONE, _ZERO)
        if self._form == "ratio":
            beside = (self._delta, _ZERO)
            uppers = [_Bound(number, beside) if fits else _Bound(beside=beside) for fits in everywhere]
            return uppers, [_Bound(one) if fits else _Bound() for fits in everywhere]
        if self._form == "mass":
            uppers = [_Bound(one)] * self._size
        else:
            assert self._mixed is not None
            uppers = [_Bound(beside=(_ZERO, p)) for p in self._mixed]
        return uppers, [_Bound()] * self._size

    def _base(self) -> list[_Row]:
        """What single rows and columns need, and of a mass the sum."""
        letters, rows = range(self._size), []
        slope = (_ONE, _ZERO) if self._form == "mass" else (_ZERO, _ONE)
        for j in letters:
            if self._allowed[j, j]:
                rows.append(row := _Row({j: -_ONE}, right=(-_ONE, _ZERO)))  # a_j <= U_j
                row.add(-_ONE, self._uppers[j], j)
                if self._lowers[j].slope[0]:
                    rows.append(row := _Row({j: _ONE}, right=(_ONE, _ZERO)))  # L_j <= a_j
                    row.add(_ONE, self._lowers[j], j)
        for i in letters:
            rows.append(row := _Row({i: _ONE}))  # what is given away finds room
            left_out = {i, *self._forbidden[i]}
            if self._form != "lift":
                row.every = -slope[0], -slope[1]
                constant = sum((b.beside[0] for j, b in enumerate(self._uppers) if j not in left_out), _ZERO)
                row.right = (constant, _ZERO)
                for j in letters if self._form == "ratio" else left_out:
                    whole = self._uppers[j].slope
                    if j in left_out or not any(whole):
                        row.columns[j] = slope
            else:
                for j in letters:
                    if j not in left_out:
                        row.add(-_ONE, self._uppers[j], j)
            if self._form == "ratio":
                rows.append(row := _Row({i: -_ONE}, every=(_ONE, _ZERO)))  # and is no less than what has to be
                row.columns = {j: (-_ONE, _ZERO) for j in letters if j == i or not self._lowers[j].slope[0]}
        if self._form == "mass":
            rows.append(_Row(every=(_ONE, _ZERO), right=(_ZERO, _ONE)))
        if self._mixed is None:
            return rows
        for j in letters:
            share, rest = self._mixed[j], [p for i, p in enumerate(self._mixed) if i != j and self._allowed[i, j]]
            others = sum(rest, _ZERO)
            changed = {j: share} if self._allowed[j, j] else {}
            own = share if self._allowed[j, j] else _ZERO
            rows.append(row := _Row(dict(changed), right=(own - share, _ZERO)))  # P_j (1 - a_j) <= sum_i P_i U_j
            row.add(-others, self._uppers[j], j)
            rows.append(
                row := _Row({i: -p for i, p in changed.items()}, right=(share - own, _ZERO))
            )  # and the other way round
            row.add(others, self._lowers[j], j)
        return rows

    def _cut(self, chosen: BoolArray, other: BoolArray) -> _Row:
        """Inequality (1) for letters I and J, shape (M,) each."""
        assert self._mixed is not None
        shares = self._mixed
        row = _Row(right=(-sum((p for p, is_in in zip(shares, chosen.tolist(), strict=True) if is_in), _ZERO), _ZERO))
        for j in range(self._size):
            inside = bool(other[j])
            if not inside:
                row.right = _plus(row.right, (shares[j], _ZERO), _ONE)
            column = self._allowed[:, j] & (chosen if inside else ~chosen)
            column[j] = False
            mass = sum((shares[i] for i in np.flatnonzero(column).tolist()), _ZERO)
            row.add(-mass if inside else mass, (self._uppers if inside else self._lowers)[j], j)
            if self._allowed[j, j] and bool(chosen[j]) == inside:  # P_j a_j, with the sign of its side
                sign = -_ONE if inside else _ONE
                row.changed[j] = -sign * shares[j]
                row.right = _plus(row.right, (shares[j], _ZERO), -sign)
        return row

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return float((self._vertices @ (1 - matrix.diagonal())).max())

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion. Raises SolverError if no solver finds it."""
        allowed, nats = Fraction(distortion * (1 + SPENT)), math.log(max(2.0, 1 / max(distortion, 1e-300)))
        low, high, reached, aside = 0.0, math.inf, -1.0, _DONE / 2
        matrix: FloatArray = np.eye(self._size)
        bound, before = None, None
        for _ in range(_STEPS + _CUTS):
            nats = min(nats, MOST_NATS)
            found = self._solve(ratio := self._ratio(nats), distortion)
            if found.missed:  # at any distortion, which is the better bound
                found = self._solve(ratio, distortion, possible=True)
            if (least := self.least_leakage(found.certificate, distortion)) > reached:
                reached, bound = least, found.certificate
            low = max(low, reached)
            if found.missed or found.distortion > allowed:
                low = max(low, nats)
            elif (made := self._channel(found, ratio)) is None:
                self._learn(ratio)
                continue
            else:
                high, matrix = nats, made
            if bound is not None and (high - reached <= _DONE or math.isinf(reached) or low >= MOST_NATS):
                return Proposal(matrix, _weights(bound), bound)
            if math.isfinite(high) and high - low <= 4e-16 * high:
                break
            target = nats + (1.0 if found.missed else self._step(found, ratio, distortion))
            if not found.missed and found.distortion:
                off = math.log(float(found.distortion)) - math.log(distortion)
                if before is not None and 0 < abs(nats - before[0]) < _NEAR and off != before[1]:
                    target = nats - off * (nats - before[0]) / (off - before[1])
                before = nats, off
            if low < target < min(high - aside, 2 * low + 10):
                nats = target
            elif math.isinf(high):
                nats = 6 * low + 6
            elif high - low > _NEAR and not abs(target - high) < _NEAR**3:
                nats = (low + high) / 2
            else:  # bounds are good to the left of the end: one step aside, or two, or four
                nats, aside = max(high - aside, (low + high) / 2), 2 * aside
        if bound is None:
            raise SolverError(
                f"No mechanism of least leakage was certified at distortion {distortion!r}. Try a nearby distortion, or "
                "relax a constraint."
            )
        return Proposal(matrix, _weights(bound), bound)

    def _step(self, found: _Solved, ratio: Fraction, distortion: float) -> float:
        """Newton's, for the logarithms of distortion and t: nats to the distortion that is asked for."""
        penalties, multipliers = found.certificate
        weight, slope = sum(penalties.tolist(), _ZERO), _ZERO
        for n, row in zip(multipliers.tolist(), self._rows, strict=False):
            if n:
                slope += n * (sum((line[1] * found.columns[j] for j, line in row.columns.items() if line[1]), _ZERO))
                slope += n * (row.every[1] * sum(found.columns, _ZERO) - row.right[1])
        if not (weight and slope < 0 and found.distortion):
            return math.inf
        off = math.log(float(found.distortion)) - math.log(distortion)
        return off * float(-found.distortion * weight / (slope * ratio))

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a leakage in nats. Raises SolverError if no solver finds it, or there is no such channel."""
        ratio = self._ratio(leakage)
        for _ in range(_CUTS):
            found = self._solve(ratio, 1.0)
            if found.missed:
                break
            matrix = self._channel(found, ratio)
            if matrix is None:
                self._learn(ratio)
            else:
                return Proposal(matrix, _weights(found.certificate), found.certificate)
        raise SolverError(
            f"No mechanism of leakage {leakage!r} nats was found. Try a nearby leakage, or relax a constraint."
        )

    @staticmethod
    def _ratio(leakage: float) -> Fraction:
        return max(_ONE, exponential(min(leakage, MOST_NATS), -1)) if leakage else _ONE

    def least_leakage(self, certificate: tuple[Any, ...], distortion: float) -> float:
        """The largest leakage in nats known to be excluded at a distortion by (2); 0 if none is, infinity if all are."""
        root = self._root(certificate, Fraction(distortion * (1 + SPENT)))
        if root is None or root >= Fraction(math.exp(MOST_NATS)):
            return math.inf
        if root < 2:
            return max(0.0, math.log1p(float(root - 1)) * (1 - 4e-16))
        return (math.log(root.numerator) - math.log(root.denominator)) * (1 - 4e-16)

    def least_distortion(self, certificate: tuple[Any, ...], leakage: float) -> float:
        """Bound (2) on the distortion of restricted channels that leak at most so many nats; never below 0."""
        weight = sum(certificate[0].tolist(), _ZERO)
        if weight == 0:
            return 0.0
        ratio = exponential(min(leakage, MOST_NATS), 1) if leakage else _ONE
        total, _ = self._falling(certificate)(ratio)
        return max(0.0, float(total / weight))

    def _falling(self, certificate: tuple[Any, ...]) -> Any:
        """The left side of (2) as a function of t, with its slope to the right."""
        penalties, multipliers = certificate
        changed = [
            sum((y * p[i] for y, p in zip(penalties.tolist(), self._charges, strict=False) if y), _ZERO)
            for i in range(self._size)
        ]
        columns: list[_Line] = [(_ZERO, _ZERO)] * self._size
        every: _Line = (_ZERO, _ZERO)
        beside: _Line = (_ZERO, _ZERO)
        for n, row in zip(multipliers.tolist(), self._rows, strict=False):
            if n:
                for i, entry in row.changed.items():
                    changed[i] += n * entry
                for j, line in row.columns.items():
                    columns[j] = _plus(columns[j], line, n)
                every, beside = _plus(every, row.every, n), _plus(beside, row.right, -n)
        fixed = beside[0]
        for entry, least, floor in zip(changed, self._least, self._floors, strict=True):
            fixed += entry * (least if entry > 0 else 1 - floor)
        columns = [_plus(line, every, _ONE) for line in columns]

        def falling(ratio: Fraction | None) -> tuple[Fraction, Fraction]:
            """At t; or, without one, of the line that it ends as."""
            total, slope = fixed, beside[1]
            for start, rate in columns:
                under = (rate < 0 or (rate == 0 and start < 0)) if ratio is None else start + ratio * rate < 0
                if under:
                    total, slope = total + start, slope + rate
            return (total if ratio is None else total + ratio * slope), slope

        return falling

    def _root(self, certificate: tuple[Any, ...], distortion: Fraction) -> Fraction | None:
        """The t, at least 1, up to which (2) holds; None if it does for all."""
        falling, paid = self._falling(certificate), distortion * sum(certificate[0].tolist(), _ZERO)
        start, slope = falling(None)
        if slope == 0:
            return None if start > paid else _ONE
        ratio = (paid - start) / slope
        for _ in range(self._size + 2):  # each step leaves a column behind
            ratio = max(ratio, _ONE)
            value, slope = falling(ratio)
            if value >= paid:
                return ratio
            if ratio == 1 or slope == 0:
                break
            ratio = ratio + (paid - value) / slope
        return _ONE

    def _solve(self, ratio: Fraction, distortion: float, possible: bool = False) -> _Solved:
        """Least distortion at a ratio, or by how little inequalities are missed."""
        size = self._size
        tops = [1 - min(_ONE, f * (1 + size * ULPS)) for f in self._floors]  # entries' rounding adds up in a row
        unit = _ONE / power_above(ratio) if self._form == "ratio" else _ONE
        everything = power_above(Fraction(size)) * unit
        total, missed, worst = 2 * size, 2 * size + 1, 2 * size + 2
        rows: list[dict[int, Fraction]] = []
        right: list[Fraction] = []
        scales: list[Fraction] = []

        def at(line: _Line) -> Fraction:
            return line[0] + ratio * line[1]

        def add(entries: Mapping[int, Fraction], limit: Fraction, equal: bool = False) -> None:
            scale = power_above(max((abs(x) for x in entries.values() if x), default=_ONE))
            row = {column: x / scale for column, x in entries.items() if x}
            if not equal:
                row[worst + 1 + len(rows)] = _ONE
            rows.append(row)
            right.append(limit / scale)
            scales.append(scale)

        for charges in self._charges:
            spent = -sum((p * least for p, least in zip(charges, self._least, strict=True)), _ZERO)
            add({**dict(enumerate(charges)), worst: -_ONE}, spent)
        for row in self._rows:
            entries = dict(row.changed)
            limit = at(row.right) - sum((x * self._least[i] for i, x in row.changed.items()), _ZERO)
            entries |= {size + j: at(line) * unit for j, line in row.columns.items()}
            entries |= {total: at(row.every) * everything}
            add({**entries, missed: -power_above(max((abs(x) for x in entries.values() if x), default=_ONE))}, limit)
        stated = len(rows)
        for i, (least, top) in enumerate(zip(self._least, tops, strict=True)):
            if least:
                add({i: _ONE}, _ZERO)
            elif top < 1 or not self._lowers[i].slope[0]:
                add({i: _ONE}, top)
        add({**{size + j: unit for j in range(size)}, total: -everything}, _ZERO, equal=True)
        costs = [_ZERO] * missed + ([_ONE, _ZERO] if possible else [_DEAR, _ONE]) + [_ZERO] * len(rows)
        program = Refined(costs, rows, right)
        count, found = len(self._charges), None

        def read() -> _Solved:
            values = program.values
            duals = [max(_ZERO, -y / scale) for y, scale in zip(program.duals[:stated], scales, strict=False)]
            changed = [
                least + max(_ZERO, min(x, top - least))
                for x, least, top in zip(values[:size], self._least, tops, strict=True)
            ]
            return _Solved(
                changed,
                [max(_ZERO, x * unit) for x in values[size : 2 * size]],
                (np.array(duals[:count], dtype=object), np.array(duals[count:], dtype=object)),
                max(sum((p * e for p, e in zip(charge, changed, strict=True)), _ZERO) for charge in self._charges),
                values[missed] if values[missed] > _NOISE else _ZERO,
            )

        def enough() -> bool:
            nonlocal found
            found = read()
            if program.missed > _EXACT:
                return False
            if found.missed:
                return True
            bound, weight = self._falling(found.certificate)(ratio)[0], sum(found.certificate[0].tolist(), _ZERO)
            gap = found.distortion * weight - bound
            return gap <= weight * _CLOSED * max(found.distortion, Fraction(distortion) / 2**20)

        program.refine(enough, decide=False)
        return found or read()

    def _learn(self, ratio: Fraction) -> None:
        """Add inequalities (1) that floats find at a ratio, and of these only what the last solution meets with equality."""
        from scipy.optimize import linprog

        if self._mixed is None or float(ratio) in self._learned:
            return
        self._learned.add(float(ratio))
        size, start = self._size, len(self._rows)
        lines = [self._in_floats(row, ratio) for row in self._rows]
        most = np.array([float(1 - f) for f in self._floors])
        least = np.array([float(x) for x in self._least])
        box = np.column_stack([np.append(least, np.zeros(size)), np.append(most, np.ones(size))])
        unit = float(power_above(ratio)) if self._form == "ratio" else 1.0
        box[size:] *= unit
        for _ in range(_CUTS):
            matrix = np.array([line[0] for line in lines])
            matrix[:, size:] /= unit
            right = np.array([line[1] for line in lines])
            charges = np.column_stack(
                [self._vertices, np.zeros((len(self._vertices), size)), -np.ones(len(self._vertices))]
            )
            found = linprog(
                np.append(np.zeros(2 * size), 1.0),
                A_ub=np.vstack([np.column_stack([matrix, np.zeros(len(matrix))]), charges]),
                b_ub=np.append(right, np.zeros(len(charges))),
                bounds=np.vstack([box, [0.0, 1.0]]),
                method="highs-ds",
            )
            if found.status != 0:
                break
            point = (
                [Fraction(max(x, 0.0)) for x in found.x[:size]],
                [Fraction(max(x, 0.0) / unit) for x in found.x[size:-1]],
            )
            if self._channel(_Solved(*point, (), _ZERO, _ZERO), ratio, _ROUGH) is not None:
                break
            lines.append(self._in_floats(self._rows[-1], ratio))
        if found.status == 0:
            slack = right - matrix @ found.x[:-1]
            tight = [
                row for row, left in zip(self._rows[start : len(slack)], slack[start:], strict=True) if left < _ROUGH
            ]
            self._rows[start:] = tight

    def _in_floats(self, row: _Row, ratio: Fraction) -> tuple[FloatArray, float]:
        """A row's entries for e and the columns' numbers, shape (2 M,), and its right side."""
        entries = np.zeros(2 * self._size)
        entries[self._size :] = float(row.every[0] + ratio * row.every[1])
        for i, entry in row.changed.items():
            entries[i] = float(entry)
        for j, line in row.columns.items():
            entries[self._size + j] += float(line[0] + ratio * line[1])
        return entries, float(row.right[0] + ratio * row.right[1])

    def _channel(self, found: _Solved, ratio: Fraction, missed: float = 1e-12) -> FloatArray | None:
        """The channel of a solution; None if there is none, and then an inequality is added, if it is missed by so much."""
        size, allowed = self._size, self._allowed.copy()
        np.fill_diagonal(allowed, False)

        def bound(bounds: list[_Bound]) -> list[Fraction]:
            return [
                (b.slope[0] + ratio * b.slope[1]) * c + b.beside[0] + ratio * b.beside[1]
                for b, c in zip(bounds, found.columns, strict=True)
            ]

        lower, upper = bound(self._lowers), bound(self._uppers)
        given = [_left(found.changed[i], lower, allowed[i]) for i in range(size)]
        low = np.array([float(x) for x in lower])
        room = np.array([float(max(_ZERO, u - x)) for u, x in zip(upper, lower, strict=True)])
        rooms = np.where(allowed, room, 0.0)
        rows = np.array([float(max(_ZERO, x)) for x in given])
        beyond = _in_proportion(rooms, rows) if self._mixed is None else self._filled(found, lower, rooms, rows, missed)
        if beyond is None:
            return None
        matrix = np.where(allowed, low, 0.0) + beyond
        sums = beyond.sum(axis=1)
        wanted = np.divide(rows, sums, out=np.ones(size), where=sums > 0)[:, np.newaxis]
        matrix = np.where(allowed, np.clip(low + beyond * wanted, low, low + room), 0.0)
        kept = np.array([float(1 - x) for x in found.changed])
        np.fill_diagonal(matrix, np.clip(kept, low, low + room) if self._form == "ratio" else kept)
        for row in matrix:
            largest = int(row.argmax())
            row[largest] = 0.0
            row[largest] = 1 - math.fsum(row)
        return matrix

    def _filled(
        self, found: _Solved, lower: list[Fraction], rooms: FloatArray, rows: FloatArray, missed: float
    ) -> FloatArray | None:
        assert self._mixed is not None
        size, shares = self._size, np.array([float(p) for p in self._mixed])
        rest = []
        for j in range(size):
            left = self._mixed[j] * (found.changed[j] if self._allowed[j, j] else 1)
            others = sum((p for i, p in enumerate(self._mixed) if i != j and self._allowed[i, j]), _ZERO)
            rest.append(left - others * lower[j])
        columns = np.array([float(max(_ZERO, x)) for x in rest])
        columns *= float(shares @ rows) / max(float(columns.sum()), 1e-300)
        table = filled(rooms * shares[:, np.newaxis], shares * rows, columns, missed)
        if isinstance(table, tuple):
            self._rows.append(self._cut(*table))
            return None
        beyond = np.divide(table, shares[:, np.newaxis], out=np.zeros_like(rooms), where=shares[:, np.newaxis] > 0)
        beyond[shares == 0] = _in_proportion(rooms[shares == 0], rows[shares == 0])
        return np.asarray(beyond)


def _left(changed: Fraction, lower: list[Fraction], allowed: BoolArray) -> Fraction:
    return changed - sum((x for x, fits in zip(lower, allowed.tolist(), strict=True) if fits and x), _ZERO)


def _in_proportion(rooms: FloatArray, rows: FloatArray) -> FloatArray:
    """Rows of these sums, shape (M,), in proportion to their rooms, shape (M, M)."""
    shares: FloatArray = np.minimum(rows / np.maximum(rooms.sum(axis=1), 1e-300), 1.0)
    return rooms * shares[:, np.newaxis]


def _weights(certificate: tuple[Any, ...]) -> FloatArray:
    return np.array([float(y) for y in certificate[0]])
