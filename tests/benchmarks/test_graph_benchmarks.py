"""Times on answer graphs, for ``make bench``: never asserted, as a busy machine is no mistake.

Targets, on two cores: the closed form on 10,000 vertices well under 1 s; an optimum on 40 vertices, any prior, 5 s.
"""

import math

import networkx as nx
import numpy as np
import pytest

import paper_repro as pr
from paper_repro.graphs import Adjacency

pytest.importorskip("pytest_benchmark")


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
