"""True frequencies estimated from a released column, with confidence intervals, for all records or within groups of them.

There are two ways to estimate, the inverse of the channel (:mod:`paper_repro.columns.inverses`) and the greatest likelihood
(:mod:`paper_repro.columns.likelihood`); how accurate they are is in :mod:`paper_repro.columns.accuracy`.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import (
    check_labels,
    check_same_letters,
    frame_labels,
    shortened,
)
from paper_repro.columns.accuracy import Cell, Of, mechanism_of
from paper_repro.columns.documents import MechanismDocument
from paper_repro.columns.inverses import check_invertible
from paper_repro.columns.tables import MISSING, arrow_module, numpy_of, open_table
from paper_repro.errors import optional
from paper_repro.knowledge.counts import check_confidence, check_counts
from paper_repro.mechanisms import Mechanism
from paper_repro.types import FloatArray, ShownAsTable

__all__ = ["Estimate", "estimate", "estimate_counts", "weights"]

Method = Literal["unbiased", "likelihood"]

# An estimate so many standard deviations below 0 is no chance, in one of 10^9 columns.
_NO_CHANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ShownAsTable):
    """Estimated true frequencies of the categories of a released column, of all records or within groups of them.

    Frequencies are proportions of all records: they sum to 1 over all groups, and within a group to the group's proportion of the
    records, which is known. Divide by this proportion for frequencies within a group.

    Attributes
    ----------
    labels : sequence of M categories
    groups : sequence of G values, or None
        Values of the column that was not changed.
    published : ndarray, shape (M,) or (G, M)
        Records of each category as published.
    frequencies : ndarray, shape (M,) or (G, M)
        Estimated probabilities of the true categories. Unbiased ones may be negative; they sum to 1 even so.
    standard_errors : ndarray, shape (M,) or (G, M)
        Estimated standard deviations of the unbiased estimates, probabilities.
    lower, upper : ndarrays, shape (M,) or (G, M)
        Score intervals, skewness corrected (:mod:`paper_repro.columns.accuracy`): each holds with the ``confidence``.
    effective_sample_sizes : ndarray, shape (M,) or (G, M)
        Unperturbed records that would give the same standard error of each category's frequency in a population.
    confidence : float, a probability
    method : "unbiased" or "likelihood"
    of : "population" or "sample"
        Frequencies that the errors and intervals are for: of the population, or of the released records themselves.
    condition : float, dimensionless
        The largest factor by which errors of published frequencies grow in estimates; 1 if nothing was changed.
    """

    labels: Sequence[Hashable]
    groups: Sequence[Hashable] | None
    published: FloatArray
    frequencies: FloatArray
    standard_errors: FloatArray
    lower: FloatArray
    upper: FloatArray
    effective_sample_sizes: FloatArray
    confidence: float
    method: Method
    of: Of
    condition: float
    _cells: tuple[Cell, ...]

    @property
    def records(self) -> int:
        """n, the number of records."""
        return int(self.published.sum())

    @property
    def counts(self) -> FloatArray:
        """Estimated numbers of records of each category among those released, shape (M,) or (G, M): frequencies times n."""
        return self.frequencies * self.records

    @cached_property
    def total(self) -> Estimate:
        """Estimates for all groups combined, shape (M,): frequencies are sums over the groups."""
        if self.groups is None:
            return self
        together = Cell.sum(self._cells)
        found = _estimate(self.labels, None, self.published.sum(axis=0), (together,), self)
        return replace(found, _cells=self._cells)

    @cached_property
    def misfit(self) -> float:
        """P-value of a test that the column was released with this mechanism, a probability.

        A mechanism cannot publish arbitrary frequencies: where unbiased estimates are negative, even the likeliest true
        frequencies do not reproduce them. The statistic is twice the difference of log-likelihoods, taken as chi-square with as
        many degrees of freedom as the likeliest frequencies have zeros. The p-value is approximate; far below 0.001, the column
        or the mechanism is another one.
        """
        from scipy.special import chdtrc  # scipy.stats takes a second to import

        twice, zeros = 0.0, 0
        for cell in self._cells:
            found, seen = cell.likeliest, cell.published > 0
            expected = cell.channel.published(found)
            twice += 2 * float((cell.published * np.log(cell.published / expected, where=seen, out=expected * 0)).sum())
            zeros += int((found <= 0).sum())
        return float(chdtrc(zeros, max(twice * self.records, 0.0))) if zeros else 1.0

    @property
    def frame(self) -> Any:
        """All as a pandas DataFrame, a row for each category, or each group and category; frequencies are probabilities.

        Raises MissingPackageError without pandas.
        """
        pandas = optional("pandas", "data")
        index = pandas.Index(list(self.labels), name="category")
        if self.groups is not None:
            index = pandas.MultiIndex.from_product([list(self.groups), list(self.labels)], names=["group", "category"])
        return pandas.DataFrame({name: column.ravel() for name, column in self._columns.items()}, index=index)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same as plain dicts, a row each with its ``category`` and, if there are groups, its ``group``."""
        names = [{"category": label} for label in self.labels]
        if self.groups is not None:
            names = [{"group": group} | name for group in self.groups for name in names]
        columns = self._columns
        numbers = zip(*(column.ravel().tolist() for column in columns.values()), strict=True)
        return [name | dict(zip(columns, row, strict=True)) for name, row in zip(names, numbers, strict=True)]

    @property
    def _columns(self) -> dict[str, FloatArray]:
        return {
            "published": self.published.astype(np.int64),
            "frequency": self.frequencies,
            "standard error": self.standard_errors,
            "lower": self.lower,
            "upper": self.upper,
            "effective sample size": self.effective_sample_sizes,
        }

    def __repr__(self) -> str:
        size = f"M={len(self.labels)}" + ("" if self.groups is None else f", groups={len(self.groups)}")
        return f"Estimate(n={self.records}, {size}, {self.method}, {self.confidence:g} intervals of the {self.of})"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        if self.groups is not None:
            return repr(self) + ": frequencies", self.groups, self.labels, self.frequencies
        return repr(self), self.labels, list(self._columns), np.stack(list(self._columns.values()), axis=1)


