"""What Zhong and Bu state (2022), claim by claim: the coloring of best local mechanisms (Appendices B to E).

Colors of an entry of a mechanism: black if it is the larger one of a critical pair of its column (for maximal leakage, the
largest of the column), red if it is the smaller one (the smallest), else white. That a mechanism is best is certified by linear
programs over all channels, and what is said of one is asked, where possible, of all best ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction as F
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, Sample, claim, depends, example, for_all, holds, proved, refuted
from paper_repro.claims.draw import random_mechanism, random_prior
from paper_repro.claims.exact import changed
from paper_repro.claims.prove import always
from paper_repro.claims.zhong_bu2022_tools import APPROXIMATE, LEAKAGE, least_distortion, put_right
from paper_repro.errors import optional
from paper_repro.notions import ApproximateDP, DifferentialPrivacy, MaximalLeakage, MutualInformation, Notion
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

_CLOSE = 1e-9
# What a linear program allows beyond its optimum.
_SLACK = 1e-6


class Problem(NamedTuple):
    """Priors in falling order, a ratio e^eps and a delta."""

    priors: FloatArray
    ratio: float
    delta: float


class Best(NamedTuple):
    """A best mechanism and its colors."""

    matrix: FloatArray
    black: NDArray[np.bool_]
    red: NDArray[np.bool_]


def _colors(matrix: FloatArray, ratio: float, delta: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Black and red entries; ``pairs[i, k, j]``: Q(j|i) is the larger one of a critical pair, Q(j|k) the smaller one."""
    pairs = abs(matrix[:, np.newaxis] - ratio * matrix - delta) < _CLOSE * (1 + ratio)
    pairs[np.arange(len(matrix)), np.arange(len(matrix))] = False
    return np.asarray(pairs.any(axis=1)), np.asarray(pairs.any(axis=0))


def _by_diagonal(kept: FloatArray) -> FloatArray:
    """``Q(j|i) = (1 - a_i) a_j / (S - a_i)`` with diagonal a of sum S > 1."""
    shares = (1 - kept) / np.maximum(kept.sum() - kept, 1e-300)
    matrix = shares[:, np.newaxis] * kept
    np.fill_diagonal(matrix, kept)
    return matrix


def _one_color_a_row(matrix: FloatArray, ratio: float, delta: float, share: float = 0.5) -> FloatArray:
    """The transformer T_2 of Lemma 26 as it is meant: a little from entries that are not red to red ones."""
    matrix, (_, red) = matrix.copy(), _colors(matrix, ratio, delta)
    for i, row in enumerate(matrix):
        others = np.arange(len(matrix)) != i
        takers, givers = red[i] & others, ~red[i] & others
        if takers.any() and givers.any():
            room = (row - (matrix.max(axis=0) - delta) / ratio)[givers].min() * givers.sum()
            amount = share * min(float(room), delta * takers.sum())
            row[takers] += amount / takers.sum()
            row[givers] -= amount / givers.sum()
    return matrix


def _before_t_2(problem: Problem) -> FloatArray:
    """Of one prior: response on the likeliest letters, the others with delta. Of two: that mixed with the first letter."""
    priors, ratio, delta = problem
    size = priors.shape[1]
    tops = [ratio / (ratio + n - 1) * priors[0, :n].sum() for n in range(1, size + 1)]
    count = 2 if len(priors) == 2 else 1 + int(np.argmax(tops))
    matrix = _by_diagonal(np.where(np.arange(size) < count, ratio / (ratio + count - 1), 0.0))
    if len(priors) == 2:
        likeliest = (priors[0] - priors[1])[:2].sum() * ratio / (ratio + 1)
        weight = likeliest / (likeliest + priors[1, 0] - priors[0, 0])
        matrix *= 1 - weight
        matrix[:, 0] += weight
    return np.asarray(delta * np.eye(size) + (1 - delta) * matrix)


def _best(problem: Problem) -> Best:
    """Raises ValueError if a linear program over all channels finds a better one."""
    priors, ratio, delta = problem
    matrix = _before_t_2(problem)
    least = least_distortion(APPROXIMATE, tuple(map(tuple, priors.tolist())), math.log(ratio), delta=delta)
    if abs((priors @ (1 - np.diagonal(matrix))).max() - least) > _CLOSE:
        raise ValueError(f"there is a better mechanism for {problem}")
    matrix = _one_color_a_row(matrix, ratio, delta)
    return Best(matrix, *_colors(matrix, ratio, delta))


