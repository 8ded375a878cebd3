"""What the claims of Zhong and Bu share: exact optima, programs that know no formula, and theorems of seven parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from paper_repro.claims.base import Finding, Sample, claim, corrected, holds, loose, proved, refuted
from paper_repro.claims.draw import Vertices, random_prior
from paper_repro.claims.exact import Channel
from paper_repro.databases import database_distances, optimal_database_mechanism
from paper_repro.graphs import hamming
from paper_repro.notions import Notion, notion_by_name
from paper_repro.papers.readings import Bounds
from paper_repro.sources import SourceSet
from paper_repro.tradeoff import certified, optimal_mechanism
from paper_repro.types import NOTION_NAMES, FloatArray

__all__ = [
    "APPROXIMATE",
    "DP",
    "LEAKAGE",
    "MAXIMAL",
    "MUTUAL",
    "RENYI",
    "SIBSON",
    "BoundTheorem",
    "Case",
    "Formula",
    "in_words",
    "information",
    "least",
    "least_by_program",
    "least_distortion",
    "loss",
    "notion_of",
    "part_of",
    "put_right",
    "shifted",
    "snapped",
    "some_of_class_1",
    "uniform",
]

DP, APPROXIMATE, MAXIMAL, LEAKAGE, RENYI, SIBSON, MUTUAL = NOTION_NAMES
_WORDS = {APPROXIMATE: r"pointwise $(\epsilon, \delta)$-differential privacy", RENYI: "Rényi differential privacy"}


def in_words(notion: str) -> str:
    """A notion's name in a sentence of the ledger.

    >>> in_words(RENYI), in_words(DP)
    ('Rényi differential privacy', 'differential privacy')
    """
    return _WORDS.get(notion, notion)


def part_of(name: str) -> tuple[int, str, str]:
    """What a claim is about that has one part a notion: the part, its notion, and "lower" or "upper", or "both" for an equation.

    >>> part_of("theorem_7_4_upper")
    (4, 'maximal leakage', 'upper')
    """
    side = name.rpartition("_")[2] if name.endswith(("_lower", "_upper")) else "both"
    part = int(name.removesuffix(f"_{side}").rpartition("_")[2])
    return part, NOTION_NAMES[part - 1], side


def uniform(size: int) -> SourceSet:
    """The source set of the uniform distribution alone."""
    return SourceSet(np.full(size, 1 / size))


def notion_of(name: str, values: int, records: int, alpha: float = 2.0, delta: float = 0.1) -> Notion:
    """A notion on databases, where neighbors differ in one record."""
    notion = notion_by_name(name, alpha=alpha, delta=delta)
    return notion.with_neighbors(hamming(values, records)) if records > 1 else notion


def loss(
    name: str,
    matrix: FloatArray | Channel,
    values: int,
    records: int,
    source: SourceSet | None = None,
    *,
    alpha: float = 2.0,
    delta: float = 0.1,
) -> float:
    """Leakage of a mechanism on databases in nats, from the definition."""
    return notion_of(name, values, records, alpha, delta).leakage(np.array(matrix, dtype=float), source)


def least(
    name: str,
    values: int,
    records: int,
    distortion: float,
    vertices: Vertices | None = None,
    *,
    alpha: float = 2.0,
    delta: float = 0.1,
) -> float:
    """Least leakage in nats of all mechanisms on databases, certified; for the uniform prior unless vertices are given."""
    return _least(name, values, records, float(distortion), vertices, alpha, delta)


@lru_cache(maxsize=512)
def least_by_program(
    name: str,
    values: int,
    records: int,
    distortion: float,
    vertices: Vertices | None = None,
    *,
    alpha: float = 2.0,
    delta: float = 0.1,
) -> float:
    """The same by a program over the whole channel, which knows of no symmetry, no diagonal and no closed form."""
    notion = notion_of(name, values, records, alpha, delta)
    source = SourceSet(vertices) if vertices else uniform(values**records)
    optimizer = notion.optimizer(source, database_distances(values, records))
    return certified(notion, optimizer, distortion=distortion).leakage


def least_distortion(
    name: str,
    vertices: Vertices,
    leakage: float,
    values: int = 0,
    records: int = 1,
    *,
    delta: float = 0.1,
    more: Sequence[tuple[Mapping[tuple[int, int], float], float]] = (),
) -> float:
    """Least distortion at a leakage in nats, worst case over the set: one linear program over all channels (HiGHS).

    For differential privacy, the approximate one, maximal information and maximal leakage; this module's own program. ``more``
    demands of the channel that sums of entries, by their weights, are at most a limit; infinity if no channel is so.

    >>> round(least_distortion(DP, ((0.5, 0.5),), math.log(3)), 9), round(least_distortion(LEAKAGE, ((0.7, 0.3),), 0.0), 9)
    (0.25, 0.3)
    """
    priors, ratio = np.array(vertices), math.exp(leakage)
    size = priors.shape[1]
    apart = database_distances(values or size, records)
    unit = np.eye(size * size + size + 1)  # the entries, the largest one of each column, and the distortion
    entry, top, changed = unit[: size * size].reshape(size, size, -1), unit[size * size : -1], unit[-1]
    rows = [np.tensordot(prior[:, np.newaxis] * apart, entry) - changed for prior in priors]
    slack = delta if name == APPROXIMATE else 0.0
    if name in (DP, APPROXIMATE):
        rows += [one for x, z in np.argwhere(apart == 1) for one in entry[x] - ratio * entry[z]]
    elif name == MAXIMAL:
        means = [np.tensordot(prior, entry, 1) for prior in priors]
        rows += [entry[x, y] - ratio * mean[y] for mean in means for x, y in np.ndindex(size, size)]
    elif name == LEAKAGE:
        rows += [entry[x, y] - top[y] for x, y in np.ndindex(size, size)]
    limits = [0.0] * len(priors) + [slack] * (len(rows) - len(priors))
    if name == LEAKAGE:
        rows, limits = [*rows, top.sum(axis=0)], [*limits, ratio]
    rows += [sum((weight * entry[place] for place, weight in row.items()), 0 * changed) for row, _ in more]
    found = linprog(changed, np.array(rows), [*limits, *(limit for _, limit in more)], entry.sum(axis=1), np.ones(size))
    return math.inf if found.fun is None else float(found.fun)


def put_right(sentence: str, false: bool, right: bool, **numbers: float | F) -> Finding:
    """``corrected``: false as printed, and right as mended; ``refuted`` if it is not, and ``holds`` if the print is right."""
    found = refuted(sentence, false, **numbers)
    return replace(found, verdict="corrected") if false and right else found


def snapped(value: float) -> float:
    """A program's value for a sentence: the fraction that it is within 1e-7, if there is one with a denominator up to 100."""
    near = F(value).limit_denominator(100)
    return float(near) if abs(value - near) < 1e-7 else value


