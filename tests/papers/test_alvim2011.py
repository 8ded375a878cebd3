"""Formulas of Alvim et al. 2011 as they are printed, their limits and their domains; whether they hold is for the ledger."""

import math

import networkx as nx
import numpy as np
import pytest

from paper_repro import (
    DifferentialPrivacy,
    SourceSet,
    clique,
    hamming,
    line,
    optimal_mechanism,
    ring,
    truncated_geometric,
)
from paper_repro.graphs import Adjacency
from paper_repro.guessing import bayes_vulnerability, min_entropy_capacity, min_entropy_leakage
from paper_repro.papers import alvim2011 as alvim
from tests.oracles.graphs import largest_ratio
from tests.oracles.notions import database_distances

LOG2 = math.log(2)
ROUNDING = 1e-12  # sums of at most a hundred terms of order 1
CERTIFIED = 1e-9  # of an optimum


def uniform(size):
    return np.full(size, 1 / size)


def optimum(graph, leakage):
    return optimal_mechanism(SourceSet(uniform(graph.size)), leakage=leakage, notion=DifferentialPrivacy(graph)).utility


def leakage_on(graph, matrix):
    return DifferentialPrivacy(graph).leakage(matrix)


# Section 2.2


@pytest.mark.parametrize("seed", range(5))
def test_printed_capacity_lacks_the_logarithm(seed):
    channel = np.random.default_rng(seed).dirichlet(np.ones(4), size=3)
    printed = alvim.capacity(channel)
    assert math.log2(printed) == pytest.approx(min_entropy_capacity(channel, bits=True), abs=ROUNDING)
    assert printed >= 1  # so that even a channel that tells nothing would have a capacity of one bit
    assert alvim.capacity(np.full((3, 2), 0.5)) == 1.0


# Theorem 1


def bound(values, individuals, leakage):
    ratio = math.exp(leakage)
    return individuals * math.log2(values * ratio / (values - 1 + ratio))


@pytest.mark.parametrize("values", [2, 3, 10, 100])
@pytest.mark.parametrize("individuals", [1, 3, 100])
@pytest.mark.parametrize("leakage", [1e-9, 0.1, 1.0, 5.0, 50.0])
def test_theorem_1_as_printed(values, individuals, leakage):
    found = alvim.theorem_1(values, individuals, leakage)
    assert found == pytest.approx(bound(values, individuals, leakage), abs=1e-12 * individuals)  # rounding, u times


@pytest.mark.parametrize("leakage", [100.0, 700.0, 1e6, math.inf])
def test_theorem_1_does_not_overflow(leakage):
    assert alvim.theorem_1(100, 100, leakage) == pytest.approx(100 * math.log2(100), rel=1e-12)
    assert alvim.theorem_1(100, 100, 0.0) == pytest.approx(0, abs=1e-12)  # 100 times the rounding of a logarithm


# Proposition 1 and Example 1


@pytest.mark.parametrize(("values", "individuals"), [(3, 2), (2, 3), (4, 1), (2, 1)])
@pytest.mark.parametrize("leakage", [0.0, 0.3, LOG2, 4.0, 40.0])
def test_proposition_1_corrected_attains_theorem_1(values, individuals, leakage):
    matrix = alvim.proposition_1(values, individuals, leakage, "corrected")
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=ROUNDING)
    assert leakage_on(hamming(values, individuals), matrix) == pytest.approx(leakage, abs=ROUNDING)
    leaked = min_entropy_leakage(uniform(len(matrix)), matrix, bits=True)
    assert leaked == pytest.approx(bound(values, individuals, leakage), abs=ROUNDING)


def test_proposition_1_has_three_readings():
    with pytest.raises(ValueError, match="reading must be one of 'printed', 'example', 'corrected'; got 'right'"):
        alvim.proposition_1(3, 2, 1.0, "right")


# Proposition 2


def printed_bound(values, individuals, outputs, ratio):
    power = math.floor(math.log(outputs) / math.log(values) + 1e-9)
    return math.log2(outputs * ratio**individuals / ((values - 1 + ratio) ** power - ratio**power + ratio**individuals))


@pytest.mark.parametrize(("values", "individuals"), [(2, 3), (3, 2), (5, 3), (2, 10)])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 7.0])
def test_proposition_2_as_printed(values, individuals, ratio):
    for outputs in range(1, min(values**individuals, 40) + 1):
        found = alvim.proposition_2(values, individuals, outputs, math.log(ratio))
        assert found == pytest.approx(printed_bound(values, individuals, outputs, ratio), abs=ROUNDING)


