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

from paper_repro.certificates.linear import Found, constant_answer, dot
from paper_repro.checks import as_fraction
from paper_repro.errors import wrong
from paper_repro.notions import Notion, RenyiDP
from paper_repro.notions.information import _worst_prior
from paper_repro.notions.ratios import neighbors
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["best_of_curved", "best_under_constraints"]

Row = Sequence[Fraction]
# By how much, relatively, bounds are moved apart until the checker agrees: rounding of floats, or worse.
_MARGINS = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
# Least numbers that take part: in a tangent point, which has to be positive.
_LEAST = 1e-250
# Largest exponent of a moment: it is written as a power of 10 of at most 2,000 digits.
_MOST = 4300.0


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


def best_under_constraints(
    source: SourceSet,
    notion: Notion,
    distortion: Fraction | None,
    leakage: Fraction | None,
    about: Any,
    costs: Sequence[Row] | None,
) -> Iterator[Found]:
    """The same where entries are bounded or vertices stay: by the tangent plane that the result's multipliers are of.

    Raises ValueError if the result has none, or of other vertices, and where the frequencies of several priors stay.

    >>> from paper_repro import optimal_mechanism
    >>> best = optimal_mechanism(SourceSet(["3/4", "1/4"]), distortion="3/16", notion=RenyiDP(2), invariant=True)
    >>> found = next(best_under_constraints(best.source, best.notion, Fraction(3, 16), None, best, None))
    >>> float(found.most - found.least) < 1e-9
    True
    """
    size, exact = source.alphabet_size, source.exact
    distances = costs or [[Fraction(i != j) for j in range(size)] for i in range(size)]
    problem, kept = _Problem(source, notion, distances, about), about.constraints
    if len(about.multipliers) != 5 or len(about.multipliers[0]) != len(exact) or (kept.invariant and len(exact) > 1):
        raise ValueError(
            f"No certificate of {notion.title} is offered under these constraints: where nothing may change, where the "
            "worst priors of intervals are searched for, or where frequencies of several priors stay. Use the gap of the "
            "result, which is evaluated from its multipliers."
        )
    prices, stays, loads, point, outputs = about.multipliers
    rate = problem.order - 1
    proof: dict[str, Any] = {"multipliers": _fractions(prices / about.cost_unit * (rate or 1))}
    if kept.invariant:
        proof["stays"] = _fractions(stays * (rate or 1))
    if problem.pairs is None:
        weights = _fractions(loads)
        proof |= {"weights": weights, "loads": [dot(weights, letter) for letter in zip(*exact, strict=True)]}
        ratios = point / outputs
    else:
        order = {
            tuple(pair): load
            for pair, load in zip(
                neighbors(getattr(notion, "adjacency", None), size).tolist(), loads.tolist(), strict=True
            )
        }
        proof["loads"] = _fractions([order[tuple(pair)] for pair in problem.pairs.tolist()])
        one, two = (point[problem.pairs[:, side]] for side in (0, 1))
        ratios = np.divide(one, two, out=np.zeros_like(one), where=two > 0)
    proof["comparisons"] = _fractions(np.maximum(ratios, _LEAST))
    matrix = problem.kept(distortion)
    most = problem.spent(matrix) if distortion is None else as_fraction(problem.leakage(matrix))
    mechanism = {"matrix": matrix, **problem.reference(matrix)}
    bound = (about.leakage if leakage is None else about.distortion) - about.gap
    for margin in _MARGINS:
        least = as_fraction(max(0.0, bound - margin * max(bound, 1.0 if leakage is None else 0.0)))
        upper = most if distortion is None else most + as_fraction(margin * max(1.0, float(most)))
        yield Found(least, max(upper, least), mechanism, proof if least else {})


def _fractions(numbers: Any) -> Any:
    """Numbers of any shape, as the decimals that they are read from."""
    return [_fractions(n) for n in numbers] if np.ndim(numbers) else as_fraction(float(numbers))


