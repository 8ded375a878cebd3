"""Answers on a graph: the graphs as a picture, three mechanisms as matrices, and their utilities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from paper_repro.figures.curves import Cited, capitalized, cited_as
from paper_repro.figures.layout import COLUMN, PAGE, after, headline
from paper_repro.figures.registry import plain_text
from paper_repro.figures.style import BLUES, drawing, need, rounded
from paper_repro.figures.tables import leakage_text, number_text
from paper_repro.graphs import QUERIES, Adjacency, clique, line, query_by_name, ring
from paper_repro.guessing import bayes_vulnerability
from paper_repro.mechanisms import truncated_geometric
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "GRAPHS_CAPTION",
    "PaperTable",
    "answer_names",
    "cited_graphs",
    "draw_graphs",
    "finding_of_graphs",
    "graph_by_name",
    "graph_table",
    "graphs_in_words",
    "graphs_subtitle",
    "matrix_finding",
    "matrix_subtitle",
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


GRAPHS_CAPTION = (
    "A circle is an answer, and a line joins two neighboring answers. The number in a circle, and its shade, is the probability "
    "that the optimal mechanism publishes this answer when it is true. Below each graph are the utilities of three mechanisms: "
    "the probability that the best guess is right"
)
"""How to read the picture of :func:`draw_graphs`."""

_SAME = 1e-8
# More answers than these have neither names nor numbers in the picture.
_MOST_WRITTEN, _LONGEST = 12, 6
_BIG, _SMALL = 0.21, 0.06  # radii of answers around a circle of radius 1
_MOST_GRAPHS = 4
_FIGURES: dict[tuple[object, ...], Cited] = {
    ("clique", "clique", "ring", "line", 6, round(float(np.log(2)), 9)): Cited("alvim_graphs"),
    ("line", "line", "ring", 6, round(float(np.log(2)), 9)): Cited("alvim_graphs_line"),
}


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

    Raises ValueError if there is none, or one has another number of probabilities than there are answers.

    >>> named_priors([[], [0.6, 0.4]], 2)
    {'uniform': [0.5, 0.5], '(0.6, 0.4)': [0.6, 0.4]}
    """
    need(priors, "prior")
    for prior in priors:
        if len(prior) not in (0, size):
            raise ValueError(
                f"priors must each have {size} probabilities, one for each answer of the graph, or be empty for the uniform "
                f"prior; got {len(prior)}: {list(prior)}. Give {size} of them, or set priors to [[]]."
            )
    names = [f"({', '.join(f'{p:g}' for p in prior)})" if prior else "uniform" for prior in priors]
    return {name: list(prior) or [1 / size] * size for name, prior in zip(names, priors, strict=True)}


def answer_names(labels: Sequence[Hashable], size: int) -> list[Hashable]:
    """Names of the answers of a graph: the labels, or the numbers 0 .. size-1 if there are none.

    Raises ValueError if there is another number of labels than of answers.

    >>> answer_names([], 3), answer_names(["yes", "no"], 2)
    ([0, 1, 2], ['yes', 'no'])
    """
    if labels and len(labels) != size:
        raise ValueError(
            f"labels must name each of the {size} answers of the graph, or be empty; got {len(labels)}: "
            f"{', '.join(map(str, labels))}. Give {size} names, or [] for numbers."
        )
    return list(labels) or list(range(size))


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


def cited_graphs(graph: str, compared: Sequence[str], size: int, leakage: float) -> Cited:
    """File name of the picture of a graph and those it is compared with; the leakage is in nats.

    >>> cited_graphs("clique", ["clique", "ring", "line"], 6, np.log(2)).name, cited_graphs("ring", [], 5, 1.0).name
    ('alvim_graphs', 'answers_graphs_ring_5_1-0')
    """
    return cited_as(_FIGURES, graph, *compared, size, round(float(leakage), 9), kind="answers_graphs")


