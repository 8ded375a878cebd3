"""Seven notions side by side: the intervals printed for some of them, and the best mechanism of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.figures.leakage_curves import in_print
from paper_repro.figures.style import drawing, need, on_two_lines, panels, rounded, shade
from paper_repro.notions import Notion
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = ["draw_mechanisms", "interval_table", "mechanism_table"]

_DECIMALS = 6


def interval_table(source: SourceSet, notions: Sequence[Notion], distortions: ArrayLike) -> pd.DataFrame:
    """Intervals that Proposition 8 of Zhong and Bu 2022 prints for a Class I set, where they are no single number.

    Columns: ``curve`` (the notion), ``distortion``, ``lower`` and ``upper`` in nats; empty for other classes. Distortions have
    shape (points,).

    >>> from paper_repro.notions import RenyiDP
    >>> interval_table(SourceSet([[1, 0], [0, 1]]), [RenyiDP(2)], [0.3]).round(4).iloc[0].to_dict()
    {'curve': 'Renyi differential privacy', 'distortion': 0.3, 'lower': 0.4906, 'upper': 0.5664}
    """
    rows = []
    for notion in notions if source.source_class == "I" else ():
        name, parameters = in_print(notion)
        for distortion in np.asarray(distortions, dtype=float):
            bounds = zhong_bu2022.proposition_8(name, source.alphabet_size, distortion, source, **parameters)
            rows.append((notion.name, distortion, bounds.lower, bounds.upper))
    frame = pd.DataFrame(rows, columns=["curve", "distortion", "lower", "upper"])
    wide = (frame["upper"] - frame["lower"]).groupby(frame["curve"]).transform("max") > 10**-_DECIMALS
    return rounded(frame[wide.to_numpy(dtype=bool)].reset_index(drop=True), _DECIMALS)


def mechanism_table(source: SourceSet, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """The best mechanism of each notion at one distortion, one entry a row.

    Columns: ``notion``, ``leakage`` (least, in nats), ``true`` and ``published`` letters, ``probability``. Raises ValueError if
    there is no notion.

    >>> from paper_repro.notions import MaximalLeakage
    >>> mechanism_table(SourceSet([0.6, 0.4]), [MaximalLeakage()], 0.1)["probability"].tolist()
    [1.0, 0.0, 0.25, 0.75]
    """
    need(notions, "notion")
    letters = np.array([str(label) for label in source.labels])
    true, published = np.indices((len(letters), len(letters)))
    frames = []
    for notion in notions:
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        entries = {
            "true": letters[true.ravel()],
            "published": letters[published.ravel()],
            "probability": best.mechanism.matrix.ravel(),
        }
        frames.append(pd.DataFrame({"notion": notion.name, "leakage": best.leakage, **entries}))
    return rounded(pd.concat(frames, ignore_index=True), _DECIMALS)


@drawing("notion", "leakage", "true", "published", "probability")
def draw_mechanisms(table: pd.DataFrame, title: str = "") -> Figure:
    """The best mechanism of each notion as a shaded table: row = true letter, column = published letter.

    ``table`` is as of :func:`mechanism_table`. Raises ValueError if a column is missing.
    """
    letters = list(dict.fromkeys(table["true"]))
    groups = list(table.groupby("notion", sort=False))
    cell = 0.5
    figure, places = panels(
        len(groups),
        4,
        lambda across, down: (
            max(5.0, across * (cell * len(letters) + 0.9)),
            down * (0.42 * len(letters) + 1.0) + 0.4,
        ),
        title,
        "published letter",
        "true letter",
    )
    for axes, (name, rows) in zip(places, groups, strict=False):
        square = rows.pivot(index="true", columns="published", values="probability").loc[letters, letters]
        shade(axes, square, "{:.2f}", darkest=1.6, fontsize=7.5)
        axes.set_title(f"{on_two_lines(str(name))}\n{rows['leakage'].iloc[0]:.4f} nats", fontsize=8.5)
        axes.tick_params(labelsize=8)
    return figure
