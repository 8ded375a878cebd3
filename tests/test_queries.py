"""Queries against the definition of neighboring answers, tried on every pair of databases."""

import itertools
import math

import numpy as np
import pytest

from paper_repro import Mechanism, Query, adjacency_from_query, truncated_geometric
from paper_repro.graphs import QUERIES, databases, query_by_name
from paper_repro.min_entropy import bayes_vulnerability, min_entropy_leakage
from tests.oracles.graphs import largest_ratio


def neighboring_answers(function, values, individuals):
    every = list(itertools.product(values, repeat=individuals))
    return {
        frozenset((function(x), function(y)))
        for x, y in itertools.combinations(every, 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1 and function(x) != function(y)
    }


def random_query(seed):
    """A table of random answers, drawn again until there are two."""
    rng = np.random.default_rng([5, seed])
    values, individuals = [(2, 3), (3, 2), (4, 2), (2, 4), (5, 1)][seed % 5]
    count = int(rng.integers(2, 6))
    every = list(itertools.product(range(values), repeat=individuals))
    table = dict(zip(every, rng.integers(count, size=len(every)).tolist(), strict=True))
    return (table, values, individuals) if len(set(table.values())) > 1 else random_query(seed + 5_000)


@pytest.mark.parametrize("seed", range(30))
def test_adjacency_of_random_queries(seed):
    table, values, individuals = random_query(seed)
    query = Query(table.__getitem__, range(values), individuals)
    assert query.answers == tuple(sorted(set(table.values())))
    found = {frozenset(query.answers[vertex] for vertex in edge) for edge in query.adjacency.edges.tolist()}
    assert found == neighboring_answers(table.__getitem__, range(values), individuals)
    same = adjacency_from_query(table.__getitem__, range(values), individuals)
    assert same.edges.tolist() == query.adjacency.edges.tolist()


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(("values", "individuals"), [(2, 3), (3, 3)])
def test_adjacency_of_named_queries(name, values, individuals):
    query = query_by_name(name, values, individuals)
    found = {frozenset(query.answers[vertex] for vertex in edge) for edge in query.adjacency.edges.tolist()}
    assert found == neighboring_answers(QUERIES[name], range(values), individuals)


def test_counts_give_a_line_and_counts_modulo_a_number_a_ring():
    votes = query_by_name("sum", 2, 5).adjacency
    assert votes.edges.tolist() == [[i, i + 1] for i in range(5)]
    around = adjacency_from_query(lambda database: sum(database) % 5, (0, 1), 6)
    assert around.border_sizes(0).tolist() == [1, 2, 2]
    assert around.single_orbit_automorphism is not None


def test_the_city_with_most_votes_gives_a_clique():
    assert query_by_name("most frequent value", 6, 3).adjacency.is_clique


def test_channel_and_order_of_databases():
    query = Query(lambda database: "".join(database).count("b"), "ab", 3)
    every = list(databases("ab", 3))
    assert every == list(itertools.product("ab", repeat=3))
    assert query.channel.tolist() == [[float(database.count("b") == k) for k in range(4)] for database in every]
    assert query.answer_numbers.tolist() == [database.count("b") for database in every]


def test_answers_that_cannot_be_sorted_keep_their_order():
    assert Query(lambda database: [None, "x", 3][database[0]], range(3), 1).answers == (None, "x", 3)


@pytest.mark.parametrize("seed", range(8))
def test_query_and_noise_together(seed):
    rng = np.random.default_rng(seed)
    table, values, individuals = random_query(seed)
    query = Query(table.__getitem__, range(values), individuals)
    noise = rng.dirichlet(np.ones(3), size=len(query.answers))
    whole = query.then(noise)
    assert (whole == query.channel @ noise).all()  # each row picks one: nothing is rounded
    # The utility of the noise under the answers' prior is the chance of guessing the answer from the output.
    prior = rng.dirichlet(np.ones(values**individuals))
    joint = np.zeros((len(query.answers), 3))
    for probability, answer, row in zip(prior, query.answer_numbers, whole, strict=True):
        joint[answer] += probability * row
    found = bayes_vulnerability(prior @ query.channel, noise)
    assert found == pytest.approx(joint.max(axis=0).sum(), abs=1e-14)  # sums of a few products


def test_privacy_of_databases_is_that_of_answers():
    query = query_by_name("sum", 3, 2)
    noise = np.random.default_rng(3).dirichlet(np.ones(4), size=len(query.answers))
    every = list(databases(range(3), 2))
    pairs = [
        (i, j)
        for (i, x), (j, y) in itertools.combinations(enumerate(every), 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    assert largest_ratio(query.then(noise), pairs) == largest_ratio(noise, query.adjacency.edges.tolist())


@pytest.mark.parametrize("individual", range(3))
def test_rows_of_one_individual(individual):
    query = Query(lambda database: "".join(database), "abc", 3)
    channel = np.arange(27.0)[:, np.newaxis]
    every = ["".join(database) for database in databases("abc", 3)]
    for others in itertools.product("abc", repeat=2):
        rows = query.of_individual(channel, individual, others)
        varied = ["".join([*others[:individual], value, *others[individual:]]) for value in "abc"]
        assert rows[:, 0].tolist() == [every.index(database) for database in varied]


def test_mechanisms_and_matrices_are_taken_alike():
    query, noise = query_by_name("sum", 2, 3), truncated_geometric(4, 1.0)
    assert isinstance(noise, Mechanism)
    assert (query.then(noise) == query.then(noise.matrix)).all()


def test_leakage_of_one_individual_is_at_most_that_of_the_database():
    query = query_by_name("sum", 2, 3)
    channel = query.then(truncated_geometric(4, math.log(3)))
    alone = query.of_individual(channel, 1, (0, 1))
    assert 0 < min_entropy_leakage([0.5, 0.5], alone) < min_entropy_leakage(np.full(8, 1 / 8), channel)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Query(lambda database: 7, (0, 1), 2), "gives 7 for every database; .* at least two answers"),
        (lambda: Query(sum, (0,), 3), "gives 0 for every database"),
        (lambda: Query(sum, (), 2), "at least 1 value and 1 individual, got 0 and 2"),
        (lambda: Query(sum, (0, 1), 0), "got 2 and 0"),
        (lambda: Query(sum, (0, 1), 17), r"2\^17 databases, too many to enumerate \(at most 100000\).*theorem_1"),
        (lambda: query_by_name("sum", 10, 6), r"10\^6 databases, too many to enumerate"),
        (lambda: query_by_name("mean", 2, 2), "unknown query 'mean'; known are 'sum', 'largest'"),
        (lambda: databases("ab", 17), "too many to enumerate"),
        (lambda: Query(sum, (0, 1), 3).then(np.eye(3)), r"one row for each of 4 answers, got \(3, 3\)"),
        (lambda: Query(sum, (0, 1), 3).then([0.5, 0.5]), r"one row for each of 4 answers, got \(2,\)"),
        (lambda: Query(sum, (0, 1), 3).of_individual(np.eye(8), 3, [0, 0]), r"in 0 \.\. 2 .* got 3 and 2 values"),
        (lambda: Query(sum, (0, 1), 3).of_individual(np.eye(8), 0, [0]), "got 0 and 1 values"),
        (lambda: Query(sum, (0, 1), 3).of_individual(np.eye(8), 0, [0, 5]), r"5 is no value .* \[0, 1\]"),
    ],
)
def test_what_is_no_query(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_values_are_distinct():
    with pytest.raises(ValueError, match="distinct"):
        Query(sum, (0, 0, 1), 2)


def test_one_individuals_rows_need_the_channel_of_databases():
    with pytest.raises(ValueError, match="8"):
        Query(sum, (0, 1), 3).of_individual(np.eye(4), 0, [0, 1])  # the noise, not query and noise together
