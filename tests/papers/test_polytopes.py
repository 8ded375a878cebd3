"""Exact polytopes against SciPy's hulls, linear programs and each other."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from paper_repro.papers.polytopes import Polytope, as_fractions
from tests.oracles.tradeoffs import distance_to_hull


def floats(polytope):
    return np.array([[float(probability) for probability in vertex] for vertex in polytope.vertices])


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_hull_has_the_vertices_and_facets_that_qhull_finds(size, seed):
    points = np.random.default_rng([size, seed]).dirichlet(np.ones(size), size=size + 2 * seed + 1)
    polytope, reference = Polytope.hull(as_fractions(points)), ConvexHull(points[:, :-1])
    assert len(polytope.normals) == len(reference.simplices)
    # Read as multiples of 1e-12.
    assert floats(polytope) == pytest.approx(points[np.sort(reference.vertices)], abs=1e-11)
    assert polytope.dimension == size - 1


@pytest.mark.parametrize("seed", range(12))
def test_hull_of_small_rationals_is_told_by_linear_programs(seed):
    """Ties, repetitions, points inside and hulls of any dimension."""
    rng = np.random.default_rng(seed)
    size = 2 + seed % 3
    points = rng.multinomial(4, np.full(size, 1 / size), size=2 + seed) / 4
    distinct = np.unique(points, axis=0)
    expected = [
        prior
        for number, prior in enumerate(distinct)
        if len(distinct) == 1 or distance_to_hull(prior, np.delete(distinct, number, axis=0)) > 1e-6
    ]
    polytope = Polytope.hull(as_fractions(points))
    assert sorted(map(tuple, floats(polytope))) == sorted(map(tuple, expected))
    assert polytope.dimension == np.linalg.matrix_rank(points) - 1
    for prior in rng.multinomial(8, np.full(size, 1 / size), size=20) / 8:
        assert (as_fractions(prior[np.newaxis])[0] in polytope) == (distance_to_hull(prior, points) < 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_cuts_part_the_volume(seed):
    rng = np.random.default_rng(seed)
    polytope = Polytope.hull(as_fractions(rng.dirichlet(np.ones(4), size=7)))
    normal = tuple(int(entry) for entry in rng.integers(-3, 4, size=4))
    values = floats(polytope) @ normal
    parts = [part for part in polytope.split(normal) if part is not None]
    assert len(parts) == int(values.min() < 0) + int(values.max() > 0)
    volume = sum(ConvexHull(floats(part)[:, :-1]).volume for part in parts)
    assert volume == pytest.approx(ConvexHull(floats(polytope)[:, :-1]).volume, rel=1e-9)
    for part, sign in zip(parts, (1, -1) if len(parts) == 2 else (np.sign(values.max() + values.min()),), strict=True):
        assert (sign * (floats(part) @ normal) >= -1e-12).all()


@pytest.mark.parametrize("seed", range(8))
def test_intersection_is_what_both_contain(seed):
    rng = np.random.default_rng(seed)
    size = 3 + seed % 2
    one, two = (Polytope.hull(as_fractions(rng.multinomial(6, np.full(size, 1 / size), size=5) / 6)) for _ in range(2))
    common, reverse = one.intersection(two), two.intersection(one)
    assert (common is None) == (reverse is None)
    if common is not None:
        assert set(common.rays) == set(reverse.rays)
        assert all(vertex in one and vertex in two for vertex in common.vertices)
    for prior in as_fractions(rng.multinomial(12, np.full(size, 1 / size), size=200) / 12):
        assert (prior in one and prior in two) == (common is not None and prior in common)


def test_intersections_of_low_dimension():
    half, third = Fraction(1, 2), Fraction(1, 3)
    cross = Polytope.hull([(half, half, 0 * half), (0 * half, 0 * half, 1 + 0 * half)])
    bar = Polytope.hull([(1 + 0 * half, 0 * half, 0 * half), (0 * half, half, half)])
    assert cross.intersection(bar).vertices == ((third, third, third),)
    assert cross.split((1, -1, 0)) == (cross, cross)
    assert cross.split((1, 1, 1))[1] is None
    assert Polytope.hull([(half, half, 0 * half)]).intersection(bar) is None


def test_permuted():
    polytope = Polytope.hull(as_fractions(np.array([[0.6, 0.3, 0.1], [0.1, 0.4, 0.5]])))
    turned = polytope.permuted((2, 0, 1))
    assert floats(turned) == pytest.approx(floats(polytope)[:, [2, 0, 1]], abs=0)
    assert all(vertex in turned for vertex in turned.vertices)


def test_floats_are_read_as_the_fractions_that_were_meant():
    row = as_fractions(np.array([[0.1 + 0.2, 0.7 - 0.3, 0.3 / 3 * 3]]))[0]
    assert row == (Fraction(3, 10), Fraction(2, 5), Fraction(3, 10))
    awkward = np.random.default_rng(5).dirichlet(np.ones(6))
    read = as_fractions(awkward[np.newaxis])[0]
    assert sum(read) == 1
    assert [float(probability) for probability in read] == pytest.approx(awkward, abs=1e-11)  # six roundings of 5e-13


def test_no_points_are_refused():
    with pytest.raises(ValueError, match=r"points must be at least one distribution; got none\."):
        Polytope.hull([])
