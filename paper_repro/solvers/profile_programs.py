r"""The best symmetric mechanism on databases, for each notion of privacy: least leakage, least distortion, and proof.

Notation as in :mod:`paper_repro.solvers.profiles`: n records of m values, profile ``q_l``, ``N_l`` databases at
distance l, distortion D. All notions are quasi-convex in the mechanism, so symmetric mechanisms are as good as any
whenever the hull of the source set holds the uniform prior, and either the notion does not look at the prior, or the
uniform prior is the worst for symmetric mechanisms: mutual and Sibson information over the hull. For maximal
information the prior has to be the uniform one. From ``D = n (m - 1) / m`` on the uniform output leaks nothing, by
any notion.

**One record at a time.** For any mechanism Q of distortion E under the uniform prior, let R be the channel of one
record that is the average over records i, over the other records of a uniform x, and over relabelings, of ``x_i ->
Y_i``. R is randomized response with probability of change E / n. Publishing only ``Y_i`` is post-processing, and
leaks no more by differential privacy, its approximate version (standard definition) and Renyi differential privacy;
neither does the average, as ratios are quasi-convex, and ``sum_y max(0, Q[x,y] - t Q[x',y])`` and ``sum_y Q[x,y]^a
Q[x',y]^(1-a)`` are jointly convex in the two rows. For mutual information, ``I(X; Y) >= sum_i I(X_i; Y_i) >= n I(R)``,
as records are independent and I is convex. So Q leaks at least what R leaks (n times that, for mutual information),
with ``f = E / n`` and ``A = (m - 1)(1 - f) / f``:

    differential privacy   log A
    standard approximate   log( (m - 1)(1 - f - delta) / f )
    Renyi, order a         1/(a-1) log( (f / (m-1)) (m - 2 + A^a + A^(1-a)) )
    mutual information     n (log m + (1 - f) log(1 - f) + f log(f / (m-1)))

These decrease in f up to ``(m-1)/m``, where they are 0 (the standard approximate one from ``(1-delta)(m-1)/m`` on).
The product of n randomized responses, ``q_l = (1-D/n)^(n-l) (D / (n (m-1)))^l``, attains all but the second:
neighbors differ in one factor, and information adds up. With probability delta the exact database, else the product
for ``D / (1 - delta)``, attains the second: its excess is delta at the true database and at most 0 elsewhere. So
these four are exact in closed form and need no other certificate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paper_repro.checks import check_delta, check_leakage
from paper_repro.solvers import profiles
from paper_repro.solvers.profiles import log_shell_sizes
from paper_repro.types import FloatArray

__all__ = [
    "ApproximateProgram",
    "DifferentialPrivacyProgram",
    "MutualInformationProgram",
    "ProfileProgram",
    "RenyiProgram",
    "check_order",
    "find_root",
    "rounding",
]

# Leakage per record of a product beyond which its mutual information is n log m, as floats go.
_BEYOND = 800.0


@dataclass(frozen=True)
class ProfileProgram(ABC):
    """Best profiles for databases of ``records`` records with ``values`` values each, by one notion of privacy.

    Profiles are arrays of ``log q_l``, shape (records + 1,). A profile's gap is ``expected_distortion(profile, values) -
    least_distortion(leakage(profile))``: both are evaluated without regard to how the profile was found.

    Raises
    ------
    ValueError
        If there is not at least one value and one record, or the order or delta of the notion is out of range. The methods
        raise it for a distortion outside [0, records] and a leakage that is negative or NaN.
    """

    values: int
    records: int

    def __post_init__(self) -> None:
        if self.values < 1 or self.records < 1:
            raise ValueError(f"there must be at least 1 value and 1 record, got {self.values} and {self.records}")

    def at_distortion(self, distortion: float) -> FloatArray:
        """The profile of least leakage among those of at most this distortion (expected number of records changed)."""
        budget = self._check_distortion(distortion)
        if budget >= self.free_distortion:
            return self._product(0.0)
        return self._identity() if budget == 0 else self._at_distortion(budget)

    def at_leakage(self, leakage: float) -> FloatArray:
        """The profile of least distortion among those of at most this leakage, in nats; infinity is allowed."""
        limit = check_leakage(leakage)
        if self.values == 1:
            return self._product(0.0)
        return self._identity() if limit == math.inf else self._at_leakage(limit)

    def least_leakage(self, distortion: float) -> float:
        """Lower bound in nats on the leakage of every mechanism of at most this distortion; the optimum, up to rounding."""
        budget = self._check_distortion(distortion)
        return 0.0 if budget >= self.free_distortion else max(0.0, self._least_leakage(budget))

    def least_distortion(self, leakage: float) -> float:
        """Lower bound on the distortion of every mechanism of at most this leakage; the optimum, up to rounding."""
        limit = check_leakage(leakage)
        return 0.0 if limit == math.inf or self.values == 1 else max(0.0, self._least_distortion(limit))

    def shell_probabilities(self, profile: FloatArray) -> FloatArray:
        """Probability that 0 .. n records are changed, ``N_l q_l``, shape (records + 1,)."""
        return np.exp(self._sizes + profile)

    @property
    def free_distortion(self) -> float:
        """Distortion of the uniform output, ``n (m - 1) / m``: from here on nothing leaks, by any notion."""
        return self.records * (self.values - 1) / self.values

    @abstractmethod
    def leakage(self, profile: FloatArray) -> float:
        """Leakage of any profile in nats, evaluated from the definition; see :mod:`paper_repro.solvers.profiles`."""

    @abstractmethod
    def _at_distortion(self, distortion: float) -> FloatArray: ...

    @abstractmethod
    def _at_leakage(self, leakage: float) -> FloatArray: ...

    @abstractmethod
    def _least_leakage(self, distortion: float) -> float: ...

    @abstractmethod
    def _least_distortion(self, leakage: float) -> float: ...

    def _check_distortion(self, distortion: float) -> float:
        if not 0 <= distortion <= self.records:
            raise ValueError(
                f"distortion must be a number of records changed between 0 and {self.records}, got {distortion!r}"
            )
        return float(distortion)

    @cached_property
    def _sizes(self) -> FloatArray:
        return log_shell_sizes(self.values, self.records)

    @cached_property
    def _uniform(self) -> FloatArray:
        """``log(N_l / m^n)``."""
        return self._sizes - self.records * math.log(self.values)

    @cached_property
    def _shells(self) -> FloatArray:
        return np.arange(self.records + 1.0)

    def _identity(self) -> FloatArray:
        profile = np.full(self.records + 1, -np.inf)
        profile[0] = 0.0
        return profile

    def _product(self, log_odds: float) -> FloatArray:
        """Each record kept with odds ``exp(log_odds)`` against any other value."""
        kept = -math.log1p((self.values - 1) * math.exp(-log_odds))
        return self.records * kept - log_odds * self._shells

    def _log_odds(self, distortion: float) -> float:
        """``log((m - 1)(n - D) / D)``, of the product with distortion D below that of the uniform output."""
        if distortion == 0:
            return math.inf
        others = self.values - 1
        beyond = (self.records * others - self.values * distortion) / distortion
        # Far from 0 the difference would not be wrong, but it may overflow.
        return (
            math.log1p(beyond) if beyond < 1 else math.log(others * (self.records - distortion)) - math.log(distortion)
        )

    def _product_distortion(self, log_odds: float) -> float:
        ratio = (self.values - 1) * math.exp(-log_odds)
        return self.records * ratio / (1 + ratio)


class _ProductProgram(ProfileProgram):
    """The notions for which a product of randomized responses is optimal and its leakage has a closed form."""

    @abstractmethod
    def _loss(self, log_odds: float) -> float:
        """Leakage of the product with these log odds, finite and positive."""

    @abstractmethod
    def _odds_of_loss(self, leakage: float) -> float:
        """Log odds of the product with this leakage; infinity for the identity."""

    def _at_distortion(self, distortion: float) -> FloatArray:
        return self._product(self._log_odds(distortion))

    def _at_leakage(self, leakage: float) -> FloatArray:
        log_odds = self._odds_of_loss(leakage)
        return self._identity() if log_odds == math.inf else self._product(log_odds)

    def _least_leakage(self, distortion: float) -> float:
        return self._loss(self._log_odds(distortion))

    def _least_distortion(self, leakage: float) -> float:
        return self._product_distortion(self._odds_of_loss(leakage))


@dataclass(frozen=True)
class DifferentialPrivacyProgram(_ProductProgram):
    """Differential privacy: the product, with leakage ``log((m - 1)(n - D) / D)``; exact by "one record at a time".

    >>> program = DifferentialPrivacyProgram(values=2, records=2)
    >>> np.exp(program.at_distortion(0.4))
    array([0.64, 0.16, 0.04])
    >>> round(program.least_distortion(math.log(4)), 12)
    0.4
    """

    def leakage(self, profile: FloatArray) -> float:
        return profiles.differential_privacy(profile, self.values)

    def _loss(self, log_odds: float) -> float:
        return log_odds

    def _odds_of_loss(self, leakage: float) -> float:
        return leakage


@dataclass(frozen=True)
class RenyiProgram(_ProductProgram):
    """Renyi differential privacy of a finite order, at least 1: the product; exact by "one record at a time".

    >>> program = RenyiProgram(values=3, records=1, order=2.0)
    >>> round(program.least_leakage(0.3), 6), round(program.least_distortion(1.238029), 6)
    (1.238029, 0.3)
    """

    order: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order != 1:
            check_order(self.order)

    def leakage(self, profile: FloatArray) -> float:
        return profiles.renyi_privacy(profile, self.values, self.order)

    def _loss(self, log_odds: float) -> float:
        if log_odds == math.inf:
            return math.inf
        tilt, ratio = (self.order - 1) * log_odds, math.exp(-log_odds)
        kept = 1 / (1 + (self.values - 1) * ratio)
        other = kept * ratio
        if self.order == 1:
            return kept * -math.expm1(-log_odds) * log_odds
        if tilt < 1:  # the sum minus 1, from positive terms alone
            moment = math.log1p(math.expm1(tilt) * other * (math.expm1(log_odds) - math.expm1(-tilt)))
        else:
            moment = tilt + math.log(kept + (self.values - 2) * other * math.exp(-tilt) + other * math.exp(-2 * tilt))
        return moment / (self.order - 1)

    def _odds_of_loss(self, leakage: float) -> float:
        if self.order == 1:  # log odds - loss <= m log odds exp(-log odds)
            return find_root(lambda log_odds: self._loss(log_odds) - leakage, leakage, leakage + self.values)
        # The most likely term alone: log odds - loss <= -log(1 - D/n) / (order - 1) <= log m / (order - 1).
        most = leakage + math.log(self.values) / (self.order - 1)
        return find_root(lambda log_odds: self._loss(log_odds) - leakage, leakage, most)


@dataclass(frozen=True)
class MutualInformationProgram(_ProductProgram):
    """Mutual information for the uniform prior: the product; exact by "one record at a time".

    >>> program = MutualInformationProgram(values=2, records=3)
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
class ApproximateProgram(ProfileProgram):
    """Approximate differential privacy, standard definition, delta in [0, 1); exact by "one record at a time".

    The database itself with probability delta, else the product for ``D / (1 - delta)``.

    >>> program = ApproximateProgram(values=2, records=2, delta=0.1)
    >>> np.exp(program.at_distortion(0.36))
    array([0.676, 0.144, 0.036])
    >>> round(program.least_leakage(0.36), 6) == round(math.log(4), 6)
    True
    """

    delta: float

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
            profile[0] = np.logaddexp(math.log(self.delta), profile[0]) - rounding(self.delta)
        return profile

    def _least_leakage(self, distortion: float) -> float:
        return self._log_odds(min(distortion / (1 - self.delta), self.free_distortion))

    def _least_distortion(self, leakage: float) -> float:
        return (1 - self.delta) * self._product_distortion(leakage)


def check_order(order: float) -> None:
    """Raise unless the order is finite and above 1.

    >>> check_order(1.5)
    """
    if not 1 < order < math.inf:
        raise ValueError(
            f"order must be a finite number above 1, got {order!r}; order 1 is mutual information, and at infinity are "
            "maximal leakage and differential privacy"
        )


def rounding(delta: float) -> float:
    """What to take off the logarithm of a probability of at least delta, so that it is not rounded above what is allowed.

    Where a probability exceeds delta by less than rounding, a last digit too much would be a large leakage.

    >>> rounding(0.1) < 1e-14
    True
    """
    return 4 * float(np.finfo(float).eps) * (1 - math.log(delta))


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero to the last digit or so between two points; the better of the two if rounding hides the change of sign.

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 12) == round(math.sqrt(2), 12)
    True
    """
    from scipy.optimize import brentq

    at_low, at_high = function(low), function(high)
    if np.sign(at_low) * np.sign(at_high) >= 0:
        return low if abs(at_low) <= abs(at_high) else high
    return float(brentq(function, low, high, xtol=1e-30, rtol=4 * np.finfo(float).eps, maxiter=1000))
