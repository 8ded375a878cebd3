"""What Zhong and Bu state (2022), claim by claim: introduction, preliminaries, and the global framework (Section III).

Section IV is in :mod:`paper_repro.claims.zhong_bu2022_local`, the appendix in :mod:`paper_repro.claims.zhong_bu2022_appendix`,
steps of proofs in :mod:`paper_repro.claims.zhong_bu2022_proofs`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import Vertices, random_mechanism, random_prior, random_vertices
from paper_repro.claims.exact import changed, distances, exp_ratio
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MAXIMAL,
    MUTUAL,
    RENYI,
    SIBSON,
    information,
    least,
    least_by_program,
    loss,
    part_of,
    uniform,
)
from paper_repro.notions import ApproximateDP, DifferentialPrivacy
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.papers.readings import Reading
from paper_repro.papers.zhong_bu2022 import Floor
from paper_repro.sources import SourceSet
from paper_repro.types import NOTION_NAMES

# What certified optima may be off: linear programs and closed forms, conic programs.
_EXACT, _CONIC = 1e-8, 2e-6
_SPACES = [(2, 1), (3, 1), (2, 2)]
_PAIR = "{(1,1)/2, (3,1)/4} at D = 1/10"


def _tolerance(notion: str) -> float:
    return _CONIC if notion in (RENYI, SIBSON, MUTUAL) else _EXACT


# Abstract and introduction


def _between(rng: np.random.Generator) -> float:
    """Least leakage over a set against that of a member, and against what Q_D leaks."""
    notion = str(rng.choice([DP, LEAKAGE, MAXIMAL, MUTUAL]))
    m, n = _SPACES[rng.integers(len(_SPACES))]
    vertices = random_vertices(rng, m**n, 2)
    changed_ = float(rng.uniform(0.05, 0.9)) * zhong.lemma_5(m, n)
    weight = rng.uniform()
    member = tuple((weight * np.array(vertices[0]) + (1 - weight) * np.array(vertices[1])).tolist())
    whole = least(notion, m, n, changed_, vertices)
    special = loss(notion, zhong.lemma_5_mechanism(m, n, changed_), m, n, SourceSet(vertices))
    return max(least(notion, m, n, changed_, (member,)) - whole, whole - special)


def _fair(notion: str) -> tuple[float, float]:
    """Violations of both sides for {uniform, (3, 1)/4} and D = 1/10."""
    vertices = ((0.5, 0.5), (0.75, 0.25))
    whole = least(notion, 2, 1, 0.1, vertices)
    member = least(notion, 2, 1, 0.1, ((0.75, 0.25),))
    special = loss(notion, zhong.lemma_5_mechanism(2, 1, 0.1), 2, 1, SourceSet(vertices))
    return member - whole, whole - special


@claim(instance=_between, tolerance=_CONIC, share=0.1)
def abstract(sample: Sample) -> Finding:
    named = {f"{_PAIR}, each of the seven notions": max(max(_fair(notion)) for notion in NOTION_NAMES)}
    return holds(sample, named=named, tolerance=_CONIC, of="pairs of priors and notions")


def _max_divergence(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    matrix = random_mechanism(rng, size)
    found = math.exp(DifferentialPrivacy().leakage(matrix))
    worst = 1.0
    for event in itertools.product([False, True], repeat=size):
        if any(event):
            inside = matrix[:, event].sum(axis=1)
            worst = max(worst, inside.max() / inside.min() if inside.min() > 0 else float(inside.max() > 0) * math.inf)
    return 0.0 if worst == found else abs(worst / found - 1)


@claim(instance=_max_divergence)
def introduction_differential_privacy(sample: Sample) -> Finding:
    matrix = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    gap = abs(loss(DP, matrix, 2, 1) - math.log(3))
    return holds(sample, named={"randomized response with 3/4 and 1/4, log 3": gap}, of="channels and all their events")


def _closest(row: np.ndarray, other: np.ndarray, ratio: float) -> tuple[float, float]:
    """Move as little as needed of a row to be below ``ratio`` times another: how much was moved, and the largest excess left."""
    kept = np.minimum(row, ratio * other)
    room = ratio * other - kept
    moved = 1 - kept.sum()
    near = kept + (moved * room / room.sum() if room.sum() > 0 else 0.0)
    return float(abs(row - near).sum() / 2), float((near - ratio * other).max())


def _standard_is_closeness(rng: np.random.Generator) -> float:
    matrix, delta = random_mechanism(rng, int(rng.integers(2, 5))), float(rng.uniform(0.01, 0.6))
    leakage = ApproximateDP(delta, standard=True).leakage(matrix)
    if math.isinf(leakage):
        return math.nan
    pairs = list(itertools.permutations(matrix, 2))
    within = [_closest(row, other, math.exp(leakage)) for row, other in pairs]
    violation = max(max(moved - delta, excess) for moved, excess in within)
    if leakage > 0.01:  # with less leakage no row is close enough: the excess is what has to be moved
        excess = max(np.clip(row - math.exp(leakage - 0.01) * other, 0, None).sum() for row, other in pairs)
        violation = max(violation, delta - float(excess))
    return violation


@claim(instance=_standard_is_closeness)
def introduction_approximate_differential_privacy(sample: Sample) -> Finding:
    matrix = [[F(1, 4), F(1, 4), F(1, 2)], [F(0), F(0), F(1)], [F(0), F(0), F(1)]]
    ratio = exp_ratio(matrix, delta=F(1, 4))
    moved = sum((max(F(0), a - ratio * b) for a, b in zip(matrix[0], matrix[1], strict=True)), F(0))
    name = f"rows (1,1,2)/4 and (0,0,1), delta = 1/4, e^eps = {ratio}: least distance"
    allowed = [[F(1, 4), F(3, 4)], [F(0), F(1)]]
    excess = sum((max(F(0), a - b) for a, b in zip(*allowed, strict=True)), F(0))
    mended = {
        "rows (1,3)/4 and (0,1), standard definition, delta = 1/4, eps = 0: least distance": (0.25, float(excess))
    }
    return corrected({name: (0.25, float(moved))}, mended, sample)


@claim()
def introduction_contribution_1() -> Finding:
    named = {}
    for notion, (m, n, d) in itertools.product((DP, MUTUAL), ((2, 1, 0.25), (3, 1, 0.5), (2, 2, 0.8))):
        every = tuple(tuple(row) for row in np.eye(m**n).tolist())
        formula = zhong.theorem_7(notion, m, n, d).upper
        named[f"all priors, {notion}, m = {m}, n = {n}, D = {d}"] = abs(least(notion, m, n, d, every) - formula)
    return holds(named=named, tolerance=_CONIC)


# Section II


@claim(
    instance=lambda rng: float(
        SourceSet(random_prior(rng, int(rng.integers(2, 7)), 0.0, 1.0)[::-1]).source_class != "II"
    )
)
def definition_1(sample: Sample) -> Finding:
    named = {}
    for size in (2, 5):
        named[f"uniform on {size} letters"] = float(uniform(size).source_class != "I")
        named[f"all distributions on {size} letters"] = float(SourceSet(np.eye(size)).source_class != "I")
    named["(1, 1, 0)/2, which has a tie and a zero"] = float(SourceSet([0.5, 0.5, 0.0]).source_class != "II")
    return holds(sample, named=named, of="single priors")


def _hull_distortion(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    vertices, matrix = np.array(random_vertices(rng, size, 3)), random_mechanism(rng, size)
    wrong = vertices @ (1 - np.diagonal(matrix))
    return float((rng.dirichlet(np.ones(3), size=5) @ wrong).max() - wrong.max())


@claim(instance=_hull_distortion)
def definition_2_hull(sample: Sample) -> Finding:
    return holds(sample, named={"{(1,0), (0,1)} and the identity": 0.0}, of="sets, channels and mixtures")


@claim()
def definition_2_convex_source_sets() -> Finding:
    vertices = ((0.75, 0.25), (0.25, 0.75))
    flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    points = max(information(np.array(vertex), flip) for vertex in vertices)
    where = (
        "mutual information, {(3,1)/4, (1,3)/4}, D = 1/4, flipped with 1/4 (h(3/8) - h(1/4)), against the hull's least"
    )
    return above(where, points, least(MUTUAL, 2, 1, 0.25, vertices))


# Section III


@claim()
def section_iii_number_of_databases_at_a_distance() -> Finding:
    named = {}
    for m, n in ((2, 3), (3, 2), (4, 3), (2, 6)):
        counts = [np.bincount(row, minlength=n + 1) for row in distances(m, n)]
        wanted = [math.comb(n, place) * (m - 1) ** place for place in range(n + 1)]
        named[f"all {m}^{n} databases"] = float(np.abs(np.array(counts) - wanted).max())
    return holds(named=named)


def _member(rng: np.random.Generator) -> float:
    notion = str(rng.choice([DP, APPROXIMATE, LEAKAGE]))
    size = int(rng.integers(2, 6))
    vertices = random_vertices(rng, size, 3)
    d = float(rng.uniform(0.02, 0.9)) * (1 - 1 / size)
    one = tuple((rng.dirichlet(np.ones(3)) @ np.array(vertices)).tolist())
    return least(notion, size, 1, d, (one,)) - least(notion, size, 1, d, vertices)


@claim(instance=_member, tolerance=_EXACT, share=0.5)
def lemma_5_1(sample: Sample) -> Finding:
    named = {f"{_PAIR}, each of the seven notions": max(_fair(notion)[0] for notion in NOTION_NAMES)}
    return holds(sample, named=named, tolerance=_CONIC, of="sets and members")


def _silent_pairs() -> dict[str, tuple[float, float]]:
    """Lengths of the ranges of D, printed and true, in which nothing leaks; the uniform output keeps n(m-1)/m for any prior."""
    pairs = {}
    for m, n in ((2, 1), (2, 2), (3, 2), (2, 3)):
        start = zhong.lemma_5(m, n)
        some = least(DP, m, n, start * (1 - 1e-9)) > 0
        none = max(least(notion, m, n, d) for notion in NOTION_NAMES for d in (start, (start + n) / 2, n)) == 0
        pairs[f"m = {m}, n = {n}: length of the range of D"] = (
            max(0.0, 1 - start),
            (n - start) if some and none else 0.0,
        )
    return pairs


_TO_N = "The range ends at n, the largest distortion there is; up to 1 it is a point for m = n = 2 and empty for other n > 1."


@claim()
def lemma_5_2() -> Finding:
    return loose(_silent_pairs())


def _special(rng: np.random.Generator) -> float:
    m, n = _SPACES[rng.integers(len(_SPACES))]
    notion = str(rng.choice([DP, LEAKAGE, MAXIMAL]))
    vertices = random_vertices(rng, m**n, int(rng.integers(1, 3)))
    d = float(rng.uniform(0.02, 0.98)) * zhong.lemma_5(m, n)
    matrix = zhong.lemma_5_mechanism(m, n, d)
    over = abs(float((matrix * np.array(distances(m, n))).sum(axis=1).max()) - d)
    return max(over, least(notion, m, n, d, vertices) - loss(notion, matrix, m, n, SourceSet(vertices)))


@claim(instance=_special, tolerance=_EXACT, share=0.2)
def lemma_5_3(sample: Sample) -> Finding:
    named = {f"{_PAIR}, each of the seven notions": max(_fair(notion)[1] for notion in NOTION_NAMES)}
    for m, n, d in ((3, 2, F(4, 3)), (2, 3, F(5, 2)), (2, 2, F(3, 2))):
        kept, other = 1 - d / n, d / n / (m - 1)
        matrix = [[kept ** (n - apart) * other**apart for apart in row] for row in distances(m, n)]
        sums = max(abs(float(sum(row)) - 1) for row in matrix)
        wrong = abs(float(changed(matrix, [F(1, m**n)] * m**n, m, n) - d))
        named[f"rows and distortion of Q_D, m = {m}, n = {n}, D = {d}"] = max(sums, wrong)
    return holds(sample, named=named, tolerance=_CONIC, of="source sets")


# Theorems 6 and 7

_LOWER_6 = {
    DP: "log((m-1)(theta n - D)/D)",
    APPROXIMATE: "log((m-1)(theta n (1 - delta m^(n-1)) - D)/D)",
    MAXIMAL: "log(m(1 - D/(theta n)))",
    LEAKAGE: "log(m(1 - D/(theta n)))",
    RENYI: "log((m-1)(n - D')^(a/(a-1))/D') - log(n m^(n-1))/(a-1) | at order a, with D' = D/theta",
    SIBSON: "(a-n)/(a-1) log m + a/(a-1) log((1 - D/n)/((1-theta)(n+1)m/2 + theta)) | at order a",
    MUTUAL: "theta n log(eta^(-1/n) (1 - D/(n theta))) + theta D log(D/((m-1)(n theta - D))) | with eta the largest "
    "probability of the member that attains theta",
}
_LOWER_7 = {
    APPROXIMATE: "log((m-1)(n(1 - delta m^(n-1)) - D)/D)",
    MAXIMAL: "log(m(1 - D/n))",
    LEAKAGE: "log(m(1 - D/n))",
    RENYI: "log((m-1)(n-D)^(a/(a-1))/D) - log(n m^(n-1))/(a-1) | at order a",
    SIBSON: "1/(a-1) log(m^(a-n) (1-D/n)^a) | at order a, and by the least mutual information",
}
_UPPER = {
    DP: "log((m-1)(n-D)/D)",
    APPROXIMATE: "log((m-1)(n-D)/D (1 - delta (1-D/n)^(-n)))",
    MAXIMAL: "-log min_P min_y sum_{l=0..m} ((m-1)(n-D)/D)^(-l) P(N_l(y)) | with N_l(y) the databases at distance l from y",
    LEAKAGE: "n log(m(1 - D/n))",
    RENYI: "1/(a-1) log(D/(n(m-1)) (m - 2 + A^a + A^(1-a))) | at order a, with A = (m-1)(n-D)/D",
    SIBSON: "n log(m ((n-D)^a + D^a (m-1)^(1-a))^(1/(a-1))) - a/(a-1) n log n | at order a",
    MUTUAL: "n log(m(1 - D/n)) + D log(D/((m-1)(n-D)))",
}


def _positive_part(formula: str) -> str:
    text, _, remark = formula.partition(" | ")
    return f"max(0, {text}){', ' * bool(remark)}{remark}"


_RISES = "From D = n(m-1)/m on nothing needs to leak, but the formula rises again; "

_SHARES = {RENYI: 0.1, SIBSON: 0.12, MUTUAL: 0.15}


# Name, values, records, distortion, vertices, order, delta.
_Case = tuple[str, int, int, float, Vertices, float, float]
_FAIR_2: Vertices = ((0.25,) * 4,)
_CASES_6: list[_Case] = [
    ("P = (13,12)/25, D = 1/10", 2, 1, 0.1, ((0.52, 0.48),), 2.0, 0.05),
    ("P = (5,3,2)/10, D = 3/10", 3, 1, 0.3, ((0.5, 0.3, 0.2),), 2.0, 0.05),
    ("P = (5,3,2)/10, D = 9/20", 3, 1, 0.45, ((0.5, 0.3, 0.2),), 2.0, 0.05),
    ("P = (3,3,2,2)/10 on two bits, D = 1/5", 2, 2, 0.2, ((0.3, 0.3, 0.2, 0.2),), 5.0, 0.05),
    ("two fair bits, D = 3/2", 2, 2, 1.5, _FAIR_2, 2.0, 0.05),
]


def _label(notion: str, case: _Case) -> str:
    parameter = (
        f", a = {case[5]:g}" if notion in (RENYI, SIBSON) else f", delta = {case[6]:g}" * (notion == APPROXIMATE)
    )
    return f"{case[0]}{parameter}, as exp"


def _case_6(notion: str, case: _Case, reading: Reading = "printed") -> tuple[float, float, float]:
    """Lower bound, least leakage and upper bound, as exponentials."""
    _, m, n, d, vertices, alpha, delta = case
    found = zhong.theorem_6(notion, m, n, d, SourceSet(vertices), alpha=alpha, delta=delta, reading=reading)
    exact = least(notion, m, n, d, vertices, alpha=alpha, delta=delta)
    return math.exp(found.lower), math.exp(exact), math.exp(found.upper)


def _violation_6(notion: str, side: str, reading: Reading) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        m, n = _SPACES[rng.integers(len(_SPACES))]
        vertices = random_vertices(rng, m**n, int(rng.integers(1, 3)))
        alpha, delta = float(rng.choice([1.3, 2.0, 5.0])), float(rng.choice([0.01, 0.05]))
        d = float(rng.uniform(0.03, 0.7)) * zhong.lemma_5(m, n)
        case = ("", m, n, d, vertices, alpha, delta)
        lower, exact, upper = _case_6(notion, case, reading)
        return lower / exact - 1 if side == "lower" else exact / upper - 1

    return violation


def _check_6(notion: str, side: str) -> Callable[[Sample], Finding]:
    tolerance = _tolerance(notion)

    def rising(sample: Sample) -> Finding:
        fair, name = _CASES_6[-1], "two fair bits, D = 3/2, as exp of twice the leakage"
        printed, mended = _case_6(notion, fair), _case_6(notion, fair, "corrected")
        first, second = ({name: (found[0] ** 2, found[1] ** 2)} for found in (printed, mended))
        return corrected(first, second, sample, tolerance=tolerance)

    def bound(sample: Sample) -> Finding:
        found = {_label(notion, case): _case_6(notion, case) for case in _CASES_6}
        if notion == MAXIMAL:
            found["three fair bits, D = 1, as exp"] = _case_6(notion, ("", 2, 3, 1.0, ((1 / 8,) * 8,), 2.0, 0.0))
        at = 0 if side == "lower" else 1
        pairs = {label: (row[at], row[at + 1]) for label, row in found.items()}
        return loose(pairs, sample, tolerance=10 * tolerance)

    return rising if (notion, side) == (MUTUAL, "lower") else bound


_CORRECTIONS_6 = {
    "theorem_6_7_lower": "The factor theta D of the second logarithm is D, as in the last step of the proof, and the bound ends "
    "at D = theta n(m-1)/m, from where its formula rises above the truth.",
    "theorem_6_3_upper": "The sum runs to n, not m: for m < n the print has fewer terms than what Q_D leaks, and is larger.",
    "theorem_6_6_lower": "Valid, but it says nothing for a <= n, where the first term is not positive.",
    "theorem_6_5_upper": _RISES + "the bound is 0 there.",
    "theorem_6_6_upper": _RISES + "the bound is 0 there.",
    "theorem_6_7_upper": _RISES + "the bound is 0 there.",
}
for _name in (
    "theorem_6_1_lower", "theorem_6_1_upper",
    "theorem_6_2_lower", "theorem_6_2_upper",
    "theorem_6_3_lower", "theorem_6_3_upper",
    "theorem_6_4_lower", "theorem_6_4_upper",
    "theorem_6_5_lower", "theorem_6_5_upper",
    "theorem_6_6_lower", "theorem_6_6_upper",
    "theorem_6_7_lower", "theorem_6_7_upper",
):  # fmt: skip
    _part, _notion, _side = part_of(_name)
    claim(
        name=_name,
        instance=_violation_6(_notion, _side, "corrected" if _name == "theorem_6_7_lower" else "printed"),
        tolerance=_tolerance(_notion),
        share=_SHARES.get(_notion, 0.2),
    )(_check_6(_notion, _side))


@claim()
def theorem_6_in_particular() -> Finding:
    return loose(_silent_pairs())


def _theta_orders(rng: np.random.Generator) -> float:
    m, n = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    d = float(rng.uniform(0.01, 1.0)) * zhong.lemma_5(m, n)
    less, more = np.sort(rng.uniform(0.1, 1.0, 2))
    alpha, delta, peak = float(rng.uniform(1.1, 9)), float(rng.uniform(0, 0.1)), float(rng.uniform(1, 1.5))
    worst = -math.inf
    for notion in set(NOTION_NAMES) - {MAXIMAL}:
        first, second = (
            zhong.theorem_6(notion, m, n, d, Floor(theta, peak), alpha=alpha, delta=delta) for theta in (less, more)
        )
        worst = max(worst, first.lower - second.lower, abs(first.upper - second.upper))
    return worst


@claim(instance=_theta_orders)
def theorem_6_remark_on_theta(sample: Sample) -> Finding:
    named = {}
    for notion in (DP, MUTUAL):
        found = zhong.theorem_6(notion, 3, 2, 0.5, Floor(1.0, 1.0))
        named[f"{notion}, theta = 1, m = 3, n = 2, D = 1/2: distance of the bounds"] = found.upper - found.lower
    return holds(sample, named=named, of="m, n, D and pairs of theta")


@claim()
def theorem_6_eta() -> Finding:
    first, second = [F(6, 10), F(2, 10), F(2, 10)], [F(2, 10), F(6, 10), F(2, 10)]
    mixed = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    where = "hull of (6,2,2)/10 and (2,6,2)/10, with equal smallest probabilities: eta of an end less eta of the middle"
    floors = {"smallest probability of an end": float(min(first)), "of the middle": float(min(mixed))}
    return above(where, 0.0, float(max(first) - max(mixed)), **floors)


@claim(instance=lambda rng: max(abs(random_prior(rng, 4).min() * 4 - 1) - 1, random_prior(rng, 6).min() * 6 - 1))
def section_iii_theta_of_class_i(sample: Sample) -> Finding:
    found = zhong.floor_of(SourceSet([[0.25] * 4, [0.4, 0.3, 0.2, 0.1]]))
    named = {"{uniform, (4,3,2,1)/10}": max(abs(found.theta - 1), abs(found.peak - 1))}
    return holds(sample, named=named, of="other members, whose smallest probability is no larger")


_CASES_7: list[_Case] = [
    ("m = 2, n = 1, D = 1/4", 2, 1, 0.25, ((0.5, 0.5),), 2.0, 0.1),
    ("m = n = 2, D = 1/5", 2, 2, 0.2, _FAIR_2, 3.0, 0.1),
    ("m = n = 2, D = 1/4", 2, 2, 0.25, _FAIR_2, 2.0, 0.25),
    ("m = 3, n = 2, D = 1", 3, 2, 1.0, ((1 / 9,) * 9,), 4.0, 0.05),
    ("m = 2, n = 3, D = 1", 2, 3, 1.0, ((1 / 8,) * 8,), 6.0, 0.05),
    ("m = n = 2, D = 3/2", 2, 2, 1.5, _FAIR_2, 2.0, 0.1),
]
_CASES_7_MAXIMAL: list[_Case] = [
    ("{(1,1)/2, (3,1)/4}, D = 1/10", 2, 1, 0.1, ((0.5, 0.5), (0.75, 0.25)), 2.0, 0.0),
    ("{uniform, (3,3,2,2)/10} on two bits, D = 1/5", 2, 2, 0.2, (*_FAIR_2, (0.3, 0.3, 0.2, 0.2)), 2.0, 0.0),
]


def _case_7(
    notion: str, case: _Case, reading: Reading = "printed", *, named: bool = False
) -> tuple[float, float, float]:
    """The same; what is shown by name is solved again without use of symmetry, where that is quick."""
    _, m, n, d, vertices, alpha, delta = case
    source = SourceSet(vertices) if notion == MAXIMAL else None
    found = zhong.theorem_7(notion, m, n, d, source, alpha=alpha, delta=delta, reading=reading)
    exact = least(notion, m, n, d, vertices if len(vertices) > 1 else None, alpha=alpha, delta=delta)
    if named and m**n <= 4 and len(vertices) == 1 and exact > 0:
        exact = least_by_program(notion, m, n, d, alpha=alpha, delta=delta)
    return math.exp(found.lower), math.exp(exact), math.exp(found.upper)


def _violation_7(notion: str, side: str, reading: Reading) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        m, n = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        if m**n > 256:
            return math.nan
        alpha, delta = float(1 + 10 ** rng.uniform(-1, 1.5)), float(rng.choice([0.0, 0.001, 0.05, 0.3]))
        d = float(rng.uniform(0.01, 1.0)) * n
        lower, exact, upper = _case_7(notion, ("", m, n, d, ((m**-n,) * m**n,), alpha, delta), reading)
        low, high = math.log(lower / exact), math.log(exact / upper)
        return {"lower": low, "upper": high}.get(side, max(low, high, -low, -high))

    return violation


def _check_7(notion: str, side: str) -> Callable[[Sample], Finding]:
    tolerance = 10 * _tolerance(notion)

    def equation(sample: Sample) -> Finding:
        cases = {_label(notion, case): case for case in _CASES_7}
        printed = {name: _case_7(notion, case, named=True)[:2] for name, case in cases.items()}
        if notion == DP:
            return holds(sample, named={name: abs(a - b) for name, (a, b) in printed.items()}, tolerance=tolerance)
        mended = {name: _case_7(notion, case, "corrected", named=True)[:2] for name, case in cases.items()}
        return corrected(printed, mended, sample, tolerance=tolerance)

    def bound(sample: Sample) -> Finding:
        cases = _CASES_7 + (_CASES_7_MAXIMAL if notion == MAXIMAL else [])
        first = 0 if side == "lower" else 1
        reading: Reading = "corrected" if (notion, side) == (SIBSON, "lower") else "printed"
        found = {_label(notion, case): _case_7(notion, case, reading, named=True) for case in cases}
        pairs = {name: (row[first], row[first + 1]) for name, row in found.items()}
        return loose(pairs, sample, tolerance=tolerance)

    return equation if side == "both" else bound


_CORRECTIONS_7 = {
    "theorem_7_7": "True up to D = n(m-1)/m; beyond, the formula rises again and the least leakage is 0, up to D = n and not "
    "only up to D = 1.",
    "theorem_7_5_upper": _RISES
    + "before, the bound is the least leakage, so that part (5) is an equation for D <= n(m-1)/m.",
    "theorem_7_6_upper": _RISES + "before, the bound is attained for n = 1 only.",
    "theorem_7_6_lower": "Valid, but the first formula says nothing for a <= n; and beyond D = n(m-1)/m the printed formula of "
    "the mutual information (Theorem 7(7)) must not be used for it.",
    "theorem_7_3_upper": "The sum runs to n, not m.",
    "theorem_7_4_upper": "The least is log(m^n q), q being the mass on the center of a partly filled Hamming ball.",
}
for _name in (
    "theorem_7_1",
    "theorem_7_2_lower", "theorem_7_2_upper",
    "theorem_7_3_lower", "theorem_7_3_upper",
    "theorem_7_4_lower", "theorem_7_4_upper",
    "theorem_7_5_lower", "theorem_7_5_upper",
    "theorem_7_6_lower", "theorem_7_6_upper",
    "theorem_7_7",
):  # fmt: skip
    _part, _notion, _side = part_of(_name)
    claim(
        name=_name,
        instance=_violation_7(
            _notion, _side, "corrected" if _name in ("theorem_7_6_lower", "theorem_7_7") else "printed"
        ),
        tolerance=_EXACT,
    )(_check_7(_notion, _side))


@claim(instance=lambda rng: _special_information(rng))
def theorem_7_3_what_q_d_leaks(sample: Sample) -> Finding:
    source, matrix = uniform(8), zhong.lemma_5_mechanism(2, 3, 1.0)
    exact = math.exp(-loss(MAXIMAL, matrix, 2, 3, source))
    found = [math.exp(-zhong.lemma_5_leakage(MAXIMAL, 2, 3, 1.0, source, reading=r)) for r in ("printed", "corrected")]
    name = "three fair bits, D = 1, exp of the leakage's negative"
    return corrected({name: (found[0], exact)}, {name: (found[1], exact)}, sample)


def _special_information(rng: np.random.Generator) -> float:
    m, n = [(2, 3), (2, 2), (3, 2), (2, 4)][rng.integers(4)]
    source = SourceSet(random_vertices(rng, m**n, 2))
    d = float(rng.uniform(0.05, 0.95)) * zhong.lemma_5(m, n)
    formula = zhong.lemma_5_leakage(MAXIMAL, m, n, d, source, reading="corrected")
    return abs(formula - loss(MAXIMAL, zhong.lemma_5_mechanism(m, n, d), m, n, source))


@claim()
def theorem_7_in_particular() -> Finding:
    return loose(_silent_pairs())
