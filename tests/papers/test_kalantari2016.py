"""Formulas of the ISIT paper as they are printed, their limits and their domains; whether they hold is for the ledger."""

import contextlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import SourceSet, load_source_set
from paper_repro.papers import kalantari2016 as isit
from paper_repro.papers.coloring import coloring
from paper_repro.papers.kalantari2018 import distortion_thresholds, equation_48
from paper_repro.papers.readings import in_order
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import (
    common_ordering,
    distance_to_hull,
    largest_ratio,
    least_distortion_without_leakage,
    least_ratio,
)

CONSTRAINTS = ("literal", "printed", "corrected")
TABLE_1 = load_source_set("P_II_6")
ROUNDING = 1e-12
# Linear programs are solved to 1e-9 in numbers of order 1; leakages are logarithms of their optima.
SOLVED = 1e-7


def ordered(seed):
    """A random ordered set with letters from most to least likely, and its last threshold."""
    vertices = -np.sort(-random_vertices("II", seed, most_letters=6, most_vertices=4), axis=1)
    return vertices, least_distortion_without_leakage(vertices)


def invariant(seed):
    """A random set of up to 4 letters with all arrangements of its vertices, by brute force."""
    rng = np.random.default_rng([16, seed])
    size, count = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    vertices = rng.multinomial(8, rng.dirichlet(np.ones(size)), size=count) / 8
    return vertices, np.array(sorted({order for prior in vertices for order in itertools.permutations(prior)}))


# Randomized response, permutation-invariant classes, Theorem 1 and Lemma 2


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("distortion", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_equation_5_by_its_entries(size, distortion):
    expected = [[1 - distortion if i == j else distortion / (size - 1) for j in range(size)] for i in range(size)]
    assert isit.equation_5(size, distortion).tolist() == expected


@pytest.mark.parametrize("seed", range(15))
def test_permutation_invariant_hull_has_all_arrangements_and_no_more(seed):
    vertices, arranged = invariant(seed)
    hull = isit.permutation_invariant_hull(SourceSet(vertices))
    assert sorted(map(tuple, hull.vertices)) == [tuple(row) for row in arranged]
    assert isit.is_permutation_invariant(hull)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_permutation_invariance_by_its_definition(source_class, seed):
    vertices = random_vertices(source_class, seed, most_letters=4, most_vertices=3)
    arrangements = [
        prior[list(order)] for prior in vertices for order in itertools.permutations(range(vertices.shape[1]))
    ]
    expected = all(distance_to_hull(prior, vertices) <= 1e-9 for prior in arrangements)
    assert isit.is_permutation_invariant(SourceSet(vertices)) == expected


def test_permutation_invariance_is_a_matter_of_the_hull():
    corners = np.eye(3)
    assert isit.is_permutation_invariant(SourceSet([*corners, [0.5, 0.3, 0.2]]))  # inside, and its arrangements too
    assert not isit.is_permutation_invariant(SourceSet(corners[:2]))
    # Equal extremes in every letter, and yet one arrangement of each vertex is missing.
    cycle = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]]
    assert not isit.is_permutation_invariant(SourceSet(cycle))
    assert isit.is_permutation_invariant(isit.permutation_invariant_hull(SourceSet(cycle)))
    assert isit.is_permutation_invariant(SourceSet(np.full(5, 0.2))) and isit.is_permutation_invariant(SourceSet([1.0]))


def test_labels_stay_and_large_hulls_are_refused():
    assert isit.permutation_invariant_hull(SourceSet([0.8, 0.2], labels=["yes", "no"])).labels == ("yes", "no")
    assert isit.permutation_invariant_hull(SourceSet(np.full(40, 1 / 40))).vertex_count == 1
    assert isit.permutation_invariant_hull(SourceSet([0.05] * 20)).vertex_count == 1
    with pytest.raises(
        ValueError,
        match=r"source must have at most 10000 arrangements of its vertices; got 3628800 for SourceSet\(V=1, "
        r"M=10, Class II\)\. For Theorem 1 the alphabet size is enough\.",
    ):
        isit.permutation_invariant_hull(SourceSet(np.arange(1, 11) / 55))


