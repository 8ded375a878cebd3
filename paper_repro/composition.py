r"""Parallel composition: each of n independent records is published through its own mechanism.

Section IV-D of Zhong and Bu 2022. The product channel on ``m^n`` databases, ``Q(y | x) = Q_1(y_1 | x_1) ... Q_n(y_n | x_n)``, is
never built: what it leaks between databases that differ in one record follows from its factors. Rows are taken to sum to 1.

=================================================  ==========================================================================
differential privacy, Renyi differential privacy,  the largest of the factors
approximate differential privacy (standard)
approximate differential privacy (pointwise)       the largest over k of factor k's loss at ``delta / prod_{l != k} max Q_l``
maximal information, maximal leakage, Sibson       the sum of the factors
information, mutual information
=================================================  ==========================================================================
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import as_fraction, as_number, check_changes, check_count, check_same_letters
from paper_repro.deprecated import accepts_old_call, says_how
from paper_repro.errors import Clause, wrong
from paper_repro.graphs import MOST_WRITTEN_OUT
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import Notion
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import OptimalMechanism, check_budgets, check_notion, optimal_mechanism
from paper_repro.types import FloatArray, ShownAsTable

__all__ = [
    "ParallelComposition",
    "parallel_composition",
    "parallel_distortion",
    "parallel_leakage",
    "product_mechanism",
]


@accepts_old_call("notion", "sources")
def parallel_leakage(
    mechanisms: Sequence[Mechanism | ArrayLike],
    *,
    notion: Notion | None = None,
    sources: SourceSet | Sequence[SourceSet] | None = None,
) -> float:
    r"""Leakage of the product channel: record k is published through ``mechanisms[k]``, whatever the others are.

    Neighbors are databases that differ in one record, in whatever way: all letters of a record are neighbors, and a notion with
    a graph is refused. Priors are products, record k's from its own source set; mixtures of such products, under which records
    are dependent, leak no more.

    For the pointwise definition of approximate differential privacy the other records help: a factor's probabilities shrink by
    the probability p of what the others publish, and delta does not, so that its loss is that at ``delta / p``. This grows with
    p, and the largest p is the product of the others' largest entries; at a ``delta / p`` of 1 or more nothing leaks.

    Parameters
    ----------
    mechanisms : sequence of n mechanisms or square matrices
        One per record, of any sizes. One that is listed many times, as in ``[mechanism] * 1000``, is evaluated once.
    notion : Notion, default ``DifferentialPrivacy()``
    sources : SourceSet or sequence of n, optional
        One for all records, or one for each; needed by the notions that look at the prior.

    Returns
    -------
    float
        Nats. Exact for the stored floats and rounded up where :meth:`Notion.leakage` is; for mutual and Sibson information an
        upper bound within 1e-10 per record.

    Raises
    ------
    ValueError
        If there is no mechanism, one is not a channel, the notion has a graph, or the source sets are missing, of another number
        or of other alphabets.

    Examples
    --------
    Theorem 18(1), Zhong and Bu 2022, for fair bits, one in four of which is changed: two records leak less than the 13/5 of one.

    >>> from paper_repro.notions import ApproximateDP, MaximalLeakage
    >>> keep = Mechanism([[0.75, 0.25], [0.25, 0.75]])
    >>> [round(math.exp(parallel_leakage([keep] * n, notion=ApproximateDP(0.1))), 9) for n in (1, 2, 8)]
    [2.6, 2.466666667, 1.0]
    >>> round(37 / 15, 9)
    2.466666667

    Lemma 16(2), for two fair bits and half a change in all: to reveal one and erase the other leaks less than to treat them
    alike.

    >>> reveal, erase = np.eye(2), Mechanism.constant([0.5, 0.5])
    >>> pairs = [reveal, erase], [keep, keep]
    >>> [round(math.exp(parallel_leakage(pair, notion=MaximalLeakage())), 9) for pair in pairs]
    [2.0, 2.25]
    """
    notion = check_notion(notion, of_records=True)
    factors = _factors(mechanisms, sources)
    try:
        return notion.parallel(factors)
    except ValueError as error:
        if sources is not None or not str(error).startswith("source must be a SourceSet"):
            raise
        raise ValueError(
            wrong(
                "sources",
                f"be given for {notion.title}, which depends on them",
                sources,
                "Write parallel_leakage(mechanisms, notion=..., sources=...).",
            )
        ) from None


def parallel_distortion(mechanisms: Sequence[Mechanism | ArrayLike], sources: SourceSet | Sequence[SourceSet]) -> float:
    """Expected number of records changed, each under the worst prior of its source set: the sum over the records.

    Parameters and errors as of :func:`parallel_leakage`.

    >>> parallel_distortion([[[0.75, 0.25], [0.25, 0.75]]] * 1000, SourceSet([0.5, 0.5]))
    250.0
    """
    if sources is None:
        raise ValueError(
            wrong(
                "sources",
                "be given, as the distortion depends on them",
                sources,
                "Write parallel_distortion(mechanisms, sources).",
            )
        )
    return math.fsum(
        count * source.worst_case_distortion(mechanism)
        for mechanism, source, count in _factors(mechanisms, sources)
        if source is not None
    )


def product_mechanism(mechanisms: Sequence[Mechanism | ArrayLike]) -> Mechanism:
    """The product channel itself, over the tuples of letters, the last record's changing fastest.

    In the order of :func:`paper_repro.graphs.databases`, where all records have the same letters. The mechanisms are Mechanisms
    or square matrices, one a record.

    Raises
    ------
    ValueError
        If there are more than 2048 databases; :func:`parallel_leakage` needs no matrix.

    Examples
    --------
    >>> pair = product_mechanism([[[0.75, 0.25], [0.25, 0.75]], Mechanism(np.eye(2), labels="ab")])
    >>> pair.labels
    ((0, 'a'), (0, 'b'), (1, 'a'), (1, 'b'))
    >>> pair.matrix[0]
    array([0.75, 0.  , 0.25, 0.  ])
    """
    channels = _channels(mechanisms)
    rows = math.prod(channel.alphabet_size for channel in channels)
    if rows > MOST_WRITTEN_OUT:
        written = str(rows) if rows < 1e9 else f"about 1e{math.log10(rows):.0f}"
        raise ValueError(
            wrong(
                "mechanisms",
                f"have at most {MOST_WRITTEN_OUT} databases for a channel that is written out",
                Clause(f"{len(channels)} records with {written}"),
                "Use parallel_leakage and parallel_distortion, which need no channel.",
            )
        )
    whole: FloatArray = np.ones((1, 1))
    for channel in channels:
        whole = np.kron(whole, channel.matrix)
    return Mechanism(whole, list(itertools.product(*(channel.labels for channel in channels))))


@dataclass(frozen=True, eq=False)
class ParallelComposition(ShownAsTable):
    """One mechanism, used for every one of n records.

    Attributes
    ----------
    records : int
    local : OptimalMechanism
        The best mechanism for one record at its share of the distortion, with its certificate.
    leakage : float
        Of all records, in nats; see :func:`parallel_leakage`.
    distortion : float
        Expected number of records changed, worst case over the source set.
    """

    records: int
    local: OptimalMechanism
    leakage: float
    distortion: float

    @property
    def mechanism(self) -> Mechanism:
        """What each record is published through."""
        return self.local.mechanism

    def __repr__(self) -> str:
        return (
            f"ParallelComposition(n={self.records}, {self.local.notion.title}: leakage={self.leakage:.6f} nats, "
            f"distortion={self.distortion:.6f} records)"
        )

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        return (repr(self), *self.local._table()[1:])


@says_how("write parallel_composition(source, records, distortion=...), or leakage=...")
def parallel_composition(
    source: SourceSet,
    records: int,
    *,
    distortion: float | None = None,
    leakage: float | None = None,
    notion: Notion | None = None,
) -> ParallelComposition:
    """The best mechanism for one record at its share of the budget, used for every one of n independent records.

    The share of a distortion is D / n. That of a leakage is the n-th part where the losses of records add up, and all of it where
    the largest counts. No other mechanism does better when used for every record (Lemma 16, Zhong and Bu 2022), except for
    pointwise approximate differential privacy, which the lemma leaves out: a record's own loss is then not what it adds, so that
    a leakage has no share. A choice of one mechanism for each record may leak less for maximal leakage (not for differential
    privacy, Renyi differential privacy, standard approximate differential privacy or mutual information), and so may a mechanism
    that sees the whole database, see :func:`paper_repro.databases.optimal_database_mechanism`.

    Parameters
    ----------
    source : SourceSet
        Of each record.
    records : int, 1 <= n <= 10**9
    distortion : float in [0, n], or
    leakage : float >= 0, in nats, infinity allowed
        Exactly one of the two. Distortion is the expected number of records changed; the leakage is that of all records.
    notion : Notion, default ``DifferentialPrivacy()``
        Neighbors are databases that differ in one record: a notion with a graph is refused.

    Returns
    -------
    ParallelComposition

    Raises
    ------
    ValueError, CertificateError
        As :func:`paper_repro.tradeoff.optimal_mechanism`; or if ``records`` is no whole number from 1 to 10**9, or a leakage
        is given for pointwise approximate differential privacy.

    Examples
    --------
    >>> from paper_repro.notions import MutualInformation
    >>> parallel_composition(SourceSet([0.5, 0.3, 0.2]), 1000, distortion=300.0)
    ParallelComposition(n=1000, differential privacy: leakage=1.540445 nats, distortion=300.000000 records)
    >>> parallel_composition(SourceSet([0.5, 0.5]), 1000, leakage=368.064207, notion=MutualInformation())
    ParallelComposition(n=1000, mutual information: leakage=368.064207 nats, distortion=100.000000 records)
    """
    records = check_count(records, "records", most=1e9)  # of each, the distortion is rounded by 1e-16
    changes, nats = check_budgets(distortion, leakage, partial(check_changes, records=records))
    notion = check_notion(notion, of_records=True)
    if distortion is not None:
        local = optimal_mechanism(source, distortion=as_number(as_fraction(changes) / records), notion=notion)
    else:
        local = optimal_mechanism(source, leakage=notion.share_of_leakage(nats, records), notion=notion)
    everyone = [(local.mechanism, source, records)]
    return ParallelComposition(
        records, local, notion.parallel(everyone), records * source.worst_case_distortion(local.mechanism)
    )


def _factors(
    mechanisms: Sequence[Mechanism | ArrayLike], sources: SourceSet | Sequence[SourceSet] | None
) -> list[tuple[Mechanism, SourceSet | None, int]]:
    """Every distinct pair of a mechanism and a source set, and of how many records."""
    channels = _channels(mechanisms)
    if sources is None or isinstance(sources, SourceSet):
        given: list[SourceSet | None] = [sources] * len(channels)
    else:
        try:
            given = list(sources)
        except TypeError:
            raise ValueError(wrong("sources", "be a SourceSet, or a sequence with one per record", sources)) from None
    if len(given) != len(channels):
        raise ValueError(
            wrong(
                "sources",
                f"be one SourceSet for all records, or one for each of {len(channels)} mechanisms",
                len(given),
            )
        )
    for record, (channel, source) in enumerate(zip(channels, given, strict=True)):
        if source is not None and not isinstance(source, SourceSet):
            raise ValueError(
                wrong(f"sources[{record}]", "be a SourceSet", source, "Write SourceSet(...) around the priors.")
            )
        if source is not None and source.alphabet_size != channel.alphabet_size:
            raise ValueError(
                wrong(
                    f"sources[{record}]",
                    f"have {channel.alphabet_size} categories, as the mechanism of that record",
                    source.alphabet_size,
                )
            )
        if source is not None:
            check_same_letters(channel.labels, source.labels, f"record {record}: the mechanism and the source set")
    counts = Counter(zip(channels, given, strict=True))  # both are hashed by identity
    return [(channel, source, count) for (channel, source), count in counts.items()]


def _channels(mechanisms: Sequence[Mechanism | ArrayLike]) -> list[Mechanism]:
    """One mechanism per record, the same object wherever the same was given."""
    if isinstance(mechanisms, Mechanism):
        raise ValueError(
            wrong("mechanisms", "be a sequence, one per record", mechanisms, "Write [mechanism] * records.")
        )
    try:
        listed = list(mechanisms)
    except TypeError:
        raise ValueError(wrong("mechanisms", "be a sequence, one per record", mechanisms)) from None
    if not listed:
        raise ValueError(wrong("mechanisms", "be those of at least 1 record", Clause("none")))
    known: dict[int, Mechanism] = {}
    for record, entry in enumerate(listed):
        if id(entry) not in known:
            try:
                known[id(entry)] = entry if isinstance(entry, Mechanism) else Mechanism(entry)
            except ValueError as error:
                raise ValueError(f"record {record}: {error}") from None
    return [known[id(entry)] for entry in listed]
