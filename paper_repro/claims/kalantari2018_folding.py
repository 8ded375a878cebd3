"""What Kalantari, Sankar and Sarwate state of Class III sets: folding, Theorem 3 and what follows, with its proof.

A *folding permutation* T of a set orders some distribution of it, ``P_T(1) >= ... >= P_T(M)``; ``P^cap`` and ``P^cup`` are the
intersection and the union of the pieces of the set, each with its letters in that order. Sets are convex hulls, or isolated
points where that is said. Numbers of the preprint of 2017 are given with those of 2018.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import Prior, as_floats, certified_ratio, channel, prior, ratio, worst_distortion
from paper_repro.claims.kalantari_tools import budget, eps, last_budget, least_ratio, symmetric, yes
from paper_repro.papers import kalantari2018
from paper_repro.papers.folding import Folding, as_source_set, isolated
from paper_repro.papers.kalantari2018 import theorem_3
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism

SKEWED = prior("3/5 3/10 1/10")
MIRRORED = [SKEWED, prior("3/10 3/5 1/10")]
THREE = [*MIRRORED, prior("3/5 1/10 3/10")]
OUTER = [prior("1/2 3/10 1/5"), prior("1/5 3/10 1/2")]
HALF = (Fraction(1, 2), Fraction(1, 2))
# Optimal for MIRRORED at D = 2/5 (ratio 2), and for OUTER at D = 31/50 (ratio 19/16).
TWO_KEPT = channel("2/3 1/3 0; 1/3 2/3 0; 1/2 1/2 0")
OUTER_KEPT = channel("19/35 0 16/35; 1/2 0 1/2; 16/35 0 19/35")


def _tenths(rng: np.random.Generator, size: int = 3) -> SourceSet:
    """A Class III set of two or three vertices in tenths."""
    while True:
        rows = rng.multinomial(10, np.full(size, 1 / size), size=int(rng.integers(2, 4))) / 10
        order = np.argsort(-rows.mean(axis=0))
        if (np.diff(rows[:, order], axis=1) > 1e-9).any() and SourceSet(rows).source_class == "III":
            return SourceSet(rows)


def _any_budget(rng: np.random.Generator, source: SourceSet) -> float:
    """A distortion up to 1; mostly one at which something leaks."""
    return budget(rng, source) if rng.random() < 0.9 else float(rng.uniform(last_budget(source), 1.0))


# Definitions 5 and 6


@claim()
def equation_14() -> Finding:
    members = {"(1/2, 3/10, 1/5)": [0.5, 0.3, 0.2], "(1, 0, 0)": [1.0, 0.0, 0.0], "uniform": [1 / 3, 1 / 3, 1 / 3]}
    others = [name for name, row in members.items() if SourceSet(row).source_class != "II"]
    return above(f"members of S_0 that are not of Class II ({', '.join(others)})", claimed=0, actual=len(others))


@claim()
def partition() -> Finding:
    tied = len(Folding(SourceSet([0.4, 0.4, 0.2])).permutations)
    uniform = len(Folding(SourceSet([1 / 3, 1 / 3, 1 / 3])).permutations)
    return above(
        "ordered sets of M = 3 letters that hold (2/5, 2/5, 1/5)",
        claimed=1,
        actual=tied,
        with_the_uniform_distribution=uniform,
    )


@claim()
def disjoint_union() -> Finding:
    folding = Folding(as_floats(*MIRRORED))
    between = prior("9/20 9/20 1/10")
    count = sum(any(between in part for part in piece.parts) for piece in folding.pieces)
    return above(
        "hull of (3/5, 3/10, 1/10) and (3/10, 3/5, 1/10): pieces that hold (9/20, 9/20, 1/10)", claimed=1, actual=count
    )


def _covered(rng: np.random.Generator) -> float:
    source = _tenths(rng)
    weights = [Fraction(int(w)) for w in rng.integers(0, 5, size=source.vertex_count) + 1]
    rows = [[Fraction(round(10 * p), 10) for p in row] for row in source.vertices.tolist()]
    point = tuple(
        sum((w * r[i] for w, r in zip(weights, rows, strict=True)), Fraction(0)) / sum(weights) for i in range(3)
    )
    pieces = Folding(source).pieces
    inside = [any(point in part for part in piece.parts) for piece in pieces]
    ordered = [all(a >= b for a, b in itertools.pairwise(point[i] for i in piece.permutation)) for piece in pieces]
    return float(not any(inside) or inside != ordered)


@claim(instance=_covered, tolerance=0.0, share=0.5)
def union(sample: Sample) -> Finding:
    folding = Folding(as_floats(*OUTER))
    missing = [not any(one in part for piece in folding.pieces for part in piece.parts) for one in OUTER]
    return holds(
        sample, named={"the ends of a segment": float(any(missing))}, tolerance=0.0, of="members of sets, in fractions"
    )


def _apply(permutation: tuple[int, ...], one: Prior) -> tuple[Fraction, ...]:
    """The paper's T(P): ``T(P)_T(i) = P_i``."""
    image = [Fraction(0)] * len(one)
    for i, letter in enumerate(permutation):
        image[letter] = one[i]
    return tuple(image)


