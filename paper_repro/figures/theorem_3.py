"""Theorem 3 (Kalantari et al. 2017) beside the truth: its bounds, the exact least leakage, and how often the lower one fails."""

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

__all__ = ["draw_theorem_3", "failure_table", "theorem_3_curves", "theorem_3_table"]

_BOUNDS = ("lower", "upper", "corrected lower", "corrected upper")


def theorem_3_table(source: SourceSet, distortions: Iterable[float]) -> pd.DataFrame:
    """Theorem 3's bounds, as printed and corrected, and the exact least leakage, in nats.

    Columns: ``distortion``, ``exact``, ``lower`` and ``upper`` as printed, ``corrected lower`` and ``corrected upper`` (the ratio
    taken at its largest over the letters; the upper bound then always holds, the lower one where the averages of the set's
    distributions over alike letters lie in it).

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

    Besides so many distortions evenly apart it has the breakpoints of the exact curve, and as many between as it takes for
    straight lines to stay within 0.0005 nats of every column. Raises ValueError if there is no distortion to go through.

    >>> table = theorem_3_curves(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]), 0.5, 3)
    >>> table["distortion"].iloc[[0, -1]].round(4).tolist(), bool((table["distortion"] == 0.5875).any())
    ([0.5, 0.6667], True)
    """
    largest = 1 - 1 / source.alphabet_size
    if not 0 < smallest < largest:
        raise ValueError(
            f"the smallest distortion must be above 0 and below (M - 1)/M = {largest:.4f}, got {smallest!r}"
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


def failure_table(letters: int, sets: int, seed: int = 0) -> pd.DataFrame:
    """How often and by how much Theorem 3's lower bound fails, with the largest ratio, on random Class III sets.

    The sets have three vertices with entries in twentieths. Columns: ``source`` (the vertices as text), ``distortion``,
    ``lower``, ``exact`` and ``excess`` of the bound over the truth, in nats; one row a set, at the distortion with the largest
    excess on a grid of ten. Raises ValueError if there is to be none.

    >>> failure_table(3, 5)["excess"].max() >= 0
    np.True_
    """
    if sets < 1:
        raise ValueError(f"the number of random sets must be at least 1, got {sets}")
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    while len(rows) < sets:
        vertices = rng.multinomial(20, np.full(letters, 1 / letters), size=3) / 20
        source = SourceSet(vertices)
        if source.source_class != "III":
            continue
        grid = np.linspace(0.05, 1 - 1 / letters, 10, endpoint=False).round(4)
        table = theorem_3_table(source, grid.tolist())
        table["excess"] = table["corrected lower"] - table["exact"]
        worst = table.iloc[int(table["excess"].to_numpy().argmax())]
        text = "; ".join(" ".join(str(Fraction(round(20 * p), 20)) for p in vertex) for vertex in vertices)
        rows.append([text, worst["distortion"], worst["corrected lower"], worst["exact"], max(0.0, worst["excess"])])
    return rounded(pd.DataFrame(rows, columns=["source", "distortion", "lower", "exact", "excess"]), 8)


@drawing("distortion", "exact", *_BOUNDS)
def draw_theorem_3(table: pd.DataFrame, shapes: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """Theorem 3's bounds with the exact least leakage, shaded where the lower bound is too high, beside the set.

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
        after(f"Set with corners {corners_text(shapes)}", source),
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
            f"the \u201clower bound\u201d there: {claimed:.3f}",
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
        return f"Theorem 3's \u201clower bound\u201d is up to {excess:.3f} nats above what a mechanism attains"
    return "Both bounds of Theorem 3 hold for this set"


def _alike(table: pd.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Columns in groups that agree to the digits of the table."""
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
    said = {True: "as printed", False: with_ratio}
    kinds = {column in ("lower", "upper") for column in columns}
    return {**look.line, "label": f"{name}, {' and '.join(said[kind] for kind in sorted(kinds, reverse=True))}"}
