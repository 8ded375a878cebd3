"""Source sets: their class by its definition, the worst case over the hull, intervals, frames, files, and what is refused."""

import dataclasses
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paper_repro as pr
from paper_repro import Mechanism, SourceSet
from paper_repro.errors import shown
from paper_repro.papers import kalantari2018
from paper_repro.paths import DATA, ROOT
from paper_repro.sources import source_set_path
from tests.oracles.instances import CLASSES, random_vertices, vertex_sets
from tests.oracles.tradeoffs import (
    common_ordering,
    distance_to_hull,
    leakage_of_intervals,
    least_distortion_without_leakage,
    vertices_of_intervals,
)

TABLE_1 = [[0.7, 0.15, 0.06, 0.04, 0.03, 0.02]]
TABLE_2 = [
    [0.3, 0.2, 0.15, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02],
    [0.35, 0.16, 0.12, 0.10, 0.09, 0.09, 0.05, 0.02, 0.01, 0.01],
]
TABLE_3 = [
    [0.7, 0.15, 0.06, 0.04, 0.03, 0.02],
    [0.15, 0.7, 0.06, 0.04, 0.03, 0.02],
    [0.06, 0.15, 0.7, 0.04, 0.03, 0.02],
    [0.04, 0.15, 0.06, 0.7, 0.03, 0.02],
]
TABLE_4 = [
    [0.3, 0.2, 0.15, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02],
    [0.35, 0.16, 0.12, 0.10, 0.09, 0.09, 0.05, 0.02, 0.01, 0.01],
    [0.2, 0.3, 0.15, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02],
    [0.16, 0.35, 0.12, 0.10, 0.09, 0.09, 0.05, 0.02, 0.01, 0.01],
    [0.15, 0.2, 0.3, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02],
    [0.12, 0.16, 0.35, 0.10, 0.09, 0.09, 0.05, 0.02, 0.01, 0.01],
    [0.08, 0.2, 0.15, 0.3, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02],
    [0.10, 0.16, 0.12, 0.35, 0.09, 0.09, 0.05, 0.02, 0.01, 0.01],
]
PRINTED = {
    "P_I_2": ("I", [[0.5, 0.5]]),
    "P_II_4": ("II", [[0.4, 0.3, 0.2, 0.1]]),  # Figure 4 of Zhong and Bu
    "P_I_6": ("I", [[1 / 6] * 6]),
    "P_II_6": ("II", TABLE_1),
    "P_IIIa_6": ("III", TABLE_3[:2]),
    "P_IIIb_6": ("III", TABLE_3[:3]),
    "P_IIIc_6": ("III", TABLE_3),
    "P_I_10": ("I", [[0.1] * 10]),
    "P_II_10": ("II", TABLE_2),
    "P_IIIa_10": ("III", TABLE_4[:4]),
    "P_IIIb_10": ("III", TABLE_4[:6]),
    "P_IIIc_10": ("III", TABLE_4),
}


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(25))
def test_class_of_random_sets(source_class, seed):
    assert SourceSet(random_vertices(source_class, seed)).source_class == source_class


@given(vertex_sets())
def test_class_by_its_definition(vertices):
    uniform = np.full(vertices.shape[1], 1 / vertices.shape[1])
    distance = distance_to_hull(uniform, vertices)
    # Entries are fractions of at most 60, so a hull that misses the uniform point does so by far more than rounding.
    expected = "I" if distance < 1e-9 else "II" if common_ordering(vertices) else "III"
    assert SourceSet(vertices).source_class == expected


@given(vertex_sets())
def test_class_does_not_depend_on_the_order_of_letters_or_vertices(vertices):
    assert SourceSet(vertices[::-1, ::-1]).source_class == SourceSet(vertices).source_class


