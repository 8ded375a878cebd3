"""Priors of three categories as points of a triangle, and sets of them as areas."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from numpy.typing import ArrayLike

from paper_repro.errors import optional
from paper_repro.figures.registry import COLORS
from paper_repro.types import FloatArray

__all__ = [
    "INSIDE",
    "TINT",
    "WRONG",
    "add_area",
    "add_simplex",
    "add_window",
    "area_of",
    "corners_text",
    "first_region",
    "in_symbols",
    "name_area",
    "place",
    "thick",
    "view_around",
]

# A source set, its face, and what a paper includes by mistake.
INSIDE, TINT, WRONG = COLORS[1], (COLORS[1], 0.22), COLORS[2]

_HEIGHT = math.sqrt(3) / 2
_CORNERS = np.eye(3)
_SLIVER = 1e-7  # an area that is left of rounding
# Shift, alignment of the corners' names.
_BESIDE = ((7, -3), (-7, -3), (0, 3)), ("right", "left", "center"), ("top", "top", "bottom")
# Of the outer edge, shared by what is drawn around it: name of the tie, its place on the edge, where its text stands.
_TIES = (
    ("P_1=P_2", (0.5, 0.5, 0.0), "center", "top", (0, -3)),
    ("P_1=P_3", (0.5, 0.0, 0.5), "right", "bottom", (-3, 1)),
    ("P_2=P_3", (0.0, 0.5, 0.5), "left", "bottom", (3, 1)),
)


def place(distributions: ArrayLike) -> FloatArray:
    """Where distributions of shape (n, 3) are drawn: rows x, y of shape (n, 2) in the triangle over the unit interval.

    >>> place([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).round(3)
    array([[0.   , 0.   ],
           [1.   , 0.   ],
           [0.5  , 0.866]])
    """
    given = np.atleast_2d(np.asarray(distributions, dtype=float))
    return np.column_stack([given[:, 1] + given[:, 2] / 2, _HEIGHT * given[:, 2]])


_BORDERS = [place([tie, corner]) for corner, (_, tie, *_) in zip(_CORNERS[::-1], _TIES, strict=True)]


def in_symbols(text: str) -> str:
    r"""Probabilities and relations of a plain text as mathematics.

    >>> in_symbols("where P1 ≥ P2 ≥ P3")
    'where $P_1\\geq P_2\\geq P_3$'
    """
    signs = {"≥": r"\geq ", "=": "="}
    relation = re.compile(r"P\d+(?: [≥=] P\d+)*")

    def as_mathematics(found: re.Match[str]) -> str:
        named = re.sub(r"P(\d+)", r"P_{\1}" if re.search(r"\d\d", found[0]) else r"P_\1", found[0])
        return "$" + re.sub(r" ([≥=]) ", lambda sign: signs[sign[1]], named) + "$"

    return relation.sub(as_mathematics, text)


def area_of(rows: pd.DataFrame) -> Any:
    """The union of convex shapes, as a geometry of shapely: areas, and segments and points where shapes have no area.

    ``rows`` has a row for each vertex: ``shape`` numbers the shape, vertices follow each other around it, and ``P1``, ``P2``,
    ``P3`` are probabilities.

    >>> corners = [(0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 0, 0), (1, 0, 1, 0)]
    >>> round(area_of(pd.DataFrame(corners, columns=["shape", "P1", "P2", "P3"])).area, 3)
    0.433
    """
    shapely = optional("shapely", "plot")
    kinds = {1: lambda points: shapely.Point(points[0]), 2: shapely.LineString}
    shapes = [place(corners[["P1", "P2", "P3"]]) for _, corners in rows.groupby("shape", sort=False)]
    parts = [kinds.get(len(points), shapely.Polygon)(points) for points in shapes]
    return shapely.union_all(parts, grid_size=1e-9)  # tables have nine decimals


def add_area(axes: Axes, area: Any, color: str, face: Any = "none", **style: Any) -> None:
    """A geometry as of :func:`area_of`: areas with their edge and face, segments as strokes, points as discs."""
    width = style.pop("linewidth", 1.2)
    for part in () if area.is_empty else getattr(area, "geoms", [area]):
        if part.geom_type == "Polygon":
            rings = [np.asarray(ring.coords) for ring in (part.exterior, *part.interiors)]
            path = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in rings))
            axes.add_patch(
                PathPatch(path, edgecolor=color, facecolor=face, linewidth=width, joinstyle="round", **style)
            )
        elif part.geom_type == "LineString":
            kept = {key: value for key, value in style.items() if key != "hatch"}
            axes.plot(*np.asarray(part.coords).T, color=color, linewidth=2 * width, solid_capstyle="round", **kept)
        elif part.geom_type == "Point":
            axes.plot(part.x, part.y, "o", color=color, markersize=5, zorder=style.get("zorder", 3))


def corners_text(rows: pd.DataFrame) -> str:
    """The vertices of a shape, a row each as of :func:`area_of`, as text."""
    corners = rows[["P1", "P2", "P3"]].itertuples(index=False)
    return ", ".join(f"({', '.join(f'{value:.3g}' for value in corner)})" for corner in corners)


def name_area(axes: Axes, area: Any, name: str, color: str = "black", fontsize: float = 9) -> None:
    """A name where an area has the most room, off the borders of the regions; outside it, with a thin line, if it is too small.

    The font size is in points.
    """
    if area.is_empty or 0 < area.area < _SLIVER:
        return
    shapely = optional("shapely", "plot")
    inner = area.difference(shapely.MultiLineString(_BORDERS).buffer(0.012)) if area.area else area
    circles = [
        shapely.maximum_inscribed_circle(part) for part in getattr(inner, "geoms", [inner]) if part.area > _SLIVER
    ]
    widest = max(circles, key=lambda radius: float(radius.length), default=None)
    spot = np.array((area.representative_point() if widest is None else shapely.Point(widest.coords[0])).coords[0])
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    span = float(np.ptp(limits[0]))
    style: Any = {"ha": "center", "va": "center", "color": color, "fontsize": fontsize, "zorder": 7}
    if widest is not None and widest.length > 0.03 * span:
        axes.text(float(spot[0]), float(spot[1]), name, **style)
        return
    turns = np.deg2rad(np.arange(0, 360, 30))
    around = spot + 0.12 * span * np.column_stack([np.cos(turns), np.sin(turns)])
    taken = np.array([text.get_position() for text in axes.texts] or [tuple(spot.tolist())])
    apart = np.linalg.norm(around[:, np.newaxis] - taken, axis=-1).min(axis=1)
    edges = np.minimum(around - limits[:, 0], limits[:, 1] - around).min(axis=1)
    clear = np.array([0.0 if area.area else area.distance(shapely.Point(*point)) for point in around])
    best = around[np.argmax(np.minimum(apart, 0.2 * span) + clear + 10 * np.minimum(edges - 0.06 * span, 0))]
    arrow = {"arrowstyle": "-", "linewidth": 0.6, "color": color, "shrinkB": 0}
    axes.annotate(name, tuple(spot), tuple(best), arrowprops=arrow, **style)


def add_simplex(axes: Axes, ties: bool = True) -> None:
    """The triangle with the uniform distribution as a cross and the borders of the ordered regions; ``ties`` names these."""
    corners = place(_CORNERS)
    axes.add_patch(PathPatch(Outline([*corners, corners[0]], closed=True), facecolor="none", edgecolor="0.25"))
    _draw_borders(axes)
    for point, name, shift, ha, va in zip(corners, ("P_1=1", "P_2=1", "P_3=1"), *_BESIDE, strict=True):
        axes.annotate(f"${name}$", point, shift, textcoords="offset points", ha=ha, va=va, fontsize=7.5)
    for name, tie, ha, va, shift in _TIES if ties else ():
        (point,) = place(tie)
        axes.annotate(f"${name}$", point, shift, textcoords="offset points", ha=ha, va=va, fontsize=7.5, color="0.3")
    axes.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, _HEIGHT + 0.09))
    axes.axis("off")


def add_window(axes: Axes) -> None:
    """Borders and edges of the simplex in what the axes show of it, framed."""
    limits = axes.get_xlim(), axes.get_ylim()
    corners = place(_CORNERS)
    axes.add_patch(PathPatch(Outline([*corners, corners[0]], closed=True), facecolor="none", edgecolor="0.25"))
    _draw_borders(axes)
    axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set(visible=True, color="0.75", linewidth=0.8)


def name_borders(axes: Axes, *areas: Any) -> None:
    """Name the borders of the regions that a window shows, off these areas and the names in it, where there is room."""
    shapely = optional("shapely", "plot")
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    span = right - left
    window, uniform = shapely.box(left, low, right, high).buffer(-0.06 * span), shapely.Point(*place([1 / 3] * 3))
    for border, (name, *_) in zip(_BORDERS, _TIES, strict=True):
        names = [shapely.Point(*text.get_position()).buffer(0.06 * span) for text in axes.texts]
        taken = shapely.union_all([*areas, *names, uniform])
        seen = shapely.LineString(border).intersection(window)
        places = [seen.interpolate(share, normalized=True) for share in np.linspace(0, 1, 41)] if seen.length else []
        free = [point for point in places if point.distance(taken) > 0.09 * span]
        if not free:
            continue
        at = min(free, key=lambda point: float(point.distance(taken)))
        slope = np.degrees(np.arctan2(*np.subtract(*border[::-1])[::-1]))
        axes.text(
            at.x, at.y, f"${name}$", ha="center", va="center", fontsize=7.5, color="0.3", rotation=(slope + 89) % 180 - 89,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}, zorder=2.5,
        )  # fmt: skip


def _draw_borders(axes: Axes) -> None:
    """The lines on which two categories are equally likely, each once, and the uniform prior."""
    for border in _BORDERS:
        axes.plot(*border.T, color="0.45", linewidth=0.8, linestyle=(0, (4, 2)), zorder=2)
    axes.plot(*place([1 / 3] * 3).T, marker="+", color="black", markersize=7, markeredgewidth=1.2, zorder=6)


def first_region() -> Any:
    """The region ``P1 >= P2 >= P3``, in the triangle of :func:`place`; all six have the same area.

    >>> round(6 * first_region().area, 3)
    0.433
    """
    corners: list[list[float]] = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3] * 3]
    return optional("shapely", "plot").Polygon(place(corners))


def thick(area: Any) -> Any:
    """A geometry that has an area: segments and points with what is near them, so that no name stands on them.

    >>> from shapely import LineString
    >>> thick(LineString([(0, 0), (1, 0)])).area > 0
    True
    """
    return area if area.area else area.buffer(0.03)


def view_around(axes: Axes, areas: Iterable[Any], ratio: float, margin: float = 0.1) -> Any:
    """Set the axes to what is around areas, with a margin as a share of the size; width over height is the ratio.

    Returns the window as a geometry.
    """
    bounds = np.array([area.bounds for area in areas if not area.is_empty])
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    size = np.maximum(high - low, 0.02) * (1 + 2 * margin)
    width = max(size[0], ratio * size[1])
    (left, bottom), (right, top) = ((low + high + sign * np.array([width, width / ratio])) / 2 for sign in (-1, 1))
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    return optional("shapely", "plot").box(left, bottom, right, top)
