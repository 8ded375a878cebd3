"""Mechanisms: channels that publish a letter in place of the true one."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper_repro.checks import (
    MOST_LETTERS,
    as_number,
    check_count,
    check_delta,
    check_distortion,
    check_grid,
    check_labels,
    check_leakage,
    check_matrix_fits,
    check_probability_rows,
    frame_labels,
    shortened,
)
from paper_repro.deprecated import accepts_old_call, says_how
from paper_repro.errors import Clause, shown, wrong
from paper_repro.graphs import Adjacency
from paper_repro.sources import SourceSet, changes, check_source
from paper_repro.types import FloatArray, IntArray, ShownAsTable

__all__ = [
    "Mechanism",
    "Spread",
    "distance_mechanism",
    "first_above",
    "randomized_response",
    "sums_of_others",
    "truncated_geometric",
    "uniform_least_distortion",
]


# Up to so many letters the entries of the matrix are what is judged, beyond them the numbers that they are made of.
_MOST_JUDGED_BY_MATRIX = 1_000
# Kinds of letters of which two each stand for all; of more, the matrix is what is judged.
_MOST_KINDS = 100
# Rows and columns of the corner that a notebook shows.
_CORNER = 20


def first_above(ends: NDArray[Any], drawn: NDArray[Any], low: IntArray, high: IntArray) -> IntArray:
    """The first place, from ``low`` to ``high``, where ``ends`` exceed what was drawn, each by halving; all of shape (values,).

    ``ends`` ascend, and the one at ``high`` exceeds what was drawn.

    >>> first_above(np.array([1, 3, 6]), np.array([0, 3]), np.array([0, 0]), np.array([2, 2]))
    array([0, 2])
    """
    searched = np.flatnonzero(low < high)
    while len(searched):
        middle = (low[searched] + high[searched]) // 2
        above = ends[middle] <= drawn[searched]
        low[searched] = np.where(above, middle + 1, low[searched])
        high[searched] = np.where(above, high[searched], middle)
        searched = searched[low[searched] < high[searched]]
    return low


@dataclass(frozen=True, eq=False)
class Spread:
    """A channel of M letters in 4 M numbers: letter i is kept, or another one is drawn in proportion to one distribution.

    ``Q_ij = answers_j shares_i`` for j != i, and ``Q_ii = kept_i``.

    Attributes
    ----------
    kept, distortions : ndarrays, shape (M,)
        ``a_i`` and ``D_i = 1 - a_i``, each with its own relative precision.
    answers : ndarray, shape (M,)
        Not normalized; the same object as ``kept`` where what is given away is spread in proportion to what is kept.
    shares : ndarray, shape (M,)
        ``D_i / (sum answers - answers_i)``.
    """

    kept: FloatArray
    distortions: FloatArray
    answers: FloatArray
    shares: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """The whole channel, or the corner of the letters that are left, shape (M, M)."""
        matrix = self.shares[:, np.newaxis] * self.answers
        matrix.flat[:: len(matrix) + 1] = self.kept
        return matrix

    @property
    def corner(self) -> FloatArray:
        """The first 20 rows and columns, shape (M, M) or (20, 20)."""
        parts = (part[:_CORNER] for part in (self.kept, self.distortions, self.answers, self.shares))
        return Spread(*parts).matrix

    @cached_property
    def is_kept_most(self) -> bool:
        """Whether no entry of a column exceeds the one that is kept, by construction."""
        return self.answers is self.kept and bool(self.shares.max() <= 1)

    @cached_property
    def most(self) -> FloatArray:
        """The largest share of any other letter, shape (M,), for M >= 2."""
        return _of_others(self.shares, np.argmax)

    @cached_property
    def least(self) -> FloatArray:
        """The smallest share of any other letter, shape (M,), for M >= 2."""
        return _of_others(self.shares, np.argmin)

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The largest and the smallest entry of each column of the matrix, as it is rounded, two arrays of shape (M,)."""
        if len(self.kept) == 1:
            return self.kept, self.kept
        if self.is_kept_most:
            return self.kept, self.answers * self.least
        return np.maximum(self.kept, self.answers * self.most), np.minimum(self.kept, self.answers * self.least)

    def sample(self, inputs: IntArray, rng: np.random.Generator) -> IntArray:
        """What is published for each input, both numbers of letters in arrays of shape (values,).

        One step for what is kept. For what is drawn the sums of the answers are cut into M buckets of equal width; of the letters
        in a bucket, one on average, the right one is found by halving.
        """
        outputs = inputs.copy()
        changed = rng.random(inputs.shape) < self.distortions[inputs]
        letters = inputs[changed]
        ends, starts = self._ends_and_buckets
        # Leave the letter itself out: what lies beyond it is moved up by its width.
        drawn = rng.random(letters.shape) * (ends[-1] - self.answers[letters])
        before = ends[letters] - self.answers[letters]
        drawn = np.where(drawn < before, drawn, drawn + self.answers[letters])
        bucket = np.minimum((drawn * (len(ends) / ends[-1])).astype(np.intp), len(ends) - 1)
        low = first_above(ends, drawn, starts[bucket], starts[bucket + 1])
        # Rounding of sums may end on a neighbor that is never published, or on the letter itself.
        wrong = np.flatnonzero((self.answers[low] == 0) | (low == letters))
        for place in wrong:
            odds = self.answers.copy()
            odds[letters[place]] = 0.0
            low[place] = rng.choice(len(odds), p=odds / odds.sum()) if odds.any() else letters[place]
        outputs[changed] = low
        return outputs

    @cached_property
    def _ends_and_buckets(self) -> tuple[FloatArray, IntArray]:
        ends = np.cumsum(self.answers)
        edges = np.linspace(0, ends[-1], len(ends) + 1)
        return ends, np.minimum(np.searchsorted(ends, edges, side="right"), len(ends) - 1)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Mechanism(ShownAsTable):
    """A channel Q over one alphabet: input i is published as j with probability ``Q[i, j]``.

    Given as a matrix here. Those of :meth:`from_distortions` and :meth:`constant` are a few numbers a letter, for as many
    letters as there are: their ``matrix`` is made when it is asked for.

    Parameters
    ----------
    matrix : array_like, shape (M, M)
        Row = input, column = output; rows sum to 1 within 1e-9. The names of a pandas DataFrame become the labels.
    labels : sequence of M distinct hashables, optional
        Names of the letters; ``0 .. M-1`` if not given.

    Raises
    ------
    ValueError
        If the matrix is not square or its rows are no distributions, the labels do not fit it, or a DataFrame's rows are named
        otherwise than its columns.

    Examples
    --------
    >>> coin = Mechanism([[0.75, 0.25], [0.25, 0.75]], labels=["no", "yes"])
    >>> coin.worst_case_distortion(SourceSet([[0.5, 0.5]]))
    0.25
    >>> print(coin.sample(["yes", "yes", "no", "no"], np.random.default_rng(7)))
    ['yes' 'no' 'no' 'yes']
    """

    labels: Sequence[Hashable]
    _spread: Spread | None

    @says_how("write Mechanism(matrix, labels=...)")
    def __init__(self, matrix: ArrayLike, labels: Sequence[Hashable] | None = None) -> None:
        rows = check_probability_rows(matrix, "matrix")
        if rows.shape[0] != rows.shape[1]:
            fix = "Give other channels as they are to a notion's leakage(matrix, source) and to min_entropy_leakage."
            raise ValueError(wrong("matrix", "be square", Clause(f"shape {rows.shape}"), fix))
        rows.setflags(write=False)
        own, inputs = frame_labels(matrix), frame_labels(matrix, "labels")
        if labels is None and inputs != own:
            raise ValueError(
                wrong(
                    "matrix",
                    "have the same names for rows and columns, in one order",
                    Clause(f"{shown(inputs)} and {shown(own)}"),
                    "Rename one of them, or take the names off (frame.to_numpy()).",
                )
            )
        object.__setattr__(self, "labels", check_labels(labels, rows.shape[0], own))
        object.__setattr__(self, "_spread", None)
        object.__setattr__(self, "matrix", rows)

    @classmethod
    def _of_spread(cls, spread: Spread, labels: Sequence[Hashable]) -> Mechanism:
        for part in (spread.kept, spread.distortions, spread.answers, spread.shares):
            part.setflags(write=False)
        made = cls.__new__(cls)
        object.__setattr__(made, "labels", labels)
        object.__setattr__(made, "_spread", spread)
        return made

    @classmethod
    def from_distortions(
        cls, distortions: ArrayLike, labels: Sequence[Hashable] | None = None, *, answers: ArrayLike | None = None
    ) -> Mechanism:
        r"""The mechanism of least differential-privacy leakage with given diagonal ``1 - D_i``.

        Equation (48) of the 2017 preprint of Kalantari et al., used for every row: with ``a = 1 - D`` and
        ``S = sum_i a_i``,

            Q_ij = a_j D_i / (S - a_i)   for j != i,      Q_ii = a_i.

        Row i spreads what it gives away in proportion to ``a``, so every entry of column j lies below ``a_j``,
        and ``a_j`` over the entry is ``(S - a_i) / D_i`` whatever j is. No mechanism with this diagonal leaks
        less: row i has to sum to 1 with entries of at least ``a_j / t``, so ``a_i + (S - a_i) / t <= 1``.

        Parameters
        ----------
        distortions : array_like, shape (M,)
            ``D_i``, probability that letter i is changed, in [0, 1], with ``sum_i (1 - D_i) >= 1``. Given as
            distortions, not as a diagonal, so that a very small ``D_i`` keeps its relative precision.
        labels : sequence, optional
        answers : array_like, shape (M,), optional
            Spread what is given away in proportion to these numbers >= 0 instead, whatever is kept.

        Raises
        ------
        ValueError
            If a distortion is outside [0, 1], or less than one letter's worth of probability is kept; or an answer is
            negative, or a letter is changed and there is no other to answer with.

        Examples
        --------
        >>> Mechanism.from_distortions([0.25, 0.25, 1.0]).matrix
        array([[0.75, 0.25, 0.  ],
               [0.25, 0.75, 0.  ],
               [0.5 , 0.5 , 0.  ]])
        >>> Mechanism.from_distortions([0.25, 0.5, 1.0], answers=[1, 1, 0]).matrix
        array([[0.75, 0.25, 0.  ],
               [0.5 , 0.5 , 0.  ],
               [0.5 , 0.5 , 0.  ]])
        >>> Mechanism.from_distortions(np.full(10**6, 0.25))
        Mechanism(M=1000000, diagonal=[0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, ...])
        """
        changed = check_grid(distortions, check_distortion)
        if changed.ndim != 1 or not len(changed):
            raise ValueError(
                wrong("distortions", "be one probability of change per category", Clause(f"shape {changed.shape}"))
            )
        letters = check_labels(labels, len(changed), frame_labels(distortions))
        kept = 1 - changed
        if answers is None:
            if kept.sum() < 1 - 1e-12:
                raise ValueError(
                    wrong(
                        "distortions",
                        "leave kept probabilities 1 - D_i that sum to at least 1",
                        float(kept.sum()),
                        "Lower the distortions.",
                    )
                )
            weights = kept
        else:
            weights = check_grid(answers, as_number)
            if weights.shape != changed.shape or not (np.isfinite(weights) & (weights >= 0)).all():
                raise ValueError(
                    wrong("answers", f"be {len(changed)} finite numbers of at least 0, one per category", answers)
                )
        others = sums_of_others(weights)
        if not others.all():
            lonely = others == 0
            if answers is not None and changed[lonely].any():
                letter = letters[int(np.flatnonzero(lonely & (changed > 0))[0])]
                raise ValueError(
                    wrong(
                        "answers",
                        f"give a weight above 0 to a category other than {letter!r}, which is changed",
                        answers,
                    )
                )
            # All kept probability is on this letter: it is published as it is.
            kept[lonely], changed[lonely] = 1.0, 0.0
            others = sums_of_others(weights)
            shares = np.divide(changed, others, out=np.ones_like(changed), where=~lonely)
        else:
            shares = changed / others
        return cls._of_spread(Spread(kept, changed, weights, shares), letters)

    @classmethod
    def constant(cls, distribution: ArrayLike, labels: Sequence[Hashable] | None = None) -> Mechanism:
        """Publish a letter drawn from one distribution, shape (M,), whatever the data: no leakage by any notion.

        Raises ValueError if it is no distribution.

        >>> Mechanism.constant([0.25, 0.75]).matrix
        array([[0.25, 0.75],
               [0.25, 0.75]])
        """
        rows = check_probability_rows(distribution, "distribution")
        if len(rows) != 1:
            raise ValueError(
                wrong("distribution", "be one distribution over the categories", Clause(f"{len(rows)} rows"))
            )
        row = rows[0]
        letters = check_labels(labels, len(row), frame_labels(distribution))
        return cls._of_spread(Spread(row, sums_of_others(row), row, np.ones(len(row))), letters)

    def mixed_with_identity(self, delta: float) -> Mechanism:
        """Publish the true letter with probability delta, in [0, 1), else what this mechanism publishes.

        It is rounded so that no letter is kept with more than delta beyond its part of this mechanism. Raises ValueError for
        another delta.

        >>> Mechanism.constant([0.5, 0.5]).mixed_with_identity(0.5).matrix
        array([[0.75, 0.25],
               [0.25, 0.75]])
        """
        if (delta := check_delta(delta)) == 0:
            return self
        if self._spread is None:
            matrix = (1 - delta) * self.matrix
            np.fill_diagonal(matrix, _sums_rounded_down(matrix.diagonal(), delta))
            return Mechanism(matrix, self.labels)
        kept = _sums_rounded_down((1 - delta) * self._spread.kept, delta)
        changed, shares = (1 - delta) * self._spread.distortions, (1 - delta) * self._spread.shares
        return Mechanism._of_spread(Spread(kept, changed, self._spread.answers, shares), self.labels)

    def renamed(self, labels: Sequence[Hashable]) -> Mechanism:
        """The same channel over letters with other names. Raises ValueError unless there are M distinct ones.

        >>> Mechanism.constant([0.5, 0.5]).renamed(["no", "yes"]).labels
        ('no', 'yes')
        """
        if labels == self.labels:
            return self
        if self._spread is None:
            return Mechanism(self.matrix, labels)
        return Mechanism._of_spread(self._spread, check_labels(labels, self.alphabet_size))

    def __repr__(self) -> str:
        kept = self.matrix.diagonal() if self._spread is None else self._spread.kept
        diagonal = ", ".join(f"{probability:.4g}" for probability in kept[:10])
        return f"Mechanism(M={self.alphabet_size}, diagonal=[{diagonal}{', ...' if self.alphabet_size > 10 else ''}])"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        return "Mechanism: row = true letter, column = published letter", self.labels, self.labels, self.corner

    @property
    def corner(self) -> FloatArray:
        """The first 20 rows and columns of the matrix, shape (M, M) or (20, 20), without making the rest."""
        return self.matrix[:_CORNER, :_CORNER] if self._spread is None else self._spread.corner

    @property
    def representatives(self) -> FloatArray:
        """As many rows as tell all pairs of rows apart, shape (rows, outputs), where letters are treated alike; else all of them.

        Of letters alike two are left, and what is published of the others of their kind is one output: between the rows that are
        left, it has the ratio that all of them have.

        >>> Mechanism.from_distortions([0.5] * 5).representatives
        array([[0.5  , 0.125, 0.375],
               [0.125, 0.5  , 0.375]])
        """
        spread = self._spread
        if spread is None:
            return self.matrix
        parts = np.stack([spread.kept, spread.distortions, spread.answers, spread.shares])
        _, kinds, counts = np.unique(parts, axis=1, return_inverse=True, return_counts=True)
        order, starts = np.argsort(kinds.ravel(), kind="stable"), np.cumsum(counts) - counts
        if len(counts) > _MOST_KINDS:
            return self.matrix
        kept = np.concatenate([order[starts], order[starts[counts > 1] + 1]])
        many = counts > 2
        others = spread.answers[order[starts[many]]] * (counts[many] - 2)
        return np.hstack([Spread(*parts[:, kept]).matrix, spread.shares[kept, np.newaxis] * others])

    @property
    def spread(self) -> Spread | None:
        """The numbers that a channel of more than 1,000 letters is made of; None where it is judged by its matrix."""
        return self._spread if self.alphabet_size > _MOST_JUDGED_BY_MATRIX else None

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The largest and the smallest entry of each column of the matrix, two arrays of shape (M,)."""
        return (self.matrix.max(axis=0), self.matrix.min(axis=0)) if self._spread is None else self._spread.extremes

    @cached_property
    def matrix(self) -> FloatArray:
        """The channel, shape (M, M): row = input, column = output.

        Raises ValueError where it does not fit: beyond 10,000 letters.
        """
        assert self._spread is not None, "a mechanism has a matrix, or the numbers it is made of"
        check_matrix_fits(
            self.alphabet_size, "a mechanism's matrix", "Use sample() and distortions, which need no matrix."
        )
        matrix = self._spread.matrix
        matrix.setflags(write=False)
        return matrix

    @cached_property
    def distortions(self) -> FloatArray:
        """Probability that letter i is changed, shape (M,).

        >>> Mechanism([[1.0, 1e-20], [0.5, 0.5]]).distortions
        array([1.e-20, 5.e-01])
        """
        found = changes(self.matrix) if self._spread is None else self._spread.distortions
        found.setflags(write=False)
        return found

    @property
    def alphabet_size(self) -> int:
        """M, the number of letters."""
        return len(self.labels)

    def worst_case_distortion(self, source: SourceSet) -> float:
        """Largest probability of change over a source set; see :meth:`SourceSet.worst_case_distortion`.

        Raises ValueError if it is none, or over other letters.
        """
        return check_source(source).worst_case_distortion(self)

    def sample(self, values: NDArray[Any] | Sequence[Hashable], rng: np.random.Generator) -> NDArray[Any]:
        """Publish each value: an array of the same shape, every entry drawn independently from its row of Q.

        Parameters
        ----------
        values : ndarray, pandas Series or sequence of labels, of any shape
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of labels, shape of ``values``

        Raises
        ------
        ValueError
            If a value is not one of the labels.
        TypeError
            If the values are a set or a dictionary, or ``rng`` is no generator.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(wrong("rng", "be a numpy.random.Generator", rng, "Write numpy.random.default_rng(seed)."))
        if isinstance(values, (Set, Mapping)):
            raise TypeError(
                wrong(
                    "values",
                    "be in an order",
                    Clause(f"a {type(values).__name__}"),
                    "Give a list or an array of categories.",
                )
            )
        if not isinstance(values, (list, tuple)) or any(isinstance(value, list) for value in values):
            try:
                column = np.asarray(values)
                if np.ma.is_masked(values):
                    raise ValueError
            except ValueError:
                raise ValueError(wrong("values", "be a table with rows of one length, unmasked", values)) from None
        else:  # a list may mix types, which NumPy would turn into text
            column = np.empty(len(values), dtype=object)
            column[:] = list(values)
        numbered = isinstance(self.labels, range) and column.dtype.kind in "iu"
        if numbered and column.size and 0 <= column.min() and column.max() < self.alphabet_size:
            inputs = column.ravel().astype(np.intp)
        else:
            rows = {label: row for row, label in enumerate(self.labels)}
            for value in column.flat:
                if not isinstance(value, Hashable) or value not in rows:
                    raise ValueError(
                        wrong(
                            "values",
                            f"be categories of this mechanism, {shortened(self.labels)}",
                            value,
                            "Leave missing values out, or make them a category.",
                        )
                    )
            inputs = np.fromiter((rows[value] for value in column.flat), dtype=np.intp, count=column.size)
        if self._spread is not None:
            outputs = self._spread.sample(inputs, rng)
        else:
            outputs = np.empty_like(inputs)
            for row in np.unique(inputs):
                here = inputs == row
                outputs[here] = rng.choice(self.alphabet_size, size=int(here.sum()), p=self.matrix[row])
        if numbered:
            return outputs.reshape(column.shape)
        letters = np.empty(self.alphabet_size, dtype=object)
        letters[:] = list(self.labels)
        published = letters[outputs].reshape(column.shape)
        return published if column.dtype == object else published.astype(np.asarray(self.labels).dtype)