@pytest.mark.parametrize("outputs", [0, -3, 9, 100])
def test_proposition_2_is_for_1_to_all_outputs(outputs):
    with pytest.raises(
        ValueError, match=rf"outputs must be (a whole number, at least 1|between 1 and v\^u = 2\^3); got {outputs}\."
    ):
        alvim.proposition_2(2, 3, outputs, 1.0)


def test_proposition_2_on_large_spaces():
    # v = 100, u = 100, r = v: log2( v t^u / (v - 1 + t^u) ), with a t^u of 1e43.
    assert alvim.proposition_2(100, 100, 100, 1.0) == pytest.approx(math.log2(100), abs=ROUNDING)
    assert alvim.proposition_2(100, 100, 100**100, 1.0) == pytest.approx(bound(100, 100, 1.0), abs=1e-10)  # u times
    assert alvim.proposition_2(100, 200, 100**200, 1.0) == pytest.approx(bound(100, 200, 1.0), abs=1e-9)
    assert alvim.proposition_2(2, 3, 8, math.inf) == 3.0


# Theorem 2


@pytest.mark.parametrize("leakage", [0.0, 0.5, LOG2, math.inf])
def test_theorem_2_counts_bits(leakage):
    assert alvim.theorem_2(leakage) == pytest.approx(leakage / LOG2, rel=1e-15)


# Lemmas 1, 2 and 5


def test_lemma_1_is_for_at_least_as_many_columns():
    with pytest.raises(
        ValueError,
        match=r"matrix must have at least as many columns as rows for Lemma 1 \(n <= m\); got shape \(3, 2\)\. "
        r"Add 1 columns of zeros\.",
    ):
        alvim.lemma_1(np.full((3, 2), 0.5))
    padded = alvim.lemma_1([[0.75, 0.25, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]])
    assert padded.tolist() == [[0.75, 0.25, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]]


@pytest.mark.parametrize(("values", "individuals"), [(2, 2), (3, 2), (2, 3), (4, 1)])
def test_lemma_2_as_printed(values, individuals, rng):
    """Means over all i, and all j as far from i as k is from h."""
    size = values**individuals
    channel = alvim.lemma_1(rng.dirichlet(np.ones(size), size=size))
    found = alvim.lemma_2(channel, values, individuals)
    far = database_distances(values, individuals)
    for d in range(individuals + 1):
        assert np.allclose(found[far == d], channel[far == d].mean(), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("offsets", [(5, [1]), (6, [1, 3]), (8, [1, 4]), (9, [1, 3]), (10, [2, 5])], ids=str)
def test_lemma_5_as_printed(offsets, rng):
    """The mean of ``M_{s^i(h), s^i(k)}``."""
    graph = nx.circulant_graph(*offsets)
    image, size = alvim.single_orbit_automorphism(Adjacency.from_edges(len(graph), graph.edges)), len(graph)
    channel = alvim.lemma_1(rng.dirichlet(np.ones(size), size=size))
    power, mean = list(range(size)), np.zeros((size, size))
    for _ in range(size):
        mean += channel[np.ix_(power, power)]
        power = [image[place] for place in power]
    assert alvim.lemma_5(channel, image) == pytest.approx(mean / size, abs=ROUNDING)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ((1, 0, 3, 2), r"automorphism must have a single orbit, through all vertices; got \(1, 0, 3, 2\)\."),
        ((0, 1, 2, 3), r"automorphism must have a single orbit, through all vertices; got \(0, 1, 2, 3\)\."),
        ((1, 2, 3, 4), "must permute the 4 vertices"),
        ((1, 1, 2, 3), "must permute the 4 vertices"),
        ((1, 0), "must permute the 4 vertices"),
    ],
)
def test_lemma_5_needs_a_single_orbit(image, message):
    with pytest.raises(ValueError, match=message):
        alvim.lemma_5(np.eye(4), image)


def test_lemma_2_needs_all_databases():
    with pytest.raises(
        ValueError, match=r"matrix must have shape \(8, 8\), a row and a column for each database; got shape \(4, 4\)\."
    ):
        alvim.lemma_2(np.eye(4), 2, 3)


# Theorems 3 and 4, equation (6)


