"""Mutual and Sibson information: how much the published letter tells of the true one, under the worst prior of the set."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper_repro.checks import check_alpha
from paper_repro.deprecated import made_by
from paper_repro.mechanisms import Mechanism, Spread, sums_of_others
from paper_repro.notions.base import Notion, Optimizer, ProgramOptimizer, Proposal
from paper_repro.notions.maximal_leakage import MaximalLeakage
from paper_repro.notions.ratios import as_channel, check_alphabets, checked_channel, spread_of
from paper_repro.solvers.channel_information import (
    ChannelInformationProgram,
    least_channel_distortion,
    least_channel_information,
)
from paper_repro.solvers.diagonal_information import DiagonalInformationProgram, least_distortion, least_information
from paper_repro.solvers.profile_information import InformationProfiles, SibsonProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["MutualInformation", "SibsonInformation"]

_BRACKET = 1e-12
_STEPS = 200
# Budgets below this part of the distortion without leakage, or of the largest leakage, are kept but not solved for.
_LEAST_BUDGET, _LEAST_LEAKAGE = 1e-13, 1e-13
# Orders below are evaluated by what moments are beyond those of order 1.
_NEAR = 1.1
# Distortions that differ by less are one, to the rounding of a leakage.
_RESOLUTION = 1e-12


class _Information(Notion):
    """Sibson information of an order alpha, of which mutual information is order 1."""

    tolerance = 1e-6
    alpha: float

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Largest information over the set in nats; an upper bound that is tight within 1e-10.

        Raises
        ------
        ValueError
            If no source set is given, or it has another number of letters than the mechanism has rows.
        """
        channel = checked_channel(mechanism)
        return _worst_prior(channel, check_alphabets(mechanism, source, self.title).vertices, self.alpha)[0]

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
    not at a vertex. The optimum is in closed form for one prior, and a convex program with two unknowns a letter for sets (see
    :mod:`paper_repro.solvers.diagonal_information`), certified by a Lagrangian lower bound within 1e-6, in practice within 1e-9.

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


@made_by("write SibsonInformation(alpha)")
@dataclass(frozen=True, repr=False)
class SibsonInformation(_Information):
    """Sibson mutual information of order alpha, worst case over the hull (Definition 19(6), Zhong and Bu 2022).

        I_alpha(P; Q) = alpha / (alpha - 1) * log sum_j ( sum_i P_i Q_ij^alpha )^(1 / alpha)

    It grows with alpha, from mutual information (alpha = 1, taken as the limit) to maximal leakage over the letters that occur
    (alpha infinite, taken as :class:`MaximalLeakage`). The optimum is a convex program with two unknowns a letter
    (:mod:`paper_repro.solvers.diagonal_information`), certified by the duality of norms within 1e-6 nats, in practice 1e-8.

    Parameters
    ----------
    alpha : float >= 1, infinity allowed

    Raises
    ------
    ValueError
        If alpha is below 1 or no number.

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
        object.__setattr__(self, "alpha", check_alpha(self.alpha, self.title))

    def __repr__(self) -> str:
        return f"SibsonInformation(alpha={self.alpha:g})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        if math.isinf(self.alpha):
            found = MaximalLeakage().leakage(mechanism)
            check_alphabets(mechanism, source, self.title)
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
        return super().optimizer(source, costs)


class _InformationOptimizer(ProgramOptimizer):
    _program: DiagonalInformationProgram | ChannelInformationProgram

    def __init__(self, notion: _Information, source: SourceSet, costs: FloatArray | None = None) -> None:
        super().__init__(notion, source, costs)
        self._alpha = notion.alpha

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        # The worst prior for the leakage and the one for the distortion differ.
        return self.prior(proposal) if self.source.vertex_count == 1 else None

    def tolerance(self, figure: float, unit: str) -> float:
        return super().tolerance(figure, unit) + (_RESOLUTION if unit == "distortion" else 0.0)

    @cached_property
    def _most(self) -> float:
        """What leaks where every letter is published as it is."""
        return _worst_of_identity(self.source.vertices, self._alpha)[0]

    def _everything(self) -> Proposal:
        """Every letter as it is, with prices that no change is worth."""
        size = self.source.alphabet_size
        _, weights = _worst_of_identity(self.source.vertices, self._alpha)
        prior = weights @ self.source.vertices
        ratios = -np.log(np.where(prior > 0, prior, 1.0)) / self._alpha
        steep = (
            800.0 if self._alpha == 1 else self._alpha / (self._alpha - 1) * math.exp((self._alpha - 1) * ratios.max())
        )
        cheapest = 1.0 if self.costs is None else float(self.costs[self.costs > 0].min(initial=1.0))
        return Proposal(Mechanism.from_distortions(np.zeros(size)), weights, (weights * steep / cheapest, ratios))

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0:
            return self._everything()
        return self._program.at_distortion(distortion, _LEAST_BUDGET * self.perfect.distortion)

    def _at_leakage(self, leakage: float) -> Proposal:
        if leakage >= self._most:
            return self._everything()
        constant = self._without_leakage()
        if leakage < _LEAST_LEAKAGE * self._most:
            # Prices so small that the bound is off by no more than their square, and rounding.
            prices = constant.weights * max(math.sqrt(leakage), 1e-8)
            return replace(constant, certificate=(prices, np.zeros(self.source.alphabet_size)))
        proposal = self._program.at_leakage(leakage)
        if self.distortion(proposal.mechanism) >= self.perfect.distortion:
            return replace(proposal, mechanism=constant.mechanism)
        return proposal

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._bound_on_information(proposal, distortion) if proposal.certificate else 0.0

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if proposal.certificate:
            return self._bound_on_distortion(proposal, leakage)
        if leakage > 0:
            return 0.0
        prior = self.prior(proposal)
        return 1 - float(prior.max()) if self.costs is None else float((prior @ self.costs).min())

    @abstractmethod
    def _bound_on_information(self, proposal: Proposal, distortion: float) -> float:
        """Least leakage in nats at a distortion, by the proposal's dual variables."""

    @abstractmethod
    def _bound_on_distortion(self, proposal: Proposal, leakage: float) -> float:
        """Least distortion at a leakage, by the proposal's dual variables."""


