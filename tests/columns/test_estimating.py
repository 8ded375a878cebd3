"""Estimates from released columns: against formulas and enumeration, their coverage by simulation, and what is refused."""

import math
import re

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

import paper_repro as pr
from paper_repro import Mechanism, SourceSet, randomized_response
from paper_repro.columns.accuracy import effective_sample_sizes
from paper_repro.columns.documents import MechanismDocument
from paper_repro.columns.estimable import amplifications, estimable
from paper_repro.columns.estimating import estimate_counts, weights
from paper_repro.columns.inverses import _OfMatrix, _OfSpread, identified
from paper_repro.columns.likelihood import likeliest
from paper_repro.columns.sampler import IntegerSampler
from tests.oracles import estimates as oracle

pandas = pytest.importorskip("pandas")

HAIR = np.array([108, 286, 71, 127]) / 592
RARE = np.array([0.6, 0.3, 0.08, 0.015, 0.004, 0.001])


def mechanisms():
    best = pr.optimal_mechanism(SourceSet(RARE), distortion=0.05)
    return {
        "response": (randomized_response(4, 1.0), HAIR, 592),
        "response, rare": (randomized_response(6, 2.0), RARE, 2000),
        "estimable": (estimable(best).mechanism, RARE, 2000),
        "few changes": (Mechanism.from_distortions([0.01] * 6), RARE, 500),
        "geometric": (pr.truncated_geometric(6, 1.5), np.array([0.1, 0.2, 0.3, 0.2, 0.15, 0.05]), 1000),
    }


@pytest.mark.parametrize("leakage", [0.3, 1.0, 3.0])
def test_randomized_response_by_the_textbook(leakage, rng):
    mechanism = randomized_response(4, leakage)
    counts = rng.multinomial(1000, HAIR @ mechanism.matrix)
    found = estimate_counts(counts, mechanism)
    assert np.allclose(found.frequencies, oracle.by_response(counts, leakage), rtol=1e-12, atol=1e-14)
    assert found.frequencies.sum() == pytest.approx(1, abs=1e-12)


def test_randomized_response_by_a_library(rng):
    library = pytest.importorskip("multi_freq_ldpy.pure_frequency_oracles.GRR")
    mechanism, values = randomized_response(4, 2.0), rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=20_000)
    published = [library.GRR_Client(value, 4, 2.0) for value in values]
    counts = np.bincount(published, minlength=4)
    peer = library.GRR_Aggregator_MI(published, 4, 2.0)  # which makes negative ones 0, but here there are none
    assert np.allclose(estimate_counts(counts, mechanism).frequencies, peer, atol=1e-9)


@pytest.mark.parametrize(
    "matrix", [pr.truncated_geometric(3, 1.0).matrix, [[0.6, 0.3, 0.1], [0, 0.9, 0.1], [0.2, 0, 0.8]]]
)
def test_estimates_are_unbiased_with_the_variance_they_say(matrix):
    matrix, categories = np.array(matrix), [0, 0, 1, 2]
    mean, variance = oracle.variances_by_enumeration(matrix, categories)
    true = np.array([2, 1, 1]) / 4
    assert np.allclose(mean, true, atol=1e-12)
    inverse = _OfMatrix(matrix)
    squares = inverse.squares(inverse.published(true))
    assert np.allclose((squares - true) / 4, variance, atol=1e-12)


def simulated(mechanism, prior, records, samples, rng, **options):
    """Parts of samples whose intervals hold, shape (M,), about the population or about the sample drawn from it."""
    held = np.zeros(len(prior))
    for true in rng.multinomial(records, prior, size=samples):
        published = sum(rng.multinomial(count, row) for count, row in zip(true, mechanism.matrix, strict=True))
        found = estimate_counts(published, mechanism, **options)
        target = true / records if options.get("of") == "sample" else prior
        held += (found.lower <= target + 1e-12) & (target <= found.upper + 1e-12)
    return held / samples


@pytest.mark.parametrize("of", ["population", "sample"])
@pytest.mark.parametrize("name", mechanisms())
def test_intervals_hold_as_often_as_they_say(name, of, rng):
    held = simulated(*mechanisms()[name], 500, rng, of=of)
    # Counts are whole numbers: of a category that is expected less than ten times no interval holds in exactly 95 %.
    assert (0.92 <= held).all() and 0.94 <= held.mean() <= 0.975, held


@pytest.mark.parametrize("of", ["population", "sample"])
def test_intervals_of_what_hardly_ever_occurs_hold_too(of, rng):
    """One record in 1000, and hardly any that is changed: by a normal distribution alone they hold 92 to 93 times in 100."""
    held = simulated(Mechanism.from_distortions([0.01] * 6), RARE, 500, 1500, rng, of=of)
    assert (held[3:] >= 0.95).all(), held


