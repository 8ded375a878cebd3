"""Figures: what is drawn, what can be read of it in grey print or by ear, and files that are whole or as they were."""

import functools
import itertools
import json
import os
import re
from pathlib import Path

import matplotlib.colors
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

import paper_repro as pr
from paper_repro.figures import leakage_curves, privacy_notions, source_sets, style
from paper_repro.paths import ROOT
from paper_repro.reproduce.runs import load_runs

pytest.importorskip("papermill")  # reads the parameters of the notebooks

DP, MI = pr.DifferentialPrivacy(), pr.MutualInformation()
NAMES = pr.source_set_names()
SIX, TEN = ([name for name in NAMES if name.endswith(size)] for size in ("_6", "_10"))
RUNS = {run.name: run.values for run in load_runs()}
SUFFIXES = [".png", ".svg", ".pdf", ".csv"]


def curves(names, notions=(DP,), **grid):
    return leakage_curves.curve_table(names, list(notions), points=60, **grid)


def with_printed(names, **grid):
    return pd.concat([curves(names, **grid), leakage_curves.printed_table(names, **grid)], ignore_index=True)


def with_lemma(name, **grid):
    return pd.concat([curves([name], [DP, MI], **grid), privacy_notions.lemma_table(name)], ignore_index=True)


DRAWN = {
    "figure_4": lambda: leakage_curves.draw_curves(with_printed(SIX), RUNS["figure_4"]["title"]),
    "figure_5": lambda: leakage_curves.draw_curves(with_printed(TEN), RUNS["figure_5"]["title"]),
    "figure_6": lambda: leakage_curves.draw_curves(with_lemma("P_I_10"), RUNS["figure_6"]["title"]),
    "figure_7": lambda: leakage_curves.draw_curves(with_lemma("P_II_10"), RUNS["figure_7"]["title"]),
    "breakpoints": lambda: source_sets.draw_breakpoints(source_sets.breakpoint_table(NAMES), "Breakpoints"),
    "leakages": lambda: leakage_curves.draw_leakages(
        leakage_curves.leakage_table(NAMES, RUNS["tables"]["distortions"]),
        "Least leakage in nats: differential privacy",
    ),
    **{
        table: lambda name=name, title=title: source_sets.draw_vertices(source_sets.vertex_table(name), title)
        for table, name, title in zip(
            *(RUNS["tables"][key] for key in ("table_names", "tables", "table_titles")), strict=True
        )
    },
}


@functools.cache
def drawn(name: str) -> Figure:
    figure = DRAWN[name]()
    figure.draw_without_rendering()
    return figure


@pytest.fixture
def jump() -> pd.DataFrame:
    """A curve with a jump at D = 0.3, and one that falls evenly."""
    columns = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]
    rows = [("jumps", "II", "differential privacy", *row) for row in [(0.1, 2, 2, ""), (0.2, 1.5, 1.5, "")]]
    rows += [("jumps", "II", "differential privacy", *row) for row in [(0.3, 1, 1, "open"), (0.3, 0, 0, "closed")]]
    rows += [
        ("jumps", "II", "differential privacy", 0.4, 0, 0, ""),
        ("jumps", "II", "differential privacy", 0.5, 0, 0, ""),
    ]
    rows += [
        ("falls", "I", "differential privacy", distortion, 5 - 10 * distortion, 0, "") for distortion in (0.1, 0.5)
    ]
    return pd.DataFrame(rows, columns=columns).astype({"leakage": float, "exact": float})


def visible_texts(figure: Figure) -> list[Text]:
    """Texts that are painted: tick labels beyond the ends of an axis exist too, but are not."""
    hidden = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:  # rounding of the limits
                    hidden += [tick.label1, tick.label2]
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and text not in hidden]


def lines_under_a_legend(figure: Figure) -> list[str]:
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    assert legends
    # Three pixels are half a marker.
    boxes = [legend.get_window_extent().padded(3) for legend in legends]
    return [
        f"{line.get_label()} from {line.get_xydata()[0]}"
        for axes in figure.axes
        for line in axes.lines
        for box in boxes
        if line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False)
    ]


