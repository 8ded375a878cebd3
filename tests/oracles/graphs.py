"""Independent computations on graphs that the tests compare with: none of them uses code of the package."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
from scipy import sparse

from tests.oracles.tradeoffs import pointwise_ratio, solve


def random_graph(rng, most=8, least=2):
    """A connected graph of 2 .. 8 vertices as (size, pairs), the pairs in random order and direction."""
    while True:
        size = int(rng.integers(least, most + 1))
        graph = nx.gnp_random_graph(size, float(rng.uniform(0.2, 0.9)), seed=int(rng.integers(2**31)))
        if nx.is_connected(graph):
            pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in graph.edges]
            rng.shuffle(pairs)
            return size, [tuple(map(int, pair)) for pair in pairs]


def random_priors(rng, size, style="smooth"):
    """One to three distributions, shape (V, M)."""
    rows = rng.dirichlet(np.full(size, 0.5 if style == "peaked" else 2.0), size=int(rng.integers(1, 4)))
    if style == "zeros":
        rows[rng.random(rows.shape) < 0.4] = 0
    if style == "uniform":
        rows = np.full((1, size), 1.0)
    rows[np.arange(len(rows)), rng.integers(size, size=len(rows))] += 0.0 if style == "uniform" else 0.05
    return rows / rows.sum(axis=1, keepdims=True)


def graph_of(size, pairs):
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(pairs)
    return graph


def distances(size, pairs):
    lengths = dict(nx.all_pairs_shortest_path_length(graph_of(size, pairs)))
    return np.array([[lengths[i][j] for j in range(size)] for i in range(size)])


def automorphisms(size, pairs):
    """All permutations of the vertices that keep the edges, by trying every one."""
    edges = {frozenset(pair) for pair in pairs}
    return [
        image
        for image in itertools.permutations(range(size))
        if all(frozenset((image[i], image[j])) in edges for i, j in edges)
    ]


def is_single_orbit(image):
    place = image[0]
    for _ in range(len(image) - 1):
        if place == 0:
            return False
        place = image[place]
    return place == 0


def private_rows(size, outputs, pairs, leakage):
    """Rows ``Q_yz - t Q_y'z <= 0`` for neighbors, both ways, over the entries of Q row by row."""
    ratio, numbers, entries = math.exp(leakage), [], []
    for i, j in pairs:
        for here, there in ((i, j), (j, i)):
            for output in range(outputs):
                numbers.append((here * outputs + output, there * outputs + output))
                entries.append((1.0, -ratio))
    count = len(numbers)
    return sparse.csr_matrix(
        (np.ravel(entries), (np.repeat(np.arange(count), 2), np.ravel(numbers))), shape=(count, size * outputs)
    )


def sum_rows(size, outputs):
    return sparse.kron(sparse.eye(size), np.ones((1, outputs)))


def least_distortion(vertices, pairs, leakage):
    """Least worst-case Hamming distortion over channels with this ratio between neighbors: a program over all entries."""
    vertices = np.atleast_2d(vertices)
    count, size = vertices.shape
    private = private_rows(size, size, pairs, leakage)
    kept = np.zeros((count, size * size))
    kept[:, np.arange(size) * (size + 1)] = -vertices
    return 1 + (
        solve(
            np.append(np.zeros(size * size), -1.0),
            A_ub=sparse.bmat([[private, None], [sparse.csr_matrix(kept), np.ones((count, 1))]]),
            b_ub=np.zeros(private.shape[0] + count),
            A_eq=sparse.hstack([sum_rows(size, size), sparse.csr_matrix((size, 1))]),
            b_eq=np.ones(size),
        ).fun
    )


def greatest_vulnerability(size, pairs, outputs, leakage):
    """Largest ``sum_z max_x C_xz`` with this many outputs, over every assignment of an input to each output.

    For graphs whose automorphisms map any vertex to any other: the first output's input may be vertex 0.
    """
    private, sums = private_rows(size, outputs, pairs, leakage), sum_rows(size, outputs)
    best = 1.0
    for inputs in itertools.product(range(size), repeat=outputs - 1):
        costs = np.zeros((size, outputs))
        for output, chosen in enumerate((0, *inputs)):
            costs[chosen, output] = -1.0
        found = solve(costs.ravel(), A_ub=private, b_ub=np.zeros(private.shape[0]), A_eq=sums, b_eq=np.ones(size))
        best = max(best, -found.fun)
    return best


def vulnerability(prior, channel):
    """Chance of a right guess with the best of all functions from outputs to guesses, each of them tried."""
    inputs, outputs = np.shape(channel)
    return max(
        sum(prior[guess[z]] * channel[guess[z]][z] for z in range(outputs))
        for guess in itertools.product(range(inputs), repeat=outputs)
    )


def random_private_channel(rng, size, pairs, outputs, leakage):
    """A channel whose neighboring rows differ by at most ``exp(leakage)`` in ratio, in general by all of it somewhere.

    Columns are smoothed to half the leakage. Their sums over a row then have at most that ratio too, and dividing by them
    spends the other half.
    """
    fade = np.exp(-leakage / 2 * distances(size, pairs))
    columns = rng.random((size, outputs)) ** 4
    smooth = (fade[:, :, np.newaxis] * columns[np.newaxis]).max(axis=1)
    return smooth / smooth.sum(axis=1, keepdims=True)


def largest_ratio(matrix, pairs):
    """Largest ratio between neighbors in a column, in exact rational arithmetic on the stored floats."""
    return pointwise_ratio(matrix, [*pairs, *(pair[::-1] for pair in pairs)])
