"""Source sets over three letters as shapes in the simplex, colorings, and Theorem 3 beside the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from paper_repro.curves import leakage_curve
from paper_repro.errors import optional
from paper_repro.figures.curves import Cited, cited_as
from paper_repro.figures.layout import COLUMN, PAGE, headline, label_lines
from paper_repro.figures.registry import BOUNDS, COLORS, DASHES, EXACT, PRINTED, UNREACHABLE, set_label
from paper_repro.figures.saving import framed
from paper_repro.figures.simplex import (
    add_area,
    add_simplex,
    add_window,
    area_of,
    first_region,
    in_symbols,
    name_area,
    name_borders,
    place,
    view_around,
)
from paper_repro.figures.sliders import frames
from paper_repro.figures.style import LEAKAGE, canvas, drawing, need, panels, rounded
from paper_repro.figures.tables import number_text
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.papers.coloring import claim_1, claim_2, claim_3, claim_4, claim_5, coloring, optimal_with_suppressed
from paper_repro.papers.folding import Folding
from paper_repro.papers.polytopes import Polytope
from paper_repro.sources import SourceSet

__all__ = [
    "cited_figure",
    "class_page",
    "class_shapes",
    "coloring_table",
    "draw_classes",
    "draw_coloring",
    "draw_folding",
    "draw_regions",
    "draw_theorem_3",
    "draw_unfolded",
    "failure_table",
    "folding_shapes",
    "lemma_8_table",
    "region_shapes",
    "theorem_3_curves",
    "theorem_3_table",
    "unfolded_shapes",
]

_EXAMPLES = [
    [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]],
    [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.6, 0.25, 0.15]],
    [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.5, 0.1, 0.4]],
]
_FOLDED = [[0.65, 0.25, 0.1], [0.25, 0.6, 0.15], [0.5, 0.1, 0.4], [0.35, 0.45, 0.2]]
_COLORED = [[0.64, 0.1, 0.1, 0.1, 0.04, 0.02], [0.6, 0.12, 0.12, 0.12, 0.02, 0.02]]
_FIGURES: dict[tuple[object, ...], Cited] = {
    (kind, *map(str, chosen)): Cited(
        f"kalantari_{name.lower().replace(' ', '_')}",
        f"Kalantari et al. 2017, {name}",
        ("kalantari2017.theorem_3_lower", "kalantari2017.theorem_3_upper") if kind in ("unfolded", "bounds") else (),
    )
    for kind, name, *chosen in (
        ("classes", "Figure 1", _EXAMPLES),
        ("regions", "Figure 2", _FOLDED),
        ("folding", "Figure 3", _FOLDED),
        ("unfolded", "Figure 9", _FOLDED),
        ("coloring", "Figure 8", _COLORED, 0.37, 2),
        ("bounds", "Theorem 3", [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]),
    )
}


def cited_figure(kind: str, *chosen: object) -> Cited:
    """The paper's figure of this kind, if the corners and whatever else is chosen are ours for it; else a file name of its own.

    >>> cited_figure("bounds", [[0.6, 0.3, 0.1]]).name
    'own_bounds_0-6-0-3-0-1'
    """
    return cited_as(_FIGURES, kind, *map(str, chosen), kind="own")


_COLUMNS = ["panel", "shape", "kind", "label", "P1", "P2", "P3"]


def class_shapes(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Source sets over three letters, one panel each, and why each is of its class; Figure 1, Kalantari et al. 2017.

    Parameters
    ----------
    sources : sequence of SourceSet, of different names

    Returns
    -------
    DataFrame
        One row a corner, in order around the shape: ``panel``, the set's name; ``shape``, a number; ``kind``; ``label``, the
        class and its reason; ``P1``, ``P2``, ``P3``.

    Raises
    ------
    ValueError
        If there is no set, or one is not over three letters.

    >>> class_shapes([SourceSet([0.5, 0.3, 0.2], name="a point")])["label"].tolist()
    ['Class II: P1 ≥ P2 ≥ P3 throughout']
    """
    need(sources, "source set")
    rows = []
    for source in sources:
        _check_three_letters(source)
        rows += _shape(source.name, 0, "set", f"Class {source.source_class}: {_reason(source)}", _hull(source))
    return pd.DataFrame(rows, columns=_COLUMNS)