def test_intervals_of_a_column_that_was_not_changed_are_wilsons_and_within_exact_ones():
    counts = np.array([0, 3, 40, 157])
    found = estimate_counts(counts, Mechanism(np.eye(4)), confidence=0.9)
    lower, upper = proportion_confint(counts, 200, alpha=0.1, method="wilson")
    below, above = proportion_confint(counts, 200, alpha=0.1, method="beta")
    # That side of each that skewness does not move is Wilson's; the other is between his and the exact one.
    assert np.allclose(found.upper[:3], upper[:3], atol=2e-4) and np.isclose(found.lower[3], lower[3], atol=2e-4)
    assert (found.lower <= lower + 2e-4).all() and (found.lower >= below - 2e-4).all()
    assert (found.upper >= upper - 2e-4).all() and (found.upper <= above + 2e-4).all()
    itself = estimate_counts(counts, Mechanism(np.eye(4)), of="sample")
    assert np.allclose([itself.lower, itself.upper], counts / 200, atol=1e-15)
    assert np.allclose(found.effective_sample_sizes, 200, rtol=1e-9)


def test_the_likeliest_frequencies_are_those_of_em(rng):
    for _ in range(10):
        size = int(rng.integers(3, 7))
        matrix = 0.5 * np.eye(size) + 0.5 * rng.dirichlet(np.ones(size), size=size)
        published = rng.multinomial(60, rng.dirichlet(np.full(size, 0.3)) @ matrix) / 60
        found, gap = likeliest(published, _OfMatrix(matrix))
        assert gap <= 1e-11 and found.min() >= 0
        assert np.allclose(found, oracle.by_expectation_maximization(published, matrix, 20_000), atol=1e-3)


def test_a_million_categories_take_no_matrix(rng):
    size = 10**6
    prior = 1 / np.arange(1, size + 1)
    prior /= prior.sum()
    mechanism = Mechanism.from_distortions(np.linspace(0.2, 0.5, size))
    published = rng.multinomial(10**8, _OfSpread(mechanism._spread).published(prior))
    found = estimate_counts(published, mechanism)
    assert "matrix" not in vars(mechanism)
    assert found.frequencies.sum() == pytest.approx(1, abs=1e-9)
    assert (np.abs(found.frequencies - prior) <= 6.5 * found.standard_errors).all()
    held = (found.lower <= prior) & (prior <= found.upper)
    assert 0.94 < held[:1000].mean() < 0.97 and held.mean() > 0.94


@pytest.mark.parametrize("answers", [None, [0.3, 0.1, 0.2, 0.5, 0.4]])
def test_both_forms_of_the_inverse_agree(answers, rng):
    mechanism = Mechanism.from_distortions([0.1, 0.6, 0.3, 0.2, 0.5], answers=answers)
    whole, parts = _OfMatrix(mechanism.matrix), _OfSpread(mechanism._spread)
    vector, other = rng.dirichlet(np.ones(5)), rng.uniform(0.1, 1, 5)
    for of in (
        lambda inverse: inverse.weights,
        lambda inverse: inverse.condition,
        lambda inverse: inverse.own,
        lambda inverse: inverse.others,
        lambda inverse: inverse.published(vector),
        lambda inverse: inverse.averaged(vector),
        lambda inverse: inverse.estimated(vector),
        lambda inverse: inverse.squares(vector),
        lambda inverse: inverse.cubes(vector),
        lambda inverse: inverse.curved(other, vector, other),
    ):
        assert np.allclose(of(whole), of(parts), rtol=1e-9, atol=1e-12)
    assert np.allclose(np.ptp(whole.weights, axis=0), amplifications(mechanism), rtol=1e-9)


def released(mechanism, rng, records=4000):
    region = rng.choice(["north", "south"], size=records, p=[0.7, 0.3])
    eyes = np.where(
        region == "north", rng.choice(3, records, p=[0.7, 0.2, 0.1]), rng.choice(3, records, p=[0.2, 0.3, 0.5])
    )
    true = np.array(["blue", "brown", "green"])[eyes]
    frame = pandas.DataFrame({"region": region, "eyes": mechanism.sample(true, rng)})
    return frame, pandas.crosstab(region, true, normalize=True).to_numpy()


EYES = randomized_response(3, 2.0).renamed(["blue", "brown", "green"])


