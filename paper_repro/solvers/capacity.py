"""The largest min-entropy leakage of private channels with few outputs, by enumeration of which inputs the outputs give away."""

from __future__ import annotations

import itertools
import math

import numpy as np

from paper_repro.adjacency import Adjacency
from paper_repro.checks import check_leakage
from paper_repro.solvers.linear import optimal_basis

__all__ = ["greatest_capacity"]

_MOST_CHOICES = 20_000


def greatest_capacity(adjacency: Adjacency, outputs: int, leakage: float) -> float:
    """Largest ``log sum_z max_x C_xz`` over channels with this many outputs that keep the ratio between neighbors, in nats.

    The uniform prior attains it (min-entropy capacity). For every choice of an input for each output, order aside, a linear
    program maximizes the sum of the chosen entries; the largest of these is the answer, solved to about 1e-9.

    Parameters
    ----------
    adjacency : Adjacency
        Of the inputs, such as ``hamming(values, individuals)``.
    outputs : int, >= 1
    leakage : float, in nats, finite

    Raises
    ------
    ValueError
        If there are more than 20,000 choices; Proposition 2 and Theorem 1 of Alvim et al. 2011 bound them in closed form.

    >>> from paper_repro.adjacency import hamming
    >>> round(greatest_capacity(hamming(2, 3), 2, math.log(2)) / math.log(2), 4)
    0.737
    """
    size = adjacency.size
    choices = math.comb(size + outputs - 1, outputs) if outputs >= 1 else 0
    if not 1 <= choices <= _MOST_CHOICES:
        raise ValueError(
            f"{outputs} outputs of {size} inputs leave {choices} choices to enumerate, between 1 and {_MOST_CHOICES} are tried; "
            "papers.alvim2011.proposition_2 and theorem_1 bound the leakage in closed form"
        )
    inverse = math.exp(-check_leakage(leakage))
    pairs = np.concatenate([adjacency.edges, adjacency.edges[:, ::-1]])
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
