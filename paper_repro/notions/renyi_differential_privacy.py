"""Renyi differential privacy: rows of neighbors are close in Renyi divergence of an order alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_alpha
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.notions.optimizers import LeakageOptimizer, RandomizedResponseOptimizer
from paper_repro.notions.ratios import as_channel, check_adjacency, is_clique, neighbors
from paper_repro.solvers.channel_moment import ChannelMomentProgram, least_renyi_divergence
from paper_repro.solvers.profile_moment import MomentProfiles
from paper_repro.solvers.profile_ratio import RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["RenyiDP"]

_LARGEST_ALPHA = 10.0
# Shares of a distortion budget that are given up, one after the other until the certificate closes.
_MARGINS = (1e-10, 1e-9, 1e-8, 1e-7)


@dataclass(frozen=True, repr=False)
class RenyiDP(Notion):
    """Renyi differential privacy of order alpha between neighbors (Definition 19(5), Zhong and Bu 2022).

        max over neighbors i, k of  log( sum_j Q_ij^alpha Q_kj^(1 - alpha) ) / (alpha - 1)

    It grows with alpha, from the Kullback-Leibler divergence (alpha = 1, taken as the limit) to differential privacy (alpha
    infinite, taken as :class:`DifferentialPrivacy`), and does not depend on the source set. For a source set that contains the
    uniform distribution randomized response is optimal, in closed form: averaging a mechanism over all relabelings of the letters
    keeps its distortion under the uniform prior and, since the moment is convex, does not raise the worst divergence, and the
    average is a randomized response. For other sets and for graphs the optimum is a conic program over the whole channel
    (:mod:`paper_repro.solvers.channel_moment`), certified by tangent planes within 1e-6 nats; for about twelve letters at most.

    Parameters
    ----------
    alpha : float >= 1, infinity allowed
        Evaluated for any alpha; optimized for up to 10, or infinite; for any where randomized response is optimal.
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given.

    Raises
    ------
    ValueError
        If alpha is below 1 or no number, or the adjacency is none; by ``optimizer``, if alpha is out of reach, there are too many
        letters, or another number than the graph has vertices.

    Examples
    --------
    >>> keep = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(math.exp(RenyiDP(2).leakage(keep)), 9) == round((27 + 1) / 12, 9)
    True
    >>> [round(RenyiDP(alpha).leakage(keep), 4) for alpha in (1, 1.001, 1000, math.inf)]
    [0.5493, 0.5497, 1.0983, 1.0986]
    """

    name = "Renyi differential privacy"
    gap_unit = "nats"
    tolerance = 1e-6
    alpha: float
    adjacency: Adjacency | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha, self.name))
        check_adjacency(self.adjacency)
        if math.isinf(self.alpha):
            for judged in ("gap_unit", "tolerance", "jumps"):
                object.__setattr__(self, judged, getattr(DifferentialPrivacy, judged))

    def __repr__(self) -> str:
        graph = f", adjacency={self.adjacency!r}" if self.adjacency else ""
        return f"RenyiDP(alpha={self.alpha:g}{graph})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, exact up to rounding; ``source`` is not needed.

        Infinite if a row has something where a neighbor's has nothing.
        """
        matrix = as_channel(mechanism)
        if math.isinf(self.alpha):
            return DifferentialPrivacy(self.adjacency).leakage(matrix)
        pairs = neighbors(self.adjacency, len(matrix))
        return max((_divergence(matrix[i], matrix[k], self.alpha) for i, k in pairs), default=0.0)

    def with_neighbors(self, adjacency: Adjacency) -> RenyiDP:
        return RenyiDP(self.alpha, adjacency)

    def parallel(self, factors: Sequence[tuple[Mechanism, SourceSet | None, int]]) -> float:
        """The largest of the factors: what the other records publish sums to 1."""
        return max(RenyiDP(self.alpha).leakage(mechanism) for mechanism, _, _ in factors)

    def share_of_leakage(self, leakage: float, records: int) -> float:
        return leakage

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        if math.isinf(self.alpha):
            return RatioProfiles(values, records)
        return MomentProfiles(values, records, self.alpha)

    def exact_curve(self, source: SourceSet) -> ExactCurve | None:
        return DifferentialPrivacy(self.adjacency).exact_curve(source) if math.isinf(self.alpha) else None

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        if math.isinf(self.alpha):
            return DifferentialPrivacy(self.adjacency).optimizer(source, costs)
        simple = costs is None and is_clique(self.adjacency, source.alphabet_size)
        if simple and source.source_class == "I":
            size = source.alphabet_size
            return RandomizedResponseOptimizer(
                self,
                source,
                lambda distortion: _response_leakage(distortion, size, self.alpha),
                lambda leakage: _response_distortion(leakage, size, self.alpha),
            )
        if self.alpha > _LARGEST_ALPHA:
            raise ValueError(
                f"orders alpha up to {_LARGEST_ALPHA:g} can be optimized, got {self.alpha:g}: powers of ratios leave the range "
                "that the solver can tell apart; use alpha = infinity, which is DifferentialPrivacy()"
            )
        if simple:
            return _KnownLettersOptimizer(self, source)
        return _ChannelOptimizer(self, source, neighbors(self.adjacency, source.alphabet_size), costs)


