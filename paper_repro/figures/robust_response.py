"""The cost of a wrong prior: randomized response, the optimum for one prior, and the optimum for a source set."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.curves import refined
from paper_repro.figures.curves import Cited, add_curve, cited_as
from paper_repro.figures.layout import PAGE, headline, label_lines
from paper_repro.figures.registry import COLORS, DASHES, EXACT, Look
from paper_repro.figures.style import LEAKAGE, canvas, drawing, need, rounded
from paper_repro.mechanisms import Mechanism
from paper_repro.papers import ghazi2021
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

__all__ = [
    "cited_figure",
    "draw_responses",
    "finding_of_responses",
    "response_table",
    "responses_in_words",
    "wide_table",
]

_DECIMALS = 9
_PROMISED = "RRWithPrior, if its prior is right"
_WRONG = "RRWithPrior, worst case over the set"
_EVEN = "k-ary randomized response"
_ROBUST = "robust optimum"
_LOOKS = {
    _ROBUST: EXACT,
    _EVEN: Look(_EVEN, COLORS[1], DASHES[1], "s"),
    _WRONG: Look(_WRONG, COLORS[2], DASHES[4], "^"),
    _PROMISED: Look(_PROMISED, COLORS[2], DASHES[3], "v"),
}


def cited_figure(source: SourceSet, vertex: int) -> Cited:
    """The figure of the default set and prior, a vertex numbered from 1; for others, a file name of their own.

    >>> cited_figure(SourceSet([0.5, 0.5], name="mine"), 1).name
    'robust_response_mine_1'
    """
    return cited_as({("P_IIIb_6", 1): Cited("robust_response")}, source.name, vertex, kind="robust_response")


def response_table(source: SourceSet, vertex: int, leakages: ArrayLike) -> pd.DataFrame:
    """Distortions of three mechanisms at equal leakage under differential privacy, one point a row.

    Columns: ``mechanism``, ``leakage`` in nats, ``distortion``, and ``end``: ``open`` and ``closed`` at both ends of a jump.
    The distortion of the robust optimum and of randomized response is the largest over the source set. RRWithPrior (Ghazi et
    al. 2021) is given the prior of one vertex, a number from 1, and appears twice: under that prior, and in the worst case over
    the set, which jumps where another number of categories becomes optimal for the prior. The leakages have shape
    (points,); as many are added as lines right to half a pixel need. Raises ValueError if there is no such vertex, no
    leakage, or a negative one.

    >>> response_table(SourceSet([[0.8, 0.2], [0.2, 0.8]]), 1, [1.0])["distortion"].round(4).tolist()
    [0.2689, 0.2689, 0.8, 0.2]
    """
    if not 1 <= vertex <= source.vertex_count:
        raise ValueError(f"vertex must be between 1 and {source.vertex_count}, got {vertex!r}")
    need(np.atleast_1d(leakages), "leakage")
    prior, size = source.vertices[vertex - 1], source.alphabet_size

    def distortions(leakages: FloatArray) -> FloatArray:
        rows = []
        for leakage in leakages.tolist():
            fitted = ghazi2021.rr_with_prior(prior, leakage)
            even = Mechanism.from_distortions(np.full(size, (size - 1) / (size - 1 + math.exp(leakage))))
            rows.append(
                (
                    optimal_mechanism(source, leakage=leakage).distortion,
                    source.worst_case_distortion(even),
                    source.worst_case_distortion(fitted),
                    float(prior @ (1 - fitted.matrix.diagonal())),
                )
            )
        return np.array(rows)

    places, found, ends = refined(distortions, leakages, span=1.0)
    frames = []
    for name, column in zip(_LOOKS, found.T, strict=True):
        jumps = ends if name == _WRONG else [""] * len(ends)
        frames.append(pd.DataFrame({"mechanism": name, "leakage": places, "distortion": column, "end": jumps}))
    table = pd.concat(frames, ignore_index=True)
    order = table.index.to_series().mod(len(places)).sort_values(kind="stable").index
    return rounded(table.loc[order].reset_index(drop=True), _DECIMALS)


@drawing("mechanism", "leakage", "distortion", "end")
def draw_responses(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Distortion against leakage, a labelled line for each mechanism.

    ``table`` is as of :func:`response_table`; the title is by default :func:`finding_of_responses`. Raises ValueError if a column
    is missing.
    """
    figure, axes = canvas(PAGE, 4.2)
    for name, look in _LOOKS.items():
        rows = table[table["mechanism"] == name].rename(columns={"leakage": "distortion", "distortion": "changed"})
        width = 2.2 if name == _ROBUST else 1.4
        add_curve(axes, rows, "changed", gid=name, **{**look.line, "label": name, "linewidth": width})
    low, high = float(table["leakage"].min()), float(table["leakage"].max())
    axes.set(xlabel=f"differential-privacy {LEAKAGE}", ylabel="probability that an entry is changed", ylim=(0, 1))
    axes.set_xlim(low, high)
    headline(figure, title or finding_of_responses(table), subtitle)
    label_lines(axes)
    return figure


def finding_of_responses(table: pd.DataFrame) -> str:
    """Up to which leakage RRWithPrior is, in the worst case over the set, worse than randomized response, in a sentence.

    >>> finding_of_responses(response_table(SourceSet([[0.8, 0.2], [0.2, 0.8]]), 1, [0.0, 2.0]))
    'Below 1.39 nats, a wrong prior can be worse than no prior'
    """
    of = {name: rows.reset_index(drop=True) for name, rows in table.groupby("mechanism")}
    is_worse, leakages = of[_WRONG]["distortion"] > of[_EVEN]["distortion"] + 1e-6, of[_WRONG]["leakage"]
    if not is_worse.any():
        return "At the leakages shown, a wrong prior is never worse than no prior"
    above = float(leakages[is_worse].max())
    if (~is_worse & (leakages < above)).any():
        return "At some leakages, a wrong prior can be worse than no prior"
    shown = "At every leakage shown" if above >= table["leakage"].max() else f"Below {above:.2f} nats"
    return f"{shown}, a wrong prior can be worse than no prior"


def wide_table(table: pd.DataFrame) -> pd.DataFrame:
    """The distortions of a :func:`response_table`, one mechanism a column; at a jump, the value at it.

    >>> wide = wide_table(response_table(SourceSet([[0.8, 0.2], [0.2, 0.8]]), 1, [1.0]))
    >>> wide["robust optimum"].round(4).to_dict()
    {1.0: 0.2689}
    """
    return table.pivot_table(index="leakage", columns="mechanism", values="distortion", aggfunc="last")


def responses_in_words(table: pd.DataFrame, name: str) -> str:
    """The lines of :func:`draw_responses` as an alternative text, for the source set of this name.

    >>> responses_in_words(response_table(SourceSet([0.8, 0.2]), 1, [0.0, 2.0]), "mine")[:87]
    'Probability of a change against leakage for mine, from the left end to the right: RRWit'
    """
    ends = "; ".join(f"{one} from {line.iloc[0]:.2f} to {line.iloc[-1]:.2f}" for one, line in wide_table(table).items())
    return f"Probability of a change against leakage for {name}, from the left end to the right: {ends}."
