"""What a claim is: a statement in TOML, a check that can fail, and changes of its constants that must change the verdict.

The texts are data: ``alvim2011.toml`` and its like hold, in the paper's order, the statement as printed, how it is read and the
correction, if one is due. The checks are functions of the same names in the modules beside it, under one of two decorators:

* :func:`for_all`: a property of arguments that are drawn at random or named with :func:`example`; it returns a violation;
* :func:`claim`: a check that returns a :class:`Finding`, made by :func:`proved`, :func:`reproduced`, :func:`holds`,
  :func:`loose`, :func:`corrected`, :func:`refuted`, :func:`depends` or :func:`uncertain`, each of which gives another verdict
  if the numbers do.

A verdict follows from numbers and is never written down. Constants of the statement are keyword arguments of the check;
``wrong`` names values that make a true statement false, or an incorrect one right, and a check that does not notice fails. The
generator of random instance i depends on the claim and on i alone, so results do not depend on how the work is spread.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import tomllib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

__all__ = [
    "PAPERS",
    "VERDICTS",
    "WEIGHTS",
    "Claim",
    "Finding",
    "Sample",
    "Statement",
    "Verdict",
    "all_claims",
    "claim",
    "claims_of",
    "corrected",
    "depends",
    "example",
    "for_all",
    "holds",
    "loose",
    "proved",
    "refuted",
    "reproduced",
    "sample_of",
    "statements",
    "told_apart",
    "uncertain",
]

Verdict = Literal[
    "proved",
    "reproduced",
    "holds",
    "loose",
    "corrected",
    "refuted",
    "depends on the reading",
    "source text uncertain",
    "not checkable",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

WEIGHTS: dict[str, str] = {
    "misprint": "a small slip that a reader corrects at once, such as a sign, an index or < for <=",
    "missing condition": "correct under a hypothesis or in a range that the paper does not state",
    "slip in a proof": "a step of a proof fails as written; the result that it proves is correct",
    "false, not used": "false, and no other result of the paper needs it",
    "false, relied on": "false, and another result of the paper uses it",
}
"""How serious an incorrect entry is, by name; entries that are corrected, refuted or depend on the reading have one weight."""

PAPERS: dict[str, str] = {
    "alvim2011": "Alvim, Andrés, Chatzikokolakis, Degano, Palamidessi 2011",
    "kalantari2016": "Kalantari, Sankar, Sarwate 2016",
    "kalantari2017": "Kalantari, Sankar, Sarwate 2017 (preprint)",
    "kalantari2018": "Kalantari, Sankar, Sarwate 2018",
    "zhong_bu2022": "Zhong, Bu 2022",
}
"""The five papers by key, in the order of their years."""

# The preprint of 2017 and the article of 2018 are one text in two versions: the modules kalantari2018_* judge both.
_FAMILIES = {paper: "kalantari2018" if paper == "kalantari2017" else paper for paper in PAPERS}
_FAULTY = ("corrected", "refuted", "depends on the reading")
_IN_WORDS: dict[str, str] = {
    "proved": "is proved",
    "reproduced": "is reproduced",
    "holds": "holds",
    "loose": "is true, but not sharp",
    "corrected": "needs a correction",
    "refuted": "does not hold",
}
# A draw that does not meet the antecedent is drawn again, so often.
_REDRAWN = 50


@dataclass(frozen=True)
class Statement:
    """What a paper states, and what is said about it: an entry of a TOML file.

    Attributes
    ----------
    paper, key : str
        Key of :data:`PAPERS`, and the name of the function that checks it.
    number, place : str
        "Theorem 6(3), upper bound"; "Section III".
    statement : str
        As printed, in symbols, with the hypotheses, the source set, the mechanisms and the range that the paper states; LaTeX
        between dollar signs.
    text : str
        Where the formula was read, if not in the paper's own text at hand.
    reading : str
        What a reader has to add for the statement to say something definite.
    correction : str
        The statement that is right instead, where one is due; it can be understood by itself.
    exact : str
        The exact value where a bound is loose or corrected.
    weight : str
        Key of :data:`WEIGHTS`.
    independent : str
        The program that computes what is called least or best, sharing no code with the formula judged.
    reason : str
        Why it cannot be checked; then there is no function.
    also : tuple of str
        Where else the papers say the same.
    counterparts : tuple of str
        Corresponding places of another version whose formula is not legible in our copy, so that it was not compared.
    rests_on : tuple of str
        Names of the rows that this one uses.
    """

    paper: str
    key: str
    number: str
    place: str
    statement: str
    text: str = ""
    reading: str = ""
    correction: str = ""
    exact: str = ""
    weight: str = ""
    independent: str = ""
    reason: str = ""
    also: tuple[str, ...] = ()
    counterparts: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``paper.function``, unique."""
        return f"{self.paper}.{self.key}"


