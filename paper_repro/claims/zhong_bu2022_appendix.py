"""What Zhong and Bu state (2022), claim by claim: Appendix A, the notions and their properties (Definition 19 to Lemma 24)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import apart, divergence, exp_ratio
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MAXIMAL,
    RENYI,
    SIBSON,
    information,
    loss,
    part_of,
)
from paper_repro.graphs import clique, line
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
from paper_repro.solvers.profiles import differential_privacy, sibson_information
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

_ORDERS = (1.2, 2.0, 6.0)
# Logarithms of sums of a few dozen terms, and worst priors to 1e-10.
_ROUNDING = 1e-8
_PLACE = "Appendix A"


def _drawn(rng: np.random.Generator, *, zeros: bool = True, most: int = 5) -> tuple[FloatArray, FloatArray]:
    """A mechanism and a prior of full support, over 2 to 4 letters."""
    size = int(rng.integers(2, most))
    return random_mechanism(rng, size, zeros=zeros), rng.permutation(random_prior(rng, size))


def _order(rng: np.random.Generator) -> float:
    return float(rng.choice(_ORDERS))


# Definitions 3 and 19


def _by_formula(notion: Notion, matrix: FloatArray, prior: FloatArray) -> float:
    """Definition 19, without terms log(0/0)."""
    pairs = list(itertools.permutations(matrix, 2))
    with np.errstate(divide="ignore"):
        match notion:
            case DifferentialPrivacy() | ApproximateDP():
                delta = getattr(notion, "delta", 0.0)
                ratios = [((a - delta)[a > delta] / b[a > delta]).max(initial=1.0) for a, b in pairs]
                return float(np.log(max(ratios)))
            case MaximalInformation():
                return float(np.log((matrix / np.maximum(prior @ matrix, 1e-300)).max()))
            case MaximalLeakage():
                return float(np.log(matrix.max(axis=0).sum()))
            case RenyiDP():
                return max(divergence(a, b, notion.alpha) for a, b in pairs)
            case SibsonInformation():
                power = notion.alpha / (notion.alpha - 1)
                return power * math.log(((prior @ matrix**notion.alpha) ** (1 / notion.alpha)).sum())
    return information(prior, matrix)


def _satisfied(notion: Notion, matrix: FloatArray, prior: FloatArray, leakage: float) -> bool:
    """Definition 3, up to rounding."""
    ratio, slack = math.exp(leakage), 1e-11
    pairs = list(itertools.permutations(matrix, 2))
    match notion:
        case DifferentialPrivacy() | ApproximateDP():
            delta = getattr(notion, "delta", 0.0)
            return all((a <= ratio * b + delta + slack * (1 + ratio)).all() for a, b in pairs)
        case MaximalInformation():
            return bool((matrix <= ratio * (prior @ matrix) + slack * (1 + ratio)).all())
        case MaximalLeakage():
            return bool(matrix.max(axis=0).sum() <= ratio + slack)
        case RenyiDP():
            return all(divergence(a, b, notion.alpha) <= leakage + slack * (1 + leakage) for a, b in pairs)
    return _by_formula(notion, matrix, prior) <= leakage + slack


def _definitions_apart(notion: Notion, matrix: FloatArray, prior: FloatArray) -> float:
    """0 if the formula's value is the least leakage with which the condition holds."""
    found = _by_formula(notion, matrix, prior)
    if math.isinf(found):
        return float(_satisfied(notion, matrix, prior, 15.0))
    if found > 15:
        return math.nan
    short = found > 1e-4 and _satisfied(notion, matrix, prior, found - 1e-4)
    return float(not _satisfied(notion, matrix, prior, found) or short)


_MAKERS: dict[str, Callable[[np.random.Generator], Notion]] = {
    DP: lambda rng: DifferentialPrivacy(),
    APPROXIMATE: lambda rng: ApproximateDP(float(rng.choice([0.05, 0.125, 0.3]))),
    MAXIMAL: lambda rng: MaximalInformation(),
    LEAKAGE: lambda rng: MaximalLeakage(),
    RENYI: lambda rng: RenyiDP(_order(rng)),
}


