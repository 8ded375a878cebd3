r"""Differential privacy and maximal leakage for few vertices over many letters: which letters matter is found on the way.

Give letter i up in part ``d_i`` in [0, 1]; ``x_i = 1 - d_i`` of it is kept. Let ``X = sum_i x_i`` and ``u = max_v P_v . d``.

**Differential privacy.** The mechanism with ``D_i = c + (1 - c) d_i`` and ``c = (X - 1) / (t + X - 1)`` has ratio t and
distortion ``c + (1 - c) u``: a mixture of responses on subsets of the letters, and every diagonal can be written so (see
:mod:`paper_repro.solvers.diagonal_ratio`). At a ratio t, ``1 - D = t theta`` with ``theta = (1 - u) / (X + t - 1)``, and at a
distortion D, ``(1 - D) / t = theta`` with ``theta = (D - u) / (X - 1)``: both times as large as possible. So (Dinkelbach)
theta is where

    max over d of  1 - u - theta X  =  min over priors P of the hull of  sum_i max(0, P_i - theta)                    (1)

is ``theta (t - 1)``, or ``1 - D - theta``, and d comes with it. **Maximal leakage** is log X: least X with ``u <= D``, or least
u with ``X = exp(leakage)``, which is (1) with the Lagrange multiplier of X for theta.

**Few letters are free.** Of letters well above theta (kept) or well below (given up) no more is needed than their sums. So the
letters nearest to theta stay themselves, the others are put together in groups that are treated alike, and (1) is a linear
program with a row for each vertex and a column for each of these. Its d is a mechanism of all letters, and its weights of the
vertices are a prior whose least distortion is known in closed form (:mod:`paper_repro.solvers.known_prior`). As long as the two
differ, groups with letters on both sides of theta are split, and the nearest letters are chosen anew, more of them where a step
gained nothing; two to five steps are enough for random sets of 10^6 letters. Both bounds hold whatever the solver says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from paper_repro.errors import SolverError
from paper_repro.solvers.games import PerfectPrivacy
from paper_repro.solvers.linear import run_bounded, stopped
from paper_repro.types import FloatArray, IntArray

__all__ = ["ManyLetters"]

# Letters nearest to the threshold that stay themselves, at first and at most.
_NEAREST, _MOST_NEAREST = 800, 6400
_ROUNDS = 60
# The relative difference of the bounds at which nothing is left to gain.
_CLOSED = 1e-13
# Steps to the best price: they are few, or halve it down to the smallest numbers.
_NEWTON = 2_000

_Bound: TypeAlias = Callable[[FloatArray], tuple[float, float]]
_Judged: TypeAlias = "Callable[[_Model, float], tuple[_Answer, float]]"


class ManyLetters:
    """The hull of few distributions over many letters.

    Each method returns the letters' distortions, shape (M,), and the weights of the vertices, shape (V,), of a prior that bounds
    what is possible.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
        Rows are distributions (not checked again here).

    >>> from paper_repro.solvers.known_prior import RatioOfPrior
    >>> letters = ManyLetters(np.random.default_rng(0).dirichlet(np.ones(5000), size=3))
    >>> changed, weights = letters.ratio_at_leakage(math.log(5000))
    >>> worst, prior = (letters.vertices @ changed).max(), weights @ letters.vertices
    >>> bool(abs(worst - RatioOfPrior(prior).least_distortion(math.log(5000))) < 1e-12)
    True
    """

    def __init__(self, vertices: FloatArray) -> None:
        self.vertices = vertices
        self._peaks = np.maximum(vertices.max(axis=0), 1e-300)

    @cached_property
    def perfect(self) -> PerfectPrivacy:
        """The least distortion without leakage: what maximal leakage needs for one letter's worth."""
        given_up, weights = self.mass_at_leakage(0.0)
        letters = (1 - given_up) / (1 - given_up).sum()
        return PerfectPrivacy(float((self.vertices @ (1 - letters)).max()), letters, weights)

    def ratio_at_distortion(self, distortion: float) -> tuple[FloatArray, FloatArray]:
        """Differential privacy: least leakage at a distortion below the jump to none; shapes (M,) and (V,)."""

        def judged(model: _Model, theta: float) -> tuple[_Answer, float]:
            answer, best = _newton(model, theta, lambda spent, kept: (distortion - spent) / max(kept - 1, 1e-300))
            return answer, -best

        def bound(prior: FloatArray) -> tuple[float, float]:
            theta = _root(prior, distortion, -1.0) if distortion < 1 - prior.max() else 1 - distortion
            return theta, -theta

        given_up, weights = self._refined(bound, judged, self._beside_the_jump(distortion))
        spent = min(distortion, float((self.vertices @ given_up).max()))
        return _mixed(given_up, (distortion - spent) / (1 - spent)), weights

    def _beside_the_jump(self, distortion: float) -> Callable[[FloatArray], FloatArray]:
        """What moves the weights of a prior that needs no leakage, often by a hair, to one of the hull that just does."""
        allowed, least = 1 - distortion, 1 - self.perfect.distortion
        hair = max(1e-11 * (allowed - least), 4e-16 * math.sqrt(len(self._peaks)))

        def moved(weights: FloatArray) -> FloatArray:
            peak = float((weights @ self.vertices).max())
            if peak <= allowed - hair:
                return weights
            share = min(1.0, (peak - allowed + hair) / (peak - least)) if peak > least else 1.0
            return (1 - share) * weights + share * self.perfect.weights

        return moved

    def ratio_at_leakage(self, leakage: float) -> tuple[FloatArray, FloatArray]:
        """Differential privacy: least distortion at a positive leakage in nats; shapes (M,) and (V,)."""
        excess, odds = math.expm1(leakage), math.exp(-leakage)

        def judged(model: _Model, theta: float) -> tuple[_Answer, float]:
            answer, _ = _newton(model, theta, lambda spent, kept: (1 - spent) / (kept + excess))
            others = (answer.kept - 1) * odds
            return answer, (answer.spent + others) / (1 + others)

        def bound(prior: FloatArray) -> tuple[float, float]:
            theta = _root(prior, 1.0, excess)
            below = prior <= theta
            others = (len(prior) - below.sum() - 1) * odds
            return theta, (float(prior[below].sum()) + others) / (1 + others)

        given_up, weights = self._refined(bound, judged)
        others = max(0.0, len(given_up) - 1 - float(given_up.sum())) * odds
        return _mixed(given_up, others / (1 + others)), weights

    def mass_at_distortion(self, distortion: float) -> tuple[FloatArray, FloatArray]:
        """Maximal leakage: least at a distortion below the one without leakage; shapes (M,) and (V,)."""

        def bound(prior: FloatArray) -> tuple[float, float]:
            rising = np.sort(prior)
            tails = np.cumsum(rising)
            last = min(int(np.searchsorted(tails, distortion, side="right")), len(rising) - 1)
            part = (distortion - (tails[last] - rising[last])) / max(rising[last], 1e-300)
            return max(float(rising[last]), 1e-300), len(rising) - last - part

        def judged(model: _Model, theta: float) -> tuple[_Answer, float]:
            answer = model.solved(theta, spent=distortion)
            return answer, answer.kept

        given_up, weights = self._refined(bound, judged)
        worst = float((self.vertices @ given_up).max())
        return given_up * min(1.0, distortion / worst) if worst > 0 else given_up, weights

    def mass_at_leakage(self, leakage: float) -> tuple[FloatArray, FloatArray]:
        """Maximal leakage: least distortion at a leakage in nats, which may be 0; shapes (M,) and (V,)."""
        left = math.exp(leakage)

        def bound(prior: FloatArray) -> tuple[float, float]:
            whole = max(0, math.ceil(len(prior) - left) - 1)  # letters given up, and the next one in part
            rising = np.partition(prior, whole)
            value = float(rising[whole])
            return max(value, 1e-300), float(rising[:whole].sum()) + (len(prior) - left - whole) * value

        def judged(model: _Model, theta: float) -> tuple[_Answer, float]:
            answer = model.solved(theta, kept=left)
            return answer, answer.spent

        given_up, weights = self._refined(bound, judged)
        kept = 1 - given_up
        return np.clip(1 - kept * min(1.0, left / kept.sum()), 0.0, 1.0), weights

    def _refined(
        self, bound: _Bound, judged: _Judged, moved: Callable[[FloatArray], FloatArray] = lambda weights: weights
    ) -> tuple[FloatArray, FloatArray]:
        """The parts of the letters that are given up, shape (M,), and the vertices' weights, shape (V,).

        ``bound`` gives a prior's threshold and its lower bound, ``judged`` the best of a program and its upper bound, and
        ``moved`` better weights than those of the program.
        """
        count, size = self.vertices.shape
        weights, groups, nearest = np.full(count, 1 / count), np.zeros(size, dtype=np.intp), _NEAREST
        best: FloatArray = np.zeros(size)
        best_weights, highest, lowest = weights, -math.inf, math.inf
        center = weights @ self.vertices, 0.0
        for _ in range(_ROUNDS):
            prior = weights @ self.vertices
            theta, figure = bound(prior)
            if figure > highest:
                best_weights, highest, center = weights, figure, (prior, theta)
            else:
                nearest = min(2 * nearest, _MOST_NEAREST)
            if lowest <= highest + _CLOSED * abs(highest):
                break
            # Groups with letters on both sides of the threshold are split.
            _, groups = np.unique(2 * groups + (prior > theta), return_inverse=True)
            distances = np.abs(center[0] - center[1]) / self._peaks
            alone = np.argpartition(distances, min(nearest, size - 1))[:nearest]
            places = groups.copy()
            places[alone] = groups.max() + 1 + np.arange(len(alone))
            answer, figure = judged(_Model(self.vertices, places, center[1]), center[1])
            if figure < lowest:
                best, lowest = answer.given_up[places], figure
            weights = moved(answer.weights)
        return best, best_weights


