"""Tables of any length, CSV and Parquet, read batch by batch; the values of a column as numbers of categories."""

from __future__ import annotations

import codecs
import csv
import difflib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper_repro.checks import shortened
from paper_repro.errors import optional
from paper_repro.types import IntArray

__all__ = [
    "MISSING",
    "Categories",
    "Table",
    "arrow_module",
    "binary_of",
    "categories_of",
    "decoded",
    "integers_of",
    "is_text",
    "numpy_of",
    "one_line",
    "open_table",
]

MISSING = "(missing)"
"""The label of missing values, where they are a category of their own."""

# A batch in memory: so many bytes of values, about, and at most so many rows.
_BATCH_BYTES, _BATCH_ROWS = 2**26, 2**18
# Distinct values that are counted, and rows between two times that counts are added up.
_MOST_CATEGORIES, _PENDING = 10_000_000, 2**21
# Types that pyarrow reads, and can do little else with.
_UNREAD = ("string_view", "binary_view", "halffloat")
_A_TABLE = "data must be a CSV or Parquet file"


def arrow_module(part: str = "") -> Any:
    """pyarrow, or a module of it, imported when it is first needed.

    Raises MissingPackageError if it is not installed.

    >>> arrow_module(".csv").__name__
    'pyarrow.csv'
    """
    return optional(f"pyarrow{part}", "data")


class Table(ABC):
    """A table that is read in batches of rows, never as a whole.

    Attributes
    ----------
    name : str
        What errors call it: the path of the file as it was given, in quotation marks.
    schema : pyarrow.Schema
        Names and types of the columns; those of a CSV are all text, so that leading zeros stay.
    parts : int
        Pieces that can be read independently: row groups of Parquet.
    separator, encoding : str
        Separator and encoding of a CSV file.
    missing : tuple of str
        Texts that mean a missing value in the columns that are asked about; other columns keep them.
    """

    name: str
    schema: Any
    parts: int
    separator: str
    encoding: str
    missing: tuple[str, ...] = ()
    header_rows = 0

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None, part: int | None = None) -> Iterator[Any]:
        """Record batches of these columns, or of all, in order; of one part, or of all."""

    def check_column(self, column: str, argument: str = "column") -> str:
        """The name of a column. Raises ValueError for any other, with the names there are; it calls the column ``argument``."""
        if column not in self.schema.names:
            plain = {name.strip().lower(): name for name in self.schema.names}
            near = difflib.get_close_matches(str(column).strip().lower(), plain, n=1)
            hint = f"Did you mean {plain[near[0]]!r}?" if near else "Name one of these."
            raise ValueError(
                f"{argument} must be one of {shortened(self.schema.names)} in {self.name}; got {column!r}. {hint}"
            )
        kind = self.schema.field(column).type
        types, plain = arrow_module(".types"), _plain_type(kind)
        if types.is_nested(plain) or str(plain) in _UNREAD:
            raise ValueError(
                f"{argument} must be a column of texts or numbers in {self.name}; got {column!r} of type {kind}. Name another "
                "column, or convert its values."
            )
        return column

    def first(self, column: str, value: str | None) -> str:
        """The first row with a value of a column, in words; None is a missing one."""
        arrow, compute, before = arrow_module(), arrow_module(".compute"), 0
        for batch in self.batches([column]):
            cells = self.values(batch.column(0))
            found = compute.is_null(cells) if value is None else compute.equal(cells.cast(arrow.string()), value)
            if (place := compute.index(found, True).as_py()) >= 0:
                return f"row {before + place + 1 + self.header_rows}{' (the header being row 1)' * self.header_rows}"
            before += batch.num_rows
        return "no row"

    def values(self, array: Any) -> Any:
        """A pyarrow.Array of shape (rows,) of one of its columns, missing values as nulls and without a dictionary."""
        compute, found = arrow_module(".compute"), _missing_as_null(decoded(array))
        if not (self.missing and is_text(found.type)):
            return found
        stand_for_it = compute.is_in(found, value_set=binary_of([text.encode() for text in self.missing], found.type))
        return compute.if_else(stand_for_it, arrow_module().nulls(1, found.type)[0], found)

    def counts(self, columns: Sequence[str], part: int | None = None) -> Any:
        """How often the values of some columns occur together: a pyarrow.Table of these columns, and last ``count``, in order.

        Missing values are counted too, as nulls. Raises ValueError if a column is missing, or has more than 10,000,000 values.
        """
        arrow = arrow_module()
        for column in columns:
            self.check_column(column)
        pending: list[Any] = []
        for batch in self.batches(columns, part):
            ones = integers_of(np.ones(batch.num_rows, dtype=np.int64))
            pieces = arrow.table([*map(self.values, batch.columns), ones], names=[*columns, _COUNT])
            pending.append(_added_up([pieces], columns))
            if sum(map(len, pending)) > _PENDING:
                pending = [_added_up(pending, columns)]
                if len(pending[0]) > _MOST_CATEGORIES:
                    raise ValueError(
                        f"column must have at most {_MOST_CATEGORIES:,} different values in {self.name}; got more in "
                        f"{' with '.join(map(repr, columns))}, which looks like a key. Name a column of categories."
                    )
        if not pending:
            types = [_plain_type(self.schema.field(column).type) for column in columns]
            names = [*columns, "count"]
            return arrow.table([arrow.array([], type=kind) for kind in [*types, arrow.int64()]], names=names)
        found = _added_up(pending, columns).sort_by([(column, "ascending") for column in columns])
        return found.rename_columns([*columns, "count"])


