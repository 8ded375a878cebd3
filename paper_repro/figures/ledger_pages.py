"""The pages of the ledger: an index with the findings and a page a paper in Markdown, and one in HTML that a browser filters.

They are made from the record alone. The HTML is the template ``ledger.html`` with the rows in it; the findings are texts in
``ledger.toml``. Links lead to the lines of the checks.
"""

from __future__ import annotations

import html
import inspect
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from paper_repro.claims import VERDICTS, Row, read_ledger
from paper_repro.claims.base import PAPERS, WEIGHTS, all_claims
from paper_repro.paths import ROOT
from paper_repro.reproduce.files import check_file_name, check_own_folder, replace_files
from paper_repro.reproduce.formulas import html_text, markdown_text

__all__ = [
    "FAULTY",
    "MEANINGS",
    "SHORT_NAMES",
    "counts_sentence",
    "finding_pages",
    "findings",
    "ledger_pages",
    "rests_table",
    "rows_page",
    "save_pages",
]

FAULTY = ("refuted", "depends on the reading", "corrected")
"""Verdicts on what is not right as printed, or not in every fair reading."""

MEANINGS = {
    "proved": "decided by algebra, a solver, enumeration or exact numbers. The evidence says for which sizes, often M = 2 to 5. "
    "Steps around the computation are argued in words",
    "reproduced": "the computation gives the printed numbers",
    "holds": "no violation found in any named or random case that was tried; not proved",
    "loose": "true, and can be sharpened: the bound or the range is not the best possible one",
    "corrected": "incorrect as printed, correct after the change that is given; the weight says how large the change is",
    "depends on the reading": "true in one fair reading and false in another; both are checked",
    "refuted": "false as stated: the evidence is a counterexample",
    "source text uncertain": "our copy of the paper is garbled there and does not show with certainty what is printed; not "
    "counted as incorrect",
    "not checkable": "not a statement that a computation could decide; the reason is given",
}
"""What a verdict means, those of statements that hold as printed first."""

COUNTERPART = "Corresponding place in the 2018 article (formula not legible in our copy; not compared)"
"""The label of a place that could not be compared with the statement of an entry."""

LABELS = {
    "Place": "where in the paper the statement is",
    "Text source": "where we read the text, if our copy of the paper is garbled or not legible there",
    "Reading": "what we add so that the statement says something definite",
    "Evidence": "what the check found",
    "Correction": "the correct statement",
    "Sharper result": "what holds beyond the statement, such as the exact value or the full range",
    "Independent computation": "how the optimum was computed without the formula that is checked",
    "Check": "how many random cases were tried and met the hypotheses. If fewer than 100 did, the named cases of the evidence "
    "are what counts. The control repeats the check with one constant, hypothesis or sign of the statement altered: its verdict "
    "must then differ. The last part is the tolerance to which numbers were compared",
    "Also stated in": "other places and papers that state the same; they have no entry of their own",
    COUNTERPART: "the place that corresponds in the 2018 article. The entry is about the 2017 preprint; whether the article "
    "states the same cannot be read in our copy",
    "Uses": "entries that the paper's argument for this one uses; our check is independent of them",
    "Used by": "entries whose argument in the paper uses this one",
    "Run": "the command that runs the check alone, with a link to its code",
}
"""What a label of an entry means."""

SHORT_NAMES = {
    "alvim2011": "Alvim et al. 2011",
    "kalantari2016": "Kalantari et al. 2016",
    "kalantari2017": "Kalantari et al. 2017 (preprint)",
    "kalantari2018": "Kalantari et al. 2018",
    "zhong_bu2022": "Zhong and Bu 2022",
}
# Where an entry of these weights is incorrect, what uses it is not affected.
_LIGHT = ("", "misprint", "slip in a proof")
# Random instances that meet the hypotheses, from which on they count as evidence; with fewer, the named cases do.
_ENOUGH = 100
_HERE = Path(__file__).parent
# What our text of a paper is, where it is not the text that is published.
_TEXTS = {
    "kalantari2016": "Our text is a manuscript with the title *The Optimal Differential Privacy Mechanism under Hamming "
    "Distortion for Universal Memoryless Source Classes*. The later versions cite the paper with another title, *Optimal "
    "differential privacy mechanisms under hamming distortion for structured source classes*.",
    "kalantari2018": "No formula of the article is legible in our copy. The entries of this page are about its sentences; the "
    "formulas are checked as the 2017 preprint has them.",
}
_RESTS = (
    "Below each incorrect entry are the entries that use it, directly or through others. Entries in these lists that are not "
    "incorrect were checked independently of it. Misprints and slips in proofs are left out."
)
_ELSEWHERE = "Statements of this paper that are checked with another entry"
_UNREAD = (
    "Places of this paper whose formulas are not legible in our copy, with the entry for the corresponding place of the other "
    "version (the two were not compared)"
)


