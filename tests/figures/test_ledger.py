"""The ledger as tables, pictures and pages; what the record does not have yet, in rows made up here."""

import itertools
import json
import re
from dataclasses import replace

import matplotlib.colors
import pytest

from paper_repro.claims import VERDICTS, read_ledger
from paper_repro.claims.base import PAPERS, WEIGHTS, claims_of, sample_of
from paper_repro.claims.verify import QUICK
from paper_repro.figures import ledger, ledger_pages
from paper_repro.figures.layout import check_text, finding_of
from paper_repro.paths import NOTEBOOKS, ROOT
from paper_repro.reproduce.formulas import failing_formulas, html_text, markdown_text

RECORD = read_ledger()
# A program that is false, two rows that use it, and one that uses one of these and stands.
FIRST, SECOND, THIRD, FOURTH = (row.name for row in RECORD[:4])
MADE_UP = [
    replace(
        RECORD[0],
        statement=r"For $D_1 < D$ and $\{P\}$: $\frac{1}{2} \le a^*$.",
        verdict="refuted",
        weight="false, relied on",
    ),
    replace(
        RECORD[1],
        rests_on=(FIRST,),
        verdict="corrected",
        weight="misprint",
        exact="$2^{-d}$",
        independent="a linear program",
    ),
    replace(RECORD[2], rests_on=(FIRST, SECOND), verdict="proved", tried=500, relevant=480, variants=3, rejected=2),
    replace(
        RECORD[3],
        rests_on=(SECOND,),
        verdict="holds",
        tried=500,
        relevant=40,
        reading="<b> & more",
        also=("kalantari2016: Lemma 1",),
    ),
]


@pytest.fixture(scope="module")
def table():
    return ledger.ledger_table()


@pytest.fixture(scope="module")
def pages():
    return ledger_pages.ledger_pages(RECORD)


@pytest.fixture
def made_up():
    return ledger_pages.ledger_pages(MADE_UP)


def test_the_table_is_the_record(table):
    assert table["name"].tolist() == [row.name for row in RECORD]
    assert table["verdict"].tolist() == [row.verdict for row in RECORD]
    assert table["rests_on"].tolist() == ["; ".join(row.rests_on) for row in RECORD]


def test_rows_are_filtered_by_paper_verdict_weight_and_text(table):
    found = ledger.ledger_table(papers=["zhong_bu2022"], verdicts=["corrected", "refuted"], text="PROPOSITION 12")
    assert 0 < len(found) < len(table)
    assert set(found["paper"]) == {"zhong_bu2022"}
    assert set(found["verdict"]) <= {"corrected", "refuted"}
    assert ledger.ledger_table(text="alvim2011.theorem_4_legal")["name"].tolist() == ["alvim2011.theorem_4_legal"]
    assert set(ledger.ledger_table(weights=["misprint"])["weight"]) <= {"misprint"}
    for unknown in ({"papers": ["dwork2006"]}, {"verdicts": ["true"]}, {"weights": ["heavy"]}):
        with pytest.raises(ValueError, match=r"unknown '(dwork2006|true|heavy)'; known are"):
            ledger.ledger_table(**unknown)


def test_the_summary_adds_up(table):
    summary = ledger.summary_table(table)
    assert summary.loc["all", "claims"] == len(table)
    assert (summary[list(VERDICTS)].sum(axis=1) == summary["claims"]).all()
    assert summary.loc["all", list(WEIGHTS)].sum() == (table["weight"] != "").sum()
    for paper, count in table["paper"].value_counts().items():
        assert summary.loc[paper, "claims"] == count


