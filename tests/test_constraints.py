"""Constraints on the best mechanism: numbers known from elsewhere, an independent program, and what contradicts itself."""

import math

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.solvers.restrictions import Restrictions
from paper_repro.solvers.transport import filled
from tests.oracles.constrained import invariant_information, least_distortion

LETTERS = pr.SourceSet([0.5, 0.3, 0.2], labels="abc")
# What sdcMicro's `pram` drew for testdata$roof with pd = 0.95, alpha = 0.5 (sdcTools/sdcMicro, issue 264, 2018): it keeps the
# frequencies of five categories, 2, 4, 5, 6 and 9, which are therefore its stationary distribution.
ROOF = np.array(
    [
        [0.970396344, 0.02728206, 0.0006672392, 0.001094932, 0.0005594228],
        [0.006006924, 0.98859020, 0.0016121788, 0.002368318, 0.0014223822],
        [0.028585933, 0.31369606, 0.6519396872, 0.004536487, 0.0012418340],
        [0.026213966, 0.25751972, 0.0025350956, 0.711839660, 0.0018915564],
        [0.028460636, 0.32865920, 0.0014746779, 0.004019557, 0.6373859305],
    ]
)
NOTIONS = {
    "ratio": lambda delta: pr.ApproximateDP(delta) if delta else pr.DifferentialPrivacy(),
    "standard": lambda delta: pr.ApproximateDP(delta, standard=True),
    "lift": lambda delta: pr.MaximalInformation(),
    "mass": lambda delta: pr.MaximalLeakage(),
}


@pytest.mark.parametrize(
    ("prior", "distortion", "free", "invariant"),
    [
        ([0.7, 0.2, 0.1], 0.1, 2.890, 3.204),
        ([0.4, 0.3, 0.2, 0.1], 0.1, 3.296, 3.475),
        (pr.load_source_set("P_II_6").vertices, 0.05, 4.554, 4.939),
    ],
)
def test_what_invariance_costs(prior, distortion, free, invariant):
    source = pr.SourceSet(prior)
    assert pr.optimal_mechanism(source, distortion=distortion).leakage == pytest.approx(free, abs=5e-4)
    best = pr.optimal_mechanism(source, distortion=distortion, invariant=True)
    assert best.leakage == pytest.approx(invariant, abs=5e-4)
    np.testing.assert_allclose(source.vertices @ best.mechanism.matrix, source.vertices, rtol=0, atol=1e-12)
    # A constraint that is met anyway costs nothing.
    loose = pr.optimal_mechanism(source, distortion=distortion, keep_at_least=1e-3)
    assert loose.leakage == pytest.approx(pr.optimal_mechanism(source, distortion=distortion).leakage, abs=1e-9)


def test_a_matrix_that_was_drawn_at_random_leaks_more_than_it_has_to():
    prior = np.linalg.matrix_power(ROOF / ROOF.sum(axis=1, keepdims=True), 2**20)[0]
    source = pr.SourceSet(prior / prior.sum())
    matrix = ROOF / ROOF.sum(axis=1, keepdims=True)
    distortion = source.worst_case_distortion(matrix)
    assert distortion == pytest.approx(0.0193, abs=5e-5)
    notions = [pr.DifferentialPrivacy(), pr.MaximalLeakage(), pr.MutualInformation()]
    drawn = [notion.leakage(matrix, source) for notion in notions]
    enough = [pr.optimal_mechanism(source, distortion=distortion, notion=notion).leakage for notion in notions]
    assert drawn == pytest.approx([7.04, 1.376, 0.4606], abs=5e-3) and drawn[1:] == pytest.approx(
        [1.376, 0.4606], abs=5e-4
    )
    assert enough == pytest.approx([5.12, 0.681, 0.4371], abs=5e-3) and enough[1:] == pytest.approx(
        [0.681, 0.4371], abs=5e-4
    )
    kept = pr.optimal_mechanism(source, distortion=distortion, invariant=True)
    assert kept.leakage == pytest.approx(5.43, abs=5e-3)


