"""What counts as a valid number: every check names the argument, the allowed range, the value and what to do."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.errors import Clause, shown, wrong
from paper_repro.types import FloatArray

__all__ = [
    "MOST_LETTERS",
    "ROW_SUM_TOLERANCE",
    "Rounded",
    "as_fraction",
    "as_number",
    "check_alpha",
    "check_between",
    "check_changes",
    "check_count",
    "check_delta",
    "check_distortion",
    "check_grid",
    "check_index",
    "check_labels",
    "check_leakage",
    "check_matrix_fits",
    "check_probability_rows",
    "check_same_letters",
    "frame_labels",
    "shortened",
]

ROW_SUM_TOLERANCE = 1e-9
# No exponent that would make a number of a billion digits.
_NUMBER = re.compile(r"[+-]?([0-9]+/[0-9]+|([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?)")
MOST_LETTERS = 10_000  # of a channel that is written out: 800 MB


class Rounded(float):
    """A float that keeps the rational number it was rounded from: what is computed with it is a float like any other.

    Attributes
    ----------
    exact : Fraction

    Examples
    --------
    >>> third = as_number("1/3")
    >>> third, third.exact, as_fraction(third), type(third / 2)
    (0.3333333333333333, Fraction(1, 3), Fraction(1, 3), <class 'float'>)
    """

    exact: Fraction


def as_number(value: object) -> float:
    """A real number, dimensionless or in nats, as a float. Raises TypeError for anything else.

    Texts such as "1/3", "0.25" and "1e-3" are numbers; what they and Fractions, Decimals and integers lose as floats, a
    :class:`Rounded` one keeps. Truth values, complex, missing and masked numbers are none, and neither is what a float cannot
    hold.

    >>> as_number(np.int64(3)), as_number("1/4")
    (3.0, 0.25)
    """
    if type(value) is float or isinstance(value, Rounded):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        if isinstance(value, float | np.floating):
            return float(value)
        if isinstance(value, str) or (not isinstance(value, bool) and isinstance(value, Real | Decimal)):
            return _rounded(value)
    except (OverflowError, ValueError):
        pass
    allowed = 'be real, or a text such as "1/3" or "0.25", and not a truth value'
    raise TypeError(wrong("a number", allowed, value, _as_text(value) or "Convert it by float(...)."))


def _as_text(value: object) -> str:
    """How a number is written, for someone who wrote it as 20% or as 0,2; empty for what is no text."""
    return 'Write text such as "0.25" or "1/4", with a point and without a sign for percent.' * isinstance(value, str)


def _rounded(value: Any) -> float:
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    try:
        exact = as_fraction(value)
    except TypeError:  # real, but of a kind that no fraction is made of
        return float(value)
    found = Rounded(exact)
    if as_fraction(float(found)) == exact:
        return float(found)
    found.exact = exact
    return found


def as_fraction(value: Any) -> Fraction:
    """The number, dimensionless or in nats, that a value stands for, without rounding.

    Integers, Fractions, Decimals and texts stand for themselves; a float for the shortest decimal that is read as it, 0.1 for
    1/10.
    Raises ValueError if it is no finite number.

    >>> as_fraction("0.1"), as_fraction(0.1), as_fraction("2/6")
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, Rounded):
        return value.exact
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    text = repr(value) if isinstance(value, float) else value
    if isinstance(text, str):
        if not _NUMBER.fullmatch(text := text.strip()) or re.search(r"/0+$", text):
            raise ValueError(wrong("a number", 'be finite, and written such as "1/3" or "0.25"', value))
        return Fraction(text)
    return Fraction(text)


def check_count(count: int, what: str, least: int = 1, most: float = 1e15, fix: str = "") -> int:
    """A number of things, dimensionless, as an int. Raises ValueError unless it is a whole one, from the least to the most.

    ``what`` is the argument's name, and ``fix`` what to do if there are too few.

    >>> check_count(np.int64(3), "letters")
    3
    """
    try:
        value = operator.index(count)
    except TypeError:
        value = least - 1
    if isinstance(count, bool) or value < least:
        raise ValueError(wrong(what, f"be a whole number, at least {least}", count, fix))
    if value > most:
        raise ValueError(wrong(what, f"be at most {int(most)}, for memory and rounding", count, "Take fewer."))
    return value