def _same_definitions(notion: str) -> Callable[[np.random.Generator], float]:
    return lambda rng: _definitions_apart(_MAKERS[notion](rng), *_drawn(rng))


def _check_definition(notion: str) -> Callable[[Sample], Finding]:
    shown = {
        "an output that is never published": (np.array([[0.5, 0.5, 0.0]] * 3), np.array([0.5, 0.25, 0.25])),
        "rows (3,1)/4 and (1,0)": (np.array([[0.75, 0.25], [1.0, 0.0]]), np.array([0.5, 0.5])),
    }

    def check(sample: Sample) -> Finding:
        made = _MAKERS[notion](np.random.default_rng(0))
        named = {label: _definitions_apart(made, *drawn) for label, drawn in shown.items()}
        return holds(sample, named=named, of="channels, with zeros and ties")

    return check


for _name, _condition, _formula in (
    ("definition_19_1", "Q(y|x) <= e^eps Q(y|x') for neighbors", "max log Q(y|x)/Q(y|x')"),
    ("definition_19_2", "Q(y|x) <= e^eps Q(y|x') + delta for neighbors", "max(0, max log (Q(y|x) - delta)/Q(y|x'))"),
    ("definition_19_3", "Q(y|x) <= e^eps sum_z P(z) Q(y|z)", "max log Q(y|x)/sum_z P(z) Q(y|z)"),
    ("definition_19_4", "sum_y max_x Q(y|x) <= e^eps", "log sum_y max_x Q(y|x)"),
    ("definition_19_5", "D_a(Q(.|x) || Q(.|x')) <= eps for neighbors", "max 1/(a-1) log sum_y Q(y|x)^a Q(y|x')^(1-a)"),
):
    _part, _notion, _ = part_of(_name)
    _skipped = ", without the terms log(0/0) of outputs that are never published" if _part <= 3 else ""
    claim(name=_name, instance=_same_definitions(_notion))(_check_definition(_notion))


# Lemma 20

_BETWEEN: list[Notion] = [
    DifferentialPrivacy(),
    ApproximateDP(0.05),
    ApproximateDP(0.3),
    *(RenyiDP(order) for order in _ORDERS),
]
_GLOBAL: list[Notion] = [
    MaximalInformation(),
    MaximalLeakage(),
    MutualInformation(),
    *(SibsonInformation(order) for order in _ORDERS),
]


def _pick(rng: np.random.Generator, notions: list[Notion]) -> Notion:
    return notions[rng.integers(len(notions))]


def _lemma_20_1(rng: np.random.Generator) -> float:
    notion, (matrix, prior) = _pick(rng, [*_BETWEEN, MaximalLeakage()]), _drawn(rng)
    other = rng.dirichlet(np.ones(len(prior)))
    found = [notion.leakage(matrix, SourceSet(one)) for one in (prior, other)]
    return max(apart(*found), apart(found[0], _by_formula(notion, matrix, other)))


@claim(instance=_lemma_20_1, tolerance=_ROUNDING)
def lemma_20_1(sample: Sample) -> Finding:
    matrix = [[0.9, 0.1], [0.3, 0.7]]
    first, second = SourceSet([0.5, 0.5]), SourceSet([0.9, 0.1])
    named = {}
    for notion in [*_BETWEEN[:2], _BETWEEN[3], MaximalLeakage()]:
        gap = apart(notion.leakage(matrix, first), notion.leakage(matrix, second))
        named[f"rows (9,1)/10 and (3,7)/10, P = (1,1)/2 or (9,1)/10, {notion!r}"] = gap
    return holds(sample, named=named, tolerance=_ROUNDING, of="channels and pairs of priors of full support")


def _worst_pair(notion: Notion, matrix: FloatArray) -> float:
    """The loss on a line of letters, against the largest of two rows that are neighbors."""
    size = len(matrix)
    graph = line(size)
    two = [max(_by_formula(notion, np.array(pair), np.ones(2) / 2), 0.0) for pair in itertools.pairwise(matrix)]
    whole = notion.with_neighbors(graph).leakage(matrix)
    return apart(whole, max(two))


