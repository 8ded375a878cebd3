"""What Alvim et al. state (2011), claim by claim: Sections 1 to 4.

``t = exp(eps)`` throughout; the privacy parameter is in nats, min-entropy and its leakage in bits, as in the paper.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from paper_repro.claims import alvim2011_tools as tools
from paper_repro.claims.alvim2011_tools import LOG2
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
    reproduced,
)
from paper_repro.claims.exact import channel as fractions_of
from paper_repro.claims.prove import always
from paper_repro.errors import optional
from paper_repro.graphs import clique, databases
from paper_repro.guessing import conditional_min_entropy, greatest_capacity, min_entropy, min_entropy_capacity
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.papers import alvim2011 as paper
from paper_repro.papers.readings import Reading
from paper_repro.types import FloatArray

__all__: list[str] = []

Rng = np.random.Generator


# Abstract and introduction


@claim(wrong={"leakage 0, too, does not imply privacy": {"positive": False}})
def abstract_not_vice_versa(positive: bool = True) -> Finding:
    z3 = optional("z3", "proofs")
    s, t = z3.Reals("s t")
    small = (s > 0 if positive else s >= 0, s <= 1)
    facts = {
        "column maxima sum to 1 + s": always(z3.If(1 - s > 1, 1 - s, 1) + z3.If(s > 0, s, 0) == 1 + s, *small),
        "no ratio is kept": always(z3.Not(z3.And(s <= t * 0, 1 <= t * (1 - s), 1 - s <= t)), t >= 1, *small),
    }
    return proved(
        r"For all $s > 0$, rows $(1, 0)$ and $(1 - s, s)$ leak $\log_2(1 + s)$ bits and are "
        r"$\epsilon$-private for no $\epsilon$ (z3).",
        facts,
    )


@claim(wrong={"with v + e^eps below": {"less": 0}, "with v - 2 + e^eps below": {"less": 2}})
def abstract_leakage_tight(less: int = 1) -> Finding:
    facts = tools.scale_facts(less)
    for v, u, t in [(2, 1, 2), (3, 1, 5), (2, 2, 1.2), (3, 2, 2), (2, 3, 2)]:
        over = tools.most_guessed(tools.hamming_graph(v, u), t) - (t / (v - less + t)) ** u
        facts[f"program for v = {v}, u = {u}, t = {t}"] = abs(over) < 1e-9
    how = (
        r"Let $t = e^\epsilon$. A column sums to at least $\sum_d \binom ud (v-1)^d t^{-d} = ((v-1+t)/t)^u$ times its maximum, "
        r"and the matrix of Proposition 1 attains this (computer algebra, all $v$ and $t$, $u \le 8$). Linear programs agree."
    )
    return proved(how, facts)


@claim(wrong={"standard deviation, in place of scale": {"scale": Fraction(7, 10)}})
def laplace(scale: Fraction | int = 1) -> Finding:
    z3 = optional("z3", "proofs")
    here, there, noisy, sensitivity = z3.Reals("here there noisy sensitivity")
    far, near, apart = (z3.If(x > 0, x, -x) for x in (noisy - there, noisy - here, here - there))
    fact = always(far - near <= z3.RealVal(scale) * sensitivity, apart <= sensitivity)
    how = (
        r"$|z - b| - |z - a| \le |a - b|$ for all real $a, b, z$ (z3). The logarithm of the ratio is the left side times "
        r"$\epsilon / \Delta$."
    )
    return proved(how, {"log density ratio at most eps": fact})


def _questions(prior: Sequence[float]) -> float:
    """Mean number of questions of Huffman's strategy, which is optimal."""
    heap, mean = list(prior), 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        heapq.heappush(heap, both)
        mean += both
    return mean


