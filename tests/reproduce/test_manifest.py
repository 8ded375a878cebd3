"""What is in figures/: outputs that differ, nothing that is no longer drawn, and a page whose links lead somewhere."""

import hashlib
import io
import json
import re

import pytest
from PIL import Image, PngImagePlugin

from paper_repro.paths import ROOT
from paper_repro.reproduce.manifest import check_different, gallery, may_write, no_longer_drawn


def entry(*outputs, **told):
    return {"outputs": dict.fromkeys(outputs, ""), "notebook": "n.ipynb", **told}


def png(title, color):
    told, buffer = PngImagePlugin.PngInfo(), io.BytesIO()
    told.add_text("Title", title)
    Image.new("RGB", (3, 3), color).save(buffer, "png", pnginfo=told)
    return buffer.getvalue()


def test_outputs_that_are_the_same_are_named():
    check_different({"a.csv": b"x", "b.csv": b"y", "a.svg": b"x"})
    with pytest.raises(ValueError, match=r"figures must differ; got a\.csv and b\.csv with the same content"):
        check_different({"b.csv": b"x", "a.csv": b"x"})


def test_pictures_that_look_the_same_are_the_same_under_any_title():
    check_different({"a.png": png("one", "red"), "b.png": png("one", "blue")})
    with pytest.raises(ValueError, match=r"figures must differ; got a\.png and b\.png"):
        check_different({"a.png": png("one", "red"), "b.png": png("two", "red")})


def test_what_is_no_longer_drawn_goes_and_what_a_user_wrote_stays(tmp_path):
    earlier = {"old": {"outputs": {}}}
    for name in ("old.png", "changed.csv", "still.svg", "lost.md"):
        (tmp_path / name).write_text(name)
        earlier["old"]["outputs"][name] = hashlib.sha256(name.encode()).hexdigest()
    (tmp_path / "mine.csv").write_text("a user's")
    (tmp_path / "changed.csv").write_text("a user's")
    (tmp_path / "lost.md").unlink()
    # A manifest that someone edited names no file outside.
    outside = tmp_path.parent / "outside.csv"
    outside.write_text("outside")
    earlier["old"]["outputs"]["../outside.csv"] = hashlib.sha256(b"outside").hexdigest()
    assert no_longer_drawn(tmp_path, earlier, {"now": entry("still.svg")}) == [tmp_path / "old.png"]


def test_the_page_is_that_of_a_user_where_it_is_not_ours(tmp_path):
    page = tmp_path / "README.md"
    assert may_write(page)
    page.write_text(gallery({}, ".."))
    assert may_write(page)
    page.write_text("# My figures\n")
    assert not may_write(page)


def test_papers_come_in_order_and_figures_by_number():
    found = {
        "a": entry("a.csv", finding="A", source="Kalantari et al. 2018, Figure 10"),
        "b": entry("b.csv", finding="B", source="Kalantari et al. 2018, Figure 9"),
        "c": entry("c.csv", finding="C", source="Alvim et al. 2011, Figure 3"),
        "d": entry("d.csv", finding="D"),
        "e": entry("e.md"),
    }
    page = gallery(found, "..")
    assert re.findall(r"^## (.*)", page, re.MULTILINE) == [
        "Alvim et al. 2011", "Kalantari et al. 2018", "Beyond the papers", "Other files"
    ]  # fmt: skip
    assert re.findall(r'<a id="(\w)">', page) == list("cbade")


def test_a_row_shows_the_picture_says_what_it_finds_and_keeps_formulas():
    told = {
        "finding": "$P_1 < P_2$ | <now>",
        "subtitle": "of x",
        "description": 'Two "curves" | one & the\nother',
        "source": "A 2011, Figure 3",
        "ledger": ["a2011.lemma_2"],
    }
    (line,) = (
        line for line in gallery({"f": entry("f.png", "f.pdf", **told)}, "../n").splitlines() if 'id="f"' in line
    )
    picture, words = line.strip("| ").split(" | ")
    assert 'href="f.png"' in picture
    assert 'alt="Two &quot;curves&quot; &#124; one &amp; the other"' in picture
    assert words == (
        r'<a id="f"></a>**$P _1 \lt  P _2$ \| &lt;now&gt;.**<br>of x<br>A 2011, Figure 3<br>[PDF](f.pdf), '
        "[notebook](../n/n.ipynb); ledger: [lemma 2](ledger_a2011.md#lemma_2)"
    )


def test_every_link_of_the_stored_page_leads_somewhere():
    page = ROOT / "figures" / "README.md"
    if not page.exists():
        pytest.skip("not drawn yet")
    text = page.read_text("utf-8")
    assert text == gallery(json.loads((ROOT / "figures" / "manifest.json").read_text("utf-8")), "../notebooks")
    links = set(re.findall(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"", text))
    assert len(links) > 100
    for link in ("".join(pair) for pair in links):
        path, _, anchor = link.partition("#")
        assert (page.parent / path).is_file(), link
        assert not anchor or f'<a id="{anchor}"></a>' in (page.parent / path).read_text("utf-8"), link


def test_rows_of_the_ledger_that_notebooks_and_pages_name_exist():
    known = {line.partition(",")[0] for line in (ROOT / "data" / "ledger.csv").read_text("utf-8").splitlines()}
    sources = [*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "paper_repro" / "figures").glob("*.py")]
    rows = r'"((?:alvim2011|kalantari201[678]|zhong_bu2022)\.\w+)\\?"'
    named = {row: path.name for path in sources for row in re.findall(rows, path.read_text("utf-8"))}
    assert len(named) > 10
    assert {row: page for row, page in named.items() if row not in known} == {}
