"""Random source sets of every class, with what makes trouble: ties, zeros, repeated vertices, one letter, one vertex."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.oracles.tradeoffs import common_ordering, distance_to_hull

CLASSES = ("I", "II", "III")
STYLES = ("smooth", "peaked", "ties", "zeros", "repeated")


def random_vertices(source_class, seed, most_letters=8, most_vertices=5):
    """Vertices of a set of a class, shape (V, M); seeds that follow each other go through all styles."""
    rng = np.random.default_rng([CLASSES.index(source_class), seed])
    style = STYLES[seed % len(STYLES)]
    while True:
        vertices = _draw(rng, source_class, style, most_letters, most_vertices)
        if _is_of_class(vertices, source_class):
            return vertices


def _draw(rng, source_class, style, most_letters, most_vertices):
    size = int(rng.integers(CLASSES.index(source_class) + 1, most_letters + 1))
    count = int(rng.integers(1, most_vertices + 1))
    if style == "ties":
        vertices = rng.multinomial(12, np.full(size, 1 / size), size=count) / 12
    else:
        vertices = rng.dirichlet(np.full(size, 0.4 if style == "peaked" else 2.0), size=count)
    if style == "zeros":
        vertices[rng.random((count, size)) < 0.4] = 0
    vertices[vertices < 1e-6] = (
        0  # out of reach of the solvers that the oracles use; tiny probabilities have their own tests
    )
    vertices[np.arange(count), rng.integers(size, size=count)] += 0.05
    vertices /= vertices.sum(axis=1, keepdims=True)
    if source_class == "II":
        vertices = -np.sort(-vertices, axis=1)[:, rng.permutation(size)]
    if source_class == "I":
        vertices[-1] = 1 / size
        if count > 1 and rng.random() < 0.5:  # not a vertex, but between the others and their counterweight
            away = (vertices[:-1] - 1 / size).sum(axis=0)
            vertices[-1] -= away * 0.9 / max(size * away.max(), 1)
    if style == "repeated" and count > 1:
        vertices[0] = vertices[-1]
    return vertices


def _is_of_class(vertices, source_class):
    uniform = np.full(vertices.shape[1], 1 / vertices.shape[1])
    if source_class == "I":
        return distance_to_hull(uniform, vertices) < 1e-9
    return distance_to_hull(uniform, vertices) > 1e-4 and common_ordering(vertices) == (source_class == "II")


@st.composite
def vertex_sets(draw, most_letters=5, most_vertices=4):
    """Vertices with small rational entries, so that ties, zeros, repetitions and one-letter sets come by themselves."""
    size, count = draw(st.integers(1, most_letters)), draw(st.integers(1, most_vertices))
    row = st.lists(st.integers(0, 12), min_size=size, max_size=size).filter(any)
    counts = np.array(draw(st.lists(row, min_size=count, max_size=count)), dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


def inside():
    """Where on a curve to look: a share of the distortion from which nothing leaks, away from both ends."""
    return st.floats(0.01, 0.99)
