"""Certificates as documents: how a result becomes one, and one a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from paper_repro.certificates.checker import FORMAT, MOST_LETTERS, Refused, check, seal
from paper_repro.certificates.curved import best_of_curved, best_under_constraints
from paper_repro.certificates.linear import (
    Channel,
    Found,
    best_mass_on_diagonal,
    best_of_channel,
    best_ratio_on_diagonal,
    endless,
    least_of_all,
    over_intervals,
    simplest_between,
)
from paper_repro.checks import as_fraction
from paper_repro.errors import CertificateError, Clause, printable, wrong
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    Notion,
    RenyiDP,
    SibsonInformation,
)
from paper_repro.notions.constrained import Constraints
from paper_repro.notions.ratios import is_clique
from paper_repro.sources import SourceSet

__all__ = ["MOST_PROVED", "certificate", "joined", "save", "written"]

# Significant digits that are tried, one after the other, where numbers need not be exact, and those of the bounds then.
_DIGITS, _BOUND = (30, 40, 60, None), 25
# A ratio that a leakage in nats means is the simplest fraction this close to its exponential, relatively.
_SAME = Fraction(4, 10**16)
# Fractions that as decimals are longer are written as fractions.
_MOST_DECIMALS = 60
MOST_PROVED = 64
"""Letters of channels whose programs are solved in fractions."""

Table = Sequence[Sequence[Fraction]]


def certificate(
    source: SourceSet,
    notion: Notion,
    *,
    distortion: Fraction | None = None,
    leakage: float | Fraction = math.inf,
    about: Any,
    costs: Table | None = None,
    constraints: Constraints | None = None,
) -> dict[str, Any]:
    """The certificate of the optimum at one budget: a document for :mod:`paper_repro.certificates.checker`.

    Parameters
    ----------
    source : SourceSet
        Taken as its exact rows or bounds, :attr:`SourceSet.exact` and :attr:`SourceSet.exact_bounds`.
    notion : Notion
    distortion : Fraction, a probability of change or an expected distance, or
    leakage : float or Fraction, in nats
        The budget. A linear notion takes the simplest fraction within 4e-16 of ``exp(leakage)`` for its ratio.
    about : OptimalMechanism
        What was found in floats: where an exact optimum is looked for, and not more.
    costs : M rows of M Fractions, optional
    constraints : Constraints, optional

    Raises
    ------
    ValueError
        If there can be no file: above 2,000 letters, or 64 where programs are over the whole channel; for some information and
        Renyi divergences under constraints; for moments above exp(4300); or if an infinite leakage follows from no zeros.
    CertificateError
        If the checker refuses what was found.

    Examples
    --------
    >>> from paper_repro import optimal_mechanism
    >>> found = optimal_mechanism(SourceSet(["1/2", "3/10", "1/5"]), distortion="3/10").certificate
    >>> found["points"][0]["least_ratio"], found["points"][0]["most_ratio"]
    ('14/3', '14/3')
    """
    if isinstance(notion, RenyiDP) and math.isinf(notion.alpha):
        notion = DifferentialPrivacy(notion.adjacency)
    if isinstance(notion, SibsonInformation) and math.isinf(notion.alpha):
        notion = MaximalLeakage()
    asked = _Asked(source, notion, distortion, leakage, about, costs, constraints)
    failure = "nothing was found"
    for vertices, found, digits in asked.candidates():
        point = {
            **{name: _text(value) for name, value in asked.budget.items()},
            f"least_{asked.figure}": _text(_rounded(found.least, digits and _BOUND, ROUND_FLOOR)),
            f"most_{asked.figure}": _text(_rounded(found.most, digits and _BOUND, ROUND_CEILING)),
            "mechanism": _written(found.mechanism, digits),
            **_written(found.proof, digits),
        }
        common = asked.common(vertices)
        document = {**common, "points": [{**point, "seal": seal(common, point)}]}
        try:
            check(document)
        except Refused as error:
            failure = str(error)
        else:
            return document
    raise CertificateError(
        f"No certificate: the checker refused what was found ({failure}). Use the gap of the result, or try a nearby "
        "distortion or leakage."
    )


class _Asked:
    """A problem with its budget."""

    def __init__(
        self,
        source: SourceSet,
        notion: Notion,
        distortion: Fraction | None,
        leakage: float | Fraction,
        about: Any,
        costs: Table | None,
        constraints: Constraints | None,
    ) -> None:
        self._source, self._notion, self._about, self._given = source, notion, about, costs
        self._distortion, self._leakage, self._limits = distortion, leakage, constraints
        size = source.alphabet_size
        graph = getattr(notion, "adjacency", None)
        ratios = isinstance(notion, DifferentialPrivacy | ApproximateDP)
        self._curved = isinstance(notion, MutualInformation | SibsonInformation | RenyiDP)
        if not self._curved and not ratios and not isinstance(notion, MaximalLeakage | MaximalInformation):
            raise ValueError(wrong("notion", "be one of this package for a certificate", notion, "See notion_by_name."))
        self._of_diagonal = (
            costs is None
            and constraints is None
            and (isinstance(notion, MaximalLeakage) or (ratios and is_clique(graph, size)))
        )
        most = MOST_LETTERS if self._of_diagonal else MOST_PROVED
        if size > most:
            raise ValueError(
                wrong(
                    "the number of categories",
                    f"be at most {most} for a certificate{'' if self._of_diagonal else ' where tables are proved'}",
                    size,
                    "Merge rare categories, so that the fractions fit a file.",
                )
            )
        self._loss = "leakage" if self._curved else "ratio"
        self._nats = math.inf if math.isinf(leakage) else as_fraction(leakage)
        self._ratio: Any = None if distortion is not None else math.inf if math.isinf(leakage) else _ratio(leakage)
        self.figure = "distortion" if distortion is None else self._loss
        spent = self._nats if self._curved else self._ratio
        self.budget = {self._loss: spent} if distortion is None else {"distortion": distortion}
        self._costs = costs or [[Fraction(i != j) for j in range(size)] for i in range(min(size, MOST_PROVED))]
        # Which rows are compared: below 0 where none are.
        self._weights: list[list[Fraction]] | None = None
        if graph is not None and not graph.is_clique:
            self._weights = [[Fraction(-1)] * size for _ in range(size)]
            pairs = graph.neighbor_pairs.tolist()
            for (i, k), weight in zip(pairs, graph.weights or [Fraction(1)] * len(pairs), strict=True):
                self._weights[i][k] = weight
        self._least: list[list[Fraction]] = []
        self._most: list[list[Fraction]] = []
        if constraints is not None:
            if constraints.floors.any():
                self._least = [[f * (i == j) for j in range(size)] for i, f in enumerate(constraints.exact_floors)]
            if constraints.forbidden:
                never = set(constraints.forbidden)
                self._most = [[Fraction((i, j) not in never) for j in range(size)] for i in range(size)]

    def common(self, vertices: Table) -> dict[str, Any]:
        """What the points of a file share."""
        notion, source = self._notion, self._source
        about: dict[str, Any] = {"name": notion.name}
        if isinstance(notion, ApproximateDP):
            about |= {"delta": _text(as_fraction(notion.delta)), "standard": bool(notion.standard)}
        if isinstance(notion, SibsonInformation | RenyiDP):
            about["order"] = _text(as_fraction(notion.alpha))
        if self._weights is not None:
            about["weights"] = _texts(self._weights)
        known: dict[str, Any] = {"name": source.name} if source.name else {}
        if source.bounds is not None:
            known |= dict(zip(("lower", "upper"), map(_texts, source.exact_bounds), strict=True))
        common = {"format": FORMAT, "source_set": {**known, "vertices": _texts(vertices)}, "notion": about}
        tables = {"costs": self._given, "at_least": self._least, "at_most": self._most}
        common |= {name: _texts(table) for name, table in tables.items() if table}
        return {**common, "invariant": True} if self._limits is not None and self._limits.invariant else common

    def candidates(self) -> Iterator[tuple[Table, Found, int | None]]:
        """Members of the source set and what may be a proof, best first; the digits to be kept, if not all."""
        endless_loss = self._distortion is not None and math.isinf(self._about.leakage)
        by_channel = endless_loss or (self._distortion is None and self._leakage in (0, math.inf))
        if (
            self._curved
            and not by_channel
            and (self._limits is None or self._about.multipliers or not self._distortion)
        ):
            nats = None if self._distortion is not None else as_fraction(self._leakage)
            vertices = self._source.exact
            best = best_of_curved if self._limits is None else best_under_constraints
            of = best(self._source, self._notion, self._distortion, nats, self._about, self._given)
            yield from ((vertices, found, None) for found in of)
            return
        if self._source.bounds is None:
            vertices, listed = self._source.exact, self._solved(self._source.exact)
        else:
            mixes = isinstance(self._notion, MaximalInformation)  # rows are compared with all vertices
            start = [self._start(), *self._source.exact] if mixes else [self._start()]
            listed_members, listed = over_intervals(self._solved, self._source.exact_bounds, start, self._costs, mixes)
            vertices = tuple(map(tuple, listed_members))
        for found in listed:
            exact = found.least == found.most
            yield from ((vertices, found, digits) for digits in ((None,) if exact else _DIGITS))

    def _start(self) -> tuple[Fraction, ...]:
        """A member of the intervals in which no letter is impossible that need not be."""
        lower, upper = self._source.exact_bounds
        room = sum(upper, Fraction(0)) - sum(lower, Fraction(0))
        share = (1 - sum(lower, Fraction(0))) / room if room else Fraction(0)
        return tuple(low + share * (high - low) for low, high in zip(lower, upper, strict=True))

    def _solved(self, vertices: Table) -> Iterable[Found]:
        notion, distortion, ratio = self._notion, self._distortion, self._ratio
        if ratio == math.inf:
            if self._of_diagonal:
                return [Found(Fraction(0), Fraction(0), {"distortions": [Fraction(0)] * len(vertices[0])})]
            return [least_of_all(self._channel(vertices))]
        if distortion is not None and math.isinf(self._about.leakage):
            if self._of_diagonal and len(vertices[0]) > MOST_PROVED:
                raise ValueError(
                    wrong(
                        "the number of categories",
                        f"be at most {MOST_PROVED} for a proof that the leakage is infinite",
                        len(vertices[0]),
                        "Merge rare categories.",
                    )
                )
            found = endless(self._channel(vertices), distortion)
            if found is None:
                raise ValueError(
                    "No certificate that the leakage is infinite: it does not follow from entries that must be 0, and no "
                    "other proof is known. Ask for a little more distortion."
                )
            mechanism = found.mechanism
            if self._of_diagonal:
                mechanism = {"distortions": [1 - row[i] for i, row in enumerate(mechanism["matrix"])]}
            return [replace(found, least=math.inf, most=math.inf, mechanism=mechanism)]  # type: ignore[arg-type]
        if self._curved and distortion is not None:  # enough for equal rows
            channel, nothing = self._channel(vertices), Fraction(0)
            return [Found(nothing, nothing, channel.mechanism(channel.optimum(Fraction(1))))]
        if self._of_diagonal:
            if isinstance(notion, MaximalLeakage):
                return [best_mass_on_diagonal(vertices, distortion, ratio)]
            delta = as_fraction(getattr(notion, "delta", 0))
            scaled = None if distortion is None else distortion / (1 - delta)
            found = best_ratio_on_diagonal(vertices, scaled, ratio)
            factor = 1 if ratio is None else 1 - delta
            return [replace(found, least=found.least * factor, most=found.most * factor)]
        return best_of_channel(self._channel(vertices), distortion, ratio, math.exp(min(self._about.leakage, 700.0)))

    def _channel(self, vertices: Table) -> Channel:
        notion, size, one = self._notion, len(vertices[0]), Fraction(1)
        mixes = isinstance(notion, MaximalInformation)
        outputs = isinstance(notion, MaximalLeakage | MutualInformation | SibsonInformation)
        if mixes:
            compared = [(i, v, one) for i in range(size) for v in range(len(vertices))]
        elif outputs:
            compared = [(i, size, one) for i in range(size)]
        else:
            table = self._weights or [[one] * size] * size
            compared = [(i, k, table[i][k]) for i in range(size) for k in range(size) if i != k and table[i][k] >= 0]
        return Channel(
            vertices,
            self._costs,
            compared,
            mixes,
            outputs,
            as_fraction(getattr(notion, "delta", 0)),
            bool(getattr(notion, "standard", False)),
            self._least,
            self._most,
            self._limits is not None and self._limits.invariant,
        )


def _ratio(leakage: float | Fraction) -> Fraction:
    nats = as_fraction(leakage)
    value = Fraction(Context(prec=40).exp(Context(prec=40).divide(Decimal(nats.numerator), Decimal(nats.denominator))))
    return max(Fraction(1), simplest_between(value * (1 - _SAME), value * (1 + _SAME)))


def _rounded(value: Fraction, digits: int | None, rounding: str = ROUND_HALF_EVEN) -> Fraction:
    """To so many significant digits."""
    if digits is None or math.isinf(value):
        return value
    return Fraction(
        Context(prec=digits, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    )


def _written(fields: Mapping[str, Any], digits: int | None) -> dict[str, Any]:
    return {name: _texts(_all_rounded(numbers, digits, name)) for name, numbers in fields.items()}


def _all_rounded(numbers: Any, digits: int | None, name: str = "") -> Any:
    """Numbers of any shape; what rounding changes of the sum of weights or of a row, its largest number takes up."""
    if isinstance(numbers, Fraction):
        return _rounded(numbers, digits)
    if isinstance(numbers, int):
        return numbers
    if isinstance(numbers, Mapping):
        return {key: _all_rounded(value, digits, key) for key, value in numbers.items()}
    found = [_all_rounded(number, digits, name) for number in numbers]
    if digits and name in ("matrix", "reference") and isinstance(found[0], Fraction):
        found[found.index(max(found))] += sum(numbers) - sum(found)
    return found


def _text(value: Any) -> str:
    if value == math.inf:
        return "infinity"
    places = 0
    rest = value.denominator
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest > 1 or places > _MOST_DECIMALS:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" * (value < 0)
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _texts(numbers: Any) -> Any:
    if isinstance(numbers, Fraction):
        return _text(numbers)
    if isinstance(numbers, Mapping):
        return {name: _texts(value) for name, value in numbers.items()}
    return numbers if isinstance(numbers, int) else [_texts(number) for number in numbers]


def joined(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One document with the points of all. Raises ValueError unless they have the rest in common.

    >>> joined([{"notion": {}, "points": [{"ratio": "2"}]}, {"notion": {}, "points": [{"ratio": "3"}]}])
    {'notion': {}, 'points': [{'ratio': '2'}, {'ratio': '3'}]}
    """
    shared = [{name: value for name, value in document.items() if name != "points"} for document in documents]
    if any(other != shared[0] for other in shared):
        raise ValueError(
            wrong(
                "documents",
                "be about one source set, notion and costs",
                Clause("several"),
                "Write them into several files.",
            )
        )
    return {**documents[0], "points": [point for document in documents for point in document["points"]]}


