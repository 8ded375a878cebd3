"""Sibson information: the worst prior of a channel, optima by norms and by cones, bounds, and limits of the order."""

import math

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    MaximalLeakage,
    Mechanism,
    MutualInformation,
    SibsonInformation,
    SourceSet,
    leakage_curve,
    optimal_mechanism,
)
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.notions import Cones, hamming_costs, leakage_error, sibson_information, worst_sibson_information
from tests.oracles.tradeoffs import least_distortion_without_leakage

# What is certified, and the bracket of an evaluated leakage, in nats.
TOLERANCE, BRACKET = 1e-6, 2e-10
ORDERS = [1.01, 1.5, 2, 5, 10, 100]
TWO = SourceSet([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])


def test_numbers():
    uniform = SourceSet(np.full(3, 1 / 3))
    assert leakage_curve(uniform, 0.3, notion=SibsonInformation(2)) == pytest.approx(0.473124, abs=1e-6)  # as printed
    keep = [[0.75, 0.25], [0.25, 0.75]]
    assert SibsonInformation(2).leakage(keep, SourceSet([0.5, 0.5])) == pytest.approx(math.log(1.25), abs=BRACKET)


def least_norms(prior, distortion, order):
    """One prior, by the definition: ``sum_j`` of the norms of order alpha of the columns, weighted by ``P^(1 / alpha)``."""
    size = len(prior)
    matrix = cvxpy.Variable((size, size), nonneg=True)
    weighted = cvxpy.multiply((prior ** (1 / order))[:, np.newaxis] * np.ones((1, size)), matrix)
    norms = cvxpy.sum([cvxpy.pnorm(weighted[:, j], order) for j in range(size)])
    limits = [cvxpy.sum(matrix, axis=1) == 1, prior @ (1 - cvxpy.diag(matrix)) <= distortion]
    problem = cvxpy.Problem(cvxpy.Minimize(norms), limits)
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    return order / (order - 1) * math.log(problem.value)


@pytest.mark.parametrize("prior", [[0.4, 0.3, 0.2, 0.1], [0.5, 0.5], [0.6, 0.2, 0.2]], ids=str)
@pytest.mark.parametrize("order", [1.5, 2, 4])
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_one_prior_by_norms(prior, order, share):
    distortion = share * (1 - max(prior))
    found = leakage_curve(SourceSet(prior), distortion, notion=SibsonInformation(order))
    assert found == pytest.approx(least_norms(np.array(prior), distortion, order), abs=TOLERANCE)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_optima_meet_the_full_program(source_class, seed, order):
    vertices = random_vertices(source_class, seed, most_letters=5, most_vertices=4)
    source, notion = SourceSet(vertices), SibsonInformation(order)
    whole, free = Cones(vertices, hamming_costs(vertices.shape[1]), order), least_distortion_without_leakage(vertices)
    if order > 10 or free < 1e-9:  # moments of order 100 are out of the oracle's reach: certificates have to do
        best = optimal_mechanism(source, distortion=0.5 * free, notion=notion)
        assert best.gap <= TOLERANCE
        return
    for share in (0.1, 0.8):
        best = optimal_mechanism(source, distortion=share * free, notion=notion)
        assert abs(leakage_error(whole, share * free, best.leakage)) <= TOLERANCE
        assert best.distortion <= share * free + 1e-11 and best.gap <= TOLERANCE
    best = optimal_mechanism(source, leakage=0.3, notion=notion)
    assert best.leakage <= 0.3 + TOLERANCE
    assert best.distortion == pytest.approx(whole.least_distortion(0.3), abs=TOLERANCE)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_the_worst_prior_of_a_channel(source_class, seed):
    vertices = random_vertices(source_class, seed, most_letters=5)
    size, order = vertices.shape[1], ORDERS[seed % 5]
    matrix = np.random.default_rng(seed).dirichlet(np.ones(size), size=size)
    if seed % 3 == 0:
        matrix = np.eye(size)
    found = SibsonInformation(order).leakage(matrix, SourceSet(vertices))
    worst = worst_sibson_information(matrix, vertices, order)
    # An upper bound, up to rounding; the general optimizer stops short of the maximum, and near order 1 more so.
    assert worst - 1e-12 <= found <= worst + 1e-8 / (1 - 1 / order)


@pytest.mark.parametrize("order", [1.01, 2, 10])
def test_the_worst_of_two_vertices_by_a_grid(order):
    matrix = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.0, 0.8]])
    shares = np.linspace(0, 1, 20_001)
    moments = np.outer(shares, TWO.vertices[0]) + np.outer(1 - shares, TWO.vertices[1])
    sums = ((moments @ matrix**order) ** (1 / order)).sum(axis=1)
    worst = order / (order - 1) * math.log(sums.max())
    found = SibsonInformation(order).leakage(matrix, TWO)
    assert worst - 1e-12 <= found <= worst + 1e-8  # the grid misses the maximum by at most its step squared
    # That prior is no vertex.
    assert found > 0.01 + max(SibsonInformation(order).leakage(matrix, SourceSet(vertex)) for vertex in TWO.vertices)


