"""Files that are whole or as they were, under names that stay in their folder."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["MANIFEST", "check_file_name", "check_own_folder", "replace_files"]

MANIFEST = "manifest.json"


def check_file_name(name: str) -> str:
    """A name, without ending, of a file in the folder it is written to.

    Raises ValueError for any other: of another folder, hidden, empty or on two lines.

    >>> check_file_name("figure_4")
    'figure_4'
    """
    if not re.fullmatch(r"(?![ .])[\w .-]+", name):
        raise ValueError(
            "the name of a file must have letters, digits, spaces, '_', '-' and '.' only, and must not begin with '.' or a "
            f"space; got {name!r}. Name the folder by output_dir."
        )
    return name


def check_own_folder(folder: str | Path) -> None:
    """Raise if a folder is one that ``make figures`` keeps: its manifest would no longer say how its figures came to be.

    Raises ValueError if it holds a manifest.

    >>> check_own_folder("build/mine")
    """
    if (Path(folder) / MANIFEST).exists():
        raise ValueError(
            f"output_dir must be another folder than that of the papers' figures; got {str(folder)!r}, where only `make figures` "
            "writes. Name another folder, such as ../build/mine."
        )


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, all or none: each beside its place first, so that a full disk leaves the old ones, then renamed in order.

    Folders are made where there are none.

    Raises
    ------
    OSError
        If a file cannot be written, an IsADirectoryError among the reasons; the message names it, its folder and the reason.
    """
    copies = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in contents}
    path = Path()
    try:
        for path, copy in copies.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a folder has this name")
            copy.write_bytes(contents[path])
        for path, copy in copies.items():
            os.replace(copy, path)
    except OSError as error:
        raise OSError(
            f"the output must be a folder that you may write to; got {str(path.parent)!r} for {path.name} ({error.strerror}). "
            "Name another folder."
        ) from None
    finally:
        for copy in copies.values():
            with contextlib.suppress(OSError):
                copy.unlink()
