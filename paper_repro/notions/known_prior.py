"""Optimizers whose certificate is one prior: of a known distribution, or the least favorable member of intervals."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np

from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.solvers.games import PERFECT_SLACK, PerfectPrivacy
from paper_repro.solvers.known_prior import MassOfPrior, RatioOfPrior
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["PriorOptimizer"]

Program: TypeAlias = RatioOfPrior | MassOfPrior


class PriorOptimizer(Optimizer):
    """The best mechanisms for the one member of a set that all others majorize: best for the whole set.

    See :mod:`paper_repro.solvers.known_prior`. The prior forces every result by itself.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
        A single distribution, or intervals.
    program : RatioOfPrior or MassOfPrior
        For that member.

    Examples
    --------
    >>> import math
    >>> from paper_repro.notions import DifferentialPrivacy
    >>> source = SourceSet.from_intervals([0.2, 0.2, 0.0], [0.8, 0.6, 0.1])
    >>> optimizer = PriorOptimizer(DifferentialPrivacy(), source, RatioOfPrior(source.least_majorized))
    >>> proposal = optimizer.at_distortion(0.3)
    >>> round(math.exp(optimizer.leakage(optimizer.mechanism(proposal))), 12), optimizer.prior(proposal)
    (3.5, array([0.45, 0.45, 0.1 ]))
    """

    def __init__(self, notion: Notion, source: SourceSet, program: Program) -> None:
        super().__init__(notion, source)
        self._program = program

    def at_distortion(self, distortion: float) -> Proposal:
        # No slack at 0: there, not even what rounds to nothing may be changed.
        if distortion >= self._program.perfect - (PERFECT_SLACK if distortion > 0 else 0.0):
            return self._proposal(self._program.constant)
        return self._proposal(self._program.at_distortion(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0 or self._program.perfect == 0:
            return self._proposal(self._program.constant)
        # Beyond 700 nats exp(-leakage) is no normal number, and the distortion is below 1e-300.
        return self._proposal(self._program.at_leakage(leakage if np.isinf(leakage) else min(leakage, 700.0)))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._program.least_leakage(distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._program.least_distortion(leakage)

    def prior(self, proposal: Proposal) -> FloatArray:
        return self._program.prior

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        return PerfectPrivacy(self._program.perfect, self._program.likeliest, np.ones(1))

    def _proposal(self, mechanism: object) -> Proposal:
        return Proposal(mechanism, np.ones(1))
