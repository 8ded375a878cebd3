"""What Kalantari, Sankar and Sarwate state of Class III sets: folding, Theorem 3 and what follows, with its proof.

A *folding permutation* T of a set orders some distribution of it, ``P_T(1) >= ... >= P_T(M)``; ``P^cap`` and ``P^cup`` are the
intersection and the union of the pieces of the set, each with its letters in that order. Sets are convex hulls, or isolated
points where that is said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.claims.base import (
    Finding,
    Sample,
    claim,
    corrected,
    depends,
    example,
    for_all,
    holds,
    proved,
    refuted,
    uncertain,
)
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import (
    Prior,
    as_floats,
    certified_ratio,
    channel,
    prior,
    ratio,
    response,
    worst_distortion,
)
from paper_repro.claims.kalantari_tools import (
    budget,
    eps,
    last_budget,
    least_ratio,
    mended,
    missed,
    only_symmetric,
    symmetric,
)
from paper_repro.claims.prove import always, reals
from paper_repro.errors import optional
from paper_repro.papers.folding import Direction, Folding, as_source_set, isolated
from paper_repro.papers.kalantari2018 import theorem_3
from paper_repro.papers.readings import Reading, in_order
from paper_repro.sources import SourceSet

MIRRORED = [prior("3/5 3/10 1/10"), prior("3/10 3/5 1/10")]
# What breaks the group: a third point, which swaps two other letters.
THREE = [*MIRRORED, prior("3/5 1/10 3/10")]
OUTER = [prior("1/2 3/10 1/5"), prior("1/5 3/10 1/2")]
FAR = [prior("3/5 3/10 1/10"), prior("1/10 3/10 3/5")]
LAST = [prior("7/10 1/5 1/10"), prior("7/10 1/10 1/5")]
HALF = (Fraction(1, 2), Fraction(1, 2))
CYCLE, INVERSE = (1, 2, 0), (2, 0, 1)
CONSTANT = channel("3/5 2/5 0; 3/5 2/5 0; 3/5 2/5 0")
# Optimal for MIRRORED at D = 2/5 (ratio 2) and at D = 3/10 (7/2), and for OUTER and FAR at D = 31/50 (19/16).
TWO_KEPT = channel("2/3 1/3 0; 1/3 2/3 0; 1/2 1/2 0")
MORE_KEPT = channel("7/9 2/9 0; 2/9 7/9 0; 1/2 1/2 0")
OUTER_KEPT = channel("19/35 0 16/35; 1/2 0 1/2; 16/35 0 19/35")
ROUNDING = 1e-7

Rows = Sequence[Prior] | SourceSet


def _points(priors: Rows, hull: bool = False) -> Folding:
    source = priors if isinstance(priors, SourceSet) else as_floats(*priors)
    return Folding(source if hull else isolated(source))


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


def _tenths_and_budget(rng: np.random.Generator) -> tuple[SourceSet, float]:
    source = _tenths(rng)
    return source, _any_budget(rng, source)


def _falling(numbers: Iterable[Any]) -> bool:
    return all(a >= b for a, b in itertools.pairwise(numbers))


def _twelfths() -> list[Prior]:
    """All distributions of three letters in twelfths."""
    parts = itertools.product(range(13), repeat=3)
    return [(Fraction(i, 12), Fraction(j, 12), Fraction(k, 12)) for i, j, k in parts if i + j + k == 12]


# Definitions 5 and 6


@claim(wrong={"all but a corner": {"left_out": "1 0 0"}, "none left out": {"left_out": ""}})
def equation_11(left_out: str = "1/3 1/3 1/3") -> Finding:
    others = [one for one in _twelfths() if _falling(one) and as_floats(one).source_class != "II"]
    name = "ordered distributions of three categories in twelfths"
    wanted = [one for one in others if one != prior(left_out)]
    return corrected(
        {name: (0.0, len(others))},
        {name: (0.0, len(wanted))},
        says="Among the {name}, the sentence admits all (it excludes {}), but {} is not of Class II: the uniform one",
    )


def _regions(one: Prior) -> int:
    """In how many ordered regions a distribution lies."""
    return sum(_falling(one[i] for i in order) for order in itertools.permutations(range(len(one))))


@claim(wrong={"a tie doubles the number, however many letters tie": {"ways": lambda letters: min(letters, 2)}})
def partition(ways: Callable[[int], int] = math.factorial) -> Finding:
    found = {name: _regions(prior(name)) for name in ("1/2 3/10 1/5", "2/5 2/5 1/5", "1/3 1/3 1/3")}
    ties = {name: math.prod(ways(prior(name).count(p)) for p in set(prior(name))) for name in found}
    missed_ones = sum(_regions(one) == 0 for one in _twelfths())
    return corrected(
        {f"({name})": (1.0, count) for name, count in found.items()},
        {f"({name})": (ties[name], count) for name, count in found.items()} | {"in none": (0.0, missed_ones)},
        says="The distribution {name} would be in {} of the six ordered sets, if they were disjoint; it is in {}",
    )


@claim(wrong={"isolated points without ties": {"hull": False}})
def disjoint_union(hull: bool = True) -> Finding:
    between = prior("9/20 9/20 1/10")
    pieces = _points([*MIRRORED], hull).pieces
    count = sum(any(between in part for part in piece.parts) for piece in pieces)
    first = [[_falling(one[i] for i in order) for order in itertools.permutations(range(3))] for one in _twelfths()]
    text = "In the hull of (3/5, 3/10, 1/10) and (3/10, 3/5, 1/10), (9/20, 9/20, 1/10) is in {count} pieces."
    of_definition = refuted(text, count > 1, count=count)
    said = "Each distribution of three categories in twelfths is in some ordered region, and can be given to the first one."
    one_each = holds(named={"twelfths": float(not all(map(any, first)))}, says=said)
    return depends({"with the pieces P|_T of Definition 5": of_definition, "with ties in one piece each": one_each})


@claim(wrong={"cyclic shifts are enough": {"cyclic": True}})
def union(cyclic: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4):
        letters = reals(" ".join(f"P{i}" for i in range(size)))
        shifts = [tuple((i + step) % size for i in range(size)) for step in range(size)]
        orders = shifts if cyclic else list(itertools.permutations(range(size)))
        facts[f"M = {size}"] = always(
            z3.Or([z3.And([letters[a] >= letters[b] for a, b in itertools.pairwise(order)]) for order in orders])
        )
    return proved(
        "Some permutation sorts each distribution, and is then a folding permutation of its set (z3, M = 2, 3, 4).",
        facts,
    )


def _apply(permutation: Sequence[int], one: Sequence[Any]) -> tuple[Any, ...]:
    """The paper's T(P): ``T(P)_T(i) = P_i``."""
    image = list(one)
    for i, letter in enumerate(permutation):
        image[letter] = one[i]
    return tuple(image)


