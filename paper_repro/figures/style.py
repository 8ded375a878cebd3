"""How every figure is styled, rendered and saved: byte for byte the same each time, with its table beside it."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_repro.errors import optional
from paper_repro.paths import ROOT

if TYPE_CHECKING:
    from IPython.display import Image

__all__ = ["COLORS", "DASHES", "STYLE", "as_image", "canvas", "draw_grid", "need_columns", "save_figure"]

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

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "figure.dpi": 120,
    "savefig.dpi": 160,
    "svg.hashsalt": "paper_repro",  # else the ids inside differ from run to run
    "svg.fonttype": "path",
    "pdf.compression": 6,
}


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
    OSError
        If the folder cannot be made or written into; what was there stays as it was.
    """
    if not output_dir:
        return []
    folder = Path(output_dir)
    contents = {f".{kind}": _rendered(figure, kind, description) for kind in ("png", "svg", "pdf")}
    contents[".csv"] = table.to_csv(index=False, lineterminator="\n").encode()
    if listed := [line for line in map(_relative, inputs) if line]:
        contents[".inputs"] = "".join(f"{line}\n" for line in listed).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in contents:
            if (folder / f"{name}{suffix}").is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name}{suffix} is a folder")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as waiting:
            for suffix, content in contents.items():
                (Path(waiting) / f"{name}{suffix}").write_bytes(content)
            if ".inputs" not in contents:
                (folder / f"{name}.inputs").unlink(missing_ok=True)  # of an earlier run
            for suffix in contents:
                os.replace(Path(waiting) / f"{name}{suffix}", folder / f"{name}{suffix}")
    except OSError as error:
        raise OSError(f"cannot write {name} into {folder}: {error.strerror}; name a folder you may write to") from None
    return [folder / f"{name}{suffix}" for suffix in contents]


def as_image(figure: Figure, description: str) -> Image:
    """The figure as a notebook shows it: a PNG with alternative text."""
    from IPython.display import Image

    return Image(  # type: ignore[no-untyped-call]
        data=_rendered(figure, "png", description), format="png", width=720, alt=description
    )


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """One empty plot of this size in inches, arranged when it is drawn."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def draw_grid(table: pd.DataFrame, title: str, xlabel: str, form: str) -> Figure:
    """A table of numbers, each shaded by its size and written out by the format ``form``."""
    seaborn = optional("seaborn", "plot")
    rows, columns = table.shape
    numbers = table.to_numpy(dtype=float)
    largest = float(numbers[np.isfinite(numbers)].max(initial=1e-9))
    # Inches: a cell is as wide as its column's name asks for; the names of the rows stand beside.
    cell = max(0.62, 0.09 * max(len(str(name)) for name in table.columns))
    inside = max(3.2, cell * columns)
    beside = 0.4 + 0.08 * max(len(str(name)) for name in table.index)
    heading, footing = _wrapped(title, inside), _wrapped(xlabel, inside)
    with mpl.rc_context(STYLE):
        figure, axes = canvas(beside + inside, 0.65 + 0.33 * rows + 0.17 * (len(heading) + len(footing)))
        annotations = table.map(form.format)
        seaborn.heatmap(
            table.clip(upper=largest), ax=axes, annot=annotations, fmt="", cmap="Blues", cbar=False, linewidths=0.5,
            linecolor="white", vmin=0, vmax=2.2 * largest, annot_kws={"size": 8},
        )  # fmt: skip
        axes.set(xlabel="\n".join(footing), ylabel="", title="\n".join(heading))
        axes.tick_params(left=False, bottom=False, labelrotation=0)
    return figure


def _wrapped(text: str, width: float) -> list[str]:
    """Lines of the text that are at most so many inches wide."""
    return textwrap.wrap(text, int(12.5 * width))


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


def need_columns(table: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise a ValueError that names the columns a table lacks, if it lacks any."""
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(
            f"the table lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
            f"it has {', '.join(map(str, table.columns))}"
        )


def _relative(path: str | Path) -> str:
    """A path inside the repository as the manifest names it; empty for files elsewhere."""
    resolved = Path(path).resolve()
    return resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else ""
