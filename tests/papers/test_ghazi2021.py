"""RRWithPrior and RRonBins are the optima for one prior; pointwise maximal leakage is maximal information."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import paper_repro as pr
from paper_repro.papers.ghazi2021 import rr_top_k, rr_with_prior


@pytest.mark.parametrize("seed", range(200))
def test_rr_with_prior_is_the_optimum_for_one_prior(seed):
    rng = np.random.default_rng([21, seed])
    prior = rng.dirichlet(np.full(int(rng.integers(2, 8)), rng.choice([0.3, 1.0, 5.0])))
    leakage, source = float(rng.uniform(0, 6)), pr.SourceSet(prior)
    printed = rr_with_prior(prior, leakage)
    best = pr.optimal_mechanism(source, leakage=leakage)
    assert best.distortion == pytest.approx(printed.worst_case_distortion(source), abs=1e-13)
    assert pr.DifferentialPrivacy().leakage(printed) <= leakage + 1e-14


def test_over_a_set_it_is_not(rng):
    source = pr.load_source_set("P_IIIb_6")
    best = pr.optimal_mechanism(source, leakage=1.0).distortion
    fitted = [rr_with_prior(prior, 1.0).worst_case_distortion(source) for prior in source.vertices]
    assert best < 0.48 and min(fitted) > 0.84


def test_the_ends():
    assert rr_with_prior([0.5, 0.3, 0.2], math.inf).matrix.tolist() == np.eye(3).tolist()
    assert rr_with_prior([0.5, 0.3, 0.2], 0.0).matrix.tolist() == [[1.0, 0.0, 0.0]] * 3
    with pytest.raises(ValueError, match=r"k must be between 1 and 2, the number of categories; got 3\."):
        rr_top_k([0.5, 0.5], 1.0, 3)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_rr_on_bins(seed, power):
    """Its closed form: a few letters by randomized response, each true letter going to the nearest; the best few, by trial."""
    rng = np.random.default_rng([22, seed])
    size, leakage = 5, 0.5 + seed
    prior, places = rng.dirichlet(np.ones(size)), np.sort(rng.integers(0, 9, size=size))
    costs = np.abs(np.subtract.outer(places, places)).astype(float) ** power
    closed = min(
        prior
        @ ((math.exp(leakage) - 1) * costs[:, few].min(axis=1) + costs[:, few].sum(axis=1))
        / (math.exp(leakage) + len(few) - 1)
        for count in range(1, size + 1)
        for few in map(list, itertools.combinations(range(size), count))
    )
    best = pr.optimal_mechanism(pr.SourceSet(prior), leakage=leakage, costs=costs)
    assert best.distortion == pytest.approx(closed, abs=1e-8)


def test_pointwise_maximal_leakage_by_its_definition(rng):
    """The largest ``P(i | j) / P_i``, in fractions, by Bayes' rule."""
    for _ in range(20):
        matrix = pr.Mechanism(rng.dirichlet(np.ones(4), size=4)).matrix
        source = pr.SourceSet(rng.dirichlet(np.ones(4)))
        prior = [Fraction(p) / sum(map(Fraction, source.vertices[0])) for p in source.vertices[0]]
        joint = [[p * Fraction(entry) for entry in row] for p, row in zip(prior, matrix, strict=True)]
        posteriors = [[entry / sum(column) for entry in column] for column in zip(*joint, strict=True)]
        largest = max(posterior / p for column in posteriors for posterior, p in zip(column, prior, strict=True))
        found = pr.PointwiseMaximalLeakage().leakage(matrix, source)
        assert found == pytest.approx(math.log(largest), abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_its_best_mechanism_from_the_posteriors(seed):
    """The same optimum in joint probabilities: every posterior at most t times the prior."""
    rng = np.random.default_rng([23, seed])
    size, leakage = 4, 0.3 + 0.4 * seed
    prior = rng.dirichlet(np.ones(size))
    rows, none = np.kron(np.eye(size), np.ones((1, size))), np.zeros(size * size)
    outputs = np.kron(np.ones((1, size)), np.eye(size))
    caps = np.eye(size * size) - math.exp(leakage) * np.kron(prior[:, np.newaxis], outputs)
    best = linprog(-np.eye(size).ravel(), caps, none, rows, prior)
    found = pr.optimal_mechanism(pr.SourceSet(prior), leakage=leakage, notion=pr.PointwiseMaximalLeakage())
    assert found.distortion == pytest.approx(1 + best.fun, abs=1e-9)