@pytest.mark.parametrize("kind", NOTIONS)
@pytest.mark.parametrize("seed", range(25))
def test_optima_are_those_of_an_independent_program(seed, kind):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    vertices = rng.dirichlet(np.ones(size), 1 if (known := bool(rng.integers(2))) else 2)
    costs = rng.integers(1, 4, (size, size)) * (1.0 - np.eye(size)) if rng.integers(2) else 1.0 - np.eye(size)
    delta = float(rng.choice([0.0, 0.02])) if kind == "ratio" else 0.02
    notion, source = NOTIONS[kind](delta), pr.SourceSet(vertices)
    floors, allowed = rng.uniform(0, 0.7, size) * rng.integers(0, 2, size), np.ones((size, size), dtype=bool)
    if kind != "ratio" and size > 2:
        allowed[0, size - 1] = False
    given = {
        "costs": costs,
        "keep_at_least": dict(enumerate(floors.tolist())),
        "invariant": known,
        "forbidden": np.argwhere(~allowed).tolist(),
    }
    rules = {"kind": kind, "floors": floors, "allowed": allowed, "kept": vertices if known else [], "delta": delta}
    distortion = 0.3 * float(pr.optimal_mechanism(source, leakage=0.0, costs=costs).distortion)
    best = pr.optimal_mechanism(source, distortion=distortion, notion=notion, **given)
    if math.isinf(best.leakage):
        assert least_distortion(vertices, costs, 25.0, **rules) > distortion
        return
    matrix = best.mechanism.matrix
    assert (matrix.diagonal() >= floors).all() and not matrix[~allowed].any()
    assert not known or np.abs(vertices @ matrix - vertices).max() <= 1e-12
    at, before = (least_distortion(vertices, costs, best.leakage - step, **rules) for step in (0.0, 1e-3))
    if math.isinf(before):  # less leakage is out of the question
        assert math.isinf(least_distortion(vertices, costs, best.leakage - 1e-7, **rules)) or best.leakage < 1e-3
    elif at >= distortion - 1e-9:
        assert abs(at - distortion) <= 1e-8 * max((before - at) / 1e-3, 0.05)
    else:  # before a jump nothing keeps the budget
        assert least_distortion(vertices, costs, best.leakage - 1e-7, **rules) > distortion
    back = pr.optimal_mechanism(source, leakage=best.leakage, notion=notion, **given)
    assert back.distortion == pytest.approx(least_distortion(vertices, costs, best.leakage, **rules), abs=1e-8)


CURVED = [
    pr.MutualInformation(),
    pr.SibsonInformation(1.01),
    pr.SibsonInformation(8),
    pr.RenyiDP(1),
    pr.RenyiDP(2),
    pr.RenyiDP(5, pr.line(3)),
]


@pytest.mark.parametrize("notion", CURVED, ids=repr)
def test_information_and_renyi_divergences(notion):
    """A constraint that is met anyway changes nothing; those that bind are kept at a certified price, back and forth."""
    for source in (LETTERS, pr.SourceSet([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], labels="abc")):
        best = pr.optimal_mechanism(source, distortion=0.2, notion=notion)
        loose = pr.optimal_mechanism(source, distortion=0.2, notion=notion, keep_at_least=1e-9)
        assert loose.leakage == pytest.approx(best.leakage, abs=1e-6)
        kept = pr.optimal_mechanism(
            source, distortion=0.2, notion=notion, keep_at_least=0.78, invariant=source is LETTERS
        )
        assert kept.mechanism.matrix.diagonal().min() >= 0.78 and kept.leakage > best.leakage - 1e-9
        back = pr.optimal_mechanism(
            source, leakage=kept.leakage + 0.1, notion=notion, keep_at_least=0.78, invariant=source is LETTERS
        )
        assert back.distortion < 0.2 and back.leakage <= kept.leakage + 0.1 + 1e-9
        np.testing.assert_allclose(
            LETTERS.vertices @ kept.mechanism.matrix, LETTERS.vertices, rtol=0, atol=1e-12 if source is LETTERS else 1
        )


def test_mutual_information_with_invariance_is_that_of_a_balanced_table(rng):
    for size in (2, 3, 5):
        prior, costs = rng.dirichlet(np.ones(size)), rng.integers(1, 4, (size, size)) * (1.0 - np.eye(size))
        distortion = 0.4 * float(prior @ costs @ prior)
        best = pr.optimal_mechanism(
            pr.SourceSet(prior), distortion=distortion, notion=pr.MutualInformation(), costs=costs, invariant=True
        )
        assert best.leakage == pytest.approx(invariant_information(prior, costs, distortion), abs=1e-8)


