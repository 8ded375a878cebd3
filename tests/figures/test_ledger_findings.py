"""The counterexamples of the findings, each recomputed by hand in fractions with nothing of the package; and their rows."""

import math
import tomllib
from fractions import Fraction as F
from itertools import product

import pytest

from paper_repro.claims.base import statements
from paper_repro.paths import ROOT

TOLD = tomllib.loads((ROOT / "paper_repro/figures/ledger.toml").read_text(encoding="utf-8"))
TEXTS = {entry["title"]: entry for entry in TOLD["finding"]}
CHECKS = {}


def of(title):
    """Decorate the check of the finding with this title."""

    def register(check):
        CHECKS[title] = check
        return check

    return register


def tenths(*numbers):
    return [F(number, 10) for number in numbers]


def shares(numbers, whole):
    return [F(number, whole) for number in numbers]


def is_channel(rows):
    return all(sum(row) == 1 and min(row) >= 0 for row in rows)


def distortion(prior, rows):
    return 1 - sum(p * row[i] for i, (p, row) in enumerate(zip(prior, rows, strict=True)))


def ratio(rows):
    """The largest ratio of two entries of a column; columns of zeros do not count."""
    return max(max(column) / min(column) for column in zip(*rows, strict=True) if any(column))


def response(size, t):
    """Randomized response of this ratio."""
    return [[(t if i == j else 1) / F(t + size - 1) for j in range(size)] for i in range(size)]


def kept_at_most(prior, t):
    """A bound on what a channel of ratio t keeps of a prior in falling order.

    With kept probabilities a_i and their sum S, row i says (t - 1) a_i + S <= t, since Q_ij >= a_j / t. Add these with weights
    y_i >= 0 for which (t - 1) y_i + sum(y) >= P_i: then P.a <= t sum(y).
    """
    bounds = []
    for n in range(1, len(prior) + 1):
        total = sum(prior[:n]) / (t + n - 1)
        weights = [(p - total) / (t - 1) for p in prior[:n]] + [F(0)] * (len(prior) - n)
        if all(y >= 0 and (t - 1) * y + total >= p for y, p in zip(weights, prior, strict=True)):
            assert sum(weights) == total
            bounds.append(t * total)
    return min(bounds)


@pytest.mark.parametrize("title", TEXTS)
def test_a_finding_is_right(title):
    CHECKS[title]()


def test_every_check_is_of_a_finding():
    assert CHECKS.keys() == TEXTS.keys()
    assert len(TEXTS) == 11


def test_every_row_that_is_named_is_a_statement():
    named = {name for kind in TOLD.values() for entry in kind for name in entry["rows"]}
    assert named <= statements().keys()


@of("The program for ordered sets needs the order of the distortions")
def order():
    prior, d = tenths(7, 2, 1), [F(3, 14), F(0), F(0)]
    assert sum(p * x for p, x in zip(prior, d, strict=True)) <= F(3, 20) and sum(d) <= 2
    assert (2 - d[1] - d[2]) / d[0] == F(28, 3)
    assert kept_at_most(prior, F(28, 3)) == F(14, 17) < F(17, 20)
    best = response(3, F(34, 3))
    assert best[0] == [F(17, 20), F(3, 40), F(3, 40)]
    assert is_channel(best) and ratio(best) == F(34, 3) and distortion(prior, best) == F(3, 20)
    assert kept_at_most(prior, F(34, 3)) == F(17, 20)
    assert all(kept_at_most(prior, F(34, 3) - step) < F(17, 20) for step in (F(1, 10**6), 1, 5))


@of("The lower bound for sets without an order can exceed the least leakage")
def lower_bound():
    priors = [tenths(6, 3, 1), tenths(3, 6, 1), tenths(6, 1, 3)]
    assert {tuple(sorted(prior, reverse=True)) for prior in priors} == {tuple(priors[0])}
    # The second is the first with letters 1 and 2 exchanged, the third with 2 and 3: all D_i are equal, so at most 3/5.
    d = F(3, 5)
    assert (2 - 2 * d) / d == F(4, 3)
    # With a letter suppressed its D_i is 1, hence all are, and their sum is beyond what is allowed.
    assert 2 > 3 - 1 - 1
    constant = [shares((3, 2, 0), 5)] * 3
    assert ratio(constant) == 1
    assert [distortion(prior, constant) for prior in priors] == [F(13, 25), F(29, 50), F(3, 5)]


@of("Sets that fold onto the same set can need different leakages")
def folding():
    priors = [tenths(6, 3, 1), tenths(3, 6, 1)]
    always = [[F(1), F(0), F(0)]] * 3
    assert distortion(priors[0], always) == F(2, 5) and ratio(always) == 1
    rows = [shares((2, 1, 0), 3), shares((1, 2, 0), 3), shares((1, 2, 0), 3)]
    assert is_channel(rows) and ratio(rows) == 2
    assert [distortion(prior, rows) for prior in priors] == [F(2, 5)] * 2
    mean = [(p + q) / 2 for p, q in zip(*priors, strict=True)]
    assert mean == shares((9, 9, 2), 20)
    assert all(kept_at_most(mean, t) == t / (t + 1) * F(9, 10) for t in (F(9, 8), F(3, 2), F(2), F(8)))
    assert 2 * F(9, 10) / 3 == F(3, 5)


