"""Theorem 3 (2017 preprint of Kalantari et al.): its bounds, the exact least leakage, and how often the lower bound fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.curves import leakage_curve
from paper_repro.figures.layout import PAGE, after, headline, label_lines
from paper_repro.figures.registry import BOUNDS, EXACT, PRINTED, UNREACHABLE
from paper_repro.figures.simplex import INSIDE, TINT, WRONG, add_area, add_simplex, area_of, corners_text
from paper_repro.figures.style import LEAKAGE, drawing, rounded
from paper_repro.figures.tables import number_text
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.papers.folding import Folding
from paper_repro.sources import SourceSet

__all__ = [
    "draw_theorem_3",
    "failure_table",
    "failures_in_words",
    "theorem_3_curves",
    "theorem_3_in_words",
    "theorem_3_table",
]

_BOUNDS = ("lower", "upper", "corrected lower", "corrected upper")


def theorem_3_table(source: SourceSet, distortions: Iterable[float]) -> pd.DataFrame:
    """Theorem 3's bounds, as printed in the 2017 preprint and corrected, and the exact least leakage, in nats.

    Columns: ``distortion``, ``exact``, ``lower`` and ``upper`` as printed, ``corrected lower`` and ``corrected upper`` (the ratio
    taken at its largest over the categories; the upper bound then always holds, the lower one if the averages of the set's
    priors over categories treated alike lie in the set).

    >>> table = theorem_3_table(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), [0.6])
    >>> table.round(4).loc[0, ["exact", "corrected lower"]].tolist()
    [0.0, 0.2877]
    """
    folding, rows, grid = Folding(source, ties=False), [], list(map(float, distortions))
    for distortion, exact in zip(grid, leakage_curve(source, grid), strict=True):
        printed = kalantari2018.theorem_3(folding, distortion)
        largest = kalantari2018.theorem_3(folding, distortion, "largest")
        rows.append([distortion, exact, printed.lower, printed.upper, largest.lower, largest.upper])
    columns = ["distortion", "exact", "lower", "upper", "corrected lower", "corrected upper"]
    return rounded(pd.DataFrame(rows, columns=columns), 8)


def theorem_3_curves(source: SourceSet, smallest: float, points: int) -> pd.DataFrame:
    """:func:`theorem_3_table` from a distortion up to ``(M - 1) / M``, where Class I needs no leakage any more.

    It has ``points`` distortions evenly apart, the breakpoints of the exact curve, and as many between as it takes for straight
    lines to stay within 0.0005 nats of every column. Raises ValueError if ``smallest`` is not below ``(M - 1) / M``.

    >>> table = theorem_3_curves(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), 0.5, 3)
    >>> table["distortion"].iloc[[0, -1]].round(4).tolist(), bool((table["distortion"] == 0.5875).any())
    ([0.5, 0.6667], True)
    """
    largest = 1 - 1 / source.alphabet_size
    if not 0 < smallest < largest:
        raise ValueError(
            f"smallest must be above 0 and below (M - 1)/M = {largest:.4f}; got {smallest!r}. Choose a smaller distortion."
        )
    breakpoints = exact_curve(source).breakpoints
    grid = np.union1d(
        np.linspace(smallest, largest, max(points, 2)), breakpoints[(breakpoints > smallest) & (breakpoints < largest)]
    )
    columns = theorem_3_table(source, grid)
    rows = list(columns.to_numpy())
    pending = list(pairwise(rows))
    while pending:
        middles = theorem_3_table(source, [(left[0] + right[0]) / 2 for left, right in pending]).to_numpy()
        rows += list(middles)
        pending = [
            half
            for (left, right), middle in zip(pending, middles, strict=True)
            if np.abs(middle - (left + right) / 2).max() > 5e-4 and right[0] - left[0] > 1e-6  # narrower, it is a jump
            for half in ((left, middle), (middle, right))
        ]
    return pd.DataFrame(rows, columns=columns.columns).sort_values("distortion", ignore_index=True)


def failure_table(categories: int, sets: int, seed: int = 0) -> pd.DataFrame:
    """How often and by how much Theorem 3's lower bound fails, with the largest ratio, on random Class III sets.

    The sets have three vertices with entries in twentieths. Columns: ``source`` (the vertices as text), ``distortion``,
    ``lower``, ``exact`` and ``excess`` of the bound over the least leakage, in nats; one row for each set, at the distortion
    with the largest excess on a grid of ten. Raises ValueError if ``sets`` is below 1.

    >>> failure_table(3, 5)["excess"].max() >= 0
    np.True_
    """
    if sets < 1:
        raise ValueError(f"sets must be at least 1; got {sets}. Ask for at least one random set.")
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    while len(rows) < sets:
        vertices = rng.multinomial(20, np.full(categories, 1 / categories), size=3) / 20
        source = SourceSet(vertices)
        if source.source_class != "III":
            continue
        grid = np.linspace(0.05, 1 - 1 / categories, 10, endpoint=False).round(4)
        table = theorem_3_table(source, grid.tolist())
        table["excess"] = table["corrected lower"] - table["exact"]
        worst = table.iloc[int(table["excess"].to_numpy().argmax())]
        text = "; ".join(" ".join(str(Fraction(round(20 * p), 20)) for p in vertex) for vertex in vertices)
        rows.append([text, worst["distortion"], worst["corrected lower"], worst["exact"], max(0.0, worst["excess"])])
    return rounded(pd.DataFrame(rows, columns=["source", "distortion", "lower", "exact", "excess"]), 8)


@drawing("distortion", "exact", *_BOUNDS)
def draw_theorem_3(table: pd.DataFrame, shapes: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """The source set, and Theorem 3's bounds with the exact least leakage, shaded where the lower bound is too high.

    ``table`` is as of :func:`theorem_3_table`, ``shapes`` as of :func:`~paper_repro.figures.class_iii_sets.class_shapes`. Bounds
    that coincide are one line. The headline says by how much the lower bound is too high, or ``title``. Raises ValueError if a
    column is missing.
    """
    distortions, exact = table["distortion"].to_numpy(), table["exact"].to_numpy()
    lower = table["corrected lower"].to_numpy()
    excess = np.where(lower > exact + 1e-6, lower - exact, 0.0)
    figure = Figure(figsize=(PAGE, 3.3), layout="constrained")
    left, axes = figure.subplots(1, 2, width_ratios=(1, 2.3))
    headline(
        figure,
        title or _theorem_3_finding(float(excess.max())),
        after(f"Source set with vertices {corners_text(shapes)}", source),
    )
    add_simplex(left)
    add_area(left, area_of(shapes), INSIDE, face=TINT, zorder=3)
    left.set_ylim(-0.16, 0.98)

    above = np.convolve(excess > 0, [1, 1, 1], "same") > 0  # and where that begins and ends
    axes.fill_between(distortions, exact, exact + excess, above, hatch="////", **{**UNREACHABLE, "edgecolor": WRONG})
    groups = _alike(table, _BOUNDS)
    apart = [np.abs(table[columns[0]].to_numpy() - exact) > 1e-6 for columns in groups]
    looks = [_bound_look(columns, bool(excess.any())) for columns in groups]
    covered = [look["label"] for look, away in zip(looks, apart, strict=True) if not away.any()]
    axes.plot(distortions, exact, **{**EXACT.line, "label": "; ".join(["exact", *covered])})
    for columns, look, away in zip(groups, looks, apart, strict=True):
        if away.any():  # nothing is drawn along the exact curve
            seen = np.convolve(away, [1, 1, 1], "same") > 0
            axes.plot(distortions, table[columns[0]].where(seen), **look)
    axes.set(xlabel="worst-case Hamming distortion $D$", ylabel=LEAKAGE, xlim=(distortions.min(), distortions.max()))
    axes.set_ylim(bottom=0)
    zero = np.flatnonzero((exact <= 1e-9) & (excess > 0))[:1]
    style: Any = {"va": "top", "ha": "right", "fontsize": 8, "color": WRONG, "linespacing": 1.4}
    if len(groups) == 1:
        name = looks[0]["label"].replace(" and ", "\nand ", 1)
        name = f"dotted: {name}" if apart[0].any() else f"along the exact curve: {name}"
        axes.text(0.99, 0.97, name, transform=axes.transAxes, **{**style, "color": PRINTED.color})
    for where, claimed in zip(distortions[zero], lower[zero], strict=True):
        axes.plot([where, where], [0, claimed], color=WRONG, linewidth=1.0)
        axes.plot(where, 0, **{**EXACT.mark, "label": ""}, clip_on=False, zorder=5)
        said = [
            f"From $D={number_text(where)}$ on nothing leaks;",
            f"Theorem 3's lower bound there: {claimed:.3f} nats",
        ]
        arrow = {"arrowstyle": "-", "linewidth": 0.6, "color": WRONG}
        axes.annotate(
            "\n".join(said), (where, claimed), (0.99, 0.7), textcoords="axes fraction", arrowprops=arrow, **style
        )
    if len(groups) == 1:
        before = len(exact) // 3
        axes.annotate(
            "exact",
            (distortions[before], exact[before]),
            (-6, -6),
            textcoords="offset points",
            **{**style, "color": "black"},
        )
    else:
        label_lines(axes)
    return figure


def _theorem_3_finding(excess: float) -> str:
    if excess > 0:
        return f"Theorem 3's lower bound exceeds the optimum by up to {excess:.3f} nats"
    return "Both bounds of Theorem 3 hold for this set"


def theorem_3_in_words(table: pd.DataFrame, shapes: pd.DataFrame) -> str:
    """The set and the curves of :func:`draw_theorem_3`, for readers who do not see the picture.

    >>> from paper_repro.figures.class_iii_sets import class_shapes
    >>> source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    >>> theorem_3_in_words(theorem_3_table(source, [0.3, 0.6]), class_shapes([source])).split(". ")[1]
    'From D = 0.3 to 0.6 the least leakage falls from 1.253 to 0.000 nats; the lower bound never exceeds it.'
    """
    first, last = table.iloc[0], table.iloc[-1]
    excess = float((table["corrected lower"] - table["exact"]).max())
    said = f"exceeds it by up to {excess:.3f} nats" if excess > 1e-6 else "never exceeds it"
    return (
        f"The source set with vertices {corners_text(shapes)} in the simplex, and curves of leakage against distortion. "
        f"From D = {first['distortion']:.4g} to {last['distortion']:.4g} the least leakage falls from {first['exact']:.3f} "
        f"to {last['exact']:.3f} nats; the lower bound {said}."
    )


def failures_in_words(found: pd.DataFrame, categories: int) -> str:
    """The result of :func:`failure_table`, in one or two lines.

    >>> print(failures_in_words(failure_table(3, 5), 3))
    3 categories: the lower bound fails on 0 of 5 sets.
    """
    failing = found[found["excess"] > 1e-6]
    said = f"{categories} categories: the lower bound fails on {len(failing)} of {len(found)} sets"
    if failing.empty:
        return f"{said}."
    worst = found.iloc[int(found["excess"].argmax())]
    place = f"at D = {worst['distortion']:.4g}: bound {worst['lower']:.4f}, optimum {worst['exact']:.4f} nats"
    return f"{said}, by up to {worst['excess']:.4f} nats.\n  {worst['source']} {place}"


def _alike(table: pd.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Groups of columns that agree to the digits of the table."""
    groups: list[list[str]] = []
    for column in columns:
        for group in groups:
            if np.allclose(table[column], table[group[0]], rtol=0, atol=1e-6):
                group.append(column)
                break
        else:
            groups.append([column])
    return groups


def _bound_look(columns: Sequence[str], too_high: bool) -> dict[str, Any]:
    """Line and name of the bounds that coincide; whether the corrected lower one is still too high."""
    sides = {column.split()[-1] for column in columns}
    look = PRINTED if "lower" in columns or "upper" in columns else BOUNDS[min(sides)]
    name = "both bounds" if len(sides) == 2 else f"{min(sides)} bound"
    still = " (the lower one still too high)" if len(sides) == 2 else " (still too high)"
    with_ratio = "with the ratio corrected" + (still if too_high and "corrected lower" in columns else "")
    said = {True: "of the 2017 preprint", False: with_ratio}
    kinds = {column in ("lower", "upper") for column in columns}
    return {**look.line, "label": f"{name} {' and '.join(said[kind] for kind in sorted(kinds, reverse=True))}"}
