"""Graphs of neighbors: which letters, databases or answers of a query must look alike, as a connected graph on 0 .. n-1."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paper_repro.errors import optional
from paper_repro.types import FloatArray, IntArray

if TYPE_CHECKING:
    from networkx import Graph

__all__ = [
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

# Databases to enumerate, and vertices of a distance matrix (8 bytes a pair).
_MOST_DATABASES = 100_000
_MOST_DISTANCES = 5_000
_MOST_EDGES = 10_000_000
# Beyond this, looking for automorphisms can take for ever.
_MOST_AUTOMORPHISM = 60
_MOST_ORBIT = 20


@dataclass(frozen=True, eq=False, repr=False)
class Adjacency:
    """A connected undirected graph: neighbors must not be told apart by more than the privacy ratio.

    Made by :func:`clique`, :func:`ring`, :func:`line`, :func:`hamming`, :meth:`Adjacency.from_edges` or
    :func:`paper_repro.graphs.adjacency_from_query`.

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

    @classmethod
    def from_edges(cls, size: int, edges: Iterable[tuple[int, int]], name: str = "") -> Adjacency:
        """A graph on 0 .. size-1 from pairs of neighbors, in any order.

        Raises
        ------
        ValueError
            If a pair names a vertex that does not exist or joins one with itself, or the graph is not connected.
        """
        given = np.array(list(edges))
        if given.size and (given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu"):
            raise ValueError(
                f"an edge is a pair of vertices, each vertex a whole number; got an array of shape {given.shape} of {given.dtype}"
            )
        pairs = given.astype(np.intp).reshape(-1, 2)
        outside = pairs[(pairs < 0) | (pairs >= size)]
        if size < 1 or len(outside):
            wrong = f"vertex {outside[0]}" if len(outside) else f"size {size}"
            raise ValueError(f"edges join vertices 0 .. {size - 1} of a graph of at least one vertex, got {wrong}")
        if (pairs[:, 0] == pairs[:, 1]).any():
            loop = pairs[pairs[:, 0] == pairs[:, 1]][0, 0]
            raise ValueError(f"an edge joins vertex {loop} with itself; leave it out, every vertex is like itself")
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        pairs.setflags(write=False)
        graph = cls(size, name, pairs, None)
        graph._check_connected()
        return graph

    @classmethod
    def from_matrix(cls, matrix: Any, name: str = "") -> Adjacency:
        """A graph from its symmetric adjacency matrix, shape (n, n); the diagonal is ignored.

        Raises
        ------
        ValueError
            If the matrix is not square or not symmetric, or the graph is not connected.
        """
        table = np.asarray(matrix).astype(bool)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"an adjacency matrix is square, got shape {table.shape}")
        if (table != table.T).any():
            i, j = np.argwhere(table != table.T)[0]
            raise ValueError(
                f"adjacency must be symmetric, but {i} is a neighbor of {j} one way only; set both entries or neither"
            )
        return cls.from_edges(len(table), np.argwhere(np.triu(table, 1)), name)

    def __repr__(self) -> str:
        count = self.size * (self.size - 1) // 2 if self._pairs is None else len(self._pairs)
        return f"Adjacency({self.name + ': ' if self.name else ''}{self.size} vertices, {count} edges)"

    @property
    def is_clique(self) -> bool:
        return self._pairs is None or 2 * len(self._pairs) == self.size * (self.size - 1)

    @property
    def edges(self) -> IntArray:
        if self._pairs is not None:
            return self._pairs
        return np.column_stack(np.triu_indices(self.size, 1)).astype(np.intp)

    @property
    def neighbor_pairs(self) -> IntArray:
        """Neighbors in both orders, shape (2 E, 2).

        >>> line(2).neighbor_pairs.tolist()
        [[0, 1], [1, 0]]
        """
        return np.concatenate([self.edges, self.edges[:, ::-1]])

    @cached_property
    def _sparse(self) -> Any:
        from scipy.sparse import csr_matrix

        first, second = self.edges.T
        ones = np.ones(2 * len(first), dtype=np.int8)
        places = (np.append(first, second), np.append(second, first))
        return csr_matrix((ones, places), shape=(self.size, self.size))

    def distances_from(self, vertex: int) -> IntArray:
        """Length of the shortest path from one vertex to each, shape (n,)."""
        if not 0 <= vertex < self.size:
            raise ValueError(f"vertex must be in 0 .. {self.size - 1}, got {vertex}")
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
        if self.size > _MOST_DISTANCES:
            raise ValueError(
                f"the distance matrix of {self.size} vertices is too large (at most {_MOST_DISTANCES}); "
                "use distances_from(vertex) or border_sizes(vertex)"
            )
        if self._pairs is None:
            return (1 - np.eye(self.size)).astype(np.intp)
        from scipy.sparse.csgraph import shortest_path

        return shortest_path(self._sparse, unweighted=True).astype(np.intp)

    def border_sizes(self, vertex: int) -> IntArray:
        """How many vertices are at distance 0, 1, 2, ... (``|Border_d|``, Section 5.1, Alvim et al. 2011).

        >>> ring(6).border_sizes(0).tolist()
        [1, 2, 2, 1]
        """
        return np.bincount(self.distances_from(vertex))

    @cached_property
    def diameter(self) -> int:
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
        profiles = {tuple(np.bincount(row)) for row in self._small_distances(_MOST_AUTOMORPHISM, "vertex-transitive")}
        if len(profiles) > 1:
            return False
        nx = optional("networkx", "graphs")
        roots = []
        for root in range(self.size):
            graph = self.to_networkx()
            nx.set_node_attributes(graph, dict(enumerate(self.distances[root].tolist())), "distance")
            roots.append(graph)
        return all(nx.vf2pp_is_isomorphic(roots[0], other, node_label="distance") for other in roots[1:])

    @cached_property
    def single_orbit_automorphism(self) -> tuple[int, ...] | None:
        """An automorphism that runs through all vertices in one cycle, as images of 0 .. n-1; None if there is none.

        It exists when the graph is circulant: its vertices can be put around a circle so that being neighbors depends on how
        many places apart they are. Theorem 3 of Alvim et al. 2011 asks for it.

        Raises
        ------
        ValueError
            If the graph is no clique and or ring and has more than 20 vertices.

        >>> line(3).single_orbit_automorphism is None
        True
        >>> clique(3).single_orbit_automorphism
        (1, 2, 0)
        """
        if self.is_clique or self.name == "ring":
            return tuple(np.roll(np.arange(self.size), -1).tolist())
        degrees = set(np.bincount(self.edges.ravel(), minlength=self.size).tolist())
        if len(degrees) > 1:
            return None
        self._small_distances(_MOST_ORBIT, "circulant")
        nx = optional("networkx", "graphs")
        graph, degree = self.to_networkx(), degrees.pop()
        if (
            2 * degree >= self.size
        ):  # a graph is circulant when its complement is, and sparse graphs are compared faster
            graph, degree = nx.complement(graph), self.size - 1 - degree
        for offsets in _offsets(self.size, degree):
            around = nx.vf2pp_isomorphism(nx.circulant_graph(self.size, offsets), graph)
            if around is not None:
                places = {vertex: place for place, vertex in around.items()}
                return tuple(int(around[(places[vertex] + 1) % self.size]) for vertex in range(self.size))
        return None

    def to_networkx(self) -> Graph[int]:
        """The same graph for networkx."""
        nx = optional("networkx", "graphs")
        graph: Graph[int] = nx.Graph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.edges.tolist())
        return graph

    def _small_distances(self, most: int, what: str) -> IntArray:
        if self.size > most:
            raise ValueError(
                f"whether a graph of {self.size} vertices is {what} is only found out up to {most}; "
                "build it by clique, ring or hamming, where it is known"
            )
        return self.distances

    def _check_connected(self) -> None:
        from scipy.sparse.csgraph import connected_components

        count, component = connected_components(self._sparse, directed=False)
        if count > 1:
            apart = int(np.flatnonzero(component != component[0])[0])
            raise ValueError(
                f"the graph is not connected: no path leads from vertex 0 to vertex {apart}; "
                "treat its parts separately, or add the missing edges"
            )


