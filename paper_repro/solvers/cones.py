"""Conic programs: Clarabel solves them, by one setting or another; what it says is only ever a proposal."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from paper_repro.errors import SolverError, optional
from paper_repro.types import FloatArray

__all__ = ["TwoWayProgram", "solve_cones"]

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


class TwoWayProgram:
    """Least leakage at a distortion, and least distortion at a leakage, over the same cones; each compiled once.

        minimize  worst   subject to   leakages <= worst,  distortions <= budget   (or the other way round),   constraints.

    Parameters
    ----------
    leakages, distortions : cvxpy expressions
        One entry for each thing the worst of which counts, as the vertices of a source set.
    constraints : sequence of cvxpy constraints

    >>> import cvxpy
    >>> x = cvxpy.Variable(1)
    >>> program = TwoWayProgram(cvxpy.exp(-x), x, [])
    >>> weights, duals, scale = program.solve(1.0, minimize_leakage=True)
    >>> round(program.worst, 6), weights.round(6), duals.round(6)  # the slope of exp(-x) at 1
    (0.367879, array([1.]), array([0.367879]))
    """

    def __init__(self, leakages: Any, distortions: Any, constraints: Sequence[Any]) -> None:
        self._leakages, self._distortions, self._constraints = leakages, distortions, list(constraints)
        self._compiled: dict[bool, tuple[Any, Any, Any, Any]] = {}
        self.worst = float("nan")

    def solve(self, budget: float, *, minimize_leakage: bool) -> tuple[FloatArray, FloatArray, float]:
        """Dual variables, accurate or not; the cvxpy variables and ``worst``, the optimum, have values afterwards.

        Returns
        -------
        weights : ndarray, shape (leakages,)
            Dual variables of the leakages, scaled to sum to 1; even if the leakages do not bind.
        duals : ndarray
            Dual variables of the distortions on that scale; 0 if the leakages do not bind.
        scale : float
            What dual variables of the other constraints are to be divided by.

        Raises
        ------
        SolverError
            If Clarabel gives no answer at any setting.
        """
        problem, parameter, leak, change = self._program(minimize_leakage)
        parameter.value = budget
        solve_cones(problem, budget)
        self.worst = float(problem.objective.value)
        weights, duals = (np.clip(constraint.dual_value, 0.0, None) for constraint in (leak, change))
        total = float(weights.sum())
        if total <= 0:
            return np.full_like(weights, 1 / weights.size), np.zeros_like(duals), 1.0
        return weights / total, duals / total, total

    def _program(self, minimize_leakage: bool) -> tuple[Any, Any, Any, Any]:
        cvxpy = optional("cvxpy", "cones")

        if minimize_leakage not in self._compiled:
            budget, worst = cvxpy.Parameter(nonneg=True), cvxpy.Variable()
            leakage_bound, distortion_bound = (worst, budget) if minimize_leakage else (budget, worst)
            leak, change = self._leakages <= leakage_bound, self._distortions <= distortion_bound
            problem = cvxpy.Problem(cvxpy.Minimize(worst), [leak, change, *self._constraints])
            self._compiled[minimize_leakage] = problem, budget, leak, change
        return self._compiled[minimize_leakage]


def solve_cones(problem: Any, budget: float) -> None:
    """A cvxpy problem, solved: its variables and dual variables have values afterwards, accurate or not.

    The budget, nats or a distortion, is for the message of the error.

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
            continue  # the status is still that of an earlier budget
        if problem.status == cvxpy.OPTIMAL:
            return
    if any(variable.value is None for variable in problem.variables()):
        raise SolverError(f"Clarabel stopped at budget {budget!r} with {problem.status}: {failure}")