def check_index(value: int, name: str, least: int, most: int, allowed: str = "", fix: str = "") -> int:
    """A whole number in least .. most, dimensionless, as an int. Raises ValueError if it is none.

    >>> check_index(np.int64(2), "vertex", 0, 4)
    2
    """
    try:
        found = operator.index(value)
    except TypeError:
        found = least - 1
    if isinstance(value, bool) or not least <= found <= most:
        raise ValueError(wrong(name, f"be {allowed or f'a whole number in {least} .. {most}'}", value, fix))
    return found


def check_matrix_fits(size: int, what: str, fix: str) -> None:
    """Raises ValueError if M x M numbers are more than are written out: beyond 10,000 categories.

    >>> check_matrix_fits(10**6, "a matrix", "Sample rows.")
    Traceback (most recent call last):
    ValueError: the number of categories must be at most 10000 for a matrix; got 1000000, which need 8e+12 bytes. Sample rows.
    """
    if size > MOST_LETTERS:
        got = Clause(f"{size}, which need {8.0 * size**2:.2g} bytes")
        raise ValueError(wrong("the number of categories", f"be at most {MOST_LETTERS} for {what}", got, fix))


def check_between(
    value: float, allowed: str, least: float, most: float, name: str = "distortion", fix: str = ""
) -> float:
    """A number as a float, dimensionless or in nats. Raises ValueError if it is none, or not in [least, most].

    >>> check_between(2, "an expected cost between 0 and 3", 0, 3)
    2.0
    """
    try:
        found = as_number(value)
    except TypeError:
        number = "" if allowed.startswith("a number") else "a number, "
        raise ValueError(wrong(name, f"be {number}{allowed}", value, _as_text(value))) from None
    exact = getattr(found, "exact", found)
    if not least <= exact <= most:
        raise ValueError(wrong(name, f"be {allowed}", found if exact is found else value, fix))
    return found


def check_distortion(distortion: float) -> float:
    """A distortion budget as a float. Raises ValueError if it is not in [0, 1].

    >>> check_distortion(0.2)
    0.2
    """
    fix = "Divide by 100 if it is a percentage."
    return check_between(distortion, "a probability of change between 0 and 1", 0, 1, fix=fix)


def check_leakage(leakage: float) -> float:
    """A leakage in nats as a float. Raises ValueError if it is negative or NaN; infinity is allowed.

    >>> check_leakage(float("inf"))
    inf
    """
    return check_between(leakage, "at least 0 nats (infinity is allowed)", 0, math.inf, "leakage")


def check_delta(delta: float) -> float:
    """The delta of approximate differential privacy, a probability, as a float. Raises ValueError if it is not in [0, 1).

    >>> check_delta(0.1)
    0.1
    """
    fix = "Give a probability such as 0.1; at 1 the leakage of every mechanism is 0."
    return check_between(delta, "a probability, at least 0 and below 1", 0, math.nextafter(1, 0), "delta", fix)


def check_alpha(alpha: float, notion: str, *, limits: bool = True) -> float:
    """The order of a divergence, dimensionless, as a float; 1 and infinity are limits. Raises ValueError if it is below 1 or NaN.

    Between 1 and 1 + 1e-6 differences of powers would be lost to rounding: such an order counts as 1 + 1e-6. Divergences grow
    with the order, so that none is understated. With ``limits=False`` the limits are refused: they have formulas of their own.

    >>> check_alpha(2, "Sibson information")
    2.0
    """
    fix = "Give 1 or infinity for the limits."
    value = check_between(alpha, f"at least 1 for {notion}", 1, math.inf, "alpha", fix)
    if value in (1, math.inf) and not limits:
        fix = "The limits 1 and infinity have formulas of their own."
        raise ValueError(wrong("alpha", f"be a finite number above 1 for {notion} in this form", value, fix))
    return 1 + 1e-6 if 1 < getattr(value, "exact", value) < 1 + 1e-6 else value


