"""What the paper prints: each formula as printed, the numbers it gives, and how far it is from the exact optimum."""

import math

import numpy as np
import pytest

from paper_repro import (
    DifferentialPrivacy,
    Mechanism,
    MutualInformation,
    SourceSet,
    distortion_curve,
    exact_curve,
    leakage_curve,
    load_source_set,
    optimal_mechanism,
)
from paper_repro.papers.kalantari2018 import (
    CONSTRUCTIONS,
    distortion_thresholds,
    equation_10,
    equation_17,
    equation_48,
    lemma_3,
    lemma_4,
    theorem_1,
    theorem_2,
    theorem_3,
)
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import largest_ratio, leakage_of_prior, least_distortion_without_leakage, solve

READINGS = ("literal", "printed", "corrected")
TABLE_1 = load_source_set("P_II_6")
THREE = SourceSet([0.7, 0.2, 0.1])
# Linear programs are solved to 1e-9 in numbers of order 1; leakages are logarithms of their optima.
SOLVED = 1e-8
# Half a unit of the fourth decimal.
PRINTED = 5e-5


def swaps(source, pairs):
    permutations = []
    for first, second in pairs:
        letters = list(range(source.alphabet_size))
        letters[first], letters[second] = second, first
        permutations.append(letters)
    return permutations


def on_base(base, distortion, permutations, reading="printed"):
    """Theorem 3 for a set that is built from this one by permutations."""
    lower, upper = theorem_3(base, distortion, reading, permutations=permutations)
    assert lower == upper
    return upper


def exact(source, distortion):
    return float(leakage_curve(source, distortion))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("distortion", [1e-6, 0.1, 0.45, 0.6, 0.9])
def test_theorem_1_is_the_truth_for_class_1(seed, distortion):
    source = SourceSet(random_vertices("I", seed))
    # 1e-7 nats is asked of every optimum; the formula itself is exact.
    assert exact(source, distortion) == pytest.approx(theorem_1(source.alphabet_size, distortion), abs=1e-7)


@pytest.mark.parametrize(
    ("size", "distortion", "leakage"), [(6, 0.0, math.inf), (1, 0.0, 0.0), (2, 0.5, 0.0), (4, 1.0, 0.0)]
)
def test_theorem_1_at_its_limits(size, distortion, leakage):
    assert theorem_1(size, distortion) == leakage


@pytest.mark.parametrize("seed", range(10))
def test_thresholds_by_their_definition(seed):
    vertices = random_vertices("II", seed)
    size = vertices.shape[1]
    expected = [max(sum(sorted(prior)[:k]) for prior in vertices) for k in range(size + 1)]
    assert distortion_thresholds(SourceSet(vertices)) == pytest.approx(expected, abs=1e-14)  # rounding of sums


def smallest_ratio(falling, distortion, count, reading, pairs=()):
    """Equation (10) or (17) by bisection over t: is ``(n - 1) - sum_{i>=2} D_i <= t D_1`` possible?"""
    budget = distortion - falling[:, count:].sum(axis=1).max()
    rows, upper = [*falling[:, :count], np.ones(count)], [budget] * len(falling) + [count - 1.0]
    if reading == "corrected":
        rows.extend(np.eye(count)[:-1] - np.eye(count)[1:])
        upper.extend([0.0] * (count - 1))
    equal = [np.eye(count)[i] - np.eye(count)[j] for i, j in pairs]
    program = {
        "A_ub": np.array(rows),
        "b_ub": upper,
        "A_eq": np.array(equal) if equal else None,
        "b_eq": np.zeros(len(equal)) if equal else None,
        "bounds": (0, None if reading == "literal" else 1),
    }
    low, high = 1.0, 1e4
    while high - low > 1e-12 * high:
        ratio = math.sqrt(low * high)
        found = solve(np.append(-ratio, -np.ones(count - 1)), **program)
        low, high = (low, ratio) if count - 1 + found.fun <= 0 else (ratio, high)
    return math.log(high)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("zero_columns", [0, 1, 2])
