"""Losses of a channel from their definitions, to more digits than a float has, for up to nine letters; nothing of the package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

Matrix = Sequence[Sequence[Fraction]]


def exact(matrix: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(entry)) for entry in row] for row in matrix]


def changed(matrix: Matrix, prior: Sequence[float], distances: Sequence[Sequence[float]]) -> Fraction:
    """Expected distance, from what lies off the diagonal."""
    total = Fraction(0)
    for i, (p, row) in enumerate(zip(prior, matrix, strict=True)):
        if p:
            total += Fraction(p) * sum(
                (Fraction(distances[i][j]) * entry for j, entry in enumerate(row) if j != i), Fraction(0)
            )
    return total


def ratio(
    kind: str, matrix: Matrix, vertices: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]], delta: float
) -> Fraction | float:
    """exp of the loss, for losses that compare probabilities: exact, or infinity."""
    allowed, worst = Fraction(delta), Fraction(1)
    if kind == "maximal-leakage":
        return max(worst, sum((max(column) for column in zip(*matrix, strict=True)), Fraction(0)))
    if kind == "maximal-information":
        for prior in vertices:
            shares = [Fraction(p) for p in prior]
            for column in zip(*matrix, strict=True):
                if any(column):
                    mean = sum((p * q for p, q in zip(shares, column, strict=True)), Fraction(0)) / sum(shares)
                    if not mean:
                        return math.inf
                    worst = max(worst, max(column) / mean)
        return worst
    for i, k in pairs:
        both = list(zip(matrix[i], matrix[k], strict=True))
        found = _excess_ratio(both, allowed) if kind == "approximate-standard" else _largest_ratio(both, allowed)
        if found == math.inf:
            return found
        worst = max(worst, found)
    return worst


def _largest_ratio(both: list[tuple[Fraction, Fraction]], allowed: Fraction) -> Fraction | float:
    worst = Fraction(1)
    for larger, smaller in both:
        if larger > allowed:
            if not smaller:
                return math.inf
            worst = max(worst, (larger - allowed) / smaller)
    return worst


def _excess_ratio(both: list[tuple[Fraction, Fraction]], allowed: Fraction) -> Fraction | float:
    """Least t with a sum of excesses of at most delta, by Newton's method on a convex function that has corners: finite."""
    found = Fraction(1)
    while True:
        above = [(larger, smaller) for larger, smaller in both if larger > found * smaller]
        surplus = sum((larger for larger, _ in above), Fraction(0)) - allowed
        base = sum((smaller for _, smaller in above), Fraction(0))
        if surplus <= found * base:
            return found
        if not base:
            return math.inf
        found = surplus / base


def divergence(matrix: np.ndarray, pairs: Sequence[tuple[int, int]], order: float) -> float:
    """Largest Renyi divergence of the pairs of rows, in nats."""
    worst = 0.0
    logs: dict[float, Decimal] = {}
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 40, MAX_EMAX, MIN_EMIN

        def log(entry: float) -> Decimal:
            if entry not in logs:
                logs[entry] = Decimal(entry).ln()
            return logs[entry]

        alpha = Decimal(order)
        for i, k in pairs:
            both = [(float(a), float(b)) for a, b in zip(matrix[i], matrix[k], strict=True) if a > 0]
            if any(b == 0 for _, b in both):
                return math.inf
            if order == 1:
                found = sum((Decimal(a) * (log(a) - log(b)) for a, b in both), Decimal(0))
            else:
                terms = [(alpha * log(a) + (1 - alpha) * log(b)).exp() for a, b in both]
                found = sum(terms, Decimal(0)).ln() / (alpha - 1)
            worst = max(worst, float(found))
    return worst


