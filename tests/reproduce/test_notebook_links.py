"""Links in the text of notebooks: what they lead to must be there, and the heading or anchor within it."""

import re

import pytest

from paper_repro.paths import NOTEBOOKS

nbformat = pytest.importorskip("nbformat")

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
_LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(path):
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def anchors(path):
    text = prose(path)
    headings = [re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in re.findall(r"^#+ (.+)$", text, re.M)]
    return {*re.findall(r'<a id="([^"]+)">', text), *(heading.replace(" ", "-") for heading in headings)}


def broken(text, folder):
    """The relative links of a text in a folder that lead nowhere."""
    found = []
    for link in _LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = folder / name
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    assert not broken(prose(path), path.parent)


def test_broken_links_are_seen(tmp_path):
    (tmp_path / "page.md").write_text('# A heading\n<a id="row"></a>\n', encoding="utf-8")
    good = "[a](page.md#row) [b](page.md#a-heading) [c](page.md) [d](https://example.org/x#y)"
    assert not broken(good, tmp_path)
    assert broken("[a](page.md#column) [b](pages.md)", tmp_path) == ["page.md#column", "pages.md"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_notebook_is_one_step_from_the_first(path):
    assert f"({path.name})" in prose(NOTEBOOKS / "00_start_here.ipynb") or path.name == "00_start_here.ipynb"
