"""Source sets over three letters as shapes in the simplex, colorings, and Theorem 3 beside the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon, Rectangle

from paper_repro.curves import leakage_curve
from paper_repro.figures.registry import COLORS, DASHES, HATCHES
from paper_repro.figures.style import LEAKAGE, canvas, drawing, need, panels, rounded
from paper_repro.papers import kalantari2018
from paper_repro.papers.coloring import claim_1, claim_2, claim_3, claim_4, claim_5, coloring, optimal_with_suppressed
from paper_repro.papers.folding import Folding
from paper_repro.papers.polytopes import Polytope
from paper_repro.sources import SourceSet

__all__ = [
    "class_shapes",
    "coloring_table",
    "draw_coloring",
    "draw_shapes",
    "draw_theorem_3",
    "failure_table",
    "folding_shapes",
    "lemma_8_table",
    "region_shapes",
    "theorem_3_table",
]

_COLUMNS = ["panel", "shape", "kind", "label", "x1", "x2", "x3"]


def class_shapes(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Source sets over three letters, one panel each, named with their class; Figure 1, Kalantari et al. 2017.

    Parameters
    ----------
    sources : sequence of SourceSet, of different names

    Returns
    -------
    DataFrame
        One row a corner, in order around the shape: ``panel``, ``shape`` (a number), ``kind``, ``label``, ``x1``, ``x2``, ``x3``.

    Raises
    ------
    ValueError
        If there is no set, or one is not over three letters.

    >>> class_shapes([SourceSet([0.5, 0.3, 0.2], name="a point")])["panel"].tolist()
    ['a point: Class II']
    """
    need(sources, "source set")
    rows = []
    for source in sources:
        _check_three_letters(source)
        panel = f"{source.name}: Class {source.source_class}"
        rows += _shape(panel, 0, "set", "", _around([tuple(map(float, vertex)) for vertex in source.vertices]))
    return pd.DataFrame(rows, columns=_COLUMNS)


def region_shapes() -> pd.DataFrame:
    """The six ordered regions of three letters, each with its ordering; Figure 2, Kalantari et al. 2017.

    >>> region_shapes()["label"].unique().tolist()[:2]
    ['1 ≥ 2 ≥ 3', '1 ≥ 3 ≥ 2']
    """
    rows = []
    for number, order in enumerate(permutations(range(3))):
        corners = []
        for count in (1, 2, 3):
            corner = np.zeros(3)
            corner[list(order[:count])] = 1 / count
            corners.append(tuple(corner))
        label = " ≥ ".join(str(letter + 1) for letter in order)
        rows += _shape("ordered regions", number, "region", label, corners)
    return pd.DataFrame(rows, columns=_COLUMNS)


def folding_shapes(source: SourceSet) -> pd.DataFrame:
    """A set, its pieces in the ordered regions, their folded images, what these share, their union, and both unfolded.

    Figures 3 and 9, Kalantari et al. 2017, computed as exact polytopes. Columns as of :func:`class_shapes`.

    >>> folding_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))["panel"].unique().tolist()
    ['set and pieces', 'folded images', 'intersection', 'union', 'folded back']
    """
    _check_three_letters(source)
    folding, rows = Folding(source, ties=False), []
    number = 0

    def add(panel: str, kind: str, label: str, parts: Iterable[Polytope]) -> None:
        nonlocal number
        for part in parts:
            rows.extend(_shape(panel, number, kind, label, _corners(part)))
            number += 1

    for piece in folding.pieces:
        label = " ≥ ".join(str(letter + 1) for letter in piece.permutation)
        add("set and pieces", "piece", label, piece.parts)
        add("folded images", "image", label, piece.images)
    add("intersection", "intersection", "in all images", folding.intersection)
    add("union", "union", "in some image", folding.union)
    for piece in folding.unfolded(folding.union):
        add("folded back", "around", "the union, in every region", piece.parts)
    for piece in folding.unfolded(folding.intersection):
        add("folded back", "inside", "the intersection, in every region", piece.parts)
    table = pd.DataFrame(rows, columns=_COLUMNS)
    order = ["set and pieces", "folded images", "intersection", "union", "folded back"]
    table["panel"] = pd.Categorical(table["panel"], order)
    return table.sort_values("panel", kind="stable").astype({"panel": str}).reset_index(drop=True)


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


