"""What Zhong and Bu state (2022), claim by claim: Appendix A, the notions and their properties (Definition 19 to Lemma 24)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction as F
from functools import partial
from itertools import combinations, pairwise, permutations
from itertools import product as products
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paper_repro.claims.base import Finding, Sample, claim, corrected, example, for_all, holds, loose, proved
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import apart, divergence, exp_ratio, response
from paper_repro.claims.prove import always, reals
from paper_repro.claims.zhong_bu2022_tools import APPROXIMATE, DP, SIBSON, information, least_distortion, loss, uniform
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    Notion,
    RenyiDP,
    SibsonInformation,
)
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

# Logarithms of sums of a few dozen terms, and worst priors to 1e-10.
_ROUNDING = 1e-8
_ORDERS = (1.2, 2.0, 6.0)
_BETWEEN: tuple[Notion, ...] = (
    DifferentialPrivacy(),
    ApproximateDP(0.05),
    ApproximateDP(0.3),
    *(RenyiDP(order) for order in _ORDERS),
)
_GLOBAL: tuple[Notion, ...] = (
    MaximalInformation(),
    MaximalLeakage(),
    MutualInformation(),
    *(SibsonInformation(order) for order in _ORDERS),
)
_property = partial(for_all, tolerance=_ROUNDING, share=0.5)
_slow = partial(for_all, tolerance=_ROUNDING, share=0.25)
_FLIP = np.array([[0.75, 0.25], [0.25, 0.75]])
_UNEVEN = np.array([[0.9, 0.1], [0.3, 0.7]])
_HALF = np.array([0.5, 0.5])
_RARE = np.array([0.9, 0.1])


def _drawn(rng: np.random.Generator, *, zeros: bool = True) -> tuple[FloatArray, FloatArray]:
    """A mechanism and a prior of full support, over 2 to 4 letters."""
    size = int(rng.integers(2, 5))
    return random_mechanism(rng, size, zeros=zeros), rng.permutation(random_prior(rng, size))


def _positive(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return _drawn(rng, zeros=False)


def _orders(rng: np.random.Generator, count: int) -> list[float]:
    return [float(order) for order in np.sort(1 + 10 ** rng.uniform(-2, 1.5, count))]


# Definitions 3 and 19


def _threshold(condition: Callable[[float], bool]) -> float:
    """Least eps >= 0 with which a condition of Definition 3 holds, by bisection."""
    low, high = 0.0, 40.0
    if not condition(high):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high


def _apart(value: float, condition: Callable[[float], bool]) -> float:
    """How far a formula's value is from the least eps of a condition, relative to rounding near e^40."""
    return apart(round(max(value, 0.0), 6), round(_threshold(condition), 6)) - 1.5e-6


def _largest_log(ratios: Iterable[FloatArray]) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(max(ratio.max(initial=1.0) for ratio in ratios)))


def _ratio_and_delta(matrix: FloatArray, delta: float, *, outside: float = 0.0, pairs: Any = permutations) -> float:
    """``outside`` is taken from the ratio and not from its numerator."""
    with np.errstate(divide="ignore"):
        ratios = [(a - delta + outside)[a > delta] / b[a > delta] - outside for a, b in pairs(matrix, 2)]
    slack, rows = 1e-15 * (delta > 0), list(permutations(matrix, 2))
    return _apart(
        _largest_log(ratios), lambda eps: all((a <= math.exp(eps) * b + delta + slack).all() for a, b in rows)
    )


def _definition_19_1(matrix: FloatArray, _: FloatArray, **wrong: Any) -> float:
    return _ratio_and_delta(matrix, 0.0, **wrong)


def _definition_19_2(matrix: FloatArray, _: FloatArray, **wrong: Any) -> float:
    return _ratio_and_delta(matrix, 0.125, **wrong)


def _definition_19_3(matrix: FloatArray, prior: FloatArray, *, weighted: bool = True) -> float:
    mean = (prior if weighted else np.full(len(prior), 1 / len(prior))) @ matrix
    formula = _largest_log([(matrix / np.where(mean > 0, mean, 1.0))])
    return _apart(formula, lambda eps: bool((matrix <= math.exp(eps) * (prior @ matrix) * (1 + 1e-15)).all()))


