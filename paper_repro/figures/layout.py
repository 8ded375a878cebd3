"""What is written in a figure: the finding above it, labels on its lines, and a check that all of it can be read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation
from scipy.ndimage import distance_transform_edt

from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = [
    "COLUMN",
    "PAGE",
    "after",
    "apart",
    "check_text",
    "finding_of",
    "headline",
    "label_ends",
    "label_lines",
    "label_zeros",
    "outline",
    "visible_texts",
]

COLUMN, PAGE = 3.5, 7.2
"""Widths of figures in inches: one column (89 mm) and both (183 mm)."""

_SMALLEST = 7.0  # points
_GREY = "#595959"
_LABEL = 8.0  # of a line
_LEADER: dict[str, Any] = {"arrowstyle": "-", "lw": 0.6, "shrinkA": 0, "shrinkB": 0}
_LONGEST = 120.0  # pixels of a leader
_MARGIN = 4.0  # points at the left of the title
_FINDING, _SUBTITLE = "finding", "subtitle"


def headline(figure: Figure, finding: str, subtitle: str = "") -> None:
    """Write what a figure finds above it, bold, and below that in grey what it is of; both wrapped to its width.

    To be called once, after the plots are made; room is kept by the constrained layout.
    """
    if not finding:
        return
    narrow = figure.get_figwidth() < 5
    heights = 0.0
    for text, size, weight, color, gid in (
        (finding, 9 if narrow else 10.5, "bold", "black", _FINDING),
        (subtitle, 7 if narrow else 8, "normal", _GREY, _SUBTITLE),
    ):
        if text:
            written = figure.text(_x(figure), _y(figure, heights), "", size=size, weight=weight, color=color, va="top")
            written.set(gid=gid, linespacing=1.15, in_layout=False)
            _wrap(figure, written, text)
            heights += written.get_window_extent().height / figure.dpi * 72 + 3.5
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        kept = (heights + _MARGIN) / 72 / figure.get_figheight()
        engine.set(rect=(0, 0, 1, 1 - kept))


def after(subtitle: str, source: str) -> str:
    """A subtitle that says which figure of a paper it is after, if it is one.

    >>> after("Six letters", "Kalantari et al. 2018, Figure 4"), after("Six letters", "")
    ('Six letters. After Kalantari et al. 2018, Figure 4', 'Six letters')
    """
    return ". ".join(filter(None, (subtitle, source and f"After {source}")))


def finding_of(figure: Figure) -> tuple[str, str]:
    """Finding and subtitle of a figure, each on one line; empty where it has none."""
    found = {text.get_gid(): " ".join(text.get_text().split()) for text in figure.texts}
    return found.get(_FINDING, ""), found.get(_SUBTITLE, "")


def label_ends(
    axes: Axes, lines: Sequence[Line2D] | None = None, names: Mapping[Line2D, str] | None = None
) -> list[Text]:
    """Name each line at its right end, outside the plot, in its color; names that would overlap are moved apart.

    By default all lines with a label. ``names`` replaces the labels of some.
    """
    shown = _labelled(axes, lines, names)
    figure, box = _arranged(axes), axes.get_window_extent()
    ends = np.array([max(tuple(_visible(axes, line)[-1]) for line in pieces) for _, pieces in shown]).reshape(-1, 2)
    wanted = axes.transData.transform(ends)[:, 1]
    # Of those that end alike, the lower one is named below.
    means = [float(np.mean(_visible(axes, pieces[0])[:, 1])) for _, pieces in shown]
    heights = np.array([_size(axes, name)[1] + 1.0 for name, _ in shown])
    moves = (apart(wanted, heights, np.lexsort(np.array([means, wanted])), box.y0, box.y1) - wanted) * 72 / figure.dpi
    inside = ends[:, 0] < max(axes.get_xlim()) - 1e-3 * float(np.ptp(axes.get_xlim()))
    leaders = bool((np.abs(moves) > 3).any() or inside.any())
    texts: list[Text] = []
    for (name, (line, *_)), (x, y), move in zip(shown, ends.tolist(), moves, strict=True):
        shift = ScaledTranslation((16 if leaders else 6) / 72, move / 72, figure.dpi_scale_trans)
        leader = {**_LEADER, "color": line.get_color(), "relpos": (0, 0.5)} if leaders else None
        text = axes.annotate(
            name, (x, y), (1, y), textcoords=axes.get_yaxis_transform() + shift, va="center", size=_LABEL,
            color=line.get_color(), annotation_clip=False, arrowprops=leader,
        )  # fmt: skip
        texts.append(text)
    return texts


def label_lines(
    axes: Axes, lines: Sequence[Line2D] | None = None, names: Mapping[Line2D, str] | None = None
) -> list[Text]:
    """Name each line inside the plot, in its color, where the name touches no line and no other text and its own line is nearest.

    By default all lines with a label. Where there is no room near the line, a thin line leads to it; where that would cross
    something, the name is in a key. To be called last: limits and the places of plots must not change any more. ``names``
    replaces the labels of some.
    """
    shown = _labelled(axes, lines, names)
    figure = _arranged(axes)
    box = axes.get_window_extent()
    width, height = int(box.width), int(box.height)
    ink = {line: _ink(axes, line, width, height) for line in axes.lines if line.get_visible()}
    taken = np.logical_or.reduce([np.zeros((height, width), dtype=bool), *ink.values()])
    written = np.zeros_like(taken)
    keyed: list[tuple[Line2D, str]] = []
    for text in visible_texts(figure):
        _fill(taken, *Text.get_window_extent(text).translated(-box.x0, -box.y0).extents)
    texts: list[Text] = []
    # The line with the least ink has the fewest places.
    for name, pieces in sorted(shown, key=lambda pair: sum(int(ink[line].sum()) for line in pair[1])):
        line = pieces[0]
        own = np.logical_or.reduce([ink[piece] for piece in pieces])
        others = np.logical_or.reduce([np.zeros_like(own), *(other for key, other in ink.items() if key not in pieces)])
        place = _place(own, others, taken, written, *_size(axes, name))
        if place is None:
            keyed.append((line, name))
            continue
        text = axes.annotate(
            name, (place.foot[0] / width, place.foot[1] / height), (place.middle[0] / width, place.middle[1] / height),
            xycoords="axes fraction", textcoords="axes fraction",
            ha="center", va="center", rotation=place.degrees, rotation_mode="anchor", size=_LABEL, color=line.get_color(),
            arrowprops={**_LEADER, "color": line.get_color(), "relpos": place.hold} if place.led else None,
        )  # fmt: skip
        text.set_in_layout(False)
        covered = text.get_tightbbox()
        assert covered is not None
        for mask in (taken, written):
            _fill(mask, *covered.translated(-box.x0, -box.y0).extents)
        texts.append(text)
    if keyed:
        handles, labels = zip(*sorted(keyed, key=lambda pair: axes.lines.index(pair[0])), strict=True)
        key = axes.legend(handles, labels, loc="best", fontsize=_LABEL, labelcolor="linecolor", handlelength=4)
        texts += key.get_texts()
    return texts


def label_zeros(axes: Axes, lines: Sequence[Line2D] | None = None) -> list[Text]:
    """Name each line, in its color, below where it ends: for curves that fall to a common zero. To be called last, as above."""
    shown = _labelled(axes, lines, None)
    figure = _arranged(axes)
    box = axes.get_window_extent()
    ends = np.array([max(tuple(_visible(axes, line)[-1]) for line in pieces)[0] for _, pieces in shown])
    feet = axes.transData.transform(np.column_stack([ends, np.zeros(len(ends))]))
    widths = np.array([_size(axes, name)[0] + 10.0 for name, _ in shown])
    places = apart(feet[:, 0], widths, np.argsort(ends, kind="stable"), box.x0, box.x1)
    texts: list[Text] = []
    for (name, (line, *_)), foot, place in zip(shown, feet - box.min, places - box.x0, strict=True):
        leader = (
            {**_LEADER, "color": line.get_color(), "relpos": (0.5, 1), "shrinkB": 3}
            if abs(place - foot[0]) > 3
            else None
        )
        text = axes.annotate(
            name, foot / box.size, (place / box.width, (foot[1] - (13 if leader else 6) * figure.dpi / 72) / box.height),
            xycoords="axes fraction", textcoords="axes fraction", ha="center", va="top", size=_LABEL, color=line.get_color(),
            arrowprops=leader,
        )  # fmt: skip
        text.set_in_layout(False)
        texts.append(text)
    return texts


def check_text(figure: Figure) -> None:
    """Raises ValueError, which names the text, unless all of it can be read in print.

    The figure is as wide as a column or a page; no text is smaller than 7 points, leaves the canvas, or overlaps another one.
    All is measured.
    """
    width = float(figure.get_figwidth())
    if min(abs(width - COLUMN), abs(width - PAGE)) > 1e-6:
        raise ValueError(f"the figure is {width:g} inches wide; make it {COLUMN} for a column or {PAGE} for a page")
    figure.draw_without_rendering()
    page = figure.bbox.padded(1.0)  # a pixel is lost in rounding
    boxes = []
    for text in visible_texts(figure):
        said = " ".join(text.get_text().split())
        size = float(text.get_fontsize())
        if size < _SMALLEST - 1e-9:
            raise ValueError(f"the text {said!r} has {size:g} points; write it with at least {_SMALLEST:g}")
        box = Text.get_window_extent(text)  # without an annotation's arrow
        if not (page.contains(*box.min) and page.contains(*box.max)):
            raise ValueError(f"the text {said!r} leaves the figure; shorten it, or give the figure more room")
        boxes.append((said, box.padded(-0.5), outline(text)))
    for (first, a, shape), (second, b, other) in itertools.combinations(boxes, 2):
        if a.overlaps(b) and shape.intersects_path(other, filled=True):
            raise ValueError(f"the texts {first!r} and {second!r} overlap; shorten one, or give the figure more room")


def visible_texts(figure: Figure) -> list[Text]:
    """Texts that are painted: tick labels beyond the ends of an axis exist too, but are not."""
    hidden: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * max(1.0, abs(low), abs(high))
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - slack <= tick.get_loc() <= high + slack or not (axes.axison and axes.get_visible()):
                    hidden |= {tick.label1, tick.label2}
        if not axes.axison:
            hidden |= {axes.xaxis.label, axes.yaxis.label, axes.xaxis.get_offset_text(), axes.yaxis.get_offset_text()}
    found = figure.findobj(Text)
    return [text for text in found if text.get_visible() and text.get_text().strip() and text not in hidden]


def _labelled(
    axes: Axes, lines: Sequence[Line2D] | None, names: Mapping[Line2D, str] | None
) -> list[tuple[str, list[Line2D]]]:
    """Names with the lines they are of: a curve that jumps is drawn in pieces, and named once."""
    labels = {line: str(line.get_label()) for line in (axes.lines if lines is None else lines)} | dict(names or {})
    found: dict[str, list[Line2D]] = {}
    for line, label in labels.items():
        if label and not label.startswith("_"):
            found.setdefault(label, []).append(line)
    return list(found.items())


def _arranged(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    return figure


def _visible(axes: Axes, line: Line2D) -> FloatArray:
    """The line's points inside the limits of x; all, if there are none."""
    points = np.asarray(line.get_xydata(), dtype=float)
    points = points[np.isfinite(points).all(axis=1)]
    low, high = sorted(axes.get_xlim())
    inside = points[(points[:, 0] >= low) & (points[:, 0] <= high)]
    return inside if len(inside) else points


