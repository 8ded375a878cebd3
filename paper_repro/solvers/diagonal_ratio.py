r"""Differential privacy where every two letters are neighbors: one linear program for every source set.

**Only the diagonal matters.** Let a channel keep letter i with probability ``a_i = 1 - D_i`` and let ``S = sum_i
a_i``. Distortion depends on a alone. If the channel's column ratios are at most t, then row i has entries ``Q_ij >=
a_j / t``, so

    a_i + (S - a_i) / t <= 1    for every i.                                                         (1)

Conversely let (1) hold with S >= 1, and spread what row i gives away in proportion to a: ``Q_ij = a_j D_i / (S -
a_i)``. (If S = a_i, then a_i = 1, D_i = 0, and the row is the unit vector.) Rows sum to 1. From S >= 1, ``D_i <= S -
a_i``, so ``Q_ij <= a_j``; from (1), ``Q_ij >= a_j / t``. So every column lies in ``[a_j / t, a_j]`` and the channel
is exactly as private as (1) says. (S >= 1 costs nothing: a smaller diagonal can be scaled up to S = 1, or, if it is
0, replaced by any constant answer; that has ratio 1 and no more distortion.)

**The ratio.** The left side of (1) grows with ``a_i`` as t > 1, so the letter kept most decides: with ``c = min_i
D_i``, ``t = (S - 1 + c) / c``, that is ``t = ((M - 1) - sum_i D_i) / c + 1``. Dividing by c makes it linear (Charnes
and Cooper): with ``e_i = D_i / c`` and ``sigma = 1 / c``,

    minimize    t = 1 + (M - 1) sigma - sum_i e_i
    subject to  P_v . e <= D sigma  for every vertex v,    1 <= e_i <= sigma.                          (2)

The minimum is taken over all c at once, so ``min e_i = 1`` need not be demanded: a solution with ``min e_i > 1`` has
a smaller true ratio than its objective and cannot be optimal. S >= 1 is t >= 1, which holds by itself below the
distortion ``D_0`` from which no leakage is needed. At a fixed ratio t, multiplying by c again gives a linear program
for the least distortion (``DiagonalRatioProgram._ratio_basis``); on the jump its optimum is the constant answer, with c = 0.

**Active sets.** In a basic optimum each letter is *kept* (e_i = 1), *cut* (e_i = sigma: never published) or *free*,
and there is one tight vertex more than free letters. Given these, the optimum and the dual variables w of the tight
vertices solve one small linear system in which only the column of sigma depends on D. The prior ``P = w . P_v / sum
w`` is least favorable: replacing the vertices' rows by their sum with the weights w keeps the optimum (strong
duality), and what is left is program (2) for the known prior P, so P alone forces as much leakage. For one prior the
optimum is in closed form (Theorem 13, Zhong and Bu 2022), which read as a bound on the distortion of any mechanism of
ratio t is

    D*(t) >= 1 - max_n  t / (t + n - 1) * top_n(P).                                                    (3)

So a solver only has to find the active set; the numbers come from the small system, accurate to rounding, or from
fractions where floats and (3) do not agree.

**Priors on their own jump.** At a fixed leakage (3) for the worst prior P is tight. At a fixed distortion D it need not be:
over whole pieces of the curve ``1 - max_i P_i = D`` may hold, and there P alone, unlike the set, needs no leakage. But ``1 -
max_i P_i`` is concave and exceeds D at the member ``P_0`` that needs most without leakage. So ``(1 - h) P + h P_0`` has its
jump beyond D by at least ``h (D_0 - D)``, for any h > 0, and as h goes to 0 it forces all of the leakage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.exact import ExactOptimum, exact_optimum, solve_exactly
from paper_repro.solvers.games import PERFECT_SLACK, RELATIVE_SLACK, PerfectPrivacy, highest_floor, perfect_privacy
from paper_repro.solvers.known_prior import RatioOfPrior
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = [
    "NEGLIGIBLE_DISTORTION",
    "SMALLEST_DISTORTION",
    "ActiveSet",
    "DiagonalRatioProgram",
    "least_leakage_of_weights",
    "prior_breakpoints",
]

# Below the first, entries of a channel are no normal numbers: such a distortion counts as 0, and more nats as so many; what those
# would spare is less than the second, which no certificate is asked for.
SMALLEST_DISTORTION, NEGLIGIBLE_DISTORTION, _MOST_NATS = 1e-305, 1e-300, 700.0
# A gap, in nats or relative to a distortion, with which floats are left alone; and with which a prior forces a result by itself.
_CLOSE, _FORCED = 1e-11, 9e-10
_ROUNDING = 1e-15
# Shares of the prior that needs most, mixed in to move a prior's own jump: for floats, and for fractions.
_HAIRS = tuple(2.0**-power for power in range(50, 2, -1))
_HAIR = Fraction(1, 2**150)
_EXACT_ROUNDING = Fraction(1, 10**14)


def least_leakage_of_weights(vertices: FloatArray, weights: Sequence[Fraction], distortion: float) -> float:
    """The same in exact arithmetic, of the mixture of vertices, shape (V, M), with these weights, of shape (V,).

    Fractions tell a prior whose own jump is at the distortion from one whose jump is beyond it.

    >>> half = [Fraction(1, 2)] * 2
    >>> round(math.exp(least_leakage_of_weights(np.array([[0.75, 0.25], [0.5, 0.5]]), half, 0.25)), 9)
    3.0
    """
    chosen = [(weight, list(map(Fraction, row))) for weight, row in zip(weights, vertices, strict=True) if weight]
    total = sum((weight for weight, _ in chosen), Fraction(0))
    rising = sorted(
        sum((weight * row[i] for weight, row in chosen), Fraction(0)) / total for i in range(vertices.shape[1])
    )
    budget, whole, tail = Fraction(distortion), sum(rising, Fraction(0)), Fraction(0)
    if budget >= whole - rising[-1]:
        return 0.0
    least: Fraction | None = None
    for others in range(len(rising) - 1, 0, -1):
        if budget > tail and (least is None or others * (whole - budget) < least * (budget - tail)):
            least = others * (whole - budget) / (budget - tail)
        tail += rising[len(rising) - 1 - others]
    if least is None:
        return math.inf
    return max(0.0, math.log1p(least - 1) if least < 2 else math.log(least.numerator) - math.log(least.denominator))


def prior_breakpoints(rising: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distortions up to which response on n letters is optimal when the prior is known, for n = M .. 2.

    With the prior sorted ``P_0 >= P_1 >= ...`` and ``tail_n`` the mass beyond the n likeliest letters, response on n >= 2 letters
    is optimal for D in ``[B_{n+1}, B_n]``, where ``B_n = tail_n + (n - 1) P_{n-1}`` and ``B_{M+1} = 0``, and has
    ``t = (n-1)(1-D)/(D-tail_n)`` (Theorem 13, Zhong and Bu 2022). From ``B_2 = 1 - P_0`` on nothing needs to leak.

    Parameters
    ----------
    rising : ndarray, shape (M,)
        The prior, least likely letter first.

    Returns
    -------
    breakpoints, tails, others : ndarrays, shape (M - 1,)
        ``B_n``, ``tail_n`` and ``n - 1``, in rising order of ``B_n``.

    >>> prior_breakpoints(np.array([0.2, 0.3, 0.5]))[0]
    array([0.4, 0.5])
    """
    tails = np.zeros(len(rising) - 1)
    np.cumsum(rising[:-2], out=tails[1:])
    others = np.arange(len(rising) - 1.0, 0.0, -1.0)
    breakpoints = others * rising[:-1]
    breakpoints += tails
    return breakpoints, tails, others


