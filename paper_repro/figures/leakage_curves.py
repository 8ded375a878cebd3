"""Least leakage against distortion: the curves as points, the printed formulas beside them, and their figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
import matplotlib.path
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.checks import check_distortion
from paper_repro.curves import exact_curve, with_jumps
from paper_repro.figures.style import COLORS, DASHES, STYLE, draw_grid, need_columns
from paper_repro.notions import ApproximateDP, DifferentialPrivacy, Notion
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import leakage_curve
from paper_repro.types import FloatArray

__all__ = [
    "curve_table",
    "draw_curves",
    "draw_falling",
    "draw_leakages",
    "leakage_table",
    "printed_table",
    "sources_of",
]

# What is certified, less the last digit: 1e-9 in distortion, and 1e-6 nats for mutual information.
_DECIMALS = {"distortion": 8, "nats": 6}

# A printed curve that differs by less is the exact one.
_SAME = 1e-6

# A printed formula's limit at a threshold is taken this far below it; a smaller step than _JUMP is no jump.
_BESIDE, _JUMP = 1e-9, 1e-3


def curve_table(
    names: Sequence[str],
    notions: Sequence[Notion],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 200,
) -> pd.DataFrame:
    """Points of privacy-distortion curves, with both ends of every jump.

    Parameters
    ----------
    names : source sets, by name or path
    notions : sequence of Notion
    smallest_distortion, largest_distortion : float in [0, 1]
    points : int, >= 2
        Of an even grid; the breakpoints of the exact differential-privacy curve are added.

    Returns
    -------
    DataFrame
        ``source_set``, ``class``, ``curve`` (the notion), ``distortion``, ``leakage`` in nats, ``exact``, the same unless the
        row is of a printed formula, and ``end``: ``open`` for the limit below a jump, ``closed`` for the value at it, else
        empty.
    """
    grid = _grid(smallest_distortion, largest_distortion, points)
    frames = [_curve(source, notion, grid) for source in sources_of(names) for notion in notions]
    return pd.concat([_no_rows(), *frames], ignore_index=True)


def printed_table(
    names: Sequence[str],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 60,
) -> pd.DataFrame:
    """Curves that Theorems 2 and 3 of Kalantari et al. 2018 give as printed, where they differ from the exact ones.

    Class II sets: Theorem 2. Class III sets of Tables III and IV: Theorem 3 for the Class II set and the swaps that they are
    built from, whose folded images coincide. Both with ``D_i`` in [0, 1]. Columns as of :func:`curve_table`, ``curve`` being
    ``as printed``; empty for other sets, and where a printed curve is within 1e-6 nats of the exact one throughout.
    """
    grid = _grid(smallest_distortion, largest_distortion, points)
    frames = [_no_rows()]
    for source in sources_of(names):
        printed = _printed_curve(source)
        if printed is None:
            continue
        curve, values = exact_curve(source), np.array([printed(value) for value in grid])
        exact = curve.leakage(grid)
        if np.allclose(values, exact, rtol=0, atol=_SAME):
            continue
        frame = _frame(source, "as printed", grid, values).assign(exact=exact)
        for threshold in _printed_ends(source):
            if not grid[0] < threshold < grid[-1]:
                continue
            below, at = printed(threshold - _BESIDE), printed(threshold)
            if below - at > _JUMP:
                ends = _frame(source, "as printed", np.array([threshold, threshold]), np.array([below, at]))
                limit, value = curve.leakage(threshold - _BESIDE), curve.leakage(threshold)
                ends = ends.assign(exact=[float(limit), float(value)], end=["open", "closed"])
                frame = pd.concat(
                    [frame[frame.distortion < threshold], ends, frame[frame.distortion > threshold]],
                    ignore_index=True,
                )
        frames.append(_rounded(frame, "distortion"))
    return pd.concat(frames, ignore_index=True)


def leakage_table(names: Sequence[str], distortions: Sequence[float], notion: Notion | None = None) -> pd.DataFrame:
    """Least leakage in nats at a grid of distortions: one row a source set, one column a distortion.

    >>> print(leakage_table(["P_II_6", "P_I_6"], [0.2, 0.3]).round(4).to_string(index=False))
    source_set    0.2    0.3
        P_II_6 2.6773 0.0000
         P_I_6 2.9957 2.4567
    """
    notion = notion or DifferentialPrivacy()
    sources = sources_of(names)
    values = [leakage_curve(source, distortions, notion=notion) for source in sources]
    columns: list[str] = []
    for distortion in distortions:
        name = f"{distortion:g}"
        columns.append(f"{name} ({columns.count(name) + 1})" if name in columns else name)
    frame = pd.DataFrame(values, columns=columns)
    frame.insert(0, "source_set", [source.name for source in sources])
    return _rounded(frame, notion.gap_unit)


_ZERO = 1e-6

_PRINTED: dict[str, Any] = {"linestyle": (0, (1, 1.6)), "linewidth": 1.1}

_DISTORTION = "worst-case Hamming distortion D (probability that a letter is changed)"

_LEAKAGE = "leakage (nats)"


def draw_curves(table: pd.DataFrame, title: str = "") -> Figure:
    """Privacy-distortion curves, with every jump drawn as one; below them, how far printed formulas are off.

    Parameters
    ----------
    table : DataFrame
        As of :func:`curve_table`, with rows of ``printed_table`` and ``lemma_table`` appended if wanted:
        formulas as printed become thin dotted lines and a second panel, lemmas become markers.
    title : str

    Raises
    ------
    ValueError
        If a column is missing, or there are more curves than can be told apart (7).
    """
    need_columns(table, ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"])
    printed = table["curve"].eq("as printed")
    lemmas = table["curve"].str.startswith("Lemma")
    exact = table[~printed & ~lemmas]
    key = "source_set" if table["source_set"].nunique() > 1 else "curve"
    if exact[key].nunique() > len(COLORS):
        raise ValueError(
            f"{exact[key].nunique()} curves cannot be told apart, at most {len(COLORS)} can; draw fewer at a time"
        )
    styles = {
        name: {"color": COLORS[number % len(COLORS)], "linestyle": DASHES[number % len(DASHES)], "zorder": 3}
        for number, name in enumerate(dict.fromkeys(exact[key]))
    }
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 6.2 if printed.any() else 4.6), layout="constrained")
        axes, *rest = figure.subplots(
            2 if printed.any() else 1, 1, sharex=True, squeeze=False, height_ratios=[3, 1.3][: 1 + printed.any()]
        )[:, 0]
        for name, rows in exact.groupby(key, sort=False):
            draw_falling(axes, rows, "leakage", **styles[name])
        handles = [
            Line2D(
                [],
                [],
                **style,
                label=f"Class {exact.loc[exact[key] == name, 'class'].iloc[0]}: {name}"
                if key == "source_set"
                else name,
            )
            for name, style in styles.items()
        ]
        for name, rows in (
            table[printed].assign(shortfall=table["exact"] - table["leakage"]).groupby("source_set", sort=False)
        ):
            style = styles[name if key == "source_set" else exact[key].iloc[0]]
            draw_falling(axes, rows, "leakage", ends=False, **{**style, **_PRINTED})
            draw_falling(rest[0], rows, "shortfall", **style)
        if printed.any():
            handles.append(Line2D([], [], color="0.3", **_PRINTED, label="as printed, where it differs"))
            rest[0].set(ylabel="exact minus\nprinted (nats)")
            rest[0].axhline(0, color="0.6", linewidth=0.8, zorder=1)
            rest[0].grid(alpha=0.25, linewidth=0.6)
        for lemma, rows in table[lemmas].groupby("curve", sort=False):
            handles.append(_draw_lemma(axes, str(lemma), rows))
        if exact["end"].eq("open").any():
            handles.append(
                Line2D(
                    [],
                    [],
                    color="0.3",
                    marker="o",
                    mfc="white",
                    ms=4.5,
                    ls=":",
                    lw=0.8,
                    label="jump: open and closed end",
                )
            )
        figure.axes[-1].set(xlabel=_DISTORTION, xlim=(0, float(table["distortion"].max())))
        axes.set(ylabel=_LEAKAGE, title=title)
        axes.axhline(0, color="0.6", linewidth=0.8, zorder=1)
        axes.grid(alpha=0.25, linewidth=0.6)
        _place_legend(figure, axes, handles)
    return figure


def draw_leakages(table: pd.DataFrame, title: str = "") -> Figure:
    """Least leakages as a shaded table: one row a source set, one column a distortion.

    ``table`` is as of :func:`leakage_table`. Raises ValueError if ``source_set`` is missing.
    """
    need_columns(table, ["source_set"])
    return draw_grid(table.set_index("source_set"), title, f"{_DISTORTION}; entries: {_LEAKAGE}", "{:.3f}")


def draw_falling(axes: Axes, rows: pd.DataFrame, column: str, *, ends: bool = True, **style: Any) -> None:
    """One curve, broken between the open and the closed end of each jump, and ended where it has reached 0 for good."""
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


def _place_legend(figure: Figure, axes: Axes, handles: list[Line2D]) -> None:
    """In the upper right corner, where falling curves leave room; beside the axes if they do not."""
    legend = axes.legend(handles=handles, loc="upper right")
    figure.draw_without_rendering()
    box = legend.get_window_extent().padded(3)
    for line in axes.lines:
        points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        if mpl.path.Path(points).intersects_bbox(box, filled=False):
            legend.remove()
            figure.legend(handles=handles, loc="outside right upper")
            return


def _draw_lemma(axes: Axes, lemma: str, rows: pd.DataFrame) -> Line2D:
    """A closed form as markers, a single threshold as a line across; the handle for the legend."""
    if len(rows) == 1:
        place = float(rows["distortion"].iloc[0])
        axes.axvline(place, ymax=0.45, color="0.45", linestyle=(0, (4, 3)), linewidth=0.9, zorder=1)
        return Line2D(
            [],
            [],
            color="0.45",
            linestyle=(0, (4, 3)),
            linewidth=0.9,
            label=f"{lemma}: nothing need leak from D = {place:g}",
        )
    axes.plot(rows["distortion"], rows["leakage"], "D", color="0.3", mfc="white", ms=4, zorder=5, clip_on=False)
    return Line2D(
        [], [], color="0.3", marker="D", mfc="white", ms=4, ls="", label=f"{lemma}: closed form of mutual information"
    )


def sources_of(names: Sequence[str]) -> list[SourceSet]:
    """Load the sets, whose names must differ: rows are told apart by them."""
    sources = [load_source_set(name) for name in names]
    seen: set[str] = set()
    for source in sources:
        if source.name in seen:
            raise ValueError(
                f"two source sets are named {source.name!r}; rename one of the files, or list the set once"
            )
        seen.add(source.name)
    return sources


def _curve(source: SourceSet, notion: Notion, grid: FloatArray) -> pd.DataFrame:
    if notion.gap_unit != "distortion":
        return _rounded(_frame(source, notion.name, grid, leakage_curve(source, grid, notion=notion)), notion.gap_unit)
    if not isinstance(notion, DifferentialPrivacy | ApproximateDP) or notion.adjacency is not None:
        places, leakages, ends = with_jumps(
            lambda distortion: float(leakage_curve(source, [distortion], notion=notion)[0]),
            grid,
            leakage_curve(source, grid, notion=notion),
        )
        return _rounded(_frame(source, notion.name, places, leakages).assign(end=ends), notion.gap_unit)
    breakpoints, limit = _breakpoints(source, notion)
    inside = breakpoints[(breakpoints > grid[:1].sum()) & (breakpoints < grid[-1:].sum())]
    apart = np.abs(grid[:, np.newaxis] - inside).min(axis=1, initial=1.0) > 1e-9
    grid = np.sort(np.append(grid[apart], inside))
    frame = _frame(source, notion.name, grid, leakage_curve(source, grid, notion=notion))
    if len(inside) and inside[-1] == breakpoints[-1] and limit > _SAME:
        jump = np.searchsorted(grid, inside[-1])
        frame.loc[jump, "end"] = "closed"
        below = frame.loc[[jump]].assign(leakage=limit, exact=limit, end="open")
        frame = pd.concat([frame[:jump], below, frame[jump:]], ignore_index=True)
    return _rounded(frame, notion.gap_unit)


def _breakpoints(source: SourceSet, notion: DifferentialPrivacy | ApproximateDP) -> tuple[FloatArray, float]:
    """Where the exact curve bends, the last being its jump to 0, and its limit below the jump."""
    exact = exact_curve(source)
    delta = notion.delta if isinstance(notion, ApproximateDP) else 0.0
    return (1 - delta) * exact.breakpoints, float(exact.limits_from_below[-1:].sum())


def _no_rows() -> pd.DataFrame:
    """The columns of a table of curves, with their types, so that any number of curves can follow."""
    texts, numbers = pd.Series(dtype="str"), pd.Series(dtype=float)
    names = {"source_set": texts, "class": texts, "curve": texts, "distortion": numbers, "leakage": numbers}
    return pd.DataFrame({**names, "exact": numbers, "end": texts})


def _frame(source: SourceSet, curve: str, distortions: FloatArray, leakages: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source_set": source.name,
            "class": source.source_class,
            "curve": curve,
            "distortion": distortions,
            "leakage": leakages,
            "exact": leakages,
            "end": "",
        }
    )


def _printed_curve(source: SourceSet) -> Callable[[float], float] | None:
    """The formula that the paper gives for this set, read with ``D_i`` in [0, 1]; None if it gives none."""
    if source.source_class == "II":
        return partial(kalantari2018.theorem_2, source)
    if source.name not in kalantari2018.CONSTRUCTIONS:
        return None
    base, swaps = kalantari2018.CONSTRUCTIONS[source.name]
    permutations = [_swap(source.alphabet_size, *pair) for pair in swaps]
    ordered = load_source_set(base)
    return lambda distortion: kalantari2018.theorem_3(ordered, distortion, permutations=permutations).upper


def _printed_ends(source: SourceSet) -> list[float]:
    """Where the formulas change form by their own words: at ``D^(1)``, and where they say zero begins."""
    size = source.alphabet_size
    if source.source_class == "II":
        thresholds = kalantari2018.distortion_thresholds(source)
        return [float(thresholds[1]), float(thresholds[-2])]
    base, _ = kalantari2018.CONSTRUCTIONS[source.name]
    return [float(kalantari2018.distortion_thresholds(load_source_set(base))[1]), (size - 1) / size]


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


def _rounded(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Round to the digits that are certified; what is left of a zero is 0."""
    numbers = frame.select_dtypes("float").columns
    digits = {column: 9 if column == "distortion" else _DECIMALS[unit] for column in numbers}
    frame[numbers] = frame[numbers].round(digits) + 0.0
    return frame
