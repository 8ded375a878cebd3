"""Distortion and leakage of a mechanism by hand, in fractions, and optimal mechanisms with the curves on which they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_repro.checks import check_distortion
from paper_repro.figures.curves import Cited, add_curve, cited_as, curve_table
from paper_repro.figures.layout import PAGE, headline, label_zeros
from paper_repro.figures.registry import Look, set_looks
from paper_repro.figures.saving import framed
from paper_repro.figures.sliders import frames, matrix_html
from paper_repro.figures.style import DISTORTION, LEAKAGE, canvas, drawing, shade
from paper_repro.notions import DifferentialPrivacy
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "HOW_TO_READ",
    "best_page",
    "best_table",
    "changed_by_hand",
    "cited_figure",
    "draw_best",
    "in_words",
    "ratios_by_hand",
]

# The caption of the picture: what its lines and signs mean.
HOW_TO_READ = (
    "A matrix shows the probability with which each true category (row) is published as each category (column); "
    "an empty cell is 0. Each dot is the matrix of the same color. A curve is the least leakage at each distortion; "
    "a hollow circle above a filled one is a jump to zero"
)

# Where curves begin: at 0 the leakage is infinite.
_SMALLEST = 0.03
# Leakages in nats that differ by less are alike: the points are certified to this.
_SAME = 1e-9


def cited_figure(
    categories: Sequence[str], prior: Sequence[object], other_prior: Sequence[object], distortion: float
) -> Cited:
    """The figure of the default categories, priors and distortion; for others, a file name of their own.

    >>> cited_figure(["yes", "no"], ["1/2", "1/2"], ["1/3", "2/3"], 0.1).name
    'start_here_yes_no_1-2_1-2_1-3_2-3_0-1'
    """
    known = ("bus", "bike", "car", "3/5", "3/10", "1/10", "3/10", "11/20", "3/20", 0.35)
    return cited_as({known: Cited("start_here")}, *categories, *prior, *other_prior, distortion, kind="start_here")


def changed_by_hand(
    channel: Sequence[Sequence[object]], prior: Sequence[object], categories: Sequence[str]
) -> pd.DataFrame:
    """The probability that an entry is changed, in fractions: one row for each category, and their sum in the last row.

    Parameters
    ----------
    channel : M rows of M fractions, such as "4/5"; row i has the probabilities with which category i is published as each one
    prior : M fractions
    categories : M names

    Returns
    -------
    DataFrame
        Columns ``has it``, ``is kept``, ``is changed`` and ``has it and is changed``: probabilities as text.

    Raises
    ------
    ValueError
        If the numbers are no mechanism or no prior, or there are more or fewer names than rows.

    >>> changed_by_hand([["4/5", "1/5"], ["1/2", "1/2"]], ["3/4", "1/4"], ["a", "b"])["has it and is changed"].tolist()
    ['3/20', '1/8', '11/40']
    """
    rows, weights = _channel(channel, categories), _fractions(prior, "prior")
    if len(weights) != len(rows) or min(weights) < 0 or sum(weights) != 1:
        raise ValueError(
            f"prior must be {len(rows)} fractions of at least 0 that sum to 1; got {list(prior)}. "
            "Give one fraction for each category."
        )
    kept = [row[place] for place, row in enumerate(rows)]
    lost = [weight * (1 - stays) for weight, stays in zip(weights, kept, strict=True)]
    table = pd.DataFrame(
        {
            "has it": weights,
            "is kept": kept,
            "is changed": [1 - stays for stays in kept],
            "has it and is changed": lost,
        },
        index=list(categories),
    ).map(str)
    table.loc["together"] = ["1", "", "", str(sum(lost))]
    return table


def ratios_by_hand(channel: Sequence[Sequence[object]], categories: Sequence[str]) -> pd.DataFrame:
    """The largest ratio in each column of a mechanism, in fractions; its leakage is the logarithm of the largest one.

    Leakage under differential privacy, Definition 2 of Kalantari et al. 2018. Columns ``most likely``, ``least likely`` and
    ``ratio``, as text; a category that is never published has no ratio. Raises ValueError if the numbers are no mechanism, or
    there are more or fewer names than rows.

    >>> ratios_by_hand([["4/5", "1/5"], ["1/2", "1/2"]], ["a", "b"])["ratio"].tolist()
    ['8/5', '5/2']
    """
    table = {}
    for name, column in zip(categories, zip(*_channel(channel, categories), strict=True), strict=True):
        most, least = max(column), min(column)
        ratio = str(most / least) if least else "infinite" if most else "-"
        table[name] = {"most likely": str(most), "least likely": str(least), "ratio": ratio}
    return pd.DataFrame.from_dict(table, orient="index")


def best_table(sources: Sequence[SourceSet], distortion: float) -> pd.DataFrame:
    """Optimal mechanisms of source sets under differential privacy at one distortion, and the curves on which they lie.

    Rows with a ``true`` category are entries of a mechanism: ``probability`` that it is ``published`` as a category, at this
    ``distortion``, and the mechanism's ``leakage`` in nats. The others are points of curves, as of
    :func:`~paper_repro.figures.curves.curve_table`. Raises ValueError for a distortion outside [0, 1], or two sets
    of one name.

    >>> best_table([SourceSet(["3/5", "3/10", "1/10"])], 0.3)["probability"].dropna().round(4).tolist()[:3]
    [0.7778, 0.2222, 0.0]
    """
    return pd.concat([_mechanisms(sources, distortion), _curves(sources)], ignore_index=True)


def _curves(sources: Sequence[SourceSet]) -> pd.DataFrame:
    return curve_table(sources, [DifferentialPrivacy()], _SMALLEST, 1.0, 100)


def _mechanisms(sources: Sequence[SourceSet], distortion: float) -> pd.DataFrame:
    check_distortion(distortion)
    tables = []
    for source in sources:
        best = optimal_mechanism(source, distortion=distortion)
        names = list(map(str, source.labels))
        pairs = pd.MultiIndex.from_product([names, names], names=["true", "published"])
        rows = pd.DataFrame({"probability": best.mechanism.matrix.ravel()}, index=pairs).reset_index()
        tables.append(rows.assign(source_set=source.name, distortion=distortion, leakage=best.leakage))
    return pd.concat(tables, ignore_index=True)


@drawing("source_set", "true", "published", "probability", "distortion", "leakage", "end")
def draw_best(table: pd.DataFrame) -> Figure:
    """Mechanisms above, and below them their places on the curves; from a table as of :func:`best_table`."""
    mechanisms, curves = table[table["true"].notna()], table[table["true"].isna()]
    least = mechanisms.groupby("source_set", sort=False)[["distortion", "leakage"]].first()
    looks = set_looks(least.index)
    figure = Figure(figsize=(PAGE, 4.9), layout="constrained")
    grid = figure.add_gridspec(2, len(least), height_ratios=[1, 1.7])
    axes = figure.add_subplot(grid[1, :])
    for number, (name, point) in enumerate(least.iterrows()):
        place, entries = figure.add_subplot(grid[0, number]), mechanisms[mechanisms["source_set"] == name]
        order, look = entries["true"].drop_duplicates(), looks[str(name)]
        matrix = entries.pivot(index="true", columns="published", values="probability").loc[order, order]
        shade(place, matrix, "{:.3f}", darkest=1.5, fontsize=9)
        place.set_title(look.label, color=look.color)
        if np.isfinite(point["leakage"]):
            axes.plot(*point, color=look.color, marker="o", ms=6, zorder=5, clip_on=False)
    _draw_curves(axes, curves, looks)
    distortion = least["distortion"].iloc[0]
    headline(
        figure,
        _finding(least["leakage"]),
        f"Differential privacy. Above: optimal mechanisms at $D = {distortion:.4g}$; row: true, column: published. "
        "Below: least leakage at every $D$",
    )
    return figure


def _draw_curves(axes: Axes, curves: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """The least leakage of each source set, named below the point where it reaches zero."""
    for name, look in looks.items():
        add_curve(axes, curves[curves["source_set"] == name], "leakage", **look.line, zorder=2)
    last = curves.loc[curves["leakage"] > _SAME, "distortion"].max()
    axes.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    axes.set(xlabel=DISTORTION, ylabel=LEAKAGE, xlim=(0, min(1.0, 1.15 * last)), ylim=(-0.2 * axes.get_ylim()[1], None))
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= axes.get_ylim()[1]])
    label_zeros(axes)


def best_page(sources: Sequence[SourceSet]) -> Callable[[float], str]:
    """Optimal mechanisms and their places on the curves at a distortion, as HTML, for a slider.

    >>> "Ratios up to 2.6 for one prior" in best_page([SourceSet(["3/5", "3/10", "1/10"], name="one prior")])(0.35)
    True
    """
    figure, axes = canvas(PAGE, 2.9)
    looks = set_looks([source.name for source in sources])
    _draw_curves(axes, _curves(sources), looks)
    places = [axes.plot([], [], "o", color=look.color, ms=7, zorder=5, clip_on=False)[0] for look in looks.values()]
    frame = frames(figure, places)

    def page(distortion: float) -> str:
        table = _mechanisms(sources, distortion)
        groups = [(str(name), rows) for name, rows in table.groupby("source_set", sort=False)]
        for place, (_, rows) in zip(places, groups, strict=True):
            place.set_data([distortion], rows["leakage"].iloc[:1])
        matrices = [
            matrix_html(rows["probability"].to_numpy().reshape(2 * (source.alphabet_size,)), source.labels, name)
            for source, (name, rows) in zip(sources, groups, strict=True)
        ]
        finding = _finding(table.groupby("source_set", sort=False)["leakage"].first())
        return "".join(matrices) + framed(frame(), figure, in_words(table), finding)

    return page


def in_words(table: pd.DataFrame) -> str:
    """The mechanisms of a table as of :func:`best_table`, for readers who do not see the picture.

    >>> in_words(best_table([SourceSet(["3/5", "3/10", "1/10"], name="one prior")], 0.3))
    'Optimal mechanisms at D = 0.3. Ratios up to 3.5 for one prior.'
    """
    least = table[table["true"].notna()].groupby("source_set", sort=False)[["distortion", "leakage"]].first()
    ratios = "; ".join(f"up to {np.exp(leakage):.4g} for {name}" for name, leakage in least["leakage"].items())
    return f"Optimal mechanisms at D = {least['distortion'].iloc[0]:.4g}. Ratios {ratios}."


def _finding(least: pd.Series) -> str:
    """What the least leakages at one distortion show about knowing more; sets that are known better come first."""
    if np.isinf(least.max()):
        return "Without any change, everything is revealed"
    spread = least.max() - least.min()
    if spread < _SAME:
        return (
            "At this distortion, knowing more does not lower the leakage"
            if least.max() > _SAME
            else "At this distortion, nothing needs to be revealed"
        )
    if least.is_monotonic_increasing:
        return f"Knowing more about the data saves {spread:.3g} nats of leakage"
    return f"The least leakages of these source sets differ by {spread:.3g} nats"


def _channel(channel: Sequence[Sequence[object]], categories: Sequence[str]) -> list[list[Fraction]]:
    rows = [_fractions(row, "channel") for row in channel]
    if len(categories) != len(rows):
        raise ValueError(
            f"categories must be {len(rows)} names; got {list(categories)}. Name each row of the channel once."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows) or min(row) < 0 or sum(row) != 1:
            raise ValueError(
                f"row {number} of channel must be {len(rows)} fractions of at least 0 that sum to 1; "
                f"got {list(map(str, row))}. Give one fraction for each category."
            )
    return rows


def _fractions(numbers: Sequence[object], name: str) -> list[Fraction]:
    try:
        return [Fraction(str(number)) for number in numbers]
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{name} must have numbers; got {list(numbers)}. Write fractions such as '1/3', or decimals."
        ) from None
