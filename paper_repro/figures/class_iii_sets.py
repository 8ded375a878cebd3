"""Source sets of three categories as shapes in the simplex: their classes, their pieces, and these folded and unfolded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.errors import optional
from paper_repro.figures.curves import Cited, cited_as, spelled
from paper_repro.figures.layout import COLUMN, PAGE, after, headline
from paper_repro.figures.registry import COLORS, DASHES, UNREACHABLE, set_label
from paper_repro.figures.saving import framed
from paper_repro.figures.simplex import (
    INSIDE,
    TINT,
    WRONG,
    add_area,
    add_simplex,
    add_window,
    area_of,
    corners_text,
    first_region,
    in_symbols,
    name_area,
    name_borders,
    place,
    thick,
    view_around,
)
from paper_repro.figures.sliders import frames
from paper_repro.figures.style import canvas, drawing, need, panels
from paper_repro.papers.folding import Folding
from paper_repro.papers.polytopes import Polytope
from paper_repro.sources import SourceSet

__all__ = [
    "CAPTIONS",
    "check_constant",
    "cited_figure",
    "class_page",
    "class_shapes",
    "classes_in_words",
    "draw_classes",
    "draw_folding",
    "draw_regions",
    "draw_unfolded",
    "folding_in_words",
    "folding_orders",
    "folding_shapes",
    "region_shapes",
    "regions_in_words",
    "unfolded_in_words",
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
        f"Kalantari et al. 2017 preprint, {name}",
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


# How to read each picture: what its lines, colors and signs mean.
CAPTIONS = {
    "classes": (
        "Each triangle shows all priors of three categories; a corner is the prior that gives one category probability 1. "
        "The blue area is a source set, the cross is the uniform prior, and on a dashed line two categories are equally likely"
    ),
    "regions": (
        "The dashed lines cut the triangle into six regions, one for each order of the three categories. "
        "The blue area is the source set, the shaded triangle the region into which it is folded"
    ),
    "folding": (
        "Windows on the triangle of priors. One color and one dash for each region that the set meets; "
        "the grey area is the intersection of the images in (c), and their union in (d)"
    ),
    "unfolded": (
        "Windows on the triangle of priors. The black outline is the source set; the blue area is the set that the "
        "theorem uses, and the hatched areas are priors that its lower bound includes as well"
    ),
    "coloring": (
        "Rows are true categories, columns are published ones; the number is the probability. A pair of entries of one "
        "column is critical if their ratio is the largest in the matrix; its larger entry is black, its smaller one red"
    ),
    "bounds": (
        "Left: the source set in the triangle of priors. Right: the solid curve is the least leakage of any mechanism. "
        "A lower bound must not lie above it; the hatched area is where Theorem 3's does"
    ),
}


def cited_figure(kind: str, *chosen: object) -> Cited:
    """The paper's figure of this kind, if the vertices and other choices are the defaults; else a file name of its own.

    >>> cited_figure("bounds", [[0.6, 0.3, 0.1]]).name
    'own_bounds_0-6-0-3-0-1'
    """
    return cited_as(_FIGURES, kind, *map(str, chosen), kind="own")


_COLUMNS = ["panel", "shape", "kind", "label", "P1", "P2", "P3"]


def class_shapes(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Source sets of three categories, one panel each, and why each is of its class; Figure 1 of the 2017 preprint.

    Parameters
    ----------
    sources : sequence of SourceSet, of different names

    Returns
    -------
    DataFrame
        One row for each vertex, in order around the shape: ``panel``, the set's name; ``shape``, a number; ``kind``; ``label``,
        the class and its reason; ``P1``, ``P2``, ``P3``.

    Raises
    ------
    ValueError
        If there is no set, or one does not have three categories.

    >>> class_shapes([SourceSet([0.5, 0.3, 0.2], name="a point")])["label"].tolist()
    ['Class II: P1 ≥ P2 ≥ P3 throughout']
    """
    need(sources, "source set")
    rows = []
    for source in sources:
        _check_three_categories(source)
        rows += _shape(source.name, 0, "set", f"Class {source.source_class}: {_reason(source)}", _hull(source))
    return pd.DataFrame(rows, columns=_COLUMNS)