def grey(color):
    red, green, blue = matplotlib.colors.to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_verdicts_and_weights_are_told_apart_in_grey_and_by_their_names(table):
    summary = ledger.summary_table(table)
    figure = ledger.draw_verdicts(summary)
    check_text(figure)
    right = table["verdict"].isin(["proved", "reproduced", "holds", "loose"]).sum()
    corrected = table[table["verdict"] == "corrected"]
    finding, subtitle = finding_of(figure)
    assert finding == f"{right} of {len(table)} statements hold as printed, {len(corrected)} after a correction"
    misprints = (corrected["weight"] == "misprint").sum()
    assert subtitle.startswith(f"{misprints} of {len(corrected)} corrections are misprints; ")
    assert f"{(table['verdict'] == 'depends on the reading').sum()} statements depend on the reading" in subtitle
    papers = ["all", *(paper for paper in PAPERS if paper in summary.index)]
    for axes, names in zip(figure.axes, (VERDICTS, WEIGHTS), strict=True):
        assert {container.get_label() for container in axes.containers} == set(names)
        for left, right in itertools.pairwise(container.patches[0] for container in axes.containers):
            assert abs(grey(left.get_facecolor()) - grey(right.get_facecolor())) > 0.12
        totals = summary.loc[papers, list(names)].sum(axis=1)
        for row, (paper, total) in enumerate(totals.items()):
            widths = {container.get_label(): container.patches[row].get_width() for container in axes.containers}
            for name, width in widths.items():
                assert width == pytest.approx(100 * summary.loc[paper, name] / total)
        said = [text.get_text().replace("\n", " ") for text in axes.texts]
        assert {*names} <= set(said)
        assert sorted(int(text) for text in said if text.isdigit()) == sorted(
            count for count in summary[list(names)].to_numpy().ravel() if count
        )
    assert list(ledger_pages.MEANINGS) == [container.get_label() for container in figure.axes[0].containers]


def test_the_counts_open_with_the_statements_that_hold_and_add_up(table):
    numbers = [int(number) for number in re.findall(r"\d+", ledger_pages.counts_sentence(RECORD).replace(",", ""))]
    total, hold, proved, reproduced, tried, loose, corrected, misprints, read, false, garbled, unchecked, *rest = (
        numbers
    )
    assert hold == proved + reproduced + tried + loose
    assert total == len(table) == hold + corrected + read + false + garbled + unchecked
    assert misprints < corrected
    assert rest[0] == total - unchecked == (table["verdict"] != "not checkable").sum()
    assert (
        f"{hold} of {total} statements hold as printed"
        in finding_of(ledger.draw_verdicts(ledger.summary_table(table)))[0]
    )


def test_the_results_that_the_notebook_says_are_proved_are_proved():
    cells = json.loads((NOTEBOOKS / "11_ledger.ipynb").read_text(encoding="utf-8"))["cells"]
    (text,) = ["".join(cell["source"]) for cell in cells if cell["id"] == "verdicts-text"]
    section = text[text.index("## Results that hold") : text.index("## Verdicts")]
    named = {f"{paper}.{key}" for paper, key in re.findall(r"ledger_(\w+)\.md#(\w+)\)", section)}
    assert len(named) == 7
    assert {row.verdict for row in RECORD if row.name in named} == {"proved"}
    assert named <= {row.name for row in RECORD}
    assert "The bars do not rank papers or authors" in section and "do not rank" in ledger.VERDICTS_CAPTION


def test_a_ledger_of_one_paper_has_its_bars(table):
    summary = ledger.summary_table(table[table["paper"] == "alvim2011"])
    check_text(ledger.draw_verdicts(summary))


def test_every_row_has_an_anchor_on_the_page_of_its_paper_and_in_the_html(pages):
    for paper in PAPERS:
        keys = re.findall(r'^<a id="(\w+)"></a>\n\n###', pages[f"ledger_{paper}.md"], re.MULTILINE)
        assert keys == [row.name.partition(".")[2] for row in RECORD if row.paper == paper]
    assert re.findall(r'<details id="(\w+\.\w+)"', pages["ledger.html"]) == [row.name for row in RECORD]


