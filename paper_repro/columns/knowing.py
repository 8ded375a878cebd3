"""What is known of a column: its categories, how often they occur, and the source set that follows from that."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from paper_repro.checks import as_number, shortened
from paper_repro.columns.tables import MISSING, Categories, Table, arrow_module, categories_of, numpy_of
from paper_repro.errors import Clause, wrong
from paper_repro.knowledge.counts import ConfidenceMethod
from paper_repro.sources import SourceSet
from paper_repro.types import IntArray

__all__ = ["Column", "Policy", "known_labels", "known_source", "read_column"]

Policy = Literal["refuse", "keep", "category"]
# Strata, each with a mechanism of its own; rows from which on a column with half as many categories is a key; and rows of a
# category, of which fewer may be those of a key too.
_MOST_STRATA, _FEW, _FEW_ROWS = 1_000, 100, 10
_LOOK_MISSING = {"na", "n/a", "nan", "null", "none", "?", ".", "-", "unknown", "#n/a"}
WORDS = ("counts", "frequencies", "order", "unknown")
"""What may be known without a file: counts with their confidence, these as exact, their order alone, nothing."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of categories, as it was counted.

    Attributes
    ----------
    table : Table
    name, by : str
        The column; and the column of its strata, empty if there is but one.
    policy : str
        What is done with missing values.
    categories : Categories
    strata : Categories, or None
    counts : ndarray of integers, shape (S, M)
        Rows of each stratum and category.
    missing : ndarray of integers, shape (S,)
    """

    table: Table
    name: str
    by: str
    policy: Policy
    categories: Categories
    strata: Categories | None
    counts: IntArray
    missing: IntArray

    @property
    def notes(self) -> list[str]:
        """What to know of the column, a sentence each."""
        found, total = [], int(self.missing.sum())
        if self.policy == "keep" and total:
            found.append(
                f"{total:,} missing values are published as missing: that a value is missing is not protected, and all counts "
                "and estimates leave these rows out."
            )
        if self.policy == "category" and MISSING in self.categories.labels:
            found.append("Missing values are a category of their own, and protected like every other category.")
        odd = [label for label in self.categories.labels if label.strip().lower() in _LOOK_MISSING]
        if odd and len(odd) < len(self.categories.labels):
            found.append(
                f"{shortened(odd)} is taken as a category. If it means a missing value, add missing_values=[{odd[0]!r}]."
            )
        size, rows = len(self.categories.labels), int(self.counts.sum())
        if rows >= _FEW and size * _FEW_ROWS > rows:
            found.append(f"There are {size:,} categories in {rows:,} rows. If they are IDs, name another column.")
        plain: dict[str, str] = {}
        for label in self.categories.labels if len(self.categories.labels) <= 10_000 else ():
            if (other := plain.setdefault(" ".join(label.lower().split()), label)) != label:
                found.append(f"The categories {other!r} and {label!r} differ in letter case or spaces alone.")
        return found


def read_column(
    table: Table,
    name: str,
    *,
    by: str = "",
    missing: Policy = "refuse",
    missing_labels: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> Column:
    """A column's categories and counts, in one pass.

    Parameters
    ----------
    table : Table
    name, by : str
        Name of the column, and of the column that makes the strata.
    missing : "refuse", "keep" or "category"
    labels : sequence of str, optional
        The categories that there are; any other is refused. By default those in the table, in order.

    Raises
    ------
    ValueError
        If a column is missing; all its values are, or some are, and nothing was said of them; or it has one category, at
        least half as many as rows, or others than the ``labels``.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper_repro.columns.tables import open_table
    >>> column = read_column(open_table(pd.DataFrame({"eyes": ["blue", "brown", "blue"]})), "eyes")
    >>> column.categories.labels, column.counts
    (('blue', 'brown'), array([[2, 1]]))
    """
    if missing not in ("refuse", "keep", "category"):
        raise ValueError(f"missing must be 'refuse', 'keep' or 'category'; got {missing!r}. Choose one of these.")
    if by and by == name:
        raise ValueError(f"by must be another column than the released one; got {by!r} for both. Name another column.")
    found = table.counts([by, name] if by else [name])
    by_values, values, counts = (found.column(place).combine_chunks() for place in (0, bool(by), 1 + bool(by)))
    where, counts = f"column {name!r} of {table.name}", numpy_of(counts)
    absent = numpy_of(values.is_null().cast("int8")) > 0
    gone, rows = int(counts[absent].sum()), int(counts.sum())
    if gone == rows:
        raise ValueError(f"{where} must have values; got {rows:,} missing ones. Name another column.")
    if gone and missing == "refuse":
        raise ValueError(
            f"{where} must have a value in each row; got {gone:,} of {rows:,} values missing, the first in "
            f"{table.first(name, None)}. Add missing='category' to make them a category, or missing='keep' to publish them as "
            "missing, which does not protect them."
        )
    with_missing = bool(gone) and missing == "category"
    distinct = arrow_module(".compute").unique(values.drop_null())
    distinct = distinct.take(arrow_module(".compute").sort_indices(distinct))
    if labels is None and len(distinct) >= rows / 2 and rows >= _FEW:
        raise ValueError(
            f"{where} must have fewer than {rows / 2:,.0f} different values in {rows:,} rows; got {len(distinct):,}, as of a key "
            "or a measurement. Group its values, name another column, or name its categories as labels of a source set."
        )
    categories = (
        _given(distinct, labels, where, table, name, with_missing) if labels else _found(distinct, with_missing, where)
    )
    if len(categories.labels) == 1:
        raise ValueError(
            f"{where} must have two categories or more; got {categories.labels[0]!r} in all rows. If there are others that do "
            "not occur, name them as labels of a source set."
        )
    codes = categories.codes(values)
    strata, rows_of = None, np.zeros(len(codes), dtype=np.intp)
    if by:
        names = arrow_module(".compute").unique(by_values)
        if len(names) > _MOST_STRATA:
            raise ValueError(
                f"by must be a column of at most {_MOST_STRATA:,} values; got {by!r} with {len(names):,}, each of which would "
                "need a mechanism of its own. Name a column of fewer values."
            )
        strata = _found(names.drop_null(), bool(names.null_count), f"column {by!r} of {table.name}")
        rows_of = strata.codes(by_values)
    size = 1 if strata is None else len(strata.labels)
    table_of_counts = np.zeros((size, len(categories.labels)), dtype=np.int64)
    np.add.at(table_of_counts, (rows_of[codes >= 0], codes[codes >= 0]), counts[codes >= 0])
    without = np.bincount(rows_of[codes < 0], counts[codes < 0], size).astype(np.int64)
    if not table_of_counts.sum(axis=1).all():
        assert strata is not None
        empty = strata.labels[int(np.flatnonzero(table_of_counts.sum(axis=1) == 0)[0])]
        raise ValueError(
            f"{where} must have values in each stratum; got none where {by!r} is {empty!r}. Leave these rows out, or add "
            "missing='category'."
        )
    return Column(table, name, by, missing, categories, strata, table_of_counts, without)


def _found(values: Any, with_missing: bool, where: str) -> Categories:
    if with_missing:
        arrow = arrow_module()
        values = arrow.concat_arrays([values, arrow.nulls(1, values.type)])
    return categories_of(values, where)


def _given(distinct: Any, labels: Sequence[str], where: str, table: Table, name: str, with_missing: bool) -> Categories:
    arrow = arrow_module()
    named = [label for label in labels if label != MISSING]
    try:
        values = arrow.array(named, type=arrow.string()).cast(distinct.type)
    except arrow.ArrowException:
        raise ValueError(
            f"labels of the source set must be values of {where}, of type {distinct.type}; got {shortened(named)}. Name the "
            "categories as they are in the column."
        ) from None
    unknown = arrow_module(".compute").is_in(distinct, value_set=values)
    unseen = distinct.filter(arrow_module(".compute").invert(unknown)).cast(arrow.string())
    if len(unseen):
        first = unseen[0].as_py()
        more = f", and {len(unseen) - 1:,} others" if len(unseen) > 1 else ""
        raise ValueError(
            f"values of {where} must be among the categories given, {shortened(named)}; got {first!r} in "
            f"{table.first(name, first)}{more}. Add it to the categories, or correct the table."
        )
    if with_missing != (MISSING in labels):
        raise ValueError(
            f"labels of the source set must {'' if with_missing else 'not '}contain {MISSING!r}, since missing values of "
            f"{where} are {'' if with_missing else 'not '}a category; got {shortened(labels)}. "
            f"{'Add it' if with_missing else 'Leave it out'}, or take missing={'keep' if with_missing else 'category'!r}."
        )
    return _found(values, with_missing, where)


def known_labels(source: Any) -> list[str] | None:
    """The categories that a source set names, as texts, shape (M,); None if it follows from the column, or names none.

    >>> known_labels(SourceSet([0.5, 0.5], labels=["no", "yes"]))
    ['no', 'yes']
    """
    if isinstance(source, Mapping) or hasattr(source, "to_dict"):
        return [str(label) for label in dict(source)]
    if not isinstance(source, SourceSet) or isinstance(source.labels, range):
        return None
    return [str(label) for label in source.labels]


def known_source(
    source: Any,
    counts: IntArray,
    labels: Sequence[str],
    *,
    confidence: float = 0.95,
    method: ConfidenceMethod = "clopper-pearson",
) -> SourceSet:
    """The source set of a column, or of one stratum of it.

    Parameters
    ----------
    source : SourceSet, mapping, pandas Series, or one of the words
        ``"counts"``, the default: what they leave possible at this confidence; ``"frequencies"``: they are the distribution;
        ``"order"``: their order alone is known; ``"unknown"``: nothing is. A mapping has counts, of another survey for
        instance, or probabilities, by category.
    counts : ndarray of integers, shape (M,)
    labels : sequence of M texts
    confidence : float in (0, 1)
        Probability with which all intervals hold at once.
    method : "clopper-pearson", "goodman" or "sison-glaz"
        As of :meth:`SourceSet.from_counts`.

    Raises
    ------
    ValueError
        If it is no source set, or one that does not name its categories.

    Examples
    --------
    >>> known_source("frequencies", np.array([30, 10]), ["blue", "brown"]).vertices
    array([[0.75, 0.25]])
    >>> known_source("order", np.array([10, 30]), ["blue", "brown"]).labels
    ('brown', 'blue')
    """
    if isinstance(source, SourceSet):
        if isinstance(source.labels, range):
            raise ValueError(
                "source must name its categories, so that each probability is that of the category it is meant for; got a "
                f"source set of {source.alphabet_size} categories without labels for the column's {len(labels)}, "
                f"{shortened(labels)}. Give the set its labels, the categories in the order of the probabilities."
            )
        return source
    if isinstance(source, Mapping) or hasattr(source, "to_dict"):
        known: dict[Hashable, float] = {str(label): value for label, value in dict(source).items()}
        if sum(map(as_number, known.values())) < 1.5:
            return SourceSet(known)
        whole = [int(value) if as_number(value).is_integer() else value for value in known.values()]
        return SourceSet.from_counts(whole, confidence, method, labels=tuple(known))
    if source is not None and not isinstance(source, str):
        source = Clause(f"an object of type {type(source).__name__}")
    if source in (None, "counts"):
        return SourceSet.from_counts(counts, confidence, method, labels=tuple(labels))
    if source == "frequencies":
        return SourceSet.from_frequencies(counts, tuple(labels))
    if source == "order":
        order = np.argsort(-counts, kind="stable")
        return SourceSet.from_order(tuple(labels[place] for place in order))
    if source == "unknown":
        return SourceSet.unknown(tuple(labels))
    allowed = f"be a SourceSet, counts by category, the path of a CSV file, or one of {', '.join(WORDS)}"
    raise ValueError(wrong("source", allowed, source, "Give one of these."))
