"""Renyi differential privacy: rows of neighbors are close in Renyi divergence of an order alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_alpha
from paper_repro.deprecated import made_by
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, ProgramOptimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.notions.optimizers import RandomizedResponseOptimizer
from paper_repro.notions.ratios import as_channel, check_adjacency, checked_channel, is_clique, neighbors
from paper_repro.solvers.channel_moment import (
    ChannelMomentProgram,
    least_renyi_distortion,
    least_renyi_divergence,
    renyi_divergences,
)
from paper_repro.solvers.diagonal_ratio import NEGLIGIBLE_DISTORTION
from paper_repro.solvers.profile_moment import MomentProfiles
from paper_repro.solvers.profile_ratio import RatioProfiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["RenyiDP"]

# Least leakages below are not worth a program: what is certified is more.
_NOTHING = 1e-11
# A share of a distortion that leakage is not worth a program for.
_FLAT = 2e-7
# A leakage that allows all that numbers can tell from no change.
_EVERYTHING = 700.0
# Entries of pairs of rows that are compared at a time.
_MOST_AT_ONCE = 1 << 22


@made_by("write RenyiDP(alpha), or RenyiDP(alpha, adjacency=...)")
@dataclass(frozen=True, repr=False)
class RenyiDP(Notion):
    """Renyi differential privacy of order alpha between neighbors (Definition 19(5), Zhong and Bu 2022).

        max over neighbors i, k of  log( sum_j Q_ij^alpha Q_kj^(1 - alpha) ) / (alpha - 1)

    It grows with alpha, from the Kullback-Leibler divergence (alpha = 1, taken as the limit) to differential privacy (alpha
    infinite, taken as :class:`DifferentialPrivacy`), and does not depend on the source set. For a source set that contains the
    uniform distribution randomized response is optimal, in closed form: averaging a mechanism over all relabelings of the letters
    keeps its distortion under the uniform prior and, since the moment is convex, does not raise the worst divergence, and the
    average is a randomized response. For other sets and for graphs the optimum is a convex program over the whole channel
    (:mod:`paper_repro.solvers.channel_moment`), certified by tangent planes within 1e-6, in practice within 1e-9; for up to 64
    letters.

    Parameters
    ----------
    alpha : float >= 1, infinity allowed
        Any order is evaluated and optimized.
    adjacency : Adjacency, optional
        Which letters are neighbors; all, if not given.

    Raises
    ------
    ValueError
        If alpha is below 1 or no number, or the adjacency is none; by ``optimizer``, if there are too many letters, or another
        number than the graph has vertices.

    Examples
    --------
    >>> keep = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(math.exp(RenyiDP(2).leakage(keep)), 9) == round((27 + 1) / 12, 9)
    True
    >>> [round(RenyiDP(alpha).leakage(keep), 4) for alpha in (1, 1.001, 1000, math.inf)]
    [0.5493, 0.5497, 1.0983, 1.0986]
    """

    name = "Renyi differential privacy"
    tolerance = 1e-6
    alpha: float
    adjacency: Adjacency | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_alpha(self.alpha, self.title))
        check_adjacency(self.adjacency)
        if math.isinf(self.alpha):
            for judged in ("tolerance", "jumps"):
                object.__setattr__(self, judged, getattr(DifferentialPrivacy, judged))

    def __repr__(self) -> str:
        graph = f", adjacency={self.adjacency!r}" if self.adjacency else ""
        return f"RenyiDP(alpha={self.alpha:g}{graph})"

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, exact up to rounding; ``source`` is not needed.

        Infinite if a row has something where a neighbor's has nothing.
        """
        if math.isinf(self.alpha):
            return DifferentialPrivacy(self.adjacency).leakage(mechanism)
        channel = checked_channel(mechanism)
        if isinstance(channel, Mechanism) and is_clique(self.adjacency, channel.alphabet_size):
            matrix = channel.representatives
            pairs = neighbors(None, len(matrix))
        else:
            matrix = as_channel(channel)
            pairs = neighbors(self.adjacency, len(matrix))
        if len(pairs) == 0:
            return 0.0
        used = matrix > 0
        given = used.astype(np.float32)  # how many outputs of a row another has
        if (given @ given.T < given.sum(axis=1, keepdims=True))[tuple(pairs.T)].any():
            return math.inf
        # An entry of 0 stands beside another 0: of such columns, nothing is left.
        logs = np.log(np.where(used, matrix, 1e-320 / matrix.shape[1]))
        size = max(1, _MOST_AT_ONCE // logs.shape[1])
        blocks = (pairs[start : start + size] for start in range(0, len(pairs), size))
        return float(max(renyi_divergences(self.alpha, logs, block).max() for block in blocks))

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
        if simple and source.contains_uniform:
            size = source.alphabet_size
            return RandomizedResponseOptimizer(
                self,
                source,
                lambda distortion: _response_leakage(distortion, size, self.alpha),
                lambda leakage: _response_distortion(leakage, size, self.alpha),
            )
        if simple:
            return _KnownLettersOptimizer(self, source)
        return _ChannelOptimizer(self, source, neighbors(self.adjacency, source.alphabet_size), costs)


class _ChannelOptimizer(ProgramOptimizer):
    def __init__(self, notion: RenyiDP, source: SourceSet, pairs: IntArray, costs: FloatArray | None = None) -> None:
        super().__init__(notion, source, costs)
        self._alpha, self._pairs = notion.alpha, pairs
        self._program = ChannelMomentProgram(source.vertices, self.distances, pairs, notion.alpha)

    def _at_distortion(self, distortion: float) -> Proposal:
        if distortion == 0:
            return Proposal(np.eye(self.source.alphabet_size), self.perfect.weights)
        little = self._little(distortion)
        if little is not None and self.leakage(little) <= _NOTHING:
            return Proposal(little, self.perfect.weights)
        return self._tidied(self._program.at_distortion(distortion), distortion, math.inf)

    def tolerance(self, figure: float, unit: str) -> float:
        return max(super().tolerance(figure, unit), NEGLIGIBLE_DISTORTION if unit == "distortion" else 0.0)

    def _at_leakage(self, leakage: float) -> Proposal:
        if leakage >= _EVERYTHING:
            if math.isinf(leakage):
                return self._at_distortion(0.0)
            leakage = _EVERYTHING
        if self.least_distortion(self._without_leakage(), leakage) >= self.perfect.distortion * (1 - _FLAT):
            return self._without_leakage()
        return self._tidied(self._program.at_leakage(leakage), math.inf, leakage)

    def _little(self, distortion: float) -> FloatArray | None:
        """The constant answer, mixed with the published letters as they are, to spend a distortion; None, if that is none."""
        published = self.perfect.letters > 1e-6
        letters = np.where(published, self.perfect.letters, 0.0)
        matrix = np.tile(letters / letters.sum(), (len(letters), 1))
        spent = self.distortion(matrix)
        rows = np.flatnonzero(published)
        mixed = matrix.copy()
        mixed[rows] = np.eye(len(matrix))[rows]
        share = (spent - distortion) / max(spent - self.distortion(mixed), 1e-300)
        if not 0 <= share < 0.01:
            return None
        return (1 - share) * matrix + share * mixed

    def _tidied(self, proposal: Proposal, distortion: float, leakage: float) -> Proposal:
        """Without columns of letters that are never published, if that spends no more."""
        matrix = proposal.mechanism
        published = matrix.max(axis=0) > 1e-9
        tidy = np.where(published, matrix, 0.0)
        tidy /= tidy.sum(axis=1, keepdims=True)
        if self.distortion(tidy) > min(distortion, self.distortion(matrix)) or self.leakage(tidy) > min(
            leakage, self.leakage(matrix)
        ):
            tidy = matrix
        return replace(proposal, mechanism=tidy)

    def _penalties(self, duals: FloatArray) -> FloatArray:
        return (duals @ self.source.vertices)[:, np.newaxis] * self.distances

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if not proposal.certificate:
            return math.inf if distortion == 0 and self.perfect.distortion > 0 else 0.0
        weights, duals, tangent = proposal.certificate
        penalties, allowance = self._penalties(duals), distortion * float(duals.sum())
        level = self.leakage(proposal.mechanism)
        return least_renyi_divergence(self._alpha, self._pairs, weights, tangent, penalties, allowance, level)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        """By the proposal's duals; without them, by Pinsker's inequality: rows of neighbors are within ``sqrt(2 leakage)``."""
        if not proposal.certificate:
            if math.isinf(leakage):
                return 0.0
            adjacency = getattr(self.notion, "adjacency", None)
            steps = 1 if adjacency is None else adjacency.diameter
            apart = steps * math.sqrt(leakage / 2) * float(self.distances.max())
            return max(0.0, self.perfect.distortion - apart)
        weights, duals, tangent = proposal.certificate
        penalties, total = self._penalties(duals), float(duals.sum())
        return least_renyi_distortion(self._alpha, self._pairs, weights, tangent, penalties, total, leakage)


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

    def tolerance(self, figure: float, unit: str) -> float:
        return self._inner.tolerance(figure, unit)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._inner.least_leakage(self._of_known(proposal), distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._inner.least_distortion(self._of_known(proposal), leakage)

    def _of_known(self, proposal: Proposal) -> Proposal:
        matrix = np.asarray(getattr(proposal.mechanism, "matrix", proposal.mechanism))
        return replace(proposal, mechanism=matrix[self._known][:, self._known])

    def _with_all_letters(self, proposal: Proposal) -> Proposal:
        rows = np.cumsum(self._known) - 1
        matrix = np.zeros((len(rows),) * 2)
        known = np.asarray(getattr(proposal.mechanism, "matrix", proposal.mechanism))
        matrix[:, self._known] = known[np.where(self._known, rows, 0)]
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
    rows = np.full((2, min(size, 3)), other)
    rows[[0, 1], [0, 1]] = kept
    if size > 2:
        rows[:, 2] += math.log(size - 2)
    return float(renyi_divergences(alpha, rows, np.array([[0, 1]]))[0])


def _response_distortion(leakage: float, size: int, alpha: float) -> float:
    """Least distortion of randomized response that leaks at most so many nats."""
    from scipy.optimize import brentq

    if math.isinf(leakage) or size == 1:
        return 0.0
    most = 1 - 1 / size
    # In the logarithm of the distortion, which may be very small.
    lowest = max(-leakage - 100.0, math.log(5e-324))
    if _response_leakage(5e-324, size, alpha) <= leakage:
        return 5e-324
    found = brentq(
        lambda log: _response_leakage(max(math.exp(log) * most, 5e-324), size, alpha) - leakage,
        lowest,
        0.0,
        xtol=1e-15,
        rtol=1e-15,
    )
    distortion = max(math.exp(found) * most, 5e-324)
    while _response_leakage(distortion, size, alpha) > leakage:
        distortion = max(distortion * (1 + 1e-15), math.nextafter(distortion, 1))
    return distortion
