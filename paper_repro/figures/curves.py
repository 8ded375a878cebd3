"""Least leakage against distortion: curves as points that can be joined by straight lines, and their drawing."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from paper_repro.checks import check_distortion
from paper_repro.curves import leakage_curve, refined
from paper_repro.figures.layout import PAGE, headline, label_lines
from paper_repro.figures.registry import PRINTED, Look, notion_look, set_label, set_looks
from paper_repro.figures.style import DISTORTION, LEAKAGE, drawing, need, rounded
from paper_repro.notions import Notion
from paper_repro.notions.exact_curves import ExactCurve
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "DECIMALS",
    "SAME",
    "UNBOUNDED",
    "Cited",
    "add_curve",
    "capitalized",
    "certified_decimals",
    "check_names",
    "cited_as",
    "curve_points",
    "curve_table",
    "draw_curves",
    "finding_of_curves",
    "grid_of",
    "in_print",
    "parameter_texts",
    "spelled",
    "subtitle_of",
]

DECIMALS = 8  # at most: of what is certified to 1e-9 nats
# A printed curve that differs by less is the exact one, and a jump of less is none.
SAME = 1e-6
# Leakages below this are drawn as 0.
_ZERO = 1e-6
# Notions that are infinite where nothing is changed; the others never exceed what there is to know.
UNBOUNDED = ("differential privacy", "approximate differential privacy", "Renyi differential privacy")
# More curves than these have a panel for each kind of notion.
_MOST_TOGETHER = 4
_JUMP: dict[str, Any] = {"linestyle": ":", "linewidth": 0.8}
_ZERO_LINE: dict[str, Any] = {"color": "0.55", "linewidth": 0.8, "zorder": 1}
_SHARED = "0.25"
_INTERVAL = "printed interval"
_LONGEST, _MOST_SHOWN = 80, 6


def curve_table(
    sources: Sequence[SourceSet],
    notions: Sequence[Notion],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 25,
    places: ArrayLike = (),
) -> pd.DataFrame:
    """Points of privacy-distortion curves, with both ends of every jump; straight lines between them are right to half a pixel.

    Parameters
    ----------
    sources : sequence of SourceSet, of different names
    notions : sequence of Notion
    smallest_distortion, largest_distortion : float in [0, 1]
    points : int, >= 2
        At least, of an even grid; breakpoints, zeros and what a curved line needs are added.
    places : array_like, shape (places,), optional
        More distortions for the grid.

    Returns
    -------
    DataFrame
        ``source_set``, ``class``, ``curve`` (the notion), ``distortion``, ``leakage`` in nats, ``exact``, the same unless the
        row is of a printed formula, and ``end``: ``open`` for the limit below a jump, ``closed`` for the value at it, else
        empty.

    Raises
    ------
    ValueError
        If there is no source set or notion, two sets have one name, or the grid is not valid.

    >>> from paper_repro.notions import MaximalLeakage
    >>> table = curve_table([SourceSet([0.6, 0.4])], [MaximalLeakage()], 0.1, 0.45, 2)
    >>> table[table["distortion"].isin([0.1, 0.4])]["leakage"].tolist()
    [0.559616, 0.0]
    """
    check_names(sources)
    need(notions, "notion")
    grid = np.union1d(grid_of(smallest_distortion, largest_distortion, points), np.asarray(places, dtype=float))
    return pd.concat([_curve(source, notion, grid) for source in sources for notion in notions], ignore_index=True)


def check_names(sources: Sequence[SourceSet]) -> None:
    """Raises ValueError unless there is a source set and each has a name of its own, which tells its rows from others."""
    need(sources, "source set")
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"source sets must have different names; got {name!r} twice. Rename one of the files, or list the set once."
            )


def curve_points(source: SourceSet | None, curve: str, distortions: ArrayLike, leakages: ArrayLike) -> pd.DataFrame:
    """Points of one curve in the columns of :func:`curve_table`, with their types even if there are none.

    Distortions and leakages have shape (points,).
    """
    name, source_class = (source.name, source.source_class) if source else ("", "")
    texts = {"source_set": name, "class": source_class, "curve": curve}
    numbers = {"distortion": distortions, "leakage": leakages, "exact": leakages}
    return pd.DataFrame({**texts, **numbers, "end": ""}).astype(dict.fromkeys([*texts, "end"], "str"))


class Cited(NamedTuple):
    """A figure's file name, the paper's figure that it follows, and the ledger's entries on it."""

    name: str
    source: str = ""
    ledger: tuple[str, ...] = ()