def estimate(
    data: Any,
    column: str,
    mechanism: Any,
    *,
    confidence: float = 0.95,
    method: Method = "unbiased",
    of: Of = "population",
    by: str | None = None,
    missing: Literal["refuse", "leave out"] | None = None,
    encoding: str = "",
) -> Estimate:
    """True frequencies of the categories of a released column, with confidence intervals.

    Parameters
    ----------
    data : str, Path or DataFrame
        The released table: a CSV or Parquet file, read in batches, or a pandas DataFrame.
    column : str
    mechanism : Mechanism, OptimalMechanism, IntegerSampler, MechanismDocument, or the path of one; or several
        The mechanism with which the column was released. Several, for the values of the column ``by``, are a dict from these
        values, or a list of documents that state their ``stratum``.
    confidence : float, a probability above 0 and below 1
        Confidence level of each interval.
    method : "unbiased" or "likelihood"
        Unbiased estimates, the published frequencies times the inverse of the mechanism's matrix, may be negative for rare
        categories. The likeliest frequencies are not negative. Where no unbiased estimate is negative, both are equal. Intervals
        differ only where they are widened to contain the likeliest frequencies.
    of : "population" or "sample"
        Frequencies that are estimated: of the population that the records were sampled from, or of the released records.
    by : str, optional
        A column that was published as it is. Estimates are made for each of its values, as proportions of all records, so that
        they add up to both margins. The proportion of a value is known: divided by it, estimates and bounds are within the value.
    missing : "refuse" or "leave out", optional
        Treatment of records without a value, where the mechanism has no category for them. By default they are left out if
        the document states that they were kept as they are, and else refused.
    encoding : str, optional
        Encoding of a CSV file; UTF-8 if not given.

    Returns
    -------
    Estimate
        With ``frequencies``, ``standard_errors``, score intervals from ``lower`` to ``upper``, and all of them as ``frame``.

    Raises
    ------
    ValueError
        If the mechanism's matrix is singular, with the sums that can still be estimated; if a published value is no category of
        the mechanism, or missing; if the column or an argument is not valid; as :func:`paper_repro.columns.tables.open_table`.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import math
    >>> import pandas as pd
    >>> from paper_repro import randomized_response
    >>> mechanism = randomized_response(2, math.log(3)).renamed(["no", "yes"])
    >>> released = pd.DataFrame({"answer": ["yes"] * 350 + ["no"] * 650})
    >>> estimate(released, "answer", mechanism).frame[["frequency", "lower", "upper"]].round(3)
              frequency  lower  upper
    category
    no              0.8  0.740  0.858
    yes             0.2  0.142  0.260
    """
    if by == column:
        raise ValueError(
            f"by must be another column than the released one; got {by!r} for both. Name a column that was published as it is."
        )
    columns = [column] if by is None else [by, column]
    table = open_table(data, encoding=encoding)
    table.check_column(column)
    if by is not None:
        table.check_column(by, "by")
    found = table.counts(columns)
    groups = [None] if by is None else _distinct(found.column(0).combine_chunks())
    given = _documents_read(mechanism)
    channels = _of_groups(given, groups, by)
    labels = channels[0].labels
    for channel in channels:
        check_same_letters(labels, channel.labels, "two of the mechanisms")
    policies = [getattr(one, "policy", {}) for one in (given.values() if isinstance(given, Mapping) else [given])]
    kept = any(policy.get("missing") == "keep" for policy in policies)
    how = ("leave out" if kept else "refuse") if missing is None else missing
    counts = _counted(found, columns, groups, labels, f"column {column!r} of {table.name}", how)
    if any("consistent" in str(policy.get("randomness")) for policy in policies):
        warnings.warn(
            "the column was released consistently, so records with the same ID and category were changed together; if there are "
            "many of these, the intervals, which assume independent changes, are too narrow",
            stacklevel=2,
        )
    return _estimates(counts, channels, labels, None if by is None else groups, confidence, method, of)


