"""The least leakage at each distortion for a column, before its release, next to randomized response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_distortion, check_grid, shortened
from paper_repro.columns.estimable import estimable
from paper_repro.columns.knowing import known_source
from paper_repro.columns.tables import Table, arrow_module, open_table
from paper_repro.errors import retold
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import Notion
from paper_repro.reproduce.cluster import on_cluster
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import check_notion, optimal_mechanism
from paper_repro.types import FloatArray

__all__ = ["DISTORTIONS", "matrix_of", "tradeoff", "tradeoffs_of_rows"]

DISTORTIONS = tuple(np.round(np.arange(0.05, 0.51, 0.05), 2).tolist())
"""What is asked for by default."""


def tradeoff(
    source: SourceSet, distortions: ArrayLike = DISTORTIONS, *, notion: Notion | None = None
) -> list[dict[str, float]]:
    """Leakage in nats at each distortion, shape (points,): the least possible, and the leakage of other mechanisms.

    Returns
    -------
    list of dict
        ``distortion``; ``least``, certified; ``estimable``, for the mechanism of ``release``, NaN where nothing can be estimated;
        ``nothing_known``, the least if every prior is possible; ``randomized_response``, for k-ary randomized response with this
        distortion.

    Raises
    ------
    ValueError, CertificateError, SolverError
        As :func:`paper_repro.optimal_mechanism`.

    Examples
    --------
    >>> (row,) = tradeoff(SourceSet([0.6, 0.3, 0.1]), [0.3])
    >>> {name: round(value, 3) for name, value in row.items()}
    {'distortion': 0.3, 'least': 1.253, 'estimable': 1.432, 'nothing_known': 1.54, 'randomized_response': 1.54}
    """
    chosen, nothing = check_notion(notion), SourceSet.unknown(source.labels)
    size, rows = source.alphabet_size, []
    for distortion in check_grid(distortions, check_distortion).ravel().tolist():
        best = optimal_mechanism(source, distortion=distortion, notion=chosen)
        response = Mechanism.from_distortions(np.full(size, min(distortion, 1 - 1 / size)), source.labels)
        rows.append(
            {
                "distortion": distortion,
                "least": best.leakage,
                "estimable": math.nan if best.leakage == 0 else estimable(best).leakage,
                "nothing_known": optimal_mechanism(nothing, distortion=distortion, notion=chosen).leakage,
                "randomized_response": chosen.leakage(response, source),
            }
        )
    return rows


def matrix_of(path: str | Path, labels: Sequence[Any]) -> Mechanism:
    """The mechanism in a CSV, shape (M, M): a header that names the categories, then a row for each, in the header's order.

    Raises ValueError or OSError if there is none, or it is over other categories than these labels.

    >>> matrix_of("data/source_sets/P_II_4.csv", range(4))
    Traceback (most recent call last):
    ValueError: matrix must have a row for each of 4 categories; got 1 in 'data/source_sets/P_II_4.csv'. Write the rows in the
    order of the header.
    """
    read = SourceSet.from_csv(path)
    names, wanted = [str(label) for label in read.labels], [str(label) for label in labels]
    if len(read.vertices) != len(names):
        raise ValueError(
            f"matrix must have a row for each of {len(names)} categories; got {len(read.vertices)} in {str(path)!r}. Write the "
            "rows in the order of the header."
        )
    if set(names) != set(wanted):
        odd = sorted(set(names) ^ set(wanted))[0]
        raise ValueError(
            f"matrix must have the categories of the column, {shortened(wanted)}; got {odd!r} only in "
            f"{repr(str(path)) if odd in names else 'the column'}. Name them alike in the header."
        )
    order = [names.index(label) for label in wanted]
    return Mechanism(read.vertices[np.ix_(order, order)], tuple(labels))


class _Row(NamedTuple):
    """A source set of a row, and the distortions at which its least leakage is wanted."""

    where: str
    labels: tuple[str, ...]
    numbers: FloatArray
    distortions: tuple[float, ...]
    notion: Notion | None
    confidence: float


def tradeoffs_of_rows(
    data: Any,
    distortions: Sequence[float] = DISTORTIONS,
    *,
    notion: Notion | None = None,
    confidence: float = 0.95,
    scheduler: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Least leakage in nats at each distortion for a source set in each row of a table.

    Columns of numbers are categories: probabilities, or counts, whose confidence intervals make the set. Columns of texts are
    kept, to tell the rows apart. The result does not depend on the number of workers.

    Parameters
    ----------
    data : path of a CSV or Parquet file, or DataFrame
        Of a CSV, a column of numbers throughout is one of numbers.
    distortions : sequence of float in [0, 1]
    notion : Notion, default ``DifferentialPrivacy()``
    confidence : float in (0, 1)
    scheduler : str, optional
        Address of a Dask scheduler to spread the rows over.
    progress : callable, optional
        Called with the rows done since the last call, and with all there are.

    Returns
    -------
    pyarrow.Table
        The texts, and a column for each distortion, named after it.

    Raises
    ------
    ValueError, OSError
        If a row is no source set; the message says which.

    Examples
    --------
    >>> import pandas as pd
    >>> years = pd.DataFrame({"year": ["1973", "1974"], "blue": [0.5, 0.6], "brown": [0.3, 0.3], "green": [0.2, 0.1]})
    >>> tradeoffs_of_rows(years, [0.3]).to_pandas().round(3)
       year    0.3
    0  1973  1.540
    1  1974  1.253
    """
    table, asked = open_table(data), tuple(float(check_distortion(distortion)) for distortion in distortions)
    arrow = arrow_module()
    texts, tasks = _rows(table, asked, notion, confidence)
    answers = on_cluster(_least, tasks, scheduler, in_order=True) if scheduler else map(_least, tasks)
    found = []
    for answer in answers:
        found.append(answer)
        if progress:
            progress(1, len(tasks))
    columns = {f"{distortion:g}": [row[place] for row in found] for place, distortion in enumerate(asked)}
    return arrow.table({**texts, **columns})


