"""Sliders that draw a figure anew, where a kernel serves JupyterLab; one line everywhere else, as stored and compared."""

from __future__ import annotations

import os
from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure

from paper_repro.errors import optional
from paper_repro.figures.saving import show

__all__ = ["with_sliders"]

# Jupyter's server sets it for the kernels of its notebooks; those of papermill and nbval have none.
_SESSION = "JPY_SESSION_NAME"
_STEPS = 100
_QUICK = 96  # dots per inch


def with_sliders(
    picture: Callable[..., tuple[Figure, pd.DataFrame, str]], *fixed: object, **ranges: tuple[float, float, float]
) -> None:
    """In JupyterLab, a figure under sliders that draw it anew; elsewhere a line that tells of them.

    Parameters
    ----------
    picture : function
        Of ``fixed`` and of the sliders' values, by name; gives a figure, its table and its alternative text. A ValueError that it
        raises is shown in the figure's place.
    **ranges : three numbers each
        Smallest and largest value of a slider, and where it begins; moved into the range if it lies outside.

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

    def redraw(**values: float) -> None:
        try:
            figure, _, text = picture(*fixed, **values)
        except ValueError as error:
            print(error)
        else:
            show(figure, text, dpi=_QUICK, pil_kwargs={})

    # Each value once it rests: a figure takes longer to draw than a slider to move.
    sliders = {
        name: widgets.FloatSlider(
            value=min(max(start, low), high), min=low, max=high, step=(high - low) / _STEPS, description=name,
            readout_format=".3f", continuous_update=False,
        )
        for name, (low, high, start) in ranges.items()
    }  # fmt: skip
    display(widgets.VBox([*sliders.values(), widgets.interactive_output(redraw, sliders)]))  # type: ignore[no-untyped-call]
