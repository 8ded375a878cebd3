"""Maximal leakage's program: the fractional knapsack by hand and by the full program, and the bound of its certificates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_repro.solvers.diagonal_mass import DiagonalMassProgram, least_kept_mass
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.notions import KeptMass, hamming_costs, least_leakage
from tests.oracles.tradeoffs import least_distortion_without_leakage

# Programs are solved to 1e-9 or so.
SOLVERS = 1e-8


def changed(proposal):
    return 1 - np.diagonal(proposal.mechanism)


@pytest.mark.parametrize(
    ("distortion", "distortions", "dual"),
    [
        (0.05, [0, 0, 0, 0.5], 10),
        (0.11, [0, 0, 0.05, 1], 5),
        (0.2, [0, 0, 0.5, 1], 5),
        (0.45, [0, 0.5, 1, 1], 10 / 3),
    ],
)
def test_one_prior_by_hand(distortion, distortions, dual):
    found = DiagonalMassProgram(np.array([[0.4, 0.3, 0.2, 0.1]])).at_distortion(distortion)
    assert changed(found) == pytest.approx(distortions, abs=1e-14)
    assert found.certificate[0] == pytest.approx([dual], rel=1e-14)


@pytest.mark.parametrize("leakage", [0.1, 0.5, math.log(2), 1.0])
def test_one_prior_at_a_leakage(leakage):
    found = DiagonalMassProgram(np.array([[0.2, 0.4, 0.1, 0.3]])).at_leakage(leakage)
    assert 4 - changed(found).sum() == pytest.approx(math.exp(leakage), abs=1e-13)
    assert (np.diff(changed(found)[[2, 0, 3, 1]]) <= 0).all()  # the least likely first


@given(vertex_sets(), st.lists(st.floats(0, 20), min_size=4, max_size=4), st.integers(0, 2**32 - 1))
def test_no_channel_beats_the_bound_whatever_the_dual_variables(vertices, duals, seed):
    size, duals = vertices.shape[1], np.array(duals[: len(vertices)])
    matrix = np.random.default_rng(seed).dirichlet(np.ones(size) / 2, size=size)
    worst = float((vertices @ (1 - np.diagonal(matrix))).max())
    assert least_kept_mass(vertices, duals, worst) <= matrix.max(axis=0).sum() * (1 + 1e-13)


@given(vertex_sets(), inside())
def test_proposals_meet_their_bounds(vertices, share):
    distortion = share * least_distortion_without_leakage(vertices)
    if distortion < 1e-9:
        return
    found = DiagonalMassProgram(vertices).at_distortion(distortion)
    assert (changed(found) >= 0).all() and (changed(found) <= 1).all() and (found.certificate[0] >= -1e-12).all()
    assert (vertices @ changed(found)).max() <= distortion * (1 + 1e-14)
    kept = vertices.shape[1] - changed(found).sum()
    bound = least_kept_mass(vertices, np.clip(found.certificate[0], 0, None), distortion)
    assert kept == pytest.approx(bound, abs=1e-9)


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
        bound = least_kept_mass(vertices, np.clip(found.certificate[0], 0, None), share * free)
        assert kept == pytest.approx(bound, abs=1e-7)


def test_nothing_is_changed_where_more_than_everything_may_leak():
    for vertices in ([[0.5, 0.3, 0.2]], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]):
        for leakage in (math.log(3), 2.0, 1e4):
            found = DiagonalMassProgram(np.array(vertices)).at_leakage(leakage)
            assert (np.array(vertices) @ changed(found)).max() == pytest.approx(0, abs=1e-12)


def test_the_bound_is_never_below_one():
    assert least_kept_mass(np.array([[0.5, 0.5]]), np.array([100.0]), 0.5) == 1
    assert least_kept_mass(np.array([[0.5, 0.5]]), np.array([0.0]), 0.1) == 1
    assert least_kept_mass(np.array([[0.5, 0.5]]), np.array([2.0]), 0.1) == pytest.approx(1.8, abs=1e-15)
