"""Sliders in JupyterLab, moved by the keys of a real browser; a line of text everywhere else."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time

import pytest

from paper_repro.figures.sliders import with_sliders
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
        before = page.wait(f"{SHOWN}?.alt")
        page.run(f"{HANDLE}.focus()")
        page.press("ArrowRight")
        page.wait(f"{SHOWN}?.alt && {SHOWN}.alt !== {before!r}")
        assert "D = 0.36." in page.run(f"{SHOWN}.alt")
