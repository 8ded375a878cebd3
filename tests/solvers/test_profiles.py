"""Symmetric mechanisms on databases: against the definitions on whole matrices, and programs of the tests' own.

That no mechanism is better than the symmetric ones is tried in ``tests/test_databases.py``.
"""

import itertools
import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from paper_repro.solvers import profiles
from paper_repro.solvers.profile_information import InformationProfiles, SibsonProfiles
from paper_repro.solvers.profile_mass import MassProfiles
from paper_repro.solvers.profile_moment import MomentProfiles
from paper_repro.solvers.profile_ratio import PointwiseRatioProfiles, RatioProfiles
from tests.oracles.notions import database_distances, logarithm, renyi_divergence, sibson_information
from tests.oracles.tradeoffs import information, pointwise_ratio, solve

ROUNDING = 1e-12
# HiGHS works to 1e-10, Clarabel to about 1e-9.
LINEAR = 1e-8
CONIC = 1e-6
SPACES = [(2, 1), (3, 1), (2, 2), (2, 3), (3, 2), (4, 2), (2, 4)]
NOTIONS = [
    (RatioProfiles, ()),
    (MomentProfiles, (1.01,)),
    (MomentProfiles, (2.0,)),
    (MomentProfiles, (50.0,)),
    (InformationProfiles, ()),
    (MassProfiles, ()),
    (SibsonProfiles, (1.01,)),
    (SibsonProfiles, (2.0,)),
    (SibsonProfiles, (50.0,)),
    (RatioProfiles, (0.0,)),
    (RatioProfiles, (0.05,)),
    (RatioProfiles, (0.6,)),
    (PointwiseRatioProfiles, (0.0,)),
    (PointwiseRatioProfiles, (1e-6,)),
    (PointwiseRatioProfiles, (0.05,)),
    (PointwiseRatioProfiles, (0.6,)),
]


def shell_sizes(values, records):
    return np.array([math.comb(records, changed) * (values - 1) ** changed for changed in range(records + 1)], float)


def random_profile(values, records, seed):
    """Logarithms of a profile that may have empty shells, from next to uniform to nearly the identity."""
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.normal(size=records + 1) * rng.choice([0.01, 1, 5])) * (rng.random(records + 1) > 0.1)
    weights[0] += not weights.any()
    with np.errstate(divide="ignore"):
        return np.log(weights / (shell_sizes(values, records) @ weights))


# ---- the definitions, on the whole matrix


def excess_by_definition(matrix, distance, delta):
    """Approximate differential privacy, standard: the least log t, by halving; it is a sum that falls with t."""
    first, second = (matrix[rows] for rows in np.nonzero(distance == 1))

    def private(log_ratio):
        return np.maximum(first - math.exp(log_ratio) * second, 0).sum(axis=1).max() <= delta

    low, high = 0.0, 100.0
    if private(low):
        return 0.0
    if not private(high):
        return math.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if private(middle) else (middle, high)
    return high


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_leakages_are_those_of_the_matrix(space, seed):
    values = space[0]
    distance, profile = database_distances(*space).astype(int), random_profile(*space, seed)
    matrix, pairs = np.exp(profile)[distance], tuple(zip(*np.nonzero(distance == 1), strict=True))
    uniform = np.full(len(matrix), 1 / len(matrix))
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=0, atol=ROUNDING)
    agree = {"rel": 1e-9, "abs": 1e-10}
    assert profiles.expected_distortion(profile, values) == pytest.approx((matrix[0] * distance[0]).sum(), **agree)
    for delta in (0.0, 0.02, 0.3):
        found = profiles.pointwise_privacy(profile, values, delta)
        assert found == pytest.approx(logarithm(pointwise_ratio(matrix, pairs, delta)), **agree)
        found = profiles.approximate_privacy(profile, values, delta)
        assert found == pytest.approx(excess_by_definition(matrix, distance, delta), **agree)
    found = profiles.differential_privacy(profile, values)
    assert found == pytest.approx(logarithm(pointwise_ratio(matrix, pairs)), **agree)
    assert profiles.maximal_leakage(profile, values) == pytest.approx(math.log(matrix.max(axis=0).sum()), **agree)
    assert profiles.maximal_leakage(profile, values) == pytest.approx(
        math.log((matrix / matrix.mean(axis=0)).max()), **agree
    )
    assert profiles.mutual_information(profile, values) == pytest.approx(information(uniform, matrix), **agree)
    for order in (1.01, 2.0, 7.5):
        found = profiles.renyi_privacy(profile, values, order)
        assert found == pytest.approx(renyi_divergence(matrix, pairs[:1], order), **agree)
        found = profiles.sibson_information(profile, values, order)
        assert found == pytest.approx(sibson_information(uniform, matrix, order), **agree)


