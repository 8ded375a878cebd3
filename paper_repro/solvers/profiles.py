r"""Symmetric mechanisms on databases: one probability for each number of records changed, and what they leak.

A database has n records with m values each; neighbors differ in one record; distortion is the expected number of
records changed. Averaging a mechanism over all relabelings of each record and all permutations of the records keeps
its distortion under the uniform prior and does not raise its leakage, and leaves ``Q[x, y] = q_l`` with l the number
of records in which x and y differ: n + 1 numbers with

    sum_l N_l q_l = 1,    N_l = C(n, l) (m - 1)^l,    distortion D = sum_l l N_l q_l.

All notions are quasi-convex in the mechanism, so symmetric mechanisms are as good as any whenever the hull of the
source set holds the uniform prior, and either the notion does not look at the prior, or the uniform prior is the
worst for symmetric mechanisms: mutual and Sibson information over the hull. For maximal information the prior has to
be the uniform one. From ``D = n (m - 1) / m`` on the uniform output leaks nothing, by any notion.

A *profile* is the array of ``log q_l``, shape (n + 1,); -inf is allowed. Its distortion is the same whatever the
database, and its output is uniform when the database is. Everything here is evaluated from the definitions
(Definition 19, Zhong and Bu 2022), with logarithms throughout, so that thousands of records do not underflow.

**Neighbors.** Let x and x' differ in record i, and let l of the other records of y differ from x. There are ``M_l =
C(n - 1, l) (m - 1)^l`` ways, and record i of y is that of x, that of x', or one of m - 2 others: the two distances
are (l, l + 1), (l + 1, l) or (l + 1, l + 1).

**Approximate differential privacy.** The *pointwise* definition asks for ``Q[x, y] <= t Q[x', y] + delta``, the
standard one for ``sum_y max(0, Q[x, y] - t Q[x', y]) <= delta``. The sum is the largest ``sum_{y in S} (Q[x, y] - t
Q[x', y])`` over sets S, so t has to be at least ``(A_S - delta) / B_S`` for every S, with ``A_S`` and ``B_S`` the two
probabilities of S; the largest is found among the sets of outputs with ratios above a threshold.

For the uniform prior, maximal information is maximal leakage: both are ``log(m^n max_l q_l)``.

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
from functools import cached_property, lru_cache

import numpy as np

from paper_repro.checks import check_changes, check_count, check_leakage
from paper_repro.errors import wrong
from paper_repro.types import FloatArray

__all__ = [
    "ProductProfiles",
    "ProfileProgram",
    "approximate_privacy",
    "differential_privacy",
    "expected_distortion",
    "find_root",
    "log_mean_exp",
    "log_shell_sizes",
    "log_sum_exp",
    "maximal_leakage",
    "mutual_information",
    "pointwise_privacy",
    "renyi_privacy",
    "rounding_margin",
    "sibson_information",
]


# Logarithms of probabilities grow with the number of records, and so does what rounding does to the probabilities.
_MOST_RECORDS = 1_000_000


@lru_cache(maxsize=8, typed=True)
def log_shell_sizes(values: int, records: int) -> FloatArray:
    """``log N_l``, shape (records + 1,): how many databases differ from a given one in l = 0 .. n records.

    Right within a few last digits for any number of records: binomial coefficients by Stirling's series with its remainder, as
    Loader (2000) has binomial probabilities. With one value only shell 0 is not empty.

    Raises
    ------
    ValueError
        If ``values`` or ``records`` is no whole number, or ``values < 1`` or ``records < 0``.

    >>> np.exp(log_shell_sizes(3, 2))
    array([1., 4., 4.])
    """
    values, records = check_count(values, "values"), check_count(records, "records", least=0)
    sizes = np.zeros(records + 1)
    few = np.arange(1.0, records // 2 + 1)
    many = records - few
    binomials = -few * np.log(few / records) - many * np.log1p(-few / records)
    binomials += 0.5 * np.log(records / (2 * math.pi * few * many))
    binomials += _stirling_rest(np.array([max(1.0, records)])) - _stirling_rest(few) - _stirling_rest(many)
    sizes[1 : len(few) + 1] = binomials
    sizes[records - len(few) : records] = binomials[::-1]
    sizes[1:] += np.arange(1, records + 1) * (math.log(values - 1) if values > 1 else -math.inf)
    sizes.setflags(write=False)
    return sizes


def _stirling_rest(numbers: FloatArray) -> FloatArray:
    """``log x!`` less Stirling's ``(x + 1/2) log x - x + log(2 pi) / 2``, for whole numbers x >= 1."""
    inverse = 1 / numbers
    square = inverse * inverse
    remainders = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    for index in np.flatnonzero(numbers < 16):  # the series needs larger numbers
        x = float(numbers[index])
        remainders[index] = math.lgamma(x + 1) - ((x + 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi))
    return remainders


def expected_distortion(profile: FloatArray, values: int) -> float:
    """Expected number of records changed, ``sum_l l N_l q_l``.

    >>> round(expected_distortion(np.log([0.64, 0.16, 0.04]), values=2), 12)
    0.4
    """
    return float(np.arange(len(profile)) @ np.exp(_log_masses(profile, values)))


