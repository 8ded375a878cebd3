"""What Zhong and Bu state (2022), claim by claim: parallel composition (Section IV-D), contributions and conclusion."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose
from paper_repro.claims.draw import Vertices, random_mechanism, random_prior
from paper_repro.claims.exact import (
    Channel,
    changed,
    distances,
    exp_information,
    exp_mass,
    exp_ratio,
    exp_sibson_2,
    product,
    response,
)
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MAXIMAL,
    MUTUAL,
    RENYI,
    SIBSON,
    least,
    loss,
    part_of,
    uniform,
)
from paper_repro.databases import optimal_database_mechanism
from paper_repro.notions import ApproximateDP, MaximalLeakage
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.papers.readings import Reading
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import NOTION_NAMES

_EXACT, _CONIC = 1e-8, 2e-6
_HALF = [F(1, 2), F(1, 2)]
_FAIR = [F(1, 4)] * 4
_PAIR: Vertices = ((0.5, 0.5), (0.75, 0.25))
# Of two fair bits, show one and hide the other: D = 1/2. And a mechanism of distortion 3/5 by number of bits changed.
_SHOW_ONE: Channel = product([[F(1), F(0)], [F(0), F(1)]], [[F(1), F(0)], [F(1), F(0)]])
_BY_DISTANCE: Channel = [[(F(9, 20), F(5, 20), F(1, 20))[apart] for apart in row] for row in distances(2, 2)]
_ONE_CHANNEL = (
    "True of mechanisms that publish every record through one and the same channel; among all mechanisms n times the least "
    "for one record is an upper bound only."
)
_BOTH_WAYS = "show one bit and hide the other"


def _distortion_adds_up(rng: np.random.Generator) -> float:
    size, records = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    prior, matrix = random_prior(rng, size), random_mechanism(rng, size)
    whole, joint = matrix, prior
    for _ in range(records - 1):
        whole, joint = np.kron(whole, matrix), np.kron(joint, prior)
    total = float((joint[:, np.newaxis] * whole * np.array(distances(size, records))).sum())
    return abs(total - records * float(prior @ (1 - np.diagonal(matrix))))


@claim(instance=_distortion_adds_up)
def section_iv_d_distortion(sample: Sample) -> Finding:
    flip = response(3, F(1, 4))
    prior = [F(7, 10), F(2, 10), F(1, 10)]
    joint = [a * b for a in prior for b in prior]
    gap = changed(product(flip, flip), joint, 3, 2) - 2 * changed(flip, prior)
    return holds(sample, named={"P = (7,2,1)/10, two records, D = 1/4 each": abs(float(gap))}, of="priors and channels")


# Lemma 16


def _twice(notion: str, matrix: np.ndarray, prior: np.ndarray, alpha: float) -> tuple[float, float]:
    """What a mechanism leaks for one record, and used for two."""
    pair, joint = np.kron(matrix, matrix), np.kron(prior, prior)
    one = loss(notion, matrix, len(prior), 1, SourceSet(prior), alpha=alpha)
    return one, loss(notion, pair, len(prior), 2, SourceSet(joint), alpha=alpha)


def _additive(notion: str) -> Callable[[np.random.Generator], float]:
    times = 1 if notion in (DP, RENYI) else 2

    def violation(rng: np.random.Generator) -> float:
        size = int(rng.integers(2, 4))
        alpha = float(rng.choice([1.2, 2.0, 6.0]))
        one, two = _twice(notion, random_mechanism(rng, size, zeros=False), random_prior(rng, size), alpha)
        return abs(two - times * one) / (1 + one)

    return violation


def _against_all(notion: str) -> Callable[[np.random.Generator], float]:
    """All mechanisms for two independent records of one prior, against the lemma."""
    times = 1 if notion in (DP, RENYI) else 2

    def violation(rng: np.random.Generator) -> float:
        share = float(rng.uniform(0.5, 0.8))
        prior = np.array([share, 1 - share])
        d = float(rng.uniform(0.1, 0.8)) * (1 - share)
        return max(_additive(notion)(rng), _gap_16(notion, prior, d, times))

    return violation


def _gap_16(notion: str, prior: np.ndarray, d: float, times: int) -> float:
    local = least(notion, 2, 1, d, (tuple(prior.tolist()),))
    return abs(times * local - least(notion, 2, 2, 2 * d, (tuple(np.kron(prior, prior).tolist()),)))


def _check_16(notion: str) -> Callable[[Sample], Finding]:
    def true(sample: Sample) -> Finding:
        times = 1 if notion in (DP, RENYI) else 2
        named = {"P = (7,3)/10, two records, D = 2/5": _gap_16(notion, np.array([0.7, 0.3]), 0.2, times)}
        named["two fair bits, D = 1/2"] = _gap_16(notion, np.array([0.5, 0.5]), 0.25, times)
        return holds(sample, named=named, tolerance=1e-5 if notion != DP else _EXACT, of="priors and D")

    def among_products(sample: Sample) -> Finding:
        flip = response(2, F(3, 10) if notion == SIBSON else F(1, 4))
        matrix = _BY_DISTANCE if notion == SIBSON else _SHOW_ONE
        measures: dict[str, Callable[[Channel, list[F]], float | F]] = {
            MAXIMAL: exp_information,
            LEAKAGE: lambda table, prior: exp_mass(table),
            SIBSON: exp_sibson_2,
        }
        measure = measures[notion]
        d = changed(matrix, _FAIR, 2, 2)
        lemma, product_ = float(measure(flip, _HALF)) ** 2, float(measure(product(flip, flip), _FAIR))
        how = "(9,5,1)/20 by number of bits changed, order 2" if notion == SIBSON else _BOTH_WAYS
        printed = {f"two fair bits, D = {d}, {how}, as exp": (lemma, float(measure(matrix, _FAIR)))}
        exact = math.exp(least(notion, 2, 2, float(d)))
        printed[f"the same, least of all mechanisms{' at order 2' * (notion == SIBSON)}, as exp"] = (lemma, exact)
        mended = {f"one randomized response for both bits, D = {d}, as exp": (lemma, product_)}
        return corrected(printed, mended, sample)

    return true if notion in (DP, RENYI, MUTUAL) else among_products


for _name, _notion in (
    ("lemma_16_1_differential_privacy", DP),
    ("lemma_16_1_renyi_differential_privacy", RENYI),
    ("lemma_16_2_maximal_information", MAXIMAL),
    ("lemma_16_2_maximal_leakage", LEAKAGE),
    ("lemma_16_2_sibson_information", SIBSON),
    ("lemma_16_2_mutual_information", MUTUAL),
):
    _alike, _true = _notion in (DP, RENYI), _notion in (DP, RENYI, MUTUAL)
    claim(
        name=_name,
        instance=_against_all(_notion) if _true else _additive(_notion),
        tolerance=1e-5 if _true and _notion != DP else _EXACT,
        share=0.1 if _true else 1.0,
    )(_check_16(_notion))


# Theorem 17

_FORMULA_17 = {
    DP: ("log((m-1)(n-D)/D) up to D = n(m-1)/m, and 0 from there to 1", ""),
    APPROXIMATE: (
        "max(0, log((m-1)(n(1 - delta m^(n-1)) - D)/D))",
        "max(0, log((m-1)(n-D)/D (1 - delta (1-D/n)^(-n))))",
    ),
    MAXIMAL: (
        "n log(m(1-D/n)) up to D = n(m-1)/m",
        "n log((n-D)/(p(n-D-D/(m-1)) + D/(m-1))) up to D = n(m-1)/m, p being the least probability of a letter in the set",
    ),
    LEAKAGE: ("n log(m(1-D/n)) up to D = n(m-1)/m, and 0 from there to 1", ""),
    RENYI: (
        "max(0, n(m-1)(1-D/n)^(a/(a-1))/D) at order a",
        "max(0, 1/(a-1) log(D/(n(m-1)) (m - 2 + A^a + A^(1-a)))) at order a, where A = (m-1)(n-D)/D",
    ),
    SIBSON: (
        "n log(m(1-D/n)^(a/(a-1))) at order a, and by the least mutual information",
        "max(0, n log(m((1-D/n)^a + (m-1)(D/(n(m-1)))^a)^(1/(a-1)))) at order a",
    ),
    MUTUAL: ("max(0, n log(m(1-D/n)) + D log(D/((m-1)(n-D))))", ""),
}
# Name, values, records, distortion, order, delta.
_Case = tuple[str, int, int, float, float, float]
_CASES_17: list[_Case] = [
    ("m = 2, n = 1, D = 1/4", 2, 1, 0.25, 2.0, 0.1),
    ("m = n = 2, D = 1/4", 2, 2, 0.25, 2.0, 0.25),
    ("m = n = 2, D = 1/2", 2, 2, 0.5, 10.0, 0.1),
    ("m = 3, n = 2, D = 1", 3, 2, 1.0, 2.0, 0.05),
    ("m = n = 2, D = 3/2", 2, 2, 1.5, 2.0, 0.1),
]
_SHOWN = _CASES_17[2]


def _case_17(notion: str, case: _Case, reading: Reading = "printed") -> tuple[float, float, float]:
    """Lower end, least leakage of all mechanisms and upper end in nats, for the uniform prior."""
    _, m, n, d, alpha, delta = case
    found = zhong.theorem_17(notion, m, n, d, uniform(m), alpha=alpha, delta=delta, reading=reading)
    return found.lower, least(notion, m, n, d, alpha=alpha, delta=delta), found.upper


def _label(notion: str, case: _Case) -> str:
    parameter = f", a = {case[4]:g}" if notion in (RENYI, SIBSON) else ""
    return f"{case[0]}{parameter}{f', delta = {case[5]:g}' if notion == APPROXIMATE else ''}, as exp"


def _violation_17(notion: str, side: str, reading: Reading) -> Callable[[np.random.Generator], float]:
    """Of all mechanisms."""

    def violation(rng: np.random.Generator) -> float:
        m, n = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        alpha, delta = float(1 + 10 ** rng.uniform(-1, 1.3)), float(rng.choice([0.001, 0.05, 0.25]))
        case = ("", m, n, float(rng.uniform(0.02, 0.98)) * n, alpha, delta)
        lower, exact, upper = _case_17(notion, case, reading)
        low, high = lower - exact, exact - upper
        return {"lower": low, "upper": high}.get(side, max(low, high, -low, -high))

    return violation


def _violation_of_products(notion: str) -> Callable[[np.random.Generator], float]:
    """Of products of one mechanism for uniform records: the lower bound against what a random mechanism leaks."""

    def violation(rng: np.random.Generator) -> float:
        size, records, alpha = int(rng.integers(2, 4)), int(rng.integers(2, 5)), float(rng.choice([1.5, 3.0, 10.0]))
        share = rng.uniform()
        matrix = share * np.eye(size) + (1 - share) * random_mechanism(rng, size, zeros=False)
        d = float(1 - np.trace(matrix) / size)
        if not 0 < d < 1:
            return math.nan
        leakage = records * loss(notion, matrix, size, 1, uniform(size), alpha=alpha)
        found = zhong.theorem_17(notion, size, records, records * d, uniform(size), alpha=alpha, reading="corrected")
        return found.lower - leakage

    return violation


def _as_exp(pair: tuple[float, float]) -> tuple[float, float]:
    return math.exp(pair[0]), math.exp(pair[1])


def _check_17(notion: str, side: str) -> Callable[[Sample], Finding]:
    def among_products(sample: Sample) -> Finding:
        lower, exact, _ = _case_17(notion, _SHOWN)
        _, m, n, d, alpha, _ = _SHOWN
        special = loss(notion, zhong.lemma_5_mechanism(m, n, d), m, n, uniform(m**n), alpha=alpha)
        excess = special - lower if side == "both" else min(0.0, special - lower)
        name = _label(notion, _SHOWN)
        mended = {f"{name}, products of one mechanism: the least less the formula": (0.0, excess)}
        return corrected({name: _as_exp((lower, exact))}, mended, sample)

    def lost_logarithm(sample: Sample) -> Finding:
        case = _CASES_17[0]
        printed, exact, _ = _case_17(notion, case)
        lower = _case_17(notion, case, "corrected")[0]
        mended = {f"{case[0]}, a = 2, with the logarithm: excess over the least": (0.0, max(0.0, lower - exact))}
        return corrected({f"{case[0]}, a = 2, in nats": (printed, exact)}, mended, sample, tolerance=_EXACT)

    def rising(sample: Sample) -> Finding:
        printed, mended = (
            {_label(notion, case): _as_exp(_case_17(notion, case, reading)[:2]) for case in _CASES_17}
            for reading in ("printed", "corrected")
        )
        return corrected(printed, mended, sample, tolerance=_EXACT)

    def equation(sample: Sample) -> Finding:
        named = {_label(notion, case): abs(np.diff(_as_exp(_case_17(notion, case)[:2]))[0]) for case in _CASES_17}
        return holds(sample, named=named, tolerance=_EXACT, of="m, n and D")

    def bound(sample: Sample) -> Finding:
        at = 0 if side == "lower" else 1
        found = {_label(notion, case): _case_17(notion, case) for case in _CASES_17}
        pairs = {name: _as_exp((row[at], row[at + 1])) for name, row in found.items()}
        if notion == MAXIMAL:
            upper = zhong.theorem_17(notion, 2, 1, 0.1, SourceSet(_PAIR)).upper
            exact = least(notion, 2, 1, 0.1, _PAIR)
            pairs["{(1,1)/2, (3,1)/4}, n = 1, D = 1/10, as exp"] = _as_exp((exact, upper))
        return loose(pairs, sample, tolerance=_EXACT)

    if notion == LEAKAGE or (side == "lower" and notion in (MAXIMAL, SIBSON)):
        return among_products
    if (notion, side) == (RENYI, "lower"):
        return lost_logarithm
    if notion == MUTUAL:
        return rising
    return equation if notion == DP else bound


_RISES = "From D = n(m-1)/m on nothing needs to leak, but the formula rises again."
_CORRECTIONS_17 = {
    "theorem_17_4": _ONE_CHANNEL,
    "theorem_17_3_lower": _ONE_CHANNEL,
    "theorem_17_6_lower": _ONE_CHANNEL,
    "theorem_17_5_lower": "The logarithm is lost: max(0, log(n(m-1)(1-D/n)^(a/(a-1))/D)).",
    "theorem_17_5_upper": f"{_RISES} Before, the bound is the least leakage.",
    "theorem_17_6_upper": _RISES,
    "theorem_17_7": f"{_RISES} The least leakage is 0 there, up to D = n.",
    "theorem_17_2_upper": "What the product of randomized responses leaks; other mechanisms leak less.",
}
for _name in (
    "theorem_17_1",
    "theorem_17_2_lower", "theorem_17_2_upper",
    "theorem_17_3_lower", "theorem_17_3_upper",
    "theorem_17_4",
    "theorem_17_5_lower", "theorem_17_5_upper",
    "theorem_17_6_lower", "theorem_17_6_upper",
    "theorem_17_7",
):  # fmt: skip
    _part, _notion, _side = part_of(_name)
    _mended = _CORRECTIONS_17.get(_name) == _ONE_CHANNEL
    _reading: Reading = "corrected" if _name in ("theorem_17_5_lower", "theorem_17_7") else "printed"
    claim(
        name=_name,
        instance=_violation_of_products(_notion) if _mended else _violation_17(_notion, _side, _reading),
        tolerance=_EXACT,
    )(_check_17(_notion, _side))


# Theorem 18


def _violation_18_1(rng: np.random.Generator) -> float:
    prior, delta = random_prior(rng, int(rng.integers(2, 4)), -0.3, 1.5), float(rng.uniform(0.01, 0.4))
    d = float(rng.uniform(0.05, 0.95)) * zhong.lemma_10(prior, delta)
    matrix = optimal_mechanism(
        SourceSet(prior), distortion=d, notion=ApproximateDP(delta, standard=True)
    ).mechanism.matrix
    claimed = zhong.theorem_18("approximate differential privacy", prior, 2, 2 * d, delta=delta, reading="corrected")
    pair, size = np.kron(matrix, matrix), len(prior)
    neighbors = [(x, z) for x, row in enumerate(distances(size, 2)) for z, apart in enumerate(row) if apart == 1]
    excess = max(np.clip(pair[x] - math.exp(claimed) * pair[z], 0, None).sum() for x, z in neighbors)
    return max(float(excess) - delta, loss(APPROXIMATE, pair, size, 2, delta=delta) - claimed)


@claim(instance=_violation_18_1, tolerance=_EXACT, share=0.3)
def theorem_18_1(sample: Sample) -> Finding:
    claimed = math.exp(zhong.theorem_18("approximate differential privacy", [0.5, 0.5], 2, 0.5, delta=0.1))
    flip = response(2, F(1, 4))
    name = "two fair bits, delta = 1/10, D = 1/4 each"
    printed = {
        f"{name}, product of randomized responses, as exp": (
            claimed,
            float(exp_ratio(product(flip, flip), 2, 2, F(1, 10))),
        ),
        f"{name}, least of all mechanisms, as exp": (claimed, math.exp(least(APPROXIMATE, 2, 2, 0.5))),
    }
    standard = optimal_database_mechanism(2, 2, distortion=0.5, notion=ApproximateDP(0.1, standard=True)).leakage
    return corrected(printed, {f"{name}, standard definition, as exp": (claimed, math.exp(standard))}, sample)


def _violation_18_2(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 5)), -0.3, 1.5)
    d = float(rng.uniform(0.05, 0.95)) * (1 - float(prior[0]))
    matrix = optimal_mechanism(SourceSet(prior), distortion=d, notion=MaximalLeakage()).mechanism.matrix
    return abs(
        math.log(np.kron(matrix, matrix).max(axis=0).sum()) - zhong.theorem_18("maximal leakage", prior, 2, 2 * d)
    )


@claim(instance=_violation_18_2, tolerance=_EXACT)
def theorem_18_2(sample: Sample) -> Finding:
    claimed = math.exp(zhong.theorem_18("maximal leakage", [0.5, 0.5], 2, 0.5))
    flip = response(2, F(1, 4))
    printed = {f"two fair bits, D = 1/4 each, {_BOTH_WAYS}, as exp": (claimed, float(exp_mass(_SHOW_ONE)))}
    mended = {
        "one randomized response for both bits, D = 1/4 each, as exp": (claimed, float(exp_mass(product(flip, flip))))
    }
    return corrected(printed, mended, sample)


# Contributions and conclusion


@claim()
def introduction_contribution_2() -> Finding:
    named, prior = {}, (0.4, 0.3, 0.2, 0.1)
    for d in (0.1, 0.25, 0.45, 0.55):
        gaps = [
            zhong.theorem_9(prior, d, 0.1) - least(APPROXIMATE, 4, 1, d, (prior,)),
            zhong.theorem_14(prior, d) - least(LEAKAGE, 4, 1, d, (prior,)),
        ]
        named[f"P = (4,3,2,1)/10, D = {d}"] = max(map(abs, gaps))
    return holds(named=named, tolerance=_EXACT)


@claim()
def introduction_contribution_3() -> Finding:
    case = _SHOWN
    found = {
        notion: _as_exp(_case_17(notion, case, "corrected")[:2])
        for notion in NOTION_NAMES
        if notion in (DP, LEAKAGE, MUTUAL)
    }
    printed = {f"two fair bits, D = 1/2, {LEAKAGE}, as exp": found.pop(LEAKAGE)}
    return corrected(
        printed, {f"two fair bits, D = 1/2, {notion}, as exp": pair for notion, pair in found.items()}, tolerance=_EXACT
    )


def _rescaled(rng: np.random.Generator) -> float:
    prior, delta = random_prior(rng, int(rng.integers(2, 7)), -0.3, 1.5), float(rng.uniform(0.01, 0.6))
    d, vertices = float(rng.uniform(0.02, 0.98)) * zhong.lemma_10(prior, delta), (tuple(prior.tolist()),)
    exact = least(APPROXIMATE, len(prior), 1, d, vertices, delta=delta)
    return max(
        abs(zhong.theorem_9(prior, d, delta) - exact), abs(least(DP, len(prior), 1, d / (1 - delta), vertices) - exact)
    )


@claim(instance=_rescaled, tolerance=_EXACT)
def conclusion_closed_form(sample: Sample) -> Finding:
    gap = abs(zhong.theorem_9([0.7, 0.2, 0.1], 0.225, 0.1) - math.log(5))
    named = {"P = (7,2,1)/10, delta = 1/10, D = 9/40, log 5": gap}
    return holds(sample, named=named, of="priors, delta and D, and differential privacy at D/(1-delta)")
