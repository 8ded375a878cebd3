"""What the claims of Alvim et al. (2011) share: small databases, random channels, graphs of answers, programs and proofs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from paper_repro.errors import optional
from paper_repro.graphs import Adjacency, Query, databases, hamming
from paper_repro.guessing import bayes_vulnerability, conditional_min_entropy
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.types import FloatArray

__all__ = [
    "KEEP",
    "LOG2",
    "SPACES",
    "SUM_OF_TWO",
    "Generator",
    "about_individual",
    "at_most",
    "border_sizes_of",
    "circulant_graph",
    "equal_borders",
    "fading",
    "guessed",
    "hamming_graph",
    "leaked_bits",
    "meeting_theorem_4",
    "most_guessed",
    "nonnegative",
    "not_kept",
    "on_private",
    "plain",
    "private",
    "random_channel",
    "random_connected",
    "random_private",
    "random_query",
    "random_space",
    "rows_off",
    "scale_facts",
    "symbols",
    "uniform_prior",
]

Generator = np.random.Generator
LOG2 = math.log(2)
# (values, individuals) of the databases that random channels are tried on.
SPACES = ((2, 1), (3, 1), (2, 2), (3, 2), (2, 3))
hamming_graph = cache(hamming)
KEEP = np.array([[0.75, 0.25], [0.25, 0.75]])
# Two individuals with two values, t = 3: the report is likely 0 at 00, likely 1 at 11, and a fair coin in between.
SUM_OF_TWO = np.array([[5, 1], [3, 3], [3, 3], [1, 5]]) / 6


# What is largest, and what a matrix does


def uniform_prior(size: int) -> FloatArray:
    """The uniform distribution."""
    return np.full(size, 1 / size)


def at_most(bound: float, value: float) -> tuple[float, float]:
    """A pair for ``corrected``, whose two sides differ only if the value exceeds its claimed bound."""
    return min(bound, value), value


def leaked_bits(prior: ArrayLike, channel: ArrayLike) -> float:
    """Min-entropy leakage in bits, not cut off at 0."""
    return math.log2(bayes_vulnerability(prior, channel) / bayes_vulnerability(prior))


def most_guessed(graph: Adjacency, ratio: float, prior: ArrayLike | None = None) -> float:
    """Largest chance of a right guess through a channel that keeps the ratio between neighbors: a program over all of them.

    More outputs are of no use: those that lead to the same guess can be put together.
    """
    size, pairs = graph.size, graph.neighbor_pairs
    chance = uniform_prior(size) if prior is None else np.asarray(prior)
    kept = np.kron(np.eye(size)[pairs[:, 0]] - ratio * np.eye(size)[pairs[:, 1]], np.eye(size))
    rows = np.kron(np.eye(size), np.ones(size))
    return -float(linprog(-np.diag(chance).ravel(), kept, np.zeros(len(kept)), rows, np.ones(size)).fun)


def plain(value: float) -> float:
    """A program's result as the fraction that it is, if it is one: rounding differs from machine to machine."""
    near = Fraction(value).limit_denominator(100)
    return float(near) if abs(near - Fraction(value)) < 1e-9 else value


def guessed(prior: FloatArray, channel: FloatArray) -> float:
    """Chance of a right guess from the output, by trying every strategy."""
    joint, outputs = prior[:, np.newaxis] * channel, np.arange(channel.shape[1])
    return max(
        float(joint[list(guess), outputs].sum()) for guess in itertools.product(range(len(prior)), repeat=len(outputs))
    )


def rows_off(matrix: FloatArray) -> float:
    """How far row sums are from 1, or entries below 0."""
    return float(max(abs(matrix.sum(axis=1) - 1).max(), -matrix.min()))


def not_kept(
    before: FloatArray, after: FloatArray, graph: Adjacency, *, constant: bool = True, prior: ArrayLike | None = None
) -> float:
    """What Lemmas 1, 2 and 5 promise: a channel as private, of column maxima on the diagonal, all alike, of the same entropy."""
    chance = uniform_prior(graph.size) if prior is None else prior
    entropies = [conditional_min_entropy(chance, matrix, bits=True) for matrix in (before, after)]
    return max(
        rows_off(after),
        ratio_leakage(after, graph) - ratio_leakage(before, graph),
        float((after.max(axis=0) - np.diagonal(after)).max()),
        float(np.ptp(np.diagonal(after))) if constant else 0.0,
        abs(entropies[0] - entropies[1]),
    )