def differential_privacy(profile: FloatArray, values: int) -> float:
    """Largest ``|log q_l - log q_{l+1}|``, in nats; infinite if one of the two is 0 and the other is not.

    >>> round(differential_privacy(np.log([0.64, 0.16, 0.04]), values=2), 12) == round(math.log(4), 12)
    True
    """
    return float(np.abs(_steps(profile)).max()) if values > 1 else 0.0


def renyi_privacy(profile: FloatArray, values: int, alpha: float) -> float:
    """Largest Renyi divergence of neighbors' outputs, ``1/(a-1) log sum_y Q[x,y]^a Q[x',y]^(1-a)``, in nats.

    All pairs of neighbors have the same.

    >>> round(renyi_privacy(np.log([0.7, 0.15]), values=3, alpha=2), 6)
    1.238029
    """
    if values == 1:
        return 0.0
    others, steps = log_shell_sizes(values, len(profile) - 2), _steps(profile)
    masses, losses = [others + profile[:-1], others + profile[1:]], [steps, -steps]
    if values > 2:
        masses.append(math.log(values - 2) + others + profile[1:])
        losses.append(np.zeros(len(steps)))
    mass, loss = np.concatenate(masses), np.concatenate(losses)
    possible = mass > -np.inf
    if np.isinf(loss[possible]).any():
        return math.inf
    if alpha == 1:  # the limit: Kullback-Leibler divergence
        return max(0.0, float(np.exp(mass[possible]) @ loss[possible]))
    return max(0.0, log_mean_exp(mass[possible], (alpha - 1) * loss[possible]) / (alpha - 1))


def mutual_information(profile: FloatArray, values: int) -> float:
    """Mutual information of a uniform database and the output, ``n log m + sum_l N_l q_l log q_l``, in nats.

    >>> round(mutual_information(np.array([0.0, -np.inf]), values=2), 6)
    0.693147
    """
    masses, lifts = _lifts(profile, values)
    return max(0.0, float(np.exp(masses) @ lifts))


def sibson_information(profile: FloatArray, values: int, alpha: float) -> float:
    """Sibson information of order a of a uniform database and the output, in nats.

    ``a/(a-1) log( m^n (m^-n sum_l N_l q_l^a)^(1/a) )``, evaluated as ``1/(a-1) log sum_l N_l q_l (m^n q_l)^(a-1)``.

    >>> round(sibson_information(np.log([0.7, 0.15]), values=3, alpha=2), 6)
    0.473124
    """
    masses, lifts = _lifts(profile, values)
    return max(0.0, log_mean_exp(masses, (alpha - 1) * lifts) / (alpha - 1))


def maximal_leakage(profile: FloatArray, values: int) -> float:
    """Maximal leakage, and maximal information for the uniform prior: ``log(m^n max_l q_l)``, in nats.

    >>> round(maximal_leakage(np.log([0.7, 0.15]), values=3), 6)
    0.741937
    """
    return max(0.0, float(_lifts(profile, values)[1].max()))


def pointwise_privacy(profile: FloatArray, values: int, delta: float) -> float:
    """Least ``log t >= 0`` with ``Q[x, y] <= t Q[x', y] + delta`` for all outputs and neighbors, in nats.

    >>> round(pointwise_privacy(np.log([0.7, 0.15]), values=3, delta=0.1), 6) == round(math.log(4), 6)
    True
    """
    if values == 1:
        return 0.0
    first, second = np.append(profile[:-1], profile[1:]), np.append(profile[1:], profile[:-1])
    above = first > (math.log(delta) if delta > 0 else -np.inf)
    if not above.any():
        return 0.0
    excess = first[above] + (np.log1p(-delta * np.exp(-first[above])) if delta > 0 else 0.0)
    return max(0.0, float((excess - second[above]).max()))


def approximate_privacy(profile: FloatArray, values: int, delta: float) -> float:
    """Least ``log t >= 0`` with ``sum_y max(0, Q[x, y] - t Q[x', y]) <= delta`` for all neighbors, in nats.

    >>> round(approximate_privacy(np.log([0.64, 0.16, 0.04]), values=2, delta=0.3), 6) == round(math.log(2.5), 6)
    True
    """
    if values == 1:
        return 0.0
    if delta == 0:
        return differential_privacy(profile, values)
    others, steps = log_shell_sizes(values, len(profile) - 2), _steps(profile)
    order = np.argsort(-np.abs(steps), kind="stable")
    likelier = (others + np.maximum(profile[:-1], profile[1:]))[order]
    rarer = (others + np.minimum(profile[:-1], profile[1:]))[order]
    # delta is taken off first: it may all but cancel with the mass of the exact answer.
    excess = np.cumsum(np.append(-delta, np.exp(likelier)))[1:]
    above = excess > 0
    if not above.any():
        return 0.0
    return max(0.0, float((np.log(excess[above]) - np.logaddexp.accumulate(rarer)[above]).max()))


