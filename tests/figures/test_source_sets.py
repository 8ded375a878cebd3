"""Tables I-IV: vertices, landmarks and breakpoints against known numbers, and every one of them in the pictures."""

import math
import re

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.claims import read_ledger
from paper_repro.figures.leakage_curves import curve_table, draw_curves, draw_leakages, leakage_table
from paper_repro.figures.privacy_notions import lemma_table
from paper_repro.figures.registry import set_label
from paper_repro.figures.source_sets import (
    breakpoint_finding,
    breakpoint_subtitle,
    breakpoint_table,
    cited_table,
    class_table,
    draw_breakpoints,
    leakage_finding,
    vertex_page,
    vertex_table,
)
from paper_repro.figures.tables import number_texts
from tests.figures.pictures import NAMES, ROUNDED, RUNS, SETS, SIX, drawn, load


@pytest.mark.parametrize("name", NAMES)
def test_vertices_are_one_a_row(name):
    table, source = vertex_table(load(name)), SETS[name]
    assert list(table.columns) == list(source.labels)
    np.testing.assert_array_equal(table.to_numpy(), source.vertices)


def test_classes_and_landmarks():
    table = class_table(load(*NAMES)).set_index("source_set")
    assert list(table.columns) == [
        "class", "categories", "vertices", "symmetric_until", "zero_from", "jump", "printed_symmetric_until",
        "printed_zero_from",
    ]  # fmt: skip
    assert list(table.index) == NAMES
    for name, row in table.iterrows():
        source = SETS[name]
        assert (row["class"], row["categories"], row["vertices"]) == (
            source.source_class,
            source.alphabet_size,
            source.vertex_count,
        )
        # Randomized response is optimal up to (M - 1) times the largest least probability of any member.
        symmetric = (source.alphabet_size - 1) * source.vertices.min(axis=1).max()
        assert row["symmetric_until"] == pytest.approx(symmetric, abs=ROUNDED)
    assert table.loc["P_II_6", "symmetric_until":].tolist() == [0.1, 0.3, 1.54044504, 0.02, 0.3]
    assert table.loc["P_II_10", "symmetric_until":].tolist() == [0.18, 0.7, 0.40546511, 0.02, 0.7]
    assert table.loc["P_I_6", "symmetric_until":].tolist() == [0.83333333, 0.83333333, 0.0, 0.83333333, 0.83333333]
    class_3 = table[table["class"] == "III"]
    assert class_3[["printed_symmetric_until", "printed_zero_from"]].isna().all(axis=None)
    assert (class_3["jump"] == 0).all()


@pytest.mark.parametrize("prior", [[1.0], [1.0, 0.0, 0.0]])
def test_landmarks_where_nothing_ever_leaks(prior):
    assert class_table([pr.SourceSet(prior)]).loc[0, "symmetric_until":].tolist() == [0.0] * 5


def test_randomized_response_is_meant_on_the_letters_that_can_occur():
    assert class_table([pr.SourceSet([0.5, 0.5, 0])])["symmetric_until"].tolist() == [0.5]


def test_breakpoints_of_table_i():
    table = breakpoint_table(load("P_II_6"))
    assert list(table.columns) == ["source_set", "kind", "distortion", "leakage"]
    exact, printed = (table[table["kind"] == kind] for kind in ("exact", "printed"))
    assert exact["distortion"].tolist() == [0.1, 0.14, 0.17, 0.21, 0.3]
    assert printed["distortion"].tolist() == [0.02, 0.05, 0.09, 0.15, 0.3]
    # log(P_1 / P_2) is the height of the jump.
    assert exact["leakage"].iloc[-1] == pytest.approx(math.log(0.7 / 0.15), abs=ROUNDED)
    assert exact["leakage"].iloc[-1] == pytest.approx(1.540445, abs=5e-7)
    assert printed["leakage"].iloc[-1] == 0
    expected = pr.exact_curve(SETS["P_II_6"]).leakage([0.02, 0.05, 0.09, 0.15])
    np.testing.assert_allclose(printed["leakage"].iloc[:-1], expected, atol=ROUNDED, rtol=0)


def test_breakpoints_of_all_sets_rise_while_the_leakage_falls():
    table = breakpoint_table(load(*NAMES))
    assert list(dict.fromkeys(table["source_set"])) == NAMES
    for (name, kind), rows in table.groupby(["source_set", "kind"]):
        assert rows["distortion"].is_monotonic_increasing, (name, kind)
        assert rows["leakage"].is_monotonic_decreasing, (name, kind)
    printed = table[table["kind"] == "printed"].groupby("source_set").size().to_dict()
    assert printed == {"P_I_2": 1, "P_I_6": 1, "P_I_10": 1, "P_II_4": 3, "P_II_6": 5, "P_II_10": 9}


