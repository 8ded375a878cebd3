"""The appendix of Zhong and Bu 2022 as properties: what holds of the notions and the optimal mechanisms, and what does not.

Statements that are false as printed stand beside what is true, with a counterexample each.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    Mechanism,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
    SourceSet,
    clique,
    distortion_curve,
    hamming,
    leakage_curve,
    line,
    optimal_mechanism,
)
from paper_repro.databases import database_distances
from tests.oracles.tradeoffs import information, solve

ORDERS = [1.1, 2.0, 7.0]
BETWEEN_NEIGHBORS = [
    DifferentialPrivacy(),
    ApproximateDP(0.05),
    ApproximateDP(0.3),
    ApproximateDP(0.05, standard=True),
    *map(RenyiDP, ORDERS),
]
GLOBAL = [MaximalInformation(), MaximalLeakage(), MutualInformation(), *map(SibsonInformation, ORDERS)]
EVERY = [*BETWEEN_NEIGHBORS, *GLOBAL]


def each(notions):
    return pytest.mark.parametrize("notion", notions, ids=repr)


# Worst priors are found within 1e-10; all else is rounding of a few dozen terms.
SLACK = 1e-9
SOME = settings(max_examples=30)
FEW = settings(max_examples=12)


@st.composite
def rows(draw, letters, count, least=0):
    """Distributions with small rational entries, so that ties and zeros come by themselves."""
    row = st.lists(st.integers(least, 8), min_size=letters, max_size=letters).filter(any)
    weights = np.array(draw(st.lists(row, min_size=count, max_size=count)), dtype=float)
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def channels(draw, count=1, fewest=1, most=4, least=0):
    """Mechanisms over the same letters and a source set for them, whose priors have full support as in the paper."""
    size = draw(st.integers(fewest, most))
    matrices = [draw(rows(size, size, least)) for _ in range(count)]
    return *matrices, SourceSet(draw(rows(size, draw(st.integers(1, 3)), least=1)))


def divergence(row, other, order):
    if (row[other == 0] > 0).any():
        return math.inf
    row, other = row[row > 0], other[row > 0]
    if order == 1:
        return float((row * np.log(row / other)).sum())
    return max(0.0, math.log((row**order * other ** (1 - order)).sum()) / (order - 1))


# Definitions 3 and 19


def satisfied(notion, matrix, prior, leakage):
    """Definition 3: whether the mechanism satisfies the notion with this leakage, up to rounding."""
    ratio, slack = math.exp(leakage), 1e-12
    pairs = [(matrix[i], matrix[k]) for i, k in itertools.permutations(range(len(matrix)), 2)]
    match notion:
        case DifferentialPrivacy():
            return all((row <= ratio * other + slack).all() for row, other in pairs)
        case ApproximateDP(standard=False):
            return all((row <= ratio * other + notion.delta + slack).all() for row, other in pairs)
        case ApproximateDP():
            return all(np.clip(row - ratio * other, 0, None).sum() <= notion.delta + slack for row, other in pairs)
        case MaximalInformation():
            return (matrix <= ratio * (prior @ matrix) + slack).all()
        case MaximalLeakage():
            return matrix.max(axis=0).sum() <= ratio + slack
        case RenyiDP():
            return all(divergence(*pair, notion.alpha) <= leakage + slack for pair in pairs)
    raise AssertionError(notion)


def by_formula(notion, matrix, prior):
    """Definition 19, without the terms log(0 / 0) of outputs that never appear, and those of entries below delta."""
    pairs = [(matrix[i], matrix[k]) for i, k in itertools.permutations(range(len(matrix)), 2)]
    with np.errstate(divide="ignore"):
        match notion:
            case DifferentialPrivacy() | ApproximateDP(standard=False):
                delta = getattr(notion, "delta", 0.0)
                ratios = [((row - delta)[row > delta] / other[row > delta]).max(initial=1.0) for row, other in pairs]
                return math.log(max(ratios, default=1.0))
            case MaximalInformation():
                shown = prior @ matrix > 0
                return math.log((matrix[:, shown] / (prior @ matrix)[shown]).max())
            case MaximalLeakage():
                return math.log(matrix.max(axis=0).sum())
            case RenyiDP():
                return max((divergence(*pair, notion.alpha) for pair in pairs), default=0.0)
            case SibsonInformation():
                order = notion.alpha
                return order / (order - 1) * math.log(((prior @ matrix**order) ** (1 / order)).sum())
            case MutualInformation():
                return information(prior, matrix)
    raise AssertionError(notion)


@each([notion for notion in EVERY if not getattr(notion, "standard", False)])
@given(drawn=channels())
@SOME
def test_definition_19_is_the_loss(notion, drawn):
    matrix, source = drawn
    prior = source.vertices[0]
    assert notion.leakage(matrix, SourceSet(prior)) == pytest.approx(by_formula(notion, matrix, prior), abs=SLACK)


@each([notion for notion in EVERY if not isinstance(notion, (MutualInformation, SibsonInformation))])
@given(drawn=channels())
@SOME
def test_definition_3_has_that_loss_as_its_least_leakage(notion, drawn):
    matrix, source = drawn
    prior = source.vertices[0]
    found = notion.leakage(matrix, SourceSet(prior))
    if found < 30:
        assert satisfied(notion, matrix, prior, found)
    if found == math.inf:
        assert not satisfied(notion, matrix, prior, 20.0)
    elif found > 1e-6:
        assert not satisfied(notion, matrix, prior, found - 1e-6)


def test_definition_19_has_no_value_where_definition_3_asks_for_nothing():
    """log(0 / 0) for an output that never appears, and log(0 / 0) again for an entry of exactly delta beside a 0."""
    never, exactly = [[0.5, 0.5, 0.0]] * 3, [[0.75, 0.25], [1.0, 0.0]]
    assert DifferentialPrivacy().leakage(never) == 0
    assert math.exp(ApproximateDP(0.25).leakage(exactly)) == pytest.approx(1, abs=1e-15)


# Lemma 20


@each([*BETWEEN_NEIGHBORS, MaximalLeakage()])
@given(drawn=channels(), other=st.integers(0, 100))
@FEW
def test_lemma_20_1_no_prior_counts(notion, drawn, other):
    matrix, source = drawn
    prior = np.random.default_rng(other).dirichlet(np.ones(len(matrix)))
    assert notion.leakage(matrix) == notion.leakage(matrix, source) == notion.leakage(matrix, SourceSet(prior))


@each([notion for notion in GLOBAL if notion.name != "maximal leakage"])
def test_lemma_20_1_leaves_out_those_that_look_at_the_prior(notion):
    matrix = [[0.9, 0.1], [0.3, 0.7]]
    found = [notion.leakage(matrix, SourceSet(prior)) for prior in ([0.5, 0.5], [0.9, 0.1])]
    assert abs(found[0] - found[1]) > 0.01
    with pytest.raises(ValueError, match="depends on the source"):
        notion.leakage(matrix)


@each(BETWEEN_NEIGHBORS)
@given(drawn=channels(fewest=2))
@SOME
def test_lemma_20_2_the_worst_pair_of_neighbors_decides(notion, drawn):
    matrix, _ = drawn
    for graph in (clique(len(matrix)), line(len(matrix))):
        pairs = [np.array([matrix[i], *[matrix[k]] * (len(matrix) - 1)]) for i, k in graph.edges]
        assert notion.with_neighbors(graph).leakage(matrix) == max(notion.leakage(pair) for pair in pairs)


@each(GLOBAL)
@given(drawn=channels(), seed=st.integers(0, 100))
@FEW
def test_lemma_20_3_all_databases_count_alike(notion, drawn, seed):
    """No neighbors: whichever database is called what, and which other ones it is near, is all the same."""
    matrix, source = drawn
    order = np.random.default_rng(seed).permutation(len(matrix))
    found = notion.leakage(matrix, source)
    renamed = notion.leakage(matrix[order], SourceSet(source.vertices[:, order]))
    assert renamed == pytest.approx(found, abs=SLACK)
    assert notion.with_neighbors(line(len(matrix))).leakage(matrix, source) == found


@each(GLOBAL)
def test_lemma_20_3_two_of_the_four_are_worst_cases_all_the_same(notion):
    """A rare database that is always recognized: on average that is nothing, but maximal information even grows without end."""
    found = [notion.leakage(np.eye(2), SourceSet([1 - rare, rare])) for rare in (1e-2, 1e-100)]
    if isinstance(notion, MaximalInformation):
        assert found == pytest.approx([math.log(1e2), math.log(1e100)])
    elif isinstance(notion, MaximalLeakage):
        assert found == pytest.approx([math.log(2)] * 2)
    else:
        assert 0 <= found[1] < 1e-5 < found[0]


@pytest.mark.parametrize("standard", [False, True])
@given(drawn=channels(), deltas=st.lists(st.floats(0, 0.99), min_size=2, max_size=2).map(sorted))
@SOME
def test_lemma_20_4_delta_only_helps(standard, drawn, deltas):
    matrix, _ = drawn
    private = DifferentialPrivacy().leakage(matrix)
    less, more = (ApproximateDP(delta, standard).leakage(matrix) for delta in deltas)
    assert more <= less <= private == ApproximateDP(0, standard).leakage(matrix)


@given(drawn=channels(least=1))
@SOME
def test_lemma_20_5_to_differential_privacy(drawn):
    """Where the ratio is largest, that column alone gives ``D_alpha >= eps + log(Q_ij) / (alpha - 1)``."""
    matrix, _ = drawn
    private = DifferentialPrivacy().leakage(matrix)
    for order in (2.0, 30.0, 1e3, 1e6):
        missing = private - RenyiDP(order).leakage(matrix)
        assert -SLACK <= missing <= -math.log(matrix.min()) / (order - 1) + SLACK
    assert RenyiDP(math.inf).leakage(matrix) == private


@given(drawn=channels())
@SOME
def test_lemma_20_6_to_mutual_information(drawn):
    """Hoeffding's lemma: ``I_alpha <= I + (alpha - 1) R^2 / 8`` if the log of the joint over the product ranges over R."""
    matrix, source = drawn
    prior = source.vertices[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.log(matrix / (prior @ matrix))[matrix > 0]
    for order in (3.0, 1.1, 1.001):
        more = SibsonInformation(order).leakage(matrix, SourceSet(prior)) - information(prior, matrix)
        assert -SLACK <= more <= (order - 1) * np.ptp(density) ** 2 / 8 + SLACK
    one = SibsonInformation(1).leakage(matrix, source)
    assert one == pytest.approx(MutualInformation().leakage(matrix, source), abs=SLACK)


@given(drawn=channels())
@SOME
def test_lemma_20_7_to_maximal_leakage(drawn):
    matrix, source = drawn
    largest, rarest = MaximalLeakage().leakage(matrix), source.vertices.min()
    for order in (2.0, 30.0, 1e3, 1e5):
        found = SibsonInformation(order).leakage(matrix, source)
        assert order / (order - 1) * (largest + math.log(rarest) / order) - SLACK <= found <= largest + SLACK
    assert SibsonInformation(math.inf).leakage(matrix, source) == largest


def test_lemma_20_7_needs_full_support():
    never = SourceSet([1.0, 0.0])
    assert [SibsonInformation(order).leakage(np.eye(2), never) for order in (2, 1e3)] == pytest.approx(
        [0, 0], abs=SLACK
    )
    assert math.exp(MaximalLeakage().leakage(np.eye(2), never)) == pytest.approx(2)


@given(
    drawn=channels(),
    orders=st.lists(st.one_of(st.just(1.0), st.floats(1.001, 100)), min_size=2, max_size=4).map(sorted),
)
@SOME
def test_lemma_20_8_and_9_orders_and_bounds_for_one_record(drawn, orders):
    matrix, source = drawn
    private = DifferentialPrivacy().leakage(matrix)
    between = [RenyiDP(order).leakage(matrix) for order in orders]
    informed = [SibsonInformation(order).leakage(matrix, source) for order in orders]
    for found in (between, informed):
        assert all(less <= more + SLACK for less, more in itertools.pairwise([*found, private]))
    assert informed[0] >= MutualInformation().leakage(matrix, source) - SLACK
    assert informed[-1] <= MaximalLeakage().leakage(matrix) + SLACK
    assert (
        MaximalLeakage().leakage(matrix) <= MaximalInformation().leakage(matrix, source) + SLACK <= private + 2 * SLACK
    )


def falling(values, records, ratio):
    """The mechanism that falls off with distance: the product of randomized responses."""
    matrix = float(ratio) ** -database_distances(values, records)
    return matrix / matrix.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("values", "records", "total"), [(3, 2, Fraction(9, 4)), (2, 3, Fraction(64, 27))])
