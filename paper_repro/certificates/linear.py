r"""Certificates of the linear notions: exact programs, from which mechanism and multipliers are read off.

At a ratio t, a rational number, every optimum is that of a linear program with rational data, and so are multipliers that prove
it. At a distortion this also holds where the loss is linear in the unknowns (maximal leakage) or a quotient of linear functions
(differential privacy where all letters are neighbors, :mod:`paper_repro.solvers.diagonal_ratio`). Elsewhere the least ratio is an
algebraic number in general: the root of the least distortion D*(t) = D. Multipliers for one t bound D* from below by a concave
function, whose root is a better t, still too small: Newton's method from the left. It stops with a t below the root and one above
it whose distance is some 1e-20 of it; if the simplest fraction between them is the root, its own multipliers prove that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from paper_repro.certificates.checker import DOWN, LONG, least_mean, power
from paper_repro.solvers.exact import ExactOptimum, exact_optimum

__all__ = [
    "Channel",
    "Found",
    "best_mass_on_diagonal",
    "best_of_channel",
    "best_ratio_on_diagonal",
    "constant_answer",
    "dot",
    "endless",
    "least_of_all",
    "over_intervals",
    "simplest_between",
]

Row = Sequence[Fraction]
_SparseRow = dict[int, Fraction]


@dataclass(frozen=True)
class Found:
    """Bounds of an optimum, a mechanism that has the upper one, and what proves the lower one.

    Attributes
    ----------
    least, most : Fraction
        Of a ratio at a distortion budget, of a distortion (a probability, or a distance) at a ratio.
    mechanism, proof : dicts
        Fields of the certificate.
    """

    least: Fraction
    most: Fraction
    mechanism: Mapping[str, Any]
    proof: Mapping[str, Any] = field(default_factory=dict)


def _vertex_rows(vertices: Sequence[Row], worst: int | None = None) -> list[_SparseRow]:
    """``P_v . x``, less the worst distortion if that is a column."""
    rows = [{i: p for i, p in enumerate(vertex) if p} for vertex in vertices]
    return rows if worst is None else [{**row, worst: Fraction(-1)} for row in rows]


def constant_answer(
    vertices: Sequence[Row], costs: Sequence[Row] | None = None
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """The least distortion without leakage, and the distribution of the answer that has it.

    >>> constant_answer([[Fraction(2, 3), Fraction(1, 3)]])
    (Fraction(1, 3), (Fraction(1, 1), Fraction(0, 1)))
    """
    size = len(vertices[0])
    if costs is None:
        rows = [{i: 1 - p for i, p in enumerate(vertex)} for vertex in vertices]
    else:
        rows = [
            {j: sum((p * costs[i][j] for i, p in enumerate(vertex)), Fraction(0)) for j in range(size)}
            for vertex in vertices
        ]
    sums = {j: Fraction(1) for j in range(size)}
    found = exact_optimum(
        [0] * size + [1],
        [*({**row, size: Fraction(-1)} for row in rows), sums],
        [0] * len(rows) + [1],
        slice(len(rows), None),
    )
    return found.objective, found.values[:size]


def best_ratio_on_diagonal(vertices: Sequence[Row], distortion: Fraction | None, ratio: Fraction | None) -> Found:
    """Differential privacy where all letters are neighbors, at a distortion or at a ratio.

    >>> best_ratio_on_diagonal([[Fraction(2, 3), Fraction(1, 3)]], Fraction(1, 4), None).least
    Fraction(3, 1)
    """
    count, size = len(vertices), len(vertices[0])
    without, answer = constant_answer(vertices)
    constant = {"distortions": [1 - a for a in answer]}
    if distortion is not None:
        if distortion >= without:
            return Found(Fraction(1), Fraction(1), constant)
        # Columns e_i - 1 and sigma - 1.
        caps = [{i: Fraction(1), size: Fraction(-1)} for i in range(size)]
        rows = [{**row, size: -distortion} for row in _vertex_rows(vertices)]
        found = exact_optimum([-1] * size + [size - 1], rows + caps, [distortion - 1] * count + [0] * size)
        sigma = 1 + found.values[size]
        changed = [(1 + x) / sigma for x in found.values[:size]]
        duals = [-y for y in found.duals[:count]]
        return Found(found.objective, found.objective, {"distortions": changed}, {"multipliers": duals})
    assert ratio is not None
    # Columns D_i - c, c and the worst distortion.
    rows = [{**row, size: Fraction(1)} for row in _vertex_rows(vertices, size + 1)]
    caps = [{i: Fraction(1), size: Fraction(1)} for i in range(size)]
    total = {**{i: Fraction(1) for i in range(size)}, size: size + ratio - 1}
    upper = [0] * count + [1] * size + [size - 1]
    found = exact_optimum([0] * (size + 1) + [1], [*rows, *caps, total], upper, slice(count + size, None))
    changed = [x + found.values[size] for x in found.values[:size]]
    scale = ratio / (1 - found.objective)
    duals = [-y * scale for y in found.duals[:count]]
    return Found(found.objective, found.objective, {"distortions": changed}, {"multipliers": duals})


def best_mass_on_diagonal(vertices: Sequence[Row], distortion: Fraction | None, ratio: Fraction | None) -> Found:
    """Maximal leakage with Hamming distortion, at a distortion or at a ratio.

    >>> best_mass_on_diagonal([[Fraction(2, 3), Fraction(1, 3)]], Fraction(1, 6), None).least
    Fraction(3, 2)
    """
    count, size = len(vertices), len(vertices[0])
    caps = [{i: Fraction(1)} for i in range(size)]
    if distortion is not None:
        without, answer = constant_answer(vertices)
        if distortion >= without:
            return Found(Fraction(1), Fraction(1), {"distortions": [1 - a for a in answer]})
        found = exact_optimum([-1] * size, _vertex_rows(vertices) + caps, [distortion] * count + [1] * size)
        least = size + found.objective
        return Found(least, least, {"distortions": found.values}, {"multipliers": [-y for y in found.duals[:count]]})
    assert ratio is not None
    changed = size - min(ratio, Fraction(size))
    sums = {i: Fraction(1) for i in range(size)}
    upper = [0] * count + [1] * size + [changed]
    rows = [*_vertex_rows(vertices, size), *caps, sums]
    found = exact_optimum([0] * size + [1], rows, upper, slice(count + size, None))
    proof = {}
    if found.objective > 0:
        proof = {"multipliers": [-y / found.duals[-1] for y in found.duals[:count]]}
    return Found(found.objective, found.objective, {"distortions": found.values[:size]}, proof)


@dataclass(frozen=True)
class _End:
    """A ratio, by how much the optimum there misses what is wanted, how fast that changes with the ratio, and the optimum."""

    ratio: Fraction
    excess: Fraction
    slope: Fraction
    found: ExactOptimum


@dataclass(frozen=True)
class Channel:
    """What is asked of a channel beside its budgets: the linear notions, all in one form.

    Attributes
    ----------
    vertices : V rows of M Fractions
    costs : M rows of M Fractions
    compared : list of (int, int, Fraction)
        Row i with row k, by this power of the ratio, in the checker's order.
    mixes, outputs : bool
        Whether k is a vertex, and the row is as it mixes them, or M, and the row is that of the output, which is free.
    delta : Fraction
        What may be exceeded: in each column, or if ``standard`` over all of them.
    least, most : M rows of M Fractions
        Bounds of the channel's entries.
    invariant : bool
        Whether the vertices have to stay as they are.
    """

    vertices: Sequence[Row]
    costs: Sequence[Row]
    compared: Sequence[tuple[int, int, Fraction]]
    mixes: bool = False
    outputs: bool = False
    delta: Fraction = Fraction(0)
    standard: bool = False
    least: Sequence[Row] = ()
    most: Sequence[Row] = ()
    invariant: bool = False

    @property
    def size(self) -> int:
        """M."""
        return len(self.costs)

    @property
    def is_exact(self) -> bool:
        """Whether powers of a ratio are rational."""
        return all(weight.denominator == 1 for _, _, weight in self.compared)

    @cached_property
    def _asked(self) -> tuple[list[_SparseRow], list[Fraction | int], list[_SparseRow], list[Fraction | int]]:
        """Rows of what has nothing to do with budgets: inequalities and equalities, each with its right side."""
        size = self.size
        below: list[_SparseRow] = []
        at_most: list[Fraction | int] = []
        for table, sign in ((self.least, -1), (self.most, 1)):
            for i, row in enumerate(table):
                for j, end in enumerate(row):
                    if end != (sign > 0):
                        below.append({i * size + j: Fraction(sign)})
                        at_most.append(sign * end)
        equal = [{i * size + j: Fraction(1) for j in range(size)} for i in range(size)]
        sums: list[Fraction | int] = [1] * size
        for vertex in self.vertices if self.invariant else ():
            for j in range(size):
                equal.append({i * size + j: p for i, p in enumerate(vertex) if p})
                sums.append(vertex[j])
        return below, at_most, equal, sums

    def optimum(
        self, ratio: Fraction | None, distortion: Fraction | None = None, start: ExactOptimum | None = None
    ) -> ExactOptimum:
        """The least distortion at a ratio, None for any; or at both by how much comparisons are missed, plus 1.

        At a distortion alone the least ratio, of maximal leakage. Unknowns are the channel, the row of the output, what is
        exceeded, and what is least. Rows are first those of comparisons, column by column, then those of distortions, then what
        is asked, equalities last.
        """
        size, cells, missed = self.size, self.size**2, int(ratio is not None and distortion is not None)
        compared = [] if ratio is None and distortion is None else self.compared
        excess = cells + size * self.outputs
        columns = excess + (len(compared) * size if self.standard else 0)
        rows: list[_SparseRow] = []
        upper: list[Fraction | int] = []
        for place, (i, k, weight) in enumerate(compared):
            factor = power(ratio, weight, DOWN, LONG) if ratio is not None else Fraction(1)
            for j in range(size):
                row = {other * size + j: -factor * p for other, p in self._shares(k)}
                row[i * size + j] = row.get(i * size + j, 0) + Fraction(1)
                if self.standard:  # the excess in each column
                    row[excess + place * size + j] = Fraction(-1)
                elif missed:
                    row[columns] = Fraction(-1)
                rows.append(row)
                upper.append(0 if self.standard else self.delta - missed)
        below, at_most, equal, sums = self._asked
        spent = [
            {i * size + j: p * d for i, p in enumerate(vertex) for j, d in enumerate(self.costs[i]) if p * d}
            for vertex in self.vertices
        ]
        rows += spent if distortion is not None else [{**row, columns: Fraction(-1)} for row in spent]
        upper += [distortion or 0] * len(spent)
        if self.standard:
            for place in range(len(compared)):
                rows.append(
                    {excess + place * size + j: Fraction(1) for j in range(size)} | {columns: Fraction(-missed)}
                )
                upper.append(self.delta - missed)
        output = {cells + j: Fraction(1) for j in range(size)}
        costs: list[Fraction | int] = [*[0] * columns, 1]
        if distortion is not None and ratio is None:
            costs = [*[0] * cells, *[1] * size]
        elif self.outputs and compared:
            equal, sums = [*equal, output], [*sums, 1]
        return exact_optimum(
            costs, [*rows, *below, *equal], [*upper, *at_most, *sums], slice(len(rows) + len(below), None), start
        )

    def _shares(self, k: int) -> Iterable[tuple[int, Fraction]]:
        return ((row, p) for row, p in enumerate(self.vertices[k]) if p) if self.mixes else ((k, Fraction(1)),)

    def matrix(self, found: ExactOptimum) -> list[list[Fraction]]:
        """Rows of the channel."""
        return [list(found.values[i * self.size : (i + 1) * self.size]) for i in range(self.size)]

    def mechanism(self, found: ExactOptimum) -> dict[str, Any]:
        """Fields of a certificate."""
        output = list(found.values[self.size**2 : self.size * (self.size + 1)]) if self.outputs else []
        total = sum(output)
        return {"matrix": self.matrix(found), **({"reference": [p / total for p in output]} if total else {})}

    def at(self, ratio: Fraction, distortion: Fraction, start: ExactOptimum | None = None) -> _End:
        """How a ratio does at a distortion: by the least distortion, or if others are asked for by what is missed."""
        bounded = bool(self.least or self.most or self.invariant)
        found = self.optimum(ratio, distortion if bounded else None, start)
        return _End(ratio, found.objective - (1 if bounded else distortion), self.slope(found, ratio), found)

    def slope(self, found: ExactOptimum, ratio: Fraction) -> Fraction:
        """The derivative of the least distortion with the ratio: of the Lagrangian, since it is least at the optimum."""
        size, total = self.size, Fraction(0)
        for place, (_, k, weight) in enumerate(self.compared):
            duals = found.duals[place * size : (place + 1) * size]
            if any(duals):
                gained = sum(
                    (
                        y * p * found.values[row * size + j]
                        for row, p in self._shares(k)
                        for j, y in enumerate(duals)
                        if y
                    ),
                    Fraction(0),
                )
                total += gained * weight * power(ratio, weight, DOWN, LONG) / ratio
        return total

    def proof(self, found: ExactOptimum, bounded: bool = True) -> dict[str, Any]:
        """Multipliers; ``bounded`` tells that rows are compared."""
        size, count = self.size, len(self.vertices)
        used = [
            [-y for y in found.duals[place * size : (place + 1) * size]]
            for place in range(len(self.compared) * bounded)
        ]
        start = len(used) * size
        fields: dict[str, Any] = {"multipliers": [-y for y in found.duals[start : start + count]]}
        if bounded:
            fields["comparisons"] = used
        if self.invariant:
            first = start + count + len(used) * self.standard + len(self._asked[0]) + size
            fields["stays"] = [
                [-y for y in found.duals[first + v * size : first + (v + 1) * size]] for v in range(count)
            ]
        return fields


# How far apart the bounds of a ratio may be, relatively.
_APART = Fraction(1, 10**17)
# How far to the left multipliers change as the optimum does, relatively.
_STEPS = Fraction(1, 10**4), Fraction(1, 10**9)
# What enclosing powers of a ratio may cost, relatively.
_ENCLOSED = Fraction(1, 10**20)


def best_of_channel(
    channel: Channel, distortion: Fraction | None, ratio: Fraction | None, about: float = 1.0
) -> Iterator[Found]:
    """Linear notions over the whole channel; at a distortion, ``about`` is where the least ratio is expected.

    What may be a proof, the best first: the checker decides.

    >>> pair, costs = [[Fraction(2, 3), Fraction(1, 3)]], [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    >>> neighbors = [(0, 1, Fraction(1)), (1, 0, Fraction(1))]
    >>> next(best_of_channel(Channel(pair, costs, neighbors), Fraction(1, 4), None, 3.1)).least
    Fraction(3, 1)
    """
    if ratio is not None:
        found = channel.optimum(ratio)
        least = found.objective if channel.is_exact or ratio == 1 else found.objective * (1 - _ENCLOSED)
        yield Found(least, found.objective, channel.mechanism(found), channel.proof(found) if least > 0 else {})
        return
    assert distortion is not None
    free = channel.at(Fraction(1), distortion)
    if free.excess <= 0:
        yield Found(Fraction(1), Fraction(1), channel.mechanism(free.found))
        return
    if channel.outputs:
        found = channel.optimum(None, distortion)
        yield Found(found.objective, found.objective, channel.mechanism(found), channel.proof(found))
        return
    low, high = _bracket(channel, distortion, Fraction(about))
    simple = simplest_between(low.ratio, high.ratio)
    exact = channel.at(simple, distortion, low.found)  # multipliers are those of smaller ratios, where they can be
    if exact.excess <= 0 and channel.is_exact:
        mechanism, proof = channel.mechanism(exact.found), channel.proof(exact.found)
        yield Found(simple, simple, mechanism, proof)
        for part in _STEPS:
            step = (simple - 1) * part
            left = channel.at(simple - step, distortion).found
            second = {f"second_{name}": value for name, value in channel.proof(left).items()}
            yield Found(simple, simple, mechanism, {**proof, "step": step / simple, **second})
    # Strictly inside, so that there is room for rounding.
    below, above = max(Fraction(1), low.ratio * (1 - _APART)), high.ratio * (1 + _APART)
    proof = channel.proof(channel.at(below, distortion).found) if below > 1 else {}
    yield Found(below, above * (1 + _APART), channel.mechanism(channel.at(above, distortion).found), proof)


def least_of_all(channel: Channel) -> Found:
    """The least distortion, whatever leaks.

    >>> pair, costs = [[Fraction(2, 3), Fraction(1, 3)]], [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    >>> least_of_all(Channel(pair, costs, [])).mechanism["matrix"][0]
    [Fraction(1, 1), Fraction(0, 1)]
    """
    found = channel.optimum(None)
    proof = channel.proof(found, bounded=False)
    return Found(found.objective, found.objective, {"matrix": channel.matrix(found)}, proof if found.objective else {})


def endless(channel: Channel, distortion: Fraction) -> Found | None:
    """That every mechanism of this distortion leaks without bound; None if that does not follow from what must be 0.

    >>> pair, costs = [[Fraction(2, 3), Fraction(1, 3)]], [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    >>> neighbors = [(0, 1, Fraction(1)), (1, 0, Fraction(1))]
    >>> endless(Channel(pair, costs, neighbors), Fraction(0)).proof["chain"]
    [[Fraction(0, 1), Fraction(1, 1)]]
    """
    found = least_of_all(channel)
    if found.least != distortion:
        return None
    size, count = channel.size, len(channel.vertices)
    proof = dict(found.proof) or {"multipliers": [Fraction(1, count)] * count}
    if not found.proof and channel.invariant:
        proof["stays"] = [[Fraction(0)] * size] * count
    kappa = [
        sum((y * v[i] for y, v in zip(proof["multipliers"], channel.vertices, strict=True)), Fraction(0))
        for i in range(size)
    ]
    table = [[kappa[i] * d for d in row] for i, row in enumerate(channel.costs)]
    for stays, vertex in zip(proof.get("stays", ()), channel.vertices, strict=False):
        table = [[x + p * n for x, n in zip(row, stays, strict=True)] for row, p in zip(table, vertex, strict=True)]
    zeros = []
    for i, row in enumerate(table):
        low = channel.least[i] if channel.least else [Fraction(0)] * size
        high = channel.most[i] if channel.most else [Fraction(1)] * size
        best = least_mean(row, low, high)
        last = max((x for x, p, q in zip(row, low, best, strict=True) if q > p), default=min(row) - 1)
        zeros.append({j for j, x in enumerate(row) if not low[j] and (not high[j] or x > last)})
    chain: list[list[Fraction]] = []
    grew = True
    while grew:
        grew = False
        for i, k, _ in channel.compared:
            never = set.intersection(*(zeros[row] for row, _ in channel._shares(k)))
            over = channel.delta * (1 if channel.standard else len(never - zeros[i]))
            done = len(never | zeros[i]) == size and over < 1
            if done or (not channel.delta and not never <= zeros[i]):
                chain.append([Fraction(i), Fraction(k)])
                zeros[i] |= never
                grew = True
            if done:
                return Found(found.least, found.most, found.mechanism, {**proof, "chain": chain})
    return None


def over_intervals(
    solve: Callable[[Sequence[Row]], Iterable[Found]],
    bounds: tuple[Row, Row],
    start: Sequence[Row],
    costs: Sequence[Row],
    mixes: bool = False,
) -> tuple[list[Row], list[Found]]:
    """Optima for all distributions between two bounds, and those of them that force it.

    Found for some of them, first for those given, until none between the bounds is worse for the mechanisms.

    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> costs = [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    >>> bounds = [third, third], [2 * third, 2 * third]
    >>> solve = lambda vertices: [best_ratio_on_diagonal(vertices, third, None)]
    >>> vertices, found = over_intervals(solve, bounds, [(third, 2 * third)], costs)
    >>> len(vertices), found[0].least
    (2, Fraction(2, 1))
    """
    vertices: list[Row] = list(start)
    while True:
        found, worse = list(solve(vertices)), set()
        for one in found:
            matrix = one.mechanism.get("matrix", ())
            keys = [[-x for x in one.mechanism.get("distortions", ())]] if not matrix else []
            if matrix:
                keys = [[-dot(row, ends) for row, ends in zip(matrix, costs, strict=True)]]
                keys += [list(column) for column in zip(*matrix, strict=True)] if mixes else []
            for values in keys:
                member = tuple(least_mean(values, *bounds))
                if dot(member, values) < min(dot(vertex, values) for vertex in vertices):
                    worse.add(member)
        if not worse:
            return vertices, found
        vertices += sorted(worse)


def dot(one: Row, other: Row) -> Fraction:
    """The scalar product.

    >>> dot([Fraction(1, 2), Fraction(1, 3)], [Fraction(2), Fraction(3)])
    Fraction(2, 1)
    """
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _bracket(channel: Channel, distortion: Fraction, about: Fraction) -> tuple[_End, _End]:
    """Ratios just below and just above the least one, by Newton's method; bisection where that leaves the bracket."""
    low, high = (
        channel.at(Fraction(1), distortion),
        channel.at(max(about, Fraction(1)) * (1 + Fraction(1, 10**6)), distortion),
    )
    while high.excess > 0:
        try:
            low, high = high, channel.at(max(2 * high.ratio - 1, high.ratio**2), distortion)
        except OverflowError:  # floats hold no such ratio
            raise ValueError(
                "No certificate: every ratio that floats hold is too small for this distortion, and no proof is known that "
                "the leakage is infinite. Ask for a little more distortion."
            ) from None
    guess = about * (1 - _APART)
    while high.ratio > low.ratio * (1 + _APART):
        if not low.ratio < guess < high.ratio:
            guess = (low.ratio + high.ratio) / 2
        found = channel.at(_rounded(guess), distortion)
        if found.excess > 0:
            low = found
        else:
            high = found
        root = found.ratio - found.excess / found.slope if found.slope else low.ratio
        # A little to the other side, so that the bracket closes from both.
        guess = root * (1 + _APART / 4) if found.excess > 0 else root * (1 - _APART / 4)
    return low, high


def _rounded(value: Fraction) -> Fraction:
    """To digits enough to tell the ends of a bracket apart."""
    return Fraction(Context(prec=25).divide(Decimal(value.numerator), Decimal(value.denominator)))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in [low, high], both positive.

    >>> simplest_between(Fraction(314, 100), Fraction(315, 100))
    Fraction(22, 7)
    """
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    whole -= 1
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
