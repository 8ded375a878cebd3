r"""The best symmetric mechanisms on databases by mass: maximal leakage, and maximal information for the uniform prior.

Notation, and why symmetric mechanisms suffice, as in :mod:`paper_repro.solvers.profiles`. Water-filling: the Hamming ball around
the true database is filled evenly from its center, with the last shell partly full. The bound is (1) of
:mod:`paper_repro.solvers.profile_information` with b = 1: for every c > D,

    c - D  <=  sum_l N_l (c - l)_+ q_l  <=  max_l q_l sum_l N_l (c - l)_+,

with equality if q is constant on the shells below c and 0 on those above; the best c is one of 1 .. n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.solvers import profiles
from paper_repro.solvers.profiles import ProfileProgram
from paper_repro.types import FloatArray

__all__ = ["MassProfiles"]


@dataclass(frozen=True)
class MassProfiles(ProfileProgram):
    """Maximal leakage, and maximal information for the uniform prior: a Hamming ball filled from its center.

    >>> program = MassProfiles(values=2, records=2)
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