def sums_of_others(values: FloatArray) -> FloatArray:
    """For each of some numbers >= 0 the sum of the others, shape (M,), with its own relative precision.

    The total less one would cancel where that one holds nearly all: there the others are added up.

    >>> sums_of_others(np.array([1.0, 1e-20, 2e-20]))
    array([3.e-20, 1.e+00, 1.e+00])
    """
    total, largest = values.sum(), int(np.argmax(values))
    others = total - values
    if others[largest] < values[largest]:
        others[largest] = np.delete(values, largest).sum()
    return others


def _of_others(shares: FloatArray, place: Callable[[FloatArray], Any]) -> FloatArray:
    """The largest or the smallest share of all letters but one, for each of them."""
    first = int(place(shares))
    best = np.full(len(shares), shares[first])
    best[first] = (others := np.delete(shares, first))[place(others)]
    return best


def _sums_rounded_down(entries: FloatArray, delta: float) -> FloatArray:
    """The largest floats that exceed the entries by no more than delta: rounding up would leak where nothing does."""
    total = entries + delta
    # What rounding took away, exactly (Knuth's two-sum).
    added = total - entries
    lost = (entries - (total - added)) + (delta - added)
    return np.where(lost < 0, np.nextafter(total, 0.0), total)


@accepts_old_call(alphabet_size="letters")
def randomized_response(letters: int, leakage: float) -> Mechanism:
    r"""Randomized response: keep a letter with probability t / (t + M - 1), else send any other one, evenly.

    The optimum for every Class I source set (Theorem 1 and eq. (6), 2017 preprint of Kalantari et al.). It solves

        minimize  max_P  sum_i P_i (1 - Q_ii)    subject to  Q_ij <= t Q_kj  for all i, k, j

    over channels Q, where t = exp(leakage) and the uniform prior is among the P.

    Parameters
    ----------
    letters : int, M >= 1
    leakage : float, in nats, >= 0; infinity gives the identity

    Returns
    -------
    Mechanism
        Every column ratio is t up to rounding; worst-case distortion is (M - 1) / (t + M - 1).

    Raises
    ------
    ValueError
        If ``letters`` is no whole number from 1 to 100,000,000, or ``leakage`` is negative or NaN.

    Examples
    --------
    >>> randomized_response(3, math.log(2)).matrix.round(4)
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    letters = check_count(letters, "letters", most=10**8)
    swap = math.exp(-np.logaddexp(check_leakage(leakage), math.log(max(letters - 1, 1))))
    kept = np.full(letters, 1 - (letters - 1) * swap)
    changed, even = np.full(letters, (letters - 1) * swap), np.ones(letters)
    return Mechanism._of_spread(Spread(kept, changed, even, swap * even), range(letters))


@accepts_old_call(size="letters")
def truncated_geometric(letters: int, leakage: float) -> Mechanism:
    r"""The truncated geometric mechanism on answers 0 .. n-1: noise falls off with distance, the ends catch the tails.

    With ``a = exp(-leakage)``: ``Q_yz = (1 - a) / (1 + a) a^|y - z|`` for inner z and ``a^|y - z| / (1 + a)`` for the two ends.
    On the line of answers of a counting query it is optimal for every prior once outputs are remapped to the likeliest answer
    (Ghosh, Roughgarden and Sundararajan 2009; Example 3, Alvim et al. 2011).

    Parameters
    ----------
    letters : int, n >= 1
    leakage : float, in nats, >= 0; infinity gives the identity

    Returns
    -------
    Mechanism
        Ratio of neighboring rows is ``exp(leakage)`` up to rounding.

    Raises
    ------
    ValueError
        If ``letters`` is no whole number from 1 to 10,000, or ``leakage`` is negative or NaN.

    Examples
    --------
    >>> truncated_geometric(3, math.log(2)).matrix.round(4)
    array([[0.6667, 0.1667, 0.1667],
           [0.3333, 0.3333, 0.3333],
           [0.1667, 0.1667, 0.6667]])
    """
    letters, fade = check_count(letters, "letters", most=MOST_LETTERS), math.exp(-check_leakage(leakage))
    if letters == 1:
        return Mechanism([[1.0]])
    places = np.arange(letters)
    matrix = fade ** np.abs(places[:, np.newaxis] - places) / (1 + fade)
    matrix[:, 1:-1] *= 1 - fade
    return Mechanism(matrix)


def distance_mechanism(adjacency: Adjacency, leakage: float) -> Mechanism:
    r"""The mechanism whose probabilities fall off with distance in a graph: ``Q_yz = w_z exp(-leakage dist(y, z))``.

    Rows sum to 1 for the weights that solve ``G w = 1`` with ``G_yz = exp(-leakage dist(y, z))``. Where no weight is negative,
    this is the best mechanism for the uniform prior: every mechanism has ``Q_yz >= Q_zz exp(-leakage dist(y, z))``, so its
    diagonal q has ``G q <= 1``, and ``sum q = w . G q <= sum w``. On vertex-transitive graphs all weights are equal: Theorem 4
    and eq. (6) of Alvim et al. 2011 without their other conditions.

    Parameters
    ----------
    adjacency : Adjacency
    leakage : float, in nats, > 0; infinity gives the identity

    Returns
    -------
    Mechanism
        Neighbors' ratios are at most ``exp(leakage)`` up to rounding.

    Raises
    ------
    ValueError
        If ``leakage`` is not positive, or no non-negative weights make the rows sum to 1.
    TypeError
        If ``adjacency`` is no graph.

    Examples
    --------
    >>> from paper_repro.graphs import line, ring
    >>> distance_mechanism(ring(6), math.log(2)).matrix[0].round(6)
    array([0.380952, 0.190476, 0.095238, 0.047619, 0.095238, 0.190476])
    >>> np.allclose(distance_mechanism(line(4), 1.0).matrix, truncated_geometric(4, 1.0).matrix)
    True
    """
    if not (leakage := _checked(adjacency, leakage)) > 0:
        raise ValueError(
            wrong("leakage", "be above 0 nats for a distance mechanism", leakage, "At 0 use Mechanism.constant.")
        )
    with np.errstate(invalid="ignore"):
        reach = np.exp(np.where(adjacency.distances > 0, -leakage * adjacency.distances, 0.0))
    if (np.sort(adjacency.distances, axis=1) == np.sort(adjacency.distances[0])).all():
        # As many vertices at each distance of any vertex: equal weights do, also where G has no inverse.
        return Mechanism(reach / reach[0].sum())
    try:
        weights = np.linalg.solve(reach, np.ones(adjacency.size))
    except np.linalg.LinAlgError:
        weights = np.full(adjacency.size, np.nan)
    if not (weights.min() >= -1e-12 and np.abs(reach @ weights - 1).max() < 1e-12):
        raise ValueError(
            wrong(
                "leakage",
                f"allow non-negative weights with which the rows sum to 1 on {adjacency!r}",
                leakage,
                "Use optimal_mechanism with DifferentialPrivacy(adjacency).",
            )
        )
    return Mechanism(reach * np.clip(weights, 0, None))


def uniform_least_distortion(adjacency: Adjacency, leakage: float) -> float:
    """Least distortion for the uniform prior on a vertex-transitive graph: ``1 - 1 / sum_d n_d exp(-leakage d)``.

    With ``n_d`` vertices at distance d of any vertex. Theorem 4 of Alvim et al. 2011 gives it where all ``n_d`` are equal and one
    automorphism runs through all vertices; neither is needed. Closed form, without a distance matrix; exact up to rounding.

    Raises
    ------
    ValueError
        If the graph is not vertex-transitive, or the leakage is negative or NaN.
    TypeError
        If ``adjacency`` is no graph.

    >>> from paper_repro.graphs import clique, ring
    >>> round(1 - uniform_least_distortion(ring(6), math.log(2)), 6), round(8 / 21, 6)
    (0.380952, 0.380952)
    >>> round(uniform_least_distortion(clique(10_000), math.log(9_999)), 12)
    0.5
    """
    leakage = _checked(adjacency, leakage)
    if not adjacency.is_vertex_transitive:
        raise ValueError(
            wrong(
                "adjacency",
                "be vertex-transitive for this closed form",
                adjacency,
                "Use optimal_mechanism with DifferentialPrivacy(adjacency).",
            )
        )
    sizes = adjacency.border_sizes(0)
    beyond = float((sizes[1:] * np.exp(-leakage * np.arange(1, len(sizes)))).sum())
    return beyond / (1 + beyond)


def _checked(adjacency: object, leakage: float) -> float:
    if not isinstance(adjacency, Adjacency):
        raise TypeError(wrong("adjacency", "be an Adjacency such as ring(6)", adjacency))
    return check_leakage(leakage)