def apart(wanted: FloatArray, heights: FloatArray, order: IntArray, low: float, high: float) -> FloatArray:
    """Middles of boxes near the wanted ones, in this order, that do not overlap, between two limits if there is room.

    All of shape (n,), ``order`` their places from the lower end up. Lengths in pixels, or points, or any one unit.

    >>> apart(np.array([0.0, 1.0, 9.0]), np.array([4.0, 4.0, 2.0]), np.arange(3), -9, 10)
    array([-1.5,  2.5,  9. ])
    """

    def span(group: list[int]) -> tuple[float, float]:
        half, middle = float(heights[group].sum()) / 2, float(wanted[group].mean())
        middle = max(min(middle, high - half), low + half)
        return middle - half, middle + half

    groups: list[list[int]] = []
    for i in order.tolist():
        groups.append([i])
        while len(groups) > 1 and span(groups[-2])[1] > span(groups[-1])[0]:
            groups[-2:] = [groups[-2] + groups[-1]]
    places = wanted.copy()
    for group in groups:
        places[group] = span(group)[0] + np.cumsum(heights[group]) - heights[group] / 2
    return places


class _Place(NamedTuple):
    """Of a label: its middle and the end of its leader in pixels, where the leader begins in it, its angle."""

    middle: FloatArray
    foot: FloatArray
    hold: tuple[float, float] = (0.5, 0.5)
    led: bool = False
    degrees: float = 0.0


