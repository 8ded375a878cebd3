"""The pages of the site that no file holds: its start, one a paper, and the reference of each module."""

import ast
import inspect
import json
import re
import textwrap
from collections import Counter
from functools import cache

import paper_repro
from paper_repro.claims import read_ledger
from paper_repro.claims.base import PAPERS, all_claims
from paper_repro.figures.ledger_pages import MEANINGS, SHORT_NAMES
from paper_repro.paths import FIGURES, NOTEBOOKS, ROOT
from paper_repro.reproduce.formulas import markdown_text

# Chapters of their own; the other notebooks are essays.
_APART = ("00_start_here", "10_your_own_data", "11_ledger")
# Rooms whose functions nobody is meant to call, and the claims' modules that are not one check after another.
_INNER = ("cli", "deprecated", "figures", "paths", "reproduce")
_JUDGING = (("claims",), ("claims", "base"), ("claims", "verify"))


def pages(explorer):
    """Return the text of each page by its name; `explorer` says whether there is one to lead to."""
    papers = [paper for paper in PAPERS if any(row.paper == paper for row in read_ledger())]
    rooms = _modules()
    return {
        "index.md": _index(),
        "docs/the_explorer.md": _explorer(explorer),
        "papers/index.md": _papers(papers),
        **{f"papers/{paper}.md": _paper(paper) for paper in papers},
        "api/index.md": _reference(rooms),
        **{f"api/{room}.rst": _module(room, modules) for room, modules in rooms.items()},
    }


def _index():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    essays = [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb")) if path.stem not in _APART]
    listed = "\n".join(f"notebooks/{name}" for name in essays)
    return text.replace("ESSAYS", listed)


def _explorer(there):
    """Return the page that leads to the explorer: with a link if it was built, in place of how to build it."""
    text = (ROOT / "docs" / "the_explorer.md").read_text(encoding="utf-8")
    link = '<a href="../explorer.html"><strong>Open the explorer</strong></a>.'
    return re.sub(r"^`make site` builds.*$", link, text, flags=re.MULTILINE) if there else text


def _papers(papers):
    told = "Of each: what it prints, the function that computes it, and what is true of it."
    return f"# The papers\n\n{told}\n\n{_toctree(papers)}"


def _toctree(names):
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *names, "```", ""])


def _paper(paper):
    """Return the page of a paper: from theorem to function, rows and figures, and from each row."""
    rows = [row for row in read_ledger() if row.paper == paper]
    own = "kalantari2018" if paper == "kalantari2017" else paper  # the preprint's functions are the article's
    count = Counter(row.verdict for row in rows)
    used = {claim.name: _printed(claim.source) for claim in all_claims() if claim.text.paper == paper}
    manifest = json.loads((FIGURES / "manifest.json").read_text(encoding="utf-8"))
    drawn = {}
    for name, entry in manifest.items():
        for row in entry.get("ledger", ()):
            drawn.setdefault(row, []).append(name)

    told = ", ".join(f"{count[verdict]} {verdict}" for verdict in MEANINGS if count[verdict])
    lines = [
        f"# {SHORT_NAMES[paper]}: theorem by theorem",
        "",
        f"{PAPERS[paper]}: {len(rows)} rows of the [ledger](../figures/ledger_{paper}.md): {told}.",
        "",
    ]
    lines += ["## From theorem to function, row and figure", ""]
    lines += ["| as printed | function | rows | figures |", "|---|---|---|---|"]
    printed = {one for found in used.values() for one in found}
    for one in sorted(
        printed, key=lambda one: (own not in one.__module__, one.__module__, inspect.getsourcelines(one)[1])
    ):
        mine = [row for row in rows if one in used.get(row.name, ())]
        figures = sorted({name for row in mine for name in drawn.get(row.name, ())})
        judged = "; ".join(f"{_row(row)}: {row.verdict}" for row in mine)
        lines.append(f"| {_summary(one)} | {_object(one)} | {judged} | {_drawn(figures)} |")
    lines += ["", "## Every row, in the paper's order", ""]
    lines += ["| row | verdict | weight | functions | figures |", "|---|---|---|---|---|"]
    for row in rows:
        functions = ", ".join(map(_object, used.get(row.name, ())))
        cells = [_row(row), row.verdict, row.weight, functions, _drawn(drawn.get(row.name, ()))]
        lines.append(f"| {' | '.join(cells)} |")
    after = [
        name
        for name, entry in manifest.items()
        if entry.get("source", "").startswith(SHORT_NAMES[paper].split(" (")[0])
    ]
    if after:
        lines += ["", "## Its figures and tables, drawn again", "", f"{_drawn(after)}."]
    return "\n".join(lines) + "\n"


@cache
def _printed(function):
    """Return what of `paper_repro.papers` a check uses, itself or through other functions of the claims."""
    found, seen, left = [], set(), [function]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        for node in ast.walk(_tree(one)):
            if isinstance(node, ast.Name):
                used = one.__globals__.get(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used = getattr(one.__globals__.get(node.value.id), node.attr, None)
            else:
                continue
            home = getattr(used, "__module__", None) or ""
            room, _, module = home.removeprefix("paper_repro.").partition(".")
            if room == "papers" and module not in ("polytopes", "readings") and callable(used):
                found.append(used)
            elif room == "claims" and module != "base" and inspect.isfunction(used):
                left.append(used)
    return tuple(dict.fromkeys(found))


@cache
def _tree(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _row(row):
    return f"[{markdown_text(row.number)}](../figures/ledger_{row.paper}.md#{row.name.partition('.')[2]})"


def _drawn(names):
    return ", ".join(f"[{name.replace('_', ' ')}](../figures/README.md#{name})" for name in names)


def _object(one):
    return f"{{py:obj}}`{one.__name__} <{one.__module__}.{one.__qualname__}>`"


def _summary(one):
    """Return the first line of a docstring, from reStructuredText to Markdown."""
    line = inspect.getdoc(one).partition("\n\n")[0].replace("\n", " ").replace("|", r"\|")
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", line.replace("``", "`"))


def _modules():
    """Return what is documented: the modules of each room, and those at the top as rooms of their own."""
    rooms = {}
    for path in sorted((ROOT / "paper_repro").rglob("*.py")):
        parts = path.relative_to(ROOT / "paper_repro").with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts and parts[0] not in _INNER and (parts[0] != "claims" or parts in _JUDGING):
            rooms.setdefault(parts[0], []).append(".".join(("paper_repro", *parts)))
    return rooms


def _module(room, modules):
    """Return the reference of a room: each module with what is in it."""
    lines = [room, "=" * len(room), ""]
    for module in modules:
        name = module.removeprefix("paper_repro.")
        if name != room:
            lines += [name, "-" * len(name), ""]
        # A package lists what it takes from its modules, which have it themselves.
        package = (ROOT / module.replace(".", "/")).is_dir()
        lines += [f".. automodule:: {module}", *["   :ignore-module-all:"] * package, ""]
    return "\n".join(lines)


def _reference(rooms):
    lines = [
        "# The library\n\nWhat `import paper_repro as pr` brings, and below it the modules.\n",
        "| | |",
        "|---|---|",
    ]
    for name in paper_repro.__all__:
        lines.append(f"| {_object(getattr(paper_repro, name))} | {_summary(getattr(paper_repro, name))} |")
    return "\n".join([*lines, "", "## Modules", "", _toctree(rooms)])
