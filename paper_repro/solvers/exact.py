r"""Linear programs in exact rational numbers, from the basis that HiGHS found in floats.

A basis names the rows that are tight and as many columns that may be positive. Solving one small system with them, and its
transpose for the dual variables, decides in integers what floats leave open: whether the basis is optimal. Mostly it is, and
nothing is left to do. Where a tie misled the floats, pivots follow the least-index criss-cross rule (Terlaky 1985): of all
variables that are infeasible, basic ones below 0 or others of negative reduced cost, the one of least index is exchanged for the
first that can take its place. It needs no feasible start and never returns to a basis. A singular basis is first mended: what
depends on the rest is replaced by slacks.

Elimination keeps rows as coprime integers and takes the sparsest column first (Markowitz 1957), so that slacks and columns of
one entry, most of a basis, cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from paper_repro.errors import InfeasibleError, SolverError
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.types import BoolArray

__all__ = ["ExactOptimum", "exact_optimum", "solve_exactly"]

_Row = dict[int, int]
# Exchanges that are waited for: the rule for them ends, but not soon.
_MOST_EXCHANGES = 2_000
# The key of a row's right side.
_RIGHT = -1


@dataclass(frozen=True)
class ExactOptimum:
    """An optimal solution in fractions: primal and dual feasible, of one objective, all checked without rounding.

    Attributes
    ----------
    values, duals : tuples of Fraction, of lengths (unknowns,) and (rows,)
        The unknowns, and the rows' dual variables: none above 0 at an inequality.
    objective : Fraction
        In the unit of the costs.
    pivots : int
        Exchanges that the basis needed.
    columns, rows : ndarrays of bool, shapes (unknowns,) and (rows,)
        The basis, as of :class:`paper_repro.solvers.linear.Basis`: true where a column, or a row's slack, is basic.
    """

    values: tuple[Fraction, ...]
    duals: tuple[Fraction, ...]
    objective: Fraction
    pivots: int
    columns: BoolArray = field(repr=False)
    rows: BoolArray = field(repr=False)


def exact_optimum(
    costs: Sequence[Fraction | int],
    matrix: Sequence[Mapping[int, Fraction | int]],
    upper: Sequence[Fraction | int],
    equal: slice = slice(0, 0),
    start: Basis | ExactOptimum | None = None,
    most: int = _MOST_EXCHANGES,
) -> ExactOptimum:
    """Minimize costs . x subject to matrix x <= upper, x >= 0, without rounding; the rows in ``equal`` are equalities.

    Parameters
    ----------
    costs : sequence of Fraction or int, of length (unknowns,)
    matrix : sequence of mappings, of length (rows,)
        Each row's entries by column; those left out are 0.
    upper : sequence of Fraction or int, of length (rows,)
    equal : slice
    start : Basis or ExactOptimum, optional
        That of :func:`paper_repro.solvers.linear.optimal_basis` for the same or a similar program of this shape; HiGHS is asked
        if it is not given.
    most : int
        Exchanges after which it is given up.

    Raises
    ------
    InfeasibleError
        If no x satisfies the rows.
    SolverError
        If the objective has no lower bound, or no finite one without a solution, or after ``most`` exchanges.

    Examples
    --------
    >>> exact_optimum([-1, -2], [{0: 3, 1: Fraction(1, 3)}], [1])
    ExactOptimum(values=(Fraction(0, 1), Fraction(3, 1)), duals=(Fraction(-6, 1),), objective=Fraction(-6, 1), pivots=0)
    """
    program = _Simplex(costs, matrix, upper, equal)
    if start is None:
        try:
            start = _float_basis(costs, matrix, upper, equal)
        except SolverError:  # whatever it was in floats, the exact answer comes from any basis, if later
            return program.from_basis(set(), set(), most)
    return program.from_basis(
        set(np.flatnonzero(start.columns).tolist()), set(np.flatnonzero(~start.rows).tolist()), most
    )


def solve_exactly(system: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Solve a square system, which must not be singular, for each column of its right sides, shape (rows, columns).

    >>> [[str(entry) for entry in row] for row in solve_exactly([[2, 1], [0, 3]], [[1], [1]])]
    [['1/3'], ['1/3']]
    """
    rows = {number: _as_integers(dict(enumerate(row)))[0] for number, row in enumerate(system)}
    scales = [_as_integers(dict(enumerate(row)))[1] for row in system]
    columns = []
    for column in zip(*right, strict=True):
        scaled = {number: scale * entry for number, (scale, entry) in enumerate(zip(scales, column, strict=True))}
        values = _back_substituted(rows, scaled)
        columns.append([values[place] for place in range(len(scales))])
    return [list(row) for row in zip(*columns, strict=True)]


