"""Mechanisms: the matrix behind given distortions, sampling, and randomized response."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paper_repro import (
    DifferentialPrivacy,
    Mechanism,
    MutualInformation,
    SourceSet,
    distance_mechanism,
    min_entropy_leakage,
    optimal_mechanism,
    parallel_leakage,
    randomized_response,
    truncated_geometric,
    uniform_least_distortion,
)
from tests.oracles.tradeoffs import exponential_covers, largest_ratio

# Sums of at most 10 terms of order 1, each rounded at 1e-16.
ROUNDING = 1e-14

distortions = st.lists(st.floats(0.001, 1) | st.just(1.0), min_size=1, max_size=6).map(np.array)


@given(distortions)
def test_the_matrix_of_given_distortions(changed):
    kept = 1 - changed
    assume(kept.sum() >= 1)
    matrix = Mechanism.from_distortions(changed).matrix
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(changed)), abs=ROUNDING)
    assert (np.diagonal(matrix) == kept).all()
    assert (matrix[:, changed == 1] == 0).all()
    assert (matrix <= kept * (1 + ROUNDING)).all()  # nothing in a column exceeds its diagonal
    # The ratio is decided by the letter kept most: t = (S - a) / (1 - a).
    ratio = max(1.0, ((kept.sum() - kept) / changed).max())
    assert DifferentialPrivacy().leakage(matrix) == pytest.approx(math.log(ratio), abs=ROUNDING * len(changed))


@pytest.mark.parametrize(
    ("changed", "matrix"),
    [
        ([0.0], [[1.0]]),
        ([0.0, 1.0], [[1.0, 0.0], [1.0, 0.0]]),
        ([1.0, 0.0, 1.0], [[0.0, 1.0, 0.0]] * 3),
        ([0.0, 0.0], np.eye(2)),
        ([0.5, 0.5], [[0.5, 0.5]] * 2),
        ([0.4, 0.6, 1.0], [[0.6, 0.4, 0.0]] * 3),
        # as good as all kept mass is on one letter
        ([1e-13, 1.0], [[1.0, 0.0], [1.0, 0.0]]),
    ],
)
def test_distortions_at_their_limits(changed, matrix):
    assert Mechanism.from_distortions(changed).matrix == pytest.approx(np.array(matrix), abs=1e-15)  # one rounding


def test_tiny_distortions_keep_their_relative_precision():
    matrix = Mechanism.from_distortions([1e-20, 3e-20, 0.5]).matrix
    assert matrix[0, 1:] == pytest.approx([1e-20 / 1.5, 0.5e-20 / 1.5], rel=1e-15)
    assert matrix[1, [0, 2]] == pytest.approx([3e-20 / 1.5, 1.5e-20 / 1.5], rel=1e-15)


def test_rare_letters_keep_their_relative_precision():
    """Where one letter holds nearly all, the sum of the others is not the total less that letter."""
    matrix = Mechanism.from_distortions([1e-12, 1 - 1e-12, 1 - 1e-12]).matrix
    assert matrix[0, 1:] == pytest.approx([0.5e-12, 0.5e-12], rel=1e-14)


@pytest.mark.parametrize("changed", [[0.5, 1.1], [-0.1, 0.5], [0.5, math.nan], [[0.5, 0.5]]])
def test_distortions_are_probabilities(changed):
    with pytest.raises(ValueError, match=r"probability of change (between 0 and 1|per category); got"):
        Mechanism.from_distortions(changed)


def test_distortions_keep_a_letters_worth():
    with pytest.raises(
        ValueError,
        match=r"distortions must leave kept probabilities 1 - D_i that sum to at least 1; got 0\.75\. Lower "
        r"the distortions\.",
    ):
        Mechanism.from_distortions([0.5, 0.75])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            [[0.5, 0.5]],
            r"matrix must be square; got shape \(1, 2\)\. Give other channels as they are to a notion's "
            r"leakage\(matrix, source\) and to min_entropy_leakage\.",
        ),
        (
            [[0.5, 0.5], [0.5, 0.6]],
            r"matrix: row 1 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it by its sum\.",
        ),
        (
            [[0.5, 0.5], [-0.5, 1.5]],
            r"matrix: row 1, category 0 must be a probability, a finite number between 0 and 1; got -0\.5\.",
        ),
        (
            [[0.5, 0.5], [1.0]],
            r"matrix: row 1 must have 2 entries, as many as row 0; got 1\. Write 0 for a category that never "
            r"occurs\.",
        ),
    ],
)
def test_matrices_that_are_no_channels(matrix, message):
    with pytest.raises(ValueError, match=message):
        Mechanism(matrix)


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], {"a", "b"}, {"a": 1, "b": 2}])
def test_labels_are_one_per_letter(labels):
    with pytest.raises(ValueError, match="labels must be 2 distinct names"):
        Mechanism(np.eye(2), labels)


def test_a_constant_mechanism_leaks_nothing():
    mechanism = Mechanism.constant([0.2, 0.0, 0.8], labels="abc")
    assert mechanism.matrix.tolist() == [[0.2, 0.0, 0.8]] * 3
    assert DifferentialPrivacy().leakage(mechanism) == 0
    assert mechanism.worst_case_distortion(SourceSet([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])) == pytest.approx(
        0.9, abs=1e-15
    )


def test_sampling_follows_the_rows(rng):
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]])
    values = np.repeat(["x", "y", "z"], 20_000)
    published = Mechanism(matrix, labels=["x", "y", "z"]).sample(values, rng)
    counts = np.array([[(published[values == i] == j).sum() for j in "xyz"] for i in "xyz"])
    spread = np.sqrt(matrix * (1 - matrix) / 20_000)
    assert (np.abs(counts / 20_000 - matrix) <= 5 * spread).all()  # 5 standard deviations, with a fixed seed


def test_sampling_keeps_the_shape_and_the_labels(rng):
    labels = ["no", "perhaps", "yes"]
    published = Mechanism.constant([0.2, 0.3, 0.5], labels).sample([["no", "yes"], ["yes", "perhaps"]], rng)
    assert published.shape == (2, 2) and set(published.flat) <= set(labels)
    assert Mechanism(np.eye(3), labels).sample("perhaps", rng) == "perhaps"
    assert Mechanism(np.eye(3), labels).sample([], rng).shape == (0,)


def test_sampling_is_repeatable():
    draws = [randomized_response(5, 1.0).sample(np.arange(5).repeat(9), np.random.default_rng(3)) for _ in range(2)]
    assert (draws[0] == draws[1]).all()


@pytest.mark.parametrize("value", ["maybe", "n"])
def test_a_value_must_be_a_letter(value, rng):
    with pytest.raises(
        ValueError,
        match=r"values must be categories of this mechanism, \['no', 'yes'\]; got '(maybe|n)'\. Leave missing values out",
    ) as error:
        Mechanism(np.eye(2), labels=["no", "yes"]).sample(["no", value], rng)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("labels", [["none", 0], [("a", 1), ("b", 2)]])
def test_any_hashable_may_be_a_letter(labels, rng):
    assert list(Mechanism(np.eye(2), labels).sample(labels, rng)) == labels


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("leakage", [0.0, 1e-9, 0.5, 3.0, 30.0, 700.0])
def test_randomized_response(size, leakage):
    mechanism = randomized_response(size, leakage)
    odds = math.exp(-leakage)
    assert DifferentialPrivacy().leakage(mechanism) == pytest.approx(leakage, abs=3e-13)  # 700 is stored to 1e-13
    assert exponential_covers(leakage + 3e-13, largest_ratio(mechanism.matrix))
    error = (size - 1) * odds / (1 + (size - 1) * odds)
    assert mechanism.worst_case_distortion(SourceSet(np.full(size, 1 / size))) == pytest.approx(error, abs=ROUNDING)


@pytest.mark.parametrize("leakage", [800.0, 1e300, math.inf])
def test_randomized_response_without_a_bound_is_the_identity(leakage):
    assert (randomized_response(4, leakage).matrix == np.eye(4)).all()


def test_randomized_response_on_one_letter():
    assert randomized_response(1, 0.5).matrix.tolist() == [[1.0]]


@pytest.mark.parametrize("mechanism", [randomized_response, truncated_geometric])
@pytest.mark.parametrize(
    ("letters", "leakage", "message"),
    [
        (0, 1.0, "letters must be a whole number, at least 1; got 0"),
        (2.5, 1.0, r"letters must be a whole number, at least 1; got 2\.5"),
        ("3", 1.0, "letters must be a whole number, at least 1; got '3'"),
        (True, 1.0, "letters must be a whole number, at least 1; got True"),
        (10**9, 1.0, r"letters must be at most 10+, for memory and rounding; got 1000000000"),
        (3, True, "leakage must be a number, .* got True"),
        (None, 1.0, "letters must be a whole number"),
        (3, -1.0, r"leakage must be at least 0 nats \(infinity is allowed\); got -1\.0"),
        (3, math.nan, "leakage must be at least 0 nats .* got nan"),
        (3, "much", "leakage must be a number, at least 0 nats .*; got 'much'"),
        (1, -1.0, "leakage must be at least 0 nats"),
    ],
)
def test_closed_forms_refuse(mechanism, letters, leakage, message):
    with pytest.raises(ValueError, match=message):
        mechanism(letters, leakage)


def test_earlier_names_of_the_number_of_letters_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match="randomized_response: write letters=3; alphabet_size= is deprecated"):
        assert randomized_response(alphabet_size=3, leakage=0.5).alphabet_size == 3
    with pytest.warns(DeprecationWarning, match="truncated_geometric: write letters=3; size= is deprecated"):
        assert truncated_geometric(size=3, leakage=0.5).alphabet_size == 3


@pytest.mark.parametrize(
    ("values", "seed", "error", "message"),
    [
        (
            ["no"],
            42,
            TypeError,
            r"rng must be a numpy\.random\.Generator; got 42\. Write numpy\.random\.default_rng\(seed\)\.",
        ),
        (["no"], np.random.RandomState(1), TypeError, r"got .*\. Write numpy\.random\.default_rng\(seed\)\."),
        (np.ma.masked_array(["no", "yes"], [0, 1]), None, ValueError, "values must be a table .* unmasked"),
        (
            {"no": 1},
            None,
            TypeError,
            r"values must be in an order; got a dict\. Give a list or an array of categories\.",
        ),
        ({"no"}, None, TypeError, "values must be in an order; got a set"),
        (
            [{"no"}],
            None,
            ValueError,
            r"values must be categories of this mechanism, \['no', 'yes'\]; got \{'no'\}\. Leave missing "
            r"values out, or make them a category\.",
        ),
        (
            [math.nan],
            None,
            ValueError,
            r"values must be categories of this mechanism, \['no', 'yes'\]; got nan\. Leave missing values "
            r"out, or make them a category\.",
        ),
        (
            None,
            None,
            ValueError,
            r"values must be categories of this mechanism, \['no', 'yes'\]; got None\. Leave missing values "
            r"out, or make them a category\.",
        ),
        ([["no"], ["no", "yes"]], None, ValueError, "values must be a table with rows of one length"),
    ],
)
def test_sampling_refuses(values, seed, error, message, rng):
    with pytest.raises(error, match=message):
        Mechanism(np.eye(2), labels=["no", "yes"]).sample(values, seed or rng)


def test_the_worst_case_needs_a_source_set_and_a_matrix():
    with pytest.raises(
        ValueError,
        match=r"source must be a SourceSet; got \[0\.5, 0\.5\]\. Write load_source_set\(name\), or "
        r"SourceSet\(\.\.\.\) around the priors\.",
    ):
        Mechanism(np.eye(2)).worst_case_distortion([0.5, 0.5])
    with pytest.raises(ValueError, match=r"mechanism must be a Mechanism or a matrix of shape .*; got 'x'"):
        SourceSet([0.5, 0.5]).worst_case_distortion("x")


def test_a_distance_mechanism_needs_a_graph():
    with pytest.raises(TypeError, match="adjacency must be an Adjacency such as ring"):
        distance_mechanism(6, 1.0)
    with pytest.raises(TypeError, match=r"adjacency must be an Adjacency such as ring.*got None"):
        uniform_least_distortion(None, 1.0)


def test_the_names_of_a_frame_become_labels(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(2), index=["no", "yes"], columns=["no", "yes"])
    assert Mechanism(frame).labels == ("no", "yes")
    assert list(Mechanism(frame).sample(pd.Series(["yes", "no"]), rng)) == ["yes", "no"]
    assert Mechanism.constant(pd.Series([0.5, 0.5], index=["no", "yes"])).labels == ("no", "yes")
    ordered = SourceSet([0.5, 0.5], labels=["yes", "no"])
    for make in (
        lambda: optimal_mechanism(ordered, distortion=0.1, costs=1 - frame),
        lambda: optimal_mechanism(ordered, distortion=0.1, costs=pd.DataFrame(1 - np.eye(2), columns=["a", "b"])),
        lambda: Mechanism(frame, labels=["yes", "no"]),
        lambda: Mechanism(frame).worst_case_distortion(ordered),
        lambda: MutualInformation().leakage(frame, SourceSet([0.5, 0.5], labels=["red", "blue"])),
        lambda: min_entropy_leakage(pd.Series([0.5, 0.5], index=["yes", "no"]), frame),
        lambda: parallel_leakage([Mechanism(frame)], sources=ordered),
    ):
        with pytest.raises(
            ValueError,
            match=r"must name the same categories in the same order; got \[.*\] and \[.*\]\. "
            r"Put both in one order, such as frame\.loc\[names, names\], or "
            r"take the names off one of them \(frame\.to_numpy\(\)\)\.",
        ):
            make()
    assert Mechanism(frame).worst_case_distortion(SourceSet([0.5, 0.5])) == 0
    with pytest.raises(
        ValueError,
        match=r"matrix must have the same names for rows and columns, in one order; got \[0, 1\] and \['no', "
        r"'yes'\]\. Rename one of them, or take the names off \(frame\.to_numpy\(\)\)\.",
    ):
        Mechanism(frame.reset_index(drop=True))


def test_a_mechanism_is_a_line_in_a_terminal_and_a_table_in_a_notebook():
    mechanism = Mechanism([[0.75, 0.25], [0.5, 0.5]], labels=["<no>", "yes"])
    assert repr(mechanism) == "Mechanism(M=2, diagonal=[0.75, 0.5])"
    assert repr(randomized_response(300, 1.0)).endswith("0.009009, 0.009009, ...])")
    assert "<tr><th>&lt;no&gt;</th><td>0.75</td><td>0.25</td></tr>" in mechanism._repr_html_()
    assert r"\text{yes} & 0.5 & 0.5" in mechanism._repr_latex_()
