"""Optimizers over the whole channel, for notions, graphs and distances without a smaller program."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.solvers.channel_information import (
    ChannelOptimum,
    InformationProgram,
    MassProgram,
    least_information,
    least_mass,
)
from paper_repro.solvers.channel_ratio import ChannelPoint, ChannelProgram, Comparisons
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["InformationOptimizer", "MassOptimizer", "RatioOptimizer", "hamming_costs"]

# A least distortion this close to the one without leakage is not worth any.
_FLAT = 1e-10


class RatioOptimizer(Optimizer):
    """The best mechanism for a ratio notion: see :mod:`paper_repro.solvers.channel_ratio`.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    comparisons : Comparisons
    costs : ndarray, shape (M, M), optional
        Distances between letters; Hamming distortion, if not given.
    """

    def __init__(
        self, notion: Notion, source: SourceSet, comparisons: Comparisons, costs: FloatArray | None = None
    ) -> None:
        super().__init__(notion, source, costs)
        self._notion, self._comparisons = notion, comparisons
        self._program = ChannelProgram(source.vertices, hamming_costs(source) if costs is None else costs, comparisons)

    def at_distortion(self, distortion: float) -> Proposal:
        if self._free is not None and distortion >= self._free[1]:
            return self._free[0]
        return super().at_distortion(distortion)

    def at_leakage(self, leakage: float) -> Proposal:
        if self._free is not None and leakage == 0:
            return self._free[0]
        return super().at_leakage(leakage)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0:
            return self._everything()
        # Mixing the identity with an even choice of all letters keeps the budget.
        size = self.source.alphabet_size
        evenly = Mechanism(np.full((size, size), 1 / size))
        share = distortion / self.distortion(evenly)
        upper = self._leakage((1 - share) * np.eye(size) + share * evenly.matrix)
        without = self.perfect.distortion if self._free is None else self._free[1]
        return self._propose(self._program.at_distortion(distortion, upper, without, self._leakage))

    def _at_leakage(self, leakage: float) -> Proposal:
        everything = self._everything()
        if math.isinf(leakage) or leakage >= self._leakage(everything.mechanism):
            return everything
        point = self._program.at_leakage(leakage)
        proposal = self._propose(point)
        least = self._program.least_distortion(self.prior(proposal), point.multipliers, leakage)
        if self._free is None and least >= self.perfect.distortion - _FLAT:
            return replace(proposal, mechanism=self._without_leakage().mechanism)
        return proposal

    @cached_property
    def _free(self) -> tuple[Proposal, float] | None:
        """Where delta alone allows more than a constant answer: the best without leakage beyond it, and its distortion."""
        if self._comparisons.delta == 0:
            return None
        proposal = self._propose(self._program.at_leakage(0.0))
        return proposal, self.distortion(proposal.mechanism)

    def _leakage(self, matrix: FloatArray) -> float:
        return self._notion.leakage(matrix, self.source)

    def _everything(self) -> Proposal:
        """Publish every letter as it is; those that never occur like one that does."""
        matrix = np.eye(self.source.alphabet_size)
        known = self.source.vertices.any(axis=0)
        matrix[~known] = matrix[np.argmax(known)]
        return Proposal(matrix, self.perfect.weights)

    def _propose(self, point: ChannelPoint) -> Proposal:
        return Proposal(point.matrix, point.weights, (point,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In distortion, against the bound from the multipliers; without leakage, against the best constant answer."""
        point, prior = (proposal.certificate or (None,))[0], self.prior(proposal)
        if point is None:
            return distortion - (self.perfect.distortion if leakage == 0 else 0.0)
        return distortion - self._program.least_distortion(prior, point.multipliers, leakage)


def hamming_costs(source: SourceSet) -> FloatArray:
    """Distances of Hamming distortion, shape (M, M): 1 between different letters."""
    return 1.0 - np.eye(source.alphabet_size)


class MassOptimizer(Optimizer):
    """The best mechanism for maximal leakage and any distances: see :mod:`paper_repro.solvers.channel_information`."""

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray) -> None:
        super().__init__(notion, source, costs)
        self._distances, self._program = costs, MassProgram(source.vertices, costs)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        proposal = self._propose(self._program.at_leakage(leakage))
        distortion = self.distortion(proposal.mechanism)
        if distortion == 0:  # more may leak than there is, so the prices are of no use
            return self._at_distortion(0.0)
        return proposal if distortion < self.perfect.distortion - _FLAT else self._without_leakage()

    def _propose(self, found: ChannelOptimum) -> Proposal:
        weights = found.weights if found.weights.sum() > 0 else self.perfect.weights
        return Proposal(found.matrix, weights, (found,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the bound from the multipliers; without them that bound is 0."""
        found = (proposal.certificate or (None,))[0]
        if found is None:
            return leakage
        spent = (found.prices @ self.source.vertices)[:, np.newaxis] * self._distances
        return leakage - math.log(least_mass(spent, found.rows, distortion * float(found.prices.sum())))


class InformationOptimizer(Optimizer):
    """Mutual or Sibson information and any distances: see :mod:`paper_repro.solvers.channel_information`."""

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray, order: float) -> None:
        super().__init__(notion, source, costs)
        self._notion, self._distances, self._order = notion, costs, order
        self._program = InformationProgram(source.vertices, costs, order)

    def _at_distortion(self, distortion: float) -> Proposal:
        proposal = self._propose(self._program.at_distortion(distortion))
        spent = self.distortion(proposal.mechanism)
        if spent <= distortion:
            return proposal
        # What the solver overspends by rounding, the identity makes up for.
        share = distortion / spent
        matrix = share * proposal.mechanism + (1 - share) * np.eye(self.source.alphabet_size)
        return replace(proposal, mechanism=matrix)

    def _at_leakage(self, leakage: float) -> Proposal:
        everything = np.eye(self.source.alphabet_size)
        if leakage >= self._notion.leakage(everything, self.source):
            return self._at_distortion(0.0)
        proposal = self._propose(self._program.at_leakage(leakage))
        useful = self.distortion(proposal.mechanism) < self.perfect.distortion - _FLAT
        return proposal if useful else self._without_leakage()

    def _propose(self, found: ChannelOptimum) -> Proposal:
        return Proposal(found.matrix, found.weights, (found,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the bound from the multipliers; without them that bound is 0."""
        found = (proposal.certificate or (None,))[0]
        if found is None:
            return leakage
        spent = (found.prices @ self.source.vertices)[:, np.newaxis] * self._distances
        allowance = distortion * float(found.prices.sum())
        return leakage - least_information(self._order, self.prior(proposal), spent, found.rows, allowance)
