r"""The program of :mod:`paper_repro.solvers.column_ratio` by interior points: graphs with cycles and many vertices.

In columns q^j of the channel, with ``s = q_y' - t^-w q_y`` for each arc y -> y', edges both ways, ``t = exp(leakage)``:

    minimize  z    subject to   z - sum_j sum_y P_v(y) d_yj q^j_y = r_v >= 0,   sum_j q^j = 1,   s = A q^j >= 0 for every j.

Its dual has weights w of the vertices, potentials mu and a flow f^j >= 0 on the arcs of each column.

**Lower bound.** Whatever the flows are, and for any prior P of the set, no channel of at most this leakage distorts by less than

    sum_y  min_j ( P_y d_yj - (A^T f^j)_y ),                                                                         (2)

since ``sum_jy P_y d_yj q^j_y >= sum_jy (P_y d_yj - (A^T f^j)_y) q^j_y`` where ``A q^j >= 0``, and rows sum to 1.

**A step** of Newton's method for ``s f = bar`` needs ``H_j = A^T diag(f/s) A`` of each column, and the sum of their inverses:
M matrices of M rows, however many arcs there are. Towards the optimum arcs become tight, ``s << q``, and what they join can only
be scaled together: H_j is singular but for terms that are as small as the rounding of the others. Therefore unknowns are changed:
in every column a spanning forest of the tight arcs is taken, and the unknowns are the slacks of its arcs and the entries of its
roots. The large terms then stand on the diagonal, and what is left over for the roots is exact. Corrections are computed by
themselves and added, never recomputed from sums that they hardly change; so all digits of the optimum are found.

**At a distortion budget** z is given and the leakage is unknown in its place: it enters A, whose derivative is one more column.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = ["Flows", "InteriorColumns"]

# Slack, relative to the entry, from which on an arc counts as tight.
_TIGHT = 1e-3
# Steps, from a point nearby, corrections of a step, and what part of the way to the boundary is gone.
_STEPS, _FEW, _CORRECTIONS, _SHARE = 80, 20, 3, 0.995
# Gap, relative to the distortion, at which a program is solved, counts as solved, and from where another leakage is soon reached.
_CLOSED, _ACCEPTED, _NEAR = 1e-12, 1e-10, 1e-7
# Gap, and distance from a distortion budget, from which on the leakage is an unknown of the step, and at which that ends.
_ROUGH, _AIMED = 0.05, 1e-6
# Leakages that are tried then, how far inside the budget, and how far below in nats the bound is taken.
_AIMS, _INSIDE, _BESIDE = 5, 4e-12, 4e-10
# From how many steps on without a smaller gap there will be none.
_IDLE = 6


@dataclass
class Flows:
    """A point on the way.

    Attributes
    ----------
    columns : ndarray, shape (M, M)
        Of the channel, each in a row.
    slacks, flows : ndarrays, shape (M, 2 E)
    weights, spare : ndarrays, shape (V,)
        Of the vertices, and by how much their distortions are less than ``value``.
    potentials : ndarray, shape (M,)
    value : float
    leakage : float
        In nats.
    """

    columns: FloatArray
    slacks: FloatArray
    flows: FloatArray
    weights: FloatArray
    spare: FloatArray
    potentials: FloatArray
    value: float
    leakage: float


class InteriorColumns:
    """The program for one source set.

    Parameters
    ----------
    vertices : ndarray, shape (V, M)
    costs : ndarray, shape (M, M)
    arcs : ndarray of int, shape (2 E, 2)
        Edges, both ways.
    lengths : ndarray, shape (2 E,)
        Of the arcs.

    >>> arcs = np.array([[0, 1], [1, 2], [1, 0], [2, 1]])
    >>> program = InteriorColumns(np.full((1, 3), 1 / 3), 1 - np.eye(3), arcs, np.ones(4))
    >>> round(program.at_leakage(math.log(2)).value, 9)
    0.444444444
    """

    def __init__(self, vertices: FloatArray, costs: FloatArray, arcs: IntArray, lengths: FloatArray) -> None:
        self._vertices, self._costs, self._lengths = vertices, costs, lengths
        self._give, self._take = arcs.T
        self._size, self._count, self._arcs = len(costs), len(vertices), len(arcs)
        # Distortion of each entry under each vertex: column, letter, vertex.
        self._spent = np.einsum("vy,yj->jyv", vertices, costs)
        self._number = np.full((self._size, self._size), -1)
        self._number[self._give, self._take] = np.arange(self._arcs)

    def at_leakage(self, leakage: float) -> Flows | None:
        """The least distortion, ``value``, at a leakage in nats; None if its gap does not close."""
        found, _, missed = self._run(self._start(leakage), None)
        return found if missed <= _ACCEPTED else None

    def at_distortion(self, distortion: float, leakage: float) -> tuple[Flows, Flows] | None:
        """The least leakage at a distortion, and what bounds it from below: the program at hardly less leakage.

        ``leakage`` is where to begin. None if the gap does not close.
        """
        found, near, _ = self._run(self._start(leakage), distortion)
        leakage = found.leakage
        for _ in range(_AIMS):
            found, near = self._beside(near, leakage)
            change = math.log(self._used(found) / (distortion * (1 - _INSIDE))) * self._used(found) / self._slope(found)
            if self._used(found) <= distortion and change > -_BESIDE / 4:
                break
            leakage += change + 1e-12
            if not leakage > _BESIDE:
                return None
        else:
            return None
        below = self._beside(near, leakage - _BESIDE)[0]
        prior = below.weights / below.weights.sum() @ self._vertices
        closed = self.least_distortion(prior, below.flows, below.leakage) > distortion
        return (found, below) if closed else None

    def _beside(self, near: Flows, leakage: float) -> tuple[Flows, Flows]:
        """The best point at a leakage from one nearby, or if that does not lead there from the beginning."""
        near.leakage = leakage
        found, near, missed = self._run(near, None, _FEW)
        if missed > _CLOSED:
            other, beside, least = self._run(self._start(leakage), None)
            if least < missed:
                found, near = other, beside
        return found, near

    def _used(self, point: Flows) -> float:
        return float(np.einsum("jyv,jy->v", self._spent, point.columns).max())

    def _slope(self, point: Flows) -> float:
        """How fast the least distortion falls with the leakage."""
        ends = np.exp(-point.leakage * self._lengths) * self._lengths
        return float((point.flows * ends * point.columns[:, self._give]).sum())

    def least_distortion(self, prior: FloatArray, flows: FloatArray, leakage: float) -> float:
        """Bound (2) for a prior, shape (M,), and flows, shape (M, 2 E), at a leakage in nats; never below 0."""
        self._fade = np.exp(-leakage * self._lengths)
        surplus = prior * self._costs.T - self._inflow(np.clip(flows, 0, None))
        return max(0.0, math.fsum(surplus.min(axis=0)))

    def _start(self, leakage: float) -> Flows:
        size = self._size
        self._at(leakage)
        columns = np.full((size, size), 1 / size)
        slacks = self._slacks(columns)
        used = np.einsum("jyv,jy->v", self._spent, columns)
        value = 1.1 * float(used.max())
        flows = np.full(slacks.shape, 0.1 / size / float(slacks.mean()) / self._arcs)
        weights = np.full(self._count, 1 / self._count)
        return Flows(columns, slacks, flows, weights, value - used, np.zeros(size), value, leakage)

    # The matrix A of the arcs at a leakage.

    def _at(self, leakage: float) -> None:
        from scipy.sparse import csr_matrix

        self._fade = fade = np.exp(-leakage * self._lengths)
        size, give, take = self._size, self._give, self._take
        ones, rows = np.ones(self._arcs), np.arange(self._arcs)
        self._matrix = csr_matrix(
            (np.append(ones, -fade), (np.append(take, give), np.append(rows, rows))), shape=(size, self._arcs)
        )
        places = np.concatenate([take * size + take, give * size + give, take * size + give, give * size + take])
        self._squares = csr_matrix(
            (np.concatenate([ones, fade**2, -fade, -fade]), (places, np.tile(rows, 4))), shape=(size**2, self._arcs)
        )

    def _slacks(self, columns: FloatArray) -> FloatArray:
        return columns[:, self._take] - self._fade * columns[:, self._give]

    def _inflow(self, flows: FloatArray) -> FloatArray:
        """``A^T f`` of every column."""
        inflow = np.zeros((len(flows), self._size))
        for j, flow in enumerate(flows):
            inflow[j] = np.bincount(self._take, flow, self._size) - np.bincount(
                self._give, self._fade * flow, self._size
            )
        return inflow

    def _run(self, point: Flows, budget: float | None, most: int = _STEPS) -> tuple[Flows, Flows, float]:
        """The best point found, at the point's leakage or at a budget, one from where others are soon reached, and the gap."""
        best, near, least, idle = point, deepcopy(point), math.inf, 0
        closed, apart = (_CLOSED, _NEAR) if budget is None else (_AIMED, 10 * _AIMED)
        for _ in range(most):
            self._at(point.leakage)
            lack = point.weights @ self._spent.transpose(0, 2, 1) - point.potentials - self._inflow(point.flows)
            bound = float((point.potentials + lack.min(axis=0)).sum())
            used = self._used(point)
            missed = float(np.abs(1 - point.columns.sum(axis=0)).max())
            broken = float(np.abs(self._slacks(point.columns) - point.slacks).max(initial=0.0))
            gap = abs(used - bound) + self._size * missed + broken
            total = gap + (0.0 if budget is None else abs(used - budget))
            if not np.isfinite(total):
                break
            if total > apart * used:
                near = deepcopy(point)
            if total < least:
                best, least, idle = deepcopy(point), total, 0
            else:
                idle += least < _AIMED * used
            if total <= closed * used or idle > _IDLE:
                break
            ahead = None
            if budget is not None and gap < _ROUGH * used:
                # Far from the budget the leakage is led there by the slope, near it by the step itself.
                off = math.log(used / budget)
                if abs(off) < _ROUGH:
                    ahead = budget
                else:
                    change = off * used / self._slope(point)
                    point.leakage += min(max(change, -0.5 * point.leakage), point.leakage + 0.5)
                    self._at(point.leakage)
            try:
                with np.errstate(all="ignore"):  # what is no number ends the search
                    _Step(self, point, lack, ahead).take()
            except np.linalg.LinAlgError:
                break
        return best, near, least / self._used(best)