def estimate_counts(
    counts: ArrayLike | Mapping[Hashable, int],
    mechanism: Any,
    *,
    confidence: float = 0.95,
    method: Method = "unbiased",
    of: Of = "population",
) -> Estimate:
    """True frequencies, estimated as by :func:`estimate`, from how often each category was published.

    Parameters
    ----------
    counts : array_like of int, shape (M,), pandas Series or dict
        In the order of the mechanism's categories; names of a Series or dict may be in any order, and left out where nothing was
        published.
    mechanism, confidence, method, of :
        As of :func:`estimate`; the confidence is a probability.

    Raises
    ------
    ValueError
        If the mechanism's matrix is singular, with the sums that can still be estimated; if a count is no whole number >= 0 or
        all are 0, or their number or names differ from the mechanism's categories; or an argument is not allowed.

    Examples
    --------
    >>> import math
    >>> from paper_repro import randomized_response
    >>> found = estimate_counts([350, 650], randomized_response(2, math.log(3)), of="sample")
    >>> found
    Estimate(n=1000, M=2, unbiased, 0.95 intervals of the sample)
    >>> print(found.frequencies, found.effective_sample_sizes.round(1))
    [0.2 0.8] [175.9 175.9]
    """
    channel = mechanism_of(mechanism)
    given: Any = counts
    own = list(given) if isinstance(given, Mapping) else frame_labels(given)
    table = check_counts(list(given.values()) if isinstance(given, Mapping) else given, own)
    if own is not None and list(own) != list(range(len(own))):
        place = {label: number for number, label in enumerate(channel.labels)}
        for label in own:
            if label not in place:
                raise ValueError(_no_category("counts", label, channel.labels))
        check_labels(own, len(own))
        full = np.zeros(channel.alphabet_size)
        full[[place[label] for label in own]] = table
        table = full
    if len(table) != channel.alphabet_size:
        raise ValueError(
            f"counts must be {channel.alphabet_size} numbers, one for each category of the mechanism; got {len(table)}. Write 0 "
            "for a category that was not published."
        )
    return _estimates(table[np.newaxis], [channel], channel.labels, None, confidence, method, of)