def region_shapes(source: SourceSet) -> pd.DataFrame:
    """The six ordered regions of three letters, each with its order, and a source set across them; Figure 2, ibid.

    Columns as of :func:`class_shapes`; the rows of kind ``region`` are labelled with their order, those of kind ``set`` with the
    class. Raises ValueError if the set is not over three letters.

    >>> region_shapes(SourceSet([0.5, 0.3, 0.2]))["label"].unique().tolist()[-2:]
    ['P3 ≥ P2 ≥ P1', 'Class II']
    """
    _check_three_letters(source)
    rows = []
    for number, order in enumerate(permutations(range(3))):
        corners = []
        for count in (1, 2, 3):
            corner = np.zeros(3)
            corner[list(order[:count])] = 1 / count
            corners.append(tuple(corner))
        rows += _shape("ordered regions", number, "region", _order(order), corners)
    rows += _shape("ordered regions", len(rows), "set", f"Class {source.source_class}", _hull(source))
    return pd.DataFrame(rows, columns=_COLUMNS)


def folding_shapes(source: SourceSet) -> pd.DataFrame:
    """A set, its pieces in the ordered regions, their folded images, what these share, and their union; Figure 3, ibid.

    Exact polytopes, each union as its convex parts. Columns as of :func:`class_shapes`; pieces and images are labelled with the
    order of the piece. Raises ValueError if the set is not over three letters.

    >>> folding_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))["kind"].unique().tolist()
    ['set', 'piece', 'image', 'intersection', 'union']
    """
    _check_three_letters(source)
    folding = Folding(source, ties=False)
    shapes = [("set", f"Class {source.source_class}", folding.hull)]
    for kind, which in (("piece", "parts"), ("image", "images")):
        for piece in folding.pieces:
            shapes += [(kind, _order(piece.permutation), part) for part in getattr(piece, which)]
    shapes += [("intersection", "", part) for part in folding.intersection]
    shapes += [("union", "", part) for part in folding.union]
    return _polytopes(shapes)


def unfolded_shapes(source: SourceSet) -> pd.DataFrame:
    """The sets that Theorem 3 bounds a source set by, folded back, and what its lower bound covers besides; Figure 9, ibid.

    Columns as of :func:`class_shapes`. Kinds: ``set``; ``lower`` and ``upper``, what all folded images share and their union,
    unfolded into each region that the set meets; and ``beyond``, the former unfolded into other regions. Program (17) has one
    distortion for letters alike, as if the set held all rearrangements of these letters: its value is the least leakage of
    ``lower`` and ``beyond`` together. Raises ValueError if the set is not over three letters.

    >>> unfolded_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))["kind"].unique().tolist()
    ['set', 'lower', 'upper']
    """
    _check_three_letters(source)
    folding = Folding(source, ties=False)
    shapes = [("set", f"Class {source.source_class}", folding.hull)]
    for kind, images in (("lower", folding.intersection), ("upper", folding.union)):
        for piece in folding.unfolded(images):
            shapes += [(kind, _order(piece.permutation), part) for part in piece.parts]
    for ranks in permutations(range(3)):
        region = tuple(folding.permutations[0][rank] for rank in ranks)
        alike = all({ranks[rank] for rank in group} == {*group} for group in folding.rank_classes)
        if alike and region not in folding.permutations:
            unfolding = sorted(range(3), key=region.index)
            shapes += [("beyond", _order(region), part.permuted(unfolding)) for part in folding.intersection]
    return _polytopes(shapes)


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


