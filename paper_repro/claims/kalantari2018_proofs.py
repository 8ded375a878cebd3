"""What Kalantari, Sankar and Sarwate state in their proofs (Section V) of Theorems 1 and 2, with the lemmas in them.

The proof of Theorem 3 is in ``kalantari2018_folding``. Numbers of the preprint of 2017 are given with those of 2018; where the
formulas of 2018 could not be read, those of the preprint are meant. ``Q(j|i)`` is the probability that letter i is published as
j. The coloring argument is in ``kalantari2018_coloring``.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import (
    KNOWN,
    SHORT,
    Channel,
    Prior,
    as_floats,
    channel,
    dot,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import eps, last_budget, output_sizes, symmetric, yes
from paper_repro.papers import kalantari2016, kalantari2018
from paper_repro.papers.coloring import largest_ratio
from paper_repro.papers.kalantari2018 import equation_32
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.types import FloatArray


def _ascending(rng: np.random.Generator, count: int) -> FloatArray:
    """Distortions in rising order with a sum below ``count - 1``."""
    changed = np.sort(rng.uniform(0.01, 1.0, size=count))
    return np.asarray(changed * min(1.0, float(rng.uniform(0.2, 0.99)) * (count - 1) / changed.sum()))


# Lemmas 1 and 4


def _mixture_bound(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 5))
    one, two = random_channel(rng, size), random_channel(rng, size)
    odds, share = max(largest_ratio(one), largest_ratio(two)), float(rng.random())
    mixed = share * one + (1 - share) * two
    return float((mixed[:, np.newaxis, :] - odds * mixed[np.newaxis, :, :]).max())


@claim(instance=_mixture_bound, tolerance=1e-12)
def equation_30(sample: Sample) -> Finding:
    same = response(2, "1/4")  # both mechanisms, and any mixture of them
    left, right = same[0][0], 3 * same[1][0]
    name = "both with rows (3/4, 1/4), (1/4, 3/4): mixture has Q(1|1)"
    return corrected(
        yes({f"{name} < 3 Q(1|2)": (True, left < right)}), yes({f"{name} <= 3 Q(1|2)": (True, left <= right)}), sample
    )


def _resorted(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    falling, changed = np.sort(rng.dirichlet(np.ones(size)))[::-1], rng.random(size)
    return float(falling @ np.sort(changed) - falling @ changed)


@claim(instance=_resorted, tolerance=1e-12)
def lemma_2_equation_27(sample: Sample) -> Finding:
    changed, order = prior("1/5 3/10 1/10"), (2, 0, 1)
    rising = tuple(changed[i] for i in order)
    inverse = tuple(order.index(i) for i in range(3))
    end = float(dot(KNOWN, changed))
    name = "P = (1/2, 3/10, 1/5), D = (1/5, 3/10, 1/10), T = (3, 1, 2): sum P_i D*_{}"
    return corrected(
        {name.format("T(i)"): (float(dot(KNOWN, tuple(rising[i] for i in order))), end)},
        {name.format("T^-1(i)"): (float(dot(KNOWN, tuple(rising[i] for i in inverse))), end)},
        sample,
    )


@claim(instance=_resorted, tolerance=1e-12)
def lemma_7_proof(sample: Sample) -> Finding:
    tied = np.array([0.4, 0.4, 0.2])
    change = float(tied @ np.array([0.1, 0.2, 0.3]) - tied @ np.array([0.2, 0.1, 0.3]))
    return holds(sample, named={"a tie, (2/5, 2/5, 1/5)": change}, tolerance=1e-12, of="priors and distortions")


# Theorem 1


def _pairs_above(matrix: Channel, factor: Fraction) -> int:
    size = len(matrix)
    return sum(matrix[i][j] > factor * matrix[j][j] for i, j in itertools.permutations(range(size), 2))


def _off_diagonal(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    matrix = random_channel(rng, size)
    odds = largest_ratio(matrix) * 1.001
    return float((np.diagonal(matrix) / odds - matrix).max())


@claim(instance=_off_diagonal, tolerance=0.0)
def equation_33_first(sample: Sample) -> Finding:
    matrix, odds = response(2, "1/3"), Fraction(3)
    name = "M = 2, Q_D for D = 1/4 (ratio 3), Q = Q_D for D = 1/3 (ratio 2): {} of 2 pairs are above {} Q(j|j)"
    few, all_pairs = _pairs_above(matrix, odds), _pairs_above(matrix, 1 / odds)
    return corrected(
        {name.format("at least 1", "3"): (1.0, float(few))},
        {name.format("all", "1/3"): (2.0, float(all_pairs))},
        sample,
    )


def _sums(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 8))
    distortion, changed = float(rng.uniform(0.05, 0.95)) * (size - 1) / size, rng.random(size)
    odds = (size - 1) * (1 - distortion) / distortion
    lines = [
        sum(1 - changed[j] + (size - 1 - (changed.sum() - changed[j])) / odds for j in range(size)),
        size - changed.sum() + size * (size - 1) / odds - (size - 1) / odds * changed.sum(),
        ((size - 1) / odds + 1) * (size - changed.sum()),
        (size - changed.sum()) / (1 - distortion),
    ]
    return float(np.ptp(lines))


@claim(instance=_sums, tolerance=1e-10)
def equation_33_sums(sample: Sample) -> Finding:
    changed, odds = prior("1/10 1/5 1/2"), Fraction(6)  # D = 1/4
    start = sum((1 - d + (2 - (sum(changed) - d)) / odds for d in changed), Fraction(0))
    end = (3 - sum(changed)) / (1 - Fraction(1, 4))
    return holds(
        sample, named={"D_j = (1/10, 1/5, 1/2), D = 1/4": float(abs(start - end))}, tolerance=1e-10, of="M, D and D_j"
    )


def _more_distortion(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    matrix = random_channel(rng, size)
    return size * (size - 1) / (largest_ratio(matrix) + size - 1) - float(size - np.trace(matrix))


@claim(instance=_more_distortion, tolerance=1e-12)
def equation_34(sample: Sample) -> Finding:
    named = {}
    for name, matrix in (
        ("Q_D, M = 3, D = 1/4: equality", response(3, "1/4")),
        ("(52) for (5/16, 5/16), k = 1", SHORT),
    ):
        bound = 6 / (Fraction(ratio(matrix)) + 2)
        named[name] = float(bound - (3 - sum(matrix[i][i] for i in range(3))))
    return holds(sample, named=named, tolerance=1e-12, of="channels")


# Theorem 2: thresholds


@claim()
def output_size() -> Finding:
    """Loose: at least M-k+1, which is M less the k-1 of the same sentence."""
    found = {}
    for name, source, distortion, columns in (
        ("(1/2, 3/10, 1/5), D = 1/10 < D^(1)", as_floats(KNOWN), 0.1, 1),
        ("Table I, D = 0.08 < D^(3)", load_source_set("P_II_6"), 0.08, 3),
    ):
        size = source.alphabet_size
        below = distortion < kalantari2018.distortion_thresholds(source)[columns]
        least = size - kalantari2016.lemma_3(source, distortion)
        found[f"{name}: M-k, least size"] = (float(size - columns), float(least) if below else -math.inf)
    return loose(found)


def _perfect(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    return abs(last_budget(source) - kalantari2018.lemma_4(source))


@claim(instance=_perfect, tolerance=1e-9)
def lemma_7(sample: Sample) -> Finding:
    source = as_floats(KNOWN)
    named = {
        "(1/2, 3/10, 1/5), D = 1/2": eps(source, 0.5),
        "the same, D = 1/2 - 1e-9: more than log 5/3 less 1e-6": math.log(5 / 3) - 1e-6 - eps(source, 0.5 - 1e-9),
        "(1, 0): D^(M-1) = 0": max(kalantari2018.lemma_4(SourceSet([1, 0])), eps(SourceSet([1, 0]), 0.0)),
    }
    return holds(sample, named=named, tolerance=1e-9, of="Class II sets, first distortion without leakage")


@claim()
def lemma_6_support() -> Finding:
    sizes = output_sizes(np.array([[0.5, 0.3, 0.2]]), 0.1)
    name = "(1/2, 3/10, 1/5), D = 1/10 < D^(1), k = 1: {} size of the output of a valid mechanism"
    return corrected(
        {name.format("largest"): (2.0, float(max(sizes)))}, {name.format("least"): (2.0 + 1, float(min(sizes)))}
    )


def _least_support(rng: np.random.Generator) -> float:
    source = random_set(rng, "II")
    size, columns = source.alphabet_size, int(rng.integers(1, source.alphabet_size + 1))
    threshold = float(kalantari2018.distortion_thresholds(source)[columns])
    if threshold <= 1e-6:
        return math.nan
    return size - columns + 1.0 - min(output_sizes(source.vertices, threshold * float(rng.uniform(0, 1 - 1e-6))))


@claim(instance=_least_support, tolerance=0.0)
def lemma_8(sample: Sample) -> Finding:
    named = {
        "(1/2, 3/10, 1/5), D = 0.499 < D^(2)": 2.0 - min(output_sizes(np.array([[0.5, 0.3, 0.2]]), 0.499)),
        "k = M: no output without letters": 1.0 - min(output_sizes(np.array([[0.5, 0.3, 0.2]]), 0.999)),
    }
    return holds(sample, named=named, tolerance=0.0, of="Class II sets, all choices of suppressed letters")


@claim()
def lemma_8_proof() -> Finding:
    changed = worst_distortion([KNOWN], channel("1 0 0; 0 1 0; 0 1 0"))
    tail = KNOWN[-1]
    name = "(1/2, 3/10, 1/5), letter 3 published as 2, the others as they are: distortion"
    return corrected(yes({f"{name} > 1/5": (True, changed > tail)}), yes({f"{name} >= 1/5": (True, changed >= tail)}))


# Theorem 2: the program, and achievability


def _above_1(rng: np.random.Generator) -> float:
    count = int(rng.integers(2, 6))
    changed = rng.uniform(0.01, 1.0, size=count)
    left = count - 1 - float(changed.sum())
    odds = (count - 1 - float(changed[1:].sum())) / float(changed[0])
    return float((odds >= 1) != (left >= 0)) if abs(left) > 1e-9 else math.nan


@claim(instance=_above_1, tolerance=0.0)
def ratio_above_1(sample: Sample) -> Finding:
    changed = (Fraction(1), Fraction(1))
    odds = (1 - changed[1]) / changed[0]
    name = "M = 3, k = 1, D = (1, 1): ratio is at least 1, since sum D_i <= {}"
    return corrected(
        yes({name.format("M-1"): (sum(changed) <= 2, odds >= 1)}),
        yes({name.format("M-1-k"): (sum(changed) <= 1, odds >= 1)}),
        sample,
    )


@claim()
def validity() -> Finding:
    priors = [KNOWN, prior("7/10 29/100 1/100")]
    worst = worst_distortion(priors, SHORT)
    threshold = max(one[-1] for one in priors)
    kept = max(dot(one[:2], prior("5/16 5/16")) for one in priors)
    return above(
        f"{{(1/2, 3/10, 1/5), (7/10, 29/100, 1/100)}}, D_i = (5/16, 5/16, 1), k = 1, valid for D = {worst}: D - D^(1), and the "
        "largest P_1 D_1 + P_2 D_2",
        claimed=float(worst - threshold),
        actual=float(kept),
    )


def _rearranged(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 8))
    one, bounds = rng.random(size), np.sort(rng.random(size))
    other = one * rng.random(size)
    other[0] = one.sum() - other[1:].sum()
    return float(other @ bounds - one @ bounds)


@claim(instance=_rearranged, tolerance=1e-12)
def lemma_10(sample: Sample) -> Finding:
    one, other, bounds = prior("1/5 1/2 3/10"), prior("3/5 1/5 1/5"), prior("0 1/2 1")
    return holds(
        sample, named={"by hand, n = 3": float(dot(other, bounds) - dot(one, bounds))}, tolerance=1e-12, of="numbers"
    )


def _likely(rng: np.random.Generator) -> tuple[FloatArray, float] | None:
    """A falling distribution and a distortion of at most its last element."""
    row = random_set(rng, "II", vertices=(1, 1)).vertices[0]
    return None if row[-1] <= 1e-6 else (row, float(rng.uniform(0.01, 1.0)) * float(row[-1]))


def _mass_moved(rng: np.random.Generator) -> float:
    found = _likely(rng)
    if found is None:
        return math.nan
    row, distortion = found
    changed = np.sort(rng.random(len(row)))
    right = (1 - distortion) * changed[0] + distortion / (len(row) - 1) * changed[1:].sum()
    return float(right - row @ changed)


@claim(instance=_mass_moved, tolerance=1e-12)
def equation_49(sample: Sample) -> Finding:
    changed, distortion = prior("0 0 1/2"), Fraction(1, 10)
    left = dot(KNOWN, changed)
    right = (1 - distortion) * changed[0] + distortion / 2 * sum(changed[1:])
    name = "P* = (1/2, 3/10, 1/5), D = 1/10, D_i = (0, 0, 1/2): right side {} left side"
    return corrected(
        {name.format("=") + f" {left}": (float(right), float(left))},
        yes({name.format("<="): (True, right <= left)}),
        sample,
    )


def _conditions(rng: np.random.Generator) -> float:
    found = _likely(rng)
    if found is None:
        return math.nan
    row, distortion = found
    return float(max((distortion / (len(row) - 1) - row[1:]).max(), row[0] - (1 - distortion)))


@claim(instance=_conditions, tolerance=1e-12)
def equation_49_conditions(sample: Sample) -> Finding:
    named = {"(7/10, 3/10), D = 3/10": 0.7 - (1 - 0.3), "uniform, M = 3, D = 1/3": 1 / 6 - 1 / 3}
    return holds(sample, named=named, tolerance=1e-12, of="ordered distributions")


def _response(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 9))
    source = SourceSet(rng.dirichlet(np.ones(size)))
    distortion = float(rng.uniform(0.01, 0.99)) * (size - 1) / size
    matrix = kalantari2016.equation_5(size, distortion)
    off = abs(math.log(largest_ratio(matrix)) - symmetric(size, distortion))
    return max(off, abs(source.worst_case_distortion(matrix) - distortion))


@claim(instance=_response, tolerance=1e-9)
def equation_51(sample: Sample) -> Finding:
    matrix = response(3, "1/4")
    off = abs(worst_distortion([KNOWN], matrix) - Fraction(1, 4)) + abs(Fraction(ratio(matrix)) - 6)
    return holds(sample, named={"M = 3, D = 1/4: ratio 6": float(off)}, tolerance=1e-9, of="M, D and sources")


# Theorem 2: achievability


def _printed_52(changed: Prior, removed: int) -> list[list[Fraction]]:
    """Equation (52) to the letter: off-diagonal elements only for i, j < M-k."""
    count = len(changed)
    kept = [1 - d for d in changed]
    matrix = [[Fraction(0)] * (count + removed) for _ in range(count + removed)]
    for i in range(count):
        matrix[i][i] = kept[i]
        for j in range(count - 1):
            if i != j and i < count - 1:
                matrix[i][j] = changed[i] * kept[j] / (sum(kept) - kept[i])
    for i in range(count, count + removed):
        matrix[i] = list(matrix[count - 1])
    return matrix


def _rows_of_52(rng: np.random.Generator) -> float:
    changed, removed = _ascending(rng, int(rng.integers(2, 6))), int(rng.integers(0, 3))
    matrix = kalantari2018.equation_48(changed, removed)
    return max(float(np.abs(matrix.sum(axis=1) - 1).max()), -float(matrix.min()))


@claim(instance=_rows_of_52, tolerance=1e-12)
def equation_52(sample: Sample) -> Finding:
    printed = _printed_52(prior("1/4 1/4"), 1)
    mended = kalantari2018.equation_48([0.25, 0.25], 1)
    name = "M = 3, k = 1, D_i = (1/4, 1/4): sum of row {}"
    return corrected(
        {name.format(i + 1): (float(sum(row)), 1.0) for i, row in enumerate(printed)},
        {name.format(i + 1): (float(row.sum()), 1.0) for i, row in enumerate(mended)},
        sample,
    )


def _leakage_of_52(rng: np.random.Generator) -> float:
    changed, removed = _ascending(rng, int(rng.integers(2, 6))), int(rng.integers(0, 3))
    matrix = kalantari2018.equation_48(changed, removed)
    whole = np.append(changed, np.ones(removed))
    return abs(math.log(largest_ratio(matrix)) - equation_32(whole, removed))


@claim(instance=_leakage_of_52, tolerance=1e-8)
def equation_52_leakage(sample: Sample) -> Finding:
    named = {
        "D_i = (5/16, 5/16), k = 1: ratio 11/5": float(
            abs(Fraction(ratio(SHORT)) - (1 - Fraction(5, 16)) / Fraction(5, 16))
        )
    }
    return holds(sample, named=named, tolerance=1e-8, of="rising D_i and k")


@claim()
def equation_48_log() -> Finding:
    matrix = kalantari2018.equation_48([0.25, 0.25], 1)
    leakage = math.log(largest_ratio(matrix))
    name = "M = 3, k = 1, D_i = (1/4, 1/4): leakage"
    return corrected({name: ((1 - 0.25) / 0.25, leakage)}, {name: (equation_32([0.25, 0.25, 1.0], 1), leakage)})


def _largest_c(rng: np.random.Generator) -> float:
    changed = _ascending(rng, int(rng.integers(2, 6)))
    ratios = (len(changed) - 1 - (changed.sum() - changed)) / changed
    return float(abs(largest_ratio(kalantari2018.equation_48(changed)) / ratios[0] - 1))


@claim(instance=_largest_c, tolerance=1e-8)
def equation_53(sample: Sample) -> Finding:
    changed = prior("1/10 1/5 3/10")
    kept = tuple(1 - d for d in changed)
    matrix = tuple(
        tuple(kept[i] if i == j else changed[i] * kept[j] / (sum(kept) - kept[i]) for j in range(3)) for i in range(3)
    )
    ratios = [(2 - (sum(changed) - d)) / d for d in changed]
    one = matrix[2][0] / matrix[1][0]
    nearest = min(ratios, key=lambda c: abs(c - one))
    name = "D_i = (1/10, 1/5, 3/10), k = 0, c = (15, 8, 17/3)"
    return corrected(
        {f"{name}: nearest c_i to Q(1|3)/Q(1|2)": (float(nearest), float(one))},
        {f"{name}: largest ratio": (float(ratios[0]), float(ratio(matrix)))},
        sample,
    )


def _falling_c(rng: np.random.Generator) -> float:
    changed = _ascending(rng, int(rng.integers(2, 7)))
    ratios = (len(changed) - 1 - (changed.sum() - changed)) / changed
    return float((ratios - ratios[0]).max())


@claim(instance=_falling_c, tolerance=1e-9)
def equation_54(sample: Sample) -> Finding:
    changed = np.array([0.2, 0.8, 1.0])
    ratios = (2 - (changed.sum() - changed)) / changed
    named = {"D_i = (0.2, 0.8, 1), sum 2 = M-1-k: all c_i equal 1": float((ratios - ratios[0]).max())}
    return holds(sample, named=named, tolerance=1e-9, of="rising D_i")