@dataclass(frozen=True)
class Case:
    """An instance of a bound: databases of n records with m values, a budget D of changed records, and a source set."""

    values: int
    records: int
    distortion: float
    vertices: Vertices = ()
    alpha: float = 2.0
    delta: float = 0.05

    @property
    def prior(self) -> Vertices:
        """The vertices; if there are none, the uniform prior."""
        return self.vertices or (((1 / self.values**self.records,) * self.values**self.records),)

    def least(self, notion: str, *, by_program: bool = True) -> float:
        """Least leakage in nats, by a program over the whole channel or by the library's own way."""
        m, n, d = self.values, self.records, self.distortion
        find = least_by_program if by_program else least
        return find(notion, m, n, d, self.vertices or None, alpha=self.alpha, delta=self.delta)


Formula = Callable[[str, Case], Bounds]
"""What is printed for a notion and a case, in nats; a wrong variant of a theorem is another one."""


@dataclass(frozen=True)
class BoundTheorem:
    """A theorem with a part for each of the seven notions, bounds or an equation; every side is a row of the ledger.

    Attributes
    ----------
    printed : callable
        Bounds in nats, from a notion and a case.
    draw : callable
        A random case, from a notion and a generator.
    named : mapping of str to Case
        Shown by name.
    """

    printed: Formula
    draw: Callable[[str, np.random.Generator], Case]
    named: Mapping[str, Case]

    def register(
        self,
        name: str,
        wrong: Mapping[str, Formula],
        *,
        attained: Callable[[Case], bool] | None = None,
        proof: tuple[str, Callable[[], Mapping[str, bool]]] | None = None,
        silent: Mapping[str, Case] | None = None,
        named: Mapping[str, Case] | None = None,
        by_program: bool = True,
        share: float = 0.2,
    ) -> None:
        """The row of this name: ``loose``, ``holds`` if the bound is attained in all named cases, or an equation.

        ``attained`` says of which random cases the bound must be the exact value; ``proof`` makes the verdict ``proved``;
        random cases of the notions without a linear program are solved over the whole channel, unless ``by_program`` is false;
        ``silent`` has cases where nothing needs to leak, so that the bound is corrected if it is above 0 there.
        """
        _, notion, side = part_of(name)
        at = 1 if side == "upper" else 0
        tolerance = 2e-6 if notion in (RENYI, SIBSON, MUTUAL) else 1e-8

        def instance(rng: np.random.Generator, printed: Formula = self.printed) -> float:
            case = self.draw(notion, rng)
            bounds = printed(notion, case)
            if side == "lower" and bounds.lower <= 0:  # says nothing
                return math.nan
            over = _above_least(notion, case, bounds[at], by_program)
            exact = bounds[at] > 0 and (side == "both" or (attained is not None and attained(case)))
            return abs(over) if exact else over if side == "lower" else -over

        def check(sample: Sample, printed: Formula = self.printed) -> Finding:
            if proof:
                return proved(proof[0], proof[1](), sample)
            found = {}
            for label, case in (silent or named or self.named).items():
                bounds, exact = printed(notion, case), math.exp(case.least(notion))
                order = f" with $\\alpha = {case.alpha:g}$"
                parameter = {RENYI: order, SIBSON: order}
                parameter[APPROXIMATE] = f" with $\\delta = {case.delta:g}$"
                found[label + parameter.get(notion, "")] = math.exp(bounds[at]), snapped(exact)
            words = (
                "for {name} the bound is {}, and the least leakage is {}",
                "for {name} the least leakage is {}, and the bound is {}",
            )[at]
            words = words.replace("{}", r"$\log {}$")
            if silent:
                return corrected(found, {label: (1.0, pair[1]) for label, pair in found.items()}, sample, says=words)
            if side == "both":
                gaps = {label: abs(bound - exact) for label, (bound, exact) in found.items()}
                return holds(sample, named=gaps, tolerance=10 * tolerance, of="source sets and distortions")
            pairs = found if side == "lower" else {label: pair[::-1] for label, pair in found.items()}
            return loose(pairs, sample, says=words, tolerance=10 * tolerance)

        variants = {words: {"printed": other} for words, other in wrong.items()}
        claim(name=name, instance=instance, wrong=variants, tolerance=tolerance, share=share)(check)


