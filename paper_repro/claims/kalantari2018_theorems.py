"""What Kalantari, Sankar and Sarwate state in Section III (2018, and their preprint of 2017) up to Theorem 2, claim by claim.

``D^(k)`` is the largest mass, over the set, of the k least likely letters. "Ratio" is exp of a leakage. The proofs, Section V,
are in ``kalantari2018_proofs``.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import (
    KNOWN,
    SHORT,
    as_floats,
    certified_ratio,
    channel,
    least_distortion,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import (
    budget,
    eps,
    full_matrix_distortion,
    last_budget,
    least_ratio,
    symmetric,
    table_1,
)
from paper_repro.curves import distortion_curve, leakage_curve
from paper_repro.notions.exact_curves import exact_curve
from paper_repro.papers import kalantari2016, kalantari2018
from paper_repro.papers.readings import Reading
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism

PEAKED = prior("7/10 1/5 1/10")
TWO = prior("7/10 3/10")


@claim()
def low_utility() -> Finding:
    constant = channel("1 0; 1 0")
    optimum = certified_ratio([TWO], worst_distortion([TWO], constant), constant)
    return above(
        f"P = (7/10, 3/10), D = 2/5: a constant answer has distortion {worst_distortion([TWO], constant)} and ratio 1; ratio of "
        "Q_D",
        claimed=optimum,
        actual=float(ratio(response(2, "2/5"))),
        exact=eps(as_floats(TWO), 0.4),
    )


def _uniform_answer(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])))
    size = source.alphabet_size
    here = source.worst_case_distortion(np.full((size, size), 1 / size))
    return max(abs(here - (size - 1) / size), eps(source, float(rng.uniform((size - 1) / size, 1.0))))


@claim(instance=_uniform_answer, tolerance=1e-9)
def no_leakage(sample: Sample) -> Finding:
    named = {f"simplex, M = {size}, D = (M-1)/M": eps(SourceSet(np.eye(size)), (size - 1) / size) for size in (2, 3, 5)}
    return holds(sample, named=named, tolerance=1e-9, of="sets of all classes at D from (M-1)/M on")


def _hull(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])), vertices=(2, 3))
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    mixtures = rng.dirichlet(np.ones(source.vertex_count), size=2) @ source.vertices
    more = SourceSet(np.vstack([mixtures, source.vertices]))
    return abs(eps(source, distortion) - eps(more, distortion))


@claim(instance=_hull, tolerance=1e-8, share=0.5)
def lemma_2(sample: Sample) -> Finding:
    ends, more = SourceSet(np.eye(2)), SourceSet([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    named = {"{(1, 0), (0, 1)}, D = 1/4": abs(eps(ends, 0.25) - eps(more, 0.25))}
    return holds(sample, named=named, tolerance=1e-8, of="sets with two mixtures added")


def _ascending(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    return abs(math.log(least_ratio(source.vertices, distortion, ordered=True)) - eps(source, distortion))


@claim(instance=_ascending, tolerance=1e-8, share=0.7)
def lemma_4(sample: Sample) -> Finding:
    named = {
        f"Table I, D = {d}": abs(math.log(least_ratio(table_1().vertices, d, ordered=True)) - eps(table_1(), d))
        for d in (0.05, 0.2, 0.29)
    }
    return holds(sample, named=named, tolerance=1e-8, of="Class II sets, the order forced against the optimum")


def _theorem_1(rng: np.random.Generator) -> float:
    source = random_set(rng, "I")
    size = source.alphabet_size
    distortion = float(rng.uniform(0.01, 0.99)) * (size - 1) / size
    return abs(eps(source, distortion) - kalantari2018.theorem_1(size, distortion))


@claim(instance=_theorem_1, tolerance=1e-8)
def theorem_1_symmetric(sample: Sample) -> Finding:
    named = {}
    for name, rows, distortion in (
        ("{(1, 0), (0, 1)}, D = 1/10", np.eye(2), 0.1),
        ("uniform, M = 3, D = 0.6666", np.full((1, 3), 1 / 3), 0.6666),
        ("simplex, M = 6, D = 1e-6", np.eye(6), 1e-6),
    ):
        found = eps(SourceSet(rows), distortion)
        named[name] = abs(found - kalantari2018.theorem_1(rows.shape[1], distortion))
    named["D = 0: infinite"] = float(
        math.isfinite(kalantari2018.theorem_1(3, 0.0)) or math.isfinite(eps(SourceSet(np.eye(3)), 0))
    )
    source = SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]])
    odds = math.exp(kalantari2018.theorem_1(3, 0.4))
    named["three vertices, by a program over all 9 entries, D = 2/5"] = abs(full_matrix_distortion(source, odds) - 0.4)
    return holds(sample, named=named, tolerance=1e-8, of="Class I sets")


def _theorem_1_zero(rng: np.random.Generator) -> float:
    source = random_set(rng, "I")
    size = source.alphabet_size
    first = last_budget(source)
    return max(abs(first - (size - 1) / size), eps(source, float(rng.uniform((size - 1) / size, 1.0))))


@claim(instance=_theorem_1_zero, tolerance=1e-9)
def theorem_1_zero(sample: Sample) -> Finding:
    named = {
        "one letter": eps(SourceSet([1.0]), 0.0),
        "uniform, M = 4, D = 3/4": eps(SourceSet(np.full(4, 0.25)), 0.75),
        "the same, first such D": abs(last_budget(SourceSet(np.full(4, 0.25))) - 0.75),
    }
    return holds(sample, named=named, tolerance=1e-9, of="Class I sets")


def _diagonal_program(rng: np.random.Generator) -> float:
    source = random_set(rng, "II", letters=(2, 4), vertices=(1, 2))
    leakage = float(rng.uniform(0.1, 3.0))
    return abs(full_matrix_distortion(source, math.exp(leakage)) - float(distortion_curve(source, leakage)))


@claim(instance=_diagonal_program, tolerance=1e-8, share=0.5)
def theorem_2_dimension(sample: Sample) -> Finding:
    whole = full_matrix_distortion(table_1(), math.exp(2.0))
    named = {"Table I, 2 nats": abs(whole - float(distortion_curve(table_1(), 2.0)))}
    return holds(
        sample, named=named, tolerance=1e-8, of="Class II sets, a program over all elements against the diagonal one"
    )


def _theorem_2a(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    size = source.alphabet_size
    removed = int(rng.integers(1, size))
    choices = itertools.combinations(range(size), removed)
    least = min(float(source.vertices[:, list(letters)].sum(axis=1).max()) for letters in choices)
    return abs(least - float(kalantari2018.distortion_thresholds(source)[removed]))


@claim(instance=_theorem_2a, tolerance=1e-12)
def theorem_2a(sample: Sample) -> Finding:
    thresholds = kalantari2018.distortion_thresholds(table_1())
    named = {
        "k = M: D^(M) = 1, and M columns cannot be zero": abs(float(thresholds[-1]) - 1),
        "a tie and a zero, (2/5, 2/5, 1/5, 0), k = 1: D^(1) = 0": float(
            kalantari2018.distortion_thresholds(SourceSet([0.4, 0.4, 0.2, 0]))[1]
        ),
    }
    return holds(sample, named=named, tolerance=1e-12, of="Class II sets, all choices of k letters tried")


@claim()
def theorem_2_thresholds() -> Finding:
    source = as_floats(PEAKED)
    full = certified_ratio([PEAKED], "3/20", response(3, "3/20"))
    fewer = math.exp(kalantari2016.equation_9(source, 0.15, 1, "corrected"))
    return above(
        "P = (7/10, 1/5, 1/10), D = 3/20 > D^(1) = 1/10: least ratio with two letters published, against randomized response on "
        "all three, certified optimal",
        claimed=full,
        actual=fewer,
        D1=float(kalantari2018.distortion_thresholds(source)[1]),
        first_breakpoint=float(exact_curve(source).breakpoints[0]),
    )


def _low_distortion(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    first = float(kalantari2018.distortion_thresholds(source)[1])
    if first <= 1e-6:
        return math.nan
    distortion = first * float(rng.uniform(0.01, 1.0))
    return abs(eps(source, distortion) - kalantari2018.theorem_2(source, distortion))


@claim(instance=_low_distortion, tolerance=1e-8)
def theorem_2b_symmetric(sample: Sample) -> Finding:
    named = {
        name: abs(eps(source, d) - kalantari2018.theorem_2(source, d))
        for name, source, d in (
            ("Table I, D = 0.01", table_1(), 0.01),
            ("Table II, D = 0.019", load_source_set("P_II_10"), 0.019),
            ("(7/10, 3/10), D = 0.29", as_floats(TWO), 0.29),
        )
    }
    return holds(sample, named=named, tolerance=1e-8, of="Class II sets below D^(1)")


def _symmetric_end(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    size = source.alphabet_size
    end = (size - 1) * float(source.vertices[:, -1].max())
    if end <= 1e-6 or end >= last_budget(source):
        return math.nan
    return abs(eps(source, end * (1 - 1e-9)) - symmetric(size, end))


@claim(instance=_symmetric_end, tolerance=1e-6, share=0.5)
def theorem_2b_range(sample: Sample) -> Finding:
    found = {}
    for name, source in (
        ("Table I", table_1()),
        ("(1/2, 3/10, 1/5)", as_floats(KNOWN)),
        ("(7/10, 3/10)", as_floats(TWO)),
    ):
        printed = float(kalantari2018.distortion_thresholds(source)[1])
        found[f"{name}: D^(1), end of the range (M-1) D^(1)"] = (printed, float(exact_curve(source).breakpoints[0]))
    at_end = certified_ratio([prior("7/10 3/20 3/50 1/25 3/100 1/50")], "1/10", response(6, "1/10"))
    found["Table I, D = 1/10: ratio of the symmetric mechanism, certified"] = (
        at_end if at_end == 45 else math.inf,
        45.0,
    )
    return loose(found, sample, tolerance=1e-9)


def _theorem_2(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    return abs(eps(source, distortion) - kalantari2018.theorem_2(source, distortion, "corrected"))


def _theorem_2_pairs(reading: Reading) -> dict[str, tuple[float, float]]:
    small, two = as_floats(PEAKED), as_floats(TWO)
    return {
        "Table I, D = 0.05": (kalantari2018.theorem_2(table_1(), 0.05, reading), eps(table_1(), 0.05)),
        "Table I, D = 0.2": (kalantari2018.theorem_2(table_1(), 0.2, reading), eps(table_1(), 0.2)),
        "(7/10, 1/5, 1/10), D = 3/20, as ratio": (
            math.exp(kalantari2018.theorem_2(small, 0.15, reading)),
            certified_ratio([PEAKED], "3/20", response(3, "3/20")),
        ),
        "(7/10, 3/10), D = 1/5, k = 0, as ratio": (
            math.exp(kalantari2018.equation_10(two, 0.2, 0, reading)),
            certified_ratio([TWO], "1/5", response(2, "1/5")),
        ),
    }


@claim(instance=_theorem_2, tolerance=1e-7, share=0.5)
def theorem_2b_program(sample: Sample) -> Finding:
    return corrected(_theorem_2_pairs("printed"), _theorem_2_pairs("corrected"), sample, tolerance=1e-8)


@claim()
def theorem_2b_literal() -> Finding:
    return corrected(_theorem_2_pairs("literal"), _theorem_2_pairs("corrected"), tolerance=1e-8)


def _one_program(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    return abs(eps(source, distortion) - kalantari2018.equation_10(source, distortion, 0, "corrected"))


@claim(instance=_one_program, tolerance=1e-7, share=0.7)
def theorem_2b_minimum(sample: Sample) -> Finding:
    """Loose: with the order, l = 0 alone gives the minimum."""
    counts = {}
    for distortion in (0.05, 0.2, 0.29):
        most = kalantari2016.lemma_3(table_1(), distortion)
        exact = eps(table_1(), distortion)
        values = [kalantari2018.equation_10(table_1(), distortion, k, "corrected") for k in range(most + 1)]
        needed = next(n for n in range(1, most + 2) if abs(min(values[:n]) - exact) < 1e-8)
        counts[f"Table I, D = {distortion}: programs needed, printed"] = (float(needed), most + 1.0)
    return loose(counts, sample)


def _exactly_k(rng: np.random.Generator) -> float:
    from paper_repro.papers.coloring import optimal_with_suppressed

    source = random_set(rng, "II", letters=(3, 4))
    removed = int(rng.integers(0, source.alphabet_size - 1))
    distortion = budget(rng, source)
    if distortion == 0 or distortion < float(kalantari2018.distortion_thresholds(source)[removed]) * (1 + 1e-6) + 1e-6:
        return math.nan
    exact = optimal_with_suppressed(source, distortion, removed).leakage
    return abs(exact - kalantari2016.equation_9(source, distortion, removed, "corrected"))


@claim(instance=_exactly_k, tolerance=1e-6, share=0.5)
def theorem_2b_one_k(sample: Sample) -> Finding:
    priors = [KNOWN, prior("7/10 29/100 1/100")]
    source, exact = as_floats(*priors), certified_ratio(priors, "9/20", SHORT)
    name = "{(1/2, 3/10, 1/5), (7/10, 29/100, 1/100)}, D = 9/20, k = 1, as ratio"
    return corrected(
        {name: (math.exp(kalantari2018.equation_10(source, 0.45, 1, "corrected")), exact)},
        {name: (math.exp(kalantari2016.equation_9(source, 0.45, 1, "corrected")), exact)},
        sample,
        tolerance=1e-7,
    )


def _theorem_2_zero(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    return eps(source, float(rng.uniform(kalantari2018.lemma_4(source), 1.0)))


@claim(instance=_theorem_2_zero, tolerance=1e-9)
def theorem_2b_zero(sample: Sample) -> Finding:
    sources = {
        "Table I": table_1(),
        "Table II": load_source_set("P_II_10"),
        "(1, 0)": SourceSet([1, 0]),
        "(1/3, 1/3, 1/3, 0)": SourceSet([1 / 3, 1 / 3, 1 / 3, 0]),
    }
    named = {f"{name} at D^(M-1)": eps(source, kalantari2018.lemma_4(source)) for name, source in sources.items()}
    return holds(sample, named=named, tolerance=1e-9, of="Class II sets from D^(M-1) on")


@claim()
def theorem_2b_misprint() -> Finding:
    exact = eps(table_1(), 0.01)
    everywhere = min(kalantari2018.equation_10(table_1(), 0.01, k) for k in range(5))
    return corrected(
        {"Table I, D = 0.01, second case": (everywhere, exact)},
        {"Table I, D = 0.01, first case": (kalantari2018.theorem_2(table_1(), 0.01), exact)},
    )


@claim()
def section_6_strict() -> Finding:
    rare = prior("1/2 1/2 0")
    short = channel("99/100 1/100 0; 1/100 99/100 0; 1/2 1/2 0")
    return above(
        "P = (1/2, 1/2, 0), D = 1/100: ratio of randomized response on all three letters, against that on two, certified "
        "optimal; the factor 2 stays as D falls",
        claimed=certified_ratio([rare], "1/100", short),
        actual=float(ratio(response(3, "1/100"))),
        least_distortion_of_ratio_99=float(least_distortion(rare, Fraction(99))),
    )


def _at_first(source: SourceSet, distortion: float, factor: float) -> float:
    """0 if the program with D_1 fixed at its optimum gives the optimum; beside it, how far it falls below."""
    best = optimal_mechanism(source, distortion=distortion)
    first = factor * float(1 - np.diagonal(best.mechanism.matrix)[0])
    fixed = np.eye(source.alphabet_size)[0]
    odds = least_ratio(source.vertices, distortion, [(fixed, first), (-fixed, -first)], ordered=True)
    return abs(math.log(odds) - best.leakage) if factor == 1 else best.leakage - math.log(odds)


def _fixed_first(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    return max(_at_first(source, distortion, factor) for factor in (1.0, float(rng.uniform(0.8, 1.2))))


@claim(instance=_fixed_first, tolerance=1e-7, share=0.3)
def linear_programs(sample: Sample) -> Finding:
    named = {f"Table I, D = {d}, D_1 of the optimum": _at_first(table_1(), d, 1.0) for d in (0.05, 0.2)}
    return holds(sample, named=named, tolerance=1e-7, of="Class II sets, D_1 at and beside that of the optimum")


@claim()
def class_3_characterized() -> Finding:
    from paper_repro.papers.folding import Folding
    from paper_repro.papers.kalantari2018 import theorem_3

    source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2]])
    bounds = theorem_3(Folding(source), 0.4, "largest")
    return above(
        "hull of (3/5, 3/10, 1/10) and (3/10, 1/2, 1/5), D = 2/5: upper less lower bound of Theorem 3, in nats",
        claimed=0,
        actual=bounds.upper - bounds.lower,
        lower=bounds.lower,
        exact=float(leakage_curve(source, 0.4)),
        upper=bounds.upper,
    )
