"""README and the pages it leads to: their Python runs, their commands exist, their links lead somewhere, README is short."""

import contextlib
import io
import re
import shlex

import pytest
from click.testing import CliRunner

from paper_repro.cli import main
from paper_repro.paths import ROOT
from paper_repro.reproduce.runs import NotebookRun
from tests.reproduce.test_notebook_links import broken

PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("guide", "findings", "limitations", "glossary", "style")),
]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
README = TEXTS["README.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = {name: FENCE.findall(text) for name, text in TEXTS.items()}
PROSE = {name: FENCE.sub("", text) for name, text in TEXTS.items()}
COMMANDS = [
    line.strip()
    for blocks in BLOCKS.values()
    for language, block in blocks
    if language == "console"
    for line in block.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
PRIVACY_DISTORTION = [command for command in COMMANDS if re.match(r"(\S*/)?privacy-distortion\b", command)]
PAPERMILL = [command for command in COMMANDS if re.match(r"(\S*/)?papermill\b", command)]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
WORDS_OF_README = 700


@pytest.fixture
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", TEXTS)
def test_the_blocks_are_all_found_and_say_what_they_are(name):
    assert TEXTS[name].count("```") == 2 * len(BLOCKS[name])
    assert {language for language, _ in BLOCKS[name]} <= {"python", "console", "text"}


def run(name):
    """What the Python of a page prints, block by block; what follows a block as its result, else None."""
    namespace, printed, blocks = {"__name__": "page"}, [], BLOCKS[name]
    for number, (language, block) in enumerate(blocks):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block, f"{name}, block {number + 1}", "exec"), namespace)
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
            printed.append((output.getvalue(), following[1] if following[0] == "text" else None))
    return printed


def test_the_example_of_readme_prints_what_readme_shows(in_the_checkout):
    ((printed, shown),) = run("README.md")
    assert printed == shown
    (block,) = [block for language, block in BLOCKS["README.md"] if language == "python"]
    assert len([line for line in block.splitlines() if line]) == 8


def test_the_python_of_the_guide_runs_in_order(in_the_checkout):
    assert len(run("docs/guide.md")) >= 7


def test_every_make_target_exists():
    quoted = [code for text in PROSE.values() for code in re.findall(r"`([^`\n]+)`", text)]
    named = set(re.findall(r"\bmake ([a-z]+)", "\n".join([*COMMANDS, *quoted])))
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


@pytest.mark.parametrize(
    "path", [*PAGES, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG"))], ids=lambda path: path.name
)
def test_every_link_leads_somewhere(path):
    assert not broken(FENCE.sub("", path.read_text(encoding="utf-8")), path.parent)


def test_every_image_is_described():
    images = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", README)
    assert len(images) == 1
    assert all(len(description) > 20 for description, _ in images)


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_in_backquotes_exists(name):
    named = re.findall(r"`([\w./-]+\.(?:py|md|toml|yml|ipynb|csv|lock|cff))`", PROSE[name])
    assert [one for one in named if not ((ROOT / one).exists() or ((ROOT / name).parent / one).exists())] == []


def words(text):
    """The words of a page's prose, titles and tables, without code blocks, pictures and the addresses of links."""
    told = re.sub(r"\]\([^)]*\)", "]", re.sub(r"!\[[^\]]*\]\([^)]*\)", "", FENCE.sub("", text)))
    return re.findall(r"\w[\w.'-]*", told)


def test_readme_is_short():
    assert 400 < len(words(README)) <= WORDS_OF_README


def test_readme_says_first_what_it_is_for_whom_and_how_to_run_it():
    first, *rest = README.split("\n\n")[1:]
    assert first.startswith("paper_repro is a Python package that ")
    assert len(re.findall(r"^\* \*\*", rest[1], re.MULTILINE)) == 3
    screen = README.splitlines()[:30]
    assert {"make figures", "make test"} <= set(screen)
    assert re.findall(r"^## (.*)$", README, re.MULTILINE) == [
        "Run it",
        "Terms",
        "An example",
        "Findings",
        "Your own column",
        "Where to go",
    ]


GLOSSARY = re.findall(r"^\| \*\*([^*]+)\*\*[^|]*\| (.*) \|$", TEXTS["docs/glossary.md"], re.MULTILINE)


def test_the_terms_of_readme_are_those_of_the_glossary():
    names = [name.lower() for name, _ in GLOSSARY]
    section = README.partition("## Terms")[2].partition("\n## ")[0]
    terms = [term.removesuffix(" D") for term in re.findall(r"^\| ([\w ]+) \|", section, re.MULTILINE)][1:]
    assert len(terms) == 9
    assert set(terms) <= set(names)
    before = README.partition("## Terms")[0].partition("\n\n")[2]
    assert not [term for term in terms if term != "category" and re.search(rf"\b{term}s?\b", before)], (
        "defined before its use"
    )


def test_every_definition_uses_terms_that_are_defined_above_it():
    names = [name.lower() for name, _ in GLOSSARY]
    for place, (name, meaning) in enumerate(GLOSSARY):
        later = [other for other in names[place + 1 :] if re.search(rf"\b{re.escape(other)}s?\b", meaning.lower())]
        assert not [other for other in later if other not in name.lower()], (name, later)


def test_every_don_t_has_its_do():
    pairs = re.findall(r"^\| (.+) \| (.+) \|$", TEXTS["docs/style.md"], re.MULTILINE)[1:]
    assert len(pairs) >= 15
    assert all(left != right for left, right in pairs)


@pytest.mark.parametrize("name", [*TEXTS, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_command_has_one_name(name):
    assert not re.search(
        r"(?<!`)\bpaper-repro [a-z]+ ", (ROOT / name).read_text(encoding="utf-8").replace("`paper-repro` there", "")
    )


def test_make_clean_keeps_what_readme_has_one_write():
    written = re.findall(r"\bbuild/[\w./-]+", " ".join(PAPERMILL))
    recipe = re.search(r"^clean:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    removed = re.search(r"rm -rf (.+)", recipe)[1].split()
    assert written
    assert "build/verify" in removed, "the recipe is read"
    assert not [path for path in written for gone in removed if f"{path}/".startswith(f"{gone}/")]
