"""Maximal leakage: how much better the published letter lets anyone guess anything, whatever the prior."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.optimizers import MassOptimizer
from paper_repro.notions.ratios import as_channel, log_rounded_up
from paper_repro.solvers.diagonal_mass import KnapsackOptimum, KnapsackProgram, least_kept_mass
from paper_repro.solvers.profile_mass import MassProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MaximalLeakage"]


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
    gap_unit = "nats"
    tolerance = 1e-9

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, summed in exact rational arithmetic and rounded up; ``source`` is not needed."""
        return log_rounded_up(max(Fraction(1), sum(map(Fraction, as_channel(mechanism).max(axis=0)), Fraction(0))))

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        return MassProfiles(values, records)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        return _KnapsackOptimizer(self, source) if costs is None else MassOptimizer(self, source, costs)


class _KnapsackOptimizer(Optimizer):
    def __init__(self, notion: Notion, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = KnapsackProgram(source.vertices)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        found = self._program.at_leakage(leakage)
        if float((self.source.vertices @ found.distortions).max()) >= self.perfect.distortion:
            return self._without_leakage()
        return self._propose(found)

    def _propose(self, found: KnapsackOptimum) -> Proposal:
        prices = np.clip(found.prices, 0, None)
        total = prices.sum()
        weights = prices if total > 0 else self.perfect.weights
        return Proposal(Mechanism.from_distortions(found.distortions).matrix, weights, (prices,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the bound from the vertices' prices at the distortion; without prices that bound is 0."""
        if not proposal.certificate:
            return leakage
        if distortion == 0:
            return leakage - math.log(self.source.vertices.any(axis=0).sum())
        return leakage - math.log(least_kept_mass(self.source.vertices, proposal.certificate[0], distortion))
