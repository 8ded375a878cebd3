"""Min-entropy: how likely an adversary with one guess is right, before and after seeing the output.

A prior has shape (X,). A channel is a mechanism, or a matrix of shape (X, Z) with a row for each input and a column for each
output. Nats, unless ``bits`` is asked for; all raise ValueError where a prior or a row is no distribution.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_count, check_leakage, check_probability_rows, check_same_letters, frame_labels
from paper_repro.errors import Clause, wrong
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism
from paper_repro.solvers.linear import optimal_basis
from paper_repro.types import FloatArray

__all__ = [
    "bayes_vulnerability",
    "conditional_min_entropy",
    "greatest_capacity",
    "min_entropy",
    "min_entropy_capacity",
    "min_entropy_leakage",
]

_MOST_CHOICES = 20_000


def bayes_vulnerability(prior: ArrayLike, channel: Mechanism | ArrayLike | None = None) -> float:
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


def min_entropy(prior: ArrayLike, *, bits: bool = False) -> float:
    """Min-entropy ``-log max_x p(x)`` (Section 2.2, Alvim et al. 2011).

    >>> min_entropy([0.5, 0.25, 0.25], bits=True)
    1.0
    """
    return _in_unit(-math.log(bayes_vulnerability(prior)), bits)


def conditional_min_entropy(prior: ArrayLike, channel: Mechanism | ArrayLike, *, bits: bool = False) -> float:
    """Conditional min-entropy ``-log sum_z max_x p(x) C_xz`` (eq. (2), Alvim et al. 2011, after Smith 2009).

    >>> round(conditional_min_entropy([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.415037
    """
    return _in_unit(-math.log(bayes_vulnerability(prior, () if channel is None else channel)), bits)


def min_entropy_leakage(prior: ArrayLike, channel: Mechanism | ArrayLike, *, bits: bool = False) -> float:
    """Min-entropy leakage: min-entropy less conditional min-entropy, never below 0 (Section 2.2, Alvim et al. 2011).

    >>> round(min_entropy_leakage([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.584963
    """
    gain = bayes_vulnerability(prior, () if channel is None else channel) / bayes_vulnerability(prior)
    return _in_unit(math.log(max(gain, 1.0)), bits)


def min_entropy_capacity(channel: Mechanism | ArrayLike, *, bits: bool = False) -> float:
    """Largest min-entropy leakage over all priors: ``log sum_z max_x C_xz``, attained by the uniform prior.

    Section 2.2 of Alvim et al. 2011 prints it without the logarithm.

    >>> round(min_entropy_capacity([[0.75, 0.25], [0.25, 0.75]], bits=True), 6)
    0.584963
    """
    rows = _rows(channel)
    return _in_unit(math.log(max(1.0, float(rows.max(axis=0).sum()))), bits)


def _joint(prior: ArrayLike, channel: Mechanism | ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    priors = check_probability_rows(prior, "prior")
    if len(priors) != 1:
        raise ValueError(wrong("prior", "be one distribution over the inputs", Clause(f"{len(priors)} rows")))
    mass = priors[0]
    rows = np.ones((len(mass), 1)) if channel is None else _rows(channel)
    if len(rows) != len(mass):
        raise ValueError(wrong("channel", f"have {len(mass)} rows, one for each category of the prior", len(rows)))
    check_same_letters(frame_labels(prior), frame_labels(channel, "labels"), "the prior and the channel")
    return mass, rows


def _rows(channel: Mechanism | ArrayLike) -> FloatArray:
    return check_probability_rows(channel.matrix if isinstance(channel, Mechanism) else channel, "channel")


def _in_unit(nats: float, bits: bool) -> float:
    return (nats / math.log(2) if bits else nats) + 0.0


def greatest_capacity(adjacency: Adjacency, outputs: int, leakage: float) -> float:
    """Largest ``log sum_z max_x C_xz`` over channels with this many outputs that keep the ratio between neighbors, in nats.

    The uniform prior attains it (min-entropy capacity). For every choice of an input for each output, order aside, a linear
    program maximizes the sum of the chosen entries; the largest of these is the answer, solved to about 1e-9.

    Parameters
    ----------
    adjacency : Adjacency
        Of the inputs, such as ``hamming(values, records)``.
    outputs : int, >= 1
    leakage : float >= 0, in nats, infinity allowed

    Raises
    ------
    ValueError
        If an argument is outside its range, or there are more than 20,000 choices; Proposition 2 and Theorem 1 of Alvim et al.
        2011 bound the leakage in closed form.

    >>> from paper_repro.graphs import hamming
    >>> round(greatest_capacity(hamming(2, 3), 2, math.log(2)) / math.log(2), 4)
    0.737
    """
    if not isinstance(adjacency, Adjacency):
        raise ValueError(wrong("adjacency", "be a graph such as hamming(values, records)", adjacency))
    if adjacency.weights is not None:
        raise ValueError(wrong("adjacency", "be a graph without weights such as hamming(values, records)", adjacency))
    size, outputs = adjacency.size, check_count(outputs, "outputs")
    if outputs > _MOST_CHOICES or math.comb(size + outputs - 1, outputs) > _MOST_CHOICES:
        raise ValueError(
            wrong(
                "outputs",
                f"leave at most {_MOST_CHOICES} choices to enumerate for {size} inputs",
                outputs,
                "Bound the leakage in closed form by papers.alvim2011.proposition_2 and theorem_1.",
            )
        )
    inverse = math.exp(-check_leakage(leakage))
    pairs = adjacency.neighbor_pairs
    ratios = np.kron(np.eye(size)[pairs[:, 0]] * inverse - np.eye(size)[pairs[:, 1]], np.eye(outputs))
    sums = np.kron(np.eye(size), np.ones(outputs))
    matrix, upper = np.vstack([ratios, sums]), np.append(np.zeros(len(ratios)), np.ones(size))
    best, start = 1.0, None
    for inputs in itertools.combinations_with_replacement(range(size), outputs):
        costs = np.zeros(size * outputs)
        costs[np.array(inputs) * outputs + np.arange(outputs)] = -1.0
        start = optimal_basis(costs, matrix, upper, equal=slice(len(ratios), None), start=start)
        best = max(best, -start.objective)
    return math.log(best)