_COUNT = "\0count"  # no column of a table is called so


def _added_up(tables: Sequence[Any], columns: Sequence[str]) -> Any:
    """The sums of counts of the same values: what ``group_by`` gives, which imports pandas."""
    table, codes = arrow_module().concat_tables(tables).combine_chunks(), np.zeros(1, dtype=np.int64)
    size = 1
    for column in columns:
        encoded = _whole(table[column]).dictionary_encode("encode")
        codes = codes * len(encoded.dictionary) + numpy_of(encoded.indices)
        size *= len(encoded.dictionary)
    if size > max(len(codes), 1):
        codes = np.unique(codes, return_inverse=True)[1]
        size = int(codes.max()) + 1
    sums = np.bincount(codes, numpy_of(_whole(table[_COUNT])), size).astype(np.int64)
    place = np.zeros(size, dtype=np.int64)
    place[codes] = np.arange(len(codes))
    found = table.select(columns).take(integers_of(place[sums > 0]))
    return found.append_column(_COUNT, integers_of(sums[sums > 0]))


def _whole(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _plain_type(kind: Any) -> Any:
    return kind.value_type if arrow_module().types.is_dictionary(kind) else kind


def integers_of(numbers: NDArray[np.integer[Any]], absent: NDArray[np.bool_] | None = None) -> Any:
    """Integers as a pyarrow.Array of shape (rows,), null where they are ``absent``.

    By ``pyarrow.array`` all of pandas would be imported.

    >>> integers_of(np.array([3, 4]), np.array([False, True])).to_pylist()
    [3, None]
    """
    arrow, own = arrow_module(), np.ascontiguousarray(numbers)
    known = None
    if absent is not None and absent.any():
        known = arrow.py_buffer(np.packbits(~absent, bitorder="little").tobytes())
    return arrow.Array.from_buffers(getattr(arrow, own.dtype.name)(), len(own), [known, arrow.py_buffer(own)])


def numpy_of(integers: Any) -> NDArray[Any]:
    """The other way: a pyarrow.Array of integers, shape (rows,), whatever stands where it has none.

    >>> numpy_of(integers_of(np.array([3, 4])))
    array([3, 4])
    """
    return np.frombuffer(
        integers.buffers()[1], str(integers.type), len(integers), integers.offset * integers.type.byte_width
    )


def binary_of(texts: Sequence[bytes], kind: Any = None) -> Any:
    """Texts as a pyarrow.Array of shape (rows,), of a type of texts or bytes; likewise.

    >>> binary_of([b"a", b"", b"bc"]).to_pylist()
    [b'a', b'', b'bc']
    """
    arrow = arrow_module()
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    found = arrow.Array.from_buffers(
        arrow.binary(), len(texts), [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(texts))]
    )
    return found if kind is None else found.cast(kind)


def decoded(array: Any) -> Any:
    """A pyarrow.Array of shape (rows,) without its dictionary.

    >>> decoded(arrow_module().array(["a", "b", "a"]).dictionary_encode()).to_pylist()
    ['a', 'b', 'a']
    """
    return array.dictionary_decode() if arrow_module().types.is_dictionary(array.type) else array


def is_text(kind: Any) -> bool:
    """Whether a pyarrow type is one of texts.

    >>> is_text(arrow_module().large_string())
    True
    """
    types = arrow_module().types
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _missing_as_null(array: Any) -> Any:
    """An empty text is a missing one, and so is a float that is no number."""
    compute, types = arrow_module(".compute"), arrow_module().types
    if is_text(array.type):
        is_there = compute.binary_length(array).cast(arrow_module().bool_())
    elif types.is_floating(array.type):
        is_there = compute.invert(compute.is_nan(array))
    else:
        return array
    return compute.if_else(is_there, array, arrow_module().nulls(1, array.type)[0])


