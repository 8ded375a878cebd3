"""Min-entropy: how likely an adversary with one guess is right, before and after seeing the output.

Channels are matrices with a row for each input and a column for each output; they need not be square. Nats, unless ``bits`` is
asked for.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_probability_rows
from paper_repro.types import FloatArray, IntArray

__all__ = [
    "bayes_vulnerability",
    "conditional_min_entropy",
    "min_entropy",
    "min_entropy_capacity",
    "min_entropy_leakage",
    "optimal_remap",
]


def bayes_vulnerability(prior: ArrayLike, channel: ArrayLike | None = None) -> float:
    """Probability of guessing the input right in one try: ``max_x p(x)``, or ``sum_z max_x p(x) C_xz`` given the output.

    Eq. (5), Alvim et al. 2011; for the channel from true to published answer it is the utility under binary gain, with the best
    remapping of outputs to guesses. Exact up to rounding.

    Parameters
    ----------
    prior : array_like, shape (X,)
    channel : array_like, shape (X, Z), optional

    Raises
    ------
    ValueError
        If the prior or a row of the channel is no distribution, or they do not fit.

    >>> bayes_vulnerability([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]])
    0.75
    """
    mass, rows = _joint(prior, channel)
    return float((mass[:, np.newaxis] * rows).max(axis=0).sum())


def optimal_remap(prior: ArrayLike, channel: ArrayLike) -> IntArray:
    """Likeliest input for each output, shape (Z,); the first of those that tie.

    >>> optimal_remap([0.9, 0.1], [[0.75, 0.25], [0.25, 0.75]]).tolist()
    [0, 0]
    """
    mass, rows = _joint(prior, channel)
    return (mass[:, np.newaxis] * rows).argmax(axis=0)


def min_entropy(prior: ArrayLike, *, bits: bool = False) -> float:
    """Min-entropy ``-log max_x p(x)`` (Section 2.2, Alvim et al. 2011).

    >>> min_entropy([0.5, 0.25, 0.25], bits=True)
    1.0
    """
    return _in_unit(-math.log(bayes_vulnerability(prior)), bits)


def conditional_min_entropy(prior: ArrayLike, channel: ArrayLike, *, bits: bool = False) -> float:
    """Conditional min-entropy ``-log sum_z max_x p(x) C_xz`` (eq. (2), Alvim et al. 2011, after Smith 2009).

    >>> round(conditional_min_entropy([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.415037
    """
    return _in_unit(-math.log(bayes_vulnerability(prior, channel)), bits)


def min_entropy_leakage(prior: ArrayLike, channel: ArrayLike, *, bits: bool = False) -> float:
    """Min-entropy leakage: min-entropy less conditional min-entropy, never below 0 (Section 2.2, Alvim et al. 2011).

    >>> round(min_entropy_leakage([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.584963
    """
    gain = bayes_vulnerability(prior, channel) / bayes_vulnerability(prior)
    return _in_unit(math.log(max(gain, 1.0)), bits)


def min_entropy_capacity(channel: ArrayLike, *, bits: bool = False) -> float:
    """Largest min-entropy leakage over all priors: ``log sum_z max_x C_xz``, attained by the uniform prior.

    Section 2.2 of Alvim et al. 2011 prints it without the logarithm.

    >>> round(min_entropy_capacity([[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.584963
    """
    rows = check_probability_rows(channel, "channel")
    return _in_unit(math.log(max(1.0, float(rows.max(axis=0).sum()))), bits)


def _joint(prior: ArrayLike, channel: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    priors = check_probability_rows(prior, "prior")
    if len(priors) != 1:
        raise ValueError(f"a prior is one distribution over the inputs, got {len(priors)} rows")
    mass = priors[0]
    rows = np.ones((len(mass), 1)) if channel is None else check_probability_rows(channel, "channel")
    if len(rows) != len(mass):
        raise ValueError(
            f"the channel has {len(rows)} inputs and the prior {len(mass)}; they must be over the same letters"
        )
    return mass, rows


def _in_unit(nats: float, bits: bool) -> float:
    return (nats / math.log(2) if bits else nats) + 0.0