@pytest.mark.parametrize("seed", range(10))
def test_equation_14_averages_over_all_permutations(seed):
    rng = np.random.default_rng([14, seed])
    size = int(rng.integers(1, 6))
    matrix = rng.dirichlet(np.ones(size), size=size)
    orders = [list(order) for order in itertools.permutations(range(size))]
    average = np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)
    assert isit.equation_14(matrix) == pytest.approx(average, abs=ROUNDING)
    assert isit.equation_15(matrix, "corrected") == pytest.approx(average, abs=ROUNDING)
    assert largest_ratio(isit.equation_14(matrix)) <= largest_ratio(matrix) * (1 + Fraction(1, 10**9))


def test_equation_15_holds_the_wrong_entry():
    """With M = 3 and a = 1/5, ``(1 - 1/10) / 2 = 9/20`` is printed to be ``a / (M - 1) = 1/10``; rows sum to 17/10."""
    response = isit.equation_5(3, 0.2)
    printed = isit.equation_15(response)
    assert printed[0, 1] == pytest.approx(9 / 20, abs=ROUNDING)
    assert printed.sum(axis=1) == pytest.approx(np.full(3, 17 / 10), abs=ROUNDING)
    assert isit.equation_15(isit.equation_5(3, 2 / 3)) == pytest.approx(np.full((3, 3), 1 / 3), abs=ROUNDING)
    assert isit.equation_15([[1.0]]).tolist() == [[1.0]]


# Ordered statistics and their thresholds


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(20))
def test_ordered_statistics_by_their_definition(source_class, seed):
    vertices = random_vertices(source_class, seed)
    with (
        contextlib.nullcontext()
        if common_ordering(vertices)
        else pytest.raises(ValueError, match="source must have a common ordering of its categories, as Class II")
    ):
        in_order(SourceSet(vertices))


@pytest.mark.parametrize("seed", range(10))
def test_equation_7_by_its_definition(seed):
    vertices, end = ordered(seed)
    size = vertices.shape[1]
    expected = [max(sum(sorted(prior)[:k]) for prior in vertices) for k in range(size)]
    shuffled = SourceSet(vertices[:, np.random.default_rng(seed).permutation(size)])
    assert isit.equation_7(shuffled) == pytest.approx(expected, abs=1e-14)  # rounding of sums
    assert isit.equation_7(shuffled) == pytest.approx(distortion_thresholds(shuffled)[:-1], abs=0)
    assert isit.lemma_5(shuffled) == pytest.approx(end, abs=SOLVED)


def test_lemma_3_at_a_threshold_with_ties_and_zeros():
    known = SourceSet([0.5, 0.3, 0.2])
    assert [isit.lemma_3(known, distortion) for distortion in (0.0, 0.2, 0.5, 1.0)] == [0, 1, 2, 2]
    assert isit.lemma_3(SourceSet([0.7, 0.1 + 0.2]), 0.3) == 1  # 0.1 + 0.2 is a little more than 0.3
    assert isit.lemma_3(SourceSet([0.6, 0.4, 0.0]), 0.0) == 1 and isit.lemma_3(SourceSet([1.0, 0.0]), 0.0) == 1
    assert isit.lemma_3(SourceSet([1.0]), 0.0) == 0


# Theorem 2: equations (8) and (9), and the mechanisms of equations (25) and (26)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_equation_25_by_its_entries(size):
    for columns in range(size - 1):
        n, share = size - columns, Fraction(1, 4)
        expected = [[1 - share if i == j else share / (n - 1) for j in range(n)] + [0] * columns for i in range(n)]
        expected += [expected[n - 1]] * columns
        found = isit.equation_25(size, 0.25, columns)
        assert found == pytest.approx(np.array(expected, dtype=float), abs=1e-15)
        assert math.exp(isit.equation_26(size, 0.25, columns)) == pytest.approx(3 * (n - 1), rel=ROUNDING)
    constant = isit.equation_25(size, 0.25, size - 1)
    assert (constant[:, 0] == 1).all() and constant.sum() == size


