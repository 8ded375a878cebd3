"""What Zhong and Bu state (2022), claim by claim: the local framework (Section IV-A to IV-C)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose, proved, reproduced
from paper_repro.claims.draw import Vertices, random_mechanism, random_prior
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
    in_words,
    least_by_program,
    least_distortion,
    loss,
    shifted,
    snapped,
    some_of_class_1,
)
from paper_repro.errors import optional
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.papers.readings import Bounds, Reading
from paper_repro.sources import SourceSet
from paper_repro.types import NOTION_NAMES, FloatArray

_FOUR, _THREE = (0.4, 0.3, 0.2, 0.1), (0.7, 0.2, 0.1)
_PAIR: Vertices = ((0.5, 0.5), (0.75, 0.25))
_ALL: Vertices = ((1.0, 0.0), (0.0, 1.0))


def _validity(rng: np.random.Generator, weighted: bool = True) -> float:
    size = int(rng.integers(2, 7))
    prior, matrix = random_prior(rng, size), random_mechanism(rng, size)
    changed = float((prior[:, np.newaxis] * matrix * (1 - np.eye(size))).sum())
    return abs(changed - 1 + float((prior if weighted else np.full(size, 1 / size)) @ np.diagonal(matrix)))


@claim(instance=_validity, wrong={"the mean of the Q(i|i), without the prior": {"weighted": False}})
def section_iv_validity(sample: Sample, weighted: bool = True) -> Finding:
    sympy = optional("sympy", "proofs")
    facts = {}
    for m in range(2, 7):
        p, q = sympy.symbols(f"p:{m}"), sympy.Matrix(m, m, sympy.symbols(f"q:{m * m}"))
        changed = sum(p[i] * q[i, j] for i, j in itertools.permutations(range(m), 2))
        kept = sum(p[i] * q[i, i] for i in range(m))
        whole = sum(p[i] * sum(q[i, :]) for i in range(m))  # 1, as rows sum to 1
        facts[f"{m} categories"] = sympy.expand(changed + kept - whole) == 0
    return proved(
        "The probabilities of a change and of no change add up to 1 (sympy, 2 to 6 categories).", facts, sample
    )


# Proposition 8


def _printed_8(notion: str, case: Case) -> Bounds:
    source = SourceSet(case.prior) if notion == MAXIMAL else None
    return zhong.proposition_8(notion, case.values, case.distortion, source, alpha=case.alpha, delta=case.delta)


def _draw_8(notion: str, rng: np.random.Generator) -> Case:
    m, alpha = int(rng.choice([2, 2, 3] if notion == RENYI else [2, 3, 4])), float(rng.choice([1.3, 2.0, 3.0]))
    d = float(rng.uniform(0.02, 0.98))
    return Case(m, 1, d, some_of_class_1(rng, m), alpha, float(rng.choice([0.01, 0.1, 0.3])))


def _best_response() -> Mapping[str, bool]:
    """Parts (1) and (2): the constraints Q(j|j) <= t Q(j|i) + delta, all added up, against the kept mass K."""
    sympy, z3 = optional("sympy", "proofs"), optional("z3", "proofs")
    facts = {}
    t, delta = sympy.symbols("t delta")
    kept, ratio, d, slack = z3.Reals("K t D delta")
    for m in range(2, 6):
        q = sympy.Matrix(m, m, sympy.symbols(f"q:{m * m}"))
        added = sum(q[j, j] - t * q[i, j] - delta for i, j in itertools.permutations(range(m), 2))
        mass = sum(q[j, j] for j in range(m))
        total = (m - 1) * mass - t * (sum(q) - mass) - m * (m - 1) * delta
        facts[f"constraints of {m} categories"] = sympy.expand(added - total) == 0
        facts[f"least ratio of {m} categories"] = always(
            ratio * d >= (m - 1) * (1 - d - slack),
            (m - 1) * kept - ratio * (m - kept) <= m * (m - 1) * slack,
            kept >= m * (1 - d), kept <= m, ratio >= 1, d > 0, slack >= 0, slack < 1,
        )  # fmt: skip
    d, delta, m = sympy.symbols("D delta m", positive=True)
    facts["Q_D"] = identical((1 - d - delta) / (d / (m - 1)), (m - 1) * (1 - d - delta) / d)
    facts["no leakage"] = identical(1 - delta - (1 - delta) / m, (1 - delta) * (m - 1) / m)
    return facts


def _least_mass() -> Mapping[str, bool]:
    z3 = optional("z3", "proofs")
    facts = {}
    for m in range(2, 6):
        top, kept, d = z3.RealVector("top", m), z3.RealVector("kept", m), z3.Real("D")
        above = [a >= b for a, b in zip(top, kept, strict=True)]
        facts[f"{m} categories"] = always(z3.Sum(top) >= m * (1 - d), z3.Sum(kept) >= m * (1 - d), *above)
        facts[f"Q_D, {m} categories"] = always((1 - d) * (m - 1) >= d, d * m <= m - 1)
    return facts


def _of_response() -> Mapping[str, bool]:
    """Part (5): the Renyi sum of two rows of Q_D."""
    sympy = optional("sympy", "proofs")
    a, ratio, other = sympy.symbols("a A o", positive=True)
    facts = {}
    for m in range(2, 6):
        rows = [[ratio * other if i == j else other for j in range(m)] for i in (0, 1)]
        moments = sum(one**a * two ** (1 - a) for one, two in zip(*rows, strict=True))
        printed = other * (m - 2 + ratio**a + ratio ** (1 - a))
        facts[f"{m} categories"] = sympy.simplify(sympy.expand(sympy.expand_power_base(moments - printed))) == 0
    return facts


def _plus(by: Callable[[Case], float]) -> Formula:
    return lambda notion, case: shifted(_printed_8(notion, case), by(case))


def _as(notion: str) -> Formula:
    return lambda _, case: _printed_8(notion, case)


_EIGHT = BoundTheorem(
    _printed_8,
    _draw_8,
    {
        "the uniform prior of 2 categories at $D = 1/4$": Case(2, 1, 0.25),
        "the uniform prior of 3 categories at $D = 1/2$": Case(3, 1, 0.5),
        r"$\{(1,1)/2, (3,1)/4\}$ at $D = 1/10$": Case(2, 1, 0.1, _PAIR),
    },
)
_ADDED = (
    r"Let $t = e^\epsilon$. The sum of all constraints $Q(j|j) \leq t Q(j|i){}$ gives the least ratio (z3, sympy, up to 5 "
    r"categories), and {} attains it."
)
_EIGHT.register(
    "proposition_8_1",
    {"m in place of m - 1": _plus(lambda c: math.log(c.values / (c.values - 1)))},
    proof=(_ADDED.format("", "$Q_D$"), _best_response),
)
_EIGHT.register(
    "proposition_8_2",
    {"1 - D in place of 1 - D - delta": _as(DP)},
    proof=(_ADDED.format(r" + \delta", "randomized response"), _best_response),
)
_EIGHT.register("proposition_8_3_lower", {"an equation": lambda n, c: Bounds(_printed_8(n, c).upper, 0.0)})
_EIGHT.register("proposition_8_3_upper", {"p = 1/m": lambda n, c: _printed_8(n, replace(c, vertices=()))})
_EIGHT.register(
    "proposition_8_4",
    {"m - 1 in place of m": _plus(lambda c: math.log(1 - 1 / c.values))},
    proof=(
        r"The largest entry of column $j$ is at least $Q(j|j)$, and all $Q(j|j)$ sum to at least $m(1-D)$ (z3, up to 5 "
        r"categories); $Q_D$ attains this sum.",
        _least_mass,
    ),
)
_EIGHT.register("proposition_8_5_lower", {"1 - D without exponent": _as(DP)}, by_program=False)
_EIGHT.register(
    "proposition_8_5_upper",
    {"1/a in place of 1/(a - 1)": lambda n, c: Bounds(0.0, _printed_8(n, c).upper * (1 - 1 / c.alpha))},
    attained=lambda case: case.distortion < 1 - 1 / case.values,
    proof=(
        r"The formula is the divergence of two rows of $Q_D$ (sympy, for all $\alpha$ and $D$, up to 5 categories). That it is "
        r"attained is checked on random source sets only.",
        _of_response,
    ),
)
_EIGHT.register("proposition_8_6_lower", {"1 - D without exponent": _as(LEAKAGE)})
_EIGHT.register(
    "proposition_8_6_upper",
    {"the formula of part (7)": _as(MUTUAL)},
    attained=lambda case: case.distortion < 1 - 1 / case.values,
)
_EIGHT.register(
    "proposition_8_7",
    {"m in place of m - 1": _plus(lambda c: -c.distortion * math.log(c.values / (c.values - 1)))},
)


# Section IV-B: one known prior, and ordered sets


@claim(wrong={"at D = 3/20 too": {"d": "3/20"}})
def section_iv_b_why_another_method(d: str = "1/4") -> Finding:
    z3 = optional("z3", "proofs")
    kept, budget = z3.RealVector("a", 3), z3.RealVal(d)
    theta = z3.RealVal("3/10")
    prior = [z3.RealVal(one) for one in ("7/10", "1/5", "1/10")]
    # The row that all letters share where nothing leaks.
    same = [z3.Sum(kept) == 1, *(one >= 0 for one in kept)]
    facts = {
        "the bound says nothing": always(2 * (theta - budget) < budget),
        "something leaks": always(z3.Sum([p * a for p, a in zip(prior, kept, strict=True)]) < 1 - budget, *same),
    }
    how = (
        r"For $P = (7,2,1)/10$ and $D = 1/4$ the bound of Theorem 6(1) is the logarithm of $2(3/10 - 1/4)/(1/4) = 2/5$. Without "
        "leakage a category is kept with probability at most 7/10, and 3/4 is needed (z3)."
    )
    return proved(how, facts)


def _prior_and_budget(rng: np.random.Generator, most: float = 1.1) -> tuple[FloatArray, float, float]:
    """A prior in falling order, delta, and a share of the distortion from which nothing needs to leak."""
    return (
        random_prior(rng, int(rng.integers(2, 7)), -0.3, 1.5),
        float(rng.uniform(0.01, 0.6)),
        float(rng.uniform(0.02, most)),
    )


def _row(prior: FloatArray) -> Vertices:
    return (tuple(prior.tolist()),)


def _exact(notion: str, prior: FloatArray, leakage: float, d: float, delta: float = 0.0) -> float:
    """How far a formula's value is from the least leakage, in distortion; more than needed is no fault where nothing leaks."""
    gap = least_distortion(notion, _row(prior), leakage, delta=delta) - d
    return abs(gap) if leakage > 0 else gap


