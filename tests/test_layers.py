"""The floors of the package, as pyproject.toml lists them."""

import pytest

from paper_repro.paths import ROOT

cli = pytest.importorskip("importlinter.cli")


def test_a_module_imports_only_from_floors_below():
    assert cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == cli.EXIT_STATUS_SUCCESS
