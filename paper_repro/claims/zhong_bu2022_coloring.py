"""What Zhong and Bu state (2022), claim by claim: the coloring of best local mechanisms (Appendices B to E).

Colors of an entry of a mechanism: black if it is the larger one of a critical pair of its column (for maximal leakage, the
largest of the column), red if it is the smaller one (the smallest), else white.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import changed
from paper_repro.claims.zhong_bu2022_tools import APPROXIMATE, LEAKAGE, least
from paper_repro.notions import ApproximateDP, DifferentialPrivacy, MaximalLeakage, Notion
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

_DELTA = 0.1
_CLOSE = 1e-9
Names = list[list[set[str]]]
"""Colors of all entries; one may have two, or none: then it is white."""


class Colored(NamedTuple):
    """A mechanism with falling diagonal, its leakage, and which entries are black and red."""

    matrix: FloatArray
    leakage: float
    black: NDArray[np.bool_]
    red: NDArray[np.bool_]


def _in_order(matrix: FloatArray) -> FloatArray:
    """The transformer T_1: letters renamed so that the diagonal falls."""
    order = np.argsort(-np.diagonal(matrix), kind="stable")
    return matrix[np.ix_(order, order)]


def _color(notion: Notion, matrix: FloatArray, leakage: float) -> Colored:
    if isinstance(notion, MaximalLeakage):
        largest, smallest = matrix.max(axis=0) - _CLOSE, matrix.min(axis=0) + _CLOSE
        return Colored(matrix, leakage, np.asarray(matrix >= largest), np.asarray(matrix <= smallest))
    ratio = math.exp(leakage)
    # pairs[i, k, j]: Q(j|i) is the larger one of a critical pair, Q(j|k) the smaller one.
    pairs = abs(matrix[:, np.newaxis] - ratio * matrix - _DELTA) < _CLOSE * (1 + ratio)
    pairs[np.arange(len(matrix)), np.arange(len(matrix))] = False
    return Colored(matrix, leakage, np.asarray(pairs.any(axis=1)), np.asarray(pairs.any(axis=0)))


def _one_color_a_row(matrix: FloatArray, leakage: float) -> FloatArray:
    """The transformer T_2 of Lemma 26 for positive delta, as it is meant: a little from entries that are not red to red ones."""
    matrix = matrix.copy()
    red = _color(ApproximateDP(_DELTA), matrix, leakage).red
    for i in range(len(matrix)):
        others = np.arange(len(matrix)) != i
        takers, givers = red[i] & others, ~red[i] & others
        if takers.any() and givers.any():
            room = float((matrix[i] - matrix.min(axis=0))[givers].min()) * givers.sum()
            amount = min(room, _DELTA * takers.sum()) / 2
            matrix[i, takers] += amount / takers.sum()
            matrix[i, givers] -= amount / givers.sum()
    return matrix


def _beside(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows without their diagonal entry, shape (m, m - 1)."""
    return table[~np.eye(len(table), dtype=bool)].reshape(len(table), -1)


def _problem(rng: np.random.Generator, count: int = 1) -> tuple[FloatArray, float]:
    """Priors of full support in falling order, often with ties, and a distortion at which something leaks, often at a corner."""
    size = int(rng.integers(2, 6))
    if count > 1 and rng.random() < 0.7:
        # One prior with a likely first letter, one with two likely letters, and D between what each would need for no leakage:
        # this is where the first diagonal entry may be white.
        weights = rng.integers(1, 10, size=(count, size))
        weights[0, 0] += rng.integers(4, 12)
        weights[1, :2] = rng.integers(5, 12, size=2)
        weights = -np.sort(-weights, axis=1)
        priors = weights / weights.sum(axis=1, keepdims=True)
        ends = 1 - priors[:, 0]
        return priors, float(rng.uniform(ends.min(), ends.max()))
    if rng.random() < 0.5:
        priors = np.array([random_prior(rng, size, -0.3, 1.5) for _ in range(count)])
    else:
        weights = -np.sort(-rng.integers(1, 9, size=(count, size)), axis=1)
        priors = weights / weights.sum(axis=1, keepdims=True)
    end = float((1 - priors[:, 0]).min())
    corner = float(np.cumsum(priors[0, ::-1])[rng.integers(size - 1)])
    share = corner / end if rng.random() < 0.3 else float(rng.uniform(0.02, 0.97))
    return priors, end * (share if 0.01 < share < 0.98 else 0.5)


