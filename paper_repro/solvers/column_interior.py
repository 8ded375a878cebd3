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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paper_repro.types import BoolArray, FloatArray, IntArray

__all__ = ["Flows", "InteriorColumns"]

# Slack, relative to the entry, from which on an arc counts as tight.
_TIGHT = 1e-3
# Steps, from a point nearby, corrections of a step, and what part of the way to the boundary is gone.
_STEPS, _FEW, _CORRECTIONS, _SHARE = 80, 20, 3, 0.995
# Gap, relative to the distortion, at which a program is solved, is solved if no more is gained, and counts as solved; and from
# where another leakage is soon reached. At a distortion budget, where what leakage lacks is left anyway, each comes one sooner.
_CLOSED, _ENOUGH, _ACCEPTED, _NEAR = 1e-12, 1e-11, 1e-10, 1e-10
# Gap from which on the leakage is an unknown of the step at a distortion budget.
_ROUGH = 0.05
# Gap from which on a step is computed with all digits, and what is added to the diagonal of what potentials are solved from.
_FINE, _RIDGE = 1e-3, 1e-14
# What part of the leakage a channel to begin with falls off by: less than half, so that rows may be made to sum to 1.
_FALL = 0.3
# Leakages that are tried then, how far inside the budget, and how far below in nats the bound is taken.
_AIMS, _INSIDE, _BESIDE = 5, 4e-12, 4e-10
# Directions of a step: so many are tried, as long as that leads farther by so much.
_TRIALS, _FARTHER = 3, 0.02
# From how many steps on without a smaller gap, once it is so small, there will be none.
_IDLE, _SMALL = 6, 1e-8


