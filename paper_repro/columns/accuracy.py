r"""How accurate estimates from a released column are, and how accurate they will be.

Record r was published as ``Y_r`` and counts ``W_{Y_r i}`` for category i (:mod:`paper_repro.columns.inverses`). Of n records the
mean of these weights is unbiased, whatever the true frequencies p are. With ``own_i`` and ``other_i``, the mean squares of the
weights of records that are i and that are not, its variance is ``(own_i p_i + other_i (1 - p_i) - g) / n``, where

* ``g = p_i^2`` for the frequencies of a **population**, of which the records are a random sample, and
* ``g = p_i`` for those of the **sample** itself, the very records that were released: only the mechanism is random.

An interval holds all frequencies that the estimate is within so many of *their own* standard deviations of (a score interval,
which for a column without changes is Wilson's): this works for rare categories too. It lies in [0, 1], where an unbiased estimate
may be outside: intervals are around the nearest number in [0, 1], which only makes them hold more often. Counts of a category
that few records have are skewed, and too large more often than a normal distribution says. So the lower end is that of an
estimate less ``(z^2 - 1) / 6n`` times the third central moment over the second, or if these are skewed the other way the upper
end of one so much larger (Cai 2005, who moves both): intervals only grow, by order 1/n. Each holds with the confidence by
itself; for all M at once ask for a confidence of ``1 - (1 - confidence) / M``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_count, check_probability_rows, check_same_letters, frame_labels
from paper_repro.columns.documents import MechanismDocument
from paper_repro.columns.inverses import Inverse, check_invertible
from paper_repro.columns.likelihood import likeliest
from paper_repro.mechanisms import Mechanism
from paper_repro.types import FloatArray

__all__ = ["Cell", "Of", "effective_sample_sizes", "mechanism_of"]

Of = Literal["population", "sample"]


def mechanism_of(given: Any) -> Mechanism:
    """The mechanism of whatever has one: itself, an OptimalMechanism, an IntegerSampler, a MechanismDocument or its path.

    Raises ValueError if it has none, OSError if a file cannot be read.

    >>> mechanism_of(Mechanism.constant([0.5, 0.5])).labels
    range(0, 2)
    """
    if isinstance(given, str | Path):
        given = MechanismDocument.read(given)
    for inner in ("sampler", "mechanism"):
        given = getattr(given, inner, given)
    if not isinstance(given, Mechanism):
        raise ValueError(
            "mechanism must be the one that the column was released with, a Mechanism, a sampler, a MechanismDocument or its "
            f"path; got {given!r}. Of a release, take the sampler of its stratum."
        )
    return given


class Cell:
    """Records of one group, released by one mechanism, or of several groups together.

    Frequencies are parts of all records of the table, probabilities of shape (M,) that sum to the group's part of the records.

    Parameters
    ----------
    published : ndarray, shape (M,)
    channel : Inverse
    records : float
        Of the whole table.

    Attributes
    ----------
    mass : float, a probability
        The group's part of all records.
    unbiased : ndarray, shape (M,)
        The estimate.
    near : ndarray, shape (M,)
        A distribution near it, of which variances are taken.
    own, other : ndarrays, shape (M,)
        Mean squares of the weights: see the head of this module.
    cubes : ndarray, shape (M,)
        Mean cubes of the weights over all records, dimensionless.

    Examples
    --------
    >>> from paper_repro.columns.inverses import inverse_of
    >>> channel = inverse_of(Mechanism([[0.75, 0.25], [0.25, 0.75]]))
    >>> cell = Cell(np.array([0.35, 0.65]), channel, records=1000)
    >>> cell.unbiased, np.sqrt(cell.variances("sample") / 1000).round(4)
    (array([0.2, 0.8]), array([0.0274, 0.0274]))
    >>> np.round(cell.interval("sample", 0.95), 3)
    array([[0.146, 0.746],
           [0.254, 0.854]])
    """

    mass: float
    unbiased: FloatArray
    near: FloatArray
    own: FloatArray
    other: FloatArray
    cubes: FloatArray

    def __init__(self, published: FloatArray, channel: Inverse, records: float) -> None:
        self.published, self.channel, self.records = published, channel, records
        self._parts: Sequence[Cell] = ()
        self.mass = float(published.sum())
        self.unbiased = channel.estimated(published)
        # A distribution near the estimate, of what the variance is; one record more, of any category, so that none is alone.
        near = np.maximum(self.unbiased, 0) + 1 / (records * len(published))
        self.near = near * (self.mass / near.sum())
        self.own = channel.own
        expected = channel.published(self.near)
        squares, self.cubes = channel.squares(expected), channel.cubes(expected)
        rest = self.mass - self.near
        self.other = np.maximum(squares - self.near * self.own, 0) / np.where(rest > 0, rest, 1)

    @cached_property
    def likeliest(self) -> FloatArray:
        """The likeliest frequencies, probabilities of shape (M,); those of several groups are the sums of theirs."""
        if self._parts:
            return np.sum([part.likeliest for part in self._parts], axis=0)
        return likeliest(self.published / self.mass, self.channel)[0] * self.mass

    @classmethod
    def sum(cls, cells: Sequence[Cell]) -> Cell:
        """The records of several groups together."""
        made = cls.__new__(cls)
        made._parts, made.records = cells, cells[0].records
        made.mass = sum(cell.mass for cell in cells)
        made.unbiased = np.sum([cell.unbiased for cell in cells], axis=0)
        made.near = np.sum([cell.near for cell in cells], axis=0)
        made.cubes = np.sum([cell.cubes for cell in cells], axis=0)
        made.own = np.sum([cell.near * cell.own for cell in cells], axis=0) / made.near
        others = np.sum([(cell.mass - cell.near) * cell.other for cell in cells], axis=0)
        made.other = others / np.maximum(made.mass - made.near, 1e-300)
        return made

    def variances(self, of: Of) -> FloatArray:
        """Variances of the unbiased estimates, times n, shape (M,); dimensionless."""
        taken = self.near**2 if of == "population" else self.near
        return np.maximum(self.near * self.own + (self.mass - self.near) * self.other - taken, 0)

    def _skewness(self, of: Of) -> FloatArray:
        """The third central moment over the second, of what a record counts, shape (M,); dimensionless."""
        variances, near = self.variances(of), self.near
        if of == "population":
            third = self.cubes - 3 * near * (variances + near**2) + 2 * near**3
        else:
            third = self.cubes - 3 * near * self.own + 2 * near
        return np.divide(third, variances, out=np.zeros(near.shape), where=variances > 0)

    def interval(self, of: Of, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Least and greatest p with ``(estimate - p)^2 <= z^2 variance(p) / n``, but for skewness, arrays of shape (M,).

        Both are probabilities.
        """
        squared = NormalDist().inv_cdf((1 - confidence) / 2) ** 2
        skewed = max(squared - 1, 0.0) / (6 * self.records) * self._skewness(of)
        lower = self._ends(of, squared, self.unbiased - np.maximum(skewed, 0))[0]
        return lower, self._ends(of, squared, self.unbiased + np.maximum(-skewed, 0))[1]

    def _ends(self, of: Of, squared: float, estimates: FloatArray) -> tuple[FloatArray, FloatArray]:
        unit = squared / self.records
        middle = np.clip(estimates, 0, self.mass)
        # a p^2 - 2 b p + c <= 0
        a = 1 + unit if of == "population" else 1.0
        b = middle + unit / 2 * (self.own - self.other - (0 if of == "population" else 1))
        c = middle**2 - unit * self.mass * self.other
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        lower, upper = np.minimum((b - root) / a, middle), np.maximum((b + root) / a, middle)
        return np.clip(lower, 0, self.mass), np.clip(upper, 0, self.mass)


