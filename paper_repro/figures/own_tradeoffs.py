"""A column of one's own: the least leakage of a release at each distortion, compared with usual mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from paper_repro.figures.layout import PAGE, headline, label_lines
from paper_repro.figures.registry import COLORS, DASHES, EXACT, Look
from paper_repro.figures.style import LEAKAGE, STYLE, canvas, drawing

__all__ = ["draw_own_tradeoff", "save_own_tradeoff"]

_LOOKS = {
    "least": replace(EXACT, label="least possible"),
    "estimable": Look("every category published", COLORS[1], DASHES[1], "s"),
    "nothing_known": Look("least if nothing is known", COLORS[2], DASHES[4], "^"),
    "randomized_response": Look("randomized response", COLORS[3], DASHES[3], "v"),
}


@drawing("distortion", *_LOOKS)
def draw_own_tradeoff(
    table: pd.DataFrame, own: Mapping[str, float] | None = None, title: str = "", subtitle: str = ""
) -> Figure:
    """Leakage against distortion, for the optimal mechanism and for usual ones; ``own`` is the point of a matrix of one's own.

    ``table`` has the rows of :func:`paper_repro.columns.tradeoffs.tradeoff`. Raises ValueError if a column is missing.
    """
    figure, axes = canvas(PAGE, 4.2)
    # Curves that coincide are drawn once, with the first name.
    shown: list[str] = []
    for name in _LOOKS:
        if all((table[name] - table[other]).abs().max() > 1e-9 for other in shown):
            shown.append(name)
    for name in shown:
        axes.plot(table["distortion"], table[name].replace(math.inf, math.nan), **_LOOKS[name].line)
    if own:
        axes.plot(own["distortion"], own["leakage"], "D", color=COLORS[4])
        axes.annotate("your matrix", (own["distortion"], own["leakage"]), (6, 4), textcoords="offset points")
    axes.set(xlabel="expected share of entries that are changed, largest over the source set", ylabel=LEAKAGE)
    axes.set_ylim(bottom=0)
    headline(figure, title or _finding(table), subtitle)
    label_lines(axes)
    return figure


def _finding(table: pd.DataFrame) -> str:
    saved = (table["nothing_known"] - table["least"]).where(table["least"] < math.inf, 0.0)
    most, place = float(saved.max()), int(saved.argmax())
    if most < 1e-6:
        return "Knowing the source set saves no leakage"
    return f"Knowing the source set saves up to {most:.2g} nats, at distortion {table['distortion'].iloc[place]:g}"


def save_own_tradeoff(
    rows: Sequence[Mapping[str, float]], own: Mapping[str, float] | None, subtitle: str, path: Path
) -> None:
    """Draw :func:`draw_own_tradeoff`, in nats, into a file, by its ending. Raises OSError if it cannot be written."""
    import matplotlib as mpl

    figure = draw_own_tradeoff(pd.DataFrame(rows), own, subtitle=subtitle)
    with mpl.rc_context(STYLE):
        figure.savefig(path)