@claim(wrong={"as mended: at least the entropy, less than 1 above it": {"above": 1.0}})
def shannon_questions(above: float = 0.0) -> Finding:
    priors = [0.75, 0.25], [0.25, 0.25, 0.5], [0.97, 0.02, 0.01], [0.4, 0.3, 0.3]
    entropies = [-sum(p * math.log2(p) for p in prior) for prior in priors]
    over = [_questions(prior) - entropy for prior, entropy in zip(priors, entropies, strict=True)]
    return refuted(
        "A bit that is 0 with probability 3/4 takes {questions} question, and its entropy is {entropy} bits.",
        any(not -1e-12 <= found <= above + 1e-12 for found in over),
        questions=_questions(priors[0]),
        entropy=entropies[0],
    )


@claim(wrong={"with the minus of Section 2.2": {"sign": -1}})
def min_entropy_sign(sign: int = 1) -> Finding:
    truth, name = min_entropy([0.75, 0.25], bits=True), "prior (3/4, 1/4)"
    pairs = {name: (sign * math.log2(0.75), truth)}, {name: (-math.log2(0.75), truth)}
    return corrected(*pairs, says="for {name} the logarithm is {} bits, and the min-entropy is {} bits")


@for_all(
    tools.random_channel,
    of="priors and channels (with every rule of guessing)",
    wrong={"2 to minus the mean of the posteriors' min-entropies": {"mean": True}},
)
@example("a channel whose output equals the input", np.array([0.3, 0.7]), np.eye(2))
def bayes_risk(prior: FloatArray, channel: FloatArray, mean: bool = False) -> float:
    entropy = _printed_entropy(prior, channel, True) if mean else conditional_min_entropy(prior, channel, bits=True)
    joint, inputs = prior[:, np.newaxis] * channel, np.arange(len(prior))[:, np.newaxis]
    rules = itertools.product(range(len(prior)), repeat=channel.shape[1])
    risk = min(float(joint[inputs != np.array(rule)].sum()) for rule in rules)  # loss 1 for a wrong guess
    return max(abs(tools.guessed(prior, channel) - 2**-entropy), abs(1 - risk - 2**-entropy))


def _printed_entropy(prior: FloatArray, channel: FloatArray, inside: bool) -> float:
    """Eq. (2), from posteriors, or with its logarithm inside the mean."""
    joint = (prior[:, np.newaxis] * channel)[:, prior @ channel > 0]
    chances = joint.sum(axis=0)
    most = (joint / chances).max(axis=0)
    return -float(chances @ np.log2(most)) if inside else -math.log2(float(chances @ most))


# Section 2


@claim(wrong={"with an added delta, the same for outputs and for sets": {"added": True}})
def definition_1(added: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    delta, facts = z3.Real("delta"), {}
    for count in range(2, 7):
        chances, allowed = z3.RealVector("p", count), z3.RealVector("q", count)  # q is t times the neighbor's
        given = [delta >= 0 if added else delta == 0]
        given += [z3.And(0 <= p, p <= q + delta) for p, q in zip(chances, allowed, strict=True)]
        sets = [chosen for size in range(count) for chosen in itertools.combinations(range(count), size + 1)]
        kept = [z3.Sum([chances[i] for i in one]) <= z3.Sum([allowed[i] for i in one]) + delta for one in sets]
        facts[f"{count} outputs"] = always(z3.And(kept), *given)
    return proved(
        "If all single outputs keep the ratio, so do all sets of up to 6 outputs (z3). Conversely, a single output is a set.",
        facts,
    )


def _renyi(rng: Rng) -> tuple[FloatArray, float]:
    return rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.7)), float(rng.uniform(1.01, 2000))


@for_all(
    _renyi,
    of="priors and orders (the value is between the limit and order / (order - 1) times the limit)",
    wrong={"of the least probability": {"largest": False}, "without the minus": {"sign": 1}},
)
@example("a prior with one value", np.array([1.0]), 2.0)
@example("the prior (1, 1, 1, 1)/4", np.full(4, 0.25), 1000.0)
def renyi_limit(prior: FloatArray, order: float, largest: bool = True, sign: int = -1) -> float:
    most = float(prior.max())
    renyi = (order * math.log2(most) + math.log2(float(((prior / most) ** order).sum()))) / (1 - order)
    limit = sign * math.log2(most if largest else float(prior[prior > 0].min()))
    return max(limit - renyi, renyi - order / (order - 1) * limit)