def about_individual(channel: FloatArray, values: int, individuals: int, which: int) -> FloatArray:
    """A channel by value of one individual, values of the others, and output."""
    table = channel.reshape(*[values] * individuals, -1)
    return np.moveaxis(table, which, 0).reshape(values, values ** (individuals - 1), -1)


# Proofs


def symbols(names: str) -> Any:
    """Positive real symbols of the computer algebra."""
    return optional("sympy", "proofs").symbols(names, positive=True)


def nonnegative(polynomial: Any, **least: int) -> bool:
    """Whether no coefficient is negative when every symbol counts from its least value: then it is at least 0 from there on.

    >>> x = symbols("x")
    >>> nonnegative(x**2 - x, x=1), nonnegative(x - 2, x=1)
    (True, False)
    """
    sympy = optional("sympy", "proofs")
    found = sympy.expand(polynomial)
    moved = sympy.expand(found.subs({one: one + least[one.name] for one in found.free_symbols}))
    return bool(min(sympy.Poly(moved, *symbols(" ".join(least) + " other")).coeffs()) >= 0)


def fading(sizes: list[int], ratio: Any) -> Any:
    """``sum_d n_d t^-d``: at least so many times its maximum a column sums to, if it fades by no more than t a step."""
    return sum(count / ratio**distance for distance, count in enumerate(sizes))


def scale_facts(less: int = 1, *, bound: bool = False) -> dict[str, bool]:
    """``sum_d C(u, d) (v - 1)^d t^(u - d)`` is ``(v - less + t)^u``, or at least that, for all v >= 2 and t >= 1; by u."""
    (v, t), facts = symbols("v t"), {}
    for u in range(1, 9):
        rest = sum(math.comb(u, d) * (v - 1) ** d * t ** (u - d) for d in range(u + 1)) - (v - less + t) ** u
        facts[f"u = {u}"] = nonnegative(rest, v=2, t=1) if bound else rest.expand() == 0
    return facts


# Random instances


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


def private(rng: Generator, outputs: tuple[int, int] = (1, 12)) -> tuple[FloatArray, int, int, float]:
    """A random private channel on small databases, with values, individuals and eps."""
    values, individuals, leakage = random_space(rng)
    graph = hamming_graph(values, individuals)
    return random_private(rng, graph, leakage, int(rng.integers(*outputs))), values, individuals, leakage


def on_private(violation: Callable[..., float], outputs: tuple[int, int] = (1, 12)) -> Callable[..., float]:
    """An instance: the violation by a random private channel."""
    return lambda rng, **constants: float(violation(*private(rng, outputs), **constants))


def random_query(rng: Generator) -> Query:
    """Any query on a small space, with two to four answers."""
    values, individuals = SPACES[rng.integers(len(SPACES))]
    answers = rng.integers(int(rng.integers(2, 5)), size=values**individuals).tolist()
    answers[:2] = [0, 1]
    table = dict(zip(databases(range(values), individuals), answers, strict=True))
    return Query(lambda database: table[database], range(values), individuals)


def random_connected(rng: Generator, size: int) -> Adjacency:
    """A random tree with random further edges."""
    pairs = {(int(rng.integers(vertex)), vertex) for vertex in range(1, size)}
    return Adjacency.from_edges(
        size, pairs | {pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.3}
    )


# Graphs of answers


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
def equal_borders() -> list[tuple[Adjacency, int]]:
    """All graphs of 2 to 13 answers that meet Theorem 4's conditions, with their c.

    An automorphism with a single orbit makes a graph circulant, so that these are all there are.
    """
    found = []
    for size in range(2, 14):
        steps = range(1, size // 2 + 1)
        for offsets in itertools.chain(*(itertools.combinations(steps, count) for count in steps)):
            sizes = border_sizes_of(size, offsets)
            if sum(sizes) == size - 1 and len(set(sizes)) == 1:
                found.append((circulant_graph(size, offsets), sizes[0]))
    return found


def meeting_theorem_4(rng: Generator) -> tuple[Adjacency, int, float]:
    """A graph that meets the conditions of Theorem 4, its c, and a privacy parameter."""
    size = rng.integers(2, 14)
    of_size = [pair for pair in equal_borders() if pair[0].size == size]
    return *of_size[rng.integers(len(of_size))], float(rng.uniform(0.05, 4))
