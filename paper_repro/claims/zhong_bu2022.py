"""What Zhong and Bu state (2022), claim by claim: introduction, preliminaries, and the global framework (Section III).

Section IV is in :mod:`paper_repro.claims.zhong_bu2022_local`, the appendix in :mod:`paper_repro.claims.zhong_bu2022_appendix`,
steps of proofs in :mod:`paper_repro.claims.zhong_bu2022_proofs`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np

from paper_repro.claims.base import (
    Finding,
    Sample,
    claim,
    corrected,
    depends,
    example,
    for_all,
    holds,
    loose,
    proved,
    refuted,
)  # fmt: skip
from paper_repro.claims.draw import Vertices, random_mechanism, random_prior, random_vertices
from paper_repro.claims.exact import distances, exp_information
from paper_repro.claims.prove import always, identical
from paper_repro.claims.zhong_bu2022_tools import (
    APPROXIMATE,
    DP,
    LEAKAGE,
    MAXIMAL,
    MUTUAL,
    RENYI,
    SIBSON,
    BoundTheorem,
    Case,
    Formula,
    information,
    least_by_program,
    least_distortion,
    loss,
    put_right,
    shifted,
    some_of_class_1,
)  # fmt: skip
from paper_repro.errors import optional
from paper_repro.graphs import line
from paper_repro.notions import ApproximateDP, DifferentialPrivacy
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.papers.readings import Bounds
from paper_repro.papers.zhong_bu2022 import Floor
from paper_repro.sources import SourceSet
from paper_repro.types import NOTION_NAMES

_SPACES = [(2, 1), (3, 1), (4, 1), (2, 2)]
_PAIR: Vertices = ((0.5, 0.5), (0.75, 0.25))
_FLIP = np.array([[0.75, 0.25], [0.25, 0.75]])


# Abstract and introduction


def _between(rng: np.random.Generator, special: bool = True) -> float:
    """Violations of both sides, as least distortions at what is said to be enough or needed."""
    m, n = _SPACES[rng.integers(len(_SPACES))]
    vertices, notion = random_vertices(rng, m**n, 2, 0.0, 1.5), str(rng.choice([DP, LEAKAGE, MAXIMAL]))
    d = float(rng.uniform(0.05, 0.9)) * n * (m - 1) / m
    if special:
        above = loss(notion, zhong.lemma_5_mechanism(m, n, d), m, n, SourceSet(vertices))
        return least_distortion(notion, vertices, above, m, n) - d
    most = max(least_by_program(notion, m, n, d, (one,)) for one in vertices)
    return least_distortion(notion, vertices, most, m, n) - d


@claim(
    instance=_between, wrong={"bounded above by what its members need": {"special": False}}, tolerance=2e-6, share=0.4
)
def abstract(sample: Sample, special: bool = True) -> Finding:
    worst = -math.inf
    for notion in NOTION_NAMES if special else ():
        whole = least_by_program(notion, 2, 1, 0.1, _PAIR)
        above = loss(notion, zhong.lemma_5_mechanism(2, 1, 0.1), 2, 1, SourceSet(_PAIR))
        member = least_by_program(notion, 2, 1, 0.1, _PAIR[1:])
        worst = max(worst, member - whole, whole - above)
    named = {"all seven notions over {(1,1)/2, (3,1)/4} at D = 1/10": worst} if special else {}
    return holds(sample, named=named, tolerance=2e-6, of="notions, sets of two priors and distortions")


def _divergence_gap(rng: np.random.Generator, everyone: bool = False) -> float:
    """The loss on a line of letters against the largest ratio of an event's probabilities, for neighbors or for all."""
    matrix = random_mechanism(rng, int(rng.integers(3, 6)))
    found, worst = math.exp(DifferentialPrivacy(line(len(matrix))).leakage(matrix)), 1.0
    for event in itertools.product([False, True], repeat=len(matrix)):
        inside = matrix[:, event].sum(axis=1)
        for x, z in itertools.permutations(range(len(matrix)), 2):
            if inside[x] > 0 and (everyone or abs(x - z) == 1):
                worst = max(worst, inside[x] / inside[z] if inside[z] > 0 else math.inf)
    return 0.0 if worst == found else abs(worst / found - 1)


