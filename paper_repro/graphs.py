"""Graphs of neighbors: which letters, databases or answers of a query must look alike, and how much, on vertices 0 .. n-1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import as_fraction, as_number, check_count, check_grid, check_probability_rows
from paper_repro.deprecated import accepts_old_call, says_how
from paper_repro.errors import Clause, optional, shown, wrong
from paper_repro.types import FloatArray, IntArray

if TYPE_CHECKING:
    from networkx import Graph

__all__ = [
    "MOST_DISTANCES",
    "MOST_WRITTEN_OUT",
    "QUERIES",
    "Adjacency",
    "Query",
    "adjacency_from_query",
    "check_database_space",
    "clique",
    "databases",
    "hamming",
    "line",
    "query_by_name",
    "ring",
]

MOST_WRITTEN_OUT = 2048
"""The most databases whose channel is written out: 32 MB."""

MOST_DISTANCES = 5_000
"""The most vertices whose distances are written out: 200 MB."""

# Databases to enumerate.
_MOST_DATABASES = 100_000
_MOST_EDGES = 10_000_000
# Weights above 0.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-12, 1e12
# Beyond this, looking for automorphisms can take for ever.
_MOST_AUTOMORPHISM = 60


@dataclass(frozen=True, eq=False, repr=False)
class Adjacency:
    """A connected undirected graph: neighbors must not be told apart by more than the privacy ratio.

    Made by :func:`clique`, :func:`ring`, :func:`line`, :func:`hamming`, :meth:`Adjacency.from_edges` or
    :func:`adjacency_from_query`. By :meth:`Adjacency.from_weights` neighbors are protected more or less, one way or both, and
    the graph need not be connected.

    Attributes
    ----------
    size : int
        Number of vertices, named 0 .. size-1.
    edges : ndarray, shape (E, 2)
        Each pair once, the smaller first. A clique lists its edges only when asked.
    name : str

    Examples
    --------
    >>> graph = Adjacency.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> graph
    Adjacency(4 vertices, 4 edges)
    >>> graph.border_sizes(0).tolist(), graph.diameter, graph.is_vertex_transitive
    ([1, 2, 1], 2, True)
    """

    size: int
    name: str
    _pairs: IntArray | None  # None: every two vertices are neighbors
    _transitive: bool | None  # known by construction, or to be found out
    _demands: tuple[IntArray, tuple[Fraction, ...]] | None = None  # ordered pairs and their weights, if not all are 1

    @classmethod
    def from_edges(cls, size: int, edges: Iterable[tuple[int, int]], name: str = "") -> Adjacency:
        """A graph on 0 .. size-1 from pairs of neighbors, in any order; of an adjacency matrix, ``np.argwhere(matrix)``.

        Raises
        ------
        ValueError
            If the size is no whole number, an edge is no pair of different vertices that exist, or the graph is not connected.
        """
        size = check_count(size, "size", most=_MOST_EDGES)
        try:
            given = np.array(list(edges))
        except (TypeError, ValueError):
            raise ValueError(wrong("edges", "be pairs of vertices such as [(0, 1), (1, 2)]", edges)) from None
        if given.size and (given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu"):
            raise ValueError(
                wrong(
                    "edges",
                    "be pairs of whole numbers, the vertices",
                    Clause(f"an array of shape {given.shape} of {given.dtype}"),
                    "Write them such as [(0, 1), (1, 2)].",
                )
            )
        pairs = given.astype(np.intp).reshape(-1, 2)
        outside = pairs[(pairs < 0) | (pairs >= size)]
        if len(outside):
            raise ValueError(
                wrong(
                    "edges",
                    f"join vertices in 0 .. {size - 1}",
                    Clause(f"vertex {outside[0]}"),
                    "Correct the vertex, or enlarge size.",
                )
            )
        if (pairs[:, 0] == pairs[:, 1]).any():
            loop = pairs[pairs[:, 0] == pairs[:, 1]][0, 0]
            raise ValueError(
                wrong(
                    "edges", "join two different vertices", Clause(f"vertex {loop} with itself"), "Leave that edge out."
                )
            )
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        pairs.setflags(write=False)
        graph = cls(size, name, pairs, None)
        graph._check_connected()
        return graph

    @classmethod
    def from_weights(cls, weights: ArrayLike, name: str = "weighted") -> Adjacency:
        """Neighbors that are protected more or less: ``Q_xy <= exp(eps w_xx') Q_x'y`` for all outputs y and letters x, x'.

        The leakage eps of :class:`paper_repro.notions.DifferentialPrivacy` is then the factor of the weights; where they are
        levels in nats themselves, ask for ``leakage=1``. Instances are metric privacy (weights a metric: Chatzikokolakis et al.,
        "Broadening the scope of differential privacy using metrics", 2013), context-aware local privacy with its block structure
        (Acharya et al., "Context-aware local differential privacy", 2020), and utility-optimized local privacy (Murakami and
        Kawamoto, "Utility-optimized local differential privacy mechanisms", 2019).

        Parameters
        ----------
        weights : array_like, shape (n, n)
            ``w_xx' >= 0``, numbers or texts such as "1/3"; infinite where nothing is asked, 0 where the rows must be equal, and 0
            on the diagonal. They need not be symmetric, and need not ask anything at all.

        Returns
        -------
        Adjacency
            Where all that is asked has weight 1, both ways and in one piece, the graph of neighbors without weights.

        Raises
        ------
        ValueError
            If the table is not square, or a weight is negative, no number, or not 0 on the diagonal.

        Examples
        --------
        Two sensitive letters, and a third that may be told from them but not they from it:

        >>> from paper_repro import DifferentialPrivacy, SourceSet, optimal_mechanism
        >>> inf = math.inf
        >>> graph = Adjacency.from_weights([[0, 1, 1], [1, 0, 1], [inf, inf, 0]])
        >>> graph
        Adjacency(weighted: 3 vertices, 4 demands)
        >>> thirds, notion = SourceSet(["1/3", "1/3", "1/3"]), DifferentialPrivacy(graph)
        >>> optimal_mechanism(thirds, leakage=math.log(3), notion=notion).mechanism.matrix.round(3)
        array([[0.75, 0.25, 0.  ],
               [0.25, 0.75, 0.  ],
               [0.25, 0.25, 0.5 ]])
        """
        try:
            table = check_grid(weights, as_number)
        except (TypeError, ValueError):
            place, entry = _first_that_is_none(weights)
            must = f"be {'a number' if place else 'a square table of numbers'}"
            fix = "Put math.inf where nothing is required."
            raise ValueError(wrong(f"weights{place}", must, entry, fix)) from None
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
            raise ValueError(
                wrong(
                    "weights",
                    "be a square table, with a row and a column for each category",
                    Clause(f"shape {table.shape}"),
                )
            )
        if len(table) > MOST_WRITTEN_OUT:
            raise ValueError(
                wrong("weights", f"be for at most {MOST_WRITTEN_OUT} categories", len(table), "Merge rare categories.")
            )
        some = (table > 0) & np.isfinite(table)
        bad = np.argwhere(np.isnan(table) | (table < 0) | (some & ((table < _LEAST_WEIGHT) | (table > _MOST_WEIGHT))))
        if len(bad):
            row, column = map(int, bad[0])
            raise ValueError(
                wrong(
                    f"weights[{row}, {column}]",
                    f"be 0 where rows must be equal, between {_LEAST_WEIGHT:g} and {_MOST_WEIGHT:g}, or infinite where "
                    "nothing is required",
                    float(table[row, column]),
                )
            )
        if table.diagonal().any():
            letter = int(np.flatnonzero(table.diagonal())[0])
            raise ValueError(
                wrong(
                    f"weights[{letter}, {letter}]",
                    "be 0, as all of the diagonal",
                    float(table[letter, letter]),
                    "Put 0 there.",
                )
            )
        asked = np.isfinite(table) & ~np.eye(len(table), dtype=bool)
        both = asked | asked.T
        pairs, arcs = np.argwhere(np.triu(both)), np.argwhere(asked)
        if (table[asked] == 1).all() and (asked == asked.T).all():
            try:
                return cls.from_edges(len(table), [(int(one), int(two)) for one, two in pairs], name)
            except ValueError:  # not connected
                pass
        given: Any = getattr(weights, "values", weights)
        exact = tuple(as_fraction(given[row][column]) for row, column in arcs.tolist())
        for listed in (pairs, arcs):
            listed.setflags(write=False)
        return cls(len(table), name, pairs, None, (arcs, exact))

    def __repr__(self) -> str:
        if self._demands is not None:
            return f"Adjacency({self.name + ': ' if self.name else ''}{self.size} vertices, {len(self._demands[1])} demands)"
        return f"Adjacency({self.name + ': ' if self.name else ''}{self.size} vertices, {self._count} edges)"

    def __eq__(self, other: object) -> bool:
        """Whether the same vertices are neighbors, with the same weights, whatever the names."""
        if not isinstance(other, Adjacency) or (self.size, self._count) != (other.size, other._count):
            return False
        if self._demands is not None or other._demands is not None:
            one, two = self._demands, other._demands
            return one is not None and two is not None and one[1] == two[1] and bool((one[0] == two[0]).all())
        return self.is_clique or bool((np.unique(self.edges, axis=0) == np.unique(other.edges, axis=0)).all())

    def __hash__(self) -> int:
        return hash((self.size, self._count))

    @property
    def _count(self) -> int:
        return self.size * (self.size - 1) // 2 if self._pairs is None else len(self._pairs)

    @property
    def is_clique(self) -> bool:
        """Whether every two vertices are neighbors, without weights."""
        if self._demands is not None:
            return False
        return self._pairs is None or 2 * len(self._pairs) == self.size * (self.size - 1)

    @property
    def edges(self) -> IntArray:
        """Each pair once, the smaller first, shape (E, 2). Raises ValueError for a clique of more than 10,000,000 pairs."""
        if self._pairs is not None:
            return self._pairs
        check_count(self._count, "the number of listed pairs of neighbors", 0, _MOST_EDGES)
        return np.column_stack(np.triu_indices(self.size, 1)).astype(np.intp)

    @property
    def neighbor_pairs(self) -> IntArray:
        """Neighbors in both orders, shape (2 E, 2); with weights, those in which something is asked.

        >>> line(2).neighbor_pairs.tolist()
        [[0, 1], [1, 0]]
        """
        if self._demands is not None:
            return self._demands[0]
        return np.concatenate([self.edges, self.edges[:, ::-1]])

    @property
    def weights(self) -> tuple[Fraction, ...] | None:
        """Of each of the :attr:`neighbor_pairs`; None where all are 1.

        >>> Adjacency.from_weights([[0, "1/3"], [2, 0]]).weights
        (Fraction(1, 3), Fraction(2, 1))
        """
        return None if self._demands is None else self._demands[1]

    @cached_property
    def _sparse(self) -> Any:
        if self._demands is not None:
            raise ValueError(
                wrong(
                    "the graph",
                    "be without weights for its steps to be counted",
                    self,
                    "A graph with weights is for DifferentialPrivacy(adjacency).",
                )
            )
        from scipy.sparse import csr_matrix

        first, second = self.edges.T
        ones = np.ones(2 * len(first), dtype=np.int8)
        places = (np.append(first, second), np.append(second, first))
        return csr_matrix((ones, places), shape=(self.size, self.size))

    def distances_from(self, vertex: int) -> IntArray:
        """Length of the shortest path from one vertex to each, shape (n,). Raises ValueError if there is no such vertex."""
        if check_count(vertex, "vertex", least=0) >= self.size:
            raise ValueError(wrong("vertex", f"be in 0 .. {self.size - 1}", vertex))
        if self._pairs is None:
            found = np.ones(self.size, dtype=np.intp)
            found[vertex] = 0
            return found
        from scipy.sparse.csgraph import dijkstra

        return dijkstra(self._sparse, unweighted=True, indices=vertex).astype(np.intp)

    @cached_property
    def distances(self) -> IntArray:
        """All distances, shape (n, n).

        Raises
        ------
        ValueError
            If n is above 5,000; :meth:`distances_from` and :meth:`border_sizes` need no matrix.
        """
        if self.size > MOST_DISTANCES:
            raise ValueError(
                wrong(
                    "the graph",
                    f"have at most {MOST_DISTANCES} vertices for its matrix of distances",
                    self.size,
                    "Use distances_from(vertex) or border_sizes(vertex).",
                )
            )
        if self._pairs is None:
            return (1 - np.eye(self.size)).astype(np.intp)
        from scipy.sparse.csgraph import shortest_path

        return shortest_path(self._sparse, unweighted=True).astype(np.intp)

    def border_sizes(self, vertex: int) -> IntArray:
        """How many vertices are at distance 0, 1, 2, ... (``|Border_d|``, Section 5.1, Alvim et al. 2011), up to the furthest.

        Shape (d + 1,), if the furthest is at distance d.

        >>> ring(6).border_sizes(0).tolist()
        [1, 2, 2, 1]
        """
        return np.bincount(self.distances_from(vertex))

    @cached_property
    def diameter(self) -> int:
        """Greatest distance of two vertices."""
        if self._transitive:
            return int(self.distances_from(0).max())
        return int(self.distances.max())

    @cached_property
    def is_vertex_transitive(self) -> bool:
        """Whether some automorphism maps any vertex to any other.

        Raises
        ------
        ValueError
            If it is not known by construction and the graph has more than 60 vertices.
        """
        if self._transitive is not None:
            return self._transitive
        if self.size > _MOST_AUTOMORPHISM:
            raise ValueError(
                wrong(
                    "the graph",
                    f"have at most {_MOST_AUTOMORPHISM} vertices for the search whether it is vertex-transitive",
                    self.size,
                    "Build it by clique, ring or hamming, where this is known.",
                )
            )
        if len({tuple(np.bincount(row)) for row in self.distances}) > 1:
            return False
        nx = optional("networkx", "graphs")
        roots = []
        for root in range(self.size):
            graph = self.to_networkx()
            nx.set_node_attributes(graph, dict(enumerate(self.distances[root].tolist())), "distance")
            roots.append(graph)
        return all(nx.vf2pp_is_isomorphic(roots[0], other, node_label="distance") for other in roots[1:])

    def to_networkx(self) -> Graph[int]:
        """The same graph for networkx, without its weights."""
        nx = optional("networkx", "graphs")
        graph: Graph[int] = nx.Graph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.edges.tolist())
        return graph

    def _check_connected(self) -> None:
        from scipy.sparse.csgraph import connected_components

        count, component = connected_components(self._sparse, directed=False)
        if count > 1:
            apart = int(np.flatnonzero(component != component[0])[0])
            raise ValueError(
                wrong(
                    "the graph",
                    "be connected",
                    Clause(f"no path from vertex 0 to vertex {apart}"),
                    "Treat its parts separately, or add the missing edges.",
                )
            )


def _first_that_is_none(table: object) -> tuple[str, object]:
    """Where in a table the first entry is that is no number, such as "[0, 1]", and the entry; the whole if it is no table."""
    try:
        rows = [list(row) for row in getattr(table, "values", table)]  # type: ignore[attr-defined]
    except TypeError:
        return "", table
    for row, entries in enumerate(rows):
        for column, entry in enumerate(entries):
            try:
                as_number(entry)
            except TypeError:
                return f"[{row}, {column}]", entry
    return "", table


def clique(size: int) -> Adjacency:
    """Every two vertices are neighbors: local differential privacy. Raises ValueError if the size is not in 1 .. 10,000,000.

    >>> clique(10_000)
    Adjacency(clique: 10000 vertices, 49995000 edges)
    """
    size = check_count(size, "size", most=_MOST_EDGES)
    return Adjacency(size, "clique", None, True)


def ring(size: int) -> Adjacency:
    """A cycle of at least 3 vertices: counting modulo the size. Raises ValueError if it is smaller, or above 10,000,000.

    >>> ring(6).diameter
    3
    """
    size = check_count(size, "size", 3, _MOST_EDGES, "Two vertices are joined by line(2).")
    around = np.arange(size)
    pairs = np.sort(np.column_stack([around, np.roll(around, -1)]), axis=1)
    pairs.setflags(write=False)
    return Adjacency(size, "ring", pairs, True)


def line(size: int) -> Adjacency:
    """A path 0 - 1 - ... - (n-1): the answers of a counting query. Raises ValueError if the size is not in 1 .. 10,000,000.

    >>> line(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    size = check_count(size, "size", most=_MOST_EDGES)
    along = np.arange(size)
    pairs = np.column_stack([along[:-1], along[1:]])
    pairs.setflags(write=False)
    return Adjacency(size, "line", pairs, size <= 2)


@accepts_old_call(individuals="records")
def hamming(values: int | Sequence[Hashable], records: int) -> Adjacency:
    """Databases ``Val^u``, neighbors if they differ in one record (Section 3, Alvim et al. 2011, where records are individuals).

    Vertex numbers count through the databases as :func:`paper_repro.graphs.databases` does.

    Parameters
    ----------
    values : int or sequence
        How many values a record can have, or which.
    records : int, >= 1

    Raises
    ------
    ValueError
        If ``values ** records`` exceeds 100,000; Theorem 1's closed form needs no graph.

    >>> hamming(3, 2)
    Adjacency(Hamming: 9 vertices, 18 edges)
    """
    values = len(_listed(values))
    count = check_database_space(values, records)
    numbers = np.arange(count)
    if records == 1:
        return Adjacency(count, "Hamming", None, True)
    edge_count = count * records * (values - 1) // 2
    if edge_count > _MOST_EDGES:
        raise ValueError(
            wrong(
                "values and records",
                f"give at most {_MOST_EDGES} pairs of neighboring databases",
                edge_count,
                "Use the closed form, papers.alvim2011.theorem_1.",
            )
        )
    low, high = np.triu_indices(values, 1)
    pairs = []
    for place in range(records):
        stride = values**place
        first = numbers[numbers // stride % values == 0][:, np.newaxis]
        pairs.append(np.column_stack([(first + low * stride).ravel(), (first + high * stride).ravel()]))
    edges = np.concatenate(pairs).astype(np.intp)
    edges.setflags(write=False)
    return Adjacency(count, "Hamming", edges, True)


def check_database_space(
    values: int,
    records: int,
    most: int = _MOST_DATABASES,
    purpose: str = "to enumerate",
    way_out: str = "For the whole space use the closed form, papers.alvim2011.theorem_1.",
) -> int:
    """How many databases there are, ``values ** records``. Raises ValueError if they are more than ``most``.

    >>> check_database_space(2, 11, MOST_WRITTEN_OUT)
    2048
    """
    values, records = check_count(values, "values", most=math.inf), check_count(records, "records", most=math.inf)
    # Compare logarithms: the power itself may have thousands of digits.
    if records > most or records * math.log(values) > math.log(most) + 1e-9:
        raise ValueError(
            wrong(
                "values ** records",
                f"be at most {most} databases {purpose}",
                Clause(f"{shown(values)}^{shown(records)}"),
                way_out,
            )
        )
    return values**records


@accepts_old_call(individuals="records")
def databases(values: int | Sequence[Hashable], records: int) -> Iterator[tuple[Hashable, ...]]:
    """All tuples of the records' values, the last record's changing fastest.

    Parameters
    ----------
    values : int or sequence
        What a record can be; a number v stands for 0 .. v-1.
    records : int, >= 1

    Raises
    ------
    ValueError
        If there are more than 100,000 databases, or the values are not distinct.

    >>> ["".join(database) for database in databases("ab", 2)]
    ['aa', 'ab', 'ba', 'bb']
    """
    listed = _listed(values)
    check_database_space(len(listed), records)
    return itertools.product(listed, repeat=records)


def _listed(values: int | Sequence[Hashable]) -> Sequence[Hashable]:
    """What a record can be, as a sequence."""
    if not isinstance(values, Iterable):
        return range(check_count(values, "values"))
    try:
        listed = () if isinstance(values, set | frozenset) else tuple(values)
        distinct = 0 < len(set(listed)) == len(listed)
    except TypeError:
        distinct = False
    if not distinct:
        raise ValueError(
            wrong("values", "be a whole number v, for 0 .. v-1, or a non-empty sequence of distinct values", values)
        )
    return listed


@dataclass(frozen=True, eq=False, init=False)
class Query:
    """A query on databases, as a deterministic channel to its answers (Section 3, Alvim et al. 2011).

    Parameters
    ----------
    function : callable
        From a tuple of the records' values to an answer.
    values : int or sequence
        What a record can be; a number v stands for 0 .. v-1.
    records : int, >= 1
        (Individuals, in the paper.)

    Raises
    ------
    ValueError
        If there are too many databases to enumerate, the values are not distinct, or the query fails on a database, or has one
        answer only.

    Examples
    --------
    >>> votes = Query(sum, values=2, records=3)
    >>> votes.answers, votes.adjacency
    ((0, 1, 2, 3), Adjacency(answers: 4 vertices, 3 edges))
    """

    function: Callable[[tuple[Any, ...]], Hashable]
    values: Sequence[Hashable]
    records: int

    @says_how("write Query(function, values, records)")
    @accepts_old_call(individuals="records")
    def __init__(
        self, function: Callable[[tuple[Any, ...]], Hashable], values: int | Sequence[Hashable], records: int
    ) -> None:
        if not callable(function):
            raise ValueError(
                wrong("function", "be a function from a tuple of the records' values to an answer", function)
            )
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "values", _listed(values))
        object.__setattr__(self, "records", check_count(records, "records"))
        check_database_space(len(self.values), self.records)
        if len(self.answers) < 2:
            raise ValueError(
                wrong(
                    "function",
                    "give at least two answers",
                    Clause(f"{shown(self.answers[0])} for every database"),
                    "Take another query: a single answer reveals nothing.",
                )
            )

    @cached_property
    def _outcomes(self) -> list[Hashable]:
        outcomes = []
        for database in databases(self.values, self.records):
            try:
                outcome = self.function(database)
                if hash(outcome) is not None and outcome != outcome:
                    raise ValueError("the answer is not a number (NaN), so that no two are the same")
            except Exception as error:
                raise ValueError(
                    wrong(
                        "function",
                        f"return something hashable, no NaN, for each tuple of {self.records} values",
                        Clause(f"{shown(error)} on the database {shown(database)}"),
                    )
                ) from error
            outcomes.append(outcome)
        return outcomes

    @cached_property
    def _numbers(self) -> dict[tuple[Hashable, ...], int]:
        return {database: number for number, database in enumerate(databases(self.values, self.records))}

    @cached_property
    def answers(self) -> tuple[Hashable, ...]:
        """The answers, sorted where they can be, else in order of appearance."""
        distinct = list(dict.fromkeys(self._outcomes))
        try:
            return tuple(sorted(distinct))  # type: ignore[type-var]
        except TypeError:
            return tuple(distinct)

    @cached_property
    def answer_numbers(self) -> IntArray:
        """Number of each database's answer, shape (v^u,)."""
        numbers = {answer: number for number, answer in enumerate(self.answers)}
        return np.array([numbers[outcome] for outcome in self._outcomes], dtype=np.intp)

    @cached_property
    def adjacency(self) -> Adjacency:
        """Answers are neighbors when neighboring databases give them (Definition 2, Alvim et al. 2011)."""
        pairs = self.answer_numbers[hamming(len(self.values), self.records).edges]
        return Adjacency.from_edges(len(self.answers), pairs[pairs[:, 0] != pairs[:, 1]], "answers")

    @property
    def channel(self) -> FloatArray:
        """Row = database, column = answer, a 1 in each row; shape (values ** records, answers)."""
        return np.eye(len(self.answers))[self.answer_numbers]

    def then(self, noise: Any) -> FloatArray:
        """The whole randomized function ``K``: this query, then an oblivious mechanism on its answers.

        Parameters
        ----------
        noise : Mechanism or array_like, shape (answers, outputs)

        Returns
        -------
        ndarray, shape (databases, outputs)

        Raises
        ------
        ValueError
            If the mechanism is no channel, or does not have one row for each answer.
        """
        matrix = check_probability_rows(getattr(noise, "matrix", noise), "mechanism")
        if len(matrix) != len(self.answers):
            raise ValueError(
                wrong("noise", f"have one row for each of {len(self.answers)} answers", Clause(f"shape {matrix.shape}"))
            )
        return matrix[self.answer_numbers]

    def of_record(self, channel: FloatArray, record: int, others: Sequence[Hashable]) -> FloatArray:
        """Rows of the databases in which only one record varies (``K_{D-}``, Section 4.1, Alvim et al. 2011).

        Parameters
        ----------
        channel : ndarray, shape (databases, outputs)
        record : int
            Which one, 0 .. records-1.
        others : sequence
            Values of the other records, in order.

        Returns
        -------
        ndarray, shape (values, outputs)

        Raises
        ------
        ValueError
            If there is no such record or value, or the channel does not have a row for each database.
        """
        rows, record = np.asarray(channel), check_count(record, "record", least=0)
        if rows.ndim != 2 or len(rows) != len(self.answer_numbers):
            raise ValueError(
                wrong(
                    "channel",
                    f"have one row for each of {len(self.answer_numbers)} databases",
                    Clause(f"shape {rows.shape}"),
                    "Query.then puts the query before a mechanism on its answers.",
                )
            )
        refusal = wrong(
            "record and others",
            f"be a record in 0 .. {self.records - 1} and {self.records - 1} values from {shown(list(self.values))}",
            Clause(f"{shown(record)} and {shown(others)}"),
        )
        if record >= self.records:
            raise ValueError(refusal)
        try:
            varied = [(*others[:record], value, *others[record:]) for value in self.values]
            return rows[[self._numbers[database] for database in varied]]
        except (KeyError, TypeError):
            raise ValueError(refusal) from None


@accepts_old_call(individuals="records")
def adjacency_from_query(
    query: Callable[[tuple[Any, ...]], Hashable], values: int | Sequence[Hashable], records: int
) -> Adjacency:
    """Neighboring answers of a query (Definition 2, Alvim et al. 2011); for its answers and channel see :class:`Query`.

    >>> adjacency_from_query(max, 3, 2).is_clique
    True
    """
    return Query(query, values, records).adjacency


def _most_frequent(database: tuple[Any, ...]) -> Hashable:
    return max(database, key=lambda value: (database.count(value), value))


QUERIES: dict[str, Callable[[tuple[Any, ...]], Hashable]] = {
    "sum": sum,
    "largest": max,
    "smallest": min,
    "number of distinct values": lambda database: len(set(database)),
    "most frequent value": _most_frequent,
    "parity of the sum": lambda database: sum(database) % 2,
}
"""Queries by name, for notebooks; the values are numbers 0 .. v-1, and ties go to the larger value."""


@accepts_old_call(individuals="records")
def query_by_name(name: str, values: int | Sequence[Hashable], records: int) -> Query:
    """A query of :data:`QUERIES`, on numbers; parameters and errors as of :class:`Query`.

    Raises
    ------
    ValueError
        If there is no such query; the message lists those there are.

    >>> query_by_name("sum", 2, 5).adjacency
    Adjacency(answers: 6 vertices, 5 edges)
    """
    if not (isinstance(name, str) and name in QUERIES):
        raise ValueError(wrong("name", f"be one of {', '.join(map(repr, QUERIES))}", name))
    return Query(QUERIES[name], values, records)
