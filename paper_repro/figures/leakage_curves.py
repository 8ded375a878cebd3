"""Least leakage against distortion: curves as points, the printed formulas beside them, and their figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import matplotlib.path
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from paper_repro.checks import check_distortion
from paper_repro.curves import leakage_curve, with_jumps
from paper_repro.figures.registry import COLORS, DASHES, HATCHES, by_letters, set_label
from paper_repro.figures.style import DISTORTION, LEAKAGE, draw_shaded, drawing, need, rounded
from paper_repro.notions import DifferentialPrivacy, Notion
from paper_repro.notions.exact_curves import ExactCurve, exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import FloatArray

__all__ = [
    "add_curve",
    "check_names",
    "curve_points",
    "curve_table",
    "draw_curves",
    "draw_leakages",
    "in_print",
    "leakage_table",
    "printed_table",
]

_DECIMALS = 8  # at most: of what is certified to 1e-9 nats
# A printed curve that differs by less is the exact one, and a jump of less is none.
_SAME = 1e-6
# A printed formula's limit at a threshold is taken this far below it; a smaller step than _JUMP is no jump.
_BESIDE, _JUMP = 1e-9, 1e-3
# Leakages below this are drawn as 0.
_ZERO = 1e-6
_PRINTED: dict[str, Any] = {"linestyle": (0, (1, 1.6)), "linewidth": 1.1}
_THRESHOLD: dict[str, Any] = {"color": "0.45", "linestyle": (0, (4, 3)), "linewidth": 0.9}
_MARKED: dict[str, Any] = {"color": "0.3", "marker": "D", "mfc": "white", "ms": 4, "ls": ""}


def curve_table(
    sources: Sequence[SourceSet],
    notions: Sequence[Notion],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 200,
) -> pd.DataFrame:
    """Points of privacy-distortion curves, with both ends of every jump.

    Parameters
    ----------
    sources : sequence of SourceSet, of different names
    notions : sequence of Notion
    smallest_distortion, largest_distortion : float in [0, 1]
    points : int, >= 2
        Of an even grid; the breakpoints of curves that are known in closed form are added.

    Returns
    -------
    DataFrame
        ``source_set``, ``class``, ``curve`` (the notion), ``distortion``, ``leakage`` in nats, ``exact``, the same unless the
        row is of a printed formula, and ``end``: ``open`` for the limit below a jump, ``closed`` for the value at it, else
        empty.

    Raises
    ------
    ValueError
        If there is no source set or notion, two sets have one name, or the grid is none.

    >>> from paper_repro.notions import MaximalLeakage
    >>> curve_table([SourceSet([0.6, 0.4])], [MaximalLeakage()], 0.1, 0.4, 2)["leakage"].tolist()
    [0.559616, 0.0]
    """
    check_names(sources)
    need(notions, "notion")
    grid = _grid(smallest_distortion, largest_distortion, points)
    return pd.concat([_curve(source, notion, grid) for source in sources for notion in notions], ignore_index=True)


def printed_table(
    sources: Sequence[SourceSet],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 60,
) -> pd.DataFrame:
    """Curves that Theorems 2 and 3 of Kalantari et al. 2018 give as printed, where they differ from the exact ones.

    Class II sets: Theorem 2. Class III sets of Tables III and IV: Theorem 3 for the Class II set and the swaps that they are
    built from, whose folded images coincide. Both with ``D_i`` in [0, 1]. Columns as of :func:`curve_table`, ``curve`` being
    ``as printed``; empty for other sets, and where a printed curve is within 1e-6 nats of the exact one throughout.

    >>> printed_table([load_source_set("P_II_6")], 0.1, 0.2, 2)["leakage"].tolist()
    [3.55534806, 2.54374715]
    """
    grid = _grid(smallest_distortion, largest_distortion, points)
    tables = {source.name: source for source in sources}
    frames = [curve_points(None, "", [], [])]
    for source in sources:
        printed, thresholds = _printed_curve(source, tables)
        if printed is None:
            continue
        curve, values = exact_curve(source), np.array([printed(value) for value in grid])
        exact = curve.leakage(grid)
        if np.allclose(values, exact, rtol=0, atol=_SAME):
            continue
        frame = curve_points(source, "as printed", grid, values).assign(exact=exact)
        for threshold in (place for place in thresholds if grid[0] < place < grid[-1]):
            places = np.array([threshold - _BESIDE, threshold])
            leakages = np.array([printed(place) for place in places])
            if leakages[0] - leakages[1] > _JUMP:
                ends = curve_points(source, "as printed", [threshold] * 2, leakages)
                ends = ends.assign(exact=curve.leakage(places), end=["open", "closed"])
                below, above = frame[frame.distortion < threshold], frame[frame.distortion > threshold]
                frame = pd.concat([below, ends, above], ignore_index=True)
        frames.append(rounded(frame, _DECIMALS, distortion=9))
    return pd.concat(frames, ignore_index=True)


def leakage_table(
    sources: Sequence[SourceSet], distortions: Sequence[float], notion: Notion | None = None
) -> pd.DataFrame:
    """Least leakage in nats at a grid of distortions: one row a source set, one column a distortion.

    Raises ValueError if there is no source set or distortion, or two sets have one name.

    >>> print(leakage_table([load_source_set("P_II_6")], [0.2, 0.3]).round(4).to_string(index=False))
    source_set    0.2  0.3
        P_II_6 2.6773  0.0
    """
    check_names(sources)
    need(distortions, "distortion")
    notion = notion or DifferentialPrivacy()
    columns: list[str] = []
    for distortion in distortions:
        name = f"{distortion:g}"
        columns.append(f"{name} ({columns.count(name) + 1})" if name in columns else name)
    frame = pd.DataFrame([leakage_curve(source, distortions, notion=notion) for source in sources], columns=columns)
    frame.insert(0, "source_set", [source.name for source in sources])
    return rounded(frame, _certified_decimals(notion))


@drawing("source_set", "class", "curve", "distortion", "leakage", "exact", "end")
def draw_curves(table: pd.DataFrame, title: str = "", bands: pd.DataFrame | None = None) -> Figure:
    """Privacy-distortion curves, with every jump drawn as one; below them, how far printed formulas are off.

    Parameters
    ----------
    table : DataFrame
        As of :func:`curve_table`, with rows of :func:`printed_table` and ``lemma_table`` appended if wanted: formulas as printed
        become thin dotted lines and a second panel, lemmas become markers.
    title : str
    bands : DataFrame, optional
        Printed intervals to shade: ``curve``, ``distortion``, ``lower``, ``upper``.

    Raises
    ------
    ValueError
        If a column is missing, or there are more curves than can be told apart (7).
    """
    printed, lemmas = table["curve"].eq("as printed"), table["curve"].str.startswith("Lemma")
    exact = table[~printed & ~lemmas]
    key = "source_set" if table["source_set"].nunique() > 1 else "curve"
    styles = _styles(exact[key])
    parts = 2 if printed.any() else 1
    figure = Figure(figsize=(7.2, (4.6, 6.2)[parts - 1]), layout="constrained")
    axes, *below = figure.subplots(parts, 1, sharex=True, squeeze=False, height_ratios=[3, 1.3][:parts])[:, 0]
    handles: list[Line2D | Patch] = []
    for name, rows in exact.groupby(key, sort=False):
        style = styles[str(name)]
        add_curve(axes, rows, "leakage", **style)
        label = f"Class {rows['class'].iloc[0]}: {name}" if key == "source_set" else str(name)
        handles.append(Line2D([], [], **style, label=label))
    if below:
        handles.append(_draw_printed(axes, below[0], table[printed], styles))
    handles += [_draw_lemma(axes, str(lemma), rows) for lemma, rows in table[lemmas].groupby("curve", sort=False)]
    if exact["end"].eq("open").any():
        marks: dict[str, Any] = {"color": "0.3", "marker": "o", "mfc": "white", "ms": 4.5, "ls": ":", "lw": 0.8}
        handles.append(Line2D([], [], **marks, label="jump: open and closed end"))
    figure.axes[-1].set(xlabel=DISTORTION, xlim=(0, float(table["distortion"].max())))
    axes.set(ylabel=LEAKAGE, title=title)
    axes.axhline(0, color="0.6", linewidth=0.8, zorder=1)
    if bands is not None:
        handles += _draw_bands(axes, bands, styles)
    _place_legend(figure, axes, handles)
    return figure


@drawing("source_set")
def draw_leakages(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Least leakages as a shaded table: one row a source set, one column a distortion; as of :func:`leakage_table`.

    Cells where nothing leaks are blank.
    """
    names = table["source_set"].tolist()
    named = table.drop(columns="source_set").set_axis([set_label(name) for name in names])
    figure = draw_shaded(named, title, f"{DISTORTION}", "{:.3f}", subtitle)
    for row in by_letters(names):
        figure.axes[0].axhline(row, color="white", linewidth=6)
    return figure