@claim(instance=_divergence_gap, wrong={"of all inputs, neighbors or not": {"everyone": True}}, share=0.4)
def introduction_differential_privacy(sample: Sample, everyone: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4, 5):
        p, q, t = z3.RealVector("p", size), z3.RealVector("q", size), z3.Real("t")
        at_most = [a <= t * b for a, b in zip(p, q, strict=True)]
        facts[f"events of {size} outputs"] = always(z3.Sum(p) <= t * z3.Sum(q), *at_most, *(b >= 0 for b in q))
    how = "If each output keeps the ratio $t$, so does each event (z3, up to 5 outputs). Conversely, each output is an event."
    return proved(how, facts, sample)


def _closeness(rng: np.random.Generator, standard: bool = True) -> float:
    """How far delta is from the least distance to a distribution within the ratio, at the least leakage."""
    matrix, delta = random_mechanism(rng, int(rng.integers(3, 5))), float(rng.uniform(0.01, 0.6))
    ratio = math.exp(ApproximateDP(delta, standard=standard).leakage(matrix))
    if math.isinf(ratio) or ratio == 1:
        return math.nan
    return abs(max(float(np.clip(a - ratio * b, 0, None).sum()) for a, b in itertools.permutations(matrix, 2)) - delta)


@claim(instance=_closeness, wrong={"delta at every output, as in Definition 3(2)": {"standard": False}})
def introduction_approximate_differential_privacy(sample: Sample, standard: bool = True) -> Finding:
    one, two = [F(1, 2), F(1, 2), F(0), F(0)], [F(1, 4)] * 4
    most = max(abs(a - b) for a, b in zip(one, two, strict=True))
    moved = sum((max(F(0), a - b) for a, b in zip(one, two, strict=True)), F(0))
    text = (
        r"The rows (2,2,0,0)/4 and (1,1,1,1)/4 differ by {delta} at every output. They meet the pointwise definition at "
        r"$\epsilon = 0$ and $\delta$ = {delta}, and their statistical distance is {moved}."
    )
    literal = refuted(text, moved > most, delta=most, moved=moved)
    added = holds(sample, of="mechanisms and delta")
    return depends({"with the standard definition": added, "with the pointwise definition": literal})


def _unknown(rng: np.random.Generator) -> tuple[str, int, int, float]:
    m, n = _SPACES[rng.integers(len(_SPACES))]
    return str(rng.choice([DP, MUTUAL])), m, n, float(rng.uniform(0.05, 0.98)) * n * (m - 1) / m


@for_all(
    _unknown,
    of="m, n and D up to n(m-1)/m, over the set of all priors",
    wrong={"m in place of m - 1": {"less": 0}},
    tolerance=2e-6,
    share=0.2,
)
@example("differential privacy for two bits at D = 4/5", DP, 2, 2, 0.8)
@example("mutual information for two bits at D = 4/5", MUTUAL, 2, 2, 0.8)
def introduction_contribution_1(notion: str, m: int, n: int, d: float, less: int = 1) -> float:
    every = tuple(tuple(row) for row in np.eye(m**n).tolist())
    ratio = (m - less) * (n - d) / d
    if notion == DP:
        return abs(least_distortion(DP, every, math.log(ratio), m, n) - d)
    return abs(least_by_program(MUTUAL, m, n, d, every) - (n * math.log(m * (1 - d / n)) - d * math.log(ratio)))


# Section II


