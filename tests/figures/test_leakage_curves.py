"""Tables: their columns, values against the library and known numbers, open and closed ends, rounding, bad grids."""

import math

import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.figures.leakage_curves import curve_table, leakage_table, printed_table
from paper_repro.figures.privacy_notions import lemma_table
from paper_repro.figures.source_sets import breakpoint_table, class_table, vertex_table
from paper_repro.papers import kalantari2018

DP, MI = pr.DifferentialPrivacy(), pr.MutualInformation()
NAMES = pr.source_set_names()
CURVE_COLUMNS = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]

# A table holds 8 decimals of what is certified to 1e-9 in distortion: half a unit of the last place, and as much again
# for a number that lies on the edge between two.
ROUNDED = 1e-8
# Mutual information is certified to 1e-6 nats and rounded to 6 decimals.
ROUNDED_NATS = 1.5e-6
# Known numbers are given to four decimals.
FOUR = 5.1e-5


@pytest.fixture
def write(tmp_path):
    def _write(content: str, name: str = "own.csv") -> str:
        path = tmp_path / name
        path.write_text(content)
        return str(path)

    return _write


@pytest.mark.parametrize("name", NAMES)
def test_vertices_are_one_a_row(name):
    table, source = vertex_table(name), pr.load_source_set(name)
    assert list(table.columns) == list(source.labels)
    np.testing.assert_array_equal(table.to_numpy(), source.vertices)


def test_classes_and_landmarks():
    table = class_table(NAMES).set_index("source_set")
    assert list(table.columns) == [
        "class", "letters", "vertices", "symmetric_until", "zero_from", "jump", "printed_symmetric_until",
        "printed_zero_from",
    ]  # fmt: skip
    assert list(table.index) == NAMES
    for name, row in table.iterrows():
        source = pr.load_source_set(name)
        assert (row["class"], row["letters"], row["vertices"]) == (
            source.source_class,
            source.alphabet_size,
            source.vertex_count,
        )
        # Randomized response is best up to (M - 1) times the largest least probability of any member.
        symmetric = (source.alphabet_size - 1) * source.vertices.min(axis=1).max()
        assert row["symmetric_until"] == pytest.approx(symmetric, abs=ROUNDED)
    assert table.loc["P_II_6", "symmetric_until":].tolist() == [0.1, 0.3, 1.54044504, 0.02, 0.3]
    assert table.loc["P_II_10", "symmetric_until":].tolist() == [0.18, 0.7, 0.40546511, 0.02, 0.7]
    assert table.loc["P_I_6", "symmetric_until":].tolist() == [0.83333333, 0.83333333, 0.0, 0.83333333, 0.83333333]
    class_3 = table[table["class"] == "III"]
    assert class_3[["printed_symmetric_until", "printed_zero_from"]].isna().all(axis=None)
    assert (class_3["jump"] == 0).all()


@pytest.mark.parametrize(("content", "row"), [("a\n1\n", [0.0] * 5), ("a,b,c\n1,0,0\n", [0.0] * 5)])
def test_landmarks_where_nothing_ever_leaks(write, content, row):
    assert class_table([write(content)]).loc[0, "symmetric_until":].tolist() == row


def test_randomized_response_is_meant_on_the_letters_that_can_occur(write):
    table = class_table([write("a,b,c\n0.5,0.5,0\n")])
    assert table["symmetric_until"].tolist() == [0.5]


