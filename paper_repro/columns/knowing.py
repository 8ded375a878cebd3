"""What is known of a column: its categories, how often they occur, and the source set that follows from that."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from paper_repro.checks import as_number, shortened
from paper_repro.columns.tables import MISSING, Categories, Table, arrow_module, categories_of, numpy_of
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
                f"{total:,} missing values are published as missing: who has none is not protected, and all counts and "
                "estimates "
                "are of the other rows."
            )
        if self.policy == "category" and MISSING in self.categories.labels:
            found.append("Missing values are a category of their own: who has none is protected as every answer is.")
        odd = [label for label in self.categories.labels if label.strip().lower() in _LOOK_MISSING]
        if odd and len(odd) < len(self.categories.labels):
            found.append(
                f"{shortened(odd)} is taken for a category; if it stands for a missing value, say so: "
                f"missing_values=[{odd[0]!r}]."
            )
        size, rows = len(self.categories.labels), int(self.counts.sum())
        if rows >= _FEW and size * _FEW_ROWS > rows:
            found.append(f"There are {size:,} categories for {rows:,} rows; if they are IDs, name another column.")
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
        Of the column, and of the one that makes the strata.
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
        raise ValueError(f"missing must be 'refuse', 'keep' or 'category', got {missing!r}")
    if by and by == name:
        raise ValueError(
            f"{table.name}: {name!r} cannot be released and make the strata too; name another column for these"
        )
    found = table.counts([by, name] if by else [name])
    by_values, values, counts = (found.column(place).combine_chunks() for place in (0, bool(by), 1 + bool(by)))
    where, counts = f"{table.name}: column {name!r}", numpy_of(counts)
    absent = numpy_of(values.is_null().cast("int8")) > 0
    gone, rows = int(counts[absent].sum()), int(counts.sum())
    if gone == rows:
        raise ValueError(f"{where} has no values: all {rows:,} are missing; name another column")
    if gone and missing == "refuse":
        raise ValueError(
            f"{where}: {gone:,} of {rows:,} values are missing, the first in {table.first(name, None)}; say whether to "
            "keep them "
            "missing (who has none is then not protected) or to make them a category (missing='keep' or missing='category')"
        )
    with_missing = bool(gone) and missing == "category"
    distinct = arrow_module(".compute").unique(values.drop_null())
    distinct = distinct.take(arrow_module(".compute").sort_indices(distinct))
    if labels is None and len(distinct) >= rows / 2 and rows >= _FEW:
        raise ValueError(
            f"{where} has {len(distinct):,} different values in {rows:,} rows and looks like a key or a measurement; "
            "name a column "
            "of categories, group its values, or give its categories as the labels of a source set"
        )
    categories = (
        _given(distinct, labels, where, table, name, with_missing) if labels else _found(distinct, with_missing, where)
    )
    if len(categories.labels) == 1:
        raise ValueError(
            f"{where} has one category, {categories.labels[0]!r}, in all rows: nothing can be hidden; if there are "
            "others that did "
            "not occur, give them as the labels of a source set"
        )
    codes = categories.codes(values)
    strata, rows_of = None, np.zeros(len(codes), dtype=np.intp)
    if by:
        names = arrow_module(".compute").unique(by_values)
        if len(names) > _MOST_STRATA:
            raise ValueError(
                f"{table.name}: column {by!r} would make {len(names):,} strata, each with a mechanism of its own, and at most "
                f"{_MOST_STRATA:,} are made; name a column of fewer values"
            )
        strata = _found(names.drop_null(), bool(names.null_count), f"{table.name}: column {by!r}")
        rows_of = strata.codes(by_values)
    size = 1 if strata is None else len(strata.labels)
    table_of_counts = np.zeros((size, len(categories.labels)), dtype=np.int64)
    np.add.at(table_of_counts, (rows_of[codes >= 0], codes[codes >= 0]), counts[codes >= 0])
    without = np.bincount(rows_of[codes < 0], counts[codes < 0], size).astype(np.int64)
    if not table_of_counts.sum(axis=1).all():
        assert strata is not None
        empty = strata.labels[int(np.flatnonzero(table_of_counts.sum(axis=1) == 0)[0])]
        raise ValueError(f"{where} has no values where {by!r} is {empty!r}: all are missing; leave that stratum out")
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
            f"{where} is of type {distinct.type}, and the source set's categories are {shortened(named)}; name them as "
            "they are there"
        ) from None
    unknown = arrow_module(".compute").is_in(distinct, value_set=values)
    unseen = distinct.filter(arrow_module(".compute").invert(unknown)).cast(arrow.string())
    if len(unseen):
        first = unseen[0].as_py()
        more = f", as are {len(unseen) - 1:,} others" if len(unseen) > 1 else ""
        raise ValueError(
            f"{where}: {first!r}, in {table.first(name, first)}, is not among the categories given, "
            f"{shortened(named)}{more}; add "
            "it there, or correct the table"
        )
    if with_missing != (MISSING in labels):
        raise ValueError(
            f"{where}: missing values are {'' if with_missing else 'not '}a category here, and the source set has "
            f"{'none' if with_missing else 'one'} named {MISSING!r}; let both agree"
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
    if source in (None, "counts"):
        return SourceSet.from_counts(counts, confidence, method, labels=tuple(labels))
    if source == "frequencies":
        return SourceSet.from_frequencies(counts, tuple(labels))
    if source == "order":
        order = np.argsort(-counts, kind="stable")
        return SourceSet.from_order(tuple(labels[place] for place in order))
    if source == "unknown":
        return SourceSet.unknown(tuple(labels))
    raise ValueError(
        f"source must be a SourceSet, counts by category, the path of a CSV, or one of {', '.join(WORDS)}; got {source!r}"
    )
