"""Databases of records: printed bounds, the exact least leakage, and what the best mechanisms change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from paper_repro.composition import parallel_composition
from paper_repro.curves import with_jumps
from paper_repro.databases import database_leakage_curve, optimal_database_mechanism
from paper_repro.figures.leakage_curves import add_curve, in_print
from paper_repro.figures.registry import COLORS, DASHES
from paper_repro.figures.style import LEAKAGE, canvas, drawing, need, on_two_lines, panels, rounded
from paper_repro.graphs import MOST_WRITTEN_OUT
from paper_repro.notions import Notion
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import SourceSet

__all__ = ["draw_global", "draw_profiles", "global_table", "profile_table", "record_table"]

_DECIMALS = 6
# Probabilities below this are not drawn where there are many numbers of records.
_LEAST = 1e-6
_LOWER: dict[str, Any] = {"color": COLORS[1], "linewidth": 0.8}
_UPPER: dict[str, Any] = {**_LOWER, "linestyle": DASHES[4]}
_EXACT: dict[str, Any] = {"color": COLORS[2], "linewidth": 1.6}
_INTERVAL: dict[str, Any] = {"color": COLORS[6], "alpha": 0.45}


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
        ``notion``, ``distortion``, ``exact``, ``lower`` and ``upper``, in nats; the bounds in their corrected reading, and
        between the points of the grid interpolated; ``end``, ``open`` and ``closed`` at the ends of a jump. Without a
        prior, upper bounds of maximal information are those of the uniform prior.

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
    frames = []
    for notion in notions:
        bounds = _printed_bounds(values, records, notion, grid, source)
        least = partial(database_leakage_curve, values, records, notion=notion, source=source)
        if source is None or not notion.jumps:  # for the uniform prior none does
            frames.append(bounds.assign(exact=least(grid), end=""))
            continue
        places, leakages, ends = with_jumps(lambda place: float(least([place])[0]), grid, least(grid))  # noqa: B023
        between = {side: np.interp(places, grid, bounds[side]) for side in ("lower", "upper")}
        exact = {"notion": notion.name, "distortion": places, "exact": leakages, "end": ends}
        frames.append(pd.DataFrame({**exact, **between}))
    columns = ["notion", "distortion", "exact", "lower", "upper", "end"]
    return rounded(pd.concat(frames, ignore_index=True)[columns], _DECIMALS)


def profile_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """How many records the best mechanism of each notion changes, for the uniform prior.

    Columns: ``notion``, ``changed`` (0 .. n) and ``probability`` that so many records are changed. Raises ValueError if there is
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
        frames.append(pd.DataFrame({"notion": notion.name, "changed": np.arange(records + 1), "probability": changed}))
    return rounded(pd.concat(frames, ignore_index=True), _DECIMALS)


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
def draw_global(table: pd.DataFrame, title: str = "") -> Figure:
    """Printed bounds for databases as bands, with the exact least leakage in them; one panel a notion.

    ``table`` is as of :func:`global_table`. Raises ValueError if a column is missing.
    """
    groups = list(table.groupby("notion", sort=False))
    figure, places = panels(
        len(groups),
        4,
        lambda across, down: (max(5.0, 2.35 * across), 2.15 * down + 0.8),
        title,
        "expected number of records changed",
        LEAKAGE,
        sharex=True,
    )
    for axes, (name, rows) in zip(places, groups, strict=False):
        axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], lw=0, **_INTERVAL)
        axes.plot(rows["distortion"], rows["lower"], **_LOWER)
        axes.plot(rows["distortion"], rows["upper"], **_UPPER)
        add_curve(axes, rows, "exact", zorder=3, **_EXACT)
        axes.set_title(on_two_lines(str(name)), fontsize=8.5)
        axes.set_xlim(0, float(table["distortion"].max()))
        axes.set_ylim(bottom=0)
        axes.tick_params(labelbottom=True)
    handles = [
        Line2D([], [], **_EXACT, label="exact"),
        Line2D([], [], **_UPPER, label="upper bound"),
        Line2D([], [], **_LOWER, label="lower bound"),
        Patch(facecolor=_INTERVAL["color"], alpha=_INTERVAL["alpha"], label="interval"),
    ]
    if len(groups) < len(places):
        places[-1].legend(handles=handles, loc="center")
    else:
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


@drawing("notion", "changed", "probability")
def draw_profiles(table: pd.DataFrame, title: str = "") -> Figure:
    """How many records the best mechanism of each notion changes; for more than a dozen records on a logarithmic scale.

    ``table`` is as of :func:`profile_table`. Raises ValueError if a column is missing.
    """
    groups = list(table.groupby("notion", sort=False))
    figure, axes = canvas(7.2, 4.4)
    width = 0.86 / len(groups)
    few = table["changed"].nunique() <= 12
    for number, (name, rows) in enumerate(groups):
        color, dashes = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
        if few:
            places = rows["changed"] + (number - (len(groups) - 1) / 2) * width
            axes.bar(places, rows["probability"], 0.9 * width, color=color, label=name)
            continue
        seen = rows[rows["probability"] >= _LEAST]
        axes.plot(seen["changed"], seen["probability"], color=color, linestyle=dashes, label=name)
        if len(seen) <= 3:  # too narrow for a line
            axes.plot(seen["changed"], seen["probability"], color=color, marker="D", ms=4, ls="", mfc="none")
    axes.set(xlabel="number of records changed", ylabel="probability", title=title)
    if few:
        axes.set_xticks(np.arange(int(table["changed"].max()) + 1))
        axes.set_ylim(bottom=0)
    else:
        axes.set(yscale="log", ylim=(_LEAST, 2))
    axes.grid(False, axis="x")
    axes.legend()
    return figure


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
