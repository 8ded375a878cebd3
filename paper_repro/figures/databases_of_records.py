"""Databases of records: printed bounds, the optimal leakage, and how many records optimal mechanisms change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from paper_repro.checks import check_count
from paper_repro.composition import parallel_composition
from paper_repro.curves import refined
from paper_repro.databases import database_distances, database_leakage_curve, optimal_database_mechanism
from paper_repro.figures.curves import SAME, UNBOUNDED, Cited, add_curve, cited_as, in_print, parameter_texts, spelled
from paper_repro.figures.layout import PAGE, headline
from paper_repro.figures.registry import BOUNDS, EXACT, notion_look
from paper_repro.figures.style import LEAKAGE, drawing, need, rounded
from paper_repro.graphs import MOST_WRITTEN_OUT, databases
from paper_repro.notions import Notion
from paper_repro.papers import zhong_bu2022
from paper_repro.papers.readings import Bounds, Reading
from paper_repro.solvers.games import perfect_privacy
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "bounds_of_what",
    "cited_figure",
    "database_subtitle",
    "databases_in_words",
    "draw_global",
    "draw_profiles",
    "finding_of_bounds",
    "finding_of_profiles",
    "global_table",
    "profile_table",
    "profiles_in_words",
    "record_table",
    "width_table",
]

_DECIMALS = 6
_PROBABILITIES = 15
_FIGURES: dict[tuple[object, ...], Cited] = {
    (2, 2): Cited("databases"),
    (50, 1000): Cited("databases_large"),
    (2, 2, 0.4, 0.3, 0.2, 0.1): Cited("databases_prior"),
}
# The panels of a figure, in pixels at 300 dots an inch.
_PANEL = (450, 400)
_ACROSS = 4
_FEW = 12
# More stems than these run into one another.
_CROWDED = 40
_LABELLED = 5  # stems with their numbers beside them, on a logarithmic scale
# Up to so many records, the probabilities are written at the stems.
_WRITTEN = 3
_LEAST = 1e-4
# In nats: where the printed ends are compared with the optimum, and how near they are then.
_COMPARED = 0.01
_EQUAL = 1e-5
_OPTIMUM = replace(EXACT, label="optimum")
_INTERVAL: dict[str, Any] = {"color": "#D9E3EE", "lw": 0}


def cited_figure(values: int, records: int, prior: Sequence[float] = ()) -> Cited:
    """The theorem behind a figure of so many records, and its file name; for other databases, a name of their own.

    Raises ValueError if there are no values or no records.

    >>> cited_figure(2, 2).name, cited_figure(3, 2).name
    ('databases', 'databases_3_2')
    """
    check_count(values, "values")
    check_count(records, "records")
    known = cited_as(_FIGURES, values, records, *map(float, prior), kind="databases")
    return known._replace(source=f"Zhong and Bu 2022, Theorem {6 if len(prior) else 7}")


def database_subtitle(
    values: int, records: int, notions: Sequence[Notion], prior: Sequence[float] = (), source: str = ""
) -> str:
    r"""The databases and notions of a figure, for the line below its title; with a ``source``, also how its bounds are read.

    >>> from paper_repro.notions import RenyiDP
    >>> database_subtitle(2, 2, [RenyiDP(2)], [0.4, 0.3, 0.2, 0.1])
    '2 records of 2 values; databases 11, 12, 21, 22 have probabilities 0.4, 0.3, 0.2, 0.1; $\\alpha = 2$'
    """
    parts = [f"{records} record{'s' * (records != 1)} of {values} values"]
    if len(prior) > _FEW:
        parts.append("a prior of its own")
    elif len(prior):
        names = [
            "".join(str(int(str(value)) + 1) for value in database)
            for database in databases(tuple(range(values)), records)
        ]
        parts.append(f"databases {', '.join(names)} have probabilities {', '.join(f'{p:g}' for p in prior)}")
    else:
        parts.append("uniform prior")
    parts += parameter_texts(notions)
    return "; ".join([*parts, bounds_of_what(values, records, notions), f"after {source}"] if source else parts)


def bounds_of_what(values: int, records: int, notions: Sequence[Notion]) -> str:
    r"""How the bounds of :func:`global_table` are read: as printed, but for one sum, below the distortion of zero leakage.

    Maximal information: the printed sum of the upper bound runs to m. It is read to n, which gives the leakage of Q_D; for n > m
    this is a different number.

    >>> from paper_repro.notions import MaximalInformation
    >>> bounds_of_what(2, 2, [MaximalInformation()]), bounds_of_what(2, 3, [MaximalInformation()])[-33:]
    ('bounds as printed for $D < 1$', ', with the sum in part (3) to $n$')
    """
    summed = any(_reading(notion.name, values, records) == "corrected" for notion in notions)
    return f"bounds as printed for $D < {_zero(values, records):.4g}$" + ", with the sum in part (3) to $n$" * summed


def databases_in_words(values: int, records: int, notions: Sequence[Notion], prior: Sequence[float] = ()) -> str:
    """The panels of :func:`draw_global`, whose leakages are in nats, as an alternative text.

    >>> from paper_repro.notions import RenyiDP
    >>> databases_in_words(2, 1, [RenyiDP(2)])[22:]
    'uniform prior: one panel a notion, the optimal leakage in the band between bounds as printed for D < 0.5.'
    """
    said = f"{records} record{'s' * (records != 1)} of {values} values, {'a prior' if len(prior) else 'uniform prior'}"
    bounds = bounds_of_what(values, records, notions).replace("$", "")
    return f"{said}: one panel a notion, the optimal leakage in the band between {bounds}."


def global_table(
    values: int,
    records: int,
    notions: Sequence[Notion],
    distortions: ArrayLike,
    prior: Sequence[float] = (),
) -> pd.DataFrame:
    """Theorem 7 (uniform prior) or Theorem 6 (another) of Zhong and Bu 2022 against the optimal leakage for databases.

    Parameters
    ----------
    values, records : int
        m and n.
    notions : sequence of Notion
    distortions : array_like, shape (points,), in [0, records]
        Expected numbers of records changed.
    prior : sequence of ``values ** records`` probabilities, optional
        In the order of :func:`paper_repro.graphs.databases`; uniform, if empty.

    Returns
    -------
    DataFrame
        ``notion``, ``distortion``, ``exact``, ``lower`` and ``upper``, in nats; ``end``, ``open`` and ``closed`` at the ends of a
        jump. The bounds are as printed below ``D = n (m - 1) / m``, but for one sum (:func:`bounds_of_what`), and 0 from there
        on, where nothing has to leak; for the orders 1 and infinity nothing is printed, and they are missing. Points are added to
        the distortions where a curve or bound is bent, so that straight lines between them are right to half a pixel of a panel.
        Without a prior, upper bounds of maximal information are the bounds for the uniform prior.

    Raises
    ------
    ValueError
        If there is no notion or distortion, or the prior does not fit.

    >>> from paper_repro.notions import MaximalLeakage
    >>> global_table(2, 2, [MaximalLeakage()], [0.4]).round(5).iloc[0, 2:5].to_dict()
    {'exact': 0.87547, 'lower': 0.47, 'upper': 0.94001}
    """
    need(notions, "notion")
    source, grid = (SourceSet(prior) if len(prior) else None), np.asarray(distortions, dtype=float)
    need(grid, "distortion")
    zero = records * (1 - 1 / values)
    if source is not None:
        zero = perfect_privacy(source.vertices, database_distances(values, records)).distortion
    places = np.append(grid, zero) if grid.min() < zero < grid.max() else grid
    frames = []
    for notion in notions:
        together = partial(_exact_and_bounds, values, records, notion, source)
        first = together(np.array([places.min()]))
        span = np.full(first.shape[1], first.max()) if np.isfinite(first).all() else None
        at, found, ends = refined(together, places, pixels=_PANEL, span=span)
        columns = dict.fromkeys(("exact", "lower", "upper"), np.full(len(at), np.nan))
        columns |= dict(zip(columns, found.T, strict=False))
        frames.append(pd.DataFrame({"notion": notion.name, "distortion": at, **columns, "end": ends}))
    return rounded(pd.concat(frames, ignore_index=True), _DECIMALS)


def profile_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """How many records the optimal mechanism of each notion changes, for the uniform prior.

    Columns: ``notion``, ``changed`` (0 .. n), ``probability`` that this number of records is changed, and ``leakage`` in nats.
    Raises ValueError if there is no notion.

    >>> from paper_repro.notions import MaximalLeakage
    >>> profile_table(2, 2, [MaximalLeakage()], 0.4)["probability"].tolist()
    [0.6, 0.4, 0.0]
    """
    need(notions, "notion")
    frames = []
    for notion in notions:
        best = optimal_database_mechanism(values, records, distortion=distortion, notion=notion)
        changed = best.profile.changed if best.profile else None
        columns = {"changed": np.arange(records + 1), "probability": changed, "leakage": max(best.leakage, 0.0)}
        frames.append(pd.DataFrame({"notion": notion.name, **columns}))
    return rounded(pd.concat(frames, ignore_index=True), _PROBABILITIES)


def record_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """Optimal leakages for the uniform prior, in nats, of whole databases and of records published one by one.

    Columns: ``notion``, its label; ``databases``, over all mechanisms for whole databases; ``one_by_one``, of the optimal
    mechanism of one record at ``distortion / records``, used for every record (parallel composition, Section IV-D, Zhong and Bu
    2022).

    >>> from paper_repro.notions import MaximalLeakage
    >>> record_table(2, 2, [MaximalLeakage()], 0.4).round(4).iloc[0, 1:].to_dict()
    {'databases': 0.8755, 'one_by_one': 0.94}
    """
    one = SourceSet(np.full(values, 1 / values))
    rows = [
        (
            notion_look(notion.name).label,
            optimal_database_mechanism(values, records, distortion=distortion, notion=notion).leakage,
            parallel_composition(one, records, distortion=distortion, notion=notion).leakage,
        )
        for notion in notions
    ]
    return rounded(pd.DataFrame(rows, columns=["notion", "databases", "one_by_one"]), _DECIMALS)


@drawing("notion", "distortion", "exact", "lower", "upper", "end")
def draw_global(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Printed bounds for databases as bands, with the optimal leakage in them; one panel a notion, one scale a row.

    Notions that are infinite where nothing is changed come first. ``table`` is as of :func:`global_table`; the title is by
    default :func:`finding_of_bounds`. Raises ValueError if a column is missing.
    """
    groups = {str(name): rows for name, rows in table.groupby("notion", sort=False)}
    kinds = [[name for name in groups if (name in UNBOUNDED) is kind] for kind in (True, False)]
    lines = [kind[start : start + _ACROSS] for kind in kinds for start in range(0, len(kind), _ACROSS)]
    across = max(len(line) for line in lines)
    figure = Figure(figsize=(PAGE, 1.1 + 1.75 * len(lines)), layout="constrained")
    places = figure.subplots(len(lines), across, squeeze=False, sharex=True, sharey="row")
    for line, row in zip(lines, places, strict=True):
        highest = max(float(groups[name][["exact", "upper"]].replace(np.inf, np.nan).max().max()) for name in line)
        for axes, name in zip(row, line, strict=False):
            _draw_bounds(axes, name, groups[name])
        row[0].set_ylim(-0.04 * (highest or 1), 1.08 * (highest or 1))
        for axes in row[len(line) :]:
            axes.axis("off")
    places[0, 0].set_xlim(0, float(table["distortion"].max()))
    figure.supxlabel("expected number of records changed", fontsize=9)
    figure.supylabel(LEAKAGE, fontsize=9)
    # Beside a row that is not full, else beside the plots.
    free = next((row[-1] for line, row in zip(lines, places, strict=True) if len(line) < across), None)
    drawn = {str(mark.get_label()): mark for axes in figure.axes for mark in [*axes.lines, *axes.collections]}
    order = (_OPTIMUM.label, BOUNDS["upper"].label, BOUNDS["lower"].label, "between the bounds")
    drawn = {label: drawn[label] for label in order if label in drawn}
    keys: dict[str, Any] = {"handles": list(drawn.values()), "fontsize": 8}
    if free is None:
        figure.legend(loc="outside right center", **keys)
    else:
        free.legend(loc="center left", **keys)
    headline(figure, title or finding_of_bounds(table), subtitle)
    return figure