def theorem_3_table(source: SourceSet, distortions: Iterable[float]) -> pd.DataFrame:
    """Theorem 3's bounds, as printed and corrected, and the exact least leakage, in nats.

    Columns: ``distortion``, ``exact``, ``lower`` and ``upper`` as printed, ``corrected lower`` and ``corrected upper`` (the ratio
    taken at its largest over the letters; the upper bound then always holds, the lower one where the averages of the set's
    distributions over alike letters lie in it).

    >>> table = theorem_3_table(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), [0.6])
    >>> table.round(4).loc[0, ["exact", "corrected lower"]].tolist()
    [0.0, 0.2877]
    """
    folding, rows, grid = Folding(source, ties=False), [], list(map(float, distortions))
    for distortion, exact in zip(grid, leakage_curve(source, grid), strict=True):
        printed = kalantari2018.theorem_3(folding, distortion)
        largest = kalantari2018.theorem_3(folding, distortion, "largest")
        rows.append([distortion, exact, printed.lower, printed.upper, largest.lower, largest.upper])
    columns = ["distortion", "exact", "lower", "upper", "corrected lower", "corrected upper"]
    return rounded(pd.DataFrame(rows, columns=columns), 8)


def theorem_3_curves(source: SourceSet, smallest: float, points: int) -> pd.DataFrame:
    """:func:`theorem_3_table` from a distortion up to ``(M - 1) / M``, where Class I needs no leakage any more.

    Besides so many distortions evenly apart it has the breakpoints of the exact curve, and as many between as it takes for
    straight lines to stay within 0.0005 nats of every column. Raises ValueError if there is no distortion to go through.

    >>> table = theorem_3_curves(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), 0.5, 3)
    >>> table["distortion"].iloc[[0, -1]].round(4).tolist(), bool((table["distortion"] == 0.5875).any())
    ([0.5, 0.6667], True)
    """
    largest = 1 - 1 / source.alphabet_size
    if not 0 < smallest < largest:
        raise ValueError(
            f"the smallest distortion must be above 0 and below (M - 1)/M = {largest:.4f}, got {smallest!r}"
        )
    breakpoints = exact_curve(source).breakpoints
    grid = np.union1d(
        np.linspace(smallest, largest, max(points, 2)), breakpoints[(breakpoints > smallest) & (breakpoints < largest)]
    )
    columns = theorem_3_table(source, grid)
    rows = list(columns.to_numpy())
    pending = list(pairwise(rows))
    while pending:
        middles = theorem_3_table(source, [(left[0] + right[0]) / 2 for left, right in pending]).to_numpy()
        rows += list(middles)
        pending = [
            half
            for (left, right), middle in zip(pending, middles, strict=True)
            if np.abs(middle - (left + right) / 2).max() > 5e-4 and right[0] - left[0] > 1e-6  # narrower, it is a jump
            for half in ((left, middle), (middle, right))
        ]
    return pd.DataFrame(rows, columns=columns.columns).sort_values("distortion", ignore_index=True)


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


_SET, _TINT, _GROUND = COLORS[1], (COLORS[1], 0.22), "#EFEBDD"
_FALSE, _FALSE_TINT = COLORS[2], UNREACHABLE["facecolor"]
# Face, ink and name of the entries of each color.
_ENTRIES = {
    "black": ("#1A1A1A", "white", "B: larger of a critical pair"),
    "red": ("#B5283A", "white", "R: smaller of a critical pair"),
    "white": ("white", "black", "W: in no critical pair"),
    "none": ("#DDDDDD", "0.35", "0: never published"),
}
_BOUNDS = ("lower", "upper", "corrected lower", "corrected upper")