class _Simplex:
    """A program in integers, each row and the costs scaled, and one basis of it: its columns, and the rows that are tight.

    A variable is a column's number, or that of a row, for its slack, added to the number of columns.
    """

    def __init__(
        self,
        costs: Sequence[Fraction | int],
        matrix: Sequence[Mapping[int, Fraction | int]],
        upper: Sequence[Fraction | int],
        equal: slice,
    ) -> None:
        self._costs, self._scale = _as_integers(dict(enumerate(costs)))
        whole = [_as_integers({**row, _RIGHT: right}) for row, right in zip(matrix, upper, strict=True)]
        self._rows, self._scales = [row for row, _ in whole], [scale for _, scale in whole]
        self._right = [row.pop(_RIGHT, 0) for row in self._rows]
        self._size = len(costs)
        self._columns: list[_Row] = [{} for _ in costs]
        for number, row in enumerate(self._rows):
            for column, entry in row.items():
                self._columns[column][number] = entry
        self._equal = set(range(*equal.indices(len(upper))))

    def from_basis(self, columns: set[int], tight: set[int], most: int) -> ExactOptimum:
        self._choose(columns, tight)
        pivots = 0
        while True:
            basic, duals = self._values(), self._duals()
            reduced = self._reduced(self._costs, duals)
            # Slacks of equalities have to be 0 and may have any reduced cost: they leave first, and never come back.
            wrong = [(self._order(k), k) for k, x in basic.items() if x < 0 or (x and k - self._size in self._equal)]
            wrong += [(self._order(k), k) for k, cost in reduced.items() if cost < 0]
            if not wrong:
                return self._optimum(basic, duals, pivots)
            if pivots >= most:
                raise SolverError(
                    f"The optimum was not reached in {pivots} exchanges. Try a nearby distortion or leakage."
                )
            _, chosen = min(wrong)
            other = self._entering(chosen, basic[chosen] > 0) if chosen in basic else self._leaving(chosen)
            for variable in (chosen, other):
                if variable < self._size:
                    self._basic ^= {variable}
                else:
                    self._tight ^= {variable - self._size}
            pivots += 1

    def _choose(self, columns: set[int], tight: set[int]) -> None:
        """Take as much of the basis as is not singular; slacks make up for the rest."""
        steps = _eliminate({row: self._part(self._rows[row], columns) for row in tight})
        self._basic, self._tight = {column for _, column, _ in steps}, {row for row, _, _ in steps}

    def _order(self, variable: int) -> tuple[bool, int]:
        return variable - self._size not in self._equal, variable

    @staticmethod
    def _part(vector: _Row, places: set[int]) -> _Row:
        return {place: entry for place, entry in vector.items() if place in places}

    def _solve(self, right: Mapping[int, Fraction | int]) -> dict[int, Fraction]:
        """Values of the basic columns that give the tight rows these right sides."""
        rows = {row: self._part(self._rows[row], self._basic) for row in self._tight}
        return _back_substituted(rows, right)

    def _solve_transposed(self, right: Mapping[int, Fraction | int]) -> dict[int, Fraction]:
        """Weights of the tight rows that give the basic columns these right sides."""
        columns = {column: self._part(self._columns[column], self._tight) for column in self._basic}
        return _back_substituted(columns, right)

    def _values(self) -> dict[int, Fraction]:
        """The basic variables' values."""
        values = self._solve({row: self._right[row] for row in self._tight})
        slacks = {
            self._size + row: self._right[row] - _dot(self._rows[row], values)
            for row in range(len(self._rows))
            if row not in self._tight
        }
        return values | slacks

    def _duals(self) -> dict[int, Fraction]:
        return self._solve_transposed({column: self._costs.get(column, 0) for column in self._basic})

    def _reduced(self, row: Mapping[int, int], weights: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """A row less the tight rows with these weights, at the variables that are not basic and may be."""
        columns = {
            column: row.get(column, 0) - _dot(self._columns[column], weights)
            for column in range(self._size)
            if column not in self._basic
        }
        return columns | {self._size + tight: -weights[tight] for tight in self._tight - self._equal}

    def _entering(self, leaving: int, falls: bool) -> int:
        """The first variable whose rise lets a basic one return to 0."""
        if leaving < self._size:
            change = self._reduced({}, self._solve_transposed({leaving: 1}))
        else:
            row = self._rows[leaving - self._size]
            change = self._reduced(row, self._solve_transposed(row))
            change = {variable: -rate for variable, rate in change.items()}
        fitting = [variable for variable, rate in change.items() if (rate < 0 if falls else rate > 0)]
        if not fitting:
            raise InfeasibleError("No point satisfies all rows of the linear program. Relax a constraint.")
        return min(fitting)

    def _leaving(self, entering: int) -> int:
        """The first basic variable that falls as another rises."""
        rising = self._columns[entering] if entering < self._size else {entering - self._size: 1}
        falls = self._solve(rising)
        slacks = {
            self._size + row: rising.get(row, 0) - _dot(self._rows[row], falls)
            for row in range(len(self._rows))
            if row not in self._tight
        }
        fitting = [
            self._order(variable)
            for variable, rate in (falls | slacks).items()
            if rate > 0 or (rate and variable - self._size in self._equal)
        ]
        if not fitting:
            raise SolverError(
                "The objective of the linear program has no lower bound, or no point satisfies its rows. Relax a constraint."
            )
        return min(fitting)[1]

    def _optimum(self, basic: dict[int, Fraction], duals: dict[int, Fraction], pivots: int) -> ExactOptimum:
        values = tuple(basic.get(column, Fraction(0)) for column in range(self._size))
        rows = tuple(duals.get(row, Fraction(0)) * scale / self._scale for row, scale in enumerate(self._scales))
        columns = np.array([column in self._basic for column in range(self._size)])
        slacks = np.array([row not in self._tight for row in range(len(self._rows))])
        return ExactOptimum(values, rows, Fraction(_dot(self._costs, basic)) / self._scale, pivots, columns, slacks)


def _float_basis(
    costs: Sequence[Fraction | int],
    matrix: Sequence[Mapping[int, Fraction | int]],
    upper: Sequence[Fraction | int],
    equal: slice,
) -> Basis:
    from scipy.sparse import csr_array

    places = [(row, column) for row, entries in enumerate(matrix) for column in entries]
    entries = [float(entry) for row in matrix for entry in row.values()]
    rows, columns = np.array(places).reshape(-1, 2).T
    floats = csr_array((entries, (rows, columns)), shape=(len(matrix), len(costs)))
    return optimal_basis(np.array(costs, dtype=float), floats, np.array(upper, dtype=float), equal)


def _as_integers(row: Mapping[int, Fraction | int]) -> tuple[_Row, int]:
    """A row without its zeros, scaled to integers, and the scale."""
    scale = math.lcm(*(entry.denominator for entry in row.values()))
    return {place: entry.numerator * (scale // entry.denominator) for place, entry in row.items() if entry}, scale


def _dot(row: Mapping[int, int], values: Mapping[int, Fraction]) -> Fraction:
    return sum((entry * values[place] for place, entry in row.items() if place in values), Fraction(0))


def _eliminate(rows: dict[int, _Row]) -> list[tuple[int, int, _Row]]:
    """Pivots in order, each a row, a column and what the row was then, which is 0 at all earlier pivots' columns.

    A row or a column that depends on the others has none. A right side takes part, and is never a pivot.
    """
    where: dict[int, set[int]] = {}
    for number, row in rows.items():
        for column in row:
            if column != _RIGHT:
                where.setdefault(column, set()).add(number)
    steps = []
    while where:
        column = min(where, key=lambda place: (len(where[place]), place))
        others = where.pop(column)
        if not others:
            continue
        chosen = min(others, key=lambda number: (len(rows[number]), number))
        pivot = rows.pop(chosen)
        for place in pivot:
            if place != column and place != _RIGHT:
                where[place].discard(chosen)
        for number in others - {chosen}:
            rows[number] = row = _combined(rows[number], pivot, column)
            for place in pivot:
                if place != column and place != _RIGHT:
                    (where[place].add if place in row else where[place].discard)(number)
        steps.append((chosen, column, pivot))
    return steps


def _combined(row: _Row, pivot: _Row, column: int) -> _Row:
    """The combination of two rows without a column, in coprime integers."""
    common = math.gcd(row[column], pivot[column])
    own, other = pivot[column] // common, row[column] // common
    found = {place: own * entry for place, entry in row.items()}
    for place, entry in pivot.items():
        found[place] = found.get(place, 0) - other * entry
    divisor = math.gcd(*found.values())
    return {place: entry // divisor for place, entry in found.items() if entry}


def _back_substituted(rows: dict[int, _Row], right: Mapping[int, Fraction | int]) -> dict[int, Fraction]:
    """The solution of a square system that is not singular."""
    whole = {number: _as_integers({**row, _RIGHT: right.get(number, 0)})[0] for number, row in rows.items()}
    values: dict[int, Fraction] = {}
    for _, column, row in reversed(_eliminate(whole)):
        values[column] = (row.get(_RIGHT, 0) - _dot(row, values)) / row[column]
    return values
