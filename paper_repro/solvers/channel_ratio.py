r"""Ratio notions by a linear program over the whole channel: any neighbors, any distances, any source set.

Differential privacy, approximate differential privacy and maximal information all bound entries of a channel by a mixture of
the entries below and above them. A *comparison* c names a row g and weights p over the rows, and asks, with ``t = exp(leakage)``,

    Q_gj <= t (p Q)_j + delta        for every column j                                    (pointwise), or
    sum_j max(0, Q_gj - t (p Q)_j) <= delta                                                (standard).

Neighbors i, k are the comparison of row i with the unit vector at k; maximal information compares every row with every vertex
of the source set. At a given t the least worst-case distortion is a linear program,

    minimize    max_v  sum_ij P_v(i) Q_ij d_ij     subject to the comparisons,  rows of Q sum to 1,  Q >= 0.          (1)

**Lower bound.** For weights w of the vertices (a prior ``P = w . P_v``) and any ``f_cj >= 0``, every channel that meets the
comparisons has a distortion of at least

    sum_i min_j [ P_i d_ij + sum_{c: g = i} f_cj / t - sum_c f_cj p_c(i) ]  -  (delta / t) F                         (2)

with ``F = sum_cj f_cj`` (pointwise) or ``F = sum_c max_j f_cj`` (standard): add the comparisons, weighted, to the distortion. It
is evaluated from the multipliers alone, which decide how good it is, not whether it holds.

Where neighbors have weights, a comparison has its own factor ``t^w`` in place of t, in (1) and in (2). Weights along a path add
up, to directed lengths ``l(i, k)`` of shortest paths; the least column above a given one that keeps all comparisons has
``max_i Q_ij t^-l(i, k)`` in row k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.graphs import Adjacency
from paper_repro.solvers.games import perfect_privacy
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.solvers.proposals import Proposal
from paper_repro.types import FloatArray, IntArray

__all__ = ["ChannelRatioProgram", "Comparisons"]

# The solver's tolerances are absolute, 1e-10 at best: all quantities are scaled up by this.
_SCALE = 1e4
# Entries below are the solver's rounding.
_NOISE = 1e-13
# Leakage in nats, and a share of delta, that are left to rounding.
_MARGIN = 1e-12
# A budget counts as kept if it is missed by less, and by less than this part of a small budget.
_ROUNDING, _RELATIVE = 4e-12, 4e-9
# Rows that are solved; twice as many where each is of two entries.
_MOST_ROWS = 100_000
# Below so many nats next to nothing leaks; what is this much larger than what changes with the leakage does not bind.
_TINY, _FAR = 1e-3, 1e4
# The smallest number above 0.
_LEAST = 5e-324
# A gap in distortion that needs no second try.
_CLOSED = 1e-10


@dataclass(frozen=True)
class Comparisons:
    """Which rows must look alike.

    Attributes
    ----------
    givers : ndarray of int, shape (C,)
    others : ndarray, shape (C, M)
        Weights p of the rows that each giver is compared with.
    delta : float in [0, 1)
    standard : bool
        Whether delta is for all columns together.
    steps : ndarray of int, shape (M, M), or None
        Comparisons from one row to another, where each is with one row.
    weights : ndarray, shape (C,), or None
        Powers of t in the comparisons; 1, if not given.
    lengths : ndarray, shape (M, M), or None
        Where there are weights, what they add up to from row to row: infinite where nothing is asked.
    """

    givers: IntArray
    others: FloatArray
    delta: float = 0.0
    standard: bool = False
    steps: IntArray | None = None
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
        _check_size(2 * len(adjacency.edges), adjacency.size, 2 * _MOST_ROWS)
        first, second = adjacency.neighbor_pairs.T
        return cls(first, np.eye(adjacency.size)[second], delta, standard, adjacency.distances)

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
        _check_size(len(pairs), len(lengths), 2 * _MOST_ROWS)
        first, second = pairs.T
        return cls(first, np.eye(len(lengths))[second], weights=weights, lengths=lengths)

    def factors(self, leakage: float, margin: float = 0.0) -> FloatArray:
        """``t^-w`` of each comparison, shape (C,), at a leakage in nats; a margin of it is left where w is above 0."""
        if self.weights is None:
            return np.full(self.givers.size, math.exp(min(0.0, margin - leakage)))
        return np.exp(np.where(self.weights > 0, np.minimum(0.0, margin - leakage * self.weights), 0.0))

    @classmethod
    def with_outputs(cls, vertices: FloatArray) -> Comparisons:
        """Every row with the output's distribution under every vertex; vertices of shape (V, M)."""
        count, size = vertices.shape
        return cls(np.tile(np.arange(size), count), np.repeat(vertices, size, axis=0))


