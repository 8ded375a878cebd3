"""A channel of integers: what is drawn is exactly what is reported.

The floats of a mechanism are rounded once, to whole numbers over ``2**62``. From then on random words are compared with integers,
so that the probabilities of what is published are these rationals and no others, and so is the privacy that they have.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper_repro.checks import check_count
from paper_repro.columns.exactly import ExactMatrix, ExactSpread, Integers, priors_of, rounded_up
from paper_repro.columns.outward import information, renyi_divergence
from paper_repro.columns.randomness import Bits, Words
from paper_repro.graphs import Adjacency
from paper_repro.mechanisms import Mechanism, Spread, first_above
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    Notion,
    RenyiDP,
    SibsonInformation,
)
from paper_repro.notions.ratios import check_alphabets, log_rounded_up
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = ["BITS", "IntegerSampler", "MatrixSampler", "SpreadSampler"]

BITS = 62
# Rows that are drawn at once.
_BLOCK = 1 << 18


class IntegerSampler(ABC):
    """An exact channel over one alphabet: category i is kept with probability ``kept_i / 2**bits``.

    Attributes
    ----------
    labels : sequence of M categories
    kept : ndarray of integers, shape (M,)
    bits : int
        62, but for tests that try every word.

    Examples
    --------
    >>> from paper_repro.columns.randomness import Seeded
    >>> sampler = IntegerSampler.of(Mechanism([[0.75, 0.25], [0.25, 0.75]]))
    >>> sampler.kept / 2**62
    array([0.75, 0.75])
    >>> sampler.sample([0, 1, 1, 0], Seeded(1))
    array([0, 0, 1, 1])
    """

    labels: Sequence[Hashable]
    kept: Integers
    bits: int

    @staticmethod
    def of(mechanism: Mechanism, bits: int = BITS) -> IntegerSampler:
        """The integers next to a mechanism: a matrix, or of more than 1,000 categories the numbers it is made of."""
        if (spread := mechanism.spread) is None:
            return MatrixSampler.of_matrix(mechanism.matrix, mechanism.labels, bits)
        return SpreadSampler.of_spread(spread, mechanism.labels, bits)

    def sample(self, codes: ArrayLike, bits: Bits) -> NDArray[Any]:
        """What is published for each category's number: an array of the same shape and integers, each drawn independently.

        Raises ValueError if a code is no integer from 0 to M - 1.
        """
        published = np.array(codes)
        size = len(self.labels)
        if published.dtype.kind not in "iu" or (
            published.size and not (0 <= published.min() and published.max() < size)
        ):
            raise ValueError(
                f"codes must be integers from 0 to {size - 1}, the numbers of the categories; got {codes!r}. Decide on missing "
                "and unknown values first."
            )
        column = published.reshape(-1)
        for start in range(0, column.size, _BLOCK):
            block = column[start : start + _BLOCK]
            letters = block.astype(np.intp)
            rows = np.arange(start, start + len(letters))
            words = bits.words(len(letters), rows) >> np.uint64(64 - self.bits)
            changed = np.flatnonzero(words >= self._thresholds[letters])
            block[changed] = self._others(letters[changed], words[changed], bits, rows[changed])
        return published

    @cached_property
    def _thresholds(self) -> Words:
        return self.kept.astype(np.uint64)

    @abstractmethod
    def _others(self, letters: IntArray, words: Words, bits: Bits, rows: IntArray) -> IntArray:
        """Another category for each whose word is not below what is kept."""

    @property
    @abstractmethod
    def integers(self) -> dict[str, Integers]:
        """All the numbers that the sampler is made of, by name: what a document keeps."""

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The nearest floats, for everything that is no guarantee."""

    @cached_property
    def digest(self) -> str:
        """A name for the integers, which tells samplers apart."""
        found = hashlib.blake2b(str(self.bits).encode(), digest_size=16)
        for name, numbers in self.integers.items():
            found.update(name.encode() + np.ascontiguousarray(numbers, dtype="<i8").tobytes())
        return found.hexdigest()

    def leakage(self, notion: Notion, source: SourceSet | None = None) -> float:
        """Leakage of the integers in nats, never understated.

        Exact and rounded up for differential privacy, approximate or not, maximal leakage and maximal information; within about
        1e-10 from above for information and Renyi divergences, which have logarithms (:mod:`paper_repro.columns.outward`). Of
        more than 1,000 categories maximal information over intervals, and privacy on graphs, are from above as well.
        Raises ValueError if the notion is another one, or needs a source set over the same categories and has none.
        """
        if isinstance(notion, DifferentialPrivacy):
            return self._private(notion.adjacency)
        if isinstance(notion, ApproximateDP):
            return self._exact.privacy(Fraction(notion.delta), bool(notion.standard), notion.adjacency)
        if isinstance(notion, RenyiDP):
            most = self._private(notion.adjacency)
            if math.isinf(notion.alpha) or not 0 < most < math.inf:
                return most
            return min(most, renyi_divergence(self.mechanism, notion.alpha, notion.adjacency))
        if isinstance(notion, MaximalLeakage):
            return self._exact.maximal_leakage()
        if not isinstance(notion, SibsonInformation | MutualInformation | MaximalInformation):
            raise ValueError(
                f"notion must be one of the seven notions for a sampler; got {notion!r}. Take one of these."
            )
        priors = priors_of(check_alphabets(self.mechanism, source, notion.name))
        if isinstance(notion, MaximalInformation):
            return self._exact.maximal_information(priors)
        if math.isinf(notion.alpha):
            return self._exact.maximal_leakage()
        return information(self.mechanism, priors, notion.alpha)

    def leakage_of_repeats(self, notion: Notion, releases: int, source: SourceSet | None = None) -> float:
        """What so many independent releases of one and the same value leak together, in nats, never understated.

        Exact for differential and Renyi privacy, whose losses add up. Of approximate privacy each release has its part of delta.
        Information adds up at most, and nothing leaks more than the category itself, ``log M``; Sibson information is at most
        maximal leakage, and maximal information, whose prior changes with what is already known, at most differential privacy.
        Releases by :class:`~paper_repro.columns.randomness.Consistent` are one, as long as the value is the same.
        Raises ValueError as :meth:`leakage` does, or if the number is below 1.

        >>> sampler = IntegerSampler.of(Mechanism([[0.75, 0.25], [0.25, 0.75]]))
        >>> [round(math.exp(sampler.leakage_of_repeats(DifferentialPrivacy(), n)), 9) for n in (1, 2)]
        [3.0, 9.0]
        >>> round(sampler.leakage_of_repeats(MaximalLeakage(), 10), 12) == round(math.log(2), 12)
        True
        """
        if check_count(releases, "releases") == 1:
            return self.leakage(notion, source)
        if isinstance(notion, ApproximateDP):
            notion = ApproximateDP(notion.delta / releases, notion.standard, notion.adjacency)
        if isinstance(notion, SibsonInformation):
            notion = MaximalLeakage()
        if isinstance(notion, MaximalInformation):
            notion = DifferentialPrivacy()
        total = (
            Fraction(self.leakage(notion, source)) * releases if math.isfinite(self.leakage(notion, source)) else None
        )
        if isinstance(notion, MaximalLeakage | MutualInformation):
            letters = log_rounded_up(Fraction(len(self.labels)))
            return letters if total is None else min(letters, rounded_up(total))
        return math.inf if total is None else rounded_up(total)

    def distortion(self, source: SourceSet, costs: FloatArray | None = None) -> float:
        """Largest probability of change over a source set, or with costs of shape (M, M) the largest expected cost.

        It is exact, and rounded up. Raises ValueError if ``source`` is no source set, or one over other categories, or if costs
        are given for a mechanism that is stored in M numbers.
        """
        priors = priors_of(check_alphabets(self.mechanism, source, "the distortion"))
        if costs is None:
            return rounded_up(priors.largest_mean(self._exact.changed) / 2**self.bits)
        if not isinstance(self._exact, ExactMatrix):
            raise ValueError(
                f"costs must be left out for a mechanism without a matrix; got some for {len(self.labels):,} categories. Take "
                "at most 1,000 categories."
            )
        values, unit = self._exact.spent(costs)
        return rounded_up(priors.largest_mean(values) / unit)

    def _private(self, adjacency: Adjacency | None) -> float:
        return self._local if adjacency is None else self._exact.privacy(Fraction(0), False, adjacency)

    @cached_property
    def _local(self) -> float:
        return self._exact.privacy(Fraction(0), False, None)

    @property
    @abstractmethod
    def _exact(self) -> ExactMatrix | ExactSpread:
        """The same integers, as their leakages are taken."""


