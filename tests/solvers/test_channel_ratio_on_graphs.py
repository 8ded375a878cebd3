"""The program over any graph, and the closed forms that need none, against a program written separately."""

import math
import tracemalloc

import networkx as nx
import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, SourceSet, clique, hamming, line, optimal_mechanism, ring
from paper_repro.graphs import Adjacency
from paper_repro.guessing import bayes_vulnerability
from paper_repro.mechanisms import distance_mechanism, truncated_geometric, uniform_least_distortion
from paper_repro.solvers.channel_ratio import ChannelRatioProgram, Comparisons
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.graphs import distances, largest_ratio, least_distortion, random_graph, random_priors

# Both linear programs are solved to 1e-10 in each row, and an optimum adds up a few dozen rows.
SOLVERS = 1e-7
CERTIFIED = 1e-9  # what a returned optimum can be off by
ROUNDING = 1e-12  # closed forms: sums of at most a thousand terms of order 1

TRANSITIVE = {
    "ring of 5": nx.cycle_graph(5),
    "ring of 8": nx.cycle_graph(8),
    "cube": nx.hypercube_graph(3),
    "Petersen": nx.petersen_graph(),
    "K44": nx.complete_bipartite_graph(4, 4),
    "octahedron": nx.octahedral_graph(),
    "3 x 3 rook": nx.line_graph(nx.complete_bipartite_graph(3, 3)),
    "prism": nx.circular_ladder_graph(5),
    "Heawood": nx.heawood_graph(),
}


