"""Every numbered statement of Alvim et al. 2011: what holds, what is printed, and where the print is wrong."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from paper_repro import (
    DifferentialPrivacy,
    Query,
    SourceSet,
    clique,
    hamming,
    line,
    optimal_mechanism,
    ring,
    truncated_geometric,
)
from paper_repro.graphs import Adjacency, databases
from paper_repro.min_entropy import bayes_vulnerability, greatest_capacity, min_entropy_capacity, min_entropy_leakage
from paper_repro.papers import alvim2011 as alvim
from tests.oracles.graphs import greatest_vulnerability, largest_ratio, least_distortion, random_private_channel

LOG2 = math.log(2)
ROUNDING = 1e-12  # sums of at most a hundred terms of order 1
CERTIFIED = 1e-9  # of an optimum
SOLVER = 1e-7  # the separate linear program's rows, added up
PRINTED_4 = 0.5e-4  # half a unit of the last digit that is printed
ENDS_LESS_LIKELY = (0.1, 0.2, 0.2, 0.2, 0.2, 0.1)


def uniform(size):
    return np.full(size, 1 / size)


def optimum(graph, leakage, prior=None):
    source = SourceSet(uniform(graph.size) if prior is None else prior)
    return optimal_mechanism(source, leakage=leakage, notion=DifferentialPrivacy(graph)).utility


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


@pytest.mark.parametrize(("individuals", "values", "bits"), [(2, 3, 1.169925), (3, 2, 1.245112)])
def test_theorem_1_by_linear_programming(individuals, values, bits):
    graph = hamming(values, individuals)
    least = least_distortion(uniform(graph.size), graph.edges.tolist(), LOG2)
    for leaked in (
        alvim.theorem_1(values, individuals, LOG2),
        math.log2(graph.size * (1 - least)),
        math.log2(graph.size * optimum(graph, LOG2)),
    ):
        assert leaked == pytest.approx(bits, abs=1e-6)  # as many digits are given


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


@pytest.mark.parametrize("seed", range(15))
def test_theorem_1_holds_for_random_private_channels_and_priors(seed):
    rng = np.random.default_rng([1, seed])
    values, individuals = [(2, 3), (3, 2), (2, 2)][seed % 3]
    graph, leakage = hamming(values, individuals), float(rng.uniform(0.1, 3))
    channel = random_private_channel(rng, graph.size, graph.edges.tolist(), int(rng.integers(2, 12)), leakage)
    for prior in (uniform(graph.size), *rng.dirichlet(np.ones(graph.size), size=5)):
        leaked = min_entropy_leakage(prior, channel, bits=True)
        assert leaked <= alvim.theorem_1(values, individuals, leakage) + ROUNDING


# Proposition 1 and Example 1


@pytest.mark.parametrize(("values", "individuals"), [(3, 2), (2, 3), (4, 1), (2, 1)])
@pytest.mark.parametrize("leakage", [0.0, 0.3, LOG2, 4.0, 40.0])
def test_proposition_1_corrected_attains_theorem_1(values, individuals, leakage):
    matrix = alvim.proposition_1(values, individuals, leakage, "corrected")
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=ROUNDING)
    assert leakage_on(hamming(values, individuals), matrix) == pytest.approx(leakage, abs=ROUNDING)
    leaked = min_entropy_leakage(uniform(len(matrix)), matrix, bits=True)
    assert leaked == pytest.approx(bound(values, individuals, leakage), abs=ROUNDING)


def test_example_1_corrected():
    matrix = alvim.proposition_1(3, 2, LOG2, "corrected")
    assert sorted(set(matrix.ravel().round(12)), reverse=True) == [1 / 4, 1 / 8, 1 / 16]
    assert matrix.sum(axis=1) == pytest.approx(np.ones(9), abs=ROUNDING)
    every = list(databases("abc", 2))
    for (row, x), (column, y) in itertools.product(enumerate(every), repeat=2):
        differ = sum(a != b for a, b in zip(x, y, strict=True))
        assert matrix[row, column] == pytest.approx(1 / 2 ** (2 + differ), abs=ROUNDING)


@pytest.mark.parametrize("leakage", [0.01, LOG2, 3.0])
def test_the_printed_scales_make_no_channel(leakage):
    example = alvim.proposition_1(3, 2, leakage, "example")
    assert example.max() == pytest.approx(3 * math.exp(leakage) / (2 + math.exp(leakage)), abs=ROUNDING)
    assert example.max() > 1
    printed = alvim.proposition_1(3, 2, leakage, "printed")
    assert printed.max() == pytest.approx(bound(3, 2, leakage), abs=ROUNDING)  # bits, taken for a probability
    for matrix in (example, printed):
        assert abs(matrix.sum(axis=1) - 1).min() > 0.01


def test_proposition_1_has_three_readings():
    with pytest.raises(ValueError, match="reading must be one of 'printed', 'example', 'corrected', got 'right'"):
        alvim.proposition_1(3, 2, 1.0, "right")


# Proposition 2


def printed_bound(values, individuals, outputs, ratio):
    power = math.floor(math.log(outputs) / math.log(values) + 1e-9)
    return math.log2(outputs * ratio**individuals / ((values - 1 + ratio) ** power - ratio**power + ratio**individuals))


@pytest.mark.parametrize(
    ("individuals", "values", "outputs", "ratio", "exact", "bits"),
    [(3, 2, 2, 2, 0.7370, 0.8301), (3, 2, 3, 2, 1.0, 1.4150), (2, 3, 5, 4, 1.6781, 2.1520)],
)
def test_proposition_2_against_the_exact_maximum(individuals, values, outputs, ratio, exact, bits):
    leakage = math.log(ratio)
    found = greatest_capacity(hamming(values, individuals), outputs, leakage) / LOG2
    assert found == pytest.approx(exact, abs=PRINTED_4)
    assert alvim.proposition_2(values, individuals, outputs, leakage) == pytest.approx(bits, abs=PRINTED_4)


def test_the_exact_maximum_by_another_enumeration():
    graph = hamming(2, 3)
    best = greatest_vulnerability(8, graph.edges.tolist(), 2, LOG2)
    assert math.log2(best) == pytest.approx(0.7370, abs=PRINTED_4)


def test_theorem_1_may_be_the_smaller_bound():
    assert alvim.theorem_1(2, 3, LOG2) == pytest.approx(1.2451, abs=PRINTED_4)
    assert alvim.theorem_1(2, 3, LOG2) < alvim.proposition_2(2, 3, 3, LOG2)


@pytest.mark.parametrize(("values", "individuals"), [(2, 3), (3, 2), (5, 3), (2, 10)])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 7.0])
def test_proposition_2_as_printed(values, individuals, ratio):
    for outputs in range(1, min(values**individuals, 40) + 1):
        found = alvim.proposition_2(values, individuals, outputs, math.log(ratio))
        assert found == pytest.approx(printed_bound(values, individuals, outputs, ratio), abs=ROUNDING)


@pytest.mark.parametrize(
    ("values", "individuals", "outputs", "ratio", "tight"),
    [
        (3, 2, 3, 2.0, True),  # t^(u-1) = v - 1
        (3, 2, 3, 1.5, True),
        (3, 2, 3, 2.2, False),
        (3, 2, 2, 1.5, False),
        (2, 2, 2, 1.1, False),
        (2, 3, 2, 1.1, False),
        (4, 2, 3, 2.5, False),
    ],
)
def test_where_proposition_2_is_tight(values, individuals, outputs, ratio, tight):
    exact = greatest_capacity(hamming(values, individuals), outputs, math.log(ratio)) / LOG2
    limit = alvim.proposition_2(values, individuals, outputs, math.log(ratio))
    assert exact <= limit + CERTIFIED * 10  # a sum of a few entries, in bits
    assert (limit - exact < 1e-7) is tight


@pytest.mark.parametrize("seed", range(12))
def test_proposition_2_holds_for_random_private_channels(seed):
    rng = np.random.default_rng([2, seed])
    values, individuals = [(2, 3), (3, 2), (2, 2)][seed % 3]
    graph, leakage = hamming(values, individuals), float(rng.uniform(0.1, 3))
    outputs = int(rng.integers(1, graph.size + 1))
    channel = random_private_channel(rng, graph.size, graph.edges.tolist(), outputs, leakage)
    limit = alvim.proposition_2(values, individuals, outputs, leakage)
    assert min_entropy_capacity(channel, bits=True) <= limit + ROUNDING


@pytest.mark.parametrize("outputs", [0, -3, 9, 100])
def test_proposition_2_is_for_1_to_all_outputs(outputs):
    with pytest.raises(ValueError, match=rf"between 1 and v\^u = 2\^3, got {outputs}; .*Theorem 1"):
        alvim.proposition_2(2, 3, outputs, 1.0)


def test_proposition_2_on_large_spaces():
    # v = 100, u = 100, r = v: log2( v t^u / (v - 1 + t^u) ), with a t^u of 1e43.
    assert alvim.proposition_2(100, 100, 100, 1.0) == pytest.approx(math.log2(100), abs=ROUNDING)
    assert alvim.proposition_2(100, 100, 100**100, 1.0) == pytest.approx(bound(100, 100, 1.0), abs=1e-10)  # u times
    assert alvim.proposition_2(2, 3, 8, math.inf) == 3.0


def test_proposition_2_on_larger_spaces():
    assert alvim.proposition_2(100, 200, 100**200, 1.0) == pytest.approx(bound(100, 200, 1.0), abs=1e-9)


# Theorem 2


@pytest.mark.parametrize("seed", range(12))
def test_theorem_2_bounds_what_is_told_of_one_individual(seed):
    rng = np.random.default_rng([4, seed])
    values, individuals = [(2, 3), (3, 2), (4, 2)][seed % 3]
    query = Query(lambda database: database, range(values), individuals)  # all of it: the channel sees the database
    graph, leakage = query.adjacency, float(rng.uniform(0.1, 3))
    channel = random_private_channel(rng, graph.size, graph.edges.tolist(), 6, leakage)
    for individual in range(individuals):
        for others in databases(range(values), individuals - 1):
            alone = query.of_individual(channel, individual, others)
            for prior in (uniform(values), rng.dirichlet(np.ones(values))):
                assert min_entropy_leakage(prior, alone, bits=True) <= alvim.theorem_2(leakage) + ROUNDING


@pytest.mark.parametrize("leakage", [0.0, 0.5, LOG2, math.inf])
def test_theorem_2_counts_bits(leakage):
    assert alvim.theorem_2(leakage) == pytest.approx(leakage / LOG2, rel=1e-15)


@pytest.mark.parametrize(("values", "individuals", "leakage"), [(2, 1, 0.5), (10, 1, 3.0), (2, 3, 3.0), (3, 2, 5.0)])
def test_theorem_2_is_not_always_stronger_than_theorem_1(values, individuals, leakage):
    """The text after it says so; for one individual, or much leakage, it is the other way round."""
    assert alvim.theorem_1(values, individuals, leakage) < alvim.theorem_2(leakage)


# Lemmas 1, 2 and 5


@pytest.mark.parametrize("seed", range(20))
def test_lemma_1(seed):
    rng = np.random.default_rng([6, seed])
    values, individuals = [(2, 2), (3, 1), (2, 3)][seed % 3]
    graph, leakage = hamming(values, individuals), float(rng.uniform(0.1, 3))
    pairs, outputs = graph.edges.tolist(), graph.size + int(rng.integers(0, 5))
    channel = random_private_channel(rng, graph.size, pairs, outputs, leakage)
    found = alvim.lemma_1(channel)
    assert found.shape == (graph.size, graph.size)
    assert found.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=ROUNDING)
    assert leakage_on(graph, found) <= math.log(largest_ratio(channel, pairs)) + ROUNDING
    assert (np.diagonal(found) == found.max(axis=0)).all()  # sums of largest entries, in the order of all others
    # Min-entropy under the uniform prior is kept.
    assert found.max(axis=0).sum() == pytest.approx(channel.max(axis=0).sum(), abs=ROUNDING)


def test_lemma_1_is_for_at_least_as_many_columns():
    with pytest.raises(ValueError, match=r"n <= m, got shape \(3, 2\); add 1 columns of zeros"):
        alvim.lemma_1(np.full((3, 2), 0.5))
    padded = alvim.lemma_1([[0.75, 0.25, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]])
    assert padded.tolist() == [[0.75, 0.25, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]]


@pytest.mark.parametrize("seed", range(20))
def test_lemma_2(seed):
    rng = np.random.default_rng([7, seed])
    values, individuals = [(2, 2), (3, 2), (2, 3), (4, 1)][seed % 4]
    graph, leakage = hamming(values, individuals), float(rng.uniform(0.1, 3))
    pairs = graph.edges.tolist()
    channel = alvim.lemma_1(random_private_channel(rng, graph.size, pairs, graph.size + 3, leakage))
    found = alvim.lemma_2(channel, values, individuals)
    assert found.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=ROUNDING)
    assert leakage_on(graph, found) <= leakage_on(graph, channel) + ROUNDING
    assert np.ptp(np.diagonal(found)) == 0
    assert (np.diagonal(found) >= found.max(axis=0) - ROUNDING).all()
    assert np.trace(found) == pytest.approx(np.trace(channel), abs=ROUNDING)
    # As printed: over all i, and all j as far from i as k is from h.
    far = graph.distances
    for d in range(individuals + 1):
        assert np.allclose(found[far == d], channel[far == d].mean(), rtol=0, atol=ROUNDING)


CIRCULANT = [
    (5, [1]), (6, [1]), (7, [1]), (8, [1]), (6, [1, 3]), (7, [1, 2]), (8, [1, 4]), (9, [1, 3]), (6, [1, 2]), (10, [2, 5])
]  # fmt: skip


@pytest.fixture(params=CIRCULANT, ids=str)
def circulant(request):
    graph = nx.circulant_graph(*request.param)
    return Adjacency.from_edges(len(graph), graph.edges)


@pytest.mark.parametrize("seed", range(2))
def test_lemma_5(circulant, seed):
    rng = np.random.default_rng([8, seed])
    leakage, size, pairs = float(rng.uniform(0.1, 3)), circulant.size, circulant.edges.tolist()
    channel = alvim.lemma_1(random_private_channel(rng, size, pairs, size + 3, leakage))
    image = circulant.single_orbit_automorphism
    found = alvim.lemma_5(channel, image)
    assert found.sum(axis=1) == pytest.approx(np.ones(size), abs=ROUNDING)
    assert leakage_on(circulant, found) <= leakage_on(circulant, channel) + ROUNDING
    assert np.ptp(np.diagonal(found)) < ROUNDING
    assert (np.diagonal(found) >= found.max(axis=0) - ROUNDING).all()
    assert np.trace(found) == pytest.approx(np.trace(channel), abs=ROUNDING)
    # As printed: the mean of M_{s^i(h), s^i(k)}.
    power, mean = list(range(size)), np.zeros((size, size))
    for _ in range(size):
        mean += [[channel[power[h], power[k]] for k in range(size)] for h in range(size)]
        power = [image[place] for place in power]
    assert found == pytest.approx(mean / size, abs=ROUNDING)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ((1, 0, 3, 2), "more than one orbit; it must run through all vertices"),
        ((0, 1, 2, 3), "more than one orbit"),
        ((1, 2, 3, 4), "must permute the 4 vertices"),
        ((1, 1, 2, 3), "must permute the 4 vertices"),
        ((1, 0), "must permute the 4 vertices"),
    ],
)
def test_lemma_5_needs_a_single_orbit(image, message):
    with pytest.raises(ValueError, match=message):
        alvim.lemma_5(np.eye(4), image)


def test_lemma_2_needs_all_databases():
    with pytest.raises(ValueError, match=r"shape \(4, 4\); Val\^u needs \(8, 8\)"):
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


@pytest.mark.parametrize(("border", "diameter"), [(0, 1), (-1, 2), (2, -1)])
def test_theorem_3_needs_a_border_and_a_diameter(border, diameter):
    with pytest.raises(ValueError, match=f"got {border} and {diameter}"):
        alvim.theorem_3(1.0, border, diameter)


@pytest.mark.parametrize("leakage", [0.2, LOG2, 2.0])
def test_theorem_3_bounds_and_theorem_4_attains(circulant, leakage):
    borders = circulant.border_sizes(0)[1:]
    best = 1 - least_distortion(uniform(circulant.size), circulant.edges.tolist(), leakage)
    for border in range(1, borders.min() + 1):
        assert best <= alvim.theorem_3(leakage, border, circulant.diameter) + SOLVER
    equal = len(set(borders.tolist())) == 1
    assert alvim.border_count(circulant) == (borders[0] if equal else None)
    if equal:
        matrix = alvim.equation_6(circulant, leakage, int(borders[0]))
        assert matrix.sum(axis=1) == pytest.approx(np.ones(circulant.size), abs=ROUNDING)
        assert leakage_on(circulant, matrix) == pytest.approx(leakage, abs=ROUNDING)
        assert bayes_vulnerability(uniform(circulant.size), matrix) == pytest.approx(best, abs=SOLVER)
        assert best == pytest.approx(alvim.theorem_3(leakage, int(borders[0]), circulant.diameter), abs=SOLVER)
    else:
        assert best < alvim.theorem_3(leakage, int(borders.min()), circulant.diameter) - 1e-4


def test_both_kinds_of_borders_occur_among_the_circulant_graphs():
    borders = [nx.circulant_graph(*of) for of in CIRCULANT]
    kinds = {alvim.border_count(Adjacency.from_edges(len(graph), graph.edges)) is None for graph in borders}
    assert kinds == {True, False}


def test_theorem_3_needs_a_uniform_prior_which_it_does_not_ask_for():
    peaked = [0.9, 0.025, 0.025, 0.025, 0.025]
    assert optimum(ring(5), LOG2, peaked) >= 0.9 > alvim.theorem_3(LOG2, 2, 2)


@pytest.mark.parametrize(("size", "cases", "printed"), [(5, 2, 1), (6, 1, 2), (8, 1, 3)])
def test_the_number_of_borders_that_theorem_4_allows_is_miscounted(size, cases, printed):
    """Section 5.2 says floor(n / 2) - 1; c times the diameter is n - 1, so that few are left."""
    found = set()
    for count in range(1, size // 2 + 1):
        for offsets in itertools.combinations(range(1, size // 2 + 1), count):
            graph = nx.circulant_graph(size, offsets)
            if nx.is_connected(graph):
                found.add(alvim.border_count(Adjacency.from_edges(size, graph.edges)))
    assert len(found - {None}) == cases != printed == size // 2 - 1


@pytest.mark.parametrize(
    ("size", "expected"), [(6, 8 / 21), (5, 0.4), (7, 0.363636), (8, 0.355556)], ids=["6", "5", "7", "8"]
)
def test_optimum_of_rings(size, expected):
    assert optimum(ring(size), LOG2) == pytest.approx(expected, abs=1e-6)  # as many digits are given


# Remarks 1 and 2


@pytest.mark.parametrize("size", [4, 6, 8, 12])
@pytest.mark.parametrize("leakage", [LOG2 / 2, 0.5, LOG2, 3.0])
def test_remark_1_is_a_private_channel(size, leakage):
    matrix = alvim.remark_1(size, leakage)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(size), abs=ROUNDING)
    assert leakage_on(ring(size), matrix) <= leakage + ROUNDING


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
        with pytest.raises(ValueError, match=r"\(e\^eps\)\^2 >= 2, that is at least 0\.346574 nats, got 0\.3465"):
            alvim.remark_1(6, leakage)


def test_remark_1_is_not_optimal_on_the_ring_of_6():
    utility = bayes_vulnerability(uniform(6), alvim.remark_1(6, LOG2))
    assert utility == pytest.approx(4 / 11, abs=ROUNDING)
    assert optimum(ring(6), LOG2) == pytest.approx(8 / 21, abs=CERTIFIED)
    assert utility < 8 / 21


@pytest.mark.parametrize("size", [5, 7, 2, 0])
def test_remark_1_is_for_even_rings(size):
    with pytest.raises(ValueError, match=f"even rings of at least 4 vertices, got {size}"):
        alvim.remark_1(size, 1.0)


@pytest.mark.parametrize(
    ("graph", "extended"),
    [(line(5), ring(5)), (line(5), clique(5)), (ring(5), clique(5)), (hamming(2, 2), clique(4)), (ring(5), ring(5))],
    ids=repr,
)
@pytest.mark.parametrize("leakage", [0.1, LOG2, 3.0])
def test_remark_2_is_private_but_in_general_not_optimal(graph, extended, leakage):
    matrix = alvim.remark_2(graph, extended, leakage)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=ROUNDING)
    assert leakage_on(graph, matrix) <= leakage + ROUNDING
    found = bayes_vulnerability(uniform(graph.size), matrix)
    assert found == pytest.approx(optimum(extended, leakage), abs=CERTIFIED)
    assert found <= optimum(graph, leakage) + CERTIFIED


@pytest.mark.parametrize(
    ("graph", "extended", "message"),
    [
        (line(3), clique(4), "has 4 vertices, it must have 3"),
        (ring(5), line(5), r"lacks the edge \(0, 4\)"),
        (line(6), ring(6), "same number of vertices at every distance; a clique always does"),
    ],
)
def test_what_remark_2_may_add(graph, extended, message):
    with pytest.raises(ValueError, match=message):
        alvim.remark_2(graph, extended, 1.0)


def test_fewer_artificial_adjacencies_are_not_always_better():
    """Remark 2 says the smaller the better; with Remark 1 on the ring that is so for a ratio of 2 or more only."""
    ring_of_4 = bayes_vulnerability(uniform(4), alvim.remark_1(4, math.log(1.5)))
    assert ring_of_4 == pytest.approx(9 / 29, abs=ROUNDING)
    assert bayes_vulnerability(uniform(4), alvim.remark_2(ring(4), clique(4), math.log(1.5))) > ring_of_4 + 0.02


# Examples 2 and 3, Tables 1 and 2


@pytest.fixture
def table_1a():
    return truncated_geometric(6, LOG2 / 5).matrix


def test_table_1(table_1a):
    first = [0.535, 0.465, 0.405, 0.353, 0.307, 0.267]
    assert table_1a[:, 0].round(3).tolist() == first
    assert table_1a[5].round(3).tolist() == [0.267, 0.040, 0.046, 0.052, 0.060, 0.535]
    assert alvim.proposed_mechanism(clique(6), LOG2) == pytest.approx((np.ones((6, 6)) + np.eye(6)) / 7, abs=ROUNDING)


def test_example_2(table_1a):
    ours = alvim.proposed_mechanism(clique(6), LOG2)
    assert leakage_on(clique(6), table_1a) == pytest.approx(LOG2, abs=ROUNDING)
    assert bayes_vulnerability(uniform(6), table_1a) == pytest.approx(0.2243, abs=PRINTED_4)
    assert bayes_vulnerability(uniform(6), ours) == pytest.approx(2 / 7, abs=ROUNDING)
    assert optimum(clique(6), LOG2) == pytest.approx(2 / 7, abs=CERTIFIED)


def test_example_2_with_ends_that_are_less_likely(table_1a):
    prior = ENDS_LESS_LIKELY
    assert bayes_vulnerability(prior, table_1a) == pytest.approx(0.2415, abs=PRINTED_4)
    assert bayes_vulnerability(prior, alvim.proposed_mechanism(clique(6), LOG2)) == pytest.approx(2 / 7, abs=ROUNDING)
    assert optimum(clique(6), LOG2, prior) == pytest.approx(0.32, abs=CERTIFIED)
    edges = list(itertools.combinations(range(6), 2))
    assert 1 - least_distortion(np.array(prior), edges, LOG2) == pytest.approx(0.32, abs=SOLVER)


def test_the_printed_0_2412_comes_from_rounded_entries(table_1a):
    joint = np.array(ENDS_LESS_LIKELY)[:, np.newaxis] * table_1a.round(3)
    assert joint.max(axis=0).sum() == pytest.approx(0.2412, abs=ROUNDING)
    assert abs(bayes_vulnerability(ENDS_LESS_LIKELY, table_1a) - 0.2412) > 3e-4


def test_their_mechanism_is_not_better_for_every_prior(table_1a):
    """Example 2 says that it still is for others than the uniform one; not where the ends alone occur."""
    prior = [0.5, 0, 0, 0, 0, 0.5]
    assert bayes_vulnerability(prior, alvim.proposed_mechanism(clique(6), LOG2)) == pytest.approx(4 / 7, abs=ROUNDING)
    assert bayes_vulnerability(prior, table_1a) > 0.64


def test_example_3_and_table_2():
    geometric, ours = truncated_geometric(6, LOG2).matrix, alvim.proposed_mechanism(line(6), LOG2)
    assert geometric[0] == pytest.approx([2 / 3, 1 / 6, 1 / 12, 1 / 24, 1 / 48, 1 / 48], abs=ROUNDING)
    assert geometric[3] == pytest.approx([1 / 12, 1 / 12, 1 / 6, 1 / 3, 1 / 6, 1 / 6], abs=ROUNDING)
    assert (geometric[::-1, ::-1] == geometric).all()
    assert ours[0] == pytest.approx(np.array([4, 2, 1, 1, 1, 2]) / 11, abs=ROUNDING)
    assert ours[5] == pytest.approx(np.array([2, 1, 1, 1, 2, 4]) / 11, abs=ROUNDING)
    assert bayes_vulnerability(uniform(6), geometric) == pytest.approx(4 / 9, abs=ROUNDING)
    assert bayes_vulnerability(uniform(6), ours) == pytest.approx(4 / 11, abs=ROUNDING)
    assert optimum(line(6), LOG2) == pytest.approx(4 / 9, abs=CERTIFIED)
    # If the last answer were next to the first, the geometric mechanism would not be private.
    assert leakage_on(ring(6), geometric) == pytest.approx(5 * LOG2, abs=ROUNDING)


# Their mechanism for any graph


@pytest.mark.parametrize(
    "graph",
    [line(1), line(2), line(3), line(5), line(6), ring(4), ring(5), ring(6), clique(4), hamming(2, 3), hamming(3, 2)],
    ids=repr,
)
@pytest.mark.parametrize("leakage", [0.4, LOG2, 3.0])
def test_their_mechanism_is_private_and_no_better_than_the_optimum(graph, leakage):
    matrix = alvim.proposed_mechanism(graph, leakage)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(graph.size), abs=ROUNDING)
    assert leakage_on(graph, matrix) <= leakage + ROUNDING
    assert bayes_vulnerability(uniform(graph.size), matrix) <= optimum(graph, leakage) + CERTIFIED


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


@pytest.mark.parametrize("graph", [line(4), line(6), ring(6)], ids=repr)
def test_their_mechanism_at_any_leakage(graph):
    matrix = alvim.proposed_mechanism(graph, 0.2)  # Remark 2 with the clique always applies
    assert leakage_on(graph, matrix) <= 0.2 + ROUNDING


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alvim.theorem_1(1, 3, 1.0), "at least 2 values and 1 individual, got 1 and 3"),
        (lambda: alvim.theorem_1(2, 0, 1.0), "got 2 and 0"),
        (lambda: alvim.theorem_1(2, 3, -1.0), "at least 0 nats"),
        (lambda: alvim.theorem_1(2, 3, math.nan), "at least 0 nats"),
        (lambda: alvim.theorem_2(-1.0), "at least 0 nats"),
        (lambda: alvim.theorem_3(-1.0, 2, 2), "at least 0 nats"),
        (lambda: alvim.proposition_2(1, 3, 1, 1.0), "got 1 and 3"),
        (lambda: alvim.proposition_1(10, 6, 1.0), r"10\^6 databases, too many to enumerate"),
        (lambda: alvim.proposition_1(10, 4, 1.0), "10000 vertices is too large"),
        (lambda: alvim.equation_6(ring(5), 1.0, 0), "border must be at least 1"),
        (lambda: alvim.capacity([[0.5, 0.6]]), r"sums to 1\.1"),
        (lambda: alvim.lemma_1([[0.5, 0.6]]), r"sums to 1\.1"),
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
    with pytest.raises(ValueError, match=r"Theorem 4 asks of .* single orbit"):
        alvim.theorem_4(graph, 1.0)