@dataclass(frozen=True)
class Sample:
    """What random instances showed.

    Attributes
    ----------
    count : int
        Instances that meet the antecedent.
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
        A sentence with the numbers in it; how many random instances there were is told beside it.
    numbers : mapping of str to float
        What is compared with the numbers on record.
    tolerance : float
        By how much numbers may differ from those on record, and violations from 0.
    """

    verdict: Verdict
    evidence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 1e-9


@dataclass(frozen=True)
class Claim:
    """A statement with its check.

    Attributes
    ----------
    text : Statement
    check : callable
        Returns a Finding; takes the Sample first if there are random instances, and the statement's constants by keyword.
    source : callable
        The function that a reader should look at.
    instance : callable, optional
        From a random generator to a violation, NaN if the claim does not speak of this instance; takes the same constants.
    wrong : mapping
        Variants of the statement, by what is changed: constants at which it has another verdict, false if it is true as printed,
        and for a faulty one mostly right, as mended.
    tolerance : float
        Violations up to this are rounding.
    share : float
        Of the instances asked for that this claim takes; slow ones take less.
    """

    text: Statement
    check: Callable[..., Finding]
    source: Callable[..., Any]
    instance: Callable[..., float] | None = None
    wrong: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tolerance: float = 1e-9
    share: float = 1.0

    @property
    def name(self) -> str:
        """``paper.function``, unique."""
        return self.text.name

    def instances(self, asked: int) -> int:
        """How many random instances this claim takes if so many are asked for."""
        return 0 if self.instance is None else max(1, round(asked * self.share))

    def find(self, sample: Sample | None = None, **constants: Any) -> Finding:
        """The finding, given what random instances showed."""
        return self.check(**constants) if self.instance is None else self.check(sample or Sample(), **constants)


@cache
def statements() -> dict[str, Statement]:
    """Every statement by its name, paper by paper, in the papers' order.

    Raises ValueError, naming file and entry, for a field that is unknown or missing, or a weight or a row that there is not.
    """
    found = {}
    for paper in PAPERS:
        path = Path(__file__).parent / f"{paper}.toml"
        for key, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            entry |= {name: tuple(entry.get(name, ())) for name in ("also", "counterparts", "rests_on")}
            try:
                text = Statement(paper, key, **entry)
            except TypeError as error:
                raise ValueError(f"{path.name}, [{key}]: {error}") from None
            if text.weight and text.weight not in WEIGHTS:
                raise ValueError(
                    f"{path.name}, [{key}]: unknown weight {text.weight!r}; known are {', '.join(WEIGHTS)}"
                )
            found[text.name] = text
    for text in found.values():
        for name in text.rests_on:
            if name not in found:
                raise ValueError(f"{text.paper}.toml, [{text.key}]: rests_on names {name!r}, which is no row")
    return found


_CHECKS: dict[tuple[str, str], dict[str, Any]] = {}


def _register(function: Callable[..., Any], name: str, **parts: Any) -> None:
    family = next((one for one in _FAMILIES.values() if function.__module__.rpartition(".")[2].startswith(one)), "")
    place = family, name or function.__name__
    if place in _CHECKS:
        modules = _CHECKS[place]["source"].__module__, function.__module__
        raise ValueError(f"there are two checks named {place[1]}, in {' and '.join(modules)}; give one another name")
    _CHECKS[place] = {"source": function, **parts}


