"""What a wrong prior costs: randomized response, the best mechanism for one prior, and the best for a whole set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.curves import with_jumps
from paper_repro.figures.registry import COLORS, DASHES
from paper_repro.figures.style import LEAKAGE, canvas, drawing, rounded
from paper_repro.mechanisms import Mechanism
from paper_repro.papers import ghazi2021
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = ["draw_responses", "response_table"]

_DECIMALS = 9
# Both sides of a jump lie this far from it.
_BESIDE = 1e-8
_JUMP = 1e-3
_PROMISED = "RRWithPrior, if its prior is right"
_WRONG = "RRWithPrior, worst case over the set"
_EVEN = "k-ary randomized response"
_ROBUST = "robust optimum"
_STYLES: dict[str, dict[str, Any]] = {
    _ROBUST: {"color": COLORS[0], "linestyle": DASHES[0], "linewidth": 2.2},
    _EVEN: {"color": COLORS[1], "linestyle": DASHES[1]},
    _WRONG: {"color": COLORS[2], "linestyle": DASHES[0], "linewidth": 1.2},
    _PROMISED: {"color": COLORS[2], "linestyle": DASHES[2]},
}
# Where a line has its label, as a part of the width, and whether above it: between the lines, which fall.
_LABELS = {_ROBUST: (0.32, False), _EVEN: (0.27, True), _WRONG: (0.02, True), _PROMISED: (0.36, False)}


def response_table(source: SourceSet, vertex: int, leakages: ArrayLike) -> pd.DataFrame:
    """Worst-case distortion over a source set of four mechanisms of the same differential privacy, one point a row.

    Columns: ``mechanism``, ``leakage`` in nats and ``distortion``. RRWithPrior (Ghazi et al. 2021) is given the prior of one
    vertex, a number from 0, and appears twice: under that prior, and in the worst case over the set, which jumps where another
    number of letters is best for the prior. Rising leakages have shape (points,); both sides of each jump are added. Raises
    ValueError if there is no such vertex, or a leakage is negative.

    >>> response_table(SourceSet([[0.8, 0.2], [0.2, 0.8]]), 0, [1.0])["distortion"].round(4).tolist()
    [0.2689, 0.2689, 0.8, 0.2]
    """
    if not 0 <= vertex < source.vertex_count:
        raise ValueError(f"vertex must be between 0 and {source.vertex_count - 1}, got {vertex!r}")
    prior, rows = source.vertices[vertex], []
    grid = np.asarray(leakages, dtype=float)

    def worst(leakage: float) -> float:
        return source.worst_case_distortion(ghazi2021.rr_with_prior(prior, leakage))

    places, _, ends = with_jumps(worst, grid, [worst(leakage) for leakage in grid])
    jumps = places[[end == "closed" for end in ends]]
    for leakage in np.unique(np.concatenate([grid, jumps - _BESIDE, jumps + _BESIDE])).tolist():
        fitted = ghazi2021.rr_with_prior(prior, leakage)
        even = (source.alphabet_size - 1) / (source.alphabet_size - 1 + math.exp(leakage))
        response = Mechanism.from_distortions(np.full(source.alphabet_size, even))
        rows += [
            (_ROBUST, leakage, optimal_mechanism(source, leakage=leakage).distortion),
            (_EVEN, leakage, source.worst_case_distortion(response)),
            (_WRONG, leakage, source.worst_case_distortion(fitted)),
            (_PROMISED, leakage, float(prior @ (1 - fitted.matrix.diagonal()))),
        ]
    return rounded(pd.DataFrame(rows, columns=["mechanism", "leakage", "distortion"]), _DECIMALS)


@drawing("mechanism", "leakage", "distortion")
def draw_responses(table: pd.DataFrame, title: str = "") -> Figure:
    """Distortion against leakage, a labelled line for each mechanism; ``table`` is as of :func:`response_table`."""
    figure, axes = canvas(7.2, 4.4)
    wide = table.pivot(index="leakage", columns="mechanism", values="distortion")[list(_STYLES)]
    for name, style in _STYLES.items():
        line, leakages = wide[name].to_numpy(), wide.index.to_numpy()
        jumps = np.flatnonzero((np.diff(leakages) < 3 * _BESIDE) & (np.diff(line) < -_JUMP)) + 1
        axes.plot(np.insert(leakages, jumps, np.nan), np.insert(line, jumps, np.nan), **style)
        for jump in jumps:
            axes.plot(leakages[jump - 1 : jump + 1], line[jump - 1 : jump + 1], ls=":", lw=0.8, color=style["color"])
        part, above = _LABELS[name]
        place = wide.index[int(part * (len(wide) - 1))]
        axes.annotate(
            name,
            (place, wide.loc[place, name]),
            xytext=(2, 3) if above else (-2, -3),
            textcoords="offset points",
            ha="left" if above else "right",
            va="bottom" if above else "top",
            color=style["color"],
        )
    axes.set(
        xlabel=f"differential-privacy {LEAKAGE}",
        ylabel="probability that a letter is changed",
        xlim=(float(wide.index[0]), float(wide.index[-1])),
        ylim=(0, 1),
        title=title,
    )
    return figure
