"""Maximal information: ratios in exact arithmetic, optima against the full program, and the worst prior of a set."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import MaximalInformation, MaximalLeakage, Mechanism, SourceSet, leakage_curve, optimal_mechanism
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.notions import Ratios, hamming_costs, information_ratio, leakage_error
from tests.oracles.tradeoffs import exponential_covers, least_distortion_without_leakage

NOTION = MaximalInformation()
# Certified within 1e-9 in distortion; curves are steeper than 0.01 here.
AGREEMENT = 1e-7


def test_two_priors():
    """20/7, where randomized response has 3."""
    source = SourceSet([[0.5, 0.5], [0.75, 0.25]])
    best = optimal_mechanism(source, distortion=0.1, notion=NOTION)
    assert math.exp(best.leakage) == pytest.approx(20 / 7, abs=1e-8)
    response = Mechanism([[0.9, 0.1], [0.1, 0.9]])
    assert math.exp(NOTION.leakage(response, source)) == pytest.approx(3, abs=1e-12)


@pytest.mark.parametrize("size", [2, 4, 7])
@pytest.mark.parametrize("distortion", [0.0, 0.05, 0.3, 0.49])
def test_one_uniform_prior(size, distortion):
    found = leakage_curve(SourceSet(np.full(size, 1 / size)), distortion, notion=NOTION)
    assert found == pytest.approx(math.log(size * (1 - distortion)), abs=1e-9)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_optima_meet_the_full_program(source_class, seed):
    """Also with rare letters, which cost much and gain nothing."""
    vertices = random_vertices(source_class, seed, most_letters=5, most_vertices=4)
    free = least_distortion_without_leakage(vertices)
    if free > 1e-9:
        distortion, whole = (0.03 + 0.1 * seed) * free, Ratios.of_outputs(vertices, hamming_costs(vertices.shape[1]))
        best = optimal_mechanism(SourceSet(vertices), distortion=distortion, notion=NOTION)
        # Less is found only where a budget is kept up to rounding.
        assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT
        assert best.distortion <= distortion + 1e-11
        found = optimal_mechanism(SourceSet(vertices), leakage=best.leakage, notion=NOTION)
        assert found.distortion == pytest.approx(distortion, abs=2e-9) and found.leakage <= best.leakage + 1e-11


@given(
    st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=1, max_size=3),
)
@settings(max_examples=60)
def test_leakage_is_rounded_up_and_no_further(rows, counts):
    matrix, counts = np.array(rows), np.array(counts, dtype=float)
    matrix = Mechanism(matrix / matrix.sum(axis=1, keepdims=True)).matrix
    source = SourceSet(counts / counts.sum(axis=1, keepdims=True))
    leakage, exact = NOTION.leakage(matrix, source), information_ratio(matrix, source.vertices)
    assert exponential_covers(leakage, exact)
    assert leakage == 0 or not exponential_covers(math.nextafter(leakage, 0), exact)


def test_the_worst_prior_is_a_vertex(rng):
    for _ in range(10):
        matrix, vertices = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3), size=3)
        worst = NOTION.leakage(matrix, SourceSet(vertices))
        assert worst == max(NOTION.leakage(matrix, SourceSet(vertex)) for vertex in vertices)
        for weights in rng.dirichlet(np.ones(3), size=10):
            assert NOTION.leakage(matrix, SourceSet(weights @ vertices)) <= worst


@pytest.mark.parametrize(
    ("matrix", "source", "ratio"),
    [
        ([[1.0]], [1.0], 1),
        (np.eye(2), [0.25, 0.75], 4),
        ([[0.25, 0.75], [0.25, 0.75]], [[0.5, 0.5], [1.0, 0.0]], 1),
        ([[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5], 2),
        (np.eye(2), [1.0, 0.0], math.inf),  # an input without probability counts
        ([[1.0, 0.0], [0.5, 0.5]], [1.0, 0.0], math.inf),
        ([[0.5, 0.5], [0.25, 0.75]], [1.0, 0.0], 1.5),
    ],
)
def test_leakage_by_its_definition(matrix, source, ratio):
    assert NOTION.leakage(matrix, SourceSet(source)) == pytest.approx(math.log(ratio), abs=1e-15)


def test_under_the_uniform_prior_it_is_no_less_than_maximal_leakage(rng):
    for _ in range(10):
        matrix, source = rng.dirichlet(np.ones(4), size=4), SourceSet(np.full(4, 0.25))
        assert NOTION.leakage(matrix, source) > MaximalLeakage().leakage(matrix)
    for distortion in (0.1, 0.6):  # and their optima are one
        found = leakage_curve(source, distortion, notion=NOTION)
        assert found == pytest.approx(leakage_curve(source, distortion, notion=MaximalLeakage()), abs=1e-9)


def test_letters_that_never_occur_are_published_as_others():
    best = optimal_mechanism(SourceSet([0.5, 0.5, 0.0]), distortion=0.0, notion=NOTION)
    assert best.leakage == pytest.approx(math.log(2), abs=1e-15) and best.distortion == 0


def test_sets_of_probabilities_over_eighteen_powers_of_ten():
    """Floats lose the multipliers of what hardly ever occurs; longer numbers have them."""
    lines = (
        "4.68e-10 9.94e-12 1.03e-11 6.2e-10 8.32e-10 2.71e-10 0.99999999777935 9.41e-12",
        "4.79e-07 1.01e-09 2.39e-09 8.31e-11 0.99999873148877 2.52e-11 7.86e-07 2.93e-12",
        "0.02786125986056752 7.51e-10 0.006800604963505796 0.5849855490445489 "
        "5.81e-11 0.28652217001679986 0.09383041496847792 3.37e-10",
        "0.19989450724788346 5.21e-07 7.84e-10 0.4035605772177643 "
        "0.14559763620553928 0.1021696313902949 3.04e-10 0.14877712585051797",
    )
    source = SourceSet([[float(entry) for entry in line.split()] for line in lines])
    wide = SourceSet([[1e-18, 3e-9, 0.3, 0.7 - 3e-9], [0.5, 2e-16, 0.5 - 1e-7, 1e-7], [4e-13, 0.9, 1e-17, 0.1 - 4e-13]])
    for one, distortion in ((source, 0.7260724727111736), (source, 0.1), (wide, 0.1), (wide, 0.3)):
        best = optimal_mechanism(one, distortion=distortion, notion=NOTION)
        assert -1e-11 <= best.gap <= 1e-9 and best.distortion <= distortion * (1 + 1e-12)
        back = optimal_mechanism(one, leakage=best.leakage, notion=NOTION)
        assert back.distortion <= best.distortion * (1 + 1e-9)