def ledger_pages(rows: Sequence[Row]) -> dict[str, str]:
    """The pages by file name: the index, a page a paper, and one in HTML that holds every row.

    >>> sorted(ledger_pages([]))
    ['ledger.html', 'ledger.md']
    """
    papers = [paper for paper in PAPERS if any(row.paper == paper for row in rows)]
    pages = {f"ledger_{paper}.md": _paper_page(paper, rows) for paper in papers}
    return {"ledger.md": _index_page(rows, papers), **pages, "ledger.html": _html_page(rows, papers)}


def save_pages(pages: dict[str, str], output_dir: str | Path) -> None:
    """Write pages into a folder, all or none; the empty string writes nothing.

    Raises ValueError for a name that is none of a file in the folder, or a folder with a manifest, and OSError if one cannot
    be written.
    """
    for name in pages:
        check_file_name(name)
    if output_dir:
        check_own_folder(output_dir)
        replace_files({Path(output_dir) / name: page.encode() for name, page in pages.items()})


def finding_pages(folder: str = "") -> list[str]:
    """Each finding in Markdown: the statement as printed, a counterexample, the correct statement, its entries.

    ``folder`` is the folder of the pages, for the links.

    >>> "**Counterexample.**" in finding_pages()[0]
    True
    """
    rows = {row.name: row for row in read_ledger()}
    pages = []
    for number, entry in enumerate(findings()[0], start=1):
        parts = [f"### {number}. {entry['title']}", f"*{entry['where']}*"]
        for label, field in (
            ("As printed", "printed"),
            ("Counterexample", "counterexample"),
            ("Correct statement", "instead"),
        ):
            parts.append(f"**{label}.** {markdown_text(entry[field])}")
        parts.append("Entries: " + "; ".join(_link(rows[name], folder) for name in entry["rows"]) + ".")
        pages.append("\n\n".join(parts))
    return pages