def log_sum_exp(terms: FloatArray) -> float:
    """``log sum exp(terms)``, dimensionless, for terms of any shape; at least one of them must be finite.

    >>> log_sum_exp(np.array([-np.inf, -5000.0, -5000.0])) == -5000 + math.log(2)
    True
    """
    largest = float(terms.max())
    return largest + math.log(float(np.exp(terms - largest).sum()))


def log_mean_exp(log_weights: FloatArray, exponents: FloatArray) -> float:
    """``log sum_k w_k exp(z_k)``, dimensionless, for weights scaled to sum to 1 and finite z, each of shape (k,).

    To full precision also where all z are small.

    >>> log_mean_exp(np.log([0.5, 0.5]), np.array([1e-9, -1e-9]))
    5e-19
    """
    log_weights = log_weights - log_sum_exp(log_weights)
    center = float(np.exp(log_weights) @ exponents)
    apart = exponents - center
    if np.abs(apart).max() < 1:
        # exp(z) - 1 - z, of which the second-order term is what counts: the first-order terms cancel.
        return center + math.log1p(float(np.exp(log_weights) @ (np.expm1(apart) - apart)))
    return center + log_sum_exp(log_weights + apart)


def _log_masses(profile: FloatArray, values: int) -> FloatArray:
    """``log N_l q_l``: that l records are changed."""
    return log_shell_sizes(values, len(profile) - 1) + profile


def _lifts(profile: FloatArray, values: int) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the mass of each shell that has any, and of ``q_l`` over the uniform output."""
    masses = _log_masses(profile, values)
    possible = masses > -np.inf
    return masses[possible], profile[possible] + (len(profile) - 1) * math.log(values)


def _steps(profile: FloatArray) -> FloatArray:
    """``log q_l - log q_{l+1}``, shape (n,); 0 where both are 0."""
    first, second = profile[:-1], profile[1:]
    steps = np.zeros(len(first))
    np.subtract(first, second, out=steps, where=(first > -np.inf) | (second > -np.inf))
    return steps


@dataclass(frozen=True)
class ProfileProgram(ABC):
    """Best profiles for databases of ``records`` records with ``values`` values each, by one notion of privacy.

    Profiles are arrays of ``log q_l``, shape (records + 1,). A profile's gap is ``expected_distortion(profile, values) -
    least_distortion(leakage(profile))``: both are evaluated without regard to how the profile was found.

    Raises
    ------
    ValueError
        If ``values`` or ``records`` is no whole number of at least 1, or alpha or delta of the notion is out of range. The
        methods raise it for a distortion outside [0, records] and a leakage that is negative or NaN.
    """

    values: int
    records: int

    def __post_init__(self) -> None:
        check_count(self.values, "values")
        if check_count(self.records, "records") > _MOST_RECORDS:
            raise ValueError(
                wrong(
                    "records",
                    f"be at most {_MOST_RECORDS}, beyond which rounded logarithms of probabilities are too coarse",
                    self.records,
                    "Use parallel_composition, which publishes any number one by one.",
                )
            )

    def at_distortion(self, distortion: float) -> FloatArray:
        """The profile, shape (n + 1,), of least leakage of those that change at most this many records in expectation.

        Raises ValueError if the distortion is not in [0, n].
        """
        budget = check_changes(distortion, self.records)
        if budget >= self.distortion_without_leakage:
            return self._product(0.0)
        return self._identity() if budget == 0 else self._at_distortion(budget)

    def at_leakage(self, leakage: float) -> FloatArray:
        """The profile, shape (n + 1,), of least distortion of those that leak at most so many nats; infinity is allowed.

        Raises ValueError if the leakage is negative.
        """
        limit = check_leakage(leakage)
        if self.values == 1:
            return self._product(0.0)
        return self._identity() if limit == math.inf else self._at_leakage(limit)

    def least_leakage(self, distortion: float) -> float:
        """Lower bound in nats on the leakage of every mechanism of at most this distortion; the optimum, up to rounding.

        Raises ValueError if the distortion is not in [0, n].
        """
        budget = check_changes(distortion, self.records)
        return 0.0 if budget >= self.distortion_without_leakage else max(0.0, self._least_leakage(budget))

    def least_distortion(self, leakage: float) -> float:
        """Lower bound on the distortion of every mechanism of at most this leakage; the optimum, up to rounding.

        Raises ValueError if the leakage is negative.
        """
        limit = check_leakage(leakage)
        return 0.0 if limit == math.inf or self.values == 1 else max(0.0, self._least_distortion(limit))

    @property
    def distortion_without_leakage(self) -> float:
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


class ProductProfiles(ProfileProgram):
    """Notions for which a product of randomized responses is optimal and its leakage has a closed form."""

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


def rounding_margin(delta: float) -> float:
    """What to take off the logarithm of a probability of at least delta, so that it is not rounded above what is allowed.

    Where a probability exceeds delta by less than rounding, a last digit too much would be a large leakage.

    >>> rounding_margin(0.1) < 1e-14
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
