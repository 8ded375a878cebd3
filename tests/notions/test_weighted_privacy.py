"""Neighbors with weights: the loss against logarithms in long numbers, optima against a dense program over the whole channel."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from paper_repro import Adjacency, ApproximateDP, DifferentialPrivacy, RenyiDP, SourceSet, optimal_mechanism
from paper_repro.graphs import clique, line, ring

INF = math.inf


def least_distortion(weights, vertices, leakage, costs=None):
    """Least worst-case distortion over all channels, shape (M, M), that keep ``Q_xy <= exp(eps w_xz) Q_zy``."""
    size = len(weights)
    costs = 1 - np.eye(size) if costs is None else costs
    rows = []
    for x, z in np.argwhere(np.isfinite(weights) & ~np.eye(size, dtype=bool)):
        for y in range(size):
            row = np.zeros((size, size))
            row[x, y], row[z, y] = math.exp(-leakage * weights[x, z]), -1.0
            rows.append(np.append(row, 0.0))
    rows += [np.append(np.asarray(vertex)[:, np.newaxis] * costs, -1.0) for vertex in vertices]
    sums = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, 1))])
    target = np.append(np.zeros(size * size), 1.0)
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(
        target, np.array(rows), np.zeros(len(rows)), sums, np.ones(size), method="highs-ds", options=exact
    ).fun


def assert_keeps(matrix, weights, leakage):
    """Every comparison, decided in 60 digits."""
    with localcontext(prec=60):
        for x, z in np.argwhere(np.isfinite(weights) & ~np.eye(len(weights), dtype=bool)):
            factor = (Decimal(leakage) * Decimal(float(weights[x, z]))).exp()
            assert all(Decimal(q) <= factor * Decimal(r) for q, r in zip(matrix[x], matrix[z], strict=True))


def assert_optimal(weights, vertices, leakage, costs=None):
    weights = np.asarray(weights, dtype=float)
    notion, source = DifferentialPrivacy(Adjacency.from_weights(weights)), SourceSet(vertices)
    least = least_distortion(weights, vertices, leakage, costs)
    best = optimal_mechanism(source, leakage=leakage, notion=notion, costs=costs)
    assert best.distortion == pytest.approx(least, abs=1e-8)  # the reference's solver
    assert best.leakage <= leakage * (1 + 1e-10)
    assert_keeps(best.mechanism.matrix, weights, best.leakage)
    if least > 1e-9:
        back = optimal_mechanism(source, distortion=least, notion=notion, costs=costs)
        assert back.distortion <= least + 1e-11
        assert back.leakage <= leakage * (1 + 1e-6) + 1e-8
        assert least_distortion(weights, vertices, back.leakage, costs) <= least + 1e-8
    return best


def blocks(*sizes):
    part = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(part[:, np.newaxis] == part, 1.0 - np.eye(sum(sizes)), INF)


@pytest.mark.parametrize("graph", [clique(4), line(4), ring(5)], ids=repr)
def test_weights_of_1_are_the_graph(graph):
    weights = np.full((graph.size, graph.size), INF)
    weights[tuple(graph.neighbor_pairs.T)] = 1
    np.fill_diagonal(weights, 0)
    same = Adjacency.from_weights(weights)
    assert same == graph and same.weights is None
    source = SourceSet(np.arange(1, graph.size + 1) / np.arange(1, graph.size + 1).sum())
    for budget in ({"leakage": 0.7}, {"distortion": 0.2}):
        one, two = (optimal_mechanism(source, notion=DifferentialPrivacy(g), **budget) for g in (graph, same))
        assert (one.leakage, one.distortion) == (two.leakage, two.distortion)
        assert (one.mechanism.matrix == two.mechanism.matrix).all()


def test_a_metric_on_a_line_is_the_line():
    graph = Adjacency.from_weights(np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    source = SourceSet([0.3, 0.1, 0.2, 0.15, 0.25])
    for leakage in (0.1, 1.0, 4.0):
        one, two = (optimal_mechanism(source, leakage=leakage, notion=DifferentialPrivacy(g)) for g in (graph, line(5)))
        assert one.distortion == pytest.approx(two.distortion, abs=1e-12)
        assert DifferentialPrivacy(line(5)).leakage(one.mechanism) == one.leakage


def test_twice_the_weights_are_half_the_leakage():
    source, weights = SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    one, two = (
        optimal_mechanism(source, distortion=0.25, notion=DifferentialPrivacy(Adjacency.from_weights(k * weights)))
        for k in (1, 2)
    )
    assert two.leakage == pytest.approx(one.leakage / 2, rel=1e-12)


@pytest.mark.parametrize("leakage", [0.0, 0.3, 1.0, 5.0])
def test_blocks_are_private_each_by_itself(leakage):
    prior = np.array([0.3, 0.1, 0.25, 0.15, 0.2])
    best = assert_optimal(blocks(2, 3), [prior], leakage)
    parts = [prior[:2], prior[2:]]
    alone = [optimal_mechanism(SourceSet(part / part.sum()), leakage=leakage).distortion for part in parts]
    assert best.distortion == pytest.approx(sum(d * p.sum() for d, p in zip(alone, parts, strict=True)), abs=1e-9)
    assert_optimal(blocks(2, 3), [prior, prior[::-1]], leakage)


@pytest.mark.parametrize("leakage", [0.2, 1.0, 3.0])
def test_utility_optimized_privacy(leakage):
    weights = np.full((5, 5), INF)
    weights[:3] = 1  # the sensitive letters look like every letter; from the others they may be ruled out
    np.fill_diagonal(weights, 0)
    best = assert_optimal(weights, [[0.15, 0.25, 0.2, 0.15, 0.25]], leakage)
    assert best.distortion < optimal_mechanism(best.source, leakage=leakage).distortion - 1e-3


@pytest.mark.parametrize("seed", range(24))
def test_any_weights_meet_the_full_program(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    weights = rng.integers(1, 7, (size, size)) / rng.integers(1, 4)
    if seed % 3:
        weights[rng.random((size, size)) < 0.4] = INF
    if seed % 3 == 2:
        weights[rng.random((size, size)) < 0.15] = 0
    np.fill_diagonal(weights, 0)
    costs = rng.integers(0, 4, (size, size)) * (1.0 - np.eye(size)) if seed % 2 else None
    assert_optimal(weights, rng.dirichlet(np.ones(size), int(rng.integers(1, 4))), float(rng.uniform(0.01, 4)), costs)


def test_leakage_is_the_least_factor_rounded_up():
    matrix = np.array([[0.5, 0.5], [0.25, 0.75]])
    graph = Adjacency.from_weights([["0", "2/3"], ["1/2", "0"]])
    found = DifferentialPrivacy(graph).leakage(matrix)
    with localcontext(prec=60):
        logs = [Decimal(2).ln() * 3 / 2, Decimal("1.5").ln() * 2]
        assert Decimal(math.nextafter(found, 0)) < max(logs) <= Decimal(found)
    equal = DifferentialPrivacy(Adjacency.from_weights([[0, 0], [INF, 0]]))
    assert equal.leakage([[0.5, 0.5], [0.5, 0.5]]) == 0 and equal.leakage(matrix) == INF
    assert graph.weights == (Fraction(2, 3), Fraction(1, 2))


def test_nothing_asked_leaks_nothing():
    notion = DifferentialPrivacy(Adjacency.from_weights([[0, INF], [INF, 0]]))
    for budget in ({"leakage": 0.0}, {"distortion": 0.0}, {"leakage": 1.0}):
        best = optimal_mechanism(SourceSet([0.5, 0.5]), notion=notion, **budget)
        assert best.leakage == 0 and (best.mechanism.matrix == np.eye(2)).all()


def test_a_distortion_of_0_leaks_as_much_as_the_demands_have_to():
    source = SourceSet([0.5, 0.0, 0.5])  # letter 1 never occurs, and letters 0 and 2 have to be like it
    one_way = DifferentialPrivacy(Adjacency.from_weights([[0, 1, INF], [INF, 0, INF], [INF, 1, 0]]))
    assert optimal_mechanism(source, distortion=0, notion=one_way).leakage == pytest.approx(math.log(2), abs=1e-9)
    both = DifferentialPrivacy(Adjacency.from_weights([[0, 1, INF], [2, 0, INF], [INF, 1, 0]]))
    assert optimal_mechanism(source, distortion=0, notion=both).leakage == INF


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (
            [[0, -1], [1, 0]],
            r"weights\[0, 1\] must be 0 where rows must be equal, between 1e-12 and 1e\+12, or infinite "
            r"where nothing is required; got -1\.0\.",
        ),
        (
            [[0, math.nan], [1, 0]],
            r"weights\[0, 1\] must be 0 where rows must be equal, between 1e-12 and 1e\+12, or infinite "
            r"where nothing is required; got nan\.",
        ),
        (
            [[0, "near"], [1, 0]],
            r"weights\[0, 1\] must be a number; got 'near'\. Put math\.inf where nothing is required\.",
        ),
        ([[0, 1, 2], [1, 0, 2]], r"a square table, .* got shape \(2, 3\)"),
        ([[0, 1], [1, 3]], r"weights\[1, 1\] must be 0, as all of the diagonal; got 3\.0\. Put 0 there\."),
        ([[0, 1], [1]], "must be a square table of numbers"),
    ],
)
def test_bad_weights_are_named(weights, said):
    with pytest.raises(ValueError, match=said):
        Adjacency.from_weights(weights)


def test_what_takes_no_weights_says_what_does():
    graph = Adjacency.from_weights([[0, 1], [2, 0]])
    for refused in (lambda: ApproximateDP(0.1, adjacency=graph), lambda: RenyiDP(2, graph), lambda: graph.distances):
        with pytest.raises(ValueError, match="DifferentialPrivacy"):
            refused()
    with pytest.raises(ValueError, match="adjacency must have 3 vertices, one per category; got 2"):
        optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), leakage=1.0, notion=DifferentialPrivacy(graph))
