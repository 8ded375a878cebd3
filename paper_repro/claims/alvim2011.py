"""What Alvim et al. state (2011), claim by claim: Sections 1 to 4.

``t = exp(eps)`` throughout; the privacy parameter is in nats, min-entropy and its leakage in bits, as in the paper.
"""

from __future__ import annotations

import heapq
import itertools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.claims.alvim2011_tools import (
    KEEP,
    LOG2,
    SPACES,
    SUM_OF_TWO,
    Generator,
    about_individual,
    at_most,
    best_utility,
    guessed,
    hamming_graph,
    leaked_bits,
    on_channels,
    on_private,
    random_private,
    random_query,
    random_space,
    rows_off,
    sharper_bound,
    uniform_prior,
)
from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose, reproduced
from paper_repro.graphs import Query, clique, databases, line, ring
from paper_repro.guessing import (
    bayes_vulnerability,
    conditional_min_entropy,
    greatest_capacity,
    min_entropy,
    min_entropy_capacity,
)
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.papers import alvim2011 as paper
from paper_repro.papers.readings import Reading
from paper_repro.types import FloatArray

__all__: list[str] = []


# Abstract and introduction


@claim()
def abstract_not_vice_versa() -> Finding:
    rows = np.array([[1.0, 0.0], [1 - 1e-6, 1e-6]])
    named = {
        "rows (1, 0) and (1 - 1e-6, 1e-6): capacity in bits less 2e-6": min_entropy_capacity(rows, bits=True) - 2e-6,
        "the same: infinite privacy leakage": 0.0 if math.isinf(ratio_leakage(rows, None)) else 1.0,
    }
    return holds(named=named)


@claim()
def abstract_leakage_tight() -> Finding:
    pairs = {
        f"v = {v}, u = {u}, t = {t}": (
            math.log2(v**u * best_utility(hamming_graph(v, u), t)),
            paper.theorem_1(v, u, math.log(t)),
        )
        for v, u, t in [(2, 1, 2), (3, 1, 5), (2, 2, 1.2), (3, 2, 2), (2, 3, 2)]
    }
    return loose(pairs)


@claim()
def abstract_utility_tight() -> Finding:
    return loose(
        {
            "ring of 5, t = 2, c = 2": (best_utility(ring(5), 2), paper.theorem_3(LOG2, 2, 2)),
            "ring of 6, t = 2, c = 1 (the largest allowed)": (best_utility(ring(6), 2), paper.theorem_3(LOG2, 1, 3)),
        }
    )


@claim()
def abstract_optimal_mechanism() -> Finding:
    chance = {"11": Fraction(1, 2), "01": Fraction(1, 6), "10": Fraction(1, 6), "00": Fraction(1, 6)}
    says_one = {"11": Fraction(3, 4), "01": Fraction(1, 4), "10": Fraction(1, 4), "00": Fraction(1, 12)}
    private = all(
        says_one[one] <= 3 * says_one[other] and 1 - says_one[one] <= 3 * (1 - says_one[other])
        for one, other in itertools.permutations(chance, 2)
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )
    utility = sum(p * (says_one[x] if x == "11" else 1 - says_one[x]) for x, p in chance.items()) if private else 0
    ours = bayes_vulnerability([0.5, 0.5], paper.equation_6(clique(2), math.log(3), 1))
    name = "AND of two bits, t = 3, prior 1/2 on 11 and 1/6 elsewhere"
    return corrected(
        {f"{name}, answering 1 with 3/4, 1/4, 1/4, 1/12 at 11, 01, 10, 00": at_most(ours, float(utility))},
        {f"{name}, oblivious mechanisms": (ours, best_utility(clique(2), 3))},
    )


def _laplace_violation(rng: Generator) -> float:
    first, second, noise = rng.normal(size=2), rng.normal(size=2), rng.normal(size=50) * 3
    eps = float(rng.uniform(0.1, 3))
    sensitivity = float(np.abs(first - second).max())  # of this query, on these pairs of neighboring databases
    densities = [np.abs(noise - answer) * eps / sensitivity for answer in (first[0], second[0])]
    return float(np.abs(densities[0] - densities[1]).max()) - eps