def effective_sample_sizes(mechanism: Any, prior: ArrayLike, records: int) -> FloatArray:
    """Effective sample size of each category before a release: unperturbed records that give the same standard error.

    It is the number of released records times ``p (1 - p)`` over the variance of the unbiased estimate, both of one record. The
    standard errors of a population's frequencies will be ``sqrt(p (1 - p) / n)`` with this n.

    Parameters
    ----------
    mechanism :
        As of :func:`mechanism_of`.
    prior : array_like, shape (M,)
        Expected frequencies.
    records : int, at least 1

    Returns
    -------
    ndarray, shape (M,), dimensionless
        Between 0 and ``records``; 0 for a category that is not expected.

    Raises
    ------
    ValueError
        If the channel is singular, the prior is no distribution over its categories, or ``records`` no whole number above 0.

    Examples
    --------
    >>> import math
    >>> from paper_repro import randomized_response
    >>> effective_sample_sizes(randomized_response(2, math.log(3)), [0.8, 0.2], 1000).round(1)
    array([175.8, 175.8])
    """
    channel, count = mechanism_of(mechanism), check_count(records, "records")
    expected = check_probability_rows(prior, "the expected frequencies")
    if expected.shape != (1, channel.alphabet_size):
        raise ValueError(
            f"prior must have one probability for each of {channel.alphabet_size} categories; got shape {expected.shape[1:]}. "
            "Write 0 for a category that does not occur."
        )
    check_same_letters(frame_labels(prior), channel.labels, "the expected frequencies and the mechanism")
    inverse, (expected,) = check_invertible(channel), expected
    variances = inverse.squares(inverse.published(expected)) - expected**2
    return count * np.divide(expected * (1 - expected), variances, out=np.zeros(len(expected)), where=expected > 0)
