"""What earlier runs left: files to use again as long as nothing has changed that they were made from.

A run's files are in one archive, with a fingerprint of all they depend on: the notebook, its parameters, the whole library, the
data, the lock, the Python and the packages that are installed. Which modules a notebook enters is not asked: any change of the
library makes every run anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import paper_repro
from paper_repro.paths import DATA, ROOT
from paper_repro.reproduce.files import replace_files

__all__ = ["Kept", "fingerprint"]


class Kept:
    """Files of earlier runs, an archive a run in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def restore(self, name: str, made_from: str, into: Path) -> bool:
        """Whether there are files of this fingerprint; they are put into a folder."""
        with contextlib.suppress(OSError, zipfile.BadZipFile, KeyError):  # of an interrupted or another version's run
            with zipfile.ZipFile(self.folder / f"{name}.zip") as archive:
                if archive.comment == made_from.encode() and archive.testzip() is None:
                    archive.extractall(into)
                    return True
        return False

    def store(self, name: str, made_from: str, folder: Path) -> None:
        """Keep the files of a folder. Raises OSError where they cannot be written."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.comment = made_from.encode()
            for path in sorted(folder.iterdir()):
                archive.write(path, path.name)
        replace_files({self.folder / f"{name}.zip": buffer.getvalue()})


def fingerprint(notebook: Path, parameters: Mapping[str, object]) -> str:
    """A hash of all that a run depends on; a parameter that is the path of a file stands for its content too.

    Raises OSError where one of the files cannot be read.
    """
    named = sorted({text for text in _texts(list(parameters.values())) if text})
    files = [path for path in (notebook.parent / text for text in named) if _is_file(path)]
    data = [notebook.parent.parent / "data"]
    return _hash([notebook, *files, *_files(data)], json.dumps([dict(parameters), _of_the_library()], sort_keys=True))


@functools.cache
def _of_the_library() -> str:
    """A hash of the package, its data, the lock, and what is installed; of one moment in the life of this process."""
    installed = {
        path.name for kind in ("purelib", "platlib") for path in Path(sysconfig.get_path(kind)).glob("*.dist-info")
    }
    lock = [path for path in (ROOT / "requirements.lock",) if path.is_file()]
    return _hash(
        [*_files([Path(paper_repro.__file__).parent, DATA]), *lock], json.dumps([sys.version, sorted(installed)])
    )


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".pyc")


def _hash(paths: Iterable[Path], text: str) -> str:
    found = hashlib.sha256(text.encode())
    for path in paths:
        content = path.read_bytes()
        found.update(f"\n{path} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from _texts(value)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a path, or with a zero in it
        return False