def _sorted_by_inverse(rng: np.random.Generator) -> float:
    size = int(rng.integers(2, 7))
    counts = [Fraction(int(n)) for n in rng.integers(0, 9, size=size) + 1]
    order = tuple(sorted(range(size), key=lambda i: -counts[i]))
    inverse = tuple(order.index(i) for i in range(size))
    image = _apply(inverse, tuple(counts))
    return float(any(a < b for a, b in itertools.pairwise(image)))


@claim(instance=_sorted_by_inverse, tolerance=0.0)
def definition_5_direction(sample: Sample) -> Finding:
    one = prior("1/5 1/2 3/10")
    cycle, inverse = (1, 2, 0), (2, 0, 1)
    falling = sorted(one, reverse=True)
    name = "P = (1/5, 1/2, 3/10), T = (2, 3, 1): element {} of the image, which should be in falling order"
    return corrected(
        {name.format(i + 1): (float(value), float(falling[i])) for i, value in enumerate(_apply(cycle, one))},
        {name.format(i + 1): (float(value), float(falling[i])) for i, value in enumerate(_apply(inverse, one))},
        sample,
    )


@claim()
def definition_6() -> Finding:
    cycle = SourceSet([0.2, 0.5, 0.3])
    kept = {way: len(Folding(cycle, direction=way).pieces[0].images) for way in ("printed", "corrected")}
    name = "images kept of the piece {(1/5, 1/2, 3/10)}, T = (2, 3, 1)"
    return corrected({name: (kept["printed"], 1.0)}, {name: (kept["corrected"], 1.0)})


def _relabeled(rng: np.random.Generator) -> float:
    source = random_set(rng, "III", letters=(3, 4))
    distortion = budget(rng, source)
    if distortion == 0:
        return math.nan
    order = np.argsort(-source.vertices[0], kind="stable")
    moved = SourceSet(source.vertices[:, order])
    return max(abs(eps(source, distortion) - eps(moved, distortion)), float((np.diff(moved.vertices[0]) > 0).any()))


@claim(instance=_relabeled, tolerance=1e-8, share=0.5)
def meets_ordered(sample: Sample) -> Finding:
    one, two = as_floats(*MIRRORED), as_floats(prior("1/10 3/10 3/5"), prior("1/10 3/5 3/10"))
    named = {"{(.6, .3, .1), (.3, .6, .1)} read backward, D = 3/10": abs(eps(one, 0.3) - eps(two, 0.3))}
    return holds(sample, named=named, tolerance=1e-8, of="Class III sets")


