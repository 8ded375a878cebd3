"""A certificate for every kind of problem: one rational number where the optimum of a linear notion is one, bounds elsewhere."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import paper_repro as pr
from paper_repro.certificates import checker
from paper_repro.certificates.documents import written
from paper_repro.cli import main
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


THIRD = Fraction(1, 3)
SPLIT = np.array([["0", "1/3", "1"], ["1/3", "0", "1/7"], ["1", "1/3", "0"]])


@pytest.mark.parametrize("third", ["1/3", THIRD], ids=["text", "Fraction"])
@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda third: {"distortion": third}, ("points", 0, "distortion")),
        (lambda third: {"leakage": third, "notion": pr.MutualInformation()}, ("points", 0, "leakage")),
        (lambda third: {"notion": pr.ApproximateDP(third)}, ("notion", "delta")),
        (lambda third: {"notion": pr.ApproximateDP(third, True, pr.line(3))}, ("notion", "delta")),
        (lambda third: {"notion": pr.RenyiDP(4 * Fraction(third))}, ("notion", "order")),
        (lambda third: {"notion": pr.RenyiDP(4 * Fraction(third), pr.line(3))}, ("notion", "order")),
        (lambda third: {"notion": pr.SibsonInformation(4 * Fraction(third))}, ("notion", "order")),
        (
            lambda third: {
                "notion": pr.DifferentialPrivacy(Adjacency.from_weights([[0, third, 2], [1, 0, 1], [2, 1, 0]])),
            },
            ("notion", "weights", 0, 1),
        ),
        (lambda third: {"costs": [[0, third, 1], [1, 0, 1], [1, 1, 0]]}, ("costs", 0, 1)),
        (lambda third: {"costs": SPLIT}, ("costs", 0, 1)),
        (lambda third: {"costs": pd.DataFrame(SPLIT, columns=range(3))}, ("costs", 0, 1)),
        (lambda third: {"keep_at_least": third}, ("at_least", 0, 0)),
        (lambda third: {"keep_at_least": {0: third}}, ("at_least", 0, 0)),
        (lambda third: {"keep_at_least": np.array([third, 0, 0], dtype=object)}, ("at_least", 0, 0)),
        (lambda third: {"vertices": [third, "1/2", "1/6"]}, ("source_set", "vertices", 0, 0)),
        (lambda third: {"vertices": np.array([str(third), "1/2", "1/6"])}, ("source_set", "vertices", 0, 0)),
        (
            lambda third: {"vertices": pd.Series([str(third), "1/2", "1/6"], dtype="string")},
            ("source_set", "vertices", 0, 0),
        ),
        (lambda third: {"bounds": ([third, "1/9", "1/9"], ["1/2"] * 3)}, ("source_set", "lower", 0)),
        (lambda third: {"bounds": (["1/9"] * 3, [third, 0.5, 0.5])}, ("source_set", "upper", 0)),
    ],
)
def test_rational_inputs_stay_rational(make, place, third):
    asked = make(third)
    asked |= {} if "leakage" in asked else {"distortion": asked.get("distortion", "1/9")}
    vertices, bounds = asked.pop("vertices", ["1/2", "1/3", "1/6"]), asked.pop("bounds", None)
    source = pr.SourceSet.from_intervals(*bounds) if bounds else pr.SourceSet(vertices)
    found = certificate = pr.optimal_mechanism(source, **asked).certificate
    for step in place:
        found = found[step]
    assert Fraction(found) == (Fraction(4, 3) if place[-1] == "order" else THIRD) and checker.check(certificate)


@pytest.mark.parametrize(
    ("found", "budget"),
    [
        (pr.optimal_database_mechanism(2, 2, distortion="1/3", notion=pr.MaximalLeakage()), {"distortion": THIRD}),
        (pr.optimal_database_mechanism(2, 2, leakage="1/3", notion=pr.MutualInformation()), {"leakage": THIRD}),
        (pr.parallel_composition(THIRDS, 7, distortion="1/3").local, {"distortion": THIRD / 7}),
        (
            pr.parallel_composition(THIRDS, 7, leakage=THIRD, notion=pr.MutualInformation()).local,
            {"leakage": THIRD / 7},
        ),
    ],
    ids=["databases", "databases, leakage", "records", "records, leakage"],
)
def test_budgets_of_records_stay_rational(found, budget):
    (point,) = found.certificate["points"]
    assert {name: Fraction(point[name]) for name in budget} == budget


def test_rational_options_stay_rational(tmp_path, monkeypatch):
    """From the command line to the certificate beside a release, which the checker accepts."""
    monkeypatch.chdir(tmp_path)
    Path("eyes.csv").write_text("eyes\n" + "blue\n" * 3 + "brown\n" * 2 + "green\n", encoding="utf-8")
    Path("costs.csv").write_text("blue,brown,green\n0,1/3,1\n1/3,0,1/7\n1,1/3,0\n", encoding="utf-8")
    options = "--column eyes --source frequencies --distortion 1/7 --output out.csv --seed 1".split()
    kinds = [
        ["--notion", "approximate differential privacy", "--delta", "1/9", "--keep-at-least", "1/3"],
        ["--costs", "costs.csv"],
    ]
    for kind, expected in zip(kinds, ({"delta": "1/9", "at_least": "1/3"}, {"costs": "1/3"}), strict=True):
        made = CliRunner().invoke(main, ["release", "eyes.csv", *options, *kind])
        assert made.exit_code == 0, made.output
        found = json.loads(Path("out.mechanism.json").read_text(encoding="utf-8"))["certificate"]
        assert found["source_set"]["vertices"] == [["0.5", "1/3", "1/6"]] and found["points"][0]["distortion"] == "1/7"
        told = {**found["notion"], **{name: found[name][0] for name in ("at_least", "costs") if name in found}}
        for name, value in expected.items():
            assert value in told[name]
        Path("proof.json").write_text(written(found), encoding="utf-8")
        assert CliRunner().invoke(main, ["check", "proof.json"]).exit_code == 0
        Path("out.csv").unlink()
        Path("out.mechanism.json").unlink()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"distortion": 0}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.DifferentialPrivacy(METRIC)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.ApproximateDP(0.1)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.RenyiDP(2)}, ("infinity", "infinity")),
        ({"distortion": 0, "notion": pr.MaximalLeakage()}, ("3", "3")),
        ({"distortion": 0, "notion": pr.MaximalInformation()}, ("6", "6")),
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


def test_what_some_distribution_between_the_bounds_makes_infinite_is_certified():
    source = pr.SourceSet.from_intervals(["3/5", "1/10", 0], ["4/5", "3/10", "1/10"])
    found = pr.optimal_mechanism(source, distortion=0, notion=pr.MaximalInformation())
    assert bounds(found) == ("infinity", "infinity")


def test_equal_rows_are_exact_whatever_the_weights():
    found = pr.optimal_mechanism(THIRDS, leakage=0, notion=pr.DifferentialPrivacy(ROOTS))
    least, most = bounds(found)
    assert least == most


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


CONSTRAINTS = {
    "floors": (THIRDS, {"keep_at_least": "1/3"}),
    "forbidden": (THIRDS, {"forbidden": [(0, 2)]}),
    "invariant": (pr.SourceSet(["1/2", "1/3", "1/6"]), {"invariant": True, "keep_at_least": {1: "2/5"}}),
}
CURVED = [
    pr.MutualInformation(),
    pr.SibsonInformation(2),
    pr.RenyiDP(1),
    pr.RenyiDP("4/3", Adjacency.from_edges(3, [(0, 1), (1, 2)])),
]


@pytest.mark.parametrize("budget", [*BUDGETS.values(), {"distortion": 1}], ids=str)
@pytest.mark.parametrize(
    ("source", "asked", "notion"),
    [
        pytest.param(*problem, notion, id=f"{name}, {notion}")
        for name, problem in CONSTRAINTS.items()
        for notion in CURVED
        if name != "forbidden" or not isinstance(notion, pr.RenyiDP)  # impossible with finite divergences
    ],
)
def test_information_and_divergences_are_enclosed_under_constraints(source, asked, notion, budget):
    found = pr.optimal_mechanism(source, notion=notion, **asked, **budget)
    least, most = map(Fraction, bounds(found))
    figure = found.leakage if "distortion" in budget else found.distortion
    assert 0 <= most - least <= Fraction(1, 10**9) and float(most) == pytest.approx(figure, abs=1e-9)


@pytest.mark.parametrize("budget", ["distortion", "leakage"])
@pytest.mark.parametrize("notion", CURVED, ids=str)
@pytest.mark.parametrize("unit", [Fraction(1000), Fraction(1, 1000)], ids=str)
def test_costs_may_be_in_any_unit(notion, unit, budget):
    costs = [[unit * abs(i - j) for j in range(3)] for i in range(3)]
    asked = {"distortion": unit / 5} if budget == "distortion" else {"leakage": "1/2"}
    least, most = map(Fraction, bounds(pr.optimal_mechanism(THIRDS, notion=notion, costs=costs, **asked)))
    assert 0 <= most - least <= (unit if budget == "leakage" else 1) / 10**9


def test_what_has_no_file_says_why():
    with pytest.raises(ValueError, match="at most 64 databases"):
        _ = pr.optimal_database_mechanism(2, 100, distortion=1).certificate
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 64 for a certificate where tables are proved; got "
        r"65\. Merge rare categories, so that the fractions fit a file\.",
    ):
        _ = pr.optimal_mechanism(pr.SourceSet([1 / 65] * 65), distortion=0.5, notion=pr.RenyiDP(2)).certificate
