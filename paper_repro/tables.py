"""Tables: everything that a figure shows, as numbers; each is a pandas frame that becomes a CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from paper_repro.checks import check_distortion
from paper_repro.curves import exact_curve, with_jumps
from paper_repro.notions import ApproximateDP, DifferentialPrivacy, Notion
from paper_repro.papers import kalantari2018
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import leakage_curve
from paper_repro.types import FloatArray

__all__ = [
    "breakpoint_table",
    "class_table",
    "curve_table",
    "leakage_table",
    "lemma_table",
    "printed_table",
    "vertex_table",
]

# What is certified, less the last digit: 1e-9 in distortion, and 1e-6 nats for mutual information.
_DECIMALS = {"distortion": 8, "nats": 6}
# A printed curve that differs by less is the exact one.
_SAME = 1e-6
# A printed formula's limit at a threshold is taken this far below it; a smaller step than _JUMP is no jump.
_BESIDE, _JUMP = 1e-9, 1e-3


def vertex_table(name_or_path: str) -> pd.DataFrame:
    """Vertices of a source set, one a row, one column per letter.

    >>> print(vertex_table("P_II_6").to_string(index=False))
      x1   x2   x3   x4   x5   x6
     0.7 0.15 0.06 0.04 0.03 0.02
    """
    source = load_source_set(name_or_path)
    return pd.DataFrame(source.vertices, columns=[str(label) for label in source.labels])


def class_table(names: Sequence[str]) -> pd.DataFrame:
    """Class and landmarks of each source set under differential privacy.

    Columns: ``source_set``, ``class``, ``letters``, ``vertices``; ``symmetric_until``, the distortion up to which randomized
    response on the letters that can occur is optimal; ``zero_from``, the distortion from which nothing leaks; ``jump``, the
    leakage in nats just below it;
    ``printed_symmetric_until`` and ``printed_zero_from``, the thresholds ``D^(1)`` and ``D^(M-1)`` of Theorem 2 (Kalantari et
    al. 2018) for sets with a common ordering of the letters, and ``(M - 1) / M`` of Theorem 1 for Class I.

    >>> class_table(["P_II_6"]).round(4).iloc[0, 4:].to_dict()
    {'symmetric_until': 0.1, 'zero_from': 0.3, 'jump': 1.5404, 'printed_symmetric_until': 0.02, 'printed_zero_from': 0.3}
    """
    rows = []
    for source in _sources(names):
        curve = exact_curve(source)
        thresholds = _printed_thresholds(source)
        rows.append(
            {
                "source_set": source.name,
                "class": source.source_class,
                "letters": source.alphabet_size,
                "vertices": source.vertex_count,
                "symmetric_until": curve.breakpoints[:1].sum(),
                "zero_from": curve.breakpoints[-1:].sum(),
                "jump": curve.limits_from_below[-1:].sum(),
                "printed_symmetric_until": thresholds[0] if len(thresholds) else np.nan,
                "printed_zero_from": thresholds[-1] if len(thresholds) else np.nan,
            }
        )
    return _rounded(pd.DataFrame(rows), "distortion")


def breakpoint_table(names: Sequence[str]) -> pd.DataFrame:
    """Where the exact curves of differential privacy change form, and the thresholds that Theorem 2 prints.

    Columns: ``source_set``; ``kind``, ``exact`` or ``printed``; ``distortion``; ``leakage``, the exact one in nats as the
    distortion rises to it. Printed thresholds ``D^(1) .. D^(M-1)`` exist for sets with a common ordering.
    """
    rows = []
    for source in _sources(names):
        curve = exact_curve(source)
        for breakpoint, limit in zip(curve.breakpoints, curve.limits_from_below, strict=True):
            rows.append((source.name, "exact", breakpoint, limit))
        thresholds = _printed_thresholds(source)
        for threshold, leakage in zip(thresholds, curve.leakage(np.minimum(thresholds, 1.0)), strict=True):
            rows.append((source.name, "printed", threshold, leakage))
    columns = ["source_set", "kind", "distortion", "leakage"]
    return _rounded(pd.DataFrame(rows, columns=columns), "distortion")


def leakage_table(names: Sequence[str], distortions: Sequence[float], notion: Notion | None = None) -> pd.DataFrame:
    """Least leakage in nats at a grid of distortions: one row a source set, one column a distortion.

    >>> print(leakage_table(["P_II_6", "P_I_6"], [0.2, 0.3]).round(4).to_string(index=False))
    source_set    0.2    0.3
        P_II_6 2.6773 0.0000
         P_I_6 2.9957 2.4567
    """
    notion = notion or DifferentialPrivacy()
    sources = _sources(names)
    values = [leakage_curve(source, distortions, notion) for source in sources]
    columns: list[str] = []
    for distortion in distortions:
        name = f"{distortion:g}"
        columns.append(f"{name} ({columns.count(name) + 1})" if name in columns else name)
    frame = pd.DataFrame(values, columns=columns)
    frame.insert(0, "source_set", [source.name for source in sources])
    return _rounded(frame, notion.gap_unit)


def curve_table(
    names: Sequence[str],
    notions: Sequence[Notion],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 200,
) -> pd.DataFrame:
    """Points of privacy-distortion curves, with both ends of every jump.

    Parameters
    ----------
    names : source sets, by name or path
    notions : sequence of Notion
    smallest_distortion, largest_distortion : float in [0, 1]
    points : int, >= 2
        Of an even grid; the breakpoints of the exact differential-privacy curve are added.

    Returns
    -------
    DataFrame
        ``source_set``, ``class``, ``curve`` (the notion), ``distortion``, ``leakage`` in nats, ``exact``, the same unless the
        row is of a printed formula, and ``end``: ``open`` for the limit below a jump, ``closed`` for the value at it, else
        empty.
    """
    grid = _grid(smallest_distortion, largest_distortion, points)
    frames = [_curve(source, notion, grid) for source in _sources(names) for notion in notions]
    return pd.concat([_no_rows(), *frames], ignore_index=True)


def printed_table(
    names: Sequence[str],
    smallest_distortion: float = 0.005,
    largest_distortion: float = 1.0,
    points: int = 60,
) -> pd.DataFrame:
    """Curves that Theorems 2 and 3 of Kalantari et al. 2018 give as printed, where they differ from the exact ones.

    Class II sets: Theorem 2. Class III sets of Tables III and IV: Theorem 3 for the Class II set and the swaps that they are
    built from, whose folded images coincide. Both with ``D_i`` in [0, 1]. Columns as of :func:`curve_table`, ``curve`` being
    ``as printed``; empty for other sets, and where a printed curve is within 1e-6 nats of the exact one throughout.
    """
    grid = _grid(smallest_distortion, largest_distortion, points)
    frames = [_no_rows()]
    for source in _sources(names):
        printed = _printed_curve(source)
        if printed is None:
            continue
        curve, values = exact_curve(source), np.array([printed(value) for value in grid])
        exact = curve.leakage(grid)
        if np.allclose(values, exact, rtol=0, atol=_SAME):
            continue
        frame = _frame(source, "as printed", grid, values).assign(exact=exact)
        for threshold in _printed_ends(source):
            if not grid[0] < threshold < grid[-1]:
                continue
            below, at = printed(threshold - _BESIDE), printed(threshold)
            if below - at > _JUMP:
                ends = _frame(source, "as printed", np.array([threshold, threshold]), np.array([below, at]))
                limit, value = curve.leakage(threshold - _BESIDE), curve.leakage(threshold)
                ends = ends.assign(exact=[float(limit), float(value)], end=["open", "closed"])
                frame = pd.concat(
                    [frame[frame.distortion < threshold], ends, frame[frame.distortion > threshold]],
                    ignore_index=True,
                )
        frames.append(_rounded(frame, "distortion"))
    return pd.concat(frames, ignore_index=True)


def lemma_table(name: str, points: int = 12) -> pd.DataFrame:
    """Where Lemmas 3 and 4 (5 and 6 in 2018) of Kalantari et al. put mutual information, as points to set beside a curve.

    Class I: Lemma 3's closed form at some distortions and its zero at ``(M - 1) / M``. Class II: Lemma 4's zero at
    ``D^(M-1)``. Empty for Class III, of which they say nothing. Columns as of :func:`curve_table`.
    """
    source = load_source_set(name)
    size = source.alphabet_size
    if source.source_class == "I":
        end = (size - 1) / size
        grid = np.append(np.linspace(0.05, end, points, endpoint=False).round(3), end)
        frame = _frame(source, "Lemma 3", grid, np.array([kalantari2018.lemma_3(size, d) for d in grid]))
    elif source.source_class == "II":
        frame = _frame(source, "Lemma 4", np.array([kalantari2018.lemma_4(source)]), np.zeros(1))
    else:
        frame = _frame(source, "Lemma 4", np.empty(0), np.empty(0))
    return _rounded(frame, "nats")


def _sources(names: Sequence[str]) -> list[SourceSet]:
    """Load the sets, whose names must differ: rows are told apart by them."""
    sources = [load_source_set(name) for name in names]
    seen: set[str] = set()
    for source in sources:
        if source.name in seen:
            raise ValueError(
                f"two source sets are named {source.name!r}; rename one of the files, or list the set once"
            )
        seen.add(source.name)
    return sources


def _curve(source: SourceSet, notion: Notion, grid: FloatArray) -> pd.DataFrame:
    if notion.gap_unit != "distortion":
        return _rounded(_frame(source, notion.name, grid, leakage_curve(source, grid, notion)), notion.gap_unit)
    if not isinstance(notion, DifferentialPrivacy | ApproximateDP) or notion.adjacency is not None:
        places, leakages, ends = with_jumps(
            lambda distortion: float(leakage_curve(source, [distortion], notion)[0]),
            grid,
            leakage_curve(source, grid, notion),
        )
        return _rounded(_frame(source, notion.name, places, leakages).assign(end=ends), notion.gap_unit)
    breakpoints, limit = _breakpoints(source, notion)
    inside = breakpoints[(breakpoints > grid[:1].sum()) & (breakpoints < grid[-1:].sum())]
    apart = np.abs(grid[:, np.newaxis] - inside).min(axis=1, initial=1.0) > 1e-9
    grid = np.sort(np.append(grid[apart], inside))
    frame = _frame(source, notion.name, grid, leakage_curve(source, grid, notion))
    if len(inside) and inside[-1] == breakpoints[-1] and limit > _SAME:
        jump = np.searchsorted(grid, inside[-1])
        frame.loc[jump, "end"] = "closed"
        below = frame.loc[[jump]].assign(leakage=limit, exact=limit, end="open")
        frame = pd.concat([frame[:jump], below, frame[jump:]], ignore_index=True)
    return _rounded(frame, notion.gap_unit)


def _breakpoints(source: SourceSet, notion: DifferentialPrivacy | ApproximateDP) -> tuple[FloatArray, float]:
    """Where the exact curve bends, the last being its jump to 0, and its limit below the jump."""
    exact = exact_curve(source)
    delta = notion.delta if isinstance(notion, ApproximateDP) else 0.0
    return (1 - delta) * exact.breakpoints, float(exact.limits_from_below[-1:].sum())


def _no_rows() -> pd.DataFrame:
    """The columns of a table of curves, with their types, so that any number of curves can follow."""
    texts, numbers = pd.Series(dtype="str"), pd.Series(dtype=float)
    names = {"source_set": texts, "class": texts, "curve": texts, "distortion": numbers, "leakage": numbers}
    return pd.DataFrame({**names, "exact": numbers, "end": texts})


def _frame(source: SourceSet, curve: str, distortions: FloatArray, leakages: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source_set": source.name,
            "class": source.source_class,
            "curve": curve,
            "distortion": distortions,
            "leakage": leakages,
            "exact": leakages,
            "end": "",
        }
    )


def _printed_curve(source: SourceSet) -> Callable[[float], float] | None:
    """The formula that the paper gives for this set, read with ``D_i`` in [0, 1]; None if it gives none."""
    if source.source_class == "II":
        return partial(kalantari2018.theorem_2, source)
    if source.name not in kalantari2018.CONSTRUCTIONS:
        return None
    base, swaps = kalantari2018.CONSTRUCTIONS[source.name]
    permutations = [_swap(source.alphabet_size, *pair) for pair in swaps]
    return partial(kalantari2018.theorem_3, load_source_set(base), permutations=permutations)


def _printed_ends(source: SourceSet) -> list[float]:
    """Where the formulas change form by their own words: at ``D^(1)``, and where they say zero begins."""
    size = source.alphabet_size
    if source.source_class == "II":
        thresholds = kalantari2018.distortion_thresholds(source)
        return [float(thresholds[1]), float(thresholds[-2])]
    base, _ = kalantari2018.CONSTRUCTIONS[source.name]
    return [float(kalantari2018.distortion_thresholds(load_source_set(base))[1]), (size - 1) / size]


def _printed_thresholds(source: SourceSet) -> FloatArray:
    """``D^(1) .. D^(M-1)`` of Theorem 2, the one threshold of Theorem 1 for Class I, none for Class III."""
    if source.source_class == "I":
        return np.array([(source.alphabet_size - 1) / source.alphabet_size])
    if source.source_class == "II":
        return kalantari2018.distortion_thresholds(source)[1:-1]
    return np.empty(0)


def _swap(size: int, first: int, second: int) -> list[int]:
    letters = list(range(size))
    letters[first], letters[second] = letters[second], letters[first]
    return letters


def _grid(smallest: float, largest: float, points: int) -> FloatArray:
    check_distortion(smallest)
    check_distortion(largest)
    if not (smallest < largest and points >= 2):
        raise ValueError(
            f"a grid needs smallest_distortion < largest_distortion and at least 2 points, "
            f"got {smallest!r}, {largest!r} and {points!r}"
        )
    return np.linspace(smallest, largest, points).round(9)


def _rounded(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Round to the digits that are certified; what is left of a zero is 0."""
    numbers = frame.select_dtypes("float").columns
    digits = {column: 9 if column == "distortion" else _DECIMALS[unit] for column in numbers}
    frame[numbers] = frame[numbers].round(digits) + 0.0
    return frame
