"""Databases of records: closed forms for the uniform prior, and any other source against a program over the whole channel."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
    SourceSet,
    database_distortion_curve,
    database_leakage_curve,
    line,
    optimal_database_mechanism,
)
from paper_repro import databases as under_test
from paper_repro.sources import distance_to_hull
from tests.conftest import NOTIONS, by_notion
from tests.oracles import DELTA
from tests.oracles import notions as oracles
from tests.oracles.notions import (
    database_distances,
    database_pairs,
    defined,
    leakage_error,
    renyi_divergence,
)
from tests.oracles.tradeoffs import least_cost_without_leakage

SPACES = [(2, 2), (2, 3), (3, 2)]
by_space = pytest.mark.parametrize("space", SPACES, ids=str)
# Every optimum meets its full program, in nats or in records.
AGREEMENT = 1e-6


def program(name, vertices, space):
    return oracles.program(name, vertices, database_distances(*space), database_pairs(*space))


def uniform(space):
    return np.full((1, space[0] ** space[1]), float(space[0]) ** -space[1])


def random_sets(space, seed):
    """One to three distributions over all databases, none of them uniform, nor independent over records."""
    rng, size = np.random.default_rng([23, *space, seed]), space[0] ** space[1]
    return rng.dirichlet(np.full(size, 3.0), size=1 + seed)


# ---- the uniform prior


@pytest.mark.parametrize(
    ("space", "distortion", "leakage"), [((2, 2), 0.4, 0.87547), ((3, 2), 0.4, 1.68640), ((2, 3), 0.8, 0.65233)]
)
def test_maximal_leakage_in_numbers(space, distortion, leakage):
    for notion in (MaximalLeakage(), MaximalInformation(), SibsonInformation(math.inf)):
        best = optimal_database_mechanism(*space, distortion=distortion, notion=notion)
        assert best.leakage == pytest.approx(leakage, abs=5e-6)  # half a unit of the last digit


@pytest.mark.parametrize("space", [(2, 1), (2, 2), (5, 3), (50, 1000), (1000, 50)], ids=str)
@pytest.mark.parametrize("share", [1e-9, 0.01, 0.3, 0.999])
def test_differential_privacy_in_closed_form(space, share):
    values, records = space
    distortion = share * records * (values - 1) / values
    best = optimal_database_mechanism(*space, distortion=distortion)
    assert best.leakage == pytest.approx(math.log((values - 1) * (records - distortion) / distortion), abs=1e-9)
    assert best.distortion == pytest.approx(distortion, rel=1e-11)
    assert best.log_profile.shape == (records + 1,) and best.profile.records == records
    back = optimal_database_mechanism(*space, leakage=best.leakage)
    assert back.distortion == pytest.approx(distortion, rel=1e-9)


@by_notion
@by_space
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_no_channel_is_better_than_the_symmetric_one(space, share, name):
    notion, prior = NOTIONS[name], uniform(space)
    whole = program(name, prior, space)
    free = least_cost_without_leakage(prior, database_distances(*space))
    distortion = share * free * (1 - DELTA if name in ("pointwise", "standard") else 1)
    best = optimal_database_mechanism(*space, distortion=distortion, notion=notion)
    if best.leakage > 0:
        assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT
    else:  # pointwise: delta alone may be enough
        assert whole.least_distortion(0.0) <= distortion + 1e-9
    matrix = best.mechanism.matrix
    assert best.leakage == pytest.approx(defined(name, matrix, prior, database_pairs(*space)), abs=1e-9)
    assert best.distortion == pytest.approx((prior @ (matrix * database_distances(*space)).sum(axis=1))[0], abs=1e-12)
    assert best.distortion <= distortion + 1e-11

    leakage = 0.1 + share
    best = optimal_database_mechanism(*space, leakage=leakage, notion=notion)
    assert best.leakage <= leakage + 1e-9
    assert best.distortion == pytest.approx(whole.least_distortion(leakage), abs=AGREEMENT)


@by_notion
@given(st.integers(2, 4), st.integers(1, 6), st.lists(st.floats(0.001, 1), min_size=3, max_size=3))
@settings(max_examples=15)
def test_curves_fall_to_zero_and_are_inverse_to_each_other(name, values, records, shares):
    notion, free = NOTIONS[name], records * (values - 1) / values
    grid = np.sort(shares) * free
    found = database_leakage_curve(values, records, [*grid, free, records], notion=notion)
    assert (np.diff(found) <= 1e-9).all() and found[-2:] == pytest.approx([0, 0], abs=1e-12)
    back = database_distortion_curve(values, records, found[:-2], notion=notion)
    large = found[:-2] > 1e-3
    assert back[large] == pytest.approx(grid[large], abs=1e-7)
    assert (back[~large] <= grid[~large] + 1e-7).all()


@by_notion
@pytest.mark.parametrize("space", [(1, 1), (1, 5), (2, 2), (3, 4)], ids=str)
def test_ends_of_both_budgets(space, name):
    values, records = space
    notion, free = NOTIONS[name], records * (values - 1) / values
    nothing = optimal_database_mechanism(*space, distortion=float(records), notion=notion)
    assert nothing.leakage == pytest.approx(0, abs=1e-12) and nothing.distortion <= free + 1e-12
    none = optimal_database_mechanism(*space, leakage=0.0, notion=notion)
    assert none.leakage == pytest.approx(0, abs=1e-12) and none.distortion <= free + 1e-12
    if name not in ("pointwise", "standard"):
        assert none.distortion == pytest.approx(free, abs=1e-9)
    for budget in ({"distortion": 0.0}, {"leakage": math.inf}):
        everything = optimal_database_mechanism(*space, notion=notion, **budget)
        assert everything.distortion == pytest.approx(0, abs=1e-12)
        expected = (
            records * math.log(values) if "information" in name or name in ("maximal leakage", "Sibson") else math.inf
        )
        assert everything.leakage == pytest.approx(0 if values == 1 else expected, abs=1e-9)


def test_limits_of_orders_and_delta():
    at = {"distortion": 0.5}
    private = optimal_database_mechanism(3, 4, **at).leakage
    for notion in (RenyiDP(math.inf), ApproximateDP(0), ApproximateDP(0, standard=True)):
        assert optimal_database_mechanism(3, 4, notion=notion, **at).leakage == pytest.approx(private, abs=1e-9)
    mutual = optimal_database_mechanism(3, 4, notion=MutualInformation(), **at).leakage
    assert optimal_database_mechanism(3, 4, notion=SibsonInformation(1), **at).leakage == mutual
    assert optimal_database_mechanism(3, 4, notion=SibsonInformation(1.0001), **at).leakage == pytest.approx(
        mutual, rel=1e-3
    )
    kept, other = 1 - 0.5 / 4, 0.5 / 4 / 2
    divergence = (kept - other) * math.log(kept / other)
    assert optimal_database_mechanism(3, 4, notion=RenyiDP(1), **at).leakage == pytest.approx(divergence, abs=1e-9)
    for order in (1.01, 5, 10, 1e3):
        row, neighbor = [kept, other, other], [other, kept, other]
        expected = renyi_divergence([row, neighbor], [(0, 1)], order)
        found = optimal_database_mechanism(3, 4, notion=RenyiDP(order), **at).leakage
        assert found == pytest.approx(expected, abs=1e-9)


def test_thousand_records_where_nothing_needs_to_leak():
    """Pointwise, a tenth of a database's probability is spared on each of ten near ones."""
    best = optimal_database_mechanism(50, 1000, distortion=100.0, notion=NOTIONS["pointwise"])
    assert best.leakage == 0 and best.distortion == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize("space", [*SPACES, (4, 1), (1, 3)], ids=str)
