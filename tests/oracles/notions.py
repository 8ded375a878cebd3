"""The seven notions of Definition 19 (Zhong and Bu 2022), computed independently: none of this uses code of the package.

First every leakage as the definition has it, in exact rationals or in decimals with 60 digits, powers as they stand. Then, for
every notion, a program over all entries of a channel, which answers one question: how small can the worst-case distortion be at
a leakage? The least leakage at a distortion is found from it by root finding.
"""

from __future__ import annotations

import itertools
import math
import warnings
from contextlib import suppress
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from functools import cache

import cvxpy
import numpy as np
from scipy import sparse
from scipy.optimize import brentq, minimize

from tests.oracles import DELTA, ORDER
from tests.oracles.tradeoffs import exact, information, pointwise_ratio, solve, worst_information

# ---- letters, databases, and who must look alike


def all_pairs(size):
    """Every two letters, in both orders."""
    return tuple(itertools.permutations(range(size), 2))


def hamming_costs(size):
    return 1.0 - np.eye(size)


def database_distances(values, records):
    """Number of records in which two databases differ, databases in lexicographic order."""
    rows = list(itertools.product(range(values), repeat=records))
    return np.array([[float(sum(a != b for a, b in zip(x, y, strict=True))) for y in rows] for x in rows])


def database_pairs(values, records):
    """Databases that differ in one record, in both orders."""
    return tuple(zip(*(found.tolist() for found in np.nonzero(database_distances(values, records) == 1)), strict=True))


# ---- leakages, as defined


def logarithm(ratio):
    """Natural logarithm of a rational, not below 0, to the last digit of a float."""
    if ratio == math.inf:
        return math.inf
    with localcontext() as context:
        context.prec = 60
        return max(0.0, float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()))


def standard_ratio(matrix, pairs, delta):
    """The usual definition: least t >= 1 with ``Q_i(S) <= t Q_k(S) + delta`` for every set S of outputs, each of them tried."""
    rows, allowed, ratio = exact(matrix), Fraction(delta), Fraction(1)
    for i, k in pairs:
        sums = {(Fraction(0), Fraction(0))}
        for one, other in zip(rows[i], rows[k], strict=True):
            sums |= {(first + one, second + other) for first, second in sums}
        for first, second in sums:
            if first > allowed:
                if second == 0:
                    return math.inf
                ratio = max(ratio, (first - allowed) / second)
    return ratio


def information_ratio(matrix, vertices):
    """(3): the largest ``Q_ij / (P Q)_j``, over the vertices, which are first made to sum to 1 exactly."""
    rows, ratio = exact(matrix), Fraction(1)
    for prior in exact(vertices):
        for column in zip(*rows, strict=True):
            if max(column) > 0:
                mean = sum(p * q for p, q in zip(prior, column, strict=True)) / sum(prior)
                if mean == 0:
                    return math.inf
                ratio = max(ratio, max(column) / mean)
    return ratio


def kept_mass(matrix):
    """(4): ``sum_j max_i Q_ij``."""
    return sum((max(column) for column in zip(*exact(matrix), strict=True)), Fraction(0))


def renyi_divergence(matrix, pairs, order):
    """(5), with the Kullback-Leibler divergence at order 1 and the largest ratio at infinity."""
    if order == math.inf:
        return logarithm(pointwise_ratio(matrix, pairs))
    rows, worst = [[Decimal(float(entry)) for entry in row] for row in np.asarray(matrix)], Decimal(0)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, MAX_EMAX, MIN_EMIN
        alpha = Decimal(order)
        for i, k in pairs:
            both = [(one, other) for one, other in zip(rows[i], rows[k], strict=True) if one > 0]
            if any(other == 0 for _, other in both):
                return math.inf
            if order == 1:
                divergence = sum(one * (one / other).ln() for one, other in both)
            else:
                divergence = sum(one**alpha * other ** (1 - alpha) for one, other in both).ln() / (alpha - 1)
            worst = max(worst, divergence)
        return float(worst)


def sibson_information(prior, matrix, order):
    """(6) for one prior, with mutual information at order 1."""
    if order == 1:
        return information(prior, matrix)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, MAX_EMAX, MIN_EMIN
        alpha, total = Decimal(order), Decimal(0)
        for column in np.asarray(matrix).T:
            terms = [
                Decimal(float(p)) * Decimal(float(q)) ** alpha for p, q in zip(prior, column, strict=True) if q > 0
            ]
            total += sum(terms) ** (1 / alpha) if sum(terms) > 0 else 0
        return max(0.0, float(alpha / (alpha - 1) * total.ln()))


