"""The source sets of Tables I-IV (Kalantari et al. 2018): their vertices, classes and breakpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.figures.curves import Cited, check_names, cited_as, spelled
from paper_repro.figures.layout import PAGE, headline
from paper_repro.figures.registry import EXACT, PRINTED, by_letters, letter_label, notion_look, set_label
from paper_repro.figures.style import DISTORTION, canvas, drawing, rounded
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = [
    "BREAKPOINTS_CAPTION",
    "LEAKAGES_CAPTION",
    "CitedTable",
    "breakpoint_finding",
    "breakpoint_places",
    "breakpoint_subtitle",
    "breakpoint_table",
    "breakpoints_in_words",
    "cited_figure",
    "cited_subtitle",
    "cited_table",
    "class_table",
    "draw_breakpoints",
    "leakage_finding",
    "leakage_subtitle",
    "leakages_in_words",
    "vertex_page",
    "vertex_table",
]

_SAME = 1e-6
_SETS = tuple(f"P_{name}_{letters}" for letters in (6, 10) for name in ("I", "II", "IIIa", "IIIb", "IIIc"))
_DISTORTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_FIGURES: dict[tuple[object, ...], Cited] = {
    ("breakpoints", *_SETS): Cited(
        "breakpoints",
        "Kalantari et al. 2017 preprint, Theorems 1 and 2",
        ("kalantari2017.theorem_2_thresholds", "kalantari2017.theorem_2b_range"),
    ),
    ("leakages", *_SETS, "differential privacy", *_DISTORTIONS): Cited("leakages"),
}


@dataclass(frozen=True)
class CitedTable:
    """A table of vertices: its file name, its finding, its name in the paper, and the ledger's entries on it."""

    name: str
    finding: str
    source: str = ""
    ledger: Sequence[str] = ()


# Captions: what the lines and signs of a picture mean.
BREAKPOINTS_CAPTION = (
    "One line for each source set. A filled circle is a breakpoint: there the curve of least leakage changes its formula, "
    "and from the last one on nothing leaks. A hollow diamond is a threshold that the 2017 preprint prints"
)
LEAKAGES_CAPTION = (
    "One row for each source set, one column for each distortion. A darker cell is a larger leakage; "
    "an empty cell is a leakage of zero"
)

_CITED = {
    sets: CitedTable(
        f"table_{number}",
        finding,
        f"Kalantari et al. 2018, Table {roman}",
        [f"kalantari2018.table_{number}", "kalantari2018.example_2"][: 1 + (number > 2)],
    )
    for number, roman, sets, finding in (
        (1, "I", ("P_II_6",), "The six-category prior of Table I"),
        (2, "II", ("P_II_10",), "Two priors that rank ten categories alike span a Class II set"),
        (
            3,
            "III",
            tuple(f"P_III{part}_6" for part in "abc"),
            "Swapping the first of six categories spans three nested source sets",
        ),
        (
            4,
            "IV",
            tuple(f"P_III{part}_10" for part in "abc"),
            "Swapping the first of ten categories spans three nested source sets",
        ),
    )
}


def vertex_table(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Vertices of the last of some source sets, one in each row, and which of them span the other sets.

    Columns: if there are two sets or more, one for each set, with 1 where the row is one of its vertices, else 0; then one for
    each category. Raises ValueError if two sets have one name, or one has a vertex that the last one lacks.

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
                f"the last set of a table must have the vertices of the others; {source.name} has {lost.pop()}, "
                f"which {sources[-1].name} has not. Show these sets in two tables."
            )
        spans[source.name] = [int(row in own) for row in rows]
    categories = {str(label): column for label, column in zip(sources[-1].labels, zip(*rows, strict=True), strict=True)}
    return pd.DataFrame({**spans, **categories}, index=pd.RangeIndex(1, len(rows) + 1, name="vertex"))


def vertex_page(table: pd.DataFrame, sources: Sequence[SourceSet]) -> pd.DataFrame:
    """A table of :func:`vertex_table` as it is shown: names as formulas, and a dot where a vertex spans a set."""
    sets = [source.name for source in sources] if len(sources) > 1 else []
    shown = table.astype(object)
    shown[sets] = table[sets].map(lambda spans: "•" if spans else "")
    return shown.set_axis([*map(set_label, sets), *map(letter_label, table.columns[len(sets) :])], axis=1)


def cited_figure(kind: str, sources: Sequence[SourceSet], *chosen: object) -> Cited:
    """The figure of the papers' ten sets for this kind and these choices; for others, a file name of their own.

    >>> cited_figure("breakpoints", [SourceSet([0.5, 0.5], name="mine")]).name
    'own_breakpoints_mine'
    """
    return cited_as(_FIGURES, kind, *(source.name for source in sources), *chosen, kind="own")


