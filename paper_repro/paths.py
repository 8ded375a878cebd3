"""Where the repository's folders are, from a checkout or from an installed wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DATA", "FIGURES", "NOTEBOOKS", "ROOT"]

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED_DATA = _PACKAGE / "_data"

ROOT = _PACKAGE.parent
DATA = _INSTALLED_DATA if _INSTALLED_DATA.is_dir() else ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
