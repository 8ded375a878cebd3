"""Source sets on file: those of the papers' Tables I-IV, and anyone's own CSV."""

from __future__ import annotations

import csv
from pathlib import Path

from paper_repro.paths import DATA, ROOT
from paper_repro.source_sets import SourceSet

__all__ = ["load_source_set", "read_source_set", "source_set_names", "source_set_path"]

_FOLDER = DATA / "source_sets"


def source_set_names() -> list[str]:
    """Names that :func:`load_source_set` knows, sorted by alphabet size and then by class.

    >>> source_set_names()[:5]
    ['P_I_2', 'P_II_4', 'P_I_6', 'P_II_6', 'P_IIIa_6']
    """
    names = [path.stem for path in _FOLDER.glob("*.csv")]
    return sorted(
        names, key=lambda name: (len(name.rpartition("_")[2]), name.rpartition("_")[2], name.count("I"), name)
    )


def source_set_path(name_or_path: str | Path) -> Path:
    """The CSV file behind a known name, or the given path if it ends in ``.csv``.

    A relative path is looked for in the current folder, then in the checkout: a notebook runs in a folder of its own.

    Raises
    ------
    ValueError
        If it is neither; the message lists the known names.
    """
    if str(name_or_path).endswith(".csv"):
        path = Path(name_or_path)
        return path if path.is_file() or not (ROOT / path).is_file() else ROOT / path
    if name_or_path not in source_set_names():
        raise ValueError(
            f"unknown source set {str(name_or_path)!r}; known are {', '.join(source_set_names())}, "
            "and any path to a .csv file whose header names the letters"
        )
    return _FOLDER / f"{name_or_path}.csv"


def load_source_set(name_or_path: str | Path) -> SourceSet:
    """A source set of the papers' tables and figures by name, or one from a CSV file.

    Parameters
    ----------
    name_or_path : str or Path
        One of :func:`source_set_names`, or a path that ends in ``.csv`` (see :func:`read_source_set`).

    Raises
    ------
    ValueError
        If the name is unknown or the file holds no source set.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> load_source_set("P_II_6")
    SourceSet(P_II_6: V=1, M=6, Class II)
    >>> load_source_set("P_IIIc_10").vertices.shape
    (8, 10)
    """
    return read_source_set(source_set_path(name_or_path))


def read_source_set(path: str | Path) -> SourceSet:
    """Read a source set from a CSV: a header that names the letters, then one vertex per line.

    Lines that start with ``#`` are comments; they carry the provenance. The set's name is the file's.

    Raises
    ------
    ValueError
        If the file has no header or vertex, a line of another length, a text cell, or no distributions in it.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no source set file {path}; give the path of an existing .csv file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file in UTF-8 ({error.reason}); save it as CSV UTF-8") from None
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if not _is_comment(line)]
    if len(lines) < 2:
        raise ValueError(f"{path}: needs a header that names the letters and at least one line of probabilities")
    labels = [cell.strip() for cell in next(csv.reader([lines[0][1]]))]
    if not all(labels):
        raise ValueError(
            f"{path}: column {labels.index('') + 1} of the header has no name; name the letter, or drop the column"
        )
    if all(_is_probability(label) for label in labels) and not all(label.isdigit() for label in labels):
        raise ValueError(f"{path}: the first line must be a header that names the letters, got {lines[0][1].strip()!r}")
    vertices = []
    for number, line in lines[1:]:
        cells = next(csv.reader([line]))
        if len(cells) != len(labels):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns where the header names {len(labels)} letters; "
                "write one probability per letter, 0 for a letter that never occurs"
            )
        vertices.append(
            [
                _probability(cell, f"{path}, line {number}, column {label!r}")
                for cell, label in zip(cells, labels, strict=True)
            ]
        )
    return SourceSet(vertices, labels=labels, name=path.stem)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _is_probability(cell: str) -> bool:
    try:
        return 0 <= float(cell) <= 1
    except ValueError:
        return False


def _probability(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{where}: {cell!r} is not a number; write a probability between 0 and 1") from None
