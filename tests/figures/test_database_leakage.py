"""How much an answer tells of a database: bounds, distances and outputs as printed, with units and every number written out."""

import itertools
import math

import numpy as np
import pytest

from paper_repro import Query, hamming, truncated_geometric
from paper_repro.figures.database_leakage import (
    database_table,
    draw_neighbors,
    draw_scaled,
    draw_theorem_1,
    neighbor_table,
    output_table,
    scale_table,
    scaled_table,
    theorem_1_table,
)
from paper_repro.figures.layout import check_text, finding_of
from tests.figures.pictures import texts

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


@pytest.fixture
def bounds():
    return theorem_1_table(100, [2, 10, 100], 12.0, 25)


@pytest.mark.parametrize(("values", "limit"), [(2, 100.0), (10, 332.192809), (100, 664.385619)])
def test_bounds_of_figure_3(values, limit):
    table = theorem_1_table(100, [2, 10, 100], 12.0)
    rows = table[table["values"] == values]
    assert len(rows) >= 25
    assert rows["bound"].iloc[0] == pytest.approx(0, abs=DIGITS)
    assert (np.diff(rows["bound"]) > 0).all()
    ratios = np.exp(rows["leakage"])
    expected = 100 * np.log2(values * ratios / (values - 1 + ratios))
    assert rows["bound"].to_numpy() == pytest.approx(expected.to_numpy(), abs=2 * DIGITS)
    assert rows["bound"].iloc[-1] < limit
    top = theorem_1_table(100, [values], 700.0, 2)["bound"].iloc[-1]
    assert top == pytest.approx(limit, abs=1e-6)  # as many digits are given


def test_bounds_need_a_leakage():
    with pytest.raises(ValueError, match="at least 0 nats"):
        theorem_1_table(100, [2], -1.0)


def test_bounds_have_units_and_a_line_for_each_number_of_values(bounds):
    axes = draw_theorem_1(bounds, "Bounds").axes[0]
    assert axes.get_xlabel().endswith("(nats)")
    assert axes.get_ylabel().endswith("(bits)")
    assert finding_of(axes.figure)[0] == "Bounds"
    assert [text.get_text() for text in axes.texts] == ["$v = 2$", "$v = 10$", "$v = 100$"]
    lines = [line for line in axes.lines if line.get_gid()]
    for line, (_, rows) in zip(lines, bounds.groupby("values"), strict=True):
        assert (line.get_xdata() == rows["leakage"]).all()
        assert (line.get_ydata() == rows["bound"]).all()
    assert len({str(line._dash_pattern) for line in lines}) == len({line.get_color() for line in lines}) == 3


def test_the_matrix_is_that_of_figure_4b_in_its_order():
    header, *rows = [text.split() for text in FIGURE_4B.strip().splitlines()]
    table = scaled_table("abc", 2, LOG2)
    assert list(dict.fromkeys(table["published"])) == list(dict.fromkeys(table["database"])) == header
    assert table["distance"].tolist() == [int(entry) for _, *entries in rows for entry in entries]
    assert (table["exact"] * 2.0 ** table["distance"]).to_numpy() == pytest.approx(1 / 4, abs=1e-8)
    assert (table["printed"] * 2.0 ** table["distance"]).to_numpy() == pytest.approx(3 / 2, abs=1e-8)


@pytest.mark.parametrize(("values", "records", "leakage"), [("abc", 2, LOG2), ("ab", 3, 1.0), ("ab", 1, 0.0)])
def test_both_scales_are_told_with_what_a_row_sums_to(values, records, leakage):
    figure = draw_scaled(scaled_table(values, records, leakage))
    check_text(figure)
    assert finding_of(figure)[0].endswith("in place of 1")
    entries = texts(figure)
    assert len(entries) == len(values) ** (2 * records)
    assert entries.count("$a$") == len(values) ** records
    if records == 2:
        assert finding_of(figure)[0] == "With the printed scale a row sums to 6 in place of 1"
        assert finding_of(figure)[1] == "Printed $a = 3/2$, correct $a = 1/4$"
        key = [text.get_text() for text in figure.axes[1].texts]
        assert key[:6] == ["entry", "exact", "as printed", "$a$", "1/4", "3/2"]


