"""Graphs of neighbors against networkx and against every permutation of a few vertices."""

import itertools
import math
import tracemalloc

import networkx as nx
import numpy as np
import pytest

from paper_repro.graphs import Adjacency, check_database_space, clique, hamming, line, ring
from paper_repro.papers.alvim2011 import single_orbit_automorphism, theorem_1
from tests.oracles.graphs import automorphisms, distances, is_single_orbit, random_graph

SMALL = [graph for graph in nx.graph_atlas_g() if 1 <= len(graph) <= 6 and nx.is_connected(graph)]


def adjacency_of(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return Adjacency.from_edges(len(graph), graph.edges)


@pytest.fixture(params=range(60))
def drawn(request):
    return random_graph(np.random.default_rng([11, request.param]))


def test_distances_borders_and_diameter_of_random_graphs(drawn):
    size, pairs = drawn
    graph, expected = Adjacency.from_edges(size, pairs), distances(size, pairs)
    assert (graph.distances == expected).all()
    assert graph.diameter == expected.max()
    for vertex in range(size):
        assert (graph.distances_from(vertex) == expected[vertex]).all()
        borders = [int((expected[vertex] == d).sum()) for d in range(expected[vertex].max() + 1)]
        assert graph.border_sizes(vertex).tolist() == borders


def test_order_direction_and_repetition_of_edges_do_not_matter(drawn):
    size, pairs = drawn
    graph = Adjacency.from_edges(size, pairs)
    again = Adjacency.from_edges(size, [*pairs, *(pair[::-1] for pair in pairs), *pairs])
    assert graph.edges.tolist() == again.edges.tolist() == sorted(sorted(pair) for pair in pairs)
    matrix = nx.to_numpy_array(graph.to_networkx(), nodelist=range(size))
    assert Adjacency.from_edges(size, np.argwhere(matrix)).edges.tolist() == graph.edges.tolist()


@pytest.mark.parametrize("number", range(len(SMALL)))
def test_symmetries_of_all_small_graphs(number):
    atlas = SMALL[number]
    graph, size, pairs = adjacency_of(atlas), len(atlas), list(atlas.edges)
    every = automorphisms(size, pairs)
    assert graph.is_vertex_transitive == ({image[0] for image in every} == set(range(size)))
    found = single_orbit_automorphism(graph)
    assert (found is not None) == any(is_single_orbit(image) for image in every)
    assert found is None or (found in every and is_single_orbit(found))
    assert graph.is_clique == (len(pairs) == size * (size - 1) // 2)


@pytest.mark.parametrize(
    ("graph", "transitive", "circulant"),
    [
        (nx.petersen_graph(), True, False),
        (nx.hypercube_graph(3), True, False),
        (nx.complete_bipartite_graph(3, 3), True, True),
        (nx.complete_bipartite_graph(3, 4), False, False),
        (nx.dodecahedral_graph(), True, False),
        (nx.frucht_graph(), False, False),  # every vertex has three neighbors, and no two are alike
        (nx.paley_graph(13).to_undirected(), True, True),
        (nx.circulant_graph(15, [1, 4, 6]), True, True),
        (nx.cycle_graph(9), True, True),
        (nx.path_graph(5), False, False),
    ],
    ids=["Petersen", "cube", "K33", "K34", "dodecahedron", "Frucht", "Paley", "circulant", "ring", "line"],
)
def test_symmetries_of_well_known_graphs(graph, transitive, circulant):
    found = adjacency_of(graph)
    assert found.is_vertex_transitive is transitive
    image = single_orbit_automorphism(found)
    assert (image is not None) is circulant
    if image is not None:
        edges = {tuple(edge) for edge in found.edges.tolist()}
        assert {tuple(sorted((image[i], image[j]))) for i, j in edges} == edges
        assert is_single_orbit(image)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 20])