def test_lemma_20_9_is_false_for_databases(values, records, total):
    """One record changed in expectation; differential privacy compares single records and information sees all of them."""
    matrix = falling(values, records, 2)
    assert (matrix * database_distances(values, records)).sum(axis=1) == pytest.approx(np.ones(len(matrix)))
    private = DifferentialPrivacy(hamming(values, records)).leakage(matrix)
    uniform = SourceSet(np.full(len(matrix), 1 / len(matrix)))
    assert math.exp(private) == pytest.approx(2, abs=1e-12)
    assert math.exp(SibsonInformation(math.inf).leakage(matrix, uniform)) == pytest.approx(float(total), abs=1e-12)
    assert SibsonInformation(20).leakage(matrix, uniform) > private + 0.04
    assert SibsonInformation(20).leakage(matrix, uniform) <= records * private


@pytest.mark.parametrize("ratio", [1.01, 2, 5, 100])
def test_lemma_20_9_holds_for_two_fair_bits_by_a_hair(ratio):
    """Four databases on a ring: a column sums to at least ``(1 + 1 / t)^2`` times its largest entry, and 4 t <= (1 + t)^2."""
    found = math.exp(MaximalLeakage().leakage(falling(2, 2, ratio)))
    assert found == pytest.approx(4 * ratio**2 / (1 + ratio) ** 2) and found <= ratio + 1e-12


