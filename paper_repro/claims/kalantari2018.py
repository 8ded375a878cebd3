"""What Kalantari, Sankar and Sarwate state (2018, and their preprint of 2017) in Sections I and II, claim by claim.

Letters are counted from 1 in statements, as in the paper. ``eps*(P, D)`` is the least differential-privacy leakage of a mechanism
whose Hamming distortion is at most D for every prior in P; ``D_i`` is the probability that letter i is changed. Leakages are in
nats unless a text says "ratio", which is exp of the leakage. Theorems 1 and 2 are in ``kalantari2018_theorems``, Theorem 3 in
``kalantari2018_folding``, Sections III-A and IV in ``kalantari2018_information``, Section V in ``kalantari2018_proofs``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import (
    KNOWN,
    SHORT,
    as_floats,
    certified_ratio,
    channel,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import budget, eps, last_budget, least_ratio, symmetric, table_1, yes
from paper_repro.curves import distortion_curve
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import kalantari2016
from paper_repro.papers.coloring import largest_ratio
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

# Abstract and Section I


def _symmetric_is_optimal(rng: np.random.Generator) -> float:
    source = random_set(rng, "I")
    size = source.alphabet_size
    distortion = float(rng.uniform(0.01, 1.0))
    matrix = kalantari2016.equation_5(size, min(distortion, (size - 1) / size))
    overstep = source.worst_case_distortion(matrix) - distortion
    return max(abs(math.log(largest_ratio(matrix)) - eps(source, distortion)), overstep)


@claim(instance=_symmetric_is_optimal, tolerance=1e-8)
def abstract_symmetric(sample: Sample) -> Finding:
    simplex = SourceSet(np.eye(3))
    named = {
        "the whole simplex, M = 3, D = 1/2": abs(eps(simplex, 0.5) - symmetric(3, 0.5)),
        "the uniform distribution alone, M = 2, D = 1/4": abs(eps(SourceSet([0.5, 0.5]), 0.25) - symmetric(2, 0.25)),
    }
    return holds(sample, named=named, tolerance=1e-8, of="Class I sets at any D up to 1")


@claim()
def abstract_asymmetric() -> Finding:
    certified = certified_ratio([KNOWN], "3/10", response(3, "3/10"))
    apart = least_ratio(np.array([[0.5, 0.3, 0.2]]), 0.3, [((1, 0, -1), -0.01)])
    return above(
        "P = (1/2, 3/10, 1/5), D = 3/10: least ratio if letter 3 is changed with a probability 1/100 above that of letter 1, "
        "against the ratio of the symmetric mechanism, certified optimal",
        claimed=certified,
        actual=apart,
    )


def _outliers(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    kept = np.diagonal(optimal_mechanism(source, distortion=distortion).mechanism.matrix)
    return float(kept[-1] - kept[0])


@claim(instance=_outliers, tolerance=1e-8)
def abstract_outliers(sample: Sample) -> Finding:
    named = {}
    for distortion in (0.3, 0.45):
        kept = np.diagonal(optimal_mechanism(as_floats(KNOWN), distortion=distortion).mechanism.matrix)
        named[f"(1/2, 3/10, 1/5), D = {distortion}"] = float(kept[-1] - kept[0])
    return holds(sample, named=named, tolerance=1e-8, of="Class II sets")


@claim()
def section_1_binary() -> Finding:
    right = 2
    for size in (3, 4, 6):
        source = kalantari2016.permutation_invariant_hull(SourceSet(np.arange(size) / (size * (size - 1) / 2)))
        right = size if abs(kalantari2016.theorem_1(size, 0.3) - eps(source, 0.3)) < 1e-8 else right
    return above("largest alphabet tried on which Theorem 1 of [2] is exact", claimed=2, actual=right)


def _no_other_choice(rng: np.random.Generator) -> float:
    source = random_set(rng, "I")
    size = source.alphabet_size
    distortion = float(rng.uniform(0.05, 0.95)) * (size - 1) / size
    return _gain_of_asymmetry(source.vertices, distortion, int(rng.integers(size)), float(rng.uniform(0.01, 0.2)))


def _gain_of_asymmetry(vertices: FloatArray, distortion: float, letter: int, apart: float) -> float:
    """Below 0 if keeping a letter more than the next one costs: the best such mechanism against the symmetric one."""
    size = vertices.shape[1]
    factors = np.zeros(size)
    factors[letter], factors[(letter + 1) % size] = 1.0, -1.0
    unequal = least_ratio(vertices, distortion, [(factors.tolist(), -apart * distortion)])
    even = math.exp(symmetric(size, distortion))
    # The least D_i is then at most (1 - apart / M) D, which raises t - 1 by that factor: there is a margin of 4.
    return float((even - unequal) / (even - 1) + apart / (4 * size))


@claim(instance=_no_other_choice, tolerance=0.0)
def theorem_1_unique(sample: Sample) -> Finding:
    named = {
        "uniform, M = 2, D = 1/4": _gain_of_asymmetry(np.full((1, 2), 0.5), 0.25, 0, 0.04),
        "simplex, M = 4, D = 7/10": _gain_of_asymmetry(np.eye(4), 0.7, 1, 0.04),
    }
    return holds(sample, named=named, tolerance=0.0, of="Class I sets, two letters told apart by 1% to 20% of D")


def _published(source: SourceSet, distortion: float) -> int:
    return int(
        (np.diagonal(optimal_mechanism(source, distortion=distortion).mechanism.matrix) > 1e-9).sum()
        if distortion < last_budget(source)
        else 1
    )


def _support_growth(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    one, two = sorted((budget(rng, source), budget(rng, source)))
    return math.nan if one == 0 else float(_published(source, two) - _published(source, one))


@claim(instance=_support_growth, tolerance=0.0, share=0.5)
def section_1_support(sample: Sample) -> Finding:
    named = {}
    for name, source in (("Table I", table_1()), ("Table II", load_source_set("P_II_10"))):
        counts = [_published(source, share * last_budget(source)) for share in (0.1, 0.4, 0.6, 0.8, 0.95, 1.0)]
        named[f"{name}, support {', '.join(map(str, counts))}"] = max(b - a for a, b in itertools.pairwise(counts))
    return holds(sample, named=named, tolerance=0.0, of="Class II sets at two distortions each")


@claim()
def section_6_reduction() -> Finding:
    tied = prior("1/2 1/4 1/4")
    everything = certified_ratio([tied], "49/100", response(3, "49/100"))
    fewer = math.exp(kalantari2016.equation_9(as_floats(tied), 0.49, 1, "corrected"))
    return above(
        "P = (1/2, 1/4, 1/4), D = 49/100, just below the end at 1/2: least ratio with two letters published, against randomized "
        "response on all three, certified optimal",
        claimed=everything,
        actual=fewer,
    )


@claim()
def section_1_staircase() -> Finding:
    mirrored = [prior("3/5 3/10 1/10"), prior("3/10 3/5 1/10")]
    half = (Fraction(1, 2), Fraction(1, 2))
    found = {
        "Class II, P = (1/2, 3/10, 1/5), D = 3/10": ([KNOWN], "3/10", response(3, "3/10"), None),
        "the same P, D = 9/20": ([KNOWN], "9/20", SHORT, None),
        "Class III, {(3/5, 3/10, 1/10), (3/10, 3/5, 1/10)}, D = 1/5": (mirrored, "1/5", response(3, "1/5"), half),
    }
    ratios = {name: certified_ratio(*case) for name, case in found.items()}
    stairs = sum(
        not math.isnan(odds)
        and {a / b for column in zip(*case[2], strict=True) for a in column for b in column if b}
        <= {Fraction(1), Fraction(odds).limit_denominator(99), 1 / Fraction(odds).limit_denominator(99)}
        for (case, odds) in zip(found.values(), ratios.values(), strict=True)
    )
    text = "; ".join(f"{name}: ratio {odds:.6g}" for name, odds in ratios.items())
    return above(f"staircase mechanisms certified optimal outside Class I ({text})", claimed=0, actual=stairs)


@claim()
def section_1_sublinear() -> Finding:
    kept = sum(p * row[i] for i, (p, row) in enumerate(zip(KNOWN, response(3, "3/10"), strict=True)))
    return corrected(
        {"U(Q / 2) for randomized response, D = 3/10": (float((kept - 1) / 2), float(kept / 2 - 1))},
        {"the same for sum P_i Q(i|i)": (float(kept / 2), float(sum(p * Fraction(7, 20) for p in KNOWN)))},
    )


@claim()
def equation_6() -> Finding:
    priors, one, two = np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 1.0])

    def excess(utility: Callable[[FloatArray], float], first: FloatArray, second: FloatArray) -> float:
        return float(utility(first) + utility(second) - utility(first + second))

    named = {
        "adding distortions, as printed: -1 > -2": excess(lambda d: -(priors @ d).max(), one, two),
        "adding matrices, U = -max sum P_i (1 - Q_ii): 0 > -2": excess(
            lambda q: -(priors @ (1 - q)).max(), 1 - one, 1 - two
        ),
        "adding matrices, U = min sum P_i Q_ii: 1 > 0": excess(lambda q: (priors @ q).min(), 1 - one, 1 - two),
    }
    # In each reading the utility of the sum is larger by at least 1.
    return holds(named={name: 1 + value for name, value in named.items()}, tolerance=1e-12)


# Section II


def _class_violation(rng: np.random.Generator) -> float:
    kind = str(rng.choice(["I", "II", "III"]))
    source = random_set(rng, kind)
    order = rng.permutation(source.alphabet_size)
    return float(SourceSet(source.vertices[:, order]).source_class != kind)


@claim(instance=_class_violation, tolerance=0.0)
def definition_1(sample: Sample) -> Finding:
    sets = {"I": [[0.5, 0.5]], "II": [[0.4, 0.4, 0.2]], "III": [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]}
    named = {f"{rows}: Class {kind}": float(SourceSet(rows).source_class != kind) for kind, rows in sets.items()}
    named["{(1, 0), (0, 1)}, uniform only in the hull: Class I"] = float(SourceSet(np.eye(2)).source_class != "I")
    return holds(sample, named=named, tolerance=0.0, of="sets built to be of a class, with letters permuted")


def _relabeling(rng: np.random.Generator, kind: str = "II") -> float:
    source = random_set(rng, kind)
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    order = rng.permutation(source.alphabet_size)
    return abs(eps(source, distortion) - eps(SourceSet(source.vertices[:, order]), distortion))


@claim(instance=_relabeling, tolerance=1e-8, share=0.5)
def remark_1(sample: Sample) -> Finding:
    tied = [eps(SourceSet(row), 0.3) for row in ([0.4, 0.4, 0.2], [0.4, 0.2, 0.4], [0.2, 0.4, 0.4])]
    return holds(
        sample, named={"(.4, .4, .2) in all orders": max(tied) - min(tied)}, tolerance=1e-8, of="Class II sets"
    )


@claim()
def example_1_single() -> Finding:
    classes = {"Table I": table_1().source_class, "uniform, M = 3": SourceSet(np.full(3, 1 / 3)).source_class}
    answers = {f"{name} is Class II": (True, kind == "II") for name, kind in classes.items()}
    return corrected(yes(answers), yes({"Table I is Class II": (True, classes["Table I"] == "II")}))


def _segment(rng: np.random.Generator) -> float:
    return float(random_set(rng, "II", vertices=(2, 2)).source_class != "II")


@claim(instance=_segment, tolerance=0.0)
def example_1_segment(sample: Sample) -> Finding:
    named = {
        "Table II": float(load_source_set("P_II_10").source_class != "II"),
        "(.4, .4, .2) to (1, 0, 0)": float(SourceSet([[0.4, 0.4, 0.2], [1.0, 0.0, 0.0]]).source_class != "II"),
    }
    return holds(sample, named=named, tolerance=0.0, of="pairs of ordered distributions")


def _average_distortion(rng: np.random.Generator) -> float:
    source = random_set(rng, "III")
    matrix = random_channel(rng, source.alphabet_size)
    joint = source.vertices[:, :, np.newaxis] * matrix
    off = ~np.eye(source.alphabet_size, dtype=bool)
    return abs(float(joint[:, off].sum(axis=1).max()) - source.worst_case_distortion(matrix))


@claim(instance=_average_distortion, tolerance=1e-12)
def average_distortion(sample: Sample) -> Finding:
    identity = SourceSet([0.5, 0.5]).worst_case_distortion(np.eye(2))
    return holds(
        sample, named={"identity": identity}, tolerance=1e-12, of="sets and channels, by the joint distribution"
    )


def _merging(rng: np.random.Generator) -> float:
    source = random_set(rng, "III")
    size = source.alphabet_size
    extra = int(rng.integers(1, 4))
    wide = random_channel(rng, size, size + extra)
    merged = wide[:, :size].copy()
    for column in range(extra):
        merged[:, int(rng.integers(size))] += wide[:, size + column]
    farther = float((source.vertices @ (np.diagonal(wide) - np.diagonal(merged))).max())
    return max(math.log(largest_ratio(merged) / largest_ratio(wide)), farther)


@claim(instance=_merging, tolerance=1e-12)
def lemma_3(sample: Sample) -> Finding:
    wide = np.array([[0.4, 0.2, 0.4], [0.2, 0.6, 0.2]])
    change = math.log(largest_ratio(wide[:, :2] + wide[:, 2:] * [1, 0]) / largest_ratio(wide))
    return holds(sample, named={"2 x 3 channel": change}, tolerance=1e-12, of="channels with 1 to 3 more outputs")


def _events(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 5))
    matrix = random_channel(rng, size)
    events = [list(e) for k in range(1, size + 1) for e in itertools.combinations(range(size), k)]
    largest = max(
        float(matrix[i, event].sum() / matrix[j, event].sum())
        for event in events
        for i, j in itertools.permutations(range(size), 2)
    )
    return abs(largest - largest_ratio(matrix)) / largest


@claim(instance=_events, tolerance=1e-12, share=0.5)
def definition_3(sample: Sample) -> Finding:
    matrix = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    event = float(matrix[0, :2].sum() / matrix[1, :2].sum())
    named = {"rows (.6, .3, .1), (.2, .3, .5): event of outputs 1 and 2": event - largest_ratio(matrix)}
    return holds(sample, named=named, tolerance=1e-12, of="channels, all events against single outputs")


def _two_sources(rng: np.random.Generator) -> float:
    matrix = Mechanism(random_channel(rng, 3))
    one, two = (random_set(rng, "III", letters=(3, 3)) for _ in range(2))
    notion = DifferentialPrivacy()
    return abs(notion.leakage(matrix, one) - notion.leakage(matrix, two))


@claim(instance=_two_sources, tolerance=0.0, share=0.5)
def remark_2(sample: Sample) -> Finding:
    notion, matrix = DifferentialPrivacy(), Mechanism([[0.75, 0.25], [0.25, 0.75]])
    losses = [notion.leakage(matrix, SourceSet(row)) for row in ([0.5, 0.5], [0.9, 0.1])]
    named = {"randomized response with uniform and with (9/10, 1/10)": abs(losses[0] - losses[1])}
    return holds(sample, named=named, tolerance=0.0, of="channels with two source sets each")


def _zero_columns(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 5))
    matrix = random_channel(rng, size)
    matrix[:, rng.random(size) < 0.3] = 0.0
    if rng.random() < 0.5:
        matrix[rng.integers(size), rng.integers(size)] = 0.0
    if (matrix.sum(axis=1) == 0).any():
        return math.nan
    matrix /= matrix.sum(axis=1, keepdims=True)
    leakage = DifferentialPrivacy().leakage(Mechanism(matrix), SourceSet(np.full(size, 1 / size)))
    pure = all((column > 0).all() or (column == 0).all() for column in matrix.T)
    used = int(matrix.any(axis=0).sum())
    return max(float(math.isfinite(leakage) != pure), -leakage, float(not 1 <= used <= size))


@claim(instance=_zero_columns, tolerance=1e-12)
def remark_3(sample: Sample) -> Finding:
    leakage = DifferentialPrivacy().leakage(Mechanism(np.eye(3)), as_floats(KNOWN))
    named = {"identity: infinite": float(math.isfinite(leakage))}
    return holds(sample, named=named, tolerance=1e-12, of="channels with zeros at random")


@claim()
def perfect_utility() -> Finding:
    certain, constant = prior("1 0"), channel("1 0; 1 0")
    best = optimal_mechanism(as_floats(certain), distortion=0.0)
    return above(
        f"P = (1, 0), D = 0: the constant answer has distortion {worst_distortion([certain], constant)} and ratio "
        f"{ratio(constant)}, and changes letter 2 with probability",
        claimed=0,
        actual=float(1 - constant[1][1]),
        leakage=best.leakage,
    )


@claim()
def lemma_1_convex() -> Finding:
    one, two = channel("1/5 4/5; 1/10 9/10"), channel("3/5 2/5; 1/10 9/10")
    middle = tuple(tuple((a + b) / 2 for a, b in zip(x, y, strict=True)) for x, y in zip(one, two, strict=True))
    ends = [math.log(ratio(one)), math.log(ratio(two))]
    here = math.log(ratio(middle))
    name = f"ratios {ratio(one)} and {ratio(two)}, half way {ratio(middle)}"
    return corrected(
        {f"{name}: excess over the mean leakage": (0.0, max(0.0, here - sum(ends) / 2))},
        {f"{name}: excess over the larger leakage": (0.0, max(0.0, here - max(ends)))},
    )


def _quasi_convex(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    one, two = random_channel(rng, size), random_channel(rng, size)
    share = float(rng.uniform(0, 1))
    return math.log(largest_ratio(share * one + (1 - share) * two) / max(largest_ratio(one), largest_ratio(two)))


@claim(instance=_quasi_convex, tolerance=1e-12)
def lemma_1(sample: Sample) -> Finding:
    flat, sharp = np.full((2, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    named = {"a constant answer and ratio 9": math.log(largest_ratio((flat + sharp) / 2) / largest_ratio(sharp))}
    return holds(sample, named=named, tolerance=1e-12, of="mixtures of two channels")


def _attained(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])))
    best = optimal_mechanism(source, distortion=float(rng.uniform(0.01, 1.0)))
    return 1.0 if not 0 <= best.leakage < math.inf else best.gap


@claim(instance=_attained, tolerance=1e-9)
def definition_4(sample: Sample) -> Finding:
    best = [optimal_mechanism(SourceSet(rows), distortion=1e-6) for rows in ([[1, 0]], [[0.5, 0.5, 0]], np.eye(2))]
    named = {f"{one.source.vertices.tolist()}, D = 1e-6": one.gap for one in best}
    return holds(sample, named=named, tolerance=1e-9, of="sets of all classes, gap of the certificate")


def _monotone(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])))
    one, two = sorted(rng.uniform(0.01, 1.0, size=2))
    return eps(source, float(two)) - eps(source, float(one))


@claim(instance=_monotone, tolerance=1e-8, share=0.5)
def decreasing(sample: Sample) -> Finding:
    here, there = (eps(as_floats(KNOWN), d) for d in (0.55, 0.6))
    return corrected(
        yes({"(1/2, 3/10, 1/5): less at D = 0.6 than at D = 0.55": (True, there < here)}),
        yes({"(1/2, 3/10, 1/5): not more at D = 0.6 than at D = 0.55": (True, there <= here)}),
        sample,
    )


def _inverse(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["II", "III"])))
    leakage = float(rng.uniform(0.05, 4.0))
    return eps(source, float(distortion_curve(source, leakage)) + 1e-12) - leakage


@claim(instance=_inverse, tolerance=1e-7, share=0.5)
def inverse_problem(sample: Sample) -> Finding:
    """Loose: at most eps; less where the curve jumps over eps."""
    source = as_floats(KNOWN)
    there = float(distortion_curve(source, math.log(1.5)))
    inside = float(distortion_curve(source, math.log(2.2)))
    return loose(
        {
            "(1/2, 3/10, 1/5), exp eps = 11/5: eps*(D*), eps": (eps(source, inside), math.log(2.2)),
            "exp eps = 3/2, inside the jump from 5/3 to 1": (eps(source, there), math.log(1.5)),
        },
        sample,
        tolerance=1e-7,
    )
