"""What a result has to be: its figures true, its budget kept, and no channel better than it says; by computations of our own.

The package is asked through the line that a problem is, and what it answers is taken apart here. A *failure* is a kind and a
message:

* ``refused``: a ValueError, CertificateError or SolverError for a legitimate problem;
* ``fault``: any other error, or a warning;
* ``optimum``: an exact program, a closed form or another channel is better by more than the tolerance;
* ``figures``: leakage or distortion are not those of the matrix; ``budget``: more was spent than rounding; ``gap``;
* ``prior``: it is outside the set, or alone it does not force the result;
* ``cross``: two answers of the package contradict each other.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import paper_repro as pr
from tests.fuzz.problems import Problem, free_distortion
from tests.oracles.losses import changed, divergence, erokhin, exact, information, ratio
from tests.oracles.rational import (
    Channel,
    TooLong,
    exponential,
    least_mass_distortion,
    least_ratio_distortion,
)
from tests.oracles.search import Smooth, moved

RATIOS = ("DP", "approximate", "approximate-standard", "maximal-leakage", "maximal-information")
JUMP, ROUNDING = 1.001e-12, 1e-12


@dataclass
class Verdict:
    """What came of a problem; picklable."""

    name: str
    line: str
    variant: str = ""
    failures: list[tuple[str, str, str]] = field(default_factory=list)  # kind, message, line
    seconds: float = 0.0
    independent: str = ""  # which independent program judged the optimum


@dataclass
class Answer:
    """A result taken apart: figures in floats as claimed, and the exact distortion of the matrix."""

    line: str
    budget: tuple[str, float]
    leakage: float
    distortion: float
    matrix: np.ndarray
    spent: Fraction
    result: Any


class Refused(Exception):
    """The package gave no answer; what and why."""


def asked(line: str) -> tuple[Any, float]:
    """The value of a line and its CPU seconds; warnings count as faults."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            value = eval(line, {"pr": pr, "inf": math.inf})
        except ValueError as error:
            raise Refused("refused", f"{type(error).__name__}: {str(error)[:200]}", line) from None
        except Exception as error:
            raise Refused("fault", f"{type(error).__name__}: {str(error)[:200]}", line) from None
        seconds = time.process_time() - start
    if caught:
        raise Refused("fault", f"{caught[0].category.__name__}: {caught[0].message}", line)
    return value, seconds


def judged(problem: Problem, answered: Callable[[float], None] = lambda seconds: None) -> Verdict:
    """Ask the package and judge; ``answered`` is told the CPU seconds of the main call, before it is judged."""
    verdict = Verdict(problem.name, str(problem), problem.variant)
    try:
        problem = _placed(problem)
        verdict.line = str(problem)
        first = _answer(problem)
        verdict.seconds = first[1]
        answered(first[1])
        verdict.failures += [(*failure, verdict.line) for failure in _inspected(problem, first[0])]
        verdict.independent, failures = _optimal(problem, first[0])
        verdict.failures += [(*failure, verdict.line) for failure in failures]
        verdict.failures += _further(problem, first[0])
    except Refused as refused:
        verdict.failures.append(refused.args)
    except Exception as error:  # ours: a campaign goes on, and it shows
        verdict.failures.append(("fault", f"in the judge: {type(error).__name__}: {error}", verdict.line))
    return verdict


def _placed(problem: Problem) -> Problem:
    """With the budget at a breakpoint of the package's own curve, where there is one."""
    if problem.place is None:
        return problem
    share, beside = problem.place
    free = float(free_distortion(problem))
    places = asked(f"list({problem.notion_code}.breakpoints({problem.source_code}))")[0] or [free]
    return problem.at("distortion", min(max(float(places[int(share * len(places))]) + beside, 0.0), 1.0))


def _answer(problem: Problem) -> tuple[Answer, float]:
    line = str(problem)
    result, seconds = asked(line)
    matrix = np.array(result.mechanism.matrix, dtype=float)
    rows = exact(matrix)
    spent = max(changed(rows, prior, problem.distances) for prior in problem.priors)
    answer = Answer(line, problem.budget, float(result.leakage), float(result.distortion), matrix, spent, result)
    return answer, seconds


# ---- tolerances, in what the user reads


def _nats(problem: Problem) -> float:
    return 1e-9 if _is_linear(problem) else 1e-6


