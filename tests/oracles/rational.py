"""Linear programs in exact rationals, and the privacy-distortion problems that are such: independent of the package.

A basis comes from HiGHS, in floats. From there the criss-cross method (Terlaky 1985) goes on in whole numbers: least indices
first, it ends at an optimum from any basis, feasible or not. Rows of the tableau are kept up to a positive factor and without a
common divisor.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import highspy
import numpy as np

Row = dict[int, Fraction]


class TooLong(Exception):
    """Out of time; nothing is known."""


def exponential(leakage: float, less: float = 0.0) -> Fraction:
    """``exp(leakage - less)`` to 40 digits."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, MAX_EMAX, MIN_EMIN
        value = (Decimal(leakage) - Decimal(less)).exp()
        context.prec = 40
        return Fraction(+value)


def minimum(
    costs: Row,
    rows: Sequence[Row],
    limits: Sequence[Fraction],
    columns: int,
    start: list[int] | None = None,
    seconds: float = 20.0,
) -> tuple[Fraction, list[Fraction]]:
    """Least ``costs x`` over ``rows x <= limits``, ``x >= 0``, and the dual variables of the rows (>= 0).

    ``start`` is a basis to begin with, HiGHS' own if not given; column ``columns + k`` is the slack of row k. For programs known
    to be feasible and bounded. :class:`TooLong` after so many seconds.
    """
    until = time.monotonic() + seconds
    basis = _floating_basis(costs, rows, limits, columns) if start is None else start
    width = columns + len(rows)
    tableau = []
    for k, (row, limit) in enumerate(zip(rows, limits, strict=True)):
        line = [Fraction(0)] * (width + 1)
        for column, entry in row.items():
            line[column] = entry
        line[columns + k], line[-1] = Fraction(1), limit
        tableau.append(_whole(line))
    # The value stands in a column of its own: objective row  scale * z + reduced costs = rhs.
    line = [Fraction(0)] * (width + 1)
    for column, entry in costs.items():
        line[column] = entry
    last = _whole([*line, Fraction(1)])
    objective, scale = last[:-1], last[-1]
    basic = [columns + k for k in range(len(rows))]

    def pivot(place: int, column: int) -> None:
        nonlocal objective, scale
        line = tableau[place]
        if line[column] < 0:
            line = tableau[place] = [-entry for entry in line]
        head = line[column]
        for other, entries in enumerate(tableau):
            factor = entries[column]
            if other != place and factor:
                mixed = [head * a - factor * b if b else head * a for a, b in zip(entries, line, strict=True)]
                divisor = math.gcd(*mixed)
                tableau[other] = [entry // divisor for entry in mixed] if divisor > 1 else mixed
        factor = objective[column]
        if factor:
            objective = [head * a - factor * b if b else head * a for a, b in zip(objective, line, strict=True)]
            scale *= head
            divisor = math.gcd(scale, *objective)
            objective, scale = [entry // divisor for entry in objective], scale // divisor
        basic[place] = column

    wanted = set(basis)
    for column in basis:
        if column in basic:
            continue
        places = [place for place, own in enumerate(basic) if own not in wanted and tableau[place][column]]
        if places and time.monotonic() < until:
            pivot(min(places, key=lambda place: sum(map(bool, tableau[place]))), column)
    while time.monotonic() < until:
        infeasible = [(basic[place], place) for place, line in enumerate(tableau) if line[-1] < 0]
        primal = min(infeasible, default=(width, -1))
        dual = next((column for column in range(width) if objective[column] < 0), width)
        if primal[0] == dual == width:
            break
        if primal[0] < dual:
            line = tableau[primal[1]]
            pivot(primal[1], next(column for column in range(width) if line[column] < 0))
        else:
            candidates = [(basic[place], place) for place, line in enumerate(tableau) if line[dual] > 0]
            pivot(min(candidates)[1], dual)
    else:
        raise TooLong
    duals = [Fraction(objective[columns + k], scale) for k in range(len(rows))]
    return Fraction(-objective[-1], scale), duals


def _whole(line: list[Fraction]) -> list[int]:
    common = math.lcm(*(entry.denominator for entry in line))
    entries = [entry.numerator * (common // entry.denominator) for entry in line]
    divisor = math.gcd(*entries) or 1
    return [entry // divisor for entry in entries]


def _floating_basis(costs: Row, rows: Sequence[Row], limits: Sequence[Fraction], columns: int) -> list[int]:
    """The columns that HiGHS leaves basic; all slacks if it gives up."""
    basis = solved(costs, rows, limits, columns)[1]
    return basis if len(basis) == len(rows) else [columns + k for k in range(len(rows))]


def solved(costs: Row, rows: Sequence[Row], limits: Sequence[Fraction], columns: int) -> tuple[np.ndarray, list[int]]:
    """The same program in floats, by HiGHS: unknowns and basic columns; nothing is promised."""
    model = highspy.Highs()
    model.silent()
    model.setOptionValue("primal_feasibility_tolerance", 1e-10)
    model.setOptionValue("dual_feasibility_tolerance", 1e-10)
    model.setOptionValue("time_limit", 20.0)
    for column in range(columns):
        model.addCol(float(costs.get(column, 0)), 0.0, highspy.kHighsInf, 0, np.empty(0, np.int32), np.empty(0))
    for row, limit in zip(rows, limits, strict=True):
        largest = max(map(abs, row.values()))
        entries = np.array([float(entry / largest) for entry in row.values()])
        model.addRow(-highspy.kHighsInf, float(limit / largest), len(row), np.array(list(row), np.int32), entries)
    model.run()
    basis, basic = model.getBasis(), highspy.HighsBasisStatus.kBasic
    found = [column for column, status in enumerate(basis.col_status) if status == basic]
    found += [columns + k for k, status in enumerate(basis.row_status) if status == basic]
    return np.array(model.getSolution().col_value), found


# ---- distortions with Hamming costs: a game between a prior of the hull and a mixture of responses


def game_value(respond: Callable[[list[Fraction]], list[Fraction]], count: int) -> Fraction:
    """Largest over weights w of the least ``w . payoff``: ``respond(w)`` is a best response's payoff at each vertex.

    Responses are added one after the other until the best one to the optimal weights is among them.
    """
    responses = [respond([Fraction(1, count)] * count)]
    while count > 1:
        value, weights = _weights(responses, count)
        best = respond(weights)
        if sum((w * share for w, share in zip(weights, best, strict=True)), Fraction(0)) >= value:
            return value
        responses.append(best)
    return responses[0][0]


def _weights(responses: list[list[Fraction]], count: int) -> tuple[Fraction, list[Fraction]]:
    """The value of a small game and optimal weights: dual variables of the program for the best mixture of the responses.

    Payoffs are distortions, so that no value is negative, and a mixture may have more than weight 1.
    """
    columns = len(responses) + 1  # the last is the value
    rows: list[Row] = [
        {**{k: payoff[v] for k, payoff in enumerate(responses) if payoff[v]}, columns - 1: Fraction(-1)}
        for v in range(count)
    ]
    rows.append({k: Fraction(-1) for k in range(columns - 1)})
    limits = [Fraction(0)] * count + [Fraction(-1)]
    value, duals = minimum({columns - 1: Fraction(1)}, rows, limits, columns, start=[])
    total = sum(duals[:count], Fraction(0))
    return value, [dual / total for dual in duals[:count]] if total else [Fraction(1, count)] * count


def least_ratio_distortion(vertices: Sequence[Sequence[float]], ratio: Fraction) -> Fraction:
    """Least Hamming distortion over the hull with ratios of at most t between any two rows.

    Against one prior, randomized response on its n likeliest letters, for the best n (Theorem 13, Zhong and Bu 2022).
    """
    priors = [[Fraction(p) for p in row] for row in vertices]

    def respond(weights: list[Fraction]) -> list[Fraction]:
        mixed = [
            sum((w * p for w, p in zip(weights, column, strict=True)), Fraction(0))
            for column in zip(*priors, strict=True)
        ]
        order = sorted(range(len(mixed)), key=lambda i: -mixed[i])
        best: tuple[Fraction, list[Fraction]] | None = None
        for n in range(1, len(mixed) + 1):
            changed = [Fraction(1)] * len(mixed)
            for i in order[:n]:
                changed[i] = (n - 1) / (ratio + n - 1)
            spent = sum((p * d for p, d in zip(mixed, changed, strict=True)), Fraction(0))
            if best is None or spent < best[0]:
                best = spent, changed
        assert best is not None
        return [sum((p * d for p, d in zip(prior, best[1], strict=True)), Fraction(0)) for prior in priors]

    return game_value(respond, len(priors))


def least_mass_distortion(vertices: Sequence[Sequence[float]], mass: Fraction) -> Fraction:
    """Least Hamming distortion over the hull with kept probabilities of at most S in all: the likeliest letters are kept."""
    priors = [[Fraction(p) for p in row] for row in vertices]

    def respond(weights: list[Fraction]) -> list[Fraction]:
        mixed = [
            sum((w * p for w, p in zip(weights, column, strict=True)), Fraction(0))
            for column in zip(*priors, strict=True)
        ]
        changed, left = [Fraction(1)] * len(mixed), mass
        for i in sorted(range(len(mixed)), key=lambda i: -mixed[i]):
            changed[i] -= (kept := min(left, Fraction(1)))
            left -= kept
        return [sum((p * d for p, d in zip(prior, changed, strict=True)), Fraction(0)) for prior in priors]

    return game_value(respond, len(priors))


def least_constant_distortion(vertices: Sequence[Sequence[float]], distances: Sequence[Sequence[float]]) -> Fraction:
    """Least distortion over the hull of a channel whose rows are all alike."""
    payoffs = [
        [
            sum((Fraction(p) * Fraction(row[j]) for p, row in zip(prior, distances, strict=True)), Fraction(0))
            for prior in vertices
        ]
        for j in range(len(distances))
    ]

    def respond(weights: list[Fraction]) -> list[Fraction]:
        return min(payoffs, key=lambda payoff: sum(w * share for w, share in zip(weights, payoff, strict=True)))

    return game_value(respond, len(vertices))


# ---- any costs, any graph: the whole channel

Entries = dict[tuple[int, int], Fraction]


class Channel:
    """Programs over all entries of a channel, for losses that compare probabilities.

    Unknowns are what is published in place of the truth, in units of ``scale``, which should be of the order of the distortion:
    then nothing is near 0 that is not 0. ``kind`` is "DP", "approximate", "approximate-standard", "maximal-leakage" or
    "maximal-information".
    """

    def __init__(
        self,
        kind: str,
        vertices: Sequence[Sequence[float]],
        distances: Sequence[Sequence[float]],
        pairs: Sequence[tuple[int, int]],
        delta: float = 0.0,
    ) -> None:
        self.kind, self.pairs, self.delta = kind, pairs, Fraction(delta)
        self.priors = [[Fraction(p) for p in row] for row in vertices]
        self.distances = [[Fraction(d) for d in row] for row in distances]
        self.size = len(distances)

    def _losses(self, ratio: Fraction) -> tuple[list[tuple[Entries, Row, Fraction]], int]:
        """Rows ``entries Q + others y <= limit`` with further unknowns y >= 0, and how many these are."""
        letters, one = range(self.size), Fraction(1)
        rows: list[tuple[Entries, Row, Fraction]] = []
        if self.kind == "maximal-leakage":
            rows = [({(i, j): one}, {j: -one}, Fraction(0)) for i in letters for j in letters]
            return [*rows, ({}, {j: one for j in letters}, ratio)], self.size
        if self.kind == "maximal-information":
            for prior in self.priors:
                total = sum(prior)
                for i in letters:
                    for j in letters:
                        entries = {(x, j): -ratio * prior[x] / total for x in letters}
                        entries[i, j] += one
                        rows.append((entries, {}, Fraction(0)))
            return rows, 0
        for number, (i, k) in enumerate(self.pairs):
            for j in letters:
                excess = {number * self.size + j: -one} if self.kind == "approximate-standard" else {}
                limit = Fraction(0) if self.kind in ("approximate-standard", "DP") else self.delta
                rows.append(({(i, j): one, (k, j): -ratio}, excess, limit))
            if self.kind == "approximate-standard":
                rows.append(({}, {number * self.size + j: one for j in letters}, self.delta))
        return rows, len(self.pairs) * self.size if self.kind == "approximate-standard" else 0

    def program(self, ratio: Fraction, scale: Fraction) -> tuple[Row, list[Row], list[Fraction], int]:
        """Costs, rows, limits and the number of columns; the last column is the distortion in units of scale."""
        losses, others = self._losses(ratio)
        places = {}
        for i in range(self.size):
            for j in range(self.size):
                if i != j:
                    places[i, j] = len(places)
        worst = len(places) + others
        rows: list[Row] = []
        limits: list[Fraction] = []
        for entries, further, limit in losses:
            row: Row = {len(places) + y: entry for y, entry in further.items()}
            for (i, j), entry in entries.items():
                if i == j:  # Q_ii = 1 - scale * sum of the others
                    limit -= entry
                    for other in range(self.size):
                        if other != i:
                            row[places[i, other]] = row.get(places[i, other], Fraction(0)) - entry * scale
                else:
                    row[places[i, j]] = row.get(places[i, j], Fraction(0)) + entry * scale
            rows.append({column: entry for column, entry in row.items() if entry})
            limits.append(limit)
        for i in range(self.size):
            rows.append({places[i, j]: scale for j in range(self.size) if j != i})
            limits.append(Fraction(1))
        for prior in self.priors:
            spent = {
                places[i, j]: prior[i] * self.distances[i][j] for i, j in places if prior[i] and self.distances[i][j]
            }
            rows.append({**spent, worst: Fraction(-1)})
            limits.append(Fraction(0))
        kept = [(row, limit) for row, limit in zip(rows, limits, strict=True) if row]
        return {worst: Fraction(1)}, [row for row, _ in kept], [limit for _, limit in kept], worst + 1

    def least_distortion(self, ratio: Fraction, scale: Fraction, seconds: float = 1.0) -> Fraction:
        """Exact; :class:`TooLong` where that takes longer."""
        return scale * minimum(*self.program(ratio, scale), seconds=seconds)[0]

    def channel(self, ratio: Fraction, scale: Fraction) -> np.ndarray:
        """What HiGHS finds, as a channel; to be judged by its own figures."""
        unknowns = solved(*self.program(ratio, scale))[0]
        matrix = np.zeros((self.size, self.size))
        if len(unknowns):
            matrix[~np.eye(self.size, dtype=bool)] = np.clip(unknowns[: self.size * (self.size - 1)], 0, None) * float(
                scale
            )
        off = matrix.sum(axis=1)
        matrix /= np.maximum(off, 1.0)[:, np.newaxis]
        np.fill_diagonal(matrix, np.maximum(0.0, 1 - matrix.sum(axis=1)))
        return matrix
