"""Formulas of the 2018 article and its preprint as printed, with limits and domains; whether they hold is for the ledger."""

import itertools
import math

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, Mechanism, SourceSet, load_source_set
from paper_repro.papers.folding import Folding, isolated
from paper_repro.papers.kalantari2018 import (
    corollary_1,
    distortion_thresholds,
    equation_10,
    equation_17,
    equation_32,
    equation_48,
    lemma_3,
    lemma_4,
    remark_5,
    remark_7,
    theorem_1,
    theorem_2,
    theorem_3,
)
from tests.oracles.instances import random_vertices
from tests.oracles.tradeoffs import least_ratio

READINGS = ("literal", "printed", "corrected")
ALL_READINGS = (*READINGS, "largest")
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
    assert lemma_4(SourceSet(vertices)) == pytest.approx((1 - vertices.max(axis=1)).max(), abs=1e-14)


def smallest_ratio(falling, distortion, count, reading, pairs=()):
    """Equation (10) or (17), as the program it is."""
    budget = distortion - falling[:, count:].sum(axis=1).max()
    rows, upper = [*falling[:, :count], np.ones(count)], [budget] * len(falling) + [count - 1.0]
    if reading == "corrected":
        rows.extend(np.eye(count)[:-1] - np.eye(count)[1:])
        upper.extend([0.0] * (count - 1))
    equal = {"A_eq": np.array([np.eye(count)[i] - np.eye(count)[j] for i, j in pairs]), "b_eq": np.zeros(len(pairs))}
    bounds = (0, None if reading == "literal" else 1)
    return math.log(least_ratio(count, A_ub=np.array(rows), b_ub=upper, bounds=bounds, **(equal if pairs else {})))


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


@pytest.mark.parametrize("reading", READINGS)
def test_theorem_2_outside_its_thresholds(reading):
    assert theorem_2(TABLE_1, 0.01, reading) == theorem_1(6, 0.01) and theorem_2(TABLE_1, 0.0, reading) == math.inf
    assert theorem_2(TABLE_1, 0.3, reading) == theorem_2(TABLE_1, 1.0, reading) == 0


def test_theorem_3_outside_its_thresholds():
    permutations = swaps(TABLE_1, [(0, 1)])
    assert on_base(TABLE_1, 0.01, permutations) == theorem_1(6, 0.01)
    assert on_base(TABLE_1, 0.0, permutations) == math.inf
    assert on_base(TABLE_1, 5 / 6, permutations) == on_base(TABLE_1, 1.0, permutations) == 0


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


def test_lemma_3_on_ten_letters():
    assert lemma_3(10, 0.3) == pytest.approx(1.03255, abs=5e-6)  # half a unit of the last digit
    assert lemma_3(10, 0.9) == lemma_3(10, 1.0) == lemma_3(1, 0.0) == 0
    assert lemma_3(10, 0.0) == pytest.approx(math.log(10), abs=1e-15)


# Theorem 3 of a folded set, and what follows from it


SWAPPED = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
LAST = SourceSet([[0.7, 0.2, 0.1], [0.7, 0.1, 0.2]])
POINT = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])


def ratios(bound, folding, distortion):
    """Exponentials of what a statement says, reading by reading."""
    return [math.exp(bound(folding, distortion, reading)) for reading in ALL_READINGS]


@pytest.mark.parametrize(
    ("source", "distortion", "side", "expected"),
    [
        (SWAPPED, 0.3, 1, [1, 3.5, 3.5, 3.5]),
        (isolated(SWAPPED), 0.3, 1, [1, 3.5, 3.5, 3.5]),
        (LAST, 0.15, 1, [28 / 3, 28 / 3, 34 / 3, 34 / 3]),
        (POINT, 0.6, 0, [4 / 3] * 4),
        (isolated(POINT), 0.6, 0, [4 / 3] * 4),
        (SourceSet([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3]]), 0.4, 0, [3, 3, 3, 1]),  # at the jump (17) is 0 / 0
        (SourceSet([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3]]), 0.4 + 1e-6, 0, [1, 1, 1, 1]),
        # The order of Lemma 7 with D_1 = D_3 makes all three letters alike.
        (
            isolated(SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])),
            0.62,
            0,
            [1, 0.38 / 0.32, 2 * 0.38 / 0.62, 0.38 / 0.32],
        ),
    ],
)
def test_theorem_3_reading_by_reading(source, distortion, side, expected):
    found = ratios(lambda *of: theorem_3(*of)[side], Folding(source), distortion)
    assert found == pytest.approx(expected, rel=SOLVED)