def _place(
    own: BoolArray, others: BoolArray, taken: BoolArray, written: BoolArray, wide: float, high: float
) -> _Place | None:
    """Where a label is nearest to its line, on no ink: level beside it, along it, or at a leader that crosses nothing."""
    ys, xs, filled = _boxes(taken, int(wide) + 6, int(high) + 6)
    far = distance_transform_edt(~others) if others.any() else np.full(own.shape, np.inf)
    height, width = own.shape
    holds = np.array(list(itertools.product((0, 0.5, 1), (0, 0.25, 0.5, 0.75, 1))))
    edges = [
        np.minimum(ys + (holds[:, :1, np.newaxis] * (high + 6)).astype(int), height - 1),
        np.minimum(xs + (holds[:, 1:, np.newaxis] * (wide + 6)).astype(int), width - 1),
    ]
    for apart in (6, 3):  # pixels from where on a line is told apart from another
        alone = own & (far > apart)
        alone = alone if alone.any() else own
        near, feet = distance_transform_edt(~alone, return_indices=True)
        to_own, to_others = near[edges[0], edges[1]], far[edges[0], edges[1]]
        unlike = (to_others.min(axis=0) < 1.3 * to_own.min(axis=0) + 2) | (
            to_others.mean(axis=0) < 0.6 * to_own.mean(axis=0)
        )
        cost = to_own.min(axis=0) + 60.0 * unlike + 1e6 * filled
        found = np.unravel_index(np.argmin(cost), cost.shape)
        middle = np.array([xs[found] + wide / 2 + 3, ys[found] + high / 2 + 3])
        if cost[found] <= 8:
            return _Place(middle, middle)
        if along := _along(alone, far, taken, wide, high):
            return along
        # A leader is straight, to the line's pixel that is nearest to where it begins.
        ends = feet[:, edges[0], edges[1]]
        shares = np.linspace(0, 1, 25)[:, np.newaxis, np.newaxis, np.newaxis]
        way = np.rint(np.array(edges)[:, np.newaxis] + (ends - edges)[:, np.newaxis] * shares).astype(int)
        between = np.maximum(
            1.5, 1 + to_own / 2 / (len(shares) - 1)
        )  # no line passes between two samples that are this far from it
        crossed = ((far[way[0], way[1]] < between) | written[way[0], way[1]]).any(axis=0)
        costs = to_own + 1e6 * (crossed | filled)
        first = np.unravel_index(np.argmin(costs), costs.shape)
        if costs[first] < _LONGEST:
            middle = np.array([xs[first[1:]] + wide / 2 + 3, ys[first[1:]] + high / 2 + 3])
            hold = float(holds[first[0], 1]), float(holds[first[0], 0])
            return _Place(middle, ends[:, first[0], first[1], first[2]][::-1].astype(float), hold, True)
    return None