@drawing(*_COLUMNS)
def draw_classes(table: pd.DataFrame, title: str = "") -> Figure:
    """Source sets in the simplex, one panel each, and why each is of its class, as of :func:`class_shapes`.

    The headline says how many are of which class, or ``title``. Raises ValueError if a column is missing.
    """
    groups = list(table.groupby("panel", sort=False))
    said = [str(rows["label"].iloc[0]).partition(": ")[::2] for _, rows in groups]
    figure, places = panels(
        len(groups), 3, lambda across, down: (PAGE, 2.5 * down + 0.65), title or _class_finding([name for name, _ in said]),
        subtitle="Cross: the uniform distribution. Dashes: two letters equally likely. After Kalantari et al. 2017, Fig. 1",
    )  # fmt: skip
    for axes, (panel, rows), (name, reason) in zip(places, groups, said, strict=False):
        add_simplex(axes)
        add_area(axes, area_of(rows), _SET, face=_TINT, zorder=3)
        axes.set_title(f"{set_label(str(panel))}: {name}", fontsize=9, loc="center", pad=2)
        axes.set_ylim(-0.31, 0.96)
        axes.text(0.5, -0.13, in_symbols(reason.replace(", ", ",\n")), ha="center", va="top", fontsize=8)
    return figure


def class_page(corners: Sequence[Sequence[float]]) -> Callable[[float, float], str]:
    """A set in the simplex and its class, as HTML, for sliders of what its last corner, a diamond, gives the first two letters.

    What is returned is a function of these two probabilities. Raises ValueError there if they sum to more than 1.

    >>> "Class II: P1 ≥ P2 ≥ P3 throughout" in class_page([[0.6, 0.3, 0.1], [0.5, 0.1, 0.4]])(0.6, 0.2)
    True
    """
    figure, axes = canvas(COLUMN, 3.0)
    add_simplex(axes)
    (area,) = axes.fill([], [], facecolor=_TINT, edgecolor=_SET, linewidth=1.5, joinstyle="round", zorder=3)
    (moved,) = axes.plot([], [], "D", color=_SET, zorder=4)
    frame = frames(figure, [area, moved])

    def page(first: float, second: float) -> str:
        third = round(1 - first - second, 9)
        if min(first, second, third) < 0:
            raise ValueError(
                f"the first two probabilities must be at least 0 and sum to at most 1, got {first:.4g} and {second:.4g}"
            )
        table = class_shapes([SourceSet([*corners[:-1], [first, second, third]], name="set")])
        area.set_xy(place(table[["P1", "P2", "P3"]]))
        moved.set_data(*place([first, second, third]).T)
        said = str(table["label"].iloc[0])
        return framed(frame(), figure, f"A set in the simplex of three letters: {said}", said)

    return page


@drawing(*_COLUMNS)
def draw_regions(table: pd.DataFrame, title: str = "") -> Figure:
    """The ordered regions of the simplex, the first of them shaded, and a source set, as of :func:`region_shapes`.

    The headline says how many regions the set meets, or ``title``. Raises ValueError if a column is missing.
    """
    regions, rest = (table[(table["kind"] == "region") == chosen] for chosen in (True, False))
    areas = {str(label): area_of(rows) for label, rows in regions.groupby("label", sort=False)}
    given, first = area_of(rest), next(iter(areas.values()))
    met = sum(_meets(area, given) for area in areas.values())
    figure, axes = canvas(COLUMN, 3.05)
    headline(
        figure,
        title
        or f"A {rest['label'].iloc[0]} set $\\mathcal{{P}}$ meets {_count(met)} of the {_count(len(areas))} ordered regions",
        f"$\\mathcal{{P}}$: corners {_corners_of(rest)}. After Kalantari et al. 2017, Fig. 2",
    )
    add_simplex(axes, ties=False)
    add_area(axes, first, "none", face=_GROUND, zorder=0)
    add_area(axes, given, _SET, face=_TINT, zorder=3)
    for label, corners in regions.groupby("label", sort=False):
        x, y = place(corners[["P1", "P2", "P3"]].to_numpy()[:2]).mean(axis=0)
        shift = (0.0, -0.05) if y < 0.01 else (-0.21 if x < 0.5 else 0.21, 0.03)
        axes.text(x + shift[0], y + shift[1], in_symbols(str(label)), ha="center", va="center", fontsize=7.5)
    axes.set(xlim=(-0.34, 1.34), ylim=(-0.12, 0.95))
    name_area(axes, first.difference(given), r"$\mathcal{S}_0$", fontsize=10)
    name_area(axes, given, r"$\mathcal{P}$", fontsize=10)
    return figure