@pytest.mark.parametrize(("values", "records"), [(2, 1), (2, 2), (3, 2), (2, 3)])
@given(
    seed=st.integers(0, 2**32), spread=st.sampled_from([0.5, 20.0]), order=st.sampled_from([1.0, 2.0, 50.0, math.inf])
)
@FEW
def test_lemma_20_9_with_the_number_of_records(values, records, seed, spread, order):
    """Any two databases are at most n neighbors apart; their rows' ratios multiply."""
    rng, size = np.random.default_rng(seed), values**records
    matrix, prior = rng.dirichlet(np.full(size, spread), size=size), rng.dirichlet(np.ones(size))
    private = DifferentialPrivacy(hamming(values, records)).leakage(matrix)
    assert SibsonInformation(order).leakage(matrix, SourceSet(prior)) <= records * private + SLACK


# Lemma 21

mixtures = given(drawn=channels(count=2), share=st.sampled_from([0.1, 0.5, 0.8]))


@each(EVERY)
@mixtures
@SOME
def test_lemma_21_1_all_notions_are_quasi_convex(notion, drawn, share):
    """The lemma says so of differential privacy, both with delta and without, and maximal and Sibson information."""
    first, second, source = drawn
    mixed = notion.leakage(share * first + (1 - share) * second, source)
    assert mixed <= max(notion.leakage(first, source), notion.leakage(second, source)) + SLACK