def _best(notion: Notion, priors: FloatArray, distortion: float) -> Colored | None:
    """A best mechanism, colored; with delta after T_2. None where next to nothing leaks: colors would blur."""
    delta = getattr(notion, "delta", 0.0)
    best = optimal_mechanism(SourceSet(priors), distortion=(1 - delta) * distortion, notion=notion)
    if best.leakage < 1e-5:
        return None
    matrix = best.mechanism.matrix
    if isinstance(notion, ApproximateDP) and len(priors) == 1:
        matrix = _one_color_a_row(matrix, best.leakage)
    return _color(notion, _in_order(matrix), best.leakage)


_Judge = Callable[[Colored], bool]


def _instance(notion: Notion, judge: _Judge, count: int = 1) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        found = _best(notion, *_problem(rng, count))
        return math.nan if found is None else float(not judge(found))

    return violation


# Three priors of which one is sure of letter 1 and another not of letter 2: the first diagonal entry is white.
_WHITE = np.array([[9, 3, 2], [9, 8, 2], [6, 3, 2]]) / np.array([[14], [19], [11]])


def _named(notion: Notion, judge: _Judge, count: int = 1) -> dict[str, float]:
    cases = {
        "P = (4,3,2,1)/10": (np.array([[0.4, 0.3, 0.2, 0.1]]), 0.55),
        "P = (3,3,2,2)/10": (np.array([[0.3, 0.3, 0.2, 0.2]]), 0.5),
    }
    if count > 1:
        cases["{(9,3,2)/14, (9,8,2)/19, (6,3,2)/11}"] = (_WHITE, 0.418 / (1 - _DELTA))
    scale = 1 - getattr(notion, "delta", 0.0)
    found = {f"{name}, D = {scale * d:.4g}": _best(notion, priors, d) for name, (priors, d) in cases.items()}
    return {name: float(not judge(one)) for name, one in found.items() if one is not None}


def _rows_agree(found: Colored) -> bool:
    red = _beside(found.red)
    black = _beside(found.black)
    return bool((red.any(axis=1) == red.all(axis=1)).all() and not (black & red).any())


def _white_rows_red(found: Colored) -> bool:
    return bool(_beside(found.red)[~np.diagonal(found.black)].all())


def _not_all_one(found: Colored) -> bool:
    return not (found.black.all(axis=1).any() or found.red.all(axis=1).any())


def _one_white(found: Colored) -> bool:
    return int((~np.diagonal(found.black)).sum()) <= 1


def _white_is_first(found: Colored) -> bool:
    white = ~np.diagonal(found.black)
    return bool((np.diagonal(found.matrix)[white] >= found.matrix[0, 0] - _CLOSE).all())


def _first_row_red(found: Colored) -> bool:
    return bool(_beside(found.red)[0].all())


def _no_black_beside(found: Colored) -> bool:
    return not _beside(found.black).any()


def _diagonal_black(found: Colored) -> bool:
    return bool(np.diagonal(found.black).all())


_COLORS: dict[str, str] = {
    APPROXIMATE: "(An entry a is black and an entry b of its column red if a = e^eps b + delta; others are white.)",
    LEAKAGE: "(The largest entries of a column are black, the smallest red, others white.)",
}
_SUBJECT: dict[str, str] = {
    APPROXIMATE: "For a known prior in falling order and (eps, delta)-privacy with delta > 0, where something leaks, some "
    "best mechanism",
    LEAKAGE: "For a known prior in falling order and maximal leakage, where something leaks, some best mechanism",
}


# Statement, place, text, notion, judge, members of the sets on which it is tried.
def _notion(name: str) -> Notion:
    return ApproximateDP(_DELTA) if name == APPROXIMATE else MaximalLeakage()


