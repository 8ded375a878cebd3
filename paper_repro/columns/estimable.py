r"""A mechanism from which every category's frequency can be estimated, close to the optimal one, and its price.

The optimal mechanism at a large distortion suppresses some categories, whose frequencies are lost. So its matrix is mixed with
the matrix of randomized response under the same constraint, with the least share that achieves two things:

* every category is kept with at least a ``share``, by default half, of the chance with which randomized response keeps it;
* no estimate is noisier than ``1 / share`` times, by default twice, what it is under randomized response.

The unbiased estimate of category i's frequency is the mean, over the records, of a weight for each published category: column i
of the inverse of the channel. How far the weights of a column range is its *amplification*: 1 if nothing is changed,
``(M - 1) / (M (1 - D) - 1)`` for randomized response, infinite if the channel is singular. The standard deviation of the estimate
from n records is at most half of it over ``sqrt(n)``.

All notions of leakage are quasi-convex in the channel and distortion is linear, so that mixing keeps a budget of either kind. Of
a diagonal and a rank-one part the inverse is known (Sherman and Morrison): all is done with some numbers a category. Under
constraints, which a mixture need not keep, the program is solved again with that share as floors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paper_repro.checks import check_between
from paper_repro.columns.inverses import inverse_of
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import ApproximateDP
from paper_repro.tradeoff import OptimalMechanism, solver
from paper_repro.types import FloatArray

__all__ = ["Estimable", "amplifications", "estimable"]

# Halvings of the part of randomized response, and of its distortion at a leakage.
_HALVINGS, _SEARCHED = 12, 60
# Floors that are tried under constraints.
_RAISED = 3


class Estimable(NamedTuple):
    """What :func:`estimable` found.

    Attributes
    ----------
    mechanism : Mechanism
    price : float
        At most so much more than any mechanism needs at this budget: nats of leakage at a distortion budget, distortion at a
        leakage budget. Certified: it is taken from the lower bound of the best mechanism.
    leakage : float
        Of this mechanism in nats, evaluated as :class:`paper_repro.OptimalMechanism` has it.
    distortion : float
        Worst case over the source set.
    """

    mechanism: Mechanism
    price: float
    leakage: float
    distortion: float


def amplifications(mechanism: Mechanism) -> FloatArray:
    """How far the weights of each category's unbiased estimate range, shape (M,); infinite where the channel is singular.

    Column i of the inverse channel weighs what was published; without a change its weights are 0 and 1.

    >>> amplifications(Mechanism([[0.75, 0.25], [0.25, 0.75]])).round(12)
    array([2., 2.])
    >>> amplifications(Mechanism.constant([0.5, 0.5]))
    array([inf, inf])
    """
    inverse = inverse_of(mechanism)
    singular = inverse.condition > 1e15
    return np.full(mechanism.alphabet_size, np.inf) if singular else inverse.ranges


def estimable(best: OptimalMechanism, *, share: float = 0.5) -> Estimable:
    """The mechanism of this module for a best one: every category published, every frequency estimated, at a certified price.

    For any notion, and for any number of categories where the best mechanism is known for them.

    Parameters
    ----------
    best : OptimalMechanism
    share : float in [0, 1]
        1 is randomized response; 0 is the best mechanism, if its channel is not singular. Default: half.

    Returns
    -------
    Estimable
        Its leakage is evaluated from the mechanism by the notion's definition; budgets are kept up to rounding.

    Raises
    ------
    ValueError
        If the optimal mechanism publishes the same whatever the data, so that nothing can be estimated; if ``share`` is outside
        its range; or if the constraints do not allow that every category is kept so often.

    Examples
    --------
    >>> from paper_repro import SourceSet, optimal_mechanism
    >>> best = optimal_mechanism(SourceSet([0.6, 0.3, 0.1]), distortion=0.3)
    >>> best.mechanism.matrix.diagonal().round(3), round(best.leakage, 3)
    (array([0.778, 0.778, 0.   ]), 1.253)
    >>> found = estimable(best)
    >>> found.mechanism.matrix.diagonal().round(3), round(found.leakage, 3), round(found.price, 3)
    (array([0.738, 0.738, 0.361]), 1.432, 0.18)
    """
    check_between(share, "a number between 0 and 1", 0, 1, "share")
    if best.leakage == 0 and best.source.alphabet_size > 1:
        ((name, given),) = best.budget.items()
        allowed = "above 0" if name == "leakage" else f"below {best.distortion:.6g}"
        raise ValueError(
            f"{name} must be {allowed} for estimable frequencies; got {given:.6g}, at which the optimum publishes the same "
            f"whatever the data. Take {'a larger' if name == 'leakage' else 'a smaller'} {name}, or estimable=False."
        )
    if best.constraints is not None:
        return _constrained(best, share)
    response = _response(best)
    limit = float(amplifications(response).max()) / share if share > 0 else math.inf
    kept, aim = 1 - best.mechanism.distortions, share * (1 - response.distortions)
    starved = kept < aim
    low = float(((aim - kept)[starved] / ((1 - response.distortions) - kept)[starved]).max(initial=0.0))
    mixed = min(_mixtures(best, response), key=lambda mixture: best.notion.leakage(mixture(low), best.source))
    found = mixed(low) if low > 0 else best.mechanism
    if amplifications(found).max() > limit:
        high, found = 1.0, response
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            tried = mixed(middle)
            if amplifications(tried).max() > limit:
                low = middle
            else:
                high, found = middle, tried
    return _priced(best, found)


def _priced(best: OptimalMechanism, found: Mechanism) -> Estimable:
    leakage, distortion = best.notion.leakage(found, best.source), _distortion(best, found)
    figure, reached = (leakage, best.leakage) if best.gap_unit == "nats" else (distortion, best.distortion)
    return Estimable(found, figure - (reached - best.gap) if math.isfinite(figure) else 0.0, leakage, distortion)


def _constrained(best: OptimalMechanism, share: float) -> Estimable:
    """The best mechanism with higher floors, since a mixture need not keep what the constraints ask for."""
    assert best.constraints is not None
    response = _response(best)
    limit = float(amplifications(response).max()) / share if share > 0 else math.inf
    for part in np.linspace(share, 1.0, _RAISED):
        floors = np.maximum(best.constraints.floors, part * (1 - response.distortions))
        constraints = replace(best.constraints, floors=floors)
        solve, _ = solver(best.source, best.notion, best.costs, constraints)
        found = solve(**best.budget).mechanism
        if amplifications(found).max() <= limit:
            return _priced(best, found)
    raise ValueError(
        "constraints must allow that every category is kept often enough to estimate its frequency; got some that do not. Relax "
        "them, or take estimable=False."
    )


def _distortion(best: OptimalMechanism, mechanism: Mechanism) -> float:
    if best.costs is None:
        return best.source.worst_case_distortion(mechanism)
    return float((best.source.vertices @ (mechanism.matrix * best.costs).sum(axis=1)).max())


def _response(best: OptimalMechanism) -> Mechanism:
    """Randomized response at the budget: of the same distortion, or of no more leakage."""
    size, labels = best.source.alphabet_size, best.source.labels
    most = 1 - 1 / size
    evenly = most if best.costs is None else float((best.source.vertices @ best.costs.mean(axis=1)).max())

    def response(share: float) -> Mechanism:
        return Mechanism.from_distortions(np.full(size, min(most, share * most)), labels)

    if best.gap_unit == "nats":
        return response(best.distortion / evenly if evenly else 0.0)
    low, high = 0.0, 1.0
    for _ in range(_SEARCHED):
        middle = (low + high) / 2
        kept = best.notion.leakage(response(middle), best.source) <= best.leakage
        low, high = (low, middle) if kept else (middle, high)
    return response(high)


def _mixtures(best: OptimalMechanism, response: Mechanism) -> list[Callable[[float], Mechanism]]:
    """Ways to mix the best mechanism with randomized response, which they have so much of.

    Rows are mixed; or what is kept, where the rest may follow from that: as for differential privacy, on top of the delta of its
    approximate version, or in proportion to the answers, mixed likewise, as for information.
    """
    mechanism, labels = best.mechanism, best.source.labels
    delta = best.notion.delta if isinstance(best.notion, ApproximateDP) else 0.0

    def changed(part: float) -> FloatArray:
        return (1 - part) * mechanism.distortions + part * response.distortions

    def by_what_is_kept(part: float) -> Mechanism:
        private = np.minimum(changed(part) / (1 - delta), 1.0)
        return Mechanism.from_distortions(private, labels).mixed_with_identity(delta)

    def by_answers(part: float) -> Mechanism:
        assert mechanism.spread is not None
        answers = mechanism.spread.answers
        even = np.full(len(answers), 1 / len(answers))
        return Mechanism.from_distortions(
            changed(part), labels, answers=(1 - part) * answers / answers.sum() + part * even
        )

    def by_rows(part: float) -> Mechanism:
        return Mechanism((1 - part) * mechanism.matrix + part * response.matrix, labels)

    others = by_rows if mechanism.spread is None else by_answers
    return [others] if best.costs is not None else [by_what_is_kept, others]
