"""What a channel of whole numbers leaks, in exact rationals rounded up: ratios of its entries, and sums of the largest.

Entries are whole numbers over ``unit = 2**bits``. Floats only say which quotients are worth comparing; these are compared as
fractions. The floats of a source set are rationals too, each distribution divided by its exact sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.graphs import Adjacency
from paper_repro.notions.ratios import (
    check_adjacency,
    check_graph,
    hockey_stick_leakage,
    log_rounded_up,
    ratio_leakage,
)
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["ExactMatrix", "ExactSpread", "Integers", "Priors", "Whole", "priors_of", "rounded_up"]

Whole = NDArray[Any]
"""Python's whole numbers of any length, in an array."""
Integers = NDArray[np.int64]

# Quotients of floats this close, relative to the largest, are compared as fractions.
_CLOSE = 1e-12
# Bits behind the point where sums of fractions would have too many.
_POINT = 128


def rounded_up(value: Fraction) -> float:
    """The smallest float that is no less: a probability, or whatever the fraction is.

    >>> rounded_up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


@lru_cache(maxsize=2)
def priors_of(source: SourceSet) -> Priors:
    """The distributions of a source set in whole numbers, made once.

    >>> priors_of(SourceSet([0.5, 0.5])).largest_mean([1, 2])
    Fraction(3, 2)
    """
    return Priors(source)


class Priors:
    """A source set's distributions in whole numbers, and the largest mean over the set.

    >>> priors = Priors(SourceSet([[0.5, 0.5], [0.75, 0.25]]))
    >>> priors.largest_mean([0, 8]), priors.smallest_mean([0, 8])
    (Fraction(4, 1), Fraction(2, 1))
    """

    def __init__(self, source: SourceSet) -> None:
        self.source = source
        self.bounds: tuple[Whole, Whole, int] | None = None
        self.rows: list[Whole] = []
        if source.bounds is None:
            self.rows = [_whole(vertex) for vertex in source.vertices]
        else:
            *bounds, unit = np.split(_whole(np.concatenate([*source.bounds, [1.0]])), [len(source.labels), -1])
            self.bounds = (bounds[0], bounds[1], int(unit[0]))

    def largest_mean(self, values: Sequence[int] | Whole) -> Fraction:
        """Largest expectation of whole numbers, one a category, over the set; exact."""
        numbers = np.asarray(values, dtype=object)
        if self.bounds is None:
            return max(Fraction(int((row * numbers).sum()), int(row.sum())) for row in self.rows)
        lower, upper, unit = self.bounds
        total, rest, listed = int((lower * numbers).sum()), unit - int(lower.sum()), numbers.tolist()
        for letter in sorted(range(len(listed)), key=listed.__getitem__, reverse=True):
            if rest <= 0:
                break
            taken = min(rest, upper[letter] - lower[letter])
            total, rest = total + taken * listed[letter], rest - taken
        return Fraction(total + max(rest, 0) * max(listed), unit)

    def smallest_mean(self, values: Sequence[int] | Whole) -> Fraction:
        """Smallest expectation; exact."""
        return -self.largest_mean(-np.asarray(values, dtype=object))


def _whole(values: FloatArray) -> Whole:
    """Floats times a power of 2 that makes all of them whole numbers."""
    parts, powers = np.frexp(values)
    shifts = np.where(parts != 0, powers, powers.max()) - powers[parts != 0].min()
    return np.ldexp(parts, 53).astype(np.int64).astype(object) << shifts.astype(object)


def _nats(ratio: Fraction | float) -> float:
    return math.inf if isinstance(ratio, float) else log_rounded_up(max(Fraction(1), ratio))


def _place(above: Integers, below: Integers, part: Fraction = Fraction(0)) -> int:
    """Where ``(above - part) / below`` is largest among those with ``above > 0``, for ``0 <= part < 1``; exactly."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.where(above > 0, (above - float(part)) / below, -1.0)
    best = int(quotients.argmax())
    close = np.flatnonzero(quotients >= quotients[best] * (1 - _CLOSE))
    while len(close):
        best = int(close[len(close) // 2])
        if not part and below[best]:  # categories that are treated alike are many
            ratio = Fraction(int(above[best]), int(below[best]))
            times = above[close] // ratio.numerator
            same = (times * ratio.numerator == above[close]) & (times * ratio.denominator == below[close])
            close = close[~same]
        numerators = above[close].astype(object) * part.denominator - part.numerator
        denominators = below[close].astype(object)
        top = int(above[best]) * part.denominator - part.numerator
        close = close[numerators * int(below[best]) > denominators * top]
    return best


def _largest(above: Integers, below: Integers, part: Fraction = Fraction(0)) -> Fraction | float:
    """The largest ``(above - part) / below`` among those with ``above > 0``, or 0; infinity where nothing is below."""
    best = _place(above, below, part)
    if above[best] <= 0:
        return Fraction(0)
    return (int(above[best]) - part) / int(below[best]) if below[best] else math.inf


def _without(numbers: Integers, letter: int) -> Integers:
    rest = numbers.copy()
    rest[letter] = 0
    return rest


@dataclass(frozen=True, eq=False)
class ExactMatrix:
    """A matrix of whole numbers, shape (M, M), whose rows sum to ``unit``; leakages in nats."""

    matrix: NDArray[np.int64]
    unit: int

    @property
    def changed(self) -> Whole:
        """What of each category is changed, shape (M,)."""
        return self.unit - self.matrix.diagonal().astype(object)

    def spent(self, costs: FloatArray) -> tuple[Whole, int]:
        """Expected cost of each category, shape (M,), in units of the inverse of the second number; costs of shape (M, M)."""
        numbers = _whole(np.append(costs.ravel(), 1.0))
        table = numbers[:-1].reshape(costs.shape)
        return (self.matrix.astype(object) * table).sum(axis=1), self.unit * int(numbers[-1])

    def privacy(self, delta: Fraction, standard: bool, adjacency: Adjacency | None) -> float:
        """Differential privacy, approximate or not, between the neighbors of a graph, in nats."""
        judge = hockey_stick_leakage if standard and delta else ratio_leakage
        return judge(self.matrix, adjacency, delta * self.unit)

    def maximal_leakage(self) -> float:
        """Maximal leakage in nats."""
        return _nats(Fraction(sum(self.matrix.max(axis=0).tolist()), self.unit))

    def maximal_information(self, priors: Priors) -> float:
        """Maximal information in nats."""
        columns = [column.astype(object) for column in self.matrix.T if column.any()]
        return _nats(max(_over(Fraction(max(column)), priors.smallest_mean(column)) for column in columns))


@dataclass(frozen=True, eq=False)
class ExactSpread:
    """Category i is kept in ``kept_i`` of ``unit`` cases, else answered by j in proportion to ``weights_j``; leakages in nats.

    Times ``unit``, column j has ``kept_j`` and in row i, for other categories, ``weights_j given_i / others_i``, so that the
    smallest and the largest two of these quotients decide. All categories are neighbors.
    """

    kept: Integers
    weights: Integers
    unit: int

    @cached_property
    def changed(self) -> Whole:
        """What of each category is changed, shape (M,)."""
        return self._changed.astype(object)

    @cached_property
    def _changed(self) -> Integers:
        return self.unit - self.kept

    @cached_property
    def _others(self) -> Integers:
        return np.maximum(self.weights.sum() - self.weights, 1)  # where there are none, nothing is changed

    @cached_property
    def _ends(self) -> tuple[int, int, int, int]:
        """The categories of the smallest and the second smallest quotient, of the largest and the second largest."""
        least, most = _place(self._others, self._changed), _place(self._changed, self._others)
        next_least = _place(_without(self._others, least), self._changed)
        return least, next_least, most, _place(_without(self._changed, most), self._others)

    def _share(self, letter: int) -> Fraction:
        return Fraction(int(self._changed[letter]), int(self._others[letter]))

    def privacy(self, delta: Fraction, standard: bool, adjacency: Adjacency | None) -> float:
        """Differential privacy in nats, approximate or not; by the standard definition, and for graphs, from above.

        The former is attained where no entry but those kept exceeds the ratio times another; of a graph all categories count as
        neighbors. Raises ValueError if its pairs have weights.
        """
        check_adjacency(adjacency)
        check_graph(adjacency, len(self.kept))
        if len(self.kept) == 1:
            return 0.0
        allowed = delta * self.unit
        least, next_least, most, next_most = self._ends
        whole, part = divmod(allowed, 1)
        above, own = np.maximum(self.kept - int(whole), 0), [least]
        found = [
            _over(_largest(_without(above, least), self.weights, part), self._share(least)),
            _over(_largest(above[own], self.weights[own], part), self._share(next_least)),
        ]
        spared = Fraction(0) if standard else allowed
        own = [most]
        for column, letter in ((slice(None), most), (own, next_most)):
            if share := self._share(letter):
                whole, part = divmod(spared / share, 1)
                answers = np.maximum(self.weights - min(int(whole), self.unit), 0)
                answers = answers[own] if column is own else _without(answers, most)
                found.append(share * _largest(answers, self.kept[column], part))
        inner = self.weights.copy()
        inner[[least, most]] = 0
        for weight, high, low in (
            (inner.max(), most, least),
            (self.weights[most], next_most, least),
            (self.weights[least], most, next_least),
        ):
            share = self._share(high)
            if int(weight) * share > spared:
                found.append(_over(share - spared / int(weight), self._share(low)))
        return _nats(max(found))

    @cached_property
    def _largest_shares(self) -> tuple[NDArray[np.bool_], Integers, Integers]:
        """Where an answer exceeds what is kept of its category, and the quotient of each column's largest answer."""
        most, next_most = self._ends[2:]
        given, others = (np.full(len(self.kept), int(part[most])) for part in (self._changed, self._others))
        given[most], others[most] = self._changed[next_most], self._others[next_most]
        sides = self.weights * (given / others), self.kept.astype(float)
        exceeds = sides[0] > sides[1]
        close = np.flatnonzero(np.abs(sides[0] - sides[1]) <= _CLOSE * sides[1])
        products = (one[close].astype(object) * two[close] for one, two in ((self.weights, given), (self.kept, others)))
        exceeds[close] = next(products) > next(products)
        return exceeds, given, others

    def maximal_leakage(self) -> float:
        """Maximal leakage in nats."""
        if len(self.kept) == 1:
            return 0.0
        exceeds, given, others = self._largest_shares
        total = Fraction(int(self.kept[~exceeds].astype(object).sum()))
        most = self._ends[2]
        for letters in (exceeds & (np.arange(len(self.kept)) != most), exceeds & (np.arange(len(self.kept)) == most)):
            if letters.any():
                first = int(letters.argmax())
                total += Fraction(int(given[first]), int(others[first])) * int(self.weights[letters].sum())
        return _nats(total / self.unit)

    def maximal_information(self, priors: Priors) -> float:
        """Maximal information in nats; for intervals from above: a category as rare as can be, the others changed least."""
        if len(self.kept) == 1:
            return 0.0
        shares = (self.changed << _POINT) // self._others.astype(object)
        found: list[Fraction | float] = []
        if priors.bounds is None:
            for row in priors.rows:
                found.append(self._information(row, row, int((row * shares).sum()), int(row.sum()), shares))
        else:
            lower, upper, unit = priors.bounds
            found.append(self._information(lower, upper, math.floor(priors.smallest_mean(shares) * unit), unit, shares))
        return _nats(max(found))

    def _information(self, lower: Whole, upper: Whole, changed: int, unit: int, shares: Whole) -> Fraction | float:
        """The largest entry over the mean of its column, if categories have at least or at most so much of ``unit``.

        ``changed``, the mean of the quotients, and ``shares`` are times ``2**128`` and rounded down.
        """
        exceeds, given, others = self._largest_shares
        peaks = np.where(exceeds, self.weights * (given / others), self.kept.astype(float))
        quotients = self._changed / self._others
        own = self.kept - self.weights * quotients
        ends = (bound.astype(float) / unit for bound in (lower, upper))
        means = np.where(own > 0, next(ends), next(ends)) * own + self.weights * float(
            Fraction(changed, unit << _POINT)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(peaks > 0, peaks / np.maximum(means, 0), 0.0)
        best: Fraction | float = Fraction(0)
        # Sums of many floats may be off by more than the last digits.
        for letter in np.flatnonzero(ratios >= ratios.max() * (1 - 1e-9)).tolist():
            kept, weight = int(self.kept[letter]), int(self.weights[letter])
            peak = Fraction(weight * int(given[letter]), int(others[letter])) if exceeds[letter] else Fraction(kept)
            spare = (kept << _POINT) - weight * shares[letter]
            mean = (lower if spare > 0 else upper)[letter] * spare + weight * changed
            best = max(best, peak * (unit << _POINT) / mean if mean > 0 else math.inf)
        return best


def _over(above: Fraction | float, below: Fraction) -> Fraction | float:
    return above if not above else above / below if below else math.inf