def _noise(leakage: float) -> float:
    """What a leakage cannot tell: where a curve is steep, as at next to no distortion, distortions differ within it."""
    return 1e-12 * max(1.0, leakage)


def _is_linear(problem: Problem) -> bool:
    return problem.notion in RATIOS or math.isinf(problem.order)


def _kind(problem: Problem) -> str:
    """What the notion is in the limit of infinite order."""
    if math.isinf(problem.order):
        return "DP" if problem.notion == "Renyi" else "maximal-leakage"
    return problem.notion


# ---- the result itself


def _loss(problem: Problem, matrix: np.ndarray) -> tuple[Fraction | float, float, float]:
    """exp of the loss as a rational where there is one (else NaN), and bounds of the loss in nats."""
    kind = _kind(problem)
    if kind in RATIOS:
        found = ratio(kind, exact(matrix), problem.priors, problem.pairs, problem.delta)
        loss = math.inf if found == math.inf else _log(found)
        return found, loss, loss
    if kind == "Renyi":
        loss = divergence(matrix, problem.pairs, problem.order)
        return math.nan, loss, loss
    return math.nan, *information(matrix, problem.priors, problem.order or 1.0)


def _log(value: Fraction) -> float:
    if value < 2:
        return math.log1p(float(value - 1))
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(float(value / Fraction(2) ** shift)) + shift * math.log(2)


def _inspected(problem: Problem, answer: Answer) -> Iterator[tuple[str, str]]:
    matrix, result = answer.matrix, answer.result
    if matrix.shape != (problem.size,) * 2 or not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        yield "figures", "the matrix is no channel"
        return
    sums = np.abs(matrix.sum(axis=1) - 1).max()
    if sums > 1e-13 * problem.size:
        yield "figures", f"a row misses 1 by {sums:.1e}"
    quotient, loss, most = _loss(problem, matrix)
    claimed = answer.leakage
    if math.isnan(claimed) or claimed < 0:
        yield "figures", f"leakage {claimed!r}"
        return
    as_logarithms = problem.database and result.profile is not None  # and rounded as such
    more = 1e-14 + 1e-12 * claimed if as_logarithms else 0.0
    if isinstance(quotient, Fraction) and not math.isinf(claimed) and exponential(claimed, -more) < quotient:
        yield "figures", f"leakage {claimed!r} is below the exact {loss!r}"
    off = 1e-12 + (
        0.0 if problem.order in (0, 1) else 1e-15 / (problem.order - 1)
    )  # moments of nearly 1 have a logarithm of rounding
    off = 1e-8 if problem.notion in ("Sibson", "mutual-information") and not _is_linear(problem) else off
    if claimed != loss and not loss - min(off, 1e-9) * max(1, loss) <= claimed <= most + off * max(1, most):
        yield "figures", f"leakage {claimed!r}, by definition {loss!r}"
    if abs(Fraction(answer.distortion) - answer.spent) > Fraction(1e-9) * answer.spent:
        yield "figures", f"distortion {answer.distortion!r}, by definition {float(answer.spent)!r}"
    yield from _kept(problem, answer, loss)
    accepted, rounding = (1e-9, 1e-11) if _is_linear(problem) else (1e-6, 1e-9)
    if not -rounding * _unit(problem) <= result.gap <= accepted * _unit(problem):
        yield "gap", f"gap {result.gap!r}"
    yield from _prior_in_set(problem, result)


def _unit(problem: Problem) -> float:
    """What distances are measured in, for gaps that are in distortion."""
    return max(1.0, *map(max, problem.distances))


def _kept(problem: Problem, answer: Answer, loss: float) -> Iterator[tuple[str, str]]:
    kind, budget = answer.budget
    if kind == "leakage":
        near = 1e-15 / (problem.order - 1) if problem.order > 1 else 0.0  # at orders near 1 a quotient of small numbers
        if loss > budget * (1 + ROUNDING) + 1e-14 + near:
            yield "budget", f"leakage over budget by {loss - budget:.1e}"
        return
    over = answer.spent - Fraction(budget)
    if over > Fraction(budget) * Fraction(ROUNDING) and not (budget > 0 and over <= JUMP and _at_jump(problem, answer)):
        yield (
            "budget",
            f"distortion over budget by {float(over):.1e} (relative {float(over / Fraction(budget or 1)):.1e})",
        )


