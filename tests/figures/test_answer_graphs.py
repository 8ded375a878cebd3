"""What the notebooks on answer graphs and databases tabulate."""

import itertools
import math

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, Query, clique, hamming, line, ring, truncated_geometric
from paper_repro.figures import answer_graphs, database_leakage
from paper_repro.graphs import Adjacency

LOG2 = math.log(2)
DIGITS = 1e-8  # tables are rounded to 8 digits

# Figure 4(b) of Alvim et al. 2011, as printed.
FIGURE_4B = """
   aa ab ac ba ca bb bc cb cc
aa 0 1 1 1 1 2 2 2 2
ab 1 0 1 2 2 1 2 1 2
ac 1 1 0 2 2 2 1 2 1
ba 1 2 2 0 1 1 1 2 2
ca 1 2 2 1 0 2 2 1 1
bb 2 1 2 1 2 0 1 1 2
bc 2 2 1 1 2 1 0 2 1
cb 2 1 2 2 1 1 2 0 1
cc 2 2 1 2 1 2 1 1 0
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clique", clique(5)),
        ("ring", ring(5)),
        ("line", line(5)),
        ("sum", line(4)),
        ("largest", clique(2)),
        ("parity of the sum", clique(2)),
    ],
)
def test_graphs_by_name(name, expected):
    found = answer_graphs.graph_by_name(name, 5, 2, 3)
    assert (found.size, found.edges.tolist()) == (expected.size, expected.edges.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree", 5, 2, 3), "unknown graph 'tree'; known are clique, ring, line, or a query: .*'most frequent value'"),
        (("ring", 2, 2, 3), "at least 3, got 2"),
        (("sum", 5, 2, 17), r"2\^17 databases are too many to enumerate"),
        (("sum", 5, 1, 3), "gives 0 for every database"),
    ],
)
def test_graphs_that_there_are_not(arguments, message):
    with pytest.raises(ValueError, match=message):
        answer_graphs.graph_by_name(*arguments)


@pytest.mark.parametrize(("values", "limit"), [(2, 100.0), (10, 332.192809), (100, 664.385619)])
def test_bounds_of_figure_3(values, limit):
    table = database_leakage.bound_table(100, [2, 10, 100], 12.0)
    rows = table[table["values"] == values]
    assert len(rows) == 100
    assert rows["bound"].iloc[0] == pytest.approx(0, abs=DIGITS)
    assert (np.diff(rows["bound"]) > 0).all()
    ratios = np.exp(rows["leakage"])
    expected = 100 * np.log2(values * ratios / (values - 1 + ratios))
    assert rows["bound"].to_numpy() == pytest.approx(expected.to_numpy(), abs=2 * DIGITS)
    assert rows["bound"].iloc[-1] < limit
    (top,) = database_leakage.bound_table(100, [values], 700.0, 2)["bound"][1:]
    assert top == pytest.approx(limit, abs=1e-6)  # as many digits are given


def test_bounds_need_a_leakage():
    with pytest.raises(ValueError, match="at least 0 nats"):
        database_leakage.bound_table(100, [2], -1.0)


def test_distances_of_figure_4b_as_printed():
    header, *rows = [text.split() for text in FIGURE_4B.strip().splitlines()]
    table = database_leakage.distance_table("abc", 2)
    assert len(rows) == len(table) == 9
    for name, *entries in rows:
        assert table.loc[name, header].tolist() == [int(entry) for entry in entries]


def test_names_of_databases_are_distinct():
    assert database_leakage.distance_table([1, 11], 2).index.is_unique


def test_matrices_have_names_and_8_digits():
    table = answer_graphs.matrix_table([[2 / 3, 1 / 3], [-0.0, 1.0]], ["yes", 2])
    assert list(table.index) == list(table.columns) == ["yes", "2"]
    assert table.loc["yes"].tolist() == [0.66666667, 0.33333333]
    assert math.copysign(1, table.loc["2", "yes"]) == 1.0


@pytest.mark.parametrize("graph", [clique(6), line(6), ring(6), hamming(2, 3)], ids=repr)
@pytest.mark.parametrize("leakage", [LOG2, 2.0])
def test_three_mechanisms_are_private_and_one_is_best(graph, leakage):
    prior = np.random.default_rng(1).dirichlet(np.full(graph.size, 3.0))
    found = answer_graphs.mechanisms_on(graph, leakage, prior)
    assert list(found) == ["truncated geometric", "Alvim et al.", "optimal"]
    for matrix in found.values():
        assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=1e-12)  # a few terms
        assert DifferentialPrivacy(graph).leakage(matrix) <= leakage + 1e-12  # logarithms of rounded entries
    table = answer_graphs.utility_table(graph, leakage, {"this": prior, "uniform": np.full(graph.size, 1 / graph.size)})
    assert len(table) == 6
    for _, rows in table.groupby("prior"):
        best = rows.loc[rows["mechanism"] == "optimal", "utility"].item()
        assert rows["utility"].max() <= best + DIGITS


def test_utilities_of_examples_2_and_3():
    ends = [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
    table = answer_graphs.utility_table(clique(6), LOG2, {"uniform": np.full(6, 1 / 6), "ends": ends})
    assert table["utility"].round(4).tolist() == [0.2243, 0.2857, 0.2857, 0.2415, 0.2857, 0.32]
    table = answer_graphs.utility_table(line(6), LOG2, {"uniform": np.full(6, 1 / 6)})
    assert table["utility"].tolist() == pytest.approx([4 / 9, 4 / 11, 4 / 9], abs=DIGITS)


@pytest.mark.parametrize("ratio", [1.5, 3])
def test_leakages_in_the_table_pass_the_notebooks_check(ratio):
    table = answer_graphs.utility_table(ring(5), math.log(ratio), {"uniform": [0.2] * 5})
    assert (table["leakage"] <= math.log(ratio) + 5e-9).all()  # eight digits


def test_the_prior_has_to_fit():
    with pytest.raises(ValueError, match="5 vertices and there are 4 letters"):
        answer_graphs.utility_table(ring(5), 1.0, {"short": [0.25] * 4})


@pytest.mark.parametrize(("values", "individuals"), [(2, 1), (2, 4), (3, 2)])
@pytest.mark.parametrize("leakage", [0.3, 2.0])
def test_what_a_count_tells_of_database_and_individual(values, individuals, leakage):
    query = Query(lambda database: database.count(0), range(values), individuals)
    noise = truncated_geometric(len(query.answers), leakage)
    table = database_leakage.database_table(query, noise).set_index("of")
    every = list(itertools.product(range(values), repeat=individuals))
    rows = np.array([noise.matrix[sorted(query.answers).index(database.count(0))] for database in every])
    assert table.loc["database", "leakage"] == pytest.approx(math.log2(rows.max(axis=0).sum()), abs=DIGITS)
    alone = max(
        rows[[row for row, other in enumerate(every) if other[:i] + other[i + 1 :] == rest]].max(axis=0).sum()
        for i in range(individuals)
        for rest in itertools.product(range(values), repeat=individuals - 1)
    )
    assert table.loc["individual", "leakage"] == pytest.approx(math.log2(alone), abs=DIGITS)
    assert (table["leakage"] <= table["bound"] + DIGITS).all()
    assert table.loc["individual", "bound"] == pytest.approx(leakage / LOG2, abs=DIGITS)


def test_noise_has_to_fit_the_query():
    with pytest.raises(ValueError, match="one row for each of 4 answers"):
        database_leakage.database_table(Query(sum, (0, 1), 3), np.eye(3))


def test_outputs_against_proposition_2():
    table = database_leakage.output_table(2, 3, [1, 2, 3, 4], LOG2)
    assert list(table.columns) == ["outputs", "exact", "proposition_2", "theorem_1"]
    assert table["exact"].round(4).tolist() == [0.0, 0.7370, 1.0, 1.1926]
    assert table["proposition_2"].round(4).tolist() == [0.0, 0.8301, 1.4150, 1.2996]
    assert (table["theorem_1"].round(4) == 1.2451).all()
    assert (table["exact"] <= table[["proposition_2", "theorem_1"]].min(axis=1) + DIGITS).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 3, [0], 1.0), "outputs must be a whole number, at least 1, got 0"),
        ((2, 2, [5], 1.0), r"between 1 and v\^u = 2\^2, got 5"),
        ((2, 17, [2], 1.0), r"2\^17 databases are too many"),
        ((3, 3, [8], 1.0), r"choices to enumerate .*proposition_2 and theorem_1"),
    ],
)
def test_outputs_that_are_too_many(arguments, message):
    with pytest.raises(ValueError, match=message):
        database_leakage.output_table(*arguments)


def test_a_line_that_is_no_line_in_order_is_still_served():
    graph = Adjacency.from_edges(4, [(2, 0), (0, 3), (3, 1)])
    found = answer_graphs.mechanisms_on(graph, 1.0, [0.25] * 4)
    for matrix in found.values():
        assert DifferentialPrivacy(graph).leakage(matrix) <= 1.0 + 1e-12  # logarithms of rounded entries
