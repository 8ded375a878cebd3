"""A CSV in which the cells of one column are replaced: all other bytes stay as they are, marks, spaces and line ends too.

pyarrow reads the values; here it is only found where each cell lies, and that they are the same is checked for every cell. Lines
for which it is not so are written anew, with the values that were read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from paper_repro.columns.tables import Categories, Csv, Table, arrow_module, binary_of, integers_of
from paper_repro.columns.writing import lines_of
from paper_repro.types import IntArray

__all__ = ["Piece", "can_be_spliced", "pieces_of", "write_spliced"]

_BLOCK = 2**22
_QUOTE, _NEWLINE, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]


class Piece(NamedTuple):
    """Whole lines of a CSV.

    Attributes
    ----------
    lines : bytes
        All of them, and before the first row the header.
    first : int
        Where the first row begins.
    cells : ndarray of integers, shape (rows, 2), or None
        Where the column's cells begin and end; None if they are not found.
    batch : pyarrow.RecordBatch, or None
        The columns that are needed; None if there are no rows.
    """

    lines: bytes
    first: int
    cells: IntArray | None
    batch: Any

    def spliced(self, codes: IntArray, spellings: Any) -> bytes:
        r"""The lines with other cells: of each row, shape (rows,), its spelling's number, or -1 for the last.

        Spellings are a pyarrow.Array of bytes, shape (spellings,).

        >>> cells = np.array([[2, 3], [6, 7]])
        >>> Piece(b"1,a\n2,b\n", 0, cells, None).spliced(np.array([1, -1]), binary_of([b"x", b"yes", b""]))
        b'1,yes\n2,\n'
        """
        assert self.cells is not None
        arrow, rows = arrow_module(), len(codes)
        # What lies between cells, and the cells, in turns; then the spellings. One choice of them is all that is written.
        ends = np.concatenate([[0], self.cells.ravel(), [len(self.lines)]]).astype(np.int32)
        buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(self.lines)]
        parts = arrow.concat_arrays([arrow.Array.from_buffers(arrow.binary(), 2 * rows + 1, buffers), spellings])
        order = np.arange(2 * rows + 1)
        order[1::2] = 2 * rows + 1 + np.where(codes < 0, len(spellings) - 1, codes)
        made = parts.take(integers_of(order))
        size = int(np.frombuffer(made.buffers()[1], dtype=np.int32)[len(made)])
        return bytes(made.buffers()[2][:size])


def pieces_of(table: Csv, column: str, columns: Sequence[str]) -> Iterator[Piece]:
    r"""All lines of a CSV, some megabytes at a time: where the column's cells are, and what is read of these columns.

    Raises ValueError or OSError if it cannot be read as before.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper_repro.columns.tables import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eyes.csv").write_text('id,eyes\n1, blue\n2,"a,b"\n')
    ...     (piece,) = pieces_of(open_table(Path(folder, "eyes.csv")), "eyes", ["eyes"])
    >>> [piece.lines[start:stop] for start, stop in piece.cells]
    [b' blue', b'"a,b"']
    """
    separator, names = table.separator.encode()[0], table.schema.names
    place, last = names.index(column), len(names) - 1
    header = True
    with table.path.open("rb") as file:
        for lines, separators, stops, ends in _whole_rows(file, separator):
            first, header = int(ends[0]) if header else 0, False
            starts = np.append(0, ends[:-1])
            rows = (starts >= first) & (
                (stops > starts) | (last == 0)
            )  # an empty line is no row, if there are more columns
            starts, stops = starts[rows], stops[rows]
            if not len(starts):
                yield Piece(lines, len(lines), None, None)
                continue
            before, after = np.searchsorted(separators, starts), np.searchsorted(separators, stops)
            if (after - before == last).all():
                left = starts if place == 0 else separators[before + place - 1] + 1
                right = stops if place == last else separators[before + place]
                cells, batch = np.stack([left, right], axis=1), table.rows_of(lines[first:], columns)
                if _are_said(lines, cells, batch.column(batch.schema.names.index(column)), table.encoding):
                    yield Piece(lines, first, cells, batch)
                    continue
            yield Piece(lines, first, None, table.rows_of(lines[first:]))


def _whole_rows(file: IO[bytes], separator: int) -> Iterator[tuple[bytes, IntArray, IntArray, IntArray]]:
    """Lines; where cells are separated, and where each row's cells stop and the row ends."""
    rest = b""
    while chunk := file.read(_BLOCK):
        lines = rest + chunk
        separators, stops, ends = _marks(np.frombuffer(lines, dtype=np.uint8), separator)
        if lines.endswith(b"\r"):  # perhaps half of a line's end
            keep = ends < len(lines)
            stops, ends = stops[keep], ends[keep]
        if rest := lines[ends[-1] :] if len(ends) else lines:
            separators = separators[separators < len(lines) - len(rest)]
        if len(ends):
            yield lines[: ends[-1]], separators, stops, ends
    if rest:
        separators, stops, ends = _marks(np.frombuffer(rest, dtype=np.uint8), separator)
        if not len(ends) or ends[-1] < len(rest):
            stops, ends = np.append(stops, len(rest)), np.append(ends, len(rest))
        yield rest, separators, stops, ends


