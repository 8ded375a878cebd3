"""Figures: what is drawn, what can be read of it in grey print or by ear, and files that are whole or as they were."""

import base64
import html
import inspect
import itertools
import json
import os
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from paper_repro import figures
from paper_repro.figures.layout import check_text, visible_texts
from paper_repro.figures.saving import publish, save_figure
from paper_repro.figures.style import draw_shaded
from paper_repro.paths import ROOT
from tests.figures.pictures import DRAWN, drawn, lines_under_a_legend

PAGES = [import_module(f"paper_repro.figures.{found.name}") for found in pkgutil.iter_modules(figures.__path__)]
DRAWINGS = [getattr(page, name) for page in PAGES for name in page.__all__ if name.startswith("draw_")]
SUFFIXES = [".png", ".svg", ".pdf", ".csv", ".about"]
TABLE = pd.DataFrame({"x": [1.0, 2.0], "y": [0.5, 0.25]})


@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_what_draws_takes_a_table_and_never_a_model(draw):
    first, *others = inspect.signature(draw).parameters.values()
    assert first.annotation == "pd.DataFrame"
    for parameter in others:
        assert not re.search(r"SourceSet|Notion|Adjacency|Query|Mechanism", str(parameter.annotation))


def test_every_page_has_the_name_of_a_notebook_and_no_name_twice():
    notebooks = {re.sub(r"^\d+_", "", path.stem) for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {page.__name__.rpartition(".")[2] for page in PAGES} == notebooks | {
        "colorings",
        "curves",
        "layout",
        "ledger_pages",
        "own_tradeoffs",
        "registry",
        "saving",
        "simplex",
        "sliders",
        "style",
        "tables",
        "theorem_3",
    }
    # What a page's figures are called and cited with is asked of each by one name.
    names = [name for page in PAGES for name in page.__all__ if name != "cited_figure"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_missing_columns_are_named(draw):
    columns = re.findall(r'"([\w ]+)"', re.search(r"@drawing\((.*)\)", inspect.getsource(draw))[1])
    if columns:
        with pytest.raises(ValueError, match=rf"the table lacks the columns? .*{columns[0]}.*; it has other"):
            draw(pd.DataFrame({"other": [1.0]}))


def test_the_figures_here_are_those_of_the_notebooks():
    manifest = json.loads((ROOT / "figures" / "manifest.json").read_text())
    notebooks = {"02_leakage_curves.ipynb", "05_privacy_notions.ipynb", "01_source_sets.ipynb"}
    drawn_here = {name for name, entry in manifest.items() if f"{name}.png" in entry["outputs"]}
    assert {name for name in drawn_here if manifest[name]["notebook"] in notebooks} == DRAWN.keys()


@pytest.mark.parametrize("name", ["breakpoints"])
def test_the_legend_covers_no_curve(name):
    assert lines_under_a_legend(drawn(name)) == []


@pytest.mark.parametrize("name", DRAWN)
def test_all_text_can_be_read_in_print(name):
    assert len(visible_texts(drawn(name))) > 10
    check_text(drawn(name))


def figure_of(table):
    return draw_shaded(table, "Some numbers", "column", "{:.2f}")


@pytest.fixture
def save(tmp_path):
    """Save a figure of ``TABLE`` into a folder, or into one with earlier files."""

    def _save(folder=tmp_path / "out", description="Numbers.", name="jump", **options):
        return save_figure(figure_of(TABLE), TABLE, name, folder, description, **options)

    return _save


@pytest.fixture
def earlier(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for suffix in SUFFIXES:
        (folder / f"jump{suffix}").write_text(f"earlier {suffix}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_four_files_are_saved_in_a_new_folder(save, tmp_path):
    written = save(tmp_path / "new" / "out")
    assert [path.name for path in written] == [f"jump{suffix}" for suffix in SUFFIXES]
    assert sorted(written) == sorted((tmp_path / "new" / "out").iterdir()), "and nothing else"
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".about": b"{"}
    assert all(path.read_bytes().startswith(starts.get(path.suffix, b"x,y\n")) for path in written)
    read = pd.read_csv(written[3], keep_default_na=False)
    pd.testing.assert_frame_equal(read, TABLE, check_dtype=False)
    assert b"\r" not in written[3].read_bytes()


def test_the_description_is_in_the_pictures_and_no_date(save, tmp_path):
    description = "Two curves; <one> jumps & falls to 0 at D ≥ 0.3, ε = 0."
    png, svg, pdf, *_ = save(description=description)
    with Image.open(png) as image:
        assert image.text == {"Title": "Some numbers", "Description": description}
    assert "<dc:description>Two curves; &lt;one&gt; jumps &amp; falls to 0 at D ≥ 0.3, ε = 0.<" in svg.read_text(
        "utf-8"
    )
    assert b"/Subject " in pdf.read_bytes()
    for content in (svg.read_bytes(), pdf.read_bytes()):
        assert not re.search(rb"dc:date|CreationDate|Producer|/Creator", content)


@pytest.mark.parametrize("kind", ["breakpoints", "leakages"])
def test_saving_twice_and_drawing_anew_give_the_same_bytes(kind, tmp_path, monkeypatch):
    # Not only when make sets it.
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    figure, table = DRAWN[kind](), pd.DataFrame({"a": [1.0]})
    for folder, one in (("first", figure), ("second", figure), ("anew", DRAWN[kind]())):
        save_figure(one, table, "same", tmp_path / folder, "The same")
    first = contents(tmp_path / "first")
    assert len(first) == 5
    assert contents(tmp_path / "second") == first
    assert contents(tmp_path / "anew") == first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a name that is much too long for a figure of this width, however it is written", "leaves the figure"),
        ("x", "6 p"),
    ],
)
def test_a_figure_whose_text_cannot_be_read_is_not_saved(earlier, text, message):
    figure = figure_of(TABLE)
    figure.text(0.1, 0.5, text, size=6 if text == "x" else 9)
    before = contents(earlier)
    with pytest.raises(ValueError, match=f"jump: the text '{text}.*{message}"):
        save_figure(figure, TABLE, "jump", earlier, "Numbers.")
    assert contents(earlier) == before
    assert save_figure(figure, TABLE, "jump", "", "Numbers.") == [], "and a notebook still shows it"


def test_earlier_files_are_replaced(save, earlier):
    before = contents(earlier)
    save()
    after = contents(earlier)
    assert after.keys() == before.keys()
    assert not [name for name in after if after[name] == before[name]]


def test_an_unwritable_folder_is_named(save, tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(
        OSError, match=r"you may write to; got .*file/out' for jump.+ \(Not a directory\)\. Name another folder"
    ):
        save(tmp_path / "file" / "out")
    assert (tmp_path / "file").read_text() == "a file, not a folder"


@pytest.mark.parametrize("failing", [1, 3])
def test_earlier_files_stay_when_the_disk_is_full(save, earlier, monkeypatch, failing):
    before, calls, write = contents(earlier), itertools.count(1), Path.write_bytes

    def write_until_full(path, data):
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_until_full)
    with pytest.raises(OSError, match=r"you may write to; got .* for jump.+ \(No space left on device\)"):
        save()
    assert contents(earlier) == before
    assert len(list(earlier.iterdir())) == len(before), "nothing is left over"


def test_earlier_files_stay_when_drawing_fails(save, earlier, monkeypatch):
    before = contents(earlier)
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save()
    assert contents(earlier) == before


def test_earlier_files_stay_when_one_cannot_be_replaced(save, earlier):
    os.remove(earlier / "jump.svg")
    (earlier / "jump.svg").mkdir()
    before = contents(earlier)
    with pytest.raises(OSError, match=r"you may write to; got .* for jump"):
        save()
    assert contents(earlier) == before


@pytest.mark.parametrize("name", ["../x", "/abs/x", "", "a/b", "a\nb", ".x"])
@pytest.mark.parametrize("folder", ["", "out"])
def test_a_name_that_leaves_the_folder_is_refused(save, tmp_path, folder, name):
    with pytest.raises(ValueError, match="the name of a file must have letters, digits, spaces"):
        save(folder and tmp_path / folder, name=name)
    assert list(tmp_path.iterdir()) == []


def test_what_make_figures_drew_is_not_overwritten(save, earlier):
    (earlier / "manifest.json").write_text("{}")
    before = contents(earlier)
    with pytest.raises(ValueError, match="output_dir must be another folder than that of the papers' figures; got"):
        save()
    assert contents(earlier) == before


def test_what_the_manifest_is_told(save, tmp_path):
    (tmp_path / "own.csv").write_text("a\n1\n")
    inputs = [ROOT / "data" / "source_sets" / "P_II_6.csv", tmp_path / "own.csv", str(ROOT / "README.md")]
    told = json.loads(save(inputs=inputs, source="Kalantari et al. 2018, Table I", ledger=["a.b"])[-1].read_text())
    assert told["inputs"] == ["data/source_sets/P_II_6.csv", "README.md"], "and nothing of a user's"
    assert (told["source"], told["ledger"]) == ("Kalantari et al. 2018, Table I", ["a.b"])


def test_no_folder_writes_nothing(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert save("") == []
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_what_is_saved_with_alternative_text(save, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    publish(figure_of(TABLE), TABLE, "jump", tmp_path / "out", "Numbers.")
    (page,) = shown
    picture = base64.b64encode((tmp_path / "out" / "jump.png").read_bytes()).decode()
    assert f'src="data:image/png;base64,{picture}"' in page.data
    assert 'alt="Numbers."' in page.data
    assert contents(tmp_path / "out") == {path.name: path.read_bytes() for path in save(tmp_path / "again")}


def test_what_a_notebook_shows_keeps_its_size_alternative_text_and_caption_when_exported(monkeypatch):
    exporters = pytest.importorskip("nbconvert.exporters")
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    publish(
        figure_of(TABLE), TABLE, "jump", "", 'Numbers, "all" < 2.', caption="Dots are $x^2$", source="A paper, Figure 3"
    )
    data = {"text/html": shown[0].data, "text/plain": "a figure"}
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", data)])
    page, _ = exporters.HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    (image,) = re.findall(r"<img [^>]*>", page)
    assert 'width="336"' in image, "a column at 96 pixels an inch"
    assert html.unescape(re.search(r"""alt=(["'])(.*?)\1""", image)[2]) == 'Numbers, "all" < 2.'
    assert "<figcaption>Dots are x^2. Source: A paper, Figure 3.</figcaption>" in page, "not the title again"


def test_svg_and_pdf_are_read_aloud_and_have_fonts_that_journals_take(save):
    _, svg, pdf, *_ = (path.read_bytes() for path in save(description="Two < three."))
    root = ElementTree.fromstring(svg)
    title, told = root[:2]
    assert (title.text, told.text) == ("Some numbers", "Two < three.")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == f"{title.get('id')} {told.get('id')}"
    assert b"/Type3" not in pdf and b"/FontFile2" in pdf and b"/Title (Some numbers)" in pdf
    # Found as a reader finds it: from the end, by the places that the last table of references gives.
    start = int(pdf.rpartition(b"startxref\n")[2].split()[0])
    trailer = pdf[start:].partition(b"trailer")[2]
    number = re.search(rb"/Root (\d+) 0 R", trailer)[1]
    place = int(re.search(rb"\n%b 1\n(\d{10}) 00000 n" % number, pdf[start:])[1])
    assert re.match(rb"%b 0 obj\n<<[^>]*/Type /Catalog[^>]*/Lang \(en\)" % number, pdf[place:])
    assert pdf[int(re.search(rb"/Prev (\d+)", trailer)[1]) :].startswith(b"xref")