def check_names(sources: Sequence[SourceSet]) -> None:
    """Raises ValueError unless there is a source set and each has a name of its own: rows are told apart by them."""
    need(sources, "source set")
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two source sets are named {name!r}; rename one of the files, or list the set once")


def curve_points(source: SourceSet | None, curve: str, distortions: ArrayLike, leakages: ArrayLike) -> pd.DataFrame:
    """Points of one curve in the columns of :func:`curve_table`, with their types even if there are none.

    Distortions and leakages have shape (points,).
    """
    name, source_class = (source.name, source.source_class) if source else ("", "")
    texts = {"source_set": name, "class": source_class, "curve": curve}
    numbers = {"distortion": distortions, "leakage": leakages, "exact": leakages}
    return pd.DataFrame({**texts, **numbers, "end": ""}).astype(dict.fromkeys([*texts, "end"], "str"))


def in_print(notion: Notion) -> tuple[str, dict[str, Any]]:
    """A notion as functions of :mod:`paper_repro.papers` take it: its name, and its ``alpha`` or ``delta``, if it has one."""
    return notion.name, {name: getattr(notion, name) for name in ("alpha", "delta") if hasattr(notion, name)}


def add_curve(axes: Axes, rows: pd.DataFrame, column: str, *, ends: bool = True, **style: Any) -> None:
    """Draw one curve, broken between the open and the closed end of each jump, and ended where it has reached 0 for good."""
    opens = [position for position, end in enumerate(rows["end"]) if end == "open"]
    above = rows[column].abs().gt(_ZERO).to_numpy().nonzero()[0]
    rows = rows.iloc[: max([*above, *opens], default=-1) + 2]
    starts = [0, *(position + 1 for position in opens)]
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        piece = rows.iloc[start:stop]
        axes.plot(piece["distortion"], piece[column], clip_on=False, **style)
    for position in opens if ends else []:
        jump = rows.iloc[position : position + 2]
        color, order = style["color"], style["zorder"]
        axes.plot(jump["distortion"], jump[column], ls=":", lw=0.8, color=color, zorder=order)
        for (_, end), fill in zip(jump.iterrows(), ("white", color), strict=True):
            axes.plot(
                end["distortion"], end[column], "o", color=color, mfc=fill, ms=4.5, zorder=order + 1, clip_on=False
            )


