"""Parallel composition against the whole product channel, entry by entry and from the definitions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_repro import (
    Adjacency,
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    Mechanism,
    MutualInformation,
    RenyiDP,
    SibsonInformation,
    SourceSet,
    distortion_curve,
    leakage_curve,
    line,
    optimal_database_mechanism,
    optimal_mechanism,
    randomized_response,
)
from paper_repro.composition import (
    parallel_composition,
    parallel_distortion,
    parallel_leakage,
    product_mechanism,
)
from paper_repro.databases import database_distances
from paper_repro.graphs import databases
from tests.oracles.notions import logarithm
from tests.oracles.tradeoffs import exponential_covers, information, pointwise_ratio

NEIGHBORS = [
    DifferentialPrivacy(),
    ApproximateDP(0.1, standard=True),
    RenyiDP(1),
    RenyiDP(2.5),
    RenyiDP(math.inf),
]
ADDED = [
    MaximalInformation(),
    MaximalLeakage(),
    SibsonInformation(1),
    SibsonInformation(3),
    SibsonInformation(math.inf),
    MutualInformation(),
]
POINTWISE = ApproximateDP(0.1)
NOTIONS = [*NEIGHBORS, POINTWISE, *ADDED]
every_notion = pytest.mark.parametrize("notion", NOTIONS, ids=repr)

ROUNDING = 1e-12  # of products and sums of a few hundred probabilities
BRACKET = 1e-9  # the worst prior is found within 1e-10 for each record
SOME = settings(max_examples=30)


def random_channels(rng, zeros=0.2, sizes=(1, 2, 3, 4)):
    """Two or three matrices of different sizes, with zeros, and one prior for each."""
    shapes = rng.choice(sizes, size=int(rng.integers(2, 4)))
    channels = []
    for size in shapes:
        matrix = rng.dirichlet(np.full(size, 1.0), size=size)
        matrix[rng.random((size, size)) < zeros] = 0
        matrix[np.arange(size), rng.integers(size, size=size)] += 0.1
        channels.append(matrix / matrix.sum(axis=1, keepdims=True))
    return channels, [rng.dirichlet(np.full(size, 2.0)) for size in shapes]


def whole_of(channels):
    whole = np.ones((1, 1))
    for channel in channels:
        whole = np.kron(whole, channel)
    return whole


def prior_of(priors):
    return whole_of([prior[np.newaxis] for prior in priors])[0]


def differ_in_one(channels):
    """Ordered pairs of rows of the product channel."""
    names = list(itertools.product(*(range(len(channel)) for channel in channels)))
    return [
        (i, k)
        for i, k in itertools.product(range(len(names)), repeat=2)
        if sum(a != b for a, b in zip(names[i], names[k], strict=True)) == 1
    ]


def exact_product(channels):
    """The product channel as rationals: what the stored floats multiply to."""
    whole = [[Fraction(1)]]
    for channel in channels:
        factor = [[Fraction(float(entry)) for entry in row] for row in channel]
        whole = [[a * b for a in row for b in other] for row in whole for other in factor]
    return whole


def least_ratio(channels, delta=0.0):
    """Least t >= 1 with ``Q_ij <= t Q_kj + delta`` for neighbors, of the product channel, in exact arithmetic."""
    return pointwise_ratio(exact_product(channels), differ_in_one(channels), delta)


def divergence(row, other, order):
    if (row[other == 0] > 0).any():
        return math.inf
    row, other = row[row > 0], other[row > 0]
    if order == 1:
        return (row * np.log(row / other)).sum()
    return math.log((row**order * other ** (1 - order)).sum()) / (order - 1)


def excess_ratio(row, other, delta):
    """Least t with ``sum_j max(0, row_j - t other_j) <= delta``: among the ratios, where the sum bends."""
    if row[other == 0].sum() > delta + ROUNDING:
        return math.inf
    bends = [1.0, *(row[other > 0] / other[other > 0])]
    bends = sorted(bend for bend in bends if bend >= 1)
    excess = [np.clip(row - bend * other, 0, None).sum() for bend in bends]
    for place, value in enumerate(excess):
        if value <= delta:
            if place == 0:
                return bends[0]
            before = excess[place - 1]
            return bends[place - 1] + (bends[place] - bends[place - 1]) * (before - delta) / (before - value)
    return math.inf


def leakage_of_whole(notion, channels, priors):
    """From the definitions, with every entry of the product channel."""
    whole, prior = whole_of(channels), prior_of(priors)
    pairs = [(whole[i], whole[k]) for i, k in differ_in_one(channels)]
    match notion:
        case DifferentialPrivacy() | RenyiDP(alpha=math.inf):
            return logarithm(least_ratio(channels))
        case ApproximateDP(standard=False):
            return logarithm(least_ratio(channels, notion.delta))
        case ApproximateDP():
            return math.log(max((excess_ratio(*pair, notion.delta) for pair in pairs), default=1.0))
        case RenyiDP():
            return max((divergence(*pair, notion.alpha) for pair in pairs), default=0.0)
        case MaximalInformation():
            shown = whole.max(axis=0) > 0
            return math.log((whole.max(axis=0)[shown] / (prior @ whole)[shown]).max())
        case MaximalLeakage() | SibsonInformation(alpha=math.inf):
            return math.log(whole.max(axis=0).sum())
        case MutualInformation() | SibsonInformation(alpha=1):
            return information(prior, whole)
        case SibsonInformation():
            order = notion.alpha
            return order / (order - 1) * math.log(((prior @ whole**order) ** (1 / order)).sum())
    raise AssertionError(notion)


@every_notion
@given(seed=st.integers(0, 2**32), zeros=st.sampled_from([0.0, 0.3]))
@SOME
def test_the_whole_channel_leaks_as_much(notion, seed, zeros):
    channels, priors = random_channels(np.random.default_rng(seed), zeros)
    found = parallel_leakage(channels, notion=notion, sources=[SourceSet(prior) for prior in priors])
    expected = leakage_of_whole(notion, channels, priors)
    assert found == pytest.approx(expected, abs=BRACKET)
    if notion not in ADDED or isinstance(notion, MaximalLeakage):
        assert parallel_leakage(channels, notion=notion) == found


@every_notion
def test_both_sides_of_a_finite_leakage_are_met(notion):
    """The comparison above is not one of infinities and zeros alone."""
    found = []
    for seed in range(40):
        channels, priors = random_channels(np.random.default_rng(seed), 0.05)
        found.append(parallel_leakage(channels, notion=notion, sources=[SourceSet(prior) for prior in priors]))
    assert sum(0.01 < leakage < math.inf for leakage in found) >= 10


@given(seed=st.integers(0, 2**32), delta=st.sampled_from([0.0, 1e-3, 0.05, 0.1, 0.25, 0.6]))
@settings(max_examples=60)
def test_the_pointwise_guarantee_is_exact_and_never_understated(seed, delta):
    channels, _ = random_channels(np.random.default_rng(seed), 0.1)
    found, ratio = parallel_leakage(channels, notion=ApproximateDP(delta)), least_ratio(channels, delta)
    assert exponential_covers(found, ratio)
    assert found in (0, math.inf) or not exponential_covers(math.nextafter(found, 0), ratio)


@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_a_zero_beside_exactly_delta(beside):
    """An entry of 1/2 stands beside a 0 where the other record has 1/4 at most: 1/8 is what delta must forgive."""
    half, quarter = [[0.5, 0.5], [0.0, 1.0]], np.full((4, 4), 0.25)
    delta = 0.125 if beside == 0 else math.nextafter(0.125, beside)
    found = parallel_leakage([half, quarter], notion=ApproximateDP(delta))
    if beside < 0:
        assert found == math.inf
    else:  # the other column asks for (1 - 1/2) / (1/2)
        assert found == pytest.approx(0.0, abs=1e-15)


def test_what_is_pointwise_private_alone_need_not_be_beside_a_larger_entry():
    """delta / p falls as p grows: the factor's loss is that beside the other's likeliest output, not its average one."""
    notion, keep = ApproximateDP(0.1), [[0.75, 0.25], [0.25, 0.75]]
    peaks = [1.0, 0.9, 0.6, 0.5]
    found = [math.exp(parallel_leakage([keep, Mechanism.constant([peak, 1 - peak])], notion=notion)) for peak in peaks]
    assert found == pytest.approx([(0.75 - 0.1 / peak) / 0.25 for peak in peaks], abs=1e-14)
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("standard", [False, True])
def test_one_record_is_the_notion_itself(delta, standard):
    notion, keep = ApproximateDP(delta, standard), [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.2, 0.7]]
    assert parallel_leakage([keep], notion=notion) == notion.leakage(keep)
    assert parallel_leakage([keep], notion=DifferentialPrivacy()) == ApproximateDP(0.0, standard).leakage(keep)


@every_notion
def test_the_package_s_own_notions_on_the_whole_channel(notion):
    """With several vertices for each record: the hull of the products holds dependent records too, and they leak no more."""
    rng = np.random.default_rng(5)
    channels = [rng.dirichlet(np.full(size, 2.0), size=size) for size in (2, 3)]
    vertices = [rng.dirichlet(np.full(size, 2.0), size=count) for size, count in ((2, 3), (3, 2))]
    whole = product_mechanism(channels)
    graph = Adjacency.from_edges(6, [pair for pair in differ_in_one(channels) if pair[0] < pair[1]])
    source = SourceSet(np.kron(*vertices))
    found = parallel_leakage(channels, notion=notion, sources=[SourceSet(rows) for rows in vertices])
    assert found == pytest.approx(notion.with_neighbors(graph).leakage(whole, source), abs=BRACKET)
    assert found > 0.01


@every_notion
def test_a_thousand_records(notion):
    """One mechanism a thousand times, and two of them shuffled, each of which is evaluated once."""
    keep, other = randomized_response(4, 6.0), randomized_response(3, 4.0)
    sources = SourceSet(np.full(4, 0.25)), SourceSet(np.full(3, 1 / 3))
    small = parallel_leakage([keep, keep, other], notion=notion, sources=[sources[0], sources[0], sources[1]])
    large = parallel_leakage(
        [keep, other, keep] * 333, notion=notion, sources=[sources[0], sources[1], sources[0]] * 333
    )
    alone = parallel_leakage([keep] * 1000, notion=notion, sources=sources[0])
    if notion in ADDED:
        assert large == pytest.approx(333 * small, rel=1e-13)
        assert alone == pytest.approx(1000 * notion.leakage(keep, sources[0]), rel=1e-13)
    elif notion is POINTWISE:
        ratio, peak = math.exp(6.0), float(keep.matrix.max())
        beside = peak**999
        assert alone == pytest.approx(max(0.0, math.log(ratio - 0.1 / beside * ratio / peak)) if beside > 0.1 else 0.0)
        assert large == 0
    else:
        assert large == small and alone == notion.leakage(keep)


def test_the_same_mechanism_is_evaluated_once(monkeypatch):
    calls = []
    evaluate = MutualInformation.leakage

    def counting(self, mechanism, source=None):
        calls.append(mechanism)
        return evaluate(self, mechanism, source)

    monkeypatch.setattr(MutualInformation, "leakage", counting)
    keep, matrix, fair = randomized_response(2, 1.0), [[0.9, 0.1], [0.2, 0.8]], SourceSet([0.5, 0.5])
    parallel_leakage([keep, matrix] * 500, notion=MutualInformation(), sources=fair)
    assert len(calls) == 2
    parallel_leakage([keep] * 3, notion=MutualInformation(), sources=[fair, SourceSet([0.9, 0.1]), fair])
    assert len(calls) == 4


def test_sums_are_rounded_up():
    keep = randomized_response(3, 1.0)
    loss = MaximalLeakage().leakage(keep)
    for records in (3, 7, 1000):
        found = parallel_leakage([keep] * records, notion=MaximalLeakage())
        assert Fraction(found) >= records * Fraction(loss) > Fraction(math.nextafter(found, 0))
    assert (
        parallel_leakage(
            [keep, np.eye(2)], notion=MaximalInformation(), sources=[SourceSet([1, 0, 0]), SourceSet([1, 0])]
        )
        == math.inf
    )


@pytest.mark.parametrize(
    "notion", [DifferentialPrivacy, lambda graph: ApproximateDP(0.1, adjacency=graph), lambda graph: RenyiDP(2, graph)]
)
def test_neighbors_differ_in_one_record_and_graphs_of_letters_are_refused(notion):
    for call in (
        lambda: parallel_leakage([np.eye(3)], notion=notion(line(3))),
        lambda: parallel_composition(SourceSet([0.5, 0.3, 0.2]), 2, distortion=0.1, notion=notion(line(7))),
        lambda: optimal_database_mechanism(2, 2, distortion=0.1, notion=notion(line(4))),
    ):
        with pytest.raises(
            ValueError,
            match=r"notion must have no adjacency here, .* differ in one record; got .*line.*\. Make it without adjacency",
        ):
            call()


# Distortion


@given(seed=st.integers(0, 2**32))
@SOME
def test_distortion_counts_the_records_changed(seed):
    channels, priors = random_channels(np.random.default_rng(seed))
    names = list(itertools.product(*(range(len(channel)) for channel in channels)))
    changed = [[sum(a != b for a, b in zip(x, y, strict=True)) for y in names] for x in names]
    expected = prior_of(priors) @ (whole_of(channels) * changed).sum(axis=1)
    sources = [SourceSet(prior) for prior in priors]
    assert parallel_distortion(channels, sources) == pytest.approx(expected, abs=ROUNDING)


def test_each_record_s_worst_prior_counts():
    keep = [[1.0, 0.0], [0.5, 0.5]]
    sources = [SourceSet([[1.0, 0.0], [0.5, 0.5]]), SourceSet([[0.9, 0.1], [0.2, 0.8]])]
    assert parallel_distortion([keep, keep], sources) == pytest.approx(0.25 + 0.4, abs=1e-15)
    assert parallel_distortion([keep] * 1000, sources[0]) == 250


# The product channel itself


def test_databases_are_in_order():
    keep = Mechanism([[0.75, 0.25], [0.25, 0.75]], labels="ab")
    pair = product_mechanism([keep, keep, keep])
    assert list(pair.labels) == list(databases("ab", 3))
    same = 1 - database_distances(2, 3) / 3 == 1
    assert (pair.matrix[same] == 0.75**3).all()
    assert pair.matrix == pytest.approx(0.75 ** (3 - database_distances(2, 3)) * 0.25 ** database_distances(2, 3))


def test_the_product_publishes_record_by_record(rng):
    pair = product_mechanism([[[0.9, 0.1], [0.3, 0.7]], Mechanism([[0.5, 0.5], [0.0, 1.0]], labels="xy")])
    published = pair.sample([(0, "x"), (1, "y")] * 5000, rng)
    assert np.mean([letter == 1 for letter, _ in published[::2]]) == pytest.approx(0.1, abs=0.02)
    assert all(letter == "y" for _, letter in published[1::2])


def test_the_largest_product():
    half = np.full((2, 2), 0.5)
    assert product_mechanism([half] * 11).alphabet_size == 2048
    assert product_mechanism([np.eye(3)]).labels == ((0,), (1,), (2,))
    with pytest.raises(
        ValueError,
        match="mechanisms must have at most 2048 databases for a channel that is written out; got 12 records "
        r"with 4096\. Use parallel_leakage and parallel_distortion, which need no channel\.",
    ):
        product_mechanism([half] * 12)
    with pytest.raises(ValueError, match=r"at most 2048 databases .*; got 1000 records with about 1e301"):
        product_mechanism([half] * 1000)


# The same mechanism for every record


@every_notion
@pytest.mark.parametrize("vertices", [[0.5, 0.3, 0.2], [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]]])
def test_the_best_local_mechanism_for_every_record(notion, vertices):
    source = SourceSet(vertices)
    found = parallel_composition(source, 4, distortion=0.8, notion=notion)
    assert found.local.distortion == pytest.approx(0.2, abs=1e-9) and found.records == 4
    assert found.distortion == pytest.approx(0.8, abs=1e-8)
    local = float(leakage_curve(source, 0.2, notion=notion))
    if notion is POINTWISE:
        assert found.leakage < local
    else:
        assert found.leakage == pytest.approx((4 if notion in ADDED else 1) * local, abs=4e-6)
    assert found.mechanism is found.local.mechanism


@pytest.mark.parametrize(
    "notion",
    [DifferentialPrivacy(), RenyiDP(2), ApproximateDP(0.1, standard=True), MutualInformation()],
    ids=repr,
)
@given(shares=st.lists(st.floats(0.02, 1), min_size=2, max_size=3))
@settings(max_examples=10)
def test_no_uneven_choice_does_better_where_that_is_said(notion, shares):
    source, budget = SourceSet([0.5, 0.3, 0.2]), 0.3 * len(shares)
    uneven = [
        optimal_mechanism(source, distortion=min(1.0, budget * share / sum(shares)), notion=notion).mechanism
        for share in shares
    ]
    best = parallel_composition(source, len(shares), distortion=budget, notion=notion)
    assert parallel_leakage(uneven, notion=notion, sources=source) >= best.leakage - 1e-5


@pytest.mark.parametrize("notion", [DifferentialPrivacy(), MaximalLeakage(), MutualInformation()], ids=repr)
def test_a_mechanism_that_sees_all_records_leaks_no_more(notion):
    local = parallel_composition(SourceSet([0.5, 0.5]), 3, distortion=0.6, notion=notion)
    assert optimal_database_mechanism(2, 3, distortion=0.6, notion=notion).leakage <= local.leakage + 1e-9


def test_differential_privacy_is_the_default():
    source = SourceSet([0.5, 0.3, 0.2])
    plain = parallel_composition(source, 10, distortion=3.0)
    assert repr(plain) == (
        "ParallelComposition(n=10, differential privacy: leakage=1.540445 nats, distortion=3.000000 records)"
    )
    assert parallel_composition(source, 10, distortion=10.0).leakage == 0


@every_notion
@given(share=st.floats(0.05, 0.95))
@settings(max_examples=5)
def test_a_leakage_budget_leads_back_to_the_distortion(notion, share):
    source, records = SourceSet([0.5, 0.3, 0.2]), 7
    if notion is POINTWISE:
        return
    by_distortion = parallel_composition(source, records, distortion=0.5 * share * records, notion=notion)
    back = parallel_composition(source, records, leakage=by_distortion.leakage, notion=notion)
    assert back.leakage <= by_distortion.leakage + records * 1e-6
    if by_distortion.leakage > 1e-3:  # where next to nothing may leak, many distortions do
        assert back.distortion == pytest.approx(by_distortion.distortion, abs=records * 1e-4)


def test_a_leakage_for_a_million_records():
    source = SourceSet([0.5, 0.3, 0.2])
    assert parallel_composition(source, 10**6, leakage=1.540445).distortion == pytest.approx(0.3e6, abs=0.1)
    found = parallel_composition(source, 10**6, leakage=0.1e6, notion=MaximalLeakage())
    alone = float(distortion_curve(source, 0.1, notion=MaximalLeakage()))
    assert found.distortion == pytest.approx(alone * 10**6, rel=1e-8) and found.leakage <= 0.1e6 * (1 + 1e-8)
    assert parallel_composition(source, 3, leakage=math.inf).distortion == 0


def test_the_notion_by_position_works_for_one_more_release():
    with pytest.warns(DeprecationWarning, match=r"write notion=MaximalLeakage\(\)"):
        assert parallel_leakage([KEEP], MaximalLeakage()) == MaximalLeakage().leakage(KEEP)
    assert parallel_leakage([KEEP]) == DifferentialPrivacy().leakage(KEEP)


# Mistakes


KEEP = Mechanism([[0.75, 0.25], [0.25, 0.75]])
FAIR = SourceSet([0.5, 0.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], MaximalLeakage()), r"mechanisms must be those of at least 1 record; got none\."),
        ((3, MaximalLeakage()), "mechanisms must be a sequence, one per record; got 3"),
        ((KEEP, MaximalLeakage()), (
r"mechanisms must be a sequence, one per record; got Mechanism\(M=2, diagonal=\[0\.75, "
r"0\.75\]\)\. Write \[mechanism\] \* records\."
)),
        ((KEEP.matrix, MaximalLeakage()), (
r"record 0: matrix must be square; got shape \(1, 2\)\. Give other channels as they are to a "
r"notion's leakage\(matrix, source\) and to min_entropy_leakage\."
)),
        (([KEEP, [[0.5, 0.6], [0.5, 0.5]]], MaximalLeakage()), (
r"record 1: matrix: row 0 must sum to 1 within 1e-09; got 1\.1\. Correct the row, or divide it "
r"by its sum\."
)),
        (([KEEP], "maximal leakage"), (
r"notion must be a privacy notion such as MutualInformation\(\); got 'maximal leakage'\. See "
r"notion_by_name\."
)),
        (([KEEP], MaximalLeakage), "notion must be a privacy notion"),
        (
            ([KEEP] * 3, MutualInformation()),
            (
r"sources must be given for mutual information, which depends on them; got None\. Write "
r"parallel_leakage\(mechanisms, notion=\.\.\., sources=\.\.\.\)\."
),
        ),
        (([KEEP] * 3, SibsonInformation(2)), (
r"sources must be given for Sibson information, which depends on them; got None\. Write "
r"parallel_leakage\(mechanisms, notion=\.\.\., sources=\.\.\.\)\."
)),
        (([KEEP] * 3, MaximalInformation()), (
r"sources must be given for maximal information, which depends on them; got None\. Write "
r"parallel_leakage\(mechanisms, notion=\.\.\., sources=\.\.\.\)\."
)),
        (([KEEP] * 3, MaximalLeakage(), [FAIR] * 2), r"sources must be one SourceSet .* each of 3 mechanisms; got 2\."),
        (([KEEP], MaximalLeakage(), 5), "sources must be a SourceSet, or a sequence with one per record; got 5"),
        (([KEEP], MaximalLeakage(), [[0.5, 0.5]]), (
r"sources\[0\] must be a SourceSet; got \[0\.5, 0\.5\]\. Write SourceSet\(\.\.\.\) around the "
r"priors\."
)),
        (([KEEP, np.eye(3)], DifferentialPrivacy(), FAIR), r"sources\[1\] must have 3 categories, as the mechanism .*; got 2\."),
    ],
)  # fmt: skip
def test_mistakes_in_parallel_leakage(arguments, message):
    with pytest.raises(ValueError, match=message):
        parallel_leakage(arguments[0], notion=arguments[1], sources=arguments[2] if len(arguments) > 2 else None)


def test_mistakes_elsewhere():
    with pytest.raises(
        ValueError,
        match=r"sources must be given, as the distortion depends on them; got None\. Write "
        r"parallel_distortion\(mechanisms, sources\)\.",
    ):
        parallel_distortion([KEEP], None)
    with pytest.raises(ValueError, match="at least 1 record"):
        product_mechanism([])
    for records in (0, -1, 2.5, "two", True, math.nan):
        with pytest.raises(ValueError, match="records must be a whole number, at least 1; got"):
            parallel_composition(FAIR, records, distortion=0.5)
    with pytest.raises(ValueError, match="records must be at most 1000000000, for memory and rounding"):
        parallel_composition(FAIR, 10**15, distortion=0.5)
    for distortion in (-0.1, 2.1, math.nan):
        with pytest.raises(ValueError, match="expected number of records changed between 0 and 2; got"):
            parallel_composition(FAIR, 2, distortion=distortion)
    with pytest.raises(ValueError, match="exactly one of distortion and leakage must be given; got both"):
        parallel_composition(FAIR, 2, distortion=0.5, leakage=0.5)
    with pytest.raises(
        ValueError,
        match=r"notion must have standard=True if records share a leakage; got ApproximateDP\(delta=0\.1\)\. "
        r"Give a distortion, or for the uniform prior use optimal_database_mechanism\(values, records, "
        r"leakage=\.\.\.\)\.",
    ):
        parallel_composition(FAIR, 2, leakage=0.5, notion=POINTWISE)
    with pytest.raises(
        ValueError,
        match=r"source must be a SourceSet; got \[0\.5, 0\.5\]\. Write load_source_set\(name\), or "
        r"SourceSet\(\.\.\.\) around the priors\.",
    ):
        parallel_composition([0.5, 0.5], 2, distortion=0.5)
    with pytest.raises(ValueError, match=r"got 'trust'\. See notion_by_name\."):
        parallel_composition(FAIR, 2, distortion=0.5, notion="trust")