def open_table(data: Any, *, encoding: str = "", missing: Sequence[str] = ()) -> Table:
    """A table in a CSV or Parquet file, or a pandas DataFrame.

    Parameters
    ----------
    data : str, Path or DataFrame
        A CSV has a header and is separated by commas, semicolons, tabs or bars, whichever splits the header into most.
    encoding : str
        Encoding of a CSV file; UTF-8, with or without a byte-order mark, if not given.
    missing : sequence of str
        Texts that mean a missing value in the columns of a CSV that are asked about, in addition to an empty cell. Other columns
        keep them as texts.

    Raises
    ------
    OSError, ValueError
        If there is no such file, it is a folder, is empty, has no rows or no header, or is no table. Errors of a single row come
        when it is read; all are one sentence with file, row and column.

    Examples
    --------
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"eyes": ["blue", "brown", "blue"]}))
    >>> table.counts(["eyes"]).to_pydict()
    {'eyes': ['blue', 'brown'], 'count': [2, 1]}
    """
    if not isinstance(data, str | os.PathLike):
        _check_csv("a DataFrame", encoding, missing)
        return _Frame.of(data)
    path = Path(data)
    if path.is_dir():
        raise IsADirectoryError(f"{_A_TABLE}; got the folder {str(path)!r}. Name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"{_A_TABLE}; got {str(path)!r}, which does not exist. Check the name and the folder.")
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        told = type(error)(
            f"{_A_TABLE} that can be read; got {str(path)!r} ({error.strerror}). Check its permissions, or name another file."
        )
        raise told from None
    if not start:
        raise ValueError(f"{_A_TABLE}; got {str(path)!r}, which is empty. Name a file with a header and rows.")
    if start == b"PAR1":
        _check_csv("a Parquet file", encoding, missing)
        return _Parquet.of(path)
    if path.suffix.lower() == ".parquet":
        raise ValueError(
            f"{_A_TABLE}; got {str(path)!r}, whose content is not Parquet. Rename it to .csv if it is a CSV file."
        )
    if start.startswith((b"PK", b"\x1f\x8b", b"BZh", b"\xd0\xcf\x11\xe0")):
        raise ValueError(
            f"{_A_TABLE}; got {str(path)!r}, which is compressed or a workbook. Save it as CSV (UTF-8) or Parquet first."
        )
    return _Csv.of(path, encoding, tuple(missing))


def _check_csv(what: str, encoding: str, missing: Sequence[str]) -> None:
    for name, value in (("encoding", encoding), ("missing_values", list(missing))):
        if value:
            raise ValueError(f"{name} must be left out for {what}; got {value!r}. It is for CSV files only.")


@dataclass(frozen=True)
class _Parquet(Table):
    path: Path
    name: str
    schema: Any
    rows_a_batch: int
    parts: int
    separator: str = ","
    encoding: str = "utf-8"

    @classmethod
    def of(cls, path: Path) -> _Parquet:
        arrow, parquet = arrow_module(), arrow_module(".parquet")
        try:
            with parquet.ParquetFile(path) as file:
                about, schema = file.metadata, file.schema_arrow
                parts = about.num_row_groups
                size = sum(about.row_group(part).total_byte_size for part in range(parts))
        except arrow.ArrowException as error:
            raise ValueError(
                f"{_A_TABLE} that can be read; got {str(path)!r} ({one_line(error)}). Write the file again."
            ) from None
        _check_names(schema.names, path)
        if not about.num_rows:
            raise ValueError(f"data must have rows; got {str(path)!r} with columns only. Name a file with rows.")
        rows = int(_BATCH_BYTES / max(size / about.num_rows, len(schema.names) * 8))
        return cls(path, repr(str(path)), schema, min(max(rows, 2**10), _BATCH_ROWS), parts)

    def batches(self, columns: Sequence[str] | None = None, part: int | None = None) -> Iterator[Any]:
        parquet, arrow = arrow_module(".parquet"), arrow_module()
        wanted = None if columns is None else list(columns)
        groups = range(self.parts) if part is None else [part]
        try:
            with parquet.ParquetFile(self.path, pre_buffer=False) as file:
                for group in groups:  # no batch is of two parts
                    for batch in file.iter_batches(self.rows_a_batch, [group], wanted, use_threads=False):
                        yield batch if wanted is None else batch.select(wanted)
        except arrow.ArrowException as error:
            raise ValueError(
                f"{_A_TABLE} that can be read; got {str(self.path)!r} ({one_line(error)}). Write the file again."
            ) from None


@dataclass(frozen=True)
class _Csv(Table):
    path: Path
    name: str
    schema: Any
    separator: str
    encoding: str
    missing: tuple[str, ...]
    parts: int = 1
    header_rows = 1

    @classmethod
    def of(cls, path: Path, encoding: str, missing: tuple[str, ...]) -> _Csv:
        arrow = arrow_module()
        with path.open("rb") as file:
            start = file.read(3)
        if not encoding and start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError(
                f"encoding must be the one of {str(path)!r}; got none for a file in UTF-16. Add encoding='utf-16'."
            )
        if not encoding:
            encoding = "utf-8-sig" if start == codecs.BOM_UTF8 else "utf-8"
        try:
            "".encode(encoding)
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"encoding must be one that Python knows, such as 'utf-8' or 'latin-1'; got {encoding!r}. Correct its name."
            ) from None
        with path.open(encoding=encoding, newline="") as file:
            try:
                first = file.readline()
            except UnicodeError:
                raise ValueError(_undecodable(path, encoding)) from None
            names: list[str] = []
            separator = ","
            for candidate in ",;\t|":
                file.seek(0)
                found = next(csv.reader(file, delimiter=candidate), [])
                if len(found) > len(names):
                    names, separator = found, candidate
        if not first.strip():
            raise ValueError(
                f"the first line of {str(path)!r} must be a header; got an empty line. Name the columns in the first line."
            )
        _check_names(names, path)
        columns = arrow.schema([(name, arrow.string()) for name in names])
        table = cls(path, repr(str(path)), columns, separator, encoding, missing)
        if next(table.batches(), None) is None:
            raise ValueError(f"data must have rows; got {str(path)!r} with a header only. Name a file with rows.")
        return table

    def batches(self, columns: Sequence[str] | None = None, part: int | None = None) -> Iterator[Any]:
        arrow, reading = arrow_module(), arrow_module(".csv")
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        utf8 = self.encoding in ("utf-8", "utf-8-sig")
        try:
            with reading.open_csv(
                self.path,
                # One thread, for the numbers of rows in errors.
                reading.ReadOptions(use_threads=False, block_size=2**22, encoding="utf-8" if utf8 else self.encoding),
                reading.ParseOptions(
                    delimiter=self.separator,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.schema.names) > 1,  # else it is a missing value
                    invalid_row_handler=refuse,
                ),
                reading.ConvertOptions(
                    column_types=self.schema,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,  # a quoted empty text is written as one again
                    include_columns=None if columns is None else list(columns),
                ),
            ) as reader:
                yield from (batch for batch in reader if batch.num_rows)
        except UnicodeError:
            raise ValueError(_undecodable(self.path, self.encoding)) from None
        except arrow.ArrowException as error:
            if ragged:
                row = ragged[0]
                is_comment = row.text.lstrip().startswith("#")
                fix = (
                    "Lines with # are not comments here: remove it"
                    if is_comment
                    else "Fix the row or close the quotation mark"
                )
                raise ValueError(
                    f"each row of {str(self.path)!r} must have as many cells as the header, {row.expected_columns}; got "
                    f"{row.actual_columns} in row {row.number} (the header being row 1): {_beginning(row.text)}. {fix}."
                ) from None
            if "UTF8" in str(error):
                raise ValueError(_undecodable(self.path, "utf-8")) from None
            raise ValueError(
                f"{_A_TABLE} that can be read; got {str(self.path)!r} ({one_line(error)}). Correct the file."
            ) from None


