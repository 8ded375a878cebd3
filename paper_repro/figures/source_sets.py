"""The source sets of Tables I-IV: their vertices, classes and breakpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.figures.curves import Cited, check_names, cited_as
from paper_repro.figures.layout import PAGE, headline
from paper_repro.figures.registry import EXACT, PRINTED, by_letters, letter_label, set_label
from paper_repro.figures.style import DISTORTION, canvas, drawing, rounded
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "CitedTable",
    "breakpoint_finding",
    "breakpoint_table",
    "cited_figure",
    "cited_subtitle",
    "cited_table",
    "class_table",
    "draw_breakpoints",
    "leakage_finding",
    "vertex_page",
    "vertex_table",
]

_SAME = 1e-6
_SETS = tuple(f"P_{name}_{letters}" for letters in (6, 10) for name in ("I", "II", "IIIa", "IIIb", "IIIc"))
_DISTORTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_FIGURES: dict[tuple[object, ...], Cited] = {
    ("breakpoints", *_SETS): Cited(
        "breakpoints",
        "Kalantari et al. 2018, Theorems 1 and 2",
        ("kalantari2017.theorem_2_thresholds", "kalantari2017.theorem_2b_range"),
    ),
    ("leakages", *_SETS, "differential privacy", *_DISTORTIONS): Cited("leakages"),
}


@dataclass(frozen=True)
class CitedTable:
    """A table of vertices: the file's name, what is found, what the paper calls it, and the ledger's rows on it."""

    name: str
    finding: str
    source: str = ""
    ledger: Sequence[str] = ()


_CITED = {
    sets: CitedTable(
        f"table_{number}",
        finding,
        f"Kalantari et al. 2018, Table {roman}",
        [f"kalantari2018.table_{number}", "kalantari2018.example_2"][: 1 + (number > 2)],
    )
    for number, roman, sets, finding in (
        (1, "I", ("P_II_6",), "Table I has six letters, where its caption says $M = 4$"),
        (2, "II", ("P_II_10",), "Two distributions that rank ten letters alike: their mixtures are of Class II"),
        (
            3,
            "III",
            tuple(f"P_III{part}_6" for part in "abc"),
            "Swaps of the first letter of Table I span ever larger sets",
        ),
        (
            4,
            "IV",
            tuple(f"P_III{part}_10" for part in "abc"),
            "Swaps of the first letter of Table II span ever larger sets",
        ),
    )
}


def vertex_table(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Vertices of the last of some source sets, one a row, and which of them span the others; one column a letter.

    Columns: for each set its name, with 1 where the row is one of its vertices, else 0, if there are more sets than one; then the
    letters. Raises ValueError if two sets have one name, or one has a vertex that the last one lacks.

    >>> print(vertex_table([SourceSet([[0.7, 0.3], [0.6, 0.4]], ["yes", "no"])]).to_string())
            yes   no
    vertex
    1       0.7  0.3
    2       0.6  0.4
    """
    check_names(sources)
    rows = [tuple(vertex) for vertex in sources[-1].vertices.tolist()]
    spans: dict[str, list[int]] = {}
    for source in sources if len(sources) > 1 else ():
        own = {tuple(vertex) for vertex in source.vertices.tolist()}
        if lost := own - set(rows):
            raise ValueError(
                f"{source.name} has the vertex {lost.pop()}, which {sources[-1].name} has not; "
                "one table shows sets of which the last contains the others' vertices"
            )
        spans[source.name] = [int(row in own) for row in rows]
    letters = {str(label): column for label, column in zip(sources[-1].labels, zip(*rows, strict=True), strict=True)}
    return pd.DataFrame({**spans, **letters}, index=pd.RangeIndex(1, len(rows) + 1, name="vertex"))


def vertex_page(table: pd.DataFrame, sources: Sequence[SourceSet]) -> pd.DataFrame:
    """A table of :func:`vertex_table` as it is shown: names as formulas, and a dot where a vertex spans a set."""
    sets = [source.name for source in sources] if len(sources) > 1 else []
    shown = table.astype(object)
    shown[sets] = table[sets].map(lambda spans: "•" if spans else "")
    return shown.set_axis([*map(set_label, sets), *map(letter_label, table.columns[len(sets) :])], axis=1)


