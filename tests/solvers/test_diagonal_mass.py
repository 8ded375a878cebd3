"""Maximal leakage's program: the fractional knapsack by hand, by the full program, and in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_repro.solvers.diagonal_mass import DiagonalMassProgram
from paper_repro.solvers.exact import exact_optimum
from paper_repro.solvers.known_prior import MassOfPrior
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.notions import KeptMass, hamming_costs, least_leakage
from tests.oracles.tradeoffs import least_distortion_without_leakage

# An oracle's solver.
SOLVERS = 1e-8


def least_mass_leakage(prior, distortion):
    return MassOfPrior(np.asarray(prior)).least_leakage(distortion)


def least_mass_distortion(prior, leakage):
    return MassOfPrior(np.asarray(prior)).least_distortion(leakage)


def changed(proposal):
    return proposal.mechanism.distortions


@pytest.mark.parametrize(
    ("distortion", "distortions"),
    [(0.05, [0, 0, 0, 0.5]), (0.11, [0, 0, 0.05, 1]), (0.2, [0, 0, 0.5, 1]), (0.45, [0, 0.5, 1, 1])],
)
def test_one_prior_by_hand(distortion, distortions):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    assert changed(DiagonalMassProgram(prior[np.newaxis]).at_distortion(distortion)) == pytest.approx(
        distortions, abs=1e-14
    )
    leakage = math.log(4 - sum(distortions))
    assert least_mass_leakage(prior, distortion) == pytest.approx(leakage, abs=1e-14)
    assert least_mass_distortion(prior, leakage) == pytest.approx(distortion, rel=1e-14)


@pytest.mark.parametrize("leakage", [0.1, 0.5, math.log(2), 1.0])
def test_one_prior_at_a_leakage(leakage):
    found = DiagonalMassProgram(np.array([[0.2, 0.4, 0.1, 0.3]])).at_leakage(leakage)
    assert 4 - changed(found).sum() == pytest.approx(math.exp(leakage), abs=1e-13)
    assert (np.diff(changed(found)[[2, 0, 3, 1]]) <= 0).all()  # the least likely first


@given(vertex_sets(), st.lists(st.floats(0, 20), min_size=4, max_size=4), st.integers(0, 2**32 - 1))
def test_no_channel_beats_any_member(vertices, weights, seed):
    size, weights = vertices.shape[1], np.array(weights[: len(vertices)]) + 1e-3
    matrix = np.random.default_rng(seed).dirichlet(np.ones(size) / 2, size=size)
    prior = weights / weights.sum() @ vertices
    spent, leakage = float(prior @ (1 - np.diagonal(matrix))), math.log(matrix.max(axis=0).sum())
    assert least_mass_leakage(prior, spent) <= leakage + 1e-13
    assert least_mass_distortion(prior, leakage) <= spent + 1e-13


@given(vertex_sets(), inside(), st.integers(0, 12))
def test_proposals_are_proved_by_their_prior(vertices, share, power):
    distortion = share * 10.0**-power * least_distortion_without_leakage(vertices)
    if distortion == 0:
        return
    program = DiagonalMassProgram(vertices)
    found = program.at_distortion(distortion)
    assert (changed(found) >= 0).all() and (changed(found) <= 1).all()
    assert (vertices @ changed(found)).max() <= distortion * (1 + 1e-14)
    leakage = math.log((1 - changed(found)).sum())
    assert leakage - least_mass_leakage(found.weights @ vertices, distortion) <= 1e-10
    found = program.at_leakage(leakage)
    least = least_mass_distortion(found.weights @ vertices, leakage)
    assert (vertices @ changed(found)).max() <= least * (1 + 1e-10) + 1e-300


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(5))
def test_both_budgets_meet_the_full_program(source_class, seed):
    vertices = random_vertices(source_class, seed, most_letters=5, most_vertices=4)
    free, size = least_distortion_without_leakage(vertices), vertices.shape[1]
    if free < 1e-9:
        return
    program, whole = DiagonalMassProgram(vertices), KeptMass(vertices, hamming_costs(size))
    for share in (0.9, 0.05, 0.4):  # each starts from the last one's basis
        kept = size - changed(program.at_distortion(share * free)).sum()
        assert math.log(kept) == pytest.approx(least_leakage(whole, share * free, math.log(size)), abs=1e-6)
        found = program.at_leakage(math.log(kept))
        assert (vertices @ changed(found)).max() == pytest.approx(share * free, abs=SOLVERS)


@pytest.mark.parametrize("seed", range(30))
def test_rare_letters_count_too(seed):
    """Probabilities of 1e-12 and distortions of their order: the optimum of the rational program, to rounding."""
    rng = np.random.default_rng(seed)
    vertices = rng.dirichlet(np.ones(5), size=3) * 10.0 ** -rng.integers(0, 13, size=(3, 5))
    vertices /= vertices.sum(axis=1, keepdims=True)
    distortion = float(vertices.min()) * rng.uniform(0.1, 5)
    rows = [dict(enumerate(map(Fraction, row))) for row in vertices]
    exact = exact_optimum([-1] * 5, rows + [{i: 1} for i in range(5)], [Fraction(distortion)] * 3 + [1] * 5)
    found = DiagonalMassProgram(vertices).at_distortion(distortion)
    assert math.log(5 - changed(found).sum()) == pytest.approx(math.log(max(1, 5 + exact.objective)), abs=1e-10)


def test_more_than_there_is_leaks_without_distortion():
    vertices = np.array([[0.5, 0.5, 0.0], [0.3, 0.7, 0.0]])
    assert changed(DiagonalMassProgram(vertices).at_leakage(math.log(3))).tolist() == [0, 0, 1]
    assert least_mass_distortion(vertices[0], 1e300) == least_mass_leakage([1.0, 0.0], 0.5) == 0
