"""nbval compares: a wrong number in a stored output is found, and a notebook without outputs is refused beside it."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from paper_repro.paths import NOTEBOOKS, ROOT
from tests.reproduce import small

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbval")
test_notebooks = pytest.importorskip("tests.reproduce.test_notebooks")


@pytest.fixture
def notebook(tmp_path):
    return nbformat.read(small.make_notebook(tmp_path / "small.ipynb", stored=True), as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def nbval(*paths):
    """What ``make test`` runs, on notebooks elsewhere; ``-c``: with the project's settings there too."""
    options = re.search(r"^NOTEBOOK_TESTS = (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    command = [sys.executable, "-m", "pytest", "-q", *shlex.split(options), "-c", ROOT / "pyproject.toml", *paths]
    # Not as a part of the test run that calls this.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MPLBACKEND"))}
    environment |= dict(re.findall(r"@(JUPYTER_\w+)=(\w+) .*NOTEBOOK_TESTS", (ROOT / "Makefile").read_text()))
    command += ["-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)


def test_a_wrong_number_in_a_stored_output_is_found(notebook, tmp_path):
    nbformat.write(notebook, tmp_path / "right.ipynb")
    notebook.cells[2].outputs[0].text = notebook.cells[2].outputs[0].text.replace("0.25", "0.26")
    nbformat.write(notebook, tmp_path / "planted.ipynb")

    result = nbval(tmp_path / "right.ipynb", tmp_path / "planted.ipynb")

    assert result.returncode == 1, result.stdout + result.stderr
    # That cell alone: the others were run, and compared too.
    assert re.search(r"\b1 failed, 3 passed\b", result.stdout), result.stdout
    assert re.search(r"^FAILED .*Cell 1\b", result.stdout, re.MULTILINE), result.stdout
    assert "budget 0.26" in result.stdout


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: [cell.update(outputs=[]) for cell in cells],
        lambda cells: cells[-1].update(execution_count=None),  # nbval skips the comparison of a cell without a count
        lambda cells: [cell.update(outputs=[], execution_count=None) for cell in cells],  # stripped
        lambda cells: cells[-1].update(outputs=[nbformat.v4.new_output("error", ename="AssertionError", evalue="")]),
    ],
    ids=["outputs", "one-count", "stripped", "error"],
)
def test_a_notebook_that_was_not_run_to_its_end_is_refused(notebook, change):
    test_notebooks.check_outputs_are_stored(notebook)
    change(code_cells(notebook))
    with pytest.raises(AssertionError):
        test_notebooks.check_outputs_are_stored(notebook)


def test_the_makefile_runs_nbval_over_all_notebooks():
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    assert re.search(r"-m pytest .*\$\(NOTEBOOK_TESTS\) .*\bnotebooks$", recipe, re.MULTILINE)
    options = re.search(r"^NOTEBOOK_TESTS = (.+)$", makefile, re.MULTILINE)[1].split()
    assert "--nbval" in options
    assert "--nbval-lax" not in options


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_no_cell_opts_out_of_the_comparison(path):
    for cell in code_cells(nbformat.read(path, as_version=4)):
        assert not re.search(r"nbval", cell.source, re.IGNORECASE)
        assert not [tag for tag in cell.metadata.get("tags", []) if "nbval" in tag or tag == "raises-exception"]
