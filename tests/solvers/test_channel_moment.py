"""Renyi divergence's program over the whole channel: its tangent planes, and proposals that they prove best."""

import math

import numpy as np
import pytest

from paper_repro import RenyiDP, SourceSet, optimal_mechanism
from paper_repro.solvers.channel_moment import (
    ChannelMomentProgram,
    least_renyi_distortion,
    least_renyi_divergence,
    renyi_divergences,
)
from tests.oracles.notions import Cones, all_pairs, hamming_costs, renyi_divergence

ORDERS = [1, 1.000001, 1.5, 2, 5, 100]


@pytest.mark.parametrize("order", ORDERS)
def test_no_channel_beats_the_bounds_wherever_the_plane_is_tangent(order):
    rng = np.random.default_rng(round(1e6 * order))
    for trial in range(60):
        size = int(rng.integers(2, 5))
        pairs = np.array(all_pairs(size))
        matrix = rng.dirichlet(np.ones(size), size=size) * 0.5 + 0.5 * (np.eye(size) if trial % 2 else 1 / size)
        # Where it touches: anywhere; near the channel; and at the channel, with columns scaled.
        near = matrix * rng.uniform(0.5, 2, size=matrix.shape) if trial % 3 else matrix * rng.uniform(0.1, 5, size=size)
        penalties, weights = rng.exponential(size=(size, size)) * (1 - np.eye(size)), rng.dirichlet(np.ones(len(pairs)))
        leakage, spent = renyi_divergence(matrix, all_pairs(size), order), float((penalties * matrix).sum())
        for tangent in (rng.uniform(0.1, 1, size=(size, size)), near):
            for level in (leakage, leakage / 2, leakage + 1):
                bound = least_renyi_divergence(order, pairs, weights, np.log(tangent), penalties, spent, level)
                assert bound <= leakage + 1e-12
            assert (
                least_renyi_distortion(order, pairs, weights, np.log(tangent), penalties, 1.0, leakage) <= spent + 1e-12
            )


@pytest.mark.parametrize("order", ORDERS)
def test_divergences_by_the_definition(order):
    rng = np.random.default_rng(4)
    for spread in (1.0, 1e-3, 1e-6):
        rows = 1 + spread * rng.uniform(-0.9, 0.9, size=(2, 4))
        rows /= rows.sum(axis=1, keepdims=True)
        found = renyi_divergences(order, np.log(rows), np.array([[0, 1]]))[0]
        # The definition does not know that rows of floats mean to sum to 1.
        slack = 1e-15 / min(order - 1, 1.0) if order > 1 else 1e-15
        assert found == pytest.approx(renyi_divergence(rows, [(0, 1)], order), rel=1e-9, abs=4 * slack)


@pytest.mark.parametrize("order", [1, 1.01, 2, 5])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_proposals_meet_their_bounds_and_the_other_program(order, size):
    rng = np.random.default_rng([8, size])
    vertices = rng.dirichlet(np.full(size, 5.0), size=2) * 0.9 + 0.1 / size
    pairs, costs = np.array(all_pairs(size)), hamming_costs(size)
    program, whole = ChannelMomentProgram(vertices, costs, pairs, order), Cones(vertices, costs, order, all_pairs(size))
    leakage = 0.7
    found = program.at_leakage(leakage)
    distortion = float((vertices @ (found.mechanism * costs).sum(axis=1)).max())
    assert distortion == pytest.approx(whole.least_distortion(leakage), abs=1e-7)
    assert renyi_divergence(found.mechanism, all_pairs(size), order) <= leakage + 1e-12

    found = program.at_distortion(distortion)
    assert (found.mechanism >= 0).all() and found.mechanism.sum(axis=1) == pytest.approx(np.ones(size), abs=1e-14)
    assert (vertices @ (found.mechanism * costs).sum(axis=1)).max() <= distortion * (1 + 1e-14)
    assert renyi_divergence(found.mechanism, all_pairs(size), order) == pytest.approx(leakage, abs=1e-9)


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
        assert renyi_divergence(found.mechanism, pairs, 2.0) == pytest.approx(leakage, abs=1e-9)


