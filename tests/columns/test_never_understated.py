"""The leakages that a sampler tells are at least the true ones, by a program that shares no code with the package.

The true values are computed from the sampler's integers: ratios and maxima in fractions, logarithms and powers to 50 digits.
The source sets have categories that cannot occur, nearly certain ones, and columns that one row alone publishes.
"""

import math
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pandas as pd
import pytest

import paper_repro as pr
from paper_repro.columns.sampler import IntegerSampler

pytestmark = pytest.mark.filterwarnings("error")

ORDERS = (1.01, 2.0, 7.0)


def numbers(sampler):
    """The probabilities with which the sampler publishes, as fractions, row by row."""
    whole, size, stored = 2**sampler.bits, len(sampler.labels), sampler.integers
    if "matrix" in stored:
        return [[Fraction(int(count), whole) for count in row] for row in stored["matrix"]]
    kept, weights = ([int(x) for x in stored[name]] for name in ("kept", "weights"))
    return [
        [
            Fraction(kept[i], whole)
            if i == j
            else Fraction(whole - kept[i], whole) * Fraction(weights[j], sum(weights) - weights[i] or 1)
            for j in range(size)
        ]
        for i in range(size)
    ]


def greatest_ratio(rows, delta=Fraction(0)):
    worst = Fraction(1)
    for one, other in permutations(rows, 2):
        for x, y in zip(one, other, strict=True):
            if x > delta and y == 0:
                return math.inf
            if x > delta:
                worst = max(worst, (x - delta) / y)
    return mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)


def real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def mutual(rows, prior):
    outputs = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in range(len(rows[0]))]
    return mpmath.fsum(
        real(p * x) * mpmath.log(real(x / outputs[j]))
        for p, row in zip(prior, rows, strict=True)
        for j, x in enumerate(row)
        if p and x
    )


def sibson(rows, prior, order):
    a = mpmath.mpf(order)
    columns = (
        mpmath.fsum(real(p) * real(row[j]) ** a for p, row in zip(prior, rows, strict=True) if p and row[j])
        for j in range(len(rows[0]))
    )
    return a / (a - 1) * mpmath.log(mpmath.fsum(column ** (1 / a) for column in columns))


def renyi(rows, order):
    a, worst = mpmath.mpf(order), mpmath.mpf(0)
    for one, other in permutations(rows, 2):
        if any(x and not y for x, y in zip(one, other, strict=True)):
            return math.inf
        moment = mpmath.fsum(real(x) ** a * real(y) ** (1 - a) for x, y in zip(one, other, strict=True) if x)
        worst = max(worst, mpmath.log(moment) / (a - 1))
    return worst


def gained(rows, prior):
    """Maximal information under one prior: the largest ratio of an entry to its column's probability."""
    worst = Fraction(0)
    for j in range(len(rows[0])):
        output = sum(p * row[j] for p, row in zip(prior, rows, strict=True))
        top = max(row[j] for row in rows)
        if top and not output:
            return math.inf
        if top:
            worst = max(worst, top / output)
    return mpmath.log(real(worst))


