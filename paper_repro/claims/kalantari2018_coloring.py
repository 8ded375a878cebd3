"""What Kalantari, Sankar and Sarwate state in their coloring argument (Section V-F): critical pairs, Lemma 9 and its five claims.

Two elements of a column whose ratio is the largest of the matrix are a *critical pair*; the larger is black, the smaller red, and
all other elements of columns that are not zero are white. In the preprint of 2017 the lemma is Lemma 8.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.claims.base import (
    Finding,
    Sample,
    claim,
    corrected,
    depends,
    example,
    for_all,
    holds,
    proved,
    refuted,
    uncertain,
)
from paper_repro.claims.draw import random_channel
from paper_repro.claims.exact import KNOWN, SHORT, Channel, certified_ratio, channel, ratio, response
from paper_repro.claims.kalantari_tools import mended, output_sizes, same
from paper_repro.claims.prove import always, reals, symbols
from paper_repro.errors import optional
from paper_repro.mechanisms import Mechanism
from paper_repro.papers import coloring
from paper_repro.papers.coloring import largest_ratio
from paper_repro.types import FloatArray

EVEN = np.array([[0.75, 0.25], [0.5, 0.5]])
# Explicit mechanism of D_i = (1/10, 1/5, 3/10): its ratio is 15.
UNEVEN = Mechanism.from_distortions([0.1, 0.2, 0.3]).matrix


def _channel(rng: np.random.Generator) -> tuple[FloatArray]:
    """A channel of two to five letters; every other one with ties, so that more pairs are critical."""
    matrix = random_channel(rng, int(rng.integers(2, 6)))
    if rng.random() < 0.5:
        matrix = np.round(matrix * 4) + 1
        matrix /= matrix.sum(axis=1, keepdims=True)
    return (matrix,) if largest_ratio(matrix) > 1 + 1e-6 else _channel(rng)


# Critical pairs and colors


def _without_pairs(rng: np.random.Generator, *, every: bool = False) -> float:
    matrix = _channel(rng)[0]
    columns = {column for column, _, _ in coloring.critical_pairs(matrix)}
    return float(len(columns) < (len(matrix) if every else 1))


@claim(instance=_without_pairs, tolerance=0.0, wrong={"a pair in every column": {"every": True}})
def definition_7(sample: Sample, every: bool = False) -> Finding:
    with np.errstate(invalid="ignore"):
        found = int((np.eye(2)[:, np.newaxis] == math.inf * np.eye(2)[np.newaxis]).sum())
    return corrected(
        {"the identity, whose leakage is infinite": (1.0, float(found))},
        {"rows (3/4, 1/4), (1/2, 1/2)": (1.0, float(len(coloring.critical_pairs(EVEN))))},
        sample,
        says="For {name}, there should be at least {} pair, and there are {}",
    )


@for_all(_channel, of="mechanisms", tolerance=1e-8, wrong={"the ratio of every column is attained": {"every": True}})
@example("rows (3/4, 1/4), (1/2, 1/2)", EVEN)
def definition_7_ratios(matrix: FloatArray, *, every: bool = False) -> float:
    odds, columns = largest_ratio(matrix), matrix.max(axis=0) / matrix.min(axis=0)
    ratios = [matrix[one, column] / matrix[two, column] for column, one, two in coloring.critical_pairs(matrix)]
    return float(max(columns.max() / odds - 1, *(abs(r / odds - 1) for r in [*ratios, *(columns if every else [])])))


@claim(wrong={"a black element raised, or a red one lowered": {"sign": -1}})
def remark_7(sign: int = 1) -> Finding:
    """A black element is t times the least of its column, ``end``; a red one is the greatest of it over t."""
    before, after, odds, now, other, end = reals("before after t now other end")
    given = [odds > 1, now >= odds, other > 0, end > 0, after > 0]
    black, red = (before == odds * end, other >= end), (before * odds == end, other <= end)
    facts = {
        "black": always(after != now * other, *given, *black, sign * after < sign * before),
        "red": always(after * now != other, *given, *red, sign * after > sign * before),
    }
    return proved(
        "Unless the ratio falls, no element is in a critical pair with the changed one (z3, columns of any length).",
        facts,
    )


def _moved(matrix: FloatArray, row: int, up: int, down: int, share: float) -> FloatArray:
    """Move what colors leave room for from one element of a row to another."""
    odds = largest_ratio(matrix)
    room = min(odds * matrix[:, up].min() - matrix[row, up], matrix[row, down] - matrix[:, down].max() / odds)
    changed = matrix.copy()
    changed[row, [up, down]] += share * room, -share * room
    return changed


def _shifted(rng: np.random.Generator, *, most: float = 1.0) -> float:
    matrix = _channel(rng)[0]
    colors = coloring.coloring(matrix)
    free = [
        (i, j, k)
        for i, j, k in itertools.permutations(range(len(matrix)), 3)
        if colors[i, j] != "black" and colors[i, k] != "red"
    ]
    if not free:
        return math.nan
    changed = _moved(matrix, *free[int(rng.integers(len(free)))], most * float(rng.uniform(0.5, 1)))
    return largest_ratio(changed) / largest_ratio(matrix) - 1 if changed.min() > 0 else math.nan


@claim(instance=_shifted, wrong={"changes twice as large": {"most": 2.5}})
def manipulations(sample: Sample, most: float = 1.0) -> Finding:
    before = np.array([[2, 1, 1], [1, 1.5, 1.5], [1, 1.5, 1.5]]) / 4
    after = np.array([[0.5, 0.49, 0.01], *before[1:]])
    small = largest_ratio(_moved(before, 0, 1, 2, 1.0))
    name = "the row (1/2, 1/4, 1/4) over two rows (1/4, 3/8, 3/8), with its white elements changed to 49/100 and 1/100"
    return corrected(
        {name: (largest_ratio(before), largest_ratio(after))},
        {"the same, within bounds": (largest_ratio(before), small)},
        sample,
        says="For {name}, the ratio was {} and becomes {}",
    )


# Lemma 9 and its claims


@claim(wrong={"at D = 1/10": {"distortion": "1/10", "best": response(3, "1/10")}})
def lemma_8_attained(distortion: str = "9/20", best: Channel = SHORT) -> Finding:
    """``2 - D_2 - D_3 - (11/5) D_1 = 4 (9/20 - P.D) + (D_2 - D_1)/5 + (1 - D_3)/5``: ratio 11/5 takes D_3 = 1."""
    z3 = optional("z3", "proofs")
    least, changed = certified_ratio([KNOWN], distortion, best), reals("D1 D2 D3")

    def exact(number: float | Fraction) -> Any:
        return z3.Q(*Fraction(number).limit_denominator(100).as_integer_ratio())

    limits = [z3.And(one >= 0, one <= 1) for one in changed]
    rows = [(exact(least) - 1) * one >= 2 - z3.Sum(changed) for one in changed]
    mean = z3.Sum([exact(p) * one for p, one in zip(KNOWN, changed, strict=True)])
    suppressed = always(changed[2] == 1, *limits, *rows, mean <= exact(Fraction(distortion)))
    text = (
        "For (1/2, 3/10, 1/5) at D = 9/20 and k = 0 the infimum is log {least}, the least leakage of all mechanisms. All that "
        "have it change category 3 with probability {changed}, so that k = 1."
    )
    more = abs(float(ratio(best)) - float(least))
    readings = {
        "with exactly k all-zero columns": refuted(text, suppressed, least=least, changed=1),
        "with k or more": holds(
            named={"ratio": more},
            says="The rows (11/16, 5/16, 0), (5/16, 11/16, 0), (5/16, 11/16, 0) have the least ratio.",
        ),
    }
    return depends(readings)


@claim(wrong={"k with D^(k+1) <= D": {"step": 1}, "k with D^(k) <= D and k up to M - 1": {"most": 2}})
def lemma_8_range(step: int = 0, most: int = 1) -> Finding:
    tails = [sum(KNOWN[3 - k :], Fraction(0)) for k in range(4)]
    cases = {"1/10": 0.1, "3/10": 0.3, "3/5": 0.6}
    sizes = {
        name: sum(size > 1 for size in output_sizes(np.array([KNOWN], dtype=float), d)) for name, d in cases.items()
    }
    mended = {d: sum(tails[k + step] <= Fraction(d) for k in range(most + 1)) for d in cases}
    return corrected(
        {f"(1/2, 3/10, 1/5) at D = {d}": (3.0, float(sizes[d])) for d in cases},
        {f"(1/2, 3/10, 1/5) at D = {d}": (float(mended[d]), float(sizes[d])) for d in cases},
        says="For {name}, of the {} values of k, mechanisms exist and the formula is defined for {}",
    )


@claim(wrong={"with the sum from i = 1 on": {"first": 1}})
def equation_32(first: int = 2) -> Finding:
    """With ``a_i = 1 - D_i``, ``S = sum a``, ``f_i = (1 - a_i) / (S - a_i)``, elements ``a_j f_i`` have the ratio ``1 / f_1``."""
    z3 = optional("z3", "proofs")
    one, other, total = symbols("a1 ai S")
    facts = {
        "the row of a_1 has the least f": same(
            (1 - other) * (total - one) - (1 - one) * (total - other), (total - 1) * (one - other)
        )
    }
    for letters in (2, 3, 4):
        kept, odds = reals(" ".join(f"a{i}" for i in range(letters))), z3.Real("t")
        row = reals(" ".join(f"q{i}" for i in range(1, letters)))
        given = [odds > 1, kept[0] > 0, kept[0] < 1, kept[0] + z3.Sum(row) == 1, *(a > 0 for a in kept)]
        given += [odds * q >= a for q, a in zip(row, kept[1:], strict=True)]
        numerator = letters - 1 - z3.Sum([1 - a for a in kept[first - 1 :]])
        facts[f"no less, M - k = {letters}"] = always(odds * (1 - kept[0]) >= numerator, *given)
        explicit = odds * (1 - kept[0]) == z3.Sum(kept) - kept[0]
        facts[f"attained, M - k = {letters}"] = always(odds * (1 - kept[0]) == numerator, kept[0] < 1, explicit)
    return proved(
        "Row 1 has elements of at least a_j / t (z3, M - k = 2, 3, 4); Q(j|i) = a_j (1-a_i)/(S-a_i) attains it (sympy, all M).",
        facts,
    )


Grid = list[list[Any]]


def _explicit(claimed: Callable[[Any, Grid, Grid, list[Any]], Any]) -> Finding:
    """Whether elements ``a_j f_i`` have colors as claimed, with f rising as a falls and less for published letters.

    A column divided by ``a_j`` is 1 on the diagonal and ``f_i`` elsewhere; ``t = 1 / f_1``. Letters are in falling order of a.
    """
    z3 = optional("z3", "proofs")
    facts = {}
    for letters, gone in itertools.product((2, 3, 4), (0, 1, 2)):
        size = letters + gone
        shares = reals(" ".join(f"f{i}" for i in range(size)))
        given = [shares[0] > 0, shares[-1] < 1, *(a <= b for a, b in itertools.pairwise(shares))]
        given += [a < b for a, b in itertools.pairwise(shares[letters - 1 : letters + 1])]
        grid = [[1 if i == j else shares[i] for j in range(letters)] for i in range(size)]
        places = [[(i, j, [k for k in range(size) if k != i]) for j in range(letters)] for i in range(size)]
        black, red = (
            [
                [
                    z3.Or([grid[b][j] == shares[0] * grid[a][j] for k in rest for a, b in ((i, k)[::way],)])
                    for i, j, rest in row
                ]
                for row in places
            ]
            for way in (1, -1)
        )
        facts[f"M - k = {letters}, k = {gone}"] = always(claimed(z3, black, red, shares[:letters]), *given)
    how = (
        "The mechanism with elements a_j (1-a_i)/(S-a_i), which has the least ratio for given a_i = 1 - D_i, has this property "
        "(z3, M - k = 2, 3, 4 and k = 0, 1, 2)."
    )
    return proved(how, facts)


@claim(wrong={"nor white": {"white": True}})
def claim_1(white: bool = False) -> Finding:
    """A row that is black throughout is nowhere below another and somewhere above it: they cannot have the same sum."""
    z3 = optional("z3", "proofs")
    facts = {}
    for letters in (2, 3, 4):
        one, two = (reals(" ".join(f"{name}{i}" for i in range(letters))) for name in "xy")
        given = [z3.Sum(one) == z3.Sum(two), z3.Or(one[0] > two[0], white)]
        facts[f"{letters} published letters"] = always(
            z3.Not(z3.And([a >= b for a, b in zip(one, two, strict=True)])), *given
        )
    return proved(
        "No row is at least as large as another everywhere and larger somewhere (z3, 2, 3, 4 published categories).",
        facts,
    )


@claim(wrong={"diagonal elements too": {"diagonal": True}})
def claim_2(diagonal: bool = False) -> Finding:
    def claimed(z3: Any, black: Grid, red: Grid, letters: list[Any]) -> Any:
        pairs = list(itertools.combinations(range(len(letters)), 2))
        places = [(i, j, k) for i in range(len(black)) for j, k in pairs if diagonal or i not in (j, k)]
        return z3.And([one[i][j] == one[i][k] for one in (black, red) for i, j, k in places])

    return _explicit(claimed)


@claim(wrong={"are white": {"white": True}})
def claim_3(white: bool = False) -> Finding:
    def claimed(z3: Any, black: Grid, red: Grid, letters: list[Any]) -> Any:
        places = itertools.permutations(range(len(letters)), 2)
        return z3.And([z3.Or(black[i][i], z3.Not(red[i][j]) if white else red[i][j]) for i, j in places])

    return _explicit(claimed)


@claim(wrong={"none": {"most": 0}})
def claim_4(most: int = 1) -> Finding:
    return _explicit(
        lambda z3, black, _, letters: z3.PbLe([(z3.Not(black[i][i]), 1) for i in range(len(letters))], most)
    )


@claim(wrong={"of the largest distortion": {"end": -1}})
def claim_5(end: int = 0) -> Finding:
    return _explicit(lambda z3, black, _, f: z3.And([z3.Or(black[i][i], f[i] == f[end]) for i in range(len(f))]))


def _red_row(z3: Any, _: Grid, red: Grid, letters: list[Any]) -> Any:
    return z3.And(red[0][1 : len(letters)])


@claim(wrong={"off the diagonal": {"first": 1}})
def claim_5_end(first: int = 0) -> Finding:
    colors = coloring.coloring(UNEVEN)[0, first:]
    text = "For D_i = (1/10, 1/5, 3/10) the explicit mechanism has {red} red elements among the {count} of row 1."
    false = not (colors == "red").all()
    return mended(text, false, _explicit(_red_row), red=int((colors == "red").sum()), count=len(colors))


@claim(wrong={"by Claim 2 alone": {"first": False}})
def remark_9(first: bool = True) -> Finding:
    """In a suppressed letter's row all published elements are off the diagonal, so of one color by Claim 2."""
    facts = {}
    for letters in (1, 2, 3, 4):
        rows = itertools.product(("black", "red", "white"), repeat=letters)
        alike = [row for row in rows if len(set(row)) == 1 and not (first and row[0] in ("black", "red"))]
        facts[f"M - k = {letters}"] = all(set(row) == {"white"} for row in alike)
    return proved(
        "Of all colorings of a row, Claims 1 and 2 leave only white (enumeration, up to 4 published categories).", facts
    )


