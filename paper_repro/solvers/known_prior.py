r"""One known prior, of as many letters as there are: closed forms for the price of a sort, and interval sets by the same forms.

**Differential privacy.** With the prior sorted ``P_0 >= P_1 >= ...`` and ``tail_n`` the mass beyond the n likeliest letters,
response on those n letters (keep each of them with probability ``t / (t + n - 1)``, never publish another one) has distortion
``(tail_n + (n - 1) / t) / (1 + (n - 1) / t)``, and some n is best (Theorem 13, Zhong and Bu 2022). Solved for t at a distortion
D that is ``t_n = (n - 1)(1 - D) / (D - tail_n)``, so that the least leakage is the least ``log t_n``, or 0 where n = 1 will do.

**Maximal leakage.** The least likely letters are given up first, the last of them in part (Theorem 14).

**Letters that are equally likely are treated alike.** Response on n letters where ``P_{n-1} = P_n`` is never better than on all
of these equals or none of them, since its distortion is a ratio of linear functions of n in between; and what is given up of
equals in part is spread over all of them. So a mechanism made here has ``D_i`` falling in ``P_i``, and this serves

**interval sets** ``{lower <= P <= upper, sum P = 1}``. Their member ``P* = clip(mu, lower, upper)``, with mu such that it sums
to 1, is majorized by every other one (Veinott 1971): for a convex function f and its slope s at mu,

    sum_i f(P_i) - f(P*_i) >= sum_i f'(P*_i) (P_i - P*_i) >= s sum_i (P_i - P*_i) = 0,

since a letter with ``P*_i > mu`` is at its lower bound, so that ``P_i >= P*_i`` and ``f'(P*_i) >= s``, and one with ``P*_i < mu``
at its upper bound, the other way round. With ``f(x) = max(0, x - c)`` this says ``top_n(P) >= top_n(P*)`` for every n, also
between whole numbers; both least distortions, ``1 - max_n t / (t + n - 1) top_n(P)`` and ``1 - top_S(P)``, fall in ``top_n``: so
P* is least favorable at every budget. And a mechanism made for P* keeps its distortion over the whole set: to go from P* to
another member takes mass from letters with ``P*_i <= mu`` (others are at their lower bounds) to letters with ``P*_j >= mu``, and
``D_j <= D_i``. The whole curve of an interval set is that of P* alone, and no vertex is listed.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np

from paper_repro.mechanisms import Mechanism
from paper_repro.types import FloatArray

__all__ = ["MassOfPrior", "RatioOfPrior", "given_up"]


class _OfPrior:
    """What the two share.

    Parameters
    ----------
    prior : ndarray, shape (M,)
        A distribution (not checked again here).
    """

    def __init__(self, prior: FloatArray) -> None:
        self.prior = prior
        self._rising = np.sort(prior)

    @property
    def perfect(self) -> float:
        """The least distortion without leakage: ``1 - P_0``."""
        return float(self._tails[-1])

    @cached_property
    def constant(self) -> Mechanism:
        """An answer that needs no data, spread over the likeliest letters."""
        return Mechanism.constant(self.likeliest)

    @cached_property
    def likeliest(self) -> FloatArray:
        """The uniform distribution on the likeliest letters, shape (M,)."""
        likeliest = self.prior == self._rising[-1]
        return likeliest / likeliest.sum()

    @cached_property
    def _tails(self) -> FloatArray:
        """Mass beyond the n likeliest letters, for n = M .. 1: rises from 0, each sum with its own relative precision."""
        tails = np.zeros(len(self._rising))
        np.cumsum(self._rising[:-1], out=tails[1:])
        return tails

    def _equals(self, place: int) -> slice:
        """Where in rising order the letters stand that are as likely as that one."""
        value = self._rising[place]
        return slice(int(self._rising.searchsorted(value)), int(self._rising.searchsorted(value, side="right")))


class RatioOfPrior(_OfPrior):
    """Differential privacy, where every two letters are neighbors.

    >>> program = RatioOfPrior(np.array([0.5, 0.3, 0.2]))
    >>> program.at_distortion(0.45).matrix.round(4)[0]
    array([0.6875, 0.3125, 0.    ])
    >>> round(math.exp(program.least_leakage(0.3)), 12), round(program.least_distortion(math.log(14 / 3)), 12)
    (4.666666666667, 0.3)
    """

    def at_distortion(self, distortion: float) -> Mechanism:
        """The mechanism of least leakage at a distortion in ``[0, 1 - P_0)``."""
        if distortion == 0:
            return Mechanism.from_distortions(np.zeros(len(self.prior)))
        kept = self._equals(self._best_place(distortion)[0])
        mass = float(self._rising[kept.start :].sum())
        # Added up in pairs: of a million equal terms, a running sum keeps two digits less.
        rest = distortion - float(self._rising[: kept.start].sum())
        return self._response(kept.start, max(0.0, rest) / mass)

    def at_leakage(self, leakage: float) -> Mechanism:
        """The mechanism of least distortion at a positive leakage in nats."""
        place, odds = int(self._distortions(leakage).argmin()), math.exp(-leakage)
        if place == len(self.prior) - 1:
            return self.constant
        start = self._equals(place).start
        others = (len(self.prior) - start - 1) * odds
        return self._response(start, others / (1 + others))

    def least_leakage(self, distortion: float) -> float:
        """Least leakage in nats of any mechanism at a distortion; exact up to rounding."""
        if distortion >= self.perfect:
            return 0.0
        if distortion == 0:
            return math.inf
        return max(0.0, math.log1p(-distortion) - math.log(self._best_place(distortion)[1]))

    def least_distortion(self, leakage: float) -> float:
        """Least distortion of any mechanism at a leakage in nats; exact up to rounding."""
        return float(self._distortions(leakage).min())

    def _response(self, start: int, changed: float) -> Mechanism:
        return Mechanism.from_distortions(np.where(self.prior >= self._rising[start], changed, 1.0))

    def _best_place(self, distortion: float) -> tuple[int, float]:
        """The least likely letter that is published, in rising order, and the largest ``(D - tail_n) / (n - 1)``."""
        if self._asked[0] != distortion:
            used = int(self._tails.searchsorted(distortion))
            inverse = distortion - self._tails[:used]
            inverse /= self._others[:used]
            place = int(inverse.argmax())
            self._asked = distortion, (place, float(inverse[place]))
        return self._asked[1]

    _asked: tuple[float, tuple[int, float]] = math.nan, (0, 0.0)

    def _distortions(self, leakage: float) -> FloatArray:
        odds = self._others * math.exp(-leakage)
        found = odds + self._tails
        odds += 1
        found /= odds
        return found

    @cached_property
    def _others(self) -> FloatArray:
        return np.arange(len(self.prior) - 1.0, -1.0, -1.0)


class MassOfPrior(_OfPrior):
    """Maximal leakage: as little probability as possible is kept, all letters together.

    >>> program = MassOfPrior(np.array([0.5, 0.3, 0.2]))
    >>> program.at_distortion(0.2).matrix.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    >>> round(math.exp(program.least_leakage(0.35)), 12), round(program.least_distortion(math.log(1.5)), 12)
    (1.5, 0.35)
    """

    def at_distortion(self, distortion: float) -> Mechanism:
        """The mechanism of least leakage at a distortion in ``[0, 1 - P_0)``."""
        return self._giving_up(*self._at_distortion(distortion))

    def at_leakage(self, leakage: float) -> Mechanism:
        """The mechanism of least distortion at a positive leakage in nats."""
        return self._giving_up(*self._at_leakage(leakage))

    def least_leakage(self, distortion: float) -> float:
        """Least leakage in nats of any mechanism at a distortion; exact up to rounding."""
        if distortion >= self.perfect:
            return 0.0
        equals, part = self._at_distortion(distortion)
        more_likely, as_likely = len(self.prior) - equals.stop, equals.stop - equals.start
        return math.log(max(1.0, more_likely + as_likely * (1 - part)))

    def least_distortion(self, leakage: float) -> float:
        """Least distortion of any mechanism at a leakage in nats; exact up to rounding."""
        equals, part = self._at_leakage(leakage)
        mass = (equals.stop - equals.start) * float(self._rising[equals.start])
        return float(self._tails[equals.start]) + part * mass

    def _at_distortion(self, distortion: float) -> tuple[slice, float]:
        """Which equally likely letters are given up in part, in rising order, and which part of each."""
        ends = self._tails[1:]
        equals = self._equals(int(np.searchsorted(ends, distortion, side="right")))
        mass = (equals.stop - equals.start) * float(self._rising[equals.start])
        return equals, min(1.0, max(0.0, distortion - float(self._tails[equals.start])) / mass)

    def _at_leakage(self, leakage: float) -> tuple[slice, float]:
        never = int(np.searchsorted(self._rising, 0.0, side="right"))
        changed = given_up(len(self.prior) - never, leakage)
        if not changed:
            return self._at_distortion(0.0)
        equals = self._equals(never + math.ceil(changed) - 1)
        return equals, float(never + changed - equals.start) / (equals.stop - equals.start)

    def _giving_up(self, equals: slice, part: float) -> Mechanism:
        value = self._rising[equals.start]
        changed = np.where(self.prior < value, 1.0, 0.0)
        changed[self.prior == value] = part
        return Mechanism.from_distortions(changed)


def given_up(size: int, leakage: float) -> Fraction:
    """``M - exp(leakage)``, the leakage in nats, which floats would cancel where nearly everything leaks; at least 0.

    >>> round(float(given_up(3, 1.0)), 12)
    0.281718171541
    """
    if leakage > math.log(size) + 1e-9:
        return Fraction(0)
    with localcontext(prec=50):
        return max(Fraction(0), Fraction(size - Decimal(leakage).exp()))
