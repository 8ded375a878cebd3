"""A checker of certificates that trusts nobody: the standard library alone, exact rationals, and nothing is solved.

Run it as python checker.py FILE... Its multipliers, whatever they are, prove by the inequalities of ``__init__.py`` beside it.
"""

import hashlib
import json
import math
import re
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

FORMAT = "privacy-distortion certificate, version 2"
NOTIONS = ("mutual information", "Sibson information", "Renyi differential privacy", "differential privacy",
           "approximate differential privacy", "maximal leakage", "maximal information")  # fmt: skip
_NUMBER = re.compile(r"-?[0-9]{1,2000}(/0*[1-9][0-9]{0,2000}|(\.[0-9]{1,2000})?(e-?[0-9]{1,3})?)")
DOWN, UP = (Context(prec=50, rounding=way, Emax=9999, Emin=-9999) for way in (ROUND_FLOOR, ROUND_CEILING))
# Characters, letters, those of tables, bits of what all denominators divide and of exact powers: nothing takes for ever.
_MOST_TEXT, MOST_LETTERS, MOST_ROWS, _MOST_BITS, LONG = 10**8, 2000, 300, 10**5, 10**4


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

    def get(self, name: str, kind: type, default: Any = None) -> Any:
        self.left.discard(name)
        found = self.content.get(name, default)
        _need(type(found) is kind, f"{self.path}.{name}", f"is missing, or not of type {kind.__name__}")
        return found

    def numbers(self, name: str, *shape: int, least: int | None = 0, total: int = 0) -> Any:
        return _numbers(self.get(name, list if shape else str), f"{self.path}.{name}", shape, least, total)

    def end(self) -> None:
        _need(not self.left, f"{self.path}.{min(self.left, default='')[:40]}", "has no meaning here")


def _numbers(content: Any, path: str, shape: tuple[int, ...] = (), least: int | None = 0, total: int = 0) -> Any:
    if shape:
        _need(type(content) is list and len(content) == shape[0], path, f"must be a list of length {shape[0]}")
        row = [_numbers(entry, f"{path}[{i}]", shape[1:], least, total) for i, entry in enumerate(content)]
        _need(not total or len(shape) > 1 or sum(row) == total, path, f"must sum to {total}")
        return row
    if content == "infinity" and path.endswith(("ratio", "leakage")):
        return math.inf
    good = type(content) is str and bool(_NUMBER.fullmatch(content))
    _need(good, path, f'must be a number such as "1/3" or "0.25", got {json.dumps(content)[:40]}')
    value = Fraction(content)
    _need((least is None or value >= least) and abs(value) < 10**308, path, f"is below {least}, or not below 1e308")
    return value


def _outward(function: str, value: Any, way: Context) -> Fraction:
    """Logarithm (ln) or exponential, from below or from above."""
    _need(function == "ln" or value < 10**4, "an exponent", "is too large")
    result = getattr(way, function)(way.divide(Decimal(value.numerator), Decimal(value.denominator)))
    exact = value == (function == "ln")  # the logarithm of 1, the exponential of 0
    return Fraction(result if exact else way.next_plus(result) if way is UP else way.next_minus(result))


def power(value: Fraction, positive: Fraction, way: Context, most_bits: int = 0) -> Fraction:
    """A power, from above or from below; without rounding if the exponent is whole and the result not too long."""
    if positive.denominator == 1 and positive * value.numerator.bit_length() < most_bits:
        return value ** int(positive)
    return value if value in (0, 1) else _outward("exp", positive * _outward("ln", value, way), way)


def _dot(one: Any, other: Any) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True) if x and y), Fraction(0))


def least_mean(keys: list[Any], lower: Any, upper: Any) -> list[Fraction]:
    """The distribution between two bounds with as much as they allow where the keys are least."""
    row, left = list(lower), 1 - sum(lower)
    for place in sorted(range(len(row)), key=keys.__getitem__):
        row[place] += min(upper[place] - lower[place], left)
        left -= row[place] - lower[place]
    return row