def samplers():
    rng = np.random.default_rng(26)
    notions = [
        pr.DifferentialPrivacy(),
        pr.ApproximateDP(0.1),
        pr.ApproximateDP(0.05, standard=True),
        pr.MaximalLeakage(),
        pr.SibsonInformation(2),
        pr.MutualInformation(),
    ]
    priors = [[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [1 - 1e-9, 1e-9, 0.0], [0.97, 0.01, 0.01, 0.01], [0.0, 0.5, 0.0, 0.5]]
    for prior in priors:
        for notion in notions:
            for distortion in (0.001, 0.1):
                free = 1 - max(prior)
                if distortion < free:
                    best = pr.optimal_mechanism(pr.SourceSet(prior), distortion=distortion, notion=notion)
                    yield prior, IntegerSampler.of(best.mechanism)
    for _ in range(12):  # matrices with zeros, and columns of one row
        size = int(rng.integers(2, 6))
        matrix = rng.dirichlet(np.full(size, 0.4), size=size) * (rng.random((size, size)) < 0.7) + np.eye(size) * 1e-3
        prior = rng.dirichlet(np.full(size, 0.5)) * (np.arange(size) != rng.integers(size))
        yield (prior / prior.sum()).tolist(), IntegerSampler.of(pr.Mechanism(matrix / matrix.sum(1, keepdims=True)))


CASES = list(samplers())


@pytest.mark.parametrize("place", range(len(CASES)))
def test_no_leakage_is_understated(place):
    prior, sampler = CASES[place]
    source, rows = pr.SourceSet(prior), numbers(sampler)
    exact = [Fraction(p) for p in source.vertices[0].tolist()]
    exact = [p / sum(exact) for p in exact]
    with mpmath.workdps(50):
        true = {
            pr.DifferentialPrivacy(): greatest_ratio(rows),
            pr.ApproximateDP(0.1): greatest_ratio(rows, Fraction(0.1)),
            pr.MaximalLeakage(): mpmath.log(real(sum(max(column) for column in zip(*rows, strict=True)))),
            pr.MaximalInformation(): gained(rows, exact),
            pr.MutualInformation(): mutual(rows, exact),
            **{pr.SibsonInformation(order): sibson(rows, exact, order) for order in ORDERS},
            **{pr.RenyiDP(order): renyi(rows, order) for order in ORDERS},
        }
        for notion, least in true.items():
            told = sampler.leakage(notion, source)
            assert told >= least - mpmath.mpf(10) ** -30, f"{notion}: {told} is below {least}"
            if math.isfinite(least):
                assert told <= least + 1e-8 * max(1, least), f"{notion}: {told} is far above {least}"


def test_a_hull_is_at_least_its_members():
    """Over several priors: the leakage told is at least that of every mixture of them."""
    vertices = [[0.6, 0.4, 0.0, 0.0], [0.1, 0.2, 0.0, 0.7]]
    source = pr.SourceSet(vertices)
    for notion in (pr.ApproximateDP(0.1), pr.MaximalLeakage(), pr.MutualInformation()):
        sampler = IntegerSampler.of(pr.optimal_mechanism(source, distortion=0.1, notion=notion).mechanism)
        rows = numbers(sampler)
        for weight in range(11):
            mixed = [
                Fraction(weight, 10) * Fraction(one) + Fraction(10 - weight, 10) * Fraction(two)
                for one, two in zip(*vertices, strict=True)
            ]
            mixed = [p / sum(mixed) for p in mixed]
            assert sampler.leakage(pr.MutualInformation(), source) >= float(mutual(rows, mixed)) - 1e-12
            for order in ORDERS:
                assert sampler.leakage(pr.SibsonInformation(order), source) >= float(sibson(rows, mixed, order)) - 1e-12


@pytest.mark.parametrize("letters", [3, 1200])
def test_a_release_tells_the_information_of_a_set_with_a_category_that_cannot_occur(letters):
    """The category is published in its own row only; its column was taken for all that the others leak, which was nothing."""
    prior = np.r_[[0.6, 0.4], 0.0] if letters == 3 else np.r_[np.full(letters - 1, 1 / (letters - 1)), 0.0]
    labels = [f"c{place}" for place in range(letters)]
    column = pd.DataFrame({"x": np.random.default_rng(1).choice(labels[:-1], 400)})
    source, notion = pr.SourceSet(prior, labels=labels), pr.ApproximateDP(0.1)
    (stratum,) = pr.release(column, "x", distortion=0.1, source=source, notion=notion, estimable=False, seed=1).strata
    told = stratum.leakages["Sibson information"]
    direct = pr.SibsonInformation(2).leakage(stratum.sampler.mechanism, source)
    assert told == pytest.approx(direct, abs=1e-8)
    assert told > (0.48 if letters == 3 else 4.8)
