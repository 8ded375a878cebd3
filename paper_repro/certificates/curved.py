"""Certificates of information and of Renyi divergences: bounds from floats, close to each other but not equal.

The mechanism is what was found, its numbers read as decimals and brought inside the budget. The multipliers are those of the
solver; the checker's bounds hold whatever they are, so that rounding only costs a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.certificates.linear import Found, constant_answer
from paper_repro.checks import as_fraction
from paper_repro.errors import CertificateError
from paper_repro.notions import Notion, RenyiDP
from paper_repro.notions.information import _worst_prior
from paper_repro.notions.ratios import neighbors
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["best_of_curved"]

Row = Sequence[Fraction]
# By how much, relatively, bounds are moved apart until the checker agrees: rounding of floats, or worse.
_MARGINS = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
# Least numbers that take part: in a tangent point, which has to be positive.
_LEAST = 1e-250
# Largest exponent of a moment.
_MOST = 600.0


def best_of_curved(
    source: SourceSet,
    notion: Notion,
    distortion: Fraction | None,
    leakage: Fraction | None,
    about: Any,
    costs: Sequence[Row] | None,
) -> Iterator[Found]:
    """What may be a certificate at a distortion, or at a leakage in nats, the best first; ``about`` is what was found in floats.

    >>> even = SourceSet(["1/2", "1/2"])
    >>> next(best_of_curved(even, RenyiDP(2), Fraction(1, 2), None, None, None)).mechanism["matrix"][0]
    (Fraction(1, 1), Fraction(0, 1))
    """
    size, nothing = source.alphabet_size, Fraction(0)
    distances = costs or [[Fraction(i != j) for j in range(size)] for i in range(size)]
    without, answer = constant_answer(source.exact, costs)
    constant: dict[str, Any] = {"matrix": [answer] * size}
    if not isinstance(notion, RenyiDP):
        constant["reference"] = answer
    if distortion is not None and distortion >= without:
        yield Found(nothing, nothing, constant)
        return
    problem = _Problem(source, notion, distances, about)
    proof, bound = problem.proof(
        None if distortion is None else float(distortion), None if leakage is None else float(leakage)
    )
    if leakage is not None and bound >= float(without):  # nothing is gained by leaking a little
        bound = float(without)
    for margin in _MARGINS:
        if distortion is not None:
            matrix = problem.within(distortion)
            most = problem.leakage(matrix)
        else:
            assert leakage is not None
            matrix = problem.private(float(leakage), margin, constant["matrix"])
            most = float(problem.spent(matrix))
        least = max(0.0, bound - margin * max(bound, 1.0 if distortion is not None else bound))
        mechanism = {"matrix": matrix, **problem.reference(matrix)}
        upper = as_fraction(most * (1 + margin) + (margin if distortion is not None else 0.0))
        exact = problem.spent(matrix) if distortion is None else upper
        yield Found(as_fraction(least), max(exact, as_fraction(least)), mechanism, proof if least > 0 else {})


class _Problem:
    """What was found in floats, and the checker's figures of it."""

    def __init__(self, source: SourceSet, notion: Notion, costs: Sequence[Row], about: Any) -> None:
        self._exact, self._costs, self._about, self._notion = source.exact, costs, about, notion
        self._vertices = np.array([[float(p) for p in row] for row in source.exact])
        self._distances = np.array([[float(d) for d in row] for row in costs])
        self._order = float(getattr(notion, "alpha", 1.0))
        self._matrix = np.asarray(about.mechanism.matrix, dtype=float)
        self._pairs: Any = None
        if isinstance(notion, RenyiDP):
            edges = neighbors(notion.adjacency, source.alphabet_size)
            if notion.adjacency is None or notion.adjacency.is_clique:  # in the checker's order
                edges = np.array([(a, b) for i in range(len(costs)) for k in range(i) for a, b in ((k, i), (i, k))])
            else:
                edges = np.array([pair for a, b in notion.adjacency.edges for pair in ((a, b), (b, a))])
            self._pairs = edges
        self._weights = self._mixture(about.worst_prior)
        self._prior = self._weights @ self._vertices

    def _mixture(self, prior: FloatArray) -> FloatArray:
        """Weights of the vertices, to 15 digits, whose mixture is the prior."""
        from scipy.optimize import nnls

        rows = np.vstack([self._vertices.T, np.ones(len(self._vertices))])
        weights = nnls(rows, np.append(prior, 1.0))[0]
        return weights / weights.sum()

    def spent(self, matrix: Sequence[Row]) -> Fraction:
        """The worst distortion of a matrix, exactly."""
        rows = [
            sum((q * d for q, d in zip(*pair, strict=True)), Fraction(0))
            for pair in zip(matrix, self._costs, strict=True)
        ]
        return max(sum((p * c for p, c in zip(vertex, rows, strict=True)), Fraction(0)) for vertex in self._exact)

    def _exactly(self, matrix: FloatArray) -> list[list[Fraction]]:
        """Decimals, the largest of each row taking up what is missing."""
        rows = [[as_fraction(max(q, 0.0)) for q in row] for row in matrix.tolist()]
        for row in rows:
            row[row.index(max(row))] += 1 - sum(row)
        return rows

    def within(self, distortion: Fraction) -> list[list[Fraction]]:
        """The mechanism found, mixed with the identity if it spends too much."""
        rows = self._exactly(self._matrix)
        spent = self.spent(rows)
        if spent > distortion:
            share = Fraction(math.floor(distortion / spent * 10**18), 10**18)
            rows = [[share * q + (1 - share) * (i == j) for j, q in enumerate(row)] for i, row in enumerate(rows)]
        return rows

    def private(self, leakage: float, margin: float, constant: Sequence[Row]) -> list[list[Fraction]]:
        """The mechanism found, mixed with what is published on average if it leaks too much."""
        reach = self.leakage(self._exactly(self._matrix))
        share = 1.0 if reach <= leakage * (1 - margin) else max(0.0, leakage * (1 - 4 * margin) / reach)
        middle = self._prior @ self._matrix
        return self._exactly(share * self._matrix + (1 - share) * middle)

    def reference(self, matrix: Sequence[Row]) -> dict[str, list[Fraction]]:
        if self._pairs is not None:
            return {}
        return {"reference": self._exactly(self._average(matrix)[np.newaxis])[0]}

    def _average(self, matrix: Sequence[Row]) -> FloatArray:
        """The output's distribution that is best against the prior under which this matrix leaks most."""
        floats = np.array([[float(q) for q in row] for row in matrix])
        _, weights = _worst_prior(floats, self._vertices, self._order)
        means = (weights @ self._vertices @ floats**self._order) ** (1 / self._order)
        used = floats.max(axis=0) > 0
        means = np.where(used, np.maximum(means, 1e-25), 0.0)
        return means / means.sum()

    def leakage(self, matrix: Sequence[Row]) -> float:
        """Nats, as the checker has them, in floats."""
        floats = np.array([[float(q) for q in row] for row in matrix])
        if self._pairs is not None:
            return max(self._divergence(floats[i], floats[k]) for i, k in self._pairs)
        average, order = self._average(matrix), self._order
        used = average > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(floats[:, used] > 0, floats[:, used] / average[used], 1.0)
        if order == 1:
            return float((self._vertices @ (floats[:, used] * np.log(ratios)).sum(axis=1)).max())
        logs = (order - 1) * np.log(ratios)
        top = logs.max()
        worst = (self._vertices @ (floats[:, used] * np.exp(logs - top)).sum(axis=1)).max()
        return float((math.log(worst) + top) / (order - 1))

    def _divergence(self, row: FloatArray, other: FloatArray) -> float:
        used = row > 0
        if (other[used] == 0).any():
            return math.inf
        logs = np.log(row[used] / other[used])
        if self._order == 1:
            return float(row[used] @ logs)
        top = logs.max() * (self._order - 1)
        return float((math.log(row[used] @ np.exp((self._order - 1) * logs - top)) + top) / (self._order - 1))

    def proof(self, distortion: float | None, leakage: float | None) -> tuple[dict[str, Any], float]:
        """Fields of a certificate, and the bound that they prove, in floats: on nats, or on distortions."""
        if self._pairs is not None:
            rate = self._order - 1
            lambdas, duals, tangent = self._moment_multipliers(self._about.leakage if leakage is None else leakage)
            penalties = (duals @ self._vertices)[:, np.newaxis] * self._distances
            value, load = float((self._gradient(lambdas, tangent) + penalties).min(axis=1).sum()), 1.0
            fields: dict[str, Any] = {"tangent": self._fractions(tangent)}
            fields["pairs"] = self._exactly(lambdas[np.newaxis])[0]
        else:
            rate = 1 - 1 / self._order
            if len(self._about.multipliers) != 2:
                return {}, 0.0
            duals, logs = self._about.multipliers
            duals = duals * (rate or 1.0)
            value, load, rows = self._rows((duals @ self._vertices)[:, np.newaxis] * self._distances, logs)
            fields = {"rows": self._fractions(rows), "weights": self._exactly(self._weights[np.newaxis])[0]}
        if not duals.any():
            return {}, 0.0
        fields["multipliers"] = self._fractions(duals)
        if distortion is None:
            assert leakage is not None
            return fields, float((value - load * (math.exp(rate * leakage) if rate else leakage)) / duals.sum())
        left = value - distortion * duals.sum()
        return fields, float(left / load if not rate else math.log(left / load) / rate if left > 0 else 0.0)

    def _fractions(self, numbers: Any) -> Any:
        return [self._fractions(n) for n in numbers] if np.ndim(numbers) else as_fraction(float(numbers))

    def _moment_multipliers(self, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        size, found = len(self._matrix), self._about.multipliers
        if len(found) == 3:
            lambdas, duals, tangent = (np.asarray(part, dtype=float) for part in found)
            # Letters that never occur were left out: they are like the first one that does.
            letters = np.arange(size) if len(tangent) == size else np.flatnonzero(self._vertices.any(axis=0))
            graph = getattr(self._notion, "adjacency", None) if len(letters) == size else None
            pairs = letters[neighbors(graph, len(letters))]
            order_of = {(int(i), int(k)): weight for (i, k), weight in zip(pairs, lambdas, strict=True)}
            lambdas = np.array([order_of.get((int(i), int(k)), 0.0) for i, k in self._pairs])
            places = np.zeros(size, dtype=int)
            places[letters] = np.arange(len(letters))
            total = lambdas.sum()
            # Against (moment / exp((order - 1) L) - 1) / (order - 1), L being the leakage; columns of X have any factor.
            rate = self._order - 1
            if rate * level > _MOST:
                raise CertificateError(f"moments of order {self._order:g} at {level:g} nats leave the range of numbers")
            scale = rate * math.exp(rate * level) if rate else 1.0
            tangent = np.maximum(np.exp(tangent - tangent.max(axis=0)), _LEAST)
            return lambdas / total, scale * duals / total, tangent[places][:, places]
        # Randomized response, best against the uniform prior.
        kept, other = float(self._matrix[0, 0]), float(self._matrix[0, 1])
        if not kept > other > 0:
            return np.ones(len(self._pairs)), np.zeros(len(self._vertices)), self._matrix
        lambdas = np.full(len(self._pairs), 1 / len(self._pairs))
        tangent = np.full((size, size), other)
        np.fill_diagonal(tangent, kept)
        gradient = self._gradient(lambdas, tangent)
        self._weights = self._mixture(np.full(size, 1 / size))
        return lambdas, self._weights * (size * (gradient[0, 0] - gradient[0, 1])), tangent

    def _gradient(self, lambdas: FloatArray, tangent: FloatArray) -> FloatArray:
        order, gradient = self._order, np.zeros_like(tangent)
        for (i, k), weight in zip(self._pairs, lambdas, strict=True):
            s = tangent[i] / tangent[k]
            gradient[i] += weight * (1 + np.log(s) if order == 1 else order * s ** (order - 1))
            gradient[k] -= weight * (s if order == 1 else (order - 1) * s**order)
        return gradient

    def _rows(self, penalties: FloatArray, logs: FloatArray) -> tuple[float, float, FloatArray]:
        """The numbers u of the rows, from ``log x`` of :mod:`paper_repro.solvers.diagonal_information`; their value and load."""
        prior, order = self._prior, self._order
        known = prior > 0
        mass, relative = prior[known], penalties[known] / prior[known][:, np.newaxis]
        if order == 1:
            rows = np.exp(logs)
            load = float((mass * rows[known] @ np.exp(-relative)).max())
            return float(mass @ logs[known]) - math.log(load), 1.0, rows
        beta = order / (order - 1)
        rows = prior * np.exp((order - 1) * logs)
        over = np.clip(rows[known][:, np.newaxis] / mass[:, np.newaxis] - relative, 0, None)
        return float(rows[known].sum()), float((mass @ over**beta).max() ** (1 / beta)), rows
