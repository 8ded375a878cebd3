"""How proposals are found that several notions share: over the whole channel, or in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.errors import SolverError, wrong
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, ProgramOptimizer, Proposal
from paper_repro.solvers.channel_ratio import ChannelRatioProgram, Comparisons
from paper_repro.solvers.column_ratio import ColumnRatioProgram
from paper_repro.solvers.diagonal_ratio import NEGLIGIBLE_DISTORTION, SMALLEST_DISTORTION
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["GraphOptimizer", "RandomizedResponseOptimizer", "RatioOptimizer", "Weighted"]

# A distortion this little below a jump counts as at it, relatively, and one this little above another is not told from it.
_JUMP, _BESIDE = 4e-13, 1e-13
# Beyond so many nats exp(-leakage) is no normal number.
_MOST = 700.0
# Vertices of a graph: minutes and some 100 MB.
_MOST_VERTICES = 400
# Vertices up to which fractions over the whole channel take seconds, and parts of a certificate by columns at most.
_FEW, _OF_COLUMNS = 16, 2


class RandomizedResponseOptimizer(ProgramOptimizer):
    """Randomized response, where it is known to be optimal, and both curves in closed form.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    least_leakage, least_distortion : callable
        Leakage in nats of randomized response at a distortion, and the inverse.

    Examples
    --------
    >>> from paper_repro.notions import RenyiDP
    >>> optimizer = RenyiDP(2).optimizer(SourceSet([0.5, 0.5]))
    >>> isinstance(optimizer, RandomizedResponseOptimizer), optimizer.at_distortion(0.25).mechanism.matrix.tolist()
    (True, [[0.75, 0.25], [0.25, 0.75]])
    """

    def __init__(
        self,
        notion: Notion,
        source: SourceSet,
        least_leakage: Callable[[float], float],
        least_distortion: Callable[[float], float],
    ) -> None:
        super().__init__(notion, source)
        self._least_leakage, self._least_distortion = least_leakage, least_distortion

    def _at_distortion(self, distortion: float) -> Proposal:
        size = self.source.alphabet_size
        response = Mechanism.from_distortions(np.full(size, min(distortion, 1 - 1 / size)))
        return Proposal(response, self.perfect.weights)

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._at_distortion(self._least_distortion(leakage))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        """The closed form, which no mechanism beats under the uniform prior."""
        return self._least_leakage(distortion) if not self.perfect.is_enough(distortion) else 0.0

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._least_distortion(leakage)


class _ChannelOptimizer(ProgramOptimizer):
    """What optimizers over the whole channel share: the ends of both budgets."""

    @cached_property
    def _everything(self) -> Proposal:
        """Publish every letter as it is; those that never occur like one that does."""
        matrix = np.eye(self.source.alphabet_size)
        known = self.source.vertices.any(axis=0)
        matrix[~known] = matrix[np.argmax(known)]
        return Proposal(matrix, self.perfect.weights)

    def _enough(self, distortion: float) -> float:
        """A leakage in nats that allows the distortion: the identity, mixed with an even choice of all letters."""
        size = self.source.alphabet_size
        evenly = np.full((size, size), 1 / size)
        share = min(1.0, distortion / self.distortion(evenly))
        return self.leakage((1 - share) * np.eye(size) + share * evenly)


@dataclass(frozen=True)
class Weighted:
    """What the weights of a graph come to, in a unit that makes them of order 1.

    Attributes
    ----------
    pairs : ndarray of int, shape (C, 2)
        Those that others do not imply.
    weights : ndarray, shape (C,)
    lengths : ndarray, shape (M, M)
        Of shortest paths, infinite where there is none.
    unit : float
        A power of 2 that the weights were divided by.

    >>> graph = Adjacency.from_weights([[0, 2, 4], [2, 0, 2], [4, 2, 0]])
    >>> Weighted.of(graph).pairs.tolist(), Weighted.of(graph).lengths[0].tolist(), Weighted.of(graph).unit
    ([[0, 1], [1, 0], [1, 2], [2, 1]], [0.0, 1.0, 2.0], 2.0)
    """

    pairs: IntArray
    weights: FloatArray
    lengths: FloatArray
    unit: float

    @classmethod
    def of(cls, adjacency: Adjacency) -> Weighted:
        """Of a graph with weights."""
        pairs = adjacency.neighbor_pairs
        weights = np.array(adjacency.weights, dtype=float)
        positive = weights[weights > 0]
        unit = 2.0 ** round(math.log2(np.median(positive))) if positive.size else 1.0
        lengths = np.full((adjacency.size, adjacency.size), np.inf)
        np.fill_diagonal(lengths, 0.0)
        lengths[tuple(pairs.T)] = weights / unit
        lengths = np.where(
            lengths.T == 0, 0.0, lengths
        )  # rows that sum to 1 are equal if one is nowhere above the other
        for middle in range(adjacency.size):
            lengths = np.minimum(lengths, lengths[:, [middle]] + lengths[middle])
        # Of letters that are alike the first stands for all. What is on the way between those is nearer: nothing implies itself.
        first = (lengths == 0).argmax(axis=1)
        needed = np.isfinite(lengths) & (lengths > 0)
        needed[first != np.arange(adjacency.size)] = False
        needed[:, first != np.arange(adjacency.size)] = False
        for middle in np.unique(first):
            implied = lengths[:, [middle]] + lengths[middle] <= lengths
            implied[middle] = implied[:, middle] = False
            needed &= ~implied
        needed |= (
            (lengths == 0) & (first[:, np.newaxis] == np.arange(adjacency.size)) & ~np.eye(adjacency.size, dtype=bool)
        )
        pairs = np.argwhere(needed)
        return cls(pairs, lengths[needed], lengths, unit)

    @property
    def is_metric(self) -> bool:
        """Whether all letters are protected from each other, alike both ways.

        >>> Weighted.of(Adjacency.from_weights([[0, 2], [1, 0]])).is_metric
        False
        """
        apart = self.lengths[~np.eye(len(self.lengths), dtype=bool)]
        return bool(np.isfinite(apart).all() and (apart > 0).all() and (self.lengths == self.lengths.T).all())


class GraphOptimizer(_ChannelOptimizer):
    """The best private mechanism on a graph of neighbors: see :mod:`paper_repro.solvers.column_ratio`.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    adjacency : Adjacency
        If it has weights, they are symmetric, above 0, and join all vertices.
    costs : ndarray, shape (M, M), optional
        Distances between letters; Hamming distortion, if not given.

    Raises
    ------
    ValueError
        If the graph has more vertices than are solved in reasonable time.

    Examples
    --------
    >>> from paper_repro.graphs import line
    >>> from paper_repro.notions import DifferentialPrivacy
    >>> optimizer = DifferentialPrivacy(line(3)).optimizer(SourceSet(np.full(3, 1 / 3)))
    >>> isinstance(optimizer, GraphOptimizer), optimizer.at_leakage(math.log(2)).mechanism.round(6).tolist()[0]
    (True, [0.666667, 0.166667, 0.166667])
    """

    def __init__(
        self, notion: Notion, source: SourceSet, adjacency: Adjacency, costs: FloatArray | None = None
    ) -> None:
        super().__init__(notion, source, costs)
        if source.alphabet_size > _MOST_VERTICES:
            raise ValueError(
                wrong(
                    "the number of categories",
                    f"be at most {_MOST_VERTICES} for a graph of neighbors",
                    source.alphabet_size,
                    "Merge rare categories, or use a closed form such as uniform_least_distortion.",
                )
            )
        self._adjacency = adjacency
        self._weighted = None if adjacency.weights is None else Weighted.of(adjacency)
        if self._weighted is not None:
            self.unit = self._weighted.unit

    @cached_property
    def _program(self) -> ColumnRatioProgram:
        graph, found = self._adjacency, self._weighted
        if found is None:
            lengths, edges = graph.distances.astype(float), graph.edges
        else:
            lengths, edges = found.lengths, found.pairs[found.pairs[:, 0] < found.pairs[:, 1]]
        return ColumnRatioProgram(self.source.vertices, self.distances, lengths, edges, self.perfect)

    @cached_property
    def _exact(self) -> RatioOptimizer:
        graph, found = self._adjacency, self._weighted
        if found is None:
            compared = Comparisons.of_neighbors(graph)
        else:
            compared = Comparisons.of_weights(found.pairs, found.weights, found.lengths)
        return RatioOptimizer(self.notion, self.source, compared, self.costs, self.unit)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion < SMALLEST_DISTORTION:
            return self._everything

        def closes(found: Proposal) -> bool:
            less = self.leakage(found.mechanism) - self.tolerance(0.0, "nats")
            return less <= 0 or self.least_distortion(found, less) > distortion

        upper = self._enough(distortion) * self.unit
        return self._closed(
            lambda: self._program.at_distortion(distortion, upper),
            closes,
            lambda: self._exact.at_distortion(distortion),
        )

    def _at_leakage(self, leakage: float) -> Proposal:
        if math.isinf(leakage):
            return self._everything

        def closes(found: Proposal) -> bool:
            most = self.distortion(found.mechanism)
            return most - self.least_distortion(found, leakage) <= self.tolerance(most, "distortion")

        return self._closed(
            lambda: self._program.at_leakage(leakage * self.unit), closes, lambda: self._exact.at_leakage(leakage)
        )

    def _closed(
        self, by_columns: Callable[[], Proposal], closes: Callable[[Proposal], bool], exactly: Callable[[], Proposal]
    ) -> Proposal:
        """By columns, or if that leaves a gap, as next to no leakage or dozens of nats may, in fractions of few letters."""
        try:
            found = by_columns()
        except SolverError:
            if self.source.alphabet_size > _FEW:
                raise
            return exactly()
        if self.source.alphabet_size > _FEW or closes(found):
            return found
        try:
            return exactly()
        except SolverError:
            return found

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if self.perfect.is_enough(distortion):
            return 0.0
        if distortion < SMALLEST_DISTORTION:  # what one of the rows never publishes none does: all has to leak
            return math.inf
        if len(proposal.certificate) > _OF_COLUMNS:
            return self._exact.least_leakage(proposal, distortion)
        return super().least_leakage(proposal, distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if not proposal.certificate:
            return self.perfect.distortion if leakage == 0 else 0.0
        if len(proposal.certificate) > _OF_COLUMNS:
            return self._exact.least_distortion(proposal, leakage)
        return self._program.least_distortion(self.prior(proposal), proposal.certificate, leakage * self.unit)

    def tolerance(self, figure: float, unit: str) -> float:
        return max(super().tolerance(figure, unit), NEGLIGIBLE_DISTORTION if unit == "distortion" else 0.0)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 0.0)


class RatioOptimizer(_ChannelOptimizer):
    """The best mechanism for a ratio notion over the whole channel: see :mod:`paper_repro.solvers.channel_ratio`.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    comparisons : Comparisons
    costs : ndarray, shape (M, M), optional
        Distances between letters; Hamming distortion, if not given.
    unit : float
        What the weights of the comparisons were divided by.

    Examples
    --------
    >>> from paper_repro.graphs import line
    >>> from paper_repro.notions import ApproximateDP
    >>> optimizer = ApproximateDP(0.25, adjacency=line(3)).optimizer(SourceSet(np.full(3, 1 / 3)))
    >>> isinstance(optimizer, RatioOptimizer), optimizer.at_leakage(math.log(2)).mechanism.shape
    (True, (3, 3))
    """

    def __init__(
        self,
        notion: Notion,
        source: SourceSet,
        comparisons: Comparisons,
        costs: FloatArray | None = None,
        unit: float = 1.0,
    ) -> None:
        super().__init__(notion, source, costs)
        self._delta, self._lengths, self.unit = comparisons.delta, comparisons.lengths, unit
        # Without leakage, whatever nothing joins may differ.
        self._apart = comparisons.lengths is not None and not _joins_all(comparisons.lengths)
        self._compared = comparisons.givers
        weights = np.ones(1) if comparisons.weights is None else comparisons.weights
        self._largest = _MOST / float(weights.min(initial=1.0, where=weights > 0))
        self._comparisons = comparisons

    @cached_property
    def _program(self) -> ChannelRatioProgram:
        return ChannelRatioProgram(self.source.vertices, self.distances, self._comparisons, self.perfect)

    def at_distortion(self, distortion: float) -> Proposal:
        if not self.perfect.is_enough(distortion) and self._is_free(distortion):
            return self._free[0]  # type: ignore[index]
        return super().at_distortion(distortion)

    def at_leakage(self, leakage: float) -> Proposal:
        if self._free is not None and leakage == 0 and self.perfect.distortion > 0:
            return self._free[0]
        return super().at_leakage(leakage)

    def _at_distortion(self, distortion: float) -> Proposal:
        # Where rows are compared with rows, what one of them never publishes none does, or else delta is all that may differ.
        if self._leaks_all(distortion):
            return self._everything
        upper = min(self._enough(distortion) * self.unit, self._largest)
        without = self.perfect.distortion if self._free is None else self._free[1]
        return self._program.at_distortion(distortion, upper, without)

    def _at_leakage(self, leakage: float) -> Proposal:
        everything = self._everything
        if math.isinf(leakage) or leakage >= self.leakage(everything.mechanism):
            return everything
        return self._program.at_leakage(leakage * self.unit)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if self.perfect.is_enough(distortion) or self._is_free(distortion):
            return 0.0
        if self._leaks_all(distortion):
            return math.inf
        # Where the multipliers are best, else from what was found downwards in growing steps: what is told to be too little.
        found = min(self.leakage(self.mechanism(proposal)), self._largest / self.unit)
        level, step, place = (
            distortion * (1 + _BESIDE),
            2e-13 * max(1.0, found),
            float(proposal.certificate[2][0]) / self.unit,
        )
        while place > 0:
            if self.least_distortion(proposal, place) > level:
                return place
            place, step = min(place, found - step), 2 * step
        return 0.0

    def _leaks_all(self, distortion: float) -> bool:
        """Whether a distortion of 0 makes the leakage infinite, as far as that is told by what rows may publish."""
        if distortion > 0:
            return False
        if self._lengths is None:
            return True
        # An answer is of use to a letter if all that this one has to be like may give it.
        occurs = self.source.vertices.sum(axis=0) > 0
        harmful = np.where(occurs[:, np.newaxis], self.distances, 0.0) > 0
        useful = np.isfinite(self._lengths).astype(float) @ harmful == 0
        return not bool(useful.any(axis=1).all())

    @cached_property
    def _free(self) -> tuple[Proposal, float] | None:
        """Where more than a constant answer leaks nothing: the best without leakage, beyond delta, and its distortion."""
        if self._delta == 0 and not self._apart:
            return None
        if not len(self._compared):
            return self._everything, 0.0
        proposal = self._program.at_leakage(0.0)
        return proposal, self.distortion(proposal.mechanism)

    def _is_free(self, distortion: float) -> bool:
        """Whether a distortion needs no leakage, up to rounding."""
        return self._free is not None and distortion >= self._free[1] * (1 - _JUMP)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if not proposal.certificate:
            return self.perfect.distortion if leakage == 0 and self._free is None else 0.0
        return self._program.least_distortion(proposal.certificate, leakage * self.unit)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 0.0)


def _joins_all(lengths: FloatArray) -> bool:
    from scipy.sparse.csgraph import connected_components

    return bool(connected_components(np.isfinite(lengths), directed=False)[0] == 1)
