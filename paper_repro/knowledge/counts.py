"""Confidence intervals for the probabilities of M categories at once, from how often each was counted in a sample.

| method | where its confidence holds | how wide |
|---|---|---|
| ``clopper-pearson`` | always: exact binomial intervals, each at level ``1 - alpha / M`` (Bonferroni) | widest |
| ``goodman`` | in the limit: score intervals with Bonferroni (Goodman 1965); counts of 5 and more | narrower |
| ``sison-glaz`` | in the limit: one width for all (Sison and Glaz 1995); 7 categories, counts of 5 and more | narrow |

Score intervals of rare categories miss: one that was counted once has a lower bound above 0, and of many such categories some
do occur by chance. So with 40 of 50 categories expected 0.07 times each, Goodman's intervals hold all at once in 6 % of
samples instead of 95 %; those of Clopper and Pearson in 98 % (``tests/test_knowledge.py`` measures both).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import as_number, check_between, check_labels
from paper_repro.errors import Clause, optional, wrong
from paper_repro.types import FloatArray

__all__ = ["ConfidenceMethod", "check_confidence", "check_counts", "confidence_intervals"]

ConfidenceMethod = Literal["clopper-pearson", "goodman", "sison-glaz"]

# What statsmodels takes about a minute for: half widths it tries, in records, times categories.
_MOST_TRIED = 10_000


def confidence_intervals(
    counts: ArrayLike,
    confidence: float = 0.95,
    method: ConfidenceMethod = "clopper-pearson",
    labels: Sequence[Hashable] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the probabilities of all categories at once, two arrays of shape (M,): see the head of this module.

    The approximate ones are those of statsmodels (``multinomial_proportions_confint``); a UserWarning says where counts are too
    small for an approximation.

    Parameters
    ----------
    counts : array_like of int, shape (M,)
    confidence : float, a probability above 0 and below 1
    method : "clopper-pearson", "goodman" or "sison-glaz"
    labels : sequence of M hashables, optional
        What errors call the categories.

    Returns
    -------
    lower, upper : ndarrays, shape (M,)
        In [0, 1]; the frequencies counted lie between them.

    Raises
    ------
    ValueError
        As of :func:`check_counts` and :func:`check_confidence`; if the method is none of the three; or if ``sison-glaz``
        would take more than about a minute, or finds no width.

    Examples
    --------
    >>> lower, upper = confidence_intervals([56, 72, 73, 59, 62, 87, 58], method="goodman")
    >>> print(lower.round(3), upper.round(3))
    [0.085 0.115 0.116 0.091 0.096 0.143 0.089] [0.166 0.204 0.207 0.173 0.181 0.239 0.171]
    """
    counted = check_counts(counts, labels)
    alpha = 1 - check_confidence(confidence)
    if not isinstance(method, str) or method not in get_args(ConfidenceMethod):
        raise ValueError(wrong("method", f"be one of {', '.join(get_args(ConfidenceMethod))}", method))
    size, records = len(counted), counted.sum()
    if method == "clopper-pearson":
        different, place = np.unique(counted, return_inverse=True)
        found = _binomial_intervals(different, float(records), alpha / size)
        return _around(counted / records, *(bound[place] for bound in found))
    if method == "sison-glaz":
        _check_time(counted, alpha)
    least, fewest = int(counted.min()), 7 if method == "sison-glaz" else 1
    if least < 5 or size < fewest:
        rule = "at least 7 categories and counts of at least 5" if method == "sison-glaz" else "counts of at least 5"
        warnings.warn(
            f"The intervals of method={method!r} are approximations for {rule}; got {size} categories with counts from {least} "
            "on. They may hold much less often than the confidence says. Take method='clopper-pearson', which always keeps the "
            "confidence.",
            stacklevel=3,
        )
    proportion = optional("statsmodels.stats.proportion", "data")
    try:
        with np.errstate(all="ignore"):
            found = proportion.multinomial_proportions_confint(counted, alpha, method).T
    except Exception:  # statsmodels raises no other where it finds no width
        raise ValueError(
            wrong(
                "counts",
                f"have intervals under method={method!r}",
                Clause("counts for which statsmodels finds none"),
                "Take method='goodman'.",
            )
        ) from None
    return _around(counted / records, *found)


