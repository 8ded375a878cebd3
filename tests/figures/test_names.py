"""File names of figures: the paper's for what the paper shows, else after what was chosen, no two alike."""

import ast
import json

import pytest

from paper_repro import SourceSet, load_source_set
from paper_repro.figures import (
    class_iii_sets,
    database_leakage,
    robust_response,
    source_sets,
    start_here,
    your_own_data,
)
from paper_repro.figures.curves import cited_as
from paper_repro.paths import NOTEBOOKS
from paper_repro.reproduce.parameters import declared_parameters

OWN = SourceSet([0.5, 0.3, 0.2], name="my set")


def defaults(notebook):
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text())["cells"]
    cell = next(cell for cell in cells if "parameters" in cell["metadata"].get("tags", ()))
    return {name: ast.literal_eval(text) for name, (_, text) in declared_parameters("".join(cell["source"])).items()}


def class_iii(p):
    chosen = [
        ("classes", p["examples"]), ("regions", p["folded"]), ("folding", p["folded"]), ("unfolded", p["folded"]),
        ("coloring", p["colored"], p["colored_distortion"], p["suppressed"]), ("bounds", p["counterexample"]),
    ]  # fmt: skip
    return [class_iii_sets.cited_figure(*one).name for one in chosen]


def sources(p):
    sets = [load_source_set(name) if isinstance(name, str) else name for name in p["source_sets"]]
    chosen = [("breakpoints", sets), ("leakages", sets, p["notion"], *p["distortions"])]
    return [source_sets.cited_figure(*one).name for one in chosen]


def databases(p):
    chosen = [
        ("bound", p["bound_records"], *p["bound_values"]),
        ("neighbors", *p["values"], *p["individuals"]),
        ("scaled", *p["values"], len(p["individuals"]), p["leakage"]),
    ]
    return [database_leakage.cited_figure(*one).name for one in chosen]


def robust(p):
    source = p["source_set"]
    return [robust_response.cited_figure(load_source_set(source) if source != OWN else OWN, p["vertex"]).name]


def start(p):
    return [start_here.cited_figure(p["categories"], p["prior"], p["other_prior"], p["distortion"]).name]


def column(p):
    return [your_own_data.cited_figure(p["table"], p["column"]).name]


@pytest.mark.parametrize(
    ("notebook", "names", "papers", "others"),
    [
        (
            "03_class_iii_sets",
            class_iii,
            [*(f"kalantari_figure_{number}" for number in (1, 2, 3, 9, 8)), "kalantari_theorem_3"],
            [{"examples": [[[1, 0, 0]]], "folded": [[1, 0, 0]], "suppressed": 1, "counterexample": [[1, 0, 0]]}],
        ),
        (
            "01_source_sets",
            sources,
            ["breakpoints", "leakages"],
            [{"source_sets": [OWN]}, {"source_sets": ["P_I_6", "P_II_6"]}],
        ),
        (
            "09_database_leakage",
            databases,
            ["alvim_figure_3", "alvim_figure_4a", "alvim_figure_4b"],
            [{"bound_records": 20, "values": ["a", "b"]}, {"bound_values": [3], "individuals": ["Bob"]}],
        ),
        ("04_robust_response", robust, ["robust_response"], [{"vertex": 2}, {"source_set": OWN}]),
        ("00_start_here", start, ["start_here"], [{"distortion": 0.2}, {"prior": ["1/2", "1/4", "1/4"]}]),
        ("10_your_own_data", column, ["your_own_column"], [{"table": "mine.csv"}, {"column": "hair_color"}]),
    ],
)
def test_a_run_of_ones_own_never_has_the_name_of_the_papers_figure(notebook, names, papers, others):
    given = defaults(notebook)
    assert names(given) == papers
    found = [name for other in others for name in names({**given, **other})]
    assert len({*found, *papers}) == len(found) + len(papers)


def test_a_long_name_is_cut_and_told_from_others_that_begin_alike():
    names = [cited_as({}, "a" * 90, end, kind="curves").name for end in ("one", "two")]
    assert len({*names}) == 2
    assert {len(name) for name in names} == {80}
