"""Independent computations that the tests compare with: none of them uses code of the package."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, minimize

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def solve(costs, **rows):
    """Optimum of a linear program; HiGHS now and then gives up under tight tolerances, and then does it without presolve."""
    for options in (TIGHT, TIGHT | {"presolve": False}, {}):
        found = linprog(costs, method="highs", options=options, **rows)
        if found.status == 0:
            return found
    raise AssertionError(found.message)


def least_distortion(vertices, leakage, suppressed=()):
    """Least worst-case Hamming distortion under differential privacy: a program over all entries of the matrix.

    Without the letters that are ``suppressed``, whose columns are 0.

    Rows ``u_j <= Q_ij <= t u_j`` with one u per column. In ``x_ij = t Q_ij`` off the diagonal, ``y_i = t (1 - Q_ii)`` and
    ``z_j = t u_j`` every optimum is of order 1, so that small distortions come out with small relative errors.
    """
    count, size = vertices.shape
    shrink = math.exp(-leakage)
    entry = np.arange(size * size).reshape(size, size)  # x_ij; y_i stands at entry[i, i]
    column, objective = size * size + np.arange(size), size * size + size
    below, above, limits = [], [], []
    for i in range(size):
        for j in range(size):
            lower, upper = np.zeros((2, objective + 1))
            if i == j:
                lower[[column[j], entry[i, i]]] = shrink, shrink  # z / t <= 1 - y / t
                upper[[column[j], entry[i, i]]] = -1.0, -shrink  # 1 - y / t <= z
            else:
                lower[[column[j], entry[i, j]]] = 1.0, -1.0  # z <= x
                upper[[column[j], entry[i, j]]] = -1.0, shrink  # x / t <= z
            below.append(lower)
            above.append(upper)
            limits.append(float(i == j))
    distortions = np.zeros((count, objective + 1))
    distortions[:, np.diagonal(entry)] = vertices
    distortions[:, objective] = -1.0
    rows = np.zeros((size, objective + 1))
    for i in range(size):
        rows[i, entry[i]] = 1.0
        rows[i, entry[i, i]] = -1.0
    found = solve(
        np.append(np.zeros(objective), 1.0),
        A_ub=sparse.csr_matrix(np.vstack([below, above, distortions])),
        b_ub=np.concatenate([limits, -np.array(limits), np.zeros(count)]),
        A_eq=sparse.csr_matrix(rows),
        b_eq=np.zeros(size),
        bounds=[(0, 0 if place - size * size in suppressed else None) for place in range(objective + 1)],
    )
    return shrink * found.fun


def leakage_error(vertices, distortion, leakage):
    """By how much a leakage differs from the least one at a distortion, to first order.

    The full program gives the least distortion at this leakage. What it misses the given distortion by is divided by the local
    slope of distortion against leakage, a secant over 0.001 nats (the curve bends on the scale of 1 nat).
    """
    step = 1e-3
    here, further = least_distortion(vertices, leakage), least_distortion(vertices, leakage + step)
    return abs(here - distortion) / ((here - further) / step)


def least_cost_without_leakage(vertices, costs):
    """Least worst-case distortion of a channel whose rows are all alike."""
    count, size = vertices.shape
    found = solve(
        np.append(np.zeros(size), 1.0),
        A_ub=np.column_stack([vertices @ costs, -np.ones(count)]),
        b_ub=np.zeros(count),
        A_eq=np.append(np.ones(size), 0.0)[np.newaxis],
        b_eq=[1.0],
    )
    return found.fun


def least_distortion_without_leakage(vertices):
    """The same for the probability of change: the best constant answer."""
    return least_cost_without_leakage(vertices, 1 - np.eye(vertices.shape[1]))


def least_ratio(count, low=1.0, **rows):
    """Least t for which the rows leave distortions with ``(n - 1) - sum_{i>=2} D_i <= t D_1``, by bisection."""
    high = 1e4
    while high - low > 1e-10 * high:
        ratio = math.sqrt(low * high)
        found = solve(np.append(-ratio, -np.ones(count - 1)), **rows)
        low, high = (low, ratio) if count - 1 + found.fun <= 0 else (ratio, high)
    return high


def highest_floor(vertices):
    """Largest minimal probability over the hull, by linear programming."""
    count, size = vertices.shape
    found = solve(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-vertices.T, np.ones(size)]),
        b_ub=np.zeros(size),
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
    )
    return -found.fun


def vertices_of_intervals(lower, upper):
    """Vertices of ``lower <= P <= upper, sum P = 1`` by trying all: exact, for Fractions."""
    found = set()
    for letter in range(len(lower)):
        others = [{low, high} for k, (low, high) in enumerate(zip(lower, upper, strict=True)) if k != letter]
        for bounds in itertools.product(*others):
            rest = 1 - sum(bounds)
            if lower[letter] <= rest <= upper[letter]:
                found.add((*bounds[:letter], rest, *bounds[letter:]))
    return sorted(found)


def leakage_of_intervals(lower, upper, distortion):
    """Least leakage over ``lower <= P <= upper`` without its vertices: each ``P . b >= (1 - D) tau`` by duality.

    Unknowns b, tau, nu, lambda, mu; minimize ``sum b - tau + 1``, the privacy ratio.
    """
    size = len(lower)
    one, zero = np.eye(size), np.zeros((size, 1))
    budget = np.concatenate([np.zeros(size), [1 - distortion, -1], -np.asarray(lower), upper])
    below = [
        budget[np.newaxis],
        np.hstack([-one, zero, np.ones((size, 1)), one, -one]),  # nu + lambda - mu <= b
        np.hstack([one, zero - 1, zero, 0 * one, 0 * one]),  # b <= tau - 1
        np.concatenate([-np.ones(size), [1.0], np.zeros(1 + 2 * size)])[np.newaxis],  # sum b >= tau
    ]
    limits = np.concatenate([np.zeros(1 + size), -np.ones(size), [0.0]])
    bounds = [(0, None)] * size + [(1, None), (None, None)] + [(0, None)] * (2 * size)
    costs = np.concatenate([np.ones(size), [-1.0], np.zeros(1 + 2 * size)])
    return math.log(solve(costs, A_ub=np.vstack(below), b_ub=limits, bounds=bounds).fun + 1)


def least_distortion_of_prior(prior, leakage):
    """Minimax form for one prior: ``1 - max_n t / (t + n - 1) top_n(P)``, as written."""
    ratio, falling = math.exp(leakage), sorted(prior, reverse=True)
    return 1 - max(ratio / (ratio + n - 1) * sum(falling[:n]) for n in range(1, len(falling) + 1))


def leakage_of_prior(prior, distortion):
    """Theorem 13 of Zhong and Bu 2022: for one prior, the best of randomized response on the n likeliest letters, any n."""
    falling = sorted(prior, reverse=True)
    if distortion >= 1 - falling[0]:
        return 0.0
    ratios = []
    for count in range(2, len(falling) + 1):
        left = distortion - sum(falling[count:])
        if left > 0:
            ratios.append(max(1.0, (count - 1) * (1 - distortion) / left))
    return math.log(min(ratios)) if ratios else math.inf


def distance_to_hull(prior, vertices):
    """Least, over the hull, of the largest difference to a distribution in any letter."""
    count, size = vertices.shape
    slack = np.ones((size, 1))
    found = solve(
        np.append(np.zeros(count), 1.0),
        A_ub=np.block([[vertices.T, -slack], [-vertices.T, -slack]]),
        b_ub=np.concatenate([prior, -np.asarray(prior)]),
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
    )
    return found.fun


def common_ordering(vertices):
    """Whether one ordering of the letters, ties included, sorts every vertex: no two letters may disagree."""
    differences = vertices[:, :, np.newaxis] - vertices[:, np.newaxis, :]
    return not ((differences > 0).any(axis=0) & (differences < 0).any(axis=0)).any()


def largest_ratio(matrix):
    """Largest ratio of two entries of a column, in exact rational arithmetic on the stored floats; columns of zeros count not."""
    ratio = Fraction(1)
    for column in np.asarray(matrix).T:
        entries = [Fraction(float(entry)) for entry in column]
        if max(entries) > 0:
            if min(entries) == 0:
                return math.inf
            ratio = max(ratio, max(entries) / min(entries))
    return ratio


def exact(matrix):
    return [[entry if isinstance(entry, Fraction) else Fraction(float(entry)) for entry in row] for row in matrix]


def pointwise_ratio(matrix, pairs, delta=0.0):
    """Definition 19(1) and (2): the largest of 1 and ``(Q_ij - delta) / Q_kj``, a rational or infinity."""
    rows, allowed, ratio = exact(matrix), Fraction(delta), Fraction(1)
    for i, k in pairs:
        for larger, smaller in zip(rows[i], rows[k], strict=True):
            if larger > allowed:
                if smaller == 0:
                    return math.inf
                ratio = max(ratio, (larger - allowed) / smaller)
    return ratio


def exponential_covers(leakage, ratio):
    """Whether ``exp(leakage) >= ratio``, for the leakage that the float is, judged with 60 digits."""
    if math.isinf(leakage) or math.isinf(ratio):
        return leakage >= ratio
    with localcontext() as context:
        context.prec = 60
        return Decimal(leakage).exp() >= Decimal(ratio.numerator) / Decimal(ratio.denominator)


def information(prior, matrix):
    """Mutual information of one prior and a channel, from its definition, in nats."""
    joint = np.asarray(prior)[:, np.newaxis] * np.asarray(matrix)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    here = joint > 1e-300  # below, the products underflow, and such terms are 0 to any precision
    return float((joint[here] * np.log(joint[here] / independent[here])).sum())


def worst_information(matrix, vertices):
    """Largest mutual information over the hull, from below: a general optimizer over the weights of the vertices."""
    found = minimize(
        lambda weights: -information(np.abs(weights) / np.abs(weights).sum() @ vertices, matrix),
        np.full(len(vertices), 1 / len(vertices)),
        bounds=[(0, 1)] * len(vertices),
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return max(-found.fun, *(information(prior, matrix) for prior in vertices))


def erokhin(prior, level):
    """The rate-distortion function under Hamming distortion (Erokhin 1958), a point ``(D, R)`` of it, R in nats.

    Letters less likely than the water level are never published; every other one loses the level's mass to its rivals.
    """
    prior = np.asarray(prior)
    published = prior > level
    others = published.sum() - 1
    distortion = prior[~published].sum() + others * level
    entropy = -(prior[published] * np.log(prior[published])).sum()
    return distortion, entropy + (1 - distortion) * math.log(1 - distortion) + others * level * math.log(level)


def blahut_arimoto(prior, slope, steps=20_000):
    """The same by alternating minimization at a slope of the curve: a point ``(D, R)``, R in nats."""
    size = len(prior)
    attraction = np.where(np.eye(size, dtype=bool), 1.0, math.exp(-slope))
    output = np.full(size, 1 / size)
    for _ in range(steps):
        matrix = attraction * output
        matrix /= matrix.sum(axis=1, keepdims=True)
        output = prior @ matrix
    return float(prior @ (1 - np.diagonal(matrix))), information(prior, matrix)