@given(
    st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.integers(1, 9), min_size=3, max_size=3),
    st.sampled_from([1.0, 1.01, 2.0, 7.5, 100.0, 1e3, 1e6]),
)
@settings(max_examples=60)
def test_leakage_of_one_prior(rows, counts, order):
    matrix, prior = np.array(rows), np.array(counts) / np.sum(counts)
    matrix = Mechanism(matrix / matrix.sum(axis=1, keepdims=True)).matrix
    found = SibsonInformation(order).leakage(matrix, SourceSet(prior))
    assert found == pytest.approx(sibson_information(prior, matrix, order), abs=BRACKET)


@pytest.mark.parametrize("order", [1e3, 1e6])
@pytest.mark.parametrize("other", [0.25, 1e-12, 0.0])
def test_large_orders_do_not_overflow(order, other):
    matrix = [[1 - other, other], [other, 1 - other]]
    found = SibsonInformation(order).leakage(matrix, SourceSet([[0.5, 0.5], [0.9, 0.1]]))
    expected = worst_sibson_information(Mechanism(matrix).matrix, [[0.5, 0.5]], order)
    assert found == pytest.approx(expected, abs=1e-8)  # the even prior is the worst
    assert found == pytest.approx(MaximalLeakage().leakage(matrix), abs=2 / order)


def test_the_limits_of_the_order_are_the_other_notions():
    optima = [float(leakage_curve(TWO, 0.2, notion=SibsonInformation(order))) for order in (1, *ORDERS, math.inf)]
    assert (np.diff(optima) > 0).all()
    assert optima[0] == pytest.approx(float(leakage_curve(TWO, 0.2, notion=MutualInformation())), abs=1e-12)
    assert optima[-1] == pytest.approx(float(leakage_curve(TWO, 0.2, notion=MaximalLeakage())), abs=1e-12)
    assert optima[1] == pytest.approx(optima[0], abs=0.02) and optima[-2] == pytest.approx(optima[-1], abs=0.05)


def test_letters_that_never_occur_do_not_count():
    matrix = [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    for order in (2, 1e3):
        found = SibsonInformation(order).leakage(matrix, SourceSet([0.5, 0.5, 0.0]))
        expected = SibsonInformation(order).leakage([[0.5, 0.5], [0.25, 0.75]], SourceSet([0.5, 0.5]))
        assert found == pytest.approx(expected, abs=BRACKET)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (0.9, r"alpha must be at least 1 for Sibson information; got 0\.9; 1 and infinity stand for the limits"),
        (math.nan, "at least 1 .* got nan"),
        (None, "alpha must be a number, at least 1 for Sibson information; got None"),
    ],
)
def test_bad_orders(order, message):
    with pytest.raises(ValueError, match=message):
        SibsonInformation(order)


@pytest.mark.parametrize("order", [1.000001, 1.0001, 1.01, 1.0999, 1.2])
@pytest.mark.parametrize("distortion", [0.3, 1e-13])
def test_orders_near_1_lose_no_digits(order, distortion):
    prior, mechanism = [0.5, 0.3, 0.2], Mechanism.from_distortions(distortion * np.array([0.2, 1.0, 0.7]))
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in mechanism.matrix]
        rows = [[x / sum(row) for x in row] for row in rows]  # what floats mean
        masses = [mpmath.mpf(p) / sum(map(mpmath.mpf, prior)) for p in prior]
        norms = [sum(p * row[j] ** mpmath.mpf(order) for p, row in zip(masses, rows, strict=True)) for j in range(3)]
        exact = mpmath.log(sum(norm ** (1 / mpmath.mpf(order)) for norm in norms)) * order / (mpmath.mpf(order) - 1)
    assert SibsonInformation(order).leakage(mechanism, SourceSet(prior)) == pytest.approx(float(exact), rel=1e-14)


def test_near_order_1_what_the_identity_leaks_is_enough_for_no_distortion():
    source = SourceSet([[0.35, 0.2, 0.15, 0.3], [0.15, 0.35, 0.35, 0.15]])
    for leakage in (1.38469344, 1.3846934414534877):
        best = optimal_mechanism(source, leakage=leakage, notion=SibsonInformation(1.000001))
        assert best.leakage <= leakage + 1e-12 and best.gap <= 1e-4 * best.distortion  # the curve is steep