def _images_class(rng: np.random.Generator) -> float:
    folding = Folding(_tenths(rng))
    inside = all(
        any(vertex in image for image in folding.union) for part in folding.intersection for vertex in part.vertices
    )
    kinds = [as_source_set(parts).source_class for parts in (folding.union, folding.intersection) if parts]
    return float(not inside or any(kind != "II" for kind in kinds))


@claim(instance=_images_class, tolerance=0.0, share=0.5)
def folded_sets(sample: Sample) -> Finding:
    named = {}
    for name, priors in (("three points", THREE), ("two points", OUTER)):
        folding = Folding(isolated(as_floats(*priors)))
        kinds = [as_source_set(parts).source_class for parts in (folding.union, folding.intersection)]
        named[f"{name} that fold onto one"] = float(kinds != ["II", "II"])
    return holds(sample, named=named, tolerance=0.0, of="hulls of distributions in tenths, exact")


# Theorem 3


@claim()
def theorem_3_lower() -> Finding:
    source = as_floats(*THREE)
    constant = channel("3/5 2/5 0; 3/5 2/5 0; 3/5 2/5 0")
    bounds = [
        math.exp(theorem_3(folding, 0.6, reading).lower)
        for folding in (Folding(isolated(source)), Folding(source))
        for reading in ("printed", "largest")
    ]
    odds = ratio(constant) if worst_distortion(THREE, constant) <= Fraction(3, 5) else math.nan
    return above(
        "P = {(.6, .3, .1), (.3, .6, .1), (.6, .1, .3)} or its hull, D = 3/5: ratio of the constant answer (3/5, 2/5, 0), which "
        "is valid; smallest of the lower bounds as printed and with the largest ratio over letters, as ratio",
        claimed=float(odds),
        actual=min(bounds),
        exact_nats=eps(source, 0.6),
    )


def _group_set(rng: np.random.Generator) -> SourceSet:
    """A prior with its images under a group of permutations, and perhaps another prior."""
    size = int(rng.integers(3, 5))
    step = tuple(int(i) for i in rng.permutation(size))
    images = {tuple(range(size))}
    while (more := {tuple(step[i] for i in one) for one in images} | images) != images:
        images = more
    falling = -np.sort(-rng.dirichlet(np.ones(size)).round(2) - 0.01 * np.arange(size)[::-1])
    rows = [(falling / falling.sum())[list(one)] for one in sorted(images)]
    if rng.random() < 0.5:  # one more member of the first region, which P^cap lacks
        rows.append(-np.sort(-rng.dirichlet(np.full(size, 2.0))))
    return SourceSet(rows)


def _group_bound(rng: np.random.Generator) -> float:
    source = _group_set(rng)
    folding = Folding(isolated(source))
    if not folding.is_group or source.vertex_count == 1:
        return math.nan
    distortion = _any_budget(rng, source)
    lower = [theorem_3(folding, distortion, reading).lower for reading in ("printed", "largest")]
    return max(lower) - eps(source, distortion)


@claim(instance=_group_bound, tolerance=1e-7, share=0.3)
def theorem_3_group(sample: Sample) -> Finding:
    named = {}
    for name, priors, distortion in (
        ("{(.6, .3, .1), (.3, .6, .1)}, D = 2/5", MIRRORED, 0.4),
        ("{(.5, .3, .2), (.2, .3, .5)}, D = 31/50", OUTER, 0.62),
    ):
        source = as_floats(*priors)
        named[name] = theorem_3(Folding(isolated(source)), distortion, "printed").lower - eps(source, distortion)
    return holds(
        sample,
        named=named,
        tolerance=1e-7,
        of="priors with their images under a cyclic group, half with one more prior",
    )