class MatrixSampler(IntegerSampler):
    """A matrix of integers, shape (M, M), whose rows sum to ``2**bits``: one word a row of the column.

    Raises
    ------
    ValueError
        If the rows do not, or a number is negative.

    >>> MatrixSampler(np.array([[3, 1], [0, 4]]), ["no", "yes"], bits=2).mechanism.matrix
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """

    def __init__(self, matrix: Integers, labels: Sequence[Hashable], bits: int = BITS) -> None:
        sums = [sum(row) for row in matrix.tolist()]
        if (matrix < 0).any() or set(sums) != {2**bits} or matrix.shape != (len(labels),) * 2:
            raise ValueError(
                f"matrix must have {len(labels)} rows of {len(labels)} integers >= 0 that sum to 2**{bits}; got shape "
                f"{matrix.shape} and sums from {min(sums, default=0)} to {max(sums, default=0)}. Take MatrixSampler.of_matrix."
            )
        self.matrix, self.labels, self.bits = matrix, labels, bits
        self.kept = matrix.diagonal().copy()

    @classmethod
    def of_matrix(cls, matrix: FloatArray, labels: Sequence[Hashable], bits: int = BITS) -> MatrixSampler:
        """The integers next to a matrix, shape (M, M).

        >>> MatrixSampler.of_matrix(np.array([[0.6, 0.4], [0.4, 0.6]]), range(2), bits=3).matrix
        array([[4, 4],
               [4, 4]])
        """
        return cls(_rounded_matrix(matrix, bits), labels, bits)

    @property
    def integers(self) -> dict[str, Integers]:
        return {"matrix": self.matrix}

    @cached_property
    def mechanism(self) -> Mechanism:
        return Mechanism(self.matrix / 2.0**self.bits, self.labels)

    @cached_property
    def _exact(self) -> ExactMatrix:
        return ExactMatrix(self.matrix, 2**self.bits)

    @cached_property
    def _ends(self) -> Words:
        """Where each category's words end among those that change, a row for each true category, filled up to a power of 2."""
        size = len(self.labels)
        ends = np.full((size, 1 << (size - 1).bit_length()), 2**64 - 1, dtype=np.uint64)
        others = self.matrix.astype(np.uint64)
        np.fill_diagonal(others, 0)
        np.cumsum(others, axis=1, out=ends[:, :size])
        return ends

    def _others(self, letters: IntArray, words: Words, bits: Bits, rows: IntArray) -> IntArray:
        left, width = words - self._thresholds[letters], self._ends.shape[1]
        start = letters * width
        found, step, ends = start.copy(), width // 2, self._ends.ravel()
        while step:
            found += step * (ends[found + (step - 1)] <= left)
            step //= 2
        return found - start


