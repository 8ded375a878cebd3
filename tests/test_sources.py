"""Source sets: their class by its definition, the worst case over the hull, and what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from paper_repro import Mechanism, SourceSet
from tests.oracles.instances import CLASSES, random_vertices, vertex_sets
from tests.oracles.tradeoffs import common_ordering, distance_to_hull


@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(25))
def test_class_of_random_sets(source_class, seed):
    assert SourceSet(random_vertices(source_class, seed)).source_class == source_class


@given(vertex_sets())
def test_class_by_its_definition(vertices):
    uniform = np.full(vertices.shape[1], 1 / vertices.shape[1])
    distance = distance_to_hull(uniform, vertices)
    # Entries are fractions of at most 60, so a hull that misses the uniform point does so by far more than rounding.
    expected = "I" if distance < 1e-9 else "II" if common_ordering(vertices) else "III"
    assert SourceSet(vertices).source_class == expected


@given(vertex_sets())
def test_class_does_not_depend_on_the_order_of_letters_or_vertices(vertices):
    assert SourceSet(vertices[::-1, ::-1]).source_class == SourceSet(vertices).source_class


@pytest.mark.parametrize(
    ("vertices", "expected"),
    [
        ([[1.0]], "I"),
        ([[1.0], [1.0]], "I"),
        ([0.5, 0.5], "I"),
        ([0.4, 0.6], "II"),
        ([[0.4, 0.6], [0.6, 0.4]], "I"),
        ([[0.1, 0.9], [0.2, 0.8]], "II"),
        ([1.0, 0.0, 0.0], "II"),
        (np.eye(3), "I"),
        ([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3]], "III"),
        ([[0.5, 0.25, 0.25], [0.4, 0.3, 0.3]], "II"),
        ([[0.5, 0.25, 0.25], [0.4, 0.4, 0.2]], "II"),
        ([[0.5, 0.25, 0.25], [0.4, 0.2, 0.4]], "II"),
        ([[0.4, 0.4, 0.2], [0.4, 0.2, 0.4]], "III"),
        ([[0.4, 0.3 + 1e-9, 0.3 - 1e-9], [0.4, 0.3 - 1e-9, 0.3 + 1e-9]], "III"),
        # ties up to rounding: 0.1 + 0.2 > 0.3
        ([[0.4, 0.1 + 0.2, 0.3], [0.4, 0.3, 0.1 + 0.2]], "II"),
    ],
)
def test_class_of_small_sets(vertices, expected):
    assert SourceSet(vertices).source_class == expected


@pytest.mark.parametrize(("miss", "expected"), [(0.0, "I"), (1e-10, "I"), (1e-7, "II")])
def test_the_uniform_point_is_found_within_1e_9(miss, expected):
    vertices = np.full((2, 4), 0.25)
    vertices[:, 0] += miss
    vertices[:, 3] -= miss
    vertices[1] += [0.1, 0, 0, -0.1]
    assert SourceSet(vertices).source_class == expected


@given(vertex_sets())
def test_worst_case_distortion_is_the_largest_expectation(vertices):
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(vertices.shape[1]), size=vertices.shape[1])
    expectations = [sum(p * (1 - matrix[i, i]) for i, p in enumerate(prior)) for prior in vertices]
    source = SourceSet(vertices)
    assert source.worst_case_distortion(matrix) == pytest.approx(max(expectations), abs=1e-14)  # rounding of M terms
    assert source.worst_case_distortion(Mechanism(matrix)) == source.worst_case_distortion(matrix)
    inner = rng.dirichlet(np.ones(len(vertices))) @ vertices
    assert SourceSet(inner).worst_case_distortion(matrix) <= max(expectations) + 1e-14


def test_a_mechanism_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"shape \(2, 2\); a set over 3 letters needs \(3, 3\)"):
        SourceSet([0.5, 0.3, 0.2]).worst_case_distortion(np.eye(2))


def test_attributes():
    source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], labels=["a", "b", "c"], name="mine")
    assert (source.vertex_count, source.alphabet_size) == (2, 3)
    assert list(source.labels) == ["a", "b", "c"] and list(SourceSet([1.0]).labels) == [0]
    assert repr(source) == "SourceSet(mine: V=2, M=3, Class II)"
    assert repr(SourceSet([0.5, 0.5])) == "SourceSet(V=1, M=2, Class I)"


def test_a_source_set_does_not_change():
    given = np.array([[0.5, 0.5]])
    source = SourceSet(given)
    given[0] = [1.0, 0.0]
    assert source.vertices.tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="read-only"):
        source.vertices[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.vertices = given


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], ["a", "a"], []])
def test_labels_are_one_per_letter(labels):
    with pytest.raises(ValueError, match="labels must be 2 distinct names, one per letter") as error:
        SourceSet([0.5, 0.5], labels=labels)
    assert repr(labels) in str(error.value)


@pytest.mark.parametrize(
    ("vertices", "named"),
    [
        ([[0.5, -0.5]], "row 0, letter 1 is -0.5"),
        ([[0.5, float("nan")]], "row 0, letter 1 is nan"),
        ([[0.5, 0.4]], "row 0 sums to 0.9"),
        ([[0.5, 0.5], [1.0]], "row 1 has 1 letters"),
        ([], "non-empty"),
    ],
)
def test_errors_name_the_set(vertices, named):
    with pytest.raises(ValueError, match=r"^source set survey\b") as error:
        SourceSet(vertices, name="survey")
    assert named in str(error.value)