def test_shell_sizes_count_databases():
    for space in SPACES:
        counts = np.bincount(database_distances(*space)[0].astype(int))
        np.testing.assert_allclose(np.exp(profiles.log_shell_sizes(*space)), counts, rtol=1e-14)
    assert profiles.log_shell_sizes(1, 2).tolist() == [0, -np.inf, -np.inf]
    with pytest.raises(ValueError, match="values must be a whole number, at least 1; got 0"):
        profiles.log_shell_sizes(0, 2)


# ---- programs in the n + 1 masses of the shells


def least_maximal_leakage(values, records, distortion):
    """Variables: probabilities q_l times m^n, and their largest."""
    shares = shell_sizes(values, records) / values**records
    found = solve(
        np.append(np.zeros(records + 1), 1.0),
        A_ub=np.vstack(
            [
                np.hstack([np.eye(records + 1), -np.ones((records + 1, 1))]),
                np.append(shares * np.arange(records + 1), 0),
            ]
        ),
        b_ub=np.append(np.zeros(records + 1), distortion),
        A_eq=[np.append(shares, 0)],
        b_eq=[1.0],
    )
    return math.log(found.fun)


def least_distortion_pointwise(values, records, leakage, delta):
    """With the constraints in both directions, and q >= 0; variables q_l."""
    steps = np.eye(records + 1)[:-1] - math.exp(leakage) * np.eye(records + 1)[1:]
    back = np.eye(records + 1)[1:] - math.exp(leakage) * np.eye(records + 1)[:-1]
    sizes = shell_sizes(values, records)
    return solve(
        sizes * np.arange(records + 1),
        A_ub=np.vstack([steps, back]),
        b_ub=np.full(2 * records, delta),
        A_eq=[sizes],
        b_eq=[1.0],
    ).fun


def least_distortion_standard(values, records, leakage, delta):
    """Variables q_l, and the excess of the two kinds of outputs."""
    ways, ratio, identity = shell_sizes(values, records - 1), math.exp(leakage), np.eye(records + 1)
    rows = np.vstack([identity[:-1] - ratio * identity[1:], identity[1:] - ratio * identity[:-1]])
    sizes = shell_sizes(values, records)
    return solve(
        np.append(sizes * np.arange(records + 1), np.zeros(2 * records)),
        A_ub=np.vstack([np.hstack([rows, -np.eye(2 * records)]), np.concatenate([np.zeros(records + 1), ways, ways])]),
        b_ub=np.append(np.zeros(2 * records), delta),
        A_eq=[np.append(sizes, np.zeros(2 * records))],
        b_eq=[1.0],
    ).fun


@pytest.mark.parametrize("seed", range(60))
def test_linear_programs_over_profiles(seed):
    rng = np.random.default_rng(seed)
    space = values, records = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    distortion = float(rng.uniform(0.05, 1)) * records * (values - 1) / values
    program = MassProfiles(*space)
    assert program.least_leakage(distortion) == pytest.approx(least_maximal_leakage(*space, distortion), abs=LINEAR)
    for leakage in (0.0, *rng.uniform(0, 4, size=3)):
        exact = least_distortion_pointwise(*space, leakage, 0.0)
        assert RatioProfiles(*space).least_distortion(leakage) == pytest.approx(exact, abs=LINEAR)
        for delta in 10 ** rng.uniform(-4, -0.05, size=3):
            exact = least_distortion_pointwise(*space, leakage, delta)
            assert PointwiseRatioProfiles(*space, delta).least_distortion(leakage) == pytest.approx(exact, abs=LINEAR)
            exact = least_distortion_standard(*space, leakage, delta)
            assert RatioProfiles(*space, delta).least_distortion(leakage) == pytest.approx(exact, abs=LINEAR)