def check_changes(distortion: float, records: int) -> float:
    """An expected number of records changed, as a float. Raises ValueError if it is not in [0, records].

    >>> check_changes(0.5, 3)
    0.5
    """
    return check_between(distortion, f"an expected number of records changed between 0 and {records}", 0, records)


def check_grid(values: ArrayLike, check: Callable[[float], float]) -> FloatArray:
    """An array of any shape as floats, every entry checked: nats or probabilities, as the check has it.

    Raises what it raises, and ValueError if rows differ in length or an entry is masked.

    >>> check_grid([0.1, 0.2], check_distortion)
    array([0.1, 0.2])
    """
    try:
        if _is_masked(values):
            raise ValueError
        grid = np.asarray(values, dtype=None if hasattr(values, "__array__") else object)
    except ValueError:
        fix = "Give each row as many entries, and a number for each entry."
        raise ValueError(wrong("numbers", "be in rows of one length, none masked", values, fix)) from None
    if grid.dtype == object and {*map(type, grid.flat)} <= {float, np.float64}:
        grid = grid.astype(float)
    if grid.dtype.kind in "fiu":  # the extremes tell, and NaN is both
        for extreme in (grid.min(), grid.max()) if grid.size else ():
            check(extreme)
        return grid.astype(float)
    return np.array([check(value) for value in grid.flat], dtype=float).reshape(grid.shape)


def check_labels(
    labels: Sequence[Hashable] | None, size: int, own: Sequence[Hashable] | None = None
) -> Sequence[Hashable]:
    """Distinct names for the letters: those given, else the table's own, else ``0 .. size-1``.

    Raises ValueError if they do not fit, or are the table's own in another order.

    >>> check_labels(["no", "yes"], 2)
    ('no', 'yes')
    """
    labels = own if labels is None else labels
    if labels is None or (isinstance(labels, range) and labels == range(size)):
        return range(size)
    try:
        names = () if isinstance(labels, set | frozenset | Mapping) else tuple(labels)
        distinct = len(set(names)) == len(names) == size
    except TypeError:
        distinct = False
    if not distinct:
        fix = "Give each category a name of its own."
        raise ValueError(
            wrong("labels", f"be {size} distinct names, one per category, in a list or tuple", labels, fix)
        )
    if own is not None and set(own) == set(names):
        check_same_letters(own, names, "the table and labels")
    return names