class _DiagonalOptimizer(_InformationOptimizer):
    def __init__(self, notion: _Information, source: SourceSet) -> None:
        super().__init__(notion, source)
        self._program = DiagonalInformationProgram(source.vertices, self._alpha)

    def _bound_on_information(self, proposal: Proposal, distortion: float) -> float:
        prices, ratios = proposal.certificate
        penalties, allowance = prices @ self.source.vertices, distortion * float(prices.sum())
        return least_information(self._alpha, self.prior(proposal), penalties, ratios, allowance)

    def _bound_on_distortion(self, proposal: Proposal, leakage: float) -> float:
        prices, ratios = proposal.certificate
        penalties = prices @ self.source.vertices
        return least_distortion(self._alpha, self.prior(proposal), penalties, ratios, float(prices.sum()), leakage)


class _ChannelOptimizer(_InformationOptimizer):
    def __init__(self, notion: _Information, source: SourceSet, costs: FloatArray) -> None:
        super().__init__(notion, source, costs)
        self._program = ChannelInformationProgram(source.vertices, self.distances, self._alpha)

    def _everything(self) -> Proposal:
        if (self.distances + np.eye(self.source.alphabet_size) > 0).all():
            return super()._everything()
        # Some letters may be published in place of others at no cost.
        return self._program.at_distortion(0.0, _LEAST_BUDGET * self.perfect.distortion)

    @cached_property
    def _most(self) -> float:
        return self.leakage(self._everything().mechanism)

    def _penalties(self, prices: FloatArray) -> FloatArray:
        """``sum_v y_v P_v(i) d_ij``, what the Lagrangian adds for publishing j in place of i."""
        return (prices @ self.source.vertices)[:, np.newaxis] * self.distances

    def _bound_on_information(self, proposal: Proposal, distortion: float) -> float:
        prices, ratios = proposal.certificate
        return least_channel_information(
            self._alpha, self.prior(proposal), self._penalties(prices), ratios, distortion * float(prices.sum())
        )

    def _bound_on_distortion(self, proposal: Proposal, leakage: float) -> float:
        prices, ratios = proposal.certificate
        return least_channel_distortion(
            self._alpha, self.prior(proposal), self._penalties(prices), ratios, float(prices.sum()), leakage
        )


