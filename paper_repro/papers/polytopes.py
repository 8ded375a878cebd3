r"""Polytopes of distributions in exact rational arithmetic: hulls, cuts and intersections.

A polytope is kept as the cone over it: integer rays, one per vertex, whose entries sum to something positive, and integer
normals n with ``n . x >= 0``, exact and free of tolerances, of any dimension from a point up. A hyperplane cuts an edge of the
cone wherever its ends lie on different sides, and nowhere else; two rays span an edge iff no third ray satisfies with equality
every inequality that both of them do (double description method; Motzkin et al. 1953, Fukuda and Prodon 1996). The facets of a
hull are the rays of the polar cone, which the same cuts build up one vertex at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from paper_repro.errors import Clause, wrong
from paper_repro.types import FloatArray

__all__ = ["Distribution", "Polytope", "as_fractions"]

Distribution = tuple[Fraction, ...]
"""A distribution with exact probabilities."""

_Integers = tuple[int, ...]
# Half of what the source sets take for a tie.
_READING = Fraction(5, 10**13)
_GRID = 10**12


def as_fractions(vertices: FloatArray) -> tuple[Distribution, ...]:
    """Read floats as the fractions that were meant, within 5e-13: each row's simplest ones, then divided by the row's sum.

    Vertices of shape (V, M). Where these have no common denominator up to 1e12, nothing in particular was meant, and multiples of
    1e-12 are as good.

    >>> import numpy as np
    >>> [str(probability) for probability in as_fractions(np.array([[0.1 + 0.2, 1 / 3, 11 / 30]]))[0]]
    ['3/10', '1/3', '11/30']
    """
    read = []
    for row in vertices:
        given = [Fraction(float(probability)) for probability in row]
        meant = [_simplest(probability - _READING, probability + _READING) for probability in given]
        if math.lcm(*(probability.denominator for probability in meant)) > _GRID:
            meant = [Fraction(round(probability * _GRID), _GRID) for probability in given]
        read.append(tuple(probability / sum(meant) for probability in meant))
    return tuple(read)


@dataclass(frozen=True, eq=False)
class Polytope:
    """A polytope of distributions over M letters, not empty.

    Attributes
    ----------
    rays : tuple of tuples of M ints
        One per vertex, without a common divisor.
    normals : tuple of tuples of M ints
        ``n . x >= 0`` for all of them, and the equations, describe the cone over the polytope; some may be redundant.
    equations : tuple of tuples of M ints
        ``n . x = 0``: the span of the rays, or a subspace around it.
    tight : tuple of ints
        For each ray a bit mask of the normals that are 0 on it.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> edge = Polytope.hull([(half, half, 0 * half), (0 * half, half, half), (half / 2, half, half / 2)])
    >>> edge.dimension, len(edge.rays)
    (1, 2)
    >>> above, below = edge.split((1, 0, -1))
    >>> [[str(probability) for probability in vertex] for vertex in above.vertices]
    [['1/2', '1/2', '0'], ['1/4', '1/2', '1/4']]
    """

    rays: tuple[_Integers, ...]
    normals: tuple[_Integers, ...]
    equations: tuple[_Integers, ...]
    tight: tuple[int, ...]

    @classmethod
    def hull(cls, points: Iterable[Sequence[Fraction]]) -> Polytope:
        """Convex hull of distributions; those that are no vertices of it are left out.

        Raises
        ------
        ValueError
            If there are no points.
        """
        rays = list(dict.fromkeys(_primitive(point) for point in points))
        if not rays:
            raise ValueError(wrong("points", "be at least one distribution", Clause("none")))
        columns, equations = _span(rays)
        short = [tuple(ray[column] for column in columns) for ray in rays]
        # The polar cone of as many independent rays as there are columns, then cut by each other ray.
        independent, _ = _span(list(zip(*short, strict=True)))
        dual_rays = _dual_basis([short[row] for row in independent])
        everywhere = (1 << len(columns)) - 1
        dual = cls(
            tuple(dual_rays),
            tuple(short[row] for row in independent),
            (),
            tuple(everywhere & ~(1 << number) for number in range(len(columns))),
        )
        for row, ray in enumerate(short):
            if row not in independent:
                above = dual._cut(ray)
                assert above is not None  # the hull of rays with positive sums has an interior polar direction
                dual = above
        normals = []
        for facet in dual.rays:
            normal = [0] * len(rays[0])
            for column, entry in zip(columns, facet, strict=True):
                normal[column] = entry
            normals.append(tuple(normal))
        tight = [sum(1 << bit for bit, normal in enumerate(normals) if _dot(normal, ray) == 0) for ray in rays]
        extreme = [
            number
            for number, mask in enumerate(tight)
            if not any(mask & ~other == 0 for third, other in enumerate(tight) if third != number)
        ]
        return cls(
            tuple(rays[number] for number in extreme),
            tuple(normals),
            tuple(equations),
            tuple(tight[number] for number in extreme),
        )

    @property
    def vertices(self) -> tuple[Distribution, ...]:
        """The vertices as distributions."""
        return tuple(tuple(Fraction(entry, sum(ray)) for entry in ray) for ray in self.rays)

    @property
    def dimension(self) -> int:
        """0 for a point, 1 for a segment, and so on."""
        return len(_span(self.rays)[0]) - 1

    def signs(self, normal: _Integers) -> tuple[bool, bool]:
        """Whether some member has ``normal . x > 0``, and whether some member has ``normal . x < 0``."""
        values = [_dot(normal, ray) for ray in self.rays]
        return max(values) > 0, min(values) < 0

    def split(self, normal: _Integers) -> tuple[Polytope | None, Polytope | None]:
        """The parts with ``normal . x >= 0`` and ``normal . x <= 0``; None if there is no such member."""
        values = self._values(normal)
        if min(values) >= 0 and max(values) <= 0:
            return self, self
        crossings = self._crossings(values) if min(values) < 0 < max(values) else []
        opposite = tuple(-entry for entry in normal)
        return self._side(values, normal, crossings), self._side([-value for value in values], opposite, crossings)

    def intersection(self, other: Polytope) -> Polytope | None:
        """What both have in common; None if nothing."""
        common: Polytope | None = self
        opposite = [tuple(-entry for entry in equation) for equation in other.equations]
        for normal in (*other.equations, *opposite, *other.normals):
            if common is not None:
                common = common._cut(normal)
        return common

    def permuted(self, letters: Sequence[int]) -> Polytope:
        """The polytope of all ``(x[letters[0]], x[letters[1]], ...)``."""
        rays, normals, equations = (
            tuple(tuple(row[letter] for letter in letters) for row in rows)
            for rows in (self.rays, self.normals, self.equations)
        )
        return Polytope(rays, normals, equations, self.tight)

    def __contains__(self, point: Sequence[Fraction]) -> bool:
        ray = _primitive(point)
        return all(_dot(normal, ray) >= 0 for normal in self.normals) and all(
            _dot(equation, ray) == 0 for equation in self.equations
        )

    def _values(self, normal: _Integers) -> list[int]:
        entries = [(column, entry) for column, entry in enumerate(normal) if entry]
        return [sum(entry * ray[column] for column, entry in entries) for ray in self.rays]

    def _cut(self, normal: _Integers) -> Polytope | None:
        """The part with ``normal . x >= 0``."""
        values = self._values(normal)
        return self._side(values, normal, self._crossings(values) if min(values) < 0 else [])

    def _side(self, values: list[int], normal: _Integers, crossings: list[tuple[_Integers, int]]) -> Polytope | None:
        if min(values) >= 0:
            return self
        bit = 1 << len(self.normals)
        kept = [
            (ray, value, mask) for ray, value, mask in zip(self.rays, values, self.tight, strict=True) if value >= 0
        ]
        if not kept:
            return None
        rays = [ray for ray, _, _ in kept] + [ray for ray, _ in crossings]
        tight = [mask if value else mask | bit for _, value, mask in kept] + [mask | bit for _, mask in crossings]
        return Polytope(tuple(rays), (*self.normals, normal), self.equations, tuple(tight))

    def _crossings(self, values: list[int]) -> list[tuple[_Integers, int]]:
        """Where edges cross from positive to negative values: the new ray, and what is tight all along the edge."""
        # An edge of a cone in r dimensions takes r - 2 independent normals, and a ray r - 1.
        rank = len(self.rays[0]) - len(self.equations)
        above = [number for number, value in enumerate(values) if value > 0]
        below = [number for number, value in enumerate(values) if value < 0]
        found = []
        for one in above:
            simple = self.tight[one].bit_count() == rank - 1
            for two in below:
                common = self.tight[one] & self.tight[two]
                if common.bit_count() < rank - 2:
                    continue
                # All normals of a simple ray are independent, so any r - 2 of them leave an edge; else look for a third ray.
                if not simple and any(
                    common & ~mask == 0 for third, mask in enumerate(self.tight) if third != one and third != two
                ):
                    continue
                plus, minus = values[one], -values[two]
                mixed = [
                    minus * here + plus * there for here, there in zip(self.rays[one], self.rays[two], strict=True)
                ]
                divisor = math.gcd(*mixed)
                found.append((tuple(entry // divisor for entry in mixed), common))
        return found


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in an interval (0 where that is inside)."""
    if low <= 0:
        return Fraction(0)
    whole = math.floor(low)
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def _dot(first: Sequence[int], second: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(first, second, strict=True) if a)