@for_all(tools.random_channel, of="channels (with every strategy)", wrong={"log inside the mean": {"inside": True}})
@example("an output that is independent of the input", np.array([0.25, 0.75]), np.full((2, 2), 0.5))
def equation_2(prior: FloatArray, channel: FloatArray, inside: bool = False) -> float:
    before, after = tools.guessed(prior, np.ones((len(prior), 1))), tools.guessed(prior, channel)
    found = _printed_entropy(prior, channel, inside)
    return max(abs(found + math.log2(after)), abs(min_entropy(prior, bits=True) + math.log2(before)))


@claim(wrong={"and at no other one": {"only": True}})
def capacity_at_uniform(only: bool = False) -> Finding:
    p, c, most, maximum = optional("z3", "proofs").Reals("p c most maximum")
    rows = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    others = tools.leaked_bits([0.5, 0.5, 0], rows) - tools.leaked_bits(tools.uniform_prior(3), rows)
    entries = always(p * c <= most * maximum, 0 <= p, p <= most, 0 <= c, c <= maximum)
    how = (
        r"For each entry $p(x) C_{xz} \le \max p \max_x C_{xz}$ (z3), with equality in each column at the uniform prior. For "
        r"rows (1, 0), (0, 1), (1/2, 1/2) the prior (1/2, 1/2, 0) attains the capacity too."
    )
    return proved(how, {"entries": entries, "other priors, or not": (abs(others) < 1e-12) != only})


def _capacity_violation(rng: Rng, **_: bool) -> float:
    prior, channel = tools.random_channel(rng)
    return abs(math.log2(paper.capacity(channel)) - tools.leaked_bits(tools.uniform_prior(len(prior)), channel))


@claim(instance=_capacity_violation, wrong={"with the logarithm": {"logarithm": True}})
def capacity_formula(sample: Sample, logarithm: bool = False) -> Finding:
    channels = {"rows (3/4, 1/4), (1/4, 3/4)": tools.KEEP, "two rows (1/2, 1/2)": np.full((2, 2), 0.5)}
    exact = {name: tools.leaked_bits([0.5, 0.5], rows) for name, rows in channels.items()}
    mended = {name: (math.log2(paper.capacity(rows)), exact[name]) for name, rows in channels.items()}
    printed = mended if logarithm else {name: (paper.capacity(rows), exact[name]) for name, rows in channels.items()}
    return corrected(printed, mended, sample, says="for {name} the sum is {}, and the capacity is {} bits")


@claim(wrong={"above 0 always": {"strict": True}})
def leakage_sign(strict: bool = False) -> Finding:
    z3 = optional("z3", "proofs")
    facts = {}
    for size in range(2, 6):
        joint, most = [z3.RealVector(f"p{x}", size) for x in range(size)], z3.RealVector("m", size)
        given = [z3.And(0 <= p, p <= most[z]) for row in joint for z, p in enumerate(row)]
        before, after = [z3.Sum(row) for row in joint], z3.Sum(most)
        facts[f"{size} inputs"] = always(z3.And([one < after if strict else one <= after for one in before]), *given)
    how = "Each row sums to at most the sum of the column maxima, for all joint distributions of up to 5 inputs and outputs (z3)."
    return proved(how, facts)


@for_all(
    tools.random_channel,
    of="priors and channels (with every strategy)",
    wrong={"a priori over a posteriori": {"turned": True}},
)
@example("rows (3, 1)/4 and (1, 3)/4 with probabilities 1/2 before and 3/4 after", np.array([0.5, 0.5]), tools.KEEP)
def leakage_ratio(prior: FloatArray, channel: FloatArray, turned: bool = False) -> float:
    entropies = min_entropy(prior, bits=True) - conditional_min_entropy(prior, channel, bits=True)
    ratio = tools.guessed(prior, channel) / float(prior.max())
    return abs(math.log2(1 / ratio if turned else ratio) - entropies)