@dataclass(frozen=True)
class _Answer:
    """Of the groups: the parts given up, the distortion spent on that and the letters kept; and the weights of the vertices."""

    given_up: FloatArray
    spent: float
    kept: float
    weights: FloatArray


class _Model:
    """The linear program of groups of letters that are treated alike, ``places`` being the group of each letter, shape (M,).

    Columns: the parts that are given up, and what is spent; rows: the vertices, and the number of letters given up. Distortions
    are in the unit of the threshold, so that everything is of order 1 where it is decided.
    """

    def __init__(self, vertices: FloatArray, places: IntArray, unit: float) -> None:
        import highspy

        self._sizes = np.bincount(places).astype(float)
        self._masses = np.array([np.bincount(places, weights=row) for row in vertices])
        self._unit, self._free = unit, highspy.kHighsInf
        (count, groups), program = self._masses.shape, highspy.HighsLp()
        matrix = np.zeros((count + 1, groups + 1))
        matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, :-1] = self._masses / unit, -1.0, self._sizes
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_ = np.append(-self._sizes, 1.0)
        program.col_lower_, program.col_upper_ = np.zeros(groups + 1), np.append(np.ones(groups), self._free)
        program.row_lower_ = np.full(count + 1, -self._free)
        program.row_upper_ = np.append(
            np.zeros(count), len(places) - 1.0
        )  # a letter's worth is kept: more of less is better
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        filled = matrix.T != 0
        program.a_matrix_.start_ = np.append(0, np.cumsum(filled.sum(axis=1)))
        program.a_matrix_.index_ = np.nonzero(filled)[1]
        program.a_matrix_.value_ = matrix.T[filled]
        self._highs: Any = highspy.Highs()
        self._interrupted = highspy.HighsModelStatus.kInterrupt
        options: dict[str, Any] = {"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"}
        options |= {f"{side}_feasibility_tolerance": 1e-10 for side in ("primal", "dual")}
        options["small_matrix_value"] = 1e-12
        for option, value in options.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(program)

    def solved(self, theta: float, spent: float | None = None, kept: float | None = None) -> _Answer:
        """Least ``spent + theta * kept``; or the most given up for what may be spent, or the least spent if so much is kept."""
        count, groups = self._masses.shape
        price = theta / self._unit if spent is None and kept is None else 0.0
        costs = np.append(-self._sizes * (1.0 if spent is not None else price), 0.0 if spent is not None else 1.0)
        self._highs.changeColsCost(groups + 1, np.arange(groups + 1, dtype=np.int32), costs)
        if spent is not None:
            self._highs.changeColBounds(groups, 0.0, spent / self._unit)
        if kept is not None:
            self._highs.changeRowBounds(count, self._sizes.sum() - kept, self._sizes.sum() - kept)
        if run_bounded(self._highs) == self._interrupted:
            raise SolverError(stopped(self._highs))
        solution = self._highs.getSolution()
        given_up = np.clip(np.array(solution.col_value)[:-1], 0.0, 1.0)
        weights = np.clip(-np.array(solution.row_dual)[:-1], 0.0, None)
        if not weights.any():
            weights = np.ones(count)
        worst = float((self._masses @ given_up).max())
        return _Answer(given_up, worst, float(self._sizes @ (1 - given_up)), weights / weights.sum())