def graph_table(
    graph: str, adjacency: Adjacency, compared: Sequence[str], leakage: float, names: Sequence[Hashable]
) -> pd.DataFrame:
    """A graph of answers and others with as many answers, with the optimal mechanism for the uniform prior on each.

    Parameters
    ----------
    graph : str
        Its name, as of :func:`graph_by_name`.
    adjacency : Adjacency
    compared : sequence of str
        Of ``clique``, ``ring`` and ``line``; one that has the same edges as another graph of the table is left out.
    leakage : float
        Nats.
    names : sequence of n answers

    Returns
    -------
    DataFrame
        A row for each answer of each graph: ``graph``, ``number`` and ``answer``, ``neighbors`` (their numbers, in one text),
        ``kept`` (the probability that the optimal mechanism publishes the answer where it is true), and the utilities
        ``truncated geometric``, ``Alvim et al.`` and ``optimal`` on the graph, all for the uniform prior.

    Raises
    ------
    ValueError
        If a graph to compare with is unknown, or there are more than four graphs.

    >>> table = graph_table("line", line(3), ["clique"], np.log(2), [0, 1, 2])
    >>> table[["graph", "neighbors", "optimal"]].drop_duplicates("graph").to_numpy().tolist()
    [['line', '1', 0.555555556], ['clique', '1 2', 0.5]]
    """
    plain = {"clique": clique, "ring": ring, "line": line}
    size = adjacency.size
    shown = {graph: adjacency}
    for name in compared:
        if name not in plain:
            raise ValueError(f"compared must be of {', '.join(plain)}; got {name!r}. Draw another graph by `graph`.")
        if name != "ring" or size > 2:  # two answers make no ring
            other = plain[name](size)
            if not any(_edges(other) == _edges(drawn) for drawn in shown.values()):
                shown[name] = other
    order = [name for name in compared if name in shown]  # as asked for, the graph itself first if it is not among them
    order = order if graph in order else [graph, *order]
    need(order, "graph")
    if len(order) > _MOST_GRAPHS:
        raise ValueError(f"at most {_MOST_GRAPHS} graphs must be compared; got {len(order)}. Leave some out.")
    uniform, frames = [1 / size] * size, []
    for name in order:
        edges = shown[name].edges
        around = [
            sorted({*edges[edges[:, 0] == i, 1].tolist(), *edges[edges[:, 1] == i, 0].tolist()}) for i in range(size)
        ]
        found = mechanisms_on(shown[name], leakage, uniform)
        utilities = {mechanism: bayes_vulnerability(uniform, matrix) for mechanism, matrix in found.items()}
        columns = {
            "graph": name,
            "number": range(size),
            "answer": [str(answer) for answer in names],
            "neighbors": [" ".join(map(str, neighbors)) for neighbors in around],
            "kept": np.diagonal(found["optimal"]),
        }
        frames.append(pd.DataFrame({**columns, **utilities}))
    return rounded(pd.concat(frames, ignore_index=True), 9)


@drawing("graph", "number", "answer", "neighbors", "kept", "optimal", "Alvim et al.", "truncated geometric")
def draw_graphs(table: pd.DataFrame, title: str = "", subtitle: str = "", source: str = "") -> Figure:
    """Graphs of answers side by side, answers around a circle, each with its chance to be published where it is true.

    Below each graph are the utilities of three mechanisms. ``table`` is as of :func:`graph_table`; the title is by default
    :func:`finding_of_graphs`. Raises ValueError if a column is missing.
    """
    graphs = list(dict.fromkeys(table["graph"]))
    figure = Figure(
        figsize=(COLUMN, 3.6) if len(graphs) == 1 else (PAGE, 2.0 + 4.4 / len(graphs)), layout="constrained"
    )
    darkest = max(float(table["kept"].max()), 1e-9)
    for axes, name in zip(figure.subplots(1, len(graphs), squeeze=False)[0], graphs, strict=True):
        _draw_graph(axes, table[table["graph"] == name], darkest)
        axes.set_title(f"{capitalized(name)}", fontsize=9, loc="center")
    headline(figure, title or finding_of_graphs(table), after(subtitle, source))
    return figure


