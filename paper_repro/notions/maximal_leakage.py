"""Maximal leakage: how much better the published letter lets anyone guess anything, whatever the prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from numpy.typing import ArrayLike

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, ProgramOptimizer, Proposal
from paper_repro.notions.known_prior import ManyLettersOptimizer, PriorOptimizer, has_many_letters
from paper_repro.notions.ratios import checked_channel, column_extremes, log_rounded_up
from paper_repro.solvers.channel_mass import ChannelMassProgram
from paper_repro.solvers.diagonal_mass import DiagonalMassProgram
from paper_repro.solvers.known_prior import MassOfPrior
from paper_repro.solvers.profile_mass import MassProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.solvers.refinement import exponential
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MaximalLeakage"]


@dataclass(frozen=True, repr=False)
class MaximalLeakage(Notion):
    """Maximal leakage, ``log sum_j max_i Q_ij`` (Definition 19(4), Zhong and Bu 2022).

    The limit of Sibson information as its order grows. It does not depend on the prior: a letter that never occurs counts like
    any other, as in the paper, which has full support. The optimum is a linear program over the diagonal, a fractional knapsack
    for one prior (Theorem 14; see :mod:`paper_repro.solvers.diagonal_mass`), certified within 1e-9 nats.

    Examples
    --------
    >>> round(math.exp(MaximalLeakage().leakage([[0.75, 0.25], [0.25, 0.75]])), 12)
    1.5
    """

    name = "maximal leakage"
    tolerance = 1e-9

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, summed in exact rational arithmetic and rounded up; ``source`` is not needed."""
        largest = column_extremes(checked_channel(mechanism))[0].tolist()
        parts: list[float] = []  # of the sum: correctly rounded, and so is what is still missing
        while rest := math.fsum([*largest, *(-part for part in parts)]):
            parts.append(rest)
        return log_rounded_up(max(Fraction(1), sum(map(Fraction, parts), Fraction(0))))

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        return MassProfiles(values, records)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        if costs is not None:
            return _ChannelOptimizer(self, source, costs)
        if (prior := source.least_majorized) is not None:
            return PriorOptimizer(self, source, MassOfPrior(prior))
        if has_many_letters(source):
            return ManyLettersOptimizer(self, source, MassOfPrior)
        return _DiagonalOptimizer(self, source)


class _DiagonalOptimizer(ProgramOptimizer):
    """The knapsack of the prior that is proposed bounds from both sides."""

    def __init__(self, notion: Notion, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = DiagonalMassProgram(source.vertices)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._program.at_distortion(distortion)

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._program.at_leakage(leakage)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return MassOfPrior(self.prior(proposal)).least_leakage(distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return MassOfPrior(self.prior(proposal)).least_distortion(leakage)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 0.0)


class _ChannelOptimizer(ProgramOptimizer):
    """The dual variables that are proposed bound from both sides, in exact arithmetic."""

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray) -> None:
        super().__init__(notion, source, costs)
        self._program = ChannelMassProgram(source.vertices, self.distances, self.perfect)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._program.at_distortion(distortion)

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._program.at_leakage(leakage)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if not proposal.certificate:
            return 0.0
        return math.log1p(float(self._program.least_ratio(proposal.certificate, Fraction(distortion)) - 1))

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if not proposal.certificate:
            return self.perfect.distortion if leakage == 0 else 0.0
        return float(self._program.least_distortion(proposal.certificate, exponential(leakage, 1)))

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 0.0)
