"""Mutual information's program: its lower bound, which every certificate rests on, and its proposals."""

import math

import numpy as np
import pytest

from paper_repro.solvers.diagonal_information import DiagonalInformationProgram, least_mutual_information
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import blahut_arimoto, information, worst_information


def least_penalized_information(prior, penalties, steps=20_000):
    """Minimum over channels of ``I(P; Q) + sum_i penalties_i (1 - Q_ii)``, by alternating minimization."""
    size = len(prior)
    attraction = np.exp(-np.where(np.eye(size, dtype=bool), 0.0, (penalties / prior)[:, np.newaxis]))
    output = np.full(size, 1 / size)
    for _ in range(steps):
        matrix = attraction * output
        matrix /= matrix.sum(axis=1, keepdims=True)
        output = prior @ matrix
    return information(prior, matrix) + penalties @ (1 - np.diagonal(matrix))


@pytest.mark.parametrize("seed", range(12))
def test_bound_is_the_minimum_of_the_lagrangian(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    prior, penalties, distortion = rng.dirichlet(np.ones(size)), rng.exponential(size=size), rng.uniform(0, 0.5)
    expected = least_penalized_information(prior, penalties) - distortion * penalties.sum()
    # Alternating minimization stops a little above its limit.
    assert least_mutual_information(prior, penalties, distortion) == pytest.approx(max(0.0, expected), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_no_channel_beats_the_bound(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    prior, penalties = rng.dirichlet(np.ones(size)), rng.exponential(size=size)
    for _ in range(20):
        matrix = rng.dirichlet(np.ones(size) / 3, size=size) * 0.5 + np.eye(size) * 0.5
        distortion = penalties @ (1 - np.diagonal(matrix)) / penalties.sum()
        assert information(prior, matrix) >= least_mutual_information(prior, penalties, distortion) - 1e-14  # rounding


@pytest.mark.parametrize("slope", [1.0, 2.0, 4.0, 40.0])
def test_bound_is_tight_for_one_prior(slope):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    distortion, rate = blahut_arimoto(prior, slope)
    # The penalties that belong to the slope of the curve; the alternating minimization's last step is below 1e-9.
    assert least_mutual_information(prior, slope * prior, distortion) == pytest.approx(rate, abs=1e-9)


def test_bound_at_its_limits():
    prior = np.array([0.5, 0.3, 0.2, 0.0])
    entropy = -sum(p * math.log(p) for p in prior if p)
    assert least_mutual_information(prior, np.full(4, math.inf), 0.0) == pytest.approx(entropy, abs=1e-14)  # rounding
    assert least_mutual_information(prior, np.zeros(4), 0.3) == 0.0
    assert least_mutual_information(np.array([0.0, 1.0]), np.ones(2), 0.3) == 0.0


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_proposals(source_class, seed):
    """What the program proposes is a channel within its budget, and its bound meets what the channel leaks."""
    vertices = random_vertices(source_class, seed, most_letters=5, most_vertices=3)
    program, end = DiagonalInformationProgram(vertices), perfect_privacy(vertices).distortion
    for share in (0.1, 0.5, 0.9):
        found = program.at_distortion(share * end)
        assert (found.mechanism >= 0).all()
        assert found.mechanism.sum(axis=1) == pytest.approx(np.ones(vertices.shape[1]), abs=1e-14)  # rounding
        assert (vertices @ (1 - np.diagonal(found.mechanism))).max() <= share * end * (1 + 1e-14)
        leakage = worst_information(found.mechanism, vertices)
        bound = least_mutual_information(found.weights @ vertices, found.certificate[0] @ vertices, share * end)
        assert bound - 1e-9 <= leakage <= bound + 1e-6  # the optimizer over priors; the documented tolerance
