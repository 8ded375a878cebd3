r"""Differential privacy on any graph of neighbors: one linear program over the whole channel.

At a ratio t, with y ~ y' for neighbors,

    maximize    min_v  sum_y P_v(y) Q_yy
    subject to  Q_yz <= t Q_y'z  for y ~ y' and every z,     rows of Q sum to 1,   Q >= 0.               (1)

Merging outputs that a user would take for the same answer changes no ratio beyond t, so as many outputs as inputs are enough,
each standing for itself. On a clique this is the program of :mod:`paper_repro.solvers.diagonal_ratio`, which is far smaller.

**A lower bound on the distortion.** Let w be multipliers of the vertices (a prior ``P = w . P_v``), mu_y of the rows' sums and
``f_yy'z >= 0`` of the ratios. Every Q that satisfies (1) has ``sum_y P_y Q_yy <= sum_y mu_y`` if

    R_yz = mu_y - P_y [y = z] + sum_y' f_yy'z - t sum_y' f_y'yz >= 0    for all y, z                     (2)

(multiply by Q_yz and add up). A solver's multipliers miss (2) by rounding; adding each row's largest miss to its mu_y mends
that, so the bound needs no trust in the solver.

**A matrix that keeps the ratio.** A solver's columns miss it by rounding, also where an exact 0 stands beside 1e-13. Each column
is replaced by the least one above it that keeps the ratio, ``max_y' Q_y'z t^-dist(y, y')``, the rows are divided by their sums,
and what that upsets (a part in 1e12) is mended by mixing in a constant row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paper_repro.checks import check_leakage
from paper_repro.errors import SolverError
from paper_repro.graphs import Adjacency
from paper_repro.solvers.games import PerfectPrivacy, perfect_privacy
from paper_repro.solvers.linear import Basis, optimal_basis
from paper_repro.types import FloatArray, IntArray

__all__ = [
    "GraphOptimum",
    "GraphProgram",
    "least_distortion_on_graph",
    "uniform_least_distortion",
]

# Entries below are the solver's rounding: a column of nothing else is a letter that is never published.
_NOISE = 1e-13
# The solver's tolerances are absolute, 1e-10 at best: all quantities are scaled up by this.
_SCALE = 1e4
# Leakage, in nats, that is left to rounding.
_MARGIN = 1e-12
# A least distortion this close to the one without leakage is not worth any.
_FLAT = 1e-10
# A budget counts as kept if it is missed by less.
_ROUNDING = 1e-12
# Rows of the linear program: from the first number on the interior-point method is faster, beyond the second it takes minutes.
_LARGE, _MOST_ROWS = 10_000, 200_000


def uniform_least_distortion(adjacency: Adjacency, leakage: float) -> float:
    """Least distortion for the uniform prior on a vertex-transitive graph: ``1 - 1 / sum_d n_d exp(-leakage d)``.

    With ``n_d`` vertices at distance d of any vertex. Theorem 4 of Alvim et al. 2011 gives it where all ``n_d`` are equal and one
    automorphism runs through all vertices; neither is needed. Closed form, without a distance matrix; exact up to rounding.

    Raises
    ------
    ValueError
        If the graph is not vertex-transitive, or the leakage is negative or NaN.

    >>> from paper_repro.graphs import clique, ring
    >>> round(1 - uniform_least_distortion(ring(6), math.log(2)), 6), round(8 / 21, 6)
    (0.380952, 0.380952)
    >>> round(uniform_least_distortion(clique(10_000), math.log(9_999)), 12)
    0.5
    """
    check_leakage(leakage)
    if not adjacency.is_vertex_transitive:
        raise ValueError(
            f"{adjacency!r} is not vertex-transitive, so there is no such closed form; "
            "use optimal_mechanism with DifferentialPrivacy(adjacency)"
        )
    sizes = adjacency.border_sizes(0)
    beyond = float((sizes[1:] * np.exp(-leakage * np.arange(1, len(sizes)))).sum())
    return beyond / (1 + beyond)


@dataclass(frozen=True)
class GraphOptimum:
    """What the program proposes: a matrix, and multipliers for the bound (2).

    Attributes
    ----------
    matrix : ndarray, shape (M, M), or None
        None if publishing a constant is best.
    weights : ndarray, shape (V,)
        Of the vertices; their mixture is the prior claimed to be least favorable.
    leakage : float
        The bound is for mechanisms that leak at most this.
    flows : ndarray, shape (2 E, M)
        Multipliers f of the ratios: for each ordered pair of neighbors, as of ``Adjacency.neighbor_pairs``, and each column.
    rows : ndarray, shape (M,)
        Multipliers mu of the rows' sums.
    """

    matrix: FloatArray | None
    weights: FloatArray
    leakage: float
    flows: FloatArray
    rows: FloatArray


def least_distortion_on_graph(
    adjacency: Adjacency, prior: FloatArray, leakage: float, flows: FloatArray, rows: FloatArray
) -> float:
    """Bound (2): no mechanism of at most this leakage has a smaller distortion under the prior, whatever the multipliers are.

    Evaluated directly; multipliers only decide how good the bound is. Negative flows count as 0, flows into a row that lacks the
    means are cut, and each row's multiplier is raised until (2) holds.
    """
    if math.isinf(leakage):
        return 0.0
    flows, (giving, taking) = np.clip(flows, 0, None), adjacency.neighbor_pairs.T
    # Row y gives f_yy'z exp(-leakage), and takes f_y'yz: the ratios are divided by t throughout. Where a row takes more than it
    # has, less is sent there, from the far end of each column inwards: a loss at distance d counts exp(-leakage d) at z.
    given = np.zeros((adjacency.size, adjacency.size))
    np.add.at(given, giving, flows * math.exp(-leakage))
    incoming = [np.flatnonzero(taking == vertex) for vertex in range(adjacency.size)]
    for column, distances in enumerate(adjacency.distances):
        for vertex in np.argsort(-distances)[:-1]:
            places = incoming[vertex]
            taken = flows[places, column].sum()
            has = max(0.0, rows[vertex] + given[vertex, column])
            if taken > has:
                given[giving[places], column] -= flows[places, column] * (1 - has / taken) * math.exp(-leakage)
                flows[places, column] *= has / taken
    remainder = rows[:, np.newaxis] - np.diag(prior)
    np.add.at(remainder, giving, flows * math.exp(-leakage))
    np.subtract.at(remainder, taking, flows)
    return 1.0 - float((rows + np.clip(-remainder, 0, None).max(axis=1)).sum())


class GraphProgram:
    """Program (1) of this module for one source set and one graph.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).
    adjacency : Adjacency
        On M vertices.
    perfect : PerfectPrivacy, optional
        If it is known already.

    Raises
    ------
    ValueError
        If the program has too many rows to be solved in reasonable time.
    """

    def __init__(self, vertices: FloatArray, adjacency: Adjacency, perfect: PerfectPrivacy | None = None) -> None:
        rows = 2 * len(adjacency.edges) * adjacency.size
        if rows > _MOST_ROWS:
            raise ValueError(
                f"a linear program over this graph has {rows} rows, at most {_MOST_ROWS} are solved; on a clique use "
                "DifferentialPrivacy(), for a uniform prior uniform_least_distortion"
            )
        self._vertices, self._adjacency = vertices, adjacency
        self.perfect = perfect or perfect_privacy(vertices)

    def at_leakage(self, leakage: float) -> GraphOptimum:
        """Least distortion at a positive leakage in nats; ``matrix`` is None where nothing needs to leak for it."""
        if math.isinf(leakage):
            return self._everything()
        if leakage < 1e3 * _MARGIN:
            size, count = self._adjacency.size, 2 * len(self._adjacency.edges)
            return GraphOptimum(None, self.perfect.weights, leakage, np.zeros((count, size)), np.zeros(size))
        found = self._optimum(leakage)
        prior = found.weights @ self._vertices
        least = least_distortion_on_graph(self._adjacency, prior, leakage, found.flows, found.rows)
        useful = least < self.perfect.distortion - _FLAT
        return found if useful else replace(found, matrix=None)

    def at_distortion(self, distortion: float, upper: float) -> GraphOptimum:
        """Least leakage at a distortion below the one without leakage; ``upper`` is the least leakage on the clique.

        Neighbors in the graph are neighbors in the clique, and a path joins any two letters, so the leakage is between
        ``upper / diameter`` and ``upper``. It is found there by root finding on the least distortion.
        """
        from scipy.optimize import brentq

        if math.isinf(upper):
            return self._everything()
        within: dict[float, GraphOptimum] = {}

        def excess(leakage: float) -> float:
            optimum = self._optimum(leakage)
            kept = np.diagonal(np.asarray(optimum.matrix))
            over = float((self._vertices @ (1 - kept)).max()) - distortion
            if over <= _ROUNDING:
                within[leakage] = optimum
            return over

        lower, upper = upper / self._adjacency.diameter, upper * (1 + 1e-9) + 1e-9
        if excess(lower) > _ROUNDING and excess(upper) < 0:
            brentq(excess, lower, upper, xtol=1e-13, rtol=1e-14)
        if not within:
            raise SolverError(f"no mechanism of at most {upper!r} nats was found at distortion {distortion!r}")
        return within[min(within)]

    def _everything(self) -> GraphOptimum:
        count, size = self._vertices.shape
        return GraphOptimum(np.eye(size), np.full(count, 1 / count), math.inf, np.empty((0, size)), np.zeros(size))

    def _optimum(self, leakage: float) -> GraphOptimum:
        size = self._adjacency.size
        found = self._solve(math.exp(_MARGIN - leakage))
        matrix = _with_ratio(found.values[:-1].reshape(size, size) / _SCALE, self._adjacency, leakage)
        flows, weights, rows = np.split(-found.prices, [len(self._places[0]), -size])
        total = np.clip(weights, 0, None).sum()
        flows = flows.reshape(-1, size) / total
        # Multipliers of the program with a margin; the bound below is evaluated for the leakage without it.
        return GraphOptimum(matrix, np.clip(weights, 0, None) / total, leakage, flows, rows / total)

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        """Numbers of Q_yz and Q_y'z in the vector of unknowns, for every neighbors y, y' and column z."""
        size = self._adjacency.size
        first, second = (
            self._adjacency.neighbor_pairs[:, side, np.newaxis] * size + np.arange(size) for side in (0, 1)
        )
        return first.ravel(), second.ravel()

    def _solve(self, inverse: float) -> Basis:
        """Solve (1) with each ratio divided by t; unknowns are Q, row by row, and the value to maximize."""
        from scipy.sparse import csr_matrix, hstack, kron, vstack

        size, count = self._adjacency.size, len(self._vertices)
        first, second = self._places
        numbers = np.arange(len(first))
        entries = np.append(np.full(len(first), inverse), -np.ones(len(second)))
        places = (np.append(numbers, numbers), np.append(first, second))
        ratios = csr_matrix((entries, places), shape=(len(first), size * size + 1))
        gains = np.zeros((count, size * size + 1))
        gains[:, np.arange(size) * (size + 1)], gains[:, -1] = -self._vertices, 1.0
        sums = hstack([kron(csr_matrix(np.eye(size)), np.ones((1, size))), csr_matrix((size, 1))])
        return optimal_basis(
            np.append(np.zeros(size * size), -_SCALE),
            vstack([ratios, csr_matrix(gains), sums]),
            np.append(np.zeros(len(first) + count), np.full(size, _SCALE)),
            equal=slice(len(first) + count, None),
            large=len(first) > _LARGE,
        )


def _with_ratio(matrix: FloatArray, adjacency: Adjacency, leakage: float) -> FloatArray:
    """The matrix with its rounding mended, so that no ratio between neighbors exceeds exp(leakage)."""
    reach = np.exp((_MARGIN - leakage) * adjacency.distances)
    columns = np.where(matrix < _NOISE, 0.0, matrix)
    columns = np.column_stack([(reach * column).max(axis=1) for column in columns.T])
    columns /= columns.sum(axis=1, keepdims=True)
    first, second = adjacency.neighbor_pairs.T
    excess = (columns[first] * math.exp(-leakage) - columns[second]).max(axis=0) + 1e-15 * columns.max(axis=0)
    # Adding c to every entry of a column lowers its ratios: (x + c) / t <= y + c once c (1 - 1/t) covers the excess.
    constant = np.clip(excess, 0, None) / -math.expm1(-leakage)
    return (columns + constant) / (1 + constant.sum())