def _violation_9(
    rng: np.random.Generator, reading: Reading = "printed", all_k: bool = True, known: bool = False
) -> float:
    prior, delta, share = _prior_and_budget(rng)
    delta = 0.0 if known else delta
    d, end = share * zhong.lemma_10(prior, delta), zhong.lemma_10(prior, delta)
    formula = zhong.theorem_9(prior, d, delta, "corrected")
    if not all_k and d < end:
        formula = max(0.0, math.log((len(prior) - 1) * (1 - d - delta) / d))
    return _exact(APPROXIMATE if delta else DP, prior, formula, d, delta)


def _violation_13(rng: np.random.Generator, reading: Reading = "printed", all_k: bool = True) -> float:
    return _violation_9(rng, reading, all_k, known=True)


def _at_jump(delta: float, reading: Reading, sample: Sample, prior: tuple[float, ...] = _FOUR) -> Finding:
    d = zhong.lemma_10(prior, delta)
    silent = least_distortion(APPROXIMATE if delta else DP, (prior,), 0.0, delta=delta) <= d + 1e-9
    name = r"$P = (4,3,2,1)/10$ with $\delta = 1/10$ at $D = 27/50$" if delta else "$P = (4,3,2,1)/10$ at $D = 3/5$"
    values = [math.exp(zhong.theorem_9(prior, d, delta, one)) for one in (reading, "corrected")]
    truth = 1.0 if silent else math.nan
    says = r"for {name} the print gives $\log {}$, and the least leakage is $\log {}$"
    return corrected({name: (values[0], truth)}, {name: (values[1], truth)}, sample, says=says, tolerance=1e-8)