def test_distances_and_profiles(space):
    distances = under_test.database_distances(*space)
    assert (distances == database_distances(*space)).all()
    best = optimal_database_mechanism(*space, distortion=0.2 if space[0] > 1 else 0.0, notion=SibsonInformation(3))
    matrix = best.profile.matrix
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(distances)), abs=1e-12)
    for x, y in np.ndindex(matrix.shape):
        assert matrix[x, y] == np.exp(best.log_profile[int(distances[x, y])])


# ---- any other source


@by_notion
@by_space
@pytest.mark.parametrize("seed", [0, 1])
def test_any_source_meets_the_full_program(space, seed, name):
    notion, vertices = NOTIONS[name], random_sets(space, seed)
    costs, whole = database_distances(*space), program(name, vertices, space)
    free = least_cost_without_leakage(vertices, costs)
    distortion = (0.2 + 0.4 * seed) * free
    best = optimal_database_mechanism(*space, distortion=distortion, notion=notion, source=SourceSet(vertices))
    assert best.profile is best.log_profile is None and (best.matrix >= 0).all()
    assert best.matrix.sum(axis=1) == pytest.approx(np.ones(len(costs)), abs=1e-13)
    assert best.leakage == pytest.approx(
        defined(name, best.matrix, vertices, database_pairs(*space)), abs=1e-8
    )  # worst priors
    spent = (vertices @ (best.matrix * costs).sum(axis=1)).max()
    assert best.distortion == pytest.approx(spent, abs=1e-13) and spent <= distortion + 1e-11
    assert best.gap <= notion.tolerance
    assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT

    leakage = 0.4 + 0.5 * seed
    best = optimal_database_mechanism(*space, leakage=leakage, notion=notion, source=SourceSet(vertices))
    assert best.leakage <= leakage + AGREEMENT
    assert best.distortion == pytest.approx(whole.least_distortion(leakage), abs=AGREEMENT)


