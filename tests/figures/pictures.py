"""The source sets of the papers, their figures, and what can be read in a figure."""

import functools

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paper_repro as pr
from paper_repro.figures import curves as figures
from paper_repro.figures import leakage_curves, privacy_notions, source_sets
from paper_repro.reproduce.runs import load_runs

# A table holds 8 decimals of what is certified to 1e-9 in distortion: half a unit of the last place, and as much again
# for a number that lies on the edge between two.
ROUNDED = 1e-8
# Mutual information is certified to 1e-6 nats and rounded to 6 decimals.
ROUNDED_NATS = 1.5e-6
# Known numbers are given to four decimals.
FOUR = 5.1e-5

SETS = {name: pr.load_source_set(name) for name in pr.source_set_names()}
NAMES = list(SETS)
SIX, TEN = ([name for name in NAMES if name.endswith(size)] for size in ("_6", "_10"))
RUNS = {run.name: run.values for run in load_runs()}


def load(*names):
    return [SETS[name] for name in names]


def curves(names, notions=(pr.DifferentialPrivacy(),), **grid):  # noqa: B008
    return figures.curve_table(load(*names), list(notions), **grid)


def with_lemma(name):
    lemmas = privacy_notions.lemma_table(SETS[name])
    return pd.concat([curves([name], [pr.DifferentialPrivacy(), pr.MutualInformation()]), lemmas], ignore_index=True)


DRAWN = {
    "figure_4": lambda: leakage_curves.draw_comparison(leakage_curves.comparison_table(load(*SIX))),
    "figure_5": lambda: leakage_curves.draw_comparison(leakage_curves.comparison_table(load(*TEN))),
    "figure_6": lambda: figures.draw_curves(with_lemma("P_I_10")),
    "figure_7": lambda: figures.draw_curves(with_lemma("P_II_10")),
    "breakpoints": lambda: source_sets.draw_breakpoints(source_sets.breakpoint_table(load(*NAMES))),
    "leakages": lambda: leakage_curves.draw_leakages(
        leakage_curves.leakage_table(load(*NAMES), RUNS["tables"]["distortions"])
    ),
}


@functools.cache
def drawn(name: str) -> Figure:
    figure = DRAWN[name]()
    figure.draw_without_rendering()
    return figure


def lines_under_a_legend(figure: Figure) -> list[str]:
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    assert legends
    # Three pixels are half a marker.
    boxes = [legend.get_window_extent().padded(3) for legend in legends]
    return [
        f"{line.get_label()} from {line.get_xydata()[0]}"
        for axes in figure.axes
        for line in axes.lines
        for box in boxes
        if line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False)
    ]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def numbers(figure):
    return np.array([float(text) for text in texts(figure)])
