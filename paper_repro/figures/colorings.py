"""Critical pairs: the colors of a mechanism's entries, and what Lemma 8 of the 2017 preprint states about them."""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["coloring_in_words", "coloring_subtitle", "coloring_table", "draw_coloring", "lemma_8_table"]

# Face, ink and name of the entries of each color.
_ENTRIES = {
    "black": ("#1A1A1A", "white", "B: larger of a critical pair"),
    "red": ("#B5283A", "white", "R: smaller of a critical pair"),
    "white": ("white", "black", "W: in no critical pair"),
    "none": ("#DDDDDD", "0.35", "0: never published"),
}


def coloring_table(source: SourceSet, distortion: float, zero_columns: int) -> pd.DataFrame:
    """Colors of the optimal mechanism with this number of suppressed categories; Figure 8 of the 2017 preprint.

    Columns: ``true``, ``published``, ``probability``, ``color``. If no mechanism attains the least leakage, the table has
    the limit.

    >>> coloring_table(SourceSet([0.5, 0.3, 0.2]), 0.3, 0)["color"].tolist()[:3]
    ['black', 'red', 'red']

    Raises
    ------
    ValueError
        If there is no such mechanism, or its leakage is 0 or infinite, so that there are no critical pairs.
    """
    found = optimal_with_suppressed(source, distortion, zero_columns)
    if found.mechanism is None:
        raise ValueError(
            f"distortion must be large enough for {zero_columns} suppressed categories; got {distortion!r}. "
            "Suppress fewer categories, or allow more distortion."
        )
    matrix = found.mechanism.matrix
    colors = coloring(matrix)
    true, published = np.indices(matrix.shape)
    labels = np.array([str(label) for label in source.labels])
    return pd.DataFrame(
        {
            "true": labels[true.ravel()],
            "published": labels[published.ravel()],
            "probability": (matrix.ravel() + 0.0).round(9),
            "color": np.where(colors.ravel() == "zero", "none", colors.ravel()),
        }
    )


def lemma_8_table(source: SourceSet, distortion: float) -> pd.DataFrame:
    """The five claims of Lemma 8 (2017 preprint) for the optimal mechanism with each number of suppressed categories.

    Columns: ``suppressed``; ``leakage`` in nats (the infimum), ``attained``; ``claim 1`` to ``claim 5``: whether the claim is
    true of this mechanism, empty where the leakage is 0 or infinite or there is no mechanism.

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
    """Colors of a mechanism's entries, with their probabilities as fractions, from a table as of :func:`coloring_table`.

    Braces separate published categories from suppressed ones; an entry of the diagonal that is not black has a frame. The
    headline says how many such entries there are, or ``title``. Raises ValueError if a column is missing.
    """
    categories = list(dict.fromkeys(table["true"]))
    size, kept = len(categories), int((table["color"] != "none").sum()) // len(categories)
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
        x, y = categories.index(published), categories.index(true)
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
    """A brace over columns, and one at the left of the rows with the same numbers."""
    ends = np.array([[low + 0.08, -0.5], [low + 0.08, -0.62], [high - 0.08, -0.62], [high - 0.08, -0.5]])
    axes.plot(*ends.T, color="0.3", linewidth=1.0)
    axes.plot(*ends.T[::-1], color="0.3", linewidth=1.0)
    axes.text((low + high) / 2, -0.72, name, ha="center", va="bottom", fontsize=8)
    axes.text(-0.72, (low + high) / 2, name, ha="right", va="center", fontsize=8, rotation=90)


def coloring_subtitle(vertices: Sequence[Sequence[float]], distortion: float) -> str:
    """The source set and the distortion of a coloring, for the line below its title.

    >>> coloring_subtitle([[0.5, 0.3, 0.2]], 0.3)
    'Source set with vertices (0.5, 0.3, 0.2); $D=0.3$'
    """
    said = ", ".join(str(tuple(vertex)) for vertex in vertices)
    return f"Source set with vertices {said}; $D={distortion:g}$"


def coloring_in_words(table: pd.DataFrame) -> str:
    """The colors of a table as of :func:`coloring_table`, for readers who do not see the picture.

    >>> coloring_in_words(coloring_table(SourceSet([0.5, 0.3, 0.2]), 0.3, 0))
    'A matrix of 3 true by 3 published categories. Its entries: 6 red, 3 black.'
    """
    size = table["true"].nunique()
    names = {"none": "never published"}
    counts = ", ".join(
        f"{count} {names.get(str(color), color)}" for color, count in table["color"].value_counts().items()
    )
    return f"A matrix of {size} true by {size} published categories. Its entries: {counts}."


def _coloring_finding(table: pd.DataFrame, kept: int) -> str:
    other = int(((table["true"] == table["published"]) & table["color"].isin(["red", "white"])).sum())
    if other == 1:
        return "One diagonal entry is not black, the most that Claim 4 allows"
    if other:
        return f"{spelled(other).capitalize()} diagonal entries are not black, more than Claim 4 allows"
    return f"Every diagonal entry of the {spelled(kept)} published categories is black"
