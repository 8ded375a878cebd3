"""Seven notions side by side: intervals that are printed, and best mechanisms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from paper_repro.errors import optional
from paper_repro.figures.leakage_curves import draw_curves
from paper_repro.figures.style import COLORS, STYLE, need_columns
from paper_repro.notions import ApproximateDP, Notion, RenyiDP, SibsonInformation
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import load_source_set
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "bound_table",
    "draw_mechanisms",
    "draw_notions",
    "mechanism_table",
]

_DECIMALS = 6


def bound_table(name: str, notions: Sequence[Notion], distortions: ArrayLike) -> pd.DataFrame:
    """Intervals that Proposition 8 of Zhong and Bu 2022 prints for a Class I set, where they are no single number.

    Columns: ``curve`` (the notion), ``distortion``, ``lower`` and ``upper`` in nats; empty for other classes.

    >>> from paper_repro.notions import RenyiDP
    >>> bound_table("P_I_2", [RenyiDP(2)], [0.3]).round(4).iloc[0].to_dict()
    {'curve': 'Renyi differential privacy', 'distortion': 0.3, 'lower': 0.4906, 'upper': 0.5664}
    """
    source = load_source_set(name)
    rows = []
    for notion in notions if source.source_class == "I" else ():
        for distortion in np.asarray(distortions, dtype=float):
            bounds = zhong_bu2022.proposition_8(
                notion.name, source.alphabet_size, distortion, source, **_parameters(notion)
            )
            rows.append((notion.name, distortion, bounds.lower, bounds.upper))
    frame = pd.DataFrame(rows, columns=["curve", "distortion", "lower", "upper"])
    wide = (frame["upper"] - frame["lower"]).groupby(frame["curve"]).transform("max") > 10**-_DECIMALS
    return _rounded(frame[wide.to_numpy(dtype=bool)].reset_index(drop=True))


def mechanism_table(name: str, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """The best mechanism of each notion at one distortion, one entry a row.

    Columns: ``notion``, ``leakage`` (least, in nats), ``true`` and ``published`` letters, ``probability``.

    >>> from paper_repro.notions import MaximalLeakage
    >>> mechanism_table("P_II_4", [MaximalLeakage()], 0.3)["probability"].round(2).tolist()[:4]
    [1.0, 0.0, 0.0, 0.0]
    """
    source = load_source_set(name)
    frames = []
    for notion in notions:
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        true, published = np.indices(best.mechanism.matrix.shape)
        letters = np.array([str(label) for label in source.labels])
        frames.append(
            pd.DataFrame(
                {
                    "notion": notion.name,
                    "leakage": best.leakage,
                    "true": letters[true.ravel()],
                    "published": letters[published.ravel()],
                    "probability": best.mechanism.matrix.ravel(),
                }
            )
        )
    return _rounded(pd.concat(frames, ignore_index=True))


_COLUMNS = 4


def draw_notions(curves: pd.DataFrame, bounds: pd.DataFrame, title: str = "") -> Figure:
    """Privacy-distortion curves of several notions, the intervals that are printed for some of them shaded.

    Parameters
    ----------
    curves : DataFrame
        As of :func:`curve_table`, of one source set.
    bounds : DataFrame
        As of :func:`bound_table`; may be empty.
    title : str

    Raises
    ------
    ValueError
        If a column is missing, or there are more curves than can be told apart (7).
    """
    need_columns(bounds, ["curve", "distortion", "lower", "upper"])
    figure = draw_curves(curves, title)
    axes = figure.axes[0]
    names = list(dict.fromkeys(curves["curve"]))
    hatches = ["////", "\\\\\\\\", "....", "xxxx"]
    handles: list[Any] = []
    for (name, rows), hatch in zip(bounds.groupby("curve", sort=False), hatches * len(names), strict=False):
        color = COLORS[names.index(name)]
        style: Any = {"facecolor": "none", "edgecolor": color, "hatch": hatch, "linewidth": 0.0, "alpha": 0.7}
        axes.fill_between(rows["distortion"], rows["lower"], rows["upper"], zorder=1, **style)
        handles.append(Patch(**style, label=f"printed interval: {name}"))
    if handles:
        with mpl.rc_context(STYLE):
            inside = axes.get_legend()
            known = (inside or figure.legends[0]).legend_handles
            every = [handle for handle in known if handle is not None] + handles
            if inside:
                axes.legend(handles=every, loc="upper right")
            else:
                figure.legends[0].remove()
                figure.legend(handles=every, loc="outside right upper")
    return figure


def draw_mechanisms(table: pd.DataFrame, title: str = "") -> Figure:
    """The best mechanism of each notion as a shaded table: row = true letter, column = published letter.

    ``table`` is as of :func:`mechanism_table`. Raises ValueError if a column is missing.
    """
    seaborn = optional("seaborn", "plot")
    need_columns(table, ["notion", "leakage", "true", "published", "probability"])
    letters = list(dict.fromkeys(table["true"]))
    groups = list(table.groupby("notion", sort=False))
    across, down = min(_COLUMNS, len(groups)), math.ceil(len(groups) / _COLUMNS)
    cell = 0.5
    with mpl.rc_context(STYLE):
        figure = Figure(
            figsize=(max(5.0, across * (cell * len(letters) + 0.9)), down * (0.42 * len(letters) + 1.0) + 0.4),
            layout="constrained",
        )
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (name, rows) in zip(panels, groups, strict=False):
            square = rows.pivot(index="true", columns="published", values="probability").loc[letters, letters]
            seaborn.heatmap(
                square, ax=axes, annot=True, fmt=".2f", cmap="Blues", cbar=False, linewidths=0.5, linecolor="white",
                vmin=0, vmax=1.6, annot_kws={"size": 7.5},
            )  # fmt: skip
            axes.set(xlabel="", ylabel="")
            axes.set_title(f"{_wrapped(str(name))}\n{rows['leakage'].iloc[0]:.4f} nats", fontsize=8.5)
            axes.tick_params(left=False, bottom=False, labelrotation=0, labelsize=8)
        for axes in panels[len(groups) :]:
            axes.axis("off")
        figure.supxlabel("published letter", fontsize=9)
        figure.supylabel("true letter", fontsize=9)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


def _parameters(notion: Notion) -> dict[str, float]:
    """The order or delta of a notion, as the paper's functions take them."""
    if isinstance(notion, RenyiDP | SibsonInformation):
        return {"alpha": notion.alpha}
    return {"delta": notion.delta} if isinstance(notion, ApproximateDP) else {}


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Round to the digits that are certified; what is left of a zero is 0."""
    numbers = frame.select_dtypes("float").columns
    frame[numbers] = frame[numbers].round(_DECIMALS) + 0.0
    return frame


def _wrapped(name: str) -> str:
    """A long name on two lines."""
    words = name.rsplit(" ", 2) if len(name) > 22 else [name]
    return f"{words[0]}\n{' '.join(words[1:])}" if len(words) > 1 else name
