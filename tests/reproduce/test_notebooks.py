"""What nbval cannot show: a notebook without stored outputs is compared with nothing, and passes."""

import ast

import pytest

from paper_repro.paths import NOTEBOOKS
from paper_repro.reproduce.runs import NotebookRun, load_runs

nbformat = pytest.importorskip("nbformat")
papermill = pytest.importorskip("papermill")

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.fixture(params=PATHS, ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def check_outputs_are_stored(notebook):
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


def test_outputs_are_stored(notebook):
    check_outputs_are_stored(notebook)


def test_the_kernel_has_the_name_every_machine_knows(notebook):
    assert notebook.metadata.kernelspec.name == "python3"


def test_parameters_are_what_papermill_finds(notebook, path):
    (cell,) = [cell for cell in code_cells(notebook) if "parameters" in cell.metadata.get("tags", [])]
    statements = ast.parse(cell.source).body
    assert all(isinstance(statement, ast.AnnAssign) for statement in statements)
    assert [statement.target.id for statement in statements] == list(papermill.inspect_notebook(path))
    assert NotebookRun("defaults", path).values is not None


def test_logic_lives_in_the_library(notebook):
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef), cell.source


def test_plumbing_is_folded_away_and_parameters_are_not(notebook):
    cells = code_cells(notebook)
    hidden = ["hide-input" in cell.metadata.get("tags", []) for cell in cells]
    assert hidden == [cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in cells]
    for cell, folded in zip(cells, hidden, strict=True):
        plumbing = "check_parameters(" in cell.source or cell is cells[-1]
        shows = (
            "publish(" in cell.source or "publish_table(" in cell.source
        )  # what draws a picture may be folded away too
        assert folded == plumbing or (folded and shows), cell.source


def test_every_check_fails_with_a_sentence(notebook):
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Assert):
                assert isinstance(node.msg, ast.Constant | ast.JoinedStr), ast.unparse(node)
                assert ast.unparse(node.msg).count(" ") >= 3, ast.unparse(node)


@pytest.mark.skipif(not PATHS, reason="no notebooks yet")
def test_the_list_of_runs_is_valid():
    assert load_runs()
