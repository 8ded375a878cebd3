"""How every figure is styled, rendered and saved: byte for byte the same each time, with its table beside it."""

from __future__ import annotations

import functools
import io
import math
import textwrap
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any, TypeVar, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_repro.errors import optional
from paper_repro.paths import ROOT
from paper_repro.reproduce.files import check_file_name, replace_files

__all__ = [
    "COLORS",
    "DASHES",
    "DISTORTION",
    "HATCHES",
    "LEAKAGE",
    "canvas",
    "draw_shaded",
    "drawing",
    "need",
    "on_two_lines",
    "panels",
    "publish",
    "rounded",
    "save_figure",
    "shade",
]

Draw = TypeVar("Draw", bound=Callable[..., Figure])

# Okabe and Ito's colors: told apart by all forms of color vision, and ordered here from dark to light for grey print.
# Lines differ in dashes too, so that color is never the only sign.
COLORS = ["#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
DASHES: list[Any] = [
    "-",
    (0, (6, 2)),
    (0, (1, 1.2)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1.5)),
    (0, (8, 2, 1, 2, 1, 2)),
    (0, (1, 3.5)),
]
HATCHES = ["////", "\\\\\\\\", "....", "xxxx", "----", "oooo"]

DISTORTION = "worst-case Hamming distortion D (probability that a letter is changed)"
LEAKAGE = "leakage (nats)"

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
    "savefig.dpi": 160,
    "svg.hashsalt": "paper_repro",  # else the ids inside differ from run to run
    "svg.fonttype": "path",
    "pdf.compression": 6,
}


def publish(
    figure: Figure,
    table: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    description: str,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Show a figure in a notebook, with alternative text, and save it as :func:`save_figure` does, with its errors."""
    from IPython.display import Image, display

    save_figure(figure, table, name, output_dir, description, inputs)
    png = _rendered(figure, "png", description)
    display(Image(data=png, format="png", width=720, alt=description))  # type: ignore[no-untyped-call]


def save_figure(
    figure: Figure,
    table: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    description: str,
    inputs: Iterable[str | Path] = (),
) -> list[Path]:
    """Save a figure as PNG, SVG and PDF with its table as CSV; all four or none, earlier files being replaced at the end.

    Parameters
    ----------
    figure : Figure
    table : DataFrame
        What the figure was drawn from.
    name : str
        File name without ending.
    output_dir : str or Path
        Made if it does not exist; the empty string saves nothing.
    description : str
        Alternative text, stored in the three pictures.
    inputs : paths
        Data files behind the table; those of the repository are listed in ``<name>.inputs`` for the manifest.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ValueError
        If the name is not that of a file in the folder.
    OSError
        If the folder cannot be made or written into; what was there stays as it was.
    """
    check_file_name(name)
    if not output_dir:
        return []
    contents = {f".{kind}": _rendered(figure, kind, description) for kind in ("png", "svg", "pdf")}
    contents[".csv"] = table.to_csv(index=False, lineterminator="\n").encode()
    if listed := [line for line in map(_relative, inputs) if line]:
        contents[".inputs"] = "".join(f"{line}\n" for line in listed).encode()
    written = {Path(output_dir) / f"{name}{suffix}": content for suffix, content in contents.items()}
    replace_files(written)
    if ".inputs" not in contents:
        (Path(output_dir) / f"{name}.inputs").unlink(missing_ok=True)  # of an earlier run
    return list(written)


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
) -> tuple[Figure, list[Axes]]:
    """A figure of so many plots in rows, with one title and labels that all share.

    ``size`` gives its inches from the numbers of plots across and down. Places without a plot are left blank at the end of the
    list.
    """
    across, down = min(most_across, count), math.ceil(count / most_across)
    figure = Figure(figsize=size(across, down), layout="constrained")
    places = list(figure.subplots(down, across, squeeze=False, sharex=sharex).ravel())
    for axes in places[count:]:
        axes.axis("off")
    if xlabel:
        figure.supxlabel(xlabel, fontsize=9)
    if ylabel:
        figure.supylabel(ylabel, fontsize=9)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure, places


@drawing()
def draw_shaded(table: pd.DataFrame, title: str, xlabel: str, form: str) -> Figure:
    """A table of numbers, each shaded by its size and written out by the format ``form``; the index names the rows."""
    rows, columns = table.shape
    numbers = table.to_numpy(dtype=float)
    largest = float(numbers[np.isfinite(numbers)].max(initial=1e-9))
    # Inches: a cell is as wide as its column's name asks for; the names of the rows stand beside.
    cell = max(0.62, 0.09 * max(len(str(name)) for name in table.columns))
    inside = max(3.2, cell * columns)
    beside = 0.4 + 0.08 * max(len(str(name)) for name in table.index)
    heading, footing = (textwrap.wrap(text, int(12.5 * inside)) for text in (title, xlabel))
    figure, axes = canvas(beside + inside, 0.65 + 0.33 * rows + 0.17 * (len(heading) + len(footing)))
    shade(axes, table, form, darkest=2.2 * largest, fontsize=8)
    axes.set(xlabel="\n".join(footing), title="\n".join(heading))
    return figure


def shade(axes: Axes, table: pd.DataFrame, form: str, darkest: float, fontsize: float) -> None:
    """Numbers as shaded cells, from white at 0 to the darkest blue at ``darkest`` and above; the font size in points."""
    seaborn = optional("seaborn", "plot")
    axes.grid(False)
    seaborn.heatmap(
        table.clip(upper=darkest), ax=axes, annot=table.map(form.format), fmt="", cmap="Blues", cbar=False, linewidths=0.5,
        linecolor="white", vmin=0, vmax=darkest, annot_kws={"size": fontsize},
    )  # fmt: skip
    axes.set(xlabel="", ylabel="")
    axes.tick_params(left=False, bottom=False, labelrotation=0)


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


def _rendered(figure: Figure, kind: str, description: str) -> bytes:
    """The file's bytes; nothing in them tells when or where it was drawn."""
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None, "Description": description},
        "svg": {"Date": None, "Creator": None, "Description": description},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": description},
    }
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # arranged once, for all kinds of file
        figure.savefig(buffer, format=kind, metadata=metadata[kind])
    return buffer.getvalue()


def _relative(path: str | Path) -> str:
    """A path inside the repository as the manifest names it; empty for files elsewhere."""
    resolved = Path(path).resolve()
    return resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else ""