def printed_theorem_3(leakage, border, diameter):
    ratio = math.exp(leakage)
    return ratio**diameter * (1 - ratio) / (ratio**diameter * (1 - ratio) + border * (1 - ratio**diameter))


@pytest.mark.parametrize("leakage", [0.1, LOG2, 5.0])
@pytest.mark.parametrize(("border", "diameter"), [(1, 1), (2, 3), (5, 1), (3, 10)])
def test_theorem_3_as_printed(leakage, border, diameter):
    expected = printed_theorem_3(leakage, border, diameter)
    assert alvim.theorem_3(leakage, border, diameter) == pytest.approx(expected, abs=ROUNDING)


def test_theorem_3_has_no_gap_at_its_ends():
    assert alvim.theorem_3(0.0, 2, 3) == pytest.approx(1 / 7, abs=ROUNDING)  # the printed quotient is 0/0
    assert alvim.theorem_3(math.inf, 2, 3) == 1.0
    assert alvim.theorem_3(800.0, 2, 3) == 1.0
    assert alvim.theorem_3(1.0, 2, 0) == 1.0


@pytest.mark.parametrize(
    ("border", "diameter", "message"),
    [(0, 1, "border .* at least 1; got 0"), (-1, 2, "border .* got -1"), (2, -1, "diameter .* at least 0; got -1")],
)
def test_theorem_3_needs_a_border_and_a_diameter(border, diameter, message):
    with pytest.raises(ValueError, match=message):
        alvim.theorem_3(1.0, border, diameter)


# Remarks 1 and 2


@pytest.mark.parametrize(("step", "keeps"), [(-1e-6, False), (1e-6, True)])
def test_remark_1_holds_exactly_from_its_condition_on(step, keeps):
    leakage = LOG2 / 2 + step  # (e^eps)^2 = 2 e^(2 step)
    graph, ratio = ring(6), math.exp(leakage)
    doubled = np.array([[ratio ** -min(abs(i - j), 6 - abs(i - j)) for j in range(6)] for i in range(6)])
    doubled[graph.distances == 3] *= 2
    doubled /= doubled.sum(axis=1, keepdims=True)
    assert (largest_ratio(doubled, graph.edges.tolist()) <= ratio * (1 + ROUNDING)) is keeps
    if keeps:
        assert alvim.remark_1(6, leakage) == pytest.approx(doubled, abs=ROUNDING)
    else:
        with pytest.raises(
            ValueError,
            match=r"leakage must be at least 0\.346574 nats for Remark 1, which requires \(e\^eps\)\^2 >= 2; got 0\.3465",
        ):
            alvim.remark_1(6, leakage)


@pytest.mark.parametrize("size", [5, 7, 2, 0])
def test_remark_1_is_for_even_rings(size):
    with pytest.raises(
        ValueError, match=f"size must be (even and at least 4 for Remark 1|a whole number, at least 1); got {size}"
    ):
        alvim.remark_1(size, 1.0)


@pytest.mark.parametrize(
    ("graph", "extended", "message"),
    [
        (line(3), clique(4), r"extended must have 3 vertices, as the first graph; got 4\."),
        (
            ring(5),
            line(5),
            "extended must have all edges of the first graph, and may have more; got a graph without the "
            r"edge \(0, 4\)\.",
        ),
        (
            line(6),
            ring(6),
            r"extended must have the same number of vertices at every distance; got Adjacency\(ring: 6 "
            r"vertices, 6 edges\)\. A clique always has\.",
        ),
    ],
)
def test_what_remark_2_may_add(graph, extended, message):
    with pytest.raises(ValueError, match=message):
        alvim.remark_2(graph, extended, 1.0)


# Their mechanism for any graph


@pytest.mark.parametrize(
    "graph",
    [line(1), line(2), line(3), line(5), line(6), ring(4), ring(5), ring(6), clique(4), hamming(2, 3), hamming(3, 2)],
    ids=repr,
)
@pytest.mark.parametrize("leakage", [0.2, 0.4, LOG2, 3.0])  # below, Remark 2 with the clique
def test_their_mechanism_is_private_and_no_better_than_the_optimum(graph, leakage):
    matrix = alvim.proposed_mechanism(graph, leakage)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=ROUNDING)
    assert leakage_on(graph, matrix) <= leakage + ROUNDING
    assert bayes_vulnerability(uniform(graph.size), matrix) <= optimum(graph, leakage) + CERTIFIED


