"""Jumps are found where they are, and steep falls are none."""

import math

import numpy as np
import pytest

from paper_repro.curves import with_jumps


def falling(places, heights):
    """A curve with slope -1 and jumps of these heights at these places, taking the lower value there."""
    return lambda distortion: 2 - distortion + sum(h for p, h in zip(places, heights, strict=True) if distortion < p)


@pytest.mark.parametrize(("place", "height"), [(0.3, 1.0), (0.31234, 0.2), (0.05, 0.1), (0.95, 0.05)])
def test_a_jump_is_found_with_both_its_ends(place, height):
    grid = np.linspace(0, 1, 21)
    curve = falling([place], [height])
    distortions, leakages, ends = with_jumps(curve, grid, [curve(point) for point in grid])
    assert ends.count("open") == ends.count("closed") == 1
    at = ends.index("open")
    assert ends[at + 1] == "closed"
    assert distortions[at] == distortions[at + 1] == pytest.approx(place, abs=2e-8)
    assert leakages[at] == pytest.approx(2 - place + height, abs=1e-6)
    assert leakages[at + 1] == pytest.approx(2 - place, abs=1e-6)
    assert (np.diff(distortions) >= 0).all()
    assert (np.diff(leakages) <= 0).all()


def test_two_jumps_in_different_cells():
    grid, curve = np.linspace(0, 1, 11), falling([0.25, 0.77], [0.5, 0.3])
    distortions, _, ends = with_jumps(curve, grid, [curve(point) for point in grid])
    assert [round(place, 6) for place, end in zip(distortions, ends, strict=True) if end] == [0.25, 0.25, 0.77, 0.77]


@pytest.mark.parametrize("curve", [lambda d: -math.log(d), lambda d: 1 / d, lambda d: math.sqrt(1 - d), lambda d: 0.0])
def test_steep_is_no_jump(curve):
    grid = np.linspace(0.01, 1, 30)
    distortions, leakages, ends = with_jumps(curve, grid, [curve(point) for point in grid])
    assert not any(ends)
    assert (distortions == grid).all()
    assert leakages == pytest.approx([curve(point) for point in grid])


def test_an_infinite_start_is_left_alone():
    distortions, leakages, ends = with_jumps(lambda d: 1 - d, [0.0, 0.5], [math.inf, 0.5])
    assert (distortions.tolist(), leakages.tolist(), ends) == ([0.0, 0.5], [math.inf, 0.5], ["", ""])