def weights(mechanism: Any) -> Any:
    """Weight of a published record for each category, for analysis elsewhere: the inverse of the mechanism, a DataFrame.

    Row = published category, column = true one. The mean over all records of what they count for a category is its unbiased
    estimate; any table, total or mean of other columns by true category is estimated by weighing records so.

    Parameters
    ----------
    mechanism :
        As of :func:`estimate`.

    Raises
    ------
    ValueError
        If the channel is singular, or has more than 10,000 categories.

    Examples
    --------
    >>> from paper_repro import Mechanism
    >>> weights(Mechanism([[0.75, 0.25], [0.25, 0.75]], labels=["no", "yes"]))
    category    no  yes
    published
    no         1.5 -0.5
    yes       -0.5  1.5
    """
    channel = mechanism_of(mechanism)
    names = list(channel.labels)
    pandas = optional("pandas", "data")
    index, columns = pandas.Index(names, name="published"), pandas.Index(names, name="category")
    return pandas.DataFrame(check_invertible(channel).weights, index=index, columns=columns)


def _documents_read(given: Any) -> Any:
    """A document in place of its path; several by their strata."""
    if isinstance(given, str | Path):
        return MechanismDocument.read(given)
    if not isinstance(given, list | tuple):
        return given
    documents = [_documents_read(one) for one in given]
    if len(documents) == 1 and "stratum" not in getattr(documents[0], "policy", {}):
        return documents[0]
    strata = [getattr(one, "policy", {}).get("stratum") for one in documents]
    if twice := [stratum for stratum in strata if strata.count(stratum) > 1]:
        fix = "Take a dict from values of the column to mechanisms" if twice[0] is None else "Take one for each stratum"
        raise ValueError(f"mechanisms must be of different strata; got two of the stratum {twice[0]!r}. {fix}.")
    return dict(zip(strata, documents, strict=True))


def _of_groups(given: Any, groups: Sequence[Any], by: str | None) -> list[Mechanism]:
    """The mechanism of each group, which may be one for all, or in a dict that says whose each is."""
    if not isinstance(given, Mapping):
        if stratum := getattr(given, "policy", {}).get("stratum"):
            raise ValueError(
                f"mechanism must be one for each stratum; got one, of the stratum {stratum!r}. Take the documents of all strata, "
                f"and by={given.policy['by']!r}."
            )
        return [mechanism_of(given)] * len(groups)
    if by is None:
        raise ValueError(
            f"by must be given for several mechanisms; got none for {shortened(list(given))}. Name the column of the strata."
        )
    made = {group: mechanism_of(one) for group, one in given.items()}
    for group in groups:
        if group not in made and str(group) not in made:
            raise ValueError(
                f"mechanism must be given for each value of {by!r}; got {shortened(list(made))}, and none for {group!r}. Add its "
                "document."
            )
    return [made[group] if group in made else made[str(group)] for group in groups]


def _distinct(values: Any) -> list[Any]:
    return arrow_module(".compute").unique(values).to_pylist()


def _counted(
    found: Any, columns: Sequence[str], groups: Sequence[Any], labels: Sequence[Hashable], what: str, missing: str
) -> FloatArray:
    """Records of each group and category, shape (G, M), from a table of distinct values and their counts."""
    if missing not in ("refuse", "leave out"):
        raise ValueError(f"missing must be 'refuse' or 'leave out'; got {missing!r}. Choose one of the two.")
    values, counted = found.columns[-2:]
    numbers = numpy_of(counted.combine_chunks())
    rows = [None] * len(numbers) if len(columns) == 1 else found.column(0).to_pylist()
    place: dict[Hashable, int] = {str(label): number for number, label in enumerate(labels)}
    place |= {label: number for number, label in enumerate(labels)}
    texts = values.cast(arrow_module().string()).to_pylist()
    of_group = {group: number for number, group in enumerate(groups)}
    counts = np.zeros((len(groups), len(labels)))
    for row, value, text, number in zip(rows, values.to_pylist(), texts, numbers, strict=True):
        letter = place.get(MISSING if value is None else value, place.get(text))
        if letter is not None:
            counts[of_group[row], letter] += number
        elif value is not None:
            raise ValueError(_no_category(what, value, labels))
        elif missing == "refuse":
            raise ValueError(
                f"{what} must have a value in each row; got {number:,} missing values, which are no category of the mechanism. "
                "Take missing='leave out' for the frequencies among the other rows."
            )
    if not counts.any():
        raise ValueError(f"{what} must have values; got none. Name the released column.")
    return counts


