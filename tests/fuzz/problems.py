"""Problems as one user would pose them, and cruel ones, drawn by regime; every one is a line of Python.

A problem depends on the seed, its regime, its notion and its number alone. Draws go through ``random.Random`` and a few rounded
digits, so that they are the same on every machine; what follows are sums and quotients of floats, which are too.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.oracles.rational import least_constant_distortion

NOTIONS = (
    "DP",
    "approximate",
    "approximate-standard",
    "maximal-leakage",
    "maximal-information",
    "mutual-information",
    "Sibson",
    "Renyi",
)
ON_GRAPHS = ("DP", "approximate", "approximate-standard", "Renyi")
REGIMES = {
    "ordinary": "ordinary sets and budgets",
    "small": "some probabilities 1e-3 .. 1e-6",
    "tiny": "some probabilities 1e-6 .. 1e-12",
    "zeros": "zeros, one-point vertices",
    "class-I": "the uniform prior is in the hull",
    "small-D": "ordinary, D = 1e-2 .. 1e-9",
    "vanishing-D": "ordinary, D = 1e-10 .. 1e-300",
    "leakage": "ordinary, leakage tiny or 4 .. 20",
    "large-leakage": "ordinary, leakage 40 .. 700",
    "next-to-free": "just below the distortion without leakage; leakage 1e-6 .. 1e-14",
    "wide": "probabilities 1 .. 1e-18 on one set",
    "ties": "near-duplicates, ties, near-uniform",
    "ends": "breakpoints and jumps, 1e-12 beside them; D = 0, 1; leakage 0, infinity",
    "databases": "2^2, 2^3, 3^2 with a prior or without",
    "graphs": "line, ring, random graph, clique",
    "costs": "distances other than Hamming",
}
CELLS = [(regime, notion) for regime in REGIMES for notion in NOTIONS if regime != "graphs" or notion in ON_GRAPHS]
ORDERS = (1.0, 1.000001, 1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0, 1000.0, math.inf)
DELTAS = (0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.9)
EXTRAS = ("", "", "round trip", "less", "more", "curve", "prior")


@dataclass(frozen=True)
class Problem:
    """A call of ``optimal_mechanism`` or ``optimal_database_mechanism``, and what else to ask about it.

    ``place`` names a breakpoint of the package's own curve (number, shift), where the budget is still to be put.
    """

    regime: str
    notion: str
    number: int
    vertices: tuple[tuple[float, ...], ...] | None  # None: the uniform prior of databases
    size: int
    budget: tuple[str, float] = ("distortion", 0.0)
    order: float = 0.0
    delta: float = 0.0
    graph: tuple[str, tuple[tuple[int, int], ...]] | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    database: tuple[int, int] | None = None
    extra: str = ""
    place: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return f"{self.regime}/{self.notion}#{self.number}"

    @property
    def variant(self) -> str:
        """The notion with its parameter."""
        if self.notion in ("Sibson", "Renyi"):
            return f"{self.notion} {self.order:g}" if self.order != 1.000001 else f"{self.notion} 1+1e-6"
        return f"{self.notion} {self.delta:g}" if "approximate" in self.notion else self.notion

    @property
    def notion_code(self) -> str:
        graph = self.graph[0] if self.graph else ""
        if self.notion == "DP":
            return f"pr.DifferentialPrivacy({graph})"
        if "approximate" in self.notion:
            standard = ", standard=True" if self.notion.endswith("standard") else ""
            return f"pr.ApproximateDP({self.delta!r}{standard}{', adjacency=' + graph if graph else ''})"
        if self.notion == "Renyi":
            return f"pr.RenyiDP({self.order!r}{', ' + graph if graph else ''})"
        if self.notion == "Sibson":
            return f"pr.SibsonInformation({self.order!r})"
        return {
            "maximal-leakage": "pr.MaximalLeakage()",
            "maximal-information": "pr.MaximalInformation()",
            "mutual-information": "pr.MutualInformation()",
        }[self.notion]

    @property
    def source_code(self) -> str:
        return "None" if self.vertices is None else f"pr.SourceSet({[list(row) for row in self.vertices]!r})"

    def __str__(self) -> str:
        kind, value = self.budget
        if self.database:
            return (
                f"pr.optimal_database_mechanism({self.database[0]}, {self.database[1]}, {kind}={value!r}, "
                f"notion={self.notion_code}, source={self.source_code})"
            )
        costs = f", costs={[list(row) for row in self.costs]!r}" if self.costs else ""
        return f"pr.optimal_mechanism({self.source_code}, {kind}={value!r}, notion={self.notion_code}{costs})"

    def curve_code(self, *budgets: float) -> str:
        """The curve through these budgets."""
        name = {"distortion": "leakage_curve", "leakage": "distortion_curve"}[self.budget[0]]
        if self.database:
            return (
                f"pr.database_{name}({self.database[0]}, {self.database[1]}, {list(budgets)!r}, "
                f"notion={self.notion_code}, source={self.source_code})"
            )
        costs = f", costs={[list(row) for row in self.costs]!r}" if self.costs else ""
        return f"pr.{name}({self.source_code}, {list(budgets)!r}, notion={self.notion_code}{costs})"

    def at(self, kind: str, value: float) -> Problem:
        return replace(self, budget=(kind, value), place=None)

    @property
    def is_plain(self) -> bool:
        """Whether every two letters are neighbors and distortion is the probability of change."""
        return not (self.graph or self.costs or self.database)

    @property
    def priors(self) -> tuple[tuple[float, ...], ...]:
        return self.vertices or ((1 / self.size,) * self.size,)

    @property
    def distances(self) -> tuple[tuple[float, ...], ...]:
        """From the true letter to the published one."""
        if self.costs:
            return self.costs
        if self.database:
            rows = list(itertools.product(range(self.database[0]), repeat=self.database[1]))
            return tuple(tuple(float(sum(a != b for a, b in zip(x, y, strict=True))) for y in rows) for x in rows)
        return tuple(tuple(float(i != j) for j in range(self.size)) for i in range(self.size))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Neighbors, in both orders."""
        if self.graph:
            return (*self.graph[1], *((j, i) for i, j in self.graph[1]))
        every = itertools.permutations(range(self.size), 2)
        if self.database:
            apart = self.distances
            return tuple((i, j) for i, j in every if apart[i][j] == 1)
        return tuple(every)


