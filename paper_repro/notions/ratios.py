"""How alike the rows of a mechanism are: ratios of probabilities, compared in exact rational arithmetic.

The floats of a matrix are rationals. A guarantee is read off them, not off rounded quotients, and rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_probability_rows, check_same_letters, frame_labels
from paper_repro.errors import wrong
from paper_repro.graphs import Adjacency, clique
from paper_repro.mechanisms import Mechanism, Spread
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray, IntArray

__all__ = [
    "as_channel",
    "check_adjacency",
    "check_alphabets",
    "check_graph",
    "checked_channel",
    "column_extremes",
    "hockey_stick_leakage",
    "is_clique",
    "log_rounded_up",
    "neighbors",
    "ratio_leakage",
    "spread_leakage",
    "spread_of",
]

# Quotients of floats this close, relative to the largest, are compared as rationals.
_CLOSE = 1e-13
# Different letters that are; of more the quotients' rounding is added.
_MOST_EXACT = 100
# Entries of pairs of rows that are sorted at a time.
_MOST_AT_ONCE = 1 << 22


def as_channel(mechanism: Mechanism | ArrayLike) -> FloatArray:
    """The matrix of a mechanism, or of any channel: a row for each input, a column for each output, shape (M, outputs).

    Raises ValueError if the rows are no distributions over the same outputs.

    >>> as_channel([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]).shape
    (2, 3)
    """
    found = checked_channel(mechanism)
    return found.matrix if isinstance(found, Mechanism) else found


def checked_channel(mechanism: Mechanism | ArrayLike) -> Mechanism | FloatArray:
    """The mechanism itself, or the matrix of any other channel, shape (M, outputs).

    Raises ValueError if its rows are no distributions over the same outputs.

    >>> checked_channel(Mechanism.constant([0.5, 0.5]))
    Mechanism(M=2, diagonal=[0.5, 0.5])
    """
    if isinstance(mechanism, Mechanism):
        return mechanism
    rows = check_probability_rows(mechanism, "mechanism")
    if np.ndim(mechanism) < 2:
        raise ValueError(wrong("mechanism", "have one row of probabilities per input", mechanism))
    return rows


def spread_of(mechanism: object) -> Spread | None:
    """The numbers that a mechanism of many letters is made of and judged by; None where its matrix is.

    >>> spread_of(Mechanism.constant([0.5, 0.5])) is None
    True
    """
    return mechanism.spread if isinstance(mechanism, Mechanism) else None


def column_extremes(channel: Mechanism | FloatArray | IntArray) -> tuple[Any, Any]:
    """The largest and the smallest entry of each column, two arrays of shape (outputs,), of a matrix of shape (M, outputs).

    >>> column_extremes(Mechanism.from_distortions([0.5, 0.25]))
    (array([0.5 , 0.75]), array([0.25, 0.5 ]))
    """
    return channel.extremes if isinstance(channel, Mechanism) else (channel.max(axis=0), channel.min(axis=0))


def check_alphabets(mechanism: Mechanism | ArrayLike, source: SourceSet | None, name: str) -> SourceSet:
    """The source set. Raises ValueError if it is missing, none, or over another alphabet than the inputs of the mechanism.

    The mechanism may be a matrix of shape (M, outputs).

    >>> check_alphabets(np.eye(2), SourceSet([0.5, 0.5]), "maximal information").alphabet_size
    2
    """
    if not isinstance(source, SourceSet):
        raise ValueError(
            wrong(
                "source", f"be a SourceSet for {name}, which depends on it", source, "Give leakage(mechanism, source)."
            )
        )
    inputs = mechanism.alphabet_size if isinstance(mechanism, Mechanism) else len(np.asarray(mechanism))
    if inputs != source.alphabet_size:
        raise ValueError(
            wrong("mechanism", f"have {source.alphabet_size} rows, one for each category of the source set", inputs)
        )
    check_same_letters(frame_labels(mechanism, "labels"), source.labels, "the mechanism and the source set")
    return source


def check_adjacency(adjacency: Adjacency | None, *, weighted: bool = False) -> None:
    """Raises ValueError unless this is a graph, or None; with weights, only where they are known of.

    >>> check_adjacency(clique(2))
    """
    if not (adjacency is None or isinstance(adjacency, Adjacency)):
        raise ValueError(
            wrong(
                "adjacency",
                "be a graph of neighbors such as ring(6), or None where all categories are neighbors",
                adjacency,
            )
        )
    if adjacency is not None and adjacency.weights is not None and not weighted:
        raise ValueError(
            wrong(
                "adjacency",
                "have no weights for this notion",
                adjacency,
                "Give weights to DifferentialPrivacy, or make a graph without them by Adjacency.from_edges.",
            )
        )


def is_clique(adjacency: Adjacency | None, letters: int) -> bool:
    """Whether all letters are neighbors. Raises ValueError if the graph has another number of vertices.

    >>> is_clique(None, 3), is_clique(clique(3), 3)
    (True, True)
    """
    check_graph(adjacency, letters)
    return adjacency is None or adjacency.is_clique


def check_graph(adjacency: Adjacency | None, letters: int) -> None:
    """Raises ValueError if the graph of neighbors has another number of vertices than there are letters.

    >>> check_graph(clique(3), 3)
    """
    if adjacency is not None and adjacency.size != letters:
        raise ValueError(wrong("adjacency", f"have {letters} vertices, one per category", adjacency.size))


def neighbors(adjacency: Adjacency | None, letters: int) -> IntArray:
    """Ordered pairs of letters that must look alike, shape (pairs, 2); all of them without a graph.

    Raises ValueError if the graph has another number of vertices than there are letters.

    >>> neighbors(None, 2).tolist()
    [[0, 1], [1, 0]]
    """
    check_graph(adjacency, letters)
    return (adjacency or clique(letters)).neighbor_pairs


def ratio_leakage(
    channel: Mechanism | FloatArray | IntArray, adjacency: Adjacency | None, delta: float | Fraction = 0.0
) -> float:
    """Least eps >= 0 with ``Q_ij <= exp(eps) Q_kj + delta`` for neighbors i, k and every column j; in nats, rounded up.

    A matrix has shape (M, outputs); it may be one of whole numbers, and delta in their unit. Infinite if an entry above delta
    stands beside a 0. Where the graph has weights, delta is 0 and the factor ``exp(eps w_ik)``. Raises ValueError if the graph
    has another number of vertices than the matrix has rows.

    >>> [round(math.exp(ratio_leakage(np.array([[0.75, 0.25], [0.25, 0.75]]), None, delta)), 9) for delta in (0, 0.25)]
    [3.0, 2.0]
    """
    letters = channel.alphabet_size if isinstance(channel, Mechanism) else len(channel)
    if adjacency is None or is_clique(adjacency, letters):
        if (spread := spread_of(channel)) is not None:
            return spread_leakage(spread, float(delta))
        larger, smaller = column_extremes(channel)
    else:
        matrix: Any = channel.matrix if isinstance(channel, Mechanism) else channel
        if adjacency.weights is not None:
            return _weighted_leakage(matrix, adjacency.neighbor_pairs, adjacency.weights)
        first, second = adjacency.edges.T
        larger = np.maximum(matrix[first], matrix[second]).ravel()
        smaller = np.minimum(matrix[first], matrix[second]).ravel()
    limit: Any = delta
    used = larger > limit
    larger, smaller = larger[used], smaller[used]
    if not len(larger):
        return 0.0
    if (smaller == 0).any():
        return math.inf
    logs = np.log((larger - limit).astype(float)) - np.log(smaller)
    most = float(logs.max())
    close = logs >= most - _CLOSE * max(1.0, abs(most))
    larger, smaller = larger[close], smaller[close]
    with np.errstate(over="ignore"):  # two infinite ones are both tried
        ratios = (larger - limit).astype(float) / smaller
    close = ratios >= ratios.max() * (1 - 1e-15)  # each is off by three roundings
    pairs = set(zip(larger[close].tolist(), smaller[close].tolist(), strict=True))  # letters treated alike are many
    return _log_of_largest((Fraction(above) - Fraction(delta)) / Fraction(below) for above, below in pairs)


def _weighted_leakage(matrix: FloatArray, pairs: IntArray, weights: Sequence[Fraction]) -> float:
    """The same with ``exp(eps w)`` in place of ``exp(eps)``: the largest of ``log(Q_ij / Q_kj) / w``."""
    larger, smaller = matrix[pairs[:, 0]], matrix[pairs[:, 1]]
    above = larger > smaller
    lengths = np.array([float(weight) for weight in weights])
    if (above & (smaller == 0)).any() or above[lengths == 0].any():
        return math.inf
    places, columns = np.nonzero(above)
    if not len(places):
        return 0.0
    logs = np.log(larger[above]) - np.log(smaller[above])
    scaled = logs / lengths[places]
    # The logarithms of numbers down to 5e-324 are off by some 1e-13.
    close = np.flatnonzero(scaled + 2 * _CLOSE * (1 + logs) / lengths[places] >= scaled.max())
    found = {
        (larger[p, j].item(), smaller[p, j].item(), weights[p])
        for p, j in zip(places[close], columns[close], strict=True)
    }
    return max(log_rounded_up(Fraction(one) / Fraction(two), weight) for one, two, weight in found)


def spread_leakage(spread: Spread, delta: float = 0.0, standard: bool = False) -> float:
    """The same for every two letters and a channel in M numbers, taken as rationals; in nats, rounded up.

    In column j stand ``kept_j`` and the other letters' ``answers_j shares_i``. By the standard definition of approximate privacy
    (see :func:`hockey_stick_leakage`) this is an upper bound, attained where no entry but those kept exceeds t times another.

    >>> round(math.exp(spread_leakage(Spread(*np.array([[0.5] * 3, [0.5] * 3, [0.5] * 3, [0.5] * 3])))), 12)
    2.0
    """
    kept, answers = spread.kept, spread.answers
    if len(kept) == 1:
        return 0.0
    if delta == 0 and answers is kept:  # then kept_j cancels in its column
        lowest = min(1.0, float(spread.least.min(where=kept > 0, initial=1.0)))
        return (
            log_rounded_up(Fraction(float(spread.most.max(where=kept > 0, initial=1.0))) / Fraction(lowest))
            if lowest
            else math.inf
        )
    found = [Fraction(1)]
    for larger, smaller, allowed in (
        ((kept,), (answers, spread.least), delta),
        ((answers, spread.most), (kept,), 0.0 if standard else delta),
        ((answers, spread.most), (answers, spread.least), 0.0 if standard else delta),
    ):
        above, below = math.prod(larger[1:], start=larger[0]) - allowed, math.prod(smaller[1:], start=smaller[0])
        used = np.flatnonzero(above > 0)
        if (below[used] == 0).any():
            return math.inf
        with np.errstate(over="ignore"):
            ratios = above[used] / below[used]
        close = used[ratios >= ratios.max(initial=0.0) * (1 - _CLOSE)]
        entries = np.array([part[close] for part in (*larger, *smaller)])
        for _ in range(_MOST_EXACT):  # letters that are treated alike are many, and different ones mostly few
            if not entries.size:
                break
            numbers = entries[:, 0].tolist()
            entries = entries[:, (entries != entries[:, :1]).any(axis=0)]
            exact = [*map(Fraction, numbers)]
            above_exact = math.prod(exact[: len(larger)]) - Fraction(allowed)
            found.append(above_exact / math.prod(exact[len(larger) :]))
        else:
            found.append(Fraction(float(ratios.max()) * (1 + _CLOSE)))
    return log_rounded_up(max(found))


def hockey_stick_leakage(matrix: FloatArray | IntArray, adjacency: Adjacency | None, delta: float | Fraction) -> float:
    """Least eps >= 0 with ``sum_j max(0, Q_ij - exp(eps) Q_kj) <= delta`` for neighbors i, k; in nats, rounded up.

    The matrix has shape (M, outputs); it may be one of whole numbers, and delta in their unit. For each pair the sum falls, is
    convex, and is the largest of ``A_S - t B_S`` over the sets S of columns, A_S and B_S being what the two rows put there; it
    is attained by the columns of the n largest ratios, so the least t is the largest of ``(A_n - delta) / B_n``.

    >>> keep = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> round(math.exp(hockey_stick_leakage(keep, None, 0.25)), 9)
    2.0
    """
    pairs, size = neighbors(adjacency, len(matrix)), max(1, _MOST_AT_ONCE // matrix.shape[1])
    blocks = (pairs[start : start + size] for start in range(0, len(pairs), size))
    ratios = [_hockey_stick_ratio(matrix[one], matrix[two], delta) for one, two in (block.T for block in blocks)]
    return math.inf if None in ratios else _log_of_largest(ratio for ratio in ratios if ratio is not None)


def _hockey_stick_ratio(larger: Any, smaller: Any, delta: float | Fraction) -> Fraction | None:
    """The same for some pairs of rows, both of shape (pairs, outputs), as a ratio; None if it is infinite."""
    alone = np.where(smaller == 0, larger, 0)
    if (alone.sum(axis=1) > delta * (1 + 1e-12)).any():
        return None
    for pair in np.flatnonzero(alone.sum(axis=1) > delta * (1 - 1e-12)):
        if sum(map(Fraction, alone[pair][alone[pair] > 0].tolist())) > Fraction(delta):
            return None
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(larger > 0, -(larger / smaller), 0.0), axis=1, kind="stable")
        tops = np.cumsum(np.take_along_axis(larger, order, axis=1), axis=1)
        above, below = tops - float(delta), np.cumsum(np.take_along_axis(smaller, order, axis=1), axis=1)
        ratios = np.where((below > 0) & (above > 0), above / below, 0.0)
        # Sums close to delta cancel: rounding is relative to the sums.
        slack = np.where(ratios > 0, _CLOSE * (above + float(delta)) / below, 0.0)
    largest = float(ratios.max(initial=0.0))
    if largest <= 1 - _CLOSE:
        return Fraction(1)
    close = ratios + slack >= largest * (1 - _CLOSE)
    if larger.dtype.kind == "i":  # the sums are exact
        sums = set(zip(tops[close].tolist(), below[close].tolist(), strict=True))
        return max((one - Fraction(delta)) / two for one, two in sums)

    def exact(pair: int, count: int) -> Fraction:
        columns = order[pair, : count + 1]
        sums = (sum(map(Fraction, rows[pair, columns].tolist())) for rows in (larger, smaller))
        return (next(sums) - Fraction(delta)) / next(sums)

    return max(exact(*place) for place in np.argwhere(close))


def log_rounded_up(ratio: Fraction, weight: Fraction = Fraction(1)) -> float:
    """The smallest float whose exponential, to the power of the weight, is at least the ratio, which is at least 1.

    Digits are doubled until they tell: of the logarithm of a rational other than 1, no rational is the exact value. The first 20
    come from a step of Newton's method, as an exponential takes less time than a logarithm.

    >>> log_rounded_up(Fraction(1)), log_rounded_up(1 + Fraction(1, 2**46)) == math.nextafter(2**-46 - 2**-93, 1)
    (0.0, True)
    """
    if ratio == 1:
        return 0.0
    above, below = Decimal(ratio.numerator), Decimal(ratio.denominator)
    near = Decimal(math.log(ratio.numerator) - math.log(ratio.denominator))
    digits = 20
    while True:
        with localcontext(prec=digits):
            quotient = above / below
            found = near + (quotient * (-near).exp() - 1) if digits == 20 else quotient.ln()
            scale = Decimal(weight.denominator) / Decimal(weight.numerator)
            found *= scale
            rounded = float(found)
            if abs(Decimal(rounded) - found) > (scale + found).scaleb(2 - digits):
                return rounded if rounded > found else math.nextafter(rounded, math.inf)
        digits *= 2


def _log_of_largest(ratios: Iterable[Fraction]) -> float:
    return log_rounded_up(max([Fraction(1), *ratios]))
