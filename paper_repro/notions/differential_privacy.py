"""Differential privacy: no letter may change the probability of any output by more than a factor exp(leakage)."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.mechanisms import Mechanism
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.solvers.clique import CliqueProgram, Optimum, least_distortion_of_prior
from paper_repro.source_sets import SourceSet

__all__ = ["DifferentialPrivacy"]


class DifferentialPrivacy(Notion):
    """Local differential privacy: every two letters are neighbors (Definition 3, Kalantari et al. 2018).

    The leakage is ``log max Q_ij / Q_kj`` over inputs i, k and outputs j. It does not depend on the source set, which enters
    through the distortion alone. The optimum is exact for every source set: one linear program over the diagonal
    (see :mod:`paper_repro.solvers.clique`), certified by a least favorable prior within 1e-9 in distortion.

    Examples
    --------
    >>> round(DifferentialPrivacy().leakage([[0.75, 0.25], [0.25, 0.75]]), 12) == round(math.log(3), 12)
    True
    >>> DifferentialPrivacy().leakage([[1.0, 0.0], [0.5, 0.5]])
    inf
    """

    name = "differential privacy"
    gap_unit = "distortion"
    tolerance = 1e-9

    def leakage(self, mechanism: Mechanism | ArrayLike, source: SourceSet | None = None) -> float:
        """Leakage in nats, evaluated in exact rational arithmetic and rounded up.

        Every ratio of two entries of a column, taken as the rationals that the stored floats are, is at most
        ``exp(leakage)``. Infinite if a column has zero and non-zero entries. ``source`` is not needed.
        """
        matrix = (mechanism if isinstance(mechanism, Mechanism) else Mechanism(mechanism)).matrix
        largest, smallest = matrix.max(axis=0), matrix.min(axis=0)
        used = largest > 0
        largest, smallest = largest[used], smallest[used]
        if (smallest == 0).any():
            return math.inf
        logs = np.log(largest) - np.log(smallest)
        close = np.flatnonzero(logs >= logs.max() - 1e-9)
        ratio = max(Fraction(largest[column]) / Fraction(smallest[column]) for column in close)
        return _log_rounded_up(ratio)

    def optimizer(self, source: SourceSet) -> Optimizer:
        return _CliqueOptimizer(source)


class _CliqueOptimizer(Optimizer):
    def __init__(self, source: SourceSet) -> None:
        super().__init__(source)
        self._program = CliqueProgram(source.vertices, self.perfect)

    def _at_distortion(self, distortion: float) -> Proposal:
        return self._propose(self._program.at_distortion(distortion))

    def _at_leakage(self, leakage: float) -> Proposal | None:
        found = self._program.at_leakage(leakage)
        return None if found is None else self._propose(found)

    def _propose(self, found: Optimum) -> Proposal:
        mechanism = Mechanism.from_distortions(found.distortions, self.source.labels)
        return Proposal(mechanism, found.prior, np.zeros(self.source.alphabet_size))

    def gap(self, proposal: Proposal, leakage: float, distortion: float) -> float:
        """In distortion, since in leakage it says nothing at the jump: there the prior alone may need none."""
        return distortion - least_distortion_of_prior(proposal.prior, leakage)


def _log_rounded_up(ratio: Fraction) -> float:
    """The smallest float whose exponential is at least the ratio."""
    with localcontext() as context:
        context.prec = 40
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        rounded = float(exact)
        return rounded if Decimal(rounded) >= exact else math.nextafter(rounded, math.inf)