def _none_black(z3: Any, black: Grid, _: Grid, letters: list[Any]) -> Any:
    return z3.And([z3.Not(one) for i, row in enumerate(black) for j, one in enumerate(row) if i != j])


@claim(wrong={"of the mechanism of eq. (48)": {"last": "5/16 11/16 0"}})
def figure_8_caption(last: str = "1/2 1/2 0") -> Finding:
    rows = channel(f"11/16 5/16 0; 5/16 11/16 0; {last}")
    more = certified_ratio([KNOWN], "9/20", rows) - 2.2
    colors = coloring.coloring(np.array(rows, dtype=float))
    count = int((colors[~np.eye(3, dtype=bool)] == "black").sum())
    diagonal = int((np.diagonal(colors)[:2] != "black").sum())
    general = _explicit(_none_black)
    named = {
        "(1/2, 3/10, 1/5) at D = 9/20": max(abs(more), float(count), float(diagonal > 1)),
        "mechanisms of the form of the claims": float(general.verdict != "proved"),
    }
    said = (
        "For (1/2, 3/10, 1/5) at D = 9/20 the rows (11/16, 5/16, 0), (5/16, 11/16, 0), (1/2, 1/2, 0) have the least ratio 11/5 "
        f"and no black element off the diagonal. {general.evidence}"
    )
    return holds(named=named, says=said)


