"""Curves: tables against the library and known numbers, open and closed ends; pictures without false lines or hidden ones."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.figures.curves import curve_table, draw_curves, finding_of_curves, subtitle_of
from paper_repro.figures.layout import check_text, finding_of, visible_texts
from paper_repro.figures.leakage_curves import (
    cited_figure,
    comparison_caption,
    comparison_in_words,
    comparison_table,
    draw_comparison,
    draw_leakages,
    leakage_table,
    printed_table,
    shortfalls,
    why_not_printed,
)
from paper_repro.figures.registry import set_label
from paper_repro.figures.saving import save_figure
from paper_repro.figures.seven_notions import notion_table
from paper_repro.notions import NOTION_NAMES, notion_by_name
from paper_repro.papers import kalantari2018
from tests.figures.pictures import (
    FOUR,
    NAMES,
    ROUNDED,
    ROUNDED_NATS,
    SETS,
    SIX,
    TEN,
    curves,
    drawn,
    load,
)  # fmt: skip

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]
_WORST = "The 2017 preprint's formulas fall up to {} nats below the optimum"
_BOTH = "Both notions need no leakage from distortion "
DP, MI = pr.DifferentialPrivacy(), pr.MutualInformation()
CURVE_COLUMNS = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]


@pytest.mark.parametrize("notion", [DP, MI], ids=lambda notion: notion.name)
def test_leakages_are_those_of_the_library(notion):
    names, grid = ["P_IIIa_6", "P_II_6"], [0.05, 0.3, 0.575]
    table = leakage_table(load(*names), grid, notion=notion)
    assert list(table.columns) == ["source_set", "0.05", "0.3", "0.575"]
    assert list(table["source_set"]) == names
    expected = [pr.leakage_curve(SETS[name], grid, notion=notion) for name in names]
    tolerance = ROUNDED if notion is DP else ROUNDED_NATS
    np.testing.assert_allclose(table.drop(columns="source_set"), expected, atol=tolerance, rtol=0)


def test_leakage_is_infinite_without_distortion():
    assert leakage_table(load("P_II_6"), [0.0]).iloc[0].tolist() == ["P_II_6", math.inf]


@pytest.mark.parametrize("distortions", [[0.1, 0.1], [0.1, 0.1000000001]])
def test_distortions_of_the_same_name_have_a_column_each(distortions):
    assert leakage_table(load("P_II_6"), distortions).shape == (1, 3)


@pytest.mark.parametrize(
    ("distortions", "value"), [([0.1, 1.5], "1.5"), ([-0.1], "-0.1"), ([math.nan], "nan"), ([20], "20.0")]
)
def test_a_distortion_outside_its_range_is_named(distortions, value):
    with pytest.raises(ValueError, match=f"distortion must be a probability of change between 0 and 1; got {value}"):
        leakage_table(load("P_II_6"), distortions)


def test_a_curve_has_the_grid_the_breakpoints_and_both_ends_of_the_jump():
    table = curve_table(load("P_II_6"), [DP], 0.05, 1.0, points=20)
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["source_set"] + table["class"] + table["curve"]) == {"P_II_6IIdifferential privacy"}
    points = {*np.linspace(0.05, 1.0, 20).round(9).tolist(), 0.1, 0.14, 0.17, 0.21, 0.3}
    assert points <= set(table["distortion"]) and table["distortion"].is_monotonic_increasing
    opens, closed = (table.index[table["end"] == end].tolist() for end in ("open", "closed"))
    assert [position + 1 for position in opens] == closed
    assert table.loc[opens, ["distortion", "leakage"]].to_numpy().tolist() == [[0.3, 1.54044504]]
    assert table.loc[closed, ["distortion", "leakage"]].to_numpy().tolist() == [[0.3, 0.0]]
    np.testing.assert_array_equal(table["leakage"], table["exact"])
    inside = table[table["end"] == ""]
    expected = pr.exact_curve(SETS["P_II_6"]).leakage(inside["distortion"])
    np.testing.assert_allclose(inside["leakage"], expected, atol=ROUNDED, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_curve_never_rises_and_has_ends_where_it_jumps(name):
    table = curve_table(load(name), [DP], points=30)
    assert table["distortion"].is_monotonic_increasing
    assert table["leakage"].is_monotonic_decreasing
    assert table["end"].tolist().count("open") == (name in ("P_II_4", "P_II_6", "P_II_10"))


@pytest.mark.parametrize(("smallest", "largest"), [(0.005, 0.29), (0.31, 1.0)])
def test_a_jump_outside_the_grid_has_no_ends(smallest, largest):
    table = curve_table(load("P_II_6"), [DP], smallest, largest, points=5)
    assert set(table["end"]) == {""}
    assert table["distortion"].agg(["min", "max"]).tolist() == [smallest, largest]


def test_mutual_information_has_no_jump():
    table = curve_table(load("P_II_10"), [DP, MI], 0.1, 0.7, points=4)
    assert list(dict.fromkeys(table["curve"])) == ["differential privacy", "mutual information"]
    rows = table[table["curve"] == "mutual information"]
    known = rows[rows["distortion"].isin([0.1, 0.3, 0.5, 0.7])]
    # Known to five decimals.
    np.testing.assert_allclose(known["leakage"], [1.44183, 0.72231, 0.23250, 0], atol=5e-6 + 1e-6, rtol=0)
    assert set(rows["end"]) == {""}
    closed = table[table["curve"] == "differential privacy"].iloc[-1]
    assert (closed["distortion"], closed["leakage"]) == (0.7, 0.0)


def test_curves_of_all_notions_have_their_jumps():
    """Figure 4: differential privacy jumps at 0.6, its approximate form at 0.54; maximal information where a letter can go."""
    table = curve_table(load("P_II_4"), NOTIONS, 0.02, 0.7, 18)
    ends = table[table["end"] == "closed"]
    found = {(row.curve, round(row.distortion, 7)) for row in ends.itertuples()}
    assert found == {
        ("differential privacy", 0.6),
        ("approximate differential privacy", 0.54),
        ("maximal information", 0.1),
        ("maximal information", 0.6),
    }
    opens = table[table["end"] == "open"].set_index(["curve", "distortion"])["leakage"]
    assert opens["differential privacy", 0.6] == pytest.approx(math.log(4 / 3), abs=ROUNDED_NATS)
    assert opens["approximate differential privacy", 0.54] == pytest.approx(math.log(4 / 3), abs=ROUNDED_NATS)
    # Just below 0.1 the letter of probability 1/10 has to be published still.
    assert opens["maximal information"].max() == pytest.approx(math.log(5), abs=1e-5)


@pytest.mark.parametrize(("notion", "decimals"), [(DP, 8), (MI, 6)])
def test_numbers_are_rounded_to_what_is_certified(notion, decimals):
    table = curve_table(load("P_IIIb_6"), [notion], points=7)
    for column, digits in {"distortion": 9, "leakage": decimals, "exact": decimals}.items():
        np.testing.assert_array_equal(table[column], table[column].round(digits))
    assert not np.signbit(table[["leakage", "exact"]].to_numpy()).any(), "a zero has no minus sign"
    assert not np.array_equal(table["leakage"], table["leakage"].round(decimals - 1)), "nor is more cut off"


@pytest.mark.parametrize("function", [curve_table, printed_table])
@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((0.5, 0.2, 10), "smallest_distortion < largest_distortion and at least 2 points; got 0.5, 0.2 and 10"),
        ((0.5, 0.5, 10), "smallest_distortion < largest_distortion"),
        ((0.1, 0.5, 1), "at least 2 points; got 0.1, 0.5 and 1"),
        ((-0.1, 0.5, 10), "between 0 and 1; got -0.1"),
        ((0.1, 20, 10), "between 0 and 1; got 20"),
        ((math.nan, 0.5, 10), "between 0 and 1; got nan"),
        ((0.1, "half", 10), "distortion must be a number, a probability of change between 0 and 1; got 'half'"),
    ],
)
def test_a_bad_grid_is_refused_with_its_values(function, grid, message):
    arguments = ([DP], *grid) if function is curve_table else grid
    with pytest.raises(ValueError, match=message):
        function(load("P_II_6"), *arguments)


def test_two_sets_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match="source sets must have different names; got 'P_II_6' twice"):
        curve_table([*load("P_II_6"), pr.SourceSet([0.6, 0.4], name="P_II_6")], [DP], points=5)


@pytest.mark.parametrize(
    ("function", "missing"),
    [
        (lambda: curve_table([], [DP]), "source set"),
        (lambda: curve_table(load("P_I_2"), []), "notion"),
        (lambda: leakage_table([], [0.1]), "source set"),
        (lambda: leakage_table(load("P_I_2"), []), "distortion"),
    ],
)
def test_a_table_of_nothing_is_refused(function, missing):
    with pytest.raises(ValueError, match=f"give at least one {missing}"):
        function()


def test_printed_values_of_table_i_are_below_the_exact_ones():
    table = printed_table(load("P_II_6"), 0.01, 0.5, points=50)
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["curve"]) == {"as printed"}
    at = table[~table["end"].isin(["open", "closed"])].set_index("distortion")
    assert at.loc[0.05, "leakage"] == pytest.approx(4.2485, abs=FOUR)
    assert at.loc[0.05, "exact"] == pytest.approx(4.5539, abs=FOUR)
    source = SETS["P_II_6"]
    inside = at[at["end"] == ""]
    np.testing.assert_allclose(inside["exact"], pr.exact_curve(source).leakage(inside.index), atol=ROUNDED, rtol=0)
    expected = [kalantari2018.theorem_2(source, distortion) for distortion in inside.index]
    np.testing.assert_allclose(inside["leakage"], expected, atol=ROUNDED, rtol=0)
    # The formula is solved to about 1e-9, so that much above the truth is rounding.
    assert (table["leakage"] <= table["exact"] + ROUNDED).all()


@pytest.mark.parametrize("name", ["P_II_6", "P_II_10", "P_IIIa_6", "P_IIIc_10"])
def test_a_printed_curve_has_no_row_where_it_is_exact_but_for_one_neighbor(name):
    table = printed_table(load(name))
    agrees = (table["exact"] - table["leakage"] < 1e-6).to_numpy()
    assert agrees[[0, -1]].all() and not (agrees[1:] & agrees[:-1]).any()
    assert table["end"].iloc[-1] == "stops"
    assert table["leakage"].min() > 0.1, "nothing on the line of zeros"


def test_the_printed_curve_of_table_i_begins_with_the_jump_at_its_first_threshold():
    table = printed_table(load("P_II_6"), 0.01, 0.5, points=50)
    ends = table[table["end"] != ""]
    assert ends["end"].tolist() == ["open", "closed", "stops"]
    assert ends["distortion"].tolist() == [0.02, 0.02, 0.3]
    # An open end is the limit: at 1e-9 below, 1e-9 times the slope (50 nats at D = 0.02) away from it.
    exact = math.log(5 * 0.98 / 0.02)
    np.testing.assert_allclose(ends["exact"], [exact, exact, math.log(0.7 / 0.15)], atol=1e-7, rtol=0)
    np.testing.assert_allclose(ends["leakage"], [exact, 5.164786, math.log(0.7 / 0.15)], atol=5e-7, rtol=0)


@pytest.mark.parametrize(
    ("name", "nats"),
    [
        ("P_II_6", 0.3365), ("P_IIIa_6", 0.1470), ("P_IIIb_6", 0.0829), ("P_IIIc_6", 0.0438),
        ("P_II_10", 1.0296), ("P_IIIa_10", 0.6575), ("P_IIIb_10", 0.4174), ("P_IIIc_10", 0.3037),
    ],
)  # fmt: skip
def test_printed_curves_are_most_wrong_at_their_first_threshold(name, nats):
    table = printed_table(load(name), points=10)
    shortfall = table["exact"] - table["leakage"]
    worst = table.loc[shortfall.idxmax()]
    assert (worst["distortion"], worst["end"]) == (0.02, "closed")
    assert shortfall.max() == pytest.approx(nats, abs=FOUR)


def test_printed_curves_of_class_3_are_theorem_3_on_the_set_they_are_built_from():
    table = printed_table(load("P_IIIb_6"), 0.05, 0.15, points=3).set_index("distortion")
    base, swaps = SETS["P_II_6"], [[2, 1, 0, 3, 4, 5], [1, 0, 2, 3, 4, 5]]
    for place in (0.05, 0.1, 0.15):
        expected = kalantari2018.theorem_3(base, place, permutations=swaps).upper
        assert table.loc[place, "leakage"] == pytest.approx(expected, abs=ROUNDED)


@pytest.mark.parametrize("names", [[], ["P_I_6", "P_I_10"]])
def test_printed_curves_are_left_out_where_there_are_none(names):
    table = printed_table(load(*names))
    assert table.empty
    assert list(table.columns) == CURVE_COLUMNS


def test_printed_curves_are_left_out_where_they_agree():
    # Beyond the first exact breakpoint that Theorem 3 misses, the formula is tight for these sets.
    assert printed_table(load("P_IIIa_6"), 0.3, 0.57, points=10).empty
    assert not printed_table(load("P_IIIa_6"), 0.05, 0.57, points=10).empty


@pytest.mark.parametrize("smallest", [0.0, 0.005])
def test_an_own_set_of_two_letters_agrees_with_theorem_2(smallest):
    assert printed_table([pr.SourceSet([0.7, 0.3])], smallest, points=10).empty


@pytest.mark.parametrize("vertices", [[0.6, 0.4, 0], [[0.5, 0.5, 0], [0.6, 0.4, 0]]])
def test_printed_curves_of_sets_with_a_letter_that_never_occurs(vertices):
    assert list(printed_table([pr.SourceSet(vertices)], points=10).columns) == CURVE_COLUMNS


@pytest.fixture
def jump() -> pd.DataFrame:
    """A curve with a jump at D = 0.3, and one that falls evenly."""
    columns = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]
    rows = [("jumps", "II", "differential privacy", *row) for row in [(0.1, 2, 2, ""), (0.2, 1.5, 1.5, "")]]
    rows += [("jumps", "II", "differential privacy", *row) for row in [(0.3, 1, 1, "open"), (0.3, 0, 0, "closed")]]
    rows += [
        ("jumps", "II", "differential privacy", 0.4, 0, 0, ""),
        ("jumps", "II", "differential privacy", 0.5, 0, 0, ""),
    ]
    rows += [
        ("falls", "I", "differential privacy", distortion, 5 - 10 * distortion, 0, "") for distortion in (0.1, 0.5)
    ]
    return pd.DataFrame(rows, columns=columns).astype({"leakage": float, "exact": float})


@pytest.mark.parametrize("name", ["figure_4", "figure_5", "figure_6", "figure_7"])
def test_curves_have_axes_with_units(name):
    top, *panels = drawn(name).axes
    assert top.get_ylabel() == "leakage (nats)"
    assert top.get_xlabel() == "worst-case Hamming distortion D (probability that an entry is changed)"
    assert [panel.get_xlabel() for panel in panels] == ["distortion $D$"] * len(panels)


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        (
            "figure_4",
            _WORST.format(0.34),
        ),
        (
            "figure_5",
            _WORST.format(1.03),
        ),
        ("figure_6", _BOTH + "0.9 on"),
        (
            "figure_7",
            _BOTH + "0.7; only differential privacy jumps",
        ),
    ],
)
def test_the_title_is_the_finding(name, finding):
    assert finding_of(drawn(name))[0] == finding


def test_what_is_printed_is_named_once_in_the_plot_of_all_sets_and_cited():
    figure = drawn("figure_4")
    assert [text.get_text() for text in figure.axes[0].texts].count("2017 preprint") == 1
    assert "dotted: Theorems 2 and 3 of the 2017 preprint; " in finding_of(figure)[1]
    assert finding_of(figure)[1].endswith(rf"farthest off for {set_label('P_II_6')}, too low for $0.02\leq D<0.3$")
    assert figure.axes[1].get_title(loc="left").endswith("preprint is\nup to 0.34 nats too low")


def test_a_picture_without_printed_curves_is_read_without_them():
    table = comparison_table([pr.SourceSet([0.5, 0.5], name="mine")])
    assert "preprint" not in comparison_caption(table) + comparison_in_words(table)
    table = comparison_table(load("P_II_6"), points=10)
    assert "Theorem 2 of the 2017 preprint" in comparison_caption(table)
    assert "Dotted: Theorem 2 of the 2017 preprint, below the exact curves of P_II_6" in comparison_in_words(table)
    assert shortfalls(table).round(4).to_dict() == {"P_II_6": 0.3365}


@pytest.mark.parametrize("notion", [MI, pr.MaximalLeakage()], ids=lambda notion: notion.name)
def test_randomized_response_is_measured_by_the_chosen_notion(notion):
    table = comparison_table(load("P_I_6", "P_II_6"), notion, points=10)
    uniform = table[table["source_set"] == "P_I_6"]
    np.testing.assert_allclose(uniform["randomized_response"], uniform["leakage"], atol=ROUNDED_NATS, rtol=0)
    place = table.iloc[3]
    mechanism = pr.randomized_response(6, kalantari2018.theorem_1(6, place["distortion"]))
    assert place["randomized_response"] == pytest.approx(notion.leakage(mechanism, SETS["P_I_6"]), abs=ROUNDED)
    assert (table["randomized_response"] >= table["leakage"] - ROUNDED_NATS).all(), (
        "no mechanism leaks less than the least"
    )


def test_a_sets_own_name_is_not_changed_in_a_title():
    sets = [pr.SourceSet([0.6, 0.4], name="set_a"), pr.SourceSet([0.7, 0.3], name="set_b")]
    assert finding_of_curves(curve_table(sets, [DP], 0.1)) == "No leakage is needed for set_b from distortion 0.3 on"
    assert finding_of_curves(curve_table(sets[:1], [DP], 0.1)) == "No leakage is needed from distortion 0.4 on"
    same = [pr.SourceSet([0.6, 0.4], name=name) for name in "abc"]
    assert (
        finding_of_curves(curve_table(same, [DP], 0.1))
        == "All three source sets need no leakage from distortion 0.4 on"
    )
    two_of_three = [*same[:2], pr.SourceSet([0.5, 0.5], name="d")]
    said = "No leakage is needed for two of three source sets from distortion 0.4 on"
    assert finding_of_curves(curve_table(two_of_three, [DP], 0.1)) == said
    assert subtitle_of(sets[:1], [DP, MI]) == "Prior (0.6, 0.4)"
    wide = pr.SourceSet([[0.6, 0.4], [0.7, 0.3]], name="set_a")
    assert subtitle_of([wide], [DP, MI]) == "Source set set_a, Class II, 2 categories"


def by_gid(axes):
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def labelled(axes, label):
    return [line for line in axes.lines if line.get_label() == label]


def test_a_jump_is_a_break_with_an_open_and_a_closed_end(jump):
    (axes,) = draw_curves(jump, "A jump").axes
    line = by_gid(axes)["jumps"]
    np.testing.assert_array_equal(line.get_xydata(), [[0.1, 2], [0.2, 1.5], [0.3, 1], [np.nan] * 2, [0.3, 0]])
    # Thin, dotted and upright: no slope.
    (connector,), (opened,), (closed,) = (labelled(axes, label) for label in ("_jump", "_open", "_closed"))
    np.testing.assert_array_equal(connector.get_xydata(), [[0.3, 1], [0.3, 0]])
    assert connector.get_linestyle() == ":"
    assert connector.get_linewidth() <= line.get_linewidth() / 2
    for end, height, fill in ((opened, 1, "white"), (closed, 0, line.get_color())):
        assert end.get_xydata().tolist() == [[0.3, height]]
        assert (end.get_marker(), end.get_markerfacecolor()) == ("o", fill)
    assert {text.get_text() for text in axes.texts} == {"jumps", "falls"}


@pytest.mark.parametrize(
    ("name", "place", "height"), [("figure_4", 0.3, 1.540445), ("figure_5", 0.7, 0.405465), ("figure_7", 0.7, 0.405465)]
)
def test_no_line_slopes_across_the_jump(name, place, height):
    axes = drawn(name).axes[0]
    (opened,) = labelled(axes, "_open")
    # The table has eight decimals.
    np.testing.assert_allclose(opened.get_xydata(), [[place, height]], atol=5e-7, rtol=0)
    crossing = [
        (x0, x1, line.get_linestyle())
        for line in axes.lines
        if line.get_color() == opened.get_color()
        for (x0, y0), (x1, y1) in itertools.pairwise(line.get_xydata())
        if x0 <= place <= x1 and min(y0, y1) < height / 2 < max(y0, y1)
    ]
    assert crossing == [(place, place, ":")]


def test_a_curve_without_jump_has_no_ends():
    axes = draw_curves(curves(["P_I_6"])).axes[0]
    assert not [line for line in axes.lines if line.get_marker() == "o"]


def test_what_is_printed_is_drawn_against_the_truth_in_a_panel_for_each_set():
    _, *panels = drawn("figure_4").axes
    assert len(panels) == 4
    for panel, name in zip(panels, SIX[1:], strict=True):
        label = set_label(name)
        printed = by_gid(panel)[f"{label} saved as printed"]
        places, saved = printed.get_xydata()[np.isfinite(printed.get_ydata())].T
        truth = [kalantari2018.theorem_1(6, place) for place in places] - pr.exact_curve(SETS[name]).leakage(places)
        inside = places < 0.3
        assert (saved[inside] >= truth[inside] - 1e-6).all() and (saved - truth).max() > 0.04
        low, high = panel.collections[0].get_paths()[0].get_extents().get_points()[:, 1]
        assert low >= -1e-6 and high == pytest.approx(panel.get_ylim()[1])  # what no mechanism saves
        assert panel.get_ylim() == panels[0].get_ylim() and panel.get_xlim() == panels[0].get_xlim()


def test_own_sets_have_names_of_their_own_and_a_reason_for_what_is_not_printed():
    own = pr.SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], name="my set")
    assert cited_figure([own], DP).name == "leakages_differential-privacy_my-set"
    assert cited_figure(load(*SIX), DP).name == "figure_4" and cited_figure(load(*SIX), MI).name != "figure_4"
    table = comparison_table([own])
    assert not table["curve"].eq("as printed").any() and len(draw_comparison(table).axes) == 1
    (reason,) = why_not_printed([own])
    assert reason.startswith("my set: Class III; Theorem 3 needs folding permutations")


def test_a_table_read_back_from_its_csv_draws_the_same(jump, tmp_path):
    jump.to_csv(tmp_path / "jump.csv", index=False)
    expected, found = draw_curves(jump), draw_curves(pd.read_csv(tmp_path / "jump.csv"))
    pngs = [save_figure(figure, jump, "jump", tmp_path, "A jump")[0].read_bytes() for figure in (expected, found)]
    assert pngs[0] == pngs[1]


@pytest.mark.parametrize(("smallest", "largest"), [(0.005, 0.2), (0.0, 1.0), (0.5, 0.9), (0.6, 0.65)])
def test_every_curve_is_named_on_another_grid(smallest, largest):
    figure = draw_curves(curves(TEN, smallest_distortion=smallest, largest_distortion=largest))
    axes, keys = figure.axes[0], [figure.axes[0].get_legend()]  # what fits nowhere beside its line stands in a key
    named = [*axes.texts, *(text for key in keys if key for text in key.get_texts())]
    assert sorted(text.get_text() for text in named) == sorted(set_label(name) for name in TEN)
    check_text(figure)


def test_intervals_are_shaded_and_named():
    chosen = [notion for notion in NOTIONS if notion.name != "maximal information"]
    figure = draw_curves(notion_table(SETS["P_I_2"], chosen, 0.02, 0.6, 9))
    for axes in figure.axes:  # one notion with an interval in each panel
        assert len(axes.collections) == 1
        assert axes.get_ylabel() == "leakage (nats)"
    assert [len(by_gid(axes)) for axes in figure.axes] == [3, 3]
    assert [text.get_text() for axes in figure.axes for text in axes.texts].count("printed interval") == 2


@pytest.mark.parametrize("distortions", [[0.1], [0.1, 0.2]])
def test_no_text_is_cut_off_in_a_narrow_table(distortions):
    figure = draw_leakages(leakage_table(load("P_II_6"), distortions), "Least leakage in nats")
    figure.draw_without_rendering()
    width = figure.bbox.width
    assert [text.get_text() for text in visible_texts(figure) if text.get_window_extent().width > width] == []


def test_more_curves_than_can_be_told_apart_are_refused():
    rows = [(f"s{n}", "I", "differential privacy", d, n - d, n - d, "") for n in range(9) for d in (0.1, 0.5)]
    table = pd.DataFrame(rows, columns=CURVE_COLUMNS)
    with pytest.raises(ValueError, match="at most 8 source sets can be told apart in one figure, got 9"):
        draw_curves(table)


def test_an_infinite_leakage_is_shown():
    figure = draw_leakages(leakage_table(load("P_II_6"), [0.0, 0.1, 0.2, 0.3, 0.4]))
    assert len(figure.axes[0].texts) == 5
