"""What Alvim et al. state (2011), claim by claim: the appendix.

``t = exp(eps)`` throughout; the privacy parameter is in nats, min-entropy and its leakage in bits, as in the paper.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from paper_repro.claims import alvim2011_tools as tools
from paper_repro.claims.base import (
    Finding,
    Sample,
    claim,
    corrected,
    example,
    for_all,
    holds,
    loose,
    proved,
    refuted,
    uncertain,
)
from paper_repro.claims.kalantari_tools import mended
from paper_repro.graphs import Adjacency, clique, databases
from paper_repro.guessing import conditional_min_entropy, min_entropy_capacity
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.papers import alvim2011 as paper
from paper_repro.types import FloatArray, IntArray

__all__: list[str] = []

Rng = np.random.Generator


# Appendix: leakage


def _square(rng: Rng, more: int = 4) -> tuple[FloatArray, Adjacency, int, int, FloatArray]:
    """A private channel with no fewer outputs than databases, its graph, u, v, and any prior."""
    values, individuals, leakage = tools.random_space(rng)
    graph = tools.hamming_graph(values, individuals)
    channel = tools.random_private(rng, graph, leakage, graph.size + int(rng.integers(more)))
    return channel, graph, individuals, values, rng.dirichlet(np.ones(graph.size))


@for_all(_square, of="private channels", wrong={"for any prior": {"uniform": False}})
@example("all maxima in one row", np.array([[0.5, 0.25, 0.25]] * 3), clique(3), 1, 3, np.array([0.2, 0.5, 0.3]))
@example("two maxima in one row", np.array([[0.5, 0.3, 0.2], [0.2, 0.25, 0.55]]), clique(2), 1, 2, np.array([0.3, 0.7]))
@example("columns of zeros", np.array([[0.6, 0, 0.4, 0], [0.4, 0, 0.6, 0]]), clique(2), 1, 2, np.array([0.2, 0.8]))
def lemma_1(channel: FloatArray, graph: Adjacency, u: int, v: int, prior: FloatArray, uniform: bool = True) -> float:
    return tools.not_kept(channel, paper.lemma_1(channel), graph, constant=False, prior=None if uniform else prior)


@for_all(_square, of="private channels after Lemma 1", wrong={"with column maxima anywhere": {"diagonal": False}})
@example("rows (9, 1)/10 and (8, 2)/10", np.array([[0.9, 0.1], [0.8, 0.2]]), clique(2), 1, 2, np.array([0.5, 0.5]))
def lemma_2(channel: FloatArray, graph: Adjacency, u: int, v: int, _: FloatArray, diagonal: bool = True) -> float:
    before = paper.lemma_1(channel) if diagonal else np.roll(paper.lemma_1(channel), 1, axis=1)
    return tools.not_kept(before, paper.lemma_2(before, v, u), graph)


def _equation_7(matrix: FloatArray, graph: Adjacency, t: float, u: int, v: int) -> float:
    """Left side less right side, the largest over rows and d < u."""
    sums = np.array([(matrix * (graph.distances == d)).sum(axis=1) for d in range(u + 1)])
    return float(max(((u - d) * (v - 1) * sums[d] - t * (d + 1) * sums[d + 1]).max() for d in range(u)))


def _equation_7_violation(rng: Rng, **_: bool) -> float:
    channel, graph, u, v, _prior = _square(rng)
    return _equation_7(paper.lemma_1(channel).T, graph, math.exp(ratio_leakage(channel, graph)), u, v)


@claim(instance=_equation_7_violation, wrong={"in each column, as mended": {"rows": False}})
def equation_7(sample: Sample, rows: bool = True) -> Finding:
    matrix, name = np.array([[0.9, 0.1], [0.8, 0.2]]), r"rows (9, 1)/10 and (8, 2)/10 at $e^\epsilon = 2$ with $d = 0$"
    by_columns = tools.at_most(0.0, _equation_7(matrix.T, clique(2), 2.0, 1, 2))
    printed = tools.at_most(2 * matrix[0, 1], matrix[0, 0]) if rows else by_columns
    mended = {"columns": by_columns, r"$e^\epsilon$": (2.0, math.exp(ratio_leakage(matrix, None)))}
    return corrected(
        {name: printed}, mended, sample, says="for {name} $M_{{00}}$ should be at most $2 M_{{01}}$ = {}, and it is {}"
    )


@claim(wrong={"d in place of d + 1": {"more": 0}})
def counts(more: int = 1) -> Finding:
    facts = {}
    for v, u in [(2, 1), (3, 2), (2, 4), (4, 3)]:
        far = tools.hamming_graph(v, u).distances
        for d in range(u + 1):
            up, down = ((far[far[0] == i][:, far[0] == j] == 1).sum(axis=1) for i, j in ((d, d + 1), (d + 1, d)))
            sizes = ((far == d).sum(axis=1) == math.comb(u, d) * (v - 1) ** d).all()
            steps = d == u or ((up == (u - d) * (v - 1)).all() and (down == d + more).all())
            facts[f"v = {v}, u = {u}, d = {d}"] = bool(sizes and steps)
    return proved("All databases are enumerated for $(v, u)$ = (2, 1), (3, 2), (2, 4), (4, 3).", facts)


def _symmetric(rng: Rng) -> tuple[FloatArray, IntArray, float, int, int]:
    """A private channel after Lemmas 1 and 2, distances, eps, u and v."""
    channel, graph, u, v, _ = _square(rng)
    leakage = ratio_leakage(channel, graph)
    return paper.lemma_2(paper.lemma_1(channel), v, u), graph.distances, leakage, u, v


def _equation_8_violation(rng: Rng, **_: int) -> float:
    matrix, _distances, leakage, u, v = _symmetric(rng)
    return float(matrix[0, 0]) - (math.exp(leakage) / (v - 1 + math.exp(leakage))) ** u


@claim(instance=_equation_8_violation, wrong={"with v + e^eps below": {"less": 0}})
def equation_8(sample: Sample, less: int = 1) -> Finding:
    how = (
        r"With $t = e^\epsilon$, a row sums to at least $\alpha \sum_d \binom ud (v-1)^d t^{-d} = \alpha ((v-1+t)/t)^u$ "
        r"(computer algebra, all $v$ and $t$, $u \le 8$)."
    )
    return proved(how, tools.scale_facts(less, bound=True), sample)


def _direction_violation(rng: Rng, **_: bool) -> float:
    matrix, distances, leakage, *_sizes = _symmetric(rng)
    return float((matrix[0, 0] * np.exp(-leakage * distances) - matrix).max())


@claim(instance=_direction_violation, wrong={"at least, as mended": {"most": False}})
def proofs_direction(sample: Sample, most: bool = True) -> Finding:
    alpha = entry = 0.5  # all entries are 1/2
    least = tools.at_most(-alpha / 2, -entry)
    printed = {r"all entries 1/2 at $e^\epsilon = 2$ with $d = 1$": tools.at_most(alpha / 2, entry) if most else least}
    return corrected(
        printed, {"at least": least}, sample, says=r"$\alpha / e^{{d \epsilon}}$ is {}, and the entry is {}"
    )


@claim(wrong={"without alpha on the left": {"factor": Fraction(1)}})
def binomial_expansion(factor: Fraction = Fraction(1, 4)) -> Finding:
    left = sum(math.comb(2, d) * 2**d * 2 ** (2 - d) for d in range(3))
    mended = {name: (float(fact), 1.0) for name, fact in tools.scale_facts().items()}
    printed = {"$v = 3$, $u = 2$, $e^\\epsilon = 2$, $\\alpha = 1/4$": (float(factor * left), 16.0)}
    return uncertain(corrected(printed, mended, says="for {name} the left side is {}, and the right side is {}"))


def _lemma_3_violation(rng: Rng, extra: bool = True) -> float:
    v, u, size = [(2, 2, 1), (2, 3, 1), (2, 3, 2), (3, 2, 1)][rng.integers(4)]
    leakage = float(rng.uniform(0.02, 3))
    channel = tools.random_private(rng, tools.hamming_graph(v, u), leakage, v**size)
    far = tools.hamming_graph(v, size).distances
    # Between the matrix that takes the ratios of part 1 to the full and the constant one there is one with the right diagonal.
    allowed = leakage * np.where(far > 0, (u - size) * extra + far, 0)
    extreme = np.exp(-allowed)
    extreme /= extreme.sum(axis=1, keepdims=True)
    alpha = float(channel.max(axis=0).sum()) / len(far)
    share = (alpha - 1 / len(far)) / (extreme[0, 0] - 1 / len(far))
    matrix = share * extreme + (1 - share) / len(far)
    entropy = conditional_min_entropy(tools.uniform_prior(v**u), channel, bits=True)
    ratios = float((matrix[:, np.newaxis] - np.exp(allowed)[:, :, np.newaxis] * matrix).max())
    return max(tools.rows_off(matrix), ratios, abs(entropy + math.log2(np.trace(matrix) / v**u)))


@claim(instance=_lemma_3_violation, wrong={"with ratios e^(eps d)": {"extra": False}})
def lemma_3(sample: Sample, extra: bool = True) -> Finding:
    v, t = tools.symbols("v t")
    facts = {}
    for u in range(2, 7):
        for size in range(u):
            steps = [(u - size) * extra * (d > 0) + d for d in range(size + 1)]
            total = sum(math.comb(size, d) * (v - 1) ** d * t ** (u - step) for d, step in enumerate(steps))
            sharp = sum(math.comb(u, s) * (t - 1) ** s * v ** max(size - s, 0) for s in range(u + 1))
            facts[f"u = {u}, l = {size}"] = tools.nonnegative(sharp - total, v=2, t=1)
    how = (
        r"Let $t = e^\epsilon$. The column maxima sum to at most $v^l t^u / \sum_s \binom us (t-1)^s v^{\max(l-s, 0)}$: weight "
        r"the sums of their rows by them and use the Cauchy-Schwarz inequality. This is at most $v^l$ times the diagonal that "
        r"the ratios allow (no negative coefficient in $v - 2$ and $t - 1$, $l < u \le 6$). A mixture with a constant matrix "
        r"has the required diagonal."
    )
    return proved(how, facts, sample)


@claim(wrong={"where the rows are 00 and 01, of one face": {"rows": (0, 1)}})
def lemma_3_proof(rows: tuple[int, int] | None = None) -> Finding:
    found = rows or tools.SUM_OF_TWO.argmax(axis=0)
    edges = int((tools.hamming_graph(2, 2).distances[np.ix_(found, found)] == 1).sum()) // 2
    code = [0, *(i for i, x in enumerate(databases(range(3), 3)) if 0 not in x)]
    farthest = int((tools.hamming_graph(3, 3).distances[0, code] == 3).sum()) if rows is None else 4
    # The lemma itself, by the construction of its own entry.
    tried = [_lemma_3_violation(np.random.default_rng(seed)) for seed in range(20)]
    right = holds(
        named={"20 random mechanisms": max(one for one in tried if not math.isnan(one))},
        tolerance=1e-8,
        says="The matrix of the lemma exists for 20 random mechanisms; the entry for Lemma 3 has the proof.",
    )
    return mended(
        "For $u = v = 2$ and $e^\\epsilon = 3$, the rows (5, 1)/6 at 00, (3, 3)/6 at 01 and 10, (1, 5)/6 at 11 have their "
        "maxima at 00 and 11. There are {edges} edges between these two, and $Val^1$ has 1. For $u = v = 3$ and $l = 2$, take "
        "the row 000 and the 8 rows without 0: {farthest} of them are at distance 3 from 000, and part 1 allows 4.",
        edges != 1 or farthest > 4,
        right,
        edges=edges,
        farthest=farthest,
    )


@claim(wrong={"from d = 1 to l, with C(l, d)": {"up_to": "l"}})
def equation_9(up_to: str = "u") -> Finding:
    def sides(terms: int, v: int, u: int, size: int, t: int) -> tuple[float, float]:
        parts = (Fraction(math.comb(terms, d) * (v - 1) ** d, t ** (u - size + d)) for d in range(1, terms + 1))
        return float(1 / (1 + sum(parts))), t**u / ((v - 1 + t) ** size - t**size + t**u)

    cases = [(2, 2, 1, 2), (3, 3, 2, 2), (2, 4, 2, 3)]
    names = [f"$v = {v}$, $u = {u}$, $l = {size}$, $e^\\epsilon = {t}$" for v, u, size, t in cases]
    printed, mended = ({n: sides(case[k], *case) for n, case in zip(names, cases, strict=True)} for k in (1, 2))
    says = r"for {name} (9) gives $\alpha \le$ {}, and its conclusion is $\alpha \le$ {}"
    return uncertain(corrected(printed if up_to == "u" else mended, mended, says=says))


def _collapsed(channel: FloatArray, kept: int) -> FloatArray:
    """The columns of the smallest maxima added to those of the largest, in turn."""
    order = np.argsort(-channel.max(axis=0), kind="stable")
    found = channel[:, order[:kept]].copy()
    for place, column in enumerate(order[kept:]):
        found[:, place % kept] += channel[:, column]
    return found


def _before_and_after(channel: FloatArray, v: int) -> tuple[float, float, int]:
    """Leakage with all columns and with v^l of them, in bits, and v^l."""
    kept = v ** next(power for power in range(9) if v ** (power + 1) > channel.shape[1])
    return min_entropy_capacity(channel, bits=True), min_entropy_capacity(_collapsed(channel, kept), bits=True), kept


def _equation_10_violation(rng: Rng, **_: bool) -> float:
    channel, v, _u, _leakage = tools.private(rng, (2, 9))
    before, after, kept = _before_and_after(channel, v)
    return before - after - math.log2(channel.shape[1] / kept)


@claim(instance=_equation_10_violation, wrong={"by log2(r / v^l) bits, as mended": {"factor": False}})
def equation_10(sample: Sample, factor: bool = True) -> Finding:
    rows = np.array([[5, 4, 1], [3, 4, 3], [3, 4, 3], [3, 4, 3]]) / 10
    before, after, kept = _before_and_after(rows, 2)
    added = tools.at_most(after + math.log2(3 / kept), before)
    printed = tools.at_most(after * 3 / kept, before) if factor else added
    return corrected(
        {r"$u = v = 2$ and $e^\epsilon = 3$, rows (5, 4, 1)/10 and three times (3, 4, 3)/10": printed},
        {"with bits added": added, r"$e^\epsilon$": (3.0, math.exp(ratio_leakage(rows, tools.hamming_graph(2, 2))))},
        sample,
        says="for {name} $I^N r / v^l$ is {} bits, and $I^M$ is {} bits",
    )


@claim(wrong={"for r up to 2 v^l": {"outputs": 5}})
def equation_10_columns(outputs: int = 8) -> Finding:
    def moved_and_left(r: int, v: int = 3) -> tuple[float, float]:
        kept = v ** max(power for power in range(5) if v**power < r)
        return float(r - kept), float(min(r - kept, kept))

    printed = {f"$v = 3$, $r = {outputs}$, so $l = 1$": moved_and_left(outputs)}
    mended = {f"r = {r}": moved_and_left(r) for r in (4, 5, 6, 10, 18)}
    return corrected(
        printed,
        mended,
        says="for {name} {} columns are to be added to as many others, and only {} others can take one each",
    )


def _lemma_4_violation(rng: Rng, apart: bool = False, nats: bool = False) -> float:
    size, leakage = int(rng.integers(2, 7)), float(rng.uniform(0.02, 4))
    outputs, prior = int(rng.integers(1, 9)), rng.dirichlet(np.full(size, 0.7))
    graph = tools.hamming_graph(2, 3) if apart else clique(size)
    leaked = tools.leaked_bits(
        tools.uniform_prior(8) if apart else prior, tools.random_private(rng, graph, leakage, outputs)
    )
    return leaked - (leakage if nats else paper.lemma_4(leakage))


@claim(
    instance=_lemma_4_violation,
    wrong={"eps, as if it were in bits": {"nats": True}, "if neighboring inputs keep the ratio": {"apart": True}},
)
def lemma_4(sample: Sample, nats: bool = False, apart: bool = False) -> Finding:
    pairs = {}
    for n, t in [(2, 2), (9, 3), (12, 2)]:
        exact = math.log2(n * tools.most_guessed(clique(n), t))
        if abs(exact - math.log2(n * t / (n - 1 + t))) > 1e-9:
            return refuted("The exact value given is wrong.", True)
        pairs[f"{n} inputs at $e^\\epsilon = {t}$"] = (exact, math.log(t) if nats else paper.lemma_4(math.log(t)))
    return loose(pairs, sample, says="for {name} at most {} bits leak, and the bound is {}")


# Appendix: utility


def _circulant(rng: Rng) -> tuple[FloatArray, Adjacency]:
    size = int(rng.integers(3, 11))
    graph = tools.circulant_graph(size, tuple({1, *rng.integers(1, size // 2 + 1, size=2).tolist()}))
    channel = tools.random_private(rng, graph, float(rng.uniform(0.02, 3)), size + int(rng.integers(3)))
    return paper.lemma_1(channel), graph


@for_all(
    _circulant,
    of="private channels on circulant graphs of 3 to 10 answers",
    wrong={"for a permutation of one orbit that is no automorphism": {"keeps_edges": False}},
)
@example("two answers with rows (9, 1)/10 and (4, 6)/10", np.array([[0.9, 0.1], [0.4, 0.6]]), clique(2))
def lemma_5(before: FloatArray, graph: Adjacency, keeps_edges: bool = True) -> float:
    cycle = np.roll(np.arange(graph.size), -1)
    if not keeps_edges:  # 0 and 1 change places
        swap = np.array([1, 0, *range(2, graph.size)])
        cycle = swap[cycle[swap]]
    return tools.not_kept(before, paper.lemma_5(before, cycle), graph)


@claim(wrong={"with the factor 1 / n": {"divided": True}})
def lemma_5_factor(divided: bool = False) -> Finding:
    matrix = np.array([[0.9, 0.1], [0.4, 0.6]])
    total, mean = float(np.trace(matrix)), float(paper.lemma_5(matrix, (1, 0))[0, 0])
    printed, mended = (total / 2 if divided else total, mean), (total / 2, mean)
    name, says = (
        "two answers with rows (9, 1)/10 and (4, 6)/10",
        "for {name} the sum is {}, and the entry $M'_{{00}}$ is {}",
    )
    return corrected({name: printed}, {name: mended}, says=says)


@claim(wrong={"minus log2 of their mean": {"logarithm": True}})
def lemma_5_proof(logarithm: bool = False) -> Finding:
    total, exact = float(np.trace(tools.KEEP)), conditional_min_entropy([0.5, 0.5], tools.KEEP, bits=True)
    printed, mended = (-math.log2(total / 2) if logarithm else total, exact), (-math.log2(total / 2), exact)
    name, says = "rows (3, 1)/4 and (1, 3)/4", "for {name} the diagonal sums to {}, and the entropy is {} bits"
    return corrected({name: printed}, {name: mended}, says=says)