@drawing(*_COLUMNS)
def draw_folding(table: pd.DataFrame, title: str = "") -> Figure:
    """Pieces, folded images, what these share and their union, each in a window on the simplex, as of :func:`folding_shapes`.

    The headline says how large a share of the union is in all images, or ``title``. Raises ValueError if a column is missing.
    """
    kinds = {kind: table[table["kind"] == kind] for kind in ("piece", "image", "intersection", "union")}
    orders = list(dict.fromkeys(kinds["piece"]["label"]))
    areas = {kind: area_of(rows) for kind, rows in kinds.items()}
    figure, places = panels(
        4, 2, lambda across, down: (PAGE, 5.95), title or _folding_finding(len(orders), areas),
        subtitle=f"Set with corners {_corners_of(table[table['kind'] == 'set'])}. After Kalantari et al. 2017, Fig. 3",
    )  # fmt: skip
    names = (
        r"(a) pieces $\mathcal{P}|_T$",
        r"(b) folded images $\overline{\mathcal{P}|_T}$ in $\mathcal{S}_0$",
        r"(c) what all images share, $\mathcal{P}^{\cap}$",
        r"(d) what some image has, $\mathcal{P}^{\cup}$",
    )
    first = first_region()
    for axes, name, (kind, rows) in zip(places, names, kinds.items(), strict=True):
        axes.set_title(name, fontsize=9)
        shown = areas["piece" if kind == "piece" else "union"]
        window = view_around(axes, [shown], ratio=1.55)
        add_window(axes)
        add_area(axes, first, "none", face=_GROUND, zorder=0)
        if kind == "piece":
            name_area(axes, first.intersection(window).difference(shown), r"$\mathcal{S}_0$")
        parts = rows if kind in ("piece", "image") else kinds["image"]
        for number, order in enumerate(orders):
            look: Any = {"color": COLORS[1 + number], "linestyle": DASHES[number], "zorder": 4}
            area = area_of(parts[parts["label"] == order])
            if parts is not rows:
                add_area(axes, area, **{**look, "zorder": 2.8}, linewidth=0.8)
                continue
            add_area(axes, area, face=(look["color"], 0.16), linewidth=1.5, **look)
            if kind == "piece":
                name_area(axes, area, rf"$\mathcal{{P}}|_{{T_{number + 1}}}$")
                axes.plot([], [], **look, linewidth=1.5, label=rf"$T_{number + 1}$: {in_symbols(order)}")
        if parts is not rows and len(rows):
            add_area(axes, areas[kind], "black", face=("black", 0.18), linewidth=1.8, zorder=3)
            name_area(axes, areas[kind], name[-len(r"$\mathcal{P}^{\cap}$") :], fontsize=11)
        elif parts is not rows:
            axes.text(0.5, 0.95, "nothing", transform=axes.transAxes, ha="center", va="top", fontsize=9)
        name_borders(axes, shown)
    figure.legend(loc="outside lower left", ncols=3, fontsize=8, handlelength=3)
    return figure


