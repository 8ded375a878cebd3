"""Ratio programs over the whole channel: proposals that keep their comparisons, and bounds that hold whatever is proposed."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import ApproximateDP, SourceSet, optimal_mechanism
from paper_repro.graphs import Adjacency, clique, line, ring
from paper_repro.notions.ratios import hockey_stick_leakage, ratio_leakage
from paper_repro.solvers.channel_ratio import ChannelRatioProgram, Comparisons
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.rational import Channel, TooLong, exponential

KINDS = {"private": (0.0, False), "pointwise": (0.1, False), "standard": (0.1, True), "tiny": (1e-9, True)}
by_kind = pytest.mark.parametrize("kind", KINDS)


def instance(seed, kind):
    """Random vertices, random distances between letters, the program and an exact one for the same."""
    rng = np.random.default_rng([5, seed])
    size, (delta, standard) = int(rng.integers(2, 5)), KINDS[kind]
    vertices = rng.dirichlet(np.full(size, 2.0), size=int(rng.integers(1, 4)))
    costs = rng.integers(1, 4, size=(size, size)) * (1.0 - np.eye(size))
    graph = clique(size) if seed % 2 else line(size)
    perfect = perfect_privacy(vertices, costs)
    program = ChannelRatioProgram(vertices, costs, Comparisons.of_neighbors(graph, delta, standard), perfect)
    name = ("approximate-standard" if standard else "approximate") if delta else "DP"
    whole = Channel(name, vertices.tolist(), costs.tolist(), graph.neighbor_pairs.tolist(), delta)
    return rng, vertices, costs, graph, program, whole


def leakage_of(matrix, graph, kind):
    delta, standard = KINDS[kind]
    return hockey_stick_leakage(matrix, graph, delta) if standard else ratio_leakage(matrix, graph, delta)


@by_kind
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("leakage", [1e-9, 0.05, 0.7, 3.0, 25.0])
def test_proposals_and_their_bounds_meet_the_exact_program(seed, leakage, kind):
    _, _, costs, graph, program, whole = instance(seed, kind)
    point = program.at_leakage(leakage)
    assert (point.mechanism >= 0).all()
    assert point.mechanism.sum(axis=1) == pytest.approx(np.ones(len(costs)), abs=1e-14)  # rounding
    assert leakage_of(point.mechanism, graph, kind) <= leakage + 2e-15
    found = program.distortion(point.mechanism)
    assert found - program.least_distortion(point.certificate, leakage) <= 1e-12 * found
    try:
        least = whole.least_distortion(exponential(leakage), Fraction(found))
    except TooLong:
        return
    assert found == pytest.approx(float(least), rel=1e-12)


@by_kind
@pytest.mark.parametrize("seed", range(4))
def test_no_channel_beats_the_bound_whatever_the_multipliers(seed, kind):
    rng, vertices, costs, graph, program, _ = instance(seed, kind)
    good, size = program.at_leakage(0.7), len(costs)
    best = good.certificate[0].astype(float)
    for trial in range(20):
        matrix = rng.dirichlet(np.ones(size), size=size) * 0.4 + 0.6 * (np.eye(size) if trial % 2 else good.mechanism)
        leakage, weights = leakage_of(matrix, graph, kind), rng.dirichlet(np.ones(len(vertices)))
        wild = rng.exponential(size=best.shape) * 10 ** rng.uniform(-3, 0)
        for multipliers in (wild, best, best * rng.uniform(0, 2, size=wild.shape)):
            bound = program.least_distortion((multipliers, weights), leakage)
            assert bound <= weights @ vertices @ (matrix * costs).sum(axis=1) + 1e-12


@by_kind
@pytest.mark.parametrize("seed", range(4))
def test_least_leakages_are_told_from_less(seed, kind):
    *_, graph, program, _ = instance(seed, kind)
    free = program.distortion(program.at_leakage(0.0).mechanism)
    for share in (0.2, 0.8):
        point = program.at_distortion(share * free, 20.0, free)
        assert program.distortion(point.mechanism) <= share * free * (1 + 1e-12)
        found = leakage_of(point.mechanism, graph, kind)
        assert program.least_distortion(point.certificate, float(point.certificate[2][0])) > share * free
        assert found - 1e-9 < point.certificate[2][0] <= found


def test_without_limits_nothing_need_change():
    *_, program, whole = instance(0, "standard")
    assert program.least_distortion((np.ones((2, whole.size)), [1.0]), math.inf) == 0


def test_what_is_compared():
    neighbors = Comparisons.of_neighbors(Adjacency.from_edges(3, [(0, 2), (1, 2)]), 0.1, True)
    assert neighbors.givers.tolist() == [0, 1, 2, 2] and neighbors.takers.tolist() == [2, 2, 0, 1]
    assert (neighbors.delta, neighbors.standard) == (0.1, True)


def test_large_programs_are_refused():
    with pytest.raises(
        ValueError,
        match="the linear program must have at most 200000 rows; got 320000 for 400 "
        r"categories\. Merge rare categories, or use a closed form such as uniform_least_distortion\.",
    ):
        Comparisons.of_neighbors(ring(400), 0.1)


def test_no_leakage_on_a_graph_is_solved_at_a_ratio_of_1():
    rows = [[0.1, 0.15, 0.15, 0.15, 0.15, 0.15, 0.05, 0.1], [0.15, 0.15, 0.1, 0.25, 0.1, 0.1, 0.05, 0.1]]
    notion = ApproximateDP(0.5, standard=True, adjacency=line(8))
    best = optimal_mechanism(SourceSet(rows), leakage=0.0, notion=notion)
    assert best.leakage <= 1e-14 and best.distortion == pytest.approx(0.4, rel=1e-14) and best.gap <= 1e-14
