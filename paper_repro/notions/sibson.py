"""Sibson information: mutual information of an order alpha, under the worst prior of the set."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_alpha
from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.maximal_leakage import MaximalLeakage
from paper_repro.notions.mutual_information import MutualInformation
from paper_repro.notions.optimizers import InformationOptimizer
from paper_repro.notions.ratios import as_channel, check_alphabets
from paper_repro.solvers.diagonal_information import DivergenceOptimum, DivergenceProgram, least_sibson_information
from paper_repro.solvers.profile_information import SibsonProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["SibsonInformation"]

_BRACKET = 1e-10
_STEPS = 500
_LARGEST_ORDER = 100.0


class SibsonInformation(Notion):
    """Sibson mutual information of order alpha, worst case over the hull (Definition 19(6), Zhong and Bu 2022).

        I_alpha(P; Q) = alpha / (alpha - 1) * log sum_j ( sum_i P_i Q_ij^alpha )^(1 / alpha)

    It grows with alpha, from mutual information (alpha = 1, taken as the limit) to maximal leakage over the letters that occur
    (alpha infinite, taken as :class:`MaximalLeakage`). The optimum is a conic program with two power cones per letter
    (:mod:`paper_repro.solvers.diagonal_information`), certified by the duality of norms within 1e-6 nats.

    Parameters
    ----------
    alpha : float >= 1, infinity allowed
        Evaluated for any order; optimized for orders up to 100, or infinite.

    Examples
    --------
    >>> keep, evenly = [[0.75, 0.25], [0.25, 0.75]], SourceSet([0.5, 0.5])
    >>> round(math.exp(SibsonInformation(2).leakage(keep, evenly)), 9)
    1.25
    >>> [round(SibsonInformation(alpha).leakage(keep, evenly), 4) for alpha in (1, 1.001, 1000, math.inf)]
    [0.1308, 0.1309, 0.4052, 0.4055]
    """

    name = "Sibson information"
    gap_unit = "nats"
    tolerance = 1e-6

    def __init__(self, alpha: float) -> None:
        self.alpha = check_alpha(alpha, self.name)

    def __repr__(self) -> str:
        return f"SibsonInformation(alpha={self.alpha:g})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Largest information over the set in nats; an upper bound that is tight within 1e-10.

        Raises
        ------
        ValueError
            If no source set is given, or it is over another alphabet than the mechanism.
        """
        matrix = as_channel(mechanism)
        vertices = check_alphabets(matrix, source, self.name).vertices
        if limit := self._limit():
            return limit.leakage(matrix, source)
        return _worst_prior(matrix, vertices, self.alpha)[0]

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        if limit := self._limit():
            return limit.optimizer(source, costs)
        self._check_range()
        if costs is not None:
            return InformationOptimizer(self, source, costs, self.alpha)
        return _SibsonOptimizer(self, source, self.alpha)

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        if limit := self._limit():
            return limit.profile_program(values, records)
        return SibsonProfiles(values, records, self.alpha)

    def _check_range(self) -> None:
        if self.alpha > _LARGEST_ORDER:
            raise ValueError(
                f"orders alpha up to {_LARGEST_ORDER:g} can be optimized, got {self.alpha:g}: powers of probabilities would "
                "leave the range of numbers; use alpha = infinity, which is MaximalLeakage()"
            )

    def _limit(self) -> Notion | None:
        return {1.0: MutualInformation(), math.inf: MaximalLeakage()}.get(self.alpha)


