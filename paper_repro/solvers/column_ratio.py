r"""Differential privacy on a graph of neighbors by the columns of the channel: any connected graph, distances and source set.

With lengths ``w_yy'`` of the edges (1, if none are given) and ``t = exp(leakage)``, a column q of a private channel lies in
the cone

    K = { q >= 0 :  q_y <= t^w_yy' q_y'  for neighbors y, y' }.

Its extreme rays are ``q_y = t^h(y)`` with heights h that differ along each edge by at most its length, and by just that along a
spanning tree. A channel is a mixture of rays, each in the column of some letter j, so that the least worst-case distortion is

    minimize  max_v sum_r lam_r sum_y P_v(y) d_yj(r) t^h_r(y)     subject to   sum_r lam_r t^h_r(y) = 1 for every y,  lam >= 0,

with one row a letter. Rays are generated as they are needed; heights do not depend on t, so that those of one budget serve the
next.

**Which ray is missing.** With weights w of the vertices, ``P = w . P_v``, and potentials mu, one a letter, the ray of least
``sum_y c_y q_y``, ``c_y = P_y d_yj - mu_y``, is wanted for each j. Let a spanning tree with a root be given. A leaf y with
``c_y >= 0`` hands its surplus to its neighbor k in the tree, where it is worth ``c_y / t^w`` since ``q_y >= q_k / t^w``; a
deficit, ``c_y < 0``, is covered by k at ``t^w c_y`` since ``q_y <= t^w q_k``; and so on inwards. What the root is left with is,
times its entry of q, a lower bound of the sum over the *whole* cone. The heights that this makes tight are a ray if no other edge
is longer in height than in length; where one is, the sum rises when that edge replaces the one on its cycle where the flow first
falls to nothing: the step of a simplex method on networks with gains. A line has but one tree, and needs no step.

**Lower bound.** Therefore every channel of at most this leakage has a distortion of at least

    sum_y mu_y  -  sum_j max(0, -(what the root of column j is left with)),                                    (1)

for all weights, potentials and trees: with mu lowered at each root by what it lacks, no root lacks anything, and then
``sum_j sum_y c_y Q_yj >= 0`` is the claim. All terms that are added have the size of the result, so that (1) is precise
relatively, at distortions of 1e-300 too. As a function of the leakage it falls, which bounds leakages from below.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.column_interior import Flows, InteriorColumns
from paper_repro.solvers.games import PerfectPrivacy
from paper_repro.solvers.linear import Basis, optimal_basis, run_bounded, stopped
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray, IntArray

__all__ = ["ColumnRatioProgram"]

# The solver's tolerances are absolute, 1e-10 at best: distortions are scaled up by this.
_SCALE = 1e3
# Entries this small, or this large, make no difference to a program whose numbers are of order 1.
_SMALL, _LARGE = 1e-13, 1e12
# Gap, relative to the distortion, at which a program counts as solved; and from which on the bound's potentials lead.
_CLOSED, _OPEN, _LEAD = 1e-12, 3e-3, 0.8
# Rounds of new rays, changes of a tree in one of them, and rounds without a new ray.
_ROUNDS, _CHANGES, _IDLE = 300, 60, 4
# Deficits this small, relative to the potential or their mean, are taken off the potential.
_ROUNDING = 1e-13
# By how much potentials are lowered before they are judged: the best of it counts.
_LESS = (0.0, 1e-14, 3e-12, 2e-10)
# The least leakage in nats that is told from none, beyond which none is told from more, and by how much of it bounds are read.
_LEAST, _MOST, _STEP = 1e-10, 700.0, 4e-10
# Nats from which on trees keep the roots that they were given.
_STEEP = 5.0
# From how many vertices on, up to how many, the interior-point method comes first; and the relative gap above which it is asked
# elsewhere too. Where it begins, in nats: at most, if nothing is known; at least; and to how many of 1 + nats that is found.
_MANY, _MOST_INTERIOR, _SOLVED = 24, 200, 1e-10
_BEGIN, _LITTLE, _NEARLY = 1.5, 0.1, 3e-3
# What is left of the gap where many vertices are given up, rather than tried for minutes.
_REFUSED = 1e-9
# Distortions from which on its precision, which is absolute, is enough.
_FINE = 1e-5
# The smallest number above 0.
_TINY = 5e-324


@dataclass
class _Optimum:
    """What was found at a leakage: rays with their shares, the distortion, its slope, and the best bound's duals."""

    columns: IntArray
    rays: FloatArray
    shares: FloatArray
    distortion: float
    slope: float
    bound: _Bound
    closed: bool