@drawing(*_COLUMNS)
def draw_unfolded(table: pd.DataFrame, title: str = "") -> Figure:
    """The sets of Theorem 3 folded back over the source set's outline, and what lies outside, as of :func:`unfolded_shapes`.

    The headline says whether the lower bound covers what is not in the set, or ``title``. Raises ValueError if a column is
    missing.
    """
    shapely = optional("shapely", "plot")
    areas = {str(kind): area_of(rows) for kind, rows in table.groupby("kind", sort=False)}
    copies = {kind: table.loc[table["kind"] == kind, "label"].nunique() for kind in ("lower", "beyond")}
    figure, places = panels(
        2, 2, lambda across, down: (PAGE, 3.9), title or _unfolded_finding(copies["lower"], copies["beyond"]),
        subtitle=rf"Corners {_corners_of(table[table['kind'] == 'set'])}. After Kalantari et al. 2017, Fig. 9",
    )  # fmt: skip
    names = {
        "lower": r"(a) $\mathcal{P}^{\mathrm{LB}}$, from $\mathcal{P}^{\cap}$",
        "upper": r"(b) $\mathcal{P}^{\mathrm{UB}}$, from $\mathcal{P}^{\cup}$",
    }
    for axes, (kind, name) in zip(places, names.items(), strict=True):
        axes.set_title(name, fontsize=9)
        view_around(axes, areas.values(), ratio=1.15)
        add_window(axes)
        folded, whole = areas.get(kind, shapely.Point()), areas["set"]
        add_area(axes, folded, _SET, face=_TINT, zorder=3)
        add_area(axes, whole, "black", linewidth=1.5, zorder=5)
        if kind == "lower" and "beyond" in areas:
            add_area(axes, areas["beyond"], _FALSE, face=_FALSE_TINT, hatch="////", zorder=3)
            hatched = "hatched: " if areas["beyond"].area else ""
            axes.set_title(hatched + r"$\mathcal{P}^{\cap}$ rearranged", fontsize=9, color=_FALSE, loc="right")
        label = name[4:].partition(",")[0]
        inner, outer = (folded, whole.difference(folded)) if kind == "lower" else (folded.difference(whole), whole)
        name_area(axes, inner, label, _SET)
        name_area(axes, outer, r"$\mathcal{P}$")
        name_borders(axes, *areas.values())
    return figure


@drawing("true", "published", "probability", "color")
def draw_coloring(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
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
        f"{subtitle + '. ' if subtitle else ''}After Kalantari et al. 2017, Fig. 8",
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
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor="none", edgecolor=_SET, linewidth=2.4, zorder=3))
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
        handles.append(Patch(facecolor="none", edgecolor=_SET, linewidth=2, label="diagonal, not black"))
    figure.legend(handles=handles, loc="outside lower left", ncols=2, fontsize=7.5)
    return figure


@drawing("distortion", "exact", *_BOUNDS)
def draw_theorem_3(table: pd.DataFrame, shapes: pd.DataFrame, title: str = "") -> Figure:
    """Theorem 3's bounds with the exact least leakage, shaded where the lower bound is too high, beside the set.

    ``table`` is as of :func:`theorem_3_table`, ``shapes`` as of :func:`class_shapes`. Bounds that coincide are one line. The
    headline says by how much the lower bound is too high, or ``title``. Raises ValueError if a column is missing.
    """
    distortions, exact = table["distortion"].to_numpy(), table["exact"].to_numpy()
    lower = table["corrected lower"].to_numpy()
    excess = np.where(lower > exact + 1e-6, lower - exact, 0.0)
    figure = Figure(figsize=(PAGE, 3.3), layout="constrained")
    left, axes = figure.subplots(1, 2, width_ratios=(1, 2.3))
    headline(
        figure,
        title or _theorem_3_finding(float(excess.max())),
        f"Set with corners {_corners_of(shapes)}. After Kalantari et al. 2017, Theorem 3",
    )
    add_simplex(left)
    add_area(left, area_of(shapes), _SET, face=_TINT, zorder=3)
    left.set_ylim(-0.16, 0.98)

    above = np.convolve(excess > 0, [1, 1, 1], "same") > 0  # and where that begins and ends
    axes.fill_between(distortions, exact, exact + excess, above, hatch="////", **{**UNREACHABLE, "edgecolor": _FALSE})
    groups = _alike(table, _BOUNDS)
    apart = [np.abs(table[columns[0]].to_numpy() - exact) > 1e-6 for columns in groups]
    looks = [_bound_look(columns, bool(excess.any())) for columns in groups]
    covered = [look["label"] for look, away in zip(looks, apart, strict=True) if not away.any()]
    axes.plot(distortions, exact, **{**EXACT.line, "label": "; ".join(["exact", *covered])})
    for columns, look, away in zip(groups, looks, apart, strict=True):
        if away.any():  # nothing is drawn along the exact curve
            seen = np.convolve(away, [1, 1, 1], "same") > 0
            axes.plot(distortions, table[columns[0]].where(seen), **look)
    axes.set(xlabel="worst-case Hamming distortion $D$", ylabel=LEAKAGE, xlim=(distortions.min(), distortions.max()))
    axes.set_ylim(bottom=0)
    zero = np.flatnonzero((exact <= 1e-9) & (excess > 0))[:1]
    style: Any = {"va": "top", "ha": "right", "fontsize": 8, "color": _FALSE, "linespacing": 1.4}
    if len(groups) == 1:
        name = looks[0]["label"].replace(" and ", "\nand ", 1)
        name = f"dotted: {name}" if apart[0].any() else f"along the exact curve: {name}"
        axes.text(0.99, 0.97, name, transform=axes.transAxes, **{**style, "color": PRINTED.color})
    for where, claimed in zip(distortions[zero], lower[zero], strict=True):
        axes.plot([where, where], [0, claimed], color=_FALSE, linewidth=1.0)
        axes.plot(where, 0, **{**EXACT.mark, "label": ""}, clip_on=False, zorder=5)
        said = [
            f"From $D={number_text(where)}$ on nothing leaks;",
            f"the \u201clower bound\u201d there: {claimed:.3f}",
        ]
        arrow = {"arrowstyle": "-", "linewidth": 0.6, "color": _FALSE}
        axes.annotate(
            "\n".join(said), (where, claimed), (0.99, 0.7), textcoords="axes fraction", arrowprops=arrow, **style
        )
    if len(groups) == 1:
        before = len(exact) // 3
        axes.annotate(
            "exact",
            (distortions[before], exact[before]),
            (-6, -6),
            textcoords="offset points",
            **{**style, "color": "black"},
        )
    else:
        label_lines(axes)
    return figure