def _in_one_order(rng: np.random.Generator, priors: int = 1) -> float:
    vertices = np.array(random_vertices(rng, int(rng.integers(3, 7)), priors, 0.0, 1.0))
    return float((np.diff(vertices[:, np.argsort(-vertices[0])], axis=1) > 0).any())


@claim(instance=_in_one_order, wrong={"Class II contains every pair of such distributions": {"priors": 2}})
def definition_1(sample: Sample, priors: int = 1) -> Finding:
    facts = {}
    for size in range(2, 9):
        units = [[F(int(i == j)) for j in range(size)] for i in range(size)]
        facts[f"{size} categories"] = all(sum(column, F(0)) / size == F(1, size) for column in zip(*units, strict=True))
    how = (
        "The uniform distribution is its own hull, and it is the mean of the point masses (in fractions, up to 8 categories). "
        "A single distribution is its own hull, and renaming the categories sorts it."
    )
    return proved(how, facts, sample)


def _hull_distortion(rng: np.random.Generator, most: float = 1.0) -> float:
    size = int(rng.integers(2, 6))
    (one, two), matrix = np.array(random_vertices(rng, size, 2)), random_mechanism(rng, size)
    wrong = 1 - np.diagonal(matrix)
    return float((one + most * rng.uniform() * (two - one)) @ wrong - max(one @ wrong, two @ wrong))


@claim(instance=_hull_distortion, wrong={"for the whole line through two priors": {"most": 1.5}})
def definition_2_hull(sample: Sample, most: float = 1.0) -> Finding:
    z3 = optional("z3", "proofs")
    x, y, share, d = z3.Reals("x y share d")
    inside = (share >= 0, share <= z3.RealVal(str(most)))
    mixed = always(share * x + (1 - share) * y <= d, x <= d, y <= d, *inside)
    how = "The distortion is linear in the prior, and a mixture of two numbers is at most $D$ if both are (z3)."
    return proved(how, {"mixtures of two": mixed}, sample)


def _points_and_hull(notion: str, points: Vertices) -> tuple[float, float]:
    """What flipping with probability 1/4 leaks over the points, and what is needed at D = 1/4 over their hull."""
    prior = information if notion == MUTUAL else lambda *_: loss(notion, _FLIP, 2, 1)
    return max(prior(np.array(one), _FLIP) for one in points), least_by_program(notion, 2, 1, 0.25, points)


@claim(wrong={"of differential privacy, which does not look at the prior": {"notion": DP}})
def definition_2_convex_source_sets(notion: str = MUTUAL) -> Finding:
    points: Vertices = ((0.75, 0.25), (0.25, 0.75))
    alone, hull = _points_and_hull(notion, points)
    without_prior = [abs(one - two) for one, two in (_points_and_hull(other, points) for other in (DP, LEAKAGE))]
    text = (
        "Flipping with probability 1/4 has distortion 1/4. Over the two points (3,1)/4 and (1,3)/4 its mutual information is "
        "{alone} nats; over their hull every mechanism of this distortion has at least {hull} nats."
    )
    return put_right(text, alone < hull - 1e-6, max(without_prior) < 1e-6, alone=alone, hull=hull)


# Section III


@claim(wrong={"C(n, l) m^l": {"less": 0}})
def section_iii_number_of_databases_at_a_distance(less: int = 1) -> Finding:
    # The new record is kept, or one of m - 1 others: N_l of n + 1 records is N_l + (m - 1) N_(l-1), for every m.
    pascal = all(
        math.comb(n + 1, at) == math.comb(n, at) + math.comb(n, at - 1) for n in range(1, 50) for at in range(1, n + 2)
    )
    facts = {"from n to n + 1 records": pascal}
    for values, records in ((2, 3), (3, 2), (2, 6), (4, 3)):
        counts = [math.comb(records, at) * (values - less) ** at for at in range(records + 1)]
        facts[f"{values}^{records}"] = all(
            sorted(row).count(at) == counts[at] for row in distances(values, records) for at in range(records + 1)
        )
    return proved(
        "By induction over the number of records, up to 50, for every $m$; also counted for up to 64 databases.", facts
    )


