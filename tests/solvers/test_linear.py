"""The linear-program interface: its optima against SciPy's, its bases, and how it says no."""

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from paper_repro.errors import InfeasibleError, SolverError
from paper_repro.solvers.linear import optimal_basis, run_bounded, stopped

# Both solvers are given tolerances of 1e-9 or tighter on numbers of order 1.
AGREEMENT = 1e-8


def random_program(rng, rows=6, columns=5):
    """Feasible at a random point, and bounded: all costs are positive combinations of rows and bounds."""
    matrix = rng.normal(size=(rows, columns))
    upper = matrix @ rng.random(columns) + rng.random(rows)
    costs = -matrix.T @ rng.random(rows) + rng.random(columns)
    return costs, matrix, upper


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("equalities", [0, 2])
def test_optimum_and_basis(seed, equalities):
    costs, matrix, upper = random_program(np.random.default_rng(seed))
    if equalities:  # through a point that satisfies the other rows
        upper[:equalities] = matrix[:equalities] @ np.linalg.lstsq(matrix, upper - 1, rcond=None)[0]
    peer = linprog(
        costs,
        A_ub=matrix[equalities:],
        b_ub=upper[equalities:],
        A_eq=matrix[:equalities] if equalities else None,
        b_eq=upper[:equalities] if equalities else None,
    )
    if peer.status != 0:
        with pytest.raises(SolverError):
            optimal_basis(costs, matrix, upper, equal=slice(0, equalities))
        return
    basis = optimal_basis(costs, matrix, upper, equal=slice(0, equalities))
    assert basis.objective == pytest.approx(peer.fun, abs=AGREEMENT)
    assert basis.columns.sum() + basis.rows.sum() == len(upper)
    # The basis alone gives the solution: tight rows determine the basic columns, the other columns are 0.
    solution = np.zeros(len(costs))
    solution[basis.columns] = np.linalg.solve(matrix[~basis.rows][:, basis.columns], upper[~basis.rows])
    assert solution == pytest.approx(peer.x, abs=AGREEMENT)


@pytest.mark.parametrize("seed", range(10))
def test_a_start_changes_nothing_but_the_way(seed):
    rng = np.random.default_rng(seed)
    costs, matrix, upper = random_program(rng)
    start = optimal_basis(costs, matrix, upper)
    upper = upper + 0.1 * rng.random(len(upper))
    warm, cold = optimal_basis(costs, matrix, upper, start=start), optimal_basis(costs, matrix, upper)
    assert warm.objective == pytest.approx(cold.objective, abs=AGREEMENT)


def test_rows_that_contradict_each_other():
    with pytest.raises(
        InfeasibleError, match=r"No point satisfies all rows of the linear program\. Relax a constraint\."
    ):
        optimal_basis(np.ones(1), np.array([[1.0], [-1.0]]), np.array([1.0, -2.0]))


def test_a_program_that_takes_too_long_is_interrupted_by_a_count():
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("presolve", "off")
    for _ in range(3):
        model.addVar(0.0, 1.0)
        model.changeColCost(model.getNumCol() - 1, -1.0)
    for row in range(3):
        model.addRow(-highspy.kHighsInf, 1.0, 2, np.delete(np.arange(3, dtype=np.int32), row), np.ones(2))
    assert run_bounded(model, 0) == highspy.HighsModelStatus.kInterrupt
    assert "stopped with Interrupted by user on a program with 3 rows and 3 columns. Try a nearby distortion" in str(
        stopped(model)
    )
    assert run_bounded(model) == highspy.HighsModelStatus.kOptimal
    assert model.getInfo().objective_function_value == pytest.approx(-1.5, abs=AGREEMENT)


def test_an_unbounded_program():
    with pytest.raises(SolverError, match=r"HiGHS stopped with .* on a program with 1 rows and 2 columns"):
        optimal_basis(np.array([-1.0, 0.0]), np.array([[0.0, 1.0]]), np.array([1.0]))
