"""Answers on a graph: mechanisms that are private and one that is best, labelled and written out."""

import math

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, clique, hamming, line, ring
from paper_repro.figures.answer_graphs import (
    draw_matrix,
    draw_utilities,
    graph_by_name,
    matrix_table,
    mechanisms_on,
    named_priors,
    utility_table,
)
from paper_repro.graphs import Adjacency
from tests.figures.pictures import numbers, texts

LOG2 = math.log(2)
DIGITS = 1e-8  # tables are rounded to 8 digits


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
    found = graph_by_name(name, 5, 2, 3)
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
        graph_by_name(*arguments)


def test_matrices_have_names_and_8_digits():
    table = matrix_table([[2 / 3, 1 / 3], [-0.0, 1.0]], ["yes", 2])
    assert list(table.index) == list(table.columns) == ["yes", "2"]
    assert table.loc["yes"].tolist() == [0.66666667, 0.33333333]
    assert math.copysign(1, table.loc["2", "yes"]) == 1.0


@pytest.mark.parametrize("labels", [["A"], ["A", "B", "C"], []])
def test_labels_have_to_be_as_many_as_the_answers(labels):
    with pytest.raises(ValueError, match=f"labels must name each of the 2 answers, got {len(labels)}"):
        matrix_table(np.eye(2), labels)


def test_there_has_to_be_a_prior():
    for function in (lambda: named_priors([], 2), lambda: utility_table(line(2), 1.0, {})):
        with pytest.raises(ValueError, match="give at least one prior"):
            function()


@pytest.mark.parametrize("graph", [clique(6), line(6), ring(6), hamming(2, 3)], ids=repr)
@pytest.mark.parametrize("leakage", [LOG2, 2.0])
def test_three_mechanisms_are_private_and_one_is_best(graph, leakage):
    prior = np.random.default_rng(1).dirichlet(np.full(graph.size, 3.0))
    found = mechanisms_on(graph, leakage, prior)
    assert list(found) == ["truncated geometric", "Alvim et al.", "optimal"]
    for matrix in found.values():
        assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=1e-12)  # a few terms
        assert DifferentialPrivacy(graph).leakage(matrix) <= leakage + 1e-12  # logarithms of rounded entries
    table = utility_table(graph, leakage, {"this": prior, "uniform": np.full(graph.size, 1 / graph.size)})
    assert len(table) == 6
    for _, rows in table.groupby("prior"):
        best = rows.loc[rows["mechanism"] == "optimal", "utility"].item()
        assert rows["utility"].max() <= best + DIGITS


def test_utilities_of_examples_2_and_3():
    ends = [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
    table = utility_table(clique(6), LOG2, {"uniform": np.full(6, 1 / 6), "ends": ends})
    assert table["utility"].round(4).tolist() == [0.2243, 0.2857, 0.2857, 0.2415, 0.2857, 0.32]
    table = utility_table(line(6), LOG2, {"uniform": np.full(6, 1 / 6)})
    assert table["utility"].tolist() == pytest.approx([4 / 9, 4 / 11, 4 / 9], abs=DIGITS)


@pytest.mark.parametrize("ratio", [1.5, 3])
def test_leakages_in_the_table_pass_the_notebooks_check(ratio):
    table = utility_table(ring(5), math.log(ratio), {"uniform": [0.2] * 5})
    assert (table["leakage"] <= math.log(ratio) + 5e-9).all()  # eight digits


def test_the_prior_has_to_fit():
    with pytest.raises(ValueError, match="5 vertices and there are 4 letters"):
        utility_table(ring(5), 1.0, {"short": [0.25] * 4})


def test_a_line_that_is_no_line_in_order_is_still_served():
    graph = Adjacency.from_edges(4, [(2, 0), (0, 3), (3, 1)])
    found = mechanisms_on(graph, 1.0, [0.25] * 4)
    for matrix in found.values():
        assert DifferentialPrivacy(graph).leakage(matrix) <= 1.0 + 1e-12  # logarithms of rounded entries


def test_matrices_are_written_out_with_both_sides_named():
    table = matrix_table(mechanisms_on(line(6), LOG2, [1 / 6] * 6)["optimal"], range(6))
    figure = draw_matrix(table, "Mechanism")
    assert numbers(figure) == pytest.approx(table.to_numpy().ravel(), abs=0.5e-3)  # three digits are shown
    assert figure.axes[0].get_xlabel() == "published answer"


def test_utilities_are_written_out_in_the_tables_order():
    priors = {"uniform": [1 / 6] * 6, "ends": [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]}
    figure = draw_utilities(utility_table(clique(6), LOG2, priors), "Utilities")
    assert texts(figure) == ["0.2243", "0.2857", "0.2857", "0.2415", "0.2857", "0.3200"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["uniform", "ends"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [
        "truncated geometric",
        "Alvim et al.",
        "optimal",
    ]