@pytest.mark.parametrize(
    ("vertices", "expected"),
    [
        ([[1.0]], "I"),
        ([[1.0], [1.0]], "I"),
        ([0.5, 0.5], "I"),
        ([0.4, 0.6], "II"),
        ([[0.4, 0.6], [0.6, 0.4]], "I"),
        ([[0.1, 0.9], [0.2, 0.8]], "II"),
        ([1.0, 0.0, 0.0], "II"),
        (np.eye(3), "I"),
        ([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3]], "III"),
        ([[0.5, 0.25, 0.25], [0.4, 0.3, 0.3]], "II"),
        ([[0.5, 0.25, 0.25], [0.4, 0.4, 0.2]], "II"),
        ([[0.5, 0.25, 0.25], [0.4, 0.2, 0.4]], "II"),
        ([[0.4, 0.4, 0.2], [0.4, 0.2, 0.4]], "III"),
        ([[0.4, 0.3 + 1e-9, 0.3 - 1e-9], [0.4, 0.3 - 1e-9, 0.3 + 1e-9]], "III"),
        # ties up to rounding: 0.1 + 0.2 > 0.3
        ([[0.4, 0.1 + 0.2, 0.3], [0.4, 0.3, 0.1 + 0.2]], "II"),
    ],
)
def test_class_of_small_sets(vertices, expected):
    assert SourceSet(vertices).source_class == expected


@pytest.mark.parametrize(("miss", "expected"), [(0.0, "I"), (1e-10, "I"), (1e-7, "II")])
def test_the_uniform_point_is_found_within_1e_9(miss, expected):
    vertices = np.full((2, 4), 0.25)
    vertices[:, 0] += miss
    vertices[:, 3] -= miss
    vertices[1] += [0.1, 0, 0, -0.1]
    assert SourceSet(vertices).source_class == expected


@given(vertex_sets())
def test_worst_case_distortion_is_the_largest_expectation(vertices):
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(vertices.shape[1]), size=vertices.shape[1])
    expectations = [sum(p * (1 - matrix[i, i]) for i, p in enumerate(prior)) for prior in vertices]
    source = SourceSet(vertices)
    assert source.worst_case_distortion(matrix) == pytest.approx(max(expectations), abs=1e-14)  # rounding of M terms
    assert source.worst_case_distortion(Mechanism(matrix)) == source.worst_case_distortion(matrix)
    inner = rng.dirichlet(np.ones(len(vertices))) @ vertices
    assert SourceSet(inner).worst_case_distortion(matrix) <= max(expectations) + 1e-14


def test_a_mechanism_of_another_size_is_refused():
    with pytest.raises(
        ValueError,
        match=r"mechanism must have shape \(3, 3\), as the source set has 3 categories; got shape \(2, 2\)\. "
        r"Give both the same categories\.",
    ):
        SourceSet([0.5, 0.3, 0.2]).worst_case_distortion(np.eye(2))


def test_attributes():
    source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], labels=["a", "b", "c"], name="mine")
    assert (source.vertex_count, source.alphabet_size) == (2, 3)
    assert list(source.labels) == ["a", "b", "c"] and list(SourceSet([1.0]).labels) == [0]
    assert repr(source) == "SourceSet(mine: V=2, M=3, Class II)"
    assert repr(SourceSet([0.5, 0.5])) == "SourceSet(V=1, M=2, Class I)"


def test_a_source_set_does_not_change():
    given = np.array([[0.5, 0.5]])
    source = SourceSet(given)
    given[0] = [1.0, 0.0]
    assert source.vertices.tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="read-only"):
        source.vertices[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.vertices = given


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], ["a", "a"], [], {"a", "b"}])
def test_labels_are_one_per_letter(labels):
    with pytest.raises(
        ValueError, match="labels must be 2 distinct names, one per category, in a list or tuple; got"
    ) as error:
        SourceSet([0.5, 0.5], labels=labels)
    assert f"; got {shown(labels)}." in str(error.value)


