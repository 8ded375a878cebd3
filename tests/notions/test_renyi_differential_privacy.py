"""Renyi differential privacy: any order by its definition, optima against cones of two kinds, and limits of the order."""

import math

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    DifferentialPrivacy,
    Mechanism,
    RenyiDP,
    SourceSet,
    clique,
    distortion_curve,
    leakage_curve,
    line,
    optimal_mechanism,
    ring,
)
from tests.oracles.notions import Cones, all_pairs, hamming_costs, leakage_error, renyi_divergence
from tests.oracles.tradeoffs import least_distortion_without_leakage

PRIOR = SourceSet([0.4, 0.3, 0.2, 0.1])
# What is certified, in nats; and the oracle's solver, in distortion.
TOLERANCE, SOLVERS = 1e-6, 1e-7


def test_numbers():
    found = leakage_curve(PRIOR, [0.1, 0.2, 0.3, 0.4, 0.5], notion=RenyiDP(2))
    assert found == pytest.approx([3.193267, 2.274425, 1.585793, 0.997422, 0.461598], abs=1.5e-6)  # as printed
    assert leakage_curve(SourceSet(np.full(3, 1 / 3)), 0.3, notion=RenyiDP(2)) == pytest.approx(1.238029, abs=5e-7)


def least_moment(vertices, distortion):
    """Order 2 by second-order cones: ``sum_j Q_ij^2 / Q_kj`` for every two letters, at a distortion."""
    size = vertices.shape[1]
    matrix, worst = cvxpy.Variable((size, size), nonneg=True), cvxpy.Variable()
    moments = [
        sum(cvxpy.quad_over_lin(matrix[i, j], matrix[k, j]) for j in range(size)) <= worst for i, k in all_pairs(size)
    ]
    changed = vertices @ (1 - cvxpy.diag(matrix)) <= distortion
    problem = cvxpy.Problem(cvxpy.Minimize(worst), [*moments, changed, cvxpy.sum(matrix, axis=1) == 1])
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    return problem.value


@pytest.mark.parametrize("vertices", [[[0.4, 0.3, 0.2, 0.1]], [[0.5, 0.3, 0.2], [0.6, 0.1, 0.3]]], ids=str)
@pytest.mark.parametrize("distortion", [0.1, 0.35])
def test_order_two_by_second_order_cones(vertices, distortion):
    found = leakage_curve(SourceSet(vertices), distortion, notion=RenyiDP(2))
    assert found == pytest.approx(math.log(least_moment(np.array(vertices), distortion)), abs=TOLERANCE)


@pytest.mark.parametrize("order", [1, 1.01, 1.5, 3, 5, 10])
@pytest.mark.parametrize("seed", range(4))
def test_optima_meet_the_full_program(seed, order):
    rng = np.random.default_rng([31, seed])
    vertices = rng.dirichlet(np.full(2 + seed % 3, 4.0), size=1 + seed) + 0.02
    vertices /= vertices.sum(axis=1, keepdims=True)
    source, size, notion = SourceSet(vertices), vertices.shape[1], RenyiDP(order)
    whole = Cones(vertices, hamming_costs(size), order, all_pairs(size))
    for share in (0.15, 0.6, 0.9)[: 3 if order <= 5 else 2]:  # at large orders Clarabel stops where little leaks
        distortion = share * least_distortion_without_leakage(vertices)
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        assert abs(leakage_error(whole, distortion, best.leakage)) <= TOLERANCE
        assert best.distortion <= distortion + 1e-11 and best.gap <= TOLERANCE
        found = renyi_divergence(best.mechanism.matrix, all_pairs(size), order)
        assert best.leakage == pytest.approx(found, rel=1e-12, abs=1e-14)  # rounding of powers
    for leakage in (0.2, 1.0):
        best = optimal_mechanism(source, leakage=leakage, notion=notion)
        assert best.leakage <= leakage + TOLERANCE
        assert best.distortion == pytest.approx(whole.least_distortion(leakage), abs=SOLVERS)


orders = st.one_of(st.sampled_from([1.0, 1.0001, 1.01, 2.0, 5.0, 100.0, math.inf]), st.floats(1, 50))


@given(st.lists(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), min_size=3, max_size=3), orders)
@settings(max_examples=60)
def test_leakage_of_any_order(rows, order):
    matrix = np.array(rows)
    matrix = Mechanism(matrix / matrix.sum(axis=1, keepdims=True)).matrix
    found, expected = RenyiDP(order).leakage(matrix), renyi_divergence(matrix, all_pairs(3), order)
    # Near order 1 the logarithm of a moment near 1 is divided by order - 1.
    slack = 1e-13 if order in (1, math.inf) else 1e-13 / min(1.0, order - 1)
    assert found == pytest.approx(expected, rel=1e-13, abs=slack)


