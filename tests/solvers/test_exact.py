"""Exact linear programs: certified by complementary slackness without rounding, and compared with SciPy in floats."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from paper_repro.errors import InfeasibleError, SolverError
from paper_repro.solvers.exact import exact_optimum


def random_program(rng):
    """Small, with many zeros and ties: rows that repeat, entries of few values, the first rows equalities."""
    rows, columns = rng.integers(1, 9, 2)
    matrix = rng.integers(-4, 6, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    upper, costs = rng.integers(0, 6, rows), rng.integers(-2, 6, columns)
    if rng.random() < 0.3:
        matrix[-1], upper[-1] = matrix[0], upper[0]
    return costs, matrix, upper, slice(0, int(rng.integers(0, min(3, rows) + 1)))


def as_fractions(costs, matrix, upper, equal):
    third = Fraction(1, 3)
    rows = [{column: third * int(entry) for column, entry in enumerate(row) if entry} for row in matrix]
    return [int(cost) for cost in costs], rows, [third * int(right) for right in upper], equal


def check_optimal(found, costs, rows, upper, equal):
    """Primal and dual feasibility, and equal objectives: no more is needed, and nothing is rounded."""
    slacks = [
        right - sum(entry * found.values[j] for j, entry in row.items()) for row, right in zip(rows, upper, strict=True)
    ]
    reduced = [
        cost - sum(row.get(j, 0) * y for row, y in zip(rows, found.duals, strict=True)) for j, cost in enumerate(costs)
    ]
    assert min([0, *slacks, *found.values, *reduced]) == 0
    assert not any(slacks[equal])
    free = range(len(rows))[equal]
    assert all(dual <= 0 for row, dual in enumerate(found.duals) if row not in free)
    value = sum(cost * x for cost, x in zip(costs, found.values, strict=True))
    assert found.objective == value == sum(right * y for right, y in zip(upper, found.duals, strict=True))


@pytest.mark.parametrize("misled", [False, True], ids=["basis of HiGHS", "any basis"])
def test_optima_are_exact_whatever_the_basis_was(misled):
    rng = np.random.default_rng(11)
    outcomes = {InfeasibleError: 0, SolverError: 0, None: 0}
    for _ in range(300):
        floats = random_program(rng)
        program = as_fractions(*floats)
        costs, matrix, upper, equal = floats
        start = SimpleNamespace(columns=rng.random(len(costs)) < 0.5, rows=rng.random(len(upper)) < 0.5)
        known = linprog(
            costs,
            A_ub=np.delete(matrix, equal, axis=0) / 3,
            b_ub=np.delete(upper, equal) / 3,
            A_eq=matrix[equal] / 3,
            b_eq=upper[equal] / 3,
        )
        try:
            found = exact_optimum(*program, start if misled else None)
        except (InfeasibleError, SolverError) as error:
            assert known.status in (2, 3, 4)
            outcomes[type(error)] += 1
            continue
        check_optimal(found, *program)
        assert float(found.objective) == pytest.approx(known.fun, abs=1e-8)
        outcomes[None] += 1
    assert min(outcomes.values()) > 30


def test_a_tie_that_floats_cannot_see_is_decided():
    # Two priors that differ by 1e-30: in floats, either may bind.
    tiny = Fraction(1, 10**30)
    priors = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2) + tiny, Fraction(1, 2) - tiny]]
    found = exact_optimum([-1, 0], [dict(enumerate(prior)) for prior in priors], [1, 1])
    assert found.values == (1 / priors[1][0], 0)
    assert found.duals == (0, -1 / priors[1][0])


def test_a_program_with_a_thousand_rows_of_two_entries_is_solved():
    # The best mechanism on a line of answers at t = 2, over the whole channel: the truncated geometric.
    size, ratio = 12, Fraction(2)
    pairs = [(i, k) for i in range(size) for k in (i - 1, i + 1) if 0 <= k < size]
    rows = [{i * size + j: 1, k * size + j: -ratio} for i, k in pairs for j in range(size)]
    rows += [{i * size + j: 1 for j in range(size)} for i in range(size)]
    costs = [0 if i == j else Fraction(1, size) for i in range(size) for j in range(size)]
    upper = [0] * (len(rows) - size) + [1] * size
    found = exact_optimum(costs, rows, upper, slice(-size, None))
    check_optimal(found, costs, rows, upper, slice(len(rows) - size, None))
    # U* = (1 - a) / (1 + a) + 2 a / (n (1 + a)) with a = 1 / t.
    assert 1 - found.objective == Fraction(1, 3) + Fraction(2, 3) / size