@claim(wrong={"with a white element in place of the red one": {"reds": 0}})
def figure_8_drawing(reds: int = 1) -> Finding:
    rows = [np.array(row) / 5 for row in itertools.product((1, 2, 3), repeat=3) if sum(row) == 5]
    colored = [column for one in itertools.combinations(rows, 3) for column in coloring.coloring(np.array(one)).T]
    most = max(int((column == "red").sum()) for column in colored if not (column == "black").any())
    text = (
        "Column 1 has at least {reds} red element and no black one. A red element is the smaller one of a critical pair: in "
        "mechanisms with entries in fifths, a column without a black element has {most} red elements."
    )
    said = "In these mechanisms such a column is white throughout."
    right = holds(named={"white throughout": float(most)}, tolerance=0.0, says=said)
    return uncertain(mended(text, reds > most, right, reds=reds, most=most))


@claim(wrong={"2 <= l": {"first": 2}})
def claim_1_proof(first: int = 3) -> Finding:
    z3 = optional("z3", "proofs")
    one, two = reals("x1 x2 x3"), reals("y1 y2 y3")
    given = [one[0] > two[0], z3.Sum(one) == 1, z3.Sum(two) == 1]

    def contradiction(start: int) -> bool:
        return always(z3.Or([a < b for a, b in list(zip(one, two, strict=True))[start - 1 :]]), *given)

    text = "The rows (1/2, 1/8, 3/8) and (1/4, 1/2, 1/4) meet the printed conditions for M - k = 3, and both sum to {total}."
    right = proved("With l = 2 as well the sums differ (z3).", {"2 <= l": contradiction(2)})
    return mended(text, not contradiction(first), right, total=1)


