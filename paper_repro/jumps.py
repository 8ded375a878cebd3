"""Jumps of privacy-distortion curves, found where no closed form tells of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.types import FloatArray

__all__ = ["with_jumps"]

# A drop between two points of a grid that is worth a look, in nats; the width to which it is narrowed; and what is left of a
# steep but continuous drop at that width.
_DROP, _WIDTH, _JUMP = 0.04, 1e-9, 1e-3


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
    distortions, leakages : ndarrays
    ends : list of str
        ``open`` for the limit below a jump, ``closed`` for the value at it, else empty.

    >>> step = lambda distortion: 1.0 - distortion + (distortion < 0.3)
    >>> distortions, leakages, ends = with_jumps(step, [0.2, 0.4], [step(0.2), step(0.4)])
    >>> distortions.round(6), leakages.round(6), ends
    (array([0.2, 0.3, 0.3, 0.4]), array([1.8, 1.7, 0.7, 0.6]), ['', 'open', 'closed', ''])
    """
    places, values = np.asarray(grid, dtype=float), np.asarray(leakages, dtype=float)
    points: list[tuple[float, float, str]] = []
    for number, (place, value) in enumerate(zip(places, values, strict=True)):
        if number and values[number - 1] - value > _DROP and np.isfinite(values[number - 1]):
            low, high = (places[number - 1], values[number - 1]), (place, value)
            drop, steps = low[1] - high[1], 0
            # A continuous drop shrinks with the width.
            while high[0] - low[0] > _WIDTH and low[1] - high[1] > max(_JUMP, drop * 2 ** (-0.9 * steps) * (steps > 3)):
                steps += 1
                middle = (low[0] + high[0]) / 2
                between = (middle, curve(middle))
                low, high = (low, between) if low[1] - between[1] >= between[1] - high[1] else (between, high)
            if high[0] - low[0] <= _WIDTH and low[1] - high[1] > _JUMP:
                at = round(high[0], 8)
                points += [(at, low[1], "open"), (at, high[1], "closed")]
        points.append((place, value, ""))
    kept = [
        point for point in points if point[2] or all(abs(point[0] - other[0]) > 1e-8 for other in points if other[2])
    ]
    return np.array([p[0] for p in kept]), np.array([p[1] for p in kept]), [p[2] for p in kept]