def draw(seed: int, regime: str, notion: str, number: int) -> Problem:
    """The problem with this number of a cell."""
    rng = random.Random(f"{seed}/{regime}/{notion}/{number}")
    database = graph = costs = None
    if regime == "databases":
        database = rng.choice([(2, 2), (2, 3), (3, 2)])
        size = database[0] ** database[1]
        style = rng.choice(["peaked", "flat", "near-uniform", "flat", "uniform"])
        vertices = None if style == "uniform" else _vertices(rng, style, size, rng.choice([1, 1, 1, 2]))
    else:
        size = rng.choice([2, 3, 4, 5, 6, 7, 8] if regime != "graphs" else [3, 3, 4, 4, 5, 6, 7, 8])
        count = rng.choice([1, 1, 2, 2, 3, 4])
        style = {
            "small": "small",
            "tiny": "tiny",
            "zeros": "zeros",
            "class-I": "class-I",
            "ties": "ties",
            "wide": "wide",
            "ends": rng.choice(["flat", "decimals", "ties", "zeros", "small", "tiny", "class-I"]),
            "graphs": rng.choice(["flat", "decimals", "peaked", "zeros", "near-uniform", "uniform", "small"]),
            "costs": rng.choice(["flat", "decimals", "zeros", "near-uniform", "small"]),
        }.get(regime, rng.choice(["flat", "decimals"]))
        if regime == "next-to-free":
            style = rng.choice(["flat", "decimals", "ties", "small", "tiny"])
        vertices = _vertices(rng, style, size, count)
        if regime == "graphs":
            graph = _graph(rng, size)
        if regime == "costs":
            costs = _costs(rng, size)
    problem = Problem(
        regime,
        notion,
        number,
        vertices,
        size,
        order=rng.choice(ORDERS) if notion in ("Sibson", "Renyi") else 0.0,
        delta=rng.choice(DELTAS) if "approximate" in notion else 0.0,
        graph=graph,
        costs=costs,
        database=database,
        extra=rng.choice(EXTRAS),
    )
    return _with_budget(rng, problem)


# ---- source sets


def _digits(value: float, digits: int = 6) -> float:
    """Few digits: the same on every machine, whatever its logarithm rounds to."""
    return float(f"{value:.{digits - 1}e}")


def _normalized(weights: list[float]) -> tuple[float, ...]:
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _flat(rng: random.Random, size: int) -> tuple[float, ...]:
    return _normalized([_digits(rng.expovariate(1.0)) + 1e-3 for _ in range(size)])


def _decimals(rng: random.Random, size: int) -> tuple[float, ...]:
    counts = [1] * size
    for _ in range(20 - size):
        counts[rng.randrange(size)] += 1
    return tuple(count / 20 for count in counts)


