"""What Kalantari, Sankar and Sarwate state of mutual information (Sections III-A, IV and VI), in nats, worst case over a set."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from paper_repro.claims.base import Finding, Sample, claim, corrected, depends, example, for_all, holds, proved, refuted
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import channel, information, prior, response, worst_distortion
from paper_repro.claims.kalantari_tools import eps, last_budget, least_information, mended, same
from paper_repro.claims.prove import always, identical, reals, symbols
from paper_repro.curves import leakage_curve
from paper_repro.errors import optional
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy, MutualInformation, Notion
from paper_repro.papers import kalantari2016, kalantari2018
from paper_repro.papers.coloring import largest_ratio
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

# Programs for mutual information are solved to about 1e-6 nats.
SOLVED = 2e-6
ENDS, IDENTITY, SLANTED = SourceSet(np.eye(2)), np.eye(2), np.array([[1.0, 0.0], [0.5, 0.5]])


def _mi(source: SourceSet, distortion: float) -> float:
    return float(leakage_curve(source, distortion, notion=MutualInformation()))


def _any_set(rng: np.random.Generator) -> SourceSet:
    return random_set(rng, str(rng.choice(["I", "II", "III"])), letters=(2, 4))


# Section III-A


@claim(wrong={"for differential privacy": {"notion": DifferentialPrivacy()}})
def information_hull(notion: Notion | None = None) -> Finding:
    matrices = [IDENTITY, np.array(response(2, "1/20"), dtype=float)]
    points = min(
        max(math.log(largest_ratio(one)) if notion else information(end, one) for end in IDENTITY) for one in matrices
    )
    hull = float(leakage_curve(ENDS, 0.05, notion=notion or MutualInformation()))
    text = (
        "For the points (1, 0), (0, 1) the identity, which is always valid, has the mutual information {points} under either. "
        "Their hull needs {hull} nats at D = 1/20."
    )
    return refuted(text, hull > points + 1e-6, points=points, hull=round(hull, 6))


@claim(wrong={"beyond the mixtures": {"most": 2}})
def valid_mechanisms(most: int = 1) -> Finding:
    """Bilinear: the distortion of mixtures is a mixture of the four distortions."""
    facts = {}
    for size in (2, 3, 4):
        w, s, *rest = symbols("w s " + " ".join(f"{name}{i}" for name in "pqde" for i in range(size)))
        p, q, d, e = (rest[i * size : (i + 1) * size] for i in range(4))
        mixed = sum((w * a + (1 - w) * b) * (s * c + (1 - s) * f) for a, b, c, f in zip(p, q, d, e, strict=True))
        shares = ((w * s, p, d), (w * (1 - s), p, e), ((1 - w) * s, q, d), ((1 - w) * (1 - s), q, e))
        parts = sum(share * a * b for share, one, two in shares for a, b in zip(one, two, strict=True))
        facts[f"bilinear, M = {size}"] = same(mixed, parts)
    x, y, u, v, w, s, limit = reals("x y u v w s D")
    given = [
        w >= 0,
        w <= most,
        s >= 0,
        s <= most,
        *(one <= limit for one in (x, y, u, v)),
        x >= 0,
        y >= 0,
        u >= 0,
        v >= 0,
    ]
    mean = w * s * x + w * (1 - s) * y + (1 - w) * s * u + (1 - w) * (1 - s) * v
    facts["a mixture is at most D"] = always(mean <= limit, *given)
    return proved(
        "Distortion is bilinear in prior and diagonal (sympy, M = 2, 3, 4), and mixtures are at most the largest (z3).",
        facts,
    )


def _two_sources(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    size = int(rng.integers(2, 6))
    one, two = rng.dirichlet(np.ones(size), size=2)
    return random_channel(rng, size), random_channel(rng, size), one, two, float(rng.random())


def _concave(rng: np.random.Generator, *, linear: bool = False) -> float:
    matrix, _, one, two, share = _two_sources(rng)
    mean = share * information(one, matrix) + (1 - share) * information(two, matrix)
    above = information(share * one + (1 - share) * two, matrix) - mean
    return max(-above, above if linear else 0.0)


@claim(instance=_concave, tolerance=1e-12, wrong={"linear": {"linear": True}})
def convex_in_source(sample: Sample, linear: bool = False) -> Finding:
    mean, middle = (information(one, IDENTITY) for one in (np.array([1.0, 0.0]), np.array([0.5, 0.5])))
    name = "(1/2, 1/2), half way from (1, 0) to (0, 1), and the identity"
    return corrected(
        {name: (mean, middle)},
        {name: (mean if linear else max(mean, middle), middle)},
        sample,
        says="For {name}, a convex function would be at most {}, and the information is {} nats",
    )


@for_all(_two_sources, of="mixtures of two mechanisms", tolerance=1e-12, wrong={"and source together": {"joint": True}})
@example(
    "the identity and the exchange of two categories", IDENTITY, IDENTITY[::-1], np.full(2, 0.5), np.full(2, 0.5), 0.5
)
def convex_in_channel(
    one: FloatArray, two: FloatArray, source: FloatArray, other: FloatArray, share: float, *, joint: bool = False
) -> float:
    other = other if joint else source
    mean = share * information(source, one) + (1 - share) * information(other, two)
    return information(share * source + (1 - share) * other, share * one + (1 - share) * two) - mean


@claim(wrong={"with its end": {"closed": True}})
def compact_sets(closed: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    one, nearer = reals("p q")

    def member(p: Any) -> Any:
        return z3.And(p <= 1, p >= z3.Q(1, 2) if closed else p > z3.Q(1, 2))

    exceeded = always(z3.And(member(nearer), 1 - nearer > 1 - one), member(one), 4 * nearer == 2 * one + 1)
    text = (
        "The Class II set of all (p, 1 - p), 1/2 < p <= 1, is not closed: P_2 comes arbitrarily near to {limit}, and no largest "
        "one exists, hence no D^(1) by eq. (9)."
    )
    # Over budget at the end 1/2, so over budget at a p near to it: the end forbids no mechanism.
    d, e, limit = reals("d e D")
    end, inside = (d + e) / 2, one * d + (1 - one) * e
    excess = [d >= 0, d <= 1, e >= 0, e <= 1, limit >= 0, end > limit, 2 * one - 1 == end - limit]
    facts = {"member": always(z3.And(one > z3.Q(1, 2), one <= 1), *excess), "over": always(inside > limit, *excess)}
    right = proved("With its end 1/2 the set is closed and has the same valid mechanisms (z3).", facts)
    return mended(text, exceeded, right, limit=0.5)


def _set_and_budget(rng: np.random.Generator) -> tuple[Any, ...]:
    source = _any_set(rng)
    return source, float(rng.uniform(0.05, 0.95)) * last_budget(source)


@for_all(
    lambda rng: (random_set(rng, "III", letters=(2, 4), vertices=(2, 2)), float(rng.uniform(0.02, 0.5))),
    of="segments (the largest information of the optimal mechanism, against a program for one prior)",
    tolerance=SOLVED,
    share=0.2,
    wrong={"over the ends alone": {"hull": False}},
)
@example("(.7, .3) and (.3, .7), D = 1/5", SourceSet([[0.7, 0.3], [0.3, 0.7]]), 0.2)
def equation_21(source: SourceSet, distortion: float, *, hull: bool = True) -> float:
    best = optimal_mechanism(source, distortion=distortion, notion=MutualInformation())
    one, two = source.vertices[0], source.vertices[-1]
    sources = [one + share * (two - one) for share in (np.linspace(0, 1, 201) if hull else (0, 1))]
    largest = max(information(here, best.mechanism.matrix) for here in sources)
    priors = [best.worst_prior] if hull else [one, two]
    least = max(least_information(here, source.vertices, distortion) for here in priors)
    return max(largest - least, best.distortion - distortion)


def _channel_and_source(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    size = int(rng.integers(2, 6))
    return random_channel(rng, size), rng.dirichlet(np.ones(size))


@claim(wrong={"for smaller ratios": {"known": False}})
def upper_bound(known: bool = True) -> Finding:
    """Information is a mean of ``log Q(j|i) / sum_k P_k Q(j|k)``; each is at most eps, and the mean is eps only if all are."""
    p, here, other, odds, mean = reals("p here other t mean")
    facts = {"each term": always(p * (odds * other - here) >= 0, p >= 0, *([here <= odds * other] if known else []))}
    facts["equal"] = always(odds == 1, mean > 0, mean == odds * mean)
    for size in (2, 3, 4):
        t, one, *rest = symbols(" ".join(["t", "x", *(f"{name}{i}" for name in "pq" for i in range(size))]))
        masses, entries = [1 - sum(rest[1:size]), *rest[1:size]], rest[size:]
        terms = sum(m * (t * q - one) for m, q in zip(masses, entries, strict=True))
        whole = t * sum(m * q for m, q in zip(masses, entries, strict=True)) - one
        facts[f"terms, M = {size}"] = same(whole, terms)
    return proved(
        "$t \\sum_k P_k Q(j|k) - Q(j|i) = \\sum_k P_k (t Q(j|k) - Q(j|i))$ has no negative term (sympy, $M = 2, 3, 4$, z3); if "
        "it is 0 wherever $P_i > 0$, the mean of $Q(j|i)$ is $t$ times itself, so $t = 1$.",
        facts,
    )


@for_all(
    lambda rng: (random_set(rng, "III", letters=(3, 4)), random_channel(rng, 4)),
    of="mechanisms in the worst case over a set",
    share=0.4,
    wrong={"the other way round": {"converse": True}},
)
@example("Q_D, D = 1/5, P_IIIc^(6)", load_source_set("P_IIIc_6"), kalantari2016.equation_5(6, 0.2))
def stronger(source: SourceSet, matrix: FloatArray, *, converse: bool = False) -> float:
    size = source.alphabet_size
    matrix = matrix[:size, :size] / matrix[:size, :size].sum(axis=1, keepdims=True)
    worst = MutualInformation().leakage(Mechanism(matrix), source)
    bound = math.log(largest_ratio(matrix))
    return bound - worst if converse else worst - bound


def _class_1(rng: np.random.Generator) -> tuple[Any, ...]:
    source = random_set(rng, "I", letters=(2, 4))
    return source, float(rng.uniform(0.02, 1.0)), rng.dirichlet(np.ones(source.vertex_count), size=20)


def _formula_missed(source: SourceSet, distortion: float, weights: FloatArray, *, off: float) -> float:
    """Nothing less for the uniform distribution, and no more for Q_D under members of the hull."""
    size = source.alphabet_size
    uniform, kept = np.full(size, 1 / size), min(distortion, 1 - 1 / size)
    formula = kalantari2018.lemma_3(size, distortion) + (1 - off) * distortion * math.log(size - 1)
    members = [uniform, *(weights @ source.vertices)]
    reached = max(information(one, kalantari2016.equation_5(size, kept)) for one in members)
    return max(formula - least_information(uniform, source.vertices, distortion), reached - formula)


@claim(
    instance=lambda rng, off=1.0: _formula_missed(*_class_1(rng), off=off),
    tolerance=SOLVED,
    share=0.25,
    wrong={"without D log (M-1)": {"off": 0.0}},
)
def lemma_3_formula(sample: Sample, off: float = 1.0) -> Finding:
    named = {
        "uniform, M = 10, D = 3/10": _formula_missed(SourceSet(np.full(10, 0.1)), 0.3, np.ones((1, 1)), off=off),
        "simplex, M = 3, D = 1/4": _formula_missed(SourceSet(np.eye(3)), 0.25, np.eye(3), off=off),
    }
    worst, formula = max(information(one, IDENTITY) for one in IDENTITY), kalantari2018.lemma_3(2, 0.05)
    text = (
        "For the points (1, 0), (0, 1) at D = 1/20 the formula gives {formula} nats. The identity is valid and has the "
        "information {worst} under either."
    )
    readings = {
        "for convex sets (Remark 4)": holds(sample, named=named, tolerance=SOLVED, of="convex Class I sets, at any D"),
        "for arbitrary sets": refuted(text, formula > worst, formula=round(formula, 6), worst=worst),
    }
    return depends(readings)


@claim(wrong={"to a uniformly drawn letter": {"matrix": "1/2 1/2; 1/2 1/2"}})
def lemma_3_first_letter(matrix: str = "1 0; 1 0") -> Finding:
    priors = [prior("1/2 1/2"), prior("1/4 3/4")]
    found, even = (worst_distortion(priors, channel(one)) for one in (matrix, "1/2 1/2; 1/2 1/2"))
    text = "Over (1/2, 1/2) and (1/4, 3/4), a set of Class I, the distortion is {found}, and (M-1)/M is {limit}."
    said = "Publishing a uniformly drawn category has the distortion 1/2."
    right = holds(named={"a uniformly drawn category": float(even) - 0.5}, says=said)
    return mended(text, found > 0.5, right, found=found, limit=0.5)


def _symmetric_excess(rng: np.random.Generator, **_: FloatArray) -> float:
    size = int(rng.integers(2, 6))
    matrix = kalantari2016.equation_5(size, float(rng.random()) * (1 - 1 / size))
    return information(rng.dirichlet(np.ones(size)), matrix) - information(np.full(size, 1 / size), matrix)


@claim(
    instance=_symmetric_excess,
    tolerance=1e-12,
    wrong={"for Q_D": {"matrix": np.array(response(2, "1/4"), dtype=float)}},
)
def lemma_5_worst_source(sample: Sample, matrix: FloatArray = SLANTED) -> Finding:
    even, other = (information(np.array(one), matrix) for one in ((0.5, 0.5), (0.6, 0.4)))
    text = (
        "Through the mechanism with rows (1, 0), (1/2, 1/2) the uniform prior has the information {even}, and (3/5, 2/5) has "
        "log 5/4 = {other}."
    )
    right = holds(sample, tolerance=1e-12, of="priors through $Q_D$")
    return mended(text, other > even, right, even=round(even, 6), other=round(other, 6))


def _sharp(rng: np.random.Generator) -> tuple[FloatArray]:
    size, share = int(rng.integers(2, 7)), float(rng.random())
    return ((1 - share) * random_channel(rng, size) + share * np.eye(size),)


@for_all(_sharp, of="mechanisms", tolerance=1e-12, wrong={"without D log (M-1)": {"off": 0.0}})
@example("rows (1, 0), (1/2, 1/2), D = 1/4", SLANTED)
def equation_28(matrix: FloatArray, *, off: float = 1.0) -> float:
    size = len(matrix)
    distortion = float(1 - np.trace(matrix) / size)
    if distortion >= 1 - 1 / size:
        return math.nan
    formula = kalantari2018.lemma_3(size, distortion) + (1 - off) * distortion * math.log(size - 1)
    return formula - information(np.full(size, 1 / size), matrix)


@claim(wrong={"with D log M": {"off": 1}})
def equation_24(off: int = 0) -> Finding:
    sympy = optional("sympy", "proofs")
    changed, others = sympy.Symbol("D", positive=True), sympy.Symbol("N", positive=True)
    kept, size = 1 - changed, others + 1
    terms = kept * sympy.log(kept * size) + changed * sympy.log(changed / others * size)
    entropy = -changed * sympy.log(changed) - kept * sympy.log(kept)
    formula = sympy.log(size) - entropy - changed * sympy.log(others + off)
    return proved(
        "The sum over all inputs and outputs is this formula, for all M and D (sympy).",
        {"identical": identical(terms, formula)},
    )


@for_all(
    lambda rng: (random_channel(rng, int(rng.integers(2, 5))),),
    of="mechanisms, with all permutations",
    tolerance=1e-12,
    share=0.5,
    wrong={"for a source that is not uniform": {"power": 2}},
)
@example("rows (1, 0), (1/2, 1/2)", SLANTED)
@example("rows (1/2, 1/2), (0, 1)", SLANTED[::-1, ::-1])
def lemma_3_symmetry(matrix: FloatArray, *, power: int = 0) -> float:
    size = len(matrix)
    source = np.arange(1.0, size + 1) ** power
    orders = [list(order) for order in itertools.permutations(range(size))]
    mean = np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)
    spread = max(np.ptp(np.diagonal(mean)), np.ptp(mean[~np.eye(size, dtype=bool)]))
    source /= source.sum()
    return max(information(source, mean) - information(source, matrix), float(spread))


def _answers(letter: int | None, ordered: bool = True) -> dict[str, bool]:
    """That a constant answer has the distortion ``1 - P_1`` if it is the given letter, or that or more whatever it is."""
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3) if letter is None else (2, 3, 4):
        masses, answers = (reals(" ".join(f"{name}{i}" for i in range(size))) for name in "pa")
        given = [z3.Sum(masses) == 1, z3.Sum(answers) == 1, *(x >= 0 for x in [*masses, *answers])]
        given += [a >= b for a, b in itertools.pairwise(masses) if ordered]
        changed, tail = 1 - z3.Sum([p * a for p, a in zip(masses, answers, strict=True)]), z3.Sum(masses[1:])
        conclusion = changed >= tail if letter is None else z3.Implies(answers[letter] == 1, changed == tail)
        facts[f"M = {size}"] = always(conclusion, *given)
    return facts


@claim(wrong={"to the least likely": {"letter": -1}})
def lemma_4_if(letter: int = 0) -> Finding:
    return proved("The distortion is 1 - P_1 under each P of the set (z3, M = 2, 3, 4).", _answers(letter))


@claim(wrong={"of sets without an order": {"ordered": False}})
def lemma_4_only_if(ordered: bool = True) -> Finding:
    """No information: rows are alike but for letters without probability, which have no part in the distortion."""
    how = "Constant answers have a distortion of at least 1 - P_1 under each ordered P (z3, M = 2, 3)."
    return proved(how, _answers(None, ordered))


# Sections IV and VI


@claim(wrong={"both 0 from D = 4/5 on": {"end": 0.8}})
def figure_6(end: float = 0.9) -> Finding:
    exact, named = SourceSet(np.full(10, 0.1)), {}
    for distortion in (0.05, 0.3, 0.6, 0.85):
        one = least_information(exact.vertices[0], exact.vertices, distortion)
        two = eps(exact, distortion)
        named[f"{one:.4f} < {two:.4f} at D = {distortion}"] = one - two + 1e-4
    named[f"both are 0 at D = {end}"] = max(eps(exact, end), _mi(exact, end))
    said = "Mutual information is below the leakage under differential privacy, in nats"
    return holds(named=named, tolerance=SOLVED, says=f"{said}: {'; '.join(named)}.")


@claim(wrong={"both 0 from D = 3/5 on": {"end": 0.6}})
def figure_7(end: float = 0.7) -> Finding:
    source, named = load_source_set("P_II_10"), {}
    for distortion in (0.05, 0.2, 0.4, 0.65):
        one, two = _mi(source, distortion), eps(source, distortion)
        named[f"{one:.4f} < {two:.4f} at D = {distortion}"] = one - two + 1e-4
    named[f"both are 0 at D^(M-1) = {end}"] = max(_mi(source, end), eps(source, end))
    said = "Mutual information is below the leakage under differential privacy, in nats"
    return holds(named=named, tolerance=SOLVED, says=f"{said}: {'; '.join(named)}.")


@for_all(
    lambda rng: (_any_set(rng), *np.sort(rng.uniform(0.02, 0.8, size=2)).tolist()),
    of="sets (at the middle of two distortions)",
    tolerance=SOLVED,
    share=0.2,
    wrong={"of differential privacy": {"notion": DifferentialPrivacy()}},
)
@example("Table II, D = 2/5 and 7/10", load_source_set("P_II_10"), 0.4, 0.7)
def convex_information(source: SourceSet, one: float, two: float, *, notion: Notion | None = None) -> float:
    ends, middle = (
        leakage_curve(source, d, notion=notion or MutualInformation()) for d in ([one, two], (one + two) / 2)
    )
    return float(middle - ends.mean())


@claim(wrong={"at low distortion, D = 1/20, 1/10, 3/20": {"grid": ("1/20", "1/10", "3/20")}})
def not_convex(grid: tuple[str, str, str] = ("11/20", "3/5", "13/20")) -> Finding:
    """By Theorem 1 the exponential of the leakage is ``(M-1)(1-D)/D``; 2 log b > log a + log c if b^2 > a c."""
    first, middle, last = (2 * (1 - one) / one for one in prior(" ".join(grid)))
    return proved(
        "For Class I and M = 3 the ratios at D = 11/20, 3/5, 13/20 are 18/11, 4/3, 14/13, and (4/3)^2 > (18/11)(14/13).",
        {"the middle is above the mean": middle**2 > first * last},
    )


def _ends_apart(source: SourceSet, first: bool) -> float:
    """Differential privacy leaks nothing from ``last_budget`` on; so does information there, and not a hundredth below."""
    end = float(source.vertices.min(axis=1).max()) if first else last_budget(source)
    if end < 1e-3:
        return math.nan
    below = min(_mi(source, 0.9 * end), eps(source, 0.9 * end))
    return max(_mi(source, end), eps(source, end), 1e-4 - below if not first else 0.0)


@claim(
    instance=lambda rng, first=False: _ends_apart(_any_set(rng), first),
    tolerance=SOLVED,
    share=0.2,
    wrong={"at D^(1), the largest least probability": {"first": True}},
)
def same_perfect_privacy(sample: Sample, first: bool = False) -> Finding:
    named = {"Class I, M = 6": _ends_apart(load_source_set("P_I_6"), first)}
    named["Table II"] = _ends_apart(load_source_set("P_II_10"), first)
    needed = 0.0 if max(information(one, IDENTITY) for one in IDENTITY) == 0 else last_budget(ENDS)
    text = (
        "For the points (1, 0), (0, 1) the identity has the information 0 under either, so that the least information is 0 at "
        "D = {needed}. The least leakage under differential privacy is 0 from D = {end} on."
    )
    of = "convex sets (just below the end and at it)"
    readings = {
        "for convex sets (Remark 4)": holds(sample, named=named, tolerance=SOLVED, of=of),
        "for arbitrary sets": refuted(text, needed < last_budget(ENDS), needed=needed, end=last_budget(ENDS)),
    }
    return depends(readings)
