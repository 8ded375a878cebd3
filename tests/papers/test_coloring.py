"""Critical pairs, colors and the claims of Lemma 8; optima with k suppressed letters against closed forms and full programs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, Mechanism, SourceSet, leakage_curve
from paper_repro.papers.coloring import (
    claim_1,
    claim_2,
    claim_3,
    claim_4,
    claim_5,
    coloring,
    critical_pairs,
    optimal_with_suppressed,
    pairs_of_ratio,
)
from paper_repro.papers.kalantari2016 import definition_9
from paper_repro.papers.kalantari2018 import equation_48
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import least_distortion

CLAIMS = (claim_1, claim_2, claim_3, claim_4, claim_5)
# Programs are solved to 1e-9; leakages are logarithms of their optima.
SOLVED = 1e-7


def claims(matrix):
    return [claim(matrix) for claim in CLAIMS]


def colors_by_definition(matrix):
    """Definition 7 and the three rules, in exact rationals."""
    entries = [[Fraction(entry).limit_denominator(10**6) for entry in row] for row in np.asarray(matrix).tolist()]
    columns = [column for column in zip(*entries, strict=True) if any(column)]
    ratio = max(max(column) / min(column) for column in columns)
    colors = [["zero" for _ in row] for row in entries]
    for j, column in enumerate(zip(*entries, strict=True)):
        for i, entry in enumerate(column):
            if any(column):
                larger = any(entry == ratio * other for other in column)
                smaller = any(other == ratio * entry for other in column)
                assert not (larger and smaller)
                colors[i][j] = "black" if larger else "red" if smaller else "white"
    return colors


@pytest.mark.parametrize("seed", range(20))
def test_colors_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    size = 2 + seed % 4
    matrix = rng.multinomial(6, np.full(size, 1 / size), size=size) + 1.0
    matrix[0, 0] += 7  # not constant
    if seed % 3 == 0 and size > 2:
        matrix[:, rng.integers(1, size)] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    assert coloring(matrix).tolist() == colors_by_definition(matrix)
    pairs = critical_pairs(Mechanism(matrix))
    colors = coloring(matrix)
    assert {(i, j) for j, i, _ in pairs} == set(map(tuple, np.argwhere(colors == "black").tolist()))
    assert {(i, j) for j, _, i in pairs} == set(map(tuple, np.argwhere(colors == "red").tolist()))


def test_figure_8():
    """Colors of an optimum: two letters tie for the smallest distortion, one is published less, one not at all."""
    assert coloring(Mechanism.from_distortions([0.25, 0.25, 0.5, 1.0])).tolist() == [
        ["black", "red", "red", "zero"],
        ["red", "black", "red", "zero"],
        ["white", "white", "black", "zero"],
        ["white", "white", "white", "zero"],
    ]
    assert coloring(Mechanism.from_distortions([0.2, 0.25, 0.5, 1.0])).tolist() == [
        ["white", "red", "red", "zero"],
        ["white", "black", "white", "zero"],
        ["white", "white", "black", "zero"],
        ["white", "white", "white", "zero"],
    ]


def test_the_definition_of_2016_has_no_critical_pairs():
    """It asks for a ratio equal to the leakage where its exponential is meant."""
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    assert critical_pairs(matrix) == tuple(definition_9(matrix, "corrected")) == ((0, 0, 1), (1, 1, 0))
    assert definition_9(matrix) == []


def test_a_pair_of_a_given_ratio_is_critical_in_its_own_column_alone():
    matrix = np.array([[0.6, 0.4], [0.3, 0.7]])
    assert critical_pairs(matrix) == pairs_of_ratio(matrix, 2.0) == ((0, 0, 1),)
    assert pairs_of_ratio(matrix, 7 / 4) == ((1, 1, 0),)
    assert pairs_of_ratio(matrix, 2.0 + 1e-6) == ()


def test_equation_48_as_printed_breaks_claim_2_and_is_as_private():
    """Rows of suppressed letters copy the last published one, and with it the black diagonal."""
    matrix = equation_48([0.25, 0.25], zero_columns=1)
    assert claims(matrix) == [True, False, True, True, True]
    assert coloring(matrix)[2].tolist() == ["red", "black", "zero"]
    better = Mechanism.from_distortions([0.25, 0.25, 1.0])
    assert claims(better) == [True] * 5
    assert DifferentialPrivacy().leakage(better) == pytest.approx(DifferentialPrivacy().leakage(matrix), abs=1e-15)


@pytest.mark.parametrize(
    ("matrix", "broken"),
    [
        ([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], []),
        # Every diagonal element is black, and beside it a red and a white one.
        ([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]], [2]),
        ([[0.7, 0.15, 0.15], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]], [2, 3, 4, 5]),
        ([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]], [2, 3, 4, 5]),
        ([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.125, 0.75]], []),
    ],
)
def test_claims_can_fail(matrix, broken):
    colors = np.array(colors_by_definition(matrix))
    diagonal = np.diagonal(colors)
    rest = [np.delete(row, i) for i, row in enumerate(colors)]
    expected = [
        not any(len(set(row)) == 1 and row[0] != "white" for row in colors),
        all(len(set(row)) == 1 for row in rest),
        all(own == "black" or (row == "red").all() for own, row in zip(diagonal, rest, strict=True)),
        (diagonal != "black").sum() <= 1,
        all(own == "black" or matrix[i][i] == max(np.diagonal(matrix)) for i, own in enumerate(diagonal)),
    ]
    assert claims(matrix) == [bool(holds) for holds in expected]
    assert [number for number, holds in enumerate(expected, 1) if not holds] == broken


def suppressed_of_prior(prior, distortion, count):
    """Theorem 13 of Zhong and Bu 2022 for at most M - k letters: randomized response on n of them, the best n."""
    falling = sorted(prior, reverse=True)
    tail = [sum(falling[n:]) for n in range(len(prior) + 1)]
    most = len(prior) - count
    if distortion < tail[most] - 1e-12:
        return math.inf, False
    if distortion > tail[1] + 1e-12 or (most == 1 and distortion > tail[1] - 1e-12):
        return 0.0, True
    ratios = {
        n: (n - 1) * (1 - distortion) / (distortion - tail[n])
        for n in range(2, most + 1)
        if distortion > tail[n] + 1e-12
    }
    if not ratios:
        return math.inf, True
    return math.log(min(ratios.values())), ratios.get(most, math.inf) <= min(ratios.values()) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_suppressed_optimum_of_one_prior(seed):
    rng = np.random.default_rng(seed)
    size = 2 + seed % 4
    prior = rng.dirichlet(np.full(size, 2.0)) if seed % 2 else (rng.multinomial(20 - size, [1 / size] * size) + 1) / 20
    distortion = float(rng.uniform(0.02, 0.9)) if seed % 3 else float(rng.integers(1, 16)) / 20
    source = SourceSet(prior)
    for count in range(size):
        leakage, attained = suppressed_of_prior(prior, distortion, count)
        found = optimal_with_suppressed(source, distortion, count)
        assert found.leakage == pytest.approx(leakage, abs=SOLVED)
        assert found.attained == attained
        if found.mechanism is None:
            assert leakage == math.inf and not attained
            continue
        zero = int((found.mechanism.matrix == 0).all(axis=0).sum())
        assert (zero == count) if attained else (zero > count)
        assert source.worst_case_distortion(found.mechanism) <= distortion + 1e-9
        assert DifferentialPrivacy().leakage(found.mechanism) == pytest.approx(leakage, abs=SOLVED)
        if attained and 0 < leakage < math.inf:
            assert claims(found.mechanism) == [True] * 5


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(4))
def test_suppressed_optimum_of_a_set_by_the_full_program(source_class, seed):
    """At the ratio found the distortion suffices with the letters chosen, and at a smaller one with no letters does it."""
    vertices = random_vertices(source_class, seed, most_letters=4, most_vertices=3)
    source, size = SourceSet(vertices), vertices.shape[1]
    distortion = 0.8 * (1 - 1 / size)
    for count in range(size - 1):
        found = optimal_with_suppressed(source, distortion, count)
        if found.leakage in (0.0, math.inf):
            continue
        ratio = math.exp(found.leakage)
        assert least_distortion(vertices, math.log(ratio * (1 + 1e-6)), found.suppressed) <= distortion + 1e-8
        smaller = 1 + (ratio - 1) * (1 - 1e-3)
        assert all(
            least_distortion(vertices, math.log(smaller), letters) > distortion
            for letters in itertools.combinations(range(size), count)
        )


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(5))
def test_infimum_without_suppressed_letters_is_the_optimum(source_class, seed):
    source = SourceSet(random_vertices(source_class, seed, most_letters=6))
    leakages = [optimal_with_suppressed(source, 0.3, count).leakage for count in range(source.alphabet_size)]
    assert leakages[0] == pytest.approx(float(leakage_curve(source, 0.3)), abs=SOLVED)
    assert all(earlier <= later + SOLVED for earlier, later in itertools.pairwise(leakages))


def test_lemma_8_claims_mechanisms_that_do_not_exist():
    """For every k up to M - 1, at every distortion; below D^(k) no mechanism with k zero columns is valid."""
    found = optimal_with_suppressed(SourceSet([0.5, 0.3, 0.2]), 0.15, 1)
    assert (found.leakage, found.attained, found.mechanism) == (math.inf, False, None)
    edge = optimal_with_suppressed(SourceSet([0.5, 0.3, 0.2]), 0.2, 1)
    assert (edge.leakage, edge.attained) == (math.inf, True)
    assert np.diagonal(edge.mechanism.matrix).tolist() == [1, 1, 0]


def test_at_the_jump():
    """Nothing leaks with the first letter alone; with all three, or two, the infimum is 5/3."""
    source = SourceSet([0.5, 0.3, 0.2])
    found = [optimal_with_suppressed(source, 0.5, count) for count in range(3)]
    assert [math.exp(best.leakage) for best in found] == pytest.approx([5 / 3, 5 / 3, 1], rel=SOLVED)
    assert [best.attained for best in found] == [False, True, True]
    assert optimal_with_suppressed(source, 0.51, 0).attained


def test_the_letters_to_suppress_need_not_be_the_least_likely_on_average():
    source = SourceSet([[0.1, 0.3, 0.6], [0.4, 0.3, 0.3]])
    assert np.argmin(source.vertices.mean(axis=0)) == 0
    found = optimal_with_suppressed(source, 0.4, 1)
    assert found.suppressed == (1,) and found.attained
    assert math.exp(found.leakage) == pytest.approx(6, rel=SOLVED)  # D_1 = D_3 = 1/7
    # Without the first letter nothing of the distortion is left for the others under the second prior.
    assert least_distortion(source.vertices, math.log(1e6), (0,)) == pytest.approx(0.4, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optimal_with_suppressed(SourceSet([0.5, 0.5]), 0.2, 2), r"between 0 and M - 1 = 1 all-zero columns; got 2"),
        (lambda: optimal_with_suppressed(SourceSet([0.5, 0.5]), 1.2, 0), r"between 0 and 1; got 1\.2"),
        (lambda: coloring([[0.5, 0.5], [0.5, 0.5]]), (
r"matrix must have a finite leakage above 0 for critical pairs; got 0\.0 nats\. Color a "
r"mechanism whose columns are all 0 or positive throughout, and not all constant\."
)),
        (lambda: coloring([[1.0, 0.0], [0.5, 0.5]]), (
r"matrix must have a finite leakage above 0 for critical pairs; got inf nats\. Color a mechanism "
r"whose columns are all 0 or positive throughout, and not all constant\."
)),
        (lambda: coloring([[0.6, 0.4]]), r"must be square; got shape \(1, 2\)"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_too_many_subsets_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(
        ValueError,
        match="count must leave at most 5000 choices of suppressed categories, where no ordering sorts the "
        r"source set; got 8 of 16, for which there are 12870\. Merge rare categories\.",
    ):
        optimal_with_suppressed(SourceSet(rng.dirichlet(np.ones(16), size=2)), 0.5, 8)
