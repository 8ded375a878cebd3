"""Figures of the seven notions and of databases; each is drawn from a table alone."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from paper_repro.drawing import COLORS, DASHES, STYLE, as_image, need_columns, save_figure
from paper_repro.figures import draw_curves, draw_falling

__all__ = ["as_image", "draw_global", "draw_mechanisms", "draw_notions", "draw_profiles", "save_figure"]

_LEAKAGE = "leakage (nats)"
_RECORDS = "expected number of records changed"
_COLUMNS = 4
# Probabilities below this are not drawn where there are many numbers of records.
_LEAST = 1e-6


def draw_notions(curves: pd.DataFrame, bounds: pd.DataFrame, title: str = "") -> Figure:
    """Privacy-distortion curves of several notions, the intervals that are printed for some of them shaded.

    Parameters
    ----------
    curves : DataFrame
        As of :func:`paper_repro.tables.curve_table`, of one source set.
    bounds : DataFrame
        As of :func:`paper_repro.notion_tables.bound_table`; may be empty.
    title : str

    Raises
    ------
    ValueError
        If a column is missing, or there are more curves than can be told apart (7).
    """
    need_columns(bounds, ["curve", "distortion", "lower", "upper"])
    figure = draw_curves(curves, title)
    axes = figure.axes[0]
    names = list(dict.fromkeys(curves["curve"]))
    hatches = ["////", "\\\\\\\\", "....", "xxxx"]
    handles: list[Any] = []
    for (name, rows), hatch in zip(bounds.groupby("curve", sort=False), hatches * len(names), strict=False):
        color = COLORS[names.index(name)]
        style: Any = {"facecolor": "none", "edgecolor": color, "hatch": hatch, "linewidth": 0.0, "alpha": 0.7}
        axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], zorder=1, **style)
        handles.append(Patch(**style, label=f"printed interval: {name}"))
    if handles:
        with mpl.rc_context(STYLE):
            inside = axes.get_legend()
            known = (inside or figure.legends[0]).legend_handles
            every = [handle for handle in known if handle is not None] + handles
            if inside:
                axes.legend(handles=every, loc="upper right")
            else:
                figure.legends[0].remove()
                figure.legend(handles=every, loc="outside right upper")
    return figure


def draw_mechanisms(table: pd.DataFrame, title: str = "") -> Figure:
    """The best mechanism of each notion as a shaded table: row = true letter, column = published letter.

    ``table`` is as of :func:`paper_repro.notion_tables.mechanism_table`. Raises ValueError if a column is missing.
    """
    import seaborn

    need_columns(table, ["notion", "leakage", "true", "published", "probability"])
    letters = list(dict.fromkeys(table["true"]))
    groups = list(table.groupby("notion", sort=False))
    across, down = min(_COLUMNS, len(groups)), math.ceil(len(groups) / _COLUMNS)
    cell = 0.5
    with mpl.rc_context(STYLE):
        figure = Figure(
            figsize=(max(5.0, across * (cell * len(letters) + 0.9)), down * (0.42 * len(letters) + 1.0) + 0.4),
            layout="constrained",
        )
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (name, rows) in zip(panels, groups, strict=False):
            square = rows.pivot(index="true", columns="published", values="probability").loc[letters, letters]
            seaborn.heatmap(
                square, ax=axes, annot=True, fmt=".2f", cmap="Blues", cbar=False, linewidths=0.5, linecolor="white",
                vmin=0, vmax=1.6, annot_kws={"size": 7.5},
            )  # fmt: skip
            axes.set(xlabel="", ylabel="")
            axes.set_title(f"{_wrapped(str(name))}\n{rows['leakage'].iloc[0]:.4f} nats", fontsize=8.5)
            axes.tick_params(left=False, bottom=False, labelrotation=0, labelsize=8)
        for axes in panels[len(groups) :]:
            axes.axis("off")
        figure.supxlabel("published letter", fontsize=9)
        figure.supylabel("true letter", fontsize=9)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


def draw_global(table: pd.DataFrame, title: str = "") -> Figure:
    """Printed bounds for databases as bands, with the exact least leakage in them; one panel a notion.

    ``table`` is as of :func:`paper_repro.notion_tables.global_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["notion", "distortion", "exact", "lower", "upper", "end"])
    groups = list(table.groupby("notion", sort=False))
    across, down = min(_COLUMNS, len(groups)), math.ceil(len(groups) / _COLUMNS)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(max(5.0, 2.35 * across), 2.15 * down + 0.8), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False, sharex=True).ravel()
        for axes, (name, rows) in zip(panels, groups, strict=False):
            axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], color=COLORS[6], alpha=0.45, lw=0)
            axes.plot(rows["distortion"], rows["lower"], color=COLORS[1], linewidth=0.8)
            axes.plot(rows["distortion"], rows["upper"], color=COLORS[1], linewidth=0.8, linestyle=DASHES[4])
            draw_falling(axes, rows, "exact", color=COLORS[2], linewidth=1.6, zorder=3)
            axes.set_title(_wrapped(str(name)), fontsize=8.5)
            axes.set_xlim(0, float(table["distortion"].max()))
            axes.set_ylim(bottom=0)
            axes.tick_params(labelbottom=True)
            axes.grid(alpha=0.25, linewidth=0.6)
        for axes in panels[len(groups) :]:
            axes.axis("off")
        figure.supxlabel(_RECORDS, fontsize=9)
        figure.supylabel(_LEAKAGE, fontsize=9)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
        handles = [
            Line2D([], [], color=COLORS[2], linewidth=1.6, label="exact"),
            Line2D([], [], color=COLORS[1], linewidth=0.8, linestyle=DASHES[4], label="upper bound"),
            Line2D([], [], color=COLORS[1], linewidth=0.8, label="lower bound"),
            Patch(facecolor=COLORS[6], alpha=0.45, label="interval"),
        ]
        if len(groups) < len(panels):
            panels[-1].legend(handles=handles, loc="center")
        else:
            figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def draw_profiles(table: pd.DataFrame, title: str = "") -> Figure:
    """How many records the best mechanism of each notion changes; for more than a dozen records on a logarithmic scale.

    ``table`` is as of :func:`paper_repro.notion_tables.profile_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["notion", "changed", "probability"])
    groups = list(table.groupby("notion", sort=False))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.add_subplot()
        width = 0.86 / len(groups)
        few = table["changed"].nunique() <= 12
        for number, (name, rows) in enumerate(groups):
            color = COLORS[number % len(COLORS)]
            if few:
                places = rows["changed"] + (number - (len(groups) - 1) / 2) * width
                axes.bar(places, rows["probability"], 0.9 * width, color=color, label=name)
            else:
                seen = rows[rows["probability"] >= _LEAST]
                dashes = DASHES[number % len(DASHES)]
                axes.plot(seen["changed"], seen["probability"], color=color, linestyle=dashes, label=name)
                if len(seen) <= 3:  # too narrow for a line
                    axes.plot(seen["changed"], seen["probability"], color=color, marker="D", ms=4, ls="", mfc="none")
        if few:
            axes.set_xticks(np.arange(int(table["changed"].max()) + 1))
        axes.set(xlabel="number of records changed", ylabel="probability", title=title)
        if few:
            axes.set_ylim(bottom=0)
        else:
            axes.set(yscale="log", ylim=(_LEAST, 2))
        axes.grid(axis="y", alpha=0.25, linewidth=0.6)
        axes.legend()
    return figure


def _wrapped(name: str) -> str:
    """A long name on two lines."""
    words = name.rsplit(" ", 2) if len(name) > 22 else [name]
    return f"{words[0]}\n{' '.join(words[1:])}" if len(words) > 1 else name
