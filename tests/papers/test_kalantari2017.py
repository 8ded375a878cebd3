"""Theorem 3 of the preprint and what follows from it, as printed and corrected; whether they hold is for the ledger."""

import itertools
import math

import pytest

from paper_repro import SourceSet
from paper_repro.papers.folding import Folding, isolated
from paper_repro.papers.kalantari2018 import corollary_1, equation_32, remark_5, remark_7, theorem_3

READINGS = ("literal", "printed", "corrected", "largest")
# Linear programs are solved to 1e-9 in numbers of order 1; leakages are logarithms of their optima.
SOLVED = 1e-8
SWAPPED = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
LAST = SourceSet([[0.7, 0.2, 0.1], [0.7, 0.1, 0.2]])
POINT = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])


def ratios(bound, folding, distortion):
    """Exponentials of what a statement says, reading by reading."""
    return [math.exp(bound(folding, distortion, reading)) for reading in READINGS]


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
    for reading in READINGS:
        assert theorem_3(folding, 0.0, reading) == (math.inf, math.inf)
        assert theorem_3(folding, 1.0, reading) == (0, 0)
        assert remark_5(folding, 0.0, reading) == math.inf


def test_letters_are_relabeled_where_the_set_misses_the_ordered_region():
    moved = SourceSet(POINT.vertices[:, [2, 0, 1]])
    folding = Folding(moved)
    assert (0, 1, 2) not in folding.permutations
    for reading, distortion in itertools.product(READINGS, (0.1, 0.3, 0.55)):
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
        (lambda: theorem_3(Folding(POINT), 1.5), r"between 0 and 1, got 1\.5"),
        (lambda: theorem_3(Folding(POINT), 0.5, "right"), "'corrected', 'largest', got 'right'"),
        (lambda: corollary_1(Folding(POINT), 0.5), "the folded images of .* differ"),
        (lambda: remark_7(Folding(POINT), 0.5), "use theorem_3"),
        (lambda: theorem_3(Folding(SourceSet([0.2, 0.5, 0.3]), direction="printed"), 0.5), "no part is left"),
        (lambda: equation_32([0.2, 0.3], zero_columns=1), "between 0 and M - 2 = 0, got 1"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
