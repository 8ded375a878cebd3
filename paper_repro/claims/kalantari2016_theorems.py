"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections III to V, theorems and first lemmas."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, Sample, claim, corrected, depends, holds, loose, proved, refuted, uncertain
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import (
    KNOWN,
    SHORT,
    apart,
    as_floats,
    certified_ratio,
    channel,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari2016 import (
    ORDER_ADDED,
    SIZES,
    SOLVED,
    STRICT,
    SYMMETRIC,
    any_set,
    full_budget,
    invariant_budget,
    log_ratio,
    lower_bounds,
    odds_of,
    ordered_budget,
    ordered_set,
    program,
    renumbered,
    some_channel,
    spoiled,
)
from paper_repro.claims.kalantari_tools import eps, falling_letters, mended, only_symmetric, same
from paper_repro.claims.prove import always, reals, symbols
from paper_repro.errors import optional
from paper_repro.papers import kalantari2016 as isit
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

SOURCE = as_floats(KNOWN)
NAME = "(1/2, 3/10, 1/5)"
SIX = "7/10 3/20 3/50 1/25 3/100 1/50"
M_FOR_LESS = {"M in place of M - 1": {"less": 0}}


def floor_of(vertices: FloatArray) -> float:
    """Largest least probability of a distribution in the hull."""
    count, size = vertices.shape
    found = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-vertices.T, np.ones(size)]),
        b_ub=np.zeros(size),
        A_eq=[[1.0] * count + [0.0]],
        b_eq=[1.0],
    )
    return -float(found.fun)


# Section III


def _conjecture_violation(rng: np.random.Generator, share: float = 1.0, **_: str) -> float:
    """Q_D is optimal if some P in the hull has no probability below D / (M - 1), and else a program does better."""
    source = any_set(rng)
    size = source.alphabet_size
    budget = float(rng.uniform(0.02, 0.98)) * (1 - 1 / size)
    least, floor = program(source.vertices, odds_of(size, budget))[0], share * floor_of(source.vertices) * (size - 1)
    if abs(floor - budget) < 1e-3:
        return math.nan
    return abs(least - budget) if floor > budget else float(least > budget - 1e-9)


@claim(
    instance=_conjecture_violation,
    tolerance=1e-7,
    wrong={
        "for D within (M - 1) min P": {"budget": "3/10"},
        "mended, with D^(1) = max P_M for (M - 1) max P_M": {"share": 0.5},
    },
)
def equation_5_conjecture(sample: Sample, budget: str = "9/20", **_: float) -> Finding:
    best, size = SHORT if budget == "9/20" else response(3, budget), len(KNOWN)
    least = certified_ratio([KNOWN], budget, best)
    sentence = (
        "For (1/2, 3/10, 1/5) at $D = 9/20$, $Q_D$ has the ratio {found}, and randomized response on two categories "
        "has the ratio {least}."
    )
    found = ratio(response(size, budget))
    said = refuted(sentence, float(found) > least, found=found, least=least)
    name = "the permutations of (1/2, 3/10, 1/5) at D = 9/20"
    every = np.array(list(itertools.permutations(float(p) for p in KNOWN)))
    of = "source sets ($Q_D$ is optimal just if some $P$ of the hull has all $P_i \\geq D/(M-1)$)"
    invariant = holds(sample, named={name: spoiled(every, 0.45)}, tolerance=1e-7, of=of)
    return depends({"for every prior": said, "for permutation invariant classes": invariant})


@claim(wrong=M_FOR_LESS)
def equation_5_scheme(less: int = 1) -> Finding:
    facts = {}
    for size in SIZES:
        (budget,), (z,) = symbols("D"), reals("z")
        other = budget / (size - 1)
        facts[f"rows sum to 1, M = {size}"] = same(1 - budget + (size - 1) * other, 1)
        facts[f"ratio, M = {size}"] = same((1 - budget) * budget, (size - less) * (1 - budget) * other)
        facts[f"1 - D is larger, M = {size}"] = always((1 - z) * (size - 1) > z, z > 0, z * size < size - 1)
    return proved("Every $P$ gives $\\sum_i P_i D = D$. Sympy and z3 confirm the ratio for $M = 2, ..., 5$.", facts)


