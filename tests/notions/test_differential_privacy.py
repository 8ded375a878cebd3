"""Differential privacy: the loss in exact arithmetic, and optima against a program over the whole matrix."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_repro import DifferentialPrivacy, Mechanism, SourceSet, distortion_curve, optimal_mechanism
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.tradeoffs import (
    exponential_covers,
    largest_ratio,
    leakage_error,
    least_distortion,
    least_distortion_without_leakage,
)

# What every optimum has to meet: 1e-7 nats against the full program.
AGREEMENT = 1e-7


def assert_private(best):
    """The stored floats, as rationals, keep the reported leakage; a column is zero throughout or nowhere."""
    matrix = best.mechanism.matrix
    assert ((matrix == 0).all(axis=0) | (matrix > 0).all(axis=0)).all()
    assert exponential_covers(best.leakage, largest_ratio(matrix))


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(67))
def test_optima_meet_the_full_program(source_class, seed):
    vertices = random_vertices(source_class, seed)
    source, end = SourceSet(vertices), least_distortion_without_leakage(vertices)
    assert distortion_curve(source, 0.0) == pytest.approx(end, abs=1e-9)  # on the jump: in distortion
    for distortion in (1e-6, 1e-3, 0.25 * end, 0.7 * end, 0.97 * end, end - 1e-4, end - 1e-9):
        if 0 < distortion < end:
            best = optimal_mechanism(source, distortion=distortion)
            assert leakage_error(vertices, distortion, best.leakage) <= AGREEMENT
            assert_private(best)
    for distortion in (end + 1e-9, 0.999, 1.0):
        if end < distortion <= 1:
            assert optimal_mechanism(source, distortion=distortion).leakage == 0


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("leakage", [1e-3, 0.2, 1.0, 5.0, 12.0])
def test_least_distortions_meet_the_full_program(source_class, seed, leakage):
    vertices = random_vertices(source_class, seed)
    best = optimal_mechanism(SourceSet(vertices), leakage=leakage)
    assert best.distortion == pytest.approx(least_distortion(vertices, leakage), abs=1e-9)  # the oracle's solver
    assert best.leakage <= leakage + 1e-12  # the matrix is rounded
    assert_private(best)


@given(vertex_sets(), inside())
def test_optima_keep_their_leakage_exactly(vertices, share):
    source = SourceSet(vertices)
    assert_private(optimal_mechanism(source, distortion=share))
    assert_private(optimal_mechanism(source, leakage=10 * share))


@pytest.mark.parametrize(
    ("matrix", "ratio"),
    [
        ([[1.0]], 1),
        ([[0.5, 0.5], [0.5, 0.5]], 1),
        ([[0.75, 0.25], [0.25, 0.75]], 3),
        ([[0.75, 0.25], [0.5, 0.5]], 2),
        ([[0.25, 0.75, 0.0], [0.5, 0.5, 0.0], [0.125, 0.875, 0.0]], 4),
    ],
)
def test_leakage_by_its_definition(matrix, ratio):
    found = DifferentialPrivacy().leakage(matrix)
    assert found == pytest.approx(math.log(ratio), abs=1e-15)  # one rounding
    assert found == DifferentialPrivacy().leakage(Mechanism(matrix))
    assert found == DifferentialPrivacy().leakage(matrix, SourceSet(matrix[0]))


@given(st.lists(st.lists(st.floats(1e-9, 1), min_size=3, max_size=3), min_size=3, max_size=3))
def test_leakage_is_rounded_up_and_no_further(rows):
    matrix = np.array(rows)
    matrix /= matrix.sum(axis=1, keepdims=True)
    matrix = Mechanism(matrix).matrix
    leakage, ratio = DifferentialPrivacy().leakage(matrix), largest_ratio(matrix)
    assert exponential_covers(leakage, ratio)
    assert leakage == 0 or not exponential_covers(math.nextafter(leakage, 0), ratio)


def test_a_ratio_that_floats_do_not_see():
    matrix = np.array([[1 / 3, 2 / 3], [1 / 3 + 2**-54, 2 / 3]])
    ratio = Fraction(matrix[1, 0]) / Fraction(matrix[0, 0])
    assert ratio > 1 and exponential_covers(DifferentialPrivacy().leakage(matrix), ratio)


@pytest.mark.parametrize("crumb", [5e-324, 1e-300, 1e-13])
def test_a_zero_beside_a_crumb_is_infinitely_worse(crumb):
    assert DifferentialPrivacy().leakage([[1.0, crumb], [1.0, 0.0]]) == math.inf
    assert DifferentialPrivacy().leakage([[1.0, crumb], [1.0, crumb]]) == 0
    assert DifferentialPrivacy().leakage([[0.5, 0.5], [1.0, crumb]]) == pytest.approx(
        math.log(0.5) - math.log(crumb), rel=1e-14
    )


@pytest.mark.parametrize("leakage", [0.3, 1.1, 3.0])
def test_one_prior_by_qif(leakage):
    qif = pytest.importorskip("qif")
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    best = optimal_mechanism(SourceSet(prior), leakage=leakage)
    matrix = qif.mechanism.d_privacy.min_loss_given_d(
        prior, 4, lambda i, j: leakage * (i != j), lambda i, j: float(i != j)
    )
    assert best.distortion == pytest.approx(1 - prior @ np.diagonal(matrix), abs=1e-9)  # its linear-program solver
    found = qif.measure.d_privacy.smallest_epsilon(best.mechanism.matrix, lambda i, j: float(i != j))
    assert best.leakage == pytest.approx(found, abs=1e-12)  # rounding


def test_the_identity_has_no_bound():
    assert DifferentialPrivacy().leakage(np.eye(3)) == math.inf
