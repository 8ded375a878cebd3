r"""The best symmetric mechanisms on databases by ratios: differential privacy and both definitions of its approximate version.

Notation, and why symmetric mechanisms suffice, as in :mod:`paper_repro.solvers.profiles`.

**Pointwise approximate differential privacy: a knapsack.** Let t >= 1, ``e_l = q_l - t q_{l+1} <= delta`` for l < n
and ``e_n = q_n``. Then ``q_l = sum_{k >= l} t^(k-l) e_k``, the mass is ``sum_k e_k V_k`` and the distortion ``sum_k
e_k W_k``, with

    V_k = sum_{l <= k} N_l t^(k-l),    W_k = sum_{l <= k} l N_l t^(k-l),

and ``rho_k = W_k / V_k``, a mean of l over more and more shells, increases in k. Fill ``e_0 = e_1 = ... = delta`` as
long as the mass allows, give the rest to ``e_K``, and nothing beyond. Then q decreases in l, so that the reverse
constraints ``q_{l+1} <= t q_l + delta`` hold by themselves. That negative ``e_k`` (with q >= 0) do not help is shown
by multipliers ``mu_l = (rho_K V_l - W_l)_+`` of ``q_l - t q_{l+1} <= delta`` and rho_K of the mass: ``mu_l - t
mu_{l-1} >= (rho_K - l) N_l`` for every l (with ``mu_n = 0``). Summed with weights q_l, for any K,

    D >= rho_K - delta sum_{l < K} (rho_K V_l - W_l),                                                   (2)

with equality at the K of the filling. If ``delta sum_{l < n} V_l <= 1``, then K = n and ``t = (m-1)(n (1 - delta
m^(n-1)) - D) / D``: all constraints are tight, and summing them with weights ``(l + 1) N_{l+1}`` gives this bound in
general (the lower end of Theorem 7(2), Zhong and Bu 2022). The leakage at a given distortion is where (2) meets it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.checks import check_delta
from paper_repro.solvers import profiles
from paper_repro.solvers.profiles import ProfileProgram, find_root, log_sum_exp, rounding_margin
from paper_repro.types import FloatArray

__all__ = ["PointwiseRatioProfiles", "RatioProfiles"]


@dataclass(frozen=True)
class RatioProfiles(ProfileProgram):
    """Differential privacy, or its approximate version by the standard definition; exact by "one record at a time".

    The database itself with probability delta, else the product for ``D / (1 - delta)``; 0 for differential privacy. Raises
    ValueError if delta is not in [0, 1).

    >>> program = RatioProfiles(values=2, records=2, delta=0.1)
    >>> np.exp(program.at_distortion(0.36))
    array([0.676, 0.144, 0.036])
    >>> round(program.least_leakage(0.36), 6) == round(math.log(4), 6)
    True
    """

    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.approximate_privacy(profile, self.values, self.delta)

    def _at_distortion(self, distortion: float) -> FloatArray:
        return self._at_leakage(self._least_leakage(distortion))

    def _at_leakage(self, leakage: float) -> FloatArray:
        profile = math.log1p(-self.delta) + self._product(leakage)
        if self.delta > 0:
            profile[0] = np.logaddexp(math.log(self.delta), profile[0]) - rounding_margin(self.delta)
        return profile

    def _least_leakage(self, distortion: float) -> float:
        return self._log_odds(min(distortion / (1 - self.delta), self.distortion_without_leakage))

    def _least_distortion(self, leakage: float) -> float:
        return (1 - self.delta) * self._product_distortion(leakage)


@dataclass(frozen=True)
class PointwiseRatioProfiles(ProfileProgram):
    """Approximate differential privacy, pointwise definition: the knapsack above. Raises ValueError if delta is not in [0, 1).

    >>> program = PointwiseRatioProfiles(values=2, records=2, delta=0.1)
    >>> np.exp(program.at_distortion(0.4))
    array([0.625, 0.175, 0.025])
    >>> round(program.least_leakage(0.4), 6), round(math.log((2 * (1 - 0.1 * 2) - 0.4) / 0.4), 6)
    (1.098612, 1.098612)
    """

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.pointwise_privacy(profile, self.values, self.delta)

    def _at_distortion(self, distortion: float) -> FloatArray:
        return self._at_leakage(self._least_leakage(distortion))

    def _at_leakage(self, leakage: float) -> FloatArray:
        last, rest, volumes, _ = self._filled_to(leakage)
        steps = np.full(self.records + 1, -np.inf)
        steps[:last] = self._log_delta
        if rest > 0:
            most = self._log_delta if last < self.records else math.inf
            steps[last] = min(most, math.log(rest) - float(volumes[last]))
        along = leakage * self._shells
        profile = np.logaddexp.accumulate((steps + along)[::-1])[::-1] - along
        if self.delta > 0:
            profile[:last] -= rounding_margin(self.delta)
        return profile

    def _least_leakage(self, distortion: float) -> float:
        if distortion == 0:
            return math.inf
        if distortion >= self._least_distortion(0.0):
            return 0.0
        # Delta = 0 leaks more; the added nat keeps rounding from hiding the change of sign.
        most = self._log_odds(distortion) + 1
        return find_root(lambda leakage: self._least_distortion(leakage) - distortion, 0.0, most)

    def _least_distortion(self, leakage: float) -> float:
        last, rest, volumes, moments = self._filled_to(leakage)
        fixed = math.exp(self._log_delta + log_sum_exp(moments[:last])) if last > 1 and self.delta > 0 else 0.0
        return fixed + rest * math.exp(moments[last] - volumes[last])

    def _filled_to(self, leakage: float) -> tuple[int, float, FloatArray, FloatArray]:
        """K, the mass that is left for ``e_K``, and the logarithms of all ``V_k`` and ``W_k``."""
        along = leakage * self._shells
        volumes = np.logaddexp.accumulate(self._sizes - along) + along
        moments = np.append(-np.inf, np.logaddexp.accumulate(self._sizes[1:] + np.log(self._shells[1:]) - along[1:]))
        used = self._log_delta + np.logaddexp.accumulate(volumes[:-1])
        last = int(np.searchsorted(used, 0.0, side="right"))
        rest = -math.expm1(float(used[last - 1]))
        return last, rest, volumes, moments + along

    @cached_property
    def _log_delta(self) -> float:
        return math.log(self.delta) if self.delta > 0 else -math.inf
