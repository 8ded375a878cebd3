r"""A table between bounds with given sums of rows and columns, or why there is none.

A flow from rows to columns, of which each cell takes so much at most, is as large as the least of its cuts. If it falls short of
the sums ``s_i`` of rows and ``d_j`` of columns, that cut names what is asked too much (Hoffman 1960): rows I and columns J with

    sum_{i in I} s_i  >  sum_{j not in J} d_j + sum_{i in I, j in J} W_ij.                                          (1)
"""

from __future__ import annotations

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.types import BoolArray, FloatArray

__all__ = ["Cut", "filled"]

# All that flows in the program's unit: HiGHS is off by 1e-10 in each sum.
_WHOLE = 1e5


Cut = tuple[BoolArray, BoolArray]


def filled(rooms: FloatArray, rows: FloatArray, columns: FloatArray, missed: float = 1e-12) -> FloatArray | Cut:
    """A table of these sums; or rows and columns, shapes (M,) and (N,), for which (1) holds.

    Rooms, the most that cells take, have shape (M, N), sums (M,) and (N,), all probabilities or of another one unit, and those of
    rows and columns the same in all. The sums of the table are within a part ``missed`` of that.

    Raises SolverError if neither is found.

    >>> filled(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.5]), np.array([1.0, 0.5])).round(9).tolist()
    [[0.5, 0.5], [0.5, 0.0]]
    >>> chosen, other = filled(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    >>> chosen.tolist(), other.tolist()
    ([False, True], [False, True])
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    whole = float(rows.sum())
    if whole == 0:
        return np.zeros_like(rooms)
    scale, (froms, tos) = _WHOLE / whole, np.nonzero(rooms)
    cells = np.arange(len(froms))
    places = np.concatenate([froms, tos + len(rows)]), np.concatenate([cells, cells])
    sums = csc_array((np.ones(2 * len(cells)), places), shape=(len(rows) + len(columns), len(cells)))
    found = linprog(
        np.full(len(cells), -1.0),
        A_ub=sums,
        b_ub=scale * np.concatenate([rows, columns]),
        bounds=np.column_stack([np.zeros(len(cells)), scale * rooms[froms, tos]]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        raise SolverError(
            f"No table with these sums was found: HiGHS ended with status {found.status}. Try a nearby distortion or leakage."
        )
    if _WHOLE + found.fun > missed * _WHOLE:
        prices = -found.ineqlin.marginals  # 0 or 1, of a least cut
        chosen, other = prices[: len(rows)] < 0.5, prices[len(rows) :] < 0.5
        return chosen, other
    table = np.zeros_like(rooms)
    table[froms, tos] = found.x / scale
    return table