@claim(instance=_laplace_violation)
def laplace(sample: Sample) -> Finding:
    named = {"sums 0 and 9, eps = 1, at z = 20": abs(abs(20 - 9) - abs(20 - 0)) / 9 - 1}
    return holds(sample, named=named, of="pairs of databases, log density ratio at 50 places each")


@claim()
def shannon_questions() -> Finding:
    def questions(heap: list[float]) -> float:  # Huffman's strategy, which is optimal
        both = heapq.heappop(heap) + heapq.heappop(heap) if len(heap) > 1 else 0.0
        return both + questions(sorted([*heap, both])) if both else 0.0

    entropy, dyadic = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)), questions([0.25, 0.25, 0.5])
    name = "a bit that is 0 with probability 3/4 takes one question; its entropy in bits"
    return above(name, entropy, questions([0.25, 0.75]), questions_for_entropy_3_halves=dyadic)


@claim()
def min_entropy_sign() -> Finding:
    exact, name = min_entropy([0.75, 0.25], bits=True), "prior (3/4, 1/4), bits"
    return corrected({name: (math.log2(0.75), exact)}, {name: (-math.log2(0.75), exact)})


@claim(instance=on_channels(lambda p, c: abs(guessed(p, c) - 2 ** -conditional_min_entropy(p, c, bits=True))))
def bayes_risk(sample: Sample) -> Finding:
    named = {"input and output equal": abs(conditional_min_entropy([0.3, 0.7], np.eye(2), bits=True))}
    return holds(sample, named=named, of="channels, every rule of guessing tried")


# Section 2


def _all_sets(channel: FloatArray) -> FloatArray:
    """A column for each set of outputs."""
    return np.array(list(itertools.product((0.0, 1.0), repeat=channel.shape[1]))).T


@claim(
    instance=on_private(
        lambda c, v, u, eps: abs(
            ratio_leakage(c @ _all_sets(c), hamming_graph(v, u)) - ratio_leakage(c, hamming_graph(v, u))
        ),
        (1, 6),
    )
)
def definition_1(sample: Sample) -> Finding:
    zero = np.array([[1.0, 0.0], [0.5, 0.5]])
    same = ratio_leakage(zero, None) == ratio_leakage(zero @ _all_sets(zero), None) == math.inf
    named = {"a zero beside 1/2: infinite both ways": 0.0 if same else 1.0}
    return holds(sample, named=named, of="private channels, all sets of up to 5 outputs")


def _renyi_violation(rng: Generator) -> float:
    prior, order = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.7)), float(rng.uniform(1.01, 2000))
    most = float(prior.max())
    renyi = (order * math.log2(most) + math.log2(float(((prior / most) ** order).sum()))) / (1 - order)
    limit = min_entropy(prior, bits=True)
    return max(limit - renyi, renyi - order / (order - 1) * limit)


@claim(instance=_renyi_violation)
def renyi_limit(sample: Sample) -> Finding:
    named = {
        "one letter": abs(min_entropy([1.0], bits=True)),
        "four even": abs(min_entropy(uniform_prior(4), bits=True) - 2),
    }
    return holds(sample, named=named, of="priors and orders, between the limit and alpha / (alpha - 1) times it")


def _equation_2(prior: FloatArray, channel: FloatArray) -> float:
    """As printed, from posteriors."""
    joint = (prior[:, np.newaxis] * channel)[:, prior @ channel > 0]
    mass = joint.sum(axis=0)
    return -math.log2(float((mass * (joint / mass).max(axis=0)).sum()))


