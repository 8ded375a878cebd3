"""What is written in a figure: wrapped, beside its line, and refused where it cannot be read."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from paper_repro.figures.layout import (
    COLUMN,
    PAGE,
    check_text,
    finding_of,
    headline,
    label_ends,
    label_lines,
    label_zeros,
    outline,
    visible_texts,
)
from paper_repro.figures.style import STYLE

LONG = r"What is printed for $\mathcal{P}_{\mathrm{II}}^{(6)}$ cannot be reached below $D = 0.3$, and is right from there on"


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context(STYLE):
        yield


def falling(width=PAGE, curves=5):
    figure = Figure(figsize=(width, 3.6), layout="constrained")
    axes, x = figure.add_subplot(), np.linspace(0.01, 1, 100)
    for power in range(1, curves + 1):
        axes.plot(x, -np.log(x) * (1 + 0.4 * power), label=f"curve {power}", color=f"C{power}")
    axes.set(xlim=(0, 1), ylim=(0, 8), xlabel="distortion", ylabel="leakage")
    return figure, axes


def boxes(texts):
    return [(text.get_text(), Text.get_window_extent(text)) for text in texts]


@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_a_headline_is_wrapped_and_has_room_of_its_own(width):
    figure, axes = falling(width)
    headline(figure, LONG, "after a paper, Figure 4")
    check_text(figure)
    finding, subtitle = (text for text in figure.texts if text.get_gid())
    assert finding.get_text().split() == LONG.split()
    assert (finding.get_weight(), subtitle.get_weight()) == ("bold", "normal")
    assert ("\n" in finding.get_text()) == (width == COLUMN)
    above = subtitle.get_window_extent().y0
    assert above > axes.get_tightbbox().y1
    assert finding_of(figure) == (LONG, "after a paper, Figure 4")


def test_names_at_the_ends_are_in_the_order_of_the_ends_and_apart():
    figure, axes = falling()
    axes.plot([0.01, 0.5], [7, 6], label="short")
    texts = label_ends(axes)
    check_text(figure)
    found = boxes(texts)
    assert not [pair for pair in itertools.combinations(found, 2) if pair[0][1].overlaps(pair[1][1])]
    assert all(box.x0 > axes.get_window_extent().x1 for _, box in found)
    heights = {name: box.y0 for name, box in found}
    assert sorted(heights, key=heights.get) == [*(f"curve {i}" for i in range(1, 6)), "short"]


def test_names_inside_touch_no_line_and_are_nearest_to_their_own():
    figure, axes = falling()
    headline(figure, "They fall")
    texts = label_lines(axes)
    check_text(figure)
    lines = {line.get_label(): line for line in axes.lines}
    figure.draw_without_rendering()
    assert len(texts) == 5
    keyed = axes.get_legend().get_texts() if axes.get_legend() else []
    assert len(keyed) < 3
    for text in texts:
        box = Text.get_window_extent(text)
        middle = (box.min + box.max) / 2
        away = {}
        for name, line in lines.items():
            path = line.get_path().transformed(line.get_transform())
            assert not path.intersects_path(outline(text), filled=False), f"{text.get_text()} touches {name}"
            away[name] = np.abs(path.interpolated(50).vertices - middle).max(axis=1).min()
        led = text in keyed or text.arrow_patch is not None
        assert led or min(away, key=away.get) == text.get_text()
        assert axes.get_window_extent().contains(*box.min)
        assert text.get_color() == lines[text.get_text()].get_color()


def test_names_at_a_common_zero_are_below_it_in_the_order_of_the_ends():
    figure, axes = falling()
    for number, line in enumerate(axes.lines):
        line.set_data([0, 0.8 + 0.03 * number], [5, 0])
    axes.set_ylim(-1, 5)
    texts = label_zeros(axes)
    check_text(figure)
    found = boxes(texts)
    assert [name for name, box in sorted(found, key=lambda one: one[1].x0)] == [f"curve {i}" for i in range(1, 6)]
    assert all(box.y1 < axes.transData.transform((0, 0))[1] for _, box in found)


@pytest.mark.parametrize("label", [label_ends, label_lines])
def test_a_curve_in_two_pieces_is_named_once(label):
    figure, axes = falling(curves=1)
    axes.plot([0, 0.5], [6, 5], label="jumps", color="C1")
    axes.plot([0.5, 1], [2, 2], label="jumps", color="C1")
    assert sorted(text.get_text() for text in label(axes)) == ["curve 1", "jumps"]
    check_text(figure)


@pytest.mark.parametrize(("named", "in_key"), [(3, True), (6, False)])
def test_where_a_line_has_no_room_beside_it_a_leader_ends_on_it_or_a_key_has_its_name(named, in_key):
    figure, axes = falling(curves=1)
    for number in range(7):
        height = 2.8 + number / 15
        axes.plot([0, 1], [height, height], label="named" if number == named else "_other", color="black")
    (text,) = (text for text in label_lines(axes) if text.get_text() == "named")
    assert (axes.get_legend() is not None) == in_key
    if not in_key:
        assert text.axes is axes
    check_text(figure)


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        ((0.5, 0.5), {"size": 6.5}, "the text 'here' has 6.5 points; write it with at least 7"),
        ((0.99, 0.5), {}, "the text 'here' leaves the figure"),
        ((0.5, 1.0), {"va": "bottom"}, "the text 'here' leaves the figure"),
        ((0.51, 0.5), {}, "the texts 'there' and 'here' overlap"),
        ((0.51, 0.52), {"rotation": 45}, "the texts 'there' and 'here' overlap"),
    ],
)
def test_text_that_cannot_be_read_is_named(place, options, message):
    figure = Figure(figsize=(COLUMN, 2))
    figure.text(0.5, 0.5, "there")
    check_text(figure)
    figure.text(*place, "here", **options)
    with pytest.raises(ValueError, match=message):
        check_text(figure)


def test_only_the_widths_of_a_column_and_a_page_are_printed():
    with pytest.raises(ValueError, match=r"the figure is 5 inches wide; make it 3\.5 for a column or 7\.2 for a page"):
        check_text(falling(5.0)[0])


def test_turned_texts_whose_boxes_cross_do_not_overlap():
    figure = Figure(figsize=(COLUMN, 3))
    for shift in (0, 0.12):
        figure.text(0.2 + shift, 0.2, "a long text that rises", rotation=45)
    first, second = (text.get_window_extent() for text in figure.texts)
    assert first.overlaps(second)
    check_text(figure)


def test_ticks_beyond_the_limits_are_no_text():
    figure, axes = falling()
    axes.set(xticks=[0, 0.5, 1, 5], xlim=(0, 1))
    figure.draw_without_rendering()
    assert "5.0" not in [text.get_text() for text in visible_texts(figure)]
