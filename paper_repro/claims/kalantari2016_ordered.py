"""What Kalantari, Sankar and Sarwate state (ISIT 2016), claim by claim: Sections V-A to VIII, proofs for ordered classes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, corrected, holds, refuted
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import apart, channel, prior, ratio, response, worst_distortion
from paper_repro.claims.kalantari2016 import (
    KNOWN,
    KNOWN_NAME,
    ON_TWO,
    SOLVED,
    STRICT,
    TWO,
    certified,
    claim,
    failures,
    log_ratio,
    ordered_budget,
    some_channel,
    source_of,
)
from paper_repro.claims.kalantari2016_theorems import theorem_3_violation
from paper_repro.claims.kalantari_tools import eps
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy
from paper_repro.papers import coloring
from paper_repro.papers import kalantari2016 as isit
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

_PAIR = "1/2 3/10 1/5; 7/10 29/100 1/100"


# Section V-A, critical pairs and colors


@claim(
    "Definition 9",
    "Section V-A",
    "In a critical pair the larger entry of a column is eps_DP(Q) times the smaller; every matrix has at least one such pair.",
    correction="exp(eps_DP(Q)) times; and if the leakage is finite, there is one.",
    instance=lambda rng: 1.0 - len(isit.definition_9(some_channel(rng), "corrected")),
)
def definition_9(sample: Sample) -> Finding:
    matrix, name = (response(2, "1/4"), "((3/4, 1/4), (1/4, 3/4)): ratio of a critical pair, found in its columns")
    leakage = DifferentialPrivacy().leakage(np.array(matrix, dtype=float))
    found = float(ratio(matrix))
    return corrected({name: (leakage, found)}, {name: (math.exp(leakage), found)}, sample)


@claim(
    "Definition 9, text",
    "Section V-A",
    "Critical pairs of different columns may have different values, though one ratio; and a column may have none.",
)
def definition_9_text() -> Finding:
    matrix = np.array([[0.5, 0.2, 0.3], [0.25, 0.4, 0.35], [0.4, 0.3, 0.3]])
    pairs = isit.definition_9(matrix, "corrected")
    values = {round(float(matrix[larger, column]), 9) for column, larger, _ in pairs}
    name = "((1/2, 1/5, 3/10), (1/4, 2/5, 7/20), (2/5, 3/10, 3/10))"
    columns = {column for column, _, _ in pairs}
    return holds(named={f"{name}: values {sorted(values)}": 2.0 - len(values), "its third column": float(2 in columns)})


@claim(
    "Changes that keep the leakage",
    "Section V-A",
    "Any change of a mechanism that neither raises a black entry (the larger of a critical pair) nor lowers a red one (the "
    "smaller) leaves the leakage at most as it was.",
    correction="True of small changes: white entries may move until they reach the ratio t.",
)
def section_5a_changes() -> Finding:
    before, after = (
        channel("1/2 1/4 1/4; 1/4 3/8 3/8; 1/4 3/8 3/8"),
        channel("1/2 49/100 1/100; 1/4 3/8 3/8; 1/4 3/8 3/8"),
    )
    painted = coloring.coloring(np.array(before, dtype=float))
    changed = [painted[i, j] for i, j in itertools.product(range(3), repeat=2) if before[i][j] != after[i][j]]
    found = float(ratio(after)) if changed == ["white"] * 2 else math.nan
    name = (
        "rows (1/2, 1/4, 1/4) and twice (1/4, 3/8, 3/8), the first made (1/2, 49/100, 1/100) by its white entries: exp"
    )
    return refuted(name, float(ratio(before)), found)


def _lowered_violation(rng: np.random.Generator) -> float:
    """A black entry lowered, or a red one raised, against another of its row: fewer nats, or another color."""
    matrix = isit.equation_25(4, 0.3, 0) if rng.random() < 0.3 else some_channel(rng)
    color, sign = [("black", -1), ("red", 1)][rng.integers(2)]
    i, j = rng.choice(np.argwhere(coloring.coloring(matrix) == color))
    other = rng.choice(np.delete(np.arange(len(matrix)), j))
    step = rng.uniform(0.1, 0.9) * (matrix[i, j] if sign < 0 else matrix[i, other])
    changed = matrix.copy()
    changed[i, [j, other]] += sign * step, -sign * step
    if log_ratio(changed) < log_ratio(matrix) - STRICT:
        return -1.0
    return float(coloring.coloring(changed)[i, j] == color)


@claim(
    "Remark 6",
    "Section V-A",
    "If a black entry is lowered or a red one raised, the rest of its column staying, then the leakage falls or the entry loses "
    "its color.",
    instance=_lowered_violation,
)
def remark_6(sample: Sample) -> Finding:
    painted = coloring.coloring(np.array([[0.6, 0.4], [0.25, 0.75]]))
    named = {"((3/4, 1/4), (1/4, 3/4)) with 3/4 made 3/5": float(painted[0, 0] == "black") - 1.0}
    lowered = log_ratio(np.array([[0.6, 0.4], [0.25, 0.75]])) - math.log(3)
    named["there, what the leakage rises by"] = lowered + STRICT if painted[0, 0] == "black" else 0.0
    return holds(sample, named=named, of="matrices")


@claim(
    "Figure 2",
    "Section V-A",
    "Colors of an optimal mechanism with four letters published: first row N R R R with a first entry N that is not black, "
    "second row R B R R, entries below the diagonal white.",
    correction="If the first diagonal entry is not black, the first column has no black entry, hence no red one: it is white "
    "below.",
)
def figure_2() -> Finding:
    # Four published and three suppressed letters; the third row is missing in the text at hand, and is taken to be as the fourth.
    drawn = ["NRRR", "RBRR", "WWBW", "WWWB", "WWWW", "WWWW", "WWWW"]
    columns = [
        number for number, column in enumerate(zip(*drawn, strict=True), 1) if "R" in column and "B" not in column
    ]
    name = "columns of the figure with a red entry and no black one, though each red is the smaller of a pair"
    return refuted(f"{name} (column {columns[0] if columns else 0})", 0.0, float(len(columns)))


@claim(
    "Figure 2, caption",
    "Section V-A",
    "The optimal mechanism with k all-zero columns has only white entries in the rows of the k letters that are suppressed.",
    correction="Some optimal mechanism has; the paper's own, (25), copies the last published row there.",
)
def figure_2_caption() -> Finding:
    copied = ON_TWO
    painted = coloring.coloring(np.array(copied, dtype=float))
    optimal = certified(KNOWN, "9/20", copied) == 2.2
    found = float((painted[2] == "black").sum() + (painted[2] == "red").sum()) if optimal else math.nan
    name = f"{KNOWN_NAME} at D = 9/20, k = 1, the optimum (11/16, 5/16), (5/16, 11/16), (5/16, 11/16): colored entries in row 3"
    return refuted(name, 0.0, found)


# Section V-A, Lemma 6


@claim(
    "Lemma 6, existence for k = 0",
    "Section V-A",
    "For an ordered class, 0 < D < D^(M-1) and every k from 0 to M - 1, some mechanism with exactly k all-zero columns attains "
    "the least leakage of those.",
    correction="For D^(k) < D there is an infimum, which may be attained with more all-zero columns only.",
)
def lemma_6() -> Finding:
    # 2 - D_2 - D_3 - t D_1 = 4 (9/20 - P.D) + (D_2 - D_1) / 5 + (1 - D_3) / 5 with t = 11/5: all that is left is not negative.
    known, t, fifth = prior(KNOWN), Fraction(11, 5), Fraction(1, 5)
    right = [-4 * known[0] - fifth, -4 * known[1] + fifth, -4 * known[2] - fifth]
    proven = 4 * Fraction(9, 20) + fifth == 2 and right == [-t, -1, -1]
    kept = Fraction(999, 1000)
    first = (Fraction(9, 20) - known[2] * kept) / (known[0] + known[1])
    reached = (2 - first - kept) / first
    infimum = certified(KNOWN, "9/20", ON_TWO)
    bound = float(t + (1 - kept) * fifth / Fraction(9, 10)) if proven else math.nan  # D_1 <= 9/20 / (1/2)
    name = (
        f"{KNOWN_NAME} at D = 9/20, k = 0: exp of the leakage is at least 11/5 + (1 - D_3) / (5 D_1), above the infimum 11/5 "
        "unless D_3 = 1; with D_3 = 0.999, at least"
    )
    return refuted(name, infimum, bound, **{"attained with D_3 = 0.999": float(reached)})


@claim(
    "Lemma 6, range of k",
    "Section V-A",
    "For an ordered class and 0 < D < D^(M-1) there are valid mechanisms with k all-zero columns for every k from 0 to M - 1, "
    "and (16) is their least leakage.",
    correction="Only for k with D^(k) <= D, so never for k = M - 1, where (16) is the logarithm of 0 / 0.",
)
def lemma_6_range() -> Finding:
    answers = (channel("; ".join([only] * 3)) for only in ("1 0 0", "0 1 0", "0 0 1"))
    one_letter = min(worst_distortion([prior(KNOWN)], answer) for answer in answers)
    name = f"{KNOWN_NAME} at D = 9/20, k = 2: distortion of the best mechanism that publishes one letter"
    return refuted(name, 0.45, float(one_letter))


def _least_distortion_on(vertices: FloatArray, ratio: float, count: int) -> float:
    """Least worst-case distortion of ratio t on the first letters alone: a program over all entries, low_j <= Q_ij <= t low_j."""
    from scipy.optimize import linprog

    size, worst = vertices.shape[1], (vertices.shape[1] + 1) * count
    entry = np.arange(size * count).reshape(size, count)
    bounds = np.zeros((2 * size * count, worst + 1))
    for at, (i, j) in enumerate(itertools.product(range(size), range(count))):
        low = size * count + j
        bounds[2 * at, [low, entry[i, j]]], bounds[2 * at + 1, [low, entry[i, j]]] = (1, -1), (-ratio, 1)
    spent = np.zeros((len(vertices), worst + 1))
    spent[:, np.diagonal(entry)], spent[:, worst] = -vertices[:, :count], -1
    sums = np.zeros((size, worst + 1))
    np.put_along_axis(sums, entry, 1.0, axis=1)
    found = linprog(
        np.append(np.zeros(worst), 1.0),
        A_ub=np.vstack([bounds, spent]),
        b_ub=np.append(np.zeros(len(bounds)), -np.ones(len(spent))),
        A_eq=sums,
        b_eq=np.ones(size),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(found.fun)


def _lemma_6_violation(rng: np.random.Generator) -> float:
    source, budget = ordered_budget(rng)
    columns = int(rng.integers(source.alphabet_size - 1))
    if budget - isit.equation_7(source)[columns] < 1e-3:
        return math.nan
    ratio = math.exp(isit.equation_9(source, budget, columns, "corrected"))
    if ratio > 1e3 or ratio < 1 + SOLVED:
        return math.nan
    return abs(_least_distortion_on(source.vertices, ratio, source.alphabet_size - columns) - budget)


@claim(
    "Lemma 6, (16), as an infimum",
    "Section V-A",
    "For an ordered class and D > D^(k), the least leakage of mechanisms that publish the M - k likeliest letters alone is the "
    "least value of log((M - 1 - k - sum_{i>=2} D_i) / D_1) over the valid D_1 <= D_2 <= ... <= D_{M-k} <= 1.",
    instance=_lemma_6_violation,
    tolerance=1e-7,
    share=0.5,
)
def lemma_6_value(sample: Sample) -> Finding:
    named = {}
    for columns in (0, 1):
        ratio = math.exp(isit.equation_9(source_of(KNOWN), 0.45, columns, "corrected"))
        least = _least_distortion_on(source_of(KNOWN).vertices, ratio, 3 - columns)
        named[f"{KNOWN_NAME} at D = 9/20 with k = {columns}, exp {ratio:.6g}"] = abs(least - 0.45)
    return holds(sample, named=named, tolerance=1e-7, of="ordered sets, against a linear program over all entries")


def _remark_7(matrix: FloatArray) -> bool:
    """Whether the rows of suppressed letters are white."""
    suppressed = coloring.coloring(matrix)[:, matrix.any(axis=0)][~matrix.any(axis=0)]
    return bool((suppressed == "white").all())


def _conclusion(matrix: FloatArray) -> bool:
    """Whether the row of the smallest ``D_i`` is red off the diagonal, and the other published letters' diagonals are black."""
    colors, first = coloring.coloring(matrix), int(np.argmax(np.diagonal(matrix)))
    others = np.delete(np.flatnonzero(matrix.any(axis=0)), np.flatnonzero(matrix.any(axis=0)) == first)
    return bool((colors[first, others] == "red").all() and (colors[others, others] == "black").all())


