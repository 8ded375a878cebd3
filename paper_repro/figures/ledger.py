"""The ledger as tables and pictures: its entries, their verdicts, and which entries use which."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_repro.claims import VERDICTS, Row, read_ledger
from paper_repro.claims.base import PAPERS, WEIGHTS, claims_of, sample_of
from paper_repro.claims.verify import QUICK
from paper_repro.figures.layout import PAGE, apart, headline
from paper_repro.figures.ledger_pages import FAULTY, SHORT_NAMES
from paper_repro.figures.registry import plain_text
from paper_repro.figures.style import canvas, drawing, panels

__all__ = [
    "RESTS_CAPTION",
    "VERDICTS_CAPTION",
    "checked_again",
    "draw_rests",
    "draw_verdicts",
    "ledger_table",
    "rests_in_words",
    "summary_table",
    "verdicts_in_words",
]

VERDICTS_CAPTION = (
    "Each bar is one paper, and its segments are shares of its entries, with their numbers. Above: the verdicts; blue entries "
    "hold as printed, yellow ones can be sharpened. Below: how much the issues matter, among the entries that are refuted, "
    "corrected or depend on the reading. The bars do not rank papers or authors: papers differ in length and in how explicit "
    "they are"
)
"""How to read the picture of :func:`draw_verdicts`."""

RESTS_CAPTION = (
    "Each line of text is an entry, and a grey line joins an entry to the entry above it that it uses. The dot has the color of "
    "its verdict. Bold entries are refuted, corrected or depend on the reading; the other entries were verified "
    "independently of the first entry"
)
"""How to read the picture of :func:`draw_rests`."""

# Statements that hold as printed first; neighbors differ in grey. Face and ink.
_LOOKS = {
    "proved": ("#0B4F7D", "white"),
    "reproduced": ("#5FA8D6", "black"),
    "holds": ("#D3ECF9", "black"),
    "loose": ("#EBC56B", "black"),
    "corrected": ("#C44E00", "white"),
    "depends on the reading": ("#D9B3CE", "black"),
    "refuted": ("#1A1A1A", "white"),
    "source text uncertain": ("#ADB5A0", "black"),
    "not checkable": ("#EEEEEE", "black"),
}
_SHARES = {
    weight: look
    for weight, look in zip(
        WEIGHTS,
        (("#FBE3D5", "black"), ("#F4B893", "black"), ("#E07F45", "black"), ("#A84300", "white"), ("#4A1A00", "white")),
        strict=True,
    )
}
_DIGIT = 1.2  # width of one, in percent of a bar
_FIELDS = [field for field in Row.__dataclass_fields__ if field != "numbers"]


def ledger_table(
    papers: Sequence[str] = (), verdicts: Sequence[str] = (), weights: Sequence[str] = (), text: str = ""
) -> pd.DataFrame:
    """The ledger on record, or its entries of some papers, with some verdicts and weights, that mention a text.

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
    lists = ["also", "counterparts", "rests_on"]
    table[lists] = table[lists].map("; ".join)
    said = table[["name", "number", "statement", "evidence", "correction"]].agg(" ".join, axis=1)
    chosen = said.str.contains(text, case=False, regex=False)
    for field, (given, _) in asked.items():
        chosen &= table[field].isin(list(given)) | (not given)
    return table[chosen].reset_index(drop=True)


def summary_table(table: pd.DataFrame) -> pd.DataFrame:
    """How many entries of each paper have each verdict and each weight, with their sums; ``claims`` counts all entries.

    ``corrected misprints`` counts those that are corrected and whose weight is a misprint.

    >>> summary_table(ledger_table()).loc["all", "claims"] == len(ledger_table())
    np.True_
    """
    papers = [paper for paper in PAPERS if paper in set(table["paper"])]
    counts = pd.DataFrame({"claims": table["paper"].value_counts()}, index=papers)
    for column, names in (("verdict", VERDICTS), ("weight", tuple(WEIGHTS))):
        found = pd.crosstab(table["paper"], table[column])
        counts = counts.join(found.reindex(index=papers, columns=list(names), fill_value=0))
    misprints = table[(table["verdict"] == "corrected") & (table["weight"] == "misprint")]["paper"].value_counts()
    counts["corrected misprints"] = misprints.reindex(papers, fill_value=0)
    counts.loc["all"] = counts.sum()
    return counts


