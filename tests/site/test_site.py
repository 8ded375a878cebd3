"""The built site: links, what a reader looks for, and every kind of page in a browser, without a request to anyone."""

import re

import pytest

from docs import build_site
from docs.links import broken
from paper_repro.claims import read_ledger
from paper_repro.paths import NOTEBOOKS, ROOT
from tests.browser import PROGRAM, Browser

SITE = ROOT / "build" / "site"
MADE_FROM = [ROOT / "data" / "ledger.csv", ROOT / "figures" / "manifest.json"]

in_browser = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium here: apt-get install chromium")


def site():
    pytest.importorskip("sphinx", reason="the site needs Sphinx: make setup")
    if not (SITE / "index.html").exists():
        pytest.skip("there is no site: make site")
    if any(path.stat().st_mtime > (SITE / "index.html").stat().st_mtime for path in MADE_FROM):
        pytest.skip("the site is older than what it shows: make site")
    return SITE


@pytest.fixture(scope="module")
def browser():
    site()
    with Browser() as one:
        yield one


@pytest.fixture
def page(browser):
    """A page; whatever a test did there, nothing went wrong and nobody was asked for anything."""
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.requests.clear()
    browser.complaints.clear()
    yield browser
    assert browser.complaints == []
    assert {request.partition(":")[0] for request in browser.requests} <= {"file", "data", "about"}


def text_of(name):
    return (site() / name).read_text(encoding="utf-8")


def test_every_link_leads_somewhere_and_nothing_is_elsewhere():
    assert broken(site()) == []


def test_what_is_broken_is_told(tmp_path):
    (tmp_path / "a.html").write_text('<a id="here"></a><a href="b.html"></a><img src="c.png"><a href="#there"></a>')
    (tmp_path / "d.html").write_text(
        "<a href='a.html#here'></a><a href='e.html'></a><script src='https://x.org/x.js'></script>"
    )
    (tmp_path / "e.css").write_text("@import 'https://x.org/x.css'; a { background: url(data:,) }")
    assert broken(tmp_path) == [
        "a.html: #there leads to no place in that page",
        "a.html: b.html leads to no file",
        "a.html: c.png leads to no file",
        "d.html: e.html leads to no file",
        "d.html: https://x.org/x.js is elsewhere",
        "e.css: https://x.org/x.css is elsewhere",
    ]


@pytest.mark.parametrize("paper", sorted({row.paper for row in read_ledger()}))
def test_a_page_of_a_paper_has_its_rows_its_functions_and_figures(paper):
    text = text_of(f"papers/{paper}.html")
    rows = [row for row in read_ledger() if row.paper == paper]
    linked = set(re.findall(rf'href="\.\./figures/ledger_{paper}\.html#(\w+)"', text))
    assert linked >= {row.name.partition(".")[2] for row in rows}
    assert 'href="../api/papers.html#paper_repro.papers.' in text


def test_every_chapter_and_every_notebook_is_on_the_first_page():
    linked = set(re.findall(r"""href=["']([^"'#]+)["']""", text_of("index.html")))
    assert linked >= {f"notebooks/{path.stem}.html" for path in NOTEBOOKS.glob("*.ipynb")}
    assert linked >= {
        f"{name}.html" for name in ("README", "CONTRIBUTING", "api/index", "figures/README", "papers/index")
    }
    assert linked >= {"figures/ledger.html", "figures/ledger_rows.html"}
    assert linked >= {f"docs/{path.stem}.html" for path in (ROOT / "docs").glob("*.md") if path.stem != "index"}
    assert ('href="../explorer.html"' in text_of("docs/the_explorer.html")) == (SITE / "explorer.html").exists()


def test_every_page_leads_to_the_glossary():
    for name in ("index.html", "README.html", "docs/guide.html", "notebooks/00_start_here.html", "papers/index.html"):
        assert re.search(r'href="[./]*(docs/)?glossary.html"', text_of(name)), name


def test_a_theorem_leads_to_its_function_row_and_figure():
    text = text_of("papers/kalantari2017.html")
    row = next(
        part for part in text.split("<tr") if "papers.kalantari2018.theorem_3" in part and "theorem_3_lower" in part
    )
    assert "figures/README.html#kalantari_theorem_3" in row


def test_every_page_says_where_it_comes_from():
    for path in site().rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if "<article" in text and path.name not in ("genindex.html", "py-modindex.html", "search.html"):
            assert '<p class="origin">From <code>' in text, path


@in_browser
def test_the_search_finds_theorem_3(page):
    page.open(site() / "search.html", "?q=Theorem+3")
    found = page.wait(
        "document.querySelectorAll('#search-results li a').length && "
        "[...document.querySelectorAll('#search-results li a')].map((link) => link.href)"
    )
    assert any("theorem_3" in link or "theorem-3" in link for link in found[:20])


@in_browser
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "notebooks/03_class_iii_sets.html",
        "notebooks/01_source_sets.html",
        "figures/README.html",
        "figures/ledger.html",
        "figures/ledger_zhong_bu2022.html",
        "figures/ledger_rows.html",
        "papers/kalantari2018.html",
        "api/sources.html",
        "paper_repro/tradeoff.html",
    ],
)
def test_no_page_is_wider_than_the_window_and_its_formulas_and_pictures_are_there(page, name, width):
    page.resize(width, 900)
    page.open(site() / name)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("[...document.images].every((one) => one.loading === 'lazy' || one.naturalWidth > 0)")
    assert page.run(r"[...document.querySelectorAll('article p')].every((one) => !/\$\S[^$]*\$/.test(one.textContent))")


def test_a_build_that_fails_says_why_and_leaves_the_site_as_it_was(tmp_path, monkeypatch, capsys):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("before")
    monkeypatch.setattr(build_site, "SITE", tmp_path / "site")
    monkeypatch.setattr(build_site, "NEW", tmp_path / "new")
    monkeypatch.setattr(build_site, "_explorer", lambda: tmp_path / "explorer.html")
    monkeypatch.setattr(build_site, "_gather", lambda explorer: None)
    monkeypatch.setattr(build_site, "_set", lambda: ["notebooks/a.ipynb:7: image file not readable: b.png"] * 2)
    assert build_site.main() == 1
    assert capsys.readouterr().err.splitlines() == [
        "notebooks/a.ipynb:7: image file not readable: b.png",
        "make site: 1 to mend; build/site is as it was",
    ]
    assert (tmp_path / "site" / "index.html").read_text() == "before"


def test_links_that_are_good_on_a_code_host_are_good_in_the_site():
    text = (
        "[a](../paper_repro/sources.py#L3-L9), [`b`](../paper_repro/curves.py), [c](ledger.html#x.y), [d](../notebooks)"
    )
    assert build_site._links(text, ROOT / "figures" / "page.md") == (
        "<a href='../paper_repro/sources.html#L3'>a</a>, <a href='../paper_repro/curves.html'>`b`</a>, "
        "<a href='ledger_rows.html#x.y'>c</a>, d"
    )
