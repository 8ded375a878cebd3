"""Every numbered statement of the ISIT paper: what holds, what is printed, and where the print is wrong."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import Mechanism, SourceSet, load_source_set
from paper_repro.papers import kalantari2016 as isit
from paper_repro.papers.coloring import coloring
from paper_repro.papers.kalantari2018 import distortion_thresholds, equation_10, equation_48
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import (
    common_ordering,
    distance_to_hull,
    largest_ratio,
    leakage_error,
    leakage_of_prior,
    least_distortion,
    least_distortion_without_leakage,
    solve,
)

CONSTRAINTS = ("literal", "printed", "corrected")
TABLE_1 = load_source_set("P_II_6")
ROUNDING = 1e-12
# Linear programs are solved to 1e-9 in numbers of order 1; leakages are logarithms of their optima.
SOLVED = 1e-7
# Half a unit of the fourth decimal.
PRINTED = 5e-5
# More than all tolerances together: two numbers this far apart are different.
APART = 1e-4


def fractions(rows):
    return [[Fraction(entry) for entry in row] for row in rows]


def ratio_of(matrix):
    """Largest ratio in a column of a matrix of Fractions without zeros, all-zero columns apart."""
    columns = [column for column in zip(*matrix, strict=True) if any(column)]
    assert all(sum(row) == 1 and min(row) >= 0 for row in matrix)
    return max(max(column) / min(column) for column in columns)


def distortion_of(prior, matrix):
    return sum(p * (1 - row[i]) for i, (p, row) in enumerate(zip(prior, matrix, strict=True)))


def least_of_prior(prior, ratio):
    """No mechanism of this ratio has less distortion: the closed form for a known prior, in Fractions."""
    falling = sorted(prior, reverse=True)
    return 1 - max(ratio / (ratio + n - 1) * sum(falling[:n]) for n in range(1, len(falling) + 1))


def exact_ratio_is(prior, distortion, ratio, matrix):
    """A mechanism attains the ratio at this distortion, and no mechanism of a lower ratio has so little distortion."""
    attained = ratio_of(matrix) == ratio and distortion_of(prior, matrix) <= distortion
    return attained and least_of_prior(prior, ratio) == distortion


def ordered(seed, most_letters=6):
    """A random ordered set with letters from most to least likely, and a share of the way to its last threshold."""
    vertices = -np.sort(-random_vertices("II", seed, most_letters=most_letters, most_vertices=4), axis=1)
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
def test_theorem_1_is_the_truth_for_permutation_invariant_classes(seed):
    _, arranged = invariant(seed)
    size = arranged.shape[1]
    for share in (0.05, 0.5, 0.95):
        distortion = share * (size - 1) / size
        leakage = isit.theorem_1(size, distortion)
        assert least_distortion(arranged, leakage) == pytest.approx(distortion, abs=SOLVED)
        assert largest_ratio(isit.equation_5(size, distortion)) == pytest.approx(math.exp(leakage), rel=ROUNDING)
    assert isit.theorem_1(size, (size - 1) / size) == isit.theorem_1(size, 1.0) == 0
    assert least_distortion_without_leakage(arranged) == pytest.approx((size - 1) / size, abs=SOLVED)


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


def test_symmetric_around_the_uniform_point_is_another_matter():
    """Definition 6 says "in other words": mirror images ``2/M - P`` instead of permutations."""
    third = Fraction(1, 3)
    mirrored = [[2 * third - p for p in prior] for prior in fractions([["1/2", "1/4", "1/4"]])]
    assert mirrored == fractions([["1/6", "5/12", "5/12"]])
    assert not isit.is_permutation_invariant(SourceSet([[0.5, 0.25, 0.25], np.array(mirrored[0], dtype=float)]))
    mirror_of_a_corner = 2 / 3 - np.array([1.0, 0.0, 0.0])
    assert isit.is_permutation_invariant(SourceSet(np.eye(3))) and mirror_of_a_corner.min() < 0


def test_labels_stay_and_large_hulls_are_refused():
    assert isit.permutation_invariant_hull(SourceSet([0.8, 0.2], labels=["yes", "no"])).labels == ("yes", "no")
    assert isit.permutation_invariant_hull(SourceSet(np.full(40, 1 / 40))).vertex_count == 1
    assert isit.permutation_invariant_hull(SourceSet([0.05] * 20)).vertex_count == 1
    with pytest.raises(ValueError, match=r"have 3628800 arrangements, and at most 10000 are made"):
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
    assert isit.has_ordered_statistics(SourceSet(vertices)) == common_ordering(vertices)


@pytest.mark.parametrize("seed", range(10))
def test_equation_7_by_its_definition(seed):
    vertices, end = ordered(seed)
    size = vertices.shape[1]
    expected = [max(sum(sorted(prior)[:k]) for prior in vertices) for k in range(size)]
    shuffled = SourceSet(vertices[:, np.random.default_rng(seed).permutation(size)])
    assert isit.equation_7(shuffled) == pytest.approx(expected, abs=1e-14)  # rounding of sums
    assert isit.equation_7(shuffled) == pytest.approx(distortion_thresholds(shuffled)[:-1], abs=0)
    assert isit.lemma_5(shuffled) == pytest.approx(end, abs=SOLVED)


@pytest.mark.parametrize("seed", range(20))
def test_lemma_3_counts_the_columns_that_can_be_zero(seed):
    """The least distortion with only n columns to publish in, whatever the leakage: each of the others counts in full."""
    vertices, _ = ordered(seed)
    size = vertices.shape[1]
    subsets = [list(kept) for count in range(1, size + 1) for kept in itertools.combinations(range(size), count)]
    needed = {count: math.inf for count in range(size)}
    for kept in subsets:
        lost = np.delete(vertices, kept, axis=1).sum(axis=1).max()
        needed[size - len(kept)] = min(needed[size - len(kept)], lost)
    for distortion in np.random.default_rng(seed).random(5):
        most = max(columns for columns, least in needed.items() if least <= distortion)
        assert isit.lemma_3(SourceSet(vertices), distortion) == most


def test_lemma_3_at_a_threshold_with_ties_and_zeros():
    known = SourceSet([0.5, 0.3, 0.2])
    assert [isit.lemma_3(known, distortion) for distortion in (0.0, 0.2, 0.5, 1.0)] == [0, 1, 2, 2]
    assert isit.lemma_3(SourceSet([0.7, 0.1 + 0.2]), 0.3) == 1  # 0.1 + 0.2 is a little more than 0.3
    assert isit.lemma_3(SourceSet([0.6, 0.4, 0.0]), 0.0) == 1 and isit.lemma_3(SourceSet([1.0, 0.0]), 0.0) == 1
    assert isit.lemma_3(SourceSet([1.0]), 0.0) == 0


def test_lemma_3_s_proof_is_too_strict():
    """ "Strictly greater than the tail" it says; the identity on the others has exactly the tail."""
    prior, matrix = fractions([["1/2", "3/10", "1/5"]])[0], fractions([[1, 0, 0], [0, 1, 0], [0, 1, 0]])
    assert distortion_of(prior, matrix) == Fraction(1, 5)


# Theorem 2: equations (8) and (9), and the mechanisms of equations (25) and (26)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_equation_25_by_its_entries(size):
    for columns in range(size - 1):
        n, share = size - columns, Fraction(1, 4)
        expected = [[1 - share if i == j else share / (n - 1) for j in range(n)] + [0] * columns for i in range(n)]
        expected += [expected[n - 1]] * columns
        found = isit.equation_25(size, 0.25, columns)
        assert found == pytest.approx(np.array(expected, dtype=float), abs=1e-15)
        assert math.exp(isit.equation_26(size, 0.25, columns)) == pytest.approx(float(ratio_of(expected)), rel=ROUNDING)
    constant = isit.equation_25(size, 0.25, size - 1)
    assert (constant[:, 0] == 1).all() and constant.sum() == size


def test_equation_26_is_negative_within_its_domain():
    """Known (2/5, 3/10, 3/10): ``D^(2) = 3/5``, so D = 11/20 and k = 1 are allowed; printed log 9/11, in truth log 11/9."""
    assert isit.lemma_5(SourceSet([0.4, 0.3, 0.3])) == pytest.approx(0.6, abs=ROUNDING)
    matrix = fractions([["9/20", "11/20", 0], ["11/20", "9/20", 0], ["11/20", "9/20", 0]])
    assert isit.equation_25(3, 0.55, 1) == pytest.approx(np.array(matrix, dtype=float), abs=1e-15)
    assert ratio_of(matrix) == Fraction(11, 9)
    assert isit.equation_26(3, 0.55, 1) == pytest.approx(math.log(9 / 11), abs=ROUNDING)
    assert isit.equation_26(3, 0.55, 1, "corrected") == pytest.approx(math.log(11 / 9), abs=ROUNDING)
    assert isit.equation_26(3, 0.55, 2) == -math.inf and isit.equation_26(3, 0.55, 2, "corrected") == 0
    assert isit.equation_26(3, 1.0, 0) == -math.inf and isit.equation_26(3, 1.0, 0, "corrected") == math.inf
    assert isit.equation_26(3, 0.0, 0) == math.inf


@pytest.mark.parametrize("seed", range(20))
def test_equation_8_is_what_its_mechanism_leaks(seed):
    vertices, end = ordered(seed)
    source, size = SourceSet(vertices), vertices.shape[1]
    distortion = 0.9 * end
    for columns in range(isit.lemma_3(source, distortion) + 1):
        threshold = isit.equation_7(source)[columns]
        if distortion - threshold < 1e-3:
            continue
        printed = isit.equation_25(size, distortion - threshold, columns)
        whole = isit.equation_25(size, (distortion - threshold) / (1 - threshold), columns)
        assert source.worst_case_distortion(printed) <= distortion + ROUNDING
        assert source.worst_case_distortion(whole) == pytest.approx(distortion, abs=ROUNDING)
        for matrix, reading in ((printed, "printed"), (whole, "corrected")):
            claimed = isit.equation_8(source, distortion, columns, reading)
            # Beyond D = (n - 1) / n the mechanism would leak again, and the corrected bound stays at 0.
            if matrix[0, 0] >= matrix[0, 1]:
                assert claimed == pytest.approx(math.log(largest_ratio(matrix)), abs=1e-9)


def test_the_upper_bound_leaves_a_part_of_the_budget():
    """Known (1/2, 3/10, 1/5), D = 9/20: least of 22/9 and 3 as printed, 11/5 in truth."""
    prior = fractions([["1/2", "3/10", "1/5"]])[0]
    matrix = fractions([["11/16", "5/16", 0], ["5/16", "11/16", 0], ["5/16", "11/16", 0]])
    assert exact_ratio_is(prior, Fraction(9, 20), Fraction(11, 5), matrix)
    known = SourceSet([0.5, 0.3, 0.2])
    assert math.exp(isit.equation_8(known, 0.45, 0)) == pytest.approx(22 / 9, rel=ROUNDING)
    assert math.exp(isit.equation_8(known, 0.45, 1)) == pytest.approx(3, rel=ROUNDING)
    assert math.exp(isit.equation_11(known, 0.45)) == pytest.approx(22 / 9, rel=ROUNDING)
    assert math.exp(isit.equation_11(known, 0.45, "corrected")) == pytest.approx(11 / 5, rel=ROUNDING)


def test_equation_8_at_and_beyond_a_threshold():
    known = SourceSet([0.5, 0.3, 0.2])
    assert (
        isit.equation_8(known, 0.2, 1) == isit.equation_8(known, 0.1, 1) == isit.equation_8(known, 0.0, 0) == math.inf
    )
    at = SourceSet([0.4, 0.3, 0.3]), 0.1 + 0.2, 1  # 0.1 + 0.2 is a little more than the threshold
    assert isit.equation_8(*at) == isit.equation_9(*at) == isit.equation_9(*at, "corrected") == math.inf
    assert isit.equation_8(known, 1.0, 0) == -math.inf and isit.equation_8(known, 1.0, 0, "corrected") == 0
    assert isit.equation_8(known, 0.9, 1) == pytest.approx(math.log(0.3 / 0.7), abs=ROUNDING)


def smallest_ratio(falling, distortion, count, reading):
    """Equation (9) by bisection over t: is ``(n - 1) - sum_{i>=2} D_i <= t D_1`` possible?"""
    tails = falling[:, count:].sum(axis=1)
    budgets = distortion - (tails if reading == "corrected" else np.full(len(tails), tails.max()))
    rows, upper = [*falling[:, :count]], [*budgets]
    if reading == "corrected":
        rows.extend([*(np.eye(count)[:-1] - np.eye(count)[1:]), np.ones(count)])
        upper.extend([0.0] * (count - 1) + [count - 1.0])
    bounds = (0, None if reading == "literal" else 1)
    low, high = 1e-6, 1e4
    while high - low > 1e-9 * high:
        ratio = math.sqrt(low * high)
        found = solve(np.append(-ratio, -np.ones(count - 1)), A_ub=np.array(rows), b_ub=upper, bounds=bounds)
        low, high = (low, ratio) if count - 1 + found.fun <= 0 else (ratio, high)
    return math.log(high)


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


@pytest.mark.parametrize("seed", range(10))
def test_equation_9_is_equation_10_of_2017_without_its_last_constraint(seed):
    vertices, end = ordered(seed)
    source = SourceSet(vertices)
    if source.alphabet_size > 1 and end > 0:
        for share in (0.2, 0.9):
            found = max(0.0, isit.equation_9(source, share * end, 0))
            assert found == pytest.approx(equation_10(source, share * end, 0), abs=SOLVED)


def test_the_printed_lower_bound_is_loose_on_table_1():
    """D = 1/100: lower bound log 350, upper bound and truth log 495."""
    prior = [Fraction(p) for p in ("0.7", "0.15", "0.06", "0.04", "0.03", "0.02")]
    # D_1 = 1/70 gives 350, and 500 times the distortion constraint shows that nothing gives less.
    assert 5 / Fraction(1, 70) == 350 and all(500 * p >= 1 for p in prior[1:]) and 500 * prior[0] == 350
    response = [[Fraction(99, 100) if i == j else Fraction(1, 500) for j in range(6)] for i in range(6)]
    assert exact_ratio_is(prior, Fraction(1, 100), Fraction(495), response)
    found = isit.theorem_2(TABLE_1, 0.01)
    assert found.lower == pytest.approx(math.log(350), abs=SOLVED) and found.lower == pytest.approx(5.8579, abs=PRINTED)
    assert found.upper == pytest.approx(math.log(495), abs=ROUNDING) and found.upper == pytest.approx(
        6.2046, abs=PRINTED
    )
    assert isit.theorem_2(TABLE_1, 0.01, "corrected").lower == pytest.approx(found.upper, abs=SOLVED)


def test_the_printed_lower_bound_is_loose_for_two_letters():
    """The smallest case against Theorem 3: (7/10, 3/10), D = 1/5 < D^(1): 7/2 at ``D_1 = 2/7``, ``D_2 = 0``, and 4 in truth."""
    prior = fractions([["7/10", "3/10"]])[0]
    assert prior[0] * Fraction(2, 7) == Fraction(1, 5) and 1 / Fraction(2, 7) == Fraction(7, 2)
    assert exact_ratio_is(prior, Fraction(1, 5), Fraction(4), fractions([["4/5", "1/5"], ["1/5", "4/5"]]))
    found = isit.theorem_2(SourceSet([0.7, 0.3]), 0.2)
    assert [math.exp(found.lower), math.exp(found.upper)] == pytest.approx([3.5, 4.0], rel=SOLVED)
    assert isit.theorem_3(SourceSet([0.7, 0.3]), 0.2) == found.upper


def test_equation_9_takes_the_largest_tail_for_every_distribution():
    """Two distributions, one zero column, D = 9/20: 74/25 as printed; the mechanism for the known first one has 11/5."""
    rows = [["1/2", "3/10", "1/5"], ["7/10", "29/100", "1/100"]]
    matrix = fractions([["11/16", "5/16", 0], ["5/16", "11/16", 0], ["5/16", "11/16", 0]])
    assert all(distortion_of(prior, matrix) <= Fraction(9, 20) for prior in fractions(rows))
    assert exact_ratio_is(fractions(rows)[0], Fraction(9, 20), Fraction(11, 5), matrix)
    source = SourceSet(np.array(fractions(rows), dtype=float))
    # With the order and the largest tail: D_1 = D_2 = (9/20 - 1/5) / (99/100) = 25/99, (1 - D_2) / D_1 = 74/25.
    assert math.exp(equation_10(source, 0.45, 1, "corrected")) == pytest.approx(74 / 25, rel=SOLVED)
    assert math.exp(isit.equation_9(source, 0.45, 1, "corrected")) == pytest.approx(11 / 5, rel=SOLVED)
    assert isit.equation_9(source, 0.45, 1) > math.log(11 / 5) + APART


def least_distortion_on(vertices, leakage, count):
    """Least worst-case distortion of the mechanisms that publish the first ``count`` letters alone, over all their entries."""
    size, ratio = vertices.shape[1], math.exp(leakage)
    entry, low, worst = (
        np.arange(size * count).reshape(size, count),
        size * count + np.arange(count),
        (size + 1) * count,
    )
    rows, upper = [], []
    for i, j in itertools.product(range(size), range(count)):
        for signs in ((1.0, -1.0), (-ratio, 1.0)):  # low <= entry <= ratio low
            row = np.zeros(worst + 1)
            row[[low[j], entry[i, j]]] = signs
            rows.append(row)
            upper.append(0.0)
    for prior in vertices:
        row = np.zeros(worst + 1)
        row[entry[np.arange(count), np.arange(count)]], row[worst] = -prior[:count], -1.0
        rows.append(row)
        upper.append(-1.0)
    sums = np.zeros((size, worst + 1))
    for i in range(size):
        sums[i, entry[i]] = 1.0
    return solve(np.append(np.zeros(worst), 1.0), A_ub=np.array(rows), b_ub=upper, A_eq=sums, b_eq=np.ones(size)).fun


@pytest.mark.parametrize("seed", range(15))
def test_equation_9_corrected_is_the_least_leakage_on_so_many_letters(seed):
    vertices, end = ordered(seed, most_letters=5)
    source, size = SourceSet(vertices), vertices.shape[1]
    for share, columns in itertools.product((0.3, 0.8), range(size - 1)):
        distortion = share * end
        leakage = isit.equation_9(source, distortion, columns, "corrected")
        if distortion - isit.equation_7(source)[columns] > 1e-3:
            assert least_distortion_on(vertices, leakage, size - columns) == pytest.approx(distortion, abs=SOLVED)
        elif distortion < isit.equation_7(source)[columns]:
            assert leakage == math.inf


@pytest.mark.parametrize("seed", range(20))
def test_theorem_2_bounds_the_truth_and_is_it_when_corrected(seed):
    vertices, end = ordered(seed)
    source = SourceSet(vertices)
    for share in (0.1, 0.5, 0.9):
        distortion = share * end
        if distortion == 0:
            continue
        found = {reading: isit.theorem_2(source, distortion, reading) for reading in CONSTRAINTS}
        truth = found["corrected"].lower
        assert leakage_error(vertices, distortion, truth) <= 1e-6
        assert found["literal"].lower <= found["printed"].lower + SOLVED <= truth + 2 * SOLVED
        assert truth <= found["corrected"].upper + SOLVED <= found["printed"].upper + 2 * SOLVED
        assert found["literal"].upper == found["printed"].upper
        if len(vertices) == 1:
            assert found["corrected"].upper == pytest.approx(leakage_of_prior(vertices[0], distortion), abs=1e-9)
    beyond = isit.theorem_2(source, min(1.0, end + 1e-9))
    assert beyond.lower == beyond.upper == 0


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


def test_with_no_zero_column_the_optimum_need_not_be_attained():
    """Lemma 6 for k = 0, (1/2, 3/10, 1/5), D = 9/20: 11/5 is approached, and attained with a zero column only.

    The numerator less 11/5 of the denominator is a sum of what the constraints leave, each times something positive: the ratio is
    11/5 only if they leave nothing, and ``D_3 = 1``.
    """
    known = SourceSet([0.5, 0.3, 0.2])
    assert math.exp(isit.equation_9(known, 0.45, 0, "corrected")) == pytest.approx(2.2, rel=SOLVED)
    # 2 - D_2 - D_3 - 11/5 D_1 = 4 (9/20 - P.D) + (D_2 - D_1) / 5 + (1 - D_3) / 5, coefficient by coefficient.
    multiplier, p = 4, [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    fifth = Fraction(1, 5)
    assert multiplier * Fraction(9, 20) + fifth == 2
    assert [-multiplier * p[0] - fifth, -multiplier * p[1] + fifth, -multiplier * p[2] - fifth] == [
        Fraction(-11, 5),
        -1,
        -1,
    ]
    for missing in (1e-2, 1e-4, 1e-6):
        rest = 0.45 - 0.2 * (1 - missing)
        approached = equation_48([rest / 0.8, rest / 0.8, 1 - missing])
        assert known.worst_case_distortion(approached) == pytest.approx(0.45, abs=ROUNDING)
        assert 2.2 < largest_ratio(approached) < 2.2 * (1 + missing)


# Theorems 3 and 4


@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("seed", range(20))
def test_theorem_3_is_the_truth_in_both_ranges(seed, reading):
    vertices, end = ordered(seed)
    source, size = SourceSet(vertices), vertices.shape[1]
    assert isit.theorem_3(source, min(1.0, end + 1e-9), reading) == isit.theorem_3(source, 1.0, reading) == 0
    last = vertices[:, -1].max() * (size - 1 if reading == "corrected" else 1)
    if last > 0 and size > 1:
        leakage = isit.theorem_3(source, 0.999 * last, reading)
        assert leakage == pytest.approx(isit.theorem_1(size, 0.999 * last), abs=0)
        assert leakage_error(vertices, 0.999 * last, leakage) <= 1e-6
        assert isit.theorem_2(source, 0.999 * last, "corrected").lower == pytest.approx(leakage, abs=SOLVED)
        between = 0.9 * last + 0.1 * end
        if reading == "corrected" and between > last + 1e-3:
            assert leakage_error(vertices, between, isit.theorem_1(size, between)) > APART


def test_symmetric_response_is_best_for_longer_than_said():
    """Known (1/2, 3/10, 1/5): to D = 2/5, not 1/5. At 3/10 the optimum is 14/3 still."""
    prior = fractions([["1/2", "3/10", "1/5"]])[0]
    response = [[Fraction(7, 10) if i == j else Fraction(3, 20) for j in range(3)] for i in range(3)]
    assert exact_ratio_is(prior, Fraction(3, 10), Fraction(14, 3), response)
    known = SourceSet([0.5, 0.3, 0.2])
    assert math.exp(isit.theorem_3(known, 0.3, "corrected")) == pytest.approx(14 / 3, rel=ROUNDING)
    with pytest.raises(ValueError, match=r"below 0\.2 and from 0\.5 on, got 0\.3; between them there is theorem_2"):
        isit.theorem_3(known, 0.3)
    with pytest.raises(ValueError, match=r"below 0\.4 and from 0\.5 on, got 0\.4"):
        isit.theorem_3(known, 0.4, "corrected")


def test_suppression_becomes_possible_before_it_becomes_best():
    """From ``D^(1) = 1/10`` on a letter of (7/10, 1/5, 1/10) can go; at D = 3/20 it does not pay: 17 against 34/3."""
    prior = fractions([["7/10", "1/5", "1/10"]])[0]
    response = [[Fraction(17, 20) if i == j else Fraction(3, 40) for j in range(3)] for i in range(3)]
    assert exact_ratio_is(prior, Fraction(3, 20), Fraction(34, 3), response)
    known = SourceSet([0.7, 0.2, 0.1])
    assert isit.lemma_3(known, 0.15) == 1
    ratios = [math.exp(isit.equation_8(known, 0.15, columns, "corrected")) for columns in (0, 1)]
    assert ratios == pytest.approx([34 / 3, 17], rel=ROUNDING)


@pytest.mark.parametrize("seed", range(10))
def test_theorem_4_is_the_truth_with_the_uniform_distribution(seed):
    vertices, _ = ordered(seed)
    size = vertices.shape[1]
    vertices = np.vstack([vertices, np.full(size, 1 / size)])
    assert isit.has_ordered_statistics(SourceSet(vertices))
    for share in (0.1, 0.9):
        distortion = share * (size - 1) / size
        if distortion > 0:
            assert least_distortion(vertices, isit.theorem_4(size, distortion)) == pytest.approx(distortion, abs=SOLVED)
    assert isit.theorem_4(size, (size - 1) / size) == 0


def test_the_thresholds_say_nothing_about_permutation_invariant_classes():
    """The conclusion gives "both source classes" the same thresholds; {(1, 0), (0, 1)} has ``max_P P_2 = 1``, D = 3/4."""
    corners = SourceSet(np.eye(2))
    claimed = math.log((1 - 0.75) / 0.75)
    assert claimed < 0 == isit.theorem_1(2, 0.75) and corners.worst_case_distortion(np.full((2, 2), 0.5)) == 0.5
    with pytest.raises(ValueError, match="has no common ordering"):
        isit.equation_7(corners)


# Lemma 1, Lemma 6, critical pairs and the coloring


def test_the_leakage_is_not_convex():
    """Lemma 1: ratios 2 and 6, and 4 in the middle, where convexity allows sqrt(12)."""
    first, second = fractions([["1/5", "4/5"], ["1/10", "9/10"]]), fractions([["3/5", "2/5"], ["1/10", "9/10"]])
    middle = [[(p + q) / 2 for p, q in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)]
    assert [ratio_of(matrix) for matrix in (first, second, middle)] == [2, 6, 4]
    assert 4**2 > 2 * 6 and ratio_of(middle) <= max(ratio_of(first), ratio_of(second))  # quasi-convex it is


@pytest.mark.parametrize("seed", range(15))
def test_equation_16_is_the_leakage_of_ascending_distortions_and_the_least(seed):
    rng = np.random.default_rng([6, seed])
    size = int(rng.integers(2, 5))
    changed = rng.uniform(0.02, 0.98, size)
    changed *= min(1.0, (size - 1) * 0.95 / changed.sum())
    ratio = math.exp(isit.equation_16(changed, "corrected"))
    assert ratio == pytest.approx(float(largest_ratio(equation_48(changed))), rel=1e-9)
    assert isit.equation_16(np.sort(changed)) == pytest.approx(math.log(ratio), abs=ROUNDING)
    assert isit.equation_16(changed) <= math.log(ratio) + ROUNDING
    # The least of all matrices with this diagonal: the columns' floors u with u_j <= Q_ij <= t u_j and rows that sum to 1.
    for factor, possible in ((1.001, True), (0.999, False)):
        assert has_matrix(1 - changed, factor * ratio) == possible


def has_matrix(kept, ratio):
    """Whether a matrix with this diagonal and this ratio exists: the largest common excess of the rows' sums over 1 is >= 0."""
    size = len(kept)
    entry, low, slack = np.arange(size * size).reshape(size, size), size * size + np.arange(size), size * size + size
    rows, upper = [], []
    for i, j in itertools.product(range(size), repeat=2):
        for signs in ((1.0, -1.0), (-ratio, 1.0)):
            row = np.zeros(slack + 1)
            row[[low[j], entry[i, j]]], row[slack] = signs, -1.0
            rows.append(row)
            upper.append(0.0)
    equal = np.zeros((2 * size, slack + 1))
    for i in range(size):
        equal[i, entry[i]], equal[size + i, entry[i, i]] = 1.0, 1.0
    found = solve(
        np.append(np.zeros(slack), 1.0),
        A_ub=np.array(rows),
        b_ub=upper,
        A_eq=equal,
        b_eq=np.append(np.ones(size), kept),
    )
    return found.fun <= 1e-9


