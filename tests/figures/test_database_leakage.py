"""Figures of answer graphs and databases: axes with units, every number written out, and the tables they need."""

import math

import numpy as np
import pandas as pd
import pytest

from paper_repro import clique, hamming, line
from paper_repro.figures import answer_graphs, database_leakage, style

LOG2 = math.log(2)


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def numbers(figure):
    return np.array([float(text) for text in texts(figure)])


@pytest.fixture
def bounds():
    return database_leakage.bound_table(100, [2, 10, 100], 12.0, 25)


def test_bounds_have_units_and_a_line_for_each_number_of_values(bounds):
    axes = database_leakage.draw_bounds(bounds, "Bounds").axes[0]
    assert axes.get_xlabel().endswith("(nats)")
    assert axes.get_ylabel().endswith("(bits)")
    assert axes.get_title(loc="left") == "Bounds"
    assert [text.get_text() for text in axes.texts] == ["v = 2", "v = 10", "v = 100"]
    for drawn, (_, rows) in zip(axes.lines, bounds.groupby("values"), strict=True):
        assert (drawn.get_xdata() == rows["leakage"]).all()
        assert (drawn.get_ydata() == rows["bound"]).all()


def test_lines_differ_in_more_than_color(bounds):
    axes = database_leakage.draw_bounds(bounds).axes[0]
    assert len({str(drawn._dash_pattern) for drawn in axes.lines}) == 3
    assert len({drawn.get_color() for drawn in axes.lines}) == 3


def test_graph_of_example_1_has_all_databases_and_edges():
    databases, names = hamming(3, 2), database_leakage.distance_table("abc", 2).index.to_numpy()
    edges = pd.DataFrame(names[databases.edges], columns=["from", "to"])
    figure = database_leakage.draw_graph(edges, "Databases")
    assert sorted(texts(figure)) == sorted(names)
    (segments,) = [drawn for drawn in figure.axes[0].collections if hasattr(drawn, "get_segments")]
    assert len(segments.get_segments()) == len(edges) == 18


def test_distances_are_written_out():
    table = database_leakage.distance_table("abc", 2)
    figure = database_leakage.draw_distances(table, "Distances")
    assert (numbers(figure) == table.to_numpy().ravel()).all()
    assert figure.axes[0].get_xlabel() == "database"
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == list(table.columns)


def test_matrices_are_written_out_with_both_sides_named():
    table = answer_graphs.matrix_table(answer_graphs.mechanisms_on(line(6), LOG2, [1 / 6] * 6)["optimal"], range(6))
    figure = answer_graphs.draw_matrix(table, "Mechanism")
    assert numbers(figure) == pytest.approx(table.to_numpy().ravel(), abs=0.5e-3)  # three digits are shown
    assert figure.axes[0].get_xlabel() == "published answer"


def test_utilities_are_written_out_in_the_tables_order():
    priors = {"uniform": [1 / 6] * 6, "ends": [0.1, 0.2, 0.2, 0.2, 0.2, 0.1]}
    figure = answer_graphs.draw_utilities(answer_graphs.utility_table(clique(6), LOG2, priors), "Utilities")
    assert texts(figure) == ["0.2243", "0.2857", "0.2857", "0.2415", "0.2857", "0.3200"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["uniform", "ends"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [
        "truncated geometric",
        "Alvim et al.",
        "optimal",
    ]


@pytest.mark.parametrize(
    ("draw", "missing"),
    [
        (database_leakage.draw_bounds, "values, leakage, bound"),
        (database_leakage.draw_graph, "from, to"),
        (answer_graphs.draw_utilities, "prior, mechanism, utility"),
    ],
)
def test_columns_that_are_missing_are_named(draw, missing):
    with pytest.raises(ValueError, match=f"lacks the columns {missing}; it has other"):
        draw(pd.DataFrame({"other": [1.0]}))


def test_what_is_saved_is_the_same_each_time(bounds, tmp_path):
    contents = []
    for folder in ("one", "two"):
        figure = database_leakage.draw_bounds(bounds, "Bounds")
        paths = style.save_figure(figure, bounds, "figure", tmp_path / folder, "Rising curves.")
        contents.append({path.name: path.read_bytes() for path in paths})
    assert sorted(contents[0]) == ["figure.csv", "figure.pdf", "figure.png", "figure.svg"]
    assert contents[0] == contents[1]
