"""How much a private answer tells of a database: bounds, distances and graphs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.checks import check_leakage
from paper_repro.errors import optional
from paper_repro.figures.registry import COLORS, DASHES
from paper_repro.figures.style import canvas, draw_shaded, drawing, need, rounded
from paper_repro.graphs import Query, databases, hamming
from paper_repro.guessing import greatest_capacity, min_entropy_capacity
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011

__all__ = [
    "database_table",
    "distance_table",
    "draw_distances",
    "draw_graph",
    "draw_theorem_1",
    "output_table",
    "theorem_1_table",
]


def theorem_1_table(records: int, values: Sequence[int], largest_leakage: float, points: int = 100) -> pd.DataFrame:
    """Theorem 1 of Alvim et al. 2011: the bound on min-entropy leakage in bits, against the privacy parameter in nats.

    Columns: ``values``, ``leakage`` (nats) and ``bound`` (bits). Raises ValueError if there is no number of values.

    >>> theorem_1_table(100, [2], 5.0, 2)["bound"].round(3).tolist()
    [0.0, 99.031]
    """
    need(values, "number of values")
    grid = np.linspace(0.0, check_leakage(largest_leakage), points).round(9)
    rows = [(v, eps, alvim2011.theorem_1(v, records, eps)) for v in values for eps in grid]
    return rounded(pd.DataFrame(rows, columns=["values", "leakage", "bound"]), 8, leakage=9)


def distance_table(values: Sequence[Hashable], records: int) -> pd.DataFrame:
    """Distances between all databases, labelled by their tuples; Figure 4(b) of Alvim et al. 2011.

    >>> distance_table("ab", 2).loc["aa"].tolist()
    [0, 1, 1, 2]
    """
    between = "" if all(len(str(value)) == 1 for value in values) else ","
    labels = [between.join(map(str, database)) for database in databases(values, records)]
    distances = hamming(len(values), records).distances
    return pd.DataFrame(distances, index=pd.Index(labels, name="database"), columns=labels)


def database_table(query: Query, matrix: ArrayLike) -> pd.DataFrame:
    """How much a randomized answer tells of the whole database and of one individual, beside the paper's bounds, in bits.

    Rows: ``database`` (capacity of query and noise together, against Theorem 1) and ``individual`` (the largest capacity for one
    individual when all others are known, against Theorem 2). Columns: ``leakage``, ``bound``. The matrix
    of the noise has shape (answers, outputs).
    """
    channel = query.then(matrix)
    privacy = DifferentialPrivacy(query.adjacency).leakage(matrix)
    others = databases(query.values, query.records - 1) if query.records > 1 else [()]
    alone = max(
        min_entropy_capacity(query.of_record(channel, record, known), bits=True)
        for known in others
        for record in range(query.records)
    )
    rows = [
        ("database", min_entropy_capacity(channel, bits=True),
         alvim2011.theorem_1(len(query.values), query.records, privacy)),
        ("individual", alone, alvim2011.theorem_2(privacy)),
    ]  # fmt: skip
    return rounded(pd.DataFrame(rows, columns=["of", "leakage", "bound"]), 8)


def output_table(values: int, records: int, outputs: Sequence[int], leakage: float) -> pd.DataFrame:
    """Proposition 2 against the exact maximum: the largest min-entropy leakage with r outputs, in bits.

    Columns: ``outputs``, ``exact`` (by enumeration), ``proposition_2``, ``theorem_1``.

    >>> output_table(2, 3, [3], np.log(2)).round(4).iloc[0].tolist()
    [3.0, 1.0, 1.415, 1.2451]
    """
    graph = hamming(values, records)
    rows = [
        (
            count,
            greatest_capacity(graph, count, leakage) / np.log(2),
            alvim2011.proposition_2(values, records, count, leakage),
            alvim2011.theorem_1(values, records, leakage),
        )
        for count in outputs
    ]
    return rounded(pd.DataFrame(rows, columns=["outputs", "exact", "proposition_2", "theorem_1"]), 8)


@drawing("values", "leakage", "bound")
def draw_theorem_1(table: pd.DataFrame, title: str = "") -> Figure:
    """Bounds on min-entropy leakage in bits against the privacy parameter in nats, one line per number of values.

    ``table`` is as of :func:`theorem_1_table`. Raises ValueError if a column is missing.
    """
    figure, axes = canvas(7.2, 4.4)
    for number, (values, rows) in enumerate(table.groupby("values", sort=False)):
        color, dashes = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
        axes.plot(rows["leakage"], rows["bound"], color=color, linestyle=dashes, clip_on=False)
        place = rows[["leakage", "bound"]].to_numpy()[-1]
        axes.annotate(f"v = {values}", place, xytext=(5, 0), textcoords="offset points", va="center", color=color)
    axes.set(
        xlabel="privacy parameter of differential privacy (nats)", ylabel="min-entropy leakage (bits)", title=title
    )
    axes.set_xlim(0, float(table["leakage"].max()))
    axes.set_ylim(bottom=0)
    return figure


@drawing("from", "to")
def draw_graph(edges: pd.DataFrame, title: str = "") -> Figure:
    """A graph of neighbors, its vertices around a circle.

    ``edges`` has the columns ``from`` and ``to``. Raises ValueError if one is missing.
    """
    nx = optional("networkx", "plot")
    graph = nx.Graph(list(zip(edges["from"].astype(str), edges["to"].astype(str), strict=True)))
    names = sorted(graph, key=lambda name: (len(name), name))
    figure, axes = canvas(5.2, 5.2)
    place = nx.circular_layout(names)
    nx.draw_networkx_edges(graph, place, ax=axes, edge_color="0.55", width=1.0)
    nx.draw_networkx_nodes(
        graph, place, names, ax=axes, node_color="white", edgecolors=COLORS[1], node_size=620, linewidths=1.4
    )
    nx.draw_networkx_labels(graph, place, ax=axes, font_size=9, font_family="DejaVu Sans")
    axes.set(title=title, aspect="equal")
    axes.margins(0.12)
    axes.axis("off")
    return figure


@drawing()
def draw_distances(table: pd.DataFrame, title: str = "") -> Figure:
    """Distances between databases as a shaded table, as of :func:`distance_table`."""
    return draw_shaded(table, title, "database", "{:d}")