def convex_form(notion, leakage):
    match notion:
        case MaximalLeakage():
            return math.exp(leakage)
        case SibsonInformation():
            return math.exp((notion.alpha - 1) / notion.alpha * leakage) / (notion.alpha - 1)
        case RenyiDP() if notion.alpha > 1:
            return math.exp((notion.alpha - 1) * leakage)
    return leakage


@each([MaximalLeakage(), MutualInformation(), *map(SibsonInformation, ORDERS), *map(RenyiDP, ORDERS), RenyiDP(1)])
@mixtures
@SOME
def test_lemma_21_2_to_5_what_is_convex(notion, drawn, share):
    """Parts (2), (4) and (5), and the moment in place of part (3)."""
    first, second, source = drawn
    mixed = convex_form(notion, notion.leakage(share * first + (1 - share) * second, source))
    ends = [convex_form(notion, notion.leakage(matrix, source)) for matrix in (first, second)]
    assert mixed <= share * ends[0] + (1 - share) * ends[1] + SLACK * max(1.0, mixed)


@pytest.mark.parametrize(
    ("notion", "first", "second", "midpoint", "mean"),
    [
        # Part (3): a row and what it is mixed with are alike, so that the other one's divergence falls as a logarithm.
        (RenyiDP(2), [[0.9, 0.1], [0.05, 0.95]], [[0.05, 0.95]] * 2, 1.569164, 1.392830),
        (RenyiDP(1.5), [[0.9, 0.1], [0.05, 0.95]], [[0.05, 0.95]] * 2, 1.235046, None),
        # Nor are those convex of which the lemma does not say it.
        (DifferentialPrivacy(), [[0.75, 0.25], [0.25, 0.75]], [[0.25, 0.75]] * 2, math.log(2), math.log(3) / 2),
        (MaximalLeakage(), np.eye(2), np.full((2, 2), 0.5), math.log(1.5), math.log(2) / 2),
    ],
    ids=repr,
)
def test_lemma_21_3_is_false_and_what_else_is_not_convex(notion, first, second, midpoint, mean):
    found = [notion.leakage(matrix) for matrix in (first, second)]
    mixed = notion.leakage((np.array(first) + np.array(second)) / 2)
    assert mixed == pytest.approx(midpoint, abs=1e-6)
    if mean is None:  # closer to order 1, where the divergence is convex, the example no longer serves
        assert mixed < sum(found) / 2
    else:
        assert sum(found) / 2 == pytest.approx(mean, abs=1e-6) and mixed > mean


# Lemmas 22 and 23


@given(drawn=st.integers(2, 4).flatmap(lambda letters: rows(letters, 2)), order=st.floats(1.001, 50))
@settings(max_examples=80)
def test_lemma_22_every_event(drawn, order):
    row, other = drawn
    known = divergence(row, other, order)
    assert known >= divergence(row, other, 1 + (order - 1) / 2) - SLACK  # part (1)
    both = RenyiDP(order).leakage([row, *[other] * (len(row) - 1)])
    assert both == pytest.approx(max(known, divergence(other, row, order)), abs=SLACK)
    if known == math.inf:
        return
    for event in itertools.product([False, True], repeat=len(row)):
        inside, bound = row[list(event)].sum(), other[list(event)].sum()
        assert inside <= (math.exp(known) * bound) ** ((order - 1) / order) + SLACK


@pytest.mark.parametrize("order", [1.5, 2, 10])
def test_lemma_22_is_tight(order):
    """A distribution given an event of probability 1/4 is divergent by log 4, at every order."""
    row, other = np.array([0.0, 0.4, 0.6]), np.array([0.75, 0.1, 0.15])
    assert divergence(row, other, order) == pytest.approx(math.log(4), abs=1e-12)
    assert (math.exp(divergence(row, other, order)) * 0.25) ** ((order - 1) / order) == pytest.approx(1, abs=1e-12)


