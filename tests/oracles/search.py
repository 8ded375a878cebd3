"""Better channels than a given one, looked for by a general optimizer over all entries: no derivation, no certificate.

For losses that are smooth: mutual and Sibson information (in the worst case over the hull) and Renyi divergence between rows.
What is found is a channel, to be judged by its own figures: if it beats a claimed optimum, the claim is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

_LEAST = -800.0  # logarithms below this are 0


class Smooth:
    """Losses as functions of the logarithms of a channel's entries, and of an output distribution where there is one.

    ``pairs`` None: order-alpha information of each vertex with a common output distribution, whose least worst value is that of
    the hull. Otherwise the divergences of the pairs of rows.
    """

    def __init__(
        self, order: float, vertices: np.ndarray, distances: np.ndarray, pairs: Sequence[tuple[int, int]] | None
    ) -> None:
        self.order, self.vertices, self.distances = order, np.asarray(vertices, float), np.asarray(distances, float)
        self.size = len(distances)
        self.pairs = None if pairs is None else np.array(pairs, dtype=int).reshape(-1, 2)
        self.outputs = self.size if pairs is None else 0

    def _parts(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = unknowns[: self.size**2].reshape(self.size, self.size)
        logs = logits - logsumexp(logits, axis=1, keepdims=True)
        free = unknowns[self.size**2 : self.size**2 + self.outputs]
        return logs, free - logsumexp(free) if self.outputs else free

    def losses(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values, shape (K,), and gradients, shape (K, unknowns)."""
        logs, output = self._parts(unknowns)
        alpha = self.order
        if self.pairs is None:
            with np.errstate(divide="ignore"):
                weights = np.log(self.vertices)[:, :, np.newaxis]
            given, taken = logs[np.newaxis], output[np.newaxis, np.newaxis]
        else:
            weights = 0.0
            given, taken = logs[self.pairs[:, 0]][:, np.newaxis], logs[self.pairs[:, 1]][:, np.newaxis]
        if alpha == 1:
            share = np.exp(weights + given)
            values = (share * (given - taken)).sum(axis=(1, 2))
            by_given, by_taken = share * (given - taken + 1), -share
        else:
            terms = weights + alpha * given + (1 - alpha) * taken
            total = logsumexp(terms, axis=(1, 2), keepdims=True)
            values = total.ravel() / (alpha - 1)
            share = np.exp(terms - total)
            by_given, by_taken = share * (alpha / (alpha - 1)), -share
        gradients = np.zeros((len(values), len(unknowns)))
        for k in range(len(values)):
            slopes = np.zeros((self.size, self.size))
            if self.pairs is None:
                slopes += by_given[k]
                free = by_taken[k].sum(axis=0)
                gradients[k, self.size**2 : self.size**2 + self.size] = free - np.exp(output) * free.sum()
            else:
                slopes[self.pairs[k, 0]] += by_given[k, 0]
                slopes[self.pairs[k, 1]] += by_taken[k, 0]
            gradients[k, : self.size**2] = (slopes - np.exp(logs) * slopes.sum(axis=1, keepdims=True)).ravel()
        return values, gradients

    def log_distortions(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logarithms of the distortions of the vertices and their gradients."""
        logs, _ = self._parts(unknowns)
        with np.errstate(divide="ignore"):
            terms = np.log(self.vertices[:, :, np.newaxis] * self.distances) + logs
        totals = logsumexp(terms, axis=(1, 2), keepdims=True)
        share = np.exp(terms - totals)
        gradients = np.zeros((len(totals), len(unknowns)))
        for v in range(len(totals)):
            slopes = share[v] - np.exp(logs) * share[v].sum(axis=1, keepdims=True)
            gradients[v, : self.size**2] = slopes.ravel()
        return totals.ravel(), gradients

    def improved(
        self, start: np.ndarray, *, distortion: float = np.inf, leakage: float = np.inf, steps: int = 150
    ) -> np.ndarray:
        """A channel of less leakage at this distortion, or less distortion at this leakage, if that is found."""
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(start), _LEAST)
        at_distortion = np.isfinite(distortion)
        first = np.concatenate([logs.ravel(), np.log(np.maximum(start.mean(axis=0), 1e-300))[: self.outputs], [0.0]])
        limit, bound = (self.log_distortions, np.log(distortion)) if at_distortion else (self.losses, leakage)
        goal = self.losses if at_distortion else self.log_distortions
        scale = 1.0 / max(abs(bound), 1e-9) if not at_distortion else 1.0
        first[-1] = goal(first)[0].max()
        unit = 1.0 / max(abs(first[-1]), 1e-9) if at_distortion else 1.0

        def below(unknowns: np.ndarray) -> np.ndarray:
            return np.append(unit * (unknowns[-1] - goal(unknowns)[0]), scale * (bound - limit(unknowns)[0]))

        def slopes(unknowns: np.ndarray) -> np.ndarray:
            aim = -goal(unknowns)[1]
            aim[:, -1] = 1.0
            return np.vstack([unit * aim, -scale * limit(unknowns)[1]])

        direction = np.zeros(len(first))
        direction[-1] = unit
        found = minimize(
            lambda unknowns: unit * unknowns[-1],
            first,
            jac=lambda unknowns: direction,
            bounds=[(_LEAST, 50.0)] * (len(first) - 1) + [(None, None)],
            constraints={"type": "ineq", "fun": below, "jac": slopes},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": steps},
        )
        return softmax(found.x[: self.size**2].reshape(self.size, self.size), axis=1)


def moved(matrix: np.ndarray, factor: float) -> np.ndarray:
    """The same channel with everything that is changed multiplied by a factor."""
    off = np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix * factor)
    off /= np.maximum(off.sum(axis=1), 1.0)[:, np.newaxis]
    np.fill_diagonal(off, np.maximum(0.0, 1 - off.sum(axis=1)))
    return off
