"""Optimizers whose certificate is one prior: a known one, the least favorable one of intervals, or one of a large set."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.solvers.games import PERFECT_SLACK, PerfectPrivacy
from paper_repro.solvers.known_prior import MassOfPrior, RatioOfPrior
from paper_repro.solvers.many_letters import ManyLetters
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["ManyLettersOptimizer", "PriorOptimizer", "has_many_letters"]

# From so many probabilities on, letters that do not matter are put together.
_MANY = 20_000

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


def has_many_letters(source: SourceSet) -> bool:
    """Whether a set, of more than one member, is so large that :class:`ManyLettersOptimizer` takes less time.

    >>> has_many_letters(SourceSet([[0.5, 0.5], [0.4, 0.6]]))
    False
    """
    return source.vertices.size >= _MANY and source.vertex_count <= source.alphabet_size // 100


class ManyLettersOptimizer(Optimizer):
    """The best mechanisms for few distributions over many letters: see :mod:`paper_repro.solvers.many_letters`.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    program : type
        RatioOfPrior for differential privacy, MassOfPrior for maximal leakage: what is known of a prior.

    Examples
    --------
    >>> from paper_repro.notions import DifferentialPrivacy
    >>> source = SourceSet(np.random.default_rng(0).dirichlet(np.ones(10_000), size=3))
    >>> optimizer = ManyLettersOptimizer(DifferentialPrivacy(), source, RatioOfPrior)
    >>> proposal = optimizer.at_leakage(9.0)
    >>> found = source.worst_case_distortion(proposal.mechanism)
    >>> bool(found - optimizer.least_distortion(proposal, 9.0) < 1e-12)
    True
    """

    def __init__(self, notion: Notion, source: SourceSet, program: type[RatioOfPrior] | type[MassOfPrior]) -> None:
        super().__init__(notion, source)
        self._program, self._letters = program, ManyLetters(source.vertices)

    def at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0:
            return self._proposal(np.where(self.source.vertices.any(axis=0), 0.0, 1.0), self.perfect.weights)
        if distortion >= self.perfect.distortion - PERFECT_SLACK:
            return self._without_leakage()
        ratio = self._program is RatioOfPrior
        found = self._letters.ratio_at_distortion if ratio else self._letters.mass_at_distortion
        return self._proposal(*found(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0:
            return self._without_leakage()
        if self._program is RatioOfPrior:
            if np.isinf(leakage):
                return self.at_distortion(0.0)
            return self._proposal(*self._letters.ratio_at_leakage(min(leakage, 700.0)))
        if leakage >= np.log(self.source.vertices.any(axis=0).sum()):
            return self.at_distortion(0.0)
        return self._proposal(*self._letters.mass_at_leakage(leakage))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if distortion == 0:
            ratio, known = self._program is RatioOfPrior, self.source.vertices.any(axis=0).sum()
            return float("inf") if ratio and known > 1 else float(np.log(known))
        return self._of_prior(proposal).least_leakage(distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._of_prior(proposal).least_distortion(leakage)

    def prior(self, proposal: Proposal) -> FloatArray:
        return self._of_prior(proposal).prior

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        return self._letters.perfect

    def _of_prior(self, proposal: Proposal) -> Program:
        """Sorted once a proposal."""
        if self._sorted is None or self._sorted[0] is not proposal:
            self._sorted = proposal, self._program(proposal.weights @ self.source.vertices)
        return self._sorted[1]

    _sorted: tuple[Proposal, Program] | None = None

    def _proposal(self, distortions: FloatArray, weights: FloatArray) -> Proposal:
        kept = float(len(distortions) - distortions.sum())
        return Proposal(Mechanism.from_distortions(distortions if kept >= 1 else 1 - (1 - distortions) / kept), weights)

    def _without_leakage(self) -> Proposal:
        return Proposal(self.perfect.channel, self.perfect.weights)