def test_the_figures_here_are_those_of_the_notebooks():
    manifest = json.loads((ROOT / "figures" / "manifest.json").read_text())
    notebooks = {"leakage_curves.ipynb", "privacy_notions.ipynb", "source_sets.ipynb"}
    assert {name for name, entry in manifest.items() if entry["notebook"] in notebooks} == DRAWN.keys()


@pytest.mark.parametrize("name", ["figure_4", "figure_5", "figure_6", "figure_7"])
def test_curves_have_axes_with_units(name):
    axes = drawn(name).axes
    assert all(panel.get_ylabel().endswith("(nats)") for panel in axes)
    assert axes[-1].get_xlabel() == "worst-case Hamming distortion D (probability that a letter is changed)"
    assert [panel.get_xlabel() for panel in axes[:-1]] == [""] * (len(axes) - 1)
    assert axes[0].get_title(loc="left") == RUNS[name]["title"]


@pytest.mark.parametrize(
    ("name", "xlabel", "rows"),
    [
        ("breakpoints", "worst-case Hamming distortion D (probability that a letter is changed)", NAMES),
        (
            "leakages",
            "worst-case Hamming distortion D (probability that a letter is changed); entries: leakage (nats)",
            NAMES,
        ),
        ("table_2", "letter", ["vertex 1", "vertex 2"]),
    ],
)
def test_tables_name_their_rows_and_columns(name, xlabel, rows):
    (axes,) = drawn(name).axes
    assert " ".join(axes.get_xlabel().split()) == xlabel  # in lines that fit the figure
    assert [label.get_text() for label in axes.get_yticklabels()] == rows


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_vertices_shows_every_probability(name):
    table = source_sets.vertex_table(name)
    figure = source_sets.draw_vertices(table, name)
    shown = {text.get_text() for text in visible_texts(figure)}
    assert shown >= {f"{value:.2g}" for value in table.to_numpy().flat} | {*table.columns, name}


def test_a_table_of_leakages_names_its_unit():
    figure = leakage_curves.draw_leakages(leakage_curves.leakage_table(["P_II_6"], [0.1, 0.2, 0.3, 0.4, 0.5]))
    assert "nats" in " ".join(text.get_text() for text in visible_texts(figure))


def test_a_jump_is_a_break_with_an_open_and_a_closed_end(jump):
    (axes,) = leakage_curves.draw_curves(jump, "A jump").axes
    color = axes.lines[0].get_color()
    own = [line for line in axes.lines if line.get_color() == color]
    above, below, connector, opened, closed = own
    np.testing.assert_array_equal(above.get_xydata(), [[0.1, 2], [0.2, 1.5], [0.3, 1]])
    assert set(below.get_ydata()) == {0}
    assert below.get_xdata()[0] == 0.3
    # Thin, dotted and upright: no slope.
    np.testing.assert_array_equal(connector.get_xydata(), [[0.3, 1], [0.3, 0]])
    assert connector.get_linestyle() == ":"
    assert connector.get_linewidth() < above.get_linewidth() / 2
    for end, height, fill in ((opened, 1, "white"), (closed, 0, color)):
        assert end.get_xydata().tolist() == [[0.3, height]]
        assert (end.get_marker(), end.get_markerfacecolor()) == ("o", fill)
    entries = [text.get_text() for text in axes.get_legend().get_texts()]
    assert entries == ["Class II: jumps", "Class I: falls", "jump: open and closed end"]