def _set_and_member(rng: np.random.Generator) -> tuple[str, Vertices, float, float]:
    vertices = random_vertices(rng, int(rng.integers(2, 6)), 2, 0.0, 1.5)
    return str(rng.choice([DP, APPROXIMATE, LEAKAGE])), vertices, float(rng.uniform()), float(rng.uniform(0.0, 1.5))


@for_all(
    _set_and_member,
    of="pairs of priors and mixtures of them (least distortions at equal leakage)",
    wrong={"of priors that are more even than members": {"more_even": 0.5}},
    share=0.2,
)
@example("the second prior of {(1,1)/2, (3,1)/4} under differential privacy at log 3", DP, _PAIR, 1.0, math.log(3))
def lemma_5_1(notion: str, vertices: Vertices, share: float, leakage: float, more_even: float = 0.0) -> float:
    one, two = np.array(vertices)
    member = (1 - more_even) * (one + share * (two - one)) + more_even / len(one)
    return least_distortion(notion, (tuple(member.tolist()),), leakage) - least_distortion(notion, vertices, leakage)


def _silence(rng: np.random.Generator, begin: float = 1.0) -> float:
    """Whether something has to leak, by any notion, at a distortion in the range."""
    m, n = [(2, 1), (3, 1), (2, 2), (2, 3)][rng.integers(4)]
    vertices = some_of_class_1(rng, m**n) if rng.random() < 0.5 else random_vertices(rng, m**n, 2)
    first = begin * n * (m - 1) / m
    return least_distortion(DP, vertices, 0.0, m, n) - float(rng.uniform(first, n if rng.random() < 0.5 else first))


@claim(instance=_silence, wrong={"from 9/10 of n(m-1)/m on": {"begin": 0.9}}, share=0.4)
def lemma_5_2(sample: Sample, begin: float = 1.0) -> Finding:
    ends = {f"{n} records": (1.0, float(n)) for n in (1, 2, 3)}
    return loose(
        ends, sample, says="for {name} the printed range ends at $D$ = {}, and nothing needs to leak up to $D$ = {}"
    )


def _special(rng: np.random.Generator, less: int = 1) -> float:
    m, n = _SPACES[rng.integers(len(_SPACES))]
    d, prior = float(rng.uniform(0.02, 0.98)) * n, random_prior(rng, m**n)
    apart = np.array(distances(m, n))
    matrix = (1 - d / n) ** n * ((m - less) * (n - d) / d) ** -apart.astype(float)
    return max(float(abs(matrix.sum(axis=1) - 1).max()), abs(float(prior @ (matrix * apart).sum(axis=1)) - d))


@claim(instance=_special, wrong={"m in place of m - 1": {"less": 0}})
def lemma_5_3(sample: Sample, less: int = 1) -> Finding:
    sympy = optional("sympy", "proofs")
    m, d = sympy.symbols("m D", positive=True)
    facts = {}
    for n in range(1, 5):
        ratio = (m - less) * (n - d) / d
        shells = [math.comb(n, at) * (m - 1) ** at * (1 - d / n) ** n * ratio**-at for at in range(n + 1)]
        facts[f"rows, {n} records"] = identical(sum(shells), sympy.Integer(1))
        facts[f"distortion, {n} records"] = identical(sum(at * shell for at, shell in enumerate(shells)), d)
    how = "Rows of $Q_D$ sum to 1, and each row changes $D$ records on average (sympy, for all $m$ and $D$, up to 4 records)."
    return proved(how, facts, sample)


# Theorems 6 and 7


def _printed_6(notion: str, case: Case) -> Bounds:
    source = SourceSet(case.prior)
    return zhong.theorem_6(
        notion, case.values, case.records, case.distortion, source, alpha=case.alpha, delta=case.delta
    )