def adjacency_of(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return Adjacency.from_edges(len(graph), graph.edges)


def on_graph(vertices, graph):
    costs = 1.0 - np.eye(graph.size)
    return ChannelRatioProgram(vertices, costs, Comparisons.of_neighbors(graph), perfect_privacy(vertices))


def uniform(size):
    return np.full((1, size), 1 / size)


@pytest.mark.parametrize("leakage", [0.1, math.log(2), 3.0])
@pytest.mark.parametrize("name", TRANSITIVE)
def test_closed_form_on_vertex_transitive_graphs(name, leakage):
    graph = adjacency_of(TRANSITIVE[name])
    least = least_distortion(uniform(graph.size), graph.edges.tolist(), leakage)
    assert uniform_least_distortion(graph, leakage) == pytest.approx(least, abs=SOLVERS)
    found = distance_mechanism(graph, leakage).matrix
    assert 1 - np.trace(found) / graph.size == pytest.approx(least, abs=SOLVERS)
    assert np.ptp(np.diagonal(found)) < 1e-10  # all weights are equal; a 14 x 14 system of condition below 1e5


@pytest.mark.parametrize("leakage", [0.1, math.log(2), 3.0])
def test_closed_form_on_k33_where_the_system_of_weights_may_be_singular(leakage):
    graph = adjacency_of(nx.complete_bipartite_graph(3, 3))
    least = least_distortion(uniform(6), graph.edges.tolist(), leakage)
    assert uniform_least_distortion(graph, leakage) == pytest.approx(least, abs=SOLVERS)
    best = optimal_mechanism(SourceSet(uniform(6)), leakage=leakage, notion=DifferentialPrivacy(graph))
    assert best.distortion == pytest.approx(least, abs=SOLVERS)


@pytest.mark.parametrize(("values", "individuals"), [(2, 2), (3, 2), (2, 4), (4, 2)])
@pytest.mark.parametrize("leakage", [0.3, math.log(2), 2.0])
def test_closed_form_on_databases(values, individuals, leakage):
    graph, ratio = hamming(values, individuals), math.exp(leakage)
    kept = (ratio / (values - 1 + ratio)) ** individuals
    assert 1 - uniform_least_distortion(graph, leakage) == pytest.approx(kept, abs=ROUNDING)
    best = optimal_mechanism(SourceSet(uniform(graph.size)), leakage=leakage, notion=DifferentialPrivacy(graph))
    assert best.utility == pytest.approx(kept, abs=CERTIFIED)


@pytest.mark.parametrize("leakage", [0.0, 1e-9, 1.0, 30.0, math.inf])
@pytest.mark.parametrize("graph", [ring(10_000), clique(10_000), hamming(10, 4)], ids=["ring", "clique", "databases"])
def test_closed_form_on_10_000_vertices(graph, leakage):
    fade = math.exp(-leakage)
    sums = {
        "ring": sum(2 * fade**d for d in range(1, 5_000)) + fade**5_000,
        "clique": 9_999 * fade,
        "Hamming": (1 + 9 * fade) ** 4 - 1,
    }
    tracemalloc.start()
    found = uniform_least_distortion(graph, leakage)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    beyond = sums[graph.name]
    assert found == pytest.approx(beyond / (1 + beyond), rel=1e-11)  # 5,000 terms, added up in another order
    assert peak < 50e6  # a distance matrix takes 800 MB


def test_small_distortions_keep_their_relative_precision():
    assert uniform_least_distortion(ring(6), 40.0) == pytest.approx(2 * math.exp(-40.0), rel=1e-14)


@pytest.mark.parametrize("seed", range(40))
def test_weights_by_distance_are_best_for_the_uniform_prior_where_they_exist(seed):
    rng = np.random.default_rng([3, seed])
    size, pairs = random_graph(rng)
    graph, leakage = Adjacency.from_edges(size, pairs), float(rng.uniform(0.3, 3))
    weights = np.linalg.inv(np.exp(-leakage * distances(size, pairs))).sum(axis=1)
    if weights.min() < 0:
        with pytest.raises(ValueError, match="leakage must allow non-negative weights with which the rows sum to 1"):
            distance_mechanism(graph, leakage)
    else:
        found = distance_mechanism(graph, leakage)
        least = least_distortion(uniform(size), pairs, leakage)
        assert 1 - np.trace(found.matrix) / size == pytest.approx(least, abs=SOLVERS)
        assert weights.sum() / size == pytest.approx(1 - least, abs=SOLVERS)
        assert DifferentialPrivacy(graph).leakage(found) == pytest.approx(leakage, abs=ROUNDING)


def test_both_kinds_of_weights_occur_among_the_random_graphs():
    signs = set()
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        size, pairs = random_graph(rng)
        fade = np.exp(-float(rng.uniform(0.3, 3)) * distances(size, pairs))
        signs.add(bool(np.linalg.inv(fade).sum(axis=1).min() < 0))
    assert signs == {True, False}


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("leakage", [0.2, math.log(2), 2.5])
def test_truncated_geometric_with_the_best_guess_is_optimal_on_the_line(size, leakage):
    matrix = truncated_geometric(size, leakage).matrix
    rng = np.random.default_rng(size)
    for style in ("smooth", "peaked", "zeros", "uniform"):
        prior = random_priors(rng, size, style)[:1]
        least = least_distortion(prior, line(size).edges.tolist(), leakage)
        assert bayes_vulnerability(prior[0], matrix) == pytest.approx(1 - least, abs=SOLVERS)
        best = optimal_mechanism(SourceSet(prior), leakage=leakage, notion=DifferentialPrivacy(line(size)))
        assert best.distortion == pytest.approx(least, abs=SOLVERS)
    assert DifferentialPrivacy(line(size)).leakage(matrix) == pytest.approx(leakage if size > 1 else 0, abs=ROUNDING)


@pytest.mark.parametrize(("leakage", "diagonal"), [(0.0, [0.5, 0, 0, 0.5]), (math.inf, [1, 1, 1, 1])])
def test_truncated_geometric_at_its_ends(leakage, diagonal):
    assert np.diagonal(truncated_geometric(4, leakage).matrix).tolist() == diagonal


@pytest.mark.parametrize("size", [2, 3, 5, 7])
@pytest.mark.parametrize("leakage", [0.1, 1.0, 4.0])
def test_a_complete_graph_given_by_edges_is_a_clique(size, leakage):
    vertices = random_priors(np.random.default_rng(size), size)
    graph, source = adjacency_of(nx.complete_graph(size)), SourceSet(vertices)
    assert graph.is_clique
    by_edges = optimal_mechanism(source, leakage=leakage, notion=DifferentialPrivacy(graph))
    plain = optimal_mechanism(source, leakage=leakage)
    assert (by_edges.mechanism.matrix == plain.mechanism.matrix).all()
    # The program over the whole channel, which a clique never reaches from outside, agrees with the one over its diagonal.
    program = on_graph(vertices, graph)
    whole = program.at_leakage(leakage)
    bound = program.least_distortion(whole.certificate, leakage)
    assert bound == pytest.approx(plain.distortion, abs=CERTIFIED)
    assert 1 - min(vertices @ np.diagonal(whole.mechanism)) == pytest.approx(plain.distortion, abs=CERTIFIED)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_one_missing_edge_helps_a_little(size):
    graph = nx.complete_graph(size)
    graph.remove_edge(0, size - 1)
    vertices = random_priors(np.random.default_rng(size), size)
    adjacency, source = adjacency_of(graph), SourceSet(vertices)
    assert not adjacency.is_clique
    best = optimal_mechanism(source, leakage=3.0, notion=DifferentialPrivacy(adjacency))
    assert best.distortion == pytest.approx(least_distortion(vertices, list(graph.edges), 3.0), abs=SOLVERS)
    assert best.distortion < optimal_mechanism(source, leakage=3.0).distortion - 1e-4


@pytest.mark.parametrize("seed", range(20))
def test_proposals_keep_the_ratio_and_their_bound_holds(seed):
    rng = np.random.default_rng([9, seed])
    size, pairs = random_graph(rng, least=3)
    vertices, leakage = random_priors(rng, size), float(rng.uniform(0.5, 4))
    graph = Adjacency.from_edges(size, pairs)
    program = on_graph(vertices, graph)
    found = program.at_leakage(leakage)
    bound = program.least_distortion(found.certificate, leakage)
    assert found.mechanism.sum(axis=1) == pytest.approx(np.ones(size), abs=ROUNDING)
    assert float(largest_ratio(found.mechanism, pairs)) <= math.exp(leakage)
    assert bound <= least_distortion(vertices, pairs, leakage) + SOLVERS
    # The bound is already that of one member of the set.
    alone = least_distortion(found.weights @ vertices, pairs, leakage)
    assert bound <= alone + SOLVERS


@pytest.mark.parametrize(
    ("density", "style"),
    [(0.1, "smooth"), (0.1, "zeros"), (0.5, "peaked"), (0.5, "uniform"), (0.95, "smooth"), (0.95, "zeros")],
)
def test_any_graph_of_40_vertices(density, style):
    rng = np.random.default_rng(40)
    while not nx.is_connected(graph := nx.gnp_random_graph(40, density, seed=int(rng.integers(2**31)))):
        pass
    source, adjacency = SourceSet(random_priors(rng, 40, style)), adjacency_of(graph)
    best = optimal_mechanism(source, leakage=2.0, notion=DifferentialPrivacy(adjacency))
    assert best.gap <= CERTIFIED
    assert float(largest_ratio(best.mechanism.matrix, graph.edges)) <= math.exp(2.0)


@pytest.mark.parametrize(
    ("graph", "leakage"),
    [(line(20), 2.0), (line(30), 1.5), (line(40), 1.0), (ring(30), 2.0), (ring(40), 1.5)],
    ids=repr,
)
def test_long_lines_and_rings(graph, leakage):
    best = optimal_mechanism(SourceSet(uniform(graph.size)), leakage=leakage, notion=DifferentialPrivacy(graph))
    assert best.distortion == pytest.approx(
        1 - np.trace(distance_mechanism(graph, leakage).matrix) / graph.size, abs=CERTIFIED
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: uniform_least_distortion(line(4), 1.0),
            r"adjacency must be vertex-transitive for this closed form; got Adjacency\(line: 4 vertices, 3 "
            r"edges\)\. Use optimal_mechanism with DifferentialPrivacy\(adjacency\)\.",
        ),
        (lambda: uniform_least_distortion(ring(4), -1.0), "at least 0 nats"),
        (lambda: uniform_least_distortion(ring(4), math.nan), "at least 0 nats"),
        (
            lambda: on_graph(uniform(400), ring(400)),
            "the linear program must have at most 200000 rows; got 320000 for 400 "
            r"categories\. Merge rare categories, or use a closed form such as uniform_least_distortion\.",
        ),
        (
            lambda: distance_mechanism(ring(6), 0.0),
            r"leakage must be above 0 nats for a distance mechanism; got 0\.0\. At 0 use " r"Mechanism\.constant\.",
        ),
        (
            lambda: distance_mechanism(ring(5_001), 1.0),
            r"the graph must have at most 5000 vertices for its matrix of distances; got 5001\. Use "
            r"distances_from\(vertex\) or border_sizes\(vertex\)\.",
        ),
        (lambda: truncated_geometric(0, 1.0), "at least 1; got 0"),
        (lambda: truncated_geometric(3, -1.0), "at least 0 nats"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_singular_weights_of_k33():
    graph = adjacency_of(nx.complete_bipartite_graph(3, 3))
    assert np.diagonal(distance_mechanism(graph, math.log(2)).matrix) == pytest.approx(np.full(6, 1 / 3), abs=ROUNDING)


@pytest.mark.parametrize(
    ("graph", "leakage"), [(hamming(2, 5), 1e-4), (hamming(2, 5), 1e-3), (ring(6), 1e-8), (ring(6), 1e-17)], ids=repr
)
def test_weights_are_positive_and_equal_on_vertex_transitive_graphs(graph, leakage):
    diagonal = np.diagonal(distance_mechanism(graph, leakage).matrix)
    assert np.ptp(diagonal) < 1e-9