def _register_19(key: str, violation: Callable[..., float], wrong: dict[str, dict[str, Any]]) -> None:
    @claim(name=key, instance=lambda rng, **constants: violation(*_drawn(rng), **constants), wrong=wrong, share=0.4)
    def check(sample: Sample, **_: Any) -> Finding:
        a, b, t, d = reals("a b t d")
        facts = {"the ratio is the least factor": always((a <= t * b + d) == (t >= (a - d) / b), b > 0)}
        facts["beside a zero all factors or none do"] = always((a <= t * b + d) == (a <= d), b == 0)
        how = (
            r"For entries $a$ and $b$ of a pair the least $t$ with $a \le t b + \delta$ is $(a - \delta)/b$ (z3); the leakage is "
            r"the logarithm of the largest one."
        )
        return proved(how, facts, sample)


_register_19("definition_19_1", _definition_19_1, {"each pair of neighbors in one order only": {"pairs": combinations}})
_register_19("definition_19_2", _definition_19_2, {"delta taken from the ratio": {"outside": 0.125}})
_register_19("definition_19_3", _definition_19_3, {"the mean over equally likely letters": {"weighted": False}})


@for_all(
    _drawn, of="mechanisms, with zeros and ties", wrong={"the largest in place of the sum over outputs": {"over": max}}
)
@example("rows (3,1)/4 and (1,0)", np.array([[0.75, 0.25], [1.0, 0.0]]), _HALF)
def definition_19_4(matrix: FloatArray, prior: FloatArray, *, over: Callable[[Any], float] = sum) -> float:
    largest = matrix.max(axis=0)
    return _apart(math.log(over(largest.tolist())), lambda eps: bool(largest.sum() <= math.exp(eps) + 1e-15))


@for_all(
    lambda rng: (_drawn(rng)[0], float(rng.choice(_ORDERS))),
    of="mechanisms and orders",
    wrong={"1/a in place of 1/(a-1)": {"less": 0}},
    share=0.4,
)
@example("rows (3,1)/4 and (1,3)/4 at order 2", _FLIP, 2.0)
def definition_19_5(matrix: FloatArray, order: float, *, less: int = 1) -> float:
    rows = list(permutations(matrix, 2))
    seen = [(a[a > 0], b[a > 0]) for a, b in rows]
    with np.errstate(divide="ignore"):
        formula = max(float(np.log((a**order * b ** (1 - order)).sum())) for a, b in seen) / (order - less)
    return _apart(formula, lambda eps: all(divergence(a, b, order) <= eps + 1e-15 for a, b in rows))


# Lemma 20