def _unsorted(rng: np.random.Generator, *, invert: bool = True) -> float:
    """Whether the inverse of the permutation that orders a distribution leaves it out of order."""
    counts = rng.permutation(9)[: int(rng.integers(3, 7))].tolist()
    order = sorted(range(len(counts)), key=lambda i: -counts[i])
    return float(not _falling(_apply([order.index(i) for i in range(len(order))] if invert else order, counts)))


_NOT_INVERTED = {"T itself, where three letters or more change places": {"invert": False}}


@claim(instance=_unsorted, tolerance=0.0, wrong=_NOT_INVERTED)
def definition_5_direction(sample: Sample, invert: bool = True) -> Finding:
    one = prior("1/5 1/2 3/10")
    name = "P = (1/5, 1/2, 3/10) and T = (2, 3, 1)"
    return corrected(
        {name: (float(_apply(CYCLE, one)[0]), float(max(one)))},
        {name: (float(_apply(INVERSE if invert else CYCLE, one)[0]), float(max(one)))},
        sample,
        says="For {name}, T(P) begins with {}, and the largest probability is {}",
    )


@claim(instance=_unsorted, tolerance=0.0, wrong=_NOT_INVERTED)
def definition_6(sample: Sample, invert: bool = True) -> Finding:
    piece = [one for one in _twelfths() if _falling(one[i] for i in CYCLE)]
    kept = {way: sum(_falling(_apply(way, one)) for one in piece) for way in (CYCLE, INVERSE if invert else CYCLE)}
    name = "distributions in twelfths with P_2 >= P_3 >= P_1 and T = (2, 3, 1)"
    return corrected(
        {name: (kept[CYCLE], len(piece))},
        {name: (list(kept.values())[-1], len(piece))},
        sample,
        says="For the {name}, the image of {} lies in the ordered region, and the piece has {} members",
    )


