"""The places that name the environment agree: pyproject.toml, environment.yml, the locks and the Makefile."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from paper_repro.paths import ROOT
from paper_repro.reproduce.runs import KERNEL_ENVIRONMENT

yaml = pytest.importorskip("yaml")

LOCKS = ["bootstrap.lock", "requirements.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DIRECT = {
    requirement.name: requirement.specifier
    for requirement in map(Requirement, PROJECT["dependencies"] + EXTRAS["notebooks"] + EXTRAS["test"])
}


def locked(name: str) -> dict[str, tuple[str, bool]]:
    """Return version and whether a hash follows, by package."""
    entries = re.findall(r"^([\w.-]+)==(\S+)(.*\n(?: {4}\S.*\n)*)", (ROOT / name).read_text(), re.MULTILINE)
    return {package: (version, "--hash=sha256:" in rest) for package, version, rest in entries}


def test_every_direct_dependency_is_locked_within_its_bounds():
    lock = locked("requirements.lock")
    assert DIRECT.keys() | {"editables", "hatchling"} <= lock.keys()
    outside = {name: lock[name][0] for name, bounds in DIRECT.items() if not bounds.contains(lock[name][0])}
    assert not outside


@pytest.mark.parametrize("name", LOCKS)
def test_locks_have_hashes_and_no_addresses(name):
    text = (ROOT / name).read_text()
    entries = locked(name)
    assert len(entries) == len(re.findall(r"^[^\s#]", text, re.MULTILINE))
    assert not [package for package, (_, hashed) in entries.items() if not hashed]
    assert "://" not in text
    assert not re.search(r"^\s*-[-\w]*(?<!--hash)[ =]", re.sub(r"--hash=\S+", "", text), re.MULTILINE)


def test_the_lock_leaves_out_the_peers():
    assert not {Requirement(line).name for line in EXTRAS["peers"]} & locked("requirements.lock").keys()


def test_conda_environment_has_the_same_names_and_bounds():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert entries[-1] == {"pip": ["-e ."]}
    conda = {entry.name: entry.specifier for entry in map(Requirement, entries[:-1])}
    assert str(conda.pop("python")) == PROJECT["requires-python"]
    conda.pop("pip")
    assert conda == DIRECT


def test_make_and_the_notebook_runs_set_the_same_variables():
    exports = dict(re.findall(r"^export (\w+) := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {name: exports.get(name) for name in KERNEL_ENVIRONMENT} == KERNEL_ENVIRONMENT


def test_citation_has_the_version_and_the_five_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert [reference["year"] for reference in citation["references"]] == [2016, 2017, 2018, 2022, 2011]
