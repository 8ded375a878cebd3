"""Queries on databases: deterministic channels, and which of their answers must look alike."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paper_repro.adjacency import Adjacency, check_database_space, hamming
from paper_repro.types import FloatArray, IntArray

__all__ = ["QUERIES", "Query", "adjacency_from_query", "databases", "query_by_name"]


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