@claim(wrong={"as mended: if they are independent": {"only_if": False}})
def equality_iff_independent(only_if: bool = True) -> Finding:
    prior, counterexamples = (Fraction(4, 5), Fraction(1, 5)), []
    for rows in (fractions_of("3/4 1/4; 1/4 3/4"), fractions_of("3/4 1/4; 3/4 1/4")):
        columns = [[p * entry for p, entry in zip(prior, column, strict=True)] for column in zip(*rows, strict=True)]
        equal = sum(max(column) for column in columns) == max(prior)
        independent = all(column[x] == prior[x] * sum(column) for column in columns for x in (0, 1))
        counterexamples.append(equal and not independent if only_if else independent and not equal)
    return refuted(
        "For prior (4/5, 1/5) and rows (3, 1)/4, (1, 3)/4, $x$ is guessed right with probability 4/5 before and 3/5 + 1/5 = 4/5 "
        "after seeing $y$, but $x$ and $y$ are dependent.",
        any(counterexamples),
    )


# Section 3


@claim(wrong={"u^v databases": {"swapped": True}})
def database_distances(swapped: bool = False) -> Finding:
    facts = {}
    for v, u in [(2, 1), (4, 1), (3, 2), (2, 4), (4, 3)]:
        every, count = list(databases(range(v), u)), u**v if swapped else v**u
        differ = [[sum(a != b for a, b in zip(x, y, strict=True)) for y in every] for x in every]
        alike = len(every) == count and bool((np.array(differ) == tools.hamming_graph(v, u).distances).all())
        facts[f"v = {v}, u = {u}"] = alike
    return proved(
        "All pairs of databases are compared with shortest paths for $(v, u)$ = (2, 1), (4, 1), (3, 2), (2, 4), (4, 3).",
        facts,
    )


@claim(wrong={"a row added or removed, but not changed": {"changed": False}})
def absence_as_a_value(changed: bool = True) -> Finding:
    facts = {}
    for u in (1, 2, 3):
        rows = [{(who, v) for who, v in enumerate(one) if v} for one in databases(("", "a", "b"), u)]
        found = []
        for one, other in itertools.product(rows, repeat=2):
            persons = {who for who, _ in one ^ other}
            row_more, differ = len(one ^ other) == 1, len(one) == len(other) and len(persons) == 1
            found.append(row_more or (differ and changed))
        facts[f"u = {u}"] = found == (tools.hamming_graph(3, u).distances == 1).ravel().tolist()
    return proved(
        "All pairs of databases of up to three individuals with two values and absence are enumerated.", facts
    )


@claim(wrong={"whatever the distribution of the answers": {"uniform": True}})
def oblivious_utility(uniform: bool = False) -> Finding:
    p, noise, facts = tools.symbols("p0:4"), tools.symbols("h0:12"), {}
    for answers in itertools.product(range(4), repeat=4):
        for y, z in itertools.product(set(answers), range(3)):
            of_y = [x for x in range(4) if answers[x] == y]
            chance = sum(p) / len(set(answers)) if uniform else sum(p[x] for x in of_y)
            whole = sum(p[x] * noise[3 * answers[x] + z] for x in of_y)
            facts[f"{answers}, {y}, {z}"] = (whole - chance * noise[3 * y + z]).expand() == 0
    how = (
        "$p(y, z) = p(y) H(z|y)$ for all queries on four databases and three outputs (computer algebra), and $U$ depends on "
        "$p(y, z)$ alone."
    )
    return proved(how, facts)


def _others_known_violation(rng: Rng, independent: bool = False) -> float:
    channel, values, individuals, _ = tools.private(rng, (2, 6))
    rows = tools.about_individual(channel, values, individuals, 0)
    own, weights = rng.dirichlet(np.ones(values)), np.ones(1)
    for each in rng.dirichlet(np.full(values, 0.5), size=individuals - 1):
        weights = np.kron(weights, each)
    unknown = np.einsum("d,xdz->xz", weights, rows)
    return tools.leaked_bits(own, unknown) - max(tools.leaked_bits(own, rows[:, d]) for d in range(rows.shape[1]))


