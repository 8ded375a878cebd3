"""The cost of a wrong prior: the table's numbers against known ones, and every line labelled in the picture."""

import math

import numpy as np
import pandas as pd
import pytest

from paper_repro.figures.layout import visible_texts
from paper_repro.figures.robust_response import (
    draw_responses,
    finding_of_responses,
    response_table,
    responses_in_words,
    wide_table,
)
from paper_repro.papers.ghazi2021 import rr_with_prior
from paper_repro.sources import SourceSet
from tests.figures.pictures import SETS


def test_a_wrong_prior_is_worse_than_none():
    wide = response_table(SETS["P_IIIb_6"], 1, [0.0, 1.0, 4.0]).pivot_table(
        index="leakage", columns="mechanism", values="distortion", aggfunc="last"
    )
    robust, even = wide["robust optimum"], wide["k-ary randomized response"]
    assert even.tolist() == pytest.approx([5 / (5 + math.exp(leakage)) for leakage in wide.index], abs=1e-9)
    assert (robust <= even).all() and robust[1.0] == pytest.approx(0.4757, abs=1e-4)
    # Only the likeliest letter is published, which in another prior has probability 0.06.
    assert wide["RRWithPrior, worst case over the set"][1.0] == pytest.approx(0.94, abs=1e-12)
    assert wide["RRWithPrior, if its prior is right"][1.0] == pytest.approx(0.3, abs=1e-12)


def test_from_three_published_categories_on_the_wrong_prior_costs_nothing():
    wide = wide_table(response_table(SETS["P_IIIb_6"], 1, [1.5, 2.57, 2.58, 3.5]))
    right, wrong, even, robust = (
        wide[name]
        for name in (
            "RRWithPrior, if its prior is right",
            "RRWithPrior, worst case over the set",
            "k-ary randomized response",
            "robust optimum",
        )
    )
    assert [right[1.5], wrong[1.5], even[1.5], robust[1.5]] == pytest.approx([0.3, 0.94, 0.5273, 0.3708], abs=1e-4)
    assert (wrong[:2.57] > robust[:2.57] + 0.1).all()
    np.testing.assert_allclose(wrong[2.58:], robust[2.58:], atol=1e-9)
    published = rr_with_prior(SETS["P_IIIb_6"].vertices[0], 2.58).matrix.any(axis=0)
    assert published.tolist() == [True] * 3 + [False] * 3


def test_jumps_have_both_sides():
    """The prior's likeliest letter alone is published up to ``exp(leakage) = P_0 / P_1``, where the worst case jumps."""
    source = SourceSet([[0.8, 0.2], [0.2, 0.8]])
    table = response_table(source, 1, [0.0, 1.0, 2.0, 3.0])
    worst = table[table["mechanism"] == "RRWithPrior, worst case over the set"].set_index("leakage")["distortion"]
    jump = table[table["end"] != ""]
    assert jump["end"].tolist() == ["open", "closed"]
    assert jump["leakage"].to_numpy() == pytest.approx(math.log(4), abs=2e-8)
    assert jump["distortion"].tolist() == pytest.approx([0.8, 0.2], abs=1e-8)
    assert worst.iloc[0] == 0.8
    broken = draw_responses(table).axes[0].lines
    assert sum(np.isnan(line.get_ydata()).any() for line in broken) == 1


def test_every_line_has_its_name():
    table = response_table(SourceSet([[0.8, 0.2], [0.2, 0.8]]), 2, np.linspace(0, 3, 11))
    drawn = visible_texts(draw_responses(table, "two letters"))
    assert set(table["mechanism"]) <= {text.get_text() for text in drawn}


@pytest.mark.parametrize("vertex", [0, 2])
def test_no_such_vertex(vertex):
    with pytest.raises(ValueError, match=rf"vertex must be between 1 and 1, got {vertex}"):
        response_table(SourceSet([0.8, 0.2]), vertex, [1.0])


@pytest.mark.parametrize(
    ("worst", "finding"),
    [
        ([0.9, 0.9, 0.3], "Below 1.00 nats, a wrong prior can be worse than no prior"),
        ([0.9, 0.9, 0.9], "At every leakage shown, a wrong prior can be worse than no prior"),
        ([0.5, 0.4, 0.3], "At the leakages shown, a wrong prior is never worse than no prior"),
        ([0.5, 0.9, 0.3], "At some leakages, a wrong prior can be worse than no prior"),
    ],
)
def test_the_title_holds_for_every_leakage_that_it_names(worst, finding):
    lines = {"RRWithPrior, worst case over the set": worst, "k-ary randomized response": [0.5, 0.4, 0.3]}
    rows = [(name, leakage, changed) for name, line in lines.items() for leakage, changed in enumerate(line)]
    assert finding_of_responses(pd.DataFrame(rows, columns=["mechanism", "leakage", "distortion"])) == finding


def test_the_words_have_both_ends_of_each_line():
    said = responses_in_words(response_table(SETS["P_IIIb_6"], 1, [0.0, 1.0]), "P_IIIb_6")
    assert "robust optimum from 0.70 to 0.48" in said
    assert "RRWithPrior, worst case over the set from 0.94 to 0.94" in said
