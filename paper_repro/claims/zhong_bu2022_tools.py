"""What the claims of Zhong and Bu share: exact optima, rational mechanisms, and how a claim is registered."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from paper_repro.claims.base import register
from paper_repro.databases import database_distances, optimal_database_mechanism
from paper_repro.graphs import hamming
from paper_repro.notions import Notion, notion_by_name
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import certified, optimal_mechanism
from paper_repro.types import NOTION_NAMES, FloatArray

__all__ = [
    "APPROXIMATE",
    "DP",
    "IS",
    "LEAKAGE",
    "MAXIMAL",
    "MUTUAL",
    "RENYI",
    "SIBSON",
    "Table",
    "Vertices",
    "changed",
    "channel",
    "claim",
    "distances",
    "divergence",
    "exp_information",
    "exp_mass",
    "exp_ratio",
    "exp_sibson_2",
    "information",
    "least",
    "least_by_program",
    "loss",
    "notion_of",
    "part_of",
    "product",
    "random_prior",
    "random_vertices",
    "response",
    "uniform",
]

DP, APPROXIMATE, MAXIMAL, LEAKAGE, RENYI, SIBSON, MUTUAL = NOTION_NAMES

IS = {"both": "", "lower": "bounded below by ", "upper": "bounded above by "}
"""How a statement goes on after "the least leakage is", by side."""

Table = list[list[Fraction]]
"""A mechanism in exact rational arithmetic, one row per input."""

Vertices = tuple[tuple[float, ...], ...]
"""Vertices of a source set."""


claim = partial(register, "zhong_bu2022")
"""Registers a claim of Zhong and Bu."""


def part_of(name: str) -> tuple[int, str, str]:
    """What a claim is about that has one part a notion: the part, its notion, and "lower" or "upper", or "both" for an equation.

    >>> part_of("theorem_7_4_upper")
    (4, 'maximal leakage', 'upper')
    """
    side = name.rpartition("_")[2] if name.endswith(("_lower", "_upper")) else "both"
    part = int(name.removesuffix(f"_{side}").rpartition("_")[2])
    return part, NOTION_NAMES[part - 1], side


def uniform(size: int) -> SourceSet:
    """The source set of the uniform distribution alone."""
    return SourceSet(np.full(size, 1 / size))


def notion_of(name: str, values: int, records: int, alpha: float = 2.0, delta: float = 0.1) -> Notion:
    """A notion on databases, where neighbors differ in one record."""
    notion = notion_by_name(name, alpha=alpha, delta=delta)
    return notion.with_neighbors(hamming(values, records)) if records > 1 else notion


def loss(
    name: str,
    matrix: FloatArray | Table,
    values: int,
    records: int,
    source: SourceSet | None = None,
    *,
    alpha: float = 2.0,
    delta: float = 0.1,
) -> float:
    """Leakage of a mechanism on databases in nats, from the definition."""
    return notion_of(name, values, records, alpha, delta).leakage(np.array(matrix, dtype=float), source)


def least(
    name: str,
    values: int,
    records: int,
    distortion: float,
    vertices: Vertices | None = None,
    *,
    alpha: float = 2.0,
    delta: float = 0.1,
) -> float:
    """Least leakage in nats of all mechanisms on databases, certified; for the uniform prior unless vertices are given."""
    return _least(name, values, records, float(distortion), vertices, alpha, delta)


def least_by_program(
    name: str, values: int, records: int, distortion: float, *, alpha: float = 2.0, delta: float = 0.1
) -> float:
    """The same for the uniform prior by a program over the whole channel, which knows of no symmetry."""
    notion = notion_of(name, values, records, alpha, delta)
    optimizer = notion.optimizer(uniform(values**records), database_distances(values, records))
    return certified(notion, optimizer, distortion=distortion).leakage


@lru_cache(maxsize=512)
def _least(
    name: str, values: int, records: int, distortion: float, vertices: Vertices | None, alpha: float, delta: float
) -> float:
    notion = notion_by_name(name, alpha=alpha, delta=delta)
    if vertices is not None and records == 1:
        return optimal_mechanism(SourceSet(vertices), distortion=distortion, notion=notion).leakage
    source = None if vertices is None else SourceSet(vertices)
    return optimal_database_mechanism(values, records, distortion=distortion, notion=notion, source=source).leakage


def random_prior(rng: np.random.Generator, size: int, low: float = 0.0, high: float = 2.0) -> FloatArray:
    """A distribution of full support, in falling order; the larger the exponent, the closer to uniform."""
    prior = rng.dirichlet(np.full(size, 10 ** rng.uniform(low, high)))
    prior = np.maximum(prior, 1e-3)
    return -np.sort(-prior / prior.sum())


def random_vertices(rng: np.random.Generator, size: int, count: int, low: float = 0.5, high: float = 2.5) -> Vertices:
    """Vertices of a source set of full support."""
    return tuple(tuple(rng.permutation(random_prior(rng, size, low, high)).tolist()) for _ in range(count))


def distances(values: int, records: int) -> list[list[int]]:
    """In how many records two databases differ, the last record changing fastest."""
    databases = list(itertools.product(range(values), repeat=records))
    return [[sum(a != b for a, b in zip(x, y, strict=True)) for y in databases] for x in databases]


def response(values: int, change: Fraction) -> Table:
    """Randomized response with this probability of change.

    >>> response(2, Fraction(1, 4))[0]
    [Fraction(3, 4), Fraction(1, 4)]
    """
    other = change / (values - 1)
    return [[1 - change if i == j else other for j in range(values)] for i in range(values)]


def product(*factors: Sequence[Sequence[Fraction]]) -> Table:
    """Independent records, each through its own mechanism."""
    whole = [[Fraction(1)]]
    for factor in factors:
        whole = [[a * b for a in row for b in other] for row in whole for other in factor]
    return whole


def changed(matrix: Table, prior: Sequence[Fraction], values: int = 0, records: int = 1) -> Fraction:
    """Expected number of records changed."""
    apart = distances(values or len(matrix), records)
    return sum(
        (
            p * q * d
            for p, row, steps in zip(prior, matrix, apart, strict=True)
            for q, d in zip(row, steps, strict=True)
        ),
        Fraction(0),
    )


def exp_ratio(matrix: Table, values: int = 0, records: int = 1, delta: Fraction | int = 0) -> Fraction:
    """Least t >= 1 with ``Q(y|x) <= t Q(y|x') + delta`` for neighbors; entries next to a 0 must be at most delta."""
    apart = distances(values or len(matrix), records)
    ratios = [Fraction(1)]
    for x, z in itertools.permutations(range(len(matrix)), 2):
        if apart[x][z] == 1:
            ratios += [(a - delta) / b for a, b in zip(matrix[x], matrix[z], strict=True) if a > delta]
    return max(ratios)


def exp_mass(matrix: Table) -> Fraction:
    """Exponential of the maximal leakage, ``sum_y max_x Q(y|x)``."""
    return sum((max(column) for column in zip(*matrix, strict=True)), Fraction(0))


def exp_information(matrix: Table, prior: Sequence[Fraction]) -> Fraction:
    """Exponential of the maximal information, ``max Q(y|x) / sum_z P(z) Q(y|z)``."""
    shown = [(column, sum(p * q for p, q in zip(prior, column, strict=True))) for column in zip(*matrix, strict=True)]
    return max(max(column) / mean for column, mean in shown if mean > 0)


def exp_sibson_2(matrix: Table, prior: Sequence[Fraction]) -> float:
    """Exponential of the Sibson information of order 2, ``(sum_y (sum_x P(x) Q(y|x)^2)^(1/2))^2``."""
    moments = [sum(p * q * q for p, q in zip(prior, column, strict=True)) for column in zip(*matrix, strict=True)]
    return math.fsum(math.sqrt(moment) for moment in moments) ** 2


def information(prior: FloatArray, matrix: FloatArray) -> float:
    """Mutual information in nats."""
    output = prior @ matrix
    joint = prior[:, np.newaxis] * matrix
    used = joint > 0
    return float((joint[used] * np.log(np.divide(matrix, output, out=np.ones_like(matrix), where=used)[used])).sum())


def divergence(row: FloatArray, other: FloatArray, order: float) -> float:
    """Renyi divergence of two distributions in nats."""
    if (other[row > 0] == 0).any():
        return math.inf
    row, other = row[row > 0], other[row > 0]
    return max(0.0, math.log((row**order * other ** (1 - order)).sum()) / (order - 1))


def channel(rng: np.random.Generator, rows: int, columns: int = 0, *, zeros: bool = True) -> FloatArray:
    """A random mechanism; every other one has small rational entries, so that ties and zeros come by themselves."""
    shape = (rows, columns or rows)
    if rng.random() < 0.5:
        matrix = rng.dirichlet(np.full(shape[1], 10 ** rng.uniform(-0.5, 1.0)), size=rows) + 1e-9
    else:
        matrix = rng.integers(0 if zeros else 1, 9, size=shape).astype(float)
        matrix[matrix.sum(axis=1) == 0] = 1.0
    return matrix / matrix.sum(axis=1, keepdims=True)
