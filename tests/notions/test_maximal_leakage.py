"""Maximal leakage: exact sums, Theorem 14 of Zhong and Bu 2022 for one prior, and any set against the full program."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    MaximalLeakage,
    Mechanism,
    SourceSet,
    distortion_curve,
    leakage_curve,
    optimal_mechanism,
)
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.notions import KeptMass, hamming_costs, kept_mass, leakage_error
from tests.oracles.tradeoffs import exponential_covers, least_distortion_without_leakage

NOTION = MaximalLeakage()
PRIOR = SourceSet([0.4, 0.3, 0.2, 0.1])


def theorem_14(prior, distortion):
    """Give up the least likely letters one after the other; the one that is reached in part."""
    kept = Fraction(len(prior))
    left = Fraction(distortion)
    for probability in sorted(map(Fraction, prior))[:-1]:
        share = min(Fraction(1), left / probability) if probability else Fraction(1)
        kept, left = kept - share, left - share * probability
    return math.log(kept)


@pytest.mark.parametrize(
    ("distortion", "kept"), [(0.0, 4), (0.05, 3.5), (0.1, 3), (0.2, 2.5), (0.3, 2), (0.54, 1.2), (0.6, 1), (1.0, 1)]
)
def test_numbers(distortion, kept):
    assert leakage_curve(PRIOR, distortion, notion=NOTION) == pytest.approx(math.log(kept), abs=1e-12)


@given(vertex_sets(most_letters=8, most_vertices=1), inside())
def test_one_prior(vertices, share):
    distortion = share * (1 - vertices.max())
    found = leakage_curve(SourceSet(vertices), distortion, notion=NOTION)
    assert found == pytest.approx(theorem_14(vertices[0], distortion), abs=1e-9)


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_optima_meet_the_full_program(source_class, seed):
    vertices = random_vertices(source_class, seed, most_letters=6, most_vertices=4)
    free, whole = least_distortion_without_leakage(vertices), KeptMass(vertices, hamming_costs(vertices.shape[1]))
    if free > 1e-9:
        distortion = (0.03 + 0.1 * seed) * free
        best = optimal_mechanism(SourceSet(vertices), distortion=distortion, notion=NOTION)
        assert abs(leakage_error(whole, distortion, best.leakage, step=1e-7)) <= 1e-6  # a polygon: a short secant
        assert best.gap <= 1e-9
        for leakage in (0.0, 0.2, 0.9):
            found = optimal_mechanism(SourceSet(vertices), leakage=leakage, notion=NOTION)
            assert found.distortion == pytest.approx(whole.least_distortion(leakage), abs=1e-9)
            assert found.leakage <= leakage + 1e-9


@given(st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=3, max_size=3))
@settings(max_examples=60)
def test_leakage_is_rounded_up_and_no_further(rows):
    matrix = np.array(rows)
    matrix = Mechanism(matrix / matrix.sum(axis=1, keepdims=True)).matrix
    leakage, mass = NOTION.leakage(matrix), max(Fraction(1), kept_mass(matrix))
    assert exponential_covers(leakage, mass)
    assert leakage == 0 or not exponential_covers(math.nextafter(leakage, 0), mass)


@pytest.mark.parametrize(
    ("matrix", "mass"),
    [
        ([[1.0]], 1),
        (np.eye(5), 5),
        ([[0.25, 0.75], [0.25, 0.75]], 1),
        ([[0.75, 0.25], [0.5, 0.5]], 1.25),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], 2),
    ],
)
def test_leakage_by_its_definition(matrix, mass):
    assert NOTION.leakage(matrix) == pytest.approx(math.log(mass), abs=1e-15)


def test_many_letters():
    prior = np.arange(1.0, 501.0) / np.arange(1.0, 501.0).sum()
    found = leakage_curve(SourceSet(prior), [1e-6, 0.1, 0.9], notion=NOTION)
    assert found == pytest.approx([theorem_14(prior, distortion) for distortion in (1e-6, 0.1, 0.9)], abs=1e-9)
    mixed = SourceSet(np.vstack([prior, prior[::-1]]))
    assert distortion_curve(mixed, leakage_curve(mixed, 0.3, notion=NOTION), notion=NOTION) == pytest.approx(
        0.3, abs=1e-9
    )


@pytest.mark.parametrize("rare", [1e-15, 1e-9])
def test_rare_letters_are_given_up(rare):
    with_it, without = SourceSet([0.6, 0.4 - rare, rare]), SourceSet([0.6, 0.4])
    for distortion in (0.01, 0.3):
        found = leakage_curve(with_it, distortion, notion=NOTION)
        assert found == pytest.approx(leakage_curve(without, distortion, notion=NOTION), abs=10 * rare + 1e-12)