@drawing(*VERDICTS, *WEIGHTS, "corrected misprints")
def draw_verdicts(summary: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Verdicts of each paper, and below them the weights of its issues, as shares of its entries with their numbers.

    ``summary`` is as of :func:`summary_table`. Raises ValueError if a column is missing.
    """
    named = summary.rename(index={**SHORT_NAMES, "all": "all papers"})
    shown = named.loc[[named.index[-1], *named.index[:-1]]]
    finding = title or _verdicts_finding(summary.loc["all"].astype(int).to_dict())
    height = 1.9 + 0.72 * len(shown)
    subtitle = subtitle or _verdicts_subtitle(summary.loc["all"].astype(int).to_dict())
    figure, (verdicts, weights) = panels(2, 1, lambda across, down: (PAGE, height), finding, subtitle=subtitle)
    looks: dict[str, tuple[str, str]] = {name: look for name, look in _LOOKS.items() if name in VERDICTS}
    _draw_bars(verdicts, shown[list(looks)], looks, "entries")
    _draw_bars(weights, shown[list(_SHARES)], _SHARES, "issues")
    return figure


@drawing("root", "depth", "name", "on", "paper", "number", "verdict")
def draw_rests(rests: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """The entries that use the first root of a table as of :func:`rests_table`: a line for each, under the one it uses.

    The headline says how many these are, or ``title``. Raises ValueError if a column is missing.
    """
    shown = rests[rests["root"] == rests["root"].iloc[0]].reset_index(drop=True)
    below = shown["verdict"].iloc[1:]
    figure, axes = canvas(PAGE, 0.75 + 0.19 * len(shown))
    headline(
        figure,
        title or f"{len(below)} entries use {shown['number'][0]}; {below.isin(FAULTY).sum()} have issues too",
        subtitle
        or f"{SHORT_NAMES[shown['paper'][0]]}. Each entry is below the one it uses; "
        "bold: refuted, corrected or depends on the reading",
    )
    places: dict[str, tuple[int, int]] = {}
    lines = shown[["name", "on", "depth", "number", "paper", "verdict"]].itertuples(index=False, name=None)
    across = axes.get_yaxis_transform()
    for i, (name, on, depth, number, paper, verdict) in enumerate(lines):
        places[name] = depth, i
        if on in places:
            left, above = places[on]
            axes.plot([left, left, depth], [above, i, i], color="0.6", linewidth=0.8, zorder=1)
        axes.scatter(depth, i, s=36, color=_LOOKS[verdict][0], edgecolor="black", linewidth=0.6, zorder=2)
        style: Any = {"va": "center", "fontsize": 8, "weight": "bold" if verdict in FAULTY else "normal"}
        axes.annotate(plain_text(number), (depth, i), (7, 0), textcoords="offset points", **style)
        axes.text(
            0.6,
            i,
            SHORT_NAMES[paper].partition(" (")[0],
            transform=across,
            color="0.3",
            **{**style, "weight": "normal"},
        )
        axes.text(0.79, i, verdict, transform=across, **style)
    axes.set(xlim=(-0.3, 21), ylim=(len(shown) - 0.4, -0.6))
    axes.axis("off")
    return figure


def verdicts_in_words(summary: pd.DataFrame) -> str:
    """What :func:`draw_verdicts` shows, for those who do not see it; ``summary`` is as of :func:`summary_table`.

    >>> verdicts_in_words(summary_table(ledger_table())).startswith("Bars of 100 %, one for each paper; in all, ")
    True
    """
    counts = summary.loc["all"]
    told = "; ".join(f"{counts[name]} {name}" for name in (*VERDICTS, *WEIGHTS))
    return f"Bars of 100 %, one for each paper; in all, {told}."


def rests_in_words(rests: pd.DataFrame) -> str:
    """What :func:`draw_rests` shows, for those who do not see it: the entries of the tree, from the root down."""
    numbers = "; ".join(rests.loc[rests["root"] == rests["root"].iloc[0], "number"])
    return f"A tree of entries, each below the one it uses: {numbers}."


def checked_again(table: pd.DataFrame, instances: int = QUICK) -> pd.DataFrame:
    """Entries of a ledger checked here and now: the same table with the verdicts and the evidence that come out.

    An entry that is not checkable stays as it is. Raises ValueError if a name is not on record.

    >>> table = ledger_table(papers=["alvim2011"], text="Theorem 1's bound")
    >>> checked_again(table)["verdict"].isin(VERDICTS).all()
    np.True_
    """
    checked = table.copy()
    for i in table.index[table["verdict"] != "not checkable"]:
        (claim,) = claims_of([str(table.at[i, "name"])])
        finding = claim.find(sample_of(claim, 0, claim.instances(instances)))
        checked.loc[i, ["verdict", "evidence"]] = [finding.verdict, finding.evidence]
    return checked


def _verdicts_finding(counts: Mapping[Any, int]) -> str:
    right = sum(counts[verdict] for verdict in ("proved", "reproduced", "holds", "loose"))
    return f"{right} of {counts['claims']} statements hold as printed, {counts['corrected']} after a correction"


def _verdicts_subtitle(counts: Mapping[Any, int]) -> str:
    uncertain = counts.get("source text uncertain", 0)
    garbled = f"{uncertain} {'is' if uncertain == 1 else 'are'} uncertain in our copies, " if uncertain else ""
    return (
        f"{counts['corrected misprints']} of {counts['corrected']} corrections are misprints; "
        f"{counts['depends on the reading']} statements depend on the reading, {counts['refuted']} are refuted, "
        f"{garbled}{counts['not checkable']} cannot be checked. Below: how much the issues matter"
    )


def _draw_bars(axes: Axes, counts: pd.DataFrame, looks: Mapping[str, tuple[str, str]], name: str) -> None:
    """A bar of shares a row, numbers within their segments, or above where these are narrow; the first bar's are named."""
    totals = counts.sum(axis=1).to_numpy()
    shares = 100 * counts.to_numpy() / np.maximum(totals, 1)[:, np.newaxis]
    middles = shares.cumsum(axis=1) - shares / 2
    style: Any = {"ha": "center", "linespacing": 1.0}
    for number, (label, (face, ink)) in enumerate(looks.items()):
        lefts = middles[:, number] - shares[:, number] / 2
        bars = axes.barh(range(len(counts)), shares[:, number], 0.6, lefts, color=face, label=label)
        for bar, count in zip(bars, counts[label], strict=True):
            bar.set(edgecolor="white", linewidth=0.8)
            if bar.get_width() >= _DIGIT * (len(str(count)) + 1):
                x, y = bar.get_center()
                axes.text(x, y, count, va="center", color=ink, fontsize=7.5, **style)
    for row, values in enumerate(counts.to_numpy()):
        wide = np.array([_DIGIT * (len(str(count)) + 1) for count in values])
        (narrow,) = np.nonzero((values > 0) & (shares[row] < wide))
        spots = apart(middles[row][narrow], wide[narrow], np.arange(len(narrow)), 0, 100)
        for spot, place in zip(spots, narrow, strict=True) if row else ():  # the first bar's are below their names
            axes.plot([middles[row][place], spot], [row - 0.3, row - 0.37], color="0.4", linewidth=0.6)
            axes.text(spot, row - 0.36, values[place], va="bottom", fontsize=7, **style)
    said = [textwrap.fill(label, 12) for label in looks]
    wide = np.array([0.85 * _DIGIT * (max(map(len, label.split("\n"))) + 2) for label in said])
    spots = apart(middles[0], wide, np.arange(len(said)), 0, 100)
    firsts = counts.iloc[0].astype(str)
    for label, middle, spot, share, count in zip(said, middles[0], spots, shares[0], firsts, strict=True):
        apart_from_it = 0 < share < _DIGIT * (len(count) + 1)
        axes.plot([middle, spot], [-0.31, -0.82], color="0.4", linewidth=0.6, clip_on=False)
        axes.text(spot, -1.16 if apart_from_it else -0.86, label, va="bottom", fontsize=7.5, **style)
        if apart_from_it:
            axes.text(spot, -0.86, count, va="bottom", fontsize=7, **style)
    axes.set_yticks(
        range(len(counts)), [f"{paper}\n{total} {name}" for paper, total in zip(counts.index, totals, strict=True)]
    )
    axes.set(xlim=(0, 100), ylim=(len(counts) - 0.6, -0.6), xticks=[])
    axes.tick_params(length=0, labelsize=7.5)
    axes.grid(False)
    axes.spines[:].set_visible(False)