def _boxes(taken: BoolArray, wide: int, high: int) -> tuple[IntArray, IntArray, BoolArray]:
    """Lower and left edges of boxes all over a plot, and which of them are not free."""
    height, width = taken.shape
    ys, xs = np.mgrid[0 : max(height - high, 1) : 3, 0 : max(width - wide, 1) : 4]
    sums = np.pad(taken.cumsum(0).cumsum(1), ((1, 1 + high), (1, 1 + wide)), mode="edge")
    return ys, xs, sums[ys + high, xs + wide] - sums[ys, xs + wide] - sums[ys + high, xs] + sums[ys, xs] > 0


def _along(own: BoolArray, far: FloatArray, taken: BoolArray, wide: float, high: float) -> _Place | None:
    """Where a label fits beside its line, turned as the line is there: as far from the others as can be."""
    y, x = own.nonzero()
    order = np.argsort(x, kind="stable")
    x, y = x[order].astype(float), y[order].astype(float)
    u, v = np.meshgrid(np.linspace(-wide / 2 - 2, wide / 2 + 2, 60), np.linspace(-high / 2 - 1, high / 2 + 1, 12))
    best: tuple[float, _Place] | None = None
    for at in np.arange(wide / 2, own.shape[1] - wide / 2, 4.0):
        under = np.abs(x - at) <= wide / 2
        if under.sum() < 0.4 * wide:
            continue
        slope, level = np.polyfit(x[under] - at, y[under], 1)
        bow = float(np.abs(y[under] - level - slope * (x[under] - at)).max())
        turn = np.arctan(slope)
        if bow > 4 or abs(turn) > 1.1:
            continue
        for side in (1, -1):
            reach = side * (high / 2 + 4 + bow)
            middle = np.array([at - reach * np.sin(turn), level + reach * np.cos(turn)])
            columns = (middle[0] + u * np.cos(turn) - v * np.sin(turn)).astype(int)
            rows = (middle[1] + u * np.sin(turn) + v * np.cos(turn)).astype(int)
            inside = (columns >= 0) & (columns < own.shape[1]) & (rows >= 0) & (rows < own.shape[0])
            if not inside.all() or taken[rows, columns].any():
                continue
            room = min(float(far[rows, columns].min()), 12.0)
            if room >= 4 + bow and (best is None or room > best[0]):
                best = room, _Place(middle, middle, degrees=float(np.degrees(turn)))
    return best and best[1]


