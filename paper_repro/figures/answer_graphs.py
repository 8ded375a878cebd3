"""Answers on a graph: three mechanisms as matrices, and their utilities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from paper_repro.figures.style import need, rounded
from paper_repro.figures.tables import leakage_text, number_text
from paper_repro.graphs import QUERIES, Adjacency, clique, line, query_by_name, ring
from paper_repro.guessing import bayes_vulnerability
from paper_repro.mechanisms import truncated_geometric
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "PaperTable",
    "graph_by_name",
    "matrix_finding",
    "matrix_table",
    "mechanisms_on",
    "named_priors",
    "paper_table",
    "problem_text",
    "same_together",
    "utility_finding",
    "utility_page",
    "utility_subtitle",
    "utility_table",
]


_SAME = 1e-8


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper: the file's name, its problem, and what is printed, in words and as rows of the ledger.

    ``problem`` has graph, size, priors and labels at log 2 nats; ``utilities`` are printed, a row a prior.
    """

    name: str
    problem: tuple[str, int, list[list[float]], list[str]]
    source: str = ""
    utilities: Sequence[Sequence[str]] = ()
    ledger: Mapping[str, Sequence[str]] = field(default_factory=dict)


_PAPER_TABLES = (
    PaperTable(
        "alvim_table_1",
        ("clique", 6, [[], [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]], list("ABCDEF")),
        "Alvim et al. 2011, Table 1",
        [["0.2243", "0.2857"], ["0.2412", "0.2857"]],
        {
            "a": ["alvim2011.table_1a"],
            "b": ["alvim2011.table_1b"],
            "utilities": [
                "alvim2011.example_2_uniform",
                "alvim2011.example_2_rounded",
                "alvim2011.example_2_non_uniform",
            ],
        },
    ),
    PaperTable(
        "alvim_table_2",
        ("line", 6, [[]], list("012345")),
        "Alvim et al. 2011, Table 2",
        [["4/9", "4/11"]],
        {
            "a": ["alvim2011.table_2a"],
            "b": ["alvim2011.table_2b"],
            "utilities": ["alvim2011.example_3_utilities", "alvim2011.example_3_ring"],
        },
    ),
)


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
        if name not in QUERIES:
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
    return rounded(pd.DataFrame(entries, pd.Index(names, name="true answer"), pd.Index(names, name="published")), 8)


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


