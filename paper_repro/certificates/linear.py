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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from paper_repro.solvers.exact import ExactOptimum, exact_optimum

__all__ = ["Comparison", "Found", "best_of_comparisons", "best_of_mass", "best_ratio_on_diagonal", "simplest_between"]

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
    """The least distortion without leakage, and the distribution of the answer that has it."""
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
    weights = [-y for y in found.duals[:count]]
    return Found(found.objective, found.objective, {"distortions": changed}, {"weights": weights})


def best_of_mass(
    vertices: Sequence[Row], costs: Sequence[Row] | None, distortion: Fraction | None, ratio: Fraction | None
) -> Found:
    """Maximal leakage, at a distortion or at a ratio: over the diagonal for Hamming distortion, over the channel for costs.

    >>> best_of_mass([[Fraction(2, 3), Fraction(1, 3)]], None, Fraction(1, 6), None).least
    Fraction(3, 2)
    """
    if costs is None:
        return _mass_on_diagonal(vertices, distortion, ratio)
    return _mass_of_channel(vertices, costs, distortion, ratio)


def _mass_on_diagonal(vertices: Sequence[Row], distortion: Fraction | None, ratio: Fraction | None) -> Found:
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


def _mass_of_channel(
    vertices: Sequence[Row], costs: Sequence[Row], distortion: Fraction | None, ratio: Fraction | None
) -> Found:
    size, count, cells = len(costs), len(vertices), len(costs) ** 2
    below = [{i * size + j: Fraction(1), cells + j: Fraction(-1)} for i in range(size) for j in range(size)]
    spent = _distortion_rows(vertices, costs)
    sums = _sum_rows(size)
    if distortion is not None:
        without, answer = constant_answer(vertices, costs)
        if distortion >= without:
            return Found(Fraction(1), Fraction(1), {"matrix": [answer] * size})
        upper = [0] * cells + [distortion] * count + [1] * size
        found = exact_optimum([0] * cells + [1] * size, below + spent + sums, upper, slice(cells + count, None))
        least, scale, duals = found.objective, Fraction(1), found.duals
    else:
        assert ratio is not None
        mass = {cells + j: Fraction(1) for j in range(size)}
        worst = [{**row, cells + size: Fraction(-1)} for row in spent]
        upper = [0] * cells + [0] * count + [ratio] + [1] * size
        rows = [*below, *worst, mass, *sums]
        found = exact_optimum([0] * (cells + size) + [1], rows, upper, slice(cells + count + 1, None))
        least, scale, duals = found.objective, -found.duals[cells + count], found.duals
    proof = {}
    if least > 0:
        proof = {
            "multipliers": [-y / scale for y in duals[cells : cells + count]],
            "rows": [u / scale for u in duals[-size:]],
        }
    return Found(least, least, {"matrix": _matrix(found.values, size)}, proof)


def _distortion_rows(vertices: Sequence[Row], costs: Sequence[Row]) -> list[_SparseRow]:
    size = len(costs)
    return [
        {i * size + j: p * costs[i][j] for i, p in enumerate(vertex) for j in range(size) if p * costs[i][j]}
        for vertex in vertices
    ]


def _sum_rows(size: int) -> list[_SparseRow]:
    return [{i * size + j: Fraction(1) for j in range(size)} for i in range(size)]


def _matrix(values: Sequence[Fraction], size: int) -> list[list[Fraction]]:
    return [list(values[i * size : (i + 1) * size]) for i in range(size)]


@dataclass(frozen=True)
class Comparison:
    """Row ``giver`` against the rows ``others``, by their weights; ``name`` is the number of the other row, or of a vertex."""

    giver: int
    name: int
    others: Mapping[int, Fraction]


# How far apart the bounds of a ratio may be, relatively.
_APART = Fraction(1, 10**17)
# How far to the left multipliers change as the optimum does, relatively.
_STEP = Fraction(1, 10**4)