@pytest.mark.parametrize("order", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("other", [0.25, 1e-12, 1e-300])
def test_large_orders_do_not_overflow(order, other):
    matrix = [[1 - other, other], [other, 1 - other]]
    found = RenyiDP(order).leakage(matrix)
    expected = renyi_divergence(Mechanism(matrix).matrix, all_pairs(2), order)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found <= DifferentialPrivacy().leakage(matrix)


def test_optima_grow_with_the_order_between_the_limits():
    source = SourceSet([[0.5, 0.3, 0.2], [0.6, 0.1, 0.3]])
    found = [float(leakage_curve(source, 0.2, notion=RenyiDP(order))) for order in (1, 1.01, 2, 5, 10, math.inf)]
    assert (np.diff(found) > 0).all()
    assert found[-1] == leakage_curve(source, 0.2)
    assert found[1] == pytest.approx(found[0], abs=0.03)
    for budget in ({"distortion": 0.2}, {"leakage": 1.2}):
        best = optimal_mechanism(source, notion=RenyiDP(math.inf), **budget)
        assert best.gap <= 1e-9
        assert (best.leakage, best.distortion) == pytest.approx(
            [getattr(optimal_mechanism(source, **budget), what) for what in ("leakage", "distortion")], abs=1e-12
        )


@pytest.mark.parametrize("order", [1, 1.01, 2, 7.5, 100, 1e3])
@pytest.mark.parametrize("size", [2, 3, 20])
def test_class_one_sets_in_closed_form(size, order):
    """Randomized response, whatever the order; also where programs are refused."""
    source = SourceSet(np.full(size, 1 / size))
    for distortion in (1e-12, 1e-3, 0.2, 0.9 * (1 - 1 / size)):
        kept, other = 1 - distortion, distortion / (size - 1)
        matrix = np.full((size, size), other)
        np.fill_diagonal(matrix, kept)
        expected = renyi_divergence(matrix[:3, :3] if size == 3 else matrix, [(0, 1)], order)
        best = optimal_mechanism(source, distortion=distortion, notion=RenyiDP(order))
        assert best.leakage == pytest.approx(expected, rel=1e-9)  # 1 - D in floats
        again = distortion_curve(source, best.leakage, notion=RenyiDP(order))
        assert again == pytest.approx(distortion, rel=1e-6)


@pytest.mark.parametrize("order", [1, 1.5, 40])
def test_letters_treated_alike_are_compared_once(order, rng):
    kinds = rng.integers(0, 3, 12)
    answers = rng.dirichlet(np.ones(3))[kinds]
    mechanism = Mechanism.from_distortions(rng.random(3)[kinds], answers=answers / answers.sum())
    assert len(mechanism.representatives) <= 6
    assert RenyiDP(order).leakage(mechanism) == pytest.approx(RenyiDP(order).leakage(mechanism.matrix), rel=1e-12)
    assert RenyiDP(order).leakage(mechanism) == pytest.approx(
        renyi_divergence(mechanism.matrix, all_pairs(12), order), rel=1e-12
    )


@pytest.mark.parametrize("budget", [{"distortion": 0.3}, {"leakage": 2.0}], ids=str)
def test_many_letters_alike(budget):
    many, order = 100_000, 3
    best = optimal_mechanism(SourceSet([1 / many] * many), notion=RenyiDP(order), **budget)
    kept, other = 1 - best.distortion, best.distortion / (many - 1)
    moment = kept**order * other ** (1 - order) + other**order * kept ** (1 - order) + (many - 2) * other
    assert best.leakage == pytest.approx(math.log(moment) / (order - 1), rel=1e-9)
    for name, amount in budget.items():
        assert getattr(best, name) == pytest.approx(amount, rel=1e-9)


@pytest.mark.parametrize("order", [1, 1.5, 2, 3])
@pytest.mark.parametrize("prior", [[0.0, 0.151863, 0.848137], [0.0, 0.54377, 0.45623], [0.5, 0.0, 0.3, 0.0, 0.2]])
def test_letters_that_never_occur_change_nothing(prior, order):
    """Their rows and columns are free, and were once filled with the solver's rounding."""
    source, without = SourceSet(prior), SourceSet([p for p in prior if p])
    for share in (0.15, 0.7, 0.9):
        distortion = share * (1 - max(prior))
        best = optimal_mechanism(source, distortion=distortion, notion=RenyiDP(order))
        expected = leakage_curve(without, distortion, notion=RenyiDP(order))
        assert best.leakage == pytest.approx(expected, abs=2 * TOLERANCE)
        assert best.gap <= TOLERANCE
    leakage = 0.45
    found = distortion_curve(source, leakage, notion=RenyiDP(order))
    assert found == pytest.approx(distortion_curve(without, leakage, notion=RenyiDP(order)), abs=1e-6)


def test_infinite_leakage_is_not_certified_where_less_would_do():
    source, notion = SourceSet([0.5, 0.3, 0.2]), RenyiDP(2)
    optimizer = notion.optimizer(source)
    honest = optimizer.at_distortion(0.2)
    assert notion.leakage(honest.mechanism) <= optimizer.least_leakage(honest, 0.2) + 1e-9
    assert optimizer.least_leakage(honest, 0.2) < math.inf == optimizer.least_leakage(optimizer.at_distortion(0.0), 0.0)


@pytest.mark.parametrize(
    ("prior", "order", "budget"),
    [
        ([0.15, 0.05, 0.55, 0.25], 10, {"distortion": 0.19}),
        ([0.2, 0.65, 0.05, 0.1], 5, {"leakage": 0.9}),
        ([0.9999, 1e-4], 2, {"leakage": 0.1}),
        ([1 - 2e-9, 1e-9, 1e-9], 3, {"distortion": 1e-9}),
        ([0.4, 0.3, 0.2, 0.1], 1000, {"distortion": 0.3}),
        ([0.4, 0.3, 0.2, 0.1], 1.000001, {"distortion": 1e-12}),
        ([0.4, 0.3, 0.2, 0.1], 2, {"leakage": 600.0}),
        ([0.4, 0.3, 0.2, 0.1], 3, {"leakage": 699.0}),
        ([0.4, 0.3, 0.2, 0.1], 2, {"leakage": 1e-15}),
        ([0.25 + 1e-9, 0.25, 0.25, 0.25 - 1e-9], 1000, {"leakage": 0.0}),
        ([0.25 + 1e-9, 0.25, 0.25, 0.25 - 1e-9], 3, {"distortion": 1e-9}),
    ],
    ids=str,
)
def test_no_legitimate_problem_is_refused(prior, order, budget):
    best = optimal_mechanism(SourceSet(prior), notion=RenyiDP(order), **budget)
    assert -1e-11 <= best.gap <= TOLERANCE * (best.distortion if "leakage" in budget else 1)
    assert best.leakage <= budget.get("leakage", math.inf) and best.distortion <= budget.get("distortion", 1)


@pytest.mark.parametrize("graph", [line(4), ring(4)], ids=["line", "ring"])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_neighbors_on_a_graph(graph, order):
    vertices = np.array([[0.4, 0.3, 0.2, 0.1], [0.15, 0.2, 0.25, 0.4]])
    pairs = tuple(tuple(pair) for edge in graph.edges.tolist() for pair in (edge, edge[::-1]))
    whole, source, notion = Cones(vertices, hamming_costs(4), order, pairs), SourceSet(vertices), RenyiDP(order, graph)
    for distortion in (0.1, 0.4):
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        assert abs(leakage_error(whole, distortion, best.leakage)) <= TOLERANCE
        assert best.leakage == pytest.approx(renyi_divergence(best.mechanism.matrix, pairs, order), abs=1e-12)
        assert best.leakage < leakage_curve(source, distortion, notion=RenyiDP(order))  # fewer neighbors, less to hide
    found = optimal_mechanism(source, leakage=0.5, notion=notion)
    assert found.distortion == pytest.approx(whole.least_distortion(0.5), abs=SOLVERS)


def test_a_complete_graph_is_no_graph():
    found = leakage_curve(PRIOR, 0.3, notion=RenyiDP(2, clique(4)))
    assert found == leakage_curve(PRIOR, 0.3, notion=RenyiDP(2))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            0.9,
            r"alpha must be at least 1 for Rényi differential privacy; got 0\.9\. Give 1 or infinity for the "
            r"limits\.",
        ),
        (-1, r"at least 1 .* got -1\.0"),
        (math.nan, "at least 1 .* got nan"),
        (
            "two",
            r"alpha must be a number, at least 1 for Rényi differential privacy; got 'two'\. Write text such "
            r'as "0\.25" or "1/4", with a point and without a sign for percent\.',
        ),
    ],
)
def test_bad_orders(order, message):
    with pytest.raises(ValueError, match=message):
        RenyiDP(order)


