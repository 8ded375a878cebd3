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
    ValueError: output must end in .csv or .parquet, got released.txt
    """
    path = Path(output)
    if path.is_dir():
        raise IsADirectoryError(f"{what} {path} is a folder; name a file in it")
    if path.suffix.lower() not in kinds:
        raise ValueError(f"{what} must end in {', '.join(kinds[:-1])} or {kinds[-1]}, got {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder {path.parent} to write {path.name} into; make it first")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"no file can be made in the folder {path.parent}; name another one")
    for taken in (path, *others):
        if os.path.lexists(taken):
            raise FileExistsError(f"{taken} exists and is not overwritten; name another output, or remove it first")
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
            f"{path}: {error.object[error.start]!r} cannot be written in {encoding}; name a .parquet output"
        ) from None
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, arrow.ArrowTypeError) as error:
        raise ValueError(
            f"{path}: a column cannot be written as CSV ({one_line(error)}); name a .parquet output"
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
    OSError: cannot write /proc/released.csv: No such file or directory; it was left unwritten
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
            f"{path} exists and is not overwritten; name another output, or remove it first"
        ) from None
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(f"cannot write {path}: {error.strerror}; it was left unwritten") from None
    finally:
        if beside:
            with suppress(OSError):
                beside.unlink()