def test_breakpoints_of_table_i():
    table = breakpoint_table(["P_II_6"])
    assert list(table.columns) == ["source_set", "kind", "distortion", "leakage"]
    exact, printed = (table[table["kind"] == kind] for kind in ("exact", "printed"))
    assert exact["distortion"].tolist() == [0.1, 0.14, 0.17, 0.21, 0.3]
    assert printed["distortion"].tolist() == [0.02, 0.05, 0.09, 0.15, 0.3]
    # log(P_1 / P_2) is the height of the jump.
    assert exact["leakage"].iloc[-1] == pytest.approx(math.log(0.7 / 0.15), abs=ROUNDED)
    assert exact["leakage"].iloc[-1] == pytest.approx(1.540445, abs=5e-7)
    assert printed["leakage"].iloc[-1] == 0
    expected = pr.exact_curve(pr.load_source_set("P_II_6")).leakage([0.02, 0.05, 0.09, 0.15])
    np.testing.assert_allclose(printed["leakage"].iloc[:-1], expected, atol=ROUNDED, rtol=0)


def test_breakpoints_of_all_sets_rise_while_the_leakage_falls():
    table = breakpoint_table(NAMES)
    assert list(dict.fromkeys(table["source_set"])) == NAMES
    for (name, kind), rows in table.groupby(["source_set", "kind"]):
        assert rows["distortion"].is_monotonic_increasing, (name, kind)
        assert rows["leakage"].is_monotonic_decreasing, (name, kind)
    printed = table[table["kind"] == "printed"].groupby("source_set").size().to_dict()
    assert printed == {"P_I_2": 1, "P_I_6": 1, "P_I_10": 1, "P_II_4": 3, "P_II_6": 5, "P_II_10": 9}


def test_breakpoints_of_no_set_are_an_empty_table():
    assert breakpoint_table([]).empty


@pytest.mark.parametrize(
    ("name", "distortion", "nats"),
    [
        ("P_II_6", 0.01, 6.2046), ("P_II_6", 0.2, 2.6773), ("P_II_6", 0.25, 2.0149), ("P_II_6", 0.29, 1.6236),
        ("P_II_6", 0.3, 0.0), ("P_IIIb_6", 0.25, 2.2380), ("P_IIIb_6", 0.5, 0.8916), ("P_IIIc_6", 0.75, 0.0690),
        ("P_II_10", 0.3, 2.9755), ("P_II_10", 0.6, 1.2465), ("P_II_10", 0.65, 0.8473), ("P_IIIc_10", 0.7, 0.7386),
    ],
)  # fmt: skip
def test_known_leakages(name, distortion, nats):
    table = leakage_table([name], [distortion])
    assert list(table.columns) == ["source_set", f"{distortion:g}"]
    assert table.iloc[0].tolist() == [name, pytest.approx(nats, abs=FOUR)]


@pytest.mark.parametrize("notion", [DP, MI], ids=lambda notion: notion.name)
def test_leakages_are_those_of_the_library(notion):
    names, grid = ["P_IIIa_6", "P_II_6"], [0.05, 0.3, 0.575]
    table = leakage_table(names, grid, notion)
    assert list(table.columns) == ["source_set", "0.05", "0.3", "0.575"]
    assert list(table["source_set"]) == names
    expected = [pr.leakage_curve(pr.load_source_set(name), grid, notion=notion) for name in names]
    tolerance = ROUNDED if notion is DP else ROUNDED_NATS
    np.testing.assert_allclose(table.drop(columns="source_set"), expected, atol=tolerance, rtol=0)


def test_leakage_is_infinite_without_distortion():
    assert leakage_table(["P_II_6"], [0.0]).iloc[0].tolist() == ["P_II_6", math.inf]


@pytest.mark.parametrize("distortions", [[0.1, 0.1], [0.1, 0.1000000001]])
def test_distortions_of_the_same_name_have_a_column_each(distortions):
    assert leakage_table(["P_II_6"], distortions).shape == (1, 3)


@pytest.mark.parametrize(
    ("distortions", "value"), [([0.1, 1.5], "1.5"), ([-0.1], "-0.1"), ([math.nan], "nan"), ([20], "20.0")]
)
def test_a_distortion_outside_its_range_is_named(distortions, value):
    with pytest.raises(ValueError, match=f"distortion must be a probability of change between 0 and 1, got {value}"):
        leakage_table(["P_II_6"], distortions)


