"""A small slice of `make fuzz`, the record it keeps, and what judges it: wrong answers are found, lost children replaced."""

import dataclasses
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import paper_repro as pr
from tests.fuzz import campaign
from tests.fuzz.judge import judged
from tests.fuzz.problems import CELLS, Problem, draw
from tests.oracles.losses import erokhin, information
from tests.oracles.rational import Channel, exponential, least_mass_distortion, least_ratio_distortion, minimum
from tests.oracles.tradeoffs import erokhin as point_of_erokhin
from tests.oracles.tradeoffs import least_distortion


def test_problems_are_the_same_everywhere():
    for cell in CELLS:
        assert draw(3, *cell, 1) == draw(3, *cell, 1) != draw(4, *cell, 1)
    assert str(draw(0, "ordinary", "DP", 0)) == (
        "pr.optimal_mechanism(pr.SourceSet([[0.45, 0.55], [0.55, 0.45], [0.55, 0.45], [0.6, 0.4]]), distortion=0.0189, "
        "notion=pr.DifferentialPrivacy())"
    )


@pytest.mark.parametrize("number", range(30))
def test_exact_programs_agree_with_floats(number):
    problem = draw(1, "ordinary", "DP", number)
    leakage = 0.3 + 0.1 * number
    whole = least_distortion(np.array(problem.vertices), leakage)
    ratio = exponential(leakage)
    assert float(least_ratio_distortion(problem.vertices, ratio)) == pytest.approx(whole, abs=1e-9)
    if problem.size <= 4:
        program = Channel("DP", problem.priors, problem.distances, problem.pairs)
        assert program.least_distortion(ratio, Fraction(1)) == least_ratio_distortion(problem.vertices, ratio)
        program = Channel("maximal-leakage", problem.priors, problem.distances, ())
        assert program.least_distortion(ratio, Fraction(1)) == least_mass_distortion(problem.vertices, ratio)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("notion", ["approximate", "approximate-standard"])
def test_both_approximate_versions_are_differential_privacy_rescaled(notion, number):
    problem = next(one for one in (draw(5, "ordinary", notion, number + 6 * k) for k in range(100)) if one.size <= 4)
    ratio, delta = exponential(0.5 + 0.5 * number), Fraction(problem.delta)
    program = Channel(notion, problem.priors, problem.distances, problem.pairs, problem.delta)
    rescaled = (1 - delta) * least_ratio_distortion(problem.vertices, ratio)
    assert program.least_distortion(ratio, Fraction(1)) == rescaled


def test_the_exact_program_starts_anywhere():
    rows = [{0: Fraction(-1), 1: Fraction(-2)}, {0: Fraction(-3), 1: Fraction(-1)}, {0: Fraction(1)}]
    limits = [Fraction(-4), Fraction(-6), Fraction(10)]
    costs = {0: Fraction(1), 1: Fraction(1)}
    found = {minimum(costs, rows, limits, 2, start)[0] for start in (None, [], [0, 1], [1, 2], [0, 3, 4])}
    assert found == {Fraction(14, 5)}


def test_information_has_a_closed_form_and_a_worst_prior():
    prior = [0.5, 0.3, 0.15, 0.05]
    for level in (0.01, 0.07, 0.2):
        distortion, rate = point_of_erokhin(prior, level)
        assert erokhin(prior, distortion) == pytest.approx(rate, abs=1e-12)
    hull = [[0.9, 0.1], [0.2, 0.8]]
    for order in (1, 1.000001, 2, 1000):
        assert information(np.eye(2), hull, order) == pytest.approx((math.log(2),) * 2, abs=2e-8)


def of(problem, monkeypatch, **changes):
    """The verdict if the package's result had these fields."""
    monkeypatch.undo()
    result = eval(str(problem), {"pr": pr})
    fields = {
        name: getattr(result, name) for name in ("leakage", "distortion", "mechanism", "gap", "least_favorable_prior")
    }
    fields |= {name: change(fields) for name, change in changes.items()}
    monkeypatch.setattr(pr, "optimal_mechanism", lambda *_, **__: SimpleNamespace(**fields))
    return [kind for kind, _, _ in judged(problem).failures]


EASY = Problem("ordinary", "DP", 0, ((0.5, 0.3, 0.2), (0.2, 0.6, 0.2)), 3, ("distortion", 0.25))


@pytest.mark.parametrize(
    "notion", ["DP", "approximate", "maximal-leakage", "maximal-information", "mutual-information", "Sibson", "Renyi"]
)
def test_a_little_too_much_leakage_is_found(notion, monkeypatch):
    order, delta = 2.0 * (notion in ("Sibson", "Renyi")), 0.1 * (notion == "approximate")
    problem = dataclasses.replace(EASY, notion=notion, order=order, delta=delta)
    assert "optimum" not in of(problem, monkeypatch)
    less = 1 - 1e-4  # of the distortion is used, so that more leaks

    def mechanism(fields):
        matrix = fields["mechanism"].matrix
        return pr.Mechanism(less * matrix + (1 - less) * np.eye(3))

    changed = {
        "mechanism": mechanism,
        "leakage": lambda fields: problem_leakage(problem, mechanism(fields)),
        "distortion": lambda fields: pr.SourceSet(problem.vertices).worst_case_distortion(mechanism(fields)),
    }
    assert "optimum" in of(problem, monkeypatch, **changed)


def problem_leakage(problem, mechanism):
    return eval(problem.notion_code, {"pr": pr}).leakage(mechanism, pr.SourceSet(problem.vertices))


def test_wrong_claims_are_found(monkeypatch):
    assert of(EASY, monkeypatch, leakage=lambda fields: fields["leakage"] * (1 - 1e-12)) == ["figures"]
    assert of(EASY, monkeypatch, distortion=lambda fields: fields["distortion"] + 1e-8) == ["figures"]
    assert of(EASY, monkeypatch, gap=lambda fields: 1e-6) == ["gap"]
    assert of(EASY, monkeypatch, least_favorable_prior=lambda fields: np.array([0.9, 0.05, 0.05])) == ["prior"]


def test_a_campaign_is_recorded_and_continued(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(campaign, "FOLDER", tmp_path)
    problems = list(campaign.dealt(6, "ordinary"))
    first, complete = campaign.campaign(problems[:4], 0, 1, folder=tmp_path)
    assert complete and len(first) == 4
    record = tmp_path / "seed-0.jsonl"
    record.write_text(record.read_text() + '{"name": "half a li')
    again, _ = campaign.campaign(problems, 0, 1, folder=tmp_path)
    assert again[:4] == first and len(again) == 6
    assert "ordinary/DP" in "\n".join(campaign.table(again))


def test_a_child_that_is_lost_is_replaced(monkeypatch):
    monkeypatch.setattr(campaign, "LOST", 0.0)
    verdicts = list(campaign._verdicts(campaign.dealt(2, "ordinary/DP"), 0, 1))
    assert [campaign.outcome(verdict) for verdict in verdicts] == ["slow", "slow"]


def test_a_slice_of_the_campaign_passes():
    far = [cell for cell in CELLS if cell[0] in ("databases", "graphs", "costs")]
    local = [cell for cell in CELLS if cell not in far]
    verdicts = [judged(draw(0, *cell, 0)) for cell in [*local[::5], *far]]
    assert not list(campaign.failure_lines(verdicts))
