"""The lemmas on mutual information, against the library."""

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures.curves import curve_table
from paper_repro.figures.privacy_notions import lemma_table, two_in_words
from tests.figures.pictures import ROUNDED_NATS, SETS, load

CURVE_COLUMNS = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]


def test_the_closed_form_for_class_1():
    table = lemma_table(*load("P_I_10"))
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["curve"]) == {"Lemma 3 (2017 preprint)"}
    assert table[["distortion", "leakage"]].to_numpy()[-1].tolist() == [0.9, 0.0]
    expected = pr.leakage_curve(SETS["P_I_10"], table["distortion"], notion=pr.MutualInformation())
    np.testing.assert_allclose(table["leakage"], expected, atol=ROUNDED_NATS, rtol=0)


@pytest.mark.parametrize(("name", "end"), [("P_II_6", 0.3), ("P_II_10", 0.7)])
def test_the_zero_for_class_2(name, end):
    assert lemma_table(*load(name))[["curve", "distortion", "leakage"]].to_numpy().tolist() == [
        ["Lemma 4 (2017 preprint)", end, 0.0]
    ]


@pytest.mark.parametrize("name", ["P_IIIa_6", "P_IIIc_10"])
def test_the_lemmas_say_nothing_of_class_3(name):
    assert lemma_table(*load(name)).empty


BOTH = [pr.DifferentialPrivacy(), pr.MutualInformation()]


def test_the_words_have_both_ends_of_each_curve():
    assert two_in_words(curve_table([SETS["P_II_6"]], BOTH, 0.0, 0.2, 5)) == (
        "Optimal leakage for P_II_6 against distortion: differential privacy falls from infinity at D = 0 to "
        f"{pr.optimal_mechanism(SETS['P_II_6'], distortion=0.2).leakage:.2f} nats; mutual information falls from "
        f"{pr.leakage_curve(SETS['P_II_6'], [0], notion=BOTH[1])[0]:.2f} nats at D = 0 to "
        f"{pr.leakage_curve(SETS['P_II_6'], [0.2], notion=BOTH[1])[0]:.2f} nats."
    )
    assert "mutual information is zero" in two_in_words(curve_table([SETS["P_II_6"]], BOTH, 0.4, 0.5, 5))