@claim(wrong={"other names for the inputs alone": {"outputs": False}})
def meets_ordered(outputs: bool = True) -> Finding:
    """Elements and masses by their indices: the ratios of a column, and what is summed to the distortion."""
    facts = {}
    for size in (2, 3, 4):
        for order in itertools.permutations(range(size)):
            names = order if outputs else tuple(range(size))
            pairs = {
                ((order[i], names[j]), (order[k], names[j])) for i, k, j in itertools.product(range(size), repeat=3)
            }
            kept = {(order[i], order[i], names[i]) for i in range(size)}
            facts[f"M = {size}, letters {order}"] = len(pairs) == size**3 and kept == {(i, i, i) for i in range(size)}
    return proved(
        "Renaming the categories changes no distortion and no ratio in a column (enumeration of all orders, M = 2, 3, 4).",
        facts,
    )


@claim(wrong={"of regions without an order": {"ordered": False}})
def folded_sets(ordered: bool = True) -> Finding:
    """A hull of images in S_0 that held the uniform distribution would have it among them, as an extreme point of S_0."""
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4):
        one, two = (reals(" ".join(f"{name}{i}" for i in range(size))) for name in "xy")
        given = [z3.Sum(one) == 1, z3.Sum(two) == 1, *(a + b == z3.Q(2, size) for a, b in zip(one, two, strict=True))]
        given += [p >= 0 for p in [*one, *two]]
        given += [a >= b for p in (one, two) for a, b in itertools.pairwise(p) if ordered]
        facts[f"M = {size}"] = always(z3.And([p == z3.Q(1, size) for p in one]), *given)
    return proved("The uniform distribution is an extreme point of the ordered region (z3, M = 2, 3, 4).", facts)


# Theorem 3


def _lower(points: Folding, distortion: float) -> float:
    """The lower bound as ratio, the least of its readings."""
    readings: tuple[Reading, ...] = ("literal", "printed", "largest")
    return min(math.exp(theorem_3(points, distortion, reading).lower) for reading in readings)


@claim(wrong={"of two points, whose permutations form a group": {"priors": MIRRORED, "hull": False}})
def theorem_3_lower(priors: Sequence[Prior] = THREE, hull: bool = True) -> Finding:
    bound = _lower(_points(priors), 0.6)
    least = float(ratio(CONSTANT)) if worst_distortion(priors, CONSTANT) <= Fraction(3, 5) else math.nan
    one = (
        "For the points (.6, .3, .1), (.3, .6, .1), (.6, .1, .3) all D_i are forced equal, and at D = 3/5 the bound is log "
        "{bound}. Publishing category 1 with probability 3/5 and category 2 with 2/5, whatever the data, is valid and leaks "
        "nothing (log {least})."
    )
    segment = _points(FAR, hull)
    above, exact = _lower(segment, 0.62), certified_ratio(FAR, "31/50", OUTER_KEPT, HALF)
    two = (
        "The segment from (.6, .3, .1) to (.1, .3, .6) meets {regions} regions, which force all D_i equal: at D = 31/50 the "
        "bound is log {bound}. Keeping categories 1 and 3 with probability 19/35 each is valid and leaks log {least}, the least."
    )
    regions = len(segment.permutations)
    readings = {
        "for arbitrary sets": refuted(one, bound > least + 1e-6, bound=bound, least=least),
        "for convex sets (Remark 4)": refuted(two, above > exact + 1e-6, regions=regions, bound=above, least=exact),
    }
    return depends(readings)