class ChannelRatioProgram:
    """Program (1) of this module for one source set.

    What it proposes is certified by ``(f,)``, multipliers of the comparisons, shape (C, M).

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        ``d_ij``, the distance from letter i to letter j.
    comparisons : Comparisons

    Raises
    ------
    ValueError
        If the program is too large to be solved in reasonable time.

    >>> from paper_repro.graphs import clique
    >>> program = ChannelRatioProgram(np.full((1, 2), 0.5), 1 - np.eye(2), Comparisons.of_neighbors(clique(2)))
    >>> program.at_leakage(math.log(3)).mechanism.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, comparisons: Comparisons) -> None:
        if comparisons.steps is None and comparisons.weights is None:
            _check_size(comparisons.givers.size, vertices.shape[1], _MOST_ROWS)
        self._vertices, self._costs, self._comparisons = vertices, costs, comparisons

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a finite leakage in nats. Raises SolverError if no solver finds it."""
        if leakage == 0 or self._comparisons.delta > 0 or self._comparisons.steps is None:
            return self._directly(leakage)[0]
        best, least, failure = None, math.inf, "no answer"
        for solve in (self._directly, self._next_to_nothing)[: 2 if leakage < _TINY else 1]:
            try:
                proposal, rows = solve(leakage)
            except SolverError as error:
                failure = str(error)
                continue
            for candidate in (proposal, self._with_means(proposal, rows, leakage)):
                bound = self.least_distortion(candidate.weights @ self._vertices, candidate.certificate[0], leakage)
                gap = self.distortion(candidate.mechanism) - bound
                if gap < least:
                    best, least = candidate, gap
                if least <= _CLOSED:
                    return candidate
        if best is None:
            raise SolverError(failure)
        return best

    def _directly(self, leakage: float) -> tuple[Proposal, FloatArray]:
        """The solution of (1) with the solver's rounding mended, and the dual variables of the rows' sums."""
        size, delta = len(self._costs), self._comparisons.delta
        try:
            basis = self._solve(leakage, delta * (1 - _MARGIN))
        except SolverError:
            if self._comparisons.lengths is None:
                raise
            basis = self._solve(leakage * (1 - 1e-11), delta)  # a hair beside it the solver's rounding is another
        matrix = self._repaired(basis.values[: size * size].reshape(size, size) / _SCALE, leakage)
        count = self._comparisons.givers.size
        multipliers = -basis.duals[: count * size].reshape(count, size)
        weights = np.clip(-basis.duals[-size - len(self._vertices) : -size], 0, None)
        if weights.sum() == 0:  # no distortion is needed at all
            weights, multipliers = np.ones_like(weights), np.zeros_like(multipliers)
        proposal = Proposal(matrix, weights / weights.sum(), (np.clip(multipliers, 0, None) / weights.sum(),))
        return proposal, basis.duals[-size:] / weights.sum()

    def at_distortion(
        self, distortion: float, upper: float, without: float, leakage: Callable[[FloatArray], float]
    ) -> Proposal:
        """Least leakage at a distortion, by root finding on the least distortion.

        A leakage of ``upper`` is enough; ``without`` any, no distortion below this can be had. The curve jumps where a letter can
        just be left out; there many leakages have the same least distortion, and the lowest is wanted: the distortion that is
        searched for is therefore larger by a rounding.

        Raises SolverError if no mechanism of at most ``upper`` nats keeps the distortion.
        """
        from scipy.optimize import brentq

        within: dict[float, Proposal] = {}
        rounding = _ROUNDING if self._comparisons.steps is None or self._comparisons.delta > 0 else _ROUNDING / 8
        rounding = min(rounding, _RELATIVE * distortion) if distortion > 0 else rounding

        def excess(nats: float) -> float:
            if nats == 0:
                return without - distortion
            try:
                proposal = self.at_leakage(nats)
            except SolverError:  # only where next to nothing leaks, and then nothing is gained
                return without - distortion
            over = self.distortion(proposal.mechanism) - distortion - rounding
            if over <= 0:
                within[nats] = proposal
            return over

        upper = upper * (1 + 1e-9) + 1e-9
        if without > distortion and excess(upper) < 0:
            brentq(excess, 0.0, upper, xtol=1e-13, rtol=1e-14)
        if not within:
            raise SolverError(f"no mechanism of at most {upper!r} nats was found at distortion {distortion!r}")
        return min(within.values(), key=lambda proposal: leakage(proposal.mechanism))

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel, shape (M, M)."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def least_distortion(self, prior: FloatArray, multipliers: FloatArray, leakage: float) -> float:
        """Bound (2): no channel of at most this leakage has a smaller distortion under the prior.

        For a prior, shape (M,), and any multipliers of the comparisons, shape (C, M).
        """
        if math.isinf(leakage):
            return 0.0
        givers, others = self._comparisons.givers, self._comparisons.others
        shrink = math.exp(-leakage)
        reduced = prior[:, np.newaxis] * self._costs - others.T @ multipliers
        np.add.at(reduced, givers, multipliers * self._comparisons.factors(leakage)[:, np.newaxis])
        total = multipliers.max(axis=1, initial=0.0).sum() if self._comparisons.standard else multipliers.sum()
        return float(reduced.min(axis=1).sum() - self._comparisons.delta * shrink * total)

    def _solve(self, leakage: float, delta: float) -> Basis:
        """Unknowns: Q row by row, for the standard definition each comparison's excess in each column, and the distortion."""
        from scipy.sparse import csc_array

        comparisons, size, count = self._comparisons, len(self._costs), self._comparisons.givers.size
        (entries, givers), (indices, starts, pointers), shape = self._pattern
        # Entries at the same place, of a giver and of what it is compared with, add up.
        inverse, factors = math.exp(min(0.0, _MARGIN - leakage)), comparisons.factors(leakage, _MARGIN)
        values = np.add.reduceat(np.where(givers >= 0, factors[givers] * entries, entries), starts)
        allowed = np.full(count if comparisons.standard else count * size, delta * inverse * _SCALE)
        free = np.zeros(count * size if comparisons.standard else 0)
        costs = np.zeros(shape[1])
        costs[-1] = _SCALE
        return optimal_basis(
            costs,
            csc_array((values, indices, pointers), shape=shape),
            np.concatenate([free, allowed, np.zeros(len(self._vertices)), np.full(size, _SCALE)]),
            equal=slice(shape[0] - size, None),
            large=count * size > 10_000,
        )

    @cached_property
    def _pattern(self) -> tuple[tuple[FloatArray, IntArray], tuple[IntArray, IntArray, IntArray], tuple[int, int]]:
        """The rows' entries in the order of a sparse matrix, and of which comparison's giver: only those change, with 1/t."""
        from scipy.sparse import block_array, coo_array, eye_array, kron

        comparisons, size, count = self._comparisons, len(self._costs), self._comparisons.givers.size
        each = eye_array(size)
        givers = coo_array((np.ones(count), (np.arange(count), comparisons.givers)), shape=(count, size))
        givers, others = kron(givers, each), kron(coo_array(-comparisons.others), each)
        distances = coo_array(np.einsum("vi,ij->vij", self._vertices, self._costs).reshape(len(self._vertices), -1))
        worst = coo_array(-np.ones((len(self._vertices), 1)))
        sums = kron(each, np.ones((1, size)))
        if comparisons.standard:
            shares = kron(eye_array(count), np.ones((1, size)))
            blocks = [
                [others, -eye_array(count * size), None],
                [None, shares, None],
                [distances, None, worst],
                [sums, None, None],
            ]
        else:
            blocks = [[others, None], [distances, worst], [sums, None]]
        rest = block_array(blocks).tocoo()
        givers, rows = givers.tocoo(), np.concatenate([givers.tocoo().row, rest.row])
        columns = np.concatenate([givers.col, rest.col])
        order = np.lexsort((rows, columns))
        first = np.append(True, (np.diff(rows[order]) != 0) | (np.diff(columns[order]) != 0))
        starts = np.flatnonzero(first)
        pointers = np.searchsorted(columns[order][starts], np.arange(rest.shape[1] + 1))
        entries = np.concatenate([givers.data, rest.data])[order]
        of_givers = np.where(order < givers.nnz, rows[order] // size, -1)
        return (entries, of_givers), (rows[order][starts], starts, pointers), rest.shape

    def _next_to_nothing(self, leakage: float) -> tuple[Proposal, FloatArray]:
        """The same where next to nothing leaks, in unknowns whose program stays well conditioned; one row a comparison.

        With ``s = 1 - 1/t`` and a constant answer u of least distortion D, ``Q_ij = u_j + s (R_ij + h_j)``. Then
        ``R_gj / t - R_kj <= u_j + s h_j``, and the program maximizes the gain over D, divided by s. What u spares of D in a
        vertex counts ``1 / s`` there, which is cut to what still is well conditioned.
        """
        from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

        size, count, vertices = len(self._costs), self._comparisons.givers.size, len(self._vertices)
        step = -math.expm1(_MARGIN - leakage)
        least, far = perfect_privacy(self._vertices, self._costs).distortion, min(1 / step, _FAR)
        each, even, one = eye_array(size), np.ones((1, size)), np.ones((1, 1))
        givers = (np.full(count, 1 - step), (np.arange(count), self._comparisons.givers))
        ratios = kron(csr_array(givers, shape=(count, size)) - csr_array(self._comparisons.others), each)
        moves, constant = kron(np.ones((count, 1)), each), self._vertices @ self._costs
        changes = np.einsum("vi,ij->vij", self._vertices, self._costs).reshape(vertices, -1)
        # Columns: R, u, h above and below 0, the sum of a row of R, the gain.
        widths = (size * size, size, size, size, 1, 1)
        rows = [
            (ratios, -moves, -step * moves, step * moves, None, None),
            (changes, far * constant, constant, -constant, None, np.ones((vertices, 1))),
            (None, constant, None, None, None, None),
            (None, -far * each, None, each, None, None),
            (kron(each, even), None, None, None, -np.ones((size, 1)), None),
            (None, None, even, -even, one, None),
            (None, even, None, None, None, None),
        ]
        heights = (count * size, vertices, vertices, size, size, 1, 1)
        bounds = (0.0, far * least, least * (1 + 1e-15), 0.0, 0.0, 0.0, 1.0)
        filled = [
            [
                csr_array((height, width)) if block is None else csr_array(block)
                for block, width in zip(row, widths, strict=True)
            ]
            for row, height in zip(rows, heights, strict=True)
        ]
        found = optimal_basis(
            np.append(np.zeros(sum(widths) - 1), -_SCALE),
            vstack([hstack(row) for row in filled]),
            np.repeat(bounds, heights) * _SCALE,
            equal=slice(sum(heights[:4]), None),
            large=count * size > 10_000,
        )
        values, duals = found.values / _SCALE, np.clip(-found.duals, 0, None)
        answer, above, below = values[size * size : -2].reshape(3, size)
        matrix = answer + step * (values[: size * size].reshape(size, size) + above - below)
        multipliers, weights = duals[: count * size].reshape(count, size), duals[count * size :][:vertices]
        proposal = Proposal(self._repaired(matrix, leakage), weights / weights.sum(), (multipliers / weights.sum(),))
        return proposal, found.duals[sum(heights[:4]) :][:size] / weights.sum()

    def _with_means(self, proposal: Proposal, rows: FloatArray, leakage: float) -> Proposal:
        """The proposal with multipliers under which no row is owed more than it has.

        A solver's multipliers miss that by rounding, and (2) counts what is missed in full. Where a row lacks the means, less is
        sent there, from the far end of each column inwards: a loss at d steps from letter j counts exp(-leakage d) at j.
        """
        (multipliers,), size = proposal.certificate, len(self._costs)
        givers, takers, steps = (
            self._comparisons.givers,
            self._comparisons.others.argmax(axis=1),
            self._comparisons.steps,
        )
        multipliers, shrink = multipliers.copy(), math.exp(-leakage)
        means = (proposal.weights @ self._vertices)[:, np.newaxis] * self._costs - rows[:, np.newaxis]
        np.add.at(means, givers, multipliers * shrink)
        incoming = [np.flatnonzero(takers == letter) for letter in range(size)]
        for column, distances in enumerate(np.asarray(steps)):
            for letter in np.argsort(-distances)[:-1]:
                owed, has = multipliers[incoming[letter], column], max(0.0, means[letter, column])
                if owed.sum() > has:
                    lost = owed * (1 - has / owed.sum())
                    multipliers[incoming[letter], column] -= lost
                    means[givers[incoming[letter]], column] -= lost * shrink
        return replace(proposal, certificate=(np.clip(multipliers, 0, None),))

    def _with_lengths(self, matrix: FloatArray, leakage: float) -> FloatArray:
        """The least matrix above this one that keeps what the weights ask, with the mean row mixed in for its rows' sums."""
        from scipy.sparse.csgraph import connected_components

        lengths, first, second = (
            self._comparisons.lengths,
            self._comparisons.givers,
            self._comparisons.others.argmax(axis=1),
        )
        assert lengths is not None
        # Rows that must be equal, be it without leakage, are one.
        alike = np.isfinite(lengths) if leakage == 0 else lengths == 0
        _, part = connected_components(alike, directed=False)
        shares = (part[:, np.newaxis] == part).astype(float)
        if leakage == 0:
            matrix = shares @ matrix / shares.sum(axis=1, keepdims=True)
            matrix /= matrix.sum(axis=1, keepdims=True)
            return matrix[np.array([np.argmax(part == mine) for mine in part])]
        asked = np.isfinite(lengths.T)
        reach = np.where(asked, np.maximum(np.exp(np.minimum(0.0, _MARGIN - leakage * lengths.T)), _LEAST), 0.0)
        matrix = np.column_stack([(reach * column).max(axis=1) for column in matrix.T])
        matrix[matrix > 0] += _LEAST
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix = matrix[np.array([np.argmax(part == mine) for mine in part])]
        apart = part[first] != part[second]
        first, second, fade = first[apart], second[apart], self._comparisons.factors(leakage)[apart, np.newaxis]
        # Adding c to all of a column lowers its ratios: (x + c) / t^w <= y + c once c (1 - 1/t^w) covers what is missed.
        missed = matrix[first] * fade - matrix[second] * (1 - 1e-15)
        mean, weights = matrix.mean(axis=0), -np.expm1(-leakage * self._comparisons.weights[apart])  # type: ignore[index]
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(missed > 0, missed / (mean * weights[:, np.newaxis]), 0.0)
        share = float(needed.max(initial=0.0))
        return matrix if share == 0 else (matrix + share * mean) / (1 + share)

    def _repaired(self, matrix: FloatArray, leakage: float) -> FloatArray:
        """The matrix without the solver's rounding: what is missed is mended by mixing in a constant row."""
        matrix = np.where(matrix < _NOISE, 0.0, matrix)
        matrix /= matrix.sum(axis=1, keepdims=True)
        givers, others, delta = self._comparisons.givers, self._comparisons.others, self._comparisons.delta
        if self._comparisons.lengths is not None:
            return self._with_lengths(matrix, leakage)
        if leakage > 0 and delta == 0 and self._comparisons.steps is not None:
            return _with_ratio(matrix, givers, others.argmax(axis=1), self._comparisons.steps, leakage)
        if leakage > 0 and not self._comparisons.standard:
            missed = ((matrix[givers] - delta) * math.exp(-leakage) - others @ matrix).max(axis=0)
            # Adding c to every entry of a column lowers its ratios: (x + c) / t <= y + c once c (1 - 1/t) covers what is missed.
            constant = np.clip(missed + 1e-16 * matrix.max(axis=0), 0, None) / -math.expm1(-leakage)
            matrix = (matrix + constant) / (1 + constant.sum())
        if delta > 0:
            # Mixing in a share of one row shrinks every difference by that share, at any ratio. A little more is taken than is
            # missed: where a 0 stands beside delta, or nothing may leak, the rounding of the entries counts too.
            differences = np.clip(matrix[givers] - math.exp(leakage) * (others @ matrix), 0, None)
            largest = differences.sum(axis=1).max() if self._comparisons.standard else differences.max()
            share = 1 - delta / max(float(largest), delta) + min(max(1e-13, 4e-16 / delta), 4e-10)
            matrix = (1 - share) * matrix + share * matrix.mean(axis=0)
        return matrix


def _check_size(comparisons: int, letters: int, most: int) -> None:
    if comparisons * letters > most:
        raise ValueError(
            f"the linear program over a channel of {letters} letters has {comparisons * letters} rows, at most {most} are "
            "solved; take fewer letters, fewer vertices, or a closed form as uniform_least_distortion"
        )


def _with_ratio(matrix: FloatArray, first: IntArray, second: IntArray, steps: IntArray, leakage: float) -> FloatArray:
    """The least matrix above this one that keeps the ratio between neighbors, its rows divided by their sums.

    What that upsets is mended by mixing in the mean row, which costs next to nothing where next to nothing leaks.
    """
    reach = np.exp((_MARGIN - leakage) * steps)
    matrix = np.column_stack([(reach * column).max(axis=1) for column in matrix.T])
    matrix /= matrix.sum(axis=1, keepdims=True)
    mean, peaks = matrix.mean(axis=0), matrix.max(axis=0)
    missed = (matrix[first] * math.exp(-leakage) - matrix[second]).max(axis=0, initial=0.0) + 1e-15 * peaks
    # Adding c to every entry of a column lowers its ratios: (x + c) / t <= y + c once c (1 - 1/t) covers what is missed.
    share = float((np.clip(missed, 0, None)[peaks > 0] / mean[peaks > 0]).max()) / -math.expm1(-leakage)
    return (matrix + share * mean) / (1 + share)