def _curve(source: SourceSet, notion: Notion, grid: FloatArray) -> pd.DataFrame:
    leakages = partial(leakage_curve, source, notion=notion)
    exact = notion.exact_curve(source)
    if exact is not None:
        points = _with_breakpoints(exact, grid, leakages)
    elif notion.jumps:
        points = with_jumps(lambda distortion: float(leakages([distortion])[0]), grid, leakages(grid))
    else:
        points = grid, leakages(grid), [""] * len(grid)
    frame = curve_points(source, notion.name, *points[:2]).assign(end=points[2])
    return rounded(frame, _certified_decimals(notion), distortion=9)


def _with_breakpoints(
    exact: ExactCurve, grid: FloatArray, leakages: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray, list[str]]:
    """The grid with the breakpoints inside it, the leakages there, and the ends of the jump at the last one."""
    inside = exact.breakpoints[(exact.breakpoints > grid[0]) & (exact.breakpoints < grid[-1])]
    apart = np.abs(grid[:, np.newaxis] - inside).min(axis=1, initial=1.0) > 1e-9
    places = np.sort(np.append(grid[apart], inside))
    values, ends = leakages(places), [""] * len(places)
    limit = exact.limits_from_below[-1:].sum()
    if len(inside) and inside[-1] == exact.breakpoints[-1] and limit > _SAME:
        jump = int(np.searchsorted(places, inside[-1]))
        places, values = np.insert(places, jump, inside[-1]), np.insert(values, jump, limit)
        ends[jump : jump + 1] = ["open", "closed"]
    return places, values, ends