def check_same_letters(one: Sequence[Hashable] | None, other: Sequence[Hashable] | None, what: str) -> None:
    """Raises ValueError if both name their letters, and not alike. Numbers 0 .. M-1 are no names, but have an order.

    >>> check_same_letters(["a", "b"], range(2), "mechanism and source set")
    """
    if one is None or other is None or one is other or one == other:
        return
    first, second = list(one), list(other)
    if first != second and (list(range(len(first))) not in (first, second) or set(first) == set(second)):
        got = f"{shown(first)} and {shown(second)}"
        if first[:8] == second[:8]:  # all that is shown
            place = next((k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
            numbers = f"{len(first)} and {len(second)} names"
            got += f", {numbers if place is None else f'of which numbers {place} differ'}"
        fix = "Put both in one order, such as frame.loc[names, names], or take the names off one of them (frame.to_numpy())."
        raise ValueError(wrong(what, "name the same categories in the same order", Clause(got), fix))


def frame_labels(table: object, names: str = "columns") -> Sequence[Hashable] | None:
    """Names of the letters that a DataFrame (its columns) or a Series (its index) brings along; None for anything else.

    With ``"labels"``, the names of the rows: those of a mechanism, or the index of a DataFrame. Looked for by attribute, so that
    pandas need not be there.

    >>> frame_labels([0.5, 0.5]) is None
    True
    """
    found = getattr(table, names, getattr(table, "index", None))
    if isinstance(found, range | tuple):
        return found
    return None if found is None or callable(found) else list(found)


def shortened(labels: Sequence[Hashable]) -> str:
    """Names of the categories for an error message, the first ones of many.

    >>> shortened(range(10**6))
    '[0, 1, 2, 3, 4, ...]'
    """
    shown = list(labels[: 5 if len(labels) > 20 else 20])
    return repr(shown) if len(shown) == len(labels) else f"{repr(shown)[:-1]}, ...]"


def check_probability_rows(
    rows: ArrayLike, what: str, *, row_names: Sequence[str] | None = None, letter_names: Sequence[str] | None = None
) -> FloatArray:
    """Rows of probabilities as a float array of shape (rows, letters), each row summing to 1.

    Rows may miss 1 by up to ``ROW_SUM_TOLERANCE``; a row that misses it by more than rounding is rescaled.

    Parameters
    ----------
    rows : array_like, shape (rows, letters) or (letters,)
    what : str
        What errors call the table.
    row_names, letter_names : sequence of str, optional
        What they call its rows and letters; ``row 0``, ... and ``category 0``, ... if not given.

    Raises
    ------
    ValueError
        If the rows are empty or ragged, hold anything but finite non-negative numbers, or do not sum to 1.

    >>> check_probability_rows([0.5, 0.4], "prior", row_names=["line 7"])
    Traceback (most recent call last):
    ValueError: prior: line 7 must sum to 1 within 1e-09; got 0.9. Correct the row, or divide it by its sum.
    """
    letters = letter_names or ()

    def place(row: int, letter: int | None = None) -> str:
        name = f"{what}: {row_names[row] if row_names else f'row {row}'}"
        if letter is None:
            return name
        return f"{name}, {letters[letter] if letter < len(letters) else f'category {letter}'}"

    try:
        array = check_grid(rows, as_number)
    except (TypeError, ValueError):
        raise ValueError(_unusable(rows, what, place)) from None
    if array.ndim == 1 and array.size:
        array = array[np.newaxis]
    if array.ndim != 2 or array.size == 0:
        got = Clause(f"an array of shape {np.shape(rows)}")
        fix = "Give one list of probabilities per row."
        raise ValueError(wrong(what, "be a non-empty table of shape (rows, categories)", got, fix))
    bad = np.argwhere(~np.isfinite(array) | (array < 0))
    if len(bad):
        raise ValueError(_no_probability(place(*bad[0]), float(array[tuple(bad[0])])))
    sums = array.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > ROW_SUM_TOLERANCE:
        fix = "Correct the row, or divide it by its sum."
        raise ValueError(wrong(place(worst), f"sum to 1 within {ROW_SUM_TOLERANCE:g}", float(sums[worst]), fix))
    inexact = np.abs(sums - 1) > 1e-12
    if inexact.any():
        array[inexact] /= sums[inexact, np.newaxis]
    return array


def _no_probability(place: str, value: object) -> str:
    return wrong(place, "be a probability, a finite number between 0 and 1", value, _as_text(value))


def _unusable(rows: object, what: str, place: Callable[..., str]) -> str:
    """Say which row is ragged, or which cell is no number."""
    if isinstance(rows, np.ndarray) or frame_labels(rows) is not None:
        rows = np.ma.asarray(rows, dtype=object).tolist()  # what is masked becomes None
    listed = list(rows) if isinstance(rows, (list, tuple)) else [] if isinstance(rows, Iterator | Set) else [rows]
    table = [list(row) for row in listed if isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim)]
    for number, row in enumerate(table):
        if len(row) != len(table[0]):
            fix = "Write 0 for a category that never occurs."
            return wrong(place(number), f"have {len(table[0])} entries, as many as row 0", len(row), fix)
    for number, row in enumerate(table or [listed]):
        for letter, cell in enumerate(row):
            try:
                as_number(cell)
            except TypeError:
                return _no_probability(place(number, letter), cell)
    return wrong(what, "be a table of probabilities, in a list or an array", rows)


def _is_masked(values: object) -> bool:
    if isinstance(values, list | tuple):
        return any(_is_masked(value) for value in values if isinstance(value, list | tuple | np.ma.MaskedArray))
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))
