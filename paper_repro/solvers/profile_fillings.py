r"""The best symmetric mechanisms on databases that are not products: shells filled from the true database outwards.

Notation as in :mod:`paper_repro.solvers.profiles`; why symmetric mechanisms suffice is said in
:mod:`paper_repro.solvers.profile_programs`.

**Maximal leakage and Sibson information of order a: Hoelder.** With ``b = a / (a-1)``, b = 1 for maximal leakage, and
the mean over a uniform database written E, for every c > D

    c - D  <=  sum_l N_l (c - l)_+ q_l,    so    I_a >= b log(c - D) - log E (c - l)_+^b,               (1)

and, solved for D, a bound on distortion at a leakage. Equality holds if q is proportional to ``(c - l)_+^(1/(a-1))``
and has distortion D: that is the optimum of order a. With b = 1 equality holds if q is constant on the shells below c
and 0 on those above: for maximal leakage the Hamming ball is filled from its center, with shell c partly full, and
the best c is one of 1 .. n. (At the other end, a = 1, ``c / b`` stays fixed, and q is a product.)

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
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.checks import check_delta
from paper_repro.solvers import profiles
from paper_repro.solvers.profile_programs import ProfileProgram, check_order, find_root, rounding
from paper_repro.solvers.profiles import log_mean_exp, log_sum_exp
from paper_repro.types import FloatArray

__all__ = ["MaximalLeakageProgram", "PointwiseProgram", "SibsonProgram"]

# Where shell K is about to be filled, its power is exp of this: nothing, as floats go, however many databases it holds.
_NOTHING = -1500.0


@dataclass(frozen=True)
class MaximalLeakageProgram(ProfileProgram):
    """Maximal leakage, and maximal information for the uniform prior: a Hamming ball filled from its center.

    >>> program = MaximalLeakageProgram(values=2, records=2)
    >>> np.exp(program.at_distortion(0.4))
    array([0.6, 0.2, 0. ])
    >>> round(program.least_leakage(0.4), 5), round(program.least_distortion(math.log(2.4)), 12)
    (0.87547, 0.4)
    """

    def leakage(self, profile: FloatArray) -> float:
        return profiles.maximal_leakage(profile, self.values)

    def _at_distortion(self, distortion: float) -> FloatArray:
        # Shell K is partly full if D is between the mean distances in the balls without and with it.
        moments = np.logaddexp.accumulate(self._uniform[1:] + np.log(self._shells[1:]))
        means = np.append(0.0, np.exp(moments - self._balls[1:]))
        last = min(int(np.searchsorted(means, distortion, side="right")), self.records)
        inner = last - float(means[last - 1])
        lift = math.log((last - distortion) / inner) - float(self._balls[last - 1])
        return self._filled(last, lift, (distortion - float(means[last - 1])) / inner)

    def _at_leakage(self, leakage: float) -> FloatArray:
        if leakage >= self.records * math.log(self.values):
            return self._identity()
        last = min(int(np.searchsorted(self._balls + leakage, 0.0, side="right")), self.records)
        return self._filled(last, leakage, -math.expm1(leakage + float(self._balls[last - 1])))

    def _least_leakage(self, distortion: float) -> float:
        reach = self._shells[1:]
        beyond = reach > distortion
        return float((np.log(reach[beyond] - distortion) - self._cones[beyond]).max())

    def _least_distortion(self, leakage: float) -> float:
        reach = self._shells[1:]
        return float((-reach * np.expm1(np.minimum(leakage + self._cones - np.log(reach), 0.0))).max())

    def _filled(self, last: int, lift: float, rest: float) -> FloatArray:
        """Shells before the last at ``exp(lift)`` times the uniform probability, and the rest of the mass on the last."""
        profile = np.full(self.records + 1, -np.inf)
        profile[:last] = lift
        if rest > 0:
            profile[last] = min(lift, math.log(rest) - float(self._uniform[last]))
        return profile - self.records * math.log(self.values)

    @cached_property
    def _balls(self) -> FloatArray:
        """Logarithm of the share of databases within distance 0 .. n."""
        return np.logaddexp.accumulate(self._uniform)

    @cached_property
    def _cones(self) -> FloatArray:
        """``log E (c - l)_+`` for c = 1 .. n: the sum of the shares of the balls below c."""
        return np.logaddexp.accumulate(self._balls[:-1])


@dataclass(frozen=True)
class PointwiseProgram(ProfileProgram):
    """Approximate differential privacy, pointwise definition, delta in [0, 1): the knapsack above.

    >>> program = PointwiseProgram(values=2, records=2, delta=0.1)
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
        last, rest, volumes, _ = self._fill(leakage)
        steps = np.full(self.records + 1, -np.inf)
        steps[:last] = self._log_delta
        if rest > 0:
            most = self._log_delta if last < self.records else math.inf
            steps[last] = min(most, math.log(rest) - float(volumes[last]))
        along = leakage * self._shells
        profile = np.logaddexp.accumulate((steps + along)[::-1])[::-1] - along
        if self.delta > 0:
            profile[:last] -= rounding(self.delta)
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
        last, rest, volumes, moments = self._fill(leakage)
        fixed = math.exp(self._log_delta + log_sum_exp(moments[:last])) if last > 1 and self.delta > 0 else 0.0
        return fixed + rest * math.exp(moments[last] - volumes[last])

    def _fill(self, leakage: float) -> tuple[int, float, FloatArray, FloatArray]:
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