@pytest.mark.parametrize(
    ("vertices", "named"),
    [
        ([[0.5, -0.5]], "row 0, category 1 must be a probability, a finite number between 0 and 1; got -0.5."),
        ([[0.5, float("nan")]], "row 0, category 1 must be a probability, a finite number between 0 and 1; got nan."),
        ([[0.5, 0.4]], "row 0 must sum to 1 within 1e-09; got 0.9."),
        ([[0.5, 0.5], [1.0]], "row 1 must have 2 entries, as many as row 0; got 1."),
        ([], "non-empty"),
    ],
)
def test_errors_name_the_set(vertices, named):
    with pytest.raises(TypeError, match=r"name must be text, or None; got 3\."):
        SourceSet(vertices, name=3)
    with pytest.raises(ValueError, match=r"^source set survey\b") as error:
        SourceSet(vertices, name="survey")
    assert named in str(error.value)


@st.composite
def boxes(draw):
    """Bounds with small rational entries: empty boxes, points, ties and letters without an interval come by themselves."""
    size = draw(st.integers(1, 5))
    lower = draw(st.lists(st.integers(0, 12), min_size=size, max_size=size))
    upper = [draw(st.integers(low, 20)) for low in lower]
    return [Fraction(low, 20) for low in lower], [Fraction(high, 20) for high in upper]


@given(boxes())
def test_intervals_have_the_vertices_that_exact_enumeration_finds(box):
    lower, upper = (np.array(bounds, dtype=float) for bounds in box)
    expected = vertices_of_intervals(*box)
    if not expected:
        with pytest.raises(
            ValueError,
            match=r"lower and upper must have sums with 1 between them; got the sums \S+ and \S+\. Widen the intervals\.",
        ):
            SourceSet.from_intervals(lower, upper)
        return
    found = SourceSet.from_intervals(lower, upper).vertices
    assert found.shape == np.shape(expected)  # none twice
    # Each entry is a bound, or 1 less a sum of bounds, and the same up to rounding sorts the same: grid points are 1/20 apart.
    in_order = found[np.lexsort(np.round(found * 20).T[::-1])]
    np.testing.assert_allclose(in_order, np.array(expected, dtype=float), rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_over_intervals_is_that_of_the_dual_program(seed):
    rng = np.random.default_rng(seed)
    center = rng.dirichlet(np.ones(rng.integers(2, 8)))
    lower, upper = center * rng.uniform(0.3, 1, center.size), np.minimum(center * rng.uniform(1, 2, center.size), 1)
    source = SourceSet.from_intervals(lower, upper)
    distortion = rng.uniform(0.05, 0.95) * least_distortion_without_leakage(source.vertices)
    leakage = pr.optimal_mechanism(source, distortion=distortion).leakage
    # The program is solved to 1e-10 of its rows.
    assert leakage == pytest.approx(leakage_of_intervals(lower, upper, distortion), abs=1e-7)


@pytest.mark.parametrize(
    ("lower", "upper", "vertices"),
    [
        ([1.0], [1.0], [[1.0]]),
        ([0.0], [1.0], [[1.0]]),
        ([0.1, 0.2, 0.7], [0.1, 0.2, 0.7], [[0.1, 0.2, 0.7]]),  # the sum misses 1 by rounding
        ([1 / 3] * 3, [1 / 3] * 3, [[1 / 3] * 3]),
        ([0.1, 0.2, 0.7 + 5e-10], [0.1, 0.2, 0.8], [[0.1, 0.2, 0.7]]),
        ([0.0, 0.0, 0.0], [0.1, 0.2, 0.7], [[0.1, 0.2, 0.7]]),
        ([0.2, 0.3], [0.7, 0.9], [[0.2, 0.8], [0.7, 0.3]]),
        ([0.0] * 3, [1.0] * 3, np.eye(3)[::-1]),
        ([0.3, 0.1, 0.1], [0.3, 0.7, 0.6], [[0.3, 0.1, 0.6], [0.3, 0.6, 0.1]]),
    ],
)
def test_intervals_at_their_limits(lower, upper, vertices):
    np.testing.assert_allclose(SourceSet.from_intervals(lower, upper).vertices, vertices, rtol=0, atol=1e-9)


def test_as_many_letters_as_one_likes_if_the_vertices_are_few():
    assert SourceSet.from_intervals(np.zeros(300), np.ones(300)).vertex_count == 300


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (
            [0.1, 0.2],
            [0.5, 0.7, 0.9],
            r"lower and upper must have one probability per category; got arrays of shapes \(2,\) and " r"\(3,\)\.",
        ),
        ([], [], "lower and upper must have one probability per category; got arrays of shapes"),
        (0.5, 0.5, "lower and upper must have one probability per category; got arrays of shapes"),
        ([0.1, -0.2], [0.5, 0.7], r"lower: category 'b' must be a probability between 0 and 1; got -0\.2\."),
        ([0.1, 0.2], [0.5, 1.7], r"upper: category 'b' must be a probability between 0 and 1; got 1\.7\."),
        ([0.1, float("nan")], [0.5, 0.7], r"lower: category 'b' must be a probability between 0 and 1; got nan\."),
        ([0.1, None], [0.5, 0.7], r"lower: category 'b' must be a probability between 0 and 1; got None\."),
        ([0.1, "low"], [0.5, 0.7], r"lower: category 'b' must be a probability between 0 and 1; got 'low'\."),
        (
            [0.1, 0.8],
            [0.5, 0.7],
            r"lower: category 'b' must be at most its upper bound 0\.7; got 0\.8\. Swap or widen them\.",
        ),
        (
            [0.1, 0.2],
            [0.2, 0.3],
            r"lower and upper must have sums with 1 between them; got the sums 0\.3 and 0\.5\. Widen the "
            r"intervals\.",
        ),
        (
            [0.6, 0.6],
            [0.7, 0.7],
            r"lower and upper must have sums with 1 between them; got the sums 1\.2 and 1\.4\. Widen the "
            r"intervals\.",
        ),
    ],
)
def test_bad_intervals_are_refused_by_letter(lower, upper, message):
    with pytest.raises(ValueError, match=message):
        SourceSet.from_intervals(lower, upper, labels=["a", "b"])


