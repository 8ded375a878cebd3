"""A certificate for every kind of problem: one rational number where the optimum of a linear notion is one, bounds elsewhere."""

import math
from fractions import Fraction

import pytest

import paper_repro as pr
from paper_repro.certificates import checker
from paper_repro.graphs import Adjacency

THIRDS = pr.SourceSet([["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"]])
BETWEEN = pr.SourceSet.from_intervals(["1/3", "1/5", "1/10"], ["1/2", "2/5", "3/10"])
METRIC = Adjacency.from_weights([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
ROOTS = Adjacency.from_weights([[0, "1/2", 1], [1, 0, math.inf], ["3/10", 1, 0]])
EXACT = {
    "weights": (THIRDS, {"notion": pr.DifferentialPrivacy(METRIC)}),
    "intervals": (BETWEEN, {}),
    "intervals, approximate": (BETWEEN, {"notion": pr.ApproximateDP(0.125)}),
    "intervals, maximal leakage": (BETWEEN, {"notion": pr.MaximalLeakage()}),
    "intervals, maximal information": (BETWEEN, {"notion": pr.MaximalInformation()}),
    "intervals, costs": (BETWEEN, {"costs": [[0, "1/3", 1], ["1/3", 0, "1/3"], [1, "1/3", 0]]}),
    "floors": (THIRDS, {"keep_at_least": "1/3"}),
    "floors, maximal leakage": (THIRDS, {"keep_at_least": {0: "2/3"}, "notion": pr.MaximalLeakage()}),
    "forbidden": (THIRDS, {"forbidden": [(0, 2)], "notion": pr.MaximalInformation()}),
    "invariant": (pr.SourceSet(["1/2", "1/3", "1/6"]), {"invariant": True}),
    "invariant, on weights": (
        pr.SourceSet(["1/2", "1/3", "1/6"]),
        {"invariant": True, "notion": pr.DifferentialPrivacy(METRIC)},
    ),
}
BUDGETS = {"distortion": {"distortion": "3/10"}, "leakage": {"leakage": math.log(2)}}


def bounds(found):
    """Of the optimum, from a file that the checker accepts."""
    (point,) = found.certificate["points"]
    assert checker.check(found.certificate)
    return tuple(next(value for name, value in point.items() if name.startswith(end)) for end in ("least_", "most_"))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(("source", "asked"), EXACT.values(), ids=EXACT)
def test_linear_optima_are_one_rational_number(source, asked, budget):
    found = pr.optimal_mechanism(source, **asked, **BUDGETS[budget])
    least, most = map(Fraction, bounds(found))
    same = math.exp(found.leakage) if budget == "distortion" else found.distortion
    if budget == "leakage" or asked not in (
        EXACT["forbidden"][1],
        EXACT["invariant, on weights"][1],
    ):  # roots, not rational
        assert least == most
    assert 0 <= most - least <= Fraction(1, 10**15)
    assert float(most) == pytest.approx(same, rel=1e-8)


@pytest.mark.parametrize("budget", BUDGETS)
def test_roots_of_ratios_are_enclosed(budget):
    found = pr.optimal_mechanism(THIRDS, **BUDGETS[budget], notion=pr.DifferentialPrivacy(ROOTS))
    least, most = map(Fraction, bounds(found))
    assert 0 < most - least < Fraction(1, 10**15)


def test_rational_inputs_stay_rational():
    certificate = pr.optimal_mechanism(
        BETWEEN,
        distortion=Fraction(2, 7),
        keep_at_least="1/3",
        costs=[[0, "1/3", 1], [Fraction(1, 3), 0, 1], [1, 1, 0]],
    ).certificate
    assert certificate["source_set"]["lower"][0] == certificate["at_least"][0][0] == certificate["costs"][1][0] == "1/3"
    assert certificate["points"][0]["distortion"] == "2/7"
    nats = pr.optimal_mechanism(THIRDS, leakage="1/3", notion=pr.MutualInformation()).certificate
    assert nats["points"][0]["leakage"] == "1/3"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"distortion": 0}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.DifferentialPrivacy(METRIC)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.ApproximateDP(0.1)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.RenyiDP(2)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.MaximalLeakage()}, ("3", "3")),
        ({"distortion": 1}, ("1", "1")),
        ({"leakage": math.inf}, ("0", "0")),
        ({"leakage": math.inf, "notion": pr.MutualInformation()}, ("0", "0")),
        ({"leakage": math.inf, "forbidden": [(0, 0)], "notion": pr.MaximalLeakage()}, ("0.5", "0.5")),
        ({"leakage": 0, "notion": pr.MutualInformation()}, ("0.5", "0.5")),
        ({"leakage": 0, "notion": pr.RenyiDP(3)}, ("0.5", "0.5")),
    ],
    ids=str,
)
def test_ends_are_certified(asked, expected):
    assert bounds(pr.optimal_mechanism(pr.SourceSet(["1/2", "1/3", "1/6"]), **asked)) == expected


def test_infinite_leakage_may_follow_over_letters_that_never_occur():
    apart = pr.SourceSet(["1/2", 0, "1/2"])
    found = pr.optimal_mechanism(apart, distortion=0, notion=pr.DifferentialPrivacy(pr.line(3)))
    assert bounds(found) == ("infinity", "infinity")


@pytest.mark.parametrize(
    ("notion", "expected"), [(pr.DifferentialPrivacy(), "4"), (pr.MaximalLeakage(), "2.4"), (pr.RenyiDP(2), None)]
)
def test_databases_are_certified_over_all_channels(notion, expected):
    least, most = bounds(pr.optimal_database_mechanism(2, 2, distortion="2/5", notion=notion))
    assert least == most == expected if expected else Fraction(most) - Fraction(least) < Fraction(1, 10**9)


def test_what_has_no_file_says_why():
    with pytest.raises(ValueError, match="at most 64 databases"):
        _ = pr.optimal_database_mechanism(2, 100, distortion=1).certificate
    with pytest.raises(ValueError, match="at most 64 letters where tables are proved"):
        _ = pr.optimal_mechanism(pr.SourceSet([1 / 65] * 65), distortion=0.5, notion=pr.RenyiDP(2)).certificate