def finding_of_bounds(table: pd.DataFrame) -> str:
    """For how many notions the printed bounds are tight at every distortion of the table, in a sentence.

    >>> from paper_repro.notions import DifferentialPrivacy, MaximalLeakage
    >>> finding_of_bounds(global_table(2, 2, [DifferentialPrivacy(), MaximalLeakage()], [0.1, 0.4]))
    'Upper bounds are tight for one of two notions, lower for one'
    """
    bounded = table[table["upper"].notna()]
    if bounded.empty:
        return "The optimal leakage falls to zero as more records are changed"
    sides = {
        side: [_is_exact(rows, side) for _, rows in bounded.groupby("notion", sort=False)]
        for side in ("upper", "lower")
    }
    if len(sides["upper"]) == 1:
        exact = [side for side, (alone,) in sides.items() if alone]
        which = f"The {exact[0]} bound" if len(exact) == 1 else "Both bounds" if exact else "Neither bound"
        return f"{which} {'are' if len(exact) == 2 else 'is'} tight at all distortions shown"
    if not any(sides["upper"] + sides["lower"]):
        return f"Neither bound is tight at all distortions for any of {spelled(len(sides['upper']))} notions"
    upper, lower, count = sum(sides["upper"]), sum(sides["lower"]), len(sides["upper"])
    return (
        f"Upper bounds are tight for {spelled(upper) if upper else 'none'} of {spelled(count)} notions, "
        f"lower for {spelled(lower) if lower else 'none'}"
    )


