"""Differential privacy: no letter may change the probability of any output by more than a factor exp(leakage)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from paper_repro.curves import ExactCurve, exact_curve
from paper_repro.errors import SolverError
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.optimizers import RatioOptimizer
from paper_repro.notions.ratios import as_channel, check_graph, neighbors, ratio_leakage
from paper_repro.solvers.channel_ratio import Comparisons
from paper_repro.solvers.diagonal_ratio import CliqueProgram, Optimum, least_distortion_of_prior
from paper_repro.solvers.graph import GraphOptimum, GraphProgram, least_distortion_on_graph
from paper_repro.solvers.profile_ratio import RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["DifferentialPrivacy"]


class DifferentialPrivacy(Notion):
    """Differential privacy between neighbors; by default every two letters are neighbors (local differential privacy).

    The leakage is ``log max Q_ij / Q_kj`` over neighboring inputs i, k and outputs j (Definition 3, Kalantari et al. 2018;
    Definition 1, Alvim et al. 2011). It does not depend on the source set, which enters through the distortion alone. The
    optimum is exact for every source set and every graph: one linear program over the diagonal where all letters are
    neighbors (see :mod:`paper_repro.solvers.diagonal_ratio`), one over the channel elsewhere
    (:mod:`paper_repro.solvers.graph`), certified within 1e-9 in distortion.

    Parameters
    ----------
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given.

    Examples
    --------
    >>> round(DifferentialPrivacy().leakage([[0.75, 0.25], [0.25, 0.75]]), 12) == round(math.log(3), 12)
    True
    >>> DifferentialPrivacy().leakage([[1.0, 0.0], [0.5, 0.5]])
    inf
    >>> from paper_repro.graphs import line
    >>> geometric = [[2 / 3, 2 / 9, 1 / 9], [1 / 3, 1 / 3, 1 / 3], [1 / 9, 2 / 9, 2 / 3]]
    >>> [round(math.exp(DifferentialPrivacy(graph).leakage(geometric)), 6) for graph in (line(3), None)]
    [3.0, 6.0]
    """

    name = "differential privacy"
    gap_unit = "distortion"
    tolerance = 1e-9
    jumps = True

    def __init__(self, adjacency: Adjacency | None = None) -> None:
        self.adjacency = adjacency

    def __repr__(self) -> str:
        return f"DifferentialPrivacy({self.adjacency!r})" if self.adjacency else "DifferentialPrivacy()"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, evaluated in exact rational arithmetic and rounded up.

        Every ratio of two entries of a column in neighboring rows, taken as the rationals that the stored floats are, is at most
        ``exp(leakage)``. Infinite if one is 0 and the other is not. ``source`` is not needed.
        """
        return ratio_leakage(as_channel(mechanism), self.adjacency)

    def with_neighbors(self, adjacency: Adjacency) -> DifferentialPrivacy:
        return DifferentialPrivacy(adjacency)

    def parallel(self, factors: Sequence[tuple[Mechanism, SourceSet | None, int]]) -> float:
        """The largest of the factors: what the other records publish cancels."""
        return max(DifferentialPrivacy().leakage(mechanism) for mechanism, _, _ in factors)

    def share_of_leakage(self, leakage: float, records: int) -> float:
        return leakage

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        return RatioProfiles(values, records)

    def exact_curve(self, source: SourceSet) -> ExactCurve | None:
        check_graph(self.adjacency, source.alphabet_size)
        return exact_curve(source) if self.adjacency is None or self.adjacency.is_clique else None

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        check_graph(self.adjacency, source.alphabet_size)
        if costs is not None:
            pairs = neighbors(self.adjacency, source.alphabet_size)
            return RatioOptimizer(self, source, Comparisons.of_neighbors(pairs, source.alphabet_size), costs)
        if self.adjacency is None or self.adjacency.is_clique:
            return _CliqueOptimizer(self, source)
        return _GraphOptimizer(self, source, self.adjacency)


class _CliqueOptimizer(Optimizer):
    def __init__(self, notion: Notion, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = CliqueProgram(source.vertices, self.perfect)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._propose(self._program.at_leakage(_in_range(leakage)))

    def _propose(self, found: Optimum) -> Proposal:
        if found.distortions is None:
            return self._without_leakage(found.weights)
        return Proposal(Mechanism.from_distortions(found.distortions).matrix, found.weights)

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In distortion, since in leakage it says nothing at the jump: there the prior alone may need none."""
        return distortion - least_distortion_of_prior(self.prior(proposal), leakage)


class _GraphOptimizer(Optimizer):
    def __init__(self, notion: Notion, source: SourceSet, adjacency: Adjacency) -> None:
        super().__init__(notion, source)
        self._adjacency, self._tiny = adjacency, DifferentialPrivacy.tolerance
        self._program = GraphProgram(source.vertices, adjacency, self.perfect)
        self._clique = _CliqueOptimizer(notion, source)

    def _at_distortion(self, distortion: float) -> Proposal:
        on_clique = self._clique.at_distortion(distortion)
        upper = DifferentialPrivacy().leakage(on_clique.mechanism)
        if upper * self._adjacency.diameter <= self._tiny:
            return on_clique  # next to no leakage: what the graph could save is below what is certified
        try:
            return self._propose(self._program.at_distortion(distortion, upper))
        except SolverError:  # what is best on the clique may be good enough; its certificate says
            return on_clique

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._propose(self._program.at_leakage(_in_range(leakage)))

    def _propose(self, found: GraphOptimum) -> Proposal:
        if found.matrix is None:
            return replace(self._without_leakage(found.weights), certificate=(found,))
        return Proposal(found.matrix, found.weights, (found,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In distortion, against the bound from the multipliers; without leakage, against the best constant answer."""
        found, prior = (proposal.certificate or (None,))[0], self.prior(proposal)
        if not isinstance(found, GraphOptimum) or not found.rows.any():
            # No multipliers: a path joins any two letters, so the mechanism would leak this much on the clique.
            return distortion - least_distortion_of_prior(prior, leakage * self._adjacency.diameter)
        if leakage > found.leakage:
            return distortion  # the multipliers bound mechanisms that leak no more than this; 0 bounds all
        bound = least_distortion_on_graph(self._adjacency, prior, found.leakage, found.flows, found.rows)
        return distortion - bound


def _in_range(leakage: float) -> float:
    """A finite leakage of at most 700 nats: beyond, exp(-leakage) is no normal number, and the distortion is below 1e-300."""
    return leakage if math.isinf(leakage) else min(leakage, 700.0)
