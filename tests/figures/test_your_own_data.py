"""A column of one's own: an earlier survey apart from the release, intervals at any confidence, and the price in variance."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import paper_repro as pr
from paper_repro.columns.estimable import estimable
from paper_repro.figures.curves import curve_table
from paper_repro.figures.layout import check_text, finding_of
from paper_repro.figures.your_own_data import (
    draw_estimates,
    draw_knowing,
    estimates_in_words,
    estimates_table,
    fewest_inside,
    finding_of_estimates,
    finding_of_knowing,
    inside_count,
    knowing_subtitle,
    known_set,
    surveys,
    variance_table,
)
from paper_repro.paths import ROOT

EYES = pd.read_csv(ROOT / "data/columns/hair_and_eye_color.csv", comment="#")
FOUR = 5.1e-5  # numbers are given to four decimals


@pytest.fixture(scope="module")
def split():
    return surveys(EYES, "eye_color", "students", ["sex", "female"])


@pytest.fixture(scope="module")
def source(split):
    return known_set(split[0], [], 0.95)


@pytest.fixture(scope="module")
def curves(source):
    unknown = pr.SourceSet.unknown(source.labels, name="nothing known")
    return curve_table([unknown, source], [pr.DifferentialPrivacy()], 0.02, 0.9)


def test_the_earlier_survey_and_the_release_share_no_record(split):
    counts, people = split
    assert counts.to_dict() == {"Brown": 122, "Blue": 114, "Hazel": 46, "Green": 31}
    assert len(people) == 592 - counts.sum() == 279
    assert set(people["sex"]) == {"male"}


def test_the_earlier_survey_can_be_a_file_or_missing(tmp_path):
    people = pd.DataFrame({"pets": ["cat", "dog", "newt"]})
    before = tmp_path / "before.csv"
    before.write_text("pets\ncat\ncat\ndog\n")
    counts, rest = surveys(people, "pets", "", [str(before)])
    assert counts.to_dict() == {"cat": 2, "dog": 1, "newt": 0} and len(rest) == 3
    counts, rest = surveys(people, "pets")
    assert counts is None and len(rest) == 3
    assert known_set(counts, ["cat", "dog", "newt"], 0.95).contains_uniform


@pytest.mark.parametrize(
    ("earlier", "message"),
    [
        (["year", 1], "has no column 'year'. It has sex, hair_color, eye_color"),
        (["sex", "other"], "leaves no record for the earlier survey"),
        (["sex", "male", "female"], "Leave something out"),
    ],
)
def test_an_earlier_survey_that_there_is_not(earlier, message):
    with pytest.raises(ValueError, match=f"earlier must be .*{message}"):
        surveys(EYES, "eye_color", "students", earlier)
    with pytest.raises(ValueError, match=r"column must be one of .*; got 'pets'"):
        surveys(EYES, "pets", "students")


def test_what_the_earlier_survey_saves(source, curves):
    upper = source.bounds[1][3]  # of Green
    assert source.labels[3] == "Green" and upper == pytest.approx(0.1488, abs=FOUR)
    even = {distortion: math.log(3 * (1 - distortion) / distortion) for distortion in (0.3, 3 * upper, 0.5)}
    least = {distortion: pr.optimal_mechanism(source, distortion=distortion).leakage for distortion in even}
    assert least[0.3] == pytest.approx(even[0.3], abs=1e-9)
    assert least[3 * upper] == pytest.approx(even[3 * upper], abs=1e-9), "up to there, nothing is saved"
    kept = 0.5 / (1 - upper)
    assert least[0.5] == pytest.approx(math.log(2 * kept / (1 - kept)), abs=1e-9)
    assert least[0.5] < even[0.5] - 0.05
    figure = draw_knowing(curves, source.name, "nothing known", 4, knowing_subtitle("eye color", None, 0.95))
    check_text(figure)
    zero = pr.optimal_mechanism(source, leakage=0.0).distortion
    most = math.log(3 * (1 - zero) / zero)
    assert finding_of(figure)[0] == finding_of_knowing(curves, source.name, 4)
    assert f"up to {most:.2f} nats" in finding_of(figure)[0]
    told = [text.get_text() for text in figure.axes[1].texts]
    assert told == [f"{most:.2f} nats at $D = {zero:.3g}$", f"from $D = {3 * upper:.3g}$"]


def test_where_nothing_is_known_nothing_is_saved():
    one, other = (pr.SourceSet.unknown(list("abc"), name=name) for name in ("one", "other"))
    table = curve_table([one, other], [pr.DifferentialPrivacy()], 0.05, 0.9, 5)
    assert finding_of_knowing(table, "one", 3) == "The earlier survey saves no leakage at any distortion shown"
    check_text(draw_knowing(table, "one", "other", 3))


def test_at_the_same_leakage_the_states_have_7_to_44_percent_more_variance():
    census = pd.read_csv(ROOT / "data/columns/us_states.csv", comment="#", index_col="state")
    states = pr.SourceSet((census / census.sum()).T)
    table = variance_table(states, [0.2, 0.4, 0.6], states.vertices[1])
    assert table["more"].round().tolist() == [7, 22, 44]


@pytest.fixture(scope="module")
def released(split, source):
    return pr.release(split[1], "eye_color", distortion=0.5, source=source, seed=8)


@pytest.fixture(scope="module")
def shares(split, source):
    return split[1]["eye_color"].value_counts(normalize=True)[list(source.labels)].to_numpy()


def test_in_this_sample_the_estimates_err_more_than_the_published_shares(released, shares):
    found = pr.estimate(released.frame, "eye_color", released.strata[0].sampler, of="sample")
    assert 100 * abs(found.frequencies - shares).max() == pytest.approx(12.0, abs=0.05)
    assert 100 * abs(found.published / 279 - shares).max() == pytest.approx(8.6, abs=0.05)
    # Each person's entry is published at random: bias and noise of the published shares, and of the estimates.
    matrix = released.strata[0].sampler.mechanism.matrix
    inverse = np.linalg.inv(matrix)
    bias = 100 * (shares @ matrix - shares)
    assert found.labels[bias.argmax()] == "Hazel" and bias.max() == pytest.approx(abs(bias).max())
    assert bias.max() == pytest.approx(8.5, abs=0.05)
    of_one = sum(share * (np.diag(row) - np.outer(row, row)) for share, row in zip(shares, matrix, strict=True))
    published, estimated = (100 * np.sqrt(np.diag(w.T @ of_one @ w) / 279) for w in (np.eye(4), inverse))
    assert [published.min(), published.max()] == pytest.approx([1.8, 2.6], abs=0.05)
    assert [estimated.min(), estimated.max()] == pytest.approx([7.6, 10.9], abs=0.05)


def test_at_the_same_leakage_the_eye_colors_have_31_percent_more_variance(released, source, shares):
    row = variance_table(source, [0.5], shares).iloc[0]
    assert round(row["more"]) == 31
    assert row["leakage"] == pytest.approx(released.strata[0].leakages["differential privacy"], abs=1e-6)


def test_variances_are_those_of_estimates(rng):
    source, shares, records = pr.SourceSet([0.5, 0.3, 0.2]), np.array([0.5, 0.3, 0.2]), 400
    found = estimable(pr.optimal_mechanism(source, distortion=0.3)).mechanism.matrix
    published = rng.multinomial(records, shares @ found, size=20_000) / records
    spread = records * (published @ np.linalg.inv(found)).var(axis=0).sum()
    row = variance_table(source, [0.3], shares).iloc[0]
    assert row["released"] == pytest.approx(spread, rel=0.03)  # 20,000 samples
    assert row["more"] == pytest.approx(100 * (row["released"] / row["randomized response"] - 1), abs=1e-3)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_so_few_intervals_contain_the_truth_by_chance_once_in_1000(confidence):
    least = fewest_inside(51, confidence)
    assert stats.binom.cdf(least - 1, 51, confidence) < 1e-3 <= stats.binom.cdf(least, 51, confidence)


def test_an_estimate_outside_its_interval_is_drawn():
    table = estimates_table(["a", "b"], [0.4, 0.6], [-0.1, 1.1], [0.0, 0.8], [0.2, 1.0], [0.1, 0.9])
    figure = draw_estimates(table)
    check_text(figure)
    low, high = figure.axes[0].get_ylim()
    assert low < -0.1 and high > 1.1
    assert inside_count(table) == 2
    assert finding_of_estimates(table).count("percentage points") == 2
    assert estimates_in_words(table).endswith("2 of 2 intervals contain the true share.")
