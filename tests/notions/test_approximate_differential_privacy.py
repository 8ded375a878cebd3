"""Approximate differential privacy: both definitions in exact arithmetic, the rescaled axis, and neighbors on a graph."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    Mechanism,
    SourceSet,
    distortion_curve,
    leakage_curve,
    line,
    optimal_mechanism,
    ring,
)
from tests.oracles.instances import inside, random_vertices, vertex_sets
from tests.oracles.notions import (
    Ratios,
    all_pairs,
    hamming_costs,
    leakage_error,
    logarithm,
    pointwise_ratio,
    standard_ratio,
)
from tests.oracles.tradeoffs import exponential_covers, least_distortion_without_leakage

PRIOR = SourceSet([0.4, 0.3, 0.2, 0.1])
both = pytest.mark.parametrize("standard", [False, True], ids=["pointwise", "standard"])
# Against the program over the whole matrix, in nats or in distortion.
AGREEMENT = 1e-7


def ratio(matrix, pairs, delta, standard):
    return (standard_ratio if standard else pointwise_ratio)(matrix, pairs, delta)


@both
def test_numbers(standard):
    distortions = [0.1, 0.25, 0.4, 0.5, 0.53, 0.54, 0.55, 1.0]
    found = leakage_curve(PRIOR, distortions, notion=ApproximateDP(0.1, standard))
    assert found == pytest.approx([3.178054, 2.054124, 1.171183, 0.553385, 0.352821, 0, 0, 0], abs=5e-7)  # as printed
    assert found[0] == pytest.approx(math.log(24), abs=1e-9) and (found[-3:] == 0).all()


@both
@pytest.mark.parametrize("delta", [1e-6, 0.02, 0.3, 0.7])
@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_optima_meet_the_full_program(seed, delta, standard):
    vertices = random_vertices("III", seed, most_letters=5, most_vertices=4)
    size, notion = vertices.shape[1], ApproximateDP(delta, standard)
    whole = Ratios.of_neighbors(vertices, hamming_costs(size), all_pairs(size), delta, standard)
    for share in (0.1, 0.85):
        distortion = share * (1 - delta) * least_distortion_without_leakage(vertices)
        best = optimal_mechanism(SourceSet(vertices), distortion=distortion, notion=notion)
        assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT
    for leakage in (0.0, 0.3, 2.0):
        found = distortion_curve(SourceSet(vertices), leakage, notion=notion)
        assert found == pytest.approx(whole.least_distortion(leakage), abs=1e-9)  # the oracle's solver


@both
@given(vertex_sets(), inside(), st.floats(0, 0.9))
@settings(max_examples=40)
def test_the_axis_is_rescaled(standard, vertices, share, delta):
    source = SourceSet(vertices)
    distortion = share * (1 - delta) * least_distortion_without_leakage(vertices)
    found = optimal_mechanism(source, distortion=distortion, notion=ApproximateDP(delta, standard))
    expected = leakage_curve(source, distortion / (1 - delta))
    # In the matrix delta is added to what is kept, and rounded to some 1e-16 beside it.
    assert found.leakage == pytest.approx(expected, abs=1e-9)
    assert found.gap <= 1e-9


@both
def test_without_delta_it_is_differential_privacy(standard, rng):
    notion = ApproximateDP(0, standard)
    for _ in range(10):
        matrix = rng.dirichlet(np.ones(4), size=4)
        assert notion.leakage(matrix) == DifferentialPrivacy().leakage(matrix) > 0
    grid = [0.0, 0.1, 0.3, 0.59, 0.6, 1.0]
    assert leakage_curve(PRIOR, grid, notion=notion) == pytest.approx(leakage_curve(PRIOR, grid), abs=1e-12)


@both
@given(st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=3, max_size=3), st.floats(0, 0.5))
@settings(max_examples=60)
def test_leakage_is_rounded_up_and_no_further(standard, rows, delta):
    matrix = np.array(rows)
    matrix = Mechanism(matrix / matrix.sum(axis=1, keepdims=True)).matrix
    leakage, exact = ApproximateDP(delta, standard).leakage(matrix), ratio(matrix, all_pairs(3), delta, standard)
    assert exponential_covers(leakage, exact)
    assert leakage == 0 or not exponential_covers(math.nextafter(leakage, 0), exact)


@both
@given(vertex_sets(), inside(), st.sampled_from([1e-12, 1e-3, 0.1, 0.9, 1 - 1e-6]))
@settings(max_examples=40)
def test_the_returned_matrix_keeps_its_leakage_exactly(standard, vertices, share, delta):
    for budget in ({"distortion": share * (1 - delta)}, {"leakage": 5 * share}, {"leakage": 0.0}):
        best = optimal_mechanism(SourceSet(vertices), notion=ApproximateDP(delta, standard), **budget)
        assert exponential_covers(
            best.leakage, ratio(best.mechanism.matrix, all_pairs(vertices.shape[1]), delta, standard)
        )


@both
@pytest.mark.parametrize("delta", [0.1, 0.25, 0.7])
def test_delta_alone_spares_a_share_of_the_distortion(standard, delta):
    free = optimal_mechanism(PRIOR, leakage=0.0, notion=ApproximateDP(delta, standard))
    assert free.leakage == 0 and free.distortion == pytest.approx(0.6 * (1 - delta), abs=1e-14)  # rounding


@both
@pytest.mark.parametrize(
    ("matrix", "delta", "pointwise", "standardly"),
    [
        ([[0.75, 0.25], [0.25, 0.75]], 0.25, 2, 2),
        ([[0.75, 0.25], [0.25, 0.75]], 0.5, 1, 1),
        ([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], 0.25, 1, 1),
        ([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], 0.125, math.inf, math.inf),
        ([[0.25, 0.25, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]], 0.25, 1.5, math.inf),
        ([[0.25, 0.25, 0.5], [0.125, 0.125, 0.75], [0.125, 0.125, 0.75]], 0.0625, 1.5, 1.75),
    ],
)
def test_leakage_by_its_definition(matrix, delta, pointwise, standardly, standard):
    expected = math.log(standardly if standard else pointwise)
    assert ApproximateDP(delta, standard).leakage(matrix) == pytest.approx(expected, abs=1e-15)


def test_excess_at_delta_exactly_is_judged_without_rounding():
    """0.1 + 0.2 is above 0.3 as floats go, and so is the sum of what the floats stand for."""
    matrix = Mechanism([[0.1, 0.2, 0.7], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]).matrix
    excess = Fraction(0.1) + Fraction(0.2)
    assert excess > Fraction(0.3)
    assert ApproximateDP(0.3, standard=True).leakage(matrix) == math.inf
    above = math.nextafter(0.3, 1)
    assert Fraction(above) > excess
    # The neighbors' own excess over row 0, where 1 stands beside 0.7.
    expected = logarithm((1 - Fraction(above)) / Fraction(matrix[0, 2]))
    assert ApproximateDP(above, standard=True).leakage(matrix) == pytest.approx(expected, abs=1e-15)


@both
@pytest.mark.parametrize("graph", [line(4), ring(4)], ids=["line", "ring"])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.2])
def test_neighbors_on_a_graph(graph, delta, standard):
    vertices = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    pairs = [tuple(pair) for edge in graph.edges.tolist() for pair in (edge, edge[::-1])]
    whole = Ratios.of_neighbors(vertices, hamming_costs(4), pairs, delta, standard)
    source, notion = SourceSet(vertices), ApproximateDP(delta, standard, graph)
    for leakage in (0.0, 0.4, 1.5):
        best = optimal_mechanism(source, leakage=leakage, notion=notion)
        assert best.distortion == pytest.approx(whole.least_distortion(leakage), abs=1e-8)
        assert best.leakage <= leakage + 1e-11
        assert best.leakage == pytest.approx(logarithm(ratio(best.mechanism.matrix, pairs, delta, standard)), abs=1e-14)
    for distortion in (0.1, 0.3):
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        (1.0, r"delta must be a probability, at least 0 and below 1; got 1\.0; at 1 every mechanism would do"),
        (-0.1, r"at least 0 and below 1; got -0\.1"),
        (math.nan, "at least 0 and below 1; got nan"),
        (math.inf, "at least 0 and below 1; got inf"),
        ("some", "delta must be a number, .* got 'some'"),
    ],
)
def test_bad_delta(delta, message):
    with pytest.raises(ValueError, match=message):
        ApproximateDP(delta)


@both
def test_the_graph_must_fit(standard):
    notion = ApproximateDP(0.1, standard, line(3))
    with pytest.raises(ValueError, match="graph of neighbors has 3 vertices and there are 4 letters; give one vertex"):
        notion.leakage(np.eye(4))
    with pytest.raises(ValueError, match="graph of neighbors has 3 vertices and there are 4 letters; give one vertex"):
        optimal_mechanism(PRIOR, distortion=0.1, notion=notion)


def test_a_uniform_prior_on_a_line_whose_ties_stop_highs():
    notion = ApproximateDP(0.01, adjacency=line(4))
    best = optimal_mechanism(SourceSet(np.full(4, 0.25)), leakage=0.104, notion=notion)
    assert best.gap <= 1e-12
