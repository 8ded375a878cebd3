"""The best mechanism for databases of records: distortion counts the records changed, neighbors differ in one record."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_grid, check_leakage
from paper_repro.errors import CertificateError
from paper_repro.graphs import hamming
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import DifferentialPrivacy, MaximalInformation, Notion, Optimizer
from paper_repro.solvers.profiles import ProfileProgram, expected_distortion
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import certified
from paper_repro.types import FloatArray

__all__ = [
    "DatabaseOptimum",
    "database_distances",
    "database_leakage_curve",
    "optimal_database_mechanism",
    "profile_matrix",
]

# Databases over which a program over the whole channel is solved, and those whose channel is written out.
_MOST_SOLVED, _MOST_WRITTEN = 32, 2048
# What the closed forms may be off, relative to the figure.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class DatabaseOptimum:
    """A best mechanism for databases and its certificate.

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
        How far the result can be from the optimum, in ``notion.gap_unit``; negative by rounding only.
    log_profile : ndarray, shape (records + 1,), or None
        Logarithm of ``Q[x, y]`` by the number of records in which x and y differ, if the mechanism depends on that alone.
    matrix : ndarray, shape (m^n, m^n), or None
        The channel otherwise; databases in the order of :func:`paper_repro.graphs.databases`.
    """

    values: int
    records: int
    notion: Notion
    leakage: float
    distortion: float
    gap: float
    log_profile: FloatArray | None
    matrix: FloatArray | None

    @property
    def mechanism(self) -> Mechanism:
        """The whole channel, shape (m^n, m^n).

        Raises
        ------
        ValueError
            If there are more than 2048 databases; ``log_profile`` says it all.
        """
        if self.matrix is not None:
            return Mechanism(self.matrix)
        return Mechanism(profile_matrix(np.asarray(self.log_profile), self.values))

    def __repr__(self) -> str:
        return (
            f"DatabaseOptimum(m={self.values}, n={self.records}, {self.notion.name}: leakage={self.leakage:.6f} nats, "
            f"distortion={self.distortion:.6f} records, gap={self.gap:.0e} {self.notion.gap_unit})"
        )


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
    of records changed alone, in closed form or by one scalar equation, for thousands of records
    (:mod:`paper_repro.solvers.profile_programs`). For any other source set a program over the whole channel is solved, for at
    most 32 databases.

    Parameters
    ----------
    values, records : int, >= 1
        m and n.
    distortion : float in [0, records], or
    leakage : float >= 0, in nats, infinity allowed
        Exactly one of the two. Distortion is the expected number of records changed.
    notion : Notion, default ``DifferentialPrivacy()``
        Neighbors are the databases that differ in one record, whatever graph the notion has.
    source : SourceSet over the ``values ** records`` databases, optional
        In the order of :func:`paper_repro.graphs.databases`; the uniform prior, if not given.

    Returns
    -------
    DatabaseOptimum
        Certified as :func:`paper_repro.tradeoff.optimal_mechanism`; closed forms to 1e-9 of the figure.

    Raises
    ------
    ValueError
        If a budget is outside its range, both or neither are given, the source set is over another number of letters, or there
        are too many databases for a source set without the uniform prior.
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
    find = _solver(values, records, notion, source)
    if (distortion is None) == (leakage is None):
        given = "both" if distortion is not None else "neither"
        raise ValueError(
            f"give exactly one budget, distortion=... or leakage=..., not {given} "
            f"(got distortion={distortion!r}, leakage={leakage!r})"
        )
    if distortion is not None:
        return find(_check_distortion(distortion, records), None)
    return find(None, check_leakage(math.inf if leakage is None else leakage))


def database_leakage_curve(
    values: int,
    records: int,
    distortions: ArrayLike,
    notion: Notion | None = None,
    source: SourceSet | None = None,
) -> FloatArray:
    """Least leakage at each distortion, in nats: the privacy-distortion function of the global framework.

    Parameters as of :func:`optimal_database_mechanism`; distortions count records, in [0, records].

    >>> database_leakage_curve(2, 3, [0.3, 0.8, 1.5]).round(6)
    array([2.197225, 1.011601, 0.      ])
    """
    find = _solver(values, records, notion, source)
    grid = check_grid(distortions, lambda value: _check_distortion(value, records))
    return np.array([find(float(budget), None).leakage for budget in grid.flat], dtype=float).reshape(grid.shape)


def database_distances(values: int, records: int) -> FloatArray:
    """Number of records in which two databases differ, shape (m^n, m^n), in the order of :func:`paper_repro.graphs.databases`.

    >>> database_distances(2, 2)
    array([[0., 1., 1., 2.],
           [1., 0., 2., 1.],
           [1., 2., 0., 1.],
           [2., 1., 1., 0.]])
    """
    if records * math.log(max(values, 1)) > math.log(_MOST_WRITTEN) + 1e-9:
        raise ValueError(
            f"{values}^{records} databases are too many to write out their channel (at most {_MOST_WRITTEN}); "
            "the profile by number of records changed says it all"
        )
    different = 1.0 - np.eye(values)
    distances = np.zeros((1, 1))
    for _ in range(records):
        distances = (distances[:, np.newaxis, :, np.newaxis] + different[np.newaxis, :, np.newaxis, :]).reshape(
            len(distances) * values, -1
        )
    return distances


def profile_matrix(log_profile: FloatArray, values: int) -> FloatArray:
    """The channel ``Q[x, y] = exp(log_profile[l])`` with l the number of records in which x and y differ, shape (m^n, m^n).

    >>> profile_matrix(np.log([0.75, 0.25]), 2)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    distances = database_distances(values, len(log_profile) - 1)
    return np.exp(log_profile)[distances.astype(np.intp)]


