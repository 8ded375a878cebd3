"""What every privacy notion offers: its loss, evaluated directly, and an optimizer whose proposals are then judged."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.games import PERFECT_SLACK, perfect_privacy
from paper_repro.solvers.profile_programs import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["Notion", "Optimizer", "Proposal"]


@dataclass(frozen=True)
class Proposal:
    """A mechanism and the evidence that it is best, neither of them trusted yet.

    Attributes
    ----------
    mechanism : Mechanism
    weights : ndarray, shape (V,)
        Of the vertices: their mixture, a member of the source set, is claimed to be the least favorable prior.
    evidence : object
        What else the optimizer's ``gap`` needs for its lower bound; None if the prior is enough.
    """

    mechanism: Mechanism
    weights: FloatArray
    evidence: Any = None


class Optimizer(ABC):
    """Finds the best mechanisms of one source set for one notion; keep it to go from one budget to the next.

    Distortion is the probability of change, or with ``costs``, shape (M, M), the expected distance between the true letter and
    the published one.
    """

    def __init__(self, source: SourceSet, costs: FloatArray | None = None) -> None:
        self.source, self.costs = source, costs
        self.perfect = perfect_privacy(source.vertices, costs)

    def distortion(self, mechanism: Mechanism) -> float:
        """Worst case over the source set, evaluated from the matrix."""
        if self.costs is None:
            return self.source.worst_case_distortion(mechanism)
        return float((self.source.vertices @ (mechanism.matrix * self.costs).sum(axis=1)).max())

    def at_distortion(self, distortion: float) -> Proposal:
        """Propose a mechanism of least leakage whose worst-case distortion is at most ``distortion``."""
        # No slack at 0: there, not even what rounds to nothing may be changed.
        if distortion >= self.perfect.distortion - (PERFECT_SLACK if distortion > 0 else 0.0):
            return self._without_leakage()
        return self._at_distortion(distortion)

    def at_leakage(self, leakage: float) -> Proposal:
        """Propose a mechanism of least worst-case distortion whose leakage is at most ``leakage`` nats."""
        if leakage == 0 or self.perfect.distortion == 0:
            return self._without_leakage()
        return self._at_leakage(leakage)

    def prior(self, proposal: Proposal) -> FloatArray:
        """The prior claimed to be least favorable: a mixture of the vertices, whatever the weights were."""
        weights = np.clip(proposal.weights, 0, None)
        return weights / weights.sum() @ self.source.vertices

    def _without_leakage(self, weights: FloatArray | None = None) -> Proposal:
        mechanism = Mechanism.constant(self.perfect.letters, self.source.labels)
        return Proposal(mechanism, self.perfect.weights if weights is None else weights)

    @abstractmethod
    def _at_distortion(self, distortion: float) -> Proposal:
        """The same below the least distortion without leakage."""

    @abstractmethod
    def _at_leakage(self, leakage: float) -> Proposal:
        """The same for a positive leakage."""

    @abstractmethod
    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """How far from the optimum a mechanism of this leakage and this distortion is at most, in ``gap_unit``."""


class Notion(ABC):
    """A privacy notion.

    Attributes
    ----------
    name : str
    gap_unit : str
        What the gap of a result is measured in.
    tolerance : float
        The largest gap with which a result is returned.
    """

    name: ClassVar[str]
    gap_unit: ClassVar[str]
    tolerance: ClassVar[float]

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage of a mechanism in nats, from the definition."""

    @abstractmethod
    def optimizer(self, source: SourceSet) -> Optimizer:
        """An optimizer for one source set."""

    @abstractmethod
    def channel_optimizer(self, source: SourceSet, costs: FloatArray) -> Optimizer:
        """An optimizer over the whole channel, for distances other than Hamming distortion; ``costs`` has shape (M, M)."""

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