def conic(objective, constraints):
    problem = cp.Problem(objective, constraints)
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    return problem.value


def budget_of_masses(values, records, distortion):
    masses = cp.Variable(records + 1, nonneg=True)
    return masses, [cp.sum(masses) == 1, np.arange(records + 1) @ masses <= distortion]


@pytest.mark.parametrize("space", [(2, 2), (3, 2), (2, 4), (4, 3)], ids=str)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_conic_programs_over_profiles(space, share):
    values, records = space
    distortion = share * records * (values - 1) / values
    shares = shell_sizes(*space) / values**records
    masses, limits = budget_of_masses(*space, distortion)
    exact = conic(cp.Minimize(cp.sum(cp.rel_entr(masses, shares))), limits)
    assert InformationProfiles(*space).least_leakage(distortion) == pytest.approx(exact, abs=CONIC)
    for order in (1.5, 3.0):
        moments = cp.Variable(records + 1)
        cone = cp.PowCone3D(moments, cp.Constant(shares), masses, np.full(records + 1, 1 / order))
        exact = math.log(conic(cp.Minimize(cp.sum(moments)), [*limits, cone])) / (order - 1)
        assert SibsonProfiles(*space, order).least_leakage(distortion) == pytest.approx(exact, abs=CONIC)
        ways = shell_sizes(values, records - 1)
        near = cp.multiply(ways / shell_sizes(*space)[:-1], masses[:-1])
        far = cp.multiply(ways / shell_sizes(*space)[1:], masses[1:])
        up, down = cp.Variable(records), cp.Variable(records)
        power = np.full(records, 1 / order)
        cones = [cp.PowCone3D(up, far, near, power), cp.PowCone3D(down, near, far, power)]
        moment = cp.sum(up) + cp.sum(down) + (values - 2) * cp.sum(far)
        exact = math.log(conic(cp.Minimize(moment), [*limits, *cones])) / (order - 1)
        assert MomentProfiles(*space, order).least_leakage(distortion) == pytest.approx(exact, abs=CONIC)