def _rows(
    table: Table, distortions: tuple[float, ...], notion: Notion | None, confidence: float
) -> tuple[dict[str, Any], list[_Row]]:
    arrow = arrow_module()
    whole = arrow.Table.from_batches(table.batches(), table.schema)
    texts, numbers = {}, {}
    for name, kind in zip(whole.schema.names, whole.schema.types, strict=True):
        if not (table.header_rows or arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
            texts[name] = whole[name]
            continue
        try:
            numbers[name] = whole[name].cast(arrow.float64()).to_numpy()
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            texts[name] = whole[name]
    if len(numbers) < 2:
        raise ValueError(
            f"data must have two columns of numbers or more, one for each category; got {list(numbers)} in {table.name}. Write "
            "probabilities or counts as numbers."
        )
    labels, rows = tuple(numbers), np.column_stack(list(numbers.values()))
    tasks = [
        _Row(f"row {place + table.header_rows} of {table.name}", labels, row, distortions, notion, confidence)
        for place, row in enumerate(rows, start=1)
    ]
    return texts, tasks


def _least(row: _Row) -> list[float]:
    try:
        if not np.isfinite(row.numbers).all():
            raise ValueError(
                f"each category must have a number; got none for {row.labels[int(np.argmin(np.isfinite(row.numbers)))]!r}. Write "
                "0 if it never occurs."
            )
        source = known_source(
            dict(zip(row.labels, row.numbers.tolist(), strict=True)),
            np.empty(0, dtype=np.intp),
            row.labels,
            confidence=row.confidence,
        )
        return [optimal_mechanism(source, distortion=d, notion=row.notion).leakage for d in row.distortions]
    except ValueError as error:
        raise retold(error, f"{row.where}: {error}") from None
