"""What holds for every notion of Definition 19 (Zhong and Bu 2022), each compared with its definition and a full program."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paper_repro
from paper_repro import (
    Mechanism,
    SourceSet,
    distortion_curve,
    leakage_curve,
    notion_by_name,
    optimal_mechanism,
    randomized_response,
)
from paper_repro.notions import NOTION_NAMES
from tests.conftest import NOTIONS, by_notion
from tests.oracles import DELTA
from tests.oracles.instances import CLASSES, inside, random_vertices, vertex_sets
from tests.oracles.notions import all_pairs, defined, hamming_costs, leakage_error, program
from tests.oracles.tradeoffs import distance_to_hull, least_distortion_without_leakage

# Every optimum meets its full program, in nats or in distortion. Where the gap is one of nats, this is what is certified.
AGREEMENT = 1e-6
# Two ways to an optimum of differential privacy differ by rounding alone; others are solved within their tolerance.
ROUTES = dict.fromkeys(NOTIONS, 2 * AGREEMENT) | {"DP": 1e-10}
# An oracle's solver, or a general optimizer over priors.
SOLVERS = 1e-8
# Mutual and Sibson information are evaluated as upper bounds that are tight within this, in nats.
BRACKET = 2e-10
# Notions whose programs are linear in the channel at a given leakage.
RATIOS = ("DP", "pointwise", "standard")
FEW = settings(max_examples=12)


def local_program(name, vertices):
    size = vertices.shape[1]
    return program(name, vertices, hamming_costs(size), all_pairs(size))


def end(name, vertices):
    """From this distortion on nothing leaks: a constant answer, beside the true one with probability delta."""
    rest = 1 - DELTA if name in ("pointwise", "standard") else 1.0
    return rest * least_distortion_without_leakage(vertices)


def assert_certified(name, best, vertices):
    """A channel that leaks what is said, loses what is said, and is near enough to the best."""
    matrix, notion = best.mechanism.matrix, NOTIONS[name]
    assert (matrix >= 0).all() and matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-13)  # rounding
    spent = max(prior @ (1 - np.diagonal(matrix)) for prior in vertices)
    assert best.distortion == pytest.approx(spent, abs=1e-14)
    found = defined(name, matrix, vertices, all_pairs(len(matrix)))
    if name in ("Sibson", "mutual information"):
        assert found - 1e-12 <= best.leakage <= found + SOLVERS
    else:
        assert best.leakage == pytest.approx(found, rel=1e-14, abs=1e-14)
    assert best.gap <= notion.tolerance
    assert distance_to_hull(best.worst_prior, vertices) < 1e-9


def well_conditioned(source_class, seed, most_letters=5):
    """Up to 5 letters and 4 vertices; Renyi programs do not reach probabilities of 1e-5, so those are left to other tests."""
    vertices = random_vertices(source_class, seed, most_letters=most_letters, most_vertices=4)
    vertices = np.where((vertices > 0) & (vertices < 2e-3), 2e-3, vertices)
    return vertices / vertices.sum(axis=1, keepdims=True)


channels = st.integers(1, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 0.2, 0.5, 1.0]), min_size=size, max_size=size).filter(any),
        min_size=size,
        max_size=size,
    )
)


# ---- optima against the full program


@by_notion
@pytest.mark.parametrize("source_class", CLASSES)
@pytest.mark.parametrize("seed", range(10))
def test_optima_meet_the_full_program(source_class, seed, name):
    vertices = well_conditioned(source_class, seed)
    source, whole, notion = SourceSet(vertices), local_program(name, vertices), NOTIONS[name]
    free = end(name, vertices)
    if free < 1e-9:
        best = optimal_mechanism(source, distortion=0.0, notion=notion)
        assert (best.leakage, best.distortion) == (0, 0)
        return
    distortion = (0.1 + 0.08 * seed) * free
    best = optimal_mechanism(source, distortion=distortion, notion=notion)
    assert_certified(name, best, vertices)
    assert best.distortion <= distortion + 1e-11  # the documented rounding
    assert abs(leakage_error(whole, distortion, best.leakage)) <= AGREEMENT

    leakage = 0.3 + 0.2 * seed
    best = optimal_mechanism(source, leakage=leakage, notion=notion)
    assert_certified(name, best, vertices)
    over = 1e-11 if name in RATIOS else notion.tolerance
    assert best.leakage <= leakage + (BRACKET if name == "mutual information" else over)
    assert best.distortion == pytest.approx(whole.least_distortion(leakage), abs=AGREEMENT)


@pytest.mark.parametrize("name", ["DP", "pointwise", "standard", "maximal leakage", "Renyi"])
@pytest.mark.parametrize("source_class", ["II", "III"])
@pytest.mark.parametrize("seed", range(3))
def test_the_least_favorable_prior_alone_is_as_bad(source_class, seed, name):
    vertices = well_conditioned(source_class, seed, most_letters=4)
    best = optimal_mechanism(SourceSet(vertices), distortion=0.5 * end(name, vertices), notion=NOTIONS[name])
    alone = local_program(name, best.least_favorable_prior[np.newaxis])
    assert alone.least_distortion(best.leakage) == pytest.approx(best.distortion, abs=AGREEMENT)


# ---- properties of the curves


@by_notion
@given(vertex_sets(most_letters=4, most_vertices=3), st.lists(inside(), min_size=3, max_size=3))
@FEW
def test_curves_fall_and_are_inverse_to_each_other(name, vertices, shares):
    source, notion = SourceSet(vertices), NOTIONS[name]
    distortions = np.sort(shares) * end(name, vertices)
    leakages = leakage_curve(source, distortions, notion=notion)
    assert (np.diff(leakages) <= ROUTES[name]).all() and (leakages >= 0).all()
    again = distortion_curve(source, leakages, notion=notion)
    assert (np.diff(again) >= -AGREEMENT).all()
    # A leakage within 1e-6 nats of the best costs up to 1e-6 times the slope of the distortion, which for informations is
    # steep where little leaks: they grow with the square of what is saved.
    steep = name not in (*RATIOS, "maximal leakage")
    slack = np.where(steep & (leakages < 1e-2), math.sqrt(AGREEMENT), 2e-5 if steep else 2e-9)
    assert (np.abs(again - distortions) <= slack).all() or end(name, vertices) < 1e-9


@by_notion
@given(vertex_sets(most_letters=4, most_vertices=3), inside(), st.randoms(use_true_random=False))
@FEW
def test_names_order_and_repetition_do_not_matter(name, vertices, share, random):
    distortion = share * end(name, vertices)
    letters, rows = list(range(vertices.shape[1])), [*range(len(vertices)), 0]
    random.shuffle(letters)
    random.shuffle(rows)
    other = np.vstack([vertices[rows], vertices.mean(axis=0)])[:, letters]
    found = leakage_curve(SourceSet(other), distortion, notion=NOTIONS[name])
    assert found == pytest.approx(
        leakage_curve(SourceSet(vertices), distortion, notion=NOTIONS[name]), abs=ROUTES[name]
    )


@by_notion
@given(vertex_sets(most_letters=4, most_vertices=2), inside(), st.lists(st.integers(1, 12), min_size=4, max_size=4))
@FEW
def test_one_more_vertex_never_helps(name, vertices, share, counts):
    vertex = np.array(counts[: vertices.shape[1]], dtype=float)
    distortion, more = share * end(name, vertices), np.vstack([vertices, vertex / vertex.sum()])
    found = leakage_curve(SourceSet(more), distortion, notion=NOTIONS[name])
    assert found >= leakage_curve(SourceSet(vertices), distortion, notion=NOTIONS[name]) - ROUTES[name]


@by_notion
@given(channels, st.integers(0, 10**6))
@settings(max_examples=20)
def test_a_mixture_leaks_no_more_than_the_leakier_part(name, rows, seed):
    """Quasi-convexity, Lemma 21 of Zhong and Bu, of the standard definition too."""
    rng, first = np.random.default_rng(seed), np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    second, share = rng.dirichlet(np.ones(len(first)), size=len(first)), rng.random()
    source = SourceSet(rng.dirichlet(np.ones(len(first)), size=2))
    parts = [NOTIONS[name].leakage(matrix, source) for matrix in (first, second)]
    assert NOTIONS[name].leakage(share * first + (1 - share) * second, source) <= max(parts) + BRACKET


@given(vertex_sets(most_letters=4, most_vertices=3), inside())
@FEW
def test_optima_are_ordered_as_the_notions_are(vertices, share):
    """Lemma 20, and that the standard definition asks for more than the pointwise one, here in vain."""
    source, distortion = SourceSet(vertices), share * (1 - DELTA) * least_distortion_without_leakage(vertices)
    leak = {name: float(leakage_curve(source, distortion, notion=notion)) for name, notion in NOTIONS.items()}
    for less, more in [
        ("pointwise", "DP"), ("Renyi", "DP"), ("maximal information", "DP"), ("maximal leakage", "maximal information"),
        ("Sibson", "maximal leakage"), ("mutual information", "Sibson"), ("Sibson", "Renyi"),
    ]:  # fmt: skip
        assert leak[less] <= leak[more] + 2 * AGREEMENT, (less, more)
    assert leak["pointwise"] == pytest.approx(leak["standard"], abs=1e-9)


# ---- leakages of any channel, from the definition


@by_notion
@given(channels, st.integers(0, 3))
@settings(max_examples=40)
def test_leakage_of_any_channel(name, rows, seed):
    matrix = Mechanism(np.array(rows) / np.sum(rows, axis=1, keepdims=True)).matrix
    vertices = np.random.default_rng(seed).dirichlet(np.ones(len(matrix)), size=1 + seed)
    found, expected = (
        NOTIONS[name].leakage(matrix, SourceSet(vertices)),
        defined(name, matrix, vertices, all_pairs(len(matrix))),
    )
    if name in ("Sibson", "mutual information"):
        assert expected - 1e-12 <= found <= expected + (BRACKET if seed == 0 else SOLVERS)
    else:
        assert found == pytest.approx(expected, rel=1e-14, abs=1e-14)  # rounding, upward


@given(channels, st.integers(0, 3))
@settings(max_examples=60)
def test_leakages_of_a_channel_are_ordered(rows, seed):
    matrix = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    source = SourceSet(np.random.default_rng(seed).dirichlet(np.ones(len(matrix)), size=1 + seed))
    leak = {name: notion.leakage(matrix, source) for name, notion in NOTIONS.items()}
    for less, more in [
        ("mutual information", "Sibson"), ("Sibson", "maximal leakage"), ("maximal leakage", "maximal information"),
        ("maximal information", "DP"), ("Renyi", "DP"), ("pointwise", "standard"), ("standard", "DP"), ("Sibson", "Renyi"),
    ]:  # fmt: skip
        assert leak[less] <= leak[more] + BRACKET, (less, more)


@pytest.mark.parametrize("name", sorted(set(NOTIONS) - {"pointwise"}))  # that one is not closed under it
def test_post_processing_leaks_no_more(name, rng):
    for _ in range(10):
        matrix, after = rng.dirichlet(np.ones(4), size=(2, 4))
        source = SourceSet(rng.dirichlet(np.ones(4), size=2))
        assert NOTIONS[name].leakage(matrix @ after, source) <= NOTIONS[name].leakage(matrix, source) + BRACKET


# ---- limits


SETS = [
    [0.5, 0.3, 0.2],
    [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]],
    [0.4, 0.4, 0.2],  # a tie
    [[0.4, 0.3, 0.2, 0.1]] * 2,  # a repeated vertex
    [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]],  # a letter that never occurs
    [[0.6, 0.4, 0.0], [0.0, 0.4, 0.6]],  # letters that one vertex rules out
    np.eye(2),
]


@by_notion
@pytest.mark.parametrize("vertices", SETS, ids=str)
def test_nothing_leaks_from_the_best_constant_answer_on(vertices, name):
    source, notion = SourceSet(vertices), NOTIONS[name]
    free = end(name, source.vertices)
    for distortion in (free, free + 1e-13, (1 + free) / 2, 1.0):
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        assert best.leakage == pytest.approx(0, abs=1e-10)  # how exactly informations are evaluated
        assert best.distortion <= distortion + 1e-11
    assert distortion_curve(source, 0.0, notion=notion) == pytest.approx(free, abs=1e-9)  # the oracle's solver
    # Before it, something does.
    assert leakage_curve(source, 0.98 * free, notion=notion) > 1e-6


@by_notion
@pytest.mark.parametrize("vertices", SETS, ids=str)
def test_nothing_is_changed(vertices, name):
    source, notion = SourceSet(vertices), NOTIONS[name]
    known = source.vertices.any(axis=0)
    everything = np.eye(source.alphabet_size)
    everything[~known] = everything[np.argmax(known)]
    expected = defined(name, everything, source.vertices, all_pairs(len(everything)))
    best = optimal_mechanism(source, distortion=0.0, notion=notion)
    assert best.distortion == 0
    assert best.leakage == expected == math.inf or best.leakage == pytest.approx(expected, abs=SOLVERS)
    best = optimal_mechanism(source, leakage=math.inf, notion=notion)
    assert best.distortion == 0
    if expected < math.inf:  # more does not help
        best = optimal_mechanism(source, leakage=expected + 1e-9, notion=notion)
        assert best.distortion == pytest.approx(0, abs=2e-6)


@by_notion
@pytest.mark.parametrize("vertices", [[1.0], [[1.0], [1.0]], [0.0, 1.0], [[0.0, 1.0, 0.0]] * 3], ids=str)
@pytest.mark.parametrize(
    "budget", [{"distortion": d} for d in (0, 0.5, 1)] + [{"leakage": x} for x in (0, 1, math.inf)], ids=str
)
def test_one_letter_gives_nothing_away(vertices, budget, name):
    best = optimal_mechanism(SourceSet(vertices), notion=NOTIONS[name], **budget)
    assert (best.leakage, best.distortion, best.gap) == (0, 0, 0)


def of_randomized_response(name, size, distortion):
    """Closed forms for the uniform prior: what randomized response leaks."""
    kept, other = 1 - distortion, distortion / (size - 1)
    return {
        "DP": lambda: math.log(kept / other),
        "pointwise": lambda: max(0.0, math.log((kept - DELTA) / other)),
        "standard": lambda: max(0.0, math.log((kept - DELTA) / other)),
        "maximal information": lambda: math.log(size * kept),
        "maximal leakage": lambda: math.log(size * kept),
        "Renyi": lambda: math.log(kept**2 / other + other**2 / kept + (size - 2) * other),
        "Sibson": lambda: math.log(size * (kept**2 + (size - 1) * other**2)),
        "mutual information": lambda: math.log(size) + kept * math.log(kept) + distortion * math.log(other),
    }[name]()


@by_notion
@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_the_uniform_prior(size, share, name):
    source, notion = SourceSet(np.full(size, 1 / size)), NOTIONS[name]
    distortion = share * end(name, source.vertices)
    expected = of_randomized_response(name, size, distortion)
    assert leakage_curve(source, distortion, notion=notion) == pytest.approx(expected, abs=AGREEMENT)
    # A quarter of a share: where little leaks, informations grow with the square of what is saved.
    assert distortion_curve(source, expected, notion=notion) == pytest.approx(distortion, abs=2e-5)
    if name not in ("maximal information", "pointwise", "standard"):
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        response = randomized_response(size, math.log((size - 1) * (1 - distortion) / distortion)).matrix
        assert np.diagonal(best.mechanism.matrix).sum() == pytest.approx(np.trace(response), abs=1e-5)


@by_notion
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_class_one_sets_are_as_bad_as_the_uniform_prior(share, name):
    """Section VII, Zhong and Bu: for all but maximal information, whose worst prior is another one."""
    uniform = SourceSet(np.full(3, 1 / 3))
    around = SourceSet([np.roll((0.5, 0.3, 0.2), turn) for turn in range(3)])
    distortion = share * end(name, uniform.vertices)
    found, least = (leakage_curve(source, distortion, notion=NOTIONS[name]) for source in (around, uniform))
    if name == "maximal information":
        assert found > least + 0.01
    else:
        assert found == pytest.approx(least, abs=AGREEMENT)


@by_notion
def test_curves_keep_the_shape_of_their_grid(name):
    source, notion = SourceSet([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]]), NOTIONS[name]
    assert leakage_curve(source, 0.3, notion=notion).shape == ()
    assert leakage_curve(source, [], notion=notion).shape == (0,)
    assert distortion_curve(source, [[0.5], [1.0]], notion=notion).shape == (2, 1)
    one_by_one = [optimal_mechanism(source, distortion=d, notion=notion).leakage for d in (0.3, 0.1)]
    assert leakage_curve(source, [0.3, 0.1], notion=notion) == pytest.approx(one_by_one, abs=AGREEMENT)


@by_notion
def test_labels_stay_with_the_mechanism(name):
    source = SourceSet([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]], labels=["a", "b", "c"])
    for budget in ({"distortion": 0.0}, {"distortion": 0.2}, {"distortion": 1.0}, {"leakage": 0.4}, {"leakage": 0.0}):
        best = optimal_mechanism(source, notion=NOTIONS[name], **budget)
        assert tuple(best.mechanism.labels) == ("a", "b", "c") and best.notion is NOTIONS[name]


# ---- what is asked


@by_notion
def test_a_matrix_must_be_a_channel(name):
    source = SourceSet([0.5, 0.5])
    with pytest.raises(
        ValueError,
        match=r"mechanism: row 0 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it by its " r"sum\.",
    ):
        NOTIONS[name].leakage([[0.5, 0.6], [0.5, 0.5]], source)
    wide = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])  # any number of outputs
    expected = defined(name, wide, source.vertices, all_pairs(2))
    assert NOTIONS[name].leakage(wide, source) == pytest.approx(expected, abs=BRACKET)


@pytest.mark.parametrize("name", ["maximal information", "Sibson", "mutual information"])
def test_notions_that_look_at_the_source_ask_for_it(name):
    notion = NOTIONS[name]
    with pytest.raises(
        ValueError,
        match=rf"SourceSet for {notion.name}, which depends on it; got None\. Give leakage\(mechanism, source\)\.",
    ):
        notion.leakage(np.eye(2))
    with pytest.raises(
        ValueError, match=r"mechanism must have 3 rows, one for each category of the source set; got 2\."
    ):
        notion.leakage(np.eye(2), SourceSet([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("name", ["DP", "pointwise", "standard", "maximal leakage", "Renyi"])
def test_the_others_do_not(name, rng):
    matrix = rng.dirichlet(np.ones(3), size=3)
    assert NOTIONS[name].leakage(matrix) == NOTIONS[name].leakage(Mechanism(matrix), SourceSet([0.5, 0.3, 0.2])) > 0


def test_all_seven_have_names():
    assert len(NOTION_NAMES) == 7 and {notion.name for notion in NOTIONS.values()} == set(NOTION_NAMES)
    for name in NOTION_NAMES:
        assert notion_by_name(name).name == name
    assert notion_by_name("Renyi differential privacy", alpha=3.0).alpha == 3
    assert notion_by_name("approximate differential privacy", delta=0.25).delta == 0.25
    assert not notion_by_name("approximate differential privacy").standard
    with pytest.raises(
        ValueError,
        match="name must be one of 'differential privacy', 'approximate differential privacy', 'maximal "
        "information', 'maximal leakage', 'Renyi differential privacy', 'Sibson information', 'mutual "
        r"information'; got 'trust'\.",
    ):
        notion_by_name("trust")
    with pytest.raises(ValueError, match=r"alpha must be at least 1 for Sibson information; got 0\.5"):
        notion_by_name("Sibson information", alpha=0.5)


@by_notion
def test_a_notion_prints_what_makes_it(name):
    assert eval(repr(NOTIONS[name]), vars(paper_repro)).__dict__ == NOTIONS[name].__dict__
