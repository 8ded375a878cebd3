"""Mutual and Sibson information: how much the published letter tells of the true one, under the worst prior of the set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_alpha
from paper_repro.errors import SolverError
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.maximal_leakage import MaximalLeakage
from paper_repro.notions.optimizers import FLAT, LeakageOptimizer
from paper_repro.notions.ratios import as_channel, check_alphabets
from paper_repro.solvers.channel_information import ChannelInformationProgram, least_information
from paper_repro.solvers.diagonal_information import (
    DiagonalInformationProgram,
    least_mutual_information,
    least_sibson_information,
)
from paper_repro.solvers.profile_information import InformationProfiles, SibsonProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MutualInformation", "SibsonInformation"]

_BRACKET = 1e-10
_STEPS = 500
_LARGEST_ALPHA = 100.0


class _Information(Notion):
    """Sibson information of an order alpha, of which mutual information is order 1."""

    gap_unit = "nats"
    tolerance = 1e-6
    alpha: float

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Largest information over the set in nats; an upper bound that is tight within 1e-10.

        Raises
        ------
        ValueError
            If no source set is given, or it has another number of letters than the mechanism has rows.
        """
        matrix = as_channel(mechanism)
        return _worst_prior(matrix, check_alphabets(mechanism, source, self.name).vertices, self.alpha)[0]

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        if self.alpha == 1:
            return InformationProfiles(values, records)
        return SibsonProfiles(values, records, self.alpha)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        return _DiagonalOptimizer(self, source) if costs is None else _ChannelOptimizer(self, source, costs)


@dataclass(frozen=True, repr=False)
class MutualInformation(_Information):
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

    @property
    def alpha(self) -> float:  # type: ignore[override]
        """1, dimensionless: the limit of Sibson information."""
        return 1.0


@dataclass(frozen=True, repr=False)
class SibsonInformation(_Information):
    """Sibson mutual information of order alpha, worst case over the hull (Definition 19(6), Zhong and Bu 2022).

        I_alpha(P; Q) = alpha / (alpha - 1) * log sum_j ( sum_i P_i Q_ij^alpha )^(1 / alpha)

    It grows with alpha, from mutual information (alpha = 1, taken as the limit) to maximal leakage over the letters that occur
    (alpha infinite, taken as :class:`MaximalLeakage`). The optimum is a conic program with two power cones per letter
    (:mod:`paper_repro.solvers.diagonal_information`), certified by the duality of norms within 1e-6 nats.

    Parameters
    ----------
    alpha : float >= 1, infinity allowed
        Evaluated for any alpha; optimized for up to 100, or infinite.

    Raises
    ------
    ValueError
        If alpha is below 1 or no number; by ``optimizer``, if it is finite and above 100.

    Examples
    --------
    >>> keep, evenly = [[0.75, 0.25], [0.25, 0.75]], SourceSet([0.5, 0.5])
    >>> round(math.exp(SibsonInformation(2).leakage(keep, evenly)), 9)
    1.25
    >>> [round(SibsonInformation(alpha).leakage(keep, evenly), 4) for alpha in (1, 1.001, 1000, math.inf)]
    [0.1308, 0.1309, 0.4052, 0.4055]
    """

    alpha: float

    name = "Sibson information"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha, self.name))

    def __repr__(self) -> str:
        return f"SibsonInformation(alpha={self.alpha:g})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        if math.isinf(self.alpha):
            found = MaximalLeakage().leakage(mechanism)
            check_alphabets(mechanism, source, self.name)
            return found
        return super().leakage(mechanism, source)

    def profile_program(self, values: int, records: int) -> ProfileProgram:
        if math.isinf(self.alpha):
            return MaximalLeakage().profile_program(values, records)
        return super().profile_program(values, records)

    def optimizer(self, source: SourceSet, costs: FloatArray | None = None) -> Optimizer:
        if math.isinf(self.alpha):
            optimizer = MaximalLeakage().optimizer(source, costs)
            optimizer.notion = self  # judged by its own tolerance
            return optimizer
        if self.alpha > _LARGEST_ALPHA:
            raise ValueError(
                f"orders alpha up to {_LARGEST_ALPHA:g} can be optimized, got {self.alpha:g}: powers of probabilities would "
                "leave the range of numbers; use alpha = infinity, which is MaximalLeakage()"
            )
        return super().optimizer(source, costs)


class _InformationOptimizer(LeakageOptimizer):
    def __init__(self, notion: _Information, source: SourceSet, costs: FloatArray | None = None) -> None:
        super().__init__(notion, source, costs)
        self._alpha = notion.alpha

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        # The worst prior for the leakage and the one for the distortion differ.
        return self.prior(proposal) if self.source.vertex_count == 1 else None

    def _within(self, matrix: FloatArray, leakage: float) -> FloatArray:
        """Mixed with a constant answer: information, or above order 1 ``exp((alpha - 1) / alpha I)``, is convex in Q."""
        achieved, weights = _worst_prior(matrix, self.source.vertices, self._alpha)
        if achieved <= leakage:
            return matrix
        rate = (self._alpha - 1) / self._alpha
        share = math.expm1(rate * leakage) / math.expm1(rate * achieved) if rate > 0 else leakage / achieved
        # The distribution that is best against the worst prior.
        output = (weights @ self.source.vertices @ matrix**self._alpha) ** (1 / self._alpha)
        return share * matrix + (1 - share) * output / output.sum()