def test_equation_16_at_its_limits():
    assert isit.equation_16([0.0, 0.5]) == math.inf and isit.equation_16([0.5, 1.0]) == -math.inf
    assert isit.equation_16([0.5, 0.5]) == isit.equation_16([0.5, 0.5], "corrected") == 0
    assert isit.equation_16([0.9, 0.5]) < 0
    with pytest.raises(ValueError, match=r"must sum to at most 1, got \[0\.9, 0\.5\] with the sum 1\.4"):
        isit.equation_16([0.9, 0.5], "corrected")
    with pytest.raises(ValueError, match=r"two letters or more, got \[0\.5\]"):
        isit.equation_16([0.5])
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
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
        with pytest.raises(ValueError, match=r"finite and above 0, not for (inf|0\.0) nats"):
            coloring(matrix)


@pytest.mark.parametrize("seed", range(20))
def test_claims_1_to_5_hold_where_all_letters_are_published(seed):
    """With k = 0, of the mechanism for ascending distortions."""
    rng = np.random.default_rng([1, seed])
    size = int(rng.integers(2, 6))
    changed = np.sort(rng.uniform(0.02, 0.98, size))
    changed *= min(1.0, (size - 1) * 0.95 / changed.sum())
    painted = coloring(equation_48(changed))
    off = ~np.eye(size, dtype=bool)
    assert all(set(row) not in ({"black"}, {"red"}) for row in painted)  # Claim 1
    assert all(len(set(row[other])) == 1 for row, other in zip(painted, off, strict=True))  # Claim 2
    diagonal = np.diagonal(painted)
    assert all(set(painted[i][off[i]]) == {"red"} for i in np.flatnonzero(diagonal != "black"))  # Claim 3
    assert (diagonal != "black").sum() <= 1  # Claim 4
    assert set(np.flatnonzero(diagonal != "black")) <= {0}  # Claim 5


