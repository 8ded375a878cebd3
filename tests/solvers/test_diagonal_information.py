"""Mutual and Sibson information's program: the bound that every certificate rests on, and what is proposed."""

import math

import numpy as np
import pytest

from paper_repro.solvers.diagonal_information import (
    DiagonalInformationProgram,
    binary_information,
    least_distortion,
    least_information,
)
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.notions import sibson_information, worst_sibson_information
from tests.oracles.tradeoffs import blahut_arimoto, erokhin

ORDERS = [1, 1 + 1e-6, 1.01, 2, 10, 100]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(6))
def test_no_channel_beats_the_bound(order, seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    prior, penalties = rng.dirichlet(np.ones(size)), rng.exponential(size=size) * 10 ** rng.uniform(-2, 1)
    for _ in range(20):
        matrix = rng.dirichlet(np.ones(size) / 3, size=size) * 0.5 + np.eye(size) * 0.5
        distortion = penalties @ (1 - np.diagonal(matrix)) / penalties.sum()
        ratios, leakage = rng.exponential(size=size) / order, sibson_information(prior, matrix, order)  # any will do
        allowance, slack = distortion * penalties.sum(), 1e-12 + 1e-14 / (order - 1 or 1)
        assert least_information(order, prior, penalties, ratios, allowance) <= leakage + slack
        assert least_distortion(order, prior, penalties, ratios, penalties.sum(), leakage) <= distortion + 1e-9


@pytest.mark.parametrize("slope", [1.0, 2.0, 4.0, 40.0])
def test_one_prior_by_blahut_and_arimoto(slope):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    distortion, rate = blahut_arimoto(prior, slope)
    program = DiagonalInformationProgram(prior[np.newaxis])
    if distortion > 0:
        prices, ratios = program.at_distortion(distortion).certificate
        assert prices[0] == pytest.approx(slope, rel=1e-6)  # the alternating minimization's last step is below 1e-9
        assert least_information(1.0, prior, prices * prior, ratios, distortion * prices[0]) == pytest.approx(
            rate, abs=1e-9
        )


@pytest.mark.parametrize("share", [1e-300, 1e-12, 0.05, 0.4, 0.9])
def test_both_programs_of_one_prior(share):
    """Erokhin's formula, and the interior-point method on the same prior taken twice."""
    prior = np.array([0.7, 0.15, 0.06, 0.04, 0.03, 0.02])
    distortion, rate = erokhin(prior, share * 0.15)
    closed = DiagonalInformationProgram(prior[np.newaxis]).at_distortion(distortion)
    prices, ratios = closed.certificate
    assert least_information(1.0, prior, prices * prior, ratios, distortion * prices[0]) == pytest.approx(
        rate, abs=1e-14
    )
    assert prior @ closed.mechanism.distortions == pytest.approx(distortion, rel=1e-14, abs=0)
    if share > 1e-6:
        twice = DiagonalInformationProgram(np.array([prior, prior])).at_distortion(distortion)
        assert twice.mechanism.matrix == pytest.approx(closed.mechanism.matrix, abs=1e-4)  # 0.4 is a breakpoint
        back = DiagonalInformationProgram(prior[np.newaxis]).at_leakage(rate)
        assert prior @ back.mechanism.distortions == pytest.approx(distortion, rel=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", [2])
def test_proposals(source_class, seed, order):
    """What the program proposes is a channel within its budget, and its bound meets what the channel leaks."""
    vertices = random_vertices(source_class, seed, most_letters=5, most_vertices=3)
    program, end = DiagonalInformationProgram(vertices, order), perfect_privacy(vertices).distortion
    for share in (0.1, 0.8):
        found = program.at_distortion(share * end)
        matrix = found.mechanism.matrix
        assert (matrix >= 0).all()
        assert matrix.sum(axis=1) == pytest.approx(np.ones(vertices.shape[1]), abs=1e-14)  # rounding
        assert (vertices @ found.mechanism.distortions).max() <= share * end * (1 + 1e-14)
        leakage = worst_sibson_information(matrix, vertices, order)
        prices, ratios = found.certificate
        allowance = share * end * prices.sum()
        bound = least_information(order, found.weights @ vertices, prices @ vertices, ratios, allowance)
        # The optimizer over priors stops short of the maximum, and near order 1 more so.
        assert bound - 1e-9 / (1 - 1 / order or 1) <= leakage <= bound + 1e-7


def test_information_against_an_output():
    prior, matrix = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]])
    output, kept = prior @ matrix, np.diagonal(matrix)
    binary = sum(
        p * (a * math.log(a / r) + (1 - a) * math.log((1 - a) / (1 - r)))
        for p, a, r in zip(prior, kept, output, strict=True)
    )
    assert binary_information(1.0, prior[np.newaxis], kept, 1 - kept, output) == pytest.approx(binary, rel=1e-14)
    for order in (1.0, 2.0, 1000.0):
        assert binary_information(order, prior[np.newaxis], output, 1 - output, output) == 0
        assert binary_information(order, prior[np.newaxis], kept, 1 - kept, np.eye(3)[0]) == math.inf


@pytest.mark.parametrize("order", [1.0, 5.0, 20.0])
def test_many_letters_and_vertices(order):
    vertices = np.random.default_rng(1).dirichlet(np.ones(3000), size=4)
    program = DiagonalInformationProgram(vertices, order)
    found = program.at_distortion(0.3)
    prices, ratios = found.certificate
    channel = found.mechanism.spread
    outputs = channel.answers / channel.answers.sum()
    leaked = binary_information(order, vertices, channel.kept, channel.distortions, outputs)
    bound = least_information(order, found.weights @ vertices, prices @ vertices, ratios, 0.3 * prices.sum())
    assert leaked == pytest.approx(bound, abs=1e-9)
