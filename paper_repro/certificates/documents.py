"""Certificates as documents: how a result becomes one, and one a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

from paper_repro.certificates.checker import FORMAT, Refused, check, seal
from paper_repro.certificates.curved import best_of_curved
from paper_repro.certificates.linear import (
    Comparison,
    Found,
    best_of_comparisons,
    best_of_mass,
    best_ratio_on_diagonal,
    simplest_between,
)
from paper_repro.checks import as_fraction
from paper_repro.errors import CertificateError
from paper_repro.graphs import Adjacency
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
from paper_repro.notions.ratios import is_clique, neighbors
from paper_repro.sources import SourceSet

__all__ = ["certificate", "joined", "written"]

# Significant digits that are tried, one after the other, where numbers need not be exact, and those of the bounds then.
_DIGITS, _BOUND = (30, 40, 60), 25
# A ratio that a leakage in nats means is the simplest fraction this close to its exponential, relatively.
_SAME = Fraction(4, 10**16)
# Fractions that as decimals are longer are written as fractions.
_MOST_DECIMALS = 60
_MOST_LETTERS = 2000


def certificate(
    source: SourceSet,
    notion: Notion,
    *,
    distortion: Fraction | None = None,
    leakage: float = math.inf,
    about: Any,
    costs: Sequence[Sequence[Fraction]] | None = None,
) -> dict[str, Any]:
    """The certificate of the optimum at one budget: a document for :mod:`paper_repro.certificates.checker`.

    Parameters
    ----------
    source : SourceSet
        Taken as its exact rows, :attr:`SourceSet.exact`.
    notion : Notion
    distortion : Fraction, a probability of change or an expected distance, or
    leakage : float, in nats
        The budget. A linear notion takes the simplest fraction within 4e-16 of ``exp(leakage)`` for its ratio.
    about : OptimalMechanism
        What was found in floats: where an exact optimum is looked for, and not more.
    costs : M rows of M Fractions, optional

    Raises
    ------
    CertificateError
        If the leakage is infinite, and nothing is to be proved; above 2,000 letters; or if the checker refuses what was found.

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
    if math.isinf(about.leakage if distortion is not None else leakage):
        raise CertificateError("where the leakage may be infinite there is nothing to prove")
    if source.alphabet_size > _MOST_LETTERS:
        raise CertificateError(
            f"certificates are for at most {_MOST_LETTERS} letters, whose fractions fit a file, got {source.alphabet_size}; "
            "put rare letters together"
        )
    common, failure = _common(source, notion, costs), ""
    budget, figure, candidates = _candidates(source, notion, distortion, leakage, about, costs)
    for found, digits in candidates:
        point = {
            **{name: _text(value) for name, value in budget.items()},
            f"least_{figure}": _text(_rounded(found.least, digits and _BOUND, ROUND_FLOOR)),
            f"most_{figure}": _text(_rounded(found.most, digits and _BOUND, ROUND_CEILING)),
            "mechanism": _written(found.mechanism, digits),
            **_written(found.proof, digits),
        }
        document = {**common, "points": [{**point, "seal": seal(common, point)}]}
        try:
            check(document)
        except Refused as error:
            failure = str(error)
        else:
            return document
    raise CertificateError(f"the checker refused what was found: {failure}")


def _candidates(
    source: SourceSet,
    notion: Notion,
    distortion: Fraction | None,
    leakage: float,
    about: Any,
    costs: Sequence[Sequence[Fraction]] | None,
) -> tuple[dict[str, Fraction], str, Iterable[tuple[Found, int | None]]]:
    """The budget, the name of what is bounded, and what may be a proof, best first; the digits to be kept, if not all."""
    if isinstance(notion, MutualInformation | SibsonInformation | RenyiDP):
        nats = None if distortion is not None else as_fraction(leakage)
        curved = best_of_curved(source, notion, distortion, nats, about, costs)
        given = {"distortion": distortion} if nats is None else {"leakage": nats}
        return given, "leakage" if nats is None else "distortion", ((found, None) for found in curved)  # type: ignore[return-value]
    ratio = None if distortion is not None else _ratio(leakage)
    given = {"distortion": distortion} if ratio is None else {"ratio": ratio}
    linear = _linear(source, notion, distortion, ratio, math.exp(about.leakage), costs)
    tried = ((found, digits) for found in linear for digits in ((None,) if found.least == found.most else _DIGITS))
    return given, "ratio" if ratio is None else "distortion", tried  # type: ignore[return-value]