def _primitive(row: Sequence[Fraction | int]) -> _Integers:
    """The integers without a common divisor that are proportional to a row."""
    scale = math.lcm(*(Fraction(entry).denominator for entry in row))
    entries = [int(entry * scale) for entry in row]
    divisor = reduce(math.gcd, entries)
    return tuple(entry // divisor for entry in entries) if divisor > 1 else tuple(entries)


def _reduced(rows: Iterable[Sequence[int]]) -> tuple[list[int], list[list[Fraction]]]:
    """The reduced echelon form of the rows, in no particular order: the columns of its leading ones, and its rows."""
    reduced: list[list[Fraction]] = []
    columns: list[int] = []
    for row in rows:
        left = [Fraction(entry) for entry in row]
        for column, known in zip(columns, reduced, strict=True):
            if left[column]:
                left = [a - left[column] * b for a, b in zip(left, known, strict=True)]
        pivot = next((column for column, entry in enumerate(left) if entry), None)
        if pivot is None:
            continue
        left = [entry / left[pivot] for entry in left]
        reduced = [[a - known[pivot] * b for a, b in zip(known, left, strict=True)] for known in reduced]
        reduced.append(left)
        columns.append(pivot)
    return columns, reduced


def _span(rows: Sequence[Sequence[int]]) -> tuple[list[int], list[_Integers]]:
    """Columns on which the span of the rows is determined, and the equations of the span."""
    size, (columns, reduced) = len(rows[0]), _reduced(rows)
    equations = []
    for free in range(size):
        if free not in columns:
            equation = [Fraction(0)] * size
            equation[free] = Fraction(-1)
            for column, known in zip(columns, reduced, strict=True):
                equation[column] = known[free]
            equations.append(_primitive(equation))
    return columns, equations


def _dual_basis(rows: Sequence[Sequence[int]]) -> list[_Integers]:
    """For an invertible square matrix: vectors, each 0 on all rows but its own, on which it is positive."""
    unit = [[int(number == other) for other in range(len(rows))] for number in range(len(rows))]
    columns, reduced = _reduced([*row, *own] for row, own in zip(rows, unit, strict=True))
    inverse = [row[len(rows) :] for _, row in sorted(zip(columns, reduced, strict=True))]
    return [_primitive(column) for column in zip(*inverse, strict=True)]