@pytest.mark.parametrize(
    ("name", "place", "height"), [("figure_4", 0.3, 1.540445), ("figure_5", 0.7, 0.405465), ("figure_7", 0.7, 0.405465)]
)
def test_no_line_slopes_across_the_jump(name, place, height):
    axes = drawn(name).axes[0]
    (opened,) = (line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white")
    # The table has eight decimals.
    np.testing.assert_allclose(opened.get_xydata(), [[place, height]], atol=5e-7, rtol=0)
    crossing = [
        (x0, x1, line.get_linestyle())
        for line in axes.lines
        if line.get_color() == opened.get_color()
        for (x0, y0), (x1, y1) in itertools.pairwise(line.get_xydata())
        if x0 <= place <= x1 and min(y0, y1) < height / 2 < max(y0, y1)
    ]
    assert crossing == [(place, place, ":")]


def test_a_curve_without_jump_has_no_ends():
    axes = leakage_curves.draw_curves(curves(["P_I_6"])).axes[0]
    assert not [line for line in axes.lines if line.get_marker() == "o"]
    assert "jump" not in " ".join(text.get_text() for text in axes.get_legend().get_texts())


def test_printed_formulas_are_thin_lines_and_a_panel_of_their_own():
    table = with_printed(SIX)
    top, bottom = drawn("figure_4").axes
    printed = table[table["curve"] == "as printed"]
    assert "as printed, where it differs" in [text.get_text() for text in top.get_legend().get_texts()]
    assert bottom.get_ylabel() == "exact minus\nprinted (nats)"
    largest = max(max(line.get_ydata()) for line in bottom.lines)
    assert largest == (printed["exact"] - printed["leakage"]).max()
    assert len(leakage_curves.draw_curves(curves(SIX)).axes) == 1


def test_a_table_read_back_from_its_csv_draws_the_same(jump, tmp_path):
    expected = style.as_image(leakage_curves.draw_curves(jump), "A jump").data
    jump.to_csv(tmp_path / "jump.csv", index=False)
    assert style.as_image(leakage_curves.draw_curves(pd.read_csv(tmp_path / "jump.csv")), "A jump").data == expected


@pytest.mark.parametrize("name", ["figure_4", "figure_5", "figure_6", "figure_7", "breakpoints"])
def test_the_legend_covers_no_curve(name):
    assert lines_under_a_legend(drawn(name)) == []


@pytest.mark.parametrize(
    ("names", "smallest", "largest"),
    [
        *((names, *grid) for names in (SIX, TEN) for grid in [(0.005, 0.2), (0.005, 0.7), (0.2, 1.0), (0.0, 1.0)]),
        (SIX, 0.5, 0.9),
        (TEN, 0.5, 0.9),
        (SIX, 0.6, 0.65),
        (TEN, 0.6, 0.65),
    ],
)
def test_the_legend_covers_no_curve_on_another_grid(names, smallest, largest):
    table = curves(names, smallest_distortion=smallest, largest_distortion=largest)
    figure = leakage_curves.draw_curves(table, "Another grid")
    figure.draw_without_rendering()
    assert lines_under_a_legend(figure) == []


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_texts_overlap(name):
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in visible_texts(drawn(name))]
    assert len(boxes) > 10
    assert [(a, b) for (a, first), (b, second) in itertools.combinations(boxes, 2) if first.overlaps(second)] == []


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_is_cut_off(name):
    figure = drawn(name)
    # Half a pixel is lost in rounding.
    page = figure.bbox.padded(0.5)
    boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    assert [text for text, box in boxes if not (page.contains(*box.min) and page.contains(*box.max))] == []


@pytest.mark.parametrize("distortions", [[0.1], [0.1, 0.2]])
def test_no_text_is_cut_off_in_a_narrow_table(distortions):
    figure = leakage_curves.draw_leakages(
        leakage_curves.leakage_table(["P_II_6"], distortions), "Least leakage in nats"
    )
    figure.draw_without_rendering()
    width = figure.bbox.width
    assert [text.get_text() for text in visible_texts(figure) if text.get_window_extent().width > width] == []


