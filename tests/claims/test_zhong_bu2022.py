import math

import numpy as np
import pytest

from paper_repro.claims import zhong_bu2022_appendix as appendix
from paper_repro.claims import zhong_bu2022_coloring as coloring
from paper_repro.claims.base import claims_of, sample_of, statements
from paper_repro.notions import DifferentialPrivacy, MaximalLeakage

ONE_PRIOR = coloring.Problem(np.array([[0.4, 0.3, 0.2, 0.1]]), 1.6, 0.1)
TWO_PRIORS = coloring.Problem(np.array([[0.5, 0.45, 0.05], [0.7, 0.2, 0.1]]), 2.0, 0.1)


def test_a_black_diagonal_is_no_instance_of_proposition_30():
    assert math.isnan(coloring.proposition_30(ONE_PRIOR))
    assert coloring.proposition_30(TWO_PRIORS) < 1e-9
    assert coloring.proposition_30(TWO_PRIORS, place=-1) > 1e-3


def test_every_random_instance_of_proposition_30_has_an_entry_that_is_not_black():
    (claim,) = claims_of(["zhong_bu2022.proposition_30"])
    sample = sample_of(claim, 0, 5)
    assert (sample.count, sample.failures) == (5, 0)
    assert sample_of(claim, 0, 5, place=-1).failures == 5


@pytest.mark.parametrize("notion", [DifferentialPrivacy(), MaximalLeakage()])
def test_leakages_come_from_the_joint_distribution(notion):
    rows, prior = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]]), np.array([0.0, 0.7, 0.3])
    assert appendix._from_joint(notion, rows, np.array([0.1, 0.6, 0.3])) == pytest.approx(notion.leakage(rows))
    seen = np.vstack([rows[1:], rows[1:2]])
    assert appendix._from_joint(notion, rows, prior) == pytest.approx(notion.leakage(seen))
    assert notion.leakage(seen) < notion.leakage(rows)


def test_lemma_20_1_is_false_of_priors_that_are_zero_somewhere():
    rows, half, rare = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.5, 0.5]), np.array([0.9, 0.1])
    assert appendix.lemma_20_1(rows, half, rare) < 1e-8
    assert appendix.lemma_20_1(rows, half, rare, support=False) > 0.5


@pytest.mark.parametrize(
    "name", ["zhong_bu2022.theorem_17_5_lower", "alvim2011.equation_9", "alvim2011.binomial_expansion"]
)
def test_text_that_our_copy_garbles_is_no_fault(name):
    (claim,) = claims_of([name])
    assert claim.find(sample_of(claim, 0, 3)).verdict == "source text uncertain"
    assert not claim.text.weight
    assert "our copy" in claim.text.text.lower()
    assert statements()[name].correction
