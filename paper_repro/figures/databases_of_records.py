"""Databases of records: printed bounds, the exact least leakage, and what the best mechanisms change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from paper_repro.composition import parallel_composition
from paper_repro.curves import with_jumps
from paper_repro.databases import database_leakage_curve, optimal_database_mechanism
from paper_repro.figures.leakage_curves import _LEAKAGE, draw_falling
from paper_repro.figures.seven_notions import _COLUMNS, _parameters, _rounded, _wrapped
from paper_repro.figures.style import COLORS, DASHES, STYLE, need_columns
from paper_repro.graphs import MOST_WRITTEN_OUT
from paper_repro.notions import Notion
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import SourceSet

__all__ = [
    "draw_global",
    "draw_profiles",
    "global_table",
    "profile_table",
    "record_table",
]


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
    distortions : array_like in [0, records]
        Expected numbers of records changed.
    prior : sequence of ``values ** records`` probabilities, optional
        In the order of :func:`databases`; uniform, if empty.

    Returns
    -------
    DataFrame
        ``notion``, ``distortion``, ``exact``, ``lower`` and ``upper``, in nats; the bounds in their corrected reading, and
        between the points of the grid interpolated; ``end``, ``open`` and ``closed`` at the ends of a jump. Without a
        prior, upper bounds of maximal information are those of the uniform prior.

    >>> from paper_repro.notions import MaximalLeakage
    >>> global_table(2, 2, [MaximalLeakage()], [0.4]).round(5).iloc[0, 2:5].to_dict()
    {'exact': 0.87547, 'lower': 0.47, 'upper': 0.94001}
    """
    source = SourceSet(prior) if len(prior) else None
    small = records * np.log(values) <= np.log(MOST_WRITTEN_OUT)
    uniform = SourceSet(np.full(values**records, 1 / values**records)) if small else None
    frames = []
    for notion in notions:
        name, parameters = notion.name, _parameters(notion)
        rows = []
        for distortion in np.asarray(distortions, dtype=float):
            if source is not None:
                bounds = zhong_bu2022.theorem_6(
                    name, values, records, distortion, source, reading="corrected", **parameters
                )
            elif name == "maximal information" and uniform is None:
                # For the uniform prior alone it is maximal leakage, of Q_D too.
                bounds = zhong_bu2022.theorem_7("maximal leakage", values, records, distortion, reading="corrected")
            else:
                bounds = zhong_bu2022.theorem_7(
                    name, values, records, distortion, uniform, reading="corrected", **parameters
                )
            rows.append((notion.name, distortion, bounds.lower, bounds.upper))
        frame = pd.DataFrame(rows, columns=["notion", "distortion", "lower", "upper"])
        least = partial(database_leakage_curve, values, records, notion=notion, source=source)
        exact = least(frame["distortion"])
        if source is None or notion.gap_unit == "nats":  # only ratios jump, and not for the uniform prior
            frames.append(frame.assign(exact=exact, end=""))
            continue
        places, leakages, ends = with_jumps(lambda place: float(least([place])[0]), frame["distortion"], exact)  # noqa: B023
        exactly = pd.DataFrame({"notion": notion.name, "distortion": places, "exact": leakages, "end": ends})
        bands = {side: np.interp(places, frame["distortion"], frame[side]) for side in ("lower", "upper")}
        frames.append(exactly.assign(**bands))
    columns = ["notion", "distortion", "exact", "lower", "upper", "end"]
    return _rounded(pd.concat(frames, ignore_index=True)[columns])


def profile_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """How many records the best mechanism of each notion changes, for the uniform prior.

    Columns: ``notion``, ``changed`` (0 .. n) and ``probability`` that so many records are changed.

    >>> from paper_repro.notions import MaximalLeakage
    >>> profile_table(2, 2, [MaximalLeakage()], 0.4)["probability"].tolist()
    [0.6, 0.4, 0.0]
    """
    frames = []
    for notion in notions:
        best = optimal_database_mechanism(values, records, distortion=distortion, notion=notion)
        frames.append(
            pd.DataFrame(
                {
                    "notion": notion.name,
                    "changed": np.arange(records + 1),
                    "probability": best.profile.changed if best.profile else None,
                }
            )
        )
    return _rounded(pd.concat(frames, ignore_index=True))


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
    return _rounded(pd.DataFrame(rows, columns=["notion", "databases", "one_by_one"]))


