"""The best mechanism for databases of records: distortion counts the records changed, neighbors differ in one record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.certificates.documents import MOST_PROVED, save
from paper_repro.checks import check_changes, check_count, check_grid, check_leakage
from paper_repro.deprecated import accepts_old_call, says_how
from paper_repro.errors import Clause, wrong
from paper_repro.graphs import MOST_WRITTEN_OUT, check_database_space, hamming
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import Notion, Proposal
from paper_repro.solvers.profiles import ProfileProgram, expected_distortion, log_shell_sizes
from paper_repro.sources import SourceSet, check_source
from paper_repro.tradeoff import Judged, OptimalMechanism, certified, check_budgets, check_notion
from paper_repro.types import FloatArray, ShownAsTable

__all__ = [
    "DatabaseOptimum",
    "Profile",
    "database_distances",
    "database_distortion_curve",
    "database_leakage_curve",
    "optimal_database_mechanism",
]

# Databases over which a program over the whole channel is solved.
_MOST_SOLVED = 32
# What the closed forms may be off, relative to the figure.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Profile(ShownAsTable):
    """A mechanism for databases that depends on the number of records changed alone.

    Parameters
    ----------
    values : int
        m, of each record.
    log_probabilities : ndarray, shape (records + 1,)
        Logarithm of the probability of one database that differs from the true one in 0 .. n records.

    Examples
    --------
    >>> keep = Profile(2, np.log([0.64, 0.16, 0.04]))  # each of two bits is changed with probability 1/5
    >>> keep
    Profile(m=2, n=2)
    >>> keep.changed, keep.matrix[0]
    (array([0.64, 0.32, 0.04]), array([0.64, 0.16, 0.16, 0.04]))
    """

    values: int
    log_probabilities: FloatArray

    @property
    def records(self) -> int:
        """Number of records of a database, n."""
        return len(self.log_probabilities) - 1

    @property
    def changed(self) -> FloatArray:
        """Probability that 0 .. n records are changed, shape (records + 1,)."""
        return np.exp(log_shell_sizes(self.values, self.records) + self.log_probabilities)

    @property
    def matrix(self) -> FloatArray:
        """The whole channel, shape (m^n, m^n), databases in the order of :func:`paper_repro.graphs.databases`.

        Raises
        ------
        ValueError
            If there are more than 2048 databases; the profile says it all.
        """
        return np.exp(self.log_probabilities)[database_distances(self.values, self.records).astype(np.intp)]

    def __repr__(self) -> str:
        return f"Profile(m={self.values}, n={self.records})"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        columns = ("probability to change so many records", "of one such database")
        return repr(self), range(self.records + 1), columns, np.array([self.changed, np.exp(self.log_probabilities)]).T


@dataclass(frozen=True, eq=False)
class DatabaseOptimum(ShownAsTable):
    """A best mechanism for databases and its certificate; the fields of :class:`paper_repro.tradeoff.OptimalMechanism` and more.

    Attributes
    ----------
    values, records : int
        m and n: a database has n records with m values each.
    notion : Notion
    leakage : float
        Nats, evaluated from the mechanism.
    distortion : float
        Expected number of records changed, worst case over the source set.
    gap : float
        How far the result can be from the optimum, in ``gap_unit``; negative by rounding only.
    gap_unit : str
        ``nats`` at a distortion budget, ``distortion``, a number of records, at a leakage budget.
    profile : Profile or None
        The mechanism, if it depends on the number of records changed alone: always for the uniform prior.
    """

    values: int
    records: int
    notion: Notion
    leakage: float
    distortion: float
    gap: float
    gap_unit: str
    profile: Profile | None
    _judged: OptimalMechanism

    @cached_property
    def mechanism(self) -> Mechanism:
        """The whole channel, shape (m^n, m^n), databases in the order of :func:`paper_repro.graphs.databases`.

        Raises
        ------
        ValueError
            If there are more than 2048 databases; ``profile`` says it all.
        """
        return self._judged.mechanism if self.profile is None else Mechanism(self.profile.matrix)

    @property
    def source(self) -> SourceSet:
        """The source set over the databases; if none was given, the uniform prior.

        Raises
        ------
        ValueError
            If there are more than 2048 databases and none was given; each has probability ``values ** -records``.
        """
        given: SourceSet | None = self._judged.source
        return SourceSet(self._uniform_prior) if given is None else given

    @property
    def least_favorable_prior(self) -> FloatArray | None:
        """A member of the source set that forces the result by itself, shape (m^n,): the uniform one if it is among them.

        None where no such prior exists or is known.

        Raises
        ------
        ValueError
            If there are more than 2048 databases; each has probability ``values ** -records``.
        """
        return self._uniform_prior if self.profile is not None else self._judged.least_favorable_prior

    @property
    def utility(self) -> float:
        """Expected share of the records that are published as they are, in the worst case: 1 less ``distortion / records``."""
        return 1 - self.distortion / self.records

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """A proof of the optimum over all channels, as of :attr:`paper_repro.tradeoff.OptimalMechanism.certificate`.

        Letters are the databases, costs the numbers of records in which they differ.

        Raises
        ------
        ValueError
            Above 64 databases, whose channels fit no file, or where a file cannot prove what is asked: the message says why.
        CertificateError
            If the checker refuses what was found.
        """
        if self.values ** min(self.records, 7) > MOST_PROVED:
            raise ValueError(
                wrong(
                    "values ** records",
                    f"be at most {MOST_PROVED} databases for a certificate, whose channel has to fit a file",
                    Clause(f"{self.values}^{self.records}"),
                    "For more databases use the gap of the result.",
                )
            )
        costs, uniform = database_distances(self.values, self.records), self.profile is not None
        graph = hamming(self.values, self.records) if self.records > 1 else None
        judged = replace(
            self._judged,
            notion=self.notion.with_neighbors(graph) if graph is not None and uniform else self._judged.notion,
            mechanism=self.mechanism,
            costs=costs,
        )
        if uniform:
            exact = SourceSet([f"1/{len(costs)}"] * len(costs))
            judged = replace(judged, source=exact, worst_prior=exact.vertices[0])
        return judged.certificate

    def write_certificate(self, path: str | Path) -> None:
        """Write the :attr:`certificate` into a file. Errors as of :attr:`certificate`, and OSError if it cannot be written."""
        save(self.certificate, path)

    @property
    def log_profile(self) -> FloatArray | None:
        """Logarithms of the probabilities of ``profile``, shape (records + 1,), or None."""
        return None if self.profile is None else self.profile.log_probabilities

    @property
    def matrix(self) -> FloatArray:
        """That of ``mechanism``, shape (m^n, m^n); ValueError if there are more than 2048 databases."""
        return self.mechanism.matrix

    @property
    def _uniform_prior(self) -> FloatArray:
        count = _check_written_out(self.values, self.records, "prior")
        return np.full(count, 1 / count)

    def __repr__(self) -> str:
        return (
            f"DatabaseOptimum(m={self.values}, n={self.records}, {self.notion.title}: leakage={self.leakage:.6f} nats, "
            f"distortion={self.distortion:.6f} records, gap={self.gap:.0e} {self.gap_unit})"
        )

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        return repr(self), *(self.mechanism if self.profile is None else self.profile)._table()[1:]


@says_how("write optimal_database_mechanism(values, records, distortion=...), or leakage=...")
def optimal_database_mechanism(
    values: int,
    records: int,
    *,
    distortion: float | None = None,
    leakage: float | None = None,
    notion: Notion | None = None,
    source: SourceSet | None = None,
) -> DatabaseOptimum:
    """The mechanism of least leakage at a distortion, or of least distortion at a leakage, for databases (Definition 4).

    The global framework of Zhong and Bu 2022 (Section III), exact where their Theorems 6 and 7 have bounds. For the uniform
    prior, and for source sets that contain it where the notion allows, it is found among the mechanisms that depend on the number
    of records changed alone, in closed form or by one scalar equation, for up to a million records
    (:mod:`paper_repro.solvers.profiles`). For any other source set a program over the whole channel is solved, for at
    most 32 databases.

    Parameters
    ----------
    values, records : int, >= 1
        m and n.
    distortion : float in [0, records], or
    leakage : float >= 0, in nats, infinity allowed
        Exactly one of the two. Distortion is the expected number of records changed.
    notion : Notion, default ``DifferentialPrivacy()``
        Neighbors are the databases that differ in one record: a notion with a graph is refused.
    source : SourceSet over the ``values ** records`` databases, optional
        In the order of :func:`paper_repro.graphs.databases`; the uniform prior, if not given.

    Returns
    -------
    DatabaseOptimum
        Certified as :func:`paper_repro.tradeoff.optimal_mechanism`; closed forms to 1e-9 of the figure. Logarithms of
        probabilities grow with the number of records, and their rounding with them: relative to the figure, about 1e-12 for
        10,000 records and 1e-10 for a million, where some certificates no longer close.

    Raises
    ------
    ValueError
        If ``values`` or ``records`` is no whole number, a budget is outside its range, both or neither are given, the source set
        is over another number of letters, there are more than a million records, or too many databases for a source set
        without the uniform prior.
    CertificateError
        If the certificate does not close.

    Examples
    --------
    >>> best = optimal_database_mechanism(50, 1000, distortion=100.0)
    >>> round(best.leakage, 9) == round(math.log(49 * 900 / 100), 9)
    True
    >>> from paper_repro.notions import MaximalLeakage
    >>> round(optimal_database_mechanism(2, 2, distortion=0.4, notion=MaximalLeakage()).leakage, 5)
    0.87547
    """
    notion, optimizer = _optimizer(values, records, notion, source)
    distortion, leakage = check_budgets(distortion, leakage, partial(check_changes, records=records))
    given = {"leakage": leakage} if math.isinf(distortion) else {"distortion": distortion}
    best = certified(notion, optimizer, distortion=distortion, leakage=leakage, budget=given)
    profile = best.mechanism if isinstance(best.mechanism, Profile) else None
    return DatabaseOptimum(
        int(values), int(records), best.notion, best.leakage, best.distortion, best.gap, best.gap_unit, profile, best
    )


@accepts_old_call("notion", "source")
def database_leakage_curve(
    values: int,
    records: int,
    distortions: ArrayLike,
    *,
    notion: Notion | None = None,
    source: SourceSet | None = None,
) -> FloatArray:
    """Least leakage at each distortion, in nats: the privacy-distortion function of the global framework.

    Parameters
    ----------
    distortions : array_like of any shape, in [0, records]
        Expected numbers of records changed.
    values, records, notion, source
        With guarantee and errors as of :func:`optimal_database_mechanism`.

    Returns
    -------
    ndarray of the shape of ``distortions``

    Examples
    --------
    >>> database_leakage_curve(2, 3, [0.3, 0.8, 1.5]).round(6)
    array([2.197225, 1.011601, 0.      ])
    """
    notion, optimizer = _optimizer(values, records, notion, source)
    grid = check_grid(distortions, partial(check_changes, records=records))
    found = [certified(notion, optimizer, distortion=float(budget)).leakage for budget in grid.flat]
    return np.array(found, dtype=float).reshape(grid.shape)


def database_distortion_curve(
    values: int,
    records: int,
    leakages: ArrayLike,
    *,
    notion: Notion | None = None,
    source: SourceSet | None = None,
) -> FloatArray:
    """Least distortion at each leakage, an expected number of records changed: the inverse of :func:`database_leakage_curve`.

    Parameters
    ----------
    leakages : array_like of any shape, >= 0, in nats, infinity allowed
    values, records, notion, source
        With guarantee and errors as of :func:`optimal_database_mechanism`.

    Returns
    -------
    ndarray of the shape of ``leakages``

    Examples
    --------
    >>> database_distortion_curve(2, 3, [math.log(9), 0.0, math.inf])
    array([0.3, 1.5, 0. ])
    """
    notion, optimizer = _optimizer(values, records, notion, source)
    grid = check_grid(leakages, check_leakage)
    found = [certified(notion, optimizer, leakage=float(budget)).distortion for budget in grid.flat]
    return np.array(found, dtype=float).reshape(grid.shape)


def database_distances(values: int, records: int) -> FloatArray:
    """Number of records in which two databases differ, shape (m^n, m^n), in the order of :func:`paper_repro.graphs.databases`.

    Raises
    ------
    ValueError
        If there are more than 2048 databases.

    >>> database_distances(2, 2)
    array([[0., 1., 1., 2.],
           [1., 0., 2., 1.],
           [1., 2., 0., 1.],
           [2., 1., 1., 0.]])
    """
    _check_written_out(values, records, "channel")
    different, distances = 1.0 - np.eye(values), np.zeros((1, 1))
    for _ in range(records):
        distances = np.add.outer(distances, different).transpose(0, 2, 1, 3).reshape(len(distances) * values, -1)
    return distances


class _ProfileOptimizer:
    """The best symmetric mechanisms for databases, as the judge asks for them; see :mod:`paper_repro.solvers.profiles`."""

    def __init__(self, notion: Notion, program: ProfileProgram, source: SourceSet | None) -> None:
        self.notion, self.source, self._program = notion, source, program

    def __str__(self) -> str:
        return f"{self._program.values}^{self._program.records} databases"

    def at_distortion(self, distortion: float) -> Proposal:
        return Proposal(self._program.at_distortion(distortion), np.ones(1))

    def at_leakage(self, leakage: float) -> Proposal:
        return Proposal(self._program.at_leakage(leakage), np.ones(1))

    def mechanism(self, proposal: Proposal) -> Profile:
        return Profile(self._program.values, proposal.mechanism)

    def leakage(self, mechanism: Profile) -> float:
        return self._program.leakage(mechanism.log_probabilities)

    def distortion(self, mechanism: Profile) -> float:
        return expected_distortion(mechanism.log_probabilities, mechanism.values)

    def prior(self, proposal: Proposal) -> None:
        """The uniform one, which is not written out."""

    least_favorable_prior = prior

    def tolerance(self, figure: float, unit: str) -> float:
        return self.rounding(figure, unit)

    def rounding(self, figure: float, unit: str) -> float:
        return _ROUNDING * (1 + figure)

    def least_leakage(self, proposal: Proposal, distortion: float) -> float:
        return self._program.least_leakage(distortion)

    def least_distortion(self, proposal: Proposal, leakage: float) -> float:
        return self._program.least_distortion(leakage)


def _optimizer(values: int, records: int, notion: Notion | None, source: SourceSet | None) -> tuple[Notion, Judged]:
    values, records = check_count(values, "values"), check_count(records, "records")
    notion = check_notion(notion, of_records=True)
    if source is not None:
        _check_source(source, values, records)
    if source is None or notion.is_worst_at_uniform(source):
        return notion, _ProfileOptimizer(notion, notion.profile_program(values, records), source)
    if source.alphabet_size > _MOST_SOLVED:
        raise ValueError(
            wrong(
                "source",
                f"be over at most {_MOST_SOLVED} databases, as it needs a linear or convex program",
                Clause(f"{values}^{records}"),
                "The uniform prior (source=None) has a closed form for any number, and parallel_composition publishes "
                "records one by one.",
            )
        )
    notion = notion.with_neighbors(hamming(values, records))
    return notion, notion.optimizer(source, database_distances(values, records))


def _check_source(source: SourceSet, values: int, records: int) -> None:
    check_source(source)
    # Logarithms first: the power itself may have millions of digits.
    if records * math.log(values) > 40 or values**records != source.alphabet_size:
        raise ValueError(
            wrong("source", f"have one probability for each of {values}^{records} databases", source.alphabet_size)
        )


def _check_written_out(values: int, records: int, what: str) -> int:
    return check_database_space(
        values,
        records,
        MOST_WRITTEN_OUT,
        f"to write out their {what}",
        "Use the profile by number of records changed, which is all that a symmetric mechanism has.",
    )
