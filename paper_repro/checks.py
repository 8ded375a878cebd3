"""What counts as a valid number: every check names the value, the allowed range and the way out."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from paper_repro.types import FloatArray

__all__ = [
    "ROW_SUM_TOLERANCE",
    "check_alpha",
    "check_changes",
    "check_count",
    "check_delta",
    "check_distortion",
    "check_grid",
    "check_labels",
    "check_leakage",
    "check_probability_rows",
    "frame_labels",
]

ROW_SUM_TOLERANCE = 1e-9


def check_count(count: int, what: str, least: int = 1) -> int:
    """A number of things as an int. Raises ValueError if it is no whole number, or below the least.

    >>> check_count(np.int64(3), "letters")
    3
    """
    try:
        value = operator.index(count)
    except TypeError:
        value = least - 1
    if isinstance(count, bool) or value < least:
        raise ValueError(f"{what} must be a whole number, at least {least}, got {count!r}")
    return value


def check_distortion(distortion: float) -> float:
    """A distortion budget as a float. Raises ValueError if it is not in [0, 1].

    >>> check_distortion(0.2)
    0.2
    """
    value = _number(distortion, "distortion", "a probability of change between 0 and 1")
    if not 0 <= value <= 1:
        raise ValueError(
            f"distortion must be a probability of change between 0 and 1, got {value!r}; "
            "divide by 100 if it is a percentage"
        )
    return value


def check_leakage(leakage: float) -> float:
    """A leakage in nats as a float. Raises ValueError if it is negative or NaN; infinity is allowed.

    >>> check_leakage(float("inf"))
    inf
    """
    value = _number(leakage, "leakage", "at least 0 nats")
    if not value >= 0:
        raise ValueError(f"leakage must be at least 0 nats (infinity is allowed), got {value!r}")
    return value


def check_delta(delta: float) -> float:
    """The delta of approximate differential privacy, a probability, as a float. Raises ValueError if it is not in [0, 1).

    >>> check_delta(0.1)
    0.1
    """
    value = _number(delta, "delta", "a probability, at least 0 and below 1")
    if not 0 <= value < 1:
        raise ValueError(
            f"delta must be a probability, at least 0 and below 1, got {value!r}; at 1 every mechanism would do"
        )
    return value


def check_alpha(alpha: float, notion: str, *, limits: bool = True) -> float:
    """The order of a divergence, dimensionless, as a float; 1 and infinity are limits. Raises ValueError if it is below 1 or NaN.

    Between 1 and 1 + 1e-6 differences of powers would be lost to rounding: such an order counts as 1 + 1e-6. Divergences grow
    with the order, so that none is understated. With ``limits=False`` the limits are refused: they have formulas of their own.

    >>> check_alpha(2, "Sibson information")
    2.0
    """
    value = _number(alpha, "alpha", "at least 1")
    if not value >= 1:
        raise ValueError(f"alpha must be at least 1 for {notion}, got {value!r}; 1 and infinity stand for the limits")
    if value in (1, math.inf) and not limits:
        raise ValueError(f"alpha must be a finite number above 1 for {notion} in this form, got {value!r}")
    return max(value, 1 + 1e-6) if value > 1 else value


def check_changes(distortion: float, records: int) -> float:
    """An expected number of records changed, as a float. Raises ValueError if it is not in [0, records].

    >>> check_changes(0.5, 3)
    0.5
    """
    allowed = f"an expected number of records changed between 0 and {records}"
    value = _number(distortion, "distortion", allowed)
    if not 0 <= value <= records:
        raise ValueError(f"distortion must be {allowed}, got {value!r}")
    return value


def check_grid(values: ArrayLike, check: Callable[[float], float]) -> FloatArray:
    """An array of any shape as floats, every entry checked: nats or probabilities, as the check has it. Raises what it raises.

    >>> check_grid([0.1, 0.2], check_distortion)
    array([0.1, 0.2])
    """
    grid = np.asarray(values, dtype=getattr(values, "dtype", object))
    if grid.dtype.kind in "fiu":  # the extremes tell, and NaN is both
        for extreme in (grid.min(), grid.max()) if grid.size else ():
            check(extreme)
        return grid.astype(float)
    return np.array([check(value) for value in grid.flat], dtype=float).reshape(grid.shape)


def check_labels(labels: Sequence[Hashable] | None, size: int) -> Sequence[Hashable]:
    """Distinct names for the letters, ``0 .. size-1`` if none are given. Raises ValueError if they do not fit.

    >>> check_labels(["no", "yes"], 2)
    ('no', 'yes')
    """
    if labels is None:
        return range(size)
    try:
        names = tuple(labels)
        distinct = len(set(names)) == len(names) == size
    except TypeError:
        distinct = False
    if not distinct:
        raise ValueError(f"labels must be {size} distinct names, one per letter, got {labels!r}")
    return names


def frame_labels(table: object) -> list[Hashable] | None:
    """Names of the letters that a DataFrame (its columns) or a Series (its index) brings along; None for anything else.

    Looked for by attribute, so that pandas need not be there.

    >>> frame_labels([0.5, 0.5]) is None
    True
    """
    names = getattr(table, "columns", getattr(table, "index", None))
    return None if names is None or callable(names) else list(names)


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
        What they call its rows and letters; ``row 0``, ... and ``letter 0``, ... if not given.

    Raises
    ------
    ValueError
        If the rows are empty or ragged, hold anything but finite non-negative numbers, or do not sum to 1.

    >>> check_probability_rows([0.5, 0.4], "prior", row_names=["line 7"])
    Traceback (most recent call last):
    ValueError: prior: line 7 sums to 0.9; every row must sum to 1 within 1e-09: correct the row, or divide it by its sum
    """
    letters = letter_names or ()

    def place(row: int, letter: int | None = None) -> str:
        name = f"{what}: {row_names[row] if row_names else f'row {row}'}"
        if letter is None:
            return name
        return f"{name}, {letters[letter] if letter < len(letters) else f'letter {letter}'}"

    try:
        if np.iscomplexobj(rows):
            raise TypeError
        array = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(_unusable(rows, what, place)) from None
    if array.ndim == 1 and array.size:
        array = array[np.newaxis]
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{what} must be a non-empty table of shape (rows, letters), got an array of shape "
            f"{np.shape(rows)}; give one list of probabilities per row"
        )
    bad = np.argwhere(~np.isfinite(array) | (array < 0))
    if len(bad):
        raise ValueError(_no_probability(place(*bad[0]), float(array[tuple(bad[0])])))
    sums = array.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > ROW_SUM_TOLERANCE:
        raise ValueError(
            f"{place(worst)} sums to {float(sums[worst])!r}; every row must sum to 1 within "
            f"{ROW_SUM_TOLERANCE:g}: correct the row, or divide it by its sum"
        )
    inexact = np.abs(sums - 1) > 1e-12
    if inexact.any():
        array[inexact] /= sums[inexact, np.newaxis]
    return array


def _number(value: float, name: str, allowed: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, {allowed}, got {value!r}") from None


def _no_probability(place: str, value: object) -> str:
    return f"{place} is {value!r}; every probability must be a finite number between 0 and 1"


def _unusable(rows: object, what: str, place: Callable[..., str]) -> str:
    """Say which row is ragged, or which cell is no number."""
    if isinstance(rows, np.ndarray) or frame_labels(rows) is not None:
        rows = np.asarray(rows, dtype=object).tolist()
    listed = list(rows) if isinstance(rows, (list, tuple)) else [rows]
    table = [list(row) for row in listed if isinstance(row, (list, tuple, np.ndarray))]
    for number, row in enumerate(table):
        if len(row) != len(table[0]):
            return (
                f"{place(number)} has {len(row)} letters and row 0 has {len(table[0])}; "
                "all rows must be over the same alphabet: write 0 for a letter that never occurs"
            )
    for number, row in enumerate(table or [listed]):
        for letter, cell in enumerate(row):
            try:
                float(cell)
            except (TypeError, ValueError):
                return _no_probability(place(number, letter), cell)
    return f"{what} must be a table of probabilities, got {rows!r}"
