"""How much a private answer reveals about a database: bounds, distances and graphs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from numpy.typing import ArrayLike

from paper_repro.checks import check_leakage
from paper_repro.curves import refined
from paper_repro.figures.curves import Cited, cited_as
from paper_repro.figures.layout import COLUMN, PAGE, after, headline, label_ends
from paper_repro.figures.registry import COLORS, DASHES, PRINTED, Look, plain_text
from paper_repro.figures.style import canvas, drawing, need, rounded
from paper_repro.figures.tables import number_text
from paper_repro.graphs import Query, databases, hamming
from paper_repro.guessing import greatest_capacity, min_entropy_capacity
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import alvim2011

__all__ = [
    "NEIGHBORS_CAPTION",
    "SCALED_CAPTION",
    "THEOREM_1_CAPTION",
    "cited_figure",
    "database_table",
    "draw_neighbors",
    "draw_scaled",
    "draw_theorem_1",
    "finding_of_theorem_1",
    "neighbor_table",
    "neighbors_in_words",
    "output_table",
    "scale_table",
    "scaled_in_words",
    "scaled_table",
    "theorem_1_in_words",
    "theorem_1_subtitle",
    "theorem_1_table",
]

THEOREM_1_CAPTION = (
    "Each curve is the bound of Theorem 1 for one number of values v. The thin line of the same color is the number of bits "
    "that identify a database, which the curve approaches. The dot is where the last curve reaches nine tenths of its thin line"
)
"""How to read the picture of :func:`draw_theorem_1`."""

NEIGHBORS_CAPTION = (
    "A circle is a database, and a line joins two neighbors. The color and the dashes of a line say which "
    "individual changes"
)
"""How to read the picture of :func:`draw_neighbors`."""

SCALED_CAPTION = (
    "Left: each entry of the matrix in units of its largest entry a; the shade is the distance of the two databases. "
    "Right: the entries as numbers, with the scale that makes a row sum to 1 and with the printed one"
)
"""How to read the picture of :func:`draw_scaled`."""


_FIGURES: dict[tuple[object, ...], Cited] = {
    ("bound", 100, 2, 10, 100): Cited(
        "alvim_figure_3", "Alvim et al. 2011, Figure 3", ("alvim2011.theorem_1", "alvim2011.figure_3")
    ),
    ("neighbors", "a", "b", "c", "Bob", "Alice"): Cited("alvim_figure_4a", "Alvim et al. 2011, Figure 4(a)"),
    ("scaled", "a", "b", "c", 2, 0.6931471805599453): Cited("alvim_figure_4b", "Alvim et al. 2011, Figure 4(b)"),
}

_FIT = 3  # letters of a name above a cell


def cited_figure(kind: str, *chosen: object) -> Cited:
    """The paper's figure of this kind, if what is chosen is what it shows; else a file name of its own.

    >>> cited_figure("bound", 100, 2, 10, 100).name, cited_figure("bound", 20, 3).name
    ('alvim_figure_3', 'own_bound_20_3')
    """
    return cited_as(_FIGURES, kind, *chosen, kind="own")


def theorem_1_table(records: int, values: Sequence[int], largest_leakage: float, points: int = 25) -> pd.DataFrame:
    """Theorem 1 of Alvim et al. 2011: the bound on min-entropy leakage in bits, against the privacy parameter in nats.

    Columns: ``values``, ``leakage`` (nats), ``bound`` (bits) and ``most``, the bits that there are to know. At least so many
    points a line, and as many as a line right to half a pixel needs. Raises ValueError if there is no number of values.

    >>> theorem_1_table(100, [2], 5.0, 2)["bound"].round(3).iloc[[0, -1]].tolist()
    [0.0, 99.031]
    """
    need(values, "number of values")
    grid = np.linspace(0.0, check_leakage(largest_leakage), points).round(9)
    frames = []
    for v in values:
        bound = np.vectorize(partial(alvim2011.theorem_1, v, records), otypes=[float])
        leakages, bits, _ = refined(bound, grid)
        columns = {"values": v, "leakage": leakages, "bound": bits, "most": records * np.log2(v)}
        frames.append(pd.DataFrame(columns))
    return rounded(pd.concat(frames, ignore_index=True), 8, leakage=9)


def neighbor_table(values: Sequence[Hashable], individuals: Sequence[str]) -> pd.DataFrame:
    """Pairs of databases that differ in one individual, and in whom; Figure 4(a) of Alvim et al. 2011.

    A database is named by its values, one an individual, in their order. Columns: ``from``, ``to``, ``individual``. Raises
    ValueError if there is no individual, or two have one name.

    >>> neighbor_table("ab", ["Bob", "Alice"]).to_numpy().tolist()[:2]
    [['aa', 'ab', 'Alice'], ['ba', 'bb', 'Alice']]
    """
    need(individuals, "individual")
    if len({*individuals}) < len(individuals):
        raise ValueError(f"individuals must have different names, got {', '.join(individuals)}")
    names, space = _names(values, len(individuals)), list(databases(values, len(individuals)))
    rows = []
    for one, two in hamming(len(values), len(individuals)).edges:
        (whom,) = (who for who, x, y in zip(individuals, space[one], space[two], strict=True) if x != y)
        rows.append((names[one], names[two], whom))
    return pd.DataFrame(rows, columns=["from", "to", "individual"])


def scaled_table(values: Sequence[Hashable], records: int, leakage: float) -> pd.DataFrame:
    """The matrix of largest leakage about a database, with the scale of Example 1 and with the correct one; Figure 4(b), ibid.

    Its entries are ``a / e^(leakage d)``, where d is the number of records that differ. Columns: ``database`` and
    ``published``, in the paper's order, by the distance from the first; ``distance`` d; ``exact``, with
    ``a = (e^leakage / (v - 1 + e^leakage))^u``, and ``printed``, with ``a = v e^leakage / (v - 1 + e^leakage)``.

    >>> table = scaled_table("abc", 2, np.log(2))
    >>> table[["exact", "printed"]].iloc[0].tolist()
    [0.25, 1.5]
    >>> table["published"].tolist()[:9]
    ['aa', 'ab', 'ac', 'ba', 'ca', 'bb', 'bc', 'cb', 'cc']
    """
    distances = hamming(len(values), records).distances
    order = np.argsort(distances[0], kind="stable")
    names = np.array(_names(values, records))[order]
    matrices = [alvim2011.proposition_1(len(values), records, leakage, how) for how in ("corrected", "example")]
    entries = [matrix[np.ix_(order, order)].ravel() for matrix in (distances, *matrices)]
    columns = dict(zip(("distance", "exact", "printed"), entries, strict=True))
    table = pd.DataFrame({"database": np.repeat(names, len(names)), "published": np.tile(names, len(names)), **columns})
    return rounded(table, 9)


def database_table(query: Query, matrix: ArrayLike) -> pd.DataFrame:
    """How much a randomized answer reveals about the database and about one individual, with the paper's bounds, in bits.

    Rows: ``database`` (capacity of query and noise together, against Theorem 1) and ``individual`` (the largest capacity for one
    individual when all others are known, against Theorem 2). Columns: ``leakage``, ``bound``. The matrix
    of the noise has shape (answers, outputs).
    """
    channel = query.then(matrix)
    privacy = DifferentialPrivacy(query.adjacency).leakage(matrix)
    others = databases(query.values, query.records - 1) if query.records > 1 else [()]
    alone = max(
        min_entropy_capacity(query.of_record(channel, record, known), bits=True)
        for known in others
        for record in range(query.records)
    )
    rows = [
        ("database", min_entropy_capacity(channel, bits=True),
         alvim2011.theorem_1(len(query.values), query.records, privacy)),
        ("individual", alone, alvim2011.theorem_2(privacy)),
    ]  # fmt: skip
    return rounded(pd.DataFrame(rows, columns=["of", "leakage", "bound"]), 8)


def output_table(values: int, records: int, outputs: Sequence[int], leakage: float) -> pd.DataFrame:
    """Proposition 2 against the exact maximum: the largest min-entropy leakage with r outputs, in bits.

    Columns: ``outputs``, ``exact`` (by enumeration), ``proposition_2``, ``theorem_1``.

    >>> output_table(2, 3, [3], np.log(2)).round(4).iloc[0].tolist()
    [3.0, 1.0, 1.415, 1.2451]
    """
    graph = hamming(values, records)
    rows = [
        (
            count,
            greatest_capacity(graph, count, leakage) / np.log(2),
            alvim2011.proposition_2(values, records, count, leakage),
            alvim2011.theorem_1(values, records, leakage),
        )
        for count in outputs
    ]
    return rounded(pd.DataFrame(rows, columns=["outputs", "exact", "proposition_2", "theorem_1"]), 8)


@drawing("values", "leakage", "bound", "most")
def draw_theorem_1(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Bounds on min-entropy leakage in bits against the privacy parameter in nats, one line per number of values.

    Thin lines are what there is to know. ``table`` is as of :func:`theorem_1_table`; the title is by default
    :func:`finding_of_theorem_1`. Raises ValueError if a column is missing.
    """
    figure, axes = canvas(PAGE, 3.9)
    for number, (values, rows) in enumerate(table.groupby("values", sort=False)):
        color, dashes = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
        axes.axhline(rows["most"].iloc[0], color=color, linewidth=0.6, zorder=1)
        look = Look(f"$v = {values}$", color, dashes, "o")
        axes.plot(rows["leakage"], rows["bound"], clip_on=False, gid=f"v = {values}", **look.line)
    axes.set(
        xlabel=r"privacy parameter $\epsilon$ of differential privacy (nats)",
        ylabel=r"bound $B(u, v, \epsilon)$ on min-entropy leakage (bits)",
        xlim=(0, float(table["leakage"].max())),
        ylim=(0, 1.04 * float(table["most"].max())),
    )
    if near := _nine_tenths(table):
        values, leakage, bound = near
        axes.plot(
            leakage, bound, "o", color=COLORS[list(table["values"].unique()).index(values) % len(COLORS)], zorder=5
        )
    headline(figure, title or finding_of_theorem_1(table), subtitle)
    label_ends(axes)
    return figure


