"""The places that name the environment agree: pyproject.toml, environment.yml, the locks and the Makefile."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from paper_repro.paths import ROOT
from paper_repro.reproduce.execution import KERNEL_ENVIRONMENT

yaml = pytest.importorskip("yaml")

LOCKS = ["bootstrap.lock", "requirements.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
(ALL,) = map(Requirement, EXTRAS["all"])
DIRECT = {
    requirement.name: requirement.specifier
    for names in (PROJECT["dependencies"], *(EXTRAS[extra] for extra in (*ALL.extras, "test")))
    for requirement in map(Requirement, names)
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


def test_all_extras_are_those_for_users_of_this_project_itself():
    assert ALL.name == PROJECT["name"]
    assert ALL.extras == EXTRAS.keys() - {"all", "peers", "site", "test"}


def test_the_core_needs_no_more_than_the_solver_of_linear_programs_and_a_command_line():
    assert {Requirement(line).name for line in PROJECT["dependencies"]} == {"click", "highspy", "numpy", "scipy"}


def test_every_extra_that_an_error_names_exists():
    named = {
        extra
        for path in (ROOT / "paper_repro").rglob("*.py")
        for extra in re.findall(r'\boptional\(\S+, "(\w+)"\)', path.read_text(encoding="utf-8"))
    }
    assert named and named <= EXTRAS.keys()


def test_nothing_tells_anyone_to_install_what_is_not_this_checkout():
    """The names of the import and of the command belong to somebody else on the package index."""
    patterns = ("*.md", "*.toml", "*.yml", "*.cff", "Makefile", ".ci/*", ".github/**/*.yml", "notebooks/*.ipynb")
    offers = []
    for path in (path for pattern in (*patterns, "paper_repro/**/*.py") for path in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        offers += re.findall(r"paper[-_]repro\[", text)
        for line in re.findall(r"\b(?:pip|uv|pipx|conda|mamba) (?:tool )?install ([^\n`]*)", text):
            words = [word.strip("\"'") for word in line.split()]
            if not ({"-e", ".", "-r"} & {*words} or words[0].startswith((".", "dist/"))):
                offers.append(f"{path.name}: {line}")
    assert offers == []


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
    assert citation["date-released"].year >= 2026  # where the citation's year comes from
    assert [reference["year"] for reference in citation["references"]] == [2016, 2017, 2018, 2022, 2011]