# ---- every program: what it proposes meets the bound, in both directions


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: f"{notion[0].__name__}{notion[1]}")
@pytest.mark.parametrize("space", [(2, 1), (3, 1), (2, 2), (5, 3), (2, 30), (50, 1000)], ids=str)
def test_profiles_meet_their_bounds(notion, space):
    kind, parameters = notion
    values, records = space
    program = kind(*space, *parameters)
    sizes, free = profiles.log_shell_sizes(*space), program.distortion_without_leakage
    for distortion in (1e-6 * free, 0.02 * free, 0.3, 0.4 * free, 0.9 * free, free * (1 - 1e-9)):
        profile = program.at_distortion(distortion)
        assert profiles.log_sum_exp(sizes + profile) == pytest.approx(0, abs=1e-11)
        assert profiles.expected_distortion(profile, values) <= distortion * (1 + 1e-9)
        leakage = program.least_leakage(distortion)
        assert program.leakage(profile) == pytest.approx(leakage, rel=1e-10, abs=1e-10)
        again = program.at_leakage(leakage)
        assert program.leakage(again) <= leakage + 1e-10 * (1 + leakage)
        least = program.least_distortion(leakage)
        assert profiles.expected_distortion(again, values) == pytest.approx(least, rel=1e-9, abs=1e-11)
        # Where the leakage is next to its largest or to 0 it says little of the distortion.
        if 1e-6 < leakage < records * math.log(values) - 1e-3:
            assert least == pytest.approx(distortion, rel=1e-7)
            gap = profiles.expected_distortion(profile, values) - program.least_distortion(program.leakage(profile))
            assert abs(gap) < 1e-8 * distortion


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: f"{notion[0].__name__}{notion[1]}")
def test_no_random_profile_beats_a_bound(notion):
    kind, parameters = notion
    for seed, space in itertools.product(range(20), SPACES):
        program, profile = kind(*space, *parameters), random_profile(*space, seed)
        distortion, leakage = profiles.expected_distortion(profile, space[0]), program.leakage(profile)
        assert leakage >= program.least_leakage(min(distortion, space[1])) - 1e-9
        assert distortion >= program.least_distortion(leakage) - 1e-7


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: f"{notion[0].__name__}{notion[1]}")
def test_ends_of_the_curves(notion):
    kind, parameters = notion
    for values, records in [(2, 1), (3, 2), (2, 3), (50, 1000)]:
        program = kind(values, records, *parameters)
        bounded = kind in (InformationProfiles, MassProfiles, SibsonProfiles)
        most = records * math.log(values) if bounded else math.inf
        for profile in (program.at_distortion(0.0), program.at_leakage(math.inf)):
            assert profile.tolist() == [0.0] + [-math.inf] * records
            assert program.leakage(profile) == pytest.approx(most, rel=ROUNDING)
        assert program.least_leakage(0.0) == pytest.approx(most, rel=ROUNDING)
        assert program.least_distortion(math.inf) == 0
        for distortion in (program.distortion_without_leakage, float(records)):
            uniform = program.at_distortion(distortion)
            np.testing.assert_allclose(uniform, -records * math.log(values), rtol=ROUNDING)
            assert program.leakage(uniform) < 1e-11 and program.least_leakage(distortion) == 0
        free = program.at_leakage(0.0)
        assert program.leakage(free) < 1e-11
        assert profiles.expected_distortion(free, values) == pytest.approx(program.least_distortion(0.0), rel=1e-9)
        assert program.least_leakage(program.least_distortion(0.0)) == pytest.approx(0, abs=1e-11)
    for leakage in (800.0, 1e5):  # more than the exponent of a float holds
        identity = leakage > most or most == math.inf
        assert program.least_distortion(leakage) < 1e-300 if identity else program.least_distortion(leakage) > 1
        assert program.leakage(program.at_leakage(leakage)) <= leakage * (1 + ROUNDING)
    alone = kind(1, 3, *parameters)  # one value: nothing to hide
    assert alone.at_distortion(0.0).tolist() == alone.at_leakage(0.5).tolist() == [0, 0, 0, 0]
    assert alone.leakage(alone.at_distortion(1.0)) == alone.least_leakage(0.0) == alone.least_distortion(0.0) == 0


# ---- closed forms


@pytest.mark.parametrize("values", [2, 3, 10])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.8])
def test_one_record_is_the_local_setting(values, share):
    distortion = share * (values - 1) / values
    kept, changed = 1 - distortion, distortion / (values - 1)
    expected = {
        RatioProfiles(values, 1): math.log(kept / changed),
        MassProfiles(values, 1): math.log(values * kept),
        InformationProfiles(values, 1): math.log(values) + kept * math.log(kept) + distortion * math.log(changed),
        SibsonProfiles(values, 1, 2.5): math.log(values) + math.log(kept**2.5 + (values - 1) * changed**2.5) / 1.5,
        MomentProfiles(values, 1, 2.5): math.log(
            changed * (values - 2 + (kept / changed) ** 2.5 + (kept / changed) ** -1.5)
        )
        / 1.5,
        RatioProfiles(values, 1, 0.1): max(0.0, math.log((kept - 0.1) / changed)),
        PointwiseRatioProfiles(values, 1, 0.1): max(0.0, math.log((kept - 0.1) / changed)),
    }
    for program, leakage in expected.items():
        assert program.least_leakage(distortion) == pytest.approx(leakage, abs=ROUNDING), program
        assert program.leakage(program.at_distortion(distortion)) == pytest.approx(leakage, abs=1e-11), program


