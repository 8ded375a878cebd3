"""Distortion and leakage of a mechanism by hand, in fractions, and the best mechanism beside the curve it lies on."""

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

__all__ = ["best_page", "best_table", "changed_by_hand", "cited_figure", "draw_best", "in_words", "ratios_by_hand"]

# Where curves begin: at 0 the leakage is infinite.
_SMALLEST = 0.03
# Leakages in nats that differ by less are alike: the points are certified to this.
_SAME = 1e-9


def cited_figure(
    letters: Sequence[str], prior: Sequence[object], other_prior: Sequence[object], distortion: float
) -> Cited:
    """The figure of the default letters, priors and distortion; for others, a file name of their own.

    >>> cited_figure(["yes", "no"], ["1/2", "1/2"], ["1/3", "2/3"], 0.1).name
    'start_here_yes_no_1-2_1-2_1-3_2-3_0-1'
    """
    known = ("bus", "bike", "car", "3/5", "3/10", "1/10", "3/10", "11/20", "3/20", 0.35)
    return cited_as({known: Cited("start_here")}, *letters, *prior, *other_prior, distortion, kind="start_here")


def changed_by_hand(
    channel: Sequence[Sequence[object]], prior: Sequence[object], letters: Sequence[str]
) -> pd.DataFrame:
    """The probability that a letter is changed, D, in fractions, a letter a row and their sum in the last.

    Parameters
    ----------
    channel : M rows of M fractions, such as "4/5"; row i has what letter i is published as
    prior : M fractions
    letters : M names

    Returns
    -------
    DataFrame
        Columns ``has it``, ``is kept``, ``is changed`` and ``has it and is changed``: probabilities as text.

    Raises
    ------
    ValueError
        If the numbers are not those of a channel and a prior, or the letters are not as many.

    >>> changed_by_hand([["4/5", "1/5"], ["1/2", "1/2"]], ["3/4", "1/4"], ["a", "b"])["has it and is changed"].tolist()
    ['3/20', '1/8', '11/40']
    """
    rows, weights = _channel(channel, letters), _fractions(prior)
    if len(weights) != len(rows) or min(weights) < 0 or sum(weights) != 1:
        raise ValueError(f"give the prior as {len(rows)} fractions of at least 0 that sum to 1, got {list(prior)}")
    kept = [row[letter] for letter, row in enumerate(rows)]
    lost = [weight * (1 - stays) for weight, stays in zip(weights, kept, strict=True)]
    table = pd.DataFrame(
        {
            "has it": weights,
            "is kept": kept,
            "is changed": [1 - stays for stays in kept],
            "has it and is changed": lost,
        },
        index=list(letters),
    ).map(str)
    table.loc["together"] = ["1", "", "", str(sum(lost))]
    return table


def ratios_by_hand(channel: Sequence[Sequence[object]], letters: Sequence[str]) -> pd.DataFrame:
    """The largest ratio in each column of a channel, in fractions; differential privacy is the logarithm of the largest.

    Definition 2 of Kalantari et al. 2018. Columns ``most likely``, ``least likely`` and ``ratio``, as text; one never
    published has none. Raises ValueError if the numbers are no channel's, or the letters not as many.

    >>> ratios_by_hand([["4/5", "1/5"], ["1/2", "1/2"]], ["a", "b"])["ratio"].tolist()
    ['8/5', '5/2']
    """
    table = {}
    for letter, column in zip(letters, zip(*_channel(channel, letters), strict=True), strict=True):
        most, least = max(column), min(column)
        ratio = str(most / least) if least else "infinite" if most else "-"
        table[letter] = {"most likely": str(most), "least likely": str(least), "ratio": ratio}
    return pd.DataFrame.from_dict(table, orient="index")


