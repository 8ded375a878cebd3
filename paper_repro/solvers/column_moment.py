r"""Columns of a channel that no optimum publishes: where the tangent plane of a bound on Renyi divergence is best.

With F and its weights lambda as in :mod:`paper_repro.solvers.channel_moment`, ``f(x) = sum lambda_ik x_i E(log x_i - log x_k -
L)`` is what a column x adds to ``sum lambda_ik F_ik``: convex and homogeneous. A letter j is not worth publishing, at prices r of
the rows, if and only if ``f(x) + (p_j - r) . x >= 0`` for every x >= 0, where p_j is what publishing it costs. That needs one x
alone: if ``g = grad f + p_j - r >= 0`` at some positive x, then f lies above its tangent plane there, for all x. For any tau > 0

    minimize    f(x) + (p_j - r + tau) . x  -  sum_i log x_i                                              (1)

has such an x, with ``g_i + tau_i = 1 / x_i > 0``, whenever letter j is not worth publishing, and none otherwise. One Newton's
method in relative changes for all columns: an interior point over the whole channel loses these directions, because columns that
vanish have less and less weight in its equations.
"""

from __future__ import annotations

import numpy as np

from paper_repro.types import FloatArray, IntArray

__all__ = ["moment_gradient", "moment_terms", "priced_columns"]

# Exponents beyond are as good as infinite.
_MOST = 300.0
_STEPS, _HALVINGS = 100, 16
# Logarithms beyond which a column is not to be had at these prices.
_FAR = 100.0


def moment_terms(order: float, logs: FloatArray, pairs: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """``Q_ij exp((alpha - 1) x)`` and ``Q_ij E(x)``, with ``x = log Q_ij - log Q_kj - L``; each of shape (pairs, columns).

    >>> moment_terms(2.0, np.log([[0.5], [0.25]]), np.array([[0, 1]]), 0.0)
    (array([[1.]]), array([[0.5]]))
    """
    given = logs[pairs[:, 0]]
    entries, gains = np.exp(given), given - logs[pairs[:, 1]] - level
    tilts = (order - 1) * gains
    moments = np.exp(np.minimum(given + tilts, _MOST))
    if order == 1:
        return moments, entries * gains
    slight = np.abs(tilts) < 1
    return moments, np.where(slight, entries * np.expm1(np.where(slight, tilts, 0.0)), moments - entries) / (order - 1)


def moment_gradient(order: float, pairs: IntArray, weights: FloatArray, logs: FloatArray, level: float) -> FloatArray:
    """Of ``sum lambda F`` in relative changes of the entries, shape (M, columns): the entries times ``grad f``.

    >>> moment_gradient(2.0, np.array([[0, 1]]), np.ones(1), np.log([[0.5], [0.25]]), 0.0)
    array([[ 1.5],
           [-1. ]])
    """
    moments, gains = moment_terms(order, logs, pairs, level)
    total = np.zeros_like(logs)
    np.add.at(total, pairs[:, 0], weights[:, np.newaxis] * (moments + gains))
    np.subtract.at(total, pairs[:, 1], weights[:, np.newaxis] * moments)
    return total


def priced_columns(
    order: float, pairs: IntArray, weights: FloatArray, costs: FloatArray, level: float
) -> FloatArray | None:
    """Logarithms of the solutions of (1), up to a factor each; None if a step fails, and whatever was reached if one has none.

    Parameters
    ----------
    order : float >= 1
    pairs, weights : ndarrays, shape (pairs, 2) and (pairs,)
    costs : ndarray, shape (M, columns)
        ``p_j - r + tau``.
    level : float
        L, in nats.

    >>> both = np.array([[0, 1], [1, 0]])
    >>> logs = priced_columns(2.0, both, np.ones(2), np.array([[-0.5], [1.0]]), 0.0)
    >>> gradient = moment_gradient(2.0, both, np.ones(2), logs, 0.0) * np.exp(-logs)
    >>> bool((gradient + [[-0.5], [1.0]] >= 0).all())
    True
    """
    size, count = costs.shape
    logs = np.zeros((size, count))
    left, right, columns = pairs[:, 0], pairs[:, 1], np.arange(size)

    def value(logs: FloatArray, costs: FloatArray) -> FloatArray:
        gains = moment_terms(order, logs, pairs, level)[1]
        return np.asarray((weights @ gains) + (costs * np.exp(logs)).sum(axis=0) - logs.sum(axis=0))

    moving = np.arange(count)
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            here, price = logs[:, moving], costs[:, moving]
            moments, _ = moment_terms(order, here, pairs, level)
            gradient = moment_gradient(order, pairs, weights, here, level) + price * np.exp(here) - 1
            curvature = (order * weights[:, np.newaxis] * moments).T
            system, moved = np.zeros((len(moving), size, size)), np.arange(len(moving))[:, np.newaxis]
            system[:, columns, columns] = 1.0
            for row, column, sign in ((left, left, 1), (right, right, 1), (left, right, -1), (right, left, -1)):
                np.add.at(system, (moved, row, column), sign * curvature)
            scale = system[:, columns, columns] ** -0.5
            try:
                solved = np.linalg.solve(
                    system * scale[:, :, np.newaxis] * scale[:, np.newaxis], (scale * gradient.T)[:, :, np.newaxis]
                )
            except np.linalg.LinAlgError:
                return None
            step = -(scale * solved[:, :, 0]).T
            decrement = -(gradient * step).sum(axis=0)
            done = (decrement < 1e-3) & (gradient > -0.5).all(axis=0) | (here.max(axis=0) > _FAR)
            length = np.minimum(1.0, 0.9 / np.maximum(-step.min(axis=0), 1e-300))
            before = value(here, price)
            for _ in range(_HALVINGS):
                tried = here + np.log1p(length * step)
                worse = ~done & ~(value(tried, price) <= before - 0.1 * length * decrement)
                if not worse.any():
                    break
                length = np.where(worse, 0.5 * length, length)
            stuck = done | worse | ~np.isfinite(tried).all(axis=0)
            logs[:, moving] = np.where(stuck, here, tried)
            moving = moving[~stuck]
            if not len(moving):
                break
    return logs
