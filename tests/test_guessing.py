"""Min-entropy against its definition, every guessing strategy tried, and against qif where it is installed."""

import math

import numpy as np
import pytest

from paper_repro import clique, hamming, randomized_response
from paper_repro.guessing import (
    bayes_vulnerability,
    conditional_min_entropy,
    greatest_capacity,
    min_entropy,
    min_entropy_capacity,
    min_entropy_leakage,
)
from paper_repro.papers.alvim2011 import theorem_1
from tests.oracles.graphs import graph_of, greatest_vulnerability, random_private_channel, vulnerability

# Sums of at most 12 products of order 1, each rounded at 1e-16.
ROUNDING = 1e-14


@pytest.fixture(params=range(20))
def drawn(request):
    rng = np.random.default_rng([7, request.param])
    inputs, outputs = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    prior, channel = rng.dirichlet(np.ones(inputs)), rng.dirichlet(np.full(outputs, 0.5), size=inputs)
    if request.param % 3 == 0:
        prior = rng.multinomial(6, np.full(inputs, 1 / inputs)) / 6
    if request.param % 4 == 0:
        channel = np.eye(outputs)[rng.integers(outputs, size=inputs)]
    return prior, channel


def test_vulnerability_is_the_best_guessing_strategys(drawn):
    prior, channel = drawn
    best = vulnerability(prior, channel)
    assert bayes_vulnerability(prior, channel) == pytest.approx(best, abs=ROUNDING)


@pytest.mark.parametrize("unit", [math.e, 2])
def test_entropies_are_logarithms_of_vulnerabilities(drawn, unit):
    prior, channel = drawn
    bits, before, after = unit == 2, max(prior), vulnerability(prior, channel)
    assert min_entropy(prior, bits=bits) == pytest.approx(-math.log(before, unit), abs=ROUNDING)
    assert conditional_min_entropy(prior, channel, bits=bits) == pytest.approx(-math.log(after, unit), abs=ROUNDING)
    leakage = min_entropy_leakage(prior, channel, bits=bits)
    assert leakage == pytest.approx(math.log(after / before, unit), abs=ROUNDING)
    assert leakage >= 0


def test_capacity_is_the_leakage_of_the_uniform_prior_and_of_no_other_more(drawn):
    _, channel = drawn
    capacity, size = min_entropy_capacity(channel), len(channel)
    assert min_entropy_leakage(np.full(size, 1 / size), channel) == pytest.approx(capacity, abs=ROUNDING)
    for prior in np.random.default_rng(1).dirichlet(np.full(size, 0.7), size=50):
        assert min_entropy_leakage(prior, channel) <= capacity + ROUNDING


@pytest.mark.parametrize("call", [min_entropy, lambda prior: conditional_min_entropy(prior, np.eye(3)[: len(prior)])])
def test_certainty_has_no_entropy_and_no_negative_zero(call):
    assert math.copysign(1, call([1.0, 0.0])) == 1.0
    assert call([1.0, 0.0]) == 0.0


def test_constant_channels_leak_nothing():
    channel = np.tile([0.1, 0.2, 0.7], (4, 1))
    assert min_entropy_capacity(channel) == min_entropy_leakage([0.1, 0.2, 0.3, 0.4], channel) == 0.0


@pytest.mark.parametrize(
    ("prior", "channel", "message"),
    [
        (
            [0.5, 0.6],
            None,
            r"prior: row 0 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it by its sum\.",
        ),
        (
            [1.5, -0.5],
            None,
            r"prior: row 0, category 1 must be a probability, a finite number between 0 and 1; got -0\.5\.",
        ),
        ([], None, "prior must be a non-empty table"),
        (
            [0.5, math.nan],
            None,
            r"prior: row 0, category 1 must be a probability, a finite number between 0 and 1; got nan\.",
        ),
        ([0.5, 0.5], [[1.0, 0.0]], r"channel must have 2 rows, one for each category of the prior; got 1\."),
        (
            [0.5, 0.5],
            [[0.5, 0.5], [0.5, 0.6]],
            r"channel: row 1 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it by its " r"sum\.",
        ),
        (
            [0.5, 0.5],
            [[0.5, 0.5], [1.0]],
            r"channel: row 1 must have 2 entries, as many as row 0; got 1\. Write 0 for a category that "
            r"never occurs\.",
        ),
    ],
)
@pytest.mark.parametrize("call", [bayes_vulnerability, min_entropy_leakage, conditional_min_entropy])
def test_what_is_no_prior_or_channel(call, prior, channel, message):
    with pytest.raises(ValueError, match=message):
        call(prior, np.eye(2) if channel is None else channel)