_WRONG_9: dict[str, dict[str, object]] = {
    "with k = m at the jump, as mended": {"reading": "corrected"},
    "k = 1 alone": {"all_k": False},
}


@claim(instance=_violation_9, wrong=_WRONG_9, tolerance=1e-8, share=0.4)
def theorem_9(sample: Sample, reading: Reading = "printed", all_k: bool = True) -> Finding:
    return _at_jump(0.1, reading, sample)


def _violation_10(rng: np.random.Generator, letter: int = 0) -> float:
    prior, delta, _ = _prior_and_budget(rng)
    return abs(least_distortion(APPROXIMATE, _row(prior), 0.0, delta=delta) - (1 - delta) * (1 - float(prior[letter])))


@claim(instance=_violation_10, wrong={"the second largest probability": {"letter": 1}}, tolerance=1e-8, share=0.4)
def lemma_10(sample: Sample, letter: int = 0) -> Finding:
    sympy, z3 = optional("sympy", "proofs"), optional("z3", "proofs")
    facts, delta = {}, z3.Real("delta")
    for m in range(2, 6):
        q = [z3.RealVector(f"q{i}", m) for i in range(m)]
        channel = [one >= 0 for row in q for one in row] + [z3.Sum(row) == 1 for row in q]
        close = [q[i][j] - q[k][j] <= delta for j in range(m) for i, k in itertools.permutations(range(m), 2)]
        for count in range(1, m + 1):  # both sides are linear in P, and falling priors are mixtures of these
            kept = z3.Sum([q[j][j] for j in range(count)])
            end = always(count - kept >= (1 - delta) * (count - 1), delta > 0, delta < 1, *channel, *close)
            facts[f"{count} of {m} categories alike"] = end
        share, p = sympy.Symbol("delta"), sympy.symbols(f"p:{m}")
        least = sum(one * (1 - share) for one in p[1:])  # what Q_delta changes
        facts[f"Q_delta of {m} categories"] = identical(least, (1 - share) * (sum(p) - p[0]))
    how = (
        r"If the entries of each column differ by at most $\delta$, the distortion is at least $(1-\delta)(1-P_1)$ (z3, up to 5 "
        r"categories); $Q_\delta$ has just this distortion."
    )
    return proved(how, facts, sample)


