"""The ledger as tables, a picture and a page."""

import json
import re

import pytest

from paper_repro.claims import VERDICTS, read_ledger
from paper_repro.figures import ledger as page
from paper_repro.paths import NOTEBOOKS


@pytest.fixture(scope="module")
def ledger():
    return page.ledger_table()


def test_the_table_is_the_record(ledger):
    rows = read_ledger()
    assert ledger["check"].tolist() == [row.name for row in rows]
    assert ledger["verdict"].tolist() == [row.verdict for row in rows]


def test_rows_are_filtered_by_paper_verdict_and_text(ledger):
    found = page.ledger_table(papers=["zhong_bu2022"], verdicts=["corrected", "refuted"], text="proposition 12")
    assert 0 < len(found) < len(ledger)
    assert set(found["paper"]) == {"zhong_bu2022"}
    assert set(found["verdict"]) <= {"corrected", "refuted"}
    for unknown in ({"papers": ["dwork2006"]}, {"verdicts": ["true"]}):
        with pytest.raises(ValueError, match=r"unknown '(dwork2006|true)'; known are"):
            page.ledger_table(**unknown)


def test_the_summary_adds_up(ledger):
    summary = page.summary_table(ledger)
    assert summary.loc["all", "claims"] == len(ledger)
    assert (summary[list(VERDICTS)].sum(axis=1) == summary["claims"]).all()
    for paper, count in ledger["paper"].value_counts().items():
        assert summary.loc[paper, "claims"] == count


def test_the_picture_shows_every_verdict_by_more_than_color(ledger):
    summary = page.summary_table(ledger)
    figure = page.draw_verdicts(summary, "Verdicts")
    axes = figure.axes[0]
    widths = [bar.get_width() for container in axes.containers for bar in container]
    assert sum(widths) == len(ledger)
    looks = {(bar.patches[0].get_facecolor(), bar.patches[0].get_hatch()) for bar in axes.containers}
    assert len(looks) == len(VERDICTS)
    assert axes.get_xlabel() == "claims"


def test_the_page_has_a_row_for_every_claim(ledger):
    text = page.ledger_page(ledger)
    rows = [line for line in text.splitlines() if line.startswith("| ") and "**" in line]
    assert len(rows) == len(ledger)
    for line in rows:
        assert len(re.findall(r"(?<!\\)\|", line)) == 6, line
    assert text.count("\n## ") == ledger["paper"].nunique()


def test_a_page_is_written_where_it_is_wanted(tmp_path):
    page.save_page("# Page\n", "page", "")
    page.save_page("# Page\n", "page", tmp_path / "new")
    assert (tmp_path / "new" / "page.md").read_text(encoding="utf-8") == "# Page\n"


def test_a_claim_is_judged_again(ledger):
    row = ledger[ledger["verdict"] == "refuted"].iloc[0]
    said = page.finding_of(row["check"])
    assert row["statement"] in said
    assert "refuted" in said
    assert row["correction"] in said
    with pytest.raises(ValueError, match="unknown claim 'nothing'"):
        page.finding_of("nothing")


def test_the_notebook_judges_every_refutation_and_correction_again_and_tells_some_in_full(ledger):
    cells = {cell["id"]: cell for cell in json.loads((NOTEBOOKS / "ledger.ipynb").read_text(encoding="utf-8"))["cells"]}
    wrong = ledger[ledger["verdict"].isin(["refuted", "corrected"])]
    (output,) = cells["rows"]["outputs"]
    found = re.findall(r"^(refuted|corrected) +(\w+) \(", "".join(output["text"]), re.MULTILINE)
    names = wrong["check"].str.partition(".")[2]
    assert found == list(zip(wrong["verdict"], names, strict=True))
    in_full = re.findall(r'"(\w+\.\w+)"', "".join(cells["parameters"]["source"]))
    assert 10 < len(in_full) < 20
    assert set(in_full) <= set(wrong["check"])