class _Problem:
    def __init__(self, document: Any) -> None:
        fields, zero, one = _Fields(document, "certificate"), Fraction(0), Fraction(1)
        self.bound(common := {field: document[field] for field in document if field != "points"})
        _need(fields.get("format", str) == FORMAT, "certificate.format", f"must be {FORMAT!r}")
        source, notion = (_Fields(fields.get(name, dict), name) for name in ("source_set", "notion"))
        rows, _ = source.get("vertices", list), source.get("name", str, "")
        self.size = size = len(rows[0]) if rows and type(rows[0]) is list else 0
        self.vertices = source.numbers("vertices", len(rows), size, total=1)
        self.bounds = [source.numbers(end, size) for end in ("lower", "upper")] if source.left else []
        good = (a <= p <= b for v in self.vertices if self.bounds for p, a, b in zip(v, *self.bounds, strict=True))
        _need(all(good), "source_set.vertices", "leave the intervals")
        self.name, letters = notion.get("name", str), range(min(size, MOST_ROWS))
        _need(self.name in NOTIONS, "notion.name", f"is unknown: {self.name[:40]!r}")
        number = NOTIONS.index(self.name)
        self.outputs, self.mixes, self.mass = number in (0, 1, 5), number == 6, number == 5
        others = range(len(rows)) if self.mixes else [size] if self.outputs else letters
        self.compared = {(i, k): one for i in letters for k in others if self.mixes or i != k}  # powers of the ratio
        if given := number in (2, 3, 4) and "weights" in notion.left:
            asked = notion.numbers("weights", size, size, least=None)
            self.compared = {(i, k): asked[i][k] for i, k in self.compared if asked[i][k] >= 0}
            _need(number > 2 or {*self.compared.values()} <= {one}, "notion.weights", "must be 1, or below 0 for none")
        self.loads = [Fraction(not self.outputs or any(v[i] for v in self.vertices)) for i, _ in self.compared]
        self.order = notion.numbers("order", least=1) if number in (1, 2) else Fraction(number == 0)  # 0: ratios
        self.delta = notion.numbers("delta") if number == 4 else zero
        self.standard = number == 4 and notion.get("standard", bool)
        _need(self.delta < 1, "notion.delta", "must be below 1")
        self.diagonal = number in (3, 4, 5) and not given and fields.left == {"points"}
        self.points, most = fields.get("points", list), MOST_LETTERS if self.diagonal else MOST_ROWS
        _need(0 < size <= most and self.points != [], "certificate", f"must have points, and 1 to {most} letters")
        tables = {end: fields.numbers(end, size, size) for end in {"costs", "at_least", "at_most"} & fields.left}
        self.costs = tables.get("costs", [[Fraction(i != j) for j in range(size)] for i in letters])
        self.lower = [*tables.get("at_least", [[zero] * size] * size), [zero] * size]
        self.upper = [*tables.get("at_most", [[one] * size] * size), [one] * size]
        self.common, self.stays = common, self.vertices if fields.get("invariant", bool, False) else []
        list(map(_Fields.end, (source, notion, fields)))

    def bound(self, content: Any) -> None:
        common = 1
        for found in set(re.findall("/([0-9]{1,2001})", json.dumps(content))):
            common = math.lcm(common, int(found) or 1)
            _need(common.bit_length() < _MOST_BITS, "certificate", "has too long a common denominator")

    def worst(self, values: list[Fraction]) -> Fraction:
        """The largest mean over the source set."""
        ends = [least_mean([-value for value in values], *self.bounds)] if self.bounds else self.vertices
        return max(_dot(vertex, values) for vertex in ends)

    def mixed(self, fields: _Fields, name: str, total: int = 0) -> tuple[list[Fraction], Fraction]:
        """A combination of the vertices, and the sum of its coefficients."""
        factors = fields.numbers(name, len(self.vertices), total=total)
        return [_dot(factors, letter) for letter in zip(*self.vertices, strict=True)], sum(factors)

    def check_mechanism(self, fields: _Fields, distortion: Fraction, loss: Any) -> None:
        if self.diagonal:
            changed = fields.numbers("distortions", self.size)
            kept = self.size - sum(changed)
            _need(max(changed) <= 1 <= kept, fields.path, "must keep one letter's worth, and no letter below 0")
            spent = (1 - self.delta) * self.worst(changed)
            within = kept <= loss if self.mass else loss == math.inf or all(kept - 1 + x <= loss * x for x in changed)
        else:
            matrix = fields.numbers("matrix", self.size, self.size, total=1)
            spent = self.worst(list(map(_dot, matrix, self.costs)))
            within = loss == math.inf or self.leaks_at_most(matrix, loss, fields)
            rows = zip(self.lower, matrix, self.upper, strict=False)
            kept = all(low <= q <= high for ends in rows for low, q, high in zip(*ends, strict=True))
            kept &= all([_dot(v, column) for column in zip(*matrix, strict=True)] == v for v in self.stays)
            _need(kept, fields.path, "does not keep at_least, at_most or invariant")
        fields.end()
        _need(spent <= distortion, fields.path, f"has distortion {spent}"[:60] + f", not {distortion}"[:60])
        _need(within, fields.path, f"leaks more than {loss}"[:60])

    def leaks_at_most(self, matrix: list[Any], loss: Fraction, fields: _Fields) -> bool:
        if self.mixes:  # against the least chance of an output
            return all(max(column) <= -loss * self.worst([-q for q in column]) for column in zip(*matrix, strict=True))
        rows = [*matrix, fields.numbers("reference", self.size, total=1)] if self.outputs else matrix
        moments, rate = [], self.order - 1
        for (i, k), weight in self.compared.items():
            pairs = list(zip(rows[i], rows[k], strict=True))
            if self.order:
                _need(all(r or not q for q, r in pairs), fields.path, "leaks without bound")
                terms = [(q, q / r) for q, r in pairs if q]
                moments.append(sum(q * (power(s, rate, UP) if rate else _outward("ln", s, UP)) for q, s in terms))
            else:
                factor = power(loss, weight, DOWN, LONG)
                moments.append((sum if self.standard else max)(max(q - factor * r, Fraction(0)) for q, r in pairs))
        worst = self.worst(moments) if self.order and self.outputs else max(moments, default=Fraction(rate > 0))
        worst = _outward("ln", worst, UP) if self.order > 1 else worst
        return worst <= (loss * (rate or 1) if self.order else self.delta)

    def proves(self, point: _Fields, by_distortion: bool, spent: Fraction, loss: Any) -> bool:
        """Whether multipliers show that what has no more than one of both has no less than the other."""
        if self.diagonal and loss != math.inf:
            (kappa, total), spent = self.mixed(point, "multipliers"), spent / (1 - self.delta)
            slope = self.size - sum(max(1 - k, Fraction(0)) for k in kappa) - spent * total
            over = 1 - max(map(min, zip(*self.vertices, strict=True))) - spent
            held = slope >= 1 and (over > 0 or (over == 0 and not by_distortion))
            return slope >= loss and total > 0 if self.mass else held and total * (1 - spent) >= loss
        table, falls, rest, total = self.lagrangian(point, spent, loss)
        step, other, more = Fraction(1), table, rest
        if "step" in point.left:
            step, (other, _, more, _) = point.numbers("step"), self.lagrangian(point, spent, loss, "second_")
        both = zip(falls, table, other, strict=True)
        keys = [[(x, step * f + y - x) for f, x, y in zip(*rows, strict=True)] for rows in both]
        turned = [[key[1] for key in row] for row in keys]
        best = list(map(least_mean, keys, self.lower, self.upper))
        bound, rise = sum(map(_dot, table, best)) - rest, sum(map(_dot, turned, best)) - more + rest
        if by_distortion and loss == math.inf:
            return bound >= 0 and self.spreads(point.numbers("chain", len(point.get("chain", list)), 2), table, best)
        return bound > 0 or (bound == 0 and step * (total if not by_distortion else self.order or rise) > 0)

    def lagrangian(self, fields: _Fields, spent: Fraction, loss: Any, of: str = "") -> tuple[Any, ...]:
        """A table and a number that sum table_ij Q_ij cannot exceed; how fast the table falls with the loss; sum y."""
        kappa, total = self.mixed(fields, of + "multipliers")
        finite, order = loss != math.inf, self.order * (loss > 0)
        table, rest = [[k * d for d in row] for k, row in zip(kappa, self.costs, strict=False)], spent * total
        free = fields.numbers(of + "stays", len(self.stays), self.size, least=None) if self.stays else []
        for vertex, stays in zip(self.stays, free, strict=True):
            table = [[x + p * n for x, n in zip(row, stays, strict=True)] for row, p in zip(table, vertex, strict=True)]
            rest += _dot(stays, vertex)
        table += [[Fraction(0)] * self.size] * self.outputs
        falls = [[Fraction(0)] * self.size for _ in table]
        used = fields.numbers(of + "comparisons", len(self.compared), self.size) if finite else []
        loads = fields.numbers("loads", len(used)) if finite and order else self.loads
        if finite and order:
            rest += sum(loads) * (loss if order == 1 else _outward("exp", (order - 1) * loss, UP))
            good = not self.outputs or loads == self.mixed(fields, "weights")[0]
            good &= any(loads) and (order > 1 or all(min(row) > 0 for row in used))
            _need(good, fields.path, "has loads of 0, or that are not the weights', or comparisons of 0")
        for ((i, k), weight), load, numbers in zip(self.compared.items(), loads, used, strict=finite):
            rest += self.delta * (max if self.standard else sum)(numbers)
            for j, x in enumerate(numbers) if load and any(numbers) else ():
                up, down = x, x * power(loss or Fraction(1), weight, UP, LONG)
                if order:
                    up = 1 + _outward("ln", x, DOWN) if order == 1 else order * power(x, order - 1, DOWN)
                    down = x if order == 1 else (order - 1) * power(x, order, UP)
                table[i][j] += load * up
                for row, p in enumerate(self.vertices[k]) if self.mixes else [(k, load)]:
                    table[row][j] -= down * p
                    falls[row][j] += down * p * weight
        return table, falls, rest, total

    def spreads(self, chain: list[Any], table: list[Any], best: list[Any]) -> bool:
        """Whether entries that must be 0 make others 0, pair by pair of the chain, until nothing is left of a row."""
        zeros = {}
        for i, (row, low, high, kept) in enumerate(zip(table, self.lower, self.upper, best, strict=False)):
            last = max((x for x, p, q in zip(row, low, kept, strict=True) if q > p), default=min(row) - 1)
            zeros[i] = {j for j, x in enumerate(row) if not low[j] and (not high[j] or x > last)}
        for i, k in chain:
            _need((i, k) in self.compared and not self.outputs, "chain", "compares what is not compared")
            rows = [row for row, p in enumerate(self.vertices[int(k)]) if p] if self.mixes else [k]
            never = set.intersection(*(zeros[row] for row in rows))
            if len(never | zeros[i]) == self.size and self.delta * (self.standard or len(never - zeros[i])) < 1:
                return True
            zeros[i] |= set() if self.delta else never
        return False