def _newton(model: _Model, theta: float, value: Callable[[float, float], float]) -> tuple[_Answer, float]:
    """The answer whose theta is largest, and that: from an answer's own theta on they only get better."""
    answer, best = model.solved(theta), -math.inf
    found = answer
    for _ in range(_NEWTON):
        better = value(found.spent, found.kept)
        if best > 0 and not better > best + _CLOSED * best:
            return replace(answer, weights=found.weights), best
        if better > best:
            answer, best = found, better
        theta = better if better > 0 else theta / 2
        if theta < 1e-300:
            return replace(answer, weights=found.weights), best
        found = model.solved(theta)
    raise SolverError(f"No multiplier was found in {_NEWTON} steps. Try a nearby distortion or leakage.")


def _root(prior: FloatArray, total: float, more: float) -> float:
    """The theta at which ``sum_i min(P_i, theta) + more * theta`` is the total: Newton's method, which comes from below."""
    theta, tail, above = 0.0, 0.0, prior
    for _ in range(len(prior) + 2):  # each time a letter more is below, or that is it
        lower = above <= theta
        tail += float(above[lower].sum())
        above = above[~lower]
        following = (total - tail) / (len(above) + more) if len(above) + more > 0 else theta
        if not following > theta * (1 + 1e-15):
            break
        theta = following
    return max(theta, 1e-300)


def _mixed(given_up: FloatArray, changed: float) -> FloatArray:
    return np.clip(changed + (1 - changed) * given_up, 0.0, 1.0)
