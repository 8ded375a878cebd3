"""The largest leakage with few outputs, by a separate enumeration."""

import math

import numpy as np
import pytest

from paper_repro import clique, hamming, line
from paper_repro.min_entropy import greatest_capacity
from paper_repro.papers.alvim2011 import theorem_1
from tests.oracles.graphs import graph_of, greatest_vulnerability, random_private_channel

SOLVER = 1e-8  # sums of a few chosen entries, each row solved to 1e-10; "about 1e-9" is promised


@pytest.mark.parametrize(
    ("values", "individuals", "outputs", "ratio"), [(2, 3, 2, 2.0), (2, 2, 3, 1.5), (3, 1, 2, 4.0), (2, 3, 3, 5.0)]
)
def test_another_enumeration_finds_the_same(values, individuals, outputs, ratio):
    graph, leakage = hamming(values, individuals), math.log(ratio)
    expected = greatest_vulnerability(graph.size, graph.edges.tolist(), outputs, leakage)
    assert greatest_capacity(graph, outputs, leakage) == pytest.approx(math.log(expected), abs=SOLVER)


@pytest.mark.parametrize("seed", range(10))
def test_no_private_channel_leaks_more(seed):
    rng = np.random.default_rng(seed)
    graph, leakage, outputs = hamming(2, 3), float(rng.uniform(0.2, 3)), int(rng.integers(2, 5))
    channel = random_private_channel(rng, graph.size, list(graph_of(8, graph.edges).edges), outputs, leakage)
    assert math.log(channel.max(axis=0).sum()) <= greatest_capacity(graph, outputs, leakage) + SOLVER


@pytest.mark.parametrize(("values", "individuals"), [(2, 2), (3, 1), (4, 1)])
@pytest.mark.parametrize("leakage", [0.5, 2.0])
def test_with_an_output_for_each_database_it_is_theorem_1(values, individuals, leakage):
    graph = hamming(values, individuals)
    bound = theorem_1(values, individuals, leakage) * math.log(2)
    assert greatest_capacity(graph, graph.size, leakage) == pytest.approx(bound, abs=SOLVER)
    assert greatest_capacity(graph, graph.size + 1, leakage) == pytest.approx(bound, abs=SOLVER)


def test_more_outputs_leak_no_less():
    found = [greatest_capacity(line(4), outputs, 1.0) for outputs in range(1, 6)]
    assert found[0] == 0.0
    assert (np.diff(found) >= -SOLVER).all()


@pytest.mark.parametrize(
    ("leakage", "expected"), [(0.0, 0.0), (math.inf, math.log(2))], ids=["no leakage", "any leakage"]
)
def test_ends(leakage, expected):
    assert greatest_capacity(hamming(2, 3), 2, leakage) == pytest.approx(expected, abs=SOLVER)
    assert greatest_capacity(clique(1), 1, leakage) == 0.0


@pytest.mark.parametrize("outputs", [0, -1, 8, 10**6])
def test_too_many_choices_name_the_closed_forms(outputs):
    message = rf"{outputs} outputs of 27 inputs .*20000 are tried; .*proposition_2 and theorem_1 bound"
    with pytest.raises(ValueError, match=message):
        greatest_capacity(hamming(3, 3), outputs, 1.0)


def test_leakage_is_not_negative():
    with pytest.raises(ValueError, match="at least 0 nats"):
        greatest_capacity(hamming(2, 2), 2, -1.0)