@dataclass(frozen=True)
class _Frame(Table):
    table: Any
    name: str = "the table"
    schema: Any = None
    parts: int = 1
    separator: str = ","
    encoding: str = "utf-8"

    @classmethod
    def of(cls, frame: Any) -> _Frame:
        arrow = arrow_module()
        if isinstance(frame, arrow.Table):
            return cls(frame, schema=frame.schema)
        if not hasattr(frame, "columns") or not hasattr(frame, "to_csv"):
            kind, way = (
                type(frame),
                "to_frame()" if hasattr(frame, "to_frame") else "to_pandas() where it has this method",
            )
            raise ValueError(
                "data must be the path of a CSV or Parquet file, or a pandas DataFrame; got "
                f"{kind.__module__}.{kind.__qualname__}. Convert it, by {way}."
            )
        _check_names([str(name) for name in frame.columns], "the table")
        try:
            table = arrow.Table.from_pandas(frame)
        except (arrow.ArrowException, ValueError) as error:
            raise ValueError(
                f"each column of the table must have values of one type; got several ({one_line(error)}). Convert the column "
                "by astype(str)."
            ) from None
        if not table.num_rows:
            raise ValueError("data must have rows; got a table without any. Take a table with rows.")
        return cls(table, schema=table.schema)

    def batches(self, columns: Sequence[str] | None = None, part: int | None = None) -> Iterator[Any]:
        chosen = self.table if columns is None else self.table.select(list(columns))
        yield from chosen.to_batches(_BATCH_ROWS)


