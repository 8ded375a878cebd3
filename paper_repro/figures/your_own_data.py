"""A column of one's own: which categories its mechanisms keep, and what is estimated from what was published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.figures.curves import Cited, capitalized, cited_as
from paper_repro.figures.layout import COLUMN, PAGE, headline
from paper_repro.figures.registry import COLORS, MARKERS
from paper_repro.figures.style import canvas, drawing, rounded
from paper_repro.mechanisms import Mechanism

__all__ = [
    "cited_figure",
    "draw_estimates",
    "draw_kept",
    "estimates_table",
    "finding_of_estimates",
    "finding_of_kept",
    "finding_of_knowing",
    "kept_table",
    "rows_of",
]

_FEW = 8  # categories whose names fit below a column's plot
_SAVED = 1e-4  # nats


def cited_figure(table: str, column: str) -> Cited:
    """How file names begin: for the table and column that are there by default, and for others.

    >>> cited_figure("surveys/answers.csv", "pets").name
    'your_own_column_answers_pets'
    """
    return cited_as(
        {("hair_and_eye_color", "eye_color"): Cited("your_own_column")},
        Path(table).stem,
        column,
        kind="your_own_column",
    )


def rows_of(table: pd.DataFrame, counted: str = "") -> pd.DataFrame:
    """A row for each record of a table whose column ``counted`` tells how many each of its rows stands for; if empty, one each.

    Raises ValueError if there is no such column, or what it has are no whole numbers >= 0.

    >>> rows_of(pd.DataFrame({"eyes": ["blue", "brown"], "people": [2, 1]}), "people")["eyes"].tolist()
    ['blue', 'blue', 'brown']
    """
    if not counted:
        return table
    if counted not in table.columns:
        raise ValueError(
            f"the table has no column {counted!r} of numbers of records; it has {', '.join(table.columns)}"
        )
    numbers = table[counted].to_numpy()
    if numbers.dtype.kind not in "iu" or (numbers < 0).any():
        raise ValueError(
            f"column {counted!r} must have whole numbers of records >= 0, got {table[counted].tolist()[:5]!r}"
        )
    return table.loc[table.index.repeat(numbers)].drop(columns=counted).reset_index(drop=True)


def finding_of_knowing(table: pd.DataFrame, known: str, letters: int) -> str:
    """From which distortion on it helps to know what is known of a column, and by how much at most, in a sentence.

    ``table`` is as of :func:`paper_repro.figures.curves.curve_table`, for differential privacy; who knows nothing needs
    ``log((M - 1)(1 - D) / D)`` nats, by randomized response.

    >>> from paper_repro import DifferentialPrivacy, SourceSet
    >>> from paper_repro.figures.curves import curve_table
    >>> table = curve_table([SourceSet([0.7, 0.2, 0.1], name="known")], [DifferentialPrivacy()], 0.02, 0.9)
    >>> finding_of_knowing(table, "known", 3)
    'Knowing the column saves leakage from $D = 0.2$ on, up to 1.54 nats'
    """
    least = table[table["source_set"] == known].groupby("distortion")["leakage"].min()
    changed = least.index.to_numpy()
    saved = np.maximum(np.log((letters - 1) * (1 - changed) / changed), 0.0) - least.to_numpy()
    helps = saved > _SAVED
    if not helps.any():
        return "Knowing so much of the column saves no leakage at any distortion shown"
    start = changed[max(int(helps.argmax()) - 1, 0)]
    return f"Knowing the column saves leakage from $D = {start:.3g}$ on, up to {saved.max():.2f} nats"


def kept_table(mechanisms: Mapping[str, Mechanism], frequencies: ArrayLike) -> pd.DataFrame:
    """With which chance each mechanism publishes each category as it is, likeliest category first, one pair a row.

    Columns: ``category``, ``frequency``, ``mechanism``, ``kept``, all probabilities. Frequencies have shape (M,).

    >>> kept_table({"constant": Mechanism.constant([0, 1])}, [0.25, 0.75]).values.tolist()
    [['1', 0.75, 'constant', 1.0], ['0', 0.25, 'constant', 0.0]]
    """
    shares = np.asarray(frequencies, dtype=float)
    order = np.argsort(-shares, kind="stable")
    frames = [
        pd.DataFrame(
            {
                "category": [str(mechanism.labels[place]) for place in order.tolist()],
                "frequency": shares[order],
                "mechanism": name,
                "kept": (1 - mechanism.distortions)[order],
            }
        )
        for name, mechanism in mechanisms.items()
    ]
    return rounded(pd.concat(frames, ignore_index=True), 9)


@drawing("category", "mechanism", "kept")
def draw_kept(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """The chance to be kept, a mark for each category and mechanism; those never published are on the axis, hollow.

    ``table`` is as of :func:`kept_table`; the title is by default :func:`finding_of_kept`. Raises ValueError if a column is
    missing.
    """
    names = list(dict.fromkeys(table["category"]))
    figure, axes = canvas(COLUMN if len(names) <= _FEW else PAGE, 3.0 if len(names) <= _FEW else 3.8)
    for place, (name, rows) in enumerate(table.groupby("mechanism", sort=False)):
        color, kept = COLORS[place], rows["kept"].to_numpy()
        xs = np.array([names.index(category) for category in rows["category"]])
        some = kept > 0
        axes.plot(xs[some], kept[some], color=color, marker=MARKERS[place], ms=4.5, ls="", label=name, clip_on=False)
        axes.plot(xs[~some], kept[~some], color=color, marker=MARKERS[place], ms=4.5, mfc="white", ls="", clip_on=False)
    axes.set(ylabel="probability to be kept")
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0)
    _name_categories(axes, names)
    headline(figure, title or finding_of_kept(table), subtitle)
    axes.legend(fontsize=8)
    return figure


def finding_of_kept(table: pd.DataFrame) -> str:
    """How many categories the mechanism that drops most of them never publishes, in a sentence.

    >>> finding_of_kept(kept_table({"a constant": Mechanism.constant([0, 1])}, [0.25, 0.75]))
    'A constant never publishes 1 of 2 categories'
    """
    lost = (table["kept"] == 0).groupby(table["mechanism"], sort=False).sum()
    size = table["category"].nunique()
    if not lost.any():
        return f"Every mechanism publishes all {size} categories"
    return f"{capitalized(str(lost.idxmax()))} never publishes {lost.max()} of {size} categories"


def estimates_table(
    labels: ArrayLike, published: ArrayLike, estimates: ArrayLike, lower: ArrayLike, upper: ArrayLike, true: ArrayLike
) -> pd.DataFrame:
    """What was published of each category, what is estimated from it, and what is true, likeliest category first.

    All have shape (M,) and but for the labels are shares of all records; ``lower`` and ``upper`` are the ends of confidence
    intervals. Columns: ``category``, ``published``, ``estimate``, ``lower``, ``upper``, ``true``.

    >>> estimates_table(["no", "yes"], [0.5, 0.5], [0.4, 0.6], [0.3, 0.5], [0.5, 0.7], [0.45, 0.55])["category"].tolist()
    ['yes', 'no']
    """
    table = pd.DataFrame(
        {
            "category": [str(label) for label in np.asarray(labels, dtype=object)],
            "published": published,
            "estimate": estimates,
            "lower": lower,
            "upper": upper,
            "true": true,
        }
    )
    return rounded(table.sort_values("true", ascending=False, kind="stable").reset_index(drop=True), 9)


@drawing("category", "published", "estimate", "lower", "upper", "true")
def draw_estimates(table: pd.DataFrame, title: str = "", subtitle: str = "") -> Figure:
    """Estimates with their intervals, beside the published and the true shares, category by category.

    Many categories have their errors below, where intervals can be seen. ``table`` is as of :func:`estimates_table`; the title is
    by default :func:`finding_of_estimates`. Raises ValueError if one of its columns is missing.
    """
    size = len(table)
    many = size > _FEW
    figure = Figure(figsize=(PAGE, 4.9) if many else (COLUMN, 3.2), layout="constrained")
    axes, *below = figure.subplots(1 + many, 1, sharex=True, squeeze=False, height_ratios=(1.3, 1)[: 1 + many])[:, 0]
    xs = np.arange(size)
    for name, color, marker, fill in (("true", COLORS[0], "_", "none"), ("published", "#595959", "D", "white")):
        axes.plot(
            xs, table[name], color=color, marker=marker, mfc=fill, ms=9 if marker == "_" else 4, ls="", label=name
        )
    around = np.array([table["estimate"] - table["lower"], table["upper"] - table["estimate"]])
    bars: dict[str, Any] = {"color": COLORS[1], "marker": "o", "ms": 3.5, "ls": "", "lw": 1.2}
    axes.errorbar(xs, table["estimate"], yerr=around, label="estimate, interval", **bars)
    axes.set(ylabel="share of all records", ylim=(min(0.0, float(table["lower"].min())), None))
    for errors in below:
        errors.axhline(0, color=COLORS[0], linewidth=1)
        errors.errorbar(xs, 100 * (table["estimate"] - table["true"]), yerr=100 * around, **bars)
        errors.set(ylabel="estimate less truth\n(percentage points)")
    _name_categories(below[0] if many else axes, list(table["category"]))
    axes.grid(axis="x", visible=False)
    headline(figure, title or finding_of_estimates(table), subtitle)
    axes.legend(fontsize=8)
    return figure


def finding_of_estimates(table: pd.DataFrame) -> str:
    """How far off the published and the estimated shares are at most, in a sentence.

    >>> finding_of_estimates(estimates_table(["no", "yes"], [0.5, 0.5], [0.4, 0.6], [0.3, 0.5], [0.5, 0.7], [0.4, 0.6]))
    'Published shares are off by up to 10 percentage points, estimates by up to 0'
    """
    published, estimated = (
        100 * float((table[name] - table["true"]).abs().max()) for name in ("published", "estimate")
    )
    return f"Published shares are off by up to {published:.2g} percentage points, estimates by up to {estimated:.2g}"


def _name_categories(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(
        range(len(names)), names, rotation=0 if len(names) <= _FEW else 90, fontsize=8 if len(names) <= _FEW else 7
    )
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)
