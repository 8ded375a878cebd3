"""What random instances are drawn from: priors, source sets and channels, with ties and zeros among them.

An instance's numbers are drawn in a fixed order; a draw more or less in one of these functions changes what the ledger has tried.
"""

from __future__ import annotations

import numpy as np

from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["Vertices", "random_channel", "random_mechanism", "random_prior", "random_set", "random_vertices"]

Vertices = tuple[tuple[float, ...], ...]
"""Vertices of a source set."""


def random_prior(rng: np.random.Generator, size: int, low: float = 0.0, high: float = 2.0) -> FloatArray:
    """A distribution of full support, in falling order; the larger the exponent, the closer to uniform."""
    prior = rng.dirichlet(np.full(size, 10 ** rng.uniform(low, high)))
    prior = np.maximum(prior, 1e-3)
    return -np.sort(-prior / prior.sum())


def random_vertices(rng: np.random.Generator, size: int, count: int, low: float = 0.5, high: float = 2.5) -> Vertices:
    """Vertices of a source set of full support."""
    return tuple(tuple(rng.permutation(random_prior(rng, size, low, high)).tolist()) for _ in range(count))


def random_set(
    rng: np.random.Generator, kind: str, letters: tuple[int, int] = (2, 5), vertices: tuple[int, int] = (1, 3)
) -> SourceSet:
    """A source set of Class I, II (letters most likely first) or III, some with ties and some with zero probabilities."""
    while True:
        size = int(rng.integers(max(letters[0], 3 if kind == "III" else 2), letters[1] + 1))
        count = int(rng.integers(max(vertices[0], 2 if kind == "III" else 1), vertices[1] + 1))
        style = rng.choice(["smooth", "ties", "zeros"])
        rows = rng.dirichlet(np.full(size, 1.5), size=count)
        if style == "ties":
            rows = rng.multinomial(12, np.full(size, 1 / size), size=count) / 12
        elif style == "zeros":
            rows[rng.random(rows.shape) < 0.3] = 0.0
        rows[np.arange(count), rng.integers(size, size=count)] += 0.05
        if kind == "III":  # one letter is rarer than in the uniform distribution, or more likely, throughout
            letter, rarer = int(rng.integers(size)), bool(rng.integers(2))
            rows[:, letter] = 0.0
            mass = rng.uniform(0.0, 0.9 / size, size=count) if rarer else rng.uniform(1.2 / size, 0.8, size=count)
            if (rows.sum(axis=1) == 0).any():
                continue
            rows *= ((1 - mass) / rows.sum(axis=1))[:, np.newaxis]
            rows[:, letter] = mass
        rows /= rows.sum(axis=1, keepdims=True)
        if kind == "II":
            return SourceSet(-np.sort(-rows, axis=1))
        if kind == "I":
            away = (rows - 1 / size).sum(axis=0)
            balance = 1 / size - away * float(rng.uniform(0.0, 0.9)) / max(size * away.max(), 1e-12)
            return SourceSet(np.vstack([rows, balance / balance.sum()]))
        order = np.argsort(-rows.mean(axis=0))
        if (np.diff(rows[:, order], axis=1) > 1e-6).any():
            return SourceSet(rows)


def random_channel(rng: np.random.Generator, size: int, outputs: int | None = None) -> FloatArray:
    """A channel without zeros, some flat and some with a heavy diagonal."""
    rows = rng.dirichlet(np.full(outputs or size, float(rng.choice([0.7, 3.0]))), size=size) + 1e-3
    rows[np.arange(size), np.arange(size)] += float(rng.choice([0.0, 1.0]))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def random_mechanism(rng: np.random.Generator, rows: int, columns: int = 0, *, zeros: bool = True) -> FloatArray:
    """A random mechanism; every other one has small rational entries, so that ties and zeros come by themselves."""
    shape = (rows, columns or rows)
    if rng.random() < 0.5:
        matrix = rng.dirichlet(np.full(shape[1], 10 ** rng.uniform(-0.5, 1.0)), size=rows) + 1e-9
    else:
        matrix = rng.integers(0 if zeros else 1, 9, size=shape).astype(float)
        matrix[matrix.sum(axis=1) == 0] = 1.0
    return matrix / matrix.sum(axis=1, keepdims=True)