def _check_pattern(notion: str, judge: _Judge, count: int) -> Callable[[Sample], Finding]:
    of = "priors and D" if count == 1 else "ordered sets of three priors and D"
    return lambda sample: holds(sample, named=_named(_notion(notion), judge, count), of=of)


def _register_patterns() -> None:
    """Lemma 26 to Proposition 32, each for the notions that the paper has it for, over so many priors."""
    red = "has red entries beside every diagonal entry that is not black"
    one = "has at most one diagonal entry that is not black"
    row = "has no row that is all black or all red"
    zeros = f"{row}, though entries of a column of zeros are both"
    first = "has as its diagonal entry that is not black, if there is one, the largest, Q(1|1)"
    first_row = "has only red entries beside the diagonal in its first row"
    beside = "has no black entry beside the diagonal"
    in_rows = "has one color in each row beside the diagonal"
    for name, _, notion, _, judge, count in (
        ("lemma_26_approximate_differential_privacy", f"Lemma 26, {APPROXIMATE}", APPROXIMATE, in_rows, _rows_agree, 1),
        ("lemma_27_approximate_differential_privacy", f"Lemma 27, {APPROXIMATE}", APPROXIMATE, red, _white_rows_red, 3),
        ("lemma_27_maximal_leakage", f"Lemma 27, {LEAKAGE}", LEAKAGE, red, _white_rows_red, 1),
        ("proposition_28_approximate_differential_privacy", f"Proposition 28, {APPROXIMATE}", APPROXIMATE, row, _not_all_one, 1),
        ("proposition_28_maximal_leakage", f"Proposition 28, {LEAKAGE}", LEAKAGE, zeros, _not_all_one, 1),
        ("proposition_28_consequence", "Proposition 28, consequence", APPROXIMATE, beside, _no_black_beside, 1),
        ("proposition_29_approximate_differential_privacy", f"Proposition 29, {APPROXIMATE}", APPROXIMATE, one, _one_white, 3),
        ("proposition_29_maximal_leakage", f"Proposition 29, {LEAKAGE}", LEAKAGE, one, _one_white, 1),
        ("proposition_30", "Proposition 30", APPROXIMATE, first, _white_is_first, 3),
        ("proposition_31", "Proposition 31", APPROXIMATE, first_row, _first_row_red, 3),
        ("proposition_32", "Proposition 32", LEAKAGE, "has a black diagonal", _diagonal_black, 1),
    ):  # fmt: skip
        claim(name=name, instance=_instance(_notion(notion), judge, count))(_check_pattern(notion, judge, count))


# Lemma 25


