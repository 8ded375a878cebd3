"""Databases: bounds, exact values, profiles and records one by one, as tabulated and as drawn."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.figures.databases_of_records import (
    bounds_of_what,
    databases_in_words,
    draw_global,
    draw_profiles,
    finding_of_bounds,
    global_table,
    profile_table,
    profiles_in_words,
    record_table,
    width_table,
)
from paper_repro.figures.layout import check_text, finding_of
from paper_repro.figures.registry import notion_look
from paper_repro.notions import NOTION_NAMES, notion_by_name
from paper_repro.papers import zhong_bu2022
from paper_repro.reproduce.runs import load_runs
from paper_repro.sources import SourceSet
from tests.figures.test_names import defaults

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
        "pointwise (ε, δ)-DP",
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
        ([0], "Both bounds are tight at all distortions shown"),
        ([3], "Neither bound is tight at all distortions shown"),
        ([0, 3], "Upper bounds are tight for one of two notions, lower for one"),
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
        (axes,) = [one for one in panels if notion_look(name).label in one.get_title(loc="left").splitlines()]
        seen = rows[rows["probability"] >= (1e-4 if records > 12 else 0)]
        np.testing.assert_allclose(axes.lines[0].get_xydata(), seen[["changed", "probability"]], atol=DIGITS)
        assert len(axes.collections[0].get_segments()) == len(seen)
        assert axes.get_yscale() == ("log" if records > 12 else "linear")
    assert len(panels) < 7


def test_probabilities_are_not_rounded_to_steps():
    rows = profile_table(50, 1000, [pr.DifferentialPrivacy()], 300.0)
    likely = rows.loc[rows["probability"] > 1e-9, "probability"]
    assert (likely.diff().dropna() != 0).all()


@pytest.fixture(scope="module", params=["zhong_bu_databases", "zhong_bu_databases_prior", "zhong_bu_databases_large"])
def run(request):
    """A run of the notebook: values, records, prior and the table that it draws."""
    (one,) = [one for one in load_runs() if one.name == request.param]
    p = {**defaults("07_databases_of_records"), **one.parameters}
    notions = [notion_by_name(name, alpha=p["alpha"], delta=p["delta"]) for name in p["notions"]]
    grid = np.linspace(p["smallest_distortion"], p["largest_distortion"], p["points"]).round(9)
    return (
        p["values"],
        p["records"],
        p["prior"],
        notions,
        global_table(p["values"], p["records"], notions, grid, p["prior"]),
    )


def test_every_bound_that_is_said_to_be_printed_is(run):
    values, records, prior, notions, table = run
    zero = records * (values - 1) / values
    whole = SourceSet(prior or np.full(values**records, 1 / values**records)) if records < 10 else None
    for notion in notions:
        rows = table[table["notion"] == notion.name]
        beyond = rows[rows["distortion"] >= zero]
        assert (beyond[["lower", "upper"]] == 0).all(axis=None)
        if notion.name == "maximal information" and records > values:
            assert ", with the sum in part (3) to $n$" in bounds_of_what(values, records, notions)
            continue
        numbers = {key: getattr(notion, key) for key in ("alpha", "delta") if hasattr(notion, key)}
        if notion.name == "mutual information":
            numbers = {}
        theorem = zhong_bu2022.theorem_6 if prior else zhong_bu2022.theorem_7
        printed = partial(theorem, notion.name, values, records, source=whole, **numbers, reading="printed")
        needed = rows[rows["distortion"] < zero]
        assert len(needed) > 5
        for row in needed.itertuples():
            # Bounds fall with the distortion, which the table has in six digits too.
            high, low = (printed(distortion=row.distortion + move * 0.6 * DIGITS) for move in (-1, 1))
            assert low.lower - DIGITS <= row.lower <= high.lower + DIGITS, row
            assert low.upper - DIGITS <= row.upper <= high.upper + DIGITS, row
    assert f"as printed for $D < {zero:g}$" in bounds_of_what(values, records, notions)
    assert f"as printed for D < {zero:g}" in databases_in_words(values, records, notions, prior)


def test_the_optimum_is_between_the_bounds_of_every_run(run):
    table = run[-1]
    assert (table["exact"] >= table["lower"] - 2 * DIGITS).all() and (
        table["exact"] <= table["upper"] + 2 * DIGITS
    ).all()


def test_the_printed_bound_of_theorem_6_7_is_the_one_that_is_drawn():
    table = global_table(2, 2, [pr.MutualInformation()], [0.0692, 0.5], (0.4, 0.3, 0.2, 0.1))
    assert table["lower"].iloc[0] == pytest.approx(0.2289, abs=5e-5)


def test_the_sum_that_is_read_to_n_is_the_leakage_of_lemma_5():
    uniform = SourceSet(np.full(8, 1 / 8))
    row = global_table(2, 3, [pr.MaximalInformation()], [0.5, 1.0]).iloc[0]
    matrix = pr.Mechanism(zhong_bu2022.lemma_5_mechanism(2, 3, 0.5))
    assert row["upper"] == pytest.approx(pr.MaximalInformation().leakage(matrix, uniform), abs=DIGITS)
    printed = zhong_bu2022.theorem_7("maximal information", 2, 3, 0.5, uniform).upper
    assert printed > row["upper"] + 0.001


@pytest.mark.parametrize("prior", [(), (0.4, 0.3, 0.2, 0.1)])
def test_an_order_without_printed_bounds_has_its_curve_alone(prior):
    notions = [pr.RenyiDP(1), pr.SibsonInformation(1), pr.MaximalLeakage()]
    table = global_table(2, 2, notions, [0.2, 0.5], prior)
    unprinted = table["notion"] != "maximal leakage"
    assert table.loc[unprinted, ["lower", "upper"]].isna().all(axis=None)
    assert table.loc[~unprinted, ["lower", "upper"]].notna().all(axis=None) and table["exact"].notna().all()
    panels = [axes for axes in draw_global(table).axes if axes.axison]
    notes = ["no bounds printed" in "".join(text.get_text() for text in axes.texts) for axes in panels]
    assert sorted(notes) == [False, True, True]
    widths = width_table(table)
    assert widths["largest width"].isna().tolist() == [True, True, False]
    for ends in (widths["lower end attained"], widths["upper end attained"]):
        assert (ends == "not printed").tolist() == [True, True, False]
    alone = finding_of_bounds(table[unprinted])
    assert alone == "The optimal leakage falls to zero as more records are changed"


def test_widths_are_of_the_intervals():
    table = global_table(2, 2, NOTIONS, np.linspace(0.02, 1.2, 13))
    widths = width_table(table)
    # At D = 0.02 the maximal-leakage interval is log(2 . 0.99), its lower end.
    assert widths.loc["maximal leakage", "largest width"] == pytest.approx(math.log(1.98), abs=2 * DIGITS)
    assert widths.loc["differential privacy", "largest width"] == 0.0
    ends = widths[["lower end attained", "upper end attained"]].T.to_dict("list")
    assert ends == {
        "differential privacy": ["D < 1", "D < 1"],
        "pointwise (ε, δ)-DP": ["0.204 ≤ D < 0.801", "nowhere"],
        "maximal information": ["0.667 ≤ D < 1", "nowhere"],
        "maximal leakage": ["0.667 ≤ D < 1", "nowhere"],
        "Rényi differential privacy": ["nowhere", "D < 1"],
        "Sibson information": ["nowhere", "nowhere"],
        "mutual information": ["D < 1", "D < 1"],
    }
    positive = widths["optimum positive"].replace({"D < 0.801": "D < 1"})
    assert (positive == "D < 1").all()


def test_ranges_name_both_ends_and_every_gap():
    columns = {"notion": "maximal leakage", "distortion": [0.1, 0.2, 0.3, 0.4, 0.5], "end": ""}
    exact = [1.0, 0.8, 0.6, 0.4, 0.2]
    table = pd.DataFrame(
        {**columns, "exact": exact, "lower": [1, 0.8, 0.5, 0.4, 0.1], "upper": [2, 0.8, 0.6, 0.5, 0.2]}
    )
    assert width_table(table).iloc[0, 1:].tolist() == [
        "everywhere",
        "D ≤ 0.2, 0.4 ≤ D ≤ 0.4",
        "0.2 ≤ D ≤ 0.3, 0.5 ≤ D",
    ]


def test_profiles_in_words_name_the_likeliest_number():
    said = profiles_in_words(profile_table(50, 1000, [pr.DifferentialPrivacy(), pr.ApproximateDP(0.1)], 300.0), 300.0)
    assert said.endswith(
        "1000 records, D = 300, uniform prior. Most likely number: differential privacy 300, pointwise (ε, δ)-DP 1."
    )
