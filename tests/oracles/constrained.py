"""The least distortion of a channel at a leakage under constraints: dense linear programs over all its entries."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog


def least_distortion(vertices, costs, leakage, kind, floors, allowed, kept, delta=0.0, pairs=None):
    """Infinite if there is no such channel.

    Kinds are "ratio" (pairs of rows, all by default, pointwise delta), "standard" (delta for all columns), "lift" (the output's
    own probability under every vertex) and "mass". Unknowns: the entries, what helps to say the leakage, and the distortion.
    """
    size, ratio = len(costs), math.exp(leakage)
    cells = size * size
    pairs = [(i, k) for i in range(size) for k in range(size) if i != k] if pairs is None else pairs
    helpers = {"standard": len(pairs) * size, "mass": size}.get(kind, 0)
    width = cells + helpers + 1
    below, limits = [], []

    def add(entries, limit):
        row = np.zeros(width)
        for place, entry in entries:
            row[place] += entry
        below.append(row)
        limits.append(limit)

    for j in range(size):
        if kind == "ratio":
            for i, k in pairs:
                add([(i * size + j, 1), (k * size + j, -ratio)], delta)
        if kind == "lift":
            for prior in vertices:
                for i in range(size):
                    add([(i * size + j, 1), *((k * size + j, -ratio * prior[k]) for k in range(size))], 0)
        if kind == "mass":
            for i in range(size):
                add([(i * size + j, 1), (cells + j, -1)], 0)
    if kind == "mass":
        add([(cells + j, 1) for j in range(size)], ratio)
    if kind == "standard":
        for c, (i, k) in enumerate(pairs):
            for j in range(size):
                add([(i * size + j, 1), (k * size + j, -ratio), (cells + c * size + j, -1)], 0)
            add([(cells + c * size + j, 1) for j in range(size)], delta)
    for prior in vertices:
        spent = (prior[:, np.newaxis] * costs).ravel()
        add([*enumerate(spent), (width - 1, -1)], 0)
    equal, right = [], []
    for i in range(size):
        row = np.zeros(width)
        row[i * size : (i + 1) * size] = 1
        equal.append(row)
        right.append(1.0)
    for prior in kept:
        for j in range(size):
            row = np.zeros(width)
            row[j:cells:size] = prior
            equal.append(row)
            right.append(prior[j])
    bounds = [(floors[i] if i == j else 0.0, None if allowed[i, j] else 0.0) for i in range(size) for j in range(size)]
    found = linprog(
        np.append(np.zeros(width - 1), 1.0),
        A_ub=np.array(below),
        b_ub=limits,
        A_eq=np.array(equal),
        b_eq=right,
        bounds=[*bounds, *[(0, None)] * (helpers + 1)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun if found.status == 0 else math.inf


def invariant_information(prior, costs, distortion):
    """Least mutual information of a channel that keeps one prior, at an expected cost: balancing rows and columns, by bisection.

    The joint distribution is ``exp(a_i + b_j - s d_ij)``, with both sums those of the prior.
    """
    low, high = 0.0, 200.0
    for _ in range(100):
        slope = (low + high) / 2
        joint = np.outer(prior, prior) * np.exp(-slope * costs)
        for _ in range(20_000):
            before = joint.copy()
            joint *= (prior / joint.sum(axis=1))[:, np.newaxis]
            joint *= prior / joint.sum(axis=0)
            if np.abs(joint - before).max() < 1e-15:
                break
        low, high = (slope, high) if (joint * costs).sum() > distortion else (low, slope)
    return float((joint * np.log(joint / np.outer(prior, prior))).sum())
