"""Seven notions: intervals of Proposition 8 and the best mechanisms, as tabulated and as drawn."""

import math

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures.seven_notions import draw_mechanisms, interval_table, mechanism_table
from paper_repro.notions import NOTION_NAMES, notion_by_name
from tests.figures.pictures import SETS, load

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]
DIGITS = 1e-6  # tables are rounded to 6 digits


def test_intervals_are_those_of_proposition_8_and_end_at_the_exact_curve():
    grid = np.array([0.1, 0.3, 0.45])
    table = interval_table(*load("P_I_2"), NOTIONS, grid)
    assert list(dict.fromkeys(table["curve"])) == ["Renyi differential privacy", "Sibson information"]
    for name, rows in table.groupby("curve"):
        exact = pr.leakage_curve(SETS["P_I_2"], grid, notion=notion_by_name(name))
        assert rows["upper"].to_numpy() == pytest.approx(exact, abs=2 * DIGITS)
    row = table[(table["curve"] == "Renyi differential privacy") & (table["distortion"] == 0.3)]
    assert row["lower"].item() == pytest.approx(math.log(0.7**2 / 0.3), abs=DIGITS)


def test_no_intervals_for_other_classes():
    table = interval_table(*load("P_II_4"), NOTIONS, [0.1])
    assert table.empty
    assert list(table.columns) == ["curve", "distortion", "lower", "upper"]


def test_best_mechanisms_are_tabulated_entry_by_entry():
    table = mechanism_table(*load("P_II_4"), NOTIONS, 0.3)
    source = SETS["P_II_4"]
    assert len(table) == 7 * 16
    for notion in NOTIONS:
        rows = table[table["notion"] == notion.name]
        matrix = rows["probability"].to_numpy().reshape(4, 4)
        assert matrix.sum(axis=1) == pytest.approx(np.ones(4), abs=4 * DIGITS)
        assert source.worst_case_distortion(matrix) == pytest.approx(0.3, abs=4 * DIGITS)
        assert rows["true"].tolist() == np.repeat(list(source.labels), 4).tolist()
        assert rows["leakage"].nunique() == 1


def test_every_entry_of_every_mechanism_is_written():
    table = mechanism_table(*load("P_II_4"), NOTIONS, 0.3)
    figure = draw_mechanisms(table, "Best")
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == 7
    for axes, (name, rows) in zip(panels, table.groupby("notion", sort=False), strict=True):
        assert name in axes.get_title(loc="left").replace("\n", " ")
        assert f"{rows['leakage'].iloc[0]:.4f} nats" in axes.get_title(loc="left")
        written = [float(text.get_text()) for text in axes.texts]
        assert written == pytest.approx(rows["probability"], abs=0.005001)
    assert figure.get_supxlabel() == "published letter"
