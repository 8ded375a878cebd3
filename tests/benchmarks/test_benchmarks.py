"""Times, for ``make bench``: never asserted, as a busy machine is no mistake.

Targets, on two cores: the complete curve of one prior at most 10 times the sort (the ratio stands in parentheses); one
optimum on 1,000 letters 0.2 s; a curve of 200 points 1 s.
"""

import subprocess
import sys

import numpy as np
import pytest

import paper_repro as pr

pytest.importorskip("pytest_benchmark")

LETTERS = 1_000_000


@pytest.fixture(scope="module")
def prior():
    return np.random.default_rng(13).dirichlet(np.ones(LETTERS))


@pytest.fixture
def dense():
    """Eight random distributions over 1,000 letters, none of them small anywhere."""
    return pr.SourceSet(np.random.default_rng(8).dirichlet(np.ones(1000), size=8))


@pytest.mark.benchmark(group="one prior, M = 1,000,000: the complete curve beside a sort")
def test_sort(benchmark, prior):
    benchmark(np.sort, prior)


@pytest.mark.benchmark(group="one prior, M = 1,000,000: the complete curve beside a sort")
def test_complete_curve(benchmark, prior):
    curve = benchmark(pr.exact_curve, pr.SourceSet(prior))
    assert len(curve.breakpoints) > LETTERS / 2


@pytest.mark.benchmark(group="differential privacy, M = 1,000, V = 8, dense")
@pytest.mark.parametrize("distortion", [0.05, 0.3, 0.7, 0.95])
def test_optimum_at_a_distortion(benchmark, dense, distortion):
    best = benchmark(pr.optimal_mechanism, dense, distortion=distortion)
    assert best.gap <= 1e-9


@pytest.mark.benchmark(group="differential privacy, M = 1,000, V = 8, dense")
def test_optimum_at_a_leakage(benchmark, dense):
    best = benchmark(pr.optimal_mechanism, dense, leakage=3.0)
    assert best.gap <= 1e-9


@pytest.mark.benchmark(group="P_IIIc_10, 200 points")
@pytest.mark.parametrize("notion", [pr.DifferentialPrivacy(), pr.MutualInformation()], ids=lambda notion: notion.name)
def test_leakage_curve(benchmark, notion):
    source = pr.load_source_set("P_IIIc_10")
    curve = benchmark(pr.leakage_curve, source, np.linspace(0.005, 1, 200), notion)
    assert curve[-1] < 1e-10  # mutual information is evaluated that closely


@pytest.mark.benchmark(group="P_IIIc_10, 200 points")
def test_exact_curve_with_all_breakpoints(benchmark):
    curve = benchmark(pr.exact_curve, pr.load_source_set("P_IIIc_10"))
    assert len(curve.breakpoints) == 10


@pytest.mark.benchmark(group="start")
@pytest.mark.parametrize("module", ["numpy", "paper_repro", "paper_repro.figures", "paper_repro.cli"])
def test_import(benchmark, module):
    """A new process each time; ``numpy`` for comparison."""
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(subprocess.run, (command,), {"check": True}, rounds=5, warmup_rounds=1)
