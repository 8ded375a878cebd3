"""A column of one's own: an earlier survey, what knowing it saves, which categories are kept, and estimates of the shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from paper_repro.checks import check_between
from paper_repro.columns.estimable import estimable
from paper_repro.figures.curves import Cited, add_curve, capitalized, cited_as
from paper_repro.figures.layout import COLUMN, PAGE, headline, label_lines
from paper_repro.figures.registry import COLORS, DASHES, MARKERS
from paper_repro.figures.style import DISTORTION, LEAKAGE, canvas, drawing, rounded
from paper_repro.mechanisms import Mechanism, randomized_response
from paper_repro.paths import ROOT
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

__all__ = [
    "ESTIMATES_CAPTION",
    "KEPT_CAPTION",
    "KNOWING_CAPTION",
    "cited_figure",
    "draw_estimates",
    "draw_kept",
    "draw_knowing",
    "estimates_in_words",
    "estimates_subtitle",
    "estimates_table",
    "fewest_inside",
    "finding_of_estimates",
    "finding_of_kept",
    "finding_of_knowing",
    "inside_count",
    "kept_in_words",
    "kept_table",
    "knowing_in_words",
    "knowing_subtitle",
    "known_set",
    "rows_of",
    "surveys",
    "variance_table",
]

KNOWING_CAPTION = (
    "Above: the least leakage at each distortion, dashed if nothing is known and solid for the source set of the earlier survey. "
    "Below: the leakage that the earlier survey saves, the difference of the two curves; the dot marks its maximum"
)
"""How to read the picture of :func:`draw_knowing`."""

KEPT_CAPTION = (
    "Each mark is the probability with which a mechanism publishes a category unchanged, most frequent category first. A hollow "
    "mark on the axis is a suppressed category: the mechanism never publishes it"
)
"""How to read the picture of :func:`draw_kept`."""

ESTIMATES_CAPTION = (
    "A black bar is the true share of a category, a grey diamond its share in the published column, and a blue dot the estimate "
    "from the published column with its confidence interval"
)
"""How to read the picture of :func:`draw_estimates`."""

_FEW = 8  # categories whose names fit below a column's plot
_SAVED = 1e-4  # nats
_UNLIKELY = 1e-3  # chance that a right confidence level is taken for a wrong one


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


def surveys(
    table: pd.DataFrame, column: str, counted: str = "", earlier: Sequence[object] = ()
) -> tuple[pd.Series | None, pd.DataFrame]:
    """Counts of the categories in an earlier survey, and the records whose column is to be released.

    Parameters
    ----------
    table : DataFrame
    column : str
        The column of categories.
    counted : str
        As of :func:`rows_of`.
    earlier : sequence
        Another column and a value of it: the records of the table with this value are the earlier survey, and the others are
        released. Or the path of a CSV alone, which has the records of the earlier survey; a relative path is looked for in the
        current folder, then in the checkout. Empty: there is no earlier survey.

    Returns
    -------
    Series or None, DataFrame
        Counts by category, most frequent first; 0 for one that only the column to be released has. None without an earlier
        survey.

    Raises
    ------
    ValueError
        If a column is missing, or no record is left in one of the two parts.
    FileNotFoundError
        If there is no such CSV.

    >>> table = pd.DataFrame({"eyes": ["blue", "brown", "blue"], "year": [1, 1, 2], "people": [3, 5, 2]})
    >>> counts, people = surveys(table, "eyes", "people", ["year", 1])
    >>> counts.to_dict(), len(people)
    ({'brown': 5, 'blue': 3}, 2)
    """
    people = rows_of(table, counted)
    if column not in people.columns:
        raise ValueError(f"column must be one of {', '.join(people.columns)}; got {column!r}")
    if not earlier:
        return None, people
    said, (first, *value) = f"earlier must be [column, value], [CSV] or empty; got {list(earlier)!r}", map(str, earlier)
    if len(value) > 1:
        raise ValueError(f"{said}. Leave something out.")
    if value:
        if first not in people.columns:
            raise ValueError(f"{said}, and the table has no column {first!r}. It has {', '.join(people.columns)}.")
        then = people[first].astype(str) == value[0]
        before, people = people[then], people[~then].reset_index(drop=True)
    else:
        path = Path(first)
        read = pd.read_csv(path if path.is_file() else ROOT / path, comment="#")
        before = rows_of(read, counted if counted in read.columns else "")
        if column not in before.columns:
            raise ValueError(f"{said}, and {first} has no column {column!r}. It has {', '.join(before.columns)}.")
    for part, what in ((before, "the earlier survey"), (people, "the column to release")):
        if part.empty:
            raise ValueError(f"{said}, which leaves no record for {what}. Choose another value.")
    counts = before[column].value_counts()
    missing = [category for category in people[column].unique() if category not in counts.index]
    return counts.reindex([*counts.index, *missing], fill_value=0), people


def known_set(counts: pd.Series | None, categories: Sequence[str], confidence: float) -> SourceSet:
    """The source set of an earlier survey: intervals that hold at once with this probability; all priors without one.

    >>> known_set(pd.Series({"blue": 30, "brown": 50}), [], 0.95), known_set(None, ["blue", "brown"], 0.95).source_class
    (SourceSet(earlier survey: intervals, M=2, Class I), 'I')
    """
    if counts is None:
        return SourceSet.unknown(list(categories), name="no earlier survey")
    return SourceSet.from_counts(counts, confidence, name="earlier survey")


def _saved(table: pd.DataFrame, known: str, letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Distortions, and by how much the least leakage for a set lies below the one if nothing is known, in nats."""
    rows = table[table["source_set"] == known]
    changed, least = rows["distortion"].to_numpy(), rows["leakage"].to_numpy()
    # Where the one curve is 0, the points of the other count.
    zero = changed[least <= _SAVED].min(initial=np.inf)
    more = table["distortion"][(table["distortion"] > zero) & (table["source_set"] != known)].to_numpy()
    order = np.argsort(np.append(changed, more), kind="stable")
    changed, least = np.append(changed, more)[order], np.append(least, np.zeros(len(more)))[order]
    with np.errstate(divide="ignore"):
        return changed, np.maximum(np.log((letters - 1) * (1 - changed) / changed), 0.0) - least


