"""Figures of the simplex: every shape is drawn where the table puts it, and told apart by more than color."""

import math

import pytest

from paper_repro import SourceSet
from paper_repro.figures import class_iii_sets

CLASS_III = [[0.65, 0.25, 0.1], [0.25, 0.6, 0.15], [0.5, 0.1, 0.4]]


def test_every_shape_is_drawn_in_its_panel():
    table = class_iii_sets.folding_shapes(CLASS_III)
    figure = class_iii_sets.draw_shapes(table, "Folding")
    panels = [axes for axes in figure.axes if axes.patches]
    assert [axes.get_title(loc="left") for axes in panels] == table["panel"].unique().tolist()
    for axes, (_, rows) in zip(panels, table.groupby("panel", sort=False), strict=True):
        triangle, *shapes = axes.patches
        assert triangle.get_hatch() is None
        polygons = [corners for _, corners in rows.groupby("shape", sort=False) if len(corners) > 2]
        assert len(shapes) == len(polygons)
        for shape, corners in zip(shapes, polygons, strict=True):
            x, y = shape.get_xy()[0]
            first = corners.iloc[0]
            assert (x, y) == pytest.approx((first["x2"] + first["x3"] / 2, first["x3"] * math.sqrt(3) / 2))
        assert len({(shape.get_hatch(), shape.get_edgecolor()) for shape in shapes}) == rows["label"].nunique()


def test_points_and_segments_are_shapes_too():
    table = class_iii_sets.class_shapes({"point": [[0.5, 0.3, 0.2]], "segment": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]})
    point, segment = class_iii_sets.draw_shapes(table).axes
    assert any(line.get_marker() == "o" for line in point.lines)
    assert any(line.get_linewidth() > 2 for line in segment.lines)


def test_every_entry_is_written_over_its_color():
    table = class_iii_sets.coloring_table(SourceSet([0.5, 0.3, 0.2]), 0.3, 0)
    figure = class_iii_sets.draw_coloring(table, "Colors")
    axes = figure.axes[0]
    assert [float(text.get_text()) for text in axes.texts] == pytest.approx(table["probability"], abs=0.0005001)
    assert len(axes.patches) == 9
    assert axes.get_xlabel() == "published letter"


def test_bounds_have_units_and_five_kinds_of_line():
    table = class_iii_sets.theorem_3_table(SourceSet(CLASS_III), [0.1, 0.3, 0.5])
    axes = class_iii_sets.draw_bounds(table, "Bounds").axes[0]
    assert axes.get_ylabel() == "leakage (nats)"
    assert len({str(line._dash_pattern) for line in axes.lines}) == 5
    with pytest.raises(ValueError, match="lacks the column exact"):
        class_iii_sets.draw_bounds(table.drop(columns="exact"))