def test_theorem_3_with_the_printed_direction():
    """Read literally, Definition 6 drops the piece of a 3-cycle, and the union knows nothing of its last letter."""
    source = isolated(SourceSet([[0.5, 0.25, 0.2, 0.05], [0.2, 0.4, 0.25, 0.15]]))
    for direction, expected in (("printed", 2 * 0.7 / 0.25), ("corrected", 7)):
        found = ratios(lambda *of: theorem_3(*of).upper, Folding(source, direction=direction), 0.3)
        assert found[2:] == pytest.approx([expected] * 2, rel=SOLVED)


def test_corollary_1_and_remarks_5_and_7_reading_by_reading():
    swapped, point = Folding(isolated(SWAPPED)), Folding(isolated(POINT))
    assert ratios(corollary_1, swapped, 0.4)[2:] == [1, 1]
    assert ratios(remark_7, swapped, 0.4)[3] == pytest.approx(2, rel=SOLVED)
    assert ratios(remark_7, point, 0.6)[3] == pytest.approx(4 / 3, rel=SOLVED)
    apart = Folding(isolated(SourceSet([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2]])))  # the other piece alone has 6
    assert ratios(remark_5, apart, 0.25)[2:] == pytest.approx([5, 5], rel=SOLVED)
    assert ratios(remark_5, Folding(POINT), 0.3) == pytest.approx([4, 4, 14 / 3, 14 / 3], rel=SOLVED)


def test_limits():
    folding = Folding(POINT)
    for reading in ALL_READINGS:
        assert theorem_3(folding, 0.0, reading) == (math.inf, math.inf)
        assert theorem_3(folding, 1.0, reading) == (0, 0)
        assert remark_5(folding, 0.0, reading) == math.inf


def test_letters_are_relabeled_where_the_set_misses_the_ordered_region():
    moved = SourceSet(POINT.vertices[:, [2, 0, 1]])
    folding = Folding(moved)
    assert (0, 1, 2) not in folding.permutations
    for reading, distortion in itertools.product(ALL_READINGS, (0.1, 0.3, 0.55)):
        assert theorem_3(folding, distortion, reading) == pytest.approx(
            theorem_3(Folding(POINT), distortion, reading), abs=SOLVED
        )


def test_equation_32():
    assert math.exp(equation_32([0.2, 0.3, 0.4])) == pytest.approx(1.3 / 0.2, rel=1e-14)
    assert math.exp(equation_32([0.2, 0.3, 0.4, 0.9], zero_columns=2)) == pytest.approx(0.7 / 0.2, rel=1e-14)
    assert equation_32([0.0, 0.3]) == math.inf and equation_32([0.0, 1.0]) == 0
    assert equation_32([0.5, 1.0]) == -math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem_3(Folding(POINT), 1.5), r"between 0 and 1; got 1\.5"),
        (lambda: theorem_3(Folding(POINT), 0.5, "right"), "'corrected', 'largest'; got 'right'"),
        (
            lambda: corollary_1(Folding(POINT), 0.5),
            r"folding must have equal folded images; got SourceSet\(V=3, M=3, Class III\)\. For others use "
            r"theorem_3\.",
        ),
        (lambda: remark_7(Folding(POINT), 0.5), "use theorem_3"),
        (
            lambda: theorem_3(Folding(SourceSet([0.2, 0.5, 0.3]), direction="printed"), 0.5),
            r"parts must be at least one; got none\. The folded images have nothing in common\.",
        ),
        (lambda: equation_32([0.2, 0.3], zero_columns=1), "between 0 and M - 2 = 0; got 1"),
        (lambda: theorem_1(6, 1.5), r"between 0 and 1; got 1\.5"),
        (lambda: theorem_2(THREE, -0.1), r"between 0 and 1; got -0\.1"),
        (lambda: theorem_3(THREE, math.nan, permutations=[]), "between 0 and 1; got nan"),
        (lambda: lemma_3(6, 1.5), r"between 0 and 1; got 1\.5"),
        (lambda: equation_10(THREE, 0.1, 2), "zero_columns must be between 0 and M - 2 = 1; got 2"),
        (lambda: equation_10(THREE, 0.1, -1), "zero_columns must be between 0 and M - 2 = 1; got -1"),
        (lambda: equation_10(THREE, 0.1, 0, "lenient"), "'literal', 'printed', 'corrected'; got 'lenient'"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("formula", [distortion_thresholds, lemma_4, lambda source: theorem_2(source, 0.2)])
def test_formulas_of_class_2_refuse_other_sets(formula):
    with pytest.raises(ValueError, match="source must have a common ordering of its categories, as Class II"):
        formula(SourceSet([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]))