@pytest.mark.parametrize("space", [*SPACES, (50, 1000)], ids=str)
def test_products(space):
    values, records = space
    for share in (0.05, 0.5, 0.95):
        distortion = share * records * (values - 1) / values
        profile = RatioProfiles(*space).at_distortion(distortion)
        kept, changed = math.log1p(-distortion / records), math.log(distortion / records / (values - 1))
        shells = np.arange(records + 1)
        np.testing.assert_allclose(profile, (records - shells) * kept + shells * changed, rtol=1e-12, atol=1e-12)
        log_odds = math.log((values - 1) * (records - distortion) / distortion)
        assert profiles.differential_privacy(profile, values) == pytest.approx(log_odds, rel=1e-11, abs=1e-11)
        information = records * math.log(values * (1 - distortion / records)) - distortion * log_odds
        assert profiles.mutual_information(profile, values) == pytest.approx(information, rel=1e-10, abs=1e-11)
        for order in (1.5, 4.0):  # as for one record
            alone = MomentProfiles(values, 1, order).least_leakage(distortion / records)
            assert profiles.renyi_privacy(profile, values, order) == pytest.approx(alone, rel=1e-10, abs=1e-11)
            # Theorem 7(6), Zhong and Bu 2022: what the product leaks; the optimum is below unless n = 1
            product = records * (
                math.log(values) + np.logaddexp(order * kept, math.log(values - 1) + order * changed) / (order - 1)
            )
            assert profiles.sibson_information(profile, values, order) == pytest.approx(product, rel=1e-10)
            best = SibsonProfiles(*space, order).least_leakage(distortion)
            if records == 1:
                assert best == pytest.approx(product, abs=1e-11)
            else:
                assert best < product - (1e-5 if share < 0.9 else 1e-8)


def test_large_orders_and_orders_near_one_lead_to_the_other_notions():
    for space, distortion in [((2, 2), 0.4), ((3, 4), 1.5), ((50, 1000), 300.0)]:
        information = InformationProfiles(*space).least_leakage(distortion)
        leakage = MassProfiles(*space).least_leakage(distortion)
        found = [SibsonProfiles(*space, order).least_leakage(distortion) for order in (1.0001, 1.01, 2.0, 50.0, 1e5)]
        assert information < found[0] and found[-1] < leakage
        assert all(np.diff(found) > 0)
        assert found[0] == pytest.approx(information, rel=1e-3) and found[-1] == pytest.approx(leakage, rel=1e-3)
        renyi = [MomentProfiles(*space, order).least_leakage(distortion) for order in (1.01, 2.0, 50.0, 1e5)]
        assert all(np.diff(renyi) > 0)
        assert renyi[-1] == pytest.approx(RatioProfiles(*space).least_leakage(distortion), rel=1e-3)