@claim(instance=on_channels(lambda p, c: abs(_equation_2(p, c) + math.log2(guessed(p, c)))))
def equation_2(sample: Sample) -> Finding:
    named = {
        "prior (1/4, 3/4)": abs(min_entropy([0.25, 0.75], bits=True) + math.log2(0.75)),
        "output independent of it": abs(_equation_2(np.array([0.25, 0.75]), np.full((2, 2), 0.5)) + math.log2(0.75)),
    }
    return holds(sample, named=named, of="channels, every strategy tried")


@claim(instance=on_channels(lambda p, c: leaked_bits(p, c) - leaked_bits(uniform_prior(len(p)), c)))
def capacity_at_uniform(sample: Sample) -> Finding:
    rows = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    named = {
        "prior (1, 0)": leaked_bits([1, 0], KEEP) - leaked_bits([0.5, 0.5], KEEP),
        "rows (1, 0), (0, 1), (1/2, 1/2): prior (1/2, 1/2, 0) as well": abs(
            leaked_bits([0.5, 0.5, 0], rows) - leaked_bits(uniform_prior(3), rows)
        ),
    }
    return holds(sample, named=named, of="channels and priors")


@claim(instance=on_channels(lambda p, c: abs(math.log2(paper.capacity(c)) - leaked_bits(uniform_prior(len(p)), c))))
def capacity_formula(sample: Sample) -> Finding:
    channels = {"rows (3/4, 1/4), (1/4, 3/4), bits": np.array(KEEP), "both rows (1/2, 1/2), bits": np.full((2, 2), 0.5)}
    exact = {name: leaked_bits([0.5, 0.5], rows) for name, rows in channels.items()}
    printed = {name: (paper.capacity(rows), exact[name]) for name, rows in channels.items()}
    mended = {name: (math.log2(paper.capacity(rows)), exact[name]) for name, rows in channels.items()}
    return corrected(printed, mended, sample)


def _entropies(prior: ArrayLike, channel: ArrayLike) -> float:
    return min_entropy(prior, bits=True) - conditional_min_entropy(prior, channel, bits=True)


@claim(instance=on_channels(lambda p, c: max(-_entropies(p, c), abs(_entropies(p, c) - leaked_bits(p, c)))))
def leakage_sign(sample: Sample) -> Finding:
    named = {
        "prior (1, 0)": abs(leaked_bits([1, 0], KEEP)),
        "equal rows": abs(leaked_bits([0.2, 0.8], np.full((2, 3), 1 / 3))),
    }
    return holds(sample, named=named, of="channels")


@claim()
def equality_iff_independent() -> Finding:
    prior, rows = (Fraction(4, 5), Fraction(1, 5)), ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    joint = [[p * entry for entry in row] for p, row in zip(prior, rows, strict=True)]
    output = [joint[0][z] + joint[1][z] for z in (0, 1)]
    apart = max(abs(joint[x][z] - prior[x] * output[z]) for x in (0, 1) for z in (0, 1))
    leaked = sum(max(joint[0][z], joint[1][z]) for z in (0, 1)) - max(prior)
    return above(
        "prior (4/5, 1/5), rows (3/4, 1/4), (1/4, 3/4): success is 4/5 before and 3/5 + 1/5 after, and the joint distribution "
        "should then be the product; largest difference",
        float(leaked),
        float(apart),
    )


# Section 3


@claim()
def database_distances() -> Finding:
    named = {}
    for v, u in [(2, 1), (4, 1), (3, 2), (2, 4)]:
        every = list(databases(range(v), u))
        differ = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in every] for x in every])
        named[f"v = {v}, u = {u}"] = float(len(every) != v**u) + float(
            np.abs(differ - hamming_graph(v, u).distances).max()
        )
    return holds(named=named)


