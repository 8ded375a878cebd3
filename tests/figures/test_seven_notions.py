"""Seven notions: intervals of Proposition 8 and the optimal mechanisms, as tabulated and as drawn."""

import math
import re

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures.curves import finding_of_curves
from paper_repro.figures.layout import finding_of
from paper_repro.figures.registry import notion_look
from paper_repro.figures.seven_notions import (
    draw_mechanisms,
    finding_of_mechanisms,
    finding_of_notions,
    jumps_of,
    mechanism_table,
    mechanisms_in_words,
    notion_table,
    notions_in_words,
    order_page,
)
from paper_repro.notions import NOTION_NAMES, notion_by_name
from tests.figures.pictures import SETS, load

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]
DIGITS = 1e-6  # tables are rounded to 6 digits


def test_intervals_are_those_of_proposition_8_and_end_at_the_exact_curve():
    table = notion_table(SETS["P_I_2"], NOTIONS, 0.1, 0.6, 6)
    rows = table[table["upper"].notna()]
    assert list(dict.fromkeys(rows["curve"])) == ["Renyi differential privacy", "Sibson information"]
    needed = rows[rows["distortion"] <= 0.5]
    assert needed["upper"].to_numpy() == pytest.approx(needed["leakage"], abs=2 * DIGITS)
    row = rows[(rows["curve"] == "Renyi differential privacy") & (rows["distortion"] == 0.3)]
    assert row["lower"].item() == pytest.approx(math.log(0.7**2 / 0.3), abs=DIGITS)
    assert rows["upper"].iloc[-1] > 0.01  # where nothing needs to leak the interval opens again
    assert finding_of_notions(table) == "Where leakage is needed, Rényi and Sibson meet the printed upper bounds"
    assert notions_in_words(table).endswith(
        "no jumps. Shaded: the intervals printed for Rényi differential privacy and Sibson information."
    )


@pytest.mark.parametrize("alpha", [1.0, math.inf])
def test_orders_without_a_printed_formula_have_a_curve_and_no_interval(alpha):
    table = notion_table(SETS["P_I_2"], [pr.RenyiDP(alpha), pr.SibsonInformation(alpha)], 0.1, 0.6, 4)
    assert table[["lower", "upper"]].isna().all(axis=None)
    if alpha == 1:  # near 0.5 the curve is below 1e-6 nats and not yet 0
        assert re.search(r"(?<!\d)0\.5(?!\d)", finding_of_notions(table)) and "0.4" not in finding_of_notions(table)
    limits = {"Renyi differential privacy": pr.DifferentialPrivacy(), "Sibson information": pr.MutualInformation()}
    limit = limits["Renyi differential privacy" if alpha > 1 else "Sibson information"]
    rows = table[table["curve"] == ("Renyi differential privacy" if alpha > 1 else "Sibson information")]
    expected = pr.leakage_curve(SETS["P_I_2"], rows["distortion"], notion=limit)
    np.testing.assert_allclose(rows["leakage"], expected, atol=2 * DIGITS)


def test_jumps_are_named_notion_by_notion():
    table = notion_table(SETS["P_II_4"], [pr.DifferentialPrivacy(), pr.ApproximateDP(0.1), pr.MaximalLeakage()], 0.1)
    assert finding_of_notions(table) == "The optimal leakage jumps under two of the three privacy notions"
    two = table[table["curve"] != "maximal leakage"]
    assert finding_of_notions(two) == finding_of_curves(two)
    assert jumps_of(table).splitlines() == [
        "differential privacy jumps at D = 0.6",
        "pointwise (ε, δ)-DP jumps at D = 0.54",
    ]


def test_the_jump_of_maximal_information_is_where_the_rarest_category_can_be_suppressed():
    source, notion = SETS["P_II_4"], pr.MaximalInformation()
    for distortion in (0.02, 0.05, 0.09, 0.0999):
        found = pr.optimal_mechanism(source, distortion=distortion, notion=notion).leakage
        assert found == pytest.approx(math.log(1 / (0.1 + distortion)), abs=DIGITS)
    assert pr.optimal_mechanism(source, distortion=0.1, notion=notion).leakage == pytest.approx(math.log(10 / 3))
    below = pr.optimal_mechanism(source, distortion=0.6 - 1e-7, notion=notion).leakage
    assert below == pytest.approx(math.log(10 / 9), abs=2 * DIGITS)


def test_no_intervals_for_other_classes():
    table = notion_table(SETS["P_II_4"], [pr.MaximalLeakage()], 0.1, 0.2, 3)
    assert table[["lower", "upper"]].isna().all(axis=None)
    assert finding_of_notions(table) == "Leakage is needed at every distortion shown"


def test_optimal_mechanisms_are_tabulated_entry_by_entry():
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


def test_mechanisms_that_are_alike_are_drawn_once_and_every_entry_is_written():
    table = mechanism_table(SETS["P_I_2"], NOTIONS, 0.2)
    (axes,) = [axes for axes in draw_mechanisms(table).figure.axes if axes.axison]
    title = axes.get_title(loc="left")
    assert all(notion_look(notion.name).label in title for notion in NOTIONS)
    assert f"{math.log(4):.4f}" in title
    assert [text.get_text() for text in axes.texts] == ["0.800", "0.200", "0.200", "0.800"]

    table = mechanism_table(SETS["P_II_4"], NOTIONS, 0.3)
    figure = draw_mechanisms(table)
    panels = [axes for axes in figure.axes if axes.axison]
    for name, rows in table.groupby("notion", sort=False):
        (axes,) = [
            axes
            for axes in panels
            if f"\n{notion_look(name).label}  "
            in "\n" + axes.get_title(loc="left").replace("\ndifferential", " differential")
        ]
        written = [float(text.get_text() or 0) for text in axes.texts]
        assert written == pytest.approx(rows["probability"], abs=0.0005001)
    assert figure.get_supxlabel() == "published category"
    assert finding_of(figure)[0] == r"Four of the seven optimal mechanisms shown suppress $x_{4}$"
    assert "maximal leakage 0.6931 nats" in mechanisms_in_words(table, 0.3)
    few = table[table["notion"].isin(["differential privacy", "approximate differential privacy", "maximal leakage"])]
    assert finding_of_mechanisms(few) == "Only the optimum shown for maximal leakage suppresses $x_{4}$"
    assert "$P_" not in "".join(tick.get_text() for axes in figure.axes for tick in axes.get_xticklabels())


def test_notions_with_an_order_meet_those_they_come_to():
    page = order_page(SETS["P_II_4"])
    low, high = (
        dict(re.findall(r"<caption>(.*?) ([0-9.]+) nats</caption>", page(0.3, order))) for order in (1.0, 40.0)
    )
    assert low["Sibson information"] == low["mutual information"]
    gap = float(high["differential privacy"]) - float(high["Rényi differential privacy"])
    assert 0 < gap < 0.05
