"""Shapes in the simplex, colorings and Theorem 3 beside the truth, as tabulated and as drawn."""

import math

import numpy as np
import pytest

from paper_repro import SourceSet, leakage_curve
from paper_repro.figures.class_iii_sets import (
    class_shapes,
    coloring_table,
    draw_coloring,
    draw_shapes,
    draw_theorem_3,
    failure_table,
    folding_shapes,
    lemma_8_table,
    region_shapes,
    theorem_3_table,
)

CLASS_III = SourceSet([[0.65, 0.25, 0.1], [0.25, 0.6, 0.15], [0.5, 0.1, 0.4], [0.35, 0.45, 0.2]], name="set")
COUNTEREXAMPLE = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]


def area(corners):
    """Area of a polygon given by its corners in order, in the coordinates (x1, x2)."""
    x, y = np.asarray(corners, dtype=float).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def areas(table, **where):
    for column, value in where.items():
        table = table[table[column] == value]
    return sum(area(rows[["x1", "x2"]]) for _, rows in table.groupby("shape"))


def test_sets_are_named_with_their_class_and_drawn_around_their_hull():
    sets = {"a": [[0.2, 0.5, 0.3], [0.5, 0.3, 0.2], [0.3, 0.2, 0.5]], "b": [[0.7, 0.2, 0.1]], "c": COUNTEREXAMPLE}
    table = class_shapes([SourceSet(vertices, name=name) for name, vertices in sets.items()])
    assert table["panel"].unique().tolist() == ["a: Class I", "b: Class II", "c: Class III"]
    assert table[["x1", "x2", "x3"]].sum(axis=1).to_numpy() == pytest.approx(np.ones(len(table)))
    inside = class_shapes([SourceSet([*COUNTEREXAMPLE, [0.5, 0.35, 0.15]])])
    assert len(inside) == 3, "a vertex inside the hull is no corner"
    with pytest.raises(ValueError, match="3 letters, and these distributions have 2"):
        class_shapes([SourceSet([0.5, 0.5])])


def test_the_six_regions_fill_the_simplex():
    table = region_shapes()
    assert table["label"].nunique() == 6
    assert areas(table) == pytest.approx(0.5)
    for label, rows in table.groupby("label"):
        order = [int(letter) for letter in label.split(" ≥ ")]
        middle = rows[["x1", "x2", "x3"]].mean()
        assert middle.sort_values(ascending=False).index.tolist() == [f"x{letter}" for letter in order]


def test_pieces_make_up_the_set_and_images_are_in_order():
    table = folding_shapes(CLASS_III)
    whole = class_shapes([CLASS_III])
    assert areas(table, panel="set and pieces") == pytest.approx(areas(whole), abs=1e-8)
    images = table[table["panel"] == "folded images"]
    assert areas(images) == pytest.approx(areas(whole), abs=1e-8), "folding keeps areas"
    for panel in ("folded images", "intersection", "union"):
        corners = table[table["panel"] == panel][["x1", "x2", "x3"]].to_numpy()
        assert (np.diff(corners, axis=1) <= 1e-9).all(), panel
    assert 0 < areas(table, panel="intersection") < areas(table, kind="image")
    back = table[table["panel"] == "folded back"]
    regions = table[table["kind"] == "piece"]["label"].nunique()
    assert areas(back, kind="inside") == pytest.approx(regions * areas(table, panel="intersection"), abs=1e-7)


def test_colors_of_a_best_mechanism():
    source = SourceSet([[0.6, 0.2, 0.12, 0.08], [0.5, 0.3, 0.15, 0.05]])
    table = coloring_table(source, 0.35, 2)
    colors = table["color"].to_numpy().reshape(4, 4)
    assert (colors[:, 2:] == "none").all()
    assert np.diagonal(colors)[:2].tolist() == ["black", "black"]
    ratio = table["probability"].max() / table.loc[table["color"] == "red", "probability"].min()
    lemma = lemma_8_table(source, 0.35).set_index("suppressed")
    assert math.log(ratio) == pytest.approx(lemma.loc[2, "leakage"], abs=1e-6)
    assert lemma.loc[2, "attained"]
    assert (lemma.loc[:2, "claim 1":] == "True").all(axis=None)
    assert lemma.loc[:, "leakage"].min() == pytest.approx(leakage_curve(source, [0.35])[0], abs=1e-9)
    with pytest.raises(ValueError, match="suppress fewer letters"):
        coloring_table(source, 0.1, 3)


def test_theorem_3_beside_the_truth():
    source = SourceSet(COUNTEREXAMPLE)
    table = theorem_3_table(source, [0.3, 0.6])
    assert table["exact"].to_numpy() == pytest.approx(leakage_curve(source, [0.3, 0.6]), abs=1e-7)
    assert table["exact"].iloc[1] == 0
    assert table["corrected lower"].iloc[1] == pytest.approx(math.log(4 / 3), abs=1e-7)
    assert (table["corrected upper"] >= table["exact"] - 1e-7).all()


def test_failures_are_counted_from_the_seed():
    first, again, other = (failure_table(3, 12, seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert (first["excess"] >= 0).all()
    assert len(first) == 12
    assert (first["lower"] - first["exact"] <= first["excess"] + 1e-7).all()


def test_every_shape_is_drawn_in_its_panel():
    table = folding_shapes(CLASS_III)
    figure = draw_shapes(table, "Folding")
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
    table = class_shapes([SourceSet([0.5, 0.3, 0.2], name="point"), SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])])
    point, segment = draw_shapes(table).axes
    assert any(line.get_marker() == "o" for line in point.lines)
    assert any(line.get_linewidth() > 2 for line in segment.lines)


def test_every_entry_is_written_over_its_color():
    table = coloring_table(SourceSet([0.5, 0.3, 0.2]), 0.3, 0)
    figure = draw_coloring(table, "Colors")
    axes = figure.axes[0]
    assert [float(text.get_text()) for text in axes.texts] == pytest.approx(table["probability"], abs=0.0005001)
    assert len(axes.patches) == 9
    assert axes.get_xlabel() == "published letter"


def test_bounds_have_units_and_five_kinds_of_line():
    table = theorem_3_table(CLASS_III, [0.1, 0.3, 0.5])
    axes = draw_theorem_3(table, "Bounds").axes[0]
    assert axes.get_ylabel() == "leakage (nats)"
    assert len({str(line._dash_pattern) for line in axes.lines}) == 5
    with pytest.raises(ValueError, match="lacks the column exact"):
        draw_theorem_3(table.drop(columns="exact"))