@pytest.mark.parametrize("vertices", [[[0.5, 0.2, 0.2, 0.1]], [[0.4, 0.3, 0.2, 0.1], [0.6, 0.15, 0.15, 0.1]]])
def test_equation_10_is_the_program_it_prints(vertices, zero_columns, reading):
    source = SourceSet(vertices)
    distortion = distortion_thresholds(source)[zero_columns] + 0.08
    expected = smallest_ratio(source.vertices, distortion, 4 - zero_columns, reading)
    # The bisection stops at a violation of 1e-10, which weighs 1 / D_1, at most some 100 times, as much in the ratio.
    assert equation_10(source, distortion, zero_columns, reading) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("reading", READINGS)
def test_equation_17_is_the_program_it_prints(reading):
    expected = smallest_ratio(TABLE_1.vertices, 0.25, 6, reading, pairs=[(0, 1)])
    found = equation_17(TABLE_1, 0.25, 0, swaps(TABLE_1, [(0, 1)]), reading)
    assert found == pytest.approx(expected, abs=1e-6)  # as above


@pytest.mark.parametrize("reading", READINGS)
def test_letters_may_come_in_any_order(reading):
    shuffled = SourceSet([[0.1, 0.7, 0.2]])
    assert theorem_2(shuffled, 0.15, reading) == pytest.approx(theorem_2(THREE, 0.15, reading), abs=SOLVED)
    assert on_base(shuffled, 0.15, [[0, 2, 1]], reading) == pytest.approx(
        on_base(THREE, 0.15, [[1, 0, 2]], reading), abs=SOLVED
    )


@pytest.mark.parametrize(
    ("distortion", "reading", "leakage"),
    [
        (0.05, "printed", 4.2485),
        (0.05, "corrected", 4.5539),
        (0.2, "literal", 0.0),
        (0.2, "printed", 2.5437),
        (0.2, "corrected", 2.6773),
    ],
)
def test_theorem_2_on_table_1(distortion, reading, leakage):
    assert theorem_2(TABLE_1, distortion, reading) == pytest.approx(leakage, abs=PRINTED)
    assert exact(TABLE_1, distortion) == pytest.approx(theorem_2(TABLE_1, distortion, "corrected"), abs=SOLVED)


@pytest.mark.parametrize("reading", READINGS)
def test_theorem_2_outside_its_thresholds(reading):
    assert theorem_2(TABLE_1, 0.01, reading) == theorem_1(6, 0.01) and theorem_2(TABLE_1, 0.0, reading) == math.inf
    assert theorem_2(TABLE_1, 0.3, reading) == theorem_2(TABLE_1, 1.0, reading) == 0


def test_theorem_2_on_three_letters():
    assert math.exp(theorem_2(THREE, 0.15, "printed")) == pytest.approx(28 / 3, rel=SOLVED)
    assert math.exp(theorem_2(THREE, 0.15, "corrected")) == pytest.approx(34 / 3, rel=SOLVED)
    assert leakage_of_prior([0.7, 0.2, 0.1], 0.15) == pytest.approx(math.log(34 / 3), abs=1e-14)  # rounding


def test_the_lower_bound_of_2016_is_loose():
    """Equation (10) with k = 0 and no ordering is the lower bound of the ISIT paper, which is said to be tight below D^(1)."""
    assert equation_10(TABLE_1, 0.01, 0, "printed") == pytest.approx(5.8579, abs=PRINTED)
    assert exact(TABLE_1, 0.01) == pytest.approx(6.2046, abs=PRINTED)


@pytest.mark.parametrize("seed", range(100))
def test_with_the_order_theorem_2_is_exact_and_zero_columns_are_not_needed(seed):
    vertices = random_vertices("II", seed)
    source, end = SourceSet(vertices), least_distortion_without_leakage(vertices)
    for share in (0.2, 0.5, 0.9):
        if end > 0:
            truth = exact(source, share * end)
            assert theorem_2(source, share * end, "corrected") == pytest.approx(truth, abs=SOLVED)
            assert theorem_2(source, share * end, "printed") <= truth + SOLVED
            if source.alphabet_size > 2:
                assert equation_10(source, share * end, 0, "corrected") == pytest.approx(truth, abs=SOLVED)


def test_with_no_zero_column_the_optimum_is_only_approached():
    source = SourceSet([0.5, 0.3, 0.2])
    assert equation_10(source, 0.45, 0, "corrected") == pytest.approx(exact(source, 0.45), abs=SOLVED)
    assert (optimal_mechanism(source, distortion=0.45).mechanism.matrix[:, 2] == 0).all()