def best_table(sources: Sequence[SourceSet], distortion: float) -> pd.DataFrame:
    """The best differentially private mechanisms of source sets at one distortion, and the curves that they lie on.

    Rows with a ``true`` letter are entries of a mechanism: ``probability`` that it is ``published``, at this ``distortion``, and
    the ``leakage`` it needs, in nats. The others are points of curves, as of
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
    """Mechanisms above, and below them their places on the curves; of a table as of :func:`best_table`."""
    mechanisms, curves = table[table["true"].notna()], table[table["true"].isna()]
    least = mechanisms.groupby("source_set", sort=False)[["distortion", "leakage"]].first()
    looks = set_looks(least.index)
    figure = Figure(figsize=(PAGE, 4.9), layout="constrained")
    grid = figure.add_gridspec(2, len(least), height_ratios=[1, 1.7])
    axes = figure.add_subplot(grid[1, :])
    for number, (name, point) in enumerate(least.iterrows()):
        place, entries = figure.add_subplot(grid[0, number]), mechanisms[mechanisms["source_set"] == name]
        letters, look = entries["true"].drop_duplicates(), looks[str(name)]
        matrix = entries.pivot(index="true", columns="published", values="probability").loc[letters, letters]
        shade(place, matrix, "{:.3f}", darkest=1.5, fontsize=9)
        place.set_title(look.label, color=look.color)
        if np.isfinite(point["leakage"]):
            axes.plot(*point, color=look.color, marker="o", ms=6, zorder=5, clip_on=False)
    _draw_curves(axes, curves, looks)
    distortion = least["distortion"].iloc[0]
    headline(
        figure,
        _finding(least["leakage"], distortion),
        f"Above: the best mechanisms at $D = {distortion:.4g}$; row: true, column: published. Below: their least leakage.",
    )
    return figure


def _draw_curves(axes: Axes, curves: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """What the sources need at least to leak, named below where it comes to nothing."""
    for name, look in looks.items():
        add_curve(axes, curves[curves["source_set"] == name], "leakage", **look.line, zorder=2)
    last = curves.loc[curves["leakage"] > _SAME, "distortion"].max()
    axes.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    axes.set(xlabel=DISTORTION, ylabel=LEAKAGE, xlim=(0, min(1.0, 1.15 * last)), ylim=(-0.2 * axes.get_ylim()[1], None))
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= axes.get_ylim()[1]])
    label_zeros(axes)


def best_page(sources: Sequence[SourceSet]) -> Callable[[float], str]:
    """The best mechanisms and their places on the curves at a distortion, as HTML, for a slider.

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
        finding = _finding(table.groupby("source_set", sort=False)["leakage"].first(), distortion).replace("$", "")
        return "".join(matrices) + framed(frame(), figure, in_words(table), finding)

    return page


def in_words(table: pd.DataFrame) -> str:
    """The mechanisms of a table as of :func:`best_table`, for those who do not see them.

    >>> in_words(best_table([SourceSet(["3/5", "3/10", "1/10"], name="one prior")], 0.3))
    'Best mechanisms at D = 0.3. Ratios up to 3.5 for one prior.'
    """
    least = table[table["true"].notna()].groupby("source_set", sort=False)[["distortion", "leakage"]].first()
    ratios = "; ".join(f"up to {np.exp(leakage):.4g} for {name}" for name, leakage in least["leakage"].items())
    return f"Best mechanisms at D = {least['distortion'].iloc[0]:.4g}. Ratios {ratios}."


def _finding(least: pd.Series, distortion: float) -> str:
    """What the least leakages at one distortion say of knowing more."""
    if np.isinf(least.max()):
        return "Without any change, everything is revealed"
    spread = least.max() - least.min()
    if spread < _SAME:
        return (
            f"At $D = {distortion:.4g}$ it makes no difference what is known"
            if least.max() > _SAME
            else f"At $D = {distortion:.4g}$ a constant is good enough: nothing is revealed"
        )
    return f"At $D = {distortion:.4g}$, who knows the most leaks {spread:.3g} nats less than who knows the least"


def _channel(channel: Sequence[Sequence[object]], letters: Sequence[str]) -> list[list[Fraction]]:
    rows = [_fractions(row) for row in channel]
    if len(letters) != len(rows):
        raise ValueError(f"name each of the {len(rows)} letters once, got {list(letters)}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows) or min(row) < 0 or sum(row) != 1:
            raise ValueError(
                f"row {number} must be {len(rows)} fractions of at least 0 that sum to 1, got {list(map(str, row))}"
            )
    return rows


def _fractions(numbers: Sequence[object]) -> list[Fraction]:
    try:
        return [Fraction(str(number)) for number in numbers]
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"write numbers as fractions such as '1/3', or as decimals, got {list(numbers)}") from None
