"""Linear programs: HiGHS finds the optimal basis, and the callers compute their numbers from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.errors import InfeasibleError, SolverError
from paper_repro.types import BoolArray, FloatArray

__all__ = ["Basis", "optimal_basis"]


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
        model.run()
        if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            raise InfeasibleError("no point satisfies all rows of the linear program")
        if model.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            missed = columns @ np.array(model.getSolution().col_value) - upper
            if max(missed.max(initial=0.0), np.abs(missed[equal]).max(initial=0.0)) <= _MISSED:
                break  # HiGHS looks at bounds alone: with an unstable basis, rows may be off
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SolverError(
            f"HiGHS stopped with {model.modelStatusToString(model.getModelStatus())} on a program with "
            f"{matrix.shape[0]} rows and {matrix.shape[1]} columns"
        )
    basis, basic = model.getBasis(), highspy.HighsBasisStatus.kBasic
    return Basis(
        columns=np.array([status == basic for status in basis.col_status]),
        rows=np.array([status == basic for status in basis.row_status]),
        objective=model.getInfo().objective_function_value,
        values=np.array(model.getSolution().col_value),
        duals=np.array(model.getSolution().row_dual),
        raw=basis,
    )