@claim(instance=lambda rng: _worst_pair(_pick(rng, _BETWEEN), _drawn(rng)[0]), tolerance=_ROUNDING)
def lemma_20_2(sample: Sample) -> Finding:
    matrix = np.array([[0.75, 0.25, 0.0], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
    named = {f"three letters on a line, {DP}": _worst_pair(DifferentialPrivacy(), matrix)}
    return holds(sample, named=named, of="channels on lines of letters")


def _renamed(rng: np.random.Generator) -> float:
    notion, (matrix, prior) = _pick(rng, _GLOBAL), _drawn(rng)
    order = rng.permutation(len(matrix))
    found = notion.leakage(matrix, SourceSet(prior))
    graph = line(len(matrix)) if rng.random() < 0.5 else clique(len(matrix))
    again = notion.with_neighbors(graph).leakage(matrix[order], SourceSet(prior[order]))
    return max(apart(found, again), apart(found, _by_formula(notion, matrix, prior)))


@claim(instance=_renamed, tolerance=_ROUNDING)
def lemma_20_3(sample: Sample) -> Finding:
    rare = SourceSet([1 - 1e-9, 1e-9])
    named = {
        "a rare letter recognized, maximal information is log 1e9": apart(
            MaximalInformation().leakage(np.eye(2), rare), math.log(1e9)
        ),
        "and maximal leakage log 2": apart(MaximalLeakage().leakage(np.eye(2), rare), math.log(2)),
    }
    return holds(sample, named=named, tolerance=1e-6, of="channels, priors and permutations")


def _lemma_20_4(rng: np.random.Generator) -> float:
    matrix, _ = _drawn(rng)
    less, more = np.sort(rng.uniform(0, 0.95, 2)).tolist()
    found = [DifferentialPrivacy().leakage(matrix), *(ApproximateDP(d).leakage(matrix) for d in (0.0, less, more))]
    return max(apart(found[0], found[1]), *(b - a if a != b else 0.0 for a, b in itertools.pairwise(found[1:])))


@claim(instance=_lemma_20_4)
def lemma_20_4(sample: Sample) -> Finding:
    table = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    ratios = [exp_ratio(table, delta=delta) for delta in (F(0), F(1, 4), F(1, 2))]
    named = {
        "rows (3,1)/4 and (1,3)/4, delta = 0, 1/4, 1/2: 3, 2, 1": max(
            abs(float(r - w)) for r, w in zip(ratios, (3, 2, 1), strict=True)
        )
    }
    return holds(sample, named=named, of="channels and pairs of delta")


def _lemma_20_5(rng: np.random.Generator) -> float:
    """``eps + log(least entry)/(a-1) <= D_a <= eps``, from the column in which the ratio is largest."""
    matrix, _ = _drawn(rng, zeros=False)
    private, worst = DifferentialPrivacy().leakage(matrix), -math.inf
    for order in (2.0, 30.0, 1e3, 1e6):
        missing = private - RenyiDP(order).leakage(matrix)
        worst = max(worst, -missing, missing + math.log(matrix.min()) / (order - 1))
    return worst


@claim(instance=_lemma_20_5, tolerance=_ROUNDING)
def lemma_20_5(sample: Sample) -> Finding:
    flip = [[0.75, 0.25], [0.25, 0.75]]
    named = {"rows (3,1)/4 and (1,3)/4, order 1e9, log 3": abs(RenyiDP(1e9).leakage(flip) - math.log(3))}
    named["rows (1,0) and (1,1)/2: both infinite"] = float(
        not math.isinf(RenyiDP(1e3).leakage([[1.0, 0.0], [0.5, 0.5]]))
    )
    return holds(sample, named=named, tolerance=_ROUNDING, of="channels, orders 2 to 1e6, within their rate")


def _lemma_20_6(rng: np.random.Generator) -> float:
    """Within ``(a-1) R^2 / 8`` (Hoeffding), if the logarithm of joint over product ranges over R."""
    matrix, prior = _drawn(rng, zeros=False)
    density = np.log(matrix / (prior @ matrix))
    worst = -math.inf
    for order in (3.0, 1.1, 1.001):
        more = SibsonInformation(order).leakage(matrix, SourceSet(prior)) - information(prior, matrix)
        worst = max(worst, -more, more - (order - 1) * float(np.ptp(density)) ** 2 / 8)
    return worst


@claim(instance=_lemma_20_6, tolerance=_ROUNDING)
def lemma_20_6(sample: Sample) -> Finding:
    flip, half = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])
    gap = SibsonInformation(1 + 1e-4).leakage(flip, SourceSet(half)) - information(half, flip)
    allowed = 1e-4 * math.log(3) ** 2 / 8
    named = {"fair bit flipped with 1/4, order 1.0001": max(-gap, gap - allowed)}
    return holds(
        sample, named=named, tolerance=_ROUNDING, of="channels and priors, orders 3 to 1.001, within their rate"
    )