def _marks(raw: NDArray[np.uint8], separator: int) -> tuple[IntArray, IntArray, IntArray]:
    """Where cells are separated, rows stop and their lines end, outside quotation marks."""
    returns = raw == _RETURN
    is_end = raw == _NEWLINE
    ends_anew = is_end.copy()
    ends_anew[:-1] |= returns[:-1] & ~is_end[1:]
    ends_anew[-1:] |= returns[-1:]
    is_separator = raw == separator
    if (quotes := np.flatnonzero(raw == _QUOTE)).size:
        inside = np.zeros(len(raw) + 1, dtype=np.uint8)
        inside[_turns(raw, quotes, separator)] = 1
        outside = (np.cumsum(inside, dtype=np.uint8)[:-1] & 1) == 0
        ends_anew &= outside
        is_separator &= outside
    last = np.flatnonzero(ends_anew)
    stops = last - (is_end[last] & (last > 0) & returns[last - 1])
    return np.flatnonzero(is_separator), stops, last + 1


def _turns(raw: NDArray[np.uint8], quotes: IntArray, separator: int) -> IntArray:
    """Of the quotation marks those that open or close: inside a cell that does not begin with one, they are letters."""
    opening = quotes[::2]
    may_open = (opening == 0) | np.isin(raw[opening - 1], [separator, _NEWLINE, _RETURN])
    doubled = np.append(False, quotes[2::2] == quotes[1:-1:2] + 1)
    if (may_open | doubled).all():
        return quotes
    found, is_open, places = [], False, set(quotes.tolist())
    skipped = -1
    for place in quotes.tolist():
        if place == skipped:
            continue
        if is_open and place + 1 in places:
            skipped = place + 1
            continue
        if is_open or place == 0 or raw[place - 1] in (separator, _NEWLINE, _RETURN):
            is_open = not is_open
            found.append(place)
    return np.array(found, dtype=np.intp)


def _are_said(lines: bytes, cells: IntArray, values: Any, encoding: str) -> bool:
    """Whether the cells' bytes are what was read, texts of shape (rows,)."""
    arrow, compute = arrow_module(), arrow_module(".compute")
    if len(values) != len(cells):
        return False
    ends = np.append(0, cells.ravel()).astype(np.int32)
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(lines)]
    parts = arrow.Array.from_buffers(arrow.binary(), len(ends) - 1, buffers)
    found = parts.take(integers_of(np.arange(1, len(ends) - 1, 2))).dictionary_encode()
    try:
        different = [_unquoted(cell).decode(encoding).encode() for cell in found.dictionary.to_pylist()]
    except UnicodeError:
        return False
    again = binary_of(different, arrow.string()).take(found.indices)
    said = compute.if_else(values.is_valid(), values, binary_of([b""], arrow.string())[0])
    return bool(again.equals(said))


