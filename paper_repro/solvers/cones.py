"""Conic programs: Clarabel solves them, by one setting or another; what it says is only ever a proposal."""

from __future__ import annotations

import warnings
from typing import Any

from paper_repro.errors import SolverError, optional

__all__ = ["solve_cones"]

# Tighter than Clarabel can always reach. What stops it at one setting seldom does at another.
_TIGHT, _LOOSE = (
    {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance} for tolerance in (1e-12, 1e-10)
)
_ATTEMPTS: tuple[dict[str, Any], ...] = (
    _TIGHT,
    _LOOSE,
    _TIGHT | {"static_regularization_constant": 1e-12},
    _LOOSE | {"equilibrate_enable": False},
)


def solve_cones(problem: Any, budget: float) -> None:
    """Solve a cvxpy problem; its variables and multipliers have values afterwards, accurate or not.

    Raises
    ------
    SolverError
        If Clarabel gives no answer at any setting.

    >>> import cvxpy
    >>> x = cvxpy.Variable()
    >>> solve_cones(cvxpy.Problem(cvxpy.Minimize(cvxpy.exp(x)), [x >= 1.0]), 1.0)
    >>> round(float(x.value), 6)
    1.0
    """
    cvxpy = optional("cvxpy", "cones")
    failure = "no answer"
    for variable in problem.variables():
        variable.value = None  # nothing is left of an earlier budget
    for options in _ATTEMPTS:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the certificate decides
                problem.solve(solver="CLARABEL", **options)
        except cvxpy.SolverError as error:
            failure = str(error)
        if problem.status == cvxpy.OPTIMAL:
            return
    if any(variable.value is None for variable in problem.variables()):
        raise SolverError(f"Clarabel stopped at budget {budget!r} with {problem.status}: {failure}")
