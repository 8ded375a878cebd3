"""Databases: bounds, exact values, profiles and records one by one, as tabulated and as drawn."""

import math

import pytest

import paper_repro as pr
from paper_repro.figures.databases_of_records import (
    draw_global,
    draw_profiles,
    global_table,
    profile_table,
    record_table,
)
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
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == count
    for axes, (_, rows) in zip(panels, table.groupby("notion", sort=False), strict=True):
        lower, upper, exact = axes.lines[:3]
        assert (lower.get_ydata() == rows["lower"]).all()
        assert (upper.get_ydata() == rows["upper"]).all()
        assert (exact.get_ydata() == rows["exact"]).all()
    assert figure.get_supxlabel() == "expected number of records changed"
    assert figure.get_supylabel() == "leakage (nats)"


@pytest.mark.parametrize(("records", "kind"), [(3, "bars"), (40, "lines")])
def test_profiles_are_bars_for_few_records_and_lines_for_many(records, kind):
    table = profile_table(2, records, NOTIONS[:3], 0.3 * records)
    axes = draw_profiles(table, "Profiles").axes[0]
    if kind == "bars":
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == pytest.approx(table["probability"])
    else:
        lines = [drawn for drawn in axes.lines if drawn.get_linestyle() != "None"]
        assert len(lines) == 3
        assert len({str(drawn._dash_pattern) for drawn in lines}) == 3
        assert axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(NOTION_NAMES[:3])