def _lemma_20_7(rng: np.random.Generator) -> float:
    matrix, prior = _drawn(rng)
    largest, worst = MaximalLeakage().leakage(matrix), -math.inf
    for order in (2.0, 30.0, 1e3, 1e5):
        found = SibsonInformation(order).leakage(matrix, SourceSet(prior))
        low = order / (order - 1) * (largest + math.log(prior.min()) / order)
        worst = max(worst, found - largest, low - found)
    return worst


@claim(instance=_lemma_20_7, tolerance=_ROUNDING)
def lemma_20_7(sample: Sample) -> Finding:
    flip, half = np.array([[0.75, 0.25], [0.25, 0.75]]), SourceSet([0.5, 0.5])
    gap = abs(SibsonInformation(1e6).leakage(flip, half) - math.log(1.5))
    named = {"fair bit flipped with 1/4, order 1e6, log 3/2": max(0.0, gap - 1e-6)}
    return holds(sample, named=named, tolerance=_ROUNDING, of="channels and priors, orders 2 to 1e5, within their rate")


def _lemma_20_8(rng: np.random.Generator) -> float:
    matrix, _ = _drawn(rng)
    orders = np.sort(1 + 10 ** rng.uniform(-2, 2, 3))
    found = [*(RenyiDP(order).leakage(matrix) for order in orders), DifferentialPrivacy().leakage(matrix)]
    return max(a - b if a != b else 0.0 for a, b in itertools.pairwise(found))


@claim(instance=_lemma_20_8, tolerance=_ROUNDING)
def lemma_20_8(sample: Sample) -> Finding:
    # Of order 2: (9/16)/(1/4) + (1/16)/(3/4) = 7/3, below 3.
    gap = abs(RenyiDP(2).leakage([[0.75, 0.25], [0.25, 0.75]]) - math.log(7 / 3))
    named = {"rows (3,1)/4 and (1,3)/4, order 2, log 7/3": gap}
    return holds(sample, named=named, of="channels and triples of orders")


def _lemma_20_9(rng: np.random.Generator) -> float:
    """Two records: monotone, at least mutual information, and at most twice what neighbors may differ."""
    values, records = [(2, 1), (3, 1), (2, 2)][rng.integers(3)]
    size = values**records
    matrix, prior = random_mechanism(rng, size, zeros=False), rng.permutation(random_prior(rng, size))
    orders = np.sort(1 + 10 ** rng.uniform(-2, 2, 3))
    found = [information(prior, matrix)]
    found += [SibsonInformation(order).leakage(matrix, SourceSet(prior)) for order in orders]
    found.append(records * loss(DP, matrix, values, records))
    return max(a - b for a, b in itertools.pairwise(found))