def _structure(test: Callable[[FloatArray], bool]) -> Callable[[np.random.Generator], float]:
    """Of the optimum of a random ordered set, or of a matrix of least leakage for random ascending D_i, some of them 1."""

    def violation(rng: np.random.Generator) -> float:
        if rng.random() < 0.5:
            count = int(rng.integers(2, 5))
            changed = np.sort(rng.uniform(0.02, 0.98, count))
            changed *= min(1.0, 0.95 * (count - 1) / changed.sum())
            return float(not test(Mechanism.from_distortions([*changed, *[1.0] * int(rng.integers(3))]).matrix))
        source, budget = ordered_budget(rng)
        best = optimal_mechanism(source, distortion=budget)
        return math.nan if best.leakage < STRICT else float(not test(best.mechanism.matrix))

    return violation


def _structure_holds(sample: Sample, test: Callable[[FloatArray], bool]) -> Finding:
    cases = {
        f"{KNOWN_NAME} at D = 3/10": np.array(response(3, "3/10"), dtype=float),
        f"{KNOWN_NAME} at D = 9/20": Mechanism.from_distortions([5 / 16, 5 / 16, 1]).matrix,
        "D_i = (1/10, 1/5, 3/10)": Mechanism.from_distortions([0.1, 0.2, 0.3]).matrix,
        "D_i = (1/10, 1/5, 1, 1)": Mechanism.from_distortions([0.1, 0.2, 1, 1]).matrix,
    }
    return holds(
        sample,
        named={name: float(not test(matrix)) for name, matrix in cases.items()},
        of="optima of ordered sets, and least leaky matrices for given D_i",
    )