def test_every_link_leads_somewhere(pages):
    anchors = {name: set(re.findall(r'<a id="([\w-]+)"', page)) for name, page in pages.items()}
    count = 0
    for page in (page for name, page in pages.items() if name.endswith(".md")):
        for target in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", page):
            path, _, fragment = target.partition("#")
            if path in pages:
                assert not fragment or fragment in anchors[path], target
            else:
                lines = (ROOT / "figures" / path).resolve().read_bytes().splitlines()
                start, end = map(int, re.fullmatch(r"L(\d+)-L(\d+)", fragment).groups()) if fragment else (1, 1)
                assert 1 <= start <= end <= len(lines)
            count += 1
    assert count > len(RECORD)
    html = pages["ledger.html"]
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(re.findall(r' id="([^"]+)"', html))


def test_a_link_to_a_check_shows_the_function():
    path, _, lines = ledger_pages._sources()["kalantari2016.lemma_1"].partition("#")
    start = int(re.match(r"L(\d+)", lines)[1])
    text = "\n".join((ROOT / path).read_text(encoding="utf-8").splitlines()[start - 1 : start + 3])
    assert "@" in text and "lemma_1" in text


def test_a_row_tells_all_that_is_known_of_it(made_up):
    page = made_up["ledger_alvim2011.md"]
    first, second, third, fourth = re.split(r'<a id="\w+"></a>\n\n###', page)[1:]
    assert (
        r"**refuted** (false, relied on): For $D _1 \lt  D$ and $\lbrace P\rbrace $: $\frac{1}{2} \le a^\ast $."
        in first
    )
    assert f"* **Used by:** Alvim et al. 2011, [{MADE_UP[1].number}](ledger_alvim2011.md#" in first
    assert "* **Sharper result:** $2^{-d}$" in second and "* **Independent computation:** a linear program" in second
    assert "* **Uses:**" in second and "* **Used by:**" in second
    assert (
        "* **Check:** 480 of 500 random cases met the hypotheses; control failed: only 2 of 3 altered "
        "statements get another verdict" in third
    )
    assert "* **Check:** named cases (40 of 500 random cases met the hypotheses)" in fourth
    assert (
        "* **Reading:** &lt;b&gt; &amp; more" in fourth
        and "* **Also stated in:** Kalantari et al. 2016: Lemma 1" in fourth
    )


def test_every_label_of_an_entry_is_explained(pages):
    shown = set()
    for paper in PAPERS:
        shown |= set(re.findall(r"^\* \*\*([^*]+):\*\*", pages[f"ledger_{paper}.md"], re.MULTILINE))
    assert shown == set(ledger_pages.LABELS)
    assert set(re.findall(r"<dt>([^<]+)</dt>", pages["ledger.html"])) >= shown


def test_every_entry_with_a_check_shows_the_command_that_runs_it(pages):
    for row in RECORD:
        command = f"`privacy-distortion verify --only {row.name}`"
        assert (command in pages[f"ledger_{row.paper}.md"]) == (row.verdict != "not checkable")


def test_a_statement_that_another_paper_shares_is_found_on_both_pages(pages):
    page, html = pages["ledger_kalantari2017.md"], pages["ledger.html"]
    assert "Lemma 3, proof (Kalantari et al. 2018, [Lemma 5, proof, worst source]" in page
    section = html[html.index('<h2 id="kalantari2017">') :]
    assert 'Lemma 3, proof (<a href="#kalantari2018.lemma_5_worst_source">' in section[: section.index("<details")]