def _at_jump(problem: Problem, answer: Answer) -> bool:
    """Whether the little more that was spent is what a jump costs: to no leakage, or an inner one of maximal information."""
    return answer.leakage <= JUMP or problem.notion == "maximal-information"


def _prior_in_set(problem: Problem, result: Any) -> Iterator[tuple[str, str]]:
    prior = result.least_favorable_prior
    if prior is None:
        return
    prior = np.asarray(prior, float)
    if prior.shape != (problem.size,):
        yield "prior", f"its shape is {prior.shape}"
    elif _outside(prior, np.array(problem.priors)) > 1e-9:
        yield "prior", "it is outside the set"


def _outside(prior: np.ndarray, vertices: np.ndarray) -> float:
    """How far it is from the hull, in the largest difference in a letter; an upper bound, by a linear program."""
    from tests.oracles.tradeoffs import distance_to_hull

    nearest = float(np.abs(vertices - prior).max(axis=1).min())
    return nearest if nearest <= 1e-12 or len(vertices) == 1 else min(nearest, float(distance_to_hull(prior, vertices)))


# ---- the optimum


def _optimal(problem: Problem, answer: Answer) -> tuple[str, list[tuple[str, str]]]:
    """Which independent program judged the optimum, and what it found wrong."""
    if _is_linear(problem):
        return _against_exact(problem, answer)
    found: list[tuple[str, str]] = []
    by = []
    if (
        problem.notion in ("Sibson", "mutual-information")
        and (problem.order or 1.0) == 1
        and problem.is_plain
        and len(problem.priors) == 1
    ):
        by.append("closed form")
        found += _against_erokhin(problem, answer)
    for name, matrix in _channels(problem, answer):
        if name == "search" or (name == "response" and problem.regime == "class-I"):
            by.append(name)
        message = _beaten(problem, answer, matrix)
        if message:
            found.append(("optimum", f"{message} ({name})"))
            break
    return ", ".join(by), found


def _least_distortion(problem: Problem, quotient: Fraction, scale: Fraction) -> Fraction:
    """Exact least distortion at a ratio, for losses that compare probabilities."""
    kind = _kind(problem)
    if problem.is_plain and kind in ("DP", "approximate", "approximate-standard"):
        return (1 - Fraction(problem.delta)) * least_ratio_distortion(problem.priors, quotient)
    if problem.is_plain and kind == "maximal-leakage":
        return least_mass_distortion(problem.priors, quotient)
    program = Channel(kind, problem.priors, problem.distances, problem.pairs, problem.delta)
    return program.least_distortion(quotient, scale)


def _against_exact(problem: Problem, answer: Answer) -> tuple[str, list[tuple[str, str]]]:
    kind, budget = answer.budget
    scale = answer.spent if answer.spent > 0 else Fraction(1)
    try:
        if kind == "distortion":
            if math.isinf(answer.leakage):
                least = _least_distortion(problem, exponential(50.0), scale)
                return "exact", [("optimum", "infinite leakage, 50 nats are enough")] if least <= Fraction(
                    budget
                ) else []
            if answer.leakage <= 1e-9:
                return "exact", []
            quotient = exponential(answer.leakage, 1e-9)
            least = _least_distortion(problem, max(quotient, Fraction(1)), scale)
            if least <= Fraction(budget):
                return "exact", [
                    ("optimum", f"leakage {answer.leakage!r} is {_excess(problem, answer, scale):.2e} nats too much")
                ]
            return "exact", []
        if answer.spent == 0:
            return "exact", []
        quotient = exponential(min(budget, 5000.0), 4e-16 * max(1.0, min(budget, 5000.0)))
        least = _least_distortion(problem, max(quotient, Fraction(1)), scale)
        if answer.spent > least * (1 + Fraction(1e-9)):
            off = float(answer.spent / least - 1) if least else math.inf
            return "exact", [
                (
                    "optimum",
                    f"distortion {answer.distortion!r} is {off:.2e} (relative) too much, least {float(least)!r}",
                )
            ]
        return "exact", []
    except TooLong:
        return _against_floats(problem, answer)


