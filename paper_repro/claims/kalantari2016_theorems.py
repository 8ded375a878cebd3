"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections III to V, theorems and first lemmas."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import apart, channel, prior, ratio, response, worst_distortion
from paper_repro.claims.kalantari2016 import (
    BINARY_NAME,
    KNOWN,
    KNOWN_NAME,
    ON_TWO,
    SIX,
    SIX_NAME,
    SOLVED,
    STRICT,
    TWO,
    any_set,
    certified,
    failures,
    invariant_budget,
    log_ratio,
    lower_bounds,
    ordered_budget,
    ordered_set,
    some_channel,
    source_of,
    symmetrized,
)
from paper_repro.claims.kalantari_tools import eps
from paper_repro.notions import DifferentialPrivacy
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2016 as isit
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism

# Section III


@claim()
def equation_5_conjecture() -> Finding:
    best = certified(KNOWN, "9/20", ON_TWO)
    name = "(1/2, 3/10, 1/5) at D = 9/20: exp of the leakage of Q_D, against the best, response on two letters"
    return above(name, best, float(ratio(response(3, "9/20"))))


def _response_violation(rng: np.random.Generator) -> float:
    source = any_set(rng)
    size, budget = source.alphabet_size, rng.uniform(0.01, 0.99) * (1 - 1 / source.alphabet_size)
    matrix = isit.equation_5(size, budget)
    distortion = source.vertices @ (1 - np.diagonal(matrix))
    return max(float(abs(distortion - budget).max()), abs(log_ratio(matrix) - isit.theorem_1(size, budget)))


@claim(instance=_response_violation)
def equation_5_scheme(sample: Sample) -> Finding:
    exact = ratio(response(6, "1/100")) - 495
    return holds(sample, named={"six letters, D = 1/100, exp 495": abs(float(exact))}, of="source sets")


@claim()
def section_3_tightness() -> Finding:
    best = certified(TWO, "3/10", channel("1 0; 1 0"))
    name = "(7/10, 3/10) at D = 2/5: exp of the leakage of Q_D, against that of a one-letter answer, of distortion 3/10"
    return above(name, best, float(ratio(response(2, "2/5"))))


def _uniform_answer_violation(rng: np.random.Generator) -> float:
    source = any_set(rng)
    size = source.alphabet_size
    distortion = source.worst_case_distortion(np.full((size, size), 1 / size))
    return max(distortion - (1 - 1 / size), eps(source, min(1.0, 1 - 1 / size + 1e-9)))


@claim(instance=_uniform_answer_violation)
def section_3_uniform_answer(sample: Sample) -> Finding:
    corners = SourceSet(np.eye(4)).worst_case_distortion(np.full((4, 4), 0.25)) - 0.75
    return holds(sample, named={"four corners": corners}, of="source sets")


def _theorem_1_violation(rng: np.random.Generator) -> float:
    source, budget = invariant_budget(rng)
    return apart(isit.theorem_1(source.alphabet_size, budget), eps(source, budget))


@claim(instance=_theorem_1_violation, tolerance=1e-8)
def theorem_1(sample: Sample) -> Finding:
    cases = {
        "two corners at D = 0, infinite": ("1 0; 0 1", 0.0),
        "two corners at D = 1/4": ("1 0; 0 1", 0.25),
        "the uniform distribution on 3 alone at D = 2/3 - 0.001": ("1/3 1/3 1/3", 2 / 3 - 0.001),
    }
    named = {
        name: apart(isit.theorem_1(source_of(vertices).alphabet_size, budget), eps(source_of(vertices), budget))
        for name, (vertices, budget) in cases.items()
    }
    uniform = certified("1/3 1/3 1/3", "3/5", response(3, "3/5"))
    named["the same at D = 3/5, in fractions, exp 4/3"] = abs(math.log(uniform) - isit.theorem_1(3, 0.6))
    return holds(sample, named=named, tolerance=1e-8, of="permutation-invariant hulls")


def _theorem_1_zero_violation(rng: np.random.Generator) -> float:
    source, _ = invariant_budget(rng)
    end = 1 - 1 / source.alphabet_size
    budget = end + rng.random() * (1 - end)
    return max(eps(source, budget), isit.theorem_1(source.alphabet_size, budget))