def width_table(table: pd.DataFrame) -> pd.DataFrame:
    """How wide the printed intervals of a :func:`global_table` are, and where an end is the optimum; one notion a row.

    Columns: ``largest width`` in nats; ``optimum positive``, ``lower end attained`` and ``upper end attained``, ranges of the
    distortion D in words, to three digits. An end is attained if it is within 1e-5 nats of the optimum. Both ends are compared at
    the distortions of the table where the optimum is above 0.01 nats; a range that reaches the last of them is continued to the
    distortion at which the optimum is 0.

    >>> from paper_repro.notions import MaximalLeakage
    >>> table = global_table(2, 2, [MaximalLeakage()], [0.1, 0.4, 0.7, 1.0])
    >>> width_table(table).iloc[0, 1:].tolist()
    ['D < 1', '0.667 ≤ D < 1', 'nowhere']
    """
    rows = {}
    for name, of_one in table.groupby("notion", sort=False):
        at = of_one.drop_duplicates("distortion", keep="last")
        zeros = at.loc[at["exact"] <= SAME, "distortion"]
        compared = at[at["exact"] > _COMPARED]
        end = float(zeros.min()) if len(zeros) else np.inf
        places = {"optimum positive": _ranges(at["distortion"], at["exact"] > SAME, end)}
        for side in ("lower", "upper"):
            equal = (compared[side] - compared["exact"]).abs() < _EQUAL
            unprinted = bool(at[side].isna().all())
            places[f"{side} end attained"] = "not printed" if unprinted else _ranges(compared["distortion"], equal, end)
        rows[notion_look(str(name)).label] = {"largest width": (at["upper"] - at["lower"]).max(), **places}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("notion")