@cache
def findings() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The findings that matter and the results that can be sharpened, each with the names of its rows on record.

    Raises ValueError if one names a row that is not on record.

    >>> all(finding["rows"] for kind in findings() for finding in kind)
    True
    """
    told = tomllib.loads((_HERE / "ledger.toml").read_text(encoding="utf-8"))
    known = {row.name for row in read_ledger()}
    for entry in told["finding"] + told["sharper"]:
        if unknown := set(entry["rows"]) - known:
            raise ValueError(f"{entry['title']!r} names {', '.join(sorted(unknown))}, which is no row on record")
    return told["finding"], told["sharper"]


def rows_page(table: pd.DataFrame, folder: str = "") -> str:
    """Rows of a ledger as a table in Markdown, with links to the pages in ``folder``.

    >>> rows_page(pd.DataFrame({"name": ["alvim2011.theorem_4_legal"]})).splitlines()[0]
    '| entry | verdict | weight | statement |'
    """
    rows = {row.name: row for row in read_ledger()}
    lines = ["| entry | verdict | weight | statement |", "|---|---|---|---|"]
    for row in (rows[name] for name in table["name"]):
        lines.append(f"| {_link(row, folder, True)} | {row.verdict} | {row.weight} | {markdown_text(row.statement)} |")
    return "\n".join(lines)


def rests_table(rows: Sequence[Row]) -> pd.DataFrame:
    """What rests on rows at fault, but for misprints and slips in proofs: below each those that use it, and so on.

    Columns: ``root`` and ``name`` (of rows), ``on`` (what ``name`` uses), ``depth`` (0 at the root), ``paper``, ``number``,
    ``verdict``. The root with most below it comes first; what has a row at fault above it is no root.

    >>> rests_table([]).empty
    True
    """
    by_name = {row.name: row for row in rows}
    heavy = [row.name for row in rows if row.verdict in FAULTY and row.weight not in _LIGHT]
    below = {name: _below(name, rows) for name in heavy if _users(name, rows)}
    inner = {user for lines in below.values() for _, user, _ in lines}
    columns = ["root", "depth", "name", "on", "paper", "number", "verdict"]
    found = []
    for root in sorted(below.keys() - inner, key=lambda name: (-len(below[name]), name)):
        for depth, name, on in [(0, root, ""), *below[root]]:
            found.append([root, depth, name, on, *(getattr(by_name[name], column) for column in columns[4:])])
    return pd.DataFrame(found, columns=columns)


def counts_sentence(rows: Sequence[Row] | None = None) -> str:
    """How many entries there are, with which verdicts, those that hold first, and their checks; of the record, if none are given.

    >>> counts_sentence([]).split(":")[0]
    'Of 0 statements in five papers, 0 hold as printed'
    """
    rows = read_ledger() if rows is None else rows
    count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
    right = sum(count[verdict] for verdict in ("proved", "reproduced", "holds", "loose"))
    misprints = sum(row.verdict == "corrected" and row.weight == "misprint" for row in rows)
    told = [
        f"Of {len(rows)} statements in five papers, {right} hold as printed: {count['proved']} are proved (many of them only for",
        f"the sizes that their evidence names), {count['reproduced']} are numbers that the computation reproduces,",
        f"{count['holds']} hold in every case that was tried, and {count['loose']} are true and can be sharpened.",
        f"{count['corrected']} hold after a correction, {misprints} of them after the correction of a misprint.",
        f"{count['depends on the reading']} depend on how they are read, and {count['refuted']} are false.",
        f"{count['source text uncertain']} are uncertain in our copies, and {count['not checkable']} cannot be checked.",
        "Wherever possible, a program that could have contradicted the statement checked it:",
        f"{len(rows) - count['not checkable']} statements in all, with {sum(row.relevant for row in rows):,} random cases.",
        f"As a control, statements were altered {sum(row.variants for row in rows)} times, in one constant, hypothesis or sign;",
        f"the verdict changed {sum(row.rejected for row in rows)} times.",
    ]
    return " ".join(told)


def _users(name: str, rows: Sequence[Row]) -> list[str]:
    return [row.name for row in rows if name in row.rests_on]


def _below(name: str, rows: Sequence[Row], depth: int = 1, seen: set[str] | None = None) -> list[tuple[int, str, str]]:
    """Rows that rest on a row, directly or through others, each once: depth, name, and what it uses."""
    seen = {name} if seen is None else seen
    lines = []
    for user in _users(name, rows):
        if user not in seen:
            seen.add(user)
            lines += [(depth, user, name), *_below(user, rows, depth + 1, seen)]
    return lines


def _link(row: Row, folder: str = "", short: bool = False) -> str:
    """A link to a row's place in the pages, with its verdict and weight unless short."""
    place = f"[{markdown_text(row.number)}]({folder}ledger_{row.paper}.md#{row.name.partition('.')[2]})"
    return place if short else f"{SHORT_NAMES[row.paper]}, {place}: {_judgment(row)}"


def _judgment(row: Row) -> str:
    return f"**{row.verdict}**" + f" ({row.weight})" * bool(row.weight)


@cache
def _sources() -> dict[str, str]:
    """Where each check is, by the name of its row: a path in the repository, with lines."""
    places = {}
    for claim in all_claims():
        lines, start = inspect.getsourcelines(claim.source)
        path = Path(inspect.getsourcefile(claim.source) or "").resolve().relative_to(ROOT).as_posix()
        places[claim.name] = f"{path}#L{start}-L{start + len(lines) - 1}"
    return places


def _facts(row: Row) -> list[tuple[str, str]]:
    """What is said of a row below its statement, as labels and texts with formulas."""
    checked = []
    if row.tried and row.relevant >= _ENOUGH:
        checked.append(f"{row.relevant} of {row.tried} random cases met the hypotheses")
    elif row.verdict not in ("proved", "reproduced", "not checkable"):
        few = f" ({row.relevant} of {row.tried} random cases met the hypotheses)"
        checked.append("named cases" + few * bool(row.tried))
    if row.variants:
        if row.rejected < row.variants:
            checked.append(
                f"control failed: only {row.rejected} of {row.variants} altered statements get another verdict"
            )
        elif row.variants == 1:
            checked.append("control: the altered statement gets another verdict, as it must")
        else:
            checked.append(f"control: all {row.variants} altered statements get another verdict, as they must")
    if row.numbers and row.verdict != "proved":
        checked.append(f"numbers compared to within {row.tolerance:g}")
    facts = {"Place": row.place, "Text source": row.text, "Reading": row.reading, "Evidence": row.evidence}
    facts |= {"Correction": row.correction, "Sharper result": row.exact, "Independent computation": row.independent}
    also = [
        f"{SHORT_NAMES.get(key, key)}{colon}{place}" for key, colon, place in (name.partition(":") for name in row.also)
    ]
    unread = "; ".join(name.partition(":")[2].strip() for name in row.counterparts)
    facts |= {"Check": "; ".join(checked), "Also stated in": "; ".join(also), COUNTERPART: unread}
    return [(label, text) for label, text in facts.items() if text]


