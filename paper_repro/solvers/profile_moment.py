"""The best symmetric mechanisms on databases by moments of ratios: Renyi differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from paper_repro.checks import check_alpha
from paper_repro.solvers import profiles
from paper_repro.solvers.profiles import ProductProfiles, find_root
from paper_repro.types import FloatArray

__all__ = ["MomentProfiles"]


@dataclass(frozen=True)
class MomentProfiles(ProductProfiles):
    """Renyi differential privacy of a finite order alpha, at least 1: the product; exact by "one record at a time".

    Raises ValueError if alpha is below 1 or infinite.

    >>> program = MomentProfiles(values=3, records=1, alpha=2.0)
    >>> round(program.least_leakage(0.3), 6), round(program.least_distortion(1.238029), 6)
    (1.238029, 0.3)
    """

    alpha: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha != 1:
            check_alpha(self.alpha, "Renyi differential privacy", limits=False)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.renyi_privacy(profile, self.values, self.alpha)

    def _loss(self, log_odds: float) -> float:
        if log_odds == math.inf:
            return math.inf
        tilt, ratio = (self.alpha - 1) * log_odds, math.exp(-log_odds)
        kept = 1 / (1 + (self.values - 1) * ratio)
        other = kept * ratio
        if self.alpha == 1:
            return kept * -math.expm1(-log_odds) * log_odds
        if tilt < 1:  # the sum minus 1, from positive terms alone
            moment = math.log1p(math.expm1(tilt) * other * (math.expm1(log_odds) - math.expm1(-tilt)))
        else:
            moment = tilt + math.log(kept + (self.values - 2) * other * math.exp(-tilt) + other * math.exp(-2 * tilt))
        return moment / (self.alpha - 1)

    def _odds_of_loss(self, leakage: float) -> float:
        if self.alpha == 1:  # log odds - loss <= m log odds exp(-log odds)
            return find_root(lambda log_odds: self._loss(log_odds) - leakage, leakage, leakage + self.values)
        # The most likely term alone: log odds - loss <= -log(1 - D/n) / (alpha - 1) <= log m / (alpha - 1).
        most = leakage + math.log(self.values) / (self.alpha - 1)
        return find_root(lambda log_odds: self._loss(log_odds) - leakage, leakage, most)