def finding_of_theorem_1(table: pd.DataFrame) -> str:
    """From which leakage on the bound says little, in a sentence: the last curve reaches nine tenths of the bits it approaches.

    >>> finding_of_theorem_1(theorem_1_table(100, [2, 10], 12.0))
    'With 10 values, 3.6 nats allow 90 % of the identifying bits'
    """
    near = _nine_tenths(table)
    if near is None:
        return f"Up to {table['leakage'].max():.2g} nats a bound stays below 90 % of the identifying bits"
    return f"With {near[0]} values, {near[1]:.2g} nats allow 90 % of the identifying bits"


def theorem_1_subtitle(records: int, source: str = "") -> str:
    """Subtitle of :func:`draw_theorem_1`, with the paper's figure that it is after.

    >>> theorem_1_subtitle(100, "a paper")
    '$u = 100$ individuals with $v$ values each; thin: the bits that identify a database; after a paper'
    """
    told = f"$u = {records}$ individuals with $v$ values each; thin: the bits that identify a database"
    return f"{told}; after {source}" if source else told


def theorem_1_in_words(table: pd.DataFrame, records: int) -> str:
    """What :func:`draw_theorem_1` shows of a table, for those who do not see it.

    >>> theorem_1_in_words(theorem_1_table(100, [2, 10], 5.0, 2), 100)
    'Bound on the min-entropy leakage about 100 individuals: rising curves that level off at u log2 v bits, for v = 2, 10.'
    """
    values = ", ".join(map(str, dict.fromkeys(table["values"])))
    curves = f"rising curves that level off at u log2 v bits, for v = {values}"
    return f"Bound on the min-entropy leakage about {records} individuals: {curves}."