def _binomial_intervals(counts: FloatArray, records: float, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Exact two-sided intervals of single probabilities (Clopper and Pearson 1934): quantiles of the beta distribution.

    Those of ``proportion_confint`` of statsmodels, which takes seconds to import, and a test compares them.
    """
    from scipy.special import betainccinv, betaincinv

    rest = records - counts
    lower = betaincinv(np.maximum(counts, 1), rest + 1, alpha / 2)
    upper = betainccinv(counts + 1, np.maximum(rest, 1), alpha / 2)
    return np.where(counts > 0, lower, 0.0), np.where(rest > 0, upper, 1.0)


def _around(frequencies: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The bounds without what rounding takes off them: in [0, 1], and around what was counted."""
    return np.clip(np.minimum(lower, frequencies), 0, 1), np.clip(np.maximum(upper, frequencies), 0, 1)


def _check_time(counts: FloatArray, alpha: float) -> None:
    from scipy.special import ndtri

    width = -float(ndtri(alpha / (2 * len(counts)))) * math.sqrt(counts.max())
    if len(counts) * width > _MOST_TRIED:
        raise ValueError(
            wrong(
                "method",
                f"be 'goodman' or 'clopper-pearson' for {len(counts)} categories of up to {counts.max():.0f} records",
                "sison-glaz",
                f"It would try about {width:.0f} widths, which takes minutes or more.",
            )
        )


def check_confidence(confidence: float) -> float:
    """A confidence level, a probability, as a float. Raises ValueError unless it is above 0 and below 1.

    >>> check_confidence(0.95)
    0.95
    """
    allowed, fix = "a probability above 0 and below 1, such as 0.95", "Divide by 100 if it is a percentage."
    return check_between(confidence, allowed, math.nextafter(0, 1), math.nextafter(1, 0), "confidence", fix)


def check_counts(counts: ArrayLike, labels: Sequence[Hashable] | None = None) -> FloatArray:
    """Counts of records, shape (M,), dimensionless, as floats that are whole numbers.

    Raises ValueError unless they are whole numbers >= 0 in one row, and one is positive.

    >>> check_counts([3, 0, 2.0])
    array([3., 0., 2.])
    """
    table: Any = np.ma.asarray(counts)
    if table.ndim != 1 or not table.size:
        raise ValueError(
            wrong(
                "counts",
                "be one number of records for each category, in one row",
                Clause(f"shape {table.shape}"),
                "For the hull of several years write SourceSet(frame), with a row of frequencies for each year.",
            )
        )
    names = check_labels(labels, table.size)
    if table.dtype.kind not in "fiu" or np.ma.is_masked(table):
        table = table.astype(object).filled(math.nan)
        for name, count in zip(names, table, strict=True):
            try:
                as_number(count)
            except TypeError:
                raise ValueError(_no_count(name, count)) from None
        table = [as_number(count) for count in table]
    found = np.asarray(table, dtype=float)
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0) & (found == np.floor(found))))
    if len(bad):
        raise ValueError(_no_count(names[bad[0]], float(found[bad[0]])))
    if not found.any():
        raise ValueError(
            wrong(
                "counts",
                "include a number above 0",
                Clause("only zeros"),
                "If nothing is known, write SourceSet.unknown(labels).",
            )
        )
    return found


def _no_count(name: Hashable, count: object) -> str:
    fix = "Give frequencies times the number of records, not rounded weights."
    return wrong(f"counts: category {name!r}", "be a whole number of records, at least 0", count, fix)