def _printed_7(notion: str, case: Case) -> Bounds:
    source = SourceSet(case.prior) if notion == MAXIMAL else None
    return zhong.theorem_7(
        notion, case.values, case.records, case.distortion, source, alpha=case.alpha, delta=case.delta
    )


def _space(notion: str, rng: np.random.Generator, pairs: float = 0.25) -> tuple[int, int]:
    """How many values and records; few for Renyi differential privacy, whose program is slow."""
    slow = notion == RENYI
    if rng.random() < (0.1 if slow else pairs):
        return 2, 2
    return int(rng.choice([2, 2, 3] if slow else [2, 3, 4])), 1


def _draw_6(notion: str, rng: np.random.Generator) -> Case:
    m, n = _space(notion, rng)
    low, high = (1.5, 3.0) if notion == SIBSON else (-0.3, 1.5) if notion == RENYI else (0.3, 2.5)
    vertices = random_vertices(rng, m**n, int(rng.integers(1, 3)), low, high)
    if rng.random() < 0.3:
        vertices = some_of_class_1(rng, m**n)
    alpha, delta = (
        float(rng.choice([2.0, 5.0] if notion == SIBSON else [1.3, 2.0, 3.0])),
        float(rng.choice([0.01, 0.05])),
    )
    return Case(m, n, float(rng.uniform(0.03, 0.98)) * n * (m - 1) / m, vertices, alpha, delta)


def _draw_7(notion: str, rng: np.random.Generator) -> Case:
    m, n = _space(notion, rng, 0.5)
    alpha, delta = (
        float(rng.choice([2.0, 5.0] if notion == SIBSON else [1.3, 2.0, 3.0])),
        float(rng.choice([0.01, 0.1])),
    )
    return Case(m, n, float(rng.uniform(0.03, 0.98)) * n * (m - 1) / m, some_of_class_1(rng, m**n), alpha, delta)


_NAMED_6 = {
    "$P = (13,12)/25$ at $D = 1/10$": Case(2, 1, 0.1, ((0.52, 0.48),)),
    "$P = (5,3,2)/10$ at $D = 9/20$": Case(3, 1, 0.45, ((0.5, 0.3, 0.2),)),
    "$P = (3,3,2,2)/10$ on two bits at $D = 1/5$": Case(2, 2, 0.2, ((0.3, 0.3, 0.2, 0.2),), 5.0),
}
_NAMED_7 = {
    "$m = 2$, $n = 1$ and the uniform prior at $D = 1/4$": Case(2, 1, 0.25),
    "$m = n = 2$ and the uniform prior at $D = 1/5$": Case(2, 2, 0.2, alpha=3.0, delta=0.25),
    "$m = n = 2$ and the uniform prior at $D = 4/5$": Case(2, 2, 0.8, delta=0.1),
    r"$\{(1,1)/2, (3,1)/4\}$ at $D = 1/10$": Case(2, 1, 0.1, _PAIR),
}
_SIX = BoundTheorem(_printed_6, _draw_6, _NAMED_6)
_SEVEN = BoundTheorem(_printed_7, _draw_7, _NAMED_7)


def _uniform(case: Case) -> bool:
    """Whether the hull contains the uniform prior."""
    return SourceSet(case.prior).source_class == "I"


def _alone(case: Case) -> bool:
    """Whether it is the only one, over one record."""
    return case.records == 1 and len(case.prior) == 1 and _uniform(case)


def _flat(case: Case) -> bool:
    """One record with one known prior that is not too far from uniform: randomized response is best."""
    small = case.distortion <= (case.values - 1) * min(case.prior[0])
    return _uniform(case) or (case.records == 1 and len(case.prior) == 1 and small)


def _small_delta(case: Case) -> bool:
    """Where the lower end of Theorem 7(2) is exact."""
    t, m, n = math.exp(_printed_7(APPROXIMATE, case).lower), case.values, case.records
    return _uniform(case) and case.delta * ((t + m - 1) ** n - m**n) <= t - 1