def _two_priors(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    matrix, prior = _drawn(rng)
    return matrix, prior, rng.dirichlet(np.ones(len(prior)))


def _from_joint(notion: Notion, matrix: FloatArray, prior: FloatArray) -> float:
    """The leakage by the joint distribution of input and output alone; inputs that never occur have no row in it."""
    joint = prior[:, np.newaxis] * matrix
    inputs = joint.sum(axis=1)
    order = np.argsort(inputs == 0, kind="stable")  # square by repeating the first row that there is
    rows = joint[np.where(inputs[order] > 0, order, order[0])]
    return notion.leakage(rows / rows.sum(axis=1, keepdims=True), SourceSet(inputs[order] / inputs.sum()))


@_slow(
    _two_priors,
    of="mechanisms and pairs of priors of full support",
    wrong={
        "maximal information as well": {"further": (MaximalInformation(),)},
        "for priors that are zero somewhere": {"support": False},
    },
)
@example("rows (9,1)/10 and (3,7)/10 with P = (1,1)/2 and (9,1)/10", _UNEVEN, _HALF, _RARE)
def lemma_20_1(
    matrix: FloatArray,
    one: FloatArray,
    two: FloatArray,
    *,
    further: tuple[Notion, ...] = (),
    support: bool = True,
) -> float:
    if not support:
        two = np.where(np.arange(len(two)) == 0, 0.0, two)
    notions = (*_BETWEEN, MaximalLeakage(), *further)
    return max(apart(*(_from_joint(notion, matrix, prior) for prior in (one, two))) for notion in notions)


def _falls_with_delta(matrix: FloatArray, less: float, more: float, *, strictly: bool = False) -> float:
    found = [DifferentialPrivacy().leakage(matrix), *(ApproximateDP(one).leakage(matrix) for one in (0.0, less, more))]
    rises = float(strictly) if found[2] == found[3] else found[3] - found[2]
    return max(apart(found[0], found[1]), rises)


@claim(
    instance=lambda rng, **wrong: _falls_with_delta(_drawn(rng)[0], *np.sort(rng.uniform(0, 0.95, 2)), **wrong),
    wrong={"strictly": {"strictly": True}},
)
def lemma_20_4(sample: Sample, **_: Any) -> Finding:
    a, b, t, less, more = reals("a b t less more")
    facts = {
        "what holds with a delta holds with a larger one": always(a <= t * b + more, a <= t * b + less, less <= more)
    }
    ratios = [exp_ratio(response(2, F(1, 4)), delta=delta) for delta in (F(0), F(1, 4), F(1, 2))]
    facts["rows (3,1)/4 and (1,3)/4, delta = 0, 1/4, 1/2: 3, 2, 1"] = ratios == [3, 2, 1]
    return proved(r"Each inequality of the definition stays true as $\delta$ grows (z3), for all sizes.", facts, sample)


@_slow(
    _positive,
    of="mechanisms and orders from 2 to 1e6",
    wrong={"the limit is maximal leakage": {"limit": MaximalLeakage()}},
)
@example("rows (3,1)/4 and (1,3)/4", _FLIP, _HALF)
def lemma_20_5(matrix: FloatArray, _prior: FloatArray, *, limit: Notion = _BETWEEN[0]) -> float:
    """``eps + log(least entry)/(a-1) <= D_a <= eps``, from the column in which the ratio is largest."""
    worst = -math.inf
    for order in (2.0, 30.0, 1e3, 1e6):
        missing = limit.leakage(matrix) - RenyiDP(order).leakage(matrix)
        worst = max(worst, -missing, missing + math.log(matrix.min()) / (order - 1))
    return worst


@_property(
    _positive,
    of="mechanisms, priors and orders from 3 to 1.001",
    wrong={"to 2": {"end": 2.0}},
)
@example("a fair bit flipped with probability 1/4", _FLIP, _HALF)
def lemma_20_6(matrix: FloatArray, prior: FloatArray, *, end: float = 1.0) -> float:
    """Within ``(a-1) R^2 / 8`` (Hoeffding), if the logarithm of joint over product ranges over R."""
    rate, worst = float(np.ptp(np.log(matrix / (prior @ matrix)))) ** 2 / 8, -math.inf
    for step in (2.0, 0.1, 0.001):
        more = SibsonInformation(end + step).leakage(matrix, SourceSet(prior)) - information(prior, matrix)
        worst = max(worst, -more, more - step * rate)
    return worst


@_property(
    _drawn,
    of="mechanisms, priors and orders from 2 to 1e5",
    wrong={"priors that are zero somewhere": {"support": False}},
)
@example("a fair bit flipped with probability 1/4", _FLIP, _HALF)
def lemma_20_7(matrix: FloatArray, prior: FloatArray, *, support: bool = True) -> float:
    if not support:
        prior = np.where(np.arange(len(prior)) == 0, 0.0, prior)
    source, least = SourceSet(prior / prior.sum()), float(prior[prior > 0].min())
    largest, worst = MaximalLeakage().leakage(matrix), -math.inf
    for order in (2.0, 30.0, 1e3, 1e5):
        found = SibsonInformation(order).leakage(matrix, source)
        low = order / (order - 1) * (largest + math.log(least) / order)
        worst = max(worst, found - largest, low - found)
    return worst


@_property(
    lambda rng: (_drawn(rng)[0], *_orders(rng, 3)),
    of="mechanisms and triples of orders",
    wrong={"bounded by maximal leakage": {"bound": MaximalLeakage()}},
)
@example("rows (3,1)/4 and (1,3)/4 at the orders 2, 3 and 4", _FLIP, 2.0, 3.0, 4.0)
def lemma_20_8(matrix: FloatArray, *orders: float, bound: Notion = _BETWEEN[0]) -> float:
    found = [*(RenyiDP(order).leakage(matrix) for order in orders), bound.leakage(matrix)]
    return max(a - b if a != b else 0.0 for a, b in pairwise(found))


def _sibson_between(rng: np.random.Generator, fewer: int = 0) -> float:
    """On databases: monotone, at least mutual information, and at most n times what neighbors may differ."""
    values, records = [(2, 1), (3, 1), (2, 2)][rng.integers(3)]
    size = values**records
    matrix, prior = random_mechanism(rng, size, zeros=False), rng.permutation(random_prior(rng, size))
    found = [information(prior, matrix)]
    found += [SibsonInformation(order).leakage(matrix, SourceSet(prior)) for order in _orders(rng, 3)]
    found.append((records - fewer) * loss(DP, matrix, values, records))
    return max(a - b for a, b in pairwise(found))


@claim(instance=_sibson_between, wrong={"n - 1 times": {"fewer": 1}}, tolerance=_ROUNDING)
def lemma_20_9(sample: Sample, fewer: int = 0) -> Finding:
    name, matrix = "two records of three categories, each kept with probability 1/2", zhong.lemma_5_mechanism(3, 2, 1.0)
    order_50 = loss(SIBSON, matrix, 3, 2, uniform(9), alpha=50.0)
    private = loss(DP, matrix, 3, 2)
    above = max(0.0, order_50 - (2 - fewer) * private)
    says = r"the leakage under differential privacy is $\log {}$, and the Sibson information of order 50 is $\log {}$"
    return corrected(
        {name: (math.exp(private), math.exp(order_50))}, {f"{name}: excess": (above, 0.0)}, sample, says=says
    )


# Lemma 21


class Mixture(NamedTuple):
    """Two mechanisms, a share of the first, and a prior."""

    first: FloatArray
    second: FloatArray
    share: float
    prior: FloatArray

    def above(self, measure: Callable[[FloatArray], float], *, convex: bool = True) -> float:
        """The mixture's value above the mean of its parts' values, or above the larger one."""
        both = measure(self.share * self.first + (1 - self.share) * self.second)
        one, two = measure(self.first), measure(self.second)
        bound = self.share * one + (1 - self.share) * two if convex else max(one, two)
        return (both - bound) / max(1.0, abs(both))


_HALFWAY = Mixture(np.eye(2), np.full((2, 2), 0.5), 0.5, _HALF)


def _mixture(rng: np.random.Generator) -> Mixture:
    first, prior = _positive(rng)
    return Mixture(first, random_mechanism(rng, len(first), zeros=False), float(rng.choice([0.1, 0.5, 0.8])), prior)


def _lemma_21_1(rng: np.random.Generator, *, convex: bool = False) -> float:
    mixture, notions = _mixture(rng), (*_BETWEEN[:3], MaximalInformation())
    source = SourceSet(mixture.prior)
    return max(mixture.above(partial(notion.leakage, source=source), convex=convex) for notion in notions)


@claim(
    instance=_lemma_21_1,
    wrong={"convex": {"convex": True}},
    tolerance=_ROUNDING,
    share=0.4,
)
def lemma_21_1(sample: Sample, **_: Any) -> Finding:
    a, b, c, e, s, t, d = reals("a b c e s t d")
    private = [a <= t * b + d, c <= t * e + d, s >= 0, s <= 1]
    facts = {
        "the larger factor serves a mixture": always(s * a + (1 - s) * c <= t * (s * b + (1 - s) * e) + d, *private)
    }
    how = (
        "Each inequality of the definitions carries over to mixtures (z3), for all sizes; for maximal information its right side "
        "has the mean over the inputs."
    )
    return proved(how, facts, sample)


def _lemma_21_2(rng: np.random.Generator, *, form: Any = math.exp) -> float:
    return _mixture(rng).above(lambda matrix: form(MaximalLeakage().leakage(matrix)))


@claim(instance=_lemma_21_2, wrong={"itself, not its exponential": {"form": float}}, tolerance=_ROUNDING)
def lemma_21_2(sample: Sample, **_: Any) -> Finding:
    a, b, one, two, s = reals("a b one two s")
    below = always(s * a + (1 - s) * b <= s * one + (1 - s) * two, a <= one, b <= two, s >= 0, s <= 1)
    how = (
        "No entry of a mixture is above the mixture of the column maxima (z3), so neither is their sum; for all sizes."
    )
    return proved(how, {"entries of a mixture": below}, sample)


def _divergence(matrix: FloatArray, order: float) -> float:
    return max(divergence(a, b, order) for a, b in permutations(matrix, 2))


def _moment(rng: np.random.Generator, order: float = 0.0, half: float = 1.0) -> float:
    order = order or float(rng.choice(_ORDERS))
    return _mixture(rng).above(lambda matrix: math.exp(half * (order - 1) * _divergence(matrix, order)))


@claim(
    instance=_moment,
    wrong={"order 1/2, where the divergence is convex": {"order": 0.5}, "exp((a-1) eps / 2)": {"half": 0.5}},
    tolerance=_ROUNDING,
)
def lemma_21_3(sample: Sample, order: float = 2.0, half: float = 1.0) -> Finding:
    first, second = np.array([[0.9, 0.1], [0.05, 0.95]]), np.array([[0.05, 0.95], [0.05, 0.95]])
    name = "order 2, a mechanism with rows $(18,2)/20$, $(1,19)/20$ and one with $(1,19)/20$ twice"
    if order < 1:
        return holds(named={name: Mixture(first, second, 0.5, _HALF).above(lambda q: _divergence(q, order))})
    values = [_divergence(q, order) for q in (first, second, (first + second) / 2)]
    moments = [math.exp(half * value) for value in values]
    over = max(0.0, moments[2] - (moments[0] + moments[1]) / 2)
    says = "the mean of their leakages is {}, and the leakage of their mean is {}"
    printed = {name: ((values[0] + values[1]) / 2, values[2])}
    return corrected(printed, {f"{name}: excess of the moment": (over, 0.0)}, sample, says=says)


@_property(
    lambda rng: (_mixture(rng), float(rng.choice(_ORDERS))),
    of="mixtures of mechanisms, priors and orders",
    wrong={"eps itself is convex": {"itself": True}},
)
@example("the identity and a uniform output, for a fair bit at order 6", _HALFWAY, 6.0)
def lemma_21_4(mixture: Mixture, order: float, *, itself: bool = False) -> float:
    leakage = partial(SibsonInformation(order).leakage, source=SourceSet(mixture.prior))
    power = (order - 1) / order
    convex = mixture.above(leakage if itself else lambda matrix: math.exp(power * leakage(matrix)) / (order - 1))
    return max(convex, mixture.above(leakage, convex=False))


@_property(
    lambda rng: (_mixture(rng),), of="mixtures of mechanisms, and priors", wrong={"in the prior": {"in_prior": True}}
)
@example("the identity and a uniform output, for a fair bit", _HALFWAY)
def lemma_21_5(mixture: Mixture, *, in_prior: bool = False) -> float:
    if not in_prior:
        return mixture.above(partial(information, mixture.prior))
    priors = mixture._replace(first=mixture.prior, second=mixture.first[0])
    return priors.above(lambda prior: information(prior, mixture.first))


# Lemmas 22 and 23


def _rows(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    matrix = random_mechanism(rng, 2, int(rng.integers(2, 6)))
    return matrix[0], matrix[1]


@_property(
    lambda rng: (*_rows(rng), *_orders(rng, 2)),
    of="pairs of distributions and of orders",
    wrong={"even divided by the order": {"power": 1}},
)
@example("(3,1)/4 and (1,3)/4 at the orders 2 and 3", _FLIP[0], _FLIP[1], 2.0, 3.0)
def lemma_22_1(row: FloatArray, other: FloatArray, less: float, more: float, *, power: int = 0) -> float:
    low, high = (divergence(row, other, order) / order**power for order in (less, more))
    return low - high if low != high else 0.0


def _finite(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float] | None:
    row, other = _rows(rng)
    return None if (other[row > 0] == 0).any() else (row, other, _orders(rng, 1)[0])


@_property(
    _finite,
    of="pairs of distributions with all their events, and orders",
    wrong={"without the power": {"power": 1.0}},
)
@example("Q given an event of probability 1/4 at order 4", np.array([0.0, 0.4, 0.6]), np.array([0.75, 0.1, 0.15]), 4.0)
def lemma_22_2(row: FloatArray, other: FloatArray, order: float, *, power: float = 0.0) -> float:
    factor, power = math.exp(divergence(row, other, order)), power or (order - 1) / order
    events = [np.array(event, dtype=bool) for event in products([False, True], repeat=len(row))]
    return max(float(row[event].sum() - (factor * other[event].sum()) ** power) for event in events)


def _events(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float, list[NDArray[np.bool_]]]:
    matrix, prior = _drawn(rng)
    events = [matrix > prior @ matrix, *(rng.random(matrix.shape) < rng.random() for _ in range(8))]
    return matrix, prior, _orders(rng, 1)[0], events


@_property(
    _events,
    of="mechanisms, priors, orders and events",
    wrong={"without the power": {"power": 1.0}, "with the least in place of the largest section": {"over": min}},
)
@example(
    "four equally likely categories published unchanged at order 2",
    np.eye(4),
    np.full(4, 0.25),
    2.0,
    [np.eye(4, dtype=bool)],
)
def lemma_23(
    matrix: FloatArray,
    prior: FloatArray,
    order: float,
    events: list[NDArray[np.bool_]],
    *,
    power: float = 0.0,
    over: Any = max,
) -> float:
    factor, power = math.exp(SibsonInformation(order).leakage(matrix, SourceSet(prior))), power or (order - 1) / order
    sides = [((prior @ (matrix * event)).sum(), over(prior @ event)) for event in events]
    return max(float(joint - (section * factor) ** power) for joint, section in sides)


# Lemma 24


def _wide(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    size = int(rng.integers(2, 4))
    return random_mechanism(rng, size, size + int(rng.integers(1, 3))), random_prior(rng, size)


@_slow(
    _wide,
    of="mechanisms with one or two more outputs than categories",
    wrong={"m - 1 outputs": {"fewer": 1}},
)
@example("rows (2,1,1)/4 and (1,1,2)/4", np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]), _HALF)
def lemma_24(matrix: FloatArray, prior: FloatArray, *, fewer: int = 0) -> float:
    """All outputs from the last one kept on are merged; a square matrix by letters that never occur, which leak nothing."""
    size, kept = len(matrix), len(matrix) - fewer
    extra = matrix.shape[1] - size
    padded, source = np.vstack([matrix, np.tile(matrix[-1], (extra, 1))]), SourceSet(np.append(prior, np.zeros(extra)))
    merged = np.zeros((size, size))
    merged[:, :kept] = matrix[:, :kept]
    merged[:, kept - 1] += matrix[:, kept:].sum(axis=1)
    worst = float(prior @ (np.diagonal(matrix) - np.diagonal(merged)))
    for notion in (DifferentialPrivacy(), *_BETWEEN[3:], *_GLOBAL):
        after, before = notion.leakage(merged, SourceSet(prior)), notion.leakage(padded, source)
        worst = max(worst, after - before if after != before else 0.0)
    return worst


@claim(wrong={"of differential privacy, to which the lemma applies": {"delta": F(0)}})
def lemma_24_exception(delta: F = F(1, 10)) -> Finding:
    table = [[F(1, 10), F(1, 10), F(8, 10)], [F(0), F(0), F(1)], [F(0), F(0), F(1)]]
    merged = ApproximateDP(float(delta)).leakage([[0.2, 0.8], [0.0, 1.0]])
    leaks = delta > 0 and exp_ratio(table, delta=delta) == F(9, 8) and math.isinf(merged)
    needed = {}
    for prior, ratio in (((0.7, 0.3), 2.0), ((0.5, 0.3, 0.2), 1.5)):
        # Letters that never occur lend their outputs.
        least = [
            least_distortion(APPROXIMATE, (one,), math.log(ratio), delta=float(delta))
            for one in (prior, (*prior, 0.0, 0.0))
        ]
        enough = len(prior) if leaks and abs(least[0] - least[1]) < _ROUNDING else len(prior) + 2
        needed[f"$P = {prior}$ with $e^\\epsilon = {ratio:g}$ and $\\delta = 1/10$"] = (float(enough), len(prior) + 2.0)
    return loose(needed, says="with {} outputs the distortion can be as small as with {}")