@claim(instance=_theorem_1_zero_violation, tolerance=1e-8)
def theorem_1_zero(sample: Sample) -> Finding:
    named = {"two corners at D = 1/2": eps(SourceSet(np.eye(2)), 0.5)}
    named |= {"one letter at D = 0": eps(SourceSet([1.0]), 0.0), "two corners at D = 1": isit.theorem_1(2, 1.0)}
    return holds(sample, named=named, tolerance=1e-8, of="permutation-invariant hulls")


def _thresholds_violation(rng: np.random.Generator) -> float:
    """Rising, at most (M - 1) / M, and the mass that k letters lose at least: by brute force over the letters published."""
    source = ordered_set(rng)
    thresholds, size = isit.equation_7(source), source.alphabet_size
    worst = max(float((-np.diff(thresholds)).max()), thresholds[-1] - (1 - 1 / size))
    for k, threshold in enumerate(thresholds):
        lost = (
            source.vertices[:, list(letters)].sum(axis=1).max() for letters in itertools.combinations(range(size), k)
        )
        worst = max(worst, abs(threshold - min(lost)))
    return float(worst)


@claim(instance=_thresholds_violation)
def equation_7(sample: Sample) -> Finding:
    cases: dict[str, list[float]] = {
        KNOWN: [0, 0.2, 0.5],
        "3/5 2/5 0": [0, 0, 0.4],
        "1/3 1/3 1/3": [0, 1 / 3, 2 / 3],
        "1": [0],
    }
    named = {
        f"({known.replace(' ', ', ')})": float(np.abs(isit.equation_7(source_of(known)) - expected).max())
        for known, expected in cases.items()
    }
    return holds(sample, named=named, of="ordered sets")


def _upper_violation(rng: np.random.Generator) -> float:
    """Of the bound, and of its mended form, which is smaller and exact for a known distribution."""
    source, budget = ordered_budget(rng)
    truth = eps(source, budget)
    printed, whole = isit.equation_11(source, budget), isit.equation_11(source, budget, "corrected")
    return max(truth - whole, whole - printed, abs(truth - whole) if source.vertex_count == 1 else 0.0)


@claim(instance=_upper_violation, tolerance=SOLVED)
def theorem_2_upper(sample: Sample) -> Finding:
    known = source_of(KNOWN)
    truth, unused = certified(KNOWN, "9/20", ON_TWO, math.inf), channel("3/4 1/4 0; 1/4 3/4 0; 1/4 3/4 0")
    bounds = {"(1/2, 3/10, 1/5) at D = 9/20, exp": (truth, math.exp(isit.equation_11(known, 0.45)))}
    spent = float(worst_distortion([prior(KNOWN)], unused))
    bounds["there, distortion of the mechanism behind l = 1, and D"] = (spent, 0.45)
    return loose(bounds, sample, tolerance=SOLVED)


def _lower_violation(rng: np.random.Generator) -> float:
    """Of the bound without D_i <= 1, of the bound, and of its mended form, which is exact."""
    source, budget = ordered_budget(rng)
    truth = eps(source, budget)
    literal, printed, ordered = (isit.equation_12(source, budget, it) for it in ("literal", "printed", "corrected"))
    return max(literal - truth, printed - truth, apart(ordered, truth))


@claim(instance=_lower_violation, tolerance=SOLVED)
def theorem_2_lower(sample: Sample) -> Finding:
    six = source_of(SIX)
    literal = isit.equation_12(six, 0.11, "literal")
    bounds = lower_bounds("printed")
    bounds["exp for the same at D = 11/100, without D_i <= 1"] = (math.exp(literal), math.exp(eps(six, 0.11)))
    return loose(bounds, sample, tolerance=SOLVED)


@claim()
def theorem_2_range() -> Finding:
    name, truth = "M = 3, k = 2, D = 3/5: exp of (8)", float(ratio(channel("1 0 0; 1 0 0; 1 0 0")))
    left = Fraction(3, 5) - Fraction(1, 2)  # D^(2) of (1/2, 3/10, 1/5)
    printed = float((3 - 1 - 2) * (1 - left) / left)
    return corrected({name: (printed, truth)}, {name: (math.exp(isit.equation_26(3, 0.1, 2, "corrected")), truth)})


def theorem_3_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    budget = rng.uniform(0.02, 0.999) * isit.equation_7(source)[1]
    if budget == 0:
        return math.nan
    truth, symmetric = eps(source, budget), isit.theorem_3(source, budget)
    return max(apart(truth, symmetric), apart(isit.equation_11(source, budget), symmetric))