def worst_sibson_information(matrix, vertices, order):
    """Its largest value over the hull, from below: a general optimizer over the weights of the vertices."""
    vertices, matrix = np.asarray(vertices), np.asarray(matrix)
    if order == 1:
        return worst_information(matrix, vertices)
    moments = vertices @ matrix**order

    def negative(weights):
        weights = np.abs(weights) / np.abs(weights).sum()
        return -(((weights @ moments) ** (1 / order)).sum())

    found = minimize(
        negative,
        np.full(len(vertices), 1 / len(vertices)),
        bounds=[(0, 1)] * len(vertices),
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    priors = [np.abs(found.x) / np.abs(found.x).sum() @ vertices, *vertices]
    return max(sibson_information(prior, matrix, order) for prior in priors)


def defined(name, matrix, vertices, pairs):
    """The leakage as it is defined, between neighbors; for mutual and Sibson information from below."""
    return {
        "DP": lambda: logarithm(pointwise_ratio(matrix, pairs)),
        "pointwise": lambda: logarithm(pointwise_ratio(matrix, pairs, DELTA)),
        "standard": lambda: logarithm(standard_ratio(matrix, pairs, DELTA)),
        "maximal information": lambda: logarithm(information_ratio(matrix, vertices)),
        "maximal leakage": lambda: logarithm(kept_mass(matrix)),
        "Renyi": lambda: renyi_divergence(matrix, pairs, ORDER),
        "Sibson": lambda: worst_sibson_information(matrix, vertices, ORDER),
        "mutual information": lambda: worst_sibson_information(matrix, vertices, 1),
    }[name]()


# ---- the least distortion at a leakage, over all entries of the channel


class Ratios:
    """Notions that bound an entry by a mixture of its column: linear programs, solved by HiGHS.

    Comparison c asks ``Q_gj <= t (p Q)_j + delta`` of row g and weights p over the rows, or, for the standard definition of
    approximate differential privacy, that the sum of the excesses over the columns is at most delta.
    """

    def __init__(self, vertices, costs, givers, others, delta=0.0, standard=False):
        self.vertices, self.costs, self.delta, self.standard = np.atleast_2d(vertices), costs, delta, standard
        size = len(costs)
        self.givers = sparse.kron(np.eye(size)[list(givers)].reshape(-1, size), np.eye(size))
        self.others = sparse.kron(np.asarray(others).reshape(-1, size), np.eye(size))

    @classmethod
    def of_neighbors(cls, vertices, costs, pairs, delta=0.0, standard=False):
        first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
        return cls(vertices, costs, first, np.eye(len(costs))[second], delta, standard)

    @classmethod
    def of_outputs(cls, vertices, costs):
        vertices, size = np.atleast_2d(vertices), len(costs)
        return cls(vertices, costs, list(range(size)) * len(vertices), np.repeat(vertices, size, axis=0))

    def least_distortion(self, leakage):
        """In units that keep every unknown of order 1: ``Q / t <= p Q + delta / t``."""
        size, shrink = len(self.costs), math.exp(-leakage)
        count, excesses = self.givers.shape[0], self.givers.shape[0] if self.standard else 0
        spent = np.einsum("vi,ij->vij", self.vertices, self.costs).reshape(len(self.vertices), -1)
        blocks = [
            [shrink * self.givers - self.others, sparse.csr_matrix((count, 1))],
            [sparse.csr_matrix(spent), sparse.csr_matrix(-np.ones((len(spent), 1)))],
        ]
        limits = [np.full(count, 0.0 if self.standard else shrink * self.delta), np.zeros(len(spent))]
        if self.standard:
            sums = sparse.kron(np.eye(count // size), np.ones((1, size)))
            blocks = [[*blocks[0], -sparse.eye(count)], [*blocks[1], None], [None, None, sums]]
            limits.append(np.full(count // size, shrink * self.delta))
        rows = sparse.kron(np.eye(size), np.ones((1, size)))
        found = solve(
            np.concatenate([np.zeros(size * size), [1.0], np.zeros(excesses)]),
            A_ub=sparse.bmat(blocks, format="csr"),
            b_ub=np.concatenate(limits),
            A_eq=sparse.hstack([rows, sparse.csr_matrix((size, 1 + excesses))], format="csr"),
            b_eq=np.ones(size),
        )
        return found.fun


class KeptMass:
    """Maximal leakage: a linear program in the channel, the largest entry of every column, and the distortion."""

    def __init__(self, vertices, costs):
        self.vertices, self.costs = np.atleast_2d(vertices), costs

    def least_distortion(self, leakage):
        size, count = len(self.costs), len(self.vertices)
        spent = np.einsum("vi,ij->vij", self.vertices, self.costs).reshape(count, -1)
        columns = np.tile(np.eye(size), (size, 1))
        found = solve(
            np.append(np.zeros(size * size + size), 1.0),
            A_ub=np.vstack(
                [
                    np.hstack([np.eye(size * size), -columns, np.zeros((size * size, 1))]),
                    np.hstack([spent, np.zeros((count, size)), -np.ones((count, 1))]),
                    np.concatenate([np.zeros(size * size), np.ones(size), [0.0]]),
                ]
            ),
            b_ub=np.concatenate([np.zeros(size * size + count), [math.exp(leakage)]]),
            A_eq=np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, size + 1))]),
            b_eq=np.ones(size),
        )
        return found.fun


# What stops Clarabel at one setting seldom does at another.
_ATTEMPTS = [
    dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance) | more
    for tolerance in (1e-10, 1e-9, 1e-8)
    for more in ({}, {"equilibrate_enable": False}, {"static_regularization_constant": 1e-12})
]
# Sets with fewer vertices repeat their last one, so that programs are compiled for one number of vertices.
_VERTICES = 4


