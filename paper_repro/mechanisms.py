"""Mechanisms: channels that publish a letter in place of the true one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paper_repro.checks import (
    MOST_LETTERS,
    check_count,
    check_distortion,
    check_grid,
    check_labels,
    check_leakage,
    check_probability_rows,
    frame_labels,
)
from paper_repro.deprecated import accepts_old_call, says_how
from paper_repro.graphs import Adjacency
from paper_repro.sources import SourceSet, check_source
from paper_repro.types import FloatArray, ShownAsTable

__all__ = ["Mechanism", "distance_mechanism", "randomized_response", "truncated_geometric", "uniform_least_distortion"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Mechanism(ShownAsTable):
    """A channel Q over one alphabet: input i is published as j with probability ``Q[i, j]``.

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

    matrix: FloatArray
    labels: Sequence[Hashable]

    @says_how("write Mechanism(matrix, labels=...)")
    def __init__(self, matrix: ArrayLike, labels: Sequence[Hashable] | None = None) -> None:
        rows = check_probability_rows(matrix, "mechanism")
        if rows.shape[0] != rows.shape[1]:
            way_out = "other channels go as they are into a notion's leakage(matrix, source) and min_entropy_leakage"
            raise ValueError(f"a mechanism's matrix must be square, got shape {rows.shape}; {way_out}")
        rows.setflags(write=False)
        own, inputs = frame_labels(matrix), frame_labels(matrix, "labels")
        if labels is None and inputs != own:
            raise ValueError(
                f"the rows of the frame are named {inputs!r} and its columns {own!r}; name both alike, in one order"
            )
        letters = check_labels(labels, rows.shape[0], own)
        object.__setattr__(self, "matrix", rows)
        object.__setattr__(self, "labels", letters)

    @classmethod
    def from_distortions(cls, distortions: ArrayLike, labels: Sequence[Hashable] | None = None) -> Mechanism:
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

        Raises
        ------
        ValueError
            If a distortion is outside [0, 1], or less than one letter's worth of probability is kept.

        Examples
        --------
        >>> Mechanism.from_distortions([0.25, 0.25, 1.0]).matrix
        array([[0.75, 0.25, 0.  ],
               [0.25, 0.75, 0.  ],
               [0.5 , 0.5 , 0.  ]])
        """
        changed = check_grid(distortions, check_distortion)
        if changed.ndim != 1:
            raise ValueError(f"distortions must be one probability of change per letter, got shape {changed.shape}")
        check_count(max(len(changed), 1), "the number of letters", most=MOST_LETTERS)
        kept = 1 - changed
        if kept.sum() < 1 - 1e-12:
            raise ValueError(
                f"the kept probabilities 1 - D_i sum to {float(kept.sum())!r}; they must sum to at least 1: "
                "lower the distortions"
            )
        # Sums of the others, added up from both sides: S - a_i would cancel where one letter holds nearly all.
        others = np.zeros_like(kept)
        others[1:] += np.cumsum(kept[:-1])
        others[:-1] += np.cumsum(kept[:0:-1])[::-1]
        share = np.divide(changed, others, out=np.zeros_like(kept), where=others > 0)
        matrix = share[:, np.newaxis] * kept
        np.fill_diagonal(matrix, kept)
        lonely = others == 0  # all kept probability is on this letter: it is published as it is
        matrix[lonely, lonely] = 1.0
        return cls(matrix, check_labels(labels, len(kept), frame_labels(distortions)))

    @classmethod
    def constant(cls, distribution: ArrayLike, labels: Sequence[Hashable] | None = None) -> Mechanism:
        """Publish a letter drawn from one distribution, shape (M,), whatever the data: no leakage by any notion.

        Raises ValueError if it is no distribution.

        >>> Mechanism.constant([0.25, 0.75]).matrix
        array([[0.25, 0.75],
               [0.25, 0.75]])
        """
        row = check_probability_rows(distribution, "constant mechanism")
        if len(row) != 1:
            raise ValueError(f"a constant mechanism has one distribution over the letters, got {len(row)} rows")
        size = check_count(row.shape[1], "the number of letters", most=MOST_LETTERS)
        return cls(np.tile(row, (size, 1)), check_labels(labels, size, frame_labels(distribution)))

    def __repr__(self) -> str:
        diagonal = ", ".join(f"{kept:.4g}" for kept in np.diagonal(self.matrix)[:10])
        return f"Mechanism(M={self.alphabet_size}, diagonal=[{diagonal}{', ...' if self.alphabet_size > 10 else ''}])"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        return "Mechanism: row = true letter, column = published letter", self.labels, self.labels, self.matrix

    @property
    def alphabet_size(self) -> int:
        """M, the number of letters."""
        return self.matrix.shape[0]

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
            raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}; write numpy.random.default_rng(seed)")
        if isinstance(values, (Set, Mapping)):
            raise TypeError(
                f"values must be in an order, got a {type(values).__name__}; give a list or an array of letters"
            )
        letters = np.empty(self.alphabet_size, dtype=object)
        letters[:] = list(self.labels)
        if not isinstance(values, (list, tuple)) or any(isinstance(value, list) for value in values):
            try:
                column = np.asarray(values)
                if np.ma.is_masked(values):
                    raise ValueError
            except ValueError:
                raise ValueError(f"values must be a table with rows of one length, unmasked, got {values!r}") from None
        else:  # a list may mix types, which NumPy would turn into text
            column = np.empty(len(values), dtype=object)
            column[:] = list(values)
        rows = {label: row for row, label in enumerate(self.labels)}
        for value in column.flat:
            if not isinstance(value, Hashable) or value not in rows:
                raise ValueError(
                    f"value {value!r} is not a letter of this mechanism; its letters are {list(self.labels)!r}; "
                    "leave missing values out, or make them a letter"
                )
        inputs = np.fromiter((rows[value] for value in column.flat), dtype=np.intp, count=column.size)
        outputs = np.empty_like(inputs)
        for row in np.unique(inputs):
            here = inputs == row
            outputs[here] = rng.choice(self.alphabet_size, size=int(here.sum()), p=self.matrix[row])
        published = letters[outputs].reshape(column.shape)
        return published if column.dtype == object else published.astype(np.asarray(self.labels).dtype)


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
        If ``letters`` is no whole number from 1 to 10,000, or ``leakage`` is negative or NaN.

    Examples
    --------
    >>> randomized_response(3, math.log(2)).matrix.round(4)
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    letters = check_count(letters, "letters", most=MOST_LETTERS)
    swap = math.exp(-np.logaddexp(check_leakage(leakage), math.log(max(letters - 1, 1))))
    matrix = np.full((letters, letters), swap)
    np.fill_diagonal(matrix, 1 - (letters - 1) * swap)
    return Mechanism(matrix)


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
            f"a distance mechanism needs a leakage above 0 nats, got {leakage}; at 0 use Mechanism.constant"
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
            f"on {adjacency!r} at {leakage!r} nats no non-negative weights were found that make rows sum to 1; "
            "use optimal_mechanism with DifferentialPrivacy(adjacency)"
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
            f"{adjacency!r} is not vertex-transitive, so there is no such closed form; "
            "use optimal_mechanism with DifferentialPrivacy(adjacency)"
        )
    sizes = adjacency.border_sizes(0)
    beyond = float((sizes[1:] * np.exp(-leakage * np.arange(1, len(sizes)))).sum())
    return beyond / (1 + beyond)


def _checked(adjacency: object, leakage: float) -> float:
    if not isinstance(adjacency, Adjacency):
        raise TypeError(f"adjacency must be an Adjacency such as ring(6), got {adjacency!r}")
    return check_leakage(leakage)