def test_too_many_vertices_are_refused_with_the_limit_and_a_way_out():
    with pytest.raises(
        ValueError,
        match=r"the intervals must have at most 10000 vertices; got more, for 30 categories\. Merge rare "
        r"categories, give some a known probability \(lower = upper\), or ask for differential privacy "
        r"or maximal leakage, which need no vertices\.",
    ):
        SourceSet.from_intervals(np.full(30, 0.02), np.full(30, 0.05)).vertices  # noqa: B018


def test_the_names_of_frames_become_labels():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0.5, 0.5], [0.75, 0.25]], columns=["no", "yes"], index=["2019", "2020"])
    series = pd.Series(["no", "yes", "no", "no"]).value_counts(normalize=True)
    assert SourceSet(frame).labels == SourceSet(series).labels == ("no", "yes")
    assert SourceSet(frame, labels=["n", "y"]).labels == ("n", "y")
    assert SourceSet(pd.DataFrame([[0.5, 0.5]])).labels == (0, 1)
    assert SourceSet(series.to_dict()).labels == ("no", "yes")
    for table in (frame, series, series.to_dict()):
        with pytest.raises(
            ValueError,
            match=r"the table and labels must name the same categories in the same order; got \['no', 'yes'\] and "
            r"\['yes', 'no'\]\. Put both in one order, such as frame\.loc\[names, names\], or take the names "
            r"off one of them \(frame\.to_numpy\(\)\)\.",
        ):
            SourceSet(table, labels=["yes", "no"])
    assert SourceSet.from_intervals(series / 2, np.ones(2)).labels == ("no", "yes")
    with pytest.raises(
        ValueError,
        match=r"lower, upper and labels must name the same categories in one order; got \['no', 'yes'\] and "
        r"\['yes', 'no'\]\. Put all in one order\.",
    ):
        SourceSet.from_intervals(series / 2, pd.Series([1.0, 1.0], index=["yes", "no"]))
    for missing in (None, float("nan"), pd.NA):
        with pytest.raises(
            ValueError, match=r"vertices: row 0, category 'yes' must be a probability, .*; got (nan|<NA>|None)\."
        ):
            SourceSet(pd.DataFrame({"no": [1.0], "yes": [missing]}))


