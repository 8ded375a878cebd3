"""The two games between a prior of the hull and a letter, against linear programs of the tests' own."""

import numpy as np
import pytest
from hypothesis import given

from paper_repro.solvers.games import highest_floor as found_floor
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.instances import CLASSES, random_vertices, vertex_sets
from tests.oracles.tradeoffs import distance_to_hull, highest_floor, least_distortion_without_leakage

# The oracles' solver works to 1e-10; the package's own figures come from small systems, exact to rounding.
AGREEMENT = 1e-9
ROUNDING = 1e-12


def check(vertices):
    found = perfect_privacy(vertices)
    assert found.distortion == pytest.approx(least_distortion_without_leakage(vertices), abs=AGREEMENT)
    # Primal = dual: the letters reach the distortion against the whole set, and the prior forbids less.
    assert (found.letters >= 0).all() and found.letters.sum() == pytest.approx(1, abs=ROUNDING)
    assert (vertices @ (1 - found.letters)).max() <= found.distortion + ROUNDING
    assert 1 - (found.weights @ vertices).max() == pytest.approx(found.distortion, abs=ROUNDING)
    assert distance_to_hull((found.weights @ vertices), vertices) < AGREEMENT
    floor = found_floor(vertices) @ vertices
    assert floor.min() == pytest.approx(highest_floor(vertices), abs=AGREEMENT)
    assert distance_to_hull(floor, vertices) < AGREEMENT


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(20))
def test_games_of_random_sets(source_class, seed):
    check(random_vertices(source_class, seed))


@given(vertex_sets())
def test_games_of_sets_with_ties_and_zeros(vertices):
    check(vertices)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sets_that_say_nothing(size):
    for vertices in (np.eye(size), np.full((1, size), 1 / size), np.full((3, size), 1 / size)):
        assert perfect_privacy(vertices).distortion == pytest.approx((size - 1) / size, abs=ROUNDING)
        assert found_floor(vertices) @ vertices == pytest.approx(np.full(size, 1 / size), abs=ROUNDING)


@pytest.mark.parametrize("count", [1, 3])
def test_one_letter_sets_need_no_change(count):
    found = perfect_privacy(np.tile([0.0, 1.0, 0.0], (count, 1)))
    assert found.distortion == 0 and found.letters.tolist() == [0, 1, 0]