def claim(
    *,
    name: str = "",
    instance: Callable[..., float] | None = None,
    wrong: Mapping[str, Mapping[str, Any]] | None = None,
    tolerance: float = 1e-9,
    share: float = 1.0,
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Decorate the check of the statement that has the function's name, or ``name`` where a loop makes several.

    The check and the instance take the statement's constants as keyword arguments; ``wrong`` has other values of them.
    """

    def decorate(check: Callable[..., Finding]) -> Callable[..., Finding]:
        _register(check, name, check=check, instance=instance, wrong=wrong or {}, tolerance=tolerance, share=share)
        return check

    return decorate


def for_all(
    draw: Callable[[np.random.Generator], tuple[Any, ...] | None],
    *,
    of: str,
    wrong: Mapping[str, Mapping[str, Any]] | None = None,
    tolerance: float = 1e-9,
    share: float = 1.0,
    name: str = "",
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Decorate a property: how far given arguments violate the statement that has the function's name.

    ``draw`` makes the arguments from a random generator, or None where they would not meet the antecedent; ``of`` says what they
    are. Named ones come by :func:`example`, below this decorator.
    """

    def decorate(violation: Callable[..., float]) -> Callable[..., float]:
        named = getattr(violation, "named", {})

        def instance(rng: np.random.Generator, **constants: Any) -> float:
            drawn = draw(rng)
            return math.nan if drawn is None else float(violation(*drawn, **constants))

        def check(sample: Sample, **constants: Any) -> Finding:
            found = {label: float(violation(*arguments, **constants)) for label, arguments in named.items()}
            return holds(sample, named=found, tolerance=tolerance, of=of)

        parts = {"check": check, "instance": instance, "wrong": wrong or {}, "tolerance": tolerance, "share": share}
        _register(violation, name, **parts)
        return violation

    return decorate


def example(name: str, *arguments: Any) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """A named instance of a property; the ones nearest to the function come first."""

    def add(violation: Callable[..., float]) -> Callable[..., float]:
        violation.named = {**getattr(violation, "named", {}), name: arguments}  # type: ignore[attr-defined]
        return violation

    return add


def all_claims() -> list[Claim]:
    """Every claim that can be checked, in the order of the papers.

    Raises ValueError, naming them, if there is an entry without a function or a function without an entry.
    """
    package = importlib.import_module("paper_repro.claims")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith(tuple(_FAMILIES.values())) and not module.name.endswith("_tools"):
            importlib.import_module(f"paper_repro.claims.{module.name}")
    entries = {(_FAMILIES[text.paper], text.key): text for text in statements().values() if not text.reason}
    missing = [f"{entries[place].name} has an entry, but no function" for place in entries.keys() - _CHECKS.keys()]
    missing += [
        f"{_CHECKS[place]['source'].__module__}.{place[1]} has no entry, or one with a reason why it is not checkable"
        for place in _CHECKS.keys() - entries.keys()
    ]
    if missing:
        raise ValueError("; ".join(sorted(missing)))
    return [Claim(text, **_CHECKS[place]) for place, text in entries.items()]


def claims_of(names: Sequence[str]) -> list[Claim]:
    """The claims with these names; ValueError if there is one that is unknown."""
    known = {claim.name: claim for claim in all_claims()}
    for name in names:
        if name not in known:
            raise ValueError(f"unknown claim {name!r}; names are paper.function, such as {next(iter(known))!r}")
    return [known[name] for name in names]


def sample_of(claim: Claim, start: int, stop: int, **constants: Any) -> Sample:
    """Instances ``start .. stop - 1`` of a claim; each has a generator of its own."""
    sample, instance = Sample(), claim.instance
    if instance is None:
        return sample
    for number in range(start, stop):
        rng = np.random.default_rng([zlib.crc32(claim.name.encode()), number])
        drawn = (float(instance(rng, **constants)) for _ in range(_REDRAWN))
        violation = next((found for found in drawn if not math.isnan(found)), math.nan)
        if not math.isnan(violation):
            sample |= Sample(1, violation, number, int(violation > claim.tolerance))
    return sample


def told_apart(claim: Claim, verdict: Verdict, variant: str, instances: int) -> bool:
    """Whether the check notices a variant of its statement: the verdict is another one.

    Named instances are tried first, then so many random ones, until one of them is violated.
    """
    constants = claim.wrong[variant]
    if claim.instance is None:
        return claim.find(**constants).verdict != verdict
    for number in range(claim.instances(instances)):
        sample = sample_of(claim, number, number + 1, **constants)
        if (sample.failures or (number == 0 and sample.count)) and claim.find(sample, **constants).verdict != verdict:
            return True
    return False


def proved(how: str, facts: Mapping[str, bool], sample: Sample | None = None) -> Finding:
    """A statement decided for all its instances: facts that a computer algebra, a solver or an enumeration established.

    ``how`` says by what and for which sizes. The sample, if any, holds violations beyond these sizes.

    >>> proved("Enumeration of all graphs of 4 answers.", {"connected ones": True}).verdict
    'proved'
    >>> proved("Enumeration of all graphs of 4 answers.", {"connected ones": False}).verdict
    'refuted'
    """
    if not facts:
        raise ValueError("a proof needs facts")
    false = [name for name, fact in facts.items() if not fact]
    if false or (sample and sample.failures):
        what = [f"not so: {name}" for name in false]
        return Finding(
            "refuted", "; ".join([*what, *_failed(sample)]), dict.fromkeys(facts, 1.0) | dict.fromkeys(false, 0.0)
        )
    return Finding("proved", how, dict.fromkeys(facts, 1.0))


def reproduced(values: Mapping[str, tuple[float, float]], tolerance: float) -> Finding:
    """Printed numbers that the computation gives back: pairs (printed, computed), each within the tolerance.

    >>> reproduced({"exp of the leakage at D = 0.1": (45.0, 45.0)}, 1e-9).verdict
    'reproduced'
    >>> reproduced({"utility": (0.4, 0.41)}, 1e-3).verdict
    'refuted'
    """
    numbers = {name: float(computed) for name, (_, computed) in values.items()}
    wrong = {name: pair for name, pair in values.items() if _apart(*pair) > tolerance}
    if wrong:
        return Finding("refuted", _pairs(wrong, "printed {}, computed {}"), numbers)
    within = f"to within {tolerance:g}" if tolerance else "exactly"
    agree = "printed values agree" if len(values) > 1 else "printed value agrees"
    text = f"{len(values)} {agree} with the computation, {within}: {', '.join(values)}."
    return Finding("reproduced", text, numbers, max(tolerance, 1e-9))


def holds(
    sample: Sample | None = None,
    *,
    named: Mapping[str, float] | None = None,
    tolerance: float = 1e-9,
    of: str = "",
    says: str = "",
) -> Finding:
    """A statement that no instance violates: violations of named instances and of random ones, at most the tolerance.

    ``says`` is the evidence where the sentence that names the instances would not tell enough.

    >>> holds(named={"two letters": 0.0, "ties": -1.0}).verdict
    'holds'
    >>> holds(Sample(100, 0.2, 17, 1)).verdict
    'refuted'
    """
    named, sample = dict(named or {}), sample or Sample()
    if not named and not sample.count:
        raise ValueError("a statement that holds needs instances, named or random, on which it was checked")
    bad = [f"{name} by {spoken(value)}" for name, value in named.items() if not value <= tolerance]
    # No violation is recorded below the tolerance: that would be rounding, which differs from machine to machine.
    numbers = {name: value if value > tolerance else 0.0 for name, value in named.items()}
    if bad or sample.failures:
        return Finding("refuted", f"Violated: {'; '.join([*bad, *_failed(sample)])}.", numbers, tolerance)
    tried = [f"random {of or 'instances'}"] * bool(of or sample.count)
    tried += [f"the named case{'s' * (len(named) > 1)}: {'; '.join(named)}"] * bool(named)
    return Finding("holds", says or f"No violation found in {' or in '.join(tried)}.", numbers, tolerance)


def loose(
    bounds: Mapping[str, tuple[float, float]],
    sample: Sample | None = None,
    *,
    says: str = "one side is {}, and the other is {}",
    tolerance: float = 1e-9,
    margin: float = 1e-6,
) -> Finding:
    """True but not best possible: pairs (lower, upper) of a bound and the exact value, in the order that the claim has them.

    A lower bound comes as (bound, exact), an upper bound as (exact, bound); ``says`` puts the two into words: a sentence
    with ``{name}`` in it, or one that follows the name and a colon. Strict somewhere: ``loose``; nowhere: ``holds``; if a bound
    is violated, ``refuted``. The sample holds violations.

    >>> loose({"uniform, D = 0.3": (1.1803, 1.2381)}, says="the bound is {}, the least leakage {}").evidence
    'Uniform, D = 0.3: the bound is 1.1803, the least leakage 1.2381.'
    >>> loose({"uniform, D = 0.3": (1.3, 1.238)}).verdict, loose({"uniform, D = 0.3": (1.238, 1.238)}).verdict
    ('refuted', 'holds')
    """
    numbers = {f"{name}: {side}": pair[i] for name, pair in bounds.items() for i, side in enumerate(("lower", "upper"))}
    violated = {name: pair for name, pair in bounds.items() if not pair[0] <= pair[1] + tolerance}
    if violated or (sample and sample.failures):
        text = "; ".join([*([_pairs(violated, says)] * bool(violated)), *_failed(sample)])
        return Finding("refuted", f"The bound is violated. {text}", numbers)
    strict = {name: pair for name, pair in bounds.items() if pair[1] - pair[0] > margin}
    if not strict:
        return Finding("holds", f"Attained. {_pairs(bounds, says)}", numbers)
    return Finding("loose", _pairs(strict, says), numbers)


def corrected(
    printed: Mapping[str, tuple[float, float]],
    mended: Mapping[str, tuple[float, float]],
    sample: Sample | None = None,
    *,
    says: str = "the printed formula gives {}, the exact value is {}",
    tolerance: float = 1e-9,
) -> Finding:
    """Wrong as printed, right after a small change: pairs (formula, truth) of both readings, on the same named instances.

    The sample holds violations of the corrected statement. If the print is right after all the verdict is ``holds``; if the
    correction is wrong, ``refuted``. ``says`` puts formula and truth into words: a sentence with ``{name}`` in it, or one
    that follows the name and a colon.

    >>> corrected({"P = (.7, .2, .1)": (28 / 3, 34 / 3)}, {"P = (.7, .2, .1)": (34 / 3, 34 / 3)}).evidence
    'P = (.7, .2, .1): the printed formula gives 28/3, the exact value is 34/3.'
    >>> corrected({"D = 0.1": (2, 3)}, {"D = 0.1": (3, 3)}, says="At {name} the print has {}, not {}").evidence
    'At D = 0.1 the print has 2, not 3.'
    >>> corrected({"P": (2.0, 2.0)}, {"P": (2.0, 2.0)}).verdict, corrected({"P": (1.0, 2.0)}, {"P": (3.0, 2.0)}).verdict
    ('holds', 'refuted')
    """
    wrong = {name: pair for name, pair in printed.items() if _apart(*pair) > tolerance}
    still = {name: pair for name, pair in mended.items() if _apart(*pair) > tolerance}
    numbers = {f"{name}: printed": pair[0] for name, pair in printed.items()}
    numbers |= {f"{name}: corrected": pair[0] for name, pair in mended.items()}
    numbers |= {f"{name}: exact": pair[1] for name, pair in printed.items()}
    if still or (sample and sample.failures):
        text = "; ".join(
            [*([_pairs(still, "the correction gives {}, the exact value is {}")] * bool(still)), *_failed(sample)]
        )
        return Finding("refuted", f"The correction fails too. {text}", numbers)
    if not wrong:
        return Finding("holds", f"Right as printed. {_pairs(printed, says)}", numbers)
    return Finding("corrected", _pairs(wrong, says), numbers, max(tolerance, 1e-9))


def refuted(sentence: str, false: bool, **numbers: float | Fraction) -> Finding:
    """False on a named counterexample: ``false`` is what a computation says, ``sentence`` tells it with the numbers put in.

    >>> refuted("At D = 29/100 the bound is {bound}; a constant leaks {truth}.", 4 / 3 > 0, bound=4 / 3, truth=0).evidence
    'At D = 29/100 the bound is 4/3; a constant leaks 0.'
    >>> refuted("{one} is above {two}.", 1 > 2, one=1, two=2).verdict
    'holds'
    """
    text = sentence.format(**{name: spoken(value) for name, value in numbers.items()})
    found = {name: float(value) for name, value in numbers.items()}
    return Finding("refuted", text, found) if false else Finding("holds", f"Not so: {text}", found)


def depends(readings: Mapping[str, Finding]) -> Finding:
    """A statement with several fair readings, each judged: if the verdicts agree it is theirs.

    >>> depends({"of one letter": refuted("1 > 0.", True), "of all": holds(named={"two letters": 0.0})}).verdict
    'depends on the reading'
    """
    verdicts = {finding.verdict for finding in readings.values()}
    numbers = {f"{name}: {key}": value for name, one in readings.items() for key, value in one.numbers.items()}
    # The readings under which the statement is true come first.
    ordered = sorted(readings.items(), key=lambda reading: reading[1].verdict in _FAULTY)
    # "for" names a range of the statement, and the other words a meaning of it.
    under = {name: f"F{name[1:]}" if name.startswith("for ") else f"Read {name}" for name in readings}
    text = " ".join(f"{under[name]}, the statement {_IN_WORDS[one.verdict]}. {one.evidence}" for name, one in ordered)
    tolerance = max(one.tolerance for one in readings.values())
    return Finding(verdicts.pop() if len(verdicts) == 1 else "depends on the reading", text, numbers, tolerance)


def uncertain(finding: Finding, shown: str = "As our copy shows it:") -> Finding:
    """A statement that our copy of a paper shows garbled: ``finding`` compares what the copy shows with what is true.

    ``corrected`` becomes ``source text uncertain``, with the facts that were computed: the text as shown is wrong and the other
    reading right, but the paper may print the right one. Any other finding stays as it is: a text that is right as shown needs
    no doubt, and a reading that is wrong is refuted. ``shown`` begins the evidence; it names another version if the text was
    read there.

    >>> uncertain(corrected({"P": (1.0, 2.0)}, {"P": (2.0, 2.0)})).verdict
    'source text uncertain'
    >>> uncertain(corrected({"P": (2.0, 2.0)}, {"P": (2.0, 2.0)})).verdict
    'holds'
    """
    if finding.verdict != "corrected":
        return finding
    return replace(finding, verdict="source text uncertain", evidence=f"{shown} {finding.evidence}")


def spoken(value: float | Fraction) -> str:
    """A number for a sentence: a fraction with a denominator up to 100 as such, others to six digits, infinity in words.

    >>> [spoken(value) for value in (0.25, 34 / 3, 1.0, 0.2876820724, float("inf"), 1e-12)]
    ['1/4', '34/3', '1', '0.287682', 'infinity', '1e-12']
    """
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if math.isnan(value):
        return "undefined"
    near = Fraction(value).limit_denominator(100)
    exact = near if isinstance(value, float) and abs(near - Fraction(value)) <= 1e-12 * abs(near) else value
    return str(exact) if isinstance(exact, int | Fraction) else f"{float(exact):.6g}"


def _failed(sample: Sample | None) -> list[str]:
    if not sample or not sample.failures:
        return []
    return [f"{sample.failures} of {sample.count} random instances, no. {sample.where} by {spoken(sample.worst)}"]


def _apart(first: float, second: float) -> float:
    """Difference of two numbers; equal infinities are not apart, and NaN is apart from everything."""
    if first == second:
        return 0.0
    difference = abs(first - second)
    return math.inf if math.isnan(difference) else difference


def _pairs(pairs: Mapping[str, tuple[float, float]], says: str) -> str:
    if "{name}" in says:
        sentences = [says.format(*map(spoken, pair), name=name) for name, pair in pairs.items()]
        return " ".join(f"{one[:1].upper()}{one[1:]}." for one in sentences)
    text = "; ".join(f"{name}: {says.format(*map(spoken, pair))}" for name, pair in pairs.items())
    return f"{text[:1].upper()}{text[1:]}."
