"""Leakages of integers, against their definitions in fractions that share no code with the package."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.columns.sampler import IntegerSampler, MatrixSampler, SpreadSampler
from paper_repro.notions.ratios import log_rounded_up
from tests.oracles import losses

DELTA = 0.1
KINDS = {
    "differential-privacy": pr.DifferentialPrivacy(),
    "approximate-pointwise": pr.ApproximateDP(DELTA),
    "approximate-standard": pr.ApproximateDP(DELTA, standard=True),
    "maximal-leakage": pr.MaximalLeakage(),
    "maximal-information": pr.MaximalInformation(),
}


def written_out(sampler):
    """The channel that a sampler's numbers mean, in fractions."""
    unit, size = 2**sampler.bits, len(sampler.labels)
    if isinstance(sampler, MatrixSampler):
        return [[Fraction(n, unit) for n in row] for row in sampler.matrix.tolist()]
    kept, weights = sampler.kept.tolist(), sampler.weights.tolist()
    rows = []
    for i in range(size):
        others = sum(weights) - weights[i] or 1
        row = [Fraction(unit - kept[i], unit) * Fraction(weights[j], others) for j in range(size)]
        row[i] = Fraction(kept[i], unit)
        rows.append(row)
    return rows


def some_mechanisms(rng, size):
    yield pr.Mechanism(rng.dirichlet(np.ones(size), size=size))
    yield pr.Mechanism.from_distortions(rng.random(size) * 0.5)
    yield pr.Mechanism.from_distortions(rng.random(size) * 0.5).mixed_with_identity(DELTA)
    yield pr.Mechanism.from_distortions(np.r_[0.2, 0.2, np.ones(size - 2)])
    yield pr.randomized_response(size, 1.0)
    yield pr.Mechanism.constant(rng.dirichlet(np.ones(size)))
    yield pr.Mechanism.from_distortions(rng.random(size) * 0.5, answers=rng.random(size) ** 3)


def samplers(mechanism, bits=62):
    yield IntegerSampler.of(mechanism, bits)
    if (spread := mechanism._spread) is not None:
        yield SpreadSampler.of_spread(spread, mechanism.labels, bits)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 3, 6])
def test_ratios_are_exact(kind, size, rng):
    vertices = rng.dirichlet(np.ones(size), size=2)
    source, pairs = pr.SourceSet(vertices), list(itertools.permutations(range(size), 2))
    for mechanism in some_mechanisms(rng, size):
        for sampler in samplers(mechanism):
            channel = written_out(sampler)
            assert all(sum(row) == 1 for row in channel)
            exact = losses.ratio(kind, channel, source.vertices, pairs, DELTA if "approximate" in kind else 0)
            found, wanted = sampler.leakage(KINDS[kind], source), log_rounded_up(exact) if exact < math.inf else exact
            if kind == "approximate-standard" and isinstance(sampler, SpreadSampler):
                assert found >= wanted  # from above
            else:
                assert found == wanted
            if (stored := KINDS[kind].leakage(mechanism, source)) < math.inf:
                assert found == pytest.approx(
                    stored, abs=1e-13 + 1e-17 * math.exp(stored)
                )  # the least entries round most


@pytest.mark.parametrize("size", [2, 5])
def test_distortion_is_exact_and_rounded_up(size, rng):
    source = pr.SourceSet(rng.dirichlet(np.ones(size), size=3))
    for mechanism in some_mechanisms(rng, size):
        for sampler in samplers(mechanism):
            channel = written_out(sampler)
            exact = max(
                sum(Fraction(p) * (1 - channel[i][i]) for i, p in enumerate(prior)) / sum(map(Fraction, prior))
                for prior in source.vertices.tolist()
            )
            found = sampler.distortion(source)
            assert exact <= Fraction(found) and Fraction(math.nextafter(found, -1)) < exact


def test_intervals_need_no_vertices(rng):
    """The knapsacks over the bounds, against all vertices of a few letters."""
    middle = rng.dirichlet(np.full(5, 5.0))
    box = pr.SourceSet.from_intervals(middle * 0.8, np.minimum(1, middle * 1.3))
    corners = pr.SourceSet(box.vertices)
    sampler = IntegerSampler.of(pr.Mechanism.from_distortions(rng.random(5) * 0.5))
    notions = [pr.MaximalInformation(), pr.MutualInformation(), pr.SibsonInformation(2), pr.SibsonInformation(20)]
    for notion in notions:
        assert sampler.leakage(notion, box) == pytest.approx(sampler.leakage(notion, corners), abs=1e-8)
    assert sampler.distortion(box) == pytest.approx(sampler.distortion(corners), abs=1e-12)