def _renamed(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = int(rng.integers(2, 6))
    matrix = random_mechanism(rng, size)
    return matrix, _in_order(matrix), random_prior(rng, size)


def _lemma_25_1(rng: np.random.Generator) -> float:
    matrix, renamed, prior = _renamed(rng)
    return float(prior @ (np.diagonal(matrix) - np.diagonal(renamed)))


@claim(instance=_lemma_25_1)
def lemma_25_1(sample: Sample) -> Finding:
    matrix = [[F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]]
    renamed = [row[::-1] for row in matrix[::-1]]
    rare, common = [F(3, 10), F(7, 10)], [F(7, 10), F(3, 10)]
    name = "rows (5,5)/10 and (1,9)/10: distortion with falling diagonal, at most what it was"
    found = [[float(changed(table, prior)) for table in (matrix, renamed)] for prior in (rare, common)]
    printed = {f"P = (3,7)/10, {name}": (found[0][0], found[0][1])}
    return corrected(
        printed, {f"P = (7,3)/10, {name}: above it by": (0.0, max(0.0, found[1][1] - found[1][0]))}, sample
    )


def _lemma_25_2(rng: np.random.Generator) -> float:
    matrix, renamed, _ = _renamed(rng)
    worst = 0.0
    for notion in (DifferentialPrivacy(), ApproximateDP(_DELTA), MaximalLeakage()):
        first, second = notion.leakage(matrix), notion.leakage(renamed)
        worst = max(worst, 0.0 if first == second else abs(first - second))
    return worst


@claim(instance=_lemma_25_2)
def lemma_25_2(sample: Sample) -> Finding:
    matrix = np.array([[0.5, 0.5], [0.1, 0.9]])
    gap = MaximalLeakage().leakage(matrix) - MaximalLeakage().leakage(_in_order(matrix))
    return holds(sample, named={"rows (5,5)/10 and (1,9)/10, maximal leakage": abs(gap)}, of="channels")


@claim(instance=lambda rng: float(np.diff(np.diagonal(_renamed(rng)[1])).max()))
def lemma_25_3(sample: Sample) -> Finding:
    renamed = _in_order(np.array([[0.1, 0.9, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]))
    named = {"diagonal (1,5,5)/10, with a tie": max(0.0, float(np.diff(np.diagonal(renamed)).max()))}
    return holds(sample, named=named, of="channels")


# Lemmas 26 and 27 for maximal leakage


def _entries(prior: list[F], total: F, kept: list[F]) -> float:
    """How far the best mechanisms are from having this diagonal, with which their columns' largest entries agree.

    With column maxima c, ``sum c <= total`` and ``0 <= Q_jj <= c_j <= 1``, ``sum P_j Q_jj`` is at most the value of the
    fractional knapsack; for falling P without ties at the margin only one c attains it. Found again by linear programs: the
    range of every c_j and Q_jj among all mechanisms as good.
    """
    from scipy.optimize import linprog

    size = len(prior)
    worth = [float(p) for p in prior]
    value = float(sum((p * a for p, a in zip(prior, kept, strict=True)), F(0)))
    entry = np.arange(size * size).reshape(size, size)
    rows, limits = [], []
    for i, j in itertools.product(range(size), repeat=2):
        row = np.zeros(size * size + size)
        row[entry[i, j]], row[size * size + j] = 1.0, -1.0
        rows.append(row)
        limits.append(0.0)
    rows.append(np.append(np.zeros(size * size), np.ones(size)))
    rows.append(-np.append(np.diag(worth).ravel(), np.zeros(size)))
    limits += [float(total), -value]
    sums = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, size))])
    worst = 0.0
    for j in range(size):
        for place, sign in itertools.product((entry[j, j], size * size + j), (1.0, -1.0)):
            cost = np.zeros(size * size + size)
            cost[place] = sign
            found = linprog(cost, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(size))
            worst = max(worst, abs(sign * float(found.fun) - float(kept[j])))
    return worst


def _read(matrix: list[list[F]], zeros: str) -> Names:
    """Colors of maximal leakage, with a choice for the entries of a column of zeros, which are largest and smallest."""
    choice = {"black": {"black"}, "red": {"red"}, "white": set[str](), "both": {"black", "red"}}[zeros]
    columns = list(zip(*matrix, strict=True))
    names = []
    for row in matrix:
        names.append(
            [
                choice
                if max(column) == min(column)
                else {color for color, end in (("black", max(column)), ("red", min(column))) if entry == end}
                for entry, column in zip(row, columns, strict=True)
            ]
        )
    return names


def _mixed_rows(names: Names) -> int:
    """Rows whose entries beside the diagonal are not all black, all red or all white."""
    count = 0
    for i, row in enumerate(names):
        others = [name for j, name in enumerate(row) if j != i]
        alike = all("black" in name for name in others) or all("red" in name for name in others)
        count += not (alike or not any(others))
    return count


def _breaks_27(names: Names) -> bool:
    """Whether a diagonal entry is not black and an entry beside it not red."""
    return any(
        "black" not in row[i] and any("red" not in name for j, name in enumerate(row) if j != i)
        for i, row in enumerate(names)
    )


_SHARES = [F(1, 2), F(3, 4), F(1)]
_READINGS = ("black", "red", "white", "both")