@claim()
def absence_as_a_value() -> Finding:
    every = [dict(enumerate(database)) for database in databases(("null", "a", "b"), 3)]
    wrong = 0
    for (i, one), (j, other) in itertools.product(enumerate(every), repeat=2):
        rows, others = ({(who, v) for who, v in data.items() if v != "null"} for data in (one, other))
        lost, gained = rows - others, others - rows
        changed = len(lost) == len(gained) == 1 and {who for who, _ in lost} == {who for who, _ in gained}
        wrong += (len(lost) + len(gained) == 1 or changed) != (hamming_graph(3, 3).distances[i, j] == 1)
    return holds(named={"three individuals, two values and null, all pairs": float(wrong)})


def _oblivious_violation(rng: Generator) -> float:
    query = random_query(rng)
    prior = rng.dirichlet(np.ones(len(query.answer_numbers)))
    noise = rng.dirichlet(np.full(3, 0.5), size=len(query.answers))
    joint = query.channel.T @ (prior[:, np.newaxis] * query.then(noise))
    return abs(float(joint.max(axis=0).sum()) - bayes_vulnerability(prior @ query.channel, noise))


@claim(instance=_oblivious_violation)
def oblivious_utility(sample: Sample) -> Finding:
    query = Query(sum, (0, 1), 2)
    joint = query.channel.T @ query.then(np.eye(3)) / 4
    named = {"sum of two bits without noise": abs(joint.max(axis=0).sum() - 1)}
    return holds(sample, named=named, of="queries, priors on databases and noise")


def _others_known_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    channel = random_private(rng, hamming_graph(values, individuals), leakage, int(rng.integers(2, 6)))
    rows = about_individual(channel, values, individuals, 0)
    own = rng.dirichlet(np.ones(values))
    others = rng.dirichlet(np.full(values, 0.5), size=individuals - 1)
    weights = np.ones(1)
    for each in others:
        weights = np.kron(weights, each)
    return leaked_bits(own, np.einsum("d,xdz->xz", weights, rows)) - max(
        leaked_bits(own, rows[:, d]) for d in range(rows.shape[1])
    )


@claim(instance=_others_known_violation)
def others_known(sample: Sample) -> Finding:
    known = max(leaked_bits([0.5, 0.5], SUM_OF_TWO[[first, first + 2]]) for first in (0, 1))
    equal = leaked_bits([0.5, 0.5], SUM_OF_TWO[[0, 3]])
    name = (
        "two individuals with the same fair bit, t = 3, rows (5, 1)/6 at 00, (3, 3)/6, (3, 3)/6, (1, 5)/6 at 11, bits"
    )
    alone = leaked_bits([0.5, 0.5], (SUM_OF_TWO[:2] + SUM_OF_TWO[2:]) / 2)
    mended = {
        "the same with independent bits": at_most(known, alone),
        "its e^leakage": (3.0, math.exp(ratio_leakage(SUM_OF_TWO, hamming_graph(2, 2)))),
    }
    return corrected({name: at_most(known, equal)}, mended, sample)


@claim()
def salaries() -> Finding:
    answers = np.array([[1.0, 0.0] if "s" in database else [0.0, 1.0] for database in databases(("null", "s"), 2)])
    empty, neighbor = answers[0, 1], answers[1, 1]
    name = "two employees: chance of 'no mean' if nobody takes part, at most e^eps times the chance if one does"
    somebody = ratio_leakage(answers[[1, 3, 2]], line(3))
    return corrected({name: at_most(float(neighbor), float(empty))}, {"someone takes part: leakage": (0.0, somebody)})


# Section 4


@claim(instance=on_private(lambda c, v, u, eps: min_entropy_capacity(c, bits=True) - paper.theorem_1(v, u, eps)))
def theorem_1(sample: Sample) -> Finding:
    named = {
        f"v = {v}, u = {u}, t = {t}": math.log2(v**u * best_utility(hamming_graph(v, u), t))
        - paper.theorem_1(v, u, math.log(t))
        for v, u, t in [(2, 1, 2), (3, 2, 2), (2, 3, 8)]
    }
    named["eps = 0"] = leaked_bits(uniform_prior(4), np.full((4, 3), 1 / 3)) - paper.theorem_1(2, 2, 0.0)
    return holds(sample, named=named, of="private channels on small databases, each with its worst prior")