@pytest.mark.parametrize("notion", [pr.MaximalLeakage(), pr.MaximalInformation(), pr.ApproximateDP(0.1)], ids=repr)
def test_forbidden_pairs_are_zeros(notion):
    best = pr.optimal_mechanism(LETTERS, distortion=0.25, notion=notion, forbidden=[("a", "c"), ("b", "a")])
    assert best.mechanism.matrix[0, 2] == best.mechanism.matrix[1, 0] == 0
    assert best.leakage > pr.optimal_mechanism(LETTERS, distortion=0.25, notion=notion).leakage


def test_graphs_may_forbid_what_neighbors_do_not_publish():
    apart = pr.DifferentialPrivacy(pr.Adjacency.from_weights([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]]))
    best = pr.optimal_mechanism(LETTERS, distortion=0.2, notion=apart, forbidden=[("c", "a")])
    assert best.mechanism.matrix[2, 0] == 0 and math.isfinite(best.leakage)
    # A letter that is published for none of the neighbors is no contradiction.
    best = pr.optimal_mechanism(LETTERS, distortion=0.3, forbidden=[(letter, "c") for letter in "abc"])
    assert not best.mechanism.matrix[:, 2].any()


@pytest.mark.parametrize(
    ("notion", "given", "message"),
    [
        (
            pr.DifferentialPrivacy(),
            {"forbidden": [("a", "c")]},
            r"forbidden \('a', 'c'\) must come with \('b', 'c'\) for finite differential privacy, as 'a' and "
            r"'b' are neighbors; got no such pair\. Forbid 'c' for all its neighbors, or take a graph in "
            r"which these are none, ApproximateDP\(delta\), MaximalLeakage\(\) or MaximalInformation\(\)\.",
        ),
        (
            pr.MaximalLeakage(),
            {"forbidden": [("b", x) for x in "abc"]},
            r"forbidden must leave 'b' a category to be published; got pairs with all of them\. Allow one\.",
        ),
        (
            pr.MaximalLeakage(),
            {"keep_at_least": {"a": 0.9, "b": 0.1}, "forbidden": [("a", "a")]},
            r"^keep_at_least of 'a' \(0\.9\) and forbidden \('a', 'a'\) must not contradict each other; got "
            r"constraints that no mechanism keeps together\. Relax one of them\.",
        ),
        (
            pr.MaximalLeakage(),
            {"forbidden": [("b", "a"), ("a", "a")], "keep_at_least": {"b": 0.1}},
            r"^forbidden \('a', 'a'\) and distortion=0\.4 must not contradict each other; got constraints "
            r"that no mechanism keeps together\. Relax one of them\.",
        ),
        (
            pr.MaximalLeakage(),
            {"invariant": True, "forbidden": [("b", "a"), ("c", "a")], "keep_at_least": {"a": 0.1, "b": 0.1}},
            None,
        ),
        (
            pr.MaximalLeakage(),
            {"invariant": True, "forbidden": [("b", "b"), ("c", "b"), ("a", "c")]},
            r"^forbidden \('b', 'b'\), invariant=True and distortion=0\.4 must not contradict each other; "
            r"got constraints that no mechanism keeps together\. Relax one of them\.",
        ),
        (pr.DifferentialPrivacy(), {"keep_at_least": 1.5}, "must be a probability between 0 and 1; got 1.5"),
        (
            pr.DifferentialPrivacy(),
            {"keep_at_least": {"d": 0.5}},
            r"keep_at_least must name categories of the source set, \['a', 'b', 'c'\]; got 'd'\.",
        ),
        (
            pr.DifferentialPrivacy(),
            {"keep_at_least": [0.5, 0.5]},
            r"keep_at_least must be a probability, or one for each of 3 categories; got shape \(2,\)\.",
        ),
        (
            pr.MaximalLeakage(),
            {"forbidden": ["ab"]},
            r"forbidden must be pairs \(true category, published category\); got 'ab' among them\.",
        ),
        (
            pr.MaximalLeakage(),
            {"forbidden": [("a", "x")]},
            r"forbidden must name categories of the source set, \['a', 'b', 'c'\]; got 'x'\.",
        ),
        (pr.MaximalLeakage(), {"invariant": 1}, "invariant must be True or False; got 1"),
        (
            pr.RenyiDP(2),
            {"forbidden": [("a", "c")]},
            r"forbidden \('a', 'c'\) must come with \('b', 'c'\) for finite Rényi differential privacy, as "
            r"'a' and 'b' are neighbors; got no such pair\. Forbid 'c' for all its neighbors, or take a "
            r"graph in which these are none, ApproximateDP\(delta\), MaximalLeakage\(\) or "
            r"MaximalInformation\(\)\.",
        ),
    ],
)
def test_what_contradicts_itself_is_named(notion, given, message):
    if message is None:
        assert math.isfinite(pr.optimal_mechanism(LETTERS, distortion=0.4, notion=notion, **given).leakage)
        return
    with pytest.raises(ValueError, match=message):
        pr.optimal_mechanism(LETTERS, distortion=0.4, notion=notion, **given)