def _check_three_letters(source: SourceSet) -> None:
    if source.alphabet_size != 3:
        raise ValueError(f"the simplex is drawn for 3 letters, and these distributions have {source.alphabet_size}")


def _brace(axes: Axes, low: float, high: float, name: str) -> None:
    """A brace over columns, and one beside the rows of the same numbers."""
    ends = np.array([[low + 0.08, -0.5], [low + 0.08, -0.62], [high - 0.08, -0.62], [high - 0.08, -0.5]])
    axes.plot(*ends.T, color="0.3", linewidth=1.0)
    axes.plot(*ends.T[::-1], color="0.3", linewidth=1.0)
    axes.text((low + high) / 2, -0.72, name, ha="center", va="bottom", fontsize=8)
    axes.text(-0.72, (low + high) / 2, name, ha="right", va="center", fontsize=8, rotation=90)


def _class_finding(classes: Sequence[str]) -> str:
    meanings = {"I": "contain the uniform distribution", "II": "keep to one order", "III": "do neither"}
    one = {"I": "contains the uniform distribution", "II": "keeps to one order", "III": "does neither"}
    counts = {name: classes.count(f"Class {name}") for name in meanings}
    parts = [f"{_count(n)} {(one if n == 1 else meanings)[name]}" for name, n in counts.items() if n]
    return f"Of {_count(len(classes))} source set{'s' * (len(classes) > 1)}, {', '.join(parts)}"


def _folding_finding(pieces: int, areas: Mapping[str, Any]) -> str:
    if pieces == 1:
        return "The set lies in one region: there is nothing to fold"
    if areas["intersection"].is_empty:
        return f"Folded into one region, the {_count(pieces)} pieces share nothing"
    if areas["union"].area and not areas["intersection"].area:
        return f"Folded into one region, the {_count(pieces)} pieces share no area"
    measure = "area" if areas["union"].area else "length"
    share = getattr(areas["intersection"], measure) / max(getattr(areas["union"], measure), 1e-12)
    return f"Folded into one region, the {_count(pieces)} pieces share {100 * share:.0f} % of what they cover"


