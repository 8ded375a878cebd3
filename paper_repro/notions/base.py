"""What every privacy notion offers: its loss, evaluated directly, and an optimizer whose proposals are then judged."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.solvers.games import PERFECT_SLACK, PerfectPrivacy, perfect_privacy
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.solvers.proposals import Proposal
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["Notion", "Optimizer", "ProgramOptimizer", "Proposal"]

# What sums of M products and logarithms may be off.
_ROUNDING = 1e-11


class Optimizer(ABC):
    """Finds the best mechanisms of one source set for one notion; keep it to go from one budget to the next.

    Distortion is the probability of change, or with ``costs`` the expected distance from the true letter to the published
    one. What it proposes is judged by :func:`paper_repro.tradeoff.certified`, through the methods below and nothing else.

    Attributes
    ----------
    notion : Notion
    source : SourceSet
    costs : ndarray, shape (M, M), or None
        Distances ``d_ij`` from letter i to letter j; None for Hamming distortion.
    """

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray | None = None) -> None:
        self.notion, self.source, self.costs = notion, source, costs

    @abstractmethod
    def at_distortion(self, distortion: float) -> Proposal:
        """Propose a mechanism of least leakage whose worst-case distortion is at most ``distortion``."""

    @abstractmethod
    def at_leakage(self, leakage: float) -> Proposal:
        """Propose a mechanism of least worst-case distortion whose leakage is at most ``leakage`` nats."""

    @abstractmethod
    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """How far from the optimum a mechanism of this leakage and this distortion is at most, in ``notion.gap_unit``."""

    def mechanism(self, proposal: Proposal) -> Any:
        """What is published: the proposed channel with the letters' labels."""
        return Mechanism(proposal.mechanism, self.source.labels)

    def leakage(self, mechanism: Any) -> float:
        """Leakage of a mechanism or matrix in nats, from the notion's definition."""
        return self.notion.leakage(mechanism, self.source)

    def distortion(self, mechanism: Any) -> float:
        """Distortion of a mechanism or matrix, worst case over the source set."""
        if self.costs is None:
            return self.source.worst_case_distortion(mechanism)
        matrix = np.asarray(getattr(mechanism, "matrix", mechanism))
        return float((self.source.vertices @ (matrix * self.costs).sum(axis=1)).max())

    def prior(self, proposal: Proposal) -> FloatArray:
        """The prior claimed to be least favorable, shape (M,): a mixture of the vertices, whatever the weights were."""
        weights = np.clip(proposal.weights, 0, None)
        if not weights.any():
            weights = self.perfect.weights
        return weights / weights.sum() @ self.source.vertices

    def tolerance(self, figure: float) -> float:
        """The largest gap that is accepted for a leakage or distortion of this size, in ``notion.gap_unit``."""
        return self.notion.tolerance

    def rounding(self, figure: float) -> float:
        """By how much rounding may miss a budget, for a leakage or distortion of this size."""
        return _ROUNDING

    def __str__(self) -> str:
        return repr(self.source)

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        """The least distortion without leakage."""
        return perfect_privacy(self.source.vertices, self.costs)

    @cached_property
    def distances(self) -> FloatArray:
        """``costs``, or those of Hamming distortion, shape (M, M): 1 between different letters."""
        return 1.0 - np.eye(self.source.alphabet_size) if self.costs is None else self.costs


class ProgramOptimizer(Optimizer):
    """An optimizer that goes to its program only where something has to leak, and not everything may."""

    def at_distortion(self, distortion: float) -> Proposal:
        # No slack at 0: there, not even what rounds to nothing may be changed.
        if distortion >= self.perfect.distortion - (PERFECT_SLACK if distortion > 0 else 0.0):
            return self._without_leakage()
        return self._at_distortion(distortion)

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0 or self.perfect.distortion == 0:
            return self._without_leakage()
        return self._at_leakage(leakage)

    @abstractmethod
    def _at_distortion(self, distortion: float) -> Proposal:
        """The proposal below the least distortion without leakage."""

    @abstractmethod
    def _at_leakage(self, leakage: float) -> Proposal:
        """The proposal for a positive leakage."""

    def _without_leakage(self) -> Proposal:
        return Proposal(self.perfect.channel, self.perfect.weights)


class Notion(ABC):
    """A privacy notion.

    Attributes
    ----------
    name : str
    gap_unit : str
        What the gap of a result is measured in.
    tolerance : float
        The largest gap with which a result is returned.
    jumps : bool
        Whether a least leakage can jump as the distortion grows.
    """

    name: str
    gap_unit: str
    tolerance: float
    jumps: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage of a mechanism, or of a channel of shape (M, outputs), in nats, from the definition."""

    @abstractmethod
    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        """An optimizer for one source set and Hamming distortion, or distances ``costs`` between letters, shape (M, M)."""

    def breakpoints(self, source: SourceSet) -> FloatArray:
        """Distortions at which the slope of ``eps*(source, D)`` changes, ascending, the last being its jump to 0, if it jumps.

        Shape (breakpoints,). Known where there is an :meth:`exact_curve`; empty elsewhere: if it ``jumps`` there, jumps have to
        be searched for.
        """
        curve = self.exact_curve(source)
        return np.empty(0) if curve is None else curve.breakpoints

    def exact_curve(self, source: SourceSet) -> ExactCurve | None:
        """The whole curve for Hamming distortion in closed form between breakpoints, or None if it is not known so."""
        return None

    def is_worst_at_uniform(self, source: SourceSet) -> bool:
        """Whether the best symmetric mechanisms for the uniform prior are best for a source set: Class I, for most notions."""
        return source.source_class == "I"

    @abstractmethod
    def profile_program(self, values: int, records: int) -> ProfileProgram:
        """The best symmetric mechanisms on databases, whose neighbors differ in one record, for the uniform prior."""

    def with_neighbors(self, adjacency: Adjacency) -> Notion:
        """The same notion between the neighbors of a graph; itself, if it does not know of neighbors."""
        return self

    def parallel(self, factors: Sequence[tuple[Mechanism, SourceSet | None, int]]) -> float:
        """Leakage of independent records, each published through its own mechanism; see :mod:`paper_repro.composition`.

        Parameters
        ----------
        factors : sequence of (mechanism, source, count)
            Of ``count`` records each.

        Returns
        -------
        float
            Nats, rounded up. Here the sum over all records, since information adds up; notions that compare databases which
            differ in one record have their own rule.
        """
        losses = [(self.leakage(mechanism, source), count) for mechanism, source, count in factors]
        if any(math.isinf(loss) for loss, _ in losses):
            return math.inf
        total = sum((Fraction(loss) * count for loss, count in losses), Fraction(0))
        rounded = float(total)
        return rounded if Fraction(rounded) >= total else math.nextafter(rounded, math.inf)

    def share_of_leakage(self, leakage: float, records: int) -> float:
        """What one of n records may leak if all, through the same mechanism, may leak ``leakage`` nats: here the n-th part."""
        return leakage / records