def _group_set(rng: np.random.Generator) -> tuple[Any, ...] | None:
    """A prior with its images under a cyclic group, and perhaps another prior of the first region, with a distortion."""
    size = int(rng.integers(3, 5))
    step = tuple(rng.permutation(size).tolist())
    images = {tuple(range(size))}
    while (more := {tuple(step[i] for i in one) for one in images} | images) != images:
        images = more
    falling = np.sort(rng.choice(40, size, replace=False) + 1)[::-1].astype(float)
    rows = [(falling / falling.sum())[list(one)] for one in sorted(images)]
    if rng.random() < 0.5:
        rows.append(-np.sort(-rng.dirichlet(np.full(size, 2.0))))
    source = SourceSet(rows)
    return (source, _any_budget(rng, source)) if len(images) > 1 and _points(source).is_group else None


@for_all(
    _group_set,
    of="priors with their images under a cyclic group, half with one more prior",
    tolerance=ROUNDING,
    share=0.2,
    wrong={"with one more image, which breaks the group": {"broken": True}},
)
@example("{(.6, .3, .1), (.3, .6, .1)}, D = 2/5", as_floats(*MIRRORED), 0.4)
@example("{(.6, .3, .1), (.3, .6, .1)}, D = 3/5", as_floats(*MIRRORED), 0.6)
@example("{(.5, .3, .2), (.2, .3, .5)}, D = 31/50", as_floats(*OUTER), 0.62)
def theorem_3_group(source: SourceSet, distortion: float, *, broken: bool = False) -> float:
    if broken:
        source = SourceSet([*source.vertices, source.vertices[0][[0, *range(source.alphabet_size - 1, 0, -1)]]])
    points = _points(source)
    bounds = [theorem_3(points, distortion, reading).lower for reading in ("printed", "largest")]
    return missed(source, distortion, lower=max(bounds))


def _above(rng: np.random.Generator, *, reading: Reading = "largest") -> float:
    source, distortion = _tenths_and_budget(rng)
    points = _points(source, bool(rng.random() < 0.5))
    return missed(source, distortion, upper=theorem_3(points, distortion, reading).upper)


@claim(
    instance=_above,
    tolerance=ROUNDING,
    share=0.2,
    wrong={"with D_i <= 1 alone added": {"reading": "printed"}, "with nothing added": {"reading": "literal"}},
)
def theorem_3_upper(sample: Sample, reading: Reading = "largest") -> Finding:
    name, least = "(.7, .2, .1) and (.7, .1, .2) at D = 3/20", certified_ratio(LAST, "3/20", response(3, "3/20"))

    def bound(how: Reading) -> dict[str, tuple[float, float]]:
        return {name: (math.exp(theorem_3(_points(LAST), 0.15, how).upper), least)}

    says = "For {name}, the upper bound is log {}, and the least leakage is log {}"
    return corrected(bound("printed"), bound(reading), sample, tolerance=ROUNDING, says=says)


def _symmetric_below(rng: np.random.Generator, *, lower_of_union: bool = False, **_: int) -> float:
    """Both bounds below D^(1) of their own folded image, and the least leakage below D^(1) of the union, by the library."""
    source = _tenths(rng)
    folding = _points(source, bool(rng.random() < 0.5))
    if not folding.intersection:
        return math.nan
    first = [float(as_source_set(image).vertices[:, -1].max()) for image in (folding.intersection, folding.union)]
    if min(first) < 1e-3:
        return math.nan
    inner, outer = (float(rng.uniform(0.05, 0.98)) * end for end in first)
    size = source.alphabet_size
    lower = outer if lower_of_union else inner
    violations = [abs(theorem_3(folding, lower).lower - symmetric(size, lower))]
    violations += [abs(theorem_3(folding, outer).upper - symmetric(size, outer))]
    return max(*violations, abs(eps(source, outer) - symmetric(size, outer)))