@by_notion
def test_ends_for_another_source(name):
    vertices = random_sets((2, 2), 1)
    source, notion = SourceSet(vertices), NOTIONS[name]
    free = least_cost_without_leakage(vertices, database_distances(2, 2))
    for budget in ({"distortion": free + 1e-9}, {"distortion": 2.0}, {"leakage": 0.0}):
        best = optimal_database_mechanism(2, 2, notion=notion, source=source, **budget)
        assert best.leakage == pytest.approx(0, abs=1e-9)
        assert best.distortion <= free + 1e-8
    for budget in ({"distortion": 0.0}, {"leakage": math.inf}):
        best = optimal_database_mechanism(2, 2, notion=notion, source=source, **budget)
        assert best.distortion == pytest.approx(0, abs=1e-7)
        expected = defined(name, np.eye(4), vertices, database_pairs(2, 2))
        assert best.leakage == expected == math.inf or best.leakage == pytest.approx(expected, abs=1e-6)


@by_notion
def test_a_set_around_the_uniform_prior(name):
    """Class I: as bad as the uniform prior, but for maximal information, whose worst prior is another one."""
    vertices = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    around = optimal_database_mechanism(2, 2, distortion=0.3, notion=NOTIONS[name], source=SourceSet(vertices))
    even = optimal_database_mechanism(2, 2, distortion=0.3, notion=NOTIONS[name])
    assert (around.profile is None) == (name == "maximal information")
    if name == "maximal information":
        assert around.leakage > even.leakage + 0.01
    else:
        assert around.leakage == even.leakage
        least = program(name, vertices, (2, 2)).least_distortion(even.leakage)
        assert least == pytest.approx(0.3, abs=AGREEMENT)


# ---- what is asked


def test_the_result_says_what_it_is_about():
    best = optimal_database_mechanism(2, 2, distortion=0.4, notion=MaximalLeakage())
    assert (best.values, best.records, best.notion.name) == (2, 2, "maximal leakage")
    assert repr(best).startswith(
        "DatabaseOptimum(m=2, n=2, maximal leakage: leakage=0.875469 nats, distortion=0.400000 records, gap="
    )


