"""What every privacy notion offers: its loss, evaluated directly, and an optimizer whose proposals are then judged."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import as_fraction, as_number, check_matrix_fits
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.solvers.games import PerfectPrivacy, perfect_privacy
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.solvers.proposals import Proposal
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, notion_title

__all__ = ["MOST_NATS", "Notion", "Optimizer", "ProgramOptimizer", "Proposal", "inverse"]

# What sums of M products and logarithms may be off.
_ROUNDING = 1e-11
# Halvings of a step of 2**16 down to rounding.
_HALVINGS = 70
# Beyond so many nats exp(-leakage) is no number.
MOST_NATS = 745.0


def inverse(bound: Callable[[float], float], level: float, most: float) -> float:
    """The last point in [0, most] known to lie where a falling bound is above a level; found by bisection, in the logarithm.

    The bound has to be above the level at 0. What is returned is on the safe side whatever the bound looks like in between.

    >>> round(inverse(lambda place: 1 / (1 + place), 0.25, 10.0), 9)
    3.0
    """
    if bound(most) > level:
        return most
    low, high, least = 0.0, most, most
    while least > 1e-300 and not bound(least) > level:
        high, least = least, least * 2.0**-16
    low = least if bound(least) > level else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > level else (low, middle)
    return low


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
    unit : float
        Nats of a program that counts in other units, for each nat of the leakage.
    """

    unit = 1.0

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray | None = None) -> None:
        self.notion, self.source, self.costs = notion, source, costs

    @abstractmethod
    def at_distortion(self, distortion: float) -> Proposal:
        """Propose a mechanism of least leakage whose worst-case distortion is at most ``distortion``."""

    @abstractmethod
    def at_leakage(self, leakage: float) -> Proposal:
        """Propose a mechanism of least worst-case distortion whose leakage is at most ``leakage`` nats."""

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        """Lower bound in nats on the leakage of every mechanism whose distortion is at most D, by the proposal's duals alone.

        Here the inverse of ``least_distortion``; one of the two has to be given.
        """
        if not self.least_distortion(proposal, 0.0) > distortion:
            return 0.0
        return inverse(lambda leakage: self.least_distortion(proposal, leakage), distortion, MOST_NATS / self.unit)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        """Lower bound on the distortion of every mechanism that leaks at most so many nats, by the proposal's duals alone.

        Here the inverse of :meth:`least_leakage`; one of the two has to be given.
        """
        if not self.least_leakage(proposal, 0.0) > leakage:
            return 0.0
        return inverse(
            lambda distortion: self.least_leakage(proposal, distortion), leakage, float(self.distances.max())
        )

    def mechanism(self, proposal: Proposal) -> Any:
        """What is published: the proposed channel with the letters' labels."""
        found = proposal.mechanism
        return (
            found.renamed(self.source.labels) if isinstance(found, Mechanism) else Mechanism(found, self.source.labels)
        )

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

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        """The prior that forces the result by itself, shape (M,), or None."""
        return self.prior(proposal)

    def tolerance(self, figure: float, unit: str) -> float:
        """The largest gap that is accepted for a leakage in ``nats`` or a ``distortion`` of this size."""
        return self.notion.tolerance * (figure if unit == "distortion" else 1.0)

    def rounding(self, figure: float, unit: str) -> float:
        """By how much rounding may miss a budget, for a leakage in ``nats`` or a ``distortion`` of this size."""
        return _ROUNDING

    def __str__(self) -> str:
        return repr(self.source)

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        """The least distortion without leakage."""
        return perfect_privacy(self.source.vertices, self.costs)

    @cached_property
    def distances(self) -> FloatArray:
        """``costs``, or those of Hamming distortion, shape (M, M): 1 between different letters.

        Raises ValueError where they do not fit: beyond 10,000 letters.
        """
        check_matrix_fits(
            self.source.alphabet_size,
            f"a program over the mechanism for {self.notion.title}",
            "Merge rare categories.",
        )
        return 1.0 - np.eye(self.source.alphabet_size) if self.costs is None else self.costs


class ProgramOptimizer(Optimizer):
    """An optimizer that goes to its program only where something has to leak, and not everything may."""

    def at_distortion(self, distortion: float) -> Proposal:
        if self.perfect.is_enough(distortion):
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
        The key: on the command line, in files, and of :func:`paper_repro.notions.notion_by_name`.
    tolerance : float
        The largest gap with which a result is returned: in nats at a distortion budget, relative at a leakage budget.
    jumps : bool
        Whether a least leakage can jump as the distortion grows.
    """

    name: str
    tolerance: float
    jumps: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """The name for people, as of :func:`paper_repro.types.notion_title`, where ``name`` is the key.

        >>> from paper_repro.notions import ApproximateDP, RenyiDP
        >>> RenyiDP(2).title, str(ApproximateDP(0.1, standard=True))
        ('Rényi differential privacy', 'standard (ε, δ)-differential privacy')
        """
        return notion_title(self.name, standard=bool(getattr(self, "standard", False)))

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
        """Whether the best symmetric mechanisms for the uniform prior are best for a source set: if it is in it, for most."""
        return source.contains_uniform

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
        return leakage if math.isinf(leakage) else as_number(as_fraction(leakage) / records)
