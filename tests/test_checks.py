"""Bad numbers: one error that names the value, the allowed range and what to do."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from paper_repro.checks import (
    ROW_SUM_TOLERANCE,
    check_alpha,
    check_count,
    check_delta,
    check_distortion,
    check_leakage,
    check_probability_rows,
)
from paper_repro.errors import shown


@pytest.mark.parametrize("count", [1, np.int64(1), np.uint8(1)])
def test_counts_are_returned_as_integers(count):
    assert type(check_count(count, "records")) is int


@pytest.mark.parametrize("count", [0, -1, 1.0, 2.5, "3", None, True, np.bool_(True), [1], np.ma.masked])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(ValueError, match="records must be a whole number, at least 1; got") as error:
        check_count(count, "records")
    assert f"; got {shown(count)}." in str(error.value)


@pytest.mark.parametrize(
    "value", [0, 0.0, 0.5, 1, np.float64(0.25), np.array(0.25), Fraction(1, 4), Decimal("0.25"), "0.25", "1/4"]
)
def test_distortions_are_returned_as_floats(value):
    found = check_distortion(value)
    assert type(found) is float and found == float(Fraction(value) if isinstance(value, str) else value)


@pytest.mark.parametrize("value", [-1e-300, -0.1, 1 + 1e-12, 30, math.inf, -math.inf, math.nan, np.float64(1.5)])
def test_a_distortion_is_between_0_and_1(value):
    with pytest.raises(ValueError, match="between 0 and 1") as error:
        check_distortion(value)
    assert repr(float(value)) in str(error.value)
    assert "Divide by 100 if it is a percentage." in str(error.value)


@pytest.mark.parametrize(
    "value",
    ["a lot", "1/0", "1e999999999", None, True, np.True_, [0.1, 0.2], 1j, np.complex128(1), 10**400, np.ma.masked],
)
def test_a_distortion_is_a_number(value):
    with pytest.raises(ValueError, match="distortion must be a number") as error:
        check_distortion(value)
    assert "between 0 and 1" in str(error.value) and f"; got {shown(value)}." in str(error.value)


@pytest.mark.parametrize("value", [0, 3, math.inf, np.float64(0.25)])
def test_leakages_are_returned_as_floats(value):
    found = check_leakage(value)
    assert type(found) is float and found == float(value)


@pytest.mark.parametrize("value", [-1e-300, -2, -math.inf, math.nan])
def test_a_leakage_is_at_least_0(value):
    with pytest.raises(ValueError, match="at least 0 nats") as error:
        check_leakage(value)
    assert repr(float(value)) in str(error.value)


@pytest.mark.parametrize("value", ["a lot", None, [0.1, 0.2]])
def test_a_leakage_is_a_number(value):
    with pytest.raises(ValueError, match="leakage must be a number, at least 0 nats") as error:
        check_leakage(value)
    assert f"; got {shown(value)}." in str(error.value)


@pytest.mark.parametrize(
    ("rows", "named", "advice"),
    [
        (
            [[0.5, 0.5], [-0.5, 1.5]],
            "row 1, category 0 must be a probability, a finite number between 0 and 1; got -0.5",
            "between 0 and 1",
        ),
        (
            [[-1e-17, 1.0]],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got -1e-17",
            "between 0 and 1",
        ),
        (
            [[0.5, math.nan]],
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got nan",
            "finite number between 0 and 1",
        ),
        (
            [[0.5, math.inf]],
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got inf",
            "finite number between 0 and 1",
        ),
        (
            [[None, 1.0]],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got None",
            "finite number between 0 and 1",
        ),
        (
            [["half", 0.5]],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got 'half'",
            "finite number between 0 and 1",
        ),
        (
            [0.5, "half"],
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got 'half'",
            "finite number between 0 and 1",
        ),
        (
            np.array([[0.5, "half"]], dtype=object),
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got 'half'",
            "finite number between 0 and 1",
        ),
        (
            "half",
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got 'half'",
            "finite number between 0 and 1",
        ),
        (
            [0.5, 0.5, False],
            "row 0, category 2 must be a probability, a finite number between 0 and 1; got False",
            "finite number between 0 and 1",
        ),
        (
            np.array([True, False]),
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got True",
            "finite number between 0 and 1",
        ),
        (
            ["0.5", "O.5"],
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got 'O.5'",
            "finite number between 0 and 1",
        ),
        (
            [10**400, 0.5],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got 1000",
            "finite number between 0 and 1",
        ),
        (
            [0.5 + 0j, 0.5],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got (0.5+0j)",
            "finite number between 0 and 1",
        ),
        (
            np.ma.masked_array([0.5, 0.5], [0, 1]),
            "row 0, category 1 must be a probability, a finite number between 0 and 1; got None",
            "finite number between 0 and 1",
        ),
        (
            [[np.ma.masked, 0.5]],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got masked",
            "finite number between 0 and 1",
        ),
        ((p for p in [0.5, 0.5]), "generator", "in a list or an array"),
        (
            [[[0.5], [0.5, 0.1]], [0.5, 0.5]],
            "row 0, category 0 must be a probability, a finite number between 0 and 1; got [0.5]",
            "finite number between 0 and 1",
        ),
        (
            [[0.5, 0.5], [0.5, 0.6]],
            "row 1 must sum to 1 within 1e-09; got 1.1.",
            "Correct the row, or divide it by its sum.",
        ),
        ([[50, 50]], "row 0 must sum to 1 within 1e-09; got 100.0.", "Correct the row, or divide it by its sum."),
        (
            [[0.5, 0.5], [1.0]],
            "row 1 must have 2 entries, as many as row 0; got 1.",
            "Write 0 for a category that never occurs.",
        ),
        ([[0.5, 0.5], 0.5], "[[0.5, 0.5], 0.5]", "table of probabilities"),
        ([], "shape (0,)", "Give one list of probabilities per row."),
        ([[], []], "shape (2, 0)", "Give one list of probabilities per row."),
        ([[[0.5, 0.5]]], "shape (1, 1, 2)", "Give one list of probabilities per row."),
        (0.5, "shape ()", "Give one list of probabilities per row."),
    ],
)
def test_unusable_rows_are_named(rows, named, advice):
    with pytest.raises(ValueError, match=r"^my table") as error:
        check_probability_rows(rows, "my table")
    assert named in str(error.value) and advice in str(error.value)


def test_one_row_may_be_given_flat():
    assert check_probability_rows([0.5, 0.5], "rows").shape == (1, 2)


def test_the_callers_rows_are_copied():
    given = np.array([[0.5, 0.5 + 5e-10]])
    check_probability_rows(given, "rows")
    assert given[0, 1] == 0.5 + 5e-10


@pytest.mark.parametrize("miss", [0.9 * ROW_SUM_TOLERANCE, -0.9 * ROW_SUM_TOLERANCE, 1e-11])
def test_a_row_that_nearly_sums_to_1_is_rescaled(miss):
    row = check_probability_rows([0.25, 0.75 + miss], "rows")[0]
    assert abs(row.sum() - 1) <= 2**-52  # one rounding
    assert row[1] / row[0] == pytest.approx((0.75 + miss) / 0.25, rel=1e-15)


@pytest.mark.parametrize("miss", [1.1 * ROW_SUM_TOLERANCE, -1.1 * ROW_SUM_TOLERANCE])
def test_a_row_that_misses_1_by_more_is_refused(miss):
    with pytest.raises(ValueError, match="must sum to 1 within 1e-09"):
        check_probability_rows([0.25, 0.75 + miss], "rows")


def test_rounding_alone_changes_nothing():
    row = [0.1] * 10  # sums to 1 - 1e-16
    assert check_probability_rows(row, "rows").tolist() == [row]


@pytest.mark.parametrize("delta", [-0.1, 1.0, 1.5, float("nan"), float("inf"), "a", None])
def test_delta_outside_its_range_is_refused(delta):
    with pytest.raises(ValueError, match=r"delta must be a (probability|number), a?.*at least 0 and below 1; got"):
        check_delta(delta)


@pytest.mark.parametrize("delta", [0, 0.5, 1 - 1e-16])
def test_delta_in_its_range_is_returned(delta):
    assert check_delta(delta) == delta


@pytest.mark.parametrize("order", [0.5, 1 - 1e-12, -1, float("nan"), "a", None])
def test_orders_below_1_are_refused(order):
    with pytest.raises(ValueError, match=r"alpha must be (at least 1 for Sibson|a number, at least 1)"):
        check_alpha(order, "Sibson information")


@pytest.mark.parametrize(
    ("order", "expected"), [(1, 1), (1 + 1e-12, 1 + 1e-6), (1.5, 1.5), (float("inf"), float("inf"))]
)
def test_orders_next_to_1_keep_their_distance(order, expected):
    assert check_alpha(order, "Sibson information") == expected
