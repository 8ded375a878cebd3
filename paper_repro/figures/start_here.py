"""Distortion and leakage of a mechanism by hand, in fractions, and the best mechanism beside the curve it lies on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.checks import check_distortion
from paper_repro.figures.curves import add_curve, curve_table
from paper_repro.figures.layout import PAGE, headline, label_zeros
from paper_repro.figures.registry import set_looks
from paper_repro.figures.style import DISTORTION, LEAKAGE, drawing, shade
from paper_repro.notions import DifferentialPrivacy
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = ["best_picture", "best_table", "changed_by_hand", "draw_best", "ratios_by_hand"]

# Where curves begin: at 0 the leakage is infinite.
_SMALLEST = 0.03
# Leakages in nats that differ by less are alike: the points are certified to this.
_SAME = 1e-9


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
    check_distortion(distortion)
    tables = []
    for source in sources:
        best = optimal_mechanism(source, distortion=distortion)
        names = list(map(str, source.labels))
        pairs = pd.MultiIndex.from_product([names, names], names=["true", "published"])
        rows = pd.DataFrame({"probability": best.mechanism.matrix.ravel()}, index=pairs).reset_index()
        tables.append(rows.assign(source_set=source.name, distortion=distortion, leakage=best.leakage))
    return pd.concat([*tables, curve_table(sources, [DifferentialPrivacy()], _SMALLEST, 1.0, 100)], ignore_index=True)


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
        add_curve(axes, curves[curves["source_set"] == name], "leakage", **look.line, zorder=2)
        if np.isfinite(point["leakage"]):
            axes.plot(*point, color=look.color, marker="o", ms=6, zorder=5, clip_on=False)
    last = curves.loc[curves["leakage"] > _SAME, "distortion"].max()
    axes.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    axes.set(xlabel=DISTORTION, ylabel=LEAKAGE, xlim=(0, min(1.0, 1.15 * last)), ylim=(-0.2 * axes.get_ylim()[1], None))
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= axes.get_ylim()[1]])
    label_zeros(axes)
    distortion = least["distortion"].iloc[0]
    headline(
        figure,
        _finding(least["leakage"], distortion),
        f"Above: the best mechanisms at $D = {distortion:.4g}$; row: true, column: published. Below: their least leakage.",
    )
    return figure


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


def best_picture(sources: Sequence[SourceSet], distortion: float) -> tuple[Figure, pd.DataFrame, str]:
    """:func:`draw_best` of :func:`best_table`, with the table and with its text for those who do not see it.

    >>> print(best_picture([SourceSet(["3/5", "3/10", "1/10"], name="one prior")], 0.3)[2])
    Best mechanisms at D = 0.3. Ratios up to 3.5 for one prior.
    """
    table = best_table(sources, distortion)
    least = table[table["true"].notna()].groupby("source_set", sort=False)["leakage"].first()
    ratios = "; ".join(f"up to {np.exp(leakage):.4g} for {name}" for name, leakage in least.items())
    return draw_best(table), table, f"Best mechanisms at D = {distortion:.4g}. Ratios {ratios}."


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
