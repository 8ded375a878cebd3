"""Optimal mechanisms and their certificates: printed numbers, properties, limits, bad input, and certificates that fail."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_repro import (
    CertificateError,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    Mechanism,
    MutualInformation,
    SourceSet,
    distortion_curve,
    exact_curve,
    leakage_curve,
    load_source_set,
    optimal_database_mechanism,
    optimal_mechanism,
    parallel_composition,
    randomized_response,
    source_set_names,
)
from tests.oracles.instances import inside, vertex_sets
from tests.oracles.tradeoffs import (
    distance_to_hull,
    leakage_of_prior,
    least_distortion_of_prior,
)

NOTIONS = [DifferentialPrivacy(), MutualInformation()]
by_notion = pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)

# Documented: gaps of at most 1e-9, and 1e-6 nats.
GAP = 1e-9
LEAKAGE_GAP = 1e-6


@pytest.mark.parametrize(
    ("name", "distortion", "leakage"),
    [
        ("P_II_6", 0.01, 6.2046),
        ("P_II_6", 0.2, 2.6773),
        ("P_II_6", 0.25, 2.0149),
        ("P_II_6", 0.29, 1.6236),
        ("P_II_6", 0.30, 0.0),
        ("P_IIIb_6", 0.25, 2.2380),
        ("P_IIIb_6", 0.5, 0.8916),
        ("P_IIIc_6", 0.75, 0.0690),
        ("P_II_10", 0.3, 2.9755),
        ("P_II_10", 0.6, 1.2465),
        ("P_II_10", 0.65, 0.8473),
        ("P_IIIc_10", 0.7, 0.7386),
    ],
)
def test_differential_privacy_of_the_tables(name, distortion, leakage):
    best = optimal_mechanism(load_source_set(name), distortion=distortion)
    assert best.leakage == pytest.approx(leakage, abs=5e-5)  # half a unit of the last digit
    assert best.gap <= GAP


@pytest.mark.parametrize(
    ("name", "distortion", "leakage"),
    [
        ("P_II_10", 0.1, 1.44183),
        ("P_II_10", 0.3, 0.72231),
        ("P_II_10", 0.5, 0.23250),
        ("P_II_10", 0.65, 0.03107),
        ("P_I_10", 0.3, 1.03255),
    ],
)
def test_mutual_information_of_the_tables(name, distortion, leakage):
    best = optimal_mechanism(load_source_set(name), distortion=distortion, notion=MutualInformation())
    assert best.leakage == pytest.approx(leakage, abs=5e-6)  # half a unit of the last digit
    assert best.gap <= LEAKAGE_GAP


@given(vertex_sets(), inside())
def test_certificate_of_a_distortion(vertices, share):
    source = SourceSet(vertices)
    best = optimal_mechanism(source, distortion=share)
    matrix = best.mechanism.matrix
    assert (matrix >= 0).all() and matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-14)  # rounding
    achieved = max(prior @ (1 - np.diagonal(matrix)) for prior in vertices)
    assert (
        best.distortion == pytest.approx(achieved, abs=1e-14) and achieved <= share + 1e-11
    )  # the documented rounding
    # The prior is a member of the set, and it alone needs this leakage at this distortion, unless nothing has to leak.
    assert distance_to_hull(best.least_favorable_prior, vertices) < 1e-9  # the oracle's solver
    assert best.gap <= GAP and best.gap_unit == "nats"
    assert best.leakage == 0 or best.leakage - leakage_of_prior(best.least_favorable_prior, share) <= 2 * GAP


@given(vertex_sets(), st.floats(0, 20))
def test_certificate_of_a_leakage(vertices, leakage):
    best = optimal_mechanism(SourceSet(vertices), leakage=leakage)
    assert best.leakage <= leakage + 1e-11  # the documented rounding
    assert distance_to_hull(best.least_favorable_prior, vertices) < 1e-9  # the oracle's solver
    # Under the prior alone the whole budget allows no less distortion.
    least = least_distortion_of_prior(best.least_favorable_prior, leakage)
    assert best.distortion - least <= GAP * best.distortion + 1e-15 and best.gap_unit == "distortion"


@pytest.mark.parametrize("distortion", [0.05, 0.1, 0.19])
def test_two_letters(distortion):
    """Of two letters the likelier one is at most 1 - D off: log((1 - D) / D), until the rarer one may be dropped."""
    best = optimal_mechanism(SourceSet([[0.9, 0.1], [0.8, 0.2]]), distortion=distortion)
    assert best.leakage == pytest.approx(math.log((1 - distortion) / distortion), abs=1e-13)  # rounding
    assert best.mechanism.matrix == pytest.approx(randomized_response(2, best.leakage).matrix, abs=1e-13)


@pytest.mark.parametrize("name", source_set_names())
@pytest.mark.parametrize(
    ("beside", "below"), [(-1e-9, True), (-1e-11, True), (-1e-13, False), (0, False), (1e-13, False)]
)
def test_beside_the_jump(name, beside, below):
    source = load_source_set(name)
    end = float(distortion_curve(source, 0.0))
    best = optimal_mechanism(source, distortion=end + beside)
    if below:  # the slope of these curves at their end is below 100 nats
        assert best.leakage == pytest.approx(exact_curve(source).limits_from_below[-1], abs=1e-6)
        assert best.distortion <= end + beside + 1e-14  # rounding
    else:
        assert best.leakage == 0 and best.distortion == end


@pytest.mark.parametrize("name", source_set_names())
def test_distortion_at_and_beside_every_breakpoint(name):
    source, curve = load_source_set(name), exact_curve(load_source_set(name))
    for beside in (-1e-10, -1e-13, 0.0, 1e-13):
        found = distortion_curve(source, np.maximum(0.0, curve.limits_from_below + beside))
        assert found == pytest.approx(curve.breakpoints, abs=GAP)


@by_notion
@pytest.mark.parametrize("rare", [1e-9, 1e-15])
def test_tiny_probabilities(rare, notion):
    """A letter so rare costs nothing worth mentioning to leave out, and must not upset anything."""
    vertices = np.array([[0.6, 0.4 - rare, rare], [0.3, 0.7 - 2 * rare, 2 * rare]])
    with_it, without = SourceSet(vertices), SourceSet([[0.6, 0.4], [0.3, 0.7]])
    for distortion in (0.01, 0.2, 0.399):
        found = leakage_curve(with_it, distortion, notion=notion)
        # The rare letter shifts distortions by at most its mass; curves are no steeper than 1 / D here.
        assert found == pytest.approx(leakage_curve(without, distortion, notion=notion), abs=1e-6)
    for leakage in (0.2, 1.0):
        found = distortion_curve(with_it, leakage, notion=notion)
        assert found == pytest.approx(distortion_curve(without, leakage, notion=notion), abs=1e-6)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("rare", "share"), [(1e-6, 0.5), (1e-9, 0.5), (1e-9, 0.25)])
def test_distortions_as_small_as_a_rare_letter(rare, share, count):
    vertices = np.array([[1 - rare, rare], [1 - rare / 2, rare / 2]])[:count]
    distortion = share * rare
    found = leakage_curve(SourceSet(vertices), [distortion, rare])
    assert found[0] == pytest.approx(math.log((1 - distortion) / distortion), abs=1e-7)
    assert found[1] == 0


@pytest.mark.parametrize("distortion", [1e-15, 1e-12, 1e-9])
@pytest.mark.parametrize("vertices", [[0.5, 0.3, 0.2], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]])
def test_tiny_distortions(vertices, distortion):
    found = leakage_curve(SourceSet(vertices), distortion)
    assert found == pytest.approx(math.log(2 * (1 - distortion) / distortion), rel=1e-12)  # rounding of 1e-15 by others


@by_notion
@pytest.mark.parametrize("leakage", [1e-12, 1e-9, 1e-6])
def test_tiny_leakages(leakage, notion):
    source = SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    best = optimal_mechanism(source, leakage=leakage, notion=notion)
    assert best.leakage <= leakage + LEAKAGE_GAP
    # Information is quadratic in the distortion that it saves.
    assert best.distortion == pytest.approx(float(distortion_curve(source, 0.0)), abs=math.sqrt(leakage + LEAKAGE_GAP))


@by_notion
@pytest.mark.parametrize("leakage", [40.0, 700.0, 745.0])
def test_large_leakages(leakage, notion):
    best = optimal_mechanism(SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), leakage=leakage, notion=notion)
    assert best.leakage <= leakage * (1 + 1e-15) and best.distortion <= 2 * math.exp(-leakage) * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("leakage", [746.0, 1e4, 1e300])
def test_leakages_beyond_the_range_of_floats(leakage):
    best = optimal_mechanism(SourceSet([0.5, 0.5]), leakage=leakage)
    assert best.leakage <= leakage and best.distortion <= 1e-300


def test_the_result_says_what_it_is_about():
    source = SourceSet([0.5, 0.3, 0.2], labels=["a", "b", "c"])
    best = optimal_mechanism(source, distortion=0.3)
    assert best.source is source and best.notion.name == "differential privacy"
    assert list(best.mechanism.labels) == ["a", "b", "c"]
    assert repr(best).startswith("OptimalMechanism(differential privacy: leakage=1.540445 nats, distortion=0.300000")
    with pytest.raises(dataclasses.FrozenInstanceError):
        best.gap = 0.0


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        ({}, r"exactly one of distortion and leakage must be given; got neither\."),
        (
            {"distortion": 0.1, "leakage": 0.2},
            r"exactly one of distortion and leakage must be given; got both, distortion=0\.1 and " r"leakage=0\.2\.",
        ),
        (
            {"distortion": -0.1},
            r"distortion must be a probability of change between 0 and 1; got -0\.1\. Divide by 100 if it is "
            r"a percentage\.",
        ),
        (
            {"distortion": 1.1},
            r"distortion must be a probability of change between 0 and 1; got 1\.1\. Divide by 100 if it is "
            r"a percentage\.",
        ),
        ({"distortion": math.nan}, "between 0 and 1; got nan"),
        ({"distortion": "much"}, "distortion must be a number, .* between 0 and 1; got 'much'"),
        ({"leakage": -0.1}, r"at least 0 nats \(infinity is allowed\); got -0\.1"),
        ({"leakage": math.nan}, "at least 0 nats .* got nan"),
        ({"leakage": "much"}, "leakage must be a number, at least 0 nats .*; got 'much'"),
    ],
)
@by_notion
def test_bad_budgets(budgets, message, notion):
    with pytest.raises(ValueError, match=message):
        optimal_mechanism(SourceSet([0.6, 0.4]), notion=notion, **budgets)


@pytest.mark.parametrize(
    ("curve", "grid", "message"),
    [
        (leakage_curve, [0.1, 1.1], r"between 0 and 1; got 1\.1"),
        (leakage_curve, [0.1, math.nan], "between 0 and 1; got nan"),
        (distortion_curve, [0.1, -1.0], r"at least 0 nats .* got -1\.0"),
        (distortion_curve, math.nan, "at least 0 nats .* got nan"),
        (leakage_curve, [0.1, "0,2"], "between 0 and 1; got '0,2'"),
        (leakage_curve, np.array([True, False]), "between 0 and 1; got "),
        (leakage_curve, np.ma.masked_array([0.1, 0.2], [0, 1]), "rows of one length, none masked"),
        (leakage_curve, [[[0.1], [0.1, 0.2]], [0.1, 0.2]], "must be a number|rows of one length"),
        (leakage_curve, [0.1, "much"], "between 0 and 1.*'much'"),
        (distortion_curve, ["much"], "at least 0 nats.*'much'"),
    ],
)
def test_bad_grids(curve, grid, message):
    with pytest.raises(ValueError, match=message):
        curve(SourceSet([0.6, 0.4]), grid)


def proposing(notion, source, **changes):
    """The notion, but with an optimizer that changes what it proposes."""

    class Careless(type(notion)):
        def optimizer(self, source, costs=None):
            honest = super().optimizer(source, costs)
            for direction in ("at_distortion", "at_leakage"):
                propose = getattr(honest, direction)
                setattr(
                    honest, direction, lambda budget, propose=propose: dataclasses.replace(propose(budget), **changes)
                )
            return honest

    return Careless()


TABLE_2 = load_source_set("P_II_10")


def honest_mechanism(notion, distortion):
    return optimal_mechanism(TABLE_2, distortion=distortion, notion=notion).mechanism


@by_notion
@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 0.5}], ids=str)
def test_the_certificate_of_an_honest_optimizer_closes(notion, budget):
    assert optimal_mechanism(TABLE_2, notion=proposing(notion, TABLE_2), **budget).gap <= notion.tolerance


@by_notion
def test_a_worse_mechanism_is_refused(notion):
    worse = randomized_response(10, math.log(9 * 0.7 / 0.3))
    assert worse.worst_case_distortion(TABLE_2) <= 0.3 + 1e-15
    with pytest.raises(
        CertificateError,
        match=rf"tolerance of {notion.tolerance:g} nats for {notion.name} of .* at distortion 0\.3: the remaining gap is .* nats",
    ):
        optimal_mechanism(TABLE_2, distortion=0.3, notion=proposing(notion, TABLE_2, mechanism=worse.matrix))


@by_notion
def test_a_mechanism_over_the_distortion_is_refused(notion):
    over = honest_mechanism(notion, 0.3 + 1e-9)
    with pytest.raises(CertificateError, match=r"at distortion 0\.3"):
        optimal_mechanism(TABLE_2, distortion=0.3, notion=proposing(notion, TABLE_2, mechanism=over.matrix))


@by_notion
def test_a_mechanism_over_the_leakage_is_refused(notion):
    leakage = float(leakage_curve(TABLE_2, 0.3, notion=notion)) - 1e-5
    over = honest_mechanism(notion, 0.3)
    with pytest.raises(CertificateError, match=r"at leakage "):
        optimal_mechanism(TABLE_2, leakage=leakage, notion=proposing(notion, TABLE_2, mechanism=over.matrix))


@by_notion
def test_another_prior_of_the_set_is_refused(notion):
    """For differential privacy the other vertex is least favorable here, for mutual information neither."""
    with pytest.raises(CertificateError, match=r"at distortion 0\.3"):
        optimal_mechanism(TABLE_2, distortion=0.3, notion=proposing(notion, TABLE_2, weights=np.array([0.0, 1.0])))


@by_notion
def test_a_prior_of_nothing_is_refused(notion):
    with pytest.raises(CertificateError):
        optimal_mechanism(TABLE_2, distortion=0.3, notion=proposing(notion, TABLE_2, weights=np.full(2, math.nan)))


def test_wrong_dual_variables_are_refused():
    notion = MutualInformation()
    for duals in (np.zeros(2), np.array([1.0, 0.0])):
        with pytest.raises(CertificateError, match=r"at distortion 0\.3"):
            careless = proposing(notion, TABLE_2, certificate=(duals, np.zeros(10)))
            optimal_mechanism(TABLE_2, distortion=0.3, notion=careless)


def test_a_prior_outside_the_set_cannot_be_proposed():
    """Against the uniform prior, randomized response is optimal; but weights only reach priors of the set."""
    worse = randomized_response(10, math.log(9 * 0.7 / 0.3))
    for weights in (np.array([2.0, -1.0]), np.array([1.0, 1.0])):
        with pytest.raises(CertificateError):
            careless = proposing(DifferentialPrivacy(), TABLE_2, mechanism=worse.matrix, weights=weights)
            optimal_mechanism(TABLE_2, distortion=0.3, notion=careless)


@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 2.5}], ids=str)
def test_the_optimum_of_a_smaller_budget_is_refused(budget):
    source = load_source_set("P_II_6")
    smaller = {name: 0.9 * value for name, value in budget.items()}
    better = optimal_mechanism(source, **smaller).mechanism
    with pytest.raises(CertificateError):
        optimal_mechanism(source, notion=proposing(DifferentialPrivacy(), source, mechanism=better.matrix), **budget)


@pytest.mark.parametrize(("gap", "accepted"), [(0.5e-9, True), (2e-9, False)])
def test_the_tolerance_is_the_documented_one(gap, accepted):
    source = load_source_set("P_II_6")
    optimal = 1 - np.diagonal(optimal_mechanism(source, distortion=0.2).mechanism.matrix)

    def worse(shift):
        """Change the likeliest letter more often: that costs more than the privacy it buys, in proportion."""
        mechanism = Mechanism.from_distortions(optimal + shift * np.eye(6)[0])
        distortion, leakage = source.worst_case_distortion(mechanism), DifferentialPrivacy().leakage(mechanism)
        return mechanism, distortion, leakage - leakage_of_prior(source.vertices[0], distortion)

    mechanism, distortion, found = worse(gap * 1e-6 / worse(1e-6)[2])
    assert found == pytest.approx(gap, rel=1e-3)
    careless = proposing(DifferentialPrivacy(), source, mechanism=mechanism.matrix)
    if accepted:
        assert optimal_mechanism(source, distortion=distortion, notion=careless).gap == pytest.approx(gap, rel=1e-3)
    else:
        with pytest.raises(
            CertificateError,
            match="No certificate within the tolerance of 1e-09 nats for differential privacy of "
            r"SourceSet\(P_II_6: V=1, M=6, Class II\) at distortion 0\.20000000020989928: the remaining gap "
            r"is 2e-09 nats\. Try a nearby distortion, or merge the rarest categories\.",
        ):
            optimal_mechanism(source, distortion=distortion, notion=careless)


# ---- any distances between letters


GRADES = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))


@by_notion
def test_costs_of_one_are_hamming_distortion(notion):
    source, grid = SourceSet([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]), [0.1, 0.3, 0.5]
    found = leakage_curve(source, grid, notion=notion, costs=1 - np.eye(3))
    assert found == pytest.approx(leakage_curve(source, grid, notion=notion), abs=max(notion.tolerance, 1e-8))


@by_notion
def test_the_two_curves_are_inverse_for_any_costs(notion):
    source = SourceSet([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    leakages = leakage_curve(source, [0.1, 0.4], notion=notion, costs=GRADES)
    found = distortion_curve(source, leakages, notion=notion, costs=GRADES)
    assert found == pytest.approx([0.1, 0.4], abs=1e-6)
    best = optimal_mechanism(source, distortion=0.4, notion=notion, costs=GRADES)
    worst = (source.vertices @ (best.mechanism.matrix * GRADES).sum(axis=1)).max()
    assert best.distortion == pytest.approx(worst, abs=1e-15) and worst <= 0.4 + 1e-11
    assert (best.costs == GRADES).all()
    # From the best constant grade on nothing leaks; the largest cost is the largest budget.
    assert (
        leakage_curve(source, [(source.vertices @ GRADES).max(axis=0).min(), 2.0], notion=notion, costs=GRADES) < 1e-9
    ).all()


def test_costs_of_letters_that_count_as_one():
    """Two of three letters are as good as each other: these leak nothing of which of them it is."""
    alike = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    source = SourceSet([0.5, 0.3, 0.2])
    assert optimal_mechanism(source, distortion=0.0, costs=alike).leakage == math.inf
    best = optimal_mechanism(source, distortion=0.0, costs=alike, notion=MaximalInformation())
    assert best.leakage == pytest.approx(math.log(5), abs=1e-6)  # the third letter, of probability 1/5
    less = optimal_mechanism(source, distortion=0.0, costs=alike, notion=MaximalLeakage())
    assert less.leakage == pytest.approx(math.log(2), abs=1e-9)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            [[0, 1], [1, 0]],
            r"costs must have shape \(3, 3\), a row for each true category and a column for each published "
            r"one; got shape \(2, 2\)\.",
        ),
        ("far", r"costs must be a table of numbers of shape \(3, 3\); got 'far'\."),
        (
            GRADES - 1,
            r"costs\[0, 0\] must be finite and at least 0; got -1\.0\. For a change that must not happen, "
            r"take a number far above the distortion, such as 100 times it\.",
        ),
        (
            np.where(GRADES > 1, np.inf, GRADES),
            r"costs\[0, 2\] must be finite and at least 0; got inf\. For a change that must not happen, take "
            r"a number far above the distortion, such as 100 times it\.",
        ),
        (np.ma.masked_array(GRADES, GRADES > 1), r"costs must be a table of numbers"),
        (GRADES > 0, r"costs must be a table of numbers"),
        (
            GRADES + 1,
            r"costs\[0, 0\] must be 0, as nothing is changed; got 1\.0\. Subtract it from the row, and count "
            r"only changes in the distortion\.",
        ),
    ],
)
def test_bad_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), distortion=0.1, costs=costs)
    with pytest.raises(ValueError, match=message):
        leakage_curve(SourceSet([0.5, 0.3, 0.2]), [0.1], costs=costs)


@by_notion
@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20, 1e6, 1e12])
def test_costs_in_any_unit(scale, notion):
    source = SourceSet([0.5, 0.3, 0.2])
    small = optimal_mechanism(source, leakage=0.7, costs=GRADES, notion=notion)
    large = optimal_mechanism(source, leakage=0.7, costs=GRADES * scale, notion=notion)
    assert large.distortion / scale == pytest.approx(small.distortion, abs=1e-6)
    assert (large.costs == GRADES * scale).all()
    budget = 0.3 * scale
    assert optimal_mechanism(source, distortion=budget, costs=GRADES * scale, notion=notion).leakage == pytest.approx(
        optimal_mechanism(source, distortion=0.3, costs=GRADES, notion=notion).leakage, abs=2e-6
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: optimal_mechanism(TABLE_2, 0.3),
            "optimal_mechanism: the arguments must fit its signature; got the error 'too many positional "
            r"arguments'\. Write optimal_mechanism\(source, distortion=\.\.\.\) or "
            r"optimal_mechanism\(source, leakage=\.\.\.\)\.",
        ),
        (
            lambda: optimal_mechanism(TABLE_2, epsilon=1.0),
            'optimal_mechanism: the arguments must fit its signature; got the error "got an unexpected '
            "keyword argument 'epsilon'\"\\. Write optimal_mechanism\\(source, distortion=\\.\\.\\.\\) or "
            r"optimal_mechanism\(source, leakage=\.\.\.\)\.",
        ),
        (
            lambda: exact_curve(TABLE_2, notion=MaximalLeakage()),
            'exact_curve: the arguments must fit its signature; got the error "got an unexpected keyword '
            "argument 'notion'\"\\. Write exact_curve\\(source\\) for differential privacy, "
            r"notion\.exact_curve\(source\) for another notion\.",
        ),
        (
            lambda: optimal_database_mechanism(2, 3, 0.3),
            "optimal_database_mechanism: the arguments must fit its signature; got the error 'too many "
            r"positional arguments'\. Write optimal_database_mechanism\(values, records, "
            r"distortion=\.\.\.\), or leakage=\.\.\.\.",
        ),
        (
            lambda: parallel_composition(TABLE_2, 3, 0.3),
            "parallel_composition: the arguments must fit its signature; got the error 'too many positional "
            r"arguments'\. Write parallel_composition\(source, records, distortion=\.\.\.\), or "
            r"leakage=\.\.\.\.",
        ),
        (
            lambda: SourceSet([0.5, 0.5], letters="ab"),
            r'SourceSet\.__init__: the arguments must fit its signature; got the error "got an unexpected '
            "keyword argument 'letters'\"\\. Write SourceSet\\(vertices, labels=\\.\\.\\., name=\\.\\.\\.\\)\\.",
        ),
        (
            lambda: Mechanism(np.eye(2), letters="ab"),
            r'Mechanism\.__init__: the arguments must fit its signature; got the error "got an unexpected '
            "keyword argument 'letters'\"\\. Write Mechanism\\(matrix, labels=\\.\\.\\.\\)\\.",
        ),
    ],
)
def test_wrong_parameters_say_the_right_ones(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("distortion", [2.1, -0.1, math.nan, "much"])
def test_a_distortion_beyond_the_largest_cost(distortion):
    with pytest.raises(ValueError, match="an expected cost between 0 and 2, the largest of the costs; got"):
        optimal_mechanism(SourceSet([0.5, 0.3, 0.2]), distortion=distortion, costs=GRADES)


def test_a_notion_by_position_still_works_with_a_warning():
    source = SourceSet([0.5, 0.3, 0.2])
    for curve in (leakage_curve, distortion_curve):
        with pytest.warns(DeprecationWarning, match=r"write notion=MaximalLeakage\(\)"):
            old = curve(source, [0.3], MaximalLeakage())
        assert old == curve(source, [0.3], notion=MaximalLeakage())


def test_a_notebook_shows_the_mechanism_and_the_least_favorable_prior():
    best = optimal_mechanism(SourceSet([0.5, 0.3, 0.2], labels=["<a>", "b", "c"]), distortion=0.3)
    shown = best._repr_html_()
    assert "<tr><th>&lt;a&gt;</th><td>0.7</td><td>0.15</td><td>0.15</td></tr>" in shown
    assert "<tr><th>least favorable prior</th><td>0.5</td><td>0.3</td><td>0.2</td></tr>" in shown
    assert "leakage=1.540445 nats" in shown and r"\text{b} & 0.15 & 0.7" in best._repr_latex_()