@given(drawn=channels(), order=st.floats(1.01, 50), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_lemma_23_random_events(drawn, order, seed):
    matrix, source = drawn
    prior = source.vertices[0]
    leakage = SibsonInformation(order).leakage(matrix, SourceSet(prior))
    rng = np.random.default_rng(seed)
    likely = matrix > prior @ matrix  # the event that has most to say
    for event in (likely, *(rng.random(matrix.shape) < rng.random() for _ in range(20))):
        together = (prior @ (matrix * event)).sum()
        apart = (prior @ event).max()
        assert together <= (apart * math.exp(leakage)) ** ((order - 1) / order) + SLACK
        assert together <= apart * math.exp(MaximalLeakage().leakage(matrix)) + SLACK  # order infinity


@pytest.mark.parametrize("order", [1.5, 2, 10])
def test_lemma_23_is_tight(order):
    """To publish one of four letters as it is, and the event that it is."""
    leakage = SibsonInformation(order).leakage(np.eye(4), SourceSet(np.full(4, 0.25)))
    assert (0.25 * math.exp(leakage)) ** ((order - 1) / order) == pytest.approx(1, abs=1e-9)


# Lemma 24


def merged(matrix, first, second):
    matrix = np.array(matrix, dtype=float)
    matrix[:, first] += matrix[:, second]
    matrix[:, second] = 0
    return matrix


@each([notion for notion in EVERY if not isinstance(notion, ApproximateDP) or notion.standard])
@given(drawn=channels(fewest=2))
@SOME
def test_lemma_24_merged_outputs_leak_no_more(notion, drawn):
    """Also for the standard definition with delta, which the paper does not have."""
    matrix, source = drawn
    found = notion.leakage(matrix, source)
    for first, second in itertools.permutations(range(len(matrix)), 2):
        assert notion.leakage(merged(matrix, first, second), source) <= found + SLACK


def test_lemma_24_merging_fails_for_pointwise_delta():
    """Two outputs of probability delta each may stand beside zeros; merged, they may not. The standard definition counts both."""
    matrix = [[0.1, 0.1, 0.8], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    assert math.exp(ApproximateDP(0.1).leakage(matrix)) == pytest.approx(9 / 8, abs=1e-12)
    assert ApproximateDP(0.1).leakage(merged(matrix, 0, 1)) == math.inf
    assert ApproximateDP(0.1, standard=True).leakage(matrix) == math.inf


def least_change(vertices, ratio, outputs, delta, masses):
    """Least worst distortion of a channel with any number of outputs, at ``exp(eps) = ratio``: a linear program.

    With ``masses`` the notion is maximal leakage, else the pointwise one.
    """
    size = vertices.shape[1]
    entry = np.arange(size * outputs).reshape(size, outputs)
    peak, worst = size * outputs, size * outputs + outputs
    below, limits = [], []
    for j in range(outputs):
        for i, k in itertools.product(range(size), repeat=2):
            row = np.zeros(worst + 1)
            row[entry[i, j]] = 1.0
            if masses:
                row[peak + j] = -1.0
            elif i != k:
                row[entry[k, j]] = -ratio
            else:
                continue
            below.append(row)
            limits.append(0.0 if masses else delta)
    row = np.zeros(worst + 1)
    row[peak:worst] = 1.0
    below, limits = [*below, row], [*limits, ratio if masses else math.inf]
    for prior in vertices:
        row = np.zeros(worst + 1)
        row[entry.diagonal()] = -prior
        row[worst] = -1.0
        below.append(row)
        limits.append(-1.0)
    sums = np.zeros((size, worst + 1))
    for i in range(size):
        sums[i, entry[i]] = 1.0
    limits = np.minimum(limits, 1e6)  # what is not asked
    return solve(np.eye(worst + 1)[-1], A_ub=np.array(below), b_ub=limits, A_eq=sums, b_eq=np.ones(size)).fun


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.4, None])
@given(
    vertices=st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(lambda shape: rows(*shape)),
    leakage=st.floats(0.05, 3),
)
@settings(max_examples=15)
def test_lemma_24_holds_for_pointwise_delta_too(delta, vertices, leakage):
    """The lemma leaves it out, but other outputs do not help there either: they change the letter, and no bound on its column
    gets better. None stands for maximal leakage.
    """
    notion = MaximalLeakage() if delta is None else ApproximateDP(delta)
    found = float(distortion_curve(SourceSet(vertices), leakage, notion))
    for outputs in (vertices.shape[1], vertices.shape[1] + 2):
        least = least_change(vertices, math.exp(leakage), outputs, delta or 0.0, delta is None)
        assert least == pytest.approx(found, abs=1e-7)


def test_lemma_24_s_proof_says_when_distortion_stays():
    """'Equality if and only if N > m + 1': here N = m + 1 = 3, and the output that is merged into letter 2 came from letter 1."""
    matrix = merged([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], 1, 2)
    assert 1 - np.diagonal(matrix)[:2] == pytest.approx([0.5, 0.0])


# Lemmas 25 to 32: colors

DELTA = 0.1
COLORED = [ApproximateDP(DELTA), MaximalLeakage()]


@st.composite
def ordered_problems(draw, most=5, vertices=1):
    """Priors in falling order, with ties and zeros at the end, and a budget as a share of the last where anything leaks."""
    size, count = draw(st.integers(2, most)), draw(st.integers(1, vertices))
    row = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(lambda entries: sum(map(bool, entries)) > 1)
    weights = -np.sort(-np.array(draw(st.lists(row, min_size=count, max_size=count)), dtype=float), axis=1)
    priors = weights / weights.sum(axis=1, keepdims=True)
    tails = np.cumsum(priors[0, ::-1])[:-1]  # D^(1) .. D^(m-1)
    end = float((1 - priors[:, 0]).min())
    inside = st.one_of(st.floats(0.01, 0.99), st.sampled_from([float(tail / end) for tail in tails]))
    return priors, draw(inside.filter(lambda share: 0.005 < share < 0.995)) * end


