"""The release of a column: its source set, the optimal mechanism for that, what it leaks, and the values that it publishes."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import paper_repro
from paper_repro.checks import shortened
from paper_repro.columns.documents import MechanismDocument, words_of
from paper_repro.columns.estimable import amplifications
from paper_repro.columns.estimable import estimable as made_estimable
from paper_repro.columns.knowing import Column, Policy, known_labels, known_source, read_column
from paper_repro.columns.randomness import Bits, Consistent, OperatingSystem, Seeded
from paper_repro.columns.sampler import IntegerSampler
from paper_repro.columns.tables import Categories, arrow_module, integers_of, open_table
from paper_repro.columns.writing import check_output, whole_or_nothing, write_table
from paper_repro.errors import retold
from paper_repro.notions import NOTION_NAMES, Notion, notion_by_name
from paper_repro.reproduce.cluster import on_cluster
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import OptimalMechanism, optimal_mechanism
from paper_repro.types import FloatArray, IntArray, ShownAsTable

__all__ = ["Release", "Stratum", "release"]

# Categories up to which a document has a certificate of the optimum, and where a table has to be proved, which takes longer.
_MOST_PROVED, _MOST_TABLED = 50, 8
# Those that depend on the prior take a minute for 10**6 categories: beyond so many they are left out, unless asked for.
_MOST_EVALUATED = 100_000
_OF_PRIORS = ("maximal information", "Sibson information", "mutual information")
# Fewer IDs a row are hardly those of persons. What integers may spend beyond a distortion, relatively.
_FEW_IDS, _RESOLVED = 0.2, 1e-9
# Options that the mechanism's document calls so.
_CONSTRAINTS = {"keep_at_least", "forbidden", "invariant"}


@dataclass(frozen=True, eq=False, repr=False)
class Stratum(ShownAsTable):
    """Rows that are released through one mechanism.

    It is printed, and shown in a notebook, without any count of the data: :meth:`report` has them.

    Attributes
    ----------
    name : str
        The value of the column that strata are made ``by``; empty if there is only one stratum.
    counts : ndarray of integers, shape (M,)
        Rows of each category; they are as confidential as the data.
    missing : int
    source : SourceSet
    best : OptimalMechanism
        The least leakage, or distortion, that is possible.
    sampler : IntegerSampler
        The mechanism in integers, from which published values are drawn.
    price : float
        Upper bound of the leakage in nats, or of the distortion, beyond the least possible.
    leakages : dict
        Leakage of the sampler in nats by the name of the notion, rounded up; None where it cannot be evaluated.
    distortion : float
        Distortion of the sampler, the largest over the source set, rounded up; a probability.
    unknowing : float, or None
        The least leakage, or distortion, that is possible if every prior is; None under constraints.
    """

    name: str
    counts: IntArray
    missing: int
    source: SourceSet
    best: OptimalMechanism
    sampler: IntegerSampler
    price: float
    leakages: Mapping[str, float | None]
    distortion: float
    unknowing: float | None

    @property
    def rows(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    @property
    def disappearing(self) -> list[str]:
        """The categories that are never published, or less than once in 1,000 tables of so many rows."""
        never = self.sampler.mechanism.extremes[0] * self.rows < 1e-3
        return [str(self.source.labels[place]) for place in np.flatnonzero(never).tolist()]

    @property
    def effective_rows(self) -> dict[str, float]:
        """Effective sample size of each category: unchanged rows that would give the same standard error, where it is largest.

        Dimensionless, at least 0; it is 0 where the mechanism's matrix is singular.
        """
        noise = amplifications(self.sampler.mechanism)
        return dict(zip(map(str, self.source.labels), (self.rows / noise**2).tolist(), strict=True))

    def report(self) -> dict[str, Any]:
        """The stratum's numbers for machines, counts of the data among them: texts, numbers, and lists of them."""
        by_distortion = self.best.gap_unit == "nats"
        least = self.best.leakage if by_distortion else self.best.distortion
        return {
            "stratum": self.name,
            "rows": self.rows,
            "missing": self.missing,
            "categories": self.source.alphabet_size,
            "source_set": repr(self.source),
            "class": self.source.source_class,
            "notion": self.best.notion.name,
            "budget": {name: float(value) for name, value in self.best.budget.items()},
            "leakage": self.leakages[self.best.notion.name],
            "leakages": dict(self.leakages),
            "distortion": self.distortion,
            "expected_changes": self.distortion * self.rows,
            "unit": self.best.gap_unit,
            "least_possible": least,
            "least_without_knowledge": self.unknowing,
            "price_of_estimability": self.price,
            "never_published": self.disappearing,
            "effective_rows": self.effective_rows,
        }

    def _numbers(self) -> dict[str, float]:
        """The numbers that are shown, by their names; no count of the data is among them."""
        by_distortion = self.best.gap_unit == "nats"
        unit = "nats" if by_distortion else "distortion"
        notions = {name: words_of(self.best.notion if name == self.best.notion.name else notion_by_name(name))
                   for name in self.leakages}  # fmt: skip
        shown = {
            "distortion": self.distortion,
            f"least possible, {unit}": self.best.leakage if by_distortion else self.best.distortion,
            f"price of estimability, {unit}": self.price,
            f"least if every prior is possible, {unit}": self.unknowing,
            **{f"{notions[name]}, nats": nats for name, nats in self.leakages.items()},
        }
        return {name: np.nan if value is None else value for name, value in shown.items()}

    def _words(self) -> str:
        nats = self.leakages[self.best.notion.name]
        leakage = "" if nats is None else f", leakage={nats:.6f} nats"
        return f"{words_of(self.best.notion)}{leakage}, distortion={self.distortion:.6f}, M={self.source.alphabet_size}"

    def __repr__(self) -> str:
        return f"Stratum({f'{self.name!r}: ' * bool(self.name)}{self._words()})"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        numbers = self._numbers()
        return repr(self), list(numbers), [self.name or "value"], np.array([list(numbers.values())], dtype=float).T


