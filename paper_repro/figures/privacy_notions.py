"""What two lemmas say of mutual information, as points to set beside a curve."""

from __future__ import annotations

import numpy as np
import pandas as pd

from paper_repro.figures.leakage_curves import curve_points
from paper_repro.figures.style import rounded
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet

__all__ = ["lemma_table"]

_POINTS = 12


def lemma_table(source: SourceSet) -> pd.DataFrame:
    """Where Lemmas 3 and 4 (5 and 6 in 2018) of Kalantari et al. put mutual information, as points to set beside a curve.

    Class I: Lemma 3's closed form at some distortions and its zero at ``(M - 1) / M``. Class II: Lemma 4's zero at
    ``D^(M-1)``. Empty for Class III, of which they say nothing. Columns as of
    :func:`paper_repro.figures.leakage_curves.curve_table`.

    >>> lemma_table(SourceSet([0.5, 0.3, 0.2]))[["curve", "distortion", "leakage"]].to_numpy().tolist()
    [['Lemma 4', 0.5, 0.0]]
    """
    size = source.alphabet_size
    if source.source_class == "I":
        end = (size - 1) / size
        grid = np.append(np.linspace(0.05, end, _POINTS, endpoint=False).round(3), end)
        points = curve_points(source, "Lemma 3", grid, [kalantari2018.lemma_3(size, d) for d in grid])
    elif source.source_class == "II":
        points = curve_points(source, "Lemma 4", [kalantari2018.lemma_4(source)], [0.0])
    else:
        points = curve_points(source, "Lemma 4", [], [])
    return rounded(points, 6, distortion=9)
