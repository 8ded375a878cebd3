"""What Alvim et al. state (2011), claim by claim: the appendix.

``t = exp(eps)`` throughout; the privacy parameter is in nats, min-entropy and its leakage in bits, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from paper_repro.claims.alvim2011_tools import (
    KEEP,
    LOG2,
    SUM_OF_TWO,
    Generator,
    at_most,
    best_utility,
    circulant_graph,
    hamming_graph,
    leaked_bits,
    not_kept,
    random_private,
    random_space,
    rows_off,
    uniform_prior,
)
from paper_repro.claims.base import Finding, Sample, above, claim, corrected, holds, loose
from paper_repro.graphs import Adjacency, clique, databases
from paper_repro.guessing import conditional_min_entropy, min_entropy_capacity
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.papers import alvim2011 as paper
from paper_repro.types import FloatArray

__all__: list[str] = []


# Appendix: leakage


def _lemma_1_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    graph = hamming_graph(values, individuals)
    return _lemma_1_kept(random_private(rng, graph, leakage, graph.size + int(rng.integers(4))), graph)


def _lemma_1_kept(channel: FloatArray, graph: Adjacency) -> float:
    return not_kept(channel, paper.lemma_1(channel), graph, constant=False)


@claim(instance=_lemma_1_violation)
def lemma_1(sample: Sample) -> Finding:
    named = {
        "all maxima in one row": _lemma_1_kept(np.array([[0.5, 0.25, 0.25]] * 3), clique(3)),
        "columns of zeros": _lemma_1_kept(np.array([[0.6, 0.0, 0.4, 0.0], [0.4, 0.0, 0.6, 0.0]]), clique(2)),
    }
    return holds(sample, named=named, of="private channels")


def _lemma_2_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    graph = hamming_graph(values, individuals)
    before = paper.lemma_1(random_private(rng, graph, leakage, graph.size + int(rng.integers(4))))
    return not_kept(before, paper.lemma_2(before, values, individuals), graph)


@claim(instance=_lemma_2_violation)
def lemma_2(sample: Sample) -> Finding:
    found = paper.lemma_2([[0.9, 0.1], [0.8, 0.2]], 2, 1)
    return holds(
        sample,
        named={"(9, 1)/10, (8, 2)/10": float(abs(found - [[0.55, 0.45], [0.45, 0.55]]).max())},
        of="such channels",
    )


def _equation_7(matrix: FloatArray, graph: Adjacency, t: float, u: int, v: int) -> FloatArray:
    """For each row and each d < u: left side less right side."""
    sums = np.array([(matrix * (graph.distances == d)).sum(axis=1) for d in range(u + 1)])
    return np.array([(u - d) * (v - 1) * sums[d] - t * (d + 1) * sums[d + 1] for d in range(u)])


def _equation_7_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    graph = hamming_graph(values, individuals)
    matrix = paper.lemma_1(random_private(rng, graph, leakage, graph.size))
    return float(_equation_7(matrix.T, graph, math.exp(leakage), individuals, values).max())


@claim(instance=_equation_7_violation)
def equation_7(sample: Sample) -> Finding:
    matrix = np.array([[0.9, 0.1], [0.8, 0.2]])
    excess, by_columns = (_equation_7(m, clique(2), 2.0, 1, 2).max() for m in (matrix, matrix.T))
    name = "rows (9, 1)/10, (8, 2)/10, t = 2, d = 0"
    return corrected(
        {f"{name}: M_00 is at most 2 M_01": at_most(0.2, 0.2 + float(excess))},
        {
            f"{name}: columns": at_most(0.0, float(by_columns)),
            f"{name}: e^leakage": (2.0, math.exp(ratio_leakage(matrix, None))),
        },
        sample,
    )


@claim()
def counts() -> Finding:
    named = {}
    for v, u in [(2, 1), (3, 2), (2, 4), (4, 3)]:
        far = hamming_graph(v, u).distances
        wrong = 0.0
        for d in range(u + 1):
            wrong += float(abs((far == d).sum(axis=1) - math.comb(u, d) * (v - 1) ** d).max())
            up, down = (
                (far[far[0] == here][:, far[0] == there] == 1).sum(axis=1) for here, there in ((d, d + 1), (d + 1, d))
            )
            wrong += float(abs(up - (u - d) * (v - 1)).max(initial=0)) + float(abs(down - d - 1).max(initial=0))
        named[f"v = {v}, u = {u}"] = wrong
    return holds(named=named)


def _on_symmetric(violation: Callable[[FloatArray, int, int, float], float]) -> Callable[[Generator], float]:
    """An instance: a private channel after Lemmas 1 and 2."""

    def instance(rng: Generator) -> float:
        values, individuals, leakage = random_space(rng)
        graph = hamming_graph(values, individuals)
        matrix = paper.lemma_2(paper.lemma_1(random_private(rng, graph, leakage, graph.size + 1)), values, individuals)
        return float(violation(matrix, values, individuals, leakage))

    return instance


@claim(instance=_on_symmetric(lambda m, v, u, eps: m[0, 0] - (math.exp(eps) / (v - 1 + math.exp(eps))) ** u))
def equation_8(sample: Sample) -> Finding:
    named = {"v = 3, u = 2, t = 2, attained": abs(float(paper.proposition_1(3, 2, LOG2, "corrected")[0, 0]) - 1 / 4)}
    return holds(sample, named=named, of="private channels after Lemmas 1 and 2")


@claim(instance=_on_symmetric(lambda m, v, u, eps: (m[0, 0] * np.exp(-eps * hamming_graph(v, u).distances) - m).max()))
def proofs_direction(sample: Sample) -> Finding:
    (alpha, entry), _ = np.full((2, 2), 0.5).tolist()
    name = "all entries 1/2, t = 2, d = 1"
    return corrected({name: at_most(alpha / 2, entry)}, {f"{name}: at least": at_most(-alpha / 2, -entry)}, sample)


@claim()
def binomial_expansion() -> Finding:
    v, u, t = 3, 2, 2
    expanded = sum(math.comb(u, d) * (v - 1) ** d * t ** (u - d) for d in range(u + 1))
    alpha, name = Fraction(t, v - 1 + t) ** u, "v = 3, u = 2, t = 2, alpha = 1/4"
    exact = float((v - 1 + t) ** u)
    return corrected({name: (float(alpha * expanded), exact)}, {name: (float(expanded), exact)})


def _lemma_3_violation(rng: Generator) -> float:
    v, u, size = [(2, 2, 1), (2, 3, 1), (2, 3, 2), (3, 2, 1)][rng.integers(4)]
    leakage = float(rng.uniform(0.02, 3))
    channel, far = random_private(rng, hamming_graph(v, u), leakage, v**size), hamming_graph(v, size).distances
    # Between the matrix that takes the ratios of part 1 to the full and the constant one there is one with the right diagonal.
    extreme = np.exp(-leakage * np.where(far > 0, u - size + far, 0))
    extreme /= extreme.sum(axis=1, keepdims=True)
    count, alpha = len(far), float(channel.max(axis=0).sum()) / v**size
    share = (alpha - 1 / count) / (extreme[0, 0] - 1 / count)
    matrix = share * extreme + (1 - share) / count
    ratios = np.log(matrix[:, np.newaxis, :]) - np.log(matrix[np.newaxis, :, :])
    allowed = leakage * np.where(far > 0, u - size + far, 0)
    entropies = (
        -math.log2(float(np.diagonal(matrix).sum()) / v**u),
        conditional_min_entropy(uniform_prior(v**u), channel, bits=True),
    )
    return max(
        rows_off(matrix),
        float((ratios - allowed[:, :, np.newaxis]).max()),
        float(np.ptp(np.diagonal(matrix))),
        float((matrix.max(axis=0) - np.diagonal(matrix)).max()),
        abs(entropies[0] - entropies[1]),
    )


@claim(instance=_lemma_3_violation)
def lemma_3(sample: Sample) -> Finding:
    bound = paper.proposition_2(2, 3, 2, LOG2) - math.log2(2 / (1 + 2**-3))
    return holds(
        sample,
        named={"u = 3, v = r = t = 2: largest diagonal": abs(bound)},
        of="channels, by mixing with a constant one",
    )


@claim()
def lemma_3_proof() -> Finding:
    rows = SUM_OF_TWO.argmax(axis=0)
    edges = int((hamming_graph(2, 2).distances[np.ix_(rows, rows)] == 1).sum()) // 2
    code = [0, *(i for i, x in enumerate(databases(range(3), 3)) if 0 not in x)]
    farthest = int((hamming_graph(3, 3).distances[0, code] == 3).sum())
    return above(
        "u = v = 2, rows (5, 1)/6 at 00, (3, 3)/6, (3, 3)/6, (1, 5)/6 at 11: Val^1 has one edge, rows 00 and 11 have "
        "none; difference",
        0,
        1 - edges,
        e_leakage=math.exp(ratio_leakage(SUM_OF_TWO, hamming_graph(2, 2))),
        u_3_v_3_l_2_rows_000_and_the_8_words_of_1_and_2_number_at_distance_3=farthest,
        number_that_may_be=2 * 2,
    )


@claim()
def equation_9() -> Finding:
    def sides(up_to: int, v: int, u: int, size: int, t: int) -> tuple[float, float]:
        parts = (Fraction(math.comb(up_to, d) * (v - 1) ** d, t ** (u - size + d)) for d in range(1, up_to + 1))
        return float(1 / (1 + sum(parts))), t**u / ((v - 1 + t) ** size - t**size + t**u)

    cases = [(2, 2, 1, 2), (3, 3, 2, 2), (2, 4, 2, 3)]
    names = [f"v = {v}, u = {u}, l = {size}, t = {t}" for v, u, size, t in cases]
    return corrected(
        {name: sides(case[1], *case) for name, case in zip(names, cases, strict=True)},
        {name: sides(case[2], *case) for name, case in zip(names, cases, strict=True)},
    )


def _collapsed(channel: FloatArray, kept: int) -> FloatArray:
    """The columns of the smallest maxima added to those of the largest, in turn."""
    order = np.argsort(-channel.max(axis=0), kind="stable")
    found = channel[:, order[:kept]].copy()
    for place, column in enumerate(order[kept:]):
        found[:, place % kept] += channel[:, column]
    return found


def _equation_10_violation(rng: Generator) -> float:
    values, individuals, leakage = random_space(rng)
    outputs = int(rng.integers(values, values**individuals + 1))
    channel = random_private(rng, hamming_graph(values, individuals), leakage, outputs)
    kept = values ** max(power for power in range(individuals + 1) if values**power <= outputs)
    before, after = (min_entropy_capacity(m, bits=True) for m in (channel, _collapsed(channel, kept)))
    return before - after - math.log2(outputs / kept)


@claim(instance=_equation_10_violation)
def equation_10(sample: Sample) -> Finding:
    rows = np.array([[5, 4, 1], [3, 4, 3], [3, 4, 3], [3, 4, 3]]) / 10
    before, after = (min_entropy_capacity(m, bits=True) for m in (rows, _collapsed(rows, 2)))
    name = "u = v = 2, t = 3, r = 3, rows (5, 4, 1)/10 and three times (3, 4, 3)/10, bits"
    mended = {
        name: at_most(after + math.log2(3 / 2), before),
        "its e^leakage": (3.0, math.exp(ratio_leakage(rows, hamming_graph(2, 2)))),
    }
    return corrected({name: at_most(after * 3 / 2, before)}, mended, sample)


def _lemma_4_violation(rng: Generator) -> float:
    size, leakage = int(rng.integers(2, 7)), float(rng.uniform(0.02, 4))
    channel = random_private(rng, clique(size), leakage, int(rng.integers(1, 9)))
    return leaked_bits(rng.dirichlet(np.full(size, 0.7)), channel) - paper.lemma_4(leakage)


@claim(instance=_lemma_4_violation)
def lemma_4(sample: Sample) -> Finding:
    pairs = {
        f"n = {n}, t = {t}, bits": (math.log2(n * best_utility(clique(n), t)), paper.lemma_4(math.log(t)))
        for n, t in [(2, 2), (9, 3)]
    }
    return loose(pairs, sample)


# Appendix: utility


def _lemma_5_violation(rng: Generator) -> float:
    size = int(rng.integers(2, 11))
    graph = circulant_graph(size, tuple({1, *rng.integers(1, size // 2 + 1, size=2).tolist()}))
    before = paper.lemma_1(random_private(rng, graph, float(rng.uniform(0.02, 3)), size + int(rng.integers(3))))
    return not_kept(before, paper.lemma_5(before, np.roll(np.arange(size), -1)), graph)


@claim(instance=_lemma_5_violation)
def lemma_5(sample: Sample) -> Finding:
    found = paper.lemma_5([[0.9, 0.1], [0.4, 0.6]], (1, 0))
    return holds(
        sample,
        named={"two answers": float(abs(found - np.array(KEEP)).max())},
        of="circulant graphs of 2 to 10 answers",
    )


@claim()
def lemma_5_proof() -> Finding:
    rows, name = np.array(KEEP), "rows (3, 1)/4, (1, 3)/4, bits"
    exact = conditional_min_entropy([0.5, 0.5], rows, bits=True)
    return corrected({name: (float(np.trace(rows)), exact)}, {name: (-math.log2(float(np.trace(rows)) / 2), exact)})
