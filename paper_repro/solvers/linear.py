"""Linear programs: HiGHS finds the optimal basis, and the callers compute their numbers from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.errors import InfeasibleError, SolverError
from paper_repro.types import BoolArray, FloatArray

__all__ = ["Basis", "optimal_basis", "run_bounded", "stopped"]


# How often HiGHS may ask, for each row and column, whether to go on, as it does at each iteration and at each new beginning.
_ASKS = 100
# How far rows may be off.
_MISSED = 1e-8
# Numerical trouble is rare, and one of these has always been enough to get over it.
_ATTEMPTS: tuple[dict[str, Any], ...] = (
    {},
    {"presolve": "on"},
    {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    {"solver": "ipm"},
)


@dataclass(frozen=True)
class Basis:
    """An optimal basis, and the solution that HiGHS computed from it.

    Attributes
    ----------
    columns, rows : ndarrays of bool, shapes (unknowns,) and (rows,)
        True where a column, or a row's slack, is basic; the rest sit exactly at their bound.
    objective : float
        In the unit of the costs: nats, a ratio or a distortion.
    values, duals : ndarrays, shapes (unknowns,) and (rows,)
        The unknowns, and the rows' dual variables: the change of the objective with each bound (none above 0 at an inequality).
    """

    columns: BoolArray
    rows: BoolArray
    objective: float
    values: FloatArray
    duals: FloatArray
    raw: Any


def run_bounded(model: Any, asks: int = _ASKS) -> Any:
    """Run HiGHS, and return its model status: interrupted, if it asked too often whether to go on, for each row and column.

    Where numbers are hard it may go round in circles, some of them without an iteration. What is counted is no time, so that a
    loaded machine gives up nothing that a quiet one solves.

    >>> import highspy
    >>> model = highspy.Highs()
    >>> _ = model.setOptionValue("output_flag", False), model.addVar(1.0, 2.0)
    >>> run_bounded(model) == highspy.HighsModelStatus.kOptimal
    True
    """
    import highspy

    left = [asks * (10 + model.getNumRow() + model.getNumCol())]

    def go_on(kind: Any, message: str, found: Any, answer: Any, data: Any) -> None:
        left[0] -= 1
        answer.user_interrupt = left[0] < 0

    kinds = highspy.cb.HighsCallbackType
    model.setCallback(go_on, None)
    for kind in (kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt):
        model.startCallback(kind)
    model.run()
    return model.getModelStatus()


def stopped(model: Any) -> str:
    """That HiGHS found no optimum, and what may help.

    >>> import highspy
    >>> print(stopped(highspy.Highs()))
    HiGHS stopped with Not Set on a program with 0 rows and 0 columns. Try a nearby distortion or leakage, or merge categories or
    priors that are almost equal.
    """
    return (
        f"HiGHS stopped with {model.modelStatusToString(model.getModelStatus())} on a program with {model.getNumRow()} rows and "
        f"{model.getNumCol()} columns. Try a nearby distortion or leakage, or merge categories or priors that are almost equal."
    )


def optimal_basis(
    costs: FloatArray,
    matrix: Any,
    upper: FloatArray,
    equal: slice = slice(0, 0),
    start: Basis | None = None,
    large: bool = False,
) -> Basis:
    """Solve: minimize costs . x subject to matrix x <= upper, x >= 0; the rows in ``equal`` are equalities.

    Costs have shape (unknowns,), upper (rows,). ``start`` is the basis of a similar program, to begin from; ``large``
    programs are solved by the interior-point method and then brought to a basis. Vertices are told apart by the basis, not by
    rounding x. ``matrix`` may be sparse.

    Raises
    ------
    InfeasibleError
        If no x satisfies the rows.
    SolverError
        If HiGHS finds no optimum for another reason.

    >>> optimal_basis(np.array([-1.0, -2.0]), np.array([[1.0, 1.0]]), np.array([4.0])).columns
    array([False,  True])
    """
    import highspy
    from scipy.sparse import csc_matrix

    columns = csc_matrix(matrix)
    program: Any = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = costs
    program.col_lower_ = np.zeros(len(costs))
    program.col_upper_ = np.full(len(costs), highspy.kHighsInf)
    lower = np.full(len(upper), -highspy.kHighsInf)
    lower[equal] = upper[equal]
    program.row_lower_, program.row_upper_ = lower, upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = columns.indptr, columns.indices
    program.a_matrix_.value_ = columns.data

    model = highspy.Highs()
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": 1,
        "solver": "simplex",
        "presolve": "off",  # the basis is what is wanted, and a warm start needs it
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "small_matrix_value": 1e-12,
    }
    if large:
        options |= {"solver": "ipm", "presolve": "on"}
    for option, value in options.items():
        model.setOptionValue(option, value)
    model.passModel(program)
    if start is not None:
        model.setBasis(start.raw)
    for retry in _ATTEMPTS:
        for option, value in retry.items():
            model.setOptionValue(option, value)
            model.clearSolver()
        status = run_bounded(model)
        if status == highspy.HighsModelStatus.kInfeasible:
            raise InfeasibleError("No point satisfies all rows of the linear program. Relax a constraint.")
        if status == highspy.HighsModelStatus.kOptimal:
            missed = columns @ np.array(model.getSolution().col_value) - upper
            if max(missed.max(initial=0.0), np.abs(missed[equal]).max(initial=0.0)) <= _MISSED:
                break  # HiGHS looks at bounds alone: with an unstable basis, rows may be off
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(stopped(model))
    basis, basic = model.getBasis(), highspy.HighsBasisStatus.kBasic
    return Basis(
        columns=np.array([status == basic for status in basis.col_status]),
        rows=np.array([status == basic for status in basis.row_status]),
        objective=model.getInfo().objective_function_value,
        values=np.array(model.getSolution().col_value),
        duals=np.array(model.getSolution().row_dual),
        raw=basis,
    )
