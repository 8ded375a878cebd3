"""What all notions share: values, channels of any shape, where curves jump and bend, and how wrong ones are refused."""

import math

import numpy as np
import pytest

from paper_repro import exact_curve, leakage_curve, line, load_source_set, notion_by_name, ring
from paper_repro.graphs import Adjacency, clique
from paper_repro.mechanisms import Mechanism
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
)
from paper_repro.sources import SourceSet

MAKERS = [
    DifferentialPrivacy,
    lambda: DifferentialPrivacy(ring(4)),
    lambda: ApproximateDP(0.1),
    lambda: ApproximateDP(0.1, True, line(4)),
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    lambda: RenyiDP(2),
    lambda: RenyiDP(2.5, ring(4)),
    lambda: RenyiDP(math.inf),
    lambda: SibsonInformation(2),
    lambda: SibsonInformation(math.inf),
]


def test_notions_are_equal_by_value():
    notions, again = [make() for make in MAKERS], [make() for make in MAKERS]
    assert notions == again and [hash(notion) for notion in notions] == [hash(notion) for notion in again]
    assert len(set(notions + again)) == len(MAKERS)
    assert DifferentialPrivacy(ring(4)) == DifferentialPrivacy(
        Adjacency.from_edges(4, [(3, 0), (2, 1), (0, 1), (2, 3)])
    )
    assert DifferentialPrivacy(ring(3)) == DifferentialPrivacy(clique(3)) and MutualInformation() != SibsonInformation(
        1
    )


@pytest.mark.parametrize("make", MAKERS)
def test_channels_of_any_shape(make):
    """More outputs than inputs, and fewer: splitting an output in two changes nothing, and merging does not leak more."""
    notion, source = make(), SourceSet([[0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]])
    square = np.random.default_rng(3).dirichlet(np.ones(4), size=4) * 0.6 + 0.1
    split = np.column_stack([square[:, :3], square[:, 3:] / 2, square[:, 3:] / 2])
    merged = np.column_stack([square[:, :2], square[:, 2:].sum(axis=1)])
    leakage = notion.leakage(Mechanism(square), source)
    if not isinstance(notion, ApproximateDP) or notion.standard:  # pointwise, delta counts for each output
        assert notion.leakage(split, source) == pytest.approx(leakage, abs=2e-10)
        assert notion.leakage(merged, source) <= leakage + 1e-12
    assert math.isfinite(notion.leakage(split, source)) and math.isfinite(notion.leakage(merged, source))


@pytest.mark.parametrize("make", MAKERS)
def test_one_distribution_is_no_channel(make):
    with pytest.raises(
        ValueError, match=r"mechanism must have one row of probabilities per input; got \[0\.5, 0\.5\]\."
    ):
        make().leakage([0.5, 0.5], SourceSet([0.5, 0.5]))


@pytest.mark.parametrize("name", ["P_II_6", "P_IIIb_6", "P_I_6"])
def test_breakpoints(name):
    source = load_source_set(name)
    curve = exact_curve(source)
    assert exact_curve(source) is curve  # computed once
    assert (DifferentialPrivacy().breakpoints(source) == curve.breakpoints).all()
    shrunk = ApproximateDP(0.1).exact_curve(source)
    assert shrunk.breakpoints == pytest.approx(0.9 * curve.breakpoints, abs=1e-15)
    inside = np.linspace(0.05, 0.9, 7) * shrunk.breakpoints[-1]
    assert shrunk.leakage(inside) == pytest.approx(leakage_curve(source, inside, notion=ApproximateDP(0.1)), abs=1e-9)
    assert (RenyiDP(math.inf).breakpoints(source) == curve.breakpoints).all()
    for notion in (DifferentialPrivacy(ring(6)), MaximalInformation(), MutualInformation(), RenyiDP(2)):
        assert not len(notion.breakpoints(source))


def test_which_curves_can_jump():
    jumping = {type(notion) for notion in (make() for make in MAKERS) if notion.jumps}
    assert jumping == {DifferentialPrivacy, ApproximateDP, MaximalInformation, RenyiDP}
    assert not RenyiDP(2).jumps and RenyiDP(math.inf).jumps and not SibsonInformation(math.inf).jumps


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DifferentialPrivacy("x"), r"adjacency must be a graph of neighbors such as ring\(6\), .* got 'x'"),
        (lambda: RenyiDP(2, 3), "adjacency must be a graph .* got 3"),
        (
            lambda: ApproximateDP(0.1, ring(4)),
            r"standard must be True or False; got Adjacency\(ring: 4 vertices, 4 edges\)\. Give a graph as "
            r"adjacency\.",
        ),
        (
            lambda: notion_by_name(["differential privacy"]),
            "name must be one of 'differential privacy', 'approximate differential privacy', 'maximal "
            "information', 'maximal leakage', 'Renyi differential privacy', 'Sibson information', 'mutual "
            r"information'; got \['differential privacy'\]\.",
        ),
        (
            lambda: exact_curve("P_II_6"),
            r"source must be a SourceSet; got 'P_II_6'\. Write load_source_set\(name\), or "
            r"SourceSet\(\.\.\.\) around the priors\.",
        ),
        (lambda: exact_curve(None), "source must be a SourceSet; got None"),
        (
            lambda: MutualInformation().leakage(np.eye(2), [0.5, 0.5]),
            r"source must be a SourceSet for mutual information, which depends on it; got \[0\.5, 0\.5\]\. "
            r"Give leakage\(mechanism, source\)\.",
        ),
    ],
)
def test_what_is_no_notion_graph_or_source(make, message):
    with pytest.raises(ValueError, match=message):
        make()
