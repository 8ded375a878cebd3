"""Figures of the seven notions and of databases: units, all that is in the table, and nothing told by color alone."""

import numpy as np
import pytest

from paper_repro.figures import databases_of_records, seven_notions
from paper_repro.figures.leakage_curves import curve_table
from paper_repro.notions import NOTION_NAMES, notion_by_name

NOTIONS = [notion_by_name(name) for name in NOTION_NAMES]


def test_intervals_are_hatched_and_named():
    chosen = [notion for notion in NOTIONS if notion.name != "maximal information"]
    grid = np.linspace(0.02, 0.6, 9).round(9)
    curves, bounds = curve_table(["P_I_2"], chosen, 0.02, 0.6, 9), seven_notions.bound_table("P_I_2", chosen, grid)
    figure = seven_notions.draw_notions(curves, bounds, "Two letters")
    bands = [drawn for drawn in figure.axes[0].collections if drawn.get_hatch()]
    assert len(bands) == 2
    assert len({band.get_hatch() for band in bands}) == 2
    legend = figure.axes[0].get_legend() or figure.legends[0]
    labels = [text.get_text() for text in legend.get_texts()]
    assert [label for label in labels if label.startswith("printed interval")] == [
        "printed interval: Renyi differential privacy",
        "printed interval: Sibson information",
    ]
    assert figure.axes[0].get_xlabel().startswith("worst-case Hamming distortion")
    assert figure.axes[0].get_ylabel() == "leakage (nats)"


def test_without_intervals_it_is_the_figure_of_the_curves():
    curves = curve_table(["P_II_4"], NOTIONS[:1], 0.02, 0.7, 9)
    figure = seven_notions.draw_notions(curves, seven_notions.bound_table("P_II_4", NOTIONS[:1], [0.1]))
    assert not [drawn for drawn in figure.axes[0].collections if drawn.get_hatch()]


def test_every_entry_of_every_mechanism_is_written():
    table = seven_notions.mechanism_table("P_II_4", NOTIONS, 0.3)
    figure = seven_notions.draw_mechanisms(table, "Best")
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == 7
    for axes, (name, rows) in zip(panels, table.groupby("notion", sort=False), strict=True):
        assert name in axes.get_title(loc="left").replace("\n", " ")
        assert f"{rows['leakage'].iloc[0]:.4f} nats" in axes.get_title(loc="left")
        written = [float(text.get_text()) for text in axes.texts]
        assert written == pytest.approx(rows["probability"], abs=0.005001)
    assert figure.get_supxlabel() == "published letter"


@pytest.mark.parametrize("count", [7, 4])
def test_databases_have_a_panel_a_notion(count):
    table = databases_of_records.global_table(2, 2, NOTIONS[:count], [0.2, 0.5, 0.8])
    figure = databases_of_records.draw_global(table, "Databases")
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
    table = databases_of_records.profile_table(2, records, NOTIONS[:3], 0.3 * records)
    axes = databases_of_records.draw_profiles(table, "Profiles").axes[0]
    if kind == "bars":
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == pytest.approx(table["probability"])
    else:
        lines = [drawn for drawn in axes.lines if drawn.get_linestyle() != "None"]
        assert len(lines) == 3
        assert len({str(drawn._dash_pattern) for drawn in lines}) == 3
        assert axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(NOTION_NAMES[:3])


def test_missing_columns_are_named():
    with pytest.raises(ValueError, match="lacks the column leakage"):
        seven_notions.draw_mechanisms(seven_notions.mechanism_table("P_I_2", NOTIONS[:1], 0.2).drop(columns="leakage"))
