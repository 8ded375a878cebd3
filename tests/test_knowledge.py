"""Source sets from counts: intervals as published, the confidence they keep by simulation, and what is refused."""

import math
import re

import numpy as np
import pytest

import paper_repro as pr
from paper_repro import SourceSet
from paper_repro.knowledge.counts import confidence_intervals
from tests.conftest import NOTIONS, by_notion

pytest.importorskip("statsmodels")

# Example 1 of Sison and Glaz (1995), as Table 2 of Sangeetha et al. (2013) has it.
COUNTS = [56, 72, 73, 59, 62, 87, 58]
GOODMAN = [[0.085, 0.115, 0.116, 0.091, 0.096, 0.143, 0.089], [0.166, 0.204, 0.207, 0.173, 0.181, 0.239, 0.171]]
# The same by the R package MultinomialCI, in a test of statsmodels.
SISON_GLAZ = [
    [0.07922912, 0.11349036, 0.11563169, 0.08565310, 0.09207709, 0.14561028, 0.08351178],
    [0.1643361, 0.1985973, 0.2007386, 0.1707601, 0.1771840, 0.2307172, 0.1686187],
]


def test_intervals_are_the_published_ones():
    assert np.round(confidence_intervals(COUNTS, method="goodman"), 3).tolist() == GOODMAN
    assert np.abs(np.array(confidence_intervals(COUNTS, method="sison-glaz")) - SISON_GLAZ).max() < 5e-5


def test_clopper_pearson_divides_the_risk_evenly():
    scipy = pytest.importorskip("scipy.stats")
    counts = [0, 3, 40, 7, 0]
    exact = [scipy.binomtest(count, 50).proportion_ci(1 - 0.1 / 5, method="exact") for count in counts]
    assert np.allclose(confidence_intervals(counts, 0.9), np.array(exact).T, rtol=1e-9, atol=0)


def part_covered(prior, records, samples, rng, **options):
    covered = 0
    for counts in rng.multinomial(records, prior, size=samples):
        lower, upper = confidence_intervals(counts, **options)
        covered += bool(((lower <= prior) & (prior <= upper)).all())
    return covered / samples


RARE = np.append(np.full(40, 7e-5), np.full(10, (1 - 40 * 7e-5) / 10))


@pytest.mark.parametrize("prior", [[0.2, 0.5, 0.12, 0.18], RARE, 1 / np.arange(1, 31) / (1 / np.arange(1, 31)).sum()])
def test_clopper_pearson_keeps_its_confidence(prior, rng):
    assert part_covered(np.array(prior), 1000, 400, rng) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)


def test_goodman_keeps_it_for_frequent_categories_and_not_for_rare_ones(rng):
    assert abs(part_covered(np.array([0.2, 0.5, 0.12, 0.18]), 592, 1000, rng, method="goodman") - 0.95) < 0.02
    with pytest.warns(UserWarning, match="Take method='clopper-pearson', which always keeps"):
        assert part_covered(RARE, 1000, 400, rng, method="goodman") < 0.12


def test_names_come_along_and_the_counted_frequencies_are_in_the_set():
    pandas = pytest.importorskip("pandas")
    counts = pandas.Series({"brown": 220, "blue": 215, "hazel": 93, "green": 64})
    source = SourceSet.from_counts(counts, 0.99, name="eyes")
    assert (source.labels, source.name) == (("brown", "blue", "hazel", "green"), "eyes")
    assert repr(source) == repr(SourceSet.from_counts(counts.to_dict(), 0.99, name="eyes"))
    lower, upper = source.bounds
    assert (lower < counts / 592).all() and (counts / 592 < upper).all()


def test_ten_thousand_categories_need_no_vertices(rng):
    prior = 1 / np.arange(1, 10_001)
    source = SourceSet.from_counts(rng.multinomial(10**6, prior / prior.sum()))
    for notion in (pr.DifferentialPrivacy(), pr.MaximalLeakage()):
        assert pr.optimal_mechanism(source, distortion=0.3, notion=notion).gap <= 1e-9


def test_a_million_categories_of_few_different_counts_keep_the_budget():
    counts = np.repeat([1, 2, 3, 40], 250_000)
    source = SourceSet.from_intervals(counts / (2 * counts.sum()), 2 * counts / counts.sum())
    assert pr.optimal_mechanism(source, distortion=0.3).distortion <= 0.3 * (1 + 1e-12)


