"""Maximal information: how much likelier a published letter is under one true letter than on average."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, ProgramOptimizer, Proposal
from paper_repro.notions.optimizers import RandomizedResponseOptimizer
from paper_repro.notions.ratios import as_channel, check_alphabets, log_rounded_up
from paper_repro.solvers.channel_lift import ChannelLiftProgram
from paper_repro.solvers.profile_mass import MassProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MaximalInformation", "PointwiseMaximalLeakage"]


@dataclass(frozen=True, repr=False)
class MaximalInformation(Notion):
    """Maximal information, worst case over the set: ``log max Q_ij / (P Q)_j`` (Definition 19(3), Zhong and Bu 2022).

    A maximum over inputs i, outputs j and priors P of the set; it is attained at a vertex, since for a given leakage the
    condition ``Q_ij <= exp(leakage) (P Q)_j`` is linear in P. Inputs without probability count, as in the paper, where every
    prior has full support; the leakage is infinite if only they lead to some output. Because the output's own distribution
    appears, the diagonal does not decide the rest: the optimum is a sparse linear program over the whole channel
    (:mod:`paper_repro.solvers.channel_lift`), certified within 1e-9 nats, or relative to the distortion at a leakage budget.

    This is also *pointwise maximal leakage* (Saeidian, Cervia, Oechtering and Skoglund 2023), ``log max_i P(i | j) / P_i`` for
    the worst output j, which bounds what any adversary with any aim gains from any one output: by Bayes' rule the two are the
    same number where every letter occurs, and ``PointwiseMaximalLeakage`` is another name for this class (there, only letters
    that occur count). Others call its ratio the *lift*.

    A set's optimum may need more than one of its priors: different outputs can be rarest under different vertices. Then the
    result's ``least_favorable_prior`` is None, ``worst_prior`` is the one whose distortion binds, and ``multipliers`` are what
    the certificate needs.

    For the uniform prior alone randomized response is optimal: ``max_ij Q_ij`` is at least the mean of the diagonal, so that the
    leakage is at least ``log M (1 - D)``.

    Examples
    --------
    >>> keep = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(math.exp(MaximalInformation().leakage(keep, SourceSet([0.5, 0.5]))), 12)
    1.5
    """

    name = "maximal information"
    tolerance = 1e-9
    jumps = True

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, evaluated in exact rational arithmetic and rounded up.

        Raises
        ------
        ValueError
            If no source set is given, or it has another number of letters than the mechanism has rows.
        """
        matrix = as_channel(mechanism)
        vertices = check_alphabets(mechanism, source, self.title).vertices
        used = np.flatnonzero(matrix.max(axis=0) > 0)
        outputs = (vertices @ matrix).min(axis=0)[used]
        if (outputs == 0).any():
            return math.inf
        ratios = matrix.max(axis=0)[used] / outputs
        priors = [_whole(prior) for prior in vertices.tolist()]
        columns = [_whole(matrix[:, column].tolist()) for column in used[ratios >= ratios.max() * (1 - 1e-13)]]
        exact = (
            Fraction(max(column) * sum(prior), sum(map(operator.mul, prior, column)))
            for column in columns
            for prior in priors
        )
        return log_rounded_up(max(Fraction(1), *exact))

    def is_worst_at_uniform(self, source: SourceSet) -> bool:
        """Only if the set is the uniform prior: every prior of it counts."""
        return bool(np.abs(source.vertices * source.alphabet_size - 1).max() <= 1e-12)

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        return MassProfiles(values, records)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        letters = source.alphabet_size
        if costs is None and self.is_worst_at_uniform(source):
            return RandomizedResponseOptimizer(
                self,
                source,
                lambda distortion: math.log(letters * (1 - distortion)),
                lambda leakage: max(0.0, 1 - math.exp(min(leakage, 700.0)) / letters),
            )
        return _ChannelOptimizer(self, source, costs)


PointwiseMaximalLeakage = MaximalInformation


def _whole(values: list[float]) -> list[int]:
    """Floats times 2**1074, which are whole numbers."""
    ratios = (value.as_integer_ratio() for value in values)
    return [(above << 1074) // below for above, below in ratios]


class _ChannelOptimizer(ProgramOptimizer):
    """The best mechanism over the whole channel: see :mod:`paper_repro.solvers.channel_lift`."""

    def __init__(self, notion: Notion, source: SourceSet, costs: FloatArray | None) -> None:
        super().__init__(notion, source, costs)
        self._program = ChannelLiftProgram(source.vertices, self.distances)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0 and self._tells_all:
            return self._everything
        return self._program.at_distortion(distortion)

    def _at_leakage(self, leakage: float) -> Proposal:
        if leakage >= self.leakage(self._everything.mechanism):
            return self._everything
        proposal = self._program.at_leakage(leakage)
        if self.distortion(proposal.mechanism) >= self.perfect.distortion:
            return replace(proposal, mechanism=self.perfect.channel)
        return proposal

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if distortion == 0 and self._tells_all:
            return self.leakage(self._everything.mechanism)
        return self._program.least_leakage(proposal, distortion) if proposal.certificate else 0.0

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if leakage == 0:
            return self.perfect.distortion
        return self._program.least_distortion(proposal, leakage) if proposal.certificate else 0.0

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        """That of the multipliers, where they are a certificate for it alone."""
        prior = self.prior(proposal)
        found = self.leakage(proposal.mechanism), self.distortion(proposal.mechanism)
        if self.source.vertex_count == 1:
            return prior
        if not proposal.certificate:
            return prior if math.isfinite(found[0]) else None
        return prior if self._program.forces(proposal, *found) else None

    @cached_property
    def _tells_all(self) -> bool:
        """Whether every change costs something, so that without distortion all letters that occur are published as they are."""
        size = self.source.alphabet_size
        return bool((self.distances + np.eye(size) > 0).all())

    @cached_property
    def _everything(self) -> Proposal:
        """Publish every letter as it is; those that never occur like one that does."""
        matrix = np.eye(self.source.alphabet_size)
        known = self.source.vertices.any(axis=0)
        matrix[~known] = matrix[np.argmax(known)]
        rarest = self.source.vertices[:, known].min(axis=1).argmin()  # the prior that has the rarest letter decides
        return Proposal(matrix, np.eye(self.source.vertex_count)[rarest])