def test_the_optimal_mechanism_of_equation_25_is_not_colored_as_figure_2_says():
    """Remark 7: off-diagonal entries in rows of suppressed letters "are white". Here, at an optimum, they are black and red."""
    painted = coloring(isit.equation_25(3, 5 / 16, 1))  # the optimum of (1/2, 3/10, 1/5) at D = 9/20, see above
    assert painted[2].tolist() == ["red", "black", "zero"]
    # A row between the others does as well, and is as Remark 7 says.
    between = [[11 / 16, 5 / 16, 0], [5 / 16, 11 / 16, 0], [1 / 2, 1 / 2, 0]]
    assert coloring(between)[2].tolist() == ["white", "white", "zero"]
    assert largest_ratio(between) == Fraction(11, 5)


def test_a_white_entry_can_raise_the_leakage():
    """ "Any change that neither increases a black element nor decreases a red one" keeps it: yet here it goes from 2 to 75/2."""
    before = [[1 / 2, 1 / 4, 1 / 4], [1 / 4, 3 / 8, 3 / 8], [1 / 4, 3 / 8, 3 / 8]]
    after = fractions([["1/2", "49/100", "1/100"], ["1/4", "3/8", "3/8"], ["1/4", "3/8", "3/8"]])
    assert coloring(before)[0].tolist() == ["black", "white", "white"] and largest_ratio(before) == 2
    assert ratio_of(after) == Fraction(75, 2)