def test_symmetric_regime_of_table_1_lasts_to_five_times_the_threshold():
    assert distortion_thresholds(TABLE_1)[1] == pytest.approx(0.02, abs=1e-15)
    assert exact_curve(TABLE_1).breakpoints[0] == pytest.approx(0.10, abs=1e-15)
    assert exact(TABLE_1, 0.0999) == pytest.approx(theorem_1(6, 0.0999), abs=1e-12)  # rounding
    assert exact(TABLE_1, 0.1001) < theorem_1(6, 0.1001) - 1e-4


@pytest.mark.parametrize("seed", range(10))
def test_symmetric_regime_of_an_ordered_set_lasts_to_its_largest_last_probability(seed):
    vertices = random_vertices("II", seed)
    others, last = vertices.shape[1] - 1, vertices.min(axis=1).max()
    if last == 0:  # some letter never occurs, and the set is one over fewer letters
        return
    source, end = SourceSet(vertices), others * last
    assert exact(source, 0.999 * end) == pytest.approx(theorem_1(others + 1, 0.999 * end), abs=1e-9)
    if end < distortion_curve(source, 0.0) - 1e-6:
        beyond = 0.99 * end + 0.01 * float(distortion_curve(source, 0.0))
        assert exact(source, beyond) < theorem_1(others + 1, beyond)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
@pytest.mark.parametrize("distortion", [0.005, 0.02, 0.1, 0.3, 0.5, 0.55, 0.7, 0.76, 0.81])
def test_theorem_3_is_tight_on_the_tables(name, distortion):
    base, pairs = CONSTRUCTIONS[name]
    folded = load_source_set(base)
    bound = on_base(folded, distortion, swaps(folded, pairs), "corrected")
    assert bound == pytest.approx(exact(load_source_set(name), distortion), abs=SOLVED)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions_give_the_tables(name):
    base, pairs = CONSTRUCTIONS[name]
    folded = load_source_set(base)
    expected = [
        prior[letters]
        for letters in [list(range(folded.alphabet_size)), *swaps(folded, pairs)]
        for prior in folded.vertices
    ]
    found = load_source_set(name).vertices
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))


def test_theorem_3_is_no_longer_tight_with_permutations_that_swap_ties():
    folded, ties = load_source_set("P_II_10"), [(4, 5), (8, 9)]
    bound = on_base(folded, 0.225, swaps(folded, [(0, 1), *ties]), "corrected")
    assert bound - exact(load_source_set("P_IIIa_10"), 0.225) > 0.02


def test_theorem_3_outside_its_thresholds():
    permutations = swaps(TABLE_1, [(0, 1)])
    assert on_base(TABLE_1, 0.01, permutations) == theorem_1(6, 0.01)
    assert on_base(TABLE_1, 0.0, permutations) == math.inf
    assert on_base(TABLE_1, 5 / 6, permutations) == on_base(TABLE_1, 1.0, permutations) == 0


def test_the_lower_bound_of_theorem_3_is_above_the_truth():
    source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
    permutations = [[1, 0, 2], [0, 2, 1]]
    for reading in READINGS:
        claimed = on_base(SourceSet([0.6, 0.3, 0.1]), 0.6, permutations, reading)
        assert claimed == pytest.approx(math.log(4 / 3), abs=SOLVED)
    assert exact(source, 0.6) == 0
    witness = Mechanism.constant([0.6, 0.4, 0.0])
    assert source.worst_case_distortion(witness) <= 0.6 and largest_ratio(witness.matrix) == 1


def test_the_upper_bound_of_theorem_3_is_below_the_truth():
    folded, source = SourceSet([0.6, 0.3, 0.1]), SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    ratios = [math.exp(on_base(folded, 0.3, [[1, 0, 2]], reading)) for reading in READINGS]
    assert ratios == pytest.approx([1, 3.5, 3.5], rel=SOLVED)
    assert math.exp(exact(source, 0.3)) == pytest.approx(3.5, rel=SOLVED)