def test_two_way_tables_keep_both_margins(rng):
    frame, true = released(EYES, rng)
    table = pr.estimate(frame, "eyes", EYES, by="region", of="sample")
    assert np.allclose(
        table.frequencies.sum(axis=1), frame.region.value_counts(normalize=True).sort_index(), atol=1e-12
    )
    alone = pr.estimate(frame, "eyes", EYES, of="sample")
    for name in ("frequencies", "standard_errors", "lower", "upper"):
        assert np.allclose(getattr(table.total, name), getattr(alone, name), atol=2e-4), name
    assert (np.abs(table.frequencies - true) < 5 * table.standard_errors).all()
    assert table.frame.loc[("south", "green"), "frequency"] == table.frequencies[1, 2]
    likely = pr.estimate(frame, "eyes", EYES, by="region", method="likelihood")
    assert np.allclose(likely.frequencies.sum(axis=1), table.frequencies.sum(axis=1), atol=1e-12)


def test_groups_may_have_mechanisms_of_their_own(rng, tmp_path):
    other = randomized_response(3, 1.0).renamed(EYES.labels)
    frame, true = released(EYES, rng)
    south = frame.region == "south"
    frame.loc[south, "eyes"] = other.sample(frame.eyes[south].to_numpy(), rng)  # changed twice: Q of both
    both = Mechanism(EYES.matrix @ other.matrix, EYES.labels)
    found = pr.estimate(frame, "eyes", {"north": EYES, "south": both}, by="region", of="sample")
    assert (np.abs(found.frequencies - true) < 5 * found.standard_errors).all()
    documents = []
    for name, mechanism in (("north", EYES), ("south", both)):
        path = tmp_path / f"{name}.json"
        MechanismDocument(IntegerSampler.of(mechanism), policy={"stratum": name, "by": "region"}).write(path)
        documents.append(path)
    with pytest.raises(ValueError, match="mechanism must be one for each stratum; got one, of the stratum 'north'"):
        pr.estimate(frame, "eyes", documents[0], by="region")
    again = pr.estimate(frame, "eyes", documents, by="region", of="sample")
    assert np.allclose(again.frequencies, found.frequencies, atol=1e-12)


def test_what_the_document_says_of_missing_values_and_repeats_is_heeded():
    frame = pandas.DataFrame({"eyes": ["blue", "brown", None, "blue"] * 100})
    sampler = IntegerSampler.of(EYES)
    kept = MechanismDocument(sampler, policy={"missing": "keep", "randomness": "consistent by id"})
    with pytest.warns(UserWarning, match="the intervals, which assume independent changes, are too narrow"):
        assert pr.estimate(frame, "eyes", kept).records == 300
    with pytest.raises(ValueError, match="got 100 missing values"):
        pr.estimate(frame, "eyes", MechanismDocument(sampler, policy={"missing": "refuse"}))


def test_weights_give_any_total_by_category(rng):
    frame, _ = released(EYES, rng)
    income = rng.normal(size=len(frame))
    table = weights(EYES)
    assert table.loc[frame.eyes].mean().to_numpy() == pytest.approx(pr.estimate(frame, "eyes", EYES).frequencies)
    assert table.loc[frame.eyes].mul(income, axis=0).sum().sum() == pytest.approx(income.sum())


def test_what_is_lost_is_known_before_releasing(rng):
    mechanism = randomized_response(4, 1.0)
    expected = effective_sample_sizes(mechanism, HAIR, 592)
    errors = [
        estimate_counts(rng.multinomial(592, HAIR @ mechanism.matrix), mechanism).frequencies for _ in range(1500)
    ]
    assert np.allclose(HAIR * (1 - HAIR) / np.var(errors, axis=0), expected, rtol=0.15)


def test_another_mechanism_is_noticed(rng):
    right = randomized_response(6, 3.0)
    column = rng.multinomial(5000, RARE @ right.matrix)
    assert estimate_counts(column, right).misfit > 1e-3
    with pytest.warns(UserWarning, match="was published less often than this mechanism publishes it by chance"):
        assert estimate_counts(column, randomized_response(6, 1.0)).misfit < 1e-12


def test_misfits_of_the_right_mechanism_are_chance(rng):
    mechanism = randomized_response(6, 2.0)
    found = [estimate_counts(rng.multinomial(300, RARE @ mechanism.matrix), mechanism).misfit for _ in range(500)]
    assert np.mean(np.array(found) < 0.05) < 0.08


