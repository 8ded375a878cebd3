"""Renyi differential privacy: rows of neighbors are close in Renyi divergence of an order alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_alpha
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.optimizers import hamming_costs
from paper_repro.notions.ratios import as_channel, check_graph, neighbors
from paper_repro.solvers.channel_moment import RenyiOptimum, RenyiProgram, least_renyi_divergence
from paper_repro.solvers.profile_moment import MomentProfiles
from paper_repro.solvers.profile_ratio import RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["RenyiDP"]

_LARGEST_ORDER = 10.0
# Shares of a distortion budget that are given up, one after the other until the certificate closes.
_MARGINS = (1e-10, 1e-9, 1e-8, 1e-7)


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
        Evaluated for any order; optimized for orders up to 10, or infinite; any order where randomized response is optimal.
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given.

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

    def __init__(self, alpha: float, adjacency: Adjacency | None = None) -> None:
        self.alpha, self.adjacency = check_alpha(alpha, self.name), adjacency

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

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        check_graph(self.adjacency, source.alphabet_size)
        if math.isinf(self.alpha):
            return DifferentialPrivacy(self.adjacency).optimizer(source, costs)
        if costs is not None:
            self._check_range()
            return RenyiOptimizer(self, source, costs)
        if source.source_class == "I" and (self.adjacency is None or self.adjacency.is_clique):
            return _SymmetricOptimizer(self, source)
        self._check_range()
        if self.adjacency is None or self.adjacency.is_clique:
            return _KnownLettersOptimizer(self, source)
        return RenyiOptimizer(self, source)

    def _check_range(self) -> None:
        if self.alpha > _LARGEST_ORDER:
            raise ValueError(
                f"orders alpha up to {_LARGEST_ORDER:g} can be optimized, got {self.alpha:g}: powers of ratios leave the range "
                "that the solver can tell apart; use alpha = infinity, which is DifferentialPrivacy()"
            )


class _SymmetricOptimizer(Optimizer):
    """Randomized response, for source sets that contain the uniform distribution."""

    def __init__(self, notion: RenyiDP, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._notion = notion

    def _at_distortion(self, distortion: float) -> Proposal:
        size = self.source.alphabet_size
        return self._propose(Mechanism.from_distortions(np.full(size, min(distortion, 1 - 1 / size))))

    def _at_leakage(self, leakage: float) -> Proposal:
        from scipy.optimize import brentq

        if math.isinf(leakage):
            return self._at_distortion(0.0)
        most = 1 - 1 / self.source.alphabet_size
        # In the logarithm of the distortion, which may be very small.
        low = -leakage - 100.0
        found = brentq(lambda log: self._leakage(math.exp(log) * most) - leakage, low, 0.0, xtol=1e-15, rtol=1e-15)
        distortion = math.exp(found) * most
        while self._leakage(distortion) > leakage:
            distortion *= 1 + 1e-15
        return self._at_distortion(distortion)

    def _propose(self, mechanism: Mechanism) -> Proposal:
        return Proposal(mechanism.matrix, self.perfect.weights)

    def _leakage(self, distortion: float) -> float:
        """Of randomized response: closed form, from its two different rows."""
        size = self.source.alphabet_size
        if distortion >= 1 - 1 / size:
            return 0.0
        if distortion == 0:
            return math.inf
        kept, other = math.log1p(-distortion), math.log(distortion) - math.log(size - 1)
        order = self._notion.alpha
        if order == 1:
            return (math.exp(kept) - math.exp(other)) * (kept - other)
        terms = [order * kept + (1 - order) * other, order * other + (1 - order) * kept]
        if size > 2:
            terms.append(math.log(size - 2) + other)
        return max(0.0, float(np.logaddexp.reduce(terms)) / (order - 1))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats, against the closed form, which no mechanism beats under the uniform prior."""
        return 0.0 if math.isinf(leakage) else leakage - self._leakage(distortion)