@claim(wrong={"M - k + 1 in the rows of suppressed letters": {"more": 1}})
def claim_2_count(more: int = 0) -> Finding:
    """Of ``Q(1:(M-k)|1:M)``."""
    size, gone = 5, 2
    published = np.arange(size) < size - gone
    counts = [int((published & (np.arange(size) != row)).sum()) for row in (0, size - 1)]
    rows = "M = 5, k = 2 and the row of a published category", "M = 5, k = 2 and the row of a suppressed category"
    return corrected(
        {name: (size - 1 - gone, count) for name, count in zip(rows, counts, strict=True)},
        {name: (size - off - gone, count) for name, off, count in zip(rows, (1, -more), counts, strict=True)},
        says="For {name}, {} elements off the diagonal are counted, and there are {}",
    )


@claim(wrong={"by delta over M - 1": {"others": 3}, "whatever delta is": {"factor": 3}})
def claim_3_proof(others: int = 2, factor: int = 1) -> Finding:
    """For M - k = 3: a row with a diagonal element y that is not black and others x that are not red; t is the ratio."""
    z3 = optional("z3", "proofs")
    step, share, odds, kept, low, given, high, other = reals("step share t y low x high other")
    facts = {"the row keeps its sum": always(step - 2 * share == 0, step > 0, share * others == step)}
    slack = [odds > 1, low > 0, high > 0, step > 0, other > 0, share * 2 == step * factor]
    raised = [kept < odds * low, other >= low, step <= odds * low - kept, kept * odds >= other]
    lowered = [
        given * odds > high,
        other <= high,
        share * odds <= (given * odds - high) * factor,
        given <= odds * other,
    ]
    facts["diagonal"] = always(
        z3.And(kept + step * factor <= odds * other, odds * (kept + step) >= other), *slack, *raised
    )
    facts["elsewhere"] = always(
        z3.And(odds * (given - share) >= other, given - share <= odds * other), *slack, *lowered
    )
    return proved(
        "No ratio exceeds t, and D_i falls, for every delta that the colors leave room for (z3, M - k = 3).", facts
    )


