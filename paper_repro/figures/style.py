"""How every figure is styled: fonts, lines, empty plots, shaded cells, and the digits of its table."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sized
from typing import Any, TypeVar, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from paper_repro.errors import optional
from paper_repro.figures.layout import COLUMN, PAGE, headline

__all__ = [
    "BLUES",
    "DISTORTION",
    "LEAKAGE",
    "STYLE",
    "canvas",
    "draw_shaded",
    "drawing",
    "entry_text",
    "need",
    "on_two_lines",
    "panels",
    "rounded",
    "shade",
]

Draw = TypeVar("Draw", bound=Callable[..., Figure])

DISTORTION = "worst-case Hamming distortion D (probability that an entry is changed)"
LEAKAGE = "leakage (nats)"

# From white to a blue on which black is legible.
BLUES = ListedColormap(mpl.colormaps["Blues"](np.linspace(0, 0.5, 256)))

_ZERO = 1e-9

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "figure.dpi": 120,
    "savefig.dpi": 300,
    "svg.hashsalt": "paper_repro",  # else the ids inside differ from run to run
    "svg.fonttype": "path",
    "pdf.compression": 6,
    "pdf.fonttype": 42,  # TrueType: journals refuse Type 3
}


def drawing(*columns: str) -> Callable[[Draw], Draw]:
    """A decorator: what draws a table does so in the style of all figures. Raises ValueError if the table lacks a column."""

    def _decorate(draw: Draw) -> Draw:
        @functools.wraps(draw)
        def styled(table: pd.DataFrame, *args: Any, **kwargs: Any) -> Figure:
            missing = [column for column in columns if column not in table.columns]
            if missing:
                raise ValueError(
                    f"the table lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
                    f"it has {', '.join(map(str, table.columns))}"
                )
            with mpl.rc_context(STYLE):
                return draw(table, *args, **kwargs)

        return cast(Draw, styled)

    return _decorate


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """One empty plot of this size in inches, arranged when it is drawn."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def panels(
    count: int,
    most_across: int,
    size: Callable[[int, int], tuple[float, float]],
    title: str,
    xlabel: str = "",
    ylabel: str = "",
    sharex: bool = False,
    sharey: bool = False,
    subtitle: str = "",
) -> tuple[Figure, list[Axes]]:
    """A figure of so many plots in rows, with one headline and labels that all share.

    ``size`` gives its inches from the numbers of plots across and down. Places without a plot are left blank at the end of the
    list.
    """
    across, down = min(most_across, count), math.ceil(count / most_across)
    figure = Figure(figsize=size(across, down), layout="constrained")
    places = list(figure.subplots(down, across, squeeze=False, sharex=sharex, sharey=sharey).ravel())
    for axes in places[count:]:
        axes.axis("off")
    if xlabel:
        figure.supxlabel(xlabel, fontsize=9)
    if ylabel:
        figure.supylabel(ylabel, fontsize=9)
    headline(figure, title, subtitle)
    return figure, places


@drawing()
def draw_shaded(table: pd.DataFrame, title: str, xlabel: str, form: str, subtitle: str = "") -> Figure:
    """A table of numbers, each shaded by its size and written out by the format ``form``; the index names the rows.

    As wide as a column, or as a page where there are many columns or long names.
    """
    rows, columns = table.shape
    cell = max(0.45, 0.07 * max(len(str(name)) for name in table.columns))  # inches
    narrow = 0.4 + 0.07 * max(len(str(name)) for name in table.index) + cell * columns < COLUMN
    figure, axes = canvas(COLUMN if narrow else PAGE, 1.2 + 0.26 * rows)
    numbers = table.to_numpy(dtype=float)
    shade(axes, table, form, darkest=float(numbers[np.isfinite(numbers)].max(initial=1e-9)), fontsize=8)
    axes.set(xlabel=xlabel)
    headline(figure, title, subtitle)
    return figure


def shade(axes: Axes, table: pd.DataFrame, form: str, darkest: float, fontsize: float) -> None:
    """Numbers as shaded cells, from white at 0 to a blue on which black is legible at ``darkest`` and above; zeros are blank.

    The font size is in points.
    """
    seaborn = optional("seaborn", "plot")
    axes.grid(False)
    texts = table.map(entry_text, form=form)
    seaborn.heatmap(
        table.clip(upper=darkest), ax=axes, annot=texts, fmt="", cmap=BLUES, cbar=False, linewidths=0.5,
        linecolor="white", vmin=0, vmax=darkest, annot_kws={"size": fontsize, "color": "black"},
    )  # fmt: skip
    axes.set(xlabel="", ylabel="")
    axes.tick_params(left=False, bottom=False, labelrotation=0)


def entry_text(value: float, form: str) -> str:
    """A dimensionless number as it is written in a shaded cell: by the format ``form``, or not at all if it is zero.

    >>> entry_text(0.25, "{:.3f}"), entry_text(1e-12, "{:.3f}")
    ('0.250', '')
    """
    return form.format(value) if abs(value) > _ZERO else ""


def rounded(frame: pd.DataFrame, decimals: int, **columns: int) -> pd.DataFrame:
    """A table rounded to the digits that are certified, of some columns to others; what is left of a zero is 0.

    >>> rounded(pd.DataFrame({"a": [0.126, -0.004], "b": [0.126, 1.0]}), 2, b=1).to_dict("list")
    {'a': [0.13, 0.0], 'b': [0.1, 1.0]}
    """
    numbers = frame.select_dtypes("float").columns
    digits = {column: columns.get(str(column), decimals) for column in numbers}
    return frame.assign(**{str(column): frame[column].round(digits[column]) + 0.0 for column in numbers})


def on_two_lines(name: str) -> str:
    r"""A long name, its last two words on a line of their own.

    >>> on_two_lines("approximate differential privacy")
    'approximate\ndifferential privacy'
    """
    words = name.rsplit(" ", 2) if len(name) > 22 else [name]
    return f"{words[0]}\n{' '.join(words[1:])}" if len(words) > 1 else name


def need(things: Sized, what: str) -> None:
    """Raises ValueError if a table is asked for of no ``what``."""
    if not len(things):
        raise ValueError(f"give at least one {what}; there is none to tabulate")