@dataclass(frozen=True)
class _Bound:
    """Weights, potentials and trees, and the value of (1)."""

    weights: FloatArray
    potentials: FloatArray
    parents: IntArray
    value: float


class ColumnRatioProgram:
    """The program of this module for one source set; keep it to go from one budget to the next.

    Graphs of more than 24 vertices go to :mod:`paper_repro.solvers.column_interior` first, others where their gap
    does not close here: then flows, shape (M, 2 E), are the certificate. Else it is ``(mu, parents)``: potentials, shape (M,),
    and trees, shape (M, M), where ``parents[j, y]`` is the next vertex on the way from y to the root of column j, which is its
    own parent.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.
    lengths : ndarray, shape (M, M)
        Of the shortest paths in the graph, finite and symmetric.
    edges : ndarray of int, shape (E, 2)
    perfect : PerfectPrivacy
        What is best without leakage.

    >>> from paper_repro.solvers.games import perfect_privacy
    >>> lengths = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    >>> prior, edges = np.full((1, 3), 1 / 3), np.array([[0, 1], [1, 2]])
    >>> program = ColumnRatioProgram(prior, 1 - np.eye(3), lengths, edges, perfect_privacy(prior))
    >>> program.at_leakage(math.log(2)).mechanism.round(6).tolist()[0]
    [0.666667, 0.166667, 0.166667]
    """

    def __init__(
        self, vertices: FloatArray, costs: FloatArray, lengths: FloatArray, edges: IntArray, perfect: PerfectPrivacy
    ) -> None:
        size = len(costs)
        self._vertices, self._costs, self._lengths = vertices, costs, lengths.astype(float)
        self._perfect, self._without = perfect, perfect.distortion
        self._center = int(lengths.max(axis=1).argmin())
        self._radius = float(lengths[self._center].max())
        arcs = np.concatenate([edges, edges[:, ::-1]])
        self._arcs = arcs[np.isfinite(lengths[tuple(arcs.T)])]
        self._listed = self._lengths.tolist()
        # Shortest paths to each root, to begin with; constant answers, and rays that fall off evenly from a letter.
        self._parents = np.tile(np.arange(size), (size, 1))
        for first, second in self._arcs:
            nearer = lengths[second] + lengths[first, second] <= lengths[first] * (1 + 1e-12)
            self._parents[nearer, first] = second
        self._columns = np.tile(np.arange(size), 2)
        self._heights = np.concatenate([np.zeros((size, size)), -self._lengths])
        self._known: set[tuple[int, bytes]] = set()
        self._basis: Any = None
        self._bound: _Bound | None = None
        ends = self._arcs.T
        self._interior = InteriorColumns(vertices, costs, self._arcs, self._lengths[ends[0], ends[1]])
        self._many = _MANY < size <= _MOST_INTERIOR
        # Without cycles no tree changes; with them rounds of many vertices take a second each.
        self._rounds = _ROUNDS if size <= _MANY or len(self._arcs) == 2 * (size - 1) else _ROUNDS // 10

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage in nats. Raises SolverError if no solver finds it."""
        leakage = min(leakage, _MOST)
        if self._many and self._guess(leakage) > _FINE:
            point = self._interior.at_leakage(self._within(leakage))
            if point is not None:
                return self._proposed(point, point, leakage)
        found = self._solve(max(self._within(leakage), _LEAST))
        if not found.closed and not self._many and (point := self._interior.at_leakage(self._within(leakage))):
            return self._proposed(point, point, leakage)
        answer = (
            np.tile(self._perfect.letters, (len(self._costs), 1))
            if leakage <= _LEAST
            else self._channel(found, leakage)
        )
        return self._proposal(answer, found.bound)

    def at_distortion(self, distortion: float, upper: float) -> Proposal:
        """Least leakage at a positive distortion below the one without leakage; ``upper`` nats are enough.

        Raises SolverError if no solver finds it.
        """
        begin = self._about(distortion, upper) if self._many else _STEP  # nearly nothing may be enough
        if self._many and distortion > _FINE:
            proposal = self._by_interior(distortion, begin)
            if proposal is not None:
                return proposal
        low, high, best = (
            0.0,
            min(upper * (1 + 1e-9) + _STEP, _MOST),
            None,
        )  # rounding may miss by a hair what is just enough
        leakage, level, stepped = begin, True, False
        for _ in range(100):
            try:
                found = self._solve(leakage)
            except SolverError:  # where next to nothing leaks; then more may
                if best is not None or leakage > begin:
                    raise
                low, leakage = leakage, min(high, 0.5)
                continue
            missed = math.log(found.distortion / distortion) if found.distortion > 0 else -math.inf
            if abs(missed) < 1e-6:  # now all rounding counts
                matrix = self._channel(found, leakage + self._margin(leakage))
                missed = math.log(self._spent(matrix) / distortion)
            steepness = -found.slope / found.distortion if found.distortion > 0 else 0.0
            if missed <= 0:
                high, best = leakage, found
                if missed > -1e-13 or high <= _STEP:
                    break
            else:
                low, level = leakage, steepness < 1e-9
            if best is not None and high - low <= 1e-14 * high:
                break
            leakage = leakage + missed / steepness + 1e-15 * leakage if steepness > 0 else math.inf
            if low < leakage < high:
                stepped = True
            elif best is not None or low > high / 2:
                # From the level part that the curve may begin with, its end is near where the last step led.
                leakage = low + (high - low) * (0.05 if level and stepped else 0.5)
                stepped = False
            else:
                leakage = min(high, 2 * low + 0.5)
            if best is None and high - low <= 1e-9 * high:
                leakage = high
        if best is None:
            raise SolverError(
                f"No mechanism of at most {upper!r} nats was found at distortion {distortion!r}. Try a nearby distortion."
            )
        below = self._solve(high - min(_STEP, high / 2)) if high > 2 * _STEP else best
        if not (best.closed and below.closed) and not self._many:
            proposal = self._by_interior(distortion, min(max(high, 0.1), _BEGIN))
            if proposal is not None:
                return proposal
        return self._proposal(self._channel(best, high + self._margin(high)), below.bound)

    def least_distortion(self, prior: FloatArray, certificate: Any, leakage: float) -> float:
        """Bound (1) for a prior, shape (M,), and ``(mu, parents)``, or that of flows, at a leakage in nats; never below 0."""
        if math.isinf(leakage):
            return 0.0
        if len(certificate) == 1:
            return self._interior.least_distortion(prior, certificate[0], leakage)
        potentials, parents = certificate
        levels, roots = self._levels(parents), _roots(parents)
        bounds = [0.0]
        for less in _LESS:  # rounding makes a deficit of what all but cancels, and that grows inwards
            smaller = potentials - less * np.abs(potentials)
            bounds.append(self._inwards(levels, roots, self._surplus(prior, smaller), smaller, leakage)[1])
        return max(bounds)

    def _proposal(self, matrix: FloatArray, bound: _Bound) -> Proposal:
        certificate: Any = bound.potentials, bound.parents
        return Proposal(matrix, bound.weights, certificate)

    def _proposed(self, point: Flows, below: Flows, leakage: float) -> Proposal:
        """What the interior-point method found, and what bounds it."""
        return Proposal(self._mended(point.columns.T, leakage), below.weights, (below.flows,))

    def _by_interior(self, distortion: float, begin: float) -> Proposal | None:
        def proposed(point: Flows, below: Flows) -> Proposal:
            return self._proposed(point, below, point.leakage + self._margin(point.leakage))

        def spent(point: Flows) -> float:
            return self._spent(proposed(point, point).mechanism)

        points = self._interior.at_distortion(distortion, begin, spent)
        return None if points is None else proposed(*points)

    def _spent(self, matrix: FloatArray) -> float:
        """The worst-case distortion of a channel."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def _margin(self, leakage: float) -> float:
        """What is left to the rounding of powers."""
        return 1e-13 * min(leakage, 1.0) + 2e-15 * leakage

    def _within(self, leakage: float) -> float:
        return leakage - self._margin(leakage)

    # The program in the shares of rays.

    def _is_near(self, leakage: float) -> bool:
        """Whether all rays are nearly constant, so that only what they differ by is written down."""
        return leakage * self._radius <= 1

    def _rays(self, heights: FloatArray, leakage: float) -> FloatArray:
        top = heights[:, [self._center]] if self._is_near(leakage) else heights.max(axis=1, keepdims=True)
        return np.exp(leakage * (heights - top))

    def _coefficients(self, columns: IntArray, heights: FloatArray, leakage: float, unit: float) -> FloatArray:
        """Of rays in the rows of the program, shape (V + M, rays): distortions, and what the shares sum to in each letter.

        Near no leakage in the difference to the distortion without, and in differences of letters to the center's.
        """
        spent = np.einsum("vi,ir->vri", self._vertices, self._costs[:, columns])
        if not self._is_near(leakage):
            rays = self._rays(heights, leakage)
            return np.concatenate([(spent * rays).sum(axis=2) / unit, rays.T])
        moves = np.expm1(leakage * (heights - heights[:, [self._center]]))
        sums = moves.T / leakage
        sums[self._center] = 1.0
        return np.concatenate([((spent.sum(axis=2) - self._without) + (spent * moves).sum(axis=2)) / unit, sums])

    def _solve(self, leakage: float) -> _Optimum:
        near, size, count = self._is_near(leakage), len(self._costs), len(self._vertices)
        unit = max(leakage, 1e-7) if near else self._guess(leakage)
        sums = np.where(np.arange(size) == self._center, 1.0, 0.0) if near else np.ones(size)
        matrix = self._coefficients(self._columns, self._heights, leakage, unit)
        master = _Master(count, sums, free=near, start=self._basis)
        master.add(matrix)
        best, idle, distortion = self._start(leakage), 0, self._without
        for _ in range(self._rounds):
            rays, shares, least, weights, potentials = master.solve(matrix)
            if near:  # from differences to the letters themselves
                distortion, potentials = self._without + unit * least, unit / leakage * potentials
                total = self._without + leakage * potentials[self._center]
                potentials[self._center] += total - potentials.sum()
            else:
                distortion, potentials = unit * least, unit * potentials
            surplus = self._surplus(weights @ self._vertices, potentials)
            exact = weights, potentials
            if best is not None and not idle and distortion - best.value > _OPEN * min(distortion, leakage):
                weights = _LEAD * best.weights + (1 - _LEAD) * weights
                potentials = _LEAD * best.potentials + (1 - _LEAD) * potentials
            bound, heights = self._price(weights, potentials, leakage)
            if best is None or bound.value > best.value:
                best = bound
            if distortion - best.value <= _CLOSED * abs(distortion):
                break
            columns, heights = self._improving(heights, surplus, leakage)
            idle = 0 if len(columns) else idle + 1
            if idle > _IDLE:
                break
            if len(columns):
                block = self._coefficients(columns, heights, leakage, unit)
                master.add(block)
                matrix = np.hstack([matrix, block])
                self._columns = np.append(self._columns, columns)
                self._heights = np.concatenate([self._heights, heights])
        assert best is not None  # there is at least one round
        left = distortion - best.value
        if self._rounds < _ROUNDS and left > _REFUSED:
            raise ValueError(
                f"No certificate within the tolerance of {_REFUSED:g} in distortion, for a graph of {size} vertices with "
                f"cycles at {leakage:g} nats: the remaining gap is {left:.1g} in distortion. Merge rare categories, or try "
                "another distortion or leakage."
            )
        self._basis, self._bound = master.basis, best
        entries, surplus = self._rays(self._heights[rays], leakage), self._surplus(exact[0] @ self._vertices, exact[1])
        columns = self._columns[rays]
        slope = float(shares @ (surplus[columns] * entries * self._heights[rays]).sum(axis=1))
        closed = distortion - best.value <= _SOLVED * abs(distortion)
        return _Optimum(columns, entries, shares, distortion, slope, best, closed)

    def _guess(self, leakage: float) -> float:
        """About the size of the least distortion."""
        off = np.exp(-leakage * self._lengths) * self._costs
        return max(min(self._without, float((self._vertices @ off.sum(axis=1)).max())), 1e-305)

    def _start(self, leakage: float) -> _Bound | None:
        """A bound to begin with: of the last leakage, or the best by trees of shortest paths without any deficit.

        With ``mu_y = P_y min_j d_yj - nu_y``, nu >= 0, it is a linear program in nu and the vertices' weights.
        """
        if self._bound is not None:
            return self._price(self._bound.weights, self._bound.potentials, leakage)[0]
        try:
            basis, least = self._by_shortest_paths(leakage)
        except SolverError:
            return None
        size = len(self._costs)
        weights = basis.values[size:] / basis.values[size:].sum()
        found = self._price(weights, weights @ self._vertices * least - basis.values[:size], leakage)[0]
        return found if found.value > 0 else None

    def _by_shortest_paths(self, leakage: float) -> tuple[Basis, FloatArray]:
        """These nu and weights, shape (M + V,), where the bound is less the objective; and ``min_j d_yj``, shape (M,)."""
        size, count = len(self._costs), len(self._vertices)
        fade = np.exp(-leakage * self._lengths)
        least = (self._costs + np.diag(np.full(size, np.inf))).min(axis=1)
        extra = np.einsum("vy,jy,yj->jv", self._vertices, fade, self._costs - least[:, np.newaxis])
        basis = optimal_basis(
            np.append(np.ones(size), -self._vertices @ least),
            np.block([[-fade, -extra], [np.zeros((1, size)), np.ones((1, count))]]),
            np.append(np.zeros(size), 1.0),
            equal=slice(size, None),
        )
        return basis, least

    def _about(self, distortion: float, upper: float) -> float:
        """A leakage to begin with: where the bound by shortest paths, mostly hardly too low, has the distortion."""
        low, high = 0.0, upper
        try:
            while high - low > _NEARLY * (1 + low):
                middle = (low + high) / 2
                less = -self._by_shortest_paths(middle)[0].objective > distortion
                low, high = (middle, high) if less else (low, middle)
        except SolverError:
            return min(upper, _BEGIN)
        return max(high, min(upper, _LITTLE))

    def _surplus(self, prior: FloatArray, potentials: FloatArray) -> FloatArray:
        """The numbers c of each column, shape (M, M): column j in row j."""
        return prior * self._costs.T - potentials

    def _improving(self, heights: FloatArray, surplus: FloatArray, leakage: float) -> tuple[IntArray, FloatArray]:
        """Of the rays next to heights that may be none, one a column, those that lessen the distortion."""
        best, least = heights, np.full(len(heights), np.inf)
        for ray in (
            (heights[:, np.newaxis] + self._lengths).min(axis=2),
            (heights[:, np.newaxis] - self._lengths).max(axis=2),
        ):
            terms = surplus * np.exp(leakage * (ray - ray.max(axis=1, keepdims=True)))
            value = terms.sum(axis=1) / np.maximum(np.abs(terms).sum(axis=1), 1e-300)
            best, least = np.where((value < least)[:, np.newaxis], ray, best), np.minimum(value, least)
        columns = np.array(
            [j for j in np.flatnonzero(least < -1e-15).tolist() if self._is_new(j, best[j])], dtype=np.intp
        )
        return columns, best[columns]

    def _is_new(self, column: int, ray: FloatArray) -> bool:
        """Whether the ray was not there yet in this column; now it is."""
        known, key = len(self._known), (column, np.round(ray - ray.max(), 9).tobytes())
        self._known.add(key)
        return len(self._known) > known

    def _channel(self, found: _Optimum, leakage: float) -> FloatArray:
        """The channel of the shares, all rounding mended: the ratio is kept, and rows sum to 1.

        Of all columns the least above them that keeps the ratio; then, for what dividing the rows by their sums upsets, some
        of the mean row is mixed in, which costs next to nothing where next to nothing leaks.
        """
        matrix = np.zeros(self._costs.shape)
        np.add.at(matrix.T, found.columns, found.shares[:, np.newaxis] * found.rays)
        return self._mended(matrix, leakage)

    def _mended(self, matrix: FloatArray, leakage: float) -> FloatArray:
        """The channel next to a matrix that all but is one."""
        matrix = np.where(matrix.max(axis=0) < 1e-15 * min(1.0, self._guess(leakage)), 0.0, matrix)
        reach = np.exp(-self._within(leakage) * self._lengths)
        matrix = np.column_stack([(reach * column).max(axis=1) for column in matrix.T])
        used = matrix.max(axis=0) > 0
        matrix[:, used] += _TINY
        matrix /= matrix.sum(axis=1, keepdims=True)
        (first, second), peaks = self._arcs.T, matrix.max(axis=0)
        fade = np.exp(-leakage * self._lengths[first, second])[:, np.newaxis]
        missed = (matrix[first] * fade - matrix[second])[:, used].max(axis=0, initial=0.0)
        # Adding c to all of a column lowers its ratios: (x + c) / t <= y + c once c (1 - 1/t) covers what is missed.
        mean, missed = matrix.mean(axis=0), np.maximum(missed, 0.0) + 4e-16 * fade.max() * peaks[used]
        share = float((missed / mean[used]).max()) / -math.expm1(-leakage * float(self._lengths[first, second].min()))
        return (matrix + share * mean) / (1 + share)

    # Trees, one for each column.

    def _levels(self, parents: IntArray) -> list[tuple[IntArray, IntArray, IntArray, FloatArray]]:
        """Places (row, vertex, parent) of trees by depth, from the root on, with the lengths of their edges."""
        depth, above = np.zeros(parents.shape, dtype=int), np.tile(np.arange(parents.shape[1]), (len(parents), 1))
        roots = _roots(parents)[:, np.newaxis]
        for _ in range(parents.shape[1]):
            moved = above != roots
            if not moved.any():
                break
            depth += moved
            above = np.take_along_axis(parents, above, axis=1)
        else:
            raise SolverError(
                "A tree has a cycle, as rounding took one edge for another. Try a nearby distortion or leakage."
            )
        order = np.argsort(depth, axis=None, kind="stable")
        cuts = np.searchsorted(depth.ravel()[order], np.arange(1, depth.max() + 2))
        levels = []
        for start, stop in itertools.pairwise(cuts.tolist()):
            row, vertex = np.divmod(order[start:stop], parents.shape[1])
            levels.append((row, vertex, parents[row, vertex], self._lengths[vertex, parents[row, vertex]]))
        return levels

    def _inwards(
        self, levels: Any, roots: IntArray, surplus: FloatArray, potentials: FloatArray, leakage: float
    ) -> tuple[FloatArray, float]:
        """What every vertex is left with, in the shape of ``surplus``, and bound (1) if this is of all columns."""
        sums, lowered = surplus.copy(), np.zeros(len(potentials))
        rounding = _ROUNDING * np.maximum(np.abs(potentials), np.abs(potentials).mean())
        with np.errstate(over="ignore"):
            for row, vertex, parent, length in reversed(levels):
                value = sums[row, vertex]
                lacks = np.where((value < 0) & (value >= -rounding[vertex]), -value, 0.0)
                np.maximum.at(lowered, vertex, lacks)
                sums[row, vertex] = value = np.where(lacks > 0, 0.0, value)
                factor = np.exp(np.where(value > 0, -leakage, np.where(value < 0, leakage, 0.0)) * length)
                np.add.at(sums, (row, parent), value * factor)
        left = sums[np.arange(len(roots)), roots]
        return sums, float(potentials.sum() - lowered.sum() - np.clip(-left, 0, None).sum())

    def _price(self, weights: FloatArray, potentials: FloatArray, leakage: float) -> tuple[_Bound, FloatArray]:
        """The bound by the best trees, as far as they are found, and the heights that these make tight."""
        surplus, size = self._surplus(weights @ self._vertices, potentials), len(self._costs)
        heights, (givers, takers) = np.zeros((size, size)), self._arcs.T
        lengths, rows = self._lengths[givers, takers], np.arange(size)
        for _ in range(_CHANGES):
            levels, roots = self._levels(self._parents[rows]), _roots(self._parents[rows])
            sums, _ = self._inwards(levels, roots, surplus[rows], potentials, leakage)
            high = np.zeros(sums.shape)
            for row, vertex, parent, length in levels:
                high[row, vertex] = high[row, parent] + np.where(sums[row, vertex] >= 0, -length, length)
            heights[rows] = high
            steep = high[:, givers] - high[:, takers] > lengths * (1 + 1e-9)
            entries = np.exp(np.clip(leakage * high, -_MOST, _MOST))
            gain = np.where(steep, entries[:, givers] * np.exp(-leakage * lengths) - entries[:, takers], -1.0)
            chosen = gain.argmax(axis=1)
            wrong = np.flatnonzero(steep.any(axis=1))
            for place in wrong:
                self._change(
                    int(rows[place]), sums[place].tolist(), *map(int, self._arcs[chosen[place]]), leakage=leakage
                )
            rows = rows[wrong]
            if not len(rows):
                break
        # What a root lacks counts in full: where that is less, the highest vertex of a ray is the root.
        parents, tops, roots = self._parents.copy(), heights.argmax(axis=1), _roots(self._parents)
        lacking = self._lacking(parents, surplus, potentials, leakage)
        for number in np.flatnonzero((lacking > 0) & (tops != roots)).tolist():
            path: list[int] = [int(tops[number])]
            while path[-1] != roots[number]:
                path.append(int(parents[number, path[-1]]))
            parents[number, path] = [path[0], *path[:-1]]
        worse = self._lacking(parents, surplus, potentials, leakage) > lacking
        parents[worse] = self._parents[worse]
        if leakage > _STEEP:  # else what a far root lacks for a while is more than what it saves
            self._parents = parents.copy()
        value = self._inwards(self._levels(parents), _roots(parents), surplus, potentials, leakage)[1]
        return _Bound(weights, potentials, parents, value), heights

    def _lacking(self, parents: IntArray, surplus: FloatArray, potentials: FloatArray, leakage: float) -> FloatArray:
        """What the root of each column is short of, shape (M,)."""
        roots = _roots(parents)
        sums, _ = self._inwards(self._levels(parents), roots, surplus, potentials, leakage)
        return np.clip(-sums[np.arange(len(roots)), roots], 0, None)

    def _change(self, row: int, sums: list[float], giver: int, taker: int, *, leakage: float) -> None:
        """Take the edge into a tree over which giver receives from taker, and out of it the first that is not needed.

        Along the cycle surpluses shrink on taker's side and deficits on giver's, by what gets there of each unit that is sent.
        """
        parents, lengths = self._parents[row].tolist(), self._listed
        here, there = [taker], [giver]
        while parents[here[-1]] != here[-1]:
            here.append(parents[here[-1]])
        places = {vertex: place for place, vertex in enumerate(here)}
        while there[-1] not in places:
            there.append(parents[there[-1]])
        turned: list[int] = []
        least = math.inf
        for path, sign, arrives in (
            (here[: places[there[-1]]], 1, 0.0),
            (there[:-1], -1, -leakage * lengths[giver][taker]),
        ):
            for place, vertex in enumerate(path):
                value, length = sums[vertex], leakage * lengths[vertex][parents[vertex]]
                if (value >= 0) == (sign > 0):
                    limit = (math.log(abs(value)) if value else -math.inf) - arrives
                    if limit < least or not turned:
                        least, turned = limit, [giver if sign > 0 else taker, *path[: place + 1]]
                arrives += -length if value >= 0 else length
        for before, vertex in itertools.pairwise(turned):
            self._parents[row, vertex] = before


