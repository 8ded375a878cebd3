"""Any number of letters: closed forms of one prior and of intervals, few vertices by the letters that matter, M numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, eye_array, hstack, vstack

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalLeakage,
    Mechanism,
    MutualInformation,
    SourceSet,
    optimal_mechanism,
    randomized_response,
)
from paper_repro.notions.known_prior import ManyLettersOptimizer
from paper_repro.solvers.known_prior import MassOfPrior, RatioOfPrior
from paper_repro.tradeoff import certified

PROGRAMS = {DifferentialPrivacy(): RatioOfPrior, MaximalLeakage(): MassOfPrior}
NOTIONS = [*PROGRAMS, ApproximateDP(0.1), ApproximateDP(0.1, standard=True)]
BUDGETS = [{"distortion": 0.05}, {"distortion": 0.4}, {"leakage": 0.3}, {"leakage": 2.0}]


def random_intervals(rng):
    size = int(rng.integers(2, 7))
    middle, width = rng.dirichlet(np.ones(size)), rng.random(size) * rng.choice([0.05, 0.3, 1.0])
    return np.clip(middle - width * rng.random(size), 0, 1), np.clip(middle + width * rng.random(size), 0, 1)


@pytest.mark.parametrize("seed", range(12))
def test_intervals_are_the_hull_of_their_vertices(seed):
    rng = np.random.default_rng(seed)
    box = SourceSet.from_intervals(*random_intervals(rng))
    hull = SourceSet(box.vertices)
    assert box.source_class == hull.source_class
    mechanism = Mechanism(rng.dirichlet(np.ones(box.alphabet_size), size=box.alphabet_size))
    assert box.worst_case_distortion(mechanism) == pytest.approx(hull.worst_case_distortion(mechanism), rel=1e-13)
    tops = np.cumsum(-np.sort(-hull.vertices), axis=1) - np.cumsum(-np.sort(-box.least_majorized))
    assert (tops >= -1e-13).all()  # every vertex majorizes it
    for notion in NOTIONS:
        for budget in BUDGETS:
            found, listed = (optimal_mechanism(source, notion=notion, **budget) for source in (box, hull))
            assert found.distortion == pytest.approx(listed.distortion, rel=1e-9)
            if "distortion" in budget:
                assert found.leakage == pytest.approx(listed.leakage, abs=1e-9)


def test_intervals_of_many_letters_need_no_vertices():
    middle = np.random.default_rng(5).dirichlet(np.ones(20_000))
    box = SourceSet.from_intervals(0.7 * middle, np.minimum(1.4 * middle, 1.0))
    for notion in NOTIONS[:3]:
        assert optimal_mechanism(box, distortion=0.3, notion=notion).gap <= 1e-9
    with pytest.raises(ValueError, match="ask for differential privacy or maximal leakage, which need no vertices"):
        optimal_mechanism(box, distortion=0.3, notion=MutualInformation())


def least_ratio(vertices, distortion):
    """The program of all letters as it stands, by HiGHS: an independent reference."""
    count, size = vertices.shape
    last = lambda value, rows: coo_matrix(np.full((rows, 1), value))  # noqa: E731
    rows = [
        hstack([coo_matrix(vertices), last(-distortion, count)]),
        hstack([eye_array(size), last(-1.0, size)]),
    ]
    found = linprog(
        np.append(-np.ones(size), size - 1.0),
        A_ub=vstack(rows),
        b_ub=np.zeros(count + size),
        bounds=[(1, None)] * (size + 1),
        method="highs",
    )
    return 1 + found.fun


@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_few_vertices_over_many_letters(concentration):
    vertices = np.random.default_rng(3).dirichlet(np.full(3000, concentration), size=4)
    source = SourceSet(vertices)
    optimizer = ManyLettersOptimizer(DifferentialPrivacy(), source, RatioOfPrior)
    for distortion in (0.2, 0.8):
        best = certified(DifferentialPrivacy(), optimizer, distortion=distortion)
        assert best.leakage == pytest.approx(
            math.log(least_ratio(vertices, distortion)), abs=1e-6
        )  # what HiGHS resolves
        assert best.gap <= 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_which_letters_matter_is_found_at_any_size_and_budget(seed):
    rng = np.random.default_rng(seed)
    source = SourceSet(rng.dirichlet(np.full(rng.integers(5, 40), rng.choice([0.2, 1, 10])), size=rng.integers(2, 6)))
    for notion, program in PROGRAMS.items():
        optimizer = ManyLettersOptimizer(notion, source, program)
        jump = optimizer.perfect.distortion
        for budget in [*BUDGETS, {"distortion": 1e-7}, {"distortion": jump * (1 - 1e-6)}, {"leakage": 1e-4}]:
            found, other = certified(notion, optimizer, **budget), optimal_mechanism(source, notion=notion, **budget)
            assert (found.leakage, found.distortion) == pytest.approx(
                (other.leakage, other.distortion), rel=1e-9, abs=2e-9
            )


@pytest.mark.parametrize("notion", NOTIONS[:3], ids=repr)
@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 9.0}], ids=str)
def test_a_million_letters(notion, budget):
    prior = np.random.default_rng(1).dirichlet(np.ones(10**6))
    best = optimal_mechanism(SourceSet(prior), notion=notion, **budget)
    assert best.gap <= 1e-9 and best.distortion == pytest.approx(prior @ best.mechanism.distortions, rel=1e-12)
    assert isinstance(best.mechanism.labels, range)
    assert "the beginning of 1000000 x 1000000" in best.mechanism._repr_html_()
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 10000 for a mechanism's matrix; got 1000000, which "
        r"need 8e\+12 bytes\. Use sample\(\) and distortions, which need no matrix\.",
    ):
        _ = best.mechanism.matrix


def test_leakages_of_many_letters_are_those_of_the_matrix(monkeypatch):
    rng = np.random.default_rng(2)
    for _ in range(20):
        size = int(rng.integers(2, 9))
        changed = rng.random(size) ** 3 * 0.9
        answers = rng.choice([None, 1.0], p=[0.5, 0.5]) and rng.random(size) + 0.1
        mechanism = Mechanism.from_distortions(changed * (size - 1) / size, answers=answers)
        for made in (mechanism, mechanism.mixed_with_identity(0.1)):
            for notion in NOTIONS[:3]:
                expected = notion.leakage(made.matrix)
                with monkeypatch.context() as patch:
                    patch.setattr("paper_repro.mechanisms._MOST_JUDGED_BY_MATRIX", 0)
                    assert notion.leakage(made) == pytest.approx(expected, abs=1e-13)
    large = randomized_response(10**6, 3.0).spread
    ratio = Fraction(large.kept[0]) / (Fraction(large.answers[0]) * Fraction(large.shares[0]))
    assert math.exp(DifferentialPrivacy().leakage(randomized_response(10**6, 3.0))) >= float(ratio) * (1 - 1e-15)


def test_sampling_many_letters_follows_the_rows(rng):
    answers = np.array([0.0, 1e-9, 5.0, 1.0, 0.0, 2.0, 0.5])
    mechanism = Mechanism.from_distortions([0.5, 1.0, 0.9, 0.0, 1e-3, 0.7, 1.0], answers=answers)
    values = np.repeat(np.arange(7), 20_000)
    published = mechanism.sample(values, rng)
    counts = np.array([np.bincount(published[values == letter], minlength=7) for letter in range(7)]) / 20_000
    spread = np.sqrt(mechanism.matrix * (1 - mechanism.matrix) / 20_000)
    assert (np.abs(counts - mechanism.matrix) <= 5 * spread + 1e-9).all()
    assert randomized_response(10**6, 3.0).sample(values, rng).shape == values.shape
