"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections I and II.

The others are in ``kalantari2016_theorems`` (Sections III to V) and ``kalantari2016_ordered`` (from Section V-A on).

Letters are counted from 1 in statements, as in the paper. ``eps*(D)`` is the least leakage of differential privacy at worst-case
Hamming distortion D, and ``t = exp(eps)`` the largest ratio of two entries of a column. What is true comes from
:mod:`paper_repro.tradeoff`; counterexamples are rational and certified by hand-sized arithmetic (:func:`certified`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import (
    Channel,
    apart,
    as_floats,
    certified_ratio,
    channel,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import eps
from paper_repro.graphs import line
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import kalantari2016 as isit
from paper_repro.papers.readings import Reading
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

# Linear programs are solved to about 1e-9, and leakages are logarithms of their optima.
SOLVED = 1e-6
# What "strictly" means to a float.
STRICT = 1e-9
KNOWN, KNOWN_NAME, TWO = "1/2 3/10 1/5", "(1/2, 3/10, 1/5)", "7/10 3/10"
BINARY_NAME = "(7/10, 3/10) at D = 1/5"
SIX_NAME = "(0.7, 0.15, 0.06, 0.04, 0.03, 0.02) at D = 1/100"
SIX = "7/10 3/20 3/50 1/25 3/100 1/50"
# Response on the two likeliest letters; the optimum of KNOWN at D = 9/20.
ON_TWO = channel("11/16 5/16 0; 5/16 11/16 0; 5/16 11/16 0")


def source_of(text: str) -> SourceSet:
    """The hull of the rows of a text as a source set."""
    return as_floats(*channel(text))


def certified(vertices: str, distortion: str, matrix: Channel, otherwise: float = math.nan) -> float:
    """Exp of the least leakage at a distortion: the matrix's ratio, if optimal against the first vertex by the closed form."""
    found = certified_ratio(channel(vertices), distortion, matrix)
    return otherwise if math.isnan(found) else found


def log_ratio(matrix: FloatArray) -> float:
    """Leakage in nats of a matrix whose columns are all-zero or positive."""
    used = matrix[:, matrix.any(axis=0)]
    return float(np.log(used.max(axis=0) / used.min(axis=0)).max())


def failures(conditions: Iterable[bool]) -> float:
    """How many of the instances of a statement are false."""
    return float(sum(not condition for condition in conditions))


def any_set(rng: np.random.Generator, most_letters: int = 5) -> SourceSet:
    """One to three distributions over 2 to 5 letters, rational: with ties and zeros if the grain is coarse."""
    size, grain = int(rng.integers(2, most_letters + 1)), int(rng.choice([6, 12, 1000]))
    return SourceSet(rng.multinomial(grain, rng.dirichlet(np.ones(size)), size=int(rng.integers(1, 4))) / grain)


def ordered_set(rng: np.random.Generator) -> SourceSet:
    """A random set with P_1 >= P_2 >= ..., not all of whose mass is on letter 1."""
    while True:
        found = SourceSet(-np.sort(-any_set(rng).vertices, axis=1))
        if isit.lemma_5(found) > 0:
            return found


def ordered_budget(rng: np.random.Generator) -> tuple[SourceSet, float]:
    """A random ordered set and a distortion below D^(M-1)."""
    source = ordered_set(rng)
    return source, float(rng.uniform(0.02, 0.98)) * isit.lemma_5(source)


def invariant_budget(rng: np.random.Generator) -> tuple[SourceSet, float]:
    """A random permutation-invariant set and a distortion below (M - 1) / M."""
    source = isit.permutation_invariant_hull(any_set(rng, most_letters=4))
    return source, float(rng.uniform(0.02, 0.98)) * (1 - 1 / source.alphabet_size)


def some_channel(rng: np.random.Generator, outputs: int | None = None) -> FloatArray:
    """A channel of two to four letters."""
    return random_channel(rng, int(rng.integers(2, 5)), outputs)


def symmetrized(matrix: FloatArray) -> FloatArray:
    """Equation (14), by brute force over all permutations."""
    orders = itertools.permutations(range(len(matrix)))
    return np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)


def _published(source: SourceSet, distortion: float) -> int:
    return int(optimal_mechanism(source, distortion=distortion).mechanism.matrix.any(axis=0).sum())


def lower_bounds(reading: Reading) -> dict[str, tuple[float, float]]:
    """Equation (12) below D^(1), and the exact optimum: exp of both, on two known distributions."""
    return {
        name: (
            math.exp(isit.equation_12(source_of(known), float(Fraction(budget)), reading)),
            certified(known, budget, response(len(known.split()), budget), otherwise=-math.inf),
        )
        for name, known, budget in ((f"exp for {BINARY_NAME}", TWO, "1/5"), (f"exp for {SIX_NAME}", SIX, "1/100"))
    }


# Section I


@claim()
def section_1_utility() -> Finding:
    constant = channel("1 0; 1 0")
    each = [worst_distortion([one], constant) for one in channel("1 0; 0 1")]
    name = "{(1, 0), (0, 1)}, letter 1 whatever the data: least D at which it is valid"
    needed = SourceSet(np.eye(2)).worst_case_distortion([[1, 0], [1, 0]])
    return corrected({name: (float(min(each)), needed)}, {name: (float(max(each)), needed)})


@claim()
def section_1_not_sub_linear() -> Finding:
    named = {}
    for name, priors in (("{(1, 0), (0, 1)}", "1 0; 0 1"), ("{(1, 0), (3/5, 2/5)}", "1 0; 3/5 2/5")):
        one, two, both = (-max(p * a + q * b for p, q in channel(priors)) for a, b in ((1, 0), (0, 1), (1, 1)))
        named[f"{name} with D = (1, 0) and (0, 1)"] = float(one + two - both) + STRICT
    return holds(named=named, tolerance=0.0)


def _staircase_violation(rng: np.random.Generator) -> float:
    source, budget = invariant_budget(rng)
    matrix = optimal_mechanism(source, distortion=budget).mechanism.matrix
    logs = np.abs(np.log(matrix[:, np.newaxis] / matrix))
    return float(np.minimum(logs, abs(logs - logs.max())).max())


@claim(instance=_staircase_violation, tolerance=1e-8)
def section_1_staircase(sample: Sample) -> Finding:
    best = optimal_mechanism(SourceSet(np.eye(2)), distortion=0.25).mechanism.matrix
    named = {"{(1, 0), (0, 1)} at D = 1/4": float(abs(best - [[0.75, 0.25], [0.25, 0.75]]).max())}
    return holds(sample, named=named, tolerance=1e-8, of="permutation-invariant hulls")


def _coinciding_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    budget = rng.uniform(0.02, 0.98) * isit.equation_7(source)[1] * (source.alphabet_size - 1)
    if budget == 0:
        return math.nan
    return apart(isit.equation_12(source, budget, "corrected"), isit.equation_11(source, budget))


@claim(instance=_coinciding_violation, tolerance=SOLVED)
def section_1_bounds_coincide(sample: Sample) -> Finding:
    return corrected(lower_bounds("printed"), lower_bounds("corrected"), sample, tolerance=SOLVED)


def _shrinking_violation(rng: np.random.Generator) -> float:
    known = SourceSet(any_set(rng).vertices[0])
    budgets = np.sort(rng.random(2))
    return _published(known, budgets[1]) - _published(known, budgets[0])


@claim(instance=_shrinking_violation)
def section_1_output_shrinks(sample: Sample) -> Finding:
    known = source_of("1/2 1/4 1/4")
    # All three letters are published just below D = 1/2, by certified optimality.
    least = certified("1/2 1/4 1/4", "49/100", response(3, "49/100"))
    found = math.nan if math.isnan(least) else _published(known, 0.49) - _published(known, 0.5)
    name = "(1/2, 1/4, 1/4): letters dropped at D = 1/2"
    tied = float((known.vertices == 0.25).sum())
    return corrected({name: (1.0, found)}, {name: (tied, found)}, sample)


# Section II


def _merging_violation(rng: np.random.Generator) -> float:
    """Outputs beyond M merged into one letter: no larger leakage, no more distortion."""
    wide = some_channel(rng, outputs=7)
    size = len(wide)
    merged = wide[:, :size].copy()
    merged[:, rng.integers(size)] += wide[:, size:].sum(axis=1)
    return max(log_ratio(merged) - log_ratio(wide), float((np.diagonal(wide) - np.diagonal(merged)).max()))


@claim(instance=_merging_violation)
def section_2_output_alphabet(sample: Sample) -> Finding:
    wide = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    merged = np.array([[0.75, 0.25], [0.5, 0.5]])
    return holds(sample, named={"two letters, three outputs": log_ratio(merged) - log_ratio(wide)}, of="channels")


def _distortion_violation(rng: np.random.Generator) -> float:
    source = any_set(rng)
    matrix = random_channel(rng, source.alphabet_size)
    wrong = 1 - np.eye(source.alphabet_size)
    return abs(float(np.max(source.vertices @ (matrix * wrong).sum(axis=1))) - source.worst_case_distortion(matrix))


@claim(instance=_distortion_violation)
def section_2_average_distortion(sample: Sample) -> Finding:
    matrix, known = channel("1/2 1/4 1/4; 1/8 3/4 1/8; 1/3 1/3 1/3"), prior(KNOWN)
    wrong = sum(known[i] * matrix[i][j] for i, j in itertools.permutations(range(3), 2))
    return holds(
        sample, named={"(1/2, 3/10, 1/5)": abs(float(wrong - worst_distortion([known], matrix)))}, of="mechanisms"
    )


def _event_ratio(matrix: FloatArray) -> float:
    """Leakage over events, sets of outputs, of every two letters: the definition of reference [1]."""
    events = np.array(list(itertools.product([0.0, 1.0], repeat=matrix.shape[1])))[1:]
    return log_ratio(matrix @ events.T)


def _implied_violation(rng: np.random.Generator) -> float:
    matrix = some_channel(rng)
    weaker = max(_event_ratio(matrix), DifferentialPrivacy(line(len(matrix))).leakage(matrix))
    return weaker - log_ratio(matrix)


_GEOMETRIC = np.array([[6, 2, 1], [3, 3, 3], [1, 2, 6]]) / 9


@claim(instance=_implied_violation)
def definition_3_implies(sample: Sample) -> Finding:
    weaker = max(_event_ratio(_GEOMETRIC), DifferentialPrivacy(line(3)).leakage(_GEOMETRIC))
    return holds(
        sample, named={"truncated geometric on a line of three": weaker - log_ratio(_GEOMETRIC)}, of="channels"
    )


@claim()
def definition_3_neighbors() -> Finding:
    near, all_pairs = DifferentialPrivacy(line(3)).leakage(_GEOMETRIC), log_ratio(_GEOMETRIC)
    name = f"truncated geometric on a line of three: exp {math.exp(near):.6g} between neighbors, {math.exp(all_pairs):.6g} in all"
    return holds(named={name: near - all_pairs + STRICT}, tolerance=0.0)


@claim(instance=lambda rng: apart(_event_ratio(matrix := some_channel(rng)), log_ratio(matrix)))
def definition_3_local(sample: Sample) -> Finding:
    sixths = [prior(f"{a}/6 {b}/6 {6 - a - b}/6") for a in range(1, 5) for b in range(1, 6 - a)]
    events = [places for count in (1, 2, 3) for places in itertools.combinations(range(3), count)]
    weaker = 0
    for pair in itertools.product(sixths, repeat=2):
        sums = tuple(tuple(Fraction(sum(row[place] for place in places)) for places in events) for row in pair)
        weaker += ratio(sums) < ratio(pair)
    name = "channels with three outputs in sixths, of 100, that are more private by events (the claim needs one)"
    return corrected({name: (1.0, weaker)}, {name: (0.0, weaker)}, sample)


def _zeros_violation(rng: np.random.Generator) -> float:
    matrix = some_channel(rng)
    matrix[:, rng.random(len(matrix)) < 0.4] = 0
    matrix[rng.random(matrix.shape) < 0.1] = 0
    if not matrix.any(axis=1).all():
        return math.nan
    matrix /= matrix.sum(axis=1, keepdims=True)
    used = matrix > 0
    leakage = DifferentialPrivacy().leakage(matrix)
    alike = bool((used.all(axis=0) | ~used.any(axis=0)).all())
    return float(math.isfinite(leakage) != alike or leakage < 0 or not used.any())


@claim(instance=_zeros_violation)
def remark_1(sample: Sample) -> Finding:
    leakages = [DifferentialPrivacy().leakage(matrix) for matrix in (np.eye(2), [[1, 0], [1, 0]], [[0.5, 0.5]] * 2)]
    wrong = failures([leakages[0] == math.inf, leakages[1] == 0, leakages[2] == 0])
    return holds(sample, named={"identity, one-letter answer and fair coin on two letters": wrong}, of="matrices")


def _no_distortion_violation(rng: np.random.Generator) -> float:
    size, grain = int(rng.integers(2, 5)), int(rng.choice([1, 2, 100]))
    source = SourceSet(-np.sort(-rng.multinomial(grain, np.full(size, 1 / size), size=2) / grain, axis=1))
    return float((eps(source, 0.0) == math.inf) != (isit.lemma_5(source) > 0))


@claim(instance=_no_distortion_violation)
def section_2_perfect_utility(sample: Sample) -> Finding:
    one, free = "(1, 0) at D = 0, leakage", "(1/2, 1/2, 0) at D = 0, Q(3|3)"
    moved = channel("1 0 0; 0 1 0; 1 0 0")
    kept = float(moved[2][2]) if worst_distortion([prior("1/2 1/2 0")], moved) == 0 else math.nan
    found = eps(SourceSet([1, 0]), 0.0)
    mended = 0.0 if isit.lemma_5(SourceSet([1, 0])) == 0 else math.inf
    return corrected({one: (math.inf, found), free: (1.0, kept)}, {one: (mended, found), free: (0.0, kept)}, sample)


@claim()
def lemma_1() -> Finding:
    first, second = channel("1/5 4/5; 1/10 9/10"), channel("3/5 2/5; 1/10 9/10")
    middle = tuple(tuple((p + q) / 2 for p, q in zip(*pair, strict=True)) for pair in zip(first, second, strict=True))
    ends = [math.log(ratio(first)), math.log(ratio(second))]
    name = "middle of ((1/5, 4/5), (1/10, 9/10)) and ((3/5, 2/5), (1/10, 9/10)), which leak log 2 and log 6"
    return above(name, sum(ends) / 2, math.log(ratio(middle)), first=ends[0], second=ends[1])


def _mixture_violation(rng: np.random.Generator) -> float:
    size, share = int(rng.integers(2, 5)), rng.random()
    first, second = random_channel(rng, size), random_channel(rng, size)
    if rng.random() < 0.3:  # an all-zero column in one of them
        first[:, 0] = 0
        first /= first.sum(axis=1, keepdims=True)
    return log_ratio(share * first + (1 - share) * second) - max(log_ratio(first), log_ratio(second))


@claim(instance=_mixture_violation)
def lemma_1_quasi_convex(sample: Sample) -> Finding:
    first, second = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.6, 0.4], [0.2, 0.8]])
    return holds(
        sample,
        named={"a one-letter answer and a channel": log_ratio((first + second) / 2) - log_ratio(second)},
        of="mixtures",
    )