@claim(instance=_others_known_violation, wrong={"of independent individuals": {"independent": True}})
def others_known(sample: Sample, independent: bool = False) -> Finding:
    rows = tools.SUM_OF_TWO
    known = max(tools.leaked_bits([0.5, 0.5], rows[[first, first + 2]]) for first in (0, 1))
    alone = tools.leaked_bits([0.5, 0.5], (rows[:2] + rows[2:]) / 2)
    equal = alone if independent else tools.leaked_bits([0.5, 0.5], rows[[0, 3]])
    leakage = math.exp(ratio_leakage(rows, tools.hamming_graph(2, 2)))
    every = refuted(
        "Take two individuals with the same fair bit and rows (5, 1)/6 at 00, (3, 3)/6 at 01 and 10, (1, 5)/6 at 11. An attacker "
        "who knows the other gains {known} bits about one individual; one who does not gains {unknown} bits.",
        equal > known + 1e-9 and abs(leakage - 3) < 1e-9,
        known=known,
        unknown=equal,
    )
    own = holds(
        sample,
        named={"rows (5, 1)/6, (3, 3)/6, (3, 3)/6, (1, 5)/6 with two independent fair bits": alone - known},
        of="independent priors",
    )
    return depends({"for independent individuals": own, "for any individuals": every})


@claim(wrong={"on the empty database, too": {"participants": 0}})
def salaries(participants: int = 1) -> Finding:
    facts = {}
    for u in range(1, 6):
        present = {sum(value == "s" for value in database) for database in databases(("null", "s"), u)}
        means = {"s" if count else "none" for count in present if count >= participants}  # the mean of s, s, ..., s
        facts[f"{u} employees"] = means == {"s"}
    return proved("The mean is $s$ on every nonempty database of up to five employees (enumeration).", facts)


# Section 4


def _theorem_1_violation(channel: FloatArray, v: int, u: int, leakage: float, **_: int) -> float:
    return min_entropy_capacity(channel, bits=True) - paper.theorem_1(v, u, leakage)


@claim(instance=tools.on_private(_theorem_1_violation), wrong={"with v + e^eps below": {"less": 0}})
def theorem_1(sample: Sample, less: int = 1) -> Finding:
    how = (
        r"Let $t = e^\epsilon$. An entry $d$ steps from the largest entry of its column is at least $t^{-d}$ times as large. So "
        r"$2^I$ is at most $v^u$ over $\sum_d \binom ud (v-1)^d t^{-d} = ((v-1+t)/t)^u$ (computer algebra, all $v$ and $t$, $u "
        r"\le 8$)."
    )
    return proved(how, tools.scale_facts(less, bound=True), sample)


@claim(wrong={"converges to log2 v": {"power": 0}})
def bound_shape(power: int = 1) -> Finding:
    sympy = optional("sympy", "proofs")
    u, w = tools.symbols("u w")
    eps, v = sympy.Symbol("epsilon", nonnegative=True), w + 1  # v > 1
    bound = u * sympy.log(v * sympy.exp(eps) / (v - 1 + sympy.exp(eps))) / sympy.log(2)
    slope = sympy.simplify(sympy.diff(bound, eps) * sympy.log(2))
    limit = sympy.limit(-u * sympy.log((1 + w * sympy.exp(-eps)) / v), eps, sympy.oo)
    facts = {
        "0 at 0": sympy.simplify(bound.subs(eps, 0)) == 0,
        "slope u (v - 1) / (v - 1 + t), above 0": sympy.simplify(slope - u * w / (w + sympy.exp(eps))) == 0,
        "limit": sympy.simplify(limit - u**power * sympy.log(v)) == 0,
    }
    how = (
        r"The slope in $\epsilon$ is $u (v - 1) / ((v - 1 + e^\epsilon) \ln 2) > 0$; the value at 0 and the limit are as stated "
        r"(computer algebra, all $u$ and $v$)."
    )
    return proved(how, facts)