class _DiagonalOptimizer(_InformationOptimizer):
    def __init__(self, notion: _Information, source: SourceSet) -> None:
        super().__init__(notion, source)
        self.program = self._diagonal = DiagonalInformationProgram(source.vertices, self._alpha)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion > self._diagonal.unknown_mass:  # 0 if every letter counts
            return self._diagonal.at_distortion(distortion)
        everything = np.eye(self.source.alphabet_size)
        _, weights = _worst_prior(everything, self.source.vertices, self._alpha)
        # Dual variables that make the bound lose no more than the distortion is worth.
        slope = 0.0 if distortion == 0 else math.log(self.source.alphabet_size / distortion)
        return Proposal(everything, weights, (weights * slope,))

    def _bound(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        (duals,) = proposal.certificate
        # Where nothing may change, any penalty of a change is right.
        penalties = duals @ self.source.vertices if distortion > 0 else np.full(self.source.alphabet_size, np.inf)
        if self._alpha == 1:
            return least_mutual_information(self.prior(proposal), penalties, distortion)
        return least_sibson_information(self._alpha, self.prior(proposal), penalties, distortion, leakage)


class _ChannelOptimizer(_InformationOptimizer):
    flat = FLAT

    def __init__(self, notion: _Information, source: SourceSet, costs: FloatArray) -> None:
        super().__init__(notion, source, costs)
        self.program = ChannelInformationProgram(source.vertices, self.distances, self._alpha)

    def _at_distortion(self, distortion: float) -> Proposal:
        proposal = self.program.at_distortion(distortion)
        achieved = self.distortion(proposal.mechanism)
        if achieved <= distortion:
            return proposal
        # What the solver oversteps by rounding, the identity makes up for.
        share = distortion / achieved
        mixed = share * proposal.mechanism + (1 - share) * np.eye(self.source.alphabet_size)
        return replace(proposal, mechanism=mixed)

    def _bound(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        duals, rows = proposal.certificate
        allowance = distortion * float(duals.sum())
        return least_information(self._alpha, self.prior(proposal), self._penalties(duals), rows, allowance)


def _worst_prior(matrix: FloatArray, vertices: FloatArray, alpha: float) -> tuple[float, FloatArray]:
    """Largest information over the hull in nats, from above, and the vertices' weights that come within 1e-10 of it.

    Newton steps follow the maximizers of ``objective + barrier * sum log w`` to a vanishing barrier; in ``w_v`` times the step
    the system stays well conditioned, also where a weight goes to 0.
    """
    derivatives = _mutual_information(matrix, vertices) if alpha == 1 else _sibson_norms(matrix, vertices, alpha)
    least_barrier = _BRACKET * (1.0 if alpha == 1 else 1 - 1 / alpha) / (4 * len(vertices))
    weights, barrier = np.full(len(vertices), 1 / len(vertices)), 1.0
    for _ in range(_STEPS):
        lower, upper, gradient, hessian = derivatives(weights)
        if upper - lower <= _BRACKET:
            return max(0.0, upper), weights
        system = hessian + barrier * np.eye(len(weights))
        ascent, drift = np.linalg.solve(system, np.column_stack([weights * gradient + barrier, weights])).T
        relative = ascent - (weights @ ascent) / (weights @ drift) * drift
        damping = min(1.0, 0.9 / max(1e-300, float(np.abs(relative).max())))
        weights = weights * (1 + damping * relative)
        weights /= weights.sum()
        if damping == 1.0:
            barrier = max(barrier / 5, least_barrier)
    raise SolverError(
        f"the worst prior was not found within {_STEPS} steps: the leakage is between {lower!r} and {upper!r} nats"
    )


# At weights of the vertices: bounds of the largest information in nats, from below and above; the objective's gradient; and its
# Hessian, in relative changes of the weights and without its sign.
_Derivatives = Callable[[FloatArray], tuple[float, float, FloatArray, FloatArray]]


def _mutual_information(matrix: FloatArray, vertices: FloatArray) -> _Derivatives:
    """With q the output's distribution, ``g_v = sum_i P_v(i) KL(Q_i || q)`` is the gradient up to a constant.

    ``w . g`` is the information at w, which is concave in w, so that ``max g`` bounds it from above.
    """
    outputs = vertices @ matrix
    outputs = outputs[:, outputs.max(axis=0) > 0]
    negentropies = vertices @ np.where(matrix > 0, matrix * np.log(np.where(matrix > 0, matrix, 1.0)), 0.0).sum(axis=1)

    def derivatives(weights: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        output = weights @ outputs
        gradient = negentropies - outputs @ np.log(output)
        scaled = weights[:, np.newaxis] * outputs
        return float(weights @ gradient), float(gradient.max()), gradient, (scaled / output) @ scaled.T

    return derivatives


def _sibson_norms(matrix: FloatArray, vertices: FloatArray, alpha: float) -> _Derivatives:
    """``F(w) = sum_j (w . A_j)^(1 / alpha)``, with ``A_vj = sum_i P_v(i) Q_ij^alpha``, is concave and homogeneous in w.

    So its gradient g bounds it: ``F <= (1 - 1 / alpha) F(w) + max_v g_v``.
    """
    known = vertices.any(axis=0)
    peaks = matrix[known].max(axis=0)
    used = peaks > 0
    # Entries relative to their column's largest: powers of small numbers may vanish, that of the largest is 1.
    moments = vertices[:, known] @ (matrix[known][:, used] / peaks[used]) ** alpha
    peaks, exponent = peaks[used], 1 / alpha

    def derivatives(weights: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        means = weights @ moments
        levels = peaks * means**exponent
        gradient = exponent * (moments * (levels / means)).sum(axis=1)
        value = float(levels.sum())
        lower, upper = (
            math.log(bound) / (1 - exponent) for bound in (value, (1 - exponent) * value + float(gradient.max()))
        )
        scaled = weights[:, np.newaxis] * moments
        return lower, upper, gradient, exponent * (1 - exponent) * (scaled * (levels / means**2)) @ scaled.T

    return derivatives
