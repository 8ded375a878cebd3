"""What Zhong and Bu state (2022), claim by claim: the local framework (Section IV-A to IV-C)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose, reproduced
from paper_repro.claims.draw import Vertices, random_mechanism, random_prior, random_vertices
from paper_repro.claims.exact import changed
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MAXIMAL,
    MUTUAL,
    RENYI,
    SIBSON,
    least,
    least_by_program,
    loss,
    part_of,
)
from paper_repro.notions import ApproximateDP, MaximalLeakage
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import NOTION_NAMES

_EXACT, _CONIC = 1e-8, 2e-6
_FOUR, _THREE = (0.4, 0.3, 0.2, 0.1), (0.7, 0.2, 0.1)
_HALF: Vertices = ((0.5, 0.5),)
_PAIR: Vertices = ((0.5, 0.5), (0.75, 0.25))


def _validity(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 7))
    prior, matrix = random_prior(rng, size), random_mechanism(rng, size)
    apart = 1 - np.eye(size)
    return abs(float((prior[:, np.newaxis] * matrix * apart).sum()) - (1 - float(prior @ np.diagonal(matrix))))


@claim(instance=_validity)
def section_iv_validity(sample: Sample) -> Finding:
    matrix = [[F(1), F(0), F(0)], [F(1, 2), F(1, 2), F(0)], [F(0), F(1, 3), F(2, 3)]]
    prior = [F(7, 10), F(2, 10), F(1, 10)]
    gap = changed(matrix, prior) - (1 - sum((p * matrix[i][i] for i, p in enumerate(prior)), F(0)))
    return holds(sample, named={"P = (7,2,1)/10, three letters": abs(float(gap))}, of="priors and channels")


# Proposition 8

_FORMULA_8 = {
    DP: ("log((m-1)(1-D)/D) up to D = (m-1)/m, and 0 from there", ""),
    APPROXIMATE: ("log((m-1)(1-D-delta)/D) up to D = (1-delta)(m-1)/m, and 0 from there", ""),
    MAXIMAL: (
        "log(m(1-D)) up to D = (m-1)/m, and 0 from there",
        "log((1-D)/(p(1-D-D/(m-1)) + D/(m-1))) up to D = (m-1)/m, p being the least probability in the set, and 0 from there",
    ),
    LEAKAGE: ("log(m(1-D)) up to D = (m-1)/m, and 0 from there", ""),
    RENYI: (
        "max(0, log((m-1)(1-D)^(a/(a-1))/D)) at order a",
        "max(0, 1/(a-1) log(D/(m-1) (m - 2 + A^a + A^(1-a)))) at order a, where A = (m-1)(1-D)/D",
    ),
    SIBSON: (
        "log(m(1-D)^(a/(a-1))) at order a, and by the least mutual information",
        "max(0, log(m((1-D)^a + D^a (m-1)^(1-a))^(1/(a-1)))) at order a",
    ),
    MUTUAL: ("log(m(1-D)(D/((m-1)(1-D)))^D) up to D = (m-1)/m, and 0 from there", ""),
}
_CASES_8 = [
    ("m = 2, D = 1/4", 2, 0.25),
    ("m = 3, D = 1/2", 3, 0.5),
    ("m = 5, D = 3/10", 5, 0.3),
    ("m = 2, D = 3/4", 2, 0.75),
]


def _case_8(
    notion: str, values: int, d: float, vertices: Vertices | None = None, alpha: float = 2.0, *, named: bool = False
) -> list[float]:
    """Lower end, least leakage and upper end, as exponentials; delta is 1/10.

    What is shown by name is solved by a program over the whole channel, without use of symmetry, where that is quick.
    """
    fair: Vertices = ((1 / values,) * values,)
    source = SourceSet(vertices or fair) if notion == MAXIMAL else None
    found = zhong.proposition_8(notion, values, d, source, alpha=alpha, delta=0.1)
    exact = least(notion, values, 1, d, vertices if notion == MAXIMAL else None, alpha=alpha)
    if named and values <= 3 and exact > 0:
        exact = least_by_program(notion, values, 1, d, alpha=alpha)
    return [math.exp(found.lower), math.exp(exact), math.exp(found.upper)]


def _violation_8(notion: str, side: str) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        values, alpha = int(rng.integers(2, 6)), float(1 + 10 ** rng.uniform(-1, 1.3))
        vertices: Vertices | None = None
        if notion == MAXIMAL:
            values = int(rng.integers(2, 4))
            vertices = ((1 / values,) * values, *random_vertices(rng, values, 1))
        d = float(rng.uniform(0.02, 0.98))
        lower, exact, upper = (math.log(value) for value in _case_8(notion, values, d, vertices, alpha))
        if side == "lower":
            return lower - exact
        closed = notion in (RENYI, SIBSON) and d < 1 - 1 / values
        return max(exact - upper, abs(upper - exact) if closed or side == "both" else -math.inf)

    return violation


def _check_8(notion: str, side: str) -> Callable[[Sample], Finding]:
    tolerance = 10 * (_EXACT if notion in (DP, APPROXIMATE, LEAKAGE) else _CONIC)

    def check(sample: Sample) -> Finding:
        found = {f"{name}, as exp": _case_8(notion, m, d, named=True) for name, m, d in _CASES_8}
        if notion == MAXIMAL:
            found["{(1,1)/2, (3,1)/4}, D = 1/10, as exp"] = _case_8(notion, 2, 0.1, _PAIR)
        if side == "both":
            named = {name: max(abs(row[0] - row[1]), abs(row[2] - row[1])) for name, row in found.items()}
            return holds(sample, named=named, tolerance=tolerance, of="m and D")
        at = 0 if side == "lower" else 1
        return loose({name: (row[at], row[at + 1]) for name, row in found.items()}, sample, tolerance=tolerance)

    return check


_RISES_8 = "Up to D = (m-1)/m the bound is attained, an equation; beyond, the formula rises again and the least is 0."
for _name in (
    "proposition_8_1",
    "proposition_8_2",
    "proposition_8_3_lower", "proposition_8_3_upper",
    "proposition_8_4",
    "proposition_8_5_lower", "proposition_8_5_upper",
    "proposition_8_6_lower", "proposition_8_6_upper",
    "proposition_8_7",
):  # fmt: skip
    _part, _of, _side = part_of(_name)
    claim(
        name=_name,
        instance=_violation_8(_of, _side),
        tolerance=_CONIC if _of == MAXIMAL else _EXACT,
        share=0.2 if _of == MAXIMAL else 1.0,
    )(_check_8(_of, _side))


# Section IV-B: one known prior, and ordered sets


@claim()
def section_iv_b_why_another_method() -> Finding:
    named = {}
    for notion in (DP, LEAKAGE):
        bound = zhong.theorem_6(notion, 3, 1, 0.25, SourceSet(_THREE)).lower
        exact = least(notion, 3, 1, 0.25, (_THREE,))
        name = f"(7,2,1)/10, D = 1/4, {notion}: bound {bound:g} where exp of the least is {math.exp(exact):.6g}"
        named[name] = bound + float(exact < 0.1)
    return holds(named=named)


def _violation_9(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 7)), -0.3, 1.5)
    delta = float(rng.choice([0.0, 0.01, 0.1, 0.5]))
    d = float(rng.uniform(0.02, 1.1)) * zhong.lemma_10(prior, delta)
    formula = zhong.theorem_9(prior, d, delta, "corrected")
    return abs(formula - least(APPROXIMATE, len(prior), 1, d, (tuple(prior.tolist()),), delta=delta))


def _jumps(delta: F) -> tuple[tuple[float, float], tuple[float, float]]:
    d = float((1 - delta) * F(6, 10))
    exact = math.exp(least(APPROXIMATE, 4, 1, d, (_FOUR,), delta=float(delta)))
    printed, mended = (math.exp(zhong.theorem_9(_FOUR, d, float(delta), r)) for r in ("printed", "corrected"))
    return (printed, exact), (mended, exact)


_JUMP = "Right but at D = (1-delta) D^(m-1), where the least leakage jumps to 0: k = m has to be allowed there."


@claim(instance=_violation_9, tolerance=_EXACT)
def theorem_9(sample: Sample) -> Finding:
    name = "P = (4,3,2,1)/10, delta = {}, D = {}, as exp"
    found = {name.format(delta, (1 - delta) * F(6, 10)): _jumps(delta) for delta in (F(1, 10), F(1, 4))}
    inside = {}
    for label, prior, d in (
        ("P = (1,1,1)/3, D = 3/10", (1 / 3,) * 3, 0.3),
        ("P = (3,2,2,1)/8, D = 3/8", (0.375, 0.25, 0.25, 0.125), 0.375),
        ("P = (6,4,0)/10, D = 1/5", (0.6, 0.4, 0.0), 0.2),
    ):
        exact = least(APPROXIMATE, len(prior), 1, d, (prior,), delta=0.1)
        inside[f"{label}, delta = 1/10"] = (zhong.theorem_9(prior, d, 0.1, "corrected"), exact)
    printed, mended = ({key: pair[i] for key, pair in found.items()} for i in (0, 1))
    return corrected(printed, mended | inside, sample, tolerance=_EXACT)


def _violation_10(rng: np.random.Generator) -> float:
    prior, delta = random_prior(rng, int(rng.integers(2, 6)), -0.3, 1.5), float(rng.uniform(0.01, 0.8))
    end, vertices = (1 - delta) * (1 - float(prior[0])), (tuple(prior.tolist()),)
    at, before = (least(APPROXIMATE, len(prior), 1, d, vertices, delta=delta) for d in (end, end * (1 - 1e-5)))
    return max(at, 1e-9 - before)


@claim(instance=_violation_10, tolerance=_EXACT)
def lemma_10(sample: Sample) -> Finding:
    # Q_delta keeps letter 1, and every other one with probability delta.
    table = [[F(1), F(0), F(0)], [F(9, 10), F(1, 10), F(0)], [F(9, 10), F(0), F(1, 10)]]
    spread = max(max(column) - min(column) for column in zip(*table, strict=True))
    prior = [F(7, 10), F(2, 10), F(1, 10)]
    named = {
        "Q_delta, delta = 1/10: columns differ by at most delta": max(0.0, float(spread - F(1, 10))),
        "Q_delta, P = (7,2,1)/10: distortion 27/100": abs(float(changed(table, prior) - F(27, 100))),
    }
    return holds(sample, named=named, of="priors and delta, at the end and just before it")


def _in_order(prior: np.ndarray, delta: float, d: float) -> tuple[np.ndarray, float]:
    """A best mechanism with falling diagonal, and its leakage."""
    best = optimal_mechanism(SourceSet(prior), distortion=d, notion=ApproximateDP(delta))
    order = np.argsort(-np.diagonal(best.mechanism.matrix), kind="stable")
    return best.mechanism.matrix[np.ix_(order, order)], best.leakage


def _lemma_11_violation(part: int) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        prior, delta = random_prior(rng, int(rng.integers(2, 6)), -0.3, 1.5), float(rng.uniform(0.01, 0.6))
        return _lemma_11_of(part, prior, delta, float(rng.uniform(0.05, 0.95)) * zhong.lemma_10(prior, delta))

    return violation


def _lemma_11_of(part: int, prior: np.ndarray, delta: float, d: float) -> float:
    matrix, leakage = _in_order(prior, delta, d)
    diagonal = np.diagonal(matrix)
    over = float(prior @ (1 - diagonal)) - d
    if part == 1:
        return max(over, delta - float(diagonal[-1]), float(diagonal[0]) - 1)
    return max(over, float(abs(diagonal[1:] - math.exp(leakage) * matrix[0, 1:] - delta).max()))


def _check_11(part: int) -> Callable[[Sample], Finding]:
    def check(sample: Sample) -> Finding:
        cases = {
            "P = (4,3,2,1)/10, delta = 1/10, D = 1/2": (np.array(_FOUR), 0.1, 0.5),
            "P = (2,2,1)/5, delta = 1/5, D = 2/5": (np.array([0.4, 0.4, 0.2]), 0.2, 0.4),
        }
        named = {name: _lemma_11_of(part, *case) for name, case in cases.items()}
        return holds(sample, named=named, of="priors, delta and D")

    return check


for _part, _name, _text in (
    (1, "lemma_11_1", "delta <= Q(m|m) <= .. <= Q(1|1) <= 1"),
    (2, "lemma_11_2", "Q(j|j) = e^eps Q(j|1) + delta for all j from 2 on, eps being its leakage"),
):
    claim(name=_name, instance=_lemma_11_violation(_part))(_check_11(_part))


def _ordered(rng: np.random.Generator, count: int = 2) -> Vertices:
    size = int(rng.integers(2, 6))
    return tuple(tuple(random_prior(rng, size, -0.2, 1.2).tolist()) for _ in range(count))


def _violation_12(rng: np.random.Generator) -> float:
    vertices, delta = _ordered(rng), float(rng.choice([0.0, 0.1, 0.4]))
    d = float(rng.uniform(0.05, 0.95)) * (1 - delta) * (1 - min(prior[0] for prior in vertices))
    formula = zhong.proposition_12(SourceSet(vertices), d, delta, "corrected")
    return abs(math.expm1(formula - least(APPROXIMATE, len(vertices[0]), 1, d, vertices, delta=delta)))


@claim(instance=_violation_12, tolerance=1e-6, share=0.5)
def proposition_12(sample: Sample) -> Finding:
    printed, mended = {}, {}
    for delta, d in ((F(1, 10), F(9, 40)), (F(0), F(9, 40)), (F(0), F(1, 4))):
        name = f"P = (7,2,1)/10, delta = {delta}, D = {d}, as exp"
        exact = math.exp(least(APPROXIMATE, 3, 1, float(d), (_THREE,), delta=float(delta)))
        source = SourceSet(_THREE)
        printed[name] = (math.exp(zhong.proposition_12(source, float(d), float(delta))), exact)
        mended[name] = (math.exp(zhong.proposition_12(source, float(d), float(delta), "corrected")), exact)
    return corrected(printed, mended, sample, tolerance=1e-6)


def _violation_13(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 8)), -0.3, 1.5)
    d = float(rng.uniform(0.02, 1.1)) * (1 - float(prior[0]))
    return abs(zhong.theorem_13(prior, d, "corrected") - least(DP, len(prior), 1, d, (tuple(prior.tolist()),)))


@claim(instance=_violation_13, tolerance=_EXACT)
def theorem_13(sample: Sample) -> Finding:
    printed, mended = {}, {}
    for label, prior, d in (
        ("P = (4,3,2,1)/10, D = 3/5", _FOUR, 0.6),
        ("P = (7,2,1)/10, D = 3/10", _THREE, 0.3),
        ("P = (7,2,1)/10, D = 1/4", _THREE, 0.25),
    ):
        exact = math.exp(least(DP, len(prior), 1, d, (prior,)))
        printed[f"{label}, as exp"] = (math.exp(zhong.theorem_13(prior, d)), exact)
        mended[f"{label}, as exp"] = (math.exp(zhong.theorem_13(prior, d, "corrected")), exact)
    return corrected(printed, mended, sample, tolerance=_EXACT)


def _violation_14(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 8)), -0.3, 1.5)
    d = float(rng.uniform(0.01, 1.2)) * (1 - float(prior[0]))
    return abs(zhong.theorem_14(prior, d) - least(LEAKAGE, len(prior), 1, d, (tuple(prior.tolist()),)))


@claim(instance=_violation_14, tolerance=_EXACT)
def theorem_14(sample: Sample) -> Finding:
    cases = {
        "P = (4,3,2,1)/10, D = 27/50": (_FOUR, 0.54),
        "P = (4,3,2,1)/10, D = 3/10, a corner": (_FOUR, 0.3),
        "P = (4,3,2,1)/10, D = 3/5, the end": (_FOUR, 0.6),
        "P = (1,1,1)/3, D = 1/2": ((1 / 3,) * 3, 0.5),
        "P = (3,2)/5, D = 1": ((0.6, 0.4), 1.0),
    }
    named = {
        name: abs(zhong.theorem_14(prior, d) - least(LEAKAGE, len(prior), 1, d, (prior,)))
        for name, (prior, d) in cases.items()
    }
    return holds(sample, named=named, tolerance=_EXACT, of="priors and D")


def _round_trip(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 8)), -0.3, 1.5)
    d = float(rng.uniform(0.01, 0.99)) * (1 - float(prior[0]))
    return abs(zhong.corollary_15(SourceSet(prior), zhong.theorem_14(prior, d)) - d)


@claim(instance=_round_trip)
def theorem_14_equal_expression(sample: Sample) -> Finding:
    there = zhong.theorem_14(_FOUR, 0.54)
    back = zhong.corollary_15(SourceSet(_FOUR), there)
    return holds(sample, named={"P = (4,3,2,1)/10, D = 27/50": abs(back - 0.54)}, of="priors and D")


def _violation_15(rng: np.random.Generator) -> float:
    vertices, leakage = _ordered(rng), float(rng.uniform(0.0, 2.0))
    exact = optimal_mechanism(SourceSet(vertices), leakage=leakage, notion=MaximalLeakage()).distortion
    return abs(zhong.corollary_15(SourceSet(vertices), leakage) - exact)


@claim(instance=_violation_15, tolerance=1e-6, share=0.5)
def corollary_15(sample: Sample) -> Finding:
    name = "two letters, eps = log 2: letter whose probability is asked for, of the letters there are"
    k = int(math.exp(math.log(2)) + 1e-12)
    source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    mended = {}
    for label, ratio in (("eps = log 3/2", 1.5), ("eps = log 3", 3.0), ("eps = log 5", 5.0)):
        exact = optimal_mechanism(source, leakage=math.log(ratio), notion=MaximalLeakage()).distortion
        mended[f"{{(5,3,2)/10, (6,3,1)/10}}, {label}"] = (zhong.corollary_15(source, math.log(ratio)), exact)
    return corrected({name: (k + 1.0, 2.0)}, mended, sample, tolerance=1e-6)


# Section IV-C: the figures


def _binary(notion: str, d: float) -> tuple[float, float, float]:
    lower, exact, upper = _case_8(notion, 2, d)
    return lower, exact, upper


@claim()
def figure_3_curves() -> Finding:
    grid = np.arange(1, 50) / 50
    named = {}
    for notion in (DP, APPROXIMATE, LEAKAGE, MUTUAL):
        worst = max(abs(math.log(upper / exact)) for _, exact, upper in (_binary(notion, float(d)) for d in grid))
        named[f"{notion}, D = 1/50 .. 49/50"] = worst
    return holds(named=named, tolerance=_EXACT)


@claim()
def figure_3_ranges() -> Finding:
    pairs = {}
    for notion in (RENYI, SIBSON):
        for d in (F(1, 5), F(2, 5)):
            lower, exact, upper = _binary(notion, float(d))
            pairs[f"{notion}, D = {d}, lower end, as exp"] = (lower, exact)
            pairs[f"{notion}, D = {d}, upper end, as exp"] = (exact, upper)
    return loose(pairs)


def _excess(first: str, second: str, d: float) -> float:
    """By how much the first notion's least leakage exceeds the second's, as exponentials, for two letters."""
    return _binary(first, d)[1] - _binary(second, d)[1]


@claim()
def figure_3_text_order() -> Finding:
    printed = {
        "maximal leakage less Renyi at D = 2/5, as exp": (0.0, _excess(LEAKAGE, RENYI, 0.4)),
        "maximal leakage less approximate at D = 9/20, as exp": (0.0, _excess(LEAKAGE, APPROXIMATE, 0.45)),
    }
    mended = {}
    for notion, end in ((DP, 0.499), (RENYI, (3 - math.sqrt(5)) / 2 - 1e-6), (APPROXIMATE, 0.4145)):
        worst = max(
            _excess(other, notion, d) for other in (LEAKAGE, SIBSON, MUTUAL) for d in np.linspace(0.01, end, 30)
        )
        mended[f"largest of the others less {notion} up to D = {end:.4g}"] = (0.0, max(0.0, worst))
    return corrected(printed, mended)


def _special_8(notion: str, d: float, vertices: Vertices) -> float:
    return loss(notion, zhong.lemma_5_mechanism(2, 1, d), 2, 1, SourceSet(vertices))


@claim(
    instance=lambda rng: _special_gap(
        str(rng.choice([n for n in NOTION_NAMES if n != MAXIMAL])), float(rng.uniform(0.01, 0.5))
    ),
    tolerance=_EXACT,
)
def figure_3_text_randomized_response(sample: Sample) -> Finding:
    printed = {
        "{(1,1)/2, (3,1)/4}, maximal information, D = 1/10, as exp": (
            math.exp(_special_8(MAXIMAL, 0.1, _PAIR)),
            math.exp(least(MAXIMAL, 2, 1, 0.1, _PAIR)),
        ),
        "differential privacy, D = 3/4, as exp": (
            math.exp(_special_8(DP, 0.75, _HALF)),
            math.exp(least(DP, 2, 1, 0.75)),
        ),
    }
    mended = {
        f"{notion}, D = 1/5, as exp": (math.exp(_special_8(notion, 0.2, _HALF)), math.exp(least(notion, 2, 1, 0.2)))
        for notion in NOTION_NAMES
        if notion != MAXIMAL
    }
    return corrected(printed, mended, sample, tolerance=_EXACT)


def _special_gap(notion: str, d: float) -> float:
    return abs(_special_8(notion, d, _HALF) - least(notion, 2, 1, d))


def _four(notion: str, d: float) -> float:
    return math.exp(least(notion, 4, 1, d, (_FOUR,)))


@claim()
def figure_4_curves() -> Finding:
    named = {}
    for notion in (DP, APPROXIMATE, LEAKAGE):
        worst = 0.0
        for d in np.arange(1, 40) / 50 + 1 / 300:
            formula = {
                DP: zhong.theorem_13(_FOUR, d),
                APPROXIMATE: zhong.theorem_9(_FOUR, d, 0.1),
                LEAKAGE: zhong.theorem_14(_FOUR, d),
            }[notion]
            worst = max(worst, abs(formula - least(notion, 4, 1, float(d), (_FOUR,))))
        named[f"{notion}, 39 distortions from 0.02 to 0.78"] = worst
    return holds(named=named, tolerance=_EXACT)


@claim()
def figure_4_text_most_relaxed() -> Finding:
    printed = {
        "maximal leakage less approximate at D = 27/50, as exp": (0.0, _four(LEAKAGE, 0.54) - _four(APPROXIMATE, 0.54))
    }
    mended = {}
    for notion, end in ((DP, 1.0), (APPROXIMATE, 0.5399)):
        worst = max(_four(LEAKAGE, d) - _four(notion, d) for d in np.linspace(0.01, end, 40).tolist())
        mended[f"maximal leakage less {notion}, largest up to D = {end:g}"] = (0.0, max(0.0, worst))
    return corrected(printed, mended, tolerance=_EXACT)


@claim()
def figure_4_text_jumps() -> Finding:
    low, high = 0.3, 0.9
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if least(APPROXIMATE, 4, 1, middle, (_FOUR,)) > 0 else (low, middle)
    before = math.exp(least(APPROXIMATE, 4, 1, low - 1e-9, (_FOUR,)))
    curve = exact_curve(SourceSet(_FOUR))
    values = {
        "differential privacy, where it jumps": (0.6, float(curve.breakpoints[-1])),
        "delta = 0.1, where it jumps": (0.54, high),
    }
    if not min(math.exp(curve.limits_from_below[-1]), before) > 1.3:  # continuous there: no jump to reproduce
        values = {name: (printed, math.nan) for name, (printed, _) in values.items()}
    return reproduced(values, 1e-9)


@claim(instance=lambda rng: _why(random_prior(rng, int(rng.integers(2, 7))), float(rng.uniform(0, 0.9))))
def figure_4_text_why(sample: Sample) -> Finding:
    named = {f"P = (4,3,2,1)/10, delta = {delta}": _why(np.array(_FOUR), delta) for delta in (0.0, 0.1)}
    return holds(sample, named=named, of="priors and delta")


def _why(prior: np.ndarray, delta: float) -> float:
    kept = np.diagonal(zhong.lemma_10_mechanism(len(prior), delta))
    return abs(float(prior @ (1 - kept)) - (1 - delta) * (1 - float(prior[0])))
