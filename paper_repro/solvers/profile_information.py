r"""The best symmetric mechanisms on databases by information: mutual information and Sibson information.

Notation, and why symmetric mechanisms suffice, as in :mod:`paper_repro.solvers.profiles`. For mutual information the product of
randomized responses is best. For Sibson information of order a, Hoelder: with ``b = a / (a-1)`` and the mean over a
uniform database written E, for every c > D

    c - D  <=  sum_l N_l (c - l)_+ q_l,    so    I_a >= b log(c - D) - log E (c - l)_+^b,               (1)

and, solved for D, a bound on distortion at a leakage. Equality holds if q is proportional to ``(c - l)_+^(1/(a-1))``
and has distortion D: that is the optimum of order a. (At the one end, a infinite and b = 1, it is that of maximal leakage; at
the other, a = 1, ``c / b`` stays fixed, and q is a product.)
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paper_repro.checks import check_alpha
from paper_repro.solvers import profiles
from paper_repro.solvers.profiles import ProductProfiles, ProfileProgram, find_root, log_mean_exp, log_sum_exp
from paper_repro.types import FloatArray

__all__ = ["InformationProfiles", "SibsonProfiles"]

# Leakage per record of a product beyond which its mutual information is n log m, as floats go.
_BEYOND = 800.0
# Where shell K is about to be filled, its power is exp of this: nothing, as floats go, however many databases it holds.
_NOTHING = -1500.0


@dataclass(frozen=True)
class InformationProfiles(ProductProfiles):
    """Mutual information for the uniform prior: the product; exact by "one record at a time".

    >>> program = InformationProfiles(values=2, records=3)
    >>> round(program.least_leakage(0.3), 6), round(program.least_distortion(1.104191), 6)
    (1.104192, 0.3)
    """

    def leakage(self, profile: FloatArray) -> float:
        return profiles.mutual_information(profile, self.values)

    def _loss(self, log_odds: float) -> float:
        if log_odds >= _BEYOND:
            return self.records * math.log(self.values)
        # Logarithms of the probabilities over the uniform one, m (1 - f) and m f / (m - 1).
        lift = math.log(self.values) - math.log1p((self.values - 1) * math.exp(-log_odds))
        changed = self._product_distortion(log_odds) / self.records
        return self.records * (lift - changed * log_odds)

    def _odds_of_loss(self, leakage: float) -> float:
        if leakage >= self.records * math.log(self.values):
            return math.inf
        return find_root(lambda log_odds: self._loss(log_odds) - leakage, 0.0, _BEYOND)


@dataclass(frozen=True)
class SibsonProfiles(ProfileProgram):
    """Sibson information of a finite order alpha above 1: ``q_l`` proportional to ``(c - l)_+^(1/(a-1))``.

    The optimum is one number, c > 1. As c grows beyond shell K, large orders fill it at once; so c is written as ``K +
    w`` with ``log w = (a - 1) depth`` while it passes shells 1 .. n, and as 1 / depth from n + 1 on.

    Raises ValueError if alpha is not above 1, or infinite.

    >>> program = SibsonProfiles(values=2, records=2, alpha=2.0)
    >>> np.exp(program.at_distortion(0.6))
    array([0.45, 0.25, 0.05])
    >>> round(program.leakage(program.at_distortion(0.6)), 12) == round(program.least_leakage(0.6), 12)
    True
    """

    alpha: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha(self.alpha, "Sibson information", limits=False)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.sibson_information(profile, self.values, self.alpha)

    def _at_distortion(self, distortion: float) -> FloatArray:
        return self._profile(*self._with_distortion(distortion))

    def _at_leakage(self, leakage: float) -> FloatArray:
        if leakage >= self.records * math.log(self.values):
            return self._identity()
        return self._profile(*self._with_leakage(leakage))

    def _least_leakage(self, distortion: float) -> float:
        if distortion == 0:
            return self.records * math.log(self.values)
        last, depth = self._with_distortion(distortion)
        heights, power = self._heights(last, depth), self.alpha / (self.alpha - 1)
        if last > self.records:
            return power * math.log1p(-distortion * depth) - log_mean_exp(self._uniform, power * heights)
        beyond = last - distortion + math.exp((self.alpha - 1) * depth)
        return power * math.log(beyond) - log_sum_exp(self._uniform + power * heights)

    def _least_distortion(self, leakage: float) -> float:
        if leakage >= self.records * math.log(self.values):
            return 0.0
        last, depth = self._with_leakage(leakage)
        heights, power = self._heights(last, depth), self.alpha / (self.alpha - 1)
        if last > self.records:
            mean = log_mean_exp(self._uniform, power * heights)
            return self.distortion_without_leakage if depth == 0 else -math.expm1((leakage + mean) / power) / depth
        reach = last + math.exp((self.alpha - 1) * depth)
        return -reach * math.expm1((leakage + log_sum_exp(self._uniform + power * heights)) / power - math.log(reach))

    def _heights(self, last: int, depth: float) -> FloatArray:
        """``log (c - l)_+`` for c in (last, last + 1]; less log c for ``c = 1 / depth`` beyond n + 1."""
        if last > self.records:
            return np.log1p(-depth * self._shells)
        heights = np.full(self.records + 1, -np.inf)
        heights[:last] = np.log(last - self._shells[:last] + math.exp((self.alpha - 1) * depth))
        heights[last] = (self.alpha - 1) * depth
        return heights

    def _lifts(self, last: int, depth: float) -> FloatArray:
        """``log(m^n q_l)``, which is accurate also where the profile is next to uniform."""
        powers = self._heights(last, depth) / (self.alpha - 1)
        if last > self.records:
            return powers - log_mean_exp(self._uniform, powers)
        return powers - log_sum_exp(self._uniform + powers)

    def _profile(self, last: int, depth: float) -> FloatArray:
        return self._lifts(last, depth) - self.records * math.log(self.values)

    def _with_distortion(self, distortion: float) -> tuple[int, float]:
        return self._find(lambda *place: float(self._shells @ np.exp(self._uniform + self._lifts(*place))), distortion)

    def _with_leakage(self, leakage: float) -> tuple[int, float]:
        def private(last: int, depth: float) -> float:
            lifts = self._lifts(last, depth)
            filled = lifts > -np.inf
            lifts = lifts[filled]
            return -log_mean_exp(self._uniform[filled] + lifts, (self.alpha - 1) * lifts) / (self.alpha - 1)

        return self._find(private, -leakage)

    def _find(self, measure: Callable[[int, float], float], target: float) -> tuple[int, float]:
        """Where a quantity that increases with c reaches its target."""
        last = 1 + bisect_left(range(1, self.records + 1), target, key=lambda shell: measure(shell, 0.0))
        low, high = (_NOTHING, 0.0) if last <= self.records else (0.0, 1 / (self.records + 1))
        return last, find_root(lambda depth: measure(last, depth) - target, low, high)