def _demands_1(m: int, delta: float, times: float = 1.0) -> list[tuple[dict[tuple[int, int], float], float]]:
    falling = [({(j + 1, j + 1): 1.0, (j, j): -1.0}, 0.0) for j in range(m - 1)]
    return [*falling, ({(m - 1, m - 1): -1.0}, -times * delta)]


def _demands_2(
    m: int, delta: float, ratio: float, everywhere: bool
) -> list[tuple[dict[tuple[int, int], float], float]]:
    places = list(itertools.permutations(range(m), 2)) if everywhere else [(0, j) for j in range(1, m)]
    more = [({(j, j): 1.0, (i, j): -ratio}, delta) for i, j in places]
    return more + [({(j, j): -1.0, (i, j): ratio}, -delta) for i, j in places]


def _violation_11(rng: np.random.Generator, part: int = 1, times: float = 1.0, everywhere: bool = False) -> float:
    """How much more has to be changed if the best mechanism is to be as the lemma says."""
    prior, delta, share = _prior_and_budget(rng, 0.95)
    m, d = len(prior), share * zhong.lemma_10(prior, delta)
    leakage = zhong.theorem_9(prior, d, delta)
    more = _demands_1(m, delta, times)
    if part == 2:
        more += _demands_2(m, delta, math.exp(leakage), everywhere)
    return least_distortion(APPROXIMATE, _row(prior), leakage, delta=delta, more=more) - d