def _with_small(rng: random.Random, size: int, powers: tuple[int, int]) -> tuple[float, ...]:
    """Some letters, not all, with probabilities between two powers of ten."""
    row = list(_flat(rng, size))
    chosen = rng.sample(range(size), rng.randrange(1, size))
    for letter in chosen:
        row[letter] = 0.0
    rest = math.fsum(row)
    small = {letter: float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(*powers)}") for letter in chosen}
    keep = 1 - math.fsum(small.values())
    return tuple(small[letter] if letter in small else row[letter] / rest * keep for letter in range(size))


def _vertices(rng: random.Random, style: str, size: int, count: int) -> tuple[tuple[float, ...], ...]:
    if style == "peaked":
        return tuple(
            _normalized([_digits(rng.expovariate(1.0)) ** 3 + 1e-4 for _ in range(size)]) for _ in range(count)
        )
    if style == "near-uniform":
        return tuple(_normalized([1 + _digits(rng.uniform(0, 0.05), 4) for _ in range(size)]) for _ in range(count))
    if style == "uniform":
        return ((1 / size,) * size,)
    if style == "decimals":
        return tuple(_decimals(rng, size) for _ in range(count))
    if style == "small":
        return tuple(_with_small(rng, size, (4, 6)) for _ in range(count))
    if style == "tiny":
        return tuple(_with_small(rng, size, (7, 12)) for _ in range(count))
    if style == "wide":
        return tuple(
            _normalized([float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(0, 18)}") for _ in range(size)])
            for _ in range(count)
        )
    if style == "zeros":
        rows = []
        for _ in range(count):
            row = [0.0 if rng.random() < 0.4 else weight for weight in _flat(rng, size)]
            if rng.random() < 0.25 or not any(row):
                row = [0.0] * size
                row[rng.randrange(size)] = 1.0
            rows.append(_normalized(row))
        return tuple(rows)
    if style == "class-I":
        rows = [_flat(rng, size) for _ in range(count - 1)]
        rows.insert(rng.randrange(count), (1 / size,) * size)
        return tuple(rows)
    if style == "ties":
        return _tied(rng, size, count)
    return tuple(_flat(rng, size) for _ in range(count))


def _tied(rng: random.Random, size: int, count: int) -> tuple[tuple[float, ...], ...]:
    kind = rng.choice(["twins", "ties", "permuted", "near-uniform", "beside uniform"])
    first = list(_flat(rng, size))
    if kind == "twins":  # vertices that differ by little
        rows = [tuple(first)]
        for _ in range(count - 1):
            step = rng.choice([1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
            i, j = rng.sample(range(size), 2)
            row = list(first)
            step = min(step, row[i])
            row[i], row[j] = row[i] - step, row[j] + step
            rows.append(tuple(row))
        return tuple(rows)
    if kind == "ties":
        counts = [rng.choice([1, 1, 2, 3]) for _ in range(size)]
        rows = [_normalized([float(c) for c in rng.sample(counts, size)]) for _ in range(count)]
        return tuple(rows)
    if kind == "permuted":
        return tuple(tuple(rng.sample(first, size)) for _ in range(count))
    if kind == "near-uniform":
        scale = rng.choice([1e-2, 1e-4, 1e-7, 1e-10, 1e-13])
        return tuple(_normalized([1 + scale * rng.randint(0, 9) for _ in range(size)]) for _ in range(count))
    rows = [tuple(first)] * (count - 1)
    near = [1 / size] * size
    near[0], near[-1] = near[0] + 1e-9, near[-1] - 1e-9
    return (*rows, tuple(near))


def _graph(rng: random.Random, size: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    kind = rng.choice(["line", "line", "ring", "random", "random", "clique"])
    if kind == "line":
        return f"pr.line({size})", tuple((i, i + 1) for i in range(size - 1))
    if kind == "ring":
        return f"pr.ring({size})", tuple((i, (i + 1) % size) for i in range(size))
    if kind == "clique":
        return f"pr.clique({size})", tuple(itertools.combinations(range(size), 2))
    tree = [(rng.randrange(vertex), vertex) for vertex in range(1, size)]
    others = [pair for pair in itertools.combinations(range(size), 2) if pair not in tree]
    edges = tuple(sorted([*tree, *rng.sample(others, rng.randint(0, len(others)) // 2)]))
    return f"pr.Adjacency.from_edges({size}, {list(edges)!r})", edges


def _costs(rng: random.Random, size: int) -> tuple[tuple[float, ...], ...]:
    kind = rng.choice(["apart", "square", "random", "decimals", "thousands", "thousandths"])
    unit = {"thousands": 1000.0, "thousandths": 0.001}.get(kind, 1.0)

    def cost(i: int, j: int) -> float:
        if i == j:
            return 0.0
        if kind == "apart":
            return float(abs(i - j))
        if kind == "square":
            return float((i - j) ** 2)
        return unit * (rng.randint(0 if kind == "random" else 1, 10) if kind != "decimals" else rng.randint(1, 40) / 10)

    return tuple(tuple(cost(i, j) for j in range(size)) for i in range(size))


# ---- budgets


def free_distortion(problem: Problem) -> Fraction:
    """From where on nothing leaks: the best constant answer, for Hamming distortion beside the truth with probability delta."""
    free = least_constant_distortion(problem.priors, problem.distances)
    return free * (1 - Fraction(problem.delta)) if problem.is_plain else free


def _with_budget(rng: random.Random, problem: Problem) -> Problem:
    regime = problem.regime
    if regime == "small-D":
        return problem.at("distortion", float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(3, 9)}"))
    if regime == "vanishing-D":
        power = rng.choice([10, 11, 12, 13, 15, 16, 17, 20, 30, 50, 100, 200, 300])
        return problem.at("distortion", float(f"{rng.uniform(1, 9.99):.2f}e-{power}"))
    if regime == "leakage":
        if rng.random() < 0.5:
            return problem.at("leakage", _digits(rng.uniform(4, 20), 4))
        return problem.at("leakage", float(f"{rng.uniform(1, 9.99):.2f}e-{rng.choice([1, 2, 3, 4, 6, 9, 12, 15])}"))
    if regime == "large-leakage":
        return problem.at("leakage", _digits(rng.uniform(20, 60) if rng.random() < 0.4 else rng.uniform(40, 700), 4))
    if regime == "next-to-free":
        if rng.random() < 0.5:
            return problem.at("leakage", float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(6, 14)}"))
        return problem.at(
            "distortion",
            float(free_distortion(problem)) * (1 - float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(3, 12)}")),
        )
    if regime == "ends":
        return _at_an_end(rng, problem)
    kind = rng.random()
    if regime in ("databases", "graphs", "costs") and kind < 0.25:
        return _at_an_end(rng, problem)
    if kind < 0.6:
        free = float(free_distortion(problem))
        share = 1 - float(f"1e-{rng.randint(2, 9)}") if rng.random() < 0.15 else _digits(rng.uniform(0.01, 1.0), 3)
        return problem.at("distortion", free * share)
    if kind < 0.75 and regime in (
        "small",
        "tiny",
        "zeros",
        "wide",
    ):  # of the order of the probabilities, or one of them
        if rng.random() < 0.5:
            return problem.at("distortion", float(f"{rng.uniform(1, 9.99):.2f}e-{rng.randint(2, 13)}"))
        rare = sorted(rng.choice(problem.priors))[: rng.randint(1, problem.size - 1)]
        return problem.at("distortion", min(1.0, math.fsum(rare) * rng.choice([1.0, 1 + 1e-9, 1 - 1e-9, 1.5, 0.9])))
    scales = [0.01, 0.1, 1.0, 3.0, 8.0]
    if regime in ("databases", "graphs", "costs"):
        scales += [1e-9, 1e-6, 1e-4, 30.0]
    return problem.at("leakage", _digits(rng.choice(scales) * rng.uniform(0.2, 1.5), 3))


def _at_an_end(rng: random.Random, problem: Problem) -> Problem:
    beside = rng.choice([0.0, 0.0, 1e-12, -1e-12, 1e-13, -1e-13, 1e-9, -1e-9])
    kind = rng.choice(
        ["jump", "jump", "breakpoint", "breakpoint", "zero", "most", "no leakage", "any leakage", "beside"]
    )
    most = max(map(max, problem.distances))
    if kind == "zero":
        return problem.at("distortion", 0.0)
    if kind == "most":
        return problem.at("distortion", most)
    if kind == "no leakage":
        return problem.at("leakage", 0.0)
    if kind == "any leakage":
        return problem.at("leakage", math.inf)
    free = float(free_distortion(problem))
    if kind == "breakpoint" and problem.is_plain:
        if len(problem.priors) > 1:
            return replace(problem, place=(rng.random(), beside))
        free = float(rng.choice(breakpoints(problem.priors[0])) * (1 - Fraction(problem.delta)))
    if kind == "beside":
        free = math.nextafter(free, rng.choice([0.0, 1.0]))
        beside = 0.0
    return problem.at("distortion", min(max(free + beside, 0.0), most))


def breakpoints(prior: tuple[float, ...]) -> list[Fraction]:
    """``tail_n + (n - 1) P_(n-1)`` (Theorem 13, Zhong and Bu 2022), where the response to n letters becomes best."""
    falling = sorted(map(Fraction, prior), reverse=True)
    return [sum(falling[n:], Fraction(0)) + (n - 1) * falling[n - 1] for n in range(2, len(falling) + 1)] + [
        sum(falling[1:], Fraction(0))
    ]
