"""Figures of source sets in the simplex of three letters, and of colorings; each is drawn from a table alone."""

from __future__ import annotations

import math

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle

from paper_repro.drawing import COLORS, DASHES, STYLE, as_image, canvas, need_columns, save_figure

__all__ = ["as_image", "draw_bounds", "draw_coloring", "draw_shapes", "save_figure"]

_HATCHES = ["////", "\\\\\\\\", "....", "xxxx", "----", "oooo"]
_HEIGHT = math.sqrt(3) / 2


def draw_shapes(table: pd.DataFrame, title: str = "", columns: int = 3) -> Figure:
    """Shapes in the simplex, one panel each; grey lines part the ordered regions.

    ``table`` is as of :func:`paper_repro.simplex_tables.class_shapes`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["panel", "shape", "kind", "label", "x1", "x2", "x3"])
    panels = list(table.groupby("panel", sort=False))
    across, down = min(columns, len(panels)), math.ceil(len(panels) / columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.0 * across + 0.2, 2.95 * down + 0.5), layout="constrained")
        places = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (panel, rows) in zip(places, panels, strict=False):
            _simplex(axes)
            axes.set_title(panel, fontsize=9)
            labels = list(dict.fromkeys(rows["label"]))
            regions = (rows["kind"] == "region").all()
            for _, corners in rows.groupby("shape", sort=False):
                number = labels.index(corners["label"].iloc[0])
                points = [_place(*corner) for corner in corners[["x1", "x2", "x3"]].itertuples(index=False)]
                if regions:
                    middle = (sum(x for x, _ in points) / 3, sum(y for _, y in points) / 3)
                    axes.text(*middle, corners["label"].iloc[0], ha="center", va="center", fontsize=6.5)
                _add(axes, points, COLORS[1 + number % 6], _HATCHES[number % 6], fill=not regions)
            if not regions and labels != [""]:
                axes.legend(
                    handles=[
                        Patch(facecolor="none", edgecolor=COLORS[1 + n % 6], hatch=_HATCHES[n % 6], label=label)
                        for n, label in enumerate(labels)
                    ],
                    loc="upper center",
                    bbox_to_anchor=(0.5, -0.04),
                    fontsize=7,
                    ncols=2 if len(labels) > 3 else 1,
                )
        for axes in places[len(panels) :]:
            axes.axis("off")
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


def draw_coloring(table: pd.DataFrame, title: str = "") -> Figure:
    """Colors of a mechanism's entries, black, red and white with their probabilities; columns of zeros are crossed out.

    ``table`` is as of :func:`paper_repro.simplex_tables.coloring_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["true", "published", "probability", "color"])
    letters = list(dict.fromkeys(table["true"]))
    faces = {"black": "#222222", "red": COLORS[2], "white": "white", "none": "#DDDDDD"}
    hatches = {"red": "....", "none": "xx"}
    with mpl.rc_context(STYLE):
        figure, axes = canvas(max(4.2, 0.75 * len(letters) + 1.6), 0.55 * len(letters) + 1.5)
        for row in table.itertuples():
            x, y = letters.index(row.published), letters.index(row.true)
            axes.add_patch(
                Rectangle(
                    (x, y),
                    1,
                    1,
                    facecolor=faces[str(row.color)],
                    hatch=hatches.get(str(row.color), ""),
                    edgecolor="0.55",
                    linewidth=0.7,
                )
            )
            box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
            axes.text(x + 0.5, y + 0.5, f"{row.probability:.3f}", ha="center", va="center", fontsize=8, bbox=box)
        axes.set(
            xlim=(0, len(letters)), ylim=(len(letters), 0), xlabel="published letter", ylabel="true letter", title=title
        )
        middle = [place + 0.5 for place in range(len(letters))]
        axes.set_xticks(middle, letters)
        axes.set_yticks(middle, letters)
        axes.tick_params(left=False, bottom=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        names = {
            "black": "black: larger of a critical pair",
            "red": "red: smaller",
            "white": "white: neither",
            "none": "suppressed",
        }
        used = [color for color in names if color in set(table["color"])]
        handles = [
            Patch(facecolor=faces[color], hatch=hatches.get(color, ""), edgecolor="0.55", label=names[color])
            for color in used
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def draw_bounds(table: pd.DataFrame, title: str = "") -> Figure:
    """Theorem 3's two bounds, corrected and as printed, with the exact least leakage.

    ``table`` is as of :func:`paper_repro.simplex_tables.theorem_3_table`. Raises ValueError if a column is missing.
    """
    lines = {
        "exact": ("exact", COLORS[0], DASHES[0], 1.9),
        "corrected lower": ("lower bound, largest ratio", COLORS[1], DASHES[1], 1.4),
        "corrected upper": ("upper bound, largest ratio", COLORS[2], DASHES[3], 1.4),
        "lower": ("lower bound as printed", COLORS[6], DASHES[2], 1.2),
        "upper": ("upper bound as printed", COLORS[5], DASHES[4], 1.2),
    }
    need_columns(table, ["distortion", *lines])
    with mpl.rc_context(STYLE):
        figure, axes = canvas(7.2, 4.2)
        handles = []
        for column, (label, color, dashes, width) in lines.items():
            axes.plot(table["distortion"], table[column], color=color, linestyle=dashes, linewidth=width)
            handles.append(Line2D([], [], color=color, linestyle=dashes, linewidth=width, label=label))
        axes.set(xlabel="worst-case Hamming distortion D", ylabel="leakage (nats)", title=title)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.legend(handles=handles)
    return figure


def _simplex(axes: Axes) -> None:
    corners = [_place(1, 0, 0), _place(0, 1, 0), _place(0, 0, 1)]
    axes.add_patch(Polygon(corners, closed=True, facecolor="none", edgecolor="0.3", linewidth=1.0, zorder=1))
    for near, far in (((1, 0, 0), (0, 0.5, 0.5)), ((0, 1, 0), (0.5, 0, 0.5)), ((0, 0, 1), (0.5, 0.5, 0))):
        (x0, y0), (x1, y1) = _place(*near), _place(*far)
        axes.plot([x0, x1], [y0, y1], color="0.75", linewidth=0.7, linestyle=DASHES[1], zorder=0)
    for (x, y), name, shift in zip(
        corners, ("x1", "x2", "x3"), ((-0.05, -0.02), (0.05, -0.02), (0, 0.05)), strict=True
    ):
        axes.text(x + shift[0], y + shift[1], name, ha="center", va="center", fontsize=8)
    axes.plot(*_place(1 / 3, 1 / 3, 1 / 3), marker="+", color="0.4", markersize=6)
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.08, _HEIGHT + 0.1), aspect="equal")
    axes.axis("off")


def _add(axes: Axes, points: list[tuple[float, float]], color: str, hatch: str, fill: bool) -> None:
    if len(points) == 1:
        axes.plot(*points[0], marker="o", color=color, markersize=5, zorder=4)
    elif len(points) == 2:
        (x0, y0), (x1, y1) = points
        axes.plot([x0, x1], [y0, y1], color=color, linewidth=2.4, solid_capstyle="round", zorder=4)
    else:
        axes.add_patch(
            Polygon(
                points,
                closed=True,
                facecolor="none",
                edgecolor=color,
                hatch=hatch if fill else "",
                linewidth=1.2 if fill else 0.6,
                zorder=3,
            )
        )


def _place(x1: float, x2: float, x3: float) -> tuple[float, float]:
    return x2 + x3 / 2, _HEIGHT * x3