def finding_of_knowing(table: pd.DataFrame, known: str, letters: int) -> str:
    """How much leakage an earlier survey saves at most, in a sentence.

    ``table`` is as of :func:`paper_repro.figures.curves.curve_table`, for differential privacy; if nothing is known, the least
    is ``log((M - 1)(1 - D) / D)`` nats, by randomized response.

    >>> from paper_repro import DifferentialPrivacy
    >>> from paper_repro.figures.curves import curve_table
    >>> table = curve_table([SourceSet([0.7, 0.2, 0.1], name="known")], [DifferentialPrivacy()], 0.02, 0.9)
    >>> finding_of_knowing(table, "known", 3)
    'The earlier survey saves up to 1.54 nats of leakage'
    """
    saved = _saved(table, known, letters)[1].max()
    if saved <= _SAVED:
        return "The earlier survey saves no leakage at any distortion shown"
    return f"The earlier survey saves up to {saved:.2f} nats of leakage"


def _start(changed: np.ndarray, saved: np.ndarray) -> float:
    """The largest distortion of a table up to which nothing is saved."""
    return float(changed[max(int((saved > _SAVED).argmax()) - 1, 0)])


@drawing("source_set", "distortion", "leakage", "end")
def draw_knowing(table: pd.DataFrame, known: str, unknown: str, letters: int, subtitle: str = "") -> Figure:
    """Least leakage with and without an earlier survey, and below it the difference of the two curves.

    ``table`` is as of :func:`paper_repro.figures.curves.curve_table` for the sets of the two names, for differential privacy. The
    title is :func:`finding_of_knowing`. Raises ValueError if a column is missing.
    """
    figure = Figure(figsize=(PAGE, 4.6), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    for place, (name, said) in enumerate(((known, "earlier survey known"), (unknown, "nothing known"))):
        style: dict[str, Any] = {"color": COLORS[1 - place], "linestyle": DASHES[place], "linewidth": 1.6}
        add_curve(axes, table[table["source_set"] == name], "leakage", gid=name, label=said, **style)
    changed, saved = _saved(table, known, letters)
    below.fill_between(changed, saved, color=COLORS[1], alpha=0.25, linewidth=0)
    below.plot(changed, saved, color=COLORS[1], linewidth=1.2, label="_saved")
    if saved.max() > _SAVED:
        most, start = int(saved.argmax()), _start(changed, saved)
        below.plot(changed[most], saved[most], "o", color=COLORS[1], ms=5, label="_most")
        side: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
        told = f"{saved[most]:.2f} nats at $D = {changed[most]:.3g}$"
        below.annotate(told, (changed[most], saved[most]), (-8, -3), ha="right", va="center", **side)
        below.annotate(f"from $D = {start:.3g}$", (start, 0.0), (-4, 6), ha="right", **side)
    axes.set(ylabel=LEAKAGE)
    axes.set_ylim(bottom=0)
    below.set(xlabel=DISTORTION, ylabel="saved (nats)", xlim=(0, min(1.0, (letters - 1) / letters + 0.03)))
    below.set_ylim(0, max(1.15 * float(saved.max()), 0.1))
    headline(figure, finding_of_knowing(table, known, letters), subtitle)
    label_lines(axes)
    return figure


def knowing_subtitle(column: str, counts: pd.Series | None, confidence: float) -> str:
    """Subtitle of :func:`draw_knowing`: the column, the earlier survey and its confidence level, a probability.

    >>> knowing_subtitle("eye color", pd.Series([30, 50]), 0.95)
    'Differential privacy; eye color of 80 people in the earlier survey, 95% simultaneous confidence intervals'
    """
    if counts is None:
        return f"Differential privacy; {column}, without an earlier survey"
    people = f"{column} of {int(counts.sum()):,} people in the earlier survey"
    return f"Differential privacy; {people}, {confidence:.0%} simultaneous confidence intervals"


def estimates_subtitle(
    column: str, people: int, distortion: float, confidence: float, table: pd.DataFrame | None = None
) -> str:
    """Subtitle of :func:`draw_estimates` with its probabilities; with a table, how many intervals contain the true share.

    >>> estimates_subtitle("eye color", 279, 0.5, 0.95)
    'Shares by eye color of 279 people, $D = 0.5$; 95% confidence intervals'
    """
    inside = "" if table is None else f", of which {inside_count(table)} of {len(table)} contain the true share"
    return (
        f"Shares by {column} of {people:,} people, $D = {distortion:g}$; {confidence:.0%} confidence intervals{inside}"
    )


def knowing_in_words(table: pd.DataFrame, known: str, letters: int) -> str:
    """What :func:`draw_knowing` shows of a table, for those who do not see it.

    >>> from paper_repro import DifferentialPrivacy
    >>> from paper_repro.figures.curves import curve_table
    >>> table = curve_table([SourceSet([0.7, 0.2, 0.1], name="known")], [DifferentialPrivacy()], 0.02, 0.9)
    >>> knowing_in_words(table, "known", 3).partition(": ")[2]
    'equal up to D = 0.2; the difference is largest at D = 0.3, 1.54 nats.'
    """
    changed, saved = _saved(table, known, letters)
    what = "Two falling curves of the least leakage against the distortion, with and without an earlier survey"
    if saved.max() <= _SAVED:
        return f"{what}: they are equal."
    most = int(saved.argmax())
    return (
        f"{what}: equal up to D = {_start(changed, saved):.3g}; the difference is largest at D = {changed[most]:.3g}, "
        f"{saved[most]:.2f} nats."
    )


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
    """How many categories the mechanism that suppresses most of them never publishes, in a sentence.

    >>> finding_of_kept(kept_table({"a constant": Mechanism.constant([0, 1])}, [0.25, 0.75]))
    'A constant never publishes 1 of 2 categories'
    """
    lost = (table["kept"] == 0).groupby(table["mechanism"], sort=False).sum()
    size = table["category"].nunique()
    if not lost.any():
        return f"Every mechanism publishes all {size} categories"
    return f"{capitalized(str(lost.idxmax()))} never publishes {lost.max()} of {size} categories"


def kept_in_words(table: pd.DataFrame) -> str:
    """What :func:`draw_kept` shows of a table, for those who do not see it.

    >>> kept_in_words(kept_table({"a constant": Mechanism.constant([0, 1])}, [0.25, 0.75]))
    'Probability to be kept of 2 categories: a constant 0 to 1, 1 suppressed.'
    """
    parts = [
        f"{name} {rows['kept'].min():.3g} to {rows['kept'].max():.3g}, {int((rows['kept'] == 0).sum())} suppressed"
        for name, rows in table.groupby("mechanism", sort=False)
    ]
    return f"Probability to be kept of {table['category'].nunique()} categories: {'; '.join(parts)}."


def variance_table(source: SourceSet, distortions: Sequence[float], frequencies: ArrayLike) -> pd.DataFrame:
    """Variance of the estimates from a released column, and from randomized response of the same leakage.

    The released column is drawn through the mixture of :func:`paper_repro.columns.estimable.estimable`. A variance is the sum,
    over the categories, of n times the variance of the unbiased estimate from n independent records of these true
    ``frequencies``, shape (M,).

    Returns
    -------
    DataFrame
        ``distortion``, ``leakage`` in nats, ``released`` and ``randomized response`` (dimensionless), and ``more``, by how many
        percent the first exceeds the second.

    >>> variance_table(SourceSet([0.6, 0.3, 0.1]), [0.3], [0.6, 0.3, 0.1])["more"].round(1).tolist()
    [40.9]
    """
    shares, rows = np.asarray(frequencies, dtype=float), []
    for distortion in distortions:
        found = estimable(optimal_mechanism(source, distortion=distortion))
        even = randomized_response(source.alphabet_size, found.leakage)
        ours, usual = (_variance(mechanism.matrix, shares) for mechanism in (found.mechanism, even))
        rows.append((distortion, found.leakage, ours, usual, 100 * (ours / usual - 1)))
    return rounded(pd.DataFrame(rows, columns=["distortion", "leakage", "released", "randomized response", "more"]), 6)


def _variance(matrix: np.ndarray, shares: np.ndarray) -> float:
    """Variances of the unbiased estimates of all shares, summed, times the number of records."""
    weights = np.linalg.inv(matrix)
    return float((shares @ matrix @ weights**2).sum() - (shares**2).sum())


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
    aside = 0.0 if many else 0.13  # so that marks of few categories do not cover each other
    for name, color, marker, fill, shift in (
        ("true", COLORS[0], "_", "none", 0),
        ("published", "#595959", "D", "white", -aside),
    ):
        axes.plot(
            xs + shift,
            table[name],
            color=color,
            marker=marker,
            mfc=fill,
            ms=(9 if many else 16) if marker == "_" else 4,
            ls="",
            label=name,
        )
    dots: dict[str, Any] = {"color": COLORS[1], "marker": "o", "ms": 3.5, "ls": "", "clip_on": False}
    bars: dict[str, Any] = {"color": COLORS[1], "linewidth": 1.2}
    axes.plot(xs + aside, table["estimate"], label="estimate, interval", **dots)
    axes.vlines(xs + aside, table["lower"], table["upper"], **bars)  # an unbiased estimate can lie outside
    axes.set(
        ylabel="share of all records", ylim=(min(0.0, 1.05 * float(table[["lower", "estimate"]].min().min())), None)
    )
    for errors in below:
        errors.axhline(0, color=COLORS[0], linewidth=1)
        errors.plot(xs, 100 * (table["estimate"] - table["true"]), **dots)
        errors.vlines(xs, *(100 * (table[end] - table["true"]) for end in ("lower", "upper")), **bars)
        errors.set(ylabel="estimate minus true share\n(percentage points)")
    _name_categories(below[0] if many else axes, list(table["category"]))
    axes.grid(axis="x", visible=False)
    if not many:  # room for the key
        axes.set_ylim(top=1.3 * float(table[["upper", "estimate", "published", "true"]].max().max()))
    headline(figure, title or finding_of_estimates(table), subtitle)
    axes.legend(fontsize=8, loc="upper right")
    return figure


def finding_of_estimates(table: pd.DataFrame) -> str:
    """How far off the estimated and the published shares are at most, in a sentence.

    >>> finding_of_estimates(estimates_table(["no", "yes"], [0.5, 0.5], [0.4, 0.6], [0.3, 0.5], [0.5, 0.7], [0.4, 0.6]))
    'Largest error: published shares 10 percentage points, estimates 0 percentage points'
    """
    published, estimated = (
        100 * float((table[name] - table["true"]).abs().max()) for name in ("published", "estimate")
    )
    return f"Largest error: published shares {published:.2g} percentage points, estimates {estimated:.2g} percentage points"


def inside_count(table: pd.DataFrame) -> int:
    """How many intervals of a table as of :func:`estimates_table` contain the true share."""
    return int(((table["lower"] <= table["true"]) & (table["true"] <= table["upper"])).sum())


def fewest_inside(count: int, confidence: float) -> int:
    """Least number of ``count`` intervals that contain the true share, except in 1 of 1,000 runs.

    It is the quantile of a binomial distribution: each interval contains the true share with the probability ``confidence``, and
    the intervals are taken as independent. Raises ValueError if the confidence is not between 0 and 1.

    >>> fewest_inside(51, 0.95), fewest_inside(51, 0.5)
    (43, 15)
    """
    from scipy.special import bdtr  # scipy.stats takes a second to import

    check_between(confidence, "a probability", 0, 1, "confidence")
    return next(inside for inside in range(count + 1) if bdtr(inside, count, confidence) >= _UNLIKELY)


def estimates_in_words(table: pd.DataFrame) -> str:
    """What :func:`draw_estimates` shows of a table, for those who do not see it: numbers of few categories, errors of many.

    >>> words = estimates_in_words(estimates_table(["no"], [0.9], [1.0], [0.8], [1.0], [1.0]))
    >>> words
    'no: true 1.000, published 0.900, estimated 1.000. 1 of 1 intervals contain the true share.'
    """
    inside = f"{inside_count(table)} of {len(table)} intervals contain the true share."
    if len(table) > _FEW:
        return f"Shares of {len(table)} categories. {finding_of_estimates(table)}. {inside}"
    parts = [
        f"{row.category}: true {row.true:.3f}, published {row.published:.3f}, estimated {row.estimate:.3f}"
        for row in table.itertuples()
    ]
    return f"{'; '.join(parts)}. {inside}"


def _name_categories(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(
        range(len(names)), names, rotation=0 if len(names) <= _FEW else 90, fontsize=8 if len(names) <= _FEW else 7
    )
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)