class _ChannelOptimizer(LeakageOptimizer):
    def __init__(self, notion: RenyiDP, source: SourceSet, pairs: IntArray, costs: FloatArray | None = None) -> None:
        super().__init__(notion, source, costs)
        self._alpha, self._pairs = notion.alpha, pairs
        self.program = self._moments = ChannelMomentProgram(source.vertices, self.distances, pairs, notion.alpha)

    def _at_distortion(self, distortion: float) -> Proposal:
        size = self.source.alphabet_size
        if distortion == 0:
            return Proposal(np.eye(size), self.perfect.weights)
        # An even choice of all letters, mixed into the identity, keeps the budget.
        evenly = np.full((size, size), 1 / size)
        share = distortion / self.distortion(evenly)
        about = self.leakage((1 - share) * np.eye(size) + share * evenly)
        best: Proposal | None = None
        least = math.inf
        for margin in _MARGINS:
            proposal = self._moments.at_distortion(distortion, about, margin)
            leakage = self.leakage(proposal.mechanism)
            if best is not None:  # the better mechanism, and the better certificate
                mechanism = best.mechanism if least <= leakage else proposal.mechanism
                better = min(best, proposal, key=lambda which: self.gap(which, least, distortion))
                proposal = replace(better, mechanism=mechanism)
            best, least = proposal, min(least, leakage)
            if self.gap(best, least, distortion) <= self.notion.tolerance / 10:
                break
            about = least  # another scale, another path of the solver
        return proposal

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        return 0.0 if distortion == 0 else super().gap(proposal, leakage, distortion)

    def _bound(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        weights, duals, tangent = proposal.certificate
        allowance = distortion * float(duals.sum())
        return least_renyi_divergence(self._alpha, self._pairs, weights, tangent, self._penalties(duals), allowance)


class _KnownLettersOptimizer(Optimizer):
    """Where all letters are neighbors, those that never occur may be left out: nothing asks to publish them.

    Published as another letter they leak no more and are wrong no more often; and their rows may be those of any letter.
    """

    def __init__(self, notion: RenyiDP, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._known = source.vertices.any(axis=0)
        known = SourceSet(source.vertices[:, self._known])
        self._inner = _ChannelOptimizer(notion, known, neighbors(None, known.alphabet_size))

    def at_distortion(self, distortion: float) -> Proposal:
        return self._with_all_letters(self._inner.at_distortion(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        return self._with_all_letters(self._inner.at_leakage(leakage))

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._inner.least_leakage(proposal, distortion)

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats, as that of the letters that occur."""
        return self._inner.gap(proposal, leakage, distortion)

    def _with_all_letters(self, proposal: Proposal) -> Proposal:
        rows = np.cumsum(self._known) - 1
        matrix = np.zeros((len(rows),) * 2)
        matrix[:, self._known] = proposal.mechanism[np.where(self._known, rows, 0)]
        return replace(proposal, mechanism=matrix)


def _response_leakage(distortion: float, size: int, alpha: float) -> float:
    """Renyi leakage of randomized response in nats: closed form, from its two different rows."""
    if distortion >= 1 - 1 / size:
        return 0.0
    if distortion == 0:
        return math.inf
    kept, other = math.log1p(-distortion), math.log(distortion) - math.log(size - 1)
    if alpha == 1:
        return (math.exp(kept) - math.exp(other)) * (kept - other)
    terms = [alpha * kept + (1 - alpha) * other, alpha * other + (1 - alpha) * kept]
    if size > 2:
        terms.append(math.log(size - 2) + other)
    return max(0.0, float(np.logaddexp.reduce(terms)) / (alpha - 1))


def _response_distortion(leakage: float, size: int, alpha: float) -> float:
    """Least distortion of randomized response that leaks at most so many nats."""
    from scipy.optimize import brentq

    if math.isinf(leakage):
        return 0.0
    most = 1 - 1 / size
    # In the logarithm of the distortion, which may be very small.
    found = brentq(
        lambda log: _response_leakage(math.exp(log) * most, size, alpha) - leakage,
        -leakage - 100.0,
        0.0,
        xtol=1e-15,
        rtol=1e-15,
    )
    distortion = math.exp(found) * most
    while _response_leakage(distortion, size, alpha) > leakage:
        distortion *= 1 + 1e-15
    return distortion


def _divergence(row: FloatArray, other: FloatArray, alpha: float) -> float:
    """Renyi divergence of two distributions in nats, with powers taken in the logarithm."""
    used = row > 0
    row, other = row[used], other[used]
    if (other == 0).any():
        return math.inf
    logs = np.log(row) - np.log(other)
    if alpha == 1:
        return max(0.0, float(row @ logs))
    terms = np.log(row) + (alpha - 1) * logs
    top = float(terms.max())
    return max(0.0, (top + math.log(float(np.exp(terms - top).sum()))) / (alpha - 1))
