"""Maximal leakage over the whole channel against exact programs written separately, and bounds that hold whatever is proposed."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper_repro.solvers.channel_mass import ChannelMassProgram
from paper_repro.solvers.games import perfect_privacy
from tests.oracles.rational import Channel, exponential

CLOSE = 1e-12  # relative


def instance(seed):
    """Random vertices, the last with small probabilities, and random distances between letters, some of them 0."""
    rng = np.random.default_rng([9, seed])
    size, powers = int(rng.integers(2, 5)), 10.0 ** -rng.integers(0, 9, size=4)
    vertices = rng.dirichlet(np.full(size, 2.0), size=int(rng.integers(1, 4)))
    vertices[-1] *= powers[:size]
    vertices[-1] /= vertices[-1].sum()
    costs = rng.integers(seed % 2, 4, size=(size, size)) * (1.0 - np.eye(size))
    perfect = perfect_privacy(vertices, costs)
    program = ChannelMassProgram(vertices, costs, perfect)
    return rng, perfect.distortion, program, Channel("maximal-leakage", vertices.tolist(), costs.tolist(), ())


def spent(whole, matrix):
    rows = [[Fraction(entry) for entry in row] for row in matrix.tolist()]
    return max(
        sum(
            p * q * d
            for p, row, apart in zip(prior, rows, whole.distances, strict=True)
            for q, d in zip(row, apart, strict=True)
        )
        for prior in whole.priors
    )


@pytest.mark.parametrize("seed", range(20))
def test_both_budgets_meet_the_exact_program(seed):
    _, free, program, whole = instance(seed)
    for share in (0.0, 1e-9, 0.1, 0.8, 1 - 1e-9) if free else ():
        allowed = share * free
        found = program.at_distortion(allowed)
        mass = sum(map(Fraction, found.mechanism.max(axis=0)))
        assert spent(whole, found.mechanism) <= Fraction(allowed) * (1 + Fraction(CLOSE))
        least = program.least_ratio(found.certificate, Fraction(allowed))
        assert least * (1 - Fraction(CLOSE)) <= mass <= least * (1 + Fraction(CLOSE))
        if mass > 1 + 1e-12:
            assert whole.least_distortion(mass * (1 - 2 * Fraction(CLOSE)), Fraction(allowed or 1)) > allowed * (
                1 - 1e-9
            )
    for leakage in (1e-9, 0.1, 0.7):
        found, scale = program.at_leakage(leakage), Fraction(free or 1)
        assert sum(map(Fraction, found.mechanism.max(axis=0))) <= exponential(leakage) * (1 + Fraction(1, 10**14))
        least = whole.least_distortion(exponential(leakage), scale)
        assert abs(spent(whole, found.mechanism) - least) <= least * Fraction(CLOSE)
        bound = program.least_distortion(found.certificate, exponential(leakage))
        assert least * (1 - Fraction(CLOSE)) <= bound <= least


@pytest.mark.parametrize("seed", range(5))
def test_no_channel_beats_the_bound(seed):
    rng, _, program, whole = instance(seed)
    size = whole.size
    for _ in range(20):
        matrix = rng.dirichlet(np.ones(size) / 2, size=size)
        certificate = rng.exponential(size=len(whole.priors)) * 3, rng.normal(size=size) + 0.5
        ratio, distortion = Fraction(matrix.max(axis=0).sum()) + Fraction(1, 10**14), spent(whole, matrix)
        assert 1 <= program.least_ratio(certificate, distortion) <= ratio
        assert 0 <= program.least_distortion(certificate, ratio) <= distortion * (1 + Fraction(1, 10**13))


def test_what_costs_nothing_is_free():
    pair, nothing = np.array([[0.5, 0.5]]), np.zeros((2, 2))
    program = ChannelMassProgram(pair, nothing, perfect_privacy(pair, nothing))
    assert program.at_distortion(0.0).mechanism.max(axis=0).sum() == 1
    assert program.least_ratio((np.zeros(1), np.zeros(2)), Fraction(0)) == 1
    assert math.isclose(program.at_leakage(math.log(2)).mechanism.sum(), 2)
