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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = ["ChannelPoint", "ChannelProgram", "Comparisons"]

# The solver's tolerances are absolute, 1e-10 at best: all quantities are scaled up by this.
_SCALE = 1e4
# Entries below are the solver's rounding.
_NOISE = 1e-13
# Leakage in nats, and a share of delta, that are left to rounding.
_MARGIN = 1e-12
# A budget counts as kept if it is missed by less.
_ROUNDING = 4e-12
_MOST_ROWS = 100_000


@dataclass(frozen=True)
class Comparisons:
    """Which rows must look alike.

    Attributes
    ----------
    givers : ndarray of int, shape (C,)
    others : ndarray, shape (C, M)
        Weights p of the rows that each giver is compared with.
    delta : float
    standard : bool
        Whether delta is for all columns together.
    """

    givers: IntArray
    others: FloatArray
    delta: float = 0.0
    standard: bool = False

    @classmethod
    def of_neighbors(cls, pairs: IntArray, size: int, delta: float = 0.0, standard: bool = False) -> Comparisons:
        """Ordered pairs of neighbors, shape (C, 2)."""
        return cls(pairs[:, 0], np.eye(size)[pairs[:, 1]], delta, standard)

    @classmethod
    def with_outputs(cls, vertices: FloatArray) -> Comparisons:
        """Every row with the output's distribution under every vertex."""
        count, size = vertices.shape
        return cls(np.tile(np.arange(size), count), np.repeat(vertices, size, axis=0))


@dataclass(frozen=True)
class ChannelPoint:
    """What the program proposes at a leakage: a matrix, weights of the vertices, and multipliers f, shape (C, M)."""

    matrix: FloatArray
    weights: FloatArray
    multipliers: FloatArray
    leakage: float


