"""`make site`: put the sources of the site together in build/docs, have Sphinx set them, check all links, and only then show it.

build/site is replaced in one step: if something fails or is interrupted before, it stays as it was.
"""

import importlib.util
import re
import shutil
import subprocess
import sys

from docs import build_explorer
from docs.links import broken
from paper_repro.paths import FIGURES, ROOT

WORK, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"
SOURCES, NEW = WORK / "sources", WORK / "new"
FOLDERS = ("data", "figures", "notebooks")
_TOLD = 20


def main():
    """Build the site; otherwise a line for each thing that is wrong, and 1."""
    missing = [name for name in ("furo", "myst_nb", "sphinx") if not importlib.util.find_spec(name)]
    if missing:
        return _fail([f"{', '.join(missing)} cannot be imported: run make setup, or pip install '.[site]'"])
    explorer = _explorer()
    _gather(explorer.exists())
    shutil.rmtree(NEW, ignore_errors=True)
    wrong = _set() or _add(explorer) or broken(NEW)
    if wrong:
        return _fail(wrong)
    before = WORK / "before"
    shutil.rmtree(before, ignore_errors=True)
    if SITE.exists():
        SITE.rename(before)
    NEW.rename(SITE)
    shutil.rmtree(before, ignore_errors=True)
    files = [path for path in SITE.rglob("*") if path.is_file()]
    print(f"build/site/index.html: {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
    return 0


def _explorer():
    """Build the explorer, or say why the site does without."""
    page = WORK / "explorer.html"
    page.unlink(missing_ok=True)
    try:
        build_explorer.build(page)
    except build_explorer.BuildError as error:
        print(f"the site is without the explorer: {error}", file=sys.stderr)
    return page


def _gather(explorer):
    """Copy what the pages are made from, and write those that no file holds; what has not changed keeps its time."""
    from docs.pages import pages

    wanted = {}
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    paths += [
        path for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"
    ]  # the start is a page of its own
    for path in [*paths, *(path for path in ROOT.glob("*") if not path.name.startswith("."))]:
        if path.is_file() and not {".ipynb_checkpoints", "certificates"} & set(path.parts):
            content = path.read_bytes()
            if path.suffix in (".md", ".ipynb"):
                content = _links(content.decode(), path).encode()
            wanted[path.relative_to(ROOT).as_posix()] = content
    wanted |= {name: _links(text, SOURCES / name).encode() for name, text in pages(explorer).items()}
    for path in list(SOURCES.rglob("*")):
        if path.is_file() and path.relative_to(SOURCES).as_posix() not in wanted:
            path.unlink()
    for name, content in wanted.items():
        path = SOURCES / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _links(text, path):
    """Make links that are good on a code host good in the site."""
    # A module has a page, with a place a line; the ledger with filters is beside its page; pictures are pictures.
    text = re.sub(r"\[([^][\n]*)\]\(([\w./]*)\.py(#L\d+)?[\w-]*\)", r"<a href='\2.html\3'>\1</a>", text)
    text = re.sub(r"\[([^][\n]*)\]\(([\w./]*)ledger\.html(#[^)]*)?\)", r"<a href='\2ledger_rows.html\3'>\1</a>", text)
    text = re.sub(r'<a href="[^"]*"><img src="([^"]*)" width="\d+" alt="([^"]*)"></a>', r"![\2](\1)", text)
    # There are no pages of folders.
    for link, said, target in re.findall(r"(?<!!)(\[([^][\n]*)\]\(([\w./]+)\))", text):
        text = text.replace(link, said) if (path.parent / target).is_dir() else text
    # Two columns without a head, which have no more room than a phone.
    if path.suffix == ".md":
        pairs = re.compile(r"^(\| \| \|\n\|---\|---\|\n(?:\|.*\n)+)", re.MULTILINE)
        text = pairs.sub(r"::::{container} pairs\n\1::::\n", text)
    # In the side bar, a page's parts are below it.
    ledgers, tables = ([one.stem for one in sorted(FIGURES.glob(kind))] for kind in ("ledger_*.md", "*table_*.md"))
    if path.stem in tables and not text.startswith("#"):
        text = f"# {path.stem.replace('_', ' ').capitalize()}\n\n{text}"
    below = {FIGURES / "ledger.md": ledgers, FIGURES / "README.md": tables}.get(path, [])
    return text + "\n".join(["", "```{toctree}", ":hidden:", "", *below, "```", ""] if below else [])


def _set():
    """Run Sphinx; what it complains of, by the names of the sources."""
    told, trees = WORK / "warnings.txt", WORK / "doctrees"
    # What was read is kept, and its warnings are not told again: nothing is, of a build that failed or by other rules.
    kept = trees / "environment.pickle"
    if kept.exists() and any(path.stat().st_mtime > kept.stat().st_mtime for path in (ROOT / "docs").glob("*.py")):
        shutil.rmtree(trees)
    options = ["-q", "-W", "-n", "-j", "auto", "-c", ROOT / "docs", "-d", trees, "-w", told]
    command = [sys.executable, "-m", "sphinx", *options, SOURCES, NEW]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not done.returncode:
        return []
    shutil.rmtree(trees, ignore_errors=True)
    text = re.sub("\x1b\\[[0-9;]*m", "", told.read_text(encoding="utf-8") if told.exists() else "")
    text = text.replace(f"{SOURCES}/", "").replace(f"{ROOT}/", "")
    return re.findall(".*(?:WARNING|ERROR).*", text) or done.stderr.strip().splitlines()[-3:]


def _add(explorer):
    """Add the pages that are not Sphinx's: the ledger with filters, the modules, and the explorer."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    text = (FIGURES / "ledger.html").read_text(encoding="utf-8")
    text = re.sub(r'href="(\.\./[\w/]+)\.py#(L\d+)-L\d+"', r'href="\1.html#\2"', text)
    (NEW / "figures" / "ledger_rows.html").write_text(text.replace('"ledger.md"', '"ledger.html"'), encoding="utf-8")
    if explorer.exists():
        explorer.rename(NEW / "explorer.html")
    frame = (ROOT / "docs" / "module.html").read_text(encoding="utf-8")
    for path in (ROOT / "paper_repro").rglob("*.py"):
        name = path.relative_to(ROOT)
        form = HtmlFormatter(linenos="inline", linespans="L")
        told = highlight(path.read_text(encoding="utf-8"), PythonLexer(), form).replace('id="L-', 'id="L')
        page = frame.replace("<!--NAME-->", name.as_posix()).replace("<!--ROOT-->", "../" * len(name.parent.parts))
        target = NEW / name.with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.replace("<!--CODE-->", told), encoding="utf-8")
    return []


def _fail(lines):
    lines = list(dict.fromkeys(lines))
    more = [f"and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
    print(*lines[:_TOLD], *more, f"make site: {len(lines)} to mend; build/site is as it was", sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