def test_a_curve_has_the_grid_the_breakpoints_and_both_ends_of_the_jump():
    table = curve_table(["P_II_6"], [DP], 0.05, 1.0, points=20)
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["source_set"] + table["class"] + table["curve"]) == {"P_II_6IIdifferential privacy"}
    points = {*np.linspace(0.05, 1.0, 20).round(9).tolist(), 0.1, 0.14, 0.17, 0.21, 0.3}
    assert table["distortion"].tolist() == sorted([*points, 0.3])
    opens, closed = (table.index[table["end"] == end].tolist() for end in ("open", "closed"))
    assert [position + 1 for position in opens] == closed
    assert table.loc[opens, ["distortion", "leakage"]].to_numpy().tolist() == [[0.3, 1.54044504]]
    assert table.loc[closed, ["distortion", "leakage"]].to_numpy().tolist() == [[0.3, 0.0]]
    np.testing.assert_array_equal(table["leakage"], table["exact"])
    inside = table[table["end"] == ""]
    expected = pr.exact_curve(pr.load_source_set("P_II_6")).leakage(inside["distortion"])
    np.testing.assert_allclose(inside["leakage"], expected, atol=ROUNDED, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_curve_never_rises_and_has_ends_where_it_jumps(name):
    table = curve_table([name], [DP], points=30)
    assert table["distortion"].is_monotonic_increasing
    assert table["leakage"].is_monotonic_decreasing
    assert table["end"].tolist().count("open") == (name in ("P_II_4", "P_II_6", "P_II_10"))


@pytest.mark.parametrize(("smallest", "largest"), [(0.005, 0.29), (0.31, 1.0)])
def test_a_jump_outside_the_grid_has_no_ends(smallest, largest):
    table = curve_table(["P_II_6"], [DP], smallest, largest, points=5)
    assert set(table["end"]) == {""}
    assert table["distortion"].agg(["min", "max"]).tolist() == [smallest, largest]


def test_mutual_information_has_no_jump():
    table = curve_table(["P_II_10"], [DP, MI], 0.1, 0.7, points=4)
    assert list(dict.fromkeys(table["curve"])) == ["differential privacy", "mutual information"]
    rows = table[table["curve"] == "mutual information"]
    assert rows["distortion"].tolist() == [0.1, 0.3, 0.5, 0.7]
    # Known to five decimals.
    np.testing.assert_allclose(rows["leakage"], [1.44183, 0.72231, 0.23250, 0], atol=5e-6 + 1e-6, rtol=0)
    assert set(rows["end"]) == {""}
    closed = table[table["curve"] == "differential privacy"].iloc[-1]
    assert (closed["distortion"], closed["leakage"]) == (0.7, 0.0)


@pytest.mark.parametrize(("notion", "decimals"), [(DP, 8), (MI, 6)])
def test_numbers_are_rounded_to_what_is_certified(notion, decimals):
    table = curve_table(["P_IIIb_6"], [notion], points=7)
    for column, digits in {"distortion": 9, "leakage": decimals, "exact": decimals}.items():
        np.testing.assert_array_equal(table[column], table[column].round(digits))
    assert not np.signbit(table[["leakage", "exact"]].to_numpy()).any(), "a zero has no minus sign"
    assert not np.array_equal(table["leakage"], table["leakage"].round(decimals - 1)), "nor is more cut off"


@pytest.mark.parametrize("function", [curve_table, printed_table])
@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((0.5, 0.2, 10), "smallest_distortion < largest_distortion and at least 2 points, got 0.5, 0.2 and 10"),
        ((0.5, 0.5, 10), "smallest_distortion < largest_distortion"),
        ((0.1, 0.5, 1), "at least 2 points, got 0.1, 0.5 and 1"),
        ((-0.1, 0.5, 10), "between 0 and 1, got -0.1"),
        ((0.1, 20, 10), "between 0 and 1, got 20"),
        ((math.nan, 0.5, 10), "between 0 and 1, got nan"),
        ((0.1, "half", 10), "distortion must be a number, a probability of change between 0 and 1, got 'half'"),
    ],
)
def test_a_bad_grid_is_refused_with_its_values(function, grid, message):
    arguments = ([DP], *grid) if function is curve_table else grid
    with pytest.raises(ValueError, match=message):
        function(["P_II_6"], *arguments)


