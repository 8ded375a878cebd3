"""The curve of a notion: least leakage at each distortion, least distortion at each leakage, and where such a curve jumps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_grid, check_leakage
from paper_repro.deprecated import accepts_old_call
from paper_repro.notions import Notion
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import solver
from paper_repro.types import FloatArray

__all__ = ["distortion_curve", "leakage_curve", "with_jumps"]


@accepts_old_call("notion")
def leakage_curve(
    source: SourceSet, distortions: ArrayLike, *, notion: Notion | None = None, costs: ArrayLike | None = None
) -> FloatArray:
    """Least leakage at each distortion: the privacy-distortion function ``eps*(source, D)``.

    Parameters
    ----------
    source : SourceSet
    distortions : array_like in [0, 1], or with ``costs`` in [0, largest cost]
        Of any shape.
    notion : Notion, default ``DifferentialPrivacy()``
    costs : array_like, shape (M, M), optional
        Distances between letters, as of :func:`paper_repro.optimal_mechanism`.

    Returns
    -------
    ndarray of the same shape
        Nats; each value certified as by :func:`paper_repro.optimal_mechanism`.

    Raises
    ------
    ValueError, CertificateError
        As :func:`paper_repro.optimal_mechanism`.

    Examples
    --------
    >>> leakage_curve(SourceSet([0.5, 0.3, 0.2]), [0.0, 0.3, 0.45, 0.5]).round(6)
    array([     inf, 1.540445, 0.788457, 0.      ])
    """
    solve, check = solver(source, notion, costs)
    grid = check_grid(distortions, check)
    found = [solve(distortion=float(budget)).leakage for budget in grid.flat]
    return np.array(found, dtype=float).reshape(grid.shape)


@accepts_old_call("notion")
def distortion_curve(
    source: SourceSet, leakages: ArrayLike, *, notion: Notion | None = None, costs: ArrayLike | None = None
) -> FloatArray:
    """Least worst-case distortion at each leakage, ``D*(source, eps)``: the inverse of :func:`leakage_curve`.

    Parameters
    ----------
    source : SourceSet
    leakages : array_like, >= 0, in nats
        Of any shape.
    notion : Notion, default ``DifferentialPrivacy()``
    costs : array_like, shape (M, M), optional
        Distances between letters, as of :func:`paper_repro.optimal_mechanism`.

    Returns
    -------
    ndarray of the same shape
        Distortions; each value certified as by :func:`paper_repro.optimal_mechanism`.

    Raises
    ------
    ValueError, CertificateError
        As :func:`paper_repro.optimal_mechanism`.

    Examples
    --------
    >>> distortion_curve(SourceSet([0.5, 0.3, 0.2]), [0.0, 1.540445, np.inf]).round(6)
    array([0.5, 0.3, 0. ])
    """
    solve, _ = solver(source, notion, costs)
    grid = check_grid(leakages, check_leakage)
    found = [solve(leakage=float(budget)).distortion for budget in grid.flat]
    return np.array(found, dtype=float).reshape(grid.shape)


# A drop between two points of a grid that is worth a look, in nats; the width to which it is narrowed; and what is left of a
# steep but continuous drop at that width.
_DROP, _WIDTH, _JUMP = 0.04, 1e-9, 1e-3
# A continuous drop shrinks with the width, by about half a halving; the first halvings do not tell.
_SHRINKS, _FIRST = 2**-0.9, 3


class _Point(NamedTuple):
    distortion: float
    leakage: float
    end: str = ""


def with_jumps(
    curve: Callable[[float], float], grid: ArrayLike, leakages: ArrayLike
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Points of a falling curve with both ends of every jump added.

    Between neighboring points of the grid that differ by more than 0.04 nats the interval is halved, always keeping the half that
    falls more, as long as the fall does not shrink like the width, down to a width of 1e-9: what still falls by more than 0.001
    nats there is a jump. A curve takes the lower value at a jump. Two jumps between neighboring points are seen as one.

    Parameters
    ----------
    curve : callable
        Least leakage in nats at a distortion.
    grid, leakages : array_like, shape (points,)
        Rising distortions and the curve there.

    Returns
    -------
    distortions, leakages : ndarrays of one shape
    ends : list of str
        ``open`` for the limit below a jump, ``closed`` for the value at it, else empty.

    >>> step = lambda distortion: 1.0 - distortion + (distortion < 0.3)
    >>> distortions, leakages, ends = with_jumps(step, [0.2, 0.4], [step(0.2), step(0.4)])
    >>> distortions.round(6), leakages.round(6), ends
    (array([0.2, 0.3, 0.3, 0.4]), array([1.8, 1.7, 0.7, 0.6]), ['', 'open', 'closed', ''])
    """
    given = [_Point(*pair) for pair in zip(np.asarray(grid, float), np.asarray(leakages, float), strict=True)]
    points = given[:1]
    for left, right in itertools.pairwise(given):
        points += [*_jump_between(curve, left, right), right]
    ends = [point.distortion for point in points if point.end]
    points = [point for point in points if point.end or all(abs(point.distortion - end) > 1e-8 for end in ends)]
    return (
        np.array([point.distortion for point in points]),
        np.array([point.leakage for point in points]),
        [point.end for point in points],
    )


def _jump_between(curve: Callable[[float], float], left: _Point, right: _Point) -> list[_Point]:
    """Both ends of a jump between two points of the curve, or nothing if the curve just falls."""
    drop = left.leakage - right.leakage
    if not (drop > _DROP and np.isfinite(drop)):
        return []
    halvings = 0
    while right.distortion - left.distortion > _WIDTH:
        continuous = drop * _SHRINKS**halvings if halvings > _FIRST else 0.0
        if left.leakage - right.leakage <= max(_JUMP, continuous):
            return []
        place = (left.distortion + right.distortion) / 2
        middle = _Point(place, curve(place))
        falls_first = left.leakage - middle.leakage >= middle.leakage - right.leakage
        left, right = (left, middle) if falls_first else (middle, right)
        halvings += 1
    if left.leakage - right.leakage <= _JUMP:
        return []
    place = round(right.distortion, 8)
    return [_Point(place, left.leakage, "open"), _Point(place, right.leakage, "closed")]