def cited_table(sources: Sequence[SourceSet]) -> CitedTable:
    """The paper's table of exactly these sets; for other sets, a file name and a title of their own.

    >>> cited_table([SourceSet([0.5, 0.5], name="mine")]).name
    'vertices_mine'
    """
    names = tuple(source.name for source in sources)
    own = f"The vertices of {spelled(len(names))} source set{'s' * (len(names) > 1)}"
    return _CITED.get(names) or CitedTable("vertices_" + "_".join(re.sub(r"\W", "-", name) for name in names), own)


def cited_subtitle(sources: Sequence[SourceSet], cited: CitedTable) -> str:
    """The sets of a table, and the paper's table that it follows, for the line below its title.

    >>> one = [SourceSet([0.5, 0.5], name="mine")]
    >>> cited_subtitle(one, cited_table(one))
    'mine'
    """
    return ", ".join(set_label(source.name) for source in sources) + (cited.source and f"; after {cited.source}")


def class_table(sources: Sequence[SourceSet]) -> pd.DataFrame:
    """Class and landmarks of each source set under differential privacy.

    Columns: ``source_set``, ``class``, ``categories``, ``vertices``; ``symmetric_until``, the distortion up to which randomized
    response on the categories that can occur is optimal; ``zero_from``, the distortion from which nothing leaks; ``jump``, the
    leakage in nats just below it;
    ``printed_symmetric_until`` and ``printed_zero_from``, the thresholds ``D^(1)`` and ``D^(M-1)`` of Theorem 2 (2017 preprint
    of Kalantari et al.) for Class II, and ``(M - 1) / M`` of Theorem 1 for Class I. Raises ValueError if there is no source set,
    or two have one name.

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
                "categories": source.alphabet_size,
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
    """Distortions at which the exact curves of differential privacy change form, and the thresholds of the 2017 preprint.

    Columns: ``source_set``; ``kind``, ``exact`` or ``printed``; ``distortion``; ``leakage``, the exact one in nats as the
    distortion rises to it. The preprint's Theorem 2 has thresholds ``D^(1) .. D^(M-1)`` for Class II, its Theorem 1 has
    ``(M - 1) / M`` for Class I. Raises ValueError if there is no source set, or two have one name.

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
    r"""Where a printed threshold is farthest from the exact one, as a sentence; from a table as of :func:`breakpoint_table`.

    >>> breakpoint_finding(breakpoint_table([SourceSet([0.5, 0.3, 0.2], name="mine")]))
    'Randomized response stays optimal up to distortion 0.4, not only 0.2'
    >>> breakpoint_finding(breakpoint_table([SourceSet([0.5, 0.5])]))
    'Where the curves of differential privacy change form'
    """
    if (found := _latest(table)) is None:
        return "Where the curves of differential privacy change form"
    _, exact, printed = found
    return f"Randomized response stays optimal up to distortion {exact:g}, not only {printed:g}"


def breakpoint_subtitle(table: pd.DataFrame) -> str:
    """The set of :func:`breakpoint_finding`, the notion and the version of the paper, for the line below the title.

    >>> breakpoint_subtitle(breakpoint_table([SourceSet([0.5, 0.3, 0.2], name="mine")]))
    'Differential privacy; mine, with threshold 0.2 in the 2017 preprint, which has no threshold for Class III'
    """
    if (found := _latest(table)) is None:
        return "Differential privacy; the 2017 preprint has no threshold for Class III"
    name, _, printed = found
    of = f"{set_label(name)}, with threshold {printed:g} in the 2017 preprint"
    return f"Differential privacy; {of}, which has no threshold for Class III"


def breakpoints_in_words(table: pd.DataFrame) -> str:
    """The breakpoints and thresholds of a table as of :func:`breakpoint_table`, for readers who do not see the picture.

    >>> breakpoints_in_words(breakpoint_table([SourceSet([0.5, 0.3, 0.2], name="mine")]))
    'One line for each source set. Exact breakpoints: mine 0.4, 0.5. Thresholds of the 2017 preprint: mine 0.2, 0.5.'
    """
    said = ["One line for each source set."]
    for kind, name in (("exact", "Exact breakpoints"), ("printed", "Thresholds of the 2017 preprint")):
        rows = table[table["kind"] == kind].groupby("source_set", sort=False)["distortion"]
        places = "; ".join(f"{one} {', '.join(f'{place:.4g}' for place in own)}" for one, own in rows)
        said += [f"{name}: {places}."] if places else []
    return " ".join(said)