def _above_least(notion: str, case: Case, leakage: float, by_program: bool) -> float:
    """How far a leakage is above the least: in distortion by a linear program, in nats for the other notions."""
    if notion in (RENYI, SIBSON, MUTUAL):
        return leakage - case.least(notion, by_program=by_program)
    values, records = case.values, case.records
    return case.distortion - least_distortion(notion, case.prior, leakage, values, records, delta=case.delta)


def shifted(bounds: Bounds, by: float) -> Bounds:
    """Both bounds moved by so many nats, and not below 0: what a factor under the logarithm does."""
    return Bounds(max(0.0, bounds.lower + by), max(0.0, bounds.upper + by))


def some_of_class_1(rng: np.random.Generator, size: int) -> Vertices:
    """The uniform prior alone, with another one, or between two others of full support."""
    center, kind = np.full(size, 1 / size), rng.integers(3)
    if kind == 0:
        return (tuple(center.tolist()),)
    one = rng.permutation(random_prior(rng, size, 0.0, 1.5))
    two = center if kind == 1 else center - rng.uniform(0.3, 0.9) * (one - center) / (size * one.max() - 1)
    return tuple(one.tolist()), tuple(two.tolist())


@lru_cache(maxsize=512)
def _least(
    name: str, values: int, records: int, distortion: float, vertices: Vertices | None, alpha: float, delta: float
) -> float:
    notion = notion_by_name(name, alpha=alpha, delta=delta)
    if vertices is not None and records == 1:
        return optimal_mechanism(SourceSet(vertices), distortion=distortion, notion=notion).leakage
    source = None if vertices is None else SourceSet(vertices)
    return optimal_database_mechanism(values, records, distortion=distortion, notion=notion, source=source).leakage


def information(prior: FloatArray, matrix: FloatArray) -> float:
    """Mutual information in nats; by ratios to the output, in which what the claims try was recorded."""
    output = prior @ matrix
    joint = prior[:, np.newaxis] * matrix
    used = joint > 0
    return float((joint[used] * np.log(np.divide(matrix, output, out=np.ones_like(matrix), where=used)[used])).sum())