def test_large_programs_are_refused():
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 64 for Rényi divergences, whose equations are dense; "
        r"got 65\. Merge rare categories, or take a source set that contains the uniform distribution, "
        r"where randomized response is optimal for any number\.",
    ):
        ChannelMomentProgram(np.full((1, 65), 1 / 65), hamming_costs(65), np.array(all_pairs(65)), 2.0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("times", [1e-60, 1e-3, 30.0, 1e60])
def test_multipliers_of_another_unit_or_level_prove_as_much(order, times):
    """Penalties of another unit, as those of another level are, are brought to that of the weights."""
    pairs, costs, prior = np.array(all_pairs(3)), hamming_costs(3), np.array([[0.5, 0.3, 0.2]])
    found = ChannelMomentProgram(prior, costs, pairs, order).at_leakage(0.7)
    weights, duals, tangent = found.certificate
    penalties, total = (duals @ prior)[:, np.newaxis] * costs, float(duals.sum())
    distortion = least_renyi_distortion(order, pairs, weights, tangent, penalties, total, 0.7)
    assert distortion == pytest.approx(float((prior @ (found.mechanism * costs).sum(axis=1)).max()), rel=1e-7)
    penalties, total = times * penalties, times * total
    assert least_renyi_distortion(order, pairs, weights, tangent, penalties, total, 0.7) == pytest.approx(distortion)
    spent = distortion * total
    proved = least_renyi_divergence(order, pairs, weights, tangent, penalties, spent, 0.7)
    assert proved == pytest.approx(0.7, abs=1e-6)


def test_a_bound_of_nothing_is_zero():
    both = np.array([[0, 1], [1, 0]])
    for order in ORDERS:
        found = least_renyi_divergence(order, both, np.ones(2), np.zeros((2, 2)), np.zeros((2, 2)), 50.0, 1.0)
        assert found == 0 and not math.copysign(1, found) < 0


def test_large_orders_just_below_the_distortion_without_leakage():
    vertices = np.array(
        [
            [
                0.1766200661884041,
                0.03423189192065079,
                0.3043949074105613,
                0.005061020640254675,
                0.26698601842393116,
                0.21270609541619795,
            ],
            [
                0.030427230496523863,
                0.15094052110857195,
                0.18645401302426567,
                0.47850277566449045,
                0.14187848862826885,
                0.011796971077879168,
            ],
            [
                0.44001399773165306,
                0.07893652299917939,
                0.022814450342616973,
                0.020005642752882816,
                0.36773648542492804,
                0.07049290074873973,
            ],
        ]
    )
    costs = np.array(
        [
            [0, 8, 3, 8, 5, 7],
            [5, 0, 4, 10, 10, 3],
            [2, 7, 0, 10, 7, 4],
            [3, 9, 4, 0, 3, 6],
            [8, 1, 6, 6, 0, 4],
            [7, 6, 1, 2, 10, 0],
        ]
    )
    best = optimal_mechanism(SourceSet(vertices), distortion=3.949618340743827, notion=RenyiDP(1000.0), costs=costs)
    assert best.gap <= 1e-9


@pytest.mark.parametrize(
    ("vertices", "order", "budget"),
    [
        (  # six of eight letters are never published, and one pair of rows binds
            [
                [0.2673, 0.0636, 0.1024, 0.1187, 0.0316, 0.0574, 0.1339, 0.2251],
                [0.0049, 0.2171, 0.0387, 0.1247, 0.0392, 0.3302, 0.1363, 0.1089],
            ],
            1000.0,
            {"leakage": 9.6e-6},
        ),
        ([[1.69e-12, 0.99999999999831], [8.1e-11, 0.999999999919]], 2.0, {"leakage": 10.5}),
        ([[0.8, 0.2 - 1e-9, 1e-9]], 2.0, {"distortion": 0.2 * (1 - 1e-9)}),
    ],
)
def test_optima_where_little_is_published_or_little_may_leak(vertices, order, budget):
    best = optimal_mechanism(SourceSet(vertices), notion=RenyiDP(order), **budget)
    assert best.gap <= (1e-9 if "distortion" in budget else 1e-9 * best.distortion)
    assert renyi_divergence(best.mechanism.matrix, all_pairs(len(vertices[0])), order) <= best.leakage * (1 + 1e-9)
