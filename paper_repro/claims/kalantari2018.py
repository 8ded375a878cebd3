"""What Kalantari, Sankar and Sarwate state (2018, and their preprint of 2017) in Sections I and II, claim by claim.

Letters are counted from 1 in statements, as in the paper. ``eps*(P, D)`` is the least differential-privacy leakage of a mechanism
whose Hamming distortion is at most D for every prior in P; ``D_i`` is the probability that letter i is changed. Leakages are in
nats, and a "ratio" is exp of a leakage. Theorems 1 and 2 are in ``kalantari2018_theorems``, Theorem 3 in
``kalantari2018_folding``, Sections III-A and IV in ``kalantari2018_information``, Section V in ``kalantari2018_proofs``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

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
    uncertain,
)
from paper_repro.claims.draw import random_channel, random_set
from paper_repro.claims.exact import KNOWN, SHORT, Channel, as_floats, channel, prior, ratio, response
from paper_repro.claims.kalantari_tools import (
    any_odds,
    any_set,
    budget,
    channel_program,
    confirmed,
    eps,
    mended,
    ordered_set,
)
from paper_repro.claims.prove import always, reals
from paper_repro.errors import optional
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import notion_by_name
from paper_repro.papers import kalantari2016
from paper_repro.papers.coloring import largest_ratio
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import optimal_mechanism
from paper_repro.types import FloatArray

SIMPLEX, UNIFORM, ONE = np.eye(3), np.full((1, 3), 1 / 3), np.array([[0.5, 0.3, 0.2]])
TIED = np.array([[0.5, 0.25, 0.25]])

# Abstract and Section I


def _unlike(size: int, one: int, two: int, gap: float = 0.0) -> tuple[list[float], float]:
    """The condition that letter ``one`` is kept with a probability above that of letter ``two`` by the gap."""
    return (np.eye(size)[two] - np.eye(size)[one]).tolist(), -gap


def _class_1(rng: np.random.Generator) -> tuple[FloatArray, float]:
    return random_set(rng, "I").vertices, float(rng.uniform(0.02, 0.98))


@for_all(
    _class_1,
    of="Class I sets at any D",
    share=0.5,
    wrong={
        "the hull need not hold the uniform distribution": {"dropped": 1},
        "up to D = 1, with Q_D for D above (M-1)/M too": {"last": 1.0},
    },
)
@example("the whole simplex, M = 3, D = 1/2", SIMPLEX, 0.75)
@example("the uniform distribution alone, M = 3, D = 1/2", UNIFORM, 0.75)
def abstract_symmetric(vertices: FloatArray, share: float, dropped: int = 0, last: float = 0.0) -> float:
    size = vertices.shape[1]
    priors, distortion = vertices[: max(1, len(vertices) - dropped)], share * (last or (size - 1) / size)
    matrix = np.array(response(size, Fraction(distortion)), dtype=float)
    overstep = float((priors @ (1 - np.diagonal(matrix))).max()) - distortion
    return max(overstep, abs(channel_program(priors, largest_ratio(matrix)) - distortion))


def _single_below(rng: np.random.Generator, factor: int = -1) -> float:
    """At most 0 if letters that are changed unlike cost distortion below ``(M-1) max P_M``; ``factor`` takes its place."""
    source = random_set(rng, "II")
    size, last = source.alphabet_size, float(source.vertices[:, -1].max())
    if last < 0.02:
        return math.nan
    distortion = float(rng.uniform(0.05, 0.95)) * (size + factor) * last
    one, two = rng.permutation(size)[:2]
    odds = max(1.0, (size - 1) * (1 - distortion) / distortion)
    gap = 0.05 * distortion
    return distortion + 1e-7 - channel_program(source.vertices, odds, [_unlike(size, int(one), int(two), gap)])


@claim(instance=_single_below, wrong={"from D = M max P_M on only": {"factor": 0}}, share=0.5)
def abstract_asymmetric(sample: Sample, factor: int = -1) -> Finding:
    end = (len(KNOWN) + factor) * KNOWN[-1]
    # Response on two letters: D_1 = D_2 = 1/4 and D_3 = 1, at distortion 2/5.
    fewer = confirmed([KNOWN], end, channel("3/4 1/4 0; 1/4 3/4 0; 1/4 3/4 0"))
    found = end if fewer == confirmed([KNOWN], end, response(3, end)) else Fraction(0)
    says = "For {name}, the symmetric mechanism is the only optimal one below D = {1}; from there on an asymmetric one is optimal"
    return loose({"(1/2, 3/10, 1/5)": (0.0, float(found))}, sample, says=says)


@for_all(
    ordered_set,
    of="Class II sets",
    share=0.5,
    wrong={
        "strictly more at every distortion": {"gap": 0.01},
        "the most likely letter is changed most": {"turned": True},
    },
)
@example("(1/2, 3/10, 1/5) at ratio 11/5", ONE, 11 / 5)
@example("(1/2, 3/10, 1/5) at ratio 14/3", ONE, 14 / 3)
def abstract_outliers(vertices: FloatArray, odds: float, gap: float = 0.0, turned: bool = False) -> float:
    priors, size = (vertices[:, ::-1] if turned else vertices), vertices.shape[1]
    return channel_program(priors, odds, [_unlike(size, 0, size - 1, gap)]) - channel_program(priors, odds)


@claim(wrong={"results for general finite alphabets are extended": {"said": 5}})
def section_1_binary(said: int = 2) -> Finding:
    right = [2]
    for size in (3, 4, 5):
        everywhere = np.array(list(itertools.permutations(np.arange(size) / (size * (size - 1) / 2))))
        if abs(channel_program(everywhere, math.exp(kalantari2016.theorem_1(size, 0.3))) - 0.3) < 1e-9:
            right.append(size)
    name, most = "Theorem 1 of the manuscript at D = 3/10, tried for M up to 5", float(max(right))
    says = "the sentence says {} categories, and {name}, holds for up to {}"
    found = corrected({name: (said, most)}, {name: (most, most)}, says=says)
    return uncertain(found, "By the manuscript of [2] that we have:")


@claim(wrong={"at D = (M-1)/M too": {"last": True}, "for one other distribution": {"likely": "5 3 2 1"}})
def theorem_1_unique(last: bool = False, likely: str = "1 1 1 1") -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4):
        d, q = z3.Real("d"), [z3.Reals(" ".join(f"q{i}{j}" for j in range(size))) for i in range(size)]
        weights = [int(word) for word in likely.split()[:size]]
        # Ratio (M-1)(1-D)/D or less, multiplied out, and a distortion of at most D.
        given = [d > 0, size * d <= size - 1 if last else size * d < size - 1, *(sum(row) == 1 for row in q)]
        for (i, k), j in itertools.product(itertools.permutations(range(size), 2), range(size)):
            given += [q[i][j] >= 0, d * q[i][j] <= (size - 1) * (1 - d) * q[k][j]]
        given += [sum(w * (1 - q[i][i]) for i, w in enumerate(weights)) <= sum(weights) * d]
        same = (q[i][j] == (1 - d if i == j else d / (size - 1)) for i, j in itertools.product(range(size), repeat=2))
        facts[f"Q is Q_D, M = {size}"] = always(z3.And(*same), *given)
    return proved(
        "No mechanism but $Q_D$ is valid for the uniform distribution and leaks at most as much (z3, $M = 2, 3, 4$).",
        facts,
    )


def _letters(vertices: FloatArray, odds: float) -> int:
    """Fewest letters, most likely first, that a mechanism optimal for a Class II set has to publish."""
    size, least = vertices.shape[1], channel_program(vertices, odds)
    gone = [(row, 0.0) for row in np.eye(size).tolist()]
    return next(n for n in range(1, size + 1) if channel_program(vertices, odds, gone[n:]) <= least + 1e-9)


def _falling_odds(rng: np.random.Generator) -> tuple[FloatArray, float, float]:
    low, high = sorted((any_odds(rng), any_odds(rng)))
    return random_set(rng, "II").vertices, low, high


@for_all(
    _falling_odds,
    of="Class II sets, at two distortions each",
    tolerance=0.0,
    share=0.2,
    wrong={"the support falls whenever the distortion rises": {"fall": 1}},
)
@example("(1/2, 1/4, 1/4) at ratios 1 and 2", TIED, 1.0, 2.0)
def section_1_support(vertices: FloatArray, low: float, high: float, fall: int = 0) -> float:
    return float(_letters(vertices, low) - _letters(vertices, high) + fall)


def _all_possible(rng: np.random.Generator) -> tuple[FloatArray] | None:
    vertices = random_set(rng, "II").vertices
    return (vertices,) if vertices[:, -1].max() > 1e-3 else None


@for_all(
    _all_possible,
    of="Class II sets in which every category is possible",
    tolerance=0.0,
    share=0.3,
    wrong={"some letter is given up before the end": {"before": True}, "to two letters": {"at_end": 2}},
)
@example("(1/2, 1/4, 1/4)", TIED)
def section_6_reduction(vertices: FloatArray, before: bool = False, at_end: int = 1) -> float:
    size, first = vertices.shape[1], float(vertices[:, -1].max()) / 2
    if _letters(vertices, (size - 1) * (1 - first) / first) != size or _letters(vertices, 1.0) != at_end:
        return 1.0
    # Just above the ratio at which nothing but the first letter is published.
    jump = max(float(row[0] / row[1]) for row in vertices if row[1] > 0)
    return float(before and _letters(vertices, jump * 1.001) == size)


def _staircase(matrix: Channel) -> bool:
    """Whether in each column two elements are equal or differ by the factor c or 1/c, c the ratio."""
    odds = ratio(matrix)
    pairs = (pair for column in zip(*matrix, strict=True) for pair in itertools.permutations(column, 2))
    return all(a == b or a == odds * b or b == odds * a for a, b in pairs)


def _least_by_staircase(vertices: FloatArray, odds: float) -> float:
    """Least worst-case distortion of the matrices whose columns have two values, of this ratio: all patterns are tried."""
    size = vertices.shape[1]
    patterns = list(itertools.product((1.0, odds), repeat=size))[:-1]
    least = math.inf
    for columns in itertools.product(patterns, repeat=size):
        matrix = np.array(columns).T
        bounds = np.column_stack([-vertices * np.diagonal(matrix), -np.ones(len(vertices))])
        sums = np.column_stack([matrix, np.zeros(size)])
        found = linprog(np.eye(size + 1)[-1], A_ub=bounds, b_ub=-np.ones(len(vertices)), A_eq=sums, b_eq=np.ones(size))
        least = min(least, float(found.fun) if found.status == 0 else math.inf)
    return least


@claim(wrong={"for Class I, single distributions, and any set at low distortion": {"where": ("I", "single", "low")}})
def section_1_staircase(where: Sequence[str] = ("I",)) -> Finding:
    mirrored = [prior("3/5 3/10 1/10"), prior("3/10 3/5 1/10")]
    cases = {
        "low": ([KNOWN], "3/10", response(3, "3/10")),
        "single": ([KNOWN], "9/20", SHORT),
        "I": ([prior("1/3 1/3 1/3")], "1/2", response(3, "1/2")),
        # The two halves of the hull of a Class III set; the symmetric mechanism is optimal for its middle.
        "low, Class III": (mirrored, "1/5", response(3, "1/5")),
    }
    found = {name: confirmed(*case) for name, case in cases.items() if _staircase(case[2])}
    outside = [name for name in found if name.partition(",")[0] not in where and not math.isnan(found[name])]
    text = (
        "For (1/2, 3/10, 1/5), of Class II, a staircase is optimal at D = 3/10, with the ratio {low}, and at D = 9/20, with the "
        "ratio {single}. For the hull of (3/5, 3/10, 1/10) and (3/10, 3/5, 1/10), of Class III, one is at D = 1/5, with the "
        "ratio {mirrored}."
    )
    numbers = {"low": found["low"], "single": found["single"], "mirrored": found["low, Class III"]}
    none = refuted(text, bool(outside), **numbers)
    two = np.array([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]])
    near = abs(channel_program(two, 11 / 8) - 0.45)
    said = "For {(3/5, 3/10, 1/10), (1/2, 1/2, 0)}, of Class II, no staircase has the least ratio 11/8 at D = 9/20."
    name = "a set of Class II without a staircase"
    missing = holds(named={name: max(near, float(_least_by_staircase(two, 11 / 8) < 0.45 + 1e-6))}, says=said)
    return depends(
        {
            "as 'no set of another class has it'": none,
            "as 'Class I is the only class all of whose sets have it'": missing,
        }
    )


@claim(
    wrong={
        "with 1 - Q(i|i) in place of the sum of Q(j|i) over the other j": {"of_rest": False},
        "in the worst case over two priors, which the paper says is not sub-linear": {"priors": 2},
    }
)
def section_1_sublinear(of_rest: bool = True, priors: int = 1) -> Finding:
    """Of matrices that need not be stochastic; the worst case over two priors is the larger one of two linear functions."""
    z3 = optional("z3", "proofs")
    facts = {}
    for size in (2, 3, 4):
        entries = [[reals(" ".join(f"{name}{i}{j}" for j in range(size))) for i in range(size)] for name in "qr"]
        masses = [reals(" ".join(f"p{n}{i}" for i in range(size))) for n in range(priors)]
        scale = z3.Real("scale")

        def utility(matrix: Any, size: int = size, masses: Any = masses) -> Any:
            rows = [
                z3.Sum([one for j, one in enumerate(matrix[i]) if j != i]) if of_rest else 1 - matrix[i][i]
                for i in range(size)
            ]
            means = [z3.Sum([p * row for p, row in zip(mass, rows, strict=True)]) for mass in masses]
            return -means[0] if len(means) == 1 else -z3.If(means[0] >= means[1], *means)

        one, two = entries
        both = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
        given = [p >= 0 for mass in masses for p in mass] + [z3.Sum(mass) == 1 for mass in masses]
        given += [scale >= 0, *(entry >= 0 for matrix in entries for row in matrix for entry in row)]
        scaled = utility([[scale * entry for entry in row] for row in one])
        facts[f"a multiple, M = {size}"] = always(scaled == scale * utility(one), *given)
        facts[f"a sum, M = {size}"] = always(utility(both) <= utility(one) + utility(two), *given)
    how = (
        "With D_i as the sum of Q(j|i) over the other j, U = -sum P_i D_i is linear in Q, also if Q is not stochastic (z3, "
        "M = 2, 3, 4)."
    )
    return proved(how, facts)


@claim(
    wrong={"both mechanisms change letter 1": {"second": (1, 0)}, "for the set {(1, 0)} alone": {"priors": ((1, 0),)}}
)
def equation_5(
    second: Sequence[int] = (0, 1), first: Sequence[int] = (1, 0), priors: Sequence[Sequence[int]] = ((1, 0), (0, 1))
) -> Finding:
    def worst(changed: Sequence[int]) -> int:
        return max(sum(p * d for p, d in zip(one, changed, strict=True)) for one in priors)

    added = worst([a + b for a, b in zip(first, second, strict=True)])
    # As matrices: the sum keeps 2 - D_i - D'_i, and its utility is to be read with 1 - Q(i|i) for D_i.
    matrices = worst([a + b - 1 for a, b in zip(first, second, strict=True)])
    facts = {"the distortions added": -added > -worst(first) - worst(second)}
    facts["the matrices added"] = -matrices > -worst(first) - worst(second)
    return proved(
        "The left side is -1 if the distortions are added and 0 if the matrices are; the right side is -1 - 1 = -2.",
        facts,
    )


# Section II


def _classes(vertices: FloatArray, hull: bool = True, exclusive: bool = True) -> list[str]:
    """Classes by definition: a linear program for the hull, and all orders of the letters tried."""
    count, size = vertices.shape
    sums = np.vstack([vertices.T, np.ones(count)])
    inside = linprog(np.zeros(count), A_eq=sums, b_eq=np.append(np.full(size, 1 / size), 1.0)).status == 0
    if not hull:
        inside = bool((np.abs(vertices - 1 / size) < 1e-12).all(axis=1).any())
    orders = itertools.permutations(range(size))
    sorted_alike = any((np.diff(vertices[:, list(order)], axis=1) <= 1e-12).all() for order in orders)
    found = ["I"] * inside + ["II"] * (sorted_alike and not (exclusive and inside))
    return found or ["III"]


@for_all(
    lambda rng: (rng.permutation(any_set(rng).vertices, axis=1),),
    of="sets of all classes with permuted categories",
    tolerance=0.0,
    share=0.5,
    wrong={
        "Class I if the set itself holds the uniform distribution": {"hull": False},
        "Class II whether or not of Class I": {"exclusive": False},
    },
)
@example("{(1, 0), (0, 1)}", np.eye(2))
@example("uniform", UNIFORM)
@example("(2/5, 2/5, 1/5)", np.array([[0.4, 0.4, 0.2]]))
@example("{(3/5, 3/10, 1/10), (3/10, 3/5, 1/10)}", np.array([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]))
def definition_1(vertices: FloatArray, hull: bool = True, exclusive: bool = True) -> float:
    return float(_classes(vertices, hull, exclusive) != [SourceSet(vertices).source_class])


def _reordered(rng: np.random.Generator) -> tuple[FloatArray, float, Sequence[int]]:
    vertices, odds = random_set(rng, "II", vertices=(2, 3)).vertices, any_odds(rng)
    return vertices, odds, rng.permutation(vertices.shape[1]).tolist()


@for_all(
    _reordered,
    of="Class II sets",
    share=0.5,
    wrong={"each distribution may be relabeled by itself": {"alone": True}},
)
@example("(2/5, 2/5, 1/5) as (2/5, 1/5, 2/5)", np.array([[0.4, 0.4, 0.2]]), 2.0, [0, 2, 1])
def remark_1(vertices: FloatArray, odds: float, order: Sequence[int], alone: bool = False) -> float:
    other = vertices[:, order]
    if alone:
        other[0] = vertices[0]
    return abs(channel_program(vertices, odds) - channel_program(other, odds))


SIXTHS = [np.array(one) / 6 for one in itertools.product(range(7), repeat=3) if sum(one) == 6]


@claim(wrong={"unless an end has ties": {"ties": 2}})
def example_1(ties: int = 1) -> Finding:
    """All sets are said to be of Class II; mended, those none of whose ends has all probabilities alike."""
    falling = [one for one in SIXTHS if (np.diff(one) <= 0).all()]
    cases: dict[str, Sequence[tuple[FloatArray, ...]]] = {
        "sets of one distribution in sixths, for M = 3": [(one,) for one in SIXTHS],
        "segments between two distributions of these with the same order": list(itertools.combinations(falling, 2)),
    }
    said, right = {}, {}
    for name, sets in cases.items():
        found = float(sum(_classes(np.array(one)) == ["II"] for one in sets))
        said[name] = float(len(sets)), found
        right[name] = float(sum(all(len(set(end.tolist())) > ties for end in one) for one in sets)), found
    return corrected(said, right, says="By the sentence all {} {name} would be of Class II; {} are")


@claim(wrong={"the mean of 1 - Q(i|i), without weights": {"weighted": False}})
def average_distortion(weighted: bool = True) -> Finding:
    sympy = optional("sympy", "proofs")
    facts = {}
    for size in (2, 3, 4):
        p, q = sympy.symbols(f"p:{size}"), sympy.symbols(f"q:{size * size}")
        apart = [(i, j) for i in range(size) for j in range(size) if i != j]
        kept = [1 - sum(q[size * i + j] for k, j in apart if k == i) for i in range(size)]
        formula = sum((p[i] if weighted else sympy.Rational(1, size)) * (1 - kept[i]) for i in range(size))
        facts[f"M = {size}"] = sympy.expand(sum(p[i] * q[size * i + j] for i, j in apart) - formula) == 0
    return proved("The two sides are one polynomial in P and Q (sympy, M = 2, 3, 4).", facts)


@claim(wrong={"any two columns may be added": {"own": True}})
def lemma_3(own: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    t, a, b, c, d, p, r, kept = z3.Reals("t a b c d p r kept")
    # Columns (.., a, b, ..) and (.., c, d, ..) are added; p is the probability of the letter of the first, r of another one,
    # whose diagonal element ``kept`` is in the second column only if that is no further column.
    gain = p * c - (r * kept if own else 0)
    facts = {
        "no more leakage": always(a + c <= t * (b + d), a <= t * b, c <= t * d),
        "no more distortion": always(gain >= 0, p >= 0, r >= 0, c >= 0, kept >= 0),
    }
    return proved(
        "Z3 decides, for every M, that one further column can be added to another; the rest follow one by one.", facts
    )


@claim(wrong={"of one output only": {"both": False}})
def definition_3(both: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    t, a, b, c, d = z3.Reals("t a b c d")
    bounds = [a <= t * b] + [c <= t * d] * both
    facts = {"an output more": always(a + c <= t * (b + d), *bounds)}
    return proved(
        "The bounds for an event and for one more output give the bound for both (z3); induction does the rest.", facts
    )


@for_all(
    lambda rng: (random_channel(rng, 3), *(random_set(rng, "III", letters=(3, 3)) for _ in range(2))),
    of="mechanisms with two source sets each",
    tolerance=0.0,
    share=0.5,
    wrong={
        "of maximal information": {"notion": "maximal information"},
        "of mutual information": {"notion": "mutual information"},
    },
)
@example("Q_D with D = 1/4, uniform and (9/10, 1/10)", response(2, "1/4"), SourceSet([0.5, 0.5]), SourceSet([0.9, 0.1]))
def remark_2(
    matrix: FloatArray | Channel, one: SourceSet, two: SourceSet, notion: str = "differential privacy"
) -> float:
    mechanism, judge = Mechanism(np.array(matrix, dtype=float)), notion_by_name(notion)
    return abs(judge.leakage(mechanism, one) - judge.leakage(mechanism, two))


@claim(
    wrong={
        "at most M-2 columns are zero": {"most": 2},
        "a column may have a zero beside positive elements": {"mixed": True},
    }
)
def remark_3(most: int = 1, mixed: bool = False) -> Finding:
    facts = {}
    for size in (2, 3):
        rows = [row for row in itertools.product((0, 1), repeat=size) if any(row)]
        zeros = set()
        agree = True
        for pattern in itertools.product(rows, repeat=size):
            matrix = [[Fraction(x, sum(row)) for x in row] for row in pattern]
            columns = list(zip(*pattern, strict=True))
            pure = mixed or all(all(column) or not any(column) for column in columns)
            if pure:
                zeros.add(sum(not any(column) for column in columns))
            agree &= (ratio(matrix) < math.inf) == pure and ratio(matrix) >= 1
        facts[f"finite exactly if no column is mixed, and never below 0, M = {size}"] = agree
        facts[f"numbers of zero columns, M = {size}"] = zeros == set(range(size - most + 1))
    how = "All patterns of zeros were enumerated for M = 2, 3; whether the leakage is finite depends on the pattern alone."
    return proved(how, facts)


@claim(
    wrong={
        "infinite if two letters are possible, else 1": {"printed": False},
        "0 whatever the distribution": {"most": 3},
    }
)
def perfect_utility(printed: bool = True, most: int = 1) -> Finding:
    sources = {"P = (1, 0)": prior("1 0"), "P = (3/4, 1/4)": prior("3/4 1/4"), "P = (1, 0, 0)": prior("1 0 0")}
    truth = {
        f"{name}, D = 0": math.exp(optimal_mechanism(as_floats(one), distortion=0.0).leakage)
        for name, one in sources.items()
    }
    possible = [sum(p > 0 for p in one) for one in sources.values()]
    mended = [math.inf if count > most else 1.0 for count in possible]
    said = [math.inf] * 3 if printed else mended
    pairs = [dict(zip(truth, zip(one, truth.values(), strict=True), strict=True)) for one in (said, mended)]
    return corrected(pairs[0], pairs[1], says="For {name}, the identity has the ratio {}, and the least ratio is {}")


@claim(wrong={"a mixture leaks at most the mean": {"mean": True}})
def lemma_1(mean: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    s, t, a, b, c, d, share = z3.Reals("s t a b c d share")
    bound = share * s + (1 - share) * t if mean else z3.If(s >= t, s, t)
    mixed = share * a + (1 - share) * c <= bound * (share * b + (1 - share) * d)
    given = [s >= 1, t >= 1, share >= 0, share <= 1, b >= 0, d >= 0, a >= 0, c >= 0, a <= s * b, c <= t * d]
    how = "Z3 decides it for two elements of a column of both mechanisms, zeros included, and any share; hence for every M."
    return proved(how, {"a mixture": always(mixed, *given)})


@for_all(
    lambda rng: (any_set(rng), float(rng.uniform(0.01, 1.0))),
    of="sets of all classes",
    share=0.5,
    wrong={"also at D = 0": {"scale": 0.0}},
)
@example("(1, 0), D = 1e-6", SourceSet([1, 0]), 1e-6)
@example("(1/2, 1/2, 0), D = 1e-6", SourceSet([0.5, 0.5, 0]), 1e-6)
@example("{(1, 0), (0, 1)}, D = 1e-6", SourceSet(np.eye(2)), 1e-6)
def definition_4(source: SourceSet, distortion: float, scale: float = 1.0) -> float:
    allowed = distortion * scale
    best = optimal_mechanism(source, distortion=allowed)
    if not 0 <= best.leakage < math.inf:
        return 1.0
    over = source.worst_case_distortion(best.mechanism.matrix) - allowed
    # A mechanism of a smaller ratio would need more than D; of ratio 1 there is none smaller.
    odds = math.exp(best.leakage)
    under = allowed - channel_program(source.vertices, 1 + (odds - 1) * (1 - 1e-6)) if odds > 1 + 1e-6 else 0.0
    return max(over, under, math.log(largest_ratio(best.mechanism.matrix)) - best.leakage)


def _two_distortions(rng: np.random.Generator) -> tuple[SourceSet, float, float]:
    one = float(rng.uniform(0.01, 0.97))
    return any_set(rng), one, one + float(rng.uniform(0.02, 1)) * (1 - one)


@for_all(
    _two_distortions,
    of="sets of all classes, at two distortions each",
    share=0.5,
    wrong={"strictly, at every distortion": {"strictly": True}},
)
@example("(1/2, 3/10, 1/5), D = 11/20 and 3/5", SourceSet(ONE), 0.55, 0.6)
def decreasing(source: SourceSet, one: float, two: float, strictly: bool = False) -> float:
    here, there = eps(source, one), eps(source, two)
    return there - here + 1e-4 * (two - one) * (strictly or here > 0)


def _positive_leakage(rng: np.random.Generator) -> tuple[FloatArray, float] | None:
    source = random_set(rng, str(rng.choice(["II", "III"])))
    distortion = budget(rng, source)
    return (source.vertices, distortion) if distortion > 0 else None


@for_all(
    _positive_leakage,
    of="Class II and III sets",
    share=0.3,
    wrong={"eps*(D*(eps)) = eps at every eps": {"both_ways": True}},
)
@example("(1/2, 3/10, 1/5), D = 9/20", ONE, 0.45)
def inverse_problem(vertices: FloatArray, distortion: float, both_ways: bool = False) -> float:
    source = SourceSet(vertices)
    odds = math.exp(eps(source, distortion))
    within = channel_program(vertices, odds) - distortion
    less = distortion - channel_program(vertices, 1 + (odds - 1) * (1 - 1e-6))
    if both_ways:
        half = math.log(1 + (odds - 1) / 9)
        less = abs(eps(source, channel_program(vertices, math.exp(half)) + 1e-12) - half)
    return max(within, less)


@claim(wrong={"with the sign, min max P.D = -max U": {"sign": -1}})
def equation_4_sign(sign: int = 1) -> Finding:
    least = Fraction(channel_program(ONE, 2.2)).limit_denominator(10**6)
    named = "(1/2, 3/10, 1/5) and ratios up to 11/5"
    return corrected(
        {named: (float(least), float(-sign * least))},
        {named: (float(least), float(least))},
        says="For {name}, the least worst-case distortion is {}, and the largest utility, printed as equal to it, is {}",
    )


@claim(wrong={"over finite sets": {"members": 100}})
def thresholds_maximum(members: int = 0) -> Finding:
    z3 = optional("z3", "proofs")
    n, limit = z3.Real("n"), z3.Q(1, 2)
    seconds = [Fraction(1, 2) - Fraction(1, number) for number in range(3, members)]
    attained = max(seconds) in seconds if members else not always(1 / (n + 1) < 1 / n, n >= 3)
    text = (
        "The distributions (1/2 + 1/n, 1/2 - 1/n), n = 3, 4, ..., have no largest second probability: each is below the next "
        "one and below {limit}."
    )
    number, gap = z3.Reals("number gap")
    facts = {
        "1/2 is a bound": always(limit - 1 / n < limit, n >= 3),
        "no less is": always(limit - 1 / number > limit - gap, gap > 0, number >= 3, number * gap > 1),
    }
    return mended(text, not attained, proved("The supremum is 1/2 (z3).", facts), limit=Fraction(1, 2))