def written(document: Mapping[str, Any]) -> str:
    """The text of a file: a line for each point, so that differences read well.

    >>> print(written({"notion": {}, "points": [{"ratio": "2"}]}))
    {
    "notion": {},
    "points": [
    {"ratio": "2"}
    ]}
    """
    common = {name: value for name, value in document.items() if name != "points"}
    head = "".join(f'"{name}": {json.dumps(value, ensure_ascii=False)},\n' for name, value in common.items())
    points = ",\n".join(json.dumps(point, ensure_ascii=False) for point in document["points"])
    return f'{{\n{head}"points": [\n{points}\n]}}\n'


def save(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a document into a file, as :func:`written` has it.

    Raises
    ------
    TypeError, ValueError
        If the path is none.
    OSError
        If the file cannot be written; the message says why.

    >>> save({"points": []}, "no such folder/proof.json")
    Traceback (most recent call last):
    FileNotFoundError: cannot write no such folder/proof.json: No such file or directory. Check the folder and its permissions.
    """
    if not isinstance(path, str | Path):
        raise TypeError(wrong("path", "be the path of a file, as text or a Path", path))
    _write(written(document), path)


def _write(text: str, path: str | Path) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        said = f"cannot write {printable(str(path))}: {error.strerror}. Check the folder and its permissions."
        raise type(error)(said) from None
    except ValueError:  # a NUL
        raise ValueError(wrong("path", "be the path of a file", path)) from None
