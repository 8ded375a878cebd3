"""The exact privacy-distortion curve of differential privacy: in closed form between its breakpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_between, check_distortion, check_grid, check_leakage
from paper_repro.deprecated import says_how
from paper_repro.errors import SolverError
from paper_repro.solvers.diagonal_ratio import ActiveSet, DiagonalRatioProgram, prior_breakpoints
from paper_repro.solvers.games import PERFECT_SLACK, RELATIVE_SLACK
from paper_repro.sources import SourceSet, check_source
from paper_repro.types import FloatArray, IntArray

__all__ = ["ExactCurve", "exact_curve"]

_Piece = tuple[float, float, float, float]

# How far beyond a breakpoint, relative to it, floats look for the next piece where an exchange does not tell.
_STEP = 1e-9
# Sets of so few numbers are followed in fractions, and more where there are probabilities that floats would lose.
_FEW, _MOST_EXACT, _RARE = 32, 200, 1e-6
_ROUNDING, _PAST_ROUNDING = 1e-14, 1 + Fraction(1, 2**45)
# Pieces that differ by less, relatively, are one.
_SAME = 1e-13


@dataclass(frozen=True, eq=False)
class ExactCurve:
    """``eps*(D)`` of a source set under differential privacy, piece by piece: ``exp(eps) = (p + q D) / (r + s D)``.

    Attributes
    ----------
    breakpoints : ndarray, shape (K,)
        Ascending. Piece k covers ``[breakpoints[k-1], breakpoints[k])``, the first one from 0; from the last breakpoint on
        nothing needs to leak. The curve may jump there: see the last of ``limits_from_below``.
    pieces : four ndarrays, each of shape (K,)
        ``p``, ``q``, ``r`` and ``s``.
    """

    breakpoints: FloatArray
    pieces: tuple[FloatArray, FloatArray, FloatArray, FloatArray]

    def __repr__(self) -> str:
        end = f"zero from {self.breakpoints[-1]:.6g}" if len(self.breakpoints) else "zero everywhere"
        return f"ExactCurve({len(self.breakpoints)} pieces, {end})"

    @property
    def limits_from_below(self) -> FloatArray:
        """Leakage in nats as D rises to each breakpoint, shape (breakpoints,); the last one is the height of the jump."""
        return self._on_piece(slice(None), self.breakpoints)

    def leakage(self, distortions: ArrayLike) -> FloatArray:
        """``eps*(D)`` in nats, infinite at D = 0 unless nothing ever needs to leak; exact up to rounding.

        Distortions may have any shape, and the result has it too. Raises ValueError for a distortion outside [0, 1].
        """
        grid = check_grid(distortions, check_distortion)
        # A distortion that misses the jump by rounding alone is on its far side.
        last = self.breakpoints[-1:]
        ends = np.append(self.breakpoints[:-1], last - np.minimum(PERFECT_SLACK, RELATIVE_SLACK * last))
        index = np.searchsorted(ends, grid, side="right")
        found = np.zeros(grid.shape)
        inside = index < len(ends)
        found[inside] = self._on_piece(index[inside], grid[inside])
        return found

    def distortion(self, leakages: ArrayLike) -> FloatArray:
        """``D*(eps)``: constant up to the height of the jump, then the inverse of each piece; exact up to rounding.

        Leakages may have any shape, and the result has it too. Raises ValueError for a negative or NaN leakage.
        """
        grid = check_grid(leakages, check_leakage)
        found = np.zeros(grid.shape)
        if not len(self.breakpoints):
            return found
        limits = self.limits_from_below
        # limits fall as D rises: piece k serves the leakages between limits[k] and limits[k - 1]
        index = len(limits) - np.searchsorted(limits[::-1], grid, side="right")
        jump = index == len(limits)
        found[jump] = self.breakpoints[-1]
        p, q, r, s = (part[index[~jump]] for part in self.pieces)
        inverse = np.exp(-grid[~jump])
        found[~jump] = np.maximum(0.0, (p * inverse - r) / (s - q * inverse))
        return found

    def rescaled(self, factor: float) -> ExactCurve:
        """The curve with every distortion D at ``factor * D``, as ``eps*(D / factor)``.

        Raises ValueError unless the factor is a number in [1e-16, 1e16].

        >>> exact_curve(SourceSet([0.5, 0.3, 0.2])).rescaled(0.9).breakpoints
        array([0.36, 0.45])
        """
        factor = check_between(factor, "a number between 1e-16 and 1e16", 1e-16, 1e16, "factor")
        p, q, r, s = self.pieces
        return ExactCurve(factor * self.breakpoints, (p, q / factor, r, s / factor))

    def _on_piece(self, index: IntArray | slice, distortions: FloatArray) -> FloatArray:
        p, q, r, s = (part[index] for part in self.pieces)
        with np.errstate(divide="ignore"):
            return np.maximum(0.0, np.log(p + q * distortions) - np.log(np.maximum(r + s * distortions, 0.0)))


@says_how("write exact_curve(source) for differential privacy, notion.exact_curve(source) for another notion")
def exact_curve(source: SourceSet) -> ExactCurve:
    """The complete privacy-distortion curve of differential privacy, with all its breakpoints, for any source set.

    For one prior, and for intervals by their least majorized member, the pieces are ``exp(eps) = (n - 1)(1 - D) / (D - tail_n)``
    (Theorem 13, Zhong and Bu 2022), for the cost of one sort. For several vertices, each piece is one active set of the linear
    program (see :mod:`paper_repro.solvers.diagonal_ratio`), followed from breakpoint to breakpoint; where the next active set
    carries the same curve on there is none.

    Returns
    -------
    ExactCurve
        Exact up to rounding, at any distortion, for one prior, intervals, and sets that are followed in fractions: of at most 32
        numbers, or 200 if probabilities are below 1e-6. Larger sets are followed in floats, within 1e-9 nats wherever compared.

    Raises
    ------
    ValueError
        If this is no SourceSet.

    Examples
    --------
    >>> curve = exact_curve(SourceSet([0.5, 0.3, 0.2]))
    >>> curve.breakpoints
    array([0.4, 0.5])
    >>> curve.leakage([0.2, 0.4, 0.499, 0.5]).round(6)
    array([2.079442, 1.098612, 0.516163, 0.      ])
    >>> exact_curve(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])).breakpoints.round(6)
    array([0.2 , 0.55])
    """
    return _exact_curve(check_source(source))


@lru_cache(maxsize=64)  # source sets are frozen, and hashed by identity
def _exact_curve(source: SourceSet) -> ExactCurve:
    prior = source.least_majorized
    return _curve_of_set(source) if prior is None else _curve_of_prior(prior)


def _curve_of_prior(prior: FloatArray) -> ExactCurve:
    rising = np.sort(prior)
    breakpoints, tails, others = prior_breakpoints(rising)
    # Response on n letters serves [B_{n+1}, B_n], of length (n - 1)(P_{n-1} - P_n): with equal probabilities n is skipped.
    served = np.empty(len(others), dtype=bool)
    served[:1] = rising[:-1][:1] > 0
    np.greater(rising[1:-1], rising[:-2], out=served[1:])
    if not served.all():
        breakpoints, tails, others = breakpoints[served], tails[served], others[served]
    return ExactCurve(breakpoints, (others, -others, -tails, np.broadcast_to(1.0, len(others))))


def _curve_of_set(source: SourceSet) -> ExactCurve:
    program = DiagonalRatioProgram(source.vertices)
    letters, end = program.letter_count, program.perfect.distortion
    if end == 0:
        return ExactCurve(np.empty(0), (np.empty(0),) * 4)
    ends, pieces = [min(program.symmetric_distortion, end)], [(letters - 1.0, 1.0 - letters, 0.0, 1.0)]
    rare = source.vertices[source.vertices > 0].min() < _RARE
    follow = _follow_exactly if source.vertices.size <= (_MOST_EXACT if rare else _FEW) else _follow
    follow(program, ends, pieces)
    ends[-1] = end
    return ExactCurve(*_joined(ends, pieces))


def _joined(
    ends: list[float], pieces: list[_Piece]
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Breakpoints and pieces without those that go on as the one before: another active set need not be another curve."""
    kept, last = [0], pieces[0]
    for number in range(1, len(pieces)):
        p, q, r, s = last
        middle = (ends[number - 1] + ends[number]) / 2
        for place in (middle, ends[number]):
            own = pieces[number]
            one, other = (p + q * place) * (own[2] + own[3] * place), (own[0] + own[1] * place) * (r + s * place)
            if abs(one - other) > _SAME * abs(other):
                kept.append(number)
                last = own
                break
    joints = [number - 1 for number in kept[1:]] + [len(pieces) - 1]
    p, q, r, s = np.array(pieces)[kept].T
    return np.array(ends)[joints], (p, q, r, s)