@claim()
def theorem_3_hull() -> Finding:
    source = as_floats(SKEWED, prior("1/10 3/10 3/5"))
    whole = Folding(source)
    shared = [[str(p) for p in vertex] for part in whole.intersection for vertex in part.vertices]
    points = theorem_3(Folding(isolated(source)), 0.62, "largest")
    exact = math.exp(eps(source, 0.62))
    return above(
        f"hull of (3/5, 3/10, 1/10) and (1/10, 3/10, 3/5), D = 31/50: it meets {len(whole.permutations)} regions and P^cap = "
        f"{shared}; lower bound against the exact value, as ratios",
        claimed=exact,
        actual=min(math.exp(theorem_3(whole, 0.62, reading).lower) for reading in ("printed", "largest")),
        from_the_two_points=math.exp(points.lower),
    )


def _upper(rng: np.random.Generator) -> float:
    source = _tenths(rng)
    folding = Folding(source if rng.random() < 0.5 else isolated(source))
    distortion = _any_budget(rng, source)
    return eps(source, distortion) - theorem_3(folding, distortion, "largest").upper


@claim(instance=_upper, tolerance=1e-7, share=0.5)
def theorem_3_upper(sample: Sample) -> Finding:
    table, swap = load_source_set("P_II_6"), [[1, 0, 2, 3, 4, 5]]
    mirrored, six = Folding(isolated(as_floats(*MIRRORED))), load_source_set("P_IIIa_6")
    least = certified_ratio(MIRRORED, "3/10", channel("7/9 2/9 0; 2/9 7/9 0; 1/2 1/2 0"), HALF)
    first, second = "{(.6, .3, .1), (.3, .6, .1)}, D = 3/10, as ratio", "P_IIIa^(6), D = 0.05"
    alike = Folding(isolated(six), ties=False)
    return corrected(
        {
            f"{first}, without D_i <= 1": (math.exp(theorem_3(mirrored, 0.3, "literal").upper), least),
            f"{second}, with D_i <= 1": (theorem_3(table, 0.05, permutations=swap).upper, eps(six, 0.05)),
        },
        {
            first: (math.exp(theorem_3(mirrored, 0.3, "largest").upper), least),
            second: (theorem_3(alike, 0.05, "largest").upper, eps(six, 0.05)),
        },
        sample,
        tolerance=1e-7,
    )


def _symmetric_class_3(rng: np.random.Generator) -> float:
    source = random_set(rng, "III", letters=(3, 4))
    floor = float(source.vertices.min(axis=1).max())
    if floor < 1e-6:
        return math.nan
    distortion = floor * float(rng.uniform(0.01, 1.0))
    return abs(eps(source, distortion) - symmetric(source.alphabet_size, distortion))


@claim(instance=_symmetric_class_3, tolerance=1e-8, share=0.7)
def theorem_3_symmetric(sample: Sample) -> Finding:
    named = {}
    for name, priors in (("two points", MIRRORED), ("three points", THREE)):
        source = as_floats(*priors)
        bounds = theorem_3(Folding(isolated(source)), 0.09)
        named[f"{name} with D^(1) = 1/10, D = 0.09"] = max(abs(end - eps(source, 0.09)) for end in bounds)
    return holds(sample, named=named, tolerance=1e-8, of="Class III sets below max_P min_i P_i")


def _end_class_3(rng: np.random.Generator) -> float:
    source = random_set(rng, "III", letters=(3, 4))
    return last_budget(source) - (1 - 1 / source.alphabet_size)


@claim(instance=_end_class_3, tolerance=1e-9)
def theorem_3_zero(sample: Sample) -> Finding:
    """Loose: usually nothing leaks much earlier."""
    ends = {"{(.6, .3, .1), (.3, .6, .1)}": as_floats(*MIRRORED), "P_IIIa^(6)": load_source_set("P_IIIa_6")}
    found = {
        f"{name}: first D without leakage, (M-1)/M": (last_budget(source), 1 - 1 / source.alphabet_size)
        for name, source in ends.items()
    }
    return loose(found, sample)