@claim(wrong={"at D = 1/5 in both readings": {"budget": "1/5"}})
def section_3_tightness(budget: str = "2/5") -> Finding:
    answer, symmetric = channel("1 0; 1 0"), response(2, budget)
    spent = worst_distortion([prior("7/10 3/10")], answer)
    sentence = (
        "For (7/10, 3/10), always publishing category 1 has the distortion {spent} and leaks nothing; at $D = 2/5$ the mechanism "
        "$Q_D$ has the ratio {found}."
    )
    false = spent <= Fraction(budget) and ratio(symmetric) > 1
    both = refuted(sentence, false, spent=spent, found=ratio(symmetric))
    valid = "For every such class no mechanism of a smaller ratio is valid (z3, every $M$)."
    low = holds(named={"every such class": float(not all(only_symmetric().values()))}, says=valid)
    return depends({"as both ranges of Theorem 3": both, "as the first range, $0 < D < D^{(1)}$": low})


for _name in ("theorem_1_zero", "theorem_4_zero"):

    @claim(name=_name, wrong={"from (M - 2) / (M - 1) on": {"less": 1}})
    def _uniform(less: int = 0) -> Finding:
        facts = {}
        for size in SIZES:
            rest, kept = symbols(f"p2:{size + 1}"), Fraction(1, size)
            spent = sum(p * (1 - kept) for p in (1 - sum(rest), *rest))
            facts[f"distortion, M = {size}"] = same(spent, 1 - kept)
            facts[f"allowed, M = {size}"] = 1 - kept <= 1 - Fraction(1, size - less)
        return proved(
            "Publishing a uniformly drawn category has the distortion $(M-1)/M$ and the ratio 1 (sympy, $M = 2, ..., 5$).",
            facts,
        )


