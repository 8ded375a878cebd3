"""What a claim is, and how computations become verdicts: a verdict follows from numbers and is never written down by hand.

A *claim* is a statement of a paper in our own words, with a check. A check returns a :class:`Finding`, made by one of the
functions :func:`reproduced`, :func:`holds`, :func:`corrected`, :func:`refuted`, :func:`loose` and :func:`not_checkable`, each
of which says something else if the numbers do. A claim about all instances of a kind also has an ``instance``: a function of a
random generator that returns how far one random instance violates the claim (at most 0, or rounding, if it does not). The
generator of instance i depends on the claim and on i alone, so results do not depend on how the work is spread.
"""

from __future__ import annotations

import importlib
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

__all__ = [
    "PAPERS",
    "VERDICTS",
    "Claim",
    "Finding",
    "Sample",
    "Verdict",
    "all_claims",
    "claims_of",
    "corrected",
    "holds",
    "loose",
    "not_checkable",
    "refuted",
    "register",
    "reproduced",
    "sample_of",
]

Verdict = Literal["reproduced", "holds", "corrected", "refuted", "loose", "not checkable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

PAPERS: dict[str, str] = {
    "alvim2011": "Alvim, Andrés, Chatzikokolakis, Degano, Palamidessi 2011",
    "kalantari2016": "Kalantari, Sankar, Sarwate 2016",
    "kalantari2017": "Kalantari, Sankar, Sarwate 2017 (preprint)",
    "kalantari2018": "Kalantari, Sankar, Sarwate 2018",
    "zhong_bu2022": "Zhong, Bu 2022",
}
"""The five papers by key, in the order of their years."""


@dataclass(frozen=True)
class Sample:
    """What random instances showed.

    Attributes
    ----------
    count : int
        Instances that the claim speaks of.
    worst : float
        Largest violation among them; minus infinity if there are none.
    where : int
        Number of the instance with it.
    failures : int
        Instances that violate the claim by more than its tolerance.
    """

    count: int = 0
    worst: float = -math.inf
    where: int = -1
    failures: int = 0

    def __or__(self, other: Sample) -> Sample:
        """Both together; the order does not matter."""
        worse = max(self, other, key=lambda one: (one.worst, -one.where))
        return Sample(self.count + other.count, worse.worst, worse.where, self.failures + other.failures)


@dataclass(frozen=True)
class Finding:
    """A verdict and what it rests on.

    Attributes
    ----------
    verdict : str
        One of :data:`VERDICTS`.
    evidence : str
        In words, for the page.
    numbers : mapping of str to float
        What is compared with the numbers on record.
    instances : int
        How many random ones were tried.
    tolerance : float
        By how much numbers may differ from those on record, and violations from 0.
    """

    verdict: Verdict
    evidence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    instances: int = 0
    tolerance: float = 1e-9


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, with its check.

    Attributes
    ----------
    name : str
        ``paper.function``, unique.
    paper, number, place, statement : str
        Key of :data:`PAPERS`; "Theorem 6(3), upper bound"; "Section III"; what is claimed, in our words and symbols.
    correction : str
        The statement that is right instead, where one is due.
    check : callable
        Returns a Finding; takes the Sample if there are random instances.
    instance : callable, optional
        From a random generator to a violation; NaN if the claim does not speak of this instance.
    tolerance : float
        Violations up to this are rounding.
    share : float
        Of the instances asked for that this claim takes; slow ones take less.
    """

    name: str
    paper: str
    number: str
    place: str
    statement: str
    correction: str
    check: Callable[..., Finding]
    instance: Callable[[np.random.Generator], float] | None = None
    tolerance: float = 1e-9
    share: float = 1.0

    @property
    def module(self) -> str:
        """Where it is registered."""
        return self.check.__module__

    def instances(self, asked: int) -> int:
        """How many random instances this claim takes if so many are asked for."""
        return 0 if self.instance is None else max(1, round(asked * self.share))

    def find(self, sample: Sample | None = None) -> Finding:
        """The finding, given what random instances showed."""
        return self.check() if self.instance is None else self.check(sample or Sample())


_MODULES = (
    "alvim2011",
    "alvim2011_graphs",
    "alvim2011_proofs",
    "kalantari2016",
    "kalantari2016_theorems",
    "kalantari2016_ordered",
    "kalantari2018",
    "kalantari2018_theorems",
    "kalantari2018_folding",
    "kalantari2018_coloring",
    "kalantari2018_information",
    "kalantari2018_examples",
    "kalantari2018_proofs",
    "zhong_bu2022",
    "zhong_bu2022_local",
    "zhong_bu2022_parallel",
    "zhong_bu2022_appendix",
    "zhong_bu2022_coloring",
    "zhong_bu2022_proofs",
)
_REGISTRY: dict[str, Claim] = {}


def register(
    paper: str,
    number: str,
    place: str,
    statement: str,
    *,
    name: str = "",
    correction: str = "",
    instance: Callable[[np.random.Generator], float] | None = None,
    tolerance: float = 1e-9,
    share: float = 1.0,
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Decorate the check of a claim, which the ledger knows as ``paper.function``, or ``paper.name`` where a loop makes several.

    Every name is spelled out in the module that registers it, so that a search for it ends there.
    """

    def _register(check: Callable[..., Finding]) -> Callable[..., Finding]:
        whole = f"{paper}.{name or check.__name__}"
        if whole in _REGISTRY:
            raise ValueError(f"there is a claim named {whole} already; name the check of {number!r} differently")
        if paper not in PAPERS:
            raise ValueError(f"unknown paper {paper!r}; known are {', '.join(PAPERS)}")
        _REGISTRY[whole] = Claim(whole, paper, number, place, statement, correction, check, instance, tolerance, share)
        return check

    return _register


def all_claims() -> list[Claim]:
    """Every claim, paper by paper, in the order in which the modules list them."""
    for module in _MODULES:
        importlib.import_module(f"paper_repro.claims.{module}")
    places = {f"paper_repro.claims.{module}": place for place, module in enumerate(_MODULES)}
    # Whoever imported a module before does not change the order.
    return sorted(
        _REGISTRY.values(), key=lambda claim: (list(PAPERS).index(claim.paper), places.get(claim.module, len(places)))
    )


def claims_of(names: Sequence[str]) -> list[Claim]:
    """The claims with these names; ValueError if there is one that is unknown."""
    known = {claim.name: claim for claim in all_claims()}
    for name in names:
        if name not in known:
            raise ValueError(f"unknown claim {name!r}; names are paper.function, such as {next(iter(known))!r}")
    return [known[name] for name in names]


def sample_of(claim: Claim, start: int, stop: int) -> Sample:
    """Instances ``start .. stop - 1`` of a claim; each has a generator of its own."""
    sample = Sample()
    if claim.instance is None:
        return sample
    seed = zlib.crc32(claim.name.encode())
    for number in range(start, stop):
        violation = float(claim.instance(np.random.default_rng([seed, number])))
        if not math.isnan(violation):
            sample |= Sample(1, violation, number, int(violation > claim.tolerance))
    return sample


def reproduced(values: Mapping[str, tuple[float, float]], tolerance: float) -> Finding:
    """Printed numbers that the computation gives back: pairs (printed, computed), each within the tolerance.

    >>> reproduced({"exp of the leakage at D = 0.1": (45.0, 45.0)}, 1e-9).verdict
    'reproduced'
    >>> reproduced({"utility": (0.4, 0.41)}, 1e-3).verdict
    'refuted'
    """
    worst = max(values, key=lambda name: _apart(*values[name]))
    deviation = _apart(*values[worst])
    numbers = {name: float(computed) for name, (_, computed) in values.items()}
    if deviation <= tolerance:
        text = f"{len(values)} value{'s' * (len(values) > 1)} as printed, to {tolerance:g}"
        return Finding("reproduced", text, numbers, tolerance=max(tolerance, 1e-9))
    printed, computed = values[worst]
    return Finding("refuted", f"{worst}: printed {printed:.7g}, computed {computed:.7g}", numbers)


def holds(
    sample: Sample | None = None, *, named: Mapping[str, float] | None = None, tolerance: float = 1e-9, of: str = ""
) -> Finding:
    """A statement that no instance violates: violations of named instances and of random ones, at most the tolerance.

    >>> holds(named={"two letters": 0.0, "ties": -1.0}).verdict
    'holds'
    >>> holds(Sample(100, 0.2, 17, 1)).verdict
    'refuted'
    """
    named = dict(named or {})
    sample = sample or Sample()
    if not named and not sample.count:
        raise ValueError("a statement that holds needs instances, named or random, on which it was checked")
    bad = {name: violation for name, violation in named.items() if not violation <= tolerance}
    parts = []
    if sample.count:
        parts.append(f"{sample.count} random {of or 'instances'}")
    if named:
        parts.append(", ".join(named))
    if bad or sample.failures:
        where = [f"{name} by {violation:.3g}" for name, violation in bad.items()]
        if sample.failures:
            where.append(
                f"{sample.failures} of {sample.count} random instances, no. {sample.where} by {sample.worst:.3g}"
            )
        return Finding("refuted", f"violated: {'; '.join(where)}", named, sample.count, tolerance)
    worst = max([*named.values(), sample.worst])
    text = f"checked on {' and '.join(parts)}; largest violation {max(worst, 0.0):.1e} (tolerance {tolerance:g})"
    return Finding("holds", text, {name: max(value, 0.0) for name, value in named.items()}, sample.count, tolerance)


def corrected(
    printed: Mapping[str, tuple[float, float]],
    mended: Mapping[str, tuple[float, float]],
    sample: Sample | None = None,
    *,
    tolerance: float = 1e-9,
) -> Finding:
    """Wrong as printed, right after a small change: pairs (formula, truth) of both readings, on the same named instances.

    The sample holds violations of the corrected statement. If the print is right after all the verdict is ``holds``; if the
    correction is wrong, ``refuted``.

    >>> corrected({"P = (.7, .2, .1)": (28 / 3, 34 / 3)}, {"P = (.7, .2, .1)": (34 / 3, 34 / 3)}).verdict
    'corrected'
    >>> corrected({"P": (2.0, 2.0)}, {"P": (2.0, 2.0)}).verdict, corrected({"P": (1.0, 2.0)}, {"P": (3.0, 2.0)}).verdict
    ('holds', 'refuted')
    """
    sample = sample or Sample()
    wrong = {name: pair for name, pair in printed.items() if _apart(*pair) > tolerance}
    still = {name: pair for name, pair in mended.items() if _apart(*pair) > tolerance}
    numbers = {f"{name}: printed": pair[0] for name, pair in printed.items()}
    numbers |= {f"{name}: corrected": pair[0] for name, pair in mended.items()}
    numbers |= {f"{name}: exact": pair[1] for name, pair in printed.items()}
    tried = (
        f"; corrected, {sample.count} random instances, largest violation {max(sample.worst, 0.0):.1e}"
        if sample.count
        else ""
    )
    if still or sample.failures:
        text = f"the correction fails too: {_pairs(still) or f'random instance {sample.where} by {sample.worst:.3g}'}"
        return Finding("refuted", text, numbers, sample.count)
    if not wrong:
        return Finding("holds", f"right as printed: {_pairs(printed)}", numbers, sample.count)
    return Finding("corrected", f"as printed: {_pairs(wrong)}{tried}", numbers, sample.count, max(tolerance, 1e-9))


def refuted(counterexample: str, claimed: float, actual: float, *, margin: float = 1e-6, **numbers: float) -> Finding:
    """False: on a named counterexample what is claimed to be at most ``claimed`` is ``actual``, larger by more than the margin.

    For a claim "at least", give both with the other sign or swapped; for an equality, give ``claimed=0`` and the difference.

    >>> refuted("two letters, D = 1/4", claimed=1.0, actual=1.5).verdict
    'refuted'
    >>> refuted("two letters, D = 1/4", claimed=1.0, actual=0.5).verdict
    'holds'
    """
    found = {
        "claimed": float(claimed),
        "actual": float(actual),
        **{name: float(value) for name, value in numbers.items()},
    }
    if actual > claimed + margin:
        return Finding("refuted", f"{counterexample}: claimed at most {claimed:.7g}, found {actual:.7g}", found)
    return Finding(
        "holds", f"the supposed counterexample is none: {counterexample}: {actual:.7g} <= {claimed:.7g}", found
    )


def loose(
    bounds: Mapping[str, tuple[float, float]],
    sample: Sample | None = None,
    *,
    tolerance: float = 1e-9,
    margin: float = 1e-6,
) -> Finding:
    """True but not best possible: pairs (lower, upper) of a bound and the exact value, in the order that the claim has them.

    A lower bound comes as (bound, exact), an upper bound as (exact, bound). Strict somewhere: ``loose``; nowhere: ``holds``; if
    a bound is violated, ``refuted``. The sample holds violations.

    >>> loose({"uniform, D = 0.3": (1.18, 1.238)}).verdict, loose({"uniform, D = 0.3": (1.3, 1.238)}).verdict
    ('loose', 'refuted')
    >>> loose({"uniform, D = 0.3": (1.238, 1.238)}).verdict
    'holds'
    """
    sample = sample or Sample()
    numbers = {f"{name}: {side}": pair[i] for name, pair in bounds.items() for i, side in enumerate(("lower", "upper"))}
    violated = {name: pair for name, pair in bounds.items() if not pair[0] <= pair[1] + tolerance}
    if violated or sample.failures:
        text = _pairs(violated, " > ") or f"random instance {sample.where} by {sample.worst:.3g}"
        return Finding("refuted", f"the bound is violated: {text}", numbers, sample.count)
    tried = f"; valid on {sample.count} random instances" if sample.count else ""
    strict = {name: pair for name, pair in bounds.items() if pair[1] - pair[0] > margin}
    if not strict:
        return Finding("holds", f"attained: {_pairs(bounds, ' = ')}{tried}", numbers, sample.count)
    return Finding("loose", f"strict: {_pairs(strict, ' < ')}{tried}", numbers, sample.count)


def not_checkable(reason: str) -> Finding:
    """A definition, a diagram, an opinion, or what would need what is not at hand; the reason says which.

    >>> not_checkable("a diagram of who sends what to whom").verdict
    'not checkable'
    """
    if not reason:
        raise ValueError("say why the statement cannot be checked")
    return Finding("not checkable", reason)


def _apart(first: float, second: float) -> float:
    """Difference of two numbers; equal infinities are not apart, and NaN is apart from everything."""
    if first == second:
        return 0.0
    difference = abs(first - second)
    return math.inf if math.isnan(difference) else difference


def _pairs(pairs: Mapping[str, tuple[float, float]], between: str = " where the truth is ") -> str:
    return "; ".join(f"{name}: {first:.7g}{between}{second:.7g}" for name, (first, second) in pairs.items())