@claim(instance=_lemma_20_9, tolerance=_ROUNDING)
def lemma_20_9(sample: Sample) -> Finding:
    private = math.exp(differential_privacy(zhong.lemma_5_profile(3, 6, 3.0), 3))
    order_2 = math.exp(sibson_information(zhong.lemma_5_profile(3, 6, 3.0), 3, 2.0))
    matrix, uniform = zhong.lemma_5_mechanism(3, 2, 1.0), SourceSet(np.full(9, 1 / 9))
    order_50 = math.exp(loss(SIBSON, matrix, 3, 2, uniform, alpha=50.0))
    two = math.exp(loss(DP, matrix, 3, 2))
    printed = {
        "six records of three values, each kept with 1/2, order 2, as exp: largest": (private, float(F(9, 8) ** 6)),
        "two such records, order 50, as exp: largest": (two, order_50),
    }
    mended = {
        "the same six: above 6 times": (0.0, max(0.0, math.log(order_2) - 6 * math.log(private))),
        "order 2 of the six, as exp": (order_2, float(F(9, 8) ** 6)),
    }
    return corrected(printed, mended, sample)


# Lemma 21


def _mixed(rng: np.random.Generator, notion: Notion, form: Callable[[float], float] | None) -> float:
    """Of a mixture: its value less the larger of its parts', or less their mean if a form of the leakage is to be convex."""
    first, prior = _drawn(rng)
    second, share = random_mechanism(rng, len(first)), float(rng.choice([0.1, 0.5, 0.8]))
    source = SourceSet(prior)
    ends = [notion.leakage(matrix, source) for matrix in (first, second)]
    middle = notion.leakage(share * first + (1 - share) * second, source)
    if math.isinf(max(ends)):
        return math.nan
    if form is None:
        return middle - max(ends)
    mean = share * form(ends[0]) + (1 - share) * form(ends[1])
    return (form(middle) - mean) / max(1.0, form(middle))


@claim(instance=lambda rng: _mixed(rng, _pick(rng, [*_BETWEEN[:3], MaximalInformation()]), None), tolerance=_ROUNDING)
def lemma_21_1(sample: Sample) -> Finding:
    # Identity and its reverse leak without bound; half-way nothing.
    named = {"identity and reverse, half-way": DifferentialPrivacy().leakage([[0.5, 0.5], [0.5, 0.5]])}
    half, first, second = SourceSet([0.5, 0.5]), [[0.75, 0.25], [0.25, 0.75]], [[0.25, 0.75], [0.25, 0.75]]
    middle = np.array([[0.5, 0.5], [0.25, 0.75]])
    for notion in (*_BETWEEN[:2], MaximalInformation()):
        ends = max(notion.leakage(first, half), notion.leakage(second, half))
        named[f"rows (3,1)/4, (1,3)/4 and twice (1,3)/4, {notion!r}"] = notion.leakage(middle, half) - ends
    return holds(sample, named=named, tolerance=_ROUNDING, of="pairs of channels, mixtures and priors")


@claim(instance=lambda rng: _mixed(rng, MaximalLeakage(), math.exp), tolerance=_ROUNDING)
def lemma_21_2(sample: Sample) -> Finding:
    # The identity and an even choice for two letters: 2 and 1, half-way 3/2.
    gap = math.exp(MaximalLeakage().leakage([[0.75, 0.25], [0.25, 0.75]])) - 1.5
    return holds(sample, named={"identity and even choice, two letters": max(0.0, gap)}, of="pairs of channels")


def _moment(rng: np.random.Generator) -> float:
    order = _order(rng)
    return _mixed(rng, RenyiDP(order), lambda leakage: math.exp(min((order - 1) * leakage, 500.0)))


@claim(instance=_moment, tolerance=_ROUNDING)
def lemma_21_3(sample: Sample) -> Finding:
    first, second = [[F(9, 10), F(1, 10)], [F(1, 20), F(19, 20)]], [[F(1, 20), F(19, 20)]] * 2
    middle = [[(a + b) / 2 for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)]
    moments = [
        max(sum(p * p / q for p, q in zip(a, b, strict=True)) for a, b in itertools.permutations(table, 2))
        for table in (first, second, middle)
    ]
    ends, half = [float(moment) for moment in moments[:2]], float(moments[2])
    name = "order 2, rows (18,2)/20, (1,19)/20 and twice (1,19)/20, half-way"
    printed = {f"{name}, nats: at most": (sum(map(math.log, ends)) / 2, math.log(half))}
    return corrected(printed, {f"{name}, exp eps above the mean": (0.0, max(0.0, half - sum(ends) / 2))}, sample)