def _unfolded_finding(inside: int, beyond: int) -> str:
    if not inside:
        return "The folded pieces share nothing: Theorem 3 has no set for its lower bound"
    if not beyond:
        return r"All that Theorem 3's lower bound covers lies in $\mathcal{P}$: the bound holds"
    return (
        rf"Theorem 3's lower bound covers {_count(beyond)} copies of $\mathcal{{P}}^{{\cap}}$ outside $\mathcal{{P}}$"
    )


def _coloring_finding(table: pd.DataFrame, kept: int) -> str:
    other = int(((table["true"] == table["published"]) & table["color"].isin(["red", "white"])).sum())
    if other == 1:
        return "One diagonal entry is not black, the most that Claim 4 allows"
    if other:
        return f"{_count(other).capitalize()} diagonal entries are not black, more than Claim 4 allows"
    return f"Every diagonal entry of the {_count(kept)} published letters is black"


def _theorem_3_finding(excess: float) -> str:
    if excess > 0:
        return f"Theorem 3's \u201clower bound\u201d is up to {excess:.3f} nats above what a mechanism attains"
    return "Both bounds of Theorem 3 hold for this set"


def _alike(table: pd.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Columns in groups that agree to the digits of the table."""
    groups: list[list[str]] = []
    for column in columns:
        for group in groups:
            if np.allclose(table[column], table[group[0]], rtol=0, atol=1e-6):
                group.append(column)
                break
        else:
            groups.append([column])
    return groups


def _bound_look(columns: Sequence[str], too_high: bool) -> dict[str, Any]:
    """Line and name of the bounds that coincide; whether the corrected lower one is still too high."""
    sides = {column.split()[-1] for column in columns}
    look = PRINTED if "lower" in columns or "upper" in columns else BOUNDS[min(sides)]
    name = "both bounds" if len(sides) == 2 else f"{min(sides)} bound"
    still = " (the lower one still too high)" if len(sides) == 2 else " (still too high)"
    with_ratio = "with the ratio corrected" + (still if too_high and "corrected lower" in columns else "")
    said = {True: "as printed", False: with_ratio}
    kinds = {column in ("lower", "upper") for column in columns}
    return {**look.line, "label": f"{name}, {' and '.join(said[kind] for kind in sorted(kinds, reverse=True))}"}


def _count(number: int) -> str:
    return (
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")[number]
        if number < 10
        else str(number)
    )


def _meets(region: Any, area: Any) -> bool:
    """Whether an area has more of a region than its border."""
    common = region.intersection(area)
    return bool(common.area > 1e-9 if area.area else common.length > 1e-9 if area.length else not common.is_empty)


def _corners_of(rows: pd.DataFrame) -> str:
    corners = rows[["P1", "P2", "P3"]].itertuples(index=False)
    return ", ".join(f"({', '.join(f'{value:.3g}' for value in corner)})" for corner in corners)


def _order(permutation: Sequence[int]) -> str:
    return " ≥ ".join(f"P{letter + 1}" for letter in permutation)


def _reason(source: SourceSet) -> str:
    """Why a set over three letters is of its class."""
    if source.source_class == "I":
        return "contains the uniform distribution"
    if source.source_class == "II":
        return _order(np.argsort(-source.vertices.mean(axis=0), kind="stable").tolist()) + " throughout"
    falls = source.vertices[:, :, np.newaxis] - source.vertices[:, np.newaxis, :]
    both = (falls.max(axis=0) > 1e-12) & (falls.min(axis=0) < -1e-12)
    crossed = [f"P{one + 1} = P{two + 1}" for one, two in combinations(range(3), 2) if both[one, two]]
    return f"crosses {' and '.join(crossed)}, not the uniform distribution"


def _hull(source: SourceSet) -> list[tuple[float, ...]]:
    return _around([tuple(map(float, vertex)) for vertex in source.vertices])


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


def _polytopes(shapes: Iterable[tuple[str, str, Polytope]]) -> pd.DataFrame:
    rows = []
    for number, (kind, label, part) in enumerate(shapes):
        corners = _around([tuple(map(float, vertex)) for vertex in part.vertices])
        rows += _shape("simplex", number, kind, label, corners)
    return pd.DataFrame(rows, columns=_COLUMNS)