def cited_figure(kind: str, sources: Sequence[SourceSet], *chosen: object) -> Cited:
    """The figure of the papers' ten sets, of this kind and all else that is chosen; for others, a file name of their own.

    >>> cited_figure("breakpoints", [SourceSet([0.5, 0.5], name="mine")]).name
    'own_breakpoints_mine'
    """
    return cited_as(_FIGURES, kind, *(source.name for source in sources), *chosen, kind="own")


def cited_table(sources: Sequence[SourceSet]) -> CitedTable:
    """What is found and cited with the paper's table of these very sets; for others, a file name and a title of their own.

    >>> cited_table([SourceSet([0.5, 0.5], name="mine")]).name
    'vertices_mine'
    """
    names = tuple(source.name for source in sources)
    own = f"The vertices of {', '.join(map(set_label, names))}"
    return _CITED.get(names) or CitedTable("vertices_" + "_".join(re.sub(r"\W", "-", name) for name in names), own)


def cited_subtitle(sources: Sequence[SourceSet], cited: CitedTable) -> str:
    """The sets of a table, and what it is after, for the line below its title.

    >>> one = [SourceSet([0.5, 0.5], name="mine")]
    >>> cited_subtitle(one, cited_table(one))
    'mine'
    """
    return ", ".join(set_label(source.name) for source in sources) + (cited.source and f"; after {cited.source}")