@claim(
    "Lemma 6, Claim 1",
    "Section V-A",
    "In the published columns of an optimal mechanism no row is all black, and none all red.",
    instance=_structure(coloring.claim_1),
)
def lemma_6_claim_1(sample: Sample) -> Finding:
    return _structure_holds(sample, coloring.claim_1)


@claim(
    "Lemma 6, Claim 2",
    "Section V-A",
    "Where the optimum is attained, some optimal mechanism has off-diagonal entries of one color in each row of the published "
    "columns.",
    instance=_structure(coloring.claim_2),
)
def lemma_6_claim_2(sample: Sample) -> Finding:
    return _structure_holds(sample, coloring.claim_2)


@claim(
    "Lemma 6, Claim 2, proof",
    "Section V-A",
    "In the published columns every row has M - 1 - k off-diagonal entries.",
    correction="The rows of the k suppressed letters have M - k.",
)
def lemma_6_claim_2_proof() -> Finding:
    size, k = 3, 1
    suppressed = isit.equation_25(size, 0.25, k)[-1]
    name, truth = "M = 3, k = 1, row 3", float((suppressed > 0).sum())
    return corrected({name: (size - 1 - k, truth)}, {name: (size - k, truth)})


@claim(
    "Lemma 6, Claim 3",
    "Section V-A",
    "In some optimal mechanism, if the diagonal entry of a published letter is not black, all other entries of its row are red.",
    instance=_structure(coloring.claim_3),
)
def lemma_6_claim_3(sample: Sample) -> Finding:
    return _structure_holds(sample, coloring.claim_3)