@dataclass(frozen=True, eq=False, repr=False)
class Release(ShownAsTable):
    """A column's release, or the preview of one, and the mechanisms through which it goes.

    It is printed, and shown in a notebook, without any count of the data: :meth:`report` has them.

    Attributes
    ----------
    column : str
    strata : tuple of Stratum
    notes : tuple of str
        Notes on the release, a sentence or a few each.
    output : Path, or None
        None if nothing was written.
    documents : tuple of Paths
        The mechanism of each stratum, as JSON.
    frame : DataFrame, or None
        The released table, where a DataFrame was given and no output.
    """

    column: str
    strata: tuple[Stratum, ...]
    notes: tuple[str, ...]
    output: Path | None = None
    documents: tuple[Path, ...] = ()
    frame: Any = field(default=None, repr=False)

    def report(self) -> dict[str, Any]:
        """All numbers of the release for machines, counts of the data among them.

        >>> import pandas as pd
        >>> found = release(pd.DataFrame({"eyes": ["blue"] * 60 + ["brown"] * 40}), "eyes", distortion=0.2, seed=1)
        >>> sorted(found.report())
        ['column', 'documents', 'notes', 'output', 'strata']
        """
        return {
            "column": self.column,
            "output": None if self.output is None else str(self.output),
            "documents": [str(path) for path in self.documents],
            "strata": [stratum.report() for stratum in self.strata],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        what = self.strata[0]._words() if len(self.strata) == 1 else f"{len(self.strata)} strata"
        return f"Release({self.column!r}: {what}{f', output={str(self.output)!r}' if self.output else ''})"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        columns = [stratum._numbers() for stratum in self.strata]
        names = [stratum.name or "value" for stratum in self.strata]
        return repr(self), list(columns[0]), names, np.array([list(one.values()) for one in columns], dtype=float).T


def release(
    data: Any,
    column: str,
    *,
    distortion: float | None = None,
    leakage: float | None = None,
    source: Any = None,
    confidence: float = 0.95,
    notion: Notion | None = None,
    output: str | Path | None = None,
    estimable: bool = True,
    keep_at_least: ArrayLike | Mapping[Hashable, float] | None = None,
    invariant: bool = False,
    forbidden: Any = None,
    costs: ArrayLike | None = None,
    by: str = "",
    missing: Policy = "refuse",
    seed: int | None = None,
    consistent_by: str = "",
    key: bytes | None = None,
    scheduler: str = "",
    encoding: str = "",
    missing_values: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Release:
    """Publish a column through the mechanism of least leakage at a distortion, or of least distortion at a leakage.

    All other columns keep their values, texts character by character; quotation marks and line ends of a CSV are written anew.
    The table is read twice, to count and to release, in batches of rows. The least distortion is not the least variance: among
    mechanisms of the same leakage, another one can give estimates with smaller standard errors.

    Parameters
    ----------
    data : path of a CSV or Parquet file, or DataFrame
    column : str
    distortion : float in [0, 1], or
    leakage : float, in nats
        Exactly one of the two, as of :func:`paper_repro.optimal_mechanism`, for the optimal mechanism. If the release is
        ``estimable``, its mechanism leaks a little more, or changes a little more.
    source : SourceSet, mapping, path of a CSV, or a word
        The source set, as of :func:`paper_repro.columns.knowing.known_source`; by default all priors that the counts of the
        column itself leave possible at this ``confidence``.
    notion : Notion, default ``DifferentialPrivacy()``
    output : str or Path, optional
        A CSV or Parquet file, which must not exist. Each mechanism is written next to it, as ``<stem>.mechanism.json``,
        or with ``by`` as ``<stem>.<stratum>.mechanism.json``. Without
        an output nothing is written: a file is only reported on, and a DataFrame is returned as ``frame``.
    estimable : bool
        Publish every category, so that all frequencies can be estimated, at a certified price.
    keep_at_least : number, array_like of shape (M,) or mapping of categories to numbers, optional
    invariant, forbidden : as of :func:`paper_repro.optimal_mechanism`
    costs : array_like, shape (M, M), optional
        Cost of each change, in place of 1, in the order of the source set's labels. Columns of a DataFrame name the categories,
        in any order, and its rows are in the order of its columns.
    by : str, optional
        Another column; each value of it has a source set and a mechanism of its own.
    missing : "refuse", "keep" or "category"
        Treatment of missing values: refuse them, publish them as missing, or make them a category.
    seed : int, optional
        For tests only: anyone who knows the seed can invert the release.
    consistent_by : str, optional
        A column of IDs: the same ID and answer are published alike, also in other releases with the same ``key`` as long as the
        mechanism is the same one to the last digit: give the same ``source``, not new counts.
    key : bytes, of 16 to 64, optional
    scheduler : str, optional
        Address of a Dask scheduler, whose workers draw the row groups of a Parquet file.
    encoding, missing_values : as of :func:`paper_repro.columns.tables.open_table`
    progress : callable, optional
        Called with the rows released since the last call, and with all there are.

    Returns
    -------
    Release
        With a :class:`Stratum` for each mechanism, ``notes``, and the released table as ``frame`` or in the file ``output``.

    Raises
    ------
    ValueError, OSError
        If an argument or the table is not valid; the message names file, row and column, and nothing was written.
    CertificateError, SolverError
        As :func:`paper_repro.optimal_mechanism`.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": range(100), "eyes": ["blue"] * 60 + ["brown"] * 40})
    >>> found = release(people, "eyes", distortion=0.2, source="unknown", seed=1)
    >>> round(found.strata[0].leakages["differential privacy"], 3)
    1.386
    >>> int((found.frame["eyes"] != people["eyes"]).sum())
    23
    """
    table = open_table(data, encoding=encoding, missing=missing_values)
    table.check_column(column)
    for other, option in ((by, "by"), (consistent_by, "consistent_by")):
        if other:
            table.check_column(other, option)
            if other == column:
                raise ValueError(
                    f"{option} must be another column than the released one; got {column!r} for both. Name another column."
                )
    _check_options(estimable, seed, consistent_by, key)
    if isinstance(source, str | Path) and str(source).lower().endswith(".csv"):
        source = SourceSet.from_csv(source)
    found = read_column(table, column, by=by, missing=missing, labels=known_labels(source))
    names = [""] if found.strata is None else list(found.strata.labels)
    path: Path | None = None
    documents: tuple[Path, ...] = ()
    if output is not None:
        documents = _documents(check_output(output), names)
        path = check_output(output, *documents)
    asked: dict[str, Any] = {"distortion": distortion, "leakage": leakage, "notion": notion, "costs": costs}
    asked |= {"keep_at_least": keep_at_least, "forbidden": forbidden, "invariant": invariant or None}
    asked = {option: value for option, value in asked.items() if value is not None}
    strata = _strata(names, found, source, confidence, asked, estimable)
    secret = Consistent(key) if consistent_by else None if seed is None else int(seed)
    drawing = _Drawing(found, strata, consistent_by, secret)
    notes = tuple(_notes(found, strata, source, confidence, drawing))
    made = Release(column, strata, notes)
    batches = _released(drawing, scheduler, progress or (lambda *_: None))
    if path is None:
        if isinstance(data, str | Path):
            return made
        frame = arrow_module().Table.from_batches(batches, drawing.schema).to_pandas()
        return replace(made, frame=frame if hasattr(data, "to_csv") else None)
    told = [_document(stratum, drawing, asked) for stratum in strata]
    written: list[Path] = []
    try:
        with whole_or_nothing(path) as file:
            write_table(file, path, drawing.schema, batches, table)
            for document, beside in zip(told, documents, strict=True):
                with whole_or_nothing(beside) as text:
                    text.write(document.text.encode())
                written.append(beside)
    except BaseException:
        for beside in written:
            beside.unlink(missing_ok=True)
        raise
    return replace(made, output=path, documents=documents)


def _documents(output: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Where the mechanisms are written: beside the output, named after it and the stratum."""
    plain = [re.sub(r"[^\w-]+", "_", name) for name in names]
    middle = [f".{name}" if plain.count(name) == 1 else f".{name}-{place}" for place, name in enumerate(plain, start=1)]
    return tuple(output.with_name(f"{output.stem}{name if names != [''] else ''}.mechanism.json") for name in middle)


def _strata(names: Sequence[str], *told: Any) -> tuple[Stratum, ...]:
    """All of them. Raises ValueError with what is wrong with the first that cannot be, and the names of all."""
    made, refused = [], {}
    for place, name in enumerate(names):
        try:
            made.append(_stratum(name, told[0], place, *told[1:]))
        except ValueError as error:
            refused[name] = error
    if not refused:
        return tuple(made)
    first, *others = refused
    more = f" (and {shortened(others)})" if others else ""
    raise retold(refused[first], f"{f'stratum {first!r}{more}: ' * bool(first)}{refused[first]}") from None


def _check_options(estimable: Any, seed: Any, consistent_by: str, key: Any) -> None:
    if not isinstance(estimable, bool | np.bool_):
        raise ValueError(f"estimable must be True or False; got {estimable!r}. Choose one of the two.")
    if seed is not None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ValueError(f"seed must be a whole number, at least 0; got {seed!r}. Leave it out for a real release.")
        if consistent_by:
            raise ValueError(
                f"seed must be left out with consistent_by={consistent_by!r}; got {seed!r}. Take a key to repeat a release."
            )
    if key is not None and not consistent_by:
        raise ValueError(
            "key must be left out without consistent_by=...; got one. Name a column of IDs, or leave it out."
        )


def _stratum(
    name: str, column: Column, place: int, source: Any, confidence: float, asked: Mapping[str, Any], is_estimable: bool
) -> Stratum:
    counts = column.counts[place]
    known = known_source(source, counts, column.categories.labels, confidence=confidence)
    if "costs" in asked:
        asked = {**asked, "costs": _in_order(asked["costs"], known.labels)}
    best = optimal_mechanism(known, **asked)
    if best.distortion == 0 and best.leakage > 0:
        ((name_of, most),) = best.budget.items()
        change = "more distortion" if name_of == "distortion" else "less leakage"
        change += ", or keep less" if best.constraints is not None else ""
        raise ValueError(
            f"{name_of} must be such that values change; got {most:g}, at which the optimum publishes every value as it is. "
            f"Allow {change}."
        )
    mechanism, price = best.mechanism, best.gap
    if is_estimable:
        mechanism, price = made_estimable(best)[:2]
    sampler = IntegerSampler.of(mechanism)
    spent, unknowing = sampler.distortion(known, best.costs), None
    if best.gap_unit == "nats" and spent > best.budget["distortion"] * (1 + _RESOLVED):
        raise ValueError(
            f"distortion must be at least 1e-9, for sampling with integers over 2**62; got {best.budget['distortion']:g}. Allow "
            "more distortion."
        )
    if best.constraints is None:
        costs = {"costs": asked["costs"]} if "costs" in asked else {}
        nothing = optimal_mechanism(SourceSet.unknown(known.labels), **best.budget, notion=best.notion, **costs)
        unknowing = nothing.leakage if best.gap_unit == "nats" else nothing.distortion
    return Stratum(
        name,
        counts[_order(known, column.categories)],
        int(column.missing[place]),
        known,
        best,
        sampler,
        max(price, 0.0),
        _leakages(sampler, best.notion, known),
        spent,
        unknowing,
    )


def _in_order(costs: Any, labels: Sequence[Any]) -> Any:
    """A DataFrame of costs in the order of the labels, shape (M, M). Raises ValueError if it is over other categories."""
    if not hasattr(costs, "columns"):
        return costs
    names, wanted = [str(name) for name in costs.columns], [str(label) for label in labels]
    if odd := sorted(set(names) ^ set(wanted)):
        raise ValueError(
            f"costs must have the categories of the column, {shortened(wanted)}; got {odd[0]!r} "
            f"{'in the costs' if odd[0] in names else 'in the column'} only. Name the column's categories in the header, and "
            "give each one a row, in the order of the header."
        )
    if costs.shape[0] != len(names):
        raise ValueError(
            f"costs must have a row for each of {len(names)} categories; got {costs.shape[0]} rows. Write one for each category, "
            "in the order of the header."
        )
    order = [names.index(label) for label in wanted]
    return costs.to_numpy(dtype=object)[np.ix_(order, order)]


def _order(source: SourceSet, categories: Categories) -> IntArray:
    """The column's number of each of the source set's categories, shape (M,)."""
    if tuple(source.labels) == categories.labels:
        return np.arange(source.alphabet_size)
    places = {label: place for place, label in enumerate(categories.labels)}
    return np.array([places[str(label)] for label in source.labels])


def _leakages(sampler: IntegerSampler, chosen: Notion, source: SourceSet) -> dict[str, float | None]:
    """Leakage of the sampler by each of seven notions; None where there are too many categories or vertices to evaluate it."""
    found: dict[str, float | None] = {}
    for name in NOTION_NAMES:
        notion = chosen if chosen.name == name else notion_by_name(name)
        takes_long = len(sampler.labels) > _MOST_EVALUATED and name in _OF_PRIORS and notion is not chosen
        try:
            found[name] = None if takes_long else sampler.leakage(notion, source)
        except ValueError:
            found[name] = None
    return found


def _document(stratum: Stratum, drawing: _Drawing, asked: Mapping[str, Any]) -> MechanismDocument:
    column = drawing.column
    constraints = {option: value for option, value in asked.items() if option in _CONSTRAINTS}
    policy = {"column": column.name, "missing": column.policy, "randomness": drawing.randomness}
    if column.by:
        policy |= {"by": column.by, "stratum": stratum.name}
    return MechanismDocument(
        stratum.sampler,
        stratum.source,
        stratum.best.notion,
        {name: float(value) for name, value in stratum.best.budget.items()},
        {name: value for name, value in stratum.leakages.items() if value is not None},
        stratum.distortion,
        {option: np.asarray(value).tolist() for option, value in constraints.items()},
        {"source_set": repr(stratum.source), "class": stratum.source.source_class, "rows": stratum.rows},
        policy,
        paper_repro.__version__,
        stratum.best.costs,
        proof := _proof(stratum.best),
        _price(stratum) if proof else None,
    )


def _proof(best: OptimalMechanism) -> dict[str, Any] | None:
    """The certificate of the optimum, where it has few numbers."""
    tabled = best.constraints is not None or best.costs is not None
    if best.source.alphabet_size > (_MOST_TABLED if tabled else _MOST_PROVED):
        return None
    try:
        return best.certificate
    except ValueError:
        return None


def _price(stratum: Stratum) -> float | None:
    """Nats beyond the least, as the certificate has it to the last digit: of notions without logarithms."""
    leakage, best = stratum.leakages[stratum.best.notion.name], stratum.best
    if leakage is None or best.gap_unit != "nats" or best.notion.tolerance > 1e-9:
        return None
    return leakage - (best.leakage - best.gap)


def _notes(
    column: Column, strata: Sequence[Stratum], source: Any, confidence: float, drawing: _Drawing
) -> Iterator[str]:
    yield from column.notes
    if column.table.separator != "," or column.table.encoding not in ("utf-8", "utf-8-sig"):
        yield f"The table is read with the separator {column.table.separator!r} and the encoding {column.table.encoding}."
    if source in (None, "counts", "frequencies", "order") if isinstance(source, str | None) else False:
        yield (
            "The source set was made from these very rows, and the published mechanism discloses it, and so discloses something "
            "of their frequencies. Where these are confidential, take an earlier survey or published bounds."
        )
    yield ("The distortion is a probability, the largest over the source set. How many values change is random.")
    for stratum in strata:
        if stratum.disappearing:
            where = f" in stratum {stratum.name!r}" * bool(stratum.name)
            yield f"Suppressed{where}: {shortened(stratum.disappearing)}. Their frequencies cannot be estimated."
    if drawing.consistent_by:
        yield (
            f"Rows with the same {drawing.consistent_by} and category are published alike. Anyone who has the key can invert the "
            "release. A later release agrees with this one only with the same key and the same mechanism: pass the same source "
            "set, since new counts make a new mechanism."
        )
        ids, rows = len(column.table.counts([drawing.consistent_by])), sum(stratum.rows for stratum in strata)
        if ids < _FEW_IDS * rows:
            yield (
                f"There are only {ids:,} different {drawing.consistent_by} in {rows:,} rows. Rows with the same one change "
                "together, so the share of changed rows may be far from the distortion, and estimates far outside their "
                "intervals. Name a column of IDs."
            )
    else:
        yield (
            "Independent releases of the same record add up: n of them leak up to n times as much, and their average reveals the "
            "true value. Publish once, or consistently by an ID."
        )
    if isinstance(drawing.secret, int):
        yield "UNSAFE: drawn from a seed, for tests only. Anyone who knows the seed can invert the release."


@dataclass(frozen=True, eq=False)
class _Drawing:
    """All that a worker needs to draw what is published."""

    column: Column
    strata: tuple[Stratum, ...]
    consistent_by: str
    secret: Consistent | int | None

    @property
    def schema(self) -> Any:
        """Schema of the table, but for a dictionary that has grown too large for its type."""
        arrow, schema, name = arrow_module(), self.column.table.schema, self.column.name
        kind = schema.field(name).type
        if arrow.types.is_dictionary(kind) and len(self.column.categories.labels) > 2 ** (
            kind.index_type.bit_width - 1
        ):
            kind = arrow.dictionary(arrow.int32(), kind.value_type, kind.ordered)
        place = schema.get_field_index(name)
        return schema.set(place, schema.field(place).with_type(kind))

    @property
    def randomness(self) -> str:
        if isinstance(self.secret, Consistent):
            return f"consistent by {self.consistent_by}"
        return "operating system" if self.secret is None else "a seed: UNSAFE"

    @cached_property
    def _orders(self) -> list[tuple[IntArray, IntArray]]:
        """From the column's numbers of categories to those of each stratum's sampler, and back."""
        orders = [_order(stratum.source, self.column.categories) for stratum in self.strata]
        return [(np.argsort(order), order) for order in orders]

    def bits(self, part: int) -> Bits:
        return Seeded(self.secret, part) if isinstance(self.secret, int) else OperatingSystem()

    def codes(self, batch: Any, bits: Bits) -> IntArray:
        """Numbers of what is published for a batch with the columns needed, shape (rows,); -1 where nothing is."""
        names = batch.schema.names
        table = self.column.table
        values = batch.column(names.index(self.column.name))
        values = table.values(values) if table.missing else values
        codes = self.column.categories.codes(values).copy()
        rows_of = np.zeros(len(codes), dtype=np.intp)
        if self.column.strata is not None:
            rows_of = self.column.strata.codes(table.values(batch.column(names.index(self.column.by))))
        for place, (stratum, (there, back)) in enumerate(zip(self.strata, self._orders, strict=True)):
            chosen = np.flatnonzero((codes >= 0) & (rows_of == place))
            if not len(chosen):
                continue
            true, words = there[codes[chosen]], bits
            if isinstance(self.secret, Consistent):
                ids = table.values(batch.column(names.index(self.consistent_by))).take(integers_of(chosen))
                if ids.null_count:
                    column = self.consistent_by
                    raise ValueError(
                        f"consistent_by must be a column with an ID in each row; got {column!r} with none in "
                        f"{table.first(column, None)} of {table.name}. Give each row an ID."
                    )
                labels = np.array(self.column.categories.labels, dtype=object)
                texts = ids.cast(arrow_module().string()).to_pylist()
                context = f"{self.column.name} {stratum.sampler.digest}"
                words = self.secret.of(texts, labels[codes[chosen]], context)
            codes[chosen] = back[stratum.sampler.sample(true, words)]
        return codes

    def part(self, part: int) -> IntArray:
        """What is published for one part of the table: what a worker of a cluster does."""
        bits, columns = self.bits(part), [self.column.name, self.column.by, self.consistent_by]
        wanted = list(dict.fromkeys(filter(None, columns)))
        try:
            found = [self.codes(batch, bits) for batch in self.column.table.batches(wanted, part)]
        except OSError as error:
            raise ValueError(
                f"data must be a file that each worker can read; got {self.column.table.name} ({error}). Put it where all of "
                "them can read it."
            ) from None
        return np.concatenate(found).astype(np.min_scalar_type(-len(self.column.categories.labels)))


def _released(drawing: _Drawing, scheduler: str, progress: Callable[[int, int], None]) -> Iterator[Any]:
    """The table's batches with the column replaced."""
    column, schema = drawing.column, drawing.schema
    place = schema.get_field_index(column.name)
    left = total = int(column.counts.sum() + column.missing.sum())
    parts = range(column.table.parts)
    spread = on_cluster(drawing.part, parts, scheduler, in_order=True) if scheduler else None
    changed = ValueError(
        f"data must stay the same while it is read; got {column.table.name}, which changed. Release it again."
    )
    for part in parts:
        bits, drawn, start = drawing.bits(part), None if spread is None else next(spread), 0
        for batch in column.table.batches(part=part):
            rows = batch.num_rows
            codes = drawing.codes(batch, bits) if drawn is None else drawn[start : start + rows].astype(np.int32)
            if len(codes) != rows or ((codes < 0).any() and (column.policy != "keep" or not column.missing.any())):
                raise changed
            published = column.categories.column(codes, schema.field(place).type)
            yield batch.set_column(place, schema.field(place), published)
            start, left = start + rows, left - rows
            progress(rows, total)
    if left:
        raise changed
