"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections I and II, and what all their claims share.

The others are in ``kalantari2016_theorems`` (Sections III to V) and ``kalantari2016_ordered`` (from Section V-A on).

Letters are counted from 1 in statements, as in the paper. ``eps*(D)`` is the least leakage of differential privacy at worst-case
Hamming distortion D, and ``t = exp(eps)`` the largest ratio of two entries of a column. Optima are those of :func:`program`,
which knows no formula, or rational and certified by hand-sized arithmetic.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, Sample, claim, corrected, depends, example, for_all, holds, proved, refuted
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import Channel, apart, channel, dot, prior, ratio, response, worst_distortion
from paper_repro.claims.kalantari_tools import eps, mended, only_symmetric, same
from paper_repro.claims.prove import always, reals, symbols
from paper_repro.errors import optional
from paper_repro.graphs import line
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import kalantari2016 as isit
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

# Linear programs are solved to about 1e-9, and leakages are logarithms of their optima.
SOLVED = 1e-6
# What "strictly" means to a float.
STRICT = 1e-9
SIZES = (2, 3, 4, 5)
CORNERS = np.eye(2)


def program(vertices: FloatArray, odds: float, published: int = 0) -> tuple[float, FloatArray]:
    """Least worst-case distortion at ratio t, and a matrix that has it: ``low_j <= Q_ij <= t low_j``, over all entries.

    Only the first letters are published, if their number is given.
    """
    size = vertices.shape[1]
    count = published or size
    entry, worst = np.arange(size * count).reshape(size, count), (size + 1) * count
    low, high = np.zeros((size * count, worst + 1)), np.zeros((size * count, worst + 1))
    place, column = np.arange(size * count), size * count + np.tile(np.arange(count), size)
    low[place, place], low[place, column] = -1, 1
    high[place, place], high[place, column] = 1, -odds
    spent, sums = np.zeros((len(vertices), worst + 1)), np.zeros((size, worst + 1))
    spent[:, np.diagonal(entry)], spent[:, worst] = -vertices[:, :count], -1
    np.put_along_axis(sums, entry, 1.0, axis=1)
    found = linprog(
        np.append(np.zeros(worst), 1.0),
        A_ub=np.vstack([low, high, spent]),
        b_ub=np.append(np.zeros(2 * size * count), -np.ones(len(spent))),
        A_eq=sums,
        b_eq=np.ones(size),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(found.fun), found.x[: size * count].reshape(size, count)


def odds_of(size: int, distortion: float, less: int = 1) -> float:
    """``(M - 1)(1 - D) / D``; with another number in place of 1, a neighbor's formula."""
    return (size - less) * (1 - distortion) / distortion


def spoiled(vertices: FloatArray, distortion: float, less: int = 1) -> float:
    """How far a program over all channels is from the statement that log (M - 1)(1 - D) / D is the least leakage."""
    return abs(program(vertices, odds_of(vertices.shape[1], distortion, less))[0] - distortion)


SYMMETRIC = "Under any $P$ with all $P_i \\geq D/(M-1)$, a ratio below $(M-1)(1-D)/D$ needs distortion above $D$ (z3, every $M$)"


def log_ratio(matrix: FloatArray) -> float:
    """Leakage in nats of a matrix whose columns are all-zero or positive."""
    used = matrix[:, matrix.any(axis=0)]
    return float(np.log(used.max(axis=0) / used.min(axis=0)).max())


def any_set(rng: np.random.Generator, most_letters: int = 5) -> SourceSet:
    """One to three distributions over 2 to 5 letters, rational: with ties and zeros if the grain is coarse."""
    size, grain = int(rng.integers(2, most_letters + 1)), int(rng.choice([6, 12, 1000]))
    return SourceSet(rng.multinomial(grain, rng.dirichlet(np.ones(size)), size=int(rng.integers(1, 4))) / grain)


def ordered_set(rng: np.random.Generator, full: bool = False) -> SourceSet:
    """A random set with P_1 >= P_2 >= ..., not all of whose mass is on letter 1; without zeros if it is to be full."""
    while True:
        vertices = -np.sort(-any_set(rng).vertices, axis=1)
        share = rng.uniform(0.05, 0.5) if full else 0.0
        found = SourceSet((1 - share) * vertices + share / vertices.shape[1])
        if isit.lemma_5(found) > 0:
            return found


def ordered_budget(rng: np.random.Generator) -> tuple[SourceSet, float]:
    """A random ordered set and a distortion below D^(M-1)."""
    source = ordered_set(rng)
    return source, float(rng.uniform(0.02, 0.98)) * isit.lemma_5(source)


def full_budget(rng: np.random.Generator, most: float = 0.98) -> tuple[SourceSet, float]:
    """A random ordered set and a share of D^(1) = max P_M, which is positive."""
    return ordered_set(rng, full=True), float(rng.uniform(0.02, most))


def invariant_budget(rng: np.random.Generator) -> tuple[SourceSet, float]:
    """A random permutation-invariant set and a distortion below (M - 1) / M."""
    source = isit.permutation_invariant_hull(any_set(rng, most_letters=4))
    return source, float(rng.uniform(0.02, 0.98)) * (1 - 1 / source.alphabet_size)


def some_channel(rng: np.random.Generator, outputs: int | None = None) -> FloatArray:
    """A channel of two to four letters."""
    return random_channel(rng, int(rng.integers(2, 5)), outputs)


@cache
def renumbered(size: int, inputs_only: bool = False) -> bool:
    """Whether the distortion of Q with letters renumbered is that of Q under P renumbered backwards, for all permutations."""
    masses, kept = symbols(f"p1:{size + 1}"), np.array(symbols(f"q:{size}:{size}")).reshape(size, size)
    return all(
        same(
            sum(masses[i] * (1 - kept[order[i], i if inputs_only else order[i]]) for i in range(size)),
            sum(masses[order.index(i)] * (1 - kept[i, i]) for i in range(size)),
        )
        for order in itertools.permutations(range(size))
    )


# Section I


for _name, _over, _sign in (("section_1_not_sub_linear", max, -1), ("section_2a_examples", min, 1)):

    @claim(name=_name, wrong={"for a known distribution too": {"seconds": ("1 0",)}})
    def _gains(seconds: Sequence[str] = ("0 1", "3/5 2/5"), over: Any = _over, sign: int = _sign) -> Finding:
        facts = {}
        for letter, second in zip("ab", seconds, strict=False):
            priors = prior("1 0"), prior(second)
            one, two, both = (sign * over(dot(p, prior(changed)) for p in priors) for changed in ("1 0", "0 1", "1 1"))
            facts[f"{letter}) {both} > {one} + ({two})"] = both > one + two
        return proved(f"In fractions, the left side exceeds the right side: {'; '.join(facts)}.", facts)


def _staircase_violation(rng: np.random.Generator, invariant: bool = True) -> float:
    """Of the matrix that a program over all entries returns."""
    source, budget = invariant_budget(rng)
    if not invariant:
        source = any_set(rng)
        budget = float(rng.uniform(0.02, 0.98)) * (1 - source.vertices.max(axis=1).min())
        if budget == 0:
            return math.nan
    matrix = program(source.vertices, odds_of(source.alphabet_size, budget))[1]
    logs = np.abs(np.log(np.maximum(matrix[:, np.newaxis], 1e-12) / np.maximum(matrix, 1e-12)))
    return float(np.minimum(logs, abs(logs - logs.max())).max())


@claim(instance=_staircase_violation, tolerance=1e-4, share=0.4, wrong={"for any class": {"invariant": False}})
def section_1_staircase(sample: Sample, **_: bool) -> Finding:
    d, t, total, least, size = reals("D t s g M")
    given = [size >= 2, d > 0, t > 1, t * d == (size - 1) * (1 - d), total == size * d]
    facts = {"each": always(least == d, *given, least * (t - 1) == size - 1 - total)}
    how = f"{SYMMETRIC}. At this ratio, the uniform $P$ forces all $D_i = D$ and $Q(j|i) = Q(j|j)/t$, which is $Q_D$."
    return proved(how, only_symmetric() | facts, sample)


def lower_bounds(known: str, budget: str, reading: Any) -> list[dict[str, tuple[float, float]]]:
    """Equation (12) below D^(1), in two readings, each with the ratio of randomized response: exp of both."""
    size, source = len(known.split()), SourceSet([float(p) for p in prior(known)])
    truth, name = float(ratio(response(size, budget))), f"({known.replace(' ', ', ')}) at D = {budget}"
    readings: tuple[Any, Any] = (reading, "corrected")
    return [{name: (math.exp(isit.equation_12(source, float(Fraction(budget)), it)), truth)} for it in readings]


ORDER_ADDED = {"with the order of Lemma 6 added to (9)": {"reading": "corrected"}}


def _published(falling: FloatArray, distortion: float) -> int:
    """The fewest likeliest letters that the least leakage can be had with."""
    odds, counts = math.exp(eps(SourceSet(falling), distortion)), range(1, len(falling) + 1)
    spent = [program(falling[np.newaxis], odds, count)[0] for count in counts]
    return next(count for count, one in zip(counts, spent, strict=True) if one <= min(spent) + STRICT)


def _two_budgets(rng: np.random.Generator) -> tuple[FloatArray, float, float]:
    return -np.sort(-any_set(rng).vertices[0]), *np.sort(rng.uniform(0.01, 1, 2)).tolist()


@for_all(_two_budgets, of="distributions", share=0.3, wrong={"one letter at a time": {"at_most": 1}})
@example(
    "(1/2, 1/4, 1/4), with its two equally likely categories, which go together at D = 1/2",
    np.array([0.5, 0.25, 0.25]),
    0.49,
    0.5,
)
def section_1_output_shrinks(falling: FloatArray, low: float, high: float, at_most: int = 9) -> float:
    gone = _published(falling, low) - _published(falling, high)
    return max(-gone, gone - at_most)


# Section II


_UNION = "the bounds $a \\leq tc$ and $b \\leq td$ give $a + b \\leq t(c + d)$ (z3)"


def _merging_violation(rng: np.random.Generator, fewer: int = 0) -> float:
    """Outputs beyond M merged into one letter: no larger leakage, no more distortion."""
    wide = some_channel(rng, outputs=7)
    size = len(wide) - fewer
    merged = np.zeros((len(wide), len(wide)))
    merged[:, :size] = wide[:, :size]
    merged[:, rng.integers(size)] += wide[:, size:].sum(axis=1)
    kept = np.diagonal(wide)
    return max(log_ratio(merged) - log_ratio(wide), float((kept - np.diagonal(merged)).max()))


@claim(instance=_merging_violation, wrong={"one letter fewer": {"fewer": 1}})
def section_2_output_alphabet(sample: Sample, fewer: int = 0) -> Finding:
    a, b, c, d, t = reals("a b c d t")
    merged = always(a + b <= t * (c + d), a <= t * c, b <= t * d, a >= 0, b >= 0, c >= 0, d >= 0)
    how = f"Each output beyond the $M$-th is added to another one: {_UNION}, and no diagonal entry falls."
    return proved(how, {"merged columns have ratio t": merged}, sample)


def _event_ratio(matrix: FloatArray) -> float:
    """Leakage over events, sets of outputs, of every two letters: the definition of reference [1]."""
    events = np.array(list(itertools.product([0.0, 1.0], repeat=matrix.shape[1])))[1:]
    return log_ratio(matrix @ events.T)


def _implied_violation(rng: np.random.Generator, converse: bool = False) -> float:
    matrix = some_channel(rng)
    events, near = _event_ratio(matrix), DifferentialPrivacy(line(len(matrix))).leakage(matrix)
    return log_ratio(matrix) - near if converse else max(events, near) - log_ratio(matrix)


@claim(instance=_implied_violation, wrong={"the converse, for [3]": {"converse": True}})
def definition_3_implies(sample: Sample, converse: bool = False) -> Finding:
    a, b, c, d, t = reals("a b c d t")
    how = f"An event is a union of outputs, and {_UNION}, output by output. Neighbors are two of the categories."
    return proved(how, {"unions have ratio t": always(a + b <= t * (c + d), a <= t * c, b <= t * d)}, sample)


_GEOMETRIC = "2/3 2/9 1/9; 1/3 1/3 1/3; 1/9 2/9 2/3"


@claim(wrong={"for two letters": {"matrix": "2/3 1/3; 1/3 2/3"}})
def definition_3_neighbors(matrix: str = _GEOMETRIC) -> Finding:
    rows = channel(matrix)
    near, every = max(ratio(pair) for pair in itertools.pairwise(rows)), ratio(rows)
    how = f"The geometric mechanism on a line of 3 categories has the ratio {near} between neighbors and {every} over all pairs."
    return proved(how, {"more in all": near < every})


@claim(
    instance=lambda rng, **_: apart(_event_ratio(matrix := some_channel(rng)), log_ratio(matrix)),
    wrong={"with [1] for neighbors alone": {"letters": 2}},
)
def definition_3_local(sample: Sample, letters: int = 3) -> Finding:
    rows = channel(_GEOMETRIC)
    events = [chosen for n in (1, 2, 3) for chosen in itertools.combinations(range(3), n)]
    local = ratio([[sum((row[x] for x in event), Fraction(0)) for event in events] for row in rows[:letters]])
    sentence = "A single output is an event: the geometric mechanism has the ratio {found} over all events, as over all outputs."
    each = refuted(sentence, local == ratio(rows) and not sample.failures, found=ratio(rows))
    said = (
        "The geometric mechanism with the rows (2/3, 2/9, 1/9), (1/3, 1/3, 1/3), (1/9, 2/9, 2/3) has "
        "the ratio 3 between neighbors, and 6 over all pairs."
    )
    near = holds(named={"the geometric mechanism": float(3 - ratio(rows)) + STRICT}, says=said)
    return depends({"for each of the two definitions": each, "for at least one of them": near})


def _mixing(strict: bool = False) -> bool:
    a, b, c, d, t, share = reals("a b c d t share")
    left, right = share * a + (1 - share) * b, t * (share * c + (1 - share) * d)
    given = [share > 0, share < 1, t >= 1, a >= 0, b >= 0, c >= 0, d >= 0, a <= t * c, b <= t * d]
    return always(left < right if strict else left <= right, *given)


@claim(wrong={"quasi-convex: at most the larger of the two": {"mean": max}})
def lemma_1(mean: Callable[[Sequence[float]], float] = lambda ends: sum(ends) / 2) -> Finding:
    first, second, middle = channel("1/5 4/5; 1/10 9/10"), channel("3/5 2/5; 1/10 9/10"), channel("2/5 3/5; 1/10 9/10")
    ends, found = [math.log(ratio(first)), math.log(ratio(second))], math.log(ratio(middle))
    sentence = (
        "The mechanisms with the rows (1/5, 4/5), (1/10, 9/10) and (3/5, 2/5), (1/10, 9/10) leak {mean} nats on average, and "
        "their mean leaks {found} nats."
    )
    weaker = proved("A mixture leaks no more than the leakier of its parts (z3).", {"quasi-convex": _mixing()})
    return mended(sentence, found > mean(ends) + STRICT, weaker, found=found, mean=sum(ends) / 2)


@claim(wrong={"at most, not below": {"below": operator.le}})
def lemma_1_proof(below: Callable[[Any, Any], bool] = operator.lt) -> Finding:
    z3, (a, b, c, d) = optional("z3", "proofs"), reals("a b c d")
    total, given = a + b, [a >= 0, b >= 0, c > 0, d > 0, a + b > 0]
    weak = always(z3.Or(total * c <= a * (c + d), total * d <= b * (c + d)), *given)
    even = always((total * c == a * (c + d)) == (a * d == b * c), *given)
    left, one = Fraction(1 + 1, 1 + 1), Fraction(1)
    said = refuted("At $a = b = c = d = 1$ both sides are {left}.", not below(left, max(one, one)), left=left)
    every = "Z3 decides it for all such numbers; the two sides are equal just if $ad = bc$."
    right = holds(named={"all such numbers": float(not (weak and even))}, says=every)
    return depends({"with <, as in our copy": said, "with $\\leq$": right})


@claim(wrong={"for two letters": {"classes": ("1 0; 0 1", "3/4 1/4; 1/4 3/4")}})
def definition_6(classes: Sequence[str] = ("1 0 0; 0 1 0; 0 0 1", "1/2 1/4 1/4; 1/6 5/12 5/12")) -> Finding:
    agree = []
    for text in classes:
        found = {tuple(row) for row in channel(text)}
        mirrored = {tuple(Fraction(2, len(row)) - p for p in row) for row in found}
        permuted = {order for row in found for order in itertools.permutations(row)}
        agree.append((found == mirrored) == (found == permuted))
    sentence = (
        "The set of the permutations of (1, 0, 0) is invariant, but does not contain the mirror image ({low}, 2/3, 2/3) of "
        "(1, 0, 0). The set {{(1/2, 1/4, 1/4), (1/6, 5/12, 5/12)}} is its own mirror image, but is not invariant."
    )
    point = refuted(sentence, not all(agree), low=Fraction(-1, 3))
    name, said = "exchanges of two categories", "The exchanges of two of 3 or 4 categories generate all permutations."
    missing = sum(math.factorial(size) - len(_generated(size)) for size in (3, 4))
    mirror = "as symmetry under every exchange of two categories"
    return depends({"with $2/M - P$ for every $P$": point, mirror: holds(named={name: float(missing)}, says=said)})


def _generated(size: int) -> set[tuple[int, ...]]:
    """All permutations that exchanges of two neighboring letters generate."""
    found, fresh = set[tuple[int, ...]](), {tuple(range(size))}
    while fresh:
        found |= fresh
        fresh = {(*o[:i], o[i + 1], o[i], *o[i + 2 :]) for o in fresh for i in range(size - 1)} - found
    return found


_RENUMBERED = "Renumbering the categories renumbers $D_i$ with $P_i$ (sympy, all permutations, $M = 2, 3, 4$)"


@claim(wrong={"inputs alone": {"inputs_only": True}})
def remark_2(inputs_only: bool = False) -> Finding:
    facts = {f"M = {size}": renumbered(size, inputs_only) for size in (2, 3, 4)}
    return proved(f"{_RENUMBERED} and exchanges whole columns and rows.", facts)


@claim(wrong={"for the exchange of two letters alone": {"moved": 2}, "all entries are equal": {"pairs": True}})
def remark_3(moved: int = 9, pairs: bool = False) -> Finding:
    """Entries that permutations carry into each other are equal: which do they carry (1, 1) to?"""
    facts = {}
    for size in SIZES[1:]:
        orders = [[*order, *range(moved, size)] for order in itertools.permutations(range(min(moved, size)))]
        diagonal, others = ({(order[0], order[last]) for order in orders} for last in (0, 1))
        every = {(i, j) for i in range(size) for j in range(size) if pairs or i == j}
        facts[f"M = {size}"] = every <= diagonal
        if moved >= size:
            facts[f"off the diagonal, M = {size}"] = len(others) == size * (size - 1)
    how = "Permutations carry $(1, 1)$ to every $(i, i)$, and $(1, 2)$ to every other $(i, j)$ (enumeration, $M = 3, 4, 5$)."
    return proved(how, facts)


def _permuted_violation(rng: np.random.Generator, invariant: bool = True) -> float:
    source = invariant_budget(rng)[0] if invariant else any_set(rng, most_letters=4)
    matrix, order = random_channel(rng, source.alphabet_size), rng.permutation(source.alphabet_size)
    return source.worst_case_distortion(matrix[np.ix_(order, order)]) - source.worst_case_distortion(matrix)


@claim(instance=_permuted_violation, wrong={"for any class": {"invariant": False}})
def remark_4(sample: Sample, invariant: bool = True) -> Finding:
    how = f"{_RENUMBERED}: a renumbered $Q$ has under $P$ the distortion of $Q$ under a renumbered $P$, which is in the class."
    return proved(how, {f"M = {size}": renumbered(size) for size in (2, 3, 4)}, sample)


@claim(wrong={"with the sign turned": {"best": min}})
def section_2a_utility(best: Callable[[Sequence[Fraction]], Fraction] = max) -> Finding:
    twelfths = [Fraction(n, 12) for n in range(1, 12)]
    private: list[Channel] = [((p, 1 - p), (q, 1 - q)) for p in twelfths for q in twelfths]
    spent = [worst_distortion([prior("1/2 1/2")], found) for found in private if ratio(found) <= 3]
    least = program(np.array([[0.5, 0.5]]), 3.0)[0]
    name = "(1/2, 1/2) and ratios up to 3"
    says = (
        "For {name}, the mechanism of the largest $U$ as printed has the distortion {}, and the least distortion is {}"
    )
    return corrected({name: (float(best(spent)), least)}, {name: (float(min(spent)), least)}, says=says)