def _bound_violation(rng: Generator) -> float:
    values, individuals = int(rng.integers(2, 50)), int(rng.integers(1, 50))
    low, high = sorted(float(eps) for eps in rng.exponential(2, size=2))
    rise = paper.theorem_1(values, individuals, high) - paper.theorem_1(values, individuals, low)
    return max(-rise, rise - individuals * (high - low) / LOG2)


@claim(instance=_bound_violation)
def bound_shape(sample: Sample) -> Finding:
    named = {
        "at 0": max(paper.theorem_1(v, u, 0.0) for v, u in SPACES),
        "at 60": max(abs(paper.theorem_1(v, u, 60.0) - u * math.log2(v)) for v, u in SPACES),
    }
    return holds(sample, named=named, of="pairs of eps: no fall, and no rise above u log2(e) times the step")


def _proposition_1_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    matrix, graph = paper.proposition_1(values, individuals, leakage, "corrected"), hamming_graph(values, individuals)
    leaked = leaked_bits(uniform_prior(len(matrix)), matrix) - paper.theorem_1(values, individuals, leakage)
    return max(rows_off(matrix), ratio_leakage(matrix, graph) - leakage, abs(leaked))


@claim(instance=_proposition_1_violation)
def proposition_1(sample: Sample) -> Finding:
    matrix = paper.proposition_1(3, 2, LOG2, "corrected")
    named = {
        "v = 3, u = 2, t = 2": abs(leaked_bits(uniform_prior(9), matrix) - 2 * math.log2(6 / 4)),
        "eps = 0": abs(leaked_bits(uniform_prior(4), paper.proposition_1(2, 2, 0.0, "corrected"))),
    }
    return holds(sample, named=named, of="spaces and eps: rows sum to 1, the ratio is kept, the leakage is B")


def _scales(reading: Reading) -> dict[str, tuple[float, float]]:
    """Largest entry of the matrix on Val^u, and what it must be for rows to sum to 1."""
    largest = {}
    for v, u, t in [(3, 2, 2), (2, 1, 2)]:
        matrix = paper.proposition_1(v, u, math.log(t), reading)
        exact = 1 / sum(Fraction(math.comb(u, d) * (v - 1) ** d, t**d) for d in range(u + 1))
        largest[f"v = {v}, u = {u}, t = {t}"] = (float(matrix.max()), float(exact))
    return largest


@claim(instance=_proposition_1_violation)
def proposition_1_scale(sample: Sample) -> Finding:
    return corrected(_scales("printed"), _scales("corrected"), sample)


@claim()
def figure_3() -> Finding:
    grid = np.linspace(0.05, 10, 200)
    curves = {v: np.array([paper.theorem_1(v, 100, float(eps)) for eps in grid]) for v in (2, 10, 100)}
    return holds(
        named={
            f"v = {low} below {high}": float((curves[low] - curves[high]).max()) for low, high in ((2, 10), (10, 100))
        }
    )


@claim()
def figure_4b() -> Finding:
    order = "aa ab ac ba ca bb bc cb cc".split()
    printed = "011112222 101221212 110222121 122011122 122102211 212120112 221121021 212211201 221212110".split()
    places = [["a", "b", "c"].index(name[0]) * 3 + ["a", "b", "c"].index(name[1]) for name in order]
    found = hamming_graph(3, 2).distances[np.ix_(places, places)]
    rows = ("".join(map(str, row)) for row in found.tolist())
    return reproduced({f"row {x}, digits": (int(p), int(q)) for x, p, q in zip(order, printed, rows, strict=True)}, 0)


@claim()
def example_1_scale() -> Finding:
    return corrected(_scales("example"), _scales("corrected"))


@claim()
def example_1_leakage() -> Finding:
    pairs = {}
    for t in (1.1, 2, 10):
        leaked = leaked_bits(uniform_prior(9), paper.proposition_1(3, 2, math.log(t), "corrected"))
        pairs[f"t = {t}, bits"] = (leaked, math.log2(9 * best_utility(hamming_graph(3, 2), t)))
    return loose(pairs)