@dataclass(frozen=True)
class SibsonProgram(ProfileProgram):
    """Sibson information of a finite order a above 1: ``q_l`` proportional to ``(c - l)_+^(1/(a-1))``.

    The optimum is one number, c > 1. As c grows beyond shell K, large orders fill it at once; so c is written as ``K +
    w`` with ``log w = (a - 1) depth`` while it passes shells 1 .. n, and as 1 / depth from n + 1 on.

    >>> program = SibsonProgram(values=2, records=2, order=2.0)
    >>> np.exp(program.at_distortion(0.6))
    array([0.45, 0.25, 0.05])
    >>> round(program.leakage(program.at_distortion(0.6)), 12) == round(program.least_leakage(0.6), 12)
    True
    """

    order: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_order(self.order)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.sibson_information(profile, self.values, self.order)

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
        heights, power = self._heights(last, depth), self.order / (self.order - 1)
        if last > self.records:
            return power * math.log1p(-distortion * depth) - log_mean_exp(self._uniform, power * heights)
        beyond = last - distortion + math.exp((self.order - 1) * depth)
        return power * math.log(beyond) - log_sum_exp(self._uniform + power * heights)

    def _least_distortion(self, leakage: float) -> float:
        if leakage >= self.records * math.log(self.values):
            return 0.0
        last, depth = self._with_leakage(leakage)
        heights, power = self._heights(last, depth), self.order / (self.order - 1)
        if last > self.records:
            mean = log_mean_exp(self._uniform, power * heights)
            return self.free_distortion if depth == 0 else -math.expm1((leakage + mean) / power) / depth
        reach = last + math.exp((self.order - 1) * depth)
        return -reach * math.expm1((leakage + log_sum_exp(self._uniform + power * heights)) / power - math.log(reach))

    def _heights(self, last: int, depth: float) -> FloatArray:
        """``log (c - l)_+`` for c in (last, last + 1]; less log c for ``c = 1 / depth`` beyond n + 1."""
        if last > self.records:
            return np.log1p(-depth * self._shells)
        heights = np.full(self.records + 1, -np.inf)
        heights[:last] = np.log(last - self._shells[:last] + math.exp((self.order - 1) * depth))
        heights[last] = (self.order - 1) * depth
        return heights

    def _lifts(self, last: int, depth: float) -> FloatArray:
        """``log(m^n q_l)``, which is accurate also where the profile is next to uniform."""
        powers = self._heights(last, depth) / (self.order - 1)
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
            return -log_mean_exp(self._uniform[filled] + lifts, (self.order - 1) * lifts) / (self.order - 1)

        return self._find(private, -leakage)

    def _find(self, measure: Callable[[int, float], float], target: float) -> tuple[int, float]:
        """Where a quantity that increases with c reaches its target."""
        last = 1 + bisect_left(range(1, self.records + 1), target, key=lambda shell: measure(shell, 0.0))
        low, high = (_NOTHING, 0.0) if last <= self.records else (0.0, 1 / (self.records + 1))
        return last, find_root(lambda depth: measure(last, depth) - target, low, high)