@claim(
    instance=_symmetric_below,
    tolerance=ROUNDING,
    share=0.3,
    wrong={
        "for D < M max min P_i": {"spare": 1},
        "the lower bound too for D < D^(1) of P^cup": {"lower_of_union": True},
    },
)
def theorem_3_symmetric(sample: Sample, spare: int = 0, lower_of_union: bool = False) -> Finding:
    """By eq. (16) each bound is this number below D^(1) of its own image; some P of the set has ``min P_i`` = D^(1) of P^cup."""
    # D^(1) is 1/10 for the intersection of the images of these points, and 1/4 for their union.
    distortion = 0.22 if lower_of_union else 0.09
    lower = theorem_3(_points([*MIRRORED, prior("2/5 7/20 1/4")]), distortion).lower
    named = {f"the lower bound of three points, D = {distortion}": abs(lower - symmetric(3, distortion)) < ROUNDING}
    return proved(
        "Some P of the set has no probability below m = D^(1) of P^cup. A dual argument over all mechanisms then gives "
        "log (M-1)(1-D)/D up to D = (M-1) m (z3, every M). Each bound is this number by (16), below D^(1) of its own image.",
        only_symmetric(spare) | named,
        sample,
    )


@claim(wrong={"from D = (M-2)/(M-1) on": {"first": lambda m: (m - 2) / (m - 1)}})
def theorem_3_zero(first: Callable[[Any], Any] = lambda m: (m - 1) / m) -> Finding:
    size, mass, distortion = reals("M mass D")
    valid = always(mass - mass / size <= distortion, size >= 3, mass == 1, distortion >= first(size))
    return proved(
        "Publishing a uniformly drawn category has the distortion (M-1)/M under every P (z3, every M). For the points "
        "(3/5, 3/10, 1/10), (3/10, 3/5, 1/10) nothing leaks from 11/20 on already, which is less than 2/3.",
        {"valid": valid, "earlier": abs(last_budget(as_floats(*MIRRORED)) - 0.55) < 1e-9},
    )


def _defined(letters: int, removed: int) -> bool:
    """Whether ``(M-1-k) (1 - sum_{i=2}^{M-k} D_i / (M-1-k)) / D_1`` can be evaluated."""
    changed = [Fraction(1, 4)] * (letters - removed)
    try:
        return (letters - 1 - removed) * (1 - sum(changed[1:]) / (letters - 1 - removed)) / changed[0] >= 0
    except (ZeroDivisionError, IndexError):
        return False


@claim(wrong={"to M - 1": {"last": -1}})
def theorem_3_range(last: int = -2) -> Finding:
    sizes = (3, 4, 5)
    found = {m: sum(_defined(m, k) for k in range(m + 1)) for m in sizes}
    return corrected(
        {f"M = {m}": (m + 1, found[m]) for m in sizes},
        {f"M = {m}": (m + last + 1, found[m]) for m in sizes},
        says="For {name}, the range of l has {} values, and the formula is defined for {} of them",
    )


@claim(wrong={"with the largest ratio over the letters": {"without": "largest", "within": "largest"}})
def theorem_3_order(without: Reading = "printed", within: Reading = "corrected") -> Finding:
    """LAST and OUTER have permutations that form a group, for which the rest of the proof is right."""
    last = certified_ratio(LAST, "3/20", response(3, "3/20"))
    outer = certified_ratio(OUTER, "31/50", OUTER_KEPT, HALF)
    free = math.exp(theorem_3(_points(LAST), 0.15, without).lower)
    rising = math.exp(theorem_3(_points(OUTER), 0.62, within).lower)
    one = "For (.7, .2, .1) and (.7, .1, .2), where D_2 = D_3, at D = 3/20 the program gives log {found}, not log {exact}."
    two = (
        "For (.5, .3, .2) and (.2, .3, .5), where D_1 = D_3, at D = 31/50 the program gives log {found}. A mechanism with the "
        "distortions (16/35, 1, 16/35), of which the middle one is the largest, leaks log {exact}, the least."
    )
    readings = {
        "without the order, as (10) and (17) are printed": refuted(one, free < last - 1e-6, found=free, exact=last),
        "with the order of Lemma 7": refuted(two, rising > outer + 1e-6, found=rising, exact=outer),
    }
    return depends(readings)