def breakpoint_places(table: pd.DataFrame) -> pd.DataFrame:
    """The exact breakpoints as texts, one row for each source set; from a table as of :func:`breakpoint_table`.

    >>> breakpoint_places(breakpoint_table([SourceSet([0.5, 0.3, 0.2], name="mine")])).loc["mine"].tolist()
    ['0.4000', '0.5000']
    """
    exact = table[table["kind"] == "exact"]
    numbered = exact.assign(breakpoint=exact.groupby("source_set").cumcount() + 1)
    places = numbered.pivot(index="source_set", columns="breakpoint", values="distortion")
    return places.loc[exact["source_set"].unique()].map("{:.4f}".format, na_action="ignore").fillna("")


def _latest(table: pd.DataFrame) -> tuple[str, float, float] | None:
    """The set whose first exact breakpoint is farthest above its first printed one, and both; None if no set has such."""
    first = table.groupby(["source_set", "kind"], sort=False)["distortion"].min().unstack()
    if not {"exact", "printed"} <= set(first):
        return None
    late = (first["exact"] - first["printed"]).dropna()
    if not late.max() > _SAME:
        return None
    name = str(late.idxmax())
    exact, printed = first.loc[name, ["exact", "printed"]].to_numpy(dtype=float)
    return name, float(exact), float(printed)


def leakage_finding(table: pd.DataFrame, sources: Sequence[SourceSet]) -> str:
    """Up to which distortion sets of equally many categories leak alike; from a table as of ``leakage_curves.leakage_table``.

    >>> sets = [SourceSet([0.5, 0.3, 0.2], name="a"), SourceSet([0.6, 0.2, 0.2], name="b")]
    >>> from paper_repro.figures.leakage_curves import leakage_table
    >>> leakage_finding(leakage_table(sets, [0.1, 0.4, 0.45]), sets)
    'For these sets only the category count matters up to distortion 0.1'
    """
    leakages = table.drop(columns="source_set").groupby([source.alphabet_size for source in sources])
    alike = (leakages.max() - leakages.min()).fillna(0).max() < _SAME  # two infinite ones are alike
    last = next((i for i, same in enumerate(alike) if not same), len(alike))
    if len(leakages) == len(sources) or not last:
        return f"The least leakage of {spelled(len(sources))} source set{'s' * (len(sources) > 1)}"
    return f"For these sets only the category count matters up to distortion {alike.index[last - 1]}"


def leakage_subtitle(notion: str) -> str:
    """The notion of a table of leakages, by its name, for the line below its title.

    >>> leakage_subtitle("Renyi differential privacy")
    'Least leakage in nats: Rényi differential privacy; empty: nothing leaks'
    """
    return f"Least leakage in nats: {notion_look(notion).label}; empty: nothing leaks"


def leakages_in_words(table: pd.DataFrame, notion: str) -> str:
    """A table as of ``leakage_curves.leakage_table``, for readers who do not see the picture.

    >>> leakages_in_words(pd.DataFrame({"source_set": ["a"], "0.1": [2.0], "0.5": [0.0]}), "mutual information")
    'Least leakage in nats (mutual information): rows are source sets, columns are distortions. At D = 0.1: a 2.000.'
    """
    first = table.columns[1]
    values = ", ".join(f"{name} {value:.3f}" for name, value in zip(table["source_set"], table[first], strict=True))
    label = notion_look(notion).label
    return f"Least leakage in nats ({label}): rows are source sets, columns are distortions. At D = {first}: {values}."


@drawing("source_set", "kind", "distortion", "leakage")
def draw_breakpoints(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Exact breakpoints and the preprint's thresholds, one line for each source set, as of :func:`breakpoint_table`.

    The title is :func:`breakpoint_finding` and the subtitle :func:`breakpoint_subtitle`, unless others are given. Raises
    ValueError if a column is missing.
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
            (PRINTED, "threshold of Theorems 1 and 2 (2017 preprint)"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, fontsize=8)
    headline(figure, title or breakpoint_finding(table), subtitle or breakpoint_subtitle(table))
    return figure


def _printed_thresholds(source: SourceSet) -> FloatArray:
    """``D^(1) .. D^(M-1)`` of Theorem 2 for Class II, the one threshold of Theorem 1 for Class I, empty for Class III."""
    if source.source_class == "I":
        return np.array([(source.alphabet_size - 1) / source.alphabet_size])
    if source.source_class == "II":
        return kalantari2018.distortion_thresholds(source)[1:-1]
    return np.empty(0)