@by_notion
def test_the_fields_of_any_optimum(name):
    """The same for a profile as for a channel over all databases."""
    even = optimal_database_mechanism(2, 3, distortion=0.6, notion=NOTIONS[name])
    assert even.source.vertices.tolist() == [[1 / 8] * 8] == [even.least_favorable_prior.tolist()]
    assert even.utility == pytest.approx(np.diagonal(one_record_of(even.matrix)).mean(), abs=1e-12)
    assert even.profile.changed @ np.arange(4) == pytest.approx(even.distortion, abs=1e-12)
    assert even.mechanism is even.mechanism  # written out once
    assert repr(even) in even._repr_html_()

    source = SourceSet(random_sets((2, 2), 1))
    uneven = optimal_database_mechanism(2, 2, distortion=0.3, notion=NOTIONS[name], source=source)
    assert uneven.source is source and uneven.profile is None
    prior = uneven.least_favorable_prior  # known unless the whole set restricts the leakage
    assert prior is None or distance_to_hull(prior, source.vertices) < 1e-9
    assert uneven.utility == 1 - uneven.distortion / 2


def one_record_of(matrix):
    """The channel from the first of three bits to what is published of it, the others uniform."""
    return matrix.reshape(2, 4, 2, 4).sum(axis=3).mean(axis=1)


def test_what_cannot_be_written_out_says_so():
    best = optimal_database_mechanism(50, 1000, distortion=100.0)
    for field in ("mechanism", "matrix", "source", "least_favorable_prior"):
        with pytest.raises(
            ValueError,
            match=r"values \*\* records must be at most 2048 databases to write out their (channel|prior); got 50\^1000\. "
            r"Use the profile by number of records changed, which is all that a symmetric mechanism has\.",
        ):
            getattr(best, field)
    assert best.utility == pytest.approx(0.9, abs=1e-9) and best.profile.changed.sum() == pytest.approx(1, abs=1e-9)
    for name in NOTIONS:  # the set is given, and its least favorable prior the uniform one
        if name != "maximal information":
            source = SourceSet([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
            around = optimal_database_mechanism(2, 2, distortion=0.3, notion=NOTIONS[name], source=source)
            assert around.source is source and around.least_favorable_prior.tolist() == [0.25] * 4


def test_a_million_records():
    best = optimal_database_mechanism(2, 10**6, distortion=10)
    assert best.leakage == pytest.approx(math.log((10**6 - 10) / 10), rel=1e-9)


@by_notion
def test_ten_thousand_records_in_closed_form(name):
    """Relative to the figure, within 1e-12 of what the profile's definition leads to with whole numbers and rationals."""
    records, distortion = 10**4, 2000
    best = optimal_database_mechanism(2, records, distortion=distortion, notion=NOTIONS[name])
    odds, information = math.log(4), records * (math.log(2) + 0.8 * math.log(0.8) + 0.2 * math.log(0.2))
    renyi = math.log(0.8**2 / 0.2 + 0.2**2 / 0.8)
    expected = {
        "DP": odds,
        "standard": math.log((0.8 - DELTA) / 0.2),
        "Renyi": renyi,
        "mutual information": information,
    }
    if "maximal" in name:  # the ball is filled: the largest share of a shell that keeps the mean distance
        sizes, mass, moment, shell = 1, 0, 0, 0
        while moment + shell * sizes <= distortion * (mass + sizes):
            mass, moment, shell = mass + sizes, moment + shell * sizes, shell + 1
            sizes = sizes * (records - shell + 1) // shell
        # Probability u of each database inside and w of shell K: u mass + w = 1, u moment + w K = D.
        log_inside = math.log(shell - distortion) - math.log(shell * mass - moment)
        expected[name] = records * math.log(2) + log_inside
    if name in expected:
        assert best.leakage == pytest.approx(expected[name], rel=1e-12 if name != "DP" else 5e-12)
    if name not in ("pointwise",):
        assert best.distortion == pytest.approx(distortion, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 2, {}), r"exactly one of distortion and leakage must be given; got neither\."),
        ((2, 2, {"distortion": 0.1, "leakage": 0.2}), (
r"exactly one of distortion and leakage must be given; got both, distortion=0\.1 and "
r"leakage=0\.2\."
)),
        ((2, 3, {"distortion": 3.1}), r"number of records changed between 0 and 3; got 3\.1"),
        ((2, 3, {"distortion": -0.1}), r"between 0 and 3; got -0\.1"),
        ((2, 3, {"distortion": math.nan}), "between 0 and 3; got nan"),
        ((2, 3, {"leakage": -1.0}), r"at least 0 nats \(infinity is allowed\); got -1\.0"),
        ((0, 2, {"distortion": 0.1}), "values must be a whole number, at least 1; got 0"),
        ((2, 0, {"distortion": 0.0}), "records must be a whole number, at least 1; got 0"),
        ((2.5, 5, {"distortion": 1}), r"values must be a whole number, at least 1; got 2\.5"),
        (("2", 5, {"distortion": 1}), "values must be a whole number, at least 1; got '2'"),
        ((2, True, {"distortion": 1}), "records must be a whole number, at least 1; got True"),
        ((2, math.nan, {"distortion": 1}), "records must be a whole number, at least 1; got nan"),
        ((2, 10**6 + 1, {"distortion": 1}), (
"records must be at most 1000000, beyond which rounded logarithms of probabilities are too "
r"coarse; got 1000001\. Use parallel_composition, which publishes any number one by one\."
)),
        ((10**400, 2, {"distortion": 1}), "values must be at most 1000000000000000, for memory and rounding"),
        ((2, 2, {"distortion": 0.1, "notion": DifferentialPrivacy(line(4))}), (
"notion must have no adjacency here, as neighbors are databases that differ in one record; got "
r"DifferentialPrivacy\(Adjacency\(line: 4 vertices, 3 edges\)\)\. Make it without adjacency\."
)),
        ((2, 2, {"distortion": "much"}), "number of records changed between 0 and 2; got 'much'"),
        ((2, 2, {"distortion": 0.1, "source": [0.25] * 4}), "source must be a SourceSet"),
        (
            (2, 10**6, {"distortion": 0.1, "source": SourceSet([0.5, 0.5])}),
            r"source must have one probability for each of 2\^1000000 databases; got 2\.",
        ),
        ((2, 2, {"distortion": 0.1, "notion": "trust"}), (
r"notion must be a privacy notion such as MutualInformation\(\); got 'trust'\. See "
r"notion_by_name\."
)),
        (
            (2, 2, {"distortion": 0.1, "source": SourceSet([0.5, 0.3, 0.2])}),
            r"source must have one probability for each of 2\^2 databases; got 3\.",
        ),
        (
            (2, 6, {"distortion": 0.1, "source": SourceSet(np.arange(1, 65) / np.arange(1, 65).sum())}),
            (
r"source must be over at most 32 databases, as it needs a linear or convex program; got 2\^6\. "
r"The uniform prior \(source=None\) has a closed form for any number, and parallel_composition "
r"publishes records one by one\."
),
        ),
    ],
)  # fmt: skip
def test_bad_input(arguments, message):
    values, records, options = arguments
    with pytest.raises(ValueError, match=message):
        optimal_database_mechanism(values, records, **options)