@claim(wrong={"of a group": {"priors": MIRRORED}})
def permuted_mechanism(priors: Sequence[Prior] = THREE) -> Finding:
    swapped = channel("2/5 3/5 0; 2/5 3/5 0; 2/5 3/5 0")
    one, two = worst_distortion(priors, CONSTANT), worst_distortion(priors, swapped)
    text = (
        "The points (.6, .3, .1), (.3, .6, .1), (.6, .1, .3) fold onto the first and are P^LB. Publishing category 1 with "
        "probability 3/5 and category 2 with 2/5 has the distortion {one}; with the two categories swapped it is {two}."
    )
    return refuted(text, two > one, one=one, two=two)


@claim(wrong={"for a group, with the largest ratio over letters": {"priors": MIRRORED, "reading": "largest"}})
def equations_52_53(priors: Sequence[Prior] = THREE, reading: Reading = "printed") -> Finding:
    points = _points(priors)
    unfolded = as_source_set(part for piece in points.unfolded(points.intersection) for part in piece.parts)
    program, exact = (math.exp(value) for value in (max(theorem_3(points, 0.6, reading)), eps(unfolded, 0.6)))
    text = (
        "For the {count} points (.6, .3, .1), (.3, .6, .1), (.6, .1, .3), P^LB and P^UB are the points themselves. At D = 3/5 "
        "the program gives log {program}, and nothing needs to leak (log {exact})."
    )
    return refuted(text, abs(program - exact) > 1e-6, count=unfolded.vertex_count, program=program, exact=exact)


def _part(rng: np.random.Generator, *, inside: bool = True) -> float:
    source = random_set(rng, str(rng.choice(["I", "II", "III"])), vertices=(2, 3))
    part = source.vertices[: int(rng.integers(1, source.vertex_count))]
    if not inside:
        part = np.vstack([part, rng.permutation(part[0])])
    distortion = budget(rng, source)
    return missed(source, distortion, lower=eps(SourceSet(part), distortion))


@claim(instance=_part, tolerance=ROUNDING, share=0.3, wrong={"P_1 meets P_2 only": {"inside": False}})
def nested_sets(sample: Sample, inside: bool = True) -> Finding:
    one = certified_ratio([prior("3/5 2/5")], "2/5", channel("1 0; 1 0"))
    two = certified_ratio([prior("3/5 2/5"), prior("2/5 3/5")], "2/5", response(2, "2/5"), HALF)
    name = "{(3/5, 2/5)} within {(3/5, 2/5), (2/5, 3/5)} at D = 2/5"
    return corrected(
        {name: (max(one, two), one)},
        {name: (min(one, two), one)},
        sample,
        tolerance=ROUNDING,
        says="For {name}, the smaller set would need at least log {}, and it needs log {}",
    )


@for_all(
    lambda rng: (_tenths(rng),),
    of="hulls of distributions in tenths (in exact arithmetic)",
    tolerance=0.0,
    share=0.2,
    wrong={"folded by T as printed": {"direction": "printed"}},
)
@example("hull of (.6, .3, .1), (.3, .5, .2)", SourceSet([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2]]))
@example("hull of (.1, .6, .3), (.2, .5, .3)", SourceSet([[0.1, 0.6, 0.3], [0.2, 0.5, 0.3]]))
def sandwich(source: SourceSet, *, direction: Direction = "corrected") -> float:
    folding = Folding(source, direction=direction)
    inner = [v for piece in folding.unfolded(folding.intersection) for part in piece.parts for v in part.vertices]
    outer = [part for piece in folding.unfolded(folding.union) for part in piece.parts]
    members = [v for piece in folding.pieces for part in piece.parts for v in part.vertices]
    within = all(vertex in folding.hull for vertex in inner)
    return float(not (within and all(any(vertex in part for part in outer) for vertex in members)))