def test_names_of_databases_are_distinct():
    assert scaled_table([1, 11], 2, 1.0)["database"].nunique() == 4


@pytest.mark.parametrize(
    ("values", "individuals"),
    [
        ("abc", ["Bob", "Alice"]),
        ([0, 1], ["x", "y", "z"]),
        ("ab", ["$"]),
        ([1, 11], ["A", "B"]),
        (["red", "green"], ["A"]),
        (["yes", "no"], ["A", "B", "C"]),
    ],
)
def test_neighbors_are_joined_on_a_grid(values, individuals):
    graph = hamming(len(values), len(individuals))
    table = neighbor_table(values, individuals)
    assert len(table) == len(graph.edges)
    figure = draw_neighbors(table)
    check_text(figure)
    (axes,) = figure.axes
    assert len(axes.patches) == len(table)
    looks = {(str(edge.get_linestyle()), edge.get_edgecolor()) for edge in axes.patches}
    assert len(looks) == len(individuals), "told apart by dashes and colors"
    names = texts(figure)
    assert len(names) == graph.size + len(individuals)
    assert f"Each of {graph.size} databases" in finding_of(figure)[0]


def test_individuals_need_different_names():
    with pytest.raises(ValueError, match="different names, got Bob, Bob"):
        neighbor_table("ab", ["Bob", "Bob"])
    with pytest.raises(ValueError, match="give at least one individual"):
        neighbor_table("ab", [])


@pytest.mark.parametrize(("values", "individuals"), [(2, 1), (2, 4), (3, 2)])
@pytest.mark.parametrize("leakage", [0.3, 2.0])
def test_what_a_count_tells_of_database_and_individual(values, individuals, leakage):
    query = Query(lambda database: database.count(0), range(values), individuals)
    noise = truncated_geometric(len(query.answers), leakage)
    table = database_table(query, noise).set_index("of")
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
        database_table(Query(sum, (0, 1), 3), np.eye(3))


def test_outputs_against_proposition_2():
    table = output_table(2, 3, [1, 2, 3, 4], LOG2)
    assert list(table.columns) == ["outputs", "exact", "proposition_2", "theorem_1"]
    assert table["exact"].round(4).tolist() == [0.0, 0.7370, 1.0, 1.1926]
    assert table["proposition_2"].round(4).tolist() == [0.0, 0.8301, 1.4150, 1.2996]
    assert (table["theorem_1"].round(4) == 1.2451).all()
    assert (table["exact"] <= table[["proposition_2", "theorem_1"]].min(axis=1) + DIGITS).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 3, [0], 1.0), "outputs must be a whole number, at least 1; got 0"),
        ((2, 2, [5], 1.0), r"between 1 and v\^u = 2\^2; got 5"),
        ((2, 17, [2], 1.0), r"at most 100000 databases to enumerate; got 2\^17\."),
        ((3, 3, [8], 1.0), r"choices to enumerate .*proposition_2 and theorem_1"),
    ],
)
def test_outputs_that_are_too_many(arguments, message):
    with pytest.raises(ValueError, match=message):
        output_table(*arguments)


@pytest.mark.parametrize(("values", "records", "leakage"), [(3, 2, LOG2), (2, 3, 1.0)])
def test_of_the_three_scales_one_is_that_of_a_mechanism(values, records, leakage):
    table = scale_table(values, records, leakage).set_index("scale")
    ratio = math.exp(leakage)
    bound = records * math.log2(values * ratio / (values - 1 + ratio))
    largest = [(ratio / (values - 1 + ratio)) ** records, values * ratio / (values - 1 + ratio), bound]
    assert table["largest entry"].tolist() == pytest.approx(largest, abs=DIGITS)
    assert table["row sum"].tolist() == pytest.approx([1.0, *(a / largest[0] for a in largest[1:])], abs=10 * DIGITS)