@pytest.mark.parametrize(
    "table",
    [vertex_table, lemma_table]
    + [lambda name, build=build: build([name]) for build in (class_table, breakpoint_table, printed_table)]
    + [lambda name: leakage_table([name], [0.1]), lambda name: curve_table([name], [DP])],
    ids=["vertices", "lemma", "classes", "breakpoints", "printed", "leakages", "curves"],
)
def test_every_table_refuses_an_unknown_set(table):
    with pytest.raises(ValueError, match="unknown source set 'P_II_7'; known are P_I_2"):
        table("P_II_7")


def test_two_sets_of_the_same_name_are_refused(write):
    with pytest.raises(ValueError, match="P_II_6"):
        curve_table(["P_II_6", write("a,b\n0.6,0.4\n", "P_II_6.csv")], [DP], points=5)


def test_curves_of_no_set_are_an_empty_table():
    assert list(curve_table([], [DP]).columns) == CURVE_COLUMNS


def test_printed_values_of_table_i_are_below_the_exact_ones():
    table = printed_table(["P_II_6"], 0.01, 0.5, points=50)
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["curve"]) == {"as printed"}
    at = table[table["end"] == ""].set_index("distortion")
    assert at.loc[0.05, "leakage"] == pytest.approx(4.2485, abs=FOUR)
    assert at.loc[0.05, "exact"] == pytest.approx(4.5539, abs=FOUR)
    source = pr.load_source_set("P_II_6")
    np.testing.assert_allclose(at["exact"], pr.exact_curve(source).leakage(at.index), atol=ROUNDED, rtol=0)
    expected = [kalantari2018.theorem_2(source, distortion) for distortion in at.index]
    np.testing.assert_allclose(at["leakage"], expected, atol=ROUNDED, rtol=0)
    # The formula is solved to about 1e-9, so that much above the truth is rounding.
    assert (table["leakage"] <= table["exact"] + ROUNDED).all()


def test_the_printed_curve_of_table_i_jumps_at_its_first_threshold_and_at_the_end():
    table = printed_table(["P_II_6"], 0.01, 0.5, points=50)
    ends = table[table["end"] != ""]
    assert ends["end"].tolist() == ["open", "closed"] * 2
    assert ends["distortion"].tolist() == [0.02, 0.02, 0.3, 0.3]
    # An open end is the limit: at 1e-9 below, 1e-9 times the slope (50 nats at D = 0.02) away from it.
    exact = math.log(5 * 0.98 / 0.02)
    np.testing.assert_allclose(ends["exact"], [exact, exact, math.log(0.7 / 0.15), 0], atol=1e-7, rtol=0)
    np.testing.assert_allclose(ends["leakage"], [exact, 5.164786, math.log(0.7 / 0.15), 0], atol=5e-7, rtol=0)


@pytest.mark.parametrize(
    ("name", "nats"),
    [
        ("P_II_6", 0.3365), ("P_IIIa_6", 0.1470), ("P_IIIb_6", 0.0829), ("P_IIIc_6", 0.0438),
        ("P_II_10", 1.0296), ("P_IIIa_10", 0.6575), ("P_IIIb_10", 0.4174), ("P_IIIc_10", 0.3037),
    ],
)  # fmt: skip
def test_printed_curves_are_most_wrong_at_their_first_threshold(name, nats):
    table = printed_table([name], points=30)
    shortfall = table["exact"] - table["leakage"]
    worst = table.loc[shortfall.idxmax()]
    assert (worst["distortion"], worst["end"]) == (0.02, "closed")
    assert shortfall.max() == pytest.approx(nats, abs=FOUR)