def curve_styles(count: int, folder: Path) -> list[tuple[float, tuple[float, ...]]]:
    """Lightness (0 to 100) and dashes, in line widths, of each curve in the legend, as an SVG has them."""
    rows = [
        (f"s{n}", "I", "differential privacy", d, n + 1 - d, n + 1 - d, "") for n in range(count) for d in (0.1, 0.5)
    ]
    table = pd.DataFrame(rows, columns=["source_set", "class", "curve", "distortion", "leakage", "exact", "end"])
    style.save_figure(leakage_curves.draw_curves(table), table, "styles", folder, "Some curves")
    legend = (folder / "styles.svg").read_text().split('<g id="legend_1">')[1]
    found = []
    for found_style in re.findall(r'<path d="[^"]*" clip[^>]*style="([^"]*)"|<path d="[^"]*" style="([^"]*)"', legend):
        parts = dict(re.findall(r"([\w-]+): ([^;]+)", "".join(found_style)))
        if parts.get("fill") == "none" and "stroke" in parts:
            width = float(parts["stroke-width"])
            dashes = tuple(float(dash) / width for dash in parts.get("stroke-dasharray", "").split(",") if dash)
            linear = [
                c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                for c in matplotlib.colors.to_rgb(parts["stroke"])
            ]
            luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
            found.append((116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance, dashes))
    assert len(found) == count
    return found


def look_alike(first, second) -> bool:
    """Closer than 12 of 100 in lightness, which thin lines need, and dashes within a third of each other."""
    (lightness, dashes), (other_lightness, other_dashes) = first, second
    if abs(lightness - other_lightness) >= 12:
        return False
    return len(dashes) == len(other_dashes) and np.allclose(dashes, other_dashes, rtol=1 / 3)


def test_seven_curves_differ_in_grey_or_in_their_dashes(tmp_path):
    styles = curve_styles(7, tmp_path)
    alike = [(i, j) for (i, a), (j, b) in itertools.combinations(enumerate(styles), 2) if look_alike(a, b)]
    assert alike == []


def test_more_curves_than_styles_are_refused(tmp_path):
    with pytest.raises(ValueError, match="8 curves cannot be told apart, at most 7 can"):
        curve_styles(8, tmp_path)


@pytest.mark.parametrize(
    ("draw", "column"),
    [
        *(
            (leakage_curves.draw_curves, column)
            for column in ("source_set", "class", "curve", "distortion", "exact", "end")
        ),
        *((source_sets.draw_breakpoints, column) for column in ("source_set", "kind", "distortion", "leakage")),
        (leakage_curves.draw_leakages, "source_set"),
    ],
)
def test_a_missing_column_is_named(draw, column):
    table = {
        leakage_curves.draw_curves: lambda: curves(["P_I_6"]),
        source_sets.draw_breakpoints: lambda: source_sets.breakpoint_table(["P_I_6"]),
        leakage_curves.draw_leakages: lambda: leakage_curves.leakage_table(["P_I_6"], [0.1]),
    }[draw]()
    with pytest.raises(ValueError, match=f"the table lacks the column {column}; it has "):
        draw(table.drop(columns=column))


def test_all_missing_columns_are_named():
    with pytest.raises(ValueError, match="lacks the columns source_set, kind, leakage; it has distortion"):
        source_sets.draw_breakpoints(pd.DataFrame({"distortion": [0.1]}))


@pytest.mark.parametrize("text", ["a\n1\n", "a,b\n1,0\n", "a,b\n0.7,0.3\n", "a,b,c\n0.4,0.4,0.2\n"])
def test_small_sets_can_be_drawn(tmp_path, text):
    (tmp_path / "own.csv").write_text(text)
    own = str(tmp_path / "own.csv")
    for figure in (
        leakage_curves.draw_curves(curves([own], [DP, MI], smallest_distortion=0.0)),
        source_sets.draw_breakpoints(source_sets.breakpoint_table([own])),
        source_sets.draw_vertices(source_sets.vertex_table(own)),
        leakage_curves.draw_leakages(leakage_curves.leakage_table([own], [0.1, 1.0])),
    ):
        figure.draw_without_rendering()


def test_an_infinite_leakage_can_be_drawn():
    leakage_curves.draw_leakages(leakage_curves.leakage_table(["P_II_6"], [0.0, 0.1])).draw_without_rendering()


def test_an_infinite_leakage_is_shown():
    figure = leakage_curves.draw_leakages(leakage_curves.leakage_table(["P_II_6"], [0.0, 0.1, 0.2, 0.3, 0.4]))
    assert len(figure.axes[0].texts) == 5