def region_shapes(source: SourceSet) -> pd.DataFrame:
    """The six ordered regions of three categories, each with its order, and a source set across them; Figure 2, ibid.

    Columns as of :func:`class_shapes`; the rows of kind ``region`` are labelled with their order, those of kind ``set`` with the
    class. Raises ValueError if the set does not have three categories.

    >>> region_shapes(SourceSet([0.5, 0.3, 0.2]))["label"].unique().tolist()[-2:]
    ['P3 ≥ P2 ≥ P1', 'Class II']
    """
    _check_three_categories(source)
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
    """A set, its pieces in the ordered regions, their folded images, the images' intersection and union; Figure 3, ibid.

    Exact polytopes, each union as its convex parts. Columns as of :func:`class_shapes`; pieces and images are labelled with the
    order of the piece. Raises ValueError if the set does not have three categories.

    >>> folding_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))["kind"].unique().tolist()
    ['set', 'piece', 'image', 'intersection', 'union']
    """
    _check_three_categories(source)
    folding = Folding(source, ties=False)
    shapes = [("set", f"Class {source.source_class}", folding.hull)]
    for kind, which in (("piece", "parts"), ("image", "images")):
        for piece in folding.pieces:
            shapes += [(kind, _order(piece.permutation), part) for part in getattr(piece, which)]
    shapes += [("intersection", "", part) for part in folding.intersection]
    shapes += [("union", "", part) for part in folding.union]
    return _polytopes(shapes)


def unfolded_shapes(source: SourceSet) -> pd.DataFrame:
    """The two sets of Theorem 3, folded back, and the priors that its lower bound includes besides; Figure 9, ibid.

    Columns as of :func:`class_shapes`. Kinds: ``set``; ``lower`` and ``upper``, the intersection and the union of the folded
    images, unfolded into each region that the set meets; and ``beyond``, the intersection unfolded into other regions. Program
    (17) has one distortion for categories treated alike, as if the set held all rearrangements of these categories: its value is
    the least leakage of ``lower`` and ``beyond`` together. Raises ValueError if the set does not have three categories.

    >>> unfolded_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))["kind"].unique().tolist()
    ['set', 'lower', 'upper']
    """
    _check_three_categories(source)
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


_GROUND = "#EFEBDD"


@drawing(*_COLUMNS)
def draw_classes(table: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """Source sets in the simplex, one panel each, and why each is of its class, as of :func:`class_shapes`.

    The headline says how many are of which class, or ``title``; ``source`` is the paper's figure, if there is one. Raises
    ValueError if a column is missing.
    """
    groups = list(table.groupby("panel", sort=False))
    said = [str(rows["label"].iloc[0]).partition(": ")[::2] for _, rows in groups]
    figure, places = panels(
        len(groups), 3, lambda across, down: (PAGE, 2.5 * down + 0.85), title or _class_finding([name for name, _ in said]),
        subtitle=after("Class I contains the uniform prior (cross), Class II keeps one order, Class III does neither", source),
    )  # fmt: skip
    for axes, (panel, rows), (name, reason) in zip(places, groups, said, strict=False):
        add_simplex(axes)
        add_area(axes, area_of(rows), INSIDE, face=TINT, zorder=3)
        axes.set_title(": ".join(filter(None, (set_label(str(panel)), name))), fontsize=9, loc="center", pad=2)
        axes.set_ylim(-0.31, 0.96)
        axes.text(0.5, -0.13, in_symbols(reason.replace(", ", ",\n")), ha="center", va="top", fontsize=8)
    return figure


def class_page(corners: Sequence[Sequence[float]]) -> Callable[[float, float], str]:
    """A set in the simplex and its class, as HTML, for two sliders that move its last vertex, a diamond.

    Returns a function of the probabilities that this vertex gives the first two categories. Raises ValueError, as that
    function does if they sum to more than 1.

    >>> "Class II: P1 ≥ P2 ≥ P3 throughout" in class_page([[0.6, 0.3, 0.1], [0.5, 0.1, 0.4]])(0.6, 0.2)
    True
    """
    figure, axes = canvas(COLUMN, 3.0)
    add_simplex(axes)
    (area,) = axes.fill([], [], facecolor=TINT, edgecolor=INSIDE, linewidth=1.5, joinstyle="round", zorder=3)
    (moved,) = axes.plot([], [], "D", color=INSIDE, zorder=4)
    frame = frames(figure, [area, moved])

    def page(first: float, second: float) -> str:
        third = round(1 - first - second, 9)
        if min(first, second, third) < 0:
            raise ValueError(
                f"first and second must be at least 0 and sum to at most 1; got {first:.4g} and {second:.4g}. Lower one of them."
            )
        table = class_shapes([SourceSet([*corners[:-1], [first, second, third]], name="set")])
        area.set_xy(place(table[["P1", "P2", "P3"]]))
        moved.set_data(*place([first, second, third]).T)
        said = str(table["label"].iloc[0])
        return framed(frame(), figure, f"A source set in the simplex of three categories: {said}", said)

    return page


@drawing(*_COLUMNS)
def draw_regions(table: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """The ordered regions of the simplex, the first of them shaded, and a source set, as of :func:`region_shapes`.

    The headline says in how many orders the set's priors rank the categories, or ``title``. Raises ValueError if a column is
    missing.
    """
    regions, rest = (table[(table["kind"] == "region") == chosen] for chosen in (True, False))
    areas = _regions(table)
    given, first = area_of(rest), next(iter(areas.values()))
    met = sum(_meets(area, given) for area in areas.values())
    figure, axes = canvas(COLUMN, 3.6)
    headline(
        figure,
        title or _region_finding(met, len(areas)),
        after(f"$\\mathcal{{P}}$, {rest['label'].iloc[0]}: vertices {corners_text(rest)}", source),
    )
    add_simplex(axes, ties=False)
    add_area(axes, first, "none", face=_GROUND, zorder=0)
    add_area(axes, given, INSIDE, face=TINT, zorder=3)
    for label, corners in regions.groupby("label", sort=False):
        x, y = place(corners[["P1", "P2", "P3"]].to_numpy()[:2]).mean(axis=0)
        side = 0 if y < 0.01 else np.sign(x - 0.5)  # along the edge, outside
        turned: Any = {
            "rotation": -60 * side,
            "rotation_mode": "anchor",
            "ha": "center",
            "va": "center",
            "fontsize": 7.5,
        }
        axes.text(x + 0.045 * side, y + (0.026 if side else -0.045), in_symbols(str(label)), **turned)
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.08, 0.92))
    name_area(axes, first.difference(thick(given)), r"$\mathcal{S}_0$", fontsize=10)
    name_area(axes, given, r"$\mathcal{P}$", fontsize=10)
    return figure


