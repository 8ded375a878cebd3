"""The best mechanism for a source set, a notion and a budget, with a certificate that needs no trust in a solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.certificates.documents import MOST_PROVED, certificate, save
from paper_repro.checks import (
    as_fraction,
    as_number,
    check_between,
    check_distortion,
    check_grid,
    check_leakage,
    check_matrix_fits,
    check_same_letters,
    frame_labels,
)
from paper_repro.deprecated import says_how
from paper_repro.errors import CertificateError, Clause, shown, wrong
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy, Notion, Proposal
from paper_repro.notions.constrained import ConstrainedOptimizer, Constraints
from paper_repro.solvers.games import reaches
from paper_repro.sources import SourceSet, check_source
from paper_repro.types import FloatArray, ShownAsTable

__all__ = ["OptimalMechanism", "certified", "optimal_mechanism", "solver"]

# What a row's floats may miss 1 by.
_ULPS = 1e-15


@dataclass(frozen=True, eq=False)
class OptimalMechanism(ShownAsTable):
    """A best mechanism and its certificate; every number is evaluated from the matrix, not reported by a solver.

    Attributes
    ----------
    source : SourceSet
    notion : Notion
    mechanism : Mechanism
    leakage : float
        Nats. Rounded up from exact rational arithmetic for notions that compare probabilities (differential privacy, its
        approximate version, maximal information, maximal leakage); an upper bound tight within 1e-10 for mutual and Sibson
        information; exact up to rounding for Renyi differential privacy.
    distortion : float
        Worst case over the source set: a probability of change, or an expected distance if there are ``costs``.
    least_favorable_prior : ndarray, shape (M,), or None
        A member of the source set that forces the result by itself: were it known to be the prior, no mechanism would do better.
        None where no such prior exists or is known.
    worst_prior : ndarray, shape (M,)
        A member of the source set: the mixture of the vertices whose distortion binds, weighed by their dual variables. It is
        least favorable where every mechanism is held to the budget over the whole set.
    multipliers : tuple of ndarrays
        Dual variables that the lower bound needs beside that prior, of the shapes that the notion's solver lists; empty if none.
    gap : float
        How far the result can be from the optimum, in ``gap_unit``: at a distortion budget its leakage less a lower bound, at a
        leakage budget its distortion less one, evaluated from dual variables alone; negative only by rounding.
    gap_unit : str
        ``nats`` at a distortion budget, ``distortion`` at a leakage budget.
    costs : ndarray, shape (M, M), or None
        Distances from the true letter to the published one; None for Hamming distortion.
    budget : dict
        What was asked for: a ``distortion``, or a ``leakage`` in nats; rational numbers as :class:`paper_repro.checks.Rounded`.
    cost_unit : float
        Of the distortions that multipliers are for: a power of 2, 1 unless all costs are large or small.
    constraints : Constraints or None
        What was asked for beside that: chances to be kept, frequencies that stay, forbidden pairs.
    """

    source: SourceSet
    notion: Notion
    mechanism: Mechanism
    leakage: float
    distortion: float
    least_favorable_prior: FloatArray | None
    worst_prior: FloatArray
    multipliers: tuple[FloatArray, ...]
    gap: float
    gap_unit: str
    costs: FloatArray | None = None
    budget: Mapping[str, Any] = field(default_factory=dict)
    cost_unit: float = 1.0
    constraints: Constraints | None = None
    _given_costs: Any = field(default=None, repr=False)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """A proof of the optimum that needs no trust: a document in exact rationals, see :mod:`paper_repro.certificates`.

        ``privacy-distortion check`` verifies it once it is in a file, by :meth:`write_certificate`. It has bounds of the optimum,
        which are one rational number for differential privacy, approximate differential privacy, maximal leakage and maximal
        information wherever the optimum is rational; a mechanism that has the upper one; multipliers that prove the lower one.

        Where the source set is one of intervals, it is about all between the bounds.

        Raises
        ------
        ValueError
            If there can be no file: above 2,000 letters, or 64 where programs are over the whole channel, and under constraints
            for information and Renyi divergences at some budgets; the message says why.
        CertificateError
            If the checker refuses what was found.
        """
        given = self.costs if self._given_costs is None else self._given_costs
        costs = None if given is None else [[as_fraction(cost) for cost in row] for row in given.tolist()]
        budget = {name: value if value == math.inf else as_fraction(value) for name, value in self.budget.items()}
        return certificate(self.source, self.notion, **budget, costs=costs, constraints=self.constraints, about=self)

    def write_certificate(self, path: str | Path) -> None:
        """Write the :attr:`certificate` into a file. Errors as of :attr:`certificate`, and OSError if it cannot be written."""
        save(self.certificate, path)

    @property
    def utility(self) -> float:
        """Binary gain in the worst case, 1 less the distortion: with Hamming distortion, the probability of no change."""
        return 1 - self.distortion

    def __repr__(self) -> str:
        return (
            f"OptimalMechanism({self.notion.title}: leakage={self.leakage:.6f} nats, distortion={self.distortion:.6f}, "
            f"gap={self.gap:.0e} {self.gap_unit})"
        )

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        forcing, corner = self.least_favorable_prior, self.mechanism.corner
        name, prior = ("worst prior", self.worst_prior) if forcing is None else ("least favorable prior", forcing)
        rows = [*self.source.labels, name]
        return repr(self), rows, self.source.labels, np.vstack([corner, prior[: len(corner)]])


@says_how("write optimal_mechanism(source, distortion=...) or optimal_mechanism(source, leakage=...)")
def optimal_mechanism(
    source: SourceSet,
    *,
    distortion: float | None = None,
    leakage: float | None = None,
    notion: Notion | None = None,
    costs: ArrayLike | None = None,
    keep_at_least: float | ArrayLike | Mapping[Hashable, float] | None = None,
    invariant: bool = False,
    forbidden: Iterable[tuple[Hashable, Hashable]] | None = None,
) -> OptimalMechanism:
    """The mechanism of least leakage at a distortion, or of least distortion at a leakage, over a source set.

    The privacy-distortion problem of Kalantari et al. 2018 (Definition 4 for differential privacy, eq. (25) for mutual
    information) and of Zhong and Bu 2022 (Definition 4), exact for every source set of every class and for all seven notions:

        minimize  leakage(Q)   subject to   max_P sum_ij P_i Q_ij d_ij <= distortion      (or the other way round).

    Parameters
    ----------
    source : SourceSet
    distortion : float in [0, 1], or with ``costs`` in [0, largest cost], or
    leakage : float >= 0, in nats, infinity allowed
        Exactly one of the two.
    notion : Notion, default ``DifferentialPrivacy()``
    costs : array_like, shape (M, M), optional
        Distances ``d_ij`` from letter i to letter j: finite, >= 0, and 0 from a letter to itself. Not given, every change costs
        1: Hamming distortion, for which most notions have a smaller and faster program. The names of a DataFrame have to be
        the source's letters.
    keep_at_least : float, array_like of shape (M,) or mapping of letters to floats, optional
        Least probability with which letters are published as they are: one for all, one for each, or some by name.
    invariant : bool, default False
        Whether the expected frequencies have to stay as they are, ``P Q = P``: for the one prior, or every vertex of the set.
    forbidden : pairs (true letter, published letter), optional
        Letters that must never be published in place of others. Under differential privacy a letter that is never published
        for one of its neighbors is published for none; approximate differential privacy, maximal leakage and maximal
        information leave a choice.

        These three are for up to 500 letters under differential privacy between all letters and maximal leakage, without
        ``costs`` and, where frequencies stay, for one prior; then under maximal information too. Else the program is over the
        whole channel: at most 60 letters, or 32 for information and Renyi divergences.

    Returns
    -------
    OptimalMechanism
        Certified: at a distortion budget ``gap`` is at most ``notion.tolerance`` in nats, at a leakage budget so much relative to
        the distortion. That is 1e-9 for the notions of ratios (differential privacy, its approximate version, maximal
        information) and maximal leakage, and 1e-6 for mutual and Sibson information and Renyi differential privacy. Budgets are
        kept up to rounding. A distortion below the jump to zero leakage by at most 1e-12, and by 1e-11 of it, counts as at the
        jump. At distortion 0 the leakage of differential privacy is infinite, unless one letter carries all probability.

    Raises
    ------
    ValueError
        If both or neither of the budgets are given, one is outside its range, or the source, the notion or the costs are none;
        if constraints contradict each other, the budget or the notion: the message says which.
    CertificateError, SolverError
        If the certificate does not close within the tolerance, or no program finds a mechanism to judge.

    Examples
    --------
    >>> best = optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), distortion=0.3)
    >>> best
    OptimalMechanism(differential privacy: leakage=1.540445 nats, distortion=0.300000, gap=0e+00 nats)
    >>> best.mechanism.matrix.round(2)
    array([[0.7 , 0.15, 0.15],
           [0.15, 0.7 , 0.15],
           [0.15, 0.15, 0.7 ]])

    Grades that count as far off as they are apart:

    >>> apart = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), distortion=0.3, costs=apart).mechanism.matrix.round(2)
    array([[0.78, 0.11, 0.11],
           [0.11, 0.78, 0.11],
           [0.11, 0.11, 0.78]])

    Frequencies that stay as they are, while every letter is kept in at least half of all cases:

    >>> kept = optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), distortion=0.3, invariant=True, keep_at_least=0.5)
    >>> round(kept.leakage, 6), (kept.source.vertices @ kept.mechanism.matrix).round(12)
    (1.651802, array([[0.5, 0.3, 0.2]]))
    """
    constraints = Constraints.of(check_source(source), keep_at_least, invariant, forbidden)
    solve, check = solver(source, notion, costs, constraints)
    most, nats = check_budgets(distortion, leakage, check)
    return solve(distortion=most, leakage=nats)


def check_costs(costs: ArrayLike, source: SourceSet) -> FloatArray:
    """Return distances between letters, shape (M, M), as floats, or raise unless they are finite, >= 0, and on the diagonal 0.

    >>> check_costs([[0, 2], [1, 0]], SourceSet([0.5, 0.5]))
    array([[0., 2.],
           [1., 0.]])
    """
    size = check_source(source).alphabet_size
    check_matrix_fits(size, "a table of costs", "Leave costs out for Hamming distortion.")
    try:
        distances = check_grid(costs, as_number)
    except (TypeError, ValueError):
        raise ValueError(wrong("costs", f"be a table of numbers of shape ({size}, {size})", costs)) from None
    if distances.shape != (size, size):
        raise ValueError(
            wrong(
                "costs",
                f"have shape ({size}, {size}), a row for each true category and a column for each published one",
                Clause(f"shape {distances.shape}"),
            )
        )
    bad = np.argwhere(~(np.isfinite(distances) & (distances >= 0)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            wrong(
                f"costs[{row}, {column}]",
                "be finite and at least 0",
                float(distances[row, column]),
                "For a change that must not happen, take a number far above the distortion, such as 100 times it.",
            )
        )
    if distances.diagonal().any():
        letter = int(np.flatnonzero(distances.diagonal())[0])
        raise ValueError(
            wrong(
                f"costs[{letter}, {letter}]",
                "be 0, as nothing is changed",
                float(distances[letter, letter]),
                "Subtract it from the row, and count only changes in the distortion.",
            )
        )
    for names in (frame_labels(costs), frame_labels(costs, "labels")):
        check_same_letters(names, source.labels, "the costs and the source set")
    distances.setflags(write=False)
    return distances


def check_budgets(
    distortion: float | None, leakage: float | None, check: Callable[[float], float]
) -> tuple[float, float]:
    """Return the two budgets as floats, infinite for the one that is not given, or raise unless exactly one of them is.

    ``check`` is that of the distortion.

    >>> check_budgets(0.2, None, check_distortion)
    (0.2, inf)
    """
    if (distortion is None) == (leakage is None):
        both = f"both, distortion={shown(distortion)} and leakage={shown(leakage)}"
        given = both if distortion is not None else "neither"
        raise ValueError(wrong("exactly one of distortion and leakage", "be given", Clause(given)))
    return (
        math.inf if distortion is None else check(distortion),
        math.inf if leakage is None else check_leakage(leakage),
    )


def check_notion(notion: Notion | None, *, of_records: bool = False) -> Notion:
    """Return the notion, differential privacy by default, or raise if it is something else; for records, if it has a graph.

    >>> check_notion(None)
    DifferentialPrivacy()
    """
    if notion is None:
        return DifferentialPrivacy()
    if not isinstance(notion, Notion):
        raise ValueError(
            wrong("notion", "be a privacy notion such as MutualInformation()", notion, "See notion_by_name.")
        )
    if of_records and getattr(notion, "adjacency", None) is not None:
        raise ValueError(
            wrong(
                "notion",
                "have no adjacency here, as neighbors are databases that differ in one record",
                notion,
                "Make it without adjacency.",
            )
        )
    return notion


def solver(
    source: SourceSet, notion: Notion | None, costs: ArrayLike | None, constraints: Constraints | None = None
) -> tuple[Callable[..., OptimalMechanism], Callable[[float], float]]:
    """What solves at a budget, and the check of a distortion: a probability of change, or with costs an expected one of them.

    Costs have shape (M, M). Raises ValueError as :func:`optimal_mechanism` does.

    >>> solve, check = solver(SourceSet([0.5, 0.3, 0.2]), None, None)
    >>> round(solve(distortion=check(0.3)).leakage, 6)
    1.540445
    """
    source, notion, unit, distances, exact = check_source(source), check_notion(notion), 1.0, None, None
    check: Callable[[float], float] = check_distortion
    if costs is not None:
        distances = check_costs(costs, source)
        if len(distances) <= MOST_PROVED:
            exact = np.array(getattr(costs, "values", costs), dtype=object)
        allowed = f"an expected cost between 0 and {(most := float(distances.max())):g}, the largest of the costs"
        check = partial(check_between, allowed=allowed, least=0, most=most)
        if most > 0 and abs(power := round(math.log2(np.median(distances[distances > 0])))) > 6:
            unit = 2.0**power  # programs and tolerances are made for distortions of order 1; powers of 2 round nothing
    scaled = None if distances is None else distances / unit
    optimizer = (
        notion.optimizer(source, scaled)
        if constraints is None
        else ConstrainedOptimizer(notion, source, constraints, scaled)
    )

    def solve(*, distortion: float = math.inf, leakage: float = math.inf) -> OptimalMechanism:
        budget = {"leakage": leakage} if math.isinf(distortion) else {"distortion": distortion}
        found = certified(notion, optimizer, distortion=distortion / unit, leakage=leakage, budget=budget)
        if constraints is not None:
            found = replace(found, constraints=constraints)
        if distances is None:
            return found
        gap = found.gap * unit if found.gap_unit == "distortion" else found.gap
        spent = found.distortion * unit
        return replace(found, distortion=spent, gap=gap, costs=distances, cost_unit=unit, _given_costs=exact)

    return solve, check


class Judged(Protocol):
    """What the judge asks: all that :class:`paper_repro.notions.Optimizer` says of itself, or the optimizer of databases."""

    @property
    def source(self) -> Any: ...
    def at_distortion(self, distortion: float) -> Proposal: ...
    def at_leakage(self, leakage: float) -> Proposal: ...
    def mechanism(self, proposal: Proposal) -> Any: ...
    def leakage(self, mechanism: Any) -> float: ...
    def distortion(self, mechanism: Any) -> float: ...
    def prior(self, proposal: Proposal) -> Any: ...
    def least_favorable_prior(self, proposal: Proposal) -> Any: ...
    def tolerance(self, figure: float, unit: str) -> float: ...
    def rounding(self, figure: float, unit: str) -> float: ...
    def least_leakage(self, proposal: Proposal, distortion: float) -> float: ...
    def least_distortion(self, proposal: Proposal, leakage: float) -> float: ...


def certified(
    notion: Notion,
    optimizer: Judged,
    *,
    distortion: float = math.inf,
    leakage: float = math.inf,
    budget: Mapping[str, Any] | None = None,
) -> OptimalMechanism:
    """A proposal of the optimizer, judged by its own figures and returned only if its certificate closes.

    Leakage is in nats, distortion as the optimizer has it. The budget that is not given is infinite: no limit; ``budget`` is what
    the result says was asked for. What is judged is what the user reads: at a distortion budget the leakage, less a lower bound
    on that of every mechanism that keeps the budget; at a leakage budget the distortion, less a lower bound, and relative to it.

    Raises
    ------
    CertificateError
        If the gap exceeds what the optimizer says is accepted, or the mechanism does not keep the budget.

    >>> notion = DifferentialPrivacy()
    >>> certified(notion, notion.optimizer(SourceSet([0.5, 0.3, 0.2])), distortion=0.3)
    OptimalMechanism(differential privacy: leakage=1.540445 nats, distortion=0.300000, gap=0e+00 nats)
    """
    by_distortion = math.isfinite(distortion)
    proposal = optimizer.at_distortion(distortion) if by_distortion else optimizer.at_leakage(leakage)
    mechanism = optimizer.mechanism(proposal)
    found = optimizer.leakage(mechanism), optimizer.distortion(mechanism)
    worst = optimizer.prior(proposal)
    if worst is not None and not np.isfinite(worst).all():  # what is no prior bounds nothing
        figure, bound, unit = found[0], -math.inf, "nats"
    elif by_distortion:
        figure, bound, unit = found[0], optimizer.least_leakage(proposal, distortion), "nats"
    else:
        figure, bound, unit = found[1], optimizer.least_distortion(proposal, leakage), "distortion"
    gap = 0.0 if figure == bound else figure - bound  # they may both be infinite
    accepted = optimizer.tolerance(figure, unit)
    slack = optimizer.rounding(leakage, "nats"), optimizer.rounding(distortion, "distortion")
    # What misses the jump to no leakage by so little is at it; the floats of a constant answer may sum to an ulp more than 1.
    beside = found[0] <= _ULPS and reaches(distortion + slack[1], found[1])
    kept = found[0] <= leakage + slack[0] and (beside or found[1] <= distortion + slack[1])
    if not (gap <= accepted and kept):
        kind, asked = ("distortion", f"{distortion!r}") if by_distortion else ("leakage", f"{leakage!r} nats")
        about = f"{notion.title} of {optimizer} at {kind} {asked}"
        fix = f"Try a nearby {kind}, or merge the rarest categories."
        if gap <= accepted:
            raise CertificateError(
                f"No mechanism was certified for {about}: the one that was found has leakage {found[0]!r} nats and distortion "
                f"{found[1]!r}. {fix}"
            )
        nats = "nats" if unit == "nats" else "in distortion"
        raise CertificateError(
            f"No certificate within the tolerance of {accepted:g} {nats} for {about}: the remaining gap is {gap:.3g} {nats}. "
            f"{fix}"
        )
    return OptimalMechanism(
        source=optimizer.source,
        notion=notion,
        mechanism=mechanism,
        leakage=found[0],
        distortion=found[1],
        least_favorable_prior=optimizer.least_favorable_prior(proposal),
        worst_prior=worst,
        multipliers=tuple(np.array(part, dtype=float) for part in proposal.certificate),
        gap=gap,
        gap_unit=unit,
        budget=budget or {},
    )
