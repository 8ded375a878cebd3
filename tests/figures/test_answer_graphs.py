"""Answers on a graph: mechanisms that are private and one that is best, labelled and written out."""

import math

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, clique, hamming, line, ring
from paper_repro.claims import read_ledger
from paper_repro.figures.answer_graphs import (
    answer_names,
    cited_graphs,
    draw_graphs,
    finding_of_graphs,
    graph_by_name,
    graph_table,
    matrix_finding,
    matrix_subtitle,
    matrix_table,
    mechanisms_on,
    named_priors,
    paper_table,
    same_together,
    utility_finding,
    utility_page,
    utility_table,
)
from paper_repro.figures.layout import check_text, finding_of
from paper_repro.figures.tables import number_texts
from paper_repro.graphs import Adjacency

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
        (("ring", 2, 2, 3), "size must be a whole number, at least 3; got 2"),
        (("sum", 5, 2, 17), r"at most 100000 databases to enumerate; got 2\^17\."),
        (("sum", 5, 1, 3), "at least two answers; got 0 for every database"),
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
    with pytest.raises(
        ValueError, match=rf"labels must name each of the 2 answers.*; got {len(labels) or 'none'}.*Give 2 names"
    ):
        matrix_table(np.eye(2), labels)


def test_a_graph_of_another_size_needs_other_labels_and_priors():
    with pytest.raises(ValueError, match=r"labels must name each of the 8 answers.*got 6: A, B.*Give 8 names, or \[\]"):
        answer_names(list("ABCDEF"), 8)
    assert answer_names([], 8) == list(range(8))
    with pytest.raises(ValueError, match=r"priors must each have 8 probabilities.*got 6: .*set priors to \[\[\]\]"):
        named_priors([[], [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]], 8)


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
    with pytest.raises(ValueError, match="adjacency must have 4 vertices, one per category; got 5"):
        utility_table(ring(5), 1.0, {"short": [0.25] * 4})


def test_a_line_that_is_no_line_in_order_is_still_served():
    graph = Adjacency.from_edges(4, [(2, 0), (0, 3), (3, 1)])
    found = mechanisms_on(graph, 1.0, [0.25] * 4)
    for matrix in found.values():
        assert DifferentialPrivacy(graph).leakage(matrix) <= 1.0 + 1e-12  # logarithms of rounded entries


def test_what_is_one_matrix_is_shown_once():
    on_clique = same_together(mechanisms_on(clique(6), LOG2, [1 / 6] * 6))
    assert list(on_clique) == ["truncated geometric", "Alvim et al. and optimal"]
    assert list(same_together(mechanisms_on(line(6), LOG2, [1 / 6] * 6))) == [
        "truncated geometric and optimal",
        "Alvim et al.",
    ]
    assert len(same_together(mechanisms_on(ring(6), LOG2, [1 / 6] * 6))) == 3


def test_the_papers_tables_are_known_by_their_problems():
    ends = [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]
    first = paper_table("clique", 6, LOG2, [[], ends], list("ABCDEF"))
    assert (first.name, first.source) == ("alvim_table_1", "Alvim et al. 2011, Table 1")
    known = {row.name for row in read_ledger()}
    second = paper_table("line", 6, LOG2, [[]], list("012345"))
    for table in (first, second):
        assert {row for rows in table.ledger.values() for row in rows} <= known
    for other in (
        paper_table("clique", 6, 0.7, [[], ends], list("ABCDEF")),
        paper_table("clique", 6, LOG2, [[]], list("ABCDEF")),
        paper_table("ring", 6, LOG2, [[]], list("012345")),
    ):
        assert not other.name.startswith("alvim") and not other.source and not other.utilities


def test_print_is_set_against_the_exact_utilities():
    priors = {"uniform": [1 / 6] * 6, "ends": [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]}
    table = utility_table(clique(6), LOG2, priors)
    known = paper_table("clique", 6, LOG2, [[], priors["ends"]], list("ABCDEF"))
    shown, printed = utility_page(table, known.utilities)
    assert number_texts(shown, printed, "both").to_numpy().tolist() == [
        ["0.2243", "0.2857 (2/7)", "0.2857 (2/7)"],
        [r"0.2415 $\neq$ 0.2412 in print", "0.2857 (2/7)", "0.3200 (8/25)"],
    ]
    assert utility_finding(table) == "Right guesses have probability 8/25 at best, 2/7 with Alvim et al."