def test_a_place_that_is_not_legible_is_not_said_to_state_the_same(pages):
    for row in RECORD:
        article = [place for place in row.also if place.startswith("kalantari2018:")]
        if row.paper == "kalantari2017" and "$" in row.statement:
            assert not article, row.name
        if "2018 article" in row.text and "not legible" in row.text and row.paper == "kalantari2017":
            assert not article, row.name
    entry = pages["ledger_kalantari2017.md"].split('<a id="theorem_2b_program"></a>')[1].split("<a id=")[0]
    assert "not compared):** Theorem 2(b), eqs. (10), (13)" in entry and "Also stated in" not in entry
    page, html = pages["ledger_kalantari2018.md"], pages["ledger.html"]
    stated, _, unread = page.partition("Places of this paper whose formulas are not legible in our copy")
    assert "Theorem 1, eq. (8) (Kalantari et al. 2017 (preprint), [Theorem 1, D" in unread
    assert "Theorem 1, eq. (8)" not in stated
    section = html[html.index('<h2 id="kalantari2018">') :]
    assert 'Theorem 1, eq. (8) (<a href="#kalantari2017.theorem_1_symmetric">' in section[: section.index("<details")]


def test_a_control_that_fails_is_said_to_fail():
    row = next(row for row in RECORD if row.variants == 1)
    assert "as it must" in dict(ledger_pages._facts(row))["Check"]
    assert "control failed: only 0 of 1" in dict(ledger_pages._facts(replace(row, rejected=0)))["Check"]


def test_the_counts_do_not_call_an_entry_checked_that_is_not():
    told = ledger_pages.counts_sentence(RECORD)
    left = sum(row.verdict == "not checkable" for row in RECORD)
    assert told.startswith(f"Of {len(RECORD)} statements in five papers, ")
    assert f"checked it: {len(RECORD) - left} statements in all, " in told
    assert f" and {left} cannot be checked. " in told


def test_the_index_has_the_key_the_matrix_and_the_findings(pages):
    index = pages["ledger.md"]
    for word, meaning in {**ledger_pages.MEANINGS, **WEIGHTS}.items():
        (line,) = re.findall(rf"^\| \*\*{re.escape(word)}\*\* \|(.*)\| {re.escape(meaning)} \|$", index, re.MULTILINE)
        cells = [int(re.search(r"\d+", re.sub(r"\(.*?\)", "", cell))[0]) for cell in line.split("|")]
        assert sum(cells[:-1]) == cells[-1] == sum(word in (row.verdict, row.weight) for row in RECORD)
    assert len(re.findall(r"^### \d+\. ", index, re.MULTILINE)) == 11
    assert index.count("**Counterexample.**") == 11
    for label, meaning in ledger_pages.LABELS.items():
        assert f"| **{label}** | {meaning} |" in index


def test_what_is_legible_only_in_the_preprint_is_said_of_the_preprint():
    for finding in ledger_pages.findings()[0]:
        if any("kalantari2017" in name or "theorem_2b" in name or "theorem_3" in name for name in finding["rows"]):
            assert "2018" not in finding["where"]


def test_no_formula_of_the_record_or_of_the_findings_fails():
    fields = ("number", "place", "text", "statement", "reading", "evidence", "correction", "exact", "independent")
    texts = [getattr(row, field) for row in RECORD for field in fields]
    texts += [str(text) for kind in ledger_pages.findings() for entry in kind for text in entry.values()]
    assert failing_formulas(texts) == []


@pytest.mark.parametrize("formula", [r"\nosuchcommand{a}", r"\frac{a}", "a_{", r"\left( a", "^", r"\mathit{ab}"])
def test_a_formula_that_fails_is_shown_as_it_is_written(formula):
    assert failing_formulas([f"If ${formula}$, then $a$."]) == [formula]
    assert html_text(f"If ${formula}$.") == f"If <code>{formula}</code>."


def test_formulas_survive_markdown():
    mistune = pytest.importorskip("mistune")
    formula = r"\hat{a}_{1} * \hat{b}_{2} * \{c_1, c_2\}\, |d| < e_1"
    assert markdown_text(r"$\operatorname{top}_2$") == r"$\mathrm{top} _2$"
    told = markdown_text(f"a_b_c, *d* and ${formula}$ or ${formula}$.")
    shown = mistune.create_markdown(escape=False)(told)
    assert "<em>" not in shown and "<strong>" not in shown
    for part in re.findall(r"\$(.+?)\$", told):
        assert mistune.html(part).strip().removeprefix("<p>").removesuffix("</p>") == part
    assert failing_formulas([told]) == []