@claim(
    "Lemma 6, Claim 3, proof",
    "Section V-A",
    "Raising a diagonal entry by delta and lowering each other published entry of its row by delta / (M - 1) gives a mechanism "
    "again.",
    correction="delta / (M - 1 - k): there are M - 1 - k others.",
)
def lemma_6_claim_3_proof() -> Finding:
    row, delta = prior("3/4 1/4 0"), Fraction(1, 10)
    printed, mended = (float(sum([row[0] + delta, row[1] - delta / others])) for others in (2, 1))
    name = "M = 3, k = 1, row (3/4, 1/4, 0), delta = 1/10: sum of the new row"
    return corrected({name: (printed, 1.0)}, {name: (mended, 1.0)})


@claim(
    "Lemma 6, Claim 4",
    "Section V-A",
    "In some optimal mechanism at most one diagonal entry of a published letter is not black.",
    instance=_structure(coloring.claim_4),
)
def lemma_6_claim_4(sample: Sample) -> Finding:
    return _structure_holds(sample, coloring.claim_4)


@claim(
    "Lemma 6, Claim 5",
    "Section V-A",
    "In some optimal mechanism a diagonal entry that is not black belongs to a letter with the smallest D_i.",
    instance=_structure(coloring.claim_5),
)
def lemma_6_claim_5(sample: Sample) -> Finding:
    return _structure_holds(sample, coloring.claim_5)


