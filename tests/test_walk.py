"""From a CSV file to a figure: the walk that CONTRIBUTING tells is the one that the code takes, and nothing is done twice."""

import json
import re
import subprocess
import sys

import pytest

from paper_repro.paths import ROOT

# Runs a notebook's code for one source set, and prints which modules are entered, in order, how often the set's file is opened
# to be read as text, and how often its exact curve is computed. Calls while a module is being imported are no steps.
RUN = """
import json, os, sys

notebook, folder, source_set = sys.argv[1:]
cells = ["".join(cell["source"]) for cell in json.load(open(notebook))["cells"] if cell["cell_type"] == "code"]
package = os.path.join(os.getcwd(), "paper_repro") + os.sep
entered, curves, opened, importing = [], 0, 0, 0

def look(frame, event, _):
    global curves, importing
    code = frame.f_code
    if code.co_name == "_find_and_load" and "importlib" in code.co_filename:
        importing += {"call": 1, "return": -1}.get(event, 0)
    elif event == "call" and not importing and code.co_filename.startswith(package) and code.co_name != "<module>":
        module = code.co_filename.removeprefix(package)
        curves += module.endswith("exact_curves.py") and code.co_name == "_exact_curve"
        if module not in entered:
            entered.append(module)

def hear(event, args):
    global opened
    opened += event == "open" and str(args[0]).endswith(f"{source_set}.csv") and "b" not in str(args[1])

names = {"__name__": "__main__", "In": cells}
exec(cells[0], names)
names |= {"source_sets": [source_set], "points": 5, "output_dir": folder}
sys.addaudithook(hear)
sys.setprofile(look)
for cell in cells[1:]:
    exec(cell, names)
sys.setprofile(None)
json.dump({"entered": entered, "curves": curves, "opened": opened}, sys.stderr)
"""


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    command = [sys.executable, "-c", RUN, str(ROOT / "notebooks" / "02_leakage_curves.ipynb"), str(folder), "P_II_6"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (folder / "leakages_differential-privacy_P_II_6.png").exists()
    return json.loads(run.stderr.splitlines()[-1])


def modules_in(text):
    return re.findall(r"`paper_repro/([\w/]+\.py)`", text)


def test_the_walk_is_the_one_in_contributing(walk):
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## From data to figure\n")[2].partition("\n## ")[0]
    steps, beside = section.partition("\n\nAlong the way")[::2]
    assert len(re.findall(r"^\d+\. ", steps, re.MULTILINE)) == 10
    entered = walk["entered"][walk["entered"].index("sources.py") :]  # the data's way begins where they are read
    assert modules_in(steps) == [module for module in entered if module not in modules_in(beside)]
    assert set(modules_in(beside)) <= set(entered)
    assert len(modules_in(steps)) <= 14


def test_a_set_is_read_once_and_its_exact_curve_computed_once(walk):
    assert (walk["opened"], walk["curves"]) == (1, 1)