def test_what_never_occurs_cannot_be_kept_and_its_frequency_too():
    source = pr.SourceSet([0.5, 0.5, 0.0], labels="abc")
    with pytest.raises(
        ValueError,
        match="keep_at_least of 'c' must be 0 with invariant=True and finite differential privacy, as 'c' "
        r"never occurs and its neighbors must not publish it; got 0\.5\. Leave the category out, or "
        r"lower its floor to 0\.",
    ):
        pr.optimal_mechanism(source, distortion=0.2, keep_at_least={"c": 0.5}, invariant=True)
    best = pr.optimal_mechanism(source, distortion=0.2, invariant=True)
    assert best.leakage == pytest.approx(math.log(4), abs=1e-9) and not best.mechanism.matrix[:, 2].any()
    always = pr.optimal_mechanism(LETTERS, distortion=0.2, keep_at_least={"a": 1, "b": 0.5})
    assert math.isinf(always.leakage) and always.mechanism.matrix[0, 0] == 1


def test_a_leakage_that_is_too_small_is_told():
    with pytest.raises(
        ValueError,
        match=r"leakage must be at least 2\.89037 nats for these constraints; got 0\.1\. Ask for more, or "
        r"relax them\.",
    ):
        pr.optimal_mechanism(LETTERS, leakage=0.1, keep_at_least=0.9)


@pytest.mark.parametrize("notion", [pr.DifferentialPrivacy(), pr.MaximalLeakage()], ids=repr)
def test_many_letters(notion, rng):
    """As many as the whole channel would not be solved for: what is asked for is kept, and certified."""
    size = 61 if isinstance(notion, pr.DifferentialPrivacy) else 12
    source = pr.SourceSet(rng.dirichlet(np.full(size, 2.0)))
    apart = [] if size == 61 else [(i, i + 1) for i in range(0, size - 1, 3)]
    for given in ({"invariant": True}, {"forbidden": apart, "keep_at_least": {3: 0.9}}):
        best = pr.optimal_mechanism(source, distortion=0.3, notion=notion, **given)
        matrix = best.mechanism.matrix
        assert best.gap <= 1e-9 and best.distortion <= 0.3 * (1 + 1e-12)
        assert best.leakage >= pr.optimal_mechanism(source, distortion=0.3, notion=notion).leakage - 1e-9
        if given.get("invariant"):
            np.testing.assert_allclose(source.vertices @ matrix, source.vertices, rtol=0, atol=1e-13)
        else:
            assert matrix[3, 3] >= 0.9 and not any(matrix[pair] for pair in apart)