def _draw_graph(axes: Axes, rows: pd.DataFrame, darkest: float) -> None:
    size = len(rows)
    written = size <= _MOST_WRITTEN
    # The first and the last answer are on both sides of the top, so that a line is a ring without its uppermost edge.
    angles = np.pi / 2 - 2 * np.pi * (np.arange(size) + 0.5) / size
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    for one, neighbors in zip(rows["number"], rows["neighbors"], strict=True):
        for other in map(int, neighbors.split()):
            if one < other:
                axes.plot(*places[[one, other]].T, color="0.45", linewidth=0.9 if written else 0.4, zorder=1)
    named = written and all(len(str(answer)) <= _LONGEST for answer in rows["answer"])
    for place, answer, kept in zip(places, rows["answer"], rows["kept"], strict=True):
        face = BLUES(kept / darkest)
        axes.add_patch(
            Circle(tuple(place), _BIG if written else _SMALL, facecolor=face, edgecolor="0.3", linewidth=0.8, zorder=2)
        )
        middle: dict[str, Any] = {"ha": "center", "va": "center"}
        if written:
            axes.text(place[0], place[1], f"{kept:.2f}", fontsize=7, zorder=3, **middle)
        if named:
            axes.text(1.38 * place[0], 1.38 * place[1], plain_text(str(answer)), fontsize=8, color="0.25", **middle)
    first = rows.iloc[0]
    for line_, name in enumerate(("optimal", "Alvim et al.", "truncated geometric")):
        weight, low = ("bold" if name == "optimal" else "normal"), -1.72 - 0.3 * line_
        axes.text(0.55, low, name, fontsize=8, ha="right", va="center", weight=weight)
        axes.text(0.65, low, number_text(float(first[name])), fontsize=8, ha="left", va="center", weight=weight)
    axes.set(xlim=(-1.75, 1.75), ylim=(-2.5, 1.55), aspect="equal")
    axes.axis("off")


def finding_of_graphs(table: pd.DataFrame) -> str:
    """On which of the graphs the optimum is right least and most often, in a sentence; of a table as of :func:`graph_table`.

    >>> finding_of_graphs(graph_table("clique", clique(6), ["line"], np.log(2), range(6)))
    'Fewer neighbors allow more right guesses: clique 2/7, line 4/9'
    >>> finding_of_graphs(graph_table("ring", ring(6), [], np.log(2), range(6)))
    'The optimal mechanism allows a right guess with probability 8/21'
    """
    best = table.drop_duplicates("graph").set_index("graph")["optimal"]
    low, high = (number_text(float(value)) for value in (best.min(), best.max()))
    if best.max() - best.min() < _SAME:
        return f"The optimal mechanism allows a right guess with probability {high}"
    return f"Fewer neighbors allow more right guesses: {best.idxmin()} {low}, {best.idxmax()} {high}"


def graphs_subtitle(size: int, leakage: float) -> str:
    r"""Subtitle of :func:`draw_graphs`; the leakage is in nats.

    >>> graphs_subtitle(6, float(np.log(2)))
    'Graphs of 6 answers, each answer equally likely; differential privacy, $\\epsilon = \\log 2$'
    """
    return f"Graphs of {size} answers, each answer equally likely; differential privacy, {leakage_text(leakage)}"


def graphs_in_words(table: pd.DataFrame) -> str:
    """What :func:`draw_graphs` shows of a table, for those who do not see it.

    >>> graphs_in_words(graph_table("line", line(2), [], np.log(2), ["no", "yes"]))
    'Line of 2 answers and 1 edge: kept 0.67 to 0.67; utilities 2/3 (optimal), 2/3 (Alvim et al.), 2/3 (truncated geometric).'
    """
    parts = []
    for name, rows in table.groupby("graph", sort=False):
        edges = sum(len(neighbors.split()) for neighbors in rows["neighbors"]) // 2
        said = ", ".join(
            f"{number_text(float(rows[mechanism].iloc[0]))} ({mechanism})"
            for mechanism in ("optimal", "Alvim et al.", "truncated geometric")
        )
        parts.append(
            f"{capitalized(str(name))} of {len(rows)} answers and {edges} edge{'s' * (edges != 1)}: "
            f"kept {rows['kept'].min():.2f} to {rows['kept'].max():.2f}; utilities {said}."
        )
    return " ".join(parts)


def matrix_table(matrix: ArrayLike, labels: Sequence[Hashable]) -> pd.DataFrame:
    """A channel between answers, shape (n, n), rows and columns labelled, rounded to 8 digits.

    Raises ValueError if there is another number of labels than of answers.

    >>> matrix_table([[2 / 3, 1 / 3], [0, 1]], ["yes", "no"])["yes"].tolist()
    [0.66666667, 0.0]
    """
    entries = np.asarray(matrix, dtype=float)
    if not len(labels):
        raise ValueError(f"labels must name each of the {len(entries)} answers; got none. Give {len(entries)} names.")
    names = [str(label) for label in answer_names(labels, len(entries))]
    return rounded(pd.DataFrame(entries, pd.Index(names, name="true answer"), pd.Index(names, name="published")), 8)


