r"""Linear programs to as many digits as are asked for: HiGHS solves what is left over, again and again.

HiGHS knows a program to 1e-9, absolutely, and nothing of coefficients below 1e-12. From what it found, x and y for

    minimize  c x   subject to   A x = b,  x >= 0,

all that is still wrong follows in exact arithmetic: the rows' residuals ``b - A x``, bounds ``-x`` and reduced costs ``c - A'y``.
Scaled up to order 1 they are the right side, the bounds and the costs of a program with the same matrix, whose solution, scaled
down again, corrects x and y by another nine digits or so (Gleixner, Steffy and Wolter 2016, Iterative refinement for linear
programming). What is nonbasic is set to 0 exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.exact import exact_optimum
from paper_repro.solvers.linear import Basis, run_bounded, stopped
from paper_repro.types import FloatArray

__all__ = ["EXCHANGES", "Refined", "exponential", "power_above", "to_channel"]

# Rounds after which no more digits are expected, those where another program is at hand, and the most that one scales up by.
_ROUNDS, _FEW, _STEP = 20, 6, 2**36
# What no unknown exceeds where the right sides are of order 1: else what HiGHS does not see of the coefficients has no end.
_BEYOND = 8
# Bounds and costs beyond are as good as infinite, once another solution is nearby.
_LARGE = 1e16
# Exchanges of an exact basis that are waited for.
EXCHANGES = 300
# Iterations of HiGHS for each row, beyond which it is going round in circles.
_ITERATIONS = 20
# By how much less is scaled up where HiGHS fails.
_SHRINK = (1, 2**12, 2**24)
# What HiGHS is told, and in addition when it fails.
_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "presolve": "off",
    "simplex_strategy": 1,
    "simplex_scale_strategy": 2,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "small_matrix_value": 1e-12,
}
_ATTEMPTS: tuple[dict[str, Any], ...] = (
    {},
    {"simplex_strategy": 4},
    {"presolve": "on", "simplex_strategy": 1},
    {"presolve": "off", "simplex_scale_strategy": 0},
    {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7, "simplex_scale_strategy": 2},
)
Exact = Fraction | int


class Refined:
    """The program of this module, solved to nine digits when it is made; :meth:`refine` until they are enough.

    Parameters
    ----------
    costs : sequence of Fraction or int, of length (unknowns,)
    matrix : sequence of mappings, of length (rows,)
        Each row's entries by column, of order 1 as far as they matter; those left out are 0.
    right : sequence of Fraction or int, of length (rows,)
    start : optional
        The :attr:`basis` of another program; used if that has the same shape.

    Attributes
    ----------
    values, duals : lists of Fraction, of lengths (unknowns,) and (rows,)

    Raises
    ------
    SolverError
        If HiGHS finds no optimum.

    >>> found = Refined([0, 1], [{0: 3, 1: -Fraction(1, 10**15)}], [1])
    >>> found.refine(lambda: abs(3 * found.values[0] - 1) < Fraction(1, 10**30))
    True
    """

    def __init__(
        self,
        costs: Sequence[Exact],
        matrix: Sequence[Mapping[int, Exact]],
        right: Sequence[Exact],
        start: Any = None,
    ) -> None:
        self._costs, self._right = [Fraction(cost) for cost in costs], [Fraction(value) for value in right]
        self._most = _BEYOND * (1 + max(abs(value) for value in self._right))
        self._entries = [(row, column, entry) for row, line in enumerate(matrix) for column, entry in line.items()]
        self.values, self.duals = [Fraction(0)] * len(costs), [Fraction(0)] * len(right)
        self._model, self._primal, self._dual = self._loaded(), Fraction(1), Fraction(1)
        if start is not None and (len(start.row_status), len(start.col_status)) == (len(right), len(costs)):
            self._model.setBasis(start)
        self._round(self._right, self._costs, Fraction(1), Fraction(1))

    @property
    def basis(self) -> Any:
        """That of the last solution, for a similar program to begin with."""
        return self._model.getBasis()

    @property
    def missed(self) -> Fraction:
        """By how much the values found miss a row, or 0, at most."""
        rest = list(self._right)
        for row, column, entry in self._entries:
            if value := self.values[column]:
                rest[row] -= entry * value
        return max(max(abs(value) for value in rest), -min(self.values))

    def refine(self, enough: Callable[[], bool], decide: bool = True, exchanges: int = EXCHANGES) -> bool:
        """More digits until they are enough; False if HiGHS has no more, and fractions, unless not asked to decide, neither.

        Fractions take so many exchanges of a basis at most.
        """
        for _ in range(_ROUNDS if decide else _FEW):
            if enough():
                return True
            rest, reduced = list(self._right), list(self._costs)
            for row, column, entry in self._entries:
                if value := self.values[column]:
                    rest[row] -= entry * value
                if dual := self.duals[row]:
                    reduced[column] -= entry * dual
            missed = max(max(abs(value) for value in rest), -min(self.values))
            slack = max(abs(cost) if value > 0 else -cost for cost, value in zip(reduced, self.values, strict=True))
            primal = min(_power(missed), self._primal * _STEP) if missed else self._primal * _STEP
            dual = min(_power(slack), self._dual * _STEP) if slack > 0 else self._dual * _STEP
            if not any(
                self._try(rest, reduced, max(primal / shrink, Fraction(1)), max(dual / shrink, Fraction(1)))
                for shrink in (_SHRINK if decide else _SHRINK[:1])
            ):
                break
        return enough() or (decide and self._decide(exchanges) and enough())

    def _decide(self, exchanges: int) -> bool:
        """Exact values from the last basis on, where HiGHS has no more digits; False if that takes too long."""
        rows: list[dict[int, Exact]] = [{} for _ in self._right]
        for row, column, entry in self._entries:
            rows[row][column] = entry
        columns = np.array([status == self._basic for status in self._model.getBasis().col_status])
        start = Basis(columns, np.zeros(len(rows), dtype=bool), math.nan, np.array([]), np.array([]), None)
        try:
            found = exact_optimum(self._costs, rows, self._right, slice(0, None), start, exchanges)
        except SolverError:
            return False
        self.values, self.duals = list(found.values), list(found.duals)
        return True

    def _try(self, rest: Sequence[Fraction], reduced: Sequence[Fraction], primal: Fraction, dual: Fraction) -> bool:
        try:
            self._round(rest, reduced, primal, dual)
        except SolverError:
            return False
        return True

    def _round(self, rest: Sequence[Fraction], reduced: Sequence[Fraction], primal: Fraction, dual: Fraction) -> None:
        """Solve for the corrections, scaled up, and add them."""
        size, rows = len(reduced), len(rest)
        lower = np.array([-_clipped(primal * value, math.inf) if value else 0.0 for value in self.values])
        right = np.array([_clipped(primal * value, _LARGE) for value in rest])
        upper = np.array([_clipped(primal * (self._most - value), math.inf) for value in self.values])
        self._model.changeColsBounds(size, np.arange(size, dtype=np.int32), lower, upper)
        self._model.changeRowsBounds(rows, np.arange(rows, dtype=np.int32), right, right)
        costs = np.array([_clipped(dual * cost, _LARGE) for cost in reduced])
        self._model.changeColsCost(size, np.arange(size, dtype=np.int32), costs)
        self._run()
        found, basic = self._model.getSolution(), self._basic
        for place, (step, status) in enumerate(zip(found.col_value, self._model.getBasis().col_status, strict=True)):
            moved = status == basic or step > 0 or math.isinf(lower[place])
            self.values[place] = self.values[place] + Fraction(step) / primal if moved else Fraction(0)
        for place, step in enumerate(found.row_dual):
            self.duals[place] += Fraction(step) / dual
        self._primal, self._dual = primal, dual

    def _run(self) -> None:
        for retry in _ATTEMPTS:
            for option, value in retry.items():
                self._model.setOptionValue(option, value)
            if retry:
                self._model.clearSolver()
            if run_bounded(self._model) == self._optimal:
                error = None
                break
            error = SolverError(stopped(self._model))
        for option, value in _OPTIONS.items():
            self._model.setOptionValue(option, value)
        if error is not None:
            raise error

    def _loaded(self) -> Any:
        import highspy
        from scipy.sparse import csc_array

        self._optimal, self._basic = highspy.HighsModelStatus.kOptimal, highspy.HighsBasisStatus.kBasic
        shape = len(self._right), len(self._costs)
        rows, columns, entries = zip(*self._entries, strict=True)
        matrix = csc_array((np.array(entries, dtype=float), (rows, columns)), shape=shape)
        program: Any = highspy.HighsLp()
        program.num_row_, program.num_col_ = shape
        zeros: FloatArray = np.zeros(shape[1])
        program.col_cost_, program.col_lower_, program.col_upper_ = zeros, zeros, np.full(shape[1], highspy.kHighsInf)
        program.row_lower_ = program.row_upper_ = np.zeros(shape[0])
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        model = highspy.Highs()
        for option, value in {**_OPTIONS, "simplex_iteration_limit": _ITERATIONS * shape[0]}.items():
            model.setOptionValue(option, value)
        model.passModel(program)
        return model


def _clipped(value: Fraction, most: float) -> float:
    """A float, or so much if it is larger than what HiGHS takes."""
    return float(value) if abs(value) < _LARGE else most if value > 0 else -most


def _power(size: Fraction) -> Fraction:
    """The power of 2 that scales a number above 0 to order 1."""
    return Fraction(2) ** (size.denominator.bit_length() - size.numerator.bit_length())


def power_above(size: Fraction) -> Fraction:
    """A power of 2 from the number, above 0, to its double.

    >>> power_above(Fraction(3, 8)), power_above(Fraction(4))
    (Fraction(1, 2), Fraction(4, 1))
    """
    power = Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length())
    return power if power >= size else 2 * power


def exponential(power: float, rounded: int) -> Fraction:
    """A bound of ``exp(power)``, of nats, from above (1) or below (-1), up to 709, and as precise in what it exceeds 1 by.

    >>> float(exponential(1e-20, 1) - 1), float(exponential(1.0, -1))
    (1.0000000000000004e-20, 2.7182818284590438)
    """
    few = rounded * Fraction(2, 2**52)
    if power < 0.5:
        return 1 + Fraction(math.expm1(power)) * (1 + few)
    return Fraction(math.exp(min(power, 709.0))) * (1 + few)


def to_channel(entries: Sequence[Sequence[Fraction]]) -> FloatArray:
    """The nearest floats, but for the largest of each row, which makes its sum 1, in the shape that is given.

    >>> to_channel([[Fraction(1, 3), Fraction(2, 3)]]).tolist()
    [[0.3333333333333333, 0.6666666666666667]]
    """
    matrix = np.array([[float(entry) for entry in row] for row in entries])
    for row in matrix:
        largest = int(row.argmax())
        row[largest] = float(
            1 - sum((Fraction(entry) for j, entry in enumerate(row.tolist()) if j != largest), Fraction(0))
        )
    return matrix