def _printed_curve(
    source: SourceSet, known: Mapping[str, SourceSet]
) -> tuple[Callable[[float], float] | None, list[float]]:
    """The formula that the paper gives for this set, read with ``D_i`` in [0, 1], and where by its own words it changes form.

    These are ``D^(1)`` and where zero begins. A set that Class III sets are built from is read only if it is not ``known``.
    """
    if source.source_class == "II":
        thresholds = kalantari2018.distortion_thresholds(source)
        return partial(kalantari2018.theorem_2, source), [float(thresholds[1]), float(thresholds[-2])]
    if source.name not in kalantari2018.CONSTRUCTIONS:
        return None, []
    name, swaps = kalantari2018.CONSTRUCTIONS[source.name]
    base, size = known.get(name) or load_source_set(name), source.alphabet_size
    swapped = [_swap(size, *pair) for pair in swaps]
    ends = [float(kalantari2018.distortion_thresholds(base)[1]), (size - 1) / size]
    return lambda distortion: kalantari2018.theorem_3(base, distortion, permutations=swapped).upper, ends


def _swap(size: int, first: int, second: int) -> list[int]:
    letters = list(range(size))
    letters[first], letters[second] = letters[second], letters[first]
    return letters


def _grid(smallest: float, largest: float, points: int) -> FloatArray:
    check_distortion(smallest)
    check_distortion(largest)
    if not (smallest < largest and points >= 2):
        raise ValueError(
            f"a grid needs smallest_distortion < largest_distortion and at least 2 points, "
            f"got {smallest!r}, {largest!r} and {points!r}"
        )
    return np.linspace(smallest, largest, points).round(9)


def _styles(names: pd.Series) -> dict[str, dict[str, Any]]:
    """Color and dashes of each curve."""
    different = list(dict.fromkeys(names))
    if len(different) > len(COLORS):
        raise ValueError(
            f"{len(different)} curves cannot be told apart, at most {len(COLORS)} can; draw fewer at a time"
        )
    return {
        name: {"color": color, "linestyle": dashes, "zorder": 3}
        for name, color, dashes in zip(different, COLORS, DASHES, strict=False)
    }


def _draw_printed(axes: Axes, below: Axes, table: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> Line2D:
    """Printed curves as thin lines, and in the panel below how far they are off; the handle for the legend."""
    only = next(iter(styles.values()))
    for name, rows in table.assign(shortfall=table["exact"] - table["leakage"]).groupby("source_set", sort=False):
        style = styles.get(str(name), only)
        add_curve(axes, rows, "leakage", ends=False, **{**style, **_PRINTED})
        add_curve(below, rows, "shortfall", **style)
    below.set(ylabel="exact minus\nprinted (nats)")
    below.axhline(0, color="0.6", linewidth=0.8, zorder=1)
    return Line2D([], [], color="0.3", **_PRINTED, label="as printed, where it differs")


def _draw_lemma(axes: Axes, lemma: str, rows: pd.DataFrame) -> Line2D:
    """A closed form as markers, a single threshold as a line across; the handle for the legend."""
    if len(rows) == 1:
        place = float(rows["distortion"].iloc[0])
        axes.axvline(place, ymax=0.45, zorder=1, **_THRESHOLD)
        return Line2D([], [], **_THRESHOLD, label=f"{lemma}: nothing need leak from D = {place:g}")
    axes.plot(rows["distortion"], rows["leakage"], zorder=5, clip_on=False, **_MARKED)
    return Line2D([], [], **_MARKED, label=f"{lemma}: closed form of mutual information")


def _draw_bands(axes: Axes, bands: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> list[Patch]:
    """Intervals hatched in the colors of their curves; the handles for the legend."""
    handles = []
    for (name, rows), hatch in zip(bands.groupby("curve", sort=False), HATCHES, strict=False):
        style: Any = {"facecolor": "none", "edgecolor": styles[str(name)]["color"], "hatch": hatch, "linewidth": 0.0}
        axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], zorder=1, alpha=0.7, **style)
        handles.append(Patch(**style, alpha=0.7, label=f"printed interval: {name}"))
    return handles


def _place_legend(figure: Figure, axes: Axes, handles: list[Line2D | Patch]) -> None:
    """In the upper right corner, where falling curves leave room; beside the axes if they do not."""
    legend = axes.legend(handles=handles, loc="upper right")
    figure.draw_without_rendering()
    box = legend.get_window_extent().padded(3)
    for line in axes.lines:
        points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        if matplotlib.path.Path(points).intersects_bbox(box, filled=False):
            legend.remove()
            figure.legend(handles=handles, loc="outside right upper")
            return


def _certified_decimals(notion: Notion) -> int:
    """Decimals of a leakage in nats that are certified."""
    return min(_DECIMALS, round(-math.log10(notion.tolerance)))
