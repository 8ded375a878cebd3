"""The ledger as tables and as a page: what was claimed, what came of it, and on what evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.claims import VERDICTS, read_ledger
from paper_repro.claims.base import PAPERS, Claim, Finding, claims_of, sample_of
from paper_repro.claims.verify import QUICK
from paper_repro.figures.style import COLORS, canvas, drawing
from paper_repro.reproduce.files import check_file_name, replace_files

__all__ = [
    "draw_verdicts",
    "finding_of",
    "judged_again",
    "ledger_page",
    "ledger_table",
    "save_page",
    "summary_table",
]

# What is wrong first.
_LOOKS = {
    "depends on the reading": (COLORS[3], "xxxx"),
    "refuted": (COLORS[2], ""),
    "corrected": (COLORS[5], "////"),
    "loose": (COLORS[4], "...."),
    "reproduced": (COLORS[1], ""),
    "proved": (COLORS[0], ""),
    "holds": (COLORS[6], "\\\\\\\\"),
    "not checkable": ("#BBBBBB", ""),
}


def ledger_table(papers: Sequence[str] = (), verdicts: Sequence[str] = (), text: str = "") -> pd.DataFrame:
    """The ledger on record, or its rows of some papers, with some verdicts, that mention a text.

    Columns: ``paper``, ``number``, ``place``, ``statement``, ``verdict``, ``evidence``, ``correction``, ``check`` (the name of
    the claim, ``paper.function`` in :mod:`paper_repro.claims`).

    Raises
    ------
    ValueError
        If a paper or verdict is unknown; the message lists those there are.
    """
    for given, known in ((papers, tuple(PAPERS)), (verdicts, VERDICTS)):
        for name in given:
            if name not in known:
                raise ValueError(f"unknown {name!r}; known are {', '.join(known)}")
    chosen = [
        row
        for row in read_ledger()
        if (not papers or row.paper in papers)
        and (not verdicts or row.verdict in verdicts)
        and text.lower() in f"{row.number} {row.statement} {row.evidence}".lower()
    ]
    fields = ["paper", "number", "place", "statement", "verdict", "evidence", "correction"]
    return pd.DataFrame(
        [[*(getattr(row, field) for field in fields), row.name] for row in chosen], columns=[*fields, "check"]
    )


def summary_table(table: pd.DataFrame) -> pd.DataFrame:
    """How many claims of each paper got each verdict, with their sums.

    >>> summary_table(ledger_table()).loc["all", "claims"] == len(ledger_table())
    np.True_
    """
    counts = pd.crosstab(table["paper"], table["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    counts = counts.reindex([paper for paper in PAPERS if paper in counts.index])
    counts.loc["all"] = counts.sum()
    counts["claims"] = counts.sum(axis=1)
    return counts.rename_axis(index=None, columns=None)


@drawing(*VERDICTS)
def draw_verdicts(summary: pd.DataFrame, title: str = "") -> Figure:
    """Verdicts a paper, as bars of claims.

    ``summary`` is as of :func:`summary_table`. Raises ValueError if a column is missing.
    """
    papers = [paper for paper in summary.index if paper != "all"]
    figure, axes = canvas(7.2, 0.9 + 0.5 * len(papers))
    left = np.zeros(len(papers))
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    for verdict, (color, hatch) in _LOOKS.items():
        widths = summary.loc[papers, verdict].to_numpy(dtype=float)
        style: Any = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.6}
        axes.barh(papers, widths, left=left, label=verdict, **style)
        for place in np.flatnonzero(widths >= 4):
            middle, count = left[place] + widths[place] / 2, f"{widths[place]:.0f}"
            axes.text(middle, int(place), count, ha="center", va="center", fontsize=8, bbox=box)
        left += widths
    axes.invert_yaxis()
    axes.set(xlabel="claims", title=title)
    axes.grid(False, axis="y")
    figure.legend(loc="outside lower center", ncols=6)
    return figure


def judged_again(table: pd.DataFrame, instances: int = QUICK) -> pd.DataFrame:
    """Claims of a ledger's rows judged here and now: the same table with the verdicts and the evidence that come out.

    >>> table = ledger_table(papers=["kalantari2018"], text="Theorem 3, lower")
    >>> judged_again(table)["verdict"].equals(table["verdict"])
    True
    """
    findings = [_find(name, instances)[1] for name in table["check"]]
    return table.assign(
        verdict=[finding.verdict for finding in findings], evidence=[finding.evidence for finding in findings]
    )


def finding_of(name: str, instances: int = QUICK) -> str:
    """One claim judged here and now: what is said, the verdict, its evidence, and what is right instead.

    Violations of the size of rounding, which differ from machine to machine, are told as ``below 1e-9``. Raises ValueError if
    there is no claim of this name.
    """
    claim, finding = _find(name, instances)
    evidence = re.sub(r"\b(\d\.\de-1\d|0\.0e\+00)\b", "below 1e-9", finding.evidence)
    lines = [f"{PAPERS[claim.text.paper]}, {claim.text.number}", f"  {'says':13} {claim.text.statement}"]
    lines.append(f"  {finding.verdict:13} {evidence}")
    if claim.text.correction:
        lines.append(f"  {'instead':13} {claim.text.correction}")
    return "\n".join(lines)


def ledger_page(table: pd.DataFrame) -> str:
    """The whole ledger as a page in Markdown: the summary, what is wrong first, then paper by paper."""
    parts = [
        "# The ledger",
        "",
        "Every claim of five papers and what a computation made of it. `make verify` recomputes it.",
    ]
    summary = summary_table(table)
    parts += ["", f"| | {' | '.join(summary.columns)} |", "|---|" + "---:|" * len(summary.columns)]
    parts += [
        f"| {name} | {' | '.join(map(str, counts))} |"
        for name, counts in zip(summary.index, summary.to_numpy(), strict=True)
    ]
    parts.append("")
    for paper, name in PAPERS.items():
        rows = table[table["paper"] == paper]
        if rows.empty:
            continue
        parts += [f"## {name}", "", "| | verdict | claim | evidence | instead |", "|---|---|---|---|---|"]
        for row in rows.itertuples():
            cells = (f"{row.number}<br>{row.place}", f"**{row.verdict}**", row.statement, row.evidence, row.correction)
            parts.append("| " + " | ".join(_cell(str(cell)) for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def save_page(page: str, name: str, output_dir: str | Path) -> None:
    """Write a page into a folder; the empty string writes nothing.

    Raises ValueError for a name that is none of a file in the folder, and OSError if it cannot be written.
    """
    check_file_name(name)
    if output_dir:
        replace_files({Path(output_dir) / f"{name}.md": page.encode()})


def _find(name: str, instances: int) -> tuple[Claim, Finding]:
    (claim,) = claims_of([name])
    return claim, claim.find(sample_of(claim, 0, claim.instances(instances)))


def _cell(text: str) -> str:
    """Text that does not break a table: no bars, no line breaks, and nothing taken for markup."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("\\*\\*", "**")
