"""Shapes in the simplex, colorings and the bounds of Theorem 3, as tabulated and as drawn."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import SourceSet, exact_curve, leakage_curve
from paper_repro.figures.class_iii_sets import (
    check_constant,
    class_page,
    class_shapes,
    draw_classes,
    draw_folding,
    draw_regions,
    draw_unfolded,
    folding_shapes,
    region_shapes,
    regions_in_words,
    unfolded_in_words,
    unfolded_shapes,
)
from paper_repro.figures.colorings import coloring_table, draw_coloring, lemma_8_table
from paper_repro.figures.layout import check_text, finding_of, visible_texts
from paper_repro.figures.simplex import area_of
from paper_repro.figures.theorem_3 import (
    draw_theorem_3,
    failure_table,
    failures_in_words,
    theorem_3_curves,
    theorem_3_in_words,
    theorem_3_table,
)
from paper_repro.papers import kalantari2018
from paper_repro.papers.folding import Folding

CLASS_III = SourceSet([[0.65, 0.25, 0.1], [0.25, 0.6, 0.15], [0.5, 0.1, 0.4], [0.35, 0.45, 0.2]], name="set")
COUNTEREXAMPLE = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
CYCLE = SourceSet([[0.2, 0.5, 0.3], [0.3, 0.6, 0.1], [0.1, 0.5, 0.4]])
SEGMENT = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
POINT = SourceSet([0.5, 0.3, 0.2], name="point")
APART = SourceSet([[0.45, 0.35, 0.2], [0.2, 0.55, 0.25]], name="images apart")
CLASS_I = SourceSet([[0.2, 0.5, 0.3], [0.5, 0.3, 0.2], [0.3, 0.2, 0.5]], name="Class I")
COLORED = SourceSet([[0.64, 0.1, 0.1, 0.1, 0.04, 0.02], [0.6, 0.12, 0.12, 0.12, 0.02, 0.02]])
WHOLE = math.sqrt(3) / 4  # area of the triangle


def part(table, *kinds):
    return area_of(table[table["kind"].isin(kinds)])


def said(figure):
    return [text.get_text() for text in visible_texts(figure)]


def test_sets_are_named_with_their_class_and_why():
    table = class_shapes([CLASS_I, POINT, COUNTEREXAMPLE])
    assert table.drop_duplicates("panel")["label"].tolist() == [
        "Class I: contains the uniform prior",
        "Class II: P1 ≥ P2 ≥ P3 throughout",
        "Class III: crosses P1 = P2 and P2 = P3, not the uniform prior",
    ]
    assert table[["P1", "P2", "P3"]].sum(axis=1).to_numpy() == pytest.approx(np.ones(len(table)))
    inside = class_shapes([SourceSet([*COUNTEREXAMPLE.vertices, [0.5, 0.35, 0.15]])])
    assert len(inside) == 3, "a vertex inside the hull is no corner"
    with pytest.raises(ValueError, match="source must have 3 categories, as the simplex is drawn for 3; got 2"):
        class_shapes([SourceSet([0.5, 0.5])])
    figure = draw_classes(table)
    assert finding_of(figure)[0] == "Three source sets, each of a different class"
    assert finding_of(draw_classes(class_shapes([POINT])))[0] == "This source set keeps to one order"
    two = class_shapes([SourceSet(POINT.vertices, name=name) for name in "ab"])
    assert finding_of(draw_classes(two))[0] == "Both source sets are of Class II"
    mixed = class_shapes([*(SourceSet(POINT.vertices, name=name) for name in "ab"), COUNTEREXAMPLE])
    assert finding_of(draw_classes(mixed))[0] == "Source sets of Class II (2) and III (1)"
    assert "After" not in finding_of(figure)[1], "one's own sets are after no paper's figure"
    assert finding_of(draw_classes(table, source="Paper, Figure 1"))[1].endswith("neither. After Paper, Figure 1")


def test_the_six_regions_fill_the_simplex_and_are_named_beside_it():
    table = region_shapes(CLASS_III)
    regions = table[table["kind"] == "region"]
    assert regions["label"].nunique() == 6
    assert area_of(regions).area == pytest.approx(WHOLE)
    for label, rows in regions.groupby("label"):
        middle = rows[["P1", "P2", "P3"]].mean()
        assert middle.sort_values(ascending=False).index.tolist() == label.split(" ≥ ")
        assert area_of(rows).area == pytest.approx(WHOLE / 6)
    figure = draw_regions(table)
    assert {rf"$P_{a}\geq P_{b}\geq P_{c}$" for a, b, c in itertools.permutations("123")} <= set(said(figure))
    assert {r"$\mathcal{S}_0$", r"$\mathcal{P}$"} <= set(said(figure))
    assert finding_of(figure)[0] == "This set's priors rank the categories in three of six orders"
    alone = draw_regions(region_shapes(POINT))
    assert finding_of(alone)[0] == "All priors of this set rank the categories alike"
    assert "meets three of them" in regions_in_words(table)
    assert len(figure.axes[0].lines) == 4, "three borders, each once, and the uniform distribution"


def test_pieces_make_up_the_set_and_images_are_in_order():
    table = folding_shapes(CLASS_III)
    whole = part(table, "set")
    assert part(table, "piece").symmetric_difference(whole).area == pytest.approx(0, abs=1e-8)
    pieces, images = (table[table["kind"] == kind].groupby("label") for kind in ("piece", "image"))
    for (order, piece), (_, image) in zip(pieces, images, strict=True):
        assert area_of(piece).area == pytest.approx(area_of(image).area, abs=1e-8), order
    for kind in ("image", "intersection", "union"):
        corners = table[table["kind"] == kind][["P1", "P2", "P3"]].to_numpy()
        assert (np.diff(corners, axis=1) <= 1e-9).all(), kind
    assert part(table, "union").symmetric_difference(part(table, "image")).area == pytest.approx(0, abs=1e-8)
    share = part(table, "intersection").area / part(table, "union").area
    assert f"three pieces share {100 * share:.0f}% of their joint area" in finding_of(draw_folding(table))[0]


def test_what_is_folded_back_is_inside_around_and_besides():
    table = unfolded_shapes(CLASS_III)
    whole, lower, upper, beyond = (part(table, kind) for kind in ("set", "lower", "upper", "beyond"))
    assert lower.difference(whole).area == pytest.approx(0, abs=1e-8)
    assert whole.difference(upper).area == pytest.approx(0, abs=1e-8)
    assert beyond.intersection(whole).area == pytest.approx(0, abs=1e-8)
    assert beyond.area == pytest.approx(lower.area, abs=1e-8), "three copies in the set, three outside"
    figure = draw_unfolded(table)
    assert finding_of(figure)[0] == "Theorem 3's lower bound includes priors outside the source set"
    assert r"outside: three copies of $\mathcal{P}^{\cap}$" in finding_of(figure)[1]
    assert unfolded_in_words(table).endswith("outside the set: three.")
    held = unfolded_shapes(SEGMENT)
    assert "beyond" not in set(held["kind"])
    assert finding_of(draw_unfolded(held))[0] == "Theorem 3's lower bound includes only priors of the set, and holds"


@pytest.mark.parametrize("source", [CLASS_III, COUNTEREXAMPLE], ids=["polygon", "point"])
@pytest.mark.parametrize("distortion", [0.3, 0.55, 0.6])
def test_the_lower_bound_is_the_least_leakage_of_all_that_is_shown_as_covered(source, distortion):
    table = unfolded_shapes(source)
    covered = table[table["kind"].isin(["lower", "beyond"])][["P1", "P2", "P3"]].to_numpy()
    covered = covered / covered.sum(axis=1, keepdims=True)  # nine decimals
    bound = kalantari2018.theorem_3(Folding(source, ties=False), distortion, "largest").lower
    assert bound == pytest.approx(float(exact_curve(SourceSet(covered)).leakage([distortion])[0]), abs=1e-7)


@pytest.mark.parametrize("source", [CLASS_III, COUNTEREXAMPLE, CYCLE, SEGMENT, APART, POINT, CLASS_I], ids=str)
def test_any_set_has_its_pictures_with_texts_that_can_be_read(source):
    for table, draw in (
        (class_shapes([source]), draw_classes),
        (region_shapes(source), draw_regions),
        (folding_shapes(source), draw_folding),
        (unfolded_shapes(source), draw_unfolded),
    ):
        figure = draw(table)
        assert finding_of(figure)[0]
        check_text(figure)
        assert finding_of(draw(table, "Mine"))[0] == "Mine"


def test_a_union_is_drawn_as_one_shape():
    table = folding_shapes(CLASS_III)
    *_, intersection, union = draw_folding(table).axes
    for axes, kind in ((intersection, "intersection"), (union, "union")):
        (filled,) = (patch for patch in axes.patches if patch.get_linewidth() == 1.8)
        outline = part(table, kind)
        assert len(filled.get_path()) == len(outline.exterior.coords), "closed, with no inner edge"


def test_colors_of_a_best_mechanism():
    table = coloring_table(COLORED, 0.37, 2)
    colors = table["color"].to_numpy().reshape(6, 6)
    assert (colors[:, 4:] == "none").all()
    assert colors[0, :4].tolist() == ["white", "red", "red", "red"]
    assert np.diagonal(colors)[1:4].tolist() == ["black"] * 3
    ratio = (
        table.loc[table["color"] == "black", "probability"].max() / table["probability"][table["color"] == "red"].min()
    )
    lemma = lemma_8_table(COLORED, 0.37).set_index("suppressed")
    assert math.log(ratio) == pytest.approx(lemma.loc[2, "leakage"], abs=1e-6)
    assert lemma.loc[2, "leakage"] == pytest.approx(math.log(6), abs=1e-8)
    assert lemma.loc[2, "attained"]
    assert (lemma.loc[:2, "claim 1":] == "True").all(axis=None)
    assert lemma.loc[:, "leakage"].min() == pytest.approx(leakage_curve(COLORED, [0.37])[0], abs=1e-9)
    with pytest.raises(ValueError, match=r"large enough for 3 suppressed categories; got 0\.1\. Suppress fewer"):
        coloring_table(COLORED, 0.1, 3)


def test_every_entry_is_written_with_its_color_and_as_a_fraction():
    figure = draw_coloring(coloring_table(COLORED, 0.37, 2))
    check_text(figure)
    entries = said(figure)
    assert [entries.count(text) for text in ("W\n3/4", "R\n1/12", "B\n1/2", "W\n1/7", "0")] == [1, 3, 3, 6, 12]
    assert entries.count("$M-k=4$") == entries.count("$k=2$") == 2
    assert finding_of(figure)[0] == "One diagonal entry is not black, the most that Claim 4 allows"
    black = draw_coloring(coloring_table(POINT, 0.3, 0))
    assert finding_of(black)[0] == "Every diagonal entry of the three published categories is black"


def test_theorem_3_beside_the_truth():
    table = theorem_3_table(COUNTEREXAMPLE, [0.3, 0.6])
    assert table["exact"].to_numpy() == pytest.approx(leakage_curve(COUNTEREXAMPLE, [0.3, 0.6]), abs=1e-7)
    assert table["exact"].iloc[1] == 0
    assert table["corrected lower"].iloc[1] == pytest.approx(math.log(4 / 3), abs=1e-7)
    assert (table["corrected upper"] >= table["exact"] - 1e-7).all()


@pytest.fixture(scope="module")
def curves():
    return theorem_3_curves(COUNTEREXAMPLE, 0.2, 2)


def test_curves_of_theorem_3_are_true_to_half_a_pixel_whatever_the_grid(curves):
    axes = draw_theorem_3(curves, class_shapes([COUNTEREXAMPLE])).axes[1]
    pixel = np.ptp(axes.get_ylim()) / (axes.get_position().height * axes.figure.get_figheight() * 300)
    places, exact = np.linspace(0.2, 0.666, 200), exact_curve(COUNTEREXAMPLE)
    drawn = np.interp(places, curves["distortion"], curves["exact"])
    assert np.abs(drawn - exact.leakage(places)).max() < pixel / 2
    for place in exact.breakpoints:
        assert np.abs(curves["distortion"] - place).min() < 1e-7
    with pytest.raises(ValueError, match=r"below \(M - 1\)/M = 0\.6667; got 0\.7"):
        theorem_3_curves(COUNTEREXAMPLE, 0.7, 2)


def test_the_step_of_the_proof_fails_in_the_counterexample():
    lottery, exchanged, prior = np.array([0.6, 0.4, 0.0]), np.array([0.4, 0.6, 0.0]), np.array([0.6, 0.1, 0.3])
    folding = Folding(COUNTEREXAMPLE, ties=False)
    ordered = tuple(Fraction(str(mass)) for mass in (0.6, 0.3, 0.1))
    assert any(ordered in image for image in folding.intersection), "P^LB has all rearrangements of this prior by T"
    assert (0, 2, 1) in folding.permutations and (1, 0, 2) in folding.permutations
    assert 1 - (COUNTEREXAMPLE.vertices @ lottery).min() == pytest.approx(0.6)
    assert 1 - prior @ exchanged == pytest.approx(0.7)


def test_averages_are_of_the_priors_that_all_images_share():
    segment = Folding(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2]]), ties=False)
    assert segment.is_group and segment.averages_inside
    end = tuple(Fraction(str(mass)) for mass in (0.6, 0.3, 0.1))
    assert segment.average(end) not in segment.hull
    assert not any(end in image for image in segment.intersection)


@pytest.mark.parametrize("seed", range(3))
def test_the_lower_bound_holds_where_averages_are_inside(seed):
    rng, found = np.random.default_rng(seed), 0
    while found < 5:
        source = SourceSet(rng.multinomial(20, np.full(3, 1 / 3), size=2) / 20)
        folding = Folding(source, ties=False)
        if source.source_class == "III" and folding.intersection and folding.averages_inside:
            found += 1
            table = theorem_3_table(source, [0.1, 0.3, 0.5, 0.6])
            assert (table["corrected lower"] <= table["exact"] + 1e-7).all()


def test_the_violation_is_shaded_and_told(curves):
    figure = draw_theorem_3(curves, class_shapes([COUNTEREXAMPLE]))
    check_text(figure)
    axes = figure.axes[1]
    assert axes.get_ylabel() == "leakage (nats)"
    note = "".join(said(figure))
    assert "dotted: both bounds of the 2017 preprint" in note
    assert "ratio corrected (the lower one still too high)" in note
    assert "From $D=47/80$ on nothing leaks" in note
    excess = math.log(2 * (1 - 0.5875) / 0.5875)  # the curve of Class I where the exact one reaches 0
    assert f"lower bound there: {excess:.3f} nats" in note
    assert finding_of(figure)[0] == f"Theorem 3's lower bound exceeds the optimum by up to {excess:.3f} nats"
    assert f"exceeds it by up to {excess:.3f} nats" in theorem_3_in_words(curves, class_shapes([COUNTEREXAMPLE]))
    (shade,) = axes.collections
    shaded = np.concatenate([path.vertices for path in shade.get_paths()])
    assert shaded[:, 0].min() == pytest.approx(17 / 35, abs=1e-7), "only where the bound is too high"


def test_bounds_that_hold_are_told_so():
    rows = theorem_3_table(SEGMENT, [0.2, 0.5, 0.6])
    assert finding_of(draw_theorem_3(rows, class_shapes([SEGMENT])))[0] == "Both bounds of Theorem 3 hold for this set"
    with pytest.raises(ValueError, match="lacks the column exact"):
        draw_theorem_3(rows.drop(columns="exact"), class_shapes([SEGMENT]))


def test_failures_are_counted_from_the_seed():
    first, again, other = (failure_table(3, 12, seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert (first["excess"] >= 0).all()
    assert len(first) == 12
    assert (first["lower"] - first["exact"] <= first["excess"] + 1e-7).all()


def test_a_corner_that_moves_changes_the_class_and_stays_in_the_simplex():
    page = class_page([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.5, 0.1, 0.4]])
    for first, second, name in ((0.6, 0.2, "Class II"), (0.4, 0.5, "Class III"), (0.1, 0.3, "Class I")):
        assert f"<figcaption>{name}: " in page(first, second)
    with pytest.raises(ValueError, match=r"sum to at most 1; got 0\.9 and 0\.5"):
        page(0.9, 0.5)


def test_a_lottery_is_checked_in_rationals():
    found = check_constant([0.6, 0.4, 0], COUNTEREXAMPLE.vertices.tolist(), 0.6)
    assert sorted(changed for _, changed in found) == [Fraction(13, 25), Fraction(29, 50), Fraction(3, 5)]
    tight = check_constant([0.625, 0.375, 0], COUNTEREXAMPLE.vertices.tolist(), 0.5875)
    assert max(changed for _, changed in tight) == Fraction(47, 80)
    with pytest.raises(ValueError, match="distortion must be at least 3/5 for the vertex"):
        check_constant([0.6, 0.4, 0], COUNTEREXAMPLE.vertices.tolist(), 0.5999)
    with pytest.raises(ValueError, match="constant must sum to 1; got 11/10"):
        check_constant([0.6, 0.5, 0], COUNTEREXAMPLE.vertices.tolist(), 0.6)
    with pytest.raises(ValueError, match="vertex must sum to 1; got 9/10"):
        check_constant([0.6, 0.4, 0], [[0.6, 0.2, 0.1]], 0.6)


def test_failures_are_told_with_the_worst_one():
    found = failure_table(4, 40)
    worst = found.loc[found["excess"].idxmax()]
    said = failures_in_words(found, 4)
    assert f"fails on {(found['excess'] > 1e-6).sum()} of 40 sets, by up to {worst['excess']:.4f} nats" in said
    assert f"bound {worst['lower']:.4f}, optimum {worst['exact']:.4f} nats" in said