@claim()
def theorem_3_range() -> Finding:
    defined = 0
    for removed in range(4):
        try:
            kalantari2018.equation_17(as_floats(SKEWED), 0.55, removed, [])
        except ValueError:
            continue
        defined += 1
    name = "terms of the minimum for which the formula is defined, M = 3"
    return corrected({name: (4.0, defined)}, {name: (3.0 - 1.0, defined)})


@claim()
def theorem_3_order() -> Finding:
    """Refuted on a set whose folding permutations form a group, where the rest of the proof is right."""
    exact = certified_ratio(OUTER, "31/50", OUTER_KEPT, HALF)
    folding = Folding(isolated(as_floats(*OUTER)))
    largest = [theorem_3(folding, 0.62, reading).lower for reading in ("corrected", "largest")]
    return above(
        "P = {(1/2, 3/10, 1/5), (1/5, 3/10, 1/2)}, T = identity and (1 3), D = 31/50: exact ratio, certified by distortions "
        "(16/35, 1, 16/35), against the program with the order",
        claimed=exact,
        actual=math.exp(largest[0]),
        with_the_largest_ratio=math.exp(largest[1]),
    )


@claim()
def permuted_mechanism() -> Finding:
    valid = channel("3/5 2/5 0; 3/5 2/5 0; 3/5 2/5 0")
    swapped = channel("2/5 3/5 0; 2/5 3/5 0; 2/5 3/5 0")
    return above(
        "P^LB = P = {(.6, .3, .1), (.3, .6, .1), (.6, .1, .3)}: worst distortion of the constant answer (3/5, 2/5, 0), and of "
        "its image under the folding permutation (1 2)",
        claimed=float(worst_distortion(THREE, valid)),
        actual=float(worst_distortion(THREE, swapped)),
    )


@claim()
def equations_56_57() -> Finding:
    folding = Folding(isolated(as_floats(*THREE)))
    unfolded = as_source_set(part for piece in folding.unfolded(folding.intersection) for part in piece.parts)
    program = theorem_3(folding, 0.6, "largest")
    return above(
        f"three points that fold onto (3/5, 3/10, 1/10), D = 3/5: exact leakage of P^LB = P^UB, {unfolded.vertex_count} points, "
        "against the program, in nats",
        claimed=eps(unfolded, 0.6),
        actual=min(program),
    )


def _nested(rng: np.random.Generator) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])), vertices=(2, 3))
    part = SourceSet(source.vertices[: int(rng.integers(1, source.vertex_count))])
    distortion = float(rng.uniform(0.02, 1.0))
    return eps(part, distortion) - eps(source, distortion)


@claim(instance=_nested, tolerance=1e-8, share=0.5)
def nested_sets(sample: Sample) -> Finding:
    part, whole = eps(SourceSet([0.7, 0.3]), 0.4), eps(SourceSet([[0.7, 0.3], [0.3, 0.7]]), 0.4)
    name = "P_1 = {(7/10, 3/10)}, P_2 with (3/10, 7/10) as well, D = 2/5: eps*(P_1)"
    return corrected(
        yes({f"{name} >= eps*(P_2)": (True, part >= whole)}),
        yes({f"{name} <= eps*(P_2)": (True, part <= whole)}),
        sample,
        tolerance=1e-8,
    )


def _sandwich(rng: np.random.Generator) -> float:
    source = _tenths(rng)
    folding = Folding(source)
    inner = [v for piece in folding.unfolded(folding.intersection) for part in piece.parts for v in part.vertices]
    outer = [part for piece in folding.unfolded(folding.union) for part in piece.parts]
    members = [v for piece in folding.pieces for part in piece.parts for v in part.vertices]
    within = all(vertex in folding.hull for vertex in inner)
    around = all(any(vertex in part for part in outer) for vertex in members)
    return float(not (within and around))