def _violation_11_2(rng: np.random.Generator, everywhere: bool = False) -> float:
    return _violation_11(rng, 2, everywhere=everywhere)


@claim(instance=_violation_11, wrong={"2 delta <= Q(m|m)": {"times": 2.0}}, tolerance=1e-8, share=0.4)
def lemma_11_1(sample: Sample, times: float = 1.0) -> Finding:
    return holds(sample, tolerance=1e-8, of="priors, delta and distortions")


@claim(
    instance=_violation_11_2,
    wrong={"Q(j|j) = e^eps Q(j|i) + delta for all i": {"everywhere": True}},
    tolerance=1e-8,
    share=0.4,
)
def lemma_11_2(sample: Sample, everywhere: bool = False) -> Finding:
    return holds(sample, tolerance=1e-8, of="priors, delta and distortions")


def _ordered(rng: np.random.Generator, ordered: bool = True) -> Vertices:
    size = int(rng.integers(2, 6))
    rows = [random_prior(rng, size, -0.2, 1.2) for _ in range(2)]
    return tuple(tuple((row if ordered else rng.permutation(row)).tolist()) for row in rows)


def _violation_12(rng: np.random.Generator, reading: Reading = "printed") -> float:
    vertices, delta = _ordered(rng), float(rng.choice([0.0, 0.1, 0.4]))
    d = float(rng.uniform(0.05, 0.95)) * (1 - delta) * (1 - min(prior[0] for prior in vertices))
    formula = zhong.proposition_12(SourceSet(vertices), d, delta, "corrected")
    return abs(least_distortion(APPROXIMATE if delta else DP, vertices, formula, delta=delta) - d)


@claim(instance=_violation_12, wrong={"with the term, as mended": {"reading": "corrected"}}, tolerance=1e-6, share=0.4)
def proposition_12(sample: Sample, reading: Reading = "printed") -> Finding:
    printed: dict[str, tuple[float, float]] = {}
    mended: dict[str, tuple[float, float]] = {}
    for delta, words in ((0.1, r"$\delta = 1/10$"), (0.0, r"$\delta = 0$")):
        notion = APPROXIMATE if delta else DP
        exact = snapped(math.exp(least_by_program(notion, 3, 1, 0.225, (_THREE,), delta=delta or 0.1)))
        for found, one in ((printed, reading), (mended, "corrected")):
            formula = zhong.proposition_12(SourceSet(_THREE), 0.225, delta, one)
            found[f"$P = (7,2,1)/10$ with {words} at $D = 9/40$"] = math.exp(formula), exact
    says = r"for {name} the print gives $\log {}$, and the least leakage is $\log {}$"
    return corrected(printed, mended, sample, says=says, tolerance=1e-6)


@claim(instance=_violation_13, wrong=_WRONG_9, tolerance=1e-8, share=0.4)
def theorem_13(sample: Sample, reading: Reading = "printed", all_k: bool = True) -> Finding:
    return _at_jump(0.0, reading, sample)


def _mass(prior: FloatArray, d: float, step: int = 0) -> float:
    """Theorem 14 as printed: the exponential of the least maximal leakage; ``step`` counts from P_(m+1-k)."""
    rising = np.sort(prior)
    masses = np.append(0.0, np.cumsum(rising))
    k = min(int(np.searchsorted(masses, d)), len(prior))
    return max(1.0, len(prior) - k - (d - masses[k]) / rising[min(k - 1 + step, len(prior) - 1)])