class _SibsonOptimizer(Optimizer):
    def __init__(self, notion: Notion, source: SourceSet, order: float) -> None:
        super().__init__(notion, source)
        self._order, self._program = order, DivergenceProgram(source.vertices, order)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion <= self._program.unknown_mass:  # 0 if every letter counts
            return self._identity()
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal:
        everything = self._identity()
        if leakage >= self._worst(everything.mechanism)[0]:
            return everything
        found = self._propose(self._program.at_leakage(leakage))
        achieved, _ = self._worst(found.mechanism)
        matrix = found.mechanism
        if achieved > leakage:
            # Toward a constant answer: exp((alpha - 1) / alpha I) is convex in Q, and 1 there.
            rate = (self._order - 1) / self._order
            share = math.expm1(rate * leakage) / math.expm1(rate * achieved)
            matrix = share * matrix + (1 - share) * self._output(matrix)
        found = Proposal(matrix, found.weights, found.certificate)
        distortion = self.distortion(found.mechanism)
        if distortion >= self.perfect.distortion:
            return self._without_leakage()
        if self.gap(found, leakage, distortion) > SibsonInformation.tolerance / 10:
            # The program that minimizes leakage may have the better multipliers.
            other = self._at_distortion(distortion)
            found = Proposal(found.mechanism, other.weights, other.certificate)
        return found

    def _output(self, matrix: FloatArray) -> FloatArray:
        """The distribution that is best against the worst prior, to be published whatever the letter."""
        _, weights = self._worst(matrix)
        columns = (weights @ self.source.vertices @ matrix**self._order) ** (1 / self._order)
        return columns / columns.sum()

    def _worst(self, matrix: FloatArray) -> tuple[float, FloatArray]:
        return _worst_prior(matrix, self.source.vertices, self._order)

    def _identity(self) -> Proposal:
        matrix = np.eye(self.source.alphabet_size)
        return Proposal(matrix, self._worst(matrix)[1])

    def _propose(self, found: DivergenceOptimum) -> Proposal:
        return Proposal(found.matrix, found.weights, (found.multipliers,))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In nats: the leakage less the bound from the norms' duals at the distortion; without multipliers that bound is 0."""
        if not proposal.certificate and distortion > 0:
            return leakage
        # Where nothing may change, any price of a change is right.
        prices = (
            proposal.certificate[0] @ self.source.vertices
            if distortion > 0
            else np.full(self.source.alphabet_size, np.inf)
        )
        return leakage - least_sibson_information(self._order, self.prior(proposal), prices, distortion, leakage)


def _worst_prior(matrix: FloatArray, vertices: FloatArray, order: float) -> tuple[float, FloatArray]:
    """Largest Sibson information over the hull, from above, and the vertices' weights that come close to it.

    ``F(w) = sum_j (w . A_j)^(1 / order)``, with ``A_vj = sum_i P_v(i) Q_ij^order``, is concave in the weights w and homogeneous,
    so its gradient g bounds it: ``F <= (1 - 1 / order) F(w) + max_v g_v``. Newton steps follow the maximizers of
    ``F + barrier * sum log w`` to a vanishing barrier, in ``w_v`` times the step.
    """
    known = vertices.any(axis=0)
    peaks = matrix[known].max(axis=0)
    used = peaks > 0
    # Entries relative to their column's largest: powers of small numbers may vanish, that of the largest is 1.
    moments = vertices[:, known] @ (matrix[known][:, used] / peaks[used]) ** order
    peaks, exponent = peaks[used], 1 / order
    weights, barrier = np.full(len(vertices), 1 / len(vertices)), 1.0
    for _ in range(_STEPS):
        means = weights @ moments
        levels = peaks * means**exponent
        slopes = moments * (levels / means)
        gradient = exponent * slopes.sum(axis=1)
        value = float(levels.sum())
        upper = (1 - exponent) * value + float(gradient.max())
        lower_nats, upper_nats = (math.log(bound) / (1 - exponent) for bound in (value, upper))
        if upper_nats - lower_nats <= _BRACKET:
            return max(0.0, upper_nats), weights
        scaled = weights[:, np.newaxis] * moments
        curvature = exponent * (1 - exponent) * (scaled * (levels / means**2)) @ scaled.T + barrier * np.eye(
            len(weights)
        )
        ascent, drift = np.linalg.solve(curvature, np.column_stack([weights * gradient + barrier, weights])).T
        relative = ascent - (weights @ ascent) / (weights @ drift) * drift
        damping = min(1.0, 0.9 / max(1e-300, float(np.abs(relative).max())))
        weights = weights * (1 + damping * relative)
        weights /= weights.sum()
        if damping == 1.0:
            barrier = max(barrier / 5, _BRACKET * (1 - exponent) / (4 * len(weights)))
    raise SolverError(
        f"the worst prior was not found within {_STEPS} steps: the leakage is between {lower_nats!r} and {upper_nats!r} nats"
    )