def budget(notion, distortion):
    return (1 - getattr(notion, "delta", 0.0)) * distortion


def in_order(matrix):
    """The transformer T_1: letters renamed so that the diagonal falls."""
    order = np.argsort(-np.diagonal(matrix), kind="stable")
    return matrix[np.ix_(order, order)]


def colors(notion, matrix, leakage):
    """Black and red entries, as two tables of truth values; an entry may be both, or neither (white)."""
    if isinstance(notion, MaximalLeakage):
        return matrix >= matrix.max(axis=0) - SLACK, matrix <= matrix.min(axis=0) + SLACK
    ratio = math.exp(leakage)
    # pairs[i, k, j]: Q_ij is the larger one of a critical pair, Q_kj the smaller one.
    pairs = abs(matrix[:, np.newaxis] - ratio * matrix - notion.delta) < SLACK * (1 + ratio)
    pairs[np.arange(len(matrix)), np.arange(len(matrix))] = False
    return pairs.any(axis=1), pairs.any(axis=0)


def off_diagonal(table):
    """Rows without their diagonal entry, shape (m, m - 1)."""
    return table[~np.eye(len(table), dtype=bool)].reshape(len(table), -1)


def one_color_a_row(notion, matrix, leakage):
    """The transformer T_2 of Lemma 26 for positive delta, as it is meant: a little from entries that are not red to red ones."""
    matrix = matrix.copy()
    _, red = colors(notion, matrix, leakage)
    for i in range(len(matrix)):
        others = np.arange(len(matrix)) != i
        takers, givers = red[i] & others, ~red[i] & others
        if takers.any() and givers.any():
            room = (matrix[i] - matrix.min(axis=0))[givers].min() * givers.sum()
            amount = min(room, notion.delta * takers.sum()) / 2
            matrix[i, takers] += amount / takers.sum()
            matrix[i, givers] -= amount / givers.sum()
    return matrix


@each([ApproximateDP(0.0), *COLORED, ApproximateDP(DELTA, standard=True)])
@given(drawn=channels(fewest=2))
@SOME
def test_lemma_25(notion, drawn):
    matrix, source = drawn
    renamed = in_order(matrix)
    assert notion.leakage(renamed) == pytest.approx(notion.leakage(matrix), abs=SLACK)
    assert (np.diff(np.diagonal(renamed)) <= 0).all()
    prior = SourceSet(-np.sort(-source.vertices, axis=1))
    assert prior.worst_case_distortion(renamed) <= prior.worst_case_distortion(matrix) + 1e-12


def test_lemma_25_1_needs_a_prior_in_order():
    """'For any prior distribution': not for (3/10, 7/10)."""
    matrix, prior = np.array([[0.5, 0.5], [0.1, 0.9]]), SourceSet([0.3, 0.7])
    found = [prior.worst_case_distortion(table) for table in (matrix, in_order(matrix))]
    assert found == pytest.approx([0.22, 0.38], abs=1e-12)


@given(problem=ordered_problems())
@settings(max_examples=80)
def test_lemmas_26_to_31_for_delta(problem):
    priors, distortion = problem
    notion = ApproximateDP(DELTA)
    best = optimal_mechanism(SourceSet(priors), distortion=budget(notion, distortion), notion=notion)
    matrix = one_color_a_row(notion, best.mechanism.matrix, best.leakage)
    assert notion.leakage(matrix) == pytest.approx(best.leakage, abs=SLACK)
    assert np.diagonal(matrix) == pytest.approx(np.diagonal(best.mechanism.matrix), abs=0)
    matrix = in_order(matrix)
    black, red = colors(notion, matrix, best.leakage)
    assert not (black & red).any()
    # Lemma 26, with what follows from Proposition 28: no entry beside the diagonal is black.
    assert not off_diagonal(black).any()
    some, all_ = off_diagonal(red).any(axis=1), off_diagonal(red).all(axis=1)
    assert (some == all_).all()
    # Propositions 28 and 31: the rows that are red beside the diagonal come first.
    assert not red.all(axis=1).any()
    assert all_[0] and (np.diff(all_.astype(int)) <= 0).all()
    # More than Lemma 27 and Propositions 29 and 30 say of a diagonal that is not black: for one prior there is none.
    assert np.diagonal(black).all()


@given(problem=ordered_problems(vertices=3))
@settings(max_examples=60)
def test_lemmas_27_to_31_for_ordered_sets(problem):
    """Where the least favorable letter is not the same for all priors, the first diagonal entry alone may be white."""
    priors, distortion = problem
    notion = ApproximateDP(DELTA)
    best = optimal_mechanism(SourceSet(priors), distortion=budget(notion, distortion), notion=notion)
    if best.leakage < 1e-6:
        return
    check_whites(notion, in_order(best.mechanism.matrix), best.leakage)


def check_whites(notion, matrix, leakage):
    black, red = colors(notion, matrix, leakage)
    white = ~np.diagonal(black)
    assert off_diagonal(red)[white].all()
    assert white.sum() <= 1 and (np.diagonal(matrix)[white] >= matrix[0, 0] - SLACK).all()
    assert off_diagonal(red)[0].all()
    return white


