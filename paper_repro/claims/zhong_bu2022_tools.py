"""What the claims of Zhong and Bu share: exact optima, rational mechanisms, and how a claim is registered."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from paper_repro.claims.draw import Vertices
from paper_repro.claims.exact import Channel
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
    "information",
    "least",
    "least_by_program",
    "loss",
    "notion_of",
    "part_of",
    "uniform",
]

DP, APPROXIMATE, MAXIMAL, LEAKAGE, RENYI, SIBSON, MUTUAL = NOTION_NAMES

IS = {"both": "", "lower": "bounded below by ", "upper": "bounded above by "}
"""How a statement goes on after "the least leakage is", by side."""


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
    matrix: FloatArray | Channel,
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


def information(prior: FloatArray, matrix: FloatArray) -> float:
    """Mutual information in nats; by ratios to the output, in which what the claims try was recorded."""
    output = prior @ matrix
    joint = prior[:, np.newaxis] * matrix
    used = joint > 0
    return float((joint[used] * np.log(np.divide(matrix, output, out=np.ones_like(matrix), where=used)[used])).sum())
