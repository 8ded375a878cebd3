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

So a solver only has to find the active set; the numbers come from the small system, accurate to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.games import PERFECT_SLACK, PerfectPrivacy, highest_floor, perfect_privacy
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = ["ActiveSet", "DiagonalRatioProgram", "least_distortion_of_prior", "prior_breakpoints"]

# A probability below this is out of reach of the solver's own tolerances.
_NEGLIGIBLE = 1e-11


def least_distortion_of_prior(prior: ArrayLike, leakage: float) -> float:
    """Least Hamming distortion of any mechanism with this leakage when the prior is known; equation (3).

    Theorem 13 of Zhong and Bu 2022, read as a function of the leakage; a lower bound for every source set that the prior
    belongs to, shape (M,). Evaluated as printed in (3), over all n at once; exact up to rounding.

    >>> round(least_distortion_of_prior([0.7, 0.2, 0.1], math.log(3)), 12)
    0.3
    """
    falling = -np.sort(-np.asarray(prior, dtype=float))
    others = np.arange(len(falling))
    # t / (t + n - 1) with t = exp(leakage), written so that no t overflows
    kept = 1 / (1 + others * math.exp(-leakage))
    # 1 - kept * top = kept * ((n - 1) / t + tail): no cancellation at small distortions
    tail = np.append(np.cumsum(falling[:0:-1])[::-1], 0.0)
    return float((kept * (others * math.exp(-leakage) + tail)).min())


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
    def _cut_mass(self) -> FloatArray:
        return self._rows[:, self.cut].sum(axis=1)

    @cached_property
    def _kept_mass(self) -> FloatArray:
        return self._rows[:, self.kept].sum(axis=1)

    @cached_property
    def _dual_target(self) -> FloatArray:
        """Right side of the dual variables' equations: 1 for each free letter, then the cost of sigma."""
        return np.append(np.ones(self.free.sum()), self.cut.sum() - len(self.kept) + 1.0)

    def _system(self, distortion: float) -> FloatArray:
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

    def ratio(self, distortion: float) -> tuple[FloatArray, FloatArray]:
        """The ratio t as a quotient of two linear functions of the step from ``distortion``.

        Numerator and denominator, each ``[constant, slope]``, shape (2,). The column of sigma is the only one that depends
        on D, so by the Sherman-Morrison formula every unknown is linear in the step over one common denominator.
        """
        primal, denominator = self._primal_lines(distortion)
        sigma = primal[-1]
        others = len(self.kept) - 1.0 - self.cut.sum()
        numerator = (1 - self.kept.sum()) * denominator + others * sigma - primal[:-1].sum(axis=0)
        return numerator, denominator

    def interval(self, distortion: float) -> tuple[float, float]:
        """The distortions around ``distortion`` at which this active set stays optimal.

        Every condition (free letters between kept and cut, other vertices slack, dual variables of the right sign) is linear in
        the step once the common, positive denominator is multiplied out.
        """
        primal, denominator = self._primal_lines(distortion)
        free, sigma = primal[:-1], primal[-1]
        step = np.array([0.0, 1.0])
        system = self._system(distortion)
        weights = np.linalg.solve(system.T, self._dual_target)
        sensitivity = np.linalg.solve(system.T, np.eye(len(system))[-1])
        weight_lines = np.column_stack([weights, sensitivity * weights.sum() - weights * sensitivity.sum()])
        reduced = self._rows.T @ weight_lines
        slack = np.delete(self.vertices, self.tight, axis=0)
        slack_lines = (
            (distortion - slack[:, self.cut].sum(axis=1))[:, np.newaxis] * sigma
            + sigma[0] * step
            - slack[:, self.kept].sum(axis=1)[:, np.newaxis] * denominator
            - slack[:, self.free] @ free
        )
        conditions = np.vstack(
            [
                denominator,
                free - denominator,
                sigma - free,
                slack_lines,
                weight_lines,
                reduced[self.kept] - denominator,
                denominator - reduced[self.cut],
            ]
        )
        value, slope = conditions.T
        moving = np.abs(slope) > 1e-9 * max(1.0, float(np.abs(conditions).max()))
        roots = -np.clip(value[moving], 0, None) / slope[moving]
        below, above = roots[slope[moving] > 0], roots[slope[moving] < 0]
        return distortion + max(below, default=-math.inf), distortion + min(above, default=math.inf)

    def _primal_lines(self, distortion: float) -> tuple[FloatArray, FloatArray]:
        """Free letters and sigma, times the common denominator, and that denominator; each ``[constant, slope]``."""
        system = self._system(distortion)
        values, sensitivity = np.linalg.solve(system, np.column_stack([-self._kept_mass, np.ones(len(system))])).T
        lines = np.column_stack([values, sensitivity * values[-1] - values * sensitivity[-1]])
        return lines, np.array([1.0, -sensitivity[-1]])


