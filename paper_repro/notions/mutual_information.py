"""Mutual information: how many nats the published letter tells of the true one, under the worst prior of the set."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.optimizers import InformationOptimizer
from paper_repro.notions.ratios import as_channel, check_alphabets
from paper_repro.solvers.diagonal_information import DivergenceOptimum, DivergenceProgram, least_mutual_information
from paper_repro.solvers.profile_information import InformationProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MutualInformation"]

_BRACKET = 1e-10
_STEPS = 500


class MutualInformation(Notion):
    """Mutual information, worst case over the hull (eq. (19)-(21), 2017 preprint of Kalantari et al.; eq. (24)-(26) in 2018).

    The leakage is ``max_P I(P; Q)`` over the source set. I is concave in P, so the worst prior is in general inside the hull,
    not at a vertex. The optimum is a conic program with two cones per letter (see
    :mod:`paper_repro.solvers.diagonal_information`), certified by a Lagrangian lower bound within 1e-6 nats, in practice
    within 1e-8.

    Examples
    --------
    >>> hull = SourceSet([[1.0, 0.0], [0.0, 1.0]])
    >>> round(MutualInformation().leakage([[0.95, 0.05], [0.05, 0.95]], hull), 4)  # at each vertex alone: 0
    0.4946
    """

    name = "mutual information"
    gap_unit = "nats"
    tolerance = 1e-6

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Largest mutual information over the set in nats; an upper bound that is tight within 1e-10.

        Raises
        ------
        ValueError
            If no source set is given, or it is over another alphabet than the mechanism.
        """
        matrix = as_channel(mechanism)
        return _worst_prior(matrix, check_alphabets(matrix, source, self.name).vertices)[0]

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        return InformationProfiles(values, records)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        return _DivergenceOptimizer(self, source) if costs is None else InformationOptimizer(self, source, costs, 1.0)


class _DivergenceOptimizer(Optimizer):
    def __init__(self, notion: Notion, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = DivergenceProgram(source.vertices)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion <= self._program.unknown_mass:  # 0 if every letter counts
            identity = self._identity()
            # A price that makes the bound lose no more than the distortion is worth.
            price = 0.0 if distortion == 0 else math.log(self.source.alphabet_size / distortion)
            return replace(identity, certificate=(identity.weights * price,))
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        everything = self._identity()
        if leakage >= _worst_prior(everything.mechanism, self.source.vertices)[0]:
            return everything
        try:
            found = self._propose(self._program.at_leakage(leakage))
        except SolverError:
            if leakage > MutualInformation.tolerance:
                raise
            return self._without_leakage()
        achieved, weights = _worst_prior(found.mechanism, self.source.vertices)
        if achieved > leakage:
            # Mixing the output's own distribution into every row scales the leakage down: it is convex in Q.
            matrix, share = found.mechanism, leakage / achieved
            mixed = share * matrix + (1 - share) * (weights @ self.source.vertices @ matrix)
            found = Proposal(mixed, found.weights, found.certificate)
        distortion = self.distortion(found.mechanism)
        if distortion >= self.perfect.distortion:
            return self._without_leakage()
        if self.gap(found, leakage, distortion) > MutualInformation.tolerance / 10:
            # Where leakage falls steeply, the program that minimizes it has the better multipliers.
            other = self._at_distortion(distortion)
            found = Proposal(found.mechanism, other.weights, other.certificate)
        return found

    def _identity(self) -> Proposal:
        matrix = np.eye(self.source.alphabet_size)
        _, weights = _worst_prior(matrix, self.source.vertices)
        return Proposal(matrix, weights, (np.zeros_like(weights),))

    def _propose(self, found: DivergenceOptimum) -> Proposal:
        return Proposal(found.matrix, found.weights, (found.multipliers,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the Lagrangian lower bound at the distortion; without multipliers that bound is 0."""
        if not proposal.certificate:
            return leakage
        # Where nothing may change, any price of a change is right.
        prices = (
            proposal.certificate[0] @ self.source.vertices
            if distortion > 0
            else np.full(self.source.alphabet_size, np.inf)
        )
        return leakage - least_mutual_information(self.prior(proposal), prices, distortion)


def _worst_prior(matrix: FloatArray, vertices: FloatArray) -> tuple[float, FloatArray]:
    """Largest mutual information over the hull, from above, and the vertices' weights that come within 1e-10 of it.

    Concave in the weights w. With q the output's distribution under w, ``g_v = sum_i P_v(i) KL(Q_i || q)`` is the gradient up to
    a constant; ``w . g`` is the information at w and ``max g`` bounds the maximum from above. Newton steps follow the
    maximizers of ``information + barrier * sum log w`` to a vanishing barrier; in ``w_v`` times the step the system stays well
    conditioned, also where a weight goes to 0.
    """
    outputs = vertices @ matrix
    outputs = outputs[:, outputs.max(axis=0) > 0]
    negentropies = vertices @ np.where(matrix > 0, matrix * np.log(np.where(matrix > 0, matrix, 1.0)), 0.0).sum(axis=1)
    weights, barrier = np.full(len(vertices), 1 / len(vertices)), 1.0
    for _ in range(_STEPS):
        output = weights @ outputs
        gradient = negentropies - outputs @ np.log(output)
        lower, upper = float(weights @ gradient), float(gradient.max())
        if upper - lower <= _BRACKET:
            return max(0.0, upper), weights
        scaled = weights[:, np.newaxis] * outputs
        curvature = (scaled / output) @ scaled.T + barrier * np.eye(len(weights))
        ascent, drift = np.linalg.solve(curvature, np.column_stack([weights * gradient + barrier, weights])).T
        relative = ascent - (weights @ ascent) / (weights @ drift) * drift
        damping = min(1.0, 0.9 / max(1e-300, float(np.abs(relative).max())))
        weights = weights * (1 + damping * relative)
        weights /= weights.sum()
        if damping == 1.0:
            barrier = max(barrier / 5, _BRACKET / (4 * len(weights)))
    raise SolverError(
        f"the worst prior was not found within {_STEPS} steps: the leakage is between {lower!r} and {upper!r} nats"
    )
