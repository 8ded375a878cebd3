"""Differential privacy between neighbors in any graph: optima, both budgets, and privacy without floating point."""

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from paper_repro import (
    DifferentialPrivacy,
    Mechanism,
    SourceSet,
    clique,
    distortion_curve,
    hamming,
    leakage_curve,
    line,
    optimal_mechanism,
    ring,
    uniform_least_distortion,
)
from paper_repro.graphs import Adjacency
from paper_repro.solvers.column_interior import InteriorColumns
from tests.oracles.graphs import (
    largest_ratio,
    least_distortion,
    random_graph,
    random_priors,
    random_private_channel,
)
from tests.oracles.tradeoffs import exponential_covers

CERTIFIED = 1e-9  # a returned optimum's own certificate
SOLVERS = 1e-7  # against the separate program: rows solved to 1e-10, a few dozen of which make an optimum
STYLES = ("smooth", "peaked", "zeros", "uniform")


def drawn(seed):
    """A graph, its edges, and priors; seeds that follow each other go through all styles."""
    rng = np.random.default_rng([17, seed])
    size, pairs = random_graph(rng)
    return Adjacency.from_edges(size, pairs), pairs, random_priors(rng, size, STYLES[seed % 4]), rng


def spare(graph, leakage):
    """By how much a leakage may exceed its budget: not at all on a graph, where the matrix is built to keep below it.

    On a clique two entries of a column are the ends of the ratio. Each is rounded when it is computed and again when it is
    stored, by 2**-53 of itself, and the logarithm that is returned is rounded up by one unit in its last place.
    """
    return 4 * 2.0**-53 + math.ulp(leakage) if graph.is_clique else 0.0


@pytest.mark.parametrize("seed", range(60))
def test_optimum_of_random_graphs_and_source_sets(seed):
    graph, pairs, vertices, rng = drawn(seed)
    leakage = float(rng.uniform(0.05, 4))
    best = optimal_mechanism(SourceSet(vertices), leakage=leakage, notion=DifferentialPrivacy(graph))
    assert best.distortion == pytest.approx(least_distortion(vertices, pairs, leakage), abs=SOLVERS)
    kept = (vertices @ np.diagonal(best.mechanism.matrix)).min()
    assert best.utility == 1 - best.distortion == pytest.approx(kept, abs=1e-14)  # a sum of up to 8 products
    assert best.gap <= CERTIFIED
    # The certificate's prior is in the hull of the vertices, and as bad as the whole set.
    prior = best.least_favorable_prior
    assert least_distortion(prior / prior.sum(), pairs, leakage) == pytest.approx(best.distortion, abs=SOLVERS)


@pytest.mark.parametrize("seed", range(60))
def test_matrices_keep_the_ratio_in_exact_rationals(seed):
    graph, pairs, vertices, rng = drawn(seed)
    leakage = float(rng.choice([0.01, 0.3, 1.0, 2.0, 5.0, 20.0, 50.0]))
    best = optimal_mechanism(SourceSet(vertices), leakage=leakage, notion=DifferentialPrivacy(graph))
    ratio = largest_ratio(best.mechanism.matrix, pairs)
    assert exponential_covers(best.leakage, ratio)
    assert best.leakage <= leakage + spare(graph, leakage)
    if not graph.is_clique:
        assert exponential_covers(leakage, ratio)


@pytest.mark.parametrize("seed", range(32))
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_both_budgets_are_inverse_to_each_other(seed, share):
    graph, _, vertices, _ = drawn(seed)
    source, notion = SourceSet(vertices), DifferentialPrivacy(graph)
    free = optimal_mechanism(source, leakage=0.0, notion=notion).distortion
    budget = share * free
    there = optimal_mechanism(source, distortion=budget, notion=notion)
    assert there.distortion <= budget + 1e-12  # a budget counts as kept if it is missed by less
    assert there.gap <= CERTIFIED
    back = optimal_mechanism(source, leakage=there.leakage, notion=notion)
    assert back.distortion == pytest.approx(budget, abs=2 * CERTIFIED)
    if there.leakage > 0.01:
        less = optimal_mechanism(source, leakage=there.leakage - 0.01, notion=notion)
        assert less.distortion > budget