def test_bad_input_of_curves_and_matrices():
    with pytest.raises(ValueError, match=r"between 0 and 2; got 2\.5"):
        database_leakage_curve(2, 2, [0.1, 2.5])
    assert database_leakage_curve(2, 2, [[0.4], [1.0]]).shape == (2, 1)
    large = optimal_database_mechanism(2, 12, distortion=1.0)
    with pytest.raises(
        ValueError,
        match=r"values \*\* records must be at most 2048 databases to write out their channel; got 2\^12\. Use "
        r"the profile by number of records changed, which is all that a symmetric mechanism has\.",
    ):
        _ = large.mechanism
    assert optimal_database_mechanism(2, 11, distortion=1.0).mechanism.matrix.shape == (2048, 2048)


def test_a_notebook_shows_the_profile_or_the_channel():
    uniform = optimal_database_mechanism(2, 2, distortion=0.4)
    shown = uniform._repr_html_()
    assert "<th></th><th>probability to change so many records</th><th>of one such database</th>" in shown
    assert (
        f"<tr><th>0</th><td>{uniform.profile.changed[0]:.6g}</td>" in shown
        and "m=2, n=2, differential privacy" in shown
    )
    known = optimal_database_mechanism(2, 2, distortion=0.4, source=SourceSet([0.4, 0.3, 0.2, 0.1]))
    assert known.profile is None and known._repr_html_().count("<td>") == 16