def theorem_3_table(source: SourceSet, distortions: Sequence[float]) -> pd.DataFrame:
    """Theorem 3's bounds, as printed and corrected, and the exact least leakage, in nats.

    Columns: ``distortion``, ``exact``, ``lower`` and ``upper`` as printed, ``corrected lower`` and ``corrected upper`` (the ratio
    taken at its largest over the letters; the upper bound then always holds, the lower one where the averages of the set's
    distributions over alike letters lie in it).

    >>> table = theorem_3_table(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), [0.6])
    >>> table.round(4).loc[0, ["exact", "corrected lower"]].tolist()
    [0.0, 0.2877]
    """
    folding, rows = Folding(source, ties=False), []
    for distortion, exact in zip(distortions, leakage_curve(source, distortions), strict=True):
        printed = kalantari2018.theorem_3(folding, distortion)
        largest = kalantari2018.theorem_3(folding, distortion, "largest")
        rows.append([distortion, exact, printed.lower, printed.upper, largest.lower, largest.upper])
    columns = ["distortion", "exact", "lower", "upper", "corrected lower", "corrected upper"]
    return rounded(pd.DataFrame(rows, columns=columns), 8)


def failure_table(letters: int, sets: int, seed: int = 0) -> pd.DataFrame:
    """How often and by how much Theorem 3's lower bound fails, with the largest ratio, on random Class III sets.

    The sets have three vertices with entries in twentieths. Columns: ``source`` (the vertices as text), ``distortion``,
    ``lower``, ``exact`` and ``excess`` of the bound over the truth, in nats; one row a set, at the distortion with the largest
    excess on a grid of ten.

    >>> failure_table(3, 5)["excess"].max() >= 0
    np.True_
    """
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    while len(rows) < sets:
        vertices = rng.multinomial(20, np.full(letters, 1 / letters), size=3) / 20
        source = SourceSet(vertices)
        if source.source_class != "III":
            continue
        grid = np.linspace(0.05, 1 - 1 / letters, 10, endpoint=False).round(4)
        table = theorem_3_table(source, grid.tolist())
        table["excess"] = table["corrected lower"] - table["exact"]
        worst = table.iloc[int(table["excess"].to_numpy().argmax())]
        text = "; ".join(" ".join(str(Fraction(round(20 * p), 20)) for p in vertex) for vertex in vertices)
        rows.append([text, worst["distortion"], worst["corrected lower"], worst["exact"], max(0.0, worst["excess"])])
    return rounded(pd.DataFrame(rows, columns=["source", "distortion", "lower", "exact", "excess"]), 8)


_HEIGHT = math.sqrt(3) / 2
# Face, hatch and name of the entries of each color.
_ENTRIES = {
    "black": ("#222222", "", "black: larger of a critical pair"),
    "red": (COLORS[2], "....", "red: smaller"),
    "white": ("white", "", "white: neither"),
    "none": ("#DDDDDD", "xx", "suppressed"),
}
# Name, color, dashes and width of the line of each column.
_BOUNDS: dict[str, tuple[str, str, Any, float]] = {
    "exact": ("exact", COLORS[0], DASHES[0], 1.9),
    "corrected lower": ("lower bound, largest ratio", COLORS[1], DASHES[1], 1.4),
    "corrected upper": ("upper bound, largest ratio", COLORS[2], DASHES[3], 1.4),
    "lower": ("lower bound as printed", COLORS[6], DASHES[2], 1.2),
    "upper": ("upper bound as printed", COLORS[5], DASHES[4], 1.2),
}


@drawing("panel", "shape", "kind", "label", "x1", "x2", "x3")
def draw_shapes(table: pd.DataFrame, title: str = "") -> Figure:
    """Shapes in the simplex, one panel each; grey lines part the ordered regions.

    ``table`` is as of :func:`class_shapes`. Raises ValueError if a column is missing.
    """
    groups = list(table.groupby("panel", sort=False))
    figure, places = panels(len(groups), 3, lambda across, down: (3.0 * across + 0.2, 2.95 * down + 0.5), title)
    for axes, (panel, rows) in zip(places, groups, strict=False):
        _draw_simplex(axes)
        axes.set_title(str(panel), fontsize=9)
        labels = list(dict.fromkeys(rows["label"]))
        regions = bool((rows["kind"] == "region").all())
        for _, corners in rows.groupby("shape", sort=False):
            label = corners["label"].iloc[0]
            points = [_place(*corner) for corner in corners[["x1", "x2", "x3"]].itertuples(index=False)]
            if regions:
                x, y = np.mean(points, axis=0)
                axes.text(x, y, label, ha="center", va="center", fontsize=6.5)
            _add_shape(axes, points, **_look(labels.index(label)), filled=not regions)
        if not regions and labels != [""]:
            handles = []
            for number, label in enumerate(labels):
                look = _look(number)
                handles.append(Patch(facecolor="none", edgecolor=look["color"], hatch=look["hatch"], label=label))
            axes.legend(
                handles=handles,
                loc="upper center",
                bbox_to_anchor=(0.5, -0.04),
                fontsize=7,
                ncols=1 + (len(labels) > 3),
            )
    return figure


