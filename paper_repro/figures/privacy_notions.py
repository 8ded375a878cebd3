"""Two lemmas on mutual information, as points to compare with a curve, and the figure in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from paper_repro.figures.curves import Cited, cited_as, curve_points
from paper_repro.figures.registry import notion_look
from paper_repro.figures.style import rounded
from paper_repro.notions import Notion
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet

__all__ = ["cited_figure", "lemma_table", "two_in_words"]

_POINTS = 12
# By the numbers of the 2017 preprint, in which the formulas are legible; in the 2018 article they are Lemmas 5 and 6.
_CLOSED_FORM, _THRESHOLD = "Lemma 3 (2017 preprint)", "Lemma 4 (2017 preprint)"

_FIGURES: dict[tuple[object, ...], Cited] = {
    (name, "differential privacy", "mutual information"): Cited(
        f"figure_{number}", f"Kalantari et al. 2017 preprint, Figure {number}", (row,)
    )
    for name, number, row in (
        ("P_I_10", 6, "kalantari2017.lemma_3_formula"),
        ("P_II_10", 7, "kalantari2017.lemma_4_if"),
    )
}


def cited_figure(source: SourceSet, notions: Sequence[Notion]) -> Cited:
    """The paper's figure of this very set and these notions; for others, a file name of their own.

    >>> from paper_repro.notions import MutualInformation
    >>> cited_figure(SourceSet([0.5, 0.5], name="mine"), [MutualInformation()]).name
    'notions_mine_mutual-information'
    """
    return cited_as(_FIGURES, source.name, *(notion.name for notion in notions), kind="notions")


def lemma_table(source: SourceSet) -> pd.DataFrame:
    """Points of mutual information by Lemmas 3 and 4 of Kalantari et al. (2017 preprint; 5 and 6 of the 2018 article), in nats.

    Class I: Lemma 3's closed form at some distortions and its zero at ``(M - 1) / M``. Class II: Lemma 4's zero at
    ``D^(M-1)``. Class III: no points, since the lemmas do not treat it. Columns as of
    :func:`paper_repro.figures.curves.curve_table`.

    >>> lemma_table(SourceSet([0.5, 0.3, 0.2]))[["curve", "distortion", "leakage"]].to_numpy().tolist()
    [['Lemma 4 (2017 preprint)', 0.5, 0.0]]
    """
    size = source.alphabet_size
    if source.source_class == "I":
        end = (size - 1) / size
        grid = np.append(np.linspace(0.05, end, _POINTS, endpoint=False).round(3), end)
        points = curve_points(source, _CLOSED_FORM, grid, [kalantari2018.lemma_3(size, d) for d in grid])
    elif source.source_class == "II":
        points = curve_points(source, _THRESHOLD, [kalantari2018.lemma_4(source)], [0.0])
    else:
        points = curve_points(source, _THRESHOLD, [], [])
    return rounded(points, 6, distortion=9)


def two_in_words(table: pd.DataFrame) -> str:
    """The curves of a table as an alternative text: what falls, from where to where.

    >>> from paper_repro.figures.curves import curve_table
    >>> from paper_repro.notions import DifferentialPrivacy
    >>> two_in_words(curve_table([SourceSet([0.6, 0.4], name="mine")], [DifferentialPrivacy()], 0.1, 0.5, 5))
    'Optimal leakage for mine against distortion: differential privacy falls from 2.20 nats at D = 0.1 to zero at D = 0.4.'
    """
    exact = table[~table["curve"].str.startswith("Lemma")]
    parts = []
    for name, rows in exact.groupby("curve", sort=False):
        first, zero = rows.iloc[0], rows.loc[rows["leakage"] <= 0, "distortion"].min()
        start = "infinity" if np.isinf(first["leakage"]) else f"{first['leakage']:.2f} nats"
        last = f"zero at D = {zero:.4g}" if zero == zero else f"{rows['leakage'].iloc[-1]:.2f} nats"
        fall = (
            f"falls from {start} at D = {first['distortion']:.4g} to {last}"
            if zero != first["distortion"]
            else "is zero"
        )
        parts.append(f"{notion_look(str(name)).label} {fall}")
    return f"Optimal leakage for {exact['source_set'].iloc[0]} against distortion: {'; '.join(parts)}."