def test_a_singular_channel_says_what_is_left():
    best = pr.optimal_mechanism(SourceSet([0.5, 0.3, 0.12, 0.05, 0.03]), distortion=0.3).mechanism
    sums = identified(best)
    lost = {3: pytest.approx(1 / 3), 4: pytest.approx(1 / 3)}
    assert sums == [{0: 1.0} | lost, {1: 1.0} | lost, {2: 1.0} | lost]
    # They are what two true distributions with the same published frequencies have in common.
    one, other = np.array([0.4, 0.3, 0.1, 0.15, 0.05]), np.array([0.4, 0.3, 0.1, 0.0, 0.2])
    assert np.allclose(one @ best.matrix, other @ best.matrix)
    said = "singular, of rank 3 of 5, and suppresses [3, 4]. Release with estimable=True; this one allows to estimate "
    with pytest.raises(ValueError, match=re.escape(said + "0 + 0.333 3 + 0.333 4; 1 + 0.333 3 + 0.333 4; 2 + ")):
        estimate_counts([5, 4, 3, 0, 0], best)
    with pytest.raises(ValueError, match="singular"):
        estimate_counts(np.ones(2000), Mechanism.from_distortions(np.append(np.full(1999, 0.1), 1.0)))
    with pytest.warns(UserWarning, match="has condition .*, too much for 100 records"):
        estimate_counts([60, 40], randomized_response(2, 0.01))


FRAME = pandas.DataFrame({"eyes": ["blue", "brown", "grey"], "age": [1, 2, 3]})


@pytest.mark.parametrize(
    ("data", "column", "options", "said"),
    [
        (
            FRAME,
            "eyes",
            {},
            "column 'eyes' of the table must be categories of the mechanism, ['blue', 'brown', 'green']; got 'grey'. Take",
        ),
        (FRAME, "eye", {}, "column must be one of ['eyes', 'age'] in the table; got 'eye'. Did you mean 'eyes'?"),
        (FRAME, "age", {}, "must be categories of the mechanism, ['blue', 'brown', 'green']; got 1."),
        (FRAME.assign(eyes=["blue", None, "green"]), "eyes", {}, "got 1 missing values, which are no category"),
        (
            FRAME.assign(eyes=[None] * 3),
            "eyes",
            {"missing": "leave out"},
            "column 'eyes' of the table must have values; got none.",
        ),
        (FRAME, "eyes", {"missing": "drop"}, "missing must be 'refuse' or 'leave out'; got 'drop'."),
        (FRAME[:2], "eyes", {"method": "magic"}, "method must be 'unbiased' or 'likelihood'; got 'magic'."),
        (FRAME[:2], "eyes", {"of": "all"}, "of must be 'population' or 'sample'; got 'all'."),
        (FRAME[:2], "eyes", {"confidence": 1.5}, "confidence must be a probability above 0 and below 1"),
        (
            FRAME[:2],
            "eyes",
            {"mechanism": {"north": EYES}},
            "by must be given for several mechanisms; got none for ['north'].",
        ),
        (
            FRAME[:2],
            "eyes",
            {"mechanism": {1: EYES}, "by": "age"},
            "mechanism must be given for each value of 'age'; got [1], and none for 2.",
        ),
        (FRAME[:2], "eyes", {"mechanism": 3}, "mechanism must be the one that the column was released with"),
        ("nowhere.csv", "eyes", {}, "data must be a CSV or Parquet file; got 'nowhere.csv', which does not exist."),
    ],
)
def test_what_cannot_be_estimated_is_refused_in_one_sentence(data, column, options, said):
    with pytest.raises((ValueError, OSError), match=re.escape(said)) as caught:
        pr.estimate(data, column, **{"mechanism": EYES, **options})
    assert "\n" not in str(caught.value)


def test_values_are_found_by_their_text(tmp_path):
    path = tmp_path / "released.csv"
    path.write_text("grade\n1\n2\n2\n1\n1\n", encoding="utf-8")
    mechanism = randomized_response(2, 3.0).renamed([1, 2])
    by_text = pr.estimate(path, "grade", mechanism).frequencies
    assert by_text.tolist() == estimate_counts({2: 2, 1: 3}, mechanism).frequencies.tolist()
    with pytest.raises(ValueError, match=r"values of counts must be categories of the mechanism, .*; got 3"):
        estimate_counts({1: 3, 3: 1}, mechanism)


def test_a_million_samples_of_the_sampler_fit(rng):
    scipy = pytest.importorskip("scipy.stats")
    from paper_repro.columns.randomness import Seeded

    best = pr.optimal_mechanism(SourceSet(RARE), distortion=0.05)
    sampler = IntegerSampler.of(estimable(best).mechanism)
    true = rng.choice(6, p=RARE, size=10**6)
    published = sampler.sample(true, Seeded(7))
    observed = np.histogram2d(true, published, bins=[range(7), range(7)])[0]
    expected = np.bincount(true, minlength=6)[:, np.newaxis] * sampler.mechanism.matrix
    assert scipy.chisquare(observed.ravel(), expected.ravel(), ddof=5).pvalue > 1e-3
    found = estimate_counts(np.bincount(published, minlength=6), sampler, of="sample")
    assert (np.abs(found.frequencies - np.bincount(true) / 10**6) < 4 * found.standard_errors).all()
    assert math.isfinite(found.condition)