_RECORDS = "expected number of records changed"

# Probabilities below this are not drawn where there are many numbers of records.
_LEAST = 1e-6


def draw_global(table: pd.DataFrame, title: str = "") -> Figure:
    """Printed bounds for databases as bands, with the exact least leakage in them; one panel a notion.

    ``table`` is as of :func:`global_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["notion", "distortion", "exact", "lower", "upper", "end"])
    groups = list(table.groupby("notion", sort=False))
    across, down = min(_COLUMNS, len(groups)), math.ceil(len(groups) / _COLUMNS)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(max(5.0, 2.35 * across), 2.15 * down + 0.8), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False, sharex=True).ravel()
        for axes, (name, rows) in zip(panels, groups, strict=False):
            axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], color=COLORS[6], alpha=0.45, lw=0)
            axes.plot(rows["distortion"], rows["lower"], color=COLORS[1], linewidth=0.8)
            axes.plot(rows["distortion"], rows["upper"], color=COLORS[1], linewidth=0.8, linestyle=DASHES[4])
            draw_falling(axes, rows, "exact", color=COLORS[2], linewidth=1.6, zorder=3)
            axes.set_title(_wrapped(str(name)), fontsize=8.5)
            axes.set_xlim(0, float(table["distortion"].max()))
            axes.set_ylim(bottom=0)
            axes.tick_params(labelbottom=True)
            axes.grid(alpha=0.25, linewidth=0.6)
        for axes in panels[len(groups) :]:
            axes.axis("off")
        figure.supxlabel(_RECORDS, fontsize=9)
        figure.supylabel(_LEAKAGE, fontsize=9)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
        handles = [
            Line2D([], [], color=COLORS[2], linewidth=1.6, label="exact"),
            Line2D([], [], color=COLORS[1], linewidth=0.8, linestyle=DASHES[4], label="upper bound"),
            Line2D([], [], color=COLORS[1], linewidth=0.8, label="lower bound"),
            Patch(facecolor=COLORS[6], alpha=0.45, label="interval"),
        ]
        if len(groups) < len(panels):
            panels[-1].legend(handles=handles, loc="center")
        else:
            figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def draw_profiles(table: pd.DataFrame, title: str = "") -> Figure:
    """How many records the best mechanism of each notion changes; for more than a dozen records on a logarithmic scale.

    ``table`` is as of :func:`profile_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["notion", "changed", "probability"])
    groups = list(table.groupby("notion", sort=False))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.add_subplot()
        width = 0.86 / len(groups)
        few = table["changed"].nunique() <= 12
        for number, (name, rows) in enumerate(groups):
            color = COLORS[number % len(COLORS)]
            if few:
                places = rows["changed"] + (number - (len(groups) - 1) / 2) * width
                axes.bar(places, rows["probability"], 0.9 * width, color=color, label=name)
            else:
                seen = rows[rows["probability"] >= _LEAST]
                dashes = DASHES[number % len(DASHES)]
                axes.plot(seen["changed"], seen["probability"], color=color, linestyle=dashes, label=name)
                if len(seen) <= 3:  # too narrow for a line
                    axes.plot(seen["changed"], seen["probability"], color=color, marker="D", ms=4, ls="", mfc="none")
        if few:
            axes.set_xticks(np.arange(int(table["changed"].max()) + 1))
        axes.set(xlabel="number of records changed", ylabel="probability", title=title)
        if few:
            axes.set_ylim(bottom=0)
        else:
            axes.set(yscale="log", ylim=(_LEAST, 2))
        axes.grid(axis="y", alpha=0.25, linewidth=0.6)
        axes.legend()
    return figure