@claim(
    "Lemma 6, Claim 5, proof, (22)",
    "Section V-A",
    "From (19), Q(j|j) + Q(i|j) <= Q(i|i) + Q(j|i), it follows that Q(j|j) - Q(i|i) <= Q(i|j) - Q(j|i).",
    correction="<= Q(j|i) - Q(i|j); together with (20), Q(j|j) / Q(j|i) > Q(i|i) / Q(i|j), and Q(j|j) > Q(j|i) it excludes "
    "Q(j|j) > Q(i|i), as is to be shown.",
)
def lemma_6_claim_5_proof() -> Finding:
    given = [q for q in itertools.product(range(1, 8), repeat=4) if q[0] + q[2] <= q[1] + q[3]]
    printed = failures(jj - ii <= ij - ji for jj, ii, ij, ji in given)
    mended = failures(jj - ii <= ji - ij for jj, ii, ij, ji in given)
    excluded = failures(not (jj * ij > ii * ji and jj > ji and jj > ii) for jj, ii, ij, ji in given)
    step, end = (
        f"quadruples in tenths, of {len(given)} with (19), {what}" for what in ("violating it", "left in the end")
    )
    return corrected({step: (0.0, printed)}, {step: (0.0, mended), end: (0.0, excluded)})


@claim(
    "Remark 7",
    "Section V-A",
    "In a mechanism as in Claims 1 and 2, all entries in the rows of the suppressed letters are white.",
    instance=_structure(_remark_7),
)
def remark_7(sample: Sample) -> Finding:
    return _structure_holds(sample, _remark_7)


@claim(
    "Lemma 6, proof, end",
    "Section V-A",
    "For the smallest D_i, called D_1, the entries of row 1 off the diagonal are red and the other diagonal entries black, each "
    "exp(eps) times the red one of its column; summing row 1 gives (16). (The print has eps for exp(eps).)",
    instance=_structure(_conclusion),
)
def lemma_6_end(sample: Sample) -> Finding:
    return _structure_holds(sample, _conclusion)


@claim(
    "Lower bound, range of D",
    "Section V-A",
    "The lower bound with k as its largest number of all-zero columns is for D^(k) <= D <= D^(k-1).",
    correction="For D^(k) <= D < D^(k+1), as in (12): the thresholds rise with k.",
)
def section_5a_range() -> Finding:
    thresholds = isit.equation_7(source_of(KNOWN))
    name = f"{KNOWN_NAME}, k = 1: length of the range"
    printed, mended = float(thresholds[0] - thresholds[1]), float(thresholds[2] - thresholds[1])
    return corrected({name: (printed, 0.3)}, {name: (mended, 0.3)})


@claim(
    "Lower bound, valid D_i for one k",
    "Section V-A",
    "With the k last columns all-zero, D_1 ... D_M is valid if and only if sum_{i <= M-k} P_i D_i <= D - D^(k) for every P; so "
    "(9) for this k is their least leakage.",
    correction="Each P has its own tail: sum_{i <= M-k} P_i D_i + P_{M-k+1} + ... + P_M <= D. The minimum over k is not hurt, "
    "since k = 0 is a relaxation of all.",
)
def section_5a_valid() -> Finding:
    changed, priors = [Fraction(5, 16), Fraction(5, 16), Fraction(1)], channel(_PAIR)
    spent = [sum(p * d for p, d in zip(one, changed, strict=True)) for one in priors]
    left = Fraction(9, 20) - max(one[2] for one in priors)
    second = priors[1][0] * changed[0] + priors[1][1] * changed[1] if max(spent) <= Fraction(9, 20) else math.nan
    truth, program = certified(_PAIR, "9/20", ON_TWO), isit.equation_9(source_of(_PAIR), 0.45, 1)
    name = "{(1/2, 3/10, 1/5), (7/10, 29/100, 1/100)} at D = 9/20, k = 1, D_i = (5/16, 5/16, 1), valid: the sum for the second P"
    return refuted(
        name, float(left), float(second), **{"exp of (9) for k = 1": math.exp(program), "least for k = 1": truth}
    )


