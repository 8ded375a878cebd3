"""Maximal information over the whole channel: against an independent program, in exact rationals, and bounds that always hold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro import MaximalInformation, SourceSet, optimal_mechanism
from paper_repro.solvers.channel_lift import ChannelLiftProgram
from paper_repro.solvers.proposals import Proposal
from tests.oracles.notions import Ratios, information_ratio, least_leakage

NOTION = MaximalInformation()


def instance(seed):
    """Random vertices and distances, some letters missing from some priors, and the oracle's program for them."""
    rng = np.random.default_rng([11, seed])
    size, count = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    vertices = rng.dirichlet(np.full(size, 1.0), size=count)
    vertices[rng.random((count, size)) < 0.1 * (seed % 3)] = 0
    vertices[vertices.sum(axis=1) == 0, 0] = 1
    vertices /= vertices.sum(axis=1, keepdims=True)
    costs = rng.integers(1, 4, size=(size, size)) * (1.0 - np.eye(size))
    return rng, vertices, costs, Ratios.of_outputs(vertices, costs)


def leakage_of(matrix, vertices):
    return math.log(information_ratio(matrix, vertices))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("leakage", [1e-3, 0.4, 2.0])
def test_least_distortions_meet_the_other_program(seed, leakage):
    _, vertices, costs, whole = instance(seed)
    program, least = ChannelLiftProgram(vertices, costs), whole.least_distortion(leakage)
    point = program.at_leakage(leakage)
    assert leakage_of(point.mechanism, vertices) <= leakage + 1e-13
    assert program.distortion(point.mechanism) == pytest.approx(least, abs=1e-8)  # the oracle's solver
    assert program.least_distortion(point, leakage) == pytest.approx(
        program.distortion(point.mechanism), rel=1e-9, abs=1e-300
    )


@pytest.mark.parametrize("seed", range(5))
def test_least_leakages_meet_the_other_program(seed):
    _, vertices, costs, whole = instance(seed)
    program, free = ChannelLiftProgram(vertices, costs), whole.least_distortion(0.0)
    for budget in (0.2 * free, 0.8 * free):
        point = program.at_distortion(budget)
        found = leakage_of(point.mechanism, vertices)
        assert program.distortion(point.mechanism) <= budget * (1 + 1e-12)
        assert found == pytest.approx(least_leakage(whole, budget), abs=1e-6)
        assert 0 <= found - program.least_leakage(point, budget) <= 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_no_channel_beats_the_bounds_whatever_the_multipliers(seed):
    rng, vertices, costs, _ = instance(seed)
    program, size = ChannelLiftProgram(vertices, costs), len(costs)
    good = program.at_leakage(0.7)
    for trial in range(40):
        matrix = rng.dirichlet(np.ones(size), size=size) * 0.4 + 0.6 * (np.eye(size) if trial % 2 else good.mechanism)
        weights = rng.dirichlet(np.ones(len(vertices)))
        _, rows, outputs = (np.array(part, dtype=float) for part in good.certificate)
        multipliers = weights, rows * rng.uniform(0.5, 1.5, rows.shape), outputs * rng.uniform(0.5, 1.5, outputs.shape)
        claim, leakage = Proposal(matrix, weights, multipliers), leakage_of(matrix, vertices)
        assert program.least_distortion(claim, leakage) <= program.distortion(matrix) + 1e-12
        assert program.least_leakage(claim, program.distortion(matrix)) <= leakage + 1e-12


def test_a_jump_inside_the_curve_is_met_from_both_sides_alike():
    """At D = 0.1 the rarest letter can be left out: 10/3 in place of 5."""
    source, letter = SourceSet([0.4, 0.3, 0.2, 0.1]), 0.1
    for budget, ratio in [(letter, 10 / 3), (letter - 0.9e-12, 10 / 3), (letter + 1e-12, 10 / 3), (letter - 1e-9, 5)]:
        best = optimal_mechanism(source, distortion=budget, notion=NOTION)
        assert math.exp(best.leakage) == pytest.approx(ratio, rel=1e-7)
        assert abs(best.gap) <= 1e-10 and best.distortion <= letter + 1e-12
        back = optimal_mechanism(source, leakage=best.leakage, notion=NOTION)
        assert back.distortion == pytest.approx(budget, abs=1e-11)


@pytest.mark.parametrize(
    ("prior", "leakage", "distortion"),
    [
        ([[1.0, 0.0], [0.5, 0.5]], 100.0, math.exp(-100)),  # the second letter, never in the first prior, needs company
        ([0.4, 0.3, 0.2, 0.1], math.log(10) - 1e-9, None),
        ([[1 - 1e-9, 1e-9], [1 - 2e-9, 2e-9]], 20.0, None),
    ],
)
def test_distortions_keep_their_relative_precision(prior, leakage, distortion):
    best = optimal_mechanism(SourceSet(prior), leakage=leakage, notion=NOTION)
    assert best.distortion > 0 and abs(best.gap) <= 1e-9 * best.distortion and best.leakage <= leakage * (1 + 1e-12)
    if distortion is not None:
        assert best.distortion == pytest.approx(distortion, rel=1e-9)


@pytest.mark.parametrize("budget", [1e-300, 1e-12, 1e-5])
def test_tiny_budgets(budget):
    """One rare letter decides: ``u_4 >= 0.1 (1 - D_4) + what the others add, D``, so that t is about (1 - 10 D) 10."""
    best = optimal_mechanism(SourceSet([0.4, 0.3, 0.2, 0.1]), distortion=budget, notion=NOTION)
    assert best.leakage == pytest.approx(math.log(10 / (1 + 10 * budget)), abs=1e-9) and best.distortion <= budget * (
        1 + 1e-12
    )


def test_the_least_favorable_prior_forces_the_result_by_itself_or_is_none():
    named = []
    for seed in range(12):
        _, vertices, _, _ = instance(seed)
        source = SourceSet(vertices)
        best = optimal_mechanism(source, distortion=0.3 * (1 - vertices.max(axis=1).min()), notion=NOTION)
        if best.least_favorable_prior is not None:
            named.append(seed)
            alone = optimal_mechanism(SourceSet(best.least_favorable_prior), distortion=best.distortion, notion=NOTION)
            assert alone.leakage == pytest.approx(best.leakage, abs=1e-8)
    assert named
    two = optimal_mechanism(SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]), distortion=0.2, notion=NOTION)
    assert two.least_favorable_prior is None  # 0.841, where its worst prior alone leaks 0.575
    assert two.worst_prior == pytest.approx([0.45, 0.45, 0.1], abs=1e-9)


def test_two_priors_in_fractions():
    """At exp(leakage) = 20/7 the distortion is 1/10 exactly: the multipliers say so without rounding."""
    program = ChannelLiftProgram(np.array([[0.5, 0.5], [0.75, 0.25]]), 1 - np.eye(2))
    found = program._in_fractions(Fraction(7, 20))
    assert found.distortion == Fraction(1, 10)
    total, shares, excess = program._bound(found.multipliers)
    assert total == Fraction(1, 10) and (shares - excess * Fraction(20, 7) >= 0).all()
