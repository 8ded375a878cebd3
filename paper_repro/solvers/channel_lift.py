r"""Maximal information by a linear program over the whole channel, for any source set and any distances.

A channel Q leaks at most log t if ``Q_ij <= t (P_v Q)_j`` for all inputs i, outputs j and vertices v. With ``u_j``, the least
probability of output j over the set, that is two sparse families of rows in place of M times as many dense ones,

    Q_ij <= t u_j,        u_j <= (P_v Q)_j,                                                                            (1)

and at a given t the least worst-case distortion is a linear program in Q, u and z:

    minimize z     subject to (1),  sum_ij P_v(i) Q_ij d_ij <= z,  rows of Q sum to 1,  Q >= 0.                        (2)

Of the M^2 caps ``Q_ij <= t u_j`` few bind beside those of the diagonal: the others join when a solution breaks them. The solver
goes from one t to the next with the basis it has, since with ``t u_j`` as unknowns only the M V entries 1/t change.

Each column of Q lies in one and the same cone, that of (1), and all that ties columns together is that they add up to 1. There
is nothing smaller that decides the rest: for two letters even u decides the diagonal, ``Q_11 P_1 - Q_22 P_2 = u_1 - P_2``, so
that its entries cannot all be as large as the caps allow. Letters that never occur drop out: their row may be ``u / sum(u)``,
since ``t sum(u)`` is at least the sum of any other row, 1.

**Lower bound.** For weights w of the vertices (a prior ``P = w . P_v``), any ``n_i`` and any ``y_vj >= 0``, let
``Y_j = sum_v y_vj`` and ``E_j = sum_i max(0, sum_v y_vj P_v(i) + n_i - P_i d_ij)``. A channel that leaks at most log t has a
distortion of at least

    sum_i n_i + min(m, m / t),      m = min_j [ Y_j - t E_j ].                                                           (3)

For its distortion under P is ``sum_i n_i + sum_ij (P_i d_ij - n_i) Q_ij``, since rows sum to 1. Column j of the last sum is at
least ``Y_j u_j - sum_i (sum_v y_vj P_v(i) + n_i - P_i d_ij) Q_ij``, since ``(P_v Q)_j >= u_j``; that is at least
``u_j (Y_j - t E_j)``, since ``0 <= Q_ij <= t u_j``; and the u_j add up to at most 1, as the outputs' probabilities under any
vertex do, and to at least 1/t, as any row does. Solved for t: a channel of distortion at most D leaks at least the logarithm of

    min_j (Y_j + r) / E_j  where  r = sum_i n_i - D >= 0,        min_j Y_j / (E_j - r)  otherwise.                       (4)

Both hold whatever the multipliers are; the program's dual variables close them. Multipliers in fractions are evaluated so.

**Which t.** The least distortion falls as t grows, with pieces between which it may stay level: there the least leakage jumps as
a function of the distortion, inside its curve too. Newton's method on ``s = 1/t`` from both sides, with the slope
``sum_vj y_vj t u_j`` that the dual variables give, finds the largest s that the budget allows, guarded by bisection and by (4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import Clause, SolverError, wrong
from paper_repro.solvers.exact import ExactOptimum, exact_optimum
from paper_repro.solvers.games import PERFECT_SLACK
from paper_repro.solvers.linear import Basis, run_bounded, stopped
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.refinement import Refined
from paper_repro.types import BoolArray, FloatArray

__all__ = ["ChannelLiftProgram"]

# The solver's tolerances are absolute, 1e-10 at best, and it drops coefficients below 1e-12: right sides and costs are scaled up,
# and the rows of outputs, whose coefficients are probabilities and 1/t. Too much where vertices differ by next to nothing.
_SCALES = ((1e4, 1e4), (1e2, 1.0))
_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "presolve": "off",  # a warm start needs the basis
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "small_matrix_value": 1e-12,
    "simplex_iteration_limit": 2**31 - 1,
    "run_crossover": "on",
    "ipm_optimality_tolerance": 1e-8,
}
# Where it reaches its tolerances next to nothing, its solution will do: what it is worth is found out elsewhere.
_MISSED = 1e-6
_LOOSE: dict[str, Any] = {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7}
_ATTEMPTS: tuple[dict[str, Any], ...] = (
    {"solver": "ipm"},
    _LOOSE,
    _LOOSE | {"presolve": "on"},
    _LOOSE | {"presolve": "on", "solver": "ipm"},
)
# Steps of the simplex method, for each row, beyond which an interior point gets there sooner; where even the way from that to a
# basis is longer, because next to all caps bind there, the interior point itself will do.
_STEPS, _FEW = 3, 1_000
_INTERIOR: tuple[dict[str, Any], ...] = (
    {"solver": "ipm"},
    {"solver": "ipm", "run_crossover": "off", "ipm_optimality_tolerance": 1e-12},
)
# From such an s on so many caps bind that no way to a basis is tried from an interior point: it has been found to be the longer.
_BINDING = 0.125
# A change of s, relative to it, that is small for a basis.
_NEAR = 0.05
# Multipliers below are the solver's rounding.
_NOISE = 1e-14
# Caps that a solution oversteps by more join the program.
_OVERSTEPPED = 1e-12
# A gap, relative to the distortion or in nats, that needs no exact arithmetic.
_CLOSED = 1e-10
# Where the search for s begins, relative to the simplest mechanism's: from there bases lead on, from afar they take long.
_FIRST = 1.2
# How far beyond Newton's point a root search looks, relative to s, and how often it tries.
_BESIDE, _TRIES = 1e-11, 80
# Beyond so many nats exp(-leakage) is no normal number.
_MOST_NATS = 700.0
# Where a budget larger by the slack of a jump would lower the leakage by more, the jump counts as reached.
_JUMP = 1e-9
# Coefficients of programs that are solved: some minutes.
_MOST_WORK = 200_000
# Unknowns of programs that are solved in fractions where floats do not do.
_MOST_EXACT, _MOST_PIVOTS = 150, 100
# What digits may miss, relative to the distortion.
_DIGITS = Fraction(1, 10**24)


@dataclass(frozen=True)
class _Optimum:
    """A solution of (2) at one s: floats, or fractions in arrays of objects.

    ``slope`` is the change of the distortion with s.
    """

    step: Any
    distortion: Any
    slope: Any
    channel: Any
    weights: Any
    rows: Any
    outputs: Any

    @property
    def multipliers(self) -> tuple[Any, Any, Any]:
        return self.weights, self.rows, self.outputs


class ChannelLiftProgram:
    """Program (2) of this module for one source set.

    What it proposes is certified by ``(w, n, y)``: weights of the vertices, shape (V,), and multipliers of the rows, shape (M,),
    and of the outputs, shape (V, M), as floats or, where only they do, as fractions.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.

    >>> program = ChannelLiftProgram(np.array([[0.4, 0.3, 0.2, 0.1]]), 1 - np.eye(4))
    >>> proposal = program.at_leakage(math.log(4))
    >>> round(program.distortion(proposal.mechanism), 12), round(program.least_distortion(proposal, math.log(4)), 12)
    (0.1, 0.1)
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray) -> None:
        if (work := vertices.size * vertices.shape[1]) > _MOST_WORK:
            raise ValueError(
                wrong(
                    "the linear program",
                    f"have at most {_MOST_WORK} coefficients",
                    Clause(f"{work} for {vertices.shape[1]} categories and {len(vertices)} vertices"),
                    "Merge rare categories, or give fewer vertices.",
                )
            )
        self._known = vertices.any(axis=0)
        self._vertices, self._costs = vertices[:, self._known], costs[self._known]
        self._models: dict[tuple[float, float], _Model] = {}
        self._basis: Basis | ExactOptimum | None = None
        self._start: Any = None

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a finite positive leakage in nats."""

        def solved(solve: Callable[[Any], _Optimum], step: Any) -> tuple[Proposal, float]:
            found = solve(step)
            proposal = self._proposal(found, found)
            spent = self.distortion(proposal.mechanism)
            return proposal, (spent - self.least_distortion(proposal, leakage)) / spent if spent else 0.0

        return self._first_closed(
            lambda: solved(self._in_floats, math.exp(-leakage)),
            lambda: solved(self._in_digits, _exponential(leakage)),
            lambda: solved(self._in_fractions, _exponential(leakage)),
        )

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion less than that which needs no leakage.

        A budget that misses a jump of the curve by 1e-12 counts as at it.
        """
        return self._first_closed(
            lambda: self._found(self._in_floats, distortion),
            lambda: self._found(self._in_digits, distortion),
            lambda: self._found(self._in_fractions, distortion),
        )

    def _first_closed(self, *tries: Callable[[], tuple[Proposal, float]]) -> Proposal:
        """The first proposal whose gap is closed: in floats, where the program is small in digits or fractions; or the best."""
        found, failure = [], SolverError("no solution was found")
        for attempt in tries if self._small else tries[:1]:
            try:
                found.append(attempt())
            except SolverError as error:
                failure = error
                continue
            if found[-1][1] <= _CLOSED:
                break
        if not found:
            raise failure
        return min(found, key=lambda pair: pair[1])[0]

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return self._spent(matrix[self._known])

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        """Bound (3) in the unit of the costs: no channel of at most so many nats has a smaller distortion."""
        total, shares, excess = self._bound(proposal.certificate)
        step = _exponential(leakage) if isinstance(total, Fraction) else math.exp(-min(leakage, _MOST_NATS))
        least = min(shares * step - excess)  # m / t
        with np.errstate(over="ignore"):
            return max(0.0, float(total + (least if least >= 0 else least / step)))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        """Bound (4) in nats: no channel of at most this distortion leaks less."""
        return self._least_nats(proposal.certificate, distortion)

    def forces(self, proposal: Proposal, leakage: float, distortion: float) -> bool:
        """Whether the prior ``w . P_v`` alone has this least leakage at this distortion, or this least distortion, within 1e-9.

        By the bounds for that prior, whose one multiplier an output can be the sum of those of the vertices.
        """
        weights, rows, outputs = (np.array(part, dtype=float) for part in proposal.certificate)
        alone = copy(self)
        alone._vertices = weights[np.newaxis] @ self._vertices
        own = Proposal(proposal.mechanism, np.ones(1), (np.ones(1), rows, outputs.sum(axis=0, keepdims=True)))
        return (
            leakage - alone.least_leakage(own, distortion) <= 1e-9
            or distortion - alone.least_distortion(own, leakage) <= 1e-9 * distortion
        )

    def _bound(self, multipliers: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        """``sum_i n_i``, Y and E of the bounds."""
        weights, rows, outputs = multipliers
        vertices, costs = (self._vertices, self._costs) if rows.dtype == float else self._exactly
        owed = (outputs.T @ vertices).T + rows[:, np.newaxis] - (weights @ vertices)[:, np.newaxis] * costs
        return rows.sum(), outputs.sum(axis=0), np.maximum(owed, 0).sum(axis=0)

    def _least_nats(self, multipliers: tuple[Any, ...], distortion: float) -> float:
        total, shares, excess = self._bound(multipliers)
        spare = total - (Fraction(distortion) if isinstance(total, Fraction) else distortion)
        above, below = np.array((shares + spare, excess) if spare >= 0 else (shares, excess - spare))
        limiting = (below > 0) | (above < 0)
        if not limiting.any():
            return math.inf
        if (above <= 0)[limiting].any():
            return 0.0
        return max(0.0, _logarithm(min(above[limiting] / below[limiting])))

    def _proposal(self, optimum: _Optimum, certified: _Optimum) -> Proposal:
        matrix = np.empty((self._known.size, self._known.size))
        channel = np.array(optimum.channel, dtype=float)
        channel /= channel.sum(axis=1, keepdims=True)
        outputs = (self._vertices @ channel).min(axis=0)
        matrix[self._known], matrix[~self._known] = channel, outputs / outputs.sum()
        return Proposal(matrix, np.array(certified.weights, dtype=float), certified.multipliers)

    def _found(self, solve: Callable[[float], _Optimum], distortion: float) -> tuple[Proposal, float]:
        """The proposal for a budget, and its gap in nats."""
        simple, tried = self._simple(distortion), [self._of_one_letter(distortion)]
        low, upper = self._search(solve, distortion, simple, tried, _FIRST * simple.step)
        slack = 1.001 * PERFECT_SLACK * min(1.0, 20 * distortion)  # no tie with a budget that is 1e-12 beside
        if upper is None or upper.slope * upper.step * _JUMP < slack:  # a jump may be that near
            over, _ = self._search(solve, distortion + slack, low, tried, 2 * low.step)
            low = over if over.step > low.step * (1 + _JUMP) else low
        found = -math.log(low.step)

        def best() -> tuple[float, int]:
            """The best bound that is no better than what was found: before a jump that was reached all are."""
            bounds = ((self._least_nats(optimum.multipliers, distortion), place) for place, optimum in enumerate(tried))
            return max((bound for bound in bounds if bound[0] <= found + _CLOSED), default=(0.0, 0))

        if found - best()[0] > _CLOSED and low.step * (1 + 5 * _BESIDE) < 1:
            tried.append(solve(low.step * (1 + 5 * _BESIDE)))  # where the budget is missed by more than rounding
        least, place = best()
        return self._proposal(low, tried[place]), found - least

    def _search(
        self, solve: Callable[[float], _Optimum], distortion: float, low: _Optimum, tried: list[_Optimum], guess: float
    ) -> tuple[_Optimum, _Optimum | None]:
        """The solution at the largest s whose least distortion keeps the budget, and one beyond; all join what was tried."""
        high, upper, rounded = 1.0, None, distortion * (1 + 1e-13)
        least = max(self._least_nats(optimum.multipliers, rounded) for optimum in tried)
        width, beside = math.inf, False
        for trial in range(_TRIES):
            most = min(high, math.exp(-least))
            if low.step >= most * (1 - 3 * _BESIDE):
                break
            last = solve(guess if low.step < guess < most else (low.step + most) / 2)
            tried.append(last)
            least = max(least, self._least_nats(last.multipliers, rounded))
            if last.distortion <= distortion:
                low = last
            else:
                high, upper = last.step, last
            most = min(high, math.exp(-least))
            # Newton from the newest point, or where that leads nowhere from another, and a little beyond, so that both sides
            # close in; beside the best so far, which may be the end of a level piece; bisection where all that is slow.
            guesses = []
            if trial % 4 < 3 or high - low.step < width / 4:
                for source in (last, upper, low):
                    if source is not None and source.slope > 0:
                        newton = float(source.step + (distortion - source.distortion) / source.slope)
                        guesses.append(newton * (1 + (-_BESIDE if source is upper else _BESIDE)))
                guesses += [] if beside else [low.step * (1 + 2 * _BESIDE)]
            if trial % 4 == 3:
                width = high - low.step
            guesses.append(math.sqrt(low.step * most) if low.step < most / 4 else (low.step + most) / 2)
            guess = next((place for place in guesses if low.step < place < most), guesses[-1])
            beside = guess == low.step * (1 + 2 * _BESIDE)
        return low, upper

    def _simple(self, distortion: float) -> _Optimum:
        """The identity, mixed with an even choice of all letters as far as the budget allows."""
        size = self._costs.shape[1]
        channel = np.eye(size)[self._known]
        evenly = np.full_like(channel, 1 / size)
        share = distortion / float((self._vertices @ (evenly * self._costs).sum(axis=1)).max())
        channel = (1 - share) * channel + share * evenly
        peaks = channel.max(axis=0)
        step = float(((self._vertices @ channel).min(axis=0)[peaks > 0] / peaks[peaks > 0]).min())
        return _Optimum(max(step, math.exp(-_MOST_NATS)), distortion, 0.0, channel, None, None, None)

    def _of_one_letter(self, distortion: float) -> _Optimum:
        """Multipliers for next to no distortion, where the rarest letter decides: it can be told from no other output."""
        count, size = len(self._vertices), self._costs.shape[1]
        vertex, letter = np.unravel_index(np.argmin(self._vertices), self._vertices.shape)
        column = int(np.flatnonzero(self._known)[letter])
        weights, rows, outputs = np.zeros(count), np.zeros(self._vertices.shape[1]), np.zeros((count, size))
        weights[vertex] = 1.0
        rows[letter] = max(2 * distortion, 1e-300)
        others = np.delete(self._costs[:, column], letter)
        outputs[vertex, column] = others.min(initial=math.inf) if len(others) else 0.0
        return _Optimum(1.0, 0.0, 0.0, None, weights, rows, outputs)

    @property
    def _small(self) -> bool:
        count, size = self._vertices.shape
        return size * self._costs.shape[1] + count * self._costs.shape[1] <= _MOST_EXACT

    @cached_property
    def _exactly(self) -> tuple[Any, Any]:
        """Vertices, each summing to 1, and costs in fractions."""
        vertices = np.array([[Fraction(entry) for entry in prior] for prior in self._vertices.tolist()])
        costs = np.array([[Fraction(entry) for entry in row] for row in self._costs.tolist()])
        return vertices / vertices.sum(axis=1)[:, np.newaxis], costs

    def _in_floats(self, step: float) -> _Optimum:
        failure = SolverError("no solution was found")
        for scales in _SCALES:
            if scales not in self._models:
                self._models[scales] = _Model(self._vertices, self._costs, *scales)
            try:
                found = self._models[scales].solve(step)
            except SolverError as error:
                failure = error
                continue
            self._basis = self._models[scales].basis if self._small else None
            return self._mended(found)
        raise failure

    def _spent(self, channel: FloatArray) -> float:
        return float((self._vertices @ (channel * self._costs).sum(axis=1)).max())

    def _mended(self, found: _Optimum) -> _Optimum:
        """Without the solver's rounding: what is missed of the ratios is mended by mixing in a constant row."""
        channel = np.clip(found.channel, 0, None)
        channel[:, channel.max(axis=0) < _NOISE] = 0.0
        channel /= channel.sum(axis=1, keepdims=True)
        outputs, peaks = (self._vertices @ channel).min(axis=0), channel.max(axis=0)
        missed = np.clip(peaks * found.step - outputs, 0, None)
        spent = self._spent(channel)
        if missed.any():
            # Adding c to every entry of a column lowers its ratios: (x + c) / t <= y + c once c (1 - 1/t) covers what is missed.
            # In proportion to the outputs that costs next to nothing where next to nothing leaks.
            constant = missed / (1 - found.step)
            used = outputs > 0
            even = (
                outputs * (constant[used] / outputs[used]).max()
                if used.any() and not constant[~used].any()
                else constant
            )
            mended = [(channel + extra) / (1 + extra.sum()) for extra in (constant, even)]
            channel = min(mended, key=self._spent)
            spent = self._spent(channel)
        # What columns lack of Y_j >= t E_j is taken from a row that has it.
        rows, outputs = found.rows.copy(), np.where(found.outputs < _NOISE, 0.0, found.outputs)
        _, shares, excess = self._bound((found.weights, rows, outputs))
        for column in np.flatnonzero(excess > shares * found.step):
            owed = (
                outputs[:, column] @ self._vertices + rows - (found.weights @ self._vertices) * self._costs[:, column]
            )
            row = int(np.argmax(owed))
            rows[row] -= min(owed[row], owed.clip(0).sum() - shares[column] * found.step)
        return _Optimum(found.step, spent, found.slope, channel, found.weights, rows, outputs)

    def _in_digits(self, step: float | Fraction) -> _Optimum:
        """To as many digits as close the gap; what misses a row by less than those does not count."""
        matrix, right, _ = self._rows(step)
        unknowns = self._costs.size + self._costs.shape[1] + 1
        slacks = [{unknowns + place: 1} if not value else {} for place, value in enumerate(right)]
        costs = [0] * (unknowns - 1) + [1] + [0] * len(right)
        program = Refined(costs, [row | slack for row, slack in zip(matrix, slacks, strict=True)], right, self._start)
        self._start = program.basis

        def enough() -> bool:
            found = self._optimum(step, program.values, program.duals)
            total, shares, excess = self._bound(found.multipliers)
            unbalanced = -min(shares * Fraction(step) - excess)
            return bool(max(program.missed, abs(found.distortion - total), unbalanced) <= _DIGITS * found.distortion)

        if not program.refine(enough, exchanges=_MOST_PIVOTS):
            raise SolverError("No more digits of the optimum were found. Try a nearby distortion or leakage.")
        return self._optimum(step, program.values, program.duals)

    def _in_fractions(self, step: float | Fraction) -> _Optimum:
        matrix, right, sums = self._rows(step)
        with suppress(SolverError):
            self._in_floats(float(step))
        costs = [0] * (self._costs.size + self._costs.shape[1]) + [1]
        found = exact_optimum(costs, matrix, right, sums, self._basis, most=_MOST_PIVOTS)
        self._basis = found
        return self._optimum(step, found.values, found.duals)

    def _rows(self, step: float | Fraction) -> tuple[list[dict[int, Fraction | int]], list[int], slice]:
        """Rows of (2) at s and their right sides: outputs, distortion, sums, caps; and which are the sums.

        Unknowns are Q row by row, ``t u`` and z.
        """
        vertices, costs = self._exactly
        (count, letters), size, exact = vertices.shape, costs.shape[1], Fraction(step)
        outputs, worst = letters * size, letters * size + size
        matrix: list[dict[int, Fraction | int]] = [
            {outputs + j: exact} | {i * size + j: -vertices[v, i] for i in range(letters)}
            for v in range(count)
            for j in range(size)
        ]
        matrix += [
            {i * size + j: vertices[v, i] * costs[i, j] for i in range(letters) for j in range(size)} | {worst: -1}
            for v in range(count)
        ]
        sums = slice(len(matrix), len(matrix) + letters)
        matrix += [{i * size + j: 1 for j in range(size)} for i in range(letters)]
        matrix += [{i * size + j: 1, outputs + j: -1} for i in range(letters) for j in range(size)]
        return matrix, [0] * sums.start + [1] * letters + [0] * (letters * size), sums

    def _optimum(self, step: float | Fraction, values: Sequence[Fraction], duals: Sequence[Fraction]) -> _Optimum:
        """What the unknowns and the rows' dual variables say."""
        (count, letters), size = self._vertices.shape, self._costs.shape[1]
        parts = np.split(np.array(values), [letters * size, letters * size + size, letters * size + size + 1])
        prices = np.split(np.array(duals), [count * size, count * (size + 1), count * (size + 1) + letters])
        weights = np.maximum(-prices[1], 0)
        multipliers = np.maximum(-prices[0], 0).reshape(count, size)
        channel = np.maximum(parts[0], 0).reshape(letters, size)
        slope = (multipliers @ parts[1]).sum()
        return _Optimum(Fraction(step), parts[2][0], slope, channel, weights, prices[2], multipliers)


class _Model:
    """Program (2) in HiGHS, kept from one s to the next. Unknowns: Q row by row, ``t u``, z; rows: outputs, distortion, sums."""

    def __init__(self, vertices: FloatArray, costs: FloatArray, scale: float, times: float) -> None:
        import highspy
        from scipy.sparse import block_array, coo_array, eye_array, kron

        (count, letters), size = vertices.shape, costs.shape[1]
        self._shape, each = (count, letters, size), eye_array(size)
        self._scale, self._times = scale, times
        distances = np.einsum("vi,ij->vij", vertices, costs).reshape(count, -1)
        matrix = block_array(
            [
                [kron(-times * coo_array(vertices), each), kron(np.ones((count, 1)), each), None],
                [coo_array(distances), None, coo_array(-np.ones((count, 1)))],
                [kron(eye_array(letters), np.ones((1, size))), None, None],
            ]
        ).tocsc()
        program: Any = highspy.HighsLp()
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_ = np.append(np.zeros(matrix.shape[1] - 1), scale)
        program.col_lower_ = np.zeros(matrix.shape[1])
        program.col_upper_ = np.full(matrix.shape[1], highspy.kHighsInf)
        program.row_upper_ = np.append(np.zeros(matrix.shape[0] - letters), np.full(letters, scale))
        program.row_lower_ = np.append(np.full(matrix.shape[0] - letters, -highspy.kHighsInf), np.full(letters, scale))
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        self._highs: Any = highspy.Highs()
        for option, value in _OPTIONS.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(program)
        self._capped = np.zeros((letters, size), dtype=bool)
        self._order: list[int] = []
        self._inside, self._last, self._is_near = 0, 0.0, False
        self._cap(costs == 0)

    def solve(self, step: float) -> _Optimum:
        """The optimum at s. Raises SolverError if HiGHS finds none."""
        count, letters, size = self._shape
        self._is_near, self._last = abs(step - self._last) <= _NEAR * self._last, step
        for row in range(count * size):
            self._highs.changeCoeff(row, letters * size + row % size, self._times * step)
        for _ in range(letters * size + 1):  # a cap more each time
            self._run()
            self._is_near = True
            values = np.array(self._highs.getSolution().col_value) / self._scale
            channel, scaled = values[: letters * size].reshape(letters, size), values[letters * size : -1]
            if not self._cap(channel > scaled + _OVERSTEPPED):
                break
        duals = np.array(self._highs.getSolution().row_dual) / self._scale
        outputs = self._times * np.clip(-duals[: count * size].reshape(count, size), 0, None)
        weights = np.clip(-duals[count * size : count * size + count], 0, None)
        rows, total = duals[count * (size + 1) : count * (size + 1) + letters], weights.sum()
        if total == 0:  # no distortion is needed at all
            weights, rows, outputs, total = np.ones(count), 0 * rows, 0 * outputs, count
        weights, rows, outputs = weights / total, rows / total, outputs / total
        return _Optimum(step, float(values[-1]), float((outputs @ scaled).sum()), channel, weights, rows, outputs)

    @property
    def basis(self) -> Basis:
        """That of the last solution, caps that have not joined being slack: they follow the other rows, row by row of Q."""
        import highspy

        found, basic = self._highs.getBasis(), highspy.HighsBasisStatus.kBasic
        columns, rows = ([status == basic for status in part] for part in (found.col_status, found.row_status))
        count, letters, size = self._shape
        first = count * (size + 1) + letters
        slacks = np.ones(first + letters * size, dtype=bool)
        slacks[:first], slacks[first + np.array(self._order, dtype=int)] = rows[:first], rows[first:]
        return Basis(np.array(columns), slacks, 0.0, np.zeros(len(columns)), np.zeros(len(slacks)), found)

    def _run(self) -> None:
        """Numerical trouble is rare, and begun anew, or by another method, it has mostly been got over."""
        import highspy

        few = {"simplex_iteration_limit": max(_FEW, _STEPS * self._highs.getNumRow())}
        first = 0 if self._inside < 2 and self._is_near else self._inside
        for place, retry in enumerate((few, *(few | way for way in _INTERIOR), *_ATTEMPTS)[first:], start=first):
            if place == 1 and self._last > _BINDING:
                continue
            for option, value in (_OPTIONS | retry).items():
                self._highs.setOptionValue(option, value)
            if place:
                self._highs.clearSolver()
            self._inside = max(self._inside, min(place, len(_INTERIOR)))
            status, info = run_bounded(self._highs), self._highs.getInfo()
            missed = max(info.max_primal_infeasibility, info.max_dual_infeasibility)
            if status == highspy.HighsModelStatus.kOptimal or (
                status == highspy.HighsModelStatus.kUnknown and missed <= _MISSED
            ):
                return
        raise SolverError(stopped(self._highs))

    def _cap(self, wanted: BoolArray) -> bool:
        """Let the caps of these entries join; whether there were any new ones."""
        import highspy

        _, letters, size = self._shape
        rows, columns = np.nonzero(wanted & ~self._capped)
        if new := len(rows):
            self._capped |= wanted
            self._order += (rows * size + columns).tolist()
            places = np.column_stack([rows * size + columns, letters * size + columns]).ravel().astype(np.int32)
            starts = 2 * np.arange(new, dtype=np.int32)
            self._highs.addRows(
                new, np.full(new, -highspy.kHighsInf), np.zeros(new), 2 * new, starts, places, np.tile([1.0, -1.0], new)
            )
        return bool(new)


def _exponential(leakage: float) -> Fraction:
    """``exp(-leakage)`` to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((-Decimal(leakage)).exp())


def _logarithm(ratio: float | Fraction) -> float:
    if isinstance(ratio, float):
        return math.log(ratio) if ratio > 0 else -math.inf
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()) if ratio > 0 else -math.inf
