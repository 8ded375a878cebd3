"""Databases of records: printed bounds, the exact least leakage, and what the best mechanisms change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from paper_repro.solvers.games import perfect_privacy
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "cited_figure",
    "database_subtitle",
    "draw_global",
    "draw_profiles",
    "finding_of_bounds",
    "finding_of_profiles",
    "global_table",
    "profile_table",
    "record_table",
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
    r"""What a figure of databases is of, for the line below its title.

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
    return "; ".join([*parts, f"after {source}"] if source else parts)


def global_table(
    values: int,
    records: int,
    notions: Sequence[Notion],
    distortions: ArrayLike,
    prior: Sequence[float] = (),
) -> pd.DataFrame:
    """Theorem 7 (uniform prior) or Theorem 6 (another) of Zhong and Bu 2022 against the exact least leakage for databases.

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
        ``notion``, ``distortion``, ``exact``, ``lower`` and ``upper``, in nats, the bounds in their corrected reading; ``end``,
        ``open`` and ``closed`` at the ends of a jump. Points are added to the distortions where a curve or bound is bent, so that
        straight lines between them are right to half a pixel of a panel. Without a prior, upper bounds of maximal information
        are those of the uniform prior.

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
        span = np.full(3, first.max()) if np.isfinite(first).all() else None
        at, found, ends = refined(together, places, pixels=_PANEL, span=span)
        columns = dict(zip(("exact", "lower", "upper"), found.T, strict=True))
        frames.append(pd.DataFrame({"notion": notion.name, "distortion": at, **columns, "end": ends}))
    return rounded(pd.concat(frames, ignore_index=True), _DECIMALS)


def profile_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """How many records the best mechanism of each notion changes, for the uniform prior.

    Columns: ``notion``, ``changed`` (0 .. n), ``probability`` that so many records are changed, and ``leakage`` in nats.
    Raises ValueError if there is
    no notion.

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
    """What publishing records one by one costs: least leakages for the uniform prior, in nats.

    Columns: ``notion``; ``databases``, of any mechanism for whole databases; ``one_by_one``, of the best local mechanism at
    ``distortion / records``, used for every record (parallel composition, Section IV-D, Zhong and Bu 2022).

    >>> from paper_repro.notions import MaximalLeakage
    >>> record_table(2, 2, [MaximalLeakage()], 0.4).round(4).iloc[0, 1:].to_dict()
    {'databases': 0.8755, 'one_by_one': 0.94}
    """
    one = SourceSet(np.full(values, 1 / values))
    rows = [
        (
            notion.name,
            optimal_database_mechanism(values, records, distortion=distortion, notion=notion).leakage,
            parallel_composition(one, records, distortion=distortion, notion=notion).leakage,
        )
        for notion in notions
    ]
    return rounded(pd.DataFrame(rows, columns=["notion", "databases", "one_by_one"]), _DECIMALS)


