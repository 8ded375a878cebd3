r"""Maximal leakage over the whole channel: any distances between letters, any source set.

Where distances are not 0 and 1 the diagonal does not decide the rest (see :mod:`paper_repro.solvers.diagonal_mass` for where it
does). The optimum, as ``t = exp(leakage)``, is a linear program,

    minimize  sum_j max_i Q_ij   subject to   sum_ij P_v(i) Q_ij d_ij <= D for every vertex v,   rows of Q sum to 1,  Q >= 0,

and so is the least D at a t. Entries are counted in units ``D / max_v P_v(i) d_ij``, which they cannot exceed: numbers are of
order 1; the digits are those of :mod:`paper_repro.solvers.refinement`.

**Lower bound.** For dual variables y of the distortions, in the Lagrangian as penalties ``C_ij = sum_v y_v P_v(i) d_ij``, and any
u, one number a row, the duality of norms gives

    t  max_j sum_i max(0, u_i - C_ij)  +  D sum y   >=   sum u,                                                 (1)

which bounds t at a D and D at a t. It is evaluated in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.games import PerfectPrivacy
from paper_repro.solvers.proposals import Proposal
from paper_repro.solvers.refinement import Refined, exponential, power_above, to_channel
from paper_repro.types import FloatArray

__all__ = ["ChannelMassProgram"]

# Gaps, in t and relative to D, with which a program counts as solved, and with which it is put up with.
_CLOSED, _CLOSE = Fraction(1, 10**13), Fraction(1, 10**10)
# What of t is left to rounding.
_ULPS = Fraction(4, 2**52)


class ChannelMassProgram:
    """The program of this module in Q, the columns' largest entries and the distortion.

    What it proposes is certified by ``(y, u)``: dual variables of the distortions, shape (V,), and of the rows' sums, shape (M,),
    all of them Fractions.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
        Distances d.
    perfect : PerfectPrivacy
        The best constant answer.

    >>> from paper_repro.solvers.games import perfect_privacy
    >>> pair, costs = np.array([[0.6, 0.4]]), 1 - np.eye(2)
    >>> program = ChannelMassProgram(pair, costs, perfect_privacy(pair, costs))
    >>> program.at_distortion(0.2).mechanism.round(6).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, perfect: PerfectPrivacy) -> None:
        self._size, self._count, self._perfect = len(costs), len(vertices), perfect
        self._vertices, self._costs = vertices, costs
        self._charges = [
            [[Fraction(p) * Fraction(d) for d in row] for p, row in zip(vertex, costs.tolist(), strict=True)]
            for vertex in vertices.tolist()
        ]
        self._known = int(vertices.any(axis=0).sum())

    def at_distortion(self, distortion: float) -> Proposal:
        """Least leakage at a distortion below the one without leakage. Raises SolverError if no solver finds it."""
        size, allowed = self._size, Fraction(distortion)
        unit = power_above(allowed) if allowed else Fraction(0)
        cells, spent = self._cells(unit)
        rows, right = self._below(cells, len(cells)), [Fraction(0)] * len(cells)
        if allowed:
            rows += [{column: entry / unit for column, entry in row.items()} for row in spent]
            right += [allowed / unit] * self._count
        objective = [0] * len(cells) + [1] * size

        def proof(program: Refined) -> tuple[list[Fraction], list[Fraction]]:
            penalties = [-y / unit for y in program.duals[len(cells) :][: self._count]] if allowed else []
            return penalties, program.duals[-size:]

        def is_closed(matrix: FloatArray, certificate: Any, gap: Fraction) -> bool:
            found = sum(map(Fraction, matrix.max(axis=0)), Fraction(0))
            kept = float((self._vertices @ (matrix * self._costs).sum(axis=1)).max()) <= distortion * (1 + 1e-13)
            return kept and found - self.least_ratio(certificate, allowed) <= gap

        return self._solved(cells, objective, rows, right, proof, is_closed)

    def at_leakage(self, leakage: float) -> Proposal:
        """Least distortion at a positive leakage in nats. Raises SolverError if no solver finds it."""
        size, ratio = self._size, max(Fraction(1), exponential(leakage, -1) * (1 - _ULPS))
        share = max(0.0, (self._known - float(ratio)) / max(self._known - 1, 1))
        if share == 0:
            return self.at_distortion(0.0)
        unit = power_above(Fraction(share * self._perfect.distortion) * (1 + _ULPS))
        cells, spent = self._cells(unit)
        worst = len(cells) + size
        rows, right = self._below(cells, len(cells)), [Fraction(0)] * (len(cells) + self._count)
        rows += [{**{column: entry / unit for column, entry in row.items()}, worst: Fraction(-1)} for row in spent]
        rows.append({len(cells) + j: Fraction(1) for j in range(size)})
        right.append(ratio)
        objective = [0] * worst + [1]
        most = ratio * (1 + 2 * _ULPS)

        def proof(program: Refined) -> tuple[list[Fraction], list[Fraction]]:
            return [-y for y in program.duals[len(cells) :][: self._count]], [unit * u for u in program.duals[-size:]]

        def is_closed(matrix: FloatArray, certificate: Any, gap: Fraction) -> bool:
            found = Fraction(float((self._vertices @ (matrix * self._costs).sum(axis=1)).max()))
            kept = sum(map(Fraction, matrix.max(axis=0)), Fraction(0)) <= most
            return kept and found - self.least_distortion(certificate, ratio) <= gap * found

        return self._solved(cells, objective, rows, right, proof, is_closed)

    def least_ratio(self, certificate: tuple[Any, ...], distortion: Fraction) -> Fraction:
        """Bound (1) on ``exp(leakage)``, never below 1, for any certificate."""
        load = self._load(certificate)
        rest = sum(map(Fraction, certificate[1])) - distortion * sum(map(Fraction, certificate[0]))
        return max(Fraction(1), rest / load) if load > 0 else Fraction(1)

    def least_distortion(self, certificate: tuple[Any, ...], ratio: Fraction) -> Fraction:
        """Bound (1) on the distortion, never below 0, for any certificate and ``exp(leakage)``."""
        weight = sum(map(Fraction, certificate[0]))
        rest = sum(map(Fraction, certificate[1])) - ratio * self._load(certificate)
        return max(Fraction(0), rest / weight) if weight > 0 else Fraction(0)

    def _load(self, certificate: tuple[Any, ...]) -> Fraction:
        """The largest over columns of what rows have beyond their penalties."""
        penalties, rows = ([Fraction(value) for value in part] for part in certificate[:2])
        sums = [Fraction(0)] * self._size
        for i, own in enumerate(rows):
            for j in range(self._size):
                left = own - sum(
                    (y * charges[i][j] for y, charges in zip(penalties, self._charges, strict=True)), Fraction(0)
                )
                if left > 0:
                    sums[j] += left
        return max(sums)

    def _cells(self, unit: Fraction) -> tuple[list[tuple[int, int, Fraction]], list[dict[int, Fraction]]]:
        """Entries that may be positive with their units, and what each vertex is charged for them."""
        cells = []
        for i in range(self._size):
            for j in range(self._size):
                peak = max(charges[i][j] for charges in self._charges)
                if unit or not peak:
                    cells.append((i, j, min(Fraction(1), power_above(unit / peak)) if peak else Fraction(1)))
        spent = [
            {place: charges[i][j] * own for place, (i, j, own) in enumerate(cells) if charges[i][j]}
            for charges in self._charges
        ]
        return cells, spent

    @staticmethod
    def _below(cells: list[tuple[int, int, Fraction]], first: int) -> list[dict[int, Fraction]]:
        """No entry is above the largest of its column."""
        return [{place: own, first + j: Fraction(-1)} for place, (_, j, own) in enumerate(cells)]

    def _solved(
        self,
        cells: list[tuple[int, int, Fraction]],
        objective: list[int],
        rows: list[dict[int, Fraction]],
        right: list[Fraction],
        proof: Callable[[Refined], tuple[list[Fraction], list[Fraction]]],
        is_closed: Callable[[FloatArray, Any, Fraction], bool],
    ) -> Proposal:
        size, width = self._size, len(objective)
        rows = [{**row, width + number: Fraction(1)} for number, row in enumerate(rows)]  # slacks
        sums: list[dict[int, Fraction]] = [{} for _ in range(size)]
        for place, (i, _, own) in enumerate(cells):
            sums[i][place] = own
        program = Refined([*objective, *[0] * len(rows)], [*rows, *sums], [*right, *[Fraction(1)] * size])
        matrix: FloatArray = np.eye(size)
        certificate: tuple[list[Fraction], list[Fraction]] = [Fraction(1)], [Fraction(0)]

        def enough(gap: Fraction = _CLOSED) -> bool:
            nonlocal matrix, certificate
            entries = [[Fraction(0)] * size for _ in range(size)]
            for (i, j, own), value in zip(cells, program.values, strict=False):
                entries[i][j] = max(Fraction(0), own * value)
            matrix = to_channel(entries)
            penalties, duals = proof(program)
            if not penalties:  # whatever costs something is out of the question
                least = min((c for charges in self._charges for row in charges for c in row if c), default=Fraction(1))
                penalties = [max(max(map(abs, duals)), Fraction(1)) / least] * self._count
            certificate = [max(Fraction(0), y) for y in penalties], duals
            return is_closed(matrix, certificate, gap)

        if not program.refine(enough) and not enough(_CLOSE):
            raise SolverError(
                "The linear program for maximal leakage was not solved. Try a nearby distortion or leakage, or merge the "
                "rarest categories."
            )
        weights = np.array([float(y) for y in certificate[0]])
        return Proposal(matrix, weights, tuple(np.array(part, dtype=object) for part in certificate))
