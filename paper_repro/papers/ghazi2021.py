"""Ghazi, Golowich, Kumar, Manurangsi and Zhang, "Deep learning with label differential privacy", NeurIPS 2021.

Labels of training examples are published through a mechanism that knows their prior. Algorithms are given
as they are commonly implemented; the paper's own proofs were not at hand.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_index, check_leakage, check_probability_rows
from paper_repro.errors import Clause, wrong
from paper_repro.mechanisms import Mechanism
from paper_repro.types import FloatArray

__all__ = ["rr_top_k", "rr_with_prior"]


def rr_top_k(prior: ArrayLike, epsilon: float, k: int) -> Mechanism:
    """Algorithm 1, RRTop-k: randomized response on the k likeliest letters; the others are replaced by one of them, evenly.

    The prior has shape (M,), epsilon is in nats. Of equally likely letters the first come first. Raises ValueError if the prior
    is none, epsilon negative, or k not between 1 and M.

    >>> rr_top_k([0.5, 0.3, 0.2], np.log(3), 2).matrix
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.5 , 0.5 , 0.  ]])
    """
    probabilities, loss = _prior(prior), check_leakage(epsilon)
    k = check_index(k, "k", 1, len(probabilities), f"between 1 and {len(probabilities)}, the number of categories")
    top = np.argsort(-probabilities, kind="stable")[:k]
    matrix = np.zeros((len(probabilities), len(probabilities)))
    matrix[:, top] = 1 / k
    matrix[np.ix_(top, top)] = 1 / (1 / math.exp(-loss) + k - 1) if math.isfinite(loss) else 0.0
    matrix[top, top] = 1 / (1 + (k - 1) * math.exp(-loss))
    return Mechanism(matrix)


def rr_with_prior(prior: ArrayLike, epsilon: float) -> Mechanism:
    """Algorithm 2, RRWithPrior: RRTop-k with the k of the largest ``exp(eps) / (exp(eps) + k - 1)`` times the k largest p.

    No mechanism of this differential privacy, in nats, keeps a letter of this prior, shape (M,), more often. It is
    the optimum of :func:`paper_repro.tradeoff.optimal_mechanism` for differential privacy and a single known prior; for a source
    set that optimum is a RRWithPrior that need not trust any one prior. Raises ValueError as :func:`rr_top_k` does.

    >>> rr_with_prior([0.4, 0.3, 0.3], np.log(3)).matrix.diagonal()
    array([0.6, 0.6, 0.6])
    """
    probabilities, loss = _prior(prior), check_leakage(epsilon)
    counts = np.arange(len(probabilities))
    kept = np.cumsum(np.sort(probabilities)[::-1]) / (1 + counts * math.exp(-loss))
    return rr_top_k(probabilities, loss, int(np.argmax(kept)) + 1)


def _prior(prior: ArrayLike) -> FloatArray:
    rows = check_probability_rows(prior, "prior")
    if len(rows) != 1:
        raise ValueError(wrong("prior", "be one distribution over the categories", Clause(f"{len(rows)} rows")))
    return rows[0]