@pytest.mark.parametrize("seed", range(8))
def test_curves_are_the_optima(seed):
    graph, _, vertices, _ = drawn(seed)
    source, notion = SourceSet(vertices), DifferentialPrivacy(graph)
    grid = [0.0, 0.5, 2.0, math.inf]
    falling = distortion_curve(source, grid, notion=notion)
    optima = [optimal_mechanism(source, leakage=eps, notion=notion).distortion for eps in grid]
    assert falling == pytest.approx(optima, rel=1e-12)  # rays that are kept for the next point change the rounding
    assert (np.diff(falling) <= CERTIFIED).all()
    budgets = [0.02, 0.3, 1.0]
    rising = leakage_curve(source, budgets, notion=notion)
    assert rising == pytest.approx(
        [optimal_mechanism(source, distortion=D, notion=notion).leakage for D in budgets], rel=1e-12
    )
    assert (np.diff(rising) <= CERTIFIED).all()


@pytest.mark.parametrize("graph", [line(4), ring(5), clique(4), hamming(2, 2), line(2)], ids=repr)
def test_ends_of_both_budgets(graph):
    prior = np.arange(1.0, graph.size + 1) / np.arange(1.0, graph.size + 1).sum()
    source, notion = SourceSet(prior), DifferentialPrivacy(graph)
    free = 1 - prior.max()
    for budget in ({"leakage": 0.0}, {"distortion": 1.0}, {"distortion": free}):
        best = optimal_mechanism(source, **budget, notion=notion)
        assert best.leakage == 0.0
        assert best.distortion == pytest.approx(free, abs=1e-15)  # one sum
    for budget in ({"leakage": math.inf}, {"distortion": 0.0}):
        best = optimal_mechanism(source, **budget, notion=notion)
        assert (best.leakage, best.distortion, best.gap) == (math.inf, 0.0, 0.0)
        assert (best.mechanism.matrix == np.eye(graph.size)).all()


@pytest.mark.parametrize("graph", [line(1), clique(1), Adjacency.from_edges(1, [])], ids=repr)
@pytest.mark.parametrize("budget", [{"leakage": 1.0}, {"leakage": 0.0}, {"distortion": 0.0}, {"distortion": 0.5}])
def test_one_vertex_has_nothing_to_hide(graph, budget):
    best = optimal_mechanism(SourceSet([1.0]), **budget, notion=DifferentialPrivacy(graph))
    assert (best.leakage, best.distortion) == (0.0, 0.0)


@pytest.mark.parametrize("leakage", [0.5, 2.0])
def test_two_vertices_are_a_clique(leakage):
    best = optimal_mechanism(SourceSet([0.4, 0.6]), leakage=leakage, notion=DifferentialPrivacy(line(2)))
    assert best.utility == pytest.approx(max(0.6, math.exp(leakage) / (1 + math.exp(leakage))), abs=1e-14)


def test_answers_that_never_occur_cost_nothing():
    notion = DifferentialPrivacy(line(3))
    best = optimal_mechanism(SourceSet([0.5, 0.0, 0.5]), leakage=1.0, notion=notion)
    # The middle row is (1/2, 1/2) on the ends, and its ratio to theirs, (p, 1 - p), is binding at 1 - p.
    assert best.utility == pytest.approx(1 - 1 / (2 * math.e), abs=CERTIFIED)
    certain = optimal_mechanism(SourceSet([0.0, 1.0, 0.0]), distortion=0.0, notion=notion)
    assert (certain.leakage, certain.distortion) == (0.0, 0.0)


@pytest.mark.parametrize("tiny", [1e-300, 1e-18, 1e-12, 1e-9])
@pytest.mark.parametrize("budget", [{"leakage": 1.5}, {"distortion": 0.1}])
def test_tiny_probabilities(tiny, budget):
    prior = np.array([0.5, tiny, 0.3, 0.2])
    notion = DifferentialPrivacy(line(4))
    best = optimal_mechanism(SourceSet(prior), **budget, notion=notion)
    without = optimal_mechanism(SourceSet(np.where(prior > 1e-6, prior, 0.0)), **budget, notion=notion)
    assert best.distortion == pytest.approx(without.distortion, abs=2 * tiny + 2 * CERTIFIED)
    assert best.leakage == pytest.approx(without.leakage, abs=1e-6)  # 1e-9 in distortion over a slope of about 0.1