# Section V-B


def _two_letters_violation(rng: np.random.Generator) -> float:
    low, high = np.sort(rng.random(2)) / 2
    source = SourceSet([[1 - low, low], [1 - high, high]])
    return max(abs(isit.lemma_5(source) - high), eps(source, high), STRICT - eps(source, 0.99 * high))


@claim(
    "Two letters",
    "Section V-B",
    "For two letters and P_2 in [p, q] with q <= 1/2 the last threshold is D^(1) = q: nothing leaks from there on, and only "
    "there.",
    instance=_two_letters_violation,
)
def section_5b_two_letters(sample: Sample) -> Finding:
    just_below = eps(source_of("9/10 1/10; 7/10 3/10"), 0.2999)
    named = {"P_2 in [1/10, 3/10] at D = 3/10": eps(source_of("9/10 1/10; 7/10 3/10"), 0.3)}
    return holds(sample, named=named | {"there, at D = 0.2999": STRICT - just_below}, of="intervals")


@claim(
    "Singleton support",
    "Section V-B",
    "For D >= D^(M-1) the optimal mechanism publishes a single letter.",
    correction="An optimal one does; beyond D^(M-1) other constant answers are optimal too.",
)
def section_5b_singleton() -> Finding:
    constant = channel("3/4 1/4; 3/4 1/4")
    optimal = ratio(constant) == 1 and worst_distortion([prior(TWO)], constant) <= Fraction(2, 5)
    published = float(sum(any(column) for column in zip(*constant, strict=True))) if optimal else math.nan
    return refuted("(7/10, 3/10) at D = 2/5, the answer (3/4, 1/4) of leakage 0: letters published", 1.0, published)


def _staircases_violation(rng: np.random.Generator) -> float:
    source, budget = ordered_budget(rng)
    thresholds, size = isit.equation_7(source), source.alphabet_size
    spent = (
        source.worst_case_distortion(isit.equation_25(size, max(0.0, budget - thresholds[k]), k))
        for k in range(isit.lemma_3(source, budget) + 1)
    )
    return max(spent) - budget


@claim(
    "Equation (25)",
    "Section V-B",
    "For an ordered class and D^(k-1) <= D < D^(k), each Q^(l) with parameter D - D^(l), l < k (randomized response on the M - l "
    "likeliest letters), is valid; Q^(0) is Q_D.",
    instance=_staircases_violation,
)
def equation_25(sample: Sample) -> Finding:
    spent = worst_distortion([prior(KNOWN)], channel("3/4 1/4 0; 1/4 3/4 0; 1/4 3/4 0"))
    difference = float(abs(isit.equation_25(3, 0.3, 0) - np.array(response(3, "3/10"), dtype=float)).max())
    named = {
        f"{KNOWN_NAME} at D = 9/20 with l = 1, distortion {spent}": float(spent - Fraction(9, 20)),
        "l = 0": difference,
    }
    return holds(sample, named=named, of="ordered sets")


def _equation_26_violation(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 7))
    budget, k = float(rng.uniform(0.02, 0.98)), int(rng.integers(size))
    return apart(
        isit.equation_26(size, budget, k, "corrected"), DifferentialPrivacy().leakage(isit.equation_25(size, budget, k))
    )


@claim(
    "Equation (26)",
    "Section V-B",
    "For 0 <= D < D^(M-1) the mechanism Q_D^(k) leaks log((M - 1 - k)(1 - D) / D).",
    correction="The absolute value of that, for D beyond (M - 1 - k) / (M - k); and 0 for k = M - 1.",
    instance=_equation_26_violation,
)
def equation_26(sample: Sample) -> Finding:
    matrix = channel("9/20 11/20 0; 11/20 9/20 0; 11/20 9/20 0")
    allowed = isit.lemma_5(source_of("2/5 3/10 3/10")) > 0.55
    name, truth = (
        "(2/5, 3/10, 3/10) with D^(2) = 3/5, D = 11/20, k = 1",
        math.log(ratio(matrix)) if allowed else math.nan,
    )
    printed, mended = (isit.equation_26(3, 0.55, 1, reading) for reading in ("printed", "corrected"))
    return corrected({name: (printed, truth)}, {name: (mended, truth)}, sample)


