"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections V-A to VIII, proofs for ordered classes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.claims.base import (
    Finding,
    Sample,
    claim,
    corrected,
    depends,
    example,
    for_all,
    holds,
    proved,
    refuted,
    uncertain,
)
from paper_repro.claims.exact import KNOWN, certified_ratio, channel, prior, ratio, response, worst_distortion
from paper_repro.claims.kalantari2016 import (
    ORDER_ADDED,
    SIZES,
    SOLVED,
    SYMMETRIC,
    log_ratio,
    lower_bounds,
    ordered_budget,
    program,
    some_channel,
)
from paper_repro.claims.kalantari2016_theorems import NAME, SOURCE
from paper_repro.claims.kalantari_tools import falling_letters, mended, only_symmetric, same
from paper_repro.claims.prove import always, identical, reals, symbols
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import coloring
from paper_repro.papers import kalantari2016 as isit
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

# Section V-A, critical pairs and colors

EXPONENTIAL = {"exp(eps) for eps": {"scale": math.exp}}


@claim(instance=lambda rng, **_: 1.0 - len(isit.definition_9(some_channel(rng), "corrected")), wrong=EXPONENTIAL)
def definition_9(sample: Sample, scale: Callable[[float], float] = float) -> Finding:
    matrix, name = response(2, "1/4"), "rows (3/4, 1/4), (1/4, 3/4)"
    leakage, found = DifferentialPrivacy().leakage(np.array(matrix, dtype=float)), float(ratio(matrix))
    says = "For the {name}, the printed factor is {}, and the ratio of the critical pairs is {}"
    return corrected({name: (scale(leakage), found)}, {name: (math.exp(leakage), found)}, sample, says=says)


@claim(wrong={"they have one value": {"values": 1}, "every column has one": {"columns": 3}})
def definition_9_text(values: int = 2, columns: int = 2) -> Finding:
    matrix = channel("1/2 1/5 3/10; 1/4 2/5 7/20; 2/5 3/10 3/10")
    odds = ratio(matrix)
    larger = [max(column) for column in zip(*matrix, strict=True) if max(column) == odds * min(column)]
    how = (
        "The mechanism with rows (1/2, 1/5, 3/10), (1/4, 2/5, 7/20), (2/5, 3/10, 3/10) has critical pairs with the larger "
        "entries 1/2 and 2/5, and none in column 3."
    )
    return proved(how, {"values": len(set(larger)) == values, "columns": len(larger) == columns})


def _fits(first: str, second: str) -> bool:
    """Whether the figure's legible rows, with whatever stands in the one that is not, can be colors as in Claims 1 to 5."""
    for top, third in itertools.product(first, itertools.product("BRW", repeat=4)):
        rows = [f"{top}RRR", second, "".join(third), "WWWB", "WWWW", "WWWW", "WWWW"]
        pairs = all(("B" in column) == ("R" in column) for column in zip(*rows, strict=True))
        mixed = all(len(set(row)) > 1 or set(row) == {"W"} for row in rows)
        alike = all(len({color for j, color in enumerate(row) if j != i}) == 1 for i, row in enumerate(rows))
        if pairs and mixed and alike and sum(rows[i][i] != "B" for i in range(4)) <= 1:
            return True
    return False


@claim(wrong={"with the second row white but for its black entry": {"second": "WBWW"}})
def figure_2(second: str = "RBRR") -> Finding:
    sentence = (
        "Column 1 has a red entry in row 2. By Claims 1 to 4 none of the {tried} colorings of the row that our copy lacks gives "
        "it a black partner, if the first entry is not black."
    )
    said = "The coloring is possible if the first entry is black, as where $D_1 = D_2$."
    other = holds(named={"the first entry black": float(not _fits("B", second))}, says=said)
    return uncertain(mended(sentence, not _fits("WR", second), other, tried=81))