@dataclass(frozen=True)
class ActiveSet:
    """Which letters are kept, cut and free and which vertices are tight: all there is to know of a basic optimum.

    Attributes
    ----------
    vertices : ndarray, shape (V, M)
        Floats; or fractions, and then whatever is computed from them and a distortion that is a fraction is exact.
    kept, cut, free : ndarrays of bool, shape (M,)
    tight : ndarray of int, shape (tight,)
        Numbers of the tight vertices.
    """

    vertices: FloatArray
    kept: BoolArray
    cut: BoolArray
    tight: IntArray

    @cached_property
    def free(self) -> BoolArray:
        return ~(self.kept | self.cut)

    @cached_property
    def _rows(self) -> FloatArray:
        return self.vertices[self.tight]

    @cached_property
    def _found(self) -> dict[tuple[str, Any], Any]:
        """Lines that were computed already."""
        return {}

    @cached_property
    def _cut_mass(self) -> FloatArray:
        return self._rows[:, self.cut].sum(axis=1)

    @cached_property
    def _kept_mass(self) -> FloatArray:
        return self._rows[:, self.kept].sum(axis=1)

    @cached_property
    def _dual_target(self) -> FloatArray:
        """Right side of the dual variables' equations: 1 for each free letter, then the cost of sigma."""
        return np.append(np.ones(self.free.sum(), dtype=int), int(self.cut.sum()) - len(self.kept) + 1)

    def _system(self, distortion: Any) -> FloatArray:
        """Columns: the free letters, then sigma; one row per tight vertex."""
        return np.column_stack([self._rows[:, self.free], self._cut_mass - distortion])

    def at_distortion(self, distortion: float) -> tuple[FloatArray, FloatArray]:
        """Letters' distortions, shape (M,), and vertices' weights, shape (V,), of the optimum that this has at a distortion."""
        system = self._system(distortion)
        free_and_sigma = np.linalg.solve(system, -self._kept_mass)
        return self._optimum(system, free_and_sigma[:-1], free_and_sigma[-1])

    def at_ratio(self, excess: float) -> tuple[FloatArray, FloatArray]:
        """The same, of the same shapes, at a ratio t; ``excess`` is t - 1."""
        free_count, tight_count = int(self.free.sum()), len(self.tight)
        # Unknowns: the free letters, sigma, and z = D sigma. The last row is (M - 1) sigma - sum_i e_i = t - 1.
        system = np.zeros((tight_count + 1, free_count + 2))
        system[:-1, :free_count] = self._rows[:, self.free]
        system[:-1, free_count] = self._cut_mass
        system[:-1, -1] = -1
        system[-1, :free_count] = -1
        system[-1, free_count] = len(self.kept) - 1.0 - self.cut.sum()
        unknowns = np.linalg.solve(system, np.append(-self._kept_mass, excess + self.kept.sum()))
        sigma, scaled = unknowns[-2:]
        return self._optimum(self._system(scaled / sigma), unknowns[:-2], sigma)

    def _optimum(self, system: FloatArray, free: FloatArray, sigma: float) -> tuple[FloatArray, FloatArray]:
        distortions = np.full(len(self.kept), 1 / sigma)
        distortions[self.cut] = 1.0
        distortions[self.free] = np.clip(free / sigma, 1 / sigma, 1.0)
        weights = np.zeros(len(self.vertices))
        weights[self.tight] = np.clip(np.linalg.solve(system.T, self._dual_target), 0, None)
        return distortions, weights / weights.sum()

    def ratio(self, distortion: Any) -> tuple[FloatArray, FloatArray]:
        """The ratio t as a quotient of two linear functions of the step from ``distortion``.

        Numerator and denominator, each ``[constant, slope]``, shape (2,). The column of sigma is the only one that depends
        on D, so by the Sherman-Morrison formula every unknown is linear in the step over one common denominator.
        """
        primal, denominator = self._primal_lines(distortion)
        sigma = primal[-1]
        others = len(self.kept) - 1 - int(self.cut.sum())
        numerator = (1 - int(self.kept.sum())) * denominator + others * sigma - primal[:-1].sum(axis=0)
        return numerator, denominator

    def interval(self, distortion: Any) -> tuple[Any, Any]:
        """The distortions around ``distortion`` at which this active set stays optimal."""
        value, slope = self._conditions(distortion).T
        moving = _is_moving(value, slope)
        value, slope = np.maximum(value[moving], 0), slope[moving]
        below, above = -value[slope > 0] / slope[slope > 0], -value[slope < 0] / slope[slope < 0]
        return distortion + max(below, default=-math.inf), distortion + min(above, default=math.inf)

    def _conditions(self, distortion: Any) -> FloatArray:
        """Lines that are at least 0 where this is optimal, each ``[constant, slope]``, in the order of :meth:`_variables`.

        Every condition (free letters between kept and cut, other vertices slack, dual variables of the right sign) is linear in
        the step once the common, positive denominator, which comes first, is multiplied out.
        """
        if ("conditions", distortion) in self._found:
            return self._found["conditions", distortion]
        primal, denominator = self._primal_lines(distortion)
        free, sigma = primal[:-1], primal[-1]
        step = np.array([0, 1])
        system = self._system(distortion)
        right = np.column_stack([self._dual_target, np.eye(len(system), dtype=int)[-1]])
        weights, sensitivity = _solve(system.T, right).T
        weight_lines = np.column_stack([weights, sensitivity * weights.sum() - weights * sensitivity.sum()])
        reduced = self._rows.T @ weight_lines
        slack = np.delete(self.vertices, self.tight, axis=0)
        slack_lines = (
            (distortion - slack[:, self.cut].sum(axis=1))[:, np.newaxis] * sigma
            + sigma[0] * step
            - slack[:, self.kept].sum(axis=1)[:, np.newaxis] * denominator
            - slack[:, self.free] @ free
        )
        kept, cut = reduced[self.kept] - denominator, denominator - reduced[self.cut]
        lines = np.vstack([denominator, free - denominator, sigma - free, slack_lines, weight_lines, kept, cut])
        self._found["conditions", distortion] = lines
        return lines

    def _variables(self) -> list[tuple[str, int]]:
        """What each condition is about: a free letter that would be kept or cut, a vertex, or a letter that would be free."""
        free, slack = np.flatnonzero(self.free), np.setdiff1d(np.arange(len(self.vertices)), self.tight)
        return [
            ("", 0),
            *(("keep", int(i)) for i in free),
            *(("cut", int(i)) for i in free),
            *(("hold", int(v)) for v in slack),
            *(("loosen", int(v)) for v in self.tight),
            *(("free", int(i)) for i in np.flatnonzero(self.kept)),
            *(("free", int(i)) for i in np.flatnonzero(self.cut)),
        ]

    def is_optimal(self, distortion: float) -> bool:
        """Whether all conditions hold at a distortion, up to rounding."""
        value = self._conditions(distortion)[:, 0]
        return bool((value >= -1e-9 * max(1.0, float(np.abs(value).max()))).all())

    def successor(self, distortion: float) -> tuple[float, ActiveSet | None]:
        """Where this active set ends beyond a distortion, and the one that follows: one exchange, as in a parametric simplex.

        The condition that fails first tells what leaves or enters; the least ratio, of reduced costs or of what is left of the
        others' conditions, tells what is exchanged for it. None if nothing can be.
        """
        value, slope = self._conditions(distortion).T
        falling = _is_moving(value, slope) & (slope < 0)
        if not falling.any():
            return math.inf, None
        steps = np.where(falling, np.maximum(value, 0) / np.where(falling, -slope, 1.0), math.inf)
        first = int(np.argmin(steps))
        end = distortion + float(steps[first])
        left = np.maximum(value + slope * steps[first], 0)
        variables = self._variables()
        system = self._system(end)
        kind, place = variables[first]
        free_count, slack_count = int(self.free.sum()), len(self.vertices) - len(self.tight)
        start = 1 + 2 * free_count + slack_count
        if kind in ("keep", "cut", "hold"):
            # Rates at which what fell to 0 rises again with each variable that may enter, and those variables' reduced costs.
            row = np.zeros(len(system))
            direct = np.zeros(self.vertices.shape[1])
            if kind == "hold":
                letters = self.vertices[place]
                row[:-1], row[-1] = -letters[self.free], end - letters[self.cut].sum()
                direct = letters
            else:
                which = int(np.flatnonzero(np.flatnonzero(self.free) == place)[0])
                row[which], row[-1] = (1.0, 0.0) if kind == "keep" else (-1.0, 1.0)
            multipliers = np.linalg.solve(system.T, row)
            rates = multipliers @ self._rows + direct
            rates = np.concatenate([-multipliers, -rates[self.kept], rates[self.cut]])
            left, others = left[start:], variables[start:]
        else:
            # Rates at which the others' conditions fall as it rises, and what is left of them.
            entering = (
                np.eye(len(system))[np.searchsorted(self.tight, place)] if kind == "loosen" else self._rows[:, place]
            )
            was_cut = kind == "free" and bool(self.cut[place])
            change = np.linalg.solve(system, entering if was_cut else -entering)
            slack = np.delete(self.vertices, self.tight, axis=0)
            of_slack = (end - slack[:, self.cut].sum(axis=1)) * change[-1] - slack[:, self.free] @ change[:-1]
            if kind == "free":
                of_slack += slack[:, place] if was_cut else -slack[:, place]
            rates = -np.concatenate([change[:-1], change[-1] - change[:-1], of_slack])
            left, others = left[1:start], variables[1:start]
            if kind == "free":  # the letter itself may get all the way to its other end
                primal, denominator = self._primal_lines(distortion)
                most = (primal[-1] - denominator) @ np.array([1.0, steps[first]])
                rates, left = np.append(rates, 1.0 - change[-1]), np.append(left, max(0.0, float(most)))
                others = [*others, ("keep" if was_cut else "cut", place)]
        able = rates > 1e-9 * max(1e-300, float(np.abs(rates).max(initial=0.0)))
        if not able.any():
            return end, None
        chosen = int(np.argmin(np.where(able, left / np.where(able, rates, 1.0), math.inf)))
        return end, self._exchanged(variables[first], others[chosen])

    def _exchanged(self, *changes: tuple[str, int]) -> ActiveSet:
        kept, cut, tight = self.kept.copy(), self.cut.copy(), set(self.tight.tolist())
        for kind, place in changes:
            if kind == "hold":
                tight.add(place)
            elif kind == "loosen":
                tight.discard(place)
            else:
                kept[place], cut[place] = kind == "keep", kind == "cut"
        return ActiveSet(self.vertices, kept, cut, np.array(sorted(tight), dtype=np.intp))

    def _primal_lines(self, distortion: Any) -> tuple[FloatArray, FloatArray]:
        """Free letters and sigma, times the common denominator, and that denominator; each ``[constant, slope]``."""
        if ("primal", distortion) in self._found:
            return self._found["primal", distortion]
        system = self._system(distortion)
        values, sensitivity = _solve(system, np.column_stack([-self._kept_mass, np.ones(len(system), dtype=int)])).T
        lines = np.column_stack([values, sensitivity * values[-1] - values * sensitivity[-1]])
        self._found["primal", distortion] = lines, np.array([1, -sensitivity[-1]])
        return self._found["primal", distortion]


