"""Queries against the definition of neighboring answers, tried on every pair of databases."""

import itertools
import math

import numpy as np
import pytest

from paper_repro import Mechanism, Query, adjacency_from_query, truncated_geometric
from paper_repro.graphs import QUERIES, databases, hamming, query_by_name
from paper_repro.guessing import bayes_vulnerability, min_entropy_leakage
from paper_repro.papers.alvim2011 import single_orbit_automorphism
from tests.oracles.graphs import largest_ratio


def neighboring_answers(function, values, records):
    every = list(itertools.product(values, repeat=records))
    return {
        frozenset((function(x), function(y)))
        for x, y in itertools.combinations(every, 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1 and function(x) != function(y)
    }


def random_query(seed):
    """A table of random answers, drawn again until there are two."""
    rng = np.random.default_rng([5, seed])
    values, records = [(2, 3), (3, 2), (4, 2), (2, 4), (5, 1)][seed % 5]
    count = int(rng.integers(2, 6))
    every = list(itertools.product(range(values), repeat=records))
    table = dict(zip(every, rng.integers(count, size=len(every)).tolist(), strict=True))
    return (table, values, records) if len(set(table.values())) > 1 else random_query(seed + 5_000)


@pytest.mark.parametrize("seed", range(30))
def test_adjacency_of_random_queries(seed):
    table, values, records = random_query(seed)
    query = Query(table.__getitem__, range(values), records)
    assert query.answers == tuple(sorted(set(table.values())))
    found = {frozenset(query.answers[vertex] for vertex in edge) for edge in query.adjacency.edges.tolist()}
    assert found == neighboring_answers(table.__getitem__, range(values), records)
    same = adjacency_from_query(table.__getitem__, range(values), records)
    assert same.edges.tolist() == query.adjacency.edges.tolist()


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(("values", "records"), [(2, 3), (3, 3)])
def test_adjacency_of_named_queries(name, values, records):
    query = query_by_name(name, values, records)
    found = {frozenset(query.answers[vertex] for vertex in edge) for edge in query.adjacency.edges.tolist()}
    assert found == neighboring_answers(QUERIES[name], range(values), records)


def test_counts_give_a_line_and_counts_modulo_a_number_a_ring():
    votes = query_by_name("sum", 2, 5).adjacency
    assert votes.edges.tolist() == [[i, i + 1] for i in range(5)]
    around = adjacency_from_query(lambda database: sum(database) % 5, (0, 1), 6)
    assert around.border_sizes(0).tolist() == [1, 2, 2]
    assert single_orbit_automorphism(around) is not None


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
    table, values, records = random_query(seed)
    query = Query(table.__getitem__, range(values), records)
    noise = rng.dirichlet(np.ones(3), size=len(query.answers))
    whole = query.then(noise)
    assert (whole == query.channel @ noise).all()  # each row picks one: nothing is rounded
    # The utility of the noise under the answers' prior is the chance of guessing the answer from the output.
    prior = rng.dirichlet(np.ones(values**records))
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


@pytest.mark.parametrize("record", range(3))
def test_rows_of_one_record(record):
    query = Query(lambda database: "".join(database), "abc", 3)
    channel = np.arange(27.0)[:, np.newaxis]
    every = ["".join(database) for database in databases("abc", 3)]
    for others in itertools.product("abc", repeat=2):
        rows = query.of_record(channel, record, others)
        varied = ["".join([*others[:record], value, *others[record:]]) for value in "abc"]
        assert rows[:, 0].tolist() == [every.index(database) for database in varied]


def test_mechanisms_and_matrices_are_taken_alike():
    query, noise = query_by_name("sum", 2, 3), truncated_geometric(4, 1.0)
    assert isinstance(noise, Mechanism)
    assert (query.then(noise) == query.then(noise.matrix)).all()


def test_leakage_of_one_record_is_at_most_that_of_the_database():
    query = query_by_name("sum", 2, 3)
    channel = query.then(truncated_geometric(4, math.log(3)))
    alone = query.of_record(channel, 1, (0, 1))
    assert 0 < min_entropy_leakage([0.5, 0.5], alone) < min_entropy_leakage(np.full(8, 1 / 8), channel)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Query(lambda database: 7, (0, 1), 2),
            r"function must give at least two answers; got 7 for every database\. Take another query: a "
            r"single answer reveals nothing\.",
        ),
        (
            lambda: Query(sum, (0,), 3),
            r"function must give at least two answers; got 0 for every database\. Take another query: a "
            r"single answer reveals nothing\.",
        ),
        (
            lambda: Query(sum, (), 2),
            r"values must be a whole number v, for 0 \.\. v-1, or a non-empty sequence of distinct values; "
            r"got \(\)\.",
        ),
        (lambda: Query(sum, (0, 1), 0), "records must be a whole number, at least 1; got 0"),
        (lambda: Query(sum, 0, 2), "values must be a whole number, at least 1; got 0"),
        (lambda: Query(sum, True, 2), "values must be a whole number, at least 1; got True"),
        (lambda: Query(sum, 2.5, 2), r"values must be a whole number, at least 1; got 2\.5"),
        (lambda: Query(sum, [[0], [1]], 2), "sequence of distinct values"),
        (
            lambda: Query(lambda database: math.nan if sum(database) else 1.0, 2, 2),
            "function must return something hashable, no NaN, for each tuple of 2 values; got "
            r"ValueError\('the answer is not a number \(NaN\), so that no two are the same'\) on the "
            r"database \(0, 1\)\.",
        ),
        (lambda: Query(sum, 2, 2.5), r"records must be a whole number, at least 1; got 2\.5"),
        (
            lambda: Query(None, 2, 2),
            r"function must be a function from a tuple of the records' values to an answer; got None\.",
        ),
        (
            lambda: Query(sum, values="ab", records=2),
            "function must return something hashable, no NaN, for each tuple of 2 values; got "
            "TypeError\\(\"unsupported operand type\\(s\\) for \\+: 'int' and 'str'\"\\) on the database \\('a', "
            r"'a'\)\.",
        ),
        (
            lambda: Query(list, 2, 2),
            "function must return something hashable, no NaN, for each tuple of 2 values; got "
            "TypeError\\(\"unhashable type: 'list'\"\\) on the database \\(0, 0\\)\\.",
        ),
        (
            lambda: query_by_name(["sum"], 2, 2),
            "name must be one of 'sum', 'largest', 'smallest', 'number of distinct values', 'most frequent "
            r"value', 'parity of the sum'; got \['sum'\]\.",
        ),
        (
            lambda: Query(sum, (0, 1), 17),
            r"values \*\* records must be at most 100000 databases to enumerate; got 2\^17\. For the whole "
            r"space use the closed form, papers\.alvim2011\.theorem_1\.",
        ),
        (
            lambda: query_by_name("sum", 10, 6),
            r"values \*\* records must be at most 100000 databases to enumerate; got 10\^6\. For the whole "
            r"space use the closed form, papers\.alvim2011\.theorem_1\.",
        ),
        (
            lambda: query_by_name("mean", 2, 2),
            "name must be one of 'sum', 'largest', 'smallest', 'number of distinct values', 'most frequent "
            r"value', 'parity of the sum'; got 'mean'\.",
        ),
        (
            lambda: databases("ab", 17),
            r"values \*\* records must be at most 100000 databases to enumerate; got 2\^17\. For the whole "
            r"space use the closed form, papers\.alvim2011\.theorem_1\.",
        ),
        (lambda: Query(sum, (0, 1), 3).then(np.eye(3)), r"one row for each of 4 answers; got shape \(3, 3\)"),
        (lambda: Query(sum, (0, 1), 3).then([0.5, 0.5]), r"one row for each of 4 answers; got shape \(1, 2\)"),
        (lambda: Query(sum, (0, 1), 3).of_record(np.eye(8), 3, [0, 0]), r"in 0 \.\. 2 .* got 3 and \[0, 0\]"),
        (
            lambda: Query(sum, 2, 3).of_record(np.eye(8), 1.0, [0, 0]),
            r"record must be a whole number, at least 0; got 1\.0",
        ),
        (lambda: Query(sum, 2, 3).of_record(np.eye(8), 0, 5), "got 0 and 5"),
        (lambda: Query(sum, (0, 1), 3).of_record(np.eye(8), 0, [0]), r"got 0 and \[0\]"),
        (
            lambda: Query(sum, (0, 1), 3).of_record(np.eye(8), 0, [0, 5]),
            r"record and others must be a record in 0 \.\. 2 and 2 values from \[0, 1\]; got 0 and \[0, 5\]\.",
        ),
    ],
)
def test_what_is_no_query(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_values_are_distinct():
    with pytest.raises(ValueError, match="distinct"):
        Query(sum, (0, 0, 1), 2)


def test_one_records_rows_need_the_channel_of_databases():
    with pytest.raises(ValueError, match="8"):
        Query(sum, (0, 1), 3).of_record(np.eye(4), 0, [0, 1])  # the noise, not query and noise together


def test_old_spellings_work_for_one_more_release():
    with pytest.warns(DeprecationWarning, match="write records=5; individuals= is deprecated"):
        assert Query(sum, values=(0, 1), individuals=5).records == 5
    with pytest.warns(DeprecationWarning, match="hamming: write records=2"):
        assert hamming(3, individuals=2).size == 9


def test_a_number_of_values_stands_for_those_below_it():
    assert Query(sum, 3, 2).values == range(3)
    assert Query(sum, 3, 2).adjacency.edges.tolist() == Query(sum, (0, 1, 2), 2).adjacency.edges.tolist()
    assert hamming("abc", 2).edges.tolist() == hamming(3, 2).edges.tolist()
