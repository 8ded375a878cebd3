"""The best mechanism under constraints: letters that are kept often enough, frequencies that stay, pairs that are forbidden."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import (
    as_fraction,
    as_number,
    check_between,
    check_grid,
    check_same_letters,
    frame_labels,
    shortened,
)
from paper_repro.errors import CertificateError, Clause, SolverError, shown, wrong
from paper_repro.graphs import clique
from paper_repro.notions.approximate_differential_privacy import ApproximateDP
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.information import MutualInformation, SibsonInformation
from paper_repro.notions.maximal_information import MaximalInformation
from paper_repro.notions.maximal_leakage import MaximalLeakage
from paper_repro.notions.optimizers import Weighted
from paper_repro.notions.ratios import check_graph, is_clique, neighbors
from paper_repro.notions.renyi_differential_privacy import RenyiDP
from paper_repro.solvers.channel_constrained import ChannelConstrainedProgram
from paper_repro.solvers.channel_convex import ChannelConvexProgram
from paper_repro.solvers.channel_ratio import Comparisons
from paper_repro.solvers.diagonal_constrained import DiagonalConstrainedProgram, Form
from paper_repro.solvers.games import reaches
from paper_repro.solvers.restrictions import Restrictions
from paper_repro.sources import SourceSet
from paper_repro.types import FloatArray

__all__ = ["ConstrainedOptimizer", "Constraints"]

# By how much a distortion is above the least one, relatively, if floats tell them apart.
_KEPT = 1e-12
# A prior counts as worse than others from this much on, relatively, and so many are looked for.
_SAME, _CUTS = 3e-13, 200
# Letters that are solved: by numbers a letter, over the whole channel, and there with dense equations of Newton's method.
_BY_LETTERS, _BY_CHANNEL, _CONVEX = 500, 60, 32
# Vertices of source sets for information.
_MOST_VERTICES = 100


@dataclass(frozen=True)
class Constraints:
    """What a mechanism has to do beside its budget, for the letters of one source set.

    Attributes
    ----------
    floors : ndarray, shape (M,)
        Least chances of each letter to be kept.
    invariant : bool
        Whether the expected frequencies stay as they are, ``P Q = P`` for every vertex P of the source set.
    forbidden : tuple of (int, int)
        A true letter and a published one that must not take its place.
    exact_floors : tuple of Fractions, of length M
        The floors as they were given.
    """

    floors: FloatArray
    invariant: bool
    forbidden: tuple[tuple[int, int], ...]
    exact_floors: tuple[Fraction, ...] = ()

    @classmethod
    def of(
        cls,
        source: SourceSet,
        keep_at_least: float | ArrayLike | Mapping[Hashable, float] | None,
        invariant: bool,
        forbidden: Iterable[tuple[Hashable, Hashable]] | None,
    ) -> Constraints | None:
        """Those that a user gives; None if there are none. Raises ValueError where they do not fit the source set.

        ``keep_at_least`` are probabilities: one, or of shape (M,), or some by name.

        >>> Constraints.of(SourceSet([0.5, 0.5], labels=["no", "yes"]), {"yes": 0.75}, False, None).floors
        array([0.  , 0.75])
        """
        if not isinstance(invariant, (bool, np.bool_)):
            raise ValueError(wrong("invariant", "be True or False", invariant))
        floors, pairs = _floors(keep_at_least, source.labels), _pairs(forbidden, source.labels)
        if invariant and source.bounds is not None and (source.bounds[0] < source.bounds[1]).any():
            raise ValueError(
                wrong(
                    "invariant",
                    "be False for intervals, as it keeps the frequencies of known priors",
                    invariant,
                    "Give one prior, such as the frequencies that were counted (in a release source='frequencies').",
                )
            )
        if invariant and source.alphabet_size > 1 and np.linalg.matrix_rank(source.vertices) == source.alphabet_size:
            raise ValueError(
                wrong(
                    "invariant",
                    f"be False where {source.alphabet_size} of the priors are linearly independent, as it leaves only the "
                    "mechanism that publishes everything as it is",
                    invariant,
                    "Give the one prior whose frequencies are to stay.",
                )
            )
        if not (floors.any() or invariant or pairs):
            return None
        return cls(floors, bool(invariant), pairs, _exactly(keep_at_least, source.labels))

    def restrictions(self, source: SourceSet) -> Restrictions:
        """The same for programs."""
        size = source.alphabet_size
        allowed = np.ones((size, size), dtype=bool)
        for pair in self.forbidden:
            allowed[pair] = False
        return Restrictions(self.floors, allowed, source.vertices if self.invariant else np.empty((0, size)))

    def check(self, matrix: FloatArray, source: SourceSet) -> None:
        """Raises CertificateError unless a matrix, shape (M, M), keeps them: frequencies up to rounding, the others exactly."""
        if not self.restrictions(source).are_kept(matrix):
            raise CertificateError(
                "No mechanism was certified: the one that was found does not keep the constraints. Relax one of them a little."
            )


def _floors(given: Any, labels: Sequence[Hashable]) -> FloatArray:
    floors = np.zeros(len(labels))
    if given is None:
        return floors
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise ValueError(
                wrong("keep_at_least", f"name categories of the source set, {shortened(labels)}", unknown[0])
            )
        values = np.array([_floor(given.get(label, 0.0), label) for label in labels])
    else:
        check_same_letters(frame_labels(given), labels, "keep_at_least and the source set")
        try:
            values = check_grid(given, as_number)
        except (TypeError, ValueError):
            raise ValueError(wrong("keep_at_least", "be a probability, or one for each category", given)) from None
        if values.ndim and values.shape != floors.shape:
            raise ValueError(
                wrong(
                    "keep_at_least",
                    f"be a probability, or one for each of {len(labels)} categories",
                    Clause(f"shape {values.shape}"),
                )
            )
    floors[:] = values
    for label, floor in zip(labels, floors.tolist(), strict=True):
        if not 0 <= floor <= 1:
            of = f" of {label!r}" if np.ndim(given) or isinstance(given, Mapping) else ""
            raise ValueError(wrong(f"keep_at_least{of}", "be a probability between 0 and 1", floor))
    return floors


def _exactly(given: Any, labels: Sequence[Hashable]) -> tuple[Fraction, ...]:
    """Floors that were checked, as they are given."""
    if isinstance(given, Mapping):
        return tuple(as_fraction(given.get(label, 0)) for label in labels)
    listed = np.broadcast_to(np.asarray(0 if given is None else given, dtype=object), (len(labels),))
    return tuple(as_fraction(value) for value in listed.tolist())


def _floor(given: Any, label: Hashable) -> float:
    return check_between(given, "a probability between 0 and 1", 0, 1, f"keep_at_least of {label!r}")


def _pairs(given: Any, labels: Sequence[Hashable]) -> tuple[tuple[int, int], ...]:
    if given is None:
        return ()
    places = {label: place for place, label in enumerate(labels)}
    found = []
    for pair in given if isinstance(given, Iterable) else [given]:
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(
                wrong("forbidden", "be pairs (true category, published category)", Clause(f"{shown(pair)} among them"))
            )
        for label in pair:
            if not isinstance(label, Hashable) or label not in places:
                raise ValueError(wrong("forbidden", f"name categories of the source set, {shortened(labels)}", label))
        found.append((places[pair[0]], places[pair[1]]))
    return tuple(dict.fromkeys(found))


def _few(source: SourceSet) -> FloatArray:
    """The vertices, if there are few: the worst prior for information may be a mixture of any of them."""
    if source.vertex_count > _MOST_VERTICES:
        raise ValueError(
            wrong(
                "source",
                f"have at most {_MOST_VERTICES} vertices for information under constraints",
                source.vertex_count,
                "Give one prior, or take differential privacy or maximal leakage.",
            )
        )
    return source.vertices


class ConstrainedOptimizer(Optimizer):
    """The best mechanism under constraints.

    For differential privacy, on graphs and approximate too, maximal leakage and maximal information a linear program in exact
    arithmetic, :mod:`paper_repro.solvers.channel_constrained`; for information and Renyi divergences a convex one,
    :mod:`paper_repro.solvers.channel_convex`.

    Parameters
    ----------
    notion : Notion
    source : SourceSet
    constraints : Constraints
    costs : ndarray, shape (M, M), optional

    Raises
    ------
    ValueError
        If the notion makes what is asked for impossible, or there are too many letters or vertices.

    Examples
    --------
    >>> from paper_repro.notions import DifferentialPrivacy
    >>> source = SourceSet([0.75, 0.25])
    >>> same = Constraints.of(source, None, True, None)
    >>> ConstrainedOptimizer(DifferentialPrivacy(), source, same).at_distortion(0.1875).mechanism.round(9)
    array([[0.875, 0.125],
           [0.375, 0.625]])
    """

    def __init__(
        self, notion: Notion, source: SourceSet, constraints: Constraints, costs: FloatArray | None = None
    ) -> None:
        super().__init__(notion, source, costs)
        form = self._diagonal_form(constraints)
        self._check_size(form is not None)
        self._constraints, self._restrictions = constraints, constraints.restrictions(source)
        leakage = self._form()
        self._refuse_impossible()
        # Of intervals the vertices that matter, which are found one by one.
        known = source.least_majorized
        self._vertices = source.vertices if source.bounds is None or known is None else known[np.newaxis]
        self._program: DiagonalConstrainedProgram | ChannelConstrainedProgram | ChannelConvexProgram
        if self._is_convex:
            pairs = neighbors(notion.adjacency, source.alphabet_size) if isinstance(notion, RenyiDP) else None
            if pairs is None:
                self._vertices = _few(source)
            alpha: float = notion.alpha  # type: ignore[attr-defined]
            self._program = ChannelConvexProgram(self._vertices, self.distances, self._restrictions, alpha, pairs)
        elif form is not None:
            delta = notion.delta if isinstance(notion, ApproximateDP) else 0.0
            self._program = DiagonalConstrainedProgram(self._vertices, self._restrictions, form, delta)
        else:
            self._program = ChannelConstrainedProgram(
                self._vertices, self.distances, self._restrictions, leakage, self._of_matrix
            )
        if self._weighted is not None:
            self.unit = self._weighted.unit

    @property
    def _is_convex(self) -> bool:
        notion = self.notion
        return isinstance(notion, (MutualInformation, SibsonInformation, RenyiDP)) and math.isfinite(notion.alpha)

    def _diagonal_form(self, constraints: Constraints) -> Form | None:
        """What bounds the columns, if that is all there is to know; None if the whole channel has to be solved for."""
        notion, source = self.notion, self.source
        known = source.bounds is None and source.vertex_count == 1
        if self.costs is not None or (constraints.invariant and not known) or self._is_convex:
            return None
        if isinstance(notion, (MaximalLeakage, SibsonInformation)):
            return "mass"
        if isinstance(notion, MaximalInformation):
            return "lift" if constraints.invariant else None
        among_all = is_clique(getattr(notion, "adjacency", None), source.alphabet_size)
        if isinstance(notion, (DifferentialPrivacy, RenyiDP)) or (
            isinstance(notion, ApproximateDP) and not notion.standard
        ):
            return "ratio" if among_all else None
        return None

    def _check_size(self, by_letters: bool) -> None:
        """Raise ValueError if there are too many letters, with what others could be solved for."""
        most = _BY_LETTERS if by_letters else _CONVEX if self._is_convex else _BY_CHANNEL
        if self.source.alphabet_size <= most:
            return
        way = "Merge rare categories, or leave the constraints out."
        if not by_letters:
            way += (
                f" Up to {_BY_LETTERS} categories are solved for differential privacy between all categories or maximal leakage, "
                "without costs, and with invariant=True for one prior."
            )
        raise ValueError(
            wrong(
                "the number of categories",
                f"be at most {most} with keep_at_least, invariant or forbidden",
                self.source.alphabet_size,
                way,
            )
        )

    def _form(self) -> Comparisons | FloatArray | None:
        """What the program compares."""
        notion, size = self.notion, self.source.alphabet_size
        if isinstance(notion, (RenyiDP, SibsonInformation)) and math.isinf(notion.alpha):
            notion = DifferentialPrivacy(notion.adjacency) if isinstance(notion, RenyiDP) else MaximalLeakage()
        self._weighted: Weighted | None = None
        if isinstance(notion, (MaximalLeakage, MutualInformation, SibsonInformation)):
            return None
        if isinstance(notion, MaximalInformation):
            return self.source.vertices
        if not isinstance(notion, (DifferentialPrivacy, ApproximateDP, RenyiDP)):
            raise ValueError(
                wrong(
                    "notion",
                    "be one of this package with keep_at_least, invariant or forbidden",
                    notion,
                    "See notion_by_name.",
                )
            )
        check_graph(notion.adjacency, size)
        delta = notion.delta if isinstance(notion, ApproximateDP) else 0.0
        if delta == 0 and is_clique(notion.adjacency, size):
            return np.eye(size)
        if notion.adjacency is not None and notion.adjacency.weights is not None:
            self._weighted = Weighted.of(notion.adjacency)
            found = self._weighted
            return Comparisons.of_weights(found.pairs, found.weights, found.lengths)
        standard = isinstance(notion, ApproximateDP) and notion.standard
        return Comparisons.of_neighbors(notion.adjacency or clique(size), delta, standard)

    def _of_matrix(self, matrix: FloatArray) -> float:
        return self.notion.leakage(matrix, self.source) * self.unit

    def _refuse_impossible(self) -> None:
        """Under differential privacy, what is never published for one letter is never published for its neighbors."""
        leakage, names = self._form(), self.source.labels
        if leakage is None or isinstance(self.notion, MaximalInformation):
            return
        if isinstance(leakage, Comparisons):
            if leakage.delta > 0:
                return
            pairs = list(zip(leakage.givers.tolist(), leakage.takers.tolist(), strict=True))
        else:
            pairs = [(i, k) for i in range(len(names)) for k in range(len(names)) if i != k]
        never = set(
            np.flatnonzero(self._restrictions.kept.sum(axis=0) == 0).tolist() if self._constraints.invariant else []
        )
        for j in sorted(never & set(np.flatnonzero(self._restrictions.floors).tolist())):
            if any(taker == j and giver not in never for giver, taker in pairs):
                raise ValueError(
                    wrong(
                        f"keep_at_least of {names[j]!r}",
                        f"be 0 with invariant=True and finite {self.notion.title}, as {names[j]!r} never occurs and its "
                        "neighbors must not publish it",
                        float(self._restrictions.floors[j]),
                        "Leave the category out, or lower its floor to 0.",
                    )
                )
        allowed = self._restrictions.allowed
        for giver, taker in pairs:
            if (extra := np.flatnonzero(allowed[giver] & ~allowed[taker])).size:
                letter, never, other = names[int(extra[0])], names[taker], names[giver]
                raise ValueError(
                    wrong(
                        f"forbidden ({never!r}, {letter!r})",
                        f"come with ({other!r}, {letter!r}) for finite {self.notion.title}, as {never!r} and {other!r} are "
                        "neighbors",
                        Clause("no such pair"),
                        f"Forbid {letter!r} for all its neighbors, or take a graph in which these are none, "
                        "ApproximateDP(delta), MaximalLeakage() or MaximalInformation().",
                    )
                )

    @cached_property
    def _constant(self) -> tuple[float, FloatArray] | None:
        for _ in range(_CUTS):
            found = self._restrictions.constant(self._vertices, self.distances)
            if found is None or not self._adds(np.tile(found[1], (len(found[1]), 1))):
                return found
        raise SolverError(
            f"The worst priors of the intervals were not found in {_CUTS} rounds. Try a nearby distortion, or give one prior."
        )

    def _adds(self, matrix: FloatArray) -> bool:
        """Whether a prior of the intervals is worse for a channel, shape (M, M), than all vertices so far; it joins them."""
        if self.source.bounds is None:
            return False
        changed, (lower, upper) = (matrix * self.distances).sum(axis=1), self.source.bounds
        order = np.argsort(-changed, kind="stable")
        before = np.cumsum((upper - lower)[order]) - (upper - lower)[order]
        worst = lower.copy()
        worst[order] += np.clip(1 - lower.sum() - before, 0.0, (upper - lower)[order])
        known = float((self._vertices @ changed).max())
        if float(worst @ changed) <= known * (1 + _SAME):
            return False
        self._vertices = np.vstack([self._vertices, worst])
        self._program = self._program.with_vertices(self._vertices)
        return True

    def _closed(self, solve: Callable[[], Proposal]) -> Proposal:
        for _ in range(_CUTS):
            found = solve()
            if not self._adds(np.asarray(found.mechanism)):
                return found
        raise SolverError(
            f"The worst priors of the intervals were not found in {_CUTS} rounds. Try a nearby distortion, or give one prior."
        )

    def distortion(self, mechanism: Any) -> float:
        if self.source.bounds is None or self.costs is None:
            return super().distortion(mechanism)
        matrix = np.asarray(getattr(mechanism, "matrix", mechanism))
        self._adds(matrix)
        return self._program.distortion(matrix)

    def at_distortion(self, distortion: float) -> Proposal:
        if self._is_constant(distortion):
            return self._without_leakage()
        self._refuse_contradiction(distortion)
        if (distortion == 0 and self._tells_all) or self._tells_one:
            return Proposal(np.eye(self.source.alphabet_size), np.ones(len(self._vertices)))
        return self._closed(lambda: self._program.at_distortion(distortion))

    def at_leakage(self, leakage: float) -> Proposal:
        if leakage == 0 and self._constant is not None and not self._program.may_differ:
            return self._without_leakage()
        self._refuse_contradiction(math.inf)
        if math.isinf(leakage):
            return self._closed(lambda: self._free.at_leakage(math.log(2 * self.source.alphabet_size)))
        try:
            return self._closed(lambda: self._program.at_leakage(leakage * self.unit))
        except SolverError:
            needed = self._program.at_distortion(float(self.distances.max()))
            least = self._program.least_leakage(needed.certificate, float(self.distances.max())) / self.unit
            if least > leakage:
                raise ValueError(
                    wrong(
                        "leakage",
                        f"be at least {least:.6g} nats for these constraints",
                        leakage,
                        "Ask for more, or relax them.",
                    )
                ) from None
            raise

    @property
    def _free(self) -> ChannelConstrainedProgram:
        """The program where anything may leak: that of maximal leakage, of which no channel has more than log M."""
        return ChannelConstrainedProgram(
            self._vertices, self.distances, self._restrictions, None, MaximalLeakage().leakage
        )

    @cached_property
    def _tells_all(self) -> bool:
        """Whether nothing may be changed at distortion 0."""
        return bool(
            (self._vertices.max(axis=0)[:, np.newaxis] * self.distances + np.eye(len(self.distances)) > 0).all()
        )

    @cached_property
    def _tells_one(self) -> bool:
        """Whether a letter is always kept and another sometimes, whose column then has ratios of any size: all may be told."""
        floors = self._restrictions.floors
        ratios = isinstance(self._program, DiagonalConstrainedProgram) and self._program.is_pure
        return ratios and float(floors.max()) == 1 and int(np.count_nonzero(floors)) > 1

    def _is_constant(self, distortion: float) -> bool:
        return self._constant is not None and reaches(distortion, self._constant[0])

    def _without_leakage(self) -> Proposal:
        assert self._constant is not None
        size = self.source.alphabet_size
        return Proposal(np.tile(self._constant[1], (size, 1)), np.ones(len(self._vertices)))

    def mechanism(self, proposal: Proposal) -> Any:
        found = super().mechanism(proposal)
        self._constraints.check(found.matrix, self.source)
        return found

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        if self._is_constant(distortion):
            return 0.0
        if (distortion == 0 and self._tells_all) or self._tells_one:
            return self.notion.leakage(np.eye(self.source.alphabet_size), self.source)
        if not proposal.certificate:
            return 0.0
        return self._program.least_leakage(proposal.certificate, distortion) / self.unit

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        if not proposal.certificate:
            return self._constant[0] if leakage == 0 and self._constant is not None else 0.0
        if math.isinf(leakage):
            return self._free.least_distortion(proposal.certificate, math.log(2 * self.source.alphabet_size))
        return self._program.least_distortion(proposal.certificate, leakage * self.unit)

    def prior(self, proposal: Proposal) -> FloatArray:
        weights = np.clip(proposal.weights, 0, None)
        weights = weights if weights.any() else np.ones(len(weights))
        return weights / weights.sum() @ self._vertices[: len(weights)]

    def least_favorable_prior(self, proposal: Proposal) -> FloatArray | None:
        return self.prior(proposal) if len(self._vertices) == 1 else None

    def tolerance(self, figure: float, unit: str) -> float:
        # Large ratios are told apart no better than entries of order 1.
        least = 1e-9 if isinstance(self._program, ChannelConvexProgram) else 1e-14
        return max(super().tolerance(figure, unit), least if unit == "distortion" else 0.0)

    def rounding(self, figure: float, unit: str) -> float:
        return 1e-12 * figure + (1e-15 * self.source.alphabet_size if unit == "nats" else 1e-15)

    def _refuse_contradiction(self, distortion: float) -> None:
        """Raise ValueError, with the constraints that contradict each other, if there is no such mechanism at all."""
        parts: list[tuple[str, Any]] = [("distortion", distortion)] if math.isfinite(distortion) else []
        parts += [("keep", letter) for letter in np.flatnonzero(self._constraints.floors).tolist()]
        parts += [("invariant", None)] if self._constraints.invariant else []
        parts += [("forbidden", pair) for pair in self._constraints.forbidden]
        if self._is_possible(parts):
            return
        for part in list(parts):  # whatever is not needed for the contradiction is left out
            rest = [other for other in parts if other != part]
            if not self._is_possible(rest):
                parts = rest
        if all(kind == "forbidden" for kind, _ in parts):
            raise ValueError(
                wrong(
                    "forbidden",
                    f"leave {self.source.labels[parts[0][1][0]]!r} a category to be published",
                    Clause("pairs with all of them"),
                    "Allow one.",
                )
            )
        told = [self._told(parts, kind) for kind in ("keep", "forbidden", "invariant", "distortion")]
        named = [text for text in told if text]
        listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
        raise ValueError(
            wrong(
                listed,
                "not contradict each other",
                Clause("constraints that no mechanism keeps together"),
                "Relax one of them.",
            )
        )

    def _told(self, parts: list[tuple[str, Any]], kind: str) -> str:
        names, which = self.source.labels, [what for name, what in parts if name == kind]
        if not which:
            return ""
        if kind == "keep":
            floors = ", ".join(f"{names[i]!r} ({self._constraints.floors[i]:g})" for i in which[:5])
            return f"keep_at_least of {floors}{' ...' if len(which) > 5 else ''}"
        if kind == "forbidden":
            pairs = ", ".join(f"({names[i]!r}, {names[j]!r})" for i, j in which[:5])
            return f"forbidden {pairs}{' ...' if len(which) > 5 else ''}"
        return "invariant=True" if kind == "invariant" else f"distortion={which[0]:g}"

    def _is_possible(self, parts: list[tuple[str, Any]]) -> bool:
        """Whether there is a channel with these constraints alone, whatever it leaks, as far as floats tell."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, eye_array, kron, vstack

        size, vertices = self.source.alphabet_size, self._vertices
        lower, upper, most = np.zeros((size, size)), np.ones((size, size)), None
        equal, right = [kron(eye_array(size), np.ones((1, size)))], [np.ones(size)]
        for kind, what in parts:
            if kind == "keep":
                lower[what, what] = self._constraints.floors[what]
            elif kind == "forbidden":
                upper[what] = 0.0
            elif kind == "invariant":
                equal += [kron(prior[np.newaxis], eye_array(size)) for prior in vertices]
                right += list(vertices)
            else:
                most = what * (1 + _KEPT)
        if (lower > upper).any():
            return False
        charges = coo_array((vertices[:, :, np.newaxis] * self.distances).reshape(len(vertices), -1))
        found = linprog(
            np.zeros(size * size),
            A_ub=None if most is None else charges / max(most, 1e-9),
            b_ub=None if most is None else np.full(len(vertices), most / max(most, 1e-9)),
            A_eq=vstack(equal),
            b_eq=np.concatenate(right),
            bounds=np.column_stack([lower.ravel(), upper.ravel()]),
            method="highs",
        )
        return found.status != 2
