"""Times of the seven notions and of databases, for ``make bench``: never asserted.

Targets, on two cores: a curve of 100 points on 10 letters and 2 vertices within 0.2 s for differential privacy, its approximate
form and maximal leakage, and within 5 s for mutual and Sibson information; 20 points of Renyi privacy on 4 letters within 20 s.
"""

import numpy as np
import pytest

import paper_repro as pr

pytest.importorskip("pytest_benchmark")

GRID = np.linspace(0.01, 0.6, 100)


@pytest.fixture(scope="module")
def source():
    return pr.SourceSet(np.random.default_rng(10).dirichlet(np.ones(10), size=2))


@pytest.mark.benchmark(group="100 points, M = 10, V = 2")
@pytest.mark.parametrize(
    "notion",
    [
        pr.DifferentialPrivacy(),
        pr.ApproximateDP(0.1),
        pr.ApproximateDP(0.1, standard=True),
        pr.MaximalLeakage(),
        pr.MutualInformation(),
        pr.SibsonInformation(2),
    ],
    ids=repr,
)
def test_curve(benchmark, source, notion):
    curve = benchmark.pedantic(pr.leakage_curve, (source, GRID, notion), rounds=3, warmup_rounds=1)
    assert (np.diff(curve) <= 1e-6).all()


@pytest.mark.benchmark(group="20 points, M = 4")
@pytest.mark.parametrize("notion", [pr.RenyiDP(2), pr.MaximalInformation()], ids=repr)
def test_curve_of_a_program_over_the_channel(benchmark, notion):
    prior = pr.SourceSet([0.4, 0.3, 0.2, 0.1])
    curve = benchmark.pedantic(
        pr.leakage_curve, (prior, np.linspace(0.02, 0.55, 20), notion), rounds=3, warmup_rounds=1
    )
    assert (np.diff(curve) <= 1e-6).all()


@pytest.mark.benchmark(group="1000 records of 50 values")
@pytest.mark.parametrize(
    "notion",
    [
        pr.DifferentialPrivacy(),
        pr.ApproximateDP(0.01),
        pr.MaximalLeakage(),
        pr.RenyiDP(2),
        pr.SibsonInformation(2),
        pr.MutualInformation(),
    ],
    ids=repr,
)
def test_databases(benchmark, notion):
    best = benchmark(pr.optimal_database_mechanism, 50, 1000, distortion=100.0, notion=notion)
    assert best.distortion <= 100 + 1e-6
