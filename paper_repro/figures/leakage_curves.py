"""Figures 4 and 5 (Kalantari et al. 2018): least leakages of source sets, and the formulas of the 2017 preprint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from paper_repro.curves import leakage_curve, refined
from paper_repro.figures.curves import (
    DECIMALS,
    SAME,
    Cited,
    add_curve,
    certified_decimals,
    check_names,
    cited_as,
    curve_points,
    curve_table,
    draw_curves,
    finding_of_curves,
    grid_of,
    subtitle_of,
)
from paper_repro.figures.layout import PAGE, headline, label_lines, label_zeros
from paper_repro.figures.registry import PRINTED, UNREACHABLE, Look, by_letters, notion_look, set_label, set_looks
from paper_repro.figures.style import DISTORTION, LEAKAGE, draw_shaded, drawing, need, rounded
from paper_repro.mechanisms import randomized_response
from paper_repro.notions import DifferentialPrivacy, Notion
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import BoolArray, FloatArray

__all__ = [
    "cited_figure",
    "comparison_caption",
    "comparison_in_words",
    "comparison_subtitle",
    "comparison_table",
    "draw_comparison",
    "draw_leakages",
    "finding_of_comparison",
    "leakage_table",
    "printed_table",
    "shortfalls",
    "why_not_printed",
]

_FIGURES: dict[tuple[object, ...], Cited] = {
    ("differential privacy", *(f"P_{kind}_{size}" for kind in ("I", "II", "IIIa", "IIIb", "IIIc"))): Cited(
        f"figure_{number}",
        f"Kalantari et al. 2018, Figure {number}",
        (f"kalantari2018.figure_{number}", "kalantari2017.theorem_2b_program", "kalantari2017.theorem_3_upper"),
    )
    for number, size in ((4, 6), (5, 10))
}
_ACROSS = 4
_NOBODY = "#7A4A1E"
_PREPRINT = replace(PRINTED, label="2017 preprint")


def cited_figure(sources: Sequence[SourceSet], notion: Notion) -> Cited:
    """The paper's figure of exactly these sets, with the ledger's entries on it; for others, a file name of their own.

    >>> cited_figure([SourceSet([0.5, 0.5], name="mine")], DifferentialPrivacy()).name
    'leakages_differential-privacy_mine'
    """
    return cited_as(_FIGURES, notion.name, *(source.name for source in sources), kind="leakages")


def comparison_table(
    sources: Sequence[SourceSet],
    notion: Notion | None = None,
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 25,
    show_printed: bool = True,
) -> pd.DataFrame:
    """Exact curves of source sets, and under differential privacy those of :func:`printed_table`, if they are to be shown.

    Columns as of :func:`paper_repro.figures.curves.curve_table`, and ``randomized_response``: the leakage in nats of randomized
    response with that distortion, measured by the notion; under differential privacy it is the optimum for Class I. Errors as
    there.
    """
    notion = notion or DifferentialPrivacy()
    tables = [curve_table(sources, [notion], smallest_distortion, largest_distortion, points)]
    if show_printed and isinstance(notion, DifferentialPrivacy) and notion.adjacency is None:
        tables.append(printed_table(sources, smallest_distortion, largest_distortion, points))
    table, known = pd.concat(tables, ignore_index=True), {source.name: source for source in sources}
    even = [
        _randomized_response(known[name], place, notion)
        for name, place in zip(table["source_set"], table["distortion"], strict=True)
    ]
    return rounded(table.assign(randomized_response=even), DECIMALS, distortion=9)


def _randomized_response(source: SourceSet, distortion: float, notion: Notion) -> float:
    """Leakage in nats of randomized response with this distortion; 0 from ``(M - 1) / M`` on."""
    ratio = kalantari2018.theorem_1(source.alphabet_size, distortion)
    if isinstance(notion, DifferentialPrivacy) and notion.adjacency is None:
        return ratio
    return notion.leakage(randomized_response(source.alphabet_size, ratio), source)


def printed_table(
    sources: Sequence[SourceSet],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 25,
) -> pd.DataFrame:
    """Curves of Theorems 2 and 3 of the 2017 preprint of Kalantari et al., where they differ from the exact ones.

    Class II sets: Theorem 2. Class III sets of Tables III and IV: Theorem 3 for the Class II set and the swaps from which they
    are built, whose folded images coincide. Both with ``D_i`` in [0, 1]. Columns as of
    :func:`paper_repro.figures.curves.curve_table`, ``curve`` being ``as printed``. There is no row where a printed curve is
    within 1e-6 nats of the exact one, but for the first one on each side: ``end`` is ``stops`` where rows are left out after it.

    >>> table = printed_table([load_source_set("P_II_6")], 0.1, 0.2, 2)
    >>> table["leakage"].iloc[[0, -1]].tolist()
    [3.55534806, 2.54374715]
    """
    grid = grid_of(smallest_distortion, largest_distortion, points)
    tables = {source.name: source for source in sources}
    frames = [curve_points(None, "", [], [])]
    for source in sources:
        printed, thresholds = _printed_curve(source, tables)
        if printed is not None:
            frames.append(_where_it_differs(source, printed, grid, thresholds))
    return pd.concat(frames, ignore_index=True)


def why_not_printed(sources: Sequence[SourceSet]) -> list[str]:
    """For each source set that has no printed curve of its own, a sentence on why.

    >>> why_not_printed([SourceSet([[0.6, 0.4], [0.4, 0.6]], name="mine")])
    ['mine: Class I; randomized response is optimal, as Theorem 1 states.']
    """
    known = {source.name: source for source in sources}
    reasons = []
    for source in sources:
        if source.source_class == "I":
            reasons.append(f"{source.name}: Class I; randomized response is optimal, as Theorem 1 states.")
        elif _printed_curve(source, known)[0] is None:
            reasons.append(
                f"{source.name}: Class III; Theorem 3 needs folding permutations, "
                "and the preprint has them for its own sets only."
            )
    return reasons


def shortfalls(table: pd.DataFrame) -> pd.Series:
    """The largest amounts, in nats, by which the preprint's formulas fall below the optimum, one for each set with a formula.

    From a table as of :func:`comparison_table`; sets without printed rows are left out.

    >>> shortfalls(comparison_table([load_source_set("P_II_6")])).round(4).to_dict()
    {'P_II_6': 0.3365}
    """
    claims = table[table["curve"] == "as printed"]
    short = (claims["exact"] - claims["leakage"]).groupby(claims["source_set"], sort=False).max()
    return short.rename("nats below the optimum, at most")


def leakage_table(
    sources: Sequence[SourceSet], distortions: Sequence[float], notion: Notion | None = None
) -> pd.DataFrame:
    """Least leakage in nats at a grid of distortions: one row for each source set, one column for each distortion.

    Raises ValueError if there is no source set or distortion, or two sets have one name.

    >>> print(leakage_table([load_source_set("P_II_6")], [0.2, 0.3]).round(4).to_string(index=False))
    source_set    0.2  0.3
        P_II_6 2.6773  0.0
    """
    check_names(sources)
    need(distortions, "distortion")
    notion = notion or DifferentialPrivacy()
    columns: list[str] = []
    for distortion in distortions:
        name = f"{distortion:g}"
        columns.append(f"{name} ({columns.count(name) + 1})" if name in columns else name)
    frame = pd.DataFrame([leakage_curve(source, distortions, notion=notion) for source in sources], columns=columns)
    frame.insert(0, "source_set", [source.name for source in sources])
    return rounded(frame, certified_decimals(notion))


@drawing("source_set", "class", "curve", "distortion", "leakage", "exact", "end", "randomized_response")
def draw_comparison(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Exact curves; and for each set with a printed one, the leakage that both save compared with randomized response.

    Parameters
    ----------
    table : DataFrame
        As of :func:`comparison_table`. Without printed rows, or for one set, drawn by
        :func:`paper_repro.figures.curves.draw_curves`.
    title, subtitle : str
        The finding, by default :func:`finding_of_comparison`, and a line below it, to which the set of the finding is added.

    Raises
    ------
    ValueError
        If a column is missing, or there are more sets than can be told apart (8).
    """
    printed = table["curve"].eq("as printed")
    if not printed.any():
        return draw_curves(table, title, subtitle)
    exact, claims = table[~printed], table[printed]
    looks, names = set_looks(exact["source_set"]), list(dict.fromkeys(claims["source_set"]))
    across, down = min(len(names), _ACROSS), -(-len(names) // _ACROSS)
    figure = Figure(figsize=(PAGE, 3.9 + 2.05 * down), layout="constrained")
    places = figure.add_gridspec(1 + down, across, height_ratios=[1.75] + [1] * down)
    overview = figure.add_subplot(places[0, :])
    curves: list[Line2D] = []
    labels: dict[Line2D, str] = {}
    for name, look in looks.items():
        curves.append(add_curve(overview, exact[exact["source_set"] == name], "leakage", gid=name, **look.line))
    for name in names:
        style = {**_PREPRINT.line, "label": "_printed", "zorder": 2.5, "gid": f"{name} as printed"}
        line = add_curve(overview, claims[claims["source_set"] == name], "leakage", ends=False, **style)
        labels[line] = _PREPRINT.label
    overview.axhline(0, color="0.55", linewidth=0.8, zorder=1)
    highest = float(table["leakage"].replace(np.inf, np.nan).max())
    overview.set(
        ylabel=LEAKAGE, xlabel=DISTORTION, xlim=(0, float(table["distortion"].max())), ylim=(-0.17 * highest, None)
    )
    overview.set_yticks([tick for tick in overview.get_yticks() if 0 <= tick <= highest])
    panels: list[Axes] = []
    for number, name in enumerate(names):
        place = places[1 + number // across, number % across]
        first = panels[0] if panels else None
        panels.append(figure.add_subplot(place, sharex=first, sharey=first))
        _draw_saved(panels[-1], exact[exact["source_set"] == name], claims[claims["source_set"] == name], looks[name])
        if number % across:
            panels[-1].tick_params(labelleft=False)
    claimed = claims["randomized_response"] - claims["leakage"]
    far = float(claims["distortion"].max())
    below = claims["end"].ne("closed") | claims["distortion"].lt(far)
    top = 1.12 * float(claimed[below].max())
    panels[0].set(xlim=(0, 1.03 * far), ylim=(-0.04 * top, top), ylabel="nats saved compared with\nrandomized response")
    for axes in panels:
        x, y = np.asarray(axes.lines[0].get_data(), dtype=float)
        kept, top = np.isfinite(y), axes.get_ylim()[1]
        axes.fill_between(x[kept], np.minimum(y[kept], top), top, zorder=0.5, **UNREACHABLE)
    panels[-1].text(
        0.5, 0.9, "no mechanism", transform=panels[-1].transAxes, size=8, ha="center", va="center", color=_NOBODY
    )
    said = [subtitle, f"dotted: {_theorems(claims)} of the 2017 preprint", _where(claims)]
    headline(figure, title or finding_of_comparison(table), "; ".join(filter(None, said)))
    label_zeros(overview, curves)
    label_lines(overview, list(labels), labels)
    label_lines(panels[0])
    return figure


@drawing("source_set")
def draw_leakages(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Least leakages as a shaded table: source sets by distortions; from a table as of :func:`leakage_table`.

    Cells where nothing leaks are empty.
    """
    names = table["source_set"].tolist()
    named = table.drop(columns="source_set").set_axis([set_label(name) for name in names])
    figure = draw_shaded(named, title, "distortion $D$", "{:.3f}", subtitle)
    for row in by_letters(names):
        figure.axes[0].axhline(row, color="white", linewidth=6)
    return figure


def finding_of_comparison(table: pd.DataFrame) -> str:
    r"""What printed and exact curves together show, in a sentence: by how much the preprint's formulas are too low at most.

    >>> finding_of_comparison(comparison_table([load_source_set("P_II_6")]))
    "The 2017 preprint's formulas fall up to 0.34 nats below the optimum"
    """
    claims = table[table["curve"] == "as printed"]
    if claims.empty:
        return finding_of_curves(table)
    return f"The 2017 preprint's formulas fall up to {_worst(claims)[1]:.2f} nats below the optimum"


def comparison_subtitle(sources: Sequence[SourceSet], notion: Notion, source: str = "") -> str:
    """Notion, number of categories and the paper's figure, for the line below the title.

    >>> comparison_subtitle([SourceSet([0.6, 0.4], name="a")], DifferentialPrivacy())
    'Differential privacy; prior (0.6, 0.4)'
    """
    return subtitle_of(sources, [notion], source)


def comparison_caption(table: pd.DataFrame) -> str:
    """How to read the picture of a table as of :func:`comparison_table`: what its lines and signs mean.

    >>> "dotted" in comparison_caption(comparison_table([SourceSet([0.5, 0.5])]))
    False
    """
    said = [
        "One curve for each source set: the least leakage that any mechanism needs at each distortion",
        "At a jump, a hollow circle is the value just below and a filled one the value there",
    ]
    claims = table[table["curve"] == "as printed"]
    if len(claims):
        said += [
            f"The dotted curves follow {_theorems(claims)} of the 2017 preprint where they differ from the exact ones",
            "Small panels: leakage saved compared with randomized response of the same distortion; "
            "no mechanism lies in the shaded region",
        ]
    return ". ".join(said)


def comparison_in_words(table: pd.DataFrame) -> str:
    """The curves of a table as of :func:`comparison_table`, for readers who do not see the picture.

    >>> comparison_in_words(comparison_table([SourceSet([0.5, 0.5], name="mine")]))
    'Least leakage (differential privacy) against distortion, falling curves; they reach zero at D = 0.5 for mine.'
    """
    claims = table[table["curve"] == "as printed"]
    exact = table[table["curve"] != "as printed"]
    ends = exact[exact["leakage"] == 0].groupby("source_set", sort=False)["distortion"].min()
    places = ", ".join(f"D = {end:.4g} for {name}" for name, end in ends.items()) or "none of the distortions shown"
    label = notion_look(exact["curve"].iloc[0]).label
    said = f"Least leakage ({label}) against distortion, falling curves; they reach zero at {places}."
    if len(claims):
        said += (
            f" Dotted: {_theorems(claims)} of the 2017 preprint, below the exact curves of "
            f"{', '.join(claims['source_set'].unique())}, where no mechanism lies."
        )
    return said


def _theorems(claims: pd.DataFrame) -> str:
    """The theorems that give the printed curves of a table, by name."""
    numbers = [number for kind, number in (("II", "2"), ("III", "3")) if claims["class"].eq(kind).any()]
    return f"Theorem{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"


def _where(claims: pd.DataFrame) -> str:
    """The set for which the printed formula is the farthest off, and where it is too low there."""
    name, _ = _worst(claims)
    rows = claims[claims["source_set"] == name]
    stretch = rows["end"].eq("stops").shift(1, fill_value=False).cumsum().to_numpy()  # what is drawn without a gap
    shortfall = (rows["exact"] - rows["leakage"]).to_numpy()
    places = rows["distortion"].to_numpy()[stretch == stretch[shortfall.argmax()]]
    lacking = rows["distortion"].to_numpy()[(stretch == stretch[shortfall.argmax()]) & (shortfall > SAME)]
    return rf"farthest off for {set_label(name)}, too low for ${lacking.min():.4g}\leq D<{places.max():.4g}$"


def _worst(claims: pd.DataFrame) -> tuple[str, float]:
    """The set for which the printed formula is the farthest below the exact curve, and by how many nats."""
    shortfall = (claims["exact"] - claims["leakage"]).to_numpy()
    return claims["source_set"].tolist()[shortfall.argmax()], float(shortfall.max())


def _printed_curve(
    source: SourceSet, known: Mapping[str, SourceSet]
) -> tuple[Callable[[float], float] | None, list[float]]:
    """The formula that the preprint gives for this set, read with ``D_i`` in [0, 1], and where it says that its form changes.

    These are ``D^(1)`` and where zero begins. A set from which Class III sets are built is loaded only if it is not ``known``.
    """
    if source.source_class == "II":
        thresholds = kalantari2018.distortion_thresholds(source)
        return partial(kalantari2018.theorem_2, source), [float(thresholds[1]), float(thresholds[-2])]
    if source.name not in kalantari2018.CONSTRUCTIONS:
        return None, []
    name, swaps = kalantari2018.CONSTRUCTIONS[source.name]
    base, size = known.get(name) or load_source_set(name), source.alphabet_size
    swapped = [_swap(size, *pair) for pair in swaps]
    ends = [float(kalantari2018.distortion_thresholds(base)[1]), (size - 1) / size]
    return lambda distortion: kalantari2018.theorem_3(base, distortion, permutations=swapped).upper, ends


def _swap(size: int, first: int, second: int) -> list[int]:
    order = list(range(size))
    order[first], order[second] = order[second], order[first]
    return order


def _where_it_differs(
    source: SourceSet, printed: Callable[[float], float], grid: FloatArray, thresholds: Sequence[float]
) -> pd.DataFrame:
    """The rows of :func:`printed_table` for one set."""
    curve = exact_curve(source)

    def both(distortions: FloatArray) -> FloatArray:
        values, exact = np.array([printed(place) for place in distortions]), curve.leakage(distortions)
        with np.errstate(invalid="ignore"):
            return np.column_stack([values, exact - values])

    known = [place for place in [*thresholds, *curve.breakpoints] if grid[0] < place < grid[-1]]
    coarse = np.union1d(grid, known)
    near = _with_neighbors(both(coarse)[:, 1] > SAME)
    frames = [curve_points(source, "", [], [])]
    for run in np.split(np.arange(len(coarse)), np.flatnonzero(np.diff(near)) + 1):
        if not near[run[0]]:
            continue
        places, found, ends = refined(both, coarse[run])
        kept = _with_neighbors(found[:, 1] > SAME)  # not where both are infinite
        frame = curve_points(source, "as printed", places, found[:, 0]).assign(exact=found.sum(axis=1), end=ends)
        frame.loc[kept & ~np.append(kept[1:], False), "end"] = "stops"
        frames.append(frame[kept])
    return rounded(pd.concat(frames, ignore_index=True), DECIMALS, distortion=9)


def _with_neighbors(places: BoolArray) -> BoolArray:
    return places | np.append(places[1:], False) | np.append(False, places[:-1])


def _draw_saved(axes: Axes, exact: pd.DataFrame, claims: pd.DataFrame, look: Look) -> None:
    """Nats saved compared with randomized response, by the optimal mechanism and by the printed formula."""
    exact, claims = (rows.assign(saved=rows["randomized_response"] - rows["leakage"]) for rows in (exact, claims))
    add_curve(axes, exact, "saved", **{**look.line, "label": "exact", "clip_on": True, "gid": f"{look.label} saved"})
    add_curve(axes, claims, "saved", **{**_PREPRINT.line, "clip_on": True, "gid": f"{look.label} saved as printed"})
    worst = float((claims["exact"] - claims["leakage"]).max())
    axes.set_title(f"{look.label}: preprint is\nup to {worst:.2f} nats too low", fontsize=8, color=look.color)
    axes.tick_params(labelsize=7.5)
    axes.set_xlabel("distortion $D$", fontsize=8)