def _nine_tenths(table: pd.DataFrame) -> tuple[int, float, float] | None:
    """Number of values, privacy and bound where the last of the lines reaches nine tenths; None, if one does not."""
    rows = table[table["bound"] >= 0.9 * table["most"]].groupby("values").first()
    if len(rows) < table["values"].nunique():
        return None
    last = rows.sort_values("leakage").reset_index().iloc[-1]
    return int(last["values"]), float(last["leakage"]), float(last["bound"])


@drawing("from", "to", "individual")
def draw_neighbors(table: pd.DataFrame, title: str = "", source: str = "") -> Figure:
    """Databases on a grid, neighbors joined: the first half of the individuals choose the row, the others the column.

    ``table`` is as of :func:`neighbor_table`. The headline counts databases and neighbors, or is ``title``. Raises ValueError if
    a column is missing.
    """
    alone = table["individual"].nunique() == 1
    parts = {
        name: name.split(",") if "," in name else [name] if alone else name for name in (*table["from"], *table["to"])
    }
    values = {name: tuple(part) for name, part in parts.items()}
    half = len(next(iter(values.values()))) // 2
    rows, columns = (sorted({value[part] for value in values.values()}) for part in (slice(half), slice(half, None)))
    place = {name: (columns.index(value[half:]), rows.index(value[:half])) for name, value in values.items()}
    long = max(map(len, place)) > _FIT
    width, left = PAGE if long else COLUMN, 0.07 + max(0.11, 0.125 * (len(rows) - 1)) + 0.3 * long
    right, low = len(columns) - 0.82 + 0.3 * long, len(rows) - 0.93 + max(0.11, 0.125 * (len(columns) - 1))
    figure, axes = canvas(width, 0.75 + width * (low + 0.18) / (left + right))
    named: dict[int, str] = {}
    for one, two, who in table[["from", "to", "individual"]].itertuples(index=False, name=None):
        letter = [x == y for x, y in zip(values[one], values[two], strict=True)].index(False)
        (x0, y0), (x1, y1) = sorted((place[one], place[two]))  # all arcs to one side
        bend = 0.0 if abs(x1 - x0) + abs(y1 - y0) == 1 else 0.25
        style: Any = {"color": COLORS[1 + letter % 7], "linestyle": DASHES[letter % 8], "linewidth": 1.5, "shrinkA": 0}
        arc = f"arc3,rad={bend}"
        axes.add_patch(FancyArrowPatch((x0, y0), (x1, y1), arrowstyle="-", connectionstyle=arc, shrinkB=0, **style))
        if letter not in named:  # one of its lines is enough
            named[letter] = who
            middle = (x0 + x1 + bend * (y0 - y1)) / 2, (y0 + y1 + bend * (x1 - x0)) / 2
            clear = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
            text = axes.text(*middle, plain_text(who), ha="center", va="center", fontsize=8.5, bbox=clear)
            text.set(color=style["color"], rotation=90 if x0 == x1 else 0)
    for name, (x, y) in place.items():
        frame = {"boxstyle": "round" if long else "circle", "facecolor": "white", "edgecolor": "0.3", "linewidth": 0.9}
        axes.text(x, y, plain_text(name), ha="center", va="center", fontsize=7.5 if long else 9, bbox=frame)
    sample = max(place, key=lambda name: len({*values[name]}))
    whose = ", ".join(f"{named[letter]} has {values[sample][letter]}" for letter in sorted(named))
    each = 2 * len(table) // len(place)
    headline(
        figure,
        title or f"Each of {len(place)} databases has {each} neighbor{'s' * (each > 1)}: one individual changes",
        after(f"{plain_text(sample)}: {plain_text(whose)}", source),
    )
    axes.set(xlim=(-left, right), ylim=(low, -0.18), aspect="equal")
    axes.axis("off")
    return figure