def _ranges(distortions: pd.Series, holds: pd.Series, end: float) -> str:
    """Where something holds, as ranges of D: between neighboring distortions, and from the last one on to the end."""
    at, true = distortions.to_numpy(), holds.to_numpy()
    edges = np.flatnonzero(np.diff(np.concatenate([[0], true.astype(int), [0]])))
    parts = []
    for first, after in edges.reshape(-1, 2):
        low = "" if first == 0 else f"{at[first]:.3g} ≤ "
        if after < len(at) and at[after] < end:
            parts.append(f"{low}D ≤ {at[after - 1]:.3g}")
        elif np.isfinite(end):
            parts.append(f"{low}D < {end:.3g}")
        else:
            parts.append(f"{low}D" if low else "everywhere")
    return ", ".join(parts) or "nowhere"


@drawing("notion", "changed", "probability", "leakage")
def draw_profiles(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """How many records the optimal mechanisms change, as stems, one panel for all notions that share a profile.

    For more than a dozen records on a logarithmic scale, down to 1e-4, each panel around what happens in it. Where nothing
    leaks, one mechanism of many is shown, and the panel says so. ``table`` is as of :func:`profile_table`; the title is by
    default :func:`finding_of_profiles`. Raises ValueError if a column is missing.
    """
    groups = _alike(table)
    few = table["changed"].nunique() <= _FEW
    most = max(len(names) for names, _ in groups)
    across = min(len(groups), _ACROSS)
    down = -(-len(groups) // across)
    figure = Figure(figsize=(PAGE, 1.1 + down * (1.5 + 0.14 * most)), layout="constrained")
    places = figure.subplots(down, across, squeeze=False, sharex=few, sharey=True).ravel()
    least = 0.0 if few else _LEAST
    for axes, (names, chances) in zip(places, groups, strict=False):
        changed = np.arange(len(chances))
        seen = changed[(chances >= _LEAST) | few]
        if len(seen) > _CROWDED:
            axes.fill_between(seen, least, chances[seen], **_INTERVAL)
            axes.plot(seen, chances[seen], color=EXACT.color, lw=1)
        else:
            axes.vlines(seen, least, chances[seen], color=EXACT.color, lw=1.6 if len(seen) <= _LABELLED else 0.8)
            axes.plot(
                seen, chances[seen], "o", color=EXACT.color, ms=4 if len(seen) <= _LABELLED else 2.5, clip_on=False
            )
        axes.set_title("\n".join(notion_look(name).label for name in names), fontsize=7.5)
        note: dict[str, Any] = {"transform": axes.transAxes, "size": 7, "ha": "right", "color": "0.3"}
        likeliest = int(chances.argmax())
        free = not table.loc[table["notion"].isin(names), "leakage"].to_numpy().max() > SAME
        if free:
            said = f"leaks nothing,\none of many:\n{changed @ chances:.2g} changed\non average"
            axes.text(0.97, 0.6, said, va="top", **note)
        if few and len(changed) <= _WRITTEN:
            for place, share in zip(changed, chances, strict=True):
                side: dict[str, Any] = (
                    {"xytext": (-4, 3), "ha": "right"} if place == changed[-1] else {"xytext": (4, 3), "ha": "left"}
                )
                axes.annotate(f"{share:.3g}", (place, share), textcoords="offset points", size=7, color="0.3", **side)
        elif not few and len(seen) > _LABELLED:
            left = likeliest - seen[0] > seen[-1] - likeliest + 1  # beside the longer tail
            note |= {"ha": "left" if left else "right", "va": "top"}
            axes.text(0.03 if left else 0.97, 0.95, f"{likeliest} with\nprobability {chances.max():.2g}", **note)
        elif not few:
            for at in seen:
                side = {"xytext": (-5, 0), "ha": "right"} if at < likeliest else {"xytext": (5, 0), "ha": "left"}
                beside: dict[str, Any] = {
                    "textcoords": "offset points",
                    "va": "center",
                    "size": 7,
                    "color": "0.3",
                    **side,
                }
                axes.annotate(f"{chances[at]:.2g}", (at, chances[at]), **beside)
        if not few:
            room = max((0.5 if len(seen) <= _CROWDED else 0.06) * np.ptp(seen), 5.5 - np.ptp(seen) / 2)
            axes.set_xlim(seen[0] - (0.3 * room if free else room), seen[-1] + room)
            ticks = MaxNLocator(4, integer=True).tick_values(max(seen[0] - room, 0), seen[-1] + room)
            axes.set_xticks(ticks[(ticks >= seen[0] - room) & (ticks <= seen[-1] + room)])
        axes.grid(False, axis="x")
        if few:
            axes.set_xticks(changed)
    for axes in places[len(groups) :]:
        axes.axis("off")
    if few:
        places[0].set_ylim(0, 1)
    else:
        places[0].set(yscale="log", ylim=(_LEAST, 1))
    figure.supxlabel("number of records changed", fontsize=9)
    figure.supylabel("probability", fontsize=9)
    headline(figure, title or finding_of_profiles(table), subtitle)
    return figure


def finding_of_profiles(table: pd.DataFrame) -> str:
    """How many profiles the optimal mechanisms of a table have between them, in a sentence.

    >>> from paper_repro.notions import DifferentialPrivacy, MaximalLeakage
    >>> finding_of_profiles(profile_table(2, 2, [DifferentialPrivacy(), MaximalLeakage()], 0.4))
    'Optimal mechanisms for two notions change records in two different ways'
    """
    leaking = table[table["leakage"].groupby(table["notion"]).transform("max") > SAME]
    count, different = leaking["notion"].nunique(), len(_alike(leaking))
    if count < 2:
        return "How many records an optimal mechanism changes"
    ways = "the same way" if different == 1 else f"{spelled(different)} different ways"
    return f"Optimal mechanisms for {spelled(count)} notions change records in {ways}"


def profiles_in_words(table: pd.DataFrame, distortion: float) -> str:
    """The stems of :func:`draw_profiles` as an alternative text: the most likely number of changed records, notion by notion.

    >>> from paper_repro.notions import MaximalLeakage
    >>> profiles_in_words(profile_table(2, 2, [MaximalLeakage()], 0.4), 0.4)
    'Records changed by optimal mechanisms, 2 records, D = 0.4, uniform prior. Most likely number: maximal leakage 0.'
    """
    likeliest = table.loc[table.groupby("notion", sort=False)["probability"].idxmax()]
    numbers = ", ".join(f"{notion_look(str(row.notion)).label} {row.changed}" for row in likeliest.itertuples())
    said = (
        f"Records changed by optimal mechanisms, {table['changed'].max()} records, D = {distortion:g}, uniform prior."
    )
    return f"{said} Most likely number: {numbers}."


def _draw_bounds(axes: Axes, name: str, rows: pd.DataFrame) -> None:
    """One panel: the interval, its ends where they are not tight, the optimum, and what is hidden by it in words."""
    bounded, exact = bool(rows["upper"].notna().any()), {side: _is_exact(rows, side) for side in ("upper", "lower")}
    if bounded:
        axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], label="between the bounds", **_INTERVAL)
    for side in ("upper", "lower"):
        if bounded and not exact[side]:
            add_curve(axes, rows, side, ends=False, gid=f"{name} {side}", **{**BOUNDS[side].line, "clip_on": True})
    add_curve(axes, rows, "exact", gid=name, **_OPTIMUM.line)
    axes.set_title(notion_look(name).label.replace("differential", "\ndifferential").replace(" \n", "\n"), fontsize=8)
    axes.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    axes.tick_params(labelsize=7.5, labelbottom=True)
    said = (
        "both bounds tight" if all(exact.values()) else "upper bound tight" if exact["upper"] else "lower bound tight"
    )
    notes = [said] if any(exact.values()) else []
    if rows["exact"].max() <= SAME:
        notes.append("0 for every $D$ shown")
    elif not bounded:
        notes.append("no bounds printed\nfor this order")
    elif rows["lower"].max() <= SAME:
        notes.append("lower bound 0")
    else:
        notes += _hidden(rows, exact)
    axes.text(0.97, 0.95, "\n".join(notes), transform=axes.transAxes, ha="right", va="top", size=7, color="0.3")