class Cones:
    """Renyi divergence between neighbors (``pairs``), or Sibson information without them; their limits at order 1.

    Sibson information is ``min_r log( sum_ij P_i Q_ij^a r_j^(1-a) ) / (a - 1)``, over distributions r of the output, and mutual
    information ``min_r sum_i P_i KL(Q_i || r)``; for a fixed r both are worst at a vertex. Moments are divided by what they may
    be, so that at every leakage the bound is 1.
    """

    def __init__(self, vertices, costs, order, pairs=None):
        vertices = np.atleast_2d(vertices)
        assert len(vertices) <= _VERTICES
        self.vertices = np.vstack([vertices, np.tile(vertices[-1], (_VERTICES - len(vertices), 1))])
        self.order, self.parts = order, _compiled(costs.tobytes(), len(costs), order, pairs)

    def least_distortion(self, leakage):
        problem, priors, scale, bound = self.parts
        priors.value = self.vertices
        scale.value = math.exp(-leakage * (self.order - 1) / self.order)
        bound.value = leakage if self.order == 1 else 1.0
        for options in _ATTEMPTS:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # such a solution is not taken
                with suppress(cvxpy.SolverError):
                    # Without a warm start: a solver that is only updated keeps the scaling of the program before.
                    problem.solve(solver="CLARABEL", warm_start=False, **options)
                    if problem.status == "optimal":
                        return float(problem.value)
        raise AssertionError(problem.status)


@cache
def _compiled(costs, size, order, pairs):
    costs = np.frombuffer(costs).reshape(size, size)
    matrix, worst = cvxpy.Variable((size, size), nonneg=True), cvxpy.Variable()
    priors = cvxpy.Parameter((_VERTICES, size), nonneg=True)
    scale, bound = cvxpy.Parameter(nonneg=True), cvxpy.Parameter(nonneg=True)
    limits = [
        cvxpy.sum(matrix, axis=1) == 1,
        priors @ cvxpy.sum(cvxpy.multiply(costs, matrix), axis=1) <= worst,
    ]
    if pairs is None:
        output = cvxpy.Variable((1, size), nonneg=True)
        limits.append(cvxpy.sum(output) == 1)
        given, taken = matrix, np.ones((size, 1)) @ output
    else:
        first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
        given, taken = matrix[first], matrix[second]
    if order == 1:
        losses = cvxpy.sum(cvxpy.rel_entr(given, taken), axis=1)
    else:
        moments = cvxpy.Variable(given.shape)
        flat = [cvxpy.vec(part, order="C") for part in (moments, taken, scale * given)]
        limits.append(cvxpy.PowCone3D(*flat, 1 / order))
        losses = cvxpy.sum(moments, axis=1)
    limits.append((priors @ losses if pairs is None else losses) <= bound)
    return cvxpy.Problem(cvxpy.Minimize(worst), limits), priors, scale, bound


def program(name, vertices, costs, pairs):
    """The program of a notion over the whole channel."""
    return {
        "DP": lambda: Ratios.of_neighbors(vertices, costs, pairs),
        "pointwise": lambda: Ratios.of_neighbors(vertices, costs, pairs, DELTA),
        "standard": lambda: Ratios.of_neighbors(vertices, costs, pairs, DELTA, standard=True),
        "maximal information": lambda: Ratios.of_outputs(vertices, costs),
        "maximal leakage": lambda: KeptMass(vertices, costs),
        "Renyi": lambda: Cones(vertices, costs, ORDER, pairs),
        "Sibson": lambda: Cones(vertices, costs, ORDER),
        "mutual information": lambda: Cones(vertices, costs, 1),
    }[name]()


def least_leakage(program, distortion, most=40.0):
    """Where the least distortion falls to ``distortion``, which has to be below the one without leakage."""
    return brentq(lambda leakage: program.least_distortion(leakage) - distortion, 1e-9, most, xtol=1e-10)


def leakage_error(program, distortion, leakage, step=1e-3):
    """By how much a leakage differs from the least one at a distortion, to first order; negative if it is below it.

    What the least distortion at this leakage misses the given one by, over the local slope: a secant of 0.001 nats.
    """
    here, further = program.least_distortion(leakage), program.least_distortion(leakage + step)
    return (distortion - here) / ((here - further) / step)