def test_a_diagonal_entry_that_is_not_black():
    """Three priors of which one is sure of letter 1 and another not of letter 2."""
    source = SourceSet(np.array([[9, 3, 2], [9, 8, 2], [6, 3, 2]]) / np.array([[14], [19], [11]]))
    notion = ApproximateDP(DELTA)
    best = optimal_mechanism(source, distortion=0.418, notion=notion)
    assert check_whites(notion, best.mechanism.matrix, best.leakage).tolist() == [True, False, False]


def test_lemma_26_is_not_about_every_optimal_mechanism():
    """(4, 3, 2, 1) / 10 at (1 - delta) 11/20: letters 3 and 4 are not kept, and in row 3 the zero of column 4 is red beside
    entries that are white.
    """
    notion = ApproximateDP(DELTA)
    best = optimal_mechanism(SourceSet([0.4, 0.3, 0.2, 0.1]), distortion=0.9 * 0.55, notion=notion)
    for matrix, mixed in (
        (best.mechanism.matrix, True),
        (one_color_a_row(notion, best.mechanism.matrix, best.leakage), False),
    ):
        _, red = colors(notion, matrix, best.leakage)
        assert (off_diagonal(red).any(axis=1) != off_diagonal(red).all(axis=1)).tolist() == [False, False, mixed, mixed]


@given(problem=ordered_problems())
@settings(max_examples=80)
def test_lemmas_27_to_32_for_maximal_leakage(problem):
    priors, distortion = problem
    best = optimal_mechanism(SourceSet(priors), distortion=distortion, notion=MaximalLeakage())
    matrix = in_order(best.mechanism.matrix)
    black, red = colors(MaximalLeakage(), matrix, best.leakage)
    assert np.diagonal(black).all()  # Proposition 32, so Lemma 27 and Proposition 29 have nothing to say
    assert not black.all(axis=1).any() and not red.all(axis=1).any()  # Proposition 28
    kept = matrix.max(axis=0) > SLACK
    # Without the columns of letters that are never published, Lemma 26 holds too.
    published = off_diagonal(np.where(kept, np.where(red, 1, np.where(black, 2, 3)), 0))
    for row in published:
        assert len(set(row.tolist()) - {0}) <= 1
    assert not (black & ~np.eye(len(matrix), dtype=bool))[:, kept].any()


def optimal_entries(prior, distortion, total):
    """Least and largest value of every entry, over all mechanisms of maximal leakage log(total) at this distortion."""
    size = len(prior)
    rows_, limits = [], []
    for i, j in itertools.product(range(size), repeat=2):
        row = np.zeros(size * size + size)
        row[i * size + j], row[size * size + j] = 1.0, -1.0
        rows_.append(row)
        limits.append(0.0)
    rows_.append(np.append(np.zeros(size * size), np.ones(size)))
    rows_.append(np.append(-np.diag(prior).ravel(), np.zeros(size)))
    limits += [total, distortion - 1]
    sums = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, size))])
    known = {"A_ub": np.array(rows_), "b_ub": limits, "A_eq": sums, "b_eq": np.ones(size)}
    extremes = [
        [sign * solve(sign * np.eye(size * size + size)[place], **known).fun for place in range(size * size)]
        for sign in (1, -1)
    ]
    return np.array(extremes).reshape(2, size, size)


# What an entry of a column of zeros is, which is both the largest and the smallest of its column.
READINGS = ["black", "red", "white", "both"]


def read(matrix, reading):
    """Colors of maximal leakage as sets of names."""
    names = np.empty(matrix.shape, dtype=object)
    for (i, j), entry in np.ndenumerate(matrix):
        column = matrix[:, j]
        if column.max() == column.min():
            names[i, j] = {"black": {"black"}, "red": {"red"}, "white": set(), "both": {"black", "red"}}[reading]
        else:
            names[i, j] = {"black"} & ({"black"} if entry == column.max() else set()) | (
                {"red"} if entry == column.min() else set()
            )
    return names


def same_color(names):
    """Whether the entries of every row beside the diagonal are all black, all red, or all white."""
    return all(
        all("black" in name for name in row) or all("red" in name for name in row) or not any(row)
        for row in off_diagonal(names)
    )


def red_beside_what_is_not_black(names):
    return all(
        "black" in names[i, i] or all("red" in name for name in row) for i, row in enumerate(off_diagonal(names))
    )