@claim()
def lemma_26_maximal_leakage() -> Finding:
    # x, y >= 1/2, and colors change at the ends of their ranges alone.
    prior = [F(4, 10), F(3, 10), F(2, 10), F(1, 10)]
    apart = _entries(prior, F(3, 2), [F(1), F(1, 2), F(0), F(0)])
    mixed = []
    for x, y, zeros in itertools.product(_SHARES, _SHARES, _READINGS):
        rows = [(F(1), F(0)), (F(1, 2), F(1, 2)), (x, 1 - x), (y, 1 - y)]
        mixed.append(_mixed_rows(_read([[a, b, F(0), F(0)] for a, b in rows], zeros)))
    fewest = min(mixed) if apart < 1e-7 else 0
    where = (
        "(4,3,2,1)/10, D = 9/20, best mechanisms (1,0,0,0), (1,1,0,0)/2, (x,1-x,0,0), (y,1-y,0,0): fewest mixed rows"
    )
    exact = least("maximal leakage", 4, 1, 0.45, ((0.4, 0.3, 0.2, 0.1),))
    return above(where, 0.0, fewest, least_leakage_as_exp=math.exp(exact))


@claim()
def appendix_d_opening() -> Finding:
    apart = _entries([F(3, 6), F(2, 6), F(1, 6)], F(3, 2), [F(1), F(1, 2), F(0)])
    broken = 0
    candidates = list(itertools.product(_SHARES, _READINGS[:3]))
    for x, zeros in candidates:
        names = _read([[F(1), F(0), F(0)], [F(1, 2), F(1, 2), F(0)], [x, 1 - x, F(0)]], zeros)
        broken += _mixed_rows(names) > 0 or _breaks_27(names)
    where = "P = (3,2,1)/6, D = 1/3, best mechanisms (1,0,0), (1,1,0)/2, (x,1-x,0), zeros of one color: failures of 9 candidates"
    return above(where, len(candidates) - 1.0, broken if apart < 1e-7 else 0)


_register_patterns()


def _composed(rng: np.random.Generator) -> float:
    """T_2 for positive delta: distortion, leakage and diagonal stay."""
    priors, distortion = _problem(rng)
    best = optimal_mechanism(SourceSet(priors), distortion=(1 - _DELTA) * distortion, notion=ApproximateDP(_DELTA))
    if best.leakage < 1e-5:
        return math.nan
    before = best.mechanism.matrix
    after = _one_color_a_row(before, best.leakage)
    found = _color(ApproximateDP(_DELTA), after, best.leakage)
    return max(
        float(abs(np.diagonal(after) - np.diagonal(before)).max()),
        float(abs(after.sum(axis=1) - 1).max()),
        abs(ApproximateDP(_DELTA).leakage(after) - best.leakage),
        float(not _rows_agree(found)),
    )


@claim(instance=_composed, tolerance=1e-8)
def transformer_t_2(sample: Sample) -> Finding:
    """(4,3,2,1)/10 at 0.495: rows 3 and 4 of the best mechanism found are mixed before."""
    best = optimal_mechanism(SourceSet([0.4, 0.3, 0.2, 0.1]), distortion=0.495, notion=ApproximateDP(_DELTA))
    before, after = (
        _beside(_color(ApproximateDP(_DELTA), matrix, best.leakage).red)
        for matrix in (best.mechanism.matrix, _one_color_a_row(best.mechanism.matrix, best.leakage))
    )
    mixed = [int((red.any(axis=1) != red.all(axis=1)).sum()) for red in (before, after)]
    named = {f"P = (4,3,2,1)/10, D = 0.495: {mixed[0]} mixed rows before, {mixed[1]} after": float(mixed[1] > 0)}
    return holds(sample, named=named, tolerance=1e-8, of="priors and D")


