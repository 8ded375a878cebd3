"""The floors of the package, as pyproject.toml lists them, and other rules of its plan."""

import ast
import re

import pytest

from paper_repro.paths import ROOT

SOURCES = sorted((ROOT / "paper_repro").rglob("*.py"))


def test_a_module_imports_only_from_floors_below():
    cli = pytest.importorskip("importlinter.cli")
    assert cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == cli.EXIT_STATUS_SUCCESS


def test_there_are_at_most_14_modules_at_the_top():
    modules = sorted(path.name for path in (ROOT / "paper_repro").glob("*.py") if path.name != "__init__.py")
    assert len(modules) <= 14, modules


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_reads_frames_or_renames_a_function(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets = node.targets if isinstance(node, ast.Assign) else []
        renamed = [target for target in targets if re.search(r"\.__(qual)?name__$", ast.unparse(target))]
        assert not renamed, f"line {node.lineno} gives a function another name"
        read = isinstance(node, ast.Attribute) and node.attr in ("_getframe", "currentframe", "stack", "f_back")
        owner = ast.unparse(node.value) if read else ""
        assert owner not in ("sys", "inspect") and not (read and node.attr == "f_back"), (
            f"line {node.lineno} reads frames"
        )


def test_oracles_use_no_code_of_the_package():
    for path in (ROOT / "tests" / "oracles").glob("*.py"):
        assert not re.search(r"^\s*(from|import) paper_repro", path.read_text(), re.MULTILINE), path.name