def class_table(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Class and landmarks of each source set under differential privacy.

    Columns: ``source_set``, ``class``, ``letters``, ``vertices``; ``symmetric_until``, the distortion up to which randomized
    response on the letters that can occur is optimal; ``zero_from``, the distortion from which nothing leaks; ``jump``, the
    leakage in nats just below it;
    ``printed_symmetric_until`` and ``printed_zero_from``, the thresholds ``D^(1)`` and ``D^(M-1)`` of Theorem 2 (Kalantari et
    al. 2018) for sets with a common ordering of the letters, and ``(M - 1) / M`` of Theorem 1 for Class I. Raises ValueError if
    there is no source set, or two have one name.

    >>> class_table([SourceSet([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])]).round(4).iloc[0, 4:].to_dict()
    {'symmetric_until': 0.1, 'zero_from': 0.3, 'jump': 1.5404, 'printed_symmetric_until': 0.02, 'printed_zero_from': 0.3}
    """
    check_names(sources)
    rows = []
    for source in sources:
        curve = exact_curve(source)
        thresholds = _printed_thresholds(source)
        rows.append(
            {
                "source_set": source.name,
                "class": source.source_class,
                "letters": source.alphabet_size,
                "vertices": source.vertex_count,
                "symmetric_until": curve.breakpoints[:1].sum(),
                "zero_from": curve.breakpoints[-1:].sum(),
                "jump": curve.limits_from_below[-1:].sum(),
                "printed_symmetric_until": thresholds[0] if len(thresholds) else np.nan,
                "printed_zero_from": thresholds[-1] if len(thresholds) else np.nan,
            }
        )
    return rounded(pd.DataFrame(rows), 8)


def breakpoint_table(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Where the exact curves of differential privacy change form, and the thresholds that Theorem 2 prints.

    Columns: ``source_set``; ``kind``, ``exact`` or ``printed``; ``distortion``; ``leakage``, the exact one in nats as the
    distortion rises to it. Printed thresholds ``D^(1) .. D^(M-1)`` exist for sets with a common ordering. Raises ValueError if
    there is no source set, or two have one name.

    >>> breakpoint_table([SourceSet([0.5, 0.3, 0.2])])[["kind", "distortion"]].to_numpy().tolist()
    [['exact', 0.4], ['exact', 0.5], ['printed', 0.2], ['printed', 0.5]]
    """
    check_names(sources)
    rows = []
    for source in sources:
        curve, thresholds = exact_curve(source), _printed_thresholds(source)
        for place, limit in zip(curve.breakpoints, curve.limits_from_below, strict=True):
            rows.append((source.name, "exact", place, limit))
        for place, leakage in zip(thresholds, curve.leakage(np.minimum(thresholds, 1.0)), strict=True):
            rows.append((source.name, "printed", place, leakage))
    return rounded(pd.DataFrame(rows, columns=["source_set", "kind", "distortion", "leakage"]), 8, distortion=9)


def breakpoint_finding(table: pd.DataFrame) -> str:
    r"""Where print is furthest off, as a sentence; of a table as of :func:`breakpoint_table`.

    >>> breakpoint_finding(breakpoint_table([SourceSet([0.5, 0.3, 0.2], name="mine")]))
    'Randomized response stays best up to $D = 0.4$ for mine, not just up to $0.2$ as printed'
    >>> breakpoint_finding(breakpoint_table([SourceSet([0.5, 0.5])]))
    'Where the curves of differential privacy change form'
    """
    first = table.groupby(["source_set", "kind"], sort=False)["distortion"].min().unstack()
    late = (first["exact"] - first["printed"]).dropna() if "printed" in first else pd.Series(dtype=float)
    if late.max() > _SAME:
        name = str(late.idxmax())
        exact, printed = first.loc[name, ["exact", "printed"]]
        return (
            f"Randomized response stays best up to $D = {exact:g}$ for {set_label(name)}, "
            f"not just up to ${printed:g}$ as printed"
        )
    return "Where the curves of differential privacy change form"


def leakage_finding(table: pd.DataFrame, sources: Sequence[SourceSet]) -> str:
    """Up to which distortion all sets of as many letters leak alike; of a table as of ``leakage_curves.leakage_table``.

    >>> sets = [SourceSet([0.5, 0.3, 0.2], name="a"), SourceSet([0.6, 0.2, 0.2], name="b")]
    >>> from paper_repro.figures.leakage_curves import leakage_table
    >>> leakage_finding(leakage_table(sets, [0.1, 0.4, 0.45]), sets)
    'Up to $D = 0.1$, sets with the same number of letters have the same least leakage'
    """
    leakages = table.drop(columns="source_set").groupby([source.alphabet_size for source in sources])
    alike = (leakages.max() - leakages.min()).max() < _SAME
    last = next((i for i, same in enumerate(alike) if not same), len(alike))
    if len(leakages) == len(sources) or not last:
        return f"The least leakage of {len(sources)} source set{'s' * (len(sources) > 1)}"
    return f"Up to $D = {alike.index[last - 1]}$, sets with the same number of letters have the same least leakage"


@drawing("source_set", "kind", "distortion", "leakage")
def draw_breakpoints(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Exact breakpoints against printed thresholds, one line a source set, as of :func:`breakpoint_table`.

    Raises ValueError if a column is missing.
    """
    names = list(dict.fromkeys(table["source_set"]))
    gaps = by_letters(names)
    rows = {name: i + 0.6 * sum(gap <= i for gap in gaps) for i, name in enumerate(names)}
    last = max(rows.values())
    figure, axes = canvas(PAGE, 1.5 + 0.34 * (last + 1))
    for name, row in rows.items():
        own = table[table["source_set"] == name]
        exact, printed = (own.loc[own["kind"] == kind, "distortion"] for kind in ("exact", "printed"))
        axes.plot([0, exact.max()], [row, row], color="0.75", linewidth=1, zorder=1)
        axes.plot(exact, [row + 0.14] * len(exact), zorder=3, **EXACT.mark)
        axes.plot(printed, [row - 0.18] * len(printed), zorder=2, **PRINTED.mark)
    axes.set(xlabel=DISTORTION, xlim=(0, 1), ylim=(last + 0.6, -0.6))
    axes.set_yticks(list(rows.values()), [set_label(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    handles = [
        Line2D([], [], **{**look.mark, "label": label})
        for look, label in (
            (EXACT, "exact: the curve changes form"),
            (PRINTED, "threshold as printed (Theorems 1 and 2)"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, fontsize=8)
    headline(figure, title, subtitle)
    return figure


def _printed_thresholds(source: SourceSet) -> FloatArray:
    """``D^(1) .. D^(M-1)`` of Theorem 2, the one threshold of Theorem 1 for Class I, none for Class III."""
    if source.source_class == "I":
        return np.array([(source.alphabet_size - 1) / source.alphabet_size])
    if source.source_class == "II":
        return kalantari2018.distortion_thresholds(source)[1:-1]
    return np.empty(0)