def _violation_14(rng: np.random.Generator, step: int = 0) -> float:
    prior, _, share = _prior_and_budget(rng)
    d = share * (1 - float(prior[0]))
    return _exact(LEAKAGE, prior, math.log(_mass(prior, d, step)), d)


@claim(instance=_violation_14, wrong={"divided by D^(k+1) - D^(k)": {"step": 1}}, tolerance=1e-8, share=0.4)
def theorem_14(sample: Sample, step: int = 0) -> Finding:
    sympy, z3 = optional("sympy", "proofs"), optional("z3", "proofs")
    facts = {}
    for m in range(2, 7):
        p, b, d = sympy.symbols(f"p:{m}"), sympy.symbols(f"b:{m}"), sympy.Symbol("D")
        for k in range(1, m + 1):  # the letters m - k .. m - 1, from 0, are the k rarest
            level, rare = p[m - k], range(m - k, m)
            slack = d - sum(one * two for one, two in zip(p, b, strict=True))
            slack += sum((p[j] - level) * b[j] for j in range(m - k)) + sum((level - p[j]) * (1 - b[j]) for j in rare)
            bound = d - sum(p[j] for j in rare) + level * (k - sum(b))
            facts[f"m = {m}, k = {k}"] = sympy.expand(slack - bound) == 0
        a, total = z3.RealVector("a", m), z3.Real("S")
        inside = [z3.Sum(a) == total, total >= 1, *(z3.And(one >= 0, one < 1) for one in a)]
        facts[f"mechanism, {m} categories"] = always((1 - a[0]) * a[1] <= (total - a[0]) * a[1], *inside)
    how = (
        "Let $b_j$ be the probability that category $j$ is changed. The slack of the bound is a sum of nonnegative products "
        "(sympy, up to 6 categories). Each diagonal of sum 1 or more belongs to a mechanism with its column maxima there (z3)."
    )
    return proved(how, facts, sample)


def _needed(prior: FloatArray, leakage: float, step: int = 0) -> float:
    """Corollary 15 as printed: D^(m-k) + P_(k+1) (k - e^eps), for eps below log m."""
    falling, ratio = -np.sort(-prior), math.exp(leakage)
    k = int(ratio * (1 + 1e-12))
    return float(falling[k:].sum() + falling[min(k + step, len(prior) - 1)] * (k - ratio))


def _round_trip(rng: np.random.Generator, step: int = 0) -> float:
    prior, _, share = _prior_and_budget(rng, 0.99)
    d = share * (1 - float(prior[0]))
    return abs(_needed(prior, math.log(_mass(prior, d)), step) - d)


@claim(instance=_round_trip, wrong={"P_(k+2) in place of P_(k+1)": {"step": 1}})
def theorem_14_equal_expression(sample: Sample, step: int = 0) -> Finding:
    sympy = optional("sympy", "proofs")
    tail, level, d, m, k = sympy.symbols("tail p D m k", positive=True)
    ratio = m - k - (d - tail) / level  # Theorem 14, and its corners D^(k) and D^(k-1) = D^(k) - p
    facts = {"inverse": identical(tail + level * (m - k - ratio), d)}
    facts["from log(m - k)"] = identical(ratio.subs(d, tail), m - k)
    facts["to log(m - k + 1)"] = identical(ratio.subs(d, tail - level), m - k + 1)
    how = "Each piece of one formula is the inverse of a piece of the other, and the ends agree (sympy, for all $m$ and $k$)."
    return proved(how, facts, sample)


def _violation_15(rng: np.random.Generator, last: int = 2, ordered: bool = True) -> float:
    vertices = _ordered(rng, ordered)
    leakage = float(rng.uniform(0.0, 1.0)) * math.log(len(vertices[0]))
    return abs(least_distortion(LEAKAGE, vertices, leakage) - max(_needed(np.array(one), leakage) for one in vertices))


