"""Leakage and distortion by hand, and the picture of the best mechanisms."""

from fractions import Fraction

import numpy as np
import pytest

from paper_repro import DifferentialPrivacy, Mechanism, SourceSet
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
        ValueError, match=r"row 2 must be 2 fractions of at least 0 that sum to 1, got \['1/2', '1/3'\]"
    ):
        ratios_by_hand([["1", "0"], ["1/2", "1/3"]], ["a", "b"])
    with pytest.raises(ValueError, match="name each of the 2 letters once"):
        ratios_by_hand([["1", "0"], ["0", "1"]], ["a"])
    with pytest.raises(ValueError, match="give the prior as 2 fractions"):
        changed_by_hand([["1", "0"], ["0", "1"]], ["1/2", "1/3"], ["a", "b"])
    with pytest.raises(ValueError, match="fraction"):
        changed_by_hand([["1", "x"], ["0", "1"]], ["1/2", "1/2"], ["a", "b"])


def test_a_picture_has_a_point_on_each_curve_but_none_at_infinity():
    sources = [SourceSet([PRIOR], name="known"), SourceSet(np.eye(3), name="unknown")]
    for distortion, points in ((0.35, 2), (0.0, 0)):
        lines = draw_best(best_table(sources, distortion)).axes[0].lines
        assert sum(line.get_marker() == "o" and line.get_markersize() == 6 for line in lines) == points