@claim(instance=theorem_3_violation, tolerance=1e-8)
def theorem_3(sample: Sample) -> Finding:
    cases = {BINARY_NAME: (TWO, "1/5"), "(1/2, 1/4, 1/4) at D = 1/5": ("1/2 1/4 1/4", "1/5"), SIX_NAME: (SIX, "1/100")}
    named = {}
    for name, (known, budget) in cases.items():
        truth = certified(known, budget, response(len(known.split()), budget))
        named[name] = abs(math.log(truth) - isit.theorem_3(source_of(known), float(Fraction(budget))))
    return holds(sample, named=named, tolerance=1e-8, of="ordered sets")


def _theorem_3_lower_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    budget = rng.uniform(0.02, 0.999) * isit.equation_7(source)[1]
    if budget == 0:
        return math.nan
    return apart(isit.equation_12(source, budget, "corrected"), isit.theorem_3(source, budget))


@claim(instance=_theorem_3_lower_violation, tolerance=SOLVED)
def theorem_3_lower(sample: Sample) -> Finding:
    return corrected(lower_bounds("printed"), lower_bounds("corrected"), sample, tolerance=SOLVED)


def _theorem_3_zero_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    end = isit.lemma_5(source)
    budget = end + rng.choice([0.0, rng.random()]) * (1 - end)
    bounds = isit.theorem_2(source, budget)
    return max(eps(source, budget), abs(bounds.lower), abs(bounds.upper))


@claim(instance=_theorem_3_zero_violation, tolerance=1e-8)
def theorem_3_zero(sample: Sample) -> Finding:
    sources = {
        "(1, 0) at D = 0": ("1 0", 0.0),
        "one letter at D = 0": ("1", 0.0),
        "(1/2, 1/4, 1/4) at D = 1/2": ("1/2 1/4 1/4", 0.5),
    }
    named = {name: eps(source_of(known), budget) for name, (known, budget) in sources.items()}
    return holds(sample, named=named, tolerance=1e-8, of="ordered sets")


def _extent_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    floor = isit.equation_7(source)[1]
    if floor == 0:
        return math.nan
    return abs(float(exact_curve(source).breakpoints[0]) - (source.alphabet_size - 1) * floor)


@claim(instance=_extent_violation, tolerance=1e-8)
def theorem_3_extent(sample: Sample) -> Finding:
    exact = certified(KNOWN, "3/10", response(3, "3/10")), certified(SIX, "1/10", response(6, "1/10"))
    bounds = {
        f"{name}: D^(1) and the true end": (
            float(isit.equation_7(source)[1]),
            float(exact_curve(source).breakpoints[0]),
        )
        for name, source in (
            ("(1/2, 3/10, 1/5), certified at 3/10", source_of(KNOWN)),
            ("(0.7, 0.15, 0.06, 0.04, 0.03, 0.02), certified at 1/10", source_of(SIX)),
        )
    }
    bounds |= {"(7/10, 3/10): D^(1) and the true end": (0.3, float(exact_curve(source_of(TWO)).breakpoints[0]))}
    if math.isnan(sum(exact)):
        bounds["certificates"] = (1.0, 0.0)
    return loose(bounds, sample, tolerance=1e-8)


def _theorem_4_violation(rng: np.random.Generator, zero: bool = False) -> float:
    source = ordered_set(rng)
    size, end = source.alphabet_size, 1 - 1 / source.alphabet_size
    source = SourceSet(np.vstack([source.vertices, np.full(size, 1 / size)]))
    budget = end + rng.random() * (1 - end) if zero else rng.uniform(0.02, 0.98) * end
    return apart(eps(source, budget), isit.theorem_4(size, budget))


@claim(instance=_theorem_4_violation, tolerance=1e-8)
def theorem_4(sample: Sample) -> Finding:
    pair = certified("1/2 1/2; 1 0", "2/5", response(2, "2/5"))
    named = {"{(1/2, 1/2), (1, 0)} at D = 2/5": abs(math.log(pair) - isit.theorem_4(2, 0.4))}
    named["the uniform distribution on 3 alone at D = 0, infinite"] = apart(
        isit.theorem_4(3, 0.0), eps(source_of("1/3 1/3 1/3"), 0.0)
    )
    return holds(sample, named=named, tolerance=1e-8, of="ordered sets with the uniform distribution")


