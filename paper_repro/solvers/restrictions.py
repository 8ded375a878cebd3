"""What a channel has to do beside its budgets, for programs; and what rounding is given to these."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from paper_repro.errors import InfeasibleError
from paper_repro.solvers.exact import exact_optimum
from paper_repro.types import BoolArray, FloatArray

__all__ = ["MOST_NATS", "SPENT", "ULPS", "Restrictions"]

# Nats beyond which 1 / t is next to no number.
MOST_NATS = 690.0
# By how much, relatively, a distortion is overspent.
SPENT = 3e-13
# What rounding is given of t, of delta and of what is kept.
ULPS = Fraction(8, 2**52)
# What rounding may change of a prior.
_SAME = 1e-12


@dataclass(frozen=True)
class Restrictions:
    """What a channel has to do beside its budgets.

    Attributes
    ----------
    floors : ndarray, shape (M,)
        Least chances of a letter to be kept.
    allowed : ndarray of bool, shape (M, M)
        Which letter may be published for which.
    kept : ndarray, shape (K, M)
        Priors whose output distribution is the same again.
    """

    floors: FloatArray
    allowed: BoolArray
    kept: FloatArray

    def are_kept(self, matrix: FloatArray) -> bool:
        """By a channel, shape (M, M): floors and zeros exactly, priors up to rounding.

        >>> every = np.ones((2, 2), dtype=bool)
        >>> Restrictions(np.full(2, 0.75), every, np.empty((0, 2))).are_kept(np.array([[0.75, 0.25], [0.3, 0.7]]))
        False
        """
        same = np.abs(self.kept @ matrix - self.kept).max(initial=0.0) <= _SAME
        return bool((matrix.diagonal() >= self.floors).all() and not matrix[~self.allowed].any() and same)

    def constant(self, vertices: FloatArray, costs: FloatArray) -> tuple[float, FloatArray] | None:
        """Least worst-case distortion of an answer that does not depend on the data, and its distribution; None if there is none.

        Vertices have shape (V, M), costs (M, M), and the distribution (M,).

        >>> every = np.ones((2, 2), dtype=bool)
        >>> found = Restrictions(np.array([0.0, 0.25]), every, np.empty((0, 2))).constant(np.array([[0.75, 0.25]]), 1 - np.eye(2))
        >>> found[0], found[1].tolist()
        (0.375, [0.75, 0.25])
        """
        size = len(costs)
        usable: list[bool] = np.asarray(self.allowed.all(axis=0)).tolist()
        # Unknowns: each letter's share beyond its floor, and the distortion.
        floors = [Fraction(f) for f in self.floors.tolist()]
        if any(floor > 0 and not fits for floor, fits in zip(floors, usable, strict=True)):
            return None
        charges = [[Fraction(x) for x in row] for row in (vertices @ costs).tolist()]
        rows: list[dict[int, Fraction]] = []
        right: list[Fraction] = []
        for charge in charges:
            rows.append({**{j: charge[j] for j in range(size) if usable[j]}, size: Fraction(-1)})
            right.append(-sum((f * c for f, c in zip(floors, charge, strict=True)), Fraction(0)))
        equal = slice(len(rows), None)
        rows.append({j: Fraction(1) for j in range(size) if usable[j]})
        right.append(1 - sum(floors, Fraction(0)))
        for prior in self.kept.tolist():
            total = sum(map(Fraction, prior))
            for j in range(size):
                rows.append({j: Fraction(1)} if usable[j] else {})
                right.append(Fraction(prior[j]) / total - floors[j])
        try:
            found = exact_optimum([0] * size + [1], rows, right, equal=equal)
        except InfeasibleError:
            return None
        shares = [float(floor + value) for floor, value in zip(floors, found.values, strict=False)]
        return float(found.objective), np.array(shares) / sum(shares)
