"""Optimizers whose certificate is one prior: a known one, the least favorable one of intervals, or one of a large set."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import TypeAlias

import numpy as np

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.solvers.diagonal_ratio import NEGLIGIBLE_DISTORTION, SMALLEST_DISTORTION
from paper_repro.solvers.games import PerfectPrivacy, reaches
from paper_repro.solvers.known_prior import MassOfPrior, RatioOfPrior
from paper_repro.solvers.many_letters import ManyLetters
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["ManyLettersOptimizer", "PriorOptimizer", "has_many_letters"]

# More nats are not made use of: the distortion would be no normal number.
_MOST_NATS = 700.0
# From so many probabilities on, letters that do not matter are put together.
_MANY = 20_000
_ALONE = np.ones(1)
_ALONE.setflags(write=False)

Program: TypeAlias = RatioOfPrior | MassOfPrior


class _ByPrior(Optimizer):
    """What is judged by the closed forms of one prior."""

    @abstractmethod
    def _of_prior(self, proposal: Proposal) -> Program:
        """The closed forms of the prior that a proposal names."""

    @property
    @abstractmethod
    def _without_leaking(self) -> float:
        """The least distortion without leakage."""

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if reaches(distortion, self._without_leaking):
            return 0.0
        return self._of_prior(proposal).least_leakage(distortion if distortion >= SMALLEST_DISTORTION else 0.0)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._of_prior(proposal).least_distortion(leakage)

    def prior(self, proposal: Proposal) -> FloatArray:
        return self._of_prior(proposal).prior

    def tolerance(self, figure: float, unit: str) -> float:
        return max(super().tolerance(figure, unit), NEGLIGIBLE_DISTORTION if unit == "distortion" else 0.0)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (max(1e-13, 1e-15 * self.source.alphabet_size) if unit == "nats" else 0.0)


class PriorOptimizer(_ByPrior):
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
        if reaches(distortion, self._without_leaking):
            return self._proposal(self._program.constant)
        return self._proposal(self._program.at_distortion(distortion if distortion >= SMALLEST_DISTORTION else 0.0))

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0 or self._without_leaking == 0:
            return self._proposal(self._program.constant)
        return self._proposal(self._program.at_leakage(leakage if math.isinf(leakage) else min(leakage, _MOST_NATS)))

    def _of_prior(self, proposal: Proposal) -> Program:
        return self._program

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        return PerfectPrivacy(self._without_leaking, self._program.likeliest, _ALONE)

    @property
    def _without_leaking(self) -> float:
        return self._program.perfect

    def _proposal(self, mechanism: object) -> Proposal:
        return Proposal(mechanism, _ALONE)


def has_many_letters(source: SourceSet) -> bool:
    """Whether a set, of more than one member, is so large that :class:`ManyLettersOptimizer` takes less time.

    >>> has_many_letters(SourceSet([[0.5, 0.5], [0.4, 0.6]]))
    False
    """
    return source.vertices.size >= _MANY and source.vertex_count <= source.alphabet_size // 100


class ManyLettersOptimizer(_ByPrior):
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
        if self.perfect.is_enough(distortion):
            return self._without_leakage()
        if distortion < SMALLEST_DISTORTION:
            return self._proposal(np.where(self.source.vertices.any(axis=0), 0.0, 1.0), self.perfect.weights)
        ratio = self._program is RatioOfPrior
        found = self._letters.ratio_at_distortion if ratio else self._letters.mass_at_distortion
        return self._proposal(*found(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0:
            return self._without_leakage()
        if self._program is RatioOfPrior:
            if math.isinf(leakage):
                return self.at_distortion(0.0)
            return self._proposal(*self._letters.ratio_at_leakage(min(leakage, _MOST_NATS)))
        if leakage >= np.log(self.source.vertices.any(axis=0).sum()):
            return self.at_distortion(0.0)
        return self._proposal(*self._letters.mass_at_leakage(leakage))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if distortion < SMALLEST_DISTORTION and not self.perfect.is_enough(distortion):
            ratio, known = self._program is RatioOfPrior, self.source.vertices.any(axis=0).sum()
            return math.inf if ratio else math.log(known)
        return super().least_leakage(proposal, distortion)

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        return self._letters.perfect

    @property
    def _without_leaking(self) -> float:
        return self.perfect.distortion

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