def _proposition_1_violation(rng: Rng, **_: object) -> float:
    v, u, leakage = tools.random_space(rng)
    matrix = paper.proposition_1(v, u, leakage, "corrected")
    leaked = tools.leaked_bits(tools.uniform_prior(v**u), matrix) - paper.theorem_1(v, u, leakage)
    return max(tools.rows_off(matrix), ratio_leakage(matrix, tools.hamming_graph(v, u)) - leakage, abs(leaked))


@claim(instance=_proposition_1_violation, wrong={"with v + e^eps": {"less": 0}, "with v - 2 + e^eps": {"less": 2}})
def proposition_1(sample: Sample, less: int = 1) -> Finding:
    how = (
        r"Let $t = e^\epsilon$. Rows $(t / (v-1+t))^u t^{-d}$ sum to 1, and the column maxima sum to $2^B$ (computer algebra, "
        r"all $v$ and $t$, $u \le 8$)."
    )
    return proved(how, tools.scale_facts(less), sample)


def _scales(reading: Reading, *cases: tuple[int, int, int]) -> dict[str, tuple[float, float]]:
    """Largest entry of the matrix on Val^u, and what it must be for rows to sum to 1."""
    largest = {}
    for v, u, t in cases:
        matrix = paper.proposition_1(v, u, math.log(t), reading)
        exact = 1 / sum(Fraction(math.comb(u, d) * (v - 1) ** d, t**d) for d in range(u + 1))
        largest[f"$v = {v}$, $u = {u}$, $e^\\epsilon = {t}$"] = (float(matrix.max()), float(exact))
    return largest


_SCALE = "for {name} the printed scale is {}, and rows sum to 1 with scale {}"


@claim(instance=_proposition_1_violation, wrong={"(t / (v - 1 + t))^u": {"reading": "corrected"}})
def proposition_1_scale(sample: Sample, reading: Reading = "printed") -> Finding:
    cases = (3, 2, 2), (2, 1, 2)
    return corrected(_scales(reading, *cases), _scales("corrected", *cases), sample, says=_SCALE)


@claim(wrong={"from eps = 0 on": {"from_zero": True}})
def figure_3(from_zero: bool = False) -> Finding:
    t, facts = optional("z3", "proofs").Real("t"), {}
    for low, high in ((2, 10), (10, 100)):
        below = low * (high - 1 + t) < high * (low - 1 + t)
        facts[f"v = {low} below v = {high}"] = always(below, t >= 1 if from_zero else t > 1)
    how = (
        r"$v e^\epsilon / (v - 1 + e^\epsilon)$ is larger for $v = 10$ than for 2, and for 100 than for 10, at all $\epsilon > "
        r"0$ (z3)."
    )
    return proved(how, facts)


@claim(wrong={"aa and cc at distance 1": {"first": "011112221"}})
def figure_4b(first: str = "011112222") -> Finding:
    order = "aa ab ac ba ca bb bc cb cc".split()
    printed = [first, *"101221212 110222121 122011122 122102211 212120112 221121021 212211201 221212110".split()]
    places = ["abc".index(name[0]) * 3 + "abc".index(name[1]) for name in order]
    found = tools.hamming_graph(3, 2).distances[np.ix_(places, places)]
    rows = ("".join(map(str, row)) for row in found.tolist())
    return reproduced({f"row {x}": (int(p), int(q)) for x, p, q in zip(order, printed, rows, strict=True)}, 0)


@claim(wrong={"(t / (v - 1 + t))^u": {"reading": "corrected"}})
def example_1_scale(reading: Reading = "example") -> Finding:
    return corrected(_scales(reading, (3, 2, 2)), _scales("corrected", (3, 2, 2), (3, 2, 5)), says=_SCALE)


