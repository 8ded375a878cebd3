"""Figures: each is drawn from a table alone, never from a model, and saved with that table beside it."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.paths import ROOT

if TYPE_CHECKING:
    from IPython.display import Image

__all__ = ["as_image", "draw_breakpoints", "draw_curves", "draw_leakages", "draw_vertices", "save_figure"]

# Okabe and Ito's colors: told apart by all forms of color vision, and ordered here from dark to light for grey print.
# Lines differ in dashes too, so that color is never the only sign.
_COLORS = ["#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_DASHES: list[Any] = ["-", (0, (6, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1.5)), (0, (8, 2, 1, 2, 1, 2)), "--"]

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "figure.dpi": 120,
    "savefig.dpi": 160,
    "svg.hashsalt": "paper_repro",  # else the ids inside differ from run to run
    "svg.fonttype": "path",
    "pdf.compression": 6,
}
_ZERO = 1e-6
_PRINTED: dict[str, Any] = {"linestyle": (0, (1, 1.6)), "linewidth": 1.1}
_DISTORTION = "worst-case Hamming distortion D (probability that a letter is changed)"
_LEAKAGE = "leakage (nats)"


def draw_curves(table: pd.DataFrame, title: str = "") -> Figure:
    """Privacy-distortion curves, with every jump drawn as one; below them, how far printed formulas are off.

    Parameters
    ----------
    table : DataFrame
        As of :func:`paper_repro.tables.curve_table`, with rows of ``printed_table`` and ``lemma_table`` appended if wanted:
        formulas as printed become thin dotted lines and a second panel, lemmas become markers.
    title : str

    Raises
    ------
    ValueError
        If a column is missing.
    """
    _need(table, ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"])
    printed = table["curve"].eq("as printed")
    lemmas = table["curve"].str.startswith("Lemma")
    exact = table[~printed & ~lemmas]
    key = "source_set" if table["source_set"].nunique() > 1 else "curve"
    styles = {
        name: {"color": _COLORS[number % len(_COLORS)], "linestyle": _DASHES[number % len(_DASHES)], "zorder": 3}
        for number, name in enumerate(dict.fromkeys(exact[key]))
    }
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 6.2 if printed.any() else 4.6), layout="constrained")
        axes, *rest = figure.subplots(
            2 if printed.any() else 1, 1, sharex=True, squeeze=False, height_ratios=[3, 1.3][: 1 + printed.any()]
        )[:, 0]
        for name, rows in exact.groupby(key, sort=False):
            _draw_line(axes, rows, "leakage", **styles[name])
        handles = [
            Line2D(
                [],
                [],
                **style,
                label=f"Class {exact.loc[exact[key] == name, 'class'].iloc[0]}: {name}"
                if key == "source_set"
                else name,
            )
            for name, style in styles.items()
        ]
        for name, rows in (
            table[printed].assign(shortfall=table["exact"] - table["leakage"]).groupby("source_set", sort=False)
        ):
            style = styles[name if key == "source_set" else exact[key].iloc[0]]
            _draw_line(axes, rows, "leakage", ends=False, **{**style, **_PRINTED})
            _draw_line(rest[0], rows, "shortfall", **style)
        if printed.any():
            handles.append(Line2D([], [], color="0.3", **_PRINTED, label="as printed, where it differs"))
            rest[0].set(ylabel="exact minus\nprinted (nats)")
            rest[0].axhline(0, color="0.6", linewidth=0.8, zorder=1)
            rest[0].grid(alpha=0.25, linewidth=0.6)
        for lemma, rows in table[lemmas].groupby("curve", sort=False):
            handles.append(_draw_lemma(axes, str(lemma), rows))
        if exact["end"].eq("open").any():
            handles.append(
                Line2D(
                    [],
                    [],
                    color="0.3",
                    marker="o",
                    mfc="white",
                    ms=4.5,
                    ls=":",
                    lw=0.8,
                    label="jump: open and closed end",
                )
            )
        figure.axes[-1].set(xlabel=_DISTORTION, xlim=(0, float(table["distortion"].max())))
        axes.set(ylabel=_LEAKAGE, title=title)
        axes.axhline(0, color="0.6", linewidth=0.8, zorder=1)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.legend(handles=handles, loc="upper right")
    return figure


def draw_vertices(table: pd.DataFrame, title: str = "") -> Figure:
    """The vertices of a source set as a shaded table: one row a vertex, one column a letter."""
    return _draw_grid(table.set_axis([f"vertex {row + 1}" for row in range(len(table))]), title, "letter", "{:.2g}")


def draw_leakages(table: pd.DataFrame, title: str = "") -> Figure:
    """Least leakages as a shaded table: one row a source set, one column a distortion.

    ``table`` is as of :func:`paper_repro.tables.leakage_table`. Raises ValueError if ``source_set`` is missing.
    """
    _need(table, ["source_set"])
    return _draw_grid(table.set_index("source_set"), title, _DISTORTION, "{:.3f}")


def draw_breakpoints(table: pd.DataFrame, title: str = "") -> Figure:
    """Exact breakpoints against printed thresholds, one line a source set.

    ``table`` is as of :func:`paper_repro.tables.breakpoint_table`. Raises ValueError if a column is missing.
    """
    _need(table, ["source_set", "kind", "distortion", "leakage"])
    names = list(dict.fromkeys(table["source_set"]))
    with mpl.rc_context(_STYLE):
        figure, axes = _canvas(7.2, 1.3 + 0.42 * len(names))
        for row, name in enumerate(names):
            exact = table[(table["source_set"] == name) & (table["kind"] == "exact")]["distortion"]
            printed = table[(table["source_set"] == name) & (table["kind"] == "printed")]["distortion"]
            axes.plot([0, exact.max()], [row, row], color="0.75", linewidth=1, zorder=1)
            axes.plot(exact, [row + 0.14] * len(exact), marker="v", ls="", color=_COLORS[1], ms=6, zorder=3)
            axes.plot(
                printed, [row - 0.16] * len(printed), marker="^", ls="", color=_COLORS[2], mfc="white", ms=5.5, zorder=2
            )
        axes.set(xlabel=_DISTORTION, title=title, yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.25, linewidth=0.6)
        exact_mark = Line2D([], [], color=_COLORS[1], marker="v", ls="", ms=6)
        printed_mark = Line2D([], [], color=_COLORS[2], marker="^", ls="", mfc="white", ms=5.5)
        exact_mark.set_label("exact breakpoint (first: randomized response stops being best; last: nothing leaks)")
        printed_mark.set_label("threshold as printed in Theorems 1 and 2")
        figure.legend(handles=[exact_mark, printed_mark], loc="outside lower left")
    return figure


def save_figure(
    figure: Figure,
    table: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    description: str,
    inputs: Iterable[str | Path] = (),
) -> list[Path]:
    """Save a figure as PNG, SVG and PDF with its table as CSV; all four or none, earlier files being replaced at the end.

    Parameters
    ----------
    figure : Figure
    table : DataFrame
        What the figure was drawn from.
    name : str
        File name without ending.
    output_dir : str or Path
        Made if it does not exist; the empty string saves nothing.
    description : str
        Alternative text, stored in the three pictures.
    inputs : paths
        Data files behind the table; those of the repository are listed in ``<name>.inputs`` for the manifest.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OSError
        If the folder cannot be made or written into; what was there stays as it was.
    """
    if not output_dir:
        return []
    folder = Path(output_dir)
    contents = {f".{kind}": _rendered(figure, kind, description) for kind in ("png", "svg", "pdf")}
    contents[".csv"] = table.to_csv(index=False, lineterminator="\n").encode()
    if listed := [line for line in map(_relative, inputs) if line]:
        contents[".inputs"] = "".join(f"{line}\n" for line in listed).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as waiting:
            for suffix, content in contents.items():
                (Path(waiting) / f"{name}{suffix}").write_bytes(content)
            for suffix in contents:
                os.replace(Path(waiting) / f"{name}{suffix}", folder / f"{name}{suffix}")
    except OSError as error:
        raise OSError(f"cannot write {name} into {folder}: {error.strerror}; name a folder you may write to") from None
    return [folder / f"{name}{suffix}" for suffix in contents]


def as_image(figure: Figure, description: str) -> Image:
    """The figure as a notebook shows it: a PNG with alternative text."""
    from IPython.display import Image

    return Image(  # type: ignore[no-untyped-call]
        data=_rendered(figure, "png", description), format="png", width=720, alt=description
    )


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _draw_line(axes: Axes, rows: pd.DataFrame, column: str, *, ends: bool = True, **style: Any) -> None:
    """One curve, broken between the open and the closed end of each jump, and ended where it has reached 0 for good."""
    opens = [position for position, end in enumerate(rows["end"]) if end == "open"]
    above = rows[column].abs().gt(_ZERO).to_numpy().nonzero()[0]
    rows = rows.iloc[: max([*above, *opens], default=-1) + 2]
    starts = [0, *(position + 1 for position in opens)]
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        piece = rows.iloc[start:stop]
        axes.plot(piece["distortion"], piece[column], clip_on=False, **style)
    for position in opens if ends else []:
        jump = rows.iloc[position : position + 2]
        color, order = style["color"], style["zorder"]
        axes.plot(jump["distortion"], jump[column], ls=":", lw=0.8, color=color, zorder=order)
        for (_, end), fill in zip(jump.iterrows(), ("white", color), strict=True):
            axes.plot(
                end["distortion"], end[column], "o", color=color, mfc=fill, ms=4.5, zorder=order + 1, clip_on=False
            )


def _draw_lemma(axes: Axes, lemma: str, rows: pd.DataFrame) -> Line2D:
    """A closed form as markers, a single threshold as a line across; the handle for the legend."""
    if len(rows) == 1:
        place = float(rows["distortion"].iloc[0])
        axes.axvline(place, ymax=0.45, color="0.45", linestyle=(0, (4, 3)), linewidth=0.9, zorder=1)
        return Line2D(
            [],
            [],
            color="0.45",
            linestyle=(0, (4, 3)),
            linewidth=0.9,
            label=f"{lemma}: nothing need leak from D = {place:g}",
        )
    axes.plot(rows["distortion"], rows["leakage"], "D", color="0.3", mfc="white", ms=4, zorder=5, clip_on=False)
    return Line2D(
        [], [], color="0.3", marker="D", mfc="white", ms=4, ls="", label=f"{lemma}: closed form of mutual information"
    )


def _draw_grid(table: pd.DataFrame, title: str, xlabel: str, form: str) -> Figure:
    import seaborn

    rows, columns = table.shape
    with mpl.rc_context(_STYLE):
        figure, axes = _canvas(max(4.0, 1.2 + 0.62 * columns), 1.1 + 0.33 * rows)
        annotations = table.map(form.format)
        seaborn.heatmap(
            table, ax=axes, annot=annotations, fmt="", cmap="Blues", cbar=False, linewidths=0.5, linecolor="white",
            vmin=0, vmax=2.2 * float(table.to_numpy().max()), annot_kws={"size": 8},
        )  # fmt: skip
        axes.set(xlabel=xlabel, ylabel="", title=title)
        axes.tick_params(left=False, bottom=False, labelrotation=0)
    return figure


def _rendered(figure: Figure, kind: str, description: str) -> bytes:
    """The file's bytes; nothing in them tells when or where it was drawn."""
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None, "Description": description},
        "svg": {"Date": None, "Creator": None, "Description": description},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": description},
    }
    buffer = io.BytesIO()
    with mpl.rc_context(_STYLE):
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # arranged once, for all kinds of file
        figure.savefig(buffer, format=kind, metadata=metadata[kind])
    return buffer.getvalue()


def _need(table: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(
            f"the table lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
            f"it has {', '.join(map(str, table.columns))}"
        )


def _relative(path: str | Path) -> str:
    """A path inside the repository as the manifest names it; empty for files elsewhere."""
    resolved = Path(path).resolve()
    return resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else ""