@by_notion
def test_the_order_alone_buys_nothing(name):
    ordered, unknown = SourceSet.from_order(list("abcd")), SourceSet.unknown(range(4))
    assert ordered.source_class == unknown.source_class == "I"
    found = [pr.optimal_mechanism(known, distortion=0.4, notion=NOTIONS[name]).leakage for known in (ordered, unknown)]
    assert found[0] == pytest.approx(found[1], abs=2e-6)
    response = pr.randomized_response(4, math.log(3 * 0.6 / 0.4))
    assert NOTIONS[name].leakage(response, unknown) == pytest.approx(found[1], abs=2e-6)


def test_the_order_of_a_thousand_letters_is_solved_by_its_uniform_member():
    found = pr.optimal_mechanism(SourceSet.from_order(range(1000)), distortion=0.3)
    assert found.leakage == pytest.approx(math.log(999 * 0.7 / 0.3), abs=1e-12) and found.gap <= 1e-9


@pytest.mark.parametrize(
    ("counts", "options", "said"),
    [
        (
            [3, -1],
            {},
            "counts: category 1 must be a whole number of records, at least 0; got -1.0. Give frequencies "
            "times the number of records, not rounded weights.",
        ),
        (
            [3, 0.5],
            {},
            "counts: category 1 must be a whole number of records, at least 0; got 0.5. Give frequencies "
            "times the number of records, not rounded weights.",
        ),
        (
            {"yes": 3, "no": math.nan},
            {},
            "counts: category 'no' must be a whole number of records, at least 0; got nan. Give frequencies "
            "times the number of records, not rounded weights.",
        ),
        (
            {"yes": 3, "no": None},
            {},
            "counts: category 'no' must be a whole number of records, at least 0; got None. Give "
            "frequencies times the number of records, not rounded weights.",
        ),
        (
            {"yes": 3, "no": "many"},
            {},
            "counts: category 'no' must be a whole number of records, at least 0; got 'many'. Give "
            "frequencies times the number of records, not rounded weights.",
        ),
        (
            [True, False],
            {},
            "counts: category 0 must be a whole number of records, at least 0; got True. Give frequencies "
            "times the number of records, not rounded weights.",
        ),
        (
            [math.inf, 1],
            {},
            "counts: category 0 must be a whole number of records, at least 0; got inf. Give frequencies "
            "times the number of records, not rounded weights.",
        ),
        (
            [0, 0, 0],
            {},
            "counts must include a number above 0; got only zeros. If nothing is known, write "
            "SourceSet.unknown(labels).",
        ),
        ([], {}, "counts must be one number of records for each category, in one row; got shape (0,)"),
        (
            [[1, 2], [3, 4]],
            {},
            "counts must be one number of records for each category, in one row; got shape (2, 2). For the "
            "hull of several years write SourceSet(frame), with a row of frequencies for each year.",
        ),
        ([3, 1], {"confidence": 1.5}, "confidence must be a probability above 0 and below 1, such as 0.95; got 1.5"),
        (
            [3, 1],
            {"confidence": 95},
            "confidence must be a probability above 0 and below 1, such as 0.95; got 95.0. Divide by 100 if "
            "it is a percentage.",
        ),
        ([3, 1], {"confidence": 0}, "confidence must be a probability above 0 and below 1"),
        ([3, 1], {"method": "wald"}, "method must be one of clopper-pearson, goodman, sison-glaz; got 'wald'"),
        (
            [10**6] * 30,
            {"method": "sison-glaz"},
            "method must be 'goodman' or 'clopper-pearson' for 30 categories of up to 1000000 records; got "
            "'sison-glaz'. It would try about 3144 widths, which takes minutes or more.",
        ),
        ([3, 1], {"labels": ["a"]}, "labels must be 2 distinct names"),
    ],
)
def test_bad_counts_are_refused_in_one_sentence(counts, options, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        SourceSet.from_counts(counts, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [SourceSet.from_order, SourceSet.unknown])
@pytest.mark.parametrize("labels", ["eye_color", [], ["a", "a"], 4])
def test_letters_that_are_none_are_refused(make, labels):
    with pytest.raises(ValueError, match="labels must be"):
        make(labels)