# Sections VI to VIII


@claim(
    "First half of Theorem 3, the plan",
    "Section VI",
    "For an ordered class and D < D^(1) the lower bound (9) for k = 0 is at least log((M - 1)(1 - D) / D).",
    correction="With D_1 <= D_2 <= ... added to (9), as Lemma 8's proof has it, it is.",
)
def section_6_plan() -> Finding:
    first = Fraction(1, 5) / Fraction(7, 10)  # D_1 that spends the budget on letter 1, with D_2 = 0
    printed, truth = 1 / first, certified(TWO, "1/5", response(2, "1/5"))
    ordered = math.exp(isit.equation_9(source_of(TWO), 0.2, 0, "corrected"))
    name = "(7/10, 3/10) at D = 1/5, D_i = (2/7, 0): exp of the symmetric leakage, 4, less that of (9), at most 7/2"
    return refuted(name, 0.0, truth - float(printed), **{"exp of (9) with the order": ordered})


def _lemma_7_violation(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 7))
    first, b = rng.random(size), np.sort(rng.random(size))
    moved = rng.random(size - 1) * first[1:]
    moved *= min(1.0, (1 - first[0]) / moved.sum())
    return float(np.append(moved.sum(), -moved) @ b)


@claim(
    "Lemma 7",
    "Section VI",
    "For a_i, a'_i and b_1 <= b_2 <= ... in [0, 1] with equal sums of the a_i and the a'_i, a'_1 >= a_1 and a'_i <= a_i for i >= "
    "2: sum a'_i b_i <= sum a_i b_i.",
    instance=_lemma_7_violation,
)
def lemma_7(sample: Sample) -> Finding:
    pairs = {"ties in b": ("1/5 1/2 3/10", "3/5 2/5 0", "1/2 1/2 1/2"), "zeros": ("0 1/2 1/2", "1 0 0", "0 1/3 1")}
    named = {}
    for name, texts in pairs.items():
        a, moved, b = (prior(text) for text in texts)
        named[name] = float(sum((y - x) * z for x, y, z in zip(a, moved, b, strict=True)))
    return holds(sample, named=named, of="sequences")


@claim(
    "Lemma 8",
    "Section VI",
    "For an ordered class eps*(D) = log((M - 1)(1 - D) / D) for 0 <= D < D^(1).",
    instance=theorem_3_violation,
    tolerance=1e-8,
)
def lemma_8(sample: Sample) -> Finding:
    truth = certified(KNOWN, "19/100", response(3, "19/100"))
    named = {f"{KNOWN_NAME} at D = 19/100": abs(math.log(truth) - isit.theorem_1(3, 0.19))}
    named[f"{KNOWN_NAME} at D = 0 (infinite)"] = apart(eps(source_of(KNOWN), 0.0), isit.theorem_1(3, 0.0))
    return holds(sample, named=named, tolerance=1e-8, of="ordered sets")


def _lemma_8_step_violation(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 6))
    falling, changed = -np.sort(-rng.dirichlet(np.ones(size))), np.sort(rng.random(size))
    budget = rng.random() * (size - 1) * falling[-1]
    return float((1 - budget) * changed[0] + budget / (size - 1) * changed[1:].sum() - falling @ changed)


@claim(
    "Lemma 8, proof, (31) to (33)",
    "Section VI",
    "If P_i >= D / (M - 1) for i >= 2, so that P_1 <= 1 - D, and D_1 <= D_2 <= ..., then (1 - D) D_1 + D / (M - 1) sum_{i>=2} "
    "D_i <= sum_i P_i D_i. (D <= (M - 1) max_P P_M is enough, not only D <= D^(1).)",
    instance=_lemma_8_step_violation,
)
def lemma_8_proof(sample: Sample) -> Finding:
    known, changed, budget = prior(KNOWN), prior("0 0 1/2"), Fraction(1, 10)
    left = (1 - budget) * changed[0] + budget / 2 * (changed[1] + changed[2])
    right = sum(p * d for p, d in zip(known, changed, strict=True))
    name = f"{KNOWN_NAME}, D = 1/10, D_i = (0, 0, 1/2): {left} <= {right}"
    return holds(sample, named={name: float(left - right)}, of="distributions and D_i")