class ChannelProgram:
    """Program (1) of this module for one source set.

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
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, comparisons: Comparisons) -> None:
        rows = comparisons.givers.size * vertices.shape[1]
        if rows > _MOST_ROWS:
            raise ValueError(
                f"the linear program over a channel of {vertices.shape[1]} letters has {rows} rows, at most {_MOST_ROWS} are "
                "solved; take fewer letters, fewer vertices, or a notion and a prior with a closed form"
            )
        self._vertices, self._costs, self._comparisons = vertices, costs, comparisons

    def at_leakage(self, leakage: float) -> ChannelPoint:
        """Least distortion at a finite leakage in nats."""
        size, delta = len(self._costs), self._comparisons.delta
        inverse = math.exp(min(0.0, _MARGIN - leakage))
        basis = self._solve(inverse, delta * (1 - _MARGIN))
        matrix = self._repaired(basis.values[: size * size].reshape(size, size) / _SCALE, leakage)
        count = self._comparisons.givers.size
        multipliers = -basis.prices[: count * size].reshape(count, size)
        weights = np.clip(-basis.prices[-size - len(self._vertices) : -size], 0, None)
        if weights.sum() == 0:  # no distortion is needed at all
            weights, multipliers = np.ones_like(weights), np.zeros_like(multipliers)
        return ChannelPoint(matrix, weights / weights.sum(), np.clip(multipliers, 0, None) / weights.sum(), leakage)

    def at_distortion(
        self, distortion: float, upper: float, without: float, leakage: Callable[[FloatArray], float]
    ) -> ChannelPoint:
        """Least leakage at a distortion, by root finding on the least distortion.

        A leakage of ``upper`` is enough; ``without`` any, no distortion below this can be had. The curve jumps where a letter can
        just be left out; there many leakages have the same least distortion, and the lowest is wanted: the distortion that is
        searched for is therefore larger by a rounding.
        """
        from scipy.optimize import brentq

        within: dict[float, ChannelPoint] = {}

        def excess(nats: float) -> float:
            if nats == 0:
                return without - distortion
            point = self.at_leakage(nats)
            over = self.distortion(point.matrix) - distortion - _ROUNDING
            if over <= 0:
                within[nats] = point
            return over

        upper = upper * (1 + 1e-9) + 1e-9
        if without > distortion and excess(upper) < 0:
            brentq(excess, 0.0, upper, xtol=1e-13, rtol=1e-14)
        if not within:
            raise SolverError(f"no mechanism of at most {upper!r} nats was found at distortion {distortion!r}")
        return min(within.values(), key=lambda point: leakage(point.matrix))

    def distortion(self, matrix: FloatArray) -> float:
        """Worst-case distortion of a channel."""
        return float((self._vertices @ (matrix * self._costs).sum(axis=1)).max())

    def least_distortion(self, prior: FloatArray, multipliers: FloatArray, leakage: float) -> float:
        """Bound (2): no channel of at most this leakage has a smaller distortion under the prior."""
        if math.isinf(leakage):
            return 0.0
        givers, others = self._comparisons.givers, self._comparisons.others
        shrink = math.exp(-leakage)
        reduced = prior[:, np.newaxis] * self._costs - others.T @ multipliers
        np.add.at(reduced, givers, multipliers * shrink)
        total = multipliers.max(axis=1, initial=0.0).sum() if self._comparisons.standard else multipliers.sum()
        return float(reduced.min(axis=1).sum() - self._comparisons.delta * shrink * total)

    def _solve(self, inverse: float, delta: float) -> Basis:
        """Unknowns: Q row by row, for the standard definition each comparison's excess in each column, and the distortion."""
        from scipy.sparse import csc_array

        comparisons, size, count = self._comparisons, len(self._costs), self._comparisons.givers.size
        (entries, givers), (indices, starts, pointers), shape = self._pattern
        # Entries at the same place, of a giver and of what it is compared with, add up.
        values = np.add.reduceat(np.where(givers, inverse * entries, entries), starts)
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
    def _pattern(self) -> tuple[tuple[FloatArray, BoolArray], tuple[IntArray, IntArray, IntArray], tuple[int, int]]:
        """The rows' entries in the order of a sparse matrix, and which are of givers: only those change, with 1/t."""
        from scipy.sparse import block_array, coo_array, eye_array, kron

        comparisons, size, count = self._comparisons, len(self._costs), self._comparisons.givers.size
        each = eye_array(size)
        givers = coo_array((np.ones(count), (np.arange(count), comparisons.givers)), shape=(count, size))
        givers, others = kron(givers, each), kron(coo_array(-comparisons.others), each)
        spent = coo_array(np.einsum("vi,ij->vij", self._vertices, self._costs).reshape(len(self._vertices), -1))
        worst = coo_array(-np.ones((len(self._vertices), 1)))
        sums = kron(each, np.ones((1, size)))
        if comparisons.standard:
            shares = kron(eye_array(count), np.ones((1, size)))
            blocks = [
                [others, -eye_array(count * size), None],
                [None, shares, None],
                [spent, None, worst],
                [sums, None, None],
            ]
        else:
            blocks = [[others, None], [spent, worst], [sums, None]]
        rest = block_array(blocks).tocoo()
        givers, rows = givers.tocoo(), np.concatenate([givers.tocoo().row, rest.row])
        columns = np.concatenate([givers.col, rest.col])
        order = np.lexsort((rows, columns))
        first = np.append(True, (np.diff(rows[order]) != 0) | (np.diff(columns[order]) != 0))
        starts = np.flatnonzero(first)
        pointers = np.searchsorted(columns[order][starts], np.arange(rest.shape[1] + 1))
        entries = np.concatenate([givers.data, rest.data])[order]
        return (entries, order < givers.nnz), (rows[order][starts], starts, pointers), rest.shape

    def _repaired(self, matrix: FloatArray, leakage: float) -> FloatArray:
        """The matrix without the solver's rounding: what is missed is mended by mixing in a constant row."""
        matrix = np.where(matrix < _NOISE, 0.0, matrix)
        matrix /= matrix.sum(axis=1, keepdims=True)
        givers, others, delta = self._comparisons.givers, self._comparisons.others, self._comparisons.delta
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