@claim(
    instance=_violation_15,
    wrong={"for k = 1 .. m - 1, as mended": {"last": 1}, "without a common order": {"ordered": False}},
    tolerance=1e-8,
    share=0.4,
)
def corollary_15(sample: Sample, last: int = 2, ordered: bool = True) -> Finding:
    name = "two categories and the largest printed $k$"
    says = "for {name} the formula uses the probability of category {}, and the last category is {}"
    return corrected({name: (last + 1.0, 2.0)}, {name: (2.0, 2.0)}, sample, says=says)


# Section IV-C: the figures


@claim(wrong={"delta = 1/20": {"delta": 0.05}})
def figure_3_curves(delta: float = 0.1) -> Finding:
    worst = 0.0
    for notion in (DP, APPROXIMATE, LEAKAGE, MUTUAL):
        for d in np.arange(1, 25) / 50:
            formula = zhong.proposition_8(notion, 2, float(d), delta=delta).upper
            if notion == MUTUAL:
                worst = max(worst, abs(formula - least_by_program(MUTUAL, 2, 1, float(d), _ALL)))
            else:
                worst = max(worst, _exact(notion, np.array([0.5, 0.5]), formula, float(d), 0.1))
    return holds(named={"each of the four notions at 24 distortions from 1/50 to 24/50": worst}, tolerance=2e-6)


@claim(wrong={"order 3": {"alpha": 3.0}})
def figure_3_ranges(alpha: float = 2.0) -> Finding:
    pairs = {}
    for notion, d in itertools.product((RENYI, SIBSON), (0.2, 0.4)):
        low, high = zhong.proposition_8(notion, 2, d, alpha=alpha)
        exact = snapped(math.exp(least_by_program(notion, 2, 1, d, alpha=2.0)))
        name = f"{in_words(notion)} at $D = {'1/5' if d == 0.2 else '2/5'}$"
        pairs[name] = math.exp(low), exact
        pairs[f"{name}, upper end"] = exact, math.exp(high)
    return loose(
        pairs, says=r"for {name} the range begins at $\log {}$, and the least leakage is $\log {}$", tolerance=1e-6
    )


def _two(notion: str, d: float) -> float:
    return snapped(math.exp(least_by_program(notion, 2, 1, d, _ALL)))


@claim(wrong={"for D up to 3/8, as mended for all": {"places": (0.375, 0.375)}})
def figure_3_text_order(places: tuple[float, float] = (0.4, 0.45)) -> Finding:
    printed, mended = {}, {}
    for notion, d in zip((RENYI, APPROXIMATE), places, strict=True):
        least = _two(notion, d)
        name = f"maximal leakage and {in_words(notion)} at $D = {'2/5' if d == 0.4 else '9/20'}$"
        printed[name] = max(_two(LEAKAGE, d), least), least
    for notion, end in ((DP, 0.499), (RENYI, 0.3819), (APPROXIMATE, 0.4145)):
        for d in (0.02, end / 2, end):
            least = _two(notion, d)
            mended[f"{notion}, D = {d:g}"] = max(least, *(_two(other, d) for other in (LEAKAGE, SIBSON, MUTUAL))), least
    return corrected(printed, mended, says=r"for {name} the least leakages are $\log {}$ and $\log {}$", tolerance=1e-6)


def _response_gap(rng: np.random.Generator, most: float = 0.5) -> float:
    notion, d = str(rng.choice(NOTION_NAMES)), float(rng.uniform(0.01, most))
    return _special(notion, d)


def _special(notion: str, d: float) -> float:
    """How much more Q_D leaks than is needed, if nothing is known of the prior: in distortion where there is a linear program."""
    leakage = loss(notion, zhong.lemma_5_mechanism(2, 1, d), 2, 1, SourceSet(_ALL))
    if notion in (RENYI, SIBSON, MUTUAL):
        return leakage - least_by_program(notion, 2, 1, d, _ALL)
    return d - least_distortion(notion, _ALL, leakage) if leakage > 0 else 0.0