def test_printed_curves_of_class_3_are_theorem_3_on_the_set_they_are_built_from():
    table = printed_table(["P_IIIb_6"], 0.05, 0.65, points=4)
    base, swaps = pr.load_source_set("P_II_6"), [[2, 1, 0, 3, 4, 5], [1, 0, 2, 3, 4, 5]]
    expected = [
        kalantari2018.theorem_3(base, distortion, permutations=swaps).upper for distortion in (0.05, 0.25, 0.45, 0.65)
    ]
    np.testing.assert_allclose(table["leakage"], expected, atol=ROUNDED, rtol=0)


@pytest.mark.parametrize("names", [[], ["P_I_6", "P_I_10"]])
def test_printed_curves_are_left_out_where_there_are_none(names):
    table = printed_table(names)
    assert table.empty
    assert list(table.columns) == CURVE_COLUMNS


def test_printed_curves_are_left_out_where_they_agree():
    # Beyond the first exact breakpoint that Theorem 3 misses, the formula is tight for these sets.
    assert printed_table(["P_IIIa_6"], 0.3, 0.57, points=10).empty
    assert not printed_table(["P_IIIa_6"], 0.05, 0.57, points=10).empty


def test_an_own_set_of_two_letters_agrees_with_theorem_2(write):
    assert printed_table([write("a,b\n0.7,0.3\n")], points=10).empty


def test_a_printed_curve_that_agrees_is_left_out_from_distortion_0_too(write):
    assert printed_table([write("a,b\n0.7,0.3\n")], 0.0, 1.0, points=10).empty


@pytest.mark.parametrize("content", ["a,b,c\n0.6,0.4,0\n", "a,b,c\n0.5,0.5,0\n0.6,0.4,0\n"])
def test_printed_curves_of_sets_with_a_letter_that_never_occurs(write, content):
    assert list(printed_table([write(content)], points=10).columns) == CURVE_COLUMNS


def test_lemma_3_for_class_1():
    table = lemma_table("P_I_10", points=5)
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["curve"]) == {"Lemma 3"}
    assert table[["distortion", "leakage"]].to_numpy()[-1].tolist() == [0.9, 0.0]
    expected = pr.leakage_curve(pr.load_source_set("P_I_10"), table["distortion"], notion=MI)
    np.testing.assert_allclose(table["leakage"], expected, atol=ROUNDED_NATS, rtol=0)


@pytest.mark.parametrize(("name", "end"), [("P_II_6", 0.3), ("P_II_10", 0.7)])
def test_lemma_4_for_class_2(name, end):
    assert lemma_table(name)[["curve", "distortion", "leakage"]].to_numpy().tolist() == [["Lemma 4", end, 0.0]]


@pytest.mark.parametrize("name", ["P_IIIa_6", "P_IIIc_10"])
def test_the_lemmas_say_nothing_of_class_3(name):
    assert lemma_table(name).empty


@pytest.mark.parametrize(
    "content",
    ["a\n1\n", "a,b\n0.7,0.3\n", "a,b,c\n1,0,0\n", "a,b,c\n0.4,0.4,0.2\n", "a,b,c\n0.6,0.4,0\n0.5,0.5,0\n"],
    ids=["one-letter", "two-letters", "certain", "tie", "zero"],
)
def test_small_sets_ties_and_zeros_have_all_their_tables(write, content):
    name = write(content)
    assert len(class_table([name])) == 1
    assert not breakpoint_table([name])["leakage"].isna().any()
    curves = curve_table([name], [DP, MI], 0.0, 1.0, points=5)
    assert not curves["leakage"].isna().any()
    assert (curves.groupby("curve")["leakage"].last() == 0).all()
    assert not lemma_table(name)["leakage"].isna().any()
    assert isinstance(vertex_table(name), pd.DataFrame)
