r"""Symmetric mechanisms on databases: one probability for each number of records changed, and what they leak.

A database has n records with m values each; neighbors differ in one record; distortion is the expected number of
records changed. Averaging a mechanism over all relabelings of each record and all permutations of the records keeps
its distortion under the uniform prior and does not raise its leakage, and leaves ``Q[x, y] = q_l`` with l the number
of records in which x and y differ: n + 1 numbers with

    sum_l N_l q_l = 1,    N_l = C(n, l) (m - 1)^l,    distortion sum_l l N_l q_l.

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
"""

from __future__ import annotations

import math

import numpy as np

from paper_repro.types import FloatArray

__all__ = [
    "approximate_privacy",
    "differential_privacy",
    "expected_distortion",
    "log_mean_exp",
    "log_shell_sizes",
    "log_sum_exp",
    "maximal_leakage",
    "mutual_information",
    "pointwise_privacy",
    "renyi_privacy",
    "sibson_information",
]


def log_shell_sizes(values: int, records: int) -> FloatArray:
    """``log N_l``, shape (records + 1,): how many databases differ from a given one in l = 0 .. n records.

    Exact binomial coefficients, so right to the last digit or so. With one value only shell 0 is not empty.

    Raises
    ------
    ValueError
        If ``values < 1`` or ``records < 0``.

    >>> np.exp(log_shell_sizes(3, 2))
    array([1., 4., 4.])
    """
    if values < 1 or records < 0:
        raise ValueError(f"there must be at least 1 value and no negative number of records, got {values}, {records}")
    sizes = np.full(records + 1, -np.inf)
    sizes[0] = 0.0
    if values > 1:
        binomial, per_change = 1, math.log(values - 1)
        for changed in range(1, records + 1):
            binomial = binomial * (records - changed + 1) // changed
            sizes[changed] = math.log(binomial) + changed * per_change
    return sizes


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


def renyi_privacy(profile: FloatArray, values: int, order: float) -> float:
    """Largest Renyi divergence of neighbors' outputs, ``1/(a-1) log sum_y Q[x,y]^a Q[x',y]^(1-a)``, in nats.

    All pairs of neighbors have the same.

    >>> round(renyi_privacy(np.log([0.7, 0.15]), values=3, order=2), 6)
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
    if order == 1:  # the limit: Kullback-Leibler divergence
        return max(0.0, float(np.exp(mass[possible]) @ loss[possible]))
    return max(0.0, log_mean_exp(mass[possible], (order - 1) * loss[possible]) / (order - 1))


def mutual_information(profile: FloatArray, values: int) -> float:
    """Mutual information of a uniform database and the output, ``n log m + sum_l N_l q_l log q_l``, in nats.

    >>> round(mutual_information(np.array([0.0, -np.inf]), values=2), 6)
    0.693147
    """
    masses, lifts = _lifts(profile, values)
    return max(0.0, float(np.exp(masses) @ lifts))


def sibson_information(profile: FloatArray, values: int, order: float) -> float:
    """Sibson information of order a of a uniform database and the output, in nats.

    ``a/(a-1) log( m^n (m^-n sum_l N_l q_l^a)^(1/a) )``, evaluated as ``1/(a-1) log sum_l N_l q_l (m^n q_l)^(a-1)``.

    >>> round(sibson_information(np.log([0.7, 0.15]), values=3, order=2), 6)
    0.473124
    """
    masses, lifts = _lifts(profile, values)
    return max(0.0, log_mean_exp(masses, (order - 1) * lifts) / (order - 1))


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
    """``log sum exp(terms)``; at least one term must be finite.

    >>> log_sum_exp(np.array([-np.inf, -5000.0, -5000.0])) == -5000 + math.log(2)
    True
    """
    largest = float(terms.max())
    return largest + math.log(float(np.exp(terms - largest).sum()))


def log_mean_exp(log_weights: FloatArray, exponents: FloatArray) -> float:
    """``log sum_k w_k exp(z_k)`` for weights scaled to sum to 1 and finite z; to full precision where all z are small.

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