def same_together(mechanisms: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Mechanisms by their names, those that agree to 8 digits once, under the names of all.

    Shapes are (n, n).

    >>> list(same_together({"a": np.eye(2), "b": np.full((2, 2), 0.5), "c": np.eye(2)}))
    ['a, and c', 'b']
    """
    names: dict[bytes, list[str]] = {}
    matrices: dict[bytes, np.ndarray] = {}
    for name, matrix in mechanisms.items():
        key = (matrix.round(8) + 0.0).tobytes()
        names.setdefault(key, []).append(name)
        matrices.setdefault(key, matrix)
    return {", and ".join(names[key]): matrix for key, matrix in matrices.items()}


def matrix_finding(name: str, matrix: np.ndarray, prior: str = "") -> str:
    """How often a mechanism of shape (n, n) publishes the true answer, as a sentence; the optimal one is so for the prior named.

    >>> matrix_finding("optimal", np.array([[0.6, 0.4], [0.4, 0.6]]))
    'Optimal: the true answer is published with probability 3/5'
    >>> matrix_finding("optimal", np.array([[0.6, 0.4], [0.0, 1.0]]))
    'Optimal: the true answer is published with probability 3/5 to 1'
    >>> matrix_finding("Alvim et al., and optimal", np.eye(2), "uniform")
    'Alvim et al., and optimal for the uniform prior: the true answer is published with probability 1'
    """
    if prior:
        name = name.replace("optimal", f"optimal for {_the_prior(prior)}")
    low, high = (number_text(value) for value in (matrix.diagonal().min(), matrix.diagonal().max()))
    range_ = low if low == high else f"{low} to {high}"
    return f"{name[0].upper()}{name[1:]}: the true answer is published with probability {range_}"


def utility_finding(table: pd.DataFrame) -> str:
    """Where the paper's mechanism is not the best, or that it is, as a sentence; of a table as of :func:`utility_table`.

    >>> utility_finding(utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'A right guess has probability 4/9 at best, and 4/11 with the mechanism of Alvim et al.'
    >>> utility_finding(utility_table(clique(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'No mechanism of this leakage lets one guess right more often than that of Alvim et al.'
    """
    wide = _wide(table, "utility")
    short = wide["optimal"] - wide["Alvim et al."]
    if short.max() < _SAME:
        return "No mechanism of this leakage lets one guess right more often than that of Alvim et al."
    worst = int(short.argmax())
    best, own = (number_text(wide[name].iloc[worst]) for name in ("optimal", "Alvim et al."))
    return f"A right guess has probability {best} at best, and {own} with the mechanism of Alvim et al."


def utility_subtitle(table: pd.DataFrame) -> str:
    """Subtitle of a table as of :func:`utility_table`: what it has, and the prior that :func:`utility_finding` speaks of.

    >>> utility_subtitle(utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'Probability of a right guess, in the title for the uniform prior'
    """
    wide = _wide(table, "utility")
    short = wide["optimal"] - wide["Alvim et al."]
    what = "Probability of a right guess"
    return (
        what if short.max() < _SAME else f"{what}, in the title for {_the_prior(str(wide.index[int(short.argmax())]))}"
    )


def problem_text(graph: str, size: int, leakage: float) -> str:
    r"""Graph, answers and leakage in nats, for the line below a title.

    >>> problem_text("ring", 5, float(np.log(3))), problem_text("ring", 5, 1.0)
    ('ring, 5 answers, $\\epsilon = \\log 3$', 'ring, 5 answers, $\\epsilon = 1$')
    """
    return f"{graph}, {size} answers, {leakage_text(leakage)}"


def utility_page(table: pd.DataFrame, printed: Sequence[Sequence[str]] = ()) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Utilities with a row a prior and a column a mechanism, and the same of what is printed, empty where nothing is.

    ``table`` is as of :func:`utility_table`; ``printed`` has its numbers in that order.

    >>> shown, said = utility_page(utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)}), [["4/9", "4/11"]])
    >>> shown.round(4).values.tolist(), said.values.tolist()
    ([[0.4444, 0.3636, 0.4444]], [['4/9', '4/11', '']])
    """
    wide = _wide(table, "utility")
    said = wide.map(lambda _: "")
    for row, numbers in enumerate(printed):
        said.iloc[row, : len(numbers)] = list(numbers)
    return wide, said


def paper_table(
    graph: str, size: int, leakage: float, priors: Sequence[Sequence[float]], labels: Sequence[Hashable]
) -> PaperTable:
    """What the paper's table of this very problem is and prints; for any other problem, names of its own and nothing printed.

    The leakage is in nats.

    >>> paper_table("line", 6, float(np.log(2)), [[]], ["0", "1", "2", "3", "4", "5"]).source
    'Alvim et al. 2011, Table 2'
    >>> paper_table("ring", 5, 1.0, [[]], []).name
    'answers_ring_5'
    """
    for table in _PAPER_TABLES:
        same = (graph, size, list(map(list, priors)), list(map(str, labels))) == table.problem
        if same and abs(leakage - np.log(2)) < 1e-12:
            return table
    return PaperTable(f"answers_{'_'.join(graph.split())}_{size}", ("", 0, [], []))


def _the_prior(name: str) -> str:
    return "the uniform prior" if name == "uniform" else f"the prior {name}"


def _wide(table: pd.DataFrame, values: str) -> pd.DataFrame:
    wide = table.pivot(index="prior", columns="mechanism", values=values)
    return wide.loc[list(dict.fromkeys(table["prior"])), list(dict.fromkeys(table["mechanism"]))].rename_axis(
        columns=None
    )