def _worst_of_identity(vertices: FloatArray, alpha: float) -> tuple[float, FloatArray]:
    return _worst_prior(Mechanism.from_distortions(np.zeros(vertices.shape[1])), vertices, alpha)


def _worst_prior(channel: Mechanism | FloatArray, vertices: FloatArray, alpha: float) -> tuple[float, FloatArray]:
    """Largest information over the hull in nats, from above, and weights of the vertices that come next to it.

    Newton steps follow the maximizers of ``objective + barrier * sum log w`` to a vanishing barrier; in ``w_v`` times the step
    the system stays well conditioned, also where a weight goes to 0. The bound from above holds at any weights.
    """
    spread = spread_of(channel)
    if alpha == 1:
        parts = _rows(as_channel(channel), vertices) if spread is None else _rows_of_spread(spread, vertices)
        derivatives = _mutual_information(*parts)
    elif alpha < _NEAR:
        rows = (
            _rises(as_channel(channel), vertices, alpha)
            if spread is None
            else _rises_of_spread(spread, vertices, alpha)
        )
        derivatives = _sibson_rises(*rows, alpha)
    else:
        known: NDArray[np.bool_] = np.asarray(vertices.any(axis=0))
        if spread is None:
            parts = _columns(as_channel(channel)[known], vertices[:, known], alpha)
        else:
            parts = _columns_of_spread(spread, known, vertices, alpha)
        derivatives = _sibson_norms(*parts, alpha)
    share = 1.0 if alpha == 1 else (alpha - 1) / alpha
    least_barrier = _BRACKET * share / (4 * len(vertices))
    weights, barrier, best = np.full(len(vertices), 1 / len(vertices)), 1.0, (math.inf, vertices[:, 0])
    for _ in range(_STEPS):
        lower, upper, gradient, hessian = derivatives(weights)
        if upper < best[0]:
            best = upper, weights
        if upper - lower <= _BRACKET:
            break
        system = hessian + barrier * np.eye(len(weights))
        ascent, drift = np.linalg.solve(system, np.column_stack([weights * gradient + barrier, weights])).T
        relative = ascent - (weights @ ascent) / (weights @ drift) * drift
        damping = min(1.0, 0.9 / max(1e-300, float(np.abs(relative).max())))
        weights = weights * (1 + damping * relative)
        weights /= weights.sum()
        if damping == 1.0:
            barrier = max(barrier / 5, least_barrier)
    return max(0.0, best[0]), best[1]


# What the two objectives are made of, from a matrix, or in O(M V) operations from the numbers of a spread.