class SpreadSampler(IntegerSampler):
    """M integers: category i is kept, or replaced by j with probability ``weights_j / (sum of the others' weights)``.

    A second word, and another as long as it is too large, makes the choice exact.

    Raises
    ------
    ValueError
        If a number is negative or too large, or a category is changed and there is no other one to answer with.

    >>> SpreadSampler(np.array([3, 3, 0]), np.array([1, 1, 0]), range(3), bits=2).mechanism.corner
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.75, 0.  ],
           [0.5 , 0.5 , 0.  ]])
    """

    def __init__(self, kept: Integers, weights: Integers, labels: Sequence[Hashable], bits: int = BITS) -> None:
        self.total = sum(weights.tolist())
        self.kept, self.weights, self.labels, self.bits = kept, weights, labels, bits
        shaped = kept.shape == weights.shape == (len(labels),)
        if not shaped or min(kept.min(), weights.min()) < 0 or kept.max() > 2**bits or self.total > 2**BITS:
            raise ValueError(
                f"kept and weights must be {len(labels)} integers each, from 0 to 2**{bits}; got shapes {kept.shape} and "
                f"{weights.shape}, or numbers outside. Take SpreadSampler.of_spread."
            )
        if ((kept < 2**bits) & (weights == self.total)).any():
            raise ValueError(
                "weights must be positive for another category wherever one is changed; got none. Give another one a weight."
            )

    @classmethod
    def of_spread(cls, spread: Spread, labels: Sequence[Hashable], bits: int = BITS) -> SpreadSampler:
        """The integers next to a channel in M numbers.

        >>> SpreadSampler.of_spread(Spread(*np.array([[0.75] * 2, [0.25] * 2, [1.0] * 2, [0.25] * 2])), "ab", bits=4).kept
        array([12, 12])
        """
        return cls(*_rounded_spread(spread, bits), labels, bits)

    @property
    def integers(self) -> dict[str, Integers]:
        return {"kept": self.kept, "weights": self.weights}

    @cached_property
    def others(self) -> Integers:
        """Sums of the other categories' weights, shape (M,)."""
        return self.total - self.weights

    @cached_property
    def _shift(self) -> int | None:
        """The power of 2 by which all weights are smaller than what is kept, or None: answers in proportion to it cancel."""
        shift = int(self.kept.max()).bit_length() - int(self.weights.max()).bit_length()
        return shift if shift >= 0 and (self.weights << shift == self.kept).all() else None

    @cached_property
    def mechanism(self) -> Mechanism:
        whole = 2**self.bits
        kept, changed = self.kept / float(whole), (whole - self.kept) / float(whole)
        unit = 2.0 ** (self.bits - (self._shift or 0))
        answers = self.weights / unit if self._shift is None else kept
        shares = np.divide(changed * unit, self.others, out=np.ones_like(changed), where=self.others > 0)
        return Mechanism._of_spread(Spread(kept, changed, answers, shares), self.labels)

    @cached_property
    def _exact(self) -> ExactSpread:
        return ExactSpread(self.kept, self.weights, 2**self.bits)

    @cached_property
    def _table(self) -> tuple[Words, IntArray, int]:
        """Where each category's words end; the first category of each of about M stretches of equal width; the width's bits."""
        ends = np.cumsum(self.weights, dtype=np.uint64)
        width = max(0, self.total.bit_length() - len(ends).bit_length())
        edges = np.arange((self.total >> width) + 2, dtype=np.uint64) << np.uint64(width)
        return ends, np.minimum(np.searchsorted(ends, edges, side="right"), len(ends) - 1), width

    @cached_property
    def _lengths(self) -> Words:
        """How many bits of a word are taken in place of each category, shape (M,): as many as the others' weights need."""
        return np.maximum(np.frexp((self.others - 1).astype(float))[1], 1).astype(np.uint64)

    def _others(self, letters: IntArray, words: Words, bits: Bits, rows: IntArray) -> IntArray:
        most, lengths = self.others[letters].astype(np.uint64), self._lengths[letters]
        drawn = np.empty(len(letters), dtype=np.uint64)
        open_ = np.arange(len(letters))
        while len(open_):
            drawn[open_] = bits.words(len(open_), rows[open_]) >> (np.uint64(64) - lengths[open_])
            open_ = open_[drawn[open_] >= most[open_]]
        ends, starts, width = self._table
        # Leave the category itself out: what lies beyond it is moved up by its width.
        own = self.weights[letters].astype(np.uint64)
        drawn += own * (drawn >= ends[letters] - own)
        stretch = (drawn >> np.uint64(width)).astype(np.intp)
        return first_above(ends, drawn, starts[stretch], starts[stretch + 1])


