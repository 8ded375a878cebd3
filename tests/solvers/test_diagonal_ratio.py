"""Differential privacy's program: closed forms for one prior, active sets, and where the symmetric regime ends."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_repro import ApproximateDP, DifferentialPrivacy, SourceSet, exact_curve, optimal_mechanism
from paper_repro.solvers.diagonal_ratio import DiagonalRatioProgram, prior_breakpoints
from paper_repro.solvers.exact import exact_optimum
from paper_repro.solvers.known_prior import RatioOfPrior
from tests.oracles.instances import CLASSES, random_vertices, vertex_sets
from tests.oracles.tradeoffs import highest_floor, leakage_of_prior, least_distortion
from tests.oracles.tradeoffs import least_distortion_of_prior as minimax_of_prior

priors = vertex_sets(most_letters=7, most_vertices=1).map(lambda vertices: vertices[0])
leakages = st.floats(0, 30)

# A sum of at most 10 products of order 1.
ROUNDING = 1e-14


def least_distortion_of_prior(prior, leakage):
    return RatioOfPrior(np.asarray(prior)).least_distortion(leakage)


def changed(proposal):
    return proposal.mechanism.distortions


@given(priors, leakages)
def test_least_distortion_of_a_prior_by_the_minimax_form(prior, leakage):
    assert least_distortion_of_prior(prior, leakage) == pytest.approx(minimax_of_prior(prior, leakage), abs=ROUNDING)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("leakage", [1e-6, 0.3, 1.7, 8.0])
def test_least_distortion_of_a_prior_by_the_full_program(seed, leakage):
    prior = random_vertices("II", seed, most_letters=6, most_vertices=1)
    expected = least_distortion(prior, leakage)
    assert least_distortion_of_prior(prior[0], leakage) == pytest.approx(expected, abs=1e-9)  # the solver's tolerance


@given(vertex_sets(), leakages)
def test_every_member_bounds_the_whole_set(vertices, leakage):
    middle = least_distortion_of_prior(vertices.mean(axis=0), leakage)
    assert middle <= least_distortion(vertices, leakage) + 1e-9  # the oracle's solver


def test_small_distortions_keep_their_relative_precision():
    # Symmetric: (M - 1) / (t + M - 1), and as a rare letter costs more, only its own mass.
    assert least_distortion_of_prior([0.4, 0.3, 0.3], 60.0) == pytest.approx(2 * math.exp(-60.0), rel=1e-14)
    assert least_distortion_of_prior([1 - 1e-20, 1e-20], 10.0) == pytest.approx(1e-20, rel=1e-14)


@pytest.mark.parametrize("leakage", [800.0, math.inf])
def test_without_a_bound_nothing_need_change(leakage):
    assert least_distortion_of_prior([0.5, 0.5], leakage) == 0.0


@given(priors)
def test_breakpoints_of_a_prior(prior):
    falling = -np.sort(-prior)
    breakpoints, tails, others = prior_breakpoints(falling[::-1])
    for place, n in enumerate(range(len(prior), 1, -1)):
        assert others[place] == n - 1
        assert tails[place] == pytest.approx(sum(falling[n:]), abs=ROUNDING)
        assert breakpoints[place] == pytest.approx(sum(falling[n:]) + (n - 1) * falling[n - 1], abs=ROUNDING)
    assert (np.diff(breakpoints) >= -ROUNDING).all()


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_symmetric_regime_ends_where_the_rarest_letter_is_likeliest(source_class, seed):
    vertices = random_vertices(source_class, seed)
    program = DiagonalRatioProgram(vertices)
    vertices = vertices[:, vertices.max(axis=0) > 0]
    others = vertices.shape[1] - 1
    end = program.symmetric_distortion
    assert end == pytest.approx(others * highest_floor(vertices), abs=1e-9)  # the oracle's solver
    below, above = 0.99 * end, end + 0.01 * (program.perfect.distortion - end)
    if below > 0:
        leakage = math.log(others * (1 - below) / below)
        assert least_distortion(vertices, leakage) == pytest.approx(below, abs=1e-9)
    if above > end > 0:
        leakage = math.log(others * (1 - above) / above)
        assert least_distortion(vertices, leakage) < above - 1e-9


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_active_sets(source_class, seed, share):
    """An active set gives the leakage along the whole interval on which it says it stays optimal."""
    vertices = random_vertices(source_class, seed)
    program = DiagonalRatioProgram(vertices)
    end = program.perfect.distortion
    distortion = program.symmetric_distortion + share * (end - program.symmetric_distortion)
    active_set = program.active_set(distortion) if 0 < distortion < end - 1e-9 else None
    if active_set is None:
        return
    lower, upper = active_set.interval(distortion)
    assert lower <= distortion <= upper
    numerator, denominator = active_set.ratio(distortion)

    def leakage(where):
        step = np.array([1.0, where - distortion])
        return math.log((numerator @ step) / (denominator @ step))

    for where in (distortion, max(lower, 1e-3) * 0.7 + distortion * 0.3, distortion * 0.3 + min(upper, end) * 0.7):
        assert least_distortion(vertices, leakage(where)) == pytest.approx(where, abs=1e-9)  # the oracle's solver


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_distortion_and_leakage_are_two_ways_to_one_optimum(source_class, seed):
    vertices = random_vertices(source_class, seed)
    program = DiagonalRatioProgram(vertices)
    for share in (0.05, 0.33, 0.8):
        distortion = share * program.perfect.distortion
        if distortion == 0:
            continue
        one = program.at_distortion(distortion)
        kept = 1 - changed(one)
        leakage = math.log(((kept.sum() - kept) / changed(one)).max())
        other = program.at_leakage(leakage)
        # Optimal diagonals need not be unique, their distortion is; both are exact to rounding.
        assert (vertices @ changed(one)).max() == pytest.approx(distortion, abs=1e-12)
        assert (vertices @ changed(other)).max() == pytest.approx(distortion, abs=1e-12)
        for weights in (one.weights, other.weights):
            assert (weights >= 0).all() and weights.sum() == pytest.approx(1, abs=1e-12)
            assert minimax_of_prior(weights @ vertices, leakage) == pytest.approx(
                distortion, abs=1e-9
            )  # moved by a hair


@given(priors, st.floats(0.01, 0.99))
def test_one_prior_follows_the_closed_form(prior, share):
    distortion = share * (1 - prior.max())
    if distortion == 0:
        return
    found = DiagonalRatioProgram(prior[np.newaxis]).at_distortion(distortion)
    kept = 1 - changed(found)
    published = kept > 0
    ratio = ((kept.sum() - kept[published]) / changed(found)[published]).max()
    assert math.log(ratio) == pytest.approx(leakage_of_prior(prior, distortion), abs=1e-12)


def test_letters_that_never_occur_are_never_published():
    program = DiagonalRatioProgram(np.array([[0.5, 0.0, 0.5], [0.25, 0.0, 0.75]]))
    assert program.letter_count == 2
    assert changed(program.at_distortion(0.1)) == pytest.approx([0.1, 1.0, 0.1], abs=ROUNDING)
    assert changed(program.at_leakage(math.log(9))) == pytest.approx([0.1, 1.0, 0.1], abs=ROUNDING)


def exact_leakage(vertices, distortion):
    """The unscaled program (2) in fractions: ``1 + (M - 1) sigma - sum e``, with ``e_i = 1 + x_i``."""
    size, budget = vertices.shape[1], Fraction(distortion)
    rows = [{**dict(enumerate(map(Fraction, row))), size: -budget} for row in vertices]
    rows += [{i: Fraction(1), size: Fraction(-1)} for i in range(size)]
    upper = [-sum(map(Fraction, row)) for row in vertices] + [Fraction(-1)] * size
    found = exact_optimum([-1] * size + [size - 1], rows, upper)
    ratio = 1 - size + found.objective
    return math.log(ratio.numerator) - math.log(ratio.denominator) if ratio > 2 else math.log1p(ratio - 1)


@pytest.mark.parametrize("seed", range(25))
def test_rare_letters_and_tiny_distortions(seed):
    """Probabilities down to 1e-12 and distortions of their order: in nats, the optimum, alone and along the whole curve."""
    rng = np.random.default_rng(seed)
    vertices = rng.dirichlet(np.ones(4), size=3) * 10.0 ** -rng.integers(0, 13, size=(3, 4))
    source = SourceSet(vertices / vertices.sum(axis=1, keepdims=True))
    curve = exact_curve(source)
    for distortion in (
        *(curve.breakpoints[:-1] * (1 - 1e-13)),
        *(curve.breakpoints[-1] * 10.0 ** -rng.uniform(0, 13, 2)),
    ):
        best = optimal_mechanism(source, distortion=distortion)
        expected = exact_leakage(source.vertices, float(distortion))
        assert best.leakage == pytest.approx(expected, abs=1e-9) and best.distortion <= distortion * (1 + 1e-12)
        assert float(curve.leakage(distortion)) == pytest.approx(expected, abs=1e-9)
        alone = best.least_favorable_prior
        assert alone is None or leakage_of_prior(alone, distortion) == pytest.approx(expected, abs=1e-9)


def test_the_budget_that_a_larger_one_leaked_more_than():
    source = SourceSet([[0.5, 0.5 - 9e-12, 9e-12], [0.6, 0.4 - 9e-12, 9e-12]])
    found = [optimal_mechanism(source, distortion=distortion).leakage for distortion in (9e-12, 9.0000009e-12)]
    assert found == pytest.approx([exact_leakage(source.vertices, d) for d in (9e-12, 9.0000009e-12)], abs=1e-9)
    assert found[0] > found[1]


@pytest.mark.parametrize("distortion", [0.45, 0.5, 0.54])
def test_a_prior_on_its_own_jump_is_moved_beyond_it(distortion):
    source = SourceSet([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    best = optimal_mechanism(source, distortion=distortion)
    alone = optimal_mechanism(SourceSet(best.least_favorable_prior), distortion=distortion)
    assert best.leakage > 0.04 and alone.leakage == pytest.approx(best.leakage, abs=1e-9)


@pytest.mark.parametrize("notion", [DifferentialPrivacy(), ApproximateDP(0.1)], ids=str)
@pytest.mark.parametrize("leakage", [38.0, 200.0, 650.0])
def test_large_leakages_are_those_of_tiny_distortions(notion, leakage):
    source = SourceSet([[0.5, 0.3, 0.2], [0.4, 0.5, 0.1]])
    best = optimal_mechanism(source, leakage=leakage, notion=notion)
    keeps = 1 - getattr(notion, "delta", 0.0)
    assert best.distortion == pytest.approx(keeps * 2 * math.exp(-leakage), rel=1e-9) and best.leakage <= leakage
    again = optimal_mechanism(source, distortion=best.distortion, notion=notion)
    assert again.leakage == pytest.approx(leakage, abs=1e-9)


def test_beyond_what_floats_hold():
    source = SourceSet([[0.5, 0.3, 0.2], [0.4, 0.5, 0.1]])
    assert 0 < optimal_mechanism(source, leakage=1e4).distortion < 1e-300
    assert optimal_mechanism(source, distortion=5e-324).leakage == math.inf
    best = optimal_mechanism(source, distortion=0.0)
    assert (best.leakage, best.distortion, best.gap) == (math.inf, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_one_exchange_leads_to_the_next_active_set(seed):
    vertices = random_vertices("III", seed)
    program = DiagonalRatioProgram(vertices)
    place, end = program.symmetric_distortion * (1 + 1e-9), program.perfect.distortion
    active_set = program.active_set(place) if 0 < place < end - 1e-9 else None
    while active_set is not None:
        place, active_set = active_set.successor(place)
        if active_set is None or place >= end * (1 - 1e-9) or not active_set.is_optimal(place):  # ties
            return
        numerator, denominator = active_set.ratio(place)
        assert math.log(numerator[0] / denominator[0]) == pytest.approx(exact_leakage(vertices, place), abs=1e-9)