def mechanisms_on(adjacency: Adjacency, leakage: float, prior: ArrayLike) -> dict[str, np.ndarray]:
    """Three mechanisms of at most this leakage on a graph of answers 0 .. n-1, as matrices.

    ``truncated geometric``: noise along the line 0 .. n-1, spread so far that the neighbors furthest apart on it stay within the
    leakage (Example 2 of Alvim et al. 2011). ``Alvim et al.``: the paper's own. ``optimal``: of greatest utility for the prior,
    shape (n,), certified. Nats; matrices have shape (n, n).
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
    """Mechanisms by their names; those that agree to 8 digits are listed once, with all their names.

    Shapes are (n, n).

    >>> list(same_together({"a": np.eye(2), "b": np.full((2, 2), 0.5), "c": np.eye(2)}))
    ['a and c', 'b']
    """
    names: dict[bytes, list[str]] = {}
    matrices: dict[bytes, np.ndarray] = {}
    for name, matrix in mechanisms.items():
        key = (matrix.round(8) + 0.0).tobytes()
        names.setdefault(key, []).append(name)
        matrices.setdefault(key, matrix)
    return {" and ".join(names[key]): matrix for key, matrix in matrices.items()}


def matrix_finding(name: str, matrix: np.ndarray) -> str:
    """How often a mechanism of shape (n, n) publishes the true answer, as a sentence.

    >>> matrix_finding("optimal", np.array([[0.6, 0.4], [0.4, 0.6]]))
    'Optimal: true answer kept with probability 3/5'
    >>> matrix_finding("Alvim et al. and optimal", np.array([[0.6, 0.4], [0.0, 1.0]]))
    'Alvim et al. and optimal: true answer kept with probability 3/5 to 1'
    """
    low, high = (number_text(value) for value in (matrix.diagonal().min(), matrix.diagonal().max()))
    range_ = low if low == high else f"{low} to {high}"
    return f"{capitalized(name)}: true answer kept with probability {range_}"


def matrix_subtitle(name: str, prior: str, subtitle: str) -> str:
    """Subtitle of a mechanism's table: of the optimal one, with the name of the prior for which it is that.

    >>> matrix_subtitle("Alvim et al. and optimal", "uniform", "clique"), matrix_subtitle("Alvim et al.", "uniform", "clique")
    ('Optimal for the uniform prior; clique', 'clique')
    """
    return f"Optimal for {_the_prior(prior)}; {subtitle}" if "optimal" in name else subtitle


def utility_finding(table: pd.DataFrame) -> str:
    """Where the paper's mechanism is not optimal, or that it is, as a sentence; of a table as of :func:`utility_table`.

    >>> utility_finding(utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'Right guesses have probability 4/9 at best, 4/11 with Alvim et al.'
    >>> utility_finding(utility_table(clique(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'The mechanism of Alvim et al. is optimal for every prior listed'
    """
    wide = _wide(table, "utility")
    short = wide["optimal"] - wide["Alvim et al."]
    if short.max() < _SAME:
        return "The mechanism of Alvim et al. is optimal for every prior listed"
    worst = int(short.argmax())
    best, own = (number_text(wide[name].iloc[worst]) for name in ("optimal", "Alvim et al."))
    return f"Right guesses have probability {best} at best, {own} with Alvim et al."


def utility_subtitle(table: pd.DataFrame) -> str:
    """Subtitle of a table as of :func:`utility_table`: its quantity, and the prior that :func:`utility_finding` is about.

    >>> utility_subtitle(utility_table(line(6), np.log(2), {"uniform": np.full(6, 1 / 6)}))
    'Probability of a right guess; the title is for the uniform prior'
    """
    wide = _wide(table, "utility")
    short = wide["optimal"] - wide["Alvim et al."]
    what = "Probability of a right guess"
    return (
        what if short.max() < _SAME else f"{what}; the title is for {_the_prior(str(wide.index[int(short.argmax())]))}"
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


def _edges(graph: Adjacency) -> set[tuple[int, ...]]:
    return {tuple(sorted(edge)) for edge in graph.edges.tolist()}


def _the_prior(name: str) -> str:
    return "the uniform prior" if name == "uniform" else f"the prior {name}"


def _wide(table: pd.DataFrame, values: str) -> pd.DataFrame:
    wide = table.pivot(index="prior", columns="mechanism", values=values)
    return wide.loc[list(dict.fromkeys(table["prior"])), list(dict.fromkeys(table["mechanism"]))].rename_axis(
        columns=None
    )