@drawing("true", "published", "probability", "color")
def draw_coloring(table: pd.DataFrame, title: str = "") -> Figure:
    """Colors of a mechanism's entries, black, red and white with their probabilities; columns of zeros are crossed out.

    ``table`` is as of :func:`coloring_table`. Raises ValueError if a column is missing.
    """
    letters = list(dict.fromkeys(table["true"]))
    figure, axes = canvas(max(4.2, 0.75 * len(letters) + 1.6), 0.55 * len(letters) + 1.5)
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
    for row in table.itertuples():
        x, y = letters.index(row.published), letters.index(row.true)
        face, hatch, _ = _ENTRIES[str(row.color)]
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=face, hatch=hatch, edgecolor="0.55", linewidth=0.7))
        axes.text(x + 0.5, y + 0.5, f"{row.probability:.3f}", ha="center", va="center", fontsize=8, bbox=box)
    axes.set(
        xlim=(0, len(letters)), ylim=(len(letters), 0), xlabel="published letter", ylabel="true letter", title=title
    )
    middle = [place + 0.5 for place in range(len(letters))]
    axes.set_xticks(middle, letters)
    axes.set_yticks(middle, letters)
    axes.tick_params(left=False, bottom=False)
    axes.grid(False)
    axes.spines[["left", "bottom"]].set_visible(False)
    handles = [
        Patch(facecolor=face, hatch=hatch, edgecolor="0.55", label=label)
        for color, (face, hatch, label) in _ENTRIES.items()
        if color in set(table["color"])
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8)
    return figure


@drawing("distortion", *_BOUNDS)
def draw_theorem_3(table: pd.DataFrame, title: str = "") -> Figure:
    """Theorem 3's two bounds, corrected and as printed, with the exact least leakage.

    ``table`` is as of :func:`theorem_3_table`. Raises ValueError if a column is missing.
    """
    figure, axes = canvas(7.2, 4.2)
    for column, (label, color, dashes, width) in _BOUNDS.items():
        axes.plot(table["distortion"], table[column], color=color, linestyle=dashes, linewidth=width, label=label)
    axes.set(xlabel="worst-case Hamming distortion D", ylabel=LEAKAGE, title=title)
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def _check_three_letters(source: SourceSet) -> None:
    if source.alphabet_size != 3:
        raise ValueError(f"the simplex is drawn for 3 letters, and these distributions have {source.alphabet_size}")


def _corners(part: Polytope) -> list[tuple[float, ...]]:
    return _around([tuple(float(value) for value in vertex) for vertex in part.vertices])


def _around(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Corners of the hull, in order around it; points inside it are left out."""
    flat = np.array([[p[1] + p[2] / 2, p[2]] for p in points])
    if len(points) > 2 and np.linalg.matrix_rank(flat - flat[0], tol=1e-9) == 2:
        from scipy.spatial import ConvexHull

        return [points[place] for place in ConvexHull(flat).vertices]
    order = np.lexsort(flat.T)
    return [points[order[0]], points[order[-1]]] if len(set(points)) > 1 else points[:1]


def _shape(panel: str, number: int, kind: str, label: str, corners: Sequence[Sequence[float]]) -> list[list[object]]:
    return [[panel, number, kind, label, *(round(float(value), 9) for value in corner)] for corner in corners]


def _draw_simplex(axes: Axes) -> None:
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


def _look(number: int) -> dict[str, str]:
    """Color and hatch of one shape among others."""
    return {"color": COLORS[1 + number % 6], "hatch": HATCHES[number % 6]}


def _add_shape(axes: Axes, points: list[tuple[float, float]], color: str, hatch: str, filled: bool) -> None:
    if len(points) == 1:
        axes.plot(*points[0], marker="o", color=color, markersize=5, zorder=4)
    elif len(points) == 2:
        (x0, y0), (x1, y1) = points
        axes.plot([x0, x1], [y0, y1], color=color, linewidth=2.4, solid_capstyle="round", zorder=4)
    else:
        style: Any = {"hatch": hatch, "linewidth": 1.2} if filled else {"hatch": "", "linewidth": 0.6}
        axes.add_patch(Polygon(points, closed=True, facecolor="none", edgecolor=color, zorder=3, **style))


def _place(x1: float, x2: float, x3: float) -> tuple[float, float]:
    return x2 + x3 / 2, _HEIGHT * x3