@claim(wrong={"i, j <= M - k": {"both": True}})
def claim_4_proof(both: bool = False) -> Finding:
    pairs = list(itertools.permutations(range(1, 6), 2))
    admitted = sum(i <= 3 and (j <= 3 or not both) for i, j in pairs)
    published = sum(max(pair) <= 3 for pair in pairs)
    text = (
        "For M = 5 and k = 2 the print admits {admitted} pairs i, j, of which {published} are of published categories."
    )
    right = proved("The condition i, j <= M - k admits exactly these.", {"pairs": published == 3 * 2})
    return mended(text, admitted > published, right, admitted=admitted, published=published)


@claim(wrong={"the element in row j": {"row": 1}})
def claim_5_colors(row: int = 0) -> Finding:
    odds = largest_ratio(UNEVEN)
    column, other = (float(UNEVEN[:, j].max()) for j in (0, 1))
    mended = other / UNEVEN[0, 1] if row == 0 else column / UNEVEN[1, 0]
    return corrected(
        {
            "D = (1/10, 1/5, 3/10), where Q(1|1) is not black and Q(1|2) is said to be red": (
                column / float(UNEVEN[1, 0]),
                odds,
            )
        },
        {"Q(2|1)": (float(mended), odds)},
        says="For {name}, the largest element of its column is {} times as large; in a critical pair it is {} times as large",
    )


@claim(wrong={"without Q(j|i) > Q(i|j)": {"larger": False}})
def equations_38_40(larger: bool = True) -> Finding:
    jj, ji, ii, ij = reals("jj ji ii ij")
    given = [ij > 0, ii >= 0, jj > ji, ji > 0, jj * ij > ii * ji, jj <= 1, ii <= 1]
    facts = {"for all four numbers": always(jj - ii > ji - ij, *given, *([ji > ij] * larger))}
    return proved("Z3 decides it for all real numbers.", facts)