def _gap(problem: Problem) -> float:
    """For one prior: by how much, in sum, diagonal entries of best mechanisms can miss black, by a linear program over all."""
    priors, ratio, delta = problem
    if len(priors) > 1:
        return 0.0
    size, eye = priors.shape[1], np.eye(priors.shape[1])
    pairs = list(itertools.permutations(range(size), 2))
    private = np.kron(np.array([eye[i] - ratio * eye[k] for i, k in pairs]), eye)
    missing = np.hstack([private[[size * place + i for place, (i, _) in enumerate(pairs)]], eye[[i for i, _ in pairs]]])
    kept = -np.append(np.diag(priors[0]).ravel(), np.zeros(size))
    rows = np.vstack([np.hstack([private, np.zeros((len(private), size))]), missing, kept])
    limits = np.append(np.full(len(rows) - 1, delta), -float(priors[0] @ np.diagonal(_before_t_2(problem))))
    total = np.hstack([np.kron(eye, np.ones(size)), np.zeros((size, size))])
    cost = np.append(np.zeros(size * size), -np.ones(size))
    return -float(linprog(cost, rows, limits, total, np.ones(size)).fun) - _SLACK


def _ordered(rng: np.random.Generator) -> tuple[Problem]:
    """A prior, often with ties, and a ratio that makes two letters worth while; or two priors and a ratio between theirs.

    The second is surer of the first letter and less sure of the first two: then the first diagonal entry is white.
    """
    size, delta = int(rng.integers(2, 6)), float(rng.choice([0.05, 0.1, 0.3]))
    if size > 2 and rng.random() < 0.6:
        tails = [
            rng.dirichlet(np.full(size - 2, 5.0)) * rest for rest in (rng.uniform(0.02, 0.08), rng.uniform(0.1, 0.15))
        ]
        likeliest = rng.uniform(0.48, 0.55), rng.uniform(0.56, 0.75)
        priors = np.array([[p, 1 - p - tail.sum(), *-np.sort(-tail)] for p, tail in zip(likeliest, tails, strict=True)])
        low, high = priors[:, 0] / priors[:, 1]
        if 1 < low < high and (priors[:, 1] > priors[:, 2]).all():
            return (Problem(priors, float(low + (high - low) * rng.uniform(0.1, 0.9)), delta),)
    weights = -np.sort(-rng.integers(1, 9, size=size)) if rng.random() < 0.5 else random_prior(rng, size, -0.3, 1.5)
    ratio = float(weights[0] / weights[1] * (1 + rng.exponential(0.7)))
    return (Problem((weights / weights.sum())[np.newaxis], ratio, delta),)


_FOUR = Problem(np.array([[0.4, 0.3, 0.2, 0.1]]), 1.6, 0.1)
_THREE = Problem(np.array([[0.5, 0.45, 0.05], [0.7, 0.2, 0.1]]), 2.0, 0.1)


def _tried(wrong: Mapping[str, Any], *, known: bool = True) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """A property of best mechanisms at positive delta: for sets of two priors and, if it speaks of them, for known priors."""

    def decorate(violation: Callable[..., float]) -> Callable[..., float]:
        if known:
            violation = example("$P = (4,3,2,1)/10$ with $e^\\epsilon = 8/5$ and $\\delta = 1/10$", _FOUR)(violation)
        violation = example("$\\{(10,9,1)/20, (7,2,1)/10\\}$ with $e^\\epsilon = 2$ and $\\delta = 1/10$", _THREE)(
            violation
        )
        of = "sets of one or two priors in falling order" if known else "sets of two priors in falling order"
        return for_all(_ordered, of=of, wrong=wrong, share=0.25)(violation)

    return decorate