def neighbors_in_words(table: pd.DataFrame) -> str:
    """What :func:`draw_neighbors` shows of a table, for those who do not see it.

    >>> neighbors_in_words(neighbor_table("ab", ["Bob"]))
    'A grid of 2 databases; 1 line joins those that differ in one individual.'
    """
    size = len({*table["from"], *table["to"]})
    lines = f"{len(table)} line{'s' * (len(table) != 1)} join{'s' * (len(table) == 1)}"
    return f"A grid of {size} databases; {lines} those that differ in one individual."


def scaled_in_words(table: pd.DataFrame) -> str:
    """What :func:`draw_scaled` shows of a table, for those who do not see it.

    >>> scaled_in_words(scaled_table("ab", 1, np.log(3)))
    'A matrix of 2 true by 2 published databases; entries fall by e^epsilon with each individual that differs, from 3/4 to 1/4.'
    """
    size = table["database"].nunique()
    high, low = (number_text(float(value)) for value in (table["exact"].max(), table["exact"].min()))
    falling = "entries fall by e^epsilon with each individual that differs"
    return f"A matrix of {size} true by {size} published databases; {falling}, from {high} to {low}."


def scale_table(values: int, records: int, leakage: float) -> pd.DataFrame:
    """The largest entry of the matrix of Example 1, and the sum of a row, with three scales; the leakage is in nats.

    Rows: ``correct``, ``printed in Example 1``, ``printed in the proof``. Columns: ``scale``, ``largest entry``, ``row sum``.

    >>> scale_table(3, 2, np.log(2)).round(4).to_numpy().tolist()[:2]
    [['correct', 0.25, 1.0], ['printed in Example 1', 1.5, 6.0]]
    """
    said: dict[str, Literal["corrected", "example", "printed"]] = {
        "correct": "corrected",
        "printed in Example 1": "example",
        "printed in the proof": "printed",
    }
    rows = []
    for name, reading in said.items():
        first = alvim2011.proposition_1(values, records, leakage, reading)[0]
        rows.append((name, first.max(), first.sum()))
    return rounded(pd.DataFrame(rows, columns=["scale", "largest entry", "row sum"]), 8)