def _without_theta(notion: str, case: Case) -> Bounds:
    """The lower bound of Theorem 7, for a set without the uniform prior; parts (3) and (4) have the same."""
    notion = LEAKAGE if notion == MAXIMAL else notion
    m, n, d = case.values, case.records, case.distortion
    return zhong.theorem_6(notion, m, n, d, Floor(1.0, 1.0), alpha=case.alpha, delta=case.delta)


def _with_theta(notion: str, case: Case) -> Bounds:
    """The upper bound at D/theta, as the lower bounds have it."""
    d = min(case.distortion / zhong.floor_of(SourceSet(case.prior)).theta, float(case.records))
    return _printed_6(notion, replace(case, distortion=d))


_NEVER: Callable[[Case], bool] | None = None
_BEYOND = {"two fair bits at $D = 3/2$": Case(2, 2, 1.5)}
for _name, _attained in {
    "theorem_6_1_lower": _uniform,
    "theorem_6_1_upper": _flat,
    "theorem_6_2_lower": _small_delta,
    "theorem_6_2_upper": lambda case: case.records == 1 and _uniform(case),
    "theorem_6_3_lower": _alone,
    "theorem_6_3_upper": _alone,
    "theorem_6_4_lower": lambda case: case.records == 1 and _uniform(case),
    "theorem_6_4_upper": lambda case: case.records == 1 and _uniform(case),
    "theorem_6_5_lower": _NEVER,
    "theorem_6_5_upper": _uniform,
    "theorem_6_6_lower": _NEVER,
    "theorem_6_6_upper": lambda case: case.records == 1 and _uniform(case),
    "theorem_6_7_lower": _uniform,
    "theorem_6_7_upper": _uniform,
}.items():
    _wrong: dict[str, Formula] = {"D/theta in place of D, as in the lower bound": _with_theta}
    if _name.endswith("lower"):
        _wrong = {"the bound of Theorem 7, for every set": _without_theta}
    _SIX.register(
        _name,
        _wrong,
        attained=_attained,
        by_program="_5_" in _name,
    )


@for_all(
    lambda rng: (int(rng.integers(2, 5)), int(rng.integers(1, 4)), *rng.uniform(size=5)),
    of="m, n, D and pairs of theta*",
    wrong={"at theta = 1 all parts meet": {"meeting": NOTION_NAMES}},
)
@example("m = 3 and n = 2 at D = 1/2", 3, 2, 0.375, 0.5, 1.0, 0.5, 0.1)
def theorem_6_remark_on_theta(
    m: int, n: int, d: float, one: float, two: float, above: float, peak: float, meeting: tuple[str, ...] = (DP, MUTUAL)
) -> float:
    d, alpha, delta, worst = max(d, 0.01) * n * (m - 1) / m, 1.1 + 8 * above, 0.05 * above, -math.inf
    for notion in set(NOTION_NAMES) - {MAXIMAL}:
        less, more, full = (
            zhong.theorem_6(notion, m, n, d, floor, alpha=alpha, delta=delta)
            for floor in (Floor(min(one, two), 1 + peak), Floor(max(one, two), 1 + peak), Floor(1.0))
        )
        worst = max(
            worst,
            less.lower - more.lower,
            abs(less.upper - more.upper),
            (full.upper - full.lower) * (notion in meeting),
        )
    return worst


@claim(wrong={"eta = min P'(x)": {"peak": min}})
def theorem_6_eta(peak: Callable[[tuple[float, ...]], float] = max) -> Finding:
    ends: Vertices = ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2))
    d, theta = 0.1, 0.6
    exact, excess = least_by_program(MUTUAL, 3, 1, d, ends), {}
    for name, one in {"(6,2,2)/10": ends[0], "(4,4,2)/10": (0.4, 0.4, 0.2)}.items():
        bound = theta * math.log((1 - d / theta) / peak(one)) + theta * d * math.log(d / (2 * (theta - d)))
        excess[rf"$P' = {name}$ with $\eta = {peak(one):g}$ at $D = 1/10$"] = bound - exact
    return holds(named=excess)


