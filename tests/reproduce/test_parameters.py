"""Parameters of a notebook: misspelt ones and wrong types are errors, in the function and in papermill runs."""

import json
import os
import re
import subprocess
import sys

import pytest

from paper_repro.reproduce.parameters import check_parameters
from tests.reproduce import small

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
        ("pionts = 300", "must be one of points, budget, show, title, names; got 'pionts'. Did you mean 'points'?"),
        ("# Parameters\nTitle = 'Mine'\npoints = 100", "title, names; got 'Title'. Did you mean 'title'?"),
        ("points = 100\nxyzzy = 1", "points, budget, show, title, names; got 'xyzzy'. Choose one of these."),
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
    with pytest.raises(
        ValueError, match=re.escape(f"the notebook's parameter {name} must be of type {kind}; got {value!r}. Write ")
    ):
        check(DECLARED, f"{name} = {value!r}", **{name: value})


@pytest.mark.parametrize(
    "values", [{"budget": 1}, {"points": 0}, {"names": []}, {"title": ""}, {"show": False}, {"budget": float("inf")}]
)
def test_values_of_the_type_pass_whatever_they_are(values):
    check(DECLARED, **values)


def test_a_type_that_papermill_does_not_know_takes_any_value():
    check("points: list[int] = [1]", points="anything")


def test_papermill_fails_on_a_misspelt_parameter_and_leaves_earlier_figures(tmp_path):
    pytest.importorskip("papermill")
    (tmp_path / "curve.csv").write_text("earlier")
    command = [sys.executable, "-m", "papermill", small.make_notebook(tmp_path / "curves.ipynb"), "executed.ipynb"]
    command += ["--no-progress-bar", "-k", "python3", "-y", json.dumps({"bugdet": 1.0, "output_dir": str(tmp_path)})]
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    finished = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert finished.returncode != 0
    message = "the notebook's parameter must be one of budget, names, output_dir; got 'bugdet'. Did you mean 'budget'?"
    assert message in finished.stderr
    assert (tmp_path / "curve.csv").read_text() == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"curve.csv", "curves.ipynb", "executed.ipynb"}
