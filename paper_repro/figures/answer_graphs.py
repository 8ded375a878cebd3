"""Answers on a graph: three mechanisms as matrices, and their utilities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.figures.style import draw_shaded, drawing, need, rounded
from paper_repro.graphs import Adjacency, clique, line, query_by_name, ring
from paper_repro.guessing import bayes_vulnerability
from paper_repro.mechanisms import truncated_geometric
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "draw_matrix",
    "draw_utilities",
    "graph_by_name",
    "matrix_table",
    "mechanisms_on",
    "named_priors",
    "utility_table",
]


def named_priors(priors: Sequence[Sequence[float]], size: int) -> dict[str, list[float]]:
    """Probabilities of the true answers by the names of the priors; an empty one stands for the uniform one over so many answers.

    Raises ValueError if there is none.

    >>> named_priors([[], [0.6, 0.4]], 2)
    {'uniform': [0.5, 0.5], '(0.6, 0.4)': [0.6, 0.4]}
    """
    need(priors, "prior")
    names = [f"({', '.join(f'{p:g}' for p in prior)})" if prior else "uniform" for prior in priors]
    return {name: list(prior) or [1 / size] * size for name, prior in zip(names, priors, strict=True)}


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


def matrix_table(matrix: ArrayLike, labels: Sequence[Hashable]) -> pd.DataFrame:
    """A channel between answers, shape (n, n), rows and columns labelled, rounded to 8 digits.

    Raises ValueError if there is another number of labels than of answers.

    >>> matrix_table([[2 / 3, 1 / 3], [0, 1]], ["yes", "no"])["yes"].tolist()
    [0.66666667, 0.0]
    """
    entries, names = np.asarray(matrix, dtype=float), [str(label) for label in labels]
    if len(names) != len(entries):
        raise ValueError(f"labels must name each of the {len(entries)} answers, got {len(names)}: {', '.join(names)}")
    return rounded(pd.DataFrame(entries, index=pd.Index(names, name="answer"), columns=names), 8)


def mechanisms_on(adjacency: Adjacency, leakage: float, prior: ArrayLike) -> dict[str, np.ndarray]:
    """Three mechanisms of at most this leakage on a graph of answers 0 .. n-1, as matrices.

    ``truncated geometric``: noise along the line 0 .. n-1, spread so far that the neighbors furthest apart on it stay within the
    leakage (Example 2 of Alvim et al. 2011). ``Alvim et al.``: the paper's own. ``optimal``: the exact optimum for the prior,
    shape (n,). Nats; matrices have shape (n, n).
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

    Columns: ``prior``, ``mechanism``, ``utility``, and ``leakage`` in nats between neighbors, evaluated from the matrix. Raises
    ValueError if there is no prior, or one does not fit the graph.

    >>> table = utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)})
    >>> table["utility"].round(6).tolist()
    [0.444444, 0.363636, 0.444444]
    """
    need(priors, "prior")
    notion, rows = DifferentialPrivacy(adjacency), []
    for name, prior in priors.items():
        for mechanism, matrix in mechanisms_on(adjacency, leakage, prior).items():
            rows.append((name, mechanism, bayes_vulnerability(prior, matrix), notion.leakage(matrix)))
    return rounded(pd.DataFrame(rows, columns=["prior", "mechanism", "utility", "leakage"]), 8)


@drawing()
def draw_matrix(table: pd.DataFrame, title: str = "") -> Figure:
    """A mechanism as a shaded table: row = true answer, column = published one."""
    return draw_shaded(table, title, "published answer", "{:.3f}")


@drawing("prior", "mechanism", "utility")
def draw_utilities(table: pd.DataFrame, title: str = "") -> Figure:
    """Utilities as a shaded table: rows are priors, columns mechanisms.

    ``table`` is as of :func:`utility_table`. Raises ValueError if a column is missing.
    """
    wide = table.pivot(index="prior", columns="mechanism", values="utility")
    wide = wide.loc[list(dict.fromkeys(table["prior"])), list(dict.fromkeys(table["mechanism"]))]
    return draw_shaded(wide, title, "mechanism", "{:.4f}")
