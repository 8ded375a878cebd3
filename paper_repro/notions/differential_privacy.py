"""Differential privacy: no letter may change the probability of any output by more than a factor exp(leakage)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from paper_repro.graphs import Adjacency, clique
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, ProgramOptimizer, Proposal
from paper_repro.notions.exact_curves import ExactCurve, exact_curve
from paper_repro.notions.known_prior import ManyLettersOptimizer, PriorOptimizer, has_many_letters
from paper_repro.notions.optimizers import GraphOptimizer, RatioOptimizer, Weighted
from paper_repro.notions.ratios import (
    check_adjacency,
    check_graph,
    checked_channel,
    is_clique,
    ratio_leakage,
)
from paper_repro.solvers.channel_ratio import Comparisons
from paper_repro.solvers.diagonal_ratio import (
    NEGLIGIBLE_DISTORTION,
    SMALLEST_DISTORTION,
    DiagonalRatioProgram,
    least_leakage_of_weights,
)
from paper_repro.solvers.known_prior import RatioOfPrior
from paper_repro.solvers.profile_ratio import RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet, check_source
from paper_repro.types import FloatArray

__all__ = ["DifferentialPrivacy"]


@dataclass(frozen=True, repr=False)
class DifferentialPrivacy(Notion):
    """Differential privacy between neighbors; by default every two letters are neighbors (local differential privacy).

    The leakage is ``log max Q_ij / Q_kj`` over neighboring inputs i, k and outputs j (Definition 3, Kalantari et al. 2018;
    Definition 1, Alvim et al. 2011). It does not depend on the source set, which enters through the distortion alone. The
    optimum is exact for every source set and every graph: one linear program over the diagonal where all letters are
    neighbors (see :mod:`paper_repro.solvers.diagonal_ratio`), one over the channel's columns
    elsewhere (:mod:`paper_repro.solvers.column_ratio`), certified within 1e-9: in nats at a distortion, relatively at a leakage.
    Where all
    letters are neighbors distortions keep their relative precision down to 1e-300, and the least favorable prior, by its closed
    form, forces the result by itself; it is None in the rare case that no floats are fine enough to say it.

    For one known prior that optimum is RRWithPrior (:mod:`paper_repro.papers.ghazi2021`), from label differential privacy; for a
    source set it is a robust one. With ``costs`` that grow away from the true letter and one prior it is RRonBins (Ghazi et al.,
    "Regression with label differential privacy", 2023): each letter is replaced by the nearest of a few, which are then
    published by randomized response.

    Parameters
    ----------
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given. By :meth:`paper_repro.graphs.Adjacency.from_weights` each pair has its own
        weight w, and the ratios ``exp(w leakage)``: metric, context-aware and utility-optimized local privacy.

    Raises
    ------
    ValueError
        If ``adjacency`` is no graph.

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
    tolerance = 1e-9
    jumps = True
    adjacency: Adjacency | None = None

    def __post_init__(self) -> None:
        check_adjacency(self.adjacency, weighted=True)

    def __repr__(self) -> str:
        return f"DifferentialPrivacy({self.adjacency!r})" if self.adjacency else "DifferentialPrivacy()"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, evaluated in exact rational arithmetic and rounded up.

        Every ratio of two entries of a column in neighboring rows, taken as the rationals that the stored floats are, is at most
        ``exp(leakage)``. Infinite if one is 0 and the other is not. ``source`` is not needed.
        """
        return ratio_leakage(checked_channel(mechanism), self.adjacency)

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
        return exact_curve(source) if is_clique(self.adjacency, check_source(source).alphabet_size) else None

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        check_graph(self.adjacency, source.alphabet_size)
        if costs is None and is_clique(self.adjacency, source.alphabet_size):
            if (prior := source.least_majorized) is not None:
                return PriorOptimizer(self, source, RatioOfPrior(prior))
            if has_many_letters(source):
                return ManyLettersOptimizer(self, source, RatioOfPrior)
            return _DiagonalOptimizer(self, source)
        if self.adjacency is not None and self.adjacency.weights is not None:
            found = Weighted.of(self.adjacency)
            if not found.is_metric:
                compared = Comparisons.of_weights(found.pairs, found.weights, found.lengths)
                return RatioOptimizer(self, source, compared, costs, found.unit)
        return GraphOptimizer(self, source, self.adjacency or clique(source.alphabet_size), costs)


class _DiagonalOptimizer(ProgramOptimizer):
    def __init__(self, notion: Notion, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = DiagonalRatioProgram(source.vertices, self.perfect)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._program.at_distortion(distortion)

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._program.at_leakage(leakage)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if self.perfect.is_enough(distortion):
            return 0.0
        if distortion < SMALLEST_DISTORTION:
            return math.inf
        if proposal.certificate:
            return least_leakage_of_weights(self.source.vertices, proposal.certificate[0].tolist(), distortion)
        return RatioOfPrior(self.prior(proposal)).least_leakage(distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return RatioOfPrior(self.prior(proposal)).least_distortion(leakage)

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        return None if proposal.certificate else self.prior(proposal)

    def tolerance(self, figure: float, unit: str) -> float:
        return max(super().tolerance(figure, unit), NEGLIGIBLE_DISTORTION if unit == "distortion" else 0.0)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 0.0)