def test_a_notebook_shows_a_table():
    source = SourceSet([[0.5, 0.3, 0.2]], labels=["<b>", "50 %", "x_y"])
    shown = source._repr_html_()
    assert "<th>&lt;b&gt;</th><th>50 %</th><th>x_y</th>" in shown and "<td>0.3</td>" in shown
    assert "<caption>SourceSet(V=1, M=3, Class II)</caption>" in shown
    assert r"\text{50 \%} & \text{x\_y} \\ \hline" in source._repr_latex_()
    large = SourceSet(np.full(300, 1 / 300))._repr_html_()
    assert large.count("<td>") == 20 and "(the beginning of 1 x 300)" in large


@pytest.fixture
def write(tmp_path):
    def _write(content: str | bytes, name: str = "own.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def test_the_known_names_are_the_sets_of_the_papers_and_the_uniform_ones():
    assert pr.source_set_names() == list(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_set_has_the_printed_class_size_and_values(name):
    source_class, vertices = PRINTED[name]
    source = pr.load_source_set(name)
    assert (source.name, source.source_class) == (name, source_class)
    assert (source.vertex_count, source.alphabet_size) == np.shape(vertices)
    assert source.labels == tuple(f"x{letter}" for letter in range(1, source.alphabet_size + 1))
    np.testing.assert_array_equal(source.vertices, vertices)


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.csv")), ids=lambda path: path.stem)
def test_every_file_begins_with_where_its_numbers_come_from(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(r"# .*\b(Table|Figure|Section|Theorem|Example|uniform|checks)\b|(# .*\n)+# Source: ", text)


@pytest.mark.parametrize("name", PRINTED)
def test_every_set_names_the_paper_and_its_table(name):
    content = source_set_path(name).read_text(encoding="utf-8")
    comments = "".join(line for line in content.splitlines(True) if line.startswith("#"))
    assert content.startswith(comments), "the provenance comes first"
    expected = ("Kalantari, Sankar and Sarwate", "2018", "Theorem 1" if "_I_" in name else "Table ")
    for word in ("Zhong and Bu", "2022", "Figure ") if name in ("P_I_2", "P_II_4") else expected:
        assert word in comments


@pytest.mark.parametrize("name", kalantari2018.CONSTRUCTIONS)
def test_class_3_sets_are_the_class_2_rows_and_their_swapped_copies(name):
    base, swaps = kalantari2018.CONSTRUCTIONS[name]
    rows = pr.load_source_set(base).vertices
    expected = [rows]
    for first, second in swaps:
        swapped = rows.copy()
        swapped[:, [first, second]] = rows[:, [second, first]]
        expected.append(swapped)
    np.testing.assert_array_equal(pr.load_source_set(name).vertices, np.concatenate(expected))


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("red,green\n0.75,0.25\n", ("red", "green")),
        ("# where from\n\nred,green\n# in between\n\n0.75,0.25\n\n", ("red", "green")),
        (b"\xef\xbb\xbfred,green\n0.75,0.25\n", ("red", "green")),
        (b"\xef\xbb\xbf# where from\nred,green\n0.75,0.25\n", ("red", "green")),
        ("red,green\r\n0.75,0.25\r\n", ("red", "green")),
        ("red,green\n0.75,0.25", ("red", "green")),
        (" red , green \n 0.75 , 0.25 \n", ("red", "green")),
        ('"red, or so",grün\n0.75,0.25\n', ("red, or so", "grün")),
        ("1,2\n0.75,0.25\n", ("1", "2")),
        ("red,green\n7.5e-1,.25\n", ("red", "green")),
        ("red;green\n0.75;0.25\n", ("red", "green")),
        ("red;green\n0,75;0,25\n", ("red", "green")),
        ("red\tgreen\n0,75\t0.25\n", ("red", "green")),
        ("red, or so;green\n0,75;0,25\n", ("red, or so", "green")),
        ('red "dark,green\n0.75,0.25\n', ('red "dark', "green")),
    ],
    ids=[
        "plain", "comments", "bom", "bom-comment", "crlf", "no-newline", "spaces", "quotes", "numbers", "exponents",
        "semicolons", "decimal-commas", "tabs", "comma-in-name", "open-quote",
    ],
)  # fmt: skip
def test_own_csv(write, content, labels):
    source = pr.load_source_set(write(content))
    assert (source.labels, source.name) == (labels, "own")
    np.testing.assert_array_equal(source.vertices, [[0.75, 0.25]])


def test_own_csv_by_a_path_as_text(write):
    path = write("a,b,c\n0.5,0.3,0.2\n0.2,0.3,0.5\n")
    assert repr(pr.load_source_set(str(path))) == "SourceSet(own: V=2, M=3, Class III)"
    np.testing.assert_array_equal(pr.read_source_set(path).vertices, [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(("content", "labels"), [("a\n1.0\n", ("a",)), ("a,b\n1,0\n", ("a", "b"))])
def test_one_letter_and_zero_probabilities_are_source_sets(write, content, labels):
    assert pr.load_source_set(write(content)).labels == labels


def test_a_relative_path_is_looked_for_here_and_then_in_the_checkout(write, tmp_path, monkeypatch):
    relative = "data/source_sets/P_II_6.csv"
    monkeypatch.chdir(tmp_path)
    assert source_set_path(relative) == ROOT / relative
    os.makedirs(tmp_path / "data" / "source_sets")
    write("a,b\n0.5,0.5\n", relative)
    assert pr.load_source_set(relative).labels == ("a", "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,c\n0.5,0.3,0.2\n0.5,0.5\n", (
r"own\.csv: line 3 must have 3 "
r"columns, one for each category of the header; got 2\. Write one probability per category, 0 "
r"for one that never occurs\."
)),
        ("# a\n\na,b\n0.5,0.3,0.2\n", (
r"own\.csv: line 4 must have 2 "
r"columns, one for each category of the header; got 3\. Write one probability per category, 0 "
r"for one that never occurs\."
)),
        ("a,b,c\n0.5,much,0.2\n", (
r"own\.csv: line 2, column 'b' "
r"must be a probability, a finite number between 0 and 1; got 'much'\. Write text such as "
r'"0\.25" or "1/4", with a point and without a sign for percent\.'
)),
        ("a,b,c\n0.5,,0.5\n", (
r"own\.csv: line 2, column 'b' "
'must be a probability, a finite number between 0 and 1; got \'\'\\. Write text such as "0\\.25" or '
r'"1/4", with a point and without a sign for percent\.'
)),
        ("a;b\n0,5;0,5\n0,5;0,4;0,1\n", (
r"own\.csv: line 3 must have 2 "
r"columns, one for each category of the header; got 3\. Write one probability per category, 0 "
r"for one that never occurs\."
)),
        ("0.5,0.5\n", r"own\.csv must have a header .* and at least one line of probabilities; got [01] line"),
        ("a,b\n", r"own\.csv must have a header .* and at least one line of probabilities; got [01] line"),
        ("", r"own\.csv must have a header .* and at least one line of probabilities; got [01] line"),
        ("# a comment\n\n", r"own\.csv must have a header .* and at least one line of probabilities; got [01] line"),
        ("a,b\n0.5,0.4\n", (
r"own\.csv: line 2 must sum to 1 "
r"within 1e-09; got 0\.9\. Correct the row, or divide it by its sum\."
)),
        ("a,b\n0.5,0.5\n# in\n50,50\n", (
r"own\.csv: line 4 must sum to 1 "
r"within 1e-09; got 100\.0\. Divide percentages by 100\. Give the counts of a sample to SourceSet\.from_counts in Python"
)),
        ("a,b\n1.5,-0.5\n", (
r"own\.csv: line 2, column 'b' "
r"must be a probability, a finite number between 0 and 1; got -0\.5\."
)),
        ("a,b\nnan,1\n", r"own\.csv: line 2, column 'a' " r"must be a probability, a finite number between 0 and 1; got nan\."),
        ("a,b\ninf,0\n", r"own\.csv: line 2, column 'a' " r"must be a probability, a finite number between 0 and 1; got inf\."),
        ("a,b,a\n0.5,0.5,0\n", (
r"own\.csv: the header, its first "
r"line, must name each category once; got 'a' in columns 1 and 3\. Give them different names\."
)),
        ("0.5,0.5\n0.4,0.6\n", (
r"own\.csv: the header, its first "
r"line, must name each category once; got '0\.5' in columns 1 and 2\. Give them different names\."
)),
        (b"\x89PNG\r\n\x1a\n\x00\x00", (
r"own\.csv must be in UTF-8; got "
r"a file that is probably no text\. Save it as CSV UTF-8\."
)),
        ('a,b\n"0,5","0,5"\n', (
r"own\.csv: line 2, column 'a' "
'must be a probability, a finite number between 0 and 1; got \'0,5\'\\. Write text such as "0\\.25" '
r'or "1/4", with a point and without a sign for percent\.'
)),
    ],
    ids=[
        "missing-column", "extra-column", "text", "empty-cell", "semicolons", "no-header", "only-header", "empty",
        "only-comments", "sum", "percentages", "negative", "nan", "infinite", "labels-twice", "numbers-twice",
        "picture", "decimal-comma",
    ],
)  # fmt: skip
def test_a_bad_csv_is_refused_with_the_place_and_what_to_do(write, content, message):
    with pytest.raises(ValueError, match=message):
        pr.load_source_set(write(content))


def test_a_csv_of_several_distributions_without_header_is_refused(write):
    with pytest.raises(ValueError, match="header"):
        pr.load_source_set(write("0.5,0.3,0.2\n0.4,0.4,0.2\n"))


def test_a_csv_with_an_index_column_is_refused(write):
    with pytest.raises(ValueError, match="column"):
        pr.load_source_set(write(",a,b\n0,0.5,0.5\n"))


@pytest.mark.parametrize("encoding", ["Latin-1", "UTF-16"])
def test_a_csv_in_another_encoding_is_refused_by_name(write, encoding):
    with pytest.raises(
        ValueError,
        match=rf"own\.csv must be in UTF-8; got a file that is probably in {encoding}\. Save it as CSV UTF-8\.",
    ):
        pr.load_source_set(write("grün,blau\n0.5,0.5\n".encode(encoding)))


@pytest.mark.parametrize("as_type", [str, Path])
def test_a_missing_file_is_named(tmp_path, as_type, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"must exist; got .*lost\.csv', which is no file.* Give the path of a"):
        pr.load_source_set(as_type(tmp_path / "lost.csv"))
    with pytest.raises(FileNotFoundError, match=re.escape(f"which is no file in {tmp_path.resolve()} or {ROOT}. Give")):
        monkeypatch.chdir(tmp_path)
        pr.read_source_set(as_type("lost.csv"))


def test_a_path_is_text_or_a_path():
    with pytest.raises(TypeError, match=r"path must be the path of a \.csv file, as text or a Path; got 3"):
        SourceSet.from_csv(3)


@pytest.mark.parametrize("name", ["P_II_7", "p_ii_6", "", None, 6, "../source_sets/P_II_6"])
def test_an_unknown_name_lists_what_is_allowed(name):
    with pytest.raises(
        ValueError, match=r"the source set must be one of P_I_2, .* or the path of a \.csv file"
    ) as raised:
        pr.load_source_set(name)
    for allowed in [repr(name), *PRINTED, ".csv file"]:
        assert allowed in str(raised.value)


def test_a_users_own_file_beside_those_of_the_papers_is_listed(write, tmp_path, monkeypatch):
    write("a,b\n0.5,0.5\n", "mine.csv")
    monkeypatch.setattr("paper_repro.sources._FOLDER", tmp_path)
    assert pr.source_set_names() == ["mine"]


def test_the_entries_of_a_column_are_no_names_of_categories():
    for make in (SourceSet.unknown, SourceSet.from_order):
        with pytest.raises(
            ValueError, match=r"each once; got .*\. Give each name once, such as by \.unique\(\) of a column\."
        ):
            make(["blue", "brown", "blue"])