def test_named_graphs(size):
    assert nx.is_isomorphic(line(size).to_networkx(), nx.path_graph(size))
    assert nx.is_isomorphic(clique(size).to_networkx(), nx.complete_graph(size))
    assert clique(size).distances.tolist() == (1 - np.eye(size)).tolist()
    assert line(size).is_vertex_transitive == (size <= 2)
    if size > 2:
        assert nx.is_isomorphic(ring(size).to_networkx(), nx.cycle_graph(size))


@pytest.mark.parametrize(("values", "records"), [(1, 1), (1, 3), (2, 1), (5, 1), (2, 4), (3, 3), (4, 2)])
def test_databases_are_neighbors_if_one_record_differs(values, records):
    graph = hamming(values, records)
    every = list(itertools.product(range(values), repeat=records))
    differ = [[sum(a != b for a, b in zip(x, y, strict=True)) for y in every] for x in every]
    assert graph.size == len(every)
    assert graph.distances.tolist() == differ
    assert graph.is_vertex_transitive
    borders = [math.comb(records, d) * (values - 1) ** d for d in range(records + 1)]
    assert graph.border_sizes(0).tolist() == (borders if values > 1 else [1])


@pytest.mark.parametrize("graph", [ring(10_000), clique(10_000)], ids=["ring", "clique"])
def test_large_graphs_need_no_distance_matrix(graph):
    tracemalloc.start()
    assert graph.border_sizes(17).sum() == 10_000
    assert graph.diameter == (5_000 if graph.name == "ring" else 1)
    assert graph.is_vertex_transitive
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6  # the matrix would take 800 MB


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Adjacency.from_edges(4, [(0, 1), (2, 3)]),
            r"the graph must be connected; got no path from vertex 0 to vertex 2\. Treat its parts "
            r"separately, or add the missing edges\.",
        ),
        (
            lambda: Adjacency.from_edges(2, []),
            r"the graph must be connected; got no path from vertex 0 to vertex 1\. Treat its parts "
            r"separately, or add the missing edges\.",
        ),
        (lambda: Adjacency.from_edges(0, []), r"size must be a whole number, at least 1; got 0\."),
        (
            lambda: Adjacency.from_edges(3, [(0, 1), (1, 3)]),
            r"edges must join vertices in 0 \.\. 2; got vertex 3\. Correct the vertex, or enlarge size\.",
        ),
        (lambda: Adjacency.from_edges(3, [(0, 1), (-1, 2)]), "got vertex -1"),
        (
            lambda: Adjacency.from_edges(3, [(0, 1), (2, 2)]),
            r"edges must join two different vertices; got vertex 2 with itself\. Leave that edge out\.",
        ),
        (lambda: Adjacency.from_edges(3, None), r"pairs of vertices such as \[\(0, 1\), \(1, 2\)\]; got None"),
        (lambda: Adjacency.from_edges(3, [(0, 1), (1,)]), "pairs of vertices"),
        (
            lambda: Adjacency.from_edges(3, "ab"),
            r"edges must be pairs of whole numbers, the vertices; got an array of shape \(2,\) of <U1\. "
            r"Write them such as \[\(0, 1\), \(1, 2\)\]\.",
        ),
        (
            lambda: Adjacency.from_edges(2, [(True, False)]),
            r"edges must be pairs of whole numbers, the vertices; got an array of shape \(1, 2\) of bool\. "
            r"Write them such as \[\(0, 1\), \(1, 2\)\]\.",
        ),
        (lambda: Adjacency.from_edges(2.5, [(0, 1)]), r"size must be a whole number, at least 1; got 2\.5\."),
        (lambda: clique(0), r"size must be a whole number, at least 1; got 0\."),
        (lambda: clique(1.5), r"got 1\.5"),
        (lambda: ring(2), r"size must be a whole number, at least 3; got 2\. Two vertices are joined by line\(2\)\."),
        (lambda: ring(True), "at least 3; got True"),
        (lambda: line(0), r"size must be a whole number, at least 1; got 0\."),
        (lambda: line("3"), "got '3'"),
        (
            lambda: line(10**12),
            r"size must be at most 10000000, for memory and rounding; got 1000000000000\. Take fewer\.",
        ),
        (
            lambda: Adjacency.from_edges(10**12, [(0, 1)]),
            r"size must be at most 10000000, for memory and rounding; got 1000000000000\. Take fewer\.",
        ),
        (
            lambda: clique(10**6).edges,
            "the number of listed pairs of neighbors must be at most 10000000, for memory and rounding; got "
            r"499999500000\. Take fewer\.",
        ),
        (lambda: hamming({"a", "b"}, 2), "sequence of distinct values"),
        (lambda: hamming(0, 2), "values must be a whole number, at least 1; got 0"),
        (lambda: hamming(2.5, 1), r"values must be a whole number, at least 1; got 2\.5"),
        (lambda: hamming(2, 0), "records must be a whole number, at least 1; got 0"),
        (lambda: ring(5).distances_from(5), r"vertex must be in 0 \.\. 4; got 5"),
        (lambda: ring(5).border_sizes(-1), "got -1"),
        (
            lambda: ring(5_001).distances,
            r"the graph must have at most 5000 vertices for its matrix of distances; got 5001\. Use "
            r"distances_from\(vertex\) or border_sizes\(vertex\)\.",
        ),
        (
            lambda: adjacency_of(nx.cycle_graph(61)).is_vertex_transitive,
            "the graph must have at most 60 vertices for the search whether it is vertex-transitive; got "
            r"61\. Build it by clique, ring or hamming, where this is known\.",
        ),
        (
            lambda: single_orbit_automorphism(adjacency_of(nx.cycle_graph(21))),
            r"adjacency must have at most 20 vertices for the search whether it is circulant; got 21\. Build "
            r"it by clique or ring, where this is known\.",
        ),
    ],
)
def test_what_is_no_graph_or_too_large(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("values", "records"), [(10, 6), (2, 17), (100_001, 1), (100, 100), (2, 10**6)])
def test_too_many_databases_name_the_numbers_and_the_closed_form(values, records):
    message = rf"at most 100000 databases to enumerate; got {values}\^{records}\. .*alvim2011\.theorem_1"
    with pytest.raises(ValueError, match=message):
        check_database_space(values, records)
    assert theorem_1(values, records, 1.0) > 0


