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
            f"{name!r} is no file name: it must have letters, digits, spaces, '_', '-' and '.' alone, "
            "and start with neither a '.' nor a space; the folder is named apart"
        )
    return name


def check_own_folder(folder: str | Path) -> None:
    """Raise if a folder is one that ``make figures`` keeps: its manifest would no longer say how its figures came to be.

    Raises ValueError if it holds a manifest.

    >>> check_own_folder("build/mine")
    """
    if (Path(folder) / MANIFEST).exists():
        raise ValueError(
            f"{folder} holds the papers' figures with their manifest, and `make figures` alone writes there; "
            "name another output_dir, such as ../build/mine"
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
                raise IsADirectoryError(errno.EISDIR, "it is a folder")
            copy.write_bytes(contents[path])
        for path, copy in copies.items():
            os.replace(copy, path)
    except OSError as error:
        raise OSError(
            f"cannot write {path.name} into {path.parent}: {error.strerror}; name a folder you may write to"
        ) from None
    finally:
        for copy in copies.values():
            with contextlib.suppress(OSError):
                copy.unlink()
