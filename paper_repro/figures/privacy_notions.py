"""What two lemmas say of mutual information, as points to set beside a curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from paper_repro.figures.curves import Cited, cited_as, curve_points
from paper_repro.figures.style import rounded
from paper_repro.notions import Notion
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet

__all__ = ["cited_figure", "lemma_table"]

_POINTS = 12
_CLOSED_FORM, _THRESHOLD = "Lemma 5 (preprint: 3)", "Lemma 6 (preprint: 4)"


_FIGURES: dict[tuple[object, ...], Cited] = {
    (name, "differential privacy", "mutual information"): Cited(
        f"figure_{number}", f"Kalantari et al. 2018, Figure {number}", (row,)
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
    """Where Lemmas 5 and 6 of Kalantari et al. 2018 (3 and 4 of the preprint) put mutual information, as points beside a curve.

    Class I: Lemma 5's closed form at some distortions and its zero at ``(M - 1) / M``. Class II: Lemma 6's zero at
    ``D^(M-1)``. Empty for Class III, of which they say nothing. Columns as of
    :func:`paper_repro.figures.curves.curve_table`.

    >>> lemma_table(SourceSet([0.5, 0.3, 0.2]))[["curve", "distortion", "leakage"]].to_numpy().tolist()
    [['Lemma 6 (preprint: 4)', 0.5, 0.0]]
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