class _Step:
    """One step of Newton's method, factored once for a prediction and a correction."""

    def __init__(self, program: InteriorColumns, point: Flows, lack: FloatArray, budget: float | None) -> None:
        self._program, self._point, self._budget, self._lack = program, point, budget, lack
        point_s, point_f = point.slacks, point.flows
        size, count = program._size, program._count
        self._stiff = point_f / point_s
        entries = point.columns[:, program._take]
        strong = point_s < _TIGHT * entries
        # Slacks are kept by themselves, more precise than differences of entries: only a change of the leakage sets them apart.
        shift = program._slacks(point.columns) - point_s
        self._shift = np.where(np.abs(shift) > 1e-13 * entries, shift, 0.0)
        weak = (program._squares @ np.where(strong, 0.0, self._stiff).T).T.reshape(size, size, size)
        self._places, self._strong = [np.flatnonzero(row) for row in strong], strong
        self._change, parents = self._forests(strong, point_s / entries)
        self._whole = self._change.transpose(0, 2, 1) @ weak @ self._change if strong.any() else weak
        self._root = np.empty((size, size, size))
        self._rows: list[FloatArray | None] = []
        for j in range(size):
            self._factor(j, parents[j])
        self._turned = self._root.transpose(0, 2, 1)
        self._wide = self._change @ self._root
        self._couple(size, count)

    def _forests(self, strong: BoolArray, slack: FloatArray) -> tuple[FloatArray, IntArray]:
        """Entries in terms of the slacks of a forest's arcs and of its roots, of every column, and parents; M is none."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

        program, size = self._program, self._program._size
        give, take, columns = program._give, program._take, self._point.columns
        order, parents = np.tile(np.arange(size), (size, 1)), np.full((size, size), size)
        change = np.zeros((size, size + 1, size))
        change[:, np.arange(size), np.arange(size)] = 1.0
        rows = np.arange(size)
        for j in np.flatnonzero(strong.any(axis=1)):
            arcs = self._places[j]
            lengths = np.append(slack[j, arcs], columns[j].max() / columns[j])
            ends = (np.append(give[arcs], np.full(size, size)), np.append(take[arcs], rows))
            tree = minimum_spanning_tree(csr_matrix((lengths, ends), shape=(size + 1, size + 1)))
            found, before = breadth_first_order(tree, size, directed=False)
            order[j], parents[j] = found[1:], before[:size]
        for step in range(size):
            y = order[:, step]
            inside = np.flatnonzero(parents[rows, y] < size)
            if len(inside):
                y, parent = y[inside], parents[inside, y[inside]]
                takes = program._number[parent, y]
                takes = np.where(strong[inside, takes], takes, -1)
                gives = program._number[y, parent]
                factor = np.where(takes >= 0, program._fade[takes], 1 / program._fade[gives])
                change[inside, y] = factor[:, np.newaxis] * change[inside, parent]
                change[inside, y, y] = np.where(takes >= 0, 1.0, -factor)
        return change[:, :size], parents

    def _factor(self, j: int, parent: IntArray) -> None:
        from scipy.linalg import lapack

        program, arcs = self._program, self._places[j]
        give, take = program._give[arcs], program._take[arcs]
        if len(arcs):
            rows = self._change[j, take] - program._fade[arcs, np.newaxis] * self._change[j, give]
            child = np.where(parent[take] == give, take, np.where(parent[give] == take, give, -1))
            inside = np.flatnonzero(child >= 0)
            rows[inside] = 0.0
            rows[inside, child[inside]] = 1.0
            self._whole[j] += (rows.T * self._stiff[j, arcs]) @ rows
            self._rows.append(rows)
        else:
            self._rows.append(None)
        scale = 1 / np.sqrt(self._whole[j].diagonal())
        lower, wrong = lapack.dpotrf(self._whole[j] * scale * scale[:, np.newaxis], lower=1, clean=1)
        if wrong or not np.isfinite(lower[-1, -1]):
            raise np.linalg.LinAlgError("no step")
        self._root[j] = (lapack.dtrtri(lower, lower=1)[0] * scale).T

    def _couple(self, size: int, count: int) -> None:
        """What potentials, weights, and the distortion or the leakage are solved from."""
        program, point = self._program, self._point
        blocks = np.zeros((size + count + 1, size + count + 1))
        # What moves the columns' right-hand sides: potentials, weights, and the leakage.
        self._spent = program._spent
        if self._budget is None:
            self._pull, self._push = None, None
        else:
            ends = program._fade * program._lengths
            self._pull = ends * point.columns[:, program._give]  # of the slacks, with the leakage
            turn = np.zeros((size, size))
            for j in range(size):  # of A^T f
                turn[j] = np.bincount(program._give, ends * point.flows[j], size)
            self._push = turn - program._inflow(self._stiff * self._pull)
        flat = self._wide.transpose(1, 0, 2).reshape(size, -1)
        sides = self._wide.transpose(0, 2, 1) @ self._spent
        blocks[:size, :size] = flat @ flat.T
        blocks[:size, size:-1] = -(self._wide @ sides).sum(axis=0)
        blocks[size:-1, :size] = blocks[:size, size:-1].T
        blocks[size:-1, size:-1] = np.einsum("jyv,jyu->vu", sides, sides) + np.diag(point.spare / point.weights)
        blocks[-1, size:-1] = 1.0
        if self._push is None:
            blocks[size:-1, -1] = 1.0
        else:
            moved = self._solve(self._push)[1]
            blocks[:size, -1] = moved.sum(axis=0)
            blocks[size:-1, -1] = -np.einsum("jyv,jy->v", self._spent, moved)
        from scipy.linalg import lapack

        self._scale = 1 / np.sqrt(np.maximum(np.abs(blocks).max(axis=1), 1e-300))
        blocks *= self._scale * self._scale[:, np.newaxis]
        self._factors, self._pivots, wrong = lapack.dgetrf(blocks)
        if wrong:
            self._factors, self._pivots, wrong = lapack.dgetrf(blocks + 1e-15 * np.eye(len(blocks)))
        if wrong:
            raise np.linalg.LinAlgError("no step")

    def _solve(self, sides: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The columns' equations: in the unknowns of the forests, and in entries."""
        turned = self._change.transpose(0, 2, 1) @ sides[:, :, np.newaxis]
        found = self._root @ (self._turned @ turned)
        found += self._root @ (self._turned @ (turned - self._whole @ found))
        return found[:, :, 0], (self._change @ found)[:, :, 0]

    def _direction(self, products: FloatArray, spare: FloatArray) -> tuple[Any, ...]:
        """Changes for which ``s df + f ds`` and ``r dw + w dr`` are as given."""
        from scipy.linalg import lapack

        program, point, size = self._program, self._point, self._program._size
        unknowns, columns = self._solve(
            program._inflow((products - point.flows * self._shift) / point.slacks) - self._lack
        )
        missing, found = 1 - point.columns.sum(axis=0), np.zeros(len(self._scale))
        value = point.value if self._budget is None else self._budget
        missed = value - np.einsum("jyv,jy->v", self._spent, point.columns) - point.spare
        for _ in range(_CORRECTIONS):
            used = np.einsum("jyv,jy->v", self._spent, columns)
            weights, last = found[size:-1], found[-1] if self._budget is None else 0.0
            right = np.concatenate(
                [
                    missing - columns.sum(axis=0),
                    spare / point.weights - missed + used - point.spare / point.weights * weights - last,
                    [1 - point.weights.sum() - weights.sum()],
                ]
            )
            more = self._scale * lapack.dgetrs(self._factors, self._pivots, self._scale * right)[0]
            sides = more[:size] - self._spent @ more[size:-1]
            if self._push is not None:
                sides += self._push * more[-1]
            extra, entries = self._solve(sides)
            found, unknowns, columns = found + more, unknowns + extra, columns + entries
        slacks = program._slacks(columns)
        for j, rows in enumerate(self._rows):
            if rows is not None:
                slacks[j, self._places[j]] = rows @ unknowns[j]
        slacks += self._shift
        if self._pull is not None:
            slacks += self._pull * found[-1]
        flows = (products - point.flows * slacks) / point.slacks
        last = found[-1] if self._budget is None else 0.0
        return (
            columns,
            slacks,
            flows,
            found[size:-1],
            last - np.einsum("jyv,jy->v", self._spent, columns) + missed,
            found[:size],
            found[-1],
        )

    def _lengths(self, slacks: Any, spare: Any, flows: Any, weights: Any, share: float) -> tuple[float, float]:
        """How far the channel, and the flows, may go."""
        point = self._point
        return (
            min(share * _reach(point.slacks, slacks), share * _reach(point.spare, spare), 1.0),
            min(share * _reach(point.flows, flows), share * _reach(point.weights, weights), 1.0),
        )

    def take(self) -> None:
        """Move the point: a prediction, and a step that is centered and corrected by what the prediction left over."""
        point = self._point
        number = point.flows.size + len(point.weights)
        bar = float((point.slacks * point.flows).sum() + point.spare @ point.weights) / number
        _, slacks, flows, weights, spare, _, _ = self._direction(
            -point.slacks * point.flows, -point.spare * point.weights
        )
        first, second = self._lengths(slacks, spare, flows, weights, 1.0)
        left = ((point.slacks + first * slacks) * (point.flows + second * flows)).sum()
        left += (point.spare + first * spare) @ (point.weights + second * weights)
        center = bar * (float(left) / number / bar) ** 3
        columns, slacks, flows, weights, spare, potentials, last = self._direction(
            center - point.slacks * point.flows - slacks * flows, center - point.spare * point.weights - spare * weights
        )
        first, second = self._lengths(slacks, spare, flows, weights, _SHARE)
        if self._budget is not None:
            if last:
                first = min(first, 0.1 * point.leakage / abs(last))
            point.leakage += float(first * last)
        else:
            point.value += float(first * last)
        point.columns += first * columns
        point.slacks += first * slacks
        point.spare += first * spare
        point.flows += second * flows
        point.weights += second * weights
        point.potentials += second * potentials


def _reach(values: FloatArray, changes: FloatArray) -> float:
    """How many changes leave all values positive."""
    falling = changes < 0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else math.inf