def _follow(program: DiagonalRatioProgram, ends: list[float], pieces: list[_Piece]) -> None:
    """Append all pieces beyond the first, one exchange each; a program is solved only where the exchange was misled by ties."""
    end, place = program.perfect.distortion, ends[0]
    active_set: ActiveSet | None = None
    while place < end * (1 - _ROUNDING):
        if active_set is None or not active_set.is_optimal(place):
            place = min(place * (1 + _STEP), (place + end) / 2)
            active_set = program.active_set(place)
            if active_set is None:  # still symmetric, to the solver
                continue
        numerator, denominator = active_set.ratio(place)
        beyond, following = active_set.successor(place)
        if beyond > ends[-1] * (1 + _ROUNDING):  # or else no float tells its ends apart
            pieces.append(_piece(numerator, denominator, place))
            ends.append(min(beyond, end))
        stuck = following is None or not beyond > place
        place, active_set = beyond, None if stuck else following


def _piece(numerator: FloatArray, denominator: FloatArray, place: Any) -> _Piece:
    """``p``, ``q``, ``r`` and ``s`` of a ratio of lines around a place, scaled so that floats hold them."""
    parts = (
        numerator[0] - place * numerator[1],
        numerator[1],
        denominator[0] - place * denominator[1],
        denominator[1],
    )
    scale = max(abs(parts[2]), abs(parts[3]))
    p, q, r, s = (float(part / scale) for part in parts)
    return p, q, r, s


def _follow_exactly(program: DiagonalRatioProgram, ends: list[float], pieces: list[_Piece]) -> None:
    """Append all pieces beyond the first, found in fractions: each next one 2^-100 of the distortion behind a breakpoint."""
    place, end = Fraction(ends[0]), program.perfect.distortion
    while place < end * (1 - _ROUNDING):
        bits = place.denominator.bit_length() - place.numerator.bit_length() + 100
        probe = Fraction(math.floor(place * Fraction(2) ** bits) + 1, 1) / Fraction(2) ** bits
        try:
            active_set = program.exact_active_set(probe)
        except SolverError:  # the end is nearer than rounding tells
            break
        if active_set is None:
            place = probe * _PAST_ROUNDING
            continue
        place = max(active_set.interval(probe)[1], probe)
        if place <= ends[-1] * _PAST_ROUNDING:  # no float tells its ends apart
            continue
        pieces.append(_piece(*active_set.ratio(probe), probe))
        ends.append(min(float(min(place, 2)), end))
