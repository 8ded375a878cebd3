"""Sliders in JupyterLab, moved by the keys of a real browser; a line of text everywhere else."""

import io
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from paper_repro import SourceSet
from paper_repro.figures.class_iii_sets import class_page
from paper_repro.figures.sliders import frames, matrix_html, with_sliders
from paper_repro.figures.start_here import best_page
from paper_repro.figures.style import canvas
from paper_repro.paths import NOTEBOOKS
from tests.browser import PROGRAM, Browser

CELLS = len(json.loads((NOTEBOOKS / "00_start_here.ipynb").read_text())["cells"])
# The page has its kernel, which waits for something to do.
KERNEL = (
    "fetch('/api/kernels').then((told) => told.json())"
    ".then((all) => all.some((each) => each.connections > 0 && each.execution_state === 'idle'))"
)
FOCUS = "document.querySelector('.jp-Notebook').focus()"
HANDLE = "document.querySelector('.jp-OutputArea .noUi-handle')"
SHOWN = "document.querySelector('.jp-OutputArea .widget-output img, .jp-OutputArea .jupyter-widgets img')"


def test_a_line_of_text_elsewhere(capsys):
    with_sliders(print, distortion=(0.1, 0.7, 0.3), order=(1, 10, 2))
    assert (
        capsys.readouterr().out == "In JupyterLab, sliders are here: distortion from 0.1 to 0.7, order from 1 to 10.\n"
    )


def test_an_empty_range():
    with pytest.raises(ValueError, match=r"the slider order must go from a smaller to a larger number, got 2 and 2"):
        with_sliders(print, order=(2, 2, 2))


@pytest.mark.parametrize(
    ("begin", "values"),
    [
        (
            lambda: best_page([SourceSet([0.6, 0.3, 0.1], name="one"), SourceSet(np.eye(3), name="none")]),
            [(0.2,), (0.35,)],
        ),
        (lambda: class_page([[0.6, 0.3, 0.1], [0.5, 0.1, 0.4]]), [(0.2, 0.7), (0.6, 0.2)]),
    ],
    ids=["best", "class"],
)
def test_nothing_is_left_of_where_a_slider_was(begin, values):
    moved, fresh = begin(), begin()
    before, after = (moved(*value) for value in values)
    assert before != after == fresh(*values[-1])


def test_a_frame_is_what_would_be_drawn_anew():
    figure, axes = canvas(3.5, 2.0)
    axes.set(xlim=(0, 1), ylim=(0, 1), title="A title")
    (point,) = axes.plot([0.5], [0.5], "o")
    frame = frames(figure, [point])
    first = frame()
    point.set_data([0.7], [0.2])
    second, whole = frame(), io.BytesIO()
    figure.savefig(whole, dpi=96)
    kept, drawn, other = (
        np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), int) for png in (second, whole.getvalue(), first)
    )
    assert np.abs(kept - drawn).max() <= 2 < np.abs(kept - other).max()


def test_a_matrix_is_shaded_and_its_letters_are_text():
    said = matrix_html(np.array([[0.75, 0.25], [0.0, 1.0]]), ["<yes>", "no"], "A & B")
    table = ElementTree.fromstring(said)
    assert [cell.text for cell in table.iter("td")] == ["0.750", "0.250", None, "1.000"]
    assert [cell.text for cell in table.iter("th")][1:3] == ["<yes>", "no"]
    assert table.find("caption").text == "A & B"
    shades = [cell.get("style").rpartition(" ")[2] for cell in table.iter("td")]
    assert len({*shades}) == 4


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab that serves a copy of the notebooks and nothing of the user's."""
    shutil.copytree(NOTEBOOKS, tmp_path / "notebooks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    options = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "root_dir": tmp_path / "notebooks"}
    command += [
        *(f"--ServerApp.{name}={value}" for name, value in options.items()),
        f"--IdentityProvider.token={token}",
    ]
    homes = {name: str(tmp_path / name) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    environment = {**os.environ, **homes}
    with (
        (tmp_path / "lab.log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as server,
    ):
        while not is_open(port):
            assert server.poll() is None, (tmp_path / "lab.log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/lab/tree/00_start_here.ipynb?reset&token={token}"
        server.terminate()


@pytest.mark.skipif(not PROGRAM, reason="there is no Chromium here: apt-get install chromium")
def test_a_slider_draws_the_figure_anew(lab):
    pytest.importorskip("jupyterlab")
    with Browser() as page:
        page.open(lab)
        page.resize(1280, 8000)  # JupyterLab renders only what is seen
        page.wait(KERNEL)
        for _ in range(CELLS):
            page.run(FOCUS)
            page.press("Shift+Enter")
        page.wait(f"!!{HANDLE}")
        page.wait(f"{SHOWN}?.alt.includes('D = 0.35.')")
        page.run(f"{HANDLE}.focus()")
        page.press("ArrowRight")
        page.wait(f"{SHOWN}?.alt.includes('D = 0.36.')")
