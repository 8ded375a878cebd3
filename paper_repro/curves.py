"""The curve of a notion: least leakage at each distortion, least distortion at each leakage, and the points to draw it by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_grid, check_leakage
from paper_repro.deprecated import accepts_old_call
from paper_repro.notions import Notion
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import solver
from paper_repro.types import FloatArray

__all__ = ["PIXELS", "distortion_curve", "leakage_curve", "refined"]


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


# 7.2 by 3.3 inches at 300 dots an inch: no panel of a figure is larger.
PIXELS = (2160, 1000)
# What the middle of an interval may be off its chord, in pixels. The middle is kept, so that what is left is less: a quarter for
# a smooth curve, and half a pixel at a bend.
_OFF = 0.25
# A first grid with wider intervals, in pixels, could have their middles on a chord by chance; and no grid has fewer than a dozen.
_WIDEST, _FEWEST = 90, 12
# The width to which a jump is narrowed; what is left of a steep but continuous fall at that width; and the part of a pixel below
# which nobody sees a jump. A continuous fall shrinks with the width, by about half a halving; the first halvings do not tell.
_WIDTH, _JUMP, _SEEN = 1e-9, 1e-3, 0.5
_SHRINKS, _FIRST = 2**-0.9, 3


def refined(
    curve: Callable[[FloatArray], FloatArray],
    places: ArrayLike,
    *,
    pixels: tuple[float, float] = PIXELS,
    span: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Points of a curve between which straight lines are within half a pixel of it, with both ends of every jump.

    Intervals are halved until their middles lie on their chords, distances being measured in the drawn plane, where a steep line
    is as wide as a flat one. The curve has to be smooth, or convex, between the places: what bends otherwise is found if a middle
    shows it. Where a curve changes within a pixel, the interval is halved, always keeping the half that changes more, down to a
    width of 1e-9: what still changes by more than 0.001 there is a jump, and at it a curve takes the value to the right.

    Parameters
    ----------
    curve : callable
        From distortions of shape (points,) to leakages in nats, shape (points,), or (points, curves) for several at once.
    places : array_like, shape (places,)
        Where the curve is evaluated in any case: its ends, and what is known of its breakpoints and zeros.
    pixels : (float, float)
        Across and down the panel that the curve is drawn in.
    span : float or array_like, shape (curves,), optional
        Height of the panel in nats, for all curves or for each; what the curves span together, if not given.

    Returns
    -------
    distortions : ndarray, shape (points,)
        Rising, with the place of a jump twice.
    leakages : ndarray, shape (points,) or (points, curves)
    ends : list of str
        ``open`` for the limit below a jump, ``closed`` for the value at it, else empty.

    >>> step = lambda distortion: 1.0 - distortion + (distortion < 0.3)
    >>> distortions, leakages, ends = refined(step, [0.2, 0.4])
    >>> jump = ends.index("open")
    >>> distortions[jump : jump + 2].round(6), leakages[jump : jump + 2].round(6), ends[jump : jump + 2]
    (array([0.3, 0.3]), array([1.7, 0.7]), ['open', 'closed'])
    """
    grid = np.unique(np.asarray(places, dtype=float))
    if len(grid) < 2:
        return grid, curve(grid), [""] * len(grid)
    fewest = max(_FEWEST, round(pixels[0] / _WIDEST))
    if np.diff(grid).max() > 1.01 * np.ptp(grid) / fewest:
        grid = np.union1d(grid, np.linspace(grid[0], grid[-1], fewest + 1)[1:-1])
    values = np.asarray(curve(grid))
    height = np.ptp(values[np.isfinite(values)]) if span is None else np.asarray(span, dtype=float)
    scale = (np.ptp(grid) / pixels[0], np.where(height > 0, height, np.inf) / pixels[1])
    left = np.arange(len(grid) - 1)
    while len(left):
        middles = (grid[left] + grid[left + 1]) / 2
        found = np.asarray(curve(middles))
        wrong = _off(grid[left], grid[left + 1], values[left], values[left + 1], found, scale) > _OFF
        grid, values = np.insert(grid, left + 1, middles), np.insert(values, left + 1, found, axis=0)
        first = left[wrong] + np.flatnonzero(wrong)  # each middle before an interval moved it on by one
        left = np.sort(np.append(first, first + 1))
    return _with_jumps(curve, grid, values, scale)


def _off(
    left: FloatArray, right: FloatArray, before: FloatArray, behind: FloatArray, middle: FloatArray, scale: Any
) -> FloatArray:
    """Distances of the middles of intervals from their chords in pixels, for the curve that is worst; shape (intervals,)."""
    across = (right - left) / scale[0]
    with np.errstate(invalid="ignore"):
        down, gap = (behind - before) / scale[1], np.abs(middle - (before + behind) / 2) / scale[1]
        across = across.reshape(-1, *[1] * (gap.ndim - 1))
        distance = gap * across / np.hypot(across, down)
    # Where a curve is infinite nothing is drawn: it is followed up to that pixel.
    distance = np.where(np.isfinite(gap), distance, across / 2)
    return distance.reshape(len(left), -1).max(axis=1)


def _with_jumps(
    curve: Callable[[FloatArray], FloatArray], grid: FloatArray, values: FloatArray, scale: Any
) -> tuple[FloatArray, FloatArray, list[str]]:
    """The points with both ends of each jump between two of them."""
    change = np.abs(np.diff(values, axis=0)) / scale[1]
    change = change.reshape(len(change), -1).max(axis=1)
    steep = np.isfinite(change) & (change > _SEEN) & (np.diff(grid) < 2 * scale[0])
    jumps = [
        jump
        for index in np.flatnonzero(steep)
        if (jump := _jump_between(curve, *grid[index : index + 2], *values[index : index + 2]))
    ]
    apart = np.array([all(abs(place - jump[0]) > 1e-8 for jump in jumps) for place in grid], dtype=bool)
    grid, values, ends = grid[apart], values[apart], [""] * int(apart.sum())
    for place, before, behind in jumps:
        index = int(np.searchsorted(grid, place))
        grid = np.insert(grid, index, [place, place])
        values = np.insert(values, index, np.array([before, behind]), axis=0)
        ends[index:index] = ["open", "closed"]
    return grid, values, ends


def _jump_between(
    curve: Callable[[FloatArray], FloatArray], left: float, right: float, before: FloatArray, behind: FloatArray
) -> tuple[float, FloatArray, FloatArray] | None:
    """Place of a jump and its two ends, or None if the curve just falls."""
    change, halvings = float(np.abs(behind - before).max()), 0
    while right - left > _WIDTH:
        continuous = change * _SHRINKS**halvings if halvings > _FIRST else 0.0
        if np.abs(behind - before).max() <= max(_JUMP, continuous):
            return None
        place = (left + right) / 2
        middle = np.asarray(curve(np.array([place])))[0]
        changes_first = np.abs(middle - before).max() >= np.abs(behind - middle).max()
        left, right, before, behind = (left, place, before, middle) if changes_first else (place, right, middle, behind)
        halvings += 1
    return (round(right, 8), before, behind) if np.abs(behind - before).max() > _JUMP else None
