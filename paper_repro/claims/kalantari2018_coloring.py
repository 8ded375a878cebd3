"""What Kalantari, Sankar and Sarwate state in their coloring argument (Section V-F): critical pairs, Lemma 9 and its five claims.

Two elements of a column whose ratio is the largest of the matrix are a *critical pair*; the larger is black, the smaller red, and
all other elements of columns that are not zero are white. Numbers of the preprint of 2017 are given with those of 2018.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import KNOWN, SHORT, as_floats, certified_ratio, channel, prior, ratio
from paper_repro.claims.kalantari_tools import budget, least_ratio, output_sizes, yes
from paper_repro.mechanisms import Mechanism
from paper_repro.papers import coloring, kalantari2018
from paper_repro.papers.coloring import largest_ratio
from paper_repro.papers.kalantari2018 import equation_32
from paper_repro.sources import load_source_set
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

# Theorem 2: critical pairs and colors


def _critical(rng: np.random.Generator) -> float:
    return 1.0 - len(coloring.critical_pairs(random_channel(rng, int(rng.integers(2, 6)))))


@claim(instance=_critical, tolerance=0.0)
def definition_7(sample: Sample) -> Finding:
    identity = np.eye(2)
    with np.errstate(invalid="ignore"):
        larger, smaller = identity[:, np.newaxis], math.inf * identity[np.newaxis]
    found = int((larger == smaller).sum())
    finite = len(coloring.critical_pairs([[0.75, 0.25], [0.5, 0.5]]))
    return corrected(
        {"critical pairs of the identity, at least": (1.0, float(found))},
        {"critical pairs of rows (3/4, 1/4), (1/2, 1/2), at least": (1.0, float(min(finite, 1)))},
        sample,
    )


def _column_ratios(rng: np.random.Generator) -> float:
    matrix = random_channel(rng, int(rng.integers(2, 6)))
    pairs = coloring.critical_pairs(matrix)
    ratios = [matrix[one, column] / matrix[two, column] for column, one, two in pairs]
    odds = largest_ratio(matrix)
    columns = matrix.max(axis=0) / matrix.min(axis=0)
    return float(max(columns.max() / odds - 1, *(abs(one / odds - 1) for one in ratios)))


@claim(instance=_column_ratios, tolerance=1e-8)
def definition_7_ratios(sample: Sample) -> Finding:
    columns = {column for column, _, _ in coloring.critical_pairs([[0.75, 0.25], [0.5, 0.5]])}
    named = {"rows (3/4, 1/4), (1/2, 1/2): columns with a critical pair, less one": float(len(columns) - 1)}
    return holds(sample, named=named, tolerance=1e-8, of="channels")


def _lower_a_black_element(rng: np.random.Generator) -> float:
    matrix = random_channel(rng, int(rng.integers(2, 6)))
    column, one, two = coloring.critical_pairs(matrix)[0]
    other = (column + int(rng.integers(1, len(matrix)))) % len(matrix)
    changed = matrix.copy()
    if rng.random() < 0.5:
        step, row, color = -float(rng.uniform(0.01, 0.5)) * matrix[one, column], one, "black"
    else:
        step, row, color = float(rng.uniform(0.01, 0.5)) * matrix[two, other], two, "red"
    changed[row, column] += step
    changed[row, other] -= step
    before, after = largest_ratio(matrix), largest_ratio(changed)
    if after < before * (1 - 1e-9) or after < 1 + 1e-9:
        return 0.0
    return float(coloring.coloring(changed)[row, column] == color)


@claim(instance=_lower_a_black_element, tolerance=0.0)
def remark_7(sample: Sample) -> Finding:
    before, after = channel("3/4 1/4; 1/4 3/4"), channel("2/3 1/3; 1/4 3/4")
    color = str(coloring.coloring(np.array(after, dtype=float))[0, 0])
    fell = ratio(after) < ratio(before)
    named = {f"3/4 lowered to 2/3 beside 1/4: {color}": float(color == "black" and not fell)}
    return holds(sample, named=named, tolerance=0.0, of="changes of one element of a pair, made up for in its row")


@claim()
def manipulations() -> Finding:
    before, after = (
        channel("1/2 1/4 1/4; 1/4 3/8 3/8; 1/4 3/8 3/8"),
        channel("1/2 49/100 1/100; 1/4 3/8 3/8; 1/4 3/8 3/8"),
    )
    colors = coloring.coloring(np.array(before, dtype=float))[0, 1:]
    return above(
        f"row (1/2, 1/4, 1/4) over two rows (1/4, 3/8, 3/8), its last two elements {' and '.join(colors)}, changed to 49/100 "
        "and 1/100: ratio before and after",
        claimed=float(ratio(before)),
        actual=float(ratio(after)),
    )


# Theorem 2: Lemma 9 and its claims


@claim()
def lemma_9_attained() -> Finding:
    """2 - D_2 - D_3 - (11/5) D_1 = 4 (9/20 - P.D) + (D_2 - D_1)/5 + (1 - D_3)/5: ratio 11/5 takes D_3 = 1."""
    infimum = certified_ratio([KNOWN], "9/20", SHORT)
    vertices, third = np.array([[0.5, 0.3, 0.2]]), (0, 0, 1)
    ratios = [least_ratio(vertices, 0.45, [(third, 1 - kept)]) for kept in (0.1, 0.01, 0.001)]
    attained = coloring.optimal_with_suppressed(as_floats(KNOWN), 0.45, 0).attained
    return above(
        "(1/2, 3/10, 1/5), D = 9/20, k = 0: infimum of the ratio, certified with letter 3 suppressed; least ratio if letter 3 "
        f"is kept with a probability of 1/1000 or more (1/10: {ratios[0]:.6g}, 1/100: {ratios[1]:.6g})",
        claimed=infimum,
        actual=ratios[2],
        attained=float(attained),
    )


@claim()
def lemma_9_range() -> Finding:
    sizes = output_sizes(np.array([[0.5, 0.3, 0.2]]), 0.1)
    valid = int((kalantari2018.distortion_thresholds(as_floats(KNOWN))[:-2] <= 0.1).sum())
    name = "(1/2, 3/10, 1/5), D = 1/10: numbers k for which there are valid mechanisms"
    return corrected({name: (3.0, float(len(sizes)))}, {name: (float(valid), float(len(sizes)))})


def _optimum(rng: np.random.Generator) -> tuple[FloatArray, float] | None:
    """An optimal mechanism of a Class II set that leaks, and its leakage."""
    source = random_set(rng, "II")
    distortion = budget(rng, source)
    if distortion == 0:
        return None
    best = optimal_mechanism(source, distortion=distortion)
    return (best.mechanism.matrix, best.leakage) if best.leakage > 1e-6 else None


def _formula(rng: np.random.Generator) -> float:
    found = _optimum(rng)
    if found is None:
        return math.nan
    matrix, leakage = found
    changed = np.sort(1 - np.diagonal(matrix))
    return abs(equation_32(changed, int((changed > 1 - 1e-12).sum())) - leakage)


@claim(instance=_formula, tolerance=1e-8)
def equation_36(sample: Sample) -> Finding:
    named = {}
    for distortion in (0.05, 0.2, 0.29):
        best = optimal_mechanism(load_source_set("P_II_6"), distortion=distortion)
        changed = 1 - np.diagonal(best.mechanism.matrix)
        named[f"Table I, D = {distortion}"] = abs(equation_32(changed, int((changed > 1 - 1e-12).sum())) - best.leakage)
    return holds(sample, named=named, tolerance=1e-8, of="optima of Class II sets")


def _any_channel(rng: np.random.Generator) -> float:
    matrix = random_channel(rng, int(rng.integers(2, 6)))
    if rng.random() < 0.5:  # ties, so that more pairs are critical
        matrix = np.round(matrix * 4) + 1
        matrix /= matrix.sum(axis=1, keepdims=True)
    return float(largest_ratio(matrix) > 1 + 1e-6 and not coloring.claim_1(matrix))


@claim(instance=_any_channel, tolerance=0.0)
def claim_1(sample: Sample) -> Finding:
    named = {"equation (52) for (5/16, 5/16), k = 1": float(not coloring.claim_1(np.array(SHORT, dtype=float)))}
    return holds(sample, named=named, tolerance=0.0, of="channels, optimal or not")


def _structure(rng: np.random.Generator, which: Callable[[FloatArray], bool]) -> float:
    found = _optimum(rng)
    return math.nan if found is None else float(not which(found[0]))


def _on_table_1(which: Callable[[FloatArray], bool]) -> dict[str, float]:
    source = load_source_set("P_II_6")
    return {
        f"Table I, D = {distortion}": float(
            not which(optimal_mechanism(source, distortion=distortion).mechanism.matrix)
        )
        for distortion in (0.05, 0.2, 0.29)
    }


@claim(instance=lambda rng: _structure(rng, coloring.claim_2), tolerance=0.0, share=0.5)
def claim_2(sample: Sample) -> Finding:
    return holds(sample, named=_on_table_1(coloring.claim_2), tolerance=0.0, of="optima of Class II sets")


@claim(instance=lambda rng: _structure(rng, coloring.claim_3), tolerance=0.0, share=0.5)
def claim_3(sample: Sample) -> Finding:
    return holds(sample, named=_on_table_1(coloring.claim_3), tolerance=0.0, of="optima of Class II sets")


@claim(instance=lambda rng: _structure(rng, coloring.claim_4), tolerance=0.0, share=0.5)
def claim_4(sample: Sample) -> Finding:
    return holds(sample, named=_on_table_1(coloring.claim_4), tolerance=0.0, of="optima of Class II sets")


@claim(instance=lambda rng: _structure(rng, coloring.claim_5), tolerance=0.0, share=0.5)
def claim_5(sample: Sample) -> Finding:
    return holds(sample, named=_on_table_1(coloring.claim_5), tolerance=0.0, of="optima of Class II sets")


def _suppressed_rows(matrix: FloatArray) -> bool:
    """Whether no row of a suppressed letter has a black or red element."""
    colors = coloring.coloring(matrix)[np.diagonal(matrix) == 0]
    return not ((colors == "black") | (colors == "red")).any()


@claim(instance=lambda rng: _structure(rng, _suppressed_rows), tolerance=0.0, share=0.5)
def remark_9(sample: Sample) -> Finding:
    return holds(
        sample, named=_on_table_1(_suppressed_rows), tolerance=0.0, of="optima of Class II sets that meet the claims"
    )


@claim()
def figure_8_caption() -> Finding:
    odds = certified_ratio([KNOWN], "9/20", SHORT)
    colors = coloring.coloring(np.array(SHORT, dtype=float))
    off = int((colors[~np.eye(3, dtype=bool)] == "black").sum())
    return above(
        "(52) for D_i = (5/16, 5/16), k = 1, rows (11/16, 5/16, 0), (5/16, 11/16, 0) twice, certified optimal for (1/2, 3/10, "
        "1/5) at D = 9/20: black elements off the diagonal",
        claimed=0,
        actual=off if not math.isnan(odds) else math.nan,
    )


@claim()
def figure_8_drawing() -> Finding:
    rows = [np.array(row) / 5 for row in itertools.product((1, 2, 3), repeat=3) if sum(row) == 5]
    channels = [np.array(three) for three in itertools.combinations(rows, 3)]
    colored = [column for one in channels for column in coloring.coloring(one).T]
    reds = max(int((column == "red").sum()) for column in colored if not (column == "black").any())
    return above(
        f"red elements in a column without a black one: most in the columns of {len(channels)} channels of fifths (a red "
        "element is the smaller of a pair whose larger one is black), and in the drawing",
        claimed=reds,
        actual=1,
    )


@claim()
def claim_5_colors() -> Finding:
    colors = coloring.coloring(Mechanism.from_distortions([0.1, 0.2, 0.3]))
    name = "mechanism of D_i = (1/10, 1/5, 3/10), i = 1, j = 2: {} is red"
    return corrected(
        yes({name.format("Q(i|j)"): (True, colors[1, 0] == "red")}),
        yes({name.format("Q(j|i)"): (True, colors[0, 1] == "red")}),
    )


def _differences(rng: np.random.Generator) -> float:
    ij, ji, jj = np.sort(rng.uniform(0.01, 1.0, size=3))
    ii = float(rng.uniform(0, 1)) * ij * jj / ji
    return float((ji - ij) - (jj - ii))


@claim(instance=_differences, tolerance=0.0)
def equations_42_44(sample: Sample) -> Finding:
    jj, ji, ii, ij = Fraction(3, 5), Fraction(1, 5), Fraction(1, 4), Fraction(1, 10)
    named = {"3/5, 1/5 against 1/4, 1/10": float((ji - ij) - (jj - ii))}
    return holds(sample, named=named, tolerance=0.0, of="numbers")


def _rows_kept(rng: np.random.Generator) -> float:
    matrix, step = random_channel(rng, 4), 1e-3
    removed, row = int(rng.integers(0, 3)), 0
    matrix[:, 4 - removed :] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    others = [j for j in range(4 - removed) if j != row]
    matrix[row, row] += step
    matrix[row, others] -= step / (4 - removed - 1)
    return abs(float(matrix[row].sum()) - 1)


@claim(instance=_rows_kept, tolerance=1e-12)
def claim_3_proof(sample: Sample) -> Finding:
    row = prior("11/16 5/16 0")
    changed = (row[0] + Fraction(1, 16), row[1] - Fraction(1, 16) / (3 - 1 - 1), row[2])
    return holds(sample, named={"M = 3, k = 1": float(abs(sum(changed) - 1))}, tolerance=1e-12, of="channels")
