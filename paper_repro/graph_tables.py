"""Tables of answers on a graph and of databases: bounds on leakage, distances, matrices and utilities, as pandas frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from paper_repro.checks import check_leakage
from paper_repro.graphs import Adjacency, Query, clique, databases, hamming, line, query_by_name, ring
from paper_repro.mechanisms import truncated_geometric
from paper_repro.min_entropy import bayes_vulnerability, greatest_capacity, min_entropy_capacity
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "bound_table",
    "database_table",
    "distance_table",
    "graph_by_name",
    "matrix_table",
    "mechanisms_on",
    "output_table",
    "utility_table",
]

_DECIMALS = 8


def graph_by_name(name: str, size: int, values: int, individuals: int) -> Adjacency:
    """The graph of answers that a notebook names: ``clique``, ``ring`` or ``line`` of a size, or that of a named query.

    Raises ValueError for any other name; the message lists those there are.

    >>> graph_by_name("most frequent value", 0, 3, 4).is_clique
    True
    """
    plain = {"clique": clique, "ring": ring, "line": line}
    if name in plain:
        return plain[name](size)
    try:
        return query_by_name(name, values, individuals).adjacency
    except ValueError as error:
        if "unknown query" in str(error):
            raise ValueError(f"unknown graph {name!r}; known are {', '.join(plain)}, or a query: {error}") from None
        raise


def bound_table(individuals: int, values: Sequence[int], largest_leakage: float, points: int = 100) -> pd.DataFrame:
    """Theorem 1 of Alvim et al. 2011: the bound on min-entropy leakage in bits, against the privacy parameter in nats.

    Columns: ``values``, ``leakage`` (nats) and ``bound`` (bits).

    >>> bound_table(100, [2], 5.0, 2)["bound"].round(3).tolist()
    [0.0, 99.031]
    """
    grid = np.linspace(0.0, check_leakage(largest_leakage), points).round(9)
    rows = [(v, eps, alvim2011.theorem_1(v, individuals, eps)) for v in values for eps in grid]
    return pd.DataFrame(rows, columns=["values", "leakage", "bound"]).round({"bound": _DECIMALS})


def distance_table(values: Sequence[Hashable], individuals: int) -> pd.DataFrame:
    """Distances between all databases, labelled by their tuples; Figure 4(b) of Alvim et al. 2011.

    >>> distance_table("ab", 2).loc["aa"].tolist()
    [0, 1, 1, 2]
    """
    between = "" if all(len(str(value)) == 1 for value in values) else ","
    labels = [between.join(map(str, database)) for database in databases(values, individuals)]
    distances = hamming(len(values), individuals).distances
    return pd.DataFrame(distances, index=pd.Index(labels, name="database"), columns=labels)


def matrix_table(matrix: ArrayLike, labels: Sequence[Hashable]) -> pd.DataFrame:
    """A channel between answers, rows and columns labelled, rounded to 8 digits."""
    names = [str(label) for label in labels]
    frame = pd.DataFrame(np.asarray(matrix, dtype=float), index=pd.Index(names, name="answer"), columns=names)
    return frame.round(_DECIMALS) + 0.0


def mechanisms_on(adjacency: Adjacency, leakage: float, prior: ArrayLike) -> dict[str, np.ndarray]:
    """Three mechanisms of at most this leakage on a graph of answers 0 .. n-1, as matrices.

    ``truncated geometric``: noise along the line 0 .. n-1, spread so far that the neighbors furthest apart on it stay within the
    leakage (Example 2 of Alvim et al. 2011). ``Alvim et al.``: the paper's own. ``optimal``: the exact optimum for the prior.
    """
    widest = int(np.abs(np.diff(adjacency.edges, axis=1)).max(initial=1))
    best = optimal_mechanism(SourceSet(prior), leakage=leakage, notion=DifferentialPrivacy(adjacency))
    return {
        "truncated geometric": truncated_geometric(adjacency.size, leakage / widest).matrix,
        "Alvim et al.": alvim2011.proposed_mechanism(adjacency, leakage),
        "optimal": best.mechanism.matrix,
    }


def utility_table(adjacency: Adjacency, leakage: float, priors: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Utility of the three mechanisms for each prior: the probability of a right guess after the best remapping of outputs.

    Columns: ``prior``, ``mechanism``, ``utility``, and ``leakage`` in nats between neighbors, evaluated from the matrix.

    >>> table = utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)})
    >>> table["utility"].round(6).tolist()
    [0.444444, 0.363636, 0.444444]
    """
    notion, rows = DifferentialPrivacy(adjacency), []
    for name, prior in priors.items():
        for mechanism, matrix in mechanisms_on(adjacency, leakage, prior).items():
            rows.append((name, mechanism, bayes_vulnerability(prior, matrix), notion.leakage(matrix)))
    return pd.DataFrame(rows, columns=["prior", "mechanism", "utility", "leakage"]).round(_DECIMALS)


def database_table(query: Query, matrix: ArrayLike) -> pd.DataFrame:
    """How much a randomized answer tells of the whole database and of one individual, beside the paper's bounds, in bits.

    Rows: ``database`` (capacity of query and noise together, against Theorem 1) and ``individual`` (the largest capacity for one
    individual when all others are known, against Theorem 2). Columns: ``leakage``, ``bound``.
    """
    channel = query.then(matrix)
    privacy = DifferentialPrivacy(query.adjacency).leakage(matrix)
    others = databases(query.values, query.individuals - 1) if query.individuals > 1 else [()]
    alone = max(
        min_entropy_capacity(query.of_individual(channel, individual, known), bits=True)
        for known in others
        for individual in range(query.individuals)
    )
    rows = [
        ("database", min_entropy_capacity(channel, bits=True),
         alvim2011.theorem_1(len(query.values), query.individuals, privacy)),
        ("individual", alone, alvim2011.theorem_2(privacy)),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["of", "leakage", "bound"]).round(_DECIMALS)


def output_table(values: int, individuals: int, outputs: Sequence[int], leakage: float) -> pd.DataFrame:
    """Proposition 2 against the exact maximum: the largest min-entropy leakage with r outputs, in bits.

    Columns: ``outputs``, ``exact`` (by enumeration), ``proposition_2``, ``theorem_1``.

    >>> output_table(2, 3, [3], np.log(2)).round(4).iloc[0].tolist()
    [3.0, 1.0, 1.415, 1.2451]
    """
    graph = hamming(values, individuals)
    rows = [
        (
            count,
            greatest_capacity(graph, count, leakage) / np.log(2),
            alvim2011.proposition_2(values, individuals, count, leakage),
            alvim2011.theorem_1(values, individuals, leakage),
        )
        for count in outputs
    ]
    return pd.DataFrame(rows, columns=["outputs", "exact", "proposition_2", "theorem_1"]).round(_DECIMALS)
