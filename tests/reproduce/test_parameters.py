"""Parameters of a notebook: misspelt ones and wrong types are errors, in the function and in papermill runs."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from paper_repro.paths import NOTEBOOKS
from paper_repro.reproduce.parameters import check_parameters

DECLARED = """\
# What to draw
points: int = 200  # of the grid
budget: float = 0.25
show: bool = True
title: str = "Curves"
names: list = ["P_II_6"]
"""
DEFAULTS = {"points": 200, "budget": 0.25, "show": True, "title": "Curves", "names": ["P_II_6"]}
CALL = "from paper_repro.reproduce.parameters import check_parameters\ncheck_parameters(globals())"


def check(*cells, **values):
    """What a notebook with these cells before its check would do; the names have these values."""
    check_parameters({"In": ["", *cells, CALL], **DEFAULTS, **values})


@pytest.mark.parametrize(
    "cells",
    [
        (DECLARED,),
        (DECLARED, "# Parameters\npoints = 100\n"),
        (DECLARED, "# Parameters\npoints = 100\n", "title = 'Mine'"),
        ("%matplotlib inline", "import numpy as np\nx = np.ones(3)", DECLARED),
        ("%%time\npass", "# only a comment", DECLARED),
        ("", DECLARED, "points = 100"),
    ],
    ids=["declared", "injected", "changed-twice", "after-imports", "after-magics", "after-an-empty-cell"],
)
def test_declared_parameters_pass(cells):
    check(*cells)


def test_what_comes_after_the_parameters_is_not_one():
    check(DECLARED, "points = 100", "import os\nunknown = 1", "other = 2")


@pytest.mark.parametrize(
    ("injected", "message"),
    [
        ("pionts = 300", "unknown notebook parameter 'pionts', did you mean 'points'? This notebook has points, budget,"),
        ("# Parameters\nTitle = 'Mine'\npoints = 100", "unknown notebook parameter 'Title', did you mean 'title'?"),
        ("points = 100\nxyzzy = 1", "unknown notebook parameter 'xyzzy'; This notebook has points, budget, show, title, names"),
    ],
    ids=["misspelt", "capital", "far-from-any"],
)  # fmt: skip
def test_an_unknown_parameter_is_named_and_the_nearest_one_suggested(injected, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check(DECLARED, injected)


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("points", "int", 100.5), ("points", "int", "100"), ("points", "int", True), ("points", "int", None),
        ("budget", "float", "0.25"), ("budget", "float", False), ("budget", "float", [0.25]),
        ("show", "bool", 1), ("show", "bool", "False"), ("title", "str", 4), ("title", "str", None),
        ("names", "list", "P_II_6"), ("names", "list", ("P_II_6",)), ("names", "list", {"P_II_6": 1}),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(name, kind, value):
    with pytest.raises(ValueError, match=re.escape(f"notebook parameter {name} must be of type {kind}, got {value!r}")):
        check(DECLARED, f"{name} = {value!r}", **{name: value})


@pytest.mark.parametrize(
    "values", [{"budget": 1}, {"points": 0}, {"names": []}, {"title": ""}, {"show": False}, {"budget": float("inf")}]
)
def test_values_of_the_type_pass_whatever_they_are(values):
    check(DECLARED, **values)


def test_a_type_that_papermill_does_not_know_takes_any_value():
    check("points: list[int] = [1]", points="anything")


def run(tmp_path, notebook, **parameters):
    """A committed notebook, as README runs it: papermill in a process of its own, from another folder."""
    if importlib.util.find_spec("papermill") is None:
        pytest.skip("papermill is not installed")
    command = [sys.executable, "-m", "papermill", NOTEBOOKS / notebook, "executed.ipynb", "-k", "python3"]
    command += ["--cwd", NOTEBOOKS, "--no-progress-bar", "-y", json.dumps(parameters)]
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    finished = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    return finished.returncode, finished.stderr


def test_papermill_fails_on_a_misspelt_parameter_and_leaves_earlier_figures(tmp_path):
    (tmp_path / "figure_6.csv").write_text("earlier")
    status, said = run(tmp_path, "privacy_notions.ipynb", pionts=10, output_dir=str(tmp_path))
    assert status != 0
    assert (
        "ValueError: unknown notebook parameter 'pionts', did you mean 'points'? This notebook has source_set," in said
    )
    assert (tmp_path / "figure_6.csv").read_text() == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"figure_6.csv", "executed.ipynb"}


def test_papermill_fails_on_an_unknown_source_set(tmp_path):
    status, said = run(tmp_path, "leakage_curves.ipynb", source_sets=["P_II_7"], output_dir=str(tmp_path))
    assert status != 0
    assert "ValueError: unknown source set 'P_II_7'; known are P_I_2, P_II_4," in said
    assert {path.name for path in tmp_path.iterdir()} == {"executed.ipynb"}


def test_papermill_draws_a_set_of_ones_own_on_another_grid(tmp_path):
    (tmp_path / "eyes.csv").write_text("# counted by hand\nbrown,blue,green\n0.6,0.3,0.1\n0.5,0.3,0.2\n")
    status, said = run(
        tmp_path,
        "leakage_curves.ipynb",
        source_sets=[str(tmp_path / "eyes.csv"), "P_IIIa_6"],
        smallest_distortion=0.1,
        largest_distortion=0.6,
        points=11,
        figure_name="mine",
        title="Mine",
        output_dir=str(tmp_path / "out"),
    )
    assert status == 0, said
    saved = {path.name: path.read_text() for path in (tmp_path / "out").iterdir() if path.suffix in (".csv", ".inputs")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "mine.csv", "mine.inputs", "mine.pdf", "mine.png", "mine.svg"
    }  # fmt: skip
    assert saved["mine.inputs"] == "data/source_sets/P_IIIa_6.csv\n"
    rows = [line.split(",") for line in saved["mine.csv"].splitlines()[1:]]
    assert {row[0] for row in rows} == {"eyes", "P_IIIa_6"}
    assert {float(row[3]) for row in rows} >= {0.1, 0.15, 0.55, 0.6}
    # Nothing leaks from 1 - 0.5 on: the likeliest letter has at least 0.5 in every member.
    assert ["eyes", "II", "differential privacy", "0.5", "0.0", "0.0", "closed"] in rows
