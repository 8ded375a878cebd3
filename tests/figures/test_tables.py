"""Tables: fractions kept, print set against exact, and the same cells in Markdown, LaTeX, HTML and CSV."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from paper_repro.figures.tables import differs, number_texts, publish_table, save_table, table_html

EXACT = pd.DataFrame({"$P_1$": [2 / 7, 0.32], "a & b_1": [0.25, 1.0]}, index=pd.Index(["x", "y|z"], name="prior"))
PRINTED = pd.DataFrame({"$P_1$": ["0.2857", "0.31"], "a & b_1": ["", "1"]}, index=EXACT.index)


def cells(page):
    """The texts of a table's rows, without tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [
        [html.unescape(re.sub(r"<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows
    ]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([2 / 7, 1 / 48, 0.0, 1.0], ["2/7", "1/48", "0", "1"]),
        ([2 / 7, 0.123456], ["0.2857", "0.1235"]),
        ([0.7, 0.15, 0.0], ["0.70", "0.15", "0.00"]),
        ([0.5, "•", ""], ["0.5", "•", ""]),
        ([3, 4], ["3", "4"]),
        ([np.nan, 0.5], ["nan", "0.5"]),
    ],
)
@pytest.mark.parametrize("kind", [None, object])
def test_numbers_are_fractions_or_aligned_decimals(values, texts, kind):
    assert number_texts(pd.DataFrame({"a": pd.Series(values, dtype=kind)}))["a"].tolist() == texts


@pytest.mark.parametrize(
    ("printed", "exact", "expected"),
    [
        ("0.24", 0.2449, False),
        ("0.24", 0.2451, True),
        ("1/3", 0.33333333, False),
        ("1/3", 0.3334, True),
        ("2", 2.4, True),
    ],
)
def test_print_differs_by_more_than_its_rounding(printed, exact, expected):
    assert differs(printed, exact) is expected


def test_the_same_cells_are_in_all_forms(tmp_path):
    written = save_table(
        EXACT, "t", tmp_path, "Better is possible", "$\\delta = 0.1$", printed=PRINTED, form="both", note="Seen & told."
    )
    csv, markdown, latex, told = (path.read_text("utf-8") for path in written)
    assert csv == "prior,$P_1$,a & b_1\nx,0.2857142857142857,0.25\ny|z,0.32,1.0\n"
    expected = [["0.2857 (2/7)", "0.2500 (1/4)"], [r"0.3200 (8/25) $\neq$ 0.31 in print", "1.0000 (1)"]]
    assert number_texts(EXACT, PRINTED, "both").to_numpy().tolist() == expected
    rows = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("|")]
    assert rows[0] == ["prior", "$P _1$", r"a &amp; b\_1"]
    assert rows[2:] == [["x", *expected[0]], [r"y\|z", f"**{expected[1][0]}**", expected[1][1]]]
    body = [line.rstrip("\\ ").split(" & ") for line in latex.splitlines() if line.endswith(r"\\")]
    assert body[1] == ["x", *expected[0]]
    assert body[2][1].endswith(rf"\bfseries {expected[1][0]}")
    assert r"prior & $P_1$ & a \& b\_1 \\" in latex
    assert r"\caption{Better is possible. $\delta = 0.1$. Seen \& told.}" in latex
    assert json.loads(told)["finding"] == "Better is possible"
    assert [path.read_bytes() for path in written] == [
        path.read_bytes()
        for path in save_table(
            EXACT, "t", tmp_path / "2", "Better is possible", "$\\delta = 0.1$", printed=PRINTED, form="both", note="Seen & told."
        )
    ]  # fmt: skip


def test_a_page_shows_what_differs_by_color_and_in_words(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    publish_table(EXACT, "t", "", "Better is possible", printed=PRINTED)
    (page,) = (one.data for one in shown)
    rows = cells(page)
    assert rows[1:] == [["x", "2/7", "1/4"], ["y|z", "8/25 ≠ 0.31 in print", "1"]]
    (marked,) = re.findall(r"#(T_\w+) \{\s+background-color: #F3D9C4;\s+color: #000000;\s+font-weight: bold", page)
    assert f'id="{marked}" class="data row1 col0"' in page
    # Two tables of one page do not share styles.
    assert marked not in table_html(number_texts(EXACT, PRINTED), "other", "Better")


def test_other_rows_of_print_and_other_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="what is printed must have the rows and columns"):
        number_texts(EXACT, PRINTED.iloc[:1])
    with pytest.raises(ValueError, match="the name of a file must have letters"):
        save_table(EXACT, "../t", tmp_path, "Better")
    assert save_table(EXACT, "t", "", "Better") == []