def information(matrix: np.ndarray, vertices: Sequence[Sequence[float]], order: float) -> tuple[float, float]:
    """Largest Sibson information of the order over the hull in nats: a lower and an upper bound, however far apart.

    From below that of a prior of the hull; from above what any output distribution r leaves, linear in the prior: the largest
    over the vertices of the divergence of the inputs and outputs from independence with r.
    """
    priors = np.asarray(vertices, float)
    weights = _worst_weights(matrix, priors, order) if len(priors) > 1 else np.ones(1)
    below = max(_information(matrix, prior, order) for prior in [*priors, weights @ priors])
    if len(priors) == 1:
        return below, below
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, prior = np.log(matrix), weights @ priors
        shares = priors[:, :, np.newaxis]
        if order == 1:
            terms = shares * matrix * (logs - np.log(prior @ matrix))
            above = np.where(shares * matrix > 0, terms, 0.0).sum(axis=(1, 2)).max()
        else:
            output = logsumexp(np.log(prior)[:, np.newaxis] + order * logs, axis=0) / order
            output -= logsumexp(output)
            terms = np.log(shares) + order * logs + (1 - order) * output
            above = (logsumexp(np.where(shares * matrix > 0, terms, -np.inf), axis=(1, 2)) / (order - 1)).max()
    rounding = 1e-14 / min(1.0, order - 1 or 1.0)
    return below, float(above) + rounding


def _worst_weights(matrix: np.ndarray, priors: np.ndarray, order: float) -> np.ndarray:
    """Weights of the vertices for which the information, concave in them, is near its largest."""
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
        moments = logsumexp(np.log(priors)[:, :, np.newaxis] + order * logs, axis=1)  # of each vertex and column

    def negative(weights: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            if order == 1:
                output = weights @ priors @ matrix
                relative = np.where(matrix > 0, matrix * (logs - np.log(output)), 0.0).sum(axis=1)
                return -float(weights @ priors @ relative), -(priors @ relative)
            columns = logsumexp(np.log(weights)[:, np.newaxis] + moments, axis=0)
            total = logsumexp(columns / order)
            used = np.isfinite(columns)
            slopes = np.exp(moments[:, used] + columns[used] * (1 / order - 1) - total).sum(axis=1) / (order - 1)
        return -total * order / (order - 1), -slopes

    found = minimize(
        negative,
        np.full(len(priors), 1 / len(priors)),
        jac=True,
        bounds=[(1e-14, 1)] * len(priors),
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    weights = np.clip(np.nan_to_num(found.x), 1e-14, None)
    if 1 < order < 1.001:  # differences near 1e-10 stop the line search early; steps along the gradient do not see them
        for _ in range(300):
            slopes = -negative(weights / weights.sum())[1]
            weights = weights / weights.sum() * np.exp(slopes - slopes.max())
    return weights / weights.sum()


def _information(matrix: np.ndarray, prior: np.ndarray, order: float) -> float:
    if math.isinf(order):
        return math.log(matrix[prior > 0].max(axis=0).sum())
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 40, MAX_EMAX, MIN_EMIN
        alpha, total = Decimal(order), Decimal(0)
        scale = sum(map(Decimal, map(float, prior)))
        for column in matrix.T:
            terms = [
                (Decimal(float(p)) / scale, Decimal(float(q)))
                for p, q in zip(prior, column, strict=True)
                if p > 0 and q > 0
            ]
            if not terms:
                continue
            if order == 1:
                output = sum((p * q for p, q in terms), Decimal(0)).ln()
                total += sum((p * q * (q.ln() - output) for p, q in terms), Decimal(0))
            else:
                total += (sum((p * (alpha * q.ln()).exp() for p, q in terms), Decimal(0)).ln() / alpha).exp()
        return max(0.0, float(total if order == 1 else alpha / (alpha - 1) * total.ln()))


def erokhin(prior: Sequence[float], distortion: float) -> float:
    """The rate-distortion function under Hamming distortion (Erokhin 1958), in nats; the water level is exact."""
    falling = sorted((Fraction(p) for p in prior if p), reverse=True)
    total, budget = sum(falling), Fraction(distortion)
    falling = [p / total for p in falling]
    for count in range(len(falling), 1, -1):
        level = (budget - sum(falling[count:], Fraction(0))) / (count - 1)
        if level >= (falling[count] if count < len(falling) else 0) and level <= falling[count - 1]:
            break
    else:
        return 0.0
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 50, MAX_EMAX, MIN_EMIN

        def entropy(share: Fraction) -> Decimal:
            value = Decimal(share.numerator) / Decimal(share.denominator)
            return -value * value.ln() if share else Decimal(0)

        rate = (
            sum((entropy(p) for p in falling[:count]), Decimal(0)) - entropy(1 - budget) - (count - 1) * entropy(level)
        )
        return max(0.0, float(rate))
