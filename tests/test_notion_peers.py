"""Other people's programs for the same leakages; each is compared with where it is installed."""

import math
import warnings

import numpy as np
import pytest

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalLeakage,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
    SourceSet,
    optimal_mechanism,
    randomized_response,
)

PRIOR = np.array([0.4, 0.3, 0.2, 0.1])
# Mutual and Sibson information are evaluated as upper bounds that are tight within this, in nats.
BRACKET = 2e-10


def peer(name):
    """Skip where it is not installed; what it warns of is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.mark.parametrize("order", [1, 1.01, 1.5, 2, 5, 10, 50])
def test_sibson_information_by_dit(order, rng):
    dit = peer("dit.other.sibson_mutual_information")
    best = optimal_mechanism(SourceSet(PRIOR), distortion=0.2, notion=SibsonInformation(order))
    for matrix, leakage in [
        (best.mechanism.matrix, best.leakage),
        *((m, SibsonInformation(order).leakage(m, SourceSet(PRIOR))) for m in rng.dirichlet(np.ones(4), size=(5, 4))),
    ]:
        in_bits = dit.sibson_mutual_information_pmf(PRIOR[:, np.newaxis] * matrix, order)
        assert leakage == pytest.approx(in_bits * math.log(2), abs=BRACKET)


def test_maximal_leakage_by_dit(rng):
    dit = peer("dit.other.sibson_mutual_information")
    best = optimal_mechanism(SourceSet(PRIOR), distortion=0.2, notion=MaximalLeakage())
    for matrix in [best.mechanism.matrix, *rng.dirichlet(np.ones(4), size=(5, 4))]:
        in_bits = dit.sibson_mutual_information_pmf(PRIOR[:, np.newaxis] * matrix, math.inf)
        assert MaximalLeakage().leakage(matrix) == pytest.approx(in_bits * math.log(2), abs=1e-13)  # rounding


def test_capacity_by_dit(rng):
    """Over all priors the largest mutual information is the capacity of the channel."""
    algorithms = peer("dit.algorithms")
    for matrix in rng.dirichlet(np.ones(3), size=(5, 3)):
        in_bits, prior = algorithms.channel_capacity(matrix, rtol=1e-12, atol=1e-12)
        found = MutualInformation().leakage(matrix, SourceSet(np.eye(3)))
        assert found == pytest.approx(in_bits * math.log(2), abs=1e-7)  # it stops within that of the capacity
        assert MutualInformation().leakage(matrix, SourceSet(prior)) == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("distortion", [0.1, 0.35])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.3])
def test_randomized_response_by_dp_accounting(size, distortion, delta):
    losses = peer("dp_accounting.pld.privacy_loss_distribution")
    noise, step = distortion * size / (size - 1), 1e-5
    theirs = losses.from_randomized_response(noise, size, value_discretization_interval=step)
    response = randomized_response(size, math.log((size - 1) * (1 - distortion) / distortion)).matrix
    # The standard definition; its losses are rounded up to a multiple of the step.
    leakage = ApproximateDP(delta, standard=True).leakage(response)
    assert leakage == pytest.approx(theirs.get_epsilon_for_delta(delta), abs=2 * step)
    # What delta is left at half the leakage, by definition.
    excess = np.clip(response[0] - math.exp(leakage / 2) * response[1], 0, None).sum()
    assert theirs.get_delta_for_epsilon(leakage / 2) == pytest.approx(excess, abs=2 * step)


@pytest.mark.parametrize("order", [1, 1.01, 2, 5, 10, 1000, math.inf])
@pytest.mark.parametrize("distortion", [0.01, 0.25, 0.4])
def test_two_letters_by_autodp(order, distortion):
    bank = peer("autodp.rdp_bank")
    theirs = bank.RDP_randresponse({"p": 1 - distortion}, order)
    best = optimal_mechanism(SourceSet([0.5, 0.5]), distortion=distortion, notion=RenyiDP(order))
    assert best.leakage == pytest.approx(theirs, rel=1e-9)
    response = [[1 - distortion, distortion], [distortion, 1 - distortion]]
    # Near order 1 both divide a logarithm of about 0 by order - 1.
    assert RenyiDP(order).leakage(response) == pytest.approx(theirs, rel=1e-12)
    assert DifferentialPrivacy().leakage(response) >= theirs * (1 - 1e-12)