@claim(wrong={"of a single distribution, where letters are not alike": {"rows": [[0.6, 0.25, 0.15]]}})
def no_gradual_shrinking(rows: Sequence[Sequence[float]] = ((0.6, 0.25, 0.15), (0.6, 0.15, 0.25))) -> Finding:
    vertices, named = np.array(rows), dict[str, float]()
    for distortion in (0.26, 0.29, 0.32, 0.35, 0.38):
        whole = least_ratio(vertices, distortion)
        dropped = min(least_ratio(vertices, distortion, [(-np.eye(3)[i], -1.0)]) for i in range(3))
        name = f"{whole:.4f} and {dropped:.4f} at D = {distortion}"
        named[name] = whole * 1.01 - dropped
    said = (
        "For {(.6, .25, .15), (.6, .15, .25)} the least ratio of all mechanisms is at least 1 % below the least ratio of the "
        "mechanisms that suppress a category"
    )
    return holds(named=named, says=f"{said}, at D = 0.26, 0.29, 0.32, 0.35 and 0.38.")


# What follows from Theorem 3


@for_all(
    _tenths_and_budget,
    of="hulls of distributions in tenths",
    tolerance=ROUNDING,
    share=0.2,
    wrong={"the hull taken with the uniform point": {"uniform": True}},
)
@example("{(.6, .3, .1), (.1, .2, .7)}, P^cap empty, D = 3/10", SourceSet([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), 0.3)
def remark_5_empty(source: SourceSet, distortion: float, *, uniform: bool = False) -> float:
    first = Folding(source).pieces[0]
    rows = [[float(p) for p in vertex] for part in first.parts for vertex in part.vertices]
    inside = SourceSet([*rows, [1 / len(rows[0])] * len(rows[0])] if uniform else rows)
    return missed(source, distortion, lower=eps(inside, distortion))


def _ordered_set(rng: np.random.Generator) -> tuple[Any, ...] | None:
    source = random_set(rng, "II", letters=(3, 5))
    size, distortion = source.alphabet_size, budget(rng, source)
    return (source, distortion, rng.permutation(size).tolist()) if distortion > 0 else None


@for_all(
    _ordered_set,
    of="Class II sets and permutations",
    tolerance=ROUNDING,
    share=0.4,
    wrong={"the same for every T": {"same": True}},
)
@example("(.6, .3, .1), D = 3/10, D_1 = D_2", as_floats(MIRRORED[0]), 0.3, [1, 0, 2])
def remark_6_constraint(source: SourceSet, distortion: float, order: list[int], *, same: bool = False) -> float:
    """The program by :func:`least_ratio`, which has the largest ratio over the letters, with and without ``D_T(i) = D_i``."""
    rows, _ = in_order(source)
    unit = np.eye(len(order))
    pairs = [(sign * (unit[i] - unit[j]), 0.0) for i, j in enumerate(order) for sign in (1, -1)]
    free, forced = least_ratio(rows, distortion), least_ratio(rows, distortion, pairs)
    return max(free - forced, forced - free if same or order == sorted(order) else 0.0)


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


def _alike(
    rng: np.random.Generator, *, alike: bool = True, reading: Reading = "largest", program: bool = True
) -> float:
    source = _blocks(rng) if alike else _tenths(rng)
    folding = Folding(source)
    if folding.folds_alike != alike or not folding.intersection:
        return math.nan
    distortion = _any_budget(rng, source)
    value = (
        theorem_3(folding, distortion, reading).lower
        if program
        else eps(as_source_set(folding.intersection), distortion)
    )
    return missed(source, distortion, lower=value, upper=value)


@claim(
    instance=lambda rng, alike=True: _alike(rng, alike=alike, program=False),
    tolerance=ROUNDING,
    share=0.2,
    wrong={"though the pieces differ": {"alike": False}},
)
def corollary_1(sample: Sample, alike: bool = True) -> Finding:
    one = certified_ratio(MIRRORED[:1], "2/5", channel("1 0 0; 1 0 0; 1 0 0"))
    both = certified_ratio(MIRRORED, "2/5", TWO_KEPT, HALF)
    segment = as_floats(*MIRRORED)
    found = eps(as_source_set(Folding(segment).intersection), 0.4)
    named = {"the segment between the two points at D = 2/5": missed(segment, 0.4, lower=found, upper=found)}
    text = (
        "The points (.6, .3, .1) and (.3, .6, .1) fold onto the first. At D = 2/5 the first alone needs no "
        "leakage (log {one}), and both together need log {both}."
    )
    points = refuted(text, both > one, one=one, both=both)
    convex = holds(sample, named=named, tolerance=ROUNDING, of="convex sets whose pieces have one folded image")
    return depends({"for convex sets (Remark 4)": convex, "for arbitrary sets": points})


@claim(instance=_alike, tolerance=ROUNDING, share=0.2, wrong={"with D_i <= 1 alone added": {"reading": "printed"}})
def remark_7_alike(sample: Sample, reading: Reading = "largest") -> Finding:
    least = certified_ratio(LAST, "3/20", response(3, "3/20"))
    segment, points = (
        "the segment from (.7, .2, .1) to (.7, .1, .2) at D = 3/20",
        "the points (.6, .3, .1), (.3, .6, .1), (.6, .1, .3) at D = 3/5",
    )

    def found(how: Reading) -> float:
        return math.exp(theorem_3(_points(LAST, True), 0.15, how).lower)

    three = math.exp(theorem_3(_points(THREE), 0.6).lower), float(ratio(CONSTANT))
    return corrected(
        {segment: (found("printed"), least), points: three},
        {segment: (found(reading), least)},
        sample,
        tolerance=ROUNDING,
        says="For {name}, the program gives log {}, and the least leakage is log {}",
    )


@claim(wrong={"P^cap = P^cup is sufficient, with the largest ratio over letters": {"reading": "largest"}})
def tightness(reading: Reading = "printed") -> Finding:
    alike = _points(LAST, True)
    rows = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.8, 0.15, 0.05]])
    apart = _points(rows, True)
    least = certified_ratio(LAST, "3/20", response(3, "3/20"))
    bound = math.exp(theorem_3(alike, 0.15, reading).upper)
    error = max(abs(end - eps(rows, d)) for d in np.arange(1, 20) / 20 for end in theorem_3(apart, float(d), "largest"))
    sentence = (
        "the condition is not sufficient. The pieces of the segment from (.7, .2, .1) to (.7, .1, .2) have the same folded "
        "image, and at D = 3/20 both bounds are log {bound}, but the least leakage is log {least}."
    )
    ends = [abs(math.exp(end) - least) for end in theorem_3(alike, 0.15, "largest")]
    said = (
        "With the largest ratio over the categories both bounds are exact for this segment. The condition is then not necessary: "
        "the pieces of the hull of (.6, .3, .1), (.3, .6, .1), (.8, .15, .05) have different folded images, and both bounds are "
        "exact at D = 1/20, 2/20, ..., 19/20."
    )
    unlike = {"the segment": max(ends), "the hull": error, "images differ": float(apart.folds_alike)}
    right = holds(named=unlike, tolerance=ROUNDING, says=said)
    found = mended(sentence, abs(bound - least) > 1e-6 and alike.folds_alike, right, bound=bound, least=least)
    return uncertain(found, "With the formulas of the 2017 preprint")


@claim(wrong={"with the largest ratio over letters": {"reading": "largest"}})
def abstract_tight(reading: Reading = "printed") -> Finding:
    folding = _points(LAST, True)
    bound = math.exp(theorem_3(folding, 0.15, reading).upper)
    least = certified_ratio(LAST, "3/20", response(3, "3/20"))
    text = (
        "The pieces of the segment from (.7, .2, .1) to (.7, .1, .2) have the same folded image. At D = 3/20 both bounds are "
        "log {bound}, not log {least}."
    )
    ends = [abs(math.exp(end) - least) for end in theorem_3(folding, 0.15, "largest")]
    said = "With the largest ratio over the categories both bounds are exact there."
    right = holds(named={"the largest ratio over the categories": max(ends)}, tolerance=ROUNDING, says=said)
    return mended(text, folding.folds_alike and abs(bound - least) > 1e-6, right, bound=bound, least=least)
