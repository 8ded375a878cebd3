"""What Kalantari, Sankar and Sarwate state in their proofs (Section V) of Theorems 1 and 2, with the lemmas in them.

The proof of Theorem 3 is in ``kalantari2018_folding``, the coloring argument in ``kalantari2018_coloring``. Numbers are those of
the preprint of 2017, in which alone the formulas are legible. ``Q(j|i)`` is the probability that letter i is published as j.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose, proved, uncertain
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import (
    KNOWN,
    SHORT,
    Prior,
    channel,
    dot,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import channel_program, falling_letters, mended, output_sizes, tail
from paper_repro.claims.prove import always, identical
from paper_repro.errors import optional

# Lemmas 1, 2 and 7


@claim(wrong={"<=, with 2 for the ratio 3": {"odds": 2}, "<, for a ratio above both": {"strict_odds": 4}})
def equation_25(odds: int = 3, strict_odds: int = 3) -> Finding:
    same = response(2, "1/4")  # both mechanisms, and any mixture of them
    pairs = [(same[x][y], same[1 - x][y]) for x in range(2) for y in range(2)]
    below, at_most = (sum(a < strict_odds * b for a, b in pairs), sum(a <= odds * b for a, b in pairs))
    name = "both mechanisms with rows (3/4, 1/4), (1/4, 3/4)"
    says = "For {name}, all {} of Q(y|x) are said to be below 3 Q(y|x'), and {} are"
    return uncertain(corrected({name: (4.0, float(below))}, {name: (4.0, float(at_most))}, says=says))


def _sums(order: Sequence[int], changed: Prior) -> tuple[float, float, float]:
    """``sum P_i D*_T(i)``, the same with the inverse of T, and ``sum P_i D_i``, where ``D*_i = D_T(i)``."""
    rising = [changed[i] for i in order]
    inverse = [order.index(i) for i in range(len(order))]
    there, back = ([rising[i] for i in way] for way in (order, inverse))
    return float(dot(KNOWN, there)), float(dot(KNOWN, back)), float(dot(KNOWN, changed))


@claim(wrong={"for a swap, its own inverse": {"order": (1, 0, 2)}, "with T twice": {"mended": 0}})
def lemma_2_equation_27(order: Sequence[int] = (2, 0, 1), mended: int = 1) -> Finding:
    sums = _sums(order, prior("1/5 3/10 1/10"))
    name = "P = (1/2, 3/10, 1/5), D = (1/5, 3/10, 1/10) and T = (3, 1, 2)"
    says = "For {name}, the sum in the middle is {}, and the sum of P_i D_i is {}"
    return corrected({name: (sums[0], sums[2])}, {name: (sums[mended], sums[2])}, says=says)


@claim(wrong={"for distortions that rise already": {"changed": "1/10 1/5 3/10"}})
def lemma_7_proof(changed: str = "3/10 1/5 1/10") -> Finding:
    before = prior(changed)
    rising = float(dot(KNOWN, sorted(before)))
    name = "P = (1/2, 3/10, 1/5) and D = (3/10, 1/5, 1/10)"
    pair = float(dot(KNOWN, before))
    says = "For {name}, the printed sum is {}, and the distortion of the valid mechanism is {}"
    return corrected({name: (rising, pair)}, {name: (pair, pair)}, says=says)


# Theorem 1


@claim(wrong={"mended by 1 / (e^eps - 1)": {"odds": 2}, "for Q = Q_D": {"shown": "1/4"}})
def equation_28_first(odds: int = 3, shown: str = "1/3") -> Finding:
    matrix = response(2, shown)
    pairs = [(matrix[i][j], matrix[j][j]) for i, j in ((0, 1), (1, 0))]
    name = "M = 2, Q_D with D = 1/4 and ratio 3, and Q with rows (2/3, 1/3), (1/3, 2/3) and ratio 2"
    above, mended = sum(a > 3 * b for a, b in pairs), sum(a * odds > b for a, b in pairs)
    says = "For {name}, at least {} of the two pairs must have Q(j|i) > 3 Q(j|j), and {} have it"
    return uncertain(corrected({name: (1.0, float(above))}, {name: (2.0, float(mended))}, says=says))


@claim(wrong={"M for M-1 in the factor": {"less": 0}})
def equation_28_sums(less: int = 1) -> Finding:
    sympy = optional("sympy", "proofs")
    distortion, facts = sympy.Symbol("D"), {}
    for size in (2, 3, 4, 5):
        d = sympy.symbols(f"d:{size}")
        total, odds = sum(d), (size - 1) * (1 - distortion) / distortion
        lines = [
            sum(1 - one + (size - 1 - (total - one)) / odds for one in d),
            size - total + size * (size - 1) / odds - (size - 1) / odds * total,
            ((size - less) / odds + 1) * (size - total),
            (size - total) / (1 - distortion),
        ]
        facts[f"M = {size}"] = all(identical(one, lines[0]) for one in lines[1:])
    return proved("The four lines are one function of D and D_1, ..., D_M (sympy, M = 2 to 5).", facts)


@claim(wrong={"for the leakage of Q_D itself": {"strict": False}, "> (M-1) D / (1-D)": {"other": True}})
def equation_29_sum(strict: bool = True, other: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    m, t, d, kept = z3.Reals("m t d kept")
    less = t * d < (m - 1) * (1 - d) if strict else t * d <= (m - 1) * (1 - d)
    # The sum over i != j of t Q(j|i) >= Q(j|j).
    given = [m >= 2, d > 0, m * d < m - 1, t >= 1, kept >= 0, t * (m - kept) >= (m - 1) * kept, less]
    bound = (m - kept) * (1 - d) > (m - 1) * d if other else m - kept > m * d
    return proved(
        "It follows from the sum of t Q(j|i) >= Q(j|j) over i != j (z3, every M).",
        {"sum of D_j": always(bound, *given)},
    )


# Theorem 2: thresholds


@claim(wrong={"at least M-k+2": {"more": 2}, "at least M-k+1": {"more": 1}})
def output_size(more: int = 0) -> Finding:
    found = {}
    for name, one, distortion, columns in (
        ("(1/2, 3/10, 1/5) at D = 1/10 < D^(1)", KNOWN, 0.1, 1),
        ("Table I at D = 2/25 < D^(3)", prior("7/10 3/20 3/50 1/25 3/100 1/50"), 0.08, 3),
    ):
        least = min(output_sizes(np.array([[float(p) for p in one]]), distortion))
        below = distortion < tail(one, columns)
        found[name] = (float(len(one) - columns + more), float(least) if below else -math.inf)
    return loose(
        found, says="For {name}, the stated least number of published categories is {}, and the exact one is {}"
    )


@claim(wrong={"D >= D^(M-2)": {"begin": 2}, "letters in any order": {"sorted_": False}})
def lemma_5_perfect(begin: int = 1, sorted_: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (3, 4, 5):
        p, given = falling_letters(size)
        a = z3.Reals(" ".join(f"a{i}" for i in range(size)))
        answers = [sum(a) == 1, *(one >= 0 for one in a), *(given if sorted_ else [sum(p) == 1, *(q >= 0 for q in p)])]
        # Of the largest probability: sum a_i P_i <= P_1, one product at a time.
        least = z3.And(*(one * weight <= weight * p[0] for one, weight in zip(p, a, strict=True)))
        facts[f"an answer without leakage has distortion 1 - P_1 or more, M = {size}"] = always(least, *answers)
        facts[f"1 - P_1 is D^(M-1), M = {size}"] = always(1 - p[0] == sum(p[begin:]), sum(p) == 1)
    how = (
        "Constant answers a_i have distortion sum P_i (1 - a_i) >= 1 - P_1, with equality for a_1 = 1 (z3, M = 3 to 5)."
    )
    return proved(how, facts)


@claim(wrong={"none of M-k+1 letters or fewer": {"more": 1}, "for D^(1) <= D": {"distortion": 0.2}})
def lemma_6_support(more: int = 0, distortion: float = 0.1) -> Finding:
    sizes = output_sizes(np.array([[0.5, 0.3, 0.2]]), distortion)
    largest, least = "(1/2, 3/10, 1/5), k = 1 and D = 1/10 < D^(1)", "the same, smallest output"
    return corrected(
        {largest: (2.0, float(max(sizes)))},
        {least: (3.0 + more, float(min(sizes)))},
        says="For {name}, at most M-k = {} categories are said to be published, and {} can be",
    )


@claim(wrong={"at least the mass of the last k+1 letters": {"letters": 2}})
def lemma_6_proof(letters: int = 1) -> Finding:
    shorter = ("1 0 0; 0 1 0; 0 1 0", "1 0 0; 1 0 0; 0 0 1", "0 1 0; 0 1 0; 0 0 1")
    found = [worst_distortion([KNOWN], channel(rows)) for rows in shorter]
    above, at_least = (sum(d > tail(KNOWN, 1) for d in found), sum(d >= tail(KNOWN, letters) for d in found))
    name = "(1/2, 3/10, 1/5)"
    says = (
        "For {name}, the {} mechanisms that publish one category as another and keep the two others are said to have distortions "
        "above P_3 = 1/5, and {} of them have"
    )
    return corrected({name: (3.0, float(above))}, {name: (3.0, float(at_least))}, says=says)


# Theorem 2: the program


@claim(wrong={"sum D_i <= M-k": {"bound": 2}, "sum D_i < M-1-k": {"strict": True}})
def ratio_above_1(bound: int = 1, strict: bool = False) -> Finding:
    quarters = [Fraction(i, 4) for i in range(1, 5)]
    pairs = list(itertools.product(quarters, repeat=2))
    truth = float(sum((1 - two) / one >= 1 for one, two in pairs))
    said, mended = (float(sum(one + two <= most for one, two in pairs)) for most in (2, bound))
    mended -= strict * sum(one + two == bound for one, two in pairs)
    name = "M = 3, k = 1"
    says = "For {name} and D_1, D_2 in quarters, {} pairs have a sum of at most M-1, and {} pairs have a ratio of at least 1"
    return corrected({name: (said, truth)}, {name: (mended, truth)}, says=says)


@claim(wrong={"for one distribution": {"count": 1}})
def validity(count: int = 2) -> Finding:
    priors = [KNOWN, prior("7/10 29/100 1/100")][:count]
    worst, left = worst_distortion(priors, SHORT), max(tail(one, 1) for one in priors)
    spent = max(dot(one[:2], prior("5/16 5/16")) for one in priors)
    text = (
        "For {{(1/2, 3/10, 1/5), (7/10, 29/100, 1/100)}} and k = 1, D_i = (5/16, 5/16, 1) is valid at D = {worst}, but "
        "P_1 D_1 + P_2 D_2 is up to {spent}, and D - D^(1) is {left}."
    )
    # Valid at this distortion, and each prior's own tail says so.
    own = max(dot(one[:2], prior("5/16 5/16")) + tail(one, 1) for one in priors)
    said = "With the tail of each P the two sides agree."
    right = holds(named={"the tail of each P": abs(float(own - worst))}, says=said)
    return mended(text, spent > worst - left, right, worst=worst, spent=spent, left=worst - left)


@claim(wrong={"without equal sums": {"equal": False}, "b in any order": {"rising": False}})
def lemma_9(equal: bool = True, rising: bool = True) -> Finding:
    sympy, z3 = optional("sympy", "proofs"), optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4, 5):
        moved, b = sympy.symbols(f"m:{size}"), sympy.symbols(f"b:{size}")
        gains = [-sum(moved[1:]) if equal else moved[0], *moved[1:]]
        whole = sum(gain * one for gain, one in zip(gains, b, strict=True))
        products = sum(gain * (one - b[0]) for gain, one in zip(gains[1:], b[1:], strict=True))
        facts[f"sum (a'_i - a_i) b_i = sum (a'_i - a_i) (b_i - b_1), n = {size}"] = identical(whole, products)
    gain, first, other = z3.Reals("gain first other")
    facts["each is at most 0"] = always(gain * (other - first) <= 0, gain <= 0, *[other >= first] * rising)
    return proved("It holds for all real numbers, not only between 0 and 1 (sympy and z3, n = 2 to 5).", facts)


@claim(wrong={"(1-D) D_1 + D/M sum": {"less": 0}, "for leakages up to that of Q_D": {"strict": False}})
def equation_44(less: int = 1, strict: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    m, s, e, d = z3.Reals("m s e d")
    left, right = d * (m - 1 - s), (m - 1) * (1 - d) * e
    given = [m >= 2, d > 0, d < 1, e > 0, s >= 0, left < right if strict else left <= right]
    fact = always((1 - d) * e + d / (m - less) * s > d, *given)
    return proved("Z3 decides it for every M, with s for the sum of D_2, ..., D_M.", {"(43) gives (44)": fact})


def _likely(rng: np.random.Generator, last: bool = False) -> float:
    row = random_set(rng, "II", vertices=(1, 1)).vertices[0]
    if row[-1] <= 1e-3:
        return math.nan
    distortion = float(rng.uniform(0.01, 1.0)) * float(1 - row[0] if last else row[-1])
    changed = np.sort(rng.random(len(row)))
    right = (1 - distortion) * changed[0] + distortion / (len(row) - 1) * changed[1:].sum()
    return float(right - row @ changed)


@claim(instance=_likely, tolerance=1e-12, wrong={"for D < D^(M-1)": {"last": True}})
def equation_45(sample: Sample, **_: object) -> Finding:
    changed, distortion = prior("0 0 1/2"), Fraction(1, 10)
    left = float(dot(KNOWN, changed))
    right = float((1 - distortion) * changed[0] + distortion / 2 * sum(changed[1:]))
    name = "P* = (1/2, 3/10, 1/5), D = 1/10 and D_i = (0, 0, 1/2)"
    says = "For {name}, (45b) is {}, and (45a) is {}"
    return corrected({name: (right, left)}, {name: (max(left, right), left)}, sample, says=says)


@claim(wrong={"D <= M D^(1)": {"range_": 0}, "D <= D^(2)": {"letters": 2}})
def equation_45_conditions(range_: int = 1, letters: int = 0) -> Finding:
    z3 = optional("z3", "proofs")
    d, facts = z3.Real("d"), {}
    for size in (3, 4, 5):
        p, given = falling_letters(size)
        most = sum(p[size - letters :]) if letters else (size - range_) * p[-1]
        conditions = z3.And(p[0] <= 1 - d, *((size - 1) * one >= d for one in p[1:]))
        facts[f"M = {size}"] = always(conditions, *given, d >= 0, d <= most)
    return proved("It holds even for D <= (M-1) D^(1) (z3, M = 3 to 5).", facts)


def _least(source: Prior, distortion: Fraction) -> float:
    """Least ratio for a known prior, if it is 1 or that of Q_D, else NaN; by linear programs over all channels."""
    low, high = 1.0, float(ratio(response(len(source), distortion)))
    vertices = [[float(p) for p in source]]
    if channel_program(vertices, low) <= float(distortion) + 1e-12:
        return low
    return high if channel_program(vertices, high * (1 - 1e-7)) > float(distortion) else math.nan


@claim(
    wrong={"for D < D^(1)": {"distortion": "29/100"}, "at D^(1), for three letters or more": {"one": "1/2 3/10 1/5"}}
)
def equation_46(distortion: str = "", one: str = "7/10 3/10") -> Finding:
    source = prior(one)
    at, inside = Fraction(distortion) if distortion else tail(source, 1), tail(source, 1) * Fraction(29, 30)
    name = f"({', '.join(map(str, source))}) at D = "
    pairs = [(float(ratio(response(len(source), d))), _least(source, d)) for d in (at, inside)]
    says = "For {name}, the bound is the ratio {}, and the least ratio is {}"
    return corrected({f"{name}{at}": pairs[0]}, {f"{name}{inside}": pairs[1]}, says=says, tolerance=1e-7)


# Theorem 2: achievability


@claim(wrong={"for D up to 1": {"last": True}, "log of M (1-D)/D": {"less": 0}})
def equation_47(last: bool = False, less: int = 1) -> Finding:
    z3 = optional("z3", "proofs")
    m, d, one = z3.Reals("m d one")
    odds = (m - less) * (1 - d) / d
    given = [m >= 2, d > 0, d < 1, *([] if last else [m * d < 1])]
    facts = {
        "the ratio": always(z3.And(odds >= 1, 1 - d == odds * (d / (m - 1))), *given),
        "the distortion": always(one * d + (1 - one) * d == d, one >= 0, one <= 1),
    }
    return proved(
        "Every category is changed with probability D; z3 decides the ratio for every M and D < 1/M, which D^(1) never exceeds.",
        facts,
    )


def _matrix(changed: Prior, removed: int, rows: int, columns: int) -> list[list[Fraction]]:
    """Equation (48), with off-diagonal elements in the rows and columns up to these, counted from the end of the kept ones."""
    count, kept = len(changed), [1 - d for d in changed]
    matrix = [[Fraction(0)] * (count + removed) for _ in range(count)]
    for i, j in itertools.product(range(count), repeat=2):
        if i == j:
            matrix[i][j] = kept[i]
        elif i < count - rows and j < count - columns:
            matrix[i][j] = changed[i] * kept[j] / (sum(kept) - kept[i])
    return [*matrix, *[matrix[-1]] * removed]


@claim(wrong={"mended for rows alone": {"columns": 1}, "mended for columns alone": {"rows": 1}})
def equation_48_definition(rows: int = 0, columns: int = 0) -> Finding:
    changed = prior("1/4 1/4")
    printed, mended = (_matrix(changed, 1, *sizes) for sizes in ((1, 1), (rows, columns)))
    pairs = [
        {f"row {i} for M = 3, k = 1 and D_i = (1/4, 1/4)": (float(sum(matrix[i - 1])), 1.0) for i in (1, 2)}
        for matrix in (printed, mended)
    ]
    return corrected(pairs[0], pairs[1], says="As printed, {name} sums to {} in place of {}")


def _ratio_at(changed: Prior, letter: int) -> Fraction:
    """``c_i = ((M-1-k) - sum of the other D_j) / D_i``."""
    return (len(changed) - 1 - (sum(changed) - changed[letter])) / changed[letter]


@claim(wrong={"the ratio less 1": {"logarithm": False}, "of the last letter": {"letter": -1}})
def equation_48_log(logarithm: bool = True, letter: int = 0) -> Finding:
    changed = prior("1/4 1/3")
    leakage = math.log(ratio(_matrix(changed, 1, 0, 0)))
    odds = float(_ratio_at(changed, letter))
    name = "M = 3, k = 1 and D_i = (1/4, 1/3)"
    mended = math.log(odds) if logarithm else odds - 1
    return corrected(
        {name: (float(_ratio_at(changed, 0)), leakage)},
        {name: (mended, leakage)},
        says="For {name}, the printed formula gives {}, and the leakage is {}",
    )


@claim(wrong={"without the order": {"rising": False}, "without sum D_i <= M-1-k": {"capped": False}})
def equation_48_leakage(rising: bool = True, capped: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    total, first, one, other = z3.Reals("total first one other")
    given = [one > 0, other > 0, first < 1, one < 1, other < 1, total >= one, total >= other, total >= first]
    given += [first >= one, first >= other] * rising + [total >= 1] * capped

    def odds(kept: Any) -> Any:
        return (total - kept) / (1 - kept)

    facts = {
        "the diagonal element over that of row i is c_i, at most c_1": always(odds(one) <= odds(first), *given),
        "and at least 1": always(odds(one) >= 1, *given),
        "two others of a column have the ratio c_i / c_j, at most c_1": always(
            odds(one) <= odds(first) * odds(other), *given
        ),
    }
    return proved(
        "Z3 decides it for every M and k, for kept probabilities 1-D_i with the sum M-k - sum D_i; c_1 occurs in row 1.",
        facts,
    )


@claim(wrong={"between 1/c_2 and c_2": {"largest": 1}})
def equation_49(largest: int = 0) -> Finding:
    changed = prior("1/10 1/5 3/10")
    matrix, ratios = _matrix(changed, 0, 0, 0), [_ratio_at(changed, i) for i in range(3)]
    one = matrix[2][0] / matrix[1][0]
    nearest = min(ratios, key=lambda c: abs(c - one))
    name = "D_i = (1/10, 1/5, 3/10) and k = 0, with c = (15, 8, 17/3),"
    return corrected(
        {name: (float(nearest), float(one))},
        {f"{name} largest ratio": (float(ratios[largest]), float(ratio(matrix)))},
        says="For {name} the c_i nearest to Q(1|3) / Q(1|2) is {}, and Q(1|3) / Q(1|2) is {}",
    )


def _rising(rng: np.random.Generator, most: int = 1) -> float:
    """By how much another c_j is above c_1 for rising distortions with a sum of at most M-k less ``most``."""
    count = int(rng.integers(2, 7))
    changed = np.sort(rng.uniform(0.01, 1.0, size=count))
    changed *= min(1.0, float(rng.uniform(0.2, 1.0)) * (count - most) / changed.sum())
    return float(
        ((count - 1 - (changed.sum() - changed)) / changed).max() - (count - 1 - changed[1:].sum()) / changed[0]
    )


@claim(instance=_rising, wrong={"with sum D_i <= M-k": {"most": 0}})
def equation_50(sample: Sample, most: int = 1) -> Finding:
    named = {"D_i = (1/2, 9/10, 9/10) and M-k = 3": prior("1/2 9/10 9/10")}
    pairs = {
        name: (float(_ratio_at(one, 0)), float(max(_ratio_at(one, i) for i in range(3)))) for name, one in named.items()
    }
    at_most = prior("1/5 4/5 1")
    mended = {
        "D_i = (1/5, 4/5, 1)": (float(_ratio_at(at_most, 0)), float(max(_ratio_at(at_most, i) for i in range(3))))
    }
    return corrected(pairs, mended, sample, says="For {name}, c_1 is {}, and the largest c_j is {}")