def _uses(row: Row, rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """What a row rests on, and what rests on it."""
    uses = {"Uses": row.rests_on, "Used by": _users(row.name, rows)}
    return [(label, [other for other in rows if other.name in names]) for label, names in uses.items() if names]


def _elsewhere(paper: str, rows: Sequence[Row]) -> dict[str, list[tuple[str, Row]]]:
    """What a paper states and another entry checks, with this entry; and places of it that are not legible, by heading."""
    found = {}
    for heading, field in ((_ELSEWHERE, "also"), (_UNREAD, "counterparts")):
        places = [(place.partition(":"), row) for row in rows for place in getattr(row, field)]
        found[heading] = [(place.strip(), row) for (key, _, place), row in places if key == paper]
    return {heading: places for heading, places in found.items() if places}


def _by_weight(rows: Sequence[Row]) -> str:
    """How many rows there are, and how many of them have which weight: "2: misprint 1, missing condition 1"."""
    counts = [f"{weight} {count}" for weight in WEIGHTS if (count := sum(row.weight == weight for row in rows))]
    return f"{len(rows)}" + f": {', '.join(counts)}" * bool(counts)


def _command(row: Row) -> str:
    return f"privacy-distortion verify --only {row.name}"


def _paper_page(paper: str, rows: Sequence[Row]) -> str:
    own = [row for row in rows if row.paper == paper]
    parts = [
        f"# {PAPERS[paper]}",
        f"{len(own)} entries, in the paper's order. The [legend](ledger.md) explains verdicts, weights and labels.",
    ]
    parts += [_TEXTS[paper]] if paper in _TEXTS else []
    for verdict in MEANINGS:
        if found := [row for row in own if row.verdict == verdict]:
            ordered = sorted(found, key=lambda row: [*WEIGHTS, ""].index(row.weight))
            links = "; ".join(_link(row, short=True) for row in ordered)
            parts.append(f'<a id="{_slug(verdict)}"></a>**{verdict}** ({_by_weight(found)}): {links}.')
    for heading, places in _elsewhere(paper, rows).items():
        links = "; ".join(f"{markdown_text(place)} ({_link(row)})" for place, row in places)
        parts.append(f"**{heading}:** {links}.")
    for row in own:
        parts.append(f'<a id="{row.name.partition(".")[2]}"></a>\n\n### {markdown_text(row.number)}')
        parts.append(f"{_judgment(row)}: {markdown_text(row.statement)}")
        lines = [f"* **{label}:** {markdown_text(text)}" for label, text in _facts(row)]
        lines += [f"* **{label}:** {'; '.join(map(_link, others))}" for label, others in _uses(row, rows)]
        if row.name in _sources():
            lines.append(f"* **Run:** `{_command(row)}` ([code](../{_sources()[row.name]}))")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _index_page(rows: Sequence[Row], papers: Sequence[str]) -> str:
    parts = ["# The ledger", counts_sentence(rows)]
    parts.append(
        "An entry is one statement of a paper: a theorem, one side of a bound, an equation, an example, a table, or a sentence "
        "of the text, in the symbols of the paper. A letter in a statement is a category. The page [ledger.html](ledger.html), "
        "opened in a browser, has all entries with a search and filters. `make verify` runs all checks again and compares them "
        "with the [record](../data/ledger.csv); `privacy-distortion verify --only NAME` runs one, and each entry shows its NAME."
    )
    for title, names, meanings in (
        ("Verdicts", "verdict", MEANINGS),
        ("Weights of entries with a remark", "weight", WEIGHTS),
    ):
        lines = [
            f"| | {' | '.join(SHORT_NAMES[paper] for paper in papers)} | all | |",
            "|---|" + "---:|" * (len(papers) + 1) + "---|",
        ]
        for word, meaning in meanings.items():
            found = [sum(row.paper == paper and getattr(row, names) == word for row in rows) for paper in papers]
            cells = [
                f"[{count}](ledger_{paper}.md#{_slug(word)})" if count and names == "verdict" else str(count)
                for paper, count in zip(papers, found, strict=True)
            ]
            lines.append(f"| **{word}** | {' | '.join([*cells, str(sum(found))])} | {meaning} |")
        parts += [f"## {title}", "\n".join(lines)]
    corrected = [row for row in rows if row.verdict == "corrected"]
    parts.append(
        "An entry has a weight if it is corrected, is refuted or depends on the reading. The weights of the entries that are "
        f"corrected, by number: {_by_weight(corrected)}."
    )
    labels = [f"| **{label}** | {meaning} |" for label, meaning in LABELS.items()]
    parts += ["## Labels of an entry", "\n".join(["| | |", "|---|---|", *labels])]
    by_name = {row.name: row for row in rows}
    terms = "The [glossary](../docs/glossary.md) explains the terms."
    parts += ["## Findings", terms, *finding_pages()] if rows else []
    parts.append("## Results that can be sharpened")
    for entry in findings()[1] if rows else ():
        links = "; ".join(_link(by_name[row]) for row in entry["rows"] if row in by_name)
        parts.append(f"* **{entry['title']}.** {markdown_text(entry['text'])} {links}.")
    parts.append(f'<a id="what-rests-on-what"></a>\n\n## Which entries use which\n\n{_RESTS}')
    if rests := _rests_list(rows, lambda depth, row: f"{'  ' * depth}* {_link(row)}"):
        parts += [
            "![The first entry of this list with the entries that use it, drawn as a tree.](ledger_rests.png)",
            rests,
        ]
    return "\n\n".join(parts) + "\n"


def _rests_list(rows: Sequence[Row], line: Callable[[int, Row], str]) -> str:
    by_name, rests = {row.name: row for row in rows}, rests_table(rows)
    return "\n".join(line(depth, by_name[name]) for depth, name in zip(rests["depth"], rests["name"], strict=True))


def _html_page(rows: Sequence[Row], papers: Iterable[str]) -> str:
    """The template, with the rows in it."""
    filters = []
    for field, words in (("paper", list(papers)), ("verdict", list(MEANINGS)), ("weight", list(WEIGHTS))):
        names = {word: SHORT_NAMES.get(word, word) for word in words}
        boxes = "".join(
            f'<label title="{html.escape(MEANINGS.get(word, WEIGHTS.get(word, name)))}"><input type="checkbox" name="{field}" '
            f'value="{word}"><span class="{_slug(word)}">{html.escape(name)} <b></b></span></label>'
            for word, name in names.items()
        )
        filters.append(f"<fieldset><legend>{field}</legend>{boxes}</fieldset>")
    sections = []
    for paper in papers:
        told = "\n".join(_html_row(row, rows) for row in rows if row.paper == paper)
        for heading, places in reversed(_elsewhere(paper, rows).items()):
            links = "; ".join(f"{html_text(place)} ({_html_link(row)}: {row.verdict})" for place, row in places)
            told = f'<p class="elsewhere">{heading}: {links}.</p>\n{told}'
        sections.append(
            f'<section aria-labelledby="{paper}"><h2 id="{paper}">{html.escape(PAPERS[paper])}</h2>\n{told}\n</section>'
        )
    rests = _rests_list(
        rows, lambda depth, row: f'<li style="margin-left:{1.5 * depth}em">{_html_link(row)}: {row.verdict}</li>'
    )
    legend = {**MEANINGS, **WEIGHTS, **LABELS}
    page = (_HERE / "ledger.html").read_text(encoding="utf-8")
    parts = {
        "FILTERS": "".join(filters),
        "ROWS": "\n".join(sections),
        "COUNTS": counts_sentence(rows),
        "RESTS": f"<p>{_RESTS}</p><ul>{rests}</ul>",
        "LABELS": "".join(f"<dt>{label}</dt><dd>{html.escape(meaning)}</dd>" for label, meaning in legend.items()),
    }
    for key, part in parts.items():
        page = page.replace(f"<!--{key}-->", part)
    return page


def _html_row(row: Row, rows: Sequence[Row]) -> str:
    facts = [(label, html_text(text)) for label, text in _facts(row)]
    facts += [(label, "; ".join(map(_html_link, others))) for label, others in _uses(row, rows)]
    if row.name in _sources():
        facts.append(("Run", f'<code>{_command(row)}</code> (<a href="../{_sources()[row.name]}">code</a>)'))
    told = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in facts)
    weight = f' <span class="weight">{row.weight}</span>' if row.weight else ""
    return (
        f'<details id="{row.name}" data-paper="{row.paper}" data-verdict="{row.verdict}" data-weight="{row.weight}"><summary>'
        f'<span class="{_slug(row.verdict)}">{row.verdict}</span>{weight} <b>{html_text(row.number)}</b> '
        f'<span class="said">{html_text(row.statement)}</span></summary><dl>{told}</dl></details>'
    )


def _html_link(row: Row) -> str:
    return f'<a href="#{row.name}">{html_text(row.number)}</a>'


def _slug(word: str) -> str:
    return word.replace(",", "").replace(" ", "-")