@drawing("database", "published", "distance", "exact", "printed")
def draw_scaled(table: pd.DataFrame, title: str = "", subtitle: str = "", source: str = "") -> Figure:
    """The matrix in units of its largest entry a, beside what these are exactly and with the printed scale.

    ``table`` is as of :func:`scaled_table`. The headline says what a row sums to with each scale, or ``title``. Raises
    ValueError if a column is missing.
    """
    names = list(dict.fromkeys(table["database"]))
    distances = table["distance"].to_numpy(int).reshape(len(names), -1)
    kinds = table.drop_duplicates("distance").sort_values("distance")
    sums = table[table["database"] == names[0]][["exact", "printed"]].sum()
    exact, printed = ([number_text(float(value)) for value in (*kinds[column], sums[column])] for column in sums.index)
    figure = Figure(figsize=(PAGE, 4.3), layout="constrained")
    axes, key = figure.subplots(1, 2, width_ratios=(1.3, 1))
    headline(
        figure,
        title or f"With the printed scale a row sums to {printed[-1]} in place of {exact[-1]}",
        after(
            f"Printed $a = {printed[0]}$, correct $a = {exact[0]}$" + (subtitle and f"; {subtitle}"),
            source and f"{source}, rows and columns in its order",
        ),
    )
    middle: Any = {"ha": "center", "va": "center"}
    for (y, x), distance in np.ndenumerate(distances):
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=_shade(distance), edgecolor="0.7", linewidth=0.6))
        axes.text(x + 0.5, y + 0.5, _power(distance), fontsize=8, **middle)
    axes.set(xlim=(0, len(names)), ylim=(len(names), 0), aspect="equal", xlabel="published", ylabel="true database")
    turned = 90 if max(map(len, names)) > _FIT else 0
    axes.set_xticks(np.arange(len(names)) + 0.5, [plain_text(name) for name in names], rotation=turned)
    axes.set_yticks(np.arange(len(names)) + 0.5, [plain_text(name) for name in names])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)

    lines = [("entry", "exact", "as printed")]
    entries = [*(_power(int(distance)) for distance in kinds["distance"]), "sum of a row"]
    lines += list(zip(entries, exact, printed, strict=True))
    for y, line in enumerate(lines):
        if 0 < y < len(lines) - 1:
            key.add_patch(
                Rectangle((0.05, y + 0.08), 0.9, 0.84, facecolor=_shade(y - 1), edgecolor="0.7", linewidth=0.6)
            )
        for x, text in zip((0.5, 1.5, 2.5), line, strict=True):
            weight = "bold" if y == len(lines) - 1 and x > 1 else "normal"
            key.text(x, y + 0.5, text, fontsize=9, weight=weight, color=PRINTED.color if x > 2 else "black", **middle)
    for y in (1, len(lines) - 1):
        key.plot([0, 3], [y, y], color="0.5", linewidth=0.8)
    key.set(xlim=(0, 3), ylim=(len(lines) + 1.5, -1.5))
    key.axis("off")
    return figure


def _names(values: Sequence[Hashable], records: int) -> list[str]:
    between = "" if all(len(str(value)) == 1 for value in values) else ","
    return [between.join(map(str, database)) for database in databases(values, records)]


def _power(distance: int) -> str:
    """Entry at a distance in units of the largest."""
    return "$a$" if distance == 0 else r"$a/e^{\epsilon}$" if distance == 1 else rf"$a/e^{{{distance}\epsilon}}$"


def _shade(distance: int) -> str:
    return ("#9CC7E4", "#D6E8F4", "#FFFFFF")[min(distance, 2)]
