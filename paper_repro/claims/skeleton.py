"""The skeleton of a new entry, for ``make claim``: a statement in the paper's TOML file and a function in one of its modules."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from paper_repro.claims.base import PAPERS, statements

__all__ = ["write_skeleton"]

_ENTRY = """
[{key}]
number = "Theorem 0"
place = "Section 0"
statement = 'As printed, in symbols: $a \\le b$.'
"""
_FUNCTION = '''

def _draw_{key}(rng: np.random.Generator) -> tuple[float, float]:
    """Arguments that the statement speaks of."""
    return float(rng.uniform(0, 1)), float(rng.uniform(1, 2))


@for_all(_draw_{key}, of="pairs of numbers", wrong={{"a <= b / 2": {{"factor": 0.5}}}})
@example("a = 1, b = 1", 1.0, 1.0)
def {key}(a: float, b: float, *, factor: float = 1.0) -> float:
    return a - factor * b
'''
_IMPORT = "from paper_repro.claims.base import example, for_all"


def write_skeleton(name: str, module: str = "", *, folder: Path = Path(__file__).parent) -> tuple[Path, Path]:
    """Append a new entry and its check, whether a <= b, to the ledger of a paper, and return the two files.

    ``name`` is ``paper.function``, ``module`` one of the paper's modules in ``paper_repro/claims``, by default the first.

    Raises
    ------
    ValueError
        If the name has another form or is taken, or there is no such module.
    """
    paper, _, key = name.partition(".")
    if paper not in PAPERS or not re.fullmatch(r"[a-z]\w*", key):
        raise ValueError(
            f"NAME must be paper.function, with one of the papers {', '.join(PAPERS)}; got {name!r}. Write, for example, "
            "NAME=alvim2011.theorem_9."
        )
    if name in statements():
        raise ValueError(f"NAME must be a new name; got {name!r}, which the ledger has. Take another name.")
    family = "kalantari2018" if paper == "kalantari2017" else paper
    known = sorted(path.stem for path in folder.glob(f"{family}*.py") if not path.stem.endswith("_tools"))
    if module and module not in known:
        raise ValueError(
            f"MODULE must be one of {', '.join(known)} for this paper; got {module!r}. Choose one of these."
        )
    text, code = folder / f"{paper}.toml", folder / f"{module or known[0]}.py"
    text.write_text(text.read_text(encoding="utf-8").rstrip() + "\n" + _ENTRY.format(key=key), encoding="utf-8")
    source = code.read_text(encoding="utf-8").rstrip() + "\n" + _FUNCTION.format(key=key)
    names = re.search(r"from paper_repro\.claims\.base import (\([^)]*\)|[^\n]*)", source)
    if names and not {"example", "for_all"} <= set(re.findall(r"\w+", names[1])):
        source = source.replace(names[0], f"{names[0]}\n{_IMPORT}", 1)
    code.write_text(source, encoding="utf-8")
    return text, code


if __name__ == "__main__":
    try:
        for path in write_skeleton(*(sys.argv[1:3] or [""])):
            print(path)
    except ValueError as error:
        sys.exit(f"Error: {error}\nUsage: make claim NAME=paper.function MODULE=paper_section")