@claim(instance=_response_gap, wrong={"for D up to 1": {"most": 0.99}}, tolerance=2e-6, share=0.2)
def figure_3_text_randomized_response(sample: Sample, most: float = 0.5) -> Finding:
    named = {"all seven notions at D = 1/5": max(_special(notion, 0.2) for notion in NOTION_NAMES)}
    return holds(sample, named=named, tolerance=2e-6, of="notions and distortions")


@claim(wrong={"for the prior (40,30,15,15)/100": {"prior": (0.4, 0.3, 0.15, 0.15)}})
def figure_4_curves(prior: tuple[float, ...] = _FOUR) -> Finding:
    worst = 0.0
    for notion in (DP, APPROXIMATE, LEAKAGE):
        for d in np.arange(1, 32) / 50 + 1 / 300:
            formula = {
                DP: zhong.theorem_13(prior, d),
                APPROXIMATE: zhong.theorem_9(prior, d, 0.1),
                LEAKAGE: zhong.theorem_14(prior, d),
            }[notion]
            worst = max(worst, _exact(notion, np.array(_FOUR), formula, float(d), 0.1))
    return holds(named={"each of the three notions at 31 distortions from 0.02 to 0.63": worst}, tolerance=1e-8)


def _four(notion: str, d: float) -> float:
    return snapped(math.exp(least_by_program(notion, 4, 1, d, (_FOUR,))))


@claim(wrong={"below 27/50, as mended": {"d": 0.53}})
def figure_4_text_most_relaxed(d: float = 0.54) -> Finding:
    printed = {"$D = 27/50$": (max(_four(LEAKAGE, d), _four(APPROXIMATE, d)), _four(APPROXIMATE, d))}
    mended = {}
    for notion, end in ((DP, 0.7), (APPROXIMATE, 0.5399)):
        for place in np.linspace(0.05, end, 6).tolist():
            mended[f"{notion}, D = {place:g}"] = max(_four(LEAKAGE, place), _four(notion, place)), _four(notion, place)
    says = rf"at {{name}} maximal leakage is at least $\log {{}}$, and {in_words(APPROXIMATE)} needs $\log {{}}$"
    return corrected(printed, mended, says=says, tolerance=1e-6)


@claim(wrong={"0.55 in place of 0.54": {"second": 0.55}})
def figure_4_text_jumps(second: float = 0.54) -> Finding:
    values = {}
    for notion, words, printed in (
        (DP, DP, 0.6),
        (APPROXIMATE, r"pointwise $(\epsilon, 0.1)$-differential privacy", second),
    ):
        for leakage, what in ((0.0, "no leakage"), (math.log(4 / 3), r"leakage $\log 4/3$")):
            values[f"least D for {words} with {what}"] = printed, least_distortion(notion, (_FOUR,), leakage)
    found = reproduced(values, 1e-9)
    if found.verdict != "reproduced":
        return found
    said = (
        "Both printed values are the least D with no leakage and the least D with leakage $\\log 4/3$, to within 1e-09."
    )
    return replace(found, evidence=said)


def _why(rng: np.random.Generator, factor: float = 1.0) -> float:
    prior, delta, _ = _prior_and_budget(rng)
    kept = np.diagonal(zhong.lemma_10_mechanism(len(prior), delta))
    return abs(float(prior @ (1 - kept)) - (1 - factor * delta) * (1 - float(prior[0])))


@claim(instance=_why, wrong={"if and only if D >= 1 - P_1": {"factor": 0.0}})
def figure_4_text_why(sample: Sample, factor: float = 1.0) -> Finding:
    sympy = optional("sympy", "proofs")
    facts, delta = {}, sympy.Symbol("delta")
    for m in range(2, 9):
        p = sympy.symbols(f"p:{m}")
        kept = p[0] + delta * sum(p[1:])
        facts[f"{m} categories"] = identical(sum(p) - kept, (1 - delta) * (sum(p) - p[0]))
    return proved(r"$Q_\delta$ changes exactly $(1-\delta)(1-P_1)$ (sympy, up to 8 categories).", facts, sample)