@claim(wrong={"with exponent 1 everywhere off the diagonal": {"sizes": [1, 8]}})
def example_1_leakage(sizes: Sequence[int] = (1, 4, 4)) -> Finding:
    t = tools.symbols("t")
    leaked, graph = 9 / tools.fading(list(sizes), t), tools.hamming_graph(3, 2)
    facts = {
        "distances in each row and column": all(np.bincount(row).tolist() == [1, 4, 4] for row in graph.distances),
        "2^I is the largest": (leaked - (3 * t / (2 + t)) ** 2).cancel() == 0,
        "program, t = 2": abs(9 * tools.most_guessed(graph, 2) - float(leaked.subs(t, 2))) < 1e-9,
    }
    how = (
        r"With $t = e^\epsilon$, each column sums to at least $1 + 4/t + 4/t^2$ times its maximum, so that $2^I \le 9 / (1 + "
        r"2/t)^2$; the matrix attains this."
    )
    return proved(how, facts)


def _proposition_2(v: int, u: int, r: int, t: float, up: bool = False) -> float:
    """2 to the bound, with l rounded down, or up."""
    power = next(size for size in itertools.count() if v ** (size + (not up)) > r - up)
    return r * t**u / ((v - 1 + t) ** power - t**power + t**u)


def _sharper(v: int, u: int, r: int, t: float) -> float:
    """t^u / sum_s C(u, s) (t - 1)^s max(v^-s, 1/r), which is at most 2 to either bound."""
    return t**u / sum(math.comb(u, s) * (t - 1) ** s * max(v**-s, 1 / r) for s in range(u + 1))


def _proposition_2_violation(rng: Rng, up: bool = False, beyond: bool = False) -> float:
    v, u, leakage = tools.random_space(rng)
    r, t = int(rng.integers(1, v**u * (1 + beyond) + 1)), math.exp(leakage)
    leaked = 2 ** min_entropy_capacity(tools.random_private(rng, tools.hamming_graph(v, u), leakage, r), bits=True)
    bound, sharper = _proposition_2(v, u, r, t, up), _sharper(v, u, r, t)
    mine = max(leaked - sharper, sharper - bound, sharper - 2 ** paper.theorem_1(v, u, leakage))
    return max(leaked - bound, 0.0 if up or beyond else mine)


@claim(
    instance=_proposition_2_violation,
    wrong={"l rounded up": {"up": True}, "for more outputs than databases, too": {"beyond": True}},
)
def proposition_2(sample: Sample, up: bool = False, beyond: bool = False) -> Finding:
    pairs, closed = {}, {}
    cases = [(2, 3, 2, 2), (2, 2, 2, 3), (2, 3, 3, 2), (2, 2, 3, 2), (3, 2, 3, 3), (3, 2, 3, 2)]
    for v, u, r, t in cases + [(2, 1, 4, 2)] * beyond:
        exact = tools.plain(math.exp(greatest_capacity(tools.hamming_graph(v, u), r, math.log(t))))
        pairs[f"$v = {v}$, $u = {u}$, $r = {r}$, $e^\\epsilon = {t}$"] = (exact, _proposition_2(v, u, r, t, up))
        if r == 2:
            closed[v, u, t] = abs(exact - 2 + (t ** (-u / 2) if u % 2 == 0 else 2 / t ** ((u - 1) / 2) / (1 + t)))
    if max(closed.values()) > 1e-9 or abs(pairs["$v = 3$, $u = 2$, $r = 3$, $e^\\epsilon = 2$"][0] - 2) > 1e-9:
        return refuted("The exact values given are wrong.", True)
    return loose(pairs, sample, says="for {name} the largest $2^I$ is {}, and the bound is {}")