def cited_as(known: Mapping[tuple[object, ...], Cited], *key: object, kind: str) -> Cited:
    """The paper's figure with this content; for other content a file name of its own, so that no paper's figure is overwritten.

    >>> cited_as({("P_II_6",): Cited("figure_4")}, "P_II_6", kind="curves").name
    'figure_4'
    >>> cited_as({}, "my set", "P_II_6", kind="curves").name
    'curves_my-set_P_II_6'

    A long name is cut, and ends in a checksum of all of it.
    """
    parts = [re.sub(r"\W+", "-", str(part)).strip("-") for part in key]
    name = "_".join([kind, *filter(None, parts)])
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 9]}_{zlib.crc32(name.encode()):08x}"
    return known.get(key) or Cited(name)


def subtitle_of(sources: Sequence[SourceSet], notions: Sequence[Notion], source: str = "") -> str:
    r"""Notion, source set, number of categories and the paper's figure, for the line below a figure's title.

    >>> from paper_repro.notions import ApproximateDP
    >>> subtitle_of([SourceSet([0.6, 0.4])], [ApproximateDP(0.1)], "Zhong and Bu 2022, Figure 4")
    'Pointwise (ε, δ)-DP; prior (0.6, 0.4); $\\delta = 0.1$; after Zhong and Bu 2022, Figure 4'
    """
    parts = [notion_look(notions[0].name).label] if len(notions) == 1 else []
    if len(sources) == 1:
        (one,) = sources
        prior = one.vertices[0] if one.vertex_count == 1 and one.alphabet_size <= _MOST_SHOWN else None
        known = f"prior ({', '.join(f'{p:.4g}' for p in prior)})" if prior is not None else ""
        known = known and known + (", Class I" if one.source_class == "I" else "")
        parts.append(
            known or f"source set {set_label(one.name)}, Class {one.source_class}, {_categories(one.alphabet_size)}"
        )
    elif len(sizes := {one.alphabet_size for one in sources}) == 1:
        parts.append(_categories(sizes.pop()))
    parts += parameter_texts(notions)
    parts += [f"after {source}"] if source else []
    return capitalized("; ".join(parts))


def parameter_texts(notions: Sequence[Notion]) -> list[str]:
    r"""Delta and alpha of notions that have them, as formulas; mutual information has none, whose order is 1.

    >>> from paper_repro.notions import MutualInformation, RenyiDP
    >>> parameter_texts([RenyiDP(2), MutualInformation()])
    ['$\\alpha = 2$']
    """
    chosen = [notion for notion in notions if notion.name != "mutual information"]
    given = dict(pair for notion in chosen for pair in in_print(notion)[1].items())
    return [rf"$\{name} = {given[name]:.4g}$" for name in ("delta", "alpha") if name in given]


def in_print(notion: Notion) -> tuple[str, dict[str, Any]]:
    """A notion as functions of :mod:`paper_repro.papers` take it: its name, and its ``alpha`` or ``delta``, if it has one."""
    return notion.name, {name: getattr(notion, name) for name in ("alpha", "delta") if hasattr(notion, name)}


def grid_of(smallest: float, largest: float, points: int) -> FloatArray:
    """An even grid of distortions, shape (points,). Raises ValueError for limits in the wrong order or fewer than 2 points."""
    check_distortion(smallest)
    check_distortion(largest)
    if not (smallest < largest and points >= 2):
        raise ValueError(
            f"the grid must have smallest_distortion < largest_distortion and at least 2 points; "
            f"got {smallest!r}, {largest!r} and {points!r}. Change one of these three."
        )
    return np.linspace(smallest, largest, points).round(9)


def add_curve(axes: Axes, rows: pd.DataFrame, column: str, *, ends: bool = True, **style: Any) -> Line2D:
    """Draw one curve as a line that is broken at each jump and where rows end with ``stops``, up to where it is 0 for good.

    Both ends of a jump are marked, and joined by dots. A curve that is 0 throughout is drawn so. Returns the line.
    """
    opens = [position for position, end in enumerate(rows["end"]) if end == "open"]
    above = rows[column].abs().gt(_ZERO).to_numpy().nonzero()[0]
    last = max([*above, *opens], default=len(rows)) + 2
    breaks = [position + 1 for position, end in enumerate(rows["end"]) if end in ("open", "stops")]
    breaks = [place for place in breaks if place < min(last, len(rows))]
    x, y = (np.insert(rows[name].to_numpy(dtype=float)[:last], breaks, np.nan) for name in ("distortion", column))
    (line,) = axes.plot(x, y, **{"clip_on": False, "zorder": 3, **style})
    color, order, clipped = line.get_color(), line.get_zorder(), line.get_clip_on()
    for position in opens if ends else []:
        jump = rows.iloc[position : position + 2]
        axes.plot(jump["distortion"], jump[column], color=color, zorder=order - 0.5, label="_jump", **_JUMP)
        for (_, end), fill in zip(jump.iterrows(), ("white", color), strict=True):
            mark: dict[str, Any] = {
                "mfc": fill,
                "ms": 4.5,
                "zorder": order + 1,
                "clip_on": clipped,
                "label": f"_{end['end']}",
            }
            axes.plot(end["distortion"], end[column], "o", color=color, **mark)
    return line