def _in_hull() -> dict[str, bool]:
    """The uniform distribution is the average of a distribution's permutations."""
    orders = {size: list(itertools.permutations(range(size))) for size in SIZES}
    counts = {size: {sum(o[i] == j for o in orders[size]) for i in range(size) for j in range(size)} for size in SIZES}
    return {f"uniform average, M = {n}": counts[n] == {len(orders[n]) // n} for n in SIZES}


_HULL = "The uniform $P$ is the average of all permutations of any $P$"


def _theorem_1_violation(rng: np.random.Generator, less: int = 1) -> float:
    source, budget = invariant_budget(rng)
    return spoiled(source.vertices, budget, less)


@claim(instance=_theorem_1_violation, tolerance=1e-7, share=0.4, wrong=M_FOR_LESS)
def theorem_1(sample: Sample, **_: int) -> Finding:
    return proved(f"{SYMMETRIC}. {_HULL}, and $1/M \\geq D/(M-1)$.", only_symmetric() | _in_hull(), sample)


@claim(wrong={"of the k likeliest letters": {"likeliest": True}})
def equation_7(likeliest: bool = False) -> Finding:
    z3, facts = optional("z3", "proofs"), {}
    for size in SIZES:
        p, given = falling_letters(size)
        tails = [sum(p[:k] if likeliest else p[size - k :]) for k in range(size)]
        rising = [one <= two for one, two in itertools.pairwise(tails[1:])]
        facts[f"M = {size}"] = always(z3.And(*rising, tails[1] >= 0, size * tails[-1] <= size - 1), *given)
    return proved("Z3 decides it for every falling $P$ with $M = 2, ..., 5$, hence for the maxima over a class.", facts)


def _upper(source: SourceSet, budget: float, spent: float = 1.0) -> float:
    """Equation (11); with ``spent = 0``, without the thresholds taken from D."""
    size, thresholds = source.alphabet_size, isit.equation_7(source)
    most = isit.lemma_3(source, budget)
    left = [(size - 1 - k, budget - spent * float(thresholds[k])) for k in range(min(most, size - 2) + 1)]
    return min(
        (math.log(count * (1 - rest) / rest) if rest < 1 else -math.inf for count, rest in left if rest > 1e-12),
        default=math.inf,
    )


def _upper_violation(rng: np.random.Generator, spent: float = 1.0) -> float:
    """Of the bound, and of its mended form, which is smaller, and exact for a known distribution."""
    source, budget = ordered_budget(rng)
    printed, whole = _upper(source, budget, spent), isit.equation_11(source, budget, "corrected")
    violations = [whole - printed]
    for bound in (printed, whole):
        if bound < 12:
            least = program(source.vertices, math.exp(max(0.0, bound)))[0]
            violations.append(least - budget if bound >= 0 else 1.0)
            if bound == whole and whole > 0 and source.vertex_count == 1:
                violations.append(budget - least)
    return max(violations)


@claim(
    instance=_upper_violation,
    tolerance=SOLVED,
    share=0.5,
    wrong={"without the thresholds taken from D": {"spent": 0.0}},
)
def theorem_2_upper(sample: Sample, spent: float = 1.0) -> Finding:
    least = certified_ratio([KNOWN], "9/20", SHORT)
    bounds = {f"{NAME} at D = 9/20": (least, math.exp(_upper(SOURCE, 0.45, spent)))}
    return loose(
        bounds, sample, tolerance=SOLVED, says="For {name}, exp of the least leakage is {}, and exp of the bound is {}"
    )


def _lower_violation(rng: np.random.Generator, **_: str) -> float:
    """Of the bound without D_i <= 1, of the bound, and of its mended form, which is exact."""
    source, budget = ordered_budget(rng)
    literal, printed, ordered = (isit.equation_12(source, budget, it) for it in ("literal", "printed", "corrected"))
    found = max(literal - ordered, printed - ordered)
    if SOLVED < ordered < 12:
        found = max(found, abs(program(source.vertices, math.exp(ordered))[0] - budget))
    return float(found)


@claim(instance=_lower_violation, tolerance=SOLVED, share=0.3, wrong=ORDER_ADDED)
def theorem_2_lower(sample: Sample, reading: Any = "printed") -> Finding:
    six, bounds = SourceSet([float(p) for p in prior(SIX)]), {}
    for name, known, budget, least in (
        ("(7/10, 3/10) at D = 1/5", SourceSet([0.7, 0.3]), 0.2, ratio(response(2, "1/5"))),
        ("(7/10, 3/20, 3/50, 1/25, 3/100, 1/50) at D = 1/100", six, 0.01, ratio(response(6, "1/100"))),
    ):
        bounds[name] = (math.exp(isit.equation_12(known, budget, reading)), float(least))
    if reading == "printed":
        literal = isit.equation_12(six, 0.11, "literal")
        bounds["the second prior at D = 11/100, without D_i <= 1"] = (math.exp(literal), math.exp(eps(six, 0.11)))
    return loose(
        bounds, sample, tolerance=SOLVED, says="For {name}, exp of the bound is {}, and exp of the least leakage is {}"
    )


@claim(wrong={"k up to M - 2": {"k": 1}})
def theorem_2_range(k: int = 2) -> Finding:
    left, m, x, unknown = Fraction(3, 5) - sum(KNOWN[3 - k :]), *reals("m x k")
    factor = (3 - 1 - k) * (1 - left) / left
    positive = always((m - 1 - unknown) * (1 - x) > 0, unknown <= m - 2, x > 0, x < 1)
    right = proved("For $k \\leq M - 2$ and $D^{(k)} < D < 1$ the factor is positive (z3).", {"positive": positive})
    sentence = "For (1/2, 3/10, 1/5), $k = 2$, $D = 3/5$, (8) is log({factor}); publishing one category leaks log 1."
    return mended(sentence, factor <= 0, right, factor=factor)


def _theorem_3_violation(rng: np.random.Generator, less: int = 1, wide: bool = False) -> float:
    source, share = full_budget(rng, 0.999)
    budget = share * float(isit.equation_7(source)[1]) * (source.alphabet_size if wide else 1)
    if budget >= isit.lemma_5(source):
        return math.nan
    symmetric = math.log(odds_of(source.alphabet_size, budget, less))
    return max(spoiled(source.vertices, budget, less), 0.0 if wide else abs(_upper(source, budget) - symmetric))


for _name, _more in (("theorem_3", ". Only the term $l = 0$ of (11) is left below $D^{(1)}$"), ("lemma_8", "")):
    _wrong = M_FOR_LESS | {"up to M D^(1)": {"wide": True}}

    @claim(name=_name, instance=_theorem_3_violation, tolerance=1e-7, share=0.5, wrong=_wrong)
    def _theorem_3(sample: Sample, more: str = _more, **_: int) -> Finding:
        return proved(f"{SYMMETRIC}. Some $P$ has $P_M = D^{{(1)}} \\geq D/(M-1)${more}.", only_symmetric(), sample)


def _theorem_3_lower_violation(rng: np.random.Generator, **_: str) -> float:
    source, share = full_budget(rng, 0.999)
    budget = share * float(isit.equation_7(source)[1])
    return apart(isit.equation_12(source, budget, "corrected"), math.log(odds_of(source.alphabet_size, budget)))


@claim(instance=_theorem_3_lower_violation, tolerance=SOLVED, wrong=ORDER_ADDED)
def theorem_3_lower(sample: Sample, reading: str = "printed") -> Finding:
    said = "For {name}, exp of (12) is {}, and exp of the least leakage is {}"
    printed, right = lower_bounds(SIX, "1/100", reading)
    return corrected(printed, right, sample, tolerance=SOLVED, says=said)


def _constant(first: int = 0) -> dict[str, bool]:
    """A constant answer a spends what answering 1 does and ``sum_i (P_1 - P_i) a_i`` more."""
    facts = {}
    for size in SIZES:
        rest, p = symbols(f"a2:{size + 1}"), symbols(f"p1:{size + 1}")
        answer = [1 - sum(rest), *rest]
        more = sum((p[first] - one) * a for one, a in zip(p, answer, strict=True))
        spent = sum(p) - sum(one * a for one, a in zip(p, answer, strict=True))
        facts[f"M = {size}"] = same(spent, sum(p[1:]) + more)
    return facts


_CONSTANT = (
    "A constant answer with probabilities $a_i$ has the distortion $\\sum_{i>1} P_i + \\sum_i (P_1 - P_i) a_i$ (sympy, "
    "$M = 2, ..., 5$)"
)
_LAST_FIRST = {"the answer M": {"first": -1}}


for _name, _more in (("theorem_3_zero", "; both bounds are 0 by definition"), ("lemma_5_if", "")):

    @claim(name=_name, wrong=_LAST_FIRST)
    def _answer_1(first: int = 0, more: str = _more) -> Finding:
        return proved(f"{_CONSTANT}, which is $D^{{(M-1)}}$ for always publishing category 1{more}.", _constant(first))


def _extent_violation(rng: np.random.Generator, more: int = 0, **_: int) -> float:
    """Up to (M - 1) D^(1) randomized response is the best, and beyond a program over all channels finds better."""
    source, share = full_budget(rng)
    size = source.alphabet_size
    end = (size - 1 + more) * float(isit.equation_7(source)[1])
    inside, beyond = spoiled(source.vertices, share * end), min(end * (1.01 + share), 1 - 1 / size - 1e-3)
    if beyond < 1.005 * end:  # all but uniform
        return inside
    return max(inside, float(program(source.vertices, odds_of(size, beyond))[0] > beyond - 1e-9))


@claim(
    instance=_extent_violation,
    tolerance=1e-7,
    share=0.5,
    wrong={"(M - 1) max P_M for max P_M": {"times": 2}, "M max P_M as the exact end": {"more": 1}},
)
def theorem_3_extent(sample: Sample, times: int = 1, **_: int) -> Finding:
    end = 0.4 if certified_ratio([KNOWN], "2/5", response(3, "2/5")) == 3 else math.nan
    return loose(
        {NAME: (times * 0.2, end)},
        sample,
        says="For {name}, the stated range ends at {}, and the formula holds up to {}",
    )


def _theorem_4_violation(rng: np.random.Generator, less: int = 1) -> float:
    vertices = ordered_set(rng).vertices
    size = vertices.shape[1]
    budget = float(rng.uniform(0.02, 0.98)) * (1 - 1 / size)
    return spoiled(np.vstack([vertices, np.full(size, 1 / size)]), budget, less)


@claim(instance=_theorem_4_violation, tolerance=1e-7, share=0.5, wrong=M_FOR_LESS)
def theorem_4(sample: Sample, **_: int) -> Finding:
    return proved(f"{SYMMETRIC}. The uniform $P$ has $1/M \\geq D/(M-1)$.", only_symmetric(), sample)


# Section IV


def _lemma_2_violation(rng: np.random.Generator, invariant: bool = True) -> float:
    """The average over all permutations of any mechanism is no worse, and has two different entries."""
    source = invariant_budget(rng)[0] if invariant else any_set(rng, most_letters=4)
    matrix = random_channel(rng, source.alphabet_size)
    orders = itertools.permutations(range(len(matrix)))
    average = np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)
    more = source.worst_case_distortion(average) - source.worst_case_distortion(matrix)
    unequal = max(np.ptp(np.diagonal(average)), np.ptp(average[~np.eye(len(average), dtype=bool)]))
    return max(log_ratio(average) - log_ratio(matrix), more, float(unequal))


@claim(instance=_lemma_2_violation, wrong={"for any class": {"invariant": False}})
def lemma_2(sample: Sample, **_: bool) -> Finding:
    how = f"The average (14) is as valid (sympy, $M = 2, 3, 4$), and $Q_D$ is optimal. {SYMMETRIC}. {_HULL}."
    return proved(how, only_symmetric() | _in_hull() | {f"{n} letters": renumbered(n) for n in (2, 3, 4)}, sample)


def _equation_15_violation(rng: np.random.Generator, **_: str) -> float:
    return float(abs(isit.equation_15(some_channel(rng), "corrected").sum(axis=1) - 1).max())


@claim(instance=_equation_15_violation, wrong={"over k other than i": {"reading": "corrected"}})
def lemma_2_equation_15(sample: Sample, reading: Any = "printed") -> Finding:
    name, given = "M = 3, a = 1/5 and all other entries 1/10", isit.equation_5(3, 0.2)
    found, right = (float(isit.equation_15(given, it)[0, 1]) for it in (reading, "corrected"))
    says = "For {name}, the sum over $k \\neq j$ gives Q''(2|1) = {}, and a/(M-1) is {}"
    return corrected({name: (found, 0.1)}, {name: (right, 0.1)}, sample, says=says)


@claim(wrong={"with the logarithm": {"scale": math.log}})
def lemma_2_leakage(scale: Callable[[float], float] = float) -> Finding:
    name, odds = "M = 3 and a = 1/5", float(ratio(response(3, "1/5")))
    says = "For {name}, the printed formula gives {}, and the mechanism leaks log 8 = {}"
    return corrected({name: (scale(2 * 0.8 / 0.2), math.log(odds))}, {name: (math.log(8.0), math.log(odds))}, says=says)


def _off_diagonal_violation(rng: np.random.Generator, equal: bool = True, **_: bool) -> float:
    size, lost = int(rng.integers(2, 6)), float(rng.uniform(0.02, 0.98))
    each = lost * (1 - 1 / size) * (np.ones(size) if equal else rng.uniform(0.5, 1, size))
    rows = rng.dirichlet(np.full(size - 1, 20.0), size=size)
    matrix = np.diag(1 - each)
    matrix[~np.eye(size, dtype=bool)] = (each[:, np.newaxis] * rows).ravel()
    return math.log(odds_of(size, 1 - float(np.diagonal(matrix).max()))) - log_ratio(matrix)


@claim(
    instance=_off_diagonal_violation,
    wrong={"a of the largest diagonal entry, if they differ": {"equal": False}, "below it": {"strict": True}},
)
def lemma_2_last_step(sample: Sample, strict: bool = False, **_: bool) -> Finding:
    z3, facts = optional("z3", "proofs"), {}
    for size in SIZES:
        a, *row = reals(f"a {' '.join(f'q{i}' for i in range(1, size))}")
        small = [(size - 1) * q < a if strict else (size - 1) * q <= a for q in row]
        facts[f"M = {size}"] = always(z3.Or(*small), sum(row) == a, *(q >= 0 for q in row))
    how = (
        "Of $M - 1$ numbers with the sum $a$, one is at most $a/(M-1)$ (z3, $M = 2, ..., 5$); $1 - a$ is in its column."
    )
    return proved(how, facts, sample)


@claim(wrong={"at least, not above": {"above": operator.ge}})
def theorem_1_proof(above: Callable[[Any, Any], bool] = operator.gt) -> Finding:
    a, d = reals("a d")
    weak = always((1 - a) * d >= (1 - d) * a, a > 0, a <= d, d <= 1)
    odds = ratio(response(2, "1/5"))
    right = proved("With $\\geq$ it holds for all $0 < a \\leq D$ (z3).", {"weak": weak})
    said = "At $a = D = 1/5$ and $M = 2$ both sides are log {odds}, so that > fails."
    return uncertain(mended(said, not above(odds, odds), right, odds=odds))


# Section V, lemmas


@claim(wrong={"at (M - 1) P_M": {"times": 2.0}})
def section_5_support(times: float = 1.0) -> Finding:
    bounds = {}
    for name, known in (("(7/10, 1/5, 1/10)", prior("7/10 1/5 1/10")), (NAME, KNOWN)):
        end = 2 * known[-1]
        # With the first letter of all three still published, and beyond with two.
        exact = certified_ratio([known], end, response(3, end))
        bounds[name] = (times * float(known[-1]), float(end) if not math.isnan(exact) else math.nan)
    return loose(
        bounds, says="For {name}, the threshold is {}, and the optimal mechanism suppresses a category from {} on"
    )


def _subsets(strict: bool = False) -> dict[str, bool]:
    """Letters Z that are never published cost at least the k least probabilities."""
    facts = {}
    for size in SIZES:
        p, given = falling_letters(size)
        for k in range(1, size):
            tail = sum(p[size - k :])
            lost = [sum(p[i] for i in letters) for letters in itertools.combinations(range(size), k)]
            facts[f"M = {size}, k = {k}"] = all(always(one > tail if strict else one >= tail, *given) for one in lost)
    return facts


_SUBSETS = "any $k$ categories have at least the mass of the $k$ least likely ones (z3, all choices, $M = 2, ..., 5$)"


@claim(wrong={"at D = D^(k) as well": {"strict": True}})
def lemma_3(strict: bool = False) -> Finding:
    return proved(f"Suppressed categories have $D_i = 1$, and {_SUBSETS}.", _subsets(strict))


@claim(wrong={"in descending order": {"falls": True}})
def lemma_4(falls: bool = False) -> Finding:
    p, q, d, e = reals("p q d e")
    order = d <= e if falls else d >= e
    facts = {"exchange": always(p * e + q * d <= p * d + q * e, p >= q, order)}
    facts |= {f"leakage, M = {size}": renumbered(size) for size in (2, 3, 4)}
    how = "To exchange $D_i \\geq D_{i+1}$ where $P_i \\geq P_{i+1}$ does not raise $\\sum_i P_i D_i$ (z3), and exchanges sort."
    return proved(how, facts)


@claim(
    instance=lambda rng, **_: STRICT - eps(source := ordered_set(rng), 0.999 * isit.lemma_5(source)),
    share=0.5,
    wrong=_LAST_FIRST,
)
def lemma_5_only_if(sample: Sample, first: int = 0) -> Finding:
    return proved(f"{_CONSTANT}, at least $D^{{(M-1)}}$ under the $P$ with the least $P_1$.", _constant(first), sample)