def clique(size: int) -> Adjacency:
    """Every two vertices are neighbors: local differential privacy.

    >>> clique(10_000)
    Adjacency(clique: 10000 vertices, 49995000 edges)
    """
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"a clique needs at least 1 vertex, got {size}")
    return Adjacency(size, "clique", None, True)


def ring(size: int) -> Adjacency:
    """A cycle of at least 3 vertices: counting modulo the size.

    >>> ring(6).diameter
    3
    """
    size = operator.index(size)
    if size < 3:
        raise ValueError(f"a ring needs at least 3 vertices, got {size}; line(2) joins two")
    around = np.arange(size)
    pairs = np.sort(np.column_stack([around, np.roll(around, -1)]), axis=1)
    pairs.setflags(write=False)
    return Adjacency(size, "ring", pairs, True)


def line(size: int) -> Adjacency:
    """A path 0 - 1 - ... - (n-1): the answers of a counting query.

    >>> line(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"a line needs at least 1 vertex, got {size}")
    along = np.arange(size)
    pairs = np.column_stack([along[:-1], along[1:]])
    pairs.setflags(write=False)
    return Adjacency(size, "line", pairs, size <= 2)


def hamming(values: int, individuals: int) -> Adjacency:
    """Databases ``Val^u``, neighbors if they differ in one individual (Section 3, Alvim et al. 2011).

    Vertex numbers count through the databases as :func:`paper_repro.graphs.databases` does.

    Raises
    ------
    ValueError
        If ``values ** individuals`` exceeds 100,000; Theorem 1's closed form needs no graph.

    >>> hamming(3, 2)
    Adjacency(Hamming: 9 vertices, 18 edges)
    """
    count = check_database_space(values, individuals)
    numbers = np.arange(count)
    if individuals == 1:
        return Adjacency(count, "Hamming", None, True)
    edge_count = count * individuals * (values - 1) // 2
    if edge_count > _MOST_EDGES:
        raise ValueError(
            f"{count} databases have {edge_count} pairs of neighbors, at most {_MOST_EDGES} are listed; "
            "use the closed form, papers.alvim2011.theorem_1"
        )
    low, high = np.triu_indices(values, 1)
    pairs = []
    for place in range(individuals):
        stride = values**place
        first = numbers[numbers // stride % values == 0][:, np.newaxis]
        pairs.append(np.column_stack([(first + low * stride).ravel(), (first + high * stride).ravel()]))
    edges = np.concatenate(pairs).astype(np.intp)
    edges.setflags(write=False)
    return Adjacency(count, "Hamming", edges, True)


def check_database_space(values: int, individuals: int) -> int:
    """Return ``values ** individuals``, or raise if that many databases cannot be enumerated."""
    if values < 1 or individuals < 1:
        raise ValueError(f"there must be at least 1 value and 1 individual, got {values} and {individuals}")
    # Compare logarithms: the power itself may have thousands of digits.
    if individuals > _MOST_DATABASES or individuals * math.log(values) > math.log(_MOST_DATABASES) + 1e-9:
        raise ValueError(
            f"{values} values of {individuals} individuals make {values}^{individuals} databases, too many to enumerate "
            f"(at most {_MOST_DATABASES}); for the whole space use the closed form, papers.alvim2011.theorem_1"
        )
    return int(values**individuals)


def _offsets(size: int, degree: int) -> Iterator[list[int]]:
    """Sets of distances around a circle that give every vertex this many neighbors."""
    half = size // 2
    opposite = [half] if size % 2 == 0 else []
    for with_opposite in (False, True) if opposite else (False,):
        rest = degree - with_opposite
        if rest % 2 == 0:
            for chosen in itertools.combinations(range(1, (size + 1) // 2), rest // 2):
                yield [*chosen, *(opposite if with_opposite else [])]


def databases(values: Sequence[Hashable], individuals: int) -> Iterator[tuple[Hashable, ...]]:
    """All tuples of the individuals' values, the last individual's changing fastest.

    >>> ["".join(database) for database in databases("ab", 2)]
    ['aa', 'ab', 'ba', 'bb']
    """
    check_database_space(len(values), individuals)
    return itertools.product(values, repeat=individuals)


@dataclass(frozen=True, eq=False)
class Query:
    """A query on databases, as a deterministic channel to its answers (Section 3, Alvim et al. 2011).

    Parameters
    ----------
    function : callable
        From a tuple of the individuals' values to an answer.
    values : sequence
        What each individual's entry can be.
    individuals : int

    Raises
    ------
    ValueError
        If there are too many databases to enumerate, or the query has one answer only.

    Examples
    --------
    >>> votes = Query(sum, (0, 1), 3)
    >>> votes.answers, votes.adjacency
    ((0, 1, 2, 3), Adjacency(answers: 4 vertices, 3 edges))
    """

    function: Callable[[tuple[Any, ...]], Hashable]
    values: Sequence[Hashable]
    individuals: int

    def __post_init__(self) -> None:
        check_database_space(len(self.values), self.individuals)
        if len(set(self.values)) != len(self.values):
            raise ValueError(f"an individual's values must be distinct, got {list(self.values)!r}")
        if len(self.answers) < 2:
            raise ValueError(
                f"the query gives {self.answers[0]!r} for every database; a query needs at least two answers, "
                "else there is nothing to hide"
            )

    @cached_property
    def _outcomes(self) -> list[Hashable]:
        return [self.function(database) for database in databases(self.values, self.individuals)]

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
        pairs = self.answer_numbers[hamming(len(self.values), self.individuals).edges]
        return Adjacency.from_edges(len(self.answers), pairs[pairs[:, 0] != pairs[:, 1]], "answers")

    @property
    def channel(self) -> FloatArray:
        """Row = database, column = answer, a 1 in each row."""
        return np.eye(len(self.answers))[self.answer_numbers]

    def then(self, noise: Any) -> FloatArray:
        """The whole randomized function ``K``: this query, then an oblivious mechanism on its answers.

        Parameters
        ----------
        noise : Mechanism or array_like, shape (answers, outputs)

        Returns
        -------
        ndarray, shape (databases, outputs)
        """
        matrix = np.asarray(getattr(noise, "matrix", noise), dtype=float)
        if matrix.ndim != 2 or len(matrix) != len(self.answers):
            raise ValueError(
                f"the mechanism must have one row for each of {len(self.answers)} answers, got {matrix.shape}"
            )
        return matrix[self.answer_numbers]

    def of_individual(self, channel: FloatArray, individual: int, others: Sequence[Hashable]) -> FloatArray:
        """Rows of the databases in which only one individual varies (``K_{D-}``, Section 4.1, Alvim et al. 2011).

        Parameters
        ----------
        channel : ndarray, shape (databases, outputs)
        individual : int
        others : sequence
            Values of the other individuals, in order.

        Returns
        -------
        ndarray, shape (values, outputs)
        """
        if not 0 <= individual < self.individuals or len(others) != self.individuals - 1:
            raise ValueError(
                f"name an individual in 0 .. {self.individuals - 1} and values of the {self.individuals - 1} others, "
                f"got {individual} and {len(others)} values"
            )
        if len(channel) != len(self.answer_numbers):
            raise ValueError(
                f"the channel must have a row for each of {len(self.answer_numbers)} databases, got {len(channel)}; "
                "Query.then puts the query before a mechanism on its answers"
            )
        order = {value: number for number, value in enumerate(self.values)}
        rows = []
        for value in self.values:
            number = 0
            for entry in [*others[:individual], value, *others[individual:]]:
                if entry not in order:
                    raise ValueError(f"{entry!r} is no value of an individual; values are {list(self.values)!r}")
                number = number * len(self.values) + order[entry]
            rows.append(number)
        return channel[rows]


def adjacency_from_query(
    query: Callable[[tuple[Any, ...]], Hashable], values: Sequence[Hashable], individuals: int
) -> Adjacency:
    """Neighboring answers of a query (Definition 2, Alvim et al. 2011); for its answers and channel see :class:`Query`.

    >>> adjacency_from_query(max, (0, 1, 2), 2).is_clique
    True
    """
    return Query(query, values, individuals).adjacency


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


def query_by_name(name: str, values: int, individuals: int) -> Query:
    """A query of :data:`QUERIES` on individuals whose values are 0 .. v-1.

    Raises
    ------
    ValueError
        If there is no such query; the message lists those there are.

    >>> query_by_name("sum", 2, 5).adjacency
    Adjacency(answers: 6 vertices, 5 edges)
    """
    if name not in QUERIES:
        raise ValueError(f"unknown query {name!r}; known are {', '.join(map(repr, QUERIES))}")
    return Query(QUERIES[name], range(values), individuals)