@dataclass(frozen=True)
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

    def at_distortion(
        self, distortion: float, leakage: float, spent: Callable[[Flows], float]
    ) -> tuple[Flows, Flows] | None:
        """The least leakage at a distortion, and what bounds it from below: the program at hardly less leakage.

        ``leakage`` is where to begin, and ``spent`` the distortion of the channel that is made of a point, with rounding. None
        if the gap does not close.
        """
        within = distortion * (1 - _INSIDE)
        found, near, missed = self._run(self._start(leakage), within)
        for _ in range(_AIMS):
            if missed > _ACCEPTED:
                break
            over = spent(found) - distortion
            if over <= 0:
                below = self._run(near, within + _BESIDE * self._slope(found), _FEW)[0]
                if self._bounded(below, distortion):
                    return found, below
                break
            within -= over + _INSIDE * distortion
            found, _, missed = self._run(near, within, _FEW)
        within, leakage = distortion * (1 - _INSIDE), found.leakage
        for _ in range(_AIMS):
            found, near = self._beside(near, leakage)
            used = spent(found)
            change = math.log(used / within) * used / self._slope(found)
            if used <= distortion and change > -_BESIDE / 4:
                break
            leakage += change + 1e-12
            if not leakage > _BESIDE:
                return None
        else:
            return None
        below = self._beside(near, leakage - _BESIDE)[0]
        return (found, below) if self._bounded(below, distortion) else None

    def _bounded(self, below: Flows, distortion: float) -> bool:
        """Whether no channel of at most this leakage has the distortion."""
        prior = below.weights / below.weights.sum() @ self._vertices
        return self.least_distortion(prior, below.flows, below.leakage) > distortion

    def _beside(self, near: Flows, leakage: float) -> tuple[Flows, Flows]:
        """The best point at a leakage from one nearby, or if that does not lead there from the beginning."""
        found, near, missed = self._run(replace(near, leakage=leakage), None, _FEW)
        if missed > _ENOUGH:
            other, beside, least = self._run(self._start(leakage), None)
            if least < missed:
                found, near = other, beside
        return found, near

    def _used(self, point: Flows) -> float:
        return float(np.einsum("jyv,jy->v", self._spent, point.columns).max())

    def _slope(self, point: Flows) -> float:
        """How fast the least distortion falls with the leakage."""
        ends = np.exp(-point.leakage * self._lengths) * self._lengths
        return float((point.flows * ends * self._at_ends(point.columns, self._give)).sum())

    def least_distortion(self, prior: FloatArray, flows: FloatArray, leakage: float) -> float:
        """Bound (2) for a prior, shape (M,), and flows, shape (M, 2 E), at a leakage in nats; never below 0."""
        self._at(leakage)
        surplus = prior * self._costs.T - self._inflow(np.clip(flows, 0, None))
        return max(0.0, math.fsum(surplus.min(axis=0)))

    def _start(self, leakage: float) -> Flows:
        """A channel that falls off from the truth and keeps the ratio with room to spare, and flows centered to it."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import shortest_path

        size = self._size
        self._at(leakage)
        ends = self._give, self._take
        columns = np.exp(-_FALL * leakage * shortest_path(csr_matrix((self._lengths, ends), shape=(size, size))))
        columns = 0.9 * columns / columns.sum(axis=0) + 0.1 / size
        slacks = self._slacks(columns)
        used = np.einsum("jyv,jy->v", self._spent, columns)
        value = 1.1 * float(used.max())
        flows = 1 / size / self._arcs / slacks
        weights = np.full(self._count, 1 / self._count)
        potentials = np.median(weights @ self._spent.transpose(0, 2, 1) - self._inflow(flows), axis=0)
        return Flows(columns, slacks, flows, weights, value - used, potentials, value, leakage)

    # The matrix A of the arcs at a leakage.

    def _at(self, leakage: float) -> None:
        from scipy.sparse import csr_matrix

        self._fade, rows = np.exp(-leakage * self._lengths), np.arange(self._arcs)
        entries = np.append(np.ones(self._arcs), -self._fade), (np.append(self._take, self._give), np.tile(rows, 2))
        self._inward = csr_matrix(entries, shape=(self._size, self._arcs))
        self._outward = self._inward.T.tocsr()

    # What is there for each arc is kept arc by arc, all columns of one beside each other, which is several times as fast.

    def _slacks(self, columns: FloatArray) -> FloatArray:
        """``A q`` of every column."""
        found: FloatArray = (self._outward @ columns.T).T
        return found

    def _inflow(self, flows: FloatArray) -> FloatArray:
        """``A^T f`` of every column."""
        found: FloatArray = (self._inward @ flows.T).T
        return found

    def _at_ends(self, columns: FloatArray, ends: IntArray) -> FloatArray:
        """The entries at one end of every arc."""
        return np.ascontiguousarray(columns.T)[ends].T

    def _sums(self, weights: FloatArray) -> FloatArray:
        """``A^T diag(w) A`` of every column."""
        sums = np.zeros((self._size,) * 3)
        beside = -(self._fade * weights).T
        beside += beside[self._number[self._take, self._give]]
        sums[:, self._take, self._give] = beside.T
        sums[:, np.arange(self._size), np.arange(self._size)] = (self._inward.power(2) @ weights.T).T
        return sums

    def _run(self, point: Flows, budget: float | None, most: int = _STEPS) -> tuple[Flows, Flows, float]:
        """The best point found, at the point's leakage or at a budget, one from where others are soon reached, and the gap."""
        best, near, least, idle = point, point, math.inf, 0
        closed, enough, slow = (_CLOSED, _ENOUGH, 1.0) if budget is None else (_ENOUGH, _ACCEPTED, 0.5)
        for _ in range(most):
            self._at(point.leakage)
            lack = point.weights @ self._spent.transpose(0, 2, 1) - point.potentials - self._inflow(point.flows)
            bound = float((point.potentials + lack.min(axis=0)).sum())
            used = self._used(point)
            missed = float(np.abs(1 - point.columns.sum(axis=0)).max())
            broken = float(np.abs(self._slacks(point.columns) - point.slacks).max(initial=0.0))
            gap = abs(used - bound) + missed * float(np.abs(point.potentials).sum()) + broken
            total = gap + (0.0 if budget is None else abs(used - budget))
            if not np.isfinite(total):
                break
            if min(least, total) > _NEAR * used:
                near = point
            ends = least <= enough * used and total >= slow * least
            if total < least:
                best, least, idle = point, total, 0
            elif not ends:
                idle += least < _SMALL * used
            if ends:
                break
            if total <= closed * used or idle > _IDLE:
                break
            ahead = budget if gap < _ROUGH * used else None
            try:
                with np.errstate(all="ignore"):  # what is no number ends the search
                    point = _Step(self, point, lack, ahead, fine=gap < _FINE * used).take()
            except np.linalg.LinAlgError:
                break
        return best, near, least / self._used(best)