def _colors(matrix: FloatArray) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Colors of the published columns: all rows, and those of the suppressed letters."""
    used = matrix.any(axis=0)
    colors = coloring.coloring(matrix)[:, used]
    return colors, colors[~used]


@claim(wrong={"every optimal mechanism": {"matrix": "11/16 5/16 0; 5/16 11/16 0; 5/16 11/16 0"}})
def figure_2_caption(matrix: str = "11/16 5/16 0; 5/16 11/16 0; 1/2 1/2 0") -> Finding:
    rows = channel(matrix)
    more = certified_ratio([KNOWN], "9/20", rows) - 2.2
    published, suppressed = _colors(np.array(rows, dtype=float))
    colored = (suppressed != "white").sum() + (np.diagonal(published) != "black").sum()
    name = (
        "(1/2, 3/10, 1/5) at D = 9/20, with the rows (11/16, 5/16), (5/16, 11/16), (1/2, 1/2) of the least ratio 11/5"
    )
    return holds(named={name: max(float(abs(more)), float(colored))})


# Section V-A, Lemma 6


def _lemma_6(rng: np.random.Generator) -> tuple[FloatArray, float, int] | None:
    source, budget = ordered_budget(rng)
    k = int(rng.integers(source.alphabet_size - 1))
    return (source.vertices, budget, k) if budget - isit.equation_7(source)[k] > 1e-3 else None


@for_all(
    _lemma_6,
    of="ordered sets (compared with a linear program over all entries)",
    tolerance=1e-7,
    share=0.5,
    wrong={"without the order of the distortions": {"reading": "printed"}},
)
@example(f"{NAME} at D = 9/20 with k = 0, of the ratio 11/5", SOURCE.vertices, 0.45, 0)
@example(f"{NAME} at D = 9/20 with k = 1, of the ratio 11/5", SOURCE.vertices, 0.45, 1)
def lemma_6_value(vertices: FloatArray, budget: float, k: int, reading: Any = "corrected") -> float:
    odds = math.exp(isit.equation_9(SourceSet(vertices), budget, k, reading))
    if not 1 + SOLVED < odds < 1e3:
        return math.nan
    return abs(program(vertices, odds, vertices.shape[1] - k)[0] - budget)


@cache
def least_leaky() -> dict[str, bool]:
    """The least leaky matrix of a diagonal: ``a_j f_i`` off the diagonal of column j, ``f_i = (1 - a_i) / (S - a_i)``."""
    facts: dict[str, bool] = {}
    a, b, whole = symbols("a b S")
    f, g = (1 - a) / (whole - a), (1 - b) / (whole - b)
    facts["rows sum to 1"] = identical(a + (whole - a) * f, 1)
    facts["the least f is that of the largest a"] = identical(g - f, (whole - 1) * (a - b) / (whole - a) / (whole - b))
    facts["f is below 1"] = identical(1 - f, (whole - 1) / (whole - a))
    x, y, z, p, q, t = reals("x y z p q t")
    facts["no less leakage, by row 1"] = always(t * (1 - x) >= y + z, x + p + q == 1, t * p >= y, t * q >= z)
    return facts


def _random_distortions(rng: np.random.Generator) -> FloatArray:
    count = int(rng.integers(2, 5))
    changed = np.sort(rng.choice([rng.uniform(0.02, 0.98, count), rng.integers(1, 4, count) / 4]))
    return np.array([*changed * min(1.0, 0.95 * (count - 1) / changed.sum()), *[1.0] * int(rng.integers(3))])


_LEAST = (
    "Of all mechanisms with the diagonal $a$, $Q(j|i) = a_j (1 - a_i)/(\\sum_j a_j - a_i)$ leaks least; its colors depend on "
    "which $a_i$ equal the largest one (sympy, z3)"
)


@claim(wrong={"delta / (M - 1 - k)": {"less": 2}})
def lemma_6_claim_3_proof(less: int = 1) -> Finding:
    row, delta, name = prior("3/4 1/4 0"), Fraction(1, 10), "M = 3, k = 1, row (3/4, 1/4, 0) and delta = 1/10"
    found, right = (float(sum([row[0] + delta, row[1] - delta / (3 - n)])) for n in (less, 2))
    return corrected(
        {name: (found, 1.0)}, {name: (right, 1.0)}, says="For {name}, the new row sums to {} in place of {}"
    )


@claim(wrong={"with the terms exchanged": {"turned": False}})
def lemma_6_claim_5_proof(turned: bool = True) -> Finding:
    jj, ii, ij, ji = reals("jj ii ij ji")
    equation_19, (y, x, p, q) = jj + ij <= ii + ji, prior("7/10 6/10 1/10 2/10")
    sentence = (
        "For $Q(j|j), Q(i|i), Q(i|j), Q(j|i) = 7/10, 3/5, 1/10, 1/5$, (19) holds, but (22) would be {one} <= {two}."
    )
    false = y + p <= x + q and y - x > (p - q if turned else q - p)
    mend = always(jj - ii <= ji - ij, equation_19)
    end = always(jj <= ii, equation_19, jj * ij > ii * ji, jj > ji, ji > 0, ij > 0, ii > 0)
    how = "$Q(j|j) - Q(i|i) \\leq Q(j|i) - Q(i|j)$ follows, and with (20) and $Q(j|j) > Q(j|i)$ it gives (21) (z3)."
    return mended(sentence, false, proved(how, {"(22)": mend, "(21)": end}), one=y - x, two=p - q)


@claim(wrong={"from (20) alone": {"before": False}})
def lemma_6_equation_23(before: bool = True) -> Finding:
    jj, ii, ij, ji = reals("jj ii ij ji")
    given = [jj * ij > ii * ji, jj > ii, ij > 0, ji > 0, ii > 0, *([jj + ij <= ii + ji] if before else [])]
    facts = {"(24)": always(ji > ij, *given), "(23)": always((jj - ii) * ji >= jj * (ji - ij), *given)}
    return proved("Z3 decides (24), and (23) multiplied out, for all positive entries.", facts)


def _end_violation(rng: np.random.Generator, scale: Callable[[float], float] = float) -> float:
    """The row of the smallest distortion is red, the other diagonals black, and row 1 sums to (16)."""
    changed = _random_distortions(rng)
    matrix, count = Mechanism.from_distortions(changed).matrix, int((changed < 1).sum())
    colors = _colors(matrix)[0]
    right = (colors[0, 1:] == "red").all() and (np.diagonal(colors)[1:] == "black").all()
    odds = math.exp(log_ratio(matrix))
    red = np.abs(scale(odds) * matrix[0, 1:count] / (1 - changed[1:count]) - 1).max()
    return max(float(not right), float(red), abs((count - 1 - changed[1:count].sum()) / changed[0] / odds - 1))


@claim(instance=_end_violation, wrong={"eps for exp(eps)": {"scale": math.log}})
def lemma_6_end(sample: Sample, **_: Any) -> Finding:
    return proved(f"{_LEAST}.", least_leaky(), sample)


@claim(wrong={"up to D^(k+1)": {"step": 1}})
def section_5a_range(step: int = -1) -> Finding:
    thresholds = isit.equation_7(SOURCE)
    name, says = (
        f"{NAME}, k = 1, D = 3/10",
        "For {name}, the printed range ends at {}, and the range of (12) ends at {}",
    )
    end, right = float(thresholds[1 + step]), float(thresholds[2])
    return corrected({name: (end, 0.5)}, {name: (right, 0.5)}, says=says)


# Section V-B


@claim(wrong={"p_min for p_max": {"high": False}})
def section_5b_two_letters(high: bool = True) -> Finding:
    p, low, top, a, d = reals("p low top a d")
    given, end = [0 <= low, low <= p, p <= top, 2 * top <= 1], top if high else low
    facts = {"the answer 1 is valid": always(p <= d, d >= end, *given)}
    # A constant answer (1 - a, a) that is valid for P_2 = p_max.
    facts["and no constant before"] = always(d >= end, (1 - top) * a + top * (1 - a) <= d, a >= 0, a <= 1, *given)
    return proved("Z3 decides it for all $0 \\leq p_{min} \\leq p_{max} \\leq 1/2$ and all constant answers.", facts)


@claim(wrong={"at D^(M-1) itself": {"distortion": "3/10"}})
def section_5b_singleton(distortion: str = "2/5") -> Finding:
    constant = channel("3/4 1/4; 3/4 1/4")
    spent = worst_distortion([prior("7/10 3/10")], constant)
    sentence = (
        "For (7/10, 3/10) at $D = 2/5$, publishing category 1 with probability 3/4 and category 2 with 1/4, whatever the data, "
        "leaks nothing and has the distortion {spent}."
    )
    every = refuted(sentence, ratio(constant) == 1 and spent <= Fraction(distortion), spent=spent)
    first = worst_distortion([prior("7/10 3/10")], channel("1 0; 1 0"))
    said = "Always publishing category 1 leaks nothing and has the distortion 3/10."
    some = holds(named={"always category 1": float(first - Fraction(3, 10))}, says=said)
    return depends({"for every optimal mechanism": every, "for some optimal mechanism": some})


@claim(wrong={"without D^(l) taken from D": {"spent": 0}})
def equation_25(spent: int = 1) -> Finding:
    tail, top, d, x = reals("tail top d x")
    moved = (1 - tail) * x + tail  # x on the published letters, 1 on the others
    valid = always(moved <= d, x == d - spent * top, x >= 0, x <= 1, tail >= 0, tail <= top, top <= 1)
    how = "At $x = D - D^{(l)}$ the distortion is $x(1 - T) + T \\leq D$ for a tail $T \\leq D^{(l)}$ (z3, every $M$ and $l$)."
    return proved(how, {"valid": valid})


def _equation_26_violation(rng: np.random.Generator, **_: str) -> float:
    size = int(rng.integers(2, 7))
    k = int(rng.integers(size - 1))
    budget = float(rng.uniform(0.02, 1.0)) * (size - 1 - k) / (size - k)
    return abs(isit.equation_26(size, budget, k) - DifferentialPrivacy().leakage(isit.equation_25(size, budget, k)))


@claim(instance=_equation_26_violation, wrong={"up to (M - 1 - k) / (M - k)": {"budget": "9/20"}})
def equation_26(sample: Sample, budget: str = "11/20") -> Finding:
    d = Fraction(budget)
    matrix = channel(f"{1 - d} {d} 0; {d} {1 - d} 0; {d} {1 - d} 0")
    printed, found = (1 - d) / d, ratio(matrix)
    sentence = "For (2/5, 3/10, 3/10), $k = 1$, $D = 11/20 < D^{{(2)}}$, (26) is log {printed}, and the leakage is log {found}."
    facts: dict[str, bool] = {}
    for size in SIZES:
        p, given = falling_letters(size)
        for k in range(size - 1):
            middle = sum(p[1 : size - k])
            facts[f"M = {size}, k = {k}"] = always((size - k) * middle <= size - k - 1, *given)
    how = "Formula (11) uses it at $D - D^{(l)} < P_2 + ... + P_{M-l} \\leq (M-1-l)/(M-l)$, which is right (z3, $M = 2, ..., 5$)."
    used = proved(how, facts, sample)
    return mended(sentence, printed < found, used, printed=printed, found=found)


# Sections VI to VIII


@claim(wrong=ORDER_ADDED)
def section_6_plan(reading: str = "printed") -> Finding:
    print_, right = lower_bounds("7/10 1/5 1/10", "1/20", reading)
    return corrected(
        print_, right, tolerance=SOLVED, says="For {name}, exp of (9) for $k = 0$ is {}, and $(M-1)(1-D)/D$ is {}"
    )


@claim(wrong={"up to D = M P_M": {"reach": 0}, "without the order of the distortions": {"ordered": False}})
def lemma_8_proof(reach: int = 1, ordered: bool = True) -> Finding:
    x, b, c, d = reals("x b c d")
    facts = {"terms": always(x * (c - b) >= 0, x >= 0, c >= b if ordered else c >= 0)}
    for size in SIZES:
        p, given = falling_letters(size)
        within = d <= (size - reach) * p[-1]
        facts |= {f"P_{i}, M = {size}": always((size - 1) * p[i] >= d, within, *given) for i in range(1, size)}
        facts[f"P_1, M = {size}"] = always(p[0] <= 1 - d, within, *given)
        unit, first, *rest = symbols(f"m D1:{size + 1} p2:{size + 1}")  # m = D / (M - 1)
        pairs = list(zip(rest[: size - 1], rest[size - 1 :], strict=True))
        spent = (1 - sum(q for _, q in pairs)) * first + sum(q * e for e, q in pairs)
        least = (1 - (size - 1) * unit) * first + unit * sum(e for e, _ in pairs)
        facts[f"difference, M = {size}"] = same(spent - least, sum((q - unit) * (e - first) for e, q in pairs))
    how = (
        "The bounds $P_i \\geq D/(M-1)$ and $P_1 \\leq 1 - D$ hold even for $D \\leq (M-1) P_M$, and the sums differ by "
        "$\\sum_{i>1} (P_i - D/(M-1))(D_i - D_1)$ (z3 and sympy, $M = 2, ..., 5$)."
    )
    return proved(how, facts)


@claim(wrong={"of a column that may be all-zero": {"used": False}, "at a ratio up to that of Q_D": {"equal": True}})
def section_7_floor(used: bool = True, equal: bool = False) -> Finding:
    t, less, kept, off = reals("t less kept off")
    given = [less <= t if equal else less < t, less >= 1, kept <= less * off, off >= 0, kept >= 0]
    above = always(off * t > kept, *given, *([kept > 0] if used else []))
    return proved("Z3 decides it for any two entries of a column in use and any two ratios.", {"above": above})


@claim(wrong={"for ordered classes": {"vertices": "1 0; 1/2 1/2"}})
def conclusion(vertices: str = "1 0; 0 1") -> Finding:
    priors = channel(vertices)
    literal, falling_ = max(one[1] for one in priors), max(min(one) for one in priors)
    best = certified_ratio(priors, "1/4", response(2, "1/4"), [Fraction(1, 2)] * 2)
    sentence = (
        "The set $\\{{(1, 0), (0, 1)\\}}$ has $D^{{(1)}} = {literal}$ by (7), and at $D = 3/4$ the formula is log 1/3. With the "
        "less likely category for $P_2$ it has $D^{{(1)}} = {sorted}$, and at $D = 1/4$ the least leakage is log {least}."
    )
    false = literal > Fraction(3, 4) and falling_ <= Fraction(1, 4) and best > 1
    right = proved(f"{SYMMETRIC}. For ordered classes the first range is the one of Theorem 3.", only_symmetric())
    return mended(sentence, false, right, literal=literal, sorted=falling_, least=best)