@pytest.mark.parametrize("seed", range(20))
def test_leakage_of_any_matrix_is_the_largest_ratio_between_neighbors(seed):
    graph, pairs, _, rng = drawn(seed)
    channel = random_private_channel(rng, graph.size, pairs, graph.size, 1.3)
    matrix = Mechanism(channel).matrix
    ratio = largest_ratio(matrix, pairs)
    found = DifferentialPrivacy(graph).leakage(matrix)
    assert exponential_covers(found, ratio)
    assert found == 0 or not exponential_covers(math.nextafter(found, 0), ratio)  # rounded up by no more than a unit
    assert found <= DifferentialPrivacy().leakage(matrix)  # all letters, of which neighbors are some


def test_a_zero_beside_no_zero_leaks_everything_between_neighbors_only():
    matrix = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
    assert DifferentialPrivacy(line(3)).leakage(matrix) == math.inf
    apart = Adjacency.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    rows = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0.25, 0.75, 0, 0]]
    assert DifferentialPrivacy(apart).leakage(rows) == pytest.approx(math.log(2), abs=1e-15)  # one logarithm


@pytest.mark.parametrize("given", [{"leakage": 1.0}, {"distortion": 0.1}])
def test_the_prior_has_to_fit_the_graph(given):
    message = r"adjacency must have 4 vertices, one per category; got 5\."
    with pytest.raises(ValueError, match=message):
        optimal_mechanism(SourceSet([0.25] * 4), **given, notion=DifferentialPrivacy(ring(5)))
    with pytest.raises(ValueError, match=message):
        DifferentialPrivacy(ring(5)).leakage(np.eye(4))


def test_a_program_too_large_names_its_vertices_and_the_closed_form():
    with pytest.raises(
        ValueError,
        match=r"the number of categories must be at most 400 for a graph of neighbors; got 10000\. Merge rare "
        r"categories, or use a closed form such as uniform_least_distortion\.",
    ):
        optimal_mechanism(SourceSet([1e-4] * 10_000), leakage=1.0, notion=DifferentialPrivacy(ring(10_000)))


def test_no_leakage_is_evaluated_as_none():
    assert DifferentialPrivacy(ring(4)).leakage(np.full((4, 4), 0.25)) == 0.0
    assert Fraction(1) == largest_ratio(np.full((4, 4), 0.25), nx.cycle_graph(4).edges)


TWO = np.array([[3, 1, 1, 1, 1, 1], [1, 3, 1, 1, 1, 1]]) / 8
THREE = (np.ones((3, 3)) + 2 * np.eye(3)) / 5


@pytest.mark.parametrize(
    ("graph", "vertices", "budget"),
    [
        (line(3), THREE, {"leakage": 1e-7}),
        (line(3), THREE, {"distortion": 2 / 3 - 1e-4}),
        (line(3), THREE, {"distortion": 2 / 3 - 1e-6}),
        (line(6), TWO, {"leakage": 1e-7}),
        (line(6), TWO, {"distortion": 0.75 - 1e-5}),
        (line(3), np.full(3, 1 / 3), {"distortion": 2 / 3 - 1e-9}),
    ],
)
def test_hardly_any_leakage(graph, vertices, budget):
    best = optimal_mechanism(SourceSet(vertices), **budget, notion=DifferentialPrivacy(graph))
    assert best.gap <= CERTIFIED


@pytest.mark.parametrize(("graph", "step"), [(line(3), 1e-11), (ring(5), 1e-11), (ring(4), 1e-6)], ids=repr)
def test_just_below_the_distortion_without_leakage(graph, step):
    source, budget = SourceSet(np.full(graph.size, 1 / graph.size)), 1 - 1 / graph.size - step
    assert optimal_mechanism(source, distortion=budget, notion=DifferentialPrivacy(graph)).gap <= CERTIFIED


@pytest.mark.parametrize("leakage", [700.0, 800.0, 1e300])
def test_leakages_beyond_the_range_of_floats_on_a_graph(leakage):
    best = optimal_mechanism(SourceSet(np.full(3, 1 / 3)), leakage=leakage, notion=DifferentialPrivacy(line(3)))
    assert best.leakage <= leakage and best.distortion <= CERTIFIED


