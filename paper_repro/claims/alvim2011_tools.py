"""What the claims of Alvim et al. (2011) share: small databases, random channels, and graphs of answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.graphs import Adjacency, Query, clique, databases, hamming, ring
from paper_repro.guessing import bayes_vulnerability, conditional_min_entropy
from paper_repro.notions import DifferentialPrivacy
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

__all__ = [
    "ENDS_LESS_LIKELY",
    "KEEP",
    "LOG2",
    "SPACES",
    "SUM_OF_TWO",
    "Generator",
    "about_individual",
    "at_most",
    "best_utility",
    "border_sizes_of",
    "circulant_graph",
    "equal_borders",
    "guessed",
    "hamming_graph",
    "leaked_bits",
    "meeting_theorem_4",
    "not_kept",
    "on_channels",
    "on_private",
    "random_channel",
    "random_connected",
    "random_private",
    "random_query",
    "random_space",
    "rows_off",
    "sharper_bound",
    "some_meeting_theorem_4",
    "uniform_prior",
]

Generator = np.random.Generator
LOG2 = math.log(2)
# (values, individuals) of the databases that random channels are tried on.
SPACES = ((2, 1), (3, 1), (2, 2), (3, 2), (2, 3))
hamming_graph = cache(hamming)
KEEP = [[0.75, 0.25], [0.25, 0.75]]
# Two individuals with two values, t = 3: the report is likely 0 at 00, likely 1 at 11, and a fair coin in between.
SUM_OF_TWO = np.array([[5, 1], [3, 3], [3, 3], [1, 5]]) / 6
ENDS_LESS_LIKELY = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1])


def uniform_prior(size: int) -> FloatArray:
    """The uniform distribution."""
    return np.full(size, 1 / size)


def at_most(bound: float, value: float) -> tuple[float, float]:
    """A pair for ``corrected``, whose two sides differ only if the value exceeds its claimed bound."""
    return min(bound, value), value


def leaked_bits(prior: ArrayLike, channel: ArrayLike) -> float:
    """Min-entropy leakage in bits, not cut off at 0."""
    return math.log2(bayes_vulnerability(prior, channel) / bayes_vulnerability(prior))


def best_utility(graph: Adjacency, ratio: float, prior: ArrayLike | None = None) -> float:
    """Largest utility of an oblivious mechanism, by a certified linear program."""
    source = SourceSet(uniform_prior(graph.size) if prior is None else prior)
    return optimal_mechanism(source, leakage=math.log(ratio), notion=DifferentialPrivacy(graph)).utility


def random_private(rng: Generator, graph: Adjacency, leakage: float, outputs: int) -> FloatArray:
    """A random channel that keeps the ratio between neighbors and nearly attains it.

    Columns fade with the distance from a vertex each, at random weights; the rest of each row, another column, sets the scale.
    At last columns are put together at random.
    """
    weights = rng.random(graph.size) ** 4 * (rng.random(graph.size) < 0.7)
    weights[rng.integers(graph.size)] += 1.0
    reach = np.exp(-leakage * graph.distances) * weights
    total = reach.sum(axis=1)
    first, second = graph.neighbor_pairs.T
    scale = min((1 / total).min(), math.expm1(leakage) / (math.exp(leakage) * total[second] - total[first]).max())
    columns = np.column_stack([0.999 * scale * reach, 1 - 0.999 * scale * total])
    channel = np.zeros((outputs, graph.size))
    np.add.at(channel, rng.integers(outputs, size=columns.shape[1]), columns.T)
    return channel.T


def random_space(rng: Generator) -> tuple[int, int, float]:
    """Values, individuals and a privacy parameter."""
    values, individuals = SPACES[rng.integers(len(SPACES))]
    return values, individuals, float(rng.uniform(0.02, 3.0))


def random_channel(rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Any prior and any channel, up to 4 x 4, with some probabilities that are 0."""
    inputs, outputs = (int(count) for count in rng.integers((2, 1), 5))
    prior, rows = rng.dirichlet(np.full(inputs, 0.6)), rng.dirichlet(np.full(outputs, 0.6), size=inputs)
    rows[:, 1:] *= rng.random((inputs, outputs - 1)) < 0.8
    rows[:, 0] += 1e-3
    return prior, rows / rows.sum(axis=1, keepdims=True)


def on_channels(violation: Callable[[FloatArray, FloatArray], float]) -> Callable[[Generator], float]:
    """An instance: a random prior and any channel."""
    return lambda rng: float(violation(*random_channel(rng)))


def on_private(
    violation: Callable[[FloatArray, int, int, float], float], outputs: tuple[int, int] = (1, 12)
) -> Callable[[Generator], float]:
    """An instance: a random private channel on small databases, with values, individuals and eps."""

    def instance(rng: Generator) -> float:
        values, individuals, leakage = random_space(rng)
        channel = random_private(rng, hamming_graph(values, individuals), leakage, int(rng.integers(*outputs)))
        return float(violation(channel, values, individuals, leakage))

    return instance