def test_lemmas_26_and_27_contradict_each_other_where_a_letter_is_dropped():
    """(3, 2, 1) / 6 at D = 1/3, leakage log 3/2: all optimal mechanisms are (1, 0, 0), (1/2, 1/2, 0), (x, 1 - x, 0), x >= 1/2.

    Colors change at the ends of the range of x alone. Whatever one color the column of zeros has, Lemma 26 or 27 is false; where
    it may have two, both hold, and it is not true that no entry beside the diagonal is black.
    """
    prior, distortion = np.array([3, 2, 1]) / 6, 1 / 3
    best = optimal_mechanism(SourceSet(prior), distortion=distortion, notion=MaximalLeakage())
    assert math.exp(best.leakage) == pytest.approx(3 / 2, abs=1e-12)
    extremes = [[[1, 0, 0], [0.5, 0.5, 0], [x, 0.5 - y, 0]] for x, y in ((0.5, 0.5), (1, 0))]
    assert optimal_entries(prior, distortion, 1.5) == pytest.approx(np.array(extremes), abs=1e-7)
    for reading in READINGS:
        held = []
        for x in (0.5, 0.75, 1.0):
            names = read(np.array([[1, 0, 0], [0.5, 0.5, 0], [x, 1 - x, 0]]), reading)
            held.append((same_color(names), red_beside_what_is_not_black(names)))
        assert ((True, True) in held) == (reading == "both")


def test_lemma_26_is_false_where_two_letters_are_dropped():
    """(4, 3, 2, 1) / 10 at D = 9/20, leakage log 3/2: rows (1, 0, 0, 0), (1/2, 1/2, 0, 0) and (x, 1 - x, 0, 0) twice."""
    prior, distortion = np.array([4, 3, 2, 1]) / 10, 9 / 20
    found = optimal_entries(prior, distortion, 1.5)
    assert found[0] == pytest.approx(np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], *[[0.5, 0, 0, 0]] * 2]), abs=1e-7)
    assert found[1] == pytest.approx(np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], *[[1, 0.5, 0, 0]] * 2]), abs=1e-7)
    for x, y, reading in itertools.product((0.5, 0.75, 1.0), (0.5, 0.75, 1.0), READINGS):
        names = read(np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [x, 1 - x, 0, 0], [y, 1 - y, 0, 0]]), reading)
        # Rows 3 and 4 have the other one's zeros beside white entries, or beside one that is black and one that is red; and if
        # zeros are white, row 1 has them beside its red entry.
        assert not same_color(names)


# Lemmas 10, 11, 33 and 34


@pytest.mark.parametrize(
    "notion", [ApproximateDP(0.0), ApproximateDP(0.01), ApproximateDP(0.6), MaximalLeakage()], ids=repr
)
@given(prior=st.integers(1, 5).flatmap(lambda letters: rows(letters, 1)))
@SOME
def test_lemmas_10_and_33_where_nothing_leaks(notion, prior):
    """Also at delta = 0, with one letter, with ties, and where letters have no probability."""
    end = budget(notion, 1 - float(prior.max()))
    at_end = leakage_curve(SourceSet(prior), [end, min(1.0, end + 1e-9), 1.0], notion)
    assert (at_end == 0).all()
    if end > 0:
        below = leakage_curve(SourceSet(prior), [end * (1 - 1e-3), end / 2], notion)
        assert 0 < below[0] < below[1]


@given(problem=ordered_problems(), delta=st.sampled_from([0.0, 0.01, 0.1, 0.7]))
@settings(max_examples=60)
def test_lemma_11(problem, delta):
    priors, distortion = problem
    notion = ApproximateDP(delta)
    best = optimal_mechanism(SourceSet(priors), distortion=budget(notion, distortion), notion=notion)
    matrix = in_order(best.mechanism.matrix)
    diagonal = np.diagonal(matrix)
    assert SourceSet(priors).worst_case_distortion(matrix) <= budget(notion, distortion) + SLACK
    assert delta - 1e-15 <= diagonal[-1] and diagonal[0] <= 1
    expected = math.exp(best.leakage) * matrix[0, 1:] + delta
    assert diagonal[1:] == pytest.approx(expected, abs=SLACK)


@given(problem=ordered_problems())
@settings(max_examples=60)
def test_lemma_34(problem):
    priors, distortion = problem
    best = optimal_mechanism(SourceSet(priors), distortion=distortion, notion=MaximalLeakage())
    matrix = in_order(best.mechanism.matrix)
    assert SourceSet(priors).worst_case_distortion(matrix) <= distortion + SLACK
    assert matrix.max(axis=0) == pytest.approx(np.diagonal(matrix), abs=SLACK)
    assert np.diagonal(matrix).sum() == pytest.approx(math.exp(best.leakage), abs=SLACK)


def test_the_mechanism_in_the_proof_of_theorem_14_is_none():
    """For the diagonal (1, 1/2): as printed, with i and j exchanged, the first row sums to 3/2."""
    kept = np.array([1.0, 0.5])
    best = optimal_mechanism(SourceSet([0.7, 0.3]), distortion=0.15, notion=MaximalLeakage()).mechanism.matrix
    assert np.diagonal(best) == pytest.approx(kept)
    printed, meant = np.diag(kept), np.diag(kept)
    for i, j in ((0, 1), (1, 0)):
        printed[i, j] = (1 - kept[j]) * kept[i] / (kept.sum() - kept[j])
        meant[i, j] = (1 - kept[i]) * kept[j] / (kept.sum() - kept[i])
    assert printed.sum(axis=1) == pytest.approx([1.5, 0.5])
    assert Mechanism(meant).matrix == pytest.approx(best)
