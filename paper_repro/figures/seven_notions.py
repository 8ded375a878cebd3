"""Seven privacy notions compared: the intervals printed for some of them, and the optimal mechanism of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.curves import refined
from paper_repro.figures.curves import (
    SAME,
    Cited,
    cited_as,
    curve_table,
    finding_of_curves,
    grid_of,
    in_print,
    spelled,
)
from paper_repro.figures.layout import COLUMN, PAGE, headline
from paper_repro.figures.registry import notion_look, plain_text
from paper_repro.figures.sliders import matrix_html
from paper_repro.figures.style import drawing, need, rounded, shade
from paper_repro.notions import NOTION_NAMES, DifferentialPrivacy, MutualInformation, Notion, RenyiDP, SibsonInformation
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

__all__ = [
    "cited_figure",
    "draw_mechanisms",
    "finding_of_mechanisms",
    "finding_of_notions",
    "jumps_of",
    "mechanism_table",
    "mechanisms_in_words",
    "notion_table",
    "notions_in_words",
    "order_page",
]

_DECIMALS = 6
_LOCAL = ("differential privacy", "approximate differential privacy", "maximal leakage")
_FIGURES: dict[tuple[object, ...], Cited] = {
    ("P_II_4", *NOTION_NAMES): Cited("notions"),
    ("P_I_2", *(name for name in NOTION_NAMES if name != "maximal information")): Cited(
        "zhong_bu_figure_3",
        "Zhong and Bu 2022, Figure 3",
        ("zhong_bu2022.figure_3_curves", "zhong_bu2022.figure_3_ranges"),
    ),
    ("P_II_4", *_LOCAL): Cited(
        "zhong_bu_figure_4",
        "Zhong and Bu 2022, Figure 4",
        ("zhong_bu2022.figure_4_curves", "zhong_bu2022.figure_4_text_jumps"),
    ),
}
# Matrices that are nearer than this, entry by entry, are drawn once.
_ALIKE = 1e-4
# Notions from which on the finding counts those whose curves jump.
_SEVERAL = 3


def cited_figure(source: SourceSet, notions: Sequence[Notion]) -> Cited:
    """The paper's figure of this very set and these notions; for others, a file name of their own.

    >>> from paper_repro.notions import MaximalLeakage
    >>> cited_figure(SourceSet([0.5, 0.5], name="mine"), [MaximalLeakage()]).name
    'notions_mine_maximal-leakage'
    """
    return cited_as(_FIGURES, source.name, *(notion.name for notion in notions), kind="notions")


def notion_table(
    source: SourceSet,
    notions: Sequence[Notion],
    smallest_distortion: float = 0.01,
    largest_distortion: float = 0.7,
    points: int = 25,
) -> pd.DataFrame:
    """Curves of several notions, with the intervals that Proposition 8 of Zhong and Bu 2022 prints for a Class I set.

    Columns as of :func:`paper_repro.figures.curves.curve_table`; and ``lower`` and ``upper`` in nats. Both are empty for other
    classes, where the print is a single number throughout, and for the orders 1 and infinity, for which it has no formula.
    Errors as there.

    >>> from paper_repro.notions import RenyiDP
    >>> table = notion_table(SourceSet([[1, 0], [0, 1]]), [RenyiDP(2)], 0.3, 0.4)
    >>> table.round(4).iloc[0][["leakage", "lower", "upper"]].to_dict()
    {'leakage': 0.5664, 'lower': 0.4906, 'upper': 0.5664}
    """
    need(notions, "notion")
    grid = grid_of(smallest_distortion, largest_distortion, points)
    frames = []
    for notion in notions:
        printed = _interval(source, notion)
        places = refined(printed, grid)[0] if printed else grid
        frame = curve_table([source], [notion], smallest_distortion, largest_distortion, points, places)
        bounds = printed(frame["distortion"].to_numpy()) if printed else np.full((len(frame), 2), np.nan)
        frames.append(rounded(frame.assign(lower=bounds[:, 0], upper=bounds[:, 1]), _DECIMALS, distortion=9))
    return pd.concat(frames, ignore_index=True)


def finding_of_notions(table: pd.DataFrame) -> str:
    """The finding of the curves of :func:`notion_table`, in a sentence; for several notions it counts those that jump.

    >>> from paper_repro.notions import RenyiDP
    >>> finding_of_notions(notion_table(SourceSet([[1, 0], [0, 1]]), [RenyiDP(2)], 0.3, 0.6))
    'Where leakage is needed, Rényi meets the printed upper bound'
    """
    rows = table[table["upper"].notna()]
    needed = rows[rows["leakage"] > SAME]
    if needed.empty or (needed["upper"] - needed["leakage"]).abs().gt(10 * SAME).any():
        count, jumping = table["curve"].nunique(), table.loc[table["end"] == "closed", "curve"].nunique()
        if count < _SEVERAL or not jumping:
            return finding_of_curves(table)
        which = f"all {spelled(count)}" if jumping == count else f"{spelled(jumping)} of the {spelled(count)}"
        return f"The optimal leakage jumps under {which} privacy notions"
    labels = [notion_look(name).label for name in needed["curve"].unique()]
    # Those named after a person are known by that name.
    names = [label.split()[0] if label[0].isupper() else label for label in labels]
    one, who = len(names) == 1, " and ".join(", ".join(names).rsplit(", ", 1))
    return f"Where leakage is needed, {who} meet{'s' * one} the printed upper bound{'s' * (not one)}"


def jumps_of(table: pd.DataFrame) -> str:
    """The jumps of the curves of :func:`notion_table`, one a line.

    >>> jumps_of(notion_table(SourceSet([0.6, 0.4]), [DifferentialPrivacy()], 0.1, 0.5))
    'differential privacy jumps at D = 0.4'
    """
    jumps = table[table["end"] == "closed"]
    lines = [f"{notion_look(str(row.curve)).label} jumps at D = {row.distortion:.4g}" for row in jumps.itertuples()]
    return "\n".join(lines) or "no jumps"


def notions_in_words(table: pd.DataFrame) -> str:
    """The curves of :func:`notion_table` as an alternative text: their jumps, and for which notions intervals are shaded.

    >>> notions_in_words(notion_table(SourceSet([0.6, 0.4], name="mine"), [MutualInformation()], 0.1, 0.5))
    'Optimal leakage for mine against distortion under mutual information: falling curves; no jumps.'
    """
    names = [notion_look(str(name)).label for name in table["curve"].unique()]
    under = names[0] if len(names) == 1 else f"{len(names)} privacy notions"
    jumps = jumps_of(table).replace("\n", ", ")
    said = (
        f"Optimal leakage for {table['source_set'].iloc[0]} against distortion under {under}: falling curves; {jumps}."
    )
    bands = [notion_look(str(name)).label for name in table.loc[table["upper"].notna(), "curve"].unique()]
    return f"{said} Shaded: the intervals printed for {' and '.join(bands)}." if bands else said


def mechanism_table(source: SourceSet, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """The optimal mechanism of each notion at one distortion, one entry a row.

    Columns: ``notion``, ``leakage`` in nats, ``true`` and ``published`` categories, ``probability``. Raises ValueError if
    there is no notion.

    >>> from paper_repro.notions import MaximalLeakage
    >>> mechanism_table(SourceSet([0.6, 0.4]), [MaximalLeakage()], 0.1)["probability"].tolist()
    [1.0, 0.0, 0.25, 0.75]
    """
    need(notions, "notion")
    letters = np.array([str(label) for label in source.labels])
    true, published = np.indices((len(letters), len(letters)))
    frames = []
    for notion in notions:
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        entries = {
            "true": letters[true.ravel()],
            "published": letters[published.ravel()],
            "probability": best.mechanism.matrix.ravel(),
        }
        frames.append(pd.DataFrame({"notion": notion.name, "leakage": best.leakage, **entries}))
    return rounded(pd.concat(frames, ignore_index=True), _DECIMALS)


@drawing("notion", "leakage", "true", "published", "probability")
def draw_mechanisms(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Optimal mechanisms as shaded tables, one for all notions that share it: row = true category, column = published category.

    ``table`` is as of :func:`mechanism_table`; the title is by default :func:`finding_of_mechanisms`. Raises ValueError if a
    column is missing.
    """
    letters = list(dict.fromkeys(table["true"]))
    groups = _alike(table)
    room = 0.34 * len(letters) + 0.25  # inches of a matrix with its letters
    across = max(1, min(len(groups), 4, int((PAGE - 0.3) // room)))
    width = COLUMN if len(groups) == 1 and room < COLUMN else PAGE
    down, narrow = -(-len(groups) // across), width < across * 2.3
    said = [
        [f"{_broken(notion_look(name).label, narrow)}  {leakage:.4f}" for name, leakage in group] for group, _ in groups
    ]
    most = max("\n".join(lines).count("\n") + 1 for lines in said)
    high = 0.36 * len(letters) + 0.3 + 0.14 * most
    figure = Figure(figsize=(width, 1.1 + down * high), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).ravel()
    names = [_letter(str(letter)) for letter in letters]
    for axes, (_, square), lines in zip(places, groups, said, strict=False):
        shade(axes, pd.DataFrame(square, index=names, columns=names), "{:.3f}", darkest=1.0, fontsize=7)
        axes.set_title("\n".join(lines), fontsize=7.5)
        axes.set_aspect("auto")
        axes.tick_params(labelsize=8)
    for axes in places[len(groups) :]:
        axes.axis("off")
    figure.supxlabel("published category", fontsize=8.5)
    if len(groups) == 1:
        places[0].set_ylabel("true category", fontsize=8.5)
    else:
        figure.supylabel("true category", fontsize=8.5)
    headline(figure, title or finding_of_mechanisms(table), subtitle)
    return figure


def finding_of_mechanisms(table: pd.DataFrame) -> str:
    """The finding of the matrices shown for the notions of a table, in a sentence; a notion may have other optima.

    >>> from paper_repro.notions import DifferentialPrivacy, MaximalLeakage
    >>> notions = [DifferentialPrivacy(), MaximalLeakage()]
    >>> finding_of_mechanisms(mechanism_table(SourceSet([[1, 0], [0, 1]]), notions, 0.1))
    'One mechanism is optimal for both notions shown'
    """
    groups, count = _alike(table), table["notion"].nunique()
    if len(groups) == 1:
        return f"One mechanism is optimal for {_all(count)} notions shown" if count > 1 else "An optimal mechanism"
    chances = table.groupby(["notion", "published"], sort=False)["probability"].max().unstack("notion")
    dropped = (chances <= SAME).sum(axis=1)
    if dropped.max() in (0, count):
        return f"Optimal mechanisms of {spelled(count)} notions: {spelled(len(groups))} distinct matrices shown"
    category = str(dropped.index[dropped == dropped.max()][-1])
    if dropped.max() == 1:
        only = chances.loc[category].idxmin()
        return f"Only the optimum shown for {notion_look(str(only)).label} suppresses {_letter(category)}"
    some = spelled(int(dropped.max())).capitalize()
    return f"{some} of the {spelled(count)} optimal mechanisms shown suppress {_letter(category)}"


def mechanisms_in_words(table: pd.DataFrame, distortion: float) -> str:
    """The matrices of :func:`draw_mechanisms` as an alternative text: the leakage of each notion, in nats.

    >>> from paper_repro.notions import MaximalLeakage
    >>> mechanisms_in_words(mechanism_table(SourceSet([0.6, 0.4]), [MaximalLeakage()], 0.1), 0.1)
    'Optimal mechanisms at D = 0.1, a shaded table for notions that share it: maximal leakage 0.5596 nats.'
    """
    leakages = table.drop_duplicates("notion")[["notion", "leakage"]].itertuples(index=False)
    said = "; ".join(f"{notion_look(str(name)).label} {leakage:.4f} nats" for name, leakage in leakages)
    return f"Optimal mechanisms at D = {distortion:g}, a shaded table for notions that share it: {said}."


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {spelled(count)}"


def _letter(name: str) -> str:
    return re.sub(r"^x(\d+)$", r"$x_{\1}$", plain_text(name))


def _broken(label: str, narrow: bool) -> str:
    return label.replace(" differential privacy", "\ndifferential privacy") if narrow else label


def order_page(source: SourceSet) -> Callable[[float, float], str]:
    """Optimal mechanisms at a distortion and an order, for the notions that have an order and their limits, as HTML, for sliders.

    The limit of Rényi differential privacy at infinity is differential privacy; of Sibson information at 1, mutual information.
    Errors are those of :func:`mechanism_table`.

    >>> "differential privacy 2.1972 nats" in order_page(SourceSet([0.6, 0.4]))(0.1, 2.0)
    True
    """

    def page(distortion: float, alpha: float) -> str:
        notions = [DifferentialPrivacy(), RenyiDP(alpha), SibsonInformation(alpha), MutualInformation()]
        shown = []
        for notion in notions:
            best = optimal_mechanism(source, distortion=distortion, notion=notion)
            heading = f"{notion_look(notion.name).label} {best.leakage:.4f} nats"
            shown.append(matrix_html(best.mechanism.matrix, source.labels, heading))
        return "".join(shown)

    return page


def _alike(table: pd.DataFrame) -> list[tuple[list[tuple[str, float]], FloatArray]]:
    """Notions with their leakages, in groups that share a matrix, shape (letters, letters)."""
    letters = list(dict.fromkeys(table["true"]))
    groups: list[tuple[list[tuple[str, float]], FloatArray]] = []
    for name, rows in table.groupby("notion", sort=False):
        square = rows.pivot(index="true", columns="published", values="probability").loc[letters, letters].to_numpy()
        entry = str(name), float(rows["leakage"].iloc[0])
        same = [group for group, other in groups if np.abs(other - square).max() < _ALIKE]
        if same:
            same[0].append(entry)
        else:
            groups.append(([entry], square))
    return groups


def _interval(source: SourceSet, notion: Notion) -> Callable[[FloatArray], FloatArray] | None:
    """Both ends of what Proposition 8 prints, shape (points, 2), at distortions.

    None where they are one number throughout, and at the orders 1 and infinity, for which nothing is printed.
    """
    name, parameters = in_print(notion)
    if source.source_class != "I" or parameters.get("alpha") in (1, np.inf):
        return None

    def ends(distortions: FloatArray) -> FloatArray:
        found = [
            zhong_bu2022.proposition_8(name, source.alphabet_size, float(d), source, **parameters) for d in distortions
        ]
        return np.array([(bounds.lower, bounds.upper) for bounds in found]).reshape(-1, 2)

    probe = ends(np.linspace(0.02, 0.98, 13))
    return ends if (probe[:, 1] - probe[:, 0] > SAME).any() else None
