"""Where the repository's folders are, from a checkout or from an installed wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DATA", "FIGURES", "NOTEBOOKS", "ROOT", "check_checkout", "in_checkout"]

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED_DATA = _PACKAGE / "_data"

ROOT = _PACKAGE.parent
DATA = _INSTALLED_DATA if _INSTALLED_DATA.is_dir() else ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"


def in_checkout() -> bool:
    """Whether there is a checkout around the package, or it was installed from a wheel.

    >>> in_checkout()
    True
    """
    return DATA != _INSTALLED_DATA and NOTEBOOKS.is_dir()


def check_checkout(what: str) -> None:
    """Raise if there is no checkout around the package, for what writes into one.

    Raises
    ------
    FileNotFoundError
        If the package was installed from a wheel.

    >>> check_checkout("this example")
    """
    if not in_checkout():
        raise FileNotFoundError(
            f"{what} must be run in a clone of the repository, with its notebooks and data; got the package installed in "
            f"{str(_PACKAGE)!r}. Clone the repository, and run make setup there."
        )
