"""What is in ``figures/``: an entry a figure or table in ``manifest.json``, and a page for people made from it, ``README.md``."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from paper_repro.reproduce.formulas import markdown_text

__all__ = ["SUFFIXES", "Entries", "check_different", "collected", "gallery", "may_write", "no_longer_drawn"]

SUFFIXES = (".csv", ".html", ".md", ".pdf", ".png", ".svg", ".tex")

Entries: TypeAlias = dict[str, dict[str, Any]]

_MADE = "<!-- Made by `make figures` from manifest.json. -->"
_WIDTH = 360  # of a thumbnail, in pixels


def collected(staging: Path, root: Path, about: Mapping[str, object]) -> tuple[dict[str, bytes], Entries]:
    """Sort what a run left in a folder: its files by name, and an entry for each figure or table, which begins with ``about``.

    ``<name>.about`` tells of a figure; inputs are paths relative to ``root``.

    Raises
    ------
    ValueError
        If a file is of another kind or none is left, or a note tells of no figure or of an input that is no file.
    """
    left = sorted(staging.iterdir())
    for path in left:
        if path.suffix not in (*SUFFIXES, ".about"):
            raise ValueError(
                f"must leave files of {', '.join(SUFFIXES)} only; got {path.name!r}. Write other files elsewhere."
            )
    files = {path.name: path.read_bytes() for path in left if path.suffix != ".about"}
    if not files:
        raise ValueError("must leave a figure or table in output_dir; got none. Call publish in one of its cells.")
    entries: Entries = {}
    for name, content in files.items():
        entry = entries.setdefault(Path(name).stem, {**about, "inputs": {}, "outputs": {}})
        entry["outputs"][name] = _sha256(content)
    for path in left:
        if path.suffix != ".about":
            continue
        if path.stem not in entries:
            raise ValueError(
                f"must leave a figure for each note; got {path.name} without {path.stem}.*. Write both by publish."
            )
        entry, told = entries[path.stem], json.loads(path.read_text(encoding="utf-8"))
        for line in told.pop("inputs"):
            if not (root / line).is_file():
                raise ValueError(
                    f"must name inputs that are files in {root}; got {line!r} in {path.name}. Correct the path of the input."
                )
            entry["inputs"][line] = _sha256((root / line).read_bytes())
        entry |= told
    return files, entries


def check_different(files: Mapping[str, bytes]) -> None:
    """Raises ValueError, which names both, if two outputs are the same: of pictures, if they look the same."""
    seen: dict[tuple[str, bytes], str] = {}
    for name, content in sorted(files.items()):
        # What is painted begins there; title and description stand before it.
        painted = content[max(content.find(b"IDAT"), 0) :] if name.endswith(".png") else content
        first = seen.setdefault((Path(name).suffix, painted), name)
        if first != name:
            raise ValueError(f"figures must differ; got {first} and {name} with the same content. Write one of them.")


def no_longer_drawn(folder: Path, earlier: Entries, now: Entries) -> list[Path]:
    """Files of a folder that an earlier manifest lists and this one does not; one that was changed since is its user's."""
    kept = {name for entry in now.values() for name in entry["outputs"]}
    listed = {name: digest for entry in earlier.values() for name, digest in entry.get("outputs", {}).items()}
    paths = {folder / name: digest for name, digest in listed.items() if name not in kept and Path(name).name == name}
    return [path for path, digest in paths.items() if path.is_file() and _sha256(path.read_bytes()) == digest]


def may_write(page: Path) -> bool:
    """Whether a ``README.md`` is one that :func:`gallery` made, or there is none."""
    return not page.exists() or page.read_bytes().startswith(_MADE.encode())


def gallery(manifest: Entries, notebooks: str) -> str:
    """The page of a folder of figures, in Markdown: each with its picture, what it finds and is after, and links.

    ``notebooks`` is the path from the folder to the notebooks.

    >>> entry = {"outputs": {"a.csv": ""}, "notebook": "n.ipynb", "finding": "It falls", "source": "Alvim et al. 2011, Table 1"}
    >>> print(gallery({"a": {**entry, "ledger": ["alvim2011.table_1a"]}}, "../notebooks").partition("## ")[2])
    Alvim et al. 2011
    <BLANKLINE>
    | | |
    |---|---|
    | | <a id="a"></a>**It falls.**<br>Alvim et al. 2011, Table 1<br>[CSV](a.csv), [notebook](../notebooks/n.ipynb); ledger:
    [table 1a](ledger_alvim2011.md#table_1a) |
    <BLANKLINE>
    """
    parts: dict[str, list[str]] = {}
    for name, entry in sorted(manifest.items(), key=lambda item: (_by_number(item[1].get("source", "")), item[0])):
        paper, _, _ = entry.get("source", "").partition(",")
        if not entry.get("finding"):
            paper = "Other files"
        parts.setdefault(paper or "Beyond the papers", []).append(_row(name, entry, notebooks))
    order = sorted(parts, key=lambda paper: (paper == "Other files", paper == "Beyond the papers", paper))
    head = f"{_MADE}\n\n# Figures and tables\n\nEach was computed by the notebook that is named; `make figures` draws all again."
    return (
        "\n\n".join([head, *(f"## {paper}\n\n| | |\n|---|---|\n" + "\n".join(parts[paper]) for paper in order)]) + "\n"
    )


def _row(name: str, entry: Mapping[str, Any], notebooks: str) -> str:
    outputs, picture = entry["outputs"], ""
    if f"{name}.png" in outputs:
        told = html.escape(" ".join(entry.get("description", "").split())).replace("|", "&#124;")
        picture = f'<a href="{name}.png"><img src="{name}.png" width="{_WIDTH}" alt="{told}"></a>'
    finding, subtitle = (str(entry.get(key, "")).rstrip(".") for key in ("finding", "subtitle"))
    source = entry.get("source", "")
    source = (
        "" if source.partition("(")[0] in subtitle.replace("Fig. ", "Figure ") else source
    )  # of Table 1(a), where that says Table 1
    lines = [
        f"**{markdown_text(finding)}.**" if finding else f"`{name}`",
        markdown_text(subtitle),
        markdown_text(source),
    ]
    kinds = [suffix for suffix in (".pdf", ".svg", ".csv", ".md", ".tex", ".html") if f"{name}{suffix}" in outputs]
    titles = {".md": "table" if f"{name}.tex" in outputs else "page", ".tex": "LaTeX", ".html": "HTML"}
    links = [f"[{titles.get(suffix, suffix[1:].upper())}]({name}{suffix})" for suffix in kinds]
    links.append(f"[notebook]({notebooks}/{entry['notebook']})")
    rows = [row.partition(".") for row in entry.get("ledger", [])]
    judged = ", ".join(f"[{row.replace('_', ' ')}](ledger_{paper}.md#{row})" for paper, _, row in rows)
    lines.append(", ".join(links) + (f"; ledger: {judged}" if judged else ""))
    return f'| {picture} | <a id="{name}"></a>' + "<br>".join(filter(None, lines)) + " |"


def _by_number(source: str) -> tuple[str, list[int]]:
    """A paper's figures in its order: Figure 10 after Figure 9."""
    paper, _, place = source.partition(",")
    return paper, [int(number) for number in re.findall(r"\d+", place)]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
