r"""Cells of the programs for information: a probability, what it is published with, and what it leaks.

Mutual information and Sibson information of every order alpha >= 1 are one family. For an input whose share ``a`` goes to an
output (or a group of outputs) that is published with weight ``rho``, let ``p >= a^alpha rho^(1 - alpha)`` be its *moment* and
``e = (p - a) / (alpha - 1)`` its *excess*, in the limit ``e >= a log(a / rho)``. With total weight R,

    F = (1/alpha) sum P p + (1 - 1/alpha) R = 1 + (1 - 1/alpha) t,     t = sum P e + R - 1,                           (1)

is least over R where ``R^alpha = sum P p`` for weights that sum to 1, and then ``log F = (1 - 1/alpha) I_alpha``; at order 1,
t is the mutual information itself. All programs are linear in excesses or moments, shares and weights, but for the cells

    h = G - a >= 0,    G = p^(1/alpha) rho^(1 - 1/alpha)   (order 1: h = e + a log(rho / a) >= 0),     a >= 0,        (2)

G being concave. What an interior-point step needs of a cell, with y the dual variable of h, z that of a, and everything relative
(``da / a``), is its Hessian with the moment eliminated, ``k b b' + diag(a z, 0)`` with ``b = (-a, G)`` and, if h is measured in
units of ``c = 1 - 1/alpha``, ``k = y / (G - c a)``: one term, whatever the order. Cells hold ``S``, with ``G = a exp(c S)``,
in place of the moment, so that h keeps its relative precision, and p follows without under- or overflow of its powers.
"""

from __future__ import annotations

import math

import numpy as np

from paper_repro.types import FloatArray

__all__ = [
    "Cells",
    "bound_on_distortion",
    "bound_on_information",
    "in_excess",
    "leakage_level",
    "longest_step",
    "solved",
]

# Up to this order excesses are the unknowns, beyond it moments: each loses digits at the other's end.
_ORDER_OF_EXCESS = 1.5
# How near to a bound a step may go.
_INSIDE = 0.95


def in_excess(alpha: float) -> bool:
    """Whether the programs of an order are written in excesses e (and leakage t), or in moments p (and alpha F, dimensionless).

    >>> in_excess(1.0), in_excess(2.0)
    (True, False)
    """
    return alpha < _ORDER_OF_EXCESS