def _against_floats(problem: Problem, answer: Answer) -> tuple[str, list[tuple[str, str]]]:
    """Where exact rationals take too long: a channel that HiGHS finds for a little less leakage, or at the leakage budget."""
    kind, budget = answer.budget
    if math.isinf(answer.leakage) or math.isinf(budget):
        return "", []
    quotient = (
        exponential(answer.leakage, min(1e-8, answer.leakage)) if kind == "distortion" else exponential(budget, 1e-11)
    )
    program = Channel(_kind(problem), problem.priors, problem.distances, problem.pairs, problem.delta)
    matrix = program.channel(max(quotient, Fraction(1)), answer.spent or Fraction(1))
    loss, rows = _loss(problem, matrix)[2], exact(matrix)
    spent = max(changed(rows, prior, problem.distances) for prior in problem.priors)
    if kind == "distortion":
        wrong = loss < answer.leakage - 1e-9 and spent <= Fraction(budget)
    else:
        wrong = loss <= budget and spent < answer.spent * (1 - Fraction(1e-9))
    message = (
        f"leakage {answer.leakage!r} and distortion {answer.distortion!r}, a channel has {loss!r} and {float(spent)!r}"
    )
    return "floats", [("optimum", message)] if wrong else []


def _excess(problem: Problem, answer: Answer, scale: Fraction) -> float:
    """By how many nats the leakage is too large, to a digit or so."""
    less, most = 1e-9, answer.leakage
    for _ in range(30):
        middle = math.sqrt(less * most)
        if _least_distortion(problem, max(exponential(answer.leakage, middle), Fraction(1)), scale) <= Fraction(
            answer.budget[1]
        ):
            less = middle
        else:
            most = middle
        if most < 1.05 * less:
            break
    return less


def _against_erokhin(problem: Problem, answer: Answer) -> list[tuple[str, str]]:
    kind, budget = answer.budget
    prior = problem.priors[0]
    if kind == "distortion":
        least = erokhin(prior, budget)
        return (
            [("optimum", f"leakage {answer.leakage!r}, closed form {least!r}")] if answer.leakage > least + 1e-6 else []
        )
    less = answer.distortion * (1 - 1e-6)
    if answer.spent > 0 and erokhin(prior, less) <= budget - _noise(budget):
        return [("optimum", f"distortion {answer.distortion!r}, in closed form less at leakage {budget!r}")]
    return []


def _channels(problem: Problem, answer: Answer) -> Iterator[tuple[str, np.ndarray]]:
    """Channels of other methods that might be better."""
    kind, budget = answer.budget
    size = problem.size
    yield "constant", _constant(problem)
    if problem.is_plain and kind == "distortion" and 0 < budget < 1 - 1 / size:
        even = np.full((size, size), budget / (size - 1))
        np.fill_diagonal(even, 1 - budget)
        yield "response", even
    if (
        (size > 5 and problem.number % 4)
        or answer.spent == 0
        or (answer.leakage <= 1e-9 and kind == "distortion")
        or (kind == "leakage" and not 0 < budget < 1e4)
    ):
        return
    pairs = problem.pairs if problem.notion == "Renyi" else None
    search = Smooth(problem.order or 1.0, np.array(problem.priors), np.array(problem.distances), pairs)
    start = (1 - 1e-6 * float(answer.spent)) * answer.matrix + 1e-6 * float(answer.spent) / size
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        aim = budget if kind == "distortion" else budget - min(2 * _noise(budget), budget / 2)
        found = search.improved(start, **{kind: aim}, steps=40)
    if np.isfinite(found).all():
        yield "search", found


def _constant(problem: Problem) -> np.ndarray:
    spent = [
        max(sum(p * row[j] for p, row in zip(prior, problem.distances, strict=True)) for prior in problem.priors)
        for j in range(problem.size)
    ]
    matrix = np.zeros((problem.size, problem.size))
    matrix[:, int(np.argmin(spent))] = 1.0
    return matrix


def _beaten(problem: Problem, answer: Answer, matrix: np.ndarray) -> str:
    """How a channel of another method beats the answer, if it does, judged by its own figures."""
    kind, budget = answer.budget
    spent = max(changed(exact(matrix), prior, problem.distances) for prior in problem.priors)
    if kind == "distortion":
        if spent > Fraction(budget):
            matrix = moved(matrix, float(Fraction(budget) / spent) * (1 - 1e-13))
        loss = _loss(problem, matrix)[2]
        if loss < answer.leakage - _nats(problem):
            return f"leakage {answer.leakage!r}, a channel within the budget leaks {loss!r}"
        return ""
    if spent < answer.spent * (1 - Fraction(1e-6)) and _loss(problem, matrix)[2] <= budget - _noise(budget):
        return f"distortion {answer.distortion!r}, a channel within the budget has {float(spent)!r}"
    return ""