def test_their_mechanism_closes_the_line_of_example_3_to_a_ring():
    found = alvim.proposed_mechanism(line(6), LOG2)
    assert found[0] == pytest.approx(np.array([4, 2, 1, 1, 1, 2]) / 11, abs=ROUNDING)
    assert found[5] == pytest.approx(np.array([2, 1, 1, 1, 2, 4]) / 11, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(5))
def test_their_mechanism_follows_a_ring_whatever_its_vertices_are_called(seed):
    order = np.random.default_rng(seed).permutation(8)
    graph = Adjacency.from_edges(8, [(order[i], order[i - 1]) for i in range(8)])
    found = alvim.proposed_mechanism(graph, 1.0)
    assert found[np.ix_(order, order)] == pytest.approx(alvim.remark_1(8, 1.0), abs=ROUNDING)


@pytest.mark.parametrize(
    "call",
    [
        lambda: alvim.equation_6(ring(5), math.inf, 2),
        lambda: alvim.remark_1(6, math.inf),
        lambda: alvim.remark_2(line(5), ring(5), math.inf),
        lambda: alvim.proposed_mechanism(line(5), math.inf),
    ],
)
def test_without_a_limit_nothing_changes(call):
    assert (call() == np.eye(len(call()))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alvim.theorem_1(1, 3, 1.0), "values must be a whole number, at least 2; got 1"),
        (lambda: alvim.theorem_1(2, 0, 1.0), "records must be a whole number, at least 1; got 0"),
        (lambda: alvim.theorem_1(2, 3, -1.0), "at least 0 nats"),
        (lambda: alvim.theorem_1(2, 3, math.nan), "at least 0 nats"),
        (lambda: alvim.theorem_2(-1.0), "at least 0 nats"),
        (lambda: alvim.theorem_3(-1.0, 2, 2), "at least 0 nats"),
        (lambda: alvim.proposition_2(1, 3, 1, 1.0), "values must be a whole number, at least 2; got 1"),
        (
            lambda: alvim.proposition_1(10, 6, 1.0),
            r"values \*\* records must be at most 100000 databases to enumerate; got 10\^6\. For the whole "
            r"space use the closed form, papers\.alvim2011\.theorem_1\.",
        ),
        (
            lambda: alvim.proposition_1(10, 4, 1.0),
            r"the graph must have at most 5000 vertices for its matrix of distances; got 10000\. Use "
            r"distances_from\(vertex\) or border_sizes\(vertex\)\.",
        ),
        (lambda: alvim.equation_6(ring(5), 1.0, 0), r"border must be a whole number, at least 1; got 0\."),
        (lambda: alvim.capacity([[0.5, 0.6]]), r"channel: row 0 must sum to 1 within 1e-09; got 1\.1"),
        (lambda: alvim.lemma_1([[0.5, 0.6]]), r"channel: row 0 must sum to 1 within 1e-09; got 1\.1"),
    ],
)
def test_numbers_outside_their_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# qif, which has these mechanisms too


@pytest.mark.parametrize("size", [5, 6, 8])
def test_tight_constraints_and_geometric_as_qif_has_them(size):
    qif = pytest.importorskip("qif")
    distances = ring(size).distances
    theirs = qif.mechanism.d_privacy.tight_constraints(size, lambda i, j: LOG2 * float(distances[i, j]))
    assert np.trace(theirs) / size == pytest.approx(optimum(ring(size), LOG2), abs=CERTIFIED)
    geometric = qif.mechanism.d_privacy.geometric(size, LOG2)
    assert truncated_geometric(size, LOG2).matrix == pytest.approx(np.array(geometric), abs=ROUNDING)


@pytest.mark.parametrize("graph", [ring(5), ring(7), clique(4)], ids=repr)
def test_theorem_4_is_a_channel_where_its_conditions_hold(graph):
    matrix = alvim.theorem_4(graph, 1.0)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=1e-14)  # rounding
    assert matrix[0, 0] == pytest.approx(alvim.theorem_3(1.0, alvim.border_count(graph), graph.diameter), abs=1e-15)


@pytest.mark.parametrize("graph", [ring(6), line(4)], ids=repr)
def test_theorem_4_refuses_other_graphs(graph):
    with pytest.raises(
        ValueError, match=r"adjacency must have an automorphism with a single orbit, .* for Theorem 4; got .*remark_2"
    ):
        alvim.theorem_4(graph, 1.0)