@drawing("source_set", "class", "curve", "distortion", "leakage", "exact", "end")
def draw_curves(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Privacy-distortion curves, named on their lines, with every jump drawn as one.

    More than four notions are drawn in two panels: those that have no bound where nothing is changed, and those that have.

    Parameters
    ----------
    table : DataFrame
        As of :func:`curve_table`. Rows of ``lemma_table`` may be appended and become the marks of what is printed; columns
        ``lower`` and ``upper``, as of ``interval_table``, become shaded intervals.
    title, subtitle : str
        The finding, by default :func:`finding_of_curves`, and what the figure is of.

    Raises
    ------
    ValueError
        If a column is missing, or there are more curves than can be told apart (8).
    """
    lemmas = table["curve"].str.startswith("Lemma")
    exact = table[~lemmas]
    key, looks = _looks(exact)
    groups = [list(looks)]
    if key == "curve" and len(looks) > _MOST_TOGETHER:
        groups = [[name for name in looks if (name in UNBOUNDED) is kind] for kind in (True, False)]
        groups = [group for group in groups if group]
    figure = Figure(figsize=(PAGE, 1.6 + 2.3 * len(groups)), layout="constrained")
    panels = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axes, group in zip(panels, groups, strict=True):
        for name in group:
            rows = exact[exact[key] == name]
            line = add_curve(axes, rows, "leakage", gid=name, **looks[name].line)
            if {"lower", "upper"} <= set(rows) and rows["lower"].notna().any():
                _draw_interval(axes, rows, str(line.get_color()))
        _merge_ends(axes)
        axes.axhline(0, **_ZERO_LINE)
        axes.set(ylabel=LEAKAGE)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    for lemma, rows in table[lemmas].groupby("curve", sort=False):
        _draw_lemma(panels[0], str(lemma), rows)
    panels[-1].set(xlabel=DISTORTION, xlim=(0, float(table["distortion"].max())))
    headline(figure, title or finding_of_curves(table), subtitle)
    for axes in panels:
        label_lines(axes)
    return figure


def finding_of_curves(table: pd.DataFrame) -> str:
    """What the curves of a table show, in a sentence: from which distortion on nothing needs to leak.

    >>> from paper_repro.notions import DifferentialPrivacy, MutualInformation
    >>> sets = [SourceSet([0.6, 0.4], name="set_a"), SourceSet([0.7, 0.3], name="set_b")]
    >>> finding_of_curves(curve_table(sets, [DifferentialPrivacy()], 0.1))
    'No leakage is needed for set_b from distortion 0.3 on'
    >>> finding_of_curves(curve_table(sets[:1], [DifferentialPrivacy(), MutualInformation()], 0.1))
    'Both notions need no leakage from distortion 0.4; only differential privacy jumps'
    """
    exact = table[~table["curve"].str.startswith("Lemma") & table["curve"].ne("as printed")]
    key, looks = _looks(exact)
    zeros = exact[exact["leakage"] <= 0].groupby(key, sort=False)["distortion"].min().round(6)
    zeros = zeros.sort_values(kind="stable")
    if zeros.empty:
        return "Leakage is needed at every distortion shown"
    names, first = {name: look.label for name, look in looks.items()}, f"{zeros.iloc[0]:.4g}"
    if len(names) == 1:
        return f"No leakage is needed from distortion {first} on"
    if len(zeros) < len(names) or zeros.nunique() > 1:
        early = zeros.index[zeros == zeros.iloc[0]]
        things = "source sets" if key == "source_set" else "notions"
        one = f"{'for' if key == 'source_set' else 'under'} {names[early[0]]}"
        which = one if len(early) == 1 else f"for {spelled(len(early))} of {spelled(len(names))} {things}"
        return f"No leakage is needed {which} from distortion {first} on"
    all_of_them = "Both" if len(names) == 2 else f"All {spelled(len(names))}"
    jumping = exact[exact["end"].eq("closed") & exact["leakage"].le(_ZERO)][key].unique()
    only = f"; only {names[jumping[0]]} jumps" if len(jumping) == 1 else ""
    things = "source sets" if key == "source_set" else "notions"
    return f"{all_of_them} {things} need no leakage from distortion {first}{only or ' on'}"


def spelled(count: int) -> str:
    """A number in a sentence: as a word up to nine.

    >>> spelled(7), spelled(12)
    ('seven', '12')
    """
    return "zero one two three four five six seven eight nine".split()[count] if count < 10 else str(count)


def _categories(count: int) -> str:
    return "1 category" if count == 1 else f"{count} categories"


def capitalized(text: str) -> str:
    """A text with its first letter large."""
    return text[:1].upper() + text[1:]


def _looks(exact: pd.DataFrame) -> tuple[str, dict[str, Look]]:
    """The column by which the curves of a table differ, and how each is drawn."""
    if exact["source_set"].nunique() > 1:
        return "source_set", set_looks(exact["source_set"])
    return "curve", {name: notion_look(name) for name in dict.fromkeys(exact["curve"])}


def _curve(source: SourceSet, notion: Notion, grid: FloatArray) -> pd.DataFrame:
    leakages = partial(leakage_curve, source, notion=notion)
    exact = notion.exact_curve(source)
    if exact is not None:
        points = _with_breakpoints(exact, source.alphabet_size, grid, leakages)
    else:
        zero = notion.optimizer(source).perfect.distortion
        points = refined(leakages, [*grid, zero] if grid[0] < zero < grid[-1] else grid)
    frame = curve_points(source, notion.name, *points[:2]).assign(end=points[2])
    return rounded(frame, certified_decimals(notion), distortion=9)


def _with_breakpoints(
    exact: ExactCurve, size: int, grid: FloatArray, leakages: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Enough points, with the breakpoints inside the grid, and the ends of the jump at the last one.

    Enough for the curve's distance from randomized response too.
    """
    inside = exact.breakpoints[(exact.breakpoints > grid[0]) & (exact.breakpoints < grid[-1])]
    last, limit = exact.breakpoints[-1:].sum(), exact.limits_from_below[-1:].sum()
    apart = np.abs(grid[:, np.newaxis] - inside).min(axis=1, initial=1.0) > 1e-9
    places = np.sort(np.append(grid[apart], inside))

    def followed(distortions: FloatArray) -> FloatArray:
        found = np.where(distortions >= last, limit, exact.leakage(distortions))
        even = np.array([kalantari2018.theorem_1(size, place) for place in distortions])
        with np.errstate(invalid="ignore"):
            return np.column_stack([found, even - found])

    below = places[places <= last]
    places = np.union1d(refined(followed, below)[0] if len(below) > 1 else below, places)
    values, ends = leakages(places), [""] * len(places)
    if len(inside) and inside[-1] == last and limit > SAME:
        jump = int(np.searchsorted(places, last))
        places, values = np.insert(places, jump, last), np.insert(values, jump, limit)
        ends[jump : jump + 1] = ["open", "closed"]
    return places, values, ends


def _draw_interval(axes: Axes, rows: pd.DataFrame, color: str) -> None:
    """The interval printed for a curve, shaded in its color, with an edge as printed where it is not the curve."""
    axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], color=color, alpha=0.16, lw=0, zorder=1.5)
    for side in ("lower", "upper"):
        apart = (rows[side] - rows["leakage"]).abs() > SAME
        kept = apart | apart.shift(1, fill_value=False) | apart.shift(-1, fill_value=False)
        style = {**PRINTED.line, "label": _INTERVAL if side == "lower" else "_printed"}
        axes.plot(rows["distortion"], rows[side].where(kept), zorder=2.5, **style)


def _draw_lemma(axes: Axes, lemma: str, rows: pd.DataFrame) -> None:
    """A closed form as the marks of what is printed."""
    said = f"{lemma}: zero from here on" if len(rows) == 1 else lemma
    mark = {**PRINTED.mark, "ms": 8 if len(rows) == 1 else 4.5, "label": said}
    axes.plot(rows["distortion"], rows["leakage"], zorder=2.8 if len(rows) == 1 else 5, clip_on=False, **mark)


def _merge_ends(axes: Axes) -> None:
    """Closed ends that lie on one another are one mark, in no curve's color."""
    closed = [line for line in axes.lines if line.get_label() == "_closed"]
    places = [tuple(np.round(np.ravel(line.get_xydata()), 6)) for line in closed]
    for line, place in zip(closed, places, strict=True):
        if places.count(place) > 1:
            line.set(color=_SHARED, markerfacecolor=_SHARED)


def certified_decimals(notion: Notion) -> int:
    """Decimals of a leakage in nats that are certified."""
    return min(DECIMALS, round(-math.log10(notion.tolerance)))