@of("The two bounds of 2016 meet once the order is added")
def low_distortion():
    prior, d = tenths(7, 3), [F(2, 7), F(0)]
    assert sum(p * x for p, x in zip(prior, d, strict=True)) == F(1, 5) < prior[1]
    assert (1 - d[1]) / d[0] == F(7, 2)
    assert (1 - F(1, 5)) / F(1, 5) == 4
    assert kept_at_most(prior, F(4)) == F(4, 5) == 1 - distortion(prior, response(2, F(4)))


@of("Changes of white entries must be small")
def changes():
    before = [shares((4, 2, 2), 8), shares((2, 3, 3), 8), shares((2, 3, 3), 8)]
    after = [shares((50, 49, 1), 100), *before[1:]]
    assert is_channel(before) and is_channel(after)
    columns = [max(column) / min(column) for column in zip(*before, strict=True)]
    assert columns == [2, F(3, 2), F(3, 2)]
    assert [row[0] for row in before] == [row[0] for row in after]
    assert ratio(after) == F(3, 8) / F(1, 100) == F(75, 2)


def information(prior, rows):
    outputs = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in range(len(rows[0]))]
    return sum(
        float(p * q) * math.log(q / outputs[j])
        for p, row in zip(prior, rows, strict=True)
        for j, q in enumerate(row)
        if p * q
    )


@of("For mutual information a set and its hull differ")
def hull():
    identity = [[F(1), F(0)], [F(0), F(1)]]
    for prior in identity:
        assert distortion(prior, identity) == 0
        assert information(prior, identity) == 0
    assert information([F(1, 2), F(1, 2)], identity) == math.log(2)


@of("The bound on utility needs uniform answers")
def utility():
    t, n, c = 2, 1, 1
    assert F(t**n * (1 - t), t**n * (1 - t) + c * (1 - t**n)) == F(2, 3) < F(9, 10)
    assert 1 - distortion(tenths(9, 1), [[F(1), F(0)]] * 2) == F(9, 10)


@of("On an even ring the doubled mechanism is not optimal")
def ring():
    rows = [shares([(8, 4, 2, 1, 2, 4)[(j - i) % 6] for j in range(6)], 21) for i in range(6)]
    assert is_channel(rows)
    for i in range(6):
        assert ratio([rows[i], rows[(i + 1) % 6]]) == 2
    assert 1 - distortion([F(1, 6)] * 6, rows) == F(8, 21) > F(4, 11)


@of("The optimum for ordered sets needs a further term")
def missing_term():
    prior, delta, d = tenths(7, 2, 1), F(1, 10), F(9, 40)
    assert 2 * (1 - d - delta) / d == 6
    rows = [shares((17, 3, 0), 20), shares((3, 17, 0), 20), shares((9, 9, 2), 20)]
    assert is_channel(rows) and distortion(prior, rows) == d
    assert max((q - delta) / r for column in zip(*rows, strict=True) for q in column for r in column if r) == 5
    assert all(q <= delta for column in zip(*rows, strict=True) for q in column if min(column) == 0)


@of("Equality for records published alike needs standard (ε, δ)-differential privacy")
def product_of_records():
    delta, one = F(1, 10), [shares((3, 1), 4), shares((1, 3), 4)]
    assert max((one[x][y] - delta) / one[1 - x][y] for x in (0, 1) for y in (0, 1)) == F(13, 5)
    both = {((x1, x2), (y1, y2)): one[x1][y1] * one[x2][y2] for x1, x2, y1, y2 in product((0, 1), repeat=4)}
    neighbors = [((a, b), (1 - a, b)) for a in (0, 1) for b in (0, 1)]
    neighbors += [((a, b), (a, 1 - b)) for a in (0, 1) for b in (0, 1)]
    loss = max((both[x, y] - delta) / both[z, y] for x, z in neighbors for y in product((0, 1), repeat=2))
    assert loss == F(37, 15) < F(13, 5)


@of("Sibson information can exceed differential privacy")
def sibson():
    rows = [[F(1, 2) if i == j else F(1, 4) for j in range(3)] for i in range(3)]
    assert is_channel(rows) and ratio(rows) == 2
    # Order 2, uniform: (sum over y of the root of the mean of Q^2)^2, equal for all y; independent records add up.
    (mean,) = {sum(q * q for q in column) / 3 for column in zip(*rows, strict=True)}
    assert 9 * mean == F(9, 8)
    assert F(9, 8) ** 6 == F(531441, 262144) > 2


def test_a_bit_shown_and_a_bit_hidden_leak_less_than_two_flipped_bits():
    """Of the first result that can be sharpened."""
    flipped = [shares((3, 1), 4), shares((1, 3), 4)]
    assert sum(map(max, zip(*flipped, strict=True))) ** 2 == F(9, 4)
    assert 2 * distortion([F(1, 2)] * 2, flipped) == F(1, 2)
    # One bit as it is, of distortion 0, and a constant for the other, of distortion 1/2.
    shown, hidden = [[1, 0], [0, 1]], [[1, 0], [1, 0]]
    assert distortion([F(1, 2)] * 2, shown) + distortion([F(1, 2)] * 2, hidden) == F(1, 2)
    assert sum(map(max, zip(*shown, strict=True))) * sum(map(max, zip(*hidden, strict=True))) == 2 < F(9, 4)
