"""Source sets over three letters as shapes in the simplex, colorings, and Theorem 3 beside the truth, as pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from paper_repro.papers import kalantari2017
from paper_repro.papers.coloring import claim_1, claim_2, claim_3, claim_4, claim_5, coloring, optimal_with_suppressed
from paper_repro.papers.folding import Folding
from paper_repro.papers.polytopes import Polytope
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import leakage_curve

__all__ = [
    "class_shapes",
    "coloring_table",
    "failure_table",
    "folding_shapes",
    "lemma_8_table",
    "region_shapes",
    "theorem_3_table",
]

_COLUMNS = ["panel", "shape", "kind", "label", "x1", "x2", "x3"]


def class_shapes(sets: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Source sets over three letters, one panel each, named with their class; Figure 1, Kalantari et al. 2017.

    Parameters
    ----------
    sets : mapping of a name to vertices, shape (V, 3)

    Returns
    -------
    DataFrame
        One row a corner, in order around the shape: ``panel``, ``shape`` (a number), ``kind``, ``label``, ``x1``, ``x2``, ``x3``.

    Raises
    ------
    ValueError
        If a set is not over three letters.

    >>> class_shapes({"a point": [[0.5, 0.3, 0.2]]})["panel"].tolist()
    ['a point: Class II']
    """
    rows = []
    for name, vertices in sets.items():
        source = _three_letters(vertices)
        panel = f"{name}: Class {source.source_class}"
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


def folding_shapes(vertices: ArrayLike, ties: bool = False) -> pd.DataFrame:
    """A set, its pieces in the ordered regions, their folded images, what these share, their union, and both unfolded.

    Figures 3 and 9, Kalantari et al. 2017, computed as exact polytopes. Columns as of :func:`class_shapes`.

    >>> folding_shapes([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])["panel"].unique().tolist()
    ['set and pieces', 'folded images', 'intersection', 'union', 'folded back']
    """
    source = _three_letters(vertices)
    folding = Folding(source, ties=ties)
    rows = []
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


def theorem_3_table(source: SourceSet, distortions: Sequence[float], ties: bool = False) -> pd.DataFrame:
    """Theorem 3's bounds, as printed and corrected, and the exact least leakage, in nats.

    Columns: ``distortion``, ``exact``, ``lower`` and ``upper`` as printed, ``corrected lower`` and ``corrected upper`` (the ratio
    taken at its largest over the letters; the upper bound then always holds, the lower one where the averages of the set's
    distributions over alike letters lie in it).

    >>> table = theorem_3_table(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), [0.6])
    >>> table.round(4).loc[0, ["exact", "corrected lower"]].tolist()
    [0.0, 0.2877]
    """
    folding = Folding(source, ties=ties)
    rows = []
    for distortion, exact in zip(distortions, leakage_curve(source, distortions), strict=True):
        printed = kalantari2017.theorem_3(folding, distortion)
        largest = kalantari2017.theorem_3(folding, distortion, "largest")
        rows.append([distortion, exact, printed.lower, printed.upper, largest.lower, largest.upper])
    columns = ["distortion", "exact", "lower", "upper", "corrected lower", "corrected upper"]
    return pd.DataFrame(rows, columns=columns).round(8) + 0.0


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
    return pd.DataFrame(rows, columns=["source", "distortion", "lower", "exact", "excess"]).round(8)


def _three_letters(vertices: ArrayLike) -> SourceSet:
    source = SourceSet(vertices)
    if source.alphabet_size != 3:
        raise ValueError(f"the simplex is drawn for 3 letters, and these distributions have {source.alphabet_size}")
    return source


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