def _zero_columns(rng: np.random.Generator) -> float:
    """A column with a zero and entries up to delta; what is black there has to be delta."""
    size = int(rng.integers(2, 5))
    matrix = random_mechanism(rng, size, zeros=False)
    column = rng.choice([0.0, _DELTA / 2, _DELTA], size=size)
    column[rng.integers(size)] = 0.0
    matrix = np.column_stack([matrix * (1 - column[:, np.newaxis]), column])
    leakage = _pointwise(matrix)
    if math.isinf(leakage) or leakage < 1e-6:
        return math.nan
    ratio = math.exp(leakage)
    critical = abs(column[:, np.newaxis] - ratio * column - _DELTA) < _CLOSE
    np.fill_diagonal(critical, False)
    black = critical.any(axis=1)
    return max(float(column.max()) - _DELTA, float(abs(column[black] - _DELTA).max(initial=0.0)))


def _pointwise(matrix: FloatArray) -> float:
    worst = 1.0
    for a, b in itertools.permutations(matrix, 2):
        over = a > _DELTA
        if (b[over] == 0).any():
            return math.inf
        worst = max(worst, float(((a[over] - _DELTA) / b[over]).max(initial=1.0)))
    return math.log(worst)


@claim(instance=_zero_columns)
def appendix_b_columns_with_a_zero(sample: Sample) -> Finding:
    # Of finite leakage only as long as the entry beside the zero is at most delta.
    finite = [math.isfinite(_pointwise(np.array([[top, 1 - top], [0.0, 1.0]]))) for top in (0.1, 0.11)]
    named = {"columns (0.1, 0) and (0.11, 0) at delta = 0.1: finite and infinite": float(finite != [True, False])}
    return holds(sample, named=named, of="channels with a zero in a column")


# Lemmas 33 and 34


def _lemma_33(rng: np.random.Generator) -> float:
    prior = random_prior(rng, int(rng.integers(2, 7)), -0.3, 1.5)
    vertices, end = (tuple(prior.tolist()),), 1 - float(prior[0])
    before, at, after = (least(LEAKAGE, len(prior), 1, d, vertices) for d in (end * (1 - 1e-5), end, (1 + end) / 2))
    return max(at, after, 1e-9 - before)


@claim(instance=_lemma_33)
def lemma_33(sample: Sample) -> Finding:
    constant = [[F(1), F(0), F(0)]] * 3
    prior = [F(7, 10), F(2, 10), F(1, 10)]
    named = {
        "P = (7,2,1)/10, always the first letter: distortion 3/10": abs(float(changed(constant, prior) - F(3, 10))),
        "P = (1,1,1)/3, D = 2/3": least(LEAKAGE, 3, 1, 2 / 3, ((1 / 3,) * 3,)),
    }
    return holds(sample, named=named, of="priors, before, at and after the end")


def _lemma_34(part: int) -> Callable[[np.random.Generator], float]:
    def violation(rng: np.random.Generator) -> float:
        priors, distortion = _problem(rng)
        return _lemma_34_of(part, priors, distortion)

    return violation


def _lemma_34_of(part: int, priors: FloatArray, distortion: float) -> float:
    best = optimal_mechanism(SourceSet(priors), distortion=distortion, notion=MaximalLeakage())
    matrix = _in_order(best.mechanism.matrix)
    diagonal = np.diagonal(matrix)
    over = float((priors @ (1 - diagonal)).max()) - distortion
    if part == 1:
        return max(over, -float(diagonal.min()), float(diagonal.max()) - 1)
    return max(over, float(abs(matrix.max(axis=0) - diagonal).max()))


def _check_34(part: int) -> Callable[[Sample], Finding]:
    def check(sample: Sample) -> Finding:
        four, tied = np.array([[0.4, 0.3, 0.2, 0.1]]), np.array([[0.4, 0.4, 0.2]])
        named = {
            "P = (4,3,2,1)/10, D = 9/20": _lemma_34_of(part, four, 0.45),
            "P = (2,2,1)/5, D = 2/5": _lemma_34_of(part, tied, 0.4),
        }
        return holds(sample, named=named, of="priors and D")

    return check


for _part, _name, _text in (
    (1, "lemma_34_1", "0 <= Q(m|m) <= .. <= Q(1|1) <= 1"),
    (2, "lemma_34_2", "its diagonal entries as the largest of their columns"),
):
    claim(name=_name, instance=_lemma_34(_part))(_check_34(_part))
