"""What two lemmas say of mutual information, as points to set beside a curve."""

from __future__ import annotations

import numpy as np
import pandas as pd

from paper_repro.figures.leakage_curves import _frame, _rounded
from paper_repro.papers import kalantari2018
from paper_repro.sources import load_source_set

__all__ = [
    "lemma_table",
]


def lemma_table(name: str, points: int = 12) -> pd.DataFrame:
    """Where Lemmas 3 and 4 (5 and 6 in 2018) of Kalantari et al. put mutual information, as points to set beside a curve.

    Class I: Lemma 3's closed form at some distortions and its zero at ``(M - 1) / M``. Class II: Lemma 4's zero at
    ``D^(M-1)``. Empty for Class III, of which they say nothing. Columns as of :func:`curve_table`.
    """
    source = load_source_set(name)
    size = source.alphabet_size
    if source.source_class == "I":
        end = (size - 1) / size
        grid = np.append(np.linspace(0.05, end, points, endpoint=False).round(3), end)
        frame = _frame(source, "Lemma 3", grid, np.array([kalantari2018.lemma_3(size, d) for d in grid]))
    elif source.source_class == "II":
        frame = _frame(source, "Lemma 4", np.array([kalantari2018.lemma_4(source)]), np.zeros(1))
    else:
        frame = _frame(source, "Lemma 4", np.empty(0), np.empty(0))
    return _rounded(frame, "nats")
