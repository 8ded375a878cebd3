"""A checker of certificates that trusts nobody: the standard library alone, exact rationals, and nothing is solved.

Run it as python paper_repro/certificates/checker.py FILE... A point is accepted if its mechanism, evaluated here, keeps budget
and ``most``, and its multipliers prove ``least``, whatever they are, by the inequalities of ``__init__.py`` beside this file.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

FORMAT = "privacy-distortion certificate, version 1"
_INFORMATION = ("mutual information", "Sibson information")
_PRIVACY = ("differential privacy", "approximate differential privacy", "Renyi differential privacy")
_NUMBER = re.compile(r"(-?[0-9]{1,2000})(?:/(0*[1-9][0-9]{0,2000})|(?:\.([0-9]{1,2000}))?(?:e(-?[0-9]{1,3}))?)")
_DOWN, _UP = (Context(prec=50, rounding=way, Emax=9999, Emin=-9999) for way in (ROUND_FLOOR, ROUND_CEILING))
_Row = list[Fraction]


class Refused(ValueError):
    """What is wrong with a certificate, and where."""


def _need(holds: bool, path: str, problem: str) -> None:
    if not holds:
        raise Refused(f"{path} {problem}")


class _Fields:
    """An object of the file: every field has to be read, so that nothing is there that is not checked."""

    def __init__(self, content: Any, path: str) -> None:
        _need(type(content) is dict, path, "must be an object")
        self.content, self.path, self.left = content, path, set(content)

    def get(self, name: str, kind: type) -> Any:
        self.left.discard(name)
        _need(name in self.content, f"{self.path}.{name}", "is missing")
        _need(type(self.content[name]) is kind, f"{self.path}.{name}", f"must be of type {kind.__name__}")
        return self.content[name]

    def numbers(self, name: str, *shape: int, least: int | None = 0, total: int = 0) -> Any:
        """Numbers of this shape, none below the least; those of each row sum to the total, if it is not 0."""
        return _numbers(self.get(name, list if shape else str), f"{self.path}.{name}", shape, least, total)

    def end(self) -> None:
        _need(not self.left, f"{self.path}.{min(self.left, default='')}", "has no meaning here")


def _numbers(content: Any, path: str, shape: tuple[int, ...] = (), least: int | None = 0, total: int = 0) -> Any:
    if shape:
        _need(type(content) is list and len(content) == shape[0] > 0, path, f"must be a list of length {shape[0]}")
        row = [_numbers(entry, f"{path}[{i}]", shape[1:], least, total) for i, entry in enumerate(content)]
        _need(not total or len(shape) > 1 or sum(row) == total, path, f"must sum to {total}")
        return row
    found: Any = _NUMBER.fullmatch(content) if type(content) is str else None
    _need(found, path, f'must be a number such as "1/3" or "0.25", got {json.dumps(content)[:40]}')
    whole, below, digits, power = found.groups(default="")
    value = Fraction(int(whole + digits), int(below or 1)) * Fraction(10) ** (int(power or 0) - len(digits))
    _need(least is None or value >= least, path, f"is below {least}")
    return value


def _outward(function: str, value: Fraction, way: Context) -> Fraction:
    """Logarithm (ln) or exponential, from below or from above."""
    result = getattr(way, function)(way.divide(Decimal(value.numerator), Decimal(value.denominator)))
    return Fraction(result and (way.next_plus(result) if way is _UP else way.next_minus(result)))


def _exp(value: Fraction, way: Context) -> Fraction:
    _need(value < 10**4, "an exponent", "is too large")
    return _outward("exp", max(value, Fraction(-(10**4))), way) if way is _UP or value > -(10**4) else Fraction(0)


def _power(value: Fraction, positive: Fraction, way: Context) -> Fraction:
    return value if value in (0, 1) else _exp(positive * _outward("ln", value, way), way)


def _dot(one: _Row, other: _Row) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _plus(values: Any) -> Fraction:
    return sum((value for value in values if value > 0), Fraction(0))


class _Problem:
    def __init__(self, document: Any) -> None:
        fields = _Fields(document, "certificate")
        _need(fields.get("format", str) == FORMAT, "certificate.format", f"must be {FORMAT!r}")
        source, notion = (_Fields(fields.get(name, dict), name) for name in ("source_set", "notion"))
        rows = source.get("vertices", list)
        self.size = size = len(rows[0]) if rows and type(rows[0]) is list else 0
        self.vertices = source.numbers("vertices", len(rows), size, total=1)
        source.left.discard("name")
        self.name = name = notion.get("name", str)
        known = (*_INFORMATION, *_PRIVACY, "maximal information", "maximal leakage")
        _need(name in known, "notion.name", f"is unknown: {name[:40]!r}")
        self.delta = notion.numbers("delta") if name == _PRIVACY[1] else Fraction(0)
        _need(self.delta < 1, "notion.delta", "must be below 1")
        self.standard = name == _PRIVACY[1] and notion.get("standard", bool)
        # Order 0 stands for notions of ratios.
        self.order = notion.numbers("order", least=1) if name[0] in "SR" else Fraction(name in _INFORMATION)
        complete = name not in _PRIVACY or "neighbors" not in notion.content
        edges = [[k, i] for i in range(size) for k in range(i)] if complete else notion.get("neighbors", list)
        for pair in edges:
            good = type(pair) is list and list(map(type, pair)) == [int, int] and -1 < min(pair) < max(pair) < size
            _need(good, "notion.neighbors", f"must be pairs of different numbers below {size}, got {str(pair)[:40]}")
        self.pairs = [(i, k) for a, b in edges for i, k in ((a, b), (b, a))]
        hamming, apart = "costs" not in fields.content, [[Fraction(i != j) for j in range(size)] for i in range(size)]
        self.costs = apart if hamming else fields.numbers("costs", size, size)
        self.diagonal = hamming and complete and name in (*_PRIVACY[:2], "maximal leakage")
        self.points = fields.get("points", list)
        list(map(_Fields.end, (source, notion, fields)))
        self.common = {field: document[field] for field in document if field != "points"}
        # What a row is compared with, by number: another row, or the rows as a vertex mixes them.
        self.others, self.compared = [[(k, Fraction(1))] for k in range(size)], set(self.pairs)
        if name == "maximal information":
            self.others = [[(k, p) for k, p in enumerate(vertex) if p] for vertex in self.vertices]
            self.compared = {(i, v) for i in range(size) for v in range(len(rows))}

    def mixed(self, fields: _Fields, name: str, total: int = 0) -> tuple[_Row, Fraction]:
        """A combination of the vertices, and the sum of its coefficients."""
        factors = fields.numbers(name, len(self.vertices), total=total)
        return [_dot(factors, list(column)) for column in zip(*self.vertices, strict=True)], sum(factors)

    def check_mechanism(self, fields: _Fields, distortion: Fraction, loss: Fraction) -> None:
        """Refuse a mechanism of more distortion or loss than this."""
        if self.diagonal:
            changed = fields.numbers("distortions", self.size)
            kept = self.size - sum(changed)
            _need(max(changed) <= 1 <= kept, fields.path, "must keep one letter's worth, and no letter below 0")
            spent = (1 - self.delta) * max(_dot(vertex, changed) for vertex in self.vertices)
            within = kept <= loss if self.name == "maximal leakage" else all(kept - 1 + x <= loss * x for x in changed)
        else:
            matrix = fields.numbers("matrix", self.size, self.size, total=1)
            spent = max(_dot(vertex, list(map(_dot, matrix, self.costs))) for vertex in self.vertices)
            if self.order:
                if self.name in _INFORMATION:
                    reference = fields.numbers("reference", self.size, total=1)
                    moments = [self.moment(row, reference) for row in matrix]
                    worst = max(_dot(vertex, moments) for vertex in self.vertices)
                else:
                    worst = max(self.moment(matrix[i], matrix[k]) for i, k in self.pairs)
                within = (worst if self.order == 1 else _outward("ln", worst, _UP)) <= loss * (self.order - 1 or 1)
            elif self.name == "maximal leakage":
                within = sum(max(column) for column in zip(*matrix, strict=True)) <= loss
            else:
                within = all(self.excess(matrix, *pair, loss) <= self.delta for pair in self.compared)
        fields.end()
        _need(spent <= distortion, fields.path, f"has distortion {float(spent):.17g}, not {float(distortion):.17g}")
        _need(within, fields.path, f"leaks more than {float(loss):.17g}")

    def excess(self, matrix: list[_Row], i: int, other: int, ratio: Fraction) -> Fraction:
        over = [q - ratio * sum(p * matrix[k][j] for k, p in self.others[other]) for j, q in enumerate(matrix[i])]
        return _plus(over if self.standard else [max(over)])

    def moment(self, row: _Row, other: _Row) -> Fraction:
        """sum_j q_j (q_j / r_j)^(order - 1), or for order 1 q_j log(q_j / r_j), from above."""
        pairs = [(q, r) for q, r in zip(row, other, strict=True) if q]
        _need(all(r for _, r in pairs), "a mechanism", "leaks without bound")
        return sum((q * self.term(q / r) for q, r in pairs), Fraction(0))

    def term(self, ratio: Fraction) -> Fraction:
        return _outward("ln", ratio, _UP) if self.order == 1 else _power(ratio, self.order - 1, _UP)

    def proves(self, point: _Fields, by_distortion: bool, budget: Fraction, least: Fraction) -> bool:
        """Whether the multipliers prove the least loss at a distortion, or the least distortion at a loss."""
        order, size, delta = self.order, self.size, self.delta
        if not (order or self.diagonal or self.name == "maximal leakage"):
            return self.compares(point, by_distortion, budget, least)
        ratios = self.diagonal and self.name in _PRIVACY
        if ratios and not by_distortion:
            falling = sorted(self.mixed(point, "weights", 1)[0], reverse=True)
            return least <= (1 - delta) * (1 - budget * max(sum(falling[: n + 1]) / (budget + n) for n in range(size)))
        kappa, total = self.mixed(point, "multipliers")
        value, load, rate = size - _plus(1 - k for k in kappa), Fraction(1), Fraction(0)
        penalties = [[k * d for d in row] for k, row in zip(kappa, self.costs, strict=True) if not self.diagonal]
        if ratios:
            slope = value - 1 - budget / (1 - delta) * total
            constant = min(1 - min(letter) for letter in zip(*self.vertices, strict=True))
            return constant > budget / (1 - delta) and slope >= 0 and least <= 1 + slope + _plus(k - 1 for k in kappa)
        if self.name in _PRIVACY:
            value, rate = self.tangent(point, penalties), order - 1
        elif not self.diagonal:
            prior = self.mixed(point, "weights", 1)[0] if order else [Fraction(1)] * size
            rows = point.numbers("rows", size, least=None)
            known = [(p, u, c) for p, u, c in zip(prior, rows, penalties, strict=True) if p]
            value = sum(u for _, u, _ in known)
            if order == 1:
                _need(all(u > 0 for _, u, _ in known), f"{point.path}.rows", "must be above 0")
                loads = [sum(p * u * _exp(-c[j] / p, _UP) for p, u, c in known) for j in range(size)]
                value = sum(p * _outward("ln", u, _DOWN) for p, u, _ in known) - _outward("ln", max(loads), _UP)
            elif order:
                rate, beta = 1 - 1 / order, order / (order - 1)
                norms = [sum(p * _power(_plus([u - c[j]]) / p, beta, _UP) for p, u, c in known) for j in range(size)]
                load = _power(Fraction(max(norms)), rate, _UP)
            else:
                load = max(_plus(u - c[j] for _, u, c in known) for j in range(size))
        # Now value <= load * loss + D sum y, where the loss is what is claimed, or with a rate exp(rate * nats).
        if not by_distortion:
            return total > 0 and least * total <= value - load * (_exp(rate * budget, _UP) if rate else budget)
        left = value - budget * total
        if rate and left > 0 < load:
            return rate * least <= _outward("ln", left / load, _DOWN)
        return least * load <= left

    def tangent(self, point: _Fields, sums: list[_Row]) -> Fraction:
        """sum_i min_j (G_ij + C_ij), from the C_ij."""
        at, order = point.numbers("tangent", self.size, self.size), self.order
        _need(min(map(min, at)) > 0, f"{point.path}.tangent", "must be above 0")
        for (i, k), weight in zip(self.pairs, point.numbers("pairs", len(self.pairs), total=1), strict=True):
            for j in range(self.size) if weight else ():
                s = at[i][j] / at[k][j]
                rise = 1 + _outward("ln", s, _DOWN) if order == 1 else order * _power(s, order - 1, _DOWN)
                sums[i][j] += weight * rise
                sums[k][j] -= weight * (s if order == 1 else (order - 1) * _power(s, order, _UP))
        return sum(map(min, sums), Fraction(0))

    def lines(self, fields: _Fields) -> tuple[list[_Row], list[_Row], Fraction]:
        """A, B and delta F of comparisons."""
        prior, _ = self.mixed(fields, "weights", 1)
        constant = [[p * d for d in row] for p, row in zip(prior, self.costs, strict=True)]
        falling = [[Fraction(0)] * self.size for _ in constant]
        seen: dict[tuple[int, int], dict[int, Fraction]] = {}
        for place, entry in enumerate(fields.get("comparisons", list)):
            path = f"{fields.path}.comparisons[{place}]"
            _need(type(entry) is list and list(map(type, entry)) == [int, int, int, str], path, "must be [i, k, j, f]")
            (i, k, j), weight = entry[:3], _numbers(entry[3], path)
            _need((i, k) in self.compared and 0 <= j < self.size, path, "compares what is not compared")
            _need(j not in seen.setdefault((i, k), {}), path, "is there twice")
            seen[i, k][j] = weight
            constant[i][j] += weight
            for row, p in self.others[k]:
                falling[row][j] += weight * p
        sums = (max(row.values()) if self.standard else sum(row.values()) for row in seen.values())
        return constant, falling, self.delta * sum(sums)

    def compares(self, point: _Fields, by_distortion: bool, budget: Fraction, least: Fraction) -> bool:
        (constant, falling, spared), ratio = self.lines(point), least if by_distortion else budget
        values = [[a - ratio * b for a, b in zip(*rows, strict=True)] for rows in zip(constant, falling, strict=True)]
        bound, step, (other, steeper, more) = sum(map(min, values), -spared), Fraction(1), (constant, falling, spared)
        if "beside" in point.content:
            fields = _Fields(point.get("beside", dict), f"{point.path}.beside")
            step, (other, steeper, more) = fields.numbers("step"), self.lines(fields)
            fields.end()
        rise = spared - more
        for i, row in enumerate(values):
            turned = [other[i][j] - ratio * steeper[i][j] + step * falling[i][j] - value for j, value in enumerate(row)]
            rise += min(change for change, value in zip(turned, row, strict=True) if value == min(row))
        return bound > budget or (bound == budget and rise > 0 < step) if by_distortion else bound >= least


def seal(common: dict[str, Any], point: dict[str, Any]) -> str:
    """Digest of a point without its seal, and of all that the points share."""
    return hashlib.sha256(json.dumps([common, {**point, "seal": ""}], sort_keys=True).encode()).hexdigest()[:32]


def check(document: Any) -> list[str]:
    """The claims of a certificate, one a point, all proved: distortions, ratios, nats. Raises Refused if one is not."""
    problem, claims = _Problem(document), []
    for number, content in enumerate(problem.points):
        point = _Fields(content, f"points[{number}]")
        _need(point.get("seal", str) == seal(problem.common, content), f"{point.path}.seal", "does not fit")
        loss, by_distortion = "leakage" if problem.order else "ratio", "distortion" in content
        given, figure = ("distortion", loss) if by_distortion else (loss, "distortion")
        names = given, f"least_{figure}", f"most_{figure}"
        budget, least, most = (point.numbers(name, least=int("ratio" in name)) for name in names)
        mechanism = _Fields(point.get("mechanism", dict), f"{point.path}.mechanism")
        problem.check_mechanism(mechanism, *((budget, most) if by_distortion else (most, budget)))
        proved = least == (figure == "ratio") or problem.proves(point, by_distortion, budget, least)
        _need(proved, f"{point.path}.{names[1]}", "is not proved by the multipliers")
        point.end()
        ends = " to ".join(dict.fromkeys(content[name] for name in names[1:]))
        claims.append(f"{problem.name}, {given} {content[given]}: least {figure} {ends}")
    return claims


def report(paths: Sequence[str]) -> int:
    """Print the claims of files, or in a line why one is refused; the number of these."""
    refused = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print(*(f"{path}: {claim}" for claim in check(json.load(file))), sep="\n")
        except (OSError, ValueError, RecursionError, ArithmeticError) as error:
            refused += 1
            kind = "" if isinstance(error, Refused) else f"no certificate, {type(error).__name__}: "
            print(" ".join(f"{path} refused: {kind}{error}"[:400].split()), file=sys.stderr)
    return refused


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:]) > 0)
