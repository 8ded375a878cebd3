"""The source sets of Tables I-IV: their vertices, classes and breakpoints."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.curves import exact_curve
from paper_repro.figures.leakage_curves import _DISTORTION, _rounded, sources_of
from paper_repro.figures.style import COLORS, STYLE, canvas, draw_grid, need_columns
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import FloatArray

__all__ = [
    "breakpoint_table",
    "class_table",
    "draw_breakpoints",
    "draw_vertices",
    "vertex_table",
]


def vertex_table(name_or_path: str) -> pd.DataFrame:
    """Vertices of a source set, one a row, one column per letter.

    >>> print(vertex_table("P_II_6").to_string(index=False))
      x1   x2   x3   x4   x5   x6
     0.7 0.15 0.06 0.04 0.03 0.02
    """
    source = load_source_set(name_or_path)
    return pd.DataFrame(source.vertices, columns=[str(label) for label in source.labels])


def class_table(names: Sequence[str]) -> pd.DataFrame:
    """Class and landmarks of each source set under differential privacy.

    Columns: ``source_set``, ``class``, ``letters``, ``vertices``; ``symmetric_until``, the distortion up to which randomized
    response on the letters that can occur is optimal; ``zero_from``, the distortion from which nothing leaks; ``jump``, the
    leakage in nats just below it;
    ``printed_symmetric_until`` and ``printed_zero_from``, the thresholds ``D^(1)`` and ``D^(M-1)`` of Theorem 2 (Kalantari et
    al. 2018) for sets with a common ordering of the letters, and ``(M - 1) / M`` of Theorem 1 for Class I.

    >>> class_table(["P_II_6"]).round(4).iloc[0, 4:].to_dict()
    {'symmetric_until': 0.1, 'zero_from': 0.3, 'jump': 1.5404, 'printed_symmetric_until': 0.02, 'printed_zero_from': 0.3}
    """
    rows = []
    for source in sources_of(names):
        curve = exact_curve(source)
        thresholds = _printed_thresholds(source)
        rows.append(
            {
                "source_set": source.name,
                "class": source.source_class,
                "letters": source.alphabet_size,
                "vertices": source.vertex_count,
                "symmetric_until": curve.breakpoints[:1].sum(),
                "zero_from": curve.breakpoints[-1:].sum(),
                "jump": curve.limits_from_below[-1:].sum(),
                "printed_symmetric_until": thresholds[0] if len(thresholds) else np.nan,
                "printed_zero_from": thresholds[-1] if len(thresholds) else np.nan,
            }
        )
    return _rounded(pd.DataFrame(rows), "distortion")


def breakpoint_table(names: Sequence[str]) -> pd.DataFrame:
    """Where the exact curves of differential privacy change form, and the thresholds that Theorem 2 prints.

    Columns: ``source_set``; ``kind``, ``exact`` or ``printed``; ``distortion``; ``leakage``, the exact one in nats as the
    distortion rises to it. Printed thresholds ``D^(1) .. D^(M-1)`` exist for sets with a common ordering.
    """
    rows = []
    for source in sources_of(names):
        curve = exact_curve(source)
        for breakpoint, limit in zip(curve.breakpoints, curve.limits_from_below, strict=True):
            rows.append((source.name, "exact", breakpoint, limit))
        thresholds = _printed_thresholds(source)
        for threshold, leakage in zip(thresholds, curve.leakage(np.minimum(thresholds, 1.0)), strict=True):
            rows.append((source.name, "printed", threshold, leakage))
    columns = ["source_set", "kind", "distortion", "leakage"]
    return _rounded(pd.DataFrame(rows, columns=columns), "distortion")


def draw_vertices(table: pd.DataFrame, title: str = "") -> Figure:
    """The vertices of a source set as a shaded table: one row a vertex, one column a letter."""
    return draw_grid(table.set_axis([f"vertex {row + 1}" for row in range(len(table))]), title, "letter", "{:.2g}")


def draw_breakpoints(table: pd.DataFrame, title: str = "") -> Figure:
    """Exact breakpoints against printed thresholds, one line a source set.

    ``table`` is as of :func:`breakpoint_table`. Raises ValueError if a column is missing.
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


def _printed_thresholds(source: SourceSet) -> FloatArray:
    """``D^(1) .. D^(M-1)`` of Theorem 2, the one threshold of Theorem 1 for Class I, none for Class III."""
    if source.source_class == "I":
        return np.array([(source.alphabet_size - 1) / source.alphabet_size])
    if source.source_class == "II":
        return kalantari2018.distortion_thresholds(source)[1:-1]
    return np.empty(0)