@pytest.mark.parametrize("seed", range(20))
def test_equation_48(seed):
    """For ascending distortions the matrix has the leakage that equation (10) minimizes."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    zero_columns = int(rng.integers(0, 3))
    changed = np.sort(rng.uniform(0.02, 0.98, size))
    changed[0] = min(changed[0], max(0.01, 0.9 * (size - 1 - changed[1:].sum())))
    matrix = equation_48(changed, zero_columns)
    assert matrix.shape == (size + zero_columns,) * 2
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-14)  # rounding
    assert (matrix[:, size:] == 0).all() and (matrix[size:] == matrix[size - 1]).all()
    assert np.diagonal(matrix)[:size] == pytest.approx(1 - changed, abs=1e-15)
    if changed.sum() <= size - 1:
        expected = math.log((size - 1 - changed[1:].sum()) / changed[0])
        assert DifferentialPrivacy().leakage(matrix) == pytest.approx(expected, abs=1e-12)  # rounding
        if zero_columns == 0:
            assert Mechanism.from_distortions(changed).matrix == pytest.approx(matrix, abs=1e-15)


@pytest.mark.parametrize("size", [2, 3, 6, 10])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_lemma_3_is_the_truth_for_the_uniform_prior(size, share):
    distortion = share * (size - 1) / size
    found = leakage_curve(SourceSet(np.full(size, 1 / size)), distortion, MutualInformation())
    assert found == pytest.approx(lemma_3(size, distortion), abs=1e-6)  # the notion's tolerance


@pytest.mark.parametrize("seed", range(5))
def test_lemma_3_is_the_truth_for_class_1(seed):
    source = SourceSet(random_vertices("I", seed, most_letters=5))
    found = leakage_curve(source, [0.1, 0.4, 0.9], MutualInformation())
    expected = [lemma_3(source.alphabet_size, distortion) for distortion in (0.1, 0.4, 0.9)]
    assert found == pytest.approx(expected, abs=1e-6)  # the notion's tolerance


def test_lemma_3_on_ten_letters():
    assert lemma_3(10, 0.3) == pytest.approx(1.03255, abs=5e-6)  # half a unit of the last digit
    assert lemma_3(10, 0.9) == lemma_3(10, 1.0) == lemma_3(1, 0.0) == 0
    assert lemma_3(10, 0.0) == pytest.approx(math.log(10), abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("notion", [DifferentialPrivacy(), MutualInformation()], ids=lambda notion: notion.name)
def test_lemma_4_says_from_where_nothing_leaks(seed, notion):
    vertices = random_vertices("II", seed, most_letters=6)
    source = SourceSet(vertices)
    end = lemma_4(source)
    assert end == pytest.approx((1 - vertices.max(axis=1)).max(), abs=1e-14)  # rounding
    assert leakage_curve(source, min(1.0, end + 1e-9), notion) <= 1e-10  # how tight an evaluated mutual information is
    if end > 0:
        assert leakage_curve(source, 0.9 * end, notion) > 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem_1(6, 1.5), r"between 0 and 1, got 1\.5"),
        (lambda: theorem_2(THREE, -0.1), r"between 0 and 1, got -0\.1"),
        (lambda: theorem_3(THREE, math.nan, permutations=[]), "between 0 and 1, got nan"),
        (lambda: lemma_3(6, 1.5), r"between 0 and 1, got 1\.5"),
        (lambda: equation_10(THREE, 0.1, 2), "zero_columns must be between 0 and M - 2 = 1, got 2"),
        (lambda: equation_10(THREE, 0.1, -1), "zero_columns must be between 0 and M - 2 = 1, got -1"),
        (lambda: equation_10(THREE, 0.1, 0, "lenient"), "'literal', 'printed', 'corrected', got 'lenient'"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("formula", [distortion_thresholds, lemma_4, lambda source: theorem_2(source, 0.2)])
def test_formulas_of_class_2_refuse_other_sets(formula):
    with pytest.raises(ValueError, match="no common ordering of its letters; the statement is for Class II sets"):
        formula(SourceSet([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]))


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(8))
def test_perfect_privacy_comes_no_later_than_the_paper_says(source_class, seed):
    """From ``(M - 1) / M`` on nothing leaks, whatever the set."""
    source = SourceSet(random_vertices(source_class, seed))
    assert distortion_curve(source, 0.0) <= 1 - 1 / source.alphabet_size + 1e-12  # rounding