def _rounded_matrix(matrix: FloatArray, bits: int) -> Integers:
    """Rows that sum to ``2**bits``, shape (M, M): zeros stay zeros, equal columns equal, and no other entry becomes 0.

    What is largest in its column is rounded down and all else up, but not beyond it, so that no ratio in a column grows; what a
    row then lacks or has too much, its largest entry takes: at most M of ``2**bits / M``, and what the floats' sum misses.
    """
    scaled = matrix * 2.0**bits
    peaks = scaled.max(axis=0)
    whole = np.minimum(np.ceil(scaled), np.maximum(np.floor(peaks), peaks > 0)).astype(np.int64)
    whole[np.arange(len(whole)), matrix.argmax(axis=1)] += 2**bits - whole.sum(axis=1)
    return whole


def _rounded_spread(spread: Spread, bits: int) -> tuple[Integers, Integers]:
    """What is kept and the answers' weights, both of shape (M,): zeros stay zeros, equal categories equal.

    Where answers are in proportion to what is kept, the integers are too, by a power of 2: then no rounding of theirs counts in a
    ratio. What is kept most is rounded down, and nothing but certainty becomes certain.
    """
    whole = 2**bits
    if spread.answers is not spread.kept:
        sums = float(spread.answers.sum())
        scaled = spread.answers * (2.0 ** math.floor(math.log2((whole - len(spread.answers)) / sums)))
        weights = np.maximum(np.rint(scaled), spread.answers > 0).astype(np.int64)
        return whole - np.ceil(spread.distortions * float(whole)).astype(np.int64), weights
    shift = max(0, math.ceil(math.log2(float(spread.kept.sum()) * (1 + 1e-9))))
    unit = whole >> shift
    less = np.maximum(np.rint(spread.distortions * float(unit)), spread.distortions > 0)
    weights = np.where(spread.kept < 0.5, np.rint(spread.kept * float(unit)), unit - less)
    peak = math.floor(float(spread.kept.max()) * unit)
    weights = np.maximum(np.minimum(weights, peak), spread.kept > 0).astype(np.int64)
    if (spread.shares == 1).all():  # the same answer, whatever is true
        weights[weights.argmax()] += unit - weights.sum()
    return weights << shift, weights