@pytest.mark.parametrize("order", [1, 1.5, 2, 7, 30])
def test_curved_notions_are_bounded_from_above(order, rng):
    size, notions = 5, (pr.RenyiDP, pr.MutualInformation if order == 1 else pr.SibsonInformation)
    arguments = [(order,), () if order == 1 else (order,)]
    source, pairs = pr.SourceSet(rng.dirichlet(np.ones(size), size=2)), list(itertools.permutations(range(size), 2))
    for mechanism in list(some_mechanisms(rng, size))[:3]:
        sampler = IntegerSampler.of(mechanism)
        matrix = np.array([[float(q) for q in row] for row in written_out(sampler)])
        divergence, most = (
            sampler.leakage(notion(*given), source) for notion, given in zip(notions, arguments, strict=True)
        )
        exact = losses.divergence(matrix, pairs, order)
        assert exact - 1e-15 <= divergence <= exact + 1e-12
        least, largest = losses.information(matrix, source.vertices, order)
        assert least - 1e-12 <= most <= largest + 1e-8


@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_many_letters_agree_with_their_matrix(delta, rng):
    """1,100 letters in a few numbers, and the same channel as a matrix of floats."""
    size = 1100
    source = pr.SourceSet(rng.dirichlet(np.ones(size), size=2))
    mechanism = pr.Mechanism.from_distortions(rng.choice([0.2, 0.21, 0.3, 0.5], size)).mixed_with_identity(delta)
    sampler = IntegerSampler.of(mechanism)
    assert isinstance(sampler, SpreadSampler)
    matrix = pr.Mechanism(mechanism.matrix, mechanism.labels)
    for notion in [*KINDS.values(), pr.MutualInformation(), pr.SibsonInformation(2), pr.SibsonInformation(9)]:
        if getattr(notion, "standard", False):
            continue  # too many pairs
        assert sampler.leakage(notion, source) == pytest.approx(notion.leakage(matrix, source), abs=1e-10)
    logs = np.log(mechanism.matrix)
    moments = np.exp(2 * logs) @ np.exp(-logs).T
    np.fill_diagonal(moments, 1)
    assert sampler.leakage(pr.RenyiDP(2)) == pytest.approx(math.log(moments.max()), abs=1e-10)


def test_on_graphs(rng):
    sampler = IntegerSampler.of(pr.truncated_geometric(5, 1.0))
    channel = written_out(sampler)
    pairs = [(i, k) for i in range(5) for k in range(5) if abs(i - k) == 1]
    exact = losses.ratio("differential-privacy", channel, [], pairs, 0)
    assert sampler.leakage(pr.DifferentialPrivacy(pr.line(5))) == log_rounded_up(exact)
    assert sampler.leakage(pr.DifferentialPrivacy(pr.line(5))) == pytest.approx(1.0, abs=1e-14)


def test_rounding_does_not_cost_privacy(rng):
    """Tiny entries round to few units: the ratio of the floats is kept, and so are zeros."""
    entries = [[1 - 3e-18, 2e-18, 1e-18, 0], [1 - 9e-19, 4e-19, 5e-19, 0], [1, 0, 0, 0], [1 - 3e-18, 2e-18, 1e-18, 0]]
    some = pr.Mechanism(entries[:2] + entries[:2], labels="abcd")
    assert IntegerSampler.of(some).leakage(pr.DifferentialPrivacy()) <= pr.DifferentialPrivacy().leakage(some)
    assert (IntegerSampler.of(pr.Mechanism(entries)).matrix == 0).tolist() == (np.array(entries) == 0).tolist()
    best = pr.optimal_mechanism(pr.SourceSet(rng.dirichlet(np.ones(50))), leakage=5.0).mechanism
    assert IntegerSampler.of(best).leakage(pr.DifferentialPrivacy()) <= 5.0 + 1e-14
    assert IntegerSampler.of(pr.Mechanism.constant([0.1, 0.2, 0.7])).leakage(pr.DifferentialPrivacy()) == 0