def test_findings_of_matrices():
    found = mechanisms_on(line(6), LOG2, [1 / 6] * 6)
    assert matrix_finding("own", found["Alvim et al."]) == "Own: true answer kept with probability 4/11"
    assert matrix_finding("best", found["optimal"]).endswith("with probability 1/3 to 2/3")
    assert matrix_subtitle("optimal", "(0.6, 0.4)", "line") == "Optimal for the prior (0.6, 0.4); line"


@pytest.mark.parametrize(
    ("graph", "size", "compared", "shown"),
    [
        ("clique", 6, ["clique", "ring", "line"], ["clique", "ring", "line"]),
        ("ring", 3, ["clique", "line"], ["ring", "line"]),  # three answers: the ring is the clique
        ("line", 2, ["clique", "ring"], ["line"]),
        ("most frequent value", 4, ["ring"], ["most frequent value", "ring"]),
        ("ring", 30, [], ["ring"]),
    ],
)
@pytest.mark.parametrize("leakage", [LOG2, 2.0])
def test_graphs_are_drawn_with_their_edges_and_utilities(graph, size, compared, shown, leakage):
    values = 4
    adjacency = graph_by_name(graph, size, values, 3)
    table = graph_table(graph, adjacency, compared, leakage, answer_names([], adjacency.size))
    figure = draw_graphs(table)
    check_text(figure)
    assert [axes.get_title().lower() for axes in figure.axes] == shown
    for axes, name in zip(figure.axes, shown, strict=True):
        rows = table[table["graph"] == name]
        edges = graph_by_name(name, adjacency.size, values, 3).edges
        assert len(axes.lines) == len(edges) and len(axes.patches) == adjacency.size == len(rows)
        found = mechanisms_on(graph_by_name(name, adjacency.size, values, 3), leakage, [1 / len(rows)] * len(rows))
        assert rows["kept"].to_numpy() == pytest.approx(np.diagonal(found["optimal"]), abs=DIGITS)
        assert rows["kept"].mean() == pytest.approx(rows["optimal"].iloc[0], abs=DIGITS)
        assert rows["optimal"].iloc[0] >= rows[["Alvim et al.", "truncated geometric"]].to_numpy().max() - DIGITS
    best = table.drop_duplicates("graph").set_index("graph")["optimal"]
    assert ("Fewer neighbors" in finding_of(figure)[0]) == (len(best) > 1 and best.max() > best.min())
    assert len(finding_of_graphs(table).split()) <= 12 + 2 * (graph == "most frequent value")


def test_fewer_neighbors_never_make_the_optimum_worse():
    table = graph_table("ring", ring(6), ["clique", "line"], LOG2, range(6)).drop_duplicates("graph").set_index("graph")
    assert table.loc[["clique", "ring", "line"], "optimal"].tolist() == pytest.approx(
        [2 / 7, 8 / 21, 4 / 9], abs=DIGITS
    )
    assert table.loc["ring", "Alvim et al."] == pytest.approx(4 / 11, abs=DIGITS)


def test_graphs_to_compare_with_are_known():
    with pytest.raises(ValueError, match="compared must be of clique, ring, line; got 'tree'"):
        graph_table("ring", ring(5), ["tree"], LOG2, range(5))


def test_pictures_of_graphs_have_names_of_their_own():
    assert cited_graphs("clique", ["clique", "ring", "line"], 6, LOG2).name == "alvim_graphs"
    assert cited_graphs("line", ["line", "ring"], 6, LOG2).name == "alvim_graphs_line"
    others = [cited_graphs("clique", [], 6, LOG2), cited_graphs("clique", ["clique", "ring", "line"], 6, 0.7)]
    assert len({cited.name for cited in others}) == 2 and not any(cited.name.startswith("alvim") for cited in others)