@pytest.fixture
def save(jump, tmp_path):
    """Save the figure of ``jump`` into a folder, or into one with earlier files."""

    def _save(folder=tmp_path / "out", description="Two curves; one jumps.", **options):
        return style.save_figure(leakage_curves.draw_curves(jump), jump, "jump", folder, description, **options)

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


def test_four_files_are_saved_in_a_new_folder(save, jump, tmp_path):
    written = save(tmp_path / "new" / "out")
    assert [path.name for path in written] == [f"jump{suffix}" for suffix in SUFFIXES]
    assert sorted(written) == sorted((tmp_path / "new" / "out").iterdir()), "and nothing else"
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(starts.get(path.suffix, b"source_set,class,curve,")) for path in written)
    read = pd.read_csv(written[3], keep_default_na=False)
    pd.testing.assert_frame_equal(read, jump, check_dtype=False)
    assert b"\r" not in written[3].read_bytes()


def test_the_description_is_in_the_pictures_and_no_date(save, tmp_path):
    description = "Two curves; <one> jumps & falls to 0 at D ≥ 0.3, ε = 0."
    png, svg, pdf, _ = save(description=description)
    with Image.open(png) as image:
        assert image.text == {"Description": description}
    assert "<dc:description>Two curves; &lt;one&gt; jumps &amp; falls to 0 at D ≥ 0.3, ε = 0.<" in svg.read_text(
        "utf-8"
    )
    assert b"/Subject " in pdf.read_bytes()
    for content in (svg.read_bytes(), pdf.read_bytes()):
        assert not re.search(rb"dc:date|CreationDate|Producer|/Creator", content)


@pytest.mark.parametrize("kind", ["figure_4", "breakpoints", "table_1"])
def test_saving_twice_and_drawing_anew_give_the_same_bytes(kind, tmp_path, monkeypatch):
    # Not only when make sets it.
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    figure, table = DRAWN[kind](), pd.DataFrame({"a": [1.0]})
    for folder, one in (("first", figure), ("second", figure), ("anew", DRAWN[kind]())):
        style.save_figure(one, table, "same", tmp_path / folder, "The same")
    first = contents(tmp_path / "first")
    assert len(first) == 4
    assert contents(tmp_path / "second") == first
    assert contents(tmp_path / "anew") == first


def test_earlier_files_are_replaced(save, earlier):
    before = contents(earlier)
    save()
    after = contents(earlier)
    assert after.keys() == before.keys()
    assert not [name for name in after if after[name] == before[name]]


def test_an_unwritable_folder_is_named(save, tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(OSError, match=r"cannot write jump into .*file/out: Not a directory; name a folder you may"):
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
    with pytest.raises(OSError, match=r"cannot write jump into .*: No space left on device"):
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
    with pytest.raises(OSError, match="cannot write jump into"):
        save()
    assert contents(earlier) == before


def test_inputs_of_the_repository_are_listed_for_the_manifest(save, tmp_path):
    (tmp_path / "own.csv").write_text("a\n1\n")
    inputs = [ROOT / "data" / "source_sets" / "P_II_6.csv", tmp_path / "own.csv", str(ROOT / "README.md")]
    written = save(inputs=inputs)
    assert written[-1].name == "jump.inputs"
    assert written[-1].read_text() == "data/source_sets/P_II_6.csv\nREADME.md\n"


def test_no_list_of_inputs_without_inputs_of_the_repository(save, tmp_path):
    (tmp_path / "own.csv").write_text("a\n1\n")
    assert [path.suffix for path in save(inputs=[tmp_path / "own.csv"])] == SUFFIXES


def test_no_folder_writes_nothing(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert save("") == []
    assert list(tmp_path.iterdir()) == []


def test_an_image_for_a_notebook_has_alternative_text(jump, save):
    figure = leakage_curves.draw_curves(jump)
    data, metadata = style.as_image(figure, "Two curves; one jumps.")._repr_mimebundle_()
    assert data.keys() == {"image/png"}
    assert metadata["image/png"]["alt"] == "Two curves; one jumps."
    assert style.as_image(figure, "Two curves; one jumps.").data == save()[0].read_bytes()