@claim()
def lemma_1_proof() -> Finding:
    cases = [case for case in itertools.product(range(4), range(4), (1, 2, 3), (1, 2, 3)) if case[0] + case[1]]
    sides = [(Fraction(a + b, c + d), max(Fraction(a, c), Fraction(b, d))) for a, b, c, d in cases]
    strict, weak = failures(left < right for left, right in sides), failures(left <= right for left, right in sides)
    name = f"quadruples from 0 to 3, of {len(cases)}, that violate it; the first is a = b = c = d = 1"
    return corrected({name: (0.0, strict)}, {name: (0.0, weak)})


def _attained_violation(rng: np.random.Generator) -> float:
    source, budget = any_set(rng), float(rng.uniform(0.01, 1))
    best = optimal_mechanism(source, distortion=budget)
    return max(best.gap, best.distortion - budget, -best.leakage)


@claim(instance=_attained_violation)
def definition_4(sample: Sample) -> Finding:
    found = [optimal_mechanism(source, distortion=1.0).leakage for source in (SourceSet([1.0]), SourceSet(np.eye(3)))]
    return holds(sample, named={"one letter at D = 1": found[0], "three corners at D = 1": found[1]}, of="source sets")


@claim()
def definition_6() -> Finding:
    corners, pair = SourceSet(np.eye(3)), source_of("1/2 1/4 1/4; 1/6 5/12 5/12")
    outside = -float((2 / 3 - corners.vertices).min()) if isit.is_permutation_invariant(corners) else 0.0
    mirrored = float(abs(2 / 3 - pair.vertices - pair.vertices[::-1]).max()) < STRICT
    return above(
        "the permutations of (1, 0, 0): how far the mirror image (-1/3, 2/3, 2/3) of one lies outside the simplex",
        0.0,
        outside,
        **{
            "the pair: its own mirror image": mirrored,
            "the pair: permutation invariant": isit.is_permutation_invariant(pair),
        },
    )


