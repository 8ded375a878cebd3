"""Formulas of Zhong and Bu 2022 as they are printed, their limits and their domains; whether they hold is for the ledger."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from paper_repro import SourceSet
from paper_repro.notions import NOTION_NAMES as NOTIONS
from paper_repro.papers import zhong_bu2022 as zhong
from paper_repro.papers.readings import Bounds
from paper_repro.papers.zhong_bu2022 import Floor
from tests.oracles.instances import random_vertices
from tests.oracles.notions import (
    database_distances,
    database_pairs,
    information_ratio,
    kept_mass,
    logarithm,
    pointwise_ratio,
    renyi_divergence,
    sibson_information,
)
from tests.oracles.tradeoffs import highest_floor, information

DP, APPROXIMATE, MAXIMAL, LEAKAGE, RENYI, SIBSON, MUTUAL = NOTIONS
ROUNDING = 1e-12
SOLVED = 1e-7  # of a linear program's optimum, or an active set's
THREE = [0.7, 0.2, 0.1]
FOUR = [0.4, 0.3, 0.2, 0.1]
SPACES = [(2, 1), (3, 1), (2, 2), (3, 2), (2, 3)]
UNIFORM_4 = SourceSet(np.full(4, 0.25))


def exp(leakage):
    return math.exp(leakage)


def response(values, records, changed):
    """Q_D as the product of randomized responses, in exact rational arithmetic."""
    kept, other = 1 - Fraction(changed) / records, Fraction(changed) / records / (values - 1)
    return [[kept ** int(records - d) * other ** int(d) for d in row] for row in database_distances(values, records)]


def leakage_of(notion, matrix, values, records, prior, alpha=2.0, delta=0.1):
    """Definition 3, for one prior, from all entries."""
    pairs = database_pairs(values, records)
    return {
        DP: lambda: logarithm(pointwise_ratio(matrix, pairs)),
        APPROXIMATE: lambda: logarithm(pointwise_ratio(matrix, pairs, delta)),
        MAXIMAL: lambda: logarithm(information_ratio(matrix, [prior])),
        LEAKAGE: lambda: logarithm(kept_mass(matrix)),
        RENYI: lambda: renyi_divergence(matrix, pairs, alpha),
        SIBSON: lambda: sibson_information(prior, matrix, alpha),
        MUTUAL: lambda: information(prior, matrix),
    }[notion]()


def priors_of(seed, size, count=1):
    return np.random.default_rng(seed).dirichlet(np.full(size, 2.0), size=count)


# Lemma 5 and what Q_D leaks


@pytest.mark.parametrize(("values", "records"), SPACES)
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 7), Fraction(2, 3), Fraction(1)])
def test_lemma_5_mechanism(values, records, share):
    changed = share * records
    matrix = zhong.lemma_5_mechanism(values, records, float(changed))
    assert matrix == pytest.approx(np.array(response(values, records, changed), dtype=float), abs=1e-15)
    separation = database_distances(values, records).astype(int)
    assert (matrix * separation).sum(axis=1) == pytest.approx(np.full(len(matrix), float(changed)), abs=ROUNDING)
    profile = zhong.lemma_5_profile(values, records, float(changed))
    assert np.exp(profile)[separation] == pytest.approx(matrix, abs=1e-15)


def test_lemma_5_profile_of_a_thousand_records():
    profile = zhong.lemma_5_profile(50, 1000, 10.0)
    counts = [math.lgamma(1001) - math.lgamma(place + 1) - math.lgamma(1001 - place) for place in range(1001)]
    shells = np.exp(profile + counts + np.arange(1001) * math.log(49))
    assert shells.sum() == pytest.approx(1, abs=1e-9) and shells @ np.arange(1001) == pytest.approx(10, abs=1e-8)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize(("values", "records"), SPACES)
@pytest.mark.parametrize("share", [0.05, 0.4, 0.8, 1.3])
def test_what_the_mechanism_leaks(notion, values, records, share):
    """Printed formulas, where they are meant to hold, and corrected ones up to D = n, against the matrix."""
    changed = share * zhong.lemma_5(values, records)
    if changed >= records:
        return
    vertices = priors_of(values + records, values**records, 3)
    matrix = np.array(response(values, records, changed), dtype=float)
    uniform = np.full(len(matrix), 1 / len(matrix))
    worst = vertices if notion == MAXIMAL else [uniform]  # Q_D is symmetric: its capacity is at the uniform prior
    for alpha in (1.0001, 2.0, 30.0) if notion in (RENYI, SIBSON) else (2.0,):
        expected = max(leakage_of(notion, matrix, values, records, prior, alpha, 0.02) for prior in worst)
        readings = ["corrected"] + ["printed"] * (share < 1 and (notion != MAXIMAL or records <= values))
        for reading in readings:
            found = zhong.lemma_5_leakage(
                notion, values, records, changed, SourceSet(vertices), alpha=alpha, delta=0.02, reading=reading
            )
            assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("order", "limit", "notion"), [(1 + 1e-9, MUTUAL, SIBSON), (1e9, LEAKAGE, SIBSON), (1e9, DP, RENYI)]
)
@pytest.mark.parametrize("changed", [1e-9, 0.3, 1.3])
def test_orders_meet_their_limits(order, limit, notion, changed):
    found = zhong.lemma_5_leakage(notion, 3, 2, changed, alpha=order)
    assert found == pytest.approx(zhong.lemma_5_leakage(limit, 3, 2, changed), abs=1e-6)


def test_renyi_of_order_1_is_the_divergence_of_two_rows():
    row, other = np.array([0.75, 0.125, 0.125]), np.array([0.125, 0.75, 0.125])
    divergence = (row * np.log(row / other)).sum()
    assert zhong.lemma_5_leakage(RENYI, 3, 1, 0.25, alpha=1 + 1e-9) == pytest.approx(divergence, abs=1e-7)
    assert zhong.lemma_5_leakage(RENYI, 3, 1, 0.25, alpha=1e300) == pytest.approx(math.log(6), abs=ROUNDING)


# Theorem 6


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("source_class", ["I", "II", "III"])
def test_floor(source_class, seed):
    vertices = random_vertices(source_class, seed)
    found = zhong.floor_of(SourceSet(vertices))
    size = vertices.shape[1]
    assert found.theta == pytest.approx(size * highest_floor(vertices), abs=SOLVED)
    if source_class == "I":
        assert found == Floor(1.0, 1.0)


def printed_lower_bounds(m, n, changed, theta, eta, alpha, delta):
    """Exponentials of the seven lower bounds of Theorem 6, in its order and letters."""
    scaled, power = changed / theta, alpha / (alpha - 1)
    return [
        (m - 1) * (theta * n - changed) / changed,
        (m - 1) * (theta * n * (1 - delta * m ** (n - 1)) - changed) / changed,
        m * (1 - changed / (theta * n)),
        m * (1 - changed / (theta * n)),
        (m - 1) * (n - scaled) ** power / scaled / (n * m ** (n - 1)) ** (1 / (alpha - 1)),
        m ** ((alpha - n) / (alpha - 1)) * ((1 - changed / n) / ((1 - theta) * (n + 1) * m / 2 + theta)) ** power,
        (eta ** (-1 / n) * (1 - changed / (n * theta))) ** (theta * n)
        * (changed / ((m - 1) * (n * theta - changed))) ** (theta * changed),
    ]  # fmt: skip


@pytest.mark.parametrize(("m", "n", "changed", "theta"), [(3, 1, 0.1, 0.9), (2, 2, 0.2, 0.95), (3, 2, 0.05, 0.99)])
def test_theorem_6_as_printed(m, n, changed, theta):
    eta = 1.2 * m**-n
    for notion, expected in zip(NOTIONS, printed_lower_bounds(m, n, changed, theta, eta, 9.0, 0.02), strict=True):
        source = SourceSet(np.full(m**n, m**-n)) if notion == MAXIMAL else Floor(theta, 1.2)
        if notion == MAXIMAL:  # looks at the whole set; with the uniform distribution theta is 1
            expected = m * (1 - changed / n)
        found = zhong.theorem_6(notion, m, n, changed, source, alpha=9.0, delta=0.02).lower
        assert found == pytest.approx(max(0.0, math.log(expected)), abs=ROUNDING)


@pytest.mark.parametrize("notion", NOTIONS)
def test_theorem_6_of_many_records(notion):
    if notion == MAXIMAL:
        with pytest.raises(
            ValueError,
            match=r"source must be given for maximal information, which depends on it; got None\. Give the "
            r"SourceSet over the m\^n databases\.",
        ):
            zhong.theorem_6(notion, 50, 1000, 10.0, Floor(0.5))
        return
    found = zhong.theorem_6(notion, 50, 1000, 10.0, Floor(0.5, 1.5), alpha=2000.0, delta=1e-9)
    ratio = {DP: 2401.0, LEAKAGE: 49.0}  # 49 (500 - 10) / 10 and 50 (1 - 10/500)
    if notion in ratio:
        assert exp(found.lower) == pytest.approx(ratio[notion], rel=ROUNDING)
    assert 0 <= found.lower < found.upper < 4000
    assert zhong.theorem_6(notion, 50, 1000, 990.0, Floor(0.5), alpha=2.0, delta=0.5, reading="corrected") == Bounds(
        0, 0
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_theorem_6_at_no_distortion_is_its_limit(notion):
    source = SourceSet([0.24, 0.25, 0.25, 0.26])
    found, near = (zhong.theorem_6(notion, 2, 2, changed, source, alpha=2.0, delta=0.1) for changed in (0.0, 1e-13))
    if notion in (DP, APPROXIMATE, RENYI):
        assert found == Bounds(math.inf, math.inf) and near.lower > 20
    else:
        assert (found.lower, found.upper) == pytest.approx((near.lower, near.upper), abs=1e-9)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("changed", [0.0, 0.3, 1.5])
def test_theorem_6_says_nothing_without_a_floor(notion, changed):
    source = SourceSet([0.5, 0.5, 0.0, 0.0])
    assert zhong.theorem_6(notion, 2, 2, changed, source, alpha=3.0, delta=0.1).lower == 0


# Theorem 7


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("values", [2, 4])
def test_proposition_8_at_and_beyond_its_end(notion, values):
    source, end = SourceSet(np.full(values, 1 / values)), (values - 1) / values
    for changed in (end, (end + 1) / 2):
        found = zhong.proposition_8(notion, values, changed, source, alpha=2.0, delta=0.1)
        assert found.lower == 0
        rises = notion in (RENYI, SIBSON) and changed > end
        assert found.upper > 0.01 if rises else found.upper == pytest.approx(0, abs=ROUNDING)


# Lemma 10, Theorems 9 and 13, Proposition 12


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.7])
def test_lemma_10(delta):
    prior = np.array([0.5, 0.3, 0.2])
    matrix = zhong.lemma_10_mechanism(3, delta)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-15)
    assert np.ptp(matrix, axis=0).max() <= delta + 1e-15
    assert prior @ (1 - np.diagonal(matrix)) == pytest.approx(zhong.lemma_10(prior, delta), abs=ROUNDING)


def test_theorem_9_at_its_limits():
    for prior, changed, printed, corrected in [
        ([0.6, 0.4], 0.0, math.inf, math.inf),
        ([1.0, 0.0], 0.0, math.inf, 0.0),  # a jump at 0
        ([1.0, 0.0], 1e-9, 0.0, 0.0),
        ([1.0], 0.0, 0.0, 0.0),
        ([0.6, 0.4], 1.0, 0.0, 0.0),
        ([0.6, 0.4, 0.0], 0.2, math.log(4), math.log(4)),  # as with two letters
    ]:
        found = [zhong.theorem_9(prior, changed, 0.0, reading) for reading in ("printed", "corrected")]
        assert found == pytest.approx([printed, corrected], abs=ROUNDING)
    assert zhong.theorem_9([0.6, 0.4], 1e-310, 0.0) == pytest.approx(310 * math.log(10), abs=1e-9)


@pytest.mark.parametrize("changed", [0.0, 0.95, 1.0])
@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_proposition_12_outside_its_range(changed, delta):
    printed, corrected = (zhong.proposition_12(SourceSet(THREE), changed, delta, r) for r in ("printed", "corrected"))
    assert (printed, corrected) == (math.inf, math.inf) if changed == 0 else (printed < 0 and corrected == 0)
    assert zhong.proposition_12(SourceSet([1.0]), changed, delta) == 0
    assert zhong.proposition_12(SourceSet(THREE), (1 - delta) * (0.1 + 0.2), delta, "corrected") == 0  # at its jump


@pytest.mark.parametrize(
    ("changed", "delta", "printed", "corrected"),
    [(0.225, 0.1, 6, 5), (0.25, 0.0, 6, 5), (0.225, 0.0, 62 / 9, 31 / 5), (0.05, 0.0, 38, 38)],
)
def test_proposition_12_lacks_a_term(changed, delta, printed, corrected):
    found = [exp(zhong.proposition_12(SourceSet(THREE), changed, delta, r)) for r in ("printed", "corrected")]
    assert found == pytest.approx([printed, corrected], rel=SOLVED)


# Theorem 14 and Corollary 15


def test_theorem_14_at_its_limits():
    assert zhong.theorem_14(FOUR, 0.0) == pytest.approx(math.log(4), abs=ROUNDING)
    assert zhong.theorem_14([0.6, 0.0, 0.4], 0.0) == pytest.approx(math.log(2), abs=ROUNDING)
    assert [zhong.theorem_14([1.0], d) for d in (0.0, 1.0)] == [0, 0]
    assert zhong.theorem_14(FOUR, 0.6) == pytest.approx(0, abs=ROUNDING) and zhong.theorem_14(FOUR, 1.0) == 0
    source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    assert zhong.corollary_15(source, 0.0) == 0.5
    assert [zhong.corollary_15(source, leakage) for leakage in (math.log(3), 5.0, math.inf)] == [0, 0, 0]


# Theorems 17 and 18


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize(("values", "records", "changed"), [(2, 1, 0.2), (3, 2, 0.7), (2, 3, 1.2)])
def test_theorem_17_is_what_products_of_randomized_response_leak(notion, values, records, changed):
    base = np.vstack([np.full(values, 1 / values), priors_of(7, values)])
    matrix = np.array(response(values, records, changed), dtype=float)
    priors = [reduce(np.kron, [prior] * records) for prior in (base if notion == MAXIMAL else base[:1])]
    expected = max(leakage_of(notion, matrix, values, records, prior, 3.0, 0.01) for prior in priors)
    found = zhong.theorem_17(
        notion, values, records, changed, SourceSet(base), alpha=3.0, delta=0.01, reading="corrected"
    )
    assert found.upper == pytest.approx(expected, abs=1e-10)
    assert found.lower <= found.upper and (found.lower == found.upper) == (
        notion in (DP, LEAKAGE, MUTUAL) or (notion == APPROXIMATE and records == 1)
    )


def test_theorem_17_5_lost_its_logarithm():
    printed, corrected = (zhong.theorem_17(RENYI, 2, 1, 0.25, alpha=2.0, reading=r) for r in ("printed", "corrected"))
    assert printed.lower == pytest.approx(9 / 4, abs=ROUNDING) and printed.lower > printed.upper
    assert exp(printed.upper) == pytest.approx(7 / 3, abs=ROUNDING) and printed.upper == corrected.upper
    assert exp(corrected.lower) == pytest.approx(9 / 4, abs=ROUNDING)
    assert corrected == zhong.proposition_8(RENYI, 2, 0.25, alpha=2.0)


@pytest.mark.parametrize("changed", [0.75, 1.0])
def test_theorem_17_7_rises_where_proposition_8_7_is_0(changed):
    found = [zhong.theorem_17(MUTUAL, 2, 1, changed, reading=r) for r in ("printed", "corrected")]
    entropy = -sum(p * math.log(p) for p in (changed, 1 - changed) if p > 0)
    assert found[0].lower == pytest.approx(math.log(2) - entropy, abs=ROUNDING) and found[0].lower > 0.1
    assert found[1] == zhong.proposition_8(MUTUAL, 2, changed) == Bounds(0, 0)


def test_theorem_18_is_theorems_9_and_14_by_record():
    assert exp(zhong.theorem_18(APPROXIMATE, FOUR, 3, 1.62, delta=0.1)) == pytest.approx(4 / 3, abs=ROUNDING)
    assert zhong.theorem_18(APPROXIMATE, FOUR, 3, 1.62, delta=0.1, reading="corrected") == 0
    assert exp(zhong.theorem_18(LEAKAGE, FOUR, 2, 1.08)) == pytest.approx(36 / 25, abs=ROUNDING)


# What every statement has in common


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("changed", [0.0, 0.5, 1.0])
def test_one_value_leaks_nothing(notion, changed):
    one = SourceSet([1.0])
    for statement in (zhong.theorem_6, zhong.theorem_7, zhong.theorem_17):
        assert statement(notion, 1, 2, changed, one, alpha=2.0, delta=0.0) == Bounds(0, 0)
    assert zhong.proposition_8(notion, 1, changed, one, alpha=2.0, delta=0.0) == Bounds(0, 0)
    assert zhong.lemma_5_mechanism(1, 2, changed).tolist() == [[1.0]]


@pytest.mark.parametrize(("statement", "space"), [(zhong.theorem_7, (3, 2)), (zhong.theorem_17, (3, 2))])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_bounds_are_in_order_and_fall(statement, space, notion, reading):
    size = 9 if statement is zhong.theorem_7 else 3
    source = SourceSet(np.full(size, 1 / size))
    options = {"alpha": 1.5, "delta": 0.01, "reading": reading}
    found = [statement(notion, *space, changed, source, **options) for changed in np.linspace(0, 4 / 3, 40)]
    lowers, uppers = np.array([[bounds.lower, bounds.upper] for bounds in found]).T
    assert (uppers[:-1] >= uppers[1:] - ROUNDING).all() and (lowers[:-1] >= lowers[1:] - ROUNDING).all()
    if not (statement is zhong.theorem_17 and notion == RENYI and reading == "printed"):
        assert (lowers <= uppers + ROUNDING).all() and uppers[-1] == pytest.approx(0, abs=ROUNDING)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zhong.theorem_7(DP, 2, 3, 3.5), r"records changed between 0 and 3; got 3\.5"),
        (lambda: zhong.theorem_7(DP, 2, 3, math.nan), "between 0 and 3; got nan"),
        (lambda: zhong.theorem_7(DP, 2, 3, "much"), "between 0 and 3; got 'much'"),
        (lambda: zhong.theorem_7(DP, 2.5, 3, 1), r"values must be a whole number, at least 1; got 2\.5"),
        (lambda: zhong.lemma_5(2, 0), "records must be a whole number, at least 1; got 0"),
        (lambda: zhong.theorem_7("privacy", 2, 3, 1), "notion must be one of 'differential privacy', .*; got 'privacy'"),
        (lambda: zhong.theorem_7(RENYI, 2, 3, 1), "alpha must be a number, at least 1 for .*; got None"),
        (lambda: zhong.theorem_7(SIBSON, 2, 3, 1, alpha=1.0), r"above 1 for Sibson information in this form; got 1\.0"),
        (lambda: zhong.theorem_17(SIBSON, 2, 3, 1, alpha=math.inf), "above 1 for .*; got inf"),
        (lambda: zhong.theorem_7(APPROXIMATE, 2, 3, 1), "delta must be a number, .* at least 0 and below 1; got None"),
        (lambda: zhong.theorem_9(FOUR, 0.1, 1.0), r"at least 0 and below 1; got 1\.0"),
        (lambda: zhong.theorem_7(MAXIMAL, 2, 3, 1), (
            r"source must be given for maximal information, which depends on it; got None\. Give the "
            r"SourceSet over the m\^n databases\."
        )),
        (lambda: zhong.theorem_17(MAXIMAL, 2, 3, 1), (
            r"source must be given for maximal information, which depends on it; got None\. Give the "
            r"SourceSet over m categories\."
        )),
        (lambda: zhong.theorem_7(DP, 2, 3, 1, UNIFORM_4), r"source must have 2\^3 categories, .* with 2 values; got 4\."),
        (lambda: zhong.theorem_7(DP, 2, 2, 1, SourceSet(FOUR)), (
            r"source must have the uniform distribution in its hull for Theorem 7; got SourceSet\(V=1, M=4, "
            r"Class II\)\."
        )),
        (lambda: zhong.theorem_17(DP, 2, 2, 1, UNIFORM_4), r"source must have m = 2 categories, those of a record; got 4\."),
        (lambda: zhong.theorem_7(DP, 2, 3, 1, reading="mended"), "reading must be one of 'printed', 'corrected'; got 'mended'"),
        (lambda: zhong.theorem_9([[0.5, 0.5], [0.6, 0.4]], 0.1, 0.0), "one known prior; got 2 rows"),
        (lambda: zhong.theorem_14([0.5, 0.6], 0.1), r"prior: row 0 must sum to 1 within 1e-09; got 1\.1\."),
        (
            lambda: zhong.corollary_15(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]), 0.0),
            "source must have a common ordering of its categories, as Class II",
        ),
        (lambda: zhong.corollary_15(UNIFORM_4, -1.0), r"leakage must be at least 0 nats .* got -1\.0"),
        (lambda: zhong.theorem_18(DP, FOUR, 2, 1), (
            "notion must be 'approximate differential privacy' or 'maximal leakage' for Theorem 18; got "
            r"'differential privacy'\. For other notions use composition\.parallel_leakage\."
        )),
        (lambda: zhong.lemma_5_mechanism(50, 1000, 1), (
            r"values \*\* records must be at most 5000 databases to compare one by one; got 50\^1000\. Take "
            "fewer records, or a statement that needs no matrix, such as lemma_5_profile"
        )),
        (lambda: Floor(1.2), r"theta must be between 0 and 1; got 1\.2"),
        (lambda: Floor(0.5, 0.2), r"peak must be at least 1; got 0\.2"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