@drawing(*_COLUMNS)
def draw_folding(table: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """Pieces, folded images, their intersection and union, each in a window on the simplex, as of :func:`folding_shapes`.

    The headline says how large a share of the union lies in all images, or ``title``. Raises ValueError if a column is missing.
    """
    kinds = {kind: table[table["kind"] == kind] for kind in ("piece", "image", "intersection", "union")}
    orders = list(dict.fromkeys(kinds["piece"]["label"]))
    areas = {kind: area_of(rows) for kind, rows in kinds.items()}
    figure, places = panels(
        4, 2, lambda across, down: (PAGE, 5.95), title or _folding_finding(len(orders), areas),
        subtitle=after(f"Source set with vertices {corners_text(table[table['kind'] == 'set'])}", source),
    )  # fmt: skip
    names = (
        r"(a) pieces $\mathcal{P}|_T$",
        r"(b) folded images $\overline{\mathcal{P}|_T}$ in $\mathcal{S}_0$",
        r"(c) their intersection, $\mathcal{P}^{\cap}$",
        r"(d) their union, $\mathcal{P}^{\cup}$",
    )
    first = first_region()
    for axes, name, (kind, rows) in zip(places, names, kinds.items(), strict=True):
        axes.set_title(name, fontsize=9)
        shown = areas["piece" if kind == "piece" else "union"]
        window = view_around(axes, [shown], ratio=1.55)
        add_window(axes)
        add_area(axes, first, "none", face=_GROUND, zorder=0)
        if kind == "piece":
            name_area(axes, first.intersection(window).difference(thick(shown)), r"$\mathcal{S}_0$")
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
            axes.text(0.5, 0.95, "empty", transform=axes.transAxes, ha="center", va="top", fontsize=9)
        name_borders(axes, shown)
    figure.legend(loc="outside lower left", ncols=3, fontsize=8, handlelength=3)
    return figure


@drawing(*_COLUMNS)
def draw_unfolded(table: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """The sets of Theorem 3 folded back over the source set's outline, and what lies outside, as of :func:`unfolded_shapes`.

    The headline says whether the lower bound includes priors outside the set, or ``title``. Raises ValueError if a column is
    missing.
    """
    shapely = optional("shapely", "plot")
    areas = {str(kind): area_of(rows) for kind, rows in table.groupby("kind", sort=False)}
    copies = {kind: table.loc[table["kind"] == kind, "label"].nunique() for kind in ("lower", "beyond")}
    figure, places = panels(
        2, 2, lambda across, down: (PAGE, 3.9), title or _unfolded_finding(copies["lower"], copies["beyond"]),
        subtitle=after(_unfolded_subtitle(table, copies["beyond"]), source),
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
        add_area(axes, folded, INSIDE, face=TINT, zorder=3)
        add_area(axes, whole, "black", linewidth=1.5, zorder=5)
        if kind == "lower" and "beyond" in areas:
            add_area(axes, areas["beyond"], WRONG, face=UNREACHABLE["facecolor"], hatch="////", zorder=3)
            hatched = "hatched: " if areas["beyond"].area else ""
            axes.set_title(hatched + r"$\mathcal{P}^{\cap}$ rearranged", fontsize=9, color=WRONG, loc="right")
        label = name[4:].partition(",")[0]
        inner, outer = (folded, whole.difference(folded)) if kind == "lower" else (folded.difference(whole), whole)
        name_area(axes, inner, label, INSIDE)
        name_area(axes, outer, r"$\mathcal{P}$")
        name_borders(axes, *areas.values())
    return figure


def classes_in_words(table: pd.DataFrame) -> str:
    """The sets of a table as of :func:`class_shapes`, for readers who do not see the picture.

    >>> classes_in_words(class_shapes([SourceSet([0.5, 0.3, 0.2], name="a point")]))
    'Source sets in the simplex of three categories: a point, Class II: P1 ≥ P2 ≥ P3 throughout.'
    """
    labels = dict(zip(table["panel"], table["label"], strict=True))
    said = "; ".join(f"{panel}, {label}" for panel, label in labels.items())
    return f"Source sets in the simplex of three categories: {said}."


def regions_in_words(table: pd.DataFrame) -> str:
    """The picture of a table as of :func:`region_shapes`, for readers who do not see it.

    >>> regions_in_words(region_shapes(SourceSet([0.5, 0.3, 0.2])))
    'Six triangles, one for each order of three categories, meet in the uniform prior; a Class II set meets one of them.'
    """
    rest = table[table["kind"] != "region"]
    met = sum(_meets(area, area_of(rest)) for area in _regions(table).values())
    return (
        "Six triangles, one for each order of three categories, meet in the uniform prior; "
        f"a {rest['label'].iloc[0]} set meets {spelled(met)} of them."
    )


def folding_orders(table: pd.DataFrame) -> list[str]:
    """The orders of the regions that a set meets, from a table as of :func:`folding_shapes`.

    >>> folding_orders(folding_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])))
    ['P1 ≥ P2 ≥ P3', 'P2 ≥ P1 ≥ P3']
    """
    return list(dict.fromkeys(table.loc[table["kind"] == "piece", "label"]))


def folding_in_words(table: pd.DataFrame) -> str:
    """The picture of a table as of :func:`folding_shapes`, for readers who do not see it.

    >>> folding_in_words(folding_shapes(SourceSet([0.5, 0.3, 0.2])))
    'Four windows on the simplex: the pieces of the set in the regions P1 ≥ P2 ≥ P3, their folded images, intersection and union.'
    """
    orders = "; ".join(folding_orders(table))
    pieces = f"the pieces of the set in the regions {orders}"
    return f"Four windows on the simplex: {pieces}, their folded images, intersection and union."


def unfolded_in_words(table: pd.DataFrame) -> str:
    """The picture of a table as of :func:`unfolded_shapes`, for readers who do not see it.

    >>> unfolded_in_words(unfolded_shapes(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))).split(". ")[0]
    'Two windows on the simplex: intersection and union of the folded images, folded back over the outline of the source set'
    """
    beyond = table.loc[table["kind"] == "beyond", "label"].nunique()
    images = "intersection and union of the folded images"
    return (
        f"Two windows on the simplex: {images}, folded back over the outline of the source set. "
        f"Copies of the intersection that lie outside the set: {spelled(beyond)}."
    )


def check_constant(
    constant: Sequence[float], vertices: Sequence[Sequence[float]], distortion: float
) -> list[tuple[list[Fraction], Fraction]]:
    """The probability, in rationals, that publishing a constant drawn from ``constant`` changes an entry, for each vertex.

    All numbers are read as decimals. The rows of the mechanism are alike, so that its leakage is 0 under every notion.

    Parameters
    ----------
    constant : M probabilities, from which the published category is drawn whatever the true one is
    vertices : priors of M categories
    distortion : the largest probability of a change that is allowed

    Returns
    -------
    list of pairs
        Each vertex, and its probability of a change.

    Raises
    ------
    ValueError
        If a distribution does not sum to 1, or one of the probabilities is above ``distortion``.

    >>> check_constant([0.6, 0.4], [[0.5, 0.5]], 0.5)
    [([Fraction(1, 2), Fraction(1, 2)], Fraction(1, 2))]
    """
    row, found = [Fraction(str(value)) for value in constant], []
    for name, weights in [("constant", row), *(("vertex", [Fraction(str(p)) for p in vertex]) for vertex in vertices)]:
        if sum(weights) != 1:
            raise ValueError(f"{name} must sum to 1; got {sum(weights)}. Write decimals that sum to 1 exactly.")
        if name == "vertex":
            changed = sum((p * (1 - q) for p, q in zip(weights, row, strict=True)), Fraction(0))
            if changed > Fraction(str(distortion)):
                raise ValueError(
                    f"distortion must be at least {changed} for the vertex {list(map(str, weights))}; got {distortion}. "
                    "Choose another constant, or a larger distortion."
                )
            found.append((weights, changed))
    return found


def _check_three_categories(source: SourceSet) -> None:
    if source.alphabet_size != 3:
        raise ValueError(
            f"source must have 3 categories, as the simplex is drawn for 3; got {source.alphabet_size}. "
            "Give vertices of three probabilities."
        )


def _class_finding(classes: Sequence[str]) -> str:
    one = {
        "I": "contains the uniform prior",
        "II": "keeps to one order",
        "III": "neither contains the uniform prior nor keeps one order",
    }
    counts = {name: classes.count(f"Class {name}") for name in one}
    present = {name: number for name, number in counts.items() if number}
    if len(classes) == 1:
        return f"This source set {one[next(iter(present))]}"
    if len(present) == 1:
        every = "Both" if len(classes) == 2 else f"All {spelled(len(classes))}"
        return f"{every} source sets are of Class {next(iter(present))}"
    if set(present.values()) == {1}:
        return f"{spelled(len(classes)).capitalize()} source sets, each of a different class"
    return f"Source sets of Class {' and '.join(f'{name} ({number})' for name, number in present.items())}"


def _region_finding(met: int, orders: int) -> str:
    if met == 1:
        return "All priors of this set rank the categories alike"
    return f"This set's priors rank the categories in {spelled(met)} of {spelled(orders)} orders"


def _regions(table: pd.DataFrame) -> dict[str, Any]:
    regions = table[table["kind"] == "region"]
    return {str(label): area_of(rows) for label, rows in regions.groupby("label", sort=False)}


def _folding_finding(pieces: int, areas: Mapping[str, Any]) -> str:
    if pieces == 1:
        return "The set lies in one region, and folding leaves it unchanged"
    if areas["intersection"].is_empty:
        return f"Folded together, the {spelled(pieces)} pieces have no prior in common"
    if areas["union"].area and not areas["intersection"].area:
        return f"Folded together, the {spelled(pieces)} pieces have no area in common"
    measure = "area" if areas["union"].area else "length"
    share = getattr(areas["intersection"], measure) / max(getattr(areas["union"], measure), 1e-12)
    return f"Folded together, the {spelled(pieces)} pieces share {100 * share:.0f}% of their joint {measure}"


def _unfolded_finding(inside: int, beyond: int) -> str:
    if not inside:
        return "The folded pieces have no prior in common for a lower bound"
    if not beyond:
        return "Theorem 3's lower bound includes only priors of the set, and holds"
    return "Theorem 3's lower bound includes priors outside the source set"


def _unfolded_subtitle(table: pd.DataFrame, beyond: int) -> str:
    copies = f"{spelled(beyond)} {'copy' if beyond == 1 else 'copies'}"
    outside = f"; outside: {copies} of $\\mathcal{{P}}^{{\\cap}}$" if beyond else ""
    return f"Source set with vertices {corners_text(table[table['kind'] == 'set'])}{outside}"


def _meets(region: Any, area: Any) -> bool:
    """Whether an area and a region share more than the region's border."""
    common = region.intersection(area)
    return bool(common.area > 1e-9 if area.area else common.length > 1e-9 if area.length else not common.is_empty)


def _order(permutation: Sequence[int]) -> str:
    return " ≥ ".join(f"P{place + 1}" for place in permutation)


def _reason(source: SourceSet) -> str:
    """Why a set of three categories is of its class."""
    if source.source_class == "I":
        return "contains the uniform prior"
    if source.source_class == "II":
        return _order(np.argsort(-source.vertices.mean(axis=0), kind="stable").tolist()) + " throughout"
    falls = source.vertices[:, :, np.newaxis] - source.vertices[:, np.newaxis, :]
    both = (falls.max(axis=0) > 1e-12) & (falls.min(axis=0) < -1e-12)
    crossed = [f"P{one + 1} = P{two + 1}" for one, two in combinations(range(3), 2) if both[one, two]]
    return f"crosses {' and '.join(crossed)}, not the uniform prior"


def _hull(source: SourceSet) -> list[tuple[float, ...]]:
    return _around([tuple(map(float, vertex)) for vertex in source.vertices])


def _around(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Vertices of the hull, in order around it; points inside it are left out."""
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