def _unquoted(cell: bytes) -> bytes:
    return cell[1:-1].replace(b'""', b'"') if len(cell) > 1 and cell[:1] == cell[-1:] == b'"' else cell


def can_be_spliced(table: Table) -> TypeGuard[Csv]:
    """Whether it is a CSV in whose encoding separators and quotation marks are single bytes, as in ASCII.

    >>> import pandas as pd
    >>> from paper_repro.columns.tables import open_table
    >>> can_be_spliced(open_table(pd.DataFrame({"eyes": ["blue"]})))
    False
    """
    letters = bytes(range(128))
    return isinstance(table, Csv) and letters.decode(table.encoding, "replace") == letters.decode()


def write_spliced(
    file: IO[bytes], table: Csv, column: str, categories: Categories, drawn: Iterable[tuple[Piece, IntArray]]
) -> None:
    r"""Write the pieces of a CSV into an open file, the column's cells replaced by these categories, shape (rows,) a piece.

    Raises ValueError for a category that its encoding does not have.

    >>> import io, tempfile
    >>> from pathlib import Path
    >>> from paper_repro.columns.tables import categories_of, open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eyes.csv").write_bytes(b'id,eyes\r\n"01",blue\r\n1e5,brown')
    ...     table, written = open_table(Path(folder, "eyes.csv")), io.BytesIO()
    ...     found = categories_of(table.counts(["eyes"])["eyes"].combine_chunks(), "eyes")
    ...     pieces = ((piece, np.ones(1, dtype=int)) for piece in pieces_of(table, "eyes", ["eyes"]))
    ...     write_spliced(written, table, "eyes", found, pieces)
    >>> written.getvalue()
    b'id,eyes\r\n"01",brown\r\n1e5,brown'
    """
    spellings = _spelled(table, column, categories)
    for piece, codes in drawn:
        if piece.cells is not None:
            file.write(piece.spliced(codes, spellings))
            continue
        file.write(piece.lines[: piece.first])
        if piece.batch is not None:
            place = piece.batch.schema.names.index(column)
            published = categories.column(codes, piece.batch.schema.field(place).type)
            lines = lines_of(piece.batch.set_column(place, column, published), table.separator)
            file.write(lines.decode().encode(_encoding(table)))


def _encoding(table: Csv) -> str:
    return table.encoding.replace("-sig", "")  # a byte-order mark is there already


def _spelled(table: Csv, column: str, categories: Categories) -> Any:
    """How categories are written in a column, and last a missing value: a pyarrow.Array of bytes, shape (M + 1,) or more.

    All are in quotation marks if the column's name is.
    Kept or changed, a category is written alike, so that its bytes do not tell which.
    """
    with table.path.open("rb") as file:
        lines, separators, stops, _ = next(_whole_rows(file, table.separator.encode()[0]))
    place = table.schema.names.index(column)
    starts = np.append(0, separators[separators < stops[0]] + 1)
    always = lines[starts[place] :].removeprefix(codecs.BOM_UTF8).startswith(b'"')
    missing = b'""' if len(table.schema.names) == 1 else b""
    marks = re.compile(f'["\\r\n{re.escape(table.separator)}]')
    texts = [
        '"' + text.replace('"', '""') + '"' if always or marks.search(text) else text
        for text in categories.values.cast(arrow_module().string()).to_pylist()
        if text is not None
    ]
    try:
        written = [text.encode(_encoding(table)) for text in texts]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the category {error.object!r} cannot be written in {table.encoding}; name a .parquet output"
        ) from None
    return binary_of([*written, *[missing] * (1 + categories.has_missing)])
