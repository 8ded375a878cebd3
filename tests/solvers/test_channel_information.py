"""Mutual and Sibson information over the whole channel: bounds that hold, and proposals that meet them."""

import math

import numpy as np
import pytest

from paper_repro import SibsonInformation, SourceSet, optimal_mechanism
from paper_repro.solvers.channel_information import (
    ChannelInformationProgram,
    least_channel_distortion,
    least_channel_information,
)
from tests.oracles.notions import Cones, sibson_information, worst_sibson_information

ALPHAS = [1, 1.01, 1.5, 2, 5]
# The oracle's solver, in distortion; what is certified, in nats.
SOLVERS, TOLERANCE = 1e-7, 1e-6


def instance(seed):
    """Random vertices and random distances between letters, ties included."""
    rng = np.random.default_rng([9, seed])
    size = int(rng.integers(2, 5))
    vertices = rng.dirichlet(np.full(size, 2.0), size=int(rng.integers(1, 4)))
    return rng, vertices, rng.integers(1, 4, size=(size, size)) * (1.0 - np.eye(size))


def free_distortion(vertices, costs):
    """Of the best constant answer, at least: of the best single letter."""
    return (vertices @ costs).max(axis=0).min()


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("seed", range(10))
def test_no_channel_beats_the_bound_on_information(seed, alpha):
    rng, _, costs = instance(seed)
    size = len(costs)
    for trial in range(30):
        prior = rng.dirichlet(np.ones(size))
        if trial % 4 == 0 and size > 2:
            prior[0] = 0
            prior /= prior.sum()
        matrix, ratios = rng.dirichlet(np.ones(size) / 2, size=size), rng.exponential(size=size) / alpha
        penalties = prior[:, np.newaxis] * costs * rng.exponential()
        spent, leaked = float((penalties * matrix).sum()), sibson_information(prior, matrix, alpha)
        assert 0 <= least_channel_information(alpha, prior, penalties, ratios, spent) <= leaked + 1e-12
        assert least_channel_distortion(alpha, prior, penalties, ratios, 1.0, leaked) <= spent + 1e-9


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("seed", range(5))
def test_information_meets_the_other_program(seed, alpha):
    _, vertices, costs = instance(seed)
    program, whole = ChannelInformationProgram(vertices, costs, alpha), Cones(vertices, costs, alpha)
    for distortion in (0.1, 0.4):
        if distortion >= 0.8 * free_distortion(vertices, costs):
            continue
        found = program.at_distortion(distortion)
        assert (found.mechanism >= 0).all() and found.mechanism.sum(axis=1) == pytest.approx(
            np.ones(len(costs)), abs=1e-14
        )
        assert (vertices @ (found.mechanism * costs).sum(axis=1)).max() <= distortion + 1e-14
        leakage = worst_sibson_information(found.mechanism, vertices, alpha)
        prior = found.weights / found.weights.sum() @ vertices
        prices, ratios = found.certificate
        penalties = (prices @ vertices)[:, np.newaxis] * costs
        bound = least_channel_information(alpha, prior, penalties, ratios, distortion * prices.sum())
        assert bound - 1e-7 <= leakage <= bound + TOLERANCE
        assert whole.least_distortion(leakage) == pytest.approx(distortion, abs=SOLVERS)
        again = program.at_leakage(leakage)
        assert (vertices @ (again.mechanism * costs).sum(axis=1)).max() == pytest.approx(distortion, abs=TOLERANCE)


def test_bounds_of_nothing():
    even, nothing = np.full(2, 0.5), np.zeros((2, 2))
    for alpha in ALPHAS:
        assert least_channel_information(alpha, even, nothing, np.zeros(2), 0.0) == 0
        assert least_channel_information(alpha, even, nothing, np.ones(2), 50.0) == 0


def test_large_programs_are_refused():
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 200 for a program over all entries of the mechanism; "
        r"got 201\. Merge rare categories, or leave costs out where every change costs the same\.",
    ):
        ChannelInformationProgram(np.full((1, 201), 1 / 201), 1.0 - np.eye(201), 2.0)


@pytest.mark.parametrize("alpha", [1, 1 + 1e-6, 1.5, 20, 1e3, 1e6])
@pytest.mark.parametrize("costs", [None, [[0, 1, 4], [1, 0, 1], [4, 1, 0]]])
@pytest.mark.parametrize("budget", [{"distortion": 0.2}, {"distortion": 1e-9}, {"leakage": 0.2}, {"leakage": 2e-12}])
def test_every_order_and_budget_is_certified(alpha, costs, budget):
    source = SourceSet([[0.6, 0.15, 0.25], [0.35, 0.25, 0.4]])
    best = optimal_mechanism(source, notion=SibsonInformation(alpha), costs=costs, **budget)
    assert best.gap <= 1e-8
    assert best.leakage <= budget.get("leakage", math.inf) + 1e-11
    assert best.distortion <= budget.get("distortion", math.inf) * (1 + 1e-12)