def test_lemma_7_holds():
    rng = np.random.default_rng(7)
    for _ in range(200):
        size = int(rng.integers(2, 7))
        first, b = rng.random(size), np.sort(rng.random(size))
        moved = rng.random(size - 1) * first[1:]
        moved *= min(1.0, (1 - first[0]) / moved.sum())
        second = first + np.append(moved.sum(), -moved)
        assert second @ b <= first @ b + ROUNDING


def test_a_utility_that_is_the_smallest_distortion_wants_the_wrong_mechanism():
    """Section II-A: ``max_Q min_P sum_i P_i D_i``. Two equal letters, ratio 3: it takes 3/4, where 1/4 is least."""
    swapped, kept = fractions([["1/4", "3/4"], ["3/4", "1/4"]]), fractions([["3/4", "1/4"], ["1/4", "3/4"]])
    uniform = [Fraction(1, 2)] * 2
    assert ratio_of(swapped) == ratio_of(kept) == 3
    assert (
        distortion_of(uniform, swapped)
        == Fraction(3, 4)
        > distortion_of(uniform, kept)
        == least_of_prior(uniform, Fraction(3))
    )


def test_staircase_mechanisms_are_optimal_for_a_known_distribution():
    """The introduction has them as an upper bound for ordered classes: for one distribution the best of them is exact."""
    for seed in range(10):
        prior = -np.sort(-np.random.default_rng([17, seed]).dirichlet(np.ones(4)))
        distortion = 0.8 * (1 - prior[0])
        best = isit.equation_11(SourceSet(prior), distortion, "corrected")
        assert least_distortion(prior[np.newaxis], best) == pytest.approx(distortion, abs=SOLVED)


