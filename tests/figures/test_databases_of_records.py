"""Databases: bounds, exact values, profiles and records one by one, as tabulated and as drawn."""

import math
import re

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures.databases_of_records import (
    draw_global,
    draw_profiles,
    global_table,
    profile_table,
    record_table,
)
from paper_repro.figures.layout import check_text, finding_of
from paper_repro.notions import NOTION_NAMES, notion_by_name

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]
DIGITS = 1e-6  # tables are rounded to 6 digits


@pytest.mark.parametrize(("prior", "theorem"), [((), 7), ((0.4, 0.3, 0.2, 0.1), 6)])
def test_exact_values_lie_between_the_printed_bounds(prior, theorem):
    table = global_table(2, 2, NOTIONS, [0.1, 0.4, 0.75, 1.1], prior)
    assert set(table["notion"]) == set(NOTION_NAMES)
    assert (table["exact"] >= table["lower"] - DIGITS).all()
    assert (table["exact"] <= table["upper"] + DIGITS).all()
    open_ones = table[(table["upper"] - table["lower"] > 0.01) & (table["distortion"] == 0.4)]["notion"]
    expected = {"maximal information", "maximal leakage", "Renyi differential privacy", "Sibson information"}
    assert set(open_ones) >= expected
    if theorem == 7:
        assert "differential privacy" not in set(open_ones)


def test_databases_with_a_prior_show_their_jumps():
    table = global_table(2, 2, [pr.DifferentialPrivacy()], [0.5, 0.8], [0.4, 0.3, 0.2, 0.1])
    assert table[table["end"] == "closed"]["distortion"].item() == pytest.approx(0.7, abs=1e-7)
    assert (table["exact"] >= table["lower"] - DIGITS).all()


def test_profiles_spend_the_budget():
    table = profile_table(3, 5, NOTIONS, 1.5)
    for name, rows in table.groupby("notion"):
        assert rows["probability"].sum() == pytest.approx(1, abs=6 * DIGITS)
        spent = (rows["changed"] * rows["probability"]).sum()
        # Where delta forgives enough, nothing leaks before the budget is spent.
        free = name == "approximate differential privacy"
        assert spent < 1.4 if free else spent == pytest.approx(1.5, abs=20 * DIGITS)


def test_records_one_by_one_cost_more_for_some_notions():
    table = record_table(2, 2, NOTIONS, 0.4).set_index("notion")
    assert (table["one_by_one"] >= table["databases"] - DIGITS).all()
    dearer = table.index[table["one_by_one"] > table["databases"] + 0.01].tolist()
    assert dearer == [
        "approximate differential privacy",
        "maximal information",
        "maximal leakage",
        "Sibson information",
    ]
    assert table["one_by_one"]["maximal leakage"] == pytest.approx(2 * math.log(1.6), abs=DIGITS)


def test_a_table_of_nothing_is_refused():
    with pytest.raises(ValueError, match="give at least one notion"):
        global_table(2, 2, [], [0.4])
    with pytest.raises(ValueError, match="give at least one distortion"):
        global_table(2, 2, NOTIONS, [])


@pytest.mark.parametrize("count", [7, 4])
def test_databases_have_a_panel_a_notion(count):
    table = global_table(2, 2, NOTIONS[:count], [0.2, 0.5, 0.8])
    figure = draw_global(table, "Databases")
    lines = {line.get_gid(): line for axes in figure.axes for line in axes.lines if line.get_gid()}
    for name, rows in table.groupby("notion", sort=False):
        for gid, column in ((name, "exact"), (f"{name} lower", "lower"), (f"{name} upper", "upper")):
            hidden = (rows[column] - rows["exact"]).abs().max() <= 2 * DIGITS and column != "exact"
            assert hidden != (gid in lines), gid
            if not hidden:
                ends = np.interp(rows["distortion"], *lines[gid].get_data())
                np.testing.assert_allclose(ends, rows[column], atol=DIGITS)
    assert figure.get_supxlabel() == "expected number of records changed"
    assert figure.get_supylabel() == "leakage (nats)"


@pytest.mark.parametrize(
    ("places", "finding"),
    [
        ([0], "Both bounds are the truth throughout"),
        ([3], "Neither bound is the truth throughout"),
        ([0, 3], "The upper bound is the truth throughout for one of two notions, the lower bound for one"),
        ([0, 1, 4, 2, 3, 5], ""),
    ],
)
def test_a_few_notions_have_a_key_beside_them_and_a_finding(places, finding):
    figure = draw_global(global_table(2, 2, [NOTIONS[place] for place in places], [0.1, 0.6, 1.1]))
    check_text(figure)
    assert finding in finding_of(figure)[0]


def test_a_curve_that_is_zero_is_drawn_and_said():
    table = global_table(50, 1000, [pr.ApproximateDP(0.1)], [10.0, 1000.0])
    (axes,) = [axes for axes in draw_global(table).axes if axes.axison]
    (line,) = [line for line in axes.lines if line.get_gid() == "approximate differential privacy"]
    assert line.get_xdata()[[0, -1]].tolist() == [10.0, 1000.0] and not line.get_ydata().any()
    assert "0 for every $D$ shown" in axes.texts[0].get_text()


def test_zeros_are_on_the_grid():
    for values, records, end in ((50, 1000, 980.0), (2, 2, 1.0)):
        table = global_table(values, records, [pr.DifferentialPrivacy()], np.linspace(0.1, 1, 5) * records)
        assert table.loc[table["exact"] <= 1e-9, "distortion"].min() == pytest.approx(end, abs=1e-9)


@pytest.mark.parametrize("records", [3, 40])
def test_profiles_are_stems_one_panel_for_notions_that_share_them(records):
    table = profile_table(3, records, NOTIONS, 0.3 * records)
    panels = [axes for axes in draw_profiles(table).axes if axes.axison]
    for name, rows in table.groupby("notion"):
        (axes,) = [
            one
            for one in panels
            if re.search(rf"(?<!approximate\n)^{_shown(name)}$", one.get_title(loc="left"), re.MULTILINE)
        ]
        seen = rows[rows["probability"] >= (1e-4 if records > 12 else 0)]
        np.testing.assert_allclose(axes.lines[0].get_xydata(), seen[["changed", "probability"]], atol=DIGITS)
        assert len(axes.collections[0].get_segments()) == len(seen)
        assert axes.get_yscale() == ("log" if records > 12 else "linear")
    assert len(panels) < 7


def test_probabilities_are_not_rounded_to_steps():
    rows = profile_table(50, 1000, [pr.DifferentialPrivacy()], 300.0)
    likely = rows.loc[rows["probability"] > 1e-9, "probability"]
    assert (likely.diff().dropna() != 0).all()


def _shown(name):
    return name.replace("Renyi", "Rényi").replace("approximate differential", "approximate\ndifferential")
