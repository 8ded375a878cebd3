"""Critical pairs: the colors of a mechanism's entries, and what Lemma 8 (2017) says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from paper_repro.figures.curves import spelled
from paper_repro.figures.layout import COLUMN, PAGE, after, headline
from paper_repro.figures.simplex import INSIDE
from paper_repro.figures.style import canvas, drawing
from paper_repro.figures.tables import number_text
from paper_repro.papers.coloring import claim_1, claim_2, claim_3, claim_4, claim_5, coloring, optimal_with_suppressed
from paper_repro.sources import SourceSet

__all__ = ["coloring_table", "draw_coloring", "lemma_8_table"]

# Face, ink and name of the entries of each color.
_ENTRIES = {
    "black": ("#1A1A1A", "white", "B: larger of a critical pair"),
    "red": ("#B5283A", "white", "R: smaller of a critical pair"),
    "white": ("white", "black", "W: in no critical pair"),
    "none": ("#DDDDDD", "0.35", "0: never published"),
}


def coloring_table(source: SourceSet, distortion: float, zero_columns: int) -> pd.DataFrame:
    """Colors of the best mechanism with exactly so many letters suppressed; Figure 8, Kalantari et al. 2017.

    Columns: ``true``, ``published``, ``probability``, ``color``. Its leakage is an infimum if none attains it: then the table is
    of the limit.

    >>> coloring_table(SourceSet([0.5, 0.3, 0.2]), 0.3, 0)["color"].tolist()[:3]
    ['black', 'red', 'red']

    Raises
    ------
    ValueError
        If there is no such mechanism, or it leaks nothing or without bound, so that there are no critical pairs.
    """
    found = optimal_with_suppressed(source, distortion, zero_columns)
    if found.mechanism is None:
        raise ValueError(
            f"no mechanism with {zero_columns} suppressed letters has a distortion of at most {distortion!r}; "
            "suppress fewer letters or allow more distortion"
        )
    matrix = found.mechanism.matrix
    colors = coloring(matrix)
    true, published = np.indices(matrix.shape)
    letters = np.array([str(label) for label in source.labels])
    return pd.DataFrame(
        {
            "true": letters[true.ravel()],
            "published": letters[published.ravel()],
            "probability": (matrix.ravel() + 0.0).round(9),
            "color": np.where(colors.ravel() == "zero", "none", colors.ravel()),
        }
    )


def lemma_8_table(source: SourceSet, distortion: float) -> pd.DataFrame:
    """The five claims of Lemma 8 (2017) on the best mechanism for each number of suppressed letters.

    Columns: ``suppressed``; ``leakage`` in nats (the infimum), ``attained``; ``claim 1`` to ``claim 5``, empty where the
    leakage is 0 or infinite or there is no mechanism.

    >>> lemma_8_table(SourceSet([0.5, 0.3, 0.2]), 0.45)[["suppressed", "attained"]].to_numpy().tolist()
    [[0, False], [1, True], [2, False]]
    """
    rows = []
    for count in range(source.alphabet_size):
        found = optimal_with_suppressed(source, distortion, count)
        row: list[object] = [count, round(found.leakage, 9), found.attained]
        if found.mechanism is None or not 0 < found.leakage < np.inf:
            row += [""] * 5
        else:
            row += [str(check(found.mechanism)) for check in (claim_1, claim_2, claim_3, claim_4, claim_5)]
        rows.append(row)
    return pd.DataFrame(
        rows, columns=["suppressed", "leakage", "attained", *(f"claim {number}" for number in range(1, 6))]
    )


@drawing("true", "published", "probability", "color")
def draw_coloring(table: pd.DataFrame, title: str = "", subtitle: str = "", source: str = "") -> Figure:
    """Colors of a mechanism's entries by letter and face, with their probabilities as fractions, as of :func:`coloring_table`.

    Braces part published letters from suppressed ones; an entry of the diagonal that is not black has a frame. The headline says
    how many there are, or ``title``. Raises ValueError if a column is missing.
    """
    letters = list(dict.fromkeys(table["true"]))
    size, kept = len(letters), int((table["color"] != "none").sum()) // len(letters)
    width = COLUMN if size <= 6 else PAGE
    figure, axes = canvas(width, width + 1.1)
    headline(
        figure,
        title or _coloring_finding(table, kept),
        after(subtitle, source),
    )
    middle: Any = {"ha": "center", "va": "center"}
    entries = table[["true", "published", "probability", "color"]].itertuples(index=False, name=None)
    shown: set[str] = set()
    for true, published, probability, color in entries:
        x, y = letters.index(published), letters.index(true)
        face, ink, _ = _ENTRIES[color]
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=face, edgecolor="0.6", linewidth=0.6))
        said = number_text(probability) if color == "none" else f"{color[0].upper()}\n{number_text(probability)}"
        axes.text(x + 0.5, y + 0.5, said, fontsize=7.5, color=ink, linespacing=1.1, zorder=4, **middle)
        shown.add(color)
        if x == y and color in ("red", "white"):
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor="none", edgecolor=INSIDE, linewidth=2.4, zorder=3))
            shown.add("framed")
    for low, high, name in ((0, kept, "M-k"), (kept, size, "k")):
        if low < high:
            _brace(axes, low, high, f"${name}={high - low}$")
    for number in range(size):
        axes.text(number + 0.5, -0.28, str(number + 1), fontsize=8, **middle)
        axes.text(-0.28, number + 0.5, str(number + 1), fontsize=8, **middle)
    axes.text(-0.12, -0.12, "published \u2192\ntrue \u2193", ha="right", va="bottom", fontsize=7.5, color="0.3")
    axes.set(xlim=(-1.25, size + 0.03), ylim=(size + 0.03, -1.25), aspect="equal")
    axes.axis("off")
    handles = [
        Patch(facecolor=face, edgecolor="0.5", label=label)
        for color, (face, _, label) in _ENTRIES.items()
        if color in shown
    ]
    if "framed" in shown:
        handles.append(Patch(facecolor="none", edgecolor=INSIDE, linewidth=2, label="diagonal, not black"))
    figure.legend(handles=handles, loc="outside lower left", ncols=2, fontsize=7.5)
    return figure


def _brace(axes: Axes, low: float, high: float, name: str) -> None:
    """A brace over columns, and one beside the rows of the same numbers."""
    ends = np.array([[low + 0.08, -0.5], [low + 0.08, -0.62], [high - 0.08, -0.62], [high - 0.08, -0.5]])
    axes.plot(*ends.T, color="0.3", linewidth=1.0)
    axes.plot(*ends.T[::-1], color="0.3", linewidth=1.0)
    axes.text((low + high) / 2, -0.72, name, ha="center", va="bottom", fontsize=8)
    axes.text(-0.72, (low + high) / 2, name, ha="right", va="center", fontsize=8, rotation=90)


def _coloring_finding(table: pd.DataFrame, kept: int) -> str:
    other = int(((table["true"] == table["published"]) & table["color"].isin(["red", "white"])).sum())
    if other == 1:
        return "One diagonal entry is not black, the most that Claim 4 allows"
    if other:
        return f"{spelled(other).capitalize()} diagonal entries are not black, more than Claim 4 allows"
    return f"Every diagonal entry of the {spelled(kept)} published letters is black"