def _no_category(what: str, value: object, labels: Sequence[Hashable]) -> str:
    return (
        f"values of {what} must be categories of the mechanism, {shortened(labels)}; got {value!r}. Take the mechanism that this "
        "column was released with."
    )


def _estimates(
    counts: FloatArray,
    mechanisms: Sequence[Mechanism],
    labels: Sequence[Hashable],
    groups: Sequence[Hashable] | None,
    confidence: float,
    method: Method,
    of: Of,
) -> Estimate:
    for name, value, allowed in (("method", method, get_args(Method)), ("of", of, get_args(Of))):
        if value not in allowed:
            raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}; got {value!r}. Choose one of the two.")
    level = check_confidence(confidence)
    inverses = {id(channel): check_invertible(channel) for channel in mechanisms}
    records = float(counts.sum())
    cells = tuple(
        Cell(row / records, inverses[id(channel)], records) for row, channel in zip(counts, mechanisms, strict=True)
    )
    condition = max(inverse.condition for inverse in inverses.values())
    asked = _Asked(level, method, of, condition)
    found = _estimate(labels, groups, counts if groups is not None else counts[0], cells, asked)
    _warn_of_noise(found)
    return found


@dataclass(frozen=True)
class _Asked:
    confidence: float
    method: Method
    of: Of
    condition: float


def _estimate(
    labels: Sequence[Hashable],
    groups: Sequence[Hashable] | None,
    published: FloatArray,
    cells: tuple[Cell, ...],
    asked: _Asked | Estimate,
) -> Estimate:
    variances = np.array([cell.variances(asked.of) for cell in cells])
    in_population = np.array([cell.variances("population") for cell in cells])
    near, records = np.array([cell.near for cell in cells]), cells[0].records
    lower, upper = np.array([cell.interval(asked.of, asked.confidence) for cell in cells]).swapaxes(0, 1)
    frequencies = np.array([cell.unbiased for cell in cells])
    if asked.method == "likelihood":
        frequencies = np.array([cell.likeliest for cell in cells])
        lower, upper = np.minimum(lower, frequencies), np.maximum(upper, frequencies)
    effective = records * np.divide(near * (1 - near), in_population, out=np.zeros(near.shape), where=in_population > 0)
    only = slice(None) if groups is not None else 0
    return Estimate(
        labels=labels,
        groups=groups,
        published=published,
        frequencies=frequencies[only],
        standard_errors=np.sqrt(variances / records)[only],
        lower=lower[only],
        upper=upper[only],
        effective_sample_sizes=np.minimum(effective, records)[only],
        confidence=asked.confidence,
        method=asked.method,
        of=asked.of,
        condition=asked.condition,
        _cells=cells,
    )


def _warn_of_noise(found: Estimate) -> None:
    if found.condition**2 > found.records:
        warnings.warn(
            f"the inverse of the mechanism's matrix has condition {found.condition:.3g}, too much for {found.records:,} records: "
            f"one standard error is up to {found.standard_errors.max():.2g}",
            stacklevel=4,
        )
    unbiased = np.array([cell.unbiased for cell in found._cells])
    errors = np.sqrt(np.array([cell.variances("sample") for cell in found._cells]) / found.records)
    depth = np.divide(-unbiased, errors, out=np.zeros(unbiased.shape), where=errors > 0)
    if depth.max() > -NormalDist().inv_cdf(_NO_CHANCE / depth.size):
        letter = found.labels[int(np.unravel_index(depth.argmax(), depth.shape)[1])]
        warnings.warn(
            f"{letter!r} was published less often than this mechanism publishes it by chance, by {depth.max():.0f} standard "
            "errors; check that the column was released with this mechanism",
            stacklevel=4,
        )