@claim(instance=_sandwich, tolerance=0.0, share=0.4)
def sandwich(sample: Sample) -> Finding:
    folding = Folding(as_floats(SKEWED, prior("3/10 1/2 1/5")))
    inner = [v for piece in folding.unfolded(folding.intersection) for part in piece.parts for v in part.vertices]
    named = {"hull of (.6, .3, .1), (.3, .5, .2): P^LB in P": float(not all(v in folding.hull for v in inner))}
    return holds(sample, named=named, tolerance=0.0, of="hulls of distributions in tenths, exact")


@claim()
def no_gradual_shrinking() -> Finding:
    source = SourceSet([[0.6, 0.25, 0.15], [0.6, 0.15, 0.25]])
    counts = [
        int((np.diagonal(optimal_mechanism(source, distortion=d).mechanism.matrix) > 1e-9).sum())
        for d in np.linspace(0.02, 0.399, 20)
    ]
    end = float(np.abs(last_budget(source) - 0.4))
    named = {
        "(.6, .25, .15), (.6, .15, .25), 20 distortions below the end: letters not published": float(3 - min(counts)),
        "the same, one letter from D = 2/5 on": end,
    }
    return holds(named=named, tolerance=1e-9)


# What follows from Theorem 3


def _remark_4(rng: np.random.Generator) -> float:
    source = _tenths(rng)
    folding = Folding(source)
    distortion = _any_budget(rng, source)
    return kalantari2018.remark_5(folding, distortion, "largest") - eps(source, distortion)