def test_what_rests_on_what_is_told_from_the_root_down():
    rests = ledger_pages.rests_table(MADE_UP)
    assert rests[["root", "depth", "name", "on"]].values.tolist() == [
        [FIRST, 0, FIRST, ""],
        [FIRST, 1, SECOND, FIRST],
        [FIRST, 2, THIRD, SECOND],
        [FIRST, 2, FOURTH, SECOND],
    ]
    around = [replace(MADE_UP[0], rests_on=(FOURTH,)), *MADE_UP[1:]]
    assert set(ledger_pages.rests_table(around)["root"]) <= {FIRST, SECOND}
    assert ledger_pages.rests_table(MADE_UP[2:]).empty
    light = [replace(MADE_UP[0], weight="misprint"), *MADE_UP[1:]]
    assert ledger_pages.rests_table(light).empty


def test_the_picture_of_what_rests_on_what_names_every_row():
    for rows in (MADE_UP, RECORD):
        rests = ledger_pages.rests_table(rows)
        figure = ledger.draw_rests(rests)
        check_text(figure)
        shown = rests[rests["root"] == rests["root"].iloc[0]]
        labels = [text.get_text() for text in figure.axes[0].texts]
        assert labels[::3] == shown["number"].tolist()
        assert labels[2::3] == shown["verdict"].tolist()
        assert finding_of(figure)[0].startswith(f"{len(shown) - 1} entries use {shown['number'].iloc[0]}")
        told = ledger.rests_in_words(rests)
        assert all(number in told for number in shown["number"])


def test_the_html_asks_nobody_for_anything_and_is_the_same_each_time(made_up):
    html = made_up["ledger.html"]
    assert ledger_pages.ledger_pages(MADE_UP)["ledger.html"] == html
    assert not re.search(r"https?://|<link[^>]+href=\"(?!data:)|\bsrc=|@import|url\(|fetch\(|XMLHttp", html)
    assert "<math alttext=" in html and "<!--" not in html


def test_pages_are_written_where_they_are_wanted(tmp_path):
    ledger_pages.save_pages({"page.md": "# Page\n"}, "")
    ledger_pages.save_pages({"page.md": "# Page\n"}, tmp_path / "new")
    assert (tmp_path / "new" / "page.md").read_text(encoding="utf-8") == "# Page\n"
    with pytest.raises(ValueError, match="the name of a file must have"):
        ledger_pages.save_pages({"../page.md": "# Page\n"}, tmp_path)


def test_entries_are_checked_again(table):
    some = table[table["name"].isin(["kalantari2016.lemma_1", "alvim2011.theorem_4_legal"])]
    checked = ledger.checked_again(some.assign(verdict="holds", evidence=""))
    for name, verdict, evidence in checked[["name", "verdict", "evidence"]].itertuples(index=False):
        (claim,) = claims_of([name])
        assert evidence
        assert verdict == claim.find(sample_of(claim, 0, claim.instances(QUICK))).verdict
    with pytest.raises(ValueError, match="unknown claim 'nothing'"):
        ledger.checked_again(some.assign(name="nothing"))


def test_the_notebook_shows_the_rows_asked_for_and_every_finding(table):
    cells = json.loads((NOTEBOOKS / "11_ledger.ipynb").read_text(encoding="utf-8"))["cells"]
    assert len(cells) < 16
    outputs = {cell["id"]: cell.get("outputs", []) for cell in cells}
    told = ["".join(output["data"]["text/markdown"]) for output in outputs["findings"]]
    assert told == ledger_pages.finding_pages("../figures/")
    (rows,) = outputs["rows"]
    assert "".join(rows["data"]["text/markdown"]).count("\n") == 1 + (table["verdict"] == "refuted").sum()