def _common(source: SourceSet, notion: Notion, costs: Sequence[Sequence[Fraction]] | None) -> dict[str, Any]:
    about: dict[str, Any] = {"name": notion.name}
    if isinstance(notion, ApproximateDP):
        about |= {"delta": _text(as_fraction(notion.delta)), "standard": bool(notion.standard)}
    if isinstance(notion, SibsonInformation | RenyiDP):
        about["order"] = _text(as_fraction(notion.alpha))
    adjacency: Adjacency | None = getattr(notion, "adjacency", None)
    if adjacency is not None and adjacency.weights is not None:
        raise CertificateError(
            f"certificates in files are for neighbors without weights, not for {adjacency!r}; the gap of the result is its proof"
        )
    if adjacency is not None and not adjacency.is_clique:
        about["neighbors"] = adjacency.edges.tolist()
    name = {"name": source.name} if source.name else {}
    common = {"format": FORMAT, "source_set": {**name, "vertices": _texts(source.exact)}, "notion": about}
    return common if costs is None else {**common, "costs": _texts(costs)}


def _linear(
    source: SourceSet,
    notion: Notion,
    distortion: Fraction | None,
    ratio: Fraction | None,
    about: float,
    costs: Sequence[Sequence[Fraction]] | None,
) -> Iterable[Found]:
    vertices, size = source.exact, source.alphabet_size
    if isinstance(notion, MaximalLeakage):
        return [best_of_mass(vertices, costs, distortion, ratio)]
    delta = as_fraction(notion.delta) if isinstance(notion, ApproximateDP) else Fraction(0)
    if isinstance(notion, DifferentialPrivacy | ApproximateDP):
        if costs is None and is_clique(notion.adjacency, size):
            scaled = None if distortion is None else distortion / (1 - delta)
            found = best_ratio_on_diagonal(vertices, scaled, ratio)
            factor = 1 if ratio is None else 1 - delta
            return [replace(found, least=found.least * factor, most=found.most * factor)]
        compared: Iterator[Comparison] = (
            Comparison(int(i), int(k), {int(k): Fraction(1)}) for i, k in neighbors(notion.adjacency, size)
        )
    elif isinstance(notion, MaximalInformation):
        compared = (
            Comparison(i, v, {k: p for k, p in enumerate(vertex) if p})
            for v, vertex in enumerate(vertices)
            for i in range(size)
        )
    else:
        raise CertificateError(f"no certificates are known for {notion!r}")
    distances = costs or [[Fraction(i != j) for j in range(size)] for i in range(size)]
    standard = isinstance(notion, ApproximateDP) and bool(notion.standard)
    return best_of_comparisons(vertices, distances, compared, distortion, ratio, delta, standard, about)


def _ratio(leakage: float) -> Fraction:
    value = Fraction(Context(prec=40).exp(Decimal(leakage)))
    return max(Fraction(1), simplest_between(value * (1 - _SAME), value * (1 + _SAME)))


def _rounded(value: Fraction, digits: int | None, rounding: str = ROUND_HALF_EVEN) -> Fraction:
    """To so many significant digits."""
    if digits is None:
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
    if digits and name in ("matrix", "weights") and isinstance(found[0], Fraction):
        found[found.index(max(found))] += sum(numbers) - sum(found)
    return found


def _text(value: Fraction | None) -> str:
    assert value is not None
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
    """One document with the points of all, which must have the rest in common.

    >>> joined([{"notion": {}, "points": [{"ratio": "2"}]}, {"notion": {}, "points": [{"ratio": "3"}]}])
    {'notion': {}, 'points': [{'ratio': '2'}, {'ratio': '3'}]}
    """
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
