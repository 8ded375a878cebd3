"""Leakage and distortion by hand, and the picture of the optimal mechanisms."""

from fractions import Fraction

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, Mechanism, SourceSet, optimal_mechanism
from paper_repro.figures.layout import finding_of
from paper_repro.figures.start_here import best_table, changed_by_hand, draw_best, ratios_by_hand

LETTERS = ["bus", "bike", "car"]
PRIOR = ["3/5", "3/10", "1/10"]
CHANNEL = [["13/18", "5/18", "0"], ["5/18", "13/18", "0"], ["1/2", "1/2", "0"]]


def test_by_hand_and_by_the_library():
    changed, ratios = changed_by_hand(CHANNEL, PRIOR, LETTERS), ratios_by_hand(CHANNEL, LETTERS)
    assert changed["has it and is changed"].tolist() == ["1/6", "1/12", "1/10", "7/20"]
    assert ratios["ratio"].tolist() == ["13/5", "13/5", "-"]
    mechanism = Mechanism([[float(Fraction(entry)) for entry in row] for row in CHANNEL])
    assert np.exp(DifferentialPrivacy().leakage(mechanism)) == pytest.approx(2.6, rel=1e-14)
    best = best_table([SourceSet([PRIOR], labels=LETTERS)], 0.35)
    assert best["probability"].dropna().tolist() == pytest.approx([float(Fraction(q)) for row in CHANNEL for q in row])


def test_a_ratio_may_be_infinite():
    assert ratios_by_hand([["1", "0"], ["0", "1"]], ["a", "b"])["ratio"].tolist() == ["infinite", "infinite"]


def test_bad_input_is_named():
    with pytest.raises(
        ValueError, match=r"row 2 of channel must be 2 fractions of at least 0 that sum to 1; got \['1/2', '1/3'\]"
    ):
        ratios_by_hand([["1", "0"], ["1/2", "1/3"]], ["a", "b"])
    with pytest.raises(ValueError, match=r"categories must be 2 names; got \['a'\]"):
        ratios_by_hand([["1", "0"], ["0", "1"]], ["a"])
    with pytest.raises(
        ValueError, match=r"prior must be 2 fractions of at least 0 that sum to 1; got \['1/2', '1/3'\]"
    ):
        changed_by_hand([["1", "0"], ["0", "1"]], ["1/2", "1/3"], ["a", "b"])
    with pytest.raises(ValueError, match=r"channel must have numbers; got \['1', 'x'\]\. Write fractions"):
        changed_by_hand([["1", "x"], ["0", "1"]], ["1/2", "1/2"], ["a", "b"])


def test_a_picture_has_a_point_on_each_curve_but_none_at_infinity():
    sources = [SourceSet([PRIOR], name="known"), SourceSet(np.eye(3), name="unknown")]
    for distortion, points in ((0.35, 2), (0.0, 0)):
        lines = draw_best(best_table(sources, distortion)).axes[0].lines
        assert sum(line.get_marker() == "o" and line.get_markersize() == 6 for line in lines) == points


@pytest.mark.parametrize(
    ("names", "distortion", "finding"),
    [
        ((0, 1), 0.35, "Knowing more about the data saves 0.357 nats of leakage"),
        ((1, 0), 0.35, "The least leakages of these source sets differ by 0.357 nats"),
        ((0, 1), 0.1, "At this distortion, knowing more does not lower the leakage"),
        ((0, 1), 0.9, "At this distortion, nothing needs to be revealed"),
        ((0, 1), 0.0, "Without any change, everything is revealed"),
    ],
)
def test_the_title_is_true_at_every_distortion_and_in_every_order(names, distortion, finding):
    sources = [SourceSet([PRIOR], name="known"), SourceSet(np.eye(3), name="unknown")]
    figure = draw_best(best_table([sources[name] for name in names], distortion))
    assert finding_of(figure)[0] == finding
    assert f"$D = {distortion:.4g}$" in finding_of(figure)[1]


def test_no_ratio_below_that_by_hand_suffices():
    """Of an entry that is kept: the largest of t/(t + 2), 9/10 t/(t + 1) and 3/5, as the chapter states, whatever the ratio t."""
    known = SourceSet([PRIOR])
    for ratio in (1.5, 2.0, 2.6, 26 / 7, 8.0, 30.0):
        kept = max(ratio / (ratio + 2), 0.9 * ratio / (ratio + 1), 0.6)
        assert 1 - optimal_mechanism(known, leakage=np.log(ratio)).distortion == pytest.approx(kept, abs=1e-9)
