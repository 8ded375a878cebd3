"""What the lemmas say of mutual information, against the library."""

import numpy as np
import pytest

import paper_repro as pr
from paper_repro.figures.privacy_notions import lemma_table
from tests.figures.pictures import ROUNDED_NATS, SETS, load

CURVE_COLUMNS = ["source_set", "class", "curve", "distortion", "leakage", "exact", "end"]


def test_lemma_5_for_class_1():
    table = lemma_table(*load("P_I_10"))
    assert list(table.columns) == CURVE_COLUMNS
    assert set(table["curve"]) == {"Lemma 5 (preprint: 3)"}
    assert table[["distortion", "leakage"]].to_numpy()[-1].tolist() == [0.9, 0.0]
    expected = pr.leakage_curve(SETS["P_I_10"], table["distortion"], notion=pr.MutualInformation())
    np.testing.assert_allclose(table["leakage"], expected, atol=ROUNDED_NATS, rtol=0)


@pytest.mark.parametrize(("name", "end"), [("P_II_6", 0.3), ("P_II_10", 0.7)])
def test_lemma_6_for_class_2(name, end):
    assert lemma_table(*load(name))[["curve", "distortion", "leakage"]].to_numpy().tolist() == [
        ["Lemma 6 (preprint: 4)", end, 0.0]
    ]


@pytest.mark.parametrize("name", ["P_IIIa_6", "P_IIIc_10"])
def test_the_lemmas_say_nothing_of_class_3(name):
    assert lemma_table(*load(name)).empty