def _check_names(names: Sequence[str], path: object) -> None:
    for place, name in enumerate(names):
        if (first := names.index(name)) < place:
            raise ValueError(
                f"names of columns must be distinct in {path}; got {name!r} for columns {first + 1} and {place + 1}. Rename one."
            )


def _undecodable(path: Path, encoding: str) -> str:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                before, bad = line[: error.start].decode(encoding, "replace"), line[error.start]
                way_out = (
                    "Name another encoding" if encoding == "latin-1" else "Try encoding='latin-1', or save it in UTF-8"
                )
                return (
                    f"encoding must be the one of {str(path)!r}; got {encoding}, in which line {number} cannot be read: byte "
                    f"{bad:#04x} after {before[-20:]!r}. {way_out}."
                )
    return (
        f"encoding must be the one of {str(path)!r}; got {encoding}, in which it cannot be read. Name another encoding."
    )


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "...")


def one_line(error: Exception) -> str:
    """What an error says, for the end of a sentence.

    >>> one_line(ValueError("Not a file.  Really."))
    'Not a file. Really'
    """
    return " ".join(str(error).split())[:200].rstrip(".")


@dataclass(frozen=True)
class Categories:
    """The categories of a column in an order, and how values become their numbers and come back.

    Attributes
    ----------
    values : pyarrow.Array, shape (M,)
        Distinct, of the column's type; a null, if any, is the last one: the missing value as a category of its own.
    labels : tuple of M texts
    """

    values: Any
    labels: tuple[str, ...]

    @cached_property
    def has_missing(self) -> bool:
        """Whether the last category is the missing value."""
        return bool(self.values.null_count)

    def codes(self, column: Any) -> IntArray:
        """Numbers 0 .. M-1 of the values of a column, shape (rows,), and -1 for what is no category."""
        compute = arrow_module(".compute")
        if arrow_module().types.is_dictionary(column.type):
            of_dictionary = np.append(self.codes(column.dictionary), len(self.values) - 1 if self.has_missing else -1)
            return of_dictionary[_numbers(column.indices, len(column.dictionary))]
        found = compute.index_in(_missing_as_null(column), value_set=self.values, skip_nulls=not self.has_missing)
        return _numbers(found, -1)

    def column(self, codes: NDArray[np.integer[Any]], kind: Any) -> Any:
        """The values of these numbers, shape (rows,), as a pyarrow.Array of the type ``kind``; null for -1."""
        arrow = arrow_module()
        absent = codes < 0
        if not arrow.types.is_dictionary(kind):
            return self.values.take(integers_of(codes, absent))
        if self.has_missing:
            absent |= codes == len(self.values) - 1
        indices = integers_of(codes, absent).cast(kind.index_type)
        return arrow.DictionaryArray.from_arrays(indices, self.values.drop_null(), ordered=kind.ordered)


def _numbers(indices: Any, otherwise: int) -> IntArray:
    """Numbers of a pyarrow.Array, shape (rows,), and another one where there are none."""
    found = numpy_of(indices)
    return np.where(numpy_of(indices.is_valid().cast("int8")), found, otherwise) if indices.null_count else found


def categories_of(values: Any, what: str) -> Categories:
    """Categories for the values of a column, a pyarrow.Array of shape (M,), in their order.

    Raises ValueError, calling the column as it is told to, if they are neither text, numbers, truth values nor dates.

    >>> eyes = arrow_module().array(["blue", "brown"])
    >>> categories_of(eyes, "eyes").codes(arrow_module().array(["brown", None, "blue"])).tolist()
    [1, -1, 0]
    """
    types, kind = arrow_module().types, values.type
    known = (types.is_integer, types.is_boolean, types.is_date, types.is_decimal, types.is_floating)
    if not (is_text(kind) or any(is_known(kind) for is_known in known)):
        raise ValueError(
            f"categories must be texts, numbers, truth values or dates; got the type {kind} in {what}. Convert the values, or "
            "name another column."
        )
    labels = values.cast(arrow_module().string()).to_pylist()
    if values.null_count:
        if MISSING in labels:
            raise ValueError(
                f"categories must not be named {MISSING!r} where missing values are one; got such a category in {what}. Rename "
                "it, or take missing='keep'."
            )
        labels[-1] = MISSING
    return Categories(values, tuple(labels))
