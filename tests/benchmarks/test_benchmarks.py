"""Times, for ``make bench``: never asserted, as a busy machine is no mistake.

Targets, on two cores: the complete curve of one prior at most 10 times the sort (the ratio stands in parentheses); one
optimum on 1,000 letters 0.2 s; a curve of 200 points 1 s. On answer graphs: the closed form on 10,000 vertices well under 1 s; an
optimum on 40 vertices, any prior, 5 s. A curve of 100 points on 10 letters and 2 vertices within 0.2 s for differential privacy,
its approximate form and maximal leakage, and within 5 s for mutual and Sibson information; 20 points of Renyi privacy on 4
letters within 20 s. A column of 10 letters is sampled by integers at 1.5 million rows a second or more.
"""

import math
import subprocess
import sys
import tracemalloc

import networkx as nx
import numpy as np
import pytest

import paper_repro as pr
from paper_repro.columns.randomness import OperatingSystem
from paper_repro.columns.sampler import IntegerSampler
from paper_repro.graphs import Adjacency

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
    curve = benchmark(pr.leakage_curve, source, np.linspace(0.005, 1, 200), notion=notion)
    assert curve[-1] < 1e-10  # mutual information is evaluated that closely


@pytest.mark.benchmark(group="P_IIIc_10, 200 points")
def test_exact_curve_with_all_breakpoints(benchmark):
    curve = benchmark(pr.exact_curve, pr.load_source_set("P_IIIc_10"))
    assert len(curve.breakpoints) == 10


@pytest.mark.benchmark(group="start")
@pytest.mark.parametrize("module", ["numpy", "paper_repro", "paper_repro.figures.style", "paper_repro.cli"])
def test_import(benchmark, module):
    """A new process each time; ``numpy`` for comparison."""
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(subprocess.run, (command,), {"check": True}, rounds=5, warmup_rounds=1)


# Answer graphs


@pytest.mark.benchmark(group="closed form, 10,000 vertices, with building the graph")
@pytest.mark.parametrize("make", [pr.ring, pr.clique])
def test_closed_form(benchmark, make):
    least = benchmark(lambda: pr.uniform_least_distortion(make(10_000), math.log(2)))
    assert 0 < least < 1


@pytest.fixture(params=[0.1, 0.5, 0.95], ids="density {}".format)
def graph(request):
    seed = 0
    while not nx.is_connected(drawn := nx.gnp_random_graph(40, request.param, seed=seed)):
        seed += 1
    return Adjacency.from_edges(40, drawn.edges)


@pytest.mark.benchmark(group="40 vertices, a random graph and prior")
@pytest.mark.parametrize("budget", [{"leakage": 2.0}, {"distortion": 0.3}], ids=["leakage", "distortion"])
def test_optimum(benchmark, graph, budget):
    source = pr.SourceSet(np.random.default_rng(40).dirichlet(np.ones(40)))
    best = benchmark.pedantic(
        pr.optimal_mechanism, (source,), budget | {"notion": pr.DifferentialPrivacy(graph)}, rounds=2
    )
    assert best.gap <= 1e-9


# The seven notions, and databases

GRID = np.linspace(0.01, 0.6, 100)


@pytest.fixture(scope="module")
def two_vertices():
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
def test_curve(benchmark, two_vertices, notion):
    curve = benchmark.pedantic(pr.leakage_curve, (two_vertices, GRID), {"notion": notion}, rounds=3, warmup_rounds=1)
    assert (np.diff(curve) <= 1e-6).all()


@pytest.mark.benchmark(group="20 points, M = 4")
@pytest.mark.parametrize("notion", [pr.RenyiDP(2), pr.MaximalInformation()], ids=repr)
def test_curve_of_a_program_over_the_channel(benchmark, notion):
    prior = pr.SourceSet([0.4, 0.3, 0.2, 0.1])
    curve = benchmark.pedantic(
        pr.leakage_curve, (prior, np.linspace(0.02, 0.55, 20)), {"notion": notion}, rounds=3, warmup_rounds=1
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


# A column of one's own

ROWS = 2_000_000


@pytest.fixture(scope="module")
def column():
    """A mechanism on 10 letters at D = 0.3, and a column of their numbers."""
    prior = np.random.default_rng(10).dirichlet(np.ones(10))
    best = pr.optimal_mechanism(pr.SourceSet(prior), distortion=0.3)
    return best.mechanism, np.random.default_rng(11).choice(10, ROWS, p=prior).astype(np.int8)


def told(benchmark, call, rows):
    """Rows a second, and the memory that the call takes at most, beside the times."""
    benchmark.pedantic(call, rounds=3, warmup_rounds=1)
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rate = rows / benchmark.stats.stats.min
    benchmark.extra_info |= {"rows a second": rate, "peak bytes": peak}
    print(f"{benchmark.name}: {rate / 1e6:.2f} million rows a second, {peak / 1e6:.0f} MB at most")


@pytest.mark.benchmark(group="2,000,000 rows of 10 letters: integers, and numpy's choice a letter")
def test_sample_by_integers(benchmark, column):
    mechanism, codes = column
    sampler = IntegerSampler.of(mechanism)
    told(benchmark, lambda: sampler.sample(codes, OperatingSystem()), ROWS)


@pytest.mark.benchmark(group="2,000,000 rows of 10 letters: integers, and numpy's choice a letter")
def test_sample_by_choice(benchmark, column):
    mechanism, codes = column
    rng = np.random.default_rng(0)

    def call():
        published = np.empty_like(codes)
        for letter, row in enumerate(mechanism.matrix):
            here = codes == letter
            published[here] = rng.choice(10, int(here.sum()), p=row / row.sum())

    told(benchmark, call, ROWS)


@pytest.mark.benchmark(group="1,000,000 rows of 1,000,000 letters")
def test_sample_of_many_letters(benchmark, prior):
    best = pr.optimal_mechanism(pr.SourceSet(prior), distortion=0.3)
    sampler, codes = IntegerSampler.of(best.mechanism), np.arange(LETTERS)
    told(benchmark, lambda: sampler.sample(codes, OperatingSystem()), LETTERS)
