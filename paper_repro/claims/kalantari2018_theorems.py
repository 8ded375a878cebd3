"""What Kalantari, Sankar and Sarwate state in Section III (2018, and their preprint of 2017) up to Theorem 2, claim by claim.

``D^(k)`` is the largest mass, over the set, of the k least likely letters. "Ratio" is exp of a leakage. The proofs, Section V,
are in ``kalantari2018_proofs``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

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
    loose,
    proved,
    refuted,
)
from paper_repro.claims.draw import random_set
from paper_repro.claims.exact import KNOWN, SHORT, as_floats, channel, prior, ratio, response, worst_distortion
from paper_repro.claims.kalantari_tools import (
    channel_program,
    confirmed,
    eps,
    falling_letters,
    last_budget,
    least_ratio,
    mended,
    only_symmetric,
    ordered_set,
    table_1,
    tail,
)
from paper_repro.claims.prove import always
from paper_repro.errors import optional
from paper_repro.papers import kalantari2016, kalantari2018
from paper_repro.papers.readings import Reading
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

PEAKED, TWO = prior("7/10 1/5 1/10"), prior("7/10 3/10")
TABLE_1 = prior("7/10 3/20 3/50 1/25 3/100 1/50")


@claim(wrong={"at high utility, D = 1/5": {"distortion": "1/5"}, "from (M-1)/M on": {"distortion": "1/2"}})
def low_utility(distortion: str = "2/5") -> Finding:
    constant = channel("1 0; 1 0")
    allowed, end = Fraction(distortion), worst_distortion([TWO], constant)
    truth = 1.0 if allowed >= end else confirmed([TWO], allowed, response(2, allowed))
    of_response = ratio(response(2, min(allowed, Fraction(1, 2))))
    uniform = {f"M = {m}": float(ratio(response(m, Fraction(m - 1, m)))) - 1 for m in (2, 3, 5)}
    text = "For (7/10, 3/10) and D = {at} a constant answer has the distortion {end}, and Q_D has the ratio {response}."
    readings = {
        "as D >= D^(M-1), the last case of Theorem 2(b)": refuted(
            text, of_response > truth, at=allowed, end=end, response=of_response
        ),
        "as D = (M-1)/M, where the last case of Theorem 1 begins": holds(
            named=uniform, says="For M = 2, 3, 5 the mechanism with 1/M everywhere leaks nothing."
        ),
    }
    return depends(readings)


@claim(name="no_leakage", wrong={"from D = 1/2 on": {"first": "1/2"}, "from D = (M-2)/(M-1) on": {"behind": 1}})
@claim(name="theorem_1_zero", wrong={"from D = 1/2 on": {"first": "1/2"}, "from D = (M-2)/(M-1) on": {"behind": 1}})
def _uniform(first: str = "", behind: int = 0) -> Finding:
    z3 = optional("z3", "proofs")
    facts, d = {}, z3.Real("d")
    for size in (2, 3, 4, 5):
        p = z3.Reals(" ".join(f"p{i}" for i in range(size)))
        begin = z3.Q(size - 1 - behind, size - behind) if not first else z3.RealVal(first)
        changed = sum(one * (1 - z3.Q(1, size)) for one in p)
        facts[f"valid, M = {size}"] = always(changed <= d, sum(p) == 1, d >= begin)
        facts[f"no less, M = {size}"] = always(changed == z3.Q(size - 1, size), sum(p) == 1)
    how = "Publishing a uniformly drawn category has the distortion (M-1)/M under every prior (z3, M = 2 to 5)."
    return proved(how, facts)


@claim(wrong={"with the affine hull": {"most": 2}})
def lemma_2(most: int = 1) -> Finding:
    z3 = optional("z3", "proofs")
    one, two, share, d = z3.Reals("one two share d")
    # Distortions of a mechanism under two distributions; under a mixture it is the mixture of them.
    valid = always(share * one + (1 - share) * two <= d, one <= d, two <= d, share >= 0, share <= most)
    how = "A mechanism that is valid for two distributions is valid for their mixtures (z3), hence for any number, by induction."
    return proved(how, {"valid for mixtures": valid})


def _in_range(
    rng: np.random.Generator, letters: tuple[int, int] = (2, 5), vertices: tuple[int, int] = (1, 3), low: float = 0.02
) -> tuple[FloatArray, float] | None:
    """A Class II set, and a distortion at which something has to leak."""
    source = random_set(rng, "II", letters=letters, vertices=vertices)
    last = last_budget(source)
    return None if last == 0 else (source.vertices, float(rng.uniform(low, 0.98)) * last)


@for_all(
    ordered_set,
    of="Class II sets",
    share=0.4,
    wrong={"strictly, by 1/100": {"gap": 0.01}, "with the rarest letter first": {"turned": True}},
)
@example("Table I, ratio 10", np.array([[float(p) for p in TABLE_1]]), 10.0)
@example("(1/2, 3/10, 1/5), ratio 11/5", np.array([[0.5, 0.3, 0.2]]), 2.2)
def lemma_2_order(vertices: FloatArray, odds: float, gap: float = 0.0, turned: bool = False) -> float:
    size = vertices.shape[1]
    priors = np.roll(vertices, 1, axis=1) if turned else vertices
    rising = [((np.eye(size)[i + 1] - np.eye(size)[i]).tolist(), -gap) for i in range(size - 1)]
    return channel_program(priors, odds, rising) - channel_program(priors, odds)


@claim(wrong={"for D up to 1": {"last": True}, "if the hull has a P with P_i >= 1/(M+1) for all i": {"near": 1}})
def theorem_1_symmetric(last: bool = False, near: int = 0) -> Finding:
    m, d = optional("z3", "proofs").Reals("m d")
    enough = always((m - 1) / (m + near) >= d, m >= 2, d >= 0, d < 1 if last else m * d < m - 1)
    how = (
        "If one P has P_i >= D/(M-1) for all i, no mechanism of a smaller ratio t is valid, as (t-1) D_i >= M-1 - sum D_j. The "
        "uniform one has 1/M >= D/(M-1) (z3, every M)."
    )
    return proved(how, {"1/M is enough": enough, **only_symmetric()})


@for_all(
    lambda rng: _in_range(rng, letters=(2, 4), vertices=(1, 2)),
    of="Class II sets",
    share=0.5,
    wrong={"over one number, all letters alike": {"alike": True}},
)
@example("Table I, D = 1/5", np.array([[float(p) for p in TABLE_1]]), 0.2)
def theorem_2_dimension(vertices: FloatArray, distortion: float, alike: bool = False) -> float:
    unit = np.eye(vertices.shape[1])
    same = (
        [((unit[i] - unit[j]).tolist(), 0.0) for i, j in itertools.permutations(range(len(unit)), 2)] if alike else []
    )
    odds = least_ratio(vertices, distortion, same)
    return math.inf if math.isinf(odds) else abs(channel_program(vertices, odds) - distortion)


@claim(wrong={"below D^(k+1)": {"more": 1}, "letters in any order": {"falling": False}})
def theorem_2a(more: int = 0, falling: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4, 5):
        p, given = falling_letters(size)
        given = given if falling else [sum(p) == 1, *(one >= 0 for one in p)]
        for count in range(1, size):
            last = sum(p[size - count - more :])
            # These letters are never published, so that they are changed for certain.
            gone = [sum(p[i] for i in letters) for letters in itertools.combinations(range(size), count)]
            facts[f"M = {size}, k = {count}"] = always(z3.And(*(mass >= last for mass in gone)), *given)
    how = "Any k categories have at least the mass of the last k (z3, M = 2 to 5); for k = M no column is left."
    return proved(how, facts)


@claim(wrong={"from (M-1) D^(1) on": {"factor": 2}})
def theorem_2_thresholds(factor: int = 1) -> Finding:
    first = factor * tail(PEAKED, 1)
    at = first * Fraction(5, 4)
    vertices = np.array([[float(p) for p in PEAKED]])
    full = ratio(response(3, at))
    # Two letters published: the least ratio is the one at which they need this distortion.
    fewer = (1 - at) / (at - tail(PEAKED, 1))
    certain = channel_program(vertices, float(fewer), [([0, 0, 1], 0.0)]) - float(at)
    text = (
        "For (7/10, 1/5, 1/10) and D = {at} > D^(1) = {first}, Q_D has the ratio {full}, and publishing two categories needs "
        "the ratio {fewer}."
    )
    # From (M-1) P_M = 1/5 on: two letters are as good as three at its beginning, and better at D = 1/4.
    right = {}
    for distortion in (Fraction(1, 5), Fraction(1, 4)):
        two = (1 - distortion) / (distortion - Fraction(1, 10))
        least = channel_program(vertices, float(two))
        right[f"two categories with ratio {two} at D = {distortion}"] = abs(least - float(distortion))
    said = "With two categories the least ratio is 8 at D = 1/5 = (M-1) P_M, where Q_D has it too, and 5 at D = 1/4."
    later = holds(named=right, says=said)
    return mended(text, abs(certain) < 1e-9 and fewer > full, later, at=at, first=first, full=full, fewer=fewer)


@claim(wrong={"for 0 < D < D^(2)": {"letters": 2}, "for D < M D^(1)": {"spare": 1}})
def theorem_2b_symmetric(letters: int = 1, spare: int = 0) -> Finding:
    m, d, last, other = optional("z3", "proofs").Reals("m d last other")
    given = [m >= 2, d > 0, other >= last, last + (other if letters == 2 else 0) > d]
    enough = always(last * (m - 1) >= d, *given)
    how = (
        "If one P has P_i >= D/(M-1) for all i, no mechanism of a smaller ratio t is valid, as (t-1) D_i >= M-1 - sum D_j. Some "
        "P has P_M > D (z3, every M)."
    )
    return proved(how, {"P_M is enough": enough, **only_symmetric(spare)})


def _symmetric_end(rng: np.random.Generator, factor: int = -1) -> float:
    source = random_set(rng, "II")
    size = source.alphabet_size
    end = (size + factor) * float(source.vertices[:, -1].max())
    if not 1e-6 < end < last_budget(source) - 1e-6:
        return math.nan
    here, beyond = ((size - 1) * (1 - d) / d for d in (end, end + 0.1 * (last_budget(source) - end)))
    # Up to the end nothing is better than Q_D, and beyond something is.
    gain = end + 0.1 * (last_budget(source) - end) - channel_program(source.vertices, max(1.0, beyond))
    return max(abs(channel_program(source.vertices, here) - end), 1e-7 - gain)


@claim(instance=_symmetric_end, share=0.3, wrong={"it is optimal up to M max P_M": {"factor": 0}})
def theorem_2b_range(sample: Sample, factor: int = -1) -> Finding:
    found = {}
    for name, one in (("(7/10, 3/20, 3/50, 1/25, 3/100, 1/50)", TABLE_1), ("(1/2, 3/10, 1/5)", KNOWN)):
        end = (len(one) + factor) * one[-1]
        at_end = confirmed([one], end, response(len(one), end))
        found[name] = (float(one[-1]), float(end) if at_end > 1 else math.inf)
    return loose(
        found, sample, says="For {name}, the range ends at {}, and the symmetric mechanism is optimal up to {}"
    )


def _program(rng: np.random.Generator, mended: Reading = "corrected", *, alone: bool = False, **_: object) -> float:
    """By how much the value of eq. (9), or (10) for k = 0 alone, is off where the second case of Theorem 2(b) holds."""
    source = random_set(rng, "II")
    thresholds = kalantari2018.distortion_thresholds(source)
    first, last = float(thresholds[1]), float(thresholds[-2])
    if last - first < 1e-3:
        return math.nan
    distortion = first + float(rng.uniform(0.0, 0.98)) * (last - first)
    judged = partial(kalantari2018.equation_10, zero_columns=0) if alone else kalantari2018.theorem_2
    value = judged(source, distortion, reading=mended)
    return abs(channel_program(source.vertices, math.exp(value)) - distortion)


@claim(
    instance=_program,
    tolerance=1e-7,
    share=0.4,
    wrong={
        "mended by D_i <= 1 alone": {"mended": "printed"},
        "with the order": {"printed": "corrected"},
    },
)
def theorem_2b_program(sample: Sample, mended: Reading = "corrected", printed: Reading = "printed") -> Finding:
    cases = [(PEAKED, "3/20", response(3, "3/20")), (TABLE_1, "1/20", response(6, "1/20")), (KNOWN, "9/20", SHORT)]
    truth = {f"{_spelled(one)}, D = {d}": confirmed([one], d, best) for one, d, best in cases}

    def values(reading: Reading) -> dict[str, tuple[float, float]]:
        found = [math.exp(kalantari2018.theorem_2(as_floats(one), float(Fraction(d)), reading)) for one, d, _ in cases]
        return dict(zip(truth, zip(found, truth.values(), strict=True), strict=True))

    says = "For {name}, the program as printed gives the ratio {}, and the least ratio is {}"
    return corrected(values(printed), values(mended), sample, says=says, tolerance=1e-8)


def _spelled(one: Sequence[Fraction]) -> str:
    return f"({', '.join(map(str, one))})"


@claim(
    instance=partial(_program, alone=True),
    tolerance=1e-7,
    share=0.5,
    wrong={"without the order": {"mended": "printed"}},
)
def theorem_2b_minimum(sample: Sample, mended: Reading = "corrected") -> Finding:
    counts = {}
    for distortion in (0.05, 0.2, 0.29):
        most = kalantari2016.lemma_3(table_1(), distortion)
        values = [kalantari2018.equation_10(table_1(), distortion, k, mended) for k in range(most + 1)]
        needed = next(n for n in range(1, most + 2) if abs(min(values[:n]) - min(values)) < 1e-8)
        counts[f"Table I, D = {distortion}"] = (float(needed), most + 1.0)
    return loose(counts, sample, says="For {name}, {} program is enough, and the statement asks for {}")


def _exactly_k(rng: np.random.Generator, own: bool = True, **_: object) -> float:
    source = random_set(rng, "II", letters=(3, 5), vertices=(1, 3))
    size, vertices = source.alphabet_size, source.vertices
    removed = int(rng.integers(0, size - 1))
    low, high = float(vertices[:, size - removed :].sum(axis=1).max()), last_budget(source)
    if high - low < 1e-3:
        return math.nan
    distortion = low + float(rng.uniform(0.05, 0.95)) * (high - low)
    judged = kalantari2016.equation_9 if own else kalantari2018.equation_10
    odds = math.exp(judged(source, distortion, removed, "corrected"))
    gone = [(row, 0.0) for row in np.eye(size)[size - removed :].tolist()]
    return abs(channel_program(vertices, odds, gone) - distortion)


@claim(
    instance=_exactly_k,
    tolerance=1e-7,
    share=0.5,
    wrong={"with the order, and the largest tail for each P": {"own": False}, "for one distribution": {"single": True}},
)
def theorem_2b_one_k(sample: Sample, own: bool = True, single: bool = False) -> Finding:
    priors = [KNOWN, prior("7/10 29/100 1/100")][: 1 if single else 2]
    source, exact = as_floats(*priors), confirmed(priors, "9/20", SHORT)
    name = "{(1/2, 3/10, 1/5), (7/10, 29/100, 1/100)}, D = 9/20, k = 1"
    judged = kalantari2016.equation_9 if own else kalantari2018.equation_10
    return corrected(
        {name: (math.exp(kalantari2018.equation_10(source, 0.45, 1, "corrected")), exact)},
        {name: (math.exp(judged(source, 0.45, 1, "corrected")), exact)},
        sample,
        says="For {name}, (10) with the order gives the ratio {}, and the least ratio is {}",
        tolerance=1e-7,
    )


@claim(wrong={"from D^(M-2) on": {"begin": 2}})
def theorem_2b_zero(begin: int = 1) -> Finding:
    facts, d = {}, optional("z3", "proofs").Real("d")
    for size in (2, 3, 4, 5):
        p, given = falling_letters(size)
        facts[f"letter 1 whatever the input is valid, M = {size}"] = always(1 - p[0] <= d, *given, sum(p[begin:]) <= d)
    return proved(
        "Always publishing category 1 has the ratio 1 and is valid for every P of the set (z3, M = 2 to 5).", facts
    )


@claim(wrong={"if every letter is possible": {"rare": "1/2 3/10 1/5"}})
def section_6_strict(rare: str = "1/2 1/2 0") -> Finding:
    one = prior(rare)
    # Two letters among themselves, the third published as either; ratio 99 needs distortion 1/100 and no less.
    fewer = confirmed([one], "1/100", channel("99/100 1/100 0; 1/100 99/100 0; 1/2 1/2 0"))
    all_three = ratio(response(3, "1/100"))
    text = "For (1/2, 1/2, 0) and D = 1/100, Q_D has the ratio {all_three}, and the least ratio is {fewer}."
    how = "Under any $P$ with all $P_i \\geq D/(M-1)$, a ratio below $(M-1)(1-D)/D$ needs distortion above $D$ (z3, every $M$)."
    return mended(text, fewer < all_three, proved(how, only_symmetric()), fewer=fewer, all_three=all_three)


@claim(wrong={"for fixed D_2": {"fixed": 1}})
def linear_programs(fixed: int = 0) -> Finding:
    sympy = optional("sympy", "proofs")
    facts = {}
    for size in (3, 4, 5):
        d = sympy.symbols(f"d:{size}")
        odds = (size - 1 - sum(d[1:])) / d[0]
        free = [one for one in d if one != d[fixed]]
        bends = [sympy.diff(odds, one, two) for one in free for two in free]
        facts[f"M - k = {size}"] = all(sympy.simplify(one) == 0 for one in bends)
    return proved(
        "The ratio is affine in D_2, ..., D_n, and the constraints are affine in all D_i (sympy, 3 to 5 published categories).",
        facts,
    )


@claim(wrong={"for sets whose pieces fold alike": {"other": (0.3, 0.6, 0.1)}})
def class_3_characterized(other: Sequence[float] = (0.3, 0.5, 0.2)) -> Finding:
    from paper_repro.papers.folding import Folding

    source = SourceSet([[0.6, 0.3, 0.1], list(other)])
    bounds, exact = kalantari2018.theorem_3(Folding(source), 0.4, "largest"), eps(source, 0.4)
    certain = abs(channel_program(source.vertices, math.exp(exact)) - 0.4) < 1e-9
    name = "the hull of (3/5, 3/10, 1/10) and (3/10, 1/2, 1/5) at D = 2/5"
    pairs = {f"{name}, the lower bound": (bounds.lower, exact)}
    pairs |= {f"{name}, the upper bound": (exact, bounds.upper if certain else -math.inf)}
    return loose(pairs, says="For {name} leaves a gap: {} and {} nats")