def test_graphs_must_fit_and_programs_be_small():
    with pytest.raises(ValueError, match=r"adjacency must have 4 vertices, one per category; got 3\."):
        optimal_mechanism(PRIOR, distortion=0.2, notion=RenyiDP(2, line(3)))
    many = np.arange(1.0, 81.0) / np.arange(1.0, 81.0).sum()
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 64 for Rényi divergences, whose equations are dense; "
        r"got 80\. Merge rare categories, or take a source set that contains the uniform distribution, "
        r"where randomized response is optimal for any number\.",
    ):
        leakage_curve(SourceSet(many), 0.2, notion=RenyiDP(2))


@pytest.mark.parametrize("order", [1, 2, 100])
@pytest.mark.parametrize("seed", [3, 4])
def test_the_least_favorable_prior_forces_the_result_by_itself(order, seed):
    rng = np.random.default_rng(seed)
    source, notion = SourceSet(rng.dirichlet(np.ones(4), size=3)), RenyiDP(order)
    best = optimal_mechanism(source, distortion=0.2, notion=notion)
    alone = optimal_mechanism(SourceSet([best.least_favorable_prior]), distortion=0.2, notion=notion)
    assert alone.leakage == pytest.approx(best.leakage, abs=1e-7)
    back = optimal_mechanism(SourceSet([best.least_favorable_prior]), leakage=best.leakage, notion=notion)
    assert back.distortion == pytest.approx(0.2, rel=1e-6)