@dataclass(frozen=True)
class _Channel:
    """The least distortion at a ratio over the whole channel, and its proof."""

    vertices: Sequence[Row]
    costs: Sequence[Row]
    comparisons: Sequence[Comparison]
    delta: Fraction
    standard: bool

    @property
    def size(self) -> int:
        return len(self.costs)

    def optimum(self, ratio: Fraction) -> ExactOptimum:
        size, cells = self.size, self.size**2
        columns = cells + (len(self.comparisons) * size if self.standard else 0)
        rows: list[_SparseRow] = []
        upper: list[Fraction | int] = []
        for place, comparison in enumerate(self.comparisons):
            for j in range(size):
                row = {k * size + j: -ratio * p for k, p in comparison.others.items()}
                row[comparison.giver * size + j] = row.get(comparison.giver * size + j, 0) + Fraction(1)
                if self.standard:  # the excess in each column
                    row[cells + place * size + j] = Fraction(-1)
                rows.append(row)
                upper.append(0 if self.standard else self.delta)
        if self.standard:
            for place in range(len(self.comparisons)):
                rows.append({cells + place * size + j: Fraction(1) for j in range(size)})
                upper.append(self.delta)
        rows += [{**row, columns: Fraction(-1)} for row in _distortion_rows(self.vertices, self.costs)]
        rows += _sum_rows(size)
        upper += [0] * len(self.vertices) + [1] * size
        return exact_optimum([0] * columns + [1], rows, upper, slice(len(rows) - size, None))

    def slope(self, found: ExactOptimum) -> Fraction:
        """The derivative of the least distortion with the ratio: of the Lagrangian, since it is least at the optimum."""
        size = self.size
        return sum(
            (
                found.duals[place * size + j] * p * found.values[k * size + j]
                for place, comparison in enumerate(self.comparisons)
                for j in range(size)
                if found.duals[place * size + j]
                for k, p in comparison.others.items()
            ),
            Fraction(0),
        )

    def proof(self, found: ExactOptimum) -> dict[str, Any]:
        size, count = self.size, len(self.vertices)
        weights = [-y for y in found.duals[-size - count : -size]]
        used = [
            [comparison.giver, comparison.name, j, -found.duals[place * size + j]]
            for place, comparison in enumerate(self.comparisons)
            for j in range(size)
        ]
        return {"weights": weights, "comparisons": [entry for entry in used if entry[3]]}


def best_of_comparisons(
    vertices: Sequence[Row],
    costs: Sequence[Row],
    comparisons: Iterable[Comparison],
    distortion: Fraction | None,
    ratio: Fraction | None,
    delta: Fraction = Fraction(0),
    standard: bool = False,
    about: float = 1.0,
) -> Iterator[Found]:
    """Ratio notions over the whole channel; at a distortion, ``about`` is where the least ratio is expected.

    What may be a proof, the best first: the checker decides.

    >>> pair, costs = [[Fraction(2, 3), Fraction(1, 3)]], [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]
    >>> neighbors = [Comparison(0, 1, {1: Fraction(1)}), Comparison(1, 0, {0: Fraction(1)})]
    >>> next(best_of_comparisons(pair, costs, neighbors, Fraction(1, 4), None, about=3.1)).least
    Fraction(3, 1)
    """
    channel = _Channel(vertices, costs, list(comparisons), delta, standard)
    size = channel.size
    if ratio is not None:
        found = channel.optimum(ratio)
        proof = channel.proof(found) if found.objective > 0 else {}
        yield Found(found.objective, found.objective, {"matrix": _matrix(found.values, size)}, proof)
        return
    assert distortion is not None
    without, answer = constant_answer(vertices, costs)
    if distortion >= without:
        yield Found(Fraction(1), Fraction(1), {"matrix": [answer] * size})
        return
    if delta:
        free = channel.optimum(Fraction(1))
        if free.objective <= distortion:
            yield Found(Fraction(1), Fraction(1), {"matrix": _matrix(free.values, size)})
            return
    low, high = _bracket(channel, distortion, Fraction(about))
    simple = simplest_between(low.ratio, high.ratio)
    exact = channel.optimum(simple)
    if exact.objective <= distortion:
        mechanism, proof = {"matrix": _matrix(exact.values, size)}, channel.proof(exact)
        yield Found(simple, simple, mechanism, proof)
        step = (simple - 1) * _STEP
        beside = {"step": step, **channel.proof(channel.optimum(simple - step))}
        yield Found(simple, simple, mechanism, {**proof, "beside": beside})
    # Strictly inside, so that there is room for rounding.
    below, above = max(Fraction(1), low.ratio * (1 - _APART)), high.ratio * (1 + _APART)
    proof = channel.proof(channel.optimum(below)) if below > 1 else {}
    yield Found(below, above * (1 + _APART), {"matrix": _matrix(channel.optimum(above).values, size)}, proof)


@dataclass(frozen=True)
class _End:
    """A ratio, by how much its least distortion misses the one that is wanted, and how fast that changes with the ratio."""

    ratio: Fraction
    excess: Fraction
    slope: Fraction


def _bracket(channel: _Channel, distortion: Fraction, about: Fraction) -> tuple[_End, _End]:
    """Ratios just below and just above the least one, by Newton's method; bisection where that leaves the bracket."""

    def end(ratio: Fraction) -> _End:
        found = channel.optimum(ratio)
        return _End(ratio, found.objective - distortion, channel.slope(found))

    low, high = end(Fraction(1)), end(max(about, Fraction(1)) * (1 + Fraction(1, 10**6)))
    while high.excess > 0:
        low, high = high, end(2 * high.ratio - 1)
    guess = about * (1 - _APART)
    while high.ratio > low.ratio * (1 + _APART):
        if not low.ratio < guess < high.ratio:
            guess = (low.ratio + high.ratio) / 2
        found = end(_rounded(guess))
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