def test_one_prior_at_a_time():
    with pytest.raises(ValueError, match="one"):
        bayes_vulnerability([[0.5, 0.5], [0.9, 0.1]])


@pytest.mark.parametrize("seed", range(5))
def test_leakage_as_qif_has_it(seed):
    qif = pytest.importorskip("qif")
    rng = np.random.default_rng(seed)
    prior, channel = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5), size=4)
    theirs = qif.measure.bayes_vuln.min_entropy_leakage(prior, channel)
    assert min_entropy_leakage(prior, channel, bits=True) == pytest.approx(theirs, abs=ROUNDING)


# The largest leakage with few outputs, by a separate enumeration

SOLVER = 1e-8  # sums of a few chosen entries, each row solved to 1e-10; "about 1e-9" is promised


@pytest.mark.parametrize(
    ("values", "records", "outputs", "ratio"), [(2, 3, 2, 2.0), (2, 2, 3, 1.5), (3, 1, 2, 4.0), (2, 3, 3, 5.0)]
)
def test_another_enumeration_finds_the_same(values, records, outputs, ratio):
    graph, leakage = hamming(values, records), math.log(ratio)
    expected = greatest_vulnerability(graph.size, graph.edges.tolist(), outputs, leakage)
    assert greatest_capacity(graph, outputs, leakage) == pytest.approx(math.log(expected), abs=SOLVER)


@pytest.mark.parametrize("seed", range(10))
def test_no_private_channel_leaks_more(seed):
    rng = np.random.default_rng(seed)
    graph, leakage, outputs = hamming(2, 3), float(rng.uniform(0.2, 3)), int(rng.integers(2, 5))
    channel = random_private_channel(rng, graph.size, list(graph_of(8, graph.edges).edges), outputs, leakage)
    assert math.log(channel.max(axis=0).sum()) <= greatest_capacity(graph, outputs, leakage) + SOLVER


@pytest.mark.parametrize(("values", "records"), [(2, 2), (3, 1), (4, 1)])
@pytest.mark.parametrize("leakage", [0.5, 2.0])
def test_with_an_output_for_each_database_it_is_theorem_1(values, records, leakage):
    graph = hamming(values, records)
    bound = theorem_1(values, records, leakage) * math.log(2)
    assert greatest_capacity(graph, graph.size, leakage) == pytest.approx(bound, abs=SOLVER)
    assert greatest_capacity(graph, graph.size + 1, leakage) == pytest.approx(bound, abs=SOLVER)


@pytest.mark.parametrize(
    ("leakage", "expected"), [(0.0, 0.0), (math.inf, math.log(2))], ids=["no leakage", "any leakage"]
)
def test_ends(leakage, expected):
    assert greatest_capacity(hamming(2, 3), 2, leakage) == pytest.approx(expected, abs=SOLVER)
    assert greatest_capacity(clique(1), 1, leakage) == 0.0


@pytest.mark.parametrize("outputs", [8, 10**6])
def test_too_many_choices_name_the_closed_forms(outputs):
    message = rf"at most 20000 choices to enumerate for 27 inputs; got {outputs}\. .*proposition_2 and theorem_1"
    with pytest.raises(ValueError, match=message):
        greatest_capacity(hamming(3, 3), outputs, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((hamming(2, 2), 2, -1.0), "at least 0 nats"),
        ((hamming(2, 2), 0, 1.0), "outputs must be a whole number, at least 1; got 0"),
        ((hamming(2, 2), 2.5, 1.0), r"outputs must be a whole number, at least 1; got 2\.5"),
        ((4, 2, 1.0), r"must be a graph such as hamming\(values, records\); got 4"),
    ],
)
def test_what_has_no_greatest_capacity(arguments, message):
    with pytest.raises(ValueError, match=message):
        greatest_capacity(*arguments)


def test_mechanisms_are_channels():
    keep = randomized_response(3, 1.0)
    assert min_entropy_capacity(keep) == min_entropy_capacity(keep.matrix)
    assert min_entropy_leakage([0.5, 0.3, 0.2], keep) == min_entropy_leakage([0.5, 0.3, 0.2], keep.matrix)