def _rows(matrix: FloatArray, vertices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Output distributions of the vertices, shape (V, outputs), and their means of ``sum_j Q_ij log Q_ij``, shape (V,)."""
    return vertices @ matrix, vertices @ _negentropy(matrix).sum(axis=1)


def _rows_of_spread(spread: Spread, vertices: FloatArray) -> tuple[FloatArray, FloatArray]:
    answers, shares = spread.answers, spread.shares
    given = vertices * shares
    outputs = vertices * spread.kept + answers * np.maximum(given.sum(axis=1, keepdims=True) - given, 0.0)
    terms = _negentropy(answers)
    others = terms.sum() - terms + np.log(np.where(shares > 0, shares, 1.0)) * sums_of_others(answers)
    return outputs, vertices @ (_negentropy(spread.kept) + shares * others)


def _negentropy(shares: FloatArray) -> FloatArray:
    return shares * np.log(np.where(shares > 0, shares, 1.0))


def _columns(matrix: FloatArray, vertices: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Moments ``sum_i P_v(i) Q_ij^alpha`` relative to a column's largest entry, shape (V, outputs), and these, (outputs,).

    Powers of small numbers may vanish, that of the largest is 1.
    """
    peaks = matrix.max(axis=0)
    used = peaks > 0
    return vertices @ (matrix[:, used] / peaks[used]) ** alpha, peaks[used]


def _columns_of_spread(
    spread: Spread, known: NDArray[np.bool_], vertices: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    kept, answers, shares = np.where(known, spread.kept, 0.0), spread.answers, np.where(known, spread.shares, 0.0)
    largest = float(shares.max()) or 1.0
    peaks = np.maximum(kept, answers * largest)  # or a little more than the largest entry
    used = peaks > 0
    powers = vertices * (shares / largest) ** alpha
    others = np.maximum(powers.sum(axis=1, keepdims=True) - powers, 0.0)[:, used]
    own, rest = (kept[used] / peaks[used]) ** alpha, (answers[used] * largest / peaks[used]) ** alpha
    return vertices[:, used] * own + rest * others, peaks[used]


def _rises(matrix: FloatArray, vertices: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Output distributions of the vertices, and by how much ``sum_i P_v(i) Q_ij^alpha`` is above: both of shape (V, outputs)."""
    return vertices @ matrix, vertices @ (matrix * _powered(matrix, alpha))


def _rises_of_spread(spread: Spread, vertices: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    answers, shares = spread.answers, spread.shares
    of_answers, of_shares = _powered(answers, alpha), _powered(shares, alpha)

    def others(given: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(np.abs(given.sum(axis=1, keepdims=True) - given), 0.0))

    given = others(vertices * shares)
    raised = -others(-vertices * shares * of_shares)
    outputs = vertices * spread.kept + answers * given
    rises = vertices * spread.kept * _powered(spread.kept, alpha)
    return outputs, rises + answers * (given * of_answers + raised * (1 + of_answers))


def _powered(numbers: FloatArray, alpha: float) -> FloatArray:
    """``x^(alpha - 1) - 1``."""
    return np.expm1((alpha - 1) * np.log(np.where(numbers > 0, numbers, 1.0)))


# At weights of the vertices: bounds of the largest information in nats, from below and above; the objective's gradient; and its
# Hessian, in relative changes of the weights and without its sign.
_Derivatives = Callable[[FloatArray], tuple[float, float, FloatArray, FloatArray]]


def _mutual_information(outputs: FloatArray, negentropies: FloatArray) -> _Derivatives:
    """With q the output's distribution, ``g_v = sum_i P_v(i) KL(Q_i || q)`` is the gradient up to a constant.

    ``w . g`` is the information at w, which is concave in w, so that ``max g`` bounds it from above.
    """
    outputs = outputs[:, outputs.max(axis=0) > 0]

    def derivatives(weights: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        output = weights @ outputs
        gradient = negentropies - outputs @ np.log(output)
        scaled = weights[:, np.newaxis] * outputs
        return float(weights @ gradient), float(gradient.max()), gradient, (scaled / output) @ scaled.T

    return derivatives


def _sibson_norms(moments: FloatArray, peaks: FloatArray, alpha: float) -> _Derivatives:
    """``F(w) = sum_j (w . A_j)^(1 / alpha)``, with ``A_vj = sum_i P_v(i) Q_ij^alpha``, is concave and homogeneous in w.

    So its gradient g bounds it: ``F <= (1 - 1 / alpha) F(w) + max_v g_v``.
    """
    exponent = 1 / alpha

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


def _sibson_rises(outputs: FloatArray, rises: FloatArray, alpha: float) -> _Derivatives:
    """The same near order 1, where F is next to 1: from what is beyond, relative to which nothing cancels."""
    used = outputs.max(axis=0) > 0
    outputs, rises, exponent, share = outputs[:, used], rises[:, used], 1 / alpha, (alpha - 1) / alpha

    def derivatives(weights: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        output = weights @ outputs
        logs = np.log1p(weights @ rises / output)  # of what the moment is to the output's probability
        beyond = exponent * logs - share * np.log(output)
        value = float(output @ np.expm1(beyond))
        moments = outputs + rises
        gradient = exponent * (rises.sum(axis=1) + moments @ np.expm1(beyond - logs))  # beyond 1 / alpha
        lower, upper = (math.log1p(bound) / share for bound in (value, share * value + float(gradient.max())))
        scaled = weights[:, np.newaxis] * moments
        curvature = np.exp(beyond - 2 * logs) / output
        return lower, upper, gradient, exponent * share * (scaled * curvature) @ scaled.T

    return derivatives