def _relabeled_violation(rng: np.random.Generator) -> float:
    source, budget = ordered_budget(rng)
    shuffled = SourceSet(source.vertices[:, rng.permutation(source.alphabet_size)])
    return apart(eps(shuffled, budget), eps(source, budget))


@claim(instance=_relabeled_violation, tolerance=SOLVED)
def remark_2(sample: Sample) -> Finding:
    other = eps(source_of("1/5 1/2 3/10"), 0.45)
    return holds(
        sample, named={"(1/5, 1/2, 3/10) at D = 9/20": abs(other - math.log(2.2))}, tolerance=SOLVED, of="ordered sets"
    )


def _equal_entries_violation(rng: np.random.Generator) -> float:
    matrix = symmetrized(some_channel(rng))
    return float(max(np.ptp(np.diagonal(matrix)), np.ptp(matrix[~np.eye(len(matrix), dtype=bool)])))


@claim(instance=_equal_entries_violation)
def remark_3(sample: Sample) -> Finding:
    matrix = symmetrized(np.array([[1.0, 0.0], [0.5, 0.5]]))
    return holds(sample, named={"two letters": float(np.ptp(np.diagonal(matrix)))}, of="averages over all permutations")


def _permuted_violation(rng: np.random.Generator) -> float:
    source, _ = invariant_budget(rng)
    matrix, order = random_channel(rng, source.alphabet_size), rng.permutation(source.alphabet_size)
    return source.worst_case_distortion(matrix[np.ix_(order, order)]) - source.worst_case_distortion(matrix)


