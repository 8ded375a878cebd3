"""Tables written batch by batch, whole or not at all: CSV and Parquet."""

from __future__ import annotations

import codecs
import csv
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from paper_repro.columns.tables import Table, arrow_module, decoded, is_text, one_line

__all__ = ["check_output", "whole_or_nothing", "write_table"]


def check_output(
    output: str | Path, *others: Path, kinds: Sequence[str] = (".csv", ".parquet"), what: str = "output"
) -> Path:
    """The path of a file to be written. Raises ValueError or OSError if it is none, exists, or could not be written.

    >>> check_output("released.txt")
    Traceback (most recent call last):
    ValueError: output must end in .csv or .parquet; got 'released.txt'. Change the ending of its name.
    """
    if not isinstance(output, str | os.PathLike):
        raise ValueError(f"{what} must be the path of a file; got {output!r}. Give it as text or a Path.")
    path = Path(output)
    if path.is_dir():
        raise IsADirectoryError(f"{what} must be a file; got the folder {str(path)!r}. Name a file in it.")
    if path.suffix.lower() not in kinds or "\0" in str(path):
        ends = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
        raise ValueError(f"{what} must end in {ends}; got {str(path)!r}. Change the ending of its name.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{what} must be in an existing folder; got {str(path)!r}. Make the folder {str(path.parent)!r} first."
        )
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(
            f"{what} must be in a folder that you may write to; got {str(path)!r}. Name another folder than "
            f"{str(path.parent)!r}."
        )
    for taken in (path, *others):
        if os.path.lexists(taken):
            raise FileExistsError(
                f"{what} must not exist; got {str(taken)!r}, which does. Name another file, or remove this one first."
            )
    return path


def write_table(file: IO[bytes], path: Path, schema: Any, batches: Iterable[Any], like: Table) -> None:
    """Write record batches into an open file, as CSV or Parquet by the ending of its path.

    A CSV takes separator and encoding from the CSV that it is ``like``. Raises ValueError for columns that a CSV cannot have.

    >>> from paper_repro.columns.tables import open_table
    >>> import pandas as pd
    >>> table, file = open_table(pd.DataFrame({"id": ["01", "02"], "eyes": ["blue", None]})), io.BytesIO()
    >>> write_table(file, Path("released.csv"), table.schema, table.batches(), table)
    >>> print(file.getvalue().decode())
    id,eyes
    01,blue
    02,
    """
    arrow = arrow_module()
    if path.suffix.lower() == ".parquet":
        with arrow_module(".parquet").ParquetWriter(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return
    separator, encoding = like.separator, like.encoding
    head = io.StringIO()
    csv.writer(head, delimiter=separator, lineterminator="\n").writerow(schema.names)
    encoder = codecs.getincrementalencoder(encoding)()
    try:
        file.write(encoder.encode(head.getvalue()))
        for batch in batches:
            columns = [decoded(column) for column in batch.columns]
            lines = _lines(arrow.record_batch(columns, names=schema.names), separator)
            file.write(lines if encoding.startswith("utf-8") else encoder.encode(lines.decode()))
    except UnicodeEncodeError as error:
        raise ValueError(
            f"output must be a Parquet file for characters outside {encoding}; got {str(path)!r} and the character "
            f"{error.object[error.start]!r}. Name a .parquet output."
        ) from None
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, arrow.ArrowTypeError) as error:
        raise ValueError(
            f"output must be a Parquet file for these columns; got {str(path)!r} ({one_line(error)}). Name a .parquet output."
        ) from None


def _lines(batch: Any, separator: str) -> bytes:
    """A batch as lines of a CSV, with quotation marks only where some value of the batch needs them, as an empty text does."""
    compute, writing = arrow_module(".compute"), arrow_module(".csv")
    texts = [column for column in batch.columns if is_text(column.type)]
    has_empty = any(not compute.all(compute.binary_length(text).cast("bool")).as_py() for text in texts if len(text))
    for style in ("needed",) if has_empty else ("none", "needed"):
        lines = io.BytesIO()
        options = writing.WriteOptions(include_header=False, delimiter=separator, quoting_style=style)
        try:
            writing.write_csv(batch, lines, options)
        except arrow_module().ArrowInvalid:
            if style == "needed":
                raise
            continue
        break
    return lines.getvalue()


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there, under its name and on the disk, when all is written, and not before; none is overwritten.

    On Linux it has no name until then, so that nothing stays behind even if the process is killed. Elsewhere, and on file systems
    that cannot do so, it is written beside its place as ``.<name>.<random>.unfinished``, which a kill leaves behind.

    Raises OSError, in one sentence, if there is one of this name, or it cannot be written.

    >>> with whole_or_nothing(Path("/proc/released.csv")) as file:
    ...     file.write(b"id")
    Traceback (most recent call last):
    OSError: output must be a file that can be written; got '/proc/released.csv' (No such file or directory). Nothing
    was written; free some space, or name another folder.
    """
    folder, beside = path.parent, None
    try:
        try:
            handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        except (OSError, AttributeError):
            beside = folder / f".{path.name}.{secrets.token_hex(4)}.unfinished"
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
            if beside:
                os.link(beside, path)
            else:  # the name by which Linux knows it
                here = os.open(folder, os.O_RDONLY)
                os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=here, dst_dir_fd=here)
                os.fsync(here)
                os.close(here)
    except FileExistsError:
        raise FileExistsError(
            f"output must not exist; got {str(path)!r}, which does. Name another file, or remove this one first."
        ) from None
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(
            f"output must be a file that can be written; got {str(path)!r} ({error.strerror}). Nothing was written; free "
            "some space, or name another folder."
        ) from None
    finally:
        if beside:
            with suppress(OSError):
                beside.unlink()
