r"""The inverse of a channel: what each published record counts for each category, and what no estimate can tell.

With W the inverse of the channel Q, a record that is published as j counts ``W_ji`` for category i: over what is published in
place of the true category k the mean of ``W_ji`` is 1 if k is i, and else 0. So the mean over all records is an unbiased estimate
of the frequency of i, and how far the weights spread is what it costs in accuracy.

Of ``Q = diag(b) + s w'``, as optimal mechanisms are made, the inverse is ``diag(1/b) - (s/b) (w/b)' / (1 + w . s/b)`` (Sherman
and Morrison): all that is asked for here takes some numbers a category, for a million of them too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import cached_property

import numpy as np

from paper_repro.checks import check_matrix_fits, shortened
from paper_repro.mechanisms import Mechanism, Spread
from paper_repro.types import FloatArray

__all__ = ["Inverse", "check_invertible", "identified", "inverse_of"]

# Errors of published frequencies grow so much in estimates: 1e20 records would leave nothing of them.
_MOST_CONDITION = 1e10
# Combinations that an error message lists.
_LISTED = 3


class Inverse(ABC):
    """The inverse W of a channel Q, row = published category, column = category; frequencies are of shape (..., M).

    Attributes
    ----------
    condition : float
        Largest sum of a row of ``|W|``, dimensionless: errors of published frequencies, added up, grow at most so much in
        estimates. 1 if nothing is changed, infinite if the channel is singular.
    own : ndarray, shape (M,)
        Mean square of the weights for i of what is published in place of i: at least 1.
    others : ndarray, shape (M,)
        The same of what is published in place of another category, the mean over these: 0 if nothing is changed.
    """

    condition: float
    own: FloatArray
    others: FloatArray

    @abstractmethod
    def published(self, frequencies: FloatArray) -> FloatArray:
        """Frequencies with which categories are published, shape (..., M), where true ones are given: ``p Q``, probabilities."""

    @abstractmethod
    def averaged(self, values: FloatArray) -> FloatArray:
        """The mean of a value of what is published, shape (M,), for each true category: ``Q v``, shape (M,)."""

    @abstractmethod
    def estimated(self, published: FloatArray) -> FloatArray:
        """The unbiased estimate ``q W`` of the true frequencies, of the same shape: probabilities, or by chance negative."""

    @abstractmethod
    def squares(self, published: FloatArray) -> FloatArray:
        """Mean squares of the weights over what was published, ``q W**2``, of the same shape; dimensionless."""

    @abstractmethod
    def cubes(self, published: FloatArray) -> FloatArray:
        """Mean cubes of the weights over what was published, ``q W**3``, shape (..., M); dimensionless."""

    @abstractmethod
    def curved(self, curvatures: FloatArray, added: FloatArray, slopes: FloatArray) -> FloatArray:
        """The solution d of ``(Q diag(curvatures) Q' + diag(added)) d = slopes``, all of shape (M,), dimensionless."""

    @property
    @abstractmethod
    def ranges(self) -> FloatArray:
        """How far the weights of each category range, shape (M,), dimensionless; 1 if nothing is changed."""

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """W, shape (M, M). Raises ValueError where it does not fit: beyond 10,000 categories."""


class _OfMatrix(Inverse):
    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        try:
            self._inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            self._inverse = np.full(matrix.shape, np.nan)
        self.condition = float(np.abs(self._inverse).sum(axis=1).max())
        if not math.isfinite(self.condition):
            self.condition = math.inf

    @cached_property
    def _squared(self) -> FloatArray:
        return self._inverse**2

    @cached_property
    def own(self) -> FloatArray:  # type: ignore[override]
        return np.einsum("ij,ji->i", self._matrix, self._squared)

    @cached_property
    def others(self) -> FloatArray:  # type: ignore[override]
        total = self._matrix.sum(axis=0) @ self._squared
        return np.maximum(total - self.own, 0) / max(len(total) - 1, 1)

    def published(self, frequencies: FloatArray) -> FloatArray:
        return frequencies @ self._matrix

    def averaged(self, values: FloatArray) -> FloatArray:
        return self._matrix @ values

    def estimated(self, published: FloatArray) -> FloatArray:
        return published @ self._inverse

    def squares(self, published: FloatArray) -> FloatArray:
        return published @ self._squared

    def cubes(self, published: FloatArray) -> FloatArray:
        return published @ (self._squared * self._inverse)

    def curved(self, curvatures: FloatArray, added: FloatArray, slopes: FloatArray) -> FloatArray:
        square = (self._matrix * curvatures) @ self._matrix.T
        square.flat[:: len(square) + 1] += added
        return np.linalg.solve(square, slopes)

    @property
    def ranges(self) -> FloatArray:
        return np.ptp(self._inverse, axis=0)

    @property
    def weights(self) -> FloatArray:
        return self._inverse


class _OfSpread(Inverse):
    def __init__(self, spread: Spread) -> None:
        self._shares, self._answers = spread.shares, spread.answers
        self._rest = spread.kept - spread.shares * spread.answers
        if (np.abs(self._rest) <= 1e-15 * spread.kept).any() or not spread.kept.all():
            self.condition = math.inf
            return
        self._lost = self._shares / self._rest
        self._drawn = self._answers / self._rest / (1 + self._answers @ self._lost)
        self._kept = 1 / self._rest - self._lost * self._drawn
        sums = np.abs(self._drawn).sum() - np.abs(self._drawn)
        self.condition = float((np.abs(self._kept) + np.abs(self._lost) * sums).max())
        # Mean squares of lost, for each true category; then the category's own entry is taken out, and counted as what it is.
        mean = self._rest * self._lost**2 + self._shares * (self._answers @ self._lost**2)
        own, instead = self._kept**2, (self._drawn * self._lost) ** 2
        self.own = self._drawn**2 * mean + spread.kept * (own - instead)
        entries = self._answers * (self._shares.sum() - self._shares)
        total = self._drawn**2 * (mean.sum() - mean) + entries * (own - instead)
        self.others = np.maximum(total, 0) / max(len(total) - 1, 1)

    def published(self, frequencies: FloatArray) -> FloatArray:
        changed = frequencies @ self._shares
        return frequencies * self._rest + np.multiply.outer(changed, self._answers)

    def averaged(self, values: FloatArray) -> FloatArray:
        return self._rest * values + self._shares * (self._answers @ values)

    def estimated(self, published: FloatArray) -> FloatArray:
        return published / self._rest - np.multiply.outer(published @ self._lost, self._drawn)

    def squares(self, published: FloatArray) -> FloatArray:
        mean = np.multiply.outer(published @ self._lost**2, self._drawn**2)
        return mean + published * (self._kept**2 - (self._drawn * self._lost) ** 2)

    def cubes(self, published: FloatArray) -> FloatArray:
        mean = np.multiply.outer(published @ self._lost**3, self._drawn**3)
        return published * (self._kept**3 + (self._drawn * self._lost) ** 3) - mean

    def curved(self, curvatures: FloatArray, added: FloatArray, slopes: FloatArray) -> FloatArray:
        # diag(b^2 h + added) + U [[0, 1], [1, w . h w]] U', with the columns b h w and s in U: Woodbury's formula.
        diagonal = self._rest**2 * curvatures + added
        beside = np.stack([self._rest * curvatures * self._answers, self._shares])
        middle = np.array([[-(self._answers**2 @ curvatures), 1.0], [1.0, 0.0]])
        first, divided = slopes / diagonal, beside / diagonal
        return first - np.linalg.solve(middle + divided @ beside.T, beside @ first) @ divided

    @property
    def ranges(self) -> FloatArray:
        first, last = np.argsort(self._lost)[[0, -1]]
        most, least = np.full(len(self._lost), self._lost[last]), np.full(len(self._lost), self._lost[first])
        most[last], least[first] = np.delete(self._lost, last).max(), np.delete(self._lost, first).min()
        others = np.sort([-least * self._drawn, -most * self._drawn], axis=0)
        return np.maximum(self._kept, others[1]) - np.minimum(self._kept, others[0])

    @property
    def weights(self) -> FloatArray:
        check_matrix_fits(len(self._rest), "a table of weights", "Ask for estimates, which need no such table.")
        return np.diag(1 / self._rest) - np.outer(self._lost, self._drawn)


def inverse_of(mechanism: Mechanism) -> Inverse:
    """The inverse of a channel of shape (M, M), or of the numbers it is made of; singular ones have condition infinity.

    >>> channel = inverse_of(Mechanism([[0.75, 0.25], [0.25, 0.75]]))
    >>> channel.weights
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    >>> channel.condition, channel.own, channel.others
    (2.0, array([1.75, 1.75]), array([0.75, 0.75]))
    """
    spread = mechanism.spread
    return _OfMatrix(mechanism.matrix) if spread is None else _OfSpread(spread)


def identified(mechanism: Mechanism) -> list[dict[Hashable, float]]:
    """Sums of true frequencies that can be estimated from published ones, as {category: factor}.

    Any estimate is a combination of them; of a matrix that is not singular they are the categories, one by one. A category whose
    row of the matrix is a mixture of other categories' rows cannot be distinguished from these: it is in their sums with its part
    in the mixture, a probability, or sometimes negative.

    Raises
    ------
    ValueError
        If there are more than 10,000 categories.

    Examples
    --------
    >>> two_alike = Mechanism([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]], labels=["a", "b", "c"])
    >>> identified(two_alike)
    [{'a': 1.0}, {'b': 1.0, 'c': 1.0}]
    >>> never_c = Mechanism.from_distortions([0.25, 0.25, 1.0], labels=["a", "b", "c"])
    >>> identified(never_c)
    [{'a': 1.0, 'c': 0.5}, {'b': 1.0, 'c': 0.5}]
    """
    from scipy.linalg import qr

    matrix, labels = mechanism.matrix, mechanism.labels
    triangle, order = qr(matrix.T, mode="r", pivoting=True)
    triangle = triangle[: len(order)]
    rank = int((np.abs(triangle.diagonal()) > abs(triangle[0, 0]) / _MOST_CONDITION).sum())
    parts = np.linalg.solve(triangle[:rank, :rank], triangle[:rank, rank:])
    parts[np.abs(parts) < 1e-9] = 0.0
    found = []
    for place in np.argsort(order[:rank]).tolist():
        sums = {labels[int(order[place])]: 1.0}
        mixed = sorted((int(order[rank + column]), part) for column, part in enumerate(parts[place]) if part)
        found.append(sums | {labels[int(letter)]: round(float(part), 12) for letter, part in mixed})
    return found


def check_invertible(mechanism: Mechanism) -> Inverse:
    """The inverse of a channel. Raises ValueError if it is singular: the reason, and what can be estimated none the less.

    >>> check_invertible(Mechanism.from_distortions([0.25, 0.25, 1.0], labels=["a", "b", "c"]))
    Traceback (most recent call last):
    ValueError: mechanism must have an invertible matrix to estimate the frequencies of all categories; got one that is
    singular, of rank 2 of 3, and suppresses ['c']. Release with estimable=True; this one allows to estimate a + 0.5 c; b + 0.5 c.
    """
    found = inverse_of(mechanism)
    if found.condition <= _MOST_CONDITION:
        return found
    never = mechanism.extremes[0] == 0
    reason = ""
    if never.any():
        names = shortened([mechanism.labels[letter] for letter in np.flatnonzero(never).tolist()])
        reason = f", and suppresses {names}"
    if mechanism.spread is None:
        sums = identified(mechanism)
        listed = "; ".join(" + ".join(map(_term, found, found.values())) for found in sums[:_LISTED])
        more = f" and {len(sums) - _LISTED} more sums (paper_repro.columns.inverses.identified)"
        rank = f"singular, of rank {len(sums)} of {mechanism.alphabet_size}"
        if len(sums) == mechanism.alphabet_size:
            raise ValueError(_REFUSED.format(f"nearly singular, of condition {found.condition:.2g}", reason, "nothing"))
        raise ValueError(_REFUSED.format(rank, reason, listed + (more if len(sums) > _LISTED else "")))
    way = "the other categories, each with a share of the suppressed ones"
    raise ValueError(_REFUSED.format(f"singular, of condition {found.condition:.2g}", reason, way))


_REFUSED = (
    "mechanism must have an invertible matrix to estimate the frequencies of all categories; got one that is {0}{1}. Release "
    "with estimable=True; this one allows to estimate {2}."
)


def _term(letter: Hashable, part: float) -> str:
    return f"{letter}" if part == 1 else f"{part:.3g} {letter}"