@claim(instance=_permuted_violation)
def remark_4(sample: Sample) -> Finding:
    corners, matrix = SourceSet(np.eye(2)), np.array([[0.9, 0.1], [0.4, 0.6]])
    change = corners.worst_case_distortion(matrix[::-1, ::-1]) - corners.worst_case_distortion(matrix)
    return holds(sample, named={"two corners": change}, of="permutation-invariant hulls")


@claim()
def section_2a_utility() -> Finding:
    uniform, twelfths = prior("1/2 1/2"), [Fraction(n, 12) for n in range(1, 12)]
    private = [found for p in twelfths for q in twelfths if ratio(found := ((p, 1 - p), (q, 1 - q))) <= 3]
    changed = {float(worst_distortion([uniform], matrix)) for matrix in private}
    name, least = "(1/2, 1/2), ratio 3: distortion of the mechanism chosen", 0.25
    exact = least if certified("1/2 1/2", "1/4", response(2, "1/4")) == 3 else math.nan
    return corrected({name: (max(changed), exact)}, {name: (min(changed), exact)})


@claim()
def section_2a_examples() -> Finding:
    named = {}
    for name, second in (("a", "0 1"), ("b", "3/5 2/5")):
        priors = channel(f"1 0; {second}")
        one, two, both = (float(min(p * a + q * b for p, q in priors)) for a, b in ((1, 0), (0, 1), (1, 1)))
        named[f"{name}) {both:g} > {one:g} + {two:g}"] = one + two - both + STRICT
    return holds(named=named, tolerance=0.0)