class RenyiOptimizer(Optimizer):
    """The best mechanism by the program over the whole channel; ``costs`` are distances between letters, as elsewhere."""

    def __init__(self, notion: RenyiDP, source: SourceSet, costs: FloatArray | None = None) -> None:
        super().__init__(notion, source, costs)
        self._notion = notion
        self._distances = hamming_costs(source) if costs is None else costs
        self._pairs: IntArray = neighbors(notion.adjacency, source.alphabet_size)
        self._program = RenyiProgram(source.vertices, self._distances, self._pairs, notion.alpha)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0:
            return self._identity()
        # An even choice of all letters, mixed into the identity, keeps the budget.
        size = self.source.alphabet_size
        evenly = Mechanism(np.full((size, size), 1 / size))
        share = distortion / self.distortion(evenly)
        about = self._notion.leakage((1 - share) * np.eye(size) + share * evenly.matrix)
        best: Proposal | None = None
        least = math.inf
        for margin in _MARGINS:
            proposal = self._propose(self._program.at_distortion(distortion, about, margin))
            leakage = self._notion.leakage(proposal.mechanism)
            if best is None:
                best, least = proposal, leakage
            else:  # the better mechanism, and the better evidence
                evidence = min(best, proposal, key=lambda which: self.gap(which, least, distortion))
                mechanism = best.mechanism if least <= leakage else proposal.mechanism
                best, least = replace(evidence, mechanism=mechanism), min(least, leakage)
            if self.gap(best, least, distortion) <= RenyiDP.tolerance / 10:
                break
            about = least  # another scale, another path of the solver
        return best or proposal

    def _at_leakage(self, leakage: float) -> Proposal:
        if math.isinf(leakage):
            return self._identity()
        proposal = self._propose(self._program.at_leakage(leakage))
        distortion = self.distortion(proposal.mechanism)
        if distortion >= self.perfect.distortion:
            return self._without_leakage()
        if self.gap(proposal, leakage, distortion) > RenyiDP.tolerance / 10:
            # The program that minimizes leakage may have the better multipliers, or find less leakage.
            other = self._at_distortion(distortion)
            found = self._notion.leakage(other.mechanism)
            other = other if found <= leakage else replace(other, mechanism=proposal.mechanism)
            proposal = min(proposal, other, key=lambda which: self.gap(which, leakage, distortion))
        return proposal

    def _identity(self) -> Proposal:
        return Proposal(np.eye(self.source.alphabet_size), self.perfect.weights)

    def _propose(self, found: RenyiOptimum) -> Proposal:
        weights = found.prices if found.prices.sum() > 0 else self.perfect.weights
        return Proposal(found.matrix, weights, (found,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the tangent plane's bound; without multipliers that bound is 0."""
        found = (proposal.certificate or (None,))[0]
        if distortion == 0:
            return 0.0
        if found is None or math.isinf(leakage):
            return leakage
        prices = (found.prices @ self.source.vertices)[:, np.newaxis] * self._distances
        allowance = distortion * float(found.prices.sum())
        order = self._notion.alpha
        return leakage - least_renyi_divergence(
            order, self._pairs, found.pair_weights, found.touching, prices, allowance
        )


class _KnownLettersOptimizer(Optimizer):
    """Where all letters are neighbors, those that never occur may be left out: nothing asks to publish them.

    Published as another letter they leak no more and are wrong no more often; and their rows may be those of any letter.
    """

    def __init__(self, notion: RenyiDP, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._known = source.vertices.any(axis=0)
        self._inner = RenyiOptimizer(RenyiDP(notion.alpha), SourceSet(source.vertices[:, self._known]))

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._with_all_letters(self._inner._at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        return self._with_all_letters(self._inner._at_leakage(leakage))

    def _with_all_letters(self, proposal: Proposal) -> Proposal:
        rows = np.cumsum(self._known) - 1
        matrix = np.zeros((len(rows),) * 2)
        matrix[:, self._known] = proposal.mechanism[np.where(self._known, rows, 0)]
        return replace(proposal, mechanism=matrix)

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats, as that of the letters that occur."""
        return self._inner.gap(proposal, leakage, distortion)


def _divergence(row: FloatArray, other: FloatArray, order: float) -> float:
    """Renyi divergence of two distributions in nats, with powers taken in the logarithm."""
    used = row > 0
    row, other = row[used], other[used]
    if (other == 0).any():
        return math.inf
    logs = np.log(row) - np.log(other)
    if order == 1:
        return max(0.0, float(row @ logs))
    terms = np.log(row) + (order - 1) * logs
    top = float(terms.max())
    return max(0.0, (top + math.log(float(np.exp(terms - top).sum()))) / (order - 1))
