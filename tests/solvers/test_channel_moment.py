"""Renyi divergence's program over the whole channel: its tangent planes, and proposals that they prove best."""

import math

import numpy as np
import pytest

from paper_repro.solvers.channel_moment import ChannelMomentProgram, least_renyi_divergence
from tests.oracles.notions import Cones, all_pairs, hamming_costs, renyi_divergence

ALPHAS = [1, 1.01, 1.5, 2, 5]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("seed", range(6))
def test_no_channel_beats_the_bound_wherever_the_plane_is_tangent(alpha, seed):
    rng = np.random.default_rng([round(100 * alpha), seed])
    size = int(rng.integers(2, 5))
    pairs = np.array(all_pairs(size))
    for trial in range(20):
        matrix = rng.dirichlet(np.ones(size), size=size) * 0.5 + 0.5 * (np.eye(size) if trial % 2 else 1 / size)
        # Where it touches: anywhere; near the channel; and at the channel, with columns scaled.
        near = matrix * rng.uniform(0.5, 2, size=matrix.shape) if trial % 3 else matrix * rng.uniform(0.1, 5, size=size)
        penalties, weights = rng.exponential(size=(size, size)) * (1 - np.eye(size)), rng.dirichlet(np.ones(len(pairs)))
        for tangent in (rng.uniform(0.1, 1, size=(size, size)), near):
            bound = least_renyi_divergence(alpha, pairs, weights, tangent, penalties, float((penalties * matrix).sum()))
            assert bound <= renyi_divergence(matrix, all_pairs(size), alpha) + 1e-12


def test_the_plane_is_exact_where_it_touches():
    """Two letters, alpha 2: penalties that make randomized response stationary."""
    both, keep = np.array([[0, 1], [1, 0]]), np.array([[0.7, 0.3], [0.3, 0.7]])
    slope = 2 * (0.7 / 0.3 - 0.3 / 0.7) + (0.7 / 0.3) ** 2 - (0.3 / 0.7) ** 2
    exact = renyi_divergence(keep, all_pairs(2), 2)
    found = least_renyi_divergence(2, both, np.ones(2) / 2, keep, slope / 2 * (1 - np.eye(2)), 0.3 * slope)
    assert found == pytest.approx(exact, abs=1e-12)
    # Other penalties prove less, none prove nothing; weights need not sum to 1.
    for factor in (0.5, 2.0):
        less = least_renyi_divergence(
            2, both, np.ones(2), keep, factor * slope / 2 * (1 - np.eye(2)), factor * 0.3 * slope
        )
        assert 0 <= less < exact - 0.01
    assert least_renyi_divergence(2, both, np.ones(2), keep, np.zeros((2, 2)), 0.0) == 0


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("seed", range(3))
def test_proposals_meet_their_bounds_and_the_other_program(alpha, seed):
    rng = np.random.default_rng([8, seed])
    size = 2 + seed
    vertices = rng.dirichlet(np.full(size, 5.0), size=2) * 0.9 + 0.1 / size
    pairs, costs = np.array(all_pairs(size)), hamming_costs(size)
    program, whole = ChannelMomentProgram(vertices, costs, pairs, alpha), Cones(vertices, costs, alpha, all_pairs(size))
    for leakage in (0.4, 1.3):
        found = program.at_leakage(leakage)
        distortion = float((vertices @ (found.mechanism * costs).sum(axis=1)).max())
        assert distortion == pytest.approx(whole.least_distortion(leakage), abs=1e-7)
        assert renyi_divergence(found.mechanism, all_pairs(size), alpha) <= leakage + 1e-6

        found = program.at_distortion(distortion, leakage * 1.2)
        assert (found.mechanism >= 0).all() and found.mechanism.sum(axis=1) == pytest.approx(np.ones(size), abs=1e-14)
        assert (vertices @ (found.mechanism * costs).sum(axis=1)).max() <= distortion * (1 + 1e-14)
        achieved = renyi_divergence(found.mechanism, all_pairs(size), alpha)
        weights, duals, tangent = found.certificate
        penalties, allowance = (duals @ vertices)[:, np.newaxis] * costs, distortion * float(duals.sum())
        bound = least_renyi_divergence(alpha, pairs, weights, tangent, penalties, allowance)
        assert bound - 1e-12 <= achieved <= bound + 1e-6
        assert achieved == pytest.approx(leakage, abs=1e-6)


def test_other_distances_between_letters():
    """On a line of three letters with distances to match; neighbors are those at distance 1."""
    costs = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    pairs = ((0, 1), (1, 0), (1, 2), (2, 1))
    vertices = np.array([[0.5, 0.2, 0.3], [0.2, 0.3, 0.5]])
    program, whole = ChannelMomentProgram(vertices, costs, np.array(pairs), 2.0), Cones(vertices, costs, 2.0, pairs)
    for leakage in (0.3, 1.5):
        found = program.at_leakage(leakage)
        spent = float((vertices @ (found.mechanism * costs).sum(axis=1)).max())
        assert spent == pytest.approx(whole.least_distortion(leakage), abs=1e-7)
        assert renyi_divergence(found.mechanism, pairs, 2.0) == pytest.approx(leakage, abs=1e-6)


def test_large_programs_are_refused():
    with pytest.raises(ValueError, match=r"380 pairs of neighbors over 20 letters make 7600 cones, at most 6000 are"):
        ChannelMomentProgram(np.full((1, 20), 0.05), hamming_costs(20), np.array(all_pairs(20)), 2.0)


def test_a_bound_of_nothing_is_zero():
    both = np.array([[0, 1], [1, 0]])
    for alpha in ALPHAS:
        found = least_renyi_divergence(alpha, both, np.ones(2), np.ones((2, 2)), np.zeros((2, 2)), 50.0)
        assert found == 0 and not math.copysign(1, found) < 0