def test_equation_26_is_negative_within_its_domain():
    """Known (2/5, 3/10, 3/10): ``D^(2) = 3/5``, so D = 11/20 and k = 1 are allowed; printed log 9/11, in truth log 11/9."""
    assert isit.lemma_5(SourceSet([0.4, 0.3, 0.3])) == pytest.approx(0.6, abs=ROUNDING)
    assert isit.equation_25(3, 0.55, 1) == pytest.approx(np.array([[9, 11, 0], [11, 9, 0], [11, 9, 0]]) / 20, abs=1e-15)
    assert isit.equation_26(3, 0.55, 1) == pytest.approx(math.log(9 / 11), abs=ROUNDING)
    assert isit.equation_26(3, 0.55, 1, "corrected") == pytest.approx(math.log(11 / 9), abs=ROUNDING)
    assert isit.equation_26(3, 0.55, 2) == -math.inf and isit.equation_26(3, 0.55, 2, "corrected") == 0
    assert isit.equation_26(3, 1.0, 0) == -math.inf and isit.equation_26(3, 1.0, 0, "corrected") == math.inf
    assert isit.equation_26(3, 0.0, 0) == math.inf


def test_equation_8_at_and_beyond_a_threshold():
    known = SourceSet([0.5, 0.3, 0.2])
    assert math.exp(isit.equation_8(known, 0.45, 0)) == pytest.approx(2 * 0.55 / 0.45, rel=ROUNDING)
    assert math.exp(isit.equation_8(known, 0.45, 1)) == pytest.approx(0.75 / 0.25, rel=ROUNDING)  # D - D^(1) = 1/4
    assert math.exp(isit.equation_8(known, 0.45, 1, "corrected")) == pytest.approx(11 / 5, rel=ROUNDING)
    assert (
        isit.equation_8(known, 0.2, 1) == isit.equation_8(known, 0.1, 1) == isit.equation_8(known, 0.0, 0) == math.inf
    )
    at = SourceSet([0.4, 0.3, 0.3]), 0.1 + 0.2, 1  # 0.1 + 0.2 is a little more than the threshold
    assert isit.equation_8(*at) == isit.equation_9(*at) == isit.equation_9(*at, "corrected") == math.inf
    assert isit.equation_8(known, 1.0, 0) == -math.inf and isit.equation_8(known, 1.0, 0, "corrected") == 0
    assert isit.equation_8(known, 0.9, 1) == pytest.approx(math.log(0.3 / 0.7), abs=ROUNDING)


def smallest_ratio(falling, distortion, count, reading):
    """Equation (9), as the program it is."""
    tails = falling[:, count:].sum(axis=1)
    rows, upper = (
        [*falling[:, :count]],
        [*(distortion - (tails if reading == "corrected" else tails.max() + 0 * tails))],
    )
    if reading == "corrected":
        rows.extend([*(np.eye(count)[:-1] - np.eye(count)[1:]), np.ones(count)])
        upper.extend([0.0] * (count - 1) + [count - 1.0])
    bounds = (0, None if reading == "literal" else 1)
    return math.log(least_ratio(count, 1e-6, A_ub=np.array(rows), b_ub=upper, bounds=bounds))


@pytest.mark.parametrize("reading", CONSTRAINTS)
@pytest.mark.parametrize("columns", [0, 1, 2])
@pytest.mark.parametrize("vertices", [[[0.5, 0.2, 0.2, 0.1]], [[0.4, 0.3, 0.2, 0.1], [0.6, 0.15, 0.15, 0.1]]])
def test_equation_9_is_the_program_it_prints(vertices, columns, reading):
    source = SourceSet(vertices)
    distortion = isit.equation_7(source)[columns] + 0.08
    expected = smallest_ratio(source.vertices, distortion, 4 - columns, reading)
    # The bisection stops at a violation of 1e-10, which weighs 1 / D_1, at most some 100 times, as much in the ratio.
    assert isit.equation_9(source, distortion, columns, reading) == pytest.approx(expected, abs=1e-6)