def _hidden(rows: pd.DataFrame, exact: Mapping[str, bool]) -> list[str]:
    """Notes on bounds that cannot be seen: within a hundredth of the scale from zero or from the optimum throughout."""
    bounds = rows[["exact", "lower", "upper"]].replace(np.inf, np.nan)
    near = bounds.max().max() / 100
    notes = ["lower bound \u2248 0"] if not exact["lower"] and bounds["lower"].max() < near else []
    for side in ("upper", "lower"):
        if not exact[side] and (bounds[side] - bounds["exact"]).abs().max() < near:
            notes.append(f"{side} bound \u2248 optimum")
    return notes


def _is_exact(rows: pd.DataFrame, side: str) -> bool:
    return bool((rows[side] - rows["exact"]).abs().max() <= 2 * SAME)


def _alike(table: pd.DataFrame) -> list[tuple[list[str], FloatArray]]:
    """Notions in groups that share a profile, shape (records + 1,)."""
    groups: list[tuple[list[str], FloatArray]] = []
    for name, rows in table.groupby("notion", sort=False):
        chances = rows["probability"].to_numpy()
        same = [names for names, other in groups if np.abs(other - chances).max() < SAME]
        if same:
            same[0].append(str(name))
        else:
            groups.append(([str(name)], chances))
    return groups