def _outperformed(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """A matrix and the D at which Q_D has its ratio; Q_D with less leaks more."""
    size = int(rng.integers(2, 6))
    matrix = random_channel(rng, size)
    if rng.random() < 0.5:  # near to the extreme
        changed = rng.uniform(0.3, 0.4) * rng.uniform(0.9, 1.1, size)
        matrix = Mechanism.from_distortions(changed).matrix
    return matrix, (size - 1) / (size - 1 + math.exp(log_ratio(matrix)))


def _outperforming_violation(rng: np.random.Generator) -> float:
    matrix, budget = _outperformed(rng)
    return len(matrix) * budget - float((1 - np.diagonal(matrix)).sum())


@claim(
    "Section VII, (34) and (41)",
    "Section VII",
    "A mechanism that leaks less than Q_D, 0 < D < (M - 1) / M, has sum_i D_i > M D, so it is not valid under the uniform "
    "distribution.",
    instance=_outperforming_violation,
)
def section_7_sum(sample: Sample) -> Finding:
    named = {
        "Q_D itself with M = 3 and D = 1/5 (limit)": 3 * 0.2 - float((1 - np.diagonal(isit.equation_5(3, 0.2))).sum())
    }
    better = channel("7/10 3/10; 3/10 7/10")
    named["((7/10, 3/10), (3/10, 7/10)) against D = 1/4"] = float(2 * Fraction(1, 4) - 2 * better[0][1]) + STRICT
    return holds(sample, named=named, of="mechanisms, against the D at which Q_D has their ratio")


def _floor_violation(rng: np.random.Generator) -> float:
    """Every entry is at least the diagonal one of its column over exp(eps(Q_D)), and (36) to (40) agree."""
    matrix, budget = _outperformed(rng)
    size, ratio = len(matrix), math.exp(log_ratio(matrix))
    kept = np.diagonal(matrix)
    columns = kept.sum() + sum(np.delete(kept, j).sum() / ratio for j in range(size))
    return max(float((kept / ratio - matrix).max()), abs(columns - kept.sum() / (1 - budget)))


@claim(
    "Section VII, (36)",
    "Section VII",
    "If Q leaks less than Q_D, every off-diagonal entry of a column in use is larger than its diagonal entry over eps_DP(Q_D).",
    correction="Over exp(eps_DP(Q_D)); the sums (36) to (40) then agree (with Q(j|j) for Q(i|i) in (36), which sums to the "
    "same).",
    instance=_floor_violation,
)
def section_7_floor(sample: Sample) -> Finding:
    better, symmetric = channel("7/10 3/10; 3/10 7/10"), response(2, "1/4")
    leakage = math.log(ratio(symmetric)) if ratio(better) < ratio(symmetric) else math.nan
    off = [(better[0][1], better[1][1]), (better[1][0], better[0][0])]
    printed, mended = (failures(entry > kept / over for entry, kept in off) for over in (leakage, math.exp(leakage)))
    name = "((7/10, 3/10), (3/10, 7/10)) against Q_D at D = 1/4, ratio 3: entries that violate it"
    return corrected({name: (0.0, printed)}, {name: (0.0, mended)}, sample)


@claim(
    "Conclusion",
    "Section VIII",
    "For both source classes eps*(D) = log((M - 1)(1 - D) / D) for D < D^(1), and 0 from D^(M-1) on.",
    correction="For ordered classes. For permutation-invariant ones the two ranges meet at (M - 1) / M, and (7) gives other "
    "numbers.",
)
def conclusion() -> Finding:
    corners = SourceSet(np.eye(2))
    threshold = float(corners.vertices[:, 1].max())  # (7), literally
    claimed = math.log(0.25 / 0.75) if threshold > 0.75 and isit.is_permutation_invariant(corners) else math.nan
    return refuted("{(1, 0), (0, 1)}, D^(1) = 1, at D = 3/4", claimed, eps(corners, 0.75))