def test_equation_9_without_a_floor():
    """Literally as printed the logarithm's argument can be brought to 0 and below, for ``D >= 5 P_6 = 1/10`` in Table I."""
    assert Fraction("0.02") * 5 == Fraction(1, 10)  # D_6 = 5 alone, and 5 - sum_{i>=2} D_i is 0
    assert isit.equation_9(TABLE_1, 0.09, 0, "literal") > 0
    assert isit.equation_9(TABLE_1, 0.11, 0, "literal") == -math.inf < isit.equation_9(TABLE_1, 0.11, 0, "printed")
    # With D_i <= 1 that happens beyond D^(M-1) alone, where all but the first letter may be suppressed.
    assert isit.equation_9(SourceSet([0.6, 0.4]), 0.39, 0) > 0
    assert (
        isit.equation_9(SourceSet([0.6, 0.4]), 0.41, 0) == isit.equation_9(SourceSet([0.6, 0.4]), 1.0, 0) == -math.inf
    )
    assert isit.equation_9(SourceSet([0.6, 0.4]), 0.8, 0, "corrected") == 0
    assert isit.equation_9(SourceSet([0.5, 0.3, 0.2]), 0.1, 1) == math.inf  # below D^(1) = 1/5 no column can be zero


def test_theorem_2_at_its_limits():
    known = SourceSet([0.5, 0.3, 0.2])
    for reading in CONSTRAINTS:
        for source in (SourceSet([1.0]), SourceSet([1.0, 0.0])):  # nothing to hide
            assert isit.theorem_2(source, 0.0, reading) == isit.Bounds(0.0, 0.0)
        assert isit.theorem_2(known, 0.0, reading) == isit.Bounds(math.inf, math.inf)
        assert isit.theorem_2(known, 0.5, reading) == isit.theorem_2(known, 1.0, reading) == isit.Bounds(0.0, 0.0)
    # A letter that never occurs: D^(1) = 0, and the second bound is the one for two letters.
    assert isit.equation_11(SourceSet([0.6, 0.4, 0.0]), 0.1) == pytest.approx(math.log(9), abs=ROUNDING)
    # At a threshold k columns count already, though their own bound is still infinite.
    at = isit.theorem_2(known, 0.2)
    assert at.upper == pytest.approx(math.log(8), abs=ROUNDING) and at.lower < at.upper


# Theorems 3 and 4


def test_theorems_3_and_4_are_theorem_1_where_they_hold():
    """Theorem 3 below ``D^(1)`` as printed, and for longer than said when corrected; beyond ``D^(M-1)`` nothing leaks."""
    known = SourceSet([0.5, 0.3, 0.2])
    assert isit.theorem_3(known, 0.19) == isit.theorem_1(3, 0.19) == isit.theorem_4(3, 0.19)
    assert math.exp(isit.theorem_3(known, 0.3, "corrected")) == pytest.approx(14 / 3, rel=ROUNDING)
    for reading in ("printed", "corrected"):
        assert isit.theorem_3(known, 0.5, reading) == isit.theorem_3(known, 1.0, reading) == 0
    assert isit.theorem_4(3, 2 / 3) == isit.theorem_1(3, 2 / 3) == isit.theorem_1(3, 1.0) == 0
    with pytest.raises(
        ValueError,
        match=r"distortion must be below 0\.2 or at least 0\.5 for Theorem 3; got 0\.3\. Between them use "
        r"theorem_2\.",
    ):
        isit.theorem_3(known, 0.3)
    with pytest.raises(ValueError, match=r"below 0\.4 and from 0\.5 on; got 0\.4"):
        isit.theorem_3(known, 0.4, "corrected")


# Lemma 1, Lemma 6, critical pairs and the coloring


@pytest.mark.parametrize("seed", range(15))
def test_equation_16_is_the_leakage_of_ascending_distortions(seed):
    rng = np.random.default_rng([6, seed])
    size = int(rng.integers(2, 5))
    changed = rng.uniform(0.02, 0.98, size)
    changed *= min(1.0, (size - 1) * 0.95 / changed.sum())
    ratio = math.exp(isit.equation_16(changed, "corrected"))
    assert ratio == pytest.approx(float(largest_ratio(equation_48(changed))), rel=1e-9)
    assert isit.equation_16(np.sort(changed)) == pytest.approx(math.log(ratio), abs=ROUNDING)
    assert isit.equation_16(changed) <= math.log(ratio) + ROUNDING


def test_equation_16_at_its_limits():
    assert isit.equation_16([0.0, 0.5]) == math.inf and isit.equation_16([0.5, 1.0]) == -math.inf
    assert isit.equation_16([0.5, 0.5]) == isit.equation_16([0.5, 0.5], "corrected") == 0
    assert isit.equation_16([0.9, 0.5]) < 0
    with pytest.raises(ValueError, match=r"must sum to at most 1; got \[0\.9, 0\.5\] with the sum 1\.4"):
        isit.equation_16([0.9, 0.5], "corrected")
    with pytest.raises(ValueError, match=r"distortions must be those of two categories or more; got \[0\.5\]\."):
        isit.equation_16([0.5])
    with pytest.raises(ValueError, match=r"between 0 and 1; got 1\.5"):
        isit.equation_16([0.5, 1.5])