@claim(instance=partial(_theorem_4_violation, zero=True), tolerance=1e-8)
def theorem_4_zero(sample: Sample) -> Finding:
    pair = source_of("1/2 1/2; 1 0")
    return holds(
        sample,
        named={"{(1/2, 1/2), (1, 0)} at D = 1/2": eps(pair, 0.5)},
        tolerance=1e-8,
        of="ordered sets with the uniform distribution",
    )


# Section IV


def _lemma_2_violation(rng: np.random.Generator) -> float:
    """The average over all permutations of any mechanism is no worse, and has two different entries."""
    source, _ = invariant_budget(rng)
    matrix = random_channel(rng, source.alphabet_size)
    average = symmetrized(matrix)
    more = source.worst_case_distortion(average) - source.worst_case_distortion(matrix)
    unequal = float(abs(average - isit.equation_14(matrix)).max())
    return max(log_ratio(average) - log_ratio(matrix), more, unequal)


@claim(instance=_lemma_2_violation)
def lemma_2(sample: Sample) -> Finding:
    matrix = np.array([[0.9, 0.1], [0.4, 0.6]])
    return holds(
        sample, named={"two letters": log_ratio(symmetrized(matrix)) - log_ratio(matrix)}, of="invariant hulls"
    )


@claim(instance=lambda rng: float(abs(isit.equation_15(some_channel(rng), "corrected").sum(axis=1) - 1).max()))
def lemma_2_equation_15(sample: Sample) -> Finding:
    name, given = "M = 3, a = 1/5, all other entries 1/10: Q''(2|1)", isit.equation_5(3, 0.2)
    printed, mended = (float(isit.equation_15(given, it)[0, 1]) for it in ("printed", "corrected"))
    return corrected({name: (printed, 0.1)}, {name: (mended, 0.1)}, sample)


@claim()
def lemma_2_leakage() -> Finding:
    name, truth = "M = 3, a = 1/5", DifferentialPrivacy().leakage(isit.equation_5(3, 0.2))
    return corrected({name: (2 * 0.8 / 0.2, truth)}, {name: (math.log(2 * 0.8 / 0.2), truth)})


def _off_diagonal_violation(rng: np.random.Generator) -> float:
    """Of a matrix with equal diagonal entries and any others."""
    size = int(rng.integers(2, 6))
    a = float(rng.uniform(0.02, 0.98)) * (1 - 1 / size)
    matrix = np.diag(np.full(size, 1 - a))
    matrix[~np.eye(size, dtype=bool)] = (a * rng.dirichlet(np.ones(size - 1), size=size)).ravel()
    return isit.theorem_1(size, a) - log_ratio(matrix)


@claim(instance=_off_diagonal_violation)
def lemma_2_last_step(sample: Sample) -> Finding:
    uneven = channel("4/5 3/20 1/20; 1/10 4/5 1/10; 1/10 1/10 4/5")
    return holds(sample, named={"M = 3, a = 1/5": math.log(8) - math.log(ratio(uneven))}, of="matrices")


@claim()
def theorem_1_proof() -> Finding:
    twentieths = [Fraction(n, 20) for n in range(1, 20)]
    pairs = [((1 - a) / a, (1 - budget) / budget) for budget in twentieths for a in twentieths if a <= budget]
    strict, weak = failures(left > right for left, right in pairs), failures(left >= right for left, right in pairs)
    name = f"pairs a <= D in twentieths, of {len(pairs)}, that violate it; the first is a = D = 1/20"
    return corrected({name: (0.0, strict)}, {name: (0.0, weak)})


# Section V, lemmas


def _support_violation(rng: np.random.Generator) -> float:
    source, budget = ordered_budget(rng)
    matrix = optimal_mechanism(source, distortion=budget).mechanism.matrix
    return int((~matrix.any(axis=0)).sum()) - isit.lemma_3(source, budget)


@claim(instance=_support_violation)
def section_5_support(sample: Sample) -> Finding:
    bounds = {}
    for name, known in (("(7/10, 1/5, 1/10)", "7/10 1/5 1/10"), (KNOWN_NAME, KNOWN)):
        source = source_of(known)
        first = float(exact_curve(source).breakpoints[0])
        bounds[f"{name}: D^(1) and where the first letter goes"] = (float(isit.equation_7(source)[1]), first)
    return loose(bounds, sample)


