"""Source sets: what is known of the distribution that the data come from; the papers' own, and anyone's CSV."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import check_labels, check_probability_rows
from paper_repro.paths import DATA, ROOT
from paper_repro.types import FloatArray, HasMatrix

__all__ = ["SourceClass", "SourceSet", "load_source_set", "read_source_set", "source_set_names", "source_set_path"]

SourceClass = Literal["I", "II", "III"]

# Two probabilities that differ by less are taken for a tie: decimals such as 0.1 + 0.2 carry rounding of 1e-16.
_TIE = 1e-12
# How far, in any letter, the uniform distribution may lie outside the hull; the LP solver resolves about 1e-9.
_UNIFORM = 1e-9


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SourceSet:
    """A set of source distributions: the convex hull of its vertices (Section II, Kalantari et al. 2018).

    Taking the hull loses nothing for worst-case Hamming distortion (their Lemma 2).

    Parameters
    ----------
    vertices : array_like, shape (V, M) or (M,)
        One distribution over the same M letters per row; finite, non-negative, each row summing to 1 within 1e-9.
    labels : sequence of M distinct hashables, optional
        Names of the letters; ``0 .. M-1`` if not given.
    name : str, optional

    Raises
    ------
    ValueError
        If the vertices are empty, ragged or no distributions, or the labels do not fit them.

    Examples
    --------
    >>> source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], labels=["red", "green", "blue"])
    >>> source
    SourceSet(V=2, M=3, Class II)
    >>> source.source_class
    'II'
    >>> SourceSet([[0.5, 0.3, 0.2], [0.1, 0.4, 0.5]]).source_class
    'III'
    """

    vertices: FloatArray
    labels: Sequence[Hashable]
    name: str

    def __init__(self, vertices: ArrayLike, labels: Sequence[Hashable] | None = None, name: str | None = None) -> None:
        rows = check_probability_rows(vertices, "source set" if name is None else f"source set {name}")
        rows.setflags(write=False)
        letters = check_labels(labels, rows.shape[1])
        object.__setattr__(self, "vertices", rows)
        object.__setattr__(self, "labels", letters)
        object.__setattr__(self, "name", name or "")

    def __repr__(self) -> str:
        size = f"V={self.vertex_count}, M={self.alphabet_size}, Class {self.source_class}"
        return f"SourceSet({self.name + ': ' if self.name else ''}{size})"

    @property
    def vertex_count(self) -> int:
        return self.vertices.shape[0]

    @property
    def alphabet_size(self) -> int:
        return self.vertices.shape[1]

    @cached_property
    def source_class(self) -> SourceClass:
        """Class I, II or III (Definition 1, Kalantari et al. 2018), by its definition.

        I: the hull contains the uniform distribution. II: it does not, and one ordering of the letters, ties
        included, sorts every vertex (hence every member). III: everything else.
        """
        if self._distance_to_uniform() <= _UNIFORM:
            return "I"
        # If any common ordering exists, sorting by the average of the vertices finds one.
        order = np.argsort(-self.vertices.mean(axis=0), kind="stable")
        ascents = np.diff(self.vertices[:, order], axis=1)
        return "II" if (ascents <= _TIE).all() else "III"

    def worst_case_distortion(self, mechanism: HasMatrix | ArrayLike) -> float:
        """Largest expected Hamming distortion over the set: ``max_P sum_i P_i (1 - Q_ii)``.

        Linear in P, so the maximum is at a vertex. Evaluated from the matrix; exact up to rounding.

        >>> SourceSet([[0.5, 0.5], [0.8, 0.2]]).worst_case_distortion([[1.0, 0.0], [0.4, 0.6]])
        0.2
        """
        matrix = np.asarray(getattr(mechanism, "matrix", mechanism), dtype=float)
        if matrix.shape != (self.alphabet_size,) * 2:
            raise ValueError(
                f"the mechanism has shape {matrix.shape}; a set over {self.alphabet_size} letters needs "
                f"({self.alphabet_size}, {self.alphabet_size})"
            )
        return float((self.vertices @ (1 - np.diagonal(matrix))).max())

    def _distance_to_uniform(self) -> float:
        """Least, over the hull, of the largest difference to the uniform distribution in any letter (an LP)."""
        size, uniform = self.alphabet_size, 1 / self.alphabet_size
        if np.abs(self.vertices - uniform).max() <= _UNIFORM:
            return 0.0
        if self.vertex_count == 1:
            return float(np.abs(self.vertices - uniform).max())
        from scipy.optimize import linprog

        slack = np.ones((size, 1))
        spread = self.vertices.T
        result = linprog(
            np.append(np.zeros(self.vertex_count), 1.0),
            A_ub=np.block([[spread, -slack], [-spread, -slack]]),
            b_ub=np.concatenate([np.full(size, uniform), np.full(size, -uniform)]),
            A_eq=np.append(np.ones(self.vertex_count), 0.0)[np.newaxis],
            b_eq=[1.0],
            method="highs",
        )
        weights = np.clip(result.x[:-1], 0, None)
        # Judge the point, not the solver's word for it.
        return float(np.abs(weights @ self.vertices / weights.sum() - uniform).max())


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
