"""Figures: each is drawn from a table alone, never from a model, and saved with that table beside it."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.path
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.drawing import COLORS, DASHES, STYLE, as_image, canvas, draw_grid, need_columns, save_figure

__all__ = [
    "as_image",
    "draw_breakpoints",
    "draw_curves",
    "draw_falling",
    "draw_leakages",
    "draw_vertices",
    "save_figure",
]

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
        If a column is missing, or there are more curves than can be told apart (7).
    """
    need_columns(table, ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"])
    printed = table["curve"].eq("as printed")
    lemmas = table["curve"].str.startswith("Lemma")
    exact = table[~printed & ~lemmas]
    key = "source_set" if table["source_set"].nunique() > 1 else "curve"
    if exact[key].nunique() > len(COLORS):
        raise ValueError(
            f"{exact[key].nunique()} curves cannot be told apart, at most {len(COLORS)} can; draw fewer at a time"
        )
    styles = {
        name: {"color": COLORS[number % len(COLORS)], "linestyle": DASHES[number % len(DASHES)], "zorder": 3}
        for number, name in enumerate(dict.fromkeys(exact[key]))
    }
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 6.2 if printed.any() else 4.6), layout="constrained")
        axes, *rest = figure.subplots(
            2 if printed.any() else 1, 1, sharex=True, squeeze=False, height_ratios=[3, 1.3][: 1 + printed.any()]
        )[:, 0]
        for name, rows in exact.groupby(key, sort=False):
            draw_falling(axes, rows, "leakage", **styles[name])
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
            draw_falling(axes, rows, "leakage", ends=False, **{**style, **_PRINTED})
            draw_falling(rest[0], rows, "shortfall", **style)
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
        _place_legend(figure, axes, handles)
    return figure


def draw_vertices(table: pd.DataFrame, title: str = "") -> Figure:
    """The vertices of a source set as a shaded table: one row a vertex, one column a letter."""
    return draw_grid(table.set_axis([f"vertex {row + 1}" for row in range(len(table))]), title, "letter", "{:.2g}")


def draw_leakages(table: pd.DataFrame, title: str = "") -> Figure:
    """Least leakages as a shaded table: one row a source set, one column a distortion.

    ``table`` is as of :func:`paper_repro.tables.leakage_table`. Raises ValueError if ``source_set`` is missing.
    """
    need_columns(table, ["source_set"])
    return draw_grid(table.set_index("source_set"), title, f"{_DISTORTION}; entries: {_LEAKAGE}", "{:.3f}")


def draw_breakpoints(table: pd.DataFrame, title: str = "") -> Figure:
    """Exact breakpoints against printed thresholds, one line a source set.

    ``table`` is as of :func:`paper_repro.tables.breakpoint_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["source_set", "kind", "distortion", "leakage"])
    names = list(dict.fromkeys(table["source_set"]))
    with mpl.rc_context(STYLE):
        figure, axes = canvas(7.2, 1.3 + 0.42 * len(names))
        for row, name in enumerate(names):
            exact = table[(table["source_set"] == name) & (table["kind"] == "exact")]["distortion"]
            printed = table[(table["source_set"] == name) & (table["kind"] == "printed")]["distortion"]
            axes.plot([0, exact.max()], [row, row], color="0.75", linewidth=1, zorder=1)
            axes.plot(exact, [row + 0.14] * len(exact), marker="v", ls="", color=COLORS[1], ms=6, zorder=3)
            axes.plot(
                printed, [row - 0.16] * len(printed), marker="^", ls="", color=COLORS[2], mfc="white", ms=5.5, zorder=2
            )
        axes.set(xlabel=_DISTORTION, title=title, yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.25, linewidth=0.6)
        exact_mark = Line2D([], [], color=COLORS[1], marker="v", ls="", ms=6)
        printed_mark = Line2D([], [], color=COLORS[2], marker="^", ls="", mfc="white", ms=5.5)
        exact_mark.set_label("exact breakpoint (first: randomized response stops being best; last: nothing leaks)")
        printed_mark.set_label("threshold as printed in Theorems 1 and 2")
        figure.legend(handles=[exact_mark, printed_mark], loc="outside lower left")
    return figure


def draw_falling(axes: Axes, rows: pd.DataFrame, column: str, *, ends: bool = True, **style: Any) -> None:
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


def _place_legend(figure: Figure, axes: Axes, handles: list[Line2D]) -> None:
    """In the upper right corner, where falling curves leave room; beside the axes if they do not."""
    legend = axes.legend(handles=handles, loc="upper right")
    figure.draw_without_rendering()
    box = legend.get_window_extent().padded(3)
    for line in axes.lines:
        points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        if mpl.path.Path(points).intersects_bbox(box, filled=False):
            legend.remove()
            figure.legend(handles=handles, loc="outside right upper")
            return


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
