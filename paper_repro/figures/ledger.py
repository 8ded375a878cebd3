"""The ledger as tables and pictures: what was claimed, what came of it, and what rests on what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_repro.claims import VERDICTS, Row, read_ledger
from paper_repro.claims.base import PAPERS, WEIGHTS, claims_of, sample_of
from paper_repro.claims.verify import QUICK
from paper_repro.figures.ledger_pages import FAULTY
from paper_repro.figures.registry import COLORS
from paper_repro.figures.style import canvas, drawing, panels

__all__ = ["draw_rests", "draw_verdicts", "judged_again", "ledger_table", "summary_table"]

# What is wrong first; neighbors differ in grey and by hatching.
_LOOKS = {
    "refuted": (COLORS[0], ""),
    "depends on the reading": (COLORS[2], "xxxx"),
    "corrected": (COLORS[5], "////"),
    "loose": ("#DDDDDD", "...."),
    "holds": (COLORS[6], ""),
    "reproduced": (COLORS[3], "\\\\\\\\"),
    "proved": (COLORS[1], ""),
    "not checkable": ("#F4F4F4", "||||"),
}
_GREYS = ("#F0F0F0", "#CFCFCF", "#A0A0A0", "#6A6A6A", "#202020")
_FIELDS = [field for field in Row.__dataclass_fields__ if field != "numbers"]


def ledger_table(
    papers: Sequence[str] = (), verdicts: Sequence[str] = (), weights: Sequence[str] = (), text: str = ""
) -> pd.DataFrame:
    """The ledger on record, or its rows of some papers, with some verdicts and weights, that mention a text.

    Columns: those of :class:`paper_repro.claims.Row` but for the numbers, which are in ``data/ledger.csv``.

    Raises
    ------
    ValueError
        If a paper, verdict or weight is unknown; the message lists those there are.

    >>> set(ledger_table(papers=["alvim2011"], verdicts=["refuted"])["verdict"])
    {'refuted'}
    """
    asked = {"paper": (papers, PAPERS), "verdict": (verdicts, VERDICTS), "weight": (weights, WEIGHTS)}
    for given, known in asked.values():
        for name in given:
            if name not in known:
                raise ValueError(f"unknown {name!r}; known are {', '.join(known)}")
    lines = [[getattr(row, field) for field in _FIELDS] for row in read_ledger()]
    table = pd.DataFrame(lines, columns=_FIELDS)
    table[["also", "rests_on"]] = table[["also", "rests_on"]].map("; ".join)
    said = table[["name", "number", "statement", "evidence", "correction"]].agg(" ".join, axis=1)
    chosen = said.str.contains(text, case=False, regex=False)
    for field, (given, _) in asked.items():
        chosen &= table[field].isin(list(given)) | (not given)
    return table[chosen].reset_index(drop=True)


def summary_table(table: pd.DataFrame) -> pd.DataFrame:
    """How many rows of each paper have each verdict and each weight, with their sums; ``claims`` counts all rows.

    >>> summary_table(ledger_table()).loc["all", "claims"] == len(ledger_table())
    np.True_
    """
    papers = [paper for paper in PAPERS if paper in set(table["paper"])]
    counts = pd.DataFrame({"claims": table["paper"].value_counts()}, index=papers)
    for column, names in (("verdict", VERDICTS), ("weight", tuple(WEIGHTS))):
        found = pd.crosstab(table["paper"], table[column])
        counts = counts.join(found.reindex(index=papers, columns=list(names), fill_value=0))
    counts.loc["all"] = counts.sum()
    return counts


@drawing(*VERDICTS, *WEIGHTS)
def draw_verdicts(summary: pd.DataFrame, title: str = "") -> Figure:
    """Verdicts a paper, and below it the weights of what is at fault, as bars of claims.

    ``summary`` is as of :func:`summary_table`. Raises ValueError if a column is missing.
    """
    papers = summary.drop(index="all")
    figure, places = panels(2, 1, lambda across, down: (8.0, 1.4 + 0.8 * len(papers)), title, xlabel="claims")
    _draw_bars(places[0], papers, _LOOKS)
    _draw_bars(places[1], papers, {weight: (grey, "") for weight, grey in zip(WEIGHTS, _GREYS, strict=True)})
    places[0].set_title("verdicts")
    places[1].set_title("what a fault weighs")
    return figure


@drawing("root", "depth", "name", "on", "paper", "number", "verdict")
def draw_rests(rests: pd.DataFrame, title: str = "") -> Figure:
    """What rests on the first root of a table as of :func:`rests_table`: a line a row, each under the one it uses."""
    shown = rests[rests["root"] == rests["root"].iloc[0]].reset_index(drop=True)
    labels = shown["paper"] + ", " + shown["number"] + ": " + shown["verdict"]
    # Inches: a step to the right, and a letter of the label.
    step, letter = 0.5, 0.082
    width = max(5.0, (step * (shown["depth"] + 1) + letter * labels.str.len()).max())
    figure, axes = canvas(width, 0.6 + 0.24 * len(shown))
    places: dict[str, tuple[int, int]] = {}
    for i, (name, on, depth, verdict) in enumerate(shown[["name", "on", "depth", "verdict"]].itertuples(index=False)):
        places[name] = depth, i
        if on in places:
            left, above = places[on]
            axes.plot([left, left, depth], [above, i, i], color="#888888", linewidth=0.9, zorder=1)
        color, hatch = _LOOKS[verdict]
        axes.scatter(depth, i, s=70, color=color, hatch=hatch, edgecolor="black", linewidth=0.6, zorder=2)
        weight = "bold" if verdict in FAULTY else "normal"
        axes.annotate(labels[i], (depth, i), (9, 0), textcoords="offset points", va="center", weight=weight)
    axes.set(xlim=(-0.3, width / step - 0.3), ylim=(len(shown) - 0.4, -0.6), title=title)
    axes.axis("off")
    return figure


def judged_again(table: pd.DataFrame, instances: int = QUICK) -> pd.DataFrame:
    """Claims of a ledger's rows judged here and now: the same table with the verdicts and the evidence that come out.

    What is not checkable stays as it is. Raises ValueError if a row names no claim.

    >>> table = ledger_table(papers=["alvim2011"], text="Theorem 1's bound")
    >>> judged_again(table)["verdict"].isin(VERDICTS).all()
    np.True_
    """
    judged = table.copy()
    for i in table.index[table["verdict"] != "not checkable"]:
        (claim,) = claims_of([str(table.at[i, "name"])])
        finding = claim.find(sample_of(claim, 0, claim.instances(instances)))
        judged.loc[i, ["verdict", "evidence"]] = [finding.verdict, finding.evidence]
    return judged


def _draw_bars(axes: Axes, counts: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    left = np.zeros(len(counts))
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    for name, (color, hatch) in looks.items():
        widths = counts[name].to_numpy(dtype=float)
        style: Any = {"color": color, "hatch": hatch, "edgecolor": "#777777", "linewidth": 0.4}
        axes.barh(counts.index, widths, left=left, label=name, **style)
        for place in np.flatnonzero(widths >= 6):
            middle = left[place] + widths[place] / 2
            axes.text(middle, int(place), f"{widths[place]:.0f}", ha="center", va="center", fontsize=8, bbox=box)
        left += widths
    axes.set_xlim(0, max(1.0, 1.05 * left.max()))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
