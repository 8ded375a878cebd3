"""How things look: legible on white, told apart in color, by the color-blind and in grey print, and the same in every figure."""

import itertools
import re

import matplotlib.colors
import numpy as np
import pytest

from paper_repro.figures.registry import BOUNDS, COLORS, DASHES, EXACT, MARKERS, PRINTED, notion_look, set_looks
from paper_repro.notions import NOTION_NAMES
from paper_repro.paths import ROOT
from paper_repro.sources import source_set_names

# Machado, Oliveira and Fernandes 2009: linear RGB as seen by the color-blind (severity 1).
SEEN = {
    "all colors": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
LOOKS = [EXACT, PRINTED, *BOUNDS.values(), *map(notion_look, NOTION_NAMES), *set_looks(["P_I_6", "a", "b"]).values()]


def linear(color):
    rgb = np.array(matplotlib.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Of WCAG 2."""
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.clip(rgb, 0, 1) @ np.transpose(matrix) / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other, seen="all colors"):
    return float(
        np.linalg.norm(np.subtract(*(lab(linear(color) @ np.transpose(SEEN[seen])) for color in (one, other))))
    )


def test_the_measures_are_the_known_ones():
    assert contrast("white", "black") == pytest.approx(21)
    assert contrast("#767676", "white") == pytest.approx(4.54, abs=0.005)
    assert distance("white", "black") == pytest.approx(100, abs=0.01)
    assert distance("#FF0000", "#00FF00") == pytest.approx(170.6, abs=0.2)
    # What red-green color-blindness is: these two are much nearer then.
    assert distance("#C00000", "#006000", "no green") < distance("#C00000", "#006000") / 3


@pytest.mark.parametrize("color", sorted({*COLORS, *(look.color for look in LOOKS)}))
def test_lines_and_their_labels_can_be_read_on_white(color):
    assert contrast(color, "white") >= 4.5


@pytest.mark.parametrize("seen", SEEN)
def test_colors_are_told_apart(seen):
    apart = {pair: distance(*pair, seen) for pair in itertools.combinations(COLORS, 2)}
    assert min(apart.values()) > 25, min(apart, key=apart.get)


def test_dashes_and_markers_tell_apart_what_is_alike_in_grey():
    assert len({str(dash) for dash in (*DASHES, PRINTED.dash, *(look.dash for look in BOUNDS.values()))}) == 11
    assert len({*MARKERS, PRINTED.marker}) == 9
    assert len(COLORS) == len(DASHES) == len(MARKERS) == 8
    # One stroke after another, strokes by twos, long ones with short ones: such lines are told apart at a glance, the others by
    # their lightness.
    kinds = [(len(strokes), len({*strokes})) for strokes in ((), *(dash[1][::2] for dash in DASHES[1:]))]
    light = [lab(linear(color))[0] for color in COLORS]
    alike = [(i, j) for i, j in itertools.combinations(range(8), 2) if kinds[i] == kinds[j]]
    assert [(i, j) for i, j in alike if abs(light[i] - light[j]) < 8] == []
    # Nothing but print is a row of dots.
    assert [max(look.dash[1][::2]) <= 1 for look in LOOKS if look.dash != "-"].count(True) == 1


def test_every_notion_and_every_set_of_one_kind_has_a_look_of_its_own():
    notions = [notion_look(name) for name in (*NOTION_NAMES, "pointwise maximal leakage")]
    assert len({look.color for look in notions}) == len({str(look.dash) for look in notions}) == 8
    for size in ("_6", "_10"):
        names = [name for name in source_set_names() if name.endswith(size)]
        assert len(names) == 5
        looks = set_looks(names)
        assert len({look.color for look in looks.values()}) == 5
        # Alone or in another order, and beside sets of one's own, it looks the same.
        for name in names:
            assert set_looks([name])[name] == looks[name]
            assert set_looks(["mine", "yours", *reversed(names)])[name] == looks[name]


def test_own_sets_take_the_first_places_that_are_free():
    assert [look.color for look in set_looks(["mine", "P_I_6", "yours"]).values()] == [COLORS[1], COLORS[0], COLORS[2]]


def test_eight_sets_are_told_apart_and_no_more():
    looks = set_looks(["P_II_6", "P_II_10", *"abcdef"])
    assert len({look.color for look in looks.values()}) == 8
    with pytest.raises(ValueError, match="at most 8 source sets can be told apart in one figure, got 9"):
        set_looks("abcdefghi")


def test_an_unknown_notion_is_named():
    with pytest.raises(ValueError, match=r"unknown privacy notion 'privacy'; known are differential privacy"):
        notion_look("privacy")


def test_colors_of_a_pages_own_are_dark_enough_to_be_seen_or_light_enough_to_be_written_on():
    pages = (ROOT / "paper_repro" / "figures").glob("*.py")
    found = {(page.name, color) for page in pages for color in re.findall(r'"(#[0-9A-Fa-f]{6})"', page.read_text())}
    assert len(found) > len(COLORS)
    assert [one for one in found if contrast(one[1], "white") < 3 and contrast(one[1], "black") < 7] == []