def _exact_and_bounds(
    values: int, records: int, notion: Notion, source: SourceSet | None, distortions: FloatArray
) -> FloatArray:
    """Optimal leakages, and their lower and upper bounds, shape (points, 3); where none are printed, the first alone."""
    exact = database_leakage_curve(values, records, distortions, notion=notion, source=source)
    name, parameters = in_print(notion)
    if name != "mutual information" and parameters.get("alpha") in (1, np.inf):
        return exact[:, np.newaxis]
    bounds = _printed_bounds(values, records, notion, distortions, source)
    return np.column_stack([exact, bounds["lower"], bounds["upper"]])


def _printed_bounds(
    values: int, records: int, notion: Notion, distortions: ArrayLike, source: SourceSet | None
) -> pd.DataFrame:
    """Theorem 6 for a prior, Theorem 7 for the uniform one, as :func:`bounds_of_what` says; 0 where nothing has to leak."""
    name, parameters = in_print(notion)
    reading = _reading(name, values, records)
    bound = partial(zhong_bu2022.theorem_7, name, values, records, reading=reading, **parameters)
    if source is not None:
        bound = partial(zhong_bu2022.theorem_6, name, values, records, source=source, reading=reading, **parameters)
    elif records * np.log(values) <= np.log(MOST_WRITTEN_OUT):
        bound = partial(bound, source=SourceSet(np.full(values**records, 1 / values**records)))
    elif name == "maximal information":
        # For the uniform prior it is maximal leakage, of Q_D too.
        bound = partial(zhong_bu2022.theorem_7, "maximal leakage", values, records, reading=reading)
    rows = []
    for distortion in np.asarray(distortions, dtype=float):
        found = bound(distortion=distortion) if distortion < _zero(values, records) else Bounds(0.0, 0.0)
        rows.append((notion.name, distortion, found.lower, found.upper))
    return pd.DataFrame(rows, columns=["notion", "distortion", "lower", "upper"])


def _zero(values: int, records: int) -> float:
    """The number of changed records from which nothing has to leak for any prior: Lemma 5(2), read for D up to n."""
    return zhong_bu2022.lemma_5(values, records)


def _reading(name: str, values: int, records: int) -> Reading:
    return "corrected" if name == "maximal information" and records > values else "printed"