def _lemma_21_4(rng: np.random.Generator) -> float:
    order = _order(rng)
    state = rng.bit_generator.state
    convex = _mixed(
        rng, SibsonInformation(order), lambda leakage: math.exp((order - 1) / order * leakage) / (order - 1)
    )
    rng.bit_generator.state = state
    return max(convex, _mixed(rng, SibsonInformation(order), None))


@claim(instance=_lemma_21_4, tolerance=_ROUNDING)
def lemma_21_4(sample: Sample) -> Finding:
    # Order 2, identity and even choice for a fair bit: exp(eps / 2) is sqrt 2 and 1, half-way sqrt(5/4).
    form = math.exp(SibsonInformation(2.0).leakage([[0.75, 0.25], [0.25, 0.75]], SourceSet([0.5, 0.5])) / 2)
    named = {"identity and even choice, fair bit, order 2": form - (math.sqrt(2) + 1) / 2}
    named["the same, as sqrt(5/4)"] = abs(form - math.sqrt(1.25))
    return holds(sample, named=named, tolerance=_ROUNDING, of="pairs of channels, priors, orders and mixtures")


@claim(instance=lambda rng: _mixed(rng, MutualInformation(), lambda leakage: leakage), tolerance=_ROUNDING)
def lemma_21_5(sample: Sample) -> Finding:
    half, flip = np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.25, 0.75]])
    named = {"identity and even choice, fair bit": information(half, flip) - math.log(2) / 2}
    return holds(sample, named=named, tolerance=_ROUNDING, of="pairs of channels, priors and mixtures")


# Lemmas 22 and 23


def _rows(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    matrix = random_mechanism(rng, 2, int(rng.integers(2, 6)))
    return matrix[0], matrix[1]


def _events(count: int) -> list[FloatArray]:
    return [np.array(event, dtype=bool) for event in itertools.product([False, True], repeat=count)]


def _monotone(rng: np.random.Generator) -> float:
    row, other = _rows(rng)
    less, more = np.sort(1 + 10 ** rng.uniform(-2, 1.5, 2))
    low, high = divergence(row, other, less), divergence(row, other, more)
    return low - high if low != high else 0.0


@claim(instance=_monotone, tolerance=_ROUNDING)
def lemma_22_1(sample: Sample) -> Finding:
    row, other = np.array([0.75, 0.25]), np.array([0.25, 0.75])
    named = {"(3,1)/4 and (1,3)/4, orders 2 and 3": divergence(row, other, 2.0) - divergence(row, other, 3.0)}
    return holds(sample, named=named, of="pairs of distributions and of orders")


def _preserved(row: FloatArray, other: FloatArray, order: float) -> float:
    known = divergence(row, other, order)
    if math.isinf(known):
        return math.nan
    power = (order - 1) / order
    events = _events(len(row))
    return max(float(row[event].sum() - (math.exp(known) * other[event].sum()) ** power) for event in events)


@claim(instance=lambda rng: _preserved(*_rows(rng), float(1 + 10 ** rng.uniform(-2, 1.5))), tolerance=_ROUNDING)
def lemma_22_2(sample: Sample) -> Finding:
    row, other = np.array([0.0, 0.4, 0.6]), np.array([0.75, 0.1, 0.15])
    named = {
        f"Q given an event of probability 1/4, tight, order {a}": abs(_preserved(row, other, a)) for a in (1.5, 4.0)
    }
    return holds(sample, named=named, of="pairs of distributions with all their events, and orders")


def _lemma_23(rng: np.random.Generator) -> float:
    matrix, prior = _drawn(rng)
    order = float(1 + 10 ** rng.uniform(-1.5, 1.5))
    leakage, power = SibsonInformation(order).leakage(matrix, SourceSet(prior)), (order - 1) / order
    events = [matrix > prior @ matrix, *(rng.random(matrix.shape) < rng.random() for _ in range(8))]
    return max(
        float((prior @ (matrix * event)).sum() - ((prior @ event).max() * math.exp(leakage)) ** power)
        for event in events
    )


@claim(instance=_lemma_23, tolerance=_ROUNDING)
def lemma_23(sample: Sample) -> Finding:
    fair = SourceSet(np.full(4, 0.25))
    tight = (0.25 * math.exp(SibsonInformation(2.0).leakage(np.eye(4), fair))) ** 0.5 - 1
    return holds(
        sample,
        named={"one of four letters published as it is, tight": abs(tight)},
        of="channels, priors, orders and events",
    )


# Lemma 24


def _padded(matrix: FloatArray, prior: FloatArray) -> tuple[FloatArray, SourceSet]:
    """A square matrix by repeating the last row, for letters that never occur: nothing leaks more or less by any notion."""
    extra = matrix.shape[1] - len(matrix)
    return np.vstack([matrix, np.tile(matrix[-1], (extra, 1))]), SourceSet(np.append(prior, np.zeros(extra)))


def _merged(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 4))
    matrix, prior = random_mechanism(rng, size, size + int(rng.integers(1, 3))), random_prior(rng, size)
    notion = _pick(rng, [DifferentialPrivacy(), *_BETWEEN[3:], *_GLOBAL])
    before = notion.leakage(*_padded(matrix, prior))
    fewer = matrix[:, :size].copy()
    fewer[:, -1] += matrix[:, size:].sum(axis=1)
    after = notion.leakage(fewer, SourceSet(prior))
    wrong = float(prior @ (np.diagonal(matrix) - np.diagonal(fewer)))
    return max(after - before if after != before else 0.0, wrong)