def _size(axes: Axes, name: str) -> tuple[float, float]:
    """Width and height of a label, in pixels."""
    text = axes.text(0, 0, name, size=_LABEL)
    box = text.get_window_extent()
    text.remove()
    return box.width, box.height


def _ink(axes: Axes, line: Line2D, width: int, height: int) -> BoolArray:
    """The pixels of a plot that a line goes through."""
    mask = np.zeros((height, width), dtype=bool)
    points = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float)) - axes.get_window_extent().min
    if line.get_linestyle() in ("None", "none", "", " "):
        near = points[np.isfinite(points).all(axis=1)]
        reach = int(line.get_markersize()) + 1
        near = np.concatenate([near + shift for shift in itertools.product((-reach, 0, reach), repeat=2)])
    else:
        pieces = [np.empty((0, 2))]
        for start, stop in itertools.pairwise(points):
            if np.isfinite([start, stop]).all():
                steps = int(min(np.abs(stop - start).max(), 4 * (width + height))) + 2
                pieces.append(np.linspace(start, stop, steps))
        near = np.concatenate(pieces)
    x, y = near.round().astype(int).T
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    mask[y[inside], x[inside]] = True
    return mask


def _fill(mask: BoolArray, left: float, bottom: float, right: float, top: float) -> None:
    mask[max(int(bottom) - 1, 0) : max(int(top) + 2, 0), max(int(left) - 2, 0) : max(int(right) + 3, 0)] = True


def outline(text: Text) -> Path:
    """The rectangle that a text fills, turned as it is."""
    box, degrees = Text.get_window_extent(text), text.get_rotation()
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2
    text.set_rotation(0)
    flat = Text.get_window_extent(text)  # of the same middle
    text.set_rotation(degrees)
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    corners *= [flat.width / 2 - 0.5, flat.height / 2 - 0.5]
    cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return Path(corners @ np.array([[cos, sin], [-sin, cos]]) + middle, closed=True)


def _x(figure: Figure) -> float:
    return _MARGIN / 72 / figure.get_figwidth()


def _y(figure: Figure, used: float) -> float:
    return 1 - (_MARGIN + used) / 72 / figure.get_figheight()


def _wrap(figure: Figure, written: Text, text: str) -> None:
    """Break a text into lines as wide as the figure, measured, none short if it can be; formulas and points stay whole."""
    words = re.findall(r"(?:\\\$|\$(?:\\\$|[^$])*\$|\([\d., ]+\)|\S)+", text)

    def broken(room: float) -> list[str]:
        lines: list[str] = []
        for word in words:
            longer = f"{lines[-1]} {word}" if lines else word
            written.set_text(longer)
            if lines and written.get_window_extent().width <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    room = figure.bbox.width - 2 * _MARGIN / 72 * figure.dpi
    lines = broken(room)
    if len(lines) > 1:
        lines = next((less for share in (0.6, 0.7, 0.8, 0.9) if len(less := broken(share * room)) == len(lines)), lines)
    written.set_text("\n".join(lines))