def guessed(prior: FloatArray, channel: FloatArray) -> float:
    """Chance of a right guess from the output, by trying every strategy."""
    joint, outputs = prior[:, np.newaxis] * channel, np.arange(channel.shape[1])
    return max(
        float(joint[list(guess), outputs].sum()) for guess in itertools.product(range(len(prior)), repeat=len(outputs))
    )


def rows_off(matrix: FloatArray) -> float:
    """How far row sums are from 1, or entries below 0."""
    return float(max(abs(matrix.sum(axis=1) - 1).max(), -matrix.min()))


def not_kept(before: FloatArray, after: FloatArray, graph: Adjacency, *, constant: bool = True) -> float:
    """What Lemmas 1, 2 and 5 promise: a channel as private, of column maxima on the diagonal, all alike, of the same entropy."""
    entropies = [conditional_min_entropy(uniform_prior(graph.size), matrix, bits=True) for matrix in (before, after)]
    return max(
        rows_off(after),
        ratio_leakage(after, graph) - ratio_leakage(before, graph),
        float((after.max(axis=0) - np.diagonal(after)).max()),
        float(np.ptp(np.diagonal(after))) if constant else 0.0,
        abs(entropies[0] - entropies[1]),
    )


def random_query(rng: Generator) -> Query:
    """Any query on a small space, with two to four answers."""
    values, individuals = SPACES[rng.integers(len(SPACES))]
    answers = rng.integers(int(rng.integers(2, 5)), size=values**individuals).tolist()
    answers[:2] = [0, 1]
    table = dict(zip(databases(range(values), individuals), answers, strict=True))
    return Query(lambda database: table[database], range(values), individuals)


def about_individual(channel: FloatArray, values: int, individuals: int, which: int) -> FloatArray:
    """A channel by value of one individual, values of the others, and output."""
    table = channel.reshape(*[values] * individuals, -1)
    return np.moveaxis(table, which, 0).reshape(values, values ** (individuals - 1), -1)


def border_sizes_of(size: int, offsets: tuple[int, ...]) -> list[int]:
    """How many vertices of a circulant graph are at distance 1, 2, ... of a vertex; sums to less if it is not connected."""
    reached, front, sizes = {0}, {0}, []
    while front:
        front = {(place + step * sign) % size for place in front for step in offsets for sign in (1, -1)} - reached
        reached |= front
        sizes.append(len(front))
    return sizes[:-1]


def circulant_graph(size: int, offsets: tuple[int, ...]) -> Adjacency:
    """Vertices around a circle, neighbors so many places apart."""
    return Adjacency.from_edges(size, {(i, (i + step) % size) for i in range(size) for step in offsets})


@cache
def equal_borders() -> dict[int, dict[tuple[int, ...], Adjacency]]:
    """All graphs of 2 to 13 answers that meet Theorem 4's conditions, by size and offsets.

    An automorphism with a single orbit makes a graph circulant, so that these are all there are.
    """
    found: dict[int, dict[tuple[int, ...], Adjacency]] = {}
    for size in range(2, 14):
        found[size] = {}
        for count in range(1, size // 2 + 1):
            for offsets in itertools.combinations(range(1, size // 2 + 1), count):
                sizes = border_sizes_of(size, offsets)
                if sum(sizes) == size - 1 and len(set(sizes)) == 1:
                    found[size][offsets] = circulant_graph(size, offsets)
    return found


@cache
def some_meeting_theorem_4() -> list[tuple[Adjacency, int, float]]:
    """Five of them, with c and a ratio t; the last is Paley's graph, of diameter 2."""
    graphs = clique(2), ring(5), ring(7), clique(6), circulant_graph(13, (1, 3, 4))
    return list(zip(graphs, (1, 2, 2, 5, 6), (3.0, 2.0, 1.3, 2.0, 2.0), strict=True))


def meeting_theorem_4(rng: Generator) -> tuple[Adjacency, int]:
    """A graph that meets the conditions of Theorem 4, with its c."""
    of_size = list(equal_borders()[int(rng.integers(2, 14))].values())
    graph = of_size[rng.integers(len(of_size))]
    return graph, int(graph.border_sizes(0)[1])


def random_connected(rng: Generator, size: int) -> Adjacency:
    """A random tree with random further edges."""
    pairs = {(int(rng.integers(vertex)), vertex) for vertex in range(1, size)}
    return Adjacency.from_edges(
        size, pairs | {pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.3}
    )


def sharper_bound(values: int, individuals: int, outputs: int, leakage: float) -> float:
    """log2 of t^u / sum_s C(u,s) (t-1)^s max(v^-s, 1/r): a bound on the leakage through r outputs below both of the paper's."""
    parts = (
        math.comb(individuals, s) * math.expm1(leakage) ** s * max(values**-s, 1 / outputs)
        for s in range(individuals + 1)
    )
    return individuals * leakage / LOG2 - math.log2(sum(parts))