def near_no_leakage():
    """Graphs and priors, with what makes trouble: ties, letters that never occur, several vertices."""
    rng = np.random.default_rng(11)
    graphs = [*(make(size) for make in (ring, line) for size in (3, 4, 6, 9, 12)), hamming(2, 2), hamming(3, 2)]
    graphs += [Adjacency.from_edges(*random_graph(rng)) for _ in range(4)]
    for graph in graphs:
        size = graph.size
        for number, vertices in enumerate(
            (
                np.full((1, size), 1 / size),
                rng.dirichlet(np.ones(size), size=1),
                rng.dirichlet(np.full(size, 3.0), size=3),
                np.where(np.arange(size) < 3, 1 / 3, 0.0)[np.newaxis] if size > 2 else np.full((1, size), 1 / size),
            )
        ):
            yield pytest.param(graph, vertices, id=f"{graph!r}-{number}")


@pytest.mark.parametrize(("graph", "vertices"), list(near_no_leakage()))
def test_next_to_no_leakage(graph, vertices):
    source, notion = SourceSet(vertices), DifferentialPrivacy(graph)
    free = float(distortion_curve(source, 0.0, notion=notion))
    for leakage in (1e-12, 1e-9, 1e-8, 1e-6, 1e-4):
        best = optimal_mechanism(source, leakage=leakage, notion=notion)
        assert (
            free - leakage * graph.diameter <= best.distortion <= free * (1 + 1e-15)
        )  # a leakage of so much buys at most that
    for less in (1e-10, 1e-9, 1e-7, 1e-5):
        if free > less:
            assert optimal_mechanism(source, distortion=free - less, notion=notion).gap <= CERTIFIED


@pytest.mark.parametrize("leakage", [1e-8, 1e-7, 1e-6, 1e-5])
def test_next_to_no_leakage_on_a_ring_in_closed_form(leakage):
    source, notion = SourceSet(np.full(6, 1 / 6)), DifferentialPrivacy(ring(6))
    best = optimal_mechanism(source, leakage=leakage, notion=notion)
    assert best.distortion == pytest.approx(uniform_least_distortion(ring(6), leakage), abs=CERTIFIED)
    budget = 5 / 6 - 1e-7
    found = optimal_mechanism(source, distortion=budget, notion=notion).leakage
    assert uniform_least_distortion(ring(6), found) == pytest.approx(budget, abs=CERTIFIED)


@pytest.mark.parametrize("seed", range(12))
def test_interior_points_against_a_program_over_the_whole_channel(seed):
    rng = np.random.default_rng(seed)
    size, pairs = random_graph(rng, least=3)
    vertices, leakage = random_priors(rng, size), float(rng.uniform(0.3, 3.0))
    arcs = np.concatenate([np.array(pairs), np.array(pairs)[:, ::-1]])
    program = InteriorColumns(vertices, 1 - np.eye(size), arcs, np.ones(len(arcs)))
    exact = least_distortion(vertices, pairs, leakage)
    found = program.at_leakage(leakage)
    assert found.value == pytest.approx(exact, abs=1e-8)
    prior = found.weights / found.weights.sum() @ vertices
    for other in (leakage, leakage - 1e-3, leakage + 0.3):
        assert program.least_distortion(prior, found.flows, other) <= least_distortion(vertices, pairs, other) + 1e-8
    assert program.least_distortion(prior, found.flows, leakage) == pytest.approx(found.value, rel=1e-10)

    def spent(point):
        return float((vertices @ (point.columns.T * (1 - np.eye(size))).sum(axis=1)).max())

    point, below = program.at_distortion(exact, 1.0, spent)
    assert point.leakage == pytest.approx(leakage, abs=1e-5) and 0 < point.leakage - below.leakage < 1e-9


@pytest.mark.parametrize("budget", [{"leakage": 1.0}, {"distortion": 0.4}], ids=str)
def test_a_ring_of_more_vertices_in_closed_form(budget):
    graph = ring(26)
    best = optimal_mechanism(SourceSet(np.full(26, 1 / 26)), **budget, notion=DifferentialPrivacy(graph))
    assert best.gap <= CERTIFIED
    assert best.distortion == pytest.approx(uniform_least_distortion(graph, best.leakage), abs=1e-9)
