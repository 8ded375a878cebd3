r"""Information and Renyi divergences of a channel, from above: floats, with the most that rounding can be off added to them.

Sums of n terms are off by at most n units of rounding (``2**-53``) of the sum of their sizes, in whatever order they are added;
logarithms and powers by a few. So what is returned bounds the exact value for the whole numbers that the floats stand for.

*Information of order alpha* is at most ``max_P log(sum_ij P_i Q_ij^alpha r_j^(1 - alpha)) / (alpha - 1)`` for any distribution r
of the output, for order 1 ``max_P sum_i P_i KL(Q_i || r)``: linear in P, so that intervals need no vertices. It is attained by
the r of the worst prior, and bounds whatever r is.

*Renyi divergences* of a channel in M numbers, ``Q_ij = w_j s_i`` and ``Q_ii = a_i``, have a moment that is bilinear:

    sum_l Q_il^alpha Q_kl^(1 - alpha) = s_i^alpha ((W - w_k) s_k^(1 - alpha) + w_k^alpha a_k^(1 - alpha))
                                        + (a_i^alpha w_i^(1 - alpha) - s_i^alpha w_i) s_k^(1 - alpha).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from paper_repro.columns.exactly import Priors, rounded_up
from paper_repro.graphs import Adjacency
from paper_repro.knowledge.intervals import largest_mean
from paper_repro.mechanisms import Mechanism, Spread, sums_of_others
from paper_repro.notions.information import _columns, _columns_of_spread, _rows, _rows_of_spread, _worst_prior
from paper_repro.notions.ratios import neighbors
from paper_repro.sources import SourceSet
from paper_repro.types import BoolArray, FloatArray

__all__ = ["information", "renyi_divergence"]

_UNIT = 2.0**-53
# Steps to the worst prior between bounds; of more letters, fewer.
_MOST_STEPS, _FEW = 400, 20_000
# A prior whose information is as close to its upper bound is the worst.
_ENOUGH = 1e-10
# Beyond this order, powers may leave the range of numbers.
_LARGEST_POWER = 8.0
# Kinds of letters whose pairs are all looked at.
_MOST_KINDS = 1000


def information(mechanism: Mechanism, priors: Priors, order: float) -> float:
    """Largest information of this finite order >= 1 over a source set, in nats, from above.

    >>> hull = Priors(SourceSet([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(information(Mechanism([[0.95, 0.05], [0.05, 0.95]]), hull, 1), 4)
    0.4946
    """
    prior, known = _worst(mechanism, priors.source, order)
    values, top = _divergences(mechanism, prior, known, order)
    if not np.isfinite(values).all():
        return math.inf
    power = 61 - math.frexp(float(np.abs(values).max()))[1]
    whole = np.ceil(np.ldexp(values, power)).astype(np.int64).astype(object)
    return _nats(rounded_up(priors.largest_mean(whole) / Fraction(2) ** power), top, order)


def _worst(mechanism: Mechanism, source: SourceSet, order: float) -> tuple[FloatArray, BoolArray]:
    """A distribution of the set under which the information is close to largest, and which letters occur in the set."""
    if source.bounds is not None:
        return _worst_between(mechanism, order, *source.bounds), np.asarray(source.bounds[1] > 0)
    weights = _worst_prior(mechanism, source.vertices, order)[1]
    return weights @ source.vertices, np.asarray(source.vertices.any(axis=0))


def _divergences(mechanism: Mechanism, prior: FloatArray, known: BoolArray, order: float) -> tuple[FloatArray, float]:
    """From above, of each letter from the output that is best against a prior; or moments, and the logarithm of their factor."""
    reference = _reference(mechanism, prior, known, order)
    return (_of_matrix if mechanism.spread is None else _of_spread)(mechanism, reference, known, order)


def _worst_between(mechanism: Mechanism, order: float, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """A distribution between bounds under which the information is close to largest, shape (M,).

    It is concave, and its gradient the divergences. Each letter's probability is multiplied by the exponential of a step along
    it, and all by one number such that they sum to 1 once they are brought between the bounds: Blahut and Arimoto's iteration
    if the step is 1.
    """
    known, step = upper > 0, 1.0

    def brought(numbers: FloatArray) -> FloatArray:
        factors = 0.0, 1.0
        while np.clip(factors[1] * numbers, lower, upper).sum() < 1 and factors[1] < 1e300:
            factors = factors[1], factors[1] * 2
        for _ in range(60):
            middle = (factors[0] + factors[1]) / 2
            small = np.clip(middle * numbers, lower, upper).sum() < 1
            factors = (middle, factors[1]) if small else (factors[0], middle)
        return np.clip(factors[1] * numbers, lower, upper)

    def judged(prior: FloatArray) -> tuple[FloatArray, float, float]:
        values, top = _divergences(mechanism, prior, known, order)
        bound, there = (_nats(float(mean), top, order) for mean in (largest_mean(values, lower, upper), prior @ values))
        return values, bound, there

    prior = brought(np.where(known, 1.0, 0.0))
    values, bound, there = judged(prior)
    best = bound, prior
    for _ in range(_MOST_STEPS if len(prior) <= _FEW else _MOST_STEPS // 20):
        if bound <= there + _ENOUGH or not np.isfinite(values).all():
            break
        slope = values / (1.0 if order == 1 else prior @ values)
        moved = brought(prior * np.exp(np.clip(step * (slope - slope.max()), -600, 0)))
        next_values, next_bound, next_there = judged(moved)
        if next_there > there:
            prior, values, bound, there, step = moved, next_values, next_bound, next_there, step * 1.5
            best = min(best, (bound, prior), key=lambda pair: pair[0])
        elif step < 1e-3:
            break
        else:
            step /= 4
    return best[1]


def _nats(value: float, top: float, order: float) -> float:
    """Information in nats, rounded up, of a largest divergence, or of a largest moment divided by ``exp(top)``.

    A moment is positive: a value that is not, or is no number, was lost to rounding and bounds nothing.
    """
    if math.isnan(value) or (order > 1 and value <= 0):
        return math.inf
    if order == 1:
        return max(value, 0.0)
    logarithm = math.log(value)
    found = (logarithm + top) / (order - 1)
    return max(0.0, found + 8 * _UNIT * (1 + abs(logarithm) + abs(top)) / (order - 1))


def _reference(mechanism: Mechanism, prior: FloatArray, known: BoolArray, order: float) -> FloatArray:
    """The output's distribution that is best against a prior, shape (M,), of a sum that is surely at most 1."""
    spread, row = mechanism.spread, prior[np.newaxis]
    if order == 1:
        outputs = _rows(mechanism.matrix, row)[0][0] if spread is None else _rows_of_spread(spread, row)[0][0]
    else:
        if spread is None:
            used = mechanism.matrix[known].max(axis=0) > 0
            moments, peaks = _columns(mechanism.matrix[known], row[:, known], order)
        else:
            largest = float(spread.shares.max(where=known, initial=0.0)) or 1.0
            used = np.maximum(np.where(known, spread.kept, 0.0), spread.answers * largest) > 0
            moments, peaks = _columns_of_spread(spread, known, row, order)
        outputs = np.zeros(len(prior))
        outputs[used] = peaks * moments[0] ** (1 / order)
    outputs = np.where(outputs > 0, np.maximum(outputs, 1e-290), 0.0)
    return outputs * ((1 - (len(prior) + 8) * _UNIT) / outputs.sum())


def _logs(numbers: FloatArray, reference: FloatArray) -> FloatArray:
    """``log(numbers / reference)``, 0 where a number is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numbers > 0, np.log(numbers / reference), 0.0)


def _slack(size: int, order: float, reference: FloatArray) -> float:
    """What moments can be off, relative to the sum of their terms."""
    largest = float(np.abs(np.log(reference[reference > 0])).max())
    return (size + 32 + 8 * order * (50 + largest)) * _UNIT


def _of_matrix(mechanism: Mechanism, reference: FloatArray, known: BoolArray, order: float) -> tuple[FloatArray, float]:
    """For each row, from above, its divergence from the reference, or its moment divided by ``exp`` of the second number.

    Rows that cannot occur are left out before any logarithm: their divergence may be infinite, and counts for nothing.
    """
    matrix, values = mechanism.matrix[known], np.zeros(len(known))
    logs = _logs(matrix, reference)
    if order == 1:
        terms = matrix * logs
        values[known] = terms.sum(axis=1) + (len(known) + 8) * _UNIT * (np.abs(terms).sum(axis=1) + 1)
        return values, 0.0
    with np.errstate(divide="ignore"):
        exponents = np.log(matrix) + (order - 1) * logs
    top = float(exponents.max())
    values[known] = np.exp(exponents - top).sum(axis=1) * (1 + _slack(len(known), order, reference))
    return values, top


def _of_spread(mechanism: Mechanism, reference: FloatArray, known: BoolArray, order: float) -> tuple[FloatArray, float]:
    """The same in O(M)."""
    spread = mechanism.spread
    assert spread is not None
    kept, shares = np.where(known, spread.kept, 0.0), np.where(known, spread.shares, 0.0)
    answers = spread.answers if shares.any() else np.zeros(len(kept))
    own, logs = _logs(kept, reference), _logs(answers, reference)
    heights = np.log(np.where(shares > 0, shares, 1.0))
    if order == 1:
        first, terms = kept * own, answers * logs
        values = first + shares * (terms.sum() - terms + heights * (answers.sum() - answers))
        sizes = np.abs(first) + shares * (np.abs(terms).sum() + np.abs(terms) + np.abs(heights) * answers.sum() * 2)
        return np.where(known, values + (len(kept) + 32) * _UNIT * (sizes + 1), 0.0), 0.0
    with np.errstate(divide="ignore"):
        kept_exponents, exponents = np.log(kept) + (order - 1) * own, np.log(answers) + (order - 1) * logs
        heights = order * np.log(shares)
    highest = float(exponents.max()) if answers.any() else 0.0
    top = max(float(kept_exponents.max()), highest + float(heights.max()))
    first, terms = np.exp(kept_exponents - top), np.exp(exponents - highest)
    factors = np.exp(heights + highest - top)
    sizes = first + factors * (terms.sum() + terms)
    return first + factors * (terms.sum() - terms) + _slack(len(kept), order, reference) * sizes, top


def renyi_divergence(mechanism: Mechanism, order: float, adjacency: Adjacency | None) -> float:
    """Largest Renyi divergence of this finite order >= 1 between neighbors, in nats, from above.

    Differential privacy has to be finite. In M numbers all letters count as neighbors, and an order above 8 gives infinity.

    >>> round(math.exp(renyi_divergence(Mechanism([[0.75, 0.25], [0.25, 0.75]]), 2, None)), 9) == round(28 / 12, 9)
    True
    """
    if mechanism.spread is not None:
        return _renyi_of_spread(mechanism.spread, order)
    matrix, size = mechanism.matrix, mechanism.alphabet_size
    first, second = neighbors(adjacency, size).T
    if not len(first):
        return 0.0
    logs = np.log(np.where(matrix > 0, matrix, 1.0))
    largest = float(np.abs(logs).max()) + 1
    if order == 1:
        found = (matrix * logs).sum(axis=1)[first] - (matrix @ logs.T)[first, second]
        return max(0.0, float(found.max()) + (size + 8) * _UNIT * 2 * largest)
    if order <= _LARGEST_POWER:
        below = np.where(matrix > 0, np.exp((1 - order) * logs), 0.0)
        moments = (matrix**order @ below.T)[first, second]
        found, slack = float(np.log(moments.max())), (size + 32 + 8 * order * largest) * _UNIT
    else:
        found, slack = 0.0, (size + 32 + 8 * order * largest) * _UNIT
        empty = np.where(matrix > 0, 0.0, -math.inf)
        for row in range(size):
            others = second[first == row]
            exponents = order * logs[row] + (1 - order) * logs[others] + empty[row]
            top = exponents.max(axis=1, initial=-math.inf)
            found = max(found, float((top + np.log(np.exp(exponents.T - top).sum(axis=0))).max(initial=0.0)))
    return max(0.0, (found + slack * 2) / (order - 1))


def _renyi_of_spread(spread: Spread, order: float) -> float:
    if order > _LARGEST_POWER:
        return math.inf
    order = max(order, 1.0001)  # divergences grow with the order
    kinds, first, counts = np.unique(spread.kept + 1j * spread.answers, return_index=True, return_counts=True)
    kept, answers, shares = spread.kept[first], spread.answers[first], spread.shares[first]
    left = sums_of_others(spread.answers)[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        powers, inverse = shares**order, shares ** (1 - order)
        gained = np.where(kept > 0, kept**order * answers ** (1 - order), 0.0) - powers * answers
        lost = left * inverse + np.where(kept > 0, answers**order * kept ** (1 - order), 0.0)
    parts = np.array([powers, np.maximum(gained, 0.0), lost, inverse])
    once = counts == 1
    if len(kinds) > _MOST_KINDS:  # most in the middle are taken together, as if one had the worst of all
        parts = parts[:, np.argsort(shares)]
        once = once[np.argsort(shares)]
        ends, half = np.arange(len(kinds)), _MOST_KINDS // 4
        inner = np.array_split(ends[half:-half], 2 * half)
        starts = np.array([*ends[:half], *(group[0] for group in inner), *ends[-half:]])
        parts = np.maximum.reduceat(parts, starts, axis=1)
        once = once[starts] & (np.diff(np.append(starts, len(kinds))) == 1)
    powers, gained, lost, inverse = parts
    moments = np.outer(powers, lost) + np.outer(gained, inverse)
    moments[once, once] = 0.0
    largest = float(np.abs(np.log(parts[parts > 0])).max()) + 1
    return max(0.0, (math.log(moments.max()) + (64 + 32 * order * largest) * _UNIT) / (order - 1))