class _Step:
    """One step of Newton's method, factored once for a prediction and a correction."""

    def __init__(
        self, program: InteriorColumns, point: Flows, lack: FloatArray, budget: float | None, *, fine: bool
    ) -> None:
        self._corrections = _CORRECTIONS if fine else 1
        self._program, self._point, self._budget, self._lack = program, point, budget, lack
        point_s, point_f = point.slacks, point.flows
        size, count = program._size, program._count
        self._stiff = point_f / point_s
        entries = program._at_ends(point.columns, program._take)
        strong = point_s < _TIGHT * entries
        # Slacks are kept by themselves, more precise than differences of entries: only a change of the leakage sets them apart.
        shift = program._slacks(point.columns) - point_s
        apart = np.abs(shift) > 1e-14 * entries
        self._shift = np.where(apart, shift, 0.0) if apart.any() else None
        self._whole = program._sums(np.where(strong, 0.0, self._stiff))
        self._change, parents = self._forests(strong, point_s / entries)
        tight = np.flatnonzero(strong.any(axis=1))
        change = self._change[tight]
        self._whole[tight] = change.transpose(0, 2, 1) @ self._whole[tight] @ change
        self._tighten(strong, parents)
        self._root = self._roots()
        self._turned = self._root.transpose(0, 2, 1)
        self._wide = self._root.copy()
        self._wide[tight] = change @ self._root[tight]
        self._couple(size, count)

    def _forests(self, strong: BoolArray, slack: FloatArray) -> tuple[FloatArray, IntArray]:
        """Entries in terms of the slacks of a forest's arcs and of its roots, of every column, and parents; M is none."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

        program, size, columns = self._program, self._program._size, self._point.columns
        change = np.tile(np.eye(size), (size, 1, 1))
        if not strong.any():
            return change, np.full((size, size), size)
        # One tree of all columns: its root, which comes last, joins theirs.
        column, arcs = np.nonzero(strong)
        last, starts = size**2, column * size
        lengths = np.append(slack[strong], columns.max(axis=1, keepdims=True) / columns)
        ends = (
            np.append(starts + program._give[arcs], np.full(last, last)),
            np.append(starts + program._take[arcs], np.arange(last)),
        )
        tree = minimum_spanning_tree(csr_matrix((lengths, ends), shape=(last + 1, last + 1)))
        before = breadth_first_order(tree, last, directed=False)[1]
        before[last] = last
        depth, above = np.zeros(last, dtype=int), before[:last]
        while (inside := above < last).any():
            depth += inside
            above = before[above]
        for step in range(1, depth.max() + 1):
            row, y = np.divmod(np.flatnonzero(depth == step), size)
            parent = before[row * size + y] % size
            takes, gives = program._number[parent, y], program._number[y, parent]
            own = strong[row, takes]
            factor = np.where(own, program._fade[takes], 1 / program._fade[gives])
            change[row, y] = factor[:, np.newaxis] * change[row, parent]
            change[row, y, y] = np.where(own, 1.0, -factor)
        return change, np.where(depth > 0, before[:last] % size, size).reshape(size, size)

    def _tighten(self, strong: BoolArray, parents: IntArray) -> None:
        """Add the tight arcs: those of the forests are unknowns, the others rows in these."""
        program, size = self._program, self._program._size
        column, arcs = np.nonzero(strong)
        give, take = program._give[arcs], program._take[arcs]
        back = strong[column, program._number[take, give]]
        child = np.where(parents[column, take] == give, take, size)
        child = np.where((parents[column, give] == take) & ~back, give, child)
        own = child < size
        self._own = column[own], arcs[own], child[own]
        np.add.at(self._whole, (column[own], child[own], child[own]), self._stiff[column[own], arcs[own]])
        self._rows: list[tuple[int, IntArray, FloatArray]] = []
        column, arcs = column[~own], arcs[~own]
        cuts = np.searchsorted(column, np.arange(size + 1))
        for j in np.flatnonzero(np.diff(cuts)).tolist():
            others = arcs[cuts[j] : cuts[j + 1]]
            rows = (
                self._change[j, program._take[others]]
                - program._fade[others, np.newaxis] * self._change[j, program._give[others]]
            )
            self._whole[j] += (rows.T * self._stiff[j, others]) @ rows
            self._rows.append((j, others, rows))

    def _roots(self) -> FloatArray:
        """Of the inverses of the columns' matrices: they are R R^T."""
        from scipy.linalg import lapack

        scale = 1 / np.sqrt(np.diagonal(self._whole, axis1=1, axis2=2))
        scaled, found = self._whole * scale[:, np.newaxis] * scale[:, :, np.newaxis], np.empty(self._whole.shape)
        for j, whole in enumerate(scaled):
            lower, wrong = lapack.dpotrf(whole, lower=1, clean=1)
            if wrong or not np.isfinite(lower[-1, -1]):
                raise np.linalg.LinAlgError("no step")
            found[j] = (lapack.dtrtri(lower, lower=1)[0] * scale[j]).T
        return found

    def _couple(self, size: int, count: int) -> None:
        """What potentials, weights, and the distortion or the leakage are solved from."""
        program, point = self._program, self._point
        blocks = np.zeros((size + count + 1, size + count + 1))
        # What moves the columns' right-hand sides: potentials, weights, and the leakage.
        self._spent = program._spent
        self._pull, self._push, self._along = None, None, np.zeros((size, size))
        if self._budget is not None:
            ends = program._fade * program._lengths
            pull = ends * program._at_ends(point.columns, program._give)  # of the slacks, with the leakage
            # Entries go along with the leakage such that the forests' slacks stay: what is stiff is not pulled.
            column, arcs, child = self._own
            unknowns = np.zeros((size, size))
            unknowns[column, child] = -pull[column, arcs]
            self._along = (self._change @ unknowns[:, :, np.newaxis])[:, :, 0]
            self._pull = self._slacks(unknowns, self._along) + pull
            turn = program._inward.minimum(0) @ (program._lengths * point.flows).T  # of A^T f
            self._push = -turn.T - program._inflow(self._stiff * self._pull)
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
            moved = self._solve(self._push)[1] + self._along
            blocks[:size, -1] = moved.sum(axis=0)
            blocks[size:-1, -1] = -np.einsum("jyv,jy->v", self._spent, moved)
        from scipy.linalg import lapack

        self._scale = 1 / np.sqrt(np.maximum(np.abs(blocks).max(axis=1), 1e-300))
        blocks *= self._scale * self._scale[:, np.newaxis]
        blocks[np.arange(size + count), np.arange(size + count)] += _RIDGE
        self._factors, self._pivots, wrong = lapack.dgetrf(blocks)
        if wrong:
            raise np.linalg.LinAlgError("no step")

    def _solve(self, sides: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The columns' equations: in the unknowns of the forests, and in entries."""
        if self._corrections == 1:
            inner = self._wide.transpose(0, 2, 1) @ sides[:, :, np.newaxis]
            return (self._root @ inner)[:, :, 0], (self._wide @ inner)[:, :, 0]
        turned = self._change.transpose(0, 2, 1) @ sides[:, :, np.newaxis]
        found = self._root @ (self._turned @ turned)
        found += self._root @ (self._turned @ (turned - self._whole @ found))
        return found[:, :, 0], (self._change @ found)[:, :, 0]

    def _slacks(self, unknowns: FloatArray, columns: FloatArray) -> FloatArray:
        """``A q``, of tight arcs from the unknowns of the forests."""
        slacks = self._program._slacks(columns)
        column, arcs, child = self._own
        slacks[column, arcs] = unknowns[column, child]
        for j, arcs, rows in self._rows:
            slacks[j, arcs] = rows @ unknowns[j]
        return slacks

    def _direction(self, products: FloatArray, spare: FloatArray) -> tuple[Any, ...]:
        """Changes for which ``s df + f ds`` and ``r dw + w dr`` are as given."""
        from scipy.linalg import lapack

        program, point, size = self._program, self._point, self._program._size
        flows = products / point.slacks
        if self._shift is not None:
            flows -= self._stiff * self._shift
        unknowns, columns = self._solve(program._inflow(flows) - self._lack)
        missing, found, moved = 1 - point.columns.sum(axis=0), np.zeros(len(self._scale)), columns
        value = point.value if self._budget is None else self._budget
        missed = value - np.einsum("jyv,jy->v", self._spent, point.columns) - point.spare
        for _ in range(self._corrections):
            used = np.einsum("jyv,jy->v", self._spent, moved)
            weights, last = found[size:-1], found[-1] if self._budget is None else 0.0
            right = np.concatenate(
                [
                    missing - moved.sum(axis=0),
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
            moved = columns + found[-1] * self._along if self._push is not None else columns
        slacks = self._slacks(unknowns, columns)
        if self._pull is not None:
            slacks += self._pull * found[-1]
        flows -= self._stiff * slacks
        if self._shift is not None:
            slacks += self._shift
        last = found[-1] if self._budget is None else 0.0
        return (
            moved,
            slacks,
            flows,
            found[size:-1],
            last - np.einsum("jyv,jy->v", self._spent, moved) + missed,
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

    def take(self) -> Flows:
        """The next point: a prediction, and a step that is centered and corrected by what the prediction left over."""
        point = self._point
        number = point.flows.size + len(point.weights)
        bar = float((point.slacks * point.flows).sum() + point.spare @ point.weights) / number
        products, others = point.slacks * point.flows, point.spare * point.weights
        _, slacks, flows, weights, spare, _, _ = self._direction(-products, -others)
        first, second = self._lengths(slacks, spare, flows, weights, 1.0)
        left = ((point.slacks + first * slacks) * (point.flows + second * flows)).sum()
        left += (point.spare + first * spare) @ (point.weights + second * weights)
        center = bar * (float(left) / number / bar) ** 3
        products, others = center - products - slacks * flows, center - others - spare * weights
        found, went = None, -1.0
        for _ in range(_TRIALS):
            tried = self._direction(products, others)
            columns, slacks, flows, weights, spare, potentials, last = tried
            first, second = self._lengths(slacks, spare, flows, weights, 1.0)
            if first + second < went + _FARTHER:
                break
            found, went = tried, first + second
            # A little farther products would be so much off the center.
            first, second = min(1.0, 1.2 * first + 0.1), min(1.0, 1.2 * second + 0.1)
            products += _off((point.slacks + first * slacks) * (point.flows + second * flows), center)
            others += _off((point.spare + first * spare) * (point.weights + second * weights), center)
        assert found is not None
        columns, slacks, flows, weights, spare, potentials, last = found
        first, second = self._lengths(slacks, spare, flows, weights, _SHARE)
        value, leakage = point.value, point.leakage
        if self._budget is None:
            value += float(first * last)
        else:
            if last:
                first = min(first, 0.1 * leakage / abs(last))
            leakage += float(first * last)
        return Flows(
            point.columns + first * columns,
            point.slacks + first * slacks,
            point.flows + second * flows,
            point.weights + second * weights,
            point.spare + first * spare,
            point.potentials + second * potentials,
            value,
            leakage,
        )


def _off(products: FloatArray, center: float) -> FloatArray:
    """What brings products next to the center."""
    return np.maximum(np.clip(products, 0.1 * center, 10 * center) - products, -10 * center)


def _reach(values: FloatArray, changes: FloatArray) -> float:
    """How many changes leave all values positive."""
    fastest = float((changes / values).min())
    return -1 / fastest if fastest < 0 else math.inf