class _Problem:
    """What was found in floats, and the checker's figures of it."""

    def __init__(self, source: SourceSet, notion: Notion, costs: Sequence[Row], about: Any) -> None:
        self._exact, self._costs, self._about, self._notion = source.exact, costs, about, notion
        self._vertices = np.array([[float(p) for p in row] for row in source.exact])
        self._distances = np.array([[float(d) for d in row] for row in costs])
        self.order = float(getattr(notion, "alpha", 1.0))
        self._matrix = np.asarray(about.mechanism.matrix, dtype=float)
        self._rows = self._exactly(self._matrix)
        self.pairs: Any = None
        if isinstance(notion, RenyiDP):  # in the checker's order
            self.pairs = np.array(sorted(neighbors(notion.adjacency, source.alphabet_size).tolist()))
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
        rows = self._rows
        spent = self.spent(rows)
        if spent > distortion:
            share = Fraction(math.floor(distortion / spent * 10**18), 10**18)
            rows = [[share * q + (1 - share) * (i == j) for j, q in enumerate(row)] for i, row in enumerate(rows)]
        return rows

    def kept(self, distortion: Fraction | None) -> list[list[Fraction]]:
        """The mechanism found, where one prior has to stay by the row of its likeliest letter, and within the distortion."""
        if self._about.constraints.invariant:
            rows, (prior,) = self._exactly(self._matrix), self._exact
            last = prior.index(max(prior))
            rest = [dot(prior, column) - prior[last] * column[last] for column in zip(*rows, strict=True)]
            rows[last] = [(p - x) / prior[last] for p, x in zip(prior, rest, strict=True)]
            self._rows = rows
        return self._rows if distortion is None else self.within(distortion)

    def private(self, leakage: float, margin: float, constant: Sequence[Row]) -> list[list[Fraction]]:
        """The mechanism found, mixed with what is published on average if it leaks too much."""
        reach = self.leakage(self._exactly(self._matrix))
        share = 1.0 if reach <= leakage * (1 - margin) else max(0.0, leakage * (1 - 4 * margin) / reach)
        middle = self._prior @ self._matrix
        return self._exactly(share * self._matrix + (1 - share) * middle)

    def reference(self, matrix: Sequence[Row]) -> dict[str, list[Fraction]]:
        if self.pairs is not None:
            return {}
        return {"reference": self._exactly(self._average(matrix)[np.newaxis])[0]}

    def _average(self, matrix: Sequence[Row]) -> FloatArray:
        """The output's distribution that is best against the prior under which this matrix leaks most."""
        floats = np.array([[float(q) for q in row] for row in matrix])
        _, weights = _worst_prior(floats, self._vertices, self.order)
        means = (weights @ self._vertices @ floats**self.order) ** (1 / self.order)
        used = floats.max(axis=0) > 0
        means = np.where(used, np.maximum(means, 1e-25), 0.0)
        return means / means.sum()

    def leakage(self, matrix: Sequence[Row]) -> float:
        """Nats, as the checker has them, in floats."""
        floats = np.array([[float(q) for q in row] for row in matrix])
        if self.pairs is not None:
            return max(self._divergence(floats[i], floats[k]) for i, k in self.pairs)
        average, order = self._average(matrix), self.order
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
        if self.order == 1:
            return float(row[used] @ logs)
        top = logs.max() * (self.order - 1)
        return float((math.log(row[used] @ np.exp((self.order - 1) * logs - top)) + top) / (self.order - 1))

    def proof(self, distortion: float | None, leakage: float | None) -> tuple[dict[str, Any], float]:
        """Fields of a certificate, and the bound that they prove, in floats: on nats, or on distortions."""
        level, rate = self._about.leakage if leakage is None else leakage, self.order - 1
        if rate * level > _MOST:
            raise ValueError(
                wrong(
                    "alpha",
                    f"be at most {1 + _MOST / level:.6g} for a certificate at {level:g} nats, as moments in files are at "
                    f"most exp({_MOST:g})",
                    self.order,
                    "Take a smaller order, or infinity.",
                )
            )
        # Moments are as large as exp(rate level): all is divided by a power of 10 near that.
        digits = max(0, round(rate * level / math.log(10)))
        shift = digits * math.log(10)
        found = self._of_output(level, distortion, shift) if self.pairs is None else self._of_pairs(level, shift)
        loads, logs, duals = found
        size, order = len(self._matrix), self.order
        compared = [(i, size) for i in range(size)] if self.pairs is None else self.pairs
        with np.errstate(under="ignore"):
            up = 1 + logs if not rate else order * np.exp(rate * logs - shift)
            down = np.exp(logs) if not rate else rate * np.exp(order * logs - shift)
        table = np.zeros((size + 1, size))
        for (i, k), load, more, less in zip(compared, loads, up, down, strict=True):
            table[i] += load * more if load else 0.0
            table[k] -= load * less if load else 0.0
        penalties = self._distances * self._prior[:, np.newaxis]
        gained = math.exp(rate * level - shift) if rate else level

        def bound(prices: FloatArray) -> float:
            kappa = prices @ self._vertices
            value = float((table[:size] + kappa[:, np.newaxis] * self._distances).min(axis=1).sum() + table[size].min())
            if distortion is None:
                return (value - gained) / float(prices.sum())
            left = value - distortion * float(prices.sum())
            return left if not rate else (math.log(left) + shift) / rate if left > 0 else 0.0

        if duals is None:  # of one prior, and alike for all letters
            apart = table[0][:, np.newaxis] - table[0]
            with np.errstate(divide="ignore", invalid="ignore"):
                prices = apart / (penalties[0] - penalties[0][:, np.newaxis])
            prices = np.unique(prices[np.isfinite(prices) & (prices > 0)])
            duals = max((price * self._weights for price in prices), key=bound, default=np.zeros(len(self._vertices)))
        if not duals.any():
            return {}, 0.0
        unit = Fraction(1, 10**digits)
        weights = self._exactly(self._weights[np.newaxis])[0]
        exact = [as_fraction(float(load)) for load in loads]
        fields: dict[str, Any] = {"multipliers": _fractions(duals)}
        if self.pairs is None:
            fields["weights"] = [unit * w for w in weights]
            exact = [
                sum((w * p for w, p in zip(weights, ps, strict=True)), Fraction(0))
                for ps in zip(*self._exact, strict=True)
            ]
        fields["loads"] = [unit * load for load in exact]
        fields["comparisons"] = [
            _fractions(np.exp(row)) if load else [Fraction(not rate)] * size
            for load, row in zip(exact, logs, strict=True)
        ]
        return fields, bound(duals)

    def _of_pairs(self, level: float, shift: float) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Weights of pairs of rows, logarithms of their ratios, and prices of distortions, None where they are to be found."""
        size, found, rate = len(self._matrix), self._about.multipliers, self.order - 1
        if len(found) == 3:
            lambdas, duals, tangent = (np.asarray(part, dtype=float) for part in found)
            # Letters that never occur were left out: they are like the first one that does.
            letters = np.arange(size) if len(tangent) == size else np.flatnonzero(self._vertices.any(axis=0))
            graph = getattr(self._notion, "adjacency", None) if len(letters) == size else None
            pairs = letters[neighbors(graph, len(letters))]
            order_of = {(int(i), int(k)): weight for (i, k), weight in zip(pairs, lambdas, strict=True)}
            lambdas = np.array([order_of.get((int(i), int(k)), 0.0) for i, k in self.pairs])
            places = np.zeros(size, dtype=int)
            places[letters] = np.arange(len(letters))
            total = lambdas.sum()
            # Against (moment / exp((order - 1) L) - 1) / (order - 1), L being the leakage; columns of X have any factor.
            scale = (rate * math.exp(rate * level - shift) if rate else 1.0) / self._about.cost_unit
            tangent = np.maximum(tangent - tangent.max(axis=0), math.log(_LEAST))[places][:, places]
            return lambdas / total, tangent[self.pairs[:, 0]] - tangent[self.pairs[:, 1]], scale * duals / total
        # Randomized response, or what depends on a distance alone, best against the uniform prior.
        logs = np.log(np.maximum(self._matrix, _LEAST))
        self._use_uniform_prior()
        return np.full(len(self.pairs), 1 / len(self.pairs)), logs[self.pairs[:, 0]] - logs[self.pairs[:, 1]], None

    def _use_uniform_prior(self) -> None:
        self._weights = self._mixture(np.full(len(self._matrix), 1 / len(self._matrix)))
        self._prior = self._weights @ self._vertices

    def _of_output(
        self, level: float, distortion: float | None, shift: float
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """The prior, logarithms of rows over the output's, from those of the solver's ratios, and prices of distortions."""
        prior, order = self._prior, self.order
        if len(self._about.multipliers) != 2:
            self._use_uniform_prior()
            with np.errstate(divide="ignore"):
                return self._prior, np.log(np.maximum(self._matrix, _LEAST) / self._matrix.mean(axis=0)), None
        duals, ratios = self._about.multipliers
        duals = duals / self._about.cost_unit
        known = prior > 0
        logs, mass = np.zeros((len(prior), len(prior))), prior[known]
        relative = (
            ((duals * (1 - 1 / order or 1.0)) @ self._vertices)[known, np.newaxis]
            * self._distances[known]
            / mass[:, np.newaxis]
        )
        if order == 1:
            logs[known] = ratios[known][:, np.newaxis] - relative
            load = math.log((mass @ np.exp(logs[known])).max())
            logs[known] = np.maximum(logs[known] - load, math.log(_LEAST))
            return prior, logs, duals
        # By Hoelder's inequality G F + sum C_ij Q_ij >= sum u, where F is exp((1 - 1 / order) L): from there to moments.
        beta = order / (order - 1)
        over = np.clip(np.exp((order - 1) * ratios[known])[:, np.newaxis] - relative, 0, None)
        norm = (mass @ over**beta).max() ** (1 / beta)
        total = float((duals * (1 - 1 / order)).sum())
        top = (1 - 1 / order) * level
        if distortion is not None:
            left = float(mass @ np.exp((order - 1) * ratios[known])) - distortion * total
            top = math.log(left / norm) if left > 0 else 0.0
        with np.errstate(divide="ignore"):
            logs[known] = np.maximum(top + np.log(over / norm) / (order - 1), math.log(_LEAST))
        return prior, logs, duals * (1 - 1 / order) * order * math.exp((order - 1) * top - shift) / norm