@pytest.mark.parametrize("seed", range(20))
def test_definition_9_needs_its_exponential(seed):
    rng = np.random.default_rng([9, seed])
    matrix = rng.dirichlet(np.ones(4), size=4)
    ratio = largest_ratio(matrix)
    pairs = isit.definition_9(matrix, "corrected")
    assert pairs and all(matrix[i, k] / matrix[j, k] == pytest.approx(float(ratio), rel=1e-9) for k, i, j in pairs)
    assert isit.definition_9(matrix) == []
    painted = coloring(matrix)
    assert {(painted == color).sum() for color in ("black", "red")} == {len(pairs)} == {1}


def test_definition_9_counts_all_pairs_and_no_zero_column():
    response = isit.equation_25(3, 0.25, 1)
    assert isit.definition_9(response, "corrected") == [(0, 0, 1), (0, 0, 2), (1, 1, 0), (1, 2, 0)]
    assert isit.definition_9(np.eye(2), "corrected") == []  # the leakage is infinite
    assert len(isit.definition_9(np.full((2, 2), 0.5), "corrected")) == 4  # the leakage is 0: every pair
    for matrix in (np.eye(2), np.full((2, 2), 0.5)):
        with pytest.raises(ValueError, match=r"a finite leakage above 0 for critical pairs; got (inf|0\.0) nats\."):
            coloring(matrix)


def test_the_optimal_mechanism_of_equation_25_is_not_colored_as_figure_2_says():
    """Remark 7: off-diagonal entries in rows of suppressed letters "are white". Here, at an optimum, they are black and red."""
    painted = coloring(isit.equation_25(3, 5 / 16, 1))  # the optimum of (1/2, 3/10, 1/5) at D = 9/20, see above
    assert painted[2].tolist() == ["red", "black", "zero"]
    # A row between the others does as well, and is as Remark 7 says.
    between = [[11 / 16, 5 / 16, 0], [5 / 16, 11 / 16, 0], [1 / 2, 1 / 2, 0]]
    assert coloring(between)[2].tolist() == ["white", "white", "zero"]
    assert largest_ratio(between) == Fraction(11, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isit.equation_5(3, 1.5), r"between 0 and 1; got 1\.5"),
        (lambda: isit.equation_8(TABLE_1, -0.1, 0), r"between 0 and 1; got -0\.1"),
        (lambda: isit.equation_8(TABLE_1, 0.1, 5), "zero_columns must be between 0 and M - 2 = 4; got 5"),
        (lambda: isit.equation_9(TABLE_1, 0.1, -1), "zero_columns must be between 0 and M - 2 = 4; got -1"),
        (lambda: isit.equation_25(3, 0.1, 3), "zero_columns must be between 0 and M - 1 = 2; got 3"),
        (lambda: isit.equation_8(TABLE_1, 0.1, 0, "literal"), "one of 'printed', 'corrected'; got 'literal'"),
        (lambda: isit.theorem_2(TABLE_1, 0.1, "lenient"), "one of 'literal', 'printed', 'corrected'; got 'lenient'"),
        (lambda: isit.theorem_3(TABLE_1, math.nan), "between 0 and 1; got nan"),
        (lambda: coloring([[0.5, 0.5]]), r"must be square; got shape \(1, 2\)"),
        (
            lambda: isit.equation_14([[0.5, 0.6], [0.5, 0.5]]),
            r"mechanism: row 0 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it by its " r"sum\.",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "formula",
    [
        isit.equation_7,
        isit.lemma_5,
        lambda source: isit.equation_9(source, 0.2, 0),
        lambda source: isit.theorem_2(source, 0.2),
        lambda source: isit.theorem_3(source, 0.2),
    ],
)
def test_formulas_of_ordered_classes_refuse_other_sets(formula):
    with pytest.raises(ValueError, match="source must have a common ordering of its categories, as Class II"):
        formula(SourceSet([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]))