@drawing("notion", "distortion", "exact", "lower", "upper", "end")
def draw_global(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Printed bounds for databases as bands, with the exact least leakage in them; one panel a notion, one scale a row.

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
    order = ("exact", BOUNDS["upper"].label, BOUNDS["lower"].label, "between the bounds")
    drawn = {label: drawn[label] for label in order if label in drawn}
    keys: dict[str, Any] = {"handles": list(drawn.values()), "fontsize": 8}
    if free is None:
        figure.legend(loc="outside right center", **keys)
    else:
        free.legend(loc="center left", **keys)
    headline(figure, title or finding_of_bounds(table), subtitle)
    return figure


def finding_of_bounds(table: pd.DataFrame) -> str:
    """For how many notions the printed bounds are exact, in a sentence.

    >>> from paper_repro.notions import DifferentialPrivacy, MaximalLeakage
    >>> finding_of_bounds(global_table(2, 2, [DifferentialPrivacy(), MaximalLeakage()], [0.1, 0.4]))
    'The upper bound is the truth throughout for one of two notions, the lower bound for one'
    """
    sides = {
        side: [_is_exact(rows, side) for _, rows in table.groupby("notion", sort=False)] for side in ("upper", "lower")
    }
    if len(sides["upper"]) == 1:
        exact = [side for side, (alone,) in sides.items() if alone]
        which = f"The {exact[0]} bound" if len(exact) == 1 else "Both bounds" if exact else "Neither bound"
        return f"{which} {'are' if len(exact) == 2 else 'is'} the truth throughout"
    if not any(sides["upper"] + sides["lower"]):
        return f"Neither bound is the truth throughout for any of {spelled(len(sides['upper']))} notions"
    upper, lower, count = sum(sides["upper"]), sum(sides["lower"]), len(sides["upper"])
    return (
        f"The upper bound is the truth throughout for {spelled(upper) if upper else 'none'} of {spelled(count)} notions, "
        f"the lower bound for {spelled(lower) if lower else 'none'}"
    )


@drawing("notion", "changed", "probability", "leakage")
def draw_profiles(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """How many records the best mechanisms change, as stems, one panel for all notions that share a profile.

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
        labels = [notion_look(name).label.replace("approximate diff", "approximate\ndiff") for name in names]
        axes.set_title("\n".join(labels), fontsize=7.5)
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
    """How many profiles the best mechanisms of a table have between them, in a sentence.

    >>> from paper_repro.notions import DifferentialPrivacy, MaximalLeakage
    >>> finding_of_profiles(profile_table(2, 2, [DifferentialPrivacy(), MaximalLeakage()], 0.4))
    'Two notions of privacy change records in two different ways'
    """
    leaking = table[table["leakage"].groupby(table["notion"]).transform("max") > SAME]
    count, different = leaking["notion"].nunique(), len(_alike(leaking))
    free = [notion_look(str(name)).label for name in table["notion"].unique() if name not in set(leaking["notion"])]
    if count < 2:
        return "How many records are changed"
    ways = "the same way" if different == 1 else f"{spelled(different)} different ways"
    said = f"{spelled(count).capitalize()} notions of privacy change records in {ways}"
    return f"{said}; {free[0] if len(free) == 1 else spelled(len(free))} can leak nothing" if free else said


def _draw_bounds(axes: Axes, name: str, rows: pd.DataFrame) -> None:
    """One panel: the interval, its ends where they are not the truth, the exact curve, and what is hidden by it in words."""
    axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], label="between the bounds", **_INTERVAL)
    exact = {side: _is_exact(rows, side) for side in ("upper", "lower")}
    for side in ("upper", "lower"):
        if not exact[side]:
            add_curve(axes, rows, side, ends=False, gid=f"{name} {side}", **{**BOUNDS[side].line, "clip_on": True})
    add_curve(axes, rows, "exact", gid=name, **EXACT.line)
    axes.set_title(notion_look(name).label.replace("differential", "\ndifferential").replace(" \n", "\n"), fontsize=8)
    axes.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    axes.tick_params(labelsize=7.5, labelbottom=True)
    said = (
        "both bounds exact" if all(exact.values()) else "upper bound exact" if exact["upper"] else "lower bound exact"
    )
    notes = [said] if any(exact.values()) else []
    if rows["exact"].max() <= SAME:
        notes.append("0 for every $D$ shown")
    elif rows["lower"].max() <= SAME:
        notes.append("lower bound 0")
    else:
        notes += _hidden(rows, exact)
    axes.text(0.97, 0.95, "\n".join(notes), transform=axes.transAxes, ha="right", va="top", size=7, color="0.3")


def _hidden(rows: pd.DataFrame, exact: Mapping[str, bool]) -> list[str]:
    """What is said of bounds that are within a hundredth of the scale from zero or the exact curve throughout, and not seen."""
    bounds = rows[["exact", "lower", "upper"]].replace(np.inf, np.nan)
    near = bounds.max().max() / 100
    notes = ["lower bound \u2248 0"] if not exact["lower"] and bounds["lower"].max() < near else []
    for side in ("upper", "lower"):
        if not exact[side] and (bounds[side] - bounds["exact"]).abs().max() < near:
            notes.append(f"{side} bound \u2248 exact")
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
    """Least leakages, and their lower and upper bounds, shape (points, 3)."""
    exact = database_leakage_curve(values, records, distortions, notion=notion, source=source)
    bounds = _printed_bounds(values, records, notion, distortions, source)
    return np.column_stack([exact, bounds["lower"], bounds["upper"]])


def _printed_bounds(
    values: int, records: int, notion: Notion, distortions: ArrayLike, source: SourceSet | None
) -> pd.DataFrame:
    """Theorem 6 for a prior, Theorem 7 without one, corrected; without one, maximal information is that of the uniform prior."""
    name, parameters = in_print(notion)
    bound = partial(zhong_bu2022.theorem_7, name, values, records, reading="corrected", **parameters)
    if source is not None:
        bound = partial(zhong_bu2022.theorem_6, name, values, records, source=source, reading="corrected", **parameters)
    elif records * np.log(values) <= np.log(MOST_WRITTEN_OUT):
        bound = partial(bound, source=SourceSet(np.full(values**records, 1 / values**records)))
    elif name == "maximal information":
        # For the uniform prior it is maximal leakage, of Q_D too.
        bound = partial(zhong_bu2022.theorem_7, "maximal leakage", values, records, reading="corrected")
    rows = []
    for distortion in np.asarray(distortions, dtype=float):
        found = bound(distortion=distortion)
        rows.append((notion.name, distortion, found.lower, found.upper))
    return pd.DataFrame(rows, columns=["notion", "distortion", "lower", "upper"])