@claim(instance=_remark_4, tolerance=1e-7, share=0.4)
def remark_4(sample: Sample) -> Finding:
    source = SourceSet([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    folding = Folding(isolated(source))
    empty = float(bool(folding.intersection))
    named = {
        "{(.6, .3, .1), (.1, .2, .7)}, P^cap empty, D = 3/10": kalantari2018.remark_5(folding, 0.3)
        - eps(source, 0.3)
        + empty
    }
    return holds(sample, named=named, tolerance=1e-7, of="hulls of distributions in tenths")


def _one_more_constraint(rng: np.random.Generator) -> float:
    source = random_set(rng, "II", letters=(3, 5))
    size = source.alphabet_size
    removed, distortion = int(rng.integers(0, size - 1)), budget(rng, source)
    if distortion == 0:
        return math.nan
    alone = kalantari2018.equation_10(source, distortion, removed)
    trivial = kalantari2018.equation_17(source, distortion, removed, [list(range(size))])
    forced = kalantari2018.equation_17(source, distortion, removed, [[int(i) for i in rng.permutation(size)]])
    same = 0.0 if alone == trivial else abs(alone - trivial)
    return max(same, alone - forced if alone < math.inf else float(forced < math.inf))


@claim(instance=_one_more_constraint, tolerance=1e-7, share=0.3)
def remark_5(sample: Sample) -> Finding:
    source = as_floats(SKEWED)
    free, forced = (math.exp(kalantari2018.equation_17(source, 0.3, 0, one)) for one in ([], [[1, 0, 2]]))
    by_hand = least_ratio(source.vertices, 0.3, [((1, -1, 0), 0.0), ((-1, 1, 0), 0.0)])
    named = {"(.6, .3, .1), D = 3/10, D_1 = D_2": max(free - forced, abs(forced - by_hand))}
    return holds(sample, named=named, tolerance=1e-7, of="Class II sets and permutations")


def _blocks(rng: np.random.Generator) -> SourceSet:
    """A convex set all of whose pieces fold alike: a prior with all permutations within blocks of consecutive ranks."""
    size = int(rng.integers(3, 5))
    cut = int(rng.integers(1, size))
    rows = []
    for _ in range(int(rng.integers(1, 3))):
        falling = np.sort(rng.multinomial(20, np.full(size, 1 / size)))[::-1] + np.arange(size)[::-1]
        falling = falling / falling.sum()
        for head in itertools.permutations(range(cut)):
            for tail in itertools.permutations(range(cut, size)):
                rows.append(falling[[*head, *tail]])
    return SourceSet(np.unique(np.array(rows), axis=0))


def _folds_alike(rng: np.random.Generator, which: str) -> float:
    source = _blocks(rng)
    folding = Folding(source)
    if not folding.folds_alike:
        return math.nan
    distortion = _any_budget(rng, source)
    formula = kalantari2018.corollary_1 if which == "corollary" else kalantari2018.remark_7
    return abs(formula(folding, distortion, "largest") - eps(source, distortion))


@claim()
def corollary_1() -> Finding:
    folding = Folding(isolated(as_floats(*MIRRORED)))
    constant = channel("1 0 0; 1 0 0; 1 0 0")
    one = certified_ratio([SKEWED], "2/5", constant)
    both = certified_ratio(MIRRORED, "2/5", TWO_KEPT, HALF)
    return above(
        "the two points (3/5, 3/10, 1/10), (3/10, 3/5, 1/10), which fold onto the first, D = 2/5: ratio needed for P^cap = "
        "P^cup (a constant answer), and for P, both certified",
        claimed=one,
        actual=both if folding.folds_alike else math.nan,
        formula=math.exp(kalantari2018.corollary_1(folding, 0.4, "corrected")),
    )


@claim(instance=lambda rng: _folds_alike(rng, "corollary"), tolerance=1e-7, share=0.3)
def corollary_1_convex(sample: Sample) -> Finding:
    source = as_floats(*MIRRORED)
    found = kalantari2018.corollary_1(Folding(source), 0.4, "corrected")
    return holds(
        sample,
        named={"segment, D = 2/5": abs(found - eps(source, 0.4))},
        tolerance=1e-7,
        of="convex sets that fold alike",
    )


@claim()
def remark_6() -> Finding:
    folding = Folding(isolated(as_floats(*THREE)))
    constant = channel("3/5 2/5 0; 3/5 2/5 0; 3/5 2/5 0")
    valid = worst_distortion(THREE, constant) <= Fraction(3, 5)
    return above(
        "the three points (.6, .3, .1), (.3, .6, .1), (.6, .1, .3), which fold onto the first, D = 3/5: ratio of a valid "
        "constant answer, and of the formula",
        claimed=float(ratio(constant)) if valid else math.nan,
        actual=math.exp(kalantari2018.remark_7(folding, 0.6, "largest")),
    )


@claim(instance=lambda rng: _folds_alike(rng, "remark"), tolerance=1e-7, share=0.3)
def remark_6_convex(sample: Sample) -> Finding:
    source = as_floats(*MIRRORED)
    found = kalantari2018.remark_7(Folding(source), 0.4, "largest")
    return holds(
        sample,
        named={"segment, D = 2/5": abs(found - eps(source, 0.4))},
        tolerance=1e-7,
        of="convex sets that fold alike",
    )


@claim()
def tightness() -> Finding:
    source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.8, 0.15, 0.05]])
    folding = Folding(isolated(source))
    worst = 0.0
    for distortion in np.linspace(0.05, 0.95, 19):
        exact = eps(source, float(distortion))
        worst = max(worst, *(abs(end - exact) for end in theorem_3(folding, float(distortion), "largest")))
    return above(
        "points (.6, .3, .1), (.3, .6, .1), (.8, .15, .05): sets P^cap and P^cup that differ though both bounds are exact at D "
        "= 0.05, 0.10, ..., 0.95",
        claimed=0,
        actual=float(not folding.folds_alike and worst < 1e-7),
        largest_error=worst,
    )


@claim()
def abstract_tight() -> Finding:
    folding = Folding(isolated(as_floats(*THREE)))
    bounds = theorem_3(folding, 0.6)
    return above(
        "the three points of Remark 6, which fold alike, D = 3/5: distance of both bounds from the exact leakage, in nats",
        claimed=0,
        actual=min(bounds) - eps(as_floats(*THREE), 0.6) if folding.folds_alike else math.nan,
    )