@claim(instance=_merged, tolerance=_ROUNDING)
def lemma_24(sample: Sample) -> Finding:
    wide, half = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]), np.array([0.5, 0.5])
    fewer = np.array([[0.5, 0.5], [0.25, 0.75]])
    named = {}
    for notion in (DifferentialPrivacy(), MaximalInformation(), MaximalLeakage(), MutualInformation()):
        after = notion.leakage(fewer, SourceSet(half))
        named[f"rows (2,1,1)/4 and (1,1,2)/4, {notion.name}"] = after - notion.leakage(*_padded(wide, half))
    return holds(sample, named=named, tolerance=_ROUNDING, of="channels with one or two outputs too many")


def _least_change(prior: list[float], ratio: float, outputs: int, delta: float) -> float:
    """Least distortion of a local mechanism with so many outputs, by a linear program."""
    from scipy.optimize import linprog

    size = len(prior)
    rows = []
    for j, (i, k) in itertools.product(range(outputs), itertools.permutations(range(size), 2)):
        row = np.zeros((size, outputs))
        row[i, j], row[k, j] = 1.0, -ratio
        rows.append(row.ravel())
    kept = np.zeros((size, outputs))
    kept[range(size), range(size)] = prior
    found = linprog(
        -kept.ravel(),
        A_ub=np.array(rows),
        b_ub=np.full(len(rows), delta),
        A_eq=np.kron(np.eye(size), np.ones(outputs)),
        b_eq=np.ones(size),
    )
    return 1 + float(found.fun)


@claim()
def lemma_24_exception() -> Finding:
    table = [[F(1, 10), F(1, 10), F(8, 10)], [F(0), F(0), F(1)], [F(0), F(0), F(1)]]
    before = exp_ratio(table, delta=F(1, 10))
    merging_fails = before == F(9, 8) and math.isinf(ApproximateDP(0.1).leakage([[0.2, 0.8], [0.0, 1.0]]))
    pairs = {}
    for prior, ratio in (([0.7, 0.3], 2.0), ([0.5, 0.3, 0.2], 1.5)):
        saved = _least_change(prior, ratio, len(prior), 0.1) - _least_change(prior, ratio, len(prior) + 2, 0.1)
        name = f"P = {tuple(prior)}, e^eps = {ratio:g}, delta = 0.1: m outputs claimed to be enough (0) and enough (1)"
        pairs[name] = (float(not merging_fails), float(abs(saved) < _ROUNDING))
    return loose(pairs)
