"""README: its Python runs, its commands exist, its links lead somewhere."""

import contextlib
import io
import re
import shlex

import pytest
from click.testing import CliRunner

from paper_repro.cli import main
from paper_repro.figures.ledger_pages import counts_sentence
from paper_repro.paths import ROOT
from paper_repro.reproduce.runs import NotebookRun

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROSE = re.sub(r"^```\w*\n.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ").strip()
    for language, block in BLOCKS
    if language in ("console", "sh", "shell", "bash")
    for line in block.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
PRIVACY_DISTORTION = [
    command for command in COMMANDS if re.match(r"(\S*/)?(privacy-distortion|paper-repro)\b", command)
]
PAPERMILL = [command for command in COMMANDS if re.match(r"(\S*/)?papermill\b", command)]
LINKS = re.findall(r"\]\(([^)\s]+)[^)]*\)", PROSE)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.fixture
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_blocks_are_all_found_and_say_what_they_are():
    assert README.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} <= {
        "python",
        "console",
        "sh",
        "shell",
        "bash",
        "text",
        "bibtex",
        "csv",
        "toml",
    }
    assert COMMANDS


def test_the_python_blocks_run_in_order(in_the_checkout):
    namespace = {"__name__": "readme"}
    with contextlib.redirect_stdout(io.StringIO()):
        for number, block in enumerate((block for language, block in BLOCKS if language == "python"), start=1):
            exec(compile(block, f"README.md, Python block {number}", "exec"), namespace)


def test_every_make_target_exists():
    named = set(re.findall(r"\bmake ([a-z]+)", "\n".join([*COMMANDS, *re.findall(r"`([^`\n]+)`", PROSE)])))
    assert named <= TARGETS
    assert named >= {"figures", "test"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_a_checkout_has(command):
    program, *_ = shlex.split(command)
    known = {
        "make",
        "git",
        "cd",
        "pip",
        "python3",
        ".venv/bin/python",
        ".venv/bin/privacy-distortion",
        ".venv/bin/paper-repro",
        ".venv/bin/papermill",
    }
    assert program in known


@pytest.mark.parametrize("command", PRIVACY_DISTORTION)
def test_every_privacy_distortion_command_parses(command):
    _, name, *arguments = shlex.split(command)
    main.commands[name].make_context(name, arguments)


@pytest.mark.parametrize("command", [command for command in PRIVACY_DISTORTION if " best " in command])
def test_every_best_command_runs(command, in_the_checkout):
    result = CliRunner().invoke(main, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", PAPERMILL)
def test_every_papermill_command_names_a_notebook_and_its_parameters(command, in_the_checkout):
    papermill = pytest.importorskip("papermill.cli").papermill
    yaml = pytest.importorskip("yaml")
    options = papermill.make_context("papermill", shlex.split(command)[1:]).params
    pairs = [*(options["parameters"] or ()), *(options["parameters_raw"] or ())]
    given = {name: yaml.safe_load(value) for name, value in pairs}
    for text in options["parameters_yaml"] or ():
        given |= yaml.safe_load(text)
    assert (ROOT / (options["cwd"] or ".")).is_dir()
    given.pop("output_dir", None)
    assert NotebookRun("readme", ROOT / options["notebook_path"], given).values.items() >= given.items()


@pytest.mark.parametrize("link", sorted({link for link in LINKS if not re.match(r"[a-z]+:", link)}))
def test_every_link_leads_somewhere(link):
    path, _, fragment = link.partition("#")
    assert not path.startswith("/")
    assert (ROOT / path).exists()
    if fragment:
        text = (ROOT / (path or "README.md")).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert fragment in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_image_is_described():
    images = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", README)
    assert images
    assert all(len(description) > 20 for description, _ in images)


def test_every_file_in_backquotes_exists():
    named = re.findall(r"`([\w./-]+\.(?:py|md|toml|yml|ipynb|csv|lock|cff))`", PROSE)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_first_screen_has_a_figure_and_the_two_commands():
    screen = "\n".join(README.splitlines()[:34])
    assert "](figures/" in screen
    for target in ("figures", "test"):
        assert f"make {target}" in screen


def test_the_first_screen_counts_the_claims_on_record():
    screen = " ".join("\n".join(README.splitlines()[:34]).split())
    assert counts_sentence() in screen


def test_make_clean_keeps_what_readme_has_one_write():
    written = re.findall(r"\bbuild/[\w./-]+", " ".join(PAPERMILL))
    recipe = re.search(r"^clean:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    removed = re.search(r"rm -rf (.+)", recipe)[1].split()
    assert written
    assert "build/verify" in removed, "the recipe is read"
    assert not [path for path in written for gone in removed if f"{path}/".startswith(f"{gone}/")]
