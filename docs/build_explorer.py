"""Build the explorer: one page, with the solver inside, that asks nobody for anything.

``python docs/build_explorer.py`` writes ``build/site/explorer.html`` from ``docs/explorer/`` and ``data/source_sets/``. HiGHS as
WebAssembly is fetched by npm, as ``docs/explorer/package-lock.json`` pins it with its hash, and kept in ``build/explorer``.
"""

import base64
import contextlib
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs" / "explorer"
KEPT = ROOT / "build" / "explorer"
PAGE = ROOT / "build" / "site" / "explorer.html"


class BuildError(Exception):
    """What is missing, in one sentence."""


def fetch_highs(kept: Path = KEPT) -> Path:
    """The folder of the npm package ``highs``, fetched unless it is there, with the hash that the lock has.

    Raises BuildError if npm is missing or cannot fetch it.
    """
    lock = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))
    wanted, folder = lock["packages"]["node_modules/highs"], kept / "node_modules" / "highs"
    if _has(kept, wanted["integrity"]):
        return folder
    if not (npm := shutil.which("npm")):
        raise BuildError("the explorer needs npm to fetch its solver, and there is none: install Node.js 18 or newer")
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Beside it first: who is interrupted leaves nothing half done, and two who build at once do not meet.
    with tempfile.TemporaryDirectory(prefix=f"{kept.name}-", dir=kept.parent, ignore_cleanup_errors=True) as new:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, new)
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
        done = subprocess.run([npm, "ci", *options], cwd=new, capture_output=True, text=True)
        if done.returncode:
            said = re.findall(r"^npm (?:error|ERR!) (?!code|errno|A complete log)(.+)$", done.stderr, re.MULTILINE)
            told = said[0] if said else f"npm ended with {done.returncode}"
            raise BuildError(
                f"npm cannot fetch highs {wanted['version']}: {told}; connect to a network and build again"
            )
        if not _has(kept, wanted["integrity"]):  # or else the other was first
            shutil.rmtree(kept, ignore_errors=True)
            with contextlib.suppress(OSError):
                Path(new).rename(kept)
    return folder


def _has(kept: Path, integrity: str) -> bool:
    try:  # npm writes this file last
        there = json.loads((kept / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))
        return bool(there["packages"]["node_modules/highs"]["integrity"] == integrity)
    except (OSError, ValueError, KeyError):
        return False


def page_of(highs: Path) -> str:
    """The page as one text."""
    sets = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "data" / "source_sets").glob("*.csv"))
    }
    solver = base64.b64encode(gzip.compress((highs / "build" / "highs.wasm").read_bytes(), 9, mtime=0)).decode()
    # One module: what the page imports stands above it.
    module = re.sub(r"^export ", "", _read("explorer.js"), flags=re.MULTILINE)
    page = re.sub(r'^import \{[^}]*\} from "\./explorer\.js";\n', "", _read("page.js"), flags=re.MULTILINE)
    parts = {
        "/*STYLE*/": _read("explorer.css"),
        "/*LICENSE*/": (highs / "LICENSE").read_text(encoding="utf-8").strip(),
        "/*LOADER*/": (highs / "build" / "highs.js").read_text(encoding="utf-8"),
        "/*SOLVER*/": solver,
        "/*SETS*/": json.dumps(sets),
        "/*MODULE*/": module + page,
    }
    text = _read("explorer.html")
    for mark, part in parts.items():
        if text.count(mark) != 1:
            raise BuildError(f"docs/explorer/explorer.html must have {mark} once")
        text = text.replace(mark, part.replace("</script", r"<\/script"))
    return text


def _read(name: str) -> str:
    return (SOURCE / name).read_text(encoding="utf-8")


def build(page: Path = PAGE, kept: Path = KEPT) -> Path:
    """Write the page, whole or not at all."""
    text = page_of(fetch_highs(kept))
    page.parent.mkdir(parents=True, exist_ok=True)
    beside = page.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(page)
    return page


if __name__ == "__main__":
    try:
        print(build(*map(Path, sys.argv[1:2])))
    except BuildError as error:
        sys.exit(f"{error}")