class Cells:
    """Cells of one order, as arrays of one shape; probabilities and weights, all dimensionless.

    Parameters
    ----------
    alpha : float >= 1
    amounts, outputs : ndarrays of one shape
        a and rho, positive.
    slacks : ndarray, of that shape
        S, positive.

    >>> cells = Cells(2.0, np.array([0.5]), np.array([0.25]), np.array([1e-9]))
    >>> cells.moments.round(6)  # a^2 / rho
    array([1.])
    """

    def __init__(self, alpha: float, amounts: FloatArray, outputs: FloatArray, slacks: FloatArray) -> None:
        self.alpha, self.amounts, self.outputs, self.slacks = alpha, amounts, outputs, slacks
        rate, share = alpha - 1, (alpha - 1) / alpha
        reach = slacks + np.log(amounts / outputs)
        # S by its logarithmic derivatives with respect to moment (or excess) and amount; that to the output is 1.
        if in_excess(alpha):
            self.unknowns = amounts * (np.expm1(rate * reach) / rate if rate > 0 else reach)
            self.moments = amounts + rate * self.unknowns
            self.by_unknown: FloatArray | float = 1.0
            self.by_amount: FloatArray | float = -(amounts + alpha * self.unknowns) / self.moments
            self._mixed: FloatArray | float = -amounts / self.moments
            self._bent = -rate
        else:
            self.unknowns = self.moments = amounts * np.exp(rate * reach)
            self.by_unknown, self.by_amount, self._mixed, self._bent = 1 / rate, -alpha / rate, 0.0, -1 / rate
        self.peaks = amounts * np.exp(share * slacks)  # G
        self.heights = amounts * (np.expm1(share * slacks) / share if rate > 0 else slacks)
        self.steepness = share / -np.expm1(-share * slacks) if rate > 0 else 1 / slacks

    @classmethod
    def with_moments(cls, alpha: float, amounts: FloatArray, outputs: FloatArray, moment: float) -> Cells:
        """Cells well inside, arrays of any one shape, with moments of at least this size (dimensionless)."""
        slacks = np.full(amounts.shape, 1 / max(1.0, alpha - 1))
        if not in_excess(alpha):
            slacks = np.maximum(slacks, np.log(moment / amounts) / (alpha - 1) + np.log(outputs / amounts))
        return cls(alpha, amounts, outputs, slacks)

    def linearize(self, barrier: FloatArray | float, duals: FloatArray, bounds: FloatArray) -> None:
        """Gradient of the barrier and the Lagrangian's Hessian, moments eliminated; arrays of the cells' shape, dimensionless."""
        steep, rate = self.steepness, self.alpha - 1
        self.by_amounts = -barrier * (2 + steep * self.by_amount)
        self.by_unknowns = -barrier * steep * self.by_unknown
        self.by_outputs = -barrier * steep
        active = duals * self.heights
        curved = active * steep**2 * np.exp(-rate / self.alpha * self.slacks)
        self.stiffness = curved * self.by_unknown**2 - active * steep * self._bent
        self.amount_pull = curved * self.by_amount * self.by_unknown - active * steep * self._mixed
        self.output_pull = curved * self.by_unknown
        self.curvature = duals / (self.peaks - rate / self.alpha * self.amounts)  # k
        self.bound = bounds * self.amounts

    def step(self, amounts: FloatArray, outputs: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Changes of S, relative ones of the unknowns, for relative ones of the others; of one shape, dimensionless."""
        unknowns = (
            -(self.by_unknowns + self.amount_pull * amounts + self.output_pull * outputs + prices * self.moments)
            / self.stiffness
        )
        return self.by_amount * amounts + self.by_unknown * unknowns + outputs, unknowns

    def dual_step(
        self,
        barrier: FloatArray | float,
        duals: FloatArray,
        bounds: FloatArray,
        amounts: FloatArray,
        slacks: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Changes of the duals y and z, for relative ones of amounts and those of S; of the cells' shape, dimensionless."""
        heights = amounts + self.steepness * slacks
        return barrier / self.heights - duals * (1 + heights), barrier / self.amounts - bounds * (1 + amounts)


def bound_on_information(alpha: float, worth: float, peak: float, allowance: float) -> float:
    """Lower bound in nats on information, never below 0, where ``F >= (1 + (alpha - 1) worth - c allowance) / exp(c peak)``.

    >>> bound_on_information(1.0, 0.75, 0.25, 0.25)
    0.25
    """
    share = (alpha - 1) / alpha
    if share == 0:
        return max(0.0, worth - allowance - peak)
    excess = (alpha - 1) * worth - share * allowance
    return max(0.0, math.log1p(excess) / share - peak) if excess > -1 else 0.0


def bound_on_distortion(alpha: float, worth: float, peak: float, price: float, leakage: float) -> float:
    """The same, with the distortion times ``price`` for the allowance, solved for the distortion at a leakage; never below 0.

    >>> bound_on_distortion(1.0, 0.75, 0.25, 2.0, 0.25)
    0.125
    """
    share, level = (alpha - 1) / alpha, leakage + peak
    if price == 0 or share * level > 700:
        return 0.0
    allowed = math.expm1(share * level) / share if share > 0 else level
    return max(0.0, (alpha * worth - allowed) / price)


def leakage_level(alpha: float, leakage: float) -> float:
    """What the unknowns may add up to at a leakage in nats: t, or alpha F; dimensionless.

    >>> leakage_level(1.0, 0.25)
    0.25
    """
    share = (alpha - 1) / alpha
    if share == 0:
        return leakage
    return math.expm1(share * leakage) / share if in_excess(alpha) else alpha * math.exp(share * leakage)


def longest_step(*pairs: tuple[FloatArray | float, FloatArray | float]) -> float:
    """How much of a step keeps all positive, at most all of it; pairs are arrays of one shape. Dimensionless.

    >>> longest_step((np.ones(2), np.array([-0.5, -1.9])))
    0.5
    """
    length = 1.0
    for place, step in pairs:
        falling = np.asarray(step) < 0
        if falling.any():
            ratios = (np.asarray(place) / np.where(falling, -np.asarray(step), 1.0))[falling]
            length = min(length, _INSIDE * float(ratios.min()))
    return length


def solved(system: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a square system, shape (n,), or what comes next to one.

    >>> solved(np.array([[2.0]]), np.array([1.0]))
    array([0.5])
    """
    try:
        return np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, right, rcond=1e-15)[0]
