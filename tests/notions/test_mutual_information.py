"""Mutual information: the worst prior of a channel, and optima against a full program, closed forms and iteration."""

import math

import numpy as np
import pytest

from paper_repro import Mechanism, MutualInformation, SourceSet, leakage_curve
from tests.oracles.instances import CLASSES, random_vertices
from tests.oracles.tradeoffs import (
    blahut_arimoto,
    erokhin,
    information,
    worst_information,
)

NOTION = MutualInformation()
# The notion's documented tolerance, in nats.
TOLERANCE = 1e-6
# ``leakage`` is an upper bound that is tight within 1e-10 nats.
BRACKET = 2e-10
HULL = SourceSet(np.eye(2))


PRIORS = [[0.5, 0.5], [0.5, 0.3, 0.2], [0.7, 0.15, 0.06, 0.04, 0.03, 0.02], [0.4, 0.4, 0.2, 0.0], [0.25] * 4]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_one_prior_by_erokhins_formula(prior, share):
    level = share * sorted(prior)[-2]  # up to the second likeliest letter something is published
    distortion, rate = erokhin(prior, level)
    assert leakage_curve(SourceSet(prior), distortion, notion=NOTION) == pytest.approx(rate, abs=TOLERANCE)


@pytest.mark.parametrize("slope", [1.7, 2.5, 6.0])
def test_one_prior_by_blahut_and_arimoto(slope):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    distortion, rate = blahut_arimoto(prior, slope)
    assert leakage_curve(SourceSet(prior), distortion, notion=NOTION) == pytest.approx(rate, abs=TOLERANCE)


def test_capacity_by_qif():
    qif = pytest.importorskip("qif")
    matrix = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]])
    in_bits = qif.measure.shannon.add_capacity(matrix)[0]
    # Over all priors the worst case is the capacity, which is found there within 1e-7 bits.
    assert NOTION.leakage(matrix, SourceSet(np.eye(3))) == pytest.approx(in_bits * math.log(2), abs=1e-7)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(12))
def test_the_worst_prior_of_a_channel(source_class, seed):
    vertices = random_vertices(source_class, seed, most_letters=5)
    size = vertices.shape[1]
    matrix = np.random.default_rng(seed).dirichlet(np.ones(size), size=size)
    if seed % 3 == 0:
        matrix = np.eye(size)  # with zeros; the leakage is then the largest entropy
    found = NOTION.leakage(matrix, SourceSet(vertices))
    worst = worst_information(matrix, vertices)
    # An upper bound, up to rounding; the general optimizer stops short of the maximum.
    assert worst - 1e-13 <= found <= worst + 1e-8


def test_the_worst_of_two_vertices_by_a_grid():
    vertices = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    matrix = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.0, 0.8]])
    shares = np.linspace(0, 1, 20_001)
    worst = max(information(share * vertices[0] + (1 - share) * vertices[1], matrix) for share in shares)
    # An upper bound, up to rounding; the grid misses the maximum by at most its step squared.
    assert worst - 1e-13 <= NOTION.leakage(matrix, SourceSet(vertices)) <= worst + 1e-8


def test_the_worst_prior_may_be_no_vertex():
    keep = Mechanism([[0.95, 0.05], [0.05, 0.95]])
    entropy = -0.05 * math.log(0.05) - 0.95 * math.log(0.95)
    assert NOTION.leakage(keep, HULL) == pytest.approx(math.log(2) - entropy, abs=BRACKET)
    assert [NOTION.leakage(keep, SourceSet(vertex)) for vertex in HULL.vertices] == [0, 0]


def test_the_hull_of_two_points_leaks_although_they_do_not():
    assert leakage_curve(HULL, 0.05, notion=NOTION) == pytest.approx(0.4946, abs=5e-5)  # as printed