def _beside(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows without their diagonal entry, shape (m, m - 1)."""
    return table[~np.eye(len(table), dtype=bool)].reshape(len(table), -1)


def _mixed(table: NDArray[np.bool_]) -> bool:
    """Whether some row has a color beside the diagonal, and not everywhere."""
    return bool((_beside(table).any(axis=1) != _beside(table).all(axis=1)).any())


# Appendix B and C


@claim(wrong={"less than": {"distortion": F(29, 100)}})
def appendix_b_opening(distortion: F = F(3, 10)) -> Finding:
    prior = [F(7, 10), F(2, 10), F(1, 10)]
    silent = least_distortion(LEAKAGE, (tuple(map(float, prior)),), 0.0)
    kept = changed([[F(1), F(0), F(0)]] * 3, prior)
    text = "For $P = (7,2,1)/10$ the constant mechanism, which leaks nothing, has the distortion {kept}, which is $D^{{(2)}}$."
    return put_right(text, kept <= distortion, abs(silent - float(kept)) < _CLOSE, kept=kept)


@claim(wrong={"all are below delta": {"strictly": True}, "those that are red equal delta": {"red": True}})
def appendix_b_columns_with_a_zero(strictly: bool = False, red: bool = False) -> Finding:
    a, b, t, delta = optional("z3", "proofs").Reals("a b t delta")
    private = [t >= 1, delta > 0, a >= 0, b >= 0, a <= t * 0 + delta, b <= t * 0 + delta, a <= t * b + delta]
    facts = {"entries beside a zero": always(a < delta if strictly else a <= delta, *private)}
    facts["critical ones"] = always((b if red else a) == delta, *private, a == t * b + delta)
    return proved("It follows from linear inequalities between the entries of a column (z3), for all sizes.", facts)


def _in_order(matrix: FloatArray, *, inputs: bool = True) -> FloatArray:
    """The transformer T_1: letters renamed so that the diagonal falls."""
    order = np.argsort(-np.diagonal(matrix), kind="stable")
    return matrix[np.ix_(order, order)] if inputs else matrix[:, order]


def _renamed(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    matrix = random_mechanism(rng, int(rng.integers(2, 6)))
    return matrix, rng.permutation(random_prior(rng, len(matrix)))


def _moved(rng: np.random.Generator, falling: bool = True) -> float:
    matrix, prior = _renamed(rng)
    prior = -np.sort(-prior) if falling else prior
    return float(prior @ (np.diagonal(matrix) - np.diagonal(_in_order(matrix))))


@claim(instance=_moved, wrong={"priors in any order": {"falling": False}})
def lemma_25_1(sample: Sample, **_: Any) -> Finding:
    matrix, rare = [[F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]], [F(3, 10), F(7, 10)]
    before, after = (changed(table, rare) for table in (matrix, [row[::-1] for row in matrix[::-1]]))
    text = (
        "For rows $(5,5)/10$, $(1,9)/10$ and $P = (3,7)/10$ the map $\\mathcal T_1$ raises the distortion from {before} to "
        "{after}."
    )
    said = refuted(text, after > before, before=before, after=after)
    right = holds(sample, of="mechanisms and priors in falling order")
    return depends({"for $P_1 \\ge \\dots \\ge P_m$, as in Appendix B": right, "for priors in any order": said})


@for_all(
    _renamed,
    of="mechanisms",
    wrong={"mutual information, the prior kept": {"further": (MutualInformation(),)}},
    share=0.3,
)
@example("rows (5,5)/10 and (1,9)/10", np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0.7, 0.3]))
def lemma_25_2(matrix: FloatArray, prior: FloatArray, *, further: tuple[Notion, ...] = ()) -> float:
    worst = 0.0
    for notion in (DifferentialPrivacy(), ApproximateDP(0.1), MaximalLeakage(), *further):
        one, two = (notion.leakage(table, SourceSet(prior)) for table in (matrix, _in_order(matrix)))
        worst = max(worst, 0.0 if one == two else abs(one - two))
    return worst


@for_all(_renamed, of="mechanisms", wrong={"by renaming outputs alone": {"inputs": False}})
@example("diagonal (1,5,5)/10", np.array([[0.1, 0.9, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]), np.ones(3) / 3)
def lemma_25_3(matrix: FloatArray, _: FloatArray, *, inputs: bool = True) -> float:
    return float(np.diff(np.diagonal(_in_order(matrix, inputs=inputs))).max())


@_tried({"differential privacy, delta = 0": {"private": True}})
def lemma_26_approximate_differential_privacy(problem: Problem, *, private: bool = False) -> float:
    best = _best(problem._replace(delta=0.0) if private else problem)
    return float(_mixed(best.red) or _mixed(best.black) or bool(_beside(best.black & best.red).any()))


@_tried({"with all that white entries can give": {"share": 1.0}, "delta = 0": {"private": True}})
def transformer_t_2(problem: Problem, *, share: float = 0.5, private: bool = False) -> float:
    problem = problem._replace(delta=0.0) if private else problem
    _, ratio, delta = problem
    before = _before_t_2(problem)
    after = _one_color_a_row(before, ratio, delta, share)
    apart = abs(np.diagonal(after) - np.diagonal(before)).max() + abs(after.sum(axis=1) - 1).max()
    leakage = ApproximateDP(delta).leakage(after)
    return max(float(apart), abs(leakage - math.log(ratio)), float(_mixed(_colors(after, ratio, delta)[1])))


@_tried({"where the diagonal entry is black": {"black": True}})
def lemma_27_approximate_differential_privacy(problem: Problem, *, black: bool = False) -> float:
    best = _best(problem)
    rows = np.diagonal(best.black) == black
    return max(float(not _beside(best.red)[rows].all()), 0.0 if black else _gap(problem))


# Appendix D


def _not_all_one(matrix: FloatArray, delta: float, *, beside: bool = False) -> float:
    """Of any mechanism, with the loss that it has; by maximal leakage if delta is 0."""
    if delta:
        leakage = ApproximateDP(delta).leakage(matrix)
        colors = _colors(matrix, math.exp(min(leakage, 20.0)), delta)
    else:
        leakage = MaximalLeakage().leakage(matrix)
        colors = matrix >= matrix.max(axis=0) - _CLOSE, matrix <= matrix.min(axis=0) + _CLOSE
    if not 1e-6 < leakage < 20:
        return math.nan
    return max(float((_beside(one) if beside else one).all(axis=1).any()) for one in colors)


def _no_row_of_one_color() -> dict[str, bool]:
    """Black entries are the largest of their columns and red ones the smallest; so a row of one color equals the others."""
    z3 = optional("z3", "proofs")
    a, b, c, t, delta = z3.Reals("a b c t delta")
    pair = [a == t * b + delta, t >= 1, delta > 0, b >= 0]
    facts = {"a black entry is the largest": always(z3.And(c <= a, b < a), *pair, c <= t * b + delta)}
    facts["a red entry is the smallest"] = always(z3.And(b <= c, b < a), *pair, a <= t * c + delta)
    for size in (2, 3, 4, 5):
        one, two = z3.RealVector("x", size), z3.RealVector("y", size)
        pairs = list(zip(one, two, strict=True))
        above = [x >= y for x, y in pairs]
        facts[f"rows of {size}"] = always(z3.And(*(x == y for x, y in pairs)), *above, sum(one) == sum(two))
    return facts


def _register_28(key: str, delta: float) -> None:
    def violation(rng: np.random.Generator, beside: bool = False) -> float:
        return _not_all_one(random_mechanism(rng, int(rng.integers(2, 5))), delta, beside=beside)

    @claim(name=key, instance=violation, wrong={"beside the diagonal alone": {"beside": True}})
    def check(sample: Sample, **_: Any) -> Finding:
        how = (
            "If a row consists of the largest (or smallest) entries of all columns, every other row equals it, since all rows "
            "have the same sum (z3, up to 5 categories)."
        )
        return proved(how, _no_row_of_one_color(), sample)


_register_28("proposition_28_approximate_differential_privacy", 0.1)
_register_28("proposition_28_maximal_leakage", 0.0)


@_tried({"no white one either": {"nor_white": True}})
def proposition_28_consequence(problem: Problem, *, nor_white: bool = False) -> float:
    best = _best(problem)
    return float(_beside(best.black | ~best.red if nor_white else best.black).any())


@_tried({"exactly one": {"exactly": True}})
def proposition_29_approximate_differential_privacy(problem: Problem, *, exactly: bool = False) -> float:
    count = int((~np.diagonal(_best(problem).black)).sum())
    return max(float(count > 1 or (exactly and count < 1)), _gap(problem))


@_tried({"the least": {"place": -1}}, known=False)
def proposition_30(problem: Problem, *, place: int = 0) -> float:
    best = _best(problem)
    diagonal, white = np.diagonal(best.matrix), ~np.diagonal(best.black)
    return float(abs(diagonal[white] - diagonal[place]).max()) if white.any() else math.nan


@_tried({"in the last row": {"row": -1}})
def proposition_31(problem: Problem, *, row: int = 0) -> float:
    return float(not _beside(_best(problem).red)[row].all())


# Maximal leakage


def _filled(prior: FloatArray, total: float) -> FloatArray:
    """The letters kept for a sum of the diagonal, the likeliest first; certified by a linear program over all channels."""
    kept = np.clip(total - np.arange(len(prior)), 0.0, 1.0)
    least = least_distortion(LEAKAGE, (tuple(prior.tolist()),), math.log(total))
    if abs(1 - prior @ kept - least) > _CLOSE:
        raise ValueError(f"there is a better mechanism for {prior} and maximal leakage log {total}")
    return kept


def _room(prior: FloatArray, total: float) -> float:
    """By how much the columns' largest entries of all best mechanisms can exceed the diagonal, in sum: a linear program."""
    size, eye = len(prior), np.eye(len(prior))
    columns = np.hstack([np.eye(size * size), -np.tile(eye, (size, 1))])
    whole = np.append(np.zeros(size * size), np.ones(size))
    kept = -np.append(np.diag(prior).ravel(), np.zeros(size))
    limits = np.append(np.zeros(size * size), [total, -float(prior @ _filled(prior, total))])
    sums = np.hstack([np.kron(eye, np.ones(size)), np.zeros((size, size))])
    cost = np.append(eye.ravel(), -np.ones(size))
    return -float(linprog(cost, np.vstack([columns, whole, kept]), limits, sums, np.ones(size)).fun) - _SLACK


def _leaking(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """A prior in falling order, and a sum of the diagonal above 1, which something leaks with."""
    size = int(rng.integers(2, 6))
    return random_prior(rng, size, -0.3, 1.5), float(rng.uniform(1.02, size - 0.02))


def _diagonal_black() -> dict[str, bool]:
    """With diagonal a of sum S >= 1 some channel has no entry above its column's diagonal one, and no larger sum is needed."""
    a, b, s = optional("z3", "proofs").Reals("a b s")
    inside = [a >= 0, a < 1, b >= 0, s >= 1, s - a >= b]
    facts = {"Q(j|i) = (1 - a_i) a_j / (S - a_i) is at most a_j": always((1 - a) * b <= b * (s - a), *inside)}
    facts["and each row sums to 1"] = always(a + (1 - a) * (s - a) / (s - a) == 1, s > a)
    facts["its sum is less than one of largest entries, one above a_j"] = always(s + b < s + a, b < a)
    facts["a smaller sum grows to 1, and keeps more"] = always(a / s >= a, s > 0, s < 1, a >= 0)
    return facts


_SMALL = (np.array([0.4, 0.3, 0.2, 0.1]), 1.5)


def _register_black(key: str, wrong: str, other: Callable[[FloatArray, FloatArray], bool]) -> None:
    """What follows from the black diagonal of every best mechanism; ``other`` is a wrong variant of the statement."""

    def violation(rng: np.random.Generator, variant: bool = False) -> float:
        prior, total = _leaking(rng)
        if not variant:
            return _room(prior, total)
        kept = _filled(prior, total)
        return float(not other(_by_diagonal(kept), kept))

    @claim(name=key, instance=violation, wrong={wrong: {"variant": True}}, share=0.2)
    def check(sample: Sample, **_: Any) -> Finding:
        how = (
            "Every optimal mechanism has a black diagonal; otherwise another mechanism with the same diagonal leaks less (z3, "
            "for all sizes)."
        )
        return proved(how, _diagonal_black(), sample)


def _all_red(matrix: FloatArray, _: FloatArray) -> bool:
    return bool(_beside(matrix <= matrix.min(axis=0) + _CLOSE).all())


def _some_white(matrix: FloatArray, kept: FloatArray) -> bool:
    return bool((kept < matrix.max(axis=0) - _CLOSE).any())


def _alone(matrix: FloatArray, _: FloatArray) -> bool:
    return not _beside(matrix >= matrix.max(axis=0) - _CLOSE).any()


_register_black("lemma_27_maximal_leakage", "red beside every diagonal entry", _all_red)
_register_black("proposition_29_maximal_leakage", "exactly one that is not black", _some_white)
_register_black("proposition_32", "and no other entry is black", _alone)
_register_black("lemma_34_2", "strictly above the others of the column", _alone)


def _none_has(prior: tuple[int, ...], kept: F, total: F, zeros: str) -> bool:
    """Whether no best mechanism has rows of one color beside the diagonal, by z3.

    A column of equal entries, which are all largest and all smallest, has the color ``zeros``, or "both".
    """
    z3, letters = optional("z3", "proofs"), range(len(prior))
    q, tops = [[z3.Real(f"q{i}{j}") for j in letters] for i in letters], [z3.Real(f"c{j}") for j in letters]
    known = [sum(row) == 1 for row in q] + [entry >= 0 for row in q for entry in row]
    known += [q[i][j] <= tops[j] for i in letters for j in letters]
    known.append(sum(p * q[i][i] for i, p in enumerate(prior)) >= z3.Q(*(kept * sum(prior)).as_integer_ratio()))
    ratio = z3.Q(*total.as_integer_ratio())
    if not always(sum(tops) >= ratio, *known):
        raise ValueError(f"less than log {total} is needed")

    def colored(color: str, i: int, j: int) -> Any:
        end = z3.And(*(q[i][j] >= row[j] if color == "black" else q[i][j] <= row[j] for row in q))
        return z3.If(z3.And(*(row[j] == q[0][j] for row in q)), zeros in (color, "both"), end)

    rules = []
    for i in letters:
        others = [j for j in letters if j != i]
        black, red = ([colored(color, i, j) for j in others] for color in ("black", "red"))
        white = z3.Not(z3.Or(*black, *red))
        rules.append(z3.Or(z3.And(*black), z3.And(*red), white))
    return always(z3.Not(z3.And(*rules)), *known, sum(tops) <= ratio)


@claim(wrong={"where no letter is dropped": {"kept": F(39, 40), "total": F(15, 4)}})
def lemma_26_maximal_leakage(kept: F = F(11, 20), total: F = F(3, 2)) -> Finding:
    colors = "black", "red", "white", "both"
    none = all(_none_has((4, 3, 2, 1), kept, total, zeros) for zeros in colors)
    text = (
        "For $P = (4,3,2,1)/10$ at $D = {d}$ no mechanism with the least leakage $\\log {total}$ has off-diagonal entries of one "
        "color in each row. It does not matter whether columns of zeros are black, red, both or white (z3, over all mechanisms)."
    )
    return refuted(text, none, d=1 - kept, total=total)


def _end(rng: np.random.Generator, letter: int = 0) -> float:
    """The least distortion without leakage, by a linear program."""
    prior = random_prior(rng, int(rng.integers(2, 6)), -0.3, 1.5)
    return abs(least_distortion(LEAKAGE, (tuple(prior.tolist()),), 0.0) - (1 - float(prior[letter])))


@claim(instance=_end, wrong={"from $1 - P_2$ on": {"letter": 1}}, share=0.2, tolerance=1e-8)
def lemma_33(sample: Sample, letter: int = 0) -> Finding:
    z3, facts = optional("z3", "proofs"), {}
    for size in (2, 3, 4):
        prior, kept = z3.RealVector("p", size), z3.RealVector("q", size)
        falling = [one >= two for one, two in itertools.pairwise([*prior, z3.RealVal(0)])]
        known = [*falling, *(one >= 0 for one in kept), sum(kept) <= 1]
        kept_mass = sum(p * q for p, q in zip(prior, kept, strict=True))
        facts[f"{size} categories: no mechanism without leakage keeps more"] = always(kept_mass <= prior[0], *known)
    constant = [[F(1), F(0), F(0)]] * 3
    share = [F(7, 10), F(2, 10), F(1, 10)]
    facts["the constant first category keeps that"] = 1 - changed(constant, share) == share[letter]
    return proved(
        "The diagonal of a mechanism without leakage sums to at most 1, so that at most $P_1$ is kept (z3, 2 to 4 categories).",
        facts,
        sample,
    )


@for_all(_leaking, of="priors and leakages", wrong={"strictly": {"strictly": True}}, share=0.2)
@example("$P = (4,3,2,1)/10$ with leakage $\\log 3/2$", *_SMALL)
def lemma_34_1(prior: FloatArray, total: float, *, strictly: bool = False) -> float:
    kept = _filled(prior, total)
    rises = np.diff(np.append(kept, 0.0)) + (_SLACK if strictly else 0.0)
    return max(float(kept.max()) - 1, float(rises.max()), float(_by_diagonal(kept).max(axis=0).sum()) - total)
