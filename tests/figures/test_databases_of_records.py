"""What the notebooks on the seven notions and on databases tabulate."""

import math

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures import databases_of_records, seven_notions
from paper_repro.figures.leakage_curves import curve_table
from paper_repro.notions import NOTION_NAMES, notion_by_name

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]
DIGITS = 1e-6  # tables are rounded to 6 digits


def test_intervals_are_those_of_proposition_8_and_end_at_the_exact_curve():
    grid = np.array([0.1, 0.3, 0.45])
    table = seven_notions.bound_table("P_I_2", NOTIONS, grid)
    assert list(dict.fromkeys(table["curve"])) == ["Renyi differential privacy", "Sibson information"]
    for name, rows in table.groupby("curve"):
        exact = pr.leakage_curve(pr.load_source_set("P_I_2"), grid, notion=notion_by_name(name))
        assert rows["upper"].to_numpy() == pytest.approx(exact, abs=2 * DIGITS)
    row = table[(table["curve"] == "Renyi differential privacy") & (table["distortion"] == 0.3)]
    assert row["lower"].item() == pytest.approx(math.log(0.7**2 / 0.3), abs=DIGITS)


def test_no_intervals_for_other_classes():
    table = seven_notions.bound_table("P_II_4", NOTIONS, [0.1])
    assert table.empty
    assert list(table.columns) == ["curve", "distortion", "lower", "upper"]


def test_curves_of_all_notions_have_their_jumps():
    """Figure 4: differential privacy jumps at 0.6, its approximate form at 0.54; maximal information where a letter can go."""
    table = curve_table(["P_II_4"], NOTIONS, 0.02, 0.7, 18)
    ends = table[table["end"] == "closed"]
    found = {(row.curve, round(row.distortion, 7)) for row in ends.itertuples()}
    assert found == {
        ("differential privacy", 0.6),
        ("approximate differential privacy", 0.54),
        ("maximal information", 0.1),
        ("maximal information", 0.6),
    }
    opens = table[table["end"] == "open"].set_index(["curve", "distortion"])["leakage"]
    assert opens["differential privacy", 0.6] == pytest.approx(math.log(4 / 3), abs=DIGITS)
    assert opens["approximate differential privacy", 0.54] == pytest.approx(math.log(4 / 3), abs=DIGITS)
    # Just below 0.1 the letter of probability 1/10 has to be published still.
    assert opens["maximal information"].max() == pytest.approx(math.log(5), abs=1e-5)


def test_best_mechanisms_are_tabulated_entry_by_entry():
    table = seven_notions.mechanism_table("P_II_4", NOTIONS, 0.3)
    source = pr.load_source_set("P_II_4")
    assert len(table) == 7 * 16
    for notion in NOTIONS:
        rows = table[table["notion"] == notion.name]
        matrix = rows["probability"].to_numpy().reshape(4, 4)
        assert matrix.sum(axis=1) == pytest.approx(np.ones(4), abs=4 * DIGITS)
        assert source.worst_case_distortion(matrix) == pytest.approx(0.3, abs=4 * DIGITS)
        assert rows["true"].tolist() == np.repeat(list(source.labels), 4).tolist()
        assert rows["leakage"].nunique() == 1


@pytest.mark.parametrize(("prior", "theorem"), [((), 7), ((0.4, 0.3, 0.2, 0.1), 6)])
def test_exact_values_lie_between_the_printed_bounds(prior, theorem):
    table = databases_of_records.global_table(2, 2, NOTIONS, [0.1, 0.4, 0.75, 1.1], prior)
    assert set(table["notion"]) == set(NOTION_NAMES)
    assert (table["exact"] >= table["lower"] - DIGITS).all()
    assert (table["exact"] <= table["upper"] + DIGITS).all()
    open_ones = table[(table["upper"] - table["lower"] > 0.01) & (table["distortion"] == 0.4)]["notion"]
    expected = {"maximal information", "maximal leakage", "Renyi differential privacy", "Sibson information"}
    assert set(open_ones) >= expected
    if theorem == 7:
        assert "differential privacy" not in set(open_ones)


def test_databases_with_a_prior_show_their_jumps():
    table = databases_of_records.global_table(2, 2, [pr.DifferentialPrivacy()], [0.5, 0.8], [0.4, 0.3, 0.2, 0.1])
    assert table[table["end"] == "closed"]["distortion"].item() == pytest.approx(0.7, abs=1e-7)
    assert (table["exact"] >= table["lower"] - DIGITS).all()


def test_profiles_spend_the_budget():
    table = databases_of_records.profile_table(3, 5, NOTIONS, 1.5)
    for name, rows in table.groupby("notion"):
        assert rows["probability"].sum() == pytest.approx(1, abs=6 * DIGITS)
        spent = (rows["changed"] * rows["probability"]).sum()
        # Where delta forgives enough, nothing leaks before the budget is spent.
        free = name == "approximate differential privacy"
        assert spent < 1.4 if free else spent == pytest.approx(1.5, abs=20 * DIGITS)


def test_records_one_by_one_cost_more_for_some_notions():
    table = databases_of_records.record_table(2, 2, NOTIONS, 0.4).set_index("notion")
    assert (table["one_by_one"] >= table["databases"] - DIGITS).all()
    dearer = table.index[table["one_by_one"] > table["databases"] + 0.01].tolist()
    assert dearer == [
        "approximate differential privacy",
        "maximal information",
        "maximal leakage",
        "Sibson information",
    ]
    assert table["one_by_one"]["maximal leakage"] == pytest.approx(2 * math.log(1.6), abs=DIGITS)