@claim(wrong={"theta with m^n - 1 in place of m^n": {"less": 1}})
def section_iii_theta_of_class_i(less: int = 0) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in range(2, 10):
        p = z3.RealVector("p", size)
        even = z3.RealVal(1) / size
        facts[f"{size} databases"] = (
            always(z3.And(*(one == even for one in p)), z3.Sum(p) == 1, *(one >= even for one in p))
            and F(size - less) * F(1, size) == 1
        )
    return proved("A prior that gives each database at least $1/m^n$ is uniform (z3, up to 9 databases).", facts)


def _optimal_response() -> Mapping[str, bool]:
    """Theorem 7(1): the sum of Q(y|x) - t Q(y|x') over all neighbors x' of x that are one step farther from y."""
    sympy = optional("sympy", "proofs")
    m, n, at, t = sympy.symbols("m n l t")
    facts = {"weights of Q(y|x)": identical((n - at) * (m - 1) - t * at, n * (m - 1) - (t + m - 1) * at)}
    for values, records in ((2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (5, 1), (5, 2)):
        table = distances(values, records)
        steps, right = table[0], True
        for row, here in zip(table, steps, strict=True):
            near = [steps[z] - here for z, one in enumerate(row) if one == 1]
            right &= (near.count(1), near.count(-1)) == ((records - here) * (values - 1), here)
        facts[f"neighbors, m = {values}, n = {records}"] = right
    return facts


_HOW_7_1 = (
    r"Let $t = e^\epsilon$. The sum of $Q(y|x) \leq t Q(y|x')$ over all databases $x$ and their neighbors $x'$ one step farther "
    r"from $y$ gives $n(m-1) \leq (t+m-1) D$ (neighbors counted for $m^n$ up to 27, weights by sympy); $Q_D$ attains equality."
)
_PLUS: dict[str, Callable[[Case], float]] = {
    "theorem_7_1": lambda c: math.log(c.values / (c.values - 1)),
    "theorem_7_3_lower": lambda c: (c.records - 1) * math.log(c.values * (1 - c.distortion / c.records)),
    "theorem_7_4_lower": lambda c: (c.records - 1) * math.log(c.values * (1 - c.distortion / c.records)),
    "theorem_7_4_upper": lambda c: (1 - c.records) * math.log(c.values * (1 - c.distortion / c.records)),
    "theorem_7_5_lower": lambda c: math.log(c.records * c.values ** (c.records - 1)) / (c.alpha - 1),
    "theorem_7_6_lower": lambda c: c.records * math.log(c.values) / (c.alpha - 1),
    "theorem_7_7": lambda c: -c.distortion * math.log(c.values / (c.values - 1)),
}


def _other_delta(factor: Callable[[Case], float]) -> Formula:
    return lambda notion, case: _printed_7(notion, replace(case, delta=min(case.delta * factor(case), 0.99)))


def _plus(name: str) -> Formula:
    return lambda notion, case: shifted(_printed_7(notion, case), _PLUS[name](case))


_M_N: Callable[[Case], float] = lambda c: c.values**c.records * (1 - c.distortion / c.records) ** c.records  # noqa: E731
_WRONG_7: dict[str, dict[str, Formula]] = {
    "theorem_7_1": {"m in place of m - 1": _plus("theorem_7_1")},
    "theorem_7_2_lower": {"delta in place of delta m^(n-1)": _other_delta(lambda c: c.values ** (1.0 - c.records))},
    "theorem_7_2_upper": {"m^n in place of (1 - D/n)^(-n)": _other_delta(_M_N)},
    "theorem_7_3_lower": {"n times as much": _plus("theorem_7_3_lower")},
    "theorem_7_3_upper": {
        "what Q_D leaks for the uniform prior": lambda notion, case: _printed_7(notion, replace(case, vertices=()))
    },
    "theorem_7_4_lower": {"n times as much": _plus("theorem_7_4_lower")},
    "theorem_7_4_upper": {"without the factor n": _plus("theorem_7_4_upper")},
    "theorem_7_5_lower": {"without the subtraction": _plus("theorem_7_5_lower")},
    "theorem_7_5_upper": {
        "1/a in place of 1/(a - 1)": lambda notion, case: Bounds(
            0.0, _printed_7(notion, case).upper * (1 - 1 / case.alpha)
        )
    },
    "theorem_7_6_lower": {"m^a in place of m^(a-n)": _plus("theorem_7_6_lower")},
    "theorem_7_6_upper": {"the formula of part (7)": lambda notion, case: _printed_7(MUTUAL, case)},
    "theorem_7_7": {"m in place of m - 1": _plus("theorem_7_7")},
}
_ATTAINED_7: dict[str, Callable[[Case], bool]] = {
    "theorem_7_2_lower": _small_delta,
    "theorem_7_2_upper": lambda case: case.records == 1,
    "theorem_7_3_lower": _alone,
    "theorem_7_3_upper": _alone,
    "theorem_7_4_lower": lambda case: case.records == 1,
    "theorem_7_4_upper": lambda case: case.records == 1,
    "theorem_7_5_upper": _uniform,
    "theorem_7_6_upper": lambda case: case.records == 1,
}
for _name, _wrong in _WRONG_7.items():
    _SEVEN.register(
        _name,
        _wrong,
        attained=_ATTAINED_7.get(_name),
        proof=(_HOW_7_1, _optimal_response) if _name == "theorem_7_1" else None,
        silent=_BEYOND if _name == "theorem_7_7" else None,
        by_program=_name != "theorem_7_5_lower",
    )


def _least_output(m: int, n: int, d: F, priors: list[list[F]], last: int) -> F:
    """The smallest sum over l up to ``last`` of A^-l P(N_l(y))."""
    ratio, apart = (m - 1) * (n - d) / d, distances(m, n)
    outputs = ([(p, row[y]) for p, row in zip(prior, apart, strict=True)] for prior in priors for y in range(m**n))
    return min(sum((p / ratio**at for p, at in one if at <= last), F(0)) for one in outputs)


def _special_information(rng: np.random.Generator, **_: Any) -> float:
    m, n = [(2, 3), (2, 2), (3, 2)][rng.integers(3)]
    weights = rng.integers(1, 9, size=(2, m**n))
    priors = [[F(int(one), int(row.sum())) for one in row] for row in weights]
    d = F(int(rng.integers(1, 20)), 20) * n * (m - 1) / m
    kept, other = 1 - d / n, d / n / (m - 1)
    matrix = [[kept ** (n - at) * other**at for at in row] for row in distances(m, n)]
    leaks = max(exp_information(matrix, prior) for prior in priors)
    return abs(float(leaks * _least_output(m, n, d, priors, n) - 1))


@claim(instance=_special_information, wrong={"the sum up to n, as mended": {"last": 3}}, share=0.2)
def theorem_7_3_what_q_d_leaks(sample: Sample, last: int = 2) -> Finding:
    matrix = [[F(2, 3) ** (3 - at) * F(1, 3) ** at for at in row] for row in distances(2, 3)]
    fair = [F(1, 8)] * 8
    truth = float(1 / exp_information(matrix, fair))
    sums = [float(_least_output(2, 3, F(1), [fair], end)) for end in (last, 3)]
    name = "three fair bits at $D = 1$"
    says = r"for {name} the sum is {}, and $Q_D$ leaks $-\log {}$"
    return corrected({name: (sums[0], truth)}, {name: (sums[1], truth)}, sample, says=says)
