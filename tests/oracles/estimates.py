"""Estimates from released categories, by other ways than the package's: textbook formulas, sums over all outcomes, plain EM."""

import itertools
import math

import numpy as np


def by_response(counts, leakage):
    """k-ary randomized response: (count / n - q) / (p - q), as libraries of frequency oracles have it."""
    counts = np.asarray(counts, dtype=float)
    others = 1 / (math.exp(leakage) + len(counts) - 1)
    return (counts / counts.sum() - others) / (math.exp(leakage) * others - others)


def variances_by_enumeration(matrix, categories):
    """Of the estimates from a few records, given what they are: over all that can be published; and of their mean, shape (M,)."""
    size, records = len(matrix), len(categories)
    inverse = np.linalg.inv(matrix)
    mean, square = np.zeros(size), np.zeros(size)
    for published in itertools.product(range(size), repeat=records):
        chance = math.prod(matrix[true, seen] for true, seen in zip(categories, published, strict=True))
        found = sum(inverse[seen] for seen in published) / records
        mean += chance * found
        square += chance * found**2
    return mean, square - mean**2


def by_expectation_maximization(frequencies, matrix, steps=200_000):
    """The likeliest frequencies, by as many steps as it takes."""
    found = np.full(len(matrix), 1 / len(matrix))
    for _ in range(steps):
        seen = found @ matrix
        found = found * (matrix @ np.divide(frequencies, seen, out=np.zeros(len(seen)), where=frequencies > 0))
    return found