def _columns_violation(rng: np.random.Generator) -> float:
    """The identity on the letters published has the least distortion; over all sets of k letters left out."""
    source = ordered_set(rng)
    k = int(rng.integers(1, source.alphabet_size))
    outside = itertools.combinations(range(source.alphabet_size), k)
    least = min(source.vertices[:, list(letters)].sum(axis=1).max() for letters in outside)
    return float(isit.equation_7(source)[k] - least)


@claim(instance=_columns_violation)
def lemma_3(sample: Sample) -> Finding:
    cases = {
        "(1/2, 3/10, 1/5) at D = 1/5": (KNOWN, 0.2, 1),
        "(1/2, 3/10, 1/5) at D = 0.19": (KNOWN, 0.19, 0),
        "(3/5, 2/5, 0) at D = 0": ("3/5 2/5 0", 0.0, 1),
        "(1/2, 1/4, 1/4) at D = 0.49": ("1/2 1/4 1/4", 0.49, 1),
    }
    named = {
        f"{name}: at most {most}": abs(isit.lemma_3(source_of(known), budget) - most)
        for name, (known, budget, most) in cases.items()
    }
    return holds(sample, named=named, of="ordered sets")


def _tail_violation(rng: np.random.Generator) -> float:
    source = ordered_set(rng)
    size, k = source.alphabet_size, int(rng.integers(1, source.alphabet_size))
    matrix = random_channel(rng, size) + 3 * np.eye(size)
    matrix[:, rng.permutation(size)[:k]] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    distortion = source.vertices @ (1 - np.diagonal(matrix))
    return float((source.vertices[:, size - k :].sum(axis=1) - distortion).max())


@claim(instance=_tail_violation)
def lemma_3_proof(sample: Sample) -> Finding:
    known = prior(KNOWN)
    maps = [chosen for chosen in itertools.product(range(3), repeat=3) if len(set(chosen)) < 3]
    spent = []
    for chosen in maps:
        matrix = tuple(tuple(Fraction(j == letter) for j in range(3)) for letter in chosen)
        spent.append((worst_distortion([known], matrix), sum(sorted(known)[: 3 - len(set(chosen))])))
    strict, weak = failures(found > tail for found, tail in spent), failures(found >= tail for found, tail in spent)
    name = f"{KNOWN_NAME}: deterministic maps, of {len(maps)}, that violate it; one is 1, 2, 3 to 1, 2, 2"
    return corrected({name: (0.0, strict)}, {name: (0.0, weak)}, sample)


def _ascending_violation(rng: np.random.Generator) -> float:
    source, budget = ordered_budget(rng)
    changed = rng.random(source.alphabet_size)
    more = float((source.vertices @ (np.sort(changed) - changed)).max())
    return max(more, apart(isit.equation_12(source, budget, "corrected"), eps(source, budget)))


@claim(instance=_ascending_violation, tolerance=SOLVED)
def lemma_4(sample: Sample) -> Finding:
    ordered = math.exp(isit.equation_12(source_of(KNOWN), 0.45, "corrected"))
    named = {f"{KNOWN_NAME} at D = 9/20, exp": abs(ordered - certified(KNOWN, "9/20", ON_TWO))}
    return holds(sample, named=named, tolerance=SOLVED, of="ordered sets")


def _zero_leakage_violation(rng: np.random.Generator) -> float:
    """From D^(M-1) on 0, by the answer 1; and every constant answer spends at least that much."""
    source = ordered_set(rng)
    end, answer = isit.lemma_5(source), rng.dirichlet(np.full(source.alphabet_size, 0.3))
    return max(eps(source, end), end - float((source.vertices @ (1 - answer)).max()))


@claim(instance=_zero_leakage_violation)
def lemma_5_if(sample: Sample) -> Finding:
    cases = {KNOWN: 0.5, "1 0": 0.0, "1/2 1/4 1/4": 0.5, "1/2 1/2; 3/4 1/4": 0.5}
    named = {
        f"({known.replace(' ', ', ').replace(';,', ') and (')}) at D = {end:g}": eps(source_of(known), end)
        for known, end in cases.items()
    }
    return holds(sample, named=named, of="ordered sets")


@claim(instance=lambda rng: STRICT - eps(source := ordered_set(rng), 0.999 * isit.lemma_5(source)), tolerance=0.0)
def lemma_5_only_if(sample: Sample) -> Finding:
    known = STRICT - eps(source_of(KNOWN), 0.4999)
    return holds(
        sample, named={f"{KNOWN_NAME} at D = 0.4999": known}, tolerance=0.0, of="ordered sets, D = 0.999 D^(M-1)"
    )