def test_a_table_is_filled_or_its_cut_is_named(rng):
    for _ in range(50):
        rooms = rng.uniform(0, 1, (4, 5)) * (rng.random((4, 5)) < 0.8)
        within = rooms * rng.random((4, 5))
        table = filled(rooms, within.sum(axis=1), within.sum(axis=0))
        assert not isinstance(table, tuple) and (table <= rooms * (1 + 1e-9)).all()
        np.testing.assert_allclose(table.sum(axis=1), within.sum(axis=1), atol=1e-11)
        rows, columns = rng.dirichlet(np.ones(4)) * rooms.sum() * 0.7, rng.dirichlet(np.ones(5)) * rooms.sum() * 0.7
        if isinstance(found := filled(rooms, rows, columns), tuple):
            chosen, other = found
            assert rows[chosen].sum() > columns[~other].sum() + rooms[np.ix_(chosen, other)].sum()
        else:
            np.testing.assert_allclose(found.sum(axis=0), columns, atol=1e-11)


def test_too_many_letters_are_refused_at_once():
    with pytest.raises(
        ValueError,
        match="the number of categories must be at most 500 with keep_at_least, invariant or forbidden; got "
        r"100000\. Merge rare categories, or leave the constraints out\.",
    ):
        pr.optimal_mechanism(pr.SourceSet(np.full(10**5, 1e-5)), distortion=0.1, keep_at_least=0.5)
    many = pr.SourceSet(np.full(80, 1 / 80))
    with pytest.raises(
        ValueError, match=r"at most 60 with .*; got 80\..*Up to 500 categories are solved for differential privacy"
    ):
        pr.optimal_mechanism(many, distortion=0.1, keep_at_least=0.5, costs=1 - np.eye(80))
    with pytest.raises(ValueError, match=r"at most 32 with .*; got 80\..*Up to 500"):
        pr.optimal_mechanism(many, distortion=0.1, keep_at_least=0.5, notion=pr.MutualInformation())


def test_invariance_needs_known_priors():
    wide = pr.SourceSet.from_intervals([0.1, 0.2, 0.3], [0.3, 0.4, 0.5])
    with pytest.raises(
        ValueError,
        match=r"invariant must be False for intervals, as it keeps the frequencies of known priors; got True\. "
        r"Give one prior, such as the frequencies that were counted \(in a release "
        r"source='frequencies'\)\.",
    ):
        pr.optimal_mechanism(wide, distortion=0.1, invariant=True)
    with pytest.raises(ValueError, match=r"leaves only the mechanism that publishes everything as it is"):
        pr.optimal_mechanism(pr.SourceSet([[0.6, 0.4], [0.5, 0.5]]), distortion=0.1, invariant=True)
    point = pr.SourceSet.from_intervals([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])
    assert pr.optimal_mechanism(point, distortion=0.1, invariant=True).leakage > 0


@pytest.mark.parametrize("notion", [pr.DifferentialPrivacy(), pr.MaximalLeakage(), pr.MaximalInformation()], ids=repr)
def test_intervals_are_the_hull_of_their_vertices(notion):
    wide = pr.SourceSet.from_intervals([0.1, 0.2, 0.3], [0.3, 0.4, 0.5])
    for budget in ({"distortion": 0.2}, {"distortion": 0.5}, {"leakage": 1.2}):
        one, other = (
            pr.optimal_mechanism(source, notion=notion, keep_at_least={0: 0.75}, **budget)
            for source in (wide, pr.SourceSet(wide.vertices))
        )
        assert one.leakage == pytest.approx(other.leakage, abs=1e-9)
        assert one.distortion == pytest.approx(other.distortion, abs=1e-9)


def test_certificates_have_the_constraints_and_say_where_there_are_none():
    best = pr.optimal_mechanism(LETTERS, distortion=0.2, keep_at_least=0.7)
    assert "at_least" in best.certificate
    with pytest.raises(
        ValueError,
        match="No certificate of mutual information is offered under these constraints: where nothing may "
        "change, where the worst priors of intervals are searched for, or where frequencies of several "
        r"priors stay\. Use the gap of the result, which is evaluated from its multipliers\.",
    ):
        _ = pr.optimal_mechanism(LETTERS, distortion=0, keep_at_least=0.7, notion=pr.MutualInformation()).certificate


def test_what_is_not_kept_is_not_returned(monkeypatch):
    wrong = Restrictions.are_kept
    monkeypatch.setattr(Restrictions, "are_kept", lambda self, matrix: wrong(self, matrix * 0.5))
    with pytest.raises((pr.CertificateError, pr.SolverError)):
        pr.optimal_mechanism(LETTERS, distortion=0.2, keep_at_least=0.7)
