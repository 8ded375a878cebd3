"""Source sets on file: Tables I-IV as printed, where they come from, and a user's own CSV."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.papers import kalantari2018
from paper_repro.paths import DATA, ROOT
from paper_repro.sources import source_set_path

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
    assert re.match(r"# .*\b(Table|Figure|Section|Theorem|Example|uniform|checks)\b", path.read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("size", [6, 10])
def test_sets_a_b_and_c_contain_one_another(size):
    nested = [pr.load_source_set(f"P_{group}_{size}").vertices for group in ("II", "IIIa", "IIIb", "IIIc")]
    for smaller, larger in itertools.pairwise(nested):
        assert len(smaller) < len(larger)
        np.testing.assert_array_equal(larger[: len(smaller)], smaller)


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
    ],
    ids=["plain", "comments", "bom", "bom-comment", "crlf", "no-newline", "spaces", "quotes", "numbers", "exponents"],
)
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
        ("a,b,c\n0.5,0.3,0.2\n0.5,0.5\n", r"own\.csv, line 3: 2 columns where the header names 3 letters"),
        ("# a\n\na,b\n0.5,0.3,0.2\n", r"own\.csv, line 4: 3 columns where the header names 2 letters"),
        ("a,b,c\n0.5,much,0.2\n", r"own\.csv, line 2, column 'b': 'much' is not a number; write a probability"),
        ("a,b,c\n0.5,,0.5\n", r"own\.csv, line 2, column 'b': '' is not a number"),
        ("a;b\n0,5;0,5\n", r"own\.csv, line 2: 3 columns where the header names 1 letters"),
        ("0.5,0.5\n", r"own\.csv: needs a header that names the letters and at least one line"),
        ("a,b\n", r"own\.csv: needs a header that names the letters and at least one line"),
        ("", r"own\.csv: needs a header that names the letters and at least one line"),
        ("# a comment\n\n", r"own\.csv: needs a header that names the letters and at least one line"),
        ("a,b\n0.5,0.4\n", r"own: row 0 sums to 0\.9; every row must sum to 1 within 1e-09: correct the row"),
        ("a,b\n0.5,0.5\n50,50\n", r"own: row 1 sums to 100\.0; every row must sum to 1"),
        ("a,b\n1.5,-0.5\n", r"own: row 0, letter 1 is -0\.5; every probability must be a finite number between 0 and 1"),
        ("a,b\nnan,1\n", r"own: row 0, letter 0 is nan; every probability must be a finite number between 0 and 1"),
        ("a,b\ninf,0\n", r"own: row 0, letter 0 is inf"),
        ("a,a\n0.5,0.5\n", r"labels must be 2 distinct names, one per letter, got \['a', 'a'\]"),
    ],
    ids=[
        "missing-column", "extra-column", "text", "empty-cell", "semicolons", "no-header", "only-header", "empty",
        "only-comments", "sum", "percentages", "negative", "nan", "infinite", "labels-twice",
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


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_csv_in_another_encoding_is_refused_by_name(write, encoding):
    with pytest.raises(ValueError, match=r"own\.csv.*UTF-8"):
        pr.load_source_set(write("grün,blau\n0.5,0.5\n".encode(encoding)))


@pytest.mark.parametrize("as_type", [str, Path])
def test_a_missing_file_is_named(tmp_path, as_type):
    with pytest.raises(FileNotFoundError, match=r"no source set file .*lost\.csv; give the path of an existing \.csv"):
        pr.load_source_set(as_type(tmp_path / "lost.csv"))


@pytest.mark.parametrize("name", ["P_II_7", "p_ii_6", "", "P_II_6.CSV", "../source_sets/P_II_6"])
def test_an_unknown_name_lists_what_is_allowed(name):
    with pytest.raises(ValueError, match="unknown source set") as raised:
        pr.load_source_set(name)
    for allowed in [repr(name), *PRINTED, ".csv file"]:
        assert allowed in str(raised.value)


def test_a_users_own_file_beside_those_of_the_papers_is_listed(write, tmp_path, monkeypatch):
    write("a,b\n0.5,0.5\n", "mine.csv")
    monkeypatch.setattr("paper_repro.sources._FOLDER", tmp_path)
    assert pr.source_set_names() == ["mine"]