def test_with_ties_the_output_does_not_shrink_gradually():
    """(1/2, 1/4, 1/4): all three letters are published up to D = 1/2, and from there on one."""
    prior = fractions([["1/2", "1/4", "1/4"]])[0]
    half = Fraction(1, 2)
    for distortion in (Fraction(1, 4), Fraction(49, 100)):
        response = [[1 - distortion if i == j else distortion / 2 for j in range(3)] for i in range(3)]
        assert exact_ratio_is(prior, distortion, 2 * (1 - distortion) / distortion, response)
        assert isit.equation_8(SourceSet([0.5, 0.25, 0.25]), float(distortion), 1, "corrected") > math.log(
            ratio_of(response)
        )
    assert isit.lemma_5(SourceSet([0.5, 0.25, 0.25])) == half
    assert SourceSet([0.5, 0.25, 0.25]).worst_case_distortion(Mechanism.constant([1.0, 0.0, 0.0])) == half


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isit.equation_5(3, 1.5), r"between 0 and 1, got 1\.5"),
        (lambda: isit.equation_8(TABLE_1, -0.1, 0), r"between 0 and 1, got -0\.1"),
        (lambda: isit.equation_8(TABLE_1, 0.1, 5), "zero_columns must be between 0 and M - 2 = 4, got 5"),
        (lambda: isit.equation_9(TABLE_1, 0.1, -1), "zero_columns must be between 0 and M - 2 = 4, got -1"),
        (lambda: isit.equation_25(3, 0.1, 3), "zero_columns must be between 0 and M - 1 = 2, got 3"),
        (lambda: isit.equation_8(TABLE_1, 0.1, 0, "literal"), "one of 'printed', 'corrected', got 'literal'"),
        (lambda: isit.theorem_2(TABLE_1, 0.1, "lenient"), "one of 'literal', 'printed', 'corrected', got 'lenient'"),
        (lambda: isit.theorem_3(TABLE_1, math.nan), "between 0 and 1, got nan"),
        (lambda: coloring([[0.5, 0.5]]), r"must be square, got shape \(1, 2\)"),
        (lambda: isit.equation_14([[0.5, 0.6], [0.5, 0.5]]), "row 0 sums to 1.1"),
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
    with pytest.raises(ValueError, match="has no common ordering of its letters"):
        formula(SourceSet([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]))