def _proposition_2_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    outputs = int(rng.integers(1, values**individuals + 1))
    leaked = min_entropy_capacity(random_private(rng, hamming_graph(values, individuals), leakage, outputs), bits=True)
    bounds = paper.proposition_2(values, individuals, outputs, leakage), paper.theorem_1(values, individuals, leakage)
    sharper = sharper_bound(values, individuals, outputs, leakage)
    return max(leaked - bounds[0], leaked - sharper, sharper - min(bounds))


@claim(instance=_proposition_2_violation)
def proposition_2(sample: Sample) -> Finding:
    pairs = {}
    for v, u, r, t in [(2, 3, 2, 2), (2, 3, 3, 2), (2, 2, 3, 2), (3, 1, 2, 2)]:
        name, leakage = f"v = {v}, u = {u}, r = {r}, t = {t}", math.log(t)
        exact = greatest_capacity(hamming_graph(v, u), r, leakage) / LOG2
        pairs[name] = (exact, paper.proposition_2(v, u, r, leakage))
        pairs[f"{name}, bound of the correction"] = (exact, sharper_bound(v, u, r, leakage))
    return loose(pairs, sample)


@claim()
def proposition_2_better() -> Finding:
    return above(
        "three individuals, two values, three outputs, t = 2, in bits: Theorem 1 gives 3 log2(4/3), Proposition 2 log2(8/3)",
        paper.theorem_1(2, 3, LOG2),
        paper.proposition_2(2, 3, 3, LOG2),
        exact=greatest_capacity(hamming_graph(2, 3), 3, LOG2) / LOG2,
    )


def _as_many_outputs_as_values(rng: Generator) -> float:
    values, individuals, leakage = int(rng.integers(2, 20)), int(rng.integers(1, 20)), float(rng.uniform(0.01, 4))
    bound, power = paper.proposition_2(values, individuals, values, leakage), math.exp(leakage * individuals)
    return max(
        abs(bound - math.log2(values * power / (values - 1 + power))),
        bound - paper.theorem_1(values, individuals, leakage),
    )


@claim(instance=_as_many_outputs_as_values)
def proposition_2_values(sample: Sample) -> Finding:
    ratio = paper.proposition_2(2, 1000, 2, 0.1) / paper.theorem_1(2, 1000, 0.1)
    return holds(sample, named={"u = 1000, v = 2, eps = 0.1: less than 2 % of Theorem 1": ratio - 0.02}, of="v, u, eps")


def _about_individuals(channel: FloatArray, values: int, individuals: int) -> float:
    """Largest capacity, in bits, of the channels in which one individual varies."""
    rows = np.concatenate(
        [about_individual(channel, values, individuals, which) for which in range(individuals)], axis=1
    )
    return math.log2(float(rows.max(axis=0).sum(axis=1).max()))


@claim(instance=on_private(lambda c, v, u, eps: _about_individuals(c, v, u) - paper.theorem_2(eps)))
def theorem_2(sample: Sample) -> Finding:
    pairs = {
        f"v = {v}, t = {t}, bits": (greatest_capacity(clique(v), v, math.log(t)) / LOG2, paper.theorem_2(math.log(t)))
        for v, t in [(2, 2), (3, 2), (3, 9)]
    }
    return loose(pairs, sample)


@claim()
def theorem_2_stronger() -> Finding:
    return above(
        "two individuals, two values, t = 4, in bits: Theorem 1 gives 2 log2(8/5), Theorem 2 gives 2",
        paper.theorem_1(2, 2, math.log(4)),
        paper.theorem_2(math.log(4)),
        theorem_1_for_u_1_t_2=paper.theorem_1(2, 1, LOG2),
        theorem_2_for_t_2=paper.theorem_2(LOG2),
    )
