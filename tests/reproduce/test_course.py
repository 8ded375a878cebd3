"""The notebooks as a course: how a chapter begins and is worded, what a student can copy and try, and what comes next."""

import ast
import re

import pytest

from paper_repro.paths import NOTEBOOKS

nbformat = pytest.importorskip("nbformat")

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
# A picture is on the first screen: it comes after summary, parameters and the folded imports.
FIRST_PICTURE = 6
LONGEST_SUMMARY = 80  # words
WIDEST_PARAMETERS = 88

# Words that make a sentence hard to read aloud, or are not the course's word for a thing.
BANNED = re.compile(
    r"""
    \b(
        whoever | so\ many | nobody\ is\ asked | what\ lacks | what\ is\ at\ fault | all\ the\ same | a\ hair
        | stands?\ by\ (itself|themselves) | stands?\ as\ printed | mend(s|ed|ing)?
        | that\ of | those\ of | is\ none | are\ none | beside\ (that|this|both|it)
        | guilty | innocent | trial | in\ favor | in\ favour | convict(s|ed)? | charge[sd]?\ with
        | letters? | Renyi | by\ (approximate\ )?differential\ privacy | conic | is\ the\ truth
        | what\ is\ (printed|found|said|shown)
    )\b
    """,
    re.VERBOSE,
)


@pytest.fixture(params=PATHS, ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture
def cells(path):
    return nbformat.read(path, as_version=4).cells


def folded(cell):
    return "hide-input" in cell.metadata.get("tags", [])


def texts(cells):
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def words_of(text):
    """A text without formulas, code, quotations, addresses of links and signs of Markdown."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " X ", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", " X ", text)
    text = re.sub(r"\]\([^()\s]*\)", "]", text)
    text = re.sub(r'"[^"\n]*"|“[^”]*”', " X ", text)
    return " ".join(re.sub(r"<[^>]+>|[*\[\]]", " ", text).split())


def sentences(text):
    text = re.sub(r"\b(et al|Fig|Eq|eq|cf|vs|e\.g|i\.e)\.", r"\1", text)
    return len(re.findall(r"[.?!](?=\s|$)", text))


def summary_of(cells):
    """The first paragraph below the title, without the words that announce it."""
    title, first, *_ = re.split(r"\n\s*\n", texts(cells)[0].strip())
    assert re.match(r"# \S", title)
    return re.sub(r"^In two sentences\.?\s*", "", words_of(first))


def test_a_chapter_begins_with_two_sentences(cells):
    assert cells[0].cell_type == "markdown"
    summary = summary_of(cells)
    assert sentences(summary) == 2, summary
    assert len(summary.split()) <= LONGEST_SUMMARY, summary


def test_a_picture_is_on_the_first_screen(cells):
    shown = [
        number
        for number, cell in enumerate(cells)
        for output in cell.get("outputs", [])
        if "<img " in "".join(output.get("data", {}).get("text/html", ""))
    ]
    assert shown and shown[0] < FIRST_PICTURE, shown


def test_a_student_can_copy_a_call_of_the_package(cells):
    def calls(cell):
        tree = ast.walk(ast.parse(cell.source))
        functions = [node.func for node in tree if isinstance(node, ast.Call)]
        return [f.attr for f in functions if isinstance(f, ast.Attribute) and ast.unparse(f.value) == "pr"]

    visible = [cell for cell in cells if cell.cell_type == "code" and not folded(cell)]
    assert any(calls(cell) for cell in visible)


def test_imports_are_folded_away(cells):
    for cell in cells:
        if cell.cell_type == "code" and not folded(cell):
            tree = ast.walk(ast.parse(cell.source))
            assert not [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)], cell.source


def test_parameters_fit_on_a_screen(cells):
    (cell,) = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    assert not folded(cell)
    assert [line for line in cell.source.splitlines() if len(line) > WIDEST_PARAMETERS] == []


def test_two_exercises_have_folded_answers(cells):
    text = "\n".join(texts(cells))
    answers = re.findall(r"<details><summary>Answer</summary>(.*?)</details>", text, flags=re.DOTALL)
    assert len(answers) >= 2
    assert all(len(words_of(answer).split()) > 5 for answer in answers)
    assert text.count("<details>") == text.count("</details>") == len(answers)


def test_the_next_chapter_is_the_following_number(path, cells):
    following = [other for other in PATHS if other.name > path.name][:1]
    said = [re.findall(r"\*\*Next:\*\*\s*\[([^\]]*)\]\(([^)]*)\)", text) for text in texts(cells)]
    assert said[-1] == [(other.stem, other.name) for other in following]
    assert not any(said[:-1]), "one chapter is recommended, in the last text"
    if not following:
        assert "end of the course" in words_of(texts(cells)[-1]) or "ends the course" in words_of(texts(cells)[-1])


def test_no_word_is_hard_to_read_aloud(cells):
    found = [match[0] for text in texts(cells) for match in BANNED.finditer(words_of(text))]
    assert found == []


def test_the_checks_see_what_they_are_for():
    assert BANNED.search(words_of("whoever has it")) and BANNED.search(words_of("three letters"))
    assert not BANNED.search(words_of('the paper says "letter", `letters` is an argument, [x](letter.md)'))
    assert sentences(words_of("Kalantari et al. do $x. y$. Is it 0.5? ")) == 2