def _is_moving(value: FloatArray, slope: FloatArray) -> BoolArray:
    """Which lines are not level; for floats, up to rounding."""
    if value.dtype == object:
        return np.asarray(slope != 0)
    return np.asarray(np.abs(slope) > 1e-9 * max(1.0, float(np.abs(slope).max()), float(np.abs(value).max())))


def _solve(system: Any, right: Any) -> Any:
    """Solve in floats, or where there are fractions, exactly."""
    if system.dtype != object:
        return np.linalg.solve(system, right)
    return np.array(solve_exactly(system.tolist(), right.tolist()), dtype=object)


class DiagonalRatioProgram:
    """Program (2) of this module for one source set, warm from one distortion to the next.

    What floats leave open by more than 1e-11, in nats or relative to a distortion, is decided in fractions
    (:mod:`paper_repro.solvers.exact`). The weights that are proposed are those of a prior that forces the result by itself. Where
    no floats are fine enough to say one, they are given as fractions, ``(weights,)``, which certify it.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).
    perfect : PerfectPrivacy, optional
        If it is known already.

    Attributes
    ----------
    perfect : PerfectPrivacy
        Its distortion is ``D_0``: the curve jumps to 0 there.
    symmetric_distortion : float
        ``(M - 1) max_P min_i P_i`` over the M letters that can occur: up to this distortion, randomized response is optimal,
        because (3) for that prior attains its minimum at n = M.

    >>> DiagonalRatioProgram(np.array([[0.5, 0.3, 0.2]])).at_distortion(0.45).mechanism.matrix.round(4)[0]
    array([0.6875, 0.3125, 0.    ])
    """

    def __init__(self, vertices: FloatArray, perfect: PerfectPrivacy | None = None) -> None:
        self._basis: Basis | None = None
        self._exact: ExactOptimum | None = None
        self.perfect = perfect or perfect_privacy(vertices)
        self._known: BoolArray = np.asarray(vertices.any(axis=0))  # what never occurs is always changed
        self._vertices = vertices[:, self._known]

    @cached_property
    def _floor(self) -> FloatArray:
        return highest_floor(self._vertices)

    @property
    def letter_count(self) -> int:
        """Letters that can occur."""
        return self._vertices.shape[1]

    @cached_property
    def symmetric_distortion(self) -> float:
        return float((self._vertices.shape[1] - 1) * (self._floor @ self._vertices).min())

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion in ``[0, D_0)``; below 1e-305, that at 0."""
        if distortion < SMALLEST_DISTORTION:
            return self._proposal(np.zeros(self.letter_count), self._floor)
        if distortion <= self.symmetric_distortion:
            found = self._settled(np.full(self.letter_count, distortion), self._floor, distortion)
            if found is not None:
                return found
        basis: Basis | None = None
        try:
            basis = self._distortion_basis(distortion)
            active_set = self._read(basis)
            if active_set is not None:
                distortions, weights = active_set.at_distortion(distortion)
                distortions = distortions / max(float((self._vertices @ distortions).max()) / distortion, 1.0)
                found = self._settled(distortions, weights, distortion)
                if found is not None:
                    return found
        except (SolverError, np.linalg.LinAlgError):
            pass
        return self._exact_at_distortion(Fraction(distortion), basis)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage in nats; a constant answer where nothing needs to leak for it."""
        if math.isinf(leakage):
            return self.at_distortion(0.0)
        # What is evaluated from the channel's floats must not exceed the budget either.
        leakage = min(leakage, _MOST_NATS) * (1 - 4 * _ROUNDING) - 4 * _ROUNDING
        if leakage <= 0:
            return self._constant(self.perfect.weights)
        odds = math.exp(-leakage)
        symmetric = (self.letter_count - 1) * odds / (1 + (self.letter_count - 1) * odds)
        if symmetric <= self.symmetric_distortion:
            return self._proposal(np.full(self.letter_count, symmetric), self._floor)
        excess = math.expm1(leakage)
        basis: Basis | None = None
        try:
            basis = self._ratio_basis(excess)
            active_set = self._read(basis, also=bool(basis.columns[self.letter_count]))
            distortions, weights = (None, -basis.duals) if active_set is None else active_set.at_ratio(excess)
            found = self._settled_at_leakage(distortions, weights[: len(self._vertices)], leakage)
            if found is not None:
                return found
        except (SolverError, np.linalg.LinAlgError):
            pass
        return self._exact_at_leakage(Fraction(excess), basis)

    def _settled(self, distortions: FloatArray, weights: FloatArray, distortion: float) -> Proposal | None:
        """The proposal for a distortion, if it keeps it and floats prove it best."""
        spent = float((self._vertices @ distortions).max())
        forcing, loss = self._forcing(_normalized(weights), distortion, _leakage(distortions))
        if loss > _CLOSE or spent > distortion * (1 + 4 * _ROUNDING):
            return None
        return self._proposal(distortions, forcing)

    def _settled_at_leakage(
        self, distortions: FloatArray | None, weights: FloatArray, leakage: float
    ) -> Proposal | None:
        """The proposal for a leakage, the constant answer if there are no distortions, if floats prove it best."""
        weights = _normalized(weights)
        least = RatioOfPrior(weights @ self._vertices).least_distortion(leakage)
        if self.perfect.distortion - least <= _CLOSE * least:
            return self._constant(weights)
        if distortions is None or float((self._vertices @ distortions).max()) - least > _CLOSE * least:
            return None
        excess = _leakage(distortions) - leakage
        return self._proposal(np.minimum(distortions * math.exp(max(excess, 0.0)), 1.0), weights)

    def _forcing(self, weights: FloatArray, distortion: float, leakage: float) -> tuple[FloatArray, float]:
        """Weights of a prior that forces a leakage by itself, and by how many nats the best that were tried fail to.

        A prior whose own jump is at the distortion forces nothing, though another beside it does: a hair towards the prior that
        needs most moves its jump beyond the distortion, since ``1 - max_i P_i`` is concave.
        """
        best, least = weights, math.inf
        for hair in (0.0, *_HAIRS):
            mixed = (1 - hair) * weights + hair * self.perfect.weights
            prior = RatioOfPrior(mixed @ self._vertices)
            loss = leakage - prior.least_leakage(distortion * (1 + 4 * _ROUNDING))  # however it is rounded
            if not loss >= least:
                best, least = mixed, loss
            jump = prior.perfect
            if loss <= _FORCED and distortion < jump - 1.01 * min(PERFECT_SLACK, RELATIVE_SLACK * jump):
                return mixed, least
        return best, least

    def _exact_at_distortion(self, distortion: Fraction, start: Basis | None) -> Proposal:
        count, size = self._vertices.shape
        found = self._exact_optimum(distortion, start)
        distortions = [float((distortion + x) / (1 + found.values[size])) for x in found.values[:size]]
        weights = _exactly_normalized([-dual for dual in found.duals[:count]])
        proposed, budget = np.array(distortions), float(distortion)
        leakage = _leakage(proposed)
        forcing, loss = self._forcing(np.array(weights, dtype=float), budget, leakage)
        if loss <= _FORCED:
            return self._proposal(proposed, forcing)
        needs_most = _exactly_normalized(list(map(Fraction, self.perfect.weights)))
        mixed = [(1 - _HAIR) * weight + _HAIR * other for weight, other in zip(weights, needs_most, strict=True)]
        return self._proposal(proposed, forcing, (np.array(mixed, dtype=object),))

    def _exact_optimum(self, distortion: Fraction, start: Basis | ExactOptimum | None) -> ExactOptimum:
        """Solve (2) in fractions and the unknowns of :meth:`_distortion_basis`, not scaled."""
        size = self.letter_count
        rows = [{**{i: p / distortion for i, p in enumerate(row)}, size: Fraction(-1)} for row in self._fractions]
        caps = [{i: Fraction(1), size: Fraction(-1)} for i in range(size)]
        upper = [1 - sum(row) for row in self._fractions] + [1 - distortion] * size
        return exact_optimum([-1] * size + [size - 1], rows + caps, upper, start=start)

    def exact_active_set(self, distortion: Fraction) -> ActiveSet | None:
        """The same as :meth:`active_set` in fractions, without rounding.

        Raises SolverError beyond ``D_0``, where (2) has no optimum.
        """
        self._exact = self._exact_optimum(distortion, self._exact)
        return self._read(self._exact, vertices=np.array(self._fractions, dtype=object))

    def _exact_at_leakage(self, excess: Fraction, start: Basis | None) -> Proposal:
        """The program at a fixed ratio in fractions and the unknowns of :meth:`_ratio_basis`."""
        count, size = self._vertices.shape
        total = size + excess
        rows: list[dict[int, Fraction]] = [
            {**dict(enumerate(row)), size: Fraction(-1), size + 1: sum(row, Fraction(-1))} for row in self._fractions
        ]
        rows += [{i: Fraction(1), size + 1: Fraction(1)} for i in range(size)]
        rows += [{**dict.fromkeys(range(size), 1 / total), size + 1: Fraction(1)}]
        upper = [Fraction(0)] * count + [total] * size + [Fraction(size - 1)]
        equal = slice(count + size, None)
        found = exact_optimum([0] * size + [1, 1], rows, upper, equal=equal, start=start)
        weights = np.array(_exactly_normalized([-dual for dual in found.duals[:count]]), dtype=float)
        distortions = np.array([float((x + found.values[size + 1]) / total) for x in found.values[:size]])
        if not distortions.all() or found.objective >= total * Fraction(self.perfect.distortion) * (
            1 - _EXACT_ROUNDING
        ):
            return self._constant(weights)
        return self._proposal(distortions, weights)

    @cached_property
    def _fractions(self) -> list[list[Fraction]]:
        return [list(map(Fraction, row)) for row in self._vertices]

    def active_set(self, distortion: float) -> ActiveSet | None:
        """Active set of program (2) of several vertices at a distortion in ``(0, D_0)``; None where all are kept alike."""
        try:
            return self._read(self._distortion_basis(distortion))
        except SolverError:  # the basis that floats do not find, fractions do
            self._exact = self._exact_optimum(Fraction(distortion), self._exact)
            return self._read(self._exact)

    def _distortion_basis(self, distortion: float) -> Basis:
        """Solve (2) in ``x_i = D (e_i - 1) >= 0`` and ``s = D sigma - 1 >= 0``, so that all numbers stay of order 1.

        minimize (M - 1) s - sum_i x_i   subject to   (P_v / D) . x <= s,   x_i <= s + 1 - D,

        where the column of a letter likelier than D is scaled by ``D / max_v P_v``.
        """
        count, size = self._vertices.shape
        peaks = self._vertices.max(axis=0)
        scales = np.where(peaks > distortion, distortion / peaks, 1.0)
        letters = np.vstack([self._vertices / np.maximum(peaks, distortion), np.diag(scales)])
        upper = np.append(np.zeros(count), np.full(size, 1 - distortion))
        costs = np.append(-scales, size - 1.0)
        matrix = np.column_stack([letters, -np.ones(count + size)])
        self._basis = optimal_basis(costs, matrix, upper, start=self._basis)
        return self._basis

    def _ratio_basis(self, excess: float) -> Basis:
        """Solve the same at a fixed ratio t = 1 + excess, minimizing the distortion.

        With ``T = M + t - 1``: columns ``x_i = T (D_i - c) >= 0``, ``s = T (D - c)`` and ``k = T c >= 0``;

        minimize k + s   subject to   P_v . x <= s,   x_i + k <= T,   sum_i x_i / T + k = M - 1.
        """
        count, size = self._vertices.shape
        total = size + excess
        letters = np.vstack([self._vertices, np.eye(size), np.full((1, size), 1 / total)])
        column_s = np.concatenate([-np.ones(count), np.zeros(size + 1)])
        column_k = np.concatenate([np.zeros(count), np.ones(size + 1)])
        upper = np.concatenate([np.zeros(count), np.full(size, total), [size - 1.0]])
        costs = np.append(np.zeros(size), [1.0, 1.0])
        matrix = np.column_stack([letters, column_s, column_k])
        return optimal_basis(costs, matrix, upper, equal=slice(count + size, None))

    def _read(
        self, basis: Basis | ExactOptimum, also: bool = True, vertices: FloatArray | None = None
    ) -> ActiveSet | None:
        """Read the active set off the solver's basis, exactly and without tolerances.

        None if the last column (s, or k at a fixed ratio) is at 0, or ``also`` is false: then there is nothing to gain over the
        trivial solution.
        """
        if not (basis.columns[-1] and also):
            return None
        count, size = self._vertices.shape
        letters, caps = basis.columns[:size], basis.rows[count : count + size]
        tight = np.flatnonzero(~basis.rows[:count])
        whole = self._vertices if vertices is None else vertices
        return ActiveSet(whole, kept=~letters, cut=letters & ~caps, tight=tight)

    def _constant(self, weights: FloatArray) -> Proposal:
        return Proposal(self.perfect.channel, _normalized(weights))

    def _proposal(self, known: FloatArray, weights: FloatArray, certificate: tuple[FloatArray, ...] = ()) -> Proposal:
        """Put the letters that never occur back, changed always, as are those that only rounding keeps."""
        distortions = np.ones(len(self._known))
        distortions[self._known] = np.where(known < 1 - _ROUNDING, known, 1.0)
        return Proposal(Mechanism.from_distortions(distortions), _normalized(weights), certificate)


def _leakage(distortions: FloatArray) -> float:
    """Of the channel with these distortions, in nats; the largest of all columns' ratios ``(S - a_i) / D_i``."""
    if not distortions.all():
        return math.inf
    kept = 1 - distortions
    return math.log(float(((kept.sum() - kept) / distortions).max()))


def _normalized(weights: FloatArray) -> FloatArray:
    weights = np.clip(weights, 0, None)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))


def _exactly_normalized(weights: list[Fraction]) -> list[Fraction]:
    total = sum(weights)
    return [weight / total for weight in weights]