class DiagonalRatioProgram:
    """Program (2) of this module for one source set, warm from one distortion to the next.

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
        self.perfect = perfect or perfect_privacy(vertices)
        # What (nearly) never occurs is kept from the program, and its mass from the budget.
        counts = vertices > (0.0 if len(vertices) == 1 else min(_NEGLIGIBLE, 10 * _NEGLIGIBLE / vertices.shape[1]))
        counts[:, np.argsort(-vertices.max(axis=0))[:2]] = True
        self._known: BoolArray = np.asarray(counts.any(axis=0))
        self._vertices = np.where(counts, vertices, 0.0)[:, self._known]
        self._unknown_mass = float(np.where(counts, 0.0, vertices).sum(axis=1).max())

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
        """Least leakage at a distortion in ``[0, D_0)``."""
        budget = distortion - self._unknown_mass
        if budget <= 0 < distortion:
            return self._proposal(np.full(len(self._known), distortion), self._floor)
        if self._is_symmetric(budget):
            return self._symmetric(budget)
        if len(self._vertices) == 1:
            active_set = self._prior_active_set(budget)
            return self._symmetric(budget) if active_set is None else self._complete(*active_set.at_distortion(budget))
        basis = self._distortion_basis(budget)
        active_set = self._read(basis)
        if active_set is None:
            return self._symmetric(budget)
        try:
            distortions, weights = active_set.at_distortion(budget)
        except np.linalg.LinAlgError:  # vertices too much alike for the small system: the solver's own numbers will do
            size = self._vertices.shape[1]
            distortions = (budget + basis.values[:size]) / (1 + basis.values[size])
            weights = -basis.duals[: len(self._vertices)]
        # Free letters were clipped, and the solver's tolerance may have hidden a vertex: stay within the budget.
        excess = float((self._vertices @ distortions).max()) / budget
        return self._complete(distortions / max(excess, 1.0), weights)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage in nats; a constant answer where nothing needs to leak for it."""
        others = self._vertices.shape[1] - 1
        odds = math.exp(-leakage)
        symmetric = others * odds / (1 + others * odds)
        if self._is_symmetric(symmetric):
            return self._symmetric(symmetric)
        excess, count, size = math.expm1(leakage), *self._vertices.shape
        if count == 1:
            active_set = self._prior_active_set_at_ratio(excess)
            return self._constant(np.ones(1)) if active_set is None else self._complete(*active_set.at_ratio(excess))
        basis = self._ratio_basis(excess)
        if basis.objective / (size + excess) >= self.perfect.distortion - PERFECT_SLACK:
            return self._constant(-basis.duals[:count])
        active_set = self._read(basis, also=bool(basis.columns[size]))
        if active_set is None:
            return self._symmetric(symmetric)
        try:
            return self._complete(*active_set.at_ratio(excess))
        except np.linalg.LinAlgError:
            distortions = (basis.values[:size] + basis.values[size + 1]) / (size + excess)
            return self._complete(distortions, -basis.duals[:count])

    def _is_symmetric(self, distortion: float) -> bool:
        # At the end of the symmetric regime itself the program has more than one basis, and beside it they cannot be told apart.
        floor = 0.0 if len(self._vertices) == 1 else _NEGLIGIBLE
        return distortion <= max(self.symmetric_distortion * (1 + 1e-10), floor)

    def active_set(self, distortion: float) -> ActiveSet | None:
        """Active set of program (2) at a distortion between 0 and ``D_0``; None where all letters are kept alike."""
        if len(self._vertices) == 1:
            return self._prior_active_set(distortion)
        return self._read(self._distortion_basis(distortion))

    def _distortion_basis(self, distortion: float) -> Basis:
        """Solve (2) in ``x_i = D (e_i - 1) >= 0`` and ``s = D sigma - 1 >= 0``, so that all numbers stay of order 1.

        minimize (M - 1) s - sum_i x_i   subject to   (P_v / D) . x <= s,   x_i <= s + 1 - D.
        """
        count, size = self._vertices.shape
        letters = np.vstack([self._vertices / distortion, np.eye(size)])
        upper = np.append(np.zeros(count), np.full(size, 1 - distortion))
        costs = np.append(-np.ones(size), size - 1.0)
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

    def _read(self, basis: Basis, also: bool = True) -> ActiveSet | None:
        """Read the active set off the solver's basis, exactly and without tolerances.

        None if the last column (s, or k at a fixed ratio) is at 0, or ``also`` is false: then there is nothing to gain over the
        trivial solution.
        """
        if not (basis.columns[-1] and also):
            return None
        count, size = self._vertices.shape
        letters, caps = basis.columns[:size], basis.rows[count : count + size]
        return ActiveSet(self._vertices, kept=~letters, cut=letters & ~caps, tight=np.flatnonzero(~basis.rows[:count]))

    @cached_property
    def _order(self) -> IntArray:
        """Letters of a known prior, likeliest first."""
        return np.argsort(-self._vertices[0], kind="stable")

    def _prior_active_set(self, distortion: float) -> ActiveSet | None:
        """The same for a known prior; None where one letter is enough."""
        breakpoints, _, _ = prior_breakpoints(self._vertices[0, self._order[::-1]])
        return self._likeliest(len(self._order) - int((breakpoints < distortion).sum()))

    def _prior_active_set_at_ratio(self, excess: float) -> ActiveSet | None:
        _, tails, others = prior_breakpoints(self._vertices[0, self._order[::-1]])
        # Equation (3) for n = M .. 2, and for n = 1.
        least = (others / (1 + excess) + tails) / (1 + others / (1 + excess))
        return self._likeliest(len(self._order) - int(np.argmin(np.append(least, 1 - self._vertices[0].max()))))

    def _likeliest(self, count: int) -> ActiveSet | None:
        """Publish the ``count`` likeliest letters of a known prior; None if that is one letter, which leaks nothing."""
        if count < 2:
            return None
        kept = np.zeros(len(self._order), dtype=bool)
        kept[self._order[:count]] = True
        return ActiveSet(self._vertices, kept=kept, cut=~kept, tight=np.zeros(1, dtype=np.intp))

    def _symmetric(self, distortion: float) -> Proposal:
        return self._complete(np.full(self._vertices.shape[1], distortion), self._floor)

    def _complete(self, known: FloatArray, weights: FloatArray) -> Proposal:
        """Put the letters that never occur back, changed always, and mend what rounding did to sums."""
        kept = np.zeros(len(self._known))
        kept[self._known] = 1 - known
        if kept.sum() < 1:
            return self._proposal(1 - kept / kept.sum(), weights)
        distortions = np.ones(len(self._known))
        distortions[self._known] = np.clip(known, 0.0, 1.0)
        return self._proposal(distortions, weights)

    def _constant(self, weights: FloatArray) -> Proposal:
        return Proposal(self.perfect.channel, _normalized(weights))

    def _proposal(self, distortions: FloatArray, weights: FloatArray) -> Proposal:
        return Proposal(Mechanism.from_distortions(distortions), _normalized(weights))


def _normalized(weights: FloatArray) -> FloatArray:
    weights = np.clip(weights, 0, None)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
