"""Source sets: what is known of the distribution that the data come from; the papers' own, and anyone's CSV."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.checks import (
    ROW_SUM_TOLERANCE,
    as_fraction,
    as_number,
    check_grid,
    check_labels,
    check_matrix_fits,
    check_probability_rows,
    check_same_letters,
    frame_labels,
)
from paper_repro.deprecated import says_how
from paper_repro.errors import Clause, printable, shown, wrong
from paper_repro.knowledge.counts import ConfidenceMethod, check_counts, confidence_intervals
from paper_repro.knowledge.intervals import (
    NEARLY_UNIFORM,
    TIE,
    SourceClass,
    box_vertices,
    checked_bounds,
    class_of_intervals,
    exact_box_vertices,
    largest_mean,
    least_majorized,
)
from paper_repro.paths import DATA, ROOT
from paper_repro.types import FloatArray, HasMatrix, ShownAsTable

__all__ = [
    "SourceClass",
    "SourceSet",
    "changes",
    "check_source",
    "distance_to_hull",
    "load_source_set",
    "read_source_set",
    "source_set_names",
    "source_set_path",
]

# A share of a probability that rounding may take.
_ROUNDED = 1e-10


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SourceSet(ShownAsTable):
    """A set of source distributions: the convex hull of its vertices (Section II, Kalantari et al. 2018).

    Taking the hull loses nothing for worst-case Hamming distortion (their Lemma 2). Two source sets are equal only if they are
    one object: other vertices can have the same hull.

    Parameters
    ----------
    vertices : array_like, shape (V, M) or (M,)
        One distribution over the same M letters per row; finite, non-negative, each row summing to 1 within 1e-9. Numbers, or
        texts such as "1/3" or "0.25"; what is rational stays so in :attr:`exact`. A pandas DataFrame's columns, or a Series'
        index, become the labels; so do the keys of ``{letter: probability}``.
    labels : sequence of M distinct hashables, optional
        Names of the letters; ``0 .. M-1`` if not given.
    name : str, optional

    Raises
    ------
    ValueError
        If the vertices are empty, ragged or no distributions, or the labels do not fit them.
    TypeError
        If the name is no text.

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

    labels: Sequence[Hashable]
    name: str
    bounds: tuple[FloatArray, FloatArray] | None
    _given: list[list[Any]] | None

    @says_how("write SourceSet(vertices, labels=..., name=...)")
    def __init__(
        self,
        vertices: ArrayLike | Mapping[Hashable, float],
        labels: Sequence[Hashable] | None = None,
        name: str | None = None,
    ) -> None:
        _checked_name(name)
        own = list(vertices) if isinstance(vertices, Mapping) else frame_labels(vertices)
        given = own if labels is None else labels
        if isinstance(vertices, Mapping):
            vertices = [list(vertices.values())]
        rows = check_probability_rows(
            vertices,
            f"source set {name}" if name else "vertices",
            letter_names=[f"category {label!r}" for label in given] if isinstance(given, Sequence) else None,
        )
        rows.setflags(write=False)
        self._set(check_labels(labels, rows.shape[1], own), name, None)
        object.__setattr__(self, "_given", _given_exactly(vertices, rows))
        object.__setattr__(self, "vertices", rows)

    def _set(self, labels: Sequence[Hashable], name: str | None, bounds: tuple[FloatArray, FloatArray] | None) -> None:
        for attribute, value in (
            ("labels", labels),
            ("name", _checked_name(name)),
            ("bounds", bounds),
            ("_given", None),
        ):
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_intervals(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        labels: Sequence[Hashable] | None = None,
        name: str | None = None,
    ) -> SourceSet:
        """All distributions with ``lower <= P <= upper``, letter by letter: what confidence intervals leave possible.

        Differential privacy, approximate or not, and maximal leakage work with the bounds, for any number of letters (see
        :mod:`paper_repro.solvers.known_prior`). Other notions need the vertices, at which all letters but at most one are at a
        bound; they are listed when they are asked for, and there can be about ``M 2^M / sqrt(M)``.

        Parameters
        ----------
        lower, upper : array_like, shape (M,)
            Probabilities with ``lower <= upper`` and ``sum(lower) <= 1 <= sum(upper)`` within 1e-9.
        labels : sequence of M distinct hashables, optional
            By default the index of a pandas Series, else ``0 .. M-1``.
        name : str, optional

        Returns
        -------
        SourceSet
            Its vertices are exact up to rounding and all different, in ascending order; two that come within 1e-12 are one. To
            ask for more than 10,000 of them is a ValueError.

        Raises
        ------
        ValueError
            If a bound is no probability or a lower one above the upper one, or no distribution keeps them.

        Examples
        --------
        >>> SourceSet.from_intervals(np.zeros(10**5), np.full(10**5, 1e-4))
        SourceSet(intervals, M=100000, Class I)
        >>> SourceSet.from_intervals([0.5, 0.2, 0.1], [0.6, 0.3, 0.2]).vertices
        array([[0.5, 0.3, 0.2],
               [0.6, 0.2, 0.2],
               [0.6, 0.3, 0.1]])
        """
        given = [names for names in (labels, frame_labels(lower), frame_labels(upper)) if names is not None]
        if any(list(names) != list(given[0]) for names in given[1:]):
            raise ValueError(
                wrong(
                    "lower, upper and labels",
                    "name the same categories in one order",
                    Clause(" and ".join(map(shown, given))),
                    "Put all in one order.",
                )
            )
        labels = given[0] if given else None
        bounds = checked_bounds(lower, upper, labels)
        for bound in bounds:
            bound.setflags(write=False)
        made = cls.__new__(cls)
        made._set(check_labels(labels, len(bounds[0])), name, bounds)
        given_bounds = np.array([lower, upper], dtype=object)
        object.__setattr__(made, "_given", _given_exactly(given_bounds, np.array(bounds)))
        return made

    @classmethod
    def from_frequencies(cls, counts: ArrayLike, labels: Sequence[Hashable] | None = None) -> SourceSet:
        """The one distribution in which letters are as frequent as counted, exactly: ``counts / sum(counts)``.

        ``counts`` are whole numbers, shape (M,), not all 0. Raises ValueError as :class:`SourceSet` does, where they are not.

        >>> SourceSet.from_frequencies([1, 2]).exact
        ((Fraction(1, 3), Fraction(2, 3)),)
        """
        listed = check_counts(counts, labels)
        made = cls(listed / listed.sum(), labels)
        object.__setattr__(made, "_given", [listed.tolist()])  # rows are divided by their sums
        return made

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike | Mapping[Hashable, int],
        confidence: float = 0.95,
        method: ConfidenceMethod = "clopper-pearson",
        labels: Sequence[Hashable] | None = None,
        name: str | None = None,
    ) -> SourceSet:
        """All distributions in simultaneous confidence intervals around what was counted in a sample.

        Of samples from one distribution, at least the part ``confidence`` have it in their set; how far each method keeps that is
        in :mod:`paper_repro.knowledge.counts`. Needs the extra ``data`` (statsmodels).

        Parameters
        ----------
        counts : array_like of int, shape (M,), or dict
            Records of each category, 0 for one that can occur and did not. The index of a pandas Series becomes the labels, so do
            keys.
        confidence : float, a probability above 0 and below 1
            That all intervals hold at once.
        method : "clopper-pearson", "goodman" or "sison-glaz"
            Only the first keeps the confidence whatever the counts; the others are approximations, narrower for large counts.
        labels : sequence of M distinct hashables, optional
        name : str, optional

        Returns
        -------
        SourceSet
            Of intervals, as of :meth:`from_intervals`.

        Raises
        ------
        ValueError
            If a count is no whole number >= 0 or all are 0, the confidence is no probability, the method is none of the three, or
            ``sison-glaz`` would take minutes.

        Examples
        --------
        >>> source = SourceSet.from_counts({"brown": 220, "blue": 215, "hazel": 93, "green": 64})
        >>> source
        SourceSet(intervals, M=4, Class III)
        >>> np.round(source.bounds, 3)
        array([[0.322, 0.314, 0.122, 0.078],
               [0.423, 0.414, 0.198, 0.144]])
        """
        own = list(counts) if isinstance(counts, Mapping) else frame_labels(counts)
        listed: Any = list(counts.values()) if isinstance(counts, Mapping) else counts
        names = check_labels(labels, np.size(listed), own)
        lower, upper = confidence_intervals(listed, confidence, method, names)
        return cls.from_intervals(lower, upper, names, name)

    @classmethod
    def from_order(cls, labels: Sequence[Hashable], name: str | None = None) -> SourceSet:
        """All distributions in which no letter is likelier than one named before it: only their order is known.

        The uniform distribution is one of them, so that the set is of Class I: by every notion the best mechanism leaks as much
        as if nothing were known. What the order buys, it buys together with more, such as the largest probability.

        Parameters
        ----------
        labels : sequence of M distinct hashables
            The likeliest letter first.
        name : str, optional

        Returns
        -------
        SourceSet
            Of M vertices: the uniform distributions on the first n letters, n = 1 .. M, each a probability of shape (M,).

        Raises
        ------
        ValueError
            If the labels are empty or not distinct, or there are more than 10,000.

        Examples
        --------
        >>> source = SourceSet.from_order(["often", "less often", "rarely"])
        >>> source.vertices.round(3)
        array([[1.   , 0.   , 0.   ],
               [0.5  , 0.5  , 0.   ],
               [0.333, 0.333, 0.333]])
        >>> source.source_class
        'I'
        """
        names = _listed(labels)
        check_matrix_fits(
            len(names), "the vertices of an order", "Take SourceSet.unknown(labels), which leaks as much."
        )
        first = np.tri(len(names))
        return cls(first / first.sum(axis=1, keepdims=True), names, name)

    @classmethod
    def unknown(cls, labels: Sequence[Hashable], name: str | None = None) -> SourceSet:
        """All distributions over the letters: nothing is known.

        Parameters
        ----------
        labels : sequence of M distinct hashables
            ``range(M)`` for letters without names.
        name : str, optional

        Returns
        -------
        SourceSet
            The intervals [0, 1], of Class I: the best mechanism is randomized response.

        Raises
        ------
        ValueError
            If the labels are empty or not distinct.

        Examples
        --------
        >>> SourceSet.unknown(["no", "yes"]).vertices
        array([[0., 1.],
               [1., 0.]])
        """
        names = _listed(labels)
        return cls.from_intervals(np.zeros(len(names)), np.ones(len(names)), names, name)

    @classmethod
    def from_csv(cls, path: str | Path) -> SourceSet:
        """Read a source set from a CSV: a header that names the letters, then one distribution per line.

        Columns are separated by commas, semicolons or tabs, whichever splits all lines alike; where it is not the comma, decimals
        may have one. Lines that start with ``#`` are comments; they carry the provenance. The set's name is the file's. A
        relative path is looked for in the current folder, then in the checkout: a notebook runs in a folder of its own.

        Raises
        ------
        ValueError
            If the file has no header or no distributions in it; the message names file, line and column.
        FileNotFoundError
            If there is no such file.
        TypeError
            If the path is none.

        Examples
        --------
        >>> SourceSet.from_csv("data/source_sets/P_IIIa_6.csv")
        SourceSet(P_IIIa_6: V=2, M=6, Class III)
        """
        if not isinstance(path, str | Path):
            raise TypeError(wrong("path", "be the path of a .csv file, as text or a Path", path))
        path = _existing(Path(path))
        lines = [
            (number, line)
            for number, line in enumerate(_read_text(path).splitlines(), start=1)
            if line.strip() and not line.startswith("#")
        ]
        if len(lines) < 2:
            raise ValueError(
                wrong(
                    str(path),
                    "have a header that names the categories and at least one line of probabilities",
                    Clause(f"{len(lines)} line{'s' * (len(lines) != 1)}"),
                    "Lines that are empty or begin with # do not count.",
                )
            )
        header, *table = _split([line for _, line in lines])
        numbers = [number for number, _ in lines[1:]]
        _check_header(header, path)
        for number, cells in zip(numbers, table, strict=True):
            if len(cells) != len(header):
                raise ValueError(
                    wrong(
                        f"{path}: line {number}",
                        f"have {len(header)} columns, one for each category of the header",
                        len(cells),
                        "Write one probability per category, 0 for one that never occurs.",
                    )
                )
        read: Any = [[_parsed(cell) for cell in row] for row in table]
        _check_no_counts(read, path, numbers)
        check_probability_rows(
            read,
            str(path),
            row_names=[f"line {number}" for number in numbers],
            letter_names=[f"column {label!r}" for label in header],
        )
        return cls(read, labels=header, name=path.stem)

    def __repr__(self) -> str:
        known = f"V={self.vertex_count}" if self.bounds is None else "intervals"
        size = f"{known}, M={self.alphabet_size}, Class {self.source_class}"
        return f"SourceSet({self.name + ': ' if self.name else ''}{size})"

    def _table(self) -> tuple[str, Sequence[object], Sequence[object], FloatArray]:
        if self.bounds is not None:
            return repr(self), ["lower", "upper"], self.labels, np.array(self.bounds)
        return repr(self), range(1, self.vertex_count + 1), self.labels, self.vertices

    @cached_property
    def exact(self) -> tuple[tuple[Fraction, ...], ...]:
        """The vertices without rounding, shape (V, M): what certificates are about.

        Numbers that are given as Fractions, Decimals or texts such as "1/3" are kept; floats stand for their shortest decimals,
        0.1 for 1/10. Each row is divided by its exact sum, which is 1 but for rounding.

        >>> SourceSet(["1/3", "2/3"]).exact
        ((Fraction(1, 3), Fraction(2, 3)),)
        """
        if self.bounds is not None:
            return exact_box_vertices(self.vertices, *self.exact_bounds)
        rows = self.vertices.tolist() if self._given is None else self._given
        found = [[as_fraction(p) for p in row] for row in rows]
        return tuple(tuple(p / total for p in row) for row in found for total in [sum(row)])

    @cached_property
    def exact_bounds(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The bounds of intervals without rounding, two of shape (M,), as :attr:`exact` reads numbers.

        Lower ones whose sum is above 1 by rounding are divided by it, and upper ones whose sum is below. Raises ValueError if the
        set has no bounds.

        >>> SourceSet.from_intervals(["1/3", 0.5], ["1/2", 1]).exact_bounds[0]
        (Fraction(1, 3), Fraction(1, 2))
        """
        if self.bounds is None:
            raise ValueError(wrong("the source set", "be given by bounds", self, "For its vertices use exact."))
        rows = [bound.tolist() for bound in self.bounds] if self._given is None else self._given
        lower, upper = ([as_fraction(p) for p in row] for row in rows)
        most, least = max(sum(lower), Fraction(1)), min(sum(upper), Fraction(1))
        return tuple(p / most for p in lower), tuple(p / least for p in upper)

    @cached_property
    def vertices(self) -> FloatArray:
        """Distributions whose hull the set is, shape (V, M); those of intervals are listed when they are asked for.

        Raises ValueError if intervals have more than 10,000.
        """
        assert self.bounds is not None, "a set has vertices or bounds"
        listed = box_vertices(*self.bounds)
        listed.setflags(write=False)
        return listed

    @cached_property
    def least_majorized(self) -> FloatArray | None:
        """The one member that all others majorize, shape (M,), where it is known without a search; None elsewhere.

        That is of one distribution, of intervals, and of sets with the uniform one among their vertices, as of an order.

        Of intervals it is the clipping of one number to the bounds. No member has a smaller sum of its n largest probabilities,
        for any n: see :mod:`paper_repro.solvers.known_prior`.

        >>> SourceSet.from_intervals([0.5, 0.0, 0.1], [0.9, 0.1, 0.6]).least_majorized
        array([0.5, 0.1, 0.4])
        """
        if self.bounds is not None:
            return least_majorized(*self.bounds)
        uniform = self.vertices.min(axis=1) == self.vertices.max(axis=1)
        return self.vertices[int(uniform.argmax())] if uniform.any() or self.vertex_count == 1 else None

    @property
    def vertex_count(self) -> int:
        """V, the number of vertices."""
        return self.vertices.shape[0]

    @property
    def alphabet_size(self) -> int:
        """M, the number of letters."""
        return len(self.labels)

    @cached_property
    def source_class(self) -> SourceClass:
        """Class I, II or III (Definition 1, Kalantari et al. 2018), by its definition.

        I: the hull contains the uniform distribution. II: it does not, and one ordering of the letters, ties
        included, sorts every vertex (hence every member). III: everything else.
        """
        if self.bounds is not None:
            return class_of_intervals(*self.bounds)
        if distance_to_hull(np.full(self.alphabet_size, 1 / self.alphabet_size), self.vertices) <= NEARLY_UNIFORM:
            return "I"
        # If any common ordering exists, sorting by the average of the vertices finds one.
        order = np.argsort(-self.vertices.mean(axis=0), kind="stable")
        ascents = np.diff(self.vertices[:, order], axis=1)
        return "II" if (ascents <= TIE).all() else "III"

    @cached_property
    def contains_uniform(self) -> bool:
        """Whether the hull contains the uniform distribution up to rounding, a share of 1e-10 of each letter's probability.

        What is optimal for the uniform distribution is then optimal for the set. Class I is told more broadly, within 1e-9.

        >>> (near := SourceSet([[0.5 - 5e-10, 0.5 + 5e-10]])).source_class, near.contains_uniform
        ('I', False)
        """
        if self.source_class != "I":
            return False
        size = self.alphabet_size
        if self.bounds is not None:
            lower, upper = (size * bound for bound in self.bounds)
            return bool((lower <= 1 + _ROUNDED).all() and (upper >= 1 - _ROUNDED).all())
        return size * distance_to_hull(np.full(size, 1 / size), self.vertices) <= _ROUNDED

    def worst_case_distortion(self, mechanism: HasMatrix | ArrayLike) -> float:
        """Largest expected Hamming distortion over the set: ``max_P sum_i P_i (1 - Q_ii)``.

        Linear in P, so the maximum is at a vertex; in intervals the letters changed most often take all they can. Evaluated from
        the matrix, shape (M, M); exact up to rounding; a probability.
        Raises ValueError if the matrix has another shape.

        >>> SourceSet([[0.5, 0.5], [0.8, 0.2]]).worst_case_distortion([[1.0, 0.0], [0.4, 0.6]])
        0.2
        """
        distortions: Any = getattr(mechanism, "distortions", None)
        shape = np.shape(distortions) * 2
        if distortions is None:
            given: Any = getattr(mechanism, "matrix", mechanism)
            try:
                matrix = check_grid(given, as_number)
            except (TypeError, ValueError):
                raise ValueError(wrong("mechanism", "be a Mechanism or a matrix of shape (M, M)", mechanism)) from None
            shape = matrix.shape
        if shape != (self.alphabet_size,) * 2:
            raise ValueError(
                wrong(
                    "mechanism",
                    f"have shape ({self.alphabet_size}, {self.alphabet_size}), as the source set has {self.alphabet_size} "
                    "categories",
                    Clause(f"shape {shape}"),
                    "Give both the same categories.",
                )
            )
        check_same_letters(frame_labels(mechanism, "labels"), self.labels, "the mechanism and the source set")
        changed = changes(matrix) if distortions is None else distortions
        return float((self.vertices @ changed).max()) if self.bounds is None else largest_mean(changed, *self.bounds)


def _listed(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    if isinstance(labels, str) or not hasattr(labels, "__len__") or not len(labels):
        raise ValueError(wrong("labels", "be a non-empty list of the names of the categories, or range(M)", labels))
    try:
        repeated = len(set(labels)) < len(labels)
    except TypeError:
        repeated = False  # check_labels refuses them
    if repeated:
        fix = "Give each name once, such as by .unique() of a column."
        raise ValueError(wrong("labels", "be the names of the categories, each once", labels, fix))
    return check_labels(labels, len(labels))


def _check_no_counts(rows: Sequence[Sequence[Any]], path: Path, numbers: Sequence[int]) -> None:
    """Raises ValueError for whole numbers: as a known prior, the frequencies of a sample ignore its error."""
    for number, row in zip(numbers, rows, strict=True):
        try:
            values = check_grid([row], as_number)[0]
        except (TypeError, ValueError):
            return  # another message tells where
        if (values >= 0).all() and (values == np.floor(values)).all() and 1 < values.sum() < np.inf:
            fix = (
                "Divide percentages by 100. Give the counts of a sample to SourceSet.from_counts in Python: their frequencies "
                "are no known prior, because they have a sampling error."
            )
            place = f"{path}: line {number}"
            raise ValueError(wrong(place, f"sum to 1 within {ROW_SUM_TOLERANCE:g}", float(values.sum()), fix))


def _checked_name(name: object) -> str:
    if not isinstance(name, str | None):
        raise TypeError(wrong("name", "be text, or None", name))
    return name or ""


def changes(matrix: FloatArray) -> FloatArray:
    """Probability that letter i is changed, shape (M,), by a channel of shape (M, M).

    Summed over the other letters, so that it may be tiny: 1 less what is kept would be rounded to 0.

    >>> changes(np.array([[1.0, 1e-20], [0.5, 0.5]]))
    array([1.e-20, 5.e-01])
    """
    changed = matrix.copy()
    np.fill_diagonal(changed, 0.0)
    return changed.sum(axis=1)


def _given_exactly(table: Any, rows: FloatArray) -> list[list[Any]] | None:
    """The numbers as they were given, if they are not all floats."""
    if getattr(getattr(table, "dtype", None), "kind", "O") in "fiu":
        return None
    given = np.asarray(table, dtype=object).reshape(rows.shape)
    return None if {*map(type, given.flat)} <= {float, int, np.float64} else given.tolist()


def check_source(source: object) -> SourceSet:
    """The source set. Raises ValueError if it is something else.

    >>> check_source(SourceSet([0.5, 0.5]))
    SourceSet(V=1, M=2, Class I)
    """
    if not isinstance(source, SourceSet):
        raise ValueError(
            wrong(
                "source", "be a SourceSet", source, "Write load_source_set(name), or SourceSet(...) around the priors."
            )
        )
    return source


def distance_to_hull(prior: FloatArray, vertices: FloatArray) -> float:
    """Least, over the hull of the vertices, of the largest difference to a distribution in any letter (an LP), dimensionless.

    The prior has shape (M,), the vertices have shape (V, M). Evaluated at the member of the hull that the solver finds, so never
    understated.

    >>> round(distance_to_hull(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.7, 0.3]])), 9)
    0.2
    """
    count, size = vertices.shape
    nearest = float(np.abs(vertices - prior).max(axis=1).min())
    if size * nearest <= _ROUNDED or count == 1:
        return nearest
    from scipy.optimize import linprog

    slack = np.ones((size, 1))
    result = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.block([[vertices.T, -slack], [-vertices.T, -slack]]),
        b_ub=np.concatenate([prior, -prior]),
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
        method="highs",
    )
    weights = np.clip(result.x[:-1], 0, None)
    # Judge the point, not the solver's word for it.
    return float(np.abs(weights @ vertices / weights.sum() - prior).max())


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
    """The CSV file behind a known name, or the given path if it ends in ``.csv``, found as by :meth:`SourceSet.from_csv`.

    Raises
    ------
    ValueError
        If it is neither; the message lists the known names.
    FileNotFoundError
        If there is no such file.

    >>> source_set_path("P_II_6").name
    'P_II_6.csv'
    """
    if str(name_or_path).lower().endswith(".csv"):
        return _existing(Path(name_or_path))
    if not isinstance(name_or_path, str) or name_or_path not in source_set_names():
        raise ValueError(
            wrong(
                "the source set",
                f"be one of {', '.join(source_set_names())}, or the path of a .csv file whose header names the categories",
                name_or_path,
            )
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
    return SourceSet.from_csv(source_set_path(name_or_path))


def read_source_set(path: str | Path) -> SourceSet:
    """The source set in a CSV file: :meth:`SourceSet.from_csv`.

    >>> read_source_set("data/source_sets/P_II_4.csv")
    SourceSet(P_II_4: V=1, M=4, Class II)
    """
    return SourceSet.from_csv(path)


def _existing(path: Path) -> Path:
    folders = list(dict.fromkeys([Path.cwd(), ROOT]))
    for folder in folders:
        try:
            if (folder / path).is_file():
                return path if folder == Path.cwd() else folder / path
        except OSError:  # a name that is too long, or a folder that cannot be searched
            continue
    where = "" if path.is_absolute() else f" in {' or '.join(map(str, folders))}"
    raise FileNotFoundError(
        f"the file of a source set must exist; got {shown(path)}, which is no file{where}. Give the path of a .csv file."
    )


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise type(error)(
            f"cannot read {printable(str(path))}: {error.strerror}. Check the file and its permissions."
        ) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        likely = "in UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "no text" if b"\0" in raw else "in Latin-1"
        raise ValueError(
            wrong(str(path), "be in UTF-8", Clause(f"a file that is probably {likely}"), "Save it as CSV UTF-8.")
        ) from None


def _split(lines: list[str]) -> list[list[str]]:
    """Cells of each line, by the separator that splits all alike, else by the one that splits the header into most."""
    tables = []
    for separator in ",;\t":
        # A line at a time: a quotation mark that is not closed ends there.
        table = [[cell.strip() for cell in next(csv.reader([line], delimiter=separator))] for line in lines]
        if separator != ",":
            table[1:] = [[cell.replace(",", ".") for cell in row] for row in table[1:]]
        tables.append(table)
    return max(tables, key=lambda table: (len(table[0]) > 1 and len({len(row) for row in table}) == 1, len(table[0])))


def _check_header(header: list[str], path: Path) -> None:
    for column, label in enumerate(header):
        if not label:
            raise ValueError(
                wrong(
                    f"{path}: each column of the header",
                    "have a name",
                    Clause(f"none in column {column + 1}"),
                    "Name the category, or drop the column.",
                )
            )
        if (first := header.index(label)) < column:
            raise ValueError(
                wrong(
                    f"{path}: the header, its first line,",
                    "name each category once",
                    Clause(f"{label!r} in columns {first + 1} and {column + 1}"),
                    "Give them different names.",
                )
            )
    if all(map(_is_probability, header)) and not all(label.isdigit() for label in header):
        raise ValueError(
            wrong(
                f"{path}: the first line",
                "be a header that names the categories",
                header,
                "Add one above the probabilities.",
            )
        )


def _parsed(cell: str) -> float | str:
    """What is written there, if it is an exact number, else the float that it is, if it is one."""
    try:
        as_fraction(cell)
    except ValueError:
        with contextlib.suppress(ValueError):
            return float(cell)
    return cell


def _is_probability(cell: str) -> bool:
    try:
        return 0 <= float(cell.replace(",", ".")) <= 1
    except ValueError:
        return False