# ---- further questions


def _further(problem: Problem, answer: Answer) -> list[tuple[str, str, str]]:
    """Round trips, neighboring budgets, curves, the prior alone: more answers, none of which may contradict another."""
    kind, budget = problem.budget
    others: list[Problem] = []
    try:
        if problem.extra == "round trip":
            other = "leakage" if kind == "distortion" else "distortion"
            value = answer.leakage + 2 * _noise(answer.leakage)
            if kind == "leakage":
                value = min(float(answer.spent) * (1 + 1e-14), max(map(max, problem.distances)))
            if math.isfinite(value):
                others = [problem.at(other, value)]
        elif problem.extra in ("less", "more") and math.isfinite(budget):
            factor = {"less": 1 - 2.0**-7, "more": 1 + 2.0**-7}[problem.extra]
            most = max(map(max, problem.distances)) if kind == "distortion" else math.inf
            others = [problem.at(kind, min(budget * factor, most))]
        elif problem.extra == "curve":
            return _on_curve(problem, answer)
        elif problem.extra == "prior":
            return _prior_alone(problem, answer)
        answers = [answer, *(_answer(other)[0] for other in others)]
    except Refused as refused:
        return [refused.args]
    failures = []
    for one in answers:
        for another in answers:
            if one is not another and (message := _contradiction(problem, one, another)):
                failures.append(("cross", f"{message}: {another.line}", one.line))
    return failures


def _contradiction(problem: Problem, one: Answer, another: Answer) -> str:
    """What is wrong with one answer if another is true: within its budget, and better."""
    kind, budget = one.budget
    nats = 2 * _nats(problem)
    if kind == "distortion" and another.spent <= Fraction(budget) and another.leakage < one.leakage - nats:
        return f"leakage {one.leakage!r} where {another.leakage!r} is enough"
    share = Fraction(2e-9 if _is_linear(problem) else 2e-6)
    if kind == "leakage" and another.leakage <= budget - _noise(budget) and another.spent < one.spent * (1 - share):
        return f"distortion {one.distortion!r} where {another.distortion!r} is enough"
    return ""


def _on_curve(problem: Problem, answer: Answer) -> list[tuple[str, str, str]]:
    kind, budget = problem.budget
    most = max(map(max, problem.distances)) if kind == "distortion" else math.inf
    further = min(2 * budget, most) if math.isfinite(budget) else 1.0
    line = problem.curve_code(budget, further)
    found = float(asked(line)[0][0])
    expected = answer.leakage if kind == "distortion" else answer.distortion
    linear = _is_linear(problem)
    off = (1e-9 if linear else 1e-6) * (1 if kind == "distortion" else abs(expected))
    failures = []
    if found != expected and not abs(found - expected) <= 2 * off:
        failures.append(("cross", f"the curve has {found!r}, the optimum {expected!r}", line))
    if linear and problem.is_plain and _kind(problem) in ("DP", "approximate", "approximate-standard"):
        figure = {"distortion": "leakage", "leakage": "distortion"}[kind]
        line = f"{problem.notion_code}.exact_curve({problem.source_code}).{figure}([{budget!r}])"
        found = float(asked(line)[0][0])
        if found != expected and not abs(found - expected) <= 2 * off:
            failures.append(("cross", f"the exact curve has {found!r}, the optimum {expected!r}", line))
    return failures


def _prior_alone(problem: Problem, answer: Answer) -> list[tuple[str, str, str]]:
    """The prior that is called least favorable, as a source set of its own: the same result."""
    prior = answer.result.least_favorable_prior
    if prior is None or len(problem.priors) == 1:
        return []
    alone = Problem(**{**problem.__dict__, "vertices": (tuple(map(float, prior)),)})
    other, _ = _answer(alone)
    if problem.budget[0] == "distortion":
        wrong = other.leakage < answer.leakage - 2 * _nats(problem)
        message = f"alone it forces {other.leakage!r} of {answer.leakage!r} nats"
    else:
        wrong = other.spent < answer.spent * (1 - Fraction(2e-9 if _is_linear(problem) else 2e-6))
        message = f"alone it forces distortion {other.distortion!r} of {answer.distortion!r}"
    return [("prior", message, answer.line)] if wrong else []