def test_thousand_records():
    values, records, distortion = 50, 1000, 300.0
    local = distortion / records
    log_odds = math.log(49 * 0.7 / 0.3)
    assert RatioProfiles(values, records).least_leakage(distortion) == pytest.approx(log_odds, rel=1e-13)
    information = InformationProfiles(values, records).least_leakage(distortion)
    assert information == pytest.approx(records * InformationProfiles(values, 1).least_leakage(local), rel=1e-13)
    # The approximate definitions lie in the order of what they ask.
    standard = RatioProfiles(values, records, 0.01).least_leakage(distortion)
    assert standard == pytest.approx(math.log(49 * (0.7 - 0.01) / 0.3), rel=1e-13)
    assert PointwiseRatioProfiles(values, records, 0.01).least_leakage(distortion) < standard < log_odds
    # Filling a ball exactly: the mean distance within it, and the number of databases in it, as whole numbers.
    sizes = [math.comb(records, changed) * 49**changed for changed in range(301)]
    moment, ball = sum(changed * size for changed, size in enumerate(sizes)), sum(sizes)
    leakage = math.log(50**1000 // ball)
    assert MassProfiles(values, records).least_leakage(moment / ball) == pytest.approx(leakage, rel=1e-12)
    profile = MassProfiles(values, records).at_distortion(moment / ball)
    np.testing.assert_allclose(profile[:300], -math.log(ball), rtol=1e-12)


def test_without_delta_pointwise_is_differential_privacy():
    for space, distortion in itertools.product([(2, 3), (5, 2), (50, 1000)], [0.01, 0.5, 1.2]):
        exact = RatioProfiles(*space)
        assert PointwiseRatioProfiles(*space, 0.0).least_leakage(distortion) == pytest.approx(
            exact.least_leakage(distortion), rel=1e-11
        )
        np.testing.assert_allclose(
            PointwiseRatioProfiles(*space, 0.0).at_distortion(distortion), exact.at_distortion(distortion), rtol=1e-10
        )


def test_delta_that_drowns_the_rest_of_a_probability_leaks_no_more_than_claimed():
    # The exact database has probability delta and a share below rounding more: a last digit too much would show.
    program = RatioProfiles(50, 1000, 0.1)
    profile = program.at_distortion(300.0)
    assert np.exp(profile[0]) <= 0.1
    assert program.leakage(profile) == pytest.approx(program.least_leakage(300.0), abs=1e-11)


def test_a_shell_with_next_to_no_mass_leaks_no_more_than_claimed():
    # At t = sqrt(17) - 2, three shells with e_l = 0.05 hold all mass; next to it, the fourth holds almost none.
    ratio = math.sqrt(17) - 2
    pointwise, edge = PointwiseRatioProfiles(2, 3, 0.05), 0.05 * (3 * (1 + ratio) + 6)
    assert pointwise.least_leakage(edge) == pytest.approx(math.log(ratio), abs=1e-11)
    for distortion in edge * (1 + np.array([-1e-9, -1e-12, 0.0, 1e-15, 1e-12, 1e-9])):
        found = pointwise.at_distortion(distortion)
        assert pointwise.leakage(found) == pytest.approx(pointwise.least_leakage(distortion), abs=1e-11)


def test_small_leakages_keep_their_digits():
    for short in (1e-3, 1e-5, 1e-7):  # of the distortion without leakage
        distortion = 2 / 3 - short
        kept, changed = 1 - Fraction(distortion), Fraction(distortion) / 2
        exact = float(kept**2 / changed + changed + changed**2 / kept - 1)  # order 2; the leakage is about 5 short^2
        assert MomentProfiles(3, 1, 2.0).least_leakage(distortion) == pytest.approx(math.log1p(exact), rel=1e-8, abs=0)
        exact = float(3 * (kept**2 + 2 * changed**2) - 1)
        assert SibsonProfiles(3, 1, 2.0).least_leakage(distortion) == pytest.approx(math.log1p(exact), rel=1e-7, abs=0)


def test_what_is_out_of_range_is_refused():
    for kind in (RatioProfiles, MassProfiles):
        for space in [(0, 2), (2, 0)]:
            with pytest.raises(ValueError, match="must be a whole number, at least 1; got 0"):
                kind(*space)
        for distortion in (-0.1, 2.1, math.nan):
            for method in (kind(2, 2).at_distortion, kind(2, 2).least_leakage):
                with pytest.raises(ValueError, match="between 0 and 2"):
                    method(distortion)
        for leakage in (-0.1, math.nan):
            for method in (kind(2, 2).at_leakage, kind(2, 2).least_distortion):
                with pytest.raises(ValueError, match="at least 0 nats"):
                    method(leakage)
    for alpha, kind in itertools.product((0.5, math.inf, math.nan), (MomentProfiles, SibsonProfiles)):
        with pytest.raises(ValueError, match=r"alpha must be (at least 1|a finite number above 1)"):
            kind(2, 2, alpha)
    for delta, kind in itertools.product((-0.1, 1.0, math.nan), (RatioProfiles, PointwiseRatioProfiles)):
        with pytest.raises(ValueError, match="at least 0 and below 1"):
            kind(2, 2, delta)