@pytest.mark.parametrize(("values", "records"), [(10, 5), (2, 16), (100_000, 1)])
def test_the_largest_spaces_are_let_through(values, records):
    assert check_database_space(values, records) == values**records


@pytest.mark.parametrize(("values", "records"), [(10**20, 2), (2, 10**400)], ids=["values", "records"])
def test_numbers_beyond_64_bits_are_too_large_as_well(values, records):
    with pytest.raises(ValueError, match="at most 100000 databases to enumerate; got"):
        check_database_space(values, records)


def test_many_values_of_few_records():
    assert len(hamming(500, 1).edges) == 500 * 499 // 2
    assert len(hamming(100, 2).edges) == 100**2 * 99


def test_edges_with_weights_are_not_taken_for_other_edges():
    with pytest.raises(ValueError, match="pair"):
        Adjacency.from_edges(4, [(0, 1, 2), (3, 1, 2)])  # taken for 0-1, 2-3, 1-2


def test_fractions_of_vertices_are_refused():
    with pytest.raises(
        ValueError,
        match=r"edges must be pairs of whole numbers, the vertices; got an array of shape \(1, 2\) of "
        r"float64\. Write them such as \[\(0, 1\), \(1, 2\)\]\.",
    ):
        Adjacency.from_edges(2, [(0, 1.5)])


@pytest.mark.parametrize("make", [clique, ring, line])
def test_fractions_of_sizes_are_refused(make):
    with pytest.raises((ValueError, TypeError)):
        make(4.5)


def test_rings_of_any_size_have_a_single_orbit():
    assert is_single_orbit(single_orbit_automorphism(ring(21)))


def test_a_graph_cannot_be_changed_from_outside():
    with pytest.raises(ValueError, match="read-only"):
        ring(4).edges[0, 0] = 2
