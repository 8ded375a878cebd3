"""The whole curve in closed form, against optima found one by one, and what it does at its breakpoints."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from paper_repro import SourceSet, exact_curve, leakage_curve, load_source_set
from paper_repro.curves import PIXELS, refined
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.tradeoffs import leakage_error, leakage_of_prior, least_distortion, least_distortion_without_leakage

# Curve and optimum are computed apart, both exact to rounding; near the start of a curve 1e-14 in distortion is 1e-11 nats.
AGREEMENT = 1e-9

priors = vertex_sets(most_letters=7, most_vertices=1).map(lambda vertices: vertices[0])


def check_breakpoints(curve):
    """Inner breakpoints join two pieces; the last one is a jump down to 0."""
    if not len(curve.breakpoints):
        return
    p, q, r, s = (part[1:] for part in curve.pieces)
    inner = curve.breakpoints[:-1]
    after = np.log((p + q * inner) / (r + s * inner))
    assert after == pytest.approx(curve.limits_from_below[:-1], abs=1e-9)
    scaled = np.array(curve.pieces) / np.abs(curve.pieces).max(axis=0)
    assert (np.abs(np.diff(scaled, axis=1)).max(axis=0, initial=1.0) > 1e-14).all(), "a breakpoint that is none"
    assert (np.diff(curve.breakpoints) > 0).all() and (np.diff(curve.limits_from_below) < 0).all()
    assert curve.leakage(curve.breakpoints[-1]) == 0


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(25))
def test_curves_follow_the_optima(source_class, seed):
    vertices = random_vertices(source_class, seed)
    source, curve = SourceSet(vertices), exact_curve(SourceSet(vertices))
    check_breakpoints(curve)
    end = least_distortion_without_leakage(vertices)
    shares = np.array([0.0, 1e-4, 0.1, 0.35, 0.6, 0.85, 0.99, 1 + 1e-9])
    grid = np.minimum(1.0, np.append(shares * end, [*curve.breakpoints, 1.0]))
    assert curve.leakage(grid) == pytest.approx(leakage_curve(source, grid), abs=AGREEMENT)


@given(vertex_sets(), inside())
def test_curves_of_sets_with_ties_and_zeros(vertices, share):
    source, curve = SourceSet(vertices), exact_curve(SourceSet(vertices))
    check_breakpoints(curve)
    distortion = share * least_distortion_without_leakage(vertices)
    assert curve.leakage(distortion) == pytest.approx(leakage_curve(source, distortion), abs=AGREEMENT)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(12))
def test_curves_meet_the_full_program(source_class, seed):
    vertices = random_vertices(source_class, seed)
    curve = exact_curve(SourceSet(vertices))
    for middle in curve.breakpoints - np.diff(curve.breakpoints, prepend=0.0) / 2:
        assert leakage_error(vertices, middle, float(curve.leakage(middle))) <= 1e-7  # asked of every optimum


@given(priors, inside())
def test_one_prior_follows_the_closed_form(prior, share):
    curve = exact_curve(SourceSet(prior))
    check_breakpoints(curve)
    distortion = share * (1 - prior.max())
    assert curve.leakage(distortion) == pytest.approx(leakage_of_prior(prior, distortion), abs=1e-12)  # rounding


@given(priors)
def test_breakpoints_of_one_prior(prior):
    falling = -np.sort(-prior)
    tails = 1 - np.cumsum(falling)
    # B_n, from the likeliest n letters to the next, for each n that a tie does not skip.
    served = [n for n in range(2, len(prior) + 1) if falling[n - 1] > np.append(falling, 0)[n]]
    expected = sorted(tails[n - 1] + (n - 1) * falling[n - 1] for n in served)
    assert exact_curve(SourceSet(prior)).breakpoints == pytest.approx(np.array(expected), abs=1e-14)  # rounding of sums


@given(priors.filter(lambda prior: len(prior) > 1 and sorted(prior)[-2] > 0))
def test_height_of_the_jump_for_one_prior(prior):
    first, second = sorted(prior)[-1], sorted(prior)[-2]
    assert exact_curve(SourceSet(prior)).limits_from_below[-1] == pytest.approx(math.log(first / second), abs=1e-12)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(12))
def test_height_of_the_jump(source_class, seed):
    """Just below the height, nothing is to be had but the distortion without leakage; just above, something is."""
    vertices = random_vertices(source_class, seed)
    curve = exact_curve(SourceSet(vertices))
    if not len(curve.breakpoints):
        return
    height, end = curve.limits_from_below[-1], least_distortion_without_leakage(vertices)
    assert curve.breakpoints[-1] == pytest.approx(end, abs=1e-9)  # the oracle's solver
    if height > 1e-6:
        assert least_distortion(vertices, height * (1 - 1e-6)) == pytest.approx(end, abs=1e-9)
        assert curve.distortion(height * 0.999) == curve.breakpoints[-1]
    assert least_distortion(vertices, height + 0.01) < end - 1e-6


@given(vertex_sets(), inside())
def test_leakage_and_distortion_are_inverse(vertices, share):
    curve = exact_curve(SourceSet(vertices))
    distortion = share * least_distortion_without_leakage(vertices)
    assert curve.distortion(curve.leakage(distortion)) == pytest.approx(distortion, abs=1e-12)  # rounding


@given(
    vertex_sets(), st.lists(st.floats(0, 1), min_size=2, max_size=6), st.lists(st.floats(0, 50), min_size=2, max_size=6)
)
def test_both_directions_fall(vertices, distortions, leakages):
    curve = exact_curve(SourceSet(vertices))
    found = curve.leakage(sorted(distortions))
    assert (found[1:] <= found[:-1] + AGREEMENT).all()
    assert (np.diff(curve.distortion(sorted(leakages))) <= 1e-12).all()  # rounding


@pytest.mark.parametrize("beside", [-1e-13, 0.0, 1e-13])
def test_a_distortion_that_misses_the_jump_by_rounding(beside):
    curve = exact_curve(load_source_set("P_IIIc_10"))
    assert curve.leakage(curve.breakpoints[-1] + beside) == 0
    assert curve.leakage(curve.breakpoints[-1] - 1e-11) == pytest.approx(curve.limits_from_below[-1], abs=1e-8)


def test_limits():
    curve = exact_curve(SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]]))
    assert curve.leakage(0) == math.inf and curve.leakage(1) == 0
    assert curve.distortion(math.inf) == 0 and curve.distortion(0) == curve.breakpoints[-1]
    assert curve.leakage([]).shape == (0,) and curve.leakage([[0.1, 0.2]]).shape == (1, 2)


@pytest.mark.parametrize("vertices", [[1.0], [[1.0], [1.0]], [0.0, 1.0], [[0.0, 1.0, 0.0]] * 2])
def test_one_letter_needs_no_curve(vertices):
    curve = exact_curve(SourceSet(vertices))
    assert curve.breakpoints.shape == (0,) and curve.limits_from_below.shape == (0,)
    assert (curve.leakage([0.0, 0.5, 1.0]) == 0).all() and (curve.distortion([0.0, 3.0, math.inf]) == 0).all()
    assert repr(curve) == "ExactCurve(0 pieces, zero everywhere)"


def test_two_letters():
    curve = exact_curve(SourceSet([[0.9, 0.1], [0.8, 0.2]]))
    assert curve.breakpoints == pytest.approx([0.2], abs=1e-15)
    assert curve.leakage(0.1) == pytest.approx(math.log(9), abs=1e-14)
    assert repr(curve) == "ExactCurve(1 pieces, zero from 0.2)"


def test_the_uniform_prior_has_one_piece():
    assert exact_curve(SourceSet(np.full(1000, 1e-3))).breakpoints == pytest.approx([0.999], abs=1e-12)


def test_a_large_prior(rng):
    prior = rng.dirichlet(np.ones(100_000))
    curve = exact_curve(SourceSet(prior))
    assert len(curve.breakpoints) == 99_999
    falling = -np.sort(-prior)
    for count in (2, 100, 50_000, 100_000):  # in the middle of the piece that publishes so many letters
        ends = [falling[n:].sum() + (n - 1) * falling[n - 1] if n <= 100_000 else 0.0 for n in (count + 1, count)]
        distortion, tail = sum(ends) / 2, falling[count:].sum()
        expected = math.log((count - 1) * (1 - distortion) / (distortion - tail))
        assert curve.leakage(distortion) == pytest.approx(expected, abs=1e-9)  # sums of 100,000 terms in another order


@pytest.mark.parametrize("rare", [1e-9, 1e-15])
def test_rare_letters_of_one_prior(rare):
    curve = exact_curve(SourceSet([0.5, 0.5 - rare, rare]))
    assert curve.breakpoints == pytest.approx([2 * rare, 0.5], rel=1e-6)  # 0.5 - 1e-15 is stored to 1e-16 at best
    assert curve.leakage(rare) == pytest.approx(math.log(2) - math.log(rare), abs=1e-6)


def test_letters_of_a_set_that_are_too_rare_are_left_out():
    rare = 1e-12
    with_it = SourceSet([[0.5, 0.5 - rare, rare], [0.6, 0.4 - rare, rare]])
    without = exact_curve(SourceSet([[0.5, 0.5], [0.6, 0.4]]))
    assert exact_curve(with_it).leakage([0.1, 0.3]) == pytest.approx(without.leakage([0.1, 0.3]), abs=1e-10)


@pytest.mark.parametrize("distortion", [-0.1, 1.1, math.nan])
def test_distortions_outside_0_and_1_are_refused(distortion):
    with pytest.raises(ValueError, match="between 0 and 1") as error:
        exact_curve(SourceSet([0.6, 0.4])).leakage([0.1, distortion])
    assert repr(distortion) in str(error.value)


@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf, "x", True])
def test_a_curve_is_rescaled_by_a_positive_number(factor):
    with pytest.raises(ValueError, match=r"factor must be .*a number between 1e-16 and 1e16; got"):
        exact_curve(SourceSet([0.6, 0.4])).rescaled(factor)


@pytest.mark.parametrize("leakage", [-0.1, math.nan])
def test_negative_leakages_are_refused(leakage):
    with pytest.raises(ValueError, match="at least 0 nats") as error:
        exact_curve(SourceSet([0.6, 0.4])).distortion([0.1, leakage])
    assert repr(leakage) in str(error.value)


# Points to draw a curve by


def falling(places, heights):
    """A curve with slope -1 and jumps of these heights at these places, taking the lower value there."""
    return lambda distortion: 2 - distortion + sum(h * (distortion < p) for p, h in zip(places, heights, strict=True))


@pytest.mark.parametrize(("place", "height"), [(0.3, 1.0), (0.31234, 0.2), (0.05, 0.1), (0.95, 0.05)])
def test_a_jump_is_found_with_both_its_ends(place, height):
    distortions, leakages, ends = refined(falling([place], [height]), [0, 1])
    assert ends.count("open") == ends.count("closed") == 1
    at = ends.index("open")
    assert ends[at + 1] == "closed"
    assert distortions[at] == distortions[at + 1] == pytest.approx(place, abs=2e-8)
    assert leakages[at] == pytest.approx(2 - place + height, abs=1e-6)
    assert leakages[at + 1] == pytest.approx(2 - place, abs=1e-6)
    assert (np.diff(distortions) >= 0).all()
    assert (np.diff(leakages) <= 0).all()


def test_two_jumps_and_several_curves():
    distortions, _, ends = refined(falling([0.25, 0.77], [0.5, 0.3]), np.linspace(0, 1, 11))
    assert [round(place, 6) for place, end in zip(distortions, ends, strict=True) if end] == [0.25, 0.25, 0.77, 0.77]
    curves = falling([0.25], [0.5]), falling([0.77], [0.3])
    distortions, leakages, ends = refined(lambda d: np.column_stack([curve(d) for curve in curves]), [0, 1])
    assert leakages.shape == (len(distortions), 2)
    assert [round(place, 6) for place, end in zip(distortions, ends, strict=True) if end] == [0.25, 0.25, 0.77, 0.77]


STEEP = [
    lambda d: -np.log(d),
    lambda d: 1 / d,
    lambda d: np.sqrt(1 - d),
    lambda d: np.maximum(0.3 - d, 0) ** 2,
    lambda d: np.maximum.reduce([5 - 40 * d, 1.2 - d, 0.31 - 0.2 * d]),  # convex, bent between the places
    lambda d: 0 * d,
]


@pytest.mark.parametrize("curve", STEEP)
@pytest.mark.parametrize("points", [2, 10, 200])
def test_lines_between_the_points_are_right_to_half_a_pixel(curve, points, rng):
    distortions, leakages, ends = refined(curve, np.linspace(0.01, 1, points))
    assert not any(ends)
    assert leakages == pytest.approx(curve(distortions))
    assert set(np.linspace(0.01, 1, points)) <= set(distortions) and len(distortions) < 500
    places = rng.uniform(0.01, 1, 400)
    scale = (np.array(PIXELS) - 1) / [0.99, np.ptp(leakages) or 1]
    drawn, true = (np.column_stack(pair) * scale for pair in ((distortions, leakages), (places, curve(places))))
    assert shapely.distance(shapely.LineString(drawn), shapely.points(true)).max() <= 0.5


def test_a_curve_is_followed_to_where_it_is_infinite():
    with np.errstate(divide="ignore"):
        distortions, leakages, ends = refined(lambda d: -np.log(d), [0.0, 0.5])
    assert leakages[0] == math.inf and np.isfinite(leakages[1:]).all() and not any(ends)
    assert distortions[1] < 0.5 / PIXELS[0]
