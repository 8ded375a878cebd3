"""Every category published and estimated, at a price that is certified."""

import math

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.columns.estimable import amplifications, estimable

TWELVE = np.array([320, 200, 130, 100, 70, 50, 40, 30, 25, 20, 10, 5]) / 1000
NOTIONS = [
    pr.DifferentialPrivacy(),
    pr.ApproximateDP(0.01),
    pr.MaximalLeakage(),
    pr.MaximalInformation(),
    pr.MutualInformation(),
    pr.SibsonInformation(2),
    pr.RenyiDP(2),
]
COSTS = np.minimum(np.abs(np.subtract.outer(np.arange(12), np.arange(12))), 4)


@pytest.mark.parametrize(
    ("notion", "costs"),
    [*((notion, None) for notion in NOTIONS), (pr.DifferentialPrivacy(), COSTS), (pr.MutualInformation(), COSTS)],
    ids=repr,
)
def test_every_category_is_published_and_estimated(notion, costs):
    source = pr.SourceSet([TWELVE, np.roll(TWELVE, 1)]) if costs is None else pr.SourceSet(TWELVE)
    best = pr.optimal_mechanism(source, distortion=0.3, notion=notion, costs=costs)
    found = estimable(best)
    inverse = np.linalg.inv(found.mechanism.matrix)
    if costs is None:
        assert found.mechanism.matrix.diagonal().min() >= 0.35 * (1 - 1e-12)
        assert np.ptp(inverse, axis=0).max() <= 2 / (1 - 0.3 * 12 / 11) * (1 + 1e-9)
    assert found.distortion <= 0.3 + 1e-11
    assert found.leakage == notion.leakage(found.mechanism, source)
    assert found.price == pytest.approx(found.leakage - best.leakage + best.gap, abs=1e-15)
    # What was published tells the frequencies again, without bias.
    np.testing.assert_allclose(TWELVE @ found.mechanism.matrix @ inverse, TWELVE, rtol=0, atol=1e-12)


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_leakage_budgets_are_kept(notion):
    best = pr.optimal_mechanism(pr.SourceSet(TWELVE), leakage=1.0, notion=notion)
    found = estimable(best)
    assert found.leakage <= 1.0 + 1e-11
    assert found.price == pytest.approx(found.distortion - best.distortion + best.gap, abs=1e-12)
    assert math.isfinite(amplifications(found.mechanism).max())


def test_constraints_are_kept():
    source = pr.SourceSet([0.6, 0.3, 0.1], labels="abc")
    best = pr.optimal_mechanism(
        source, distortion=0.3, notion=pr.MaximalLeakage(), forbidden=[("a", "c")], invariant=True
    )
    found = estimable(best)
    matrix = found.mechanism.matrix
    assert matrix[0, 2] == 0 and matrix.diagonal().min() >= 0.35
    np.testing.assert_allclose(source.vertices @ matrix, source.vertices, rtol=0, atol=1e-12)
    assert found.price == pytest.approx(found.leakage - best.leakage + best.gap, abs=1e-15)
    with pytest.raises(
        ValueError, match=r"keep_at_least of 'a' .* and forbidden \('a', 'a'\) must not contradict each other"
    ):
        estimable(pr.optimal_mechanism(source, distortion=0.65, notion=pr.MaximalLeakage(), forbidden=[("a", "a")]))


def test_amplification_is_that_of_the_inverse_for_numbers_and_for_matrices(rng):
    for answers in (None, rng.dirichlet(np.ones(1200))):
        many = pr.Mechanism.from_distortions(rng.uniform(0.1, 0.9, 1200), answers=answers)
        np.testing.assert_allclose(amplifications(many), np.ptp(np.linalg.inv(many.matrix), axis=0), rtol=1e-9)


def test_a_million_categories():
    prior = 1 / np.arange(1, 10**6 + 1)
    best = pr.optimal_mechanism(pr.SourceSet(prior / prior.sum()), distortion=0.3)
    found = estimable(best)
    assert found.mechanism.distortions.max() <= 0.65 + 1e-9
    assert amplifications(found.mechanism).max() <= 2 / (1 - 0.3 / (1 - 1e-6)) * (1 + 1e-9)
    assert found.distortion <= 0.3 + 1e-11


def test_nothing_is_estimated_from_a_constant_answer():
    best = pr.optimal_mechanism(pr.SourceSet([0.8, 0.2]), distortion=0.2)
    with pytest.raises(
        ValueError, match=r"distortion must be below 0\.2 for estimable frequencies; got 0\.2, .* the same"
    ):
        estimable(best)
    with pytest.raises(ValueError, match=r"share must be a number between 0 and 1; got 2"):
        estimable(pr.optimal_mechanism(pr.SourceSet([0.8, 0.2]), distortion=0.1), share=2)