def seal(common: dict[str, Any], point: dict[str, Any]) -> str:
    """Digest of a point without its seal, and of all that the points share."""
    return hashlib.sha256(json.dumps([common, {**point, "seal": ""}], sort_keys=True).encode()).hexdigest()[:32]


def check(document: Any) -> list[str]:
    """The claims of a certificate, one a point, all proved: distortions, ratios, nats. Raises Refused if one is not."""
    problem, claims = _Problem(document), []
    for number, content in enumerate(problem.points):
        point = _Fields(content, f"points[{number}]")
        problem.bound([problem.common, content])
        _need(point.get("seal", str) == seal(problem.common, content), f"{point.path}.seal", "does not fit")
        loss, by_distortion = "leakage" if problem.order else "ratio", "distortion" in content
        given, figure = ("distortion", loss) if by_distortion else (loss, "distortion")
        names, turn = (given, f"least_{figure}", f"most_{figure}"), 1 if by_distortion else -1
        budget, least, most = (point.numbers(name, least=int("ratio" in name)) for name in names)
        mechanism = _Fields(point.get("mechanism", dict), f"{point.path}.mechanism")
        problem.check_mechanism(mechanism, *(budget, most)[::turn])
        proved = least == (figure == "ratio") or problem.proves(point, by_distortion, *(budget, least)[::turn])
        _need(proved, f"{point.path}.{names[1]}", "is not proved by the multipliers")
        point.end()
        texts = dict.fromkeys(content[name] for name in names[1:])
        claims.append(f"{problem.name}, {given} {content[given]}: least {figure} {' to '.join(texts)}")
    return claims


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len(dict(pairs)) == len(pairs), "certificate", "names a field twice")
    return dict(pairs)


def report(paths: Any) -> int:
    """Print the claims of files, or in a line why one is refused; the number of these."""
    refused = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                document = json.loads(file.read(_MOST_TEXT), object_pairs_hook=_once)
            print(*(f"{path}: {claim}" for claim in check(document)), sep="\n")
        except (OSError, ValueError, RecursionError) as error:
            refused += 1
            print(" ".join(f"{path} refused: {error}"[:400].split()), file=sys.stderr)
    return refused


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:]) > 0)