def _solver(
    values: int, records: int, notion: Notion | None, source: SourceSet | None
) -> Callable[[float | None, float | None], DatabaseOptimum]:
    """A function of the two budgets, one of them None, that keeps what it has learned from one call to the next."""
    if values < 1 or records < 1:
        raise ValueError(f"there must be at least 1 value and 1 record, got {values} and {records}")
    if notion is None:
        notion = DifferentialPrivacy()
    if not isinstance(notion, Notion):
        raise ValueError(
            f"notion must be a privacy notion such as MaximalLeakage(), got {notion!r}; see notion_by_name"
        )
    if source is None or _is_uniform_enough(source, values, records, notion):
        return partial(_symmetric, notion.profile_program(values, records), notion)
    if source.alphabet_size > _MOST_SOLVED:
        raise ValueError(
            f"{values}^{records} databases with this source set need a program over {source.alphabet_size} letters, at most "
            f"{_MOST_SOLVED} are solved; the uniform prior (source=None) has a closed form for any number, and records published "
            "one by one are in parallel_composition"
        )
    notion = notion.with_neighbors(hamming(values, records))
    optimizer = notion.optimizer(source, database_distances(values, records))
    return partial(_general, optimizer, notion, values, records)


def _is_uniform_enough(source: SourceSet, values: int, records: int, notion: Notion) -> bool:
    """Whether the set's optimum is that of the uniform prior."""
    if source.alphabet_size != values**records:
        raise ValueError(
            f"the source set is over {source.alphabet_size} letters, and there are {values}^{records} = {values**records} "
            "databases; give one probability per database"
        )
    if isinstance(notion, MaximalInformation):  # it looks at every prior of the set
        return bool(np.abs(source.vertices * source.alphabet_size - 1).max() <= 1e-12)
    return source.source_class == "I"


def _symmetric(
    program: ProfileProgram, notion: Notion, distortion: float | None, leakage: float | None
) -> DatabaseOptimum:
    if distortion is not None:
        profile = program.at_distortion(distortion)
    else:
        profile = program.at_leakage(math.inf if leakage is None else leakage)
    spent, lost = expected_distortion(profile, program.values), program.leakage(profile)
    if notion.gap_unit == "nats":
        gap, size = (
            (0.0, 0.0) if math.isinf(lost) else (lost - program.least_leakage(min(spent, program.records)), lost)
        )
    else:
        # At a distortion budget, no leakage is best whatever is spent; else the budget is judged, not what is left of it.
        used = spent if distortion is None else min(distortion, program.distortion_without_leakage)
        gap, size = (0.0 if lost == 0 and distortion is not None else used - program.least_distortion(lost)), spent
    if distortion is not None:
        over = spent - distortion
    else:
        over = 0.0 if leakage is None or math.isinf(leakage) else lost - leakage
    if not (gap <= _ROUNDING * (1 + size) and over <= _ROUNDING * (1 + max(spent, size))):
        raise CertificateError(
            f"{notion!r} on {program.values}^{program.records} databases at distortion {distortion!r}, leakage {leakage!r}: "
            f"found leakage {lost!r} and distortion {spent!r}, but the certificate leaves a gap of {gap:.3g} in {notion.gap_unit}"
        )
    return DatabaseOptimum(program.values, program.records, notion, lost, spent, gap, profile, None)


def _general(
    optimizer: Optimizer,
    notion: Notion,
    values: int,
    records: int,
    distortion: float | None,
    leakage: float | None,
) -> DatabaseOptimum:
    best = certified(
        notion,
        optimizer,
        distortion=math.inf if distortion is None else distortion,
        leakage=math.inf if leakage is None else leakage,
    )
    return DatabaseOptimum(
        values, records, notion, best.leakage, best.distortion, best.gap, None, best.mechanism.matrix
    )


def _check_distortion(distortion: float, records: int) -> float:
    if not 0 <= distortion <= records:
        raise ValueError(
            f"distortion must be an expected number of records changed between 0 and {records}, got {distortion!r}"
        )
    return float(distortion)
