"""Ratio programs over the whole channel: proposals that keep their comparisons, and bounds that hold whatever is proposed."""

import math

import numpy as np
import pytest

from paper_repro.graphs import Adjacency, clique
from paper_repro.notions.ratios import hockey_stick_leakage, ratio_leakage
from paper_repro.solvers.channel_ratio import ChannelRatioProgram, Comparisons
from tests.oracles.notions import Ratios, all_pairs, least_leakage

KINDS = {"private": (0.0, False), "pointwise": (0.1, False), "standard": (0.1, True), "outputs": (0.0, False)}
by_kind = pytest.mark.parametrize("kind", KINDS)
# The oracle's solver, in distortion.
SOLVERS = 1e-8


def instance(seed, kind):
    """Random vertices, random distances between letters, the comparisons, and the oracle's program for the same."""
    rng = np.random.default_rng([5, seed])
    size, delta, standard = int(rng.integers(2, 5)), *KINDS[kind]
    vertices = rng.dirichlet(np.full(size, 2.0), size=int(rng.integers(1, 4)))
    costs = rng.integers(1, 4, size=(size, size)) * (1.0 - np.eye(size))
    if kind == "outputs":
        return rng, vertices, costs, Comparisons.with_outputs(vertices), Ratios.of_outputs(vertices, costs)
    pairs = np.array(all_pairs(size))
    comparisons = Comparisons.of_neighbors(clique(size), delta, standard)
    return rng, vertices, costs, comparisons, Ratios.of_neighbors(vertices, costs, pairs, delta, standard)


def leakage_of(matrix, vertices, kind):
    delta, standard = KINDS[kind]
    if kind == "outputs":
        matrix = matrix[:, matrix.any(axis=0)]
        return math.log((matrix.max(axis=0) / (vertices @ matrix).min(axis=0)).max())
    return hockey_stick_leakage(matrix, None, delta) if standard else ratio_leakage(matrix, None, delta)


@by_kind
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("leakage", [0.05, 0.7, 3.0])
def test_proposals_and_their_bounds_meet_the_other_program(seed, leakage, kind):
    _, vertices, costs, comparisons, whole = instance(seed, kind)
    program, exact = ChannelRatioProgram(vertices, costs, comparisons), whole.least_distortion(leakage)
    point = program.at_leakage(leakage)
    assert (point.mechanism >= 0).all()
    assert point.mechanism.sum(axis=1) == pytest.approx(np.ones(len(costs)), abs=1e-14)  # rounding
    assert leakage_of(point.mechanism, vertices, kind) <= leakage + 1e-12
    assert program.distortion(point.mechanism) == pytest.approx(exact, abs=SOLVERS)
    assert point.weights.sum() == pytest.approx(1, abs=1e-14) and (point.weights >= 0).all()
    bound = program.least_distortion(point.weights @ vertices, *point.certificate, leakage)
    assert bound == pytest.approx(exact, abs=SOLVERS)


@by_kind
@pytest.mark.parametrize("seed", range(8))
def test_no_channel_beats_the_bound_whatever_the_multipliers(seed, kind):
    rng, vertices, costs, comparisons, _ = instance(seed, kind)
    program, size = ChannelRatioProgram(vertices, costs, comparisons), len(costs)
    good = program.at_leakage(0.7)
    (best,) = good.certificate
    for trial in range(20):
        matrix = rng.dirichlet(np.ones(size), size=size) * 0.4 + 0.6 * (np.eye(size) if trial % 2 else good.mechanism)
        leakage, prior = leakage_of(matrix, vertices, kind), rng.dirichlet(np.ones(len(vertices))) @ vertices
        wild = rng.exponential(size=best.shape) * 10 ** rng.uniform(-3, 0)
        for multipliers in (wild, best, best * rng.uniform(0, 2, size=wild.shape)):
            bound = program.least_distortion(prior, multipliers, leakage)
            assert bound <= prior @ (matrix * costs).sum(axis=1) + 1e-12


@by_kind
@pytest.mark.parametrize("seed", range(4))
def test_least_leakages_meet_the_other_program(seed, kind):
    _, vertices, costs, comparisons, whole = instance(seed, kind)
    program, free = ChannelRatioProgram(vertices, costs, comparisons), whole.least_distortion(0.0)
    for share in (0.2, 0.8):
        point = program.at_distortion(share * free, 20.0, free, lambda matrix: leakage_of(matrix, vertices, kind))
        assert program.distortion(point.mechanism) <= share * free + 1e-11
        found = leakage_of(point.mechanism, vertices, kind)
        assert found == pytest.approx(least_leakage(whole, share * free), abs=1e-6)


@by_kind
def test_without_a_bound_nothing_need_change(kind):
    _, vertices, costs, comparisons, _ = instance(0, kind)
    program = ChannelRatioProgram(vertices, costs, comparisons)
    assert program.least_distortion(vertices[0], np.ones((comparisons.givers.size, len(costs))), math.inf) == 0


def test_distortion_is_the_worst_over_the_vertices():
    vertices, costs = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[0.0, 2.0], [1.0, 0.0]])
    program = ChannelRatioProgram(vertices, costs, Comparisons.with_outputs(vertices))
    assert program.distortion(np.array([[0.5, 0.5], [0.0, 1.0]])) == pytest.approx(0.9, abs=1e-15)


def test_what_is_compared():
    neighbors = Comparisons.of_neighbors(Adjacency.from_edges(3, [(0, 2), (1, 2)]), 0.1, True)
    assert neighbors.givers.tolist() == [0, 1, 2, 2] and neighbors.others.argmax(axis=1).tolist() == [2, 2, 0, 1]
    assert (neighbors.delta, neighbors.standard) == (0.1, True)
    outputs = Comparisons.with_outputs(np.array([[0.5, 0.5], [0.9, 0.1]]))
    assert outputs.givers.tolist() == [0, 1, 0, 1]
    assert outputs.others.tolist() == [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.9, 0.1]]


def test_large_programs_are_refused():
    many = np.full((1, 400), 1 / 400)
    with pytest.raises(ValueError, match=r"400 letters has 160000 rows, at most 100000 are solved; take fewer letters"):
        ChannelRatioProgram(many, 1 - np.eye(400), Comparisons.with_outputs(many))
