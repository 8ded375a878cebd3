"""Approximate differential privacy: ratios of at most exp(leakage), but for a probability delta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_delta
from paper_repro.deprecated import made_by
from paper_repro.errors import wrong
from paper_repro.graphs import Adjacency, clique
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.notions.optimizers import GraphOptimizer, RatioOptimizer
from paper_repro.notions.ratios import (
    as_channel,
    check_adjacency,
    checked_channel,
    hockey_stick_leakage,
    is_clique,
    log_rounded_up,
    ratio_leakage,
    spread_leakage,
    spread_of,
)
from paper_repro.solvers.channel_ratio import Comparisons
from paper_repro.solvers.profile_ratio import PointwiseRatioProfiles, RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["ApproximateDP"]


@made_by("write ApproximateDP(delta), or ApproximateDP(delta, standard=True)")
@dataclass(frozen=True, repr=False)
class ApproximateDP(Notion):
    r"""Approximate differential privacy between neighbors, in either of two definitions.

    * Pointwise (Definition 3(2), Zhong and Bu 2022): ``Q_ij <= exp(leakage) Q_kj + delta`` for neighbors i, k and every j.
    * Standard: ``sum_j max(0, Q_ij - exp(leakage) Q_kj) <= delta``. Stronger than pointwise, and closed under post-processing.

    Where all letters are neighbors the optimum is that of differential privacy on a rescaled axis, for both:

        eps*(source, D) = eps*_DP(source, D / (1 - delta)).

    Take a pointwise mechanism and subtract delta from its diagonal. Off the diagonal a column's entries can be taken to be at
    most what its diagonal then is, so that dividing rows by ``1 - delta`` leaves a private channel; the other way round,
    ``delta I + (1 - delta) Q`` has ``Q_i - t Q_k <= delta e_i`` in every column if Q is private, so it meets the standard
    definition, which no mechanism can meet with less leakage than the pointwise one.

    Parameters
    ----------
    delta : float in [0, 1)
        0 is differential privacy.
    standard : bool, default False
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given.

    Raises
    ------
    ValueError
        If delta is out of range, ``standard`` no bool or ``adjacency`` no graph.

    Examples
    --------
    >>> from paper_repro.mechanisms import Mechanism
    >>> import math
    >>> keep = [[0.75, 0.25], [0.25, 0.75]]
    >>> [round(math.exp(ApproximateDP(delta).leakage(keep)), 9) for delta in (0, 0.25, 0.5)]
    [3.0, 2.0, 1.0]
    """

    name = "approximate differential privacy"
    tolerance = 1e-9
    jumps = True
    delta: float
    standard: bool = False
    adjacency: Adjacency | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))
        if not isinstance(self.standard, (bool, np.bool_)):
            raise ValueError(wrong("standard", "be True or False", self.standard, "Give a graph as adjacency."))
        check_adjacency(self.adjacency)

    def __repr__(self) -> str:
        standard = ", standard=True" if self.standard else ""
        graph = f", adjacency={self.adjacency!r}" if self.adjacency else ""
        return f"ApproximateDP(delta={self.delta:g}{standard}{graph})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, evaluated in exact rational arithmetic and rounded up; ``source`` is not needed.

        Infinite if more than delta of a row lies where a neighbor's row is 0 (pointwise: in one column).
        """
        if not self.standard:
            return ratio_leakage(checked_channel(mechanism), self.adjacency, self.delta)
        spread = spread_of(mechanism)
        if spread is not None and is_clique(self.adjacency, len(spread.kept)):
            return spread_leakage(spread, self.delta, standard=True)
        return hockey_stick_leakage(as_channel(mechanism), self.adjacency, self.delta)

    def with_neighbors(self, adjacency: Adjacency) -> ApproximateDP:
        return ApproximateDP(self.delta, self.standard, adjacency)

    def parallel(self, factors: Sequence[tuple[Mechanism, SourceSet | None, int]]) -> float:
        r"""Standard definition: the largest of the factors. Pointwise: the same, each at a delta of its own.

        Let p be the probability of what the other records publish. Record k needs ``p Q_ij <= t p Q_kj + delta``, so t is at
        least ``(Q_ij - delta / p) / Q_kj``, which grows with p: the worst p is the product of the other factors' largest
        entries.
        """
        if self.standard:
            return max(ApproximateDP(self.delta, standard=True).leakage(mechanism) for mechanism, _, _ in factors)
        peaks = [Fraction(mechanism.matrix.max()) for mechanism, _, _ in factors]
        likeliest = math.prod(peak**count for peak, (_, _, count) in zip(peaks, factors, strict=True))
        largest = Fraction(1)
        for peak, (mechanism, _, _) in zip(peaks, factors, strict=True):
            delta = Fraction(self.delta) * peak / likeliest
            for larger, smaller in zip(mechanism.matrix.max(axis=0), mechanism.matrix.min(axis=0), strict=True):
                if larger <= delta:
                    continue
                if smaller == 0:
                    return math.inf
                largest = max(largest, (Fraction(larger) - delta) / Fraction(smaller))
        return log_rounded_up(largest)

    def share_of_leakage(self, leakage: float, records: int) -> float:
        """All of it, by the standard definition; pointwise, what a record adds depends on the others, so that there is none."""
        if self.delta > 0 and not self.standard:
            raise ValueError(
                wrong(
                    "notion",
                    "have standard=True if records share a leakage",
                    self,
                    "Give a distortion, or for the uniform prior use optimal_database_mechanism(values, records, leakage=...).",
                )
            )
        return leakage

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        program = RatioProfiles if self.standard else PointwiseRatioProfiles
        return program(values, records, self.delta)

    def exact_curve(self, source: SourceSet) -> ExactCurve | None:
        private = DifferentialPrivacy(self.adjacency).exact_curve(source)
        return None if private is None else private.rescaled(1 - self.delta)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        if costs is None and is_clique(self.adjacency, source.alphabet_size):
            return _RescaledOptimizer(self, source)
        adjacency = self.adjacency or clique(source.alphabet_size)
        if self.delta == 0:
            return GraphOptimizer(self, source, adjacency, costs)
        return RatioOptimizer(self, source, Comparisons.of_neighbors(adjacency, self.delta, self.standard), costs)


class _RescaledOptimizer(Optimizer):
    """Differential privacy at ``D / (1 - delta)``."""

    def __init__(self, notion: ApproximateDP, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._delta, self._private = notion.delta, DifferentialPrivacy().optimizer(source)

    def at_distortion(self, distortion: float) -> Proposal:
        return self._rescaled(self._private.at_distortion(min(1.0, distortion / (1 - self._delta))))

    def at_leakage(self, leakage: float) -> Proposal:
        return self._rescaled(self._private.at_leakage(leakage))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._private.least_leakage(proposal, distortion / (1 - self._delta))

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return (1 - self._delta) * self._private.least_distortion(proposal, leakage)

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        return self._private.least_favorable_prior(proposal)

    def tolerance(self, figure: float, unit: str) -> float:
        return self._private.tolerance(figure, unit)

    def rounding(self, figure: float, unit: str) -> float:
        return self._private.rounding(figure, unit)

    def prior(self, proposal: Proposal) -> FloatArray:
        return self._private.prior(proposal)

    def _rescaled(self, private: Proposal) -> Proposal:
        return replace(private, mechanism=private.mechanism.mixed_with_identity(self._delta))