@claim(wrong={"smaller for every r below v^u": {"every": True}})
def proposition_2_better(every: bool = False) -> Finding:
    special, general = Fraction(2 * 2**100, 2 - 1 + 2**100), Fraction(4, 3) ** 100
    exact = math.exp(greatest_capacity(tools.hamming_graph(2, 3), 3, LOG2))
    facts = {
        "u = 100": special < 2 and general > 2**41 and abs(paper.proposition_2(2, 100, 2, LOG2) - 1) < 1e-9,
        "r = 3: 8/3, 64/27 and 2": abs(2 ** paper.proposition_2(2, 3, 3, LOG2) - 8 / 3) < 1e-9
        and abs(exact - 2) < 1e-9,
    }
    if every:
        facts["v = 2, u = r = 3, t = 2"] = Fraction(8, 3) < Fraction(4, 3) ** 3
    return proved(
        r"For $v = r = e^\epsilon = 2$ and $u = 100$ it is below 1 bit, and $B$ is above 41 bits (in fractions).", facts
    )


@claim(wrong={"with v below in place of v - 1": {"less": 0}})
def proposition_2_values(less: int = 1) -> Finding:
    (v, t), ratio = tools.symbols("v t"), paper.proposition_2(2, 1000, 2, 0.1) / paper.theorem_1(2, 1000, 0.1)
    facts = {"2 % of Theorem 1 at u = 1000": ratio < 0.02}
    for u in range(1, 9):
        facts[f"formula, u = {u}"] = ((v - 1 + t) - t + t**u - (v - less + t**u)).expand() == 0
        above = v ** (u - 1) * (v - 1 + t**u) - (v - 1 + t) ** u
        facts[f"at most Theorem 1's, u = {u}"] = tools.nonnegative(above, v=2, t=1)
    how = (
        r"With $t = e^\epsilon$, it is at most $B$ for all $v \ge 2$, $t \ge 1$ and $u \le 8$ (no negative coefficient in $v - "
        r"2$ and $t - 1$). It is at most $\log_2 v$ for every $u$, and $B$ grows with $u$."
    )
    return proved(how, facts)


def _about_individuals(channel: FloatArray, v: int, u: int, leakage: float, nats: bool = False) -> float:
    """Largest capacity of the channels in which one individual varies, less the bound."""
    rows = np.concatenate([tools.about_individual(channel, v, u, which) for which in range(u)], axis=1)
    most = float(rows.max(axis=0).sum(axis=1).max())
    return math.log2(most) - (leakage if nats else paper.theorem_2(leakage))


@claim(instance=tools.on_private(_about_individuals), wrong={"eps, as if it were in bits": {"nats": True}})
def theorem_2(sample: Sample, nats: bool = False) -> Finding:
    pairs = {}
    for v, t in [(2, 2), (3, 2), (3, 9), (10, 2)]:
        exact = math.log2(v * tools.most_guessed(clique(v), t))
        if abs(exact - math.log2(v * t / (v - 1 + t))) > 1e-9:
            return refuted("The exact value given is wrong.", True)
        pairs[f"$v = {v}$, $e^\\epsilon = {t}$"] = (exact, math.log(t) if nats else paper.theorem_2(math.log(t)))
    return loose(pairs, sample, says="for {name} at most {} bits leak, and the bound is {}")


@claim(wrong={"for at least three individuals with two values, at t = 4": {"individuals": 3}})
def theorem_2_stronger(individuals: int = 1) -> Finding:
    alone = paper.theorem_2(math.log(4))
    printed = {
        f"$v = 2$, $u = {u}$, $e^\\epsilon = 4$": tools.at_most(paper.theorem_1(2, u, math.log(4)), alone)
        for u in range(individuals, 9)
    }
    mended = {f"three or more: u = {u}": tools.at_most(paper.theorem_1(2, u, math.log(4)), alone) for u in range(3, 9)}
    for v, t in itertools.product((2, 3, 10), (1.5, 4, 30)):
        mended[f"Theorem 1, one individual, v = {v}, t = {t}"] = tools.at_most(
            math.log2(t), paper.theorem_1(v, 1, math.log(t))
        )
    return corrected(printed, mended, says="for {name} Theorem 1 gives {} bits, and Theorem 2 gives {}")