def _roots(parents: IntArray) -> IntArray:
    """The vertices that are their own parents, one a row."""
    return (parents == np.arange(parents.shape[1])).argmax(axis=1)


class _Master:
    """The linear program in the shares of the rays that are known, kept by HiGHS from round to round."""

    def __init__(self, vertices: int, sums: FloatArray, *, free: bool, start: Any) -> None:
        import highspy

        self._highs, self._count, self._start = highspy, vertices, start
        self._right = np.append(np.zeros(vertices), sums)
        self._model: Any = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "simplex_strategy": 4,  # primal: new rays leave what was found feasible
            "presolve": "off",
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
            "small_matrix_value": 1e-14,
        }
        for option, value in options.items():
            self._model.setOptionValue(option, value)
        infinite, none = highspy.kHighsInf, np.array([], dtype=np.int32)
        for bound in np.zeros(vertices):
            self._model.addRow(-infinite, bound, 0, none, np.array([]))
        for bound in sums:
            self._model.addRow(bound, bound, 0, none, np.array([]))
        worst = np.arange(vertices, dtype=np.int32)
        self._model.addCol(_SCALE, -infinite if free else 0.0, infinite, vertices, worst, -np.ones(vertices))

    @property
    def basis(self) -> Any:
        return self._model.getBasis()

    def add(self, block: FloatArray) -> None:
        """More rays, by their coefficients, shape (rows, rays)."""
        columns = np.clip(block.T, -_LARGE, _LARGE)
        places = np.abs(columns) > _SMALL
        starts = np.append(0, np.cumsum(places.sum(axis=1))[:-1]).astype(np.int32)
        rows, amount = np.nonzero(places)[1].astype(np.int32), len(columns)
        zeros, most = np.zeros(amount), np.full(amount, self._highs.kHighsInf)
        self._model.addCols(amount, zeros, zeros, most, len(rows), starts, rows, columns[places])

    def solve(self, matrix: FloatArray) -> tuple[IntArray, FloatArray, float, FloatArray, FloatArray]:
        """The basic rays, their shares, the distortion, the weights of the vertices and the potentials.

        Computed from the basis, and refined in longer numbers.
        """
        from scipy.linalg import LinAlgError, lu_factor, lu_solve

        if self._start is not None and self._start.row_status and len(self._start.col_status) == matrix.shape[1] + 1:
            self._model.setBasis(self._start)
        self._start = None
        optimal = self._highs.HighsModelStatus.kOptimal
        for retry in (
            {},
            {"simplex_strategy": 1},
            {"presolve": "on"},
            {"dual_feasibility_tolerance": 1e-8},
            {"solver": "ipm"},
        ):
            for option, value in retry.items():
                self._model.clearSolver()
                self._model.setOptionValue(option, value)
            if run_bounded(self._model) == optimal:
                break
        else:
            raise SolverError(stopped(self._model))
        basis, basic, rows = self._model.getBasis(), self._highs.HighsBasisStatus.kBasic, len(matrix)
        chosen = np.array([status == basic for status in basis.col_status])
        slack = np.array([status == basic for status in basis.row_status])
        worst, rays = int(chosen[0]), np.flatnonzero(chosen[1:])
        square, prices = np.zeros((rows, rows)), np.zeros(rows)
        if worst:
            square[: self._count, 0], prices[0] = -1.0, 1.0
        square[:, worst : worst + len(rays)] = matrix[:, rays]
        square[np.flatnonzero(slack), worst + len(rays) + np.arange(slack.sum())] = 1.0
        wide = square.astype(np.longdouble)
        try:
            factors = lu_factor(square, check_finite=False)
        except LinAlgError as error:  # pragma: no cover
            raise SolverError(
                "A basis of the linear program is singular. Try a nearby distortion or leakage."
            ) from error
        values, duals = lu_solve(factors, self._right), lu_solve(factors, prices, trans=1)
        for _ in range(2):
            values += lu_solve(factors, np.asarray(self._right - wide @ values, dtype=float))
            duals += lu_solve(factors, np.asarray(prices - wide.T @ duals, dtype=float), trans=1)
        weights = np.clip(-duals[: self._count], 0, None)
        weights = weights / weights.sum() if weights.any() else np.full(self._count, 1 / self._count)
        shares = np.clip(values[worst : worst + len(rays)], 0, None)
        return rays, shares, float(values[0]) if worst else 0.0, weights, duals[self._count :]
