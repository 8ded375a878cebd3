"""The ledger as tables and as a page: what was claimed, what came of it, and on what evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.claims import VERDICTS, Row, read_ledger
from paper_repro.claims.base import PAPERS, claims_of, sample_of
from paper_repro.claims.verify import QUICK
from paper_repro.figures.style import COLORS, STYLE, canvas, need_columns

__all__ = [
    "draw_verdicts",
    "finding_of",
    "ledger_page",
    "ledger_table",
    "save_page",
    "summary_table",
]

# Dark to light: what is wrong first.
_SHADES = dict(
    zip(
        ("refuted", "corrected", "loose", "reproduced", "holds", "not checkable"),
        (COLORS[2], COLORS[5], COLORS[4], COLORS[1], COLORS[6], "#BBBBBB"),
        strict=True,
    )
)
_HATCHES = dict(zip(_SHADES, ("", "////", "....", "", "\\\\\\\\", ""), strict=True))


def ledger_table(
    rows: Iterable[Row] | None = None, *, papers: Sequence[str] = (), verdicts: Sequence[str] = (), text: str = ""
) -> pd.DataFrame:
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
        for row in (read_ledger() if rows is None else rows)
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


def draw_verdicts(summary: pd.DataFrame, title: str = "") -> Figure:
    """Verdicts a paper, as bars of claims.

    ``summary`` is as of :func:`summary_table`. Raises ValueError if a column is missing.
    """
    need_columns(summary, list(VERDICTS))
    papers = [paper for paper in summary.index if paper != "all"]
    with mpl.rc_context(STYLE):
        figure, axes = canvas(7.2, 0.9 + 0.5 * len(papers))
        left = [0.0] * len(papers)
        for verdict in _SHADES:
            widths = [float(summary.loc[paper, verdict]) for paper in papers]
            axes.barh(
                papers, widths, left=left, color=_SHADES[verdict], hatch=_HATCHES[verdict], edgecolor="white",
                linewidth=0.6, label=verdict,
            )  # fmt: skip
            for place, (start, width) in enumerate(zip(left, widths, strict=True)):
                if width >= 4:
                    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
                    axes.text(start + width / 2, place, f"{width:.0f}", ha="center", va="center", fontsize=8, bbox=box)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.invert_yaxis()
        axes.set(xlabel="claims", title=title)
        axes.grid(axis="x", alpha=0.25, linewidth=0.6)
        figure.legend(loc="outside lower center", ncols=6)
    return figure


def finding_of(name: str, instances: int = QUICK) -> str:
    """One claim judged here and now: what is said, the verdict, its evidence, and what is right instead.

    Raises ValueError if there is no claim of this name.
    """
    (claim,) = claims_of([name])
    finding = claim.find(sample_of(claim, 0, claim.instances(instances)))
    lines = [f"{PAPERS[claim.paper]}, {claim.number}", f"  says     {claim.statement}"]
    lines.append(f"  {finding.verdict:9}{finding.evidence}")
    if claim.correction:
        lines.append(f"  instead  {claim.correction}")
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
    """Write a page into a folder; the empty string writes nothing."""
    if output_dir:
        Path(output_dir).mkdir(parents=True, exist_ok=True)
        (Path(output_dir) / f"{name}.md").write_text(page, encoding="utf-8")


def _cell(text: str) -> str:
    """Text that does not break a table: no bars, no line breaks, and nothing taken for markup."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("\\*\\*", "**")
