"""What Alvim et al. state (2011), claim by claim: Sections 5 and 6: answers on graphs, and the examples.

``t = exp(eps)`` throughout; the privacy parameter is in nats, min-entropy and its leakage in bits, as in the paper.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

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
from paper_repro.claims.prove import always
from paper_repro.errors import optional
from paper_repro.graphs import Adjacency, Query, clique, line, ring
from paper_repro.guessing import bayes_vulnerability, min_entropy
from paper_repro.mechanisms import distance_mechanism, truncated_geometric
from paper_repro.notions.ratios import ratio_leakage
from paper_repro.papers import alvim2011 as paper
from paper_repro.types import FloatArray

__all__: list[str] = []

Rng = np.random.Generator


# Section 5


@claim(wrong={"with the gain g(rho(z), y), the guess first": {"turned": True}})
def equation_3(turned: bool = False) -> Finding:
    p, noise, gain = (tools.symbols(names) for names in ("p0:3", "h0:6", "g0:9"))
    cells = list(itertools.product(range(3), repeat=2))
    facts = {}
    for guess in cells:
        told = {(y, other): sum(noise[2 * y + z] for z in (0, 1) if guess[z] == other) for y, other in cells}
        means = sum(p[y] * told[y, other] * gain[3 * y + other] for y, other in cells)
        place = [[3 * guess[z] + y if turned else 3 * y + guess[z] for z in (0, 1)] for y in range(3)]
        gains = sum(p[y] * noise[2 * y + z] * gain[place[y][z]] for y in range(3) for z in (0, 1))
        binary = means.subs({gain[3 * y + other]: int(y == other) for y, other in cells})
        right = sum(p[guess[z]] * noise[2 * guess[z] + z] for z in (0, 1))
        facts[f"rho = {guess}"] = (means - gains).expand() == 0 and (binary - right).expand() == 0
    return proved(
        "An identity for all priors, noises, gains and remappings of two outputs to three answers (computer algebra).",
        facts,
    )


@for_all(
    tools.random_channel,
    of="channels (with every remapping)",
    wrong={"guessing the y with the largest p(z|y)": {"likelihood": True}},
)
@example("an output that is independent of the answer", np.array([0.9, 0.1]), np.full((2, 2), 0.5))
def equation_5(prior: FloatArray, channel: FloatArray, likelihood: bool = False) -> float:
    joint = prior[:, np.newaxis] * channel
    found = joint[channel.argmax(axis=0), np.arange(channel.shape[1])].sum() if likelihood else joint.max(axis=0).sum()
    return abs(tools.guessed(prior, channel) - float(found))


def _leakage_of_answers(rng: Rng, **_: str) -> float:
    prior, channel = tools.random_channel(rng)
    log_utility = math.log2(tools.guessed(prior, channel))
    return abs(min_entropy(prior, bits=True) + log_utility - tools.leaked_bits(prior, channel))


@claim(instance=_leakage_of_answers, wrong={"with H(Y), as mended": {"entropy": "Y"}})
def utility_and_leakage(sample: Sample, entropy: str = "X") -> Finding:
    answers, name = [0.75, 0.25], "AND of two fair bits, published unchanged"
    exact = tools.leaked_bits(answers, np.eye(2))
    gain = math.log2(bayes_vulnerability(answers, np.eye(2)))
    printed = min_entropy(tools.uniform_prior(4) if entropy == "X" else answers, bits=True) + gain
    mended = min_entropy(answers, bits=True) + gain
    return corrected(
        {name: (printed, exact)}, {name: (mended, exact)}, sample, says="the print gives {} bits, and {} bits leak"
    )


# Section 5.1


def _query_and_noise(rng: Rng) -> tuple[Query, FloatArray]:
    query = tools.random_query(rng)
    return query, tools.random_private(rng, query.adjacency, float(rng.uniform(0.1, 2)), 4)


@for_all(_query_and_noise, of="queries and noise", wrong={"adjacent if all of their databases are": {"every": True}})
@example("the sum of five bits with geometric noise", Query(sum, (0, 1), 5), truncated_geometric(6, 1.0).matrix)
def definition_2(query: Query, noise: FloatArray, every: bool = False) -> float:
    space, numbers = tools.hamming_graph(len(query.values), query.records), query.answer_numbers
    pairs = np.array(list(itertools.permutations(range(len(noise)), 2)))
    steps = [space.distances[np.ix_(numbers == y, numbers == other)] == 1 for y, other in pairs]
    first, second = pairs[[step.all() if every else step.any() for step in steps]].T
    seen = np.log(noise[:, noise.max(axis=0) > 0])
    kept = (seen[first] - seen[second]).max(initial=0)
    farther = query.adjacency.distances[np.ix_(numbers, numbers)] - space.distances
    return max(float(farther.max()), abs(ratio_leakage(query.then(noise), space) - float(kept)))


def _theorem_3_violation(rng: Rng, **_: object) -> float:
    size, t = int(rng.integers(2, 7)), float(rng.uniform(1.05, 10))
    offsets = tuple(step for step in range(1, size // 2 + 1) if rng.random() < 0.6)
    borders = tools.border_sizes_of(size, offsets)
    if sum(borders) < size - 1:
        return math.nan
    best = tools.most_guessed(tools.circulant_graph(size, offsets), t)
    bound = paper.theorem_3(math.log(t), min(borders), len(borders))
    return max(best - bound, abs(best - 1 / tools.fading([1, *borders], t)))


@claim(
    instance=_theorem_3_violation,
    wrong={"for uniform answers, as mended": {"peak": 0}, "the same on any connected graph": {"star": True}},
    share=0.5,
)
def theorem_3(sample: Sample, peak: float = 0.9, star: bool = False) -> Finding:
    def pair(graph: Adjacency, border: int, peak: float) -> tuple[float, float]:
        rest = (1 - peak) / (graph.size - 1)
        prior = [peak] + [rest] * (graph.size - 1) if peak else None
        bound = paper.theorem_3(LOG2, border, len(graph.border_sizes(0)) - 1)
        return tools.at_most(bound, tools.plain(tools.most_guessed(graph, 2, prior)))

    cases = {r"two answers at $e^\epsilon = 2$": (clique(2), 1), r"a ring of 5 at $e^\epsilon = 2$": (ring(5), 2)}
    printed = {f"{name} with probability 9/10 of one answer": pair(*case, peak) for name, case in cases.items()}
    star_of_4 = {"star of 4": (Adjacency.from_edges(4, [(0, 1), (0, 2), (0, 3)]), 3)}
    mended = {name: pair(*case, 0) for name, case in (star_of_4 if star else cases).items()}
    return corrected(printed, mended, sample, says="for {name} the bound is {}, and utility {} is attained")


_EQUATION_6 = r"$\alpha (1 + c \sum_{d=1}^n t^{-d}) = 1$ for all $t$, $c$ and $n \le 12$ (computer algebra)"


def _alpha(t: Any, c: Any, n: int) -> Any:
    """As printed."""
    return t**n * (1 - t) / (t**n * (1 - t) + c * (1 - t**n))


def _alpha_facts(shift: int = 0) -> dict[str, bool]:
    """That rows of eq. (6) sum to 1, with c vertices at each distance 1 .. n."""
    t, c = tools.symbols("t c")
    facts = {}
    for n in range(1, 13):
        above, below = _alpha(t, c, n).as_numer_denom()
        row = t**n + (c + shift) * sum(t ** (n - d) for d in range(1, n + 1))
        facts[f"n = {n}"] = (above * row - below * t**n).expand() == 0
    return facts


def _graph_facts(lacking: bool = False) -> dict[str, bool]:
    """That in all graphs of up to 13 answers the distances of neighbors to a third answer differ by at most 1."""
    facts = {}
    for number, (graph, c) in enumerate(tools.equal_borders()):
        first, second = (clique(graph.size) if lacking else graph).neighbor_pairs.T
        farther = graph.distances[first] - graph.distances[second]
        facts[f"graph {number}, {graph.size} answers, c = {c}"] = int(farther.max()) <= 1
    return facts


@claim(wrong={"with c + 1 at each distance": {"shift": 1}})
def theorem_3_tight(shift: int = 0) -> Finding:
    how = (
        rf"Let $t = e^\epsilon$. Eq. (6) is a channel with $\alpha$ on the diagonal, since {_EQUATION_6}. It keeps the ratio "
        rf"$t$ on all graphs of up to 13 answers that meet the conditions (enumeration)."
    )
    return proved(how, _alpha_facts(shift) | _graph_facts())


@claim(wrong={"from d = 1 on": {"first": 1}})
def border_at_zero(first: int = 0) -> Finding:
    sizes = ring(5).border_sizes(0)
    printed = {f"ring of 5 with $c = 2$ at $d = {d}$": (2.0, float(sizes[d])) for d in range(first, 3)}
    mended = {f"ring of 5, d = {d}": (2.0, float(sizes[d])) for d in (1, 2)}
    return corrected(printed, mended, says="$c$ is {}, and the number of vertices is {}")


# Section 5.2


def _geometric_sum(rng: Rng, **_: float) -> float:
    t, n, c = float(rng.uniform(1.1, 9)), int(rng.integers(1, 8)), int(rng.integers(1, 9))
    return abs(float(_alpha(t, c, n)) - paper.theorem_3(math.log(t), c, n))


@claim(instance=_geometric_sum, wrong={"for eps > 0": {"t": Fraction(2)}})
def equation_6_at_zero(sample: Sample, t: Fraction = Fraction(1)) -> Finding:
    above, below = t**2 * (1 - t), t**2 * (1 - t) + 2 * (1 - t**2)
    printed = float(above / below if below else max(above, below))
    mended = {"ring of 5, t = 1": (paper.theorem_3(0.0, 2, 2), 1 / 5)}
    exact, says = float(1 / (1 + 2 / t + 2 / t**2)), "numerator and denominator are {}, and rows sum to 1 with {}"
    return corrected({f"ring of 5 at $e^\\epsilon = {t}$": (printed, exact)}, mended, sample, says=says)


def _theorem_4_legal_violation(rng: Rng, **_: int) -> float:
    graph, c, leakage = tools.meeting_theorem_4(rng)
    return tools.rows_off(paper.equation_6(graph, leakage, c))


@claim(instance=_theorem_4_legal_violation, wrong={"on even rings, with c = 2": {"last": 1}})
def theorem_4_legal(sample: Sample, last: int = 2) -> Finding:
    t, facts = tools.symbols("t"), _alpha_facts()
    if last != 2:
        facts = {"ring of 6": (_alpha(t, 2, 3) * tools.fading([1, 2, 2, last], t)).cancel() == 1}
    return proved(rf"With $t = e^\epsilon$, {_EQUATION_6}, and no entry is negative.", facts, sample)


def _theorem_4_private_violation(rng: Rng, lacking: bool = False) -> float:
    graph, c, leakage = tools.meeting_theorem_4(rng)
    return ratio_leakage(paper.equation_6(graph, leakage, c), clique(graph.size) if lacking else graph) - leakage


@claim(instance=_theorem_4_private_violation, wrong={"with distances in a graph that lacks edges": {"lacking": True}})
def theorem_4_private(sample: Sample, lacking: bool = False) -> Finding:
    query = Query(lambda database: sum(database) % 5, (0, 1), 5)
    whole = ratio_leakage(query.then(paper.theorem_4(query.adjacency, LOG2)), tools.hamming_graph(2, 5))
    how = "The distances of two neighbors to a third answer differ by at most 1, in all graphs of up to 13 answers (enumeration)."
    return proved(how, _graph_facts(lacking) | {"sum of five bits modulo 5": whole <= LOG2 + 1e-12}, sample)


def _theorem_4_optimal_violation(rng: Rng, peak: float = 0.0) -> float:
    graph, c, leakage = tools.meeting_theorem_4(rng)
    other = tools.random_private(rng, graph, leakage, int(rng.integers(2, 2 * graph.size)))
    prior = (1 - peak) * tools.uniform_prior(graph.size) + peak * np.eye(graph.size)[0]
    return bayes_vulnerability(prior, other) - paper.theorem_3(leakage, c, graph.diameter)


_DUAL = (
    r"Let $t = e^\epsilon$. Column $z$ of any mechanism sums to at least $p(z|z) (1 + c \sum_d t^{-d}) = p(z|z) / \alpha$. All "
    r"columns together sum to $|\mathcal Y|$, so that $U \le \alpha$. Here "
)


def _optimal_facts(peak: float = 0.0) -> dict[str, bool]:
    """Eq. (6) attains the program over all channels, on graphs with and without an automorphism of one orbit."""
    facts = _alpha_facts()
    cases = (clique(2), 1, 3), (ring(5), 2, 2), (ring(7), 2, 1.3), (clique(6), 5, 2), (tools.hamming_graph(3, 2), 4, 2)
    for graph, c, t in cases:
        prior = (1 - peak) * tools.uniform_prior(graph.size) + peak * np.eye(graph.size)[0]
        over = tools.most_guessed(graph, t, prior) - paper.theorem_3(math.log(t), c, graph.diameter)
        facts[f"program, {graph.name} of {graph.size}, t = {t}"] = abs(over) < 1e-9
    facts["no automorphism of one orbit"] = paper.single_orbit_automorphism(tools.hamming_graph(3, 2)) is None
    return facts


@claim(instance=_theorem_4_optimal_violation, wrong={"whatever the distribution of the answers": {"peak": 0.8}})
def theorem_4_optimal(sample: Sample, peak: float = 0.0) -> Finding:
    return proved(f"{_DUAL}{_EQUATION_6}. Linear programs agree.", _optimal_facts(peak), sample)


@claim(
    wrong={
        "the best of all mechanisms, oblivious or not": {"oblivious": False},
        "without the conditions, for the count of five voters": {"conditions": False},
    }
)
def abstract_optimal_mechanism(oblivious: bool = True, conditions: bool = True) -> Finding:
    facts = _optimal_facts()
    if not conditions:
        facts["five voters"] = tools.most_guessed(line(6), 2) <= _utility("2b") + 1e-9
    if not oblivious:  # AND of two bits, t = 3: noise that sees the bits, for the prior 1/2 at 11 and 1/6 elsewhere
        one = [Fraction(1, 12), Fraction(1, 4), Fraction(1, 4), Fraction(3, 4)]
        edges = [(one[x], one[y]) for x, y in tools.hamming_graph(2, 2).edges]
        kept = all(max(p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p)) <= 3 for p, q in edges)
        facts["AND of two bits"] = kept and one[3] / 2 + (3 - sum(one[:3])) / 6 <= Fraction(3, 4)
    return proved(f"{_DUAL}{_EQUATION_6}. Linear programs agree.", facts)


@claim(wrong={"where each distance has c vertices": {"even": 5}})
def abstract_utility_tight(even: int = 6) -> Finding:
    pairs = {}
    for graph, c in [(ring(5), 2), (ring(even), 2 - (even + 1) % 2)]:
        best = tools.plain(tools.most_guessed(graph, 2))
        pairs[f"ring of {graph.size} with $c = {c}$ at $e^\\epsilon = 2$"] = (
            best,
            paper.theorem_3(LOG2, c, graph.diameter),
        )
        if abs(best - 1 / tools.fading(graph.border_sizes(0).tolist(), 2)) > 1e-9:
            return refuted("The exact value given is wrong.", True)
    return loose(pairs, says="for a {name} the largest utility is {}, and the bound is {}")


@claim(wrong={"as mended": {"mended": True}, "as mended, with odd divisors, too": {"step": 1}})
def number_of_cases(mended: bool = False, step: int = 2) -> Finding:
    found = {n: len({c for graph, c in tools.equal_borders() if graph.size == n}) for n in range(3, 14)}
    right = {n: sum((n - 1) % c == 0 for c in range(2, n, step)) if n % 2 else 1 for n in found}
    printed = {f"{n} answers": (right[n] if mended else n // 2 - 1, count) for n, count in found.items()}
    correction = {f"{n} answers": (right[n], count) for n, count in found.items()}
    found_now = corrected(printed, correction)
    if found_now.verdict != "corrected":
        return found_now
    rows = [f"{name.partition(' ')[0]}: {said:g}, {count}" for name, (said, count) in printed.items() if said != count]
    text = f"The number of answers, the printed number of cases, and the number found: {'; '.join(rows)}."
    return replace(found_now, evidence=text)


@claim(wrong={"for three answers or more, as mended": {"answers": 3}})
def border_of_one(answers: int = 2) -> Finding:
    least = {n: min(c for graph, c in tools.equal_borders() if graph.size == n) for n in range(2, 14)}
    least[2] = int(Query(min, (0, 1), 2).adjacency.border_sizes(0)[1])
    names = {2: "AND of two bits, with two answers"}
    pairs = {n: tools.at_most(float(c), 2.0) for n, c in least.items()}
    printed = {names.get(n, f"{n} answers"): pair[::-1] for n, pair in pairs.items() if n >= answers}
    mended = {f"{n} answers": pair for n, pair in pairs.items() if n > 2}
    return corrected(printed, mended, says="by the statement $c$ is at least {}, and it is {}")


@claim(wrong={"on even rings, too": {"even": True}})
def extreme_cases(even: bool = False) -> Finding:
    facts = {}
    for size in range(3, 14):
        graphs = [(c, graph) for graph, c in tools.equal_borders() if graph.size == size]
        counts = [c for c, _ in graphs]
        facts[f"clique of {size}"] = max(counts) == size - 1 and all(g.is_clique for c, g in graphs if c == size - 1)
        if size % 2 or even:
            facts[f"ring of {size}"] = min(counts) == 2 and all(len(g.edges) == size for c, g in graphs if c == 2)
    how = "Of all graphs of up to 13 answers, only rings have the least $c$ and only cliques the largest (enumeration)."
    return proved(how, facts)


@claim(wrong={"with one individual fewer than answers": {"fewer": 1}})
def counting_modulo(fewer: int = 0) -> Finding:
    facts = {}
    for n in range(3, 8):
        graph = Query(lambda database, n=n: sum(database) % n, (0, 1), n - fewer).adjacency  # type: ignore[misc]
        facts[f"{n} answers modulo {n}"] = bool((graph.distances == ring(n).distances).all())
        facts[f"{n} answers"] = bool((Query(sum, (0, 1), n - 1).adjacency.distances == line(n).distances).all())
    return proved("The adjacencies of all databases of 2 to 7 individuals with one bit each are enumerated.", facts)


def _remark_1_violation(rng: Rng, **_: int) -> float:
    size, leakage = 2 * int(rng.integers(2, 8)), float(rng.uniform(LOG2 / 2, 4))
    matrix = paper.remark_1(size, leakage)
    return max(tools.rows_off(matrix), ratio_leakage(matrix, ring(size)) - leakage)


@claim(
    instance=_remark_1_violation, wrong={"for every eps": {"square": 1}, "if t^2 >= 3/2": {"square": Fraction(3, 2)}}
)
def remark_1(sample: Sample, square: Fraction | int = 2) -> Finding:
    z3, t = optional("z3", "proofs"), tools.symbols("t")
    (s, far), facts = z3.Reals("t far"), {}  # an entry at the largest distance is 2 far, one a step nearer t far
    for n in range(2, 8):
        row = tools.fading([1] + [2] * (n - 1), t) + 2 / t**n
        facts[f"rows, ring of {2 * n}"] = (_alpha(t, 2, n) * row).cancel() == 1
    facts["2 / t^n and 1 / t^(n - 1)"] = always(
        z3.And(2 * far <= s * (s * far), s * far <= s * (2 * far)), far > 0, s >= 1, s * s >= z3.RealVal(square)
    )
    how = (
        r"Let $t = e^\epsilon$. Rows sum to 1 on even rings of 4 to 14 nodes (computer algebra), and $2 t^{-n}$ and $t^{-(n-1)}$ "
        r"differ by a factor of at most $t$ if $t^2 \ge 2$ (z3)."
    )
    return proved(how, facts, sample)


def _extended(rng: Rng) -> tuple[Adjacency, Adjacency, float]:
    size, leakage = int(rng.integers(3, 9)), float(rng.uniform(0.05, 4))
    extended = ring(size) if size % 2 and rng.random() < 0.5 else clique(size)
    graph = line(size) if not extended.is_clique else tools.random_connected(rng, size)
    return extended if rng.random() < 0.2 else graph, extended, leakage


@for_all(
    _extended,
    of="connected graphs that are extended to cliques or odd rings",
    wrong={"with edges taken away": {"added": False}},
)
@example("a star of 4 extended to a clique", Adjacency.from_edges(4, [(0, 1), (0, 2), (0, 3)]), clique(4), LOG2)
@example("a line of 5 extended to a ring", line(5), ring(5), LOG2)
def remark_2(graph: Adjacency, extended: Adjacency, leakage: float, added: bool = True) -> float:
    matrix = paper.remark_2(graph, extended, leakage)
    return max(tools.rows_off(matrix), ratio_leakage(matrix, graph if added else clique(graph.size)) - leakage)


def _geometric(size: int, t: int) -> list[list[Fraction]]:
    """The truncated geometric mechanism, exact."""
    return [
        [Fraction(t if z in (0, size - 1) else t - 1, (t + 1) * t ** abs(y - z)) for z in range(size)]
        for y in range(size)
    ]


def _exact_ratio(matrix: list[list[Fraction]], graph: Adjacency) -> Fraction:
    rows = [(matrix[x], matrix[y]) for x, y in graph.neighbor_pairs]
    return max(p / q for first, second in rows for p, q in zip(first, second, strict=True))


@claim(wrong={"on the ring itself, where nothing is added": {"added": False}})
def remark_2_not_optimal(added: bool = True) -> Finding:
    best = _geometric(5, 2)
    facts = {
        "the geometric mechanism is a channel": all(sum(row) == 1 for row in best),
        "of ratio 2": _exact_ratio(best, line(5) if added else ring(5)) == 2,
        "with utility 7/15": sum(best[y][y] for y in range(5)) / 5 == Fraction(7, 15),
        "eq. (6) has 2/5": _alpha(Fraction(2), 2, 2) == Fraction(2, 5),
    }
    how = r"For a line of 5 extended to a ring at $e^\epsilon = 2$, eq. (6) has utility 2/5 and the geometric mechanism 7/15."
    return proved(how, facts)


@claim(wrong={"also for even rings with Remark 1": {"doubled": True}})
def remark_2_monotone(doubled: bool = False) -> Finding:
    t, facts = tools.symbols("t"), {}
    for n in range(1, 13):
        difference = sum(t ** (n + 1 - d) for d in range(1, n + 1)) - n
        facts[f"mean of t^-1 .. t^-{n} above that up to {n + 1}"] = tools.nonnegative(difference, t=1)
    if doubled:
        facts["ring and clique of 4, t = 3/2"] = bool(np.trace(paper.remark_1(4, math.log(1.5))) / 4 >= 1 / 3)
    how = (
        r"With $t = e^\epsilon$, $U = 1 / (1 + c \sum_{d \le n} t^{-d})$ and $c n = |\mathcal Y| - 1$. Fewer adjacencies give a "
        r"smaller $c$, a larger $n$ and a smaller mean of $t^{-d}$ (no negative coefficient in $t - 1$, $n \le 12$)."
    )
    return proved(how, facts)


# Examples 2 and 3

_TABLES = {"1a": "1(a)", "1b": "1(b)", "2a": "2(a)", "2b": "2(b)"}
_ENDS_LESS_LIKELY = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1])


@cache
def _examples() -> dict[str, FloatArray]:
    """The four mechanisms of Tables 1 and 2."""
    return {
        "1a": truncated_geometric(6, LOG2 / 5).matrix,
        "1b": paper.equation_6(clique(6), LOG2, 5),
        "2a": truncated_geometric(6, LOG2).matrix,
        "2b": paper.proposed_mechanism(line(6), LOG2),
    }


def _utility(name: str, prior: FloatArray | None = None) -> float:
    return bayes_vulnerability(tools.uniform_prior(6) if prior is None else prior, _examples()[name])


@claim(wrong={"where winners lead by two votes": {"lead": 2}})
def example_2_clique(lead: int = 1) -> Finding:
    facts = {}
    for first, second in itertools.permutations("ABCDEF", 2):
        others = [city for city in "ABCDEF" if city not in (first, second)]
        votes = first * (4 + lead) + second * 4 + "".join(city * (3 - place) for place, city in enumerate(others))
        moved = second + votes[1:]  # one voter votes in the other city
        counts = [{city: ballots.count(city) for city in "ABCDEF"} for ballots in (votes, moved)]
        unique = all(len(set(count.values())) == 6 for count in counts)
        winners = [max(count, key=lambda city, count=count: count[city]) for count in counts]  # type: ignore[misc]
        facts[f"{first} and {second}"] = unique and winners == [first, second]
    return proved("For each ordered pair of six cities, two neighboring databases of 15 votes are written out.", facts)


@claim(wrong={"F, E: 0.061": {"last": 0.061}})
def table_1a(last: float = 0.060) -> Finding:
    printed = {f"{x}A": value for x, value in zip("ABCDE", (0.535, 0.465, 0.405, 0.353, 0.307), strict=True)}
    printed |= {f"F{x}": value for x, value in zip("ABCDEF", (0.267, 0.040, 0.046, 0.052, last, 0.535), strict=True)}
    places = {cell: ("ABCDEF".index(cell[0]), "ABCDEF".index(cell[1])) for cell in printed}
    return reproduced({cell: (printed[cell], _examples()["1a"][places[cell]]) for cell in printed}, 5e-4)


@claim(wrong={"diagonal 3/7": {"diagonal": 3}})
def table_1b(diagonal: int = 2) -> Finding:
    legible = [(i, j) for i, j in itertools.product(range(6), repeat=2) if i not in (2, 4) or j == 0]
    names = {(i, j): "ABCDEF"[i] + "ABCDEF"[j] for i, j in legible}
    printed = {(i, j): (diagonal if i == j else 1) / 7 for i, j in legible}
    return reproduced({names[cell]: (value, _examples()["1b"][cell]) for cell, value in printed.items()}, 1e-12)


@claim(wrong={"0.2234 for Table 1(a)": {"utility": 0.2234}})
def example_2_uniform(utility: float = 0.2243) -> Finding:
    values = {}
    for name, printed in (("1a", utility), ("1b", 0.2857)):
        values[rf"$e^\epsilon$ of Table {_TABLES[name]}"] = (2.0, math.exp(ratio_leakage(_examples()[name], None)))
        values[f"U of Table {_TABLES[name]}"] = (printed, _utility(name))
    return reproduced(values, 5e-5)


@claim(wrong={"0.2415": {"utility": 0.2415}})
def example_2_rounded(utility: float = 0.2412) -> Finding:
    exact = _utility("1a", _ENDS_LESS_LIKELY)
    rounded = float((_ENDS_LESS_LIKELY[:, np.newaxis] * _examples()["1a"].round(3)).max(axis=0).sum())
    mended = {"exact": (0.2415, exact), "from entries rounded to three digits": (0.2412, rounded)}
    return corrected(
        {"U of Table 1(a)": (utility, exact)}, mended, says="the print gives {}, and the value is {}", tolerance=5e-5
    )


@claim(wrong={"0.2867": {"utility": 0.2867}, "Table 1(a) has more": {"more": "1a"}})
def example_2_other_prior(utility: float = 0.2857, more: str = "1b") -> Finding:
    found = {name: _utility(name, _ENDS_LESS_LIKELY) for name in ("1a", "1b")}
    four = np.array([[0.25] * 4, *(0.2 + 0.2 * np.eye(4)), [0.25] * 4])
    over = tools.most_guessed(clique(6), 2, _ENDS_LESS_LIKELY) - bayes_vulnerability(_ENDS_LESS_LIKELY, four)
    if abs(over) > 1e-9 or ratio_leakage(four, None) > LOG2 + 1e-9:
        return refuted("The exact value given is wrong.", True)
    larger = 1.0, float(max(found, key=lambda name: found[name]) == more)
    return reproduced({"U of Table 1(b)": (utility, found["1b"]), "which of the two is larger": larger}, 5e-5)


@claim(wrong={"for the distribution of the example": {"every": False}})
def example_2_non_uniform(every: bool = True) -> Finding:
    ends = np.array([0.5, 0, 0, 0, 0, 0.5]) if every else _ENDS_LESS_LIKELY
    under = _utility("1a", _ENDS_LESS_LIKELY) - _utility("1b", _ENDS_LESS_LIKELY)
    general = refuted(
        "If A and F have probability 1/2 each, Table 1(b) has utility {second}, and Table 1(a) has {first}.",
        _utility("1a", ends) > _utility("1b", ends),
        first=_utility("1a", ends),
        second=_utility("1b", ends),
    )
    some = holds(named={"p(A) = p(F) = 1/10 and 1/5 elsewhere": under})
    return depends({"for some such distributions": some, "for all": general})


@claim(wrong={"3, 3: 1/4": {"middle": "1/4"}})
def table_2a(middle: str = "1/3") -> Finding:
    printed = {
        0: "2/3 1/6 1/12 1/24 1/48 1/48",
        1: "1/3 1/3 1/6 1/12 1/24 1/24",
        2: "1/6 1/6 1/3 1/6 1/12 1/12",
        3: f"1/12 1/12 1/6 {middle} 1/6 1/6",
        4: "1/24",
        5: "1/48 1/48 1/24 1/12 1/6 2/3",
    }
    values = {
        f"{row}{column}": (float(Fraction(entry)), float(_examples()["2a"][row, column]))
        for row, entries in printed.items()
        for column, entry in enumerate(entries.split())
    }
    return reproduced(values, 1e-12)


@claim(wrong={"3, 0: 1/22, as without Remark 1": {"farthest": 0.5}})
def table_2b(farthest: float = 1) -> Finding:
    values = {}
    for place, eleventh in enumerate([4, 2, 1, farthest, 1, 2]):
        values[f"{place}0"] = (eleventh / 11, float(_examples()["2b"][place, 0]))
        values[f"5{5 - place}"] = (eleventh / 11, float(_examples()["2b"][5, 5 - place]))
    return reproduced(values, 1e-12)


@claim(wrong={"4/10 for Table 2(b)": {"tenth": 10}})
def example_3_utilities(tenth: int = 11) -> Finding:
    values = {"U of Table 2(a)": (4 / 9, _utility("2a")), "U of Table 2(b)": (4 / tenth, _utility("2b"))}
    for name in ("2a", "2b"):
        values[rf"$e^\epsilon$ of Table {_TABLES[name]}"] = (2.0, math.exp(ratio_leakage(_examples()[name], line(6))))
    return reproduced(values, 1e-12)


@claim(wrong={"on a ring of 5": {"size": 5}})
def example_3_ring(size: int = 6) -> Finding:
    method, best = paper.proposed_mechanism(ring(size), LOG2), tools.plain(tools.most_guessed(ring(size), 2))
    better = distance_mechanism(ring(size), LOG2).matrix
    return refuted(
        "On the ring of 6 at $e^\\epsilon = 2$, Table 2(b) has utility {method}; rows (8, 4, 2, 1, 2, 4)/21 keep the ratio and "
        "have {best}.",
        np.trace(method) < np.trace(better) - 1e-9 and ratio_leakage(better, ring(size)) < LOG2 + 1e-9,
        method=float(np.trace(method)) / size,
        best=best,
    )


@claim(wrong={"on the line": {"closed": False}})
def example_3_geometric(closed: bool = True) -> Finding:
    ratio = _exact_ratio(_geometric(6, 2), ring(6) if closed else line(6))
    return proved(
        "The first entries of the first and the last row are 2/3 and 1/48, with ratio 32.", {"32, above 2": ratio == 32}
    )


def _prior_on_a_line(rng: Rng) -> tuple[FloatArray, float]:
    return rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.7)), float(rng.uniform(1.1, 8))


@for_all(
    _prior_on_a_line,
    of="priors on lines (compared with linear programs)",
    wrong={"without remapping": {"remapped": False}, "for eq. (6) on the clique": {"truncated": False}},
    tolerance=1e-8,
    share=0.5,
)
@example(r"six equally likely answers at $e^\epsilon = 2$", tools.uniform_prior(6), 2.0)
@example(r"the prior (1/2, 0, 1/2) at $e^\epsilon = 2$", np.array([0.5, 0, 0.5]), 2.0)
def example_3_line_optimal(prior: FloatArray, t: float, remapped: bool = True, truncated: bool = True) -> float:
    matrix = truncated_geometric(len(prior), math.log(t)).matrix
    if not truncated:
        matrix = paper.remark_2(line(len(prior)), clique(len(prior)), math.log(t))
    found = bayes_vulnerability(prior, matrix) if remapped else float(prior @ np.diagonal(matrix))
    return abs(tools.most_guessed(line(len(prior)), t, prior) - found)


# Section 6


@claim(wrong={"with 2 + t below": {"less": 0}})
def two_values(less: int = 1) -> Finding:
    over, t = (
        tools.most_guessed(tools.hamming_graph(2, 3), 2) - (2 / (2 - less + 2)) ** 3,
        optional("z3", "proofs").Real("t"),
    )
    how = (
        r"With $t = e^\epsilon$, $\max 2^I = 2^u / \sum_d \binom ud t^{-d} = (2t / (1 + t))^u$ for $u \le 8$ (computer "
        r"algebra). It grows with $u$ by a factor above 1 (z3); a linear program agrees."
    )
    facts = {"program, u = 3, t = 2": abs(over) < 1e-9, "2t / (1 + t) above 1": always(2 * t > 1 + t, t > 1)}
    return proved(how, tools.scale_facts(less) | facts)