@pytest.mark.parametrize("table", [class_table, breakpoint_table])
def test_tables_of_no_set_are_refused(table):
    with pytest.raises(ValueError, match="give at least one source set"):
        table([])


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("breakpoints", "worst-case Hamming distortion D (probability that an entry is changed)"),
        ("leakages", "distortion $D$"),
    ],
)
def test_tables_name_their_rows_and_columns(name, label):
    (axes,) = drawn(name).axes
    assert axes.get_xlabel() == label
    assert [label.get_text() for label in axes.get_yticklabels()] == [set_label(name) for name in NAMES]


def test_findings_are_those_of_the_numbers():
    breakpoints = breakpoint_table(load("P_II_6", "P_II_10"))
    assert breakpoint_finding(breakpoints) == "Randomized response stays optimal up to distortion 0.18, not only 0.02"
    assert breakpoint_subtitle(breakpoints).startswith(
        f"Differential privacy; {set_label('P_II_10')}, with threshold 0.02 in the 2017 preprint"
    )
    assert "threshold 0" not in breakpoint_subtitle(breakpoint_table(load("P_I_6", "P_IIIa_6")))
    sets = load(*SIX)
    table = leakage_table(sets, [0.05, 0.1, 0.11, 0.3])
    assert leakage_finding(table, sets) == "For these sets only the category count matters up to distortion 0.1"
    assert leakage_finding(table[:1], sets[:1]) == "The least leakage of one source set"
    own = [pr.SourceSet([0.5, 0.3, 0.2], name="1"), pr.SourceSet([0.8, 0.1, 0.1], name="2")]
    assert leakage_finding(leakage_table(own, [0.4]), own) == "The least leakage of two source sets"
    # Where nothing may be changed, all leakages are infinite.
    assert leakage_finding(leakage_table(sets, [0.0, 0.3]), sets) == (
        "For these sets only the category count matters up to distortion 0"
    )


@pytest.mark.parametrize("size", ["6", "10"])
def test_a_table_of_nested_sets_tells_which_rows_span_each(size):
    nested = load(*(f"P_III{part}_{size}" for part in "abc"))
    table = vertex_table(nested)
    for source in nested:
        rows = table[table[source.name] == 1].drop(columns=[one.name for one in nested])
        assert {tuple(row) for row in rows.to_numpy()} == {tuple(row) for row in source.vertices}
    shown = vertex_page(table, nested)
    assert list(shown.columns[:4]) == [*(set_label(source.name) for source in nested), "$P_{1}$"]
    assert shown.iloc[:, 0].tolist() == ["•"] * nested[0].vertex_count + [""] * (len(table) - nested[0].vertex_count)
    assert number_texts(shown).iloc[0, 3:].tolist() == [f"{value:.2f}" for value in nested[2].vertices[0]]


def test_sets_that_are_not_nested_are_no_table():
    with pytest.raises(
        ValueError, match=r"the last set of a table must have the vertices of the others; P_I_6 has \(0\.16"
    ):
        vertex_table(load("P_I_6", "P_II_6"))


def test_tables_of_the_paper_are_cited_and_others_named_by_their_sets():
    known = {row.name for row in read_ledger()}
    for names in RUNS["tables"]["tables"]:
        cited = cited_table(load(*names))
        assert re.fullmatch(r"Kalantari et al\. 2018, Table (I|II|III|IV)", cited.source)
        assert set(cited.ledger) <= known
    # The caption slip of the preprint's Table I is an entry of the ledger, and no title of the article's table.
    assert cited_table(load("P_II_6")).finding == "The six-category prior of Table I"
    own = pr.SourceSet([0.5, 0.5], name="my own/set")
    assert cited_table([own]).finding == "The vertices of one source set"
    assert (cited_table([own]).name, cited_table([own]).source) == ("vertices_my-own-set", "")


@pytest.mark.parametrize(
    "vertices",
    [[1.0], [1.0, 0.0], [0.7, 0.3], [1.0, 0.0, 0.0], [0.4, 0.4, 0.2], [[0.6, 0.4, 0.0], [0.5, 0.5, 0.0]]],
    ids=["one-letter", "certain", "two-letters", "certain-of-three", "tie", "zero"],
)
def test_small_sets_ties_and_zeros_have_all_their_tables_and_pictures(vertices):
    own = pr.SourceSet(vertices)
    assert len(class_table([own])) == 1
    breakpoints, leakages = breakpoint_table([own]), leakage_table([own], [0.1, 1.0])
    assert not breakpoints["leakage"].isna().any()
    curves = curve_table([own], [pr.DifferentialPrivacy(), pr.MutualInformation()], 0.0, 1.0, points=5)
    assert not curves["leakage"].isna().any()
    assert (curves.groupby("curve")["leakage"].last() == 0).all()
    assert not lemma_table(own)["leakage"].isna().any()
    assert len(vertex_table([own])) == own.vertex_count
    for figure in (
        draw_curves(curves), draw_breakpoints(breakpoints), draw_leakages(leakages)
    ):  # fmt: skip
        figure.draw_without_rendering()
