"""Numbers and figures that follow sliders, where a kernel serves JupyterLab; one line everywhere else, as stored and compared.

A figure takes a second to arrange and draw, too long for a hand that moves. So it is drawn once, and of it only what moves again;
what is written is HTML.
"""

from __future__ import annotations

import html
import io
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from paper_repro.errors import optional
from paper_repro.figures.style import BLUES, STYLE, entry_text
from paper_repro.types import FloatArray

__all__ = ["frames", "matrix_html", "with_sliders"]

# Jupyter's server sets it for the kernels of its notebooks; those of papermill and nbval have none.
_SESSION = "JPY_SESSION_NAME"
_STEPS = 50  # of a range, at least; a step is a power of ten
_QUICK = 96  # dots per inch


def frames(figure: Figure, moving: Sequence[Artist]) -> Callable[[], bytes]:
    """A function that gives a figure as PNG, as it is then; of all but what moves, the pixels are kept."""
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(_QUICK)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for artist in moving:
        artist.set_animated(True)
    canvas.draw()
    kept = canvas.copy_from_bbox(figure.bbox)

    def frame() -> bytes:
        canvas.restore_region(kept)
        for artist in moving:
            figure.draw_artist(artist)
        png = io.BytesIO()
        Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").save(png, "png", compress_level=1)
        return png.getvalue()

    return frame


def matrix_html(matrix: FloatArray, letters: Sequence[object], heading: str) -> str:
    """Probabilities, shape (letters, letters), as a shaded table: row = true letter, column = published letter.

    >>> matrix_html(np.eye(2), ["yes", "no"], "told").count("1.000")
    2
    """
    names = [f"<th>{html.escape(str(letter))}</th>" for letter in letters]
    rows = [
        f"<tr>{name}"
        + "".join(
            f'<td style="color: #000; background: {to_hex(BLUES(value))}">{entry_text(value, "{:.3f}")}</td>'
            for value in row
        )
        + "</tr>"
        for name, row in zip(names, matrix.tolist(), strict=True)
    ]
    style = "display: inline-table; margin: 0 1.5em 1em 0; font-variant-numeric: tabular-nums"
    return (
        f'<table style="{style}"><caption>{html.escape(heading)}</caption>'
        f"<tr><th></th>{''.join(names)}</tr>{''.join(rows)}</table>"
    )


def _step_and_value(low: float, high: float, start: float) -> tuple[float, float]:
    """The steps of a slider, and the one nearest to where it is to begin.

    >>> _step_and_value(0.02, 0.7, 0.3504)
    (0.01, 0.35)
    """
    digits = math.ceil(math.log10(_STEPS / (high - low)))
    steps = round((min(max(start, low), high) - low) * 10.0**digits)
    return 10.0**-digits, min(high, round(low + steps * 10.0**-digits, digits + 12))


def with_sliders(
    begin: Callable[..., Callable[..., str]], *fixed: object, **ranges: tuple[float, float, float]
) -> None:
    """In JupyterLab, what follows sliders below them; elsewhere a line that tells of them.

    Parameters
    ----------
    begin : function
        Of ``fixed``; gives a function of the sliders' values, by name, that returns HTML. A ValueError that this one raises is
        shown in its place.
    **ranges : three numbers each
        Smallest and largest value of a slider, and where it begins: at the nearest step, as a browser would move it there.

    Raises
    ------
    ValueError
        If a range is empty.

    >>> with_sliders(print, distortion=(0.1, 0.7, 0.3))
    In JupyterLab, a slider is here: distortion from 0.1 to 0.7.
    """
    for name, (low, high, _) in ranges.items():
        if not low < high:
            raise ValueError(f"the slider {name} must go from a smaller to a larger number, got {low} and {high}")
    if _SESSION not in os.environ:
        names = ", ".join(f"{name} from {low:g} to {high:g}" for name, (low, high, _) in ranges.items())
        print(f"In JupyterLab, {'a slider is' if len(ranges) == 1 else 'sliders are'} here: {names}.")
        return
    from IPython.display import display

    widgets = optional("ipywidgets", "notebooks")
    sliders = {
        name: widgets.FloatSlider(
            value=value, min=low, max=high, step=step, description=name, readout_format=".3f"
        )
        for name, (low, high, start) in ranges.items()
        for step, value in [_step_and_value(low, high, start)]
    }  # fmt: skip
    with mpl.rc_context(STYLE):
        page = begin(*fixed)
    shown = widgets.HTML()

    def follow(_: object = None) -> None:
        try:
            shown.value = page(**{name: slider.value for name, slider in sliders.items()})
        except ValueError as error:
            shown.value = f"<p>{html.escape(str(error))}</p>"

    for slider in sliders.values():
        slider.observe(follow, "value")
    follow()
    display(widgets.VBox([*sliders.values(), shown]))  # type: ignore[no-untyped-call]
